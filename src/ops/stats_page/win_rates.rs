//! Win rate by evaluation: the observed rates and the fitted curve.

use super::plot::{Axis, Band, Curve, Point, points};
use crate::format::EVAL_SCALE;
use crate::ops::language::{Language, in_language};
use crate::ops::page::figure;
use crate::ops::stats::{EvalScale, NoScale, StatsReport};
use crate::storage::quantity::separated;

/// Plots the observed win rates, the fitted curve and the curve of dlshogi. `None` if no record has both a result and
/// an evaluation that is neither 0 nor a mate.
pub(super) fn win_rates(report: &StatsReport, language: Language) -> Option<String> {
    let scale =
        report.eval_scale.as_ref().filter(|scale| scale.why_none != Some(NoScale::NoEvals))?;
    let width = report.evals.as_ref()?.bin_width;
    let closed = report.outcomes_by_eval.iter().filter(|bin| bin.to - bin.from < width);
    let observed: Vec<Point> = closed
        .map(|bin| {
            let (rate, records) = (bin.win_rate, bin.outcomes.records());
            let title = in_language!(
                language,
                "{} to {} cp: {:.3} ({:.3} to {:.3}) of {}",
                "{}～{} cp: {:.3}（{:.3}～{:.3}）、{}",
                bin.from,
                bin.to,
                rate.win_rate,
                rate.low,
                rate.high,
                language.records(records)
            );
            let x = f64::midpoint(bin.from.into(), (bin.to + 1).into());
            Point { x, y: rate.win_rate, low: rate.low, high: rate.high, title }
        })
        .collect();
    let (from, to) = (observed.first()?.x.min(-100.0), observed.last()?.x.max(100.0));
    let x = Axis { from, to, label: language.pick("centipawns", "センチポーン") };
    let y = Axis { from: 0.0, to: 1.0, label: language.pick("win rate", "勝率") };
    let known_scale = f64::from(EVAL_SCALE);
    let known = move |cp: f64| win_rate(cp, known_scale);
    let mut curves = vec![Curve { class: "known", value: &known }];
    let fitted = scale.scale_cp.map(|scale| move |cp: f64| win_rate(cp, scale));
    if let Some(fitted) = &fitted {
        curves.push(Curve { class: "fitted", value: fitted });
    }
    let ends = scale.low_cp.zip(scale.high_cp);
    let ends = ends.map(|ends| [ends.0, ends.1].map(|scale| move |cp: f64| win_rate(cp, scale)));
    let band = ends.as_ref().map(|[low, high]| Band { low, high });
    let plot = points(&observed, &x, &y, &curves, band.as_ref());
    let (observed, word) = (
        language.pick("observed, with 95 % interval", "観測値と 95 % 信頼区間"),
        language.pick("scale", "係数"),
    );
    let fitted = scale.scale_cp.map_or_else(String::new, |scale| {
        let fitted = language.pick("fitted", "当てはめ");
        format!("<span><i class=\"line\"></i>{fitted}: {word} <b>{scale:.1}</b></span> ")
    });
    let legend = format!(
        "<p class=\"legend\"><span><i class=\"dot\"></i>{observed}</span> {fitted}\
         <span><i class=\"line dashed\"></i>dlshogi: {word} {EVAL_SCALE}</span></p>\n"
    );
    let caption = language.pick(
        "Win rate of the side to move, counting a draw as half a win, and the curve \
         <span class=\"formula\">1 / (1 + e<sup>−evaluation/scale</sup>)</span>",
        "手番側の勝率（引き分けは 0.5 勝）と曲線 \
         <span class=\"formula\">1 / (1 + e<sup>−評価値/係数</sup>)</span>",
    );
    let note = format!("<p class=\"note\">{}</p>\n", scale_text(scale, language));
    let name = language.pick("Win rate by evaluation", "評価値と勝率");
    Some(figure(name, caption, &(plot + &legend + &note)))
}

/// The scale and its interval in words.
pub(crate) fn scale_text(it: &EvalScale, language: Language) -> String {
    let fitted = if let (Some(scale), Some(low)) = (it.scale_cp, it.low_cp) {
        let none = language.pick("no upper bound", "上限なし");
        let high = it.high_cp.map_or(none.to_owned(), |high| format!("{high:.1}"));
        in_language!(
            language,
            "1 / (1 + e^(−evaluation / {scale:.1})) fits best (95 % interval of the scale: {low:.1} to {high}, assuming independent records)",
            "1 / (1 + e^(−評価値 / {scale:.1})) が最もよく合う（係数の 95 % 信頼区間は {low:.1}～{high}。各レコードを独立とみなした場合）"
        )
    } else {
        let why = it.why_none.map_or("", |why| reason(why, language));
        in_language!(
            language,
            "no curve can be fitted, because {why}",
            "曲線を当てはめられない（{why}）"
        )
    };
    let records = language.records(it.records);
    let mut text = in_language!(language, "{fitted}; {records}", "{fitted}。{records}");
    let mates = if it.mates == 1 { "mate left out" } else { "mates left out" };
    for (count, label) in [
        (it.eval_0, language.pick("of them with evaluation 0", "うち評価値 0 のもの: ")),
        (it.mates, language.pick(mates, "除外した詰みの評価値: ")),
        (it.incomplete, language.pick("without evaluation or result", "評価値か勝敗がない: ")),
    ] {
        if count > 0 {
            let count = separated(count);
            text += &in_language!(language, ", {count} {label}", "、{label}{count}件");
        }
    }
    text
}

fn reason(none: NoScale, language: Language) -> &'static str {
    match none {
        NoScale::NoEvals => {
            language.pick("every evaluation is 0 or a mate", "評価値がすべて 0 か詰み")
        }
        NoScale::NotRising => language.pick(
            "the win rate does not rise with the evaluation",
            "評価値が高くても勝率が上がらない",
        ),
        NoScale::Separated => language
            .pick("the evaluations predict the results perfectly", "評価値で勝敗が完全に分かれる"),
    }
}

fn win_rate(eval_cp: f64, scale_cp: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-eval_cp / scale_cp))
}
