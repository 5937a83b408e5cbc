//! Games of random moves.

use kyokumen_format::{
    DecodeError, Ending, Format, Game, GameResult, Played, VisitedMove, read_games,
};
use kyokumen_game::random::SplitMix64;
use kyokumen_shogi::{Position, Setup};

/// The only game of a chunk.
///
/// # Errors
///
/// The [`DecodeError`] of the game.
///
/// # Panics
///
/// If the chunk has no game or several games.
pub fn read_game(format: Format, chunk: &[u8]) -> Result<Game, DecodeError> {
    let mut games = read_games(format, chunk);
    let game = games.next().expect("the chunk has a game");
    assert!(games.next().is_none(), "the chunk has another game");
    game
}

/// The start of an even game, three handicaps, a position in the middle of a game, and bare kings with pieces in the
/// box.
const STARTS: [&str; 6] = [
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "4k4/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1",
    "4k4/9/9/9/9/9/9/9/4K4 b G2r2b3g4s4n4l18p 1",
];

/// A game of random moves with all fields that any format can hold.
pub fn random_game(seed: u64) -> Game {
    let mut random = SplitMix64::new(seed);
    let start: Setup = random.pick(&STARTS).unwrap().parse().unwrap();
    let mut position = Position::try_from(&start).unwrap();
    let mut game = Game::new(start);
    for _ in 0..random.below(60) {
        let moves = position.legal_moves();
        let Some(best_move) = random.pick(&moves) else { break };
        let number = random.below(5);
        let mut candidate = || VisitedMove {
            best_move: random.pick(&moves).unwrap(),
            visits: 2 + random.below(1000) as u16,
        };
        game.moves.push(Played {
            candidates: (0..number).map(|_| candidate()).collect(),
            eval_cp: Some((random.next_bits() as u16).cast_signed()),
            is_not_for_training: number == 0 && random.below(2) == 0,
            ..Played::new(best_move, 0)
        });
        position.make(best_move);
    }
    let results = [GameResult::Draw, GameResult::BlackWin, GameResult::WhiteWin];
    game.result = random.pick(&results);
    let endings: Vec<_> = Ending::ALL.into_iter().map(Some).chain([None, None]).collect();
    game.ending = random.pick(&endings).unwrap();
    game
}
