//! Searches of many moves of a position within one budget of nodes.
//!
//! Each move first gets a small share, so that an easy move does not wait for a hard one. Then all open checks are
//! searched together, to find whether any of them mates. The open moves get the rest in equal shares, which grow from
//! round to round.

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

/// The nodes of a search divided by this number are reserved for the check of its proof, which rarely needs to search.
const CHECK_DIVISOR: u64 = 8;

/// When all open checks are searched together, the remaining nodes divided by this number are reserved for separate
/// searches.
const SEPARATE_DIVISOR: u64 = 4;

/// The first share of a move is an equal share divided by this number.
const FIRST_SHARE_DIVISOR: u64 = 8;

/// Number of mates from which the solution is known not to be unique.
const MATES_OF_SEVERAL_SOLUTIONS: usize = 2;

/// A move is searched again only if its share has grown by more than the last share divided by this number.
const GROWTH_DIVISOR: u64 = 2;

/// A search of single moves, with its limits.
pub(super) struct MoveSearch<'a> {
    pub(super) df_pn: &'a mut DfPn<Restricted<Mate>>,
    pub(super) limits: Limits,
    pub(super) observer: &'a dyn SearchObserver<Move>,
    pub(super) keeps_proofs: bool,
}

/// Nodes that may still be spent.
pub(super) struct Budget(pub(super) u64);

impl MoveSearch<'_> {
    /// Searches these moves of a position with the attacker to move ([`NodeKind::Or`]) or the defender.
    pub(super) fn search_all(
        &mut self,
        position: &Position,
        kind: NodeKind,
        moves: &[Move],
        budget: &mut Budget,
    ) -> Vec<MoveFinding> {
        let mut findings: Vec<MoveFinding> = moves.iter().map(|&m| MoveFinding::open(m)).collect();
        let mut shares = vec![0; moves.len()];
        let mut has_searched = self.search_each(
            position,
            kind,
            FIRST_SHARE_DIVISOR,
            &mut findings,
            &mut shares,
            budget,
        );
        if kind == NodeKind::Or {
            self.search_together(position, &mut findings, budget);
        }
        while has_searched {
            has_searched = self.search_each(position, kind, 1, &mut findings, &mut shares, budget);
        }
        findings
    }

    /// Searches each open move with an equal share of the budget, divided by `divisor`. `shares` has the last share of
    /// each move. Returns whether any move was searched.
    fn search_each(
        &mut self,
        position: &Position,
        kind: NodeKind,
        divisor: u64,
        findings: &mut [MoveFinding],
        shares: &mut [u64],
        budget: &mut Budget,
    ) -> bool {
        let open: Vec<usize> = (0..findings.len()).filter(|&i| findings[i].wants_nodes()).collect();
        let mut has_searched = false;
        for (done, &index) in open.iter().enumerate() {
            let waiting = (open.len() - done) as u64;
            let share = budget.0 / waiting / divisor;
            // A slightly larger share would hardly find more.
            if share <= shares[index] + shares[index] / GROWTH_DIVISOR {
                continue;
            }
            shares[index] = share;
            let finding = self.search_move(position, kind, findings[index].m, &[], share);
            budget.0 = budget.0.saturating_sub(finding.nodes);
            has_searched |= !finding.is_cancelled();
            findings[index].update(finding);
        }
        has_searched
    }

    /// Searches all checks with an unknown verdict together, until two mates are known or no check is open. One search
    /// of all checks finds a mate sooner than separate searches, and the entries for one move help with the next.
    fn search_together(
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
            let mut solved = self.search_any_of(position, moves, budget);
            // The nodes of the joint search are divided equally among its moves.
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

    /// Searches whether any of these moves of the attacker mates.
    fn search_any_of(
        &mut self,
        position: &Position,
        moves: Vec<Move>,
        budget: &mut Budget,
    ) -> SearchResult<Move> {
        let restrictions = Restrictions::beginning_with(moves);
        let mate = Mate::by_side_to_move(position.clone());
        let mut game = Restricted::new(mate, restrictions);
        let nodes = budget.0 - budget.0 / SEPARATE_DIVISOR;
        let solved = self.solve(&mut game, self.limits.depth_plies, nodes);
        budget.0 = budget.0.saturating_sub(solved.stats.nodes);
        solved
    }

    /// Searches one move. The attacker fails on the `avoided` boards.
    pub(super) fn search_move(
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
        let (solved, is_shortest) = self.solve_shortest(&mut game, depth_plies, nodes);
        self.finding(position, kind, m, solved, is_shortest)
    }

    /// The finding of a move, from the result of the last search. Its line and proof begin after the move.
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
        if let Some(proof) = self.df_pn.proof().filter(|_| finding.mates()) {
            finding.line = [vec![m], solved.line].concat();
            finding.measure(proof, mate_after(position, kind, m));
            finding.proof = self.keeps_proofs.then(|| proof.clone());
        }
        finding
    }

    /// Searches for a proof that the side to move is mated.
    pub(super) fn prove(&mut self, mate: &Mate, budget: &mut Budget) -> Option<Proof> {
        let mut game = Restricted::new(mate.clone(), Restrictions::NONE);
        let (solved, _) = self.solve_shortest(&mut game, self.limits.depth_plies, budget.0);
        budget.0 = budget.0.saturating_sub(solved.stats.nodes);
        self.df_pn.proof().filter(|_| solved.verdict == Verdict::Proven).cloned()
    }

    /// Searches, then searches for shorter mates with the remaining nodes. The second value is whether the mate is
    /// proven to be the shortest.
    fn solve_shortest(
        &mut self,
        game: &mut Restricted<Mate>,
        depth_plies: u16,
        nodes: u64,
    ) -> (SearchResult<Move>, bool) {
        let solved = self.solve(game, depth_plies, nodes);
        let left = nodes.saturating_sub(solved.stats.nodes).min(self.limits.nodes);
        let limits = Limits { depth_plies, nodes: left, ..self.limits };
        self.df_pn.shorten(game, limits, solved, self.observer)
    }

    /// Searches with at most `nodes`, including the check of the proof.
    fn solve(
        &mut self,
        game: &mut Restricted<Mate>,
        depth_plies: u16,
        nodes: u64,
    ) -> SearchResult<Move> {
        let search_nodes = self.limits.nodes.min(nodes - nodes / CHECK_DIVISOR);
        let limits = Limits { depth_plies, nodes: search_nodes, ..self.limits };
        let max_nodes = nodes.min(limits.nodes_with_check());
        self.df_pn.solve_within(game, limits, max_nodes, self.observer)
    }
}

