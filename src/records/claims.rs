//! The files that a run reads and writes. No file may be both, and none may be written twice, whatever
//! names and links lead to it.
//!
//! Every command checks its files here before it creates anything.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::error::Error;
use crate::records::bad_record::BadPolicy;
use crate::records::output_kind::OutputKind;
use crate::records::sink::{OutputPlan, partial_path};
use crate::records::source::{Input, InputLocation};
use crate::storage::files;
use crate::storage::path_text::text_of;
use crate::storage::platform::{self, FileIdentity, Standard};

/// What a run reads and writes.
#[derive(Clone, Debug, Default)]
pub struct FileClaims {
    /// With their display names.
    read: HashMap<ClaimKey, String>,
    written: HashMap<ClaimKey, PathBuf>,
}

/// Equal for two paths that lead to the same place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum ClaimKey {
    /// An existing file.
    Content(FileIdentity),
    /// A normalized path, which need not exist, or the URL of an object.
    Name(PathBuf),
}

/// A place that is written.
#[derive(Clone, Debug)]
pub struct FileClaim {
    path: PathBuf,
    /// Files that are written instead until the output is complete.
    partial: Vec<PathBuf>,
    is_pipe: bool,
}

impl FileClaim {
    /// That of an output.
    pub fn output(plan: &OutputPlan) -> Self {
        let partial = if plan.is_pipe { Vec::new() } else { plan.partial_paths().collect() };
        Self { path: plan.path.clone(), partial, is_pipe: plan.is_pipe }
    }

    /// That of a file that is whole when it has its name.
    pub fn file<P: AsRef<Path>>(path: &P) -> Self {
        let path = path.as_ref();
        Self { path: path.to_owned(), partial: vec![partial_path(path)], is_pipe: false }
    }

    pub(crate) fn file_or_pipe<P: AsRef<Path>>(path: &P) -> Self {
        if platform::is_pipe(path.as_ref()) { Self::in_place(path) } else { Self::file(path) }
    }

    /// A file that is written without a partial file.
    pub(crate) fn in_place<P: AsRef<Path>>(path: &P) -> Self {
        let path = path.as_ref();
        Self { path: path.to_owned(), partial: Vec::new(), is_pipe: platform::is_pipe(path) }
    }
}

impl FileClaims {
    /// Those of a run that reads these inputs. What it says on standard output and standard error must not go
    /// to one of them either.
    ///
    /// # Errors
    /// [`Error`] if an input cannot be looked at, or is written by the shell.
    pub fn reading(inputs: &[Input]) -> Result<Self, Error> {
        let mut claims = Self::default();
        for input in inputs {
            let looked = |source| Error::io("open", &input.name, source);
            let key = match &input.location {
                InputLocation::Stdin => Standard::Input.identity().map(ClaimKey::Content),
                InputLocation::File(path) => {
                    platform::identity_of_content(path).map_err(looked)?.map(ClaimKey::Content)
                }
                InputLocation::Object(object) => Some(ClaimKey::Name(object.url().into())),
            };
            claims.read.extend(key.map(|key| (key, input.display_name())));
        }
        for (stream, name) in
            [(Standard::Output, "standard output"), (Standard::Error, "standard error")]
        {
            let input =
                stream.identity().and_then(|found| claims.read.get(&ClaimKey::Content(found)));
            if let Some(input) = input.cloned() {
                return Err(Error::output_is_input(name, input));
            }
        }
        Ok(claims)
    }

    /// Adds files that were read before. One that no longer exists is claimed by name only.
    #[must_use]
    pub(crate) fn and_reading<'a>(mut self, paths: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        for path in paths {
            let content = platform::identity_of_content(path).ok().flatten();
            let keys =
                content.map(ClaimKey::Content).into_iter().chain([ClaimKey::Name(normal(path))]);
            self.read.extend(keys.map(|key| (key, path.display().to_string())));
        }
        self
    }

    /// Takes in places that are written. Among themselves they are told apart by their names: two names of
    /// one file are two files when each was replaced.
    ///
    /// # Errors
    /// [`Error`] if one is read or written already, or cannot be the place of a file.
    pub fn write(&mut self, claims: impl IntoIterator<Item = FileClaim>) -> Result<(), Error> {
        let mut contents = Vec::new();
        for claim in claims {
            let path = &claim.path;
            if path.as_os_str().is_empty() {
                return Err(Error::usage("the name of an output is empty"));
            }
            if claim.is_pipe && path == Path::new("-") {
                continue;
            }
            for place in claim.partial.iter().chain([path]) {
                let content = content(place).map(ClaimKey::Content);
                self.check(path, content.as_ref())?;
                if !claim.is_pipe {
                    check_place(place)?;
                    check_standard(path, content.as_ref())?;
                    let name = ClaimKey::Name(normal(place));
                    self.check(path, Some(&name))?;
                    self.written.insert(name, path.clone());
                }
                contents.extend(content.map(|content| (content, path.clone())));
            }
        }
        self.written.extend(contents);
        Ok(())
    }

    fn check(&self, path: &Path, key: Option<&ClaimKey>) -> Result<(), Error> {
        let Some(key) = key else { return Ok(()) };
        if let Some(input) = self.read.get(key) {
            let (output, input) = (path.to_owned(), input.clone());
            return Err(Error::output_is_input(output, input));
        }
        match self.written.get(key) {
            Some(other) => Err(Error::written_twice(path, other.clone())),
            None => Ok(()),
        }
    }

    /// Plans a single uncompressed output, written without a partial file if the path is a stream. Without `force` the
    /// file must not exist.
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
        if let (Ok(mut found), Ok(rest)) =
            (ancestor.canonicalize(), absolute.strip_prefix(ancestor))
        {
            for component in rest.components() {
                match component {
                    Component::ParentDir => drop(found.pop()),
                    component => found.push(component),
                }
            }
            return found;
        }
    }
    absolute
}

pub(crate) fn check_absence<'a>(
    outputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), Error> {
    for output in outputs {
        let looked = |source| Error::io("open", output, source);
        if files::exists(output).map_err(looked)? {
            return Err(Error::output_exists(output.clone()));
        }
    }
    Ok(())
}

/// Whether an output is standard output or another stream, such as a pipe. A folder is an error.
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

/// A stream has no folder for quarantine files.
pub(crate) fn check_pipe(output: &Path, on_error: BadPolicy) -> Result<(), Error> {
    if on_error == BadPolicy::Quarantine {
        let output = text_of(output);
        return Err(Error::usage(format!(
            "--on-error quarantine needs an output that is a file, and {output} is none"
        )));
    }
    Ok(())
}

/// An input that can be read only once must not be named twice.
pub(crate) fn check_once<'a>(inputs: impl IntoIterator<Item = &'a Input>) -> Result<(), Error> {
    let mut found = HashSet::new();
    for input in inputs.into_iter().filter(|input| !input.location.can_be_read_again()) {
        let why = |why| Err(Error::read_once(input.display_name(), why));
        let identity = match &input.location {
            InputLocation::File(path) => platform::identity(path).ok(),
            _ => Standard::Input.any_identity(),
        };
        if !found.insert(identity) {
            return why("it was named more than once");
        }
    }
    Ok(())
}

/// Checks that all inputs can be read more than once.
pub(crate) fn check_twice<'a>(
    inputs: impl IntoIterator<Item = &'a Input>,
    why: &'static str,
) -> Result<(), Error> {
    match inputs.into_iter().find(|input| !input.location.can_be_read_again()) {
        Some(input) => Err(Error::read_once(input.display_name(), why)),
        None => Ok(()),
    }
}
