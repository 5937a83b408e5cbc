//! Consecutive records of a game are joined to the game.

use kyokumen::format::{Format, chunks};
use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::convert;
use super::games::{assert_succeeds, sample};
use crate::harness::{Dir, Ran};

/// Formats of single records with moves, and the values that must be filled in.
const RECORDS: [(&str, &str); 7] = [
    ("psv", ""),
    ("hcpe", ""),
    ("hcpe2", ""),
    ("hcpe42", "end_ply=0"),
    ("sfen", ""),
    ("jsonl", ""),
    ("plain", ""),
];

const GAMES: [&str; 6] = ["hcpe3", "sbinpack", "pack", "csa", "kif", "usi"];

/// Writes the sample of games as records to `a.FORMAT`. Returns the number of games.
fn write_sample(dir: &Dir, format: &str, fill: &str) -> u64 {
    dir.write("sample.csa", sample("sample.csa"));
    let options = ["--fill", fill, "--force"];
    assert_succeeds(&convert(dir, "sample.csa", &format!("a.{format}"), &options));
    chunks(Format::Csa, &sample("sample.csa")).count() as u64
}

fn games(ran: &Ran) -> u64 {
    ran.json()["counts"]["games"].as_u64().unwrap()
}

#[test]
fn records_of_every_format_survive_the_conversion_to_games_and_back() {
    for (from, fill) in RECORDS {
        let dir = Dir::new();
        let number = write_sample(&dir, from, fill);
        let input = format!("a.{from}");
        for to in GAMES {
            let (there, back) = (format!("b.{to}"), format!("c.{from}"));
            let ran = convert(&dir, &input, &there, &["--json", "--force"]);
            assert_succeeds(&ran);
            assert_eq!(games(&ran), number, "{from} {to}");
            assert_eq!(ran.json()["make_games"], "joined");
            let lost = &ran.json()["counts"]["lost"];
            if to == "usi" {
                // usi writes a result only with an ending, which few formats of records hold.
                let holds_ending = matches!(from, "hcpe2" | "jsonl");
                let results = lost["result"].as_u64().unwrap_or_default();
                assert!(lost["eval"] == 2000, "{from} {lost}");
                assert!(holds_ending || results == 2000, "{from} {lost}");
                continue;
            }
            let fill = ["--fill", fill, "--force"];
            assert_succeeds(&convert(&dir, &there, &back, &fill));
            // hcpe3 cannot represent every ending.
            let is_same = dir.read(&back) == dir.read(&input);
            assert!(is_same || (to == "hcpe3" && lost["ending"].is_u64()), "{from} {to} {lost}");
        }
        if from == "jsonl" {
            // jsonl loses nothing.
            assert_succeeds(&convert(&dir, "a.jsonl", "c.csa", &["--strict"]));
            assert_eq!(dir.read("c.csa"), sample("sample.csa"));
        }
    }
}

/// Blocks and files may end within games.
#[test]
fn games_are_joined_across_blocks_and_files() {
    let dir = Dir::new();
    let number = write_sample(&dir, "psv", "");
    let once = dir.read("a.psv");
    assert_succeeds(&convert(&dir, "a.psv", "once.hcpe3", &[]));
    // The last copy of the last game lacks its last record.
    let all = [&once.repeat(6)[..], &once[..once.len() - 40]].concat();
    dir.write("all.psv", &all);
    dir.write("all.psv.zst", zstd::encode_all(&*all, 1).unwrap());
    let ran = convert(&dir, "all.psv", "all.hcpe3", &["--json"]);
    assert_eq!(games(&ran), 7 * number);
    let whole = dir.read("all.hcpe3");
    assert!(whole.starts_with(&dir.read("once.hcpe3").repeat(6)));
    for cut in [1, 40 * 17, 40 * 4095, 40 * 4097, all.len() - 40].map(|cut| cut / 40 * 40) {
        dir.write("1.psv", &all[..cut]);
        dir.write("2.psv", &all[cut..]);
        let path = dir.join("2.psv");
        let ran = convert(&dir, "1.psv", "b.hcpe3", &[path.to_str().unwrap(), "--force"]);
        assert_succeeds(&ran);
        assert!(dir.read("b.hcpe3") == whole, "{cut}");
    }
    for options in
        [&["--threads", "1"][..], &["--threads", "3"], &["--dedup", "--result", "black,white,draw"]]
    {
        let words = ["convert", "all.psv.zst", "-o", "b.hcpe3", "--force"];
        assert_succeeds(&dir.kyokumen(words).args(options).run());
        assert!(dir.read("b.hcpe3") == whole || options[0] == "--dedup", "{options:?}");
    }
    // With --dedup only the first copy of each game is left.
    assert!(dir.read("b.hcpe3").len() <= dir.read("once.hcpe3").len());
}

