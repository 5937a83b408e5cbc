//! `kyokumen usi` as a GUI sees it: a child process with pipes.
//!
//! The protocol is Shogidokoro's USI. Tests wait at most [`PATIENCE`] for an answer, so a silent engine fails the test.
//! No test depends on the speed of the engine.

mod sessions;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use kyokumen::shogi::{Move, Position, plain};
use kyokumen_testing::positions::position;
use snapbox::{assert_data_eq, str};

/// Tadao Yamaoka's example for the gain from dominance, a mate of 15 moves.
const MATE: &str = "1n1g3+Pl/k1p1s4/1ng5p/pSP1p1pp1/1n3p3/P1K3P1P/1P7/9/L1G5L b 2R2BG2SL5Pn 161";
/// White mates in three plies.
const WHITE_MATES: &str =
    "+L4kp2/9/2gs1pB+R1/n1pgp4/6P2/S2G3r1/P3+b1G2/2P6/+lP1K1+n3 w 2SN2L4Pn6p 130";
/// Microcosmos, a problem of 1525 plies. With a table of 1 MiB the search does not end.
pub(crate) const ENDLESS: &str =
    "g1+P1k1+P+P+L/1p3P3/+R+p2pp1pl/1NNsg+p2+R/+b+nL+P1+p3/1P3ssP1/2P1+Ps2N/4+P1P1L/+B5G1g b - 1";

