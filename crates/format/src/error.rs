//! Errors of reading and writing files and records.
//!
//! The offset of a [`DecodeError`] counts from the start of the record. [`Error`] adds the record number and the offset
//! of its chunk.

use std::{fmt, io};

use kyokumen_shogi::sfen::SfenError;
use kyokumen_shogi::{Color, HandKind, Move, PositionError, SetupError, Square};

use super::chunk::{MAX_CHUNK_BYTES, MAX_LINE_BYTES};
use super::field::{Field, Fields};
use super::format::Format;
use super::move16::MalformedMove;
use super::proof_file::ProofFault;

/// Why a file or a text cannot be read or written, and where.
#[derive(Debug)]
pub struct Error {
    /// The place. `None` if the error concerns a text as a whole.
    pub place: Option<Place>,
    /// The kind of error.
    pub kind: ErrorKind,
}

/// The place of an [`Error`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A record or game of an input.
    Input(RecordPlace),
    /// A record or game of an output: the number of records or games before it.
    Output(u64),
    /// A line of a proof file, from 1. For an I/O error, the last line before it.
    Line(u64),
}

/// The position of a record in an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecordPlace {
    /// Number of the record, from 0. Comment lines count.
    pub index: u64,
    /// Byte offset of the chunk that contains it: the record itself, a line or a game.
    pub offset: u64,
}

/// Offsets within the record follow in the messages, so this one is called the file offset.
impl fmt::Display for RecordPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {} (file offset {})", self.index, self.offset)
    }
}

