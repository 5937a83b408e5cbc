//! Results of `--all` as text and JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::report::{stop_words, unknown, write_row};
use crate::cli::report::{Moves, milliseconds};
use crate::format::notation;
use crate::mate::alternatives::{Extent, MovesReport, UnprovenMove};
use crate::mate::solve::Solution;
use crate::ops::language::{Language, in_language};
use crate::search::alternatives::{
    AlternativeKind, AttackFindings, CheckFinding, DefenceFindings, LineNode, MoveFinding,
    ReplyFinding, Uniqueness,
};
use crate::shogi::{Move, Position, Square};
use crate::solver::Verdict;

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
    let is_complete = report.extent == Extent::Moves || report.line.is_complete;
    is_complete && report.unproven_move().is_none() && report.line.has_only_flaws()
}

/// The uniqueness of the solution in a few words, or the fault of the intended solution.
pub(super) fn in_short(report: &MovesReport, language: Language) -> Option<String> {
    if let Some(unproven) = report.unproven_move() {
        return Some(fault(report, unproven, language));
    }
    let alternatives = report.line.attacks().map(|node| node.alternatives().count()).sum::<usize>();
    let alternatives = language.quantity(alternatives as u64, "alternative", "通り");
    // A mate in one has no other moves of the attacker.
    let first = report.line.nodes.first().and_then(LineNode::solution);
    let is_partial =
        report.extent == Extent::Moves && first.and_then(MoveFinding::plies) != Some(1);
    Some(match report.uniqueness()? {
        Uniqueness::Unique if is_partial => {
            let english = "first move unique (whole line: --all=line)";
            language.pick(english, "初手は余詰なし（全手順は --all=line）").to_owned()
        }
        Uniqueness::Unique => language.pick("unique", "余詰なし").to_owned(),
        Uniqueness::NotUnique if has_flaws_only(report) => in_language!(
            language,
            "not unique: {alternatives}, only flaws",
            "余詰あり（{alternatives}、キズのみ）"
        ),
        Uniqueness::NotUnique => {
            in_language!(language, "not unique: {alternatives}", "余詰あり（{alternatives}）")
        }
        Uniqueness::NoMate => language.pick("no mate", "不詰").to_owned(),
        Uniqueness::Undecided => language.pick("undecided", "未確定").to_owned(),
    })
}

/// Whether another move of the attacker mates, in a word.
pub(super) fn fault_in_short(report: &MovesReport, language: Language) -> Option<&'static str> {
    let is_cooked = report.uniqueness() == Some(Uniqueness::NotUnique);
    let (flaws, cooked) = (("flaws", "キズ"), ("not unique", "余詰"));
    let (english, japanese) = if has_flaws_only(report) { flaws } else { cooked };
    is_cooked.then(|| language.pick(english, japanese))
}

/// Why an intended move does not belong to a solution.
fn fault(
    report: &MovesReport,
    UnprovenMove { ply, m, finding }: UnprovenMove<'_>,
    language: Language,
) -> String {
    let is_attack = matches!(report.line.nodes.last(), Some(LineNode::Attack(_)));
    match finding.map(|finding| finding.verdict) {
        None => in_language!(
            language,
            "wrong at move {ply}: {m} does not give check",
            "誤り: {ply}手目の {m} は王手ではない"
        ),
        Some(Verdict::Unknown(stop)) => {
            let what = if is_attack {
                format!("{m} is not proven to mate")
            } else {
                format!("the defender is not proven to be mated after {m}")
            };
            let reason = stop_words(stop, language);
            in_language!(
                language,
                "undecided at move {ply}: {what} ({reason})",
                "未確定: {ply}手目の {m} で詰むかどうか不明（{reason}）"
            )
        }
        Some(_) => {
            let what = if is_attack {
                format!("{m} is proven not to mate")
            } else {
                format!("the defender is proven not to be mated after {m}")
            };
            in_language!(
                language,
                "wrong at move {ply}: {what}",
                "誤り: {ply}手目の {m} では詰まないことが証明された"
            )
        }
    }
}

