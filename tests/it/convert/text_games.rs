//! Text formats of games: a file has one notation, one encoding and one line end, and losses are counted.

use kyokumen::format::{Format, Game, chunks, read_games};
use serde_json::json;
use snapbox::{assert_data_eq, str};

use kyokumen_testing::literals::TWO_KINGS;

use super::games::assert_succeeds;
use super::{convert, converter};
use crate::harness::{Dir, Ran};

/// A game with names, times, comments, a bookmark and a variation.
const GAME: &str = "\
開始日時：2024/01/01 10:00:00
手合割：平手
先手：甲
後手：乙
手数----指手---------消費時間--
*初手の前
   1 ７六歩(77)   ( 0:10/00:00:10)
*一手目
&しおり
   2 ３四歩(33)   ( 0:12/00:00:12)
   3 ２二角成(88) ( 0:15/00:00:25)
   4 同　銀(31)   ( 0:03/00:00:15)+
   5 投了         ( 0:06/00:00:31)

変化：4手
   4 同　飛(82)   ( 0:05/00:00:17)
   5 ４五角打     ( 0:05/00:00:30)
";

const TEXT_FORMATS: [Format; 7] =
    [Format::Kif, Format::Kifu, Format::Ki2, Format::Ki2u, Format::Csa, Format::Jkf, Format::Usi];

const KIF_FORMATS: [Format; 4] = [Format::Kif, Format::Kifu, Format::Ki2, Format::Ki2u];

/// The text of a game in the notation and encoding of a KIF or KI2 format.
fn written(format: Format, text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    format.write_chunk(text.as_bytes(), &mut bytes).unwrap();
    bytes
}

fn games(format: Format, bytes: &[u8]) -> Vec<Game> {
    chunks(format, bytes).flat_map(|chunk| read_games(format, chunk)).map(Result::unwrap).collect()
}

fn moves(game: &Game) -> String {
    game.moves.iter().map(|played| played.best_move.to_string()).collect::<Vec<_>>().join(" ")
}

/// Asserts that bytes have the encoding, line ends and notation of their format.
#[track_caller]
fn assert_is_of_format(format: Format, bytes: &[u8]) {
    assert!(!bytes.contains(&b'\r'), "{format}");
    let text = str::from_utf8(bytes);
    let is_shift_jis = matches!(format, Format::Kif | Format::Ki2);
    assert_eq!(text.is_err(), is_shift_jis, "{format}: {}", String::from_utf8_lossy(bytes));
    for chunk in chunks(format, bytes) {
        let mut again = Vec::new();
        format.write_chunk(chunk, &mut again).unwrap();
        assert!(again.ends_with(chunk), "{format} would be rewritten");
    }
}

fn counts(ran: &Ran) -> serde_json::Value {
    assert_succeeds(ran);
    ran.json()["counts"].clone()
}

/// For every pair of formats, also if the name of the input states another of these formats.
#[test]
fn games_have_the_notation_and_encoding_of_the_output_format() {
    let dir = Dir::new();
    for from in KIF_FORMATS {
        for name in KIF_FORMATS {
            dir.write(format!("{from}-as.{name}"), written(from, GAME));
        }
    }
    assert_succeeds(&convert(&dir, "kif-as.kif", "as.csa", &[]));
    assert_succeeds(&convert(&dir, "kif-as.kif", "as.jkf", &[]));
    assert_succeeds(&convert(&dir, "kif-as.kif", "as.usi", &[]));
    let inputs = dir.names("");
    for input in &inputs {
        for to in TEXT_FORMATS {
            let ran = convert(&dir, input, &format!("out.{to}"), &["--force", "--json"]);
            let counts = counts(&ran);
            assert_eq!((&counts["games"], &counts["written"]), (&json!(1), &json!(4)), "{input}");
            let out = dir.read(format!("out.{to}"));
            if input != "as.usi" && to != Format::Csa && to != Format::Usi && to != Format::Jkf {
                assert_is_of_format(to, &out);
            }
            let games = games(to, &out);
            assert_eq!(games.len(), 1, "{input} to {to}");
            assert_eq!(moves(&games[0]), "7g7f 3c3d 8h2b+ 3a2b", "{input} to {to}");
            if input == "kif-as.kif" && KIF_FORMATS.contains(&to) {
                let info = &games[0].info;
                assert_eq!(info.headers.len(), 3, "{to}: {info:?}");
                let annotation = games[0].moves[0].annotation.as_ref().unwrap();
                assert_eq!(annotation.comments, ["一手目"], "{to}");
                let variations = &games[0].moves[3].annotation.as_ref().unwrap().variations;
                assert_eq!(variations.len(), 1, "{to}");
            }
        }
    }
}

