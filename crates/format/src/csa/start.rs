//! The start position of a CSA game.
//!
//! See section 2.5 of the standard: `PI` with the omitted pieces, ranks `P1` to `P9`, single pieces `P+` and `P-`, the
//! side to move.

use kyokumen_shogi::{Board, Color, Hand, HandKind, Piece, PieceKind, Setup, Square};

use super::super::error::{DecodeError, DecodeErrorKind};
use super::super::lines::decode;
use super::super::replay::{self, Replay};
use super::ending::Summary;
use super::head;
use crate::csa::codes::{CODES, held_kind, kind_of, put_line, sign_of, square_of};
use crate::game_info::Header;

pub(super) const EXPECTED: &str = "a line of the CSA standard";

/// The start position while it is read.
pub(super) struct Start {
    board: Board,
    hands: [[u8; HandKind::COUNT]; 2],
    side_to_move: Color,
    /// Offset of the first line with pieces. `None` for the start of an even game.
    arranged_at: Option<usize>,
    /// Whether any line was read, and whether the side to move, the last line of a start position, was read.
    is_begun: bool,
    is_whole: bool,
    headers: Vec<Header>,
    /// Comments before the side to move.
    comments: Vec<String>,
    skipped_lines: u32,
    /// The error of the first skipped line.
    unknown: Option<DecodeError>,
}

impl Default for Start {
    fn default() -> Self {
        Self {
            board: [None; Square::COUNT],
            hands: [[0; HandKind::COUNT]; 2],
            side_to_move: Color::Black,
            arranged_at: None,
            is_begun: false,
            is_whole: false,
            headers: Vec::new(),
            comments: Vec::new(),
            skipped_lines: 0,
            unknown: None,
        }
    }
}

impl Start {
    /// Takes a statement. Returns `false` if the moves begin with it.
    pub(super) fn take(&mut self, statement: &[u8], at: usize) -> Result<bool, DecodeError> {
        match statement {
            _ if Summary::parse(statement).is_some() => return Ok(false),
            // Comments on the start position follow it.
            [b'\'', b'*', ..] if self.is_whole => return Ok(false),
            [b'\'', b'*', comment @ ..] => self.comments.push(decode(comment).into_owned()),
            [] | [b'\'', ..] | b"/" => {}
            [b'V', ..] => self.is_begun = true,
            [b'$', ..] | [b'N', b'+' | b'-', ..] => {
                self.is_begun = true;
                if !head::take(statement, &mut self.headers) {
                    self.skipped_lines = self.skipped_lines.saturating_add(1);
                }
            }
            [sign @ (b'+' | b'-')] => {
                self.side_to_move = if *sign == b'+' { Color::Black } else { Color::White };
                self.is_whole = true;
            }
            [b'+' | b'-' | b'%', ..] => return Ok(false),
            [b'P', rest @ ..] => {
                self.is_begun = true;
                self.arranged_at.get_or_insert(at);
                if self.arrange(rest).is_none() {
                    let expected =
                        "pieces of the start position, such as P1-KY-KE, P+27FU or PI22KA";
                    return Err(DecodeErrorKind::syntax(expected, statement).at(at));
                }
            }
            _ => {
                let error = DecodeErrorKind::syntax(EXPECTED, statement).at(at);
                // The line may be a damaged rank: another one after a rank, or the first one if it shows pieces.
                if self.arranged_at.is_some() || shows_pieces(statement) {
                    return Err(error);
                }
                self.skipped_lines = self.skipped_lines.saturating_add(1);
                self.unknown.get_or_insert(error);
            }
        }
        Ok(true)
    }

    /// Whether the text ends before the side to move.
    pub(super) const fn is_cut_off(&self) -> bool {
        self.is_begun && !self.is_whole
    }

    /// Whether there is no statement, not even an unknown one.
    pub(super) const fn is_empty(&self) -> bool {
        !self.is_begun && !self.is_whole && self.unknown.is_none()
    }

