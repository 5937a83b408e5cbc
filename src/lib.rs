//! Kyokumen (局面, "position") processes archives of shogi training data.
//!
//! It reads and writes the formats of the field, proves forced mates with df-pn, and filters, converts, shuffles,
//! deduplicates and relabels records. A mated position is one where one side can force mate: the side to move, or its
//! opponent while the side to move is in check. Outputs are the same bytes for any number of threads, shards and
//! machines.
//!
//! ```text
//! bytes ──format──▶ Record ──shogi──▶ Position ──search──▶ Verdict ──jobs──▶ kept | mated | …
//! ```
//!
//! The modules, lowest layer first. Each one depends only on modules earlier in this list and on [`Error`]:
//!
//! - [`random`]: random numbers that depend only on a seed, on every machine;
//! - [`game`]: the trait that a game implements to be searched;
//! - [`shogi`]: the rules, from squares to legal moves;
//! - [`marubatsu`]: tic-tac-toe, completely solved;
//! - [`format`](mod@format): codecs of the file formats;
//! - [`search`]: df-pn with verified proofs, generic over the game;
//! - [`solver`]: the mate solver for shogi;
//! - [`storage`]: files and objects, locks, checksums, compression, tables;
//! - [`records`]: inputs, filters, counts and outputs of records;
//! - [`engine`]: parallel processing of blocks of records in order, with progress;
//! - [`mate`]: mate verdicts with proofs, and a memo of verdicts;
//! - [`jobs`]: runs with shards, manifests and checkpoints: filter, dataset, merge, status;
//! - [`ops`]: operations without checkpoints: convert, verify, stats, inspect, generate, shuffle and others;
//! - `usi`: USI engines as child processes (feature `cli` or `network`);
//! - `selfplay`: training data from games of networks against themselves (feature `network`);
//! - [`relabel`]: new evaluations for records, from networks and engines;
//! - `cli`: the command line (feature `cli`).
//!
//! The modules up to [`solver`] are re-exported from separate crates.
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
//! let mut verdicts = Vec::new();
//! for line in lines {
//!     let record = RecordRef::new(Format::Sfen, line.as_bytes())?;
//!     let position = Position::try_from(record.setup()?)?;
//!     verdicts.push(judge.judge(&position, &AtomicBool::new(false)).verdict);
//! }
//! assert_eq!(verdicts, [PositionVerdict::NoMate, PositionVerdict::Win, PositionVerdict::Loss]);
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
#[cfg(any(feature = "cli", feature = "network"))]
pub mod usi;

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
