//! Win rate by evaluation: the observed rates and the fitted curve.

use super::plot::{Axis, Band, Curve, Point, points};
use crate::format::EVAL_SCALE;
use crate::ops::page::figure;
use crate::ops::stats::{EvalScale, NoScale, StatsReport};
use crate::storage::quantity::{separated, separated_quantity};

/// Plots the observed win rates, the fitted curve and the curve of dlshogi. `None` if no record has both a result and
/// an evaluation that is neither 0 nor a mate.
pub(super) fn win_rates(report: &StatsReport) -> Option<String> {
    let scale =
        report.eval_scale.as_ref().filter(|scale| scale.why_none != Some(NoScale::NoEvals))?;
    let width = report.evals.as_ref()?.bin_width;
    let closed = report.outcomes_by_eval.iter().filter(|bin| bin.to - bin.from < width);
    let observed: Vec<Point> = closed
        .map(|bin| {
            let (rate, records) = (bin.win_rate, bin.outcomes.records());
            let title = format!(
                "{} to {} cp: {:.3} ({:.3} to {:.3}) of {}",
                bin.from,
                bin.to,
                rate.win_rate,
                rate.low,
                rate.high,
                separated_quantity(records, "record")
            );
            let x = f64::midpoint(bin.from.into(), (bin.to + 1).into());
            Point { x, y: rate.win_rate, low: rate.low, high: rate.high, title }
        })
        .collect();
    let (from, to) = (observed.first()?.x.min(-100.0), observed.last()?.x.max(100.0));
    let x = Axis { from, to, label: "centipawns" };
    let y = Axis { from: 0.0, to: 1.0, label: "win rate" };
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
    let legend = format!(
        "<p class=\"legend\"><span><i class=\"dot\"></i>observed, 95 %</span> {}\
         <span><i class=\"line dashed\"></i>dlshogi: scale {EVAL_SCALE}</span></p>\n",
        scale.scale_cp.map_or_else(String::new, |scale| {
            format!("<span><i class=\"line\"></i>fitted: scale <b>{scale:.1}</b></span> ")
        })
    );
    let caption = "Win rate of the side to move, counting a draw as half a win, and the curve \
                   <span class=\"formula\">1 / (1 + e<sup>−evaluation/scale</sup>)</span>";
    let note = format!("<p class=\"note\">{}</p>\n", scale_text(scale));
    Some(figure("Win rate by evaluation", caption, &(plot + &legend + &note)))
}

pub(crate) fn scale_text(it: &EvalScale) -> String {
    let fitted = match (it.scale_cp, it.low_cp, it.high_cp) {
        (Some(scale), Some(low), high) => {
            let high = high.map_or("no upper bound".to_owned(), |high| format!("{high:.1}"));
            format!(
                "1 / (1 + e^(−evaluation / {scale:.1})) fits best (95 %: {low:.1} to {high}, assuming independent records)"
            )
        }
        _ => format!("no curve can be fitted, because {}", it.why_none.map_or("", reason)),
    };
    let mut text = format!("{fitted}; {}", separated_quantity(it.records, "record"));
    for (count, label) in [
        (it.eval_0, "of them with evaluation 0"),
        (it.mates, if it.mates == 1 { "mate left out" } else { "mates left out" }),
        (it.incomplete, "without evaluation or result"),
    ] {
        if count > 0 {
            text.extend([", ", &separated(count), " ", label]);
        }
    }
    text
}

const fn reason(none: NoScale) -> &'static str {
    match none {
        NoScale::NoEvals => "every evaluation is 0 or a mate",
        NoScale::NotRising => "the win rate does not rise with the evaluation",
        NoScale::Separated => "the evaluations predict the results perfectly",
    }
}

fn win_rate(eval_cp: f64, scale_cp: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-eval_cp / scale_cp))
}
