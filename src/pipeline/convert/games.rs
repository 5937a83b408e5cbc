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
use crate::format::{ConvertError, DecodeError, Game, Record, Written, read_game, write_game};

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

/// A game as far as it was read, with the record of each move.
struct Read {
    game: Game,
    records: Vec<Record>,
    /// Why nothing more was read, and how many records are lost with it.
    fault: Option<(DecodeError, u64)>,
}

impl Desk<'_> {
    /// Writes the game in a unit, whose first record has this index; returns the number of its records.
    fn take(&mut self, unit: &RawUnit<'_>, first_index: u64) -> u64 {
        let read = match self.read(unit) {
            Ok(read) => read,
            Err(fault) => {
                self.set_aside(&fault, unit, first_index..first_index + 1);
                return 1;
            }
        };
        let end = first_index + read.records.len() as u64;
        let wanted = self.wanted(first_index..end);
        if let Some((index, loss)) = self.loss(&read, first_index, &wanted) {
            self.set_aside(&loss.into(), unit, index..index + 1);
            return end - first_index;
        }
        if let Err(fault) = self.write(&read, unit, first_index, &wanted) {
            self.set_aside(&fault, unit, wanted);
        }
        let Some((fault, lost)) = read.fault else { return end - first_index };
        let unread = self.wanted(end..end + lost);
        if self.sorted.stopped_by.is_none() && !unread.is_empty() {
            self.set_aside(&fault.into(), unit, unread);
        }
        end + lost - first_index
    }

    fn read(&self, unit: &RawUnit<'_>) -> Result<Read, Fault> {
        if unit.is_cut {
            return Err(Fault::CutUnit);
        }
        let game = read_game(self.block.format, unit.without_line_end(self.block.format))?;
        let mut read = Read { game, records: Vec::new(), fault: None };
        for record in read.game.records() {
            match (record, &mut read.fault) {
                (Ok(record), _) => read.records.push(record),
                (Err(_), Some((_, lost))) => *lost += 1,
                (Err(error), none) => *none = Some((error, 1)),
            }
        }
        Ok(read)
    }

    /// Those of these records that are wanted.
    fn wanted(&self, records: Range<u64>) -> Range<u64> {
        let within = |index: u64| index.clamp(records.start, records.end);
        within(self.block.wanted.start)..within(self.block.wanted.end)
    }

    /// The first of the wanted records that loses a field, if none may.
    fn loss(&self, read: &Read, first_index: u64, wanted: &Range<u64>) -> Option<(u64, Loss)> {
        if !self.plan.settings.strict {
            return None;
        }
        let to = self.plan.to.format;
        let mut records =
            (first_index..).zip(&read.records).filter(|(index, _)| wanted.contains(index));
        let lossy = |(index, record): (u64, &Record)| {
            let loss = strict::check_fields(to.losses(record.fields(), record.ending)).err()?;
            Some((index, loss))
        };
        records.find_map(lossy)
    }

    fn write(
        &mut self,
        read: &Read,
        unit: &RawUnit<'_>,
        first_index: u64,
        wanted: &Range<u64>,
    ) -> Result<(), Fault> {
        let within = |index: u64| (index - first_index) as usize;
        let wanted = within(wanted.start)..within(wanted.end);
        let records = &read.records[wanted.clone()];
        let (to, mirror) = (self.plan.to.format, self.plan.settings.mirror);
        let is_whole = read.fault.is_none() && records.len() == read.records.len();
        let out = self.sorted.batch_mut(Stream::Kept).open_record();
        let mut written = vec![Written::default(); records.len()];
        if is_whole && self.plan.route(self.block.format) == Route::Copy {
            unit.copy(to, out);
        } else if let Some(first) = records.first() {
            let mut part = Game {
                moves: read.game.moves[wanted].to_vec(),
                result: read.game.result,
                ending: read.game.ending,
                ..Game::new(first.setup.clone())
            };
            let invented = self.plan.settings.fill.complete(&mut part, to);
            let part = if mirror { part.mirrored() } else { part };
            write_game(to, &part, out).map_err(ConvertError::from)?;
            let lost_of_start = to.lost_of_start(&part.start);
            for ((written, record), invented) in written.iter_mut().zip(records).zip(invented) {
                let lost = to.losses(record.fields(), record.ending).union(lost_of_start);
                *written = Written { lost, invented };
            }
        }
        self.sorted.batch_mut(Stream::Kept).end_group(records.len());
        self.sorted.counts.input += records.len() as u64;
        for written in written {
            self.sorted.counts.count_fate(Fate::Kept);
            self.sorted.count_fields(written);
        }
        Ok(())
    }

    fn set_aside(&mut self, fault: &Fault, unit: &RawUnit<'_>, records: Range<u64>) {
        let file = &self.plan.parts[self.block.part].input.name;
        self.sorted.counts.input += records.end - records.start;
        self.sorted.set_aside(fault, file, self.block, unit, records, self.plan.settings.on_error);
    }
}
