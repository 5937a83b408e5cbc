//! `gen-filter` as a program: exit statuses, standard input, signals, configuration files.
//!
//! The statuses are those of the command line's documentation: 0, 1, 2, 3, 130, 143.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use kyokumen::format::Format;
use snapbox::{assert_data_eq, str};
use tempfile::TempDir;

use crate::archive::{archive, encoded, records, write};
use crate::messages::told;

fn gen_filter() -> Command {
    let mut command = Command::new(cargo_bin("gen-filter"));
    command.args(["--progress", "none", "--threads", "2", "--nodes", "100", "--hash-mb", "1"]);
    command
}

fn status(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn good(count: usize) -> Vec<u8> {
    records(count, 11).iter().flat_map(|record| encoded(Format::Hcp, record)).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn exit_statuses_are_those_documented() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &good(20));
    let bad = write(folder.path(), "bad.hcp", &archive(Format::Hcp, 20));
    let odd = write(folder.path(), "a.bin", &[0xFF; 100]);
    let unnamed = write(folder.path(), "b.bin", &good(20));
    let out = folder.path().join("out");
    let run = |inputs: &[&Path], more: &[&str]| {
        status(gen_filter().args(inputs).arg("-o").arg(&out).args(more))
    };
    assert_eq!(run(&[&input], &[]).0, Some(0));
    let (code, message) = run(&[&input], &[]);
    let mut refused = told(folder.path(), code, &message);
    assert_eq!(run(&[&input], &["--force"]).0, Some(0));
    assert_eq!(run(&[&bad], &[]).0, Some(3));
    assert_eq!(run(&[&bad], &["--force", "--on-error", "stop"]).0, Some(1));
    let (code, message) = run(&[&odd], &[]);
    refused += &told(folder.path(), code, &message);
    assert_data_eq!(
        refused,
        str![[r#"
status 2
error: [FOLDER]/out/a.hcp exists; replace it with --force
status 2
error: [FOLDER]/a.bin is of no known format: neither its name nor its content says one; say it with --from

"#]]
    );
    assert_eq!(run(&[&unnamed], &["--from", "hcp", "--name", "odd"]).0, Some(0));
    assert_eq!(run(&[&folder.path().join("missing.hcp")], &[]).0, Some(1));
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
        assert_eq!(run(&[&input], &[&["--force"], usage].concat()).0, Some(2), "{usage:?}");
    }
    assert_eq!(run(&[], &[]).0, Some(2));
    assert_eq!(status(gen_filter().arg(&input)).0, Some(2));
    assert!(names(&out).iter().all(|name| !name.ends_with(".partial")));
}

#[test]
fn what_was_done_with_bad_records_ends_the_same_again() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &archive(Format::Hcp, 20));
    let out = folder.path().join("out");
    let run = |more: &[&str]| status(gen_filter().arg(&input).arg("-o").arg(&out).args(more));
    let (code, told) = run(&[]);
    assert_eq!(code, Some(3), "{told}");
    let (code, told_again) = run(&["--resume"]);
    assert_eq!(code, Some(3), "{told_again}");
    assert_eq!(told_again, format!("nothing to do: the run was done before\n{told}"));
}

#[test]
fn names_that_cannot_be_given_are_refused_before_the_search() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &good(20));
    let kyokumen = || Command::new(cargo_bin("kyokumen"));
    let refuses = |name: &str, command: &mut Command| {
        let place = folder.path().join("out").join(name);
        fs::create_dir_all(&place).unwrap();
        let (code, message) = status(command.arg("--force").current_dir(&folder));
        let refusal = told(folder.path(), code, &message).replace(name, "NAME");
        assert_data_eq!(
            refusal,
            str![[r#"
status 2
error: out/NAME is a folder

"#]]
        );
        assert_eq!(names(&folder.path().join("out")), [name]);
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
        refuses(name, gen_filter().arg(&input).args(["-o", "out"]));
    }
    let dataset = ["dataset", "a.hcp", "-o", "out", "--to", "npz", "--nodes", "10"];
    refuses("a.npz.rows.partial", kyokumen().args(dataset));
    let quarantine = ["--on-error", "quarantine"];
    let convert = ["convert", "a.hcp", "-o", "out/b.sfen"];
    refuses("b.quarantine.jsonl", kyokumen().args(convert).args(quarantine));
    let shuffle = ["shuffle", "a.hcp", "-o", "out/b.hcp"];
    refuses("b.hcp.manifest.json", kyokumen().args(shuffle));
    let table = ["marubatsu", "dataset", "-o", "out/b.jsonl"];
    refuses("b.jsonl.partial", kyokumen().args(table));
    // Longer than any name may be.
    let name = "n".repeat(240);
    let command = &mut gen_filter();
    let command = command.arg(&input).args(["-o", "out", "--on-error", "skip", "--name", &name]);
    let (code, message) = status(command.current_dir(&folder));
    assert_eq!(code, Some(1), "{message}");
    assert_eq!(names(&folder.path().join("out")), [""; 0]);
}

#[test]
fn standard_input_gives_the_outputs_of_a_file() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &archive(Format::Hcp, 500));
    let outs = ["file", "stdin"].map(|name| folder.path().join(name));
    assert_eq!(status(gen_filter().arg(&input).arg("-o").arg(&outs[0])).0, Some(3));
    let stdin = fs::File::open(&input).unwrap();
    let mut command = gen_filter();
    command.args(["-", "--from", "hcp", "--name", "a", "-o"]).arg(&outs[1]).stdin(stdin);
    assert_eq!(status(&mut command).0, Some(3));
    for name in ["a.hcp", "a.hcp.mated", "a.quarantine.bin"] {
        assert!(fs::read(outs[0].join(name)).unwrap() == fs::read(outs[1].join(name)).unwrap());
    }
}

