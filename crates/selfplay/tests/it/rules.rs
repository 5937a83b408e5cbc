//! Games follow the rules.

use std::error::Error;

use kyokumen_format::{Ending, Game, GameResult, MATE_EVAL, Played};
use kyokumen_mcts::RootNoise;
use kyokumen_network::{Evaluator, Hashed};
use kyokumen_selfplay::{Dropped, GameSettings, Games, Openings, RepetitionRule, StartPosition};
use kyokumen_shogi::{Color, Move, Position, PositionHistory, Repetition, plain};

use super::{RUN, play, settings};

/// Starts every game from one position.
struct From(&'static str);

impl Openings for From {
    fn opening(&self, _: u64) -> Result<Option<Position>, Box<dyn Error + Send + Sync>> {
        Ok(Some(self.0.parse()?))
    }
}

/// Replays a game with the rule-book move generator, and checks its result and ending.
fn check(game: &Game, max_moves: usize) {
    let mut position = Position::try_from(&game.start).unwrap();
    let mut history = PositionHistory::default();
    history.push(&position);
    for (i, played) in game.moves.iter().enumerate() {
        assert!(history.repetition(4).is_none() && !position.can_declare(), "{i}");
        assert!(plain::legal_moves(&position).contains(&played.best_move), "{i}");
        for candidate in &played.candidates {
            assert!(plain::legal_moves(&position).contains(&candidate.best_move), "{i}");
        }
        position.make(played.best_move);
        history.push(&position);
    }
    let mover = position.side_to_move();
    let win_of = GameResult::win_of;
    let expected = if plain::legal_moves(&position).is_empty() {
        (win_of(!mover), None)
    } else if let Some(repetition) = history.repetition(4) {
        let result = match repetition {
            Repetition::Draw => GameResult::Draw,
            Repetition::Win => win_of(mover),
            Repetition::Loss => win_of(!mover),
        };
        (result, Some(Ending::Repetition))
    } else if position.can_declare() {
        (win_of(mover), Some(Ending::Declaration))
    } else if game.moves.len() == max_moves {
        (GameResult::Draw, Some(Ending::MoveLimit))
    } else {
        // A side has resigned, so the result is not a draw.
        let result = game.result.unwrap();
        assert_ne!(result, GameResult::Draw);
        (result, None)
    };
    assert_eq!((game.result, game.ending), (Some(expected.0), expected.1));
}

#[test]
fn games_are_legal_and_their_results_follow_from_the_rules() {
    let settings = GameSettings { resign: 1.0, ..settings() };
    let games = play(settings, RUN, 1, 0..60, StartPosition);
    for game in &games {
        check(game, 60);
    }
    let given_up = play(GameSettings { resign: 0.5, ..settings }, RUN, 1, 0..60, StartPosition);
    for game in &given_up {
        check(game, 60);
    }
    let moves = |games: &[Game]| games.iter().map(|game| game.moves.len()).sum::<usize>();
    assert!(moves(&given_up) < moves(&games));
}

#[test]
fn training_positions_have_visits_and_the_first_moves_are_random() {
    // If noise causes visits of the best move, another move may have more of the visits that are written.
    let mut settings = settings();
    settings.search.puct.root_noise = RootNoise::None;
    // Pseudo-random values differ by more than the values of a network.
    settings.opening.cutoff = 1.0;
    let games = play(settings, RUN, 1, 0..20, StartPosition);
    for game in &games {
        for (i, played) in game.moves.iter().enumerate() {
            let visits: u32 = played.candidates.iter().map(|c| u32::from(c.visits)).sum();
            assert_eq!(i < 4 || played.candidates.is_empty(), played.is_not_for_training);
            if !played.is_not_for_training {
                assert!(visits >= 11, "{visits}");
                let most = played.candidates.iter().map(|c| c.visits).max();
                assert_eq!(Some(played.candidates[0].visits), most);
                assert_eq!(played.candidates[0].best_move, played.best_move);
            }
        }
    }
    let firsts: std::collections::BTreeSet<_> =
        games.iter().map(|game| game.moves[0].best_move).collect();
    assert!(firsts.len() > 5, "{firsts:?}");
}

#[test]
fn close_searches_are_extended_but_not_for_random_moves() {
    let mut settings = GameSettings { playouts: 60, ..settings() };
    // Visits caused by noise are not written.
    settings.search.puct.root_noise = RootNoise::None;
    let games = play(settings, RUN, 1, 0..12, StartPosition);
    let (mut extended, mut twice) = (0, 0);
    for (ply, played) in games.iter().flat_map(|game| game.moves.iter().enumerate()) {
        let mut visits: Vec<u32> = played.candidates.iter().map(|c| u32::from(c.visits)).collect();
        visits.sort_unstable_by(|a, b| b.cmp(a));
        let total: u32 = visits.iter().sum();
        if ply < 4 {
            assert!(total <= 60, "{ply} {total}");
            continue;
        }
        let [first, second, ..] = visits[..] else { continue };
        if played.eval_cp.is_none_or(|eval| eval.abs() == MATE_EVAL) {
            continue;
        }
        // The search stops within 60, 90 or 120 visits: when they are used up, or when the second move cannot catch up.
        let budgets = [60, 90, 120].into_iter().filter(|&most| total <= most);
        let would_stop = |most: u32| total == most || first - second > most - total;
        let stopped = budgets.clone().find(|&most| would_stop(most)).expect("it has stopped");
        assert!(stopped == 120 || 5 * first >= 6 * second, "{first} {second} of {total}");
        extended += u32::from(total > 60);
        twice += u32::from(total > 90);
    }
    assert!(extended > 20 && twice > 10, "{extended} {twice}");
}

#[test]
fn visits_caused_only_by_noise_are_not_written() {
    let written = |noise: u16| {
        let mut settings = GameSettings { early_stop: false, extensions: 0, ..settings() };
        settings.search.puct.root_noise = RootNoise::PerMille(noise);
        let games = play(settings, RUN, 1, 0..10, StartPosition);
        let moves = games.iter().flat_map(|game| &game.moves);
        let open = moves.filter(|played| !played.is_not_for_training);
        let visits = |played: &Played| -> u32 {
            played.candidates.iter().map(|c| u32::from(c.visits)).sum()
        };
        open.map(visits).collect::<Vec<_>>()
    };
    assert!(written(0).iter().all(|&visits| visits == 24));
    let noisy = written(100);
    assert!(noisy.iter().all(|&visits| visits <= 24));
    assert!(noisy.iter().filter(|&&visits| visits < 20).count() > noisy.len() / 2, "{noisy:?}");
}

#[test]
fn dlshogis_rule_ends_games_at_the_second_occurrence() {
    let settings =
        GameSettings { max_moves: 200, repetition: RepetitionRule::Dlshogi, ..settings() };
    let games = play(settings, RUN, 1, 0..8, From("k8/9/9/9/9/9/9/9/8K b - 1"));
    let mut repeated = 0;
    for game in &games {
        let mut position = Position::try_from(&game.start).unwrap();
        let mut history = PositionHistory::default();
        history.push(&position);
        for played in &game.moves {
            assert_eq!(history.repetition_within(16), None);
            position.make(played.best_move);
            history.push(&position);
        }
        let is_repetition = history.repetition_within(16).is_some();
        assert_eq!(game.ending == Some(Ending::Repetition), is_repetition);
        assert_eq!(history.repetition(4), None);
        repeated += u32::from(is_repetition);
    }
    assert!(repeated > 0);
}

#[test]
fn short_games_and_games_at_the_limit_are_dropped_if_requested() {
    let number = |settings| {
        let device = Box::new(Hashed { seed: 3 }) as Box<dyn Evaluator>;
        let games = Games::play(
            settings,
            RUN,
            5,
            0..40,
            Box::new(StartPosition),
            vec![vec![device]].into(),
        );
        games.unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    let settings = GameSettings { resign: 0.5, max_moves: 14, ..settings() };
    let all = number(settings);
    assert!(all.iter().all(|finished| finished.dropped.is_none()));
    let dropped = number(GameSettings { min_moves: 10, drop_move_limit: true, ..settings });
    let (mut short, mut long) = (0, 0);
    for (whole, finished) in all.iter().zip(&dropped) {
        assert!(whole.game == finished.game);
        let is_short = finished.game.moves.len() < 10;
        let is_long = finished.game.ending == Some(Ending::MoveLimit);
        let expected = is_short.then_some(Dropped::TooShort);
        assert_eq!(finished.dropped, expected.or(is_long.then_some(Dropped::MoveLimit)));
        short += u32::from(is_short);
        long += u32::from(is_long);
    }
    assert!(short > 0 && long > 0 && short + long < 40, "{short} {long}");
}

#[test]
fn a_proven_mate_is_played_to_its_end() {
    let games =
        play(settings(), RUN, 1, 0..3, From("4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1"));
    for game in games {
        check(&game, 60);
        let [played] = &game.moves[..] else { panic!("one move mates") };
        assert_eq!(played.best_move, Move::from_usi("G*5b").unwrap());
        assert_eq!((played.eval_cp, played.is_not_for_training), (Some(MATE_EVAL), true));
        assert_eq!(game.result, Some(GameResult::win_of(Color::Black)));
    }
    // A longer mate from the articles. The moves of the mated side are part of the line.
    let sfen = "1n1g3+Pl/k1p1s4/1ng5p/pSP1p1pp1/1n3p3/P1K3P1P/1P7/9/L1G5L b 2R2BG2SL5Pn 161";
    let mut settings = settings();
    settings.search.root_mate.nodes = 1_000_000;
    settings.search.root_mate.depth = 33;
    let games = play(settings, RUN, 1, 0..1, From(sfen));
    check(&games[0], 60);
    assert_eq!(games[0].result, Some(GameResult::win_of(Color::Black)));
    let evals: Vec<_> = games[0].moves.iter().map(|played| played.eval_cp.unwrap()).collect();
    assert!(evals.len() >= 15 && evals.len() % 2 == 1, "{evals:?}");
    assert!(
        evals
            .chunks(2)
            .all(|two| two[0] == MATE_EVAL && two.get(1).is_none_or(|&e| e == -MATE_EVAL))
    );
}

#[test]
fn a_declaration_wins_at_once() {
    let games =
        play(settings(), RUN, 1, 0..2, From("K+R+R+B+BGGSS/NL7/9/9/9/9/9/9/8k b 2P2g2s3n3l16p 1"));
    for game in games {
        assert_eq!(game.moves.len(), 0);
        assert_eq!(game.result, Some(GameResult::win_of(Color::Black)));
        assert_eq!(game.ending, Some(Ending::Declaration));
    }
}

#[test]
fn two_kings_repeat_a_position_or_reach_the_limit() {
    let settings = GameSettings { max_moves: 200, ..settings() };
    let games = play(settings, RUN, 1, 0..8, From("k8/9/9/9/9/9/9/9/8K b - 1"));
    for game in &games {
        check(game, 200);
        assert_eq!(game.result, Some(GameResult::Draw));
    }
}
