//! Proof files: checked by the rules of rsshogi, damaged on purpose, truncated, and in the documentation.
//!
//! The reader in this module follows `docs/formats/proof.md` and shares no code with the library.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use kyokumen::format::proof_file::{
    MAX_PROOF_STEPS, ProofFile, ProofReader, ProofText, parse_step,
};
use kyokumen::mate::judge::MateSettings;
use kyokumen::mate::positions::{InputPosition, LineOrByte, RecordLocation};
use kyokumen::mate::proof::check;
use kyokumen::mate::solve::{SolveOptions, solve};
use kyokumen::ops::generate::{GenerateSettings, Generator};
use kyokumen::records::position_verdict::PositionVerdict;
use kyokumen::shogi::Position;
use kyokumen_testing::foreign_moves;
use rsshogi::board;
use snapbox::{assert_data_eq, str};

use crate::proof_properties::{check_closed, check_file};
use kyokumen_testing::positions::{Random, position};

/// Pieces in hand of the attacker, by their letter in upper case.
type Pieces = HashMap<char, u32>;

/// The contents of a file whose proofs hold by the rules of rsshogi.
#[derive(Default, PartialEq, Eq, Debug)]
struct Proven {
    /// Wins of Black and White, losses of Black and White (the sides to move).
    wins: [u64; 2],
    losses: [u64; 2],
    steps: u64,
    longest: u32,
}

/// Checks every proof of a file with rsshogi.
fn check_by_rsshogi(text: &str) -> Result<Proven, String> {
    let mut proven = Proven::default();
    let mut lines = text.lines();
    if lines.next() != Some("proofs\t1") {
        return Err("not a proof file".to_owned());
    }
    let mut proofs = 0;
    while let Some(line) = lines.next() {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            ["proof", _, claim, plies, steps, sfen] => {
                let steps: Vec<&str> = lines.by_ref().take(steps.parse().unwrap()).collect();
                let plies = plies.parse().unwrap();
                check_proof(claim, plies, sfen, &steps)?;
                let side = usize::from(sfen.contains(" w "));
                match claim {
                    "win" => proven.wins[side] += 1,
                    _ => proven.losses[side] += 1,
                }
                proofs += 1;
                proven.steps += steps.len() as u64;
                proven.longest = proven.longest.max(plies);
            }
            ["end", number, _] => {
                let is_last = lines.next().is_none() && number == proofs.to_string();
                return if is_last { Ok(proven) } else { Err(format!("ends wrongly: {line}")) };
            }
            _ => return Err(format!("unexpected: {line}")),
        }
    }
    Err("cut off".to_owned())
}

/// The hands and plies of the steps, by board.
type Steps<'a> = HashMap<&'a str, Vec<(Pieces, u32)>>;

fn check_proof(claim: &str, plies: u32, sfen: &str, lines: &[&str]) -> Result<(), String> {
    let to_move = sfen.split(' ').nth(1).unwrap();
    let attacker = match (claim, to_move) {
        ("win", "b") | ("loss", "w") => 'b',
        ("win", "w") | ("loss", "b") => 'w',
        _ => return Err(format!("claims {claim}")),
    };
    let steps: Vec<(&str, &str, u32)> = lines
        .iter()
        .map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
            ["step", sfen, m, plies] => (sfen, m, plies.parse().unwrap()),
            _ => panic!("no step: {line}"),
        })
        .collect();
    let mut known = Steps::new();
    for (sfen, _, plies) in &steps {
        known.entry(board_of(sfen)).or_default().push((hand_of(sfen, attacker), *plies));
    }
    let root = board::position_from_sfen(sfen).map_err(|error| format!("{sfen}: {error:?}"))?;
    if claim == "win" {
        check_reply(&known, sfen, attacker, plies)?;
    } else {
        assert!(root.is_in_check() || foreign_moves(&root).is_empty(), "{sfen}");
        check_replies(&known, &root, attacker, plies)?;
    }
    let set = pieces_of(sfen);
    for (sfen, m, plies) in steps {
        if sfen.split(' ').nth(1) != Some(attacker.to_string().as_str()) || pieces_of(sfen) != set {
            return Err(format!("not of this proof: {sfen}"));
        }
        let mut position =
            board::position_from_sfen(sfen).map_err(|error| format!("{sfen}: {error:?}"))?;
        if !foreign_moves(&position).iter().any(|legal| legal == m) {
            return Err(format!("{m} is illegal in {sfen}"));
        }
        position.apply_move32(board::move_from_usi_expect(&position, m));
        if !position.is_in_check() {
            return Err(format!("{m} gives no check in {sfen}"));
        }
        check_replies(&known, &position, attacker, plies - 1)?;
    }
    Ok(())
}

