//! Signals of the operating system, for the command line.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[cfg(unix)]
use kyokumen_process::kill_all;
#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGQUIT};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
#[cfg(unix)]
use signal_hook::{iterator::Signals, low_level};

/// A request from the user or the system to stop.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    cancel: Arc<AtomicBool>,
    caught: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Starts to watch for signals. SIGINT, SIGTERM and SIGHUP are requests to stop. A SIGINT after one of them ends
    /// the process at once. A second SIGTERM does not, because job systems may send it twice. SIGQUIT ends the process
    /// at once, as by default. Before the process ends at once, it kills its child processes.
    #[cfg(unix)]
    pub(crate) fn watch() -> io::Result<Self> {
        let interrupt = Self { cancel: Arc::default(), caught: Arc::default() };
        // `nohup` makes its program ignore SIGHUP, and shells make background jobs ignore SIGQUIT.
        let optional = [SIGHUP, SIGQUIT].into_iter().filter(|&signal| !is_ignored(signal));
        let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(optional))?;
        let watcher = interrupt.clone();
        let watch = move || signals.forever().for_each(|signal| watcher.take(signal));
        std::thread::Builder::new().name("signals".to_owned()).spawn(watch)?;
        Ok(interrupt)
    }

    #[cfg(unix)]
    fn take(&self, signal: i32) {
        let is_stopping = self.cancel.load(Ordering::Relaxed);
        if signal == SIGQUIT || signal == SIGINT && is_stopping {
            kill_all();
            if signal == SIGQUIT {
                // Returns only if it fails.
                let _: io::Result<()> = low_level::emulate_default_handler(signal);
            }
            low_level::exit(128 + signal);
        }
        if !is_stopping {
            self.caught.store(signal.unsigned_abs() as usize, Ordering::Relaxed);
            self.cancel.store(true, Ordering::Release);
        }
    }

    /// Starts to watch for signals. Ctrl-C is a request to stop. A second Ctrl-C ends the process at once. Child
    /// processes of the same console receive it too.
    #[cfg(not(unix))]
    pub(crate) fn watch() -> io::Result<Self> {
        let interrupt = Self { cancel: Arc::default(), caught: Arc::default() };
        for signal in [SIGINT, SIGTERM] {
            if signal == SIGINT {
                flag::register_conditional_shutdown(signal, 128 + signal, interrupt.cancel())?;
            }
            let number = signal.unsigned_abs() as usize;
            flag::register_usize(signal, Arc::clone(&interrupt.caught), number)?;
            flag::register(signal, interrupt.cancel())?;
        }
        Ok(interrupt)
    }

    /// A flag that the first signal sets.
    pub(crate) fn cancel(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancel)
    }

    pub(crate) fn signal(&self) -> Option<u8> {
        match self.caught.load(Ordering::Relaxed) {
            0 => None,
            signal => u8::try_from(signal).ok(),
        }
    }
}

/// Whether this process was started with a signal ignored.
#[cfg(target_os = "linux")]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    ignored.is_some_and(|ignored| ignored >> (signal - 1) & 1 == 1)
}

/// Whether this process may have been started with a signal ignored. No safe call reports it, so the terminal decides:
/// `nohup` redirects standard error if it is a terminal.
#[cfg(all(unix, not(target_os = "linux")))]
fn is_ignored(_signal: i32) -> bool {
    !io::IsTerminal::is_terminal(&io::stderr())
}

/// Makes a write beyond the user's file size limit fail with an error, as on a full disk. By default, Unix ends the
/// process with a signal.
#[cfg(unix)]
pub(crate) fn fail_at_the_limit_of_file_size() -> io::Result<()> {
    /// The same number on all supported systems that have this signal.
    const SIGXFSZ: i32 = 25;
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// Does nothing, because Windows has no such signal.
#[cfg(not(unix))]
pub(crate) fn fail_at_the_limit_of_file_size() -> io::Result<()> {
    Ok(())
}
