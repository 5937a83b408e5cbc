//! Depth-first proof-number search, as one thread does it.
//!
//! df-pn with a transposition table: Nagai, *Df-pn algorithm for searching AND/OR trees and its
//! applications* (2002); 1+ε thresholds: Pawlewicz and Lew (2007); disproofs that lean on the path:
//! Kishimoto and Müller (2004). `docs/search.md` pairs each hazard with the technique that meets it.

mod among_others;

use std::collections::TryReserveError;
use std::mem;
use std::ops::Range;

use kyokumen_game::{Candidate, Expansion, Game, Hand, NodeKind, Outcome};

use super::child_cache::{CacheHandle, ChildCache, NO_HANDLE};
use super::limits::{Limits, MAX_PLIES, WhenHopeless};
use super::numbers::{ChildSummary, DISPROVEN, PROVEN, ProofNumbers, UNKNOWN};
use super::observer::SearchObserver;
use super::path::{PATH_INDEPENDENT, Path, PathDependency, dependency_above};
use super::table::{INFINITE, ProvenNode, TableLookup, TableUpdate, TranspositionTable};
use super::verdict::Stop;

/// How often the caller is asked whether to stop, and told how far the search is.
const WATCH_EVERY_NODES: u64 = 1 << 10;

/// At which plies from the root costs of moves count, those of the root itself being 0. They add up along a line, and
/// one of hundreds of plies is not to be judged by what it gives away; near the root they would put off what short
/// mates often begin with.
const PLIES_WITH_COSTS: Range<u16> = 3..64;

/// Before that, the numbers of the root are mostly first guesses.
const MIN_NODES_TO_JUDGE_BY: u64 = 1 << 8;

/// The search of one thread, with a table of its own or a shared one.
pub(super) struct Descent<G: Game, T> {
    pub(super) table: T,
    path: Path<G::Hand>,
    /// Children of the nodes on the path.
    children: Vec<Child<G>>,
    child_cache: ChildCache<G::Hand, Child<G>>,
    candidates: Vec<Candidate<G::Move>>,
    /// Moves from the root to the node being searched.
    line: Vec<G::Move>,
    limits: Limits,
    nodes: u64,
    /// Nodes that may be entered before more are asked for.
    granted: u64,
    stop: Option<Stop>,
    /// Another thread has solved the node at this ply of the path: the search returns to it.
    unwinding_to: Option<u16>,
    /// The value that is being returned was read from the table.
    is_adopted: bool,
    /// The ply of the path that is looked at next to see if it was solved.
    next_ancestor: u16,
    /// Searching for a proof within the depth limit: longer ones do not count.
    rebuilding: bool,
}

/// What is known of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value<H> {
    pub(super) numbers: ProofNumbers,
    /// Solved: proof or disproof hand.
    hand: H,
    /// Unsolved: where its children are kept.
    handle: CacheHandle,
    /// Proven: plies of the proof.
    pub(super) plies: u16,
    /// Disproven: see [`PathDependency`].
    path_dependency: PathDependency,
    /// Disproven: only within the plies that were left.
    pub(super) bound: bool,
}

impl<H> Value<H> {
    const fn new(numbers: ProofNumbers, hand: H) -> Self {
        Self {
            numbers,
            hand,
            handle: NO_HANDLE,
            plies: 0,
            path_dependency: PATH_INDEPENDENT,
            bound: false,
        }
    }

    fn proven(hand: H, plies: u16) -> Self {
        Self { plies, ..Self::new(PROVEN, hand) }
    }

    const fn disproven(hand: H) -> Self {
        Self::new(DISPROVEN, hand)
    }

    fn depth_bound(hand: H) -> Self {
        Self { bound: true, ..Self::new(DISPROVEN, hand) }
    }

    /// As the parent, a node of this kind, counts it after a move of this cost.
    fn after(self, kind: NodeKind, cost: i8) -> Self {
        Self { numbers: self.numbers.with_cost(kind, cost), ..self }
    }

    pub(super) fn is_proven(&self) -> bool {
        self.numbers == PROVEN
    }

    /// True on every path and at every depth.
    const fn is_fact(&self) -> bool {
        !self.bound && self.path_dependency == PATH_INDEPENDENT
    }
}

struct Child<G: Game> {
    m: G::Move,
    delayed: bool,
    /// Of the move, see [`Candidate::cost`].
    cost: i8,
    /// With the cost in its numbers.
    value: Value<G::Hand>,
}

