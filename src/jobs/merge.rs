//! Merges the outputs of shards into one file, after checking all manifests and outputs.
//!
//! The result is byte-identical to the output of a run without shards, including the frames of compressed files.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::manifest::{ParentManifest, RunManifest};
use super::run_name::RunName;
use super::shard_set::ShardSet;
use crate::engine::messages::shortened;
use crate::engine::progress::Progress;
use crate::error::Error;
use crate::format::Format;
use crate::records::account::{MANIFEST_SUFFIX, OutputEntry, output_entry};
use crate::records::claims::{FileClaim, FileClaims, check_absence, is_pipe};
use crate::records::counts::Counts;
use crate::records::format_name::{FormatName, without_compression};
use crate::records::output_kind::{EncodedRecords, OutputKind};
use crate::records::sink::{OutputPlan, Sinks};
use crate::records::source::{Input, InputRange, Source};
use crate::storage::checksum::Sha256Sum;
use crate::storage::compression::Compression;
use crate::storage::files;
use crate::storage::path_text::{path_of, text_of};
use crate::storage::table::TableFormat;

/// Records per block read from a compressed file.
const BLOCK_RECORDS: u64 = 1 << 12;

/// Bytes per read and write of an uncompressed file.
const CHUNK_BYTES: usize = 1 << 20;

/// The parameters of a merge, not yet checked.
#[derive(Clone, Debug)]
pub struct MergeRequest {
    /// Folder of the shards.
    pub folder: PathBuf,
    /// Base name of the run. Needed if the folder contains several runs.
    pub name: Option<String>,
    /// The output to merge. `None` for the kept records; of a split position for the proofs.
    pub kind: Option<OutputKind>,
    /// The file to write.
    pub output: PathBuf,
    /// Fails if the shards have another format. `None` accepts any.
    pub to: Option<FormatName>,
    /// Whether existing files may be replaced.
    pub force: bool,
}

/// A checked merge.
#[derive(Clone, Debug)]
pub struct MergePlan {
    set: ShardSet,
    kind: OutputKind,
    /// The outputs to merge, in the order of the shards.
    shard_outputs: Vec<OutputEntry>,
    /// Format of the records. `None` for outputs without records, such as lists and quarantined bytes.
    format: Option<FormatName>,
    output: PathBuf,
    is_pipe: bool,
    /// `None` if the output is a pipe.
    manifest: Option<PathBuf>,
}

/// Checks that a file name and `--to` state the format and compression of the shards, which a merge does not change.
fn check_format(
    shards: Option<FormatName>,
    to: Option<FormatName>,
    name: &str,
) -> Result<(), Error> {
    let compression = shards.map_or(Compression::None, |shards| shards.compression);
    let named = without_compression(name).1;
    let requested = match (to, FormatName::from_file_name(name)) {
        (Some(to), _) if Some(to) != shards => format!("--to means {to}"),
        (_, Some(format)) if shards.is_some_and(|shards| shards != format) => {
            format!("the extension of {name} means {format}")
        }
        // A name without a compression, such as that of a pipe, states nothing.
        _ if named != Compression::None && named != compression => {
            format!("the extension of {name} means another compression")
        }
        _ => return Ok(()),
    };
    let shards = shards.map_or("lines of text".to_owned(), |shards| shards.to_string());
    Err(Error::usage(format!(
        "the shards are {shards}, but {requested}; merge to {shards} and convert the result"
    )))
}

