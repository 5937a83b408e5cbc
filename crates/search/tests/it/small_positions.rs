//! Thousands of small positions: the solver against every line of up to seven plies, by foreign rules.
//!
//! The judge moves by rsshogi, keeps no table and knows no hands that dominate. Either side attacks, in
//! check or not; what the solver says must be true at every depth.

use std::fmt::Debug;

use kyokumen_search::{DfPn, Stop, TableSize, Verdict};
use kyokumen_shogi::{
    Board, Color, Hand, HandKind, Mate, Piece, PieceKind, Position, Setup, Square,
};
use kyokumen_testing::foreign;
use rsshogi::board::{self, Move32List, generate_legal_all_move32};
use rsshogi::types::Move32;

use crate::mate_lines::{attack, defend, limits};
use kyokumen_testing::positions::Random;

/// Nodes that decide any position within a depth in which the judge could.
const AMPLE: u64 = 300_000;
/// Nodes where no depth limits the search: some of these chases are long.
const PATIENCE: u64 = 3_000;
/// A depth beyond any line here.
const NO_DEPTH: u16 = 1_000;
const DEEPEST: u16 = 7;

/// Moves the judge may try for one answer; harder questions are left out.
const MAX_MOVES: u32 = 20_000;

/// Tries everything, with no memory of what it has seen.
struct Judge {
    position: board::Position,
    moves_left: u32,
}

impl Judge {
    fn new(position: &Position) -> Self {
        Self { position: foreign(position), moves_left: MAX_MOVES }
    }

    /// Checks where the attacker is to move, else all evasions.
    fn moves(&self, by_attacker: bool) -> Vec<Move32> {
        let mut list = Move32List::new();
        generate_legal_all_move32(&self.position, &mut list);
        let wanted = |m: &Move32| !by_attacker || self.position.gives_check_move32(*m);
        list.iter().copied().filter(wanted).collect()
    }

