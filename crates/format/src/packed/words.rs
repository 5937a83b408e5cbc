//! The 256 bits of a packed position as words. Reads and writes at any bit without a branch.

/// The words of the position, and spare words for bit numbers of invalid positions.
#[derive(Clone)]
pub(super) struct Words([u64; CAPACITY + 1]);

const WORD_BITS: usize = 64;
/// A power of two, so that a remainder keeps every bit number in range.
const CAPACITY: usize = 8;
/// Not the start of any code off the board in either family, so that reading stops after the last bit.
const NO_CODE: u64 = 0b110;

impl Words {
    pub(super) const ZERO: Self = Self([0; CAPACITY + 1]);

    #[inline]
    pub(super) fn of(bytes: &[u8; LEN]) -> Self {
        let mut words = [0; CAPACITY + 1];
        let (chunks, _) = bytes.as_chunks();
        for (word, chunk) in words.iter_mut().zip(chunks) {
            *word = u64::from_le_bytes(*chunk);
        }
        words[chunks.len()] = NO_CODE;
        Self(words)
    }

    /// The 64 bits from `bit` on.
    #[inline]
    pub(super) fn window(&self, bit: usize) -> u64 {
        let (word, shift) = (bit / WORD_BITS % CAPACITY, bit % WORD_BITS);
        // Two shifts, because a shift by 64 is not allowed.
        self.0[word] >> shift | (self.0[word + 1] << 1) << (WORD_BITS - 1 - shift)
    }

    /// Sets bits from `bit` on. They must be zero before.
    #[inline]
    pub(super) fn put(&mut self, bit: usize, bits: u64) {
        let (word, shift) = (bit / WORD_BITS % CAPACITY, bit % WORD_BITS);
        self.0[word] |= bits << shift;
        self.0[word + 1] |= (bits >> 1) >> (WORD_BITS - 1 - shift);
    }

    /// Sets all bits from `bit` on to zero.
    #[inline]
    pub(super) fn clear_from(&mut self, bit: usize) {
        let (word, shift) = (bit / WORD_BITS % CAPACITY, bit % WORD_BITS);
        self.0[word] &= (1 << shift) - 1;
        self.0[word + 1..].fill(0);
    }

    #[inline]
    pub(super) fn into_bytes(self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        let (chunks, _) = bytes.as_chunks_mut();
        for (chunk, word) in chunks.iter_mut().zip(self.0) {
            *chunk = word.to_le_bytes();
        }
        bytes
    }
}

/// Bytes of a packed position.
pub const LEN: usize = 32;

/// Bits of a packed position.
pub(crate) const BITS: usize = 8 * LEN;
