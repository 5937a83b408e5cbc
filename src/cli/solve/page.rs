//! Writes solutions as an HTML page that plays mates move by move.
//!
//! Without scripts, the page shows all positions next to each other.

use std::io::{self, Write};

use super::report::verdict;
use crate::cli::exit::Usage;
use crate::cli::report::Moves;
use crate::format::notation;
use crate::mate::solve::Solution;
use crate::ops::page::{MAX_POSITIONS, Page, escaped, push};
use crate::shogi::Move;
use crate::shogi::svg::{STYLE as BOARD_STYLE, Shapes, SvgDiagram};
use crate::solver::CountedPlies;
use crate::storage::quantity::{quantity, separated_quantity};

const STYLE: &str = include_str!("mates.css");
const SCRIPT: &str = include_str!("mates.js");

/// Collects solutions for a page.
pub(super) struct MatePage {
    title: String,
    problems: Vec<Problem>,
}

struct Problem {
    index: u64,
    verdict: String,
    class: &'static str,
    markup: String,
}

impl MatePage {
    pub(super) const fn new(title: String) -> Self {
        Self { title, problems: Vec::new() }
    }

    /// Adds a position. Fails if there are more than [`MAX_POSITIONS`].
    pub(super) fn add(&mut self, solution: &Solution) -> Result<(), Usage> {
        if self.problems.len() as u64 == MAX_POSITIONS {
            let why = format!(
                "a page holds at most {MAX_POSITIONS} positions; select the first ones with --limit"
            );
            return Err(Usage(why));
        }
        let index = solution.input.location.index;
        let (verdict, class) = (verdict(solution), class(solution));
        let mut markup = facts(solution);
        markup += &player(solution);
        markup += &usi(solution);
        self.problems.push(Problem { index, verdict, class, markup });
        Ok(())
    }

    /// Writes the page to standard output.
    pub(super) fn finish(self) -> io::Result<()> {
        let mut body = Shapes.to_string();
        if self.problems.len() > 1 {
            body += &self.list();
        }
        for problem in &self.problems {
            let Problem { index, verdict, markup, .. } = problem;
            let number = if self.problems.len() > 1 { format!("{index}: ") } else { String::new() };
            push(
                &mut body,
                format_args!(
                    "<section class=\"card problem\" id=\"p{index}\">\n<h2>{number}{verdict}</h2>\n{markup}</section>\n"
                ),
            );
        }
        let subtitle =
            format!("{} · solved by kyokumen {}", self.subtitle(), env!("CARGO_PKG_VERSION"));
        let has_mate =
            self.problems.iter().any(|problem| problem.markup.contains("class=\"mate\""));
        let page = Page {
            title: &self.title,
            subtitle: &subtitle,
            styles: &[BOARD_STYLE, STYLE],
            body: &body,
            script: has_mate.then_some(SCRIPT),
        };
        io::stdout().write_all(page.html().as_bytes())
    }

    /// `3 positions: 2 win, 1 no mate`
    fn subtitle(&self) -> String {
        let count = |class: &str| self.problems.iter().filter(|it| it.class == class).count();
        let classes = ["win", "loss", "no_mate", "unknown", "skipped"];
        let counts = classes.map(|class| (count(class), class.replace('_', " ")));
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
        match self.problems.len() {
            0 => "no positions".to_owned(),
            1 => "one position".to_owned(),
            all => format!("{all} positions: {}", counts.join(", ")),
        }
    }

    fn list(&self) -> String {
        let mut html = String::from("<ul class=\"problems\">\n");
        for Problem { index, verdict, class, .. } in &self.problems {
            push(
                &mut html,
                format_args!(
                    "<li><a class=\"{class}\" href=\"#p{index}\">{index}: {verdict}</a></li>\n"
                ),
            );
        }
        html + "</ul>\n"
    }
}

fn class(solution: &Solution) -> &'static str {
    solution.mate_result.as_ref().map_or("skipped", |mate_result| mate_result.verdict.word())
}