fn check_replies(
    known: &Steps,
    position: &board::Position,
    attacker: char,
    plies: u32,
) -> Result<(), String> {
    for m in foreign_moves(position) {
        let mut after = position.clone();
        after.apply_move32(board::move_from_usi_expect(&after, &m));
        let left = plies.checked_sub(1).ok_or(format!("{m} comes too late"))?;
        check_reply(known, &after.to_sfen(None), attacker, left)?;
    }
    Ok(())
}

fn check_reply(known: &Steps, sfen: &str, attacker: char, most_plies: u32) -> Result<(), String> {
    let hand = hand_of(sfen, attacker);
    let is_reply = |(least, plies): &(Pieces, u32)| {
        *plies <= most_plies
            && least.iter().all(|(kind, count)| hand.get(kind).is_some_and(|held| held >= count))
    };
    let has_reply = known.get(board_of(sfen)).is_some_and(|steps| steps.iter().any(is_reply));
    if has_reply { Ok(()) } else { Err(format!("no step within {most_plies} plies from {sfen}")) }
}

fn board_of(sfen: &str) -> &str {
    sfen.split(' ').next().unwrap()
}

fn hand_of(sfen: &str, color: char) -> Pieces {
    let mut pieces = Pieces::new();
    let mut count = 0;
    for c in sfen.split(' ').nth(2).unwrap().chars().filter(|&c| c != '-') {
        if let Some(digit) = c.to_digit(10) {
            count = count * 10 + digit;
        } else {
            if c.is_ascii_uppercase() == (color == 'b') {
                pieces.insert(c.to_ascii_uppercase(), count.max(1));
            }
            count = 0;
        }
    }
    pieces
}

/// All pieces of a position, without their squares, sorted.
fn pieces_of(sfen: &str) -> Vec<char> {
    let board = board_of(sfen).chars().filter(char::is_ascii_alphabetic);
    let mut pieces: Vec<char> = board.map(|c| c.to_ascii_uppercase()).collect();
    for color in ['b', 'w'] {
        for (kind, count) in hand_of(sfen, color) {
            pieces.extend((0..count).map(|_| kind));
        }
    }
    pieces.sort_unstable();
    pieces
}

