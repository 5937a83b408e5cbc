//! The search of one position by several threads with one table.
//!
//! Every thread searches from the root with a separate path and separate children. The threads share the table, the
//! budget of nodes, and the number of searches at each position. They work in rounds. A round ends when a thread has
//! solved the root, the budget is used up, a stop is requested, or the table must grow. `docs/search.md` explains why
//! the verdict is as sound as that of one thread.

use std::collections::TryReserveError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU64, Ordering};
use std::{hint, panic, thread};

use kyokumen_game::{Game, Hand};

use super::child_cache::{CacheHandle, NO_HANDLE};
use super::descent::{Descent, Value};
use super::huge_pages;
use super::limits::{Limits, STACK_BYTES, TableSize};
use super::observer::SearchObserver;
use super::path::position_hash;
use super::proof::ProofOf;
use super::search_result::Resumable;
use super::shared_table::SharedTable;
use super::table::{ProvenNode, StoredEntry, Table, TableLookup, TableUpdate, TranspositionTable};
use super::verdict::{Stats, Stop};

/// Nodes that a thread takes from the budget at once.
const NODES_PER_GRANT: u64 = 1 << 6;

/// Number of counters of searches. Positions whose hashes have the same remainder share a counter.
const COUNTERS: usize = 1 << 16;

/// Whether the round is running, and otherwise why it has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum RoundState {
    Running,
    Solved,
    Grow,
    Nodes,
    Cancelled,
}

/// The data that the threads share besides the table.
struct Ledger {
    /// Granted nodes.
    nodes: AtomicU64,
    max_nodes: AtomicU64,
    /// A [`RoundState`].
    round_state: AtomicU8,
    /// Number of searches at each position, for virtual loss.
    searches: Box<[AtomicU16]>,
}

impl Ledger {
    fn new(nodes: u64, max_nodes: u64) -> Self {
        Self {
            nodes: AtomicU64::new(nodes),
            max_nodes: AtomicU64::new(max_nodes),
            round_state: AtomicU8::new(RoundState::Running as u8),
            searches: (0..COUNTERS).map(|_| AtomicU16::new(0)).collect(),
        }
    }

    /// Sets the budget, with `nodes` of `max_nodes` already used, and starts a round.
    fn set_budget(&self, nodes: u64, max_nodes: u64) {
        self.nodes.store(nodes, Ordering::Relaxed);
        self.max_nodes.store(max_nodes, Ordering::Relaxed);
        self.begin_round();
    }

    fn begin_round(&self) {
        self.round_state.store(RoundState::Running as u8, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.round_state.load(Ordering::Relaxed) != RoundState::Running as u8
    }

    fn has_ended(&self, state: RoundState) -> bool {
        self.round_state.load(Ordering::Relaxed) == state as u8
    }

    /// Ends the round. Does nothing if it has already ended.
    fn finish(&self, state: RoundState) {
        let (running, state) = (RoundState::Running as u8, state as u8);
        let relaxed = Ordering::Relaxed;
        let _ = self.round_state.compare_exchange(running, state, relaxed, relaxed);
    }

    fn take_nodes(&self) -> Result<u64, Stop> {
        let max_nodes = self.max_nodes.load(Ordering::Relaxed);
        let nodes_before = self.nodes.fetch_add(NODES_PER_GRANT, Ordering::Relaxed);
        match max_nodes.saturating_sub(nodes_before) {
            0 => {
                self.nodes.fetch_sub(NODES_PER_GRANT, Ordering::Relaxed);
                self.finish(RoundState::Nodes);
                Err(Stop::Nodes)
            }
            left => Ok(left.min(NODES_PER_GRANT)),
        }
    }

    #[inline]
    fn counter<H: Hand>(&self, key: u64, hand: H) -> &AtomicU16 {
        &self.searches[position_hash(key, hand) as usize % COUNTERS]
    }
}

/// Ends the round when dropped, so that the other threads stop even if this one panics.
struct RoundGuard<'a>(&'a Ledger);

impl Drop for RoundGuard<'_> {
    fn drop(&mut self) {
        self.0.finish(RoundState::Cancelled);
    }
}

/// The table of one thread of a team: the shared table and ledger, and the thread's handles.
pub(super) struct ThreadTable {
    table: Arc<SharedTable>,
    ledger: Arc<Ledger>,
    /// Handles of cached children by the hash of the position. The shared table cannot hold them, since each thread has
    /// its own child cache.
    handles: Vec<CacheHandle>,
    /// Slots filled since the last grant.
    filled: usize,
    /// Whether this thread may end a round to let the table grow.
    may_grow: bool,
}

