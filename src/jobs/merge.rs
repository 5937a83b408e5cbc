//! Joins the outputs of shards into one file, after every check that can be made.
//!
//! The file is the one that a run without shards writes, frames of compressed files included.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::manifest::{ParentManifest, RunManifest};
use super::run_name::RunName;
use super::shard_set::ShardSet;
use crate::engine::messages::told;
use crate::engine::progress::Progress;
use crate::error::Error;
use crate::format::Format;
use crate::records::account::{MANIFEST_SUFFIX, OutputEntry, output_entry};
use crate::records::claims::{FileClaim, FileClaims, check_absence, is_pipe};
use crate::records::counts::Counts;
use crate::records::format_name::FormatName;
use crate::records::output_kind::{EncodedRecords, OutputKind};
use crate::records::sink::{OutputPlan, Sinks};
use crate::records::source::{Input, InputRange, Source};
use crate::storage::checksum::Sha256Sum;
use crate::storage::compression::Compression;
use crate::storage::files;
use crate::storage::path_text::{path_of, text_of};
use crate::storage::table::TableFormat;

/// Records that are read at a time.
const BLOCK_RECORDS: u64 = 1 << 12;

/// Bytes that are copied at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// What is to be joined, not yet checked.
#[derive(Clone, Debug)]
pub struct MergeRequest {
    /// Where the shards are.
    pub folder: PathBuf,
    /// Which run, if there are several.
    pub name: Option<String>,
    /// Which of their outputs.
    pub kind: OutputKind,
    /// The file to be written.
    pub output: PathBuf,
    /// Whether what exists may be replaced.
    pub force: bool,
}

/// Shards that can be joined.
#[derive(Clone, Debug)]
pub struct MergePlan {
    set: ShardSet,
    kind: OutputKind,
    /// The outputs to be joined, in order.
    parts: Vec<OutputEntry>,
    /// What their records are; none for quarantined bytes, which are of no format.
    format: Option<FormatName>,
    output: PathBuf,
    is_pipe: bool,
    /// Nowhere if the output is a stream.
    manifest: Option<PathBuf>,
}

impl MergePlan {
    /// Looks at the manifests, writes nothing.
    ///
    /// # Errors
    /// [`Error`] with everything that is missing or different.
    pub fn new(request: MergeRequest) -> Result<Self, Error> {
        let MergeRequest { folder, name, kind, output, force } = request;
        let set = ShardSet::in_folder(&folder, name.as_deref())?;
        let problems = set.problems()?;
        if !problems.is_empty() {
            return Err(cannot_be_joined(&folder, &problems));
        }
        let parts = set.manifests().flat_map(|manifest| &manifest.outputs);
        let parts: Vec<_> = parts.filter(|output| output.kind == kind).cloned().collect();
        let first = parts.first().ok_or_else(|| {
            Error::usage("the run has no output of this kind: it was made with other settings")
        })?;
        if let Some(format) =
            TableFormat::of_columns(&first.file).filter(|_| kind == OutputKind::Rows)
        {
            return Err(Error::usage(format!(
                "the shards are {format}: a file of columns ends with a list of them, and cannot be joined by its bytes; tools that read such files read several as one table"
            )));
        }
        let format =
            if kind.holds_records() { FormatName::from_file_name(&first.file) } else { None };
        let name = text_of(output.file_name().unwrap_or_default());
        if let (Some(shards), Some(output_format)) = (format, FormatName::from_file_name(&name))
            && shards != output_format
        {
            return Err(Error::usage(format!(
                "the shards are {shards}, the name of {} says {output_format}; join them as they are, and convert the file",
                output.display()
            )));
        }
        let is_pipe = is_pipe(&output)?;
        let manifest =
            (!is_pipe).then(|| output.with_file_name(path_of(&format!("{name}{MANIFEST_SUFFIX}"))));
        if !force && !is_pipe {
            check_absence([&output].into_iter().chain(&manifest))?;
        }
        // Missing files are reported with the other errors of the outputs.
        let paths = parts.iter().map(|part| folder.join(path_of(&part.file)));
        let paths = paths.filter(|path| files::is_object(path) || path.exists());
        let any_format = format.unwrap_or(FormatName::plain(Format::Hcp));
        let inputs = paths.map(|path| Input::named(&path, any_format));
        let manifests = set.names().map(|name| folder.join(path_of(&name.file(MANIFEST_SUFFIX))));
        let claims = FileClaims::reading(&inputs.collect::<Vec<_>>())?;
        let mut claims = claims.and_reading(&manifests.collect::<Vec<_>>());
        claims.write(
            manifest.iter().map(FileClaim::file).chain([FileClaim::file_or_pipe(&output)]),
        )?;
        Ok(Self { set, kind, parts, format, output, is_pipe, manifest })
    }

