//! The two families of codes for packed positions.

use crate::alphabet::{APERY, Alphabet, YANEURAOU};
use crate::packed::tables::{APERY_TABLES, Tables, YANEURAOU_TABLES};

/// The engine whose code a packed position uses.
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

    /// The other family.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Apery => Self::YaneuraOu,
            Self::YaneuraOu => Self::Apery,
        }
    }

    pub(crate) const fn alphabet(self) -> &'static Alphabet {
        match self {
            Self::Apery => &APERY,
            Self::YaneuraOu => &YANEURAOU,
        }
    }

    pub(super) const fn tables(self) -> &'static Tables {
        match self {
            Self::Apery => &APERY_TABLES,
            Self::YaneuraOu => &YANEURAOU_TABLES,
        }
    }
}
