//! The event loop of `kyokumen usi`.
//!
//! One thread reads lines and other threads search. This thread writes all answers, and no command blocks on a search.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use crossbeam_channel::{Receiver, never, select};

use super::command::{Command, Fault, GamePosition, GoLimits, Setting, parse};
use super::line::{Line, MAX_LINE_BYTES};
use super::reply::identity;
use super::solver::MateSolver;
use crate::shogi::Move;

/// How long a stopped search may take to end. After that, the session ends without its answer.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a search may report no progress after the end of the input. Some networks need seconds for the first
/// answer.
const STALL_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum time between two checks whether the process must end.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(50);

const PLAYER_ENDED: &str = "the thread that searches has ended";

/// Lines to write.
pub(super) type Lines = Vec<String>;

/// Searches for the best move, on other threads.
pub(super) trait Player {
    /// `option` lines for the answer to `usi`.
    fn offers(&self) -> Lines;

    /// Returns `None` if there is no such option.
    fn set_option(&mut self, setting: &Setting) -> Option<Result<(), Fault>>;

    /// Answers `isready`, immediately or later with [`Event::Ready`].
    fn prepare(&mut self) -> Lines;

    /// Answers `go`, immediately or later with [`Event::Decided`]. `position` is `None` if the last one was invalid.
    fn go(&mut self, position: Option<&GamePosition>, limits: Result<GoLimits, Fault>) -> Lines;

    fn ponder_hit(&mut self) -> Lines;

    /// Stops the search. The answer comes immediately or soon with [`Event::Decided`].
    fn stop(&mut self) -> Lines;

    /// Stops the search at the end of the session.
    fn end(&mut self) -> Lines {
        self.stop()
    }

    fn is_busy(&self) -> bool;

    /// Whether a search is running that ends without `stop`.
    fn ends_by_itself(&self) -> bool;

    fn events(&self) -> &Receiver<Event>;

    /// Returns the lines to write for an event.
    fn handle(&mut self, event: Event) -> Lines;
}

/// A message from the threads of a [`Player`].
#[cfg_attr(not(feature = "network"), expect(dead_code, reason = "only networks play"))]
pub(super) enum Event {
    /// The networks are loaded, or loading failed.
    Ready(anyhow::Result<()>),
    Info {
        lines: Lines,
        visits: u32,
    },
    /// A warning to send before the decision.
    Complaint(&'static str),
    Decided(anyhow::Result<Decision>),
}

/// The answer to `go`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(not(feature = "network"), expect(dead_code, reason = "only networks play"))]
pub(super) enum Decision {
    Move { best: Move, ponder: Option<Move> },
    Resign,
    Declare,
}

/// Answers `go` without a network by resigning, which is always legal.
pub(super) struct Resigner {
    /// Whether a `go` waits for `stop` or `ponderhit`.
    is_waiting: bool,
    events: Receiver<Event>,
}

impl Resigner {
    pub(super) fn new() -> Self {
        Self { is_waiting: false, events: never() }
    }

    fn resign(&mut self) -> Lines {
        self.is_waiting = false;
        vec![complaint("go: only go mate is supported without --model"), RESIGN.to_owned()]
    }
}

pub(super) const RESIGN: &str = "bestmove resign";

impl Player for Resigner {
    fn offers(&self) -> Lines {
        Vec::new()
    }

    fn set_option(&mut self, _: &Setting) -> Option<Result<(), Fault>> {
        None
    }

    fn prepare(&mut self) -> Lines {
        vec![READY.to_owned()]
    }

    fn go(&mut self, _: Option<&GamePosition>, limits: Result<GoLimits, Fault>) -> Lines {
        self.is_waiting = limits.as_ref().is_ok_and(GoLimits::waits_for_stop);
        if self.is_waiting { Vec::new() } else { self.resign() }
    }

    fn ponder_hit(&mut self) -> Lines {
        if self.is_waiting { self.resign() } else { Vec::new() }
    }

    fn stop(&mut self) -> Lines {
        self.ponder_hit()
    }

    fn end(&mut self) -> Lines {
        self.is_waiting = false;
        Vec::new()
    }

    fn is_busy(&self) -> bool {
        self.is_waiting
    }

    fn ends_by_itself(&self) -> bool {
        false
    }

    fn events(&self) -> &Receiver<Event> {
        &self.events
    }

    fn handle(&mut self, _: Event) -> Lines {
        Vec::new()
    }
}

pub(super) const READY: &str = "readyok";

pub(super) fn complaint(reason: impl Display) -> String {
    format!("info string error: {reason}")
}

pub(super) struct Session<W> {
    out: W,
    solver: MateSolver,
    player: Box<dyn Player>,
    /// The position to search. `None` if the last `position` was invalid, because an answer would be for an older one.
    position: Option<GamePosition>,
    /// Set when the process must end.
    cancel: Arc<AtomicBool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Continue,
    Quit,
}

impl<W: Write> Session<W> {
    pub(super) fn new(
        out: W,
        solver: MateSolver,
        player: Box<dyn Player>,
        cancel: Arc<AtomicBool>,
    ) -> Self {
        Self { out, solver, player, position: Some(GamePosition::start()), cancel }
    }

