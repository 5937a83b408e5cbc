//! What distinguishes the formats from each other, one entry each: where a new format goes.
//!
//! The module of each format holds its entry; [`Format::spec`](super::Format) is the table.

use super::error::{DecodeError, EncodeError};
use super::field::Fields;
use super::game::{Ending, Game};
use super::layout::Layout;
use super::record::Parsed;

/// One format.
pub(super) struct Spec {
    /// The word on the command line and in manifests; also the usual extension of files.
    pub(super) name: &'static str,
    /// Other extensions in use.
    pub(super) extensions: &'static [&'static str],
    /// How its bytes are cut into units.
    pub(super) framing: Framing,
    /// What stands before the first record of a file.
    pub(super) header: &'static [u8],
    /// What a record can say besides the position.
    pub(super) holds: Fields,
    /// What a record must say.
    pub(super) needs: Fields,
    /// The special ends of games that it has a sign for.
    pub(super) endings: &'static [Ending],
    /// How a unit is read and written.
    pub(super) codec: Codec,
}

/// How bytes are cut into units: the least that can be read by itself.
#[derive(Clone, Copy)]
pub(super) enum Framing {
    /// Every unit is one record of this many bytes.
    Fixed(usize),
    /// Every unit is one line, and one record.
    Line,
    /// A unit is a game, or another group of records. The function finds the end of the first unit in
    /// bytes that are not empty; `None` if the bytes end before it does and more may follow. The second
    /// argument says that nothing follows.
    Group(fn(&[u8], bool) -> Option<usize>),
}

/// Appends a record or a game, whole or not at all.
pub(super) type Write<T> = fn(&T, &mut Vec<u8>) -> Result<(), EncodeError>;

/// How a unit is read and written.
pub(super) enum Codec {
    /// A packed position with fields at fixed places, read when they are asked for.
    Packed(Layout),
    /// SFEN with columns, read when they are asked for.
    Columns,
    /// Records that are read as wholes.
    Records {
        /// Appends what is in a unit; at least one record or error unless the unit is empty of both.
        read: fn(&[u8], &mut Vec<Result<Parsed, DecodeError>>),
        /// The number of records in a unit, where that is known without reading all of it.
        count: Option<fn(&[u8]) -> u64>,
        /// Appends a record; none if the format is only read.
        write: Option<Write<Parsed>>,
    },
    /// Games, each move of which is a record.
    Games {
        /// Reads a unit.
        read: fn(&[u8]) -> Result<Game, DecodeError>,
        /// The number of records in a unit, where that is known without reading all of it.
        count: Option<fn(&[u8]) -> u64>,
        /// Appends a game; none if the format is only read.
        write: Option<Write<Game>>,
        /// Whether the first move of a game is always number 1, as there is no place for another number.
        from_move_1: bool,
    },
}
