//! The 32-byte packed position, at speed: one codec, driven by the tables of either family.
//!
//! `docs/formats/packed.md` has the layout. A symbol is a run of empty squares with the piece behind
//! it, found by one look at the next ten bits. What is refused here is explained by
//! [`super::reference`].

use crate::shogi::{Board, Color, Hand, HandKind, Piece, PieceKind, Setup, Square};

use super::alphabet::{APERY, Alphabet, Code, Holder, YANEURAOU};
use super::error::{DecodeError, EncodeError};
use super::reference;

/// Bytes of a packed position.
pub const LEN: usize = 32;

/// Which engine's alphabet a packed position uses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// Apery: `hcp`, `hcpe`.
    Apery,
    /// YaneuraOu: `psv`.
    YaneuraOu,
}

impl Family {
    /// Both families.
    pub const ALL: [Self; 2] = [Self::Apery, Self::YaneuraOu];

    pub(super) const fn alphabet(self) -> &'static Alphabet {
        match self {
            Self::Apery => &APERY,
            Self::YaneuraOu => &YANEURAOU,
        }
    }

    const fn tables(self) -> &'static Tables {
        match self {
            Self::Apery => &APERY_TABLES,
            Self::YaneuraOu => &YANEURAOU_TABLES,
        }
    }
}

/// Reads a packed position; the move number, which it does not hold, is 1.
///
/// # Errors
/// [`DecodeError`] if the kings are not on two squares of the board, if bits are missing or belong to
/// no piece, or if board, hands and box are not exactly one set of pieces.
#[inline]
pub fn decode(family: Family, bytes: &[u8; LEN]) -> Result<Setup, DecodeError> {
    match decode_valid(family.tables(), bytes) {
        Some(setup) => Ok(setup),
        None => explain(family, bytes),
    }
}

/// [`decode`] for callers who need not know what is wrong, which takes far longer to say.
pub(super) fn decode_if_valid(family: Family, bytes: &[u8; LEN]) -> Option<Setup> {
    decode_valid(family.tables(), bytes)
}

/// Writes a packed position in canonical form: P L N S G B R in each hand and in the box.
///
/// # Errors
/// [`EncodeError::MissingKing`].
#[inline]
pub fn encode(family: Family, setup: &Setup) -> Result<[u8; LEN], EncodeError> {
    let tables = family.tables();
    // The side to move and the kings take the first 15 bits; they are put in last.
    let mut writer = Writer { bytes: [0; PADDED], at: 0, bits: 0, len: HEADER_BITS };
    let mut kings = [None; 2];
    let mut counts = 0u64;
    let mut put = |writer: &mut Writer, square: usize, content: Option<Piece>| {
        // No branch on empty squares: they come and go as no predictor can know.
        let word = &tables.words[content.map_or(EMPTY, piece_number)];
        writer.push(word.code);
        counts += word.counted;
        if word.code.len == 0 {
            kings[usize::from(content == WHITE_KING)] = Some(square as u64);
        }
    };
    let (groups, rest) = setup.board().as_chunks::<SQUARES_PER_FLUSH>();
    for (group, squares) in groups.iter().enumerate() {
        for (i, &content) in squares.iter().enumerate() {
            put(&mut writer, group * SQUARES_PER_FLUSH + i, content);
        }
        writer.flush();
    }
    for (i, &content) in rest.iter().enumerate() {
        put(&mut writer, groups.len() * SQUARES_PER_FLUSH + i, content);
    }
    writer.flush();
    let king = |color: Color| kings[color.index()].ok_or(EncodeError::MissingKing { color });
    let header = setup.side_to_move() as u64 | king(Color::Black)? << 1 | king(Color::White)? << 8;
    let hands = setup.hands();
    let mut left = SET;
    for kind in HandKind::ALL {
        let lane = lane(kind);
        let used = (counts >> lane) & 0xff;
        let held = u64::from(hands[0].count(kind)) + u64::from(hands[1].count(kind));
        left -= (used + held) << lane;
    }
    for (hand, codes) in hands.into_iter().zip(&tables.off_board) {
        if !hand.is_empty() {
            for kind in HandKind::ALL {
                writer.push_copies(codes[kind.index()], hand.count(kind).into());
            }
        }
    }
    if left != 0 {
        for kind in HandKind::ALL {
            let copies = (left >> lane(kind)) & 0xff;
            writer.push_copies(tables.off_board[Holder::Box as usize][kind.index()], copies);
        }
    }
    Ok(writer.finish(header))
}

