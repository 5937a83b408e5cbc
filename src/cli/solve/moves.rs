//! Results of `--all` as text and JSON.

use std::io::{self, Write};

use serde::Serialize;

use crate::cli::report::{Moves, milliseconds};
use crate::format::notation;
use crate::mate::alternatives::{Extent, MovesReport, UnprovenMove};
use crate::mate::solve::Solution;
use crate::search::alternatives::{
    AlternativeKind, AttackFindings, CheckFinding, DefenceFindings, LineNode, MoveFinding,
    ReplyFinding, Uniqueness,
};
use crate::shogi::{Move, Position, Square};
use crate::solver::Verdict;
use crate::storage::quantity::quantity;

/// Fields that `--all` adds to `--json`.
#[derive(Serialize)]
pub(super) struct AllMovesJson {
    /// `unique`, `not_unique`, `no_mate` or `undecided`. Null if the defender is to move and only the replies were
    /// searched.
    uniqueness: Option<&'static str>,
    /// Whether no alternative is essential. Null unless `uniqueness` is `not_unique`.
    flaws_only: Option<bool>,
    /// Whether the main line ends in mate; null without `--all=line`.
    complete: Option<bool>,
    nodes_a_position: u64,
    all_nodes: u64,
    all_elapsed_ms: f64,
    positions: Vec<PositionJson>,
}

#[derive(Serialize)]
struct PositionJson {
    ply: usize,
    side: &'static str,
    solution: Option<String>,
    uniqueness: Option<&'static str>,
    moves: Vec<MoveJson>,
}

#[derive(Serialize)]
struct MoveJson {
    #[serde(rename = "move")]
    m: String,
    verdict: &'static str,
    stop: Option<&'static str>,
    plies: Option<usize>,
    tsume_plies: Option<u16>,
    shortest: Option<bool>,
    pieces_left: Option<bool>,
    /// Only for checks that mate besides the solution.
    kind: Option<&'static str>,
    essential: Option<bool>,
    /// Only for replies, if known.
    futile: Option<bool>,
    longest: Option<bool>,
    line: Vec<String>,
    nodes: u64,
    proof_positions: u64,
}

impl AllMovesJson {
    pub(super) fn new(report: &MovesReport) -> Self {
        let uniqueness = report.uniqueness();
        Self {
            uniqueness: uniqueness.map(Uniqueness::word),
            flaws_only: (uniqueness == Some(Uniqueness::NotUnique)).then(|| has_flaws_only(report)),
            complete: (report.extent == Extent::Line).then_some(report.line.is_complete),
            nodes_a_position: report.nodes_a_position,
            all_nodes: report.nodes(),
            all_elapsed_ms: milliseconds(report.elapsed),
            positions: (1..).zip(&report.line.nodes).map(PositionJson::new).collect(),
        }
    }
}

impl PositionJson {
    fn new((ply, node): (usize, &LineNode)) -> Self {
        let solution = node.solution().map(|finding| finding.m.to_string());
        match node {
            LineNode::Attack(node) => Self {
                ply,
                side: "attacker",
                solution,
                uniqueness: Some(node.uniqueness().word()),
                moves: node.checks.iter().map(MoveJson::of_check).collect(),
            },
            LineNode::Defence(node) => Self {
                ply,
                side: "defender",
                solution,
                uniqueness: None,
                moves: node.replies.iter().map(MoveJson::of_reply).collect(),
            },
        }
    }
}

impl MoveJson {
    fn of_check(check: &CheckFinding) -> Self {
        Self {
            kind: check.kind.map(AlternativeKind::word),
            essential: check.kind.map(AlternativeKind::is_essential),
            ..Self::new(&check.finding, "win")
        }
    }

    fn of_reply(reply: &ReplyFinding) -> Self {
        Self {
            futile: reply.is_futile,
            longest: reply.is_longest,
            ..Self::new(&reply.finding, "loss")
        }
    }

