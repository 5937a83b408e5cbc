//! Depth-first proof-number search.
//!
//! df-pn with a transposition table: Nagai, *Df-pn algorithm for searching AND/OR trees and its
//! applications* (2002); 1+ε thresholds: Pawlewicz and Lew (2007); disproofs that lean on the path:
//! Kishimoto and Müller (2004). `docs/search.md` pairs each hazard with the technique that meets it.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::game::{Candidate, Expansion, Game, Hand, NodeKind, Outcome};

use super::table::{Finding, INFINITE, Known, LARGEST, Proof, Table};
use super::{Limits, MOST_PLIES, Stats, Stop, Verdict};

/// Changes whenever the same position and limits may give another verdict, line or node count.
pub const SOLVER_VERSION: u32 = 1;

/// How often the caller's wish to stop is looked at.
const CANCEL_EVERY_NODES: u64 = 1 << 10;

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

/// A df-pn search with its own table. Searches leave nothing behind: the answer is a function of
/// position, limits and table size.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use kyokumen::search::{Limits, Solver, Verdict};
/// use kyokumen::shogi::{Mate, Position};
///
/// let position: Position = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1".parse().unwrap();
/// let mut solver = Solver::new(1);
/// let limits = Limits { depth_plies: 9, nodes: 1_000 };
/// let solved = solver.solve(&mut Mate::by_side_to_move(position), limits, &AtomicBool::new(false));
/// assert_eq!(solved.verdict, Verdict::Proven);
/// assert_eq!(solved.line[0].to_string(), "G*5b");
/// ```
pub struct Solver<G: Game> {
    pub(super) table: Table<G::Hand>,
    path: Path<G::Hand>,
    children: Vec<Child<G>>,
    candidates: Vec<Candidate<G::Move>>,
    limits: Limits,
    nodes: u64,
    stop: Option<Stop>,
    /// Searching for a proof within the depth limit: longer ones do not count.
    rebuilding: bool,
}

/// Proof and disproof number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Numbers {
    proof: u32,
    disproof: u32,
}

const PROVEN: Numbers = Numbers { proof: 0, disproof: INFINITE };
const DISPROVEN: Numbers = Numbers { proof: INFINITE, disproof: 0 };

impl Numbers {
    const fn is_solved(self) -> bool {
        self.proof == 0 || self.disproof == 0
    }

    const fn exceeds(self, limit: Self) -> bool {
        self.proof >= limit.proof || self.disproof >= limit.disproof
    }

    /// The number by which the side to move chooses, and the one that adds up over its moves.
    const fn seen_by(self, kind: NodeKind) -> [u32; 2] {
        match kind {
            NodeKind::Or => [self.proof, self.disproof],
            NodeKind::And => [self.disproof, self.proof],
        }
    }

    const fn from_seen(kind: NodeKind, [choice, sum]: [u32; 2]) -> Self {
        match kind {
            NodeKind::Or => Self { proof: choice, disproof: sum },
            NodeKind::And => Self { proof: sum, disproof: choice },
        }
    }
}

/// The ancestor nearest the root on which a disproof leans because a position would repeat.
type Lean = u16;
/// A disproof that holds whatever the path.
const NO_LEAN: Lean = Lean::MAX;

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

/// What the children say about their parent.
struct Summary {
    numbers: Numbers,
    /// The child to search next.
    best: usize,
    /// Thresholds for it.
    second_choice: u32,
    others_sum: u32,
}

impl<G: Game> Solver<G> {
    /// A solver whose table takes at most `hash_mb` MiB.
    pub fn new(hash_mb: usize) -> Self
    where
        G::Hand: Default,
    {
        Self {
            table: Table::new(hash_mb << 20, G::Hand::default()),
            path: Path::new(),
            children: Vec::new(),
            candidates: Vec::new(),
            limits: Limits { depth_plies: 0, nodes: 0 },
            nodes: 0,
            stop: None,
            rebuilding: false,
        }
    }

