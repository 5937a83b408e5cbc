//! The judge returns a verdict for each position: the side to move can force mate, is being mated, neither, or unknown.
//!
//! The names of the verdicts and of the modes for positions in check follow the command line of `gen-filter`. The
//! search itself is in the modules `solver` and `search`.

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

/// The settings of the search of one position. Position and settings determine the verdict.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct MateSettings {
    /// Maximum depth below the root, in plies.
    #[serde(rename = "depth")]
    pub depth_plies: u16,
    /// Maximum number of nodes of one search.
    pub nodes: u64,
    /// Size of the hash table of one thread, in MiB.
    pub hash_mb: usize,
    /// How to search a position whose side to move is in check.
    pub in_check: InCheck,
    /// What to do if the nodes will probably not be enough.
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

/// Maximum size of the hash table of one thread, in MiB.
pub const MAX_HASH_MB: usize = 1 << 20;

impl MateSettings {
    /// The limits of one search.
    pub const fn limits(&self) -> Limits {
        let &Self { depth_plies, nodes, when_hopeless, .. } = self;
        Limits { depth_plies, nodes, when_hopeless }
    }

    /// Checks that depth and table size do not exceed their maximum.
    ///
    /// # Errors
    /// [`Error`] for the first value that is too large.
    pub fn check(&self) -> Result<(), Error> {
        let &Self { depth_plies, hash_mb, .. } = self;
        if depth_plies > MAX_PLIES {
            return Err(Error::usage(format!(
                "a depth of {depth_plies} plies exceeds the maximum of {MAX_PLIES}"
            )));
        }
        if hash_mb > MAX_HASH_MB {
            return Err(Error::usage(format!(
                "a table of {hash_mb} MiB exceeds the maximum of {MAX_HASH_MB}"
            )));
        }
        Ok(())
    }
}

/// How to search a position whose side to move is in check.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum InCheck {
    /// Search first with the opponent as the attacker, then with the side to move. Each search may use all nodes.
    #[default]
    Both,
    /// Search only with the opponent as the attacker: the root is an AND node.
    And,
    /// Search only with the side to move as the attacker: the root is an OR node.
    Or,
    /// Do not search the position.
    Skip,
}

impl InCheck {
    /// Whether a position is searched in this mode.
    ///
    /// # Errors
    /// [`RecordError::NothingToMate`] if it is searched but the king to be mated is missing.
    pub fn searches(self, position: &Position) -> Result<bool, RecordError> {
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

/// The result of the search of a position: verdict, mating line and costs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MateResult {
    /// The verdict.
    pub verdict: PositionVerdict,
    /// The moves to the mate for a win or a loss. Empty for other verdicts, and if the side to move has no legal move.
    pub line: Vec<Move>,
    /// Nodes searched, see [`NODE_DEFINITION`].
    pub nodes: u64,
    /// Size of the checked proof: the number of positions with a move for the attacker. 0 without a mate, or if the
    /// mate needs no move.
    pub proof_nodes: u64,
    /// Plies of the mate as tsume problems count them, if the judge measures them. See [`Judge::tsume_plies`].
    pub tsume_plies: Option<u16>,
}

impl MateResult {
    /// A result without proof size and `tsume_plies`.
    pub const fn new(verdict: PositionVerdict, line: Vec<Move>, nodes: u64) -> Self {
        Self { verdict, line, nodes, proof_nodes: 0, tsume_plies: None }
    }
}

/// Judges positions. The verdict must depend only on the position; the guarantees of a run rely on it.
pub trait PositionJudge {
    /// Judges one position. Stops with [`Stop::Cancelled`] soon after `cancel` is set.
    ///
    /// The king to be mated must be present. The position is unchanged on return.
    fn judge(&mut self, position: &mut Position, cancel: &AtomicBool) -> MateResult;

    /// The proof of the last mate, see [`Judge::proof`]. `None` if this judge keeps no proofs.
    fn proof(
        &self,
        _position: &Position,
        _verdict: PositionVerdict,
        _index: u64,
    ) -> Option<Result<ProofText, TooManySteps>> {
        None
    }

    /// All memo hits of this judge.
    fn memo_hits(&self) -> MemoHits {
        MemoHits::default()
    }
}

/// Counts of positions that needed no search, because an equal position had been searched. They depend on the timing of
/// the threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MemoHits {
    /// Number of positions.
    pub answers: u64,
    /// Nodes that these searches would have taken.
    pub nodes: u64,
}

impl MemoHits {
    /// The hits since `before`.
    pub(crate) const fn since(self, before: Self) -> Self {
        Self { answers: self.answers - before.answers, nodes: self.nodes - before.nodes }
    }

    /// Adds the hits of another judge or process.
    pub const fn add(&mut self, other: Self) {
        self.answers = self.answers.saturating_add(other.answers);
        self.nodes = self.nodes.saturating_add(other.nodes);
    }
}

