//! Filters on the length and the ending of games, for formats of games and for consecutive records of a game.

use kyokumen::format::{Format, Game, chunks, read_games};
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use super::convert;
use super::games::{assert_succeeds, sample};
use crate::harness::Dir;

fn games(text: &[u8]) -> Vec<Game> {
    chunks(Format::Csa, text)
        .map(|chunk| read_games(Format::Csa, chunk).next().unwrap().unwrap())
        .collect()
}

/// The games of a file that `is_taken` accepts, byte for byte.
fn taken(text: &[u8], is_taken: impl Fn(&Game) -> bool) -> Vec<u8> {
    let games = chunks(Format::Csa, text).zip(games(text));
    games.filter(|(_, game)| is_taken(game)).flat_map(|(chunk, _)| chunk.to_vec()).collect()
}

/// Options, the games that they take, and their name in the counts. Each takes some games of the sample, but not all.
type Condition = (&'static [&'static str], fn(&Game) -> bool, &'static str);
const LENGTHS: [Condition; 3] = [
    (&["--min-game-plies", "100"], |game| game.moves.len() >= 100, "min_game_plies"),
    (&["--max-game-plies", "150"], |game| game.moves.len() <= 150, "max_game_plies"),
    (&["--max-game-plies", "99"], |game| game.moves.len() <= 99, "max_game_plies"),
];

#[test]
fn length_filters_select_games_in_every_format() {
    let dir = Dir::new();
    let text = sample("sample.csa");
    dir.write("a.csa", &text);
    for (options, is_taken, name) in LENGTHS {
        let expected = taken(&text, is_taken);
        let records: usize = games(&expected).iter().map(|game| game.moves.len()).sum();
        assert!(records < 2000, "{options:?}");
        let options = &[options, &["--force", "--json"]].concat();
        for from in
            ["csa", "kif", "hcpe3", "pack", "sbinpack", "jsonl", "psv", "hcpe", "sfen", "plain"]
        {
            assert_succeeds(&convert(&dir, "a.csa", &format!("b.{from}"), &["--force"]));
            for to in ["csa", "psv", from] {
                let (input, output) = (format!("b.{from}"), format!("c.{to}"));
                let fill = if (from, to) == ("hcpe", "psv") { "ply=0" } else { "" };
                let ran =
                    convert(&dir, &input, &output, &[options, &["--fill", fill][..]].concat());
                assert_succeeds(&ran);
                let counts = &ran.json()["counts"];
                assert_eq!(counts["written"], records, "{from} {to} {options:?}");
                assert_eq!(counts["filtered"], json!({name: 2000 - records}), "{from} {to}");
                dir.write("expected.csa", &expected);
                assert_succeeds(&convert(&dir, "expected.csa", &format!("d.{from}"), &["--force"]));
                let again = dir.join(format!("d.{from}"));
                assert_succeeds(&convert(
                    &dir,
                    again.to_str().unwrap(),
                    &format!("e.{to}"),
                    &["--force", "--fill", fill],
                ));
                assert!(dir.read(&output) == dir.read(format!("e.{to}")), "{from} {to}");
            }
        }
    }
}

