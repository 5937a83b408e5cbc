//! All moves of a position: which mate, and which hold out longest, as composers of problems ask.
//!
//! The searches are those of [`search::alternatives`](crate::search::alternatives); here a position that was solved
//! is asked about, with a budget that depends on what solving it took.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::judge::{InCheck, MateResult, MateSettings};
use super::proof::proof_text;
use crate::format::proof_file::{ProofClaim, ProofHead, ProofText, TooManySteps};
use crate::records::position_verdict::PositionVerdict;
use crate::search::alternatives::{
    AlternativesSearch, LineNode, MainLine, MoveFinding, Question, Uniqueness,
};
use crate::search::{SearchObserver, TableError};
use crate::shogi::{Move, Position};
use crate::solver::{Attacker, Limits, TableSize};

/// By default the searches about one position may take so many times the nodes that its solution took.
pub const NODES_PER_SOLUTION_NODE: u64 = 32;

/// Fewer nodes are never the limit by default.
pub const LEAST_NODES_A_POSITION: u64 = 100_000;

/// About which positions all moves are asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// Only the position itself.
    Moves,
    /// Each position of the main line.
    Line,
}

/// What is wanted to be known about all moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllMoves {
    /// About which positions.
    pub extent: Extent,
    /// Nodes that the searches about each of them may take together; [`Self::nodes_a_position`] has the default.
    pub nodes: Option<u64>,
    /// How deep the search of a move goes, in plies from the position whose move it is. Where that is in the way
    /// nothing is known about uniqueness.
    pub depth_plies: u16,
    /// The solution as it is intended; what it does not say is found.
    pub intended: Vec<Move>,
}

impl AllMoves {
    /// Nodes that the searches about one position may take together, where solving it took `solution_nodes`.
    pub fn nodes_a_position(&self, solution_nodes: u64) -> u64 {
        let default = solution_nodes.saturating_mul(NODES_PER_SOLUTION_NODE);
        self.nodes.unwrap_or(default.max(LEAST_NODES_A_POSITION))
    }
}

/// What was found about all moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MovesReport {
    /// The position, and with [`Extent::Line`] those after each move of the main line.
    pub line: MainLine,
    /// About which positions was asked.
    pub extent: Extent,
    /// Nodes that were allowed for each position.
    pub nodes_a_position: u64,
    /// How long the searches took.
    pub elapsed: Duration,
}

impl MovesReport {
    /// Whether there is one solution: in the position, or on the whole line. `None` if that was not the question, the
    /// defender being to move.
    pub fn uniqueness(&self) -> Option<Uniqueness> {
        match (self.extent, self.line.nodes.first()?) {
            (Extent::Line, _) => Some(self.line.uniqueness()),
            (Extent::Moves, LineNode::Attack(node)) => Some(node.uniqueness()),
            (Extent::Moves, LineNode::Defence(_)) => None,
        }
    }

    /// Nodes that were searched.
    pub fn nodes(&self) -> u64 {
        self.line.nodes.iter().flat_map(findings).map(|finding| finding.nodes).sum()
    }

    fn first_findings(&self) -> impl Iterator<Item = &MoveFinding> {
        self.line.nodes.first().into_iter().flat_map(findings)
    }

    /// The proofs of the moves of the position that mate or lose, each about the position after the move, as number
    /// `index` of their input.
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

/// What is known of the moves of a node.
pub fn findings(node: &LineNode) -> Vec<&MoveFinding> {
    match node {
        LineNode::Attack(node) => node.checks.iter().map(|check| &check.finding).collect(),
        LineNode::Defence(node) => node.replies.iter().map(|reply| &reply.finding).collect(),
    }
}

/// Asks about all moves of positions that were solved, with a table of its own.
pub struct MovesJudge {
    search: AlternativesSearch,
    settings: MateSettings,
    all: AllMoves,
    keeps_proofs: bool,
}

impl MovesJudge {
    /// Allocates the table.
    ///
    /// # Errors
    /// [`TableError`] if there is no memory for it.
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

    /// Asks about the moves of a position that got this mate_result: about those of the attacker, or about the replies of
    /// a side that is being mated.
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
        let extent = self.all.extent;
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
        MovesReport { line, extent, nodes_a_position, elapsed: started.elapsed() }
    }

    fn attacker(&self, position: &Position, verdict: PositionVerdict) -> Attacker {
        let is_asked_as_mated = position.in_check() && self.settings.in_check == InCheck::And;
        match verdict {
            PositionVerdict::Loss => Attacker::Opponent,
            PositionVerdict::NoMate | PositionVerdict::Unknown(_) if is_asked_as_mated => {
                Attacker::Opponent
            }
            PositionVerdict::Win | PositionVerdict::NoMate | PositionVerdict::Unknown(_) => {
                Attacker::SideToMove
            }
        }
    }
}
