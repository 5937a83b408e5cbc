//! The solver against searches that leave nothing out, on positions of shogi.
//!
//! Two judges: trying every move to a fixed depth, and, for few pieces, the whole graph of positions
//! that checks and evasions lead to (retrograde analysis, Ströhlein 1970). Both move by the generators
//! that `rules.rs` holds against the rule book.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};

use kyokumen::search::{DfPn, Stop, TableSize, Verdict};
use kyokumen::shogi::{
    Board, Color, Hand, HandKind, Mate, Piece, PieceKind, Position, Setup, Square,
};

use crate::mate_lines::{attack, defend, limits};
use crate::positions::{Random, random_play, shared_lines, shared_positions, strewn};

/// Nodes that decide any position here.
const AMPLE: u64 = 300_000;

/// Tries everything, as long as it takes no more than so many moves.
struct EveryMove {
    moves_left: u32,
}

impl EveryMove {
    /// Whether the side to move mates within `plies`; `None` if that takes too long to find out.
    fn mates(&mut self, position: &mut Position, plies: u16) -> Option<bool> {
        if plies == 0 {
            return Some(false);
        }
        for m in position.checks() {
            self.moves_left = self.moves_left.checked_sub(1)?;
            let undo = position.make(m);
            let mates = self.is_mated(position, plies - 1);
            position.unmake(m, undo);
            if mates? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether the side to move, in check, is mated within `plies`.
    fn is_mated(&mut self, position: &mut Position, plies: u16) -> Option<bool> {
        let evasions = position.legal_moves();
        if plies == 0 || evasions.is_empty() {
            return Some(evasions.is_empty());
        }
        for m in evasions {
            self.moves_left = self.moves_left.checked_sub(1)?;
            let undo = position.make(m);
            let mates = self.mates(position, plies - 1);
            position.unmake(m, undo);
            if !mates? {
                return Some(false);
            }
        }
        Some(true)
    }
}

const MOST_MOVES: u32 = 300_000;

fn mates_within(position: &Position, plies: u16) -> Option<bool> {
    EveryMove { moves_left: MOST_MOVES }.mates(&mut position.clone(), plies)
}

fn is_mated_within(position: &Position, plies: u16) -> Option<bool> {
    EveryMove { moves_left: MOST_MOVES }.is_mated(&mut position.clone(), plies)
}

/// What was compared: mates, and positions without one in the greatest depth.
#[derive(Default)]
struct Compared {
    mates: u32,
    others: u32,
}

impl Compared {
    /// Compares one verdict at each depth with the judge; depths beyond its patience are left out.
    fn compare(
        &mut self,
        depths: [u16; 3],
        what: &str,
        judge: impl Fn(u16) -> Option<bool>,
        mut solve: impl FnMut(u16) -> (Verdict, usize),
    ) {
        let truths: Vec<(u16, bool)> =
            depths.into_iter().map_while(|depth| Some((depth, judge(depth)?))).collect();
        let Some(&(deepest, mate)) = truths.last() else { return };
        for &(depth, mate_within) in &truths {
            let (verdict, plies) = solve(depth);
            let what = format!("{what}: {verdict:?} in {plies} at depth {depth}");
            match verdict {
                Verdict::Proven if mate_within => {}
                // Longer than the depth limit, by way of the table: still a mate.
                Verdict::Proven => assert!(plies > usize::from(depth), "{what}"),
                Verdict::Disproven => assert!(!mate, "{what}, a mate at depth {deepest}"),
                Verdict::Unknown(Stop::Depth) => assert!(!mate_within, "{what}"),
                Verdict::Unknown(stop) => panic!("{what}: {stop}"),
            }
            if let Some(&(_, mate)) = truths.iter().find(|&&(d, _)| usize::from(d) == plies)
                && verdict == Verdict::Proven
            {
                assert!(mate, "{what}");
            }
        }
        *(if mate { &mut self.mates } else { &mut self.others }) += 1;
    }

    fn compare_position(&mut self, solver: &mut DfPn<Mate>, position: &Position) {
        let what = position.to_string();
        self.compare(
            [1, 3, 5],
            &what,
            |depth| mates_within(position, depth),
            |depth| {
                let solved = attack(solver, position, limits(depth, AMPLE));
                (solved.verdict, solved.line.len())
            },
        );
        if position.in_check() {
            self.compare(
                [0, 2, 4],
                &what,
                |depth| is_mated_within(position, depth),
                |depth| {
                    let solved = defend(solver, position, limits(depth, AMPLE));
                    (solved.verdict, solved.line.len())
                },
            );
        }
    }
}

#[test]
fn every_move_tried_in_random_games_and_strewn_pieces() {
    let mut solver = DfPn::new(TableSize::from_mib(1));
    let mut compared = Compared::default();
    for position in random_play(21, 2_000).iter().step_by(2).chain(&strewn(22, 300)) {
        compared.compare_position(&mut solver, position);
    }
    let Compared { mates, others } = compared;
    assert!(mates > 80 && others > 600, "{mates} mates, {others} others");
}

#[test]
fn every_move_tried_in_mate_problems() {
    let mut solver = DfPn::new(TableSize::from_mib(1));
    let mut compared = Compared::default();
    for position in shared_positions("tsume_dev.tsv", 23) {
        compared.compare_position(&mut solver, &position);
    }
    eprintln!("{} mates, {} others", compared.mates, compared.others);
}

/// Every problem whose length its source gives has a mate.
#[test]
fn stated_mates_are_not_denied() {
    let mut solver = DfPn::new(TableSize::from_mib(4));
    let mut open = 0;
    for line in shared_lines("tsume_dev.tsv").iter().step_by(11) {
        let fields: Vec<&str> = line.split('\t').collect();
        let Ok(position) = fields[0].parse() else { continue };
        match attack(&mut solver, &position, limits(61, 30_000)).verdict {
            Verdict::Proven => {}
            Verdict::Disproven => assert_eq!(fields[1], "?", "{line}"),
            Verdict::Unknown(_) => open += 1,
        }
    }
    eprintln!("{open} problems left open");
}

/// Every position that checks and evasions lead to, with the plies to mate.
struct WholeGraph {
    positions: Vec<Position>,
    plies: Vec<Option<u16>>,
}

impl WholeGraph {
    /// `None` if there are more than `most` positions.
    fn new(root: &Position, most: usize) -> Option<Self> {
        let attacker = root.side_to_move();
        let mut positions = vec![root.clone()];
        let mut indices = HashMap::from([(identity(root), 0)]);
        let mut parents: Vec<Vec<usize>> = vec![Vec::new()];
        let mut open_moves = Vec::new();
        let mut next = 0;
        while let Some(position) = positions.get(next).cloned() {
            let is_attack = position.side_to_move() == attacker;
            let moves = if is_attack { position.checks() } else { position.legal_moves() };
            open_moves.push(moves.len());
            for m in moves {
                let mut after = position.clone();
                after.make(m);
                let index = *indices.entry(identity(&after)).or_insert_with(|| {
                    positions.push(after);
                    parents.push(Vec::new());
                    positions.len() - 1
                });
                parents[index].push(next);
            }
            next += 1;
            if positions.len() > most {
                return None;
            }
        }
        let plies = distances(&positions, attacker, &parents, open_moves);
        Some(Self { positions, plies })
    }

    /// The farthest mates, and some of the rest.
    fn choice(&self) -> Vec<usize> {
        let mut indices: Vec<usize> = (0..self.positions.len()).collect();
        indices.sort_by_key(|&index| Reverse(self.plies[index]));
        let step = 1 + indices.len() / 20;
        let rest: Vec<usize> = indices.iter().copied().skip(10).step_by(step).collect();
        indices.truncate(10);
        indices.extend(rest);
        indices
    }
}

fn identity(position: &Position) -> (u64, u32, u32) {
    let hand = |color| position.hand(color).bits();
    (position.board_key(), hand(Color::Black), hand(Color::White))
}

/// Backwards from the mates, nearest first: an attack is won by its first won move, a defence is lost
/// with its last.
fn distances(
    positions: &[Position],
    attacker: Color,
    parents: &[Vec<usize>],
    mut open_moves: Vec<usize>,
) -> Vec<Option<u16>> {
    let mut plies: Vec<Option<u16>> = vec![None; positions.len()];
    let mut queue: VecDeque<usize> = (0..positions.len())
        .filter(|&index| positions[index].side_to_move() != attacker && open_moves[index] == 0)
        .collect();
    for &index in &queue {
        plies[index] = Some(0);
    }
    while let Some(index) = queue.pop_front() {
        for &parent in &parents[index] {
            open_moves[parent] -= 1;
            let is_attack = positions[parent].side_to_move() == attacker;
            if plies[parent].is_none() && (is_attack || open_moves[parent] == 0) {
                plies[parent] = plies[index].map(|plies| plies + 1);
                queue.push_back(parent);
            }
        }
    }
    plies
}

/// A king of White near a corner, at times one of Black, and few other pieces; the rest is in the box.
fn few_pieces(random: &mut Random) -> Option<Position> {
    let mut squares: Vec<Square> =
        Square::all().filter(|square| square.file() < 4 && square.rank() < 4).collect();
    random.shuffle(&mut squares);
    let mut board: Board = [None; Square::COUNT];
    let mut place = |color, kind| {
        // What finds no room goes to the box.
        if let Some(square) = squares.pop() {
            board[square.index()] = Some(Piece::new(color, kind));
        }
    };
    place(Color::White, PieceKind::King);
    if random.below(3) == 0 {
        place(Color::Black, PieceKind::King);
    }
    let mut hand = Hand::EMPTY;
    for kind in HandKind::ALL {
        for _ in 0..HandKind::SET[kind.index()].min(4) {
            let on_board = kind.piece_kind();
            let promoted = on_board.promoted().filter(|_| random.below(4) == 0);
            match random.below(10) {
                0 => hand.add(kind),
                1 => place(Color::Black, promoted.unwrap_or(on_board)),
                2 => place(Color::White, promoted.unwrap_or(on_board)),
                _ => {}
            }
        }
    }
    let setup = Setup::new(board, [hand, Hand::EMPTY], Color::Black, 1).unwrap();
    Position::try_from(setup).ok().filter(|position| !position.checks().is_empty())
}

/// Without limits the solver must know every position of the graph, repetitions and all.
#[test]
fn whole_graphs_of_few_pieces() {
    let mut random = Random::new(23);
    let mut solver = DfPn::new(TableSize::from_mib(4));
    let mut mates_of_length = [0; 8];
    let mut none = 0;
    let mut graphs = 0;
    while graphs < 40 {
        let Some(root) = few_pieces(&mut random) else { continue };
        let Some(graph) = WholeGraph::new(&root, 2_000) else { continue };
        graphs += u32::from(graph.positions.len() > 20);
        for index in graph.choice() {
            let (position, truth) = (&graph.positions[index], graph.plies[index]);
            let limits = limits(1_000, AMPLE);
            let solved = if position.side_to_move() == root.side_to_move() {
                attack(&mut solver, position, limits)
            } else {
                defend(&mut solver, position, limits)
            };
            let plies = solved.line.len();
            match (truth, solved.verdict) {
                (Some(least), Verdict::Proven) => {
                    assert!(plies >= usize::from(least), "{position}: {plies}, {least}");
                    mates_of_length[usize::from(least).min(7)] += 1;
                }
                (None, Verdict::Disproven) => none += 1,
                (truth, verdict) => panic!("{position}: {verdict:?}, but {truth:?}"),
            }
        }
    }
    assert!(none > 1_000, "{none}");
    assert!(mates_of_length[..5].iter().all(|&count| count > 8), "{mates_of_length:?}");
}