    fn new(finding: &MoveFinding, word_of_mate: &'static str) -> Self {
        let (verdict, stop) = match finding.verdict {
            Verdict::Proven => (word_of_mate, None),
            Verdict::Disproven => ("no_mate", None),
            Verdict::Unknown(stop) => ("unknown", Some(stop.word())),
        };
        let mates = finding.mates();
        Self {
            m: finding.m.to_string(),
            verdict,
            stop,
            plies: finding.plies(),
            tsume_plies: finding.tsume_plies,
            shortest: mates.then_some(finding.is_shortest),
            pieces_left: mates.then_some(finding.leaves_pieces),
            kind: None,
            essential: None,
            futile: None,
            longest: None,
            line: finding.line.iter().map(ToString::to_string).collect(),
            nodes: finding.nodes,
            proof_positions: finding.proof_positions,
        }
    }
}

/// Whether all moves are decided, the intended moves lead to mate, and no alternative is essential.
fn has_flaws_only(report: &MovesReport) -> bool {
    let is_decided = |check: &CheckFinding| !matches!(check.finding.verdict, Verdict::Unknown(_));
    let is_flaw = |check: &CheckFinding| check.kind.is_none_or(|kind| !kind.is_essential());
    let is_complete = report.extent == Extent::Moves || report.line.is_complete;
    is_complete
        && report.unproven_move().is_none()
        && report
            .line
            .attacks()
            .all(|node| node.checks.iter().all(|check| is_decided(check) && is_flaw(check)))
}

/// The uniqueness of the solution in a few words, or the fault of the intended solution.
pub(super) fn in_short(report: &MovesReport) -> Option<String> {
    if let Some(unproven) = report.unproven_move() {
        return Some(fault(report, unproven));
    }
    let alternatives = report.line.attacks().map(|node| node.alternatives().count()).sum::<usize>();
    let alternatives = quantity(alternatives, "alternative");
    Some(match report.uniqueness()? {
        Uniqueness::Unique => "unique".to_owned(),
        Uniqueness::NotUnique if has_flaws_only(report) => {
            format!("not unique: {alternatives}, only flaws")
        }
        Uniqueness::NotUnique => format!("not unique: {alternatives}"),
        Uniqueness::NoMate => "no mate".to_owned(),
        Uniqueness::Undecided => "undecided".to_owned(),
    })
}

/// Why an intended move does not belong to a solution.
fn fault(report: &MovesReport, UnprovenMove { ply, m, finding }: UnprovenMove<'_>) -> String {
    let is_attack = matches!(report.line.nodes.last(), Some(LineNode::Attack(_)));
    let goal = if is_attack { "mate" } else { "be mated" };
    match finding.map(|finding| finding.verdict) {
        None => format!("wrong at move {ply}: {m} does not give check"),
        Some(Verdict::Unknown(stop)) => {
            format!("undecided at move {ply}: {m} is not proven to {goal} ({stop})")
        }
        Some(_) => format!("wrong at move {ply}: {m} is proven not to {goal}"),
    }
}

/// Writes all moves of the position, or the moves of the main line.
pub(super) fn write_moves(solution: &Solution, report: &MovesReport) -> io::Result<()> {
    let mut out = io::stdout();
    writeln!(out)?;
    if let Some(words) = in_short(report) {
        writeln!(out, "solution   {words}")?;
    }
    writeln!(out, "all nodes  {}", report.nodes())?;
    let position = &solution.input.position;
    match (report.extent, report.line.nodes.first()) {
        (Extent::Moves, Some(LineNode::Attack(node))) => write_checks(&mut out, position, node),
        (Extent::Moves, Some(LineNode::Defence(node))) => write_replies(&mut out, position, node),
        (Extent::Line, _) => write_line(&mut out, position, report),
        (Extent::Moves, None) => Ok(()),
    }
}

