//! The moves of a page: the main line, and the alternatives and variations at each of its positions, as an HTML list.
//!
//! `mates.js` turns the moves into buttons. Their USI notation is in `data-usi`.

use std::cmp::Reverse;

use super::moves::{
    board_again, end_of_line, in_short, is_longest, kind_words, length, only_mate, reply_words,
};
use super::report::words;
use crate::cli::report::Moves;
use crate::format::notation;
use crate::mate::alternatives::{Extent, MovesReport};
use crate::mate::solve::Solution;
use crate::ops::language::Language;
use crate::ops::page::{escaped, push};
use crate::search::alternatives::{AlternativeKind, LineNode, MoveFinding};
use crate::shogi::{Move, Position, Square};
use crate::solver::Verdict;

/// Moves of a variation that are shown at most. A variation of a long problem can be as long as the problem.
const MAX_VARIATION_PLIES: usize = 60;

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
    if searched.is_empty() { solution.line().to_vec() } else { searched }
}

/// Plies of the mate that begins with the first move of the main line. The main line itself can end before the mate, at
/// an unproven move or at futile interpositions.
pub(super) fn plies(solution: &Solution, line: &[Move]) -> usize {
    let first = solution.moves.as_ref().and_then(|report| report.line.nodes.first());
    let mate = first.and_then(LineNode::solution).and_then(MoveFinding::plies);
    mate.unwrap_or(line.len())
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
                let end = end.map(|end| format!("<p>{}</p>", escaped(&end))).unwrap_or_default();
                push(&mut items, format_args!("<li class=\"end\">{end}{branches}</li>\n"));
            }
            break;
        };
        let words = printed(&notation(&position, m, last));
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

/// Moves in words with the signs ▲ and △, as on the page for browsers. Fonts of phones lack ☗ and ☖.
pub(super) fn printed(words: &str) -> String {
    words.replace('☗', "▲").replace('☖', "△")
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
        None if report.line.moves().count() == ply => Some(board_again(language).to_owned()),
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
    /// Whether the check makes the problem unsound, or the reply is not proven to be mated.
    is_fault: bool,
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
                    Branch { finding, what: what.unwrap_or_default(), is_fault }
                });
                let is_shown = |it: &Branch<'_>| it.finding.verdict != Verdict::Disproven;
                checks.filter(is_shown).filter(beside).collect()
            }
            LineNode::Defence(node) => {
                let replies = node.replies.iter().map(|reply| Branch {
                    finding: &reply.finding,
                    what: reply_words(reply, self.language),
                    is_fault: !reply.finding.mates(),
                });
                let mut replies: Vec<_> = replies.filter(beside).collect();
                replies.sort_by_key(|it| (it.finding.mates(), Reverse(it.finding.counted_plies())));
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
                let checks = match self.played {
                    Some(_) => language.pick(
                        "other checks that mate or are undecided",
                        "ほかの詰む王手・不明な王手",
                    ),
                    None => {
                        language.pick("checks that mate or are undecided", "詰む王手・不明な王手")
                    }
                };
                Some(format!("{checks}: {branches}"))
            }
            LineNode::Defence(node) if node.replies.is_empty() => None,
            LineNode::Defence(node) if self.played.is_some() => Some(is_longest(node, language)),
            LineNode::Defence(_) => Some(language.quantity(branches as u64, "reply", "通りの受け")),
        }
    }

    fn branch(&self, Branch { finding, what, is_fault }: &Branch<'_>) -> String {
        let moves = if finding.line.is_empty() { &[finding.m][..] } else { &finding.line };
        let shown = &moves[..moves.len().min(MAX_VARIATION_PLIES)];
        let more = if shown.len() < moves.len() { " …" } else { "" };
        let mate = format!("{what} {}", length(finding, self.language));
        let (mate, class) = (mate.trim_start(), if *is_fault { " class=\"fault\"" } else { "" });
        let words = printed(&words(self.position, shown, self.last));
        format!(
            "<li><i{class}>{mate}</i> <span class=\"line\" data-usi=\"{}\">{words}</span>{more}</li>\n",
            Moves(shown)
        )
    }
}
