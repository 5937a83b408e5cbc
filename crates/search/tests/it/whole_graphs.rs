//! Verdicts of the solver compared with retrograde analysis of positions with few pieces.
//!
//! The reference is the graph of all positions that checks and evasions lead to. Its values are computed backwards from
//! the mates (retrograde analysis, Ströhlein 1970), without depth, path or dominance. Its moves are compared with the
//! plain rules.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};

use kyokumen_search::{DfPn, Stop, TableSize, Verdict};
use kyokumen_shogi::{
    Board, Color, Hand, HandKind, Mate, Move, Piece, PieceKind, Position, Setup, Square, plain,
};
use kyokumen_testing::positions::Random;

use crate::mate_lines::{attack, defend, limits};

/// Enough nodes to decide every position here.
const AMPLE: u64 = 300_000;
/// Deeper than every line here.
const NO_DEPTH: u16 = 1_000;

/// All positions that checks and evasions lead to, with the plies to mate. `None` if there is no mate.
struct WholeGraph {
    positions: Vec<Position>,
    plies: Vec<Option<u16>>,
}

impl WholeGraph {
    /// `None` if there are more than `max_positions`.
    fn new(root: &Position, max_positions: usize) -> Option<Self> {
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
            if positions.len() > max_positions {
                return None;
            }
        }
        let plies = distances(&positions, attacker, &parents, open_moves);
        Some(Self { positions, plies })
    }

    /// Checks that every position has the moves of the plain rules.
    fn check_moves(&self) {
        let attacker = self.positions[0].side_to_move();
        for position in &self.positions {
            let is_attack = position.side_to_move() == attacker;
            let mut moves = if is_attack { position.checks() } else { position.legal_moves() };
            let mut by_plain_rules = plain_moves(position, is_attack);
            moves.sort_unstable();
            by_plain_rules.sort_unstable();
            assert_eq!(moves, by_plain_rules, "{position}");
        }
    }

    /// Indices of the longest mates and of some other positions.
    fn sample(&self) -> Vec<usize> {
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

/// Computes the plies to mate backwards from the mates, shortest first. A position of the attacker is won with its
/// first won move, a position of the defender is lost with its last one.
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

fn plain_moves(position: &Position, is_attack: bool) -> Vec<Move> {
    if is_attack { plain::legal_checks(position) } else { plain::legal_moves(position) }
}

/// A random position: the defender's king near a corner, sometimes the attacker's king, and few other pieces. The
/// remaining pieces are in the box.
fn few_pieces(random: &mut Random) -> Option<Position> {
    let attacker = *random.pick(&Color::ALL);
    let mut squares: Vec<Square> = Square::all()
        .filter(|square| square.relative_rank(attacker) < 4)
        .filter(|square| (square.file() < 4) == (attacker == Color::Black))
        .collect();
    random.shuffle(&mut squares);
    let mut board: Board = [None; Square::COUNT];
    let mut place = |color, kind| {
        // If no square is free, the piece goes to the box.
        if let Some(square) = squares.pop() {
            board[square.index()] = Some(Piece::new(color, kind));
        }
    };
    place(!attacker, PieceKind::King);
    if random.below(2) == 0 {
        place(attacker, PieceKind::King);
    }
    let mut hands = [Hand::EMPTY; 2];
    for kind in HandKind::ALL {
        for _ in 0..HandKind::SET[kind.index()].min(4) {
            let on_board = kind.piece_kind();
            let promoted = on_board.promoted().filter(|_| random.below(4) == 0);
            match random.below(20) {
                0..2 => hands[attacker.index()].add(kind),
                2..4 => place(attacker, promoted.unwrap_or(on_board)),
                4..6 => place(!attacker, promoted.unwrap_or(on_board)),
                6 if random.below(3) == 0 => hands[(!attacker).index()].add(kind),
                _ => {}
            }
        }
    }
    let setup = Setup::new(board, hands, attacker, 1).ok()?;
    Position::try_from(setup).ok().filter(|position| !position.checks().is_empty())
}

/// Counts of the comparison.
#[derive(Default, Debug)]
struct Compared {
    mates_of_length: [u32; 8],
    none: u32,
    white_attacks: u32,
    attacker_in_check: u32,
    attacker_without_king: u32,
    /// Searches that reached the depth limit.
    depth: u32,
}

impl Compared {
    fn compare(
        &mut self,
        solver: &mut DfPn<Mate>,
        position: &Position,
        attacker: Color,
        truth: Option<u16>,
        depth: u16,
    ) {
        let is_attack = position.side_to_move() == attacker;
        let search = if is_attack { attack } else { defend };
        let solved = search(solver, position, limits(NO_DEPTH, AMPLE));
        let plies = solved.line.len();
        match (truth, solved.verdict) {
            (Some(least), Verdict::Proven) => {
                assert!(plies >= usize::from(least), "{position}: {plies}, {least}");
                self.mates_of_length[usize::from(least).min(7)] += 1;
            }
            (None, Verdict::Disproven) => self.none += 1,
            (truth, verdict) => panic!("{position}: {verdict:?}, but {truth:?}"),
        }
        let within = search(solver, position, limits(depth, AMPLE));
        let plies = within.line.len();
        match (truth, within.verdict) {
            (Some(least), Verdict::Proven) if plies >= usize::from(least) => {}
            (None, Verdict::Disproven) => {}
            (truth, Verdict::Unknown(Stop::Depth)) if truth.is_none_or(|least| least > depth) => {
                self.depth += 1;
            }
            (truth, verdict) => {
                panic!("{position}: {verdict:?} in {plies} at depth {depth}, but {truth:?}")
            }
        }
        self.white_attacks += u32::from(attacker == Color::White);
        self.attacker_in_check += u32::from(is_attack && position.in_check());
        self.attacker_without_king += u32::from(position.king(attacker).is_none());
    }
}

/// Without limits the solver must decide every position of the graph, including repetitions. With a depth limit it must
/// decide every position within the limit.
#[test]
fn verdicts_agree_with_retrograde_analysis() {
    let mut random = Random::new(23);
    let mut solver = DfPn::new(TableSize::from_mib(4));
    let mut compared = Compared::default();
    let mut graphs = 0;
    while graphs < 80 {
        let Some(root) = few_pieces(&mut random) else { continue };
        let Some(graph) = WholeGraph::new(&root, 400) else { continue };
        if graph.positions.len() <= 20 {
            continue;
        }
        graph.check_moves();
        graphs += 1;
        for index in graph.sample() {
            let (position, truth) = (&graph.positions[index], graph.plies[index]);
            let depth = random.below(10) as u16;
            compared.compare(&mut solver, position, root.side_to_move(), truth, depth);
        }
    }
    let Compared { mates_of_length, none, white_attacks, depth, .. } = compared;
    let Compared { attacker_in_check, attacker_without_king, .. } = compared;
    assert!(mates_of_length[..5].iter().all(|&count| count > 8), "{compared:?}");
    assert!(none > 1_000 && white_attacks > 500 && depth > 100, "{compared:?}");
    assert!(attacker_in_check > 30 && attacker_without_king > 200, "{compared:?}");
}
