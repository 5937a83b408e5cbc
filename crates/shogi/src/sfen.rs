//! SFEN, the text of a position in the USI protocol.
//!
//! Reading is strict where a program could be misled, and lenient where only the spelling differs. [`parse`] lists
//! departures from the canonical spelling. Every error gives the position of the character.

use std::error::Error;
use std::fmt;
use std::ops::Index;
use std::str::FromStr;

use super::byte_board::Board;
use super::hand::Hand;
use super::piece::{Color, HandKind, Piece, PieceKind};
use super::position::{Position, PositionError};
use super::setup::{Setup, SetupError};
use super::square::Square;

/// SFEN of the start position of an even game.
pub const START: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";

/// Why a text is not a valid SFEN.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SfenError {
    /// A character that is not allowed at its position.
    Unexpected {
        /// Byte offset in the text, from 0.
        at: usize,
        /// The character found, in quotes, or "the end".
        found: String,
        /// The characters that would be allowed.
        expected: &'static str,
    },
    /// A rank with too few or too many squares.
    RankLength {
        /// Byte offset in the text where the wrong length shows.
        at: usize,
        /// Letter of the rank.
        rank: char,
        /// Squares counted.
        squares: u8,
    },
    /// More pieces than a set has, two kings of one side, or no king.
    Setup {
        /// Byte offset of a piece in hand that is one too many. `None` if the error concerns board and hands together.
        at: Option<usize>,
        /// The error of the arrangement.
        source: SetupError,
    },
    /// A number that is too large.
    Number {
        /// Byte offset of the number.
        at: usize,
        /// Largest value allowed.
        most: u16,
    },
    /// The text is a valid SFEN, but the position is illegal.
    Position(PositionError),
}

impl SfenError {
    /// Byte offset of the error in the text, from 0. `None` if the error concerns the whole position.
    pub const fn offset(&self) -> Option<usize> {
        match self {
            Self::Unexpected { at, .. } | Self::RankLength { at, .. } | Self::Number { at, .. } => {
                Some(*at)
            }
            Self::Setup { at, .. } => *at,
            Self::Position(_) => None,
        }
    }
}

impl fmt::Display for SfenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = self.offset() {
            write!(f, "character {}: ", at + 1)?;
        }
        match self {
            Self::Unexpected { found, expected, .. } => {
                write!(f, "found {found}, expected {expected}")
            }
            Self::RankLength { rank, squares, .. } => {
                let plural = if *squares == 1 { "" } else { "s" };
                write!(f, "rank {rank} has {squares} square{plural}, expected 9")
            }
            Self::Setup { source, .. } => write!(f, "{source}"),
            Self::Number { most, .. } => write!(f, "the number is larger than {most}"),
            Self::Position(error) => error.fmt(f),
        }
    }
}

impl Error for SfenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Setup { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<PositionError> for SfenError {
    fn from(error: PositionError) -> Self {
        Self::Position(error)
    }
}

/// A spelling that other programs may write but [`Setup`] does not, or missing pieces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the messages describe them")]
pub enum SfenWarning {
    Keyword,
    ByteOrderMark,
    Separator,
    SplitDigits,
    HandSpelling,
    NoPly,
    PlyZero,
    MissingKing,
    Incomplete,
}

impl fmt::Display for SfenWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keyword => "a USI keyword precedes the position",
            Self::ByteOrderMark => "a byte order mark precedes the position",
            Self::Separator => "fields are not separated by single spaces",
            Self::SplitDigits => "neighbouring digits in a rank",
            Self::HandSpelling => "pieces in hand are not spelled canonically",
            Self::NoPly => "the move number is missing",
            Self::PlyZero => "the move number is 0",
            Self::MissingKing => "one king is missing",
            Self::Incomplete => "pieces of the set are missing",
        })
    }
}

impl Error for SfenWarning {}

/// An arrangement read from text, and the warnings about its spelling.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Parsed {
    /// The arrangement.
    pub setup: Setup,
    /// Departures from the canonical spelling, in the order of the text.
    pub warnings: Vec<SfenWarning>,
}

/// Reads an SFEN. Also accepts `sfen …`, `position sfen …`, `startpos` and `position startpos`.
///
/// Ignores a line end and white space around the text. The move number may be missing.
///
/// # Errors
/// [`SfenError`] with the byte offset of the first error.
///
/// ```
/// use kyokumen_shogi::sfen;
/// let error = sfen::parse(b"lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPX/1B5R1/LNSGKGSNL b - 1");
/// assert_eq!(
///     error.unwrap_err().to_string(),
///     "character 41: found 'X', expected a piece, a digit from 1 to 9, or +"
/// );
/// ```
pub fn parse(text: &[u8]) -> Result<Parsed, SfenError> {
    let mut reader = Reader { text, at: 0, warnings: Vec::new() };
    let setup = reader.setup()?;
    Ok(Parsed { setup, warnings: reader.warnings })
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    warnings: Vec<SfenWarning>,
}

