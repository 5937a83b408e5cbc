//! SVG plots: histograms, curves and bars of shares.
//!
//! Colours are classes of the page's style sheet, so they follow the light or dark theme.

use crate::ops::language::Language;
use crate::ops::page::{escaped, push};
use crate::storage::quantity::separated;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 270.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;

/// Approximate number of marks on an axis.
const MARKS: f64 = 5.0;

pub(super) struct Bar {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) records: u64,
    pub(super) class: &'static str,
    /// Tooltip.
    pub(super) title: String,
}

/// A measured value with its interval.
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Tooltip.
    pub(super) title: String,
}

pub(super) struct Curve<'a> {
    pub(super) class: &'static str,
    pub(super) value: &'a dyn Fn(f64) -> f64,
}

/// The area between two functions.
pub(super) struct Band<'a> {
    pub(super) low: &'a dyn Fn(f64) -> f64,
    pub(super) high: &'a dyn Fn(f64) -> f64,
}

pub(super) struct Axis {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) label: &'static str,
}

/// Draws a histogram.
pub(super) fn bars(bars: &[Bar], label: &'static str, language: Language) -> String {
    let from = bars.iter().map(|bar| bar.from).fold(f64::INFINITY, f64::min);
    let to = bars.iter().map(|bar| bar.to).fold(f64::NEG_INFINITY, f64::max);
    let most = bars.iter().map(|bar| bar.records).max().unwrap_or(0).max(1);
    let x = Axis { from, to, label };
    let y = Axis { from: 0.0, to: most as f64, label: language.pick("records", "件数") };
    let mut svg = open(&x, &y, |value| separated(whole(value)));
    for bar in bars.iter().filter(|bar| bar.records > 0) {
        let (left, right) = (x.across(bar.from), x.across(bar.to));
        // Leave a gap between wide bars.
        let gap = if right - left > 4.0 { 1.0 } else { 0.0 };
        let (top, width) = (y.up(bar.records as f64), (right - left - gap).max(0.5));
        let height = (y.up(0.0) - top).max(0.5);
        let (class, title) = (bar.class, escaped(&bar.title));
        push(
            &mut svg,
            format_args!(
                "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
                 height=\"{height:.1}\"><title>{title}</title></rect>\n"
            ),
        );
    }
    svg + "</svg>\n"
}

