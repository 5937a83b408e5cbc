//! Distributes games or positions to parts by a hash, so that equal games or positions go to the same part.
//!
//! The part depends only on the content, the weights and the seed. So it stays the same if the archive grows, is
//! filtered or is shuffled by games, and the result does not depend on threads or memory.

use std::sync::atomic::AtomicBool;

use twox_hash::XxHash3_128;

use super::super::chunks::{BlockChunks, ChunkReading, WholeChunk, for_each_chunk};
use super::super::pass::block_worker;
use super::super::plan::RearrangePlan;
use super::games::{DividedGames, RunStart, is_same_game, position_after};
use super::open_parts::create;
use super::{Parts, SplitBy, SplitSettings};
use crate::engine::job::BlockFunction;
use crate::error::Error;
use crate::format::{Field, Format, Record};
use crate::random::SplitMix64;
use crate::records::output_kind::{EncodedRecords, OutputKind};
use crate::records::processing::{AfterRecord, ProcessedBlock, copy, process_block};
use crate::records::sink::{FinishedOutputs, Sinks};
use crate::records::source::Block;
use crate::storage::quantity::quantity;

/// Number of games after which their mean length is checked.
const CHECKED_GAMES: u64 = 1000;

/// The chunks of a block in runs that stay together.
#[derive(Default)]
pub(super) struct HashedBlock {
    chunks: BlockChunks,
    runs: Vec<Run>,
    /// The first and last record, filtered or not, if runs are games that may extend beyond the block.
    ends: Option<Box<(Record, Record)>>,
}

struct Run {
    /// Index of the first chunk.
    start: usize,
    /// If runs are games, their start in the block and the position after their end.
    game: Option<(RunStart, Option<u64>)>,
    /// Number of records before filtering.
    records: u64,
    /// Sum of the hashes of these records.
    hash: u64,
}

/// Checks that the records of the inputs form games or have positions of their own.
pub(super) fn check(plan: &RearrangePlan, by: SplitBy) -> Result<(), Error> {
    let (format, input) = (plan.format(), &plan.ranges[0].input.name);
    let remedy = match by {
        SplitBy::Position if !format.has_single_records() => {
            "contains games or groups, not single records; use --by game, or convert to a record format such as hcpe first"
        }
        SplitBy::Game if format.holds_games() || format == Format::Db => return Ok(()),
        SplitBy::Game if !format.fields().contains(Field::BestMove) => {
            "records have no moves, so their games cannot be recognised; use --by position"
        }
        _ => return Ok(()),
    };
    Err(Error::usage(format!("--by {} cannot be used with {input}: {format} {remedy}", by.name())))
}

pub(super) fn hashing_worker(plan: &RearrangePlan, by: SplitBy) -> BlockFunction<HashedBlock> {
    let reading = plan.reading(plan.on_error);
    let whole_chunks = !plan.format().has_single_records();
    block_worker(plan, move |block, file, cancel| {
        if whole_chunks {
            let mut hashed = HashedBlock::default();
            let processed = for_each_chunk(block, file, &reading, |chunk| {
                hashed.start_run(hash(chunk.bytes));
                hashed.chunks.push(chunk);
            });
            return Some((processed, hashed));
        }
        hash_records(block, (file, &reading), by, cancel)
    })
}

fn hash(bytes: &[u8]) -> u64 {
    XxHash3_128::oneshot(bytes) as u64
}

fn hash_records(
    block: &Block,
    (file, reading): (&str, &ChunkReading),
    by: SplitBy,
    cancel: &AtomicBool,
) -> Option<(ProcessedBlock, HashedBlock)> {
    let (mut hashed, mut bytes) = (HashedBlock::default(), Vec::new());
    let processed = process_block(block, file, reading.on_error, cancel, |item, processed| {
        bytes.clear();
        copy(item, &mut bytes)?;
        // Games are found before records are filtered, because a filter leaves gaps.
        if by == SplitBy::Game {
            hashed.add_to_game(item.record.record()?, hash(&bytes));
        }
        if let Some(condition) = reading.filters.failed_condition(item.number, &item.record)? {
            return Ok(AfterRecord::Filtered(condition));
        }
        if by == SplitBy::Position {
            hashed.start_run(hash(item.record.position_key()?.bytes()));
        }
        hashed.chunks.push(&WholeChunk { bytes: &bytes, number: item.number, records: 1 });
        processed.counts.kept += 1;
        Ok(AfterRecord::Continue)
    })?;
    hashed.end_run();
    Some((processed, hashed))
}

impl HashedBlock {
    fn start_run(&mut self, hash: u64) {
        self.runs.push(Run { start: self.chunks.len(), game: None, records: 1, hash });
    }

    fn end_run(&mut self) {
        let run = self.runs.last_mut().and_then(|run| run.game.as_mut());
        if let (Some(ends), Some((_, after))) = (&self.ends, run) {
            *after = position_after(&ends.1);
        }
    }

    fn add_to_game(&mut self, record: Record, hash: u64) {
        match (&mut self.ends, self.runs.last_mut()) {
            (Some(ends), Some(run)) if is_same_game(&ends.1, &record) => {
                run.records += 1;
                run.hash = run.hash.wrapping_add(hash);
                ends.1 = record;
                return;
            }
            _ => self.end_run(),
        }
        self.start_run(hash);
        if let Some(run) = self.runs.last_mut() {
            run.game = Some((RunStart::of(&record), None));
        }
        match &mut self.ends {
            Some(ends) => ends.1 = record,
            none => *none = Some(Box::new((record.clone(), record))),
        }
    }
}

