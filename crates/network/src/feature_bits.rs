//! Input planes with one bit per square: an eighth of the size of bytes, a thirty-second of the size of `f32`.
//!
//! dlshogi sends planes in this layout to an accelerator, which unpacks them (`packed_features1_t`,
//! `packed_features2_t` of `cppshogi.h`). The planes follow each other without padding, from the lowest bit of each
//! byte. A plane whose squares are all equal has only one bit. numpy unpacks them with `unpackbits(…,
//! bitorder="little")`.

use kyokumen_shogi::Position;

use crate::features::{BOARD, INPUT1_PLANES, Input2, each_plane, each_run_of_ones, seen_by};

/// Bytes of the planes of `input1`. The last two bits are 0.
pub const INPUT1_BYTES: usize = (INPUT1_PLANES * BOARD).div_ceil(8);

impl Input2 {
    /// Bytes of the planes, with one bit each.
    pub const fn bytes(self) -> usize {
        self.planes().div_ceil(8)
    }
}

/// Writes the planes of `input1` as bits; see [`write_input1`](crate::write_input1).
///
/// # Panics
///
/// If the length of `out` is not [`INPUT1_BYTES`].
pub fn write_input1_bits(position: &Position, out: &mut [u8]) {
    const WORD: usize = u64::BITS as usize;
    assert_eq!(out.len(), INPUT1_BYTES, "bytes of input1");
    let mut words = [0_u64; (INPUT1_PLANES * BOARD).div_ceil(WORD) + 2];
    let mover = position.side_to_move();
    each_plane(position, |number, squares| {
        let squares = seen_by(mover, squares);
        let (word, bit) = (number * BOARD / WORD, number * BOARD % WORD);
        let low = squares << bit;
        words[word] |= low as u64;
        words[word + 1] |= (low >> WORD) as u64;
        if bit + BOARD > 2 * WORD {
            words[word + 2] |= (squares >> (2 * WORD - bit)) as u64;
        }
    });
    let (whole, rest) = out.as_chunks_mut::<8>();
    for (bytes, word) in whole.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    let last = words[INPUT1_BYTES / 8].to_le_bytes();
    rest.copy_from_slice(&last[..INPUT1_BYTES % 8]);
}

/// Writes the planes of `input2` as bits; see [`write_input2`](crate::write_input2).
///
/// # Panics
///
/// If the length of `out` is not `kind.bytes()`.
pub fn write_input2_bits(position: &Position, kind: Input2, out: &mut [u8]) {
    assert_eq!(out.len(), kind.bytes(), "bytes of input2");
    let mut planes = 0_u128;
    each_run_of_ones(position, kind, |run| planes |= ((1 << run.len()) - 1) << run.start);
    out.copy_from_slice(&planes.to_le_bytes()[..kind.bytes()]);
}

/// Writes the planes of `input1` as numbers 0 and 1; the inverse of [`write_input1_bits`].
///
/// # Panics
///
/// If the length of `bits` is not [`INPUT1_BYTES`], or that of `out` is not [`INPUT1_PLANES`] × [`BOARD`].
pub fn unpack_input1(bits: &[u8], out: &mut [f32]) {
    assert_eq!(
        (bits.len(), out.len()),
        (INPUT1_BYTES, INPUT1_PLANES * BOARD),
        "bytes, numbers of input1"
    );
    let (bytes, rest) = out.as_chunks_mut::<8>();
    for (numbers, &byte) in bytes.iter_mut().zip(bits) {
        *numbers = numbers_of(byte);
    }
    let last = numbers_of(bits[INPUT1_BYTES - 1]);
    rest.copy_from_slice(&last[..rest.len()]);
}

/// Writes the planes of `input2` as numbers 0 and 1; the inverse of [`write_input2_bits`].
///
/// # Panics
///
/// If the length of `bits` is not `kind.bytes()`, or that of `out` is not `kind.planes()` × [`BOARD`].
pub fn unpack_input2(bits: &[u8], kind: Input2, out: &mut [f32]) {
    assert_eq!(
        (bits.len(), out.len()),
        (kind.bytes(), kind.planes() * BOARD),
        "bytes, numbers of input2"
    );
    let (planes, _) = out.as_chunks_mut::<BOARD>();
    for (number, plane) in planes.iter_mut().enumerate() {
        plane.fill(numbers_of(bits[number / 8])[number % 8]);
    }
}

fn numbers_of(byte: u8) -> [f32; 8] {
    std::array::from_fn(|bit| f32::from(byte >> bit & 1))
}