/// The kind of an alternative.
pub(super) fn kind_words(kind: AlternativeKind, m: Move, language: Language) -> &'static str {
    let japanese = match kind {
        AlternativeKind::Promotion => "成・不成非限定",
        AlternativeKind::Distance if m.is_drop() => "打点非限定",
        AlternativeKind::Distance => "着手非限定",
        AlternativeKind::Mirror => "左右対称",
        AlternativeKind::LastMove => "最終手余詰",
        AlternativeKind::Detour => "迂回手順",
        AlternativeKind::Shorter => "早詰",
        AlternativeKind::Rejoins => "手順前後",
        AlternativeKind::Other => "余詰",
    };
    let english = if kind == AlternativeKind::LastMove { "last move" } else { kind.word() };
    language.pick(english, japanese)
}

/// The role of a reply: `longest`, `futile` or nothing.
pub(super) fn reply_words(reply: &ReplyFinding, language: Language) -> &'static str {
    match (reply.is_futile, reply.is_longest) {
        (Some(true), _) => language.pick("futile", "無駄合"),
        (_, Some(true)) => language.pick("longest", "最長"),
        (_, Some(false)) => "",
        (_, None) => language.pick("perhaps longest", "最長かどうか不明"),
    }
}

/// Writes all moves of the position, or the moves of the main line.
pub(super) fn write_moves(
    solution: &Solution,
    report: &MovesReport,
    language: Language,
) -> io::Result<()> {
    let mut out = io::stdout();
    writeln!(out)?;
    if let Some(words) = in_short(report, language) {
        write_row(&mut out, language, language.pick("solution", "余詰検査"), &words)?;
    }
    let nodes = report.nodes().to_string();
    write_row(&mut out, language, language.pick("all nodes", "各手のノード数"), &nodes)?;
    let mut list = MoveList { out, position: &solution.input.position, language };
    match (report.extent, report.line.nodes.first()) {
        (Extent::Moves, Some(LineNode::Attack(node))) => list.write_checks(node),
        (Extent::Moves, Some(LineNode::Defence(node))) => list.write_replies(node),
        (Extent::Line, _) => list.write_line(report),
        (Extent::Moves, None) => Ok(()),
    }
}

/// Writes the moves of a position, or of the main line that begins there, one per line.
struct MoveList<'a, W> {
    out: W,
    position: &'a Position,
    language: Language,
}

impl<W: Write> MoveList<'_, W> {
    fn write_checks(&mut self, node: &AttackFindings) -> io::Result<()> {
        for (index, check) in node.checks.iter().enumerate() {
            let what = match check.kind {
                Some(kind) => kind_words(kind, check.finding.m, self.language),
                None if node.solution == Some(index) => self.language.pick("solution", "本手順"),
                None => "",
            };
            self.write_move(&check.finding, what)?;
        }
        Ok(())
    }

    fn write_replies(&mut self, node: &DefenceFindings) -> io::Result<()> {
        for reply in &node.replies {
            self.write_move(&reply.finding, reply_words(reply, self.language))?;
        }
        Ok(())
    }

    fn write_move(&mut self, finding: &MoveFinding, what: &str) -> io::Result<()> {
        let words = padded(&notation(self.position, finding.m, None), 16);
        let (m, length) = (finding.m.to_string(), self.padded_length(finding));
        let (what, line) = (padded(what, 16), Moves(&finding.line));
        let text = format!("  {m:<6} {words} {length} {what} {line}");
        writeln!(self.out, "{}", text.trim_end())
    }

    fn padded_length(&self, finding: &MoveFinding) -> String {
        padded(&length(finding, self.language), length_width(self.language))
    }

    fn write_line(&mut self, report: &MovesReport) -> io::Result<()> {
        let language = self.language;
        let (mut position, mut last) = (self.position.clone(), None);
        for (ply, node) in (1..).zip(&report.line.nodes) {
            let Some(solution) = node.solution() else {
                let end = end_of_line(&position, report, node, last, language);
                return writeln!(self.out, "{ply:>4}  {end}");
            };
            let words = padded(&notation(&position, solution.m, last), 16);
            let (m, length) = (solution.m.to_string(), self.padded_length(solution));
            let others = other_moves(&position, node, language);
            let text = format!("{ply:>4}  {m:<6} {words} {length} {others}");
            writeln!(self.out, "{}", text.trim_end())?;
            last = Some(solution.m.to());
            position.make(solution.m);
        }
        writeln!(self.out, "{:>4}  {}", report.line.nodes.len() + 1, board_again(language))
    }
}

