//! Arrays of numpy: what the report says of them, and that nothing but records and settings decides their bytes. What
//! is in them is compared with numpy and cshogi in `tests/interop/arrays.py`.

use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use kyokumen::format::Format;
use snapbox::{assert_data_eq, str};

use super::{Bench, run};
use crate::archive::archive;

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let folder = Bench::new();
    folder.write("a.psv", &archive(Format::Psv, 20_000));
    let made = |name: &str, options: &[&str]| {
        let mut command = Command::new(cargo_bin("kyokumen"));
        command.args(["convert", "--on-error", "skip"]).arg(folder.path("a.psv"));
        let ran = run(command.arg("-o").arg(folder.path(name)).args(options));
        assert_eq!(ran.code, Some(3), "{}", ran.stderr);
        folder.read(name)
    };
    let one = made("one.npz", &["--threads", "1"]);
    assert!(one == made("four.npz", &["--threads", "4"]));
    assert!(one == made("named.npz", &["--to", "npz", "--family", "apery"]));
    assert!(one != made("other.npz", &["--family", "yaneuraou"]));
    assert!(folder.names().iter().all(|name| !name.contains("partial")));
}

#[test]
fn what_is_not_there_is_said() {
    let folder = Bench::new();
    folder.write("a.hcpe", &archive(Format::Hcpe, 4));
    folder.write("b.psv", &archive(Format::Psv, 4));
    let one = folder.convert("a.hcpe", "a.npz", &[]);
    let other = folder.path("b.psv");
    let both = folder.convert("a.hcpe", "c.npz", &[other.to_str().unwrap(), "--json"]);
    let report = both.json();
    assert_eq!(report["counts"]["missing"]["ply"], 4);
    assert_eq!(report["counts"]["written"], 8);
    assert_eq!(report["outputs"][0]["records"], 8);
    assert_eq!(report["inputs"][0]["absent"][0], "ply");
    let filled = folder.convert("a.hcpe", "d.npz", &["--fill", "ply=0"]);
    assert_data_eq!(
        folder.told(&one) + &folder.told(&filled),
        str![[r#"
status 0
hcpe to npz: lost: ending; no array of: ply
4 records: 4 written, 0 filtered, 0 bad
  ply missing in 4 records: no array of it
  padding_not_zero in 4 records
  [FOLDER]/a.npz (4 records)
status 0
hcpe to npz: lost: ending; filled in: ply=0
4 records: 4 written, 0 filtered, 0 bad
  ply filled in in 4 records
  padding_not_zero in 4 records
  [FOLDER]/d.npz (4 records)

"#]]
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = Bench::new();
    folder.write("a.psv", &archive(Format::Psv, 4));
    let told = |to: &str, options: &[&str]| folder.told(&folder.convert("a.psv", to, options));
    let refused = told("b.psv", &["--family", "apery"]) + &told("b.npy", &[]);
    assert!(folder.convert("a.psv", "b.npz", &[]).code == Some(0));
    assert_data_eq!(
        refused + &told("b.npz", &[]),
        str![[r#"
status 2
error: --family says how arrays of numpy hold positions: for --to npz, not for psv
status 2
error: the name of [FOLDER]/b.npy does not say its format; say it with --to
status 2
error: [FOLDER]/b.npz exists; replace it with --force

"#]]
    );
    assert!(folder.convert("a.psv", "b.npz", &["--force"]).code == Some(0));
}
