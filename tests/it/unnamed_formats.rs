//! Inputs whose names do not state a format: every command detects it from the content.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use kyokumen::format::Format;
use snapbox::{assert_data_eq, str};

use crate::archive::archive;
use crate::harness::Dir;

#[test]
fn every_command_detects_the_format_from_the_content() {
    let dir = Dir::new();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample.psv");
    let bytes = fs::read(sample).unwrap();
    dir.write("a.psv", &bytes[..100 * 40]);
    dir.write("a.bin", &bytes[..100 * 40]);
    for words in [
        &["inspect", "a.X", "--json", "--range", "3..5"][..],
        &["verify", "a.X"],
        &["stats", "a.X"],
        &["convert", "a.X", "-o", "X.sfen"],
        &["filter", "a.X", "-o", "X-filtered", "--nodes", "10", "--hash-mb", "1"],
        &["dataset", "a.X", "-o", "X-rows", "--to", "jsonl", "--nodes", "10", "--hash-mb", "1"],
        &["dedup", "a.X", "-o", "X-once.psv"],
        &["shuffle", "a.X", "-o", "X-shuffled.psv"],
        &["sample", "a.X", "-o", "X-sample.psv", "--count", "5"],
        &["split", "a.X", "-o", "X-parts", "--parts", "2"],
        &["solve", "a.X", "--json", "--nodes", "10", "--hash-mb", "1"],
    ] {
        let named = |extension: &str| {
            let words: Vec<String> = words
                .iter()
                .map(|word| word.replace("a.X", &format!("a.{extension}")).replace('X', extension))
                .collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            dir.kyokumen(&words).run()
        };
        let (named, unnamed) = (named("psv"), named("bin"));
        assert_eq!((named.code, unnamed.code), (Some(0), Some(0)), "{words:?}: {}", unnamed.stderr);
        let warning = "a.bin: format detected by content, because the name does not show it: 100 of 100 records in a sample can be read as psv";
        assert!(unnamed.stderr.contains(warning), "{words:?}: {}", unnamed.stderr);
        if words[0] != "solve" {
            assert_eq!(named.text(), unnamed.text().replace("a.bin", "a.psv"), "{words:?}");
        }
    }
    for name in [".sfen", "-filtered/a.psv", "-once.psv", "-shuffled.psv", "-sample.psv"] {
        let read = |start: &str| dir.read(format!("{start}{name}"));
        assert!(read("psv") == read("bin"), "{name}");
    }
}

#[test]
fn thirty_files_without_extension_give_one_warning() {
    let dir = Dir::new();
    let sample = |name: &str| {
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)).unwrap()
    };
    let names: Vec<String> = (0..30).map(|number| format!("{number}.bin")).collect();
    for name in &names {
        dir.write(name, &sample("sample.psv")[..100 * 40]);
    }
    let words = ["convert", "-o", "all.psv"].into_iter().chain(names.iter().map(String::as_str));
    let warnings: Vec<String> = {
        let message = dir.kyokumen(words).succeeds().stderr;
        message.lines().filter(|line| line.contains("by content")).map(str::to_owned).collect()
    };
    assert_eq!(
        warnings,
        [
            " WARN 0.bin and 29 more: format detected by content, because the names do not show it: 100 of 100 records in a sample can be read as psv (figures of 0.bin); use --from to choose another format"
        ]
    );
    // Another format gets its own warning.
    dir.write("a.bin", sample("sample.csa"));
    let message =
        dir.line("convert 0.bin a.bin 1.bin -o b.psv --on-error skip --fill eval=0").run();
    let warnings = message.stderr.lines().filter(|line| line.contains("by content")).count();
    assert_eq!(warnings, 2, "{}", message.stderr);
}

#[test]
fn compressed_mated_outputs_are_recognised_by_name() {
    let dir = Dir::new();
    let bytes = archive(Format::Hcp, 100);
    dir.write("a.hcp.zst.mated", zstd::encode_all(&bytes[..], 1).unwrap());
    for more in [&[][..], &["--from", "hcp"], &["--from", "hcp.zst"]] {
        let words = [&["verify", "a.hcp.zst.mated", "--json"], more].concat();
        let ran = dir.kyokumen(words).run();
        assert!(ran.text().contains("\"records\":100,"), "{more:?}: {}", ran.transcript);
    }
}

#[test]
fn errors_about_folders_and_unknown_formats_state_what_to_do() {
    let dir = Dir::new();
    fs::create_dir(dir.join("games")).unwrap();
    dir.write("games/a.hcpe", archive(Format::Hcpe, 3));
    dir.write("games/a.jsonl", b"");
    dir.write("b.bin", [7; 1000]);
    let commands = ["stats", "inspect", "verify"];
    let folders = ["solve"].into_iter().chain(commands).map(|command| [command, "games"]);
    let words = folders.chain(commands.map(|command| [command, "b.bin"]));
    let all: BTreeSet<String> = words.map(|words| dir.kyokumen(&words).run().transcript).collect();
    assert_data_eq!(
        all.into_iter().collect::<String>(),
        str![[r#"
status 2
error: b.bin has an unknown format: neither its name nor its content shows one; specify it with --from
status 2
error: games is a folder; give the files in it, for example games/*.hcpe

"#]]
    );
}