/// The kind of an [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An I/O error. No further read is possible. A record may have been written in part.
    #[error(transparent)]
    Io(io::Error),
    /// The bytes are not a record, or the format cannot hold the record. Nothing of the record is written. The next
    /// record can be read or written.
    #[error(transparent)]
    Record(ConvertError),
    /// A proof file is invalid.
    #[error(transparent)]
    Proof(ProofFault),
    /// A text is not a valid [`Fill`](super::Fill).
    #[error("{0}")]
    Fill(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = &self.kind;
        match (self.place, kind) {
            (None, _) => write!(f, "{kind}"),
            (Some(Place::Input(place)), _) => write!(f, "{place}: {kind}"),
            (Some(Place::Output(index)), _) => write!(f, "record {index}: {kind}"),
            (Some(Place::Line(line)), ErrorKind::Io(_)) => {
                write!(f, "read error after line {line}: {kind}")
            }
            (Some(Place::Line(line)), _) => write!(f, "line {line}: {kind}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// Why the bytes of one record cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct DecodeError {
    /// Byte offset of the fault within the record, from 0.
    pub offset: usize,
    /// The fault.
    pub kind: DecodeErrorKind,
}

impl DecodeError {
    /// The error of a piece of a chunk over the size limit.
    pub const TOO_LONG: Self = DecodeErrorKind::TooLong.at(0);

    /// Byte offset of the fault within the record. `None` if the error concerns all bytes of the record.
    pub const fn byte(&self) -> Option<usize> {
        match self.kind {
            DecodeErrorKind::TooLong
            | DecodeErrorKind::Length { .. }
            | DecodeErrorKind::Encoding { .. } => None,
            _ => Some(self.offset),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(byte) = self.byte().filter(|_| !self.kind.names_its_place()) {
            write!(f, "byte {byte}: ")?;
        }
        self.kind.fmt(f)
    }
}

/// The fault in the bytes of a record.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// A piece of a chunk over the size limit.
    #[error(
        "the line is longer than {MAX_LINE_BYTES} bytes, or the game is longer than {MAX_CHUNK_BYTES} bytes"
    )]
    TooLong,
    /// Too few or too many bytes. Common at the end of a truncated file.
    #[error("the record has {} instead of {expected}", counted(*found, "byte"))]
    Length {
        /// Record length of the format, in bytes.
        expected: usize,
        /// Bytes found.
        found: usize,
    },
    /// A king on a square number above 80. These formats use 81 for "no king".
    #[error("the {color:?} king is on square number {number}, expected at most 80")]
    KingOffBoard {
        /// Side of the king.
        color: Color,
        /// The number stored.
        number: u8,
    },
    /// Both kings on one square.
    #[error("both kings are on {square}")]
    KingsOnOneSquare {
        /// The square.
        square: Square,
    },
    /// The codes of the squares need more than 256 bits.
    #[error("the 256 bits end before the last square")]
    BoardOverrun,
    /// The codes of the pieces in hand or in the box need more than 256 bits.
    #[error("the 256 bits end within a piece in hand")]
    HandOverrun,
    /// Bits that are neither a piece in hand nor a piece in the box.
    #[error("invalid code of a piece in hand")]
    UnknownHandCode,
    /// The pieces other than the kings are not the 38 pieces of a set.
    #[error("board, hands and box contain {}, expected {}", HandCounts(*.counts), HandCounts(HandKind::SET))]
    PieceSet {
        /// Number of pieces by kind, in the order P L N S G B R.
        counts: [u8; HandKind::COUNT],
    },
    /// An invalid SFEN.
    #[error("{0}")]
    Sfen(SfenError),
    /// The start position of a game does not use a set of pieces.
    #[error("start position of the game: {0}")]
    Setup(SetupError),
    /// The start position of a game is not a valid position.
    #[error("start position of the game: {0}")]
    Position(PositionError),
    /// An illegal move in a game. The moves after it cannot be read either.
    #[error("illegal move {best_move}; the rest of the game is not read")]
    IllegalMove {
        /// The move.
        best_move: Move,
    },
    /// The bytes end within a game.
    #[error("expected a game of {}, but the bytes end within move {within}", counted(usize::from(*moves), "move"))]
    GameCut {
        /// Number of moves that the game's header gives.
        moves: u16,
        /// Number of the incomplete move, from 1.
        within: u32,
    },
    /// The bytes after the last move of a game are not another game.
    #[error("expected another game after the game's {}, found other bytes", counted(usize::from(*moves), "move"))]
    NotAGame {
        /// Number of moves that the game's header gives.
        moves: u16,
    },
    /// A move with more candidates than any position has moves.
    #[error("{candidates} candidates; no position has more than {most} moves")]
    TooManyCandidates {
        /// The number in the record.
        candidates: u16,
        /// The largest number of moves that a position has.
        most: u16,
    },
    /// A move of a game whose bits are not a move.
    #[error("{0}; the rest of the game is not read")]
    MalformedMove(MalformedMove),
    /// An encoding or a line end that is not supported.
    #[error("expected {expected}, found {found}")]
    Encoding {
        /// The supported encodings or line ends.
        expected: &'static str,
        /// The encoding or line end of the text.
        found: &'static str,
    },
    /// A chunk without any record.
    #[error("no record found")]
    Nothing,
    /// Text that the format does not allow.
    #[error("expected {expected}, found {}", Quoted(found))]
    Syntax {
        /// What the format allows here.
        expected: &'static str,
        /// The text that was found.
        found: String,
    },
    /// A required part is missing, usually because the text ends.
    #[error("expected {expected}, found {found}")]
    Missing {
        /// The part.
        expected: &'static str,
        /// What there is instead, in words.
        found: &'static str,
    },
    /// A diagram with too few ranks.
    #[error("the diagram has {} instead of 9", counted(*found, "rank"))]
    Ranks {
        /// Ranks found.
        found: usize,
    },
    /// A square of a diagram that contains neither a piece nor a dot.
    #[error("{square}: expected a piece or ・, found {found}")]
    DiagramSquare {
        /// The square.
        square: Square,
        /// The character found.
        found: char,
    },
    /// A line that begins with `#`.
    #[error("a comment line, not a record")]
    Comment,
    /// An invalid column after the SFEN.
    #[error("column {column}: expected {expected}")]
    Column {
        /// The column.
        column: Field,
        /// What the column may contain.
        expected: &'static str,
    },
    /// More columns than there are fields.
    #[error("expected at most the columns sfen, move, eval, ply and result, found more")]
    ExtraColumn,
}

