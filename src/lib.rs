//! Kyokumen (局面, "position") turns archives of shogi training positions into clean ones.
//!
//! It reads the packed formats of the field, proves which positions are already decided by a forced
//! mate, removes or keeps them, converts between formats, and writes outputs that are the same bytes
//! whatever the number of threads, shards and machines.
//!
//! ```text
//! bytes ──format──▶ Record ──shogi──▶ Position ──search──▶ Verdict ──jobs──▶ kept | mated | …
//! ```
//!
//! The modules, each of which uses only those before it, and [`Error`]:
//!
//! - [`random`]: random numbers that are the same for a seed everywhere;
//! - [`game`]: what a search needs of a game;
//! - [`shogi`]: the rules, from squares to legal moves;
//! - [`marubatsu`]: tic-tac-toe, solved completely;
//! - [`format`](mod@format): records in bytes and text;
//! - [`search`]: df-pn with checked proofs, generic over the game;
//! - [`solver`]: the mate solver, search and shogi put together;
//! - [`storage`]: files and objects, locks, checksums, compression, tables;
//! - [`records`]: records read from inputs, counted, and written to outputs;
//! - [`engine`]: blocks of records over threads, in order, with progress;
//! - [`mate`]: positions judged, with proofs and a memo of answers;
//! - [`jobs`]: runs with shards, manifests and checkpoints: filter, dataset, merge, status;
//! - [`ops`]: operations in one piece: convert, verify, stats, inspect, generate, shuffle and the like;
//! - `selfplay`: games of networks against themselves, as training data (feature `network`);
//! - [`relabel`]: new evaluations for records, by networks and engines;
//! - `cli`: the command line (feature `cli`).
//!
//! The modules up to [`solver`] are crates of their own.
//!
//! # Filtering three positions
//! ```
//! use std::sync::atomic::AtomicBool;
//! use kyokumen::format::{Format, RecordRef};
//! use kyokumen::mate::judge::{Judge, MateSettings};
//! use kyokumen::records::position_verdict::PositionVerdict;
//! use kyokumen::shogi::Position;
//!
//! let lines = [
//!     "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
//!     "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1",
//!     "4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 2",
//! ];
//! let settings = MateSettings { hash_mb: 1, ..MateSettings::default() };
//! let mut judge = Judge::new(&settings);
//! let mut answers = Vec::new();
//! for line in lines {
//!     let record = RecordRef::new(Format::Sfen, line.as_bytes())?;
//!     let position = Position::try_from(record.setup()?)?;
//!     answers.push(judge.judge(&position, &AtomicBool::new(false)).verdict);
//! }
//! assert_eq!(answers, [PositionVerdict::NoMate, PositionVerdict::Win, PositionVerdict::Loss]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "cli")]
pub mod cli;
pub mod engine;
mod error;
pub mod jobs;
pub mod mate;
pub mod ops;
pub mod records;
pub mod relabel;
#[cfg(feature = "network")]
pub mod selfplay;
pub mod storage;

pub use error::{Error, ErrorKind, Remedy};
pub use kyokumen_format as format;
pub use kyokumen_game as game;
pub use kyokumen_game::random;
pub use kyokumen_marubatsu as marubatsu;
pub use kyokumen_search as search;
pub use kyokumen_search::solver;
pub use kyokumen_shogi as shogi;
pub use mate::filter_mates::{FilterMates, filter_mates};
pub use mate::judge::{Judge, MateSettings};
pub use records::record_file::{OutputFile, create, open};