/// Bits before the first square: side to move, two kings.
const HEADER_BITS: u32 = 15;
/// Squares besides those of the kings.
const OTHER_SQUARES: usize = 79;
/// Bits of a packed position.
const BITS: usize = 8 * LEN;
/// Room for eight bytes at the end of the position, so that every load and store is a whole word.
const PADDED: usize = LEN + 8;

/// Bits that a look at the board table takes: the longest code, and two empty squares before it.
const STEP_BITS: u32 = 10;
/// A word loaded at any bit has 57 bits at least: enough for this many steps.
const STEPS_PER_LOAD: usize = 5;
/// Length of the longest code of a piece off the board.
const OFF_BOARD_BITS: u32 = 7;
const HELD_PER_LOAD: usize = 8;
/// Eight bits a piece, and 15 in the word at most before: one word.
const SQUARES_PER_FLUSH: usize = 6;

/// Counts of kinds lie in one word, eight bits a kind: 256 bits hold no more than 80 pieces.
const fn lane(kind: HandKind) -> u8 {
    8 * kind as u8
}
/// A full set, as counts.
const SET: u64 = {
    let mut set = 0;
    let mut i = 0;
    while i < HandKind::COUNT {
        set |= (HandKind::SET[i] as u64) << (8 * i);
        i += 1;
    }
    set
};

/// A run of empty squares and what stands behind it: a piece or, where the window ends before one does,
/// another empty square.
#[derive(Clone, Copy)]
struct Step {
    /// What is added to the counts.
    counted: u64,
    /// Bits of the whole.
    bits: u8,
    empty: u8,
    content: Option<Piece>,
}

/// A piece in a hand or in the box. `holder` is 3 for bits that are none.
#[derive(Clone, Copy)]
struct Held {
    bits: u8,
    holder: u8,
    lane: u8,
}

/// What a square costs. Kings, which are stored apart, cost nothing.
#[derive(Clone, Copy)]
struct Word {
    code: Code,
    /// What is added to the counts.
    counted: u64,
}

struct Tables {
    steps: [Step; 1 << STEP_BITS],
    held: [Held; 1 << OFF_BOARD_BITS],
    words: [Word; WORDS],
    off_board: [[Code; HandKind::COUNT]; 3],
}

static APERY_TABLES: Tables = Tables::new(&APERY);
static YANEURAOU_TABLES: Tables = Tables::new(&YANEURAOU);

const NO_HOLDER: u8 = 3;

impl Tables {
    const fn new(alphabet: &Alphabet) -> Self {
        let mut words = [Word { code: Code { bits: 0, len: 0 }, counted: 0 }; WORDS];
        words[EMPTY].code.len = 1;
        let mut steps = Self::empty_runs();
        let mut i = 0;
        while i < 2 * PieceKind::COUNT {
            let kind = PieceKind::ALL[i % PieceKind::COUNT];
            let color = if i < PieceKind::COUNT { Color::Black } else { Color::White };
            let piece = Piece::new(color, kind);
            let number = piece_number(piece);
            if let (Some(code), Some(kind)) = (alphabet.on_board(piece), kind.hand_kind()) {
                words[number] = Word { code, counted: 1 << lane(kind) };
                Self::add_steps(&mut steps, piece, words[number]);
            }
            i += 1;
        }
        let (held, off_board) = Self::off_board(alphabet);
        Self { steps, held, words, off_board }
    }

    /// Steps for windows in which no piece is whole: only the empty squares at their start.
    const fn empty_runs() -> [Step; 1 << STEP_BITS] {
        let mut steps = [Step { counted: 0, bits: 0, empty: 0, content: None }; 1 << STEP_BITS];
        let mut window = 0;
        while window < 1 << STEP_BITS {
            // A window that begins with a piece is replaced: no code is longer than the window.
            let zeros = (window as u32 | 1 << STEP_BITS).trailing_zeros() as u8;
            steps[window].bits = zeros;
            steps[window].empty = zeros.saturating_sub(1);
            window += 1;
        }
        steps
    }

    /// Enters a piece at every place in the window at which it is whole.
    const fn add_steps(steps: &mut [Step; 1 << STEP_BITS], piece: Piece, word: Word) {
        let len = word.code.len as u32;
        let mut empty = 0;
        while empty + len <= STEP_BITS {
            let step = Step {
                counted: word.counted,
                bits: (empty + len) as u8,
                empty: empty as u8,
                content: Some(piece),
            };
            let mut window = (word.code.bits as usize) << empty;
            while window < 1 << STEP_BITS {
                steps[window] = step;
                window += 1 << (empty + len);
            }
            empty += 1;
        }
    }

