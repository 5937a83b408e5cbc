//! A slow and simple codec of 32-byte packed positions, bit by bit. It is the test oracle of [`packed`](super::packed).
//!
//! `docs/formats/packed.md` describes the layout. This codec also describes the fault of rejected bytes.

use bitvec::prelude::{BitSlice, BitVec, Lsb0};
use bitvec::view::BitView;
use kyokumen_shogi::{Board, ByteBoard, Color, Hand, HandKind, Piece, PieceKind, Setup, Square};

use super::alphabet::{Code, PieceOwner, board_pieces};
use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use crate::packed::family::Family;
use crate::packed::words::LEN;

type Bits = BitSlice<u8, Lsb0>;

/// Decodes a packed position. It has no move number, so the number is set to 1.
///
/// # Errors
/// [`DecodeError`] if the kings are not on two squares of the board, if bits are missing or do not encode a piece, or
/// if board, hands and box do not contain exactly one set of pieces.
pub fn decode(family: Family, bytes: &[u8; LEN]) -> Result<Setup, DecodeError> {
    let mut reader = Reader { family, bits: bytes.view_bits(), at: 0 };
    let side_to_move = if reader.number(1) == 0 { Color::Black } else { Color::White };
    let black_king = reader.king(Color::Black)?;
    let white_king = reader.king(Color::White)?;
    if black_king == white_king {
        return Err(DecodeErrorKind::KingsOnOneSquare { square: white_king }.at(1));
    }
    let mut board: Board = [None; Square::COUNT];
    let mut counts = [0; HandKind::COUNT];
    for square in Square::all() {
        board[square.index()] = if square == black_king {
            Some(Piece::new(Color::Black, PieceKind::King))
        } else if square == white_king {
            Some(Piece::new(Color::White, PieceKind::King))
        } else {
            reader.square()?
        };
        if let Some(kind) = board[square.index()].and_then(|piece| piece.kind.hand_kind()) {
            counts[kind.index()] += 1;
        }
    }
    let mut hands = [[0; HandKind::COUNT]; 2];
    while reader.at < reader.bits.len() {
        let (kind, holder) = reader.held()?;
        counts[kind.index()] += 1;
        match holder {
            PieceOwner::Black => hands[0][kind.index()] += 1,
            PieceOwner::White => hands[1][kind.index()] += 1,
            PieceOwner::Box => {}
        }
    }
    let wrong_set = DecodeErrorKind::PieceSet { counts };
    if counts != HandKind::SET {
        return Err(wrong_set.at(0));
    }
    let [Some(black), Some(white)] = hands.map(Hand::from_counts) else {
        return Err(wrong_set.at(0));
    };
    let kings = [Some(black_king), Some(white_king)];
    Ok(Setup::from_counted(ByteBoard::from(board), kings, [black, white], side_to_move, 1))
}

/// Encodes a packed position in canonical form: P L N S G B R in each hand and in the box.
///
/// # Errors
/// [`EncodeError::MissingKing`].
pub fn encode(family: Family, setup: &Setup) -> Result<[u8; LEN], EncodeError> {
    encode_in_order(family, setup, HandKind::ALL)
}

/// Encodes a packed position with the pieces of each hand and of the box in this order.
///
/// # Errors
/// [`EncodeError::MissingKing`].
pub fn encode_in_order(
    family: Family,
    setup: &Setup,
    order: [HandKind; HandKind::COUNT],
) -> Result<[u8; LEN], EncodeError> {
    let alphabet = family.alphabet();
    let mut bits: BitVec<u8, Lsb0> = BitVec::new();
    bits.push(setup.side_to_move() == Color::White);
    for color in Color::ALL {
        let king = setup.king(color).ok_or(EncodeError::MissingKing { color })?;
        push(&mut bits, Code { bits: king.number(), len: 7 });
    }
    for content in setup.board().iter() {
        match content {
            None => bits.push(false),
            Some(piece) => {
                if let Some(code) = alphabet.on_board(piece) {
                    push(&mut bits, code);
                }
            }
        }
    }
    let [black, white] = setup.hands();
    for (held, holder) in [black, white, setup.piece_box()].into_iter().zip(PieceOwner::ALL) {
        for kind in order {
            for _ in 0..held.count(kind) {
                push(&mut bits, alphabet.off_board(kind, holder));
            }
        }
    }
    let mut bytes = [0; LEN];
    bytes.view_bits_mut::<Lsb0>().copy_from_bitslice(&bits);
    Ok(bytes)
}

fn push(bits: &mut BitVec<u8, Lsb0>, code: Code) {
    bits.extend_from_bitslice(word(&code));
}

/// The bits of a code in the order in which they are packed.
fn word(code: &Code) -> &Bits {
    &code.bits.view_bits::<Lsb0>()[..usize::from(code.len)]
}

struct Reader<'a> {
    family: Family,
    bits: &'a Bits,
    at: usize,
}

impl Reader<'_> {
    /// The next bits as a number, least significant bit first. The caller ensures that they exist.
    fn number(&mut self, len: usize) -> u8 {
        let bits = &self.bits[self.at..self.at + len];
        self.at += len;
        bits.iter_ones().map(|i| 1 << i).sum()
    }

    fn king(&mut self, color: Color) -> Result<Square, DecodeError> {
        let offset = self.at / 8;
        let number = self.number(7);
        Square::new(number).ok_or(DecodeErrorKind::KingOffBoard { color, number }.at(offset))
    }

    fn square(&mut self) -> Result<Option<Piece>, DecodeError> {
        let rest = &self.bits[self.at..];
        if rest.first().as_deref() == Some(&false) {
            self.at += 1;
            return Ok(None);
        }
        for piece in board_pieces() {
            if let Some(code) = self.family.alphabet().on_board(piece)
                && rest.starts_with(word(&code))
            {
                self.at += usize::from(code.len);
                return Ok(Some(piece));
            }
        }
        // The board codes are complete: any bits are the start of a code. Only the end of the bytes can cut a code off.
        Err(DecodeErrorKind::BoardOverrun.at(self.offset()))
    }

    fn held(&mut self) -> Result<(HandKind, PieceOwner), DecodeError> {
        let rest = &self.bits[self.at..];
        let mut cut_off = false;
        for kind in HandKind::ALL {
            for holder in PieceOwner::ALL {
                let code = self.family.alphabet().off_board(kind, holder);
                if rest.starts_with(word(&code)) {
                    self.at += usize::from(code.len);
                    return Ok((kind, holder));
                }
                cut_off |= word(&code).starts_with(rest);
            }
        }
        let kind =
            if cut_off { DecodeErrorKind::HandOverrun } else { DecodeErrorKind::UnknownHandCode };
        Err(kind.at(self.offset()))
    }

    /// Byte of the next bit. The last byte if no bit is left.
    fn offset(&self) -> usize {
        (self.at / 8).min(LEN - 1)
    }
}
