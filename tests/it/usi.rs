//! `kyokumen usi` as a GUI sees it: a child process that is talked to.
//!
//! The protocol is Shogidokoro's USI. No answer is waited for longer than [`PATIENCE`], so that a test
//! fails where the engine is silent; no test depends on how fast it is.

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
/// White mates in three moves.
const WHITE_MATES: &str =
    "+L4kp2/9/2gs1pB+R1/n1pgp4/6P2/S2G3r1/P3+b1G2/2P6/+lP1K1+n3 w 2SN2L4Pn6p 130";
/// Microcosmos, a problem of 1525 moves: with a table of 1 MiB a search without end.
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

    pub(crate) fn say(&mut self, line: &str) {
        self.say_bytes(line.as_bytes());
    }

    fn say_bytes(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    fn hear(&mut self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("the engine says something")
    }

    /// Lines up to the first that begins with `start`, that one included.
    pub(crate) fn hear_until(&mut self, start: &str) -> Vec<String> {
        let mut heard = Vec::new();
        loop {
            heard.push(self.hear());
            if heard.last().unwrap().starts_with(start) {
                return heard;
            }
        }
    }

    /// The answer to `go mate`, with what was said before it, except progress lines.
    fn answer(&mut self) -> (String, Vec<String>) {
        let mut heard = self.hear_until("checkmate");
        let answer = heard.pop().unwrap();
        // Progress lines are sent once a second. Whether there are any depends on the machine.
        heard.retain(|line| !line.contains(" currmove "));
        (answer, heard)
    }

    /// The answer to a question about a position, with what was said before it.
    fn ask(&mut self, position: &str, question: &str) -> (String, Vec<String>) {
        self.say(&format!("position {position}"));
        self.say(question);
        self.answer()
    }

    /// Whatever was said before called for no answer.
    fn assert_silent(&mut self) {
        self.say("isready");
        assert_eq!(self.hear(), "readyok");
    }

    /// Begins a search that does not end by itself.
    fn search_without_end(&mut self) {
        self.say("setoption name USI_Hash value 1");
        self.say(&format!("position sfen {ENDLESS}"));
        self.say("go mate infinite");
    }

    /// The rest of what it says after its input has ended, and how it ends.
    pub(crate) fn end(mut self) -> (Vec<String>, ExitStatus) {
        drop(self.input.take());
        let rest = self.lines.iter().collect();
        let output = self.process.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        (rest, output.status)
    }

    /// The rest of what it says after a signal, and how it ends.
    #[cfg(all(unix, feature = "network"))]
    pub(crate) fn interrupt(mut self, signal: i32) -> (Vec<String>, ExitStatus) {
        crate::signals::send(signal, &self.process);
        let rest = self.lines.iter().collect();
        (rest, self.process.wait().unwrap())
    }

    pub(crate) fn quit(mut self) {
        self.say("quit");
        let (rest, status) = self.end();
        assert!(rest.is_empty() && status.success(), "{rest:?} {status}");
    }
}

/// Talks to an engine, and then ends it with `quit`: it has nothing left to say.
fn converse(talk: impl FnOnce(&mut Engine)) {
    let mut engine = Engine::start();
    talk(&mut engine);
    engine.quit();
}

/// The moves of `checkmate …` mate in `position`, each of the attacker's a check.
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

/// The number behind a word of an `info` line.
fn number(info: &str, name: &str) -> u64 {
    let mut words = info.split(' ').skip_while(|&word| word != name);
    words.nth(1).unwrap_or_else(|| panic!("{name} is not in {info}")).parse().unwrap()
}

#[test]
fn the_engine_introduces_itself() {
    converse(|engine| {
        engine.say("usi");
        let heard = engine.hear_until("usiok");
        assert_eq!(heard[0], concat!("id name Kyokumen ", env!("CARGO_PKG_VERSION")));
        assert!(heard[1].starts_with("id author "), "{heard:?}");
        let offers_hash =
            |line: &String| line.starts_with("option name USI_Hash type spin default ");
        assert!(heard.iter().any(offers_hash), "{heard:?}");
        for offer in [
            "option name Threads type spin default 0 min 0 max 1024",
            "option name MultiPV type spin default 1 min 1 max 593",
        ] {
            assert!(heard.iter().any(|line| line == offer), "{heard:?}");
        }
        engine.say("usi");
        assert_eq!(engine.hear_until("usiok"), heard, "asked again");
    });
}

