//! The moves of a page: the main line, and the alternatives and variations at each of its positions, as an HTML list.
//!
//! `mates.js` turns the moves into buttons. Their USI notation is in `data-usi`.

use std::cmp::Reverse;

use super::moves::{
    board_again, end_of_line, in_short, is_longest, kind_words, length, only_mate, reply_words,
};
use super::report::unknown;
use crate::cli::report::Moves;
use crate::format::notation;
use crate::mate::alternatives::{Extent, MovesReport};
use crate::mate::solve::Solution;
use crate::ops::language::Language;
use crate::ops::page::{escaped, push};
use crate::search::alternatives::{AlternativeKind, LineNode, MoveFinding};
use crate::shogi::{Move, Position, Square};
use crate::solver::Verdict;
use crate::storage::quantity::quantity;

/// Moves of a variation that are shown at most. A variation of a long problem can be as long as the problem.
const MAX_PLIES: usize = 60;

/// The moves that the page plays. With `--all`, the attacker plays his best mate, which can be shorter than the first
/// mate that was found.
pub(super) fn main_line(solution: &Solution) -> Vec<Move> {
    let searched = solution.moves.as_ref().map_or_else(Vec::new, |report| match report.extent {
        Extent::Line => report.line.moves().collect(),
        Extent::Moves => {
            let best = report.line.nodes.first().and_then(LineNode::solution);
            best.map_or_else(Vec::new, |finding| finding.line.clone())
        }
    });
    let found = solution.mate_result.iter().filter(|it| it.verdict.is_mate());
    if searched.is_empty() { found.flat_map(|it| it.line.clone()).collect() } else { searched }
}

/// The list of the moves; empty if there are none.
pub(super) fn list(solution: &Solution, line: &[Move], language: Language) -> String {
    let nodes = solution.moves.as_ref().map_or(&[][..], |report| &report.line.nodes);
    let (mut position, mut last) = (solution.input.position.clone(), None);
    let mut items = String::new();
    for ply in 0..=line.len() {
        let m = line.get(ply).copied();
        let branches = nodes
            .get(ply)
            .map(|node| Branches { position: &position, last, played: m, language }.html(node));
        let branches = branches.unwrap_or_default();
        let Some(m) = m else {
            let end = solution.moves.as_ref().and_then(|it| end(it, ply, &position, language));
            if !branches.is_empty() || (end.is_some() && !line.is_empty()) {
                let end = escaped(&end.unwrap_or_default());
                push(&mut items, format_args!("<li class=\"end\"><p>{end}</p>{branches}</li>\n"));
            }
            break;
        };
        let words = notation(&position, m, last);
        push(
            &mut items,
            format_args!(
                "<li><span class=\"move\" data-usi=\"{m}\"><span>{}. {words}</span> <small>{m}</small></span>\
                 {branches}</li>\n",
                ply + 1
            ),
        );
        last = Some(m.to());
        position.make(m);
    }
    if items.is_empty() {
        return items;
    }
    let (start, plain) = (start(language), if nodes.is_empty() { " plain" } else { "" });
    format!(
        "<ol class=\"moves{plain}\">\n<li><span class=\"move\"><span>{start}</span></span></li>\n{items}</ol>\n"
    )
}

/// The caption of the position itself.
pub(super) fn start(language: Language) -> &'static str {
    language.pick("Start", "開始局面")
}

/// How a line ends whose moves were all searched.
fn end(
    report: &MovesReport,
    ply: usize,
    position: &Position,
    language: Language,
) -> Option<String> {
    match report.line.nodes.get(ply) {
        _ if report.extent == Extent::Moves => None,
        Some(_) if report.unproven_move().is_some() => in_short(report, language),
        Some(node) => Some(end_of_line(position, report, node, None, language)),
        None if report.line.nodes.len() == ply => Some(board_again(language).to_owned()),
        None => None,
    }
}

/// The other moves at a position of the main line.
struct Branches<'a> {
    position: &'a Position,
    /// Target of the previous move.
    last: Option<Square>,
    /// The move of the main line.
    played: Option<Move>,
    language: Language,
}

