//! Text formats and packs of other programs: conversions of literal files.
//!
//! The sources of the literals are in `docs/formats/`.

use std::fs;

use kyokumen::shogi::sfen;
use snapbox::{assert_data_eq, str};

use kyokumen_testing::literals::{START_PSV, bytes};

use crate::harness::{Dir, Ran};

/// Converts a file. Returns the output and the finished command.
fn convert(name: &str, content: &[u8], to: &str, options: &[&str]) -> (Vec<u8>, Ran) {
    let dir = Dir::new();
    let input = dir.write(name, content);
    let output = dir.join(format!("out.{to}"));
    let command = dir.kyokumen(["convert", "--progress", "none", "-o"]);
    let ran = command.args([&output, &input]).args(options).run();
    (fs::read(output).unwrap_or_default(), ran)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn start_psv() -> Vec<u8> {
    bytes(&format!("{START_PSV}0a008e0701000100"))
}

#[test]
fn json_lines_hold_all_fields_of_a_packed_record() {
    let start = sfen::START;
    let no_move = bytes(&format!("{START_PSV}0a00000001000100"));
    let psv = [start_psv(), no_move].concat();
    let (lines, _) = convert("a.psv", &psv, "jsonl", &[]);
    let expected = format!(
        "{{\"sfen\":\"{start}\",\"move\":\"2g2f\",\"eval\":10,\"ply\":1,\"result\":\"black\"}}\n\
         {{\"sfen\":\"{start}\",\"move\":\"none\",\"eval\":10,\"ply\":1,\"result\":\"black\"}}\n"
    );
    assert_eq!(text(&lines), expected);
    assert_eq!(convert("a.jsonl", &lines, "psv", &[]).0, psv);
    assert_eq!(convert("a.jsonl", &lines, "jsonl", &["--canonical"]).0, lines);

    let (lines, ran) = convert("a.jsonl", &lines, "hcp", &["--json"]);
    assert_eq!(lines.len(), 64);
    assert!(ran.text().contains(r#""eval":2"#), "{}", ran.text());
}

#[test]
fn json_of_inspect_can_be_converted() {
    let dir = Dir::new();
    dir.write("a.psv", start_psv());
    let inspect = dir.line("inspect --json --hex --range .. a.psv").run();
    assert_eq!(convert("a.jsonl", &inspect.stdout, "psv", &[]).0, start_psv());
}

#[test]
fn an_error_in_a_line_states_the_byte() {
    let line = format!("{{\"sfen\":\"{}\",\"eval\":1e9}}\n", sfen::START);
    let (_, ran) = convert("a.jsonl", line.as_bytes(), "hcp", &[]);
    let stderr = ran.stderr;
    let at = line.find("1e9").unwrap();
    assert!(
        stderr.contains(&format!(
            "a.jsonl does not look like jsonl or any other format: no record can be read as jsonl; first error: line 1, record \
             0 (file offset 0): byte {at}: expected a number from -32768 to 32767, or \
             null, found \"1e9\""
        )),
        "{stderr}"
    );
    assert_eq!(ran.code, Some(2));
}

/// One record for each side to move, as text of YaneuraOu's learner and as psv.
fn plain_and_psv() -> (String, Vec<u8>) {
    let white = sfen::START.replace(" b - 1", " w - 2");
    let plain = format!(
        "sfen {}\nmove 2g2f\nscore 10\nply 1\nresult 1\ne\n\
         sfen {white}\nmove none\nscore -32768\nply 2\nresult -1\ne\n",
        sfen::START
    );
    let white = format!("59{}008000000200ff00", &START_PSV[2..]);
    (plain, [start_psv(), bytes(&white)].concat())
}

#[test]
fn plain_and_psv_convert_into_each_other() {
    let (plain, psv) = plain_and_psv();
    assert_eq!(convert("a.plain", plain.as_bytes(), "psv", &[]).0, psv);
    assert_eq!(text(&convert("a.psv", &psv, "plain", &[]).0), plain);

    let spaced = plain.replace('\n', "\r\n").replace("e\r\n", "e\r\n\r\n");
    assert_eq!(convert("a.plain", spaced.as_bytes(), "psv", &[]).0, psv);
    // Without a change of format no byte changes.
    assert_eq!(text(&convert("a.plain", spaced.as_bytes(), "plain", &[]).0).trim(), spaced.trim());
    assert_eq!(text(&convert("a.plain", spaced.as_bytes(), "plain", &["--canonical"]).0), plain);
}

#[test]
fn a_block_without_its_end_is_one_bad_record() {
    let (plain, psv) = plain_and_psv();
    let twice = plain.repeat(2);
    let damaged = twice.replacen("e\nsfen", "sfen", 1);
    let (kept, ran) =
        convert("a.plain", damaged.as_bytes(), "psv", &["--on-error", "skip", "--json"]);
    assert_eq!(kept, [&psv[40..], &psv].concat());
    assert_eq!(ran.code, Some(3));
    assert!(ran.text().contains(r#""skipped":1"#), "{}", ran.text());
}

const BOOK: &str = "\
#YANEURAOU-DB2016 1.00
# NOE:2
sfen lnsgkgsnl/1r5b1/p1ppppppp/1p7/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 3
2g2f none 48 30 1
6g6f 8d8e 12 30 1
sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1
7g7f 3c3d 34 32 2
";

#[test]
fn each_move_of_a_book_is_a_record() {
    let (lines, _) = convert("a.db", BOOK.as_bytes(), "sfen", &[]);
    let positions: Vec<&str> = BOOK.lines().filter_map(|line| line.strip_prefix("sfen ")).collect();
    let expected = format!(
        "{0}\t2g2f\t48\t3\tu\n{0}\t6g6f\t12\t3\tu\n{1}\t7g7f\t34\t1\tu\n",
        positions[0], positions[1]
    );
    assert_eq!(text(&lines), expected);
    let (book, _) = convert("a.sfen", &lines, "db", &[]);
    let expected = format!(
        "#YANEURAOU-DB2016 1.00\nsfen {0}\n2g2f none 48\nsfen {0}\n6g6f none 12\nsfen {1}\n7g7f none 34\n",
        positions[0], positions[1]
    );
    assert_eq!(text(&book), expected);

    // From book to book, the lines of moves stay the same, each below its position.
    let (book, _) = convert("a.db", BOOK.as_bytes(), "db", &["--max-abs-eval", "34"]);
    let expected = format!(
        "#YANEURAOU-DB2016 1.00\nsfen {0}\n6g6f 8d8e 12 30 1\nsfen {1}\n7g7f 3c3d 34 32 2\n",
        positions[0], positions[1]
    );
    assert_eq!(text(&book), expected);
    let (packed, _) = convert("a.db", BOOK.as_bytes(), "hcp", &[]);
    assert_eq!(packed.len(), 3 * 32);
}

#[test]
fn a_book_needs_plies_and_an_empty_one_is_its_header() {
    let hcpe = bytes(&format!("{}0a008e070100", kyokumen_testing::literals::START_HCP));
    let (_, ran) = convert("a.hcpe", &hcpe, "db", &[]);
    assert_data_eq!(
        ran.stderr,
        str![[r#"
error: cannot convert [..]/a.hcpe to db: db needs ply, which hcpe lacks; use --fill ply=0

"#]]
    );
    let (book, _) = convert("a.hcpe", b"", "db", &["--fill", "ply=1"]);
    assert_eq!(text(&book), "#YANEURAOU-DB2016 1.00\n");
    let (zst, _) = convert("a.psv", &start_psv(), "db.zst", &[]);
    let expected = format!("#YANEURAOU-DB2016 1.00\nsfen {}\n2g2f none 10\n", sfen::START);
    assert_eq!(text(&zstd::decode_all(&zst[..]).unwrap()), expected);
}

#[test]
fn shards_of_a_book_join_to_the_book() {
    let dir = Dir::new();
    dir.write("a.db", BOOK);
    let search = ["a.db", "-o", ".", "--depth=1", "--nodes=10", "--hash-mb=1", "--progress=none"];
    let filter = |words: &[&str]| dir.program("gen-filter", search).args(words).succeeds();
    filter(&["--name", "whole"]);
    let whole = dir.read("whole.db");
    let expected = convert("a.db", BOOK.as_bytes(), "db", &[]).0;
    assert_eq!(text(&whole), text(&expected));
    let mut shards = Vec::new();
    for shard in 1..=3 {
        filter(&["--name", "part", "--shard", &format!("{shard}/3")]);
        shards.extend(dir.read(format!("part-0000{shard}-of-00003.db")));
    }
    assert_eq!(text(&shards), text(&whole));
}

/// Records are joined to games, from the start position and from another one. The independent implementation of rsshogi
/// reads the games.
#[test]
fn packs_are_read_and_written_as_by_rsshogi() {
    use rsshogi::records::formats::pack::{PackEndReason, PackGameResult, decode_game};
    let usi = "startpos moves 7g7f 3c3d 8h2b+ 3a2b B*4e\n\
               sfen 4k4/9/9/9/9/9/9/9/4K4 b G2r2b3g4s4n4l18p 57 moves G*5b\n";
    let jsonl = convert("a.usi", usi.as_bytes(), "jsonl", &[]).0;
    let filled = ["--fill", "eval=-7,result=black"];
    let (pack, ran) = convert("a.jsonl", &jsonl, "pack", &filled);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let mut rest = &pack[..];
    let mut games = Vec::new();
    while !rest.is_empty() {
        let (game, len) = decode_game(rest).unwrap();
        assert_eq!(game.result, PackGameResult::BlackWin);
        assert_eq!(game.end_reason, PackEndReason::Resign);
        assert!(game.plies.iter().all(|ply| ply.eval == -7));
        games.push(game.plies.iter().map(|ply| ply.mv.to_move().to_usi()).collect::<Vec<_>>());
        rest = &rest[len..];
    }
    assert_eq!(games, [vec!["7g7f", "3c3d", "8h2b+", "3a2b", "B*4e"], vec!["G*5b"]]);
    let back = convert("a.pack", &pack, "jsonl", &[]).0;
    for (back, made) in text(&back).lines().zip(text(&jsonl).lines()) {
        let value = |line: &str, key: &str| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()[key].clone()
        };
        for key in ["sfen", "move", "ply"] {
            assert_eq!(value(back, key), value(made, key));
        }
        assert_eq!(value(back, "eval"), -7);
        assert_eq!(value(back, "result"), "black");
    }
    assert_eq!(text(&back).lines().count(), 6);
}

#[test]
fn the_unreadable_rest_of_a_pack_is_one_bad_record() {
    let game = [1, 0x3b, 0x1e, 0x64, 0x00, 0x15, 0x0a, 0x9c, 0xff, 0x81, 0x00, 0x00];
    let pack = [&game[..], &[9], &game].concat();
    let (kept, ran) = convert("a.pack", &pack, "hcp", &["--on-error", "quarantine", "--json"]);
    assert_eq!(kept.len(), 2 * 32);
    assert_eq!(ran.code, Some(3));
    assert!(ran.text().contains(r#""quarantined":1"#), "{}", ran.text());
}