/// A file with proofs of the mates among these positions, at most `most`.
fn file_of_proofs(positions: impl Iterator<Item = Position> + Send + 'static, most: u64) -> String {
    let settings =
        MateSettings { depth_plies: 31, nodes: 1_000, hash_mb: 1, ..MateSettings::default() };
    let found = (0..).zip(positions).map(|(index, position)| {
        let location = RecordLocation { index, spot: LineOrByte::Line(index + 1) };
        Ok(Ok(InputPosition { location, position, label: None }))
    });
    let options = SolveOptions { proof: true, ..SolveOptions::default() };
    let mut bytes = Vec::new();
    let mut file = ProofFile::start(&mut bytes);
    let mut written = 0;
    let ended = solve(found, &settings, &options, 0, |solved| -> Result<(), Box<dyn Error>> {
        let solution = solved?;
        let verdict = solution.mate_result.as_ref().map(|mate_result| mate_result.verdict);
        let is_mate = matches!(verdict, Some(PositionVerdict::Win | PositionVerdict::Loss));
        assert_eq!(is_mate, !solution.proofs.is_empty());
        for proof in solution.proofs {
            file.push(&proof?, &mut bytes);
            written += 1;
        }
        if written < most { Ok(()) } else { Err("enough".into()) }
    });
    assert!(ended.is_ok() || written == most);
    file.end(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

/// Positions of random games, without the final ones.
fn generated(seed: u64, count: u64) -> impl Iterator<Item = Position> + Send + 'static {
    let recipe = GenerateSettings { count, seed, every: 2, ..GenerateSettings::default() };
    Generator::new(recipe).map(|record| Position::try_from(&record.setup).unwrap())
}

fn read(text: &str) -> Result<Vec<ProofText>, String> {
    ProofReader::new(text.as_bytes()).collect::<Result<_, _>>().map_err(|error| error.to_string())
}

/// Checks every proof of a file with the library.
fn check_by_library(text: &str) -> Result<(), String> {
    let proofs = read(text)?;
    proofs.iter().try_for_each(|proof| check(proof).map_err(|error| error.to_string()))
}

#[test]
fn ten_thousand_proofs_hold_by_the_rules_of_rsshogi() {
    let text = file_of_proofs(generated(61, 1_000_000), 10_000);
    let proven = check_by_rsshogi(&text).unwrap();
    eprintln!("{proven:?}");
    let [wins, losses] = [proven.wins, proven.losses];
    assert_eq!(wins.iter().chain(&losses).sum::<u64>(), 10_000);
    assert!(wins.iter().chain(&losses).all(|&proofs| proofs > 100), "{proven:?}");
    assert!(proven.steps > 20_000 && proven.longest > 10, "{proven:?}");
    check_by_library(&text).unwrap();
}

#[test]
fn reading_and_writing_reproduces_the_file() {
    let text = file_of_proofs(generated(62, 2_000), 1_000);
    let proofs = read(&text).unwrap();
    assert!(proofs.len() > 50);
    assert!(proofs.windows(2).all(|pair| pair[0].head().index < pair[1].head().index));
    assert_eq!(text, file_of(&proofs));
}

fn file_of(proofs: &[ProofText]) -> String {
    let mut bytes = Vec::new();
    let mut file = ProofFile::start(&mut bytes);
    for proof in proofs {
        file.push(proof, &mut bytes);
    }
    file.end(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

/// A file with one proof of these steps. Its checksum is always correct.
fn file_of_lines(head: &str, steps: &[String]) -> String {
    let lines = format!("proofs\t1\n{head}\n{}", steps.join("\n"));
    let body = if steps.is_empty() { lines } else { lines + "\n" };
    let error = read(&format!("{body}end\t1\t0\n")).unwrap_err();
    let end = error.split('`').nth(1).unwrap_or_else(|| panic!("{error}"));
    format!("{body}{end}\n")
}

/// Asserts that both checkers refuse a proof. The message of the library contains `why`.
fn assert_refused(head: &str, steps: &[String], why: &str) {
    let text = file_of_lines(head, steps);
    let error = check_by_library(&text).unwrap_err();
    assert!(error.contains(why), "{error}");
    assert!(check_by_rsshogi(&text).is_err(), "{text}");
}

/// A mate in three with a proof of several replies.
const MATE_IN_THREE: &str =
    "1+R2g1b2/lp+P3p2/n2Sk1ns1/p1N2pg1l/3RpPP1p/P1pP3PP/3sP1n2/L3GKG1L/B8 b 2Psp 149";

fn proof_of(sfen: &str) -> (String, Vec<String>) {
    let text = file_of_proofs([position(sfen)].into_iter(), 2);
    assert_eq!(check_by_rsshogi(&text).unwrap().wins, [1, 0]);
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    (lines[1].clone(), lines[2..lines.len() - 1].to_vec())
}

#[test]
fn a_proof_without_one_of_its_replies_is_refused() {
    let (head, steps) = proof_of(MATE_IN_THREE);
    assert!(check_by_library(&file_of_lines(&head, &steps)).is_ok());
    let fewer =
        head.replace(&format!("\t3\t{}\t", steps.len()), &format!("\t3\t{}\t", steps.len() - 1));
    for dropped in 0..steps.len() {
        let mut rest = steps.clone();
        rest.remove(dropped);
        assert_refused(
            &fewer,
            &rest,
            if dropped == 0 {
                "no step with at most 3 plies from"
            } else {
                "no step answers the defence"
            },
        );
    }
}

#[test]
fn steps_with_illegal_moves_or_without_check_are_refused() {
    let (head, steps) = proof_of(MATE_IN_THREE);
    let last = steps.last().unwrap();
    let with_move = |m: &str| {
        let fields: Vec<&str> = last.split('\t').collect();
        let mut steps = steps.clone();
        *steps.last_mut().unwrap() = format!("step\t{}\t{m}\t{}", fields[1], fields[3]);
        steps
    };
    assert_refused(&head, &with_move("9a9b"), "is not a legal move in");
    assert_refused(&head, &with_move("G*5a"), "is not a legal move in");
    assert_refused(&head, &with_move("2f2e"), "does not give check in");
}

#[test]
fn plies_that_do_not_decrease_are_refused() {
    let (head, steps) = proof_of(MATE_IN_THREE);
    let at = |plies: &str| -> Vec<String> {
        steps.iter().map(|step| format!("{}\t{plies}", step.rsplit_once('\t').unwrap().0)).collect()
    };
    assert_refused(&head, &at("3"), "no step answers the defence");
    let (before, _) = steps[0].rsplit_once('\t').unwrap();
    let mut shorter = steps.clone();
    shorter[0] = format!("{before}\t2");
    assert_refused(&head, &shorter, "no step answers the defence");
    let sooner = head.replacen("\t3\t", "\t1\t", 1);
    assert_refused(&sooner, &steps, "no step with at most 1 ply from");
}

#[test]
fn the_size_of_a_proof_is_bounded() {
    let (head, steps) = proof_of(MATE_IN_THREE);
    let number = MAX_PROOF_STEPS + 1;
    let more = head.replace(&format!("\t3\t{}\t", steps.len()), &format!("\t3\t{number}\t"));
    let error = read(&file_of_lines(&head, &steps).replace(&head, &more)).unwrap_err();
    assert_data_eq!(
        error,
        str!["line 2: expected at most 1048576 steps in a proof, found 1048577"]
    );
    let mut proof = read(&file_of_lines(&head, &steps)).unwrap().remove(0);
    let step = parse_step(&steps[0]).unwrap();
    for _ in proof.steps()..MAX_PROOF_STEPS {
        proof.push(step.clone()).unwrap();
    }
    assert!(proof.push(step).is_err());
    assert_eq!(proof.steps(), MAX_PROOF_STEPS);
}

/// The first step claims a silver in hand that White has.
#[test]
fn steps_with_more_pieces_in_hand_than_available_are_refused() {
    let (head, mut steps) = proof_of(MATE_IN_THREE);
    let richer = steps[0].replace("b s3p", "b S3p");
    assert_ne!(richer, steps[0]);
    steps[0] = richer;
    assert_refused(&head, &steps, "no step with at most 3 plies from");
}

/// The rook chases the king from 1a to 2b and back forever.
#[test]
fn cycles_are_refused() {
    let [at_1a, at_2b] = ["8k/R7p/5NNpp/6P2/9/9/9/9/K8 b - 1", "R8/7kp/5NNpp/6P2/9/9/9/9/K8 b - 1"];
    let steps = |plies: [u32; 2]| {
        [format!("step\t{at_1a}\t9b9a\t{}", plies[0]), format!("step\t{at_2b}\t9a9b\t{}", plies[1])]
    };
    for plies in [[9, 9], [9, 7], [7, 9]] {
        let head = format!("proof\t0\twin\t9\t2\t{at_1a}");
        assert_refused(&head, &steps(plies), "no step answers the defence");
    }
}

/// A step of the other side, with other pieces, or not in canonical spelling.
#[test]
fn steps_that_do_not_belong_to_the_proof_are_refused() {
    let (head, steps) = proof_of(MATE_IN_THREE);
    let more =
        head.replace(&format!("\t3\t{}\t", steps.len()), &format!("\t3\t{}\t", steps.len() + 1));
    for (step, why) in [
        (steps[0].replace(" b ", " w "), "the attacker is Black"),
        (
            steps[0].replace("b s3p", "b s2p"),
            "the pieces differ from the pieces of the root position",
        ),
        (steps[0].replace(" 1\t", " 2\t"), "canonical spelling"),
        (steps[0].replace("b s3p", "b 3ps"), "canonical spelling"),
    ] {
        assert_ne!(step, steps[0]);
        let mut steps = steps.clone();
        steps.push(step);
        let error = check_by_library(&file_of_lines(&more, &steps)).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn truncated_and_changed_files_are_refused() {
    let text = file_of_proofs(generated(63, 400), 3);
    assert!(read(&text).is_ok());
    for end in 0..text.len() {
        assert!(read(&text[..end]).is_err(), "{end} of {} bytes", text.len());
    }
    for at in (0..text.len()).step_by(7) {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        let changed = String::from_utf8(bytes).unwrap();
        assert!(read(&changed).is_err(), "byte {at} changed");
    }
    assert!(read(&format!("{text}\n")).is_err());
}

/// Bytes changed, lines dropped and repeated, with a wrong and with a correct checksum.
#[test]
fn damaged_files_never_cause_a_panic() {
    let text = file_of_proofs(generated(64, 1_000), 4);
    check_file(text.as_bytes());
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut random = Random::new(65);
    for _ in 0..2_000 {
        let mut damaged: Vec<u8> = Vec::new();
        let chosen = random.below(lines.len() - 1);
        for (number, line) in lines[..lines.len() - 1].iter().enumerate() {
            let copies = if number == chosen { random.below(4) } else { 1 };
            (0..copies).for_each(|_| damaged.extend_from_slice(line.as_bytes()));
        }
        for _ in 0..random.below(3) {
            let at = random.below(damaged.len());
            damaged[at] = *random.pick(b"0123456789bwgkpRB+*/- \t\nst");
        }
        check_file(&damaged);
        check_closed(&damaged);
    }
}

/// The example in the documentation is a valid proof file.
#[test]
fn the_documented_example_holds() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/formats/proof.md");
    let page = fs::read_to_string(page).unwrap();
    let example = page
        .split("```")
        .find_map(|block| {
            block.strip_prefix("text\n").filter(|block| block.starts_with("proofs\t1\n"))
        })
        .unwrap();
    let proven = check_by_rsshogi(example).unwrap();
    assert_eq!((proven.wins, proven.losses, proven.steps), ([1, 0], [0, 1], 3));
    check_by_library(example).unwrap();
}