    fn arrange(&mut self, text: &[u8]) -> Option<()> {
        match text {
            [b'I', left_out @ ..] => {
                self.board = replay::even_start().board().into();
                for [a, b, code @ ..] in groups(left_out)? {
                    let content = &mut self.board[square_of(&[a, b])?.index()];
                    content.filter(|piece| *CODES[piece.kind.index()] == code)?;
                    *content = None;
                }
            }
            [rank @ b'1'..=b'9', cells @ ..] => {
                let cells = rank_of(cells)?;
                for (file, content) in (0..9).rev().zip(cells) {
                    self.board[Square::from_file_rank(file, rank - b'1').index()] = content;
                }
            }
            [sign @ (b'+' | b'-'), pieces @ ..] => {
                let color = if *sign == b'+' { Color::Black } else { Color::White };
                for group in groups(pieces)? {
                    self.add(color, group)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn add(&mut self, color: Color, group: [u8; 4]) -> Option<()> {
        let [a, b, code @ ..] = group;
        if group == *b"00AL" {
            self.hands[color.index()] = self.left_over(!color);
            return Some(());
        }
        let kind = kind_of(&code)?;
        if [a, b] == *b"00" {
            let count = &mut self.hands[color.index()][held_kind(kind)?.index()];
            *count = count.saturating_add(1);
        } else {
            self.board[square_of(&[a, b])?.index()] = Some(Piece::new(color, kind));
        }
        Some(())
    }

    /// Pieces of the set that are neither on the board nor in this hand.
    fn left_over(&self, other: Color) -> [u8; HandKind::COUNT] {
        let mut left = HandKind::SET;
        for kind in self.board.iter().flatten().filter_map(|piece| piece.kind.hand_kind()) {
            left[kind.index()] = left[kind.index()].saturating_sub(1);
        }
        for kind in HandKind::ALL {
            let held = self.hands[other.index()][kind.index()];
            left[kind.index()] = left[kind.index()].saturating_sub(held);
        }
        left
    }

    /// Begins the game.
    pub(super) fn begin(&mut self) -> Result<Replay, DecodeError> {
        if let Some(unknown) = self.unknown.take().filter(|_| !self.is_begun && !self.is_whole) {
            // No statement shows that the text is a game.
            return Err(unknown);
        }
        let mut replay = match self.arranged_at {
            None => {
                let even = replay::even_start();
                let setup = Setup::new(*even.board(), even.hands(), self.side_to_move, 1);
                Replay::new(setup.map_err(|error| DecodeErrorKind::Setup(error).at(0))?, 0)?
            }
            Some(at) => {
                let setup = replay::arrangement(self.board, self.hands, self.side_to_move);
                Replay::new(setup.map_err(|error| DecodeErrorKind::Setup(error).at(at))?, at)?
            }
        };
        replay.game.info.headers = std::mem::take(&mut self.headers);
        replay.game.info.skipped_lines = self.skipped_lines;
        self.comments.drain(..).for_each(|comment| replay.take_comment(&comment));
        Ok(replay)
    }
}

/// Whether a line has at least two pieces and so may be a rank of a damaged board.
fn shows_pieces(statement: &[u8]) -> bool {
    let is_piece = |cell: &&[u8]| piece_of(cell).is_some();
    statement.windows(3).filter(is_piece).count() > 1
}

/// Square and piece, four characters each.
fn groups(text: &[u8]) -> Option<impl Iterator<Item = [u8; 4]>> {
    let (groups, rest) = text.as_chunks();
    rest.is_empty().then(|| groups.iter().copied())
}

/// The nine squares of a rank, three characters each. Some writers omit spaces.
fn rank_of(text: &[u8]) -> Option<[Option<Piece>; 9]> {
    let by_threes = || {
        let mut contents = [None; 9];
        let mut cells = text.chunks(3);
        for (content, cell) in contents.iter_mut().zip(&mut cells) {
            *content = match cell {
                [b'+' | b'-', ..] => Some(piece_of(cell)?),
                [b' ', b'*' | b' ', b' '] | [b' ', b'*' | b' '] | [b' '] => None,
                _ => return None,
            };
        }
        cells.next().is_none().then_some(contents)
    };
    by_threes().or_else(|| without_spaces(text))
}

fn without_spaces(text: &[u8]) -> Option<[Option<Piece>; 9]> {
    let text: Vec<u8> = text.iter().copied().filter(|byte| *byte != b' ').collect();
    let mut rest = &text[..];
    let mut contents = [None; 9];
    for content in &mut contents {
        let len = if rest.first() == Some(&b'*') { 1 } else { 3 };
        let (cell, after) = rest.split_at_checked(len)?;
        *content = if len == 3 { Some(piece_of(cell)?) } else { None };
        rest = after;
    }
    rest.is_empty().then_some(contents)
}

fn piece_of(cell: &[u8]) -> Option<Piece> {
    let (sign, code) = cell.split_first()?;
    let color = Color::ALL.into_iter().find(|color| sign_of(*color) == *sign)?;
    Some(Piece::new(color, kind_of(code)?))
}

/// Writes a start position with the side to move.
pub(super) fn write(setup: &Setup, out: &mut Vec<u8>) {
    if setup.clone().with_ply(1) == replay::even_start() {
        out.extend_from_slice(b"PI\n");
    } else {
        for rank in 0..9 {
            out.extend_from_slice(&[b'P', b'1' + rank]);
            for file in (0..9).rev() {
                let square = Square::from_file_rank(file, rank);
                put_cell(setup.board()[square.index()], out);
            }
            out.push(b'\n');
        }
        for color in Color::ALL {
            write_hand(color, setup.hands()[color.index()], out);
        }
    }
    put_line(out, &[sign_of(setup.side_to_move())]);
}

fn put_cell(content: Option<Piece>, out: &mut Vec<u8>) {
    match content {
        Some(Piece { color, kind }) => {
            out.push(sign_of(color));
            out.extend_from_slice(CODES[kind.index()]);
        }
        None => out.extend_from_slice(b" * "),
    }
}

fn write_hand(color: Color, hand: Hand, out: &mut Vec<u8>) {
    if hand.is_empty() {
        return;
    }
    out.extend_from_slice(&[b'P', sign_of(color)]);
    for kind in HandKind::ALL {
        for _ in 0..hand.count(kind) {
            out.extend_from_slice(b"00");
            let kind: PieceKind = kind.piece_kind();
            out.extend_from_slice(CODES[kind.index()]);
        }
    }
    out.push(b'\n');
}
