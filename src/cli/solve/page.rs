//! Writes solutions as an HTML page that plays mates, alternatives and variations move by move.
//!
//! Without scripts, the page shows all positions of the main line next to each other, and the other moves as text.

use std::io::{self, Write};

use super::moves::{fault_in_short, in_short};
use super::report::{tsume_plies, verdict, verdict_counts, verdict_in};
use super::tree;
use crate::cli::exit::Usage;
use crate::cli::report::Moves;
use crate::format::notation;
use crate::mate::positions::LineOrByte;
use crate::mate::solve::Solution;
use crate::ops::language::{Language, in_language};
use crate::ops::page::{MAX_POSITIONS, Page, escaped, push};
use crate::shogi::Move;
use crate::shogi::svg::{STYLE as BOARD_STYLE, Shapes, SvgDiagram};

const STYLE: &str = include_str!("mates.css");
const SCRIPT: &str = include_str!("mates.js");

/// Collects solutions for a page.
pub(super) struct MatePage {
    /// The name of the input.
    title: String,
    language: Language,
    problems: Vec<Problem>,
    /// The messages about the first bad records.
    pub(super) bad_records: Vec<String>,
}

struct Problem {
    /// Readers count from 1.
    number: u64,
    name: Option<String>,
    verdict: String,
    /// Whether another move mates, for the list of problems.
    fault: Option<&'static str>,
    class: &'static str,
    markup: String,
}

impl MatePage {
    pub(super) const fn new(title: String, language: Language) -> Self {
        Self { title, language, problems: Vec::new(), bad_records: Vec::new() }
    }

    /// Adds a position. Fails if there are more than [`MAX_POSITIONS`].
    pub(super) fn add(&mut self, solution: &Solution) -> Result<(), Usage> {
        if self.problems.len() as u64 == MAX_POSITIONS {
            let why = format!(
                "a page holds at most {MAX_POSITIONS} positions; select the first ones with --limit"
            );
            return Err(Usage(why));
        }
        let (language, line) = (self.language, tree::main_line(solution));
        let verdict = match &solution.mate_result {
            Some(mate) if mate.verdict.is_mate() => {
                verdict_in(mate.verdict, tree::plies(solution, &line), language)
            }
            _ => verdict(solution, language),
        };
        let mut markup = facts(solution, &line, language);
        markup += &player(solution, &line, language);
        markup += &usi(solution, &line);
        let (number, name) = (solution.input.location.index + 1, name(solution).map(str::to_owned));
        let fault = solution.moves.as_ref().and_then(|report| fault_in_short(report, language));
        self.problems.push(Problem {
            number,
            name,
            verdict,
            fault,
            class: class(solution),
            markup,
        });
        Ok(())
    }

    /// Writes the page to standard output. `bad` is the number of bad records.
    pub(super) fn finish(self, bad: u64, is_interrupted: bool) -> io::Result<()> {
        let mut body = Shapes.to_string();
        let is_alone = self.problems.len() == 1 && bad == 0;
        if !is_alone {
            body += &self.list();
        }
        body += "<div class=\"collection\">\n";
        for problem in &self.problems {
            let Problem { number, verdict, markup, .. } = problem;
            let label = if is_alone { String::new() } else { problem.label() };
            push(
                &mut body,
                format_args!(
                    "<section class=\"card problem\" id=\"p{number}\">\n<h2>{label}{verdict}</h2>\n{markup}</section>\n"
                ),
            );
        }
        body += "</div>\n";
        body += &self.bad_section(bad);
        let own = self.problems.first().filter(|_| is_alone).and_then(|it| it.name.as_deref());
        let file = own.map_or_else(String::new, |_| format!("{} · ", escaped(&self.title)));
        let version = env!("CARGO_PKG_VERSION");
        let program = in_language!(
            self.language,
            "solved by kyokumen {version}",
            "kyokumen {version} で解答"
        );
        let page = Page {
            language: self.language,
            title: own.unwrap_or(&self.title),
            subtitle: &format!("{file}{} · {program}", self.subtitle(bad, is_interrupted)),
            styles: &[BOARD_STYLE, STYLE],
            body: &body,
            script: (!self.problems.is_empty()).then_some(SCRIPT),
        };
        io::stdout().write_all(page.html().as_bytes())
    }

