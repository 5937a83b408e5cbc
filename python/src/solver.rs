//! `Solver`, `solve_many` and `Proof`: mate searches and their proofs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Instant;

use kyokumen::format::proof_file::{ProofClaim, ProofFile, ProofReader, ProofText};
use kyokumen::mate::judge::{Judge, MateResult, MateSettings, Stop};
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
use serde::de::value::{Error as VariantError, StrDeserializer};

use crate::arguments::{Given, number, optional};
use crate::arrays::{Object, Records};
use crate::failure::Failure;
use crate::interrupt::{
    MAX_THREADS, interruptible, interruptible_without_messages, on_threads, thread_count,
};
use crate::moves::Move;
use crate::options::wrong_value;
use crate::position::{Position, PositionLike, escaped, figure, svg};

/// Parses an argument that is the name of an enum variant of the library.
pub(crate) fn variant<'de, T: Deserialize<'de>>(
    argument: &str,
    text: &'de str,
) -> Result<T, Failure> {
    let deserializer: StrDeserializer<'de, VariantError> = text.into_deserializer();
    T::deserialize(deserializer).map_err(|error| wrong_value(argument, &error))
}

/// A mate solver with a transposition table and search limits.
///
/// A verdict depends only on the position, the limits and the size of the table, not on earlier searches. `hash_mb` is
/// the size of the table in MiB. `depth` is the maximum length of a line in plies. `nodes` is the limit for each
/// attacker; if the side to move is in check, both sides are searched as attackers. The defaults are those of the
/// command line.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Solver {
    settings: MateSettings,
    /// Locked during a search. None after an interrupted search.
    judge: Mutex<Option<Judge>>,
}

/// Makes and checks settings. Absent options have the values of `default`.
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
        in_check: in_check.map_or(Ok(default.in_check), |it| variant("in_check", it))?,
        when_hopeless: when_hopeless
            .map_or(Ok(default.when_hopeless), |it| variant("when_hopeless", it))?,
    };
    settings.check().map_err(Failure::usage)?;
    Ok(settings)
}

fn new_judge(settings: &MateSettings) -> Result<Judge, Failure> {
    Judge::try_new(settings).map_err(|error| Failure::other(&error))
}

#[pymethods]
impl Solver {
    #[new]
    #[pyo3(signature = (hash_mb = 64, *, depth = None, nodes = None, in_check = None, when_hopeless = None))]
    fn new(
        #[pyo3(from_py_with = number::hash_mb)] hash_mb: usize,
        #[pyo3(from_py_with = optional::depth)] depth: Option<u16>,
        #[pyo3(from_py_with = optional::nodes)] nodes: Option<u64>,
        in_check: Option<&str>,
        when_hopeless: Option<&str>,
    ) -> Result<Self, Failure> {
        let default = MateSettings::default();
        let settings = settings(depth, nodes, Some(hash_mb), in_check, when_hopeless, &default)?;
        let judge = new_judge(&settings)?;
        Ok(Self { settings, judge: Mutex::new(Some(judge)) })
    }

