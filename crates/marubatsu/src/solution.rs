//! The solved game: for each of the 5,478 positions its value, its distance from the end and its best moves.
//!
//! By going backwards from the last ply (retrograde analysis, Zermelo 1913), which shares nothing with the
//! searches and the tree, so that they can be held against it. The articles keep the same in `Mbtree` and
//! `bestmoves_by_board`; their values, too, are seen from ○.

use std::collections::HashMap;

use serde::Serialize;

use super::board::{Board, Mark, Status};
use super::squares::Squares;
use super::symmetry::canonical;

/// A position and what perfect play leads to; as such a row of a table of all positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Solved {
    /// The position.
    pub board: Board,
    /// Whose turn it is, or would be if the game went on.
    pub to_move: Mark,
    /// 1 if ○ wins, −1 if × does, 0 for a draw, whoever is to move.
    pub value: i8,
    /// Plies to the end when the winner hurries and the loser delays; 0 when the game is over.
    pub distance: u8,
    /// All moves that keep the value, however long they take; none when the game is over.
    pub best_moves: Squares,
    /// Number of the class of positions that are images of each other, in order of first appearance, from 0.
    pub symmetry_class: u16,
}

/// The solved game.
///
/// ```
/// use kyokumen_marubatsu::{Board, Solution};
/// let solution = Solution::new();
/// let start = solution.get(Board::EMPTY).unwrap();
/// assert_eq!((start.value, start.distance, start.best_moves.len()), (0, 9, 9));
/// let answer = solution.get("o../.../...".parse().unwrap()).unwrap();
/// assert_eq!(answer.best_moves.to_string(), "4");
/// ```
#[derive(Clone, Debug)]
pub struct Solution {
    positions: Vec<Solved>,
    /// Where in `positions` a board is, by its index; `NOWHERE` for what cannot occur.
    numbers: Vec<u16>,
}

const NOWHERE: u16 = u16::MAX;

impl Solution {
    /// Solves the game.
    pub fn new() -> Self {
        let boards = reachable();
        let mut numbers = vec![NOWHERE; Board::ARRANGEMENTS];
        for (number, board) in (0..).zip(&boards) {
            numbers[board.index()] = number;
        }
        let mut solution = Self { positions: Vec::new(), numbers };
        solution.positions = symmetry_classes(&boards).map(unsolved).collect();
        // Positions after a move stand behind those before it.
        for number in (0..boards.len()).rev() {
            let solved = solution.solve(solution.positions[number]);
            solution.positions[number] = solved;
        }
        solution
    }

    /// All positions that can occur: by ply, and those of a ply in the order of their texts.
    pub fn positions(&self) -> &[Solved] {
        &self.positions
    }

    /// What is known of a position; `None` if it cannot occur.
    pub fn get(&self, board: Board) -> Option<&Solved> {
        self.positions.get(usize::from(*self.numbers.get(board.index())?))
    }

    /// The value of a position that can occur, 1, 0 or −1, seen from ○.
    pub(super) fn value(&self, board: Board) -> i8 {
        self.get(board).map_or(0, |solved| solved.value)
    }

    /// Positions in which moves differ in value, so that one can go wrong.
    pub fn with_choice(&self) -> impl Iterator<Item = &Solved> {
        self.positions.iter().filter(|solved| solved.best_moves != solved.board.moves())
    }

    /// The first of each class of positions that are images of each other: the one whose text comes first.
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

/// Every position that play can reach, by ply, those of a ply in the order of their texts.
fn reachable() -> Vec<Board> {
    let mut boards = vec![Board::EMPTY];
    let mut of_a_ply = boards.clone();
    while !of_a_ply.is_empty() {
        let moves = |board: Board| board.moves().iter().map(move |square| board.after(square));
        of_a_ply = of_a_ply.into_iter().flat_map(moves).collect();
        of_a_ply.sort_unstable_by_key(|board| board.index());
        of_a_ply.dedup();
        boards.extend(&of_a_ply);
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
