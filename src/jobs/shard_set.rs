//! The shards of one run. Checks that they are complete, belong together and match their manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::any_totals::AnyProgress;
use super::checkpoint::Checkpoint;
use super::identity::{Identity, IdentityDifference, RETRY_UNKNOWN};
use super::manifest::RunManifest;
use super::output_verification::{wrong_output, wrong_size};
use super::record_totals::RecordTotals;
use super::run_name::{CHECKPOINT_SUFFIX, LOCK_SUFFIX, RunName};
use crate::error::Error;
use crate::records::account::{InputEntry, MANIFEST_SUFFIX, OutputEntry};
use crate::records::format_name::FormatName;
use crate::records::output_kind::OutputKind;
use crate::records::shard::{Shard, missing};
use crate::storage::compression::Compression;
use crate::storage::lock::LockOwner;
use crate::storage::path_text::{path_of, text_of};
use crate::storage::quantity::quantity;
use crate::storage::{files, platform};

/// The shards of one run that have a manifest.
#[derive(Clone, Debug)]
pub struct ShardSet {
    /// Folder of the manifests.
    pub folder: PathBuf,
    /// Base name of all shards.
    pub stem: String,
    /// Number of shards of the run.
    pub count: u32,
    manifests: BTreeMap<u32, RunManifest>,
}

impl ShardSet {
    /// Finds the shards in a folder. If `stem` is given, only shards with this base name.
    ///
    /// # Errors
    /// [`Error`] if the folder contains no shards or the shards of several runs.
    pub fn in_folder(folder: &Path, stem: Option<&str>) -> Result<Self, Error> {
        let failed = |source| Error::io("read the folder", folder, source);
        let mut runs: BTreeMap<(String, u32), Vec<PathBuf>> = BTreeMap::new();
        for file in files::names_in(folder).map_err(failed)? {
            let path = folder.join(path_of(&file));
            let name = RunName::from_file_name(&file, MANIFEST_SUFFIX)
                .filter(|name| name.shard().is_some());
            let Some(name) = name else { continue };
            // An unreadable manifest is reported later, when it is checked.
            let name = RunManifest::read_unchecked(&path)
                .map_or(name.clone(), |manifest| manifest.named(&name));
            if name.shard().is_some() {
                runs.entry((name.stem, name.count)).or_default().push(path);
            }
        }
        if let Some(stem) = stem {
            let listed = listed(&runs);
            runs.retain(|(name, _), _| name == stem);
            if runs.is_empty() && !listed.is_empty() {
                return Err(Error::usage(format!(
                    "no finished shards named {stem} found in {}, only those of {listed}",
                    folder.display()
                )));
            }
        }
        let folder = folder.to_owned();
        let stems: BTreeSet<&String> = runs.keys().map(|(stem, _)| stem).collect();
        if let (Some(stem), 1, 2..) = (stems.first(), stems.len(), runs.len()) {
            let counts: Vec<String> = runs.keys().map(|(_, count)| count.to_string()).collect();
            return Err(Error::invalid(format!(
                "{} contains shards of several runs named {stem}, with {} shards; move the files of all runs but one to other folders",
                folder.display(),
                counts.join(" and ")
            )));
        }
        if runs.len() > 1 {
            return Err(Error::usage(format!(
                "{} contains the shards of several runs: {}; choose one with --name",
                folder.display(),
                listed(&runs)
            )));
        }
        let (_, paths) = runs.pop_first().ok_or_else(|| {
            Error::invalid(format!(
                "no finished shards found in {}; repeat the command of an unfinished run with --resume; a run without --shard needs no merge",
                folder.display()
            ))
        })?;
        let mut sets = Self::from_files(&paths)?;
        Ok(sets.remove(0))
    }

