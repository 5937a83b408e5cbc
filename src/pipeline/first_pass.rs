//! What an earlier run found out about its records, so that another run need search only the rest.
//!
//! The lists beside the outputs of the earlier run tell it: of the mates and of the unknown, each by its number.
//! Everything else that is searched had been proven to be no mate.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use thiserror::Error;

use super::checksum::Sum;
use super::files;
use super::judge::{Answer, Judgement};
use super::manifest::{InputAccount, Manifest, ManifestError, OutputAccount, Parent};
use super::platform;
use super::settings::Settings;
use super::shard_set::{Problem, wrong_output};
use super::source::Part;
use super::stream::Stream;
use crate::shogi::Move;

/// Why an earlier run cannot be built on.
#[derive(Debug, Error)]
pub enum FirstPassError {
    /// Its manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// It has no list of its mates, or of what was unknown.
    #[error("{} tells not which records were {what}: {why}", manifest.display())]
    NoList {
        /// Its manifest.
        manifest: PathBuf,
        /// What there is no list of.
        what: &'static str,
        /// Why there is none.
        why: &'static str,
    },
    /// A list is not as the manifest says.
    #[error("{0}")]
    Wrong(Problem),
    /// A list cannot be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The list.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A line of a list means nothing.
    #[error("{}, line {line}: {why}", path.display())]
    Line {
        /// The list.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// What must not change has changed.
    #[error("--{option} decides what was searched in the earlier run: it was {was}")]
    Settings {
        /// The option.
        option: String,
        /// Its value in the earlier run.
        was: Value,
    },
    /// An input is not what the earlier run read.
    #[error("{file} is not what the earlier run read: {what}")]
    Input {
        /// The input.
        file: String,
        /// What differs.
        what: &'static str,
    },
}

/// The answers of an earlier run.
#[derive(Debug)]
pub struct FirstPass {
    /// Its manifest, by which it is known.
    pub parent: Parent,
    manifest: Manifest,
    /// The records that were unknown, by input and number, in order.
    unknown: Vec<(usize, u64)>,
    /// The mates in the same way, each with the place of its line.
    mated: Vec<(usize, u64, LinePlace)>,
    mated_lines: (PathBuf, File),
}

#[derive(Clone, Copy, Debug)]
struct LinePlace {
    line: usize,
    offset: u64,
    bytes: usize,
}

/// What a line of either list says of its record.
#[derive(Deserialize)]
struct Whose {
    file: String,
    index: u64,
}

/// What else a line of the mates says.
#[derive(Deserialize)]
struct Mate {
    verdict: String,
    line: Vec<String>,
    nodes: u64,
}

impl FirstPassError {
    /// Whether another command line would help, as opposed to another state of the disk.
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::NoList { .. } | Self::Settings { .. })
    }
}

impl FirstPass {
    /// Reads what the run found out that has this manifest.
    ///
    /// # Errors
    /// [`FirstPassError`] if that is not known, or files are missing or changed.
    pub fn read(path: &Path) -> Result<Self, FirstPassError> {
        let failed = |source| FirstPassError::Io { path: path.to_owned(), source };
        if files::is_object(path) {
            let why =
                "the lists of an earlier run are read here and there: copy them, and it, to a disk";
            return Err(failed(io::Error::new(io::ErrorKind::Unsupported, why)));
        }
        let manifest = Manifest::read(path)?;
        let sha256 = File::open(path).and_then(Sum::of_reader).map_err(failed)?;
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let parent = Parent { file, sha256 };
        let folder = platform::folder_of(path);
        let list = |stream, what| {
            let why = if manifest.parents.is_empty() {
                "it was run with --mated drop or relabel, or by an older version"
            } else {
                "it is of shards that were joined; take those of the shards"
            };
            let output = manifest.outputs.iter().find(|output| output.stream == stream);
            let missing = || FirstPassError::NoList { manifest: path.to_owned(), what, why };
            checked(folder, output.ok_or_else(missing)?)
        };
        let mated = list(Stream::MatedLines, "mated")?;
        let unknown = list(Stream::UnknownLines, "unknown")?;
        let unknown = places(&unknown, &manifest)?;
        let places = places(&mated, &manifest)?;
        let file = File::open(&mated)
            .map_err(|source| FirstPassError::Io { path: mated.clone(), source })?;
        Ok(Self {
            parent,
            unknown: unknown.into_iter().map(|(part, index, _)| (part, index)).collect(),
            mated: places,
            mated_lines: (mated, file),
            manifest,
        })
    }

    /// The inputs of the run, as they were given.
    pub fn inputs(&self) -> Vec<PathBuf> {
        self.manifest.inputs.iter().map(|input| PathBuf::from(&input.file)).collect()
    }

    /// Its settings, under the long names of the options.
    pub const fn settings(&self) -> &Map<String, Value> {
        &self.manifest.settings
    }

    /// Which part of the inputs it read, as in `3/10`.
    pub fn shard(&self) -> Option<&str> {
        self.manifest.shard.as_deref()
    }

    /// Records whose search stopped before it knew.
    pub fn unknown(&self) -> u64 {
        self.unknown.len() as u64
    }

