//! Matches: exact probabilities compared with played games.
//!
//! The sample of 50,000 games comes from article 204 of 「Pythonで〇×ゲームのAIを一から作成する」 (Qiita). The
//! probabilities of random play, 737/1260, 121/420 and 8/63, are well known.

use kyokumen::marubatsu::matches::{Tally, exact, play, random_game};
use kyokumen::marubatsu::representation::{self, Representation, Visitor};
use kyokumen::marubatsu::{Player, Solution};
use kyokumen::random::SplitMix64;

#[test]
fn random_play_has_the_known_probabilities() {
    let random = exact([Player::Ai2; 2], &Solution::new());
    assert_eq!(random.shares().map(|share| share.to_string()), ["737/1260", "121/420", "8/63"]);
}

/// The article counted 29,454, 14,352 and 6,194 of 50,000 games.
#[test]
fn the_sample_of_the_article_agrees_with_the_probabilities() {
    let random = exact([Player::Ai2; 2], &Solution::new());
    assert!(random.agrees_with(Tally { o: 29_454, x: 14_352, draw: 6_194 }));
    assert!(!random.agrees_with(Tally { o: 30_000, x: 14_000, draw: 6_000 }));
    assert!(!random.agrees_with(Tally { o: 29_245, x: 14_750, draw: 6_005 }));
}

/// Every pair of players in both orders. Two random players play four million games.
#[test]
fn games_agree_with_the_exact_probabilities() {
    let solution = Solution::new();
    for o in Player::ALL {
        for x in Player::ALL {
            let games = if o == Player::Ai2 && x == Player::Ai2 { 4_000_000 } else { 100_003 };
            let played = play([o, x], games, 1, &solution);
            assert_eq!(played.games(), games);
            assert!(exact([o, x], &solution).agrees_with(played), "{o} {x} {played:?}");
        }
    }
}

/// A shorter match is the beginning of a longer one, also if its games do not fill the lanes.
#[test]
fn a_game_depends_only_on_seed_and_number() {
    let solution = Solution::new();
    let play = |games, seed| play([Player::Ai2, Player::Ai14s], games, seed, &solution);
    let mut before = play(0, 3);
    assert_eq!(before, Tally::default());
    for games in 1..40 {
        let played = play(games, 3);
        let new: Vec<u64> = played
            .counts()
            .into_iter()
            .zip(before.counts())
            .map(|(now, then)| now - then)
            .collect();
        assert_eq!(new.iter().sum::<u64>(), 1);
        before = played;
    }
    assert_ne!(play(10_000, 3), play(10_000, 4));
}

struct SimpleGames(Vec<Tally>);

impl Visitor for SimpleGames {
    fn visit<R: Representation>(&mut self) {
        let mut random = SplitMix64::new(5);
        let mut tally = Tally::default();
        (0..100_000).for_each(|_| tally.count(random_game::<R>(&mut random)));
        self.0.push(tally);
    }
}

#[test]
fn random_games_are_the_same_on_every_representation() {
    let mut games = SimpleGames(Vec::new());
    representation::visit_all(&mut games);
    let [first, others @ ..] = &games.0[..] else { panic!("there are six representations") };
    assert_eq!(others, [*first; 5]);
    assert!(exact([Player::Ai2; 2], &Solution::new()).agrees_with(*first));
}
