//! Links at paths where a run creates files: nothing is written to their targets.

use std::collections::BTreeSet;
use std::fs;

use snapbox::{assert_data_eq, str};

use super::Bench;

/// Commands, each with a partial file or a lock that it creates.
const PARTIAL: [(&str, &str); 17] = [
    ("convert a.hcp -o b.sfen", "b.sfen.partial"),
    ("convert a.hcp -o b.sfen.zst", "b.sfen.zst.partial"),
    ("convert a.hcp -o b.sfen --on-error quarantine", "b.quarantine.jsonl.partial"),
    ("shuffle a.hcp -o b.hcp", "b.hcp.partial"),
    ("shuffle a.hcp -o b.hcp", "b.hcp.manifest.json.partial"),
    ("split a.hcp -o out --parts 2", "out/a-00002-of-00002.hcp.partial"),
    ("generate --count 3 -o b.psv", "b.psv.partial"),
    ("stats a.hcp --html b.html", "b.html.partial"),
    ("solve a.hcp --nodes 50 --proof b.zst", "b.zst.partial"),
    ("verify a.hcp --quarantine out", "out/a.hcp.bad.partial"),
    ("marubatsu show --plies 1 --svg b.svg", "b.svg.partial"),
    ("marubatsu dataset --to npz -o b.npz", "b.npz.partial"),
    ("marubatsu dataset --to npz -o b.npz", "b.npz.rows.partial"),
    ("filter a.hcp -o out", "out/a.hcp.partial"),
    ("filter a.hcp -o out", "out/a.quarantine.bin.partial"),
    ("filter a.hcp -o out", "out/a.lock"),
    ("dataset a.hcp -o out --to npz", "out/a.npz.rows.partial"),
];

#[test]
fn links_in_place_of_partial_files_and_locks_are_refused() {
    let mut transcripts = BTreeSet::new();
    for (line, name) in PARTIAL {
        for target in ["precious", "nothing"] {
            let bench = Bench::new();
            bench.write("precious", b"precious");
            bench.link(bench.path(target), name);
            transcripts.insert(bench.last_of(&bench.run(line)).replace(name, "NAME"));
            assert_eq!(bench.read("precious"), b"precious", "{line}");
            assert!(!bench.path("nothing").exists(), "{line}");
        }
        let bench = Bench::new();
        bench.write("precious", b"precious");
        fs::create_dir_all(bench.path(name).parent().unwrap()).unwrap();
        fs::hard_link(bench.path("precious"), bench.path(name)).unwrap();
        transcripts.insert(bench.last_of(&bench.run(line)).replace(name, "NAME"));
        assert_eq!(bench.read("precious"), b"precious", "{line}");
    }
    assert_data_eq!(
        transcripts.into_iter().collect::<String>(),
        str![[r#"
status 1
error: cannot create NAME: it exists and has several hard links, so writing to it could change another file; find out who created it, then remove it
status 1
error: cannot create NAME: it exists and is a symbolic link, so writing to it could change another file; find out who created it, then remove it
status 1
error: cannot lock NAME: it exists and has several hard links, so writing to it could change another file; find out who created it, then remove it
status 1
error: cannot lock NAME: it exists and is a symbolic link, so writing to it could change another file; find out who created it, then remove it

"#]]
    );
}

#[test]
fn partial_files_and_locks_of_a_killed_run_are_replaced() {
    for (line, name) in PARTIAL {
        let bench = Bench::new();
        // An empty lock file is from a process that died before it wrote the lock owner.
        let left = if name.strip_suffix(".partial").is_some() {
            "x".repeat(1 << 16)
        } else {
            String::new()
        };
        bench.write(name, left.as_bytes());
        bench.succeeds(line);
        assert!(!bench.path(name).exists(), "{line}");
        let output = name.strip_suffix(".partial").unwrap_or("out/a.hcp");
        if let Ok(found) = fs::read(bench.path(output)) {
            assert!(!found.starts_with(b"xx"), "{line}");
        }
    }
}

/// Files that a run writes repeatedly are created again each time.
#[test]
fn files_that_a_run_writes_repeatedly_are_new_files() {
    for (line, name) in [
        ("filter a.hcp -o out --metrics m.prom", "m.prom.partial"),
        ("filter a.hcp -o out --metrics m.prom", "m.prom"),
        ("filter a.hcp -o out --checkpoint-every 0", "out/a.checkpoint.partial"),
        ("filter a.hcp -o out", "out/a.manifest.json.partial"),
        ("filter a.sfen -o out --shard 1/2", "out/a.sfen.index.json"),
    ] {
        let bench = Bench::new();
        bench.succeeds("convert a.hcp -o a.sfen");
        bench.write("precious", b"precious");
        bench.link(bench.path("precious"), name);
        bench.succeeds(line);
        assert_eq!(bench.read("precious"), b"precious", "{line}");
        let now = bench.path(name).symlink_metadata();
        assert!(now.map_or(true, |metadata| metadata.is_file()), "{line}");
    }
}

/// If the final name of an output is a link, the output replaces the link.
#[test]
fn outputs_replace_links_and_not_their_targets() {
    for (line, name) in [
        ("convert a.hcp -o b.sfen", "b.sfen"),
        ("shuffle a.hcp -o b.hcp", "b.hcp"),
        ("shuffle a.hcp -o b.hcp", "b.hcp.manifest.json"),
        ("generate --count 3 -o b.psv", "b.psv"),
        ("stats a.hcp --html b.html", "b.html"),
        ("solve a.hcp --nodes 50 --proof b.zst", "b.zst"),
        ("verify a.hcp --quarantine out", "out/a.hcp.bad"),
        ("marubatsu show --plies 1 --svg b.svg", "b.svg"),
        ("marubatsu dataset -o b.jsonl", "b.jsonl"),
        ("filter a.hcp -o out", "out/a.hcp"),
        ("filter a.hcp -o out", "out/a.manifest.json"),
        ("dataset a.hcp -o out --to npz", "out/a.npz"),
    ] {
        for target in ["precious", "nothing"] {
            let bench = Bench::new();
            bench.write("precious", b"precious");
            bench.link(bench.path(target), name);
            bench.assert_refused(bench.command(line), 1, "exists; replace it with --force");
            bench.succeeds(&format!("{line} --force"));
            assert!(bench.path(name).symlink_metadata().unwrap().is_file(), "{line}");
            assert_eq!(bench.read("precious"), b"precious", "{line}");
            assert!(!bench.path("nothing").exists(), "{line}");
        }
    }
}
