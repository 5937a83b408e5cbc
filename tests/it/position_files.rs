//! Files with a single position, as used for mate problems, and files without records.

use kyokumen_testing::literals::PROBLEM;
use snapbox::{assert_data_eq, str};

use crate::harness::Dir;

#[test]
fn positions_in_kif_bod_and_csa_are_records() {
    let dir = Dir::new();
    let sfen = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1";
    dir.write("problem.kif", PROBLEM);
    dir.write("problem.bod", PROBLEM);
    dir.kyokumen(["convert", "problem.kif", "-o", "problem.csa"]).succeeds();
    for name in ["problem.kif", "problem.bod", "problem.csa"] {
        let solved = dir.kyokumen(["solve", name, "--json"]).succeeds();
        let solved = solved.json();
        assert_eq!((&solved["sfen"], &solved["verdict"]), (&sfen.into(), &"win".into()), "{name}");
        dir.kyokumen(["convert", name, "-o", "problem.sfen", "--force"]).succeeds();
        let line = dir.text("problem.sfen");
        assert!(line.starts_with(sfen), "{line}");
        dir.kyokumen(["verify", name]).succeeds();
    }
}

#[test]
fn inputs_without_records_exit_with_status_3() {
    let dir = Dir::new();
    dir.write("a.usi", "startpos\n");
    dir.write("a.hcp", "");
    for name in ["a.usi", "a.hcp"] {
        for words in [
            &["solve", name][..],
            &["convert", name, "-o", "b.sfen", "--force"],
            &["verify", name],
            &["stats", name],
            &["inspect", name],
            &["filter", name, "--to", "sfen", "-o", "out", "--force"],
            &["dataset", name, "--to", "jsonl", "-o", "rows", "--force"],
            &["split", name, "--parts", "2", "-o", "parts", "--force"],
        ] {
            let output = dir.kyokumen(words).run();
            let message = &output.stderr;
            let last = message.lines().last().unwrap_or_default();
            assert_eq!(output.code, Some(3), "{words:?}: {message}");
            assert_data_eq!(last, str![" WARN nothing was read, because the input has no records"]);
        }
    }
}
