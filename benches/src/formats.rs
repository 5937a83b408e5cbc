//! `kyokumen-bench formats`: records per second of each format, in memory, on one core.
//!
//! The records are positions of random games with all fields of the format.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use kyokumen::format::{DecodeError, Format, Record, RecordRef, chunks, encode, records};
use kyokumen::ops::generate::{GenerateSettings, Generator, fill};
use kyokumen::shogi::Position;
use serde::Serialize;

use crate::rounds::{Rounds, json_line, per_second, timed};

/// Records per second of each format, in memory, on one core
#[derive(Args)]
pub(crate) struct FormatsArgs {
    /// Number of records of random games
    #[arg(long, default_value_t = 100_000)]
    count: u64,

    /// Seed of the games
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Formats to measure, separated by commas [default: all]
    #[arg(long, value_name = "FORMATS", value_delimiter = ',')]
    formats: Vec<Format>,

    #[command(flatten)]
    rounds: Rounds,
}

#[derive(Serialize)]
struct Figure {
    format: &'static str,
    records: u64,
    /// Decoding to a checked board and hands.
    decode_per_s: f64,
    /// Decoding to a legal position.
    legal_per_s: f64,
    /// Decoding of all fields.
    decode_all_per_s: f64,
    encode_per_s: f64,
}

pub(crate) fn run(args: &FormatsArgs) -> anyhow::Result<()> {
    let recipe =
        GenerateSettings { count: args.count, seed: args.seed, ..GenerateSettings::default() };
    let records: Vec<Record> = Generator::new(recipe).collect();
    if !args.rounds.json {
        writeln!(io::stdout(), "records/s        pieces legal position   all fields       encode")?;
    }
    let formats = if args.formats.is_empty() { &Format::ALL } else { &args.formats[..] };
    for &format in formats {
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
    Ok(())
}

fn measure(format: Format, records: &[Record], rounds: Rounds) -> anyhow::Result<Figure> {
    // Each round overwrites the same buffer, because the first access to new memory takes as long as encoding.
    let mut bytes = Vec::new();
    let ((), encoded) = rounds.measure(|| encode_all(format, records, &mut bytes))?;
    let records = records.len() as u64;
    // Only a reference to the result is passed to `black_box`, because a move of the result would be measured too.
    let to_setup = |record: RecordRef<'_>| {
        black_box(&record.setup()?);
        Ok(())
    };
    let to_position = |record: RecordRef<'_>| {
        black_box(&Position::try_from(&record.setup()?)).as_ref().expect("a legal position");
        Ok(())
    };
    let to_record = |record: RecordRef<'_>| {
        black_box(&record.record()?);
        Ok(())
    };
    let ((), position) = rounds.measure(|| decode_all(format, &bytes, to_setup))?;
    let ((), legal) = rounds.measure(|| decode_all(format, &bytes, to_position))?;
    let ((), everything) = rounds.measure(|| decode_all(format, &bytes, to_record))?;
    Ok(Figure {
        format: format.name(),
        records,
        decode_per_s: per_second(records, position).round(),
        legal_per_s: per_second(records, legal).round(),
        decode_all_per_s: per_second(records, everything).round(),
        encode_per_s: per_second(records, encoded).round(),
    })
}

fn encode_all(
    format: Format,
    records: &[Record],
    bytes: &mut Vec<u8>,
) -> anyhow::Result<((), Duration)> {
    let fill = fill();
    bytes.clear();
    let (encoded, elapsed) = timed(|| {
        records.iter().try_for_each(|record| encode(format, record, &fill, bytes).map(drop))
    });
    encoded?;
    Ok(((), elapsed))
}

fn decode_all(
    format: Format,
    bytes: &[u8],
    decode: impl Fn(RecordRef<'_>) -> Result<(), DecodeError>,
) -> anyhow::Result<((), Duration)> {
    let one = |record| decode(RecordRef::new(format, black_box(record))?);
    let chunk_records = |chunk| {
        records(format, format.dialect(), black_box(chunk)).try_for_each(|record| decode(record?))
    };
    let (decoded, elapsed) = timed(|| match format.record_len() {
        Some(len) => bytes.chunks(len).try_for_each(one),
        None => chunks(format, bytes).try_for_each(chunk_records),
    });
    decoded.context("cannot decode a generated record")?;
    Ok(((), elapsed))
}