#[test]
fn readiness_may_be_asked_for_at_any_time() {
    converse(|engine| {
        for _ in 0..2 {
            engine.assert_silent();
        }
        engine.search_without_end();
        engine.say("isready");
        engine.hear_until("readyok");
        engine.say("stop");
        assert_eq!(engine.answer().0, "checkmate timeout");
    });
}

#[test]
fn what_needs_no_answer_gets_none() {
    converse(|engine| {
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
            engine.say(line);
            engine.assert_silent();
        }
    });
}

#[test]
fn a_mate_is_answered_with_its_moves() {
    converse(|engine| {
        for question in ["go mate infinite", "go mate", "go mate 600000"] {
            for sfen in [MATE, WHITE_MATES, "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"] {
                let (answer, said) = engine.ask(&format!("sfen {sfen}"), question);
                let plies = assert_mates(position(sfen), &answer);
                let info = said.last().unwrap();
                let moves = answer.strip_prefix("checkmate").unwrap();
                assert!(info.ends_with(&format!(" score mate {plies} pv{moves}")), "{info}");
                assert_figures_fit(info, plies as u64);
            }
        }
    });
}

/// The figures of the last line about a mate.
fn assert_figures_fit(info: &str, plies: u64) {
    assert!(number(info, "depth") >= plies, "{info}");
    let seconds = number(info, "time").max(1) as f64 / 1e3;
    let nodes_per_second = number(info, "nodes") as f64 / seconds;
    assert!(number(info, "nps") as f64 <= nodes_per_second.max(1.0) * 1.01, "{info}");
}

#[test]
fn no_mate_is_said_where_it_is_proven() {
    converse(|engine| {
        engine.say("go mate 60000");
        assert_eq!(engine.answer().0, "checkmate nomate");
        // The lance checks twice, and the king gets away.
        let free = "sfen 4k4/9/9/9/9/9/9/9/4K4 b L 1";
        assert_eq!(engine.ask(free, "go mate infinite").0, "checkmate nomate");
    });
}

#[test]
fn moves_lead_to_the_position() {
    converse(|engine| {
        let almost = "sfen 4k4/9/4P4/9/9/9/9/9/4K4 w G 1 moves 5a4a 5i4i 4a5a";
        assert_eq!(engine.ask(almost, "go mate 60000").0, "checkmate G*5b");
        let nothing = format!("{almost} 4i5i");
        assert_eq!(engine.ask(&nothing, "go mate 60000").0, "checkmate nomate");
        let from_start = "startpos moves 7g7f 3c3d 8h2b+ 3a2b";
        assert_eq!(engine.ask(from_start, "go mate 60000").0, "checkmate nomate");
    });
}

#[test]
fn lines_may_end_as_on_windows() {
    converse(|engine| {
        for line in ["usi\r", "setoption name USI_Hash value 8\r", "isready\r", "usinewgame\r"] {
            engine.say(line);
        }
        engine.hear_until("readyok");
        let almost = "sfen 4k4/9/4P4/9/9/9/9/9/4K4 w G 1 moves 5a4a 5i4i 4a5a\r";
        for question in ["go mate 60000\r", "go mate infinite\r", "go mate\r"] {
            assert_eq!(engine.ask(almost, question).0, "checkmate G*5b");
        }
        engine.search_without_end();
        engine.say("stop\r");
        assert_eq!(engine.answer().0, "checkmate timeout");
        engine.say("gameover win\r");
    });
}

