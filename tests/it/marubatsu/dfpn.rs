//! df-pn on marubatsu compared with minimax: every position, both goals, both attackers.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use kyokumen::marubatsu::{Board, Contest, Goal, Mark, Solution, Square, Status};
use kyokumen::search::{DfPn, Limits, Stop, TableSize, Verdict};

/// Every reachable position.
fn reachable() -> Vec<Board> {
    Solution::new().positions().iter().map(|solved| solved.board).collect()
}

/// Minimax for the fewest plies until the attacker reaches the goal against every defence.
struct Minimax {
    attacker: Mark,
    goal: Goal,
    known: HashMap<Board, Option<u16>>,
}

impl Minimax {
    fn new(attacker: Mark, goal: Goal) -> Self {
        Self { attacker, goal, known: HashMap::new() }
    }

    fn plies(&mut self, board: Board) -> Option<u16> {
        if let Some(&plies) = self.known.get(&board) {
            return plies;
        }
        let plies = match board.status() {
            Status::Won(mark) => (mark == self.attacker).then_some(0),
            Status::Draw => (self.goal == Goal::Draw).then_some(0),
            Status::Playing => {
                let mut after = Vec::new();
                for square in board.moves() {
                    let mut child = board;
                    child.play(square);
                    after.push(self.plies(child));
                }
                let best = if board.side_to_move() == self.attacker {
                    after.into_iter().flatten().min()
                } else {
                    // If one defence prevents the goal, the node has no length.
                    after
                        .into_iter()
                        .collect::<Option<Vec<u16>>>()
                        .and_then(|all| all.into_iter().max())
                };
                best.map(|plies| plies + 1)
            }
        };
        self.known.insert(board, plies);
        plies
    }
}

/// Both attackers with both goals.
fn contests() -> impl Iterator<Item = (Mark, Goal)> {
    Mark::ALL.into_iter().flat_map(|attacker| Goal::ALL.map(|goal| (attacker, goal)))
}

#[test]
fn verdicts_match_minimax_in_every_position() {
    let solution = Solution::new();
    let boards = reachable();
    assert_eq!(boards.len(), 5_478);
    let mut counted = 0;
    let mut solver = DfPn::new(TableSize::from_mib(1));
    let limits = Limits::new(9, 1_000_000);
    for (attacker, goal) in contests() {
        let mut minimax = Minimax::new(attacker, goal);
        for &board in &boards {
            let mut contest = Contest::new(board, attacker, goal);
            let solved = solver.solve(&mut contest, limits, &AtomicBool::new(false));
            assert_eq!(contest.board(), board);
            let truth = minimax.plies(board);
            let verdict = if truth.is_some() { Verdict::Proven } else { Verdict::Disproven };
            assert_eq!(solved.verdict, verdict, "{attacker} {goal:?} from {board}");
            let value = solution.get(board).unwrap().value;
            let value = if attacker == Mark::Circle { value } else { -value };
            let is_reached = value == 1 || value == 0 && goal == Goal::Draw;
            assert_eq!(truth.is_some(), is_reached, "{attacker} {goal:?} from {board}");
            counted += 1;
            check_line(board, attacker, goal, &solved.line, truth);
        }
    }
    assert_eq!(counted, 4 * 5_478);
}

fn check_line(board: Board, attacker: Mark, goal: Goal, line: &[Square], truth: Option<u16>) {
    let Some(least) = truth else {
        assert!(line.is_empty(), "{attacker} {goal:?} from {board}");
        return;
    };
    let mut end = board;
    for &square in line {
        assert!(end.moves().contains(square), "{line:?} from {board}");
        end.play(square);
    }
    let reached = match end.status() {
        Status::Won(mark) => mark == attacker,
        Status::Draw => goal == Goal::Draw,
        Status::Playing => false,
    };
    assert!(reached, "{attacker} {goal:?} from {board}: {line:?}");
    assert!(line.len() >= usize::from(least), "{attacker} {goal:?} from {board}: {line:?}");
}

#[test]
fn a_small_depth_limit_never_gives_a_wrong_verdict() {
    let boards = reachable();
    let mut solver = DfPn::new(TableSize::from_mib(1));
    for (attacker, goal) in contests() {
        let mut minimax = Minimax::new(attacker, goal);
        for &board in &boards {
            let truth = minimax.plies(board);
            for depth_plies in 0..4 {
                let mut contest = Contest::new(board, attacker, goal);
                let limits = Limits::new(depth_plies, 1_000_000);
                let solved = solver.solve(&mut contest, limits, &AtomicBool::new(false));
                let case = format!("{attacker} {goal:?} from {board} at {depth_plies}: {truth:?}");
                match solved.verdict {
                    Verdict::Proven => assert!(truth.is_some(), "{case}"),
                    Verdict::Disproven => assert!(truth.is_none(), "{case}"),
                    Verdict::Unknown(Stop::Depth) => {
                        assert!(truth.is_none_or(|plies| plies > depth_plies), "{case}");
                    }
                    Verdict::Unknown(stop) => panic!("{case}: {stop}"),
                }
            }
        }
    }
}
