//! One word a position: does the side to move mate, is it being mated, or neither?
//!
//! The words and the modes for positions in check follow `gen-filter`'s command line; the search itself
//! lives in the rooms `solver` and `search`.

use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::proof::proof_text;
use crate::error::Error;
use crate::format::proof_file::{ProofClaim, ProofHead, ProofText, TooManySteps};
use crate::records::position_verdict::PositionVerdict;
use crate::records::reading::RecordError;
use crate::search::SearchObserver;
use crate::shogi::{Move, Position};
use crate::solver::{
    Attacker, CountedPlies, Limits, MAX_PLIES, Solver, TableError, TableSize, Threads, Verdict,
};

pub use crate::solver::{NODE_DEFINITION, SOLVER_VERSION, Stop, WhenHopeless};

/// Limits of the search of one position; together with the position they determine the verdict.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct MateSettings {
    /// How many plies the search goes below the root.
    #[serde(rename = "depth")]
    pub depth_plies: u16,
    /// Nodes after which one search gives up.
    pub nodes: u64,
    /// Size of the table of one thread, in MiB.
    pub hash_mb: usize,
    /// What is asked about a position in check.
    pub in_check: InCheck,
    /// What a search does when it looks as if its nodes were not enough.
    pub when_hopeless: WhenHopeless,
}

impl Default for MateSettings {
    fn default() -> Self {
        Self {
            depth_plies: 20,
            nodes: 1_048_576,
            hash_mb: 64,
            in_check: InCheck::Both,
            when_hopeless: WhenHopeless::GiveUp,
        }
    }
}

/// Largest table of one thread, in MiB.
pub const MAX_HASH_MB: usize = 1 << 20;

impl MateSettings {
    /// The limits of one search.
    pub const fn limits(&self) -> Limits {
        let &Self { depth_plies, nodes, when_hopeless, .. } = self;
        Limits { depth_plies, nodes, when_hopeless }
    }

    /// Checks that a search can keep to these limits.
    ///
    /// # Errors
    /// [`Error`] for the first one that is too large.
    pub fn check(&self) -> Result<(), Error> {
        let &Self { depth_plies, hash_mb, .. } = self;
        if depth_plies > MAX_PLIES {
            return Err(Error::usage(format!(
                "a depth of {depth_plies} plies is more than the {MAX_PLIES} there can be"
            )));
        }
        if hash_mb > MAX_HASH_MB {
            return Err(Error::usage(format!(
                "a table of {hash_mb} MiB is more than the {MAX_HASH_MB} there can be"
            )));
        }
        Ok(())
    }
}

/// What is asked when the side to move is in check.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum InCheck {
    /// First whether it is being mated, then whether it mates; each with the whole budget.
    #[default]
    Both,
    /// Whether it is being mated: the root is an AND node.
    And,
    /// Whether it mates: the root is an OR node.
    Or,
    /// Nothing: the position is not searched.
    Skip,
}

impl InCheck {
    /// Whether a position is searched at all.
    ///
    /// # Errors
    /// [`RecordError::NothingToMate`] if it is and the king that would be mated is not there.
    pub fn asks_about(self, position: &Position) -> Result<bool, RecordError> {
        if position.in_check() {
            match self {
                Self::Skip => return Ok(false),
                Self::And | Self::Both => return Ok(true),
                Self::Or => {}
            }
        }
        let them = !position.side_to_move();
        position.king(them).map(|_| true).ok_or(RecordError::NothingToMate { king: them })
    }
}

/// A verdict with its proof and its price.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MateResult {
    /// The verdict.
    pub verdict: PositionVerdict,
    /// The mating line of a win or a loss, as long as the mate has plies; empty otherwise.
    pub line: Vec<Move>,
    /// Nodes searched, see [`NODE_DEFINITION`].
    pub nodes: u64,
    /// Size of the proof that was checked: positions in which it has a move for the attacker. 0 where none is
    /// needed, and where nothing was proven.
    pub proof_nodes: u64,
    /// Plies of the mate as problems count them, if the judge measures that, see [`Judge::tsume_plies`].
    pub tsume_plies: Option<u16>,
}

