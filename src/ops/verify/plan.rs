//! The plan of a check. All requests are validated here, before any file is created.
//!
//! The outputs of a file are `STEM.good.psv`, `STEM.psv.bad`, and `STEM.bad.jsonl` with the reasons.

use std::path::{Path, PathBuf};

use crate::error::{Error, Remedy};
use crate::format::Format;
use crate::format::move16::Dialect;
use crate::records::claims::{FileClaim, FileClaims, check_absence};
use crate::records::format_name::FormatName;
use crate::records::opening::{self, Unreadable, check_folder, stem};
use crate::records::output_kind::{BAD, OutputKind};
use crate::records::sink::OutputPlan;
use crate::records::source::{self, Input, InputRange};
use crate::storage::compression::Compression;
use crate::storage::files::NewFolders;
use crate::storage::path_text::{path_of, text_of};

/// The unchecked request of a `verify` run.
#[derive(Clone, Debug, Default)]
pub struct VerifyRequest {
    /// Position files, each checked separately. `-` is standard input.
    pub inputs: Vec<PathBuf>,
    /// Format of the inputs. `None`: detected by extension.
    pub from: Option<FormatName>,
    /// Encoding of 16-bit moves in the inputs. `None`: detected from the records.
    pub dialect: Option<Dialect>,
    /// Maximum number of records to read from each input.
    pub limit: Option<u64>,
    /// Folder for separate files of good and bad records.
    pub quarantine: Option<PathBuf>,
    /// Replace existing outputs.
    pub force: bool,
    /// Treat warnings as errors.
    pub strict: bool,
    /// Number of threads. 0: one per logical CPU.
    pub threads: usize,
}

/// The checked request for one file.
#[derive(Debug)]
pub struct VerifyPlan {
    /// The records to check.
    pub range: InputRange,
    /// Number of records to read, if known.
    pub records: Option<u64>,
    /// Outputs for good records, bad records and the reasons. Empty without a quarantine folder.
    pub outputs: Vec<OutputPlan>,
    /// Treat warnings as errors.
    pub strict: bool,
    /// Number of threads. 0: one per logical CPU.
    pub threads: usize,
    pub(super) limit: Option<u64>,
    folder: Option<PathBuf>,
    /// Why the file cannot be read in the format of its extension.
    pub(super) contradiction: Option<Error>,
}

impl VerifyPlan {
    /// Checks a request and makes a plan for each input. Creates no files.
    ///
    /// # Errors
    /// [`Error`] if the request does not fit the inputs or the outputs.
    pub fn new(request: VerifyRequest) -> Result<Vec<Self>, Error> {
        let VerifyRequest { inputs, from, dialect, limit, quarantine: folder, .. } = request;
        let VerifyRequest { force, strict, threads, .. } = request;
        let opened = opening::inputs_or_errors(&inputs, from, dialect, Unreadable::Accepted)?;
        let (inputs, mut contradictions) = named_inputs(&inputs, opened);
        let claims = FileClaims::reading(&inputs)?;
        let outputs = match &folder {
            Some(folder) => outputs(folder, &inputs, claims, force)?,
            None => vec![Vec::new(); inputs.len()],
        };
        let plan = |(input, outputs): (Input, Vec<OutputPlan>)| {
            let is_cheap = source::is_cheap_to_count(&input);
            let records = is_cheap.then(|| source::count_records(&input)).transpose()?;
            let records = records.map(|records| limit.map_or(records, |limit| limit.min(records)));
            let (range, folder) = (InputRange::whole(input), folder.clone());
            let contradiction = contradictions.next().flatten();
            Ok(Self { range, records, outputs, strict, threads, limit, folder, contradiction })
        };
        inputs.into_iter().zip(outputs).map(plan).collect()
    }

    /// The remedy if the file cannot be read in the format of its extension.
    pub fn remedy(&self) -> Option<Remedy> {
        self.contradiction.as_ref().and_then(Error::remedy)
    }

    pub(super) fn create_folder(&self) -> Result<Option<NewFolders>, Error> {
        let Some(folder) = &self.folder else { return Ok(None) };
        NewFolders::create(folder)
            .map(Some)
            .map_err(|source| Error::io("create the folder", folder, source))
    }
}

/// Returns the inputs, and an error for each input whose content contradicts its extension. Such an input gets the
/// format of its extension.
fn named_inputs(
    paths: &[PathBuf],
    opened: Vec<Result<Input, Error>>,
) -> (Vec<Input>, impl Iterator<Item = Option<Error>>) {
    let named = |path: &Path| {
        let format = FormatName::from_file_name(&text_of(path));
        Input::named(path, format.unwrap_or(FormatName::plain(Format::Hcp)))
    };
    let (inputs, errors): (Vec<_>, Vec<_>) = paths
        .iter()
        .zip(opened)
        .map(|(path, opened)| match opened {
            Ok(input) => (input, None),
            Err(error) => (named(path), Some(error)),
        })
        .unzip();
    (inputs, errors.into_iter())
}

/// Plans the outputs of each input.
fn outputs(
    folder: &Path,
    inputs: &[Input],
    mut claims: FileClaims,
    force: bool,
) -> Result<Vec<Vec<OutputPlan>>, Error> {
    check_folder(folder)?;
    let outputs: Vec<Vec<OutputPlan>> =
        inputs.iter().map(|input| outputs_of(folder, input)).collect::<Result<_, _>>()?;
    let paths = || outputs.iter().flatten().map(|output| &output.path);
    let mut sorted: Vec<&PathBuf> = paths().collect();
    sorted.sort_unstable();
    if let Some([output, _]) = sorted.array_windows().find(|[one, other]| one == other) {
        return Err(Error::usage(format!(
            "two inputs have the same output {}; rename one of the inputs",
            (*output).display()
        )));
    }
    claims.write(outputs.iter().flatten().map(FileClaim::output))?;
    if !force {
        check_absence(paths())?;
    }
    Ok(outputs)
}

fn outputs_of(folder: &Path, input: &Input) -> Result<Vec<OutputPlan>, Error> {
    let stem = stem(None, Some(&input.location))?;
    let compression = match input.compression {
        Compression::Zstd => Compression::Zstd,
        _ => Compression::None,
    };
    let records = FormatName { format: input.format, compression }.to_string();
    // For JSONL inputs, another extension keeps the reasons from being read as records.
    let is_json_lines = input.format == Format::Jsonl;
    let reasons = if is_json_lines { "bad.reasons" } else { "bad.jsonl" };
    let output = |kind, suffix: &str, compression| OutputPlan {
        header: if kind == OutputKind::Kept { input.format.header() } else { b"" },
        separator: if kind == OutputKind::Kept { input.format.separator() } else { b"" },
        compression,
        ..OutputPlan::plain(kind, folder.join(path_of(&format!("{stem}.{suffix}"))))
    };
    Ok(vec![
        output(OutputKind::Kept, &format!("good.{records}"), compression),
        output(OutputKind::Quarantine, &format!("{records}.{BAD}"), compression),
        output(OutputKind::QuarantineLines, reasons, Compression::None),
    ])
}
