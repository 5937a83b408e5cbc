//! Files with a single position, as used for mate problems, and files without records.

use kyokumen::shogi::sfen::START;
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

/// The lines of a report without nodes and times.
fn report(text: &str) -> String {
    let varying = ["elapsed ", "nodes", "時間", "ノード"];
    let is_kept = |line: &&str| !varying.iter().any(|name| line.starts_with(name));
    text.lines().filter(is_kept).flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn a_file_with_one_position_is_answered_like_an_sfen() {
    let dir = Dir::new();
    let sfen = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1";
    dir.write("problem.kif", PROBLEM);
    dir.write("problem.bod", PROBLEM);
    for name in ["problem.csa", "problem.jkf"] {
        dir.kyokumen(["convert", "problem.kif", "-o", name]).succeeds();
    }
    let words = ["solve", "--all", "--shortest", "--solution", "G*5b", "--time", "60"];
    let expected = dir.kyokumen([&words[..], &[sfen]].concat()).succeeds().text();
    assert_data_eq!(
        report(&expected),
        str![[r#"
win in 1
line       G*5b
in words   ☗５二金
shortest   yes

solution   unique
all nodes  52
  5c5b+  ☗５二歩成       no mate
  5c5b   ☗５二歩不成     no mate
  G*4a   ☗４一金         no mate
  G*4b   ☗４二金         no mate
  G*5b   ☗５二金         in 1               solution         G*5b
  G*6a   ☗６一金         no mate
  G*6b   ☗６二金         no mate

"#]]
    );
    for name in ["problem.kif", "problem.bod", "problem.csa", "problem.jkf"] {
        let ran = dir.kyokumen([&words[..], &[name]].concat()).succeeds();
        assert_eq!((report(&ran.text()), &*ran.stderr), (report(&expected), ""), "{name}");
    }
    // Text with one SFEN, and a file with several positions, are collections.
    dir.write("one.sfen", format!("{sfen}\n"));
    dir.write("two.bod", [PROBLEM, PROBLEM].concat());
    for (name, positions) in [("one.sfen", 1), ("two.bod", 2)] {
        let text = dir.kyokumen(["solve", name]).succeeds().text();
        assert_eq!(text.lines().count(), positions, "{name}: {text}");
        for (number, line) in (1_u32..).zip(text.lines()) {
            assert!(line.starts_with(&format!("{number:>6}  win in 1 ")), "{name}: {line}");
        }
    }
    let mut refused = dir.kyokumen([&words[..], &["two.bod"]].concat()).run().transcript;
    refused += &dir.line("solve two.bod --all --solution G*5b").run().transcript;
    // A position without a king to mate is a bad record of the file.
    let no_king = PROBLEM.replace("v玉", " ・").replace(" ・ ・ ・ ・ ・|九", " 玉 ・ ・ ・ ・|九");
    dir.write("none.kif", no_king);
    refused += &dir.line("solve none.kif").run().transcript;
    assert_data_eq!(
        refused,
        str![[r#"
status 2
error: --time works only for a single position; limit the search of a collection with --nodes
status 2
error: --solution needs a single position: an SFEN on the command line, or a KIF, BOD, CSA or JKF file with one position
status 3
none.kif, record 0 (file offset 0): the White king is missing, so there is no king to mate
1 record: 1 bad
[..] s, 0 positions/s, 0 nodes/s

"#]]
    );
}

#[test]
fn the_report_of_a_problem_is_japanese_in_a_japanese_locale() {
    let dir = Dir::new();
    dir.write("problem.kif", PROBLEM);
    dir.write("all.sfen", format!("{START}\n4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 2\n"));
    let solve = |words: &str| {
        let mut command = dir.line(&format!("solve {words}"));
        command.0.env_remove("LC_ALL").env("LANG", "ja_JP.UTF-8");
        command.succeeds()
    };
    assert_data_eq!(
        report(&solve("problem.kif --all --shortest").text()),
        str![[r#"
1手で詰み
USI            G*5b
手順           ☗５二金
最短           証明済み

余詰検査       余詰なし
各手のノード数 52
  5c5b+  ☗５二歩成       不詰
  5c5b   ☗５二歩不成     不詰
  G*4a   ☗４一金         不詰
  G*4b   ☗４二金         不詰
  G*5b   ☗５二金         1手                      本手順           G*5b
  G*6a   ☗６一金         不詰
  G*6b   ☗６二金         不詰

"#]]
    );
    assert_data_eq!(
        report(&solve("--all=line --solution R*5b 3pk4/9/4G4/9/9/9/9/9/9 b R 1").text()),
        str![[r#"
1手で詰み
USI            R*3a
手順           ☗３一飛

余詰検査       余詰あり（4通り）
各手のノード数 1890
   1  R*5b   ☗５二飛         3手                      早詰 ☗１一飛 1手、早詰 ☗２一飛 1手、早詰 ☗３一飛 1手
   2  5a4a   ☖４一玉         2手                      ほかに受けはない
   3  5c4b   ☗４二金         1手                      最終手余詰 ☗４二飛成 1手
   4  詰み

"#]]
    );
    let ran = solve("all.sfen --threads 1");
    assert_data_eq!(
        ran.text(),
        str![[r#"
     1  不詰                           0 ノード
     2  詰んでいる                     0 ノード

"#]]
    );
    assert!(ran.stderr.starts_with("2局面: 詰まされる 1、不詰 1\n"), "{}", ran.stderr);
    let english = solve("problem.kif --lang en").text();
    assert!(english.starts_with("win in 1\nline       G*5b\n"), "{english}");
    let limited =
        solve("--nodes 1 --threads 1 1+P2l4/2P6/9/p5+R2/2k6/B3+P3B/9/9/9 b r4g4s4n3l14p 1");
    assert!(limited.text().starts_with("不明（ノード数の上限）\n"), "{}", limited.text());
    assert_data_eq!(
        limited.stderr,
        str![[r#"
1 ノードで探索を打ち切りました。さらに探索するには --nodes で上限を上げるか、--time 秒数 で時間を指定してください

"#]]
    );
}

/// A rook mates at once from three squares. ☗５二飛 mates in three.
const COOKED: &str = "3pk4/9/4G4/9/9/9/9/9/9 b R 1";

#[test]
fn the_intended_solution_may_be_japanese_or_in_the_file() {
    let dir = Dir::new();
    let solve =
        |words: &[&str]| dir.kyokumen([&["solve", "--all=line"], words].concat()).succeeds();
    let expected = report(&solve(&[COOKED, "--solution", "R*5b 5a4a 5c4b"]).text());
    assert!(expected.contains("   4  mate\n"), "{expected}");
    for moves in
        ["☗５二飛 ☖４一玉 ☗４二金", "▲５二飛△４一玉▲４二金", "５二飛打 ４一玉(51) ４二金(53)"]
    {
        assert_eq!(report(&solve(&[COOKED, "--solution", moves]).text()), expected, "{moves}");
    }
    dir.write("a.usi", format!("position sfen {COOKED} moves R*5b 5a4a 5c4b\n"));
    for name in ["a.kif", "a.ki2", "a.csa", "a.jkf"] {
        dir.kyokumen(["convert", "a.usi", "-o", name]).succeeds();
        assert_eq!(report(&solve(&[name, "--solution", "file"]).text()), expected, "{name}");
    }
    // The file has three positions. The diagram of a problem has pieces in hand.
    let hint = dir.line("solve a.kif --nodes 1000").succeeds().stderr;
    let expected = "a.kif: moves follow the diagram, so the position before each move is solved; --limit 1 solves only the \
                    diagram, and --all=line --solution file also checks the moves\n3 records: ";
    assert!(hint.starts_with(expected), "{hint}");
    dir.write("problem.kif", PROBLEM);
    dir.write("two.usi", format!("startpos moves 7g7f\nposition sfen {COOKED} moves R*5b\n"));
    let mut refused = String::new();
    for (input, moves) in
        [("problem.kif", "file"), ("two.usi", "file"), (COOKED, "file"), (COOKED, "５五金")]
    {
        refused += &dir.kyokumen(["solve", "--all", input, "--solution", moves]).run().transcript;
    }
    assert_data_eq!(
        refused,
        str![[r#"
status 2
error: problem.kif: --solution file needs a file with one game, which begins with the problem
status 2
error: two.usi: --solution file needs a file with one game, which begins with the problem
status 2
error: --solution file needs a file with moves after the problem
status 2
error: --solution: move 1, `５五金`, is not a legal move in 3pk4/9/4G4/9/9/9/9/9/9 b R 1; expected USI notation, such as G*5b, or Japanese notation, such as ▲５二金

"#]]
    );
}

#[test]
fn a_unique_first_move_does_not_count_as_a_unique_solution() {
    let dir = Dir::new();
    // A mate in three with two last moves.
    let three = "3pk4/9/4G4/9/9/9/9/9/9 b Rr2b3g4s4n4l17p 1";
    dir.write("three.sfen", format!("{three}\n"));
    for (all, lang, expected) in [
        ("--all", "en", "first move unique (whole line: --all=line)"),
        ("--all", "ja", "初手は余詰なし（全手順は --all=line）"),
        ("--all=line", "en", "not unique: 1 alternative, only flaws"),
        ("--all=line", "ja", "余詰あり（1通り、キズのみ）"),
    ] {
        for input in [three, "three.sfen"] {
            let text = dir.kyokumen(["solve", all, input, "--lang", lang]).succeeds().text();
            assert!(text.contains(expected), "{text}");
        }
    }
    let one = ["solve", "--all", "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1", "--lang", "ja"];
    let text = dir.kyokumen(one).succeeds().text();
    assert!(text.contains("\n余詰検査       余詰なし\n"), "a mate in one: {text}");
}

#[test]
fn the_rest_of_the_set_may_be_in_a_hand() {
    let dir = Dir::new();
    let rest = PROBLEM.replace("飛二　角二　金三　銀四　桂四　香四　歩十七", "残り全部");
    dir.write("problem.kif", rest);
    dir.kyokumen(["convert", "problem.kif", "-o", "problem.sfen"]).succeeds();
    let line = dir.text("problem.sfen");
    assert!(line.starts_with("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"), "{line}");
}

#[test]
fn several_unreadable_lines_of_a_pipe_show_that_it_is_not_text_of_sfen() {
    let dir = Dir::new();
    let piped = |text: &str, words: &[&str]| {
        dir.kyokumen([&["solve", "-"], words].concat()).stdin(text.as_bytes().to_vec()).run()
    };
    assert_data_eq!(
        piped(PROBLEM, &[]).transcript,
        str![[r#"
status 2
error: standard input, line 1: character 1: found '手', expected a piece, a digit from 1 to 9, or +; an input without a name is read as one SFEN per line; choose another format with --from, such as --from kif

"#]]
    );
    let ran = piped(PROBLEM, &["--from", "kif"]);
    assert!(ran.text().starts_with("win in 1\n"), "{}", ran.text());
    // Single bad lines are skipped.
    let ran = piped("bad\nbad\n4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1\n", &[]);
    assert_eq!((ran.code, ran.text().lines().count()), (Some(3), 1));
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
