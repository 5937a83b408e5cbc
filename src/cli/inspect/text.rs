//! The text output of `kyokumen inspect`: a header for each file, then records with boards.

use std::io::{self, Write};
use std::iter;

use super::described::{Described, RecordValues};
use crate::cli::message::name;
use crate::cli::report::records;
use crate::format::move16::Dialect;
use crate::format::{DialectFinding, Field, RecordPlace, Survey, notation};
use crate::ops::inspect::{Header, InspectedRecord};
use crate::records::source::Input;
use crate::shogi::diagram::{KanjiDiagram, LetterDiagram};
use crate::shogi::{Color, Position};
use crate::storage::compression::Compression;
use crate::storage::quantity::quantity;

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
        Some(number) => write!(out, "{}", records(*number))?,
        None => write!(out, "more than {}", records(survey.records))?,
    }
    if input.format.holds_games() {
        let at_least = if *number == Some(survey.records) { "" } else { "at least " };
        write!(out, ", {at_least}{}", quantity(survey.games, "game"))?;
    }
    writeln!(out)?;
    if survey.records == 0 {
        return Ok(());
    }
    writeln!(out, "  sample        {}, {} unreadable", records(survey.records), survey.unreadable)?;
    if input.format.family().is_some() {
        writeln!(out, "  hand order    {}", hand_order(survey))?;
    }
    if input.format.record_len().is_some() && !input.format.fields().is_empty() {
        match survey.padding_not_zero {
            0 => writeln!(out, "  padding       always zero")?,
            number => writeln!(out, "  padding       not zero in {}", records(number))?,
        }
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
        0 => "undetermined (no record distinguishes the orders)".to_owned(),
        1 => format!("{} (seen in 1 record)", survey.hand_orders()),
        telling => format!("{} (seen in {telling} records)", survey.hand_orders()),
    }
}

/// The move encoding and the evidence for it.
fn encoding(input: &Input, survey: &Survey) -> String {
    let (dialect, telling) = (input.dialect, survey.telling_moves);
    let others = Dialect::ALL.into_iter().filter(|&other| other != dialect);
    let legal = |dialect: Dialect| format!("{} as {}", survey.legal_in(dialect), dialect.name());
    let legal: Vec<_> = iter::once(dialect).chain(others).map(legal).collect();
    let evidence = format!(
        "{} {} between the encodings; legal: {}",
        quantity(telling, "move"),
        if telling == 1 { "differs" } else { "differ" },
        legal.join(", ")
    );
    match survey.dialect(input.format.dialect()) {
        DialectFinding::Undetermined => {
            format!("{} (no stored move distinguishes the encodings)", dialect.name())
        }
        DialectFinding::Sure(found) if found == dialect => {
            format!("{} ({evidence})", dialect.name())
        }
        DialectFinding::Sure(_) | DialectFinding::Unsure => {
            format!("uncertain; read as {} ({evidence})", dialect.name())
        }
    }
}

pub(super) fn write_record(
    out: &mut impl Write,
    found: &InspectedRecord<'_>,
    described: &Described<'_>,
    kanji: bool,
) -> io::Result<()> {
    writeln!(out, "\n{}", RecordPlace { index: found.index, offset: found.offset })?;
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
    let values = &content.values;
    writeln!(out, "sfen      {}", values.sfen)?;
    if let Some(best_move) = &values.best_move {
        let words = in_words.map_or(String::new(), |words| format!("  {words}"));
        writeln!(out, "move      {best_move}{words}")?;
    }
    if let Some(eval_cp) = values.eval {
        writeln!(out, "eval      {eval_cp} cp, seen from {to_move:?}")?;
    }
    if let Some(ply) = values.ply {
        writeln!(out, "ply       {ply}")?;
    }
    match values.result {
        Some("draw") => writeln!(out, "result    draw")?,
        Some(winner) => writeln!(out, "result    {winner} won")?,
        None => {}
    }
    if let Some(ending) = values.ending {
        writeln!(out, "ended by  {}", ending.replace('_', " "))?;
    }
    if let Some(end_ply) = values.end_ply {
        writeln!(out, "game      ends at move {end_ply}")?;
    }
    if !values.candidates.is_empty() {
        let visits =
            values.candidates.iter().map(|one| format!("{} {}", one.best_move, one.visits));
        writeln!(out, "visits    {}", visits.collect::<Vec<_>>().join(", "))?;
    }
    if values.for_training == Some(false) {
        writeln!(out, "training  not for training")?;
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
