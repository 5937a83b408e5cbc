//! Games of USI engines: each thread plays whole games with its own processes.

use std::error::Error as StdError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kyokumen_mcts::{LeafSearch, Root, RootMove};
use kyokumen_selfplay::{
    Course, FinishedGame, GameCounts, GameSettings, Next, Openings, Opponent, OpponentMove,
    OpponentTurn, Player, candidates, draw,
};

use crate::error::{Error, ErrorKind};
use crate::format::{EVAL_SCALE, GameResult, Played, value_of_eval};
use crate::random::SplitMix64;
use crate::search::TableError;
use crate::shogi::{Color, Move, Position, PositionHistory};
use crate::usi::process::UsiProcess;
use crate::usi::score::{BestMove, EngineScore, Found};
use crate::usi::{EngineSettings, search};

/// Engines and their games.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct EngineGames {
    /// One engine that plays both sides, or two that play against each other. The first engine is Black in games with
    /// an even number.
    pub(super) engines: Vec<EngineSettings>,
    /// Settings of the games. Those of the tree search are not used.
    pub(super) game: GameSettings,
    /// Seed of the random moves.
    pub(super) seed: u64,
    /// Size of the table of the mate search, in MiB.
    pub(super) mate_table_mib: usize,
}

/// Maximum number of tries for one game.
const TRIES: usize = 3;

/// A move whose winning probability is lower by this much has 1/e of the visits.
const POLICY_TEMPERATURE: f64 = 0.03;

/// The sum of the visits of all moves.
const VISITS: u16 = 1000;

impl EngineGames {
    /// The engine that plays this side in a game.
    fn engine_of(&self, number: u64, color: Color) -> usize {
        let turn = number + u64::from(color == Color::White);
        (turn % self.engines.len() as u64) as usize
    }
}

/// Two games in a row have the same opening, so that each engine plays both sides of it.
pub(super) struct PairedOpenings(pub(super) Box<dyn Openings>);

impl Openings for PairedOpenings {
    fn opening(&self, number: u64) -> Result<Option<Position>, Box<dyn StdError + Send + Sync>> {
        self.0.opening(number / 2)
    }
}

/// Plays games on one thread.
pub(super) struct EnginePlayer {
    games: Arc<EngineGames>,
    processes: Vec<Option<UsiProcess>>,
    mates: LeafSearch,
}

impl EnginePlayer {
    /// Prepares a player. Engines are started for the first game.
    pub(super) fn new(games: Arc<EngineGames>) -> Result<Self, TableError> {
        let mates = LeafSearch::try_new(games.mate_table_mib)?;
        let processes = games.engines.iter().map(|_| None).collect();
        Ok(Self { games, processes, mates })
    }

    fn play_once(
        &mut self,
        number: u64,
        opening: &Position,
        stop: &AtomicBool,
    ) -> Result<FinishedGame, Error> {
        for (process, engine) in self.processes.iter_mut().zip(&self.games.engines) {
            let process = match process {
                Some(process) => process,
                none => none.insert(engine.start(stop)?),
            };
            start_game(process, stop)?;
        }
        let mut game = EngineGame::new(&self.games, number, opening);
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::evaluation_interrupted());
            }
            match game.course.next(&game.position, &game.history, &mut self.mates) {
                Next::Ended => break,
                Next::Forced(played) => game.make(played),
                Next::Choice => {
                    let engine = self.games.engine_of(number, game.position.side_to_move());
                    let process = self.processes[engine].as_mut().expect("the engine was started");
                    let limit = self.games.engines[engine].limit;
                    let found = search(process, (&game.command, &game.position), limit, stop)?;
                    if game.choose(found)? {
                        break;
                    }
                }
            }
        }
        Ok(game.course.finish(number, game.counts))
    }
}

impl Player for EnginePlayer {
    /// A game whose engine fails starts again with new processes.
    fn play(
        &mut self,
        number: u64,
        opening: &Position,
        stop: &AtomicBool,
    ) -> Result<Option<FinishedGame>, Box<dyn StdError + Send + Sync>> {
        let again = format!("game {number} starts again");
        retried(&again, stop, || {
            self.play_once(number, opening, stop)
                .inspect_err(|_| self.processes.iter_mut().for_each(|process| *process = None))
        })
    }
}

