//! The same question about many moves, within one budget of nodes.
//!
//! Each move is first asked about with a small share. What is left goes to those that are open then, in equal
//! shares that grow from round to round: an easy question does not wait behind a hard one.

use kyokumen_game::{Game, NodeKind};
use kyokumen_shogi::{Mate, Move, Position};

use super::avoiding::{AvoidedBoards, Avoiding};
use super::findings::MoveFinding;
use crate::dfpn::DfPn;
use crate::limits::Limits;
use crate::observer::SearchObserver;
use crate::solver::Proof;
use crate::verdict::{Stop, Verdict};

/// A search, the checking of its proof and the search for a shorter one take at most so many times the nodes that each
/// of them is allowed.
const SEARCHES_A_QUESTION: u64 = 3;

/// The first share of a move is so small a part of what would be its equal share.
const FIRST_SHARE: u64 = 8;

/// A move is asked about again with at least a half more.
const LEAST_GROWTH: u64 = 2;

/// What asks, and how far it may go.
pub(super) struct Asking<'a> {
    pub(super) search: &'a mut DfPn<Avoiding<Mate>>,
    pub(super) limits: Limits,
    pub(super) observer: &'a dyn SearchObserver<Move>,
    pub(super) keeps_proofs: bool,
}

/// Nodes that may still be spent.
pub(super) struct Budget(pub(super) u64);

impl Asking<'_> {
    /// Asks about each of the moves of a position whose mover is the attacker ([`NodeKind::Or`]) or the defender.
    pub(super) fn ask_all(
        &mut self,
        position: &Position,
        kind: NodeKind,
        moves: &[Move],
        budget: &mut Budget,
    ) -> Vec<MoveFinding> {
        let mut findings: Vec<MoveFinding> = moves.iter().map(|&m| MoveFinding::open(m)).collect();
        let mut open: Vec<usize> = (0..moves.len()).collect();
        let mut shares = vec![0; moves.len()];
        let mut part = FIRST_SHARE;
        let mut goes_on = true;
        while goes_on && !open.is_empty() {
            goes_on = false;
            for (asked, &index) in open.iter().enumerate() {
                let waiting = (open.len() - asked) as u64;
                let share = budget.0 / waiting / part;
                // Hardly more than before would find hardly more.
                if share <= shares[index] + shares[index] / LEAST_GROWTH {
                    continue;
                }
                shares[index] = share;
                let nodes_before = findings[index].nodes;
                let finding = self.ask(position, kind, moves[index], &[], share);
                budget.0 = budget.0.saturating_sub(finding.nodes);
                let nodes = finding.nodes.saturating_add(nodes_before);
                goes_on |= !finding.is_cancelled();
                findings[index] = MoveFinding { nodes, ..finding };
            }
            open.retain(|&index| findings[index].wants_nodes());
            part = 1;
        }
        findings
    }

    /// Asks about one move; the attacker may not come to the boards that are to be avoided.
    pub(super) fn ask(
        &mut self,
        position: &Position,
        kind: NodeKind,
        m: Move,
        avoided: &[u64],
        nodes: u64,
    ) -> MoveFinding {
        let mut after = position.clone();
        after.make(m);
        let mate = match kind {
            NodeKind::Or => Mate::of_side_to_move(after),
            NodeKind::And => Mate::by_side_to_move(after),
        };
        let limits = Limits {
            depth_plies: self.limits.depth_plies.saturating_sub(1),
            nodes: self.limits.nodes.min(nodes / SEARCHES_A_QUESTION),
            ..self.limits
        };
        let mut game =
            Avoiding { game: mate.clone(), restriction: AvoidedBoards(avoided.to_vec()) };
        let (solved, is_shortest) = self.search.solve_shortest(&mut game, limits, self.observer);
        let mut finding = MoveFinding {
            verdict: solved.verdict,
            is_shortest,
            nodes: solved.stats.nodes,
            proof_positions: solved.stats.proof_positions,
            ..MoveFinding::open(m)
        };
        if let Some(proof) = self.search.proof().filter(|_| finding.mates()) {
            finding.line = [vec![m], solved.line].concat();
            finding.measure(proof, mate);
            finding.proof = self.keeps_proofs.then(|| proof.clone());
        }
        finding
    }

    /// The proof that the side to move is mated, if it is found.
    pub(super) fn prove(&mut self, mate: &Mate, budget: &mut Budget) -> Option<Proof> {
        let nodes = self.limits.nodes.min(budget.0 / SEARCHES_A_QUESTION);
        let mut game = Avoiding { game: mate.clone(), restriction: AvoidedBoards(Vec::new()) };
        let limits = Limits { nodes, ..self.limits };
        let (solved, _) = self.search.solve_shortest(&mut game, limits, self.observer);
        budget.0 = budget.0.saturating_sub(solved.stats.nodes);
        self.search.proof().filter(|_| solved.verdict == Verdict::Proven).cloned()
    }
}

impl MoveFinding {
    /// A move that was not asked about.
    const fn open(m: Move) -> Self {
        Self {
            m,
            verdict: Verdict::Unknown(Stop::Nodes),
            line: Vec::new(),
            is_shortest: false,
            tsume_plies: None,
            leaves_pieces: false,
            nodes: 0,
            proof_positions: 0,
            proof: None,
        }
    }

    fn wants_nodes(&self) -> bool {
        match self.verdict {
            Verdict::Proven => !self.is_shortest,
            Verdict::Disproven => false,
            Verdict::Unknown(stop) => stop == Stop::Nodes,
        }
    }

    fn is_cancelled(&self) -> bool {
        self.verdict == Verdict::Unknown(Stop::Cancelled)
    }

    fn measure(&mut self, proof: &Proof, mut game: Mate) {
        let line = proof.line_without_futile(&mut game);
        self.tsume_plies = line.as_ref().and_then(|line| u16::try_from(line.len() + 1).ok());
        for &m in line.as_deref().unwrap_or(&self.line[1..]) {
            game.make(m);
        }
        self.leaves_pieces = !game.hand().is_empty();
    }
}
