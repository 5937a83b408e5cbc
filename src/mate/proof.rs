//! Writes proofs of mates, and checks proofs that were read from a file.
//!
//! The module `search` has already checked the proofs that it returns. Proofs from files are not trusted.

mod check;
mod file;

use std::collections::HashSet;

use crate::format::proof_file::{ProofClaim, ProofHead, ProofStep, ProofText, TooManySteps};
use crate::game::Game;
use crate::search::{Proof, Step};
use crate::shogi::{Hand, Mate, Move, plain};

pub use check::check;
pub use file::ProofOutput;

/// The text of a proof: each step that the root needs, once, in depth-first order.
///
/// Sets the `plies` of `head` to the maximum length of the mate.
///
/// # Errors
/// [`TooManySteps`] if the proof is too large for a file.
pub fn proof_text(
    mut head: ProofHead,
    proof: Option<&Proof<Move, Hand>>,
) -> Result<ProofText, TooManySteps> {
    let mut walk = Walk { proof, seen: HashSet::new(), open: Vec::new() };
    let root = head.root.clone();
    let game = match head.claim {
        ProofClaim::Win => Mate::by_side_to_move(root),
        ProofClaim::Loss => Mate::against_side_to_move(root),
    };
    head.plies = walk.plies(&game);
    let mut text = ProofText::new(head);
    match walk.step(&game) {
        Some(_) => walk.open.push(game),
        None => walk.push_replies(&game),
    }
    while let Some(mut game) = walk.open.pop() {
        // The step is missing only if the proof is about another position. The text then proves nothing.
        let Some(step) = walk.step(&game) else { continue };
        game.set_hand(step.hand);
        if walk.seen.insert((game.board_key(), step.hand)) {
            text.push(ProofStep { setup: game.position().setup(), m: step.m, plies: step.plies })?;
            game.make(step.m);
            walk.push_replies(&game);
        }
    }
    Ok(text)
}

struct Walk<'a> {
    /// `None` if nothing was searched because the root has no legal move.
    proof: Option<&'a Proof<Move, Hand>>,
    seen: HashSet<(u64, Hand)>,
    open: Vec<Mate>,
}

impl Walk<'_> {
    fn step(&self, game: &Mate) -> Option<Step<Move, Hand>> {
        self.proof?.shortest_step(game.board_key(), game.hand())
    }

    /// Pushes the position after each move of the defender. The position after the first move is on top.
    fn push_replies(&mut self, game: &Mate) {
        for m in plain::legal_moves(game.position()).into_iter().rev() {
            let mut after = game.clone();
            after.make(m);
            self.open.push(after);
        }
    }

    /// Maximum length of the mate, in plies.
    fn plies(&self, root: &Mate) -> u16 {
        if let Some(step) = self.step(root) {
            return step.plies;
        }
        let replies = plain::legal_moves(root.position()).into_iter().map(|m| {
            let mut after = root.clone();
            after.make(m);
            self.step(&after).map_or(0, |step| step.plies + 1)
        });
        replies.max().unwrap_or(0)
    }
}
