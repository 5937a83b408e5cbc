//! `kyokumen selfplay --engine`: games and matches of USI engines. The engine is `kyokumen usi` with a pseudo-random
//! network.

use kyokumen::format::{Format, Game, Reader};
use kyokumen::shogi::{Color, Position};
use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::harness::{Dir, TestCommand};

pub(crate) const ENGINE: &str =
    concat!("'", env!("CARGO_BIN_EXE_kyokumen"), "' usi --model hashed");
pub(crate) const UNIFORM: &str =
    concat!("'", env!("CARGO_BIN_EXE_kyokumen"), "' usi --model uniform");

fn selfplay(dir: &Dir, out: &str, words: &[&str]) -> TestCommand {
    let common = ["--nodes=20", "--max-moves=30", "--hash-mb=1", "--root-mate=5,100"];
    let command = ["selfplay", "-o", out, "--progress", "none", "--engine-option", "USI_Hash=1"];
    let count =
        if words.iter().any(|word| word.starts_with("--games")) { &[][..] } else { &["--games=8"] };
    dir.kyokumen(command).args(common).args(count).args(words)
}

fn games(dir: &Dir, out: &str) -> Vec<Game> {
    let bytes = dir.read(format!("{out}/selfplay.hcpe3"));
    Reader::new(Format::Hcpe3, &bytes[..]).games().map(Result::unwrap).collect()
}

#[test]
fn an_engine_plays_both_sides() {
    let dir = Dir::new();
    selfplay(&dir, "out", &["--engine", ENGINE, "--threads=2", "--multipv=3"]).succeeds();
    let games = games(&dir, "out");
    assert_eq!(games.len(), 8);
    for game in &games {
        let mut position = Position::start();
        for played in &game.moves {
            assert!(position.is_legal(played.best_move), "{position} {}", played.best_move);
            assert!(played.eval_cp.is_some() && played.candidates.len() <= 3);
            position.make(played.best_move);
        }
    }
    let searched = games.iter().flat_map(|game| &game.moves).filter(|m| !m.candidates.is_empty());
    assert!(searched.count() > 100);
    let manifest: Value = dir.json("out/selfplay.manifest.json");
    assert_eq!(manifest["games"]["played"], 8);
    assert_eq!(manifest["reproducible"], false);
    assert_eq!(manifest["engines"][0]["nodes"], 20);
    assert_eq!(manifest["engines"][0]["options"]["MultiPV"], "3");
    assert_eq!(manifest["settings"]["engines"], manifest["engines"]);
    // This engine always gives the same answers.
    for shard in ["--shard=1/2", "--shard=2/2"] {
        let words = ["--engine", ENGINE, "--threads=1", "--multipv=3", shard];
        selfplay(&dir, "shards", &words).succeeds();
    }
    dir.kyokumen(["merge", "shards", "-o", "joined.hcpe3"]).succeeds();
    assert!(dir.read("joined.hcpe3") == dir.read("out/selfplay.hcpe3"));
}

#[test]
fn two_engines_play_each_opening_twice() {
    let dir = Dir::new();
    dir.kyokumen(["generate", "-o", "openings.sfen", "--count", "4", "--seed", "2"]).succeeds();
    let engines = ["--engine", ENGINE, "--engine", UNIFORM, "--openings", "openings.sfen"];
    let ran = selfplay(&dir, "out", &engines).succeeds();
    let games = games(&dir, "out");
    assert_eq!(games.len(), 8);
    for pair in games.chunks(2) {
        assert_eq!(pair[0].start, pair[1].start);
    }
    assert!(games[0].start != games[2].start);
    let counts = &dir.json("out/selfplay.manifest.json")["games"];
    assert_eq!([sum(&counts["first_as_black"]), sum(&counts["first_as_white"])], [4, 4]);
    assert!(ran.stderr.contains(" wins, draws, losses (as Black "), "{}", ran.stderr);
}