fn write_checks(
    out: &mut impl Write,
    position: &Position,
    node: &AttackFindings,
) -> io::Result<()> {
    for (index, check) in node.checks.iter().enumerate() {
        let what = match check.kind {
            Some(kind) => kind.word(),
            None if node.solution == Some(index) => "solution",
            None => "",
        };
        write_move(out, position, &check.finding, what)?;
    }
    Ok(())
}

fn write_replies(
    out: &mut impl Write,
    position: &Position,
    node: &DefenceFindings,
) -> io::Result<()> {
    for reply in &node.replies {
        let what = match (reply.is_futile, reply.is_longest) {
            (Some(true), _) => "futile",
            (_, Some(true)) => "longest",
            (_, Some(false)) => "",
            (_, None) => "perhaps longest",
        };
        write_move(out, position, &reply.finding, what)?;
    }
    Ok(())
}

fn write_move(
    out: &mut impl Write,
    position: &Position,
    finding: &MoveFinding,
    what: &str,
) -> io::Result<()> {
    let words = padded(&notation(position, finding.m, None), 16);
    let (m, length) = (finding.m.to_string(), length(finding));
    let line = Moves(&finding.line);
    let text = format!("  {m:<6} {words} {length:<18} {what:<16} {line}");
    writeln!(out, "{}", text.trim_end())
}

/// `in 3`, `in at most 5`, `in at most 7, tsume at most 5`, `no mate`, `unknown (nodes)`.
fn length(finding: &MoveFinding) -> String {
    match finding.verdict {
        Verdict::Disproven => "no mate".to_owned(),
        Verdict::Unknown(stop) => format!("unknown ({stop})"),
        Verdict::Proven => {
            let plies = finding.line.len();
            let most = if finding.is_shortest { "" } else { "at most " };
            match finding.tsume_plies.map(usize::from).filter(|&tsume| tsume != plies) {
                Some(tsume) => format!("in {most}{plies}, tsume {most}{tsume}"),
                None => format!("in {most}{plies}"),
            }
        }
    }
}

fn write_line(out: &mut impl Write, position: &Position, report: &MovesReport) -> io::Result<()> {
    let (mut position, mut last) = (position.clone(), None);
    for (ply, node) in (1..).zip(&report.line.nodes) {
        let Some(solution) = node.solution() else {
            let end = match report.unproven_move() {
                Some(unproven) => unproven_line(&position, node, unproven, last),
                None if report.line.is_complete => "mate".to_owned(),
                None if is_refuted(node) => "no mate".to_owned(),
                None => "unknown from here".to_owned(),
            };
            return writeln!(out, "{ply:>4}  {end}");
        };
        let words = padded(&notation(&position, solution.m, last), 16);
        let (m, length) = (solution.m.to_string(), length(solution));
        let others = match node {
            LineNode::Attack(node) => other_checks(&position, node),
            LineNode::Defence(node) => other_replies(&position, node),
        };
        let text = format!("{ply:>4}  {m:<6} {words} {length:<18} {others}");
        writeln!(out, "{}", text.trim_end())?;
        last = Some(solution.m.to());
        position.make(solution.m);
    }
    writeln!(out, "{:>4}  back to an earlier board of the line", report.line.nodes.len() + 1)
}

/// Whether it is proven that no check mates, or that a reply escapes.
fn is_refuted(node: &LineNode) -> bool {
    match node {
        LineNode::Attack(node) => node.uniqueness() == Uniqueness::NoMate,
        LineNode::Defence(node) => {
            node.replies.iter().any(|reply| reply.finding.verdict == Verdict::Disproven)
        }
    }
}

/// Describes an intended move that is not proven to lead to mate, and the moves that mate instead.
fn unproven_line(
    position: &Position,
    node: &LineNode,
    UnprovenMove { m, finding, .. }: UnprovenMove<'_>,
    last: Option<Square>,
) -> String {
    let words = padded(&notation(position, m, last), 16);
    let length = finding.map_or_else(|| "no check".to_owned(), length);
    let others = match node {
        LineNode::Attack(node) => mates_instead(position, node),
        LineNode::Defence(_) => String::new(),
    };
    let m = m.to_string();
    let text = format!("{m:<6} {words} {length:<18} {others}");
    text.trim_end().to_owned()
}

