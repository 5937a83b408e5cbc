//! `kyokumen inspect`.

use std::io;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::failure::plan_error;
use super::message::name;
use super::option::location;
use super::record_args::dialect;
use super::report::records;
use crate::cli::exit::{ExitStatus, Usage};
use crate::format::move16::Dialect;
use crate::format::{
    ContentKey, DecodeError, DialectFinding, Field, JsonRecord, RecordRef, Survey, Warning,
    notation,
};
use crate::ops::inspect::{Header, InspectError, InspectedRecord, Inspection, RecordRange};
use crate::records::format_name::FormatName;
use crate::records::source::Input;
use crate::shogi::diagram::{KanjiDiagram, LetterDiagram};
use crate::shogi::{Color, Position};
use crate::storage::checksum::hex;
use crate::storage::compression::Compression;

/// Show what is in a file of positions: format, dialect, records with their boards
///
/// The dialect (order of the pieces in hand, padding, whether the stored moves can be played) is judged
/// by a sample: of a file that is not compressed some 4096 records from all of it, of a stream or text its
/// first 4096 records.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "\
Exit status: 0 done, 1 failed, 2 usage, 3 done but there is no record to be shown, or a bad one.")]
pub(super) struct InspectArgs {
    /// File of positions; `-` is standard input
    #[arg(value_name = "FILE", value_parser = location())]
    file: PathBuf,

    /// Records to show, counted from 0: a..b (without b), a.., ..b or a [default: 0..1]
    #[arg(long, value_name = "A..B")]
    range: Option<RecordRange>,

    /// Format of the file, one of `kyokumen formats`, as in psv or psv.zst [default: by extension, or
    /// by content where that says nothing]
    #[arg(long, value_name = "FORMAT")]
    from: Option<FormatName>,

    /// How packed moves are encoded: apery, yaneuraou or rshogi [default: as most are legal]
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    dialect: Option<Dialect>,

    /// Boards and moves in kanji, as Japanese game records show them
    #[arg(long)]
    kanji: bool,

    /// The bytes of each record too
    #[arg(long)]
    hex: bool,

    /// One JSON object a record, nothing else
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &InspectArgs) -> anyhow::Result<ExitStatus> {
    let inspection =
        Inspection::open(&args.file, args.from, args.dialect, args.range).map_err(usage)?;
    let mut out = BufWriter::new(io::stdout().lock());
    if !args.json {
        write_header(&mut out, &inspection.header)?;
    }
    let file = inspection.header.input.name.clone();
    let (mut shown_records, mut bad) = (0, 0);
    let shown = inspection.for_each(|found| {
        let described = Described::new(&file, found, args.hex);
        if described.error.is_some() {
            bad += 1;
        }
        shown_records += 1;
        if args.json {
            serde_json::to_writer(&mut out, &described).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            write_record(&mut out, found, &described, args.kanji)?;
        }
        Ok::<(), anyhow::Error>(())
    });
    out.flush()?;
    shown.map_err(|error| match error.downcast::<InspectError>() {
        Ok(error) => usage(error),
        Err(error) => error,
    })?;
    // Who asks for no record gets none.
    let is_asked_for = args.range.is_some();
    Ok(ExitStatus::of_records(if is_asked_for { shown_records.max(1) } else { shown_records }, bad))
}

fn usage(error: InspectError) -> anyhow::Error {
    match error {
        InspectError::Plan(error) => plan_error(error),
        InspectError::Range { .. } => Usage(error.to_string()).into(),
        InspectError::Source(error) => error.into(),
    }
}

/// A record in the words of the JSON lines.
#[derive(Serialize)]
struct Described<'a> {
    file: &'a str,
    index: u64,
    offset: u64,
    #[serde(flatten)]
    content: Option<Content>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

#[derive(Serialize)]
struct Content {
    #[serde(flatten)]
    said: JsonRecord,
    in_check: Option<bool>,
    warnings: Vec<&'static str>,
    key: String,
}

