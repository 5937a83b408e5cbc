//! The 256 bits of a packed position as words: read and written at any bit, without a branch.

/// Words of the position, then room for whatever hostile bits lead to.
#[derive(Clone)]
pub(super) struct Words([u64; ROOM + 1]);

const WORD_BITS: usize = 64;
/// A power of two, so that a remainder keeps every bit number inside.
const ROOM: usize = 8;
/// Begins no code off the board in either alphabet: behind the last bit nothing is read.
const NO_CODE: u64 = 0b110;

impl Words {
    pub(super) const ZERO: Self = Self([0; ROOM + 1]);

    #[inline]
    pub(super) fn of(bytes: &[u8; LEN]) -> Self {
        let mut words = [0; ROOM + 1];
        let (chunks, _) = bytes.as_chunks();
        for (word, chunk) in words.iter_mut().zip(chunks) {
            *word = u64::from_le_bytes(*chunk);
        }
        words[chunks.len()] = NO_CODE;
        Self(words)
    }

    /// 64 bits from `bit` on.
    #[inline]
    pub(super) fn window(&self, bit: usize) -> u64 {
        let (word, shift) = (bit / WORD_BITS % ROOM, bit % WORD_BITS);
        // In two shifts, as one by 64 is none.
        self.0[word] >> shift | (self.0[word + 1] << 1) << (WORD_BITS - 1 - shift)
    }

    /// Sets bits from `bit` on that are zero so far.
    #[inline]
    pub(super) fn put(&mut self, bit: usize, bits: u64) {
        let (word, shift) = (bit / WORD_BITS % ROOM, bit % WORD_BITS);
        self.0[word] |= bits << shift;
        self.0[word + 1] |= (bits >> 1) >> (WORD_BITS - 1 - shift);
    }

    /// Sets all bits from `bit` on to zero.
    #[inline]
    pub(super) fn clear_from(&mut self, bit: usize) {
        let (word, shift) = (bit / WORD_BITS % ROOM, bit % WORD_BITS);
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