    /// Records of all shards.
    pub fn records(&self) -> u64 {
        self.parts.iter().map(|part| part.records).sum()
    }

    fn compression(&self) -> Compression {
        self.format.map_or(Compression::None, |format| format.compression)
    }

    fn check_outputs(&self) -> Result<(), Error> {
        let problems = self.set.wrong_outputs(Some(self.kind));
        if problems.is_empty() {
            return Ok(());
        }
        Err(cannot_be_joined(&self.set.folder, &problems))
    }
}

/// The error with all problems, each on its own line.
fn cannot_be_joined(folder: &Path, problems: &[Error]) -> Error {
    let problems: String = told(problems).iter().flat_map(|problem| ["\n  ", problem]).collect();
    Error::invalid(format!("the shards in {} cannot be joined:{problems}", folder.display()))
}

/// Joins shards in order. Sets nothing under a final name unless all went well.
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
        // The first shards may be empty.
        separator: plan.format.map_or(b"", |format| format.format.separator()),
        is_pipe: plan.is_pipe,
        ..OutputPlan::plain(plan.kind, plan.output.clone())
    };
    let sinks = Sinks::create_with(&[output], true)?;
    let mut copier = Copier { plan, sinks, progress, cancel, done: Counts::default() };
    for part in 0..plan.parts.len() {
        match plan.compression() {
            Compression::None => copier.bytes(part)?,
            _ => copier.records(part, header)?,
        }
    }
    let Copier { sinks, done, .. } = copier;
    let finished = sinks.finish()?;
    let written = finished
        .written()
        .map(|written| OutputEntry { records: plan.records(), ..output_entry(written) });
    let manifest = joined(plan, written.collect(), started)?;
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
    /// What is shown.
    done: Counts,
}

impl Copier<'_> {
    /// A file as it is.
    fn bytes(&mut self, part: usize) -> Result<(), Error> {
        let (part, before) = (&self.plan.parts[part], self.done.input);
        let path = self.plan.set.folder.join(path_of(&part.file));
        let failed = |verb, source| Error::io(verb, &path, source);
        let mut file = files::open(&path).map_err(|source| failed("open", source))?;
        let mut copied = 0;
        loop {
            let mut encoded = EncodedRecords::default();
            let buffer = encoded.open_record();
            let mut left = file.by_ref().take(CHUNK_BYTES as u64);
            let read = left.read_to_end(buffer).map_err(|source| failed("read", source))?;
            copied += read as u64;
            // A file that grows is reported below.
            if read == 0 || copied > part.bytes {
                break;
            }
            let records = u128::from(part.records) * u128::from(copied) / u128::from(part.bytes);
            self.write(&encoded, before + records as u64)?;
        }
        if copied != part.bytes {
            let cut_off = io::Error::new(io::ErrorKind::UnexpectedEof, "it changed meanwhile");
            return Err(failed("read", cut_off));
        }
        Ok(())
    }

    /// A compressed file record by record, so that frames end where they should.
    fn records(&mut self, part: usize, header: &[u8]) -> Result<(), Error> {
        let path = self.plan.set.folder.join(path_of(&self.plan.parts[part].file));
        let name = self.plan.format.expect("what is compressed are records of a format");
        let source = Source::new(vec![InputRange::whole(Input::named(&path, name))], BLOCK_RECORDS);
        for block in source {
            let block = block?;
            let mut encoded = EncodedRecords::default();
            for (number, chunk) in block.chunks().enumerate() {
                let is_first = part == 0 && number == 0 && block.offset == 0;
                // The sink has written the header.
                let bytes = if is_first { chunk.bytes.strip_prefix(header) } else { None };
                encoded.push_group(bytes.unwrap_or(chunk.bytes), chunk.count(block.format));
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
        self.done.input = done;
        self.progress.update(&self.done);
        Ok(())
    }
}

/// The account of all shards together.
fn joined(
    plan: &MergePlan,
    outputs: Vec<OutputEntry>,
    started: Instant,
) -> Result<RunManifest, Error> {
    let mut manifests = plan.set.manifests().cloned();
    let mut joined = manifests.next().expect("a plan has shards");
    for manifest in manifests {
        joined.add(&manifest);
    }
    let parent = |name: RunName| {
        let file = name.file(MANIFEST_SUFFIX);
        let path = plan.set.folder.join(path_of(&file));
        let sum = files::open(&path).and_then(Sha256Sum::of_reader);
        let sha256 = sum.map_err(|source| Error::io("read", &path, source))?;
        Ok::<_, Error>(ParentManifest { file, sha256 })
    };
    let parents = plan.set.names().map(parent).collect::<Result<_, _>>()?;
    Ok(joined.into_merged(outputs, parents, started.elapsed()))
}