impl ThreadTable {
    fn new(
        table: Arc<SharedTable>,
        ledger: Arc<Ledger>,
        cache_bytes: usize,
    ) -> Result<Self, TryReserveError> {
        let count = (cache_bytes / BYTES_PER_HANDLE).clamp(256, 1 << 24).next_power_of_two();
        let mut handles = Vec::new();
        handles.try_reserve_exact(count)?;
        huge_pages::request(&mut handles);
        handles.resize(count, NO_HANDLE);
        Ok(Self { table, ledger, handles, filled: 0, may_grow: true })
    }

    /// Index into `handles`.
    #[inline]
    fn handle_index<H: Hand>(&self, key: u64, hand: H) -> usize {
        position_hash(key, hand) as usize & (self.handles.len() - 1)
    }
}

/// Bytes of the child cache for each entry of [`ThreadTable::handles`].
const BYTES_PER_HANDLE: usize = 128;

impl<H: Hand> TranspositionTable<H> for ThreadTable {
    const IS_SHARED: bool = true;

    #[inline]
    fn look_up(&self, key: u64, hand: H, plies_left: u16, longest_proof: u16) -> TableLookup<H> {
        // Read before the table, so that the processor waits for both memory accesses at the same time.
        let handle = self.handles[self.handle_index(key, hand)];
        match self.table.look_up(key, hand, plies_left, longest_proof) {
            TableLookup::Open { proof_number, disproof_number, .. } => {
                TableLookup::Open { proof_number, disproof_number, handle }
            }
            solved_or_nothing => solved_or_nothing,
        }
    }

    #[inline]
    fn prefetch(&self, positions: &[(u64, H)]) {
        let read = positions.iter().fold(0, |read, &(key, hand)| {
            read ^ self.table.touch(key) ^ u64::from(self.handles[self.handle_index(key, hand)])
        });
        hint::black_box(read);
    }

    fn shortest_proof(&self, key: u64, hand: H) -> Option<ProvenNode<H>> {
        self.table.shortest_proof(key, hand)
    }

    fn store(&mut self, key: u64, hand: H, update: TableUpdate<H>, effort: u32) {
        if let TableUpdate::Open { handle, .. } = update {
            let index = self.handle_index(key, hand);
            self.handles[index] = handle;
        }
        self.filled += self.table.store(key, hand, update, effort);
    }

    fn first_grant(&self, _nodes: u64) -> u64 {
        0
    }

    fn grant(&mut self) -> Result<u64, Stop> {
        self.table.add_filled(std::mem::take(&mut self.filled));
        if self.may_grow && self.table.wants_to_grow() {
            self.ledger.finish(RoundState::Grow);
        }
        if self.ledger.is_over() {
            return Err(Stop::Cancelled);
        }
        self.ledger.take_nodes()
    }

    fn nodes_of_all(&self, _own: u64) -> u64 {
        self.ledger.nodes.load(Ordering::Relaxed)
    }

    fn permille_filled(&self) -> u16 {
        self.table.permille_filled()
    }

    #[inline]
    fn enter(&self, key: u64, hand: H) {
        self.ledger.counter(key, hand).fetch_add(1, Ordering::Relaxed);
    }

    #[inline]
    fn leave(&self, key: u64, hand: H) {
        self.ledger.counter(key, hand).fetch_sub(1, Ordering::Relaxed);
    }

    #[inline]
    fn searches_at(&self, key: u64, hand: H) -> u32 {
        self.ledger.counter(key, hand).load(Ordering::Relaxed).into()
    }
}

/// The observer of all threads except the first. The caller's observer gets the first thread.
struct NoObserver;

impl<M> SearchObserver<M> for NoObserver {
    fn wants_stop(&self) -> bool {
        false
    }
}

/// The threads of one search.
pub(super) struct Team<G: Game> {
    members: Vec<Descent<G, ThreadTable>>,
    ledger: Arc<Ledger>,
    table: Arc<SharedTable>,
    /// Nodes of the search on one thread that this team continues.
    nodes_before: u64,
}

/// A game that several threads can search: it can be cloned and sent to another thread.
pub trait SharedGame: Game<Move: Send, Hand: Send> + Clone + Send {}

impl<G: Game<Move: Send, Hand: Send> + Clone + Send> SharedGame for G {}

impl<G: SharedGame> Team<G> {
    /// A team that continues a search on one thread. It starts with a copy of its table. `None` if there is not enough
    /// memory.
    pub(super) fn continuing(
        descent: &Descent<G, Table<G::Hand>>,
        limits: Limits,
        size: TableSize,
        threads: usize,
    ) -> Option<Self> {
        let source = &descent.table;
        let table =
            SharedTable::new(source.slots().saturating_mul(2), source.useful_slots()).ok()?;
        for StoredEntry { key, hand, update, effort } in source.stored_entries() {
            table.add_filled(table.store(key, hand, update, effort));
        }
        let table = Arc::new(table);
        let ledger = Arc::new(Ledger::new(descent.nodes(), limits.nodes));
        let cache_bytes = size.children_bytes() / threads;
        let member = |_| {
            let table =
                ThreadTable::new(Arc::clone(&table), Arc::clone(&ledger), cache_bytes).ok()?;
            let mut member = Descent::new(table, cache_bytes).ok()?;
            member.start(limits);
            let nodes_left = descent.long_after.saturating_sub(descent.nodes());
            member.long_after = nodes_left / threads as u64;
            member.cycles_from = descent.cycles_from;
            Some(member)
        };
        let members = (0..threads).map(member).collect::<Option<_>>()?;
        Some(Self { members, ledger, table, nodes_before: descent.nodes() })
    }

