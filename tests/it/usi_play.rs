//! `kyokumen usi --model`, the playing engine, as a GUI sees it. No test depends on its speed.

use kyokumen::shogi::{Move, Position};
use snapbox::{assert_data_eq, str};

use crate::usi::Engine;

/// Only the drop of a gold mates.
const MATE: &str = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1";
const MATED: &str = "4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 2";
/// Black may declare a win: the king and ten pieces are in the promotion zone, with 28 points.
const DECLARED: &str = "K+R+R+B+BGGSS/NL7/9/9/9/9/9/9/8k b 2P2g2s3n3l16p 1";

fn engine(words: &[&str]) -> Engine {
    let mut engine = Engine::start_with(&[&["--model", "hashed"], words].concat());
    engine.send("isready");
    engine.lines_until("readyok");
    engine
}

impl Engine {
    /// Sends a position and a `go` command. Returns the line `bestmove …` and the lines before it.
    fn best_move(&mut self, position: &str, go: &str) -> (String, Vec<String>) {
        self.send(&format!("position {position}"));
        self.send(go);
        let mut lines = self.lines_until("bestmove");
        (lines.pop().unwrap(), lines)
    }
}

/// The line without values that depend on the clock.
fn timeless(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_timed = |i: usize| i > 0 && matches!(words[i - 1], "time" | "nps");
    (0..words.len()).filter(|&i| !is_timed(i)).map(|i| words[i]).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_search_with_a_node_limit_is_reproducible() {
    let search = || {
        let mut engine = engine(&["--batch=4"]);
        engine.send("setoption name MultiPV value 2");
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
fn mates_resignations_and_declarations_are_found_without_a_long_search() {
    let mut engine = engine(&[]);
    let (best, infos) = engine.best_move(&format!("sfen {MATE}"), "go nodes 100000000");
    assert_eq!(best, "bestmove G*5b");
    // The mate search finds the mate, or the tree search, which does not know its length.
    let last = infos.last().unwrap();
    assert!(last.contains(" score mate +") && last.ends_with(" pv G*5b"), "{infos:?}");
    assert_eq!(engine.best_move(&format!("sfen {MATED}"), "go nodes 9").0, "bestmove resign");
    assert_eq!(engine.best_move(&format!("sfen {DECLARED}"), "go nodes 9").0, "bestmove win");
}

#[test]
fn infinite_and_pondering_searches_end_on_request() {
    let mut engine = engine(&[]);
    // The mate is found at once, but the engine answers only after `stop`.
    engine.send(&format!("position sfen {MATE}"));
    engine.send("go infinite");
    engine.lines_until("info depth 1 ");
    engine.send("go nodes 1");
    engine.lines_until("info string error: go: a search is already running");
    engine.send("stop");
    assert_eq!(engine.lines_until("bestmove"), ["bestmove G*5b"]);
    engine.send("go ponder btime 0 wtime 0");
    engine.lines_until("info depth 1 ");
    engine.send("ponderhit");
    assert_eq!(engine.lines_until("bestmove"), ["bestmove G*5b"]);
    engine.send("position startpos");
    engine.send("go ponder btime 1000 wtime 1000 byoyomi 10");
    engine.send("ponderhit");
    engine.lines_until("bestmove ");
    engine.send("go movetime 50");
    engine.lines_until("bestmove ");
    engine.send("go infinite");
    engine.send("stop");
    engine.lines_until("bestmove ");
    // No search is running.
    engine.send("stop");
    engine.send("ponderhit");
    engine.send("isready");
    engine.lines_until("readyok");
}

/// `go mate` has its own options and its own table.
#[test]
fn the_playing_engine_also_solves_mates() {
    let mut engine = engine(&[]);
    engine.send("usi");
    let offers = engine.lines_until("usiok");
    for name in
        ["USI_Hash", "MultiPV", "NodesLimit", "Mate_Hash", "Mate_MultiPV", "Mate_NodesLimit"]
    {
        let offered = format!("option name {name} type spin ");
        assert_eq!(offers.iter().filter(|offer| offer.starts_with(&offered)).count(), 1, "{name}");
    }
    engine.send("setoption name Mate_Hash value 16");
    engine.send(&format!("position sfen {MATE}"));
    engine.send("go mate 60000");
    let lines = engine.lines_until("checkmate ");
    assert_eq!(lines.last().unwrap(), "checkmate G*5b");
    engine.send("position startpos");
    engine.send("go mate infinite");
    engine.lines_until("checkmate nomate");
    // Only one search of either kind runs at a time.
    engine.send("go infinite");
    engine.send("go mate 1000");
    engine.lines_until("info string error: go: a search is already running; end it with stop");
    engine.send("stop");
    engine.lines_until("bestmove ");
}

#[test]
fn invalid_commands_are_answered_with_errors() {
    let mut engine = engine(&[]);
    for (line, expected) in [
        ("position startpos moves 7g7e", "info string error: position: move 1: 7g7e"),
        ("go nodes 5", "bestmove resign"),
        ("go nodes many", "bestmove resign"),
        ("go mate infinite", "checkmate notimplemented"),
        ("setoption name MultiPV value 0", "info string error: setoption: MultiPV must be"),
        ("setoption name Level value 5", "info string error: setoption: unknown option Level"),
        ("jump", "info string error: unknown command jump"),
    ] {
        engine.send(line);
        engine.lines_until(expected);
    }
    assert!(engine.best_move("startpos", "go nodes 5").0.starts_with("bestmove "));
}

#[test]
fn a_missing_network_is_reported_after_isready() {
    let mut engine = Engine::start_with(&["--model", "no-such.onnx"]);
    engine.send("isready");
    let lines = engine.lines_until("readyok");
    assert_data_eq!(
        &*lines[0],
        str![
            "info string error: cannot read no-such.onnx: No such file or directory (os error 2); check the path: relative paths start in [..]"
        ]
    );
    let (best, lines) = engine.best_move("startpos", "go nodes 5");
    assert_eq!(best, "bestmove resign");
    assert_data_eq!(
        &*lines[0],
        str![
            "info string error: cannot read no-such.onnx: No such file or directory (os error 2); check the path: relative paths start in [..]"
        ]
    );
}

/// An evaluator that exits at its first request, and answers with zeros after a restart.
#[cfg(unix)]
const FAILS_FIRST: &str = "echo kyokumen-evaluator 2 57
[ -e FAILED ] || { touch FAILED; head -c 4 > /dev/null; exit 9; }
while set -- $(head -c 8 | od -An -tu4) && [ -n \"$1\" ]; do
  head -c $(($1 * 638 + $2 * 2)) > /dev/null
  head -c $((($1 + $2) * 4)) /dev/zero
done";

#[test]
#[cfg(unix)]
fn a_mate_is_not_reported_for_the_next_position() {
    let folder = tempfile::TempDir::new().unwrap();
    let script = FAILS_FIRST.replace("FAILED", folder.path().join("failed").to_str().unwrap());
    std::fs::write(folder.path().join("program"), script).unwrap();
    let model = format!("run:sh {}", folder.path().join("program").display());
    let mut engine = Engine::start_with(&["--model", &model]);
    engine.send("isready");
    engine.lines_until("readyok");
    let (best, lines) = engine.best_move(&format!("sfen {MATE}"), "go nodes 50");
    // The mate search may have been faster than the program.
    assert!(["bestmove resign", "bestmove G*5b"].contains(&best.as_str()), "{best} {lines:?}");
    let is_faster = best == "bestmove G*5b";
    let (mut best, mut lines) = engine.best_move("startpos", "go nodes 50");
    if is_faster && best == "bestmove resign" {
        // In this case the program failed during the search of the second position.
        assert!(lines[0].contains("exit status: 9"), "{lines:?}");
        (best, lines) = engine.best_move("startpos", "go nodes 50");
    }
    let m = Move::from_usi(best.split(' ').nth(1).unwrap());
    assert!(m.is_some_and(|m| Position::start().is_legal(m)), "{best} {lines:?}");
}

#[test]
fn a_game_of_two_engines_ends_by_the_rules() {
    let mut players = [engine(&["--threads=2"]), engine(&["--batch=1"])];
    let (mut position, mut moves) = (Position::start(), Vec::new());
    for ply in 0..400 {
        let game = format!("startpos moves {}", moves.join(" "));
        let (best, _) = players[ply % 2].best_move(&game, "go nodes 30");
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
