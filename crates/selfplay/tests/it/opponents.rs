//! An opponent plays one side of a share of the games.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::atomic::AtomicBool;

use kyokumen_format::{Game, GameResult};
use kyokumen_game::random::SplitMix64;
use kyokumen_network::{Evaluator, Hashed};
use kyokumen_selfplay::{
    Games, GamesError, Networks, Opponent, OpponentMove, OpponentTurn, Opponents, RunSettings,
    StartPosition,
};
use kyokumen_shogi::{Color, Position};

use super::{RUN, play, settings};

/// Plays moves that depend only on the game, and resigns or fails at a move number.
#[derive(Clone, Copy)]
struct Random {
    resigns_at: usize,
    fails_at: usize,
}

const RANDOM: Random = Random { resigns_at: usize::MAX, fails_at: usize::MAX };

impl Opponent for Random {
    fn choose(
        &mut self,
        turn: &OpponentTurn,
        _: &AtomicBool,
    ) -> Result<Option<OpponentMove>, Box<dyn Error + Send + Sync>> {
        let moves = &turn.game.moves;
        let mut position = Position::try_from(&turn.game.start)?;
        for played in moves {
            position.make(played.best_move);
        }
        assert_eq!(position, turn.position);
        if moves.len() >= self.fails_at {
            return Err("no move".into());
        }
        if moves.len() >= self.resigns_at {
            return Ok(Some(OpponentMove::Resign));
        }
        let mut random = SplitMix64::new(turn.number << 16 | moves.len() as u64);
        let m = random.pick(&position.legal_moves()).expect("the game has not ended");
        Ok(Some(OpponentMove::Move { m, eval_cp: 77 }))
    }
}

fn against(random: Random, run: RunSettings, devices: usize) -> Result<Vec<Game>, GamesError> {
    let device = || Box::new(Hashed { seed: 3 }) as Box<dyn Evaluator>;
    let devices = (0..devices).map(|_| device()).collect();
    let players = (0..2).map(|_| Box::new(random) as Box<dyn Opponent>).collect();
    let opponents = Opponents { share: 0.3, players };
    let openings = Box::new(StartPosition);
    let networks = Networks { devices: vec![devices], opponents };
    let games = Games::play(settings(), run, 5, 0..60, openings, networks)?;
    games.map(|game| game.map(|finished| finished.game)).collect()
}

#[test]
fn opponents_play_one_side_of_a_share_of_the_games() {
    let games = against(RANDOM, RUN, 1).unwrap();
    let sides = |side| games.iter().filter(|game| game.opponent == side).count();
    assert!(sides(Some(Color::Black)) > 3 && sides(Some(Color::White)) > 3);
    assert!((30..55).contains(&sides(None)), "{}", sides(None));
    let alone = play(settings(), RUN, 1, 0..60, StartPosition);
    for (game, alone) in games.iter().zip(alone) {
        let Some(side) = game.opponent else {
            assert!(*game == alone);
            continue;
        };
        let mut position = Position::start();
        for played in &game.moves {
            assert!(position.is_legal(played.best_move));
            if played.eval_cp == Some(77) {
                assert!(position.side_to_move() == side && played.is_not_for_training);
            }
            position.make(played.best_move);
        }
        let evaluations: BTreeSet<_> = game.moves.iter().map(|played| played.eval_cp).collect();
        assert!(evaluations.contains(&Some(77)) && evaluations.len() > 1);
    }
    for (batch, groups, devices) in [(1, 1, 1), (64, 2, 2)] {
        let run = RunSettings { batch, groups, ..RUN };
        assert!(against(RANDOM, run, devices).unwrap() == games, "{run:?}");
    }
}

#[test]
fn an_opponent_can_resign() {
    let games = against(Random { resigns_at: 9, ..RANDOM }, RUN, 1).unwrap();
    let resigned: Vec<&Game> = games
        .iter()
        .filter(|game| game.opponent.is_some() && (9..11).contains(&game.moves.len()))
        .collect();
    assert!(resigned.len() > 5);
    for game in resigned {
        assert_eq!(game.result, Some(GameResult::win_of(!game.opponent.unwrap())));
    }
}

#[test]
fn an_opponent_that_fails_ends_the_run() {
    let failed = against(Random { fails_at: 9, ..RANDOM }, RUN, 1);
    assert!(matches!(failed, Err(GamesError::Player { .. })));
}
