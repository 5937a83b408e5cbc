//! The mate solver as a library: attackers, observers and errors.
//!
//! Other modules test the verdicts (`traps`, `exhaustive`, `mate_lines`).

use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicBool;

use kyokumen_search::SearchObserver;
use kyokumen_search::solver::{
    Attacker, Limits, SearchControl, Solver, SolverResult, Stop, TableError, TableSize, Verdict,
    WhenHopeless,
};
use kyokumen_shogi::{
    Board, Color, Hand, HandKind, Move, Piece, PieceKind, Position, Setup, Square, plain,
};
use kyokumen_testing::positions::{Random, position, random_play};

/// Tadao Yamaoka's example of the gain from dominance: a mate that takes some thousand nodes.
const MATE: &str = "1n1g3+Pl/k1p1s4/1ng5p/pSP1p1pp1/1n3p3/P1K3P1P/1P7/9/L1G5L b 2R2BG2SL5Pn 161";
/// A position without mate that takes a long search.
const NO_MATE: &str =
    "2+P5+N/5P1B1/p2sg2p+P/2p2s1P1/8R/5KP1s/P3+BNN1g/1S4+p1g/+p1R1Lk2+l b NL4Pgl3p 1";

const LIMITS: Limits = Limits::new(31, 100_000);

fn solver() -> Solver {
    Solver::new(TableSize::from_mib(4))
}

fn solved(sfen: &str, observer: &dyn SearchObserver<Move>) -> SolverResult {
    solver().solve_observed(&position(sfen), Attacker::SideToMove, &LIMITS, observer)
}

/// An observer that requests a stop after a number of calls and records the progress.
struct StopsAfter {
    calls_left: Cell<usize>,
    progress: RefCell<Vec<(u64, Vec<Move>)>>,
}

impl StopsAfter {
    fn new(calls: usize) -> Self {
        Self { calls_left: Cell::new(calls), progress: RefCell::default() }
    }
}

impl SearchObserver<Move> for StopsAfter {
    fn wants_stop(&self) -> bool {
        let stops = self.calls_left.get() == 0;
        self.calls_left.set(self.calls_left.get().saturating_sub(1));
        stops
    }

    fn progress(&self, nodes: u64, line: &[Move]) {
        self.progress.borrow_mut().push((nodes, line.to_vec()));
    }
}

#[test]
fn observers_do_not_change_the_result() {
    for sfen in [MATE, NO_MATE] {
        let alone = solver().solve(&position(sfen), Attacker::SideToMove, &LIMITS);
        assert_eq!(solved(sfen, &SearchControl::new()), alone, "{sfen}");
        assert_eq!(solved(sfen, &AtomicBool::new(false)), alone, "{sfen}");
    }
}

/// A search that gives up ends sooner. All other results are the same.
#[test]
fn giving_up_changes_no_other_result() {
    let mut solver = solver();
    let (mut decided, mut given_up) = (0, 0);
    for (position, nodes) in
        random_play(7, 400).into_iter().zip([600, 2_000, 6_000].into_iter().cycle())
    {
        let limits = Limits::new(31, nodes);
        let all_nodes = Limits { when_hopeless: WhenHopeless::GoOn, ..limits };
        let outcome = solver.solve(&position, Attacker::SideToMove, &limits);
        let full_search = solver.solve(&position, Attacker::SideToMove, &all_nodes);
        if outcome.verdict == Verdict::Unknown(Stop::Nodes) && outcome.stats.nodes < nodes {
            assert!(outcome.stats.nodes <= full_search.stats.nodes, "{position}");
            given_up += 1;
        } else {
            assert_eq!(outcome, full_search, "{position}");
            decided += 1;
        }
    }
    assert!(decided > 300 && given_up > 3, "{decided} decided, {given_up} given up");
}

/// During the search and during the check of its proof.
#[test]
fn a_stop_request_is_obeyed_at_any_time() {
    const MANY: usize = 1 << 20;
    let observer = StopsAfter::new(MANY);
    let outcome = solved(MATE, &observer);
    assert_eq!(outcome.verdict, Verdict::Proven);
    let calls = MANY - observer.calls_left.get();
    let reports = observer.progress.borrow().len();
    assert!(reports < calls, "the check of the proof calls the observer, too: {reports}, {calls}");
    for calls in 0..calls {
        let stopped = solved(MATE, &StopsAfter::new(calls));
        assert_eq!(stopped.verdict, Verdict::Unknown(Stop::Cancelled), "after {calls} calls");
        assert!(stopped.line.is_empty() && stopped.stats.nodes <= outcome.stats.nodes);
    }
    assert_eq!(solved(MATE, &StopsAfter::new(calls)), outcome);
}

