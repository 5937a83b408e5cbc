//! Games by players that choose each move themselves, such as engines.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kyokumen_shogi::Position;

use crate::error::GamesError;
use crate::figures::Counters;
use crate::game::FinishedGame;
use crate::groups::Worker;

/// Plays whole games on a thread of its own.
pub trait Player: Send {
    /// Plays a game to its end. Returns `None` soon after `stop` is set.
    ///
    /// # Errors
    ///
    /// If the game cannot be played. The run ends.
    fn play(
        &mut self,
        number: u64,
        opening: &Position,
        stop: &AtomicBool,
    ) -> Result<Option<FinishedGame>, Box<dyn Error + Send + Sync>>;
}

/// Plays games until there are no more.
pub(crate) fn play(worker: &Worker, player: &mut dyn Player) -> Result<(), GamesError> {
    let shared = Arc::clone(&worker.shared);
    while !shared.stop.load(Ordering::Relaxed) {
        let Some((number, opening)) = worker.begin()? else {
            if worker.is_out_of_games() {
                return Ok(());
            }
            std::thread::yield_now();
            continue;
        };
        let played = player.play(number, &opening, &shared.stop);
        match played.map_err(|source| GamesError::Player { number, source })? {
            Some(game) => {
                let counters = &shared.counters;
                Counters::add(&counters.positions, game.counts.positions);
                Counters::add(&counters.moves, game.counts.moves);
                worker.deliver_game(game);
            }
            None => return Ok(()),
        }
    }
    Ok(())
}
