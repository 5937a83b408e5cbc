//! `split --size` and `--records`: parts that are filled one after the other.

use kyokumen::format::{Format, count};
use tempfile::TempDir;

use super::{SHAPES, file, good, in_units, is_refused, made, manifest, run, succeeds};
use crate::archive::write;

/// The units of each part, worked out from the definition.
fn filled(format: Format, units: &[Vec<u8>], by_bytes: bool, most: usize) -> Vec<Vec<Vec<u8>>> {
    let head = if by_bytes { format.header().len() } else { 0 };
    let size = |unit: &Vec<u8>| {
        let line = if format.is_lines() { unit.trim_ascii_end() } else { unit };
        if by_bytes { unit.len() } else { usize::try_from(count(format, line)).unwrap() }
    };
    let (mut parts, mut taken) = (vec![Vec::new()], head);
    for unit in units {
        if taken + size(unit) > most {
            parts.push(Vec::new());
            taken = head;
        }
        taken += size(unit);
        parts.last_mut().unwrap().push(unit.clone());
    }
    parts
}

#[test]
fn parts_are_filled_as_far_as_whole_units_have_room() {
    for extension in SHAPES.into_iter().chain(["usi", "pack", "sbinpack", "db"]) {
        let folder = TempDir::new().unwrap();
        let folder = folder.path();
        let input = made(folder, extension);
        let format = Format::from_extension(extension).unwrap();
        let whole = file(folder, &input);
        let units = in_units(format, &whole);
        let largest = units.iter().map(Vec::len).max().unwrap() + format.header().len();
        let size = largest.max(whole.len() / 7).to_string();
        for (option, most) in [("--size", &*size), ("--records", "1000")] {
            for to in [extension.to_owned(), format!("{extension}.zst")] {
                let words = ["split", &input, "-o", "p", option, most, "--to", &to, "--force"];
                let (status, message) = run(folder, &words);
                assert_eq!(status, 0, "{message}");
                let most: usize = most.parse().unwrap();
                let expected = filled(format, &units, option == "--size", most);
                let parts = expected.len();
                for (number, expected) in (1..).zip(expected) {
                    let name = format!("a-{number:05}-of-{parts:05}.{to}");
                    let part = file(&folder.join("p"), &name);
                    assert!(option == "--records" || part.len() <= most, "{name}");
                    assert!(in_units(format, &part) == expected, "{name} {option}");
                }
                let account = manifest(folder, "p/a.manifest.json");
                assert_eq!(account["settings"]["parts"], parts);
                assert_eq!(account["settings"][&option[2..]], most.to_string());
                succeeds(folder, &["verify", "--manifest", "p/a.manifest.json"]);
                std::fs::remove_dir_all(folder.join("p")).unwrap();
            }
        }
    }
}

#[test]
fn the_last_part_holds_what_is_left_and_there_is_always_one() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let bytes = good(Format::Psv, 101);
    write(folder, "a.psv", &bytes);
    write(folder, "cut.psv", &bytes[..bytes.len() - 1]);
    write(folder, "none.psv", b"");
    for (input, limit, parts, last) in [
        ("a.psv", ["--size", "1K"], 5, 1),
        ("a.psv", ["--size", "4040"], 1, 101),
        ("a.psv", ["--records", "50"], 3, 1),
        // A record that is cut off is none.
        ("cut.psv", ["--records", "50"], 2, 50),
    ] {
        let words = ["split", input, "-o", "p", "--name", "n", "--on-error", "skip"];
        let (status, message) = run(folder, &[&words[..], &limit].concat());
        assert_eq!(status, if input == "a.psv" { 0 } else { 3 }, "{message}");
        let name = format!("n-{parts:05}-of-{parts:05}.psv");
        assert_eq!(file(&folder.join("p"), &name).len(), last * 40, "{input} {limit:?}");
        std::fs::remove_dir_all(folder.join("p")).unwrap();
    }
    let (status, message) = run(folder, &["split", "none.psv", "-o", "p", "--size", "1K"]);
    assert_eq!(status, 3, "{message}");
    assert_eq!(file(&folder.join("p"), "none-00001-of-00001.psv"), b"");
}

#[test]
fn parts_that_exist_are_not_replaced() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write(folder, "a.psv", &good(Format::Psv, 4));
    std::fs::create_dir(folder.join("p")).unwrap();
    write(folder, "p/a-00002-of-00002.psv", b"mine");
    let words = ["split", "a.psv", "-o", "p", "--records", "2"];
    is_refused(folder, &words, "a-00002-of-00002.psv exists; replace it with --force");
    assert_eq!(std::fs::read_dir(folder.join("p")).unwrap().count(), 1);
    succeeds(folder, &[&words[..], &["--force"]].concat());
    assert!(file(folder, "p/a-00002-of-00002.psv") == good(Format::Psv, 4)[80..]);
}

/// More parts than a process may write at once as it is started, and than it may at all.
#[cfg(unix)]
#[test]
fn parts_are_as_many_as_the_system_allows() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write(folder, "a.psv", &good(Format::Psv, 120));
    let program = assert_cmd::cargo::cargo_bin("kyokumen");
    for (limit, status) in [("-Sn 64", 0), ("-n 100", 2)] {
        for parts in ["--records 1", "--parts 120 --by ranges", "--parts 120"] {
            let words =
                format!("ulimit {limit} && {} split a.psv -o p --force {parts}", program.display());
            let mut command = std::process::Command::new("sh");
            let output = command.args(["-c", &words]).current_dir(folder).output().unwrap();
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(status), "{words}: {message}");
            let most = if parts.ends_with("120") { 18 } else { 36 };
            let refused = format!("120 parts are more than the {most} files");
            assert_eq!(message.contains(&refused), status == 2, "{message}");
        }
    }
}
