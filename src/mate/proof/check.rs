//! The check of a proof that was read from a file: by the rule book, and by nothing that a solver says.
//!
//! Each step is checked for itself. That there is no end to them but mate follows from the plies, which
//! shrink from one step to the next; that a step serves larger hands, from the rules (`docs/formats/proof.md`).

use std::collections::HashMap;

use rayon::prelude::*;
use thiserror::Error;

use crate::format::proof_file::{
    ProofClaim, ProofLineError, ProofStep, ProofText, board_of_step, parse_step,
};
use crate::shogi::{Color, Hand, Move, Position, plain};
use crate::storage::quantity::quantity;

/// Why a proof proves nothing.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line}: {kind}")]
pub struct ProofCheckError {
    /// Line of the file, from 1.
    pub line: u64,
    /// What is wrong.
    pub kind: ProofCheckErrorKind,
}

/// What is wrong with a proof.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum ProofCheckErrorKind {
    #[error(transparent)]
    Line(#[from] ProofLineError),
    #[error("{0:?} is to move, the attacker is {1:?}")]
    SideToMove(Color, Color),
    #[error("not the pieces of the position that the proof is about")]
    Pieces,
    #[error("{m} is no legal move in {position}")]
    IllegalMove { m: Move, position: Box<Position> },
    #[error("{m} gives no check in {position}")]
    NoCheck { m: Move, position: Box<Position> },
    #[error("a move to be made in 0 plies")]
    NoPlies,
    #[error("the side to move is said to be mated, is not in check and has a legal move")]
    NotInCheck,
    #[error("no step of at most {} from {position}", quantity(*plies, "ply"))]
    NoStep { plies: u16, position: Box<Position> },
    #[error(
        "the defence {m} has no reply: no step of at most {} from {position}",
        quantity(*plies, "ply")
    )]
    NoReply { m: Move, plies: u16, position: Box<Position> },
}

/// Checks that a proof proves what it says: each step is a legal check after which every defence is met
/// by another step with fewer plies, and the first steps meet the position that the proof is about.
///
/// Works on the threads of the current rayon pool.
///
/// # Errors
/// [`ProofCheckError`], the first one in the order of the lines.
pub fn check(proof: &ProofText) -> Result<(), ProofCheckError> {
    let lines: Vec<&str> = proof.lines().collect();
    let steps = Steps::read(proof, &lines)?;
    steps.check_root(proof).map_err(|kind| ProofCheckError { line: proof.first_line(), kind })?;
    let refuted = |(index, line): (usize, &&str)| {
        let kind = steps.check_step(line).err()?;
        Some(ProofCheckError { line: line_number(proof, index), kind })
    };
    lines.par_iter().enumerate().find_map_first(refuted).map_or(Ok(()), Err)
}

fn line_number(proof: &ProofText, step: usize) -> u64 {
    proof.first_line() + 1 + step as u64
}

/// The steps of a proof, not yet checked.
struct Steps<'a> {
    attacker: Color,
    root: &'a Position,
    /// The attacker's hand and the plies of each step, by board.
    by_board: HashMap<&'a str, Vec<(Hand, u16)>>,
}

impl<'a> Steps<'a> {
    fn read(proof: &'a ProofText, lines: &[&'a str]) -> Result<Self, ProofCheckError> {
        let attacker = proof.head().attacker();
        let mut by_board: HashMap<&str, Vec<(Hand, u16)>> = HashMap::new();
        for (index, line) in lines.iter().enumerate() {
            let step = parse_step(line).map_err(|error| ProofCheckError {
                line: line_number(proof, index),
                kind: error.into(),
            })?;
            let hand = step.setup.hands()[attacker.index()];
            by_board.entry(board_of_step(line)).or_default().push((hand, step.plies));
        }
        Ok(Self { attacker, root: &proof.head().root, by_board })
    }

    fn check_root(&self, proof: &ProofText) -> Result<(), ProofCheckErrorKind> {
        let plies = proof.head().plies;
        match proof.head().claim {
            ProofClaim::Win if self.has_step(self.root, plies) => Ok(()),
            ProofClaim::Win => {
                Err(ProofCheckErrorKind::NoStep { plies, position: Box::new(self.root.clone()) })
            }
            ProofClaim::Loss => {
                let defences = plain::legal_moves(self.root);
                if !defences.is_empty() && !plain::in_check(self.root) {
                    return Err(ProofCheckErrorKind::NotInCheck);
                }
                self.check_replies(self.root, &defences, plies)
            }
        }
    }

    fn check_step(&self, line: &str) -> Result<(), ProofCheckErrorKind> {
        let ProofStep { setup, m, plies } = parse_step(line)?;
        let to_move = setup.side_to_move();
        if to_move != self.attacker {
            return Err(ProofCheckErrorKind::SideToMove(to_move, self.attacker));
        }
        let root = self.root.setup();
        let kings = Color::ALL.map(|color| setup.king(color).is_some());
        if setup.piece_box() != root.piece_box()
            || kings != Color::ALL.map(|color| root.king(color).is_some())
        {
            return Err(ProofCheckErrorKind::Pieces);
        }
        let mut position = Position::try_from(setup).map_err(ProofLineError::from)?;
        let left = plies.checked_sub(1).ok_or(ProofCheckErrorKind::NoPlies)?;
        if !plain::legal_moves(&position).contains(&m) {
            return Err(ProofCheckErrorKind::IllegalMove { m, position: Box::new(position) });
        }
        let undo = position.make(m);
        if !plain::in_check(&position) {
            position.unmake(m, undo);
            return Err(ProofCheckErrorKind::NoCheck { m, position: Box::new(position) });
        }
        self.check_replies(&position, &plain::legal_moves(&position), left)
    }

    /// Checks that every defence is answered by a step that leaves the mate within `plies`.
    fn check_replies(
        &self,
        position: &Position,
        defences: &[Move],
        plies: u16,
    ) -> Result<(), ProofCheckErrorKind> {
        let mut after = position.clone();
        for &m in defences {
            let undo = after.make(m);
            let left = plies.saturating_sub(1);
            if plies == 0 || !self.has_step(&after, left) {
                return Err(ProofCheckErrorKind::NoReply {
                    m,
                    plies: left,
                    position: Box::new(after),
                });
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