impl<'a> Described<'a> {
    fn new(file: &'a str, found: &InspectedRecord<'_>, with_hex: bool) -> Self {
        let content = match &found.record {
            Ok(record) => content(record).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let (content, error) = match content {
            Ok(content) => (Some(content), None),
            Err(error) => (None, Some(error)),
        };
        let hex = with_hex.then(|| hex(found.bytes));
        Self { file, index: found.index, offset: found.offset, content, error, hex }
    }
}

fn content(record: &RecordRef<'_>) -> Result<Content, DecodeError> {
    let content = record.record()?;
    let position = Position::try_from(&content.setup).ok();
    let warnings = record.warnings_about(&content.setup, position.as_ref())?;
    Ok(Content {
        said: JsonRecord::of(&content, record.fields().contains(Field::BestMove)),
        in_check: position.map(|position| position.in_check()),
        warnings: warnings.iter().map(Warning::name).collect(),
        key: ContentKey::of(&content.setup).to_string(),
    })
}

fn write_header(out: &mut impl Write, header: &Header) -> io::Result<()> {
    let Header { input, records: number, survey } = header;
    let compressed = match input.compression {
        Compression::None => "",
        Compression::Zstd => ", zstd",
        Compression::Gzip => ", gzip",
        Compression::Xz => ", xz",
        Compression::Parquet => ", parquet",
    };
    write!(out, "{}: {}{compressed}, ", name(&input.name), input.format)?;
    match number {
        Some(number) => writeln!(out, "{}", records(*number))?,
        None => writeln!(out, "more than {}", records(survey.records))?,
    }
    if survey.records == 0 {
        return Ok(());
    }
    writeln!(out, "  looked at     {}, {} unreadable", records(survey.records), survey.unreadable)?;
    if input.format.family().is_some() {
        writeln!(out, "  hand order    {}", hand_order(survey))?;
    }
    if input.format.record_len().is_some() && !input.format.fields().is_empty() {
        writeln!(out, "  padding       not zero in {}", survey.padding_not_zero)?;
    }
    if input.format.fields().contains(Field::BestMove) {
        let moves = survey.moves;
        writeln!(
            out,
            "  stored moves  {} legal, {} illegal, {} malformed, {} none",
            moves.legal, moves.illegal, moves.malformed, moves.none
        )?;
        if input.format.family().is_some() {
            writeln!(out, "  encoding      {}", encoding(input, survey))?;
        }
    }
    Ok(())
}

fn hand_order(survey: &Survey) -> String {
    match survey.telling_hands {
        0 => survey.hand_orders().to_string(),
        telling => format!("{} ({telling} records tell)", survey.hand_orders()),
    }
}

/// How the moves are encoded, and how sure that is.
fn encoding(input: &Input, survey: &Survey) -> String {
    let own = input.format.dialect();
    let (dialect, telling) = (input.dialect, survey.telling_moves);
    let legal = |dialect| format!("{} {}", survey.legal_in(dialect), dialect.name());
    let others = Dialect::ALL.into_iter().filter(|&other| other != dialect).map(legal);
    let others = others.collect::<Vec<_>>().join(", ");
    match survey.dialect(own) {
        DialectFinding::Undetermined => format!("{} (no move tells)", dialect.name()),
        DialectFinding::Sure(found) if found == dialect => format!(
            "{}: {} of {telling} moves that tell are legal so ({others})",
            dialect.name(),
            survey.legal_in(dialect)
        ),
        DialectFinding::Sure(_) | DialectFinding::Unsure => format!(
            "not sure; read as {}: {} of {telling} moves that tell are legal so ({others})",
            dialect.name(),
            survey.legal_in(dialect)
        ),
    }
}

fn write_record(
    out: &mut impl Write,
    found: &InspectedRecord<'_>,
    described: &Described<'_>,
    kanji: bool,
) -> io::Result<()> {
    writeln!(out, "\nrecord {}, at byte {}", found.index, found.offset)?;
    if let Some(error) = &described.error {
        writeln!(out, "bad: {error}")?;
    }
    if let (Some(content), Ok(record)) = (&described.content, &found.record)
        && let Ok(setup) = record.setup()
    {
        if kanji {
            write!(out, "{}", KanjiDiagram(&setup))?;
        } else {
            write!(out, "{}", LetterDiagram(&setup))?;
        }
        let words = Position::try_from(&setup).ok().filter(|_| kanji).and_then(|position| {
            let best_move = record.best_move().ok()?.filter(|&m| position.is_legal(m))?;
            Some(notation(&position, best_move, None))
        });
        write_content(out, content, setup.side_to_move(), words.as_deref())?;
    }
    if let Some(hex) = &described.hex {
        writeln!(out, "bytes     {hex}")?;
    }
    Ok(())
}

fn write_content(
    out: &mut impl Write,
    content: &Content,
    to_move: Color,
    in_words: Option<&str>,
) -> io::Result<()> {
    let said = &content.said;
    writeln!(out, "sfen      {}", said.sfen)?;
    if let Some(best_move) = &said.best_move {
        let words = in_words.map_or(String::new(), |words| format!("  {words}"));
        writeln!(out, "move      {best_move}{words}")?;
    }
    if let Some(eval_cp) = said.eval {
        writeln!(out, "eval      {eval_cp} cp, seen from {to_move:?}")?;
    }
    if let Some(ply) = said.ply {
        writeln!(out, "ply       {ply}")?;
    }
    match said.result {
        Some("draw") => writeln!(out, "result    draw")?,
        Some(winner) => writeln!(out, "result    {winner} won")?,
        None => {}
    }
    if let Some(ending) = said.ending {
        writeln!(out, "ended by  {}", ending.replace('_', " "))?;
    }
    if let Some(end_ply) = said.end_ply {
        writeln!(out, "moves     {end_ply} in the whole game")?;
    }
    if !said.candidates.is_empty() {
        let tried = said.candidates.iter().map(|one| format!("{} {}", one.best_move, one.visits));
        writeln!(out, "visits    {}", tried.collect::<Vec<_>>().join(", "))?;
    }
    if said.for_training == Some(false) {
        writeln!(out, "training  not to be trained on")?;
    }
    match content.in_check {
        Some(in_check) => writeln!(out, "in check  {}", if in_check { "yes" } else { "no" })?,
        None => writeln!(out, "in check  {to_move:?} could take the king")?,
    }
    if !content.warnings.is_empty() {
        writeln!(out, "unusual   {}", content.warnings.join(", "))?;
    }
    writeln!(out, "key       {}", content.key)
}
