//! Positions as SVG pictures: a board with the pieces in hand, coordinates, the last move and an arrow.
//!
//! Pieces are pentagons with one kanji each, as in books: 杏, 圭 and 全 are the promoted lance, knight and silver. The
//! kanji are text in a font of the viewer. Pictures contain no scripts and no external references.

use std::fmt;

use super::diagram::kanji;
use super::hand::Hand;
use super::moves::Move;
use super::piece::{Color, HandKind, PieceKind};
use super::setup::Setup;
use super::square::Square;

/// The style sheet of pictures. A standalone picture contains it; a page that [embeds](SvgDiagram::embedded) pictures
/// needs it once. All its class names begin with `k-`.
pub const STYLE: &str = include_str!("svg.css");

/// Width and height of a square, in SVG units.
const SQUARE: i32 = 40;
/// Left edge of the board, to the right of a hand.
const LEFT: i32 = 50;
/// Top edge of the board, below the file numbers.
const TOP: i32 = 20;
const SIDE: i32 = 9 * SQUARE;
/// To the right of the board are the ranks and the other hand.
const WIDTH: i32 = LEFT + SIDE + 18 + LEFT;
const HEIGHT: i32 = TOP + SIDE + 4;

/// A position as a picture. `Display` writes a self-contained SVG file.
///
/// ```
/// use kyokumen_shogi::{Color, Move, Position, svg::SvgDiagram};
/// let start = Position::start().setup();
/// let pawn = Move::from_usi("7g7f").unwrap();
/// let picture = SvgDiagram::new(&start).arrow(pawn).seen_from(Color::White);
/// assert!(picture.to_string().starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SvgDiagram<'a> {
    setup: &'a Setup,
    last_move: Option<Move>,
    arrow: Option<Move>,
    seen_from: Color,
}

/// A picture for a page that contains [`STYLE`] and [`Shapes`]. `Display` writes it without a size, which the page
/// sets.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddedSvg<'a>(SvgDiagram<'a>);

/// The shapes of embedded pictures. `Display` writes an invisible SVG element that a page needs once, before its first
/// picture.
#[derive(Clone, Copy, Debug)]
pub struct Shapes;

impl<'a> SvgDiagram<'a> {
    /// The position as seen by Black, without marks.
    pub const fn new(setup: &'a Setup) -> Self {
        Self { setup, last_move: None, arrow: None, seen_from: Color::Black }
    }

    /// Marks the last move: its target and its origin.
    #[must_use]
    pub const fn last_move(mut self, m: Move) -> Self {
        self.last_move = Some(m);
        self
    }

    /// Draws an arrow for a move of the side to move, from its origin square or from the hand.
    #[must_use]
    pub const fn arrow(mut self, m: Move) -> Self {
        self.arrow = Some(m);
        self
    }

    /// Turns the board so that the camp of `color` is at the bottom.
    #[must_use]
    pub const fn seen_from(mut self, color: Color) -> Self {
        self.seen_from = color;
        self
    }

