//! A run never writes to a file that it reads, and never writes a file twice.

use std::fs::{self, File};

use super::{Bench, into_file, open_to_write};

const INPUT: &str = "would overwrite the input";
const TWICE: &str = "another output of the same run; choose a different name";

/// A folder with inputs, hard links to an input under the names of partial files, and a link to the output folder.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("c.toml", b"nodes = 50\nhash-mb = 1\n");
    bench.write("b.sfen", b"lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n");
    fs::create_dir(bench.path("out")).unwrap();
    bench.link("out", "folder");
    for name in ["linked.npz.rows", "linked.hcp", "linked.quarantine.bin", "page.html", "run.prom"]
    {
        let partial = bench.path(&format!("{name}.partial"));
        fs::hard_link(bench.path("a.hcp"), partial).unwrap();
    }
    fs::hard_link(bench.path("a.hcp"), bench.path("other.hcp")).unwrap();
    bench.link("a.hcp", "link.hcp");
    bench
}

/// Commands with the expected message.
const LINES: [(&str, &str); 40] = [
    ("filter a.hcp -o out --metrics out/a.hcp.partial", TWICE),
    ("filter a.hcp -o out --metrics out/a.hcp", TWICE),
    ("filter a.hcp -o out --metrics out/a.mated.jsonl", TWICE),
    ("filter a.hcp -o out --metrics out/a.manifest.json", TWICE),
    ("filter a.hcp -o out --metrics out/a.manifest.json.partial", TWICE),
    ("filter a.hcp -o out --metrics out/a.checkpoint", TWICE),
    ("filter a.hcp -o out --metrics out/a.checkpoint.partial", TWICE),
    ("filter a.hcp -o out --metrics out/a.lock", TWICE),
    ("filter a.hcp -o out --metrics folder/a.hcp.partial", TWICE),
    ("filter a.hcp -o out --metrics out/../out/./a.hcp.partial", TWICE),
    ("filter a.hcp -o new --metrics new/a.hcp.partial", TWICE),
    ("filter a.hcp -o new --metrics new/x/../a.hcp.partial", TWICE),
    ("filter b.sfen -o out --shard 1/2 --metrics out/b.sfen.index.json", TWICE),
    ("filter a.hcp -o out --metrics a.hcp", INPUT),
    ("filter a.hcp -o out --metrics link.hcp", INPUT),
    ("filter a.hcp -o out --metrics other.hcp", INPUT),
    ("filter a.hcp -o out --metrics run.prom", INPUT),
    ("filter a.hcp -o out --config c.toml --metrics c.toml", INPUT),
    ("filter a.hcp -o out --config ./out/../c.toml --metrics c.toml", INPUT),
    ("filter a.hcp -o . --name link --force", INPUT),
    ("filter a.hcp -o . --name linked --force", INPUT),
    ("dataset a.hcp -o . --name linked --to npz --force", INPUT),
    ("dataset a.hcp -o out --to jsonl --metrics out/a.jsonl.partial", TWICE),
    ("dataset a.hcp -o out --to npz --metrics out/a.npz.rows.partial", TWICE),
    ("dataset a.hcp -o out --to jsonl --config c.toml --metrics c.toml", INPUT),
    ("convert a.hcp -o linked.hcp --force", INPUT),
    ("convert a.hcp -o linked.sfen --on-error quarantine --force", INPUT),
    ("convert a.hcp -o other.hcp --force", INPUT),
    ("shuffle a.hcp -o linked.hcp --force", INPUT),
    ("shuffle a.hcp -o linked.hcp.zst --on-error quarantine --force", INPUT),
    ("dedup a.hcp -o other.hcp --force", INPUT),
    ("stats a.hcp --html a.hcp --force", INPUT),
    ("stats a.hcp --html page.html --force", INPUT),
    ("solve a.hcp --nodes 50 --proof a.hcp --force", INPUT),
    ("solve a.hcp --nodes 50 --proof other.hcp --force", INPUT),
    ("solve a.hcp --nodes 50 --proof linked.hcp --force", INPUT),
    ("marubatsu show --plies 1 --html m --svg m", TWICE),
    ("marubatsu show --plies 1 --html m --svg out/../m", TWICE),
    ("marubatsu show --plies 1 --html m --svg m.partial", TWICE),
    ("stats - --from hcp --html a.hcp --force", INPUT),
];

