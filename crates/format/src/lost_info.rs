//! What formats have no place for of names, dates, times, comments and variations.

use crate::Format;
use crate::game::Game;
use crate::game_info::{HeaderKey, HoldsInfo, InfoCounts};
use crate::spec::Codec;

impl Format {
    /// What games of another format can say besides moves, evaluations and results that this one has no place for.
    pub fn cannot_hold_info_of(self, other: Self) -> Vec<&'static str> {
        let (Some(own), Some(other)) = (self.info(), other.info()) else { return Vec::new() };
        let says = |held: &HoldsInfo| {
            let HoldsInfo { comments, times, variations, bookmarks, .. } = *held;
            [(held.header)(&HeaderKey::Black), comments, times, variations, bookmarks]
        };
        let kinds = InfoCounts::default().by_kind().map(|(kind, _)| kind);
        let held = says(own).into_iter().zip(says(other));
        let lost = kinds.into_iter().zip(held).filter(|&(_, (own, other))| other && !own);
        lost.map(|(kind, _)| kind).collect()
    }

    /// What games of this format can say besides moves, evaluations and results.
    fn info(self) -> Option<&'static HoldsInfo> {
        match &self.spec().codec {
            Codec::Games { info, .. } => Some(info),
            _ => None,
        }
    }

    /// What of a game's names, comments and the like this format cannot hold.
    pub fn lost_info(self, game: &Game) -> InfoCounts {
        self.info().unwrap_or(&HoldsInfo::NOTHING).losses(game)
    }
}