/// Draws measured values and the curves to compare them with.
pub(super) fn points(
    points: &[Point],
    x: &Axis,
    y: &Axis,
    curves: &[Curve<'_>],
    band: Option<&Band<'_>>,
) -> String {
    let mut svg = open(x, y, |value| format!("{value:.1}"));
    let steps = || (0..=100).map(|step| x.from + (x.to - x.from) * f64::from(step) / 100.0);
    if let Some(Band { low, high }) = band {
        let lower_edge = steps().map(|at| (x.across(at), y.up(low(at))));
        let upper_edge = steps().rev().map(|at| (x.across(at), y.up(high(at))));
        let path = path(lower_edge.chain(upper_edge));
        push(&mut svg, format_args!("<path class=\"band\" d=\"{path}Z\"/>\n"));
    }
    for Curve { class, value } in curves {
        let path = path(steps().map(|at| (x.across(at), y.up(value(at)))));
        push(&mut svg, format_args!("<path class=\"{class}\" d=\"{path}\"/>\n"));
    }
    for point in points {
        let (cx, cy, title) = (x.across(point.x), y.up(point.y), escaped(&point.title));
        let (low, high) = (y.up(point.low), y.up(point.high));
        push(
            &mut svg,
            format_args!(
                "<g class=\"point\"><title>{title}</title><path d=\"M{cx:.1} {low:.1}V{high:.1}\"/>\
                 <circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"3\"/></g>\n"
            ),
        );
    }
    svg + "</svg>\n"
}

/// Draws a bar of shares with a legend. Omits empty shares.
pub(super) fn shares(parts: &[(&str, u64, &'static str)]) -> String {
    let all: u64 = parts.iter().map(|(_, count, _)| count).sum();
    let mut bar = String::from("<div class=\"shares\">");
    let mut legend = String::from("<p class=\"legend\">");
    for &(name, count, class) in parts.iter().filter(|(_, count, _)| *count > 0) {
        let percent = super::percent(count, all);
        push(
            &mut bar,
            format_args!(
                "<span class=\"{class}\" style=\"flex-grow:{count}\" title=\"{name}: {percent}\"></span>"
            ),
        );
        let count = separated(count);
        push(
            &mut legend,
            format_args!(
                "<span><i class=\"{class}\"></i>{name} <b>{percent}</b> <small>{count}</small></span> "
            ),
        );
    }
    format!("{bar}</div>\n{}</p>\n", legend.trim_end())
}

impl Axis {
    /// Horizontal coordinate.
    fn across(&self, value: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (value - self.from) / (self.to - self.from)
    }

    /// Vertical coordinate.
    fn up(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - self.from) / (self.to - self.from)
    }

    /// Round numbers within the axis.
    fn marks(&self) -> Vec<f64> {
        let rough = (self.to - self.from) / MARKS;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power);
        let step = step.clone().find(|&step| step >= rough * 0.999).unwrap_or(10.0 * power);
        let mut marks = Vec::new();
        let mut mark = (self.from / step).ceil();
        while mark * step <= self.to + step * 1e-9 {
            marks.push(mark * step);
            mark += 1.0;
        }
        marks
    }
}

/// Opens an SVG with axes, marks and labels.
fn open(x: &Axis, y: &Axis, y_mark: impl Fn(f64) -> String) -> String {
    let label = escaped(x.label);
    let mut svg =
        format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{label}\">\n");
    let (left, right, bottom) = (LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM);
    for mark in y.marks() {
        let (at, text) = (y.up(mark), y_mark(mark));
        push(
            &mut svg,
            format_args!(
                "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{text}</text>\n",
                left - 8.0,
                at + 4.0
            ),
        );
    }
    for mark in x.marks() {
        let at = x.across(mark);
        push(
            &mut svg,
            format_args!(
                "<line class=\"mark\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{bottom}\" y2=\"{:.1}\"/>\
                 <text class=\"middle\" x=\"{at:.1}\" y=\"{:.1}\">{mark:.0}</text>\n",
                bottom + 5.0,
                bottom + 18.0
            ),
        );
    }
    push(
        &mut svg,
        format_args!(
            "<line class=\"axis\" x1=\"{left}\" x2=\"{right}\" y1=\"{bottom}\" y2=\"{bottom}\"/>\
             <text class=\"middle label\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>\n",
            f64::midpoint(left, right),
            HEIGHT - 6.0
        ),
    );
    svg
}

fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in points {
        let command = if path.is_empty() { 'M' } else { 'L' };
        push(&mut path, format_args!("{command}{x:.1} {y:.1}"));
    }
    path
}

#[expect(clippy::cast_sign_loss, reason = "marks of a number of records are not negative")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_numbers() {
        let marks = |from, to| Axis { from, to, label: "" }.marks();
        assert_eq!(marks(-3100.0, 3100.0), [-2000.0, 0.0, 2000.0]);
        assert_eq!(marks(0.0, 1234.0), [0.0, 500.0, 1000.0]);
        assert_eq!(marks(0.0, 1.0), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(marks(0.0, 40.0), [0.0, 10.0, 20.0, 30.0, 40.0]);
    }

    #[test]
    fn empty_shares_are_omitted() {
        let shown = shares(&[("black", 1, "black"), ("draw", 0, "draw"), ("white", 3, "white")]);
        assert!(shown.contains("black <b>25.0 %</b>") && !shown.contains("draw"), "{shown}");
    }
}