    /// Groups manifests by run.
    ///
    /// # Errors
    /// [`Error`] if a file cannot be read or is not a manifest.
    pub fn from_files(paths: &[PathBuf]) -> Result<Vec<Self>, Error> {
        let mut sets: Vec<Self> = Vec::new();
        for path in paths {
            let name = text_of(path.file_name().unwrap_or_default());
            let name = RunName::from_file_name(&name, MANIFEST_SUFFIX).ok_or_else(|| {
                Error::usage(format!(
                    "{} is not a manifest: its name does not end with {MANIFEST_SUFFIX}",
                    path.display()
                ))
            })?;
            let manifest = RunManifest::read_unchecked(path)?;
            let name = manifest.named(&name);
            let folder = platform::folder_of(path);
            let same = |set: &&mut Self| {
                set.folder == folder && set.stem == name.stem && set.count == name.count
            };
            match sets.iter_mut().find(same) {
                Some(set) => drop(set.manifests.insert(name.index, manifest)),
                None => sets.push(Self {
                    folder: folder.to_owned(),
                    stem: name.stem,
                    count: name.count,
                    manifests: BTreeMap::from([(name.index, manifest)]),
                }),
            }
        }
        Ok(sets)
    }

    /// The manifests, in the order of the shards.
    pub fn manifests(&self) -> impl Iterator<Item = &RunManifest> {
        self.manifests.values()
    }

    /// The names of the shards that have a manifest, in order.
    pub fn names(&self) -> impl Iterator<Item = RunName> {
        self.manifests.keys().map(|&index| self.name(index))
    }

    /// A set of manifests by shard number.
    pub(crate) fn from_manifests(
        folder: &Path,
        stem: &str,
        count: u32,
        manifests: BTreeMap<u32, RunManifest>,
    ) -> Self {
        Self { folder: folder.to_owned(), stem: stem.to_owned(), count, manifests }
    }

    /// The problems that prevent a merge, according to the manifests. Does not read the outputs.
    ///
    /// # Errors
    /// [`Error`] if the folder cannot be read.
    pub fn problems(&self) -> Result<Vec<Error>, Error> {
        let mut problems = self.contradictions();
        if self.manifests.contains_key(&0) {
            return Ok(problems);
        }
        problems.extend(self.missing()?);
        problems.extend(self.disagreements());
        if problems.is_empty() {
            problems.extend(self.unread_ends());
        }
        Ok(problems)
    }

    /// The manifests that contradict themselves.
    pub fn contradictions(&self) -> Vec<Error> {
        let problem = |(&index, manifest): (&u32, &RunManifest)| {
            let name = self.name(index);
            let why = manifest.check(Some(&name)).err()?;
            Some(Error::invalid(format!(
                "{} contradicts itself: {why}",
                self.path(&name, MANIFEST_SUFFIX).display()
            )))
        };
        self.manifests.iter().filter_map(problem).collect()
    }

    /// Reasons why the manifests do not belong to the same run or do not cover consecutive ranges.
    pub fn disagreements(&self) -> Vec<Error> {
        let different = self.different();
        if different.is_empty() { self.wrong_ranges() } else { different }
    }

    fn name(&self, index: u32) -> RunName {
        RunName { stem: self.stem.clone(), count: self.count, index }
    }

    fn path(&self, name: &RunName, suffix: &str) -> PathBuf {
        self.folder.join(path_of(&name.file(suffix)))
    }

    fn missing(&self) -> Result<Vec<Error>, Error> {
        let manifest = |shard: Shard| self.path(&self.name(shard.index()), MANIFEST_SUFFIX);
        let begun = self.begun()?;
        let unfinished = begun.iter().filter(|index| !self.manifests.contains_key(index));
        let unfinished = unfinished.filter_map(|&index| Shard::new(index, self.count));
        let unfinished = unfinished.map(|shard| {
            Error::invalid(format!(
                "shard {shard} is not finished: {} is missing",
                manifest(shard).display()
            ))
        });
        let present: BTreeSet<u32> = self.manifests.keys().chain(&begun).copied().collect();
        let missing = missing(present, self.count).into_iter();
        let missing = missing.map(|(first, last)| {
            let manifest = manifest(first);
            let manifest = manifest.display();
            Error::invalid(if first == last {
                format!("shard {first} is missing ({manifest})")
            } else {
                let first = first.index();
                format!("shards {first}-{last} are missing ({manifest} and following)")
            })
        });
        Ok(missing.chain(unfinished).collect())
    }

