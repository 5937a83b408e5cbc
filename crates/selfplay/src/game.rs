//! One game from its opening to its end, advanced simulation by simulation.

use kyokumen_format::{
    EVAL_SCALE, Game, GameResult, MATE_EVAL, Played, VisitedMove, eval_of_value,
};
use kyokumen_game::random::SplitMix64;
use kyokumen_mcts::{GumbelResult, Leaf, LeafSearch, Root, RootMove, Simulation, Tree};
use kyokumen_network::Batch;
use kyokumen_shogi::{Color, Position, PositionHistory};

use crate::choice::{draw, draw_by_policy};
use crate::course::{Course, Next};
use crate::effort::{Effort, Efforts};
use crate::opponents::{OpponentMove, OpponentTurn};
use crate::settings::GameSettings;

/// Sum of the visits that represent the improved policy of a search by Gumbel scores.
const POLICY_VISITS: f32 = 10_000.0;

/// A game in progress.
#[derive(Clone, Debug)]
pub struct SelfPlayGame {
    number: u64,
    settings: GameSettings,
    random: SplitMix64,
    tree: Tree,
    leaf: Leaf,
    course: Course,
    /// Simulations for the current position; `None` before its search has started.
    playouts: Option<u32>,
    extensions: u8,
    efforts: Efforts,
    /// The effort for the current position.
    effort: Effort,
    counts: GameCounts,
    /// The side that an opponent plays.
    opponent: Option<Color>,
    turn: Turn,
}

/// Whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    /// The network's.
    Network,
    /// The opponent's. It has not been asked yet.
    Opponent,
    /// The opponent's. It has been asked.
    Asked,
}

/// Numbers of simulations, positions and moves of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GameCounts {
    /// Number of simulations.
    pub simulations: u64,
    /// Number of searched positions.
    pub positions: u64,
    /// Number of moves, including those that were not searched.
    pub moves: u64,
    /// Number of positions that the network has evaluated.
    pub evaluations: u64,
    /// Number of positions whose evaluation was in the cache.
    pub cached: u64,
}

/// A game that has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FinishedGame {
    /// Its number.
    pub number: u64,
    /// The game. Searched positions have an evaluation and the visits of their moves. Positions whose move was random,
    /// forced or part of a proven mate are marked as not for training.
    pub game: Game,
    /// Its numbers of simulations, positions and moves.
    pub counts: GameCounts,
    /// Why it is not to be written; `None` if it is to be written.
    pub dropped: Option<Dropped>,
    /// In a game without resignation: whether the side that would have resigned first did not lose. `None` if no side
    /// would have resigned.
    pub wrongly_resigned: Option<bool>,
}

/// Why a game is not to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dropped {
    /// It has fewer moves than [`GameSettings::min_moves`].
    TooShort,
    /// It reached [`GameSettings::max_moves`], and [`GameSettings::drop_move_limit`] is set.
    MoveLimit,
}

impl Dropped {
    /// Its name in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooShort => "too_short",
            Self::MoveLimit => "move_limit",
        }
    }
}

/// The result of [`SelfPlayGame::step`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The position that [`SelfPlayGame::push`] adds to a batch must be evaluated.
    Evaluate,
    /// The opponent must choose a move. Other games need not wait for it.
    Opponent,
    /// The game has ended.
    Ended,
}

impl SelfPlayGame {
    /// Starts a game from `opening`. Its random numbers depend on `seed` and `number`.
    pub fn new(settings: GameSettings, seed: u64, number: u64, opening: &Position) -> Self {
        let mut random = SplitMix64::new(SplitMix64::nth_bits(seed, number));
        let mut history = PositionHistory::default();
        history.push(opening);
        let noise = random.next_bits();
        let efforts = Efforts::new(settings, seed, number);
        Self {
            number,
            settings,
            random,
            tree: Tree::new(settings.search, opening.clone(), history, noise),
            leaf: Leaf::default(),
            course: Course::new(settings, seed, number, opening),
            effort: efforts.at(0),
            efforts,
            playouts: None,
            extensions: 0,
            counts: GameCounts::default(),
            opponent: None,
            turn: Turn::Network,
        }
    }

    /// Lets an opponent play this side.
    #[must_use]
    pub const fn against(mut self, side: Option<Color>) -> Self {
        self.opponent = side;
        self
    }

