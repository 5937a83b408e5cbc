//! `Solver`, `solve_many`, `Proof`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Instant;

use kyokumen::format::proof_file::{ProofClaim, ProofFile, ProofReader, ProofText};
use kyokumen::mate::judge::{Judge, MateResult, MateSettings};
use kyokumen::mate::positions::{
    BadPosition, InputPosition, LineOrByte, PositionResult, RecordLocation,
};
use kyokumen::mate::proof::check;
use kyokumen::mate::solve::{Solution as Solved, SolveOptions, solve};
use kyokumen::records::position_verdict::PositionVerdict;
use kyokumen::shogi;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as WordError, StrDeserializer};

use crate::arrays::{Object, Records};
use crate::failure::Failure;
use crate::interrupt::{
    MOST_THREADS, interruptible, interruptible_in_silence, on_threads, threads_of,
};
use crate::moves::Move;
use crate::position::Position;

/// Parses the value of an argument: a variant name of an enum of the library.
pub(crate) fn word<'de, T: Deserialize<'de>>(argument: &str, text: &'de str) -> Result<T, Failure> {
    let deserializer: StrDeserializer<'de, WordError> = text.into_deserializer();
    T::deserialize(deserializer).map_err(|error| Failure::usage(format!("{argument}: {error}")))
}

/// The mate solver: a table, and the limits of its searches.
///
/// Searches leave nothing behind: an verdict depends on the position, the limits and the size of the table. Depth in
/// plies below the position, nodes for each of the (in check: two) questions, the table in MiB; defaults are those of
/// the command line.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Solver {
    settings: MateSettings,
    /// Locked during a search. None after one that was interrupted.
    judge: Mutex<Option<Judge>>,
}

/// Checked settings. Options that are not given come from `default`.
fn settings(
    depth: Option<u16>,
    nodes: Option<u64>,
    hash_mb: Option<usize>,
    in_check: Option<&str>,
    when_hopeless: Option<&str>,
    default: &MateSettings,
) -> Result<MateSettings, Failure> {
    let settings = MateSettings {
        depth_plies: depth.unwrap_or(default.depth_plies),
        nodes: nodes.unwrap_or(default.nodes),
        hash_mb: hash_mb.unwrap_or(default.hash_mb),
        in_check: in_check.map_or(Ok(default.in_check), |it| word("in_check", it))?,
        when_hopeless: when_hopeless
            .map_or(Ok(default.when_hopeless), |it| word("when_hopeless", it))?,
    };
    settings.check().map_err(Failure::usage)?;
    Ok(settings)
}

fn judge_of(settings: &MateSettings) -> Result<Judge, Failure> {
    Judge::try_new(settings).map_err(|error| Failure::other(&error))
}

#[derive(FromPyObject)]
enum PositionLike<'py> {
    Position(PyRef<'py, Position>),
    Sfen(String),
}

impl PositionLike<'_> {
    fn get(&self) -> Result<shogi::Position, Failure> {
        match self {
            Self::Position(position) => Ok(position.now.clone()),
            Self::Sfen(sfen) => Ok(sfen.parse::<shogi::Position>()?),
        }
    }
}

#[pymethods]
impl Solver {
    #[new]
    #[pyo3(signature = (hash_mb = 64, *, depth = None, nodes = None, in_check = None, when_hopeless = None))]
    fn new(
        hash_mb: usize,
        depth: Option<u16>,
        nodes: Option<u64>,
        in_check: Option<&str>,
        when_hopeless: Option<&str>,
    ) -> Result<Self, Failure> {
        let default = MateSettings::default();
        let settings = settings(depth, nodes, Some(hash_mb), in_check, when_hopeless, &default)?;
        let judge = judge_of(&settings)?;
        Ok(Self { settings, judge: Mutex::new(Some(judge)) })
    }

    /// Whether the side to move mates ("win"), is being mated ("loss"), neither ("no_mate"), or nobody knows
    /// ("unknown").
    ///
    /// `shortest` goes on to look for the shortest mate, `tsume_plies` also measures a mate as problems count it. A
    /// mate was checked by the rule book before it is returned.
    #[pyo3(signature = (position, *, depth = None, nodes = None, in_check = None, when_hopeless = None, shortest = false, tsume_plies = false))]
    #[expect(clippy::too_many_arguments, reason = "each is an option of its own")]
    fn solve(
        &self,
        py: Python<'_>,
        position: PositionLike<'_>,
        depth: Option<u16>,
        nodes: Option<u64>,
        in_check: Option<&str>,
        when_hopeless: Option<&str>,
        shortest: bool,
        tsume_plies: bool,
    ) -> PyResult<Solution> {
        let settings = settings(depth, nodes, None, in_check, when_hopeless, &self.settings)?;
        let position = position.get()?;
        if !settings.in_check.asks_about(&position).map_err(Failure::usage)? {
            let why = "the side to move is in check, of which nothing is asked";
            return Err(Failure::usage(why).into());
        }
        let mut kept = match self.judge.try_lock() {
            Ok(kept) => kept,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let why = "the solver is at work in another thread: take one for each";
                return Err(Failure::usage(why).into());
            }
        };
        let judge = kept.take().map_or_else(|| judge_of(&self.settings), Ok)?;
        let mut judge = judge
            .within(settings.limits(), settings.in_check)
            .shortest(shortest)
            .tsume(tsume_plies);
        let started = Instant::now();
        let (mate_result, proof, is_shortest, judge) = interruptible_in_silence(py, |cancel| {
            let mate_result = judge.judge(&position, cancel);
            let proof = judge.proof(&position, mate_result.verdict, 0);
            let is_shortest = judge.is_shortest(&position);
            (mate_result, proof, is_shortest, judge)
        })?;
        let elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
        *kept = Some(judge);
        let proof = proof.and_then(Result::ok);
        Ok(Solution { mate_result, proof, is_shortest, elapsed_ms })
    }

    fn __repr__(&self) -> String {
        let MateSettings { depth_plies, nodes, hash_mb, .. } = self.settings;
        format!("Solver({hash_mb}, depth={depth_plies}, nodes={nodes})")
    }
}

