//! What distinguishes the formats from each other, one entry each: where a new format goes.
//!
//! The module of each format holds its entry; [`Format::spec`](super::Format) is the table.

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
    /// The word on the command line and in manifests; also the usual extension of files.
    pub(super) name: &'static str,
    /// Other extensions in use.
    pub(super) extensions: &'static [&'static str],
    /// How its bytes are cut into chunks.
    pub(super) framing: Framing,
    /// Appends a chunk unchanged, after [`Spec::separator`]. Adds the end that the last chunk of a file may lack, so that
    /// another chunk can follow.
    pub(super) copy: fn(&[u8], &mut Vec<u8>),
    /// What stands before the first record of a file.
    pub(super) header: &'static [u8],
    /// What separates two chunks of a file. There is none before the first chunk or after the last.
    pub(super) separator: &'static [u8],
    /// What a record can say besides the position.
    pub(super) holds: Fields,
    /// What a record must say.
    pub(super) needs: Fields,
    /// The special ends of games that it has a sign for.
    pub(super) endings: &'static [Ending],
    /// How a chunk is read and written.
    pub(super) codec: Codec,
}

/// How bytes are cut into chunks: the least that can be read by itself.
#[derive(Clone, Copy)]
pub(super) enum Framing {
    /// Every chunk is one record of this many bytes.
    Fixed(usize),
    /// Every chunk is one line, and one record.
    Line,
    /// A chunk is a game, or another group of games or records.
    Group {
        /// Finds the end of the first chunk in bytes that are not empty; `None` if the bytes end before it does
        /// and more may follow. The second argument says that nothing follows.
        end: fn(&[u8], bool) -> Option<usize>,
        /// How a chunk may begin, where one that is cut off would take in a part of the chunk that follows. None
        /// where it would be told from that.
        next: Option<&'static [u8]>,
    },
}

/// [`Spec::copy`] of formats whose chunks say themselves where they end.
pub(super) fn as_it_is(chunk: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(chunk);
}

/// [`Spec::copy`] for formats whose chunks end with a line. Byte order marks are dropped, because the copy may not be at
/// the start of a file.
pub(super) fn with_line_end(chunk: &[u8], out: &mut Vec<u8>) {
    let chunk = without_mark(chunk);
    // Where files were joined, a chunk may have byte order marks within it.
    for line in chunk.split_inclusive(|byte| *byte == b'\n') {
        out.extend_from_slice(without_mark(line));
    }
    if !chunk.is_empty() && !chunk.ends_with(b"\n") {
        out.push(b'\n');
    }
}

/// Appends a record or a game, whole or not at all.
pub(super) type Write<T> = fn(&T, &mut Vec<u8>) -> Result<(), EncodeError>;

/// The games of a chunk, each read when it is asked for.
pub(super) type Games<'a> = Box<dyn Iterator<Item = Result<Game, DecodeError>> + 'a>;

/// The games of a chunk that is one.
pub(super) fn one(game: Result<Game, DecodeError>) -> Games<'static> {
    Box::new(std::iter::once(game))
}

/// How a chunk is read and written.
pub(super) enum Codec {
    /// A packed position with fields at fixed places, read when they are asked for.
    Packed(Layout),
    /// SFEN with columns, read when they are asked for.
    Columns,
    /// Records that are read as wholes.
    Records {
        /// Appends what is in a chunk; at least one record or error unless the chunk is empty of both.
        read: fn(&[u8], &mut Vec<Result<Parsed, DecodeError>>),
        /// The number of records in a chunk, where that is known without reading all of it.
        count: Option<fn(&[u8]) -> u64>,
        /// Appends a record; none if the format is only read.
        write: Option<Write<Parsed>>,
    },
    /// Games, each move of which is a record.
    Games {
        /// Reads the games of a chunk, one after the other; what is none is an error.
        read: fn(&[u8]) -> Games<'_>,
        /// The number of records in a chunk, where that is known without reading all of it.
        count: Option<fn(&[u8]) -> u64>,
        /// Appends a game; none if the format is only read.
        write: Option<Write<Game>>,
        /// What it cannot say of games that begin and end so, though it holds the field.
        lost: fn(&Setup, End) -> Fields,
        /// Which names, comments and the like it can hold.
        info: HoldsInfo,
    },
}

/// [`Codec::Games::lost`] of game records for people, which begin at move 1 and say how a game ended by who
/// won it: of games without a result they can only say that they were broken off.
pub(super) fn lost_of_text(start: &Setup, (result, ending): End) -> Fields {
    let is_said = result.is_some() || matches!(ending, None | Some(Ending::Interruption));
    let lost = if is_said { Fields::NONE } else { Fields::of(Field::Ending) };
    lost.union(lost_unless_from_move_1(start, (result, ending)))
}

/// [`Codec::Games::lost`] of formats that have no place for the number of the first move: it is always 1.
pub(super) fn lost_unless_from_move_1(start: &Setup, _: End) -> Fields {
    if start.ply() == 1 { Fields::NONE } else { Fields::of(Field::Ply) }
}
