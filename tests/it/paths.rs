//! Paths on the command line: pipes as inputs, files that a run would both read and write, devices, and links in
//! place of files.
//!
//! The tests use links to devices of the system and, as root, copies of the devices in the test's folder.
#![cfg(unix)]

mod devices;
mod links;
mod once;
mod twice;

use std::ffi::CString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use kyokumen::format::Format;
use snapbox::{assert_data_eq, str};

use crate::archive::{encoded, records};
use crate::harness::{Dir, Ran, TestCommand};
use crate::messages::transcript;

/// A folder for commands.
struct Bench(Dir);

impl Bench {
    /// With ten records in `a.hcp`.
    fn new() -> Self {
        let dir = Dir::new();
        dir.write("a.hcp", good(10));
        Self(dir)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        self.0.read(name)
    }

    fn link(&self, target: impl AsRef<Path>, name: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    fn fifo(&self, name: &str) {
        make_node(&self.path(name), libc::S_IFIFO, 0).unwrap();
    }

    /// A command without standard input. Searches get small limits.
    fn command(&self, line: &str) -> TestCommand {
        let mut command = self.0.line(line);
        command.0.stdin(Stdio::null());
        if line.starts_with("filter ") || line.starts_with("dataset ") {
            command = command.args(["--progress", "none", "--nodes", "50", "--hash-mb", "1"]);
        }
        command
    }

    fn run(&self, line: &str) -> Ran {
        self.command(line).run()
    }

    #[track_caller]
    fn succeeds(&self, line: &str) -> Ran {
        self.command(line).succeeds()
    }

    /// The exit status and the last line of standard error.
    fn last_of(&self, ran: &Ran) -> String {
        transcript(self.0.path(), ran.code, ran.stderr.lines().last().unwrap_or_default()) + "\n"
    }

    /// All paths in the folder with their content. Links are not followed, pipes are not read.
    fn content(&self) -> Vec<(PathBuf, String)> {
        let mut folders = vec![self.0.path().to_owned()];
        let mut content = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = path.symlink_metadata().unwrap();
                let what = if metadata.is_symlink() {
                    format!("link to {}", path.read_link().unwrap().display())
                } else if metadata.is_file() {
                    format!("{:?}", fs::read(&path).unwrap())
                } else {
                    format!("{:?}", metadata.file_type())
                };
                if metadata.is_dir() {
                    folders.push(path.clone());
                }
                content.push((path, what));
            }
        }
        content.sort();
        content
    }

    /// Asserts that the command exits with this status and message, and changes no file.
    #[track_caller]
    fn assert_refused(&self, command: TestCommand, code: i32, message: &str) {
        let before = self.content();
        let shown = format!("{:?}", command.0);
        let stderr = command.fails(code);
        assert!(stderr.contains(message), "{shown}: {stderr}");
        let after = self.content();
        assert!(before == after, "{shown}: {before:?} became {after:?}");
    }
}

/// Runs a command whose standard output is a file.
fn into_file(mut command: TestCommand, output: File) -> Ran {
    command.0.stdout(output);
    command.run()
}

fn good(count: usize) -> Vec<u8> {
    records(count, 11).iter().flat_map(|record| encoded(Format::Hcp, record)).collect()
}

/// Creates a pipe or a device.
fn make_node(path: &Path, kind: libc::mode_t, device: libc::dev_t) -> std::io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    #[expect(unsafe_code, reason = "the standard library cannot create pipes and devices")]
    // SAFETY: a plain system call; the text ends with a zero and lives until it returns.
    let made = unsafe { libc::mknod(path.as_ptr(), kind | 0o666, device) };
    if made == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Writes to a named pipe as soon as it has a reader. The reader may close the pipe before the end.
fn feed(path: PathBuf, bytes: Vec<u8>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || match fs::write(path, bytes) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        result => result.unwrap(),
    })
}

#[track_caller]
fn assert_is_link(path: &Path, target: &str) {
    let found = path.read_link();
    assert_eq!(found.ok().as_deref(), Some(Path::new(target)), "{}", path.display());
}

fn is_device(path: &Path) -> bool {
    path.symlink_metadata().unwrap().file_type().is_char_device()
}

fn open_to_write(path: &Path) -> File {
    File::options().create(true).append(true).open(path).unwrap()
}

/// A missing file is reported before other errors of the command line.
#[test]
fn missing_files_are_reported_first_with_what_to_do() {
    let bench = Bench::new();
    let mut transcripts = String::new();
    for line in [
        "convert nothing.hcp -o b.psv",
        "convert nothing.hcp -o b.hcp --min-abs-eval 3",
        "filter nothing.hcp -o b --to psv",
        "convert a.hcp/nothing.hcp -o b.hcp",
        "convert a.hcp -o no/b.hcp",
        "filter a.hcp -o a.hcp/b",
        "solve nothing.sfen",
        "merge no -o b.hcp",
        "relabel a.hcp -o b --to hcpe --fill move=none,result=draw --nodes 5 --engine no-engine",
        "relabel a.hcp -o b --to hcpe --fill move=none,result=draw --nodes 5 --engine ./no-engine",
        "relabel a.hcp -o b --to hcpe --fill move=none,result=draw --nodes 5 --engine ./a.hcp",
    ] {
        transcripts += &bench.last_of(&bench.run(line));
    }
    assert_data_eq!(
        transcripts,
        str![[r#"
status 1
error: cannot open nothing.hcp: No such file or directory (os error 2); check the path: relative paths start in [FOLDER]
status 1
error: cannot open nothing.hcp: No such file or directory (os error 2); check the path: relative paths start in [FOLDER]
status 1
error: cannot open nothing.hcp: No such file or directory (os error 2); check the path: relative paths start in [FOLDER]
status 1
error: cannot open a.hcp/nothing.hcp: Not a directory (os error 20); check the path: one of its folders is a file
status 1
error: cannot create no/b.hcp.partial: No such file or directory (os error 2); check the path: all its folders must exist, and relative paths start in [FOLDER]
status 1
error: cannot create the folder a.hcp/b: Not a directory (os error 20); check the path: one of its folders is a file
status 1
error: cannot open nothing.sfen: No such file or directory (os error 2); check the path: relative paths start in [FOLDER]
status 1
error: cannot read the folder no: No such file or directory (os error 2); check the path: relative paths start in [FOLDER]
status 1
error: cannot start the engine no-engine: No such file or directory (os error 2); a name without a folder is searched for in PATH
status 1
error: cannot start the engine ./no-engine: No such file or directory (os error 2); check the path: relative paths start in [FOLDER]
status 1
error: cannot start the engine ./a.hcp: Permission denied (os error 13); check the permissions of the file and of the folders in its path

"#]]
    );
    assert!(!bench.path("b").exists());
}
