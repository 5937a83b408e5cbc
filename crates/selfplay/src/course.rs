//! A game as far as it has been played, and what the rules and proven mates decide without a search.

use kyokumen_format::{Ending, Game, GameResult, MATE_EVAL, Played};
use kyokumen_game::random::SplitMix64;
use kyokumen_mcts::LeafSearch;
use kyokumen_shogi::{Color, Move, Position, PositionHistory, Repetition};

use crate::game::{Dropped, FinishedGame, GameCounts};
use crate::settings::{GameSettings, RepetitionRule};

/// A game in progress, without its position.
#[derive(Clone, Debug)]
pub struct Course {
    settings: GameSettings,
    game: Game,
    /// The remaining moves of a proven mate, the last one first.
    mate: Vec<Move>,
    /// Whether nobody resigns in this game.
    is_played_through: bool,
    /// The winner by the first resignation that would have taken place.
    would_win: Option<Color>,
}

/// Distinguishes the random numbers of this decision from others of the game.
const PLAYTHROUGH: u64 = 0x7068_7265_7367_6e21;

/// What happens in a position.
#[derive(Clone, Debug)]
pub enum Next {
    /// The game has ended by the rules.
    Ended,
    /// A move of a proven mate, or the only legal move. It is not for training.
    Forced(Played),
    /// A player chooses the move.
    Choice,
}

impl Course {
    /// Starts a game from `opening`. Its number and the seed decide whether it is played without resignation.
    pub fn new(settings: GameSettings, seed: u64, number: u64, opening: &Position) -> Self {
        let is_played_through = unit(seed ^ PLAYTHROUGH, number) < settings.resign_playthrough;
        Self {
            settings,
            game: Game::new(opening.setup()),
            mate: Vec::new(),
            is_played_through,
            would_win: None,
        }
    }

    /// The game up to now.
    pub const fn game(&self) -> &Game {
        &self.game
    }

    /// Whether the game has ended.
    pub const fn has_ended(&self) -> bool {
        self.game.result.is_some()
    }

    /// Number of moves made.
    pub fn ply(&self) -> u16 {
        u16::try_from(self.game.moves.len()).unwrap_or(u16::MAX)
    }

    /// Whether the next move is one of the random moves at the start.
    pub fn is_random(&self) -> bool {
        self.ply() < self.settings.opening.plies
    }

    /// Decides how the game goes on from its last position, which ends `history`.
    pub fn next(
        &mut self,
        position: &Position,
        history: &PositionHistory,
        mates: &mut LeafSearch,
    ) -> Next {
        if let Some((result, ending)) = self.end_by_rule(position, history) {
            self.end(result, ending);
            return Next::Ended;
        }
        if self.mate.is_empty()
            && let Some(line) = mates.mate_line(position, self.settings.search.root_mate)
        {
            self.mate = line.moves;
            self.mate.reverse();
        }
        if let Some(m) = self.mate.pop() {
            // The side that makes the last move of the line mates.
            let eval = if self.mate.len().is_multiple_of(2) { MATE_EVAL } else { -MATE_EVAL };
            return Next::Forced(forced(m, eval));
        }
        match position.legal_moves()[..] {
            [only] => Next::Forced(forced(only, 0)),
            _ => Next::Choice,
        }
    }

    fn end_by_rule(
        &self,
        position: &Position,
        history: &PositionHistory,
    ) -> Option<(GameResult, Option<Ending>)> {
        let mover = position.side_to_move();
        let win_of = GameResult::win_of;
        if !position.has_legal_move() {
            return Some((win_of(!mover), None));
        }
        let repetition = match self.settings.repetition {
            RepetitionRule::Fourth => history.repetition(4),
            RepetitionRule::Dlshogi => history.repetition_within(16),
        };
        if let Some(repetition) = repetition {
            let result = match repetition {
                Repetition::Draw => GameResult::Draw,
                Repetition::Win => win_of(mover),
                Repetition::Loss => win_of(!mover),
            };
            return Some((result, Some(Ending::Repetition)));
        }
        if position.can_declare() {
            return Some((win_of(mover), Some(Ending::Declaration)));
        }
        let is_long = self.game.moves.len() >= usize::from(self.settings.max_moves);
        is_long.then_some((GameResult::Draw, Some(Ending::MoveLimit)))
    }

    /// Ends the game if a side resigns at this probability that the side to move wins. Returns whether it has ended.
    pub fn resigns(&mut self, position: &Position, value: f32) -> bool {
        if (2.0 * value - 1.0).abs() <= self.settings.resign {
            return false;
        }
        let mover = position.side_to_move();
        let winner = if value > 0.5 { mover } else { !mover };
        if self.is_played_through {
            self.would_win.get_or_insert(winner);
            return false;
        }
        self.end(GameResult::win_of(winner), None);
        true
    }

    /// Ends the game.
    pub fn end(&mut self, result: GameResult, ending: Option<Ending>) {
        self.game.result = Some(result);
        self.game.ending = ending;
    }

    /// Adds a move.
    pub fn push(&mut self, played: Played) {
        self.game.moves.push(played);
    }

    /// Returns the game after its end.
    pub fn finish(self, number: u64, counts: GameCounts) -> FinishedGame {
        let dropped = self.dropped();
        let winner = self.game.result.and_then(GameResult::winner);
        let wrongly_resigned = self.would_win.map(|would_win| winner != Some(would_win));
        FinishedGame { number, game: self.game, counts, dropped, wrongly_resigned }
    }

    fn dropped(&self) -> Option<Dropped> {
        let GameSettings { min_moves, drop_move_limit, .. } = self.settings;
        if self.game.moves.len() < usize::from(min_moves) {
            Some(Dropped::TooShort)
        } else {
            let is_at_limit = self.game.ending == Some(Ending::MoveLimit);
            (is_at_limit && drop_move_limit).then_some(Dropped::MoveLimit)
        }
    }
}

/// A random number from 0 to 1 that depends only on the arguments.
pub(crate) fn unit(seed: u64, number: u64) -> f32 {
    const BITS: u32 = 24;
    (SplitMix64::nth_bits(seed, number) >> (u64::BITS - BITS)) as f32 / (1_u32 << BITS) as f32
}

fn forced(m: Move, eval: i16) -> Played {
    Played { eval_cp: Some(eval), is_not_for_training: true, ..Played::new(m, 0) }
}
