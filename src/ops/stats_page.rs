//! The report of `kyokumen stats` as an HTML page.

mod boards;
mod plot;
pub(crate) mod win_rates;

use self::boards::boards;
use self::plot::{Bar, bars, shares};
use self::win_rates::win_rates;
use crate::error::Error;
use crate::ops::page::{Page, escaped, figure, push, write_page};
use crate::ops::stats::{Bin, Distribution, ENDGAME_FROM, MIDDLEGAME_FROM, StatsReport};
use crate::records::sink::OutputPlan;
use crate::shogi::{HandKind, Piece, PieceKind};
use crate::storage::quantity::separated;

const STYLE: &str = include_str!("stats_page/page.css");

/// Writes the report as a self-contained HTML page with plots to the file of the plan.
///
/// # Errors
/// [`Error`] if the page cannot be written. In this case no file is left.
pub fn write_stats_page(plan: OutputPlan, report: &StatsReport) -> Result<(), Error> {
    write_page(plan, &page(report))
}

fn page(report: &StatsReport) -> String {
    let mut body = cards(report);
    body += "<div class=\"plots\">\n";
    for plot in plots(report).into_iter().flatten() {
        body += &plot;
    }
    body += "</div>\n";
    body += &boards(report);
    body += "<div class=\"tables\">\n";
    for table in [Some(distributions(report)), moves(report), Some(pieces(report)), unusual(report)]
    {
        body += table.as_deref().unwrap_or_default();
    }
    body += "</div>\n";
    body += &inputs(report);
    let (title, subtitle) = (title(report), subtitle(report));
    Page { title: &title, subtitle: &subtitle, styles: &[STYLE], body: &body, script: None }.html()
}

fn title(report: &StatsReport) -> String {
    match &report.inputs[..] {
        [input] => input.identity.file.clone(),
        inputs => format!("{} files of positions", inputs.len()),
    }
}

fn subtitle(report: &StatsReport) -> String {
    let mut formats: Vec<&str> =
        report.inputs.iter().map(|input| &*input.identity.format).collect();
    formats.sort_unstable();
    formats.dedup();
    format!("{} · {}", escaped(&formats.join(", ")), escaped(&report.program))
}

fn cards(report: &StatsReport) -> String {
    let good = report.good;
    let distinct = &report.distinct;
    let approximately = if distinct.is_exact { "" } else { "≈ " };
    let distinct_note = if distinct.is_exact {
        format!("{} of the records", percent(distinct.positions, good))
    } else {
        format!("estimated, ± {:.1} %", distinct.error_percent)
    };
    let filtered: u64 = report.filtered.values().sum();
    let others =
        [(filtered, "filtered"), (report.bad, "unreadable"), (report.comments, "comments")];
    let others = others.iter().filter(|(count, _)| *count > 0);
    let others: Vec<_> =
        others.map(|(count, name)| format!("{} {name}", separated(*count))).collect();
    let records_note =
        if others.is_empty() { "all readable".to_owned() } else { others.join(", ") };
    let positions = format!("{approximately}{}", separated(distinct.positions));
    let mut cards = vec![
        ("records", separated(report.records), records_note),
        ("distinct positions", positions, distinct_note),
        ("Black to move", percent(report.to_move.black, good), separated(report.to_move.black)),
        ("in check", percent(report.in_check, good), separated(report.in_check)),
    ];
    if let Some(evals) = &report.evals {
        let percentiles = evals.percentiles;
        let note = format!("half between {} and {}", percentiles.p25, percentiles.p75);
        cards.push(("median evaluation", format!("{} cp", percentiles.p50), note));
    }
    if let Some(plies) = &report.plies {
        let note = format!("from {} to {}", plies.least, plies.most);
        cards.push(("median ply", plies.percentiles.p50.to_string(), note));
    }
    let mut html = String::from("<section class=\"cards\">\n");
    for (name, value, note) in cards {
        push(
            &mut html,
            format_args!("<div><span>{name}</span><b>{value}</b><small>{note}</small></div>\n"),
        );
    }
    html + "</section>\n"
}

