//! Files with several CSA games: a separator is between two games, and nowhere else.

use crate::harness::Dir;

const FIRST: &str = "V2.2\nN+A\nPI\n+\n+7776FU\nT1\n%TORYO\n";
const SECOND: &str = "V2.2\nN+B\nPI\n+\n+2726FU\n-8384FU\n%CHUDAN\n";

#[test]
fn csa_separators_are_only_between_games() {
    let dir = Dir::new();
    let both = format!("{FIRST}/\n{SECOND}");
    // With a final separator, without a final line end (other programs write both), and joined without a separator.
    for (name, content) in [
        ("closed.csa", format!("{FIRST}/\n{SECOND}/\n")),
        ("open.csa", format!("{FIRST}/\n{}", SECOND.trim_end())),
        ("joined.csa", format!("\u{feff}{FIRST}\u{feff}{SECOND}")),
    ] {
        dir.write(name, content);
        dir.kyokumen(["convert", name, "-o", "copied.csa", "--force"]).succeeds();
        assert_eq!(dir.text("copied.csa"), both, "{name}");
        dir.kyokumen(["convert", name, "-o", "made.csa", "--canonical", "--force"]).succeeds();
        assert_eq!(dir.text("made.csa"), both, "{name}");
        dir.kyokumen(["split", name, "-o", "parts", "--parts", "2", "--force"]).succeeds();
        let part = |number: u32| {
            let stem = name.strip_suffix(".csa").unwrap();
            dir.text(format!("parts/{stem}-{number:05}-of-00002.csa"))
        };
        assert_eq!([part(1), part(2)], [FIRST, SECOND]);
    }
    // Several inputs form one sequence. A compressed output has the same content.
    dir.write("1.csa", FIRST);
    dir.write("2.csa", SECOND);
    dir.kyokumen(["convert", "1.csa", "2.csa", "-o", "two.csa"]).succeeds();
    assert_eq!(dir.text("two.csa"), both);
    dir.kyokumen(["convert", "1.csa", "2.csa", "-o", "two.csa.zst"]).succeeds();
    let packed = dir.read("two.csa.zst");
    assert_eq!(zstd::decode_all(&*packed).unwrap(), both.as_bytes());
    dir.kyokumen(["convert", "two.csa.zst", "-o", "two.jkf"]).succeeds();
    dir.kyokumen(["convert", "two.jkf", "-o", "again.csa", "--threads", "2"]).succeeds();
    assert_eq!(dir.text("again.csa"), both);
}

/// Standard output has the same separators as a file.
#[test]
fn csa_mates_on_standard_output_are_separated() {
    let dir = Dir::new();
    let sfen = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1\n";
    dir.write("a.sfen", sfen.repeat(2));
    let output = dir.kyokumen(["solve", "a.sfen", "--to", "csa"]).run();
    let text = output.text();
    assert_eq!((text.matches("\n/\n").count(), text.starts_with("V2.2\n")), (1, true), "{text}");
    assert!(!text.ends_with("/\n"));
    let output = dir.kyokumen(["solve", "a.sfen", "--to", "usi"]).run();
    let line = output.text();
    assert!(line.lines().all(|line| line.ends_with("moves G*5b")), "{line}");
}

/// The ending of a game is written if the source contains it.
#[test]
fn usi_keeps_the_ending_of_a_game() {
    let dir = Dir::new();
    dir.write("1.csa", FIRST);
    dir.kyokumen(["convert", "1.csa", "-o", "1.usi"]).succeeds();
    assert_eq!(dir.text("1.usi"), "startpos moves 7g7f resign\n");
    dir.kyokumen(["convert", "1.usi", "-o", "2.csa"]).succeeds();
    assert_eq!(dir.text("2.csa"), "V2.2\nPI\n+\n+7776FU\n%TORYO\n");
    // psv does not contain the ending.
    dir.kyokumen(["convert", "1.usi", "-o", "1.psv", "--fill", "eval=0"]).succeeds();
    dir.kyokumen(["convert", "1.psv", "-o", "3.usi"]).succeeds();
    assert_eq!(dir.text("3.usi"), "startpos moves 7g7f\n");
}
