//! The same question about many moves, within one budget of nodes.
//!
//! Each move is first asked about with a small share: an easy question does not wait behind a hard one. Of the checks
//! that are open then all together are asked whether one mates. What is left goes to the open moves in equal shares,
//! which grow from round to round.

use std::mem;

use kyokumen_game::{Game, NodeKind};
use kyokumen_shogi::{Mate, Move, Position};

use super::findings::MoveFinding;
use crate::dfpn::DfPn;
use crate::limits::Limits;
use crate::observer::SearchObserver;
use crate::restricted::{Restricted, Restrictions};
use crate::search_result::SearchResult;
use crate::solver::Proof;
use crate::verdict::{Stop, Verdict};

/// Of the nodes of a question one part in so many is kept for checking the proof, which rarely searches anything again.
const KEPT_FOR_CHECK: u64 = 8;

/// Of the nodes that are left one part in so many is kept for asking about each move, when all open ones are asked
/// about together.
const KEPT_FOR_EACH: u64 = 4;

/// The first share of a move is so small a part of what would be its equal share.
const FIRST_SHARE: u64 = 8;

/// With so many mates it is known that there is more than one solution.
const MATES_OF_SEVERAL_SOLUTIONS: usize = 2;

/// A move is asked about again with at least a half more.
const LEAST_GROWTH: u64 = 2;

/// What asks, and how far it may go.
pub(super) struct Asking<'a> {
    pub(super) search: &'a mut DfPn<Restricted<Mate>>,
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
        let mut shares = vec![0; moves.len()];
        let mut goes_on =
            self.ask_each(position, kind, FIRST_SHARE, &mut findings, &mut shares, budget);
        if kind == NodeKind::Or {
            self.ask_together(position, &mut findings, budget);
        }
        while goes_on {
            goes_on = self.ask_each(position, kind, 1, &mut findings, &mut shares, budget);
        }
        findings
    }

    /// Asks about each of the open moves, with one part in so many of its equal share. Whether any was asked about.
    fn ask_each(
        &mut self,
        position: &Position,
        kind: NodeKind,
        part: u64,
        findings: &mut [MoveFinding],
        shares: &mut [u64],
        budget: &mut Budget,
    ) -> bool {
        let open: Vec<usize> = (0..findings.len()).filter(|&i| findings[i].wants_nodes()).collect();
        let mut was_asked = false;
        for (asked, &index) in open.iter().enumerate() {
            let waiting = (open.len() - asked) as u64;
            let share = budget.0 / waiting / part;
            // Hardly more than before would find hardly more.
            if share <= shares[index] + shares[index] / LEAST_GROWTH {
                continue;
            }
            shares[index] = share;
            let finding = self.ask(position, kind, findings[index].m, &[], share);
            budget.0 = budget.0.saturating_sub(finding.nodes);
            was_asked |= !finding.is_cancelled();
            findings[index].update(finding);
        }
        was_asked
    }

    /// Asks whether any of the attacker's moves mates that are still unknown, until it is known whether one solution is
    /// all there is. One search of all of them finds a mate sooner than one of each, and what it learns of one move is
    /// known to it of the next.
    fn ask_together(
        &mut self,
        position: &Position,
        findings: &mut [MoveFinding],
        budget: &mut Budget,
    ) {
        loop {
            let mates = findings.iter().filter(|finding| finding.mates()).count();
            let open: Vec<usize> =
                (0..findings.len()).filter(|&i| findings[i].is_unknown()).collect();
            if mates >= MATES_OF_SEVERAL_SOLUTIONS || open.is_empty() {
                return;
            }
            let moves = open.iter().map(|&index| findings[index].m).collect();
            let mut solved = self.search_together(position, moves, budget);
            // What was spent on all is spent on each in equal parts.
            let nodes = mem::take(&mut solved.stats.nodes);
            let count = open.len() as u64;
            for &index in &open {
                findings[index].nodes += nodes / count;
            }
            findings[open[0]].nodes += nodes % count;
            match solved.verdict {
                Verdict::Unknown(_) => return,
                Verdict::Disproven => {
                    for &index in &open {
                        findings[index].verdict = Verdict::Disproven;
                    }
                }
                Verdict::Proven => {
                    let m = solved.line.remove(0);
                    let finding = self.finding(position, NodeKind::Or, m, solved, false);
                    let index = open.into_iter().find(|&index| findings[index].m == m);
                    findings[index.expect("one of the first moves")].update(finding);
                }
            }
        }
    }

    /// Whether one of some moves of the attacker mates.
    fn search_together(
        &mut self,
        position: &Position,
        moves: Vec<Move>,
        budget: &mut Budget,
    ) -> SearchResult<Move> {
        let restrictions = Restrictions::beginning_with(moves);
        let mate = Mate::by_side_to_move(position.clone());
        let mut game = Restricted::new(mate, restrictions);
        let nodes = budget.0 - budget.0 / KEPT_FOR_EACH;
        let solved = self.search(&mut game, self.limits.depth_plies, nodes);
        budget.0 = budget.0.saturating_sub(solved.stats.nodes);
        solved
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
        let restrictions = Restrictions::avoiding(avoided.to_vec());
        let mut game = Restricted::new(mate_after(position, kind, m), restrictions);
        let depth_plies = self.limits.depth_plies.saturating_sub(1);
        let (solved, is_shortest) = self.search_shortest(&mut game, depth_plies, nodes);
        self.finding(position, kind, m, solved, is_shortest)
    }

    /// What the last search says about a move, after which its line and its proof go on.
    fn finding(
        &self,
        position: &Position,
        kind: NodeKind,
        m: Move,
        solved: SearchResult<Move>,
        is_shortest: bool,
    ) -> MoveFinding {
        let mut finding = MoveFinding {
            verdict: solved.verdict,
            is_shortest,
            nodes: solved.stats.nodes,
            proof_positions: solved.stats.proof_positions,
            ..MoveFinding::open(m)
        };
        if let Some(proof) = self.search.proof().filter(|_| finding.mates()) {
            finding.line = [vec![m], solved.line].concat();
            finding.measure(proof, mate_after(position, kind, m));
            finding.proof = self.keeps_proofs.then(|| proof.clone());
        }
        finding
    }

    /// The proof that the side to move is mated, if it is found.
    pub(super) fn prove(&mut self, mate: &Mate, budget: &mut Budget) -> Option<Proof> {
        let mut game = Restricted::new(mate.clone(), Restrictions::NONE);
        let (solved, _) = self.search_shortest(&mut game, self.limits.depth_plies, budget.0);
        budget.0 = budget.0.saturating_sub(solved.stats.nodes);
        self.search.proof().filter(|_| solved.verdict == Verdict::Proven).cloned()
    }

    /// Searches, and looks for shorter mates with what is left of the nodes.
    fn search_shortest(
        &mut self,
        game: &mut Restricted<Mate>,
        depth_plies: u16,
        nodes: u64,
    ) -> (SearchResult<Move>, bool) {
        let solved = self.search(game, depth_plies, nodes);
        let left = nodes.saturating_sub(solved.stats.nodes).min(self.limits.nodes);
        let limits = Limits { depth_plies, nodes: left, ..self.limits };
        self.search.shorten(game, limits, solved, self.observer)
    }

    /// Searches with at most so many nodes, the check of the proof included.
    fn search(
        &mut self,
        game: &mut Restricted<Mate>,
        depth_plies: u16,
        nodes: u64,
    ) -> SearchResult<Move> {
        let searched = self.limits.nodes.min(nodes - nodes / KEPT_FOR_CHECK);
        let limits = Limits { depth_plies, nodes: searched, ..self.limits };
        let most_nodes = nodes.min(limits.nodes_with_check());
        self.search.solve_within(game, limits, most_nodes, self.observer)
    }
}

