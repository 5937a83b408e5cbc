//! Makes the arrays of a batch from its records.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use kyokumen::format::{Field, Format, Record, RecordRef};
use kyokumen::random::SplitMix64;
use kyokumen::shogi::Position;
use kyokumen_network::{LABELS, move_label};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use zerocopy::IntoBytes;

use super::Options;
use super::segments::DataSet;
use super::windows::{SegmentContent, WindowRecords};
use crate::arrays::{array_over, as_rows, dtype};
use crate::failure::Failure;
use crate::features::{Features, LABELLED, check_fields, labels, nnue_named, write_labels};
use crate::interrupt::lock;
use crate::rows::{Layout, Rows};

/// The policy for exchanging left and right of the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mirror {
    Never,
    Always,
    /// Each record with a probability of ½.
    Random,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct BatchMaker {
    /// None for unchanged records.
    features: Option<Features>,
    mirror: Mirror,
    scale: f32,
    policy: bool,
}

impl BatchMaker {
    pub(super) fn new(options: &Options, mirror: Mirror) -> Result<Self, Failure> {
        let &Options { planes, scale, policy, .. } = options;
        let features = match &*options.features {
            "dlshogi" => Some(Features::dlshogi(planes, &options.dtype)?),
            "records" => None,
            name => Some(nnue_named(name).ok_or_else(|| {
                Failure::usage(format!(
                    "features must be \"dlshogi\", \"halfkp\", \"halfka_hm\" or \"records\", not {name:?}"
                ))
            })?),
        };
        if features.is_none() && (mirror != Mirror::Never || policy) {
            return Err(Failure::usage(
                "features=\"records\" returns unchanged records: it cannot be combined with mirror or policy",
            ));
        }
        Ok(Self { features, mirror, scale, policy })
    }

    /// Checks that the format has the fields that the features need.
    pub(super) fn check(self, format: Format) -> Result<(), Failure> {
        match self.features {
            Some(Features::Dlshogi(..)) => check_fields(format, &LABELLED),
            Some(Features::Nnue(_)) => check_fields(format, &[Field::EvalCp, Field::Result]),
            None if format.record_len().is_none() => {
                let message =
                    format!("{format} has variable-length records and therefore no dtype");
                Err(Failure::usage(message))
            }
            None => Ok(()),
        }
    }

    /// The arrays of a batch. `format` is the format of the first file.
    fn layouts(self, format: Format) -> Vec<Layout> {
        let mut layouts = match self.features {
            Some(features) => features.layouts(),
            None => vec![Layout::new("records", "u1", &[format.record_len().unwrap_or(1)])],
        };
        if self.features.is_some() {
            layouts.extend(labels());
            layouts.push(Layout::new("score", "i2", &[]));
        }
        if self.policy {
            layouts.push(Layout::new("policy", "f4", &[LABELS]));
        }
        layouts.push(Layout::new("index", "u8", &[]));
        layouts
    }

    /// Bytes of all arrays per record.
    pub(super) fn bytes(self, format: Format) -> usize {
        self.layouts(format).iter().map(Layout::bytes).sum()
    }

    pub(super) const fn needs_one_format(self) -> bool {
        self.features.is_none()
    }

    pub(super) fn make(
        self,
        data: &DataSet,
        pool: &Arc<Pool>,
        records: &[WindowRecords],
        seed: u64,
        epoch: u64,
    ) -> Result<MadeBatch, Failure> {
        let len = records.iter().map(|part| part.records().len()).sum();
        let (format, layouts) = (data.format(), self.layouts(data.format()));
        let mut numbers: Vec<_> =
            layouts.iter().map(|layout| pool.take(len * layout.bytes())).collect();
        let bytes = numbers.iter_mut().zip(&layouts).map(|(numbers, layout)| {
            let width = layout.bytes();
            (&mut numbers.as_mut_bytes()[..len * width], width)
        });
        let mut rows = Rows::new(bytes.collect());
        let mirror_seed = SplitMix64::nth_bits(SplitMix64::nth_bits(seed, 1), epoch);
        let gathered = gather(data, records);
        let mut bytes = &gathered[..];
        let mut taken = records.iter().flat_map(WindowRecords::records);
        rows.each(|_, rows| {
            let Some((segment, record)) = taken.next() else { return Ok(()) };
            let file = data.file(segment.file);
            let index = segment.first + record as u64;
            let number = file.number(index);
            rows.set(layouts.len() - 1, number);
            let bad = |reason: &dyn ToString| file.bad(index, reason);
            let decoded = match &segment.content {
                SegmentContent::Bytes(_) => {
                    let (own, rest) = bytes.split_at(file.record_len().unwrap_or_default());
                    bytes = rest;
                    if self.features.is_none() {
                        rows.numbers(0).copy_from_slice(own);
                        return Ok(());
                    }
                    let (format, dialect) = (file.input.format, file.input.dialect);
                    let record = RecordRef::with_dialect(format, dialect, own);
                    Cow::Owned(record.and_then(|it| it.record()).map_err(|error| bad(&error))?)
                }
                SegmentContent::Records(parsed) => {
                    Cow::Borrowed(parsed[record].as_ref().ok_or_else(|| bad(&"no record"))?)
                }
            };
            let mirrored = match self.mirror {
                Mirror::Never => false,
                Mirror::Always => true,
                Mirror::Random => SplitMix64::nth_bits(mirror_seed, number) & 1 == 1,
            };
            let decoded =
                if mirrored { Cow::Owned(decoded.into_owned().mirrored()) } else { decoded };
            self.write(&decoded, rows).map_err(|error| bad(&error))
        })?;
        Ok(MadeBatch { len, format, layouts, numbers, pool: Arc::clone(pool) })
    }

