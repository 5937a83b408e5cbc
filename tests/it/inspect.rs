//! `kyokumen inspect`: boards, move encodings, ranges, samples.
//!
//! Literal records contain the start position with 2g2f, 10 centipawns, ply 1, and a win of Black.

use std::fs::File;

use kyokumen::format::packed::Family;
use kyokumen::format::{Format, HandOrder, reference};
use kyokumen::shogi::{Setup, sfen};
use kyokumen::storage::checksum::hex;
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use kyokumen_testing::literals::{START_HCP, START_PSV, bytes};

use crate::archive::archive;
use crate::harness::{Dir, Ran};

fn inspect(name: &str, content: &[u8], options: &[&str]) -> Ran {
    let dir = Dir::new();
    dir.write(name, content);
    dir.kyokumen(["inspect", name]).args(options).run()
}

fn start_psv() -> Vec<u8> {
    bytes(&format!("{START_PSV}0a008e0701000100"))
}

#[test]
fn the_first_record_is_shown_with_its_board() {
    let output = inspect("a.psv", &start_psv().repeat(3), &["--hex"]);
    let expected = format!(
        "\
a.psv: psv, 3 records
  sample        3 records, 0 unreadable
  hand order    undetermined (no record distinguishes the orders)
  padding       always zero
  stored moves  3 legal, 0 illegal, 0 malformed, 0 none
  encoding      yaneuraou (no stored move distinguishes the encodings)

record 0 (file offset 0)
  9  8  7  6  5  4  3  2  1
  l  n  s  g  k  g  s  n  l  a
  .  r  .  .  .  .  .  b  .  b
  p  p  p  p  p  p  p  p  p  c
  .  .  .  .  .  .  .  .  .  d
  .  .  .  .  .  .  .  .  .  e
  .  .  .  .  .  .  .  .  .  f
  P  P  P  P  P  P  P  P  P  g
  .  B  .  .  .  .  .  R  .  h
  L  N  S  G  K  G  S  N  L  i
in hand: Black -, White -
to move: Black
sfen      {}
move      2g2f
eval      10 cp, seen from Black
ply       1
result    black won
in check  no
key       3b45a485c44f2fea723ce26c5376d45d
bytes     {START_PSV}0a008e0701000100
",
        sfen::START
    );
    assert_eq!(output.text(), expected);
    assert_eq!((output.code, &*output.stderr), (Some(0), ""));
    let kanji = inspect("a.psv", &start_psv(), &["--kanji"]);
    let kanji = kanji.text();
    assert!(kanji.contains("|v香v桂v銀v金v玉v金v銀v桂v香|一\n"), "{kanji}");
}

#[test]
fn json_has_one_line_per_record() {
    let bad = [0; 40];
    let mut illegal = start_psv();
    illegal[34..36].copy_from_slice(&[0x0d, 0x07]);
    illegal[39] = 0xa5;
    let content = [&start_psv()[..], &illegal, &bad].concat();
    let output = inspect("a.psv", &content, &["--range", "1..", "--json"]);
    let lines: Vec<Value> =
        output.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = json!({
        "file": "a.psv", "index": 1, "offset": 40, "sfen": sfen::START, "move": "2f2e", "eval": 10,
        "ply": 1, "result": "black", "in_check": false,
        "warnings": ["move_illegal", "padding_not_zero"],
        "key": "3b45a485c44f2fea723ce26c5376d45d",
    });
    assert_eq!(lines[0], expected);
    assert_eq!((&lines[1]["index"], &lines[1]["offset"]), (&json!(2), &json!(80)));
    assert_eq!(lines[1]["error"], "byte 1: both kings are on 1a");
    assert_eq!((lines.len(), output.code), (2, Some(3)));

    let output = inspect("a.hcp", &bytes(START_HCP), &["--json", "--hex"]);
    let line = output.json();
    assert_eq!(
        (&line["move"], &line["result"], &line["hex"]),
        (&Value::Null, &Value::Null, &json!(START_HCP))
    );
}

