//! Test harness: a temporary folder, commands that run in it, and their output.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{fs, thread};

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use tempfile::TempDir;

use crate::messages::transcript;

/// A temporary folder. Commands run in it, so names in their arguments are relative to it.
pub(crate) struct Dir(TempDir);

/// See [`Dir::in_memory`].
pub(crate) fn memory_folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| TempDir::new()).unwrap()
}

impl Dir {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// A folder in memory if possible, for tests that flush files often, which is slow on a disk.
    pub(crate) fn in_memory() -> Self {
        Self(memory_folder())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    #[track_caller]
    pub(crate) fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        fs::read(self.join(name)).unwrap()
    }

    pub(crate) fn text(&self, name: impl AsRef<Path>) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    pub(crate) fn json(&self, name: impl AsRef<Path>) -> Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    /// The sorted names in a subfolder, or with `""` in this folder.
    pub(crate) fn names(&self, folder: impl AsRef<Path>) -> Vec<String> {
        let entries = fs::read_dir(self.join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    pub(crate) fn kyokumen(&self, words: impl Words) -> TestCommand {
        self.program("kyokumen", words)
    }

    /// `kyokumen` with the words of a line as arguments.
    pub(crate) fn line(&self, line: &str) -> TestCommand {
        self.kyokumen(line.split_whitespace())
    }

    pub(crate) fn program(&self, name: &str, words: impl Words) -> TestCommand {
        let mut command = Command::new(cargo_bin(name));
        // The locale of the machine would change the language of texts.
        command.args(words).current_dir(self.path()).env("LC_ALL", "C");
        TestCommand(command)
    }
}

pub(crate) trait Words: IntoIterator<Item: AsRef<OsStr>> {}
impl<T: IntoIterator<Item: AsRef<OsStr>>> Words for T {}

/// The inner command is public, so that tests can use all options of `std::process`.
#[must_use]
pub(crate) struct TestCommand(pub(crate) Command);

impl TestCommand {
    pub(crate) fn args(mut self, words: impl Words) -> Self {
        self.0.args(words);
        self
    }

    /// Sends these bytes through a pipe. The program need not read them.
    pub(crate) fn stdin(mut self, bytes: Vec<u8>) -> Self {
        let (reader, mut writer) = io::pipe().unwrap();
        thread::spawn(move || writer.write_all(&bytes));
        self.0.stdin(reader);
        self
    }

    /// Runs the command from a shell after `setup`, for example `ulimit -f 16`.
    #[cfg(unix)]
    pub(crate) fn in_shell(self, setup: &str) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{setup}; exec \"$@\""), "sh"]).arg(self.0.get_program());
        shell.args(self.0.get_args()).current_dir(self.0.get_current_dir().unwrap());
        Self(shell)
    }

    pub(crate) fn run(mut self) -> Ran {
        let Output { status, stdout, stderr } = self.0.output().unwrap();
        let stderr = String::from_utf8(stderr).unwrap();
        let transcript = transcript(self.0.get_current_dir().unwrap(), status.code(), &stderr);
        Ran { code: status.code(), stdout, stderr, transcript }
    }

    #[track_caller]
    pub(crate) fn succeeds(self) -> Ran {
        self.exits(&[0])
    }

    /// Asserts this exit status and returns standard error.
    #[track_caller]
    pub(crate) fn fails(self, code: i32) -> String {
        self.exits(&[code]).stderr
    }

    /// Asserts one of these exit statuses: 0 is success, 3 that some records were bad.
    #[track_caller]
    pub(crate) fn exits(self, codes: &[i32]) -> Ran {
        let command = format!("{:?}", self.0);
        let ran = self.run();
        assert!(codes.iter().any(|&code| ran.code == Some(code)), "{command}: {}", ran.transcript);
        ran
    }
}

pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    /// Exit status and standard error for a snapshot, with the folder as `[FOLDER]`.
    pub(crate) transcript: String,
}

impl Ran {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|_| panic!("{}", self.stderr))
    }
}