    /// Shards that have a lock or a checkpoint.
    fn begun(&self) -> Result<BTreeSet<u32>, Error> {
        if self.manifests.len() == self.count as usize {
            return Ok(BTreeSet::new());
        }
        let names = files::names_in(&self.folder)
            .map_err(|source| Error::io("read the folder", &self.folder, source))?;
        let suffixes = [CHECKPOINT_SUFFIX, LOCK_SUFFIX];
        let begun = names.iter().filter_map(|name| {
            let name = suffixes.iter().find_map(|suffix| RunName::from_file_name(name, suffix))?;
            let name = stated_run(&self.folder, name);
            let is_own = name.stem == self.stem && name.count == self.count && name.index > 0;
            is_own.then_some(name.index)
        });
        Ok(begun.collect())
    }

    /// Shards in order with their manifests.
    fn shards(&self) -> impl Iterator<Item = (Shard, &RunManifest)> {
        let shard = |(&index, manifest)| Some((Shard::new(index, self.count)?, manifest));
        self.manifests.iter().filter_map(shard)
    }

    fn different(&self) -> Vec<Error> {
        let mut shards = self.shards();
        let Some((first, first_manifest)) = shards.next() else { return Vec::new() };
        let expected = run_identity(first_manifest);
        let problem = |(shard, manifest): (Shard, &RunManifest)| {
            let mut identity = run_identity(manifest);
            for (input, first) in identity.inputs.iter_mut().zip(&expected.inputs) {
                // A copy on another machine can have another modification time. In another folder, a file of the same
                // name and size may be another file.
                if input.file == first.file || input.etag.is_some() {
                    input.modified_unix_ns = first.modified_unix_ns;
                }
            }
            let difference = expected.difference(&identity);
            let difference = difference.or_else(|| kind_difference(first_manifest, manifest))?;
            let IdentityDifference { what, was, is } = &difference;
            Some(Error::invalid(format!(
                "shard {shard} belongs to a different run: {what} is {is}, but {was} in shard {first}"
            )))
        };
        shards.filter_map(problem).collect()
    }

    /// Finds shards with a wrong number of records, and shards that do not begin where the previous shard ends. The
    /// second check needs the manifest of the previous shard.
    fn wrong_ranges(&self) -> Vec<Error> {
        let mut problems = Vec::new();
        let mut before: Option<(u32, &RecordTotals)> = None;
        let last =
            self.manifests.get(&self.count).and_then(|manifest| manifest.totals.as_records());
        let total = last
            .map(|last| last.inputs.iter().fold(0, |sum: u64, input| sum.saturating_add(input.to)));
        for (shard, manifest) in self.shards() {
            // Self-play shards have no input ranges. The check of each manifest compares its number of games with the
            // settings.
            let Some(totals) = manifest.totals.as_records() else { continue };
            let last = before.filter(|&(index, _)| index + 1 == shard.index());
            for (number, input) in totals.inputs.iter().enumerate() {
                let last = last.and_then(|(_, last)| last.inputs.get(number));
                let is_first = (shard.index() == 1).then_some((0, 0));
                let Some((to, end)) = last.map(|last| (last.to, last.end())).or(is_first) else {
                    continue;
                };
                let file = &input.identity.file;
                let misplaced = |unit, from: u64, expected: u64| {
                    Error::invalid(format!(
                        "shard {shard} begins at {unit} {from} of {file}, expected {expected} because shards are contiguous"
                    ))
                };
                if input.from != to {
                    problems.push(misplaced("record", input.from, to));
                } else if input.offset > end || (input.offset < end && input.begins_with_record()) {
                    problems.push(misplaced("byte", input.offset, end));
                }
            }
            let expected =
                total.map(|total| shard.range(total)).map(|range| range.end - range.start);
            let records = totals.counts.input;
            if let Some(expected) = expected.filter(|&expected| expected != records) {
                problems.push(Error::invalid(format!(
                    "shard {shard} has {}, expected {expected}",
                    quantity(records, "record")
                )));
            }
            before = Some((shard.index(), totals));
        }
        problems
    }

