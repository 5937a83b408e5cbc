//! The commands that two GUIs send.

use kyokumen_testing::positions::position;

use super::{ENDLESS, Engine, MATE, WHITE_MATES, assert_mates, number};

/// The commands of `ShogiHome` according to its source (`src/background/usi/engine.ts`): options after `usiok`,
/// `usinewgame` after `readyok`, milliseconds or `infinite` after `go mate`, `gameover draw` before the next `isready`.
#[test]
fn a_session_of_shogihome() {
    let mut engine = Engine::start();
    engine.send("usi");
    engine.lines_until("usiok");
    for setting in [
        "USI_Hash value 64",
        "USI_Ponder value true",
        "Threads value 2",
        "MultiPV value 2",
        "DepthLimit value 0",
        "NodesLimit value 0",
    ] {
        engine.send(&format!("setoption name {setting}"));
    }
    engine.assert_silent();
    engine.send("usinewgame");
    let (answer, infos) = engine.solve(&format!("sfen {MATE}"), "go mate 600000");
    assert_mates(position(MATE), &answer);
    assert_eq!(number(&infos[0], "multipv"), 1, "{infos:?}");
    engine.send(&format!("position sfen {ENDLESS}"));
    engine.send("go mate infinite");
    engine.lines_until("info depth");
    engine.send("stop");
    assert_eq!(engine.answer().0, "checkmate timeout");
    engine.send("gameover draw");
    engine.assert_silent();
    engine.send("usinewgame");
    engine.send("position startpos moves 7g7f");
    engine.send("go infinite");
    engine.send("stop");
    assert_eq!(engine.lines_until("bestmove").pop().unwrap(), "bestmove resign");
    engine.quit();
}

/// The commands of Shogidokoro according to the USI protocol: the two standard options, a game with pondering, a mate
/// search.
#[test]
fn a_session_of_shogidokoro() {
    let mut engine = Engine::start();
    engine.send("usi");
    engine.lines_until("usiok");
    engine.send("setoption name USI_Ponder value true");
    engine.send("setoption name USI_Hash value 256");
    engine.assert_silent();
    engine.send("usinewgame");
    engine.send("position startpos moves 7g7f 3c3d");
    engine.send("go ponder btime 60000 wtime 50000 byoyomi 10000");
    engine.send("ponderhit");
    assert_eq!(engine.lines_until("bestmove").pop().unwrap(), "bestmove resign");
    engine.send("gameover lose");
    let (answer, _) = engine.solve(&format!("sfen {WHITE_MATES}"), "go mate 60000");
    assert_mates(position(WHITE_MATES), &answer);
    // `ponderhit` without pondering does not end the search.
    engine.send(&format!("position sfen {ENDLESS}"));
    engine.send("go mate infinite");
    engine.send("ponderhit");
    engine.lines_until("info depth");
    engine.send("stop");
    assert_eq!(engine.answer().0, "checkmate timeout");
    engine.quit();
}