#[test]
fn ending_filters_select_games() {
    let dir = Dir::new();
    let line = |end: &str| format!("V2.2\nPI\n+\n+2726FU\n-3334FU\n{end}\n");
    let ends = ["%TORYO", "%SENNICHITE", "%KACHI", "%TIME_UP", "%CHUDAN", "%MAX_MOVES", "%JISHOGI"];
    let text = ends.map(line);
    dir.write("a.csa", text.join("/\n").as_bytes());
    for (options, kept) in [
        (&["--ending", "normal"][..], &[0][..]),
        (&["--ending", "repetition,declaration"], &[1, 2]),
        (&["--drop-ending", "interruption, time_up"], &[0, 1, 2, 5, 6]),
        (&["--drop-ending", "normal"], &[1, 2, 3, 4, 5, 6]),
        (&["--ending", "normal,impasse", "--drop-ending", "normal"], &[6]),
        (&["--ending", "move_limit", "--result", "draw"], &[5]),
        (&["--ending", "move_limit", "--result", "black"], &[]),
        (&["--min-game-plies", "3"], &[]),
    ] {
        let expected: Vec<&str> = kept.iter().map(|&game: &usize| &*text[game]).collect();
        let expected = expected.join("/\n");
        let ran = convert(&dir, "a.csa", "b.csa", &[options, &["--force", "--json"]].concat());
        assert_succeeds(&ran);
        assert_eq!(dir.text("b.csa"), expected, "{options:?}");
        let counts = &ran.json()["counts"];
        let filtered: u64 =
            counts["filtered"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
        assert_eq!((&counts["input"], filtered), (&json!(14), 14 - 2 * kept.len() as u64));
        // The records of the same games.
        assert_succeeds(&convert(&dir, "a.csa", "c.jsonl", &["--force"]));
        assert_succeeds(&convert(&dir, "c.jsonl", "d.jsonl", &[options, &["--force"]].concat()));
        let ran = convert(&dir, "b.csa", "e.jsonl", &["--force"]);
        // If nothing was read, the exit status is 3.
        assert_eq!(ran.code, Some(if kept.is_empty() { 3 } else { 0 }));
        assert_eq!(dir.read("d.jsonl"), dir.read("e.jsonl"), "{options:?}");
    }
}

/// Programs set the flags of hcpe2 in hcpe files, too.
#[test]
fn endings_are_selected_by_the_flags_in_hcpe_records() {
    let dir = Dir::new();
    dir.write("a.csa", sample("sample.csa"));
    assert_succeeds(&convert(&dir, "a.csa", "all.hcpe", &["--limit", "3"]));
    let mut records = dir.read("all.hcpe");
    records[38 + 36] = 0x04;
    dir.write("a.hcpe", &records);
    for (option, ending, kept) in [
        ("--ending", "repetition", &records[38..76]),
        ("--drop-ending", "normal", &records[38..76]),
        ("--ending", "normal,declaration", &[&records[..38], &records[76..]].concat()),
    ] {
        assert_succeeds(&convert(&dir, "a.hcpe", "b.hcpe", &[option, ending, "--force"]));
        assert_eq!(dir.read("b.hcpe"), kept, "{option} {ending}");
    }
}

/// Games may cross blocks. Records that fail other filters still count in the length of their game.
#[test]
fn the_length_of_a_game_includes_records_that_fail_other_filters() {
    let dir = Dir::new();
    dir.write("a.csa", sample("sample.csa"));
    assert_succeeds(&convert(&dir, "a.csa", "once.psv", &[]));
    dir.write("a.psv", dir.read("once.psv").repeat(5));
    let length = ["--min-game-plies", "100"];
    let ran = convert(&dir, "a.psv", "long.psv", &length);
    assert_succeeds(&ran);
    let long = dir.read("long.psv");
    assert!(long.len() < 400_000 && long.len().is_multiple_of(5));
    for others in
        [&["--every", "3"][..], &["--max-abs-eval", "300", "--min-ply", "20"], &["--quiet"]]
    {
        let json = ["--force", "--json"];
        let ran = convert(&dir, "a.psv", "both.psv", &[&length, others, &json].concat());
        assert_succeeds(&ran);
        let counts = &ran.json()["counts"];
        let filtered = counts["filtered"].as_object().unwrap();
        let sum: u64 = filtered.values().filter_map(Value::as_u64).sum();
        assert_eq!(counts["written"].as_u64().unwrap() + sum, 10_000);
        if others[0] != "--every" {
            assert_succeeds(&convert(
                &dir,
                "long.psv",
                "one-by-one.psv",
                &[others, &["--force"]].concat(),
            ));
            assert!(dir.read("both.psv") == dir.read("one-by-one.psv"), "{others:?}");
        }
        let both = dir.read("both.psv");
        for threads in ["1", "4"] {
            let words = ["convert", "a.psv", "-o", "both.psv", "--force", "--threads", threads];
            assert_succeeds(&dir.kyokumen(words).args(length).args(others).run());
            assert!(dir.read("both.psv") == both, "{others:?}");
        }
    }
    // Of equal positions, the first one that passes the filters is kept.
    assert_succeeds(&convert(&dir, "a.psv", "d.psv", &[&length[..], &["--dedup"]].concat()));
    assert_succeeds(&convert(&dir, "long.psv", "e.psv", &["--dedup"]));
    assert!(dir.read("d.psv") == dir.read("e.psv"));
    assert!(!dir.read("d.psv").is_empty());
}

#[test]
fn shards_with_game_filters_equal_the_whole() {
    let dir = Dir::new();
    dir.write("a.csa", sample("sample.csa"));
    assert_succeeds(&convert(&dir, "a.csa", "a.hcpe3", &[]));
    let filter = |output: &str, more: &[&str]| {
        let words = ["a.hcpe3", "-o", output, "--to", "psv", "--nodes", "1", "--hash-mb", "1"];
        let games = ["--mated=relabel", "--min-game-plies=100", "--drop-ending=repetition"];
        assert_succeeds(&dir.program("gen-filter", words).args(games).args(more).run());
    };
    filter("all", &[]);
    let mut joined = Vec::new();
    for shard in 1..=7 {
        filter("shards", &["--shard", &format!("{shard}/7")]);
        joined.extend(dir.read(format!("shards/a-{shard:05}-of-00007.psv")));
    }
    assert!(joined == dir.read("all/a.psv"));
    assert!(!joined.is_empty() && joined.len() < 80_000);
}

#[test]
fn game_filters_on_missing_fields_are_refused() {
    let dir = Dir::new();
    dir.write("a.csa", sample("sample.csa"));
    for name in ["a.psv", "a.hcpe2", "a.hcp"] {
        assert_succeeds(&convert(&dir, "a.csa", name, &[]));
    }
    let mut refusals = String::new();
    for (from, options) in [
        ("a.psv", ["--ending", "normal"]),
        ("a.hcpe2", ["--ending", "time_up"]),
        ("a.hcp", ["--min-game-plies", "2"]),
        ("a.csa", ["--ending", "resignation"]),
    ] {
        let ran = convert(&dir, from, "b.jsonl", &[&options[..], &["--fill", "eval=0"]].concat());
        refusals += &ran.transcript;
    }
    let words = ["a.psv", "-o", "out", "--min-game-plies", "2"];
    refusals += &dir.program("gen-filter", words).run().transcript;
    assert_data_eq!(
        refusals,
        str![[r#"
status 2
error: --ending cannot be used with [FOLDER]/a.psv: psv records have no ending
status 2
error: --ending: hcpe2 does not store the ending time_up, so [FOLDER]/a.hcpe2 has no such games; it stores normal, repetition, declaration, move_limit
status 2
error: --min-game-plies cannot be used with [FOLDER]/a.hcp: hcp records do not store the length of their game, and this command may start reading in the middle of a game; `kyokumen convert` joins records into games and supports --min-game-plies
status 2
error: invalid value 'resignation' for '--ending <ENDING,…>': "resignation" is not an ending: expected normal, repetition, declaration, move_limit, time_up, illegal_move, interruption, impasse, or several separated by commas

For more information, try '--help'.
status 2
error: --min-game-plies cannot be used with a.psv: psv records do not store the length of their game, and this command may start reading in the middle of a game; `kyokumen convert` joins records into games and supports --min-game-plies

"#]]
    );
    assert!(!dir.join("out").exists());
}