fn mates_instead(position: &Position, node: &AttackFindings) -> String {
    let mates = node.checks.iter().map(|check| &check.finding).filter(|finding| finding.mates());
    let mates = mates.map(|finding| format!("{}, {}", named(position, finding.m), length(finding)));
    let mates = mates.collect::<Vec<_>>().join("; ");
    if mates.is_empty() {
        "no check is known to mate".to_owned()
    } else {
        format!("mates: {mates}")
    }
}

/// Describes the other mating moves and the undecided moves.
fn other_checks(position: &Position, node: &AttackFindings) -> String {
    let mut parts: Vec<String> = node
        .alternatives()
        .map(|check| {
            let kind = check.kind.map_or("", AlternativeKind::word);
            format!("also {}: {kind}, {}", named(position, check.finding.m), length(&check.finding))
        })
        .collect();
    let is_unknown = |check: &&CheckFinding| matches!(check.finding.verdict, Verdict::Unknown(_));
    let unknown: Vec<String> = node
        .checks
        .iter()
        .filter(is_unknown)
        .map(|check| named(position, check.finding.m))
        .collect();
    if !unknown.is_empty() {
        parts.push(format!("unknown: {}", unknown.join(", ")));
    }
    if parts.is_empty() {
        format!("only mate of {}", quantity(node.checks.len(), "check"))
    } else {
        parts.join("; ")
    }
}

/// Describes how long the reply and the other replies delay the mate.
fn other_replies(position: &Position, node: &DefenceFindings) -> String {
    let others = || (0..).zip(&node.replies).filter(|&(index, _)| Some(index) != node.solution);
    let others = |is_longest| {
        let wanted = others().filter(move |(_, reply)| reply.is_longest == is_longest);
        wanted.map(|(_, reply)| named(position, reply.finding.m)).collect::<Vec<_>>().join(", ")
    };
    let is_solution_longest = node.solution.and_then(|index| node.replies[index].is_longest);
    let mut parts = vec![match is_solution_longest {
        Some(true) => format!("longest of {}", quantity(node.replies.len(), "reply")),
        Some(false) => "not the longest".to_owned(),
        None => "perhaps the longest".to_owned(),
    }];
    let words = if is_solution_longest == Some(false) { "longer" } else { "as long" };
    for (is_longest, words) in [(Some(true), words), (None, "perhaps longer")] {
        let moves = others(is_longest);
        if !moves.is_empty() {
            parts.push(format!("{words}: {moves}"));
        }
    }
    parts.join("; ")
}

fn named(position: &Position, m: Move) -> String {
    format!("{m} {}", notation(position, m, None))
}

/// Pads text to a width in terminal columns. Characters outside ASCII take two columns.
fn padded(text: &str, width: usize) -> String {
    let columns: usize = text.chars().map(|letter| if letter.is_ascii() { 1 } else { 2 }).sum();
    format!("{text}{}", " ".repeat(width.saturating_sub(columns)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The head of the report may have a smaller, exact length.
    #[test]
    fn lengths_that_are_upper_bounds_are_shown_as_such() {
        let m = Move::from_usi("G*5b").unwrap();
        let finding = |is_shortest, tsume_plies| MoveFinding {
            m,
            verdict: Verdict::Proven,
            line: vec![m; 7],
            is_shortest,
            tsume_plies: Some(tsume_plies),
            leaves_pieces: false,
            nodes: 0,
            proof_positions: 0,
            proof: None,
        };
        assert_eq!(length(&finding(false, 5)), "in at most 7, tsume at most 5");
        assert_eq!(length(&finding(false, 7)), "in at most 7");
        assert_eq!(length(&finding(true, 5)), "in 7, tsume 5");
    }
}
