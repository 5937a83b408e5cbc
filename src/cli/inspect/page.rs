//! Writes records as an HTML page: boards with the stored move as an arrow, and the other fields.

use std::path::Path;

use super::ShownCounts;
use super::args::InspectArgs;
use super::described::Described;
use crate::cli::exit::Usage;
use crate::cli::message::say;
use crate::cli::report::records;
use crate::cli::solve::report::{in_words, verdict};
use crate::format::notation;
use crate::mate::positions::{InputPosition, LineOrByte, RecordLocation};
use crate::mate::solve::{Solution, SolveOptions, solve};
use crate::ops::inspect::{Header, InspectedRecord, Inspection};
use crate::ops::page::{MAX_POSITIONS, Page, escaped, push, write_page};
use crate::records::claims::FileClaims;
use crate::records::output_kind::OutputKind;
use crate::records::source::Input;
use crate::shogi::svg::{STYLE as BOARD_STYLE, Shapes, SvgDiagram};
use crate::shogi::{Color, Position, Setup};
use crate::storage::quantity::separated_quantity;

const STYLE: &str = include_str!("page.css");

struct Board {
    index: u64,
    /// `None` if the record is bad or its position cannot arise in a game.
    position: Option<Position>,
    /// HTML before the result of the search.
    beginning: String,
    end: String,
}

struct FileBoards {
    head: String,
    boards: Vec<Board>,
}

pub(super) fn write(
    args: &InspectArgs,
    path: &Path,
    inputs: Vec<Input>,
    mut claims: FileClaims,
) -> anyhow::Result<ShownCounts> {
    let plan = claims.lone_output(OutputKind::Kept, path, args.force)?;
    let settings = args.search.settings()?;
    let title = match &inputs[..] {
        [input] => input.name.clone(),
        inputs => format!("{} files of positions", inputs.len()),
    };
    let (mut shown, mut body) = (ShownCounts::default(), Shapes.to_string());
    for input in inputs {
        let file = read(args, input, &mut shown)?;
        body += &file.head;
        body += "<div class=\"records\">\n";
        let mut mates = Vec::new();
        if args.solve {
            let options = SolveOptions::default();
            let positions = file.boards.iter().filter_map(search_input).collect::<Vec<_>>();
            let positions = positions.into_iter().map(|position| Ok(Ok(position)));
            solve(positions, &settings, &options, args.threads, |solved| -> anyhow::Result<()> {
                mates.extend(solved.ok().map(|it| (it.input.location.index, mate(&it))));
                Ok(())
            })?;
        }
        for Board { index, beginning, end, .. } in &file.boards {
            body += beginning;
            // The results are in record order.
            if let Ok(at) = mates.binary_search_by_key(index, |(index, _)| *index) {
                body += &mates[at].1;
            }
            body += end;
        }
        body += "</div>\n";
    }
    let (boards, program) = (records(shown.records), env!("CARGO_PKG_VERSION"));
    let subtitle =
        format!("{boards}, evaluations seen from the side to move · shown by kyokumen {program}");
    let styles = [BOARD_STYLE, STYLE];
    let page =
        Page { title: &title, subtitle: &subtitle, styles: &styles, body: &body, script: None };
    let path = plan.path.clone();
    write_page(plan, &page.html())?;
    say!("  {}", path.display());
    Ok(shown)
}

fn read(args: &InspectArgs, input: Input, shown: &mut ShownCounts) -> anyhow::Result<FileBoards> {
    let name = input.name.clone();
    let inspection = Inspection::from_input(input, args.choice())?;
    let head = head(&inspection.header);
    let mut boards = Vec::new();
    let ended = inspection.for_each(|found| {
        shown.records += 1;
        if shown.records > MAX_POSITIONS {
            let why = format!(
                "a page holds at most {MAX_POSITIONS} boards; choose some with --range or --sample"
            );
            return Err(Usage(why).into());
        }
        let described = Described::new(&name, found, false);
        shown.bad += u64::from(described.error.is_some());
        boards.push(board(found, &described));
        Ok::<(), anyhow::Error>(())
    });
    ended?;
    Ok(FileBoards { head, boards })
}

fn head(header: &Header) -> String {
    let Header { input, records: number, survey } = header;
    let number = number.map_or_else(
        || format!("more than {}", separated_quantity(survey.records, "record")),
        |number| separated_quantity(number, "record"),
    );
    let (name, format) = (escaped(&input.name), escaped(&input.format.to_string()));
    format!("<div class=\"file\"><h2>{name}</h2><p>{format}, {number}</p></div>\n")
}

