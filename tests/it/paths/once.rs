//! Pipes and devices as inputs: commands with one pass read them, commands that measure or read again refuse them.

use std::fs;

use snapbox::{assert_data_eq, str};

use super::{Bench, feed, good};
use crate::messages::transcript;

const ONLY_ONCE: &str = "can only be read once, from its start to its end";
const FOUND_A_PIPE: &str =
    "expected a regular file, found a pipe or a device: copy it to a file first";

/// Commands that measure the input `IN` or read it twice.
const MORE_THAN_ONCE: [&str; 13] = [
    "filter IN --from hcp -o o --shard 1/2",
    "filter IN --from hcp -o o --shard 2/2 --dry-run",
    "filter a.hcp IN --from hcp -o o --shard 2/2",
    "filter IN --from hcp -o o --resume",
    "filter IN --from sfen -o o --shard 1/2",
    "filter IN --from hcp.zst -o o --shard 1/2",
    "dataset IN --from hcp -o o --to jsonl --shard 1/2",
    "dataset IN --from hcp -o o --to jsonl --resume",
    "dedup IN --from hcp -o b.hcp",
    "sample IN --from hcp -o b.hcp --count 3",
    "split IN --from hcp -o o --parts 2 --by ranges",
    "interleave IN a.hcp --from hcp -o b.hcp",
    "convert IN IN --from hcp -o b.hcp",
];

#[test]
fn commands_with_several_passes_refuse_pipes_and_devices() {
    for line in MORE_THAN_ONCE {
        // The pipe has no writer, so a process that opens it waits forever.
        let bench = Bench::new();
        bench.fifo("pipe");
        bench.link("pipe", "link");
        for name in ["pipe", "link", "/dev/zero"] {
            let line = line.replace("IN", name);
            bench.assert_refused(bench.command(&line), 2, &format!("{name} {ONLY_ONCE}"));
        }
        for name in ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"] {
            if name.starts_with("/proc") && cfg!(not(target_os = "linux")) {
                continue;
            }
            let line = line.replace("IN", name);
            let (reader, writer) = std::io::pipe().unwrap();
            let name = if name == "-" { "standard input" } else { name };
            let message = format!("{name} {ONLY_ONCE}");
            let mut command = bench.command(&line);
            command.0.stdin(reader);
            bench.assert_refused(command, 2, &message);
            drop(writer);
        }
    }
}

#[test]
fn standard_input_and_output_are_never_folders() {
    for words in
        ["filter", "dataset --to jsonl", "relabel --keep-eval --mix 0.5", "split --parts 2"]
    {
        let bench = Bench::new();
        bench.0.line("generate --count 9 --seed 1 -o a.psv").succeeds();
        let message = bench.0.line(&format!("{words} a.psv -o -")).fails(2);
        assert!(message.contains("cannot be written to standard output (`-`)"), "{message}");
        assert!(!bench.path("-").exists(), "{words}");
    }
    let bench = Bench::new();
    fs::create_dir(bench.path("-")).unwrap();
    bench.0.line("convert - --from hcp -o b.hcp").stdin(good(10)).succeeds();
    assert_eq!(bench.0.read("b.hcp"), good(10));
}

#[test]
fn a_pipe_with_two_names_is_recognised() {
    let bench = Bench::new();
    let (reader, _writer) = std::io::pipe().unwrap();
    let mut command = bench.command("convert - /dev/stdin --from hcp -o b.hcp");
    command.0.stdin(reader);
    bench.assert_refused(command, 2, "it is given more than once");
}

#[test]
fn a_second_pass_needs_inputs_and_a_manifest_that_are_files() {
    let bench = Bench::new();
    bench.fifo("pipe");
    let feeder = feed(bench.path("pipe"), good(10));
    bench.succeeds("filter pipe --from hcp -o first");
    feeder.join().unwrap();
    let retry = bench.command("filter --retry-unknown first/pipe.manifest.json -o second");
    bench.assert_refused(retry, 2, ONLY_ONCE);
    bench.fifo("m.manifest.json");
    let retry = bench.command("filter --retry-unknown m.manifest.json -o second");
    bench.assert_refused(retry, 1, FOUND_A_PIPE);
    let verify = bench.command("verify --manifest m.manifest.json");
    bench.assert_refused(verify, 1, FOUND_A_PIPE);
}

/// `status` must not wait for a writer.
#[test]
fn status_does_not_open_pipes_in_place_of_files() {
    let bench = Bench::new();
    for name in ["a.lock", "a.checkpoint"] {
        fs::create_dir_all(bench.path("o")).unwrap();
        bench.fifo(&format!("o/{name}"));
    }
    let ran = bench.run("status o");
    assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.stderr);
}

#[test]
fn verify_reports_an_output_replaced_by_a_pipe() {
    let bench = Bench::new();
    bench.succeeds("filter a.hcp -o o");
    // A pipe has the size of an empty output.
    fs::remove_file(bench.path("o/a.quarantine.bin")).unwrap();
    bench.fifo("o/a.quarantine.bin");
    let ran = bench.run("verify --manifest o/a.manifest.json");
    let output = ran.text() + &ran.stderr;
    assert_data_eq!(
        transcript(bench.0.path(), ran.code, &output),
        str![[r#"
status 1
o/a, 1 manifest: 1 difference
  cannot read o/a.quarantine.bin: expected a regular file, found a pipe or a device: copy it to a file first
error: the outputs do not match their manifests

"#]]
    );
}

/// Commands that read `IN` once, and the output to compare. `-` is standard output.
const IN_ONE_PASS: [(&str, &str); 10] = [
    ("convert IN --from hcp -o b.sfen", "b.sfen"),
    ("convert IN --from hcp -o b.hcp --dedup", "b.hcp"),
    ("filter IN --from hcp -o o --name a", "o/a.hcp"),
    ("dataset IN --from hcp -o o --name a --to jsonl", ""),
    ("shuffle IN --from hcp -o b.hcp --seed 3", "b.hcp"),
    ("sample IN --from hcp -o b.hcp --rate 0.5", "b.hcp"),
    ("solve IN --from hcp --nodes 50", ""),
    ("stats IN --from hcp", "-"),
    ("inspect IN --from hcp --range 3..5 --json", ""),
    ("verify IN --from hcp", ""),
];

#[test]
fn commands_with_one_pass_read_pipes() {
    for (line, output) in IN_ONE_PASS {
        let expected = {
            let bench = Bench::new();
            bench.write("records", &good(6000));
            let ran = bench.succeeds(&line.replace("IN", "records"));
            match output {
                "" => Vec::new(),
                "-" => ran.stdout,
                name => bench.read(name),
            }
        };
        for name in ["-", "/dev/stdin", "pipe"] {
            let bench = Bench::new();
            bench.fifo("pipe");
            let command = bench.command(&line.replace("IN", name));
            let ran = if name == "pipe" {
                let feeder = feed(bench.path("pipe"), good(6000));
                let ran = command.succeeds();
                feeder.join().unwrap();
                ran
            } else {
                command.stdin(good(6000)).succeeds()
            };
            let found = match output {
                "" => continue,
                "-" => ran.stdout,
                output => bench.read(output),
            };
            assert!(found == expected, "{line} {name}");
        }
    }
}
