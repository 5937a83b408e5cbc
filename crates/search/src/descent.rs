//! Depth-first proof-number search (df-pn) of one thread.
//!
//! df-pn with a transposition table: Nagai, *Df-pn algorithm for searching AND/OR trees and its applications* (2002).
//! 1+ε thresholds: Pawlewicz and Lew (2007). Disproofs that depend on the path: Kishimoto and Müller (2004). Thresholds
//! raised where the search goes round in circles: Kishimoto (2010).
//! `docs/search.md` lists the known hazards of such searches and the remedy for each.

mod overlap;
mod parallel;
mod value;

use std::collections::TryReserveError;
use std::mem;
use std::ops::Range;

use kyokumen_game::{Candidate, Expansion, Game, Hand, NodeKind, Outcome};

use super::child_cache::{CacheHandle, ChildCache, NO_HANDLE};
use super::limits::{Limits, MAX_PLIES, WhenHopeless};
use super::numbers::{ChildSummary, DISPROVEN, Delay, PROVEN, ProofNumbers, UNKNOWN};
use super::observer::SearchObserver;
use super::path::{PATH_INDEPENDENT, Path, dependency_above};
use super::repetition::PathDisproofs;
use super::table::{INFINITE, ProvenNode, TableLookup, TableUpdate, TranspositionTable};
use super::verdict::Stop;
pub(super) use value::Value;

use value::Child;

/// Nodes between two calls of the observer.
const POLL_EVERY_NODES: u64 = 1 << 10;

/// Plies at which the costs of moves count; the moves of the root have ply 0. At earlier plies, costs would delay the
/// usual first moves of short mates. Later, in lines of hundreds of plies, the sum of the costs would outweigh
/// everything else.
const PLIES_WITH_COSTS: Range<u16> = 3..64;

/// Most searches are short. What helps long ones would take more time in them.
const SHORT_SEARCH_NODES: u64 = 1 << 18;

/// Nodes before a search can be hopeless. Until then the numbers of the root are mostly first guesses.
const MIN_NODES_BEFORE_GIVING_UP: u64 = 1 << 6;

/// A number this large usually means that positions in cycles raise each other's numbers. From then on
/// [`PathDisproofs`] is used.
const NUMBERS_OF_CYCLES: u32 = 1 << 24;

/// The search of one thread. Its table is private or shared with other threads.
pub(super) struct Descent<G: Game, T> {
    pub(super) table: T,
    path: Path<G::Hand>,
    path_disproofs: PathDisproofs,
    /// A stack of the children of the nodes on the path.
    children: Vec<Child<G>>,
    /// For each ply of the path, the index of the first child.
    first_children: Vec<usize>,
    child_cache: ChildCache<G::Hand, Child<G>>,
    candidates: Vec<Candidate<G::Move>>,
    /// Board keys and hands of the candidates, while they are looked up.
    positions: Vec<(u64, G::Hand)>,
    /// Moves from the root to the node being searched.
    line: Vec<G::Move>,
    limits: Limits,
    /// Nodes entered since [`Self::start`].
    nodes: u64,
    /// See [`DfPn::long_after`](crate::dfpn::DfPn::long_after).
    pub(super) long_after: u64,
    /// See [`DfPn::cycles_from`](crate::dfpn::DfPn::cycles_from).
    pub(super) cycles_from: u32,
    /// The search may enter nodes until `nodes` has this value. Then it must request more from the table.
    granted_until: u64,
    /// Set if the search must unwind.
    stop: Option<Stop>,
    /// The ply of a node on the path that another thread has solved. The search returns to it.
    unwinding_to: Option<u16>,
    /// The value being returned was read from the table, so it need not be stored.
    is_from_table: bool,
    /// The ply of the path that is tested next for a solution by another thread.
    next_ancestor: u16,
    /// Proofs longer than the depth limit do not count. Set while a proof is rebuilt and while a shorter one is sought.
    limits_proof_length: bool,
    /// Thresholds are raised until a node is expanded, or disproven in a way that depends on the path. Set in long
    /// searches that enter a cached node by a longer path than at the last visit, which may be part of a circle.
    must_progress: bool,
}