/// The mate solver with its own hash table. Each thread has one.
pub struct Judge {
    solver: Solver,
    limits: Limits,
    in_check: InCheck,
    /// Whether to measure [`MateResult::tsume_plies`].
    tsume: bool,
    /// Whether to search for the shortest mate.
    shortest: bool,
    /// Whether the last mate is proven to be the shortest.
    is_shortest: bool,
}

impl Judge {
    /// Creates a judge with its table.
    ///
    /// # Panics
    /// If the table cannot be allocated, see [`Self::try_new`].
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

    /// Creates a judge with its table.
    ///
    /// # Errors
    /// [`TableError`] if the table cannot be allocated.
    pub fn try_new(settings: &MateSettings) -> Result<Self, TableError> {
        let solver = Solver::try_new(TableSize::from_mib(settings.hash_mb))?;
        Ok(Self { solver, ..Self::new(&MateSettings { hash_mb: 0, ..settings.clone() }) })
    }

    /// Sets the limits and the mode for positions in check. Keeps the table.
    #[must_use]
    pub fn within(self, limits: Limits, in_check: InCheck) -> Self {
        Self { limits, in_check, ..self }
    }

    /// Sets the number of threads that search each position, see [`Solver::on_threads`]. With several threads, a result
    /// is no longer determined by position and settings.
    #[must_use]
    pub fn on_threads(self, threads: Threads) -> Self {
        Self { solver: self.solver.on_threads(threads), ..self }
    }

    /// Sets whether to search for the shortest mate. All searches for shorter mates together have the node limit of the
    /// first search.
    #[must_use]
    pub fn shortest(self, shortest: bool) -> Self {
        Self { shortest, ..self }
    }

    /// Sets whether to measure mates also as tsume problems count them.
    #[must_use]
    pub fn tsume(self, tsume: bool) -> Self {
        Self { tsume, ..self }
    }

    /// Judges one position. Stops with [`Stop::Cancelled`] soon after `observer` requests it.
    ///
    /// For a position in check, [`InCheck::And`] and [`InCheck::Or`] search only one attacker. Then
    /// [`PositionVerdict::NoMate`] means that this attacker cannot mate. With [`InCheck::Skip`], callers must not pass
    /// positions in check.
    pub fn judge(
        &mut self,
        position: &Position,
        observer: &dyn SearchObserver<Move>,
    ) -> MateResult {
        let mate_result = self.search(position, observer);
        tracing::trace!("{position}: {:?}, {} nodes", mate_result.verdict, mate_result.nodes);
        if !self.tsume {
            return mate_result;
        }
        let counted = self.tsume_plies(position, mate_result.verdict, observer);
        if observer.wants_stop() {
            // The measurement may be incomplete. A complete run could give another length.
            let cancelled = PositionVerdict::Unknown(Stop::Cancelled);
            return MateResult::new(cancelled, Vec::new(), mate_result.nodes);
        }
        MateResult { tsume_plies: counted.map(|counted| counted.plies), ..mate_result }
    }

    fn search(&mut self, position: &Position, observer: &dyn SearchObserver<Move>) -> MateResult {
        if !position.has_legal_move() {
            return MateResult::new(PositionVerdict::Loss, Vec::new(), 0);
        }
        match self.in_check {
            _ if !position.in_check() => self.attack(position, Attacker::SideToMove, observer),
            InCheck::And => self.attack(position, Attacker::Opponent, observer),
            InCheck::Or => self.attack(position, Attacker::SideToMove, observer),
            InCheck::Both | InCheck::Skip => {
                let mated = self.attack(position, Attacker::Opponent, observer);
                if matches!(
                    mated.verdict,
                    PositionVerdict::Loss | PositionVerdict::Unknown(Stop::Cancelled)
                ) {
                    return mated;
                }
                let mut mates = self.attack(position, Attacker::SideToMove, observer);
                mates.nodes += mated.nodes;
                if mates.verdict == PositionVerdict::NoMate {
                    mates.verdict = mated.verdict;
                }
                mates
            }
        }
    }

    /// Whether the last mate, which must be about `position`, is proven to be the shortest in plies as played. `None`
    /// if the judge does not search for shortest mates.
    pub fn is_shortest(&self, position: &Position) -> Option<bool> {
        self.shortest.then(|| self.is_shortest || !position.has_legal_move())
    }

