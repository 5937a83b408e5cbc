//! Games end as the rules say.

use std::error::Error;

use kyokumen_format::{Ending, Game, GameResult, MATE_EVAL};
use kyokumen_selfplay::{GameSettings, Openings, StartPosition};
use kyokumen_shogi::{Color, Move, Position, PositionHistory, Repetition, plain};

use super::{RUN, play, settings};

/// Every game from one position.
struct From(&'static str);

impl Openings for From {
    fn opening(&self, _: u64) -> Result<Option<Position>, Box<dyn Error + Send + Sync>> {
        Ok(Some(self.0.parse()?))
    }
}

/// Replays a game by the rules as they are written down, and checks what it says of its end.
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
        // Given up: whoever it was, the result is no draw.
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
fn training_positions_have_visits_and_the_first_moves_are_drawn() {
    let games = play(settings(), RUN, 1, 0..20, StartPosition);
    for game in &games {
        for (i, played) in game.moves.iter().enumerate() {
            let visits: u32 = played.candidates.iter().map(|c| u32::from(c.visits)).sum();
            assert_eq!(i < 4 || played.candidates.is_empty(), played.is_not_for_training);
            if !played.is_not_for_training {
                assert!(visits >= 12, "{visits}");
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
fn a_known_mate_is_played_to_its_end() {
    let games =
        play(settings(), RUN, 1, 0..3, From("4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1"));
    for game in games {
        check(&game, 60);
        let [played] = &game.moves[..] else { panic!("one move mates") };
        assert_eq!(played.best_move, Move::from_usi("G*5b").unwrap());
        assert_eq!((played.eval_cp, played.is_not_for_training), (Some(MATE_EVAL), true));
        assert_eq!(game.result, Some(GameResult::win_of(Color::Black)));
    }
    // The longer one of the articles: the mated side's moves are part of it.
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