    /// Its number.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Continues until an evaluation is needed or the game ends.
    pub fn step(&mut self, mates: &mut LeafSearch) -> Step {
        loop {
            if self.course.has_ended() {
                return Step::Ended;
            }
            if self.turn != Turn::Network {
                return Step::Opponent;
            }
            let Some(playouts) = self.playouts else {
                if self.begin_position(mates) {
                    return Step::Ended;
                }
                continue;
            };
            if self.has_searched_enough(playouts) {
                if self.play() {
                    return Step::Ended;
                }
                continue;
            }
            match self.tree.simulate(&mut self.leaf, mates) {
                Simulation::Leaf => return Step::Evaluate,
                Simulation::Known => self.counts.simulations += 1,
                Simulation::Proven | Simulation::Collision => {
                    unreachable!(
                        "the search of a proven root has ended, and one leaf waits at a time"
                    )
                }
            }
        }
    }

    /// Adds the position that waits for an evaluation to a batch.
    pub fn push(&self, batch: &mut Batch) {
        batch.push(self.leaf.position(), self.leaf.moves());
    }

    /// Receives the evaluation: the probabilities of the moves, and of a win.
    pub fn answer(&mut self, policy: &[f32], value: f32) {
        self.counts.evaluations += 1;
        self.expand(policy, value);
    }

    /// Receives an evaluation from a cache.
    pub(crate) fn answer_from_cache(&mut self, policy: &[f32], value: f32) {
        self.counts.cached += 1;
        self.expand(policy, value);
    }

    fn expand(&mut self, policy: &[f32], value: f32) {
        self.tree.expand(&self.leaf, policy, value);
        self.counts.simulations += 1;
    }

    /// The question to the opponent, if it has not been asked yet.
    pub fn take_turn(&mut self) -> Option<OpponentTurn> {
        let is_new = self.turn == Turn::Opponent;
        self.turn = Turn::Asked;
        is_new.then(|| OpponentTurn {
            number: self.number,
            game: self.course.game().clone(),
            position: self.tree.position().clone(),
        })
    }

    /// Receives the answer of the opponent. Its moves are not for training.
    pub fn answer_opponent(&mut self, answer: OpponentMove) {
        self.turn = Turn::Network;
        match answer {
            OpponentMove::Move { m, eval_cp } => self.make(Played {
                eval_cp: Some(eval_cp),
                is_not_for_training: true,
                ..Played::new(m, 0)
            }),
            OpponentMove::Resign => {
                let winner = !self.tree.position().side_to_move();
                self.course.end(GameResult::win_of(winner), None);
            }
        }
    }

    /// The position that waits for an evaluation.
    pub(crate) const fn waiting(&self) -> &Position {
        self.leaf.position()
    }

    /// Numbers of simulations, positions and moves up to now.
    pub const fn counts(&self) -> GameCounts {
        self.counts
    }

    /// Returns the game after its end.
    pub fn finish(self) -> FinishedGame {
        let mut finished = self.course.finish(self.number, self.counts);
        finished.game.opponent = self.opponent;
        finished
    }

    /// Ends the game if the rules require it, plays a move that needs no search, or starts a search. Returns whether
    /// the game has ended.
    fn begin_position(&mut self, mates: &mut LeafSearch) -> bool {
        match self.course.next(self.tree.position(), self.tree.history(), mates) {
            Next::Ended => return true,
            Next::Forced(played) => self.make(played),
            Next::Choice if self.opponent == Some(self.tree.position().side_to_move()) => {
                self.turn = Turn::Opponent;
            }
            Next::Choice => {
                self.effort = self.efforts.at(self.course.ply());
                let Effort { simulations, has_noise, .. } = self.effort;
                if !has_noise {
                    self.tree.disable_noise();
                }
                self.tree.plan(simulations);
                self.playouts = Some(simulations);
                let is_fixed = simulations != self.settings.playouts || self.course.is_random();
                self.extensions = if is_fixed { 0 } else { self.settings.extensions };
            }
        }
        false
    }

