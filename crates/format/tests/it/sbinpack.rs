//! `sbinpack`: literal bytes, rsshogi in both directions, chunks of several games, damage.
//!
//! rsshogi defines the format and shares no code with this project.

use kyokumen_format::{
    DecodeError, DecodeErrorKind, EncodeError, Ending, Format, Game, GameResult, Played, chunks,
    count, read_games, records, write_game,
};
use kyokumen_shogi::{Move, Setup, sfen};
use kyokumen_testing::game_properties::{check_file, content};
use kyokumen_testing::games::{random_game, read_game};
use kyokumen_testing::literals::{
    START_PSV, bytes, sbinpack_chain as chain, sbinpack_chunk as in_chunk,
};
use rsshogi::board::Position;
use rsshogi::records::formats::sbinpack::{
    SbinpackChain, SbinpackMetadata, SbinpackMove, SbinpackStem, deserialize_file, pack_ply_result,
    serialize_file, unpack_ply_result,
};
use rsshogi::types;

fn played(moves: &[(&str, i16)]) -> Vec<Played> {
    let played = |&(usi, eval_cp): &(&str, i16)| Played {
        eval_cp: Some(eval_cp),
        ..Played::new(Move::from_usi(usi).unwrap(), 0)
    };
    moves.iter().map(played).collect()
}

fn three_moves() -> Game {
    Game {
        moves: played(&[("7g7f", 110), ("3c3d", -115), ("2g2f", 125)]),
        result: Some(GameResult::BlackWin),
        announced: Some(3),
        ..Game::new(sfen::START.parse().unwrap())
    }
}

fn read_all(chunk: &[u8]) -> Vec<Result<Game, DecodeError>> {
    read_games(Format::Sbinpack, chunk).collect()
}

fn written(game: &Game) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::new();
    write_game(Format::Sbinpack, game, &mut out).map(|()| out)
}

#[test]
fn literal_bytes() {
    let foreign = foreign(&three_moves(), 100, &[0xab, 0xcd], types::GameResult::BlackWin);
    assert_eq!(serialize_file(&[foreign]).unwrap(), in_chunk(&chain()));
    let game = read_game(Format::Sbinpack, &in_chunk(&chain())).unwrap();
    assert_eq!(game.moves.iter().map(|m| m.offset).collect::<Vec<_>>(), [51, 53, 55]);
    assert_eq!(content(game), three_moves());
    // When the game is written again, the score is the first evaluation and there is no metadata.
    let rewritten = format!("{START_PSV} 6e00 3b1e 0100 00 0300 0400 040a 0514");
    assert_eq!(written(&three_moves()), Ok(in_chunk(&bytes(&rewritten.replace(' ', "")))));
}

#[test]
fn a_part_of_a_game_begins_at_the_position_of_its_first_move() {
    let part = three_moves().part(1..3).unwrap();
    let start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2";
    assert_eq!((part.start.to_string(), moves(&part).len()), (start.to_owned(), 2));
    let read = read_game(Format::Sbinpack, &written(&part).unwrap()).unwrap();
    assert_eq!((read.start.to_string(), moves(&read)), (start.to_owned(), moves(&part)));
    assert_eq!(three_moves().part(3..3), None);
}

#[test]
fn a_chunk_holds_several_games() {
    let chunk = in_chunk(&chain().repeat(3));
    let games: Vec<_> = read_all(&chunk).into_iter().map(|game| content(game.unwrap())).collect();
    assert_eq!(games, vec![three_moves(); 3]);
    assert_eq!(count(Format::Sbinpack, &chunk), 9);
    assert_eq!(read_all(&in_chunk(b"")), []);
    let file = [&chunk[..], &in_chunk(b""), &chunk].concat();
    let lengths: Vec<_> = chunks(Format::Sbinpack, &file).map(<[u8]>::len).collect();
    assert_eq!(lengths, [chunk.len(), 8, chunk.len()]);
    check_file(Format::Sbinpack, &file);
}

/// A game as an rsshogi chain.
fn foreign(game: &Game, score: i16, metadata: &[u8], result: types::GameResult) -> SbinpackChain {
    let mut position = Position::empty();
    position.set_sfen(&game.start.to_string()).unwrap();
    let packed_sfen = position.to_packed_sfen();
    let mut moves = Vec::new();
    for played in &game.moves {
        let best_move = types::Move::from_usi(&played.best_move.to_string()).unwrap();
        let mv = position.move32_from_move(best_move);
        moves.push(SbinpackMove { mv, eval: played.eval_cp.unwrap().into() });
        position.apply_move(best_move);
    }
    let best_move = moves.first().map_or(types::Move::MOVE_NONE, |entry| entry.mv.to_move());
    let ply_result = pack_ply_result(result, game.start.ply());
    let stem = SbinpackStem { packed_sfen, score, best_move, ply_result };
    let metadata = SbinpackMetadata::new(metadata.to_vec()).unwrap();
    SbinpackChain { stem, metadata, moves }
}

