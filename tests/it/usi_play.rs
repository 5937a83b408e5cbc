//! `kyokumen usi --model`: an engine that plays, as a GUI sees it. No test depends on how fast it is.

use kyokumen::shogi::{Move, Position};
use snapbox::{assert_data_eq, str};

use crate::usi::Engine;

/// A gold mates, and only a gold.
const MATE: &str = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1";
const MATED: &str = "4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 2";
/// Black may declare: the king and ten pieces are in the enemy's camp, with 28 points.
const DECLARED: &str = "K+R+R+B+BGGSS/NL7/9/9/9/9/9/9/8k b 2P2g2s3n3l16p 1";
fn engine(words: &[&str]) -> Engine {
    let mut engine = Engine::start_with(&[&["--model", "hashed"], words].concat());
    engine.say("isready");
    engine.hear_until("readyok");
    engine
}

impl Engine {
    /// The answer to a `go`, with what was said before.
    fn best_move(&mut self, position: &str, go: &str) -> (String, Vec<String>) {
        self.say(&format!("position {position}"));
        self.say(go);
        let mut heard = self.hear_until("bestmove");
        (heard.pop().unwrap(), heard)
    }
}

/// Without what depends on the clock.
fn timeless(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_timed = |i: usize| i > 0 && matches!(words[i - 1], "time" | "nps");
    (0..words.len()).filter(|&i| !is_timed(i)).map(|i| words[i]).collect::<Vec<_>>().join(" ")
}

#[test]
fn so_many_nodes_give_the_same_answer_again() {
    let search = || {
        let mut engine = engine(&["--batch=4"]);
        engine.say("setoption name MultiPV value 2");
        let (best, infos) = engine.best_move("startpos moves 7g7f 3c3d", "go nodes 500");
        (best, timeless(&infos[infos.len() - 2]), timeless(&infos[infos.len() - 1]))
    };
    let (best, first, second) = search();
    assert!(first.contains(" nodes 500 ") && first.contains(" multipv 1 score cp "), "{first}");
    assert!(second.contains(" multipv 2 score cp "), "{second}");
    let best_move = best.split(' ').nth(1).unwrap();
    assert!(first.contains(&format!(" pv {best_move} ")), "{best} {first}");
    let mut position = Position::start();
    let expected = first.split(" pv ").nth(1).unwrap();
    for m in ["7g7f", "3c3d"].into_iter().chain(expected.split(' ')) {
        let m = Move::from_usi(m).unwrap();
        assert!(position.is_legal(m), "{first}");
        position.make(m);
    }
    assert_eq!(search(), (best, first, second));
}

#[test]
fn what_the_rules_decide_needs_no_search() {
    let mut engine = engine(&[]);
    let (best, infos) = engine.best_move(&format!("sfen {MATE}"), "go nodes 100000000");
    assert_eq!(best, "bestmove G*5b");
    // Found by the mate search, or by the tree, which does not know how long it is.
    let last = infos.last().unwrap();
    assert!(last.contains(" score mate +") && last.ends_with(" pv G*5b"), "{infos:?}");
    assert_eq!(engine.best_move(&format!("sfen {MATED}"), "go nodes 9").0, "bestmove resign");
    assert_eq!(engine.best_move(&format!("sfen {DECLARED}"), "go nodes 9").0, "bestmove win");
}

#[test]
fn searches_on_request_end_on_request() {
    let mut engine = engine(&[]);
    // The mate is found at once, and not told before somebody asks.
    engine.say(&format!("position sfen {MATE}"));
    engine.say("go infinite");
    engine.hear_until("info depth 1 ");
    engine.say("go nodes 1");
    engine.hear_until("info string error: go: the last one is not answered yet");
    engine.say("stop");
    assert_eq!(engine.hear_until("bestmove"), ["bestmove G*5b"]);
    engine.say("go ponder btime 0 wtime 0");
    engine.hear_until("info depth 1 ");
    engine.say("ponderhit");
    assert_eq!(engine.hear_until("bestmove"), ["bestmove G*5b"]);
    engine.say("position startpos");
    engine.say("go ponder btime 1000 wtime 1000 byoyomi 10");
    engine.say("ponderhit");
    engine.hear_until("bestmove ");
    engine.say("go movetime 50");
    engine.hear_until("bestmove ");
    engine.say("go infinite");
    engine.say("stop");
    engine.hear_until("bestmove ");
    // Nothing is under way.
    engine.say("stop");
    engine.say("ponderhit");
    engine.say("isready");
    engine.hear_until("readyok");
}