fn plots(report: &StatsReport) -> [Option<String>; 6] {
    let same_class = |_: &Bin| "bar";
    let phase = |bin: &Bin| match bin.from {
        from if from < MIDDLEGAME_FROM => "opening",
        from if from < ENDGAME_FROM => "middlegame",
        _ => "endgame",
    };
    let phases = &report.phases;
    let phase_shares = shares(&[
        ("opening", phases.opening, "opening"),
        ("middlegame", phases.middlegame, "middlegame"),
        ("endgame", phases.endgame, "endgame"),
    ]);
    let phases = phases.in_hand_or_promoted.as_ref().map(|distribution| {
        let caption = format!(
            "By pieces in hand or promoted. Opening: at most {}. Endgame: at least {ENDGAME_FROM}.",
            MIDDLEGAME_FROM - 1
        );
        let plot = histogram(distribution, "pieces in hand or promoted", phase);
        figure("Phase of the game", &caption, &(plot + &phase_shares))
    });
    let histograms = [
        (
            &report.evals,
            "Evaluations",
            "Seen from the side to move. The pale bars at the ends contain all values beyond.",
            "centipawns",
        ),
        (&report.plies, "Plies", "Move number of the next move", "ply"),
        (
            &report.material,
            "Material",
            "Material advantage of the side to move. A pawn is 90 points, a rook 990.",
            "points",
        ),
    ];
    let [evals, plies, material] = histograms.map(|(distribution, name, caption, label)| {
        let plot = histogram(distribution.as_ref()?, label, same_class);
        Some(figure(name, caption, &plot))
    });
    [evals, win_rates(report), plies, results(report), phases, material]
}

/// Bars of a distribution. The open bins at the ends have a separate class.
fn histogram(
    distribution: &Distribution,
    label: &'static str,
    class: impl Fn(&Bin) -> &'static str,
) -> String {
    let Distribution { bins, bin_width: width, records, .. } = distribution;
    let bar = |bin: &Bin| {
        let is_open = bin.to - bin.from >= *width;
        // An open bin is drawn as wide as the others, next to its neighbour.
        let from = if is_open && bin.to < 0 { bin.to + 1 - width } else { bin.from };
        let range = if bin.from == bin.to {
            bin.from.to_string()
        } else {
            format!("{} to {}", bin.from, bin.to)
        };
        Bar {
            from: f64::from(from),
            to: f64::from(from + width),
            records: bin.records,
            class: if is_open { "open" } else { class(bin) },
            title: format!(
                "{range}: {} ({})",
                separated(bin.records),
                percent(bin.records, *records)
            ),
        }
    };
    bars(&bins.iter().map(bar).collect::<Vec<_>>(), label)
}

fn results(report: &StatsReport) -> Option<String> {
    let results = &report.results;
    if results.none == report.good {
        return None;
    }
    let outcomes = &report.outcomes;
    let absolute = shares(&[
        ("Black won", results.black, "black"),
        ("draw", results.draw, "draw"),
        ("White won", results.white, "white"),
        ("no result", results.none, "none"),
    ]);
    let relative = shares(&[
        ("won", outcomes.win, "win"),
        ("drew", outcomes.draw, "draw"),
        ("lost", outcomes.loss, "loss"),
    ]);
    let content = format!("<h3>by colour</h3>\n{absolute}<h3>side to move</h3>\n{relative}");
    Some(figure("Results", "Results of the games", &content))
}

/// All columns but the first are right-aligned.
fn table(name: &str, heads: &[&str], rows: &[Vec<String>]) -> String {
    let mut html =
        format!("<section class=\"card\">\n<h2>{name}</h2>\n<div class=\"wide\"><table>\n<tr>");
    for head in heads {
        push(&mut html, format_args!("<th>{head}</th>"));
    }
    html += "</tr>\n";
    for row in rows {
        html += "<tr>";
        for cell in row {
            push(&mut html, format_args!("<td>{}</td>", escaped(cell)));
        }
        html += "</tr>\n";
    }
    html + "</table></div>\n</section>\n"
}

