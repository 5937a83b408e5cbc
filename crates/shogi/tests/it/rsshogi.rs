//! Compares the rules with `rsshogi`, an independent rules engine.
//!
//! It reads our SFENs and returns its moves in USI, so this also tests the notation.

use kyokumen_shogi::{Color, Position, Square, perft};
use kyokumen_testing::positions::{random_play, shared_positions};
use kyokumen_testing::{foreign, foreign_moves};
use rsshogi::board;
use rsshogi::types;

fn check_moves(position: &Position) {
    let foreign = foreign(position);
    let mut moves: Vec<String> = position.legal_moves().iter().map(ToString::to_string).collect();
    moves.sort_unstable();
    assert_eq!(moves, foreign_moves(&foreign), "{position}");
    assert_eq!(position.in_check(), foreign.is_in_check(), "{position}");
    assert_eq!(position.has_legal_move(), !foreign.is_mated(), "{position}");
    let setup = foreign.to_sfen(None);
    assert_eq!(position.to_string(), setup, "SFEN written back");
}

#[test]
fn moves_agree_in_random_games() {
    for position in random_play(5, 2_000) {
        check_moves(&position);
    }
}

#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn moves_agree_in_real_positions() {
    let files = [
        ("dev.sfen.zst", 41),
        ("dev_engine.sfen.zst", 41),
        ("bench_random.tsv", 1),
        ("dev_handicap.sfen", 7),
    ];
    for (name, step) in files {
        for position in shared_positions(name, step) {
            check_moves(&position);
        }
    }
}

#[test]
fn attackers_agree_in_random_games() {
    for position in random_play(6, 200) {
        let foreign = foreign(&position);
        for square in Square::all() {
            let there = types::Square::from_usi(&square.to_string()).unwrap();
            for (ours, theirs) in
                [(Color::Black, types::Color::BLACK), (Color::White, types::Color::WHITE)]
            {
                let attackers = position.attackers_to(square, position.occupied(), ours);
                let mut ours: Vec<String> = attackers.map(|from| from.to_string()).collect();
                let mut theirs: Vec<String> = foreign
                    .attackers_to_color_current(theirs, there)
                    .iter()
                    .map(types::Square::to_usi)
                    .collect();
                ours.sort_unstable();
                theirs.sort_unstable();
                assert_eq!(ours, theirs, "attackers of {square} in {position}");
            }
        }
    }
}

#[test]
fn perft_agrees_in_random_games() {
    for mut position in random_play(7, 400).into_iter().step_by(13) {
        let theirs = board::perft::compute_perft(&mut foreign(&position), 2);
        assert_eq!(perft::nodes(&mut position, 2), theirs, "{position}");
    }
}