/// The parts, all open at once.
pub(super) struct HashedParts {
    open: Vec<Sinks>,
    /// For each part, the sum of its weight and the weights before it.
    bounds: Vec<u64>,
    seed: u64,
    input: String,
    /// Mean number of records per game below which the inputs are not in game order. In a random order with move
    /// numbers it is below 2, because half of all records have a higher number than the record before.
    least_plies: u64,
    game: EncodedRecords,
    game_hash: u64,
    last: Option<Record>,
    /// The position after the last record, if known.
    after_last: Option<u64>,
    divided: DividedGames,
    games: u64,
    records: u64,
}

impl HashedParts {
    pub(super) fn new(plan: &RearrangePlan, settings: &SplitSettings) -> Result<Self, Error> {
        let weights = settings.weights.as_ref().map(|weights| weights.values().to_vec());
        let weights = weights.unwrap_or_else(|| vec![1; plan.outputs.len()]);
        let sum = |sum: &mut u64, weight: u32| {
            *sum += u64::from(weight);
            Some(*sum)
        };
        Ok(Self {
            open: plan.outputs.iter().map(create).collect::<Result<_, _>>()?,
            bounds: weights.into_iter().scan(0, sum).collect(),
            seed: settings.seed,
            input: plan.ranges[0].input.name.clone(),
            least_plies: if plan.format().fields().contains(Field::Ply) { 3 } else { 8 },
            game: EncodedRecords::default(),
            game_hash: 0,
            last: None,
            after_last: None,
            divided: DividedGames::default(),
            games: 0,
            records: 0,
        })
    }

    fn part_of(&self, hash: u64) -> usize {
        let bits = SplitMix64::nth_bits(SplitMix64::nth_bits(self.seed, 0), hash);
        let all = self.bounds.last().copied().unwrap_or(1);
        let drawn = ((u128::from(bits) * u128::from(all)) >> u64::BITS) as u64;
        self.bounds.partition_point(|&bound| bound <= drawn)
    }

    fn close_game(&mut self, encoded: &mut [EncodedRecords]) {
        let game = std::mem::take(&mut self.game).into_one_group();
        encoded[self.part_of(self.game_hash)].append(game);
        self.game_hash = 0;
    }

    /// Checks that games have a plausible length and most are not divided. Otherwise they would be spread over parts.
    fn check_order(&self) -> Result<(), Error> {
        let continued = self.divided.continued();
        let is_short = self.records < self.games.saturating_mul(self.least_plies);
        if self.games < 2 || !is_short && continued <= self.games / 2 {
            return Ok(());
        }
        Err(Error::usage(format!(
            "--by game: the records of {} are not in game order ({} in {} of consecutive moves, of which {continued} \
             begin where another ends); split them before they are shuffled or mixed, or use --by position",
            self.input,
            quantity(self.records, "record"),
            quantity(self.games, "run"),
        )))
    }

    fn warn_of_divided_games(&self) {
        let divided = self.divided.continued().max(self.divided.late());
        if divided > 0 {
            tracing::warn!(
                "--by game: {divided} of {} seem to begin in the middle of a game, so parts may have games in common; \
                 give files in the order in which they were written (day2 before day10), split before filtering and \
                 mixing, or use --by position",
                quantity(self.games, "game")
            );
        }
    }

    fn write(&mut self, encoded: &[EncodedRecords]) -> Result<(), Error> {
        let mut parts = self.open.iter_mut().zip(encoded);
        parts.try_for_each(|(sinks, encoded)| sinks.write(OutputKind::Kept, encoded))
    }
}

impl Parts<HashedBlock> for HashedParts {
    fn distribute(&mut self, block: HashedBlock) -> Result<(), Error> {
        let HashedBlock { chunks, runs, ends } = block;
        let mut encoded = vec![EncodedRecords::default(); self.open.len()];
        let ends_of_runs = runs.iter().skip(1).map(|run| run.start).chain([chunks.len()]);
        for (number, (run, end)) in runs.iter().zip(ends_of_runs).enumerate() {
            let (Some(ends), Some((start, after))) = (&ends, &run.game) else {
                chunks.append_to(&mut encoded[self.part_of(run.hash)], run.start..end);
                continue;
            };
            let open = self.last.as_ref().filter(|_| number == 0);
            if !open.is_some_and(|last| is_same_game(last, &ends.0)) {
                self.close_game(&mut encoded);
                self.divided.end(self.after_last);
                self.divided.start(start);
                self.games += 1;
            }
            self.after_last = *after;
            self.records += run.records;
            self.game_hash = self.game_hash.wrapping_add(run.hash);
            chunks.append_to(&mut self.game, run.start..end);
        }
        if let Some(ends) = ends {
            self.last = Some(ends.1);
        }
        if self.games >= CHECKED_GAMES {
            self.check_order()?;
        }
        self.write(&encoded)
    }

    fn finish(mut self) -> Result<FinishedOutputs, Error> {
        self.divided.end(self.after_last);
        self.check_order()?;
        self.warn_of_divided_games();
        let mut encoded = vec![EncodedRecords::default(); self.open.len()];
        self.close_game(&mut encoded);
        self.write(&encoded)?;
        let mut finished = FinishedOutputs::default();
        for sinks in self.open {
            finished = finished.and(sinks.finish()?);
        }
        Ok(finished)
    }
}
