//! `split --by game` and `--by position`: no game or position is in two parts.

use std::collections::{BTreeMap, BTreeSet};

use kyokumen::format::Format;

use super::{assert_refused, in_chunks};
use crate::harness::Dir;

const PSV: usize = 40;

/// Random games, one after the other, in `a.psv`. Returns the games, found by their move numbers.
fn write_games(dir: &Dir, seed: u64) -> Vec<Vec<u8>> {
    dir.line(&format!("generate --count 6000 --seed {seed} -o a.psv --force")).succeeds();
    let mut games: Vec<Vec<u8>> = Vec::new();
    let mut last_ply = u16::MAX;
    for record in dir.read("a.psv").chunks(PSV) {
        let ply = u16::from_le_bytes([record[36], record[37]]);
        if ply <= last_ply {
            games.push(Vec::new());
        }
        games.last_mut().unwrap().extend(record);
        last_ply = ply;
    }
    games
}

/// The part of each game. The parts must consist of whole games in input order.
fn part_of_each<'a>(games: &'a [Vec<u8>], parts: &[Vec<u8>]) -> Vec<(usize, &'a [u8])> {
    let mut rest: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    let mut found = Vec::new();
    for game in games {
        let part = rest.iter().position(|rest| rest.starts_with(game)).expect("a game in one part");
        rest[part] = &rest[part][game.len()..];
        found.push((part, &game[..]));
    }
    assert!(rest.iter().all(|rest| rest.is_empty()));
    found
}

const TRAIN_VALID: &str = "split a.psv -o p --force --by game --weights 3,1 --names train,valid";

#[test]
fn a_game_is_in_one_part_for_any_number_of_threads() {
    let dir = Dir::new();
    let games: Vec<_> = std::iter::repeat_n(write_games(&dir, 5), 12).flatten().collect();
    assert!(games.len() > 300, "{}", games.len());
    // Some games extend over two blocks of 32,768 records.
    dir.write("a.psv", games.concat());
    dir.line(TRAIN_VALID).succeeds();
    assert_eq!(dir.names("p"), ["a-train.psv", "a-valid.psv", "a.manifest.json"]);
    let read = || ["p/a-train.psv", "p/a-valid.psv"].map(|name| dir.read(name));
    let parts = read();
    let in_valid = part_of_each(&games, &parts).iter().filter(|(part, _)| *part == 1).count();
    assert!((games.len() / 10..games.len() / 2).contains(&in_valid), "{in_valid}");
    let settings = &dir.json("p/a.manifest.json")["settings"];
    assert_eq!((&settings["by"], &settings["weights"]), (&"game".into(), &"3,1".into()));
    for options in ["--threads 1", "--threads 3 --memory 1", "--seed 1"] {
        dir.line(&format!("{TRAIN_VALID} {options}")).succeeds();
        assert!(read() == parts, "{options}");
    }
    for seed in 2..9 {
        dir.line(&format!("{TRAIN_VALID} --seed {seed}")).succeeds();
        assert!(read() != parts, "{seed}");
        part_of_each(&games, &read());
    }
}

#[test]
fn a_game_keeps_its_part_if_the_archive_grows_is_filtered_or_is_compressed() {
    let dir = Dir::new();
    write_games(&dir, 7);
    std::fs::rename(dir.join("a.psv"), dir.join("b.psv")).unwrap();
    write_games(&dir, 6);
    dir.line(TRAIN_VALID).succeeds();
    let parts = ["train", "valid"].map(|part| dir.read(format!("p/a-{part}.psv")));
    dir.line(&TRAIN_VALID.replace("a.psv", "b.psv a.psv --name c --to psv.zst")).succeeds();
    for (part, name) in parts.iter().zip(["train", "valid"]) {
        let grown = zstd::decode_all(&*dir.read(format!("p/c-{name}.psv.zst"))).unwrap();
        assert!(grown.ends_with(part), "{name}");
    }
    // A filter may remove the records at both ends of a block and between them.
    for filter in ["--every 2", "--drop-in-check", "--min-ply 5"] {
        dir.line(&format!("convert a.psv -o few.psv --force {filter}")).succeeds();
        let filtered = dir.read("few.psv");
        dir.line(&format!("{TRAIN_VALID} {filter}")).succeeds();
        let split = ["train", "valid"].map(|part| dir.read(format!("p/a-{part}.psv")));
        assert_eq!(split[0].len() + split[1].len(), filtered.len(), "{filter}");
        let before: [BTreeSet<&[u8]>; 2] = [0, 1].map(|part| parts[part].chunks(PSV).collect());
        for part in [0, 1] {
            assert!(
                split[part].chunks(PSV).all(|record| before[part].contains(record)),
                "{filter}"
            );
        }
        // Move numbers show that the records of a filtered file belong together.
        dir.line(&TRAIN_VALID.replace("a.psv", "few.psv")).succeeds();
        let again = ["train", "valid"].map(|part| dir.read(format!("p/few-{part}.psv")));
        assert_eq!(again.concat().len(), filtered.len(), "{filter}");
    }
}

