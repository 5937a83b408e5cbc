//! What `kyokumen inspect` shows as text: a head about the file, records with their boards.

use std::io::{self, Write};

use super::described::{Described, RecordValues};
use crate::cli::message::name;
use crate::cli::report::records;
use crate::format::move16::Dialect;
use crate::format::{DialectFinding, Field, Survey, notation};
use crate::ops::inspect::{Header, InspectedRecord};
use crate::records::evidence::telling_moves;
use crate::records::source::Input;
use crate::shogi::diagram::{KanjiDiagram, LetterDiagram};
use crate::shogi::{Color, Position};
use crate::storage::compression::Compression;

pub(super) fn write_header(out: &mut impl Write, header: &Header) -> io::Result<()> {
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
        1 => format!("{} (1 record tells)", survey.hand_orders()),
        telling => format!("{} ({telling} records tell)", survey.hand_orders()),
    }
}

/// The encoding of the moves, and how certain it is.
fn encoding(input: &Input, survey: &Survey) -> String {
    let own = input.format.dialect();
    let (dialect, telling) = (input.dialect, telling_moves(survey.telling_moves));
    let legal = |dialect| format!("{} {}", survey.legal_in(dialect), dialect.name());
    let others = Dialect::ALL.into_iter().filter(|&other| other != dialect).map(legal);
    let others = others.collect::<Vec<_>>().join(", ");
    match survey.dialect(own) {
        DialectFinding::Undetermined => format!("{} (no move tells)", dialect.name()),
        DialectFinding::Sure(found) if found == dialect => format!(
            "{}: {} of {telling} legal so ({others})",
            dialect.name(),
            survey.legal_in(dialect)
        ),
        DialectFinding::Sure(_) | DialectFinding::Unsure => format!(
            "not sure; read as {}: {} of {telling} legal so ({others})",
            dialect.name(),
            survey.legal_in(dialect)
        ),
    }
}

pub(super) fn write_record(
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
    content: &RecordValues,
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