/// Two encodings, two line ends and two notations become one of each, with every command that joins files.
#[test]
fn files_in_several_encodings_become_one_text() {
    let dir = Dir::new();
    let crlf = |bytes: Vec<u8>| {
        let lines: Vec<_> = bytes.split(|&byte| byte == b'\n').collect();
        lines.join(&b"\r\n"[..])
    };
    dir.write("1.kif", crlf(written(Format::Kif, GAME)));
    dir.write("2.kif", GAME.replace('甲', "丙").as_bytes());
    dir.write("3.kif", written(Format::Ki2, &GAME.replace('甲', "丁")));
    dir.write("4.kifu", GAME.replace('甲', "戊").as_bytes());
    for to in [Format::Kif, Format::Kifu] {
        let out = format!("out.{to}");
        for command in ["convert", "shuffle", "dedup --key bytes", "interleave", "sample --count 9"]
        {
            let files = ["1.kif", "2.kif", "3.kif", "4.kifu", "-o", &out, "--force"];
            dir.line(command).args(files).succeeds();
            let bytes = dir.read(&out);
            assert_is_of_format(to, &bytes);
            let mut names: Vec<String> =
                games(to, &bytes).iter().map(|game| game.info.headers[1].value.clone()).collect();
            names.sort();
            assert_eq!(names, ["丁", "丙", "戊", "甲"], "{command} to {to}");
        }
    }
}

