//! One random game after the other on any representation, to compare representations by.
//!
//! The articles' `ai_match` with `ai2` on both sides.

use super::super::board::{Mark, Status};
use super::super::representation::Representation;
use super::super::square::Square;
use kyokumen_game::random::SplitMix64;

/// Plays a game of random moves.
pub fn random_game<R: Representation>(random: &mut SplitMix64) -> Status {
    let mut marks = R::default();
    let mut free = Square::ALL;
    let mut mover = Mark::Circle;
    for left in (1..=Square::COUNT).rev() {
        let number = random.below(left);
        let square = free[number];
        free[number] = free[left - 1];
        marks.put(square, mover);
        if marks.has_line_through(square, mover) {
            return Status::Won(mover);
        }
        mover = !mover;
    }
    Status::Draw
}