/// Meanwhile it listens, and says how far it is.
#[test]
fn a_search_without_end_can_be_stopped() {
    let mut engine = Engine::start();
    engine.search_without_end();
    let info = engine.hear_until("info depth").pop().unwrap();
    assert!(number(&info, "nodes") > 0 && number(&info, "nps") > 0, "{info}");
    assert!(number(&info, "time") >= 1000, "{info}");
    assert!(number(&info, "seldepth") >= number(&info, "depth"), "{info}");
    assert!(number(&info, "hashfull") <= 1000, "{info}");
    let (_, line) = info.split_once(" pv ").expect("a line");
    let mut after = position(ENDLESS);
    for m in line.split(' ') {
        let m = Move::from_usi(m).unwrap();
        assert!(plain::legal_moves(&after).contains(&m), "{info}");
        after.make(m);
    }
    engine.say("go mate 1");
    let error = engine.hear_until("info string").pop().unwrap();
    assert_eq!(error, "info string error: go: the last one is not answered yet, stop ends it");
    // For the next search, not for this one.
    engine.say("position startpos");
    engine.say("stop");
    assert_eq!(engine.answer().0, "checkmate timeout");
    engine.say("go mate infinite");
    assert_eq!(engine.answer().0, "checkmate nomate");
    engine.quit();
}

/// A problem that takes more nodes than one thread searches alone.
const LONG: &str = "1+P2l4/2P6/9/p5+R2/2k6/B3+P3B/9/9/9 b r4g4s4n3l14p 1";

#[test]
fn threads_are_an_option() {
    converse(|engine| {
        for threads in [2, 1, 4, 0] {
            engine.say(&format!("setoption name Threads value {threads}"));
            let (answer, said) = engine.ask(&format!("sfen {LONG}"), "go mate infinite");
            assert!(assert_mates(position(LONG), &answer) > 100);
            assert!(number(said.last().unwrap(), "nodes") > 16_384, "{said:?}");
        }
        engine.say("setoption name Threads value 4");
        engine.search_without_end();
        engine.hear_until("info depth");
        engine.say("stop");
        assert_eq!(engine.answer().0, "checkmate timeout");
    });
}

/// With a lance behind the pawn it may promote as well as a gold may be dropped.
#[test]
fn first_moves_that_mate_are_told_if_asked_for() {
    let two = "4k4/9/4P4/4L4/9/9/9/9/9 b G2r2b3g4s4n3l14p 1";
    converse(|engine| {
        engine.say("setoption name MultiPV value 3");
        let (answer, said) = engine.ask(&format!("sfen {two}"), "go mate infinite");
        let lines: Vec<&str> = said.iter().filter_map(|info| info.split(" pv ").nth(1)).collect();
        assert_eq!(lines.len(), 2, "{said:?}");
        assert_eq!(format!("checkmate {}", lines[0]), answer);
        let mut first_moves: Vec<&str> = lines.iter().filter_map(|line| line.get(..4)).collect();
        first_moves.sort_unstable();
        assert_eq!(first_moves, ["5c5b", "G*5b"]);
        for (info, rank) in said.iter().zip(1..) {
            assert_eq!(number(info, "multipv"), rank, "{said:?}");
        }
        for line in lines {
            assert_mates(position(two), &format!("checkmate {line}"));
        }
        engine.say("setoption name MultiPV value 1");
        let (_, said) = engine.ask(&format!("sfen {two}"), "go mate infinite");
        assert!(said.len() == 1 && !said[0].contains("multipv"), "{said:?}");
    });
}

/// What `ShogiHome` sends, by its source (`src/background/usi/engine.ts`): options after `usiok`, `usinewgame` after
/// `readyok`, milliseconds or `infinite` behind `go mate`, `gameover draw` before it asks for readiness again.
#[test]
fn a_session_of_shogihome() {
    let mut engine = Engine::start();
    engine.say("usi");
    engine.hear_until("usiok");
    for setting in [
        "USI_Hash value 64",
        "USI_Ponder value true",
        "Threads value 2",
        "MultiPV value 2",
        "DepthLimit value 0",
        "NodesLimit value 0",
    ] {
        engine.say(&format!("setoption name {setting}"));
    }
    engine.assert_silent();
    engine.say("usinewgame");
    let (answer, said) = engine.ask(&format!("sfen {MATE}"), "go mate 600000");
    assert_mates(position(MATE), &answer);
    assert_eq!(number(&said[0], "multipv"), 1, "{said:?}");
    engine.say(&format!("position sfen {ENDLESS}"));
    engine.say("go mate infinite");
    engine.hear_until("info depth");
    engine.say("stop");
    assert_eq!(engine.answer().0, "checkmate timeout");
    engine.say("gameover draw");
    engine.assert_silent();
    engine.say("usinewgame");
    engine.say("position startpos moves 7g7f");
    engine.say("go infinite");
    engine.say("stop");
    assert_eq!(engine.hear_until("bestmove").pop().unwrap(), "bestmove resign");
    engine.quit();
}