#[test]
fn encoding_sets_the_encoding_of_kif_and_ki2() {
    let dir = Dir::new();
    dir.write("a.kif", written(Format::Kif, GAME));
    assert_succeeds(&convert(&dir, "a.kif", "b.kif", &["--encoding", "utf-8"]));
    assert!(dir.text("b.kif").contains("先手：甲\n"));
    assert_succeeds(&convert(&dir, "b.kif", "c.ki2u", &["--encoding", "cp932"]));
    assert_is_of_format(Format::Ki2, &dir.read("c.ki2u"));
    let ran = convert(&dir, "a.kif", "d.csa", &["--encoding", "utf-8"]);
    assert_data_eq!(
        ran.transcript,
        str![[r#"
status 2
error: --encoding applies only to kif, kifu, ki2 and ki2u, but the output is csa

"#]]
    );
    let ran = convert(&dir, "a.kif", "d.kif", &["--encoding", "euc-jp"]);
    assert_eq!(ran.code, Some(2));
}

#[test]
fn csa_version_sets_the_version() {
    let dir = Dir::new();
    dir.write("a.kif", written(Format::Kif, GAME));
    for (version, first) in [("2.2", "V2.2\n"), ("3.0", "'CSA encoding=UTF-8\nV3.0\n")] {
        for options in [&[][..], &["--mirror"]] {
            let options = [&["--csa-version", version, "--force"], options].concat();
            assert_succeeds(&convert(&dir, "a.kif", "b.csa", &options));
            assert!(dir.read("b.csa").starts_with(first.as_bytes()), "{version}");
        }
    }
    // Games copied from csa to csa keep their version without the option.
    for (options, first) in [(&[][..], "'CSA"), (&["--csa-version", "2.2"], "V2.2\n")] {
        assert_succeeds(&convert(&dir, "b.csa", "e.csa", &[options, &["--force"]].concat()));
        assert!(dir.read("e.csa").starts_with(first.as_bytes()), "{options:?}");
    }
    dir.write("c.psv", super::literal(Format::Psv));
    for make_games in ["joined", "single"] {
        let options = ["--csa-version", "3.0", "--force", "--make-games", make_games];
        assert_succeeds(&convert(&dir, "c.psv", "c.csa", &options));
        assert!(dir.text("c.csa").contains("V3.0\n"));
    }
    let ran = convert(&dir, "a.kif", "d.kifu", &["--csa-version", "3.0"]);
    let expected = "--csa-version requires csa output, but the output is kifu";
    assert!(ran.code == Some(2) && ran.stderr.contains(expected), "{}", ran.stderr);
}

#[test]
fn characters_that_shift_jis_lacks_make_a_bad_record() {
    let dir = Dir::new();
    let emoji = GAME.replace("一手目", "👍");
    dir.write("a.kifu", (GAME.to_owned() + &emoji + GAME).as_bytes());
    let ran = convert(&dir, "a.kifu", "b.kif", &[]);
    assert_data_eq!(
        ran.transcript,
        str![[r#"
status 1
kifu to kif: games are copied; only text encoding and line ends change
error: [FOLDER]/a.kifu, record 4 (file offset 439): a comment has '👍' (U+1F44D), which Shift_JIS cannot encode; use kifu or ki2u, which are UTF-8

"#]]
    );
    for options in [&[][..], &["--canonical"], &["--mirror"]] {
        let options = [&["--on-error", "quarantine", "--force", "--json"], options].concat();
        let ran = convert(&dir, "a.kifu", "b.kif", &options);
        assert_eq!(ran.code, Some(3));
        let counts = &ran.json()["counts"];
        assert_eq!((&counts["written"], &counts["games"]), (&json!(8), &json!(2)));
        assert_eq!(counts["bad"]["quarantined"], 4);
        assert_eq!(dir.read("b.quarantine.bin"), emoji.as_bytes());
        assert_is_of_format(Format::Kif, &dir.read("b.kif"));
    }
}

#[test]
fn lost_names_times_and_variations_are_counted() {
    let dir = Dir::new();
    dir.write("a.kif", written(Format::Kif, GAME));
    let ran = convert(&dir, "a.kif", "b.csa", &[]);
    assert_data_eq!(
        ran.transcript,
        str![[r#"
status 0
kif to csa: lost if present: variations, bookmarks
4 records: 4 written, 0 filtered, 0 bad
  1 game
  1 bookmark, 1 variation not written: csa cannot hold them
  [FOLDER]/b.csa (4 records)

"#]]
    );
    let ran = convert(&dir, "a.kif", "b.csa", &["--force", "--json"]);
    assert_eq!(counts(&ran)["lost_info"], json!({"variations": 1, "bookmarks": 1}));
    let ran = convert(&dir, "a.kif", "b.usi", &["--json"]);
    let lost = json!({"headers": 3, "comments": 2, "times": 5, "variations": 1, "bookmarks": 1});
    assert_eq!(counts(&ran)["lost_info"], lost);
    let ran = convert(&dir, "a.kif", "b.ki2", &["--json"]);
    assert_eq!(counts(&ran)["lost_info"], json!({"times": 7}));
    // The same counts for the copy of a file with another notation.
    dir.write("c.ki2", written(Format::Kif, GAME));
    let ran = convert(&dir, "c.ki2", "d.ki2", &["--json"]);
    assert_eq!(counts(&ran)["lost_info"], json!({"times": 7}));
    let ran = convert(&dir, "a.kif", "e.jkf", &["--json"]);
    assert_eq!(counts(&ran)["lost_info"], json!({"bookmarks": 1}));
    for options in [&["--json", "--strict"][..], &["--json", "--strict", "--canonical", "--force"]]
    {
        let ran = convert(&dir, "a.kif", "e.kifu", options);
        assert_eq!(counts(&ran).get("lost_info"), None);
    }
    let ran = convert(&dir, "a.kif", "f.csa", &["--strict"]);
    assert_data_eq!(
        ran.transcript,
        str![[r#"
status 1
kif to csa: lost if present: variations, bookmarks
error: [FOLDER]/a.kif, record 0 (file offset 0): 1 variation, 1 bookmark would be lost; --strict allows no losses

"#]]
    );
    let ran = convert(&dir, "c.ki2", "f.ki2", &["--strict"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
}

#[test]
fn unknown_lines_stay_in_transcoded_text() {
    let dir = Dir::new();
    let turned = GAME.replace("手合割：平手\n", "手合割：平手\n盤面回転\n");
    dir.write("a.kif", written(Format::Kif, &turned));
    let ran = convert(&dir, "a.kif", "b.kifu", &["--strict", "--json"]);
    assert_eq!(counts(&ran)["warnings"], json!({"lines_skipped": 1}));
    assert_eq!(dir.read("b.kifu"), turned.as_bytes());
    let ran = convert(&dir, "a.kif", "c.kifu", &["--strict", "--canonical"]);
    let loss = "1 unparsed line would be lost; --strict allows no losses";
    assert!(ran.code == Some(1) && ran.stderr.contains(loss), "{}", ran.stderr);
}

#[test]
fn names_and_comments_stay_in_mirrored_and_shortened_games() {
    let dir = Dir::new();
    dir.write("a.kif", written(Format::Kif, GAME));
    for options in [&["--mirror"][..], &["--canonical"], &["--limit", "2"], &["--fill", "eval=0"]] {
        let options = [options, &["--force", "--json"]].concat();
        let ran = convert(&dir, "a.kif", "b.kifu", &options);
        assert_eq!(counts(&ran)["games"], 1, "{options:?}");
        let game = games(Format::Kifu, &dir.read("b.kifu")).remove(0);
        assert_eq!(game.info.headers.len(), 3, "{options:?}");
        assert_eq!(game.info.comments, ["初手の前"], "{options:?}");
        let annotation = game.moves[0].annotation.as_ref().unwrap();
        assert_eq!(
            (&annotation.comments[..], annotation.elapsed_ms),
            (&["一手目".to_owned()][..], Some(10_000))
        );
        let has_end = game.moves.len() == 4;
        assert_eq!(game.info.end_elapsed_ms.is_some(), has_end, "{options:?}");
    }
}

#[test]
fn positions_without_a_move_are_diagrams() {
    let dir = Dir::new();
    let (one, two) = ("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1", "4k4/9/9/9/9/9/9/9/4K4 w - 8");
    dir.write("p.sfen", format!("{one}\n{two}\n").as_bytes());
    for to in ["kif", "kifu", "ki2", "ki2u", "bod", "csa", "jkf"] {
        let ran = convert(&dir, "p.sfen", &format!("p.{to}"), &["--json"]);
        let counts = counts(&ran);
        assert_eq!(counts["written"], 2, "{to}");
        if to != "bod" {
            assert_eq!((&counts["games"], &counts["positions"]), (&json!(0), &json!(2)), "{to}");
        }
        assert_succeeds(&convert(&dir, &format!("p.{to}"), "again.sfen", &["--force"]));
        let again = dir.text("again.sfen");
        let boards = |text: &str| -> Vec<String> {
            let words = |line: &str| line.split(' ').take(3).collect::<Vec<_>>().join(" ");
            text.lines().map(words).collect()
        };
        assert_eq!(boards(&again), boards(&format!("{one}\n{two}\n")), "{to}");
    }
    let ran = convert(&dir, "p.sfen", "p.usi", &[]);
    assert_data_eq!(
        ran.transcript,
        str![[r#"
status 1
sfen to usi: lost if present: eval, result; consecutive records are joined into games
error: [FOLDER]/p.sfen, record 0 (file offset 0): the position has no move, which usi needs; kif, ki2, bod, csa and jkf can hold positions without a move

"#]]
    );
    // Packed positions have no moves.
    dir.write("a.hcp", super::literal(Format::Hcp));
    let ran = convert(&dir, "a.hcp", "a.kifu", &[]);
    assert_data_eq!(
        ran.transcript,
        str![[r#"
status 0
hcp to kifu: each position becomes a game without moves
1 record: 1 written, 0 filtered, 0 bad
  1 position
  [FOLDER]/a.kifu (1 record)

"#]]
    );
    let ran = convert(&dir, "a.hcp", "a.usi", &[]);
    assert_data_eq!(
        ran.transcript,
        str![[r#"
status 2
error: cannot convert [FOLDER]/a.hcp to usi: usi needs a move, and hcp has none; kif, ki2, bod, csa and jkf can hold positions without a move

"#]]
    );
}

#[test]
fn a_position_without_a_move_splits_a_game() {
    let dir = Dir::new();
    let start = kyokumen::shogi::sfen::START;
    let second = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2";
    let lines = [
        format!("{start}\t7g7f\t-\t1\tb"),
        format!("{second}\t-\t30\t2\tb"),
        format!("{second}\t3c3d\t-\t2\tb"),
    ];
    dir.write("a.sfen", (lines.join("\n") + "\n").as_bytes());
    let ran = convert(&dir, "a.sfen", "b.kifu", &["--json"]);
    let counts = counts(&ran);
    assert_eq!((&counts["games"], &counts["positions"]), (&json!(2), &json!(1)));
    // An evaluation belongs to a move, so it is lost with a position.
    assert_eq!(counts["lost"]["eval"], 1);
    let read = games(Format::Kifu, &dir.read("b.kifu"));
    assert_eq!(read.iter().map(|game| game.is_position).collect::<Vec<_>>(), [false, true, false]);
}

/// Archives contain games that ended before the first move. Such a game must not end the run.
#[test]
fn games_without_moves_are_dropped_in_formats_of_moves() {
    let dir = Dir::new();
    dir.write("a.csa", b"PI\n+\n%TIME_UP\n/\nPI\n+\n+7776FU\n%TORYO\n");
    for to in ["usi", "hcpe3"] {
        let ran = convert(&dir, "a.csa", &format!("a.{to}"), &["--json", "--fill", "eval=0"]);
        let counts = counts(&ran);
        assert_eq!((&counts["input"], &counts["written"]), (&json!(2), &json!(1)), "{to}");
        assert_eq!(counts["filtered"]["no_move"], 1, "{to}");
        let ran = convert(&dir, "a.csa", "b.usi", &["--strict", "--force"]);
        assert_ne!(ran.code, Some(0));
    }
    let ran = convert(&dir, "a.csa", "a.kifu", &["--json"]);
    let counts = counts(&ran);
    assert_eq!((&counts["games"], &counts["positions"]), (&json!(1), &json!(1)));
    let text = dir.text("a.kifu");
    assert!(
        text.starts_with("手合割：平手\n手数----指手---------消費時間--\n   1 切れ負け\n"),
        "{text}"
    );
}

#[test]
fn lost_headers_and_fractions_of_seconds_are_counted_or_refused() {
    let dir = Dir::new();
    let text = "備考：一\n備考：二\n先手：A\n下手：B\n手数----指手--\n   1 ７六歩(77)\n   2 投了\n";
    dir.write("a.kifu", text.as_bytes());
    dir.write("c.csa", b"V3.0\nPI\n+\n+7776FU\nT1.5\n%TORYO\n");
    let mut transcripts = String::new();
    for (from, to) in
        [("a.kifu", "b.jkf"), ("a.kifu", "b.csa"), ("c.csa", "b.kifu"), ("c.csa", "b.jkf")]
    {
        transcripts += &convert(&dir, from, to, &["--strict"]).transcript;
        transcripts += &convert(&dir, from, to, &[]).transcript;
        std::fs::remove_file(dir.join(to)).unwrap();
    }
    assert_data_eq!(
        transcripts,
        str![[r#"
status 1
kifu to jkf: lost if present: bookmarks
error: [FOLDER]/a.kifu, record 0 (file offset 0): 2 headers would be lost; --strict allows no losses
status 0
kifu to jkf: lost if present: bookmarks
1 record: 1 written, 0 filtered, 0 bad
  1 game
  2 header entries not written: jkf cannot hold them
  [FOLDER]/b.jkf (1 record)
status 1
kifu to csa: lost if present: variations, bookmarks
error: [FOLDER]/a.kifu, record 0 (file offset 0): 2 headers would be lost; --strict allows no losses
status 0
kifu to csa: lost if present: variations, bookmarks
1 record: 1 written, 0 filtered, 0 bad
  1 game
  2 header entries not written: csa cannot hold them
  [FOLDER]/b.csa (1 record)
status 1
csa to kifu: no field is lost or filled in
error: [FOLDER]/c.csa, record 0 (file offset 0): 1 time fraction would be lost; --strict allows no losses
status 0
csa to kifu: no field is lost or filled in
1 record: 1 written, 0 filtered, 0 bad
  1 game
  1 time fraction not written: kifu cannot hold it
  [FOLDER]/b.kifu (1 record)
status 1
csa to jkf: no field is lost or filled in
error: [FOLDER]/c.csa, record 0 (file offset 0): 1 time fraction would be lost; --strict allows no losses
status 0
csa to jkf: no field is lost or filled in
1 record: 1 written, 0 filtered, 0 bad
  1 game
  1 time fraction not written: jkf cannot hold it
  [FOLDER]/b.jkf (1 record)

"#]]
    );
    // A copy loses nothing, and CSA V3.0 has fractions of seconds.
    for (to, options) in [("d.csa", &[][..]), ("e.csa", &["--csa-version", "3.0"])] {
        let ran = convert(&dir, "c.csa", to, &[options, &["--strict"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    let ran = convert(&dir, "c.csa", "f.csa", &["--csa-version", "2.2", "--strict"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
}

/// Such chunks are copied, but they do not count as games.
#[test]
fn blank_texts_and_lines_without_moves_are_not_games() {
    for (name, text) in [("a.kif", "\n\n"), ("a.usi", "startpos\n"), ("a.jkf", "\n")] {
        let dir = Dir::new();
        dir.write(name, text.as_bytes());
        for options in [&["--json"][..], &["--json", "--canonical", "--force"]] {
            let ran = convert(&dir, name, &name.replace('a', "b"), options);
            assert_eq!(ran.code, Some(3), "{name}");
            let games = ran.json()["counts"].get("games").and_then(serde_json::Value::as_u64);
            assert_eq!(games.unwrap_or(0), 0, "{name} {options:?}");
        }
    }
}

/// Two files whose games begin without a header, joined and read again.
#[test]
fn joined_files_without_headers_keep_their_games() {
    let dir = Dir::new();
    let diagram = format!("{TWO_KINGS}先手の持駒：金\n");
    let list = "手数----指手---------消費時間--\n";
    let game = format!("備考：問\n{diagram}{list}   1 ５八玉(59)\n   2 投了\n");
    let white =
        "後手番\n手合割：平手\n手数----指手---------消費時間--\n   1 ３四歩(33)\n   2 投了\n";
    dir.write("a.kifu", game.as_bytes());
    dir.write("b.kifu", white.as_bytes());
    let both = [dir.join("a.kifu"), dir.join("b.kifu"), dir.join("a.kifu")];
    assert_succeeds(&converter(&dir).args(&both).args(["-o", "c.kifu"]).run());
    assert_succeeds(&convert(&dir, "c.kifu", "c.usi", &[]));
    let even = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL";
    let king = "sfen 4k4/9/9/9/9/9/9/9/4K4 b G 1 moves 5i5h resign\n";
    let expected = format!("{king}sfen {even} w - 1 moves 3c3d resign\n{king}");
    assert_eq!(dir.text("c.usi"), expected);

    dir.write("a.bod", format!("手数＝9\n{diagram}後手番\n").as_bytes());
    let both = [dir.join("a.bod"), dir.join("a.bod")];
    assert_succeeds(&converter(&dir).args(&both).args(["-o", "c.bod"]).run());
    assert_succeeds(&convert(&dir, "c.bod", "c.sfen", &[]));
    let expected = "4k4/9/9/9/9/9/9/9/4K4 w G 10\n".repeat(2);
    assert_eq!(dir.text("c.sfen"), expected);
}

/// Missing moves make a bad record, never a position that did not occur.
#[test]
fn a_file_with_missing_moves_has_a_bad_record() {
    let dir = Dir::new();
    let head = "手合割：平手\n手数----指手---------消費時間--\n";
    dir.write("a.kifu", format!("{head}1 ７六歩(77)\n4 ８四歩(83)\n").as_bytes());
    let ran = convert(&dir, "a.kifu", "a.jsonl", &["--on-error", "quarantine"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert_eq!(dir.text("a.jsonl").lines().count(), 1);
}
