//! Solves a position and searches all moves on its main line.

use std::cell::Cell;

use kyokumen_search::alternatives::{
    AlternativeKind, AlternativesSearch, CheckFinding, LineNode, MainLine, MoveFinding, Question,
    ReplyFinding, Uniqueness, default_nodes_a_position,
};
use kyokumen_search::solver::{Attacker, Solver};
use kyokumen_search::{Limits, MAX_PLIES, SearchObserver, Stop, TableSize, Verdict, WhenHopeless};
use kyokumen_shogi::sfen::SfenError;
use kyokumen_shogi::{Move, Position, Square};
use serde::{Deserialize, Serialize};

use crate::progress;
use crate::step::{Name, Step, steps};

/// A position to search. The side to move is the attacker.
#[derive(Deserialize)]
pub(crate) struct Request {
    sfen: String,
    hash_mib: usize,
    /// Maximum number of nodes of a search; no limit if `null`.
    nodes: Option<u64>,
    /// The solution found by [`solve`], for [`all_moves`].
    #[serde(default)]
    line: Vec<String>,
    /// The nodes of the solution, from which [`all_moves`] derives the limit for the moves of a position together.
    /// Without them, this limit is `nodes`, too.
    solution_nodes: Option<u64>,
}

/// The answer of [`solve`].
#[derive(Serialize)]
pub(crate) struct Solved {
    /// `win`, `no_mate` or `unknown`.
    verdict: &'static str,
    stop: Option<&'static str>,
    /// Plies of the mate found first, with futile interpositions.
    plies: usize,
    /// Plies without futile interpositions.
    tsume_plies: Option<u16>,
    /// Whether it is proven that no mate takes fewer plies, without futile interpositions.
    shortest: bool,
    nodes: u64,
    /// The line without futile interpositions, if it is known.
    line: Vec<Step>,
}

/// The answer of [`all_moves`].
#[derive(Serialize)]
pub(crate) struct AllMoves {
    uniqueness: &'static str,
    /// Whether all alternatives are flaws and nothing is unknown.
    flaws_only: bool,
    /// Whether the line ends in mate.
    complete: bool,
    nodes: u64,
    line: Vec<Step>,
    /// The position and the positions after the moves of the line.
    positions: Vec<Moves>,
}

/// All checks or replies of a position.
#[derive(Serialize)]
struct Moves {
    is_attack: bool,
    moves: Vec<Finding>,
}

#[derive(Serialize)]
struct Finding {
    #[serde(flatten)]
    name: Name,
    /// `win`: the attacker mates after the move; `no_mate` or `unknown`.
    verdict: &'static str,
    stop: Option<&'static str>,
    /// Plies without futile interpositions, an upper bound unless `shortest`.
    plies: Option<usize>,
    shortest: bool,
    /// Only for checks that mate besides the solution.
    kind: Option<&'static str>,
    essential: Option<bool>,
    /// Only for replies.
    futile: Option<bool>,
    longest: Option<bool>,
    line: Vec<Step>,
}

pub(crate) fn solve(request: &[u8]) -> Result<Solved, String> {
    let (request, position) = parsed(request)?;
    let size = TableSize::from_mib(request.hash_mib);
    let mut solver = Solver::try_new(size).map_err(|error| error.to_string())?;
    let (observer, attacker) = (Reporter::default(), Attacker::SideToMove);
    let found = solver.solve_observed(&position, attacker, &request.limits(), &observer);
    let (verdict, stop) = words(found.verdict);
    let counted = match found.verdict {
        Verdict::Proven => solver.tsume_plies(&position, attacker, &observer),
        Verdict::Disproven | Verdict::Unknown(_) => None,
    };
    let counted = counted.as_ref();
    let tsume_plies = counted.map(|counted| counted.plies);
    let shortest = counted.is_some_and(|counted| counted.is_least);
    let tsume_line = counted.map(|counted| &counted.line).filter(|line| !line.is_empty());
    let line = steps(&position, tsume_line.unwrap_or(&found.line), None);
    let (plies, nodes) = (found.line.len(), found.stats.nodes);
    Ok(Solved { verdict, stop, plies, tsume_plies, shortest, nodes, line })
}

pub(crate) fn all_moves(request: &[u8]) -> Result<AllMoves, String> {
    let (request, position) = parsed(request)?;
    let size = TableSize::from_mib(request.hash_mib);
    let mut search = AlternativesSearch::try_new(size).map_err(|error| error.to_string())?;
    let known = request.line.iter().map(|word| Move::from_usi(word));
    let known = known.collect::<Option<Vec<Move>>>().ok_or("the line has an unreadable move")?;
    let limits = request.limits();
    let nodes = request.solution_nodes.map_or(limits.nodes, default_nodes_a_position);
    let question = Question { known, ..Question::new(limits, nodes) };
    let observer = Reporter::default();
    let line = search.line(&position, Attacker::SideToMove, &question, &observer);
    Ok(AllMoves::new(&position, &line))
}