    /// Searches a position, checks the proof if there is one, and reads the line from it.
    ///
    /// Great depths need a thread with a stack of [`STACK_BYTES`](super::STACK_BYTES).
    pub fn solve(&mut self, game: &mut G, limits: Limits, cancel: &AtomicBool) -> Solved<G::Move> {
        self.table.start(limits.nodes);
        self.limits = Limits { depth_plies: limits.depth_plies.min(MOST_PLIES), ..limits };
        self.nodes = 0;
        self.stop = None;
        self.rebuilding = false;
        let searched = self.search_root(game, cancel);
        let mut stats = Stats { nodes: self.nodes, ..Stats::default() };
        let open = |stop| (Verdict::Unknown(stop), Vec::new());
        let (verdict, line) = match searched {
            Err(stop) => open(stop),
            Ok(value) if value.numbers == PROVEN => {
                match self.checked_line(game, value.plies, limits, cancel, &mut stats) {
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
        cancel: &AtomicBool,
    ) -> Result<(), Stop> {
        self.limits.depth_plies = plies;
        self.rebuilding = true;
        let value = self.search_root(game, cancel)?;
        if value.numbers == PROVEN { Ok(()) } else { Err(Stop::Memory) }
    }

    /// Raises the node limit for searches that rebuild a proof.
    pub(super) const fn allow_nodes(&mut self, nodes: u64) {
        self.limits.nodes = nodes;
        self.stop = None;
    }

    fn search_root(&mut self, game: &mut G, cancel: &AtomicBool) -> Result<Value<G::Hand>, Stop> {
        let limit = Numbers { proof: INFINITE, disproof: INFINITE };
        self.path.clear();
        self.children.clear();
        let value = self.search(game, 0, false, limit, cancel);
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
        cancel: &AtomicBool,
    ) -> Value<G::Hand> {
        let plies_left = self.limits.depth_plies - ply;
        let (key, hand) = (game.board_key(), game.hand());
        let nodes_before = self.nodes;
        let first = self.children.len();
        self.path.push(key, hand);
        let value = match self.expand(game, plies_left, seen) {
            Some(value) => value,
            None => self.search_children(game, ply, first, limit, cancel),
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
        cancel: &AtomicBool,
    ) -> Value<G::Hand> {
        let kind = game.node_kind();
        loop {
            let summary = self.summarize(kind, first);
            if summary.numbers.is_solved() {
                return self.solved_value(game, ply, first, summary.numbers);
            }
            if summary.numbers.exceeds(limit) || self.must_stop(cancel) {
                let Numbers { proof, disproof } = summary.numbers;
                return Value::open(game.hand(), proof, disproof);
            }
            let child = &self.children[summary.best];
            let (m, seen) = (child.m, child.seen);
            let child_limit = summary.limit_of_best(kind, child.value.numbers, limit);
            self.nodes += 1;
            let undo = game.make(m);
            let value = self.search(game, ply + 1, seen, child_limit, cancel);
            game.unmake(m, undo);
            let child = &mut self.children[summary.best];
            child.value = value;
            child.seen = true;
            self.look_up_delayed(summary.best, self.limits.depth_plies - ply - 1);
        }
    }

    fn must_stop(&mut self, cancel: &AtomicBool) -> bool {
        if self.stop.is_none() {
            if self.nodes >= self.limits.nodes {
                self.stop = Some(Stop::Nodes);
            } else if self.nodes.is_multiple_of(CANCEL_EVERY_NODES)
                && cancel.load(Ordering::Relaxed)
            {
                self.stop = Some(Stop::Cancelled);
            }
        }
        self.stop.is_some()
    }

    /// Puts the numbers of the children together; a delayed child counts only once its predecessor is
    /// solved.
    ///
    /// Proof numbers of defences add up. Disproof numbers of attacks do not: the largest plus one for
    /// each other attack (the "weak" proof number of Ueda et al. 2008), since attacks transpose into
    /// one another and would be counted many times.
    fn summarize(&self, kind: NodeKind, first: usize) -> Summary {
        let mut best = first;
        let [mut choice, mut second] = [INFINITE; 2];
        let mut total = Total::new(kind);
        let mut best_sum = 0;
        let mut held_back = false;
        for (index, child) in self.children.iter().enumerate().skip(first) {
            if child.delayed && held_back {
                continue;
            }
            let numbers = child.value.numbers;
            let [child_choice, child_sum] = numbers.seen_by(kind);
            held_back = !child.is_solved();
            if child_choice == 0 {
                let numbers = Numbers::from_seen(kind, [0, INFINITE]);
                return Summary { numbers, best: index, second_choice: 0, others_sum: 0 };
            }
            total.add(child_sum);
            if child_choice < choice {
                second = choice;
                choice = child_choice;
                best = index;
                best_sum = child_sum;
            } else if child_choice < second {
                second = child_choice;
            }
        }
        let choice = if total.is_solved() { INFINITE } else { choice.min(LARGEST) };
        Summary {
            numbers: Numbers::from_seen(kind, [choice, total.value()]),
            best,
            second_choice: second,
            others_sum: total.without(best_sum),
        }
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

/// The number that adds up over the moves of a node.
#[derive(Clone, Copy)]
struct Total {
    kind: NodeKind,
    sum: u64,
    largest: u32,
    open: u32,
}

impl Total {
    const fn new(kind: NodeKind) -> Self {
        Self { kind, sum: 0, largest: 0, open: 0 }
    }

    #[inline]
    fn add(&mut self, number: u32) {
        self.sum += u64::from(number);
        self.largest = self.largest.max(number);
        self.open += u32::from(number > 0);
    }

    const fn is_solved(self) -> bool {
        self.open == 0
    }

    fn value(self) -> u32 {
        match self.kind {
            NodeKind::Or => self.largest.saturating_add(self.open.saturating_sub(1)).min(LARGEST),
            NodeKind::And => capped(self.sum),
        }
    }

    /// What the other children contribute when the one with this number is searched.
    fn without(self, number: u32) -> u32 {
        match self.kind {
            NodeKind::Or => self.open.saturating_sub(1),
            NodeKind::And => capped(self.sum - u64::from(number)),
        }
    }
}

fn capped(sum: u64) -> u32 {
    u32::try_from(sum).unwrap_or(LARGEST).min(LARGEST)
}

impl Summary {
    /// How far the best child may be searched: until it is no longer clearly the best, or its parent
    /// reaches a limit. Both limits lie above what the child has, so every visit gets somewhere.
    fn limit_of_best(&self, kind: NodeKind, child: Numbers, limit: Numbers) -> Numbers {
        let [limit_choice, limit_sum] = limit.seen_by(kind);
        let [child_choice, child_sum] = child.seen_by(kind);
        let generous = self.second_choice.saturating_add(self.second_choice / 4).saturating_add(1);
        let choice = limit_choice.min(generous).max(child_choice.saturating_add(1));
        let sum = limit_sum.saturating_sub(self.others_sum).max(child_sum.saturating_add(1));
        Numbers::from_seen(kind, [choice, sum])
    }
}

fn proving_child<G: Game>(children: &[Child<G>]) -> Option<&Child<G>> {
    children
        .iter()
        .filter(|child| child.value.numbers.proof == 0)
        .min_by_key(|child| child.value.plies)
}

/// A disproof that leans on its own node or on nothing above it is no longer leaning.
fn lean_above(ply: u16, lean: Lean) -> Lean {
    if lean >= ply { NO_LEAN } else { lean }
}

const PATH_BUCKETS: usize = 1 << 12;

/// The positions from the root to the current node.
struct Path<H> {
    nodes: Vec<(u64, H)>,
    /// Ancestors per low bits of the key: most positions are found new without a walk.
    counts: Box<[u8; PATH_BUCKETS]>,
}

impl<H: Hand> Path<H> {
    fn new() -> Self {
        Self { nodes: Vec::new(), counts: Box::new([0; PATH_BUCKETS]) }
    }

    fn clear(&mut self) {
        self.nodes.clear();
        self.counts.fill(0);
    }

    fn push(&mut self, key: u64, hand: H) {
        self.nodes.push((key, hand));
        let count = &mut self.counts[bucket(key)];
        *count = count.saturating_add(1);
    }

    fn pop(&mut self) {
        if let Some((key, _)) = self.nodes.pop() {
            let count = &mut self.counts[bucket(key)];
            // A saturated count stays: it only costs a walk.
            if *count < u8::MAX {
                *count -= 1;
            }
        }
    }

    /// The ancestor nearest the root with this board and at least this hand. A shortest proof never
    /// comes back to a board without having gained, so the attacker loses nothing by not trying.
    fn repeats(&self, key: u64, hand: H) -> Option<Lean> {
        if self.counts[bucket(key)] == 0 {
            return None;
        }
        let index = self.nodes.iter().position(|&(k, h)| k == key && h.dominates(hand))?;
        Lean::try_from(index).ok()
    }
}

const fn bucket(key: u64) -> usize {
    key as usize & (PATH_BUCKETS - 1)
}
