//! Batches: the records of one, as arrays.

use std::sync::Arc;

use half::f16;
use kyokumen::format::{Field, Format, RecordRef, value_of_eval};
use kyokumen::random::SplitMix64;
use kyokumen::shogi::{Move, Position, Setup};
use kyokumen_network::{
    BOARD, INPUT1_BYTES, INPUT1_PLANES, Input2, LABELS, NnueFeatures, move_label, write_input1,
    write_input1_bits, write_input2, write_input2_bits,
};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::chunks::DataSet;
use super::memory::{Pool, array};
use super::windows::{ChunkContent, Stretch};
use crate::arrays::as_records;
use crate::failure::Failure;
use crate::features::{Numbers, input2_of, nnue_named, points, write_nnue};

/// Whether left and right of the board are exchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mirror {
    Never,
    Always,
    /// Each record with a probability of ½.
    Random,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Making {
    features: Features,
    mirror: Mirror,
    scale: f32,
    policy: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Features {
    Dlshogi(Input2, Numbers),
    Nnue(NnueFeatures),
    Records,
}

/// The fields of a record that are used for training.
struct Example {
    setup: Setup,
    best_move: Option<Move>,
    candidates: Vec<(Move, u16)>,
    eval_cp: i16,
    result: Option<kyokumen::format::GameResult>,
}

impl Making {
    pub(super) fn new(
        features: &str,
        planes: usize,
        dtype: &str,
        mirror: Mirror,
        scale: f32,
        policy: bool,
    ) -> Result<Self, Failure> {
        let features = match features {
            "dlshogi" => Features::Dlshogi(input2_of(planes)?, Numbers::named(dtype)?),
            "records" => Features::Records,
            "halfkp" | "halfka_hm" => Features::Nnue(nnue_named(features)?),
            _ => {
                return Err(Failure::usage(format!(
                    "features are \"dlshogi\", \"halfkp\", \"halfka_hm\" or \"records\", not {features:?}"
                )));
            }
        };
        if features == Features::Records && mirror != Mirror::Never {
            return Err(Failure::usage(
                "records are handed on as they are, and cannot be mirrored",
            ));
        }
        Ok(Self { features, mirror, scale, policy })
    }

    /// Fails if the format lacks a field that the features need.
    pub(super) fn check(self, format: Format) -> Result<(), Failure> {
        let needed: &[Field] = match self.features {
            Features::Dlshogi(..) => &[Field::BestMove, Field::EvalCp, Field::Result],
            Features::Nnue(_) => &[Field::EvalCp, Field::Result],
            Features::Records if format.record_len().is_none() => {
                return Err(Failure::usage(format!(
                    "records of {format} have no one size, and no dtype"
                )));
            }
            Features::Records => &[],
        };
        match needed.iter().find(|&&field| !format.fields().contains(field)) {
            Some(field) => Err(Failure::usage(format!(
                "{format} records have no {field}: there is nothing to learn"
            ))),
            None => Ok(()),
        }
    }

    /// Bytes per record of the largest arrays of a batch.
    pub(super) const fn bytes(self) -> usize {
        let inputs = match self.features {
            Features::Dlshogi(kind, Numbers::Bits) => INPUT1_BYTES + kind.bytes(),
            Features::Dlshogi(kind, numbers) => {
                let number = if matches!(numbers, Numbers::F32) { 4 } else { 2 };
                number * BOARD * (INPUT1_PLANES + kind.planes())
            }
            Features::Nnue(kind) => 4 * 2 * kind.active(),
            Features::Records => 40,
        };
        inputs + if self.policy { 4 * LABELS } else { 0 }
    }

    pub(super) fn needs_one_format(self) -> bool {
        self.features == Features::Records
    }

    pub(super) fn make(
        self,
        data: &DataSet,
        pool: &Arc<Pool>,
        records: &[Stretch],
        seed: u64,
        epoch: u64,
    ) -> Result<Made, Failure> {
        let len = records.iter().map(|stretch| stretch.records().len()).sum();
        let mut made = Made::new(self, len, data.format(), pool);
        let mirror_seed = SplitMix64::nth_bits(SplitMix64::nth_bits(seed, 1), epoch);
        let gathered = gather(data, records);
        let mut bytes = &gathered[..];
        for (place, (chunk, record)) in records.iter().flat_map(Stretch::records).enumerate() {
            let file = data.file(chunk.file);
            let index = chunk.first + record as u64;
            let number = file.number(index);
            made.index.push(number);
            if self.features == Features::Records {
                continue;
            }
            let bad = |reason: &dyn ToString| {
                let byte = file.record_len().map_or(0, |len| index * len as u64);
                Failure::bad_record(Some(&file.input.name), index, byte, reason)
            };
            let example = match &chunk.content {
                ChunkContent::Bytes(_) => {
                    let (own, rest) = bytes.split_at(file.record_len().unwrap_or_default());
                    bytes = rest;
                    let (format, dialect) = (file.input.format, file.input.dialect);
                    let record = RecordRef::with_dialect(format, dialect, own);
                    record.and_then(|record| Example::of(&record)).map_err(|error| bad(&error))?
                }
                ChunkContent::Records(parsed) => {
                    let record = parsed[record].as_ref();
                    let record = record.ok_or_else(|| bad(&"no record"))?;
                    Example::of_record(record)
                }
            };
            let mirrored = match self.mirror {
                Mirror::Never => false,
                Mirror::Always => true,
                Mirror::Random => SplitMix64::nth_bits(mirror_seed, number) & 1 == 1,
            };
            let example = if mirrored { example.mirrored() } else { example };
            self.write(&example, place, &mut made).map_err(|error| bad(&error))?;
        }
        if let Inputs::Records(own, _) = &mut made.inputs {
            *own = gathered;
        }
        Ok(made)
    }

    fn write(self, example: &Example, place: usize, made: &mut Made) -> Result<(), String> {
        let position = Position::try_from(&example.setup).map_err(|error| error.to_string())?;
        match &mut made.inputs {
            Inputs::F32(first, second) => {
                write_planes(&position, made.input2, place, first, second);
            }
            Inputs::F16(first, second) => {
                write_planes(&position, made.input2, place, first, second);
            }
            Inputs::Bits(first, second) => {
                let width = made.input2.bytes();
                write_input1_bits(&position, &mut first[place * INPUT1_BYTES..][..INPUT1_BYTES]);
                write_input2_bits(&position, made.input2, &mut second[place * width..][..width]);
            }
            Inputs::Nnue(kind, active) => {
                let width = 2 * kind.active();
                let out = &mut active[place * width..][..width];
                write_nnue(*kind, &position, out).map_err(|error| error.to_string())?;
            }
            Inputs::Records(..) => {}
        }
        let mover = position.side_to_move();
        let label = example.best_move.map(|m| move_label(m, mover));
        made.moves.push(label.map_or(-1, i64::from));
        made.results.push(points(example.result, mover));
        made.values.push(value_of_eval(example.eval_cp, self.scale));
        made.scores.push(example.eval_cp);
        if let Some(policy) = &mut made.policy {
            let out = &mut policy[place * LABELS..][..LABELS];
            let visits: f32 = example.candidates.iter().map(|(_, visits)| f32::from(*visits)).sum();
            if visits > 0.0 {
                for &(m, tried) in &example.candidates {
                    out[usize::from(move_label(m, mover))] += f32::from(tried) / visits;
                }
            } else if let Some(label) = label {
                out[usize::from(label)] = 1.0;
            }
        }
        Ok(())
    }
}

/// Copies fixed-size records into one buffer. They are scattered over a window that no cache holds, and the processor
/// overlaps the waits for memory only if nothing else is done in between.
fn gather(data: &DataSet, records: &[Stretch]) -> Vec<u8> {
    let mut gathered = Vec::new();
    for (chunk, record) in records.iter().flat_map(Stretch::records) {
        if let ChunkContent::Bytes(content) = &chunk.content {
            let len = data.file(chunk.file).record_len().unwrap_or_default();
            gathered.extend_from_slice(&content[record * len..][..len]);
        }
    }
    gathered
}

fn write_planes<T: kyokumen_network::Element>(
    position: &Position,
    kind: Input2,
    place: usize,
    first: &mut [T],
    second: &mut [T],
) {
    let (one, other) = (INPUT1_PLANES * BOARD, kind.planes() * BOARD);
    write_input1(position, &mut first[place * one..][..one]);
    write_input2(position, kind, &mut second[place * other..][..other]);
}

impl Example {
    fn of(record: &RecordRef<'_>) -> Result<Self, kyokumen::format::DecodeError> {
        Ok(Self {
            setup: record.setup()?,
            best_move: record.best_move()?,
            candidates: Vec::new(),
            eval_cp: record.eval_cp()?.unwrap_or(0),
            result: record.result()?,
        })
    }

    fn of_record(record: &kyokumen::format::Record) -> Self {
        Self {
            setup: record.setup.clone(),
            best_move: record.best_move,
            candidates: record
                .candidates
                .iter()
                .map(|tried| (tried.best_move, tried.visits))
                .collect(),
            eval_cp: record.eval_cp.unwrap_or(0),
            result: record.result,
        }
    }

    fn mirrored(self) -> Self {
        Self {
            setup: self.setup.mirrored(),
            best_move: self.best_move.map(Move::mirrored),
            candidates: self
                .candidates
                .into_iter()
                .map(|(m, visits)| (m.mirrored(), visits))
                .collect(),
            ..self
        }
    }
}

pub(super) struct Made {
    records: usize,
    input2: Input2,
    inputs: Inputs,
    moves: Vec<i64>,
    results: Vec<f32>,
    values: Vec<f32>,
    scores: Vec<i16>,
    policy: Option<Vec<f32>>,
    index: Vec<u64>,
    pool: Arc<Pool>,
}

enum Inputs {
    F32(Vec<f32>, Vec<f32>),
    F16(Vec<f16>, Vec<f16>),
    Bits(Vec<u8>, Vec<u8>),
    Nnue(NnueFeatures, Vec<i32>),
    Records(Vec<u8>, Format),
}

impl Made {
    fn new(making: Making, records: usize, format: Format, pool: &Arc<Pool>) -> Self {
        let (mut input2, planes) = (Input2::Hands, records * INPUT1_PLANES * BOARD);
        let inputs = match making.features {
            Features::Dlshogi(kind, numbers) => {
                input2 = kind;
                let second = records * kind.planes() * BOARD;
                match numbers {
                    Numbers::F32 => Inputs::F32(pool.take(planes), pool.take(second)),
                    Numbers::F16 => Inputs::F16(pool.take(planes), pool.take(second)),
                    Numbers::Bits => Inputs::Bits(
                        pool.take(records * INPUT1_BYTES),
                        pool.take(records * kind.bytes()),
                    ),
                }
            }
            Features::Nnue(kind) => Inputs::Nnue(kind, pool.take(records * 2 * kind.active())),
            Features::Records => Inputs::Records(Vec::new(), format),
        };
        Self {
            records,
            input2,
            inputs,
            moves: Vec::with_capacity(records),
            results: Vec::with_capacity(records),
            values: Vec::with_capacity(records),
            scores: Vec::with_capacity(records),
            policy: making.policy.then(|| vec![0.0; records * LABELS]),
            index: Vec::with_capacity(records),
            pool: Arc::clone(pool),
        }
    }

    /// Arrays by name. They take over the memory.
    pub(super) fn into_arrays(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let (n, planes) = (self.records, self.input2.planes());
        let dict = PyDict::new(py);
        let of_records = matches!(self.inputs, Inputs::Records(..));
        let pool = self.pool;
        match self.inputs {
            Inputs::F32(first, second) => {
                dict.set_item("features1", array(py, first, &[n, INPUT1_PLANES, 9, 9], &pool)?)?;
                dict.set_item("features2", array(py, second, &[n, planes, 9, 9], &pool)?)?;
            }
            Inputs::F16(first, second) => {
                dict.set_item("features1", array(py, first, &[n, INPUT1_PLANES, 9, 9], &pool)?)?;
                dict.set_item("features2", array(py, second, &[n, planes, 9, 9], &pool)?)?;
            }
            Inputs::Bits(first, second) => {
                dict.set_item("features1", array(py, first, &[n, INPUT1_BYTES], &pool)?)?;
                dict.set_item("features2", array(py, second, &[n, self.input2.bytes()], &pool)?)?;
            }
            Inputs::Nnue(kind, active) => {
                dict.set_item("active", array(py, active, &[n, 2, kind.active()], &pool)?)?;
            }
            Inputs::Records(bytes, format) => {
                let bytes = PyArray1::from_vec(py, bytes);
                dict.set_item("records", as_records(&bytes, format)?)?;
            }
        }
        if !of_records {
            dict.set_item("move", PyArray1::from_vec(py, self.moves))?;
            dict.set_item("result", PyArray1::from_vec(py, self.results))?;
            dict.set_item("value", PyArray1::from_vec(py, self.values))?;
            dict.set_item("score", PyArray1::from_vec(py, self.scores))?;
        }
        if let Some(policy) = self.policy {
            dict.set_item("policy", shaped(py, policy, &[n, LABELS])?)?;
        }
        dict.set_item("index", PyArray1::from_vec(py, self.index))?;
        Ok(dict)
    }
}

fn shaped<'py, T: Element>(
    py: Python<'py>,
    numbers: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let array: Bound<'py, numpy::PyArray<T, numpy::IxDyn>> =
        PyArray1::from_vec(py, numbers).reshape(shape.to_vec())?;
    Ok(array.into_any())
}
