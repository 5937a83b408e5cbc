//! The program `gen-filter`: exit statuses, standard input, signals, configuration files.
//!
//! The exit statuses are the documented ones: 0, 1, 2, 3, 130, 143.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;

use kyokumen::format::Format;
use snapbox::{assert_data_eq, str};

use crate::archive::{archive, encoded, records};
use crate::harness::{Dir, TestCommand};

fn gen_filter(dir: &Dir) -> TestCommand {
    let words = ["--progress", "none", "--threads", "2", "--nodes", "100", "--hash-mb", "1"];
    dir.program("gen-filter", words)
}

fn good(count: usize) -> Vec<u8> {
    records(count, 11).iter().flat_map(|record| encoded(Format::Hcp, record)).collect()
}

#[test]
fn exit_statuses_are_those_documented() {
    let dir = Dir::new();
    let input = dir.write("a.hcp", good(20));
    let bad = dir.write("bad.hcp", archive(Format::Hcp, 20));
    let odd = dir.write("a.bin", [0xFF; 100]);
    let unnamed = dir.write("b.bin", good(20));
    let run = |inputs: &[&Path], more: &[&str]| {
        gen_filter(&dir).args(inputs).args([Path::new("-o"), &dir.join("out")]).args(more).run()
    };
    assert_eq!(run(&[&input], &[]).code, Some(0));
    let mut refused = run(&[&input], &[]).transcript;
    assert_eq!(run(&[&input], &["--force"]).code, Some(0));
    assert_eq!(run(&[&bad], &[]).code, Some(3));
    assert_eq!(run(&[&bad], &["--force", "--on-error", "stop"]).code, Some(1));
    refused += &run(&[&odd], &[]).transcript;
    assert_data_eq!(
        refused,
        str![[r#"
status 1
error: [FOLDER]/out/a.hcp exists; replace it with --force
status 2
error: [FOLDER]/a.bin has an unknown format: neither its name nor its content shows one; specify it with --from

"#]]
    );
    assert_eq!(run(&[&unnamed], &["--from", "hcp", "--name", "odd"]).code, Some(0));
    assert_eq!(run(&[&dir.join("missing.hcp")], &[]).code, Some(1));
    // A shard may be empty, but not all shards.
    let empty = dir.write("empty.hcp", "");
    assert_eq!(run(&[&empty], &[]).code, Some(3));
    let refused = run(&[&empty], &["--force", "--shard", "1/2"]).transcript;
    assert_data_eq!(
        refused,
        str![[r#"
status 1
error: the inputs have no records, so they have no shards

"#]]
    );
    for usage in [
        &["--min-ply", "3"][..],
        &["--max-abs-eval", "300"],
        &["--to", "psv"],
        &["--shard", "4/3"],
        &["--in-check", "maybe"],
        &["--name", "a/b"],
        &["--no-such-option"],
        &["--depth", "5000"],
    ] {
        assert_eq!(run(&[&input], &[&["--force"], usage].concat()).code, Some(2), "{usage:?}");
    }
    assert_eq!(run(&[], &[]).code, Some(2));
    assert_eq!(gen_filter(&dir).args([&input]).run().code, Some(2));
    assert!(dir.names("out").iter().all(|name| !name.ends_with(".partial")));
}

#[test]
fn resuming_a_finished_run_repeats_its_exit_status_and_report() {
    let dir = Dir::new();
    dir.write("a.hcp", archive(Format::Hcp, 20));
    let run = || gen_filter(&dir).args(["a.hcp", "-o", "out"]);
    let first = run().fails(3);
    let again = run().args(["--resume"]).fails(3);
    assert_eq!(again, format!("nothing to do: the run has already finished\n{first}"));
}

#[test]
fn output_names_that_are_folders_are_refused_before_the_search() {
    let dir = Dir::new();
    dir.write("a.hcp", good(20));
    let refuses = |name: &str, command: TestCommand| {
        let place = dir.join("out").join(name);
        fs::create_dir_all(&place).unwrap();
        let refusal = command.args(["--force"]).run().transcript.replace(name, "NAME");
        assert_data_eq!(
            refusal,
            str![[r#"
status 2
error: out/NAME is a folder

"#]]
        );
        assert_eq!(dir.names("out"), [name]);
        fs::remove_dir(place).unwrap();
    };
    for name in [
        "a.hcp",
        "a.hcp.mated.partial",
        "a.quarantine.jsonl",
        "a.manifest.json",
        "a.manifest.json.partial",
        "a.checkpoint",
        "a.checkpoint.partial",
        "a.lock",
    ] {
        refuses(name, gen_filter(&dir).args(["a.hcp", "-o", "out"]));
    }
    let dataset = ["dataset", "a.hcp", "-o", "out", "--to", "npz", "--nodes", "10"];
    refuses("a.npz.rows.partial", dir.kyokumen(dataset));
    let quarantine = ["--on-error", "quarantine"];
    let convert = ["convert", "a.hcp", "-o", "out/b.sfen"];
    refuses("b.quarantine.jsonl", dir.kyokumen(convert).args(quarantine));
    let shuffle = ["shuffle", "a.hcp", "-o", "out/b.hcp"];
    refuses("b.hcp.manifest.json", dir.kyokumen(shuffle));
    let table = ["marubatsu", "dataset", "-o", "out/b.jsonl"];
    refuses("b.jsonl.partial", dir.kyokumen(table));
    // Longer than a file name may be.
    let name = "n".repeat(240);
    let words = ["a.hcp", "-o", "out", "--on-error", "skip", "--name", &name];
    gen_filter(&dir).args(words).fails(1);
    assert_eq!(dir.names("out"), [""; 0]);
}

#[test]
fn standard_input_gives_the_outputs_of_a_file() {
    let dir = Dir::new();
    let input = dir.write("a.hcp", archive(Format::Hcp, 500));
    gen_filter(&dir).args(["a.hcp", "-o", "file"]).exits(&[3]);
    let words = ["-", "--from", "hcp", "--name", "a", "-o", "stdin"];
    let mut command = gen_filter(&dir).args(words);
    command.0.stdin(fs::File::open(input).unwrap());
    command.exits(&[3]);
    for name in ["a.hcp", "a.hcp.mated", "a.quarantine.bin"] {
        assert!(dir.read(format!("file/{name}")) == dir.read(format!("stdin/{name}")));
    }
}

#[test]
fn the_command_line_overrides_a_configuration_file() {
    let dir = Dir::new();
    let input = dir.write("a.hcp", good(3));
    let config =
        "depth = 5\nnodes = 7\nin-check = \"and\"\nmated = \"drop\"\non-error = \"skip\"\n";
    let config = dir.write("c.toml", config.as_bytes());
    let run = |config: &Path| {
        let paths = [&input, Path::new("-o"), &dir.join("out"), Path::new("--config"), config];
        gen_filter(&dir).args(paths)
    };
    run(&config).succeeds();
    let manifest = dir.json("out/a.manifest.json");
    let settings = &manifest["settings"];
    assert_eq!((&settings["depth"], &settings["nodes"]), (&5.into(), &100.into()));
    assert_eq!((&settings["in-check"], &settings["mated"]), (&"and".into(), &"drop".into()));
    assert_eq!(dir.names("out"), ["a.hcp", "a.manifest.json", "a.mated.jsonl", "a.unknown.jsonl"]);

    assert_data_eq!(
        run(&dir.write("typo.toml", b"dept = 5\n")).run().transcript,
        str![[r#"
status 2
error: [FOLDER]/typo.toml: unknown option dept; did you mean depth?

"#]]
    );
}

#[test]
fn the_files_in_configs_are_valid() {
    let dir = Dir::new();
    dir.write("a.hcp", good(1));
    for name in ["seed.toml", "quick.toml"] {
        let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs").join(name);
        let command = dir.kyokumen(["filter", "a.hcp", "-o", name, "--config"]);
        command.args([config]).succeeds();
    }
}

#[test]
fn a_dry_run_creates_nothing() {
    let dir = Dir::new();
    dir.write("a.hcp", good(50));
    let text = gen_filter(&dir).args(["a.hcp", "-o", "out", "--dry-run"]).run().text();
    assert!(
        text.contains("50 records from record 0") && text.contains("a.manifest.json"),
        "{text}"
    );
    assert!(!dir.join("out").exists());
    let words = ["a.hcp", "a.hcp", "-o", "out", "--dry-run", "--limit", "60"];
    let text = gen_filter(&dir).args(words).run().text();
    let read = "read a.hcp as hcp, 50 records from record 0\nread a.hcp as hcp, 10 records from record 0\n";
    assert!(text.starts_with(read), "{text}");
    let resumed = || gen_filter(&dir).args(["a.hcp", "-o", "out", "--dry-run", "--resume"]);
    assert!(!resumed().run().text().contains("found "));
    gen_filter(&dir).args(["a.hcp", "-o", "out"]).succeeds();
    let text = resumed().run().text();
    let finished = "found out/a.manifest.json: the run has finished, so nothing will be written\n";
    assert!(text.ends_with(finished), "{text}");
    dir.write("out/a.checkpoint", "");
    let text = resumed().run().text();
    assert!(text.contains("found out/a.checkpoint: the interrupted run will continue"), "{text}");
    assert!(text.contains("50 records: about"), "{text}");
}

#[test]
fn a_closed_standard_output_is_not_an_error() {
    let dir = Dir::new();
    dir.write("a.hcp", good(50));
    let words = ["a.hcp", "-o", ".", "--dry-run", "--name", "b"];
    let mut command = gen_filter(&dir).args(words);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.0.stdout(writer).stderr(Stdio::piped());
    assert_eq!(command.succeeds().stderr, "");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_run_without_outputs() {
    use std::io::Write;

    use crate::signals::send;

    for (signal, code) in [(libc::SIGINT, 130), (libc::SIGTERM, 143)] {
        let dir = Dir::new();
        let words = ["-", "--from", "hcp", "--name", "a", "-o", "out"];
        let mut command = gen_filter(&dir).args(words);
        let command = command.0.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Standard input stays open: the run cannot end by itself.
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&good(200)).unwrap();
        while !dir.join("out/a.hcp.partial").exists() {
            std::thread::yield_now();
        }
        send(signal, &child);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert_data_eq!(
            String::from_utf8(output.stderr).unwrap(),
            str![[r#"
error: interrupted; unfinished outputs were removed

"#]]
        );
        assert_eq!(dir.names("out"), [""; 0]);
    }
}

#[test]
fn comments_in_text_are_skipped_and_counted() {
    let dir = Dir::new();
    let position = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n";
    let text = format!("# two positions\n{position}#\n{position}");
    dir.write("a.sfen", text);
    gen_filter(&dir).args(["a.sfen", "-o", "out"]).succeeds();
    assert_eq!(dir.text("out/a.sfen"), position.repeat(2));
    let manifest = dir.json("out/a.manifest.json");
    assert_eq!(manifest["counts"]["input"], 4);
    assert_eq!(manifest["counts"]["filtered"]["comment"], 2);
}

#[test]
fn progress_and_metrics_are_machine_readable() {
    let dir = Dir::new();
    dir.write("a.hcp", good(50));
    let words = ["a.hcp", "-o", "out", "--metrics", "run.prom", "--progress", "json", "--shard"];
    let command = dir.program("gen-filter", words);
    let message = command.args(["1/2", "--nodes", "10", "--hash-mb", "1"]).run().stderr;
    let lines = json_lines(&message);
    assert!(lines.iter().all(|line| line["time"].as_str().unwrap().starts_with("20")));
    let ended = lines.last().unwrap();
    assert_eq!([&ended["type"], &ended["run"], &ended["shard"]], ["done", "a", "1/2"]);
    assert_eq!(ended["exit_status"], 0);
    assert!(lines.iter().any(|line| line["type"] == "message"), "{message}");
    let progress = lines.iter().rfind(|line| line["type"] == "progress").unwrap();
    let mut keys: Vec<_> = progress.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let expected = [
        "bad",
        "done",
        "elapsed_s",
        "eta_s",
        "kept",
        "loss",
        "rate",
        "run",
        "shard",
        "time",
        "total",
        "type",
        "unknown",
        "win",
    ];
    assert_eq!(keys, expected);
    assert_eq!([&progress["done"], &progress["total"]], [25, 25]);
    let metrics = dir.text("run.prom");
    for line in [
        r#"kyokumen_records_total{run="a",shard="1/2"} 25"#,
        r#"kyokumen_records_planned{run="a",shard="1/2"} 25"#,
        r#"kyokumen_running{run="a",shard="1/2"} 0"#,
    ] {
        assert!(metrics.lines().any(|found| found == line), "{metrics}");
    }
    let documentation = include_str!("../../docs/running.md");
    for name in metrics.lines().filter_map(|line| line.strip_prefix("# TYPE kyokumen_")) {
        let name = name.split(' ').next().unwrap();
        assert!(documentation.contains(&format!("`{name}")), "{name}");
    }
}

/// The JSON objects of a text in which each line is one.
fn json_lines(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn errors_and_log_lines_are_json_if_the_progress_is_json() {
    let dir = Dir::new();
    dir.write("a.hcp", good(5));
    dir.write("a.toml", "progress = \"json\"\n");
    for (words, kinds, status) in [
        ("missing.hcp -o out --progress json", &["error", "done"][..], 1),
        ("a.hcp -o out --progress=json --shard 3/2", &["error", "done"], 2),
        ("a.hcp -o out --config missing.toml --progress json", &["error", "done"], 1),
        ("a.hcp -o out --config a.toml -v --nodes 1 --hash-mb 1", &["info", "message", "done"], 0),
    ] {
        let message = dir.program("gen-filter", words.split(' ')).exits(&[status]).stderr;
        let lines = json_lines(&message);
        for kind in kinds {
            assert!(lines.iter().any(|line| line["type"] == *kind), "{kind}: {message}");
        }
        assert_eq!(lines.last().unwrap()["exit_status"], status, "{message}");
    }
    // Errors before the work have the labels of the run, too.
    let shard = "a.hcp -o shards --progress json -v --nodes 1 --hash-mb 1 --shard 1/2";
    let command = |words: &str| dir.program("gen-filter", words.split(' '));
    command(shard).succeeds();
    let (exists, dry) = (command(shard), command(&format!("{shard} --resume --dry-run")));
    for message in [exists.fails(1), dry.succeeds().stderr] {
        let lines = json_lines(&message);
        // The first line contains only the version.
        for line in &lines[1..] {
            assert_eq!([&line["run"], &line["shard"]], ["a", "1/2"], "{message}");
        }
    }
    for (words, run) in [
        ("split a.hcp -o parts --parts 3 --progress json", "a"),
        ("split a.hcp -o parts --parts 3 --progress json --name b", "b"),
        ("convert a.hcp -o c.sfen --progress json", "c"),
        ("merge shards -o d.hcp --progress json", "d"),
    ] {
        for line in json_lines(&dir.line(words).exits(&[0, 1]).stderr) {
            assert_eq!(line["run"], run, "{words}");
        }
    }
    // The last option counts.
    let words = "missing.hcp -o out --progress json --progress none";
    let message = dir.program("gen-filter", words.split(' ')).exits(&[2]).stderr;
    assert!(message.starts_with("error: "), "{message}");
}

#[test]
fn status_watches_until_all_shards_are_done() {
    let dir = Dir::new();
    dir.write("a.hcp", good(50));
    let shard = |shard| {
        let words = ["a.hcp", "-o", "out", "--nodes", "1", "--hash-mb", "1", "--shard", shard];
        dir.program("gen-filter", words).succeeds()
    };
    shard("1/2");
    let mut command = dir.kyokumen(["status", "out", "--watch=1"]).0;
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut shown = String::new();
    stdout.read_line(&mut shown).unwrap();
    shard("2/2");
    stdout.read_to_string(&mut shown).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(shown.starts_with("a: 1 done, 1 missing; 25 of about 50 records"), "{shown}");
    assert!(shown.contains("\na: 2 done; 50 of 50 records"), "{shown}");
    let mut command = dir.kyokumen(["status", "early", "--watch=1"]).0;
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut message = String::new();
    stderr.read_line(&mut message).unwrap();
    let words = ["a.hcp", "-o", "early", "--nodes", "1", "--hash-mb", "1"];
    dir.program("gen-filter", words).succeeds();
    let shown = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    stderr.read_to_string(&mut message).unwrap();
    assert!(shown.contains("a: 1 done; 50 of 50 records\n"), "{shown}");
    assert_eq!(message, "waiting for the first run in early\n");
    let once = dir.kyokumen(["status", "out", "--watch"]).succeeds().text();
    assert_eq!(once.matches("a: 2 done").count(), 1);
    let merged = dir.line("merge out -o all.hcp").succeeds().stderr;
    assert!(
        merged.ends_with("all shards: 50 records: 50 kept (15 of them unknown), 0 mated\n"),
        "{merged}"
    );
}

#[test]
fn metrics_are_served_only_at_a_free_address() {
    let dir = Dir::new();
    dir.write("a.hcp", good(20));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let mut transcripts = String::new();
    for address in [&*port, "host:9464"] {
        let command = gen_filter(&dir).args(["a.hcp", "-o", "out", "--metrics-listen", address]);
        transcripts += &command.run().transcript.replace(&port, "PORT");
        assert!(!dir.join("out/a.manifest.json").exists());
    }
    assert_data_eq!(
        transcripts,
        str![[r#"
status 1
error: cannot serve metrics at 127.0.0.1:PORT; choose another address or port: Address already in use (os error 98)
status 2
error: invalid value 'host:9464' for '--metrics-listen <[ADDR:]PORT>': expected a port, as in 9464, or an IP address with a port, as in 0.0.0.0:9464

For more information, try '--help'.

"#]]
    );
    drop(taken);
    let local = format!("localhost:{port}");
    let served = gen_filter(&dir).args(["a.hcp", "-o", "out", "-v", "--metrics-listen", &local]);
    let message = served.exits(&[0]).stderr;
    assert!(message.contains(&format!("metrics: http://127.0.0.1:{port}/metrics")), "{message}");
}

#[test]
fn a_dry_run_estimates_time_and_size() {
    let dir = Dir::new();
    let lines: Vec<u8> =
        records(300, 11).iter().flat_map(|record| encoded(Format::Sfen, record)).collect();
    dir.write("a.hcp", good(300));
    dir.write("b.sfen", &lines);
    // The lines contain the name of the input as it was given.
    for (input, kib) in [("a.hcp", 12.7), ("b.sfen", 30.8)] {
        let command = gen_filter(&dir).args([input]).args(["-o", "out", "--dry-run"]);
        let text = command.run().text();
        assert!(text.contains("write "), "{text}");
        // 300 records are few enough to measure all of them.
        assert!(text.contains("\n300 records: about "), "{text}");
        assert!(text.contains(" s with 2 threads, "), "{text}");
        assert!(text.ends_with(&format!("\noutputs: about {kib} KiB\n")), "{text}");
        assert!(!dir.join("out").exists());
    }
}

#[test]
fn metrics_are_not_written_over_an_input() {
    let dir = Dir::new();
    let input = dir.write("a.hcp", good(20));
    let command = gen_filter(&dir).args(["-o", "out", "--metrics"]).args([&input, &input]);
    assert_data_eq!(
        command.run().transcript,
        str![[r#"
status 2
error: [FOLDER]/a.hcp would overwrite the input [FOLDER]/a.hcp; choose another output

"#]]
    );
    assert_eq!(fs::read(&input).unwrap(), good(20));
}

#[test]
fn resume_is_refused_where_it_cannot_work() {
    let dir = Dir::new();
    let input = dir.write("a.hcp", good(20));
    let refusal = |words: &[&str]| {
        let out = [Path::new("-o"), &dir.join("out")];
        gen_filter(&dir).args(words).args(out).args(["--resume"]).run().transcript
    };
    let input = input.to_str().unwrap();
    let settings = dir.write("a.toml", b"force = true");
    let refused = [
        refusal(&["-", "--from", "hcp"]),
        refusal(&[input, "--force"]),
        refusal(&[input, "--config", settings.to_str().unwrap()]),
    ];
    assert_data_eq!(
        refused.concat(),
        str![[r#"
status 2
error: standard input can only be read once, from its start to its end: --resume reads inputs again; write the data to a file first
status 2
error: the argument '--force' cannot be used with '--resume'

Usage: gen-filter --output <DIR> --progress <auto|bar|plain|json|none> --threads <THREADS> --nodes <NODES> --hash-mb <MIB> --force <INPUT>...

For more information, try '--help'.
status 2
error: [FOLDER]/a.toml: `force` contradicts --resume on the command line; remove one of them

"#]]
    );
    if cfg!(feature = "parquet") {
        assert_data_eq!(
            refusal(&[input, "--to", "parquet"]),
            str![[r#"
status 2
error: [FOLDER]/out/a.parquet cannot be resumed; write jsonl.zst instead and convert it afterwards

"#]]
        );
    }
}

#[test]
#[cfg(unix)]
fn the_name_of_a_link_selects_the_program() {
    let dir = Dir::new();
    for (link, name) in [
        ("gen-filter", "gen-filter "),
        ("Gen-Filter.EXE", "gen-filter "),
        ("kyokumen-usi", "kyokumen-usi "),
        ("KYOKUMEN-USI.exe", "kyokumen-usi "),
        ("other", "kyokumen "),
    ] {
        let link = dir.join(link);
        std::os::unix::fs::symlink(assert_cmd::cargo::cargo_bin("kyokumen"), &link).unwrap();
        let output = std::process::Command::new(link).arg("--version").output().unwrap();
        assert!(String::from_utf8(output.stdout).unwrap().starts_with(name), "{name}");
    }
    // An engine for graphical interfaces starts without arguments.
    let ran = dir.program("kyokumen-usi", [""; 0]).stdin(b"usi\nquit\n".to_vec()).succeeds();
    assert!(ran.text().ends_with("usiok\n"));
}
