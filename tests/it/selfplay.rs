//! `kyokumen selfplay`: bytes that do not depend on threads, batches and shards; formats, errors.

mod openings;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use kyokumen::format::{Ending, Format, Game, GameResult, Reader};
use kyokumen::shogi::{Color, Position};
use kyokumen_testing::{foreign, foreign_moves};
use rsshogi::board::{Move32List, generate_legal_all_move32};
use rsshogi::types::{EnteringKingRule, Move32, RepetitionState};
use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::harness::{Dir, TestCommand};

/// A folder for runs of self-play.
struct Bench(Dir);

impl Bench {
    fn new() -> Self {
        Self(Dir::new())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn run(&self, out: &str, words: &[&str]) -> TestCommand {
        let command = ["selfplay", "-o", out, "--progress", "none", "--playouts=16", "--hash-mb=1"];
        self.0.kyokumen(command).args(words)
    }

    /// Another command in the folder.
    fn kyokumen(&self, words: &[&str]) -> TestCommand {
        self.0.kyokumen(words)
    }

    /// Runs self-play and returns its output.
    #[track_caller]
    fn games(&self, out: &str, words: &[&str]) -> Vec<u8> {
        self.run(out, words).succeeds();
        only_output(&self.path(out))
    }

    fn manifest(&self, path: &str) -> Value {
        self.0.json(path)
    }
}

/// The outputs of all shards in a folder, joined.
fn only_output(folder: &Path) -> Vec<u8> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_output = |path: &PathBuf| path.extension().is_none_or(|extension| extension != "json");
    let mut outputs: Vec<PathBuf> = files.filter(is_output).collect();
    outputs.sort();
    outputs.iter().flat_map(|path| fs::read(path).unwrap()).collect()
}

fn read(bytes: &[u8]) -> Vec<Game> {
    Reader::new(Format::Hcpe3, bytes).games().map(Result::unwrap).collect()
}

const GAMES: [&str; 3] = ["--model=hashed", "--games=30", "--seed=9"];