    /// `3 positions: 2 win, 1 no mate`
    fn subtitle(&self, bad: u64, is_interrupted: bool) -> String {
        let (language, all) = (self.language, self.problems.len() as u64 + bad);
        let count =
            |class: &str| self.problems.iter().filter(|it| it.class == class).count() as u64;
        let [win, loss, no_mate, unknown, skipped] =
            ["win", "loss", "no_mate", "unknown", "skipped"].map(count);
        let counts = verdict_counts(language, [win, loss, no_mate, unknown, skipped, bad]);
        let text = match (all, bad) {
            (0, _) => language.pick("no positions", "局面なし").to_owned(),
            (1, 0) => language.pick("one position", "1局面").to_owned(),
            _ => in_language!(language, "{all} positions: {counts}", "{all}局面: {counts}"),
        };
        let interrupted =
            language.pick(" · interrupted, the rest is missing", " · 中断（残りは未検討）");
        text + if is_interrupted { interrupted } else { "" }
    }

    /// The records that are no positions.
    fn bad_section(&self, bad: u64) -> String {
        if bad == 0 {
            return String::new();
        }
        let title = verdict_counts(self.language, [0, 0, 0, 0, 0, bad]);
        let mut html = format!("<section class=\"card\" id=\"bad\">\n<h2>{title}</h2>\n<ul>\n");
        for message in &self.bad_records {
            push(&mut html, format_args!("<li>{}</li>\n", escaped(message)));
        }
        let more = if (self.bad_records.len() as u64) < bad { "<li>…</li>\n" } else { "" };
        html + more + "</ul>\n</section>\n"
    }

    fn list(&self) -> String {
        let mut html = String::from("<ul class=\"problems\">\n");
        for problem in &self.problems {
            let Problem { number, verdict, class, .. } = problem;
            let label = problem.label();
            let fault = problem.fault.map(|fault| format!(" · <strong>{fault}</strong>"));
            let fault = fault.unwrap_or_default();
            push(
                &mut html,
                format_args!(
                    "<li><a class=\"{class}\" href=\"#p{number}\">{label}{verdict}{fault}</a></li>\n"
                ),
            );
        }
        html + "</ul>\n"
    }
}

impl Problem {
    /// Number and name, before the verdict.
    fn label(&self) -> String {
        let name = self.name.iter().map(|name| format!("{} · ", escaped(name)));
        format!("{}: {}", self.number, name.collect::<String>())
    }
}

/// The second column or the title, unless it is blank.
fn label(solution: &Solution) -> Option<&str> {
    solution.input.label.as_deref().map(str::trim).filter(|label| !label.is_empty())
}

/// What the file calls the position. In text, a move or a number in the second column is no name.
pub(super) fn name(solution: &Solution) -> Option<&str> {
    let is_text = matches!(solution.input.location.spot, LineOrByte::Line(_));
    let is_number = |label: &str| label.parse().is_ok_and(f64::is_finite);
    let is_value = |label: &str| Move::from_usi(label).is_some() || is_number(label);
    label(solution).filter(|label| !is_text || !is_value(label))
}

fn class(solution: &Solution) -> &'static str {
    solution.mate_result.as_ref().map_or("skipped", |mate_result| mate_result.verdict.word())
}

