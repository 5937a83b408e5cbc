//! Records of training positions: what each format holds, decoding, encoding, converting.
//!
//! Layouts are those of Apery (`hcp`, `hcpe`), YaneuraOu (`psv`) and the USI protocol (SFEN text);
//! `docs/formats/` has a page on each with its bit diagram.

mod alphabet;
mod candidate;
mod conversion_plan;
mod convert;
mod csa;
mod db;
mod ending;
mod error;
mod field;
mod fill;
mod format;
mod game;
mod game_result;
mod hcp;
mod hcpe;
mod hcpe3;
mod jsonl;
mod key;
mod kif;
mod layout;
mod lines;
pub mod move16;
mod outcome;
mod pack;
pub mod packed;
mod plain;
mod position_key;
pub mod proof_file;
mod psv;
mod record;
mod record_ref;
mod records;
pub mod reference;
mod replay;
mod sbinpack;
mod sfen_text;
mod spec;
mod survey;
mod transcode;
mod usi_game;
mod warning;

pub use crate::candidate::Candidate;
pub use crate::conversion_plan::{
    ConversionPlan, FieldChanges, UnsupportedConversionError, conversion_plan,
};
pub use crate::ending::Ending;
pub use crate::error::ConvertError;
pub use crate::fill::{Fill, FillError};
pub use crate::game_result::GameResult;
pub use crate::record_ref::RecordRef;
pub use convert::{encode, read_games, write_game};
pub use error::{DecodeError, DecodeErrorKind, EncodeError};
pub use field::{Field, Fields};
pub use format::{Format, UnknownFormat};
pub use game::{Game, Played};
pub use jsonl::JsonRecord;
pub use key::ContentKey;
pub use lines::{Line, Lines};
pub use outcome::ProvenLabels;
pub use position_key::{PositionKey, position_keys_of_row};
pub use record::Record;
pub use records::{Records, count, records, units};
pub use survey::{DialectFinding, HandOrder, HandOrders, MoveCounts, Survey};
pub use transcode::Lookahead;
pub use warning::{Warning, Warnings};
