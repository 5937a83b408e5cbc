//! All moves of a position: which checks mate, and which replies hold out longest.
//!
//! Composers of mate problems need this. A problem has a unique solution if, for each move of the attacker on the main
//! line, exactly one check mates. Another check that mates is an alternative (余詰). The defender's moves on the main
//! line are those that hold out longest. `docs/tsume.md` has the terms with their sources and disputes.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use kyokumen_search::alternatives::{AlternativeKind, AlternativesSearch, Question, Uniqueness};
//! use kyokumen_search::solver::{Limits, TableSize};
//! use kyokumen_shogi::Position;
//!
//! // A gold in hand, a pawn that supports it, a bare king on the back rank: one check mates.
//! let position: Position = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1".parse()?;
//! let mut search = AlternativesSearch::new(TableSize::from_mib(1));
//! let question = Question::new(Limits::new(31, 100_000), 1_000_000);
//! let found = search.first_moves(&position, &question, &AtomicBool::new(false));
//! assert_eq!(found.uniqueness(), Uniqueness::Unique);
//!
//! // Here the promotion of the pawn mates, too, because a lance supports the pawn.
//! let position: Position = "4k4/9/4P4/4L4/9/9/9/9/9 b G2r2b3g4s4n3l17p 1".parse()?;
//! let found = search.first_moves(&position, &question, &AtomicBool::new(false));
//! assert_eq!(found.uniqueness(), Uniqueness::NotUnique);
//! let other = found.alternatives().next().unwrap();
//! assert_eq!((other.finding.m.to_string().as_str(), other.kind), ("G*5b", Some(AlternativeKind::Other)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod findings;
mod kinds;
mod move_search;

use kyokumen_game::NodeKind;
use kyokumen_shogi::{Mate, Move, Position};

use self::move_search::{Budget, MoveSearch};
use super::dfpn::DfPn;
use super::limits::{Limits, TableError, TableSize};
use super::observer::SearchObserver;
use super::restricted::Restricted;
use super::solver::Attacker;
use super::verdict::Verdict;

pub use self::findings::{
    AlternativeKind, AttackFindings, CheckFinding, DefenceFindings, LineNode, MoveFinding,
    ReplyFinding, Uniqueness,
};

/// The nodes for a position divided by this number are reserved for the kinds of alternatives and for futile
/// interpositions.
const KINDS_DIVISOR: u64 = 4;

/// The default node limit for all moves of a position together, as a multiple of the nodes of its solution.
pub const NODES_PER_SOLUTION_NODE: u64 = 32;

/// Minimum of the default node limit for all moves of a position together.
pub const LEAST_NODES_A_POSITION: u64 = 100_000;

/// The default node limit for all moves together of a position whose solution took `solution_nodes` nodes.
pub fn default_nodes_a_position(solution_nodes: u64) -> u64 {
    solution_nodes.saturating_mul(NODES_PER_SOLUTION_NODE).max(LEAST_NODES_A_POSITION)
}

/// Limits and hints of a search of all moves.
#[derive(Clone, Debug)]
pub struct Question {
    /// Limits of each single search. The depth counts from the position whose moves are searched.
    pub limits: Limits,
    /// Nodes that all searches about one position may take together.
    pub nodes_a_position: u64,
    /// The intended solution (作意), from the root. It may end early; the rest of the line is then found by search.
    pub intended: Vec<Move>,
    /// A line found before. Its moves are preferred among moves that are equally good.
    pub known: Vec<Move>,
    /// Whether the findings contain proofs.
    pub keeps_proofs: bool,
}

impl Question {
    /// A question without an intended solution and without proofs in the findings.
    pub const fn new(limits: Limits, nodes_a_position: u64) -> Self {
        Self {
            limits,
            nodes_a_position,
            intended: Vec::new(),
            known: Vec::new(),
            keeps_proofs: false,
        }
    }

    /// The hints for the move at this ply of the main line.
    fn hints(&self, ply: usize, follows_known: bool) -> Hints {
        let known = self.known.get(ply).copied().filter(|_| follows_known);
        Hints { intended: self.intended.get(ply).copied(), known }
    }
}

/// Hints for one move of the main line.
#[derive(Clone, Copy)]
struct Hints {
    intended: Option<Move>,
    known: Option<Move>,
}

