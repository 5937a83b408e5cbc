//! Exact probabilities of the results of a match.
//!
//! They are computed from the tree: a player takes each of its candidates with the same probability.

use serde::Serialize;

use super::super::board::{Board, Mark, Status};
use super::super::players::Player;
use super::super::solution::Solution;
use super::fraction::Fraction;
use super::tally::Tally;

/// The probability of each result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Exact {
    /// ○ wins.
    pub o: Fraction,
    /// × wins.
    pub x: Fraction,
    /// The game is drawn.
    pub draw: Fraction,
}

/// Number of standard deviations that contain a share in 99.99 % of all samples (normal distribution).
const Z_9999: f64 = 3.8906;

impl Exact {
    /// ○ wins, × wins, draw.
    pub const fn shares(self) -> [Fraction; 3] {
        [self.o, self.x, self.draw]
    }

    /// Maximum differences from these shares in a sample of `games` games, for 99.99 % of all samples.
    pub fn bounds(self, games: u64) -> [f64; 3] {
        self.shares().map(|share| {
            let p = share.value();
            Z_9999 * (p * (1.0 - p) / games.max(1) as f64).sqrt()
        })
    }

    /// Whether the results of played games agree with these probabilities: each share is within its bound.
    pub fn agrees_with(self, played: Tally) -> bool {
        let games = played.games();
        let bounds = self.bounds(games);
        self.shares().into_iter().zip(played.counts()).zip(bounds).all(|((share, count), bound)| {
            (count as f64 / games.max(1) as f64 - share.value()).abs() <= bound
        })
    }

    fn certain(status: Status) -> Self {
        let mut exact = Self { o: Fraction::ZERO, x: Fraction::ZERO, draw: Fraction::ZERO };
        match status {
            Status::Won(Mark::Circle) => exact.o = Fraction::ONE,
            Status::Won(Mark::Cross) => exact.x = Fraction::ONE,
            Status::Draw | Status::Playing => exact.draw = Fraction::ONE,
        }
        exact
    }
}

/// The probabilities of a match from the start. ○'s player is the first.
///
/// ```
/// use kyokumen_marubatsu::{Player, Solution, matches::exact};
/// let random = exact([Player::Ai2; 2], &Solution::new());
/// assert_eq!(random.shares().map(|share| share.to_string()), ["737/1260", "121/420", "8/63"]);
/// ```
pub fn exact(players: [Player; 2], solution: &Solution) -> Exact {
    let mut known = vec![None; Board::ARRANGEMENTS];
    result_from(Board::EMPTY, players, solution, &mut known)
}

fn result_from(
    board: Board,
    players: [Player; 2],
    solution: &Solution,
    known: &mut [Option<Exact>],
) -> Exact {
    if let Some(exact) = known[board.index()] {
        return exact;
    }
    let moves = players[board.side_to_move().index()].candidates(board, solution);
    let exact = if moves.is_empty() {
        Exact::certain(board.status())
    } else {
        let mut sum = [Fraction::ZERO; 3];
        for square in moves {
            let after = result_from(board.after(square), players, solution, known);
            for (share, part) in sum.iter_mut().zip(after.shares()) {
                *share = *share + part.part(moves.len() as u64);
            }
        }
        let [o, x, draw] = sum;
        Exact { o, x, draw }
    };
    known[board.index()] = Some(exact);
    exact
}