/// Tries something with engines until it succeeds, at most [`TRIES`] times. `None` if `stop` is set.
fn retried<T>(
    again: &str,
    stop: &AtomicBool,
    mut attempt: impl FnMut() -> Result<T, Error>,
) -> Result<Option<T>, Box<dyn StdError + Send + Sync>> {
    for tries in 1.. {
        match attempt() {
            Ok(done) => return Ok(Some(done)),
            Err(_) if stop.load(Ordering::Relaxed) => break,
            Err(error) if tries == TRIES || matches!(error.kind(), ErrorKind::NotStarted) => {
                return Err(error.into());
            }
            Err(error) => tracing::warn!("{error}; {again}"),
        }
    }
    Ok(None)
}

/// An engine that plays one side of games against a network.
pub(super) struct OpponentEngine {
    engine: EngineSettings,
    process: Option<UsiProcess>,
    /// The game that it has played last.
    number: Option<u64>,
}

impl OpponentEngine {
    /// Prepares an opponent. The engine is started for its first move.
    pub(super) const fn new(engine: EngineSettings) -> Self {
        Self { engine, process: None, number: None }
    }

    fn choose_once(
        &mut self,
        turn: &OpponentTurn,
        stop: &AtomicBool,
    ) -> Result<OpponentMove, Error> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(self.engine.start(stop)?),
        };
        if self.number != Some(turn.number) {
            start_game(process, stop)?;
            self.number = Some(turn.number);
        }
        let mut command = format!("position sfen {} moves", turn.game.start);
        for played in &turn.game.moves {
            command.extend([" ", &played.best_move.to_string()]);
        }
        let found = search(process, (&command, &turn.position), self.engine.limit, stop)?;
        match found.best_move {
            BestMove::Move(m) => Ok(OpponentMove::Move { m, eval_cp: found.score.eval_cp() }),
            BestMove::Resign => Ok(OpponentMove::Resign),
            BestMove::Win => Err(illegal("win", &command)),
            BestMove::Illegal(text) => Err(illegal(&text, &command)),
        }
    }
}

impl Opponent for OpponentEngine {
    /// If the engine fails, a new process chooses the move.
    fn choose(
        &mut self,
        turn: &OpponentTurn,
        stop: &AtomicBool,
    ) -> Result<Option<OpponentMove>, Box<dyn StdError + Send + Sync>> {
        let again = format!("a new process searches this move of game {}", turn.number);
        retried(&again, stop, || {
            self.choose_once(turn, stop).inspect_err(|_| (self.process, self.number) = (None, None))
        })
    }
}

impl Drop for OpponentEngine {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            process.quit();
        }
    }
}

fn illegal(text: &str, command: &str) -> Error {
    Error::evaluation(format!("the engine sent `bestmove {text}` after `{command}`"))
}

impl Drop for EnginePlayer {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().filter_map(Option::take) {
            process.quit();
        }
    }
}

/// A game in progress.
struct EngineGame<'a> {
    settings: &'a GameSettings,
    course: Course,
    position: Position,
    history: PositionHistory,
    /// The `position` command for the engines.
    command: String,
    random: SplitMix64,
    counts: GameCounts,
}

impl<'a> EngineGame<'a> {
    fn new(games: &'a EngineGames, number: u64, opening: &Position) -> Self {
        let mut history = PositionHistory::default();
        history.push(opening);
        Self {
            settings: &games.game,
            course: Course::new(games.game, games.seed, number, opening),
            position: opening.clone(),
            history,
            command: format!("position sfen {opening} moves"),
            random: SplitMix64::new(SplitMix64::nth_bits(games.seed, number)),
            counts: GameCounts::default(),
        }
    }

    /// Plays the move of an engine, or one of its moves at random at the start of a game. Returns whether the game has
    /// ended.
    fn choose(&mut self, found: Found) -> Result<bool, Error> {
        self.counts.positions += 1;
        let mover = self.position.side_to_move();
        let best = match found.best_move {
            BestMove::Move(m) => m,
            BestMove::Resign => {
                self.course.end(GameResult::win_of(!mover), None);
                return Ok(true);
            }
            // The rules were checked before the search.
            BestMove::Win => return Err(illegal("win", &self.command)),
            BestMove::Illegal(text) => return Err(illegal(&text, &self.command)),
        };
        if let EngineScore::Centipawns(eval_cp) = found.score
            && self.course.resigns(&self.position, value_of_eval(eval_cp, EVAL_SCALE))
        {
            return Ok(true);
        }
        let root = root(best, &found);
        let (ply, is_drawn) = (self.course.ply(), self.course.is_random());
        let drawn = is_drawn.then(|| draw(&root, &self.settings.opening, ply, &mut self.random));
        let played = drawn.flatten().map_or(best, |drawn| drawn.m);
        let candidates = if found.candidates.len() > 1 { candidates(&root) } else { Vec::new() };
        self.make(Played {
            eval_cp: Some(found.score.eval_cp()),
            candidates,
            is_not_for_training: is_drawn || matches!(found.score, EngineScore::Mate { .. }),
            ..Played::new(played, 0)
        });
        Ok(false)
    }

