//! A game depends only on its number, the seed and the settings.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kyokumen_format::Played;
use kyokumen_mcts::GumbelRoot;
use kyokumen_network::{Batch, Delayed, Evaluator, Hashed, Input2, NetworkError};
use kyokumen_selfplay::{
    CheapSearch, FinishedGame, GameCounts, GameSettings, Games, GamesError, Networks,
    PolicyOpening, ReducedVisits, RunSettings, StartPosition,
};

use super::{RUN, play, settings};

/// A network on one device.
fn alone(device: Box<dyn Evaluator>) -> Networks {
    vec![vec![device]].into()
}

#[test]
fn games_do_not_depend_on_batches_groups_devices_and_ranges() {
    let expected = play(settings(), RUN, 1, 0..40, StartPosition);
    for (batch, groups, devices) in [(1, 1, 1), (64, 1, 1), (7, 2, 1), (5, 2, 3), (64, 3, 2)] {
        let run = RunSettings { batch, groups, ..RUN };
        assert!(
            play(settings(), run, devices, 0..40, StartPosition) == expected,
            "{run:?} {devices}"
        );
    }
    // With 1 MiB, entries are removed.
    for (cache_mib, batch, groups, devices) in [(64, 7, 1, 1), (1, 7, 1, 1), (64, 5, 2, 3)] {
        let run = RunSettings { batch, groups, cache_mib, ..RUN };
        assert!(play(settings(), run, devices, 0..40, StartPosition) == expected, "{run:?}");
    }
    let parts =
        [0..1, 1..17, 17..40].map(|numbers| play(settings(), RUN, 1, numbers, StartPosition));
    assert!(parts.concat() == expected);
    let different = expected.iter().zip(&expected[1..]).all(|(one, next)| one.moves != next.moves);
    assert!(different);
}

/// Settings that differ from dlshogi's in every choice.
fn other_settings() -> GameSettings {
    let mut settings = settings();
    settings.search.gumbel = Some(GumbelRoot { moves: 8, visits: 50.0, scale: 1.0 });
    settings.cheap_search = Some(CheapSearch { prob: 0.5, visits: 6 });
    settings.policy_opening = Some(PolicyOpening { mean_moves: 6.0, temperature: 1.5 });
    // Pseudo-random values are never near 0 or 1 for long.
    settings.reduced_visits =
        Some(ReducedVisits { threshold: 0.1, lookback: 2, min: 8, weight: 0.1 });
    settings
}

#[test]
fn other_kinds_of_games_do_not_depend_on_batches_either() {
    let expected = play(other_settings(), RUN, 1, 0..30, StartPosition);
    for (batch, groups, devices, cache_mib) in [(64, 2, 1, 0), (3, 1, 2, 1)] {
        let run = RunSettings { batch, groups, cache_mib, ..RUN };
        assert!(play(other_settings(), run, devices, 0..30, StartPosition) == expected, "{run:?}");
    }
    let parts = [0..7, 7..30].map(|range| play(other_settings(), RUN, 1, range, StartPosition));
    assert!(parts.concat() == expected);
}

#[test]
fn an_improved_policy_is_written_as_visits_and_the_first_moves_need_no_search() {
    let settings = GameSettings {
        policy_opening: Some(PolicyOpening { mean_moves: 6.0, temperature: 1.5 }),
        reduced_visits: None,
        cheap_search: None,
        ..other_settings()
    };
    let games = play(settings, RUN, 1, 0..20, StartPosition);
    let by_policy = |m: &Played| m.candidates.is_empty() && m.eval_cp.is_some();
    let first = |moves: &[Played]| moves.iter().take_while(|m| by_policy(m)).count();
    let counts: BTreeSet<usize> = games.iter().map(|game| first(&game.moves)).collect();
    assert!(counts.len() > 5, "{counts:?}");
    for game in &games {
        let (by_policy, searched) = game.moves.split_at(first(&game.moves));
        assert!(by_policy.iter().all(|m| m.is_not_for_training));
        for m in searched.iter().filter(|m| !m.is_not_for_training) {
            let visits: u32 = m.candidates.iter().map(|c| u32::from(c.visits)).sum();
            // A number is rounded for each move.
            assert!((9_900..10_100).contains(&visits), "{visits}");
            assert!(m.candidates.is_sorted_by(|a, b| a.visits >= b.visits));
        }
    }
}

