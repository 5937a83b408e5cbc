//! Outputs that are devices, pipes, or links to them: they are written to, and never replaced by a file.
//!
//! The tests never name the system's devices directly, because a bug could replace them if the tests run as root.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Seek, SeekFrom};
use std::path::Path;

use snapbox::{assert_data_eq, str};

use super::{Bench, assert_is_link, into_file, is_device, make_node, open_to_write};

/// Commands whose output is named on the command line.
const NAMED: [&str; 12] = [
    "convert a.hcp --to sfen -o OUT",
    "shuffle a.hcp -o OUT",
    "dedup a.hcp -o OUT",
    "sample a.hcp -o OUT --rate 0.5",
    "interleave a.hcp -o OUT",
    "generate --count 20 --to psv -o OUT",
    "stats a.hcp --html OUT",
    "solve mate.sfen --proof OUT",
    "merge shards -o OUT",
    "marubatsu show --plies 1 --html OUT",
    "marubatsu show --plies 1 --svg OUT",
    "marubatsu dataset -o OUT",
];

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("mate.sfen", b"4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1\n");
    for shard in ["1/2", "2/2"] {
        bench.succeeds(&format!("filter a.hcp -o shards --shard {shard}"));
    }
    bench
}

#[test]
fn links_to_devices_are_written_through() {
    let bench = bench();
    bench.link("/dev/null", "null");
    bench.link("null", "far");
    bench.link("/dev/full", "full");
    let mut transcripts = BTreeSet::new();
    for force in ["", " --force"] {
        for line in NAMED {
            for name in ["null", "far"] {
                bench.succeeds(&(line.replace("OUT", name) + force));
            }
            if cfg!(target_os = "linux") {
                let line = line.replace("OUT", "full") + force;
                let ran = bench.run(&line);
                transcripts.insert(bench.last_of(&ran));
            }
            assert_is_link(&bench.path("null"), "/dev/null");
            assert_is_link(&bench.path("far"), "null");
            assert_is_link(&bench.path("full"), "/dev/full");
        }
    }
    if cfg!(target_os = "linux") {
        assert_data_eq!(
            transcripts.into_iter().collect::<String>(),
            str![[r#"
status 1
error: cannot write full: No space left on device (os error 28)

"#]]
        );
    }
    assert!(is_device(Path::new("/dev/null")));
}

/// The target of a link to a descriptor may be a file with another name.
#[test]
fn links_to_standard_output_are_written_through() {
    for line in NAMED.into_iter().filter(|line| !line.starts_with("solve")) {
        let bench = bench();
        // `marubatsu dataset` would create a folder for a name without a format.
        let name = if line.contains("dataset") { "expected.jsonl" } else { "expected" };
        bench.succeeds(&line.replace("OUT", name));
        let expected = bench.read(name);
        bench.link("/dev/stdout", "out");
        for name in ["out", "/dev/fd/1"] {
            let line = line.replace("OUT", name) + " --force";
            let found = bench.succeeds(&line).stdout;
            assert!(contains(&found, &expected), "{line}");
            for appends in [true, false] {
                bench.write("redirected", b"before");
                let mut output = open_to_write(&bench.path("redirected"));
                if !appends {
                    output =
                        fs::File::options().write(true).open(bench.path("redirected")).unwrap();
                    output.seek(SeekFrom::End(0)).unwrap();
                }
                let ran = into_file(bench.command(&line), output);
                assert_eq!(ran.code, Some(0), "{line}: {}", ran.stderr);
                let found = bench.read("redirected");
                assert!(found.starts_with(b"before") && contains(&found, &expected), "{line}");
                assert_is_link(&bench.path("out"), "/dev/stdout");
            }
        }
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[test]
fn descriptors_are_appended_to() {
    let bench = bench();
    bench.succeeds("convert a.hcp -o expected.sfen");
    bench.write("three", b"before\n");
    let command = bench.command("convert a.hcp --to sfen -o /dev/fd/3");
    command.in_shell("exec 3>>three").succeeds();
    assert_eq!(bench.read("three"), [b"before\n".to_vec(), bench.read("expected.sfen")].concat());
}

#[test]
fn proofs_are_not_written_to_standard_output() {
    let bench = bench();
    bench.link("/dev/stdout", "out");
    for name in ["-", "out", "/dev/fd/1"] {
        let command = bench.command(&format!("solve mate.sfen --proof {name}"));
        bench.assert_refused(
            command,
            2,
            "--proof needs a file, because the verdicts go to standard output",
        );
    }
}

#[test]
fn a_full_standard_output_is_an_error() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let bench = bench();
    let mut transcripts = BTreeSet::new();
    for line in [
        "convert a.hcp --to sfen -o -",
        "convert a.hcp -o b.sfen --json",
        "shuffle a.hcp -o -",
        "generate --count 3 --to hcp -o -",
        "merge shards -o -",
        "stats a.hcp",
        "stats a.hcp --json",
        "inspect a.hcp",
        "inspect a.hcp --json",
        "verify a.hcp",
        "solve mate.sfen",
        "solve mate.sfen --json",
        "filter a.hcp -o dry --dry-run",
        "status shards",
        "formats",
        "perft 2",
        "marubatsu show --plies 1",
        "marubatsu dataset -o -",
        "marubatsu solve",
    ] {
        let full = open_to_write(Path::new("/dev/full"));
        transcripts.insert(bench.last_of(&into_file(bench.command(line), full)));
    }
    assert_data_eq!(
        transcripts.into_iter().collect::<String>(),
        str![[r#"
status 1
error: cannot write to standard output: No space left on device (os error 28)

"#]]
    );
}

#[test]
fn metrics_are_written_through_links_to_devices() {
    let bench = bench();
    for (target, message) in
        [("/dev/null", ""), ("/dev/full", "cannot write metrics"), ("pipe", "cannot write")]
    {
        if target == "/dev/full" && cfg!(not(target_os = "linux")) {
            continue;
        }
        let bench = Bench::new();
        bench.fifo("pipe");
        bench.link(target, "metrics");
        // The pipe has no reader, and the run must not wait for one.
        let ran = bench.succeeds("filter a.hcp -o out --metrics metrics");
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
        assert_is_link(&bench.path("metrics"), target);
        assert!(!bench.path("metrics.partial").exists());
    }
    bench.link("/dev/stdout", "metrics");
    let output = open_to_write(&bench.path("redirected"));
    let ran = into_file(bench.command("filter a.hcp -o out --metrics metrics"), output);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(contains(&bench.read("redirected"), b"kyokumen_records_total"));
    assert_is_link(&bench.path("metrics"), "/dev/stdout");
}

/// Outputs with derived names must be files, because later commands read them.
#[test]
fn outputs_with_derived_names_must_be_files() {
    for (line, name) in [
        ("filter a.hcp -o out", "out/a.hcp"),
        ("filter a.hcp -o out", "out/a.hcp.mated"),
        ("filter a.hcp -o out", "out/a.quarantine.jsonl"),
        ("filter a.hcp -o out", "out/a.manifest.json"),
        ("filter a.hcp -o out", "out/a.checkpoint"),
        ("dataset a.hcp -o out --to npz", "out/a.npz"),
        ("convert a.hcp -o b.sfen --on-error quarantine", "b.quarantine.bin"),
        ("shuffle a.hcp -o b.hcp", "b.hcp.manifest.json"),
        ("split a.hcp -o out --parts 2", "out/a-00002-of-00002.hcp"),
        ("verify a.hcp --quarantine out", "out/a.good.hcp"),
        ("merge shards -o b.hcp", "b.hcp.manifest.json"),
        ("marubatsu dataset --to npz -o OUT", "table"),
    ] {
        for target in ["/dev/null", "/dev/stdout", "pipe"] {
            let bench = bench();
            bench.fifo("pipe");
            bench.link(if target == "pipe" { bench.path("pipe") } else { target.into() }, name);
            let line = line.replace("OUT", name) + " --force";
            bench.assert_refused(bench.command(&line), 2, "is a device or a pipe");
        }
        let bench = bench();
        if !line.contains("OUT") {
            fs::create_dir_all(bench.path(name)).unwrap();
            let line = line.to_owned() + " --force";
            bench.assert_refused(bench.command(&line), 2, "is a folder");
        }
    }
}

#[test]
fn devices_are_not_replaced() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let bench = bench();
    for (name, minor) in [("null", 3), ("full", 7)] {
        let device = libc::makedev(1, minor);
        if let Err(error) = make_node(&bench.path(name), libc::S_IFCHR, device) {
            eprintln!("skipped: only root can create devices: {error}");
            return;
        }
    }
    for line in NAMED {
        bench.succeeds(&(line.replace("OUT", "null") + " --force"));
        let ran = bench.run(&(line.replace("OUT", "full") + " --force"));
        assert_eq!(ran.code, Some(1), "{line}: {}", ran.stderr);
        assert!(is_device(&bench.path("null")) && is_device(&bench.path("full")), "{line}");
    }
    for name in ["null", "full"] {
        bench.succeeds(&format!("filter a.hcp -o out --force --metrics {name}"));
        assert!(is_device(&bench.path(name)));
    }
}
