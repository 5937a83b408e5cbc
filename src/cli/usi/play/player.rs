//! The conversation of an engine that plays.
//!
//! One thread reads, one searches, this one decides what is said; no command has to wait for a search.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fmt, io};

use anyhow::{Context, anyhow};
use crossbeam_channel::{Receiver, RecvTimeoutError, select};

use super::clock::deadline;
use super::info::Info;
use super::options::PlayOptions;
use super::thinker::{Control, Decision, Event, Networks, Thinker, Thought};
use crate::cli::advice::told;
use crate::cli::usi::command::{Command, GamePosition, GoLimits, parse};
use crate::cli::usi::line::{Line, MAX_LINE_BYTES};
use crate::cli::usi::reply::identity;

/// How long a search that is told to end may take to do so before the engine goes without its answer.
const LAST_PATIENCE: Duration = Duration::from_secs(5);

/// How long a search that nobody can stop any more may make no progress. Some networks take seconds to answer first.
const STALLED_PATIENCE: Duration = Duration::from_secs(10);

/// How often the conversation checks whether the process must end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

const GONE: &str = "the thread that searches has ended";

pub(super) struct Player<W> {
    out: W,
    thinker: Thinker,
    options: PlayOptions,
    /// What a search is asked about; `None` after a command whose position was none.
    of: Option<GamePosition>,
    search: Option<Search>,
    /// Set when the process must end.
    cancel: Arc<AtomicBool>,
}

/// A search that is not answered yet.
struct Search {
    limits: GoLimits,
    control: Arc<Control>,
    /// What was decided, before anybody asked.
    decision: Option<Decision>,
}

/// Whether the conversation goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    GoOn,
    Quit,
}

impl<W: Write> Player<W> {
    pub(super) fn new(out: W, networks: Networks, cancel: Arc<AtomicBool>) -> io::Result<Self> {
        let (thinker, options) = (Thinker::start(networks)?, PlayOptions::new());
        Ok(Self { out, thinker, options, of: Some(GamePosition::start()), search: None, cancel })
    }