#[test]
fn decided_games_have_fewer_visits() {
    let simulations = |reduced_visits| {
        let settings = GameSettings { reduced_visits, early_stop: false, ..settings() };
        let (device, openings) = (Box::new(Hashed::default()), Box::new(StartPosition));
        let games = Games::play(settings, RUN, 1, 0..20, openings, alone(device)).unwrap();
        let counts: Vec<_> = games.map(|game| game.unwrap().counts).collect();
        let sum = |of: fn(&GameCounts) -> u64| counts.iter().map(of).sum::<u64>() as f64;
        sum(|counts| counts.simulations) / sum(|counts| counts.positions)
    };
    let reduced = ReducedVisits { threshold: 0.05, lookback: 1, min: 1, weight: 0.1 };
    let (full, reduced) = (simulations(None), simulations(Some(reduced)));
    assert!(reduced < 0.95 * full, "{reduced} {full}");
}

#[test]
fn dropping_the_games_ends_them() {
    let device = Delayed::new(Hashed::default(), Duration::from_millis(1));
    let numbers = 0..1_000_000;
    let openings = Box::new(StartPosition);
    let games = Games::play(settings(), RUN, 1, numbers, openings, alone(Box::new(device)));
    let mut games = games.unwrap();
    assert_eq!(games.next().unwrap().unwrap().number, 0);
    let figures = games.figures();
    assert!(figures.simulations > 0 && figures.batch_fill() > 0.9, "{figures:?}");
    drop(games);
}

#[test]
fn cheap_searches_have_few_visits_and_are_not_for_training() {
    let game = |prob| {
        let cheap = CheapSearch { prob, visits: 5 };
        let settings = GameSettings { cheap_search: Some(cheap), ..settings() };
        play(settings, RUN, 1, 0..10, StartPosition)
    };
    assert!(game(0.0) == play(settings(), RUN, 1, 0..10, StartPosition));
    let games = game(0.5);
    let searched = games.iter().flat_map(|game| &game.moves).filter(|m| !m.candidates.is_empty());
    let visits = |m: &Played| m.candidates.iter().map(|c| u32::from(c.visits)).sum::<u32>();
    let (cheap, full): (Vec<_>, Vec<_>) = searched.partition(|m| visits(m) <= 5);
    assert!(cheap.len() > 100 && full.len() > 100, "{} {}", cheap.len(), full.len());
    assert!(cheap.iter().all(|m| m.is_not_for_training));
    assert!(full.iter().any(|m| !m.is_not_for_training));
}

#[test]
fn games_without_resignation_show_wrong_resignations() {
    let finished = |share| {
        // Long enough for mates.
        let (playouts, max_moves) = (6, 400);
        let resignation = GameSettings { resign: 0.3, resign_playthrough: share, ..settings() };
        let settings = GameSettings { playouts, max_moves, ..resignation };
        let (device, openings) = (Box::new(Hashed::default()), Box::new(StartPosition));
        let games = Games::play(settings, RUN, 1, 0..40, openings, alone(device)).unwrap();
        games.map(Result::unwrap).collect::<Vec<_>>()
    };
    let counted = |games: &[FinishedGame]| {
        let known: Vec<bool> = games.iter().filter_map(|game| game.wrongly_resigned).collect();
        (known.len(), known.iter().filter(|is_wrong| **is_wrong).count())
    };
    assert_eq!(counted(&finished(0.0)), (0, 0));
    let (all, wrong) = counted(&finished(1.0));
    // Pseudo-random evaluations say nothing about the result.
    assert!(all > 30 && wrong > 3 && wrong < all - 3, "{wrong} of {all}");
    let (some, _) = counted(&finished(0.5));
    assert!(some > 5 && some < all, "{some} of {all}");
}

#[test]
fn repeated_positions_are_found_in_the_cache() {
    for (cache_mib, are_cached) in [(0, false), (64, true)] {
        let run = RunSettings { cache_mib, ..RUN };
        let device = Box::new(Hashed::default());
        let openings = Box::new(StartPosition);
        let mut games = Games::play(settings(), run, 1, 0..10, openings, alone(device)).unwrap();
        let finished: Vec<_> = games.by_ref().map(Result::unwrap).collect();
        let figures = games.figures();
        let cached: u64 = finished.iter().map(|game| game.counts.cached).sum();
        let evaluations: u64 = finished.iter().map(|game| game.counts.evaluations).sum();
        assert_eq!((figures.cached, figures.evaluations), (cached, evaluations));
        assert_eq!(cached > 0, are_cached, "{cached} of {evaluations}");
    }
}