    fn write(self, record: &Record, rows: &mut Rows<'_>) -> Result<(), String> {
        let position = Position::try_from(&record.setup).map_err(|error| error.to_string())?;
        let Some(features) = self.features else { return Ok(()) };
        features.write(&position, rows).map_err(|error| error.to_string())?;
        let first = if matches!(features, Features::Dlshogi(..)) { 2 } else { 1 };
        write_labels(record, self.scale, rows, first);
        rows.set(first + 3, record.eval_cp.unwrap_or(0));
        if self.policy {
            write_policy(record, rows.numbers(first + 4));
        }
        Ok(())
    }
}

/// Writes the visits of a search as probabilities. Without visits, the stored move has probability 1.
fn write_policy(record: &Record, out: &mut [f32]) {
    out.fill(0.0);
    let label = |m| usize::from(move_label(m, record.setup.side_to_move()));
    let visits: f32 = record.candidates.iter().map(|candidate| f32::from(candidate.visits)).sum();
    if visits > 0.0 {
        for candidate in &record.candidates {
            out[label(candidate.best_move)] += f32::from(candidate.visits) / visits;
        }
    } else if let Some(m) = record.best_move {
        out[label(m)] = 1.0;
    }
}

/// Copies fixed-size records into one buffer before they are decoded. The records are scattered over a window that is
/// larger than any cache. The processor overlaps the memory accesses only if no other work is between them.
fn gather(data: &DataSet, records: &[WindowRecords]) -> Vec<u8> {
    let mut gathered = Vec::new();
    for (segment, record) in records.iter().flat_map(WindowRecords::records) {
        if let SegmentContent::Bytes(content) = &segment.content {
            let len = data.file(segment.file).record_len().unwrap_or_default();
            gathered.extend_from_slice(&content[record * len..][..len]);
        }
    }
    gathered
}

pub(super) struct MadeBatch {
    len: usize,
    /// Format of the first file.
    format: Format,
    layouts: Vec<Layout>,
    numbers: Vec<Vec<u64>>,
    pool: Arc<Pool>,
}

impl MadeBatch {
    /// Returns the arrays by name. They take over the memory.
    pub(super) fn into_arrays(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        for (layout, numbers) in self.layouts.iter().zip(self.numbers) {
            let memory = Bound::new(py, Memory { numbers, pool: Arc::clone(&self.pool) })?;
            let bytes = &memory.get().numbers.as_bytes()[..self.len * layout.bytes()];
            let bytes = array_over(bytes, memory.clone().into_any());
            let array = if layout.name == "records" {
                as_rows(&bytes, dtype(self.format)?)?
            } else {
                let numbers = bytes.call_method1("view", (layout.dtype,))?;
                numbers.call_method1("reshape", (layout.shape(self.len),))?
            };
            dict.set_item(layout.name, array)?;
        }
        Ok(dict)
    }
}

/// Memory of batches, reused after the arrays of a batch are dropped. The system clears new memory page by page, which
/// would take longer than writing the batch.
#[derive(Default)]
pub(super) struct Pool(Mutex<Vec<Vec<u64>>>);

impl Pool {
    /// Memory for a number of bytes, with unspecified values.
    fn take(&self, bytes: usize) -> Vec<u64> {
        let len = bytes.div_ceil(size_of::<u64>());
        let mut free = lock(&self.0);
        let place = free.iter().position(|numbers| numbers.len() == len);
        let reused = place.map(|place| free.swap_remove(place));
        drop(free);
        reused.unwrap_or_else(|| vec![0; len])
    }
}

/// The memory of an array. Dropping it returns the memory to the pool.
#[pyclass(frozen, module = "kyokumen")]
struct Memory {
    numbers: Vec<u64>,
    pool: Arc<Pool>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        /// Maximum number of arrays kept for reuse.
        const MAX_FREE: usize = 128;
        let mut free = lock(&self.pool.0);
        if free.len() < MAX_FREE {
            free.push(std::mem::take(&mut self.numbers));
        }
    }
}
