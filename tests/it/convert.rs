//! `kyokumen convert`: outputs byte for byte, refusals, reports.
//!
//! Literal records contain the start position with 2g2f, 10 centipawns, ply 1, and a win of Black.

mod arrays;
mod eval_scale;
mod filters;
mod game_filters;
mod games;
mod joining;
mod refusals;
mod strict;
mod text_games;

use std::fs::File;
use std::process::Stdio;

use kyokumen::format::packed::Family;
use kyokumen::format::{Format, HandOrder, reference};
use kyokumen::shogi::{Setup, sfen};
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use kyokumen_testing::literals::{START_HCP, START_PSV, bytes};

use crate::archive::{archive, encoded, records};
use crate::harness::{Dir, Ran, TestCommand};

/// `kyokumen convert` on two threads.
fn converter(dir: &Dir) -> TestCommand {
    dir.kyokumen(["convert", "--progress", "none", "--threads", "2"])
}

/// Converts a file. Both paths are absolute, and messages repeat them.
fn convert(dir: &Dir, from: &str, to: &str, options: &[&str]) -> Ran {
    let paths = [dir.join(from), "-o".into(), dir.join(to)];
    converter(dir).args(paths).args(options).run()
}

fn literal(format: Format) -> Vec<u8> {
    match format {
        Format::Hcp => bytes(START_HCP),
        Format::Hcpe => bytes(&format!("{START_HCP}0a008e070100")),
        Format::Psv => bytes(&format!("{START_PSV}0a008e0701000100")),
        _ => format!("{}\t2g2f\t10\t1\tb\n", sfen::START).into_bytes(),
    }
}