impl<G: Game> Child<G> {
    const fn seen(&self) -> (bool, ProofNumbers) {
        (self.delayed, self.value.numbers)
    }
}

impl<G: Game> Clone for Child<G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Game> Copy for Child<G> {}

impl<G: Game, T: TranspositionTable<G::Hand>> Descent<G, T> {
    /// A search with this table, and about so many bytes for the children of unsolved nodes.
    pub(super) fn new(table: T, cache_bytes: usize) -> Result<Self, TryReserveError> {
        Ok(Self {
            table,
            path: Path::new(),
            children: Vec::new(),
            child_cache: ChildCache::new(cache_bytes)?,
            candidates: Vec::new(),
            line: Vec::new(),
            limits: Limits::new(0, 0),
            nodes: 0,
            granted: 0,
            stop: None,
            unwinding_to: None,
            is_adopted: false,
            next_ancestor: 0,
            rebuilding: false,
        })
    }

    /// Forgets children and counts of earlier searches; the table is the caller's.
    pub(super) fn start(&mut self, limits: Limits) {
        self.limits = Limits { depth_plies: limits.depth_plies.min(MAX_PLIES), ..limits };
        self.nodes = 0;
        self.child_cache.clear();
        self.rebuilding = false;
        self.allow_nodes(limits.nodes);
    }

    /// From now on only proofs of at most `plies` count.
    pub(super) fn start_within(&mut self, plies: u16) {
        self.limits.depth_plies = plies;
        self.rebuilding = true;
        self.child_cache.clear();
    }

    /// Nodes of all searches since [`Self::start`] was called.
    pub(super) const fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Raises the node limit for searches that go on with the same table.
    pub(super) fn allow_nodes(&mut self, nodes: u64) {
        self.limits.nodes = nodes;
        self.granted = self.table.first_grant(nodes);
        self.stop = None;
    }

    /// Goes on after a search that was told to end.
    pub(super) const fn resume(&mut self) {
        self.stop = None;
        self.unwinding_to = None;
    }

