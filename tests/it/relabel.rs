//! `kyokumen relabel`: changed and unchanged fields, failing engines, shards, interruptions.
#![cfg(unix)]

use std::fs;
use std::path::PathBuf;

use kyokumen::format::{Format, Game, GameResult, Reader, Record};
use kyokumen::shogi::{Move, Position};
use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::archive::{archive, encoded, records};
use crate::harness::{Dir, TestCommand};

/// An engine whose evaluation is the number of characters of the `position` line.
const ENGINE: &str = r#"
while read -r line; do
  case "$line" in
    usi) echo "id name Lengths"; echo usiok ;;
    isready) echo readyok ;;
    position*) position="$line" ;;
    go*) FAULT; echo "info depth 1 score cp ${#position}"; echo "bestmove 9i9h" ;;
    quit) exit ;;
  esac
done"#;

/// A folder with an engine in it.
struct Bench(Dir);

impl Bench {
    fn new() -> Self {
        let dir = Dir::new();
        dir.write("engine", ENGINE.replace("FAULT", ":"));
        Self(dir)
    }

    /// With an engine that runs this shell command before each answer.
    fn failing(fault: &str) -> Self {
        let bench = Self::new();
        bench.0.write("engine", ENGINE.replace("FAULT", fault));
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        self.0.write(name, bytes);
    }

    fn run(&self, input: &str, words: &[&str]) -> TestCommand {
        let command = ["relabel", input, "-o", "out", "--progress=none"];
        self.0.kyokumen(command).args(["--engine=sh engine", "--nodes=1"]).args(words)
    }

    fn output(&self, name: &str) -> Vec<u8> {
        self.0.read(format!("out/{name}"))
    }

    fn manifest(&self) -> Value {
        self.0.json("out/a.manifest.json")
    }
}

/// The evaluation of a record by the engine.
fn length(bytes: &[u8], format: Format) -> i16 {
    let record = kyokumen::format::RecordRef::new(format, bytes).unwrap();
    let position = Position::try_from(record.setup().unwrap()).unwrap();
    format!("position sfen {position}").len().try_into().unwrap()
}

#[test]
fn only_the_evaluation_changes() {
    let bench = Bench::new();
    let bytes = archive(Format::Psv, 100);
    bench.write("a.psv", &bytes);
    bench.run("a.psv", &["--threads=3"]).exits(&[3]);
    let is_good = |&(number, _): &(usize, &[u8])| number % 11 != 5;
    let good = bytes.chunks(40).enumerate().filter(is_good);
    let expected: Vec<u8> = good
        .flat_map(|(_, record)| {
            let eval = length(record, Format::Psv).to_le_bytes();
            [&record[..32], &eval, &record[34..]].concat()
        })
        .collect();
    assert!(bench.output("a.psv") == expected);
    let manifest = bench.manifest();
    assert_eq!(manifest["counts"]["evaluations"]["new"], 91);
    assert_eq!(manifest["counts"]["bad"]["quarantined"], 9);
    assert_eq!(manifest["settings"]["evaluator"]["name"], "Lengths");
    assert_eq!(manifest["settings"]["evaluator"]["reproducible"], false);
    bench.0.kyokumen(["verify", "--manifest", "out/a.manifest.json"]).succeeds();
}

#[test]
fn shards_in_order_equal_the_whole() {
    let bench = Bench::new();
    bench.write("a.hcpe", &archive(Format::Hcpe, 60));
    bench.run("a.hcpe", &["--policy"]).exits(&[3]);
    for shard in ["1/3", "2/3", "3/3"] {
        bench.run("a.hcpe", &["--policy", "--shard", shard, "--threads=1"]).exits(&[3]);
    }
    let parts = (1..=3).flat_map(|i| bench.output(&format!("a-0000{i}-of-00003.hcpe")));
    assert!(parts.collect::<Vec<_>>() == bench.output("a.hcpe"));
    let text = bench.0.kyokumen(["status", "out"]).succeeds().text();
    assert!(text.contains("3 done"), "{text}");
    let merge = ["merge", "out", "-o", "all.hcpe", "--name", "a"];
    bench.0.kyokumen(merge).succeeds();
    assert!(bench.0.read("all.hcpe") == bench.output("a.hcpe"));
}

