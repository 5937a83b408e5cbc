//! The report of `kyokumen stats` as an HTML page.

mod boards;
mod plot;
pub(crate) mod win_rates;

use self::boards::boards;
use self::plot::{Bar, bars, shares};
use self::win_rates::win_rates;
use crate::error::Error;
use crate::ops::language::{Language, in_language};
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
pub fn write_stats_page(
    plan: OutputPlan,
    report: &StatsReport,
    language: Language,
) -> Result<(), Error> {
    write_page(plan, &page(report, language))
}

fn page(report: &StatsReport, language: Language) -> String {
    let mut body = cards(report, language);
    body += "<div class=\"plots\">\n";
    for plot in plots(report, language).into_iter().flatten() {
        body += &plot;
    }
    body += "</div>\n";
    body += &boards(report, language);
    body += "<div class=\"tables\">\n";
    for table in [
        Some(distributions(report, language)),
        moves(report, language),
        Some(pieces(report, language)),
        unusual(report, language),
    ] {
        body += table.as_deref().unwrap_or_default();
    }
    body += "</div>\n";
    body += &inputs(report, language);
    let (title, subtitle) = (title(report, language), subtitle(report));
    let (title, subtitle, styles, body) = (&*title, &*subtitle, &[STYLE][..], &*body);
    Page { language, title, subtitle, styles, body, script: None }.html()
}

fn title(report: &StatsReport, language: Language) -> String {
    match &report.inputs[..] {
        [input] => input.identity.file.clone(),
        inputs => language.files(inputs.len()),
    }
}

fn subtitle(report: &StatsReport) -> String {
    let mut formats: Vec<&str> =
        report.inputs.iter().map(|input| &*input.identity.format).collect();
    formats.sort_unstable();
    formats.dedup();
    format!("{} · {}", escaped(&formats.join(", ")), escaped(&report.program))
}

