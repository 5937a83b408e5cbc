//! Arrays of numpy: what the report says of them, and that nothing but records and settings decides their bytes. What is in
//! them is compared with numpy and cshogi in `tests/interop/arrays.py`.

use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use kyokumen::format::Format;

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
    assert!(one.stderr.contains("hcpe to npz: lost: ending; no array of: ply"), "{}", one.stderr);
    assert!(one.stderr.contains("ply missing in 4 records: no array of it"), "{}", one.stderr);
    let other = folder.path("b.psv");
    let both = folder.convert("a.hcpe", "c.npz", &[other.to_str().unwrap(), "--json"]);
    let report = both.json();
    assert_eq!(report["counts"]["missing"]["ply"], 4);
    assert_eq!(report["counts"]["written"], 8);
    assert_eq!(report["outputs"][0]["records"], 8);
    assert_eq!(report["inputs"][0]["absent"][0], "ply");
    let filled = folder.convert("a.hcpe", "d.npz", &["--fill", "ply=0"]);
    assert!(filled.stderr.contains("ply filled in in 4 records"), "{}", filled.stderr);
    assert!(!filled.stderr.contains("no array"), "{}", filled.stderr);
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = Bench::new();
    folder.write("a.psv", &archive(Format::Psv, 4));
    let refused = |to: &str, options: &[&str], expected: &str| {
        let ran = folder.convert("a.psv", to, options);
        assert_eq!(ran.code, Some(2), "{to}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{to}: {}", ran.stderr);
    };
    refused("b.psv", &["--family", "apery"], "--family says how arrays of numpy hold positions");
    refused("b.npy", &[], "the name of ");
    assert!(folder.convert("a.psv", "b.npz", &[]).code == Some(0));
    refused("b.npz", &[], "exists; replace it with --force");
    assert!(folder.convert("a.psv", "b.npz", &["--force"]).code == Some(0));
}