/// 7g7f 3c3d 2g2f with plies, evaluations and a win of Black.
const LINES: [&str; 3] = [
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\t7g7f\t10\t1\tb",
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2\t3c3d\t-20\t2\tb",
    "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 3\t2g2f\t30\t3\tb",
];

#[test]
fn a_game_ends_where_the_next_record_does_not_follow() {
    let [one, two, three] = LINES;
    let whole = "startpos moves 7g7f 3c3d 2g2f\n";
    let start = |line: &str| format!("sfen {} moves", line.split('\t').next().unwrap());
    let alone = |line: &str| format!("{} {}\n", start(line), line.split('\t').nth(1).unwrap());
    let (first, rest) = ("startpos moves 7g7f\n", format!("{} 3c3d 2g2f\n", start(two)));
    let without_ply = [one, two, three].map(|line| {
        let columns: Vec<_> = line.split('\t').collect();
        [columns[0], columns[1], columns[2], "-", columns[4]].join("\t")
    });
    for (lines, expected, why) in [
        (vec![one, two, three], whole.to_owned(), "each follows"),
        (vec![one, two, three, one, two, three], whole.repeat(2), "the same game twice"),
        (without_ply.iter().map(String::as_str).collect(), whole.to_owned(), "no plies"),
        (vec![one, one, two, three], format!("{first}{whole}"), "a record twice"),
        (vec![one, three], format!("{first}{}", alone(three)), "one is missing"),
        (
            vec![three, one, two],
            format!("{}startpos moves 7g7f 3c3d\n", alone(three)),
            "another order",
        ),
        (vec!["# comment", one, "# comment", two, three], whole.to_owned(), "comments between"),
        (
            vec![one, &two.replace("\t2\tb", "\t7\tb"), three],
            format!("{first}{}{}", alone(two).replace("w - 2", "w - 7"), alone(three)),
            "plies jump",
        ),
        (
            vec![one, &two.replace("\tb", "\tw"), &three.replace("\tb", "\tw")],
            format!("{first}{rest}"),
            "another result",
        ),
        (
            vec![&one.replace("7g7f", "2g2f"), two, three],
            format!("startpos moves 2g2f\n{rest}"),
            "another move was played",
        ),
    ] {
        let dir = Dir::new();
        let text = lines.join("\n") + "\n";
        dir.write("a.sfen", text.as_bytes());
        let ran = convert(&dir, "a.sfen", "b.usi", &["--json"]);
        assert_succeeds(&ran);
        let written = dir.text("b.usi");
        assert_eq!(written, expected, "{why}");
        assert_eq!(games(&ran), expected.lines().count() as u64, "{why}");
        assert_eq!(
            ran.json()["counts"]["written"],
            lines.iter().filter(|line| !line.starts_with('#')).count()
        );
    }
}