/// The main line with all moves at each of its positions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MainLine {
    /// The root and the positions after each move of the solution.
    pub nodes: Vec<LineNode>,
    /// Whether the line ends in mate, without futile interpositions. `false` if a limit was reached or if an intended
    /// move does not mate.
    pub is_complete: bool,
}

impl MainLine {
    /// Whether the solution is unique to the end. Alternatives of every kind count.
    pub fn uniqueness(&self) -> Uniqueness {
        let is_no_mate = match self.nodes.last() {
            Some(LineNode::Attack(node)) => node.uniqueness() == Uniqueness::NoMate,
            _ => false,
        };
        let is_decided = self.is_complete || is_no_mate;
        let end = if is_decided { Uniqueness::Unique } else { Uniqueness::Undecided };
        self.attacks().map(AttackFindings::uniqueness).fold(end, Uniqueness::and)
    }

    /// Whether it is decided which checks mate, and no alternative is essential.
    pub fn has_only_flaws(&self) -> bool {
        self.attacks().flat_map(|node| &node.checks).all(|check| {
            !matches!(check.finding.verdict, Verdict::Unknown(_))
                && check.kind.is_none_or(|kind| !kind.is_essential())
        })
    }

    /// The positions with the attacker to move.
    pub fn attacks(&self) -> impl Iterator<Item = &AttackFindings> {
        self.nodes.iter().filter_map(|node| match node {
            LineNode::Attack(findings) => Some(findings),
            LineNode::Defence(_) => None,
        })
    }

    /// The moves of the solution.
    pub fn moves(&self) -> impl Iterator<Item = Move> {
        self.nodes.iter().filter_map(|node| node.solution()).map(|finding| finding.m)
    }
}

/// Searches all moves of a position, with its own table. Position, question and table size determine the findings.
pub struct AlternativesSearch {
    df_pn: DfPn<Restricted<Mate>>,
}

impl AlternativesSearch {
    /// A search with a table of this size.
    ///
    /// # Panics
    /// If the table cannot be allocated, see [`Self::try_new`].
    pub fn new(table: TableSize) -> Self {
        Self { df_pn: DfPn::new(table) }
    }

    /// A search with a table of this size.
    ///
    /// # Errors
    /// [`TableError`] if the table cannot be allocated.
    pub fn try_new(table: TableSize) -> Result<Self, TableError> {
        Ok(Self { df_pn: DfPn::try_new(table)? })
    }

    /// Searches all checks of the side to move, which is the attacker.
    ///
    /// There are none if the defender has no king. For large depths, call this on a thread with a stack of
    /// [`STACK_BYTES`](super::STACK_BYTES).
    pub fn first_moves(
        &mut self,
        position: &Position,
        question: &Question,
        observer: &dyn SearchObserver<Move>,
    ) -> AttackFindings {
        let mut search = self.move_search(question, observer);
        let mut budget = Budget(question.nodes_a_position);
        let hints = question.hints(0, true);
        attack(&mut search, position, &[position.board_key()], hints, &mut budget)
    }

    /// Searches all replies of the side to move, which is the defender.
    pub fn replies(
        &mut self,
        position: &Position,
        question: &Question,
        observer: &dyn SearchObserver<Move>,
    ) -> DefenceFindings {
        let mut search = self.move_search(question, observer);
        let mut budget = Budget(question.nodes_a_position);
        defence(&mut search, position, question.hints(0, true), &mut budget)
    }

    /// Finds the main line and searches all moves at each of its positions.
    pub fn line(
        &mut self,
        position: &Position,
        attacker: Attacker,
        question: &Question,
        observer: &dyn SearchObserver<Move>,
    ) -> MainLine {
        let mut search = self.move_search(question, observer);
        let mut walk = Walk { position: position.clone(), boards: Vec::new(), nodes: Vec::new() };
        let mut is_attack = attacker == Attacker::SideToMove;
        let mut follows_known = true;
        let is_complete = loop {
            let mut budget = Budget(question.nodes_a_position);
            let hints = question.hints(walk.nodes.len(), follows_known);
            if is_attack {
                if !walk.board_is_new() {
                    break false;
                }
                walk.boards.push(walk.position.board_key());
                let node = attack(&mut search, &walk.position, &walk.boards, hints, &mut budget);
                walk.nodes.push(LineNode::Attack(node));
            } else {
                let node = defence(&mut search, &walk.position, hints, &mut budget);
                walk.nodes.push(LineNode::Defence(node));
            }
            let Some(m) = walk.nodes.last().and_then(LineNode::solution).map(|found| found.m)
            else {
                break walk.nodes.last().is_some_and(is_mate);
            };
            follows_known &= hints.known == Some(m);
            walk.position.make(m);
            is_attack = !is_attack;
        };
        mark_rejoining(&mut search, position, &mut walk, question.nodes_a_position);
        MainLine { nodes: walk.nodes, is_complete }
    }

