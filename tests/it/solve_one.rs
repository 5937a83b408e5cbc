//! `solve` with one position on the command line: limits of depth, nodes and time, interruption, output formats.

use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::harness::{Dir, Ran};
use crate::usi::ENDLESS;

/// A mate in 137 plies where the same board recurs with other hands.
const LONG: &str = "1+P2l4/2P6/9/p5+R2/2k6/B3+P3B/9/9/9 b r4g4s4n3l14p 1";

fn solve(dir: &Dir, words: &[&str]) -> Ran {
    dir.kyokumen(["solve"]).args(words).run()
}

#[test]
fn depth_is_unlimited_unless_an_option_limits_it() {
    let dir = Dir::new();
    let ran = solve(&dir, &[LONG]);
    let text = ran.text();
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{text}");
    assert!(text.starts_with("win in 1"), "{text}");
    let mut hints = String::new();
    for (words, verdict) in [
        (["--depth", "20"], "unknown (depth limit)"),
        (["--nodes", "2000"], "unknown (node limit)"),
        (["--when-hopeless", "give-up"], "unknown (node limit)"),
    ] {
        // With several threads, the moment when a search counts as hopeless varies.
        let given_up = [&[LONG], &words[..], &["--nodes", "100000", "--threads", "1"]].concat();
        let is_hopeless = words[0] == "--when-hopeless";
        let all = if is_hopeless { given_up } else { [&[LONG], &words[..]].concat() };
        let ran = solve(&dir, &all);
        let text = ran.text();
        assert!(text.starts_with(verdict), "{text}");
        assert!(text.contains("\nlast tried "), "{text}");
        hints += &ran.transcript;
    }
    assert_data_eq!(
        hints,
        str![[r#"
status 0
no mate within 20 plies; search deeper with --depth
status 0
the search ended after 2,000 nodes; use --nodes to search more, or --time SECONDS to limit the time instead
status 0
the search stopped early because it was unlikely to finish within the node limit; use --when-hopeless go-on to search up to the limit

"#]]
    );
}

#[test]
fn hints_use_the_singular_for_one() {
    let dir = Dir::new();
    let mut hints = String::new();
    for words in [[LONG, "--depth", "1"], [LONG, "--nodes", "1"]] {
        hints += &solve(&dir, &words).transcript;
    }
    assert_data_eq!(
        hints,
        str![[r#"
status 0
no mate within 1 ply; search deeper with --depth
status 0
the search ended after 1 node; use --nodes to search more, or --time SECONDS to limit the time instead

"#]]
    );
    dir.write("a.sfen", LONG);
    assert_data_eq!(
        solve(&dir, &["a.sfen", "--nodes", "1"]).text(),
        "     1  unknown (node limit)           1 node\n"
    );
}

#[test]
fn the_time_limit_ends_a_search_with_a_hint() {
    let words = [ENDLESS, "--time", "0.3", "--hash-mb", "1", "--json"];
    let dir = Dir::new();
    let ran = solve(&dir, &words);
    let solution = ran.json();
    assert_eq!(ran.code, Some(0));
    assert_eq!((&solution["verdict"], &solution["stop"]), (&"unknown".into(), &"cancelled".into()));
    assert_eq!(solution["tsume_plies_null"], "undecided");
    assert!(solution["nodes"].as_u64() > Some(0), "{solution}");
    assert_eq!(ran.stderr, "the time limit ended the search; increase --time\n");
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/data/sample.hcp");
    assert_data_eq!(
        solve(&dir, &[sample, "--time", "1"]).transcript,
        str![[r#"
status 2
error: --time works only for a single position; limit the search of a collection with --nodes

"#]]
    );
}

#[cfg(unix)]
#[test]
fn an_interrupted_search_prints_its_progress() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    use libc::{SIGINT, SIGTERM};

    use crate::signals::send;

    let dir = Dir::new();
    for (signal, status) in [(SIGINT, 130), (SIGTERM, 143)] {
        let words = [ENDLESS, "--nodes", "1000000000000", "--hash-mb", "1", "--progress", "json"];
        let mut command = dir.kyokumen(["solve"]).args(words);
        let command = command.0.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let progress: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert!(progress["nodes"].as_u64() > Some(0) && progress["depth"].as_u64() > Some(1));
        send(signal, &child);
        let std::process::Output { status: ended, stdout, .. } = child.wait_with_output().unwrap();
        let text = String::from_utf8(stdout).unwrap();
        assert_eq!(ended.code(), Some(status), "{text}");
        assert!(text.starts_with("unknown (cancelled)\ndeepest    "), "{text}");
        let rest: Vec<Value> =
            lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        let [.., error, done] = &rest[..] else { panic!("{rest:?}") };
        assert_eq!([&error["type"], &error["message"]], ["error", "interrupted"]);
        assert_eq!([&done["type"], &done["exit_status"]], [&"done".into(), &Value::from(status)]);
    }
}

#[test]
fn tsume_lengths_of_files_need_the_option() {
    let dir = Dir::new();
    dir.write("a.sfen", "5pk2/7P1/4+R1+P1+b/8b/6R2/9/9/9/9 b 4g4s4n4l15p 1\n");
    let words = ["a.sfen", "--shortest", "--json"];
    for (more, plies, why) in
        [(&[][..], Value::Null, "not_asked".into()), (&["--tsume-plies"], 3.into(), Value::Null)]
    {
        let ran = solve(&dir, &[&words[..], more].concat());
        assert_eq!(ran.code, Some(0));
        let solution = ran.json();
        assert_eq!((&solution["tsume_plies"], &solution["tsume_plies_null"]), (&plies, &why));
    }
}

/// The first mate that is found has 13 plies. The problem is a mate in three.
#[test]
fn a_problem_has_the_line_without_futile_interpositions() {
    let dir = Dir::new();
    let problem = "5pk2/7P1/4+R1+P1+b/8b/6R2/9/9/9/9 b 4g4s4n4l15p 1";
    let words = [problem, "--threads", "1"];
    let solution = solve(&dir, &[&words[..], &["--json"]].concat()).json();
    assert_eq!((&solution["plies"], &solution["tsume_plies"]), (&13.into(), &3.into()));
    let line: Vec<&str> =
        solution["tsume_line"].as_array().unwrap().iter().map(|m| m.as_str().unwrap()).collect();
    assert_eq!((line.len(), line[0]), (3, "3c2c"));
    let text = solve(&dir, &words).text();
    assert!(text.contains(&format!("\ntsume line {}\n", line.join(" "))), "{text}");
    let game = solve(&dir, &[&words[..], &["--to", "usi"]].concat()).text();
    assert!(game.trim_end().ends_with(&format!("moves {}", line.join(" "))), "{game}");
}

#[test]
fn unusual_positions_are_solved_with_a_warning() {
    let ran = solve(&Dir::new(), &["4k4/4p4/4p4/9/9/9/9/9/9 b R 1"]);
    assert!(
        ran.stderr.contains("warning: a second White pawn on the file of 5c"),
        "{}",
        ran.stderr
    );
    assert!(ran.text().starts_with("no mate"));
}

#[test]
fn mates_are_written_as_games_in_every_format() {
    let dir = Dir::new();
    // A mate without the attacker's king, no mate, a mate by White, and a side that is already mated.
    let problems = "5pk2/7P1/4+R1+P1+b/8b/6R2/9/9/9/9 b 4g4s4n4l15p 1\n\
                    lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n\
                    +L4kp2/9/2gs1pB+R1/n1pgp4/6P2/S2G3r1/P3+b1G2/2P6/+lP1K1+n3 w 2SN2L4Pn6p 1\n\
                    4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 1\n";
    dir.write("a.sfen", problems);
    let lines = solve(&dir, &["a.sfen", "--shortest"]).text();
    for format in ["kifu", "ki2u", "csa", "jkf", "usi"] {
        let ran = solve(&dir, &["a.sfen", "--shortest", "--to", format]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stderr.starts_with("4 records: 2 win, 1 loss, 1 no mate"), "{}", ran.stderr);
        let file = format!("mates.{format}");
        dir.write(&file, &ran.stdout);
        let convert = ["convert", &file, "-o", "-", "--to", "sfen", "--on-error", "skip"];
        let moves: Vec<String> = dir
            .kyokumen(convert)
            .run()
            .text()
            .lines()
            .filter_map(|line| Some(line.split('\t').nth(1)?.to_owned()))
            .filter(|played| !played.is_empty() && played != "none")
            .collect();
        let expected: Vec<&str> = lines
            .lines()
            .flat_map(|line| {
                line.split_once("nodes").map_or("", |(_, moves)| moves).split_whitespace()
            })
            .collect();
        assert!(expected.len() > 6);
        assert_eq!(moves, expected, "{format}");
    }
    assert_data_eq!(
        solve(&dir, &["a.sfen", "--to", "psv"]).transcript,
        str![[r#"
status 2
error: invalid value 'psv' for '--to <kif|kifu|ki2|ki2u|csa|jkf|usi|html>': expected kif, kifu, ki2, ki2u, csa, jkf, usi or html

For more information, try '--help'.

"#]]
    );
    let one = solve(&dir, &["4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1", "--to", "kifu"]).text();
    assert!(one.contains("   1 ５二金打\n   2 詰み\n"), "{one}");
}

#[test]
fn games_of_mates_have_the_title_and_end_in_mate() {
    let dir = Dir::new();
    dir.write("a.sfen", "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1\t投了 夢\n");
    for (format, title, end) in [
        ("kif", "作品名：投了 夢\n", "   2 詰み\n"),
        ("kifu", "作品名：投了 夢\n", "   2 詰み\n"),
        ("ki2", "作品名：投了 夢\n", "まで1手で先手の勝ち\n"),
        ("csa", "$EVENT:投了 夢\n", "%TSUMI\n"),
        ("jkf", r#""作品名":"投了 夢""#, r#""special":"TSUMI""#),
    ] {
        let bytes = solve(&dir, &["a.sfen", "--to", format]).stdout;
        let shift_jis = ["kif", "ki2"].contains(&format);
        let text = if shift_jis {
            dir.write(format!("a.{format}"), &bytes);
            let to = if format == "kif" { "kifu" } else { "ki2u" };
            let ran =
                dir.kyokumen(["convert", &format!("a.{format}"), "-o", "-", "--to", to]).run();
            assert!(!bytes.windows(6).any(|word| word == "投了".as_bytes()));
            let mated = b"\x8b\x6c\x82\xdd";
            assert_eq!(format == "kif", bytes.windows(4).any(|word| word == mated));
            ran.text().replace("投了\n", "詰み\n")
        } else {
            String::from_utf8(bytes).unwrap()
        };
        assert!(text.contains(title) && text.contains(end), "{format}: {text}");
    }
}

/// The message about the bad line shows that the first position is solved.
#[cfg(unix)]
#[test]
fn an_interrupted_collection_writes_its_results() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let dir = Dir::new();
    let mate = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1";
    dir.write("a.sfen", format!("{mate}\nbad\n{ENDLESS}\n{mate}\n"));
    for (more, expected) in [
        (&[][..], "     1  win in 1                       0 nodes  G*5b\n"),
        (&["--to", "html"], "2 positions: 1 win, 1 bad · interrupted, the rest is missing"),
    ] {
        let words = ["a.sfen", "--nodes", "1000000000000", "--depth", "1000", "--hash-mb", "1"];
        let mut command = dir.kyokumen(["solve"]).args(words).args(more);
        let command = command.0.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        assert!(first.starts_with("a.sfen, line 2: "), "{first}");
        crate::signals::send(libc::SIGINT, &child);
        let std::process::Output { status, stdout, .. } = child.wait_with_output().unwrap();
        let text = String::from_utf8(stdout).unwrap();
        assert_eq!(status.code(), Some(130), "{text}");
        assert!(text.contains(expected), "{text}");
        let rest: Vec<String> = lines.map(|line| line.unwrap()).collect();
        assert_eq!(rest.first().map(|it| &**it), Some("2 records: 1 win, 1 bad"), "{rest:?}");
        assert_eq!(
            rest.last().map(|it| &**it),
            Some("error: interrupted after 1 position"),
            "{rest:?}"
        );
    }
}
