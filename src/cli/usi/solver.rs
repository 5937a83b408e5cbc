//! The answers to `go mate`.

use std::fmt::Display;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Context;
use crossbeam_channel::{Receiver, RecvError};

use super::command::{Fault, Setting};
use super::options::Options;
use super::reply::{Checkmate, Info, undecided};
use super::searcher::{MateQuery, SEARCH_THREAD_ENDED, SearchReply, Searcher};
use super::session::{Lines, complaint};
use crate::mate::judge::InCheck;
use crate::ops::language::Language;
use crate::shogi::Position;
use crate::solver::SearchControl;

/// Time between two reports of a search.
const INFO_EVERY: Duration = Duration::from_secs(1);

pub(super) struct MateSolver {
    searcher: Searcher,
    options: Options,
    /// Whether `isready` creates the table.
    prepares: bool,
    language: Language,
    search: Option<Search>,
}

struct Search {
    control: Arc<SearchControl>,
    started: Instant,
    deadline: Option<Instant>,
    next_info: Instant,
}

impl MateSolver {
    /// A solver in an engine without a player. Its options have the usual names.
    pub(super) fn standalone(language: Language) -> io::Result<Self> {
        Self::new(Options::new(), true, language)
    }

    /// A solver in an engine that plays. The names of its options begin with `Mate_`.
    #[cfg(feature = "network")]
    pub(super) fn with_player(language: Language) -> io::Result<Self> {
        Self::new(Options::with_player(), false, language)
    }

    fn new(options: Options, prepares: bool, language: Language) -> io::Result<Self> {
        Ok(Self { searcher: Searcher::start()?, options, prepares, language, search: None })
    }

    pub(super) fn offers(&self) -> impl Iterator<Item = String> + use<> {
        self.options.offers()
    }

    pub(super) fn set_option(&mut self, setting: &Setting) -> Option<Result<(), Fault>> {
        self.options.set(setting)
    }

    pub(super) const fn is_busy(&self) -> bool {
        self.search.is_some()
    }

    /// Whether a search with a time limit is running.
    pub(super) fn has_deadline(&self) -> bool {
        self.search.as_ref().is_some_and(|search| search.deadline.is_some())
    }

    /// Creates the table, so that the first search does not have to. Does nothing during a search, which has its table.
    /// Returns early if `cancel` is set.
    pub(super) fn prepare(&self, cancel: &AtomicBool) -> anyhow::Result<Lines> {
        if !self.prepares || self.is_busy() {
            return Ok(Vec::new());
        }
        let prepared = self.searcher.prepare(self.options.table(), cancel)?;
        Ok(prepared.err().map(complaint).into_iter().collect())
    }

    /// Starts a search, or returns the error lines for an invalid command or position.
    pub(super) fn go(
        &mut self,
        position: Option<&Position>,
        time: Result<Option<Duration>, Fault>,
    ) -> anyhow::Result<Lines> {
        let time = match time {
            Ok(time) => time,
            Err(error) => return Ok(declined(error)),
        };
        let Some(position) = position.cloned() else {
            return Ok(declined("go mate: no position is set, because the last one was invalid"));
        };
        if let Err(error) = InCheck::Or.searches(&position) {
            return Ok(declined(format_args!("go mate: {error}")));
        }
        let options = &self.options;
        let (limits, table) = (options.limits(), options.table());
        let (threads, moves) = (options.threads(), options.multi_pv());
        let control = Arc::new(SearchControl::new());
        let started = Instant::now();
        self.search = Some(Search {
            control: Arc::clone(&control),
            started,
            // A time beyond the range of the clock is no limit.
            deadline: time.and_then(|time| started.checked_add(time)),
            next_info: started + INFO_EVERY,
        });
        self.searcher.start_search(MateQuery {
            position,
            limits,
            table,
            threads,
            moves,
            control,
        })?;
        Ok(Vec::new())
    }

    /// Stops a search. Its answer follows soon.
    pub(super) fn stop(&self) {
        if let Some(search) = &self.search {
            search.control.stop();
        }
    }

    /// Time until [`Self::wake`] is due.
    pub(super) fn pause(&self) -> Option<Duration> {
        let search = self.search.as_ref()?;
        let next = search.deadline.map_or(search.next_info, |end| end.min(search.next_info));
        Some(next.saturating_duration_since(Instant::now()))
    }

    /// Stops a search whose time is up, and reports its progress.
    pub(super) fn wake(&mut self) -> Lines {
        let Some(search) = &mut self.search else { return Vec::new() };
        let now = Instant::now();
        if search.deadline.is_some_and(|deadline| deadline <= now) {
            search.deadline = None;
            search.control.stop();
        }
        if search.next_info > now {
            return Vec::new();
        }
        search.next_info = now + INFO_EVERY;
        vec![Info::in_progress(search.control.figures(), search.started.elapsed()).to_string()]
    }

    pub(super) fn replies(&self) -> &Receiver<SearchReply> {
        self.searcher.replies()
    }

    /// Returns the answer to `go mate`.
    pub(super) fn handle(
        &mut self,
        reply: Result<SearchReply, RecvError>,
    ) -> anyhow::Result<Lines> {
        let reply = reply.context(SEARCH_THREAD_ENDED)?;
        let Some(search) = self.search.take() else { return Ok(Vec::new()) };
        let outcome = match reply {
            Ok(outcome) => outcome,
            Err(error) => return Ok(vec![complaint(error), Checkmate::Timeout.to_string()]),
        };
        let infos = Info::mates(&outcome, search.control.figures(), search.started.elapsed());
        let mut lines: Lines = infos.iter().map(ToString::to_string).collect();
        lines.extend(
            undecided(outcome.result.verdict, self.language)
                .map(|reason| format!("info string {reason}")),
        );
        lines.push(Checkmate::from(outcome.result).to_string());
        Ok(lines)
    }
}

/// The answer to an invalid `go mate`.
fn declined(reason: impl Display) -> Lines {
    vec![complaint(reason), Checkmate::NotImplemented.to_string()]
}