#[test]
fn bytes_do_not_depend_on_threads_batches_and_shards() {
    let bench = Bench::new();
    let with = |more: &[&'static str]| [&GAMES, more].concat();
    let games = bench.games("plain", &with(&[]));
    assert!(!games.is_empty());
    assert!(games == bench.games("threads", &with(&["--threads=3", "--batch=1", "--groups=2"])));
    assert!(games == bench.games("batch", &with(&["--threads=1", "--batch=64"])));
    for shard in ["--shard=1/3", "--shard=3/3", "--shard=2/3"] {
        bench.run("shards", &with(&[shard])).succeeds();
    }
    assert!(games == only_output(&bench.path("shards")));
    assert!(games != bench.games("seed", &["--model=hashed", "--games=30", "--seed=10"]));
    assert!(games != bench.games("other", &["--model=uniform", "--games=30", "--seed=9"]));
}

#[test]
fn a_configuration_file_equals_options() {
    let bench = Bench::new();
    let text = "model = \"hashed\"\ngames = 5\nseed = 3\nrandom-plies = 2\nleaf-mate = \"0,0\"\n";
    bench.0.write("games.toml", text);
    let options =
        ["--model=hashed", "--games=5", "--seed=3", "--random-plies=2", "--leaf-mate=0,0"];
    let games = bench.games("options", &options);
    assert!(games == bench.games("file", &["--config=games.toml"]));
}

#[test]
fn settings_of_other_programs_can_be_used() {
    let bench = Bench::new();
    for name in ["dlshogi", "katago", "nshogi"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
        let config = format!("--config={}/selfplay-{name}.toml", folder.display());
        let words = [&GAMES[..], &["--limit=2", &config]].concat();
        // `--playouts` on the command line takes precedence.
        bench.run(name, &words).succeeds();
    }
    let game = |name: &str| {
        bench.manifest(&format!("{name}/selfplay.manifest.json"))["settings"]["game"].clone()
    };
    assert_eq!(game("dlshogi")["repetition"], "dlshogi");
    let katago = game("katago");
    assert_eq!(katago["search"]["puct"]["root-noise"]["dirichlet"]["concentration"], 10.83);
    assert_eq!(katago["reduced-visits"]["min"], 350);
    assert_eq!(katago["policy-opening"]["mean-moves"], 6.5);
    let gumbel = serde_json::json!({"moves": 16, "visits": 50.0, "scale": 1.0});
    assert_eq!(game("nshogi")["search"]["gumbel"], gumbel);
}

#[test]
fn games_are_written_in_every_format() {
    let bench = Bench::new();
    let games = |to: &str| bench.games(to, &[&GAMES[..], &["--to", to]].concat());
    let hcpe3 = games("hcpe3");
    let read = read(&hcpe3);
    assert_eq!(read.len(), 30);
    let moves = read.iter().flat_map(|game| &game.moves);
    let trained: Vec<_> = moves.filter(|played| !played.is_not_for_training).collect();
    assert!(!trained.is_empty() && trained.iter().all(|played| !played.candidates.is_empty()));
    for (format, bytes) in [("psv", 40), ("hcpe", 38), ("hcp", 32)] {
        assert_eq!(games(format).len(), bytes * trained.len(), "{format}");
    }
    let lines = games("jsonl");
    assert_eq!(lines.split(|&byte| byte == b'\n').count(), trained.len() + 1);
    let manifest = bench.manifest("hcpe3/selfplay.manifest.json");
    assert_eq!(manifest["games"]["played"], 30);
    assert_eq!(manifest["games"]["training_positions"], trained.len());
    assert_eq!(manifest["reproducible"], true);
    assert_eq!(manifest["networks"][0]["model"], "hashed");
    assert_eq!(manifest["settings"]["game"]["playouts"], 16);
}

#[test]
fn dropped_games_are_counted_in_all_shards() {
    let bench = Bench::new();
    let drop = ["--min-moves=9", "--drop-max-moves", "--max-moves=20"];
    let settings = ["--games=40", "--resign=0.5", "--repetition=dlshogi"];
    // How many positions are found in a cache depends on the shards.
    let words = [&["--model=hashed", "--cache-mb=0"], &settings[..]].concat();
    let with = |more: &[&'static str]| [&words[..], more].concat();
    let all = read(&bench.games("all", &with(&["--max-moves=20"])));
    let bytes = bench.games("some", &with(&drop));
    let kept = |game: &&Game| game.moves.len() >= 9 && game.ending != Some(Ending::MoveLimit);
    assert!(read(&bytes) == all.iter().filter(kept).cloned().collect::<Vec<_>>());
    let games = bench.manifest("some/selfplay.manifest.json")["games"].clone();
    let short = all.iter().filter(|game| game.moves.len() < 9).count();
    let long = all.iter().filter(|game| game.ending == Some(Ending::MoveLimit)).count();
    assert!(short > 0 && long > 0 && short + long < 40, "{short} {long}");
    assert_eq!(games["played"], 40);
    assert_eq!(games["dropped"], serde_json::json!({ "move_limit": long, "too_short": short }));
    assert_eq!(games["written"], 40 - short - long);
    for shard in ["--shard=2/3", "--shard=1/3", "--shard=3/3"] {
        bench.run("shards", &with(&[&drop[..], &[shard]].concat())).succeeds();
    }
    assert!(bytes == only_output(&bench.path("shards")));
    bench.kyokumen(&["merge", "shards", "-o", "joined.hcpe3", "--progress=none"]).succeeds();
    assert_eq!(bench.manifest("joined.hcpe3.manifest.json")["games"], games);
    // A manifest with too few dropped games is refused.
    let path = bench.path("joined.hcpe3.manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    let long = format!("\"move_limit\": {long}");
    let (before, after) = text.split_once("\"dropped\"").unwrap();
    let forged = after.replacen(&long, "\"move_limit\": 0", 1);
    fs::write(&path, format!("{before}\"dropped\"{forged}")).unwrap();
    bench.kyokumen(&["verify", "--manifest", "joined.hcpe3.manifest.json"]).exits(&[1]);
}

#[test]
fn search_constants_change_games_and_belong_to_the_settings() {
    let bench = Bench::new();
    let few = ["--model=hashed", "--games=3"];
    let games = |out: &str, more: &[&str]| bench.games(out, &[&few[..], more].concat());
    let default = games("default", &[]);
    let named = ["--puct=dlshogi", "--c-init=1.49", "--c-base=39470", "--fpu=20", "--fpu-root=0"];
    assert!(games("named", &named) == default);
    let parent = games("parent", &["--puct=parent-value"]);
    assert!(parent != default);
    assert!(games("no reduction", &["--fpu=0"]) == parent);
    let others = [
        "--c-init=1.2",
        "--c-base=20",
        "--c-init-root=1",
        "--c-base-root=20",
        "--fpu=0.1",
        "--fpu-root=0.3",
    ];
    for (i, other) in others.into_iter().enumerate() {
        assert!(games(&format!("other {i}"), &[other]) != default, "{other}");
        bench.run("default", &[&few[..], &["--resume", other]].concat()).exits(&[1]);
    }
    let settings = bench.manifest("other 4/selfplay.manifest.json")["settings"]["game"].clone();
    let reduced = &settings["search"]["puct"]["first-play"]["reduced"];
    assert_eq!(*reduced, serde_json::json!({ "root": 0.0, "tree": 0.1 }));
}

#[test]
fn models_take_turns() {
    let bench = Bench::new();
    let words = ["--model=hashed", "--model=uniform", "--games=6", "--threads=3"];
    let games = bench.games("games", &words);
    let both = read(&games);
    let hashed = read(&bench.games("hashed", &["--model=hashed", "--games=6"]));
    for number in 0..6 {
        assert_eq!(both[number] == hashed[number], number % 2 == 0, "game {number}");
    }
}

#[test]
fn a_finished_run_is_not_repeated() {
    let bench = Bench::new();
    bench.run("out", &GAMES).succeeds();
    let before = fs::metadata(bench.path("out/selfplay.hcpe3")).unwrap().modified().unwrap();
    bench.run("out", &GAMES).exits(&[1]);
    bench.run("out", &[&GAMES[..], &["--resume"]].concat()).succeeds();
    let after = fs::metadata(bench.path("out/selfplay.hcpe3")).unwrap().modified().unwrap();
    assert_eq!(before, after);
    // A run with other settings does not continue these games.
    bench.run("out", &[&GAMES[..], &["--resume", "--noise=0"]].concat()).exits(&[1]);
    bench.run("out", &[&GAMES[..], &["--force", "--noise=0"]].concat()).succeeds();
}

#[test]
fn a_limit_plays_the_first_games_and_a_dry_run_none() {
    let bench = Bench::new();
    let shown = bench.run("out", &[&GAMES[..], &["--limit=5", "--dry-run"]].concat()).succeeds();
    assert_data_eq!(
        shown.text(),
        str![[r#"
read hashed
write out/selfplay.hcpe3
write out/selfplay.manifest.json
5 games

"#]]
    );
    assert!(!bench.path("out").exists());
    let limited = bench.games("out", &[&GAMES[..], &["--limit=5"]].concat());
    let all = bench.games("all", &GAMES);
    assert!(all.starts_with(&limited) && limited.len() < all.len());
    assert_eq!(read(&limited).len(), 5);
}

#[test]
fn invalid_requests_are_refused_before_anything_is_written() {
    let bench = Bench::new();
    bench.0.write("no.onnx", b"no network");
    bench.0.write("empty.hcp", b"");
    let refused = |code: i32, words: &[&str]| {
        bench.run("out", words).exits(&[code]);
        let left = fs::read_dir(bench.path("out")).map_or(0, |files| {
            files
                .filter(|file| file.as_ref().unwrap().path().extension() != Some("lock".as_ref()))
                .count()
        });
        assert_eq!(left, 0, "{words:?}");
    };
    refused(2, &["--games=1"]);
    refused(2, &["--model=hashed"]);
    refused(1, &["--model=missing.onnx", "--games=1"]);
    refused(1, &["--model=no.onnx", "--games=1"]);
    refused(2, &["--model=hashed", "--games=1", "--openings=empty.hcp"]);
    refused(1, &["--model=hashed", "--games=1", "--openings=missing.hcp"]);
    refused(2, &["--model=hashed", "--games=0"]);
    refused(2, &["--model=hashed", "--games=1", "--shard=2/2", "--resume", "--force"]);
    refused(2, &["--model=hashed", "--games=1", "--playouts=0"]);
    refused(2, &["--model=hashed", "--games=1", "--draw-value=2"]);
    refused(2, &["--model=hashed", "--games=1", "--leaf-mate=7"]);
    refused(2, &["--model=hashed", "--games=1", "--c-base=0"]);
    refused(2, &["--model=hashed", "--games=1", "--fpu=-1"]);
    refused(2, &["--model=hashed", "--games=1", "--puct=dlshogi-2018", "--c-init=1"]);
}

#[test]
fn the_bundled_network_plays() {
    let bench = Bench::new();
    let model = concat!("--model=", env!("CARGO_MANIFEST_DIR"), "/data/network.onnx");
    let with = |more: &[&'static str]| [&[model, "--games=4", "--max-moves=12"], more].concat();
    let games = bench.games("out", &with(&["--threads=1"]));
    assert!(games == bench.games("other", &with(&["--threads=3", "--batch=3"])));
    let manifest = bench.manifest("out/selfplay.manifest.json");
    assert_eq!(manifest["reproducible"], true);
    assert_eq!(manifest["networks"][0]["runtime"], "rten");
    assert_eq!(read(&games).len(), 4);
}

#[test]
fn outputs_are_compared_with_their_manifest() {
    let bench = Bench::new();
    bench.games("out", &GAMES);
    let verify = || bench.kyokumen(&["verify", "--manifest", "out/selfplay.manifest.json"]);
    verify().succeeds();
    let mut bytes = bench.0.read("out/selfplay.hcpe3");
    bytes[40] ^= 1;
    bench.0.write("out/selfplay.hcpe3", bytes);
    verify().exits(&[1]);
}

/// The result and the ending of a game by the rules of rsshogi.
fn expected_result(game: &Game, max_moves: usize) -> (GameResult, Option<Ending>) {
    let mut position = Position::try_from(&game.start).unwrap();
    let mut theirs = foreign(&position);
    theirs.set_entering_king_rule(EnteringKingRule::Point27);
    let without_ply = |sfen: &str| sfen.rsplit_once(' ').unwrap().0.to_owned();
    let mut seen = HashMap::new();
    for played in &game.moves {
        *seen.entry(without_ply(&position.to_string())).or_insert(0) += 1;
        let usi = played.best_move.to_string();
        let mut list = Move32List::new();
        generate_legal_all_move32(&theirs, &mut list);
        let legal = list.iter().find(|legal| legal.to_usi() == usi);
        theirs.apply_move32(*legal.unwrap_or_else(|| panic!("{usi} in {position}")));
        position.make(played.best_move);
    }
    let winner = |color| match color {
        Color::Black => GameResult::BlackWin,
        Color::White => GameResult::WhiteWin,
    };
    let mover = position.side_to_move();
    if foreign_moves(&theirs).is_empty() {
        return (winner(!mover), None);
    }
    if seen.get(&without_ply(&position.to_string())) == Some(&3) {
        let result = match theirs.repetition_state() {
            RepetitionState::Win => winner(mover),
            RepetitionState::Lose => winner(!mover),
            _ => GameResult::Draw,
        };
        return (result, Some(Ending::Repetition));
    }
    if theirs.declaration_win_move() != Move32::MOVE_NONE {
        return (winner(mover), Some(Ending::Declaration));
    }
    assert_eq!(game.moves.len(), max_moves, "the game stops without an ending");
    (GameResult::Draw, Some(Ending::MoveLimit))
}

#[test]
fn results_and_endings_agree_with_rsshogi() {
    let bench = Bench::new();
    let words = ["--model=hashed", "--games=60", "--resign=1", "--max-moves=250"];
    let games = read(&bench.games("games", &words));
    let mut endings = BTreeMap::new();
    for (number, game) in games.iter().enumerate() {
        assert_eq!(
            (game.result.unwrap(), game.ending),
            expected_result(game, 250),
            "game {number}"
        );
        *endings.entry(game.ending.map_or("mate", |ending| ending.name())).or_insert(0) += 1;
    }
    assert!(endings.len() >= 2, "{endings:?}");
}

#[test]
fn shards_of_games_are_joined() {
    let bench = Bench::new();
    for to in ["hcpe3", "hcpe3.zst", "psv.zst", "sbinpack"] {
        // How many positions are found in a cache depends on the shards.
        let options = ["--cache-mb=0", "--to", to];
        let with = |more: &[&'static str]| [&GAMES, more, &options].concat();
        let whole = bench.games(&format!("whole {to}"), &with(&[]));
        let folder = format!("shards {to}");
        for shard in ["--shard=2/3", "--shard=3/3"] {
            bench.run(&folder, &with(&[shard])).succeeds();
        }
        let joined = format!("joined.{to}");
        let merge = || bench.kyokumen(&["merge", &folder, "-o", &joined, "--progress=none"]);
        let missing = merge().run().transcript;
        bench.run(&folder, &with(&["--shard=1/3"])).succeeds();
        merge().succeeds();
        assert!(bench.0.read(&joined) == whole, "{to}");
        let manifest = bench.manifest(&format!("{joined}.manifest.json"));
        let whole_manifest = bench.manifest(&format!("whole {to}/selfplay.manifest.json"));
        for key in ["games", "settings", "networks", "reproducible", "inputs"] {
            assert_eq!(manifest[key], whole_manifest[key], "{key}");
        }
        assert_eq!(manifest["outputs"][0]["sha256"], whole_manifest["outputs"][0]["sha256"]);
        assert_eq!(manifest["parents"].as_array().unwrap().len(), 3);
        let name = format!("{joined}.manifest.json");
        bench.kyokumen(&["verify", "--manifest", &name]).succeeds();
        // Games of another seed do not belong to the run.
        let other = with(&["--shard=2/3", "--seed=8", "--force"]);
        let other: Vec<_> = other.into_iter().filter(|word| *word != GAMES[2]).collect();
        bench.run(&folder, &other).run();
        fs::remove_file(bench.path(&joined)).unwrap();
        fs::remove_file(bench.path(&name)).unwrap();
        let other = merge().run().transcript;
        assert_data_eq!(
            (missing + &other).replace(to, "FORMAT"),
            str![[r#"
status 1
error: the shards in shards FORMAT cannot be merged:
  shard 1/3 is missing (shards FORMAT/selfplay-00001-of-00003.manifest.json)
status 1
error: the shards in shards FORMAT cannot be merged:
  shard 2/3 belongs to a different run: settings.seed is 8, but 9 in shard 1/3

"#]]
        );
    }
}

#[test]
fn status_counts_games() {
    let bench = Bench::new();
    let with = |more: &[&'static str]| [&GAMES, more].concat();
    bench.run("out", &with(&["--shard=2/3"])).succeeds();
    let status = bench.kyokumen(&["status", "out", "--json"]).succeeds();
    let status = status.json();
    assert_eq!(status["unit"], "games");
    assert_eq!((&status["done"], &status["records"]), (&10.into(), &30.into()));
    let states: Vec<_> =
        status["shards"].as_array().unwrap().iter().map(|shard| &shard["state"]).collect();
    assert_eq!(states, ["missing", "done", "missing"]);
    // A manifest with too few games.
    let path = bench.path("out/selfplay-00002-of-00003.manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"played\": 10", "\"played\": 9")).unwrap();
    let status = bench.kyokumen(&["status", "out"]).exits(&[1]);
    let message = status.text();
    assert!(message.contains("1 damaged"), "{message}");
}

#[test]
#[cfg(unix)]
fn status_shows_the_figures_of_the_progress_display() {
    let bench = Bench::new();
    let words = "selfplay -o out --model=hashed --games=100000 --playouts=16 --hash-mb=1 --threads=1 \
                 --checkpoint-every=0.1 --progress=json";
    let mut run = bench.0.line(words).0;
    let mut run = run.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let shard = || bench.kyokumen(&["status", "out", "--json"]).run().json()["shards"][0].take();
    while !bench.path("out/selfplay.checkpoint").exists() || shard()["eta_s"].is_null() {
        assert_eq!(run.try_wait().unwrap(), None, "the run has ended");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(shard()["state"], "running");
    let text = bench.kyokumen(&["status", "out"]).succeeds().text();
    assert!(text.contains(" positions/s, ") && text.contains(" left\n"), "{text}");
    assert!(!text.contains("unknown") && !text.contains("mated"), "{text}");
    crate::signals::send(libc::SIGINT, &run);
    let message = String::from_utf8(run.wait_with_output().unwrap().stderr).unwrap();
    let last = message.lines().rfind(|line| line.contains("\"positions_per_s\"")).unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    let shard = shard();
    assert_eq!(shard["state"], "interrupted");
    assert_eq!(
        [&shard["done"], &shard["records_per_s"]],
        [&last["games"], &last["positions_per_s"]]
    );
}

/// An evaluator that answers 99 batches with zeros, or any number if the file `repaired` exists.
#[cfg(unix)]
const PROGRAM: &str = "echo kyokumen-evaluator 2 57
while set -- $(head -c 8 | od -An -tu4) && [ -n \"$1\" ]; do
  i=$((i + 1))
  [ $i -lt 100 ] || [ -e repaired ] || exit 9
  head -c $(($1 * 638 + $2 * 2)) > /dev/null
  head -c $((($1 + $2) * 4)) /dev/zero
done";

#[test]
#[cfg(unix)]
fn games_are_kept_when_a_program_dies() {
    let bench = Bench::new();
    bench.0.write("program", PROGRAM);
    let words =
        ["--model=run:sh program", "--games=6", "--batch=2", "--threads=1", "--max-moves=3"];
    let words = [&words[..], &["--resign=1", "--root-mate=0,0", "--resume"]].concat();
    let failed = bench.run("out", &words).run();
    assert_data_eq!(
        failed.transcript,
        str![[r#"
status 1
error: cannot continue the games; [..] kept: device 0 gives no evaluations: the network cannot be evaluated: the program ended (exit status: 9); repeat the command with --resume to continue

"#]]
    );
    bench.0.write("repaired", b"");
    bench.run("out", &words).succeeds();
    let manifest = bench.manifest("out/selfplay.manifest.json");
    assert!(manifest["resumed_from"][0].as_u64() > Some(0), "{manifest}");
    let at_once = [&words[..words.len() - 1], &["--name=other"]].concat();
    bench.run("other", &at_once).succeeds();
    let outputs = ["out/selfplay.hcpe3", "other/other.hcpe3"].map(|path| bench.0.read(path));
    assert!(outputs[0] == outputs[1]);
}

/// A run that replaces another is killed as soon as its checkpoint exists. `--resume` must play the games again, not
/// keep the replaced files.
#[test]
#[cfg(unix)]
fn resume_after_an_early_kill_plays_the_games_again() {
    let bench = Bench::new();
    bench
        .0
        .write("program", format!("while [ -e hang ]; do sleep 0.1; done\n{PROGRAM}").as_bytes());
    bench.0.write("repaired", b"");
    let words = ["--model=run:sh program", "--games=4", "--threads=1", "--max-moves=3"];
    let words = [&words[..], &["--resign=1", "--root-mate=0,0"]].concat();
    let games = bench.games("out", &words);
    fs::remove_file(bench.path("repaired")).unwrap();
    bench.0.write("hang", b"");
    let mut replacing = bench.run("out", &words).args(["--force"]).0.spawn().unwrap();
    let checkpoint = bench.path("out/selfplay.checkpoint");
    while !checkpoint.exists() {
        assert_eq!(replacing.try_wait().unwrap(), None, "the run ended without a checkpoint");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    replacing.kill().unwrap();
    replacing.wait().unwrap();
    fs::remove_file(bench.path("hang")).unwrap();
    bench.0.write("repaired", b"");
    bench.0.write("out/selfplay.hcpe3", b"damaged");
    bench.run("out", &[&words[..], &["--resume"]].concat()).succeeds();
    assert!(only_output(&bench.path("out")) == games);
}

#[test]
fn a_network_that_cannot_be_loaded_keeps_the_previous_run() {
    let bench = Bench::new();
    let games = bench.games("out", &GAMES);
    let words = ["--model=missing.onnx", "--games=30", "--seed=9", "--force"];
    bench.run("out", &words).exits(&[1]);
    assert!(only_output(&bench.path("out")) == games);
    bench.run("out", &[&GAMES[..], &["--resume"]].concat()).succeeds();
}