/// What Shogidokoro sends, as the USI protocol has it: two options unasked, a game with pondering, a mate to be solved.
#[test]
fn a_session_of_shogidokoro() {
    let mut engine = Engine::start();
    engine.say("usi");
    engine.hear_until("usiok");
    engine.say("setoption name USI_Ponder value true");
    engine.say("setoption name USI_Hash value 256");
    engine.assert_silent();
    engine.say("usinewgame");
    engine.say("position startpos moves 7g7f 3c3d");
    engine.say("go ponder btime 60000 wtime 50000 byoyomi 10000");
    engine.say("ponderhit");
    assert_eq!(engine.hear_until("bestmove").pop().unwrap(), "bestmove resign");
    engine.say("gameover lose");
    let (answer, _) = engine.ask(&format!("sfen {WHITE_MATES}"), "go mate 60000");
    assert_mates(position(WHITE_MATES), &answer);
    // A word that belongs to no search is no reason to end one.
    engine.say(&format!("position sfen {ENDLESS}"));
    engine.say("go mate infinite");
    engine.say("ponderhit");
    engine.hear_until("info depth");
    engine.say("stop");
    assert_eq!(engine.answer().0, "checkmate timeout");
    engine.quit();
}

#[test]
fn a_stop_that_follows_at_once_is_heeded() {
    converse(|engine| {
        for stop in ["stop", "gameover lose", "stop\ngameover draw"] {
            engine.search_without_end();
            engine.say(stop);
            assert_eq!(engine.answer().0, "checkmate timeout");
        }
    });
}

#[test]
fn time_runs_out() {
    converse(|engine| {
        engine.say("setoption name USI_Hash value 1");
        for time in ["0", "1", "50"] {
            let (answer, said) = engine.ask(&format!("sfen {ENDLESS}"), &format!("go mate {time}"));
            assert_eq!(answer, "checkmate timeout");
            let least = time.parse().unwrap();
            assert!(number(said.last().unwrap(), "time") >= least, "{said:?}");
        }
    });
}

#[test]
fn limits_are_options() {
    let mut engine = Engine::start();
    let mate = format!("sfen {MATE}");
    for (option, reason) in [
        ("NodesLimit value 100", "undecided: the limit of nodes was reached"),
        ("DepthLimit value 3", "undecided: no mate within the limit of depth"),
    ] {
        engine.say(&format!("setoption name {option}"));
        let (answer, said) = engine.ask(&mate, "go mate infinite");
        assert_eq!(answer, "checkmate timeout");
        assert_eq!(said.last().unwrap(), &format!("info string {reason}"));
        engine.say(&format!("setoption name {} value 0", &option[..10]));
    }
    assert_mates(position(MATE), &engine.ask(&mate, "go mate infinite").0);
    for (setting, error) in [
        ("name USI_Hash value 0", "USI_Hash must be a number from 1 to 1048576, not 0"),
        ("name DepthLimit value deep", "DepthLimit must be a number from 0 to 4096, not deep"),
        ("name Threads value 1025", "Threads must be a number from 0 to 1024, not 1025"),
        ("name MultiPV value 0", "MultiPV must be a number from 1 to 593, not 0"),
        ("name Reset", "there is no option Reset"),
        ("name USI_Hash", "USI_Hash needs a value, a number from 1 to 1048576"),
        ("USI_Hash 3", "expected name NAME, and value VALUE unless it is a button"),
    ] {
        engine.say(&format!("setoption {setting}"));
        assert_eq!(engine.hear(), format!("info string error: setoption: {error}"));
    }
    engine.quit();
}