    /// Converses until `quit` or the end of the lines, or until `cancel` is set.
    pub(super) fn run(&mut self, lines: &Receiver<io::Result<Line>>) -> anyhow::Result<()> {
        while !self.is_cancelled() {
            select! {
                recv(lines) -> line => match line {
                    Ok(line) => {
                        let line = line.context("standard input")?;
                        if !line.is_whole {
                            self.pass_over(&line.text)?;
                        } else if let Some(command) = parse(&line.text)
                            && self.obey(command)? == Next::Quit
                        {
                            return self.end();
                        }
                    }
                    Err(_) => return self.end_of_input(),
                },
                recv(self.thinker.events()) -> event => self.hear(event.context(GONE)?)?,
                default(LOOK_EVERY) => {}
            }
        }
        self.end()
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    fn obey(&mut self, command: Command) -> anyhow::Result<Next> {
        match command {
            Command::Usi => {
                let lines = identity(self.options.offers());
                lines.into_iter().try_for_each(|line| self.say(line))?;
            }
            Command::IsReady => self.thinker.prepare(),
            Command::SetOption(Ok(setting)) => {
                if let Err(error) = self.options.set(setting) {
                    self.complain(error)?;
                }
            }
            Command::SetOption(Err(error)) => self.complain(error)?,
            Command::Position(Ok(of)) => self.of = Some(*of),
            Command::Position(Err(error)) => {
                self.of = None;
                self.complain(error)?;
            }
            Command::Go(_) | Command::GoMate(_) if self.search.is_some() => {
                self.complain("go: the last one is not answered yet, stop ends it")?;
            }
            Command::Go(Ok(limits)) => self.think(limits)?,
            Command::Go(Err(error)) => {
                self.complain(error)?;
                self.say("bestmove resign")?;
            }
            Command::GoMate(_) => self.say("checkmate notimplemented")?,
            Command::PonderHit => self.ponder_hit()?,
            Command::Stop | Command::GameOver => self.stop()?,
            Command::UsiNewGame => {}
            Command::Quit => return Ok(Next::Quit),
            Command::Unknown(word) => self.complain(format_args!("there is no command {word}"))?,
        }
        Ok(Next::GoOn)
    }

    /// A game that is cut off would be another one.
    fn pass_over(&mut self, start: &str) -> io::Result<()> {
        if start.trim_start().starts_with("position") {
            self.of = None;
        }
        self.complain(format_args!("a line of more than {MAX_LINE_BYTES} bytes is passed over"))
    }

    fn think(&mut self, limits: GoLimits) -> io::Result<()> {
        let Some(of) = self.of.clone() else {
            self.complain("go: there is no position, the last one was refused")?;
            return self.say("bestmove resign");
        };
        let mover = of.position.side_to_move();
        let ends = deadline(&limits, mover, self.options.margin(), Instant::now());
        let control = Arc::new(Control::until(ends.filter(|_| !limits.on_request())));
        let nodes = limits.nodes.or(self.options.nodes()).unwrap_or(u64::MAX);
        self.thinker.think(Thought {
            of,
            most_visits: u32::try_from(nodes).unwrap_or(u32::MAX).max(1),
            most_positions: self.options.most_positions(),
            multi_pv: self.options.multi_pv(),
            draw_value: self.options.draw_value(),
            root_mate_nodes: self.options.root_mate_nodes(),
            resign: self.options.resign(),
            control: Arc::clone(&control),
        });
        self.search = Some(Search { limits, control, decision: None });
        Ok(())
    }

    /// The other side has played what was expected: from now on time counts.
    fn ponder_hit(&mut self) -> io::Result<()> {
        let Some(search) = &mut self.search else { return Ok(()) };
        search.limits.ponder = false;
        if let (Some(decision), false) = (search.decision, search.limits.on_request()) {
            return self.answer(decision);
        }
        if let Some(of) = &self.of {
            let mover = of.position.side_to_move();
            let margin = self.options.margin();
            search.control.set_deadline(deadline(&search.limits, mover, margin, Instant::now()));
        }
        Ok(())
    }

    /// Ends what is under way: a search says so itself soon after.
    fn stop(&mut self) -> io::Result<()> {
        let Some(search) = &mut self.search else { return Ok(()) };
        (search.limits.infinite, search.limits.ponder) = (false, false);
        search.control.stop();
        match search.decision {
            Some(decision) => self.answer(decision),
            None => Ok(()),
        }
    }

    fn hear(&mut self, event: Event) -> io::Result<()> {
        match event {
            Event::Ready(Ok(())) => self.say("readyok"),
            Event::Ready(Err(error)) => {
                self.complain(format_args!("{}", told(&error)))?;
                self.say("readyok")
            }
            Event::Complaint(reason) => self.complain(reason),
            Event::Info(infos) => infos.into_iter().try_for_each(|info| self.say(info)),
            Event::Decided(Err(error)) => {
                self.complain(format_args!("{}", told(&error)))?;
                self.answer(Decision::Resign)
            }
            Event::Decided(Ok(decision)) => match &mut self.search {
                Some(search) if search.limits.on_request() => {
                    search.decision = Some(decision);
                    Ok(())
                }
                _ => self.answer(decision),
            },
        }
    }

    fn answer(&mut self, decision: Decision) -> io::Result<()> {
        self.search = None;
        match decision {
            Decision::Resign => self.say("bestmove resign"),
            Decision::Declare => self.say("bestmove win"),
            Decision::Move { best, ponder: Some(ponder) } => {
                self.say(format_args!("bestmove {best} ponder {ponder}"))
            }
            Decision::Move { best, ponder: None } => self.say(format_args!("bestmove {best}")),
        }
    }

    /// Nobody can stop a search any more. One that ends by itself still does, unless it makes no progress.
    fn end_of_input(&mut self) -> anyhow::Result<()> {
        let mut progress = None;
        while self.ends_by_itself() && !self.is_cancelled() {
            match self.thinker.events().recv_timeout(LOOK_EVERY) {
                Ok(event) => {
                    // The first of these comes when the networks are loaded, which may take long.
                    if let Event::Info(infos) = &event {
                        let visits = infos.iter().map(Info::visits).max().unwrap_or(0);
                        if progress.is_none_or(|(most, _)| visits > most) {
                            progress = Some((visits, Instant::now()));
                        }
                    }
                    self.hear(event)?;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(anyhow!(GONE)),
            }
            if progress.is_some_and(|(_, since)| since.elapsed() > STALLED_PATIENCE) {
                self.complain("the network does not answer: the search is stopped")?;
                break;
            }
        }
        self.end()
    }

    /// Whether a search is under way that needs no `stop`.
    fn ends_by_itself(&self) -> bool {
        self.search.as_ref().is_some_and(|search| {
            let has_limit = search.limits.nodes.is_some() || search.limits.move_time.is_some();
            has_limit && !search.limits.on_request()
        })
    }

    /// Ends a search under way and gives the answer it has.
    fn end(&mut self) -> anyhow::Result<()> {
        self.stop()?;
        let patience = Instant::now() + LAST_PATIENCE;
        while self.search.is_some() {
            let Ok(event) = self.thinker.events().recv_deadline(patience) else { break };
            self.hear(event)?;
        }
        Ok(())
    }

    fn complain(&mut self, reason: impl fmt::Display) -> io::Result<()> {
        self.say(format_args!("info string error: {reason}"))
    }

    /// Writes a line in one piece, so that it is never seen half done.
    fn say(&mut self, line: impl fmt::Display) -> io::Result<()> {
        self.out.write_all(format!("{line}\n").as_bytes())?;
        self.out.flush()
    }
}
