//! Hand-made edge cases from a file of `KYOKUMEN_DATA`.
//!
//! `error` cases must be rejected, `ok` accepted without a warning, `warn` accepted with at least one.

use kyokumen_format::{DecodeErrorKind, Format, Lines, RecordRef, Warning};
use kyokumen_testing::positions::shared;
use serde_json::Value;

/// The verdict of a strict reader on a whole file.
#[derive(PartialEq, Eq, Debug)]
enum Verdict {
    Error,
    Ok,
    Warn,
}

fn judge(format: Format, file: &[u8], is_minor: impl Fn(Warning) -> bool) -> Verdict {
    // A file without records is not a success.
    if file.is_empty() {
        return Verdict::Error;
    }
    let records: Vec<&[u8]> = match format.record_len() {
        Some(len) => file.chunks(len).collect(),
        None => Lines::new(file).map(|line| line.content()).collect(),
    };
    let mut verdict = Verdict::Ok;
    for bytes in records {
        let read = RecordRef::new(format, bytes).and_then(|record| {
            record.record()?;
            record.warnings()
        });
        match read {
            Ok(warnings) if warnings.iter().all(&is_minor) => {}
            Ok(_) => verdict = Verdict::Warn,
            // Comments are skipped and counted.
            Err(error) if error.kind == DecodeErrorKind::Comment => verdict = Verdict::Warn,
            Err(_) => return Verdict::Error,
        }
    }
    verdict
}

#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn every_case_has_the_expected_outcome() {
    let path = shared("edge_dev.jsonl");
    let cases = std::fs::read_to_string(path).unwrap();
    let mut judged = 0;
    for case in cases.lines() {
        let case: Value = serde_json::from_str(case).unwrap();
        let text = |key: &str| case[key].as_str().unwrap_or_default();
        let name = text("name");
        let format: Format = text("kind").parse().unwrap();
        let file = if format == Format::Sfen {
            text("sfen").as_bytes().to_vec()
        } else {
            let hex = text("hex");
            (0..hex.len())
                .step_by(2)
                .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap())
                .collect()
        };
        let expected = match text("expect") {
            "error" => Verdict::Error,
            "ok" => Verdict::Ok,
            "warn" => Verdict::Warn,
            other => panic!("{name}: unknown expectation {other}"),
        };
        // Cases about a position have an empty tail. Only cases about records check the move.
        let about_tail = name.starts_with("psv-rec") || name.starts_with("hcpe");
        let is_minor = |warning: Warning| {
            warning.is_harmless() || (warning == Warning::MoveNone && !about_tail)
        };
        assert_eq!(judge(format, &file, is_minor), expected, "{name}: {}", text("why"));
        judged += 1;
    }
    assert!(judged > 0);
}
