//! Coordinates of the boards of a picture: plies from left to right, moves from top to bottom.
//!
//! Leaves are below each other. Every other node is centred on its children.

use super::drawn::{DrawnNode, Picture};

/// Width of a column, in units of the picture.
pub(super) const COLUMN: f64 = 150.0;
/// Height of a row.
pub(super) const ROW: f64 = 56.0;
/// Width and height of a board.
pub(super) const BOARD: f64 = 42.0;
/// Distance of the point where lines branch from the left edge of the next column.
pub(super) const BRANCH: f64 = 18.0;
/// Margin around the picture.
pub(super) const MARGIN: f64 = 16.0;

/// A node with its coordinates.
pub(super) struct PlacedNode<'a> {
    pub(super) drawn: &'a DrawnNode,
    /// Left edge of the board.
    pub(super) x: f64,
    /// Vertical centre of the board.
    pub(super) y: f64,
    /// Vertical centre of the parent's board.
    pub(super) parent_y: Option<f64>,
}

/// All nodes with their coordinates, and the size of the picture.
pub(super) fn places(picture: &Picture) -> (Vec<PlacedNode<'_>>, [f64; 2]) {
    let mut placed = Vec::new();
    let mut rows = 0.0;
    place(&picture.root, 0, &mut rows, &mut placed);
    let columns = placed.iter().map(|placed| placed.x).fold(0.0, f64::max) + COLUMN;
    (placed, [columns + MARGIN, rows * ROW + 2.0 * MARGIN])
}

/// Places a subtree. A node is placed after its descendants, at the centre of its children.
fn place<'a>(
    drawn: &'a DrawnNode,
    depth: usize,
    rows: &mut f64,
    placed: &mut Vec<PlacedNode<'a>>,
) -> usize {
    let x = MARGIN + depth as f64 * COLUMN;
    let children: Vec<usize> =
        drawn.children.iter().map(|child| place(child, depth + 1, rows, placed)).collect();
    let y = if let (Some(&first), Some(&last)) = (children.first(), children.last()) {
        f64::midpoint(placed[first].y, placed[last].y)
    } else {
        *rows += 1.0;
        MARGIN + (*rows - 0.5) * ROW
    };
    for child in children {
        placed[child].parent_y = Some(y);
    }
    placed.push(PlacedNode { drawn, x, y, parent_y: None });
    placed.len() - 1
}
