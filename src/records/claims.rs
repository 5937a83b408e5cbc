//! Checks that a run does not write to its own inputs and does not write a file twice. Different names and links of the
//! same file are recognised.
//!
//! Every command checks its files here before it creates any.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::error::Error;
use crate::records::bad_record::BadPolicy;
use crate::records::output_kind::OutputKind;
use crate::records::sink::{OutputPlan, partial_path};
use crate::records::source::{Input, InputLocation};
use crate::storage::files;
use crate::storage::path_text::{text_of, windows_refusal};
use crate::storage::platform::{self, FileIdentity, Standard};

/// The files that a run reads and writes.
#[derive(Clone, Debug, Default)]
pub struct FileClaims {
    /// Descriptions of the files, for error messages.
    read: HashMap<ClaimKey, String>,
    written: HashMap<ClaimKey, PathBuf>,
}

/// Key of a file: two paths of the same file have the same key.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum ClaimKey {
    /// An existing file.
    Content(FileIdentity),
    /// A normalized path, which need not exist, or the URL of an object.
    Name(PathBuf),
}

/// A file to be written.
#[derive(Clone, Debug)]
pub struct FileClaim {
    path: PathBuf,
    /// Temporary files that are written until the output is complete.
    partial: Vec<PathBuf>,
    is_pipe: bool,
}

impl FileClaim {
    /// Claims the files of an output.
    pub fn output(plan: &OutputPlan) -> Self {
        let partial = if plan.is_pipe { Vec::new() } else { plan.partial_paths().collect() };
        Self { path: plan.path.clone(), partial, is_pipe: plan.is_pipe }
    }

    /// Claims a file that is written under a partial name and then renamed.
    pub fn file<P: AsRef<Path>>(path: &P) -> Self {
        let path = path.as_ref();
        Self { path: path.to_owned(), partial: vec![partial_path(path)], is_pipe: false }
    }

    pub(crate) fn file_or_pipe<P: AsRef<Path>>(path: &P) -> Self {
        if platform::is_pipe(path.as_ref()) { Self::in_place(path) } else { Self::file(path) }
    }

    /// Claims a file that is written without a partial file.
    pub(crate) fn in_place<P: AsRef<Path>>(path: &P) -> Self {
        let path = path.as_ref();
        Self { path: path.to_owned(), partial: Vec::new(), is_pipe: platform::is_pipe(path) }
    }
}

impl FileClaims {
    /// Claims the inputs of a run. Standard output and standard error must not be redirected to one of them.
    ///
    /// # Errors
    /// [`Error`] if an input cannot be opened, or a standard stream is redirected to it.
    pub fn reading(inputs: &[Input]) -> Result<Self, Error> {
        let mut claims = Self::default();
        for input in inputs {
            let open_error = |source| Error::io("open", &input.name, source);
            let key = match &input.location {
                InputLocation::Stdin => Standard::Input.identity().map(ClaimKey::Content),
                InputLocation::File(path) => {
                    platform::identity_of_content(path).map_err(open_error)?.map(ClaimKey::Content)
                }
                InputLocation::Object(object) => Some(ClaimKey::Name(object.url().into())),
            };
            claims.read.extend(key.map(|key| (key, format!("the input {}", input.display_name()))));
        }
        for (stream, name) in
            [(Standard::Output, "standard output"), (Standard::Error, "standard error")]
        {
            let input =
                stream.identity().and_then(|file| claims.read.get(&ClaimKey::Content(file)));
            if let Some(input) = input.cloned() {
                return Err(Error::output_is_input(name, input));
            }
        }
        Ok(claims)
    }

    /// Adds files that were read before. A file that no longer exists is claimed only by its name.
    #[must_use]
    pub(crate) fn and_reading(self, paths: impl IntoIterator<Item: AsRef<Path>>) -> Self {
        self.and_reading_as(paths, |path| format!("the input {}", path.display()))
    }

    /// Adds files of a previous run, which are named by an option and not as inputs.
    #[must_use]
    pub(crate) fn and_retrying<'a>(self, paths: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        self.and_reading_as(paths, |_| "a file of the run that --retry-unknown reads".to_owned())
    }

    fn and_reading_as(
        mut self,
        paths: impl IntoIterator<Item: AsRef<Path>>,
        description: impl Fn(&Path) -> String,
    ) -> Self {
        for path in paths {
            let path = path.as_ref();
            let content = platform::identity_of_content(path).ok().flatten();
            let keys =
                content.map(ClaimKey::Content).into_iter().chain([ClaimKey::Name(normal(path))]);
            self.read.extend(keys.map(|key| (key, description(path))));
        }
        self
    }

    /// Claims files to be written. Two of them may be names of the same existing file, because each name gets a new
    /// file.
    ///
    /// # Errors
    /// [`Error`] if a file is already read or written by the run, or no file can be created under its name.
    pub fn write(&mut self, claims: impl IntoIterator<Item = FileClaim>) -> Result<(), Error> {
        let mut contents = Vec::new();
        for claim in claims {
            let path = &claim.path;
            if path.as_os_str().is_empty() {
                return Err(Error::usage("the name of an output is empty"));
            }
            if let Some(why) =
                windows_refusal(path).filter(|_| cfg!(windows) && !files::is_object(path))
            {
                let path = path.display();
                return Err(Error::usage(format!("{path}: {why}; choose another name")));
            }
            if claim.is_pipe && path == Path::new("-") {
                continue;
            }
            for place in claim.partial.iter().chain([path]) {
                let content = content(place).map(ClaimKey::Content);
                self.check(path, place, content.as_ref())?;
                if !claim.is_pipe {
                    check_place(place)?;
                    check_standard(path, content.as_ref())?;
                    let name = ClaimKey::Name(normal(place));
                    self.check(path, place, Some(&name))?;
                    self.written.insert(name, path.clone());
                }
                contents.extend(content.map(|content| (content, path.clone())));
            }
        }
        self.written.extend(contents);
        Ok(())
    }

    /// `place` is the path itself or its partial file.
    fn check(&self, path: &Path, place: &Path, key: Option<&ClaimKey>) -> Result<(), Error> {
        let Some(key) = key else { return Ok(()) };
        if let Some(input) = self.read.get(key) {
            let output = path.display();
            let output = if place == path {
                output.to_string()
            } else {
                format!("{}, the unfinished {output},", place.display())
            };
            return Err(Error::output_is_input(output, input));
        }
        match self.written.get(key) {
            Some(other) => Err(Error::written_twice(path, other.clone())),
            None => Ok(()),
        }
    }

    /// Plans a single uncompressed output, written without a partial file if the path is a pipe or a device. Without
    /// `force` the file must not exist.
    pub(crate) fn lone_output(
        &mut self,
        kind: OutputKind,
        path: &Path,
        force: bool,
    ) -> Result<OutputPlan, Error> {
        let is_pipe = is_pipe(path)?;
        let plan = OutputPlan { is_pipe, ..OutputPlan::plain(kind, path.to_owned()) };
        self.write([FileClaim::output(&plan)])?;
        if !force && !is_pipe {
            check_absence([&plan.path])?;
        }
        Ok(plan)
    }
}

