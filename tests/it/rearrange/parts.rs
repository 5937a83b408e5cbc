//! `split --size` and `--records`: parts that are filled one after the other.

use kyokumen::format::{Format, count};

use super::{SHAPES, assert_refused, file, good, in_chunks, write_input};
use crate::harness::Dir;

/// The chunks of each part, computed from the definition.
fn filled(format: Format, chunks: &[Vec<u8>], by_bytes: bool, most: usize) -> Vec<Vec<Vec<u8>>> {
    let head = if by_bytes { format.header().len() } else { 0 };
    let size = |chunk: &Vec<u8>| {
        let line = if format.is_lines() { chunk.trim_ascii_end() } else { chunk };
        if by_bytes { chunk.len() } else { usize::try_from(count(format, line)).unwrap() }
    };
    let (mut parts, mut taken) = (vec![Vec::new()], head);
    for chunk in chunks {
        if taken + size(chunk) > most {
            parts.push(Vec::new());
            taken = head;
        }
        taken += size(chunk);
        parts.last_mut().unwrap().push(chunk.clone());
    }
    parts
}

#[test]
fn no_part_of_a_replaced_split_stays() {
    let dir = Dir::new();
    dir.line("generate --count 20 --seed 1 -o a.psv").succeeds();
    dir.line("split a.psv -o p --parts 4").succeeds();
    let why = "a-00001-of-00004.psv and 3 more of the replaced split would stay in p; remove the old parts first";
    for option in ["--parts 3", "--records 7 --name a"] {
        let line = format!("split a.psv -o p --force {option}");
        assert_refused(&dir, &line.split(' ').collect::<Vec<_>>(), why);
    }
    dir.line("split a.psv -o p --force --parts 4 --by ranges").succeeds();
    dir.line("split a.psv -o p --force --parts 3 --to psv.zst").succeeds();
    std::fs::remove_dir_all(dir.join("p")).unwrap();
    dir.line("split a.psv -o p --force --parts 3").succeeds();
}

#[test]
fn parts_hold_as_many_whole_chunks_as_fit() {
    for extension in SHAPES.into_iter().chain(["usi", "pack", "sbinpack", "db"]) {
        let dir = Dir::new();
        let input = write_input(&dir, extension);
        let format = Format::from_extension(extension).unwrap();
        let whole = file(&dir, &input);
        let chunks = in_chunks(format, &whole);
        let largest = chunks.iter().map(Vec::len).max().unwrap() + format.header().len();
        let size = largest.max(whole.len() / 7).to_string();
        for (option, most) in [("--size", &*size), ("--records", "1000")] {
            for to in [extension.to_owned(), format!("{extension}.zst")] {
                let words = ["split", &input, "-o", "p", option, most, "--to", &to, "--force"];
                dir.kyokumen(&words).succeeds();
                let most: usize = most.parse().unwrap();
                let expected = filled(format, &chunks, option == "--size", most);
                let parts = expected.len();
                for (number, expected) in (1..).zip(expected) {
                    let name = format!("a-{number:05}-of-{parts:05}.{to}");
                    let part = file(&dir, &format!("p/{name}"));
                    assert!(option == "--records" || part.len() <= most, "{name}");
                    assert!(in_chunks(format, &part) == expected, "{name} {option}");
                }
                let manifest = dir.json("p/a.manifest.json");
                assert_eq!(manifest["settings"]["parts"], parts);
                assert_eq!(manifest["settings"][&option[2..]], most.to_string());
                dir.kyokumen(["verify", "--manifest", "p/a.manifest.json"]).succeeds();
                std::fs::remove_dir_all(dir.join("p")).unwrap();
            }
        }
    }
}

#[test]
fn the_last_part_holds_the_rest_and_there_is_at_least_one_part() {
    let dir = Dir::new();
    let bytes = good(Format::Psv, 101);
    dir.write("a.psv", &bytes);
    dir.write("cut.psv", &bytes[..bytes.len() - 1]);
    dir.write("none.psv", b"");
    for (input, limit, parts, last) in [
        ("a.psv", ["--size", "1K"], 5, 1),
        ("a.psv", ["--size", "4040"], 1, 101),
        ("a.psv", ["--records", "50"], 3, 1),
        // A truncated record does not count.
        ("cut.psv", ["--records", "50"], 2, 50),
    ] {
        let words = ["split", input, "-o", "p", "--name", "n", "--on-error", "skip"];
        dir.kyokumen([&words[..], &limit].concat()).exits(&[if input == "a.psv" { 0 } else { 3 }]);
        let name = format!("n-{parts:05}-of-{parts:05}.psv");
        assert_eq!(file(&dir, &format!("p/{name}")).len(), last * 40, "{input} {limit:?}");
        std::fs::remove_dir_all(dir.join("p")).unwrap();
    }
    dir.kyokumen(["split", "none.psv", "-o", "p", "--size", "1K"]).exits(&[3]);
    assert_eq!(file(&dir, "p/none-00001-of-00001.psv"), b"");
}

#[test]
fn parts_that_exist_are_not_replaced() {
    let dir = Dir::new();
    dir.write("a.psv", good(Format::Psv, 4));
    std::fs::create_dir(dir.join("p")).unwrap();
    dir.write("p/a-00002-of-00002.psv", b"mine");
    let words = ["split", "a.psv", "-o", "p", "--records", "2"];
    assert_refused(&dir, &words, "a-00002-of-00002.psv exists; replace it with --force");
    assert_eq!(dir.names("p").len(), 1);
    dir.kyokumen([&words[..], &["--force"]].concat()).succeeds();
    assert!(file(&dir, "p/a-00002-of-00002.psv") == good(Format::Psv, 4)[80..]);
}

/// More parts than the soft limit of open files allows, and more than the hard limit allows.
#[cfg(unix)]
#[test]
fn the_limit_of_open_files_limits_the_number_of_parts() {
    let dir = Dir::new();
    dir.write("a.psv", good(Format::Psv, 120));
    for (limit, status) in [("-Sn 64", 0), ("-n 100", 2)] {
        for parts in ["--records 1", "--parts 120 --by ranges", "--parts 120"] {
            let command = dir.line(&format!("split a.psv -o p --force {parts}"));
            let message = command.in_shell(&format!("ulimit {limit}")).exits(&[status]).stderr;
            let most = if parts.ends_with("120") { 18 } else { 36 };
            let refused = format!(
                "cannot write 120 parts: this process may write at most {most} files at the same time"
            );
            assert_eq!(message.contains(&refused), status == 2, "{message}");
        }
    }
}