/// The solver has its own options and its own table.
#[test]
fn mates_are_solved_beside_the_player() {
    let mut engine = engine(&[]);
    engine.say("usi");
    let offers = engine.hear_until("usiok");
    for name in
        ["USI_Hash", "MultiPV", "NodesLimit", "Mate_Hash", "Mate_MultiPV", "Mate_NodesLimit"]
    {
        let offered = format!("option name {name} type spin ");
        assert_eq!(offers.iter().filter(|offer| offer.starts_with(&offered)).count(), 1, "{name}");
    }
    engine.say("setoption name Mate_Hash value 16");
    engine.say(&format!("position sfen {MATE}"));
    engine.say("go mate 60000");
    let heard = engine.hear_until("checkmate ");
    assert_eq!(heard.last().unwrap(), "checkmate G*5b");
    engine.say("position startpos");
    engine.say("go mate infinite");
    engine.hear_until("checkmate nomate");
    // One search at a time, of either kind.
    engine.say("go infinite");
    engine.say("go mate 1000");
    engine.hear_until("info string error: go: the last one is not answered yet, stop ends it");
    engine.say("stop");
    engine.hear_until("bestmove ");
}

#[test]
fn what_cannot_be_asked_is_declined() {
    let mut engine = engine(&[]);
    for (line, expected) in [
        ("position startpos moves 7g7e", "info string error: position: move 1: 7g7e"),
        ("go nodes 5", "bestmove resign"),
        ("go nodes many", "bestmove resign"),
        ("go mate infinite", "checkmate notimplemented"),
        ("setoption name MultiPV value 0", "info string error: setoption: MultiPV must be"),
        ("setoption name Level value 5", "info string error: setoption: there is no option Level"),
        ("jump", "info string error: there is no command jump"),
    ] {
        engine.say(line);
        engine.hear_until(expected);
    }
    assert!(engine.best_move("startpos", "go nodes 5").0.starts_with("bestmove "));
}

#[test]
fn a_network_that_is_none_is_told_when_the_engine_gets_ready() {
    let mut engine = Engine::start_with(&["--model", "no-such.onnx"]);
    engine.say("isready");
    let heard = engine.hear_until("readyok");
    assert_data_eq!(
        &*heard[0],
        str![
            "info string error: cannot read no-such.onnx: No such file or directory (os error 2); check the path: all folders in it must exist, and a relative one starts in [..]"
        ]
    );
    let (best, heard) = engine.best_move("startpos", "go nodes 5");
    assert_eq!(best, "bestmove resign");
    assert_data_eq!(
        &*heard[0],
        str![
            "info string error: cannot read no-such.onnx: No such file or directory (os error 2); check the path: all folders in it must exist, and a relative one starts in [..]"
        ]
    );
}

/// A program that ends at its first question, and answers with zeros once it has been started again.
#[cfg(unix)]
const FAILS_FIRST: &str = "echo kyokumen-evaluator 1 57
[ -e asked ] || { touch asked; head -c 4 > /dev/null; exit 9; }
while n=$(head -c 4 | od -An -tu4 | tr -d ' ') && [ -n \"$n\" ]; do
  head -c $((n * 119 * 81)) > /dev/null
  head -c $((n * 2188 * 4)) /dev/zero
done";

#[test]
#[cfg(unix)]
fn a_mate_is_not_told_of_the_next_position() {
    let folder = tempfile::TempDir::new().unwrap();
    let script = FAILS_FIRST.replace("asked", folder.path().join("asked").to_str().unwrap());
    std::fs::write(folder.path().join("program"), script).unwrap();
    let model = format!("run:sh {}", folder.path().join("program").display());
    let mut engine = Engine::start_with(&["--model", &model]);
    engine.say("isready");
    engine.hear_until("readyok");
    let (best, heard) = engine.best_move(&format!("sfen {MATE}"), "go nodes 50");
    // The mate search may have been quicker than the program.
    assert!(["bestmove resign", "bestmove G*5b"].contains(&best.as_str()), "{best} {heard:?}");
    let is_quicker = best == "bestmove G*5b";
    let (mut best, mut heard) = engine.best_move("startpos", "go nodes 50");
    if is_quicker && best == "bestmove resign" {
        // Then the program failed while this position was searched.
        assert!(heard[0].contains("exit status: 9"), "{heard:?}");
        (best, heard) = engine.best_move("startpos", "go nodes 50");
    }
    let m = Move::from_usi(best.split(' ').nth(1).unwrap());
    assert!(m.is_some_and(|m| Position::start().is_legal(m)), "{best} {heard:?}");
}

#[test]
fn a_game_ends_by_the_rules() {
    let mut players = [engine(&["--threads=2"]), engine(&["--batch=1"])];
    let (mut position, mut moves) = (Position::start(), Vec::new());
    for ply in 0..400 {
        let of = format!("startpos moves {}", moves.join(" "));
        let (best, _) = players[ply % 2].best_move(&of, "go nodes 30");
        let word = best.split(' ').nth(1).unwrap();
        if word == "resign" {
            assert!(!position.has_legal_move());
            return;
        }
        if word == "win" {
            assert!(position.can_declare());
            return;
        }
        let m = Move::from_usi(word).unwrap();
        assert!(position.is_legal(m), "{word} after {moves:?}");
        position.make(m);
        moves.push(word.to_owned());
    }
}