impl<G: Game, T: TranspositionTable<G::Hand>> Descent<G, T> {
    /// A search with this table and a child cache of about `cache_bytes`.
    pub(super) fn new(table: T, cache_bytes: usize) -> Result<Self, TryReserveError> {
        Ok(Self {
            table,
            path: Path::new(),
            path_disproofs: PathDisproofs::new(),
            children: Vec::new(),
            first_children: Vec::new(),
            child_cache: ChildCache::new(cache_bytes)?,
            candidates: Vec::new(),
            positions: Vec::new(),
            line: Vec::new(),
            limits: Limits::new(0, 0),
            nodes: 0,
            long_after: SHORT_SEARCH_NODES,
            cycles_from: NUMBERS_OF_CYCLES,
            granted_until: 0,
            stop: None,
            unwinding_to: None,
            is_from_table: false,
            next_ancestor: 0,
            limits_proof_length: false,
            must_progress: false,
        })
    }

    /// Starts a new search: resets the node count, the child cache and the kept disproofs. The caller starts the table.
    pub(super) fn start(&mut self, limits: Limits) {
        self.limits = Limits { depth_plies: limits.depth_plies.min(MAX_PLIES), ..limits };
        self.nodes = 0;
        self.path_disproofs.clear();
        self.child_cache.clear();
        self.limits_proof_length = false;
        self.set_node_limit(limits.nodes);
    }

    /// Sets the depth limit to `plies` for the following searches. Longer proofs do not count.
    pub(super) fn start_within(&mut self, plies: u16) {
        self.limits.depth_plies = plies;
        self.limits_proof_length = true;
        self.child_cache.clear();
    }

    /// Nodes of all searches since [`Self::start`].
    pub(super) const fn nodes(&self) -> u64 {
        self.nodes
    }

    #[inline]
    const fn is_long(&self) -> bool {
        self.nodes >= self.long_after
    }

    /// Sets the node limit for searches that continue with the same table. It includes the nodes already searched.
    pub(super) fn set_node_limit(&mut self, nodes: u64) {
        self.limits.nodes = nodes;
        self.granted_until = self.table.first_grant(nodes);
        self.stop = None;
    }

