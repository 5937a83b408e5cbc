//! The properties that distinguish the formats. To add a format, add an entry.
//!
//! The module of each format defines its entry. [`Format::spec`](super::Format) is the table.

use kyokumen_shogi::Setup;

use super::error::{DecodeError, EncodeError};
use super::field::{Field, Fields};
use super::game::Game;
use super::layout::Layout;
use super::lines::without_mark;
use super::record::Parsed;
use crate::ending::{End, Ending};
use crate::game_info::HoldsInfo;

/// One format.
pub(super) struct Spec {
    /// The name on the command line and in manifests. It is also the usual file extension.
    pub(super) name: &'static str,
    /// Other extensions in use.
    pub(super) extensions: &'static [&'static str],
    /// How the bytes are cut into chunks.
    pub(super) framing: Framing,
    /// Appends a chunk unchanged, after [`Spec::separator`]. Adds the terminator that the last chunk of a file may
    /// lack, so that another chunk can follow.
    pub(super) copy: fn(&[u8], &mut Vec<u8>),
    /// The bytes before the first record of a file.
    pub(super) header: &'static [u8],
    /// The bytes between two chunks of a file. There is no separator before the first chunk or after the last one.
    pub(super) separator: &'static [u8],
    /// The fields that a record can have.
    pub(super) holds: Fields,
    /// The fields that a record must have.
    pub(super) needs: Fields,
    /// The endings that the format can express, besides mate and resignation.
    pub(super) endings: &'static [Ending],
    /// How a chunk is read and written.
    pub(super) codec: Codec,
}

/// How bytes are cut into chunks. A chunk is the smallest piece that can be decoded alone.
#[derive(Clone, Copy)]
pub(super) enum Framing {
    /// Each chunk is one record of this many bytes.
    Fixed(usize),
    /// Each chunk is one line with one record.
    Line,
    /// A chunk is a game, or another sequence of records that share bytes.
    Variable {
        /// Finds the end of the first chunk in bytes that are not empty. `None` if the bytes end before it and more
        /// bytes may follow. The second argument is `true` if no bytes follow.
        end: fn(&[u8], bool) -> Option<usize>,
        /// A possible start of a chunk, in formats where a truncated chunk would absorb part of the next one. `None` if
        /// the next chunk is always recognised.
        next: Option<&'static [u8]>,
    },
}

/// [`Spec::copy`] for formats whose chunks contain their length or end.
pub(super) fn as_it_is(chunk: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(chunk);
}

/// [`Spec::copy`] for formats whose chunks end with a line. Byte order marks are dropped, because the copy may not be
/// at the start of a file.
pub(super) fn with_line_end(chunk: &[u8], out: &mut Vec<u8>) {
    let chunk = without_mark(chunk);
    // Joined files may have byte order marks within a chunk.
    for line in chunk.split_inclusive(|byte| *byte == b'\n') {
        out.extend_from_slice(without_mark(line));
    }
    if !chunk.is_empty() && !chunk.ends_with(b"\n") {
        out.push(b'\n');
    }
}

/// Appends a complete record or game, or nothing.
pub(super) type Write<T> = fn(&T, &mut Vec<u8>) -> Result<(), EncodeError>;

/// The games of a chunk, decoded lazily.
pub(super) type Games<'a> = Box<dyn Iterator<Item = Result<Game, DecodeError>> + 'a>;

/// The games of a chunk with one game.
pub(super) fn one(game: Result<Game, DecodeError>) -> Games<'static> {
    Box::new(std::iter::once(game))
}

/// How a chunk is read and written.
pub(super) enum Codec {
    /// A packed position and fields at fixed offsets, decoded on access.
    Packed(Layout),
    /// An SFEN with columns, decoded on access.
    Columns,
    /// Records that are decoded completely.
    Records {
        /// Appends the records and errors of a chunk.
        read: fn(&[u8], &mut Vec<Result<Parsed, DecodeError>>),
        /// The number of records in a chunk, if it is known without decoding the chunk.
        count: Option<fn(&[u8]) -> u64>,
        /// Appends a record. `None` if the format cannot be written.
        write: Option<Write<Parsed>>,
    },
    /// Games. Each move is a record.
    Games {
        /// Decodes the games of a chunk. Bytes that are not a game are an error.
        read: fn(&[u8]) -> Games<'_>,
        /// The number of records in a chunk, if it is known without decoding the chunk.
        count: Option<fn(&[u8]) -> u64>,
        /// Appends a game. `None` if the format cannot be written.
        write: Option<Write<Game>>,
        /// Additional losses of games with this start and end, among the fields that the format holds.
        lost: fn(&Setup, End) -> Fields,
        /// The names, comments and other information that the format can hold.
        info: HoldsInfo,
    },
}

/// [`Codec::Games::lost`] for text games, which begin at move 1. They express an ending together with the winner. For
/// games without a result they can only state that the game was interrupted.
pub(super) fn lost_of_text(start: &Setup, (result, ending): End) -> Fields {
    let is_expressible = result.is_some() || matches!(ending, None | Some(Ending::Interruption));
    let lost = if is_expressible { Fields::NONE } else { Fields::of(Field::Ending) };
    lost.union(lost_unless_from_move_1(start, (result, ending)))
}

/// [`Codec::Games::lost`] for formats that cannot store the number of the first move. It is always 1.
pub(super) fn lost_unless_from_move_1(start: &Setup, _: End) -> Fields {
    if start.ply() == 1 { Fields::NONE } else { Fields::of(Field::Ply) }
}