impl MateResult {
    /// A verdict without a word about its proof.
    pub const fn new(verdict: PositionVerdict, line: Vec<Move>, nodes: u64) -> Self {
        Self { verdict, line, nodes, proof_nodes: 0, tsume_plies: None }
    }
}

/// What a worker asks about a position; the promises hold for any answerer whose
/// verdict depends on nothing but the position.
pub trait PositionJudge {
    /// Judges one position; gives up with [`Stop::Cancelled`] soon after `cancel` is set.
    ///
    /// The king that a search would have to mate may not be missing; the position is left as it was.
    fn judge(&mut self, position: &mut Position, cancel: &AtomicBool) -> MateResult;

    /// What this judge has answered so far without a search, because it knew an equal position.
    fn saved(&self) -> MemoHits {
        MemoHits::default()
    }
}

/// Answers that took no search, because an equal position had been searched. Depends on which thread met
/// what when, as times do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MemoHits {
    /// How many.
    pub answers: u64,
    /// Nodes that searching again would have taken.
    pub nodes: u64,
}

impl MemoHits {
    /// The hits since `before`.
    pub(crate) const fn since(self, before: Self) -> Self {
        Self { answers: self.answers - before.answers, nodes: self.nodes - before.nodes }
    }

    /// Adds what was saved elsewhere.
    pub const fn add(&mut self, other: Self) {
        self.answers = self.answers.saturating_add(other.answers);
        self.nodes = self.nodes.saturating_add(other.nodes);
    }
}

/// The mate solver with its own table, one for each thread.
pub struct Judge {
    solver: Solver,
    limits: Limits,
    in_check: InCheck,
    /// Whether [`MateResult::tsume_plies`] is measured.
    tsume: bool,
    /// Whether the shortest mate is looked for.
    shortest: bool,
    is_shortest: bool,
}

impl Judge {
    /// Allocates the table.
    pub fn new(settings: &MateSettings) -> Self {
        Self {
            solver: Solver::new(TableSize::from_mib(settings.hash_mb)),
            limits: settings.limits(),
            in_check: settings.in_check,
            tsume: false,
            shortest: false,
            is_shortest: false,
        }
    }

