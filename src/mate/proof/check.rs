//! The check of a proof that was read from a file: by the rule book, and by nothing that a solver says.
//!
//! Each step is checked for itself. That there is no end to them but mate follows from the plies, which
//! shrink from one step to the next; that a step serves larger hands, from the rules (`docs/formats/proof.md`).

use std::collections::HashMap;

use rayon::prelude::*;

use crate::error::Error;
use crate::format::proof_file::{ProofClaim, ProofStep, ProofText, board_of_step, parse_step};
use crate::shogi::{Color, Hand, Move, Position, plain};
use crate::storage::quantity::quantity;

/// Checks that a proof proves what it says: each step is a legal check after which every defence is met
/// by another step with fewer plies, and the first steps meet the position that the proof is about.
///
/// Works on the threads of the current rayon pool.
///
/// # Errors
/// [`Error`] with the line of the file and what is wrong there, the first one in the order of the lines.
pub fn check(proof: &ProofText) -> Result<(), Error> {
    let lines: Vec<&str> = proof.lines().collect();
    let at = |line: usize, fault| {
        Error::invalid(format!("line {}: {fault}", proof.first_line() + line as u64))
    };
    let steps = Steps::read(proof, &lines).map_err(|(index, fault)| at(1 + index, fault))?;
    steps.check_root(proof).map_err(|fault| at(0, fault))?;
    let refuted = |(index, line): (usize, &&str)| {
        steps.check_step(line).err().map(|fault| at(1 + index, fault))
    };
    lines.par_iter().enumerate().find_map_first(refuted).map_or(Ok(()), Err)
}

/// What is wrong with a step or a proof.
type Fault = String;

/// The steps of a proof, not yet checked.
struct Steps<'a> {
    attacker: Color,
    root: &'a Position,
    /// The attacker's hand and the plies of each step, by board.
    by_board: HashMap<&'a str, Vec<(Hand, u16)>>,
}

impl<'a> Steps<'a> {
    fn read(proof: &'a ProofText, lines: &[&'a str]) -> Result<Self, (usize, Fault)> {
        let attacker = proof.head().attacker();
        let mut by_board: HashMap<&str, Vec<(Hand, u16)>> = HashMap::new();
        for (index, line) in lines.iter().enumerate() {
            let step = parse_step(line).map_err(|fault| (index, fault.to_string()))?;
            let hand = step.setup.hands()[attacker.index()];
            by_board.entry(board_of_step(line)).or_default().push((hand, step.plies));
        }
        Ok(Self { attacker, root: &proof.head().root, by_board })
    }

    fn check_root(&self, proof: &ProofText) -> Result<(), Fault> {
        let plies = proof.head().plies;
        match proof.head().claim {
            ProofClaim::Win if self.has_step(self.root, plies) => Ok(()),
            ProofClaim::Win => Err(no_step(plies, self.root)),
            ProofClaim::Loss => {
                let defences = plain::legal_moves(self.root);
                if !defences.is_empty() && !plain::in_check(self.root) {
                    let fault = "the side to move is said to be mated, is not in check and has a legal move";
                    return Err(fault.into());
                }
                self.check_replies(self.root, &defences, plies)
            }
        }
    }

    fn check_step(&self, line: &str) -> Result<(), Fault> {
        let ProofStep { setup, m, plies } = parse_step(line).map_err(|fault| fault.to_string())?;
        let to_move = setup.side_to_move();
        if to_move != self.attacker {
            return Err(format!("{to_move:?} is to move, the attacker is {:?}", self.attacker));
        }
        let root = self.root.setup();
        let kings = Color::ALL.map(|color| setup.king(color).is_some());
        if setup.piece_box() != root.piece_box()
            || kings != Color::ALL.map(|color| root.king(color).is_some())
        {
            return Err("not the pieces of the position that the proof is about".into());
        }
        let mut position = Position::try_from(setup).map_err(|error| error.to_string())?;
        let left = plies.checked_sub(1).ok_or("a move to be made in 0 plies")?;
        if !plain::legal_moves(&position).contains(&m) {
            return Err(format!("{m} is no legal move in {position}"));
        }
        let undo = position.make(m);
        if !plain::in_check(&position) {
            position.unmake(m, undo);
            return Err(format!("{m} gives no check in {position}"));
        }
        self.check_replies(&position, &plain::legal_moves(&position), left)
    }

    /// Checks that every defence is answered by a step that leaves the mate within `plies`.
    fn check_replies(
        &self,
        position: &Position,
        defences: &[Move],
        plies: u16,
    ) -> Result<(), Fault> {
        let mut after = position.clone();
        for &m in defences {
            let undo = after.make(m);
            let left = plies.saturating_sub(1);
            if plies == 0 || !self.has_step(&after, left) {
                return Err(format!("the defence {m} has no reply: {}", no_step(left, &after)));
            }
            after.unmake(m, undo);
        }
        Ok(())
    }

    fn has_step(&self, position: &Position, most_plies: u16) -> bool {
        let text = position.to_string();
        let board = text.split(' ').next().unwrap_or_default();
        let hand = position.hand(self.attacker);
        self.by_board.get(board).is_some_and(|steps| {
            steps.iter().any(|&(least, plies)| plies <= most_plies && hand.dominates(least))
        })
    }
}

fn no_step(plies: u16, position: &Position) -> Fault {
    format!("no step of at most {} from {position}", quantity(plies, "ply"))
}
