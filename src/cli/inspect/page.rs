//! Writes records as an HTML page: boards with the stored move as an arrow, and the other fields.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ShownCounts;
use super::args::InspectArgs;
use super::described::Described;
use crate::cli::exit::Usage;
use crate::cli::solve::report::{in_words, verdict};
use crate::error::Error;
use crate::format::notation;
use crate::mate::positions::{InputPosition, LineOrByte, RecordLocation};
use crate::mate::solve::{Solution, SolveOptions, solve};
use crate::ops::inspect::{Header, InspectedRecord, Inspection};
use crate::ops::language::{Language, in_language};
use crate::ops::page::{MAX_POSITIONS, Page, escaped, push, write_page};
use crate::records::claims::FileClaims;
use crate::records::output_kind::OutputKind;
use crate::records::source::Input;
use crate::shogi::svg::{STYLE as BOARD_STYLE, Shapes, SvgDiagram};
use crate::shogi::{Position, Setup};

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
    cancel: &AtomicBool,
) -> anyhow::Result<ShownCounts> {
    let plan = claims.lone_output(OutputKind::Kept, path, args.force)?;
    let settings = args.search.settings()?;
    let language = args.language.language();
    let title = match &inputs[..] {
        [input] => input.name.clone(),
        inputs => language.files(inputs.len()),
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
                if cancel.load(Ordering::Relaxed) {
                    return Err(Error::interrupted().into());
                }
                mates.extend(solved.ok().map(|it| (it.input.location.index, mate(&it, language))));
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
    let (boards, version) = (language.records(shown.records), env!("CARGO_PKG_VERSION"));
    let subtitle = in_language!(
        language,
        "{boards}, evaluations seen from the side to move · shown by kyokumen {version}",
        "{boards}、評価値は手番側から見た値 · kyokumen {version} で表示"
    );
    let page = Page {
        language,
        title: &title,
        subtitle: &subtitle,
        styles: &[BOARD_STYLE, STYLE],
        body: &body,
        script: None,
    };
    write_page(plan, &page.html())?;
    Ok(shown)
}

fn read(args: &InspectArgs, input: Input, shown: &mut ShownCounts) -> anyhow::Result<FileBoards> {
    let name = input.name.clone();
    let inspection = Inspection::from_input(input, args.choice())?;
    let language = args.language.language();
    let head = head(&inspection.header, language);
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
        boards.push(board(found, &described, language));
        Ok::<(), anyhow::Error>(())
    });
    ended?;
    Ok(FileBoards { head, boards })
}

fn head(header: &Header, language: Language) -> String {
    let Header { input, records: number, survey } = header;
    let number = number.map_or_else(
        || in_language!(language, "more than {}", "{}以上", language.records(survey.records)),
        |number| language.records(number),
    );
    let (name, format) = (escaped(&input.name), escaped(&input.format.to_string()));
    let comma = language.pick(", ", "、");
    format!("<div class=\"file\"><h2>{name}</h2><p>{format}{comma}{number}</p></div>\n")
}

fn board(found: &InspectedRecord<'_>, described: &Described<'_>, language: Language) -> Board {
    let index = found.index;
    let setup = found.record.as_ref().ok().and_then(|record| record.setup().ok());
    let (Some(setup), Some(_)) = (setup, &described.content) else {
        let why = escaped(described.error.as_deref().unwrap_or("no position"));
        let beginning = format!(
            "<figure class=\"bad\"><figcaption><b>{index}</b><span>{}</span></figcaption><p>{why}</p>",
            language.pick("bad", "不正")
        );
        return Board { index, position: None, beginning, end: "</figure>\n".to_owned() };
    };
    let position = Position::try_from(&setup).ok();
    let beginning = format!(
        "<figure><figcaption><b>{index}{}</b><span>{}</span></figcaption>\n{}<dl>\n{}",
        move_text(found, position.as_ref(), language),
        language.turn(setup.side_to_move()),
        diagram(found, &setup),
        facts(described, language),
    );
    let end =
        format!("</dl>\n<details><summary>SFEN</summary><code>{setup}</code></details></figure>\n");
    Board { index, position, beginning, end }
}

/// The stored move in words, or `illegal`, and in USI notation; empty if there is none.
fn move_text(
    found: &InspectedRecord<'_>,
    position: Option<&Position>,
    language: Language,
) -> String {
    let best_move = found.record.as_ref().ok().and_then(|record| record.best_move().ok()).flatten();
    let Some(m) = best_move else { return String::new() };
    let words = position.filter(|position| position.is_legal(m));
    let illegal = || language.pick("illegal", "反則手").to_owned();
    let words = words.map_or_else(illegal, |position| notation(position, m, None));
    format!(": {words} <small>{m}</small>")
}

fn diagram(found: &InspectedRecord<'_>, setup: &Setup) -> String {
    let best_move = found.record.as_ref().ok().and_then(|record| record.best_move().ok()).flatten();
    let diagram = SvgDiagram::new(setup);
    best_move.map_or(diagram, |m| diagram.arrow(m)).embedded().to_string()
}

/// The fields other than position and move, as HTML.
fn facts(described: &Described<'_>, language: Language) -> String {
    let Some(content) = &described.content else { return String::new() };
    let values = &content.values;
    let mut facts = Vec::new();
    if let Some(eval_cp) = values.eval {
        facts.push((language.pick("eval", "評価値"), format!("{eval_cp} cp")));
    }
    if let Some(ply) = values.ply {
        facts.push((language.pick("ply", "手数"), ply.to_string()));
    }
    if let Some(result) = values.result {
        facts.push((language.pick("result", "勝敗"), language.result(result)));
    }
    if let Some(ending) = values.ending {
        facts.push((language.pick("ended by", "終局"), language.ending(ending)));
    }
    let comma = language.pick(", ", "、");
    if !values.candidates.is_empty() {
        let visits =
            values.candidates.iter().map(|one| format!("{} {}", one.best_move, one.visits));
        facts.push((language.pick("visits", "訪問数"), visits.collect::<Vec<_>>().join(comma)));
    }
    if content.in_check == Some(true) {
        let yes = language.pick("yes", "あり").to_owned();
        facts.push((language.pick("in check", "王手"), yes));
    }
    if !content.warnings.is_empty() {
        let warnings = content.warnings.iter().map(|name| language.warning(name));
        let warnings = warnings.collect::<Vec<_>>().join(comma);
        facts.push((language.pick("unusual", "注意"), warnings));
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

fn mate(solution: &Solution, language: Language) -> String {
    let is_mate =
        solution.mate_result.as_ref().is_some_and(|mate_result| mate_result.verdict.is_mate());
    let class = if is_mate { " class=\"mated\"" } else { "" };
    let (name, verdict) = (language.pick("mate", "詰み"), verdict(solution, language));
    let mut html = format!("<dt>{name}</dt><dd{class}>{verdict}</dd>\n");
    let line = in_words(solution);
    if !line.is_empty() {
        let name = language.pick("line", "手順");
        push(&mut html, format_args!("<dt>{name}</dt><dd>{line}</dd>\n"));
    }
    html
}