/// Rejects a file that the shell has opened as standard output or standard error: the final rename would replace it.
fn check_standard(path: &Path, content: Option<&ClaimKey>) -> Result<(), Error> {
    for (stream, name) in
        [(Standard::Output, "standard output"), (Standard::Error, "standard error")]
    {
        if content.is_some() && content == stream.identity().map(ClaimKey::Content).as_ref() {
            return Err(Error::written_twice(path, name));
        }
    }
    Ok(())
}

fn content(path: &Path) -> Option<FileIdentity> {
    platform::identity_of_content(path).ok().flatten()
}

/// Checks early that a file can get this name. Otherwise the error would appear only at the end of the run.
fn check_place(path: &Path) -> Result<(), Error> {
    if files::is_object(path) {
        return Ok(());
    }
    match path.symlink_metadata() {
        Ok(_) => {}
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(());
        }
        Err(source) => return Err(Error::io("open", path, source)),
    }
    let output = path.to_owned();
    if path.is_dir() {
        return Err(Error::is_a_folder(output));
    }
    if platform::is_pipe(path) { Err(Error::not_a_file(output)) } else { Ok(()) }
}

/// Resolves links, `.` and `..` as far as the path exists. The last component is not resolved: the target of a link is
/// another file.
fn normal(path: &Path) -> PathBuf {
    let absolute = if files::is_object(path) { None } else { std::path::absolute(path).ok() };
    let Some(absolute) = absolute else { return path.to_owned() };
    for ancestor in absolute.ancestors().skip(1) {
        if let (Ok(mut resolved), Ok(rest)) =
            (ancestor.canonicalize(), absolute.strip_prefix(ancestor))
        {
            for component in rest.components() {
                match component {
                    Component::ParentDir => drop(resolved.pop()),
                    component => resolved.push(component),
                }
            }
            return resolved;
        }
    }
    absolute
}

pub(crate) fn check_absence<'a>(
    outputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), Error> {
    for output in outputs {
        let open_error = |source| Error::io("open", output, source);
        if files::exists(output).map_err(open_error)? {
            return Err(Error::output_exists(output.clone()));
        }
    }
    Ok(())
}

/// Whether an output is standard output, a pipe or a device. A folder is an error.
pub(crate) fn is_pipe(output: &Path) -> Result<bool, Error> {
    if files::is_object(output) {
        return Ok(false);
    }
    if output == Path::new("-") {
        return Ok(true);
    }
    if output.is_dir() {
        return Err(Error::is_a_folder(output));
    }
    Ok(platform::is_pipe(output))
}

/// Rejects a quarantine for an output that is a pipe, because a pipe has no folder for the quarantine files.
pub(crate) fn check_pipe(output: &Path, on_error: BadPolicy) -> Result<(), Error> {
    if on_error == BadPolicy::Quarantine {
        let output = text_of(output);
        return Err(Error::usage(format!(
            "--on-error quarantine needs an output file, but `{output}` is standard output or a pipe"
        )));
    }
    Ok(())
}

/// Checks that no pipe is given twice.
pub(crate) fn check_once<'a>(inputs: impl IntoIterator<Item = &'a Input>) -> Result<(), Error> {
    let mut identities = HashSet::new();
    for input in inputs.into_iter().filter(|input| !input.location.can_be_read_again()) {
        let identity = match &input.location {
            InputLocation::File(path) => platform::identity(path).ok(),
            _ => Standard::Input.any_identity(),
        };
        if !identities.insert(identity) {
            return Err(Error::read_once(input.display_name(), "it is given more than once"));
        }
    }
    Ok(())
}

/// Checks that all inputs can be read more than once.
pub(crate) fn check_rereadable<'a>(
    inputs: impl IntoIterator<Item = &'a Input>,
    why: &'static str,
) -> Result<(), Error> {
    match inputs.into_iter().find(|input| !input.location.can_be_read_again()) {
        Some(input) => Err(Error::read_once(input.display_name(), why)),
        None => Ok(()),
    }
}