/// The facts other than name and verdict, as HTML.
fn facts(solution: &Solution, line: &[Move], language: Language) -> String {
    let Some(mate_result) = &solution.mate_result else { return String::new() };
    let turn = language.turn(solution.input.position.side_to_move());
    let mut facts = vec![turn.to_owned()];
    facts.extend(label(solution).filter(|_| name(solution).is_none()).map(escaped));
    let is_intended = solution.moves.as_ref().is_some_and(|report| !report.intended.is_empty());
    let tsume = solution
        .tsume_plies
        .as_ref()
        .filter(|it| usize::from(it.plies) != tree::plies(solution, line));
    facts.extend(tsume.filter(|_| !is_intended).map(|counted| tsume_plies(counted, language)));
    let shortest = match solution.is_shortest {
        Some(true) => Some(language.pick("no shorter mate", "最短")),
        Some(false) => Some(language.pick("perhaps not the shortest", "最短かどうか不明")),
        None => None,
    };
    facts.extend(shortest.map(str::to_owned));
    let unique = solution.moves.as_ref().and_then(|report| in_short(report, language));
    facts.extend(unique.map(|words| format!("<strong>{}</strong>", escaped(&words))));
    facts.push(language.quantity(mate_result.nodes, "node", " ノード"));
    format!("<p>{}</p>\n", facts.join(" · "))
}

/// The diagrams of the line with their captions, the controls, and the list of all moves.
fn player(solution: &Solution, line: &[Move], language: Language) -> String {
    let mut position = solution.input.position.clone();
    let first = SvgDiagram::new(&position.setup()).embedded().to_string();
    if line.is_empty() {
        return mate(&first, line.len(), &tree::list(solution, line, language), language);
    }
    let mut boards = step(tree::start(language), &first);
    let mut last = None;
    for (ply, &m) in (1..).zip(line) {
        let words = notation(&position, m, last);
        position.make(m);
        last = Some(m.to());
        let caption = format!("<span>{ply}. {}</span> <small>{m}</small>", tree::printed(&words));
        let board = SvgDiagram::new(&position.setup()).last_move(m).embedded().to_string();
        boards += &step(&caption, &board);
    }
    mate(&boards, line.len(), &tree::list(solution, line, language), language)
}

fn step(caption: &str, board: &str) -> String {
    format!("<figure class=\"step\"><figcaption>{caption}</figcaption>\n{board}</figure>\n")
}

fn mate(boards: &str, plies: usize, moves: &str, language: Language) -> String {
    let button = |name: &str, path: &str| {
        format!(
            "<button type=\"button\" title=\"{name}\" aria-label=\"{name}\">\
             <svg width=\"16\" height=\"16\" aria-hidden=\"true\"><path d=\"{path}\"/></svg></button>"
        )
    };
    let (first, back) = (language.pick("first", "最初"), language.pick("back", "戻る"));
    let (forward, last) = (language.pick("forward", "進む"), language.pick("last", "最後"));
    let (ply, flip) = (language.pick("ply", "手数"), language.pick("flip the board", "盤面反転"));
    let mut controls = String::new();
    if !moves.is_empty() {
        controls += &button(first, "M3 3V13M13 3L6 8L13 13Z");
        controls += &button(back, "M12 3L5 8L12 13Z");
        push(
            &mut controls,
            format_args!(
                "<input type=\"range\" aria-label=\"{ply}\" min=\"0\" max=\"{plies}\" value=\"0\">"
            ),
        );
        controls += &button(forward, "M4 3L11 8L4 13Z");
        controls += &button(last, "M13 3V13M3 3L10 8L3 13Z");
    }
    controls += &button(flip, "M5 14V3L2 6M5 3L8 6M11 2V13L8 10M11 13L14 10");
    format!(
        "<div class=\"mate\">\n<div class=\"boards\">\n{boards}</div>\n\
         <div class=\"controls\" hidden>{controls}</div>\n{moves}</div>\n"
    )
}

/// The position and its mating line as a USI `position` command, for other programs.
fn usi(solution: &Solution, line: &[Move]) -> String {
    let position = &solution.input.position;
    let moves = if line.is_empty() { String::new() } else { format!(" moves {}", Moves(line)) };
    format!(
        "<details class=\"usi\"><summary>USI</summary><code>position sfen {position}{moves}</code></details>\n"
    )
}
