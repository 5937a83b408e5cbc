//! Matches at full speed: several games at once, move by move, on planes of bits.
//!
//! Every game is played out by moves, each drawn uniformly from the candidates of the player whose turn it is.
//! One random number of 64 bits serves a game: multiplied by the number of candidates, its upper half names the
//! move and its lower half is the random number for the next (batched ranged integers, Brackett-Rozinsky and
//! Lemire 2024); nine moves use less than 19 of the bits, so no move is preferred by more than 2⁻⁴⁵. There are
//! no branches that depend on moves: a game that is over takes no more marks, and several games fill
//! the pipeline of one core.

use super::super::board::{Board, Mark, SETS, Square, holds_line};
use super::super::players::Player;
use super::super::solution::Solution;
use super::Tally;
use crate::random::SplitMix64;

/// Games that are played at once.
const LANES: usize = 8;

/// Plays so many games, ○'s player first. Game number i depends on the seed and i alone.
///
/// ```
/// use kyokumen::marubatsu::{Player, Solution, matches};
/// let solution = Solution::new();
/// let played = matches::play([Player::AiGt6, Player::Ai2], 1000, 7, &solution);
/// assert_eq!((played.games(), played.x), (1000, 0));
/// ```
pub fn play(players: [Player; 2], games: u64, seed: u64, solution: &Solution) -> Tally {
    match players {
        [Player::Ai2, Player::Ai2] => play_all(&AnyMove, &AnyMove, games, seed),
        [Player::Ai2, x] => play_all(&AnyMove, &Candidates::of(x, solution), games, seed),
        [o, Player::Ai2] => play_all(&Candidates::of(o, solution), &AnyMove, games, seed),
        [o, x] => {
            let [o, x] = [o, x].map(|player| Candidates::of(player, solution));
            play_all(&o, &x, games, seed)
        }
    }
}

/// The moves from which one is drawn.
trait Choice {
    /// Candidates after so many plies, and how many they are; at least one, also when the game is over.
    fn candidates(&self, planes: [u16; 2], ply: usize) -> (u16, u64);
}

/// Every free square: `ai2`.
struct AnyMove;

impl Choice for AnyMove {
    #[inline(always)]
    fn candidates(&self, planes: [u16; 2], ply: usize) -> (u16, u64) {
        (!(planes[0] | planes[1]), (Square::COUNT - ply) as u64)
    }
}

/// The candidates of a player, looked up.
struct Candidates {
    /// By [`Board::index`]: the squares, and in the upper bits their number.
    table: Vec<u16>,
}

impl Candidates {
    fn of(player: Player, solution: &Solution) -> Self {
        let mut table = vec![0; Board::ARRANGEMENTS];
        for solved in solution.positions() {
            let candidates = player.candidates(solved.board, solution);
            let number = candidates.len().max(1) as u16;
            table[solved.board.index()] = candidates.bits() | number << Square::COUNT;
        }
        Self { table }
    }
}

impl Choice for Candidates {
    #[inline(always)]
    fn candidates(&self, planes: [u16; 2], _: usize) -> (u16, u64) {
        let found = self.table[Board::from_planes(planes).index()];
        (found, u64::from(found >> Square::COUNT))
    }
}

fn play_all(o: &impl Choice, x: &impl Choice, games: u64, seed: u64) -> Tally {
    let mut tally = Tally::default();
    let whole = games - games % LANES as u64;
    for first in (0..whole).step_by(LANES) {
        for status in play_lanes(o, x, first, seed) {
            count(&mut tally, status);
        }
    }
    for status in play_lanes(o, x, whole, seed).into_iter().take((games - whole) as usize) {
        count(&mut tally, status);
    }
    tally
}

/// Whether ○ and whether × has won.
type Won = [bool; 2];

#[inline(always)]
fn count(tally: &mut Tally, [o, x]: Won) {
    tally.o += u64::from(o);
    tally.x += u64::from(x);
    tally.draw += u64::from(!(o | x));
}

/// Plays the games from number `first` on.
#[inline(always)]
fn play_lanes(o: &impl Choice, x: &impl Choice, first: u64, seed: u64) -> [Won; LANES] {
    let mut planes = [[0_u16; 2]; LANES];
    let mut random = [0_u64; LANES];
    // All bits while the game goes on, then none.
    let mut goes_on = [u16::MAX; LANES];
    for (lane, random) in random.iter_mut().enumerate() {
        *random = SplitMix64::nth_bits(seed, first + lane as u64);
    }
    for ply in 0..Square::COUNT {
        let mover = ply % 2;
        for lane in 0..LANES {
            let (candidates, number) = if mover == Mark::Circle.index() {
                o.candidates(planes[lane], ply)
            } else {
                x.candidates(planes[lane], ply)
            };
            let drawn = u128::from(random[lane]) * u128::from(number);
            random[lane] = drawn as u64;
            let chosen = NTH[usize::from(candidates) % SETS][(drawn >> 64) as usize % 16];
            planes[lane][mover] |= chosen & goes_on[lane];
            // Nobody has three marks before the fifth ply.
            if ply >= 4 && holds_line(planes[lane][mover]) {
                goes_on[lane] = 0;
            }
        }
    }
    planes.map(|planes| planes.map(holds_line))
}

/// For each set of squares its first, second, … square as a set; nothing beyond the last.
static NTH: [[u16; 16]; SETS] = {
    let mut table = [[0; 16]; SETS];
    let mut set = 0;
    while set < SETS {
        let (mut rest, mut n) = (set as u16, 0);
        while rest != 0 {
            table[set][n] = rest & rest.wrapping_neg();
            rest &= rest - 1;
            n += 1;
        }
        set += 1;
    }
    table
};