    /// Searches the position that the game is at.
    pub(super) fn search_root(
        &mut self,
        game: &mut G,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Result<Value<G::Hand>, Stop> {
        let limit = ProofNumbers { proof: INFINITE, disproof: INFINITE };
        self.path.clear();
        self.children.clear();
        self.line.clear();
        let value = loop {
            let value = self.search(game, 0, NO_HANDLE, limit, observer);
            // It came back for a value that the table has lost meanwhile.
            let is_in_vain = T::IS_SHARED && self.stop.is_none() && !value.numbers.is_solved();
            if !is_in_vain {
                break value;
            }
        };
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
        handle: CacheHandle,
        limit: ProofNumbers,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Value<G::Hand> {
        let plies_left = self.limits.depth_plies - ply;
        let (key, hand) = (game.board_key(), game.hand());
        let nodes_before = self.nodes;
        let first = self.children.len();
        self.path.push(key, hand);
        // Where no ply is left, even a node that was searched before is expanded to see if it is over.
        let kind = game.node_kind();
        let known = if plies_left > 0 && self.take_cached(kind, handle, key, hand, plies_left) {
            None
        } else {
            self.expand(game, plies_left)
        };
        let mut is_counted = false;
        let mut value = match known {
            Some(value) => value,
            None => self.search_children(game, ply, first, limit, &mut is_counted, observer),
        };
        self.path.pop();
        if is_counted {
            self.table.leave(key, hand);
        }
        if T::IS_SHARED {
            self.end_unwinding(ply);
            if mem::take(&mut self.is_adopted) {
                self.children.truncate(first);
                return value;
            }
        }
        let children = &self.children[first..];
        let code = match kind {
            NodeKind::Or if value.numbers == PROVEN => proving_code(children),
            _ => 0,
        };
        if !value.numbers.is_solved() {
            value.handle = self.child_cache.insert(handle, key, hand, plies_left, children);
        }
        self.children.truncate(first);
        let effort = u32::try_from(self.nodes - nodes_before + 1).unwrap_or(u32::MAX);
        self.store(key, hand, &value, code, plies_left, effort);
        value
    }

    /// Takes up the children of an earlier visit; those whose value need not hold here are open again.
    fn take_cached(
        &mut self,
        kind: NodeKind,
        handle: CacheHandle,
        key: u64,
        hand: G::Hand,
        plies_left: u16,
    ) -> bool {
        let Some((kept, plies_left_then)) = self.child_cache.find(handle, key, hand) else {
            return false;
        };
        let first = self.children.len();
        self.children.extend_from_slice(kept);
        let deeper = plies_left != plies_left_then;
        for Child { value, cost, .. } in &mut self.children[first..] {
            let too_long = self.rebuilding && value.plies >= plies_left;
            if value.path_dependency != PATH_INDEPENDENT || (deeper && value.bound) || too_long {
                *value = Value::new(UNKNOWN, value.hand).after(kind, *cost);
            }
        }
        true
    }

    /// Fills in the children, or values a node that needs none.
    fn expand(&mut self, game: &mut G, plies_left: u16) -> Option<Value<G::Hand>> {
        let hand = game.hand();
        self.candidates.clear();
        match game.expand(&mut self.candidates) {
            Expansion::Over(Outcome::Reached) => {
                return Some(Value::proven(game.proof_hand_of_goal(), 0));
            }
            Expansion::Over(Outcome::Missed) => {
                return Some(Value::disproven(game.disproof_hand_of_attacks(None)));
            }
            Expansion::Moves if plies_left == 0 => return Some(Value::depth_bound(hand)),
            Expansion::Moves => {}
        }
        if let Some(m) = game.weigh(&mut self.candidates) {
            return Some(self.reach_goal(game, m));
        }
        let kind = game.node_kind();
        let with_costs = PLIES_WITH_COSTS.contains(&(self.limits.depth_plies - plies_left));
        self.children.extend(self.candidates.iter().map(|candidate| {
            let &Candidate { m, delayed, proof_number, disproof_number, cost } = candidate;
            let cost = if with_costs { cost } else { 0 };
            let numbers = ProofNumbers { proof: proof_number, disproof: disproof_number };
            let numbers = numbers.with_cost(kind, cost);
            Child { m, delayed, cost, value: Value::new(numbers, hand) }
        }));
        None
    }

    /// An OR node whose only child is the end of the game.
    fn reach_goal(&mut self, game: &mut G, m: G::Move) -> Value<G::Hand> {
        let undo = game.make(m);
        let goal = game.proof_hand_of_goal();
        game.unmake(m, undo);
        let value = Value::proven(goal, 0);
        self.children.push(Child { m, delayed: false, cost: 0, value });
        Value::proven(game.proof_hand_of_attack(m, goal), 1)
    }

    /// What path and table know about the position after a move.
    fn look_up(&self, game: &G, m: G::Move, plies_left: u16) -> Option<Value<G::Hand>> {
        let (key, hand) = (game.board_key_after(m), game.hand_after(m));
        if let Some(path_dependency) = self.path.repeats(key, hand) {
            return Some(Value { path_dependency, ..Value::disproven(hand) });
        }
        self.read_table(key, hand, plies_left)
    }

    fn read_table(&self, key: u64, hand: G::Hand, plies_left: u16) -> Option<Value<G::Hand>> {
        let longest_proof = if self.rebuilding { plies_left } else { u16::MAX };
        Some(match self.table.look_up(key, hand, plies_left, longest_proof) {
            TableLookup::Proven { hand, plies } => Value::proven(hand, plies),
            TableLookup::Disproven { hand } => Value::disproven(hand),
            TableLookup::DepthBound => Value::depth_bound(hand),
            TableLookup::Open { proof_number, disproof_number, handle } => {
                let numbers = ProofNumbers { proof: proof_number, disproof: disproof_number };
                Value { handle, ..Value::new(numbers, hand) }
            }
            TableLookup::Nothing => return None,
        })
    }

    fn search_children(
        &mut self,
        game: &mut G,
        ply: u16,
        first: usize,
        limit: ProofNumbers,
        is_counted: &mut bool,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Value<G::Hand> {
        let kind = game.node_kind();
        let plies_left = self.limits.depth_plies - ply - 1;
        loop {
            let children = self.children[first..].iter();
            let summary = ChildSummary::of(kind, children.map(Child::seen));
            if ply == 0 && self.is_hopeless(summary.numbers) {
                self.stop = Some(Stop::Nodes);
            }
            if summary.numbers.is_solved() {
                return self.solved_value(game, ply, first, summary.numbers);
            }
            if summary.numbers.exceeds(limit) || self.must_stop(observer) {
                if T::IS_SHARED
                    && let Some(value) = self.adopted(game, ply)
                {
                    return value;
                }
                return Value::new(summary.numbers, game.hand());
            }
            // Positions that are only expanded are too many to be counted, and done too soon.
            if T::IS_SHARED && !mem::replace(is_counted, true) {
                self.table.enter(game.board_key(), game.hand());
            }
            let summary = if T::IS_SHARED && self.searches_at(game) > 1 {
                self.spread(game, first, summary, limit)
            } else {
                summary
            };
            let best = first + summary.best;
            let Child { m, cost, value, .. } = self.children[best];
            // Most children are never searched, so that the table is asked only now.
            let known = self.look_up(game, m, plies_left);
            let known = known.map(|known| known.after(kind, cost));
            if let Some(known) = known.filter(|known| known.numbers != value.numbers) {
                self.children[best].value = known;
                continue;
            }
            let handle = known.map_or(value.handle, |known| known.handle);
            let child_limit = summary.limit_of_best(kind, value.numbers, cost, limit);
            self.nodes += 1;
            self.line.push(m);
            let undo = game.make(m);
            let value = self.search(game, ply + 1, handle, child_limit, observer);
            game.unmake(m, undo);
            self.line.pop();
            self.children[best].value = value.after(kind, cost);
        }
    }

    fn is_hopeless(&self, root: ProofNumbers) -> bool {
        self.limits.when_hopeless == WhenHopeless::GiveUp
            && !self.rebuilding
            && self.nodes >= MIN_NODES_TO_JUDGE_BY
            && root.are_beyond(self.limits.nodes)
    }

    fn must_stop(&mut self, observer: &dyn SearchObserver<G::Move>) -> bool {
        if self.stop.is_none() {
            if self.nodes >= self.granted && !self.has_more_nodes() {
                return true;
            }
            if self.nodes.is_multiple_of(WATCH_EVERY_NODES) {
                observer.table_filled(self.table.permille_filled());
                observer.progress(self.table.nodes_of_all(self.nodes), &self.line);
                self.stop = observer.wants_stop().then_some(Stop::Cancelled);
            }
        }
        self.stop.is_some()
    }

    /// Asks for more nodes. Where others search, too, it is a time to look whether what is being searched for is
    /// known by now.
    #[cold]
    fn has_more_nodes(&mut self) -> bool {
        match self.table.grant() {
            Ok(nodes) => self.granted = self.nodes + nodes,
            Err(stop) => self.stop = Some(stop),
        }
        if self.stop.is_none() && T::IS_SHARED {
            self.look_at_ancestors();
        }
        self.stop.is_none()
    }

    /// Puts the children of a solved node together.
    fn solved_value(
        &self,
        game: &G,
        ply: u16,
        first: usize,
        numbers: ProofNumbers,
    ) -> Value<G::Hand> {
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
                let path_dependency = children
                    .iter()
                    .map(|child| child.value.path_dependency)
                    .min()
                    .unwrap_or(PATH_INDEPENDENT);
                Value {
                    bound: children.iter().any(|child| child.value.bound),
                    path_dependency: dependency_above(ply, path_dependency),
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
                Value {
                    path_dependency: dependency_above(ply, child.value.path_dependency),
                    hand,
                    ..child.value
                }
            }
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
        let update = if value.numbers == PROVEN {
            TableUpdate::Proven(ProvenNode { hand: value.hand, plies: value.plies, code })
        } else if value.numbers != DISPROVEN {
            let ProofNumbers { proof, disproof } = value.numbers;
            TableUpdate::Open {
                proof_number: proof,
                disproof_number: disproof,
                handle: value.handle,
            }
        } else if value.path_dependency != PATH_INDEPENDENT {
            // True on this path only: the parent's frame remembers it as long as it matters.
            return;
        } else if value.bound {
            TableUpdate::DepthBound { plies_left }
        } else {
            TableUpdate::Disproven { hand: value.hand }
        };
        self.table.store(key, hand, update, effort);
    }
}

fn proving_child<G: Game>(children: &[Child<G>]) -> Option<&Child<G>> {
    children
        .iter()
        .filter(|child| child.value.numbers.proof == 0)
        .min_by_key(|child| child.value.plies)
}

/// The proving move of an OR node, 0 where there is none.
fn proving_code<G: Game>(children: &[Child<G>]) -> u16 {
    proving_child(children).map_or(0, |child| G::code(child.m).get())
}
