//! Another player, such as an engine, plays one side of some games against a network.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use kyokumen_format::Game;
use kyokumen_game::random::SplitMix64;
use kyokumen_shogi::{Color, Move, Position};

use crate::course::unit;
use crate::error::GamesError;
use crate::groups::Worker;

/// Chooses moves in games against a network, for one game after the other in any order.
pub trait Opponent: Send {
    /// Chooses a legal move of the last position of a game. Returns `None` soon after `stop` is set.
    ///
    /// # Errors
    ///
    /// If no move can be chosen. The run ends.
    fn choose(
        &mut self,
        turn: &OpponentTurn,
        stop: &AtomicBool,
    ) -> Result<Option<OpponentMove>, Box<dyn Error + Send + Sync>>;
}

/// A game when the opponent is to move.
#[derive(Clone, Debug)]
pub struct OpponentTurn {
    /// Number of the game.
    pub number: u64,
    /// Its start position and moves.
    pub game: Game,
    /// The position after them.
    pub position: Position,
}

/// What an opponent does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpponentMove {
    /// It plays a legal move.
    Move {
        /// The move.
        m: Move,
        /// Its evaluation in centipawns, for the side that makes the move.
        eval_cp: i16,
    },
    /// It resigns.
    Resign,
}

/// Players for one side of a share of the games.
#[derive(Default)]
pub struct Opponents {
    /// Share of the games, from 0 to 1. The seed and the number of a game decide whether it has an opponent, and which
    /// side.
    pub share: f32,
    /// The players. Each chooses one move at a time.
    pub players: Vec<Box<dyn Opponent>>,
}

/// Distinguishes the random numbers of this decision from others of the game.
const OPPONENT: u64 = 0x6f70_706f_6e65_6e74;

/// The side that the opponent plays in a game.
pub(crate) fn opponents_side(share: f32, seed: u64, number: u64) -> Option<Color> {
    let bits = SplitMix64::nth_bits(seed ^ OPPONENT.rotate_left(1), number);
    let side = if bits & 1 == 0 { Color::Black } else { Color::White };
    (unit(seed ^ OPPONENT, number) < share).then_some(side)
}

type Answer = (u64, OpponentMove);

/// A turn, and where the answer goes.
pub(crate) struct Request {
    turn: OpponentTurn,
    reply: Sender<Answer>,
}

/// The opponents from the view of a group.
pub(crate) struct OpponentQueue {
    pub(crate) share: f32,
    requests: Sender<Request>,
    reply: Sender<Answer>,
    answers: Receiver<Answer>,
}

impl OpponentQueue {
    pub(crate) fn new(share: f32, requests: Sender<Request>) -> Self {
        let (reply, answers) = unbounded();
        Self { share, requests, reply, answers }
    }

    pub(crate) fn send(&self, turn: OpponentTurn) {
        // Fails only if an opponent has failed, which ends the run.
        let _ = self.requests.send(Request { turn, reply: self.reply.clone() });
    }

    /// The answers that have arrived. Waits for one for a short time if `waits` is set.
    pub(crate) fn answers(&self, waits: bool) -> Vec<Answer> {
        let first = if waits { self.answers.recv_timeout(PAUSE).ok() } else { None };
        first.into_iter().chain(self.answers.try_iter()).collect()
    }
}

/// Interval of checks whether the games are being stopped.
const PAUSE: Duration = Duration::from_millis(50);

/// Chooses moves until all groups have ended.
pub(crate) fn choose_moves(
    worker: &Worker,
    player: &mut dyn Opponent,
    requests: &Receiver<Request>,
) -> Result<(), GamesError> {
    let stop = Arc::clone(&worker.shared.stop);
    while !stop.load(Ordering::Relaxed) {
        let Request { turn, reply } = match requests.recv_timeout(PAUSE) {
            Ok(request) => request,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        let number = turn.number;
        let chosen = player.choose(&turn, &stop);
        if let Some(chosen) = chosen.map_err(|source| GamesError::Player { number, source })? {
            // Fails if the group has ended.
            let _ = reply.send((number, chosen));
        }
    }
    Ok(())
}