#[test]
fn games_are_found_without_move_numbers_and_in_formats_of_games() {
    let dir = Dir::new();
    let games = write_games(&dir, 5);
    dir.line("convert a.psv -o a.hcpe").succeeds();
    dir.line(&TRAIN_VALID.replace("psv", "hcpe")).succeeds();
    let ends: Vec<usize> = games.iter().map(|game| game.len() / PSV * 38).collect();
    let (mut rest, mut hcpe_games) = (&dir.read("a.hcpe")[..], Vec::new());
    for end in ends {
        let (game, others) = rest.split_at(end);
        hcpe_games.push(game.to_vec());
        rest = others;
    }
    part_of_each(&hcpe_games, &["train", "valid"].map(|part| dir.read(format!("p/a-{part}.hcpe"))));
    dir.line("convert a.psv -o a.csa").succeeds();
    dir.line(&TRAIN_VALID.replace("psv", "csa")).succeeds();
    let chunks = |name: &str| in_chunks(Format::Csa, &dir.read(name));
    let mut parts = [chunks("p/a-train.csa"), chunks("p/a-valid.csa")].concat();
    let mut whole = chunks("a.csa");
    let trimmed = |games: &mut Vec<Vec<u8>>| {
        for game in games.iter_mut() {
            *game = game.trim_ascii().to_vec();
        }
        games.sort();
    };
    trimmed(&mut parts);
    trimmed(&mut whole);
    assert!(parts == whole);
}

/// Without move numbers, a filter leaves gaps that look like the ends of games.
#[test]
fn gaps_do_not_divide_games_without_move_numbers() {
    let dir = Dir::new();
    let games = write_games(&dir, 5);
    dir.line("convert a.psv -o a.hcpe").succeeds();
    let all = dir.read("a.hcpe");
    let numbers = games.iter().enumerate();
    let game_of_each = numbers.flat_map(|(number, game)| vec![number; game.len() / PSV]);
    // Equal records of several games, as at their starts, tell nothing.
    let mut games_of: BTreeMap<&[u8], BTreeSet<usize>> = BTreeMap::new();
    for (record, game) in all.chunks(38).zip(game_of_each) {
        games_of.entry(record).or_default().insert(game);
    }
    for filter in
        ["--drop-in-check", "--sample 0.7", "--sample 0.1", "--every 3", "--drop-promotions"]
    {
        dir.line(&format!("convert a.hcpe -o few.hcpe --force {filter}")).succeeds();
        dir.line(&TRAIN_VALID.replace("a.psv", "few.hcpe")).succeeds();
        let parts = ["train", "valid"].map(|part| dir.read(format!("p/few-{part}.hcpe")));
        let games = parts.each_ref().map(|part| -> BTreeSet<usize> {
            let games = part.chunks(38).map(|record| &games_of[record]);
            games.filter(|games| games.len() == 1).flatten().copied().collect()
        });
        assert!(games[0].is_disjoint(&games[1]), "{filter}");
        assert!(!games[1].is_empty(), "{filter}");
    }
}

#[test]
fn a_record_without_a_result_does_not_end_a_game() {
    let dir = Dir::new();
    let mut games = write_games(&dir, 5);
    for game in &mut games {
        let middle = game.len() / PSV / 2;
        game[middle * PSV + 38] = 5;
    }
    dir.write("a.psv", games.concat());
    dir.line(TRAIN_VALID).succeeds();
    part_of_each(&games, &["train", "valid"].map(|part| dir.read(format!("p/a-{part}.psv"))));
}

/// The records of two writers, in blocks.
fn in_blocks(records: &[u8], block: usize) -> Vec<u8> {
    let (first, second) = records.split_at(records.len() / PSV / 2 * PSV);
    let blocks = first.chunks(block * PSV).zip(second.chunks(block * PSV));
    blocks.flat_map(|(first, second)| [first, second].concat()).collect()
}

