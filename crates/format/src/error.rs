//! Why a file cannot be read or written, and why one record cannot.
//!
//! Offsets of [`DecodeError`] count within the record; [`Error`] adds the record and its start.

use std::{fmt, io};

use kyokumen_shogi::sfen::SfenError;
use kyokumen_shogi::{Color, HandKind, Move, PositionError, SetupError, Square};

use super::chunk::{MAX_GROUP_BYTES, MAX_LINE_BYTES};
use super::field::{Field, Fields};
use super::format::Format;
use super::move16::MalformedMove;
use super::proof_file::ProofFault;

/// Why a file, or a text, cannot be read or written, and where.
#[derive(Debug)]
pub struct Error {
    /// The place; `None` if the error is about a text as a whole.
    pub place: Option<Place>,
    /// What is wrong.
    pub kind: ErrorKind,
}

/// The place of an [`Error`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// At a record or a game that is read.
    Input(RecordPlace),
    /// At a record or a game that is written. Counts those before it.
    Output(u64),
    /// At a line of a file of proofs, from 1. An I/O error occurred after that line.
    Line(u64),
}

/// The position of a record in an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecordPlace {
    /// Number of the record, from 0; comments in texts are counted.
    pub index: u64,
    /// Offset in bytes of the chunk that holds it: the record itself, a line, a game.
    pub offset: u64,
}

/// The kind of an [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An I/O error. Nothing can be read after it; a record may have been written in part.
    #[error(transparent)]
    Io(io::Error),
    /// The bytes are no record, or the format cannot hold the record; then nothing of it is written. The next
    /// record can be read or written.
    #[error(transparent)]
    Record(ConvertError),
    /// A file of proofs is invalid.
    #[error(transparent)]
    Proof(ProofFault),
    /// A text is no [`Fill`](super::Fill).
    #[error("{0}")]
    Fill(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = &self.kind;
        match (self.place, kind) {
            (None, _) => write!(f, "{kind}"),
            (Some(Place::Input(RecordPlace { index, offset })), _) => {
                write!(f, "record {index}, at byte {offset}: {kind}")
            }
            (Some(Place::Output(index)), _) => write!(f, "record {index}: {kind}"),
            (Some(Place::Line(line)), ErrorKind::Io(_)) => {
                write!(f, "cannot read it after line {line}: {kind}")
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
    /// Byte offset within the record, from 0, at which the fault shows.
    pub offset: usize,
    /// What is wrong.
    pub kind: DecodeErrorKind,
}

impl DecodeError {
    /// That of a piece of a chunk which is too long to be read as one.
    pub const TOO_LONG: Self = DecodeErrorKind::TooLong.at(0);
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            // They are about all bytes.
            kind @ (DecodeErrorKind::TooLong | DecodeErrorKind::Encoding { .. }) => kind.fmt(f),
            kind => write!(f, "byte {}: {kind}", self.offset),
        }
    }
}

/// What is wrong with the bytes of a record.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// A piece of a chunk that is too long.
    #[error(
        "part of a line longer than {MAX_LINE_BYTES} bytes, or of a game longer than {MAX_GROUP_BYTES}"
    )]
    TooLong,
    /// Too few or too many bytes, as at the end of a file that was cut off.
    #[error("a record has {expected} bytes, found {found}")]
    Length {
        /// Bytes of a record of this format.
        expected: usize,
        /// Bytes met.
        found: usize,
    },
    /// A king on a square number above 80; 81 is how these formats say "no king".
    #[error("the {color:?} king stands on square number {number}, the board ends at 80")]
    KingOffBoard {
        /// Side of the king.
        color: Color,
        /// The number stored.
        number: u8,
    },
    /// Both kings on one square.
    #[error("both kings stand on {square}")]
    KingsOnOneSquare {
        /// The square.
        square: Square,
    },
    /// The squares need more than 256 bits.
    #[error("the bits end before the last square")]
    BoardOverrun,
    /// The last piece in hand or in the box needs more than 256 bits.
    #[error("the bits end within a piece in hand")]
    HandOverrun,
    /// Bits that are no piece in hand and none in the box.
    #[error("bits that are no piece in hand and none in the box")]
    UnknownHandCode,
    /// Not the 38 pieces of a set besides the kings.
    #[error("board, hands and box hold {}, a set has {}", HandCounts(*.counts), HandCounts(HandKind::SET))]
    PieceSet {
        /// Pieces counted, P L N S G B R.
        counts: [u8; HandKind::COUNT],
    },
    /// The position of a line of text.
    #[error("{0}")]
    Sfen(SfenError),
    /// The start of a game is no arrangement of a set of pieces.
    #[error("the game's start: {0}")]
    Setup(SetupError),
    /// The start of a game is no position of one.
    #[error("the game's start: {0}")]
    Position(PositionError),
    /// A move of a game that the rules do not allow; the moves behind it are lost with it.
    #[error("{best_move} cannot be played, the rest of the game is not read")]
    IllegalMove {
        /// The move.
        best_move: Move,
    },
    /// The bytes end within a game.
    #[error("the game has {}, the bytes end within move {within}", in_moves(*moves))]
    GameCut {
        /// Moves that the game says it has.
        moves: u16,
        /// Number of the move that is not whole, from 1.
        within: u32,
    },
    /// What stands behind the last move of a game is no other game.
    #[error("behind the game's {} stands no other game", in_moves(*moves))]
    NotAGame {
        /// Moves that the game says it has.
        moves: u16,
    },
    /// A move with more candidates than any position has moves.
    #[error("{candidates} candidates, no position has more than {most} moves")]
    TooManyCandidates {
        /// The number stored.
        candidates: u16,
        /// The largest number of moves that a position has.
        most: u16,
    },
    /// A move of a game in bits that are no move.
    #[error("{0}, the rest of the game is not read")]
    MalformedMove(MalformedMove),
    /// Text in an encoding, or with line ends, that are not read.
    #[error("expected {expected}, found {found}")]
    Encoding {
        /// The encodings or line ends that are read.
        expected: &'static str,
        /// What the text has.
        found: &'static str,
    },
    /// A chunk without any record.
    #[error("no record")]
    Nothing,
    /// What a format of text says and cannot be understood.
    #[error("expected {expected}, found {found:?}")]
    Syntax {
        /// What would have been understood.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// A line that begins with `#`.
    #[error("a comment, no record")]
    Comment,
    /// A column behind the SFEN that cannot be read.
    #[error("the column {column} is not {expected}")]
    Column {
        /// Which column.
        column: Field,
        /// What would have been understood.
        expected: &'static str,
    },
    /// More columns than there are fields.
    #[error("more columns than sfen, move, eval, ply and result")]
    ExtraColumn,
}

