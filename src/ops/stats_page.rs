//! The figures of `kyokumen stats` as a page of HTML.

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

/// Writes the figures as a page with plots that needs nothing but a browser, to where the plan of the reading says.
///
/// # Errors
/// [`Error`] if the page cannot be written; then there is none.
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
    format!("{} · told by {}", escaped(&formats.join(", ")), escaped(&report.program))
}

fn cards(report: &StatsReport) -> String {
    let good = report.good;
    let distinct = &report.distinct;
    let about = if distinct.is_exact { "" } else { "≈ " };
    let how = if distinct.is_exact {
        format!("{} of the records", percent(distinct.positions, good))
    } else {
        format!("estimated, ± {:.1} %", distinct.error_percent)
    };
    let filtered: u64 = report.filtered.values().sum();
    let others =
        [(filtered, "filtered"), (report.bad, "cannot be read"), (report.comments, "comments")];
    let others = others.iter().filter(|(count, _)| *count > 0);
    let others: Vec<_> =
        others.map(|(count, word)| format!("{} {word}", separated(*count))).collect();
    let bad = if others.is_empty() { "all of them readable".to_owned() } else { others.join(", ") };
    let mut cards = vec![
        ("records", separated(report.records), bad),
        ("different positions", format!("{about}{}", separated(distinct.positions)), how),
        ("Black to move", percent(report.to_move.black, good), separated(report.to_move.black)),
        ("in check", percent(report.in_check, good), separated(report.in_check)),
    ];
    if let Some(evals) = &report.evals {
        let half = evals.percentiles;
        let told = format!("half between {} and {}", half.p25, half.p75);
        cards.push(("median evaluation", format!("{} cp", half.p50), told));
    }
    if let Some(plies) = &report.plies {
        let told = format!("from {} to {}", plies.least, plies.most);
        cards.push(("median ply", plies.percentiles.p50.to_string(), told));
    }
    let mut html = String::from("<section class=\"cards\">\n");
    for (name, value, told) in cards {
        push(
            &mut html,
            format_args!("<div><span>{name}</span><b>{value}</b><small>{told}</small></div>\n"),
        );
    }
    html + "</section>\n"
}

fn plots(report: &StatsReport) -> [Option<String>; 6] {
    let plain = |_: &Bin| "bar";
    let phase = |bin: &Bin| match bin.from {
        from if from < MIDDLEGAME_FROM => "opening",
        from if from < ENDGAME_FROM => "middlegame",
        _ => "endgame",
    };
    let phases = &report.phases;
    let named = shares(&[
        ("opening", phases.opening, "opening"),
        ("middlegame", phases.middlegame, "middlegame"),
        ("endgame", phases.endgame, "endgame"),
    ]);
    let phases = phases.in_hand_or_promoted.as_ref().map(|distribution| {
        let told = format!(
            "Opening up to {} pieces in hand or promoted, endgame from {ENDGAME_FROM} on",
            MIDDLEGAME_FROM - 1
        );
        let plot = histogram(distribution, "pieces in hand or promoted", phase);
        figure("Phase of the game", &told, &(plot + &named))
    });
    let histograms = [
        (
            &report.evals,
            "Evaluations",
            "Seen from the side to move; the pale bars hold all that lies beyond",
            "centipawns",
        ),
        (&report.plies, "Plies", "Move number of the next move", "ply"),
        (
            &report.material,
            "Material",
            "What the pieces of the side to move are worth more: a pawn 90 points, a rook 990",
            "points",
        ),
    ];
    let [evals, plies, material] = histograms.map(|(distribution, name, told, label)| {
        let plot = histogram(distribution.as_ref()?, label, plain);
        Some(figure(name, told, &plot))
    });
    [evals, win_rates(report), plies, results(report), phases, material]
}

/// Bars of a distribution. Open bins at either end have a class of their own.
fn histogram(
    distribution: &Distribution,
    label: &'static str,
    class: impl Fn(&Bin) -> &'static str,
) -> String {
    let Distribution { bins, bin_width: width, records, .. } = distribution;
    let bar = |bin: &Bin| {
        let is_open = bin.to - bin.from >= *width;
        // An open bin is drawn as wide as the others, beside its neighbour.
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
        ("not said", results.none, "none"),
    ]);
    let relative = shares(&[
        ("won", outcomes.win, "win"),
        ("drew", outcomes.draw, "draw"),
        ("lost", outcomes.loss, "loss"),
    ]);
    let content = format!("<h3>by side</h3>\n{absolute}<h3>the side to move</h3>\n{relative}");
    Some(figure("Results", "How the games of the records ended", &content))
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
    let told = [
        ("evaluation, cp", &report.evals),
        ("ply", &report.plies),
        ("material, points", &report.material),
        ("pieces on the board", &report.pieces.on_board_in_position),
        ("pieces in hand", &report.pieces.in_hand_in_position),
        ("in hand or promoted", &report.phases.in_hand_or_promoted),
    ];
    let rows: Vec<Vec<String>> = told
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
        "deviation",
        "least",
        "1 %",
        "5 %",
        "25 %",
        "50 %",
        "75 %",
        "95 %",
        "99 %",
        "most",
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
        row("captures, of the legal", moves.captures, moves.legal),
        row("promotions", moves.promotions, moves.legal),
        row("drops", moves.drops, moves.legal),
    ];
    Some(table("Stored moves", &["", "records", ""], &rows))
}

fn pieces(report: &StatsReport) -> String {
    let pieces = &report.pieces;
    let name = |kind| Piece::new(crate::shogi::Color::Black, kind).to_string();
    let of = |counts: &std::collections::BTreeMap<String, u64>, name: &str| {
        let count = counts.get(name).copied();
        count.map_or("–".to_owned(), |count| per_position(count, report.good))
    };
    let row = |kind: HandKind| {
        let plain = name(kind.piece_kind());
        let promoted = kind.piece_kind().promoted().map(name).unwrap_or_default();
        vec![
            plain.clone(),
            of(&pieces.on_board, &plain),
            of(&pieces.on_board, &promoted),
            of(&pieces.in_hand, &plain),
        ]
    };
    let mut rows: Vec<Vec<String>> = HandKind::ALL.map(row).into();
    let king = name(PieceKind::King);
    rows.push(vec![king.clone(), of(&pieces.on_board, &king), "–".to_owned(), "–".to_owned()]);
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
    let heads = ["file", "format", "records", "bytes, uncompressed", "SHA-256 of these"];
    table("Inputs", &heads, &rows).replacen("card", "card inputs", 1)
}

/// Per cent with one decimal; 0 if `whole` is 0.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let percent = if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 };
    format!("{percent:.1} %")
}

/// With two decimals; 0 if there are no positions.
pub(crate) fn per_position(count: u64, positions: u64) -> String {
    let each = if positions == 0 { 0.0 } else { count as f64 / positions as f64 };
    format!("{each:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_nothing_is_none_of_it() {
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(0, 0), "0.0 %");
    }
}
