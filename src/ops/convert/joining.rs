//! Joins consecutive records that continue each other into games.
//!
//! The worker of a block joins and writes the games that lie entirely in the block. Its first and last game may extend
//! beyond it, so they are joined later, in input order.

use crate::error::Error;
use crate::format::{
    Continuation, Field, FieldChanges, Fields, Format, Game, InfoCounts, Record, Warnings,
};
use crate::ops::convert::plan::{ConvertPlan, MakeGames};
use crate::ops::convert::strict::{self, RecordEffects};
use crate::records::bad_record::BadRecord;
use crate::records::processing::{NumberedRecord, ProcessedBlock};
use crate::records::reading::RecordError;
use crate::records::source::Block;

/// Maximum number of moves of a game: formats count moves in 16 bits.
pub(super) const MAX_MOVES: usize = u16::MAX as usize;

/// A record that becomes part of a game.
pub(super) struct GameMove {
    /// A game with only this move, or without moves if the record has none.
    game: Game,
    warnings: Warnings,
    changes: MoveChanges,
    /// The record itself, to compare with the continuation of the previous record.
    record: Record,
}

/// Location of a record in the input.
#[derive(Clone, Copy)]
struct Place {
    input: usize,
    index: u64,
    offset: u64,
    bytes: usize,
}

impl Place {
    fn bad(self, plan: &ConvertPlan, error: &RecordError) -> BadRecord {
        let Self { input, index, offset, bytes } = self;
        error.bad_record(&plan.ranges[input].input.name, index..index + 1, (offset, bytes))
    }
}

impl GameMove {
    pub(super) fn new(
        plan: &ConvertPlan,
        block: &Block,
        item: &NumberedRecord<'_>,
        content: Record,
        warnings: Warnings,
    ) -> Result<Self, RecordError> {
        let as_game = item.record.as_game(&content, plan.game_format(), &plan.settings.fill);
        let (game, changes) = as_game?;
        let place = Place {
            input: block.input,
            index: item.index,
            offset: block.offset + item.chunk.offset,
            bytes: item.chunk.bytes.len(),
        };
        let (end_ply, has_ply) = (content.end_ply, content.ply.is_some());
        let changes = MoveChanges { place, changes, end_ply, has_ply };
        Ok(Self { game, warnings, changes, record: content })
    }

    /// Counts the record. Its lost fields are counted when the game is written.
    pub(super) fn count(&self, processed: &mut ProcessedBlock) {
        RecordEffects::count_joined(self.warnings, processed);
    }

    /// The changed fields that do not depend on the game.
    pub(super) const fn changes(&self) -> FieldChanges {
        self.changes.changes
    }
}

/// Records that continue each other.
pub(super) struct JoinedGame {
    game: Game,
    moves: Vec<MoveChanges>,
    /// The first record, to compare with the continuation of the previous game.
    first: Record,
    /// The continuation of the last record. `None` if no record may follow.
    next: Option<Continuation>,
}

/// Changed fields of a move. They are counted when the game is complete.
struct MoveChanges {
    place: Place,
    /// Changed fields that do not depend on the game.
    changes: FieldChanges,
    /// Game length stored in the record.
    end_ply: Option<u16>,
    has_ply: bool,
}

impl JoinedGame {
    fn new(plan: &ConvertPlan, first: GameMove) -> Self {
        let GameMove { game, changes, record, .. } = first;
        let is_single = plan.settings.make_games == MakeGames::Single;
        let next = if is_single { None } else { Continuation::of(&record) };
        Self { game, moves: vec![changes], first: record, next }
    }

    /// Whether `other` continues this game without exceeding [`MAX_MOVES`]. A position without moves never does.
    fn is_followed_by(&self, other: &Self) -> bool {
        !other.game.is_position
            && self.moves.len() + other.moves.len() <= MAX_MOVES
            && self.next.as_ref().is_some_and(|next| next.is(&other.first))
    }

    fn append(&mut self, other: Self) {
        self.game.moves.extend(other.game.moves);
        self.moves.extend(other.moves);
        self.next = other.next;
    }