    const fn off_board(
        alphabet: &Alphabet,
    ) -> ([Held; 1 << OFF_BOARD_BITS], [[Code; HandKind::COUNT]; 3]) {
        let none = Held { bits: OFF_BOARD_BITS as u8, holder: NO_HOLDER, lane: 0 };
        let mut held = [none; 1 << OFF_BOARD_BITS];
        let mut codes = [[Code { bits: 0, len: 0 }; HandKind::COUNT]; 3];
        let mut holder = 0;
        while holder < 3 {
            let mut i = 0;
            while i < HandKind::COUNT {
                let kind = HandKind::ALL[i];
                let code = alphabet.off_board(kind, Holder::ALL[holder]);
                codes[holder][i] = code;
                let mut window = code.bits as usize;
                while window < 1 << OFF_BOARD_BITS {
                    held[window] = Held { bits: code.len, holder: holder as u8, lane: lane(kind) };
                    window += 1 << code.len;
                }
                i += 1;
            }
            holder += 1;
        }
        (held, codes)
    }
}

/// Numbers of the pieces of one colour; a power of two, so that numbering is a shift.
const KINDS: usize = PieceKind::COUNT.next_power_of_two();
/// Number of an empty square, behind those of the pieces.
const EMPTY: usize = 2 * KINDS;
const WORDS: usize = EMPTY + 1;
const WHITE_KING: Option<Piece> = Some(Piece::new(Color::White, PieceKind::King));

const fn piece_number(piece: Piece) -> usize {
    piece.color.index() * KINDS + piece.kind.index()
}

/// The arrangement, or `None` if these bytes are none.
#[inline]
fn decode_valid(tables: &Tables, bytes: &[u8; LEN]) -> Option<Setup> {
    let mut padded = [0; PADDED];
    padded[..LEN].copy_from_slice(bytes);
    let header = u16::from_le_bytes([bytes[0], bytes[1]]);
    let side_to_move = if header & 1 == 0 { Color::Black } else { Color::White };
    let kings =
        [Square::new((header >> 1 & 0x7f) as u8)?, Square::new((header >> 8 & 0x7f) as u8)?];
    if kings[0] == kings[1] {
        return None;
    }
    let mut board: Board = [None; Square::COUNT];
    let (mut bit, counts) = decode_board(tables, &padded, &mut board);
    let mut held = [0u64; 4];
    while bit < BITS {
        let mut window = load(&padded, bit);
        for _ in 0..HELD_PER_LOAD {
            let piece = &tables.held[(window & ((1 << OFF_BOARD_BITS) - 1)) as usize];
            held[usize::from(piece.holder & 3)] += 1 << piece.lane;
            bit += usize::from(piece.bits);
            window >>= piece.bits;
            if bit >= BITS {
                break;
            }
        }
    }
    // A set costs 256 bits wherever its pieces lie, so that a full one proves that no code was cut off
    // and no bits that are none were passed over.
    if counts + held[0] + held[1] + held[2] != SET {
        return None;
    }
    let black_king = (kings[0].index(), Piece::new(Color::Black, PieceKind::King));
    let white_king = (kings[1].index(), Piece::new(Color::White, PieceKind::King));
    let (first, second) = if black_king.0 < white_king.0 {
        (black_king, white_king)
    } else {
        (white_king, black_king)
    };
    insert(&mut board, first);
    insert(&mut board, second);
    Some(Setup::from_counted(board, [hand(held[0]), hand(held[1])], side_to_move, 1))
}

/// Reads the squares besides the kings' to the start of `board`; returns the bit behind them and the
/// pieces counted.
#[inline]
fn decode_board(tables: &Tables, padded: &[u8; PADDED], board: &mut Board) -> (usize, u64) {
    let mut bit = HEADER_BITS as usize;
    let mut counts = 0u64;
    let mut done = 0;
    loop {
        let mut window = load(padded, bit);
        for _ in 0..STEPS_PER_LOAD {
            let step = &tables.steps[(window & ((1 << STEP_BITS) - 1)) as usize];
            let at = done + usize::from(step.empty);
            if at >= OTHER_SQUARES {
                return (bit + OTHER_SQUARES - done, counts);
            }
            board[at] = step.content;
            counts += step.counted;
            done = at + 1;
            bit += usize::from(step.bits);
            window >>= step.bits;
        }
    }
}

/// Puts a king on its square; what stands there and behind moves up by one.
#[inline]
fn insert(board: &mut Board, (square, king): (usize, Piece)) {
    board.copy_within(square..Square::COUNT - 1, square + 1);
    board[square] = Some(king);
}

/// At least 57 bits from `bit` on; zeros behind the end, which hostile bytes reach.
#[inline]
fn load(padded: &[u8; PADDED], bit: usize) -> u64 {
    match padded.get(bit / 8..).and_then(|rest| rest.first_chunk()) {
        Some(word) => u64::from_le_bytes(*word) >> (bit % 8),
        None => 0,
    }
}