impl DecodeErrorKind {
    /// The key in reports: `snake_case` and stable.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::Length { .. } => "length",
            Self::KingOffBoard { .. } => "king_off_board",
            Self::KingsOnOneSquare { .. } => "kings_on_one_square",
            Self::BoardOverrun => "board_overrun",
            Self::HandOverrun => "hand_overrun",
            Self::UnknownHandCode => "unknown_hand_code",
            Self::PieceSet { .. } => "piece_set",
            Self::Sfen(_) => "sfen",
            Self::Setup(_) => "setup",
            Self::Position(_) => "position",
            Self::GameCut { .. } => "game_cut",
            Self::NotAGame { .. } => "not_a_game",
            Self::TooManyCandidates { .. } => "too_many_candidates",
            Self::MalformedMove(_) => "malformed_move",
            Self::IllegalMove { .. } => "illegal_move",
            Self::Encoding { .. } => "encoding",
            Self::Nothing => "no_record",
            Self::Syntax { .. }
            | Self::Missing { .. }
            | Self::Ranks { .. }
            | Self::DiagramSquare { .. } => "syntax",
            Self::Comment => "comment",
            Self::Column { .. } => "column",
            Self::ExtraColumn => "extra_column",
        }
    }

    /// Whether the message begins with the character of an SFEN or the square of a diagram. Then it has no offset.
    const fn names_its_place(&self) -> bool {
        match self {
            Self::Sfen(error) => error.offset().is_some(),
            Self::DiagramSquare { .. } => true,
            _ => false,
        }
    }

    pub(super) fn syntax(expected: &'static str, found: &[u8]) -> Self {
        /// Longer excerpts would not help.
        const MAX_BYTES: usize = 40;
        // Does not cut a UTF-8 character.
        let is_start = |&at: &usize| found.get(at).is_none_or(|byte| !(0x80..0xC0).contains(byte));
        let end = found.len().min(MAX_BYTES);
        let end = (end.saturating_sub(3)..=end).rev().find(is_start).unwrap_or(end);
        let rest = if end < found.len() { "…" } else { "" };
        let found = String::from_utf8_lossy(&found[..end]).into_owned() + rest;
        Self::Syntax { expected, found }
    }

    pub(super) const fn at(self, offset: usize) -> DecodeError {
        DecodeError { offset, kind: self }
    }
}

/// Quotes text like `{:?}`, but does not escape the ideographic space. An empty text is the end of the bytes.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("the end");
        }
        f.write_str(&format!("{:?}", self.0).replace("\\u{3000}", "\u{3000}"))
    }
}

/// Why a record cannot be written in a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A packed position cannot express "no king": it would need 257 bits.
    #[error("the {color:?} king is missing; packed formats need both kings")]
    MissingKing {
        /// Side without a king.
        color: Color,
    },
    /// The board is not a valid position of a game.
    #[error("{0}")]
    Position(PositionError),
    /// A position without a move, in a format that cannot hold one.
    #[error(
        "the position has no move, which {format} needs; kif, ki2, bod, csa and jkf can hold positions without a move"
    )]
    NoMove {
        /// The format.
        format: &'static str,
    },
    /// Game formats need legal moves.
    #[error("a move is illegal in its position; formats of games need legal moves")]
    NoGame,
    /// More moves or candidates than the format can count.
    #[error("more than {most} {what}, the maximum of the format")]
    TooMany {
        /// What there is too much of: moves or candidates.
        what: &'static str,
        /// The largest number.
        most: u16,
    },
    /// The format cannot be written.
    #[error("{format} can be read but not written")]
    OnlyRead {
        /// The format.
        format: &'static str,
    },
    /// The move to fill in is illegal in this position.
    #[error(
        "the record has no move, and the move to fill in, {best_move}, is illegal in its position"
    )]
    IllegalFill {
        /// The move.
        best_move: Move,
    },
    /// A character that `Shift_JIS` cannot encode.
    #[error(
        "{text} has {character:?} (U+{:04X}), which Shift_JIS cannot encode; use kifu or ki2u, which are UTF-8",
        u32::from(*character)
    )]
    NotInShiftJis {
        /// The character.
        character: char,
        /// The kind of text that contains it.
        text: &'static str,
    },
    /// The target needs fields that neither the record nor the fill has.
    #[error("the record lacks fields that the output needs: {fields}")]
    Missing {
        /// The fields.
        fields: Fields,
    },
    /// The target needs fields that neither the source format nor the fill has.
    #[error("{to} needs {fields}, which {from} lacks")]
    NeverHeld {
        /// Source format.
        from: Format,
        /// Target format.
        to: Format,
        /// The fields.
        fields: Fields,
    },
    /// The target needs a move and the source format has none.
    #[error(
        "{to} needs a move, and {from} has none; kif, ki2, bod, csa and jkf can hold positions without a move"
    )]
    NoMoves {
        /// Source format.
        from: Format,
        /// Target format.
        to: Format,
    },
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Shows piece counts as `P18 L4 …`.
struct HandCounts([u8; HandKind::COUNT]);

impl fmt::Display for HandCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, count) in HandKind::ALL.into_iter().zip(self.0) {
            let space = if kind == HandKind::Pawn { "" } else { " " };
            write!(f, "{space}{}{count}", char::from(kind.piece_kind().letter()))?;
        }
        Ok(())
    }
}

/// Why a record cannot be converted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConvertError {
    /// The record cannot be read.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The record cannot be written.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}
