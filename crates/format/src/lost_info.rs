//! Counts names, dates, times, comments and variations that a format cannot hold.

use crate::Format;
use crate::game::Game;
use crate::game_info::{GameInfo, HeaderKey, HoldsInfo, InfoCounts};
use crate::played::{Played, Variation};
use crate::spec::Codec;

impl Format {
    /// Kinds of information in games of `other` that this format cannot hold: names, comments and the like.
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

    /// Kinds of information that games of this format hold besides moves, evaluations and results.
    fn info(self) -> Option<&'static HoldsInfo> {
        match &self.spec().codec {
            Codec::Games { info, .. } => Some(info),
            _ => None,
        }
    }

    /// Counts the names, comments and the like of a game that this format cannot hold.
    pub fn lost_info(self, game: &Game) -> InfoCounts {
        losses(self.info().unwrap_or(&HoldsInfo::NOTHING), game)
    }
}

/// Counts what a game loses in a format that holds `held`.
fn losses(held: &HoldsInfo, game: &Game) -> InfoCounts {
    let GameInfo { headers, comments, end_comments, end_elapsed_ms, bookmark, .. } = &game.info;
    let lost_headers = headers.iter().filter(|header| !(held.header)(&header.key, headers)).count();
    let mut said = InfoCounts {
        comments: (comments.len() + end_comments.len()) as u64,
        times: u64::from(end_elapsed_ms.is_some()),
        bookmarks: u64::from(bookmark.is_some()),
        ..InfoCounts::default()
    };
    count_moves(held, &game.moves, &mut said);
    count_variations(held, &game.info.end_variations, &mut said);
    let unless = |is_held: bool, count: u64| if is_held { 0 } else { count };
    InfoCounts {
        headers: lost_headers as u64,
        comments: unless(held.comments, said.comments),
        times: unless(held.times, said.times),
        variations: unless(held.variations, said.variations),
        bookmarks: unless(held.bookmarks, said.bookmarks),
    }
}

fn count_moves(held: &HoldsInfo, moves: &[Played], said: &mut InfoCounts) {
    for annotation in moves.iter().filter_map(|played| played.annotation.as_deref()) {
        said.comments += annotation.comments.len() as u64;
        said.times += u64::from(annotation.elapsed_ms.is_some());
        said.bookmarks += u64::from(annotation.bookmark.is_some());
        count_variations(held, &annotation.variations, said);
    }
}

/// Comments, times and bookmarks within a variation are counted only if the variation is kept.
fn count_variations(held: &HoldsInfo, variations: &[Variation], said: &mut InfoCounts) {
    for variation in variations {
        let mut within = InfoCounts::default();
        count_moves(held, &variation.moves, &mut within);
        said.variations += 1 + within.variations;
        if held.variations {
            said.comments += within.comments + variation.end_comments.len() as u64;
            said.times += within.times;
            said.bookmarks += within.bookmarks;
        }
    }
}
