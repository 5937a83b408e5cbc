//! Why a line of a GUI cannot be followed; each says the command that it stood in.

use thiserror::Error;

use crate::shogi::Move;
use crate::shogi::sfen::ParsePositionError;

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(super) enum CommandError {
    #[error("setoption: expected name NAME, and value VALUE unless it is a button")]
    NoSetting,
    #[error("setoption: there is no option {0}")]
    UnknownOption(String),
    #[error("setoption: {name} must be a number from {min} to {max}, not {value}")]
    Value { name: &'static str, min: u64, max: u64, value: String },
    #[error("setoption: {name} needs a value, a number from {min} to {max}")]
    NoValue { name: &'static str, min: u64, max: u64 },
    #[error("position: {0}")]
    Start(#[from] ParsePositionError),
    #[error("position: move {number}: {text} is no move")]
    NoMove { number: usize, text: String },
    #[error("position: move {number}: {m} is not legal there")]
    Illegal { number: usize, m: Move },
    #[error("{what}: expected {expected}, not {found}")]
    NoNumber { what: String, expected: &'static str, found: String },
}