    fn make(&mut self, played: Played) {
        let m = played.best_move;
        self.position.make(m);
        self.history.push(&self.position);
        self.command.extend([" ", &m.to_string()]);
        self.course.push(played);
        self.counts.moves += 1;
    }
}

/// Converts the lines of an engine to the result of a tree search. The visits of a move are proportional to
/// exp(−d / 0.03), where d is how much lower its winning probability is than that of the best move.
fn root(best: Move, found: &Found) -> Root {
    let value = |score: EngineScore| match score {
        EngineScore::Centipawns(eval_cp) => value_of_eval(eval_cp, EVAL_SCALE),
        EngineScore::Mate { wins, .. } => f32::from(u8::from(wins)),
    };
    let mut moves: Vec<(Move, f32)> =
        found.candidates.iter().map(|&(m, score)| (m, value(score))).collect();
    if !moves.iter().any(|&(m, _)| m == best) {
        moves = vec![(best, value(found.score))];
    }
    let most = moves.iter().map(|&(_, value)| value).fold(0.0, f32::max);
    let weight = |value: f32| libm::exp(f64::from(value - most) / POLICY_TEMPERATURE);
    let sum: f64 = moves.iter().map(|&(_, value)| weight(value)).sum();
    let root_move = |(m, value)| RootMove {
        m,
        prior: 0.0,
        visits: ((f64::from(VISITS) * weight(value) / sum).round() as i64).unsigned_abs() as u32,
        noise_visits: 0,
        value: Some(value),
        proven: None,
    };
    let mut moves: Vec<RootMove> = moves.into_iter().map(root_move).collect();
    moves.sort_by(|a, b| b.visits.cmp(&a.visits).then(a.m.cmp(&b.m)));
    Root { visits: VISITS.into(), value: value(found.score), proven: None, moves }
}

/// Prepares the engine for a new game. Most engines then clear their hash table, which can take a fifth of a second.
fn start_game(process: &mut UsiProcess, cancel: &AtomicBool) -> Result<(), Error> {
    process.request("isready", "readyok", cancel, |_| {})?;
    process.send("usinewgame");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_fall_with_the_winning_probability() {
        let [a, b, c] = ["7g7f", "2g2f", "1g1f"].map(|usi| Move::from_usi(usi).unwrap());
        let cp = EngineScore::Centipawns;
        let found = Found {
            score: cp(100),
            best_move: BestMove::Move(a),
            candidates: vec![(a, cp(100)), (b, cp(100)), (c, cp(-100))],
        };
        let root = root(a, &found);
        // Winning probabilities of 0.5330 and 0.4670: e^(−0.0660 / 0.03) = 0.1107.
        let visits: Vec<u32> = root.moves.iter().map(|m| m.visits).collect();
        assert_eq!(visits, [474, 474, 52]);
        assert_eq!(root.moves[2].m, c);
        let shown: Vec<u16> = candidates(&root).iter().map(|candidate| candidate.visits).collect();
        assert_eq!(shown, [474, 474, 52]);
    }

    #[test]
    fn engines_play_both_sides_of_an_opening() {
        let engine = |name: &str| EngineSettings {
            command: vec![name.to_owned()],
            options: Vec::new(),
            limit: crate::usi::SearchLimit::Nodes(1),
            patience: std::time::Duration::from_secs(1),
        };
        let mut games = EngineGames {
            engines: vec![engine("a"), engine("b")],
            game: GameSettings::default(),
            seed: 1,
            mate_table_mib: 1,
        };
        let sides =
            |games: &EngineGames, number| Color::ALL.map(|color| games.engine_of(number, color));
        assert_eq!(
            [sides(&games, 0), sides(&games, 1), sides(&games, 2)],
            [[0, 1], [1, 0], [0, 1]]
        );
        games.engines.pop();
        assert_eq!(sides(&games, 1), [0, 0]);
    }
}