    /// Whether `wanted` holds after some move; `None` if it takes too long to find out.
    fn any(
        &mut self,
        moves: Vec<Move32>,
        mut wanted: impl FnMut(&mut Self) -> Option<bool>,
    ) -> Option<bool> {
        for m in moves {
            self.moves_left = self.moves_left.checked_sub(1)?;
            self.position.apply_move32(m);
            let holds = wanted(self);
            self.position.undo_move32(m).unwrap();
            if holds? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether the attacker mates within `plies`.
    fn is_mate(&mut self, by_attacker: bool, plies: u16) -> Option<bool> {
        let moves = self.moves(by_attacker);
        if plies == 0 || moves.is_empty() {
            return Some(!by_attacker && moves.is_empty());
        }
        if by_attacker {
            self.any(moves, |judge| judge.is_mate(false, plies - 1))
        } else {
            let escapes = |judge: &mut Self| Some(!judge.is_mate(true, plies - 1)?);
            self.any(moves, escapes).map(|escapes| !escapes)
        }
    }

    /// Whether some line of checks and evasions goes on after `plies`.
    fn goes_on(&mut self, by_attacker: bool, plies: u16) -> Option<bool> {
        let moves = self.moves(by_attacker);
        if plies == 0 || moves.is_empty() {
            return Some(!moves.is_empty());
        }
        self.any(moves, |judge| judge.goes_on(!by_attacker, plies - 1))
    }
}

/// The truth about one attacker, up to the depth to which the judge had patience.
#[derive(Debug)]
struct Truth {
    /// Plies of the shortest mate.
    mate: Option<u16>,
    /// Shorter mates than this are known, longer ones are not.
    searched: u16,
    /// No line goes on after so many plies.
    longest_line: Option<u16>,
}

impl Truth {
    fn new(position: &Position, by_attacker: bool) -> Self {
        let mut judge = Judge::new(position);
        let mut truth = Self { mate: None, searched: 0, longest_line: None };
        let parity = u16::from(by_attacker);
        for plies in (parity..=DEEPEST).step_by(2) {
            let Some(mate) = judge.is_mate(by_attacker, plies) else { break };
            truth.searched = plies;
            if mate {
                truth.mate = Some(plies);
                break;
            }
        }
        let ends = |&plies: &u16| Judge::new(position).goes_on(by_attacker, plies) == Some(false);
        truth.longest_line = (0..=DEEPEST).find(ends);
        truth
    }

    /// Holds a verdict against the truth; `what` names both when they differ.
    fn check(&self, depth: u16, verdict: Verdict, plies: usize, what: &impl Debug) {
        let wrong = || format!("{what:?}: {verdict:?} in {plies} at depth {depth}, but {self:?}");
        match verdict {
            Verdict::Proven => match self.mate {
                Some(least) => assert!(plies >= usize::from(least), "{}", wrong()),
                None => assert!(plies > usize::from(self.searched), "{}", wrong()),
            },
            Verdict::Disproven => assert!(self.mate.is_none(), "{}", wrong()),
            Verdict::Unknown(Stop::Depth) => {
                assert!(self.mate.is_none_or(|least| least > depth), "{}", wrong());
                assert!(self.longest_line.is_none_or(|longest| longest > depth), "{}", wrong());
            }
            Verdict::Unknown(stop) => assert_eq!(stop, Stop::Nodes, "{}", wrong()),
        }
    }
}

/// What was compared.
#[derive(Default, Debug)]
struct Compared {
    /// Mates by their plies.
    mates: [u32; DEEPEST as usize + 1],
    /// No mate within the deepest depth.
    others: u32,
    /// Of these, no mate because every line ends.
    ended: u32,
    /// Left open although nothing limits the search.
    open: u32,
}

impl Compared {
    fn compare(
        &mut self,
        solvers: &mut [DfPn<Mate>; 2],
        position: &Position,
        by_attacker: bool,
        few_nodes: u64,
    ) {
        let truth = Truth::new(position, by_attacker);
        let [solver, tiny] = solvers;
        let ask = if by_attacker { attack } else { defend };
        let what = (position.to_string(), if by_attacker { "attack" } else { "defence" });
        let known = if truth.mate.is_some() { DEEPEST } else { truth.searched };
        for depth in (0..=known).chain([NO_DEPTH]) {
            let nodes = if depth == NO_DEPTH { PATIENCE } else { AMPLE };
            let solved = ask(solver, position, limits(depth, nodes));
            truth.check(depth, solved.verdict, solved.line.len(), &what);
            let gave_up = solved.verdict == Verdict::Unknown(Stop::Nodes);
            assert!(!gave_up || depth == NO_DEPTH, "{what:?} at depth {depth}");
            self.open += u32::from(gave_up);
            for (solver, nodes) in [(&mut *solver, few_nodes), (&mut *tiny, PATIENCE)] {
                let solved = ask(solver, position, limits(depth, nodes));
                truth.check(depth, solved.verdict, solved.line.len(), &what);
                let within = solved.stats.nodes <= nodes || solved.stats.rebuilt > 0;
                assert!(within, "{what:?}: {:?} of {nodes}", solved.stats);
            }
        }
        match truth.mate {
            Some(plies) => self.mates[usize::from(plies)] += 1,
            None => self.others += 1,
        }
        self.ended += u32::from(truth.mate.is_none() && truth.longest_line.is_some());
    }
}

/// Both kings in a window of the board, mostly at its edge, two to six pieces about them, and pieces in
/// both hands; one side has more of them than the other. `None` if that is no position.
fn small_position(random: &mut Random) -> Option<Position> {
    let [file, rank] = [0; 2].map(|_| *random.pick(&[0, 0, 0, 1, 2, 3, 4, 5, 5, 5]));
    let mut squares: Vec<Square> = (0..4)
        .flat_map(|f| (0..4).map(move |r| Square::from_file_rank(file + f, rank + r)))
        .collect();
    random.shuffle(&mut squares);
    let mut board: Board = [None; Square::COUNT];
    let mut place = |piece| board[squares.pop().unwrap().index()] = Some(piece);
    for color in Color::ALL {
        place(Piece::new(color, PieceKind::King));
    }
    let stronger = *random.pick(&Color::ALL);
    let owner = |random: &mut Random| if random.below(4) == 0 { !stronger } else { stronger };
    for _ in 0..2 + random.below(5) {
        let kind = random.pick(&HandKind::ALL).piece_kind();
        let promoted = kind.promoted().filter(|_| random.below(3) == 0);
        place(Piece::new(owner(random), promoted.unwrap_or(kind)));
    }
    // Few kinds, so that one hand often holds all that another does.
    let kinds = [0; 3].map(|_| *random.pick(&HandKind::ALL));
    let mut hands = [Hand::EMPTY; 2];
    for _ in 0..random.below(8) {
        let (kind, owner) = (*random.pick(&kinds), owner(random));
        if hands.iter().map(|hand| hand.count(kind)).sum::<u8>() < HandKind::SET[kind.index()] {
            hands[owner.index()].add(kind);
        }
    }
    let setup = Setup::new(board, hands, *random.pick(&Color::ALL), 1).ok()?;
    setup.warnings().is_empty().then(|| Position::try_from(setup).ok())?
}

fn small_positions(seed: u64, count: usize, wanted: fn(&Position) -> bool) -> Vec<Position> {
    let mut random = Random::new(seed);
    let mut positions = Vec::with_capacity(count);
    while positions.len() < count {
        positions.extend(small_position(&mut random).filter(wanted));
    }
    positions
}

fn compare_all(positions: &[Position], by_attacker: bool) -> [Compared; 2] {
    let mut random = Random::new(50);
    let mut solvers = [DfPn::new(TableSize::from_mib(1)), DfPn::new(TableSize::from_mib(0))];
    let mut compared = [Compared::default(), Compared::default()];
    for position in positions {
        let side = position.side_to_move().index();
        let few_nodes = random.below(40) as u64;
        compared[side].compare(&mut solvers, position, by_attacker, few_nodes);
    }
    compared
}

/// Both sides attack, there are mates of every length, and most of the rest is decided.
fn check_richness(sides: &[Compared; 2]) {
    for compared in sides {
        let lengths = compared.mates.iter().filter(|&&count| count > 5).count();
        assert!(lengths == 4 && compared.others > 700, "{compared:?}");
        assert!(compared.ended > 10 && compared.open < compared.others / 3, "{compared:?}");
    }
}

#[test]
fn small_positions_not_in_check() {
    let wanted = |position: &Position| !position.in_check() && !position.checks().is_empty();
    check_richness(&compare_all(&small_positions(51, 2_000, wanted), true));
}

#[test]
fn small_positions_in_check_whose_side_to_move_attacks() {
    let wanted = |position: &Position| position.in_check() && !position.checks().is_empty();
    check_richness(&compare_all(&small_positions(52, 2_000, wanted), true));
}

#[test]
fn small_positions_in_check_whose_side_to_move_defends() {
    check_richness(&compare_all(&small_positions(53, 2_000, Position::in_check), false));
}
