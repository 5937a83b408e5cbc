//! The engine: listens, searches, answers.
//!
//! One thread reads, one searches, this one decides what is said; no command has to wait for a search.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, io};

use anyhow::Context;
use crossbeam_channel::{Receiver, after, never, select};

use super::args::CommandError;
use super::command::{Command, GamePosition, GoLimits, Setting, parse};
use super::options::Options;
use super::reply::{Checkmate, Info, identity, undecided};
use super::searcher::{GONE, Question, SearchAnswer, Searcher};
use crate::cli::usi::line::{Line, MAX_LINE_BYTES};
use crate::mate::judge::InCheck;
use crate::shogi::Position;
use crate::solver::SearchControl;

/// How often a search says how far it is.
const INFO_EVERY: Duration = Duration::from_secs(1);

/// How long a search that is told to end may take to do so before the engine goes without its answer.
const LAST_PATIENCE: Duration = Duration::from_secs(1);

pub(super) struct Engine<W> {
    out: W,
    searcher: Searcher,
    options: Options,
    /// What a search is asked about; `None` after a command whose position was none.
    position: Option<Position>,
    search: Option<Search>,
    /// A `go` without mate waits for `stop` or `ponderhit`.
    owes_move: bool,
}

/// A search under way.
struct Search {
    control: Arc<SearchControl>,
    started: Instant,
    deadline: Option<Instant>,
    next_info: Instant,
}

/// Whether the conversation goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    GoOn,
    Quit,
}

impl<W: Write> Engine<W> {
    /// An engine with the start position, and a thread to search on.
    pub(super) fn new(out: W) -> io::Result<Self> {
        Ok(Self {
            out,
            searcher: Searcher::start()?,
            options: Options::new(),
            position: Some(GamePosition::start().position),
            search: None,
            owes_move: false,
        })
    }