    /// Finds uncompressed inputs whose last bytes no shard has read. Empty if the run reached its limit of records.
    fn unread_ends(&self) -> Vec<Error> {
        let records = || {
            self.manifests
                .values()
                .filter_map(|manifest| Some((manifest, manifest.totals.as_records()?)))
        };
        let read =
            records().fold(0, |sum: u64, (_, totals)| sum.saturating_add(totals.counts.input));
        let limit =
            records().find_map(|(manifest, _)| manifest.run.settings.get("limit")?.as_u64());
        if limit == Some(read) {
            return Vec::new();
        }
        let mut ends: Vec<(&InputEntry, u64)> = Vec::new();
        for (_, totals) in records() {
            for (number, input) in totals.inputs.iter().enumerate() {
                let end = input.end();
                match ends.get_mut(number) {
                    Some((_, last)) => *last = end.max(*last),
                    None => ends.push((input, end)),
                }
            }
        }
        let problem = |(input, read): (&InputEntry, u64)| {
            let name = FormatName::from_file_name(&input.identity.file)?;
            let bytes =
                input.identity.file_bytes.filter(|_| name.compression == Compression::None)?;
            let file = input.identity.file.clone();
            (read < bytes).then(|| {
                Error::invalid(format!(
                    "the shards end at byte {read} of {file}, which has {bytes} bytes"
                ))
            })
        };
        ends.into_iter().filter_map(problem).collect()
    }

    /// Outputs that differ from their manifests. Reads the files. If `kind` is given, reads only the outputs of this
    /// kind, and compares the sizes of the others.
    pub fn wrong_outputs(&self, kind: Option<OutputKind>) -> Vec<Error> {
        // The outputs of a manifest that contradicts itself are not opened.
        let named = self.manifests.iter().map(|(&index, manifest)| (self.name(index), manifest));
        let sound = named.filter(|(name, manifest)| manifest.check(Some(name)).is_ok());
        let outputs = sound.flat_map(|(_, manifest)| &manifest.outputs);
        let wrong = |output: &OutputEntry| match kind {
            Some(kind) if kind != output.kind => wrong_size(&self.folder, output),
            _ => wrong_output(&self.folder, output),
        };
        outputs.filter_map(wrong).collect()
    }
}

/// The names of runs and their numbers of shards, as in `a (3 shards), b (10 shards)`.
fn listed(runs: &BTreeMap<(String, u32), Vec<PathBuf>>) -> String {
    let names = runs.keys().map(|(stem, count)| format!("{stem} ({})", quantity(*count, "shard")));
    names.collect::<Vec<_>>().join(", ")
}

/// Corrects the shard in a run's name to the one that its checkpoint, manifest or lock states. If none of them can be
/// read, the name is returned unchanged.
pub(super) fn stated_run(folder: &Path, name: RunName) -> RunName {
    if name.shard().is_none() {
        return name;
    }
    let path = |suffix| folder.join(path_of(&name.file(suffix)));
    if let Some(identity) = identity_in(&path(CHECKPOINT_SUFFIX)) {
        return name.stated(identity.run.shard.as_deref());
    }
    if let Ok(manifest) = RunManifest::read_unchecked(&path(MANIFEST_SUFFIX)) {
        return manifest.named(&name);
    }
    match LockOwner::read(&path(LOCK_SUFFIX)) {
        Some(owner) => name.stated(owner.shard.as_deref()),
        None => name,
    }
}

/// The identity in a checkpoint of any kind of run. `None` if the file cannot be read.
fn identity_in(checkpoint: &Path) -> Option<Identity> {
    Some(Checkpoint::<AnyProgress>::read(checkpoint).ok()??.identity)
}

/// The difference if one manifest counts games and the other counts records.
fn kind_difference(first: &RunManifest, other: &RunManifest) -> Option<IdentityDifference> {
    let (was, is) = (first.totals.kind(), other.totals.kind());
    let what = || "the counted unit".to_owned();
    (was != is).then(|| IdentityDifference { what: what(), was: was.into(), is: is.into() })
}

/// The identity that all shards of a run share.
fn run_identity(manifest: &RunManifest) -> Identity {
    let mut identity = manifest.identity();
    identity.run.shard = None;
    if let Some(parent) = identity.run.settings.get_mut(RETRY_UNKNOWN) {
        *parent = true.into();
    }
    identity
}
