//! Numbers that planes are made of.

/// A number of an input plane: 0 or 1.
pub trait Element: Copy + 'static {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The eight numbers of each byte, its lowest bit first.
    const OF_BYTE: [[Self; 8]; 256] = {
        let mut table = [[Self::ZERO; 8]; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut bit = 0;
            while bit < 8 {
                if byte >> bit & 1 == 1 {
                    table[byte][bit] = Self::ONE;
                }
                bit += 1;
            }
            byte += 1;
        }
        table
    };
}

impl Element for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
}

#[cfg(feature = "half")]
impl Element for half::f16 {
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;
}
