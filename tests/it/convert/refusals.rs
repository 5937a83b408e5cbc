//! Refused conversions: a message that states what to do, and no file created.
//!
//! Standard output is the exception, because a shell has opened it already.

use std::fs;

use kyokumen::format::Format;
use kyokumen::shogi::sfen;
use snapbox::{assert_data_eq, str};

use super::{convert, converter, literal};
use crate::harness::{Dir, Ran};

/// Asserts that a command created nothing. Returns its transcript.
fn refusal(dir: &Dir, ran: &Ran) -> String {
    assert!(ran.stdout.is_empty());
    assert_eq!(dir.names("").len(), 1, "{:?}", dir.names(""));
    ran.transcript.clone()
}

#[test]
fn missing_fields_are_refused_without_fill() {
    let mut transcripts = String::new();
    for (from, to, options) in [
        ("a.hcp", "b.psv", &[][..]),
        ("a.hcp", "b.hcpe", &["--fill", "eval=0"]),
        ("a.hcpe", "b.psv", &[]),
    ] {
        let dir = Dir::new();
        let format = from.strip_prefix("a.").unwrap().parse().unwrap();
        dir.write(from, literal(format));
        transcripts += &refusal(&dir, &convert(&dir, from, to, options));
    }
    assert_data_eq!(
        transcripts,
        str![[r#"
status 2
error: cannot convert [FOLDER]/a.hcp to psv: psv needs move, eval, ply, result, which hcp lacks; use --fill move=none,eval=0,ply=0,result=draw (do not train with the filled-in eval, result)
status 2
error: cannot convert [FOLDER]/a.hcp to hcpe: hcpe needs move, result, which hcp lacks and --fill does not give; use --fill move=none,eval=0,result=draw (do not train with the filled-in eval, result)
status 2
error: cannot convert [FOLDER]/a.hcpe to psv: psv needs ply, which hcpe lacks; use --fill ply=0

"#]]
    );
}

#[test]
fn an_error_about_missing_fields_of_a_line_states_the_fill() {
    let dir = Dir::new();
    let plain = format!("{}\n", sfen::START).into_bytes();
    dir.write("a.sfen", [literal(Format::Sfen), plain].concat());
    let ran = convert(&dir, "a.sfen", "b.psv", &[]);
    assert_data_eq!(
        refusal(&dir, &ran),
        str![[r#"
status 2
sfen to psv: no field is lost or filled in
error: [FOLDER]/a.sfen, record 1 (file offset 76): the record lacks fields that the output needs: move, eval, result; supply them with --fill move=none,eval=0,result=draw (do not train with filled-in values)

"#]]
    );
}

#[test]
fn filters_on_missing_fields_are_usage_errors() {
    let mut transcripts = String::new();
    for (from, filter) in [
        ("a.hcp", &["--max-abs-eval", "3"][..]),
        ("a.hcp", &["--min-ply", "3"]),
        ("a.hcpe", &["--max-ply", "3"]),
        ("a.hcp", &["--result", "draw"]),
        ("a.hcp", &["--has-move"]),
        ("a.hcp", &["--legal-move"]),
    ] {
        let dir = Dir::new();
        dir.write(from, literal(from.strip_prefix("a.").unwrap().parse().unwrap()));
        transcripts += &refusal(&dir, &convert(&dir, from, "b.hcp", filter));
    }
    assert_data_eq!(
        transcripts,
        str![[r#"
status 2
error: --max-abs-eval cannot be used with [FOLDER]/a.hcp: hcp records have no eval
status 2
error: --min-ply cannot be used with [FOLDER]/a.hcp: hcp records have no ply
status 2
error: --max-ply cannot be used with [FOLDER]/a.hcpe: hcpe records have no ply
status 2
error: --result cannot be used with [FOLDER]/a.hcp: hcp records have no result
status 2
error: --has-move cannot be used with [FOLDER]/a.hcp: hcp records have no move
status 2
error: --legal-move cannot be used with [FOLDER]/a.hcp: hcp records have no move

"#]]
    );
}

#[test]
fn invalid_option_values_are_usage_errors() {
    let mut transcripts = String::new();
    for option in [
        &["--sample", "0"][..],
        &["--sample", "1.5"],
        &["--every", "0"],
        &["--result", "win"],
        &["--dedup", "--memory", "much"],
        &["--memory", "1G"],
        &["--check", "all"],
    ] {
        let dir = Dir::new();
        dir.write("a.psv", literal(Format::Psv));
        transcripts += &refusal(&dir, &convert(&dir, "a.psv", "b.psv", option));
    }
    assert_data_eq!(
        transcripts,
        str![[r#"
status 2
error: invalid value '0' for '--sample <P>': "0" is not a probability: expected a number above 0 and at most 1, as in 0.25

For more information, try '--help'.
status 2
error: invalid value '1.5' for '--sample <P>': "1.5" is not a probability: expected a number above 0 and at most 1, as in 0.25

For more information, try '--help'.
status 2
error: invalid value '0' for '--every <K>': expected a whole number, 1 or more

For more information, try '--help'.
status 2
error: invalid value 'win' for '--result <RESULT,…>': "win" is not a result: expected black, white or draw, or several separated by commas

For more information, try '--help'.
status 2
error: invalid value 'much' for '--memory <SIZE>': "much" is not a size: expected a number, optionally with K, M, G or T, as in 512M

For more information, try '--help'.
status 2
error: the following required arguments were not provided:
  --dedup

Usage: kyokumen convert --output <OUTPUT> --dedup --progress <auto|bar|plain|json|none> --threads <THREADS> --memory <SIZE> <INPUT>...

For more information, try '--help'.
status 2
error: invalid value 'all' for '--check <structure|rules>': expected structure or rules

For more information, try '--help'.

"#]]
    );
}

#[test]
fn filters_on_records_are_refused_for_formats_of_games() {
    let mut transcripts = String::new();
    for option in [&["--dedup"][..], &["--every", "2"], &["--legal-move"]] {
        let dir = Dir::new();
        dir.write("a.usi", b"startpos moves 7g7f\n");
        transcripts += &refusal(&dir, &convert(&dir, "a.usi", "b.usi", option));
    }
    assert_data_eq!(
        transcripts,
        str![[r#"
status 2
error: --dedup cannot be used, because [FOLDER]/a.usi and the output (usi) hold whole games; convert to a record format such as psv or hcpe first
status 2
error: --every cannot be used, because [FOLDER]/a.usi and the output (usi) hold whole games; convert to a record format such as psv or hcpe first
status 2
error: --legal-move cannot be used, because [FOLDER]/a.usi and the output (usi) hold whole games; convert to a record format such as psv or hcpe first

"#]]
    );
}

#[test]
fn names_without_a_format_need_an_option() {
    let dir = Dir::new();
    dir.write("a.bin", [0xFF; 40]);
    let mut transcripts = refusal(&dir, &convert(&dir, "a.bin", "b.hcp", &[]));
    dir.write("a.bin", literal(Format::Psv));
    let ran = convert(&dir, "a.bin", "b.dat", &["--from", "psv"]);
    transcripts += &refusal(&dir, &ran);
    let ran = converter(&dir).args([dir.join("a.bin")]).args(["--from", "psv", "-o", "-"]).run();
    transcripts += &refusal(&dir, &ran);
    let ran = converter(&dir).args(["-", "-o", "-", "--to", "psv"]).run();
    transcripts += &refusal(&dir, &ran);
    assert_data_eq!(
        transcripts,
        str![[r#"
status 2
error: [FOLDER]/a.bin has an unknown format: neither its name nor its content shows one; specify it with --from
status 2
error: cannot determine the format of [FOLDER]/b.dat from its name; choose the output format with --to
status 2
error: standard output has no name that shows its format; choose the output format with --to
status 2
error: standard input has no name that shows its format; specify it with --from

"#]]
    );
    assert_eq!(convert(&dir, "a.bin", "b.bin", &["--from", "psv", "--to", "hcp"]).code, Some(0));
    assert_eq!(dir.read("b.bin"), literal(Format::Hcp));
}

#[test]
fn an_extension_shared_with_the_inputs_means_their_format() {
    let dir = Dir::new();
    dir.write("a.bin", literal(Format::Psv));
    dir.write("b.bin", literal(Format::Psv));
    dir.line("convert a.bin b.bin --from psv -o c.bin").succeeds();
    assert!(dir.read("c.bin") == literal(Format::Psv).repeat(2));
    dir.line("convert a.bin --from psv -o c.bin.zst").succeeds();
    assert!(zstd::decode_all(&*dir.read("c.bin.zst")).unwrap() == literal(Format::Psv));
    dir.write("b.psv", literal(Format::Psv));
    let refused = dir.line("convert a.bin b.psv --from psv -o d.bin").fails(2);
    assert!(refused.contains("choose the output format with --to"), "{refused}");
}

#[test]
fn folders_with_the_name_of_a_file_are_refused() {
    let dir = Dir::new();
    dir.write("a.psv", literal(Format::Psv));
    for command in [
        "split a.psv --parts 2 -o new.bin",
        "split a.psv --size 1K -o new.psv.zst",
        "relabel a.psv --keep-eval --mix 0.5 -o new.psv",
        "filter a.psv --dry-run -o clean.hcp",
        "dataset a.psv --to npz -o new.npz",
        "verify a.psv --quarantine new.psv",
    ] {
        let refused = dir.line(command).fails(2);
        let why = "has the name of a file; choose a name without an extension, or create the folder first";
        assert!(refused.contains(why), "{command}: {refused}");
    }
    assert_eq!(dir.names("."), ["a.psv"]);
    std::fs::create_dir(dir.join("new.bin")).unwrap();
    dir.line("split a.psv --parts 2 -o new.bin").succeeds();
    dir.line("split a.psv --parts 2 -o psv").succeeds();
    let refused = dir.line("verify psv/a.manifest.json").fails(2);
    assert!(refused.contains("`kyokumen verify --manifest` compares files with it"), "{refused}");
}

#[test]
fn quarantine_needs_a_file_as_output() {
    let dir = Dir::new();
    let input = dir.write("a.psv", literal(Format::Psv));
    let words = ["-o", "-", "--to", "hcp", "--on-error", "quarantine"];
    let ran = converter(&dir).args([input]).args(words).run();
    assert_data_eq!(
        refusal(&dir, &ran),
        str![[r#"
status 2
error: --on-error quarantine needs an output file, but `-` is standard output or a pipe

"#]]
    );
}

#[test]
fn files_are_replaced_only_with_force_and_inputs_never() {
    let dir = Dir::new();
    let psv = literal(Format::Psv);
    let input = dir.write("a.psv", &psv);
    let mut transcripts = refusal(&dir, &convert(&dir, "a.psv", "a.psv", &["--force"]));
    fs::hard_link(&input, dir.join("link.psv")).unwrap();
    let ran = convert(&dir, "a.psv", "link.psv", &["--force"]);
    assert_eq!(dir.read("a.psv"), psv);
    transcripts += &ran.transcript;

    dir.write("b.hcp", b"precious");
    let ran = convert(&dir, "a.psv", "b.hcp", &[]);
    assert_eq!(dir.read("b.hcp"), b"precious");
    transcripts += &ran.transcript;
    assert_data_eq!(
        transcripts,
        str![[r#"
status 2
error: [FOLDER]/a.psv would overwrite the input [FOLDER]/a.psv; choose another output
status 2
error: [FOLDER]/link.psv would overwrite the input [FOLDER]/a.psv; choose another output
status 1
error: [FOLDER]/b.hcp exists; replace it with --force

"#]]
    );
    assert_eq!(convert(&dir, "a.psv", "b.hcp", &["--force"]).code, Some(0));
    assert_eq!(dir.read("b.hcp"), literal(Format::Hcp));
}

#[cfg(unix)]
#[test]
fn standard_output_must_not_be_an_input() {
    let dir = Dir::new();
    let input = dir.write("a.psv", literal(Format::Psv));
    let appended = fs::OpenOptions::new().append(true).open(&input).unwrap();
    let mut command = converter(&dir).args([&input]).args(["-o", "-", "--to", "psv"]);
    command.0.stdout(appended);
    let ran = command.run();
    assert_data_eq!(
        refusal(&dir, &ran),
        str![[r#"
status 2
error: standard output would overwrite the input [FOLDER]/a.psv; choose another output

"#]]
    );
    assert_eq!(dir.read("a.psv"), literal(Format::Psv));
}

#[test]
fn folders_as_outputs_and_missing_inputs_are_refused() {
    let dir = Dir::new();
    dir.write("a.psv", literal(Format::Psv));
    let paths = [&dir.join("a.psv"), std::path::Path::new("-o"), dir.path()];
    let ran = converter(&dir).args(paths).args(["--to", "hcp"]).run();
    assert_data_eq!(
        refusal(&dir, &ran),
        str![[r#"
status 2
error: [FOLDER] is a folder

"#]]
    );
    assert_eq!(convert(&dir, "missing.psv", "b.hcp", &[]).code, Some(1));
    assert_eq!(dir.names(""), ["a.psv"]);
}

/// The record of the start position with 2g2f, 10 centipawns, ply 1 and a win of Black.
#[test]
fn a_move_given_by_fill_is_written_or_makes_the_record_bad() {
    let dir = Dir::new();
    dir.write("q.sfen", format!("{}\n", sfen::START).as_bytes());
    let fill = ["--fill", "move=2g2f,eval=10,result=black,ply=1"];
    let ran = convert(&dir, "q.sfen", "q.psv", &fill);
    assert!(ran.stderr.contains(
        " WARN eval, result filled in with fixed values; do not use these records for training"
    ));
    assert_eq!(ran.stderr.matches("WARN").count(), 1, "{}", ran.stderr);
    let psv = std::fs::read(dir.join("q.psv")).unwrap();
    assert_eq!(psv[..4], [0x58, 0xa4, 0x51, 0x22]);
    assert_eq!(psv[32..], [10, 0, 0x8e, 0x07, 1, 0, 1, 0]);
    let ran = convert(&dir, "q.sfen", "r.psv", &["--fill", "move=2g2e,eval=0,result=draw"]);
    assert!(
        ran.stderr.contains(
            "record 0 (file offset 0): the record has no move, and the move to fill in, 2g2e, is illegal"
        ),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_missing_input_is_reported_before_missing_fields() {
    let dir = Dir::new();
    let ran = convert(&dir, "none.hcp", "b.psv", &[]);
    assert!(ran.stderr.contains("cannot open "), "{}", ran.stderr);
}
