//! The text report of `kyokumen stats`, with histograms.

use crate::cli::report::wrapped;
use crate::ops::language::Language;
use crate::ops::stats::{Bin, Distribution, StatsReport};
use crate::ops::stats_page::win_rates::scale_text;
use crate::ops::stats_page::{per_position, percent};
use crate::storage::quantity::separated;

/// Maximum number of lines of a histogram.
const MAX_ROWS: usize = 16;

/// Most marks of the longest line of a histogram.
const MAX_MARKS: usize = 40;

/// Width of the names before the figures.
const NAME_WIDTH: usize = 14;

/// Least widths of the numbers in a line of a histogram: both ends of a range, count and share.
const WIDTHS: [usize; 4] = [7, 6, 13, 7];

/// Width of a line of a histogram with these numbers, without its marks.
const BIN_WIDTH: usize = 43;

/// The report. Its lines are at most `width` characters wide.
pub(super) fn text(report: &StatsReport, width: usize) -> String {
    let mut lines = summary(report, width);
    for (name, distribution) in [
        ("evaluation, cp", &report.evals),
        ("ply", &report.plies),
        ("pieces in hand or promoted", &report.phases.in_hand_or_promoted),
        ("material, points (a pawn has 90)", &report.material),
    ] {
        if let Some(distribution) = distribution {
            lines.push(String::new());
            lines.push(wrapped(&head(name, distribution), width, 2));
            lines.extend(rows(&distribution.bins, distribution.records, width));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

fn summary(report: &StatsReport, width: usize) -> Vec<String> {
    let good = report.good;
    let to_move = &report.to_move;
    let sides = [("black", to_move.black), ("white", to_move.white)];
    let lines = [
        Some(("records", records(report))),
        report.games.map(|games| ("games", separated(games))),
        Some(("distinct", distinct(report))),
        Some(("to move", shares(&sides, good))),
        Some(("in check", share(report.in_check, good))),
        results(report).map(|text| ("results", text)),
        results(report).map(|_| ("side to move", outcomes(report))),
        report.eval_scale.as_ref().map(|scale| ("win rate", scale_text(scale, Language::English))),
        moves(report).map(|text| ("moves", text)),
        Some(("phase", phases(report))),
        Some(("pieces", pieces(report))),
        unusual(report).map(|text| ("unusual", text)),
    ];
    let lines = lines.into_iter().flatten();
    let lines = lines.map(|(name, text)| format!("{name:<NAME_WIDTH$}{text}"));
    lines.map(|line| wrapped(&line, width, NAME_WIDTH)).collect()
}

/// `12 (34.5 %)`
fn share(part: u64, whole: u64) -> String {
    format!("{} ({})", separated(part), percent(part, whole))
}

fn shares(parts: &[(&str, u64)], whole: u64) -> String {
    let texts = parts.iter().map(|&(name, part)| format!("{name} {}", share(part, whole)));
    texts.collect::<Vec<_>>().join(", ")
}

fn distinct(report: &StatsReport) -> String {
    let distinct = &report.distinct;
    let text = share(distinct.positions, report.good);
    if distinct.is_exact {
        return text;
    }
    format!("about {text} (± {:.1} %: estimated, as --memory is too small)", distinct.error_percent)
}

/// `None` if no record has a result.
fn results(report: &StatsReport) -> Option<String> {
    let results = &report.results;
    let parts = [
        ("black won", results.black),
        ("white won", results.white),
        ("draw", results.draw),
        ("none", results.none),
    ];
    (results.none < report.good).then(|| shares(&parts, report.good))
}

fn outcomes(report: &StatsReport) -> String {
    let outcomes = &report.outcomes;
    let parts = [("won", outcomes.win), ("drew", outcomes.draw), ("lost", outcomes.loss)];
    shares(&parts, report.good)
}

/// `None` if no record has a move.
fn moves(report: &StatsReport) -> Option<String> {
    let moves = &report.moves;
    if moves.none == report.good {
        return None;
    }
    let [legal, illegal, none] = [moves.legal, moves.illegal, moves.none].map(separated);
    let [captures, promotions, drops] =
        [moves.captures, moves.promotions, moves.drops].map(|part| percent(part, moves.legal));
    Some(format!(
        "{legal} legal, {illegal} illegal, {none} none; \
         captures {captures}, promotions {promotions}, drops {drops}"
    ))
}

fn phases(report: &StatsReport) -> String {
    let phases = &report.phases;
    let parts = [
        ("opening", phases.opening),
        ("middlegame", phases.middlegame),
        ("endgame", phases.endgame),
    ];
    shares(&parts, report.good)
}

fn pieces(report: &StatsReport) -> String {
    let pieces = &report.pieces;
    let counts = [pieces.on_board.values().sum(), pieces.in_hand.values().sum(), pieces.in_box];
    let [on_board, in_hand, in_box] = counts.map(|count| per_position(count, report.good));
    format!("per position {on_board} on the board, {in_hand} in hand, {in_box} in the box")
}

/// `None` if there are no warnings.
fn unusual(report: &StatsReport) -> Option<String> {
    let counts = report.warnings.iter();
    let texts: Vec<String> =
        counts.map(|(name, &count)| format!("{name} {}", separated(count))).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

fn records(report: &StatsReport) -> String {
    // The percentages are of the good records.
    let mut text = separated(report.good);
    if report.good != report.records {
        text.extend([" of ", &separated(report.records)]);
    }
    let filtered = report.filtered.values().sum();
    for (count, word) in
        [(filtered, "filtered"), (report.bad, "bad"), (report.comments, "comments")]
    {
        if count > 0 {
            text.extend([", ", &separated(count), " ", word]);
        }
    }
    text
}

fn head(name: &str, distribution: &Distribution) -> String {
    let Distribution { least, most, mean, deviation, percentiles: p, .. } = distribution;
    format!(
        "{name}: {least} to {most}, mean {mean:.1}, deviation {deviation:.1}; \
         percentiles: 5th {}, 25th {}, 50th {}, 75th {}, 95th {}",
        p.p5, p.p25, p.p50, p.p75, p.p95
    )
}

/// Draws the bins, joining neighbours if there are more than [`MAX_ROWS`].
fn rows(bins: &[Bin], records: u64, width: usize) -> Vec<String> {
    let rows: Vec<Bin> = bins
        .chunks(bins.len().div_ceil(MAX_ROWS))
        .filter_map(|bins| {
            let (first, last) = (bins.first()?, bins.last()?);
            let records = bins.iter().map(|bin| bin.records).sum();
            Some(Bin { from: first.from, to: last.to, records })
        })
        .collect();
    let numbers = |Bin { from, to, records: count }: &Bin| {
        [from.to_string(), to.to_string(), separated(*count), percent(*count, records)]
    };
    let mut widths = WIDTHS;
    if width < BIN_WIDTH + MAX_MARKS / 2 {
        // A narrow terminal has no room for the empty columns before the numbers.
        widths = [0; 4];
        for row in rows.iter().map(numbers) {
            widths = std::array::from_fn(|at| widths[at].max(row[at].len()));
        }
    }
    let used = BIN_WIDTH - WIDTHS.iter().sum::<usize>() + widths.iter().sum::<usize>();
    let most_marks = MAX_MARKS.min(width.saturating_sub(used)) as u64;
    let most = rows.iter().map(|row| row.records).max().unwrap_or(0).max(1);
    let row = |bin: &Bin| {
        let [from, to, count, share] = numbers(bin);
        let [a, b, c, d] = widths;
        let marks = "#".repeat((bin.records * most_marks).div_ceil(most) as usize);
        let drawn = format!("{from:>a$} to {to:>b$}  {count:>c$}  {share:>d$}  {marks}");
        drawn.trim_end().to_owned()
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::engine::progress::Progress;
    use crate::ops::stats::{StatsPlan, StatsRequest, stats};
    use crate::records::filters::RecordFilters;
    use crate::storage::memory::Memory;

    #[test]
    fn the_report_fits_the_terminal() {
        let request = StatsRequest {
            inputs: vec!["data/sample.psv".into()],
            from: None,
            dialect: None,
            filters: RecordFilters { max_ply: Some(60), ..RecordFilters::default() },
            limit: None,
            memory: Memory::gib(1),
            page: None,
            force: false,
            threads: 1,
        };
        let plan = StatsPlan::new(request).unwrap();
        let report = stats(plan, &mut Progress::none(), &AtomicBool::new(false)).unwrap();
        let wide = text(&report, usize::MAX);
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for width in [120, 80, 40] {
            let narrow = text(&report, width);
            assert!(narrow.lines().all(|line| line.chars().count() <= width), "{narrow}");
            // Only spaces and the lengths of the bars differ.
            let is_figure = |word: &String| !word.starts_with('#');
            let figures = words(&narrow).into_iter().filter(is_figure);
            assert!(figures.eq(words(&wide).into_iter().filter(is_figure)), "{narrow}");
            assert!(narrow.contains(" ##"), "{narrow}");
        }
        assert_eq!(wide.lines().next(), Some("records       835 of 2,000, 1,165 filtered"));
    }

    #[test]
    fn a_narrow_histogram_has_no_empty_columns() {
        let bin = |from, records| Bin { from, to: from + 99, records };
        let rows = |width| rows(&[bin(-100, 1500), bin(0, 500)], 2000, width);
        let wide =
            "   -100 to     -1          1,500   75.0 %  ########################################";
        assert_eq!(rows(usize::MAX)[0], wide);
        assert_eq!(rows(63)[0], wide[..63]);
        assert_eq!(
            rows(40),
            ["-100 to -1  1,500  75.0 %  #############", "   0 to 99    500  25.0 %  #####",]
        );
    }
}