    /// Searches for a mate by the side to move, and for a mate against it if it is in check.
    ///
    /// `shortest` continues the search for the shortest mate. `tsume_plies` also counts the plies of a mate by the
    /// rules of tsume problems. Every returned mate has been checked with an independent, deliberately simple move
    /// generator. `position` may be an SFEN, a position of the USI protocol or a record.
    #[pyo3(signature = (position, *, depth = None, nodes = None, in_check = None, when_hopeless = None, shortest = false, tsume_plies = false))]
    #[expect(clippy::too_many_arguments, reason = "each is a separate option")]
    fn solve(
        &self,
        py: Python<'_>,
        position: Given<PositionLike<'_>>,
        #[pyo3(from_py_with = optional::depth)] depth: Option<u16>,
        #[pyo3(from_py_with = optional::nodes)] nodes: Option<u64>,
        in_check: Option<&str>,
        when_hopeless: Option<&str>,
        shortest: bool,
        tsume_plies: bool,
    ) -> PyResult<Solution> {
        let settings = settings(depth, nodes, None, in_check, when_hopeless, &self.settings)?;
        let position = position.0.position()?;
        if !settings.in_check.searches(&position).map_err(Failure::usage)? {
            let message =
                "the side to move is in check, and in_check=\"skip\" excludes such positions";
            return Err(Failure::usage(message).into());
        }
        let mut idle_judge = match self.judge.try_lock() {
            Ok(idle_judge) => idle_judge,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let message =
                    "another thread is using this solver: use a separate solver in each thread";
                return Err(Failure::usage(message).into());
            }
        };
        let judge = idle_judge.take().map_or_else(|| new_judge(&self.settings), Ok)?;
        let mut judge = judge
            .within(settings.limits(), settings.in_check)
            .shortest(shortest)
            .tsume(tsume_plies);
        let started = Instant::now();
        let (mate_result, proof, is_shortest, judge) =
            interruptible_without_messages(py, |cancel| {
                let mate_result = judge.judge(&position, cancel);
                let proof = judge.proof(&position, mate_result.verdict, 0);
                let is_shortest = judge.is_shortest(&position);
                (mate_result, proof, is_shortest, judge)
            })?;
        let elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
        *idle_judge = Some(judge);
        let proof = proof.and_then(Result::ok);
        Ok(Solution { mate_result, proof, is_shortest, elapsed_ms })
    }

    fn __repr__(&self) -> String {
        let MateSettings { depth_plies, nodes, hash_mb, .. } = self.settings;
        format!("Solver({hash_mb}, depth={depth_plies}, nodes={nodes})")
    }
}

/// The verdict of a search, with the mating line, its length, the nodes and the proof.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Solution {
    mate_result: MateResult,
    proof: Option<ProofText>,
    is_shortest: Option<bool>,
    elapsed_ms: f64,
}

#[pymethods]
impl Solution {
    /// "win" if the side to move can force mate, "loss" if it is being mated, "no_mate" if neither is possible, or
    /// "unknown".
    #[getter]
    fn verdict(&self) -> &'static str {
        self.mate_result.verdict.word()
    }

    /// The stop reason of an unknown verdict: "nodes", "depth", "memory" or "cancelled". None for other verdicts.
    #[getter]
    fn stop(&self) -> Option<&'static str> {
        match self.mate_result.verdict {
            PositionVerdict::Unknown(stop) => Some(stop.word()),
            _ => None,
        }
    }

    /// The moves of the mate: the attacker plays the shortest known mate, the defender the longest defence. Empty if
    /// there is no mate.
    #[getter]
    fn line(&self) -> Vec<Move> {
        self.mate_result.line.iter().copied().map(Move).collect()
    }

    /// Number of plies of the mate. None if there is no mate.
    #[getter]
    fn plies(&self) -> Option<usize> {
        self.mate_result.verdict.is_mate().then_some(self.mate_result.line.len())
    }

    /// Number of plies by the rules of tsume problems, without futile interpositions. None if not requested.
    #[getter]
    fn tsume_plies(&self) -> Option<u16> {
        self.mate_result.tsume_plies
    }

    /// Whether the mate is proven to be the shortest. None if not requested.
    #[getter]
    fn is_shortest(&self) -> Option<bool> {
        self.is_shortest
    }

    /// Number of nodes: positions that the search entered by a move.
    #[getter]
    fn nodes(&self) -> u64 {
        self.mate_result.nodes
    }

    /// Duration of the search in milliseconds.
    #[getter]
    fn elapsed_ms(&self) -> f64 {
        self.elapsed_ms
    }

    /// The proof of the mate. None if there is no mate, or if the proof is too large to be written.
    #[getter]
    fn proof(&self) -> Option<Proof> {
        self.proof.clone().map(Proof)
    }

    fn __repr__(&self) -> String {
        let plies = self.plies().map_or(String::new(), |plies| format!(", plies={plies}"));
        format!("<kyokumen.Solution {}{plies}, nodes={}>", self.verdict(), self.nodes())
    }

    /// The verdict and the line for notebooks, with a diagram if there is a proof.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let line: Vec<_> = self.mate_result.line.iter().map(ToString::to_string).collect();
        let caption = escaped(py, &format!("{} {}", self.__repr__(), line.join(" ")))?;
        Ok(match &self.proof {
            Some(proof) => {
                let (root, first) = (proof.head().root.setup(), self.mate_result.line.first());
                figure(&svg(&root, None, first.copied(), shogi::Color::Black), &caption)
            }
            None => format!("<p>{caption}</p>"),
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Object<'py>, (Stored<'py>,))> {
        let restore = py.import("kyokumen._archive")?.getattr("restore_solution")?;
        let stop = self.stop().map(ToOwned::to_owned);
        let searched = (self.verdict().to_owned(), stop, self.line(), self.nodes());
        let proof = self.proof().map(|proof| proof.to_bytes(py));
        let measured = (self.tsume_plies(), self.is_shortest, self.elapsed_ms);
        Ok((restore, ((searched, measured, proof),)))
    }

    /// Makes a pickled solution.
    #[staticmethod]
    fn _restored(stored: Stored<'_>) -> Result<Self, Failure> {
        let ((verdict, stop, line, nodes), (tsume_plies, is_shortest, elapsed_ms), proof) = stored;
        let verdict = match &*verdict {
            "win" => PositionVerdict::Win,
            "loss" => PositionVerdict::Loss,
            "no_mate" => PositionVerdict::NoMate,
            _ => {
                let stops = [Stop::Nodes, Stop::Depth, Stop::Memory, Stop::Cancelled];
                let named = stops.into_iter().find(|known| Some(known.word()) == stop.as_deref());
                PositionVerdict::Unknown(named.unwrap_or(Stop::Nodes))
            }
        };
        let line = line.into_iter().map(|m| m.0).collect();
        let mate_result = MateResult { tsume_plies, ..MateResult::new(verdict, line, nodes) };
        let proof = proof.map(|bytes| Proof::from_bytes(bytes.as_bytes())).transpose()?;
        Ok(Self { mate_result, proof: proof.map(|proof| proof.0), is_shortest, elapsed_ms })
    }
}