/// The question after a move of the attacker ([`NodeKind::Or`]) or of the defender.
fn mate_after(position: &Position, kind: NodeKind, m: Move) -> Mate {
    let mut after = position.clone();
    after.make(m);
    match kind {
        NodeKind::Or => Mate::of_side_to_move(after),
        NodeKind::And => Mate::by_side_to_move(after),
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

    /// Takes what was found by asking again, unless that is less.
    fn update(&mut self, finding: Self) {
        let nodes = self.nodes.saturating_add(finding.nodes);
        let is_longer = finding.line.len() > self.line.len();
        if !self.mates() || (finding.mates() && !is_longer) {
            *self = finding;
        }
        self.nodes = nodes;
    }

    fn is_unknown(&self) -> bool {
        self.verdict == Verdict::Unknown(Stop::Nodes)
    }

    fn wants_nodes(&self) -> bool {
        self.is_unknown() || (self.mates() && !self.is_shortest)
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use kyokumen_testing::positions::{random_play, strewn};

    use super::*;
    use crate::limits::{TableSize, WhenHopeless};

    const NODES: u64 = 100_000;
    const DEPTH_PLIES: u16 = 7;

    /// One search of all checks finds the same mates as one of each.
    #[test]
    fn moves_asked_about_together_have_the_verdicts_of_each() {
        let mut search = DfPn::new(TableSize::from_mib(4));
        let observer = AtomicBool::new(false);
        let when_hopeless = WhenHopeless::GoOn;
        let limits = Limits { depth_plies: DEPTH_PLIES, nodes: NODES, when_hopeless };
        let mut asking =
            Asking { search: &mut search, limits, observer: &observer, keeps_proofs: false };
        let [mut mates, mut others] = [0; 2];
        for position in random_play(311, 1_500).into_iter().chain(strewn(312, 600)) {
            let checks = position.checks();
            let mut together: Vec<_> = checks.iter().map(|&m| MoveFinding::open(m)).collect();
            let mut budget = Budget(NODES);
            asking.limits.depth_plies = DEPTH_PLIES;
            asking.ask_together(&position, &mut together, &mut budget);
            let nodes: u64 = together.iter().map(|finding| finding.nodes).sum();
            assert_eq!(nodes, NODES - budget.0, "{position}");
            // Else no open one mates within the depth.
            let ended_early = nodes > NODES / 2
                || together.iter().filter(|f| f.mates()).count() >= MATES_OF_SEVERAL_SOLUTIONS;
            for finding in together.into_iter().filter(|f| !(ended_early && f.is_unknown())) {
                // What is learnt of one move may decide another beyond the depth.
                let depth_plies = if finding.is_unknown() { DEPTH_PLIES } else { 2 * DEPTH_PLIES };
                asking.limits.depth_plies = depth_plies;
                let alone = asking.ask(&position, NodeKind::Or, finding.m, &[], NODES);
                assert_eq!(finding.mates(), alone.mates(), "{} in {position}", finding.m);
                mates += u32::from(finding.mates());
                others += u32::from(finding.verdict == Verdict::Disproven);
            }
        }
        assert!(mates > 100 && others > 500, "{mates} mates, {others} others");
    }
}
