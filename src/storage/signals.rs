//! Signals of the operating system, for the command line.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[cfg(unix)]
use kyokumen_process::kill_all;
#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
#[cfg(unix)]
use signal_hook::{flag, iterator::Signals, low_level};

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

    /// Starts to watch for events of the console. Ctrl-C, Ctrl-Break, a closed window and the end of the session are
    /// requests to stop. Ctrl-C or Ctrl-Break after one of them ends the process at once. Child processes of the same
    /// console receive the events too.
    #[cfg(windows)]
    pub(crate) fn watch() -> io::Result<Self> {
        console::watch()
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
#[cfg(windows)]
pub(crate) fn fail_at_the_limit_of_file_size() -> io::Result<()> {
    Ok(())
}

/// Events of the console. Each is given to `handle` on a new thread.
#[cfg(windows)]
mod console {
    use std::sync::{Arc, LazyLock};
    use std::{io, thread};

    use windows_sys::Win32::System::Console::{
        CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler,
    };
    use windows_sys::core::BOOL;

    use super::{Interrupt, Ordering};

    static INTERRUPT: LazyLock<Interrupt> =
        LazyLock::new(|| Interrupt { cancel: Arc::default(), caught: Arc::default() });

    /// Numbers of the signals with the same meaning, for exit statuses.
    const SIGINT: usize = 2;
    const SIGTERM: usize = 15;

    #[allow(unsafe_code, reason = "the crates for these events return when a window is closed")]
    pub(super) fn watch() -> io::Result<Interrupt> {
        // SAFETY: `handle` exists as long as the process, and can be called on any thread at any time: what it shares
        // with other threads is atomic.
        match unsafe { SetConsoleCtrlHandler(Some(handle), 1) } {
            0 => Err(io::Error::last_os_error()),
            _ => Ok(INTERRUPT.clone()),
        }
    }

    /// Returns whether the event was handled. If not, Windows ends the process.
    extern "system" fn handle(event: u32) -> BOOL {
        let can_continue = matches!(event, CTRL_C_EVENT | CTRL_BREAK_EVENT);
        if !INTERRUPT.cancel.load(Ordering::Relaxed) {
            let signal = if event == CTRL_C_EVENT { SIGINT } else { SIGTERM };
            INTERRUPT.caught.store(signal, Ordering::Relaxed);
            INTERRUPT.cancel.store(true, Ordering::Release);
        } else if can_continue {
            return 0;
        }
        while !can_continue {
            // Windows waits some seconds for this function, and then or when it returns ends the process.
            thread::park();
        }
        1
    }

    #[cfg(test)]
    mod tests {
        use std::time::{Duration, Instant};

        use windows_sys::Win32::System::Console::CTRL_CLOSE_EVENT;

        use super::*;

        #[test]
        fn a_closed_window_is_a_request_to_stop_that_waits_for_the_end_of_the_process() {
            let interrupt = Interrupt::watch().unwrap();
            assert_eq!(interrupt.signal(), None);
            let closing = thread::spawn(|| handle(CTRL_CLOSE_EVENT));
            let started = Instant::now();
            while interrupt.signal().is_none() && started.elapsed() < Duration::from_secs(10) {
                thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(interrupt.signal(), Some(15));
            assert!(interrupt.cancel().load(Ordering::Relaxed));
            assert!(!closing.is_finished());
            assert_eq!(handle(CTRL_BREAK_EVENT), 0);
        }
    }
}
