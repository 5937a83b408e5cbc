//! `.parquet` files as a program reads and writes them; what pyarrow says of them is in `tests/interop/`.
//!
//! Without the feature `parquet` such files are refused.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;
use snapbox::{assert_data_eq, str};
use tempfile::TempDir;

use kyokumen_testing::literals::{START_PSV, bytes};

use crate::archive::write;
use crate::messages::told_by;

fn convert(folder: &Path, from: &str, to: &str, options: &[&str]) -> Output {
    let mut command = Command::new(cargo_bin("kyokumen"));
    command.current_dir(folder).args(["convert", "--progress", "none", from, "-o", to]);
    command.args(options).output().unwrap()
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_it_names_the_feature() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "a.psv", &bytes(&format!("{START_PSV}0a008e0701000100")));
    write(folder.path(), "a.parquet", b"");
    let told = [("a.psv", "b.parquet"), ("a.parquet", "b.psv")]
        .map(|(from, to)| told_by(folder.path(), &convert(folder.path(), from, to, &[])));
    assert_data_eq!(
        told.concat(),
        str![[r#"
status 2
error: this program was built without Parquet; `cargo install --path . --features parquet` builds it in
status 2
error: this program was built without Parquet; `cargo install --path . --features parquet` builds it in

"#]]
    );
    assert!(!fs::exists(folder.path().join("b.parquet")).unwrap());
}

#[cfg(feature = "parquet")]
mod built_in {
    use kyokumen::format::Format;
    use kyokumen::ops::generate::{GenerateSettings, Generator};

    use super::*;

    fn stderr(ran: &Output) -> &str {
        std::str::from_utf8(&ran.stderr).unwrap()
    }

    /// Games enough for two row groups.
    const RECIPE: GenerateSettings =
        GenerateSettings { count: 70_000, seed: 5, every: 1, most_moves: 200 };

    fn generated(format: Format, recipe: GenerateSettings) -> Vec<u8> {
        let mut generator = Generator::new(recipe);
        let mut bytes = Vec::new();
        loop {
            let encoded = generator.encode_next(format, 10_000).unwrap();
            if encoded.is_empty() {
                return bytes;
            }
            bytes.extend(encoded.bytes());
        }
    }

    #[test]
    fn columns_hold_what_lines_hold_whatever_the_threads() {
        let folder = TempDir::new().unwrap();
        let lines = generated(Format::Jsonl, RECIPE);
        write(folder.path(), "a.jsonl", &lines);
        let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
        for threads in ["1", "2"] {
            let name = format!("{threads}.parquet");
            let ran = convert(folder.path(), "a.jsonl", &name, &["--threads", threads]);
            assert!(ran.status.success(), "{}", stderr(&ran));
        }
        assert!(read("1.parquet") == read("2.parquet"));
        assert!(read("1.parquet").len() * 5 < lines.len());
        convert(folder.path(), "1.parquet", "b.jsonl", &[]);
        assert!(read("b.jsonl") == lines);
    }

    #[test]
    fn what_is_not_said_is_not_there() {
        let folder = TempDir::new().unwrap();
        let start = kyokumen::shogi::sfen::START;
        let lines = format!(
            "{{\"sfen\":\"{start}\"}}\n{{\"sfen\":\"{start}\",\"move\":\"none\",\"eval\":-32768,\"ply\":65535,\
             \"result\":\"draw\",\"ending\":\"time_up\",\"end_ply\":3,\"candidates\":[{{\"move\":\"2g2f\",\
             \"visits\":7}}]}}\n"
        );
        write(folder.path(), "a.jsonl", lines.as_bytes());
        convert(folder.path(), "a.jsonl", "a.parquet", &[]);
        convert(folder.path(), "a.parquet", "b.jsonl", &[]);
        assert_eq!(fs::read_to_string(folder.path().join("b.jsonl")).unwrap(), lines);

        write(folder.path(), "empty.jsonl", b"");
        convert(folder.path(), "empty.jsonl", "empty.parquet", &[]);
        let ran = convert(folder.path(), "empty.parquet", "c.jsonl", &[]);
        assert_eq!(ran.status.code(), Some(3), "nothing was read: {}", stderr(&ran));
        assert_eq!(fs::read(folder.path().join("c.jsonl")).unwrap(), b"");
    }

    #[test]
    fn damage_is_an_error() {
        let folder = TempDir::new().unwrap();
        let lines = generated(Format::Jsonl, GenerateSettings { count: 300, ..RECIPE });
        write(folder.path(), "a.jsonl", &lines);
        convert(folder.path(), "a.jsonl", "a.parquet", &[]);
        let whole = fs::read(folder.path().join("a.parquet")).unwrap();
        for i in 0..60 {
            let at = i * whole.len() / 60;
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            for bytes in [&whole[..at], &damaged] {
                write(folder.path(), "b.parquet", bytes);
                let ran = convert(folder.path(), "b.parquet", "b.psv", &["--force"]);
                // Not every byte is under a checksum; but nothing ends in a panic.
                assert!(matches!(ran.status.code(), Some(0..=2)), "{at}: {}", stderr(&ran));
                assert!(!stderr(&ran).contains("panicked"), "{at}: {}", stderr(&ran));
            }
        }
    }

    #[test]
    fn other_formats_and_standard_input_are_refused() {
        let folder = TempDir::new().unwrap();
        write(folder.path(), "a.psv", &bytes(&format!("{START_PSV}0a008e0701000100")));
        let told = [("a.psv", "b.parquet", ["--to", "psv"]), ("-", "b.psv", ["--from", "parquet"])]
            .map(|(from, to, options)| {
                told_by(folder.path(), &convert(folder.path(), from, to, &options))
            });
        assert_data_eq!(
            told.concat(),
            str![[r#"
status 2
error: a Parquet file holds the fields of jsonl, not psv; leave the format out
status 2
error: standard input can be read only once, as a whole and from its start: Parquet is read from its end; write it to a file first

"#]]
        );
    }
}