#[test]
fn a_configuration_file_yields_to_the_command_line() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &good(3));
    let config =
        "depth = 5\nnodes = 7\nin-check = \"and\"\nmated = \"drop\"\non-error = \"skip\"\n";
    let config = write(folder.path(), "c.toml", config.as_bytes());
    let out = folder.path().join("out");
    let run = |config: &Path| {
        status(gen_filter().arg(&input).arg("-o").arg(&out).arg("--config").arg(config))
    };
    let (code, message) = run(&config);
    assert_eq!(code, Some(0), "{message}");
    let manifest = fs::read(out.join("a.manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let settings = &manifest["settings"];
    assert_eq!((&settings["depth"], &settings["nodes"]), (&5.into(), &100.into()));
    assert_eq!((&settings["in-check"], &settings["mated"]), (&"and".into(), &"drop".into()));
    assert_eq!(names(&out), ["a.hcp", "a.manifest.json", "a.mated.jsonl", "a.unknown.jsonl"]);

    let (code, message) = run(&write(folder.path(), "typo.toml", b"dept = 5\n"));
    assert_data_eq!(
        told(folder.path(), code, &message),
        str![[r#"
status 2
error: [FOLDER]/typo.toml: there is no option dept; there are output, [..], limit

"#]]
    );
}

#[test]
fn the_ready_settings_are_valid() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &good(1));
    for name in ["seed.toml", "quick.toml"] {
        let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs").join(name);
        let out = folder.path().join(name);
        let mut command = Command::new(cargo_bin("kyokumen"));
        command.arg("filter").arg(&input).arg("-o").arg(out).arg("--config").arg(config);
        assert_eq!(status(&mut command).0, Some(0));
    }
}

#[test]
fn a_dry_run_creates_nothing() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &good(50));
    let out = folder.path().join("out");
    let output = gen_filter().arg(&input).arg("-o").arg(&out).arg("--dry-run").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("records 0 to 50") && said.contains("a.manifest.json"), "{said}");
    assert!(!out.exists());
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &good(50));
    let mut command = gen_filter();
    command.arg(&input).arg("-o").arg(folder.path()).args(["--dry-run", "--name", "b"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command.stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_run_without_outputs() {
    use std::io::Write;

    use crate::signals::send;

    for (signal, code) in [(libc::SIGINT, 130), (libc::SIGTERM, 143)] {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("out");
        let mut command = gen_filter();
        command.args(["-", "--from", "hcp", "--name", "a", "-o"]).arg(&out);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Standard input stays open: the run cannot end by itself.
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&good(200)).unwrap();
        while !out.join("a.hcp.partial").exists() {
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
        assert_eq!(names(&out), [""; 0]);
    }
}

#[test]
fn comments_in_text_are_passed_over_and_counted() {
    let folder = TempDir::new().unwrap();
    let position = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n";
    let text = format!("# two positions\n{position}#\n{position}");
    let input = write(folder.path(), "a.sfen", text.as_bytes());
    let out = folder.path().join("out");
    assert_eq!(status(gen_filter().arg(&input).arg("-o").arg(&out)).0, Some(0));
    assert_eq!(fs::read_to_string(out.join("a.sfen")).unwrap(), position.repeat(2));
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(out.join("a.manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["counts"]["input"], 4);
    assert_eq!(manifest["counts"]["filtered"]["comment"], 2);
}

#[test]
fn programs_can_watch_a_run() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &good(50));
    let metrics = folder.path().join("run.prom");
    let mut command = Command::new(cargo_bin("gen-filter"));
    command.arg(&input).arg("-o").arg(folder.path().join("out")).arg("--metrics").arg(&metrics);
    let words = ["--progress", "json", "--shard", "1/2", "--nodes", "10", "--hash-mb", "1"];
    let output = command.args(words).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    let last = message.lines().rfind(|line| line.starts_with('{')).unwrap();
    let last: serde_json::Value = serde_json::from_str(last).unwrap();
    let mut keys: Vec<_> = last.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let expected =
        ["bad", "done", "elapsed_s", "eta_s", "kept", "loss", "rate", "total", "unknown", "win"];
    assert_eq!(keys, expected);
    assert_eq!([&last["done"], &last["total"]], [25, 25]);
    let metrics = fs::read_to_string(metrics).unwrap();
    for line in [
        r#"kyokumen_records_total{run="a",shard="1/2"} 25"#,
        r#"kyokumen_records_planned{run="a",shard="1/2"} 25"#,
        r#"kyokumen_running{run="a",shard="1/2"} 0"#,
    ] {
        assert!(metrics.lines().any(|found| found == line), "{metrics}");
    }
}

#[test]
fn a_dry_run_tells_and_writes_nothing() {
    let folder = TempDir::new().unwrap();
    let lines: Vec<u8> =
        records(300, 11).iter().flat_map(|record| encoded(Format::Sfen, record)).collect();
    for input in [write(folder.path(), "a.hcp", &good(300)), write(folder.path(), "b.sfen", &lines)]
    {
        let out = folder.path().join("out");
        let mut command = gen_filter();
        command.arg(&input).arg("-o").arg(&out).arg("--dry-run");
        let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert!(said.contains("write "), "{said}");
        // All of so few are measured.
        assert!(said.contains("\n300 records: about 0 s, between 0 s and 0 s"), "{said}");
        assert!(said.contains("measured on 300)"), "{said}");
        assert!(said.contains("\noutputs of about 0.0 MiB, between 0.0 and 0.0"), "{said}");
        assert!(!out.exists());
    }
}

#[test]
fn metrics_are_not_written_over_an_input() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &good(20));
    let mut command = gen_filter();
    command.arg(&input).arg("-o").arg(folder.path().join("out")).arg("--metrics").arg(&input);
    let (code, message) = status(&mut command);
    assert_data_eq!(
        told(folder.path(), code, &message),
        str![[r#"
status 2
error: [FOLDER]/a.hcp would be written over the input [FOLDER]/a.hcp

"#]]
    );
    assert_eq!(fs::read(&input).unwrap(), good(20));
}

#[test]
fn what_cannot_be_resumed_is_refused() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &good(20));
    let refusal = |words: &[&str]| {
        let mut command = gen_filter();
        command.args(words).arg("-o").arg(folder.path().join("out")).arg("--resume");
        let (code, message) = status(&mut command);
        told(folder.path(), code, &message)
    };
    let input = input.to_str().unwrap();
    let settings = write(folder.path(), "a.toml", b"force = true");
    let refused = [
        refusal(&["-", "--from", "hcp"]),
        refusal(&[input, "--force"]),
        refusal(&[input, "--config", settings.to_str().unwrap()]),
    ];
    assert_data_eq!(
        refused.concat(),
        str![[r#"
status 2
error: standard input can be read only once, as a whole and from its start: --resume needs files; write it to a file first
status 2
error: the argument '--force' cannot be used with '--resume'

Usage: gen-filter --progress <auto|bar|plain|json|none> --threads <THREADS> --nodes <NODES> --hash-mb <MIB> --force --output <DIR> <INPUT>...

For more information, try '--help'.
status 2
error: [FOLDER]/a.toml: --force: it cannot be given together with --resume

"#]]
    );
    if cfg!(feature = "parquet") {
        assert_data_eq!(
            refusal(&[input, "--to", "parquet"]),
            str![[r#"
status 2
error: [FOLDER]/out/a.parquet cannot be resumed: write jsonl.zst, and convert it

"#]]
        );
    }
}

#[test]
#[cfg(unix)]
fn a_link_of_its_name_is_the_program() {
    let folder = TempDir::new().unwrap();
    let link = folder.path().join("gen-filter");
    std::os::unix::fs::symlink(cargo_bin("kyokumen"), &link).unwrap();
    for (program, name) in [(link, "gen-filter "), (cargo_bin("kyokumen"), "kyokumen ")] {
        let output = Command::new(program).arg("--version").output().unwrap();
        assert!(String::from_utf8(output.stdout).unwrap().starts_with(name));
    }
}
