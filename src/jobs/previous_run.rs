//! The verdicts of a previous run, so that only its unknown records are searched again.
//!
//! They are read from the lists beside its outputs: mates and unknown records, each with its number.
//! Everything else that is searched had been proven to be no mate.

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

/// The answers of an earlier run.
#[derive(Debug)]
pub struct PreviousRun {
    /// Its manifest, by which it is known.
    pub parent: ParentManifest,
    manifest: RecordManifest,
    /// The records that were unknown, by input and number, in order.
    unknown: Vec<(usize, u64)>,
    /// The mates in the same way, each with the place of its line.
    mated: Vec<(usize, u64, LineSpan)>,
    mated_lines: (PathBuf, File),
    /// The manifest and the lists.
    files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug)]
struct LineSpan {
    line: usize,
    offset: u64,
    bytes: usize,
}

/// What a line of either list says of its record.
#[derive(Deserialize)]
struct ListLine {
    file: String,
    index: u64,
}

/// What else a line of the mates says.
#[derive(Deserialize)]
struct MatedListLine {
    verdict: String,
    line: Vec<String>,
    nodes: u64,
}

/// The value of an option as a message says it.
fn given(value: &Value) -> String {
    if value.is_null() { "not given".to_owned() } else { value.to_string() }
}

impl PreviousRun {
    /// Reads what the run found out that has this manifest.
    ///
    /// # Errors
    /// [`Error`] if that is not known, or files are missing or changed.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::io("read", path, source);
        if files::is_object(path) {
            let why =
                "the lists of an earlier run are read here and there: copy them, and it, to a disk";
            return Err(failed(io::Error::new(io::ErrorKind::Unsupported, why)));
        }
        let manifest = RecordManifest::read(path)?;
        let sha256 = File::open(path).and_then(Sha256Sum::of_reader).map_err(failed)?;
        let file = text_of(path.file_name().unwrap_or_default());
        let parent = ParentManifest { file, sha256 };
        let folder = platform::folder_of(path);
        let list = |kind, what| {
            // The check of a manifest leaves no other reason.
            let why = "it is of shards that were joined; take those of the shards";
            let output = manifest.outputs.iter().find(|output| output.kind == kind);
            let missing = || {
                Error::usage(format!(
                    "{} does not say which records were {what}: {why}",
                    path.display()
                ))
            };
            checked(folder, output.ok_or_else(missing)?)
        };
        if let Some(file) = same_name(&manifest) {
            return Err(Error::usage(format!(
                "{} names {file} twice: its lists do not say which of the two they speak of",
                path.display()
            )));
        }
        let mated = list(OutputKind::MatedLines, "mated")?;
        let unknown_list = list(OutputKind::UnknownLines, "unknown")?;
        let unknown = places(&unknown_list, OutputKind::UnknownLines, &manifest)?;
        let places = places(&mated, OutputKind::MatedLines, &manifest)?;
        let file = File::open(&mated).map_err(|source| Error::io("read", &mated, source))?;
        Ok(Self {
            parent,
            unknown: unknown.into_iter().map(|(part, index, _)| (part, index)).collect(),
            mated: places,
            files: vec![path.to_owned(), unknown_list, mated.clone()],
            mated_lines: (mated, file),
            manifest,
        })
    }

    /// The options of the run with this manifest under their long names, without the shard.
    ///
    /// # Errors
    /// [`Error`] if the manifest cannot be read.
    pub fn options(path: &Path) -> Result<Map<String, Value>, Error> {
        let RecordManifest { run, totals, .. } = RecordManifest::read(path)?;
        let mut options = run.settings;
        options.remove(RETRY_UNKNOWN);
        options.remove("threads");
        let name = RunName::of_manifest(path);
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

    /// The inputs of the run, as they were given.
    pub fn inputs(&self) -> Vec<PathBuf> {
        self.manifest.totals.inputs.iter().map(|input| path_of(&input.identity.file)).collect()
    }

    /// Which part of the inputs it read, as in `3/10`.
    pub fn shard(&self) -> Option<&str> {
        self.manifest.run.shard.as_deref()
    }

    /// Records whose search stopped before it knew.
    pub fn unknown(&self) -> u64 {
        self.unknown.len() as u64
    }

    /// Whether the same records are searched, and asked the same.
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
                    "--{option} decides what was searched in the earlier run: it was {}",
                    given(&was)
                )));
            }
        }
        Ok(())
    }

    /// Whether these parts are of the files that were read, as far as that shows without reading them.
    pub(crate) fn check_inputs(&self, parts: &[InputRange]) -> Result<(), Error> {
        for (part, input) in parts.iter().zip(&self.manifest.totals.inputs) {
            let differs = |what| other_input(input, what);
            if part.input.format.name() != input.identity.format
                || part.input.dialect.name() != input.identity.dialect
            {
                return Err(differs("its format or encoding of moves is another"));
            }
            let bytes = part.input.location.state().map(|state| state.bytes);
            if bytes != input.identity.file_bytes {
                return Err(differs("its size is another"));
            }
        }
        Ok(())
    }

    /// Whether what was read is what the earlier run read, byte for byte, and everything that it knew is still
    /// so.
    pub(crate) fn check_run(&self, now: &RecordManifest) -> Result<(), Error> {
        let same = |(now, before): &(&InputEntry, &InputEntry)| {
            (now.from, now.to, now.bytes, now.sha256)
                == (before.from, before.to, before.bytes, before.sha256)
        };
        let mut pairs = now.totals.inputs.iter().zip(&self.manifest.totals.inputs);
        if let Some((input, _)) = pairs.find(|pair| !same(pair)) {
            return Err(other_input(input, "its bytes are others"));
        }
        let (now, before) = (&now.totals.counts.verdicts, &self.manifest.totals.counts.verdicts);
        let wrong = |what| {
            Err(Error::invalid(format!(
                "the verdicts do not go with those of the earlier run: {what}"
            )))
        };
        if now.win < before.win || now.loss < before.loss {
            return wrong("there are fewer mates");
        }
        if now.no_mate < before.no_mate || now.not_searched != before.not_searched {
            return wrong("there are fewer positions without mate, or others were not searched");
        }
        let mates = now.win + now.loss - before.win - before.loss;
        let found_out = mates + now.no_mate - before.no_mate;
        if found_out + now.unknown.values().sum::<u64>() != self.unknown.len() as u64 {
            return wrong("others were unknown");
        }
        Ok(())
    }

    /// The files that it reads: none of them may be written.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// What was found out about a record of an input; nothing if it was unknown.
    pub(crate) fn mate_result(&self, part: usize, index: u64) -> Option<Result<MateResult, Error>> {
        if self.unknown.binary_search(&(part, index)).is_ok() {
            return None;
        }
        let found =
            self.mated.binary_search_by_key(&(part, index), |&(part, index, _)| (part, index));
        match found {
            Ok(found) => Some(self.mate(self.mated[found].2)),
            Err(_) => Some(Ok(MateResult::new(PositionVerdict::NoMate, Vec::new(), 0))),
        }
    }

    fn mate(&self, LineSpan { line, offset, bytes }: LineSpan) -> Result<MateResult, Error> {
        let (path, file) = &self.mated_lines;
        let mut text = vec![0; bytes];
        platform::read_exact_at(file, &mut text, offset)
            .map_err(|source| Error::io("read", path, source))?;
        let wrong = |why: &str| wrong_line(path, line, why);
        let mate: MatedListLine = parse(&text).map_err(|why| wrong(&why))?;
        let verdict = [PositionVerdict::Win, PositionVerdict::Loss]
            .into_iter()
            .find(|verdict| verdict.word() == mate.verdict);
        let verdict = verdict.ok_or_else(|| wrong("the verdict is no mate"))?;
        let line = mate.line.iter().map(|m| Move::from_usi(m)).collect::<Option<_>>();
        let line = line.ok_or_else(|| wrong("the line has words that are no moves"))?;
        Ok(MateResult::new(verdict, line, mate.nodes))
    }
}