    /// Clears the stop reason, so that the search can continue.
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
        let thresholds = ProofNumbers { proof: INFINITE, disproof: INFINITE };
        self.must_progress = false;
        self.path.clear();
        self.children.clear();
        self.first_children.clear();
        self.line.clear();
        let value = loop {
            let value = self.search(game, 0, NO_HANDLE, thresholds, observer);
            // The search unwound because another thread had solved the root, but the entry was overwritten: search
            // again.
            let lost_entry = T::IS_SHARED && self.stop.is_none() && !value.numbers.is_solved();
            if !lost_entry {
                break value;
            }
        };
        match self.stop {
            Some(stop) if !value.numbers.is_solved() => Err(stop),
            _ => Ok(value),
        }
    }

    /// Searches a node until it is solved or a number reaches its threshold, see also [`Self::must_progress`].
    fn search(
        &mut self,
        game: &mut G,
        ply: u16,
        handle: CacheHandle,
        thresholds: ProofNumbers,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Value<G::Hand> {
        let plies_left = self.limits.depth_plies - ply;
        let (key, hand) = (game.board_key(), game.hand());
        let nodes_before = self.nodes;
        let first_child = self.children.len();
        let parent = ply.checked_sub(1).map_or((key, hand), |ply| self.path.node(ply));
        self.path.push(key, hand);
        self.first_children.push(first_child);
        // Without a ply left, even a node with cached children is expanded, to see whether the game is over.
        let kind = game.node_kind();
        let terminal_value =
            if plies_left > 0 && self.push_cached(kind, handle, key, hand, plies_left) {
                None
            } else {
                self.expand(game, plies_left)
            };
        let mut is_counted = false;
        let mut value = match terminal_value {
            Some(value) => value,
            None => {
                self.search_children(game, ply, first_child, thresholds, &mut is_counted, observer)
            }
        };
        self.path.pop();
        self.first_children.pop();
        if is_counted {
            self.table.leave(key, hand);
        }
        if T::IS_SHARED {
            self.end_unwinding(ply);
            if mem::take(&mut self.is_from_table) {
                self.children.truncate(first_child);
                return value;
            }
        }
        let children = &self.children[first_child..];
        let code = match kind {
            NodeKind::Or if value.numbers == PROVEN => proving_code(children),
            _ => 0,
        };
        if !value.numbers.is_solved() {
            let position = (key, hand);
            value.handle = self.child_cache.insert(handle, position, plies_left, parent, children);
        }
        self.children.truncate(first_child);
        let effort = u32::try_from(self.nodes - nodes_before + 1).unwrap_or(u32::MAX);
        self.store(key, hand, &value, code, plies_left, effort);
        value
    }

    /// Pushes the cached children of an earlier visit; `false` if there are none. Children whose value may not hold
    /// here are open again. May set [`Self::must_progress`].
    fn push_cached(
        &mut self,
        kind: NodeKind,
        handle: CacheHandle,
        key: u64,
        hand: G::Hand,
        plies_left: u16,
    ) -> bool {
        let Some((cached, plies_left_then)) = self.child_cache.find(handle, key, hand) else {
            return false;
        };
        let first_child = self.children.len();
        self.children.extend_from_slice(cached);
        // If the length of proofs is limited, a longer path leaves fewer plies, so the question is a different one.
        self.must_progress |=
            self.is_long() && plies_left < plies_left_then && !self.limits_proof_length;
        let depth_differs = plies_left != plies_left_then;
        for Child { value, cost, .. } in &mut self.children[first_child..] {
            let too_long = self.limits_proof_length && value.plies >= plies_left;
            if value.path_dependency != PATH_INDEPENDENT
                || (depth_differs && value.is_depth_bound)
                || too_long
            {
                *value = Value::new(UNKNOWN, value.hand).with_cost(kind, *cost);
            }
        }
        true
    }

    /// Pushes the children of the node, or returns its value if it is decided without them.
    fn expand(&mut self, game: &mut G, plies_left: u16) -> Option<Value<G::Hand>> {
        let hand = game.hand();
        self.must_progress = false;
        self.candidates.clear();
        let expansion = match plies_left {
            0 => game.expand(&mut self.candidates),
            _ => match game.expand_with_numbers(&mut self.candidates) {
                Ok(expansion) => expansion,
                Err(m) => return Some(self.reach_goal(game, m)),
            },
        };
        match expansion {
            Expansion::Over(Outcome::Reached) => {
                return Some(Value::proven(game.proof_hand_of_goal(), 0));
            }
            Expansion::Over(Outcome::Missed) => {
                return Some(Value::disproven(game.disproof_hand_of_attacks(None)));
            }
            Expansion::Moves if plies_left == 0 => return Some(Value::depth_bound(hand)),
            Expansion::Moves => {}
        }
        let kind = game.node_kind();
        let with_costs = PLIES_WITH_COSTS.contains(&(self.limits.depth_plies - plies_left));
        self.children.extend(self.candidates.iter().map(|candidate| {
            let &Candidate { m, delayed, proof_number, disproof_number, cost } = candidate;
            let cost = if with_costs { cost } else { 0 };
            let numbers = ProofNumbers { proof: proof_number, disproof: disproof_number };
            let numbers = numbers.with_cost(kind, cost);
            Child { m, delayed, overlaps: false, cost, value: Value::new(numbers, hand) }
        }));
        if self.is_long() && plies_left > 0 {
            self.look_up_children(game, kind, plies_left - 1);
        }
        None
    }

    /// Replaces the first numbers of the last candidates by the values of path and table.
    fn look_up_children(&mut self, game: &G, kind: NodeKind, plies_left: u16) {
        let first_child = self.children.len() - self.candidates.len();
        let children = &self.children[first_child..];
        self.positions.clear();
        self.positions.extend(children.iter().map(|child| position_after(game, child.m)));
        self.table.prefetch(&self.positions);
        for (index, &(key, hand)) in self.positions.iter().enumerate() {
            if let Some(entry) = self.look_up(key, hand, plies_left) {
                let child = &mut self.children[first_child + index];
                child.value = entry.with_cost(kind, child.cost);
            }
        }
    }

    /// The value of an OR node with the move `m` that reaches the goal. Pushes this move as the only child.
    fn reach_goal(&mut self, game: &mut G, m: G::Move) -> Value<G::Hand> {
        let undo = game.make(m);
        let goal = game.proof_hand_of_goal();
        game.unmake(m, undo);
        let value = Value::proven(goal, 0);
        self.children.push(Child { m, delayed: false, overlaps: false, cost: 0, value });
        Value::proven(game.proof_hand_of_attack(m, goal), 1)
    }

    /// The value of a position from path, kept disproofs or table; `None` if none has it.
    fn look_up(&self, key: u64, hand: G::Hand, plies_left: u16) -> Option<Value<G::Hand>> {
        let repeats = self.path.repeats(key, hand);
        let kept = || self.path_disproofs.find(&self.path, key, hand);
        if let Some(path_dependency) = repeats.or_else(kept) {
            return Some(Value { path_dependency, ..Value::disproven(hand) });
        }
        self.read_table(key, hand, plies_left)
    }

    /// The value of a position from the table; `None` if it has no entry.
    fn read_table(&self, key: u64, hand: G::Hand, plies_left: u16) -> Option<Value<G::Hand>> {
        let longest_proof = if self.limits_proof_length { plies_left } else { u16::MAX };
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

    /// Searches the best child again and again until the node is solved or a number reaches its threshold. Sets
    /// `is_counted` when it enters this search in the table's counter for the node.
    fn search_children(
        &mut self,
        game: &mut G,
        ply: u16,
        first_child: usize,
        thresholds: ProofNumbers,
        is_counted: &mut bool,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Value<G::Hand> {
        let kind = game.node_kind();
        let plies_left = self.limits.depth_plies - ply - 1;
        loop {
            let children = self.children[first_child..].iter();
            let delay = Delay::when(self.is_long());
            let summary = ChildSummary::new(kind, delay, children.map(Child::numbers));
            if ply == 0 && self.is_hopeless(summary.numbers) {
                self.stop = Some(Stop::Nodes);
            }
            if summary.numbers.is_solved() {
                let value = self.solved_value(game, ply, first_child, summary.numbers);
                self.must_progress &= value.path_dependency == PATH_INDEPENDENT;
                return value;
            }
            let thresholds = if self.must_progress {
                thresholds.raised_above(summary.numbers)
            } else {
                thresholds
            };
            if summary.numbers.have_reached(thresholds) || self.must_stop(observer) {
                if T::IS_SHARED
                    && let Some(value) = self.adopted(game, ply)
                {
                    return value;
                }
                return Value::new(summary.numbers, game.hand());
            }
            // Nodes that are only expanded are not entered in the shared counters of searches: there are too many of
            // them, and they end too soon.
            if T::IS_SHARED && !mem::replace(is_counted, true) {
                self.table.enter(game.board_key(), game.hand());
            }
            let summary = if T::IS_SHARED && self.searches_at(game) > 1 {
                self.with_virtual_loss(game, first_child, summary, thresholds)
            } else {
                summary
            };
            let best = first_child + summary.best;
            let Child { m, cost, value, .. } = self.children[best];
            // Most children are never searched, so the table is probed only here.
            let (key, hand) = position_after(game, m);
            let entry = self.look_up(key, hand, plies_left);
            let entry = entry.map(|entry| entry.with_cost(kind, cost));
            if let Some(entry) = entry.filter(|entry| entry.numbers != value.numbers) {
                self.children[best].value = entry;
                continue;
            }
            let handle = entry.map_or(value.handle, |entry| entry.handle);
            if self.is_long() && self.marks_overlap(game, ply, m, Value { handle, ..value }) {
                continue;
            }
            let child_thresholds =
                summary.thresholds_of_best(kind, value.numbers, cost, thresholds);
            self.nodes += 1;
            self.line.push(m);
            let undo = game.make(m);
            let value = self.search(game, ply + 1, handle, child_thresholds, observer);
            game.unmake(m, undo);
            self.line.pop();
            self.children[best].value = value.with_cost(kind, cost);
        }
    }

    /// Whether the search must give up: with these numbers of the root the node limit will probably not be enough.
    fn is_hopeless(&self, root: ProofNumbers) -> bool {
        self.limits.when_hopeless == WhenHopeless::GiveUp
            && !self.limits_proof_length
            && self.nodes >= MIN_NODES_BEFORE_GIVING_UP
            && root.are_hopeless(self.limits.nodes)
    }

    /// Whether the search must unwind. Calls the observer now and then.
    fn must_stop(&mut self, observer: &dyn SearchObserver<G::Move>) -> bool {
        if self.stop.is_none() {
            if self.nodes >= self.granted_until && !self.request_nodes() {
                return true;
            }
            if self.nodes.is_multiple_of(POLL_EVERY_NODES) {
                observer.table_filled(self.table.permille_filled());
                observer.progress(self.table.nodes_of_all(self.nodes), &self.line);
                self.stop = observer.wants_stop().then_some(Stop::Cancelled);
            }
        }
        self.stop.is_some()
    }

    /// Requests more nodes from the table. With several threads it also tests whether another thread has solved an
    /// ancestor. `false` if the search must unwind.
    #[cold]
    fn request_nodes(&mut self) -> bool {
        match self.table.grant() {
            Ok(nodes) => self.granted_until = self.nodes + nodes,
            Err(stop) => self.stop = Some(stop),
        }
        if self.stop.is_none() && T::IS_SHARED {
            self.test_ancestors();
        }
        self.stop.is_none()
    }

    /// The value of a solved node, combined from its children.
    fn solved_value(
        &self,
        game: &G,
        ply: u16,
        first_child: usize,
        numbers: ProofNumbers,
    ) -> Value<G::Hand> {
        let children = &self.children[first_child..];
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
                    is_depth_bound: children.iter().any(|child| child.value.is_depth_bound),
                    path_dependency: dependency_above(ply, path_dependency),
                    ..Value::disproven(game.disproof_hand_of_attacks(hand))
                }
            }
            (NodeKind::And, false) => {
                // Prefer an unconditional disproof to one by depth or path.
                let child = children
                    .iter()
                    .filter(|child| child.value.numbers.disproof == 0)
                    .min_by_key(|child| !child.value.is_unconditional())
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

    /// Stores the value of a node in the table, or in [`PathDisproofs`] if it depends on the path. Activates that cache
    /// when a number is large.
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
            if proof.max(disproof) >= self.cycles_from {
                self.path_disproofs.begin();
            }
            TableUpdate::Open {
                proof_number: proof,
                disproof_number: disproof,
                handle: value.handle,
            }
        } else if value.path_dependency != PATH_INDEPENDENT {
            // Not valid on every path, so not for the table. The parent keeps it for its current visit.
            if !value.is_depth_bound {
                self.path_disproofs.insert(&self.path, key, hand, value.path_dependency);
            }
            return;
        } else if value.is_depth_bound {
            TableUpdate::DepthBound { plies_left }
        } else {
            TableUpdate::Disproven { hand: value.hand }
        };
        self.table.store(key, hand, update, effort);
    }
}

/// Board key and hand of the position after a move.
fn position_after<G: Game>(game: &G, m: G::Move) -> (u64, G::Hand) {
    (game.board_key_after(m), game.hand_after(m))
}

/// The proven child with the fewest plies.
fn proving_child<G: Game>(children: &[Child<G>]) -> Option<&Child<G>> {
    children
        .iter()
        .filter(|child| child.value.numbers.proof == 0)
        .min_by_key(|child| child.value.plies)
}

/// The code of the proving move of an OR node, see [`Game::code`]. 0 if there is none.
fn proving_code<G: Game>(children: &[Child<G>]) -> u16 {
    proving_child(children).map_or(0, |child| G::code(child.m).get())
}
