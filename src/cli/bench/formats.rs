//! `kyokumen bench formats`: records per second of each format, in memory, on one core.
//!
//! The records are positions of random games with everything a format can hold.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use super::super::Outcome;
use super::super::report::json_line;
use super::{Rounds, per_second, timed};
use crate::format::{DecodeError, Format, Record, RecordRef, encode, records, units};
use crate::pipeline::generate::{Generator, Recipe, fill};
use crate::shogi::Position;

/// Records per second of each format, in memory, on one core
#[derive(Args)]
pub(super) struct FormatsArgs {
    /// Records of random games to measure on
    #[arg(long, default_value_t = 100_000)]
    count: u64,

    /// Seed of the games
    #[arg(long, default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    rounds: Rounds,
}

#[derive(Serialize)]
struct Figure {
    format: &'static str,
    records: u64,
    /// To a checked arrangement of pieces.
    decode_per_s: f64,
    /// To a legal position.
    legal_per_s: f64,
    /// To everything the record says.
    decode_all_per_s: f64,
    encode_per_s: f64,
}

pub(super) fn run(args: &FormatsArgs) -> anyhow::Result<Outcome> {
    let recipe = Recipe { count: args.count, seed: args.seed, ..Recipe::default() };
    let records: Vec<Record> = Generator::new(recipe).collect();
    if !args.rounds.json {
        writeln!(io::stdout(), "records/s        pieces legal position   everything       encode")?;
    }
    for format in Format::ALL {
        let figure = measure(format, &records, args.rounds)?;
        if args.rounds.json {
            json_line(&figure)?;
        } else {
            let Figure {
                format, decode_per_s, legal_per_s, decode_all_per_s, encode_per_s, ..
            } = figure;
            writeln!(
                io::stdout(),
                "{format:<10} {decode_per_s:>12.0} {legal_per_s:>14.0} {decode_all_per_s:>12.0} \
                 {encode_per_s:>12.0}"
            )?;
        }
    }
    Ok(Outcome::Done)
}

fn measure(format: Format, records: &[Record], rounds: Rounds) -> anyhow::Result<Figure> {
    let (bytes, encoded) = rounds.measure(|| encode_all(format, records))?;
    let records = records.len() as u64;
    let ((), position) = rounds.measure(|| decode_all(format, &bytes, |record| record.setup()))?;
    let ((), legal) = rounds.measure(|| {
        decode_all(format, &bytes, |record| {
            // What is no position is no record of ours.
            Ok(Position::try_from(&record.setup()?).ok())
        })
    })?;
    let ((), everything) =
        rounds.measure(|| decode_all(format, &bytes, |record| record.record()))?;
    Ok(Figure {
        format: format.name(),
        records,
        decode_per_s: per_second(records, position).round(),
        legal_per_s: per_second(records, legal).round(),
        decode_all_per_s: per_second(records, everything).round(),
        encode_per_s: per_second(records, encoded).round(),
    })
}

fn encode_all(format: Format, records: &[Record]) -> anyhow::Result<(Vec<u8>, Duration)> {
    let fill = fill();
    let mut bytes = Vec::with_capacity(records.len() * 128);
    let (encoded, elapsed) = timed(|| {
        records.iter().try_for_each(|record| encode(format, record, &fill, &mut bytes).map(drop))
    });
    encoded?;
    Ok((bytes, elapsed))
}

fn decode_all<T>(
    format: Format,
    bytes: &[u8],
    decode: impl Fn(RecordRef<'_>) -> Result<T, DecodeError>,
) -> anyhow::Result<((), Duration)> {
    let one = |record| -> Result<(), DecodeError> {
        black_box(decode(RecordRef::new(format, black_box(record))?)?);
        Ok(())
    };
    let group = |unit| -> Result<(), DecodeError> {
        for record in records(format, format.dialect(), black_box(unit)) {
            black_box(decode(record?)?);
        }
        Ok(())
    };
    let (decoded, elapsed) = timed(|| match format.record_len() {
        Some(len) => bytes.chunks(len).try_for_each(one),
        None => units(format, bytes).try_for_each(group),
    });
    decoded.context("a record of our own making")?;
    Ok(((), elapsed))
}