    /// Converses until `quit` or the end of the lines.
    pub(super) fn run(&mut self, lines: &Receiver<io::Result<Line>>) -> anyhow::Result<()> {
        loop {
            let alarm = self.alarm();
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
                recv(self.searcher.answers()) -> answer => self.finish(answer.context(GONE)?)?,
                recv(alarm) -> _ => self.wake()?,
            }
        }
    }

    fn obey(&mut self, command: Command) -> anyhow::Result<Next> {
        match command {
            Command::Usi => {
                identity(Options::offers()).into_iter().try_for_each(|line| self.say(line))?;
            }
            Command::IsReady => self.get_ready()?,
            Command::SetOption(setting) => self.set_option(setting)?,
            Command::Position(position) => self.set_position(position)?,
            Command::GoMate(_) | Command::Go(_) if self.is_busy() => {
                self.complain("go: the last one is not answered yet, stop ends it")?;
            }
            Command::GoMate(Ok(time)) => self.search(time)?,
            Command::GoMate(Err(error)) => self.decline(error)?,
            Command::Go(limits) if limits.as_ref().is_ok_and(GoLimits::on_request) => {
                self.owes_move = true;
            }
            Command::Go(_) => self.resign()?,
            Command::PonderHit if self.owes_move => self.resign()?,
            Command::Stop | Command::GameOver => self.stop()?,
            Command::UsiNewGame | Command::PonderHit => {}
            Command::Quit => return Ok(Next::Quit),
            Command::Unknown(word) => self.complain(format_args!("there is no command {word}"))?,
        }
        Ok(Next::GoOn)
    }

    /// A game that is cut off would be another one.
    fn pass_over(&mut self, start: &str) -> io::Result<()> {
        if start.trim_start().starts_with("position") {
            self.position = None;
        }
        self.complain(format_args!("a line of more than {MAX_LINE_BYTES} bytes is passed over"))
    }

    const fn is_busy(&self) -> bool {
        self.search.is_some() || self.owes_move
    }

    /// Makes the table, so that the first search need not; one that runs has its own.
    fn get_ready(&mut self) -> anyhow::Result<()> {
        if self.search.is_none()
            && let Err(error) = self.searcher.prepare(self.options.table())?
        {
            self.complain(error)?;
        }
        Ok(self.say("readyok")?)
    }

    fn set_option(&mut self, setting: Result<Setting, CommandError>) -> io::Result<()> {
        let set = match setting {
            Ok(setting) => self.options.set(setting).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        set.or_else(|error| self.complain(error))
    }

    /// Better no position than the last one for the next: an answer would be about another.
    fn set_position(
        &mut self,
        position: Result<Box<GamePosition>, CommandError>,
    ) -> io::Result<()> {
        match position {
            Ok(of) => {
                self.position = Some(of.position);
                Ok(())
            }
            Err(error) => {
                self.position = None;
                self.complain(error)
            }
        }
    }

    /// Begins to search whether the side to move mates.
    fn search(&mut self, time: Option<Duration>) -> anyhow::Result<()> {
        let Some(position) = self.position.clone() else {
            return Ok(self.decline("go mate: there is no position, the last one was refused")?);
        };
        if let Err(nothing) = InCheck::Or.asks_about(&position) {
            return Ok(self.decline(format_args!("go mate: {nothing}"))?);
        }
        let options = &self.options;
        let (limits, table) = (options.limits(), options.table());
        let (threads, moves) = (options.threads(), options.multi_pv());
        let control = Arc::new(SearchControl::new());
        let started = Instant::now();
        self.search = Some(Search {
            control: Arc::clone(&control),
            started,
            // A time beyond what the clock can tell is none.
            deadline: time.and_then(|time| started.checked_add(time)),
            next_info: started + INFO_EVERY,
        });
        self.searcher.ask(Question { position, limits, table, threads, moves, control })
    }

    /// Ends what is under way: a search says so itself soon after.
    fn stop(&mut self) -> io::Result<()> {
        if let Some(search) = &self.search {
            search.control.stop();
        }
        if self.owes_move { self.resign() } else { Ok(()) }
    }

    /// This engine knows of no moves but mates: whoever asks it for one gets the word that always is legal.
    fn resign(&mut self) -> io::Result<()> {
        self.owes_move = false;
        self.complain("go: only go mate is searched")?;
        self.say("bestmove resign")
    }

    /// Wakes when the search under way is to be looked after.
    fn alarm(&self) -> Receiver<Instant> {
        let Some(search) = &self.search else { return never() };
        at(search.deadline.map_or(search.next_info, |deadline| deadline.min(search.next_info)))
    }

    fn wake(&mut self) -> io::Result<()> {
        let Some(search) = &mut self.search else { return Ok(()) };
        let now = Instant::now();
        if search.deadline.is_some_and(|deadline| deadline <= now) {
            search.deadline = None;
            search.control.stop();
        }
        if search.next_info > now {
            return Ok(());
        }
        search.next_info = now + INFO_EVERY;
        let info = Info::under_way(search.control.figures(), search.started.elapsed());
        self.say(info)
    }

    /// Answers the search that has ended.
    fn finish(&mut self, answer: SearchAnswer) -> io::Result<()> {
        let Some(search) = self.search.take() else { return Ok(()) };
        match answer {
            Ok(found) => {
                let elapsed = search.started.elapsed();
                let infos = Info::of_all(&found, search.control.figures(), elapsed);
                infos.into_iter().try_for_each(|info| self.say(info))?;
                if let Some(reason) = undecided(found.result.verdict) {
                    self.say(format_args!("info string {reason}"))?;
                }
                self.say(Checkmate::from(found.result))
            }
            Err(error) => {
                self.complain(error)?;
                self.say(Checkmate::Timeout)
            }
        }
    }

    /// Nobody can stop a search any more: one whose time is limited still ends by itself.
    fn end_of_input(&mut self) -> anyhow::Result<()> {
        while self.search.as_ref().is_some_and(|search| search.deadline.is_some()) {
            let alarm = self.alarm();
            select! {
                recv(self.searcher.answers()) -> answer => self.finish(answer.context(GONE)?)?,
                recv(alarm) -> _ => self.wake()?,
            }
        }
        self.end()
    }

    /// Ends a search under way and gives the answer it has.
    fn end(&mut self) -> anyhow::Result<()> {
        if let Some(search) = &self.search {
            search.control.stop();
            if let Ok(answer) = self.searcher.answers().recv_timeout(LAST_PATIENCE) {
                self.finish(answer)?;
            }
        }
        Ok(())
    }

    /// Refuses a `go mate` that cannot be asked.
    fn decline(&mut self, reason: impl fmt::Display) -> io::Result<()> {
        self.complain(reason)?;
        self.say(Checkmate::NotImplemented)
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

/// A message at this moment, or at once if it is past.
fn at(moment: Instant) -> Receiver<Instant> {
    after(moment.saturating_duration_since(Instant::now()))
}