const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) struct Engine {
    process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

fn spawn(words: &[&str]) -> Child {
    let mut command = Command::new(cargo_bin("kyokumen"));
    command
        .arg("usi")
        .args(words)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

impl Engine {
    fn start() -> Self {
        Self::start_with(&[])
    }

    pub(crate) fn start_with(words: &[&str]) -> Self {
        let mut process = spawn(words);
        let output = BufReader::new(process.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in output.lines() {
                if sender.send(line.unwrap()).is_err() {
                    break;
                }
            }
        });
        Self { input: process.stdin.take(), process, lines }
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.send_bytes(line.as_bytes());
    }

    fn send_bytes(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    fn next_line(&mut self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("the engine sends a line")
    }

    /// The lines up to and including the first one that begins with `start`.
    pub(crate) fn lines_until(&mut self, start: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            lines.push(self.next_line());
            if lines.last().unwrap().starts_with(start) {
                return lines;
            }
        }
    }

    /// The line `checkmate …` and the lines before it, without progress lines.
    fn answer(&mut self) -> (String, Vec<String>) {
        let mut lines = self.lines_until("checkmate");
        let answer = lines.pop().unwrap();
        // Progress lines are sent once a second. Whether there are any depends on the machine.
        lines.retain(|line| !line.contains(" currmove "));
        (answer, lines)
    }

    /// Sends a position and a `go mate` command. Returns the answer and the lines before it.
    fn solve(&mut self, position: &str, command: &str) -> (String, Vec<String>) {
        self.send(&format!("position {position}"));
        self.send(command);
        self.answer()
    }

    /// Asserts that the previous commands have no answer.
    fn assert_silent(&mut self) {
        self.send("isready");
        assert_eq!(self.next_line(), "readyok");
    }

    /// Starts a search that does not end by itself.
    fn search_without_end(&mut self) {
        self.send("setoption name USI_Hash value 1");
        self.send(&format!("position sfen {ENDLESS}"));
        self.send("go mate infinite");
    }

    /// Closes standard input. Returns the remaining lines and the exit status.
    pub(crate) fn end(mut self) -> (Vec<String>, ExitStatus) {
        drop(self.input.take());
        let rest = self.lines.iter().collect();
        let output = self.process.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        (rest, output.status)
    }

    /// Sends a signal. Returns the remaining lines and the exit status.
    #[cfg(all(unix, feature = "network"))]
    pub(crate) fn interrupt(mut self, signal: i32) -> (Vec<String>, ExitStatus) {
        crate::signals::send(signal, &self.process);
        let rest = self.lines.iter().collect();
        (rest, self.process.wait().unwrap())
    }

    pub(crate) fn quit(mut self) {
        self.send("quit");
        let (rest, status) = self.end();
        assert!(rest.is_empty() && status.success(), "{rest:?} {status}");
    }
}

/// Runs a session with an engine and ends it with `quit`. No line may be left.
fn with_engine(session: impl FnOnce(&mut Engine)) {
    let mut engine = Engine::start();
    session(&mut engine);
    engine.quit();
}

/// Asserts that the moves of `checkmate …` mate, each move of the attacker with check. Returns their number.
fn assert_mates(mut position: Position, answer: &str) -> usize {
    let moves = answer.strip_prefix("checkmate ").unwrap().split(' ');
    let moves: Vec<Move> = moves.map(|text| Move::from_usi(text).expect(answer)).collect();
    for (ply, &m) in moves.iter().enumerate() {
        assert!(plain::legal_moves(&position).contains(&m), "{m} of {answer}");
        position.make(m);
        assert!(ply % 2 == 1 || plain::in_check(&position), "{m} of {answer}");
    }
    assert!(plain::in_check(&position) && plain::legal_moves(&position).is_empty(), "{answer}");
    moves.len()
}

/// The number after a word of an `info` line.
fn number(info: &str, name: &str) -> u64 {
    let mut words = info.split(' ').skip_while(|&word| word != name);
    words.nth(1).unwrap_or_else(|| panic!("{name} is not in {info}")).parse().unwrap()
}

#[test]
fn usi_is_answered_with_name_and_options() {
    with_engine(|engine| {
        engine.send("usi");
        let lines = engine.lines_until("usiok");
        assert_eq!(lines[0], concat!("id name Kyokumen ", env!("CARGO_PKG_VERSION")));
        assert!(lines[1].starts_with("id author "), "{lines:?}");
        let offers_hash =
            |line: &String| line.starts_with("option name USI_Hash type spin default ");
        assert!(lines.iter().any(offers_hash), "{lines:?}");
        for offer in [
            "option name Threads type spin default 0 min 0 max 1024",
            "option name MultiPV type spin default 1 min 1 max 593",
        ] {
            assert!(lines.iter().any(|line| line == offer), "{lines:?}");
        }
        engine.send("usi");
        assert_eq!(engine.lines_until("usiok"), lines, "the second answer is the same");
    });
}

#[test]
fn isready_is_answered_during_a_search() {
    with_engine(|engine| {
        for _ in 0..2 {
            engine.assert_silent();
        }
        engine.search_without_end();
        engine.send("isready");
        engine.lines_until("readyok");
        engine.send("stop");
        assert_eq!(engine.answer().0, "checkmate timeout");
    });
}

#[test]
fn commands_without_an_answer_get_none() {
    with_engine(|engine| {
        for line in [
            "setoption name USI_Ponder value true",
            "setoption name USI_Hash value 8",
            "usinewgame",
            "position startpos moves 7g7f",
            "stop",
            "stop",
            "ponderhit",
            "ponderhit btime 1000 wtime 1000",
            "gameover win",
            "gameover lose",
            "gameover draw",
            "gameover",
        ] {
            engine.send(line);
            engine.assert_silent();
        }
    });
}

#[test]
fn a_mate_is_answered_with_its_moves() {
    with_engine(|engine| {
        for command in ["go mate infinite", "go mate", "go mate 600000"] {
            for sfen in [MATE, WHITE_MATES, "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"] {
                let (answer, infos) = engine.solve(&format!("sfen {sfen}"), command);
                let plies = assert_mates(position(sfen), &answer);
                let info = infos.last().unwrap();
                let moves = answer.strip_prefix("checkmate").unwrap();
                assert!(info.ends_with(&format!(" score mate {plies} pv{moves}")), "{info}");
                assert_figures_fit(info, plies as u64);
            }
        }
    });
}

/// Checks the figures of the `info` line about a mate.
fn assert_figures_fit(info: &str, plies: u64) {
    assert!(number(info, "depth") >= plies, "{info}");
    let seconds = number(info, "time").max(1) as f64 / 1e3;
    let nodes_per_second = number(info, "nodes") as f64 / seconds;
    assert!(number(info, "nps") as f64 <= nodes_per_second.max(1.0) * 1.01, "{info}");
}

#[test]
fn a_proven_no_mate_is_answered_with_nomate() {
    with_engine(|engine| {
        engine.send("go mate 60000");
        assert_eq!(engine.answer().0, "checkmate nomate");
        // The lance gives check twice, but the king escapes.
        let free = "sfen 4k4/9/9/9/9/9/9/9/4K4 b L 1";
        assert_eq!(engine.solve(free, "go mate infinite").0, "checkmate nomate");
    });
}

#[test]
fn moves_after_the_position_are_played() {
    with_engine(|engine| {
        let almost = "sfen 4k4/9/4P4/9/9/9/9/9/4K4 w G 1 moves 5a4a 5i4i 4a5a";
        assert_eq!(engine.solve(almost, "go mate 60000").0, "checkmate G*5b");
        let nothing = format!("{almost} 4i5i");
        assert_eq!(engine.solve(&nothing, "go mate 60000").0, "checkmate nomate");
        let from_start = "startpos moves 7g7f 3c3d 8h2b+ 3a2b";
        assert_eq!(engine.solve(from_start, "go mate 60000").0, "checkmate nomate");
    });
}

#[test]
fn lines_may_end_with_crlf() {
    with_engine(|engine| {
        for line in ["usi\r", "setoption name USI_Hash value 8\r", "isready\r", "usinewgame\r"] {
            engine.send(line);
        }
        engine.lines_until("readyok");
        let almost = "sfen 4k4/9/4P4/9/9/9/9/9/4K4 w G 1 moves 5a4a 5i4i 4a5a\r";
        for command in ["go mate 60000\r", "go mate infinite\r", "go mate\r"] {
            assert_eq!(engine.solve(almost, command).0, "checkmate G*5b");
        }
        engine.search_without_end();
        engine.send("stop\r");
        assert_eq!(engine.answer().0, "checkmate timeout");
        engine.send("gameover win\r");
    });
}

/// During the search, the engine reports progress and answers other commands.
#[test]
fn a_search_without_end_can_be_stopped() {
    let mut engine = Engine::start();
    engine.search_without_end();
    let info = engine.lines_until("info depth").pop().unwrap();
    assert!(number(&info, "nodes") > 0 && number(&info, "nps") > 0, "{info}");
    assert!(number(&info, "time") >= 1000, "{info}");
    assert!(number(&info, "seldepth") >= number(&info, "depth"), "{info}");
    assert!(number(&info, "hashfull") <= 1000, "{info}");
    let (_, line) = info.split_once(" pv ").expect("a line of moves");
    let mut after = position(ENDLESS);
    for m in line.split(' ') {
        let m = Move::from_usi(m).unwrap();
        assert!(plain::legal_moves(&after).contains(&m), "{info}");
        after.make(m);
    }
    engine.send("go mate 1");
    let error = engine.lines_until("info string").pop().unwrap();
    assert_eq!(error, "info string error: go: a search is already running; end it with stop");
    // The new position is for the next search.
    engine.send("position startpos");
    engine.send("stop");
    assert_eq!(engine.answer().0, "checkmate timeout");
    engine.send("go mate infinite");
    assert_eq!(engine.answer().0, "checkmate nomate");
    engine.quit();
}

/// A problem whose search is long enough for several threads.
const LONG: &str = "1+P2l4/2P6/9/p5+R2/2k6/B3+P3B/9/9/9 b r4g4s4n3l14p 1";

#[test]
fn mates_are_found_with_any_number_of_threads() {
    with_engine(|engine| {
        for threads in [2, 1, 4, 0] {
            engine.send(&format!("setoption name Threads value {threads}"));
            let (answer, infos) = engine.solve(&format!("sfen {LONG}"), "go mate infinite");
            assert!(assert_mates(position(LONG), &answer) > 100);
            assert!(number(infos.last().unwrap(), "nodes") > 16_384, "{infos:?}");
        }
        engine.send("setoption name Threads value 4");
        engine.search_without_end();
        engine.lines_until("info depth");
        engine.send("stop");
        assert_eq!(engine.answer().0, "checkmate timeout");
    });
}

/// A lance protects the pawn, so both its promotion and the drop of a gold mate.
#[test]
fn multipv_reports_all_first_moves_that_mate() {
    let two = "4k4/9/4P4/4L4/9/9/9/9/9 b G2r2b3g4s4n3l14p 1";
    with_engine(|engine| {
        engine.send("setoption name MultiPV value 3");
        let (answer, infos) = engine.solve(&format!("sfen {two}"), "go mate infinite");
        let lines: Vec<&str> = infos.iter().filter_map(|info| info.split(" pv ").nth(1)).collect();
        assert_eq!(lines.len(), 2, "{infos:?}");
        assert_eq!(format!("checkmate {}", lines[0]), answer);
        let mut first_moves: Vec<&str> = lines.iter().filter_map(|line| line.get(..4)).collect();
        first_moves.sort_unstable();
        assert_eq!(first_moves, ["5c5b", "G*5b"]);
        for (info, rank) in infos.iter().zip(1..) {
            assert_eq!(number(info, "multipv"), rank, "{infos:?}");
        }
        for line in lines {
            assert_mates(position(two), &format!("checkmate {line}"));
        }
        engine.send("setoption name MultiPV value 1");
        let (_, infos) = engine.solve(&format!("sfen {two}"), "go mate infinite");
        assert!(infos.len() == 1 && !infos[0].contains("multipv"), "{infos:?}");
    });
}

#[test]
fn an_immediate_stop_ends_the_search() {
    with_engine(|engine| {
        for stop in ["stop", "gameover lose", "stop\ngameover draw"] {
            engine.search_without_end();
            engine.send(stop);
            assert_eq!(engine.answer().0, "checkmate timeout");
        }
    });
}

#[test]
fn a_search_ends_after_its_time() {
    with_engine(|engine| {
        engine.send("setoption name USI_Hash value 1");
        for time in ["0", "1", "50"] {
            let (answer, infos) =
                engine.solve(&format!("sfen {ENDLESS}"), &format!("go mate {time}"));
            assert_eq!(answer, "checkmate timeout");
            let least = time.parse().unwrap();
            assert!(number(infos.last().unwrap(), "time") >= least, "{infos:?}");
        }
    });
}

#[test]
fn options_limit_nodes_and_depth() {
    let mut engine = Engine::start();
    let mate = format!("sfen {MATE}");
    for (option, reason) in [
        ("NodesLimit value 100", "undecided: the node limit was reached"),
        ("DepthLimit value 3", "undecided: no mate within the depth limit"),
    ] {
        engine.send(&format!("setoption name {option}"));
        let (answer, infos) = engine.solve(&mate, "go mate infinite");
        assert_eq!(answer, "checkmate timeout");
        assert_eq!(infos.last().unwrap(), &format!("info string {reason}"));
        engine.send(&format!("setoption name {} value 0", &option[..10]));
    }
    let mut japanese = Engine::start_with(&["--lang", "ja"]);
    japanese.send("setoption name NodesLimit value 100");
    let (answer, infos) = japanese.solve(&mate, "go mate infinite");
    assert_eq!(answer, "checkmate timeout");
    assert_eq!(infos.last().unwrap(), "info string 不明: ノード数の上限に達しました");
    assert_mates(position(MATE), &engine.solve(&mate, "go mate infinite").0);
    for (setting, error) in [
        ("name USI_Hash value 0", "USI_Hash must be a number from 1 to 1048576, not 0"),
        ("name DepthLimit value deep", "DepthLimit must be a number from 0 to 4096, not deep"),
        ("name Threads value 1025", "Threads must be a number from 0 to 1024, not 1025"),
        ("name MultiPV value 0", "MultiPV must be a number from 1 to 593, not 0"),
        ("name Reset", "unknown option Reset"),
        ("name USI_Hash", "USI_Hash needs a value, a number from 1 to 1048576"),
        ("USI_Hash 3", "expected name NAME [value VALUE]"),
    ] {
        engine.send(&format!("setoption {setting}"));
        assert_eq!(engine.next_line(), format!("info string error: setoption: {error}"));
    }
    engine.quit();
}

#[test]
fn an_invalid_position_is_not_replaced_by_the_previous_one() {
    let mut engine = Engine::start();
    for (bad, error) in [
        ("sfen 4k4/9 b - 1", "position: character "),
        ("startpos moves 7g7f 7g7f", "position: move 2: 7g7f is illegal"),
        ("startpos moves 7g7f nonsense", "position: move 2: nonsense is not a move"),
        ("", "position: character 1: "),
    ] {
        let (answer, infos) = engine.solve(bad, "go mate 1000");
        assert_eq!(answer, "checkmate notimplemented");
        assert!(infos[0].starts_with(&format!("info string error: {error}")), "{infos:?}");
        let [_, refusal] = &infos[..] else { panic!("{infos:?}") };
        assert_eq!(
            refusal,
            "info string error: go mate: no position is set, because the last one was invalid"
        );
    }
    let (answer, infos) = engine.solve("sfen 9/9/4P4/9/9/9/9/9/4K4 b G 1", "go mate 1000");
    assert_eq!(answer, "checkmate notimplemented");
    let reason = "go mate: the White king is missing, so there is no king to mate";
    assert_eq!(infos, [format!("info string error: {reason}")]);
    assert_eq!(engine.solve("startpos", "go mate 60000").0, "checkmate nomate");
    let (answer, infos) = engine.solve("startpos", "go mate soon");
    assert_eq!(answer, "checkmate notimplemented");
    assert_data_eq!(
        infos.join("\n"),
        str!["info string error: go mate: found `soon`, expected milliseconds or `infinite`"]
    );
    engine.quit();
}

#[test]
fn invalid_lines_are_reported_and_skipped() {
    let mut engine = Engine::start();
    engine.send("");
    engine.send("make me a sandwich\r");
    assert_eq!(engine.next_line(), "info string error: unknown command make");
    engine.send_bytes(b"\xff\xfe\x00position");
    assert_data_eq!(engine.next_line(), str!["info string error: unknown command ��?position"]);
    engine.send(&"x".repeat(1 << 19));
    assert!(engine.next_line().len() < 200);
    engine.send(&format!("position startpos moves{}", " 5i5h 5a5b 5h5i 5b5a".repeat(1 << 16)));
    let expected = "info string error: a command is longer than 1048576 bytes and was ignored";
    assert_eq!(engine.next_line(), expected);
    engine.send("go mate 1000");
    assert_data_eq!(
        engine.next_line(),
        str!["info string error: go mate: no position is set, because the last one was invalid"]
    );
    assert_eq!(engine.next_line(), "checkmate notimplemented");
    engine.send("isready\r");
    assert_eq!(engine.next_line(), "readyok");
    engine.quit();
}

/// Without a mate, `resign` is the only move that the solver can justify.
#[test]
fn searches_other_than_go_mate_are_answered_with_resign() {
    with_engine(|engine| {
        engine.send("position startpos");
        for command in ["go", "go btime 1000 wtime 1000 byoyomi 100", "go depth 3"] {
            engine.send(command);
            assert_eq!(
                engine.next_line(),
                "info string error: go: only go mate is supported without --model"
            );
            assert_eq!(engine.next_line(), "bestmove resign");
        }
        for (command, end) in
            [("go infinite", "stop"), ("go infinite", "gameover draw"), ("go ponder", "ponderhit")]
        {
            engine.send(command);
            // No move is sent before the search must end.
            engine.assert_silent();
            engine.send(end);
            assert_eq!(engine.lines_until("bestmove").pop().unwrap(), "bestmove resign");
        }
        engine.send("go infinite");
    });
    let mut japanese = Engine::start_with(&["--lang", "ja"]);
    japanese.send("go");
    assert_eq!(
        japanese.next_line(),
        "info string error: go: only go mate is supported without --model",
        "errors are English in every language"
    );
    assert_eq!(japanese.next_line(), "bestmove resign");
    japanese.quit();
}

#[test]
fn quit_ends_a_search() {
    let mut engine = Engine::start();
    engine.search_without_end();
    engine.send("quit");
    let (rest, status) = engine.end();
    assert!(status.success());
    assert_eq!(rest.last().unwrap(), "checkmate timeout");
}

#[test]
fn the_end_of_input_lets_a_search_with_a_time_limit_finish() {
    let mut engine = Engine::start();
    engine.send(&format!("position sfen {MATE}"));
    engine.send("go mate 600000");
    let (rest, status) = engine.end();
    assert!(status.success());
    assert_mates(position(MATE), rest.last().unwrap());

    let mut engine = Engine::start();
    engine.search_without_end();
    let (rest, status) = engine.end();
    assert!(status.success());
    assert_eq!(rest.last().unwrap(), "checkmate timeout");
}

#[test]
fn a_closed_standard_output_is_not_an_error() {
    let mut engine = spawn(&[]);
    drop(engine.stdout.take());
    let mut input = engine.stdin.take().unwrap();
    input.write_all(b"usi\n").unwrap();
    let output = engine.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    drop(input);
}
