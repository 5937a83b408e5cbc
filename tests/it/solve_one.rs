//! One position on the command line: to any depth, in some time, and with an answer for whoever has seen enough.

use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;

use crate::usi::ENDLESS;

/// 137 plies, in which the same board comes again and again with other hands.
const LONG: &str = "1+P2l4/2P6/9/p5+R2/2k6/B3+P3B/9/9/9 b r4g4s4n3l14p 1";

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("kyokumen"));
    command.arg("solve").args(words);
    command
}

fn solve(words: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command(words).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn there_is_no_limit_of_depth_but_that_which_is_asked_for() {
    let (code, said, hint) = solve(&[LONG]);
    assert_eq!((code, &*hint), (Some(0), ""), "{said}");
    assert!(said.starts_with("win in 1"), "{said}");
    for (words, verdict, expected) in [
        (["--depth", "20"], "unknown (depth)", "no mate within 20 plies: --depth goes deeper"),
        (["--nodes", "2000"], "unknown (nodes)", "2,000 nodes were not enough: --nodes takes more"),
        (["--when-hopeless", "give-up"], "unknown (nodes)", "--when-hopeless go-on uses them"),
    ] {
        let given_up = [&[LONG], &words[..], &["--nodes", "100000"]].concat();
        let is_hopeless = words[0] == "--when-hopeless";
        let all = if is_hopeless { given_up } else { [&[LONG], &words[..]].concat() };
        let (code, said, hint) = solve(&all);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.starts_with(verdict), "{said}");
        assert!(hint.contains(expected), "{hint}");
        assert!(said.contains("\nlast line  "), "{said}");
    }
}

#[test]
fn time_ends_a_search_and_says_so() {
    let words = [ENDLESS, "--time", "0.3", "--hash-mb", "1", "--json"];
    let (code, said, hint) = solve(&words);
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(code, Some(0));
    assert_eq!((&answer["verdict"], &answer["stop"]), (&"unknown".into(), &"cancelled".into()));
    assert_eq!(answer["tsume_plies_null"], "undecided");
    assert!(answer["nodes"].as_u64() > Some(0), "{said}");
    assert_eq!(hint, "the time was not enough: --time SECONDS takes more\n");
    let (code, _, why) = solve(&["data/sample.hcp", "--time", "1"]);
    assert_eq!(code, Some(2));
    assert!(why.contains("--time is for one position"), "{why}");
}

#[cfg(unix)]
#[test]
fn an_interruption_asks_for_what_is_known() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    use libc::{SIGINT, SIGTERM};

    use crate::signals::send;

    for (signal, status) in [(SIGINT, 130), (SIGTERM, 143)] {
        let words = [ENDLESS, "--nodes", "1000000000000", "--hash-mb", "1", "--progress", "json"];
        let mut child =
            command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let progress: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert!(progress["nodes"].as_u64() > Some(0) && progress["depth"].as_u64() > Some(1));
        send(signal, &child);
        let Output { status: ended, stdout, .. } = child.wait_with_output().unwrap();
        let said = String::from_utf8(stdout).unwrap();
        assert_eq!(ended.code(), Some(status), "{said}");
        assert!(said.starts_with("unknown (cancelled)\nreached    "), "{said}");
        let rest: Vec<String> = lines.map(Result::unwrap).collect();
        assert!(rest.iter().any(|line| line.contains("interrupted")), "{rest:?}");
    }
}

#[test]
fn mates_of_files_are_measured_only_if_that_is_asked() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("a.sfen");
    std::fs::write(&file, "5pk2/7P1/4+R1+P1+b/8b/6R2/9/9/9/9 b 4g4s4n4l15p 1\n").unwrap();
    let words = [file.to_str().unwrap(), "--shortest", "--json"];
    for (more, plies, why) in
        [(&[][..], Value::Null, "not_asked".into()), (&["--tsume-plies"], 3.into(), Value::Null)]
    {
        let (code, said, _) = solve(&[&words[..], more].concat());
        assert_eq!(code, Some(0));
        let answer: Value = serde_json::from_str(&said).unwrap();
        assert_eq!((&answer["tsume_plies"], &answer["tsume_plies_null"]), (&plies, &why));
    }
}