    /// Fields lost by a move of the game.
    fn lost(&self, to: Format, lost_of_game: Fields, played: &MoveChanges) -> Fields {
        let end_ply = self.game.end_ply();
        let lost = [
            (Field::Ply, played.has_ply && lost_of_game.contains(Field::Ply)),
            (Field::Ending, self.game.ending.is_some() && lost_of_game.contains(Field::Ending)),
            (Field::EndPly, played.end_ply.is_some() && played.end_ply != end_ply),
        ];
        let lost = lost.into_iter().filter_map(|(field, is_lost)| is_lost.then_some(field));
        let lost: Fields = lost.collect();
        played.changes.lost.union(lost.intersection(to.fields()))
    }

    /// Writes the game and counts the changed fields of its records.
    fn write(&self, plan: &ConvertPlan, processed: &mut ProcessedBlock) -> Result<(), BadRecord> {
        let to = plan.game_format();
        let lost_of_game = to.lost_of_game(&self.game.start, self.game.result, self.game.ending);
        for played in &self.moves {
            let lost = self.lost(to, lost_of_game, played);
            if plan.settings.strict {
                strict::check_fields(lost).map_err(|loss| played.place.bad(plan, &loss))?;
            }
            processed.count_fields(FieldChanges { lost, ..played.changes });
        }
        let (game, options) = ((&self.game, InfoCounts::default()), plan.write_options());
        // Each move was already checked as a game of one move, so errors are not expected.
        let written = processed.write_game((to, options), game, self.moves.len());
        written.map_err(|error| self.moves[0].place.bad(plan, &error.into()))
    }
}

/// The first and last game of a block, which may extend beyond it.
#[derive(Default)]
pub(super) struct BlockGames {
    first: Option<JoinedGame>,
    /// `None` if the block has only one game.
    last: Option<JoinedGame>,
}

impl BlockGames {
    /// Joins the records of a block and writes the games that lie entirely in it.
    pub(super) fn join(
        plan: &ConvertPlan,
        moves: impl Iterator<Item = GameMove>,
        processed: &mut ProcessedBlock,
    ) -> Self {
        let (mut games, mut open) = (Self::default(), GameJoiner::default());
        let mut close = |game: JoinedGame| match &mut games.first {
            none @ None => *none = Some(game),
            Some(_) if processed.stopped_by.is_some() => {}
            Some(_) => {
                processed.stopped_by = game.write(plan, processed).err();
            }
        };
        for played in moves {
            if let Some(game) = open.push(JoinedGame::new(plan, played)) {
                close(game);
            }
        }
        match (&games.first, open.open) {
            (None, only) => games.first = only,
            (Some(_), last) => games.last = last,
        }
        games
    }
}

/// Joins games that continue each other. Holds the open game, which later games may continue.
#[derive(Default)]
pub(super) struct GameJoiner {
    open: Option<JoinedGame>,
}

impl GameJoiner {
    /// Appends `next` to the open game if it continues it. Otherwise opens `next` and returns the completed game.
    fn push(&mut self, next: JoinedGame) -> Option<JoinedGame> {
        match &mut self.open {
            Some(open) if open.is_followed_by(&next) => {
                open.append(next);
                None
            }
            open => open.replace(next),
        }
    }

    /// Adds the games of the next block in input order. Writes the games that it completes.
    pub(super) fn add_block(
        &mut self,
        plan: &ConvertPlan,
        games: BlockGames,
        processed: &mut ProcessedBlock,
    ) -> Result<(), Error> {
        let BlockGames { first, last } = games;
        if let Some(game) = first.and_then(|first| self.push(first)) {
            game.write(plan, processed)?;
        }
        if last.is_some() {
            self.close(plan, processed)?;
            self.open = last;
        }
        Ok(())
    }

    /// Adds the next record in input order. Writes the game that it completes.
    pub(super) fn add_move(
        &mut self,
        plan: &ConvertPlan,
        played: GameMove,
        processed: &mut ProcessedBlock,
    ) -> Result<(), Error> {
        let completed = self.push(JoinedGame::new(plan, played));
        completed.map_or(Ok(()), |game| Ok(game.write(plan, processed)?))
    }

    /// Writes the open game.
    pub(super) fn close(
        &mut self,
        plan: &ConvertPlan,
        processed: &mut ProcessedBlock,
    ) -> Result<(), Error> {
        self.open.take().map_or(Ok(()), |game| Ok(game.write(plan, processed)?))
    }
}
