//! Pictures of the tree under a position: the nodes that a search visited, found in the table or cut.
//!
//! The articles draw such subtrees: boards with their values in columns, and cut nodes in darker colours.

mod builder;
mod drawn;
mod html;
mod layout;
mod svg;

use std::fmt::Write;

use drawn::value_text;

pub use builder::MAX_BOARDS;
pub use drawn::{Bound, DrawnNode, NodeStatus, Picture};
pub use html::html;
pub use svg::svg;

/// The picture as text, with one line per node.
///
/// ```
/// use kyokumen_marubatsu::picture::{Picture, text};
/// use kyokumen_marubatsu::Solution;
/// let board = "oo./xx./...".parse().unwrap();
/// let picture = Picture::of_tree(board, 1, &Solution::new()).unwrap();
/// assert!(text(&picture).contains("  2  ooo/xx./...  = 1\n"));
/// ```
pub fn text(picture: &Picture) -> String {
    let mut lines = String::new();
    picture.root.each(&mut |drawn, depth| {
        let indent = "  ".repeat(depth);
        let number = drawn.last.map_or(String::new(), |square| format!("{}  ", square.number()));
        let value = value_text(drawn);
        let mut line = format!("{indent}{number}{}  {value}", drawn.board);
        if drawn.fate != NodeStatus::Solved && depth > 0 {
            line = format!("{:<48}{}", line, drawn.fate.name());
        }
        if drawn.visits > 1 {
            push(&mut line, format_args!(", {} times", drawn.visits));
        }
        push(&mut lines, format_args!("{}\n", line.trim_end()));
    });
    lines
}

/// Appends formatted text, which cannot fail.
pub(super) fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(arguments);
}