/// `in 3`, `in at most 5`, `in at most 7, tsume at most 5`, `no mate`, `unknown (node limit)`.
pub(super) fn length(finding: &MoveFinding, language: Language) -> String {
    match finding.verdict {
        Verdict::Disproven => language.pick("no mate", "不詰").to_owned(),
        Verdict::Unknown(stop) => unknown(stop, language),
        Verdict::Proven => {
            let plies = finding.line.len();
            let (most, at_most) =
                if finding.is_shortest { ("", "") } else { ("at most ", "以下") };
            match finding.tsume_plies.map(usize::from).filter(|&tsume| tsume != plies) {
                Some(tsume) => in_language!(
                    language,
                    "in {most}{plies}, tsume {most}{tsume}",
                    "{plies}手{at_most}（無駄合を除き{tsume}手{at_most}）"
                ),
                None => in_language!(language, "in {most}{plies}", "{plies}手{at_most}"),
            }
        }
    }
}

/// Columns of a length without upper bounds.
fn length_width(language: Language) -> usize {
    language.pick(18, 24)
}

/// The end of a line that would repeat a board.
pub(super) fn board_again(language: Language) -> &'static str {
    language.pick("back to an earlier board of the line", "本手順に現れた盤面に戻る")
}

/// The end of the main line, at a node without a solution.
pub(super) fn end_of_line(
    position: &Position,
    report: &MovesReport,
    node: &LineNode,
    last: Option<Square>,
    language: Language,
) -> String {
    let end = match report.unproven_move() {
        Some(unproven) => return unproven_line(position, node, unproven, last, language),
        None if report.line.is_complete => language.pick("mate", "詰み"),
        None if is_refuted(node) => language.pick("no mate", "不詰"),
        None => language.pick("unknown from here", "ここから先は不明"),
    };
    end.to_owned()
}

/// Describes the moves beside the solution.
fn other_moves(position: &Position, node: &LineNode, language: Language) -> String {
    match node {
        LineNode::Attack(node) => other_checks(position, node, language),
        LineNode::Defence(node) => other_replies(position, node, language),
    }
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
    language: Language,
) -> String {
    let words = padded(&notation(position, m, last), 16);
    let no_check = || language.pick("no check", "王手ではない").to_owned();
    let length = finding.map_or_else(no_check, |finding| length(finding, language));
    let others = match node {
        LineNode::Attack(node) => mates_instead(position, node, language),
        LineNode::Defence(_) => String::new(),
    };
    let (m, length) = (m.to_string(), padded(&length, length_width(language)));
    let text = format!("{m:<6} {words} {length} {others}");
    text.trim_end().to_owned()
}

fn mates_instead(position: &Position, node: &AttackFindings, language: Language) -> String {
    let mates = node.checks.iter().map(|check| &check.finding).filter(|finding| finding.mates());
    let mates = mates.map(|finding| {
        let (named, length) = (named(position, finding.m, language), length(finding, language));
        in_language!(language, "{named}, {length}", "{named} {length}")
    });
    let mates = mates.collect::<Vec<_>>().join(language.pick("; ", "、"));
    if mates.is_empty() {
        language.pick("no check is known to mate", "詰む王手は見つかっていない").to_owned()
    } else {
        in_language!(language, "instead, these mate: {mates}", "代わりに詰む手: {mates}")
    }
}

