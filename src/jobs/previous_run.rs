//! The verdicts of a previous run, so that only its unknown records are searched again.
//!
//! They are read from the lists next to its outputs. One list contains the mated records, the other the unknown
//! records, each with its record number. Every other record that was searched had the verdict `no_mate`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::identity::RETRY_UNKNOWN;
use super::manifest::ParentManifest;
use super::output_verification::wrong_output;
use super::record_totals::RecordManifest;
use super::run_name::RunName;
use super::settings::Settings;
use crate::error::Error;
use crate::format::move16::Dialect;
use crate::format::{Format, MAX_LINE_BYTES};
use crate::mate::judge::MateResult;
use crate::records::account::{InputEntry, OutputEntry};
use crate::records::format_name::FormatName;
use crate::records::output_kind::OutputKind;
use crate::records::position_verdict::PositionVerdict;
use crate::records::source::InputRange;
use crate::shogi::Move;
use crate::storage::checksum::Sha256Sum;
use crate::storage::path_text::{path_of, text_of};
use crate::storage::quantity::quantity;
use crate::storage::{files, platform};

/// The verdicts of a previous run.
#[derive(Debug)]
pub struct PreviousRun {
    /// Name and checksum of its manifest, which the new manifest refers to.
    pub parent: ParentManifest,
    manifest: RecordManifest,
    /// Input index and record number of each unknown record, in ascending order.
    unknown: Vec<(usize, u64)>,
    /// The same for each mated record, with the position of its line in the list.
    mated: Vec<(usize, u64, LineSpan)>,
    mated_list: (PathBuf, File),
    /// The manifest and the lists.
    files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug)]
struct LineSpan {
    line: usize,
    offset: u64,
    bytes: usize,
}

/// The record of a line, in either list.
#[derive(Deserialize)]
struct ListLine {
    file: String,
    index: u64,
}

/// The result in a line of the mated records.
#[derive(Deserialize)]
struct MatedListLine {
    verdict: String,
    line: Vec<String>,
    nodes: u64,
}

/// The value of an option, for an error message.
fn value_text(value: &Value) -> String {
    if value.is_null() { "not given".to_owned() } else { value.to_string() }
}

