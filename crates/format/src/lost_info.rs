//! What formats have no place for of names, dates, times, comments and variations.

use crate::Format;
use crate::game::Game;
use crate::game_info::{GameInfo, HeaderKey, HoldsInfo, InfoCounts};
use crate::played::Variation;
use crate::spec::Codec;

impl Format {
    /// What games of another format can say besides moves, evaluations and results that this one has no place for.
    pub fn cannot_hold_info_of(self, other: Self) -> Vec<&'static str> {
        let (Some(own), Some(other)) = (self.info(), other.info()) else { return Vec::new() };
        let says = |held: &HoldsInfo| {
            let HoldsInfo { comments, times, variations, bookmarks, .. } = *held;
            [(held.header)(&HeaderKey::Black, &[]), comments, times, variations, bookmarks]
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
        losses(self.info().unwrap_or(&HoldsInfo::NOTHING), game)
    }
}

/// What is lost of a game in a format that holds this.
fn losses(held: &HoldsInfo, game: &Game) -> InfoCounts {
    let GameInfo { headers, comments, end_comments, end_elapsed_ms, .. } = &game.info;
    let lost_headers = headers.iter().filter(|header| !(held.header)(&header.key, headers)).count();
    let mut lost = InfoCounts { headers: lost_headers as u64, ..InfoCounts::default() };
    let annotations = || game.moves.iter().filter_map(|played| played.annotation.as_deref());
    if !held.comments {
        let of_moves = annotations().map(|annotation| annotation.comments.len());
        lost.comments = (comments.len() + end_comments.len() + of_moves.sum::<usize>()) as u64;
    }
    if !held.times {
        let of_moves = annotations().filter(|annotation| annotation.elapsed_ms.is_some());
        lost.times = of_moves.count() as u64 + u64::from(end_elapsed_ms.is_some());
    }
    if !held.variations {
        let of_moves = annotations().map(|annotation| count_variations(&annotation.variations));
        lost.variations = of_moves.sum::<u64>() + count_variations(&game.info.end_variations);
    }
    if !held.bookmarks {
        let of_moves = annotations().filter(|annotation| annotation.bookmark.is_some());
        lost.bookmarks = of_moves.count() as u64 + u64::from(game.info.bookmark.is_some());
    }
    lost
}

fn count_variations(variations: &[Variation]) -> u64 {
    let nested = |variation: &Variation| {
        let annotations = variation.moves.iter().filter_map(|played| played.annotation.as_deref());
        annotations.map(|annotation| count_variations(&annotation.variations)).sum::<u64>()
    };
    variations.iter().map(|variation| 1 + nested(variation)).sum()
}