    fn move_search<'a>(
        &'a mut self,
        question: &Question,
        observer: &'a dyn SearchObserver<Move>,
    ) -> MoveSearch<'a> {
        let &Question { limits, keeps_proofs, .. } = question;
        MoveSearch { df_pn: &mut self.df_pn, limits, observer, keeps_proofs }
    }
}

/// The part of the main line that has been found.
struct Walk {
    position: Position,
    /// Board keys of the line's positions with the attacker to move.
    boards: Vec<u64>,
    nodes: Vec<LineNode>,
}

impl Walk {
    /// Whether the board has not occurred on the line. A solution that is not the shortest could return to a board.
    fn board_is_new(&self) -> bool {
        !self.boards.contains(&self.position.board_key())
    }
}

/// Whether the defender has no moves except futile interpositions.
fn is_mate(node: &LineNode) -> bool {
    match node {
        LineNode::Attack(_) => false,
        LineNode::Defence(node) => {
            node.replies.iter().all(|reply| reply.is_futile == Some(true) && reply.finding.mates())
        }
    }
}

/// Searches all checks of a position. `boards` are the boards of the line with the attacker to move, including this
/// one.
fn attack(
    search: &mut MoveSearch<'_>,
    position: &Position,
    boards: &[u64],
    hints: Hints,
    budget: &mut Budget,
) -> AttackFindings {
    let moves = match position.king(!position.side_to_move()) {
        Some(_) => position.checks(),
        None => Vec::new(),
    };
    let reserved = budget.0 / KINDS_DIVISOR;
    budget.0 -= reserved;
    let findings = search.search_all(position, NodeKind::Or, &moves, budget);
    budget.0 += reserved;
    let solution = match hints.intended {
        Some(m) => findings.iter().position(|finding| finding.m == m && finding.mates()),
        None => shortest(&findings, hints.known),
    };
    let mut checks: Vec<CheckFinding> =
        findings.into_iter().map(|finding| CheckFinding { finding, kind: None }).collect();
    if let Some(solution) = solution {
        for index in 0..checks.len() {
            if index != solution && checks[index].finding.mates() {
                let (solution, other) = (&checks[solution].finding, &checks[index].finding);
                let kind = kind_of(search, position, boards, (solution, other), budget);
                checks[index].kind = Some(kind);
            }
        }
    }
    AttackFindings { checks, solution }
}

/// Index of the mate with the fewest plies without futile interpositions. Among equals: the fewest plies, then the
/// known move, then the first.
fn shortest(findings: &[MoveFinding], known: Option<Move>) -> Option<usize> {
    let mates = findings.iter().enumerate().filter(|(_, finding)| finding.mates());
    let shortest = mates.min_by_key(|(_, finding)| {
        (finding.counted_plies(), finding.line.len(), known != Some(finding.m))
    });
    shortest.map(|(index, _)| index)
}

/// The kind of an alternative to the solution.
fn kind_of(
    search: &mut MoveSearch<'_>,
    position: &Position,
    boards: &[u64],
    (solution, other): (&MoveFinding, &MoveFinding),
    budget: &mut Budget,
) -> AlternativeKind {
    let [plies, other_plies] = [solution, other].map(MoveFinding::counted_plies);
    if plies == other_plies
        && let Some(kind) = kinds::kind_on_board(position, solution.m, other.m)
    {
        return kind;
    }
    if plies == 1 && boards.len() > 1 {
        return AlternativeKind::LastMove;
    }
    if needs_boards(search, position, other, boards, budget) {
        return AlternativeKind::Detour;
    }
    if other_plies < plies { AlternativeKind::Shorter } else { AlternativeKind::Other }
}

/// Whether a check mates only through one of these boards. `false` if a limit prevents the decision.
fn needs_boards(
    search: &mut MoveSearch<'_>,
    position: &Position,
    other: &MoveFinding,
    boards: &[u64],
    budget: &mut Budget,
) -> bool {
    if other.line.len() <= 1 {
        return false;
    }
    let found = search.search_move(position, NodeKind::Or, other.m, boards, budget.0);
    budget.0 = budget.0.saturating_sub(found.nodes);
    found.verdict == Verdict::Disproven
}