    /// The same picture for a page with several pictures.
    pub const fn embedded(self) -> EmbeddedSvg<'a> {
        EmbeddedSvg(self)
    }

    fn content(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<use href=\"#k-grid\"/>\n")?;
        if let Some(m) = self.last_move {
            if let Some(from) = m.from() {
                self.square(f, "k-left", from)?;
            }
            self.square(f, "k-last", m.to())?;
        }
        self.coordinates(f)?;
        for square in Square::all() {
            if let Some(piece) = self.setup.board()[square.index()] {
                self.piece(f, piece.color, piece.kind, self.middle(square))?;
            }
        }
        for (color, hand) in Color::ALL.into_iter().zip(self.setup.hands()) {
            self.hand(f, color, hand)?;
        }
        self.arrow.map_or(Ok(()), |m| self.arrow_of(f, m))
    }

    fn square(&self, f: &mut fmt::Formatter<'_>, class: &str, square: Square) -> fmt::Result {
        let (x, y) = self.middle(square);
        let (x, y) = (x - SQUARE / 2, y - SQUARE / 2);
        let side = SQUARE;
        writeln!(
            f,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\"/>"
        )
    }

    /// File numbers above the board, ranks to its right.
    fn coordinates(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const RANKS: [&str; 9] = ["一", "二", "三", "四", "五", "六", "七", "八", "九"];
        f.write_str("<g class=\"k-coordinates\">")?;
        for number in 0..9 {
            let (x, y) = self.middle(Square::from_file_rank(number, number));
            let (file, above) = (number + 1, TOP - 5);
            write!(f, "<text x=\"{x}\" y=\"{above}\">{file}</text>")?;
            let (rank, rank_x, y) = (RANKS[usize::from(number)], LEFT + SIDE + 10, y + 5);
            write!(f, "<text x=\"{rank_x}\" y=\"{y}\">{rank}</text>")?;
        }
        f.write_str("</g>\n")
    }

    fn piece(
        &self,
        f: &mut fmt::Formatter<'_>,
        color: Color,
        kind: PieceKind,
        (x, y): (i32, i32),
    ) -> fmt::Result {
        let side = if color == self.seen_from { Seat::Near } else { Seat::Far };
        writeln!(f, "<use href=\"#{}\" x=\"{x}\" y=\"{y}\"/>", Name(side, kind))
    }

    /// A sign of the side, marked if the side is to move, and its pieces. The strongest is next to the sign.
    fn hand(&self, f: &mut fmt::Formatter<'_>, color: Color, hand: Hand) -> fmt::Result {
        let (x, y) = self.in_hand(color, 0);
        if color == self.setup.side_to_move() {
            let (left, top) = (x - 15, y - 15);
            write!(
                f,
                "<rect class=\"k-turn\" x=\"{left}\" y=\"{top}\" width=\"30\" height=\"30\" rx=\"7\"/>"
            )?;
        }
        let sign = if color == Color::Black { "k-black" } else { "k-white" };
        writeln!(f, "<use href=\"#k-sign\" class=\"{sign}\" x=\"{x}\" y=\"{y}\"/>")?;
        for (place, kind, count) in places(hand) {
            let (x, y) = self.in_hand(color, place);
            self.piece(f, color, kind.piece_kind(), (x, y))?;
            if count > 1 {
                let (x, y) = (x + 14, y + 18);
                writeln!(f, "<text class=\"k-count\" x=\"{x}\" y=\"{y}\">{count}</text>")?;
            }
        }
        Ok(())
    }

    fn arrow_of(&self, f: &mut fmt::Formatter<'_>, m: Move) -> fmt::Result {
        let side = self.setup.side_to_move();
        let from = match (m.from(), m.dropped()) {
            (Some(from), _) => self.middle(from),
            (None, Some(kind)) => {
                let held = places(self.setup.hands()[side.index()]).find(|held| held.1 == kind);
                self.in_hand(side, held.map_or(0, |(place, ..)| place))
            }
            (None, None) => return Ok(()),
        };
        let to = self.middle(m.to());
        // Only operations that every machine rounds in the same way.
        let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let length = (dx * dx + dy * dy).sqrt();
        if length == 0.0 {
            return Ok(());
        }
        let (along_x, along_y) = (dx / length, dy / length);
        let neck = length - 14.0;
        let outline = [
            (6.0, -3.0),
            (neck, -3.0),
            (neck, -10.0),
            (length, 0.0),
            (neck, 10.0),
            (neck, 3.0),
            (6.0, 3.0),
        ];
        f.write_str("<path class=\"k-arrow\" d=\"")?;
        for (number, (along, across)) in outline.into_iter().enumerate() {
            let x = f64::from(from.0) + along * along_x - across * along_y;
            let y = f64::from(from.1) + along * along_y + across * along_x;
            write!(f, "{}{x:.1} {y:.1}", if number == 0 { 'M' } else { 'L' })?;
        }
        f.write_str("Z\"/>\n")
    }

    /// The centre of a square.
    const fn middle(&self, square: Square) -> (i32, i32) {
        let square = match self.seen_from {
            Color::Black => square,
            Color::White => square.rotated(),
        };
        let (file, rank) = (square.file() as i32, square.rank() as i32);
        (LEFT + (8 - file) * SQUARE + SQUARE / 2, TOP + rank * SQUARE + SQUARE / 2)
    }

    /// The centre of the n-th place of a hand. The near hand grows upwards at the right, the far hand downwards at the
    /// left.
    fn in_hand(&self, color: Color, place: i32) -> (i32, i32) {
        let step = place * (SQUARE + 1);
        if color == self.seen_from {
            (WIDTH - LEFT / 2, TOP + SIDE - SQUARE / 2 - step)
        } else {
            (LEFT / 2 - 2, TOP + SQUARE / 2 + step)
        }
    }
}

