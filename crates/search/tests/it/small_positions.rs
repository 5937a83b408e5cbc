//! Thousands of small positions, compared with an exhaustive search to seven plies by the rules of rsshogi.
//!
//! The exhaustive search has no table and no dominance. Either side attacks, in check or not. The verdicts must be true
//! at every depth.

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

/// Enough nodes to decide every position within a depth that the reference has decided.
const AMPLE: u64 = 300_000;
/// Nodes for searches without depth limit, where some chases are long.
const UNLIMITED_DEPTH_NODES: u64 = 3_000;
/// Deeper than every line here.
const NO_DEPTH: u16 = 1_000;
const DEEPEST: u16 = 7;

/// Moves that the reference may try for one query. Harder queries are left out.
const MAX_MOVES: u32 = 20_000;

/// An exhaustive search without a table.
struct Reference {
    position: board::Position,
    moves_left: u32,
}

impl Reference {
    fn new(position: &Position) -> Self {
        Self { position: foreign(position), moves_left: MAX_MOVES }
    }

    /// All checks of the attacker, or all moves of the defender.
    fn moves(&self, by_attacker: bool) -> Vec<Move32> {
        let mut list = Move32List::new();
        generate_legal_all_move32(&self.position, &mut list);
        let wanted = |m: &Move32| !by_attacker || self.position.gives_check_move32(*m);
        list.iter().copied().filter(wanted).collect()
    }

    /// Whether `wanted` holds after at least one of the moves; `None` if the limit is reached.
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
            self.any(moves, |reference| reference.is_mate(false, plies - 1))
        } else {
            let escapes = |reference: &mut Self| Some(!reference.is_mate(true, plies - 1)?);
            self.any(moves, escapes).map(|escapes| !escapes)
        }
    }

    /// Whether a line of checks and evasions continues after `plies`.
    fn continues_after(&mut self, by_attacker: bool, plies: u16) -> Option<bool> {
        let moves = self.moves(by_attacker);
        if plies == 0 || moves.is_empty() {
            return Some(!moves.is_empty());
        }
        self.any(moves, |reference| reference.continues_after(!by_attacker, plies - 1))
    }
}

/// The true values for one attacker, to the depth that the reference has decided.
#[derive(Debug)]
struct Truth {
    /// Plies of the shortest mate.
    mate: Option<u16>,
    /// The largest depth that was searched. Longer mates are unknown.
    searched: u16,
    /// Plies of the longest line of checks and evasions, if it is within the depth.
    longest_line: Option<u16>,
}

impl Truth {
    fn new(position: &Position, by_attacker: bool) -> Self {
        let mut reference = Reference::new(position);
        let mut truth = Self { mate: None, searched: 0, longest_line: None };
        let parity = u16::from(by_attacker);
        for plies in (parity..=DEEPEST).step_by(2) {
            let Some(mate) = reference.is_mate(by_attacker, plies) else { break };
            truth.searched = plies;
            if mate {
                truth.mate = Some(plies);
                break;
            }
        }
        let ends = |&plies: &u16| {
            Reference::new(position).continues_after(by_attacker, plies) == Some(false)
        };
        truth.longest_line = (0..=DEEPEST).find(ends);
        truth
    }

    /// Checks a verdict. `what` describes the search in the message.
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

/// Counts of the comparison.
#[derive(Default, Debug)]
struct Compared {
    /// Mates by their plies.
    mates: [u32; DEEPEST as usize + 1],
    /// Positions without a mate within [`DEEPEST`].
    others: u32,
    /// Positions without a mate because every line ends.
    ended: u32,
    /// Positions that were undecided without depth limit.
    undecided: u32,
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
        let search = if by_attacker { attack } else { defend };
        let what = (position.to_string(), if by_attacker { "attack" } else { "defence" });
        let known = if truth.mate.is_some() { DEEPEST } else { truth.searched };
        for depth in (0..=known).chain([NO_DEPTH]) {
            let nodes = if depth == NO_DEPTH { UNLIMITED_DEPTH_NODES } else { AMPLE };
            let solved = search(solver, position, limits(depth, nodes));
            truth.check(depth, solved.verdict, solved.line.len(), &what);
            let gave_up = solved.verdict == Verdict::Unknown(Stop::Nodes);
            assert!(!gave_up || depth == NO_DEPTH, "{what:?} at depth {depth}");
            self.undecided += u32::from(gave_up);
            for (solver, nodes) in [(&mut *solver, few_nodes), (&mut *tiny, UNLIMITED_DEPTH_NODES)]
            {
                let solved = search(solver, position, limits(depth, nodes));
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

/// A random position: both kings in a window of four by four squares, mostly at the edge of the board, with two to six
/// other pieces, and pieces in both hands. One side has more pieces. `None` if the position is illegal.
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
    // Few kinds, so that one hand often dominates another.
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

/// Checks that both sides attack, that there are mates of every length, and that most other positions are decided.
fn check_variety(sides: &[Compared; 2]) {
    for compared in sides {
        let lengths = compared.mates.iter().filter(|&&count| count > 5).count();
        assert!(lengths == 4 && compared.others > 700, "{compared:?}");
        assert!(compared.ended > 10 && compared.undecided < compared.others / 3, "{compared:?}");
    }
}

#[test]
fn verdicts_are_true_for_attackers_not_in_check() {
    let wanted = |position: &Position| !position.in_check() && !position.checks().is_empty();
    check_variety(&compare_all(&small_positions(51, 2_000, wanted), true));
}

#[test]
fn verdicts_are_true_for_attackers_in_check() {
    let wanted = |position: &Position| position.in_check() && !position.checks().is_empty();
    check_variety(&compare_all(&small_positions(52, 2_000, wanted), true));
}

#[test]
fn verdicts_are_true_for_defenders_in_check() {
    check_variety(&compare_all(&small_positions(53, 2_000, Position::in_check), false));
}