#[test]
fn records_with_other_evaluations_are_kept_records() {
    let bench = Bench::new();
    let all = records(6, 1);
    bench.write("a.psv", &all.iter().flat_map(|r| encoded(Format::Psv, r)).collect::<Vec<_>>());
    let relabel = "relabel a.psv -o out --keep-eval --mix 0.1 --metrics m --progress json --shard";
    let run = |line: &str| bench.0.line(line).succeeds().stderr;
    let messages = [
        run(&format!("{relabel} 1/2")),
        run(&format!("{relabel} 2/2")),
        run("merge out -o all.psv --progress json"),
    ];
    for (message, kept) in messages.iter().zip([3, 3, 6]) {
        let last = message.lines().rfind(|line| line.contains(r#""type":"progress""#)).unwrap();
        assert_eq!(serde_json::from_str::<Value>(last).unwrap()["kept"], kept);
    }
    let metrics = bench.0.text("m");
    assert!(metrics.contains("kept_total{run=\"a\",shard=\"2/2\"} 3\n"), "{metrics}");
    // The run does not search.
    assert!(!metrics.contains("verdicts") && !metrics.contains("nodes"), "{metrics}");
    let status = bench.0.line("status out").succeeds().text();
    assert!(!status.contains("mated") && !status.contains("unknown"), "{status}");
}

#[test]
fn mates_keep_their_evaluations() {
    let bench = Bench::new();
    let mut all = records(3, 1);
    (all[0].eval_cp, all[1].eval_cp, all[2].eval_cp) = (Some(29_993), Some(-30_000), Some(28_000));
    let bytes: Vec<u8> = all.iter().flat_map(|record| encoded(Format::Psv, record)).collect();
    bench.write("a.psv", &bytes);
    bench.run("a.psv", &["--policy"]).succeeds();
    let written = bench.output("a.psv");
    assert!(written[..80] == bytes[..80] && written[80..] != bytes[80..]);
    assert_eq!(
        bench.manifest()["counts"]["evaluations"],
        serde_json::json!({"new": 1, "stayed": 2})
    );
}

#[test]
fn games_change_only_in_their_evaluations() {
    let bench = Bench::new();
    let sample = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/data/sample.hcpe3")).unwrap();
    bench.write("a.hcpe3", &sample);
    bench.run("a.hcpe3", &["--threads=2"]).succeeds();
    let games = |bytes: &[u8]| -> Vec<Game> {
        Reader::new(Format::Hcpe3, bytes).games().map(Result::unwrap).collect()
    };
    let (before, after) = (games(&sample), games(&bench.output("a.hcpe3")));
    assert_eq!(before.len(), after.len());
    let mut evaluated = 0;
    for (mut before, mut after) in before.into_iter().zip(after) {
        let records = before.records();
        for ((old, new), record) in before.moves.iter_mut().zip(&mut after.moves).zip(records) {
            let position = Position::try_from(&record.unwrap().setup).unwrap();
            let length = format!("position sfen {position}").len();
            if !old.is_not_for_training && old.eval_cp.unwrap().abs() < 29_000 {
                assert_eq!(new.eval_cp.map(usize::try_from), Some(Ok(length)));
                (old.eval_cp, new.eval_cp) = (None, None);
                evaluated += 1;
            }
        }
        assert_eq!(before, after);
    }
    assert!(evaluated > 100, "{evaluated}");
    let refused = bench.run("a.hcpe3", &["--force", "--shard=1/2"]).run();
    assert_data_eq!(
        refused.transcript,
        str![[r#"
status 2
error: --shard cannot be used, because a.hcpe3 and the output (hcpe3) hold whole games; divide the input with `kyokumen split` instead

"#]]
    );
}

#[test]
fn games_keep_names_and_comments_and_lose_old_evaluations() {
    let bench = Bench::new();
    let game = "手合割：平手\n先手：甲\n手数----指手---------消費時間--\n   1 ７六歩(77)   ( 0:01/00:00:01)\n\
                **評価値=1234\n*一手目\n*#評価値=2345\n   2 ３四歩(33)\n   3 投了\n";
    bench.write("a.kifu", game.as_bytes());
    bench.run("a.kifu", &["--threads=2"]).succeeds();
    let written = String::from_utf8(bench.output("a.kifu")).unwrap();
    assert!(written.contains("先手：甲\n") && written.contains("*一手目\n"), "{written}");
    assert!(written.contains("( 0:01/00:00:01)"), "{written}");
    assert!(!written.contains("1234") && !written.contains("2345"), "{written}");
    let again = Reader::new(Format::Kifu, written.as_bytes()).games().next().unwrap().unwrap();
    for (played, record) in again.moves.iter().zip(again.records()) {
        let position = kyokumen::shogi::Position::try_from(&record.unwrap().setup).unwrap();
        let length = format!("position sfen {position}").len();
        assert_eq!(played.eval_cp.map(usize::try_from), Some(Ok(length)));
    }
}

#[test]
fn positions_become_records_with_evaluations_and_moves() {
    let bench = Bench::new();
    let mut all = records(60, 3);
    let answer = Move::from_usi("9i9h").unwrap();
    all.retain(|record| Position::try_from(&record.setup).unwrap().is_legal(answer));
    let bytes: Vec<u8> = all[..5].iter().flat_map(|record| encoded(Format::Hcp, record)).collect();
    bench.write("a.hcp", &bytes);
    bench.run("a.hcp", &[]).exits(&[2]);
    bench.run("a.hcp", &["--to=hcpe", "--policy"]).exits(&[2]);
    bench.run("a.hcp", &["--to=hcpe", "--policy", "--fill=result=draw"]).succeeds();
    for (record, from) in bench.output("a.hcpe").chunks(38).zip(bytes.chunks(32)) {
        // 9i9h moves from square 80 to square 79.
        let eval = length(from, Format::Hcp).to_le_bytes();
        assert_eq!(record, [from, &eval, &(80_u16 * 128 + 79).to_le_bytes(), &[0, 0]].concat());
    }
    assert_eq!(bench.manifest()["counts"]["invented"], serde_json::json!({"result": 5}));
}

#[test]
fn mix_and_scale_blend_results_into_evaluations() {
    let bench = Bench::new();
    let bytes: Vec<u8> = records(20, 3).iter().flat_map(|r| encoded(Format::Psv, r)).collect();
    bench.write("a.psv", &bytes);
    bench.run("a.psv", &["--mix=1", "--scale=600"]).succeeds();
    // A win gets the largest evaluation below a mate.
    for record in bench.output("a.psv").chunks(40) {
        let expected = [-28_999, 0, 28_999][usize::try_from(record[38].cast_signed() + 1).unwrap()];
        assert_eq!(i16::from_le_bytes([record[32], record[33]]), expected);
    }
    bench.run("a.psv", &["--mix=1.5", "--force"]).exits(&[2]);
    bench.run("a.psv", &["--scale=0", "--force"]).exits(&[2]);
}

/// An ignored option would leave evaluations that the user believes to be from a mate search.
#[test]
fn options_of_networks_are_refused_with_an_engine_and_vice_versa() {
    let bench = Bench::new();
    bench.write("a.psv", &encoded(Format::Psv, &records(1, 1)[0]));
    for option in ["--root-mate=15,10000", "--leaf-mate=7,30", "--playouts=50", "--hash-mb=16"] {
        let ran = bench.run("a.psv", &[option]).exits(&[2]);
        let (name, _) = option.split_once('=').unwrap();
        assert!(ran.stderr.contains(name) && ran.stderr.contains("--engine"), "{}", ran.stderr);
    }
    let words = ["relabel", "a.psv", "-o", "out", "--model=net.onnx", "--nodes=1"];
    bench.0.kyokumen(words).fails(2);
}

#[test]
fn failing_engines_are_restarted() {
    // A process answers five times, then it exits.
    let bench = Bench::failing(r#"n=$((n + 1)); [ "$n" -lt 6 ] || exit 7"#);
    let bytes = archive(Format::Hcpe, 25);
    bench.write("a.hcpe", &bytes);
    let ran = bench.run("a.hcpe", &["--on-error=skip"]).exits(&[3]);
    let message = ran.stderr;
    let first = message.lines().next().unwrap_or_default();
    assert_data_eq!(
        first,
        str![
            " WARN the engine `sh engine` ended before it answered (exit status: 7); restarting the engine"
        ]
    );
    let sound = Bench::new();
    sound.write("a.hcpe", &bytes);
    sound.run("a.hcpe", &["--on-error=skip"]).exits(&[3]);
    assert!(bench.output("a.hcpe") == sound.output("a.hcpe"));
}

#[test]
fn an_engine_that_always_fails_ends_the_run() {
    for (fault, why) in [
        ("exit 7", "the engine `sh engine` ended before it answered (exit status: 7)"),
        ("echo bestmove 9i9h; continue", "the engine sent no score before `bestmove 9i9h`"),
    ] {
        let bench = Bench::failing(fault);
        bench.write("a.psv", &encoded(Format::Psv, &records(1, 1)[0]));
        let ran = bench.run("a.psv", &[]).exits(&[1]);
        let message = ran.stderr;
        let expected = "error: cannot evaluate records: the engine failed 3 times on \
                        lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1: ";
        assert!(message.contains(&format!("{expected}{why}")), "{message}");
        assert!(!bench.path("out").join("a.psv").exists());
    }
    let bench = Bench::new();
    bench.write("a.psv", &encoded(Format::Psv, &records(1, 1)[0]));
    for (engine, why) in [
        ("--engine=no-such-engine", "cannot start the engine no-such-engine"),
        ("--engine=true", "the engine `true` ended before it answered"),
        ("--engine='", r#"--engine: cannot parse the command line "'""#),
    ] {
        let words = ["relabel", "a.psv", "-o", "out", "--nodes=1", engine];
        let ran = bench.0.kyokumen(words).run();
        assert_ne!(ran.code, Some(0));
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
}

#[test]
fn an_engine_that_fails_too_often_ends_the_run() {
    // A process answers once, then it exits.
    let bench = Bench::failing(r#"n=$((n + 1)); [ "$n" -lt 2 ] || exit 7"#);
    let bytes: Vec<u8> = records(30, 3).iter().flat_map(|r| encoded(Format::Psv, r)).collect();
    bench.write("a.psv", &bytes);
    let ran = bench.run("a.psv", &["--threads=1"]).exits(&[1]);
    let message = ran.stderr;
    assert_data_eq!(
        message.lines().last().unwrap().to_owned(),
        str![
            "error: cannot evaluate records: the engine failed 11 times on 12 positions and is not restarted: \
             the engine `sh engine` ended before it answered (exit status: 7)"
        ]
    );
}

#[test]
fn illegal_best_moves_in_games_are_counted() {
    let game = "startpos moves 7g7f 3c3d 2g2f resign\n";
    for (best_move, expected) in [
        ("5e5d", serde_json::json!({"illegal_best_move": 3})),
        ("none", serde_json::json!({"illegal_best_move": 3})),
        ("resign", serde_json::json!({})),
    ] {
        let fault = format!("echo info score cp 7; echo bestmove {best_move}; continue");
        let bench = Bench::failing(&fault);
        bench.write("a.usi", game.as_bytes());
        for words in [&["--to=hcpe3"][..], &["--to=hcpe3", "--policy", "--force"]] {
            bench.run("a.usi", words).succeeds();
            let counts = &bench.manifest()["counts"];
            assert_eq!(counts["warnings"], expected, "{best_move} {words:?}");
            assert_eq!(counts["evaluations"]["new"], 3);
        }
    }
}

#[test]
fn a_run_ended_by_a_failing_engine_can_be_resumed() {
    // The engine exits after 30 answers, until the file `repaired` exists.
    let fault = r#"n=$((n + 1)); [ "$n" -lt 30 ] || [ -e repaired ] || exit 1"#;
    let fault = format!(
        "[ -e repaired ] || echo x >> answers; {fault}; [ -e repaired ] || [ $(wc -l < answers) -lt 30 ] || exit 1"
    );
    let bench = Bench::failing(&fault);
    let bytes: Vec<u8> = records(60, 3).iter().flat_map(|r| encoded(Format::Psv, r)).collect();
    bench.write("a.psv", &bytes);
    let words = ["--resume", "--threads=1", "--checkpoint-every=0.001"];
    bench.run("a.psv", &words).exits(&[1]);
    assert!(bench.path("out/a.checkpoint").exists());
    bench.write("repaired", b"");
    bench.run("a.psv", &words).succeeds();
    let resumed = bench.manifest()["resumed_from"].as_array().unwrap().clone();
    assert!(resumed.iter().any(|records| records.as_u64() > Some(0)), "{resumed:?}");
    let sound = Bench::new();
    sound.write("a.psv", &bytes);
    sound.run("a.psv", &[]).succeeds();
    assert!(bench.output("a.psv") == sound.output("a.psv"));
}

#[test]
fn stored_evaluations_are_mixed_with_the_results() {
    let record = |eval_cp, result| {
        let setup = Position::start().setup();
        encoded(
            Format::Psv,
            &Record {
                best_move: Move::from_usi("2g2f"),
                eval_cp: Some(eval_cp),
                ply: Some(1),
                result: Some(result),
                ..Record::new(setup)
            },
        )
    };
    let (win, loss) = (GameResult::BlackWin, GameResult::WhiteWin);
    // 831 is a winning probability of a little more than 3/4. Mixed with a loss it is 3/8: 756.0865 · ln 3/5 = −386.
    let cases = [(831, loss, -386), (831, win, 1472), (831, GameResult::Draw, 386), (0, win, 831)];
    let kept = [(29_990, loss, 29_990), (-30_000, win, -30_000)];
    let all = cases.into_iter().chain(kept);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (eval_cp, result, new) in all {
        before.extend(record(eval_cp, result));
        after.extend(record(new, result));
    }
    let dir = Dir::new();
    dir.write("a.psv", &before);
    for more in ["", "--threads 1", "--resume"] {
        let line = format!("relabel a.psv -o out{} --keep-eval --mix 0.5 {more}", more.len());
        dir.line(&line).succeeds();
        assert!(dir.read(format!("out{}/a.psv", more.len())) == after, "{more}");
    }
    let manifest = dir.json("out0/a.manifest.json");
    assert_eq!(manifest["settings"]["keep-eval"], true);
    assert_eq!(manifest["counts"]["evaluations"], serde_json::json!({"new": 4, "stayed": 2}));
    // Another weight is another run.
    let message = dir.line("relabel a.psv -o out0 --keep-eval --mix 0.4 --resume").fails(1);
    assert!(message.contains("settings.mix was 0.5 and is 0.4"), "{message}");
    for (more, why) in [
        ("--keep-eval", "--mix <WEIGHT>"),
        ("--keep-eval --mix 0.5 --engine x --nodes 1", "cannot be used with"),
        // Only the given options of a group are named.
        (
            "--keep-eval --mix 0.5 --playouts=5",
            "'--keep-eval' cannot be used with:\n  --playouts <N>\n\n",
        ),
        ("--keep-eval --mix 0.5 --policy", "cannot be used with"),
    ] {
        let message = dir.line(&format!("relabel a.psv -o b {more}")).fails(2);
        assert!(message.contains(why), "{more}: {message}");
    }
    dir.line("convert a.psv -o a.hcp").succeeds();
    let message = dir.line("relabel a.hcp -o b --to psv --keep-eval --mix 0.5").fails(2);
    assert!(message.contains("--keep-eval cannot be used with a.hcp: hcp records have no eval"));
}

#[test]
fn stored_evaluations_of_games_are_mixed_with_their_results() {
    let dir = Dir::new();
    dir.line("generate --count 200 -o g.psv").succeeds();
    let mut bytes = dir.read("g.psv");
    bytes.chunks_mut(40).for_each(|record| record[32..34].copy_from_slice(&831_i16.to_le_bytes()));
    dir.write("a.psv", &bytes);
    dir.line("convert a.psv -o a.hcpe3").succeeds();
    for name in ["a.psv", "a.hcpe3"] {
        dir.line(&format!("relabel {name} -o {name}-out --keep-eval --mix 0.5")).succeeds();
    }
    dir.line("convert a.psv-out/a.psv -o records.hcpe").succeeds();
    dir.line("convert a.hcpe3-out/a.hcpe3 -o games.hcpe").succeeds();
    assert!(dir.read("records.hcpe") == dir.read("games.hcpe"));
    assert!(dir.read("a.psv-out/a.psv") != bytes);
}

#[cfg(feature = "network")]
mod networks {
    use super::*;

    fn relabelled(input: &[u8], name: &str, words: &[&str]) -> Vec<u8> {
        let bench = Bench::new();
        bench.write(name, input);
        let command = ["relabel", name, "-o", "out", "--progress=none", "--hash-mb=1"];
        bench.0.kyokumen(command).args(words).succeeds();
        bench.output(name)
    }

    #[test]
    fn bytes_do_not_depend_on_batches_and_threads() {
        let bytes: Vec<u8> = records(90, 3).iter().flat_map(|r| encoded(Format::Hcpe, r)).collect();
        for words in [&["--model=hashed"][..], &["--model=hashed", "--playouts=20", "--policy"]] {
            let with =
                |more: &[&'static str]| relabelled(&bytes, "a.hcpe", &[words, more].concat());
            let plain = with(&[]);
            assert!(plain != bytes);
            assert!(plain == with(&["--batch=1", "--threads=3"]));
            assert!(plain == with(&["--batch=64", "--threads=1"]));
        }
    }

    #[test]
    fn visits_are_written_if_the_format_holds_them() {
        let sample = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/data/sample.hcpe3")).unwrap();
        let words = ["--model=uniform", "--playouts=30", "--policy", "--root-mate=0,0"];
        let written = relabelled(&sample, "a.hcpe3", &words);
        let mut searched = 0;
        for game in Reader::new(Format::Hcpe3, &written[..]).games() {
            for played in game.unwrap().moves {
                let visits: u32 = played.candidates.iter().map(|c| u32::from(c.visits)).sum();
                searched += u32::from((29..=30).contains(&visits));
            }
        }
        assert!(searched > 100, "{searched}");
    }

    #[test]
    fn mates_are_proven() {
        // A mate in one by a gold, and a side that is already mated.
        let lines = b"4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1\n\
            4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 2\n";
        for words in
            [&["--model=uniform", "--root-mate=5,100"][..], &["--model=uniform", "--playouts=5"]]
        {
            let written = String::from_utf8(relabelled(lines, "a.sfen", words)).unwrap();
            let evals: Vec<&str> =
                written.lines().map(|line| line.split('\t').nth(2).unwrap()).collect();
            assert_eq!(evals, ["29999", "-30000"], "{written}");
        }
    }
}
