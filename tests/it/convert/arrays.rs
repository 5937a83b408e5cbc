//! Arrays of numpy: the report, and bytes that depend only on records and settings. `tests/interop/arrays.py` compares
//! the content with numpy and cshogi.

use kyokumen::format::Format;
use snapbox::{assert_data_eq, str};

use super::convert;
use crate::archive::archive;
use crate::harness::Dir;

#[test]
fn bytes_do_not_depend_on_threads() {
    let dir = Dir::new();
    dir.write("a.psv", archive(Format::Psv, 20_000));
    let made = |name: &str, options: &[&str]| {
        let words = ["convert", "--on-error", "skip", "a.psv", "-o", name];
        dir.kyokumen(words).args(options).exits(&[3]);
        dir.read(name)
    };
    let one = made("one.npz", &["--threads", "1"]);
    assert!(one == made("four.npz", &["--threads", "4"]));
    assert!(one == made("named.npz", &["--to", "npz", "--family", "apery"]));
    assert!(one != made("other.npz", &["--family", "yaneuraou"]));
    assert!(dir.names("").iter().all(|name| !name.contains("partial")));
}

#[test]
fn missing_fields_are_reported() {
    let dir = Dir::new();
    dir.write("a.hcpe", archive(Format::Hcpe, 4));
    dir.write("b.psv", archive(Format::Psv, 4));
    let one = convert(&dir, "a.hcpe", "a.npz", &[]);
    let other = dir.join("b.psv");
    let both = convert(&dir, "a.hcpe", "c.npz", &[other.to_str().unwrap(), "--json"]);
    let report = both.json();
    assert_eq!(report["counts"]["missing"]["ply"], 4);
    assert_eq!(report["counts"]["written"], 8);
    assert_eq!(report["outputs"][0]["records"], 8);
    assert_eq!(report["inputs"][0]["absent"][0], "ply");
    let filled = convert(&dir, "a.hcpe", "d.npz", &["--fill", "ply=0"]);
    assert_data_eq!(
        one.transcript + &filled.transcript,
        str![[r#"
status 0
hcpe to npz: no array of: ply; lost if present: ending
4 records: 4 written, 0 filtered, 0 bad
  ply missing in 4 records: no array of it
  padding_not_zero in 4 records
  [FOLDER]/a.npz (4 records)
status 0
hcpe to npz: filled in: ply=0; lost if present: ending
4 records: 4 written, 0 filtered, 0 bad
  filled in: ply in 4 records
  padding_not_zero in 4 records
  [FOLDER]/d.npz (4 records)

"#]]
    );
}

#[test]
fn invalid_requests_are_refused() {
    let dir = Dir::new();
    dir.write("a.psv", archive(Format::Psv, 4));
    let transcript = |to: &str, options: &[&str]| convert(&dir, "a.psv", to, options).transcript;
    let refused = transcript("b.psv", &["--family", "apery"]) + &transcript("b.npy", &[]);
    assert!(convert(&dir, "a.psv", "b.npz", &[]).code == Some(0));
    assert_data_eq!(
        refused + &transcript("b.npz", &[]),
        str![[r#"
status 2
error: --family applies only to NumPy arrays (--to npz), but the output is psv
status 2
error: cannot determine the format of [FOLDER]/b.npy from its name; choose the output format with --to
status 1
error: [FOLDER]/b.npz exists; replace it with --force

"#]]
    );
    assert!(convert(&dir, "a.psv", "b.npz", &["--force"]).code == Some(0));
}
