//! `kyokumen verify`: its findings, and that its quarantine loses no byte.
//!
//! The archives are generated, so it is known which records are bad and why.

use std::fs;
use std::path::PathBuf;

use kyokumen::format::Format;
use kyokumen::shogi::sfen;
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use crate::archive::{archive, encoded, records};
use crate::harness::{Dir, Ran};

fn verify(dir: &Dir, arguments: &[&str]) -> Ran {
    dir.kyokumen(["verify", "--progress", "none"]).args(arguments).run()
}

fn report(dir: &Dir, arguments: &[&str]) -> (Option<i32>, Value) {
    let ran = verify(dir, &[arguments, &["--json"]].concat());
    (ran.code, ran.json())
}

fn finding<'a>(report: &'a Value, name: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().find(|finding| finding["name"] == name).unwrap_or(&Value::Null)
}

/// Puts the bad bytes back at the offsets that their lines state.
fn joined(dir: &Dir, stem: &str, extension: &str) -> Vec<u8> {
    let read = |name: String| dir.read(format!("q/{name}"));
    let plain = |bytes: Vec<u8>| match extension.strip_suffix(".zst") {
        Some(_) => zstd::decode_all(&bytes[..]).unwrap(),
        None => bytes,
    };
    let good = plain(read(format!("{stem}.good.{extension}")));
    let bad = plain(read(format!("{stem}.{extension}.bad")));
    let lines = read(format!("{stem}.bad.jsonl"));
    let (mut good, mut bad, mut all) = (&good[..], &bad[..], Vec::new());
    for line in String::from_utf8(lines).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let offset = usize::try_from(line["offset"].as_u64().unwrap()).unwrap();
        let bytes = usize::try_from(line["bytes"].as_u64().unwrap()).unwrap();
        let (before, rest) = good.split_at(offset - all.len());
        all.extend_from_slice(before);
        good = rest;
        let (it, rest) = bad.split_at(bytes);
        all.extend_from_slice(it);
        bad = rest;
    }
    assert!(bad.is_empty());
    [&all[..], good].concat()
}

#[test]
fn good_and_bad_records_are_separated_without_loss() {
    for format in [Format::Hcp, Format::Hcpe, Format::Psv, Format::Sfen] {
        let dir = Dir::new();
        let name = format!("a.{format}");
        let bytes = archive(format, 3000);
        dir.write(&name, &bytes);
        let (code, report) = report(&dir, &[&name, "--quarantine", "q"]);
        let bad = (0..3000).filter(|i| i % 11 == 5).count();
        assert_eq!(code, Some(3));
        assert_eq!(
            (&report["records"], &report["good"], &report["bad"]),
            (&json!(3000), &json!(3000 - bad), &json!(bad)),
            "{format}"
        );
        let error = if format == Format::Sfen { "sfen" } else { "kings_on_one_square" };
        let found = finding(&report, error);
        assert_eq!((&found["level"], &found["records"]), (&json!("error"), &json!(bad)));
        let first: Vec<u64> =
            (0..3).map(|i| found["examples"][i]["record"].as_u64().unwrap()).collect();
        assert_eq!(first, [5, 16, 27]);
        if let Some(len) = format.record_len() {
            assert_eq!(found["examples"][2]["byte"], json!(27 * len));
        }
        let good: Vec<Vec<u8>> = records(3000, 42).iter().map(|r| encoded(format, r)).collect();
        assert!(joined(&dir, "a", format.name()) == bytes, "{format}");
        if format == Format::Hcp {
            let good: Vec<u8> =
                (0..3000).filter(|i| i % 11 != 5).flat_map(|i| good[i].clone()).collect();
            assert!(dir.read("q/a.good.hcp") == good);
        }
        // The output of good records contains only good records.
        assert_eq!(verify(&dir, &[&format!("q/a.good.{format}")]).code, Some(0));
    }
}

#[test]
fn report_and_quarantine_do_not_depend_on_threads() {
    let dir = Dir::new();
    dir.write("a.psv", archive(Format::Psv, 8000));
    let text: Vec<String> = ["1", "3"]
        .map(|threads| {
            let quarantine = format!("q{threads}");
            let arguments =
                ["a.psv", "--strict", "--threads", threads, "--quarantine", &quarantine];
            verify(&dir, &arguments).text()
        })
        .into();
    assert_eq!(text[0], text[1]);
    for name in ["a.good.psv", "a.psv.bad", "a.bad.jsonl"] {
        let [one, three] = ["q1", "q3"].map(|quarantine| dir.read(format!("{quarantine}/{name}")));
        assert!(!one.is_empty() && one == three, "{name}");
    }
}

