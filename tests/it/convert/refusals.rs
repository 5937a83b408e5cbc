//! Conversions that are refused: exit status 2, a message that says what would do, nothing created.
//!
//! What a shell would have opened already (standard output) is the exception.

use std::fs::{self, OpenOptions};

use kyokumen::format::Format;
use kyokumen::shogi::sfen;

use super::{Bench, Ran, kyokumen, literal, run};

fn is_refused(bench: &Bench, ran: &Ran, message: &str) {
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    assert!(ran.stdout.is_empty());
    assert_eq!(bench.names().len(), 1, "{:?}", bench.names());
}

#[test]
fn fields_that_the_source_lacks_are_not_made_up() {
    for (from, to, options, message) in [
        (
            "a.hcp",
            "b.psv",
            &[][..],
            "without --fill move=none,eval=0,ply=0,result=draw: psv needs move, eval, ply, result, which hcp does not hold",
        ),
        (
            "a.hcp",
            "b.hcpe",
            &["--fill", "eval=0"],
            "without --fill move=none,result=draw: hcpe needs move, result, which",
        ),
        ("a.hcpe", "b.psv", &[], "without --fill ply=0: psv needs ply, which hcpe does not hold"),
    ] {
        let bench = Bench::new();
        let format = from.strip_prefix("a.").unwrap().parse().unwrap();
        bench.write(from, &literal(format));
        is_refused(&bench, &bench.convert(from, to, options), message);
    }
}

#[test]
fn a_line_that_lacks_fields_ends_the_run_with_the_fill_that_would_do() {
    let bench = Bench::new();
    let plain = format!("{}\n", sfen::START).into_bytes();
    bench.write("a.sfen", &[literal(Format::Sfen), plain].concat());
    let ran = bench.convert("a.sfen", "b.psv", &[]);
    is_refused(&bench, &ran, "record 1, at byte 76: the record has no move, eval, result");
    assert!(
        ran.stderr.contains("--fill move=none,eval=0,result=draw would give"),
        "{}",
        ran.stderr
    );
}

#[test]
fn filters_on_fields_that_the_source_lacks_are_usage_errors() {
    for (from, filter) in [
        ("a.hcp", &["--max-abs-eval", "3"][..]),
        ("a.hcp", &["--min-ply", "3"]),
        ("a.hcpe", &["--max-ply", "3"]),
        ("a.hcp", &["--result", "draw"]),
        ("a.hcp", &["--has-move"]),
        ("a.hcp", &["--legal-move"]),
    ] {
        let bench = Bench::new();
        bench.write(from, &literal(from.strip_prefix("a.").unwrap().parse().unwrap()));
        let ran = bench.convert(from, "b.hcp", filter);
        is_refused(&bench, &ran, &format!("{} cannot be asked of ", filter[0]));
    }
}

#[test]
fn values_that_are_none_are_usage_errors() {
    for (option, message) in [
        (&["--sample", "0"][..], "expected a number above 0 and at most 1"),
        (&["--sample", "1.5"], "expected a number above 0 and at most 1"),
        (&["--every", "0"], "zero"),
        (&["--result", "win"], "expected black, white or draw"),
        (&["--dedup", "--memory", "much"], "expected a number with K, M, G or T behind it"),
        (&["--memory", "1G"], "--dedup"),
        (&["--check", "all"], "expected `structure` or `rules`"),
    ] {
        let bench = Bench::new();
        bench.write("a.psv", &literal(Format::Psv));
        is_refused(&bench, &bench.convert("a.psv", "b.psv", option), message);
    }
}

#[test]
fn out_of_games_no_record_is_left() {
    for option in [&["--dedup"][..], &["--every", "2"], &["--legal-move"]] {
        let bench = Bench::new();
        bench.write("a.usi", b"startpos moves 7g7f\n");
        let ran = bench.convert("a.usi", "b.usi", option);
        is_refused(&bench, &ran, "out of which no record can be left");
    }
}

#[test]
fn names_that_do_not_say_the_format_need_an_option() {
    let bench = Bench::new();
    bench.write("a.bin", &[0xFF; 40]);
    is_refused(&bench, &bench.convert("a.bin", "b.hcp", &[]), "say it with --from");
    bench.write("a.bin", &literal(Format::Psv));
    let ran = bench.convert("a.bin", "b.bin", &["--from", "psv"]);
    is_refused(&bench, &ran, "say it with --to");
    let ran = run(kyokumen().arg(bench.path("a.bin")).args(["--from", "psv", "-o", "-"]));
    is_refused(&bench, &ran, "the name of - does not say its format; say it with --to");
    let ran = run(kyokumen().args(["-", "-o", "-", "--to", "psv"]));
    is_refused(&bench, &ran, "say it with --from");
    assert_eq!(bench.convert("a.bin", "b.bin", &["--from", "psv", "--to", "hcp"]).code, Some(0));
    assert_eq!(bench.read("b.bin"), literal(Format::Hcp));
}

#[test]
fn a_quarantine_needs_a_file_to_stand_beside() {
    let bench = Bench::new();
    let input = bench.write("a.psv", &literal(Format::Psv));
    let mut command = kyokumen();
    command.arg(input).args(["-o", "-", "--to", "hcp", "--on-error", "quarantine"]);
    is_refused(&bench, &run(&mut command), "--on-error quarantine needs an output that is a file");
}

#[test]
fn what_is_there_is_replaced_only_by_force_and_an_input_never() {
    let bench = Bench::new();
    let psv = literal(Format::Psv);
    let input = bench.write("a.psv", &psv);
    is_refused(&bench, &bench.convert("a.psv", "a.psv", &["--force"]), "written over the input");
    fs::hard_link(&input, bench.path("link.psv")).unwrap();
    let ran = bench.convert("a.psv", "link.psv", &["--force"]);
    assert_eq!((ran.code, bench.read("a.psv")), (Some(2), psv.clone()), "{}", ran.stderr);

    bench.write("b.hcp", b"precious");
    let ran = bench.convert("a.psv", "b.hcp", &[]);
    assert_eq!((ran.code, bench.read("b.hcp")), (Some(2), b"precious".to_vec()));
    assert!(ran.stderr.contains("b.hcp exists; replace it with --force"), "{}", ran.stderr);
    assert_eq!(bench.convert("a.psv", "b.hcp", &["--force"]).code, Some(0));
    assert_eq!(bench.read("b.hcp"), literal(Format::Hcp));
}

#[cfg(unix)]
#[test]
fn standard_output_may_not_be_the_input_either() {
    let bench = Bench::new();
    let input = bench.write("a.psv", &literal(Format::Psv));
    let appended = OpenOptions::new().append(true).open(&input).unwrap();
    let mut command = kyokumen();
    let ran = run(command.arg(&input).args(["-o", "-", "--to", "psv"]).stdout(appended));
    is_refused(&bench, &ran, "written over the input");
    assert_eq!(bench.read("a.psv"), literal(Format::Psv));
}

#[test]
fn a_folder_is_no_output_and_a_missing_input_no_input() {
    let bench = Bench::new();
    bench.write("a.psv", &literal(Format::Psv));
    let mut command = kyokumen();
    command.arg(bench.path("a.psv")).arg("-o").arg(bench.0.path()).args(["--to", "hcp"]);
    is_refused(&bench, &run(&mut command), "is a folder");
    assert_eq!(bench.convert("missing.psv", "b.hcp", &[]).code, Some(1));
    assert_eq!(bench.names(), ["a.psv"]);
}
