//! What the commands print, word for word: `tests/cmd/*.trycmd`.
//!
//! After a change that is meant, `TRYCMD=overwrite cargo test cli_snapshots` writes them anew;
//! what differs from run to run (times, nodes of a search) is then to be replaced by `[..]` again.

#[test]
fn commands_print_what_the_snapshots_say() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd");
}
