//! Transcodes packed positions to the other code, or to canonical order, without building a board.
//!
//! The two codes have the same code lengths, so a sequence of codes is translated in place.

use kyokumen_shogi::Color;

use super::sum::PackedSum;
use super::tables::{PackedHands, Ranks, Tables};
use super::words::Words;
use crate::packed::steps::{
    board_steps, header, kings, last_step, off_board_steps, write_off_board,
};
use crate::packed::words::LEN;

/// The position in the other code. `None` if the bytes are invalid.
#[inline]
pub(super) fn transcode_valid(from: &Tables, to: &Tables, bytes: &[u8; LEN]) -> Option<[u8; LEN]> {
    kings(bytes)?;
    let mut position = Transcoding::of(bytes);
    while !position.step_on_board(from) {}
    position.board = position.sum;
    while position.step_off_board(from) {}
    position.finish(from, to, bytes)
}

/// Like [`transcode_valid`], for two positions.
#[inline]
pub(super) fn transcode_two_valid(
    from: &Tables,
    to: &Tables,
    bytes: [&[u8; LEN]; 2],
) -> [Option<[u8; LEN]>; 2] {
    let (mut a, mut b) = (Transcoding::of(bytes[0]), Transcoding::of(bytes[1]));
    // When one position is done, the other continues alone.
    while !(a.step_on_board(from) | b.step_on_board(from)) {}
    while !(a.is_past_board() || a.step_on_board(from)) {}
    while !(b.is_past_board() || b.step_on_board(from)) {}
    (a.board, b.board) = (a.sum, b.sum);
    while a.step_off_board(from) & b.step_off_board(from) {}
    while a.step_off_board(from) {}
    while b.step_off_board(from) {}
    let finish = |position: &mut Transcoding, bytes| {
        kings(bytes)?;
        position.finish(from, to, bytes)
    };
    [finish(&mut a, bytes[0]), finish(&mut b, bytes[1])]
}

/// State of transcoding one position.
struct Transcoding {
    words: Words,
    out: Words,
    sum: PackedSum,
    /// The sum after the board.
    board: PackedSum,
    order: HandOrderCheck,
}

impl Transcoding {
    #[inline]
    fn of(bytes: &[u8; LEN]) -> Self {
        let (words, out) = (Words::of(bytes), Words::ZERO);
        Self {
            words,
            out,
            sum: PackedSum::HEADER,
            board: PackedSum::HEADER,
            order: HandOrderCheck::START,
        }
    }

    /// Translates as much of the board as one load of bits holds. Returns whether the board is full.
    #[inline]
    fn step_on_board(&mut self, from: &Tables) -> bool {
        let start = self.sum.bit();
        let mut bits = 0;
        let mut sum = self.sum;
        let translated = |index: usize, sum: PackedSum| {
            u64::from(from.board.translated[index]) << (sum.bit() - start)
        };
        let last = board_steps(&from.board, &self.words, &mut sum, |index, sum| {
            bits |= translated(index, sum);
        });
        if let Some(index) = last {
            let (end, index) = last_step(&from.board, sum, index);
            bits |= translated(index, sum);
            sum = end;
        }
        self.sum = sum;
        self.out.put(start, bits);
        last.is_some()
    }

    /// Translates as many pieces off the board as one load of bits holds. Returns whether there may be more.
    #[inline]
    fn step_off_board(&mut self, from: &Tables) -> bool {
        let start = self.sum.bit();
        let mut bits = 0;
        let order = &mut self.order;
        let is_more = off_board_steps(&from.off_board, &self.words, &mut self.sum, |index, sum| {
            bits |= u64::from(from.off_board.translated[index]) << (sum.bit() - start);
            order.step(from.off_board.ranks[index]);
        });
        self.out.put(start, bits);
        is_more
    }

    fn is_past_board(&self) -> bool {
        self.sum.fills_board()
    }

    #[inline]
    fn finish(&mut self, from: &Tables, to: &Tables, bytes: &[u8; LEN]) -> Option<[u8; LEN]> {
        if self.sum != PackedSum::WHOLE {
            return None;
        }
        if !self.order.is_canonical {
            reorder(from, to, &self.words, self.board, &mut self.out);
        }
        self.out.put(0, header(bytes));
        Some(self.out.clone().into_bytes())
    }
}

