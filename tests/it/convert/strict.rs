//! `--strict`: what formats lose is refused before the run, what records lose ends it.
//!
//! Nothing is written in either case, whatever is to become of bad records.

use kyokumen::format::Format;
use kyokumen::shogi::sfen;
use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::{convert, literal};
use crate::harness::Dir;

#[test]
fn what_the_format_cannot_hold_is_refused_before_the_run() {
    let mut refusals = String::new();
    for (from, to) in [("a.psv", "b.hcpe"), ("a.psv", "b.hcp"), ("a.hcpe", "b.hcp")] {
        let dir = Dir::new();
        dir.write(from, literal(from.strip_prefix("a.").unwrap().parse().unwrap()));
        let ran = convert(&dir, from, to, &["--strict"]);
        refusals += &ran.told;
        assert_eq!(dir.names(""), [from]);
    }
    assert_data_eq!(
        refusals,
        str![[r#"
status 2
error: --strict: [FOLDER]/a.psv holds ply, which hcpe cannot hold
status 2
error: --strict: [FOLDER]/a.psv holds move, eval, ply, result, which hcp cannot hold
status 2
error: --strict: [FOLDER]/a.hcpe holds move, eval, result, which hcp cannot hold

"#]]
    );
}

/// The changed bytes of a record, and what is lost with them.
fn lossy() -> Vec<(Format, &'static str, usize, u8, &'static str)> {
    use Format::{Hcpe, Psv};
    vec![
        (Psv, "b.sfen", 39, 0xa5, "padding"),
        (Hcpe, "b.psv", 37, 0x01, "padding"),
        (Hcpe, "b.psv", 36, 0x05, "ending"),
        (Hcpe, "b.psv", 36, 0x0d, "flags of the result"),
        (Psv, "b.sfen", 38, 0x05, "a result without a meaning"),
        // A move from 1b to 1b.
        (Psv, "b.sfen", 34, 0x81, "move"),
    ]
}

#[test]
fn what_a_record_loses_ends_the_run() {
    for (from, to, at, byte, what) in lossy() {
        let dir = Dir::new();
        let mut second = literal(from);
        second[at] = byte;
        if what == "move" {
            second[at + 1] = 0;
        }
        let input = format!("a.{from}");
        dir.write(&input, [literal(from), second.clone()].concat());
        let fill = if from == Format::Hcpe { "ply=1" } else { "" };
        for on_error in ["stop", "skip", "quarantine"] {
            let ran =
                convert(&dir, &input, to, &["--strict", "--fill", fill, "--on-error", on_error]);
            let path = dir.join(&input);
            let told = format!(
                "error: {}, record 1, at byte {}: {what} would be lost, which --strict refuses",
                path.display(),
                second.len()
            );
            assert_eq!(ran.code, Some(1), "{what}: {}", ran.stderr);
            assert_eq!(ran.stderr.lines().last(), Some(&*told));
            assert_eq!(dir.names(""), [input.as_str()]);
        }
        // Where the format stays, nothing is lost, unless records are written anew.
        let same = format!("same.{from}");
        assert_eq!(convert(&dir, &input, &same, &["--strict"]).code, Some(0));
        assert_eq!(dir.read(&same), dir.read(&input));
        if what == "padding" {
            assert_eq!(
                convert(&dir, &input, "c.psv", &["--strict", "--mirror", "--fill", fill]).code,
                Some(1)
            );
        }
    }
}

#[test]
fn what_loses_nothing_passes() {
    let dir = Dir::new();
    dir.write("a.psv", literal(Format::Psv).repeat(3));
    assert_eq!(convert(&dir, "a.psv", "b.sfen", &["--strict"]).code, Some(0));
    let ran = convert(&dir, "b.sfen", "c.psv", &["--strict", "--json"]);
    assert_eq!((ran.code, dir.read("c.psv")), (Some(0), dir.read("a.psv")));
    assert_eq!(ran.json()["strict"], json!(true));
}

/// Text may hold what the output cannot, or not: that shows line by line.
#[test]
fn text_is_judged_line_by_line() {
    let dir = Dir::new();
    let plain = format!("{}\t-\t-\t-\tu\n", sfen::START);
    dir.write("a.sfen", plain.as_bytes());
    assert_eq!(convert(&dir, "a.sfen", "b.hcp", &["--strict"]).code, Some(0));
    dir.write("c.sfen", [plain.into_bytes(), literal(Format::Sfen)].concat());
    let ran = convert(&dir, "c.sfen", "d.hcp", &["--strict"]);
    assert_data_eq!(
        ran.told,
        str![[r#"
status 1
sfen to hcp: lost: move, eval, ply, result
error: [FOLDER]/c.sfen, record 1, at byte 72: move, eval, ply, result would be lost, which --strict refuses

"#]]
    );
}
