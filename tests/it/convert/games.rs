//! Conversions of games to games and to records.
//!
//! Lost, filled-in, dropped and bad values are counted per move for every output format.

use kyokumen_testing::literals::{
    START_HCP, bytes, sbinpack_chain as chain, sbinpack_chunk as chunk,
};
use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::convert;
use crate::harness::{Dir, Ran};

pub(super) fn sample(name: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
    std::fs::read(path).unwrap()
}

pub(super) fn assert_succeeds(ran: &Ran) {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

/// A game in dlshogi's format: the header of the start position, then moves in hexadecimal.
fn hcpe3(moves: u8, rest: &str) -> Vec<u8> {
    bytes(&format!("{START_HCP}{moves:02x}000100{rest}").replace(' ', ""))
}

const FIRST: &str = "8e07 c800 0200 8e070300 4d270100";
const UNTRAINED: &str = "c220 0000 0000";
const ILLEGAL: &str = "8e07 0000 0000";

#[test]
fn games_return_unchanged_from_every_format() {
    let dir = Dir::new();
    dir.write("a.csa", sample("sample.csa"));
    assert_succeeds(&convert(&dir, "a.csa", "b.hcpe3", &[]));
    assert_succeeds(&convert(&dir, "b.hcpe3", "c.csa", &["--json"]));
    assert_eq!(dir.read("c.csa"), sample("sample.csa"));

    assert_succeeds(&convert(&dir, "a.csa", "d.kif", &[]));
    assert_succeeds(&convert(&dir, "d.kif", "e.hcpe3", &["--fill", "eval=0"]));
    assert_eq!(dir.read("e.hcpe3"), dir.read("b.hcpe3"));

    for (from, to) in [("a.csa", "1.usi"), ("b.hcpe3", "2.usi"), ("d.kif", "3.usi")] {
        assert_succeeds(&convert(&dir, from, to, &[]));
        assert_eq!(dir.read(to), dir.read("1.usi"), "{from}");
    }
    let ran = convert(&dir, "1.usi", "f.hcpe3", &[]);
    assert_data_eq!(
        ran.transcript,
        str![[r#"
status 2
error: cannot convert [FOLDER]/1.usi to hcpe3: hcpe3 needs eval, which usi lacks; use --fill eval=0 (do not train with the filled-in eval)

"#]]
    );
    let ran = convert(&dir, "1.usi", "f.hcpe3", &["--fill", "eval=0,result=draw", "--json"]);
    // The lines contain the endings of the games.
    assert_eq!(ran.json()["counts"]["invented"], json!({"eval": 2000}));
}

#[test]
fn games_are_copied_unchanged_without_canonical() {
    let dir = Dir::new();
    let text = b"V2.2\r\nN+a\r\nPI\r\n+\r\n+2726FU,T1\r\n'** 5 -3334FU\r\n%TORYO\r\n";
    dir.write("a.csa", text);
    assert_succeeds(&convert(&dir, "a.csa", "same.csa", &[]));
    assert_eq!(dir.read("same.csa"), text);
    assert_succeeds(&convert(&dir, "a.csa", "canonical.csa", &["--canonical"]));
    let canonical = b"V2.2\nN+a\nPI\n+\n+2726FU\nT1\n'** 5 -3334FU\n%TORYO\n";
    assert_eq!(dir.read("canonical.csa"), canonical);

    // dlshogi's byte for "another engine played White" is copied with the game.
    let mut game = hcpe3(1, FIRST);
    game[35] = 2;
    dir.write("a.hcpe3", game.repeat(2));
    assert_succeeds(&convert(&dir, "a.hcpe3", "same.hcpe3", &[]));
    assert_eq!(dir.read("same.hcpe3"), game.repeat(2));
    assert_succeeds(&convert(&dir, "a.hcpe3", "canonical.hcpe3", &["--canonical"]));
    assert_eq!(dir.read("canonical.hcpe3"), hcpe3(1, FIRST).repeat(2));
}

#[test]
fn moves_that_are_not_for_training_are_left_out_of_records() {
    let dir = Dir::new();
    dir.write("a.hcpe3", hcpe3(2, &[FIRST, UNTRAINED].concat()));
    let ran = convert(&dir, "a.hcpe3", "b.hcpe", &["--json"]);
    assert_eq!(dir.read("b.hcpe"), bytes(&format!("{START_HCP}c8008e070100")));
    assert_eq!(ran.json()["counts"]["filtered"], json!({"not_for_training": 1}));
    let ran = convert(&dir, "a.hcpe3", "c.psv", &["--json", "--keep-untrained"]);
    assert_eq!(dir.read("c.psv").len(), 80);
    let counts = &ran.json()["counts"];
    assert_eq!((&counts["written"], &counts["filtered"]), (&json!(2), &json!({})));
    assert_eq!(counts["lost"], json!({"candidates": 2, "end_ply": 2}));
    assert_succeeds(&convert(&dir, "a.hcpe3", "d.usi", &[]));
    // The winner is to move, and USI has no word for such an ending.
    assert_eq!(dir.read("d.usi"), b"startpos moves 2g2f 8c8d black\n");
}

#[test]
fn the_number_of_the_first_move_is_lost_in_formats_without_it() {
    let dir = Dir::new();
    let start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 30";
    dir.write("a.usi", format!("sfen {start} moves 3c3d 2g2f\n").as_bytes());
    let ran = convert(&dir, "a.usi", "b.csa", &["--json"]);
    assert_eq!(ran.json()["counts"]["lost"], json!({"ply": 2}));
    let ran = convert(&dir, "a.usi", "c.usi", &["--json"]);
    assert_eq!(ran.json()["counts"]["lost"], json!({}));
    assert_eq!(dir.read("c.usi"), dir.read("a.usi"));
    let ran = convert(&dir, "a.usi", "d.csa", &["--strict"]);
    assert_data_eq!(
        ran.transcript,
        str![[r#"
status 1
usi to csa: no field is lost or filled in
error: [FOLDER]/a.usi, record 0 (file offset 0): ply would be lost; --strict allows no losses

"#]]
    );
}

/// Even if the records of a file are counted first, the data after the last record is read.
#[test]
fn games_without_moves_keep_their_place() {
    let dir = Dir::new();
    let none = "startpos\n".repeat(2);
    let games = format!("{none}startpos moves 7g7f\n{none}startpos moves 2g2f 8c8d\n{none}");
    dir.write("a.usi", games.as_bytes());
    dir.write("b.usi", none.as_bytes());
    // If nothing was read, the exit status is 3.
    for (from, expected, status) in [("a.usi", &games, 0), ("b.usi", &none, 3)] {
        assert_eq!(convert(&dir, from, "c.usi", &["--force"]).code, Some(status));
        assert_eq!(dir.text("c.usi"), *expected);
    }
}

/// The last game of a file may lack its end. The next file still begins a new game.
#[test]
fn joined_files_keep_their_number_of_games() {
    let csa = "V2.2\nPI\n+\n+7776FU\n%TORYO";
    let kif = "手合割：平手\n   1 ７六歩(77)\n   2 投了\nまで1手で先手の勝ち";
    // Moves without a header, and a diagram without a header.
    let moves = "   1 ７六歩(77)\n   2 投了";
    let rank = "| ・ ・ ・ ・ ・ ・ ・ ・ ・|\n";
    let diagram = format!(
        "| ・ ・ ・ ・v玉 ・ ・ ・ ・|\n{}| ・ ・ ・ ・ 玉 ・ ・ ・ ・|\n   1 ５八玉(59)",
        rank.repeat(7)
    );
    let plain = "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\nmove 7g7f\n\
                 score 0\nply 1\nresult 0\ne";
    let alone = "#YANEURAOU-DB2016 1.00\nsfen 4k4/9/9/9/9/9/9/9/4K4 b - 1";
    let book = "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n7g7f none 0";
    for (extension, one, other) in [
        ("csa", csa, csa),
        ("kif", kif, kif),
        ("kif", kif, moves),
        ("kif", moves, &diagram),
        ("plain", plain, plain),
        ("db", alone, book),
        ("usi", "startpos moves 7g7f", "startpos moves 2g2f"),
        ("sfen", "4k4/9/9/9/9/9/9/9/4K4 b - 1", "4k4/9/9/9/9/9/9/9/4K4 w - 2"),
    ] {
        let dir = Dir::new();
        let [a, b, joined, apart] =
            ["a", "b", "joined", "apart"].map(|stem| format!("{stem}.{extension}"));
        let second = dir.write(&b, other.as_bytes());
        dir.write(&a, one.as_bytes());
        let second = second.to_str().unwrap();
        assert_succeeds(&convert(&dir, &a, &joined, &[second]));
        let ran = convert(&dir, &joined, "joined.jsonl", &[]);
        assert_eq!(
            ran.code,
            Some(0),
            "{}\n{}",
            String::from_utf8_lossy(&dir.read(&joined)),
            ran.stderr
        );
        assert_succeeds(&convert(&dir, &a, &apart.replace(extension, "jsonl"), &[second]));
        assert_eq!(dir.read("joined.jsonl"), dir.read("apart.jsonl"), "{extension}: {one}");
    }
}

/// In csa and kif the ending includes the result, so some endings need one.
#[test]
fn some_endings_without_a_result_are_lost_in_csa_and_kif() {
    let dir = Dir::new();
    let start = kyokumen::shogi::sfen::START;
    for (ending, is_lost) in [("repetition", true), ("interruption", false)] {
        let line = format!(r#"{{"sfen":"{start}","move":"7g7f","ending":"{ending}"}}"#);
        dir.write("a.jsonl", line.as_bytes());
        for to in ["b.csa", "b.kif"] {
            let ran = convert(&dir, "a.jsonl", to, &["--json", "--force"]);
            let lost = ran.json()["counts"]["lost"].get("ending").is_some();
            assert_eq!(lost, is_lost, "{ending} {to}");
            let code = convert(&dir, "a.jsonl", to, &["--strict", "--force"]).code;
            assert_eq!(code, Some(i32::from(is_lost)), "{ending} {to}");
        }
    }
}

#[test]
fn a_shortened_game_loses_its_length() {
    let dir = Dir::new();
    dir.write("a.usi", b"startpos moves 7g7f 3c3d 2g2f 8c8d\n");
    let ran = convert(&dir, "a.usi", "b.usi", &["--limit", "2", "--json"]);
    assert_eq!(ran.json()["counts"]["lost"], json!({"end_ply": 2}));
    assert_eq!(dir.read("b.usi"), b"startpos moves 7g7f 3c3d\n");
    assert_eq!(convert(&dir, "a.usi", "c.usi", &["--limit", "2", "--strict"]).code, Some(1));
    assert_eq!(convert(&dir, "a.usi", "c.usi", &["--strict"]).code, Some(0));
}

#[test]
fn violations_of_the_rules_are_counted_in_games() {
    let dir = Dir::new();
    dir.write("a.usi", b"sfen 4k4/9/9/9/9/9/4P4/4P4/4K4 b - 1 moves 5g5f 5a4a\n");
    for (options, warnings) in
        [(&["--json", "--check", "rules"][..], json!({"two_pawns": 2})), (&["--json"], json!({}))]
    {
        for to in ["b.csa", "b.usi"] {
            let ran = convert(&dir, "a.usi", to, &[options, &["--force"]].concat());
            assert_eq!(ran.json()["counts"]["warnings"], warnings, "{to}");
        }
    }
}

#[test]
fn moves_after_ply_65535_have_no_ply() {
    let dir = Dir::new();
    let start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 65535";
    dir.write("a.usi", format!("sfen {start} moves 7g7f 3c3d\n").as_bytes());
    assert_succeeds(&convert(&dir, "a.usi", "b.jsonl", &[]));
    let text = dir.text("b.jsonl");
    let plies: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["ply"].clone())
        .collect();
    assert_eq!(plies, [json!(65535), json!(null)]);
}

/// Two kings move back and forth for 70,000 moves.
#[test]
fn a_game_is_read_up_to_65535_moves() {
    let dir = Dir::new();
    let moves = "+5958OU\n-5152OU\n+5859OU\n-5251OU\n".repeat(17_500);
    dir.write("a.csa", format!("P1 *  *  *  * -OU *  *  *  * \nP+59OU\n+\n{moves}/\n").as_bytes());
    let ran = convert(&dir, "a.csa", "b.hcp", &["--json", "--on-error", "skip"]);
    let counts = &ran.json()["counts"];
    assert_eq!((&counts["written"], &counts["bad"]["skipped"]), (&json!(65_535), &json!(1)));
}

#[test]
fn the_moves_after_an_illegal_move_are_bad_together() {
    let dir = Dir::new();
    let broken = hcpe3(4, &[FIRST, ILLEGAL, ILLEGAL, ILLEGAL].concat());
    let whole = hcpe3(1, FIRST);
    dir.write("a.hcpe3", [&whole[..], &broken, &whole].concat());
    for to in ["b.psv", "c.usi"] {
        let ran = convert(&dir, "a.hcpe3", to, &["--json", "--on-error", "quarantine"]);
        assert_eq!(ran.code, Some(3), "{}", ran.stderr);
        let counts = &ran.json()["counts"];
        assert_eq!((&counts["input"], &counts["written"]), (&json!(6), &json!(3)), "{to}");
        assert_eq!(counts["bad"], json!({"quarantined": 3, "skipped": 0}));
        let stem = &to[..1];
        assert_eq!(dir.read(format!("{stem}.quarantine.bin")), broken);
        let lines = dir.read(format!("{stem}.quarantine.jsonl"));
        let line: serde_json::Value = serde_json::from_slice(&lines).unwrap();
        assert_eq!((&line["index"], &line["records"]), (&json!(2), &json!(3)));
        assert_eq!(line["offset"], json!(whole.len()));
    }
}

#[test]
fn a_chunk_of_several_games_is_copied_unchanged() {
    let dir = Dir::new();
    let file = [chunk(&chain().repeat(2)), chunk(&chain())].concat();
    dir.write("a.sbinpack", &file);
    assert_succeeds(&convert(&dir, "a.sbinpack", "same.sbinpack", &[]));
    assert_eq!(dir.read("same.sbinpack"), file);
    assert_succeeds(&convert(&dir, "a.sbinpack", "b.usi", &[]));
    assert_eq!(dir.read("b.usi"), b"startpos moves 7g7f 3c3d 2g2f resign\n".repeat(3));
    // Without the metadata, and with the first evaluation as the score.
    let ran = convert(&dir, "a.sbinpack", "canonical.sbinpack", &["--canonical", "--json"]);
    assert_eq!(ran.json()["counts"]["written"], json!(9));
    assert_eq!(dir.read("canonical.sbinpack").len(), 3 * (8 + chain().len() - 2));
    assert_succeeds(&convert(&dir, "a.sbinpack", "c.usi", &["--limit", "5"]));
    // After the moves that were read, the winner is to move.
    let part = b"startpos moves 7g7f 3c3d 2g2f resign\nstartpos moves 7g7f 3c3d black\n";
    assert_eq!(dir.read("c.usi"), part);
}

#[test]
fn a_chunk_with_bad_games_is_quarantined_once() {
    let dir = Dir::new();
    let mut bad = chunk(&chain().repeat(4));
    for (game, byte) in [(1, 0xff), (2, 0xfe)] {
        bad[8 + game * chain().len()..][..32].fill(byte);
    }
    dir.write("a.sbinpack", &bad);
    for to in ["b.psv", "c.usi", "d.sbinpack"] {
        let ran = convert(&dir, "a.sbinpack", to, &["--json", "--on-error", "quarantine"]);
        assert_eq!(ran.code, Some(3), "{}", ran.stderr);
        let counts = &ran.json()["counts"];
        assert_eq!((&counts["input"], &counts["written"]), (&json!(8), &json!(6)), "{to}");
        let stem = &to[..1];
        assert_eq!(dir.read(format!("{stem}.quarantine.bin")), bad, "{to}");
        let lines = dir.read(format!("{stem}.quarantine.jsonl"));
        let index =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["index"].clone();
        let lines = String::from_utf8(lines).unwrap();
        assert_eq!(lines.lines().map(index).collect::<Vec<_>>(), [json!(3), json!(4)]);
    }
}