/// The position in canonical form. `None` if the bytes are invalid.
#[inline]
pub(super) fn canonical_valid(tables: &Tables, bytes: &[u8; LEN]) -> Option<[u8; LEN]> {
    kings(bytes)?;
    let mut position = OrderScan::of(bytes);
    while !position.step_on_board(tables) {}
    position.board = position.sum;
    while position.step_off_board(tables) {}
    position.finish(tables, bytes)
}

/// Like [`canonical_valid`], for two positions.
#[inline]
pub(super) fn canonical_two_valid(
    tables: &Tables,
    bytes: [&[u8; LEN]; 2],
) -> [Option<[u8; LEN]>; 2] {
    let (mut a, mut b) = (OrderScan::of(bytes[0]), OrderScan::of(bytes[1]));
    // When one position is done, the other continues alone.
    while !(a.step_on_board(tables) | b.step_on_board(tables)) {}
    while !(a.is_past_board() || a.step_on_board(tables)) {}
    while !(b.is_past_board() || b.step_on_board(tables)) {}
    (a.board, b.board) = (a.sum, b.sum);
    while a.step_off_board(tables) & b.step_off_board(tables) {}
    while a.step_off_board(tables) {}
    while b.step_off_board(tables) {}
    [a.finish(tables, bytes[0]), b.finish(tables, bytes[1])]
}

/// State of checking the order of the pieces off the board.
struct OrderScan {
    words: Words,
    sum: PackedSum,
    /// The sum after the board.
    board: PackedSum,
    order: HandOrderCheck,
}

impl OrderScan {
    #[inline]
    fn of(bytes: &[u8; LEN]) -> Self {
        let words = Words::of(bytes);
        Self {
            words,
            sum: PackedSum::HEADER,
            board: PackedSum::HEADER,
            order: HandOrderCheck::START,
        }
    }

    /// Reads as much of the board as one load of bits holds. Returns whether the board is full.
    #[inline]
    fn step_on_board(&mut self, tables: &Tables) -> bool {
        let mut sum = self.sum;
        let last = board_steps(&tables.board, &self.words, &mut sum, |_, _| ());
        self.sum = last.map_or(sum, |index| last_step(&tables.board, sum, index).0);
        last.is_some()
    }

    /// Reads as many pieces off the board as one load of bits holds. Returns whether there may be more.
    #[inline]
    fn step_off_board(&mut self, tables: &Tables) -> bool {
        let order = &mut self.order;
        off_board_steps(&tables.off_board, &self.words, &mut self.sum, |index, _| {
            order.step(tables.off_board.ranks[index]);
        })
    }

    fn is_past_board(&self) -> bool {
        self.sum.fills_board()
    }

    #[inline]
    fn finish(&self, tables: &Tables, bytes: &[u8; LEN]) -> Option<[u8; LEN]> {
        kings(bytes)?;
        if self.sum != PackedSum::WHOLE {
            return None;
        }
        if self.order.is_canonical {
            return Some(*bytes);
        }
        let mut out = self.words.clone();
        reorder(tables, tables, &self.words, self.board, &mut out);
        Some(out.into_bytes())
    }
}

/// Checks whether the pieces off the board are in canonical order.
struct HandOrderCheck {
    last: u8,
    is_canonical: bool,
}

impl HandOrderCheck {
    const START: Self = Self { last: 1, is_canonical: true };

    #[inline]
    fn step(&mut self, ranks: Ranks) {
        self.is_canonical &= self.last <= ranks.first;
        self.last = ranks.last;
    }
}

/// Writes the pieces off the board, which follow `board` in any order, in canonical order.
#[cold]
fn reorder(from: &Tables, to: &Tables, words: &Words, board: PackedSum, out: &mut Words) {
    let mut held = PackedHands::NOTHING;
    let mut sum = board;
    while off_board_steps(&from.off_board, words, &mut sum, |index, _| {
        held = held.plus(from.off_board.held[index]);
    }) {}
    out.clear_from(board.bit());
    write_off_board(to, out, board, Color::ALL.map(|color| held.of(color)));
}