/// A pickled solution.
type Stored<'py> = (
    (String, Option<String>, Vec<Move>, u64),
    (Option<u16>, Option<bool>, f64),
    Option<Bound<'py, PyBytes>>,
);

/// A proof of a mate. It has a move of the attacker for each position that the defender can reach. Each move shortens
/// the mate.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Proof(ProofText);

#[pymethods]
impl Proof {
    /// Reads the first proof from the bytes of a proof file, as written by `kyokumen solve --proof` or to_bytes. Does
    /// not check the proof; use `verify`.
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> Result<Self, Failure> {
        let proofs: Result<Vec<_>, _> = ProofReader::new(data).collect();
        let first = proofs.map_err(Failure::usage)?.into_iter().next();
        first.map(Self).ok_or_else(|| Failure::usage("the data contains no proof"))
    }

    /// The proof as the bytes of a proof file. `kyokumen verify --proof` can also check it.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut bytes = Vec::new();
        let mut file = ProofFile::start(&mut bytes);
        file.push(&self.0, &mut bytes);
        file.end(&mut bytes);
        PyBytes::new(py, &bytes)
    }

    /// Checks the proof with an independent, deliberately simple move generator. Every move of the attacker must be a
    /// legal check, every defence must have a reply, and every line must end with mate. Raises KyokumenError with the
    /// first error.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        let proof = &self.0;
        let checked = py.detach(|| {
            // A new pool, because the threads of a global pool would be missing after a fork.
            let pool = rayon::ThreadPoolBuilder::new().build();
            let pool = pool.map_err(|error| Failure::other(&error))?;
            pool.install(|| check(proof)).map_err(|error| Failure::other(&error))
        });
        Ok(checked?)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Object<'py>, (Bound<'py, PyBytes>,))> {
        let restore = py.import("kyokumen._archive")?.getattr("restore_proof")?;
        Ok((restore, (self.to_bytes(py),)))
    }

    /// The position at the root of the proof.
    #[getter]
    fn position(&self) -> Position {
        self.0.head().root.clone().into()
    }

    /// "win" if the side to move mates, "loss" if it is being mated.
    #[getter]
    fn verdict(&self) -> &'static str {
        match self.0.head().claim {
            ProofClaim::Win => "win",
            ProofClaim::Loss => "loss",
        }
    }

    /// Maximum number of plies of the mate.
    #[getter]
    fn plies(&self) -> u16 {
        self.0.head().plies
    }

    /// Number of steps: positions with a move of the attacker.
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