fn parsed(request: &[u8]) -> Result<(Request, Position), String> {
    let request: Request = serde_json::from_slice(request).map_err(|error| error.to_string())?;
    let position: Position = request.sfen.parse().map_err(|error: SfenError| error.to_string())?;
    let defender = !position.side_to_move();
    if position.king(defender).is_none() {
        return Err(format!("{defender:?} has no king, so there is nothing to mate"));
    }
    Ok((request, position))
}

impl Request {
    fn limits(&self) -> Limits {
        let nodes = self.nodes.unwrap_or(u64::MAX);
        Limits { depth_plies: MAX_PLIES, nodes, when_hopeless: WhenHopeless::GoOn }
    }
}

const fn words(verdict: Verdict) -> (&'static str, Option<&'static str>) {
    match verdict {
        Verdict::Proven => ("win", None),
        Verdict::Disproven => ("no_mate", None),
        Verdict::Unknown(stop) => ("unknown", Some(Stop::word(stop))),
    }
}

impl AllMoves {
    fn new(position: &Position, main: &MainLine) -> Self {
        let moves: Vec<Move> = main.moves().collect();
        let line = steps(position, &moves, None);
        let findings = main.nodes.iter().flat_map(LineNode::findings);
        let nodes = findings.map(|finding| finding.nodes).sum();
        let (mut position, mut last) = (position.clone(), None);
        let mut positions = Vec::new();
        for node in &main.nodes {
            let solution = node.solution().map(|finding| finding.m);
            let findings = Findings { position: &position, last };
            let (is_attack, moves) = match node {
                LineNode::Attack(node) => {
                    (true, node.checks.iter().map(|check| findings.check(check)).collect())
                }
                LineNode::Defence(node) => {
                    (false, node.replies.iter().map(|reply| findings.reply(reply)).collect())
                }
            };
            positions.push(Moves { is_attack, moves });
            if let Some(m) = solution {
                position.make(m);
                last = Some(m.to());
            }
        }
        let uniqueness = main.uniqueness();
        let (complete, has_only_flaws) = (main.is_complete, main.has_only_flaws());
        let flaws_only = uniqueness == Uniqueness::NotUnique && complete && has_only_flaws;
        let uniqueness = uniqueness.word();
        Self { uniqueness, flaws_only, complete, nodes, line, positions }
    }
}

/// Describes the moves of a position.
struct Findings<'a> {
    position: &'a Position,
    last: Option<Square>,
}

impl Findings<'_> {
    fn check(&self, check: &CheckFinding) -> Finding {
        Finding {
            kind: check.kind.map(AlternativeKind::word),
            essential: check.kind.map(AlternativeKind::is_essential),
            ..self.finding(&check.finding)
        }
    }

    fn reply(&self, reply: &ReplyFinding) -> Finding {
        Finding {
            futile: reply.is_futile,
            longest: reply.is_longest,
            ..self.finding(&reply.finding)
        }
    }

    fn finding(&self, finding: &MoveFinding) -> Finding {
        let (verdict, stop) = words(finding.verdict);
        Finding {
            name: Name::new(self.position, finding.m, self.last),
            verdict,
            stop,
            plies: finding.tsume_plies.map(usize::from).or_else(|| finding.plies()),
            shortest: finding.is_shortest,
            kind: None,
            essential: None,
            futile: None,
            longest: None,
            line: steps(self.position, &finding.line, self.last),
        }
    }
}

/// Reports how many nodes the searches have taken so far. This is an estimate that only grows: it lacks searches that end
/// before their first report, and includes those that measure the length of a mate. The answer has the exact number.
#[derive(Default)]
struct Reporter {
    /// Last reported nodes of the searches that have ended.
    before: Cell<u64>,
    /// Nodes of the current search.
    current: Cell<u64>,
}

impl SearchObserver<Move> for Reporter {
    fn wants_stop(&self) -> bool {
        // The page stops a search by ending its worker.
        false
    }

    fn progress(&self, nodes: u64, _line: &[Move]) {
        let current = self.current.replace(nodes);
        if nodes < current {
            self.before.set(self.before.get() + current);
        }
        progress((self.before.get() + nodes) as f64);
    }
}
