//! Mating lines of the search, replayed by the rules of `rsshogi`.
//!
//! The limits are small. These tests show that no mate is wrong, not how many are found.

use std::num::NonZero;
use std::sync::atomic::AtomicBool;

use kyokumen_search::solver::{Attacker, Solver};
use kyokumen_search::{
    DfPn, Limits, SearchResult, Stop, TableSize, Threads, Verdict, WhenHopeless,
};
use kyokumen_shogi::{Mate, Move, Position, plain};
use kyokumen_testing::positions::{position, random_play, shared_lines, strewn};
use kyokumen_testing::{foreign, foreign_moves};
use rsshogi::board;

pub(crate) fn limits(depth_plies: u16, nodes: u64) -> Limits {
    Limits { when_hopeless: WhenHopeless::GoOn, ..Limits::new(depth_plies, nodes) }
}

/// Searches whether the side to move mates.
pub(crate) fn attack(
    solver: &mut DfPn<Mate>,
    position: &Position,
    limits: Limits,
) -> SearchResult<Move> {
    let mut game = Mate::by_side_to_move(position.clone());
    let solved = solver.solve(&mut game, limits, &AtomicBool::new(false));
    assert_eq!(game.position(), position, "a search restores the position");
    check_line(position, 0, &solved);
    solved
}

/// Searches whether the side to move is mated. It must be in check.
pub(crate) fn defend(
    solver: &mut DfPn<Mate>,
    position: &Position,
    limits: Limits,
) -> SearchResult<Move> {
    let mut game = Mate::against_side_to_move(position.clone());
    let solved = solver.solve(&mut game, limits, &AtomicBool::new(false));
    assert_eq!(game.position(), position, "a search restores the position");
    check_line(position, 1, &solved);
    solved
}

/// Checks that a proof has a line to checkmate where every move of the attacker gives check, and that other verdicts
/// have no line. The attacker has the moves of even index if `defender_moves` is 0, of odd index if it is 1.
fn check_line(position: &Position, defender_moves: usize, solved: &SearchResult<Move>) {
    if solved.verdict != Verdict::Proven {
        assert!(solved.line.is_empty(), "{position}");
        return;
    }
    let line = &solved.line;
    assert_eq!(line.len() % 2, 1 - defender_moves, "{line:?} in {position}");
    // rsshogi needs both kings. Other positions are replayed by our plain rules.
    if position.king(position.side_to_move()).is_some()
        && position.king(!position.side_to_move()).is_some()
    {
        replay_by_rsshogi(position, defender_moves, line);
    } else {
        replay_by_plain_rules(position, defender_moves, line);
    }
}

fn replay_by_rsshogi(position: &Position, defender_moves: usize, line: &[Move]) {
    let mut foreign = foreign(position);
    for (ply, m) in line.iter().enumerate() {
        let usi = m.to_string();
        assert!(foreign_moves(&foreign).contains(&usi), "{usi} of {line:?} in {position}");
        foreign.apply_move32(board::move_from_usi_expect(&foreign, &usi));
        let by_attacker = ply % 2 == defender_moves;
        assert!(!by_attacker || foreign.is_in_check(), "{usi} of {line:?} in {position}");
    }
    assert!(foreign.is_in_check() && foreign.is_mated(), "{line:?} in {position}");
}

fn replay_by_plain_rules(position: &Position, defender_moves: usize, line: &[Move]) {
    let mut after = position.clone();
    for (ply, &m) in line.iter().enumerate() {
        assert!(plain::legal_moves(&after).contains(&m), "{m} of {line:?} in {position}");
        after.make(m);
        let by_attacker = ply % 2 == defender_moves;
        assert!(!by_attacker || plain::in_check(&after), "{m} of {line:?} in {position}");
    }
    assert!(
        plain::in_check(&after) && plain::legal_moves(&after).is_empty(),
        "{line:?} in {position}"
    );
}

#[test]
fn check_line_rejects_lines_without_mate() {
    let position = position("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1");
    let solved = attack(&mut DfPn::new(TableSize::from_mib(1)), &position, limits(1, 100));
    assert_eq!(solved.line.len(), 1);
    let quiet = Move::from_usi("G*1a").unwrap();
    for line in [vec![], vec![quiet]] {
        let wrong = SearchResult { line, ..solved.clone() };
        assert!(std::panic::catch_unwind(|| check_line(&position, 0, &wrong)).is_err());
    }
}

#[test]
fn lines_of_random_positions_end_in_mate() {
    let mut solver = DfPn::new(TableSize::from_mib(1));
    let mut mates = [0; 2];
    let positions = random_play(11, 3_000).into_iter().step_by(3).chain(strewn(12, 400));
    for position in positions {
        let solved = attack(&mut solver, &position, limits(15, 500));
        mates[0] += usize::from(solved.verdict == Verdict::Proven);
        if position.in_check() {
            let solved = defend(&mut solver, &position, limits(15, 500));
            mates[1] += usize::from(solved.verdict == Verdict::Proven);
        }
    }
    assert!(mates[0] > 60 && mates[1] > 20, "{mates:?}");
}

