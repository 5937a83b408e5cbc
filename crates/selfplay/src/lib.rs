#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//! [`Games`] plays on threads and yields [`FinishedGame`]s; [`SelfPlayGame`] is one game, for those who bring their own
//! batches. [`GameSettings`] holds every constant; their defaults are dlshogi's.

mod choice;
mod device;
mod figures;
mod game;
mod groups;
mod settings;

pub use figures::Figures;
pub use game::{Dropped, FinishedGame, GameCounts, SelfPlayGame, Step, best_value, candidates};
pub use groups::{Games, GamesError, Openings, RunSettings, StartPosition};
pub use settings::{GameSettings, RandomOpening, RepetitionRule};