/// Source, target, fill, expected bytes, lost fields, filled-in fields.
type Case =
    (Format, Format, &'static str, Vec<u8>, &'static [&'static str], &'static [&'static str]);

fn cases() -> Vec<Case> {
    use Format::{Hcp, Hcpe, Psv, Sfen};
    const ALL: &[&str] = &["move", "eval", "ply", "result"];
    let empty_hcpe = bytes(&format!("{START_HCP}000000000000"));
    let empty_psv = bytes(&format!("{START_PSV}0000000007000000"));
    let psv_ply_7 = bytes(&format!("{START_PSV}0a008e0707000100"));
    let plain = format!("{}\n", sfen::START).into_bytes();
    let no_ply = format!("{}\t2g2f\t10\t-\tb\n", sfen::START).into_bytes();
    vec![
        (Hcp, Hcp, "", literal(Hcp), &[], &[]),
        (Hcp, Hcpe, "move=none,eval=0,result=draw", empty_hcpe, &[], &["move", "eval", "result"]),
        (Hcp, Psv, "move=none,eval=0,ply=7,result=draw", empty_psv, &[], ALL),
        (Hcp, Sfen, "", plain, &[], &["ply"]),
        (Hcpe, Hcp, "", literal(Hcp), &["move", "eval", "result"], &[]),
        (Hcpe, Hcpe, "", literal(Hcpe), &[], &[]),
        (Hcpe, Psv, "ply=7", psv_ply_7, &[], &["ply"]),
        (Hcpe, Sfen, "", no_ply, &[], &[]),
        (Psv, Hcp, "", literal(Hcp), ALL, &[]),
        (Psv, Hcpe, "", literal(Hcpe), &["ply"], &[]),
        (Psv, Psv, "", literal(Psv), &[], &[]),
        (Psv, Sfen, "", literal(Sfen), &[], &[]),
        (Sfen, Hcp, "", literal(Hcp), ALL, &[]),
        (Sfen, Hcpe, "", literal(Hcpe), &["ply"], &[]),
        (Sfen, Psv, "", literal(Psv), &[], &[]),
        (Sfen, Sfen, "", literal(Sfen), &[], &[]),
    ]
}

fn two_each(fields: &[&str]) -> Value {
    fields
        .iter()
        .map(|&field| (field.to_owned(), json!(2)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[test]
fn every_format_converts_to_every_other_with_a_report_of_losses() {
    for (from, to, fill, expected, lost, filled_in) in cases() {
        let dir = Dir::new();
        dir.write(format!("a.{from}"), literal(from).repeat(2));
        let output = format!("b.{to}");
        let ran = convert(&dir, &format!("a.{from}"), &output, &["--json", "--fill", fill]);
        assert_eq!(ran.code, Some(0), "{from} to {to}: {}", ran.stderr);
        assert_eq!(dir.read(&output), expected.repeat(2), "{from} to {to}");
        let counts = &ran.json()["counts"];
        assert_eq!((&counts["input"], &counts["written"]), (&json!(2), &json!(2)));
        assert_eq!(counts["lost"], two_each(lost), "{from} to {to}");
        assert_eq!(counts["invented"], two_each(filled_in), "{from} to {to}");
        let is_label = |field: &&&str| ["eval", "result"].contains(*field);
        let labels: Vec<&str> = filled_in.iter().filter(is_label).copied().collect();
        let warning = match &*labels {
            [] => String::new(),
            labels => {
                let labels = labels.join(", ");
                format!(
                    " WARN {labels} filled in with fixed values; do not use these records for training\n"
                )
            }
        };
        assert_eq!(ran.stderr, warning, "with --json the report is the only other message");
    }
}

#[test]
fn losses_are_announced_before_the_run_and_counted_after_it() {
    let dir = Dir::new();
    dir.write("a.psv", literal(Format::Psv));
    let ran = convert(&dir, "a.psv", "b.hcpe", &[]);
    let path = dir.join("b.hcpe");
    let expected = format!(
        "psv to hcpe: lost: ply\n\
         1 record: 1 written, 0 filtered, 0 bad\n  lost: ply in 1 record\n  {} (1 record)\n",
        path.display()
    );
    assert_eq!(ran.stderr, expected);
    dir.write("a.hcp", literal(Format::Hcp));
    let ran = convert(&dir, "a.hcp", "c.sfen", &[]);
    assert_data_eq!(
        ran.transcript,
        str![[r#"
status 0
hcp to sfen: filled in: ply=1
1 record: 1 written, 0 filtered, 0 bad
  filled in: ply in 1 record
  [FOLDER]/c.sfen (1 record)

"#]]
    );
}

#[test]
fn unknown_results_are_filled_in_only_where_a_line_has_none() {
    let dir = Dir::new();
    let unknown = format!("{}\tnone\t0\t1\tu\n", sfen::START).into_bytes();
    dir.write("a.sfen", [literal(Format::Sfen), unknown].concat());
    let ran = convert(&dir, "a.sfen", "b.psv", &["--fill", "result=draw,move=none", "--json"]);
    let empty = bytes(&format!("{START_PSV}0000000001000000"));
    assert_eq!(dir.read("b.psv"), [literal(Format::Psv), empty].concat());
    assert_eq!(ran.json()["counts"]["invented"], json!({"result": 1}));
}

#[test]
fn records_are_copied_unchanged_without_canonical() {
    let dir = Dir::new();
    let text = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1";
    let setup: Setup = text.parse().unwrap();
    let in_order = |order: HandOrder| {
        let mut record =
            reference::encode_in_order(Family::YaneuraOu, &setup, order.kinds()).unwrap().to_vec();
        record.extend_from_slice(&[0, 0, 0, 0, 1, 0, 0]);
        record
    };
    let [canonical, old] = [HandOrder::Canonical, HandOrder::GoldLast].map(in_order);
    assert_ne!(canonical, old);
    dir.write("a.psv", [&old[..], &[0xa5]].concat());
    assert_eq!(convert(&dir, "a.psv", "same.psv", &[]).code, Some(0));
    assert_eq!(dir.read("same.psv"), dir.read("a.psv"));
    let ran = convert(&dir, "a.psv", "canonical.psv", &["--canonical", "--json"]);
    assert_eq!(dir.read("canonical.psv"), [&canonical[..], &[0]].concat());
    let warnings = json!({"move_none": 1, "padding_not_zero": 1});
    assert_eq!(ran.json()["counts"]["warnings"], warnings);

    let spelled = format!("sfen {}\r\n", sfen::START);
    dir.write("a.sfen", spelled.as_bytes());
    convert(&dir, "a.sfen", "same.sfen", &[]);
    assert_eq!(dir.read("same.sfen"), spelled.as_bytes());
    convert(&dir, "a.sfen", "canonical.sfen", &["--canonical"]);
    assert_eq!(dir.read("canonical.sfen"), format!("{}\n", sfen::START).as_bytes());
}

/// Start positions with these evaluations, plies 1, 2, 3, ….
fn evaluated(evals: &[i16]) -> Vec<u8> {
    let record = |(eval, ply): (&i16, u16)| {
        let mut record = literal(Format::Psv);
        record[32..34].copy_from_slice(&eval.to_le_bytes());
        record[36..38].copy_from_slice(&ply.to_le_bytes());
        record
    };
    evals.iter().zip(1..).flat_map(record).collect()
}

fn evals(psv: &[u8]) -> Vec<i16> {
    psv.chunks(40).map(|record| i16::from_le_bytes([record[32], record[33]])).collect()
}

#[test]
fn all_filters_must_hold() {
    let dir = Dir::new();
    dir.write("a.psv", evaluated(&[499, 500, -499, -500, i16::MIN, i16::MAX, 0]));
    for (filters, kept, filtered) in [
        (&["--max-abs-eval", "499"][..], &[499, -499, 0][..], json!({"max_abs_eval": 4})),
        (&["--min-abs-eval", "500"], &[500, -500, i16::MIN, i16::MAX], json!({"min_abs_eval": 3})),
        (
            &["--max-abs-eval", "32767"],
            &[499, 500, -499, -500, i16::MAX, 0],
            json!({"max_abs_eval": 1}),
        ),
        (
            &["--min-ply", "3", "--max-ply", "5"],
            &[-499, -500, i16::MIN],
            json!({"min_ply": 2, "max_ply": 2}),
        ),
        (
            &["--max-abs-eval", "499", "--min-ply", "3"],
            &[-499, 0],
            json!({"max_abs_eval": 4, "min_ply": 1}),
        ),
        (&["--limit", "2"], &[499, 500], json!({})),
        (&["--limit", "100"], &[499, 500, -499, -500, i16::MIN, i16::MAX, 0], json!({})),
    ] {
        let ran = convert(&dir, "a.psv", "b.psv", &[filters, &["--force", "--json"]].concat());
        assert_eq!(evals(&dir.read("b.psv")), kept, "{filters:?}");
        assert_eq!(ran.json()["counts"]["filtered"], filtered, "{filters:?}");
    }
}

#[test]
fn drop_contradictions_drops_evaluations_that_the_result_contradicts() {
    let dir = Dir::new();
    let board = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL";
    // From the side to move: better and won, better and lost, below the limit, drawn, worse and won, worse and lost.
    let lines: Vec<String> = [
        ("b", "2g2f", 500, "b"),
        ("b", "2g2f", 500, "w"),
        ("b", "2g2f", 499, "w"),
        ("w", "8c8d", 900, "d"),
        ("w", "8c8d", -500, "w"),
        ("w", "8c8d", -500, "b"),
    ]
    .iter()
    .map(|(side, best, eval, result)| format!("{board} {side} - 1\t{best}\t{eval}\t1\t{result}\n"))
    .collect();
    dir.write("a.sfen", lines.concat().as_bytes());
    let ran = convert(&dir, "a.sfen", "b.sfen", &["--drop-contradictions", "500", "--json"]);
    let kept = [&*lines[0], &lines[2], &lines[3], &lines[5]].concat();
    assert_eq!(dir.text("b.sfen"), kept);
    assert_eq!(ran.json()["counts"]["filtered"], json!({"contradiction": 2}));
}

#[test]
fn quiet_drops_captures_promotions_and_checks() {
    let dir = Dir::new();
    let line = |sfen: &str, best: &str| format!("{sfen}\t{best}\t0\t1\td\n");
    let open = "4k4/4p4/9/9/9/2b6/2P1P4/1B7/4K4 b G 1";
    let lines = [
        line(open, "5g5f"),
        // A capture, a promotion, a check by a piece and by a drop, an illegal move, no move.
        line(open, "7g7f"),
        line("4k4/9/9/8P/9/9/9/9/4K4 b - 1", "1d1c+"),
        line("4k4/9/9/9/9/9/9/9/R3K4 b - 1", "9i9a"),
        line("4k4/9/9/9/9/9/9/9/4K4 b G 1", "G*5b"),
        line(open, "1a1b"),
        line(open, "none"),
        // In check.
        line("4k4/9/9/9/9/9/9/4r4/4K4 b - 1", "5i6i"),
    ];
    dir.write("a.sfen", lines.concat().as_bytes());
    let ran = convert(&dir, "a.sfen", "b.sfen", &["--quiet", "--json"]);
    assert_eq!(dir.text("b.sfen"), lines[0]);
    let expected = json!({"no_move": 1, "illegal_move": 1, "not_quiet": 5});
    assert_eq!(ran.json()["counts"]["filtered"], expected);
}

#[test]
fn the_smallest_evaluation_survives_every_format() {
    let dir = Dir::new();
    let psv = evaluated(&[i16::MIN]);
    dir.write("a.psv", &psv);
    for (from, to) in [("a.psv", "b.hcpe"), ("b.hcpe", "c.sfen"), ("c.sfen", "d.psv")] {
        assert_eq!(convert(&dir, from, to, &["--fill", "ply=1"]).code, Some(0));
    }
    assert_eq!(dir.read("d.psv"), psv);
    assert!(dir.read("c.sfen").ends_with(b"\t2g2f\t-32768\t1\tb\n"));
}

#[test]
fn drop_in_check_drops_positions_in_check() {
    let dir = Dir::new();
    let in_check = "4k4/9/9/9/9/9/9/9/4K3r b 2b4g4s4n4l18p 1\n";
    // White could capture the king, so the position is invalid. It is counted and written.
    let illegal = "4k4/9/9/9/9/9/9/9/4K3r w 2b4g4s4n4l18p 1\n";
    let quiet = "4k4/9/9/9/9/9/9/8r/4K4 b 2b4g4s4n4l18p 1\n";
    dir.write("a.sfen", [in_check, illegal, quiet].concat().as_bytes());
    let options = ["--drop-in-check", "--check", "rules", "--json"];
    let ran = convert(&dir, "a.sfen", "b.sfen", &options);
    assert_eq!(dir.read("b.sfen"), [illegal, quiet].concat().as_bytes());
    let counts = &ran.json()["counts"];
    assert_eq!(counts["filtered"], json!({"in_check": 1}));
    assert_eq!(counts["warnings"]["opponent_in_check"], json!(1));
}

#[test]
fn inputs_are_one_sequence_and_the_limit_counts_all_inputs() {
    let dir = Dir::new();
    dir.write("a.psv", literal(Format::Psv).repeat(3));
    dir.write("b.sfen", literal(Format::Sfen).repeat(3));
    let words = ["-i", "a.psv", "-i", "b.sfen", "--limit", "5", "--json", "-o", "c.hcpe"];
    let report = converter(&dir).args(words).run().json();
    assert_eq!(dir.read("c.hcpe"), literal(Format::Hcpe).repeat(5));
    let read: Vec<_> =
        report["inputs"].as_array().unwrap().iter().map(|input| &input["to"]).collect();
    assert_eq!(read, [&json!(3), &json!(2)]);
}

#[test]
fn standard_input_and_output_carry_any_format() {
    let dir = Dir::new();
    let input = dir.write("a.psv", literal(Format::Psv).repeat(3));
    let from_file = |words: &[&str]| {
        let mut command = converter(&dir).args(["-", "--from", "psv", "-o", "-"]).args(words);
        command.0.stdin(File::open(&input).unwrap());
        command.run()
    };
    let ran = from_file(&["--to", "hcpe", "--json"]);
    assert_eq!((ran.code, ran.stdout), (Some(0), literal(Format::Hcpe).repeat(3)));
    let report: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(report["counts"]["lost"], json!({"ply": 3}));

    let ran = from_file(&["--to", "sfen.zst"]);
    let text = zstd::decode_all(&ran.stdout[..]).unwrap();
    assert_eq!(text, literal(Format::Sfen).repeat(3));
}

#[test]
fn compressed_files_are_read_and_written_by_name() {
    let dir = Dir::new();
    let packed = zstd::encode_all(&literal(Format::Psv).repeat(3000)[..], 1).unwrap();
    dir.write("a.psv.zst", &packed);
    assert_eq!(convert(&dir, "a.psv.zst", "b.hcpe.zst", &[]).code, Some(0));
    let hcpe = zstd::decode_all(&dir.read("b.hcpe.zst")[..]).unwrap();
    assert!(hcpe == literal(Format::Hcpe).repeat(3000));
    // A name that ends in .zst is a compressed file, even if --to names only the format of the records.
    assert_eq!(convert(&dir, "a.psv.zst", "c.bin.zst", &["--to", "hcp"]).code, Some(0));
    let hcp = zstd::decode_all(&dir.read("c.bin.zst")[..]).unwrap();
    assert!(hcp == literal(Format::Hcp).repeat(3000));
}

#[test]
fn a_truncated_tail_is_one_bad_record() {
    let dir = Dir::new();
    let whole = literal(Format::Hcp).repeat(2);
    dir.write("a.hcp", [&whole[..], &whole[..7]].concat());
    let place = format!("{}, record 2 (file offset 64): ", dir.join("a.hcp").display());
    let ran = convert(&dir, "a.hcp", "stop.hcp", &[]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.contains(&format!("{place}the record has 7 bytes instead of 32")),
        "{}",
        ran.stderr
    );
    assert_eq!(dir.names(""), ["a.hcp"]);

    let ran = convert(&dir, "a.hcp", "skip.hcp", &["--on-error", "skip", "--json"]);
    assert_eq!((ran.code, dir.read("skip.hcp")), (Some(3), whole.clone()));
    assert_eq!(ran.json()["counts"]["bad"], json!({"quarantined": 0, "skipped": 1}));

    let ran = convert(&dir, "a.hcp", "set.aside.hcp", &["--on-error", "quarantine"]);
    assert_eq!((ran.code, dir.read("set.aside.hcp")), (Some(3), whole.clone()));
    assert_eq!(dir.read("set.aside.quarantine.bin"), &whole[..7]);
    let line: Value = serde_json::from_slice(&dir.read("set.aside.quarantine.jsonl")).unwrap();
    assert_eq!(
        (&line["index"], &line["offset"], &line["bytes"]),
        (&json!(2), &json!(64), &json!(7))
    );
}

#[test]
fn the_output_does_not_depend_on_the_number_of_threads() {
    let dir = Dir::new();
    dir.write("a.psv", archive(Format::Psv, 5000));
    for threads in ["1", "2"] {
        let output = format!("{threads}.sfen");
        let options = ["--threads", threads, "--on-error", "quarantine"];
        let convert = dir.kyokumen(["convert", "--progress", "none", "a.psv", "-o", &output]);
        convert.args(options).exits(&[3]);
    }
    for suffix in ["sfen", "quarantine.bin", "quarantine.jsonl"] {
        let [one, two] = ["1", "2"].map(|threads| dir.read(format!("{threads}.{suffix}")));
        assert!(!one.is_empty() && one == two, "{suffix}");
    }
    let lines = dir.text("1.sfen").lines().count();
    assert_eq!(lines, (0..5000).filter(|i| i % 11 != 5).count());
}

/// A game without moves has no record, but its line is valid.
#[test]
fn games_without_moves_hold_no_records() {
    let dir = Dir::new();
    dir.write("a.usi", b"startpos\nstartpos moves 7g7f\nstartpos");
    let ran = convert(&dir, "a.usi", "b.sfen", &["--json"]);
    assert_eq!((ran.code, &ran.json()["counts"]["input"]), (Some(0), &json!(1)), "{}", ran.stderr);
}

#[test]
fn an_empty_input_gives_an_empty_output() {
    let dir = Dir::new();
    dir.write("a.psv", b"");
    assert_eq!(convert(&dir, "a.psv", "b.hcp", &[]).code, Some(3));
    assert_eq!(dir.read("b.hcp"), b"");
}

#[test]
fn a_closed_standard_output_is_not_an_error() {
    let dir = Dir::new();
    let input = dir.write("a.psv", literal(Format::Psv).repeat(5000));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let words = ["-o", "-", "--to", "hcp", "--json"];
    let mut command = converter(&dir).args([input]).args(words);
    command.0.stdout(writer).stderr(Stdio::piped());
    assert_eq!(command.succeeds().stderr, "");
}

#[cfg(unix)]
#[test]
fn a_device_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let dir = Dir::new();
    let input = dir.write("a.psv", literal(Format::Psv));
    converter(&dir).args([input]).args(["-o", "/dev/null", "--to", "hcp"]).succeeds();
    assert!(std::path::Path::new("/dev/null").metadata().unwrap().file_type().is_char_device());
}

#[test]
fn an_error_about_a_truncated_record_states_its_byte_and_the_records_before_it() {
    let dir = Dir::new();
    for format in Format::ALL {
        let Some(len) = format.record_len() else { continue };
        let name = format!("a.{format}");
        let records: Vec<u8> =
            records(3, 31).iter().flat_map(|record| encoded(format, record)).collect();
        for cut in 1..len {
            let input = dir.write(&name, &records[..2 * len + cut]);
            let output = dir.join("b.hcp");
            let command = converter(&dir).args([input]).args(["--from", format.name(), "-o"]);
            let stderr = command.args([output]).fails(1);
            let bytes = if cut == 1 { "byte" } else { "bytes" };
            let message = format!(
                "{name}, record 2 (file offset {}): the record has {cut} {bytes} instead of {len}; \
                 2 complete records precede it",
                2 * len
            );
            assert!(stderr.contains(&message), "{stderr}");
            assert!(!dir.join("b.hcp").exists());
        }
    }
}