    /// The same, if there is memory for the table.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn try_new(settings: &MateSettings) -> Result<Self, TableError> {
        let solver = Solver::try_new(TableSize::from_mib(settings.hash_mb))?;
        Ok(Self { solver, ..Self::new(&MateSettings { hash_mb: 0, ..settings.clone() }) })
    }

    /// The same table for searches within other limits.
    #[must_use]
    pub fn within(self, limits: Limits, in_check: InCheck) -> Self {
        Self { limits, in_check, ..self }
    }

    /// The same, but searches each position on so many threads, see [`Solver::on_threads`]: answers then depend on more
    /// than position and settings.
    #[must_use]
    pub fn on_threads(self, threads: Threads) -> Self {
        Self { solver: self.solver.on_threads(threads), ..self }
    }

    /// The same, but looks for the shortest mate, with as many nodes again.
    #[must_use]
    pub fn shortest(self, shortest: bool) -> Self {
        Self { shortest, ..self }
    }

    /// The same, but measures mates also as problems count them.
    #[must_use]
    pub fn tsume(self, tsume: bool) -> Self {
        Self { tsume, ..self }
    }

    /// Judges one position; gives up with [`Stop::Cancelled`] soon after `observer` wants it to.
    ///
    /// With [`InCheck::And`] or [`InCheck::Or`] a position in check gets [`PositionVerdict::NoMate`] when the one
    /// question that was asked is answered with no; with [`InCheck::Skip`] it must not be asked about.
    pub fn judge(
        &mut self,
        position: &Position,
        observer: &dyn SearchObserver<Move>,
    ) -> MateResult {
        let mate_result = self.answer(position, observer);
        tracing::trace!("{position}: {:?}, {} nodes", mate_result.verdict, mate_result.nodes);
        if !self.tsume {
            return mate_result;
        }
        let counted = self.tsume_plies(position, mate_result.verdict, observer);
        if observer.wants_stop() {
            // The length may be one that was given up, as no run that goes on would have it.
            let cancelled = PositionVerdict::Unknown(Stop::Cancelled);
            return MateResult::new(cancelled, Vec::new(), mate_result.nodes);
        }
        MateResult { tsume_plies: counted.map(|counted| counted.plies), ..mate_result }
    }

    fn answer(&mut self, position: &Position, observer: &dyn SearchObserver<Move>) -> MateResult {
        if !position.has_legal_move() {
            return MateResult::new(PositionVerdict::Loss, Vec::new(), 0);
        }
        match self.in_check {
            _ if !position.in_check() => self.ask(position, Attacker::SideToMove, observer),
            InCheck::And => self.ask(position, Attacker::Opponent, observer),
            InCheck::Or => self.ask(position, Attacker::SideToMove, observer),
            InCheck::Both | InCheck::Skip => {
                let mated = self.ask(position, Attacker::Opponent, observer);
                if matches!(
                    mated.verdict,
                    PositionVerdict::Loss | PositionVerdict::Unknown(Stop::Cancelled)
                ) {
                    return mated;
                }
                let mut mates = self.ask(position, Attacker::SideToMove, observer);
                mates.nodes += mated.nodes;
                if mates.verdict == PositionVerdict::NoMate {
                    mates.verdict = mated.verdict;
                }
                mates
            }
        }
    }

    /// Whether the mate of the verdict that was given last, to `position`, is proven to be the shortest in
    /// plies as played. `None` if shortest mates are not looked for.
    pub fn is_shortest(&self, position: &Position) -> Option<bool> {
        self.shortest.then(|| self.is_shortest || !position.has_legal_move())
    }

    /// The length of the mate of the verdict that was given last, to `position`, as problems count it: without futile
    /// interpositions. `None` if there is no mate, or too much to measure. `observer` may have shorter ones given up.
    pub fn tsume_plies(
        &mut self,
        position: &Position,
        verdict: PositionVerdict,
        observer: &dyn SearchObserver<Move>,
    ) -> Option<CountedPlies> {
        let attacker = match verdict {
            PositionVerdict::Loss if !position.has_legal_move() => {
                return Some(CountedPlies { plies: 0, is_least: true, nodes: 0 });
            }
            PositionVerdict::Win => Attacker::SideToMove,
            PositionVerdict::Loss => Attacker::Opponent,
            PositionVerdict::NoMate | PositionVerdict::Unknown(_) => return None,
        };
        self.solver.tsume_plies(position, attacker, observer)
    }

    /// The proof of the verdict that was given last, to `position`, as number `index` of its input; `None`
    /// if that was neither [`PositionVerdict::Win`] nor [`PositionVerdict::Loss`].
    ///
    /// # Errors
    /// [`TooManySteps`] if it is too large to be written down; the verdict is as true as any.
    pub fn proof(
        &self,
        position: &Position,
        verdict: PositionVerdict,
        index: u64,
    ) -> Option<Result<ProofText, TooManySteps>> {
        let claim = match verdict {
            PositionVerdict::Win => ProofClaim::Win,
            PositionVerdict::Loss => ProofClaim::Loss,
            PositionVerdict::NoMate | PositionVerdict::Unknown(_) => return None,
        };
        let head = ProofHead { index, claim, plies: 0, root: position.clone() };
        let searched = self.solver.proof().filter(|_| position.has_legal_move());
        Some(proof_text(head, searched))
    }

    fn ask(
        &mut self,
        position: &Position,
        attacker: Attacker,
        observer: &dyn SearchObserver<Move>,
    ) -> MateResult {
        let outcome = if self.shortest {
            let (outcome, is_shortest) =
                self.solver.solve_shortest(position, attacker, &self.limits, observer);
            self.is_shortest = is_shortest;
            outcome
        } else {
            self.solver.solve_observed(position, attacker, &self.limits, observer)
        };
        let verdict = match (outcome.verdict, attacker) {
            (Verdict::Proven, Attacker::SideToMove) => PositionVerdict::Win,
            (Verdict::Proven, Attacker::Opponent) => PositionVerdict::Loss,
            (Verdict::Disproven, _) => PositionVerdict::NoMate,
            (Verdict::Unknown(stop), _) => PositionVerdict::Unknown(stop),
        };
        let proof_nodes = if verdict.is_mate() { outcome.stats.proof_positions } else { 0 };
        let nodes = outcome.stats.nodes;
        MateResult { proof_nodes, ..MateResult::new(verdict, outcome.line, nodes) }
    }
}