impl PreviousRun {
    /// Reads a run from its manifest and its lists.
    ///
    /// # Errors
    /// [`Error`] if the run has no such lists, or if files are missing or changed.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::io("read", path, source);
        if files::is_object(path) {
            let why = "the lists of a previous run need random access; copy the manifest and the lists to a local disk";
            return Err(failed(io::Error::new(io::ErrorKind::Unsupported, why)));
        }
        let manifest = RecordManifest::read(path)?;
        let sha256 = File::open(path).and_then(Sha256Sum::of_reader).map_err(failed)?;
        let file = text_of(path.file_name().unwrap_or_default());
        let parent = ParentManifest { file, sha256 };
        let folder = platform::folder_of(path);
        let list = |kind, what| {
            // `RecordManifest::read` refuses all other manifests without lists.
            let why = "it is the manifest of a merge; use the manifests of the shards";
            let output = manifest.outputs.iter().find(|output| output.kind == kind);
            let missing =
                || Error::usage(format!("{} has no list of {what} records: {why}", path.display()));
            checked_output(folder, output.ok_or_else(missing)?)
        };
        if let Some(file) = repeated_input(&manifest) {
            return Err(Error::usage(format!(
                "{} names the input {file} twice, so record numbers in its lists are ambiguous; repeat that run with each input once",
                path.display()
            )));
        }
        let mated_list = list(OutputKind::MatedLines, "mated")?;
        let unknown_list = list(OutputKind::UnknownLines, "unknown")?;
        let unknown = list_lines(&unknown_list, OutputKind::UnknownLines, &manifest)?;
        let mated = list_lines(&mated_list, OutputKind::MatedLines, &manifest)?;
        let file =
            File::open(&mated_list).map_err(|source| Error::io("read", &mated_list, source))?;
        Ok(Self {
            parent,
            unknown: unknown.into_iter().map(|(input, index, _)| (input, index)).collect(),
            mated,
            files: vec![path.to_owned(), unknown_list, mated_list.clone()],
            mated_list: (mated_list, file),
            manifest,
        })
    }

    /// The options of the run with this manifest, under their long names. Omits the shard and the number of threads.
    ///
    /// # Errors
    /// [`Error`] if the manifest cannot be read.
    pub fn options(path: &Path) -> Result<Map<String, Value>, Error> {
        let RecordManifest { run, totals, .. } = RecordManifest::read(path)?;
        let mut options = run.settings;
        options.remove(RETRY_UNKNOWN);
        options.remove("threads");
        let name = RunName::from_manifest_path(path);
        let name = name.map(|name| name.stated(run.shard.as_deref()).stem);
        let inputs = || totals.inputs.iter().map(|input| &input.identity);
        let format = common(inputs().map(|input| Format::from_name(&input.format))).flatten();
        let dialect = common(inputs().map(|input| Dialect::from_name(&input.dialect))).flatten();
        let others = [
            ("name", name),
            ("from", format.map(|format| FormatName::plain(format).to_string())),
            ("dialect", dialect.map(|dialect| dialect.name().to_owned())),
        ];
        let others = others.into_iter().filter_map(|(option, value)| Some((option, value?)));
        options.extend(others.map(|(option, value)| (option.to_owned(), value.into())));
        Ok(options)
    }

    /// The inputs of the run, as the user named them.
    pub fn inputs(&self) -> Vec<PathBuf> {
        self.manifest.totals.inputs.iter().map(|input| path_of(&input.identity.file)).collect()
    }

    /// The shard of the run, as in `3/10`.
    pub fn shard(&self) -> Option<&str> {
        self.manifest.run.shard.as_deref()
    }

    /// Number of records that the search could not decide.
    pub fn unknown(&self) -> u64 {
        self.unknown.len() as u64
    }

    /// Checks that filters, `--in-check` and `--limit` are the same, so that the same searches are made.
    pub(crate) fn check_settings(&self, settings: &Settings) -> Result<(), Error> {
        let filters = serde_json::to_value(settings.filters).unwrap_or_default();
        let in_check = serde_json::to_value(settings.search.in_check).unwrap_or_default();
        let filters = filters.as_object().cloned().unwrap_or_default();
        let limit = serde_json::to_value(settings.limit).unwrap_or_default();
        let others = [("in-check".to_owned(), in_check), ("limit".to_owned(), limit)];
        for (option, is) in filters.into_iter().chain(others) {
            let was = self.manifest.run.settings.get(&option).cloned().unwrap_or_default();
            if was != is {
                return Err(Error::usage(format!(
                    "--{option} must be as in the previous run, where it was {}",
                    value_text(&was)
                )));
            }
        }
        Ok(())
    }

    /// Checks that format, move encoding and size of the inputs are the same. Does not read the inputs.
    pub(crate) fn check_inputs(&self, ranges: &[InputRange]) -> Result<(), Error> {
        for (range, input) in ranges.iter().zip(&self.manifest.totals.inputs) {
            let differs = |what| different_input(input, what);
            if range.input.format.name() != input.identity.format
                || range.input.dialect.name() != input.identity.dialect
            {
                return Err(differs("its format or move encoding differs"));
            }
            let bytes = range.input.location.state().map(|state| state.bytes);
            if bytes != input.identity.file_bytes {
                return Err(differs("its size differs"));
            }
        }
        Ok(())
    }

    /// Checks that the new run has read the same bytes, and that it has kept all verdicts except unknown ones.
    pub(crate) fn check_run(&self, now: &RecordManifest) -> Result<(), Error> {
        let same = |(now, before): &(&InputEntry, &InputEntry)| {
            (now.from, now.to, now.bytes, now.sha256)
                == (before.from, before.to, before.bytes, before.sha256)
        };
        let mut pairs = now.totals.inputs.iter().zip(&self.manifest.totals.inputs);
        if let Some((input, _)) = pairs.find(|pair| !same(pair)) {
            return Err(different_input(input, "its bytes differ"));
        }
        let (now, before) = (&now.totals.counts.verdicts, &self.manifest.totals.counts.verdicts);
        let wrong =
            |what| Err(Error::invalid(format!("the verdicts contradict the previous run: {what}")));
        if now.win < before.win || now.loss < before.loss {
            return wrong("there are fewer mates");
        }
        if now.no_mate < before.no_mate || now.not_searched != before.not_searched {
            return wrong(
                "there are fewer positions without a mate, or a different number was not searched",
            );
        }
        let new_mates = now.win + now.loss - before.win - before.loss;
        let decided = new_mates + now.no_mate - before.no_mate;
        if decided + now.unknown.values().sum::<u64>() != self.unknown.len() as u64 {
            return wrong("the number of unknown records does not match");
        }
        Ok(())
    }

    /// The files that this type reads. The new run must not overwrite them.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The verdict on record `index` of the input with index `input`. `None` if it was unknown.
    pub(crate) fn mate_result(
        &self,
        input: usize,
        index: u64,
    ) -> Option<Result<MateResult, Error>> {
        if self.unknown.binary_search(&(input, index)).is_ok() {
            return None;
        }
        let found =
            self.mated.binary_search_by_key(&(input, index), |&(input, index, _)| (input, index));
        match found {
            Ok(found) => Some(self.mate(self.mated[found].2)),
            Err(_) => Some(Ok(MateResult::new(PositionVerdict::NoMate, Vec::new(), 0))),
        }
    }

    fn mate(&self, LineSpan { line, offset, bytes }: LineSpan) -> Result<MateResult, Error> {
        let (path, file) = &self.mated_list;
        let mut text = vec![0; bytes];
        platform::read_exact_at(file, &mut text, offset)
            .map_err(|source| Error::io("read", path, source))?;
        let wrong = |why: &str| wrong_line(path, line, why);
        let mate: MatedListLine = parse(&text).map_err(|why| wrong(&why))?;
        let verdict = [PositionVerdict::Win, PositionVerdict::Loss]
            .into_iter()
            .find(|verdict| verdict.word() == mate.verdict);
        let verdict = verdict.ok_or_else(|| wrong("the verdict must be win or loss"))?;
        let line = mate.line.iter().map(|m| Move::from_usi(m)).collect::<Option<_>>();
        let line = line.ok_or_else(|| wrong("the line contains an invalid move"))?;
        Ok(MateResult::new(verdict, line, mate.nodes))
    }
}