    /// Runs until `quit`, the end of the lines, or until `cancel` is set.
    pub(super) fn run(&mut self, lines: &Receiver<io::Result<Line>>) -> anyhow::Result<()> {
        while !self.is_cancelled() {
            self.wake()?;
            select! {
                recv(lines) -> line => {
                    let Ok(line) = line else {
                        self.finish_searches()?;
                        break;
                    };
                    if self.process(&line.context("standard input")?)? == Next::Quit {
                        break;
                    }
                }
                recv(self.solver.replies()) -> reply => {
                    let lines = self.solver.handle(reply)?;
                    self.write(lines)?;
                }
                recv(self.player.events()) -> event => {
                    let lines = self.player.handle(event.context(PLAYER_ENDED)?);
                    self.write(lines)?;
                }
                default(self.pause()) => {}
            }
        }
        self.end()
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    fn pause(&self) -> Duration {
        self.solver.pause().map_or(POLL_INTERVAL, |pause| pause.min(POLL_INTERVAL))
    }

    fn wake(&mut self) -> io::Result<()> {
        let lines = self.solver.wake();
        self.write(lines)
    }

    fn process(&mut self, line: &Line) -> anyhow::Result<Next> {
        if line.is_whole {
            return parse(&line.text).map_or(Ok(Next::Continue), |command| self.execute(command));
        }
        // A truncated game would give a wrong position.
        if line.text.trim_start().starts_with("position") {
            self.position = None;
        }
        let reason = format!("a command is longer than {MAX_LINE_BYTES} bytes and was ignored");
        self.write([complaint(reason)])?;
        Ok(Next::Continue)
    }

    fn execute(&mut self, command: Command) -> anyhow::Result<Next> {
        let lines = match command {
            Command::Usi => identity(self.player.offers().into_iter().chain(self.solver.offers())),
            Command::IsReady => {
                let mut lines = self.solver.prepare(&self.cancel)?;
                lines.extend(self.player.prepare());
                lines
            }
            Command::SetOption(setting) => {
                let set = setting.and_then(|setting| self.set_option(&setting));
                set.err().map(complaint).into_iter().collect()
            }
            Command::Position(Ok(position)) => {
                self.position = Some(*position);
                Vec::new()
            }
            Command::Position(Err(error)) => {
                self.position = None;
                vec![complaint(error)]
            }
            Command::GoMate(_) | Command::Go(_) if self.is_busy() => {
                vec![complaint("go: a search is already running; end it with stop")]
            }
            Command::GoMate(time) => {
                self.solver.go(self.position.as_ref().map(|game| &game.position), time)?
            }
            Command::Go(limits) => self.player.go(self.position.as_ref(), limits),
            Command::PonderHit => self.player.ponder_hit(),
            Command::Stop | Command::GameOver => {
                self.solver.stop();
                self.player.stop()
            }
            Command::UsiNewGame => Vec::new(),
            Command::Quit => return Ok(Next::Quit),
            Command::Unknown(word) => vec![complaint(format!("unknown command {word}"))],
        };
        self.write(lines)?;
        Ok(Next::Continue)
    }

    fn set_option(&mut self, setting: &Setting) -> Result<(), Fault> {
        let set = self.player.set_option(setting).or_else(|| self.solver.set_option(setting));
        set.unwrap_or_else(|| Err(format!("setoption: unknown option {}", setting.name)))
    }

    fn is_busy(&self) -> bool {
        self.solver.is_busy() || self.player.is_busy()
    }

    /// Waits at the end of the input for searches that end without `stop`. Stops waiting if the network makes no
    /// progress.
    fn finish_searches(&mut self) -> anyhow::Result<()> {
        let mut progress: Option<(u32, Instant)> = None;
        while (self.solver.has_deadline() || self.player.ends_by_itself()) && !self.is_cancelled() {
            self.wake()?;
            // The first report comes after the networks are loaded, which may take long.
            if let Some(visits) = self.handle_next(self.pause())?
                && progress.is_none_or(|(most, _)| visits > most)
            {
                progress = Some((visits, Instant::now()));
            }
            if progress.is_some_and(|(_, since)| since.elapsed() > STALL_TIMEOUT) {
                self.write([complaint("the network does not answer; stopping the search")])?;
                break;
            }
        }
        Ok(())
    }

    /// Stops the searches and writes their answers.
    fn end(&mut self) -> anyhow::Result<()> {
        self.solver.stop();
        let lines = self.player.end();
        self.write(lines)?;
        let deadline = Instant::now() + STOP_TIMEOUT;
        while self.is_busy() && Instant::now() < deadline {
            self.handle_next(POLL_INTERVAL)?;
        }
        Ok(())
    }

    /// Waits up to `pause` for the next message of a search and writes it. Returns the visits that the player reports
    /// in it.
    fn handle_next(&mut self, pause: Duration) -> anyhow::Result<Option<u32>> {
        let (lines, visits) = select! {
            recv(self.solver.replies()) -> reply => (self.solver.handle(reply)?, None),
            recv(self.player.events()) -> event => {
                let event = event.context(PLAYER_ENDED)?;
                let visits = if let Event::Info { visits, .. } = event { Some(visits) } else { None };
                (self.player.handle(event), visits)
            }
            default(pause) => (Vec::new(), None),
        };
        self.write(lines)?;
        Ok(visits)
    }

    /// Writes each line with a single call, so that the reader never sees part of a line.
    fn write(&mut self, lines: impl IntoIterator<Item = String>) -> io::Result<()> {
        for line in lines {
            self.out.write_all(format!("{line}\n").as_bytes())?;
            self.out.flush()?;
        }
        Ok(())
    }
}