impl DecodeErrorKind {
    /// The key in reports: `snake_case`, stable.
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
            Self::Syntax { .. } => "syntax",
            Self::Comment => "comment",
            Self::Column { .. } => "column",
            Self::ExtraColumn => "extra_column",
        }
    }

    pub(super) fn syntax(expected: &'static str, found: &[u8]) -> Self {
        /// More than this of what was found would not help.
        const MAX_BYTES: usize = 40;
        let found = String::from_utf8_lossy(&found[..found.len().min(MAX_BYTES)]).into_owned();
        Self::Syntax { expected, found }
    }

    pub(super) const fn at(self, offset: usize) -> DecodeError {
        DecodeError { offset, kind: self }
    }
}

/// Why a record cannot be written in a format, or no record of another format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A packed position has no room for "no king": it would need 257 bits.
    #[error("the {color:?} king is missing; packed positions need both kings")]
    MissingKing {
        /// Side without a king.
        color: Color,
    },
    /// The board is not a valid position of a game.
    #[error("{0}")]
    Position(PositionError),
    /// A position without a move, in a format that has no place for one.
    #[error(
        "{format} holds moves only, and there is none; kif, ki2, bod, csa and jkf hold positions without a move, too"
    )]
    NoMove {
        /// The format.
        format: &'static str,
    },
    /// Formats of games need a move that can be played.
    #[error("the move cannot be played in the position, and a game needs one that can")]
    NoGame,
    /// More moves or candidates than the format can count.
    #[error("more than {most} {what}, which is all that the format can hold")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The largest number.
        most: u16,
    },
    /// The format is only read.
    #[error("{format} can be read, not written")]
    OnlyRead {
        /// The format.
        format: &'static str,
    },
    /// The move to fill in is illegal in this record.
    #[error(
        "it has no move, and {best_move}, which is to be filled in, cannot be played in its position"
    )]
    IllegalFill {
        /// The move.
        best_move: Move,
    },
    /// A character that `Shift_JIS` lacks.
    #[error(
        "{text} has {character:?} (U+{:04X}), which Shift_JIS lacks; kifu and ki2u are written in UTF-8",
        u32::from(*character)
    )]
    NotInShiftJis {
        /// The character.
        character: char,
        /// The kind of text that contains it.
        text: &'static str,
    },
    /// The target needs fields that the record lacks and no fill names.
    #[error("the record has no {fields}, and no value to fill in was given")]
    Missing {
        /// The fields.
        fields: Fields,
    },
    /// The target needs fields that no record of the source has and no fill names.
    #[error("{to} needs {fields}, which {from} does not hold and no fill names")]
    NeverHeld {
        /// Source format.
        from: Format,
        /// Target format.
        to: Format,
        /// The fields.
        fields: Fields,
    },
    /// The target has no place for a position without a move, and the source has no moves.
    #[error(
        "{to} holds moves only, and {from} has none; kif, ki2, bod, csa and jkf hold positions without a move, too"
    )]
    NoMoves {
        /// Source format.
        from: Format,
        /// Target format.
        to: Format,
    },
}

fn in_moves(moves: u16) -> String {
    format!("{moves} move{}", if moves == 1 { "" } else { "s" })
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
