//! Every option of every command with absurd values: each value is refused as a usage error, or it is accepted and the
//! command ends.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use clap::Arg;
use kyokumen::cli::command_lines;
use kyokumen::format::Format;
use kyokumen::shogi::sfen::START;
use rayon::prelude::*;
use snapbox::{assert_data_eq, str};

use crate::archive::archive;
use crate::harness::Dir;

const VALUES: [&str; 12] = [
    "ﬅ",
    "1ﬅ",
    "ﬅ..ﬅ",
    "局",
    "１",
    "",
    "-",
    "18446744073709551615",
    "99999999999999999999",
    "-1",
    "NaN",
    "inf",
];

/// The files are small, so a command that runs longer never ends.
const PATIENCE: Duration = Duration::from_mins(5);

/// The arguments a command needs to work on small files.
fn arguments(command: &str) -> &'static [&'static str] {
    match command {
        "filter" | "gen-filter" => &["a.psv", "-o", "out", "--depth", "1"],
        "selfplay" => &SELFPLAY,
        "relabel" => &["a.psv", "-o", "out", "--model", "hashed", "--on-error", "skip"],
        "dataset" => &["a.psv", "-o", "out", "--to", "jsonl", "--depth", "1"],
        "convert" => &["a.psv", "-o", "out.hcpe"],
        "solve" => &[START, "--depth", "1"],
        "usi" | "kyokumen-usi" | "formats" | "marubatsu tree" | "marubatsu solve"
        | "marubatsu show" => &[],
        "stats" | "verify" | "inspect" => &["a.psv"],
        "status" => &["runs"],
        "merge" => &["runs", "-o", "out.psv"],
        "shuffle" | "dedup" => &["a.psv", "-o", "out.psv"],
        "split" => &["a.psv", "-o", "out", "--parts", "2"],
        "sample" => &["a.psv", "-o", "out.psv", "--count", "2"],
        "interleave" => &["a.psv", "a.psv", "-o", "out.psv"],
        "generate" => &["--count", "3", "-o", "out.psv"],
        "perft" => &["1"],
        "completions" => &["fish"],
        "man" => &["man"],
        "marubatsu check" => &["--player", "ai14s"],
        "marubatsu match" => &["--players", "ai1,ai14s", "--games", "5"],
        "marubatsu boards" => &["--games", "5"],
        "marubatsu dataset" => &["-o", "out", "--to", "jsonl"],
        _ => panic!("no arguments are defined for {command}"),
    }
}

/// Options that make the work as long as their value, or wait for the work of another process.
const ENDLESS: [(&str, &str); 5] = [
    ("status", "watch"),
    ("generate", "count"),
    ("selfplay", "games"),
    ("marubatsu match", "games"),
    ("marubatsu boards", "games"),
];

const SELFPLAY: [&str; 10] =
    ["--model", "hashed", "-o", "out", "--games", "2", "--playouts", "4", "--max-moves", "6"];

/// A command line to try.
struct Attempt {
    program: &'static str,
    command: String,
    words: Vec<String>,
}

/// The commands without subcommands, below this one.
fn leaves(path: &str, command: &clap::Command) -> Vec<(String, clap::Command)> {
    let subcommands = command.get_subcommands().filter(|command| command.get_name() != "help");
    let below: Vec<_> = subcommands
        .flat_map(|command| leaves(format!("{path} {}", command.get_name()).trim(), command))
        .collect();
    if below.is_empty() { vec![(path.to_owned(), command.clone())] } else { below }
}

/// The arguments with this value for an option. A value for a positional argument replaces the leading words.
fn with_value(arguments: &[&str], option: &Arg, value: &str) -> Vec<String> {
    let names = |word: &str| {
        let short = option.get_short().is_some_and(|short| word == format!("-{short}"));
        short || option.get_long().is_some_and(|long| word == format!("--{long}"))
    };
    let mut words: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
    if let Some(at) = words.iter().position(|word| names(word)) {
        words.drain(at..at + 2);
    }
    if let Some(long) = option.get_long() {
        words.push(format!("--{long}={value}"));
    } else {
        // Without `--`, a value such as `-1` would be an option.
        let rest = words.iter().position(|word| word.starts_with('-')).unwrap_or(words.len());
        words.drain(..rest);
        words.extend(["--".to_owned(), value.to_owned()]);
    }
    words
}