fn distributions(report: &StatsReport) -> String {
    let distributions = [
        ("evaluation, cp", &report.evals),
        ("ply", &report.plies),
        ("material, points", &report.material),
        ("pieces on the board", &report.pieces.on_board_in_position),
        ("pieces in hand", &report.pieces.in_hand_in_position),
        ("in hand or promoted", &report.phases.in_hand_or_promoted),
    ];
    let rows: Vec<Vec<String>> = distributions
        .into_iter()
        .filter_map(|(name, distribution)| {
            let it = distribution.as_ref()?;
            let p = it.percentiles;
            let mut row =
                vec![name.to_owned(), format!("{:.1}", it.mean), format!("{:.1}", it.deviation)];
            let numbers = [it.least, p.p1, p.p5, p.p25, p.p50, p.p75, p.p95, p.p99, it.most];
            row.extend(numbers.map(|number| number.to_string()));
            Some(row)
        })
        .collect();
    let heads = [
        "",
        "mean",
        "std. deviation",
        "minimum",
        "1 %",
        "5 %",
        "25 %",
        "50 %",
        "75 %",
        "95 %",
        "99 %",
        "maximum",
    ];
    table("Distributions", &heads, &rows)
}

fn moves(report: &StatsReport) -> Option<String> {
    let moves = &report.moves;
    if moves.none == report.good {
        return None;
    }
    let row = |name: &str, count: u64, whole: u64| {
        vec![name.to_owned(), separated(count), percent(count, whole)]
    };
    let rows = [
        row("legal", moves.legal, report.good),
        row("illegal", moves.illegal, report.good),
        row("none", moves.none, report.good),
        row("captures (of legal moves)", moves.captures, moves.legal),
        row("promotions (of legal moves)", moves.promotions, moves.legal),
        row("drops (of legal moves)", moves.drops, moves.legal),
    ];
    Some(table("Stored moves", &["", "records", ""], &rows))
}

fn pieces(report: &StatsReport) -> String {
    let pieces = &report.pieces;
    let name = |kind| Piece::new(crate::shogi::Color::Black, kind).to_string();
    let average = |counts: &std::collections::BTreeMap<String, u64>, name: &str| {
        let count = counts.get(name).copied();
        count.map_or("–".to_owned(), |count| per_position(count, report.good))
    };
    let row = |kind: HandKind| {
        let plain = name(kind.piece_kind());
        let promoted = kind.piece_kind().promoted().map(name).unwrap_or_default();
        vec![
            plain.clone(),
            average(&pieces.on_board, &plain),
            average(&pieces.on_board, &promoted),
            average(&pieces.in_hand, &plain),
        ]
    };
    let mut rows: Vec<Vec<String>> = HandKind::ALL.map(row).into();
    let king = name(PieceKind::King);
    rows.push(vec![king.clone(), average(&pieces.on_board, &king), "–".to_owned(), "–".to_owned()]);
    table("Pieces in a position, on average", &["", "on the board", "promoted", "in hand"], &rows)
}

fn unusual(report: &StatsReport) -> Option<String> {
    let row = |(name, &count): (&&str, &u64)| {
        vec![(*name).replace('_', " "), separated(count), percent(count, report.good)]
    };
    let rows: Vec<Vec<String>> = report.warnings.iter().map(row).collect();
    (!rows.is_empty()).then(|| table("Unusual", &["", "records", ""], &rows))
}

fn inputs(report: &StatsReport) -> String {
    let row = |input: &crate::records::account::InputEntry| {
        vec![
            input.identity.file.clone(),
            input.identity.format.clone(),
            separated(input.to - input.from),
            separated(input.bytes),
            input.sha256.map_or_else(String::new, |sum| sum.to_string()),
        ]
    };
    let rows: Vec<Vec<String>> = report.inputs.iter().map(row).collect();
    let heads =
        ["file", "format", "records", "uncompressed bytes", "SHA-256 of uncompressed bytes"];
    table("Inputs", &heads, &rows).replacen("card", "card inputs", 1)
}

/// Percentage with one decimal. 0 if `whole` is 0.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let percent = if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 };
    format!("{percent:.1} %")
}

/// Average per position with two decimals. 0 if there are no positions.
pub(crate) fn per_position(count: u64, positions: u64) -> String {
    let each = if positions == 0 { 0.0 } else { count as f64 / positions as f64 };
    format!("{each:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentage_of_zero_is_zero() {
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(0, 0), "0.0 %");
    }
}
