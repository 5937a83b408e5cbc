//! Which moves mate, and which replies hold out longest: what composers of mate problems ask about a position.
//!
//! A problem has one solution if at each move of the attacker on its main line one check mates and no other does
//! (余詰); the defender's moves on that line are those that hold out longest. `docs/tsume.md` has the terms with their
//! sources, and where they are disputed.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use kyokumen_search::alternatives::{AlternativeKind, AlternativesSearch, Question, Uniqueness};
//! use kyokumen_search::solver::{Limits, TableSize};
//! use kyokumen_shogi::Position;
//!
//! // A gold in hand, a pawn that guards it, the bare king at the edge: one way to mate.
//! let position: Position = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1".parse()?;
//! let mut search = AlternativesSearch::new(TableSize::from_mib(1));
//! let question = Question::new(Limits::new(31, 100_000), 1_000_000);
//! let found = search.first_moves(&position, &question, &AtomicBool::new(false));
//! assert_eq!(found.uniqueness(), Uniqueness::Unique);
//!
//! // With a lance behind the pawn it may promote as well.
//! let position: Position = "4k4/9/4P4/4L4/9/9/9/9/9 b G2r2b3g4s4n3l17p 1".parse()?;
//! let found = search.first_moves(&position, &question, &AtomicBool::new(false));
//! assert_eq!(found.uniqueness(), Uniqueness::NotUnique);
//! let other = found.alternatives().next().unwrap();
//! assert_eq!((other.finding.m.to_string().as_str(), other.kind), ("G*5b", Some(AlternativeKind::Other)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod asking;
mod findings;
mod kinds;

use kyokumen_game::NodeKind;
use kyokumen_shogi::{Mate, Move, Position};

use self::asking::{Asking, Budget};
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

/// Of the nodes about a position, one part in so many is kept for telling kinds and futile interpositions apart.
const KEPT_FOR_KINDS: u64 = 4;

/// What is asked, and how far the search may go.
#[derive(Clone, Debug)]
pub struct Question {
    /// Bounds of each single search; the depth is counted from the position whose move is asked about.
    pub limits: Limits,
    /// Nodes that all searches about one position may take together.
    pub nodes_a_position: u64,
    /// The solution as it is intended (作意), from the position that is asked about; what it does not say is found.
    pub intended: Vec<Move>,
    /// A line that was found before: of moves that are as good its moves are taken.
    pub known: Vec<Move>,
    /// Whether proofs are kept in the findings.
    pub keeps_proofs: bool,
}

impl Question {
    /// A question without an intended solution, whose proofs are not kept.
    pub const fn new(limits: Limits, nodes_a_position: u64) -> Self {
        Self {
            limits,
            nodes_a_position,
            intended: Vec::new(),
            known: Vec::new(),
            keeps_proofs: false,
        }
    }

    /// What is said about the move after so many of the main line.
    fn hints(&self, ply: usize, follows_known: bool) -> Hints {
        let known = self.known.get(ply).copied().filter(|_| follows_known);
        Hints { intended: self.intended.get(ply).copied(), known }
    }
}

/// What is said about one move of the main line.
#[derive(Clone, Copy)]
struct Hints {
    intended: Option<Move>,
    known: Option<Move>,
}

/// The main line with all that can be played beside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MainLine {
    /// The position that was asked about and those after each move of the solution.
    pub nodes: Vec<LineNode>,
    /// Whether it ends in mate, futile interpositions aside. It may not if a limit was in the way, or if an intended
    /// move does not mate.
    pub is_complete: bool,
}

impl MainLine {
    /// Whether there is one solution to the end, of whatever kind the alternatives are.
    pub fn uniqueness(&self) -> Uniqueness {
        let end = if self.is_complete { Uniqueness::Unique } else { Uniqueness::Undecided };
        self.attacks().map(AttackFindings::uniqueness).fold(end, Uniqueness::and)
    }

    /// The positions of the attacker.
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

/// Asks about all moves of positions, with a table of its own. Answers are functions of position, question and
/// table size.
pub struct AlternativesSearch {
    search: DfPn<Restricted<Mate>>,
}

impl AlternativesSearch {
    /// With a table of this size.
    ///
    /// # Panics
    /// If there is no memory for it, see [`Self::try_new`].
    pub fn new(table: TableSize) -> Self {
        Self { search: DfPn::new(table) }
    }

    /// With a table of this size.
    ///
    /// # Errors
    /// [`TableError`] if there is no memory for it.
    pub fn try_new(table: TableSize) -> Result<Self, TableError> {
        Ok(Self { search: DfPn::try_new(table)? })
    }

