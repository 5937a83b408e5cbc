#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//! [`Games`] plays games on several threads and yields [`FinishedGame`]s. [`SelfPlayGame`] is a single game, for
//! callers with their own batches. [`GameSettings`] contains all constants; the defaults are dlshogi's.

mod cache;
mod choice;
mod course;
mod device;
mod effort;
mod error;
mod figures;
mod game;
mod group;
mod groups;
mod opponents;
mod players;
mod settings;

pub use choice::draw;
pub use course::{Course, Next};
pub use error::GamesError;
pub use figures::Figures;
pub use game::{Dropped, FinishedGame, GameCounts, SelfPlayGame, Step, best_value, candidates};
pub use groups::{Games, Networks, Openings, RunSettings, StartPosition};
pub use opponents::{Opponent, OpponentMove, OpponentTurn, Opponents};
pub use players::Player;
pub use settings::{
    CheapSearch, GameSettings, PolicyOpening, RandomOpening, ReducedVisits, RepetitionRule,
};