/// Both output forms of `inspect` show all fields of a `jsonl` record.
#[test]
fn all_fields_of_a_game_record_are_shown() {
    let fields = r#""move":"2g2f","eval":10,"ply":1,"result":"draw","ending":"move_limit","end_ply":320,"candidates":[{"move":"2g2f","visits":900},{"move":"7g7f","visits":20}],"for_training":false"#;
    let line = format!(r#"{{"sfen":"{}",{fields}}}"#, sfen::START);
    let output = inspect("a.jsonl", line.as_bytes(), &["--json"]);
    assert!(output.text().contains(fields), "{}", output.text());
    let output = inspect("a.jsonl", line.as_bytes(), &[]);
    let shown = "\
result    draw
ended by  move limit
game      ends at move 320
visits    2g2f 900, 7g7f 20
training  not for training
in check  no
";
    assert!(output.text().contains(shown), "{}", output.text());
}

#[test]
fn a_range_beyond_the_end_is_a_usage_error() {
    let content = start_psv().repeat(3);
    let packed = zstd::encode_all(&content[..], 1).unwrap();
    for (name, content) in [("a.psv", &content), ("a.psv.zst", &packed)] {
        for range in ["3", "0..4", "4..", "2..9"] {
            let output = inspect(name, content, &["--range", range, "--json"]);
            let message = &output.stderr;
            assert_eq!(output.code, Some(2), "{name} {range}");
            assert!(
                message.contains(&format!("{name} has 3 records, numbered from 0")),
                "{message}"
            );
            assert!(output.stdout.is_empty());
        }
        for (range, lines) in [("..", 3), ("1..", 2), ("2", 1), ("..2", 2), ("3..", 0)] {
            let output = inspect(name, content, &["--range", range, "--json"]);
            assert_eq!(output.code, Some(0), "{name} {range}");
            assert_eq!(output.text().lines().count(), lines, "{name} {range}");
        }
    }
    assert_eq!(inspect("a.psv", b"", &[]).stdout, b"a.psv: psv, 0 records\n");
    assert_eq!(inspect("a.psv", b"", &["--range", "0..1"]).code, Some(2));
    assert_eq!(inspect("a.psv", &content, &["--range", "2..1"]).code, Some(2));
    assert_eq!(inspect("a.bin", &[7; 1000], &[]).code, Some(2));
}

#[test]
fn standard_input_is_not_read_to_its_end_for_the_first_record() {
    let dir = Dir::new();
    let input = dir.write("a.hcp", bytes(START_HCP).repeat(5000));
    let inspect = |range: &str| {
        let mut command = dir.kyokumen(["inspect", "-", "--from", "hcp", "--range", range]);
        command.0.stdin(File::open(&input).unwrap());
        command.run()
    };
    let shown = inspect("0").text();
    assert!(shown.starts_with("-: hcp, more than 4096 records\n"), "{shown}");
    let shown = inspect("4999").text();
    assert!(shown.contains("record 4999 (file offset 159968)\n"), "{shown}");
    let beyond = inspect("4999..5001");
    assert_data_eq!(
        beyond.transcript,
        str![[r#"
status 2
error: standard input has 5000 records, numbered from 0, but 4999..5001 ends with record 5000

"#]]
    );
}

#[test]
fn the_order_of_pieces_in_hand_identifies_the_writer() {
    let telling = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1";
    let setup: Setup = telling.parse().unwrap();
    let in_order = |order: HandOrder| {
        reference::encode_in_order(Family::Apery, &setup, order.kinds()).unwrap().to_vec()
    };
    let [canonical, gold_last, rook_first] = HandOrder::ALL.map(in_order);
    let start = bytes(START_HCP);
    for (records, expected) in [
        ([&start, &canonical], "P L N S G B R (seen in 1 record)"),
        ([&gold_last, &start], "P L N S B R G (seen in 1 record)"),
        ([&rook_first, &rook_first], "R B G S N L P (seen in 2 records)"),
        ([&canonical, &gold_last], "mixed (seen in 2 records)"),
        ([&start, &start], "undetermined (no record distinguishes the orders)"),
    ] {
        let shown = inspect("a.hcp", &records.map(Vec::as_slice).concat(), &[]).text();
        assert!(shown.contains(&format!("  hand order    {expected}\n")), "{shown}");
    }
}

#[test]
fn unusual_records_are_counted() {
    let content = archive(Format::Psv, 500);
    let bad = (0..500).filter(|i| i % 11 == 5).count();
    let padded =
        content.chunks(40).filter(|record| record[..2] != [0; 2] && record[39] != 0).count();
    let shown = inspect("a.psv", &content, &[]).text();
    for line in [
        format!("  sample        500 records, {bad} unreadable\n"),
        format!("  padding       not zero in {padded} records\n"),
        format!("  stored moves  {} legal, 0 illegal, 0 malformed, 0 none\n", 500 - bad),
    ] {
        assert!(shown.contains(&line), "{shown}");
    }
}

#[test]
fn a_sample_equals_that_of_the_command_sample() {
    let dir = Dir::new();
    let bytes = archive(Format::Psv, 9000);
    let input = dir.write("a.psv", &bytes);
    dir.write("b.psv.zst", zstd::encode_all(&*bytes, 1).unwrap());
    let taken = dir.line("sample a.psv -o s.psv --count 2 --seed 5 --on-error skip").run();
    let taken_bytes = dir.read("s.psv");
    // Two records are found by seeking, 40 by reading the file. A compressed file is always read.
    let shown = |name: &str, count: &str| {
        let words = ["inspect", name, "--sample", count, "--seed", "5", "--json", "--hex"];
        let lines = dir.kyokumen(words).run().text();
        let lines: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines
            .iter()
            .map(|line| (line["index"].as_u64().unwrap(), line["hex"].clone()))
            .collect::<Vec<_>>()
    };
    let two = shown("a.psv", "2");
    let hexes: Vec<Value> = taken_bytes.chunks(40).map(|record| json!(hex(record))).collect();
    assert!(hexes.len() == 2, "{}", taken.stderr);
    assert_eq!(two.iter().map(|(_, hex)| hex.clone()).collect::<Vec<_>>(), hexes);
    assert_eq!(shown("b.psv.zst", "2"), two);
    let many = shown("a.psv", "40");
    assert!(many.len() == 40 && many.is_sorted_by_key(|(index, _)| *index));
    assert!(two.iter().all(|one| many.contains(one)), "a larger sample contains the smaller one");
    assert_eq!(many, shown("b.psv.zst", "40"));
    let text = dir.line("inspect a.psv b.psv.zst").run().text();
    assert_eq!(text.matches("record 0 (file offset 0)").count(), 2, "{text}");
    let mut command = dir.line("inspect - --from psv --sample 3");
    command.0.stdin(File::open(input).unwrap());
    assert_data_eq!(
        command.run().transcript,
        str![[r#"
status 2
error: standard input can only be read once, but a random sample must count the records first; write the data to a file or use --range

"#]]
    );
}
