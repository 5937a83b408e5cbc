//! The solved game: the value, the distance from the end and the best moves of each of the 5,478 positions.
//!
//! It is solved backwards from the last ply (retrograde analysis, Zermelo 1913). This is independent of the searches
//! and of the tree, so they can be compared with it. The articles store the same in `Mbtree` and `bestmoves_by_board`;
//! their values are also seen from ○.

use std::collections::HashMap;

use serde::Serialize;

use super::board::{Board, Mark, Status};
use super::squares::Squares;
use super::symmetry::canonical;

/// A position and the result of perfect play: a row of the table of all positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Solved {
    /// The position.
    pub board: Board,
    /// The side to move. If the game is over, the side that would be next.
    pub to_move: Mark,
    /// 1 if ○ wins, −1 if × wins, 0 for a draw, for either side to move.
    pub value: i8,
    /// Plies to the end if the winner hurries and the loser delays; 0 if the game is over.
    pub distance: u8,
    /// All moves that keep the value, at any distance. Empty if the game is over.
    pub best_moves: Squares,
    /// Number of the symmetry class: positions that are images of each other. Numbered from 0 by first appearance.
    pub symmetry_class: u16,
}

/// The solved game.
///
/// ```
/// use kyokumen_marubatsu::{Board, Solution};
/// let solution = Solution::new();
/// let start = solution.get(Board::EMPTY).unwrap();
/// assert_eq!((start.value, start.distance, start.best_moves.len()), (0, 9, 9));
/// let reply = solution.get("o../.../...".parse().unwrap()).unwrap();
/// assert_eq!(reply.best_moves.to_string(), "4");
/// ```
#[derive(Clone, Debug)]
pub struct Solution {
    positions: Vec<Solved>,
    /// Index in `positions` by index of the board; `UNREACHABLE` for boards that cannot occur.
    numbers: Vec<u16>,
}

const UNREACHABLE: u16 = u16::MAX;

impl Solution {
    /// Solves the game.
    pub fn new() -> Self {
        let boards = reachable();
        let mut numbers = vec![UNREACHABLE; Board::ARRANGEMENTS];
        for (number, board) in (0..).zip(&boards) {
            numbers[board.index()] = number;
        }
        let mut solution = Self { positions: Vec::new(), numbers };
        solution.positions = symmetry_classes(&boards).map(unsolved).collect();
        // Positions after a move follow the positions before it.
        for number in (0..boards.len()).rev() {
            let solved = solution.solve(solution.positions[number]);
            solution.positions[number] = solved;
        }
        solution
    }

    /// All positions that can occur, by ply. Within a ply they have the order of their texts.
    pub fn positions(&self) -> &[Solved] {
        &self.positions
    }

    /// The solution of a position; `None` if it cannot occur.
    pub fn get(&self, board: Board) -> Option<&Solved> {
        self.positions.get(usize::from(*self.numbers.get(board.index())?))
    }

    /// The value of a position that can occur: 1, 0 or −1, seen from ○.
    pub(super) fn value(&self, board: Board) -> i8 {
        self.get(board).map_or(0, |solved| solved.value)
    }

    /// Positions with a choice: their moves differ in value.
    pub fn with_choice(&self) -> impl Iterator<Item = &Solved> {
        self.positions.iter().filter(|solved| solved.best_moves != solved.board.moves())
    }

    /// The first position of each symmetry class: the one whose text comes first.
    pub fn up_to_symmetry(&self) -> impl Iterator<Item = &Solved> {
        self.positions.iter().filter(|solved| canonical(solved.board) == solved.board)
    }

    fn solve(&self, position: Solved) -> Solved {
        let board = position.board;
        let side = if position.to_move == Mark::Circle { 1 } else { -1 };
        match board.status() {
            Status::Won(Mark::Circle) => Solved { value: 1, ..position },
            Status::Won(Mark::Cross) => Solved { value: -1, ..position },
            Status::Draw => position,
            Status::Playing => {
                let after = |square| self.get(board.after(square)).copied().unwrap_or(position);
                let children = board.moves().iter().map(|square| (square, after(square)));
                let value = children.clone().map(|(_, child)| child.value * side).max();
                let value = value.unwrap_or(0) * side;
                let best = children.filter(|(_, child)| child.value == value);
                let distances = best.clone().map(|(_, child)| child.distance);
                let distance = if value == side { distances.min() } else { distances.max() };
                let best_moves = best.map(|(square, _)| square).collect();
                Solved { value, distance: distance.unwrap_or(0) + 1, best_moves, ..position }
            }
        }
    }
}

impl Default for Solution {
    fn default() -> Self {
        Self::new()
    }
}

/// Every position that play can reach, by ply. Within a ply they have the order of their texts.
fn reachable() -> Vec<Board> {
    let mut boards = vec![Board::EMPTY];
    let mut at_ply = boards.clone();
    while !at_ply.is_empty() {
        let moves = |board: Board| board.moves().iter().map(move |square| board.after(square));
        at_ply = at_ply.into_iter().flat_map(moves).collect();
        at_ply.sort_unstable_by_key(|board| board.index());
        at_ply.dedup();
        boards.extend(&at_ply);
    }
    boards
}

fn symmetry_classes(boards: &[Board]) -> impl Iterator<Item = (Board, u16)> {
    let mut classes = HashMap::new();
    boards.iter().map(move |&board| {
        let next = classes.len() as u16;
        (board, *classes.entry(canonical(board)).or_insert(next))
    })
}

fn unsolved((board, symmetry_class): (Board, u16)) -> Solved {
    let (value, distance, best_moves) = (0, 0, Squares::EMPTY);
    Solved { board, to_move: board.side_to_move(), value, distance, best_moves, symmetry_class }
}