    /// Whether the search of the position is complete. Extends the search if two moves are nearly equal.
    fn has_searched_enough(&mut self, playouts: u32) -> bool {
        if self.tree.is_proven() {
            return true;
        }
        if !self.tree.is_evaluated() {
            return false;
        }
        let left = playouts.saturating_sub(self.tree.visits());
        if self.settings.search.gumbel.is_some() {
            return left == 0;
        }
        let [first, second] = self.tree.leading_visits();
        if left > 0 && !(self.settings.early_stop && first - second > left) {
            return false;
        }
        // Less than 1.2 times the visits.
        if self.extensions > 0 && u64::from(first) * 5 < u64::from(second) * 6 {
            self.extensions -= 1;
            self.playouts = Some(playouts.saturating_add((self.settings.playouts / 2).max(1)));
            return false;
        }
        true
    }

    /// Plays a move by the search result, or resigns. Returns whether the game has ended.
    fn play(&mut self) -> bool {
        self.playouts = None;
        let root = self.tree.root();
        if root.proven.is_none() && self.effort.simulations == 0 {
            self.play_by_policy(&root);
            return false;
        }
        self.counts.positions += 1;
        let gumbel = self.tree.gumbel_result().filter(|_| root.proven.is_none());
        let best = match &gumbel {
            Some(result) => root.moves.iter().find(|m| m.m == result.best).copied(),
            None => root.best(),
        };
        let best = best.expect("a position that is searched has moves");
        let value = best_value(&root, best);
        self.push_value(value);
        if root.proven.is_none() && self.course.resigns(self.tree.position(), value) {
            return true;
        }
        let (ply, is_drawn) = (self.course.ply(), self.course.is_random());
        let drawn = is_drawn.then(|| draw(&root, &self.settings.opening, ply, &mut self.random));
        let played = drawn.flatten().unwrap_or(best);
        let eval = match root.proven {
            Some(true) => MATE_EVAL,
            Some(false) => -MATE_EVAL,
            None => eval_of_value(value, EVAL_SCALE),
        };
        self.make(Played {
            eval_cp: Some(eval),
            candidates: gumbel.map_or_else(|| candidates(&root), |result| improved(&result)),
            is_not_for_training: !self.effort.is_for_training || root.proven.is_some(),
            ..Played::new(played.m, 0)
        });
        false
    }

    /// Plays a move drawn from the policy of a position without simulations.
    fn play_by_policy(&mut self, root: &Root) {
        let temperature = self.settings.policy_opening.map_or(1.0, |opening| opening.temperature);
        let drawn = draw_by_policy(root, temperature, &mut self.random);
        self.make(Played {
            eval_cp: Some(eval_of_value(root.value, EVAL_SCALE)),
            is_not_for_training: true,
            ..Played::new(drawn.expect("the position has moves").m, 0)
        });
    }

    fn push_value(&mut self, value: f32) {
        let is_black = self.tree.position().side_to_move() == Color::Black;
        let advantage = 2.0 * value - 1.0;
        self.efforts.push_value(if is_black { advantage } else { -advantage });
    }

    fn make(&mut self, played: Played) {
        let noise = self.random.next_bits();
        self.tree.restart(played.best_move, noise);
        self.course.push(played);
        self.counts.moves += 1;
    }
}

/// Probability that the side to move wins with the best move.
pub fn best_value(root: &Root, best: RootMove) -> f32 {
    match root.proven {
        Some(true) => 1.0,
        Some(false) => 0.0,
        None => best.value.unwrap_or(root.value),
    }
}

/// The improved policy as visits.
fn improved(result: &GumbelResult) -> Vec<VisitedMove> {
    #[expect(clippy::cast_sign_loss, reason = "a probability is not negative")]
    let visits = |p: f32| (p * POLICY_VISITS).round() as u16;
    let moves = result.policy.iter();
    let moves = moves.map(|&(m, p)| VisitedMove { best_move: m, visits: visits(p) });
    moves.filter(|candidate| candidate.visits > 0).collect()
}

/// The moves with visits, without visits that only noise caused. If the largest number exceeds 16 bits, all are scaled
/// down by a power of two.
pub fn candidates(root: &Root) -> Vec<VisitedMove> {
    let visits_of = |m: &RootMove| m.visits - m.noise_visits;
    let most = root.moves.iter().map(visits_of).max().unwrap_or(0);
    let shift = (u32::BITS - most.leading_zeros()).saturating_sub(u16::BITS);
    let visits = |m: &RootMove| u16::try_from(visits_of(m) >> shift).expect("16 bits are left");
    let candidates = root.moves.iter().map(|m| VisitedMove { best_move: m.m, visits: visits(m) });
    candidates.filter(|candidate| candidate.visits > 0).collect()
}