/// The verdict of a search.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Solution {
    mate_result: MateResult,
    proof: Option<ProofText>,
    is_shortest: Option<bool>,
    elapsed_ms: f64,
}

#[pymethods]
impl Solution {
    /// "win", "loss", "no_mate" or "unknown", seen from the side to move.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.mate_result.verdict.word()
    }

    /// Why it is unknown: "nodes", "depth", "memory" or "cancelled".
    #[getter]
    fn stop(&self) -> Option<&'static str> {
        match self.mate_result.verdict {
            PositionVerdict::Unknown(stop) => Some(stop.word()),
            _ => None,
        }
    }

    /// The moves of the mate: the attacker's shortest against the defender's longest. Empty where there is none.
    #[getter]
    fn line(&self) -> Vec<Move> {
        self.mate_result.line.iter().copied().map(Move).collect()
    }

    /// Plies of the mate; None where there is none.
    #[getter]
    fn plies(&self) -> Option<usize> {
        self.mate_result.verdict.is_mate().then_some(self.mate_result.line.len())
    }

    /// Plies of the mate as problems count them, without futile interpositions, if that was wished for.
    #[getter]
    fn tsume_plies(&self) -> Option<u16> {
        self.mate_result.tsume_plies
    }

    /// Whether no mate takes fewer plies, if that was wished for.
    #[getter]
    fn is_shortest(&self) -> Option<bool> {
        self.is_shortest
    }

    /// Positions that the search entered by a move.
    #[getter]
    fn nodes(&self) -> u64 {
        self.mate_result.nodes
    }

    /// How long it took, in milliseconds.
    #[getter]
    fn elapsed_ms(&self) -> f64 {
        self.elapsed_ms
    }

    /// The proof of the mate; None where there is none, or it is too large to be written down.
    #[getter]
    fn proof(&self) -> Option<Proof> {
        self.proof.clone().map(Proof)
    }

    fn __repr__(&self) -> String {
        let plies = self.plies().map_or(String::new(), |plies| format!(", plies={plies}"));
        format!("<kyokumen.Solution {}{plies}, nodes={}>", self.verdict(), self.nodes())
    }
}

/// A proof of a mate: for each position that can arise a move of the attacker that mates in fewer plies.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Proof(ProofText);

#[pymethods]
impl Proof {
    /// The first proof in the bytes of a file of proofs, as `kyokumen solve --proof` and to_bytes write it. Nothing of
    /// it is believed: `verify` checks it.
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> Result<Self, Failure> {
        let proofs: Result<Vec<_>, _> = ProofReader::new(data).collect();
        let first = proofs.map_err(Failure::usage)?.into_iter().next();
        first.map(Self).ok_or_else(|| Failure::usage("there is no proof"))
    }

    /// The proof as a file, which `kyokumen verify --proof` checks, too.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut bytes = Vec::new();
        let mut file = ProofFile::start(&mut bytes);
        file.push(&self.0, &mut bytes);
        file.end(&mut bytes);
        PyBytes::new(py, &bytes)
    }

    /// Checks the proof by the rule book, without anything that the solver said: every move is a legal check, every
    /// defence is met, all ends with mate. Raises KyokumenError with the first fault.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        let proof = &self.0;
        let checked = py.detach(|| {
            // Threads of its own: those of a pool would be missing after a fork.
            let pool = rayon::ThreadPoolBuilder::new().build();
            let pool = pool.map_err(|error| Failure::other(&error))?;
            pool.install(|| check(proof)).map_err(|error| Failure::other(&error))
        });
        Ok(checked?)
    }

    /// The position that the proof is about.
    #[getter]
    fn position(&self) -> Position {
        self.0.head().root.clone().into()
    }

    /// "win": the side to move mates; "loss": it is being mated.
    #[getter]
    fn verdict(&self) -> &'static str {
        match self.0.head().claim {
            ProofClaim::Win => "win",
            ProofClaim::Loss => "loss",
        }
    }

    /// Plies that it takes at most.
    #[getter]
    fn plies(&self) -> u16 {
        self.0.head().plies
    }

    /// Its steps: positions with a move of the attacker.
    fn __len__(&self) -> usize {
        usize::try_from(self.0.steps()).unwrap_or(usize::MAX)
    }

    fn __repr__(&self) -> String {
        format!(
            "<kyokumen.Proof {}, plies={}, steps={}>",
            self.verdict(),
            self.plies(),
            self.0.steps()
        )
    }
}