/// The facts other than the verdict, as HTML.
fn facts(solution: &Solution) -> String {
    let Some(mate_result) = &solution.mate_result else { return String::new() };
    let mut facts = vec![format!("{} to move", if is_black(solution) { "Black" } else { "White" })];
    if let Some(text) = &solution.input.second_column {
        facts.push(escaped(text));
    }
    if let Some(CountedPlies { plies, .. }) = solution.tsume_plies {
        facts.push(format!("{} without futile interpositions", quantity(plies, "ply")));
    }
    match solution.is_shortest {
        Some(true) => facts.push("no shorter mate".to_owned()),
        Some(false) => facts.push("perhaps not the shortest".to_owned()),
        None => {}
    }
    facts.push(separated_quantity(mate_result.nodes, "node"));
    format!("<p>{}</p>\n", facts.join(" · "))
}

fn is_black(solution: &Solution) -> bool {
    solution.input.position.side_to_move() == crate::shogi::Color::Black
}

/// The diagram of the position, or a player for its mating line.
fn player(solution: &Solution) -> String {
    let steps = steps(solution);
    let plies = steps.len() - 1;
    if plies == 0 {
        return SvgDiagram::new(&solution.input.position.setup()).embedded().to_string();
    }
    let boards: String = steps.iter().map(|step| &*step.markup).collect();
    let [first, back, forward, last] = [
        ("first", "M3 3V13M13 3L6 8L13 13Z"),
        ("back", "M12 3L5 8L12 13Z"),
        ("forward", "M4 3L11 8L4 13Z"),
        ("last", "M13 3V13M3 3L10 8L3 13Z"),
    ]
    .map(|(name, path)| {
        format!(
            "<button type=\"button\" aria-label=\"{name}\">\
             <svg width=\"16\" height=\"16\" aria-hidden=\"true\"><path d=\"{path}\"/></svg></button>"
        )
    });
    let mut moves = String::new();
    for Step { caption, .. } in &steps {
        push(&mut moves, format_args!("<li><button type=\"button\">{caption}</button></li>\n"));
    }
    format!(
        "<div class=\"mate\">\n<div class=\"boards\">\n{boards}</div>\n\
         <div class=\"controls\" hidden>{first}{back}\
         <input type=\"range\" aria-label=\"ply\" min=\"0\" max=\"{plies}\" value=\"0\">{forward}{last}</div>\n\
         <ol class=\"moves\" hidden>\n{moves}</ol>\n</div>\n"
    )
}

struct Step {
    caption: String,
    markup: String,
}

/// The position itself and the positions after each move of the mate.
fn steps(solution: &Solution) -> Vec<Step> {
    let mut position = solution.input.position.clone();
    let mut steps = vec![step(SvgDiagram::new(&position.setup()), "Start".to_owned())];
    let line: &[Move] = match &solution.mate_result {
        Some(mate_result) if mate_result.verdict.is_mate() => &mate_result.line,
        _ => &[],
    };
    let mut last = None;
    for (ply, &m) in (1..).zip(line) {
        let words = notation(&position, m, last);
        position.make(m);
        last = Some(m.to());
        let caption = format!("<span>{ply}. {words}</span> <small>{m}</small>");
        steps.push(step(SvgDiagram::new(&position.setup()).last_move(m), caption));
    }
    steps
}

fn step(diagram: SvgDiagram<'_>, caption: String) -> Step {
    let board = diagram.embedded();
    let markup =
        format!("<figure class=\"step\"><figcaption>{caption}</figcaption>\n{board}</figure>\n");
    Step { caption, markup }
}

/// The position and its mating line as a USI `position` command, for other programs.
fn usi(solution: &Solution) -> String {
    let position = &solution.input.position;
    let line =
        solution.mate_result.as_ref().filter(|it| it.verdict.is_mate() && !it.line.is_empty());
    let moves = line.map_or_else(String::new, |it| format!(" moves {}", Moves(&it.line)));
    format!(
        "<details><summary>USI</summary><code>position sfen {position}{moves}</code></details>\n"
    )
}