#[test]
fn files_that_are_read_and_written_or_written_twice_are_refused() {
    for (line, message) in LINES {
        let bench = bench();
        let mut command = bench.command(line);
        if line.contains(" - ") {
            command.0.stdin(File::open(bench.path("a.hcp")).unwrap());
        }
        bench.assert_refused(command, 2, message);
    }
}

#[test]
fn redirected_standard_input_is_not_written_over() {
    for line in [
        "solve --nodes 50 --from hcp --proof a.hcp --force",
        "solve - --nodes 50 --from hcp --proof linked.hcp --force",
        "stats - --from hcp --html other.hcp --force",
        "convert - --from hcp -o a.hcp --force",
        "shuffle - --from hcp -o linked.hcp --force",
        "verify - --from hcp --quarantine stdin --force",
        "filter - --from hcp -o . --name a --force",
        "filter - --from hcp -o out --metrics a.hcp",
    ] {
        let bench = bench();
        fs::create_dir(bench.path("stdin")).unwrap();
        fs::hard_link(bench.path("a.hcp"), bench.path("stdin/stdin.good.hcp")).unwrap();
        let input = File::open(bench.path("a.hcp")).unwrap();
        let mut command = bench.command(line);
        command.0.stdin(input);
        bench.assert_refused(command, 2, INPUT);
    }
}

/// Reports on standard output count too.
#[test]
fn redirected_standard_output_must_not_be_an_input_or_another_output() {
    for (line, message) in [
        ("stats a.hcp", INPUT),
        ("verify a.hcp", INPUT),
        ("inspect a.hcp", INPUT),
        ("solve a.hcp --nodes 50", INPUT),
        ("convert a.hcp -o - --to hcp", INPUT),
        ("convert a.hcp -o b.hcp --json", INPUT),
        ("filter a.hcp -o out", INPUT),
        ("convert other.sfen -o a.hcp --json --force", TWICE),
        ("solve other.sfen --nodes 50 --proof a.hcp --force", TWICE),
        ("marubatsu show --plies 1 --html a.hcp --json --force", TWICE),
        ("generate --count 3 -o a.hcp --force", TWICE),
    ] {
        let bench = bench();
        bench.write("other.sfen", &bench.read("b.sfen"));
        let output = open_to_write(&bench.path("a.hcp"));
        let before = bench.content();
        let ran = into_file(bench.command(line), output);
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{line}: {}", ran.stderr);
        assert!(before == bench.content(), "{line}");
    }
}

#[test]
fn a_second_pass_does_not_write_over_files_of_the_first() {
    let bench = Bench::new();
    bench.succeeds("filter a.hcp -o first");
    for more in [
        "first --force",
        "second --metrics first/a.manifest.json",
        "second --metrics first/a.mated.jsonl",
        "second --metrics first/a.unknown.jsonl",
    ] {
        let line = format!("filter --retry-unknown first/a.manifest.json -o {more}");
        let refusal = "would overwrite a file of the run that --retry-unknown reads";
        bench.assert_refused(bench.command(&line), 2, refusal);
    }
}

#[test]
fn merge_does_not_write_over_its_inputs() {
    let bench = Bench::new();
    for shard in ["1/2", "2/2"] {
        bench.succeeds(&format!("filter a.hcp -o out --shard {shard}"));
    }
    for output in
        ["out/a-00001-of-00002.hcp", "out/a-00002-of-00002.manifest.json", "out/a-00001-of-00002"]
    {
        let line = format!("merge out -o {output} --force");
        bench.assert_refused(bench.command(&line), 2, INPUT);
    }
}

#[test]
fn outputs_linked_to_each_other_can_be_replaced() {
    let bench = Bench::new();
    bench.succeeds("filter a.hcp -o out");
    // As programs do that link equal files to save space.
    fs::remove_file(bench.path("out/a.quarantine.jsonl")).unwrap();
    fs::hard_link(bench.path("out/a.quarantine.bin"), bench.path("out/a.quarantine.jsonl"))
        .unwrap();
    bench.succeeds("filter a.hcp -o out --resume");
    bench.succeeds("filter a.hcp -o out --force");
}