/// The game after a move of the attacker ([`NodeKind::Or`]) or of the defender.
fn mate_after(position: &Position, kind: NodeKind, m: Move) -> Mate {
    let mut after = position.clone();
    after.make(m);
    match kind {
        NodeKind::Or => Mate::against_side_to_move(after),
        NodeKind::And => Mate::by_side_to_move(after),
    }
}

impl MoveFinding {
    /// The finding of a move that has not been searched.
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

    /// Replaces this by the finding of a repeated search, unless that is worse. Adds up the nodes.
    fn update(&mut self, finding: Self) {
        let nodes = self.nodes.saturating_add(finding.nodes);
        let is_longer = finding.line.len() > self.line.len();
        if !self.mates() || (finding.mates() && !is_longer) {
            *self = finding;
        }
        self.nodes = nodes;
    }

    /// Whether a search with more nodes may decide the move.
    fn is_unknown(&self) -> bool {
        self.verdict == Verdict::Unknown(Stop::Nodes)
    }

    /// Whether a search with more nodes may improve the finding.
    fn wants_nodes(&self) -> bool {
        self.is_unknown() || (self.mates() && !self.is_shortest)
    }

    fn is_cancelled(&self) -> bool {
        self.verdict == Verdict::Unknown(Stop::Cancelled)
    }

    /// Sets the fields that depend on the line without futile interpositions. `game` is at the position after the move.
    fn measure(&mut self, proof: &Proof, mut game: Mate) {
        let counted = proof.without_futile(&mut game);
        self.tsume_plies = counted.as_ref().map(|(plies, _)| plies + 1);
        let line = counted.filter(|(plies, line)| line.len() == usize::from(*plies));
        for &m in line.as_ref().map_or(&self.line[1..], |(_, line)| line) {
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

    #[test]
    fn a_joint_search_finds_the_mates_of_separate_searches() {
        let mut df_pn = DfPn::new(TableSize::from_mib(4));
        let observer = AtomicBool::new(false);
        let when_hopeless = WhenHopeless::GoOn;
        let limits = Limits { depth_plies: DEPTH_PLIES, nodes: NODES, when_hopeless };
        let mut search =
            MoveSearch { df_pn: &mut df_pn, limits, observer: &observer, keeps_proofs: false };
        let [mut mates, mut others] = [0; 2];
        for position in random_play(311, 1_500).into_iter().chain(strewn(312, 600)) {
            let checks = position.checks();
            let mut together: Vec<_> = checks.iter().map(|&m| MoveFinding::open(m)).collect();
            let mut budget = Budget(NODES);
            search.limits.depth_plies = DEPTH_PLIES;
            search.search_together(&position, &mut together, &mut budget);
            let nodes: u64 = together.iter().map(|finding| finding.nodes).sum();
            assert_eq!(nodes, NODES - budget.0, "{position}");
            // If the joint search ran to its end, no open move mates within the depth.
            let ended_early = nodes > NODES / 2
                || together.iter().filter(|f| f.mates()).count() >= MATES_OF_SEVERAL_SOLUTIONS;
            for finding in together.into_iter().filter(|f| !(ended_early && f.is_unknown())) {
                // Table entries for one move may decide another beyond the depth.
                let depth_plies = if finding.is_unknown() { DEPTH_PLIES } else { 2 * DEPTH_PLIES };
                search.limits.depth_plies = depth_plies;
                let alone = search.search_move(&position, NodeKind::Or, finding.m, &[], NODES);
                assert_eq!(finding.mates(), alone.mates(), "{} in {position}", finding.m);
                mates += u32::from(finding.mates());
                others += u32::from(finding.verdict == Verdict::Disproven);
            }
        }
        assert!(mates > 100 && others > 500, "{mates} mates, {others} others");
    }
}