/// All command lines that clap accepts. It refuses the others with status 2.
fn attempts() -> Vec<Attempt> {
    let mut attempts = Vec::new();
    for (program, definition) in
        ["kyokumen", "gen-filter", "kyokumen-usi"].into_iter().zip(command_lines())
    {
        let path = if program == "kyokumen" { "" } else { program };
        for (command, leaf) in leaves(path, &definition) {
            let needed = arguments(&command);
            let words = [program].into_iter().chain(needed.iter().copied());
            let refusal = leaf.clone().try_get_matches_from(words).err();
            assert!(refusal.is_none(), "{command}: {refusal:?}");
            for option in leaf.get_arguments().filter(|option| option.get_action().takes_values()) {
                for value in VALUES {
                    let words = with_value(needed, option, value);
                    let parsed = leaf
                        .clone()
                        .try_get_matches_from([&[program.to_owned()][..], &words].concat());
                    let name = option.get_id().as_str();
                    if parsed.is_ok() && !ENDLESS.contains(&(&*command, name)) {
                        let command = command.clone();
                        attempts.push(Attempt { program, command, words });
                    }
                }
            }
        }
    }
    attempts
}

fn check(Attempt { program, command, words }: &Attempt, dir: &Dir) {
    let subcommand = command.split(' ').filter(|word| !word.is_empty() && word != program);
    let stderr = fs::File::create(dir.join("stderr")).unwrap();
    let mut run = dir.program(program, subcommand).args(words);
    run.0.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
    let mut child = run.0.spawn().unwrap();
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{command} {words:?} never ends");
        }
        thread::sleep(Duration::from_millis(1));
    };
    let message = dir.text("stderr");
    let is_fault = message.contains("panicked") || message.contains("internal error");
    assert!(
        matches!(status.code(), Some(0..=3)) && !is_fault,
        "{command} {words:?}: {status}: {message}"
    );
}

#[test]
fn no_value_of_an_option_makes_a_command_panic_or_hang() {
    let attempts = attempts();
    assert!(attempts.len() > 300, "{}", attempts.len());
    attempts.par_iter().for_each(|attempt| {
        let dir = Dir::new();
        dir.write("a.psv", archive(Format::Psv, 4));
        fs::create_dir(dir.join("runs")).unwrap();
        check(attempt, &dir);
    });
}

/// Commands used to accept these numbers and to start the work.
#[test]
fn absurdly_large_numbers_are_refused() {
    let dir = Dir::new();
    for words in [
        "generate --count 3 -o a.psv --every 18446744073709551615",
        "generate --count 3 -o a.psv --max-moves 65536",
        "perft 2 --threads 65535",
        "shuffle a.psv -o b.psv --threads 4097",
        "shuffle a.psv -o b.psv --memory 1ﬅ",
    ] {
        dir.line(words).fails(2);
    }
}

/// The messages of the standard library about numbers do not help users.
#[test]
fn errors_about_values_state_what_is_expected() {
    let values = ["many", "0", "-1", "1.5", "99999999999999999999", "", "1x", "NaN"];
    let mut messages = Vec::new();
    for (program, definition) in
        ["kyokumen", "gen-filter", "kyokumen-usi"].into_iter().zip(command_lines())
    {
        for (command, leaf) in leaves(program, &definition) {
            for option in leaf.get_arguments().filter(|option| option.get_action().takes_values()) {
                for value in values {
                    let words = [vec![command.clone()], with_value(&[], option, value)].concat();
                    let refusal = leaf.clone().try_get_matches_from(words).err();
                    let source = refusal.as_ref().and_then(Error::source).map(ToString::to_string);
                    let id = option.get_id();
                    messages
                        .extend(source.map(|source| format!("{command} {id} {value}: {source}")));
                }
            }
        }
    }
    assert!(messages.len() > 1000, "{}", messages.len());
    let rust_phrases =
        [" digit", "target type", "empty string", "float literal", "is not in", "zero"];
    messages.retain(|message| rust_phrases.iter().any(|phrase| message.contains(phrase)));
    assert!(messages.is_empty(), "{}", messages.join("\n"));
}

