//! Depth-first proof-number search.
//!
//! df-pn with a transposition table: Nagai, *Df-pn algorithm for searching AND/OR trees and its
//! applications* (2002); 1+ε thresholds: Pawlewicz and Lew (2007); disproofs that lean on the path:
//! Kishimoto and Müller (2004). `docs/search.md` pairs each hazard with the technique that meets it.

use std::hint::black_box;

use crate::game::{Candidate, Expansion, Game, Hand, NodeKind, Outcome};

use super::numbers::{DISPROVEN, Numbers, PROVEN, Summary};
use super::path::{Lean, NO_LEAN, Path, lean_above};
use super::table::{Finding, INFINITE, Known, Proof, Table};
use super::watch::Watch;
use super::{Limits, MOST_PLIES, Stats, Stop, TableError, TableSize, Verdict};

/// Changes whenever the same position and limits may give another verdict, line or node count.
pub const SOLVER_VERSION: u32 = 1;

/// How often the caller is asked whether to stop, and told how far the search is.
const WATCH_EVERY_NODES: u64 = 1 << 10;

/// The answer to one search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solved<M> {
    /// Whether the goal is reached.
    pub verdict: Verdict,
    /// Proven: the attacker's proof against the most resistant defence in it, to the end of the game.
    pub line: Vec<M>,
    /// What it cost.
    pub stats: Stats,
}

/// A df-pn search of any [`Game`] with its own table. Searches leave nothing behind: the answer is a
/// function of position, limits and table size.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use kyokumen::search::{DfPn, Limits, TableSize, Verdict};
/// use kyokumen::shogi::{Mate, Position};
///
/// let position: Position = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1".parse().unwrap();
/// let mut search = DfPn::new(TableSize::from_mib(1));
/// let limits = Limits { depth_plies: 9, nodes: 1_000 };
/// let mut game = Mate::by_side_to_move(position);
/// let solved = search.solve(&mut game, limits, &AtomicBool::new(false));
/// assert_eq!(solved.verdict, Verdict::Proven);
/// assert_eq!(solved.line[0].to_string(), "G*5b");
/// ```
pub struct DfPn<G: Game> {
    pub(super) table: Table<G::Hand>,
    path: Path<G::Hand>,
    children: Vec<Child<G>>,
    candidates: Vec<Candidate<G::Move>>,
    /// Moves from the root to the node being searched.
    line: Vec<G::Move>,
    limits: Limits,
    nodes: u64,
    stop: Option<Stop>,
    /// Searching for a proof within the depth limit: longer ones do not count.
    rebuilding: bool,
}

/// What a search of one node found.
#[derive(Clone, Copy, Debug)]
struct Value<H> {
    numbers: Numbers,
    /// Solved: proof or disproof hand.
    hand: H,
    /// Proven: plies of the proof.
    plies: u16,
    /// Disproven: only within the plies that were left.
    bound: bool,
    /// Disproven: see [`Lean`].
    lean: Lean,
}

impl<H> Value<H> {
    const fn proven(hand: H, plies: u16) -> Self {
        Self { numbers: PROVEN, hand, plies, bound: false, lean: NO_LEAN }
    }

    const fn disproven(hand: H) -> Self {
        Self { numbers: DISPROVEN, hand, plies: 0, bound: false, lean: NO_LEAN }
    }

    const fn depth_bound(hand: H) -> Self {
        Self { numbers: DISPROVEN, hand, plies: 0, bound: true, lean: NO_LEAN }
    }

    const fn open(hand: H, proof: u32, disproof: u32) -> Self {
        let numbers = Numbers { proof, disproof };
        Self { numbers, hand, plies: 0, bound: false, lean: NO_LEAN }
    }

    /// True on every path and at every depth.
    const fn is_fact(&self) -> bool {
        !self.bound && self.lean == NO_LEAN
    }
}

struct Child<G: Game> {
    m: G::Move,
    key: u64,
    delayed: bool,
    /// Has been searched before, so that a proof in one would be known.
    seen: bool,
    value: Value<G::Hand>,
}

impl<G: Game> Child<G> {
    const fn is_solved(&self) -> bool {
        self.value.numbers.is_solved()
    }
}

