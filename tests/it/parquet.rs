//! Conversion from and to `.parquet` files. `tests/interop/` compares the files with pyarrow.
//!
//! A build without the feature `parquet` refuses such files.

use snapbox::{assert_data_eq, str};

use kyokumen_testing::literals::{START_PSV, bytes};

use crate::harness::{Dir, Ran};

fn convert(dir: &Dir, from: &str, to: &str, options: &[&str]) -> Ran {
    dir.kyokumen(["convert", "--progress", "none", from, "-o", to]).args(options).run()
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_names_the_feature() {
    let dir = Dir::new();
    dir.write("a.psv", bytes(&format!("{START_PSV}0a008e0701000100")));
    dir.write("a.parquet", b"");
    let transcripts = [("a.psv", "b.parquet"), ("a.parquet", "b.psv")]
        .map(|(from, to)| convert(&dir, from, to, &[]).transcript);
    assert_data_eq!(
        transcripts.concat(),
        str![[r#"
status 2
error: this build does not support Parquet; install it with `cargo install --path . --features parquet`
status 2
error: this build does not support Parquet; install it with `cargo install --path . --features parquet`

"#]]
    );
    assert!(!dir.join("b.parquet").exists());
}

#[cfg(feature = "parquet")]
mod built_in {
    use kyokumen::format::Format;
    use kyokumen::ops::generate::{GenerateSettings, Generator};

    use super::*;

    /// Enough games for two row groups.
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
    fn parquet_equals_json_lines_for_any_number_of_threads() {
        let dir = Dir::new();
        let lines = generated(Format::Jsonl, RECIPE);
        dir.write("a.jsonl", &lines);
        let read = |name: &str| dir.read(name);
        for threads in ["1", "2"] {
            let name = format!("{threads}.parquet");
            let ran = convert(&dir, "a.jsonl", &name, &["--threads", threads]);
            assert!(ran.code == Some(0), "{}", ran.stderr);
        }
        assert!(read("1.parquet") == read("2.parquet"));
        assert!(read("1.parquet").len() * 5 < lines.len());
        convert(&dir, "1.parquet", "b.jsonl", &[]);
        assert!(read("b.jsonl") == lines);
    }

    #[test]
    fn missing_fields_stay_missing() {
        let dir = Dir::new();
        let start = kyokumen::shogi::sfen::START;
        let lines = format!(
            "{{\"sfen\":\"{start}\"}}\n{{\"sfen\":\"{start}\",\"move\":\"none\",\"eval\":-32768,\"ply\":65535,\
             \"result\":\"draw\",\"ending\":\"time_up\",\"end_ply\":3,\"candidates\":[{{\"move\":\"2g2f\",\
             \"visits\":7}}]}}\n"
        );
        dir.write("a.jsonl", lines.as_bytes());
        convert(&dir, "a.jsonl", "a.parquet", &[]);
        convert(&dir, "a.parquet", "b.jsonl", &[]);
        assert_eq!(dir.text("b.jsonl"), lines);

        dir.write("empty.jsonl", b"");
        convert(&dir, "empty.jsonl", "empty.parquet", &[]);
        let ran = convert(&dir, "empty.parquet", "c.jsonl", &[]);
        assert_eq!(ran.code, Some(3), "nothing was read: {}", ran.stderr);
        assert_eq!(dir.read("c.jsonl"), b"");
    }

    #[test]
    fn damaged_files_never_cause_a_panic() {
        let dir = Dir::new();
        let lines = generated(Format::Jsonl, GenerateSettings { count: 300, ..RECIPE });
        dir.write("a.jsonl", &lines);
        convert(&dir, "a.jsonl", "a.parquet", &[]);
        let whole = dir.read("a.parquet");
        for i in 0..60 {
            let at = i * whole.len() / 60;
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            for bytes in [&whole[..at], &damaged] {
                dir.write("b.parquet", bytes);
                let ran = convert(&dir, "b.parquet", "b.psv", &["--force"]);
                // Not every byte has a checksum, but no damage may cause a panic.
                assert!(matches!(ran.code, Some(0..=2)), "{at}: {}", ran.stderr);
                assert!(!ran.stderr.contains("panicked"), "{at}: {}", ran.stderr);
            }
        }
    }

    #[test]
    fn other_formats_and_standard_input_are_refused() {
        let dir = Dir::new();
        dir.write("a.psv", bytes(&format!("{START_PSV}0a008e0701000100")));
        let transcripts =
            [("a.psv", "b.parquet", ["--to", "psv"]), ("-", "b.psv", ["--from", "parquet"])]
                .map(|(from, to, options)| convert(&dir, from, to, &options).transcript);
        assert_data_eq!(
            transcripts.concat(),
            str![[r#"
status 2
error: psv.parquet is not a format: Parquet files always have the fields of jsonl; use `parquet`
status 2
error: standard input can only be read once, from its start to its end: Parquet is read from the end of the file; write the data to a file first

"#]]
        );
    }
}
