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
        for (index, line) in text.lines().enumerate() {
            assert!(line.starts_with(&format!("{index:>6}  win in 1 ")), "{name}: {line}");
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

解             余詰なし
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

解             余詰あり（4通り）
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
     0  不詰                           0 ノード
     1  詰んでいる                     0 ノード

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
