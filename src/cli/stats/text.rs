//! The figures of `kyokumen stats` as text.
//!
//! Histograms are drawn with as many marks as a line holds.

use super::{grouped, per_position, percent};
use crate::pipeline::stats::{Bin, Distribution, StatsReport};

/// Lines of a histogram.
const MOST_ROWS: usize = 16;

/// Marks of its longest line.
const MOST_MARKS: u64 = 40;

pub(super) fn text(report: &StatsReport) -> String {
    let mut lines = summary(report);
    for (name, distribution) in [
        ("evaluation, cp", &report.evals),
        ("ply", &report.plies),
        ("pieces in hand or promoted", &report.phases.in_hand_or_promoted),
        ("material, points (a pawn has 90)", &report.material),
    ] {
        if let Some(distribution) = distribution {
            lines.push(String::new());
            lines.push(head(name, distribution));
            lines.extend(rows(&distribution.bins, distribution.records));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

fn summary(report: &StatsReport) -> Vec<String> {
    let good = report.good;
    let of_good = |part: u64| format!("{} ({})", grouped(part), percent(part, good));
    let distinct = &report.distinct;
    let different = if distinct.is_exact {
        of_good(distinct.positions)
    } else {
        format!(
            "about {} (± {:.1} %: more than --memory holds)",
            of_good(distinct.positions),
            distinct.error_percent
        )
    };
    let mut lines = vec![
        line("records", &records(report)),
        line("different", &different),
        line(
            "to move",
            &format!(
                "black {}, white {}",
                of_good(report.to_move.black),
                of_good(report.to_move.white)
            ),
        ),
        line("in check", &of_good(report.in_check)),
    ];
    let results = &report.results;
    if results.none < good {
        let [black, white, draw, none] =
            [results.black, results.white, results.draw, results.none].map(of_good);
        lines.push(line(
            "results",
            &format!("black won {black}, white won {white}, draw {draw}, none {none}"),
        ));
        let [win, draw, loss] =
            [report.outcomes.win, report.outcomes.draw, report.outcomes.loss].map(of_good);
        lines.push(line("side to move", &format!("won {win}, drew {draw}, lost {loss}")));
    }
    let moves = &report.moves;
    if moves.none < good {
        let of_legal = |part: u64| percent(part, moves.legal);
        lines.push(line(
            "moves",
            &format!(
                "{} legal, {} illegal, {} none; captures {}, promotions {}, drops {}",
                grouped(moves.legal),
                grouped(moves.illegal),
                grouped(moves.none),
                of_legal(moves.captures),
                of_legal(moves.promotions),
                of_legal(moves.drops)
            ),
        ));
    }
    let phases = &report.phases;
    let [opening, middlegame, endgame] =
        [phases.opening, phases.middlegame, phases.endgame].map(of_good);
    lines.push(line(
        "phase",
        &format!("opening {opening}, middlegame {middlegame}, endgame {endgame}"),
    ));
    let on_board = report.pieces.on_board.values().sum();
    let in_hand = report.pieces.in_hand.values().sum();
    lines.push(line(
        "pieces",
        &format!(
            "{} on the board, {} in hand, {} in the box, in a position",
            per_position(on_board, good),
            per_position(in_hand, good),
            per_position(report.pieces.in_box, good)
        ),
    ));
    let unusual = report.warnings.iter().map(|(name, &count)| format!("{name} {}", grouped(count)));
    let unusual: Vec<String> = unusual.collect();
    if !unusual.is_empty() {
        lines.push(line("unusual", &unusual.join(", ")));
    }
    lines
}

fn records(report: &StatsReport) -> String {
    let mut told = grouped(report.records);
    for (count, word) in [(report.bad, "bad"), (report.comments, "comments")] {
        if count > 0 {
            told.extend([", ", &grouped(count), " ", word]);
        }
    }
    told
}

fn line(name: &str, told: &str) -> String {
    format!("{name:<12}  {told}")
}

fn head(name: &str, distribution: &Distribution) -> String {
    let Distribution { least, most, mean, deviation, percentiles: p, .. } = distribution;
    format!(
        "{name}: {least} to {most}, mean {mean:.1}, deviation {deviation:.1}; \
         5 % {}, 25 % {}, 50 % {}, 75 % {}, 95 % {}",
        p.p5, p.p25, p.p50, p.p75, p.p95
    )
}

/// The bins, some of them together where they are too many.
fn rows(bins: &[Bin], records: u64) -> Vec<String> {
    let rows: Vec<Bin> = bins
        .chunks(bins.len().div_ceil(MOST_ROWS))
        .filter_map(|bins| {
            let (first, last) = (bins.first()?, bins.last()?);
            let records = bins.iter().map(|bin| bin.records).sum();
            Some(Bin { from: first.from, to: last.to, records })
        })
        .collect();
    let most = rows.iter().map(|row| row.records).max().unwrap_or(0).max(1);
    let row = |Bin { from, to, records: count }: &Bin| {
        let marks = (count * MOST_MARKS).div_ceil(most) as usize;
        let share = percent(*count, records);
        let count = grouped(*count);
        let drawn = format!("{from:>7} to {to:>6}  {count:>13}  {share:>7}  {}", "#".repeat(marks));
        drawn.trim_end().to_owned()
    };
    rows.iter().map(row).collect()
}