impl Reader<'_> {
    fn setup(&mut self) -> Result<Setup, SfenError> {
        while self.skip(b"\xef\xbb\xbf") {
            self.warn(SfenWarning::ByteOrderMark);
        }
        self.skip_spaces();
        if self.skip(b"position ") | self.skip(b"sfen ") {
            self.skip(b"sfen ");
            self.warn(SfenWarning::Keyword);
            self.skip_spaces();
        }
        if self.skip(b"startpos") {
            self.warn(SfenWarning::Keyword);
            self.end()?;
            return parse(START.as_bytes()).map(|parsed| parsed.setup);
        }
        let board = self.board()?;
        self.separator("a space after the board")?;
        let side_to_move = match self.peek() {
            Some(b'b') => Color::Black,
            Some(b'w') => Color::White,
            _ => return Err(self.unexpected("b or w, the side to move")),
        };
        self.at += 1;
        self.separator("a space and the pieces in hand")?;
        let hands = self.hands()?;
        let ply = self.ply()?;
        self.end()?;
        let setup = Setup::new(board, hands, side_to_move, ply)
            .map_err(|source| SfenError::Setup { at: None, source })?;
        if Color::ALL.iter().any(|&color| setup.king(color).is_none()) {
            self.warn(SfenWarning::MissingKing);
        }
        if setup.piece_box() != Hand::EMPTY && !is_handicap(&setup) {
            self.warn(SfenWarning::Incomplete);
        }
        Ok(setup)
    }

    fn board(&mut self) -> Result<Board, SfenError> {
        let mut board = [None; Square::COUNT];
        for rank in 0..9 {
            if rank > 0 {
                if self.peek() != Some(b'/') {
                    return Err(self.unexpected("/ and the next rank"));
                }
                self.at += 1;
            }
            self.rank(rank, &mut board)?;
        }
        Ok(board)
    }

    fn rank(&mut self, rank: u8, board: &mut Board) -> Result<(), SfenError> {
        const EXPECTED: &str = "a piece, a digit from 1 to 9, or +";
        let letter = char::from(b'a' + rank);
        let mut squares = 0;
        let mut after_digit = false;
        loop {
            let at = self.at;
            match self.peek() {
                Some(digit @ b'1'..=b'9') => {
                    if after_digit {
                        self.warn(SfenWarning::SplitDigits);
                    }
                    after_digit = true;
                    self.at += 1;
                    squares += digit - b'0';
                }
                Some(b'/' | b' ' | b'\t') | None if squares == 9 => return Ok(()),
                Some(b'/' | b' ' | b'\t') | None => {
                    return Err(SfenError::RankLength { at, rank: letter, squares });
                }
                Some(_) => {
                    let piece = self.piece(EXPECTED)?;
                    after_digit = false;
                    if squares < 9 {
                        board[Square::from_file_rank(8 - squares, rank).index()] = Some(piece);
                    }
                    squares += 1;
                }
            }
            if squares > 9 {
                return Err(SfenError::RankLength { at, rank: letter, squares });
            }
        }
    }

    fn piece(&mut self, expected: &'static str) -> Result<Piece, SfenError> {
        let promoted = self.skip(b"+");
        let Some(letter) = self.peek() else { return Err(self.unexpected(expected)) };
        let kind = match letter.to_ascii_uppercase() {
            b'K' => PieceKind::King,
            upper => match HandKind::from_letter(upper) {
                Some(kind) => kind.piece_kind(),
                None if promoted => return Err(self.unexpected("a piece that promotes")),
                None => return Err(self.unexpected(expected)),
            },
        };
        let color = if letter.is_ascii_uppercase() { Color::Black } else { Color::White };
        let kind = match (promoted, kind.promoted()) {
            (false, _) => kind,
            (true, Some(kind)) => kind,
            (true, None) => return Err(self.unexpected("a piece that promotes")),
        };
        self.at += 1;
        Ok(Piece::new(color, kind))
    }

    fn hands(&mut self) -> Result<[Hand; 2], SfenError> {
        let mut counts = [[0u16; HandKind::COUNT]; 2];
        if self.skip(b"-") {
            return Ok([Hand::EMPTY; 2]);
        }
        let start = self.at;
        while !matches!(self.peek(), None | Some(b' ' | b'\t' | b'\r' | b'\n')) {
            let at = self.at;
            let number = self.number(u16::from(HandKind::SET[0]))?;
            let letter = self.peek();
            let kind = letter
                .map(|letter| letter.to_ascii_uppercase())
                .and_then(HandKind::from_letter)
                .ok_or_else(|| self.unexpected("a count or one of the letters RBGSNLPrbgsnlp"))?;
            if number == Some(0) {
                self.at = at;
                return Err(self.unexpected("a count of at least 1"));
            }
            let side = usize::from(letter.is_some_and(|letter| letter.is_ascii_lowercase()));
            let count = &mut counts[side][kind.index()];
            *count += number.unwrap_or(1);
            let most = HandKind::SET[kind.index()];
            if *count > u16::from(most) {
                let letter = char::from(kind.piece_kind().letter());
                let count = u8::try_from(*count).unwrap_or(u8::MAX);
                let source = SetupError::TooMany { letter, count, most };
                return Err(SfenError::Setup { at: Some(at), source });
            }
            self.at += 1;
        }
        if self.at == start {
            return Err(self.unexpected("the pieces in hand, or -"));
        }
        let hands = counts.map(|counts| {
            Hand::from_counts(counts.map(|count| count as u8)).expect("counts were bounded above")
        });
        let mut canonical = String::new();
        write_hands(hands, &mut canonical).expect("writing to a String succeeds");
        if canonical.as_bytes() != &self.text[start..self.at] {
            self.warn(SfenWarning::HandSpelling);
        }
        Ok(hands)
    }

    fn ply(&mut self) -> Result<u16, SfenError> {
        let before = self.at;
        self.skip_spaces();
        if self.peek().is_none() {
            self.warn(SfenWarning::NoPly);
            return Ok(1);
        }
        self.at = before;
        self.separator("a space and the move number")?;
        let Some(ply) = self.number(u16::MAX)? else {
            return Err(self.unexpected("the move number"));
        };
        if ply == 0 {
            self.warn(SfenWarning::PlyZero);
        }
        Ok(ply)
    }

    /// Reads the digits at the cursor. `None` if there are none.
    fn number(&mut self, most: u16) -> Result<Option<u16>, SfenError> {
        let start = self.at;
        let mut number: u16 = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number
                .checked_mul(10)
                .and_then(|number| number.checked_add(u16::from(digit - b'0')))
                .filter(|&number| number <= most)
                .ok_or(SfenError::Number { at: start, most })?;
            self.at += 1;
        }
        Ok((self.at > start).then_some(number))
    }

    fn separator(&mut self, expected: &'static str) -> Result<(), SfenError> {
        let start = self.at;
        self.skip_spaces();
        if self.at == start {
            return Err(self.unexpected(expected));
        }
        if &self.text[start..self.at] != b" " {
            self.warn(SfenWarning::Separator);
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), SfenError> {
        let start = self.at;
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
        if !matches!(&self.text[start..self.at], b"" | b"\n") {
            self.warn(SfenWarning::Separator);
        }
        if self.peek().is_some() { Err(self.unexpected("the end of the text")) } else { Ok(()) }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip(&mut self, prefix: &[u8]) -> bool {
        let found = self.text[self.at..].starts_with(prefix);
        if found {
            self.at += prefix.len();
        }
        found
    }

    fn skip_spaces(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn warn(&mut self, warning: SfenWarning) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    fn unexpected(&self, expected: &'static str) -> SfenError {
        let rest = &self.text[self.at..];
        let found = match rest {
            [] => "the end".to_owned(),
            [byte @ 0x20..=0x7e, ..] => format!("'{}'", char::from(*byte)),
            [byte, ..] => {
                // A character outside ASCII is shown whole, invalid UTF-8 as its first byte.
                let shown = &rest[..rest.len().min(4)];
                match shown.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next()) {
                    Some(character) => format!("{character:?}"),
                    None => format!("byte {byte:#04x}"),
                }
            }
        };
        SfenError::Unexpected { at: self.at, found, expected }
    }
}

/// Whether the missing pieces are those that a handicap game lacks: Black's camp is complete, some of White's pieces
/// are missing, and no piece has moved. Such positions count as complete.
fn is_handicap(setup: &Setup) -> bool {
    let start = parse(START.as_bytes()).expect("the start position is an SFEN").setup;
    setup.hands() == [Hand::EMPTY; 2]
        && Square::all().all(|square| {
            let (here, there) = (setup.board()[square.index()], start.board()[square.index()]);
            here == there || (here.is_none() && there.is_some_and(|p| p.color == Color::White))
        })
}

fn write_hands(hands: [Hand; 2], f: &mut impl fmt::Write) -> fmt::Result {
    if hands == [Hand::EMPTY; 2] {
        return f.write_char('-');
    }
    for color in Color::ALL {
        for kind in [
            HandKind::Rook,
            HandKind::Bishop,
            HandKind::Gold,
            HandKind::Silver,
            HandKind::Knight,
            HandKind::Lance,
            HandKind::Pawn,
        ] {
            let count = hands[color.index()].count(kind);
            if count > 1 {
                write!(f, "{count}")?;
            }
            if count > 0 {
                write!(f, "{}", Piece::new(color, kind.piece_kind()))?;
            }
        }
    }
    Ok(())
}

fn write_board(
    board: &impl Index<usize, Output = Option<Piece>>,
    f: &mut impl fmt::Write,
) -> fmt::Result {
    for rank in 0..9 {
        if rank > 0 {
            f.write_char('/')?;
        }
        let mut empty = 0;
        for file in (0..9).rev() {
            if let Some(piece) = board[Square::from_file_rank(file, rank).index()] {
                if empty > 0 {
                    write!(f, "{empty}")?;
                    empty = 0;
                }
                write!(f, "{piece}")?;
            } else {
                empty += 1;
            }
        }
        if empty > 0 {
            write!(f, "{empty}")?;
        }
    }
    Ok(())
}

fn write_sfen(
    board: &impl Index<usize, Output = Option<Piece>>,
    hands: [Hand; 2],
    side_to_move: Color,
    ply: u16,
    f: &mut impl fmt::Write,
) -> fmt::Result {
    write_board(board, f)?;
    let side = match side_to_move {
        Color::Black => " b ",
        Color::White => " w ",
    };
    f.write_str(side)?;
    write_hands(hands, f)?;
    write!(f, " {ply}")
}

impl fmt::Display for Setup {
    /// Canonical SFEN, hands in the order R B G S N L P.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_sfen(self.board(), self.hands(), self.side_to_move(), self.ply(), f)
    }
}