impl MergePlan {
    /// Checks the request and the manifests of the shards. Writes nothing.
    ///
    /// # Errors
    /// [`Error`]. If shards are missing or do not belong together, it lists all problems.
    pub fn new(request: MergeRequest) -> Result<Self, Error> {
        let MergeRequest { folder, name, kind, output, to, force } = request;
        let kind = kind.unwrap_or(OutputKind::Kept);
        let set = ShardSet::in_folder(&folder, name.as_deref())?;
        let problems = set.problems()?;
        if !problems.is_empty() {
            return Err(cannot_merge(&folder, &problems));
        }
        let all_outputs = || set.manifests().flat_map(|manifest| &manifest.outputs);
        let shard_outputs: Vec<_> =
            all_outputs().filter(|output| output.kind == kind).cloned().collect();
        let first = shard_outputs.first().ok_or_else(|| {
            let kinds: BTreeSet<_> = all_outputs().map(|output| output.kind.to_string()).collect();
            let kinds = kinds.into_iter().collect::<Vec<_>>().join(" or ");
            Error::usage(format!("the shards have no output {kind}; choose {kinds} with --stream"))
        })?;
        if let Some(format) =
            TableFormat::of_columns(&first.file).filter(|_| kind == OutputKind::Rows)
        {
            return Err(Error::usage(format!(
                "{format} files cannot be merged, because each ends with a list of its columns; join them when you read them"
            )));
        }
        let format =
            if kind.holds_records() { FormatName::from_file_name(&first.file) } else { None };
        let name = text_of(output.file_name().unwrap_or_default());
        check_format(format, to, &name)?;
        let is_pipe = is_pipe(&output)?;
        let manifest =
            (!is_pipe).then(|| output.with_file_name(path_of(&format!("{name}{MANIFEST_SUFFIX}"))));
        if !force && !is_pipe {
            check_absence([&output].into_iter().chain(&manifest))?;
        }
        // Missing files are reported with the other errors of the outputs.
        let paths = shard_outputs.iter().map(|output| folder.join(path_of(&output.file)));
        let paths = paths.filter(|path| files::is_object(path) || path.exists());
        let any_format = format.unwrap_or(FormatName::plain(Format::Hcp));
        let inputs = paths.map(|path| Input::named(&path, any_format));
        let manifests = set.names().map(|name| folder.join(path_of(&name.file(MANIFEST_SUFFIX))));
        let claims = FileClaims::reading(&inputs.collect::<Vec<_>>())?;
        let mut claims = claims.and_reading(manifests);
        claims.write(
            manifest.iter().map(FileClaim::file).chain([FileClaim::file_or_pipe(&output)]),
        )?;
        Ok(Self { set, kind, shard_outputs, format, output, is_pipe, manifest })
    }

    /// The command that wrote the shards, such as `filter`.
    pub fn command(&self) -> &str {
        self.set.manifests().next().map_or("", |manifest| &manifest.run.command)
    }

    /// Number of records in all shards.
    pub fn records(&self) -> u64 {
        self.shard_outputs.iter().map(|output| output.records).sum()
    }

    fn compression(&self) -> Compression {
        self.format.map_or(Compression::None, |format| format.compression)
    }

    fn check_outputs(&self) -> Result<(), Error> {
        let problems = self.set.wrong_outputs(Some(self.kind));
        if problems.is_empty() {
            return Ok(());
        }
        Err(cannot_merge(&self.set.folder, &problems))
    }
}

/// An error that lists the problems, each on its own line.
pub(super) fn cannot_merge(folder: &Path, problems: &[Error]) -> Error {
    let problems: String =
        shortened(problems).iter().flat_map(|problem| ["\n  ", problem]).collect();
    Error::invalid(format!("the shards in {} cannot be merged:{problems}", folder.display()))
}

/// Merges the outputs of the shards in order. The output gets its final name only after everything has succeeded.
///
/// # Errors
/// [`Error`]. Unfinished outputs are removed.
pub fn merge(
    plan: &MergePlan,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<RunManifest, Error> {
    let started = Instant::now();
    plan.check_outputs()?;
    let header = plan.format.map_or(&b""[..], |format| format.format.header());
    let output = OutputPlan {
        compression: plan.compression(),
        header: if plan.compression() == Compression::None { b"" } else { header },
        // If the first shards are empty, the sink removes the separator at the start of the next one.
        separator: plan.format.map_or(b"", |format| format.format.separator()),
        is_pipe: plan.is_pipe,
        ..OutputPlan::plain(plan.kind, plan.output.clone())
    };
    let sinks = Sinks::create_with(&[output], true)?;
    let mut copier = Copier { plan, sinks, progress, cancel, done: Counts::default() };
    for index in 0..plan.shard_outputs.len() {
        match plan.compression() {
            Compression::None => copier.bytes(index)?,
            _ => copier.records(index, header)?,
        }
    }
    let Copier { sinks, done, .. } = copier;
    let finished = sinks.finish()?;
    let written = finished
        .written()
        .map(|written| OutputEntry { records: plan.records(), ..output_entry(written) });
    let manifest = merged_manifest(plan, written.collect(), started)?;
    manifest.check_balance().map_err(Error::fault)?;
    let committed = match &plan.manifest {
        Some(path) => finished.commit_with(path, &manifest.to_json()),
        None => finished.commit(),
    };
    committed?;
    progress.finish(&done);
    Ok(manifest)
}

struct Copier<'a> {
    plan: &'a MergePlan,
    sinks: Sinks,
    progress: &'a mut Progress,
    cancel: &'a AtomicBool,
    /// The progress to show.
    done: Counts,
}