#[test]
fn records_without_a_legal_move_are_bad() {
    let [one, two, three] = LINES;
    let mut transcripts = String::new();
    for (replacement, why) in [("\t-\t", "no move"), ("\t1a1e\t", "an illegal one")] {
        let dir = Dir::new();
        let bad = two.replace("\t3c3d\t", replacement);
        dir.write("a.sfen", format!("{one}\n{bad}\n{three}\n").as_bytes());
        let ran = convert(&dir, "a.sfen", "b.usi", &[]);
        transcripts += &ran.transcript;
        let ran = convert(&dir, "a.sfen", "b.usi", &["--on-error", "quarantine", "--json"]);
        assert_eq!((ran.code, games(&ran)), (Some(3), 2), "{why}");
        assert_eq!(dir.read("b.quarantine.bin"), format!("{bad}\n").into_bytes());
    }
    assert_data_eq!(
        transcripts,
        str![[r#"
status 1
sfen to usi: lost if present: eval, result; consecutive records are joined into games
error: [FOLDER]/a.sfen, record 1 (file offset 76): the position has no move, which usi needs; kif, ki2, bod, csa and jkf can hold positions without a move
status 1
sfen to usi: lost if present: eval, result; consecutive records are joined into games
error: [FOLDER]/a.sfen, record 1 (file offset 76): a move is illegal in its position; formats of games need legal moves

"#]]
    );
}

#[test]
fn dropped_records_split_games() {
    let dir = Dir::new();
    dir.write("a.sfen", (LINES.join("\n") + "\n").as_bytes());
    let ran = convert(&dir, "a.sfen", "b.csa", &["--json", "--max-abs-eval", "25"]);
    assert_eq!((games(&ran), &ran.json()["counts"]["filtered"]), (1, &json!({"max_abs_eval": 1})));
    let ran = convert(&dir, "a.sfen", "c.csa", &["--json", "--min-ply", "2"]);
    // A game of CSA begins at move 1.
    assert_eq!(ran.json()["counts"]["lost"], json!({"ply": 2}));
    let ran = convert(&dir, "a.sfen", "d.csa", &["--min-ply", "2", "--strict"]);
    assert_data_eq!(
        ran.transcript,
        str![[r#"
status 1
sfen to csa: consecutive records are joined into games; sfen stores no endings, so won games end by resignation
error: [FOLDER]/a.sfen, record 1 (file offset 76): ply would be lost; --strict allows no losses

"#]]
    );
    assert!(!dir.join("d.csa").exists());
}

#[test]
fn a_filled_in_ending_is_reported() {
    let dir = Dir::new();
    dir.write("a.sfen", (LINES.join("\n") + "\n").as_bytes());
    let ran = convert(&dir, "a.sfen", "b.csa", &["--json"]);
    assert_eq!(ran.json()["counts"]["invented"], json!({"ending": 3}));
    assert_eq!(ran.json()["inputs"][0]["filled_in"], json!(["ending"]));
    assert!(dir.text("b.csa").contains("%TORYO"));
    let ran = convert(&dir, "a.sfen", "c.csa", &[]);
    assert_data_eq!(
        ran.transcript,
        str![[r#"
status 0
sfen to csa: consecutive records are joined into games; sfen stores no endings, so won games end by resignation
3 records: 3 written, 0 filtered, 0 bad
  1 game
  filled in: ending in 3 records
  [FOLDER]/c.csa (3 records)

"#]]
    );
    // hcpe3 does not hold this ending, so none is invented.
    let ran = convert(&dir, "a.sfen", "b.hcpe3", &["--json"]);
    assert_eq!(ran.json()["counts"]["invented"], json!({}));
    // jsonl holds endings, so a missing ending is not filled in.
    assert_succeeds(&convert(&dir, "a.sfen", "a.jsonl", &[]));
    let ran = convert(&dir, "a.jsonl", "d.csa", &["--json"]);
    assert_eq!(ran.json()["counts"]["invented"], json!({}));
    assert_eq!(dir.read("d.csa"), dir.read("b.csa"));
}

#[test]
fn make_games_single_writes_one_game_per_record() {
    let dir = Dir::new();
    dir.write("a.sfen", (LINES.join("\n") + "\n").as_bytes());
    let ran = convert(&dir, "a.sfen", "b.usi", &["--json", "--make-games", "single"]);
    assert_eq!(ran.json()["make_games"], "single");
    assert_eq!(chunks(Format::Usi, &dir.read("b.usi")).count(), 3);
    assert_eq!(games(&ran), 3);
}

/// Games between records keep their place.
#[test]
fn games_and_records_can_be_mixed() {
    let dir = Dir::new();
    let [one, two, three] = LINES;
    dir.write("1.sfen", format!("{one}\n{two}\n").as_bytes());
    dir.write("2.usi", b"startpos moves 2g2f\n");
    dir.write("3.sfen", format!("{three}\n").as_bytes());
    let paths = ["2.usi", "3.sfen"].map(|name| dir.join(name));
    let [games, more] = paths.each_ref().map(|path| path.to_str().unwrap());
    assert_succeeds(&convert(&dir, "1.sfen", "b.usi", &[games, more]));
    let text = dir.text("b.usi");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[..2], ["startpos moves 7g7f 3c3d", "startpos moves 2g2f"]);
    assert_eq!(lines.len(), 3);
    // Without the games between them, the records become one game.
    assert_succeeds(&convert(&dir, "1.sfen", "c.usi", &[more]));
    assert_eq!(dir.read("c.usi"), b"startpos moves 7g7f 3c3d 2g2f\n");
}

/// Moves that are not for training stay in their games.
#[test]
fn a_record_not_for_training_does_not_split_a_game() {
    let dir = Dir::new();
    let line = |text: &str, fields: &str| format!("{{\"sfen\":\"{text}\",{fields}}}\n");
    let [one, two, _] = LINES.map(|line| line.split('\t').next().unwrap());
    let text = [
        line(one, "\"move\":\"7g7f\",\"eval\":1,\"result\":\"draw\",\"for_training\":false"),
        line(two, "\"move\":\"3c3d\",\"eval\":2,\"result\":\"draw\""),
    ];
    dir.write("a.jsonl", text.concat().as_bytes());
    let ran = convert(&dir, "a.jsonl", "b.hcpe3", &["--json"]);
    assert_succeeds(&ran);
    assert_eq!((games(&ran), &ran.json()["counts"]["written"]), (1, &json!(2)));
    let ran = convert(&dir, "b.hcpe3", "c.psv", &["--json"]);
    assert_eq!(ran.json()["counts"]["filtered"], json!({"not_for_training": 1}));
}