/// Describes the other mating moves and the undecided moves.
fn other_checks(position: &Position, node: &AttackFindings, language: Language) -> String {
    let mut parts: Vec<String> = node
        .alternatives()
        .map(|CheckFinding { finding, kind }| {
            let kind = kind.map_or("", |kind| kind_words(kind, finding.m, language));
            let (m, length) = (named(position, finding.m, language), length(finding, language));
            in_language!(language, "also {m}: {kind}, {length}", "{kind} {m} {length}")
        })
        .collect();
    let is_unknown = |check: &&CheckFinding| matches!(check.finding.verdict, Verdict::Unknown(_));
    let unknown = node.checks.iter().filter(is_unknown);
    let unknown: Vec<String> =
        unknown.map(|check| named(position, check.finding.m, language)).collect();
    if !unknown.is_empty() {
        let moves = unknown.join(language.pick(", ", "、"));
        parts.push(in_language!(language, "unknown: {moves}", "不明: {moves}"));
    }
    if parts.is_empty() {
        only_mate(node.checks.len(), language)
    } else {
        parts.join(language.pick("; ", "、"))
    }
}

/// The only mate among this number of checks.
pub(super) fn only_mate(checks: usize, language: Language) -> String {
    if checks == 1 {
        return language.pick("the only check", "ほかに王手はない").to_owned();
    }
    in_language!(
        language,
        "the only one of {checks} checks that mates",
        "王手 {checks} 通りのうち、詰むのはこの手だけ"
    )
}

/// Whether the reply of the main line delays the mate longest.
pub(super) fn is_longest(node: &DefenceFindings, language: Language) -> String {
    let replies = node.replies.len();
    match node.solution.and_then(|index| node.replies[index].is_longest) {
        Some(true) if replies == 1 => {
            language.pick("the only reply", "ほかに受けはない").to_owned()
        }
        Some(true) => {
            in_language!(language, "longest of {replies} replies", "{replies}通りの受けのうち最長")
        }
        Some(false) => language.pick("not the longest", "最長ではない").to_owned(),
        None => language.pick("perhaps the longest", "最長かどうか不明").to_owned(),
    }
}

/// Describes how long the reply and the other replies delay the mate.
fn other_replies(position: &Position, node: &DefenceFindings, language: Language) -> String {
    let others = || (0..).zip(&node.replies).filter(|&(index, _)| Some(index) != node.solution);
    let others = |is_longest| {
        let wanted = others().filter(move |(_, reply)| reply.is_longest == is_longest);
        let named = wanted.map(|(_, reply)| named(position, reply.finding.m, language));
        named.collect::<Vec<_>>().join(language.pick(", ", "、"))
    };
    let is_solution_longest = node.solution.and_then(|index| node.replies[index].is_longest);
    let mut parts = vec![is_longest(node, language)];
    let words = match is_solution_longest {
        Some(false) => language.pick("longer", "より長い受け"),
        _ => language.pick("as long", "同手数"),
    };
    let perhaps = language.pick("perhaps longer", "より長い可能性のある受け");
    for (is_longest, words) in [(Some(true), words), (None, perhaps)] {
        let moves = others(is_longest);
        if !moves.is_empty() {
            parts.push(format!("{words}: {moves}"));
        }
    }
    parts.join(language.pick("; ", "、"))
}

/// A move in USI notation and in words; in Japanese only in words.
fn named(position: &Position, m: Move, language: Language) -> String {
    let words = notation(position, m, None);
    in_language!(language, "{m} {words}", "{words}")
}

/// Pads text to a width in terminal columns. Characters outside ASCII take two columns.
pub(super) fn padded(text: &str, width: usize) -> String {
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
        for (finding, english, japanese) in [
            (finding(false, 5), "in at most 7, tsume at most 5", "7手以下（無駄合を除き5手以下）"),
            (finding(false, 7), "in at most 7", "7手以下"),
            (finding(true, 5), "in 7, tsume 5", "7手（無駄合を除き5手）"),
        ] {
            assert_eq!(length(&finding, Language::English), english);
            assert_eq!(length(&finding, Language::Japanese), japanese);
        }
    }
}
