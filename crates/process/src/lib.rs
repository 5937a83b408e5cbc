#![doc = include_str!("../README.md")]

mod group;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel,
};
use std::time::{Duration, Instant};
use std::{mem, thread};

use thiserror::Error;

pub use group::kill_all;

/// The longest line that is accepted, without its end.
pub const MAX_LINE_BYTES: usize = 1 << 16;

/// Maximum number of bytes read at a time: the capacity of a pipe on Linux.
const CHUNK_BYTES: usize = 1 << 16;

/// Chunks that are read ahead. When all are full, the process blocks on its output.
const CHUNKS_AHEAD: usize = 4;

/// Interval at which a wait checks the cancel flag.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Maximum time for a process to end after it has closed its pipes or was killed.
const END_PATIENCE: Duration = Duration::from_millis(300);

/// Maximum time between the end of a process and the cancel flag, if both have the same cause, such as a signal.
/// Callers may set the flag only when they look at another flag, every 50 to 100 ms.
const CANCEL_PATIENCE: Duration = Duration::from_millis(150);

/// Why a process gave no answer.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The wait was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// The deadline has passed.
    #[error("no answer within {} s", patience.as_secs_f64())]
    Silent {
        /// Duration of the wait.
        patience: Duration,
    },
    /// The process has ended. A line or answer that was cut off by its end is discarded.
    #[error("the program ended ({0})")]
    Ended(ExitStatus),
    /// The process runs, but has closed its input or output.
    #[error("the program closed its pipe")]
    Closed,
    /// A line is longer than [`MAX_LINE_BYTES`].
    #[error("the program sent a line of more than {MAX_LINE_BYTES} bytes")]
    LongLine,
    /// The process sent more bytes than were requested.
    #[error("the program sent more than was requested")]
    Surplus,
}

/// The maximum duration of a wait, and a flag that cancels it.
#[derive(Clone, Copy, Debug)]
pub struct Wait<'a> {
    deadline: Instant,
    patience: Duration,
    cancel: &'a AtomicBool,
}

impl<'a> Wait<'a> {
    /// A wait that begins now. It ends after `patience`, or soon after `cancel` is set.
    pub fn new(patience: Duration, cancel: &'a AtomicBool) -> Self {
        let now = Instant::now();
        // An `Instant` cannot represent a time much further away.
        let deadline = now + patience.min(Duration::from_secs(1 << 30));
        Self { deadline, patience, cancel }
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// A running program with pipes to and from it. Dropping it kills the process and, on Unix, the programs it has
/// started.
#[derive(Debug)]
pub struct ChildProcess {
    child: Child,
    to_write: Sender<Vec<u8>>,
    /// Buffers that have been written and can be reused.
    written: Receiver<Vec<u8>>,
    events: Receiver<Event>,
    /// Disconnected at the end of standard error.
    messages: Receiver<()>,
    /// Bytes read and not yet discarded. The first `taken` were returned; the next `scanned - taken` contain no
    /// newline.
    unread: Vec<u8>,
    taken: usize,
    scanned: usize,
    has_ended: bool,
}

#[derive(Debug)]
enum Event {
    Read(Vec<u8>),
    /// The output has ended, or the process no longer reads its input.
    End,
}

impl ChildProcess {
    /// Starts a program with its arguments. On Unix it leads its own process group, so Ctrl-C at a terminal does not
    /// reach it. `on_message` is called with each line of its standard error that is not empty, on another thread.
    ///
    /// # Errors
    ///
    /// If the system does not start it.
    pub fn start(
        command: &[String],
        on_message: impl FnMut(&str) + Send + 'static,
    ) -> io::Result<Self> {
        let mut to_spawn = Command::new(command.first().map_or("", String::as_str));
        to_spawn.args(command.get(1..).unwrap_or_default());
        to_spawn.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = group::spawn(&mut to_spawn)?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            unreachable!("all pipes were requested");
        };
        let (to_write, given) = channel();
        let (give_back, written) = channel();
        let (event, events) = sync_channel(CHUNKS_AHEAD);
        let (messages_open, messages) = channel();
        let mut process = Self {
            child,
            to_write,
            written,
            events,
            messages,
            unread: Vec::new(),
            taken: 0,
            scanned: 0,
            has_ended: false,
        };
        // No thread is joined: a grandchild may hold the other end of a pipe for as long as it likes.
        let end = event.clone();
        let threads = start_thread("child-reader", move || read(stdout, &event))
            .and_then(|()| {
                start_thread("child-writer", move || write(stdin, &given, &give_back, &end))
            })
            .and_then(|()| {
                start_thread("child-messages", move || {
                    read_messages(stderr, on_message);
                    drop(messages_open);
                })
            });
        threads.inspect_err(|_| process.kill())?;
        Ok(process)
    }

    /// An empty buffer for [`Self::send`]. Reuses the memory of a buffer that was sent.
    pub fn buffer(&mut self) -> Vec<u8> {
        let mut bytes = self.written.try_recv().unwrap_or_default();
        bytes.clear();
        bytes
    }

    /// Queues bytes for the process and returns at once.
    pub fn send(&mut self, bytes: Vec<u8>) {
        // If the process no longer reads, the writer thread reports it as an event.
        drop(self.to_write.send(bytes));
    }

    /// Waits for the next line. Returns it without trailing white space. Invalid UTF-8 is replaced.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn line(&mut self, wait: &Wait<'_>) -> Result<String, Fault> {
        loop {
            if let Some(line) = self.whole_line()? {
                return Ok(line);
            }
            self.receive(wait)?;
        }
    }

