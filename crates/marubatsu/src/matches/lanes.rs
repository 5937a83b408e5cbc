//! Matches at full speed: several games at once, on bit planes.
//!
//! Every game is played move by move. Each move is drawn uniformly from the candidates of the player to move. A game
//! needs one random number of 64 bits. The number is multiplied by the number of candidates: the upper half of the
//! product selects the move, and the lower half is the random number for the next move (batched ranged integers,
//! Brackett-Rozinsky and Lemire 2024). Nine moves use less than 19 of the bits, so no move is preferred by more than
//! 2⁻⁴⁵. No branch depends on moves: a game that is over receives no more marks. Several games fill the pipeline of one
//! core.

use super::super::board::Board;
use super::super::lines::{HOLDS_LINE, SETS, holds_line};
use super::super::players::Player;
use super::super::solution::Solution;
use super::super::square::Square;
use super::super::squares::Squares;
use super::tally::Tally;
use kyokumen_game::random::SplitMix64;

/// Number of games played at once.
const LANES: usize = 8;

/// Plays `games` games. ○'s player is the first. Game number i depends only on the seed and i.
///
/// ```
/// use kyokumen_marubatsu::{Player, Solution, matches};
/// let solution = Solution::new();
/// let played = matches::play([Player::AiGt6, Player::Ai2], 1000, 7, &solution);
/// assert_eq!((played.games(), played.x), (1000, 0));
/// ```
pub fn play(players: [Player; 2], games: u64, seed: u64, solution: &Solution) -> Tally {
    match players {
        [Player::Ai2, Player::Ai2] => play_all(&AnyMove, &AnyMove, games, seed),
        [Player::Ai2, x] => play_all(&AnyMove, &Candidates::new(x, solution), games, seed),
        [o, Player::Ai2] => play_all(&Candidates::new(o, solution), &AnyMove, games, seed),
        [o, x] => {
            let [o, x] = [o, x].map(|player| Candidates::new(player, solution));
            play_all(&o, &x, games, seed)
        }
    }
}

/// Selects the candidates from which a move is drawn.
trait Choice {
    /// Candidates after `ply` plies, and their number. The number is at least 1, even if the game is over.
    fn candidates(&self, game: &Game, ply: usize) -> (u16, u64);
}

/// Every free square, as for `ai2`.
struct AnyMove;

impl Choice for AnyMove {
    #[inline(always)]
    fn candidates(&self, game: &Game, ply: usize) -> (u16, u64) {
        (game.free, (Square::COUNT - ply) as u64)
    }
}

/// The candidates of a player, from a table.
struct Candidates {
    /// By [`Board::index`]: the candidates, and their number in the upper bits.
    table: Vec<u16>,
}

impl Candidates {
    fn new(player: Player, solution: &Solution) -> Self {
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
    fn candidates(&self, game: &Game, _: usize) -> (u16, u64) {
        let found = self.table[Board::from_planes(game.planes).index()];
        (found & game.free, u64::from(found >> Square::COUNT))
    }
}

fn play_all(o: &impl Choice, x: &impl Choice, games: u64, seed: u64) -> Tally {
    let mut wins = [0; 2];
    let mut count = |game: &Game| {
        for (wins, plane) in wins.iter_mut().zip(game.planes) {
            *wins += u64::from(holds_line(plane));
        }
    };
    let whole = games - games % LANES as u64;
    for first in (0..whole).step_by(LANES) {
        play_lanes(o, x, first, seed).iter().for_each(&mut count);
    }
    let rest = (games - whole) as usize;
    play_lanes(o, x, whole, seed).iter().take(rest).for_each(&mut count);
    let [o, x] = wins;
    Tally { o, x, draw: games - o - x }
}

/// A game on one lane.
#[derive(Clone, Copy)]
struct Game {
    /// Squares that can still be marked. Empty if the game is over.
    free: u16,
    planes: [u16; 2],
    random: u64,
}

impl Game {
    fn new(seed: u64, number: u64) -> Self {
        let random = SplitMix64::nth_bits(seed, number);
        Self { free: Squares::ALL.bits(), planes: [0; 2], random }
    }

    /// Makes a move without a branch. Has no effect if the game is over.
    #[inline(always)]
    fn step(&mut self, player: &impl Choice, ply: usize) {
        let (candidates, number) = player.candidates(self, ply);
        let drawn = u128::from(self.random) * u128::from(number);
        self.random = drawn as u64;
        let chosen = NTH[usize::from(candidates) % SETS][(drawn >> 64) as usize % 16];
        let own = &mut self.planes[ply % 2];
        *own |= chosen;
        self.free ^= chosen;
        // No side has three marks before the fifth ply.
        if ply >= 4 {
            self.free &= WITHOUT_LINE[usize::from(*own) % SETS];
        }
    }
}

/// Plays the games from number `first` on. Each ply is played on all lanes before the next ply.
#[inline(always)]
fn play_lanes(o: &impl Choice, x: &impl Choice, first: u64, seed: u64) -> [Game; LANES] {
    let mut games = [Game::new(seed, first); LANES];
    for (number, game) in (first..).zip(&mut games) {
        *game = Game::new(seed, number);
    }
    // Unrolled, so that the ply is a constant.
    step(&mut games, o, 0);
    step(&mut games, x, 1);
    step(&mut games, o, 2);
    step(&mut games, x, 3);
    step(&mut games, o, 4);
    step(&mut games, x, 5);
    step(&mut games, o, 6);
    step(&mut games, x, 7);
    step(&mut games, o, 8);
    games
}

/// Makes a move in each game.
#[inline(always)]
fn step(games: &mut [Game; LANES], player: &impl Choice, ply: usize) {
    for game in games {
        game.step(player, ply);
    }
}

/// For each set: all squares if it contains no line, no squares if it contains one.
static WITHOUT_LINE: [u16; SETS] = {
    let mut table = [0; SETS];
    let mut set = 0;
    while set < SETS {
        if !HOLDS_LINE[set] {
            table[set] = Squares::ALL.bits();
        }
        set += 1;
    }
    table
};

/// The first, second, … square of each set, as a set; empty after the last.
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