/// Evaluates a number of batches, then fails.
struct Failing {
    batches: u32,
    panics: bool,
}

impl Evaluator for Failing {
    fn planes(&self) -> Option<Input2> {
        None
    }

    fn evaluate(&mut self, batch: &mut Batch, cancel: &AtomicBool) -> Result<(), NetworkError> {
        if self.batches == 0 {
            assert!(!self.panics, "out of order");
            return Err(NetworkError::Runtime("out of order".into()));
        }
        self.batches -= 1;
        Hashed::default().evaluate(batch, cancel)
    }
}

#[test]
fn a_failing_device_is_reported_after_the_complete_games() {
    let device = Failing { batches: 2000, panics: false };
    let openings = Box::new(StartPosition);
    let games = Games::play(settings(), RUN, 1, 0..1000, openings, alone(Box::new(device)));
    let mut complete = 0;
    let mut failure = None;
    for game in games.unwrap() {
        match game {
            Ok(_) => complete += 1,
            Err(error) => failure = Some(error),
        }
    }
    assert!(complete > 0);
    assert!(matches!(failure, Some(GamesError::Evaluation { device: 0, .. })), "{failure:?}");
}

/// Reports a cancelled evaluation without a request to cancel.
struct Cancelled;

impl Evaluator for Cancelled {
    fn planes(&self) -> Option<Input2> {
        None
    }

    fn evaluate(&mut self, _: &mut Batch, _: &AtomicBool) -> Result<(), NetworkError> {
        Err(NetworkError::Cancelled)
    }
}

#[test]
fn missing_games_are_an_error() {
    for groups in [1, 2] {
        let start = || {
            let run = RunSettings { groups, ..RUN };
            let devices = vec![vec![Box::new(Cancelled) as Box<dyn Evaluator>]];
            Games::play(settings(), run, 1, 0..10, Box::new(StartPosition), devices.into()).unwrap()
        };
        let mut games = start();
        assert!(matches!(games.next(), Some(Err(GamesError::Ended))));
        assert!(games.next().is_none());
        let within = start().next_within(Duration::from_mins(1));
        assert!(matches!(within, Err(GamesError::Ended)));
    }
}

/// The panic message of games whose device panics.
fn panic_of(groups: usize, play: impl FnOnce(Games)) -> String {
    let device = Failing { batches: 500, panics: true };
    let (openings, run) = (Box::new(StartPosition), RunSettings { groups, ..RUN });
    let games = Games::play(settings(), run, 1, 0..1000, openings, alone(Box::new(device)));
    let games = games.unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| play(games))).unwrap_err();
    panic.downcast_ref::<&str>().expect("a text").to_string()
}

#[test]
fn a_panic_of_a_device_is_passed_on() {
    for groups in [1, 2] {
        assert_eq!(panic_of(groups, |games| games.for_each(drop)), "out of order");
        let wait = |mut games: Games| {
            while !games.is_done() {
                games.next_within(Duration::from_mins(1)).unwrap();
            }
        };
        assert_eq!(panic_of(groups, wait), "out of order");
    }
}

#[test]
fn each_game_is_played_by_the_network_of_its_number() {
    let network = |seed| Box::new(Hashed { seed }) as Box<dyn Evaluator>;
    let play = |networks: Vec<Vec<Box<dyn Evaluator>>>| {
        let run = RunSettings { batch: 3, groups: 2, ..RUN };
        let games =
            Games::play(settings(), run, 5, 4..24, Box::new(StartPosition), networks.into());
        games.unwrap().map(|game| game.unwrap().game).collect::<Vec<_>>()
    };
    let [one, other] = [1, 2].map(|seed| play(vec![vec![network(seed)]]));
    let both = play(vec![vec![network(1), network(1)], vec![network(2)]]);
    for (i, game) in both.iter().enumerate() {
        assert!(game == if i % 2 == 0 { &one[i] } else { &other[i] }, "{i}");
    }
    assert!(one[0] != other[0]);
}