    /// Searches until the position is solved, the nodes are used up, or the observer requests a stop.
    pub(super) fn search(
        &mut self,
        game: &mut G,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Result<Value<G::Hand>, Stop> {
        loop {
            self.ledger.begin_round();
            if let Some(value) = self.run_round(game, observer) {
                return Ok(value);
            }
            if self.ledger.has_ended(RoundState::Nodes) {
                return Err(Stop::Nodes);
            }
            if !self.ledger.has_ended(RoundState::Grow) {
                return Err(Stop::Cancelled);
            }
            self.grow();
        }
    }

    /// Runs all threads until one of them ends the round. `None` if no thread has solved the position.
    fn run_round(
        &mut self,
        game: &mut G,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Option<Value<G::Hand>> {
        let ledger = &*self.ledger;
        let (first, others) = self.members.split_first_mut()?;
        let found = thread::scope(|scope| {
            let threads: Vec<_> = others
                .iter_mut()
                .filter_map(|member| {
                    let mut game = game.clone();
                    let search = move || run_member(member, ledger, &mut game, &NoObserver);
                    let builder = thread::Builder::new().name("search".to_owned());
                    // If a thread cannot be started, the others search without it.
                    builder.stack_size(STACK_BYTES).spawn_scoped(scope, search).ok()
                })
                .collect();
            let mut found = vec![run_member(first, ledger, game, observer)];
            for thread in threads {
                match thread.join() {
                    Ok(result) => found.push(result),
                    Err(panicked) => panic::resume_unwind(panicked),
                }
            }
            found
        });
        // Prefer any other value to a disproof by depth.
        found.into_iter().flatten().min_by_key(|value| value.is_depth_bound)
    }

    /// Lets the table grow. Keeps its size if there is not enough memory.
    fn grow(&mut self) {
        let grown = self.table.grown(self.members.len());
        if let Ok(grown) = grown {
            self.table = Arc::new(grown);
        }
        for member in &mut self.members {
            let member_table = &mut member.table;
            member_table.table = Arc::clone(&self.table);
            member_table.may_grow = !self.table.wants_to_grow();
        }
    }
}

impl<G: SharedGame> Resumable<G> for Team<G> {
    /// Nodes of all threads and of the search that this team continues.
    fn nodes(&self) -> u64 {
        self.nodes_before + self.members.iter().map(Descent::nodes).sum::<u64>()
    }

    fn set_node_limit(&mut self, nodes: u64) {
        self.ledger.set_budget(self.nodes(), nodes);
        self.members.iter_mut().for_each(|member| member.set_node_limit(nodes));
    }

    fn search_within(
        &mut self,
        game: &mut G,
        plies: u16,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Result<Option<u16>, Stop> {
        self.members.iter_mut().for_each(|member| member.start_within(plies));
        let value = self.search(game, observer)?;
        Ok(value.is_proven().then_some(value.plies))
    }

    /// Checks the proof on one thread, which also searches the parts that the table has lost.
    fn checked_proof(
        &mut self,
        game: &mut G,
        plies: u16,
        max_nodes: u64,
        observer: &dyn SearchObserver<G::Move>,
        stats: &mut Stats,
    ) -> Result<ProofOf<G>, Stop> {
        self.ledger.set_budget(self.nodes(), max_nodes);
        let first = &mut self.members[0];
        let may_grow = std::mem::replace(&mut first.table.may_grow, false);
        let proof = first.checked_proof(game, plies, max_nodes, observer, stats);
        first.table.may_grow = may_grow;
        proof
    }
}

/// Runs the search of one thread in a round.
fn run_member<G: Game>(
    member: &mut Descent<G, ThreadTable>,
    ledger: &Ledger,
    game: &mut G,
    observer: &dyn SearchObserver<G::Move>,
) -> Option<Value<G::Hand>> {
    let _round_guard = RoundGuard(ledger);
    member.resume();
    let found = member.search_root(game, observer);
    ledger.finish(match found {
        Ok(_) => RoundState::Solved,
        Err(Stop::Nodes) => RoundState::Nodes,
        Err(_) => RoundState::Cancelled,
    });
    found.ok()
}