#[test]
fn games_that_begin_in_the_middle_are_reported() {
    const WARNING: &str = "seem to begin in the middle of a game";
    let dir = Dir::new();
    let games = write_games(&dir, 5).len();
    let all = dir.read("a.psv");
    let split = |inputs: &str| {
        let line = format!("split {inputs} -o p --name a --by game --names x,y --force");
        dir.line(&line).succeeds().stderr
    };
    let message = split("a.psv");
    assert!(message.contains(&format!("{games} games")) && !message.contains(WARNING), "{message}");
    let outputs = &dir.json("p/a.manifest.json")["outputs"];
    let counted = [0, 1].map(|part| outputs[part]["games"].as_u64().unwrap());
    assert_eq!(counted.iter().sum::<u64>(), games as u64);
    let mut days: Vec<String> = (0..30).map(|day| format!("day{day}.psv")).collect();
    for (name, bytes) in days.iter().zip(all.chunks(200 * PSV)) {
        dir.write(name, bytes);
        dir.line(&format!("convert {name} -o {}", name.replace("psv", "hcpe"))).succeeds();
    }
    let inputs = |days: &[String]| [days.join(" "), days.join(" ").replace("psv", "hcpe")];
    assert!(inputs(&days).iter().all(|inputs| !split(inputs).contains(WARNING)));
    days.sort();
    assert!(inputs(&days).iter().all(|inputs| split(inputs).contains(WARNING)));
    dir.write("blocks.psv", in_blocks(&all, 500));
    assert!(split("blocks.psv").contains(WARNING));
    // No position follows from another.
    let few: Vec<u8> = all.chunks(PSV).step_by(3).flatten().copied().collect();
    dir.write("few.psv", &few);
    assert!(!split("few.psv").contains(WARNING));
    dir.write("blocks.psv", in_blocks(&few, 250));
    assert!(split("blocks.psv").contains(WARNING));
    dir.write("blocks.psv", in_blocks(&all, 10));
    let words = ["split", "blocks.psv", "-o", "q", "--by", "game", "--parts", "2"];
    assert_refused(&dir, &words, "the records of blocks.psv are not in game order");
}

#[test]
fn equal_positions_are_in_one_part_whatever_their_order() {
    let dir = Dir::new();
    write_games(&dir, 5);
    dir.line("generate --count 6000 --seed 8 -o b.psv").succeeds();
    dir.line("shuffle a.psv b.psv -o c.psv").succeeds();
    let by_position = |inputs: &str, options: &str| {
        let words = "-o p --name n --force --by position --weights 1,1 --names x,y";
        dir.line(&format!("split {inputs} {words} {options}")).succeeds();
        ["p/n-x.psv", "p/n-y.psv"].map(|name| {
            let bytes = dir.read(name);
            let mut records: Vec<Vec<u8>> = bytes.chunks(PSV).map(<[u8]>::to_vec).collect();
            records.sort();
            records
        })
    };
    let parts = by_position("a.psv b.psv", "");
    let positions = [0, 1].map(|part| -> BTreeSet<&[u8]> {
        parts[part].iter().map(|record| &record[..32]).collect()
    });
    assert!(positions[0].is_disjoint(&positions[1]));
    assert!(parts.iter().all(|part| (4000..8000).contains(&part.len())), "{}", parts[0].len());
    assert!(by_position("c.psv", "--threads 1 --memory 1") == parts);
    assert!(by_position("c.psv", "--seed 3") != parts);
}

#[test]
fn splits_that_would_leak_or_make_no_sense_are_refused() {
    let dir = Dir::new();
    write_games(&dir, 5);
    for (from, to) in [("a.psv", "b.hcp"), ("a.psv", "b.csa"), ("a.psv", "b.hcpe")] {
        dir.line(&format!("convert {from} -o {to}")).succeeds();
    }
    dir.line("shuffle a.psv -o s.psv").succeeds();
    dir.line("shuffle b.hcpe -o s.hcpe").succeeds();
    for (line, why) in [
        (
            "s.psv --by game --parts 2",
            "the records of s.psv are not in game order (6000 records in",
        ),
        ("s.hcpe --by game --parts 2", "the records of s.hcpe are not in game order"),
        ("b.hcp --by game --parts 2", "hcp records have no moves, so their games cannot be"),
        (
            "b.csa --by position --parts 2",
            "not single records; use --by game, or convert to a record format",
        ),
        ("a.psv --weights 9,1", "--weights needs --by game or --by position"),
        ("a.psv --by game --weights 9,1 --parts 3", "2 weights given for 3 parts"),
        ("a.psv --names train,valid", "arguments were not provided"),
        ("a.psv --by ranges --parts 2 --names a", "1 name given for 2 parts"),
        ("a.psv --by game --names a,A", "--names: \"A\" occurs twice"),
        ("a.psv --by game --names a,b/c", "--names: \"b/c\" cannot be part of a file name"),
        ("a.psv --by game --names a,", "--names: \"\" cannot be part of a file name"),
        ("a.psv --size 1K --names a,b", "cannot be used with"),
        ("a.psv", "required arguments were not provided"),
    ] {
        let line = format!("split {line} -o p");
        assert_refused(&dir, &line.split(' ').collect::<Vec<_>>(), why);
        assert!(!dir.join("p").exists(), "{line}");
    }
    dir.write("one.psv", &write_games(&dir, 6)[0]);
    let message = dir.line("split one.psv -o one --by game --names x,y").succeeds().stderr;
    let empty = ["one-x.psv is empty: no game", "one-y.psv is empty: no game"];
    assert_eq!(empty.map(|why| message.matches(why).count()).iter().sum::<usize>(), 1, "{message}");
    dir.line("split a.psv -o p --names x,y --by ranges").succeeds();
    assert_eq!(dir.read("p/a-x.psv").len(), 3000 * PSV);
}