/// The numbers of `kyokumen.Verdict`.
const fn number(verdict: Option<PositionVerdict>) -> i8 {
    match verdict {
        Some(PositionVerdict::Win) => 1,
        Some(PositionVerdict::Loss) => -1,
        Some(PositionVerdict::NoMate) => 0,
        Some(PositionVerdict::Unknown(_)) => 2,
        None => 3,
    }
}

/// Solves all positions of an archive or an array, on all threads: verdicts [N] int8 as `kyokumen.Verdict`, plies [N]
/// int16 with −1 where there is no mate, nodes [N] uint64. Equal positions are searched once.
///
/// `progress` is called with the number of positions done now and then.
#[pyfunction(signature = (records, *, threads = 0, depth = None, nodes = None, hash_mb = None, in_check = None, when_hopeless = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "each is an option of its own")]
pub(crate) fn solve_many<'py>(
    py: Python<'py>,
    records: &Object<'py>,
    threads: usize,
    depth: Option<u16>,
    nodes: Option<u64>,
    hash_mb: Option<usize>,
    in_check: Option<&str>,
    when_hopeless: Option<&str>,
    progress: Option<Object<'py>>,
) -> PyResult<Object<'py>> {
    const TELL_EVERY: u64 = 256;
    /// Decoded by a thread at a time.
    const POSITIONS: usize = 1024;
    let default = MateSettings::default();
    let settings = settings(depth, nodes, hash_mb, in_check, when_hopeless, &default)?;
    let records = Records::of(records)?;
    let records = records.bytes()?;
    let len = records.len();
    let positions = interruptible_in_silence(py, |cancel| {
        let jobs: Vec<_> = (0..len).step_by(POSITIONS).collect();
        let decode = |(): &mut (), first: usize| {
            let positions = (first..len.min(first + POSITIONS)).map(|i| records.position(i));
            positions.collect::<Result<Vec<_>, _>>()
        };
        let decoded = on_threads(threads_of(threads), jobs, cancel, || (), decode);
        decoded.into_iter().collect::<Result<Vec<_>, _>>()
    })??;
    let progress = progress.map(Bound::unbind);
    let (verdicts, plies, nodes) = interruptible(
        py,
        |cancel: &Arc<AtomicBool>, sender| {
            let (mut verdicts, mut plies) = (Vec::with_capacity(len), Vec::with_capacity(len));
            let mut nodes = Vec::with_capacity(len);
            let options = SolveOptions { cancel: Arc::clone(cancel), ..SolveOptions::default() };
            let found = positions.into_iter().flatten().enumerate().map(
                |(i, position)| -> PositionResult {
                    let location = RecordLocation { index: i as u64, spot: LineOrByte::Byte(0) };
                    Ok(Ok(InputPosition { location, position, second_column: None }))
                },
            );
            let take = |solution: Result<Solved, BadPosition>| {
                if cancel.load(Ordering::Relaxed) {
                    return Err(Failure::usage("the search was cancelled"));
                }
                let solution = solution.map_err(|error| {
                    let index = error.location.index as usize;
                    records.bad(index, &error.error)
                })?;
                let mate_result = solution.mate_result.as_ref();
                let verdict = mate_result.map(|mate_result| mate_result.verdict);
                verdicts.push(number(verdict));
                let mate = mate_result.filter(|mate_result| mate_result.verdict.is_mate());
                plies.push(mate.map_or(-1, |mate| mate.line.len() as i16));
                nodes.push(mate_result.map_or(0, |mate_result| mate_result.nodes));
                if (verdicts.len() as u64).is_multiple_of(TELL_EVERY) {
                    // Nobody listens any more if the call is over.
                    let _ = sender.send(verdicts.len());
                }
                Ok(())
            };
            solve(found, &settings, &options, threads.min(MOST_THREADS), take)?;
            Ok::<_, Failure>((verdicts, plies, nodes))
        },
        |py, done| match &progress {
            Some(progress) => progress.call1(py, (done,)).map(drop),
            None => Ok(()),
        },
    )??;
    let fields = PyDict::new(py);
    fields.set_item("verdicts", PyArray1::from_vec(py, verdicts))?;
    fields.set_item("plies", PyArray1::from_vec(py, plies))?;
    fields.set_item("nodes", PyArray1::from_vec(py, nodes))?;
    py.import("kyokumen._results")?.getattr("Solutions")?.call((), Some(&fields))
}