    /// All checks of the side to move, which is the attacker.
    ///
    /// Without a king to be mated there are none. Great depths need a thread with a stack of
    /// [`STACK_BYTES`](super::STACK_BYTES).
    pub fn first_moves(
        &mut self,
        position: &Position,
        question: &Question,
        observer: &dyn SearchObserver<Move>,
    ) -> AttackFindings {
        let mut asking = self.asking(question, observer);
        let mut budget = Budget(question.nodes_a_position);
        let hints = question.hints(0, true);
        attack(&mut asking, position, &[position.board_key()], hints, &mut budget)
    }

    /// All replies of the side to move, which is the defender.
    pub fn replies(
        &mut self,
        position: &Position,
        question: &Question,
        observer: &dyn SearchObserver<Move>,
    ) -> DefenceFindings {
        let mut asking = self.asking(question, observer);
        let mut budget = Budget(question.nodes_a_position);
        defence(&mut asking, position, question.hints(0, true), &mut budget)
    }

    /// The main line and all moves beside it.
    pub fn line(
        &mut self,
        position: &Position,
        attacker: Attacker,
        question: &Question,
        observer: &dyn SearchObserver<Move>,
    ) -> MainLine {
        let mut asking = self.asking(question, observer);
        let mut walk = Walk { position: position.clone(), boards: Vec::new(), nodes: Vec::new() };
        let mut attacks_next = attacker == Attacker::SideToMove;
        let mut follows_known = true;
        let is_complete = loop {
            let mut budget = Budget(question.nodes_a_position);
            let hints = question.hints(walk.nodes.len(), follows_known);
            if attacks_next {
                if !walk.boards_are_new() {
                    break false;
                }
                walk.boards.push(walk.position.board_key());
                let node = attack(&mut asking, &walk.position, &walk.boards, hints, &mut budget);
                walk.nodes.push(LineNode::Attack(node));
            } else {
                let node = defence(&mut asking, &walk.position, hints, &mut budget);
                walk.nodes.push(LineNode::Defence(node));
            }
            let Some(m) = walk.nodes.last().and_then(LineNode::solution).map(|found| found.m)
            else {
                break walk.nodes.last().is_some_and(is_mate);
            };
            follows_known &= hints.known == Some(m);
            walk.position.make(m);
            attacks_next = !attacks_next;
        };
        tell_rejoining(&mut asking, position, &mut walk, question.nodes_a_position);
        MainLine { nodes: walk.nodes, is_complete }
    }

    fn asking<'a>(
        &'a mut self,
        question: &Question,
        observer: &'a dyn SearchObserver<Move>,
    ) -> Asking<'a> {
        let &Question { limits, keeps_proofs, .. } = question;
        Asking { search: &mut self.search, limits, observer, keeps_proofs }
    }
}

/// The main line as far as it is known.
struct Walk {
    position: Position,
    /// Those at which the attacker was to move.
    boards: Vec<u64>,
    nodes: Vec<LineNode>,
}

impl Walk {
    /// A solution does not come back to where it was; one that is not the shortest might.
    fn boards_are_new(&self) -> bool {
        !self.boards.contains(&self.position.board_key())
    }
}

/// Whether nothing is left to the defender, futile interpositions aside.
fn is_mate(node: &LineNode) -> bool {
    match node {
        LineNode::Attack(_) => false,
        LineNode::Defence(node) => {
            node.replies.iter().all(|reply| reply.is_futile == Some(true) && reply.finding.mates())
        }
    }
}

/// All checks of a position, `boards` being those of the attacker on the way here, this one included.
fn attack(
    asking: &mut Asking<'_>,
    position: &Position,
    boards: &[u64],
    hints: Hints,
    budget: &mut Budget,
) -> AttackFindings {
    let moves = match position.king(!position.side_to_move()) {
        Some(_) => position.checks(),
        None => Vec::new(),
    };
    let kept = budget.0 / KEPT_FOR_KINDS;
    budget.0 -= kept;
    let findings = asking.ask_all(position, NodeKind::Or, &moves, budget);
    budget.0 += kept;
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
                let kind = kind_of(asking, position, boards, (solution, other), budget);
                checks[index].kind = Some(kind);
            }
        }
    }
    AttackFindings { checks, solution }
}

/// The mate with the fewest plies that count; of equals the one with the fewest plies, the known one, the first.
fn shortest(findings: &[MoveFinding], known: Option<Move>) -> Option<usize> {
    let mates = findings.iter().enumerate().filter(|(_, finding)| finding.mates());
    let first = mates.min_by_key(|(_, finding)| {
        (finding.counted_plies(), finding.line.len(), known != Some(finding.m))
    });
    first.map(|(index, _)| index)
}