/// All mates in one from games, with all moves that mate.
#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn mates_in_one_from_games_are_found() {
    let mut solver = DfPn::new(TableSize::from_mib(1));
    for line in shared_lines("dev_mate1.tsv") {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, sfen, moves] = fields[..] else { panic!("{line}") };
        let solved = attack(&mut solver, &position(sfen), limits(31, 1_000));
        assert_eq!((solved.verdict, solved.line.len()), (Verdict::Proven, 1), "{sfen}");
        let usi = solved.line[0].to_string();
        assert!(moves.split([' ', ',']).any(|m| m == usi), "{usi} is not one of {moves}");
    }
}

/// Final positions of games: the side to move is mated, and no node is needed.
#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn final_positions_of_games_are_mates() {
    let mut solver = DfPn::new(TableSize::from_mib(1));
    for sfen in shared_lines("dev_terminal_mated.sfen") {
        let solved = defend(&mut solver, &position(&sfen), limits(31, 1_000));
        assert_eq!((solved.verdict, solved.line.len()), (Verdict::Proven, 0), "{sfen}");
        assert_eq!(solved.stats.nodes, 0, "{sfen}");
    }
}

/// Problems have the same verdict on 1, 2 and 4 threads that all start at once.
#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn problems_have_one_verdict_on_any_number_of_threads() {
    let lines = shared_lines("tsume_dev.tsv");
    let sfens = lines.iter().filter_map(|line| line.split('\t').next());
    // Some lines are not legal positions, for example because the defender is in check.
    let problems: Vec<Position> = sfens.filter_map(|sfen| sfen.parse().ok()).collect();
    assert!(problems.len() > 6_000);
    let mut known: Vec<Option<Verdict>> = vec![None; problems.len()];
    for count in [1, 2, 4] {
        let count = NonZero::new(count).unwrap();
        let threads = Threads { nodes_alone: 0, ..Threads::new(count) };
        let mut solver = Solver::new(TableSize::from_mib(16)).on_threads(threads);
        let mut unsolved = 0;
        for (problem, known) in problems.iter().zip(&mut known) {
            let solved = solver.solve(problem, Attacker::SideToMove, &limits(255, 300_000));
            check_line(problem, 0, &solved);
            if matches!(solved.verdict, Verdict::Unknown(_)) {
                unsolved += 1;
            } else {
                let verdict = *known.get_or_insert(solved.verdict);
                assert_eq!(solved.verdict, verdict, "{problem} on {count} threads");
            }
        }
        assert!(unsolved < 60, "{unsolved} on {count} threads");
    }
}

/// A mate in 31 plies. A program claimed that there is none.
const WRONGLY_CLAIMED: &str =
    "1+P2k2nl/8B/6sp1/P4g3/2pp4p/2+nSPP3/6p2/3S5/LN1K4L b 2RGS6Pb2gnl3p 1";

/// Positions without a mate in one, and positions for which a program claimed that there is no mate. A mate found there
/// would show that the claim is wrong.
#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn no_mate_is_found_where_none_is_known() {
    let mut solver = DfPn::new(TableSize::from_mib(16));
    let mut decided = 0;
    let lines = shared_lines("nomate_dev.tsv");
    for line in &lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let [sfen, claim, _] = fields[..] else { panic!("{line}") };
        let solved = attack(&mut solver, &position(sfen), limits(31, 5_000));
        match claim {
            "no-mate-in-1" => assert_ne!(solved.line.len(), 1, "{line}"),
            "no-mate (as claimed)" => {
                let wrong = solved.verdict == Verdict::Proven && sfen != WRONGLY_CLAIMED;
                assert!(!wrong, "{line}: mate in {}", solved.line.len());
            }
            _ => panic!("unknown claim {claim}"),
        }
        decided += usize::from(solved.verdict == Verdict::Disproven);
    }
    assert!(decided * 10 > lines.len() * 7, "{decided} of {}", lines.len());
}

/// Positions for which independent programs agree within 31 plies.
#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn verdicts_agree_with_independent_programs() {
    let mut solver = DfPn::new(TableSize::from_mib(16));
    for (name, mates_known) in
        [("bench_games.tsv", 13), ("bench_engine.tsv", 15), ("bench_random.tsv", 96)]
    {
        let lines = shared_lines(name);
        let mut found = 0;
        for line in &lines {
            let fields: Vec<&str> = line.split('\t').collect();
            let solved = attack(&mut solver, &position(fields[0]), limits(31, 10_000));
            let plies = solved.line.len();
            match (fields[1], solved.verdict) {
                ("mate", Verdict::Proven) => found += 1,
                ("mate", verdict) => {
                    assert!(matches!(verdict, Verdict::Unknown(_)), "{line}: {verdict:?}");
                    assert_ne!(verdict, Verdict::Unknown(Stop::Depth), "{line}");
                }
                ("none", Verdict::Proven) => assert!(plies > 31, "{line}: mate in {plies}"),
                ("none" | "open", _) => {}
                (known, _) => panic!("unknown verdict {known}"),
            }
        }
        eprintln!("{name}: {found} of {mates_known} known mates found");
        assert!(found * 10 >= mates_known * 8, "{name}: {found}");
    }
}