    /// The length of the last mate as tsume problems count it, without futile interpositions. `position` and `verdict`
    /// must be those of the last call of [`Self::judge`]. `None` if there is no mate, or if there are too many
    /// positions to measure. `observer` can stop the search for shorter mates.
    pub fn tsume_plies(
        &mut self,
        position: &Position,
        verdict: PositionVerdict,
        observer: &dyn SearchObserver<Move>,
    ) -> Option<CountedPlies> {
        let attacker = match verdict {
            PositionVerdict::Loss if !position.has_legal_move() => {
                return Some(CountedPlies { plies: 0, line: Vec::new(), is_least: true, nodes: 0 });
            }
            PositionVerdict::Win => Attacker::SideToMove,
            PositionVerdict::Loss => Attacker::Opponent,
            PositionVerdict::NoMate | PositionVerdict::Unknown(_) => return None,
        };
        self.solver.tsume_plies(position, attacker, observer)
    }

    /// The proof of the last mate. `position` and `verdict` must be those of the last call of [`Self::judge`]; `index`
    /// is the record number of the position. `None` without a mate.
    ///
    /// # Errors
    /// [`TooManySteps`] if the proof is too large for a file. The verdict is correct nevertheless.
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

    fn attack(
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

    fn proof(
        &self,
        position: &Position,
        verdict: PositionVerdict,
        index: u64,
    ) -> Option<Result<ProofText, TooManySteps>> {
        Self::proof(self, position, verdict, index)
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

    /// White, in check from the lance, can only interpose, and is mated after every interposition.
    const BEING_MATED: &str = "7lk/7p1/9/9/9/9/9/9/K7L w 2R2B4G4S4N2L16Pp 1";
    /// White, in check, mates by taking the checking gold.
    const MATES_OUT_OF_CHECK: &str =
        "l1r3bn1/3k1g1sl/2G1pp3/p2p1Pp1p/4P4/PP1P2PRP/1g1S5/4+b4/LNK3sNL w Pgsn4p 1";

    /// Requests a stop after this number of calls.
    struct StopsAfter {
        max_calls: usize,
        calls: AtomicUsize,
    }

    impl SearchObserver<Move> for StopsAfter {
        fn wants_stop(&self) -> bool {
            self.calls.fetch_add(1, Ordering::Relaxed) >= self.max_calls
        }
    }

    /// The outputs of a run must not depend on the time of an interruption.
    #[test]
    fn a_cancelled_measurement_gives_no_verdict() {
        let problem: Position =
            "9/9/3pp4/+r2k1p3/2L1+p4/2+R6/B8/B8/9 b 4g4s4n3l14p 1".parse().unwrap();
        let settings = MateSettings { hash_mb: 1, ..MateSettings::default() };
        let observed = |tsume, max_calls| {
            let observer = StopsAfter { max_calls, calls: AtomicUsize::new(0) };
            let mate_result = Judge::new(&settings).tsume(tsume).judge(&problem, &observer);
            (mate_result, observer.calls.into_inner())
        };
        let (unmeasured, calls) = observed(false, usize::MAX);
        assert_eq!(unmeasured.verdict, PositionVerdict::Win);
        let (measured, _) = observed(true, usize::MAX);
        assert!(measured.verdict == PositionVerdict::Win && measured.tsume_plies.is_some());
        let (cancelled, _) = observed(true, calls);
        assert_eq!(cancelled.verdict, PositionVerdict::Unknown(Stop::Cancelled));
        assert_eq!((cancelled.line, cancelled.tsume_plies), (Vec::new(), None));
    }

    #[test]
    fn the_mode_for_positions_in_check_selects_the_attackers() {
        assert_eq!(judged(BEING_MATED, InCheck::And).0, PositionVerdict::Loss);
        assert_eq!(judged(BEING_MATED, InCheck::Both).0, PositionVerdict::Loss);
        assert_ne!(judged(BEING_MATED, InCheck::Or).0, PositionVerdict::Win);
        assert_eq!(judged(MATES_OUT_OF_CHECK, InCheck::Or), (PositionVerdict::Win, 3));
        assert_eq!(judged(MATES_OUT_OF_CHECK, InCheck::Both), (PositionVerdict::Win, 3));
        assert_eq!(judged(MATES_OUT_OF_CHECK, InCheck::And).0, PositionVerdict::NoMate);
    }

    #[test]
    fn limits_above_the_maximum_are_errors() {
        let settings = MateSettings::default();
        settings.check().unwrap();
        let deep = MateSettings { depth_plies: 4097, ..settings.clone() };
        assert_eq!(
            deep.check().unwrap_err().to_string(),
            "a depth of 4097 plies exceeds the maximum of 4096"
        );
        let wide = MateSettings { hash_mb: MAX_HASH_MB + 1, ..settings };
        assert!(wide.check().unwrap_err().is_usage());
    }

    #[test]
    fn a_position_without_legal_moves_is_a_loss_in_0_plies() {
        let mated = "7lk/7p1/9/9/9/9/9/9/K7L w 2R2B4G4S4N2L17P 1";
        for in_check in [InCheck::Both, InCheck::And, InCheck::Or] {
            assert_eq!(judged(mated, in_check), (PositionVerdict::Loss, 0));
        }
    }
}