#[test]
fn errors_about_numbers_state_the_bounds() {
    let dir = Dir::new();
    dir.write("a.psv", archive(Format::Psv, 4));
    dir.write("deep.toml", "depth = 4097\n");
    dir.write("two.toml", "nodes = [1, 2]\n");
    dir.write("word.toml", "nodes = \"many\"\n");
    let mut messages = String::new();
    for words in [
        "convert a.psv -o b.psv --every 0",
        "convert a.psv -o b.psv --every 99999999999999999999",
        "convert a.psv -o b.psv --min-ply many",
        "split a.psv -o b --parts 0",
        "shuffle a.psv -o b.psv --threads 4097",
        "filter a.psv -o b --depth x",
        "dataset a.psv -o b --to jsonl --depth 4097",
        "solve a.psv --depth 65536",
        "marubatsu solve --depth 10",
        "marubatsu match --players ai1,ai2 --games 0",
        "marubatsu boards --games 99999999999999999999",
        "filter a.psv -o b --config deep.toml",
        "filter a.psv -o b --config two.toml",
        "filter a.psv -o b --config word.toml",
        "filter a.psv -o b --config nothing.toml",
    ] {
        let transcript = dir.line(words).run().transcript;
        messages +=
            transcript.trim_end_matches("\nFor more information, try '--help'.\n").trim_end();
        messages += "\n";
    }
    assert_data_eq!(
        messages,
        str![[r#"
status 2
error: invalid value '0' for '--every <K>': expected a whole number, 1 or more
status 2
error: invalid value '99999999999999999999' for '--every <K>': expected a whole number from 1 to 18446744073709551615
status 2
error: invalid value 'many' for '--min-ply <PLY>': expected a whole number from 0 to 65535
status 2
error: invalid value '0' for '--parts <N>': expected a whole number from 1 to 99999
status 2
error: invalid value '4097' for '--threads <THREADS>': expected a whole number from 0 to 4096
status 2
error: invalid value 'x' for '--depth <PLIES>': expected a whole number from 0 to 4096
status 2
error: invalid value '4097' for '--depth <PLIES>': expected a whole number from 0 to 4096
status 2
error: invalid value '65536' for '--depth <PLIES>': expected a whole number from 0 to 4096
status 2
error: invalid value '10' for '--depth <PLIES>': expected a whole number from 0 to 9
status 2
error: invalid value '0' for '--games <N>': expected a whole number, 1 or more
status 2
error: invalid value '99999999999999999999' for '--games <N>': expected a whole number from 1 to 18446744073709551615
status 2
error: deep.toml: invalid value '4097' for '--depth <PLIES>': expected a whole number from 0 to 4096
status 2
error: two.toml: nodes = [1, 2]: expected one value, not 2
status 2
error: word.toml: invalid value 'many' for '--nodes <NODES>': expected a whole number, 0 or more
status 1
error: cannot read nothing.toml: No such file or directory (os error 2); check the path: relative paths start in [FOLDER]

"#]]
    );
}

#[test]
fn a_negative_number_is_an_invalid_value_not_an_option() {
    let dir = Dir::new();
    let refusal = |words: &[&str]| dir.kyokumen(words).fails(2).lines().next().unwrap().to_owned();
    for option in ["every", "threads", "limit", "seed", "depth", "hash-mb", "min-ply"] {
        let message = refusal(&["filter", "a.hcp", "-o", "out", &format!("--{option}"), "-1"]);
        let start = format!("error: invalid value '-1' for '--{option} <");
        assert!(
            message.starts_with(&start) && message.contains("expected a whole number"),
            "{message}"
        );
    }
    let message = refusal(&["split", "a.hcp", "-o", "out", "--parts", "-1"]);
    assert!(message.contains("expected a whole number from 1 to "), "{message}");
    let message = refusal(&["filter", "a.hcp", "-o", "out", "--every", "0"]);
    assert!(message.ends_with("expected a whole number, 1 or more"), "{message}");
}

/// An option that several commands share has the same heading in their help, if it has one.
#[test]
fn options_of_one_name_have_one_heading() {
    let mut headings: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for command in command_lines() {
        for (_, command) in leaves("", &command) {
            for option in command.get_arguments() {
                let (Some(name), Some(heading)) = (option.get_long(), option.get_help_heading())
                else {
                    continue;
                };
                headings.entry(name.to_owned()).or_default().insert(heading.to_owned());
            }
        }
    }
    for (option, heading) in [
        ("config", "Running"),
        ("fill", "Outputs"),
        ("force", "Running"),
        ("from", "Records"),
        ("on-error", "Outputs"),
        ("output", "Outputs"),
        ("policy", "Outputs"),
        ("resume", "Running"),
        ("to", "Outputs"),
    ] {
        assert_eq!(headings[option], BTreeSet::from([heading.to_owned()]), "--{option}");
    }
    assert_eq!(headings["engine"], BTreeSet::from(["With an engine".to_owned()]));
}