#[test]
fn what_is_no_position_is_not_answered_with_another() {
    let mut engine = Engine::start();
    for (bad, error) in [
        ("sfen 4k4/9 b - 1", "position: character "),
        ("startpos moves 7g7f 7g7f", "position: move 2: 7g7f is not legal there"),
        ("startpos moves 7g7f nonsense", "position: move 2: nonsense is no move"),
        ("", "position: character 1: "),
    ] {
        let (answer, said) = engine.ask(bad, "go mate 1000");
        assert_eq!(answer, "checkmate notimplemented");
        assert!(said[0].starts_with(&format!("info string error: {error}")), "{said:?}");
        let [_, refusal] = &said[..] else { panic!("{said:?}") };
        assert_eq!(
            refusal,
            "info string error: go mate: there is no position, the last one was refused"
        );
    }
    let (answer, said) = engine.ask("sfen 9/9/4P4/9/9/9/9/9/4K4 b G 1", "go mate 1000");
    assert_eq!(answer, "checkmate notimplemented");
    let reason = "go mate: the White king is missing: there is nothing to mate";
    assert_eq!(said, [format!("info string error: {reason}")]);
    assert_eq!(engine.ask("startpos", "go mate 60000").0, "checkmate nomate");
    let (answer, said) = engine.ask("startpos", "go mate soon");
    assert_eq!(answer, "checkmate notimplemented");
    assert_data_eq!(
        said.join("\n"),
        str!["info string error: go mate: expected milliseconds or infinite, not soon"]
    );
    engine.quit();
}

#[test]
fn strange_lines_are_passed_over() {
    let mut engine = Engine::start();
    engine.say("");
    engine.say("make me a sandwich\r");
    assert_eq!(engine.hear(), "info string error: there is no command make");
    engine.say_bytes(b"\xff\xfe\x00position");
    assert_data_eq!(engine.hear(), str!["info string error: there is no command ��?position"]);
    engine.say(&"x".repeat(1 << 19));
    assert!(engine.hear().len() < 200);
    engine.say(&format!("position startpos moves{}", " 5i5h 5a5b 5h5i 5b5a".repeat(1 << 16)));
    let passed_over = "info string error: a line of more than 1048576 bytes is passed over";
    assert_eq!(engine.hear(), passed_over);
    engine.say("go mate 1000");
    assert_data_eq!(
        engine.hear(),
        str!["info string error: go mate: there is no position, the last one was refused"]
    );
    assert_eq!(engine.hear(), "checkmate notimplemented");
    engine.say("isready\r");
    assert_eq!(engine.hear(), "readyok");
    engine.quit();
}

/// The only move it can vouch for without a mate.
#[test]
fn other_searches_are_resigned() {
    converse(|engine| {
        engine.say("position startpos");
        for question in ["go", "go btime 1000 wtime 1000 byoyomi 100", "go depth 3"] {
            engine.say(question);
            assert_eq!(engine.hear(), "info string error: go: only go mate is searched");
            assert_eq!(engine.hear(), "bestmove resign");
        }
        for (question, end) in
            [("go infinite", "stop"), ("go infinite", "gameover draw"), ("go ponder", "ponderhit")]
        {
            engine.say(question);
            // No move before it is asked for.
            engine.assert_silent();
            engine.say(end);
            assert_eq!(engine.hear_until("bestmove").pop().unwrap(), "bestmove resign");
        }
        engine.say("go infinite");
    });
}

#[test]
fn quitting_ends_a_search() {
    let mut engine = Engine::start();
    engine.search_without_end();
    engine.say("quit");
    let (rest, status) = engine.end();
    assert!(status.success());
    assert_eq!(rest.last().unwrap(), "checkmate timeout");
}

#[test]
fn the_end_of_input_lets_a_search_with_a_time_limit_finish() {
    let mut engine = Engine::start();
    engine.say(&format!("position sfen {MATE}"));
    engine.say("go mate 600000");
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
fn a_reader_who_leaves_is_no_error() {
    let mut engine = spawn(&[]);
    drop(engine.stdout.take());
    let mut input = engine.stdin.take().unwrap();
    input.write_all(b"usi\n").unwrap();
    let output = engine.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    drop(input);
}