/// A hand from counts that are known to be within the set.
#[inline]
fn hand(counts: u64) -> Hand {
    if counts == 0 {
        return Hand::EMPTY;
    }
    HandKind::ALL
        .into_iter()
        .fold(Hand::EMPTY, |hand, kind| hand.with_count(kind, (counts >> lane(kind)) as u8))
}

#[cold]
fn explain(family: Family, bytes: &[u8; LEN]) -> Result<Setup, DecodeError> {
    reference::decode(family, bytes)
}

/// Collects codes in a word and stores whole bytes of it.
struct Writer {
    bytes: [u8; PADDED],
    at: usize,
    bits: u64,
    len: u32,
}

impl Writer {
    #[inline]
    fn push(&mut self, code: Code) {
        self.bits |= u64::from(code.bits) << self.len;
        self.len += u32::from(code.len);
    }

    #[inline]
    fn push_copies(&mut self, code: Code, copies: u64) {
        for _ in 0..copies {
            self.push(code);
            self.flush();
        }
    }

    /// Stores the word; what is left of it is less than a byte.
    #[inline]
    fn flush(&mut self) {
        if let Some(word) = self.bytes.get_mut(self.at..).and_then(|rest| rest.first_chunk_mut()) {
            *word = self.bits.to_le_bytes();
        }
        self.at += (self.len / 8) as usize;
        self.bits >>= self.len & !7;
        self.len &= 7;
    }

    #[inline]
    fn finish(self, header: u64) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        bytes.copy_from_slice(&self.bytes[..LEN]);
        bytes[0] |= header as u8;
        bytes[1] |= (header >> 8) as u8;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use bitvec::prelude::{BitVec, Lsb0};

    use super::*;

    /// Kings on 5i and 5a, nothing else on the board, and these pieces off it, in this order.
    fn bare_kings(family: Family, held: &[(HandKind, Holder)]) -> [u8; LEN] {
        let mut bits: BitVec<u8, Lsb0> = BitVec::from_slice(&[0x58, 0x24]);
        bits.truncate(HEADER_BITS as usize);
        bits.resize(HEADER_BITS as usize + OTHER_SQUARES, false);
        for &(kind, holder) in held {
            let code = family.alphabet().off_board(kind, holder);
            bits.extend((0..code.len).map(|i| code.bits >> i & 1 != 0));
        }
        bits.into_vec().try_into().expect("38 pieces off the board fill 256 bits")
    }

    fn full_set(order: &[HandKind], holder: impl Fn(usize) -> Holder) -> Vec<(HandKind, Holder)> {
        let pieces = order
            .iter()
            .flat_map(|&kind| std::iter::repeat_n(kind, HandKind::SET[kind.index()].into()));
        pieces.enumerate().map(|(i, kind)| (kind, holder(i))).collect()
    }

    /// The orders of older YaneuraOu and of rshogi, and one in which hands and box alternate.
    #[test]
    fn pieces_in_hand_are_read_in_any_order() {
        use HandKind::{Bishop, Gold, Knight, Lance, Pawn, Rook, Silver};
        let orders = [
            HandKind::ALL,
            [Pawn, Lance, Knight, Silver, Bishop, Rook, Gold],
            [Rook, Bishop, Gold, Silver, Knight, Lance, Pawn],
        ];
        for family in Family::ALL {
            let canonical = bare_kings(family, &full_set(&HandKind::ALL, |_| Holder::Black));
            let expected = decode(family, &canonical).unwrap();
            assert_eq!(expected.hands()[0].count(Pawn), 18);
            for order in orders {
                let bytes = bare_kings(family, &full_set(&order, |_| Holder::Black));
                assert_eq!(decode(family, &bytes), Ok(expected.clone()), "{order:?}");
                assert_eq!(encode(family, &expected), Ok(canonical));
            }
            let mixed = bare_kings(family, &full_set(&orders[1], |i| Holder::ALL[i % 3]));
            let setup = decode(family, &mixed).unwrap();
            assert_eq!(reference::decode(family, &mixed), Ok(setup.clone()));
            let total: u8 = HandKind::ALL
                .iter()
                .map(|&kind| {
                    let [black, white] = setup.hands();
                    black.count(kind) + white.count(kind) + setup.piece_box().count(kind)
                })
                .sum();
            assert_eq!(total, 38);
            assert_eq!([setup.hands()[0].count(Pawn), setup.hands()[1].count(Gold)], [6, 2]);
        }
    }
}