#[test]
fn warnings_make_a_record_bad_only_with_strict() {
    let dir = Dir::new();
    let quiet = format!("{}\t2g2f\t10\t1\tb\n", sfen::START);
    let illegal = format!("{}\t2g2e\t10\t1\tb\n", sfen::START);
    let check = "4k4/9/9/9/9/9/9/9/4K3r w 2b4g4s4n4l18p 1\n";
    let text = [&quiet, &illegal, check, "# a comment\n", &quiet].concat();
    dir.write("a.sfen", text.as_bytes());
    let (code, found) = report(&dir, &["a.sfen"]);
    assert_eq!((code, &found["good"], &found["comments"]), (Some(0), &json!(4), &json!(1)));
    let example = json!([{"record": 1, "byte": quiet.len()}]);
    assert_eq!(finding(&found, "move_illegal")["examples"], example);
    assert_eq!(finding(&found, "opponent_in_check")["level"], json!("warning"));
    let (code, found) = report(&dir, &["a.sfen", "--strict", "--quarantine", "q"]);
    assert_eq!((code, &found["bad"]), (Some(3), &json!(2)));
    assert_eq!(joined(&dir, "a", "sfen"), text.as_bytes());
    let bad = dir.text("q/a.sfen.bad");
    assert_eq!(bad, [&illegal, check].concat());
    let lines = dir.text("q/a.bad.jsonl");
    let line: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(line["findings"], json!(["move_illegal"]));
}

/// A last line without its end, a line too long for a position, and a game with an illegal third move.
#[test]
fn text_is_quarantined_byte_for_byte() {
    let dir = Dir::new();
    let long = "x".repeat(100_000);
    let text = format!("{0}\r\n{long}\n\n# end\n{0}", sfen::START);
    dir.write("a.sfen", text.as_bytes());
    let (code, found) = report(&dir, &["a.sfen", "--quarantine", "q"]);
    assert_eq!((code, &found["good"], &found["bad"]), (Some(3), &json!(2), &json!(3)));
    assert_eq!(finding(&found, "too_long")["records"], json!(2));
    assert!(joined(&dir, "a", "sfen") == text.as_bytes());

    let games = "startpos moves 7g7f 3c3d\nstartpos\nstartpos moves 7g7f 3c3d 7g7f\nstartpos";
    dir.write("b.usi", games.as_bytes());
    let (code, found) = report(&dir, &["b.usi", "--quarantine", "q"]);
    assert_eq!((code, &found["records"], &found["bad"]), (Some(3), &json!(5), &json!(1)));
    assert_eq!(finding(&found, "illegal_move")["examples"][0]["record"], json!(4));
    assert_eq!(joined(&dir, "b", "usi"), games.as_bytes());
}

/// The good part of a book begins with one header.
#[test]
fn the_good_part_of_a_book_has_one_header() {
    let dir = Dir::new();
    let header = std::str::from_utf8(Format::Db.header()).unwrap();
    let (good, bad) = (format!("sfen {}\n7g7f none 0\n", sfen::START), "sfen x\n7g7f none 0\n");
    for (book, expected) in [
        (format!("{header}{good}{bad}"), (format!("{header}{good}"), bad.to_owned())),
        (format!("{header}{bad}{good}"), (format!("{header}{good}"), format!("{header}{bad}"))),
    ] {
        dir.write("a.db", book.as_bytes());
        assert_eq!(verify(&dir, &["a.db", "--quarantine", "q", "--force"]).code, Some(3));
        assert_eq!((dir.text("q/a.good.db"), dir.text("q/a.db.bad")), expected);
    }
}

#[test]
fn a_truncated_record_of_a_compressed_file_is_quarantined() {
    let dir = Dir::new();
    let mut bytes = archive(Format::Psv, 200);
    bytes.truncate(bytes.len() - 7);
    dir.write("a.psv.zst", zstd::encode_all(&bytes[..], 1).unwrap());
    let (code, found) = report(&dir, &["a.psv.zst", "--quarantine", "q"]);
    assert_eq!(code, Some(3));
    assert_eq!(finding(&found, "length")["examples"][0]["byte"], json!(199 * 40));
    assert!(joined(&dir, "a", "psv.zst") == bytes);
}

