//! Heat maps of the board.

use super::percent;
use crate::ops::language::{Language, in_language};
use crate::ops::page::{figure, push};
use crate::ops::stats::StatsReport;
use crate::shogi::Square;
use crate::storage::quantity::separated;

const SQUARE: u32 = 32;
const LEFT: u32 = 4;
const TOP: u32 = 18;
const SIDE: u32 = 9 * SQUARE;

const RANKS: [char; 9] = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
const NUMERALS: [char; 9] = ['一', '二', '三', '四', '五', '六', '七', '八', '九'];

/// Boards without counts are left out.
pub(super) fn boards(report: &StatsReport, language: Language) -> String {
    let it = &report.squares;
    let (own, black, white) = (
        language.pick(
            "Seen by the side to move, its camp at the bottom",
            "手番側から見た図です（手番側の陣が下）",
        ),
        language.pick("Black's camp at the bottom", "先手の陣が下です"),
        language.pick("White's camp at the top", "後手の陣が上です"),
    );
    let positions = language.pick("positions", "局面");
    let moves = language.pick("moves of pieces on the board", "手（盤上の駒の移動）");
    let drops = language.pick("drops", "手（駒打ち）");
    let all = [
        (language.pick("King of the side to move", "手番側の玉"), own, positions, &it.own_king),
        (language.pick("King of the opponent", "相手側の玉"), own, positions, &it.opponent_king),
        (language.pick("Destinations of moves", "移動先"), own, moves, &it.moves_to),
        (language.pick("Black's king", "先手玉"), black, positions, &it.black_king),
        (language.pick("White's king", "後手玉"), white, positions, &it.white_king),
        (language.pick("Destinations of drops", "駒を打つ位置"), own, drops, &it.drops_to),
    ];
    let mut html = String::from("<div class=\"boards\">\n");
    for (name, perspective, unit, counts) in all {
        let all = counts.iter().sum();
        if all > 0 {
            let number = separated(all);
            let caption = in_language!(
                language,
                "{perspective}. Percentage of {number} {unit}.",
                "{perspective}。{number} {unit}に占める割合（%）です。"
            );
            html += &figure(name, &caption, &board(name, counts, all, language));
        }
    }
    html + "</div>\n"
}

fn board(name: &str, counts: &[u64], all: u64, language: Language) -> String {
    let (width, height) = (LEFT + SIDE + 16, TOP + SIDE + 4);
    let mut svg =
        format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{name}\">\n");
    for number in 0..9 {
        let (x, y) = corner(Square::from_file_rank(number, number));
        let ranks = language.pick(RANKS, NUMERALS);
        let (file, rank) = (number + 1, ranks[usize::from(number)]);
        let (middle, right, baseline) = (x + SQUARE / 2, LEFT + SIDE + 10, y + SQUARE / 2 + 4);
        push(
            &mut svg,
            format_args!(
                "<text class=\"middle\" x=\"{middle}\" y=\"12\">{file}</text>\
                 <text class=\"middle\" x=\"{right}\" y=\"{baseline}\">{rank}</text>\n"
            ),
        );
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    for (square, &count) in Square::all().zip(counts) {
        let (x, y) = corner(square);
        let (side, title) =
            (SQUARE, format!("{square}: {} ({})", separated(count), percent(count, all)));
        // The square root keeps rare squares visible.
        let heat = (count as f64 / most as f64).sqrt();
        push(
            &mut svg,
            format_args!(
                "<g><title>{title}</title>\
                 <rect class=\"cell\" x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\"/>"
            ),
        );
        if count > 0 {
            push(
                &mut svg,
                format_args!(
                    "<rect class=\"heat\" fill-opacity=\"{:.3}\" x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\"/>\
                     <text class=\"middle share\" x=\"{}\" y=\"{}\">{}</text>",
                    heat * 0.9,
                    x + SQUARE / 2,
                    y + SQUARE / 2 + 4,
                    share(count, all)
                ),
            );
        }
        svg += "</g>\n";
    }
    svg + "</svg>\n"
}

/// Top left corner.
fn corner(square: Square) -> (u32, u32) {
    (LEFT + SQUARE * u32::from(8 - square.file()), TOP + SQUARE * u32::from(square.rank()))
}

/// Percentage with as many decimals as fit into a square. Empty if it rounds to 0.0.
fn share(count: u64, all: u64) -> String {
    let percent = count as f64 * 100.0 / all as f64;
    match percent {
        9.95.. => format!("{percent:.0}"),
        0.05.. => format!("{percent:.1}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_fit_into_squares() {
        let shares = [1, 4, 5, 99, 100, 994, 995, 10_000].map(|count| share(count, 10_000));
        assert_eq!(shares, ["", "", "0.1", "1.0", "1.0", "9.9", "10", "100"]);
    }

    #[test]
    fn percentage_is_drawn_in_its_square() {
        let mut counts = [0; Square::COUNT];
        counts[Square::from_file_rank(6, 5).index()] = 3;
        let svg = board("", &counts, 4, Language::English);
        // 7f is in the third column and the sixth row.
        assert!(svg.contains("<text class=\"middle share\" x=\"84\" y=\"198\">75</text>"), "{svg}");
        assert!(
            svg.contains("<title>7f: 3 (75.0 %)</title>") && svg.matches("\"heat\"").count() == 1
        );
    }
}
