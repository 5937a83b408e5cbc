//! Engines that fail in the middle of games, against each other and against a network.

use super::*;

/// An engine that plays, behind a script that counts `isready`.
const PLAYER: &str = concat!(
    "echo $$ >> pids
while read -r line; do
  case \"$line\" in isready) echo >> ready ;; go*) n=$((n + 1)); GO ;; esac
  echo \"$line\"
  [ \"$line\" != quit ] || exit
done | '",
    env!("CARGO_BIN_EXE_kyokumen"),
    "' usi --model hashed"
);

/// Whether a process has searched less often: until the second game of an engine, or the third of an opponent.
const LATE: &str = "[ $n -lt 40 ]";

const COMMON: [&str; 11] = [
    "selfplay",
    "--output=out",
    "--games=4",
    "--nodes=20",
    "--threads=1",
    "--max-moves=30",
    "--root-mate=0,0",
    "--hash-mb=1",
    "--engine-option=USI_Hash=1",
    "--checkpoint-every=0",
    "--progress=none",
];

const ENGINES: &[&str] = &["--engine=sh program"];

const OPPONENT: &[&str] = &[
    "--model=hashed",
    "--playouts=8",
    "--batch=1",
    "--opponent-engine=sh program",
    "--opponent-share=1",
];

fn selfplay(words: &'static [&'static str]) -> Vec<&'static str> {
    [&COMMON[..], words].concat()
}

fn written(bench: &Bench) -> Vec<u8> {
    bench.0.read("out/selfplay.hcpe3")
}

#[test]
fn a_signal_ends_games_even_if_an_engine_hangs() {
    for words in [ENGINES, OPPONENT] {
        let fault = ("GO", LATE, "exec sleep 600");
        survives_signals(PLAYER, fault, &selfplay(words), "out/selfplay.hcpe3");
    }
}

#[test]
fn games_continue_after_one_engine_fails() {
    for (words, again) in [
        (ENGINES, "; game 1 starts again"),
        (OPPONENT, "; a new process searches this move of game "),
    ] {
        let words = [&selfplay(words)[..], &["--engine-timeout=1"]].concat();
        let sound = Bench::new(PLAYER, ("", ""));
        assert!(sound.run(&words).status.success());
        // At the start of the process and of each game, not for each move: many engines then clear their hash table.
        assert_eq!(sound.0.read("ready").len(), 1 + 4, "{words:?}");
        for (fault, why) in [
            ("exit 3", "ended before it answered (exit status: 0)"),
            ("exec sleep 600", "did not answer within 1 s"),
        ] {
            let once = format!("[ -e failed ] || {LATE} || {{ touch failed; {fault}; }}");
            let bench = Bench::new(PLAYER, ("GO", &once));
            let output = bench.run(&words);
            let text = bench.error(&output);
            assert!(output.status.success(), "{text}");
            assert!(text.contains(&format!("the engine `sh program` {why}")), "{text}");
            assert!(text.contains(again), "{text}");
            assert!(written(&bench) == written(&sound), "{words:?} {fault}");
            bench.assert_no_program_is_left();
        }
    }
}

#[test]
fn games_end_after_three_failures_of_an_engine() {
    let mut transcripts = String::new();
    for (words, fault) in [(ENGINES, "exit 3"), (OPPONENT, "exec sleep 600")] {
        let words = [&selfplay(words)[..], &["--engine-timeout=1", "--resume"]].concat();
        let sound = format!("[ -e repaired ] || {{ [ ! -e failed ] && {LATE}; }}");
        let bench = Bench::new(PLAYER, ("GO", &format!("{sound} || {{ touch failed; {fault}; }}")));
        transcripts += &bench.error(&bench.run(&words));
        bench.assert_no_program_is_left();
        bench.0.write("repaired", b"");
        let output = bench.run(&words);
        assert!(output.status.success(), "{}", bench.error(&output));
        let sound = Bench::new(PLAYER, ("", ""));
        assert!(sound.run(&words).status.success());
        assert!(written(&bench) == written(&sound), "{words:?}");
    }
    assert_data_eq!(
        transcripts,
        str![[r#"
status 1
 WARN the engine `sh program` ended before it answered (exit status: 0); game 1 starts again
 WARN the engine `sh program` ended before it answered (exit status: 0); game 1 starts again
error: cannot continue the games; 1 finished game is kept: game 1 cannot be played: the engine `sh program` ended before it answered (exit status: 0); repeat the command with --resume to continue
status 1
 WARN the engine `sh program` did not answer within 1 s; a new process searches this move of game 2
 WARN the engine `sh program` did not answer within 1 s; a new process searches this move of game 2
error: cannot continue the games; 2 finished games are kept: game 2 cannot be played: the engine `sh program` did not answer within 1 s; repeat the command with --resume to continue; --engine-timeout sets the time limit

"#]]
    );
}