/// Kinds in a hand with their places, from 1, and counts. The strongest is first.
fn places(hand: Hand) -> impl Iterator<Item = (i32, HandKind, u8)> {
    let held = HandKind::ALL.into_iter().rev().map(move |kind| (kind, hand.count(kind)));
    (1..)
        .zip(held.filter(|&(_, count)| count > 0))
        .map(|(place, (kind, count))| (place, kind, count))
}

impl fmt::Display for SvgDiagram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"k-board\" lang=\"ja\" xml:lang=\"ja\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             aria-label=\"{}\">\n<style>\n{STYLE}</style>",
            self.setup
        )?;
        definitions(f)?;
        self.content(f)?;
        f.write_str("</svg>\n")
    }
}

impl fmt::Display for EmbeddedSvg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "<svg class=\"k-board\" lang=\"ja\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
            self.0.setup
        )?;
        self.0.content(f)?;
        f.write_str("</svg>\n")
    }
}

impl fmt::Display for Shapes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Shapes of an element with `display: none` would be invisible elsewhere, too.
        f.write_str(
            "<svg class=\"k-shapes\" width=\"0\" height=\"0\" lang=\"ja\" aria-hidden=\"true\">\n",
        )?;
        definitions(f)?;
        f.write_str("</svg>\n")
    }
}

/// Whether the owner of a piece sits below or above the board.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seat {
    Near,
    Far,
}

/// The id of a shape: `k-P` near, `k-fP` far, `k-Pp` promoted.
struct Name(Seat, PieceKind);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(seat, kind) = *self;
        let seat = if seat == Seat::Near { "" } else { "f" };
        let promoted = if kind.is_promoted() { "p" } else { "" };
        write!(f, "k-{seat}{}{promoted}", char::from(kind.letter()))
    }
}