fn moves(game: &Game) -> Vec<(String, Option<i16>)> {
    game.moves.iter().map(|played| (played.best_move.to_string(), played.eval_cp)).collect()
}

#[test]
fn rsshogi_reads_what_we_write() {
    for seed in 0..200 {
        let game = random_game(seed);
        let file = deserialize_file(&written(&game).unwrap()).unwrap();
        let [chain] = &file.chains[..] else { panic!("{} chains", file.chains.len()) };
        let expected = foreign(&game, 0, b"", types::GameResult::Invalid);
        assert_eq!(chain.stem.packed_sfen, expected.stem.packed_sfen, "game {seed}");
        assert_eq!(chain.stem.best_move, expected.stem.best_move);
        let pairs = |chain: &SbinpackChain| -> Vec<_> {
            chain.moves.iter().map(|entry| (entry.mv, entry.eval)).collect()
        };
        assert_eq!(pairs(chain), pairs(&expected), "game {seed}");
        let (result, ply) = unpack_ply_result(chain.stem.ply_result);
        assert_eq!((ply, chain.metadata.bytes.len()), (game.start.ply(), 0));
        let winner = |color| match color {
            types::Color::BLACK => GameResult::BlackWin,
            _ => GameResult::WhiteWin,
        };
        let result = result.unwrap();
        let read =
            result.winner_color().map(winner).or(result.is_draw().then_some(GameResult::Draw));
        assert_eq!(read, game.result);
    }
}

#[test]
fn we_read_what_rsshogi_writes() {
    for seed in 0..100 {
        let games: Vec<Game> = (3 * seed..3 * seed + 3).map(random_game).collect();
        let scores = [(-1000, &b""[..]), (0, b"a"), (1000, b"bytes")];
        let chains: Vec<_> = (games.iter().zip(scores))
            .map(|(game, (score, metadata))| foreign(game, score, metadata, RESULT))
            .collect();
        let chunk = serialize_file(&chains).unwrap();
        let read: Vec<Game> = read_all(&chunk).into_iter().map(Result::unwrap).collect();
        assert_eq!(read.len(), 3);
        for (read, game) in read.iter().zip(&games) {
            assert_eq!((&read.start, moves(read)), (&game.start, moves(game)), "games {seed}");
            assert_eq!((read.result, read.ending), (Some(GameResult::WhiteWin), TIME_UP));
            assert!(read.records().iter().all(Result::is_ok));
        }
        check_file(Format::Sbinpack, &chunk);
    }
}

const RESULT: types::GameResult = types::GameResult::WhiteWinByTimeout;
const TIME_UP: Option<Ending> = Some(Ending::TimeUp);

#[test]
fn results_match_rsshogi() {
    use types::GameResult as Foreign;
    let (black, white, draw) =
        (Some(GameResult::BlackWin), Some(GameResult::WhiteWin), Some(GameResult::Draw));
    for (result, end) in [
        (Foreign::BlackWin, (black, None)),
        (Foreign::WhiteWin, (white, None)),
        (Foreign::DrawByRepetition, (draw, Some(Ending::Repetition))),
        (Foreign::Error, (None, None)),
        (Foreign::BlackWinByDeclaration, (black, Some(Ending::Declaration))),
        (Foreign::WhiteWinByDeclaration, (white, Some(Ending::Declaration))),
        (Foreign::DrawByMaxPlies, (draw, Some(Ending::MoveLimit))),
        (Foreign::Invalid, (None, None)),
        (Foreign::BlackWinByForfeit, (black, None)),
        (Foreign::WhiteWinByForfeit, (white, None)),
        (Foreign::DrawByImpasse, (draw, Some(Ending::Impasse))),
        (Foreign::Paused, (None, Some(Ending::Interruption))),
        (Foreign::BlackWinByIllegalMove, (black, Some(Ending::IllegalMove))),
        (Foreign::WhiteWinByIllegalMove, (white, Some(Ending::IllegalMove))),
        (Foreign::DrawByAdjudication, (draw, None)),
        (Foreign::BlackWinByTimeout, (black, TIME_UP)),
        (Foreign::WhiteWinByTimeout, (white, TIME_UP)),
        (Foreign::BlackWinByTryRule, (black, Some(Ending::Declaration))),
        (Foreign::WhiteWinByTryRule, (white, Some(Ending::Declaration))),
    ] {
        let chunk = serialize_file(&[foreign(&three_moves(), 0, b"", result)]).unwrap();
        let game = read_game(Format::Sbinpack, &chunk).unwrap();
        assert_eq!((game.result, game.ending), end, "{result:?}");
    }
}

