//! `hcpe3`: literal bytes, counts, damage.
//!
//! The literal game is the first game of dlshogi's `cppshogi` tests (`hcpe3_1`).

use kyokumen_format::{
    DecodeErrorKind, EncodeError, Ending, Format, Game, GameResult, Played, VisitedMove, chunks,
    count, records, write_game,
};
use kyokumen_shogi::{Color, Move, sfen};
use kyokumen_testing::game_properties::{check_file, content};
use kyokumen_testing::games::read_game;
use kyokumen_testing::literals::{START_HCP, bytes};

const FIRST_MOVE: &str = "8e07c8000200 8e070300 4d270100";
const SECOND_MOVE: &str = "c220d2000200 c2200400 930d0100";

/// A game from hexadecimal parts that follow the position.
fn chunk(parts: &[&str]) -> Vec<u8> {
    bytes(&format!("{START_HCP}{}", parts.concat()).replace(' ', ""))
}

fn literal() -> Vec<u8> {
    chunk(&["0200 01 00", FIRST_MOVE, SECOND_MOVE])
}

fn usi(text: &str) -> Move {
    Move::from_usi(text).unwrap()
}

fn played(best_move: &str, eval_cp: i16, candidates: &[(&str, u16)]) -> Played {
    let candidates = candidates.iter();
    let candidate = |&(best_move, visits)| VisitedMove { best_move: usi(best_move), visits };
    Played {
        eval_cp: Some(eval_cp),
        candidates: candidates.map(candidate).collect(),
        ..Played::new(usi(best_move), 0)
    }
}

fn game(moves: Vec<Played>) -> Game {
    Game {
        result: Some(GameResult::BlackWin),
        announced: Some(moves.len()),
        moves,
        ..Game::new(sfen::START.parse().unwrap())
    }
}

fn two_moves() -> Game {
    game(vec![
        played("2g2f", 200, &[("2g2f", 3), ("9g9f", 1)]),
        played("8c8d", 210, &[("8c8d", 4), ("4a3b", 1)]),
    ])
}

fn write(game: &Game) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::new();
    write_game(Format::Hcpe3, game, &mut out).map(|()| out)
}

/// The numbers of readable and unreadable records, with the first error.
fn read(chunk: &[u8]) -> (usize, usize, Option<(usize, DecodeErrorKind)>) {
    let read: Vec<_> = records(Format::Hcpe3, Format::Hcpe3.dialect(), chunk).collect();
    assert_eq!(read.len() as u64, count(Format::Hcpe3, chunk));
    let good = read.iter().take_while(|record| record.is_ok()).count();
    let error = read.get(good).map(|error| error.as_ref().unwrap_err().clone());
    (good, read.len() - good, error.map(|error| (error.offset, error.kind)))
}

#[test]
fn a_game_with_candidates_is_read_and_written() {
    assert_eq!(read_game(Format::Hcpe3, &literal()).map(content), Ok(two_moves()));
    assert_eq!(write(&two_moves()), Ok(literal()));
    let records: Vec<_> = records(Format::Hcpe3, Format::Hcpe3.dialect(), &literal())
        .map(|record| record.unwrap().record().unwrap())
        .collect();
    assert_eq!(records[1].setup.to_string(), after_2g2f());
    assert_eq!((records[1].best_move, records[1].eval_cp), (Some(usi("8c8d")), Some(210)));
    assert_eq!((records[1].ply, records[1].end_ply), (Some(2), Some(2)));
    assert_eq!((records[1].result, records[1].ending), (Some(GameResult::BlackWin), None));
    check_file(Format::Hcpe3, &literal().repeat(3));
}

fn after_2g2f() -> &'static str {
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/7P1/PPPPPPP1P/1B5R1/LNSGKGSNL w - 2"
}

/// For a move without a search, dlshogi's `csa_to_hcpe3.py` writes the move itself with one visit. Its engine writes no
/// candidates for moves that are not for training.
#[test]
fn moves_without_candidates() {
    let bytes = chunk(&["0200 00 00", "8e07 0a00 0100 8e070100", "c220 0000 0000"]);
    let mut expected = game(vec![
        played("2g2f", 10, &[]),
        Played { is_not_for_training: true, ..played("8c8d", 0, &[]) },
    ]);
    expected.result = Some(GameResult::Draw);
    assert_eq!(read_game(Format::Hcpe3, &bytes).map(content), Ok(expected.clone()));
    assert_eq!(write(&expected), Ok(bytes));
}

