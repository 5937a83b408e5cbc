//! `kyokumen usi --model`: answers `go` by tree search with a network.

mod clock;
mod info;
mod options;
mod thinker;

use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::Receiver;

use super::args::UsiArgs;
use super::command::{Fault, GamePosition, GoLimits, Setting};
use super::session::{Decision, Event, Lines, Player, READY, RESIGN, complaint};
use crate::cli::advice::explain;
use crate::cli::option::positive;
use crate::selfplay::evaluators::Model;
use crate::shogi::Color;
use clock::deadline;
use options::PlayOptions;
use thinker::{Control, Networks, SearchRequest, Thinker};

/// Default of `--batch`, in positions. Larger batches are not faster on a CPU.
const BATCH: usize = 8;

/// Default of `--policy-temperature`, as dlshogi uses in games.
const POLICY_TEMPERATURE: f32 = 1.74;

pub(super) struct NetworkPlayer {
    thinker: Thinker,
    options: PlayOptions,
    search: Option<Search>,
}

/// A `go` without an answer yet.
struct Search {
    side_to_move: Color,
    limits: GoLimits,
    control: Arc<Control>,
    /// A decision held back until `stop` or `ponderhit`.
    decision: Option<Decision>,
}

impl NetworkPlayer {
    pub(super) fn new(args: &UsiArgs) -> anyhow::Result<Self> {
        let policy_temperature = args.policy_temperature.unwrap_or(POLICY_TEMPERATURE);
        let policy_temperature = positive("--policy-temperature", policy_temperature)?;
        let networks = Networks {
            models: Model::of_devices(
                &args.model,
                &args.runtime.runtimes()?,
                Some(args.threads.unwrap_or(1)),
            ),
            policy_temperature,
            batch: args.batch.unwrap_or(BATCH),
        };
        let (thinker, options) = (Thinker::start(networks)?, PlayOptions::new());
        Ok(Self { thinker, options, search: None })
    }

    fn answer(&mut self, decision: Decision) -> String {
        self.search = None;
        match decision {
            Decision::Resign => RESIGN.to_owned(),
            Decision::Declare => "bestmove win".to_owned(),
            Decision::Move { best, ponder: Some(ponder) } => {
                format!("bestmove {best} ponder {ponder}")
            }
            Decision::Move { best, ponder: None } => format!("bestmove {best}"),
        }
    }
}

impl Player for NetworkPlayer {
    fn offers(&self) -> Lines {
        self.options.offers().collect()
    }

    fn set_option(&mut self, setting: &Setting) -> Option<Result<(), Fault>> {
        self.options.set(setting)
    }

    fn prepare(&mut self) -> Lines {
        self.thinker.prepare();
        Vec::new()
    }

    fn go(&mut self, position: Option<&GamePosition>, limits: Result<GoLimits, Fault>) -> Lines {
        let (game, limits) = match (position, limits) {
            (_, Err(error)) => return vec![complaint(error), RESIGN.to_owned()],
            (None, Ok(_)) => {
                let reason = "go: no position is set, because the last one was invalid";
                return vec![complaint(reason), RESIGN.to_owned()];
            }
            (Some(game), Ok(limits)) => (game.clone(), limits),
        };
        let side_to_move = game.position.side_to_move();
        let end = deadline(&limits, side_to_move, self.options.margin(), Instant::now());
        let control = Arc::new(Control::until(end.filter(|_| !limits.waits_for_stop())));
        let nodes = limits.nodes.or(self.options.nodes()).unwrap_or(u64::MAX);
        self.thinker.think(SearchRequest {
            game,
            most_visits: u32::try_from(nodes).unwrap_or(u32::MAX).max(1),
            most_positions: self.options.most_positions(),
            multi_pv: self.options.multi_pv(),
            draw_value: self.options.draw_value(),
            root_mate_nodes: self.options.root_mate_nodes(),
            resign: self.options.resign(),
            control: Arc::clone(&control),
        });
        self.search = Some(Search { side_to_move, limits, control, decision: None });
        Vec::new()
    }

    /// The opponent has played the expected move, so the clock starts now.
    fn ponder_hit(&mut self) -> Lines {
        let Some(search) = &mut self.search else { return Vec::new() };
        search.limits.ponder = false;
        if let (Some(decision), false) = (search.decision, search.limits.waits_for_stop()) {
            return vec![self.answer(decision)];
        }
        let margin = self.options.margin();
        let end = deadline(&search.limits, search.side_to_move, margin, Instant::now());
        search.control.set_deadline(end);
        Vec::new()
    }

    fn stop(&mut self) -> Lines {
        let Some(search) = &mut self.search else { return Vec::new() };
        (search.limits.infinite, search.limits.ponder) = (false, false);
        search.control.stop();
        let decision = search.decision;
        decision.map(|decision| self.answer(decision)).into_iter().collect()
    }

    fn is_busy(&self) -> bool {
        self.search.is_some()
    }

    fn ends_by_itself(&self) -> bool {
        self.search.as_ref().is_some_and(|search| {
            let has_limit = search.limits.nodes.is_some() || search.limits.move_time.is_some();
            has_limit && !search.limits.waits_for_stop()
        })
    }

    fn events(&self) -> &Receiver<Event> {
        self.thinker.events()
    }

    fn handle(&mut self, event: Event) -> Lines {
        match event {
            Event::Ready(Ok(())) => vec![READY.to_owned()],
            Event::Ready(Err(error)) => vec![complaint(explain(&error)), READY.to_owned()],
            Event::Complaint(reason) => vec![complaint(reason)],
            Event::Info { lines, .. } => lines,
            Event::Decided(Err(error)) => {
                vec![complaint(explain(&error)), self.answer(Decision::Resign)]
            }
            Event::Decided(Ok(decision)) => match &mut self.search {
                Some(search) if search.limits.waits_for_stop() => {
                    search.decision = Some(decision);
                    Vec::new()
                }
                _ => vec![self.answer(decision)],
            },
        }
    }
}