#[test]
fn progress_reports_legal_lines_from_the_root() {
    let observer = StopsAfter::new(usize::MAX);
    let outcome = solved(NO_MATE, &observer);
    let reports = observer.progress.borrow();
    assert!(reports.len() as u64 > outcome.stats.nodes / 2048, "{} reports", reports.len());
    assert!(reports.iter().is_sorted_by_key(|(nodes, _)| *nodes));
    assert!(reports.iter().any(|(_, line)| line.len() > 3));
    for (nodes, line) in &*reports {
        assert!(*nodes <= outcome.stats.nodes && line.len() <= usize::from(LIMITS.depth_plies));
        let mut after = position(NO_MATE);
        for (ply, &m) in line.iter().enumerate() {
            assert!(plain::legal_moves(&after).contains(&m), "{m} of {line:?}");
            after.make(m);
            assert!(ply % 2 == 1 || plain::in_check(&after), "{m} of {line:?}");
        }
    }
}

#[test]
fn a_control_reports_progress_and_stops_the_search() {
    let control = SearchControl::new();
    let outcome = solved(NO_MATE, &control);
    let figures = control.figures();
    assert!(outcome.stats.nodes - figures.nodes <= 1024, "{figures:?}");
    assert!(figures.depth_plies >= figures.line.len() && figures.depth_plies > 3, "{figures:?}");
    control.stop();
    assert_eq!(solved(NO_MATE, &control).verdict, Verdict::Unknown(Stop::Cancelled));
}

/// A control that records its progress at each call.
struct Measured {
    control: SearchControl,
    seen: RefCell<Vec<(bool, u64)>>,
}

impl SearchObserver<Move> for Measured {
    fn wants_stop(&self) -> bool {
        let figures = self.control.figures();
        self.seen.borrow_mut().push((figures.is_measuring, figures.nodes));
        false
    }

    fn progress(&self, nodes: u64, line: &[Move]) {
        self.control.progress(nodes, line);
    }

    fn measures(&self, is_measuring: bool) {
        self.control.measures(is_measuring);
    }
}

/// While the length is measured, the progress stays that of the search that found the mate.
#[test]
fn a_control_reports_when_a_length_is_measured() {
    let problem = position("9/9/3pp4/+r2k1p3/2L1+p4/2+R6/B8/B8/9 b 4g4s4n3l14p 1");
    let observer = Measured { control: SearchControl::new(), seen: RefCell::default() };
    let mut solver = solver();
    let outcome = solver.solve_observed(&problem, Attacker::SideToMove, &Limits::NONE, &observer);
    assert_eq!(outcome.verdict, Verdict::Proven);
    let found = observer.control.figures();
    assert!(
        !found.is_measuring && observer.seen.take().iter().all(|(is_measuring, _)| !is_measuring)
    );
    assert!(solver.tsume_plies(&problem, Attacker::SideToMove, &observer).is_some());
    let seen = observer.seen.take();
    assert!(!seen.is_empty() && seen.iter().all(|&seen| seen == (true, found.nodes)), "{seen:?}");
    assert_eq!(observer.control.figures(), found);
}

/// The limits stop the search for the shortest mate (15 plies) in each of its steps: at the root, at positions of the
/// line, and in the check of a proof.
/// The root of this bare king (issue 6 of `KomoringHeights`) has large numbers from the beginning.
#[test]
fn a_hopeless_search_gives_up_soon_after_64_nodes() {
    let root = position("7k1/9/9/9/9/9/9/9/9 b B2G2SL2P2rb2g2s4n3l16p 1");
    let nodes = |when_hopeless| {
        let limits = Limits { when_hopeless, ..Limits::new(31, 500) };
        let solved = solver().solve(&root, Attacker::SideToMove, &limits);
        assert_eq!(solved.verdict, Verdict::Unknown(Stop::Nodes));
        solved.stats.nodes
    };
    assert!((64..100).contains(&nodes(WhenHopeless::GiveUp)));
    assert_eq!(nodes(WhenHopeless::GoOn), 500);
}

