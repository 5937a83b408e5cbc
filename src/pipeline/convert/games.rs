//! Games to games: each leaves as one, with every move that was read.
//!
//! A record is a move; of a game that cannot be read to its end the moves before the fault are written.
//! Moves that are not to be trained on stay: without them the game would be another.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::counts::Fate;
use super::super::reading::Fault;
use super::super::sorting::Sorted;
use super::super::source::{Block, RawUnit};
use super::super::stream::Stream;
use super::plan::{ConvertPlan, Route};
use super::strict::{self, Loss};
use crate::format::{
    ConvertError, DecodeError, Fields, Format, Game, Written, read_games, write_game,
};

/// Writes the games of a block; `None` if `cancel` was set meanwhile.
pub(super) fn sort(plan: &ConvertPlan, block: &Block, cancel: &AtomicBool) -> Option<Sorted> {
    let mut desk = Desk { plan, block, sorted: Sorted::default() };
    let mut index = block.first_index;
    for unit in block.units() {
        if cancel.load(Ordering::Relaxed) {
            return None;
        }
        index += desk.take(&unit, index);
        if desk.sorted.stopped_by.is_some() {
            break;
        }
    }
    Some(desk.sorted)
}

struct Desk<'a> {
    plan: &'a ConvertPlan,
    block: &'a Block,
    sorted: Sorted,
}

/// A game as far as it was read.
struct Read {
    game: Game,
    /// The fields that each of its records loses.
    lost: Vec<Fields>,
    /// Why nothing more was read, and how many records are lost with it.
    fault: Option<(DecodeError, u64)>,
}

impl Read {
    fn new(game: Game, to: Format) -> Self {
        let (mut lost, mut fault) = (Vec::new(), None);
        for record in game.records() {
            match (record, &mut fault) {
                (Ok(record), _) => lost.push(to.losses(record.fields(), record.ending)),
                (Err(_), Some((_, records))) => *records += 1,
                (Err(error), none) => *none = Some((error, 1)),
            }
        }
        Self { game, lost, fault }
    }

    /// The number of its records, read or not.
    fn records(&self) -> u64 {
        self.lost.len() as u64 + self.fault.as_ref().map_or(0, |(_, records)| *records)
    }
}

impl Desk<'_> {
    /// Writes the games in a unit, whose first record has this index; returns the number of its records.
    fn take(&mut self, unit: &RawUnit<'_>, first_index: u64) -> u64 {
        let games = self.read(unit);
        let records = games.iter().map(|game| game.as_ref().map_or(1, Read::records)).sum::<u64>();
        if self.is_copied(&games, first_index..first_index + records) {
            self.copy(unit, records);
            return records;
        }
        let mut index = first_index;
        for game in games {
            index += match game {
                Ok(read) => self.take_game(&read, unit, index),
                Err(fault) => {
                    self.set_aside_wanted(&fault, unit, index..index + 1);
                    1
                }
            };
            if self.sorted.stopped_by.is_some() {
                break;
            }
        }
        records
    }

    fn read(&self, unit: &RawUnit<'_>) -> Vec<Result<Read, Fault>> {
        if unit.is_cut {
            return vec![Err(Fault::CutUnit)];
        }
        let to = self.plan.to.format;
        read_games(self.block.format, unit.without_line_end(self.block.format))
            .map(|game| Ok(Read::new(game?, to)))
            .collect()
    }

    /// Those of these records that are wanted.
    fn wanted(&self, records: Range<u64>) -> Range<u64> {
        let within = |index: u64| index.clamp(records.start, records.end);
        within(self.block.wanted.start)..within(self.block.wanted.end)
    }

    /// Whether a unit with these games and records leaves as it came.
    fn is_copied(&self, games: &[Result<Read, Fault>], records: Range<u64>) -> bool {
        let is_whole =
            |game: &Result<Read, _>| game.as_ref().is_ok_and(|read| read.fault.is_none());
        self.plan.route(self.block.format) == Route::Copy
            && self.wanted(records.clone()) == records
            && games.iter().all(is_whole)
    }

    fn copy(&mut self, unit: &RawUnit<'_>, records: u64) {
        let batch = self.sorted.batch_mut(Stream::Kept);
        unit.copy(self.plan.to.format, batch.open_record());
        batch.end_group(records as usize);
        self.count(&vec![Written::default(); records as usize]);
    }

    /// Writes a game whose first record has this index; returns the number of its records.
    fn take_game(&mut self, read: &Read, unit: &RawUnit<'_>, first_index: u64) -> u64 {
        let end = first_index + read.lost.len() as u64;
        let wanted = self.wanted(first_index..end);
        if let Some((index, loss)) = self.loss(read, first_index, &wanted) {
            self.set_aside(&loss.into(), unit, index..index + 1);
            return read.records();
        }
        if let Err(fault) = self.write(read, first_index, &wanted) {
            self.set_aside(&fault, unit, wanted);
        }
        if let Some((fault, lost)) = &read.fault
            && self.sorted.stopped_by.is_none()
        {
            self.set_aside_wanted(&fault.clone().into(), unit, end..end + lost);
        }
        read.records()
    }

    /// The first of the wanted records that loses a field, if none may.
    fn loss(&self, read: &Read, first_index: u64, wanted: &Range<u64>) -> Option<(u64, Loss)> {
        if !self.plan.settings.strict {
            return None;
        }
        let mut records =
            (first_index..).zip(&read.lost).filter(|(index, _)| wanted.contains(index));
        records.find_map(|(index, &lost)| Some((index, strict::check_fields(lost).err()?)))
    }

    fn write(&mut self, read: &Read, first_index: u64, wanted: &Range<u64>) -> Result<(), Fault> {
        let within = |index: u64| (index - first_index) as usize;
        let moves = within(wanted.start)..within(wanted.end);
        let (to, mirror) = (self.plan.to.format, self.plan.settings.mirror);
        let mut written = Vec::new();
        if let Some(mut part) = read.game.part(moves.clone()) {
            let invented = self.plan.settings.fill.complete(&mut part, to);
            let part = if mirror { part.mirrored() } else { part };
            write_game(to, &part, self.sorted.batch_mut(Stream::Kept).open_record())
                .map_err(ConvertError::from)?;
            let lost_of_game = to.lost_of_game(&part.start, part.result, part.ending);
            let all = read.lost[moves].iter().zip(invented);
            written.extend(
                all.map(|(lost, invented)| Written { lost: lost.union(lost_of_game), invented }),
            );
        }
        self.sorted.batch_mut(Stream::Kept).end_group(written.len());
        self.count(&written);
        Ok(())
    }

    /// Counts records that were written.
    fn count(&mut self, written: &[Written]) {
        self.sorted.counts.input += written.len() as u64;
        for &written in written {
            self.sorted.counts.count_fate(Fate::Kept);
            self.sorted.count_fields(written);
        }
    }

    /// Those of these records that are wanted are bad.
    fn set_aside_wanted(&mut self, fault: &Fault, unit: &RawUnit<'_>, records: Range<u64>) {
        let wanted = self.wanted(records);
        if !wanted.is_empty() {
            self.set_aside(fault, unit, wanted);
        }
    }

    fn set_aside(&mut self, fault: &Fault, unit: &RawUnit<'_>, records: Range<u64>) {
        let file = &self.plan.parts[self.block.part].input.name;
        self.sorted.counts.input += records.end - records.start;
        self.sorted.set_aside(fault, file, self.block, unit, records, self.plan.settings.on_error);
    }
}