    /// Whether the same records are searched, and asked the same.
    pub(super) fn check_settings(&self, settings: &Settings) -> Result<(), FirstPassError> {
        let filters = serde_json::to_value(settings.filters).unwrap_or_default();
        let in_check = serde_json::to_value(settings.search.in_check).unwrap_or_default();
        let filters = filters.as_object().cloned().unwrap_or_default();
        for (option, is) in filters.into_iter().chain([("in-check".to_owned(), in_check)]) {
            let was = self.manifest.settings.get(&option).cloned().unwrap_or_default();
            if was != is {
                return Err(FirstPassError::Settings { option, was });
            }
        }
        Ok(())
    }

    /// Whether these parts are of the files that were read, as far as that shows without reading them.
    pub(super) fn check_inputs(&self, parts: &[Part]) -> Result<(), FirstPassError> {
        for (part, input) in parts.iter().zip(&self.manifest.inputs) {
            let differs = |what| FirstPassError::Input { file: input.file.clone(), what };
            if part.input.format.name() != input.format
                || part.input.dialect.name() != input.dialect
            {
                return Err(differs("its format or encoding of moves is another"));
            }
            let bytes = part.input.place.state().map(|state| state.bytes);
            if bytes != input.file_bytes {
                return Err(differs("its size is another"));
            }
        }
        Ok(())
    }

    /// Whether what was read is what the earlier run read, byte for byte.
    pub(super) fn check_read(&self, inputs: &[InputAccount]) -> Result<(), FirstPassError> {
        let same = |(now, before): &(&InputAccount, &InputAccount)| {
            (now.from, now.to, now.bytes, now.sha256)
                == (before.from, before.to, before.bytes, before.sha256)
        };
        let mut pairs = inputs.iter().zip(&self.manifest.inputs);
        match pairs.find(|pair| !same(pair)) {
            None => Ok(()),
            Some((input, _)) => {
                let what = "its bytes are others";
                Err(FirstPassError::Input { file: input.file.clone(), what })
            }
        }
    }

    /// What was found out about a record of an input; nothing if it was unknown.
    pub(super) fn judgement(
        &self,
        part: usize,
        index: u64,
    ) -> Option<Result<Judgement, FirstPassError>> {
        if self.unknown.binary_search(&(part, index)).is_ok() {
            return None;
        }
        let found =
            self.mated.binary_search_by_key(&(part, index), |&(part, index, _)| (part, index));
        match found {
            Ok(found) => Some(self.mate(self.mated[found].2)),
            Err(_) => Some(Ok(Judgement { answer: Answer::NoMate, line: Vec::new(), nodes: 0 })),
        }
    }

    fn mate(
        &self,
        LinePlace { line, offset, bytes }: LinePlace,
    ) -> Result<Judgement, FirstPassError> {
        let (path, file) = &self.mated_lines;
        let mut text = vec![0; bytes];
        platform::read_exact_at(file, &mut text, offset)
            .map_err(|source| FirstPassError::Io { path: path.clone(), source })?;
        let wrong =
            |why: &str| FirstPassError::Line { path: path.clone(), line, why: why.to_owned() };
        let mate: Mate = parse(&text).map_err(|why| wrong(&why))?;
        let answer =
            [Answer::Win, Answer::Loss].into_iter().find(|answer| answer.word() == mate.verdict);
        let answer = answer.ok_or_else(|| wrong("the verdict is no mate"))?;
        let line = mate.line.iter().map(|m| Move::from_usi(m)).collect::<Option<_>>();
        let line = line.ok_or_else(|| wrong("the line has words that are no moves"))?;
        Ok(Judgement { answer, line, nodes: mate.nodes })
    }
}

/// A list that is as its manifest says.
fn checked(folder: &Path, output: &OutputAccount) -> Result<PathBuf, FirstPassError> {
    match wrong_output(folder, output) {
        Some(problem) => Err(FirstPassError::Wrong(problem)),
        None => Ok(folder.join(&output.file)),
    }
}

/// Whose lines stand where in a list. They stand in the order of the inputs.
fn places(
    path: &Path,
    manifest: &Manifest,
) -> Result<Vec<(usize, u64, LinePlace)>, FirstPassError> {
    let failed = |source| FirstPassError::Io { path: path.to_owned(), source };
    let mut reader = BufReader::new(File::open(path).map_err(failed)?);
    let mut places: Vec<(usize, u64, LinePlace)> = Vec::new();
    let (mut text, mut offset, mut part) = (Vec::new(), 0, 0);
    for line in 1.. {
        text.clear();
        let bytes = reader.read_until(b'\n', &mut text).map_err(failed)?;
        if bytes == 0 {
            break;
        }
        let wrong = |why: String| FirstPassError::Line { path: path.to_owned(), line, why };
        let Whose { file, index } = parse(&text).map_err(wrong)?;
        let is_behind =
            |part| places.last().is_none_or(|&(last, at, _)| (last, at) < (part, index));
        let inputs = manifest.inputs.iter().enumerate().skip(part);
        part = inputs
            .filter(|(part, input)| input.file == file && is_behind(*part))
            .map(|(part, _)| part)
            .next()
            .ok_or_else(|| wrong(format!("record {index} of {file} is out of order")))?;
        places.push((part, index, LinePlace { line, offset, bytes }));
        offset += bytes as u64;
    }
    Ok(places)
}

fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    serde_json::from_slice(text).map_err(|error| error.to_string())
}
