//! Marubatsu as an AND/OR game: does one side win, or at least draw?
//!
//! There are no hands and no repetitions. Games end at nodes of both kinds, unlike in shogi.

use std::num::NonZeroU16;

use kyokumen_game::{Candidate, Expansion, Game, Moves, NodeKind, Outcome};

use super::board::{Board, Mark, Status};
use super::square::Square;

/// The goal of the attacker.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Goal {
    /// Three in a row.
    Win,
    /// Three in a row, or a full board.
    Draw,
}

impl Goal {
    /// Both goals.
    pub const ALL: [Self; 2] = [Self::Win, Self::Draw];
}

/// The question whether one side reaches a goal from a position.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use kyokumen_marubatsu::{Board, Contest, Goal, Mark};
/// use kyokumen_search::{DfPn, Limits, TableSize, Verdict};
///
/// let limits = Limits::new(9, 1_000_000);
/// let mut verdict = |goal| {
///     let mut contest = Contest::new(Board::EMPTY, Mark::Circle, goal);
///     DfPn::new(TableSize::from_mib(1)).solve(&mut contest, limits, &AtomicBool::new(false)).verdict
/// };
/// assert_eq!(verdict(Goal::Draw), Verdict::Proven);
/// assert_eq!(verdict(Goal::Win), Verdict::Disproven);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contest {
    board: Board,
    attacker: Mark,
    goal: Goal,
}

impl Contest {
    /// The question whether `attacker` reaches `goal`. The attacker need not be the side to move.
    pub const fn new(board: Board, attacker: Mark, goal: Goal) -> Self {
        Self { board, attacker, goal }
    }

    /// The current position.
    pub const fn board(&self) -> Board {
        self.board
    }

    fn outcome(self, status: Status) -> Option<Outcome> {
        let reached = match status {
            Status::Playing => return None,
            Status::Won(mark) => mark == self.attacker,
            Status::Draw => self.goal == Goal::Draw,
        };
        Some(if reached { Outcome::Reached } else { Outcome::Missed })
    }
}

/// Spreads the 18 bits of a board over a key. The odd factor gives different boards different keys (Fibonacci hashing,
/// Knuth).
const fn key(board: Board) -> u64 {
    (board.bits() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Game for Contest {
    type Move = Square;
    type Hand = ();
    type Undo = ();

    fn node_kind(&self) -> NodeKind {
        if self.board.side_to_move() == self.attacker { NodeKind::Or } else { NodeKind::And }
    }

    fn board_key(&self) -> u64 {
        key(self.board)
    }

    fn hand(&self) {}

    fn board_key_after(&self, square: Square) -> u64 {
        let mut after = self.board;
        after.play(square);
        key(after)
    }

    fn hand_after(&self, _: Square) {}

    fn make(&mut self, square: Square) {
        self.board.play(square);
    }

    fn unmake(&mut self, square: Square, (): ()) {
        self.board.take_back(square);
    }

    fn code(square: Square) -> NonZeroU16 {
        NonZeroU16::MIN.saturating_add(square.number().into())
    }

    fn expand(&self, moves: &mut Vec<Candidate<Square>>) -> Expansion {
        if let Some(outcome) = self.outcome(self.board.status()) {
            return Expansion::Over(outcome);
        }
        moves.extend(self.board.moves().iter().map(Candidate::new));
        Expansion::Moves
    }

    fn plain_moves(&mut self) -> Moves<Square> {
        match self.outcome(plain_status(self.board)) {
            Some(outcome) => Moves::Over(outcome),
            None => {
                Moves::Some(Square::all().filter(|&s| self.board.mark_on(s).is_none()).collect())
            }
        }
    }

    fn set_hand(&mut self, (): ()) {}

    fn proof_hand_of_goal(&self) {}
}

/// The state of the game, found square by square: from each square in each direction.
fn plain_status(board: Board) -> Status {
    let on = |x: i8, y: i8| {
        let number = u8::try_from(3 * y + x).ok().filter(|_| (0..3).contains(&x))?;
        board.mark_on(Square::new(number)?)
    };
    for y in 0..3 {
        for x in 0..3 {
            for (right, down) in [(1, 0), (0, 1), (1, 1), (-1, 1)] {
                let line = [0, 1, 2].map(|step| on(x + step * right, y + step * down));
                if let [Some(mark), second, third] = line
                    && [second, third] == [Some(mark); 2]
                {
                    return Status::Won(mark);
                }
            }
        }
    }
    if Square::all().all(|square| board.mark_on(square).is_some()) {
        Status::Draw
    } else {
        Status::Playing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The square-by-square rules and the bit planes agree in the whole tree.
    #[test]
    fn plain_status_agrees() {
        let mut boards = vec![Board::EMPTY];
        while let Some(board) = boards.pop() {
            assert_eq!(plain_status(board), board.status(), "{board}");
            for square in board.moves() {
                let mut after = board;
                after.play(square);
                boards.push(after);
            }
        }
    }
}
