//! Numbers that planes are made of.

/// A number of an input plane: 0 or 1.
pub trait Element: Copy + 'static {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
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