#[test]
fn an_engine_plays_against_a_network() {
    let dir = Dir::new();
    let words = ["--model=hashed", "--opponent-engine", UNIFORM, "--opponent-share=0.5"];
    let ran = selfplay(&dir, "out", &[&words[..], &["--games=20", "--playouts=20"]].concat());
    let ran = ran.succeeds();
    let games = games(&dir, "out");
    let bytes = dir.read("out/selfplay.hcpe3");
    assert_eq!(games[0].opponent.map_or(0, |side| 1 + side as u8), bytes[35]);
    let sides = |side| games.iter().filter(|game| game.opponent == side).count() as u64;
    let [black, white] = [sides(Some(Color::Black)), sides(Some(Color::White))];
    assert!(black > 0 && white > 0 && sides(None) > 0, "{black} {white}");
    let manifest = dir.json("out/selfplay.manifest.json");
    // The network is counted.
    assert_eq!(sum(&manifest["games"]["first_as_black"]), white);
    assert_eq!(sum(&manifest["games"]["first_as_white"]), black);
    assert_eq!(manifest["reproducible"], false);
    assert_eq!(manifest["settings"]["opponent-share"], 0.5);
    assert_eq!(manifest["engines"][0]["nodes"], 20);
    assert!(ran.stderr.contains("the network against "), "{}", ran.stderr);
}

fn sum(results: &Value) -> u64 {
    ["wins", "draws", "losses"].iter().filter_map(|name| results[name].as_u64()).sum()
}

#[test]
#[cfg(unix)]
fn a_game_whose_engine_fails_starts_again() {
    let dir = Dir::new();
    // The first process only tells its name. The second ends in the middle of a game.
    let script = "echo >> starts
if [ $(wc -l < starts) = 2 ]; then
  i=0
  while [ $i -lt 30 ] && read -r line; do echo \"$line\"; i=$((i + 1)); done | ENGINE
  exit 3
fi
exec ENGINE";
    dir.write("engine.sh", script.replace("ENGINE", ENGINE));
    let words = ["--engine", "sh engine.sh", "--threads=1"];
    let ran = selfplay(&dir, "out", &words).succeeds();
    assert!(ran.stderr.contains("starts again"), "{}", ran.stderr);
    selfplay(&dir, "whole", &["--engine", ENGINE, "--threads=1"]).succeeds();
    assert!(dir.read("out/selfplay.hcpe3") == dir.read("whole/selfplay.hcpe3"));
    dir.write("engine.sh", "while read -r line; do [ \"$line\" != usi ] || echo usiok; done");
    let words = ["--engine", "sh engine.sh", "--engine-timeout=1", "--threads=1"];
    let ran = selfplay(&dir, "silent", &words).run();
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("did not answer within 1 s"), "{}", ran.stderr);
}

#[test]
fn impossible_options_are_refused() {
    let dir = Dir::new();
    let refused = |words: &[&str]| dir.kyokumen(["selfplay", "-o", "out"]).args(words).run();
    assert_data_eq!(
        refused(&["--games=1", "--engine=x"]).transcript,
        str![[r#"
status 2
error: --engine needs --nodes or --byoyomi

"#]]
    );
    for words in [
        &["--games=1", "--engine=x", "--model=hashed", "--nodes=1"][..],
        &["--games=1", "--model=hashed", "--nodes=1"],
        &["--games=1", "--model=hashed", "--opponent-engine=x"],
        &["--games=1", "--model=hashed", "--opponent-engine=x", "--nodes=1", "--opponent-share=2"],
        &["--games=1", "--model=hashed", "--opponent-engine=x", "--nodes=1", "--multipv=2"],
        &["--games=1", "--model=hashed", "--opponent-share=0.5"],
        &["--games=1", "--engine=x", "--opponent-engine=x", "--nodes=1"],
        &["--games=1", "--engine=x", "--engine=y", "--engine=z", "--nodes=1"],
        &["--games=1", "--engine=x", "--nodes=1", "--byoyomi=1"],
        &["--games=1"],
    ] {
        assert_eq!(refused(words).code, Some(2), "{words:?}");
    }
    assert!(!dir.join("out").exists());
}