impl fmt::Display for Position {
    /// Canonical SFEN, hands in the order R B G S N L P.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hands = Color::ALL.map(|color| self.hand(color));
        write_sfen(self.board(), hands, self.side_to_move(), self.ply(), f)
    }
}

impl FromStr for Setup {
    type Err = SfenError;

    fn from_str(text: &str) -> Result<Self, SfenError> {
        parse(text.as_bytes()).map(|parsed| parsed.setup)
    }
}

impl FromStr for Position {
    type Err = SfenError;

    fn from_str(text: &str) -> Result<Self, SfenError> {
        Ok(Self::try_from(text.parse::<Setup>()?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_text_round_trips() {
        for text in [
            START,
            "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1",
            "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1",
            "9/9/3pp4/+r2k1p3/2L1+p4/2+R6/B8/B8/9 b 4g4s4n3l14p 1",
        ] {
            let parsed = parse(text.as_bytes()).expect(text);
            let canonical = text.replace("GR5pnsg", "RGgsn5p");
            assert_eq!(parsed.setup.to_string(), canonical);
        }
    }

    #[test]
    fn errors_give_the_byte_offset_of_the_character() {
        let at = |text: &str| parse(text.as_bytes()).expect_err(text).offset().unwrap();
        assert_eq!(at("lnsgkgsnl/1r5b1/pppp"), 20);
        assert_eq!(at("lnsgkgsnl/1r5b1/ppppppppp/9/91/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"), 29);
        assert_eq!(at("4k4/9/9/9/9/9/9/9/4K4 x - 1"), 22);
        assert_eq!(at("4k4/9/9/9/9/9/9/9/4K4 b 2X 1"), 25);
        assert_eq!(at("4k4/9/9/9/9/9/9/9/4K4 b - 1 2"), 28);
        assert_eq!(at("4k4/9/9/9/9/9/9/9/4K4 b - 70000"), 26);
        assert_eq!(at("4k4/9/9/9/9/9/9/9/4K4 b 5G 1"), 24);
    }

    #[test]
    fn too_many_pieces_on_board_and_in_hand_have_no_offset() {
        let error = parse(b"4k4/9/ppppppppp/9/9/9/PPPPPPPPP/9/4K4 b P 1").unwrap_err();
        assert_eq!(error.offset(), None);
        assert_eq!(error.to_string(), "19 pieces P on board and in hand, but a set has 18");
    }
}