fn definitions(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (right, bottom) = (LEFT + SIDE, TOP + SIDE);
    write!(
        f,
        "<defs>\n<g id=\"k-grid\"><rect class=\"k-frame\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{SIDE}\" height=\"{SIDE}\"/>\
         <path class=\"k-lines\" d=\""
    )?;
    for line in 1..9 {
        let (x, y) = (LEFT + line * SQUARE, TOP + line * SQUARE);
        write!(f, "M{x} {TOP}V{bottom}M{LEFT} {y}H{right}")?;
    }
    f.write_str("\"/>")?;
    for (x, y) in [(3, 3), (6, 3), (3, 6), (6, 6)] {
        let (x, y) = (LEFT + x * SQUARE, TOP + y * SQUARE);
        write!(f, "<circle class=\"k-star\" cx=\"{x}\" cy=\"{y}\" r=\"2.5\"/>")?;
    }
    f.write_str("</g>\n<path id=\"k-sign\" d=\"M0-10L7-7L10 10H-10L-7-7Z\"/>\n")?;
    for (seat, turn) in [(Seat::Near, ""), (Seat::Far, " transform=\"rotate(180)\"")] {
        for kind in PieceKind::ALL {
            let (name, kanji) = (Name(seat, kind), kanji(kind));
            let class = if kind.is_promoted() { "k-promoted" } else { "k-piece" };
            writeln!(
                f,
                "<g id=\"{name}\"><g class=\"{class}\"{turn}><path d=\"M0-17L11.5-12.5L15 16.5H-15L-11.5-12.5Z\"/>\
                 <text y=\"9.5\">{kanji}</text></g></g>"
            )?;
        }
    }
    f.write_str("</defs>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promoted pieces of both sides and full hands.
    const SFEN: &str = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1";

    fn count(svg: &str, text: &str) -> usize {
        svg.matches(text).count()
    }

    #[test]
    fn every_piece_is_drawn_once() {
        let setup: Setup = SFEN.parse().unwrap();
        let svg = SvgDiagram::new(&setup).embedded().to_string();
        let on_board = setup.board().iter().flatten().count();
        let in_hands =
            setup.hands().map(|hand| hand.iter().filter(|(_, count)| *count > 0).count());
        assert_eq!(on_board, 30);
        let drawn = count(&svg, "<use href=\"#k-") - 3;
        assert_eq!(
            drawn,
            on_board + in_hands.iter().sum::<usize>(),
            "besides a grid and two signs"
        );
        // The promoted pawn on 4b, White's king on 1b, and the five pawns in White's hand below three other kinds.
        for piece in [
            "<use href=\"#k-Pp\" x=\"270\" y=\"80\"/>",
            "<use href=\"#k-fK\" x=\"390\" y=\"80\"/>",
            "<use href=\"#k-fP\" x=\"23\" y=\"204\"/>\n<text class=\"k-count\" x=\"37\" y=\"222\">5</text>",
        ] {
            assert!(svg.contains(piece), "{piece}\n{svg}");
        }
    }

    #[test]
    fn a_turned_board_shows_the_view_of_white() {
        let setup: Setup = SFEN.parse().unwrap();
        let svg = SvgDiagram::new(&setup).seen_from(Color::White).embedded().to_string();
        for piece in [
            "<use href=\"#k-fPp\" x=\"190\" y=\"320\"/>",
            "<use href=\"#k-K\" x=\"70\" y=\"320\"/>",
        ] {
            assert!(svg.contains(piece), "{piece}\n{svg}");
        }
    }

    #[test]
    fn moves_are_marked() {
        let setup: Setup = SFEN.parse().unwrap();
        let diagram = SvgDiagram::new(&setup).last_move(Move::from_usi("5i4i").unwrap());
        let svg = diagram.embedded().to_string();
        let square = |class: &str, x: i32, y: i32| {
            format!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"40\" height=\"40\"/>")
        };
        assert!(svg.contains(&square("k-left", 210, 340)), "{svg}");
        assert!(svg.contains(&square("k-last", 250, 340)), "{svg}");
        // From the knight, which is third in the hand, to 5e.
        let svg = diagram.arrow(Move::from_usi("N*5e").unwrap()).embedded().to_string();
        assert!(svg.contains("<path class=\"k-arrow\" d=\"M29.4 161.1L"), "{svg}");
        assert!(svg.contains("L230.0 200.0L"), "{svg}");
        // Straight ahead.
        let svg =
            SvgDiagram::new(&setup).arrow(Move::from_usi("8a8b").unwrap()).embedded().to_string();
        assert!(svg.contains("d=\"M113.0 46.0L113.0 66.0L120.0 66.0L110.0 80.0L100.0 66.0L107.0 66.0L107.0 46.0Z\""), "{svg}");
    }

    /// The signs of the sides are dark and light, also on a dark page.
    #[test]
    fn the_signs_have_the_same_colours_in_light_and_dark_mode() {
        let (light, dark) = STYLE.split_once("prefers-color-scheme: dark").unwrap();
        assert!(light.contains(".k-black { fill: #1f2328; stroke: #858b92; }"));
        assert!(light.contains(".k-white { fill: #ffffff; stroke: #858b92; stroke-width: 1.5; }"));
        assert!(!dark.contains(".k-black") && !dark.contains(".k-white"));
    }

    #[test]
    fn a_standalone_picture_has_no_external_references() {
        let setup: Setup = SFEN.parse().unwrap();
        let svg = SvgDiagram::new(&setup).to_string();
        assert_eq!(count(&svg, "http"), 1, "only the namespace of SVG");
        for piece in svg.split("href=\"#").skip(1) {
            let name = piece.split('"').next().unwrap();
            assert_eq!(count(&svg, &format!("id=\"{name}\"")), 1, "{name}");
        }
        for (tag, end) in
            [("<g", "</g>"), ("<text", "</text>"), ("<svg", "</svg>"), ("<style", "</style>")]
        {
            assert_eq!(
                count(&svg, &format!("{tag} ")) + count(&svg, &format!("{tag}>")),
                count(&svg, end),
                "{tag}"
            );
        }
        let embedded = SvgDiagram::new(&setup).embedded().to_string();
        assert!(svg.contains(embedded.split_once('\n').unwrap().1), "the same picture");
        assert!(Shapes.to_string().contains("id=\"k-fSp\""));
    }
}