/// Searches all replies to a check.
fn defence(
    search: &mut MoveSearch<'_>,
    position: &Position,
    hints: Hints,
    budget: &mut Budget,
) -> DefenceFindings {
    let moves = position.legal_moves();
    let reserved = budget.0 / KINDS_DIVISOR;
    budget.0 -= reserved;
    let findings = search.search_all(position, NodeKind::And, &moves, budget);
    budget.0 += reserved;
    let futile = futile_replies(search, position, &moves, budget);
    let mut replies: Vec<ReplyFinding> = findings
        .into_iter()
        .map(|finding| {
            let is_futile = futile.as_ref().map(|futile| futile.contains(&finding.m));
            let is_futile = if finding.m.is_drop() { is_futile } else { Some(false) };
            ReplyFinding { finding, is_futile, is_longest: None }
        })
        .collect();
    mark_longest(&mut replies);
    let solution = match hints.intended {
        Some(m) => replies.iter().position(|reply| reply.finding.m == m && reply.finding.mates()),
        None => longest(&replies, hints.known),
    };
    DefenceFindings { replies, solution }
}

/// The futile interpositions among `moves`; `None` if the search could not decide.
fn futile_replies(
    search: &mut MoveSearch<'_>,
    position: &Position,
    moves: &[Move],
    budget: &mut Budget,
) -> Option<Vec<Move>> {
    if !moves.iter().any(|m| m.is_drop()) {
        return Some(Vec::new());
    }
    let mut game = Mate::against_side_to_move(position.clone());
    let proof = search.prove(&game, budget)?;
    proof.futile_defences(&mut game)
}

/// Sets [`ReplyFinding::is_longest`] of each reply.
fn mark_longest(replies: &mut [ReplyFinding]) {
    let counts = |reply: &&ReplyFinding| reply.is_futile != Some(true);
    let longest = replies.iter().filter(counts).map(|reply| reply.finding.counted_plies()).max();
    let exact = replies.iter().filter(counts).filter(|reply| reply.finding.is_shortest);
    let exact = exact.map(|reply| reply.finding.counted_plies()).max();
    let all_mate = replies.iter().filter(counts).all(|reply| reply.finding.mates());
    for reply in replies {
        let MoveFinding { is_shortest, .. } = reply.finding;
        let plies = reply.finding.counted_plies();
        let is_shorter = reply.finding.mates() && exact.is_some_and(|exact| plies < exact);
        reply.is_longest = if reply.is_futile == Some(true) || is_shorter {
            Some(false)
        } else if all_mate && is_shortest && Some(plies) == longest {
            Some(true)
        } else {
            None
        };
    }
}

/// Index of the reply that holds out longest. Among equals: one that leaves the attacker no piece, then the known move,
/// then the first.
fn longest(replies: &[ReplyFinding], known: Option<Move>) -> Option<usize> {
    let lost = replies.iter().enumerate();
    let lost = lost.filter(|(_, reply)| reply.finding.mates() && reply.is_futile != Some(true));
    let best = |(_, reply): &(usize, &ReplyFinding)| {
        let MoveFinding { m, leaves_pieces, .. } = reply.finding;
        (reply.finding.counted_plies(), !leaves_pieces, known == Some(m))
    };
    // Reversed, because `max_by_key` returns the last of equals.
    lost.rev().max_by_key(best).map(|(index, _)| index)
}

/// Marks the checks that mate only through a later position of the main line.
fn mark_rejoining(search: &mut MoveSearch<'_>, root: &Position, walk: &mut Walk, nodes: u64) {
    let mut position = root.clone();
    for node in &mut walk.nodes {
        let solution = node.solution().map(|finding| finding.m);
        if let LineNode::Attack(node) = node {
            let mut budget = Budget(nodes / KINDS_DIVISOR);
            for check in &mut node.checks {
                if check.kind == Some(AlternativeKind::Other)
                    && needs_boards(search, &position, &check.finding, &walk.boards, &mut budget)
                {
                    check.kind = Some(AlternativeKind::Rejoins);
                }
            }
        }
        if let Some(m) = solution {
            position.make(m);
        }
    }
}
