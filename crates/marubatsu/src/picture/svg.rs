//! A picture as SVG: boards in columns, lines between them, and values next to them.
//!
//! Colours are classes of one style sheet, which follows the light or dark mode of the reader.

use super::super::square::Square;
use super::drawn::{DrawnNode, NodeStatus, Picture, value_text, winner};
use super::layout::{BOARD, BRANCH, COLUMN, PlacedNode, places};
use super::push;

const STYLE: &str = include_str!("picture.css");

/// The picture as a self-contained SVG file.
pub fn svg(picture: &Picture) -> String {
    drawing(
        picture,
        &format!(
            "<style>\n{STYLE}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n"
        ),
    )
}

/// The picture, with `beginning` inserted before its content.
pub(super) fn drawing(picture: &Picture, beginning: &str) -> String {
    let (placed, [width, height]) = places(picture);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n{beginning}{BOARD_SHAPES}"
    );
    for placed in &placed {
        line(&mut svg, placed);
    }
    for placed in &placed {
        position(&mut svg, placed);
    }
    svg + "</svg>\n"
}

/// Shapes that are used many times: an empty board, a ○ and a ×. A square has 14 units.
const BOARD_SHAPES: &str = "<defs>\
<path id=\"grid\" d=\"M14 0V42M28 0V42M0 14H42M0 28H42\"/>\
<circle id=\"o\" cx=\"7\" cy=\"7\" r=\"4.2\"/>\
<path id=\"x\" d=\"M3 3L11 11M11 3L3 11\"/>\
</defs>\n";

/// The lines of a node, in its colour: from the branch point before it to its board, and from there to the next branch
/// point.
fn line(svg: &mut String, placed: &PlacedNode<'_>) {
    let (class, x, y) = (class(placed.drawn), placed.x, placed.y);
    let mut path = String::new();
    if let Some(parent_y) = placed.parent_y {
        push(&mut path, format_args!("M{:.0} {parent_y:.1}V{y:.1}H{x:.0}", x - BRANCH));
    }
    if !placed.drawn.children.is_empty() {
        let (from, to) = (x + BOARD, x + COLUMN - BRANCH);
        push(&mut path, format_args!("M{from:.0} {y:.1}H{to:.0}"));
    }
    if !path.is_empty() {
        push(svg, format_args!("<path class=\"line {class}\" d=\"{path}\"/>\n"));
    }
}

fn position(svg: &mut String, placed: &PlacedNode<'_>) {
    let PlacedNode { drawn, x, y, .. } = placed;
    let top = y - BOARD / 2.0;
    let (class, title) = (class(drawn), title(drawn));
    push(
        svg,
        format_args!(
            "<g class=\"position {class}\" transform=\"translate({x:.0} {top:.1})\"><title>{title}</title>\
             <rect class=\"frame\" width=\"{BOARD}\" height=\"{BOARD}\" rx=\"3\"/>"
        ),
    );
    if let Some(last) = drawn.last {
        let (x, y) = (14 * last.x(), 14 * last.y());
        push(
            svg,
            format_args!("<rect class=\"last\" x=\"{x}\" y=\"{y}\" width=\"14\" height=\"14\"/>"),
        );
    }
    svg.push_str("<use class=\"grid\" href=\"#grid\"/>");
    for square in Square::all() {
        let Some(mark) = drawn.board.mark_on(square) else { continue };
        let (x, y) = (14 * square.x(), 14 * square.y());
        push(svg, format_args!("<use class=\"{mark}\" href=\"#{mark}\" x=\"{x}\" y=\"{y}\"/>"));
    }
    let value = value_text(drawn).replace('-', "−");
    push(svg, format_args!("<text class=\"value\" x=\"50\" y=\"15\">{value}</text>"));
    let source = match drawn.fate {
        NodeStatus::Cut => "cut",
        NodeStatus::Table => "table",
        _ => "",
    };
    push(svg, format_args!("<text class=\"told\" x=\"50\" y=\"36\">{source}"));
    if drawn.visits > 1 {
        push(svg, format_args!(" ×{}", drawn.visits));
    }
    svg.push_str("</text></g>\n");
}

/// The classes for the winner and for the status of the node.
fn class(drawn: &DrawnNode) -> String {
    let winner = match drawn.value {
        1 => "circle",
        -1 => "cross",
        _ => "draw",
    };
    let fate = match drawn.fate {
        NodeStatus::Table => "table",
        fate => fate.name(),
    };
    format!("{winner} {fate}")
}

/// The tooltip of a node.
fn title(drawn: &DrawnNode) -> String {
    let (truth, fate, value) = (winner(drawn.value), drawn.fate.name(), value_text(drawn));
    format!("{}: {truth}; {fate} {value}", drawn.board).trim_end().to_owned()
}