#[test]
fn each_file_has_its_own_report() {
    let dir = Dir::new();
    dir.write("a.psv", archive(Format::Psv, 5));
    dir.write("b.hcp", archive(Format::Hcp, 12));
    let ran = verify(&dir, &["a.psv", "b.hcp", "--threads", "1"]);
    assert_eq!(ran.code, Some(3));
    let text = ran.text();
    let heads: Vec<&str> = text.lines().filter(|line| !line.starts_with(' ')).collect();
    let expected =
        ["a.psv: psv, 5 records: 5 good, 0 bad", "b.hcp: hcp, 12 records: 11 good, 1 bad"];
    assert_eq!(heads, expected);
}

#[test]
fn invalid_requests_are_refused_before_anything_is_written() {
    let dir = Dir::new();
    let path = |name: &str| -> PathBuf { dir.join(name) };
    fs::create_dir(path("other")).unwrap();
    for name in ["a.psv", "other/a.psv"] {
        dir.write(name, archive(Format::Psv, 3));
    }
    dir.write("a.bin", [7; 1000]);
    let mut refused = String::new();
    for arguments in [
        &["a.psv", "other/a.psv", "--quarantine", "q"][..],
        &["a.psv", "--quarantine", "a.psv"],
        &["a.bin"],
        &["-", "-", "--from", "psv"],
        &["a.psv", "--proof", "a.proofs"],
        &["--proof", "a.proofs", "--strict"],
        &[],
    ] {
        let ran = verify(&dir, arguments);
        assert_eq!(ran.text(), "", "{arguments:?}");
        refused += &ran.transcript;
        assert!(!path("q").exists());
    }
    assert_eq!(verify(&dir, &["missing.psv"]).code, Some(1));
    assert_eq!(verify(&dir, &["a.psv", "--quarantine", "q"]).code, Some(0));
    refused += &verify(&dir, &["a.psv", "--quarantine", "q"]).transcript;
    assert_data_eq!(
        refused,
        str![[r#"
status 2
error: two inputs have the same output q/a.bad.jsonl; rename one of the inputs
status 2
error: a.psv is not a folder
status 2
error: a.bin has an unknown format: neither its name nor its content shows one; specify it with --from
status 2
error: standard input can only be read once, from its start to its end: it is given more than once; write the data to a file first
status 2
error: the argument '--progress <auto|bar|plain|json|none>' cannot be used with '--proof <FILE>...'

Usage: kyokumen verify --progress <auto|bar|plain|json|none> <FILE>...

For more information, try '--help'.
status 2
error: the argument '--progress <auto|bar|plain|json|none>' cannot be used with '--proof <FILE>...'

Usage: kyokumen verify --progress <auto|bar|plain|json|none> --strict [FILE]...

For more information, try '--help'.
status 2
error: the following required arguments were not provided:
  <FILE>...

Usage: kyokumen verify --progress <auto|bar|plain|json|none> <FILE>...

For more information, try '--help'.
status 1
error: q/a.good.psv exists; replace it with --force

"#]]
    );
    assert_eq!(verify(&dir, &["a.psv", "--quarantine", "q", "--force"]).code, Some(0));
}

#[test]
fn skipped_lines_of_games_are_a_warning() {
    let dir = Dir::new();
    let game = "手合割：平手\n手数----指手---------消費時間--\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 投了\n";
    let turned = game.replace("手数-", "盤面回転\n盤面反転\n手数-");
    dir.write("a.kifu", (game.to_owned() + &turned + game).as_bytes());
    let (code, found) = report(&dir, &["a.kifu"]);
    assert_eq!((code, &found["good"]), (Some(0), &json!(6)));
    let finding = finding(&found, "lines_skipped");
    assert_eq!((&finding["level"], &finding["records"]), (&json!("warning"), &json!(1)));
    assert_eq!(
        (&finding["examples"][0]["record"], &finding["examples"][0]["what"]),
        (&json!(2), &json!("2 lines"))
    );
    // With --strict a warning makes a record bad: the whole game is quarantined.
    let (code, found) = report(&dir, &["a.kifu", "--strict", "--quarantine", "q"]);
    assert_eq!((code, &found["bad"]), (Some(3), &json!(1)));
    assert_eq!(dir.read("q/a.kifu.bad"), turned.as_bytes());
}
