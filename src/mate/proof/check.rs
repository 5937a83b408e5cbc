//! Checks proofs that were read from a file. Uses the rule-book move generator [`plain`], an independent, deliberately
//! simple move generator, and nothing from the solver.
//!
//! Each step is checked separately. The plies decrease from step to step, so every line ends in mate. By the rules, a
//! step also holds if the attacker has a larger hand (`docs/formats/proof.md`).

use std::collections::HashMap;

use rayon::prelude::*;

use crate::error::Error;
use crate::format::proof_file::{ProofClaim, ProofStep, ProofText, board_of_step, parse_step};
use crate::shogi::{Color, Hand, Move, Position, plain};
use crate::storage::quantity::quantity;

/// Checks that a proof proves its claim. Each step must be a legal check, and every defence against it must lead to
/// another step with fewer plies. The root must have such a step. If its side to move is being mated, every move there
/// must lead to one.
///
/// Uses the threads of the current rayon pool.
///
/// # Errors
/// [`Error`] with the first faulty line of the file and the fault.
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

/// The description of a fault in a step or a proof.
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
            ProofClaim::Win => {
                let plies = quantity(plies, "ply");
                Err(format!("no step with at most {plies} from {}", self.root))
            }
            ProofClaim::Loss => {
                let defences = plain::legal_moves(self.root);
                if !defences.is_empty() && !plain::in_check(self.root) {
                    let fault = "the claim is that the side to move is being mated, but it has a legal move and is not in check";
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
            return Err(format!("{to_move:?} is to move, but the attacker is {:?}", self.attacker));
        }
        let root = self.root.setup();
        let kings = Color::ALL.map(|color| setup.king(color).is_some());
        if setup.piece_box() != root.piece_box()
            || kings != Color::ALL.map(|color| root.king(color).is_some())
        {
            return Err("the pieces differ from the pieces of the root position".into());
        }
        let mut position = Position::try_from(setup).map_err(|error| error.to_string())?;
        let left = plies.checked_sub(1).ok_or("a step must have at least 1 ply")?;
        if !plain::legal_moves(&position).contains(&m) {
            return Err(format!("{m} is not a legal move in {position}"));
        }
        let undo = position.make(m);
        if !plain::in_check(&position) {
            position.unmake(m, undo);
            return Err(format!("{m} does not give check in {position}"));
        }
        self.check_replies(&position, &plain::legal_moves(&position), left)
    }

    /// Checks that every defence leads to a step with fewer plies than `plies`.
    fn check_replies(
        &self,
        position: &Position,
        defences: &[Move],
        plies: u16,
    ) -> Result<(), Fault> {
        let mut after = position.clone();
        for &m in defences {
            let Some(left) = plies.checked_sub(1) else {
                return Err(format!(
                    "the proof claims mate in {position}, but {m} is a legal move"
                ));
            };
            let undo = after.make(m);
            if !self.has_step(&after, left) {
                let plies = quantity(left, "ply");
                return Err(format!(
                    "no step answers the defence {m}: expected a step of at most {plies} for the position {after}"
                ));
            }
            after.unmake(m, undo);
        }
        Ok(())
    }

    fn has_step(&self, position: &Position, max_plies: u16) -> bool {
        let text = position.to_string();
        let board = text.split(' ').next().unwrap_or_default();
        let hand = position.hand(self.attacker);
        self.by_board.get(board).is_some_and(|steps| {
            steps.iter().any(|&(least, plies)| plies <= max_plies && hand.dominates(least))
        })
    }
}
