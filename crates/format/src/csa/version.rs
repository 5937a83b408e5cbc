//! Versions of the CSA standard.

/// A version of the CSA standard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CsaVersion {
    /// V2.2 of 2008, which most programs read.
    #[default]
    V2_2,
    /// V3.0 of 2024.
    V3_0,
}

impl CsaVersion {
    /// All versions that can be written.
    pub const ALL: [Self; 2] = [Self::V2_2, Self::V3_0];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V2_2 => "2.2",
            Self::V3_0 => "3.0",
        }
    }

    /// The version with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }
}