/// A move that is not on the main line, and the mate after it.
struct Branch<'a> {
    finding: &'a MoveFinding,
    /// Its kind in words, or nothing.
    what: &'static str,
    class: &'static str,
}

impl Branches<'_> {
    fn html(&self, node: &LineNode) -> String {
        let branches = self.branches(node);
        let summary = self.summary(node, branches.len());
        if branches.is_empty() {
            return summary.map(|text| format!("<p>{text}</p>")).unwrap_or_default();
        }
        let is_open = matches!(node, LineNode::Attack(_)) || self.played.is_none();
        let open = if is_open { " open" } else { "" };
        let mut html =
            format!("<details{open}><summary>{}</summary>\n<ul>\n", summary.unwrap_or_default());
        for branch in &branches {
            html += &self.branch(branch);
        }
        html + "</ul></details>"
    }

    /// The checks that mate or are undecided, in the order of move generation; all replies, the longest first.
    fn branches<'a>(&self, node: &'a LineNode) -> Vec<Branch<'a>> {
        let beside = |branch: &Branch<'_>| Some(branch.finding.m) != self.played;
        match node {
            LineNode::Attack(node) => {
                let checks = node.checks.iter().map(|check| {
                    let finding = &check.finding;
                    let is_fault = check.kind.is_some_and(AlternativeKind::is_essential);
                    let what = check.kind.map(|kind| kind_words(kind, finding.m, self.language));
                    let class = if is_fault { "fault" } else { "flaw" };
                    Branch { finding, what: what.unwrap_or_default(), class }
                });
                let is_shown = |it: &Branch<'_>| it.finding.verdict != Verdict::Disproven;
                checks.filter(is_shown).filter(beside).collect()
            }
            LineNode::Defence(node) => {
                let replies = node.replies.iter().map(|reply| Branch {
                    finding: &reply.finding,
                    what: reply_words(reply, self.language),
                    class: if reply.finding.mates() { "reply" } else { "fault" },
                });
                let mut replies: Vec<_> = replies.filter(beside).collect();
                replies.sort_by_key(|it| (it.finding.mates(), Reverse(it.finding.line.len())));
                replies
            }
        }
    }

    /// What the branches say about the move of the main line.
    fn summary(&self, node: &LineNode, branches: usize) -> Option<String> {
        let language = self.language;
        match node {
            LineNode::Attack(node) if branches == 0 => {
                self.played.map(|_| only_mate(node.checks.len(), language))
            }
            LineNode::Attack(_) => {
                let checks = quantity(branches, "other check");
                Some(language.pick(checks, format!("ほかの王手 {branches}通り")))
            }
            LineNode::Defence(node) if node.replies.is_empty() => None,
            LineNode::Defence(node) if self.played.is_some() => Some(is_longest(node, language)),
            LineNode::Defence(_) => {
                let replies = quantity(branches, "reply");
                Some(language.pick(replies, format!("受け {branches}通り")))
            }
        }
    }

    fn branch(&self, Branch { finding, what, class }: &Branch<'_>) -> String {
        let moves = if finding.line.is_empty() { &[finding.m][..] } else { &finding.line };
        let shown = &moves[..moves.len().min(MAX_PLIES)];
        let more = if shown.len() < moves.len() { " …" } else { "" };
        let length = match finding.verdict {
            Verdict::Unknown(stop) => unknown(stop, self.language),
            _ => length(finding, self.language),
        };
        let words = words(self.position, shown, self.last);
        format!(
            "<li><i class=\"{class}\">{what} {length}</i> <span class=\"line\" data-usi=\"{}\">{words}</span>{more}</li>\n",
            Moves(shown)
        )
    }
}

/// Moves in Japanese notation, separated by spaces.
pub(super) fn words(position: &Position, moves: &[Move], last: Option<Square>) -> String {
    let (mut position, mut last) = (position.clone(), last);
    let words = moves.iter().map(|&m| {
        let words = notation(&position, m, last);
        position.make(m);
        last = Some(m.to());
        words
    });
    words.collect::<Vec<_>>().join(" ")
}