#[test]
fn plies_and_evaluations_out_of_range_are_clamped() {
    let start: Setup = sfen::START.parse().unwrap();
    let late = Game { start: start.with_ply(5000), ..three_moves() };
    let read = read_game(Format::Sbinpack, &written(&late).unwrap()).unwrap();
    assert_eq!(read.start.ply(), 1023);
    let ply = Format::Sbinpack.lost_of_game(&late.start, late.result, late.ending);
    assert_eq!(ply.to_string(), "ply");

    let mut chain = foreign(&three_moves(), 0, b"", RESULT);
    (chain.moves[0].eval, chain.moves[1].eval) = (100_000, 100_000);
    let read = read_game(Format::Sbinpack, &serialize_file(&[chain]).unwrap()).unwrap();
    let evals: Vec<_> = read.moves.iter().map(|played| played.eval_cp.unwrap()).collect();
    assert_eq!(evals, [i16::MAX, i16::MAX, 125]);
}

#[test]
fn games_that_cannot_be_written_are_errors() {
    let no_eval =
        Game { moves: vec![Played::new(Move::from_usi("7g7f").unwrap(), 0)], ..three_moves() };
    assert!(matches!(written(&no_eval), Err(EncodeError::Missing { .. })));
    let illegal = Game { moves: played(&[("7g7e", 0)]), ..three_moves() };
    assert_eq!(written(&illegal), Err(EncodeError::NoGame));
    let moves = played(&vec![("7g7f", 0); 65_536]);
    let too_long = Game { moves, ..three_moves() };
    assert!(matches!(written(&too_long), Err(EncodeError::TooMany { .. })));
}

/// Number of good records, number of bad records, and the offset of the fault.
fn tally(chunk: &[u8]) -> (usize, usize, usize) {
    check_file(Format::Sbinpack, chunk);
    let (read, bad): (Vec<_>, Vec<_>) =
        records(Format::Sbinpack, Format::Sbinpack.dialect(), chunk).partition(Result::is_ok);
    assert_eq!(count(Format::Sbinpack, chunk), (read.len() + bad.len()) as u64);
    let offset = bad.first().and_then(|error| error.as_ref().err()).map_or(0, |error| error.offset);
    (read.len(), bad.len(), offset)
}

#[test]
fn damage_is_reported_at_its_offset_and_loses_only_affected_records() {
    let (chain, len) = (chain(), chain().len());
    let chunk = in_chunk(&chain.repeat(3));
    // An invalid move: loses the rest of its game.
    let mut damaged = chunk.clone();
    damaged[8 + len + 43 + 2] = 0x7f;
    assert_eq!(tally(&damaged), (7, 2, 8 + len + 45));
    // An invalid position: loses its game.
    let mut damaged = chunk.clone();
    damaged[8 + len..][..32].fill(0xff);
    assert_eq!(tally(&damaged), (6, 1, 8 + len));
    // Too much metadata: the end of the game is unknown.
    let mut damaged = chunk.clone();
    damaged[8 + len + 38] = 128;
    assert_eq!(tally(&damaged), (3, 1, 8 + len + 38));
    // Too long a number, and too many moves.
    let mut damaged = chunk.clone();
    damaged[8 + len + 43..][..5].fill(0x80);
    assert_eq!(tally(&damaged), (3, 1, 8 + len + 43));
    let mut damaged = chunk.clone();
    damaged[8 + 2 * len + 41] = 4;
    assert_eq!(tally(&damaged), (6, 1, chunk.len()));
    let error = read_all(&damaged).pop().unwrap().unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::GameCut { moves: 4, within: 4 });
    // A file that is truncated within a game, and between two games.
    assert_eq!(tally(&chunk[..chunk.len() - 1]), (6, 1, chunk.len() - 1));
    assert_eq!(tally(&chunk[..8 + len]), (3, 1, 8 + len));
    // Bytes between chunks.
    assert_eq!(tally(&[&chunk[..], b"SBN"].concat()), (9, 1, chunk.len()));
    assert_eq!(tally(b"SBN1\0\0\0\0"), (0, 1, 0));
    assert_eq!(tally(b""), (0, 1, 0));
}

/// Differences whose sum exceeds 32 bits, and a truncated difference.
#[test]
fn evaluations_that_overflow_end_the_game() {
    let most = "feffffff0f";
    let payload = format!("{START_PSV} 6400 0000 0000 00 0300 03{most} 0500 0700").replace(' ', "");
    let (read, bad, offset) = tally(&in_chunk(&bytes(&payload)));
    assert_eq!((read, bad, offset), (0, 3, 8 + 42));
}
