//! `--strict`: a loss between formats is refused before the run, a loss in a record ends the run.
//!
//! Nothing is written in either case, with every policy for bad records.

use kyokumen::format::Format;
use kyokumen::shogi::sfen;
use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::{convert, literal};
use crate::harness::Dir;

#[test]
fn losses_between_formats_are_refused_before_the_run() {
    let mut refusals = String::new();
    for (from, to) in [("a.psv", "b.hcpe"), ("a.psv", "b.hcp"), ("a.hcpe", "b.hcp")] {
        let dir = Dir::new();
        dir.write(from, literal(from.strip_prefix("a.").unwrap().parse().unwrap()));
        let ran = convert(&dir, from, to, &["--strict"]);
        refusals += &ran.transcript;
        assert_eq!(dir.names(""), [from]);
    }
    assert_data_eq!(
        refusals,
        str![[r#"
status 2
error: --strict: [FOLDER]/a.psv contains ply, which hcpe cannot store
status 2
error: --strict: [FOLDER]/a.psv contains move, eval, ply, result, which hcp cannot store
status 2
error: --strict: [FOLDER]/a.hcpe contains move, eval, result, which hcp cannot store

"#]]
    );
}

/// Input format, output, offset and value of a changed byte, and the loss that it causes.
fn lossy() -> Vec<(Format, &'static str, usize, u8, &'static str)> {
    use Format::{Hcpe, Psv};
    vec![
        (Psv, "b.sfen", 39, 0xa5, "padding"),
        (Hcpe, "b.psv", 37, 0x01, "padding"),
        (Hcpe, "b.psv", 36, 0x05, "ending"),
        (Hcpe, "b.psv", 36, 0x0d, "result flags"),
        (Psv, "b.sfen", 38, 0x05, "an undefined result"),
        // A move from 1b to 1b.
        (Psv, "b.sfen", 34, 0x81, "move"),
    ]
}

#[test]
fn a_loss_in_a_record_ends_the_run() {
    for (from, to, at, byte, loss) in lossy() {
        let dir = Dir::new();
        let mut second = literal(from);
        second[at] = byte;
        if loss == "move" {
            second[at + 1] = 0;
        }
        let input = format!("a.{from}");
        dir.write(&input, [literal(from), second.clone()].concat());
        let fill = if from == Format::Hcpe { "ply=1" } else { "" };
        for on_error in ["stop", "skip", "quarantine"] {
            let ran =
                convert(&dir, &input, to, &["--strict", "--fill", fill, "--on-error", on_error]);
            let path = dir.join(&input);
            let expected = format!(
                "error: {}, record 1 (file offset {}): {loss} would be lost; --strict allows no losses",
                path.display(),
                second.len()
            );
            assert_eq!(ran.code, Some(1), "{loss}: {}", ran.stderr);
            assert_eq!(ran.stderr.lines().last(), Some(&*expected));
            assert_eq!(dir.names(""), [input.as_str()]);
        }
        // Without a change of format nothing is lost, unless records are rewritten.
        let same = format!("same.{from}");
        assert_eq!(convert(&dir, &input, &same, &["--strict"]).code, Some(0));
        assert_eq!(dir.read(&same), dir.read(&input));
        if loss == "padding" {
            assert_eq!(
                convert(&dir, &input, "c.psv", &["--strict", "--mirror", "--fill", fill]).code,
                Some(1)
            );
        }
    }
}

#[test]
fn conversions_without_loss_succeed() {
    let dir = Dir::new();
    dir.write("a.psv", literal(Format::Psv).repeat(3));
    assert_eq!(convert(&dir, "a.psv", "b.sfen", &["--strict"]).code, Some(0));
    let ran = convert(&dir, "b.sfen", "c.psv", &["--strict", "--json"]);
    assert_eq!((ran.code, dir.read("c.psv")), (Some(0), dir.read("a.psv")));
    assert_eq!(ran.json()["strict"], json!(true));
}

/// A line of text may or may not have fields that the output lacks, so each line is checked.
#[test]
fn text_is_checked_line_by_line() {
    let dir = Dir::new();
    let plain = format!("{}\t-\t-\t-\tu\n", sfen::START);
    dir.write("a.sfen", plain.as_bytes());
    assert_eq!(convert(&dir, "a.sfen", "b.hcp", &["--strict"]).code, Some(0));
    dir.write("c.sfen", [plain.into_bytes(), literal(Format::Sfen)].concat());
    let ran = convert(&dir, "c.sfen", "d.hcp", &["--strict"]);
    assert_data_eq!(
        ran.transcript,
        str![[r#"
status 1
sfen to hcp: lost if present: move, eval, ply, result
error: [FOLDER]/c.sfen, record 1 (file offset 72): move, eval, ply, result would be lost; --strict allows no losses

"#]]
    );
}