#[test]
fn flags_give_the_ending() {
    for (byte, result, ending) in [
        ("00", Some(GameResult::Draw), None),
        ("02", Some(GameResult::WhiteWin), None),
        ("04", Some(GameResult::Draw), Some(Ending::Repetition)),
        ("0a", Some(GameResult::WhiteWin), Some(Ending::Declaration)),
        ("10", Some(GameResult::Draw), Some(Ending::MoveLimit)),
        ("16", Some(GameResult::Draw), Some(Ending::MoveLimit)),
        ("03", None, None),
    ] {
        let bytes = chunk(&["0100", byte, "02", FIRST_MOVE]);
        let game = read_game(Format::Hcpe3, &bytes).unwrap();
        assert_eq!((game.result, game.ending), (result, ending), "{byte}");
        let Ok(written) = write(&game) else {
            assert_eq!(result, None);
            continue;
        };
        assert_eq!(written[34], if byte == "16" { 0x10 } else { bytes[34] });
        assert_eq!((written[35], game.opponent), (2, Some(Color::White)));
    }
}

#[test]
fn the_header_counts_the_moves() {
    assert_eq!(count(Format::Hcpe3, &literal()), 2);
    assert_eq!(count(Format::Hcpe3, &chunk(&["0000 00 00"])), 0);
    // The second move is 2g2f again, which is illegal. It and each later move is lost.
    let illegal = "8e07 0000 0000";
    let bytes = chunk(&["0500 01 00", FIRST_MOVE, illegal, illegal, illegal, illegal]);
    let kind = DecodeErrorKind::IllegalMove { best_move: usi("2g2f") };
    assert_eq!(read(&bytes), (1, 4, Some((50, kind))));
    let malformed = chunk(&["0200 01 00", FIRST_MOVE, "0000 0000 0000"]);
    let (good, bad, error) = read(&malformed);
    assert_eq!((good, bad, error.unwrap().0), (1, 1, 50));
}

#[test]
fn a_truncated_game_is_one_bad_record() {
    let whole = literal();
    for len in 1..whole.len() {
        let file = [&whole[..], &whole[..len]].concat();
        let chunks: Vec<_> = chunks(Format::Hcpe3, &file).collect();
        assert_eq!(chunks, [&whole[..], &whole[..len]]);
        let (good, bad, error) = read(chunks[1]);
        assert_eq!((good, bad, error.unwrap().0), (0, 1, len));
        check_file(Format::Hcpe3, &file);
    }
}

#[test]
fn damage_ends_where_the_next_game_begins() {
    let whole = literal();
    // A king off the board; a count beyond the end; a count that leads into the next game.
    for (at, byte) in [(0, 0xff), (40, 0xff), (41, 0xff), (40, 3), (32, 3), (33, 1)] {
        let mut damaged = whole.clone();
        damaged[at] = byte;
        let file = [&whole[..], &damaged, &whole, &whole].concat();
        let chunks: Vec<_> = chunks(Format::Hcpe3, &file).collect();
        assert_eq!(chunks, [&whole[..], &damaged, &whole, &whole], "byte {at}");
        assert_eq!(read(chunks[1]).0, 0);
        assert_eq!(read(chunks[1]).1, 1);
        check_file(Format::Hcpe3, &file);
    }
}

/// Two moves, but the header counts one. The counted move is legal.
#[test]
fn a_count_that_is_too_small_leaves_unread_bytes() {
    let whole = literal();
    let mut damaged = whole.clone();
    damaged[32] = 1;
    let file = [&damaged[..], &whole].concat();
    let chunks: Vec<_> = chunks(Format::Hcpe3, &file).collect();
    assert_eq!(chunks, [&damaged[..50], &damaged[50..], &whole]);
    assert_eq!((read(chunks[0]).0, read(chunks[1]).1), (1, 1));
}

#[test]
fn a_valid_game_before_damage_is_read() {
    let whole = literal();
    let file = [&whole[..], &[0xff; 100], &whole].concat();
    let chunks: Vec<_> = chunks(Format::Hcpe3, &file).collect();
    assert_eq!(chunks, [&whole[..], &[0xff; 100], &whole]);
}

#[test]
fn much_damage_is_cut_into_pieces() {
    let file = [vec![0xff; 5 << 19], literal()].concat();
    let lengths: Vec<_> = chunks(Format::Hcpe3, &file).map(<[u8]>::len).collect();
    assert_eq!(lengths, [1 << 20, 1 << 20, 1 << 19, literal().len()]);
}

#[test]
fn contents_that_the_format_cannot_hold_are_errors() {
    let silent = Game { result: None, ..two_moves() };
    assert!(matches!(write(&silent), Err(EncodeError::Missing { .. })));
    let mut without_eval = two_moves();
    without_eval.moves[1].eval_cp = None;
    assert!(matches!(write(&without_eval), Err(EncodeError::Missing { .. })));
    let mut crowded = two_moves();
    crowded.moves[0].candidates = vec![VisitedMove { best_move: usi("2g2f"), visits: 1 }; 594];
    let error = EncodeError::TooMany { what: "candidates", most: 593 };
    assert_eq!(write(&crowded), Err(error));
}
