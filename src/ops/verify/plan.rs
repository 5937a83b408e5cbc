//! What a check will read and write: everything is looked at here, before anything is created.
//!
//! Beside `STEM.good.psv` and `STEM.psv.bad` stands `STEM.bad.jsonl` with what is wrong.

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

/// What the user asked for, not yet checked.
#[derive(Clone, Debug, Default)]
pub struct VerifyRequest {
    /// Files of positions, each judged by itself; `-` is standard input.
    pub inputs: Vec<PathBuf>,
    /// Format of the inputs, where their extensions do not say it.
    pub from: Option<FormatName>,
    /// How packed moves of the inputs are encoded; as the records show if nothing is said.
    pub dialect: Option<Dialect>,
    /// Records of each input after which reading stops.
    pub limit: Option<u64>,
    /// Folder in which the bad records are set apart from the good.
    pub quarantine: Option<PathBuf>,
    /// Whether outputs that exist may be replaced.
    pub force: bool,
    /// Whether a warning makes a record bad.
    pub strict: bool,
    /// Threads, 0 for as many as the machine runs at once.
    pub threads: usize,
}

/// A check of one file that can begin.
#[derive(Debug)]
pub struct VerifyPlan {
    /// What is read.
    pub part: InputRange,
    /// Records that will be read, where that is known before.
    pub records: Option<u64>,
    /// The good, the bad, and what is wrong with these; nothing if they are not to be set apart.
    pub outputs: Vec<OutputPlan>,
    /// Whether a warning makes a record bad.
    pub strict: bool,
    /// Threads, 0 for as many as the machine runs at once.
    pub threads: usize,
    pub(super) limit: Option<u64>,
    folder: Option<PathBuf>,
    /// Why the file cannot be read in the format of its name.
    pub(super) contradiction: Option<Error>,
}

impl VerifyPlan {
    /// Checks a request and makes a plan for each of its inputs. Creates nothing.
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
            let (part, folder) = (InputRange::whole(input), folder.clone());
            let contradiction = contradictions.next().flatten();
            Ok(Self { part, records, outputs, strict, threads, limit, folder, contradiction })
        };
        inputs.into_iter().zip(outputs).map(plan).collect()
    }

    /// What to do about a file that cannot be read in the format of its name.
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

/// The inputs, and the error of each whose content contradicts its name. Such an input has the format of its file name.
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

/// One list per input.
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
            "two inputs would both be written to {}",
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
    let stem = stem(None, std::slice::from_ref(input))?;
    let compression = match input.compression {
        Compression::Zstd => Compression::Zstd,
        _ => Compression::None,
    };
    let records = FormatName { format: input.format, compression }.to_string();
    // Where records are lines of JSON, other lines are not to be taken for records.
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