#[test]
fn a_limited_search_for_the_shortest_mate_ends_with_a_mate() {
    let root = position(MATE);
    let first = solved(MATE, &AtomicBool::new(false)).line.len();
    let mut shortest = usize::MAX;
    for nodes in [2_000, 5_000, 8_000, 20_000, 100_000, 400_000] {
        let limits = Limits::new(31, nodes);
        let side = Attacker::SideToMove;
        let (mate, is_shortest) =
            solver().solve_shortest(&root, side, &limits, &AtomicBool::new(false));
        if mate.verdict != Verdict::Proven {
            continue;
        }
        assert!(!is_shortest && (15..=first).contains(&mate.line.len()), "{nodes}: {mate:?}");
        shortest = shortest.min(mate.line.len());
        let mut end = root.clone();
        for &m in &mate.line {
            assert!(plain::legal_moves(&end).contains(&m), "{nodes}: {m}");
            end.make(m);
        }
        assert!(plain::legal_moves(&end).is_empty(), "{nodes}: {end}");
    }
    assert!(shortest < first, "{shortest} of {first}");
}

#[test]
fn without_a_king_there_is_no_mate() {
    let attacked = position("9/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1");
    let attackers = position("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1");
    for (position, attacker, verdict) in [
        (&attacked, Attacker::SideToMove, Verdict::Disproven),
        (&attackers, Attacker::SideToMove, Verdict::Proven),
        (&attackers, Attacker::Opponent, Verdict::Disproven),
    ] {
        let outcome = solver().solve(position, attacker, &LIMITS);
        assert_eq!(outcome.verdict, verdict, "{position} {attacker:?}");
    }
}

/// Whether the side to move is mated within `plies` after each of its moves, by the plain rules.
fn is_mated_within(position: &mut Position, plies: u16) -> bool {
    plain::legal_moves(position).into_iter().all(|m| {
        let undo = position.make(m);
        let mates = plies > 0 && mates_within(position, plies - 1);
        position.unmake(m, undo);
        mates
    })
}

fn mates_within(position: &mut Position, plies: u16) -> bool {
    plies > 0
        && plain::legal_moves(position).into_iter().any(|m| {
            let undo = position.make(m);
            let mates = plain::in_check(position) && is_mated_within(position, plies - 1);
            position.unmake(m, undo);
            mates
        })
}

/// A random position: a bare king at the edge, some pieces near it, and an attacker with gold and rook in hand.
fn cornered(random: &mut Random) -> Option<Position> {
    let mut board: Board = [None; Square::COUNT];
    let square = |file: usize, rank: usize| Square::from_file_rank(file as u8, rank as u8).index();
    board[square(random.below(4), 0)] = Some(Piece::new(Color::White, PieceKind::King));
    for kind in [PieceKind::Dragon, PieceKind::Gold, PieceKind::Silver] {
        let place = &mut board[square(random.below(5), random.below(4))];
        if place.is_none() {
            *place = Some(Piece::new(Color::Black, kind));
        }
    }
    let mut hand = Hand::EMPTY;
    hand.add(HandKind::Gold);
    hand.add(HandKind::Rook);
    let setup = Setup::new(board, [hand, Hand::EMPTY], Color::White, 1).ok()?;
    Position::try_from(setup).ok().filter(|position| !position.in_check())
}

/// After every legal move the opponent mates.
#[test]
fn a_side_that_is_not_in_check_can_be_mated() {
    const PLIES: u16 = 2;
    let limits = Limits::new(PLIES, 100_000);
    let mut random = Random::new(5);
    let mut solver = solver();
    let mut counts = [0; 2];
    for mut position in (0..1_000).filter_map(|_| cornered(&mut random)) {
        let is_mated = is_mated_within(&mut position, PLIES);
        let outcome = solver.solve(&position, Attacker::Opponent, &limits);
        assert_eq!(outcome.verdict == Verdict::Proven, is_mated, "{position}");
        counts[usize::from(is_mated)] += 1;
    }
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

#[test]
fn a_table_larger_than_memory_is_an_error() {
    let size = TableSize::from_mib(usize::MAX);
    assert_eq!(Solver::try_new(size).err(), Some(TableError(size)));
}