fn board(found: &InspectedRecord<'_>, described: &Described<'_>) -> Board {
    let index = found.index;
    let setup = found.record.as_ref().ok().and_then(|record| record.setup().ok());
    let (Some(setup), Some(_)) = (setup, &described.content) else {
        let why = escaped(described.error.as_deref().unwrap_or("no position"));
        let beginning = format!(
            "<figure class=\"bad\"><figcaption><b>{index}</b><span>bad</span></figcaption><p>{why}</p>"
        );
        return Board { index, position: None, beginning, end: "</figure>\n".to_owned() };
    };
    let position = Position::try_from(&setup).ok();
    let beginning = format!(
        "<figure><figcaption><b>{index}{}</b><span>{}</span></figcaption>\n{}<dl>\n{}",
        move_text(found, position.as_ref()),
        turn(&setup),
        diagram(found, &setup),
        facts(described),
    );
    let end =
        format!("</dl>\n<details><summary>SFEN</summary><code>{setup}</code></details></figure>\n");
    Board { index, position, beginning, end }
}

fn turn(setup: &Setup) -> &'static str {
    match setup.side_to_move() {
        Color::Black => "Black to move",
        Color::White => "White to move",
    }
}

/// The stored move in words, or `illegal`, and in USI notation; empty if there is none.
fn move_text(found: &InspectedRecord<'_>, position: Option<&Position>) -> String {
    let best_move = found.record.as_ref().ok().and_then(|record| record.best_move().ok()).flatten();
    let Some(m) = best_move else { return String::new() };
    let words = position.filter(|position| position.is_legal(m));
    let words = words.map_or_else(|| "illegal".to_owned(), |position| notation(position, m, None));
    format!(": {words} <small>{m}</small>")
}

fn diagram(found: &InspectedRecord<'_>, setup: &Setup) -> String {
    let best_move = found.record.as_ref().ok().and_then(|record| record.best_move().ok()).flatten();
    let diagram = SvgDiagram::new(setup);
    best_move.map_or(diagram, |m| diagram.arrow(m)).embedded().to_string()
}

/// The fields other than position and move, as HTML.
fn facts(described: &Described<'_>) -> String {
    let Some(content) = &described.content else { return String::new() };
    let values = &content.values;
    let mut facts = Vec::new();
    if let Some(eval_cp) = values.eval {
        facts.push(("eval", format!("{eval_cp} cp")));
    }
    if let Some(ply) = values.ply {
        facts.push(("ply", ply.to_string()));
    }
    match values.result {
        Some("draw") => facts.push(("result", "draw".to_owned())),
        Some(winner) => facts.push(("result", format!("{winner} won"))),
        None => {}
    }
    if let Some(ending) = values.ending {
        facts.push(("ended by", ending.replace('_', " ")));
    }
    if !values.candidates.is_empty() {
        let visits =
            values.candidates.iter().map(|one| format!("{} {}", one.best_move, one.visits));
        facts.push(("visits", visits.collect::<Vec<_>>().join(", ")));
    }
    if content.in_check == Some(true) {
        facts.push(("in check", "yes".to_owned()));
    }
    if !content.warnings.is_empty() {
        facts.push(("unusual", content.warnings.join(", ").replace('_', " ")));
    }
    let mut html = String::new();
    for (name, value) in facts {
        push(&mut html, format_args!("<dt>{name}</dt><dd>{}</dd>\n", escaped(&value)));
    }
    html
}

/// The input of the mate search for a board.
fn search_input(board: &Board) -> Option<InputPosition> {
    let location = RecordLocation { index: board.index, spot: LineOrByte::Byte(0) };
    let position = board.position.clone()?;
    Some(InputPosition { location, position, label: None })
}

fn mate(solution: &Solution) -> String {
    let is_mate =
        solution.mate_result.as_ref().is_some_and(|mate_result| mate_result.verdict.is_mate());
    let class = if is_mate { " class=\"mated\"" } else { "" };
    let mut html = format!("<dt>mate</dt><dd{class}>{}</dd>\n", verdict(solution));
    let line = in_words(solution);
    if !line.is_empty() {
        push(&mut html, format_args!("<dt>line</dt><dd>{line}</dd>\n"));
    }
    html
}
