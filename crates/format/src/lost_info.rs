//! Counts header entries, dates, times, comments and variations that a format cannot hold.

use crate::Format;
use crate::convert::WriteOptions;
use crate::csa::CsaVersion;
use crate::ending::Ending;
use crate::game::Game;
use crate::game_info::{GameInfo, HeaderKey, HeldHeaders, HoldsInfo, InfoCounts};
use crate::played::{Played, Variation};
use crate::spec::Codec;

impl Format {
    /// Kinds of information in games of `other` that this format cannot hold, for example comments.
    pub fn cannot_hold_info_of(self, other: Self) -> Vec<&'static str> {
        let (Some(own), Some(other)) = (self.info(), other.info()) else { return Vec::new() };
        let kinds_held = |held: &HoldsInfo| {
            let HoldsInfo { comments, times, variations, bookmarks, .. } = *held;
            let names = (held.header)(&HeaderKey::Black, &mut HeldHeaders::new(&[]));
            [names, comments, times, variations, bookmarks]
        };
        let kinds = InfoCounts::default().by_kind().map(|(kind, _)| kind);
        let held = kinds_held(own).into_iter().zip(kinds_held(other));
        let lost = kinds.into_iter().zip(held).filter(|&(_, (own, other))| other && !own);
        lost.map(|(kind, _)| kind).collect()
    }

    /// The information besides moves, evaluations and results that games of this format can hold.
    fn info(self) -> Option<&'static HoldsInfo> {
        match &self.spec().codec {
            Codec::Games { info, .. } => Some(info),
            _ => None,
        }
    }

    /// Counts the header entries, comments and other information of a game that this format cannot hold.
    pub fn lost_info(self, game: &Game) -> InfoCounts {
        self.lost_info_with(game, WriteOptions::default())
    }

    /// Like [`Format::lost_info`], for a game that is written with options.
    pub fn lost_info_with(self, game: &Game, options: WriteOptions) -> InfoCounts {
        let has_fractions = self == Self::Csa && options.csa_version == CsaVersion::V3_0;
        let held = self.info().unwrap_or(&HoldsInfo::NOTHING);
        Losses { held, has_fractions }.of_game(game)
    }
}

/// Counts what a game loses.
struct Losses<'a> {
    held: &'a HoldsInfo,
    /// Whether times may have fractions of a second.
    has_fractions: bool,
}

impl Losses<'_> {
    fn of_game(&self, game: &Game) -> InfoCounts {
        let GameInfo { headers, comments, end_comments, end_elapsed_ms, bookmark, .. } = &game.info;
        let mut held_headers = HeldHeaders::new(headers);
        let lost_headers =
            headers.iter().map(|header| !(self.held.header)(&header.key, &mut held_headers));
        let mut counts = InfoCounts {
            comments: (comments.len() + end_comments.len()) as u64,
            bookmarks: u64::from(bookmark.is_some()),
            ..InfoCounts::default()
        };
        // The time after the last move is written next to the end mark. It is lost if no end mark is written.
        let has_end_mark = game.result.is_some() || game.ending == Some(Ending::Interruption);
        let lost_times = u64::from(self.held.times && end_elapsed_ms.is_some() && !has_end_mark);
        if lost_times == 0 {
            count_time(*end_elapsed_ms, &mut counts);
        }
        self.count_moves(&game.moves, &mut counts);
        self.count_variations(&game.info.end_variations, &mut counts);
        let unless = |is_held: bool, count: u64| if is_held { 0 } else { count };
        InfoCounts {
            headers: lost_headers.map(u64::from).sum(),
            comments: unless(self.held.comments, counts.comments),
            times: unless(self.held.times, counts.times) + lost_times,
            variations: unless(self.held.variations, counts.variations),
            bookmarks: unless(self.held.bookmarks, counts.bookmarks),
            time_fractions: unless(!self.held.times || self.has_fractions, counts.time_fractions),
        }
    }

    fn count_moves(&self, moves: &[Played], counts: &mut InfoCounts) {
        for annotation in moves.iter().filter_map(|played| played.annotation.as_deref()) {
            counts.comments += annotation.comments.len() as u64;
            counts.bookmarks += u64::from(annotation.bookmark.is_some());
            count_time(annotation.elapsed_ms, counts);
            self.count_variations(&annotation.variations, counts);
        }
    }

    /// Comments, times and bookmarks within a variation are counted only if the variation is kept.
    fn count_variations(&self, variations: &[Variation], counts: &mut InfoCounts) {
        for variation in variations {
            let mut within = InfoCounts {
                comments: variation.end_comments.len() as u64,
                ..InfoCounts::default()
            };
            self.count_moves(&variation.moves, &mut within);
            within.variations += 1;
            if self.held.variations {
                *counts += within;
            } else {
                counts.variations += within.variations;
            }
        }
    }
}

fn count_time(elapsed_ms: Option<u64>, counts: &mut InfoCounts) {
    counts.times += u64::from(elapsed_ms.is_some());
    counts.time_fractions += u64::from(elapsed_ms.is_some_and(|elapsed_ms| elapsed_ms % 1000 > 0));
}