/// What all have in common.
fn common<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// The name of an input that another one has, too.
fn same_name(manifest: &RecordManifest) -> Option<String> {
    let mut names: Vec<&str> =
        manifest.totals.inputs.iter().map(|input| &*input.identity.file).collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].to_owned())
}

/// A list that is as its manifest says.
fn checked(folder: &Path, output: &OutputEntry) -> Result<PathBuf, Error> {
    match wrong_output(folder, output) {
        Some(problem) => Err(problem),
        None => Ok(folder.join(path_of(&output.file))),
    }
}

/// Whose lines stand where in a list. They stand in the order of the inputs.
fn places(
    path: &Path,
    kind: OutputKind,
    manifest: &RecordManifest,
) -> Result<Vec<(usize, u64, LineSpan)>, Error> {
    let failed = |source| Error::io("read", path, source);
    let mut reader = BufReader::new(File::open(path).map_err(failed)?);
    let mut places: Vec<(usize, u64, LineSpan)> = Vec::new();
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
            return Err(wrong(format!("it has more than {MAX_LINE_BYTES} bytes")));
        }
        let ListLine { file, index } = parse(&text).map_err(wrong)?;
        let part = manifest.totals.inputs.iter().position(|input| input.identity.file == file);
        let is_behind =
            |part| places.last().is_none_or(|&(last, at, _)| (last, at) < (part, index));
        let part = part.filter(|&part| is_behind(part));
        let part =
            part.ok_or_else(|| wrong(format!("record {index} of {file} is out of order")))?;
        let InputEntry { from, to, .. } = manifest.totals.inputs[part];
        if !(from..to).contains(&index) {
            return Err(wrong(format!(
                "record {index} of {file} is not among those that were read"
            )));
        }
        places.push((part, index, LineSpan { line, offset, bytes }));
        offset += bytes as u64;
    }
    let (lines, expected) =
        (places.len() as u64, manifest.totals.records_of(kind, &manifest.run.command));
    if lines != expected {
        return Err(Error::invalid(format!(
            "{} has {}, its manifest says {expected}",
            path.display(),
            quantity(lines, "line")
        )));
    }
    Ok(places)
}

fn other_input(input: &InputEntry, what: &str) -> Error {
    let file = &input.identity.file;
    Error::changed(format!("{file} is not what the earlier run read: {what}")).in_file(file)
}

fn wrong_line(path: &Path, line: usize, why: &str) -> Error {
    let path = path.display();
    Error::invalid(format!("{path}, line {line}: {why}")).in_file(&path)
}

fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    serde_json::from_slice(text).map_err(|error| error.to_string())
}
