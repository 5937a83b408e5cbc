//! Searches all moves of a position: which moves mate, and which defences last longest. Composers of tsume problems use
//! this to check that a solution is unique.
//!
//! The searches are in [`search::alternatives`](crate::search::alternatives). This module applies them to solved
//! positions, with a node limit that depends on the nodes of the solution.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::judge::{InCheck, MateResult, MateSettings};
use super::proof::proof_text;
use crate::format::proof_file::{ProofClaim, ProofHead, ProofText, TooManySteps};
use crate::records::position_verdict::PositionVerdict;
use crate::search::alternatives::{
    AlternativesSearch, LineNode, MainLine, MoveFinding, Question, Uniqueness,
    default_nodes_a_position,
};
use crate::search::{SearchObserver, TableError};
use crate::shogi::{Move, Position};
use crate::solver::{Attacker, Limits, TableSize};

/// The positions whose moves are searched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// Only the position itself.
    Moves,
    /// Each position of the main line.
    Line,
}

/// The settings of a search of all moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllMoves {
    /// The positions whose moves are searched.
    pub extent: Extent,
    /// Maximum number of nodes for all moves of one position together. `None` selects the default of
    /// [`Self::nodes_a_position`].
    pub nodes: Option<u64>,
    /// Maximum depth of the search of a move, in plies from the position where it is played. If this limit is reached,
    /// the uniqueness can remain undecided.
    pub depth_plies: u16,
    /// The intended solution. It may end before the mate; the search then finds the remaining moves.
    pub intended: Vec<Move>,
}

impl AllMoves {
    /// Maximum number of nodes for all moves together of a position whose solution took `solution_nodes` nodes.
    pub fn nodes_a_position(&self, solution_nodes: u64) -> u64 {
        self.nodes.unwrap_or_else(|| default_nodes_a_position(solution_nodes))
    }
}

/// The results of a search of all moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MovesReport {
    /// The position. With [`Extent::Line`], also the positions after each move of the main line.
    pub line: MainLine,
    /// The positions whose moves were searched.
    pub extent: Extent,
    /// The intended solution.
    pub intended: Vec<Move>,
    /// Maximum number of nodes for each position.
    pub nodes_a_position: u64,
    /// Duration of the searches.
    pub elapsed: Duration,
}

impl MovesReport {
    /// Whether the solution is unique, in the position or on the whole line. `None` if only one position was searched
    /// and the defender is to move there.
    pub fn uniqueness(&self) -> Option<Uniqueness> {
        match (self.extent, self.line.nodes.first()?) {
            (Extent::Line, _) => Some(self.line.uniqueness()),
            (Extent::Moves, LineNode::Attack(node)) => Some(node.uniqueness()),
            (Extent::Moves, LineNode::Defence(_)) => None,
        }
    }

    /// The intended move that is not proven to lead to mate. The line ends before it.
    pub fn unproven_move(&self) -> Option<UnprovenMove<'_>> {
        let node = self.line.nodes.last().filter(|node| node.solution().is_none())?;
        let ply = self.line.nodes.len();
        let m = *self.intended.get(ply - 1)?;
        let finding = node.findings().into_iter().find(|finding| finding.m == m);
        Some(UnprovenMove { ply, m, finding })
    }

    /// Number of nodes searched.
    pub fn nodes(&self) -> u64 {
        self.line.nodes.iter().flat_map(LineNode::findings).map(|finding| finding.nodes).sum()
    }

    fn first_findings(&self) -> impl Iterator<Item = &MoveFinding> {
        self.line.nodes.first().into_iter().flat_map(LineNode::findings)
    }

    /// The proofs of the moves of `position` that lead to a mate. Each proof is about the position after the move.
    /// `index` is the record number of `position`.
    pub fn proofs(&self, position: &Position, index: u64) -> Vec<Result<ProofText, TooManySteps>> {
        let claim = match self.line.nodes.first() {
            Some(LineNode::Attack(_)) => ProofClaim::Loss,
            _ => ProofClaim::Win,
        };
        let proofs = self.first_findings().filter_map(|finding| {
            let proof = finding.proof.as_ref()?;
            let mut root = position.clone();
            root.make(finding.m);
            Some(proof_text(ProofHead { index, claim, plies: 0, root }, Some(proof)))
        });
        proofs.collect()
    }
}

/// An intended move that is not proven to lead to mate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnprovenMove<'a> {
    /// Number of the move in the intended solution, from 1.
    pub ply: usize,
    /// The move.
    pub m: Move,
    /// The finding about the move; `None` for a move of the attacker that does not give check.
    pub finding: Option<&'a MoveFinding>,
}

/// Searches all moves of solved positions, with a separate hash table.
pub struct MovesJudge {
    search: AlternativesSearch,
    settings: MateSettings,
    all: AllMoves,
    keeps_proofs: bool,
}

impl MovesJudge {
    /// Creates the judge with its table.
    ///
    /// # Errors
    /// [`TableError`] if the table cannot be allocated.
    pub fn try_new(
        settings: &MateSettings,
        all: &AllMoves,
        keeps_proofs: bool,
    ) -> Result<Self, TableError> {
        Ok(Self {
            search: AlternativesSearch::try_new(TableSize::from_mib(settings.hash_mb))?,
            settings: settings.clone(),
            all: all.clone(),
            keeps_proofs,
        })
    }

    /// Searches the moves of a position with this result. These are the checks of the attacker, or the replies of the
    /// defender if the side to move is being mated.
    pub fn judge(
        &mut self,
        position: &Position,
        mate_result: &MateResult,
        observer: &dyn SearchObserver<Move>,
    ) -> MovesReport {
        let started = Instant::now();
        let nodes_a_position = self.all.nodes_a_position(mate_result.nodes);
        let limits = Limits { depth_plies: self.all.depth_plies, ..self.settings.limits() };
        let question = Question {
            intended: self.all.intended.clone(),
            known: mate_result.line.clone(),
            keeps_proofs: self.keeps_proofs,
            ..Question::new(limits, nodes_a_position)
        };
        let attacker = self.attacker(position, mate_result.verdict);
        let (extent, intended) = (self.all.extent, question.intended.clone());
        let line = match extent {
            Extent::Line => self.search.line(position, attacker, &question, observer),
            Extent::Moves => {
                let search = &mut self.search;
                let node = match attacker {
                    Attacker::SideToMove => {
                        LineNode::Attack(search.first_moves(position, &question, observer))
                    }
                    Attacker::Opponent => {
                        LineNode::Defence(search.replies(position, &question, observer))
                    }
                };
                MainLine { nodes: vec![node], is_complete: false }
            }
        };
        MovesReport { line, extent, intended, nodes_a_position, elapsed: started.elapsed() }
    }

    fn attacker(&self, position: &Position, verdict: PositionVerdict) -> Attacker {
        let is_defender = position.in_check() && self.settings.in_check == InCheck::And;
        match verdict {
            PositionVerdict::Loss => Attacker::Opponent,
            PositionVerdict::NoMate | PositionVerdict::Unknown(_) if is_defender => {
                Attacker::Opponent
            }
            PositionVerdict::Win | PositionVerdict::NoMate | PositionVerdict::Unknown(_) => {
                Attacker::SideToMove
            }
        }
    }
}