/// The common value of all items. `None` if they differ or there are none.
fn common<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// The name of an input that occurs twice.
fn repeated_input(manifest: &RecordManifest) -> Option<String> {
    let mut names: Vec<&str> =
        manifest.totals.inputs.iter().map(|input| &*input.identity.file).collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].to_owned())
}

/// The path of an output, after a check of its size and checksum.
fn checked_output(folder: &Path, output: &OutputEntry) -> Result<PathBuf, Error> {
    match wrong_output(folder, output) {
        Some(problem) => Err(problem),
        None => Ok(folder.join(path_of(&output.file))),
    }
}

/// Reads a list. Returns input index, record number and position of each line; they must be in ascending order.
fn list_lines(
    path: &Path,
    kind: OutputKind,
    manifest: &RecordManifest,
) -> Result<Vec<(usize, u64, LineSpan)>, Error> {
    let failed = |source| Error::io("read", path, source);
    let mut reader = BufReader::new(File::open(path).map_err(failed)?);
    let mut spans: Vec<(usize, u64, LineSpan)> = Vec::new();
    let (mut text, mut offset) = (Vec::new(), 0);
    for line in 1.. {
        text.clear();
        let bytes = reader.by_ref().take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut text);
        let bytes = bytes.map_err(failed)?;
        if bytes == 0 {
            break;
        }
        let wrong = |why: String| wrong_line(path, line, &why);
        if bytes == MAX_LINE_BYTES {
            return Err(wrong(format!("the line is longer than {MAX_LINE_BYTES} bytes")));
        }
        let ListLine { file, index } = parse(&text).map_err(wrong)?;
        let input = manifest.totals.inputs.iter().position(|input| input.identity.file == file);
        let is_in_order = |input| {
            spans.last().is_none_or(|&(last_input, last, _)| (last_input, last) < (input, index))
        };
        let input = input.filter(|&input| is_in_order(input));
        let input =
            input.ok_or_else(|| wrong(format!("record {index} of {file} is out of order")))?;
        let InputEntry { from, to, .. } = manifest.totals.inputs[input];
        if !(from..to).contains(&index) {
            return Err(wrong(format!(
                "record {index} of {file} is outside the range in the manifest, so the list is from another run"
            )));
        }
        spans.push((input, index, LineSpan { line, offset, bytes }));
        offset += bytes as u64;
    }
    let (lines, expected) =
        (spans.len() as u64, manifest.totals.records_of(kind, &manifest.run.command));
    if lines != expected {
        return Err(Error::invalid(format!(
            "{} has {}, but its manifest states {expected}",
            path.display(),
            quantity(lines, "line")
        )));
    }
    Ok(spans)
}

fn different_input(input: &InputEntry, what: &str) -> Error {
    let file = &input.identity.file;
    Error::changed(format!("{file} is not the input of the previous run: {what}")).in_file(file)
}

fn wrong_line(path: &Path, line: usize, why: &str) -> Error {
    let path = path.display();
    Error::invalid(format!("{path}, line {line}: {why}")).in_file(&path)
}

fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    serde_json::from_slice(text).map_err(|error| error.to_string())
}