fn cards(report: &StatsReport, language: Language) -> String {
    let good = report.good;
    let distinct = &report.distinct;
    let approximately = if distinct.is_exact { "" } else { "≈ " };
    let distinct_note = if distinct.is_exact {
        let share = percent(distinct.positions, good);
        in_language!(language, "{share} of the records", "全体の {share}")
    } else {
        let error = distinct.error_percent;
        in_language!(language, "estimated, ± {error:.1} %", "推定値、± {error:.1} %")
    };
    let records_note = records_note(report, language);
    let positions = format!("{approximately}{}", separated(distinct.positions));
    let mut cards =
        vec![(language.pick("records", "件数"), separated(report.records), records_note)];
    if let Some(games) = report.games {
        cards.push((language.pick("games", "対局数"), separated(games), String::new()));
    }
    cards.extend([
        (language.pick("distinct positions", "重複を除いた局面数"), positions, distinct_note),
        (
            language.pick("Black to move", "先手番"),
            percent(report.to_move.black, good),
            separated(report.to_move.black),
        ),
        (
            language.pick("in check", "王手"),
            percent(report.in_check, good),
            separated(report.in_check),
        ),
    ]);
    if let Some(evals) = &report.evals {
        let percentiles = evals.percentiles;
        let (low, high) = (percentiles.p25, percentiles.p75);
        let note = in_language!(language, "half between {low} and {high}", "半数が {low}～{high}");
        let name = language.pick("median evaluation", "評価値の中央値");
        cards.push((name, format!("{} cp", percentiles.p50), note));
    }
    if let Some(plies) = &report.plies {
        let (least, most) = (plies.least, plies.most);
        let note = in_language!(language, "from {least} to {most}", "{least}～{most}");
        let name = language.pick("median ply", "手数の中央値");
        cards.push((name, plies.percentiles.p50.to_string(), note));
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

/// What happened to the records that are not in the statistics.
fn records_note(report: &StatsReport, language: Language) -> String {
    let others = [
        (report.filtered.values().sum(), language.pick("filtered", "条件で除外")),
        (report.bad, language.pick("unreadable", "読めない")),
        (report.comments, language.pick("comments", "コメント")),
    ];
    let others = others.into_iter().filter(|(count, _)| *count > 0).map(|(count, name)| {
        let count = separated(count);
        in_language!(language, "{count} {name}", "{name} {count}件")
    });
    let others: Vec<_> = others.collect();
    if others.is_empty() {
        return language.pick("all readable", "すべて有効").to_owned();
    }
    others.join(language.pick(", ", "、"))
}

fn plots(report: &StatsReport, language: Language) -> [Option<String>; 6] {
    let same_class = |_: &Bin| "bar";
    let phase = |bin: &Bin| match bin.from {
        from if from < MIDDLEGAME_FROM => "opening",
        from if from < ENDGAME_FROM => "middlegame",
        _ => "endgame",
    };
    let phases = &report.phases;
    let phase_shares = shares(&[
        (language.pick("opening", "序盤"), phases.opening, "opening"),
        (language.pick("middlegame", "中盤"), phases.middlegame, "middlegame"),
        (language.pick("endgame", "終盤"), phases.endgame, "endgame"),
    ]);
    let phases = phases.in_hand_or_promoted.as_ref().map(|distribution| {
        let opening = MIDDLEGAME_FROM - 1;
        let caption = in_language!(
            language,
            "By pieces in hand or promoted. Opening: at most {opening}. Endgame: at least {ENDGAME_FROM}.",
            "持駒と成駒の枚数で分けます。{opening} 枚以下が序盤、{ENDGAME_FROM} 枚以上が終盤です。"
        );
        let label = language.pick("pieces in hand or promoted", "持駒と成駒の枚数");
        let plot = histogram(distribution, label, phase, language);
        let name = language.pick("Phase of the game", "進行度");
        figure(name, &caption, &(plot + &phase_shares))
    });
    let histograms = [
        (
            &report.evals,
            language.pick("Evaluations", "評価値"),
            language.pick(
                "Seen from the side to move. The pale bars at the ends contain all values beyond.",
                "手番側から見た値です。両端の淡い棒は、その先の値をすべて含みます。",
            ),
            language.pick("centipawns", "センチポーン"),
        ),
        (
            &report.plies,
            language.pick("Plies", "手数"),
            language.pick("Move number of the next move", "次の手が何手目か"),
            language.pick("ply", "手数"),
        ),
        (
            &report.material,
            language.pick("Material", "駒割り"),
            language.pick(
                "Material advantage of the side to move. A pawn is 90 points, a rook 990.",
                "手番側の駒得です。歩を 90 点、飛車を 990 点とします。",
            ),
            language.pick("points", "点"),
        ),
    ];
    let [evals, plies, material] = histograms.map(|(distribution, name, caption, label)| {
        let plot = histogram(distribution.as_ref()?, label, same_class, language);
        Some(figure(name, caption, &plot))
    });
    [evals, win_rates(report, language), plies, results(report, language), phases, material]
}

/// Bars of a distribution. The open bins at the ends have a separate class.
fn histogram(
    distribution: &Distribution,
    label: &'static str,
    class: impl Fn(&Bin) -> &'static str,
    language: Language,
) -> String {
    let Distribution { bins, bin_width: width, records, .. } = distribution;
    let bar = |bin: &Bin| {
        let is_open = bin.to - bin.from >= *width;
        // An open bin is drawn as wide as the others, next to its neighbour.
        let from = if is_open && bin.to < 0 { bin.to + 1 - width } else { bin.from };
        let range = if bin.from == bin.to {
            bin.from.to_string()
        } else {
            let Bin { from, to, .. } = bin;
            in_language!(language, "{from} to {to}", "{from}～{to}")
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
    bars(&bins.iter().map(bar).collect::<Vec<_>>(), label, language)
}

fn results(report: &StatsReport, language: Language) -> Option<String> {
    let results = &report.results;
    if results.none == report.good {
        return None;
    }
    let outcomes = &report.outcomes;
    let absolute = shares(&[
        (language.pick("Black won", "先手勝ち"), results.black, "black"),
        (language.pick("draw", "引き分け"), results.draw, "draw"),
        (language.pick("White won", "後手勝ち"), results.white, "white"),
        (language.pick("no result", "結果なし"), results.none, "none"),
    ]);
    let relative = shares(&[
        (language.pick("won", "勝ち"), outcomes.win, "win"),
        (language.pick("drew", "引き分け"), outcomes.draw, "draw"),
        (language.pick("lost", "負け"), outcomes.loss, "loss"),
    ]);
    let (by_colour, by_turn) =
        (language.pick("by colour", "先手・後手別"), language.pick("side to move", "手番側"));
    let content = format!("<h3>{by_colour}</h3>\n{absolute}<h3>{by_turn}</h3>\n{relative}");
    let (name, caption) =
        (language.pick("Results", "勝敗"), language.pick("Results of the games", "対局の結果"));
    Some(figure(name, caption, &content))
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

fn distributions(report: &StatsReport, language: Language) -> String {
    let distributions = [
        (language.pick("evaluation, cp", "評価値（cp）"), &report.evals),
        (language.pick("ply", "手数"), &report.plies),
        (language.pick("material, points", "駒割り（点）"), &report.material),
        (language.pick("pieces on the board", "盤上の駒"), &report.pieces.on_board_in_position),
        (language.pick("pieces in hand", "持駒"), &report.pieces.in_hand_in_position),
        (language.pick("in hand or promoted", "持駒と成駒"), &report.phases.in_hand_or_promoted),
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
        language.pick("mean", "平均"),
        language.pick("std. deviation", "標準偏差"),
        language.pick("minimum", "最小"),
        "1 %",
        "5 %",
        "25 %",
        "50 %",
        "75 %",
        "95 %",
        "99 %",
        language.pick("maximum", "最大"),
    ];
    table(language.pick("Distributions", "分布"), &heads, &rows)
}

fn moves(report: &StatsReport, language: Language) -> Option<String> {
    let moves = &report.moves;
    if moves.none == report.good {
        return None;
    }
    let row = |name: &str, count: u64, whole: u64| {
        vec![name.to_owned(), separated(count), percent(count, whole)]
    };
    let rows = [
        row(language.pick("legal", "合法手"), moves.legal, report.good),
        row(language.pick("illegal", "反則手"), moves.illegal, report.good),
        row(language.pick("none", "なし"), moves.none, report.good),
        row(
            language.pick("captures (of legal moves)", "駒を取る手（合法手のうち）"),
            moves.captures,
            moves.legal,
        ),
        row(
            language.pick("promotions (of legal moves)", "成る手（合法手のうち）"),
            moves.promotions,
            moves.legal,
        ),
        row(
            language.pick("drops (of legal moves)", "駒打ち（合法手のうち）"),
            moves.drops,
            moves.legal,
        ),
    ];
    let heads = ["", language.pick("records", "件数"), ""];
    Some(table(language.pick("Stored moves", "指し手"), &heads, &rows))
}

fn pieces(report: &StatsReport, language: Language) -> String {
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
    let heads = [
        "",
        language.pick("on the board", "盤上"),
        language.pick("promoted", "成駒"),
        language.pick("in hand", "持駒"),
    ];
    let name = language.pick("Pieces in a position, on average", "1局面あたりの駒数の平均");
    table(name, &heads, &rows)
}

fn unusual(report: &StatsReport, language: Language) -> Option<String> {
    let row = |(&name, &count): (&&'static str, &u64)| {
        vec![language.warning(name), separated(count), percent(count, report.good)]
    };
    let rows: Vec<Vec<String>> = report.warnings.iter().map(row).collect();
    let heads = ["", language.pick("records", "件数"), ""];
    (!rows.is_empty()).then(|| table(language.pick("Unusual", "注意"), &heads, &rows))
}

fn inputs(report: &StatsReport, language: Language) -> String {
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
    let heads = [
        language.pick("file", "ファイル"),
        language.pick("format", "形式"),
        language.pick("records", "件数"),
        language.pick("uncompressed bytes", "展開後のバイト数"),
        language.pick("SHA-256 of uncompressed bytes", "展開後の SHA-256"),
    ];
    table(language.pick("Inputs", "入力"), &heads, &rows).replacen("card", "card inputs", 1)
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