impl Copier<'_> {
    /// Copies the bytes of an uncompressed file.
    fn bytes(&mut self, index: usize) -> Result<(), Error> {
        let (entry, before) = (&self.plan.shard_outputs[index], self.done.input);
        let path = self.plan.set.folder.join(path_of(&entry.file));
        let failed = |verb, source| Error::io(verb, &path, source);
        let mut file = files::open(&path).map_err(|source| failed("open", source))?;
        let mut copied = 0;
        loop {
            let mut encoded = EncodedRecords::default();
            let buffer = encoded.open_record();
            let mut left = file.by_ref().take(CHUNK_BYTES as u64);
            let read = left.read_to_end(buffer).map_err(|source| failed("read", source))?;
            copied += read as u64;
            // A file that has grown is reported below.
            if read == 0 || copied > entry.bytes {
                break;
            }
            let records = u128::from(entry.records) * u128::from(copied) / u128::from(entry.bytes);
            self.write(&encoded, before + records as u64)?;
        }
        if copied != entry.bytes {
            let changed =
                io::Error::new(io::ErrorKind::UnexpectedEof, "the file changed during the merge");
            return Err(failed("read", changed));
        }
        Ok(())
    }

    /// Compresses the records of a compressed file again, so that frames end at the same records as without shards.
    fn records(&mut self, index: usize, header: &[u8]) -> Result<(), Error> {
        let path = self.plan.set.folder.join(path_of(&self.plan.shard_outputs[index].file));
        let name = self.plan.format.expect("a compressed output has a record format");
        let source = Source::new(vec![InputRange::whole(Input::named(&path, name))], BLOCK_RECORDS);
        for block in source {
            let block = block?;
            let mut encoded = EncodedRecords::default();
            for (number, chunk) in block.chunks().enumerate() {
                let is_first = index == 0 && number == 0 && block.offset == 0;
                // The sink has already written the header.
                let bytes = if is_first { chunk.bytes.strip_prefix(header) } else { None };
                encoded.push_records(bytes.unwrap_or(chunk.bytes), chunk.count(block.format));
            }
            self.write(&encoded, self.done.input + encoded.len())?;
        }
        Ok(())
    }

    fn write(&mut self, encoded: &EncodedRecords, done: u64) -> Result<(), Error> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Error::interrupted());
        }
        self.sinks.write(self.plan.kind, encoded)?;
        (self.done.input, self.done.kept) = (done, done);
        self.progress.update(&self.done);
        Ok(())
    }
}

/// The manifest of the merged shards.
fn merged_manifest(
    plan: &MergePlan,
    outputs: Vec<OutputEntry>,
    started: Instant,
) -> Result<RunManifest, Error> {
    let mut manifests = plan.set.manifests().cloned();
    let mut merged = manifests.next().expect("a plan has shards");
    for manifest in manifests {
        merged.add(&manifest);
    }
    let parent = |name: RunName| {
        let file = name.file(MANIFEST_SUFFIX);
        let path = plan.set.folder.join(path_of(&file));
        let sum = files::open(&path).and_then(Sha256Sum::of_reader);
        let sha256 = sum.map_err(|source| Error::io("read", &path, source))?;
        Ok::<_, Error>(ParentManifest { file, sha256 })
    };
    let parents = plan.set.names().map(parent).collect::<Result<_, _>>()?;
    Ok(merged.into_merged(outputs, parents, started.elapsed()))
}
