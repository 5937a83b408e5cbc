//! Programs that evaluate positions for self-play, relabelling and play.

use super::*;
use crate::usi::Engine;

/// An evaluator that answers zeros.
const EVALUATOR: &str = "echo $$ >> pids
echo >> starts
START
echo kyokumen-evaluator 2 57
i=0
while set -- $(head -c 8 | od -An -tu4) && [ -n \"$1\" ]; do
  i=$((i + 1))
  GO
  head -c $(($1 * 638 + $2 * 2)) > /dev/null
  head -c $((($1 + $2) * 4)) /dev/zero
  AFTER
done";

const SELFPLAY: [&str; 11] = [
    "selfplay",
    "--output=out",
    "--model=run:sh program",
    "--games=4",
    "--batch=2",
    "--playouts=4",
    "--threads=1",
    "--max-moves=3",
    "--resign=1",
    "--root-mate=0,0",
    "--progress=none",
];

const RELABEL: [&str; 6] = [
    "relabel",
    "a.psv",
    "--output=out",
    "--model=run:sh program",
    "--threads=1",
    "--progress=none",
];

#[test]
fn a_signal_ends_a_run_even_if_its_evaluator_hangs_or_floods() {
    for fault in [
        ("START", "false", "exec sleep 600"),
        ("START", "false", "while :; do printf x; sleep 0.01; done"),
        // The program never reads.
        ("GO", "false", "exec sleep 600"),
        ("GO", "[ $i -lt 5 ]", "exec sleep 600"),
        ("GO", "[ $i -lt 5 ]", "exec cat > /dev/null"),
        ("GO", "[ $i -lt 5 ]", "while :; do printf x; sleep 0.1; done"),
    ] {
        survives_signals(EVALUATOR, fault, &SELFPLAY, "out/selfplay.hcpe3");
    }
    for fault in [
        ("START", "false", "exec sleep 600"),
        ("GO", "[ $i -lt 2 ]", "exec sleep 600"),
        // The first process only serves the checks at the start.
        ("START", "[ $(wc -l < starts) -lt 2 ]", "exec sleep 600"),
        ("GO", "[ $(wc -l < starts) -lt 2 ]", "exec sleep 600"),
    ] {
        survives_signals(EVALUATOR, fault, &RELABEL, "out/a.psv");
    }
}

#[test]
fn an_evaluator_that_sends_too_much_ends_the_run() {
    for surplus in ["printf x", "[ $i -lt 5 ] || printf x", "[ $i -lt 5 ] || cat /dev/zero"] {
        let bench = Bench::new(EVALUATOR, ("AFTER", surplus));
        let transcript = bench.error(&bench.run(&SELFPLAY));
        let why = "the network cannot be evaluated: the program sent more than was requested";
        // Games can be resumed; the check of the network before them cannot.
        let end = transcript
            .trim_end()
            .trim_end_matches("; repeat the command with --resume to continue");
        assert!(transcript.starts_with("status 1\n") && end.ends_with(why), "{transcript}");
        bench.assert_no_program_is_left();
    }
}

#[test]
fn a_program_without_a_greeting_is_reported() {
    let bench = Bench::new(EVALUATOR, ("START", "printf 'kyokumen-evaluator 2 5'; exit 3"));
    assert_data_eq!(
        bench.error(&bench.run(&SELFPLAY)),
        str![[r#"
status 1
error: sh is not an evaluator: it sent no first line, expected `kyokumen-evaluator 2 57` or `… 119`: the program ended (exit status: 3)

"#]]
    );
}

#[test]
fn messages_of_evaluators_are_log_lines() {
    let bench = Bench::new(EVALUATOR, ("START", "echo no GPU >&2"));
    assert_json_lines(&bench.run(&with_json_lines(&SELFPLAY)), "warn", "sh: no GPU");
    let text = bench.error(&bench.run(&[&SELFPLAY[..], &["--force"]].concat()));
    assert!(text.contains("\n WARN sh: no GPU\n"), "{text}");
}

#[test]
fn the_playing_engine_answers_even_if_its_evaluator_hangs() {
    for fault in [
        ("START", "exec sleep 600"),
        ("GO", "exec sleep 600"),
        ("GO", "[ $i -lt 3 ] || exec sleep 600"),
        ("GO", "sleep 5"),
        ("AFTER", "exec >&-; exec sleep 600"),
    ] {
        let bench = Bench::new(EVALUATOR, fault);
        let mut engine = playing_engine(&bench);
        for (go, stop) in
            [("go infinite", "stop"), ("go movetime 50", ""), ("go nodes 100000000", "stop")]
        {
            engine.send("position startpos");
            engine.send(go);
            engine.send(stop);
            let best = engine.lines_until("bestmove").pop().unwrap();
            assert!(best.len() > "bestmove ".len(), "{fault:?} {go}: {best}");
        }
        engine.quit();
        bench.assert_no_program_is_left();
    }
}

/// An engine whose evaluator has a fault.
fn playing_engine(bench: &Bench) -> Engine {
    let model = format!("run:sh -c \"cd {} && . ./program\"", bench.0.path().display());
    let mut engine = Engine::start_with(&["--model", &model]);
    engine.send("setoption name Mate_Root_Nodes value 0");
    engine
}

#[test]
fn a_signal_ends_the_playing_engine_after_a_last_bestmove() {
    let hangs = format!("{GRANDCHILD} touch reached; exec sleep 600");
    for fault in [("START", &hangs), ("GO", &hangs)] {
        for &(signals, code) in &SIGNALS[..3] {
            if signals.contains(&libc::SIGHUP) && !heeds_hangups() {
                continue;
            }
            let bench = Bench::new(EVALUATOR, (fault.0, fault.1));
            let mut engine = playing_engine(&bench);
            engine.send("position startpos");
            engine.send("go infinite");
            let until = Instant::now() + PATIENCE;
            while !bench.path("reached").exists() {
                assert!(Instant::now() < until, "{fault:?} is not reached");
                sleep(Duration::from_millis(5));
            }
            let (lines, status) = engine.interrupt(signals[0]);
            assert_eq!(status.code(), Some(code), "{fault:?}");
            assert!(lines.last().unwrap().starts_with("bestmove "), "{fault:?} {lines:?}");
            bench.assert_no_program_is_left();
        }
    }
    let bench = Bench::new(EVALUATOR, ("", ""));
    let mut engine = playing_engine(&bench);
    engine.send("usi");
    engine.lines_until("usiok");
    let (lines, status) = engine.interrupt(libc::SIGTERM);
    assert_eq!((lines, status.code()), (Vec::new(), Some(143)));
}

#[test]
fn a_stalled_search_ends_after_the_end_of_input() {
    let bench = Bench::new(EVALUATOR, ("GO", "[ $i -lt 3 ] || exec sleep 600"));
    let mut engine = playing_engine(&bench);
    engine.send("position startpos");
    engine.send("go nodes 1000");
    let (lines, status) = engine.end();
    assert!(status.success());
    let expected = "info string error: the network does not answer; stopping the search";
    assert!(lines.iter().any(|line| line == expected), "{lines:?}");
    assert!(lines.last().unwrap().starts_with("bestmove "), "{lines:?}");
    bench.assert_no_program_is_left();
}