    /// The next line if it has already arrived.
    ///
    /// # Errors
    ///
    /// [`Fault::LongLine`].
    pub fn line_at_once(&mut self) -> Result<Option<String>, Fault> {
        loop {
            let line = self.whole_line()?;
            if line.is_some() || !self.receive_at_once() {
                return Ok(line);
            }
        }
    }

    /// Waits for exactly `len` bytes. More bytes than that are an error.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn answer(&mut self, len: usize, wait: &Wait<'_>) -> Result<Vec<u8>, Fault> {
        self.compact();
        self.unread.reserve(len);
        while self.unread.len() < len {
            self.receive(wait)?;
        }
        self.receive_at_once();
        if self.unread.len() > len {
            return Err(Fault::Surplus);
        }
        self.scanned = 0;
        Ok(mem::take(&mut self.unread))
    }

    /// Whether output has arrived that was not yet returned.
    pub fn has_unread(&mut self) -> bool {
        self.taken < self.unread.len() || self.receive_at_once()
    }

    fn whole_line(&mut self) -> Result<Option<String>, Fault> {
        let end = self.unread[self.scanned..].iter().position(|&byte| byte == b'\n');
        let end = end.map(|place| self.scanned + place);
        self.scanned = end.map_or(self.unread.len(), |end| end + 1);
        if end.unwrap_or(self.unread.len()) - self.taken > MAX_LINE_BYTES {
            return Err(Fault::LongLine);
        }
        let Some(end) = end else { return Ok(None) };
        let line = String::from_utf8_lossy(&self.unread[self.taken..end]).trim_end().to_owned();
        self.taken = end + 1;
        Ok(Some(line))
    }

    fn compact(&mut self) {
        self.unread.drain(..self.taken);
        self.scanned -= self.taken;
        self.taken = 0;
    }

    fn put(&mut self, bytes: &[u8]) {
        self.compact();
        self.unread.extend_from_slice(bytes);
    }

    /// Waits until output arrives.
    fn receive(&mut self, wait: &Wait<'_>) -> Result<(), Fault> {
        loop {
            if wait.is_cancelled() {
                return Err(Fault::Cancelled);
            }
            if self.has_ended {
                return Err(self.end(wait));
            }
            let left = wait.deadline.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left.min(POLL_INTERVAL)) {
                Ok(Event::Read(bytes)) => {
                    self.put(&bytes);
                    return Ok(());
                }
                Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => self.has_ended = true,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    return Err(Fault::Silent { patience: wait.patience });
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Takes a chunk if one has arrived. Returns whether it did.
    fn receive_at_once(&mut self) -> bool {
        match self.events.try_recv() {
            Ok(Event::Read(bytes)) => {
                self.put(&bytes);
                true
            }
            Ok(Event::End) | Err(TryRecvError::Disconnected) => {
                self.has_ended = true;
                false
            }
            Err(TryRecvError::Empty) => false,
        }
    }

    /// Why a process closed a pipe. Waits briefly for its exit status.
    fn end(&mut self, wait: &Wait<'_>) -> Fault {
        let status = self.exit_status();
        // A job system may send a signal to this process and to its children, in any order. The request to cancel
        // takes precedence over the exit, so give it time to arrive.
        let until = Instant::now() + CANCEL_PATIENCE;
        while !wait.is_cancelled() {
            if Instant::now() >= until {
                return status.map_or(Fault::Closed, Fault::Ended);
            }
            thread::sleep(Duration::from_millis(5));
        }
        Fault::Cancelled
    }

    fn exit_status(&mut self) -> Option<ExitStatus> {
        let until = Instant::now() + END_PATIENCE;
        let status = loop {
            match group::try_reap(&mut self.child) {
                Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(5)),
                Ok(status) => break status,
                Err(_) => break None,
            }
        };
        // The last messages often explain the end, so they precede the error of the caller.
        let left = until.saturating_duration_since(Instant::now());
        let _: Result<(), _> = self.messages.recv_timeout(left);
        status
    }

    /// Waits briefly for the process to end by itself, and kills it otherwise.
    pub fn end_or_kill(mut self) {
        self.exit_status();
    }

    /// Kills the process and, on Unix, the programs it has started.
    pub fn kill(&mut self) {
        group::kill(&mut self.child);
        // Not `wait`: a process that hangs in the kernel must not hang this one.
        self.exit_status();
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

fn start_thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

/// Reads until the end of the output, or until the receiver is dropped.
fn read(mut stdout: ChildStdout, events: &SyncSender<Event>) {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let event = match stdout.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => Event::End,
            Ok(read) => Event::Read(chunk[..read].to_vec()),
        };
        let is_end = matches!(event, Event::End);
        if events.send(event).is_err() || is_end {
            return;
        }
    }
}

/// Reads lines until the end of standard error. Longer lines than [`MAX_LINE_BYTES`] are cut into several.
fn read_messages(stderr: impl Read, mut on_message: impl FnMut(&str)) {
    let (mut stderr, mut line) = (BufReader::new(stderr), Vec::new());
    loop {
        line.clear();
        match stderr.by_ref().take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let line = String::from_utf8_lossy(&line);
        if !line.trim_end().is_empty() {
            on_message(line.trim_end());
        }
    }
}

/// Writes the buffers it receives, until the process closes its input or the sender is dropped.
fn write(
    mut stdin: ChildStdin,
    given: &Receiver<Vec<u8>>,
    written: &Sender<Vec<u8>>,
    events: &SyncSender<Event>,
) {
    for bytes in given {
        if stdin.write_all(&bytes).and_then(|()| stdin.flush()).is_err() {
            drop(events.send(Event::End));
            return;
        }
        drop(written.send(bytes));
    }
}