impl PositionJudge for Judge {
    fn judge(&mut self, position: &mut Position, cancel: &AtomicBool) -> MateResult {
        Self::judge(self, position, cancel)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn judged(sfen: &str, in_check: InCheck) -> (PositionVerdict, usize) {
        let settings = MateSettings { hash_mb: 1, in_check, ..MateSettings::default() };
        let position: Position = sfen.parse().expect("a legal position");
        let mate_result = Judge::new(&settings).judge(&position, &AtomicBool::new(false));
        (mate_result.verdict, mate_result.line.len())
    }

    /// White, in check by the lance, can only interpose: the lance mates behind every interposition.
    const BEING_MATED: &str = "7lk/7p1/9/9/9/9/9/9/K7L w 2R2B4G4S4N2L16Pp 1";
    /// White, in check, mates by taking the checking gold.
    const MATES_OUT_OF_CHECK: &str =
        "l1r3bn1/3k1g1sl/2G1pp3/p2p1Pp1p/4P4/PP1P2PRP/1g1S5/4+b4/LNK3sNL w Pgsn4p 1";

    /// Wants to stop from call number `question` on.
    struct StopsAt {
        question: usize,
        asked: AtomicUsize,
    }

    impl SearchObserver<Move> for StopsAt {
        fn wants_stop(&self) -> bool {
            self.asked.fetch_add(1, Ordering::Relaxed) >= self.question
        }
    }

    /// What a run writes must not depend on when it was stopped.
    #[test]
    fn a_length_that_was_given_up_is_no_answer() {
        let problem: Position =
            "9/9/3pp4/+r2k1p3/2L1+p4/2+R6/B8/B8/9 b 4g4s4n3l14p 1".parse().unwrap();
        let settings = MateSettings { hash_mb: 1, ..MateSettings::default() };
        let observed = |tsume, question| {
            let observer = StopsAt { question, asked: AtomicUsize::new(0) };
            let mate_result = Judge::new(&settings).tsume(tsume).judge(&problem, &observer);
            (mate_result, observer.asked.into_inner())
        };
        let (answered, questions) = observed(false, usize::MAX);
        assert_eq!(answered.verdict, PositionVerdict::Win);
        let (whole, _) = observed(true, usize::MAX);
        assert!(whole.verdict == PositionVerdict::Win && whole.tsume_plies.is_some());
        let (given_up, _) = observed(true, questions);
        assert_eq!(given_up.verdict, PositionVerdict::Unknown(Stop::Cancelled));
        assert_eq!((given_up.line, given_up.tsume_plies), (Vec::new(), None));
    }

    #[test]
    fn modes_for_positions_in_check() {
        assert_eq!(judged(BEING_MATED, InCheck::And).0, PositionVerdict::Loss);
        assert_eq!(judged(BEING_MATED, InCheck::Both).0, PositionVerdict::Loss);
        assert_ne!(judged(BEING_MATED, InCheck::Or).0, PositionVerdict::Win);
        assert_eq!(judged(MATES_OUT_OF_CHECK, InCheck::Or), (PositionVerdict::Win, 3));
        assert_eq!(judged(MATES_OUT_OF_CHECK, InCheck::Both), (PositionVerdict::Win, 3));
        assert_eq!(judged(MATES_OUT_OF_CHECK, InCheck::And).0, PositionVerdict::NoMate);
    }

    #[test]
    fn limits_that_cannot_be_kept_are_refused() {
        let settings = MateSettings::default();
        settings.check().unwrap();
        let deep = MateSettings { depth_plies: 4097, ..settings.clone() };
        assert_eq!(
            deep.check().unwrap_err().to_string(),
            "a depth of 4097 plies is more than the 4096 there can be"
        );
        let wide = MateSettings { hash_mb: MAX_HASH_MB + 1, ..settings };
        assert!(wide.check().unwrap_err().is_usage());
    }

    #[test]
    fn no_legal_move_is_a_loss_with_no_plies() {
        let mated = "7lk/7p1/9/9/9/9/9/9/K7L w 2R2B4G4S4N2L17P 1";
        for in_check in [InCheck::Both, InCheck::And, InCheck::Or] {
            assert_eq!(judged(mated, in_check), (PositionVerdict::Loss, 0));
        }
    }
}