/// The number of a verdict in `kyokumen.Verdict`.
const fn number(verdict: Option<PositionVerdict>) -> i8 {
    match verdict {
        Some(PositionVerdict::Win) => 1,
        Some(PositionVerdict::Loss) => -1,
        Some(PositionVerdict::NoMate) => 0,
        Some(PositionVerdict::Unknown(_)) => 2,
        None => 3,
    }
}

/// Solves all positions of an archive, an array or a list on all threads. Equal positions are searched once.
///
/// Returns `kyokumen.Solutions`: verdicts [N] int8, with the values of `kyokumen.Verdict`; plies [N] int16, −1 if there
/// is no mate; nodes [N] uint64. `progress` is called from time to time with the number of finished positions.
#[pyfunction(signature = (records, *, threads = 0, depth = None, nodes = None, hash_mb = None, in_check = None, when_hopeless = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "each is a separate option")]
pub(crate) fn solve_many<'py>(
    py: Python<'py>,
    records: &Object<'py>,
    #[pyo3(from_py_with = number::threads)] threads: usize,
    #[pyo3(from_py_with = optional::depth)] depth: Option<u16>,
    #[pyo3(from_py_with = optional::nodes)] nodes: Option<u64>,
    #[pyo3(from_py_with = optional::hash_mb)] hash_mb: Option<usize>,
    in_check: Option<&str>,
    when_hopeless: Option<&str>,
    progress: Option<Object<'py>>,
) -> PyResult<Object<'py>> {
    const PROGRESS_INTERVAL: u64 = 256;
    /// Positions that a thread decodes as one job.
    const JOB_POSITIONS: usize = 1024;
    let default = MateSettings::default();
    let settings = settings(depth, nodes, hash_mb, in_check, when_hopeless, &default)?;
    let records = Records::of_positions(records)?;
    let records = records.bytes()?;
    let len = records.len();
    let positions = interruptible_without_messages(py, |cancel| {
        let jobs: Vec<_> = (0..len).step_by(JOB_POSITIONS).collect();
        let decode = |(): &mut (), first: usize| {
            let positions = (first..len.min(first + JOB_POSITIONS)).map(|i| records.position(i));
            positions.collect::<Result<Vec<_>, _>>()
        };
        let decoded = on_threads(thread_count(threads), jobs, cancel, || (), decode);
        decoded.into_iter().collect::<Result<Vec<_>, _>>()
    })??;
    let progress = progress.map(Bound::unbind);
    let (verdicts, plies, nodes) = interruptible(
        py,
        |cancel: &Arc<AtomicBool>, sender| {
            let (mut verdicts, mut plies) = (Vec::with_capacity(len), Vec::with_capacity(len));
            let mut nodes = Vec::with_capacity(len);
            let options = SolveOptions { cancel: Arc::clone(cancel), ..SolveOptions::default() };
            let inputs = positions.into_iter().flatten().enumerate().map(
                |(i, position)| -> PositionResult {
                    let location = RecordLocation { index: i as u64, spot: LineOrByte::Byte(0) };
                    Ok(Ok(InputPosition { location, position, label: None }))
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
                if (verdicts.len() as u64).is_multiple_of(PROGRESS_INTERVAL) {
                    // Sending fails if the call has ended.
                    let _ = sender.send(verdicts.len());
                }
                Ok(())
            };
            solve(inputs, &settings, &options, threads.min(MAX_THREADS), take)?;
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