fn kind_of(
    asking: &mut Asking<'_>,
    position: &Position,
    boards: &[u64],
    (solution, other): (&MoveFinding, &MoveFinding),
    budget: &mut Budget,
) -> AlternativeKind {
    let [plies, other_plies] = [solution, other].map(MoveFinding::counted_plies);
    if plies == other_plies
        && let Some(kind) = kinds::kind_at_sight(position, solution.m, other.m)
    {
        return kind;
    }
    if plies == 1 && boards.len() > 1 {
        return AlternativeKind::LastMove;
    }
    if needs(asking, position, other, boards, budget) {
        return AlternativeKind::Detour;
    }
    if other_plies < plies { AlternativeKind::Shorter } else { AlternativeKind::Other }
}

/// Whether a check that mates does so only by way of these boards; `false` if a limit keeps that from being known.
fn needs(
    asking: &mut Asking<'_>,
    position: &Position,
    other: &MoveFinding,
    boards: &[u64],
    budget: &mut Budget,
) -> bool {
    if other.line.len() <= 1 {
        return false;
    }
    let found = asking.ask(position, NodeKind::Or, other.m, boards, budget.0);
    budget.0 = budget.0.saturating_sub(found.nodes);
    found.verdict == Verdict::Disproven
}

/// All replies to a check.
fn defence(
    asking: &mut Asking<'_>,
    position: &Position,
    hints: Hints,
    budget: &mut Budget,
) -> DefenceFindings {
    let moves = position.legal_moves();
    let kept = budget.0 / KEPT_FOR_KINDS;
    budget.0 -= kept;
    let findings = asking.ask_all(position, NodeKind::And, &moves, budget);
    budget.0 += kept;
    let futile = futile_replies(asking, position, &moves, budget);
    let mut replies: Vec<ReplyFinding> = findings
        .into_iter()
        .map(|finding| {
            let is_futile = futile.as_ref().map(|futile| futile.contains(&finding.m));
            let is_futile = if finding.m.is_drop() { is_futile } else { Some(false) };
            ReplyFinding { finding, is_futile, is_longest: None }
        })
        .collect();
    tell_longest(&mut replies);
    let solution = match hints.intended {
        Some(m) => replies.iter().position(|reply| reply.finding.m == m && reply.finding.mates()),
        None => longest(&replies, hints.known),
    };
    DefenceFindings { replies, solution }
}

/// The interpositions that problems do not count; `None` if that is not known.
fn futile_replies(
    asking: &mut Asking<'_>,
    position: &Position,
    moves: &[Move],
    budget: &mut Budget,
) -> Option<Vec<Move>> {
    if !moves.iter().any(|m| m.is_drop()) {
        return Some(Vec::new());
    }
    let mut game = Mate::of_side_to_move(position.clone());
    let proof = asking.prove(&game, budget)?;
    proof.futile_defences(&mut game)
}

/// Says of each reply whether it holds out longest, as far as that is known.
fn tell_longest(replies: &mut [ReplyFinding]) {
    let counts = |reply: &&ReplyFinding| reply.is_futile != Some(true);
    let most = replies.iter().filter(counts).map(|reply| reply.finding.counted_plies()).max();
    let exact = replies.iter().filter(counts).filter(|reply| reply.finding.is_shortest);
    let exact = exact.map(|reply| reply.finding.counted_plies()).max();
    let all_mate = replies.iter().filter(counts).all(|reply| reply.finding.mates());
    for reply in replies {
        let MoveFinding { is_shortest, .. } = reply.finding;
        let plies = reply.finding.counted_plies();
        let is_shorter = reply.finding.mates() && exact.is_some_and(|exact| plies < exact);
        reply.is_longest = if reply.is_futile == Some(true) || is_shorter {
            Some(false)
        } else if all_mate && is_shortest && Some(plies) == most {
            Some(true)
        } else {
            None
        };
    }
}

/// Of the replies that hold out longest one that leaves the attacker no piece, if there is one; of equals the known
/// one, or the first.
fn longest(replies: &[ReplyFinding], known: Option<Move>) -> Option<usize> {
    let lost = replies.iter().enumerate();
    let lost = lost.filter(|(_, reply)| reply.finding.mates() && reply.is_futile != Some(true));
    let best = |(_, reply): &(usize, &ReplyFinding)| {
        let MoveFinding { m, leaves_pieces, .. } = reply.finding;
        (reply.finding.counted_plies(), !leaves_pieces, known == Some(m))
    };
    // Of equals `max_by_key` would take the last.
    lost.rev().max_by_key(best).map(|(index, _)| index)
}

/// Marks the checks that mate only by way of a later position of the main line.
fn tell_rejoining(asking: &mut Asking<'_>, root: &Position, walk: &mut Walk, nodes: u64) {
    let mut position = root.clone();
    for node in &mut walk.nodes {
        let solution = node.solution().map(|finding| finding.m);
        if let LineNode::Attack(node) = node {
            let mut budget = Budget(nodes / KEPT_FOR_KINDS);
            for check in &mut node.checks {
                if check.kind == Some(AlternativeKind::Other)
                    && needs(asking, &position, &check.finding, &walk.boards, &mut budget)
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