impl<G: Game> DfPn<G> {
    /// A search with a table of this size.
    ///
    /// # Panics
    /// If there is no memory for it, see [`Self::try_new`].
    pub fn new(table: TableSize) -> Self
    where
        G::Hand: Default,
    {
        Self::try_new(table).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A search with a table of this size.
    ///
    /// # Errors
    /// [`TableError`] if there is no memory for it.
    pub fn try_new(table: TableSize) -> Result<Self, TableError>
    where
        G::Hand: Default,
    {
        let entries = Table::new(table.bytes(), G::Hand::default());
        Ok(Self {
            table: entries.map_err(|_| TableError(table))?,
            path: Path::new(),
            children: Vec::new(),
            candidates: Vec::new(),
            line: Vec::new(),
            limits: Limits { depth_plies: 0, nodes: 0 },
            nodes: 0,
            stop: None,
            rebuilding: false,
        })
    }

    /// Searches a position, checks the proof if there is one, and reads the line from it; gives up with
    /// [`Stop::Cancelled`] soon after `watch` wants it to.
    ///
    /// Great depths need a thread with a stack of [`STACK_BYTES`](super::STACK_BYTES).
    pub fn solve(
        &mut self,
        game: &mut G,
        limits: Limits,
        watch: &dyn Watch<G::Move>,
    ) -> Solved<G::Move> {
        self.table.start(limits.nodes);
        self.limits = Limits { depth_plies: limits.depth_plies.min(MOST_PLIES), ..limits };
        self.nodes = 0;
        self.stop = None;
        self.rebuilding = false;
        let searched = self.search_root(game, watch);
        let mut stats = Stats { nodes: self.nodes, ..Stats::default() };
        let open = |stop| (Verdict::Unknown(stop), Vec::new());
        let (verdict, line) = match searched {
            Err(stop) => open(stop),
            Ok(value) if value.numbers == PROVEN => {
                match self.checked_line(game, value.plies, limits, watch, &mut stats) {
                    Ok(line) => (Verdict::Proven, line),
                    Err(stop) => open(stop),
                }
            }
            Ok(value) if value.bound => open(Stop::Depth),
            Ok(_) => (Verdict::Disproven, Vec::new()),
        };
        stats.nodes = self.nodes;
        Solved { verdict, line, stats }
    }

    /// Searches for a proof of at most `plies`, which the table has lost; it keeps what it has.
    pub(super) fn search_again(
        &mut self,
        game: &mut G,
        plies: u16,
        watch: &dyn Watch<G::Move>,
    ) -> Result<(), Stop> {
        self.limits.depth_plies = plies;
        self.rebuilding = true;
        let value = self.search_root(game, watch)?;
        if value.numbers == PROVEN { Ok(()) } else { Err(Stop::Memory) }
    }

    /// Raises the node limit for searches that rebuild a proof.
    pub(super) const fn allow_nodes(&mut self, nodes: u64) {
        self.limits.nodes = nodes;
        self.stop = None;
    }

    fn search_root(
        &mut self,
        game: &mut G,
        watch: &dyn Watch<G::Move>,
    ) -> Result<Value<G::Hand>, Stop> {
        let limit = Numbers { proof: INFINITE, disproof: INFINITE };
        self.path.clear();
        self.children.clear();
        self.line.clear();
        let value = self.search(game, 0, false, limit, watch);
        match self.stop {
            Some(stop) if !value.numbers.is_solved() => Err(stop),
            _ => Ok(value),
        }
    }

    /// Searches a node until it is solved or a number reaches its limit.
    fn search(
        &mut self,
        game: &mut G,
        ply: u16,
        seen: bool,
        limit: Numbers,
        watch: &dyn Watch<G::Move>,
    ) -> Value<G::Hand> {
        let plies_left = self.limits.depth_plies - ply;
        let (key, hand) = (game.board_key(), game.hand());
        let nodes_before = self.nodes;
        let first = self.children.len();
        self.path.push(key, hand);
        let value = match self.expand(game, plies_left, seen) {
            Some(value) => value,
            None => self.search_children(game, ply, first, limit, watch),
        };
        self.path.pop();
        let code = self.proving_code(game, first);
        self.children.truncate(first);
        let effort = u32::try_from(self.nodes - nodes_before + 1).unwrap_or(u32::MAX);
        self.store(key, hand, &value, code, plies_left, effort);
        value
    }

    /// Fills in the children, or values a node that needs none.
    fn expand(&mut self, game: &mut G, plies_left: u16, seen: bool) -> Option<Value<G::Hand>> {
        let (kind, hand) = (game.node_kind(), game.hand());
        self.candidates.clear();
        match game.expand(!seen && plies_left > 0, &mut self.candidates) {
            Expansion::Goal(m) => return Some(self.reach_goal(game, m)),
            Expansion::Over(Outcome::Reached) => {
                return Some(Value::proven(game.proof_hand_of_goal(), 0));
            }
            Expansion::Over(Outcome::Missed) => {
                return Some(Value::disproven(game.disproof_hand_of_attacks(None)));
            }
            Expansion::Moves if plies_left == 0 => return Some(Value::depth_bound(hand)),
            Expansion::Moves => {}
        }
        let first = self.push_children(game);
        for index in first..self.children.len() {
            let child = &self.children[index];
            if child.delayed && index > first && !self.children[index - 1].is_solved() {
                // Looked up when its turn comes: most never do, and by then more is known.
                continue;
            }
            self.look_up(index, plies_left - 1);
            let value = &self.children[index].value;
            let decides = match kind {
                NodeKind::Or => value.numbers.proof == 0,
                NodeKind::And => value.numbers.disproof == 0 && value.is_fact(),
            };
            if decides {
                self.children.truncate(index + 1);
                break;
            }
        }
        None
    }

    /// An OR node whose only child is the end of the game.
    fn reach_goal(&mut self, game: &mut G, m: G::Move) -> Value<G::Hand> {
        let key = game.board_key_after(m);
        let undo = game.make(m);
        let goal = game.proof_hand_of_goal();
        game.unmake(m, undo);
        let value = Value::proven(goal, 0);
        self.children.push(Child { m, key, delayed: false, seen: true, value });
        Value::proven(game.proof_hand_of_attack(m, goal), 1)
    }

    /// Makes children of the candidates, and has their table entries on the way to the processor before
    /// the first of them is looked at.
    fn push_children(&mut self, game: &G) -> usize {
        let first = self.children.len();
        let mut touched = 0;
        for candidate in &self.candidates {
            let &Candidate { m, delayed, proof_number, disproof_number } = candidate;
            let key = game.board_key_after(m);
            if !delayed {
                touched ^= self.table.touch(key);
            }
            let value = Value::open(game.hand_after(m), proof_number, disproof_number);
            self.children.push(Child { m, key, delayed, seen: false, value });
        }
        black_box(touched);
        first
    }

    /// Takes over what path and table know about a child.
    fn look_up(&mut self, index: usize, plies_left: u16) {
        let child = &mut self.children[index];
        let hand = child.value.hand;
        let longest_proof = if self.rebuilding { plies_left } else { u16::MAX };
        child.seen = true;
        child.value = if let Some(lean) = self.path.repeats(child.key, hand) {
            Value { lean, ..Value::disproven(hand) }
        } else {
            match self.table.look_up(child.key, hand, plies_left, longest_proof) {
                Known::Proven { hand, plies } => Value::proven(hand, plies),
                Known::Disproven { hand } => Value::disproven(hand),
                Known::DepthBound => Value::depth_bound(hand),
                Known::Open { proof_number, disproof_number } => {
                    Value::open(hand, proof_number, disproof_number)
                }
                Known::Nothing => {
                    child.seen = false;
                    return;
                }
            }
        };
    }

    /// Looks up the delayed children whose turn has come because the one before them is solved.
    fn look_up_delayed(&mut self, solved: usize, plies_left: u16) {
        let mut index = solved;
        while self.children[index].is_solved()
            && self.children.get(index + 1).is_some_and(|next| next.delayed)
        {
            index += 1;
            self.look_up(index, plies_left);
        }
    }

    fn search_children(
        &mut self,
        game: &mut G,
        ply: u16,
        first: usize,
        limit: Numbers,
        watch: &dyn Watch<G::Move>,
    ) -> Value<G::Hand> {
        let kind = game.node_kind();
        loop {
            let children = self.children[first..].iter();
            let summary =
                Summary::of(kind, children.map(|child| (child.delayed, child.value.numbers)));
            let best = first + summary.best;
            if summary.numbers.is_solved() {
                return self.solved_value(game, ply, first, summary.numbers);
            }
            if summary.numbers.exceeds(limit) || self.must_stop(watch) {
                let Numbers { proof, disproof } = summary.numbers;
                return Value::open(game.hand(), proof, disproof);
            }
            let child = &self.children[best];
            let (m, seen) = (child.m, child.seen);
            let child_limit = summary.limit_of_best(kind, child.value.numbers, limit);
            self.nodes += 1;
            self.line.push(m);
            let undo = game.make(m);
            let value = self.search(game, ply + 1, seen, child_limit, watch);
            game.unmake(m, undo);
            self.line.pop();
            let child = &mut self.children[best];
            child.value = value;
            child.seen = true;
            self.look_up_delayed(best, self.limits.depth_plies - ply - 1);
        }
    }

    fn must_stop(&mut self, watch: &dyn Watch<G::Move>) -> bool {
        if self.stop.is_none() {
            if self.nodes >= self.limits.nodes {
                self.stop = Some(Stop::Nodes);
            } else if self.nodes.is_multiple_of(WATCH_EVERY_NODES) {
                watch.progress(self.nodes, &self.line);
                self.stop = watch.wants_stop().then_some(Stop::Cancelled);
            }
        }
        self.stop.is_some()
    }

    /// Puts the children of a solved node together.
    fn solved_value(&self, game: &G, ply: u16, first: usize, numbers: Numbers) -> Value<G::Hand> {
        let children = &self.children[first..];
        match (game.node_kind(), numbers.proof == 0) {
            (NodeKind::Or, true) => {
                let child = proving_child(children).expect("a proven OR node has a proven child");
                let hand = game.proof_hand_of_attack(child.m, child.value.hand);
                Value::proven(hand, child.value.plies.saturating_add(1))
            }
            (NodeKind::And, true) => {
                let union = children.iter().map(|child| child.value.hand).reduce(Hand::union);
                let union = union.expect("a node with no moves is not summarized");
                let plies = children.iter().map(|child| child.value.plies).max().unwrap_or(0);
                Value::proven(game.proof_hand_of_defence(union), plies.saturating_add(1))
            }
            (NodeKind::Or, false) => {
                let hand = children
                    .iter()
                    .map(|child| game.disproof_hand_of_attack(child.m, child.value.hand))
                    .reduce(Hand::intersection);
                let lean = children.iter().map(|child| child.value.lean).min().unwrap_or(NO_LEAN);
                Value {
                    bound: children.iter().any(|child| child.value.bound),
                    lean: lean_above(ply, lean),
                    ..Value::disproven(game.disproof_hand_of_attacks(hand))
                }
            }
            (NodeKind::And, false) => {
                // A fact serves better than a disproof by depth or path.
                let child = children
                    .iter()
                    .filter(|child| child.value.numbers.disproof == 0)
                    .min_by_key(|child| !child.value.is_fact())
                    .expect("a disproven AND node has a disproven child");
                let hand = game.disproof_hand_of_defence(child.m, child.value.hand);
                Value { lean: lean_above(ply, child.value.lean), hand, ..child.value }
            }
        }
    }

    /// The proving move of an OR node just searched, 0 where there is none.
    fn proving_code(&self, game: &G, first: usize) -> u16 {
        match game.node_kind() {
            NodeKind::Or => {
                proving_child(&self.children[first..]).map_or(0, |child| G::code(child.m).get())
            }
            NodeKind::And => 0,
        }
    }

    fn store(
        &mut self,
        key: u64,
        hand: G::Hand,
        value: &Value<G::Hand>,
        code: u16,
        plies_left: u16,
        effort: u32,
    ) {
        let finding = if value.numbers == PROVEN {
            Finding::Proven(Proof { hand: value.hand, plies: value.plies, code })
        } else if value.numbers != DISPROVEN {
            let Numbers { proof, disproof } = value.numbers;
            Finding::Open { proof_number: proof, disproof_number: disproof }
        } else if value.lean != NO_LEAN {
            // True on this path only: the parent's frame remembers it as long as it matters.
            return;
        } else if value.bound {
            Finding::DepthBound { plies_left }
        } else {
            Finding::Disproven { hand: value.hand }
        };
        self.table.store(key, hand, finding, effort);
    }
}

fn proving_child<G: Game>(children: &[Child<G>]) -> Option<&Child<G>> {
    children
        .iter()
        .filter(|child| child.value.numbers.proof == 0)
        .min_by_key(|child| child.value.plies)
}
