//! Several threads that search one position with one table.
//!
//! Every thread searches from the root, with a path and children of its own; what they share is the table, a budget of
//! nodes, and how many of them are below a position. They work in rounds, and a round ends when one of them has the
//! answer, the budget is used up, or the table is to grow. `docs/search.md` says why the answer is as sound as that of
//! one.

use std::collections::TryReserveError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU64, Ordering};
use std::{panic, thread};

use kyokumen_game::{Game, Hand};

use super::child_cache::{CacheHandle, NO_HANDLE};
use super::descent::{Descent, Value};
use super::limits::{Limits, STACK_BYTES, TableSize};
use super::observer::SearchObserver;
use super::proof::ProofOf;
use super::search_result::Resumable;
use super::shared_table::SharedTable;
use super::table::{EntryContent, ProvenNode, Table, TableLookup, TableUpdate, TranspositionTable};
use super::verdict::{Stats, Stop};

/// Nodes that a thread takes out of the budget at once.
const NODES_A_GRANT: u64 = 1 << 6;

/// Counters of searches below a position; positions share them by chance.
const COUNTERS: usize = 1 << 16;

/// Why a round is over.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum End {
    NotYet,
    Solved,
    Grow,
    Nodes,
    Cancelled,
}

/// What the threads keep together besides the table.
struct Ledger {
    /// Nodes that were granted.
    nodes: AtomicU64,
    most_nodes: AtomicU64,
    end: AtomicU8,
    searches: Box<[AtomicU16]>,
}

impl Ledger {
    fn new(nodes: u64, most_nodes: u64) -> Self {
        Self {
            nodes: AtomicU64::new(nodes),
            most_nodes: AtomicU64::new(most_nodes),
            end: AtomicU8::new(End::NotYet as u8),
            searches: (0..COUNTERS).map(|_| AtomicU16::new(0)).collect(),
        }
    }

    /// A new budget of which so many nodes are used.
    fn set_budget(&self, nodes: u64, most_nodes: u64) {
        self.nodes.store(nodes, Ordering::Relaxed);
        self.most_nodes.store(most_nodes, Ordering::Relaxed);
        self.begin_round();
    }

    fn begin_round(&self) {
        self.end.store(End::NotYet as u8, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.end.load(Ordering::Relaxed) != End::NotYet as u8
    }

    fn has_ended(&self, end: End) -> bool {
        self.end.load(Ordering::Relaxed) == end as u8
    }

    /// Ends the round, unless it has ended for another reason.
    fn finish(&self, end: End) {
        let (not_yet, end) = (End::NotYet as u8, end as u8);
        // Whoever was first is right.
        let _ = self.end.compare_exchange(not_yet, end, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn take_nodes(&self) -> Result<u64, Stop> {
        let most_nodes = self.most_nodes.load(Ordering::Relaxed);
        let before = self.nodes.fetch_add(NODES_A_GRANT, Ordering::Relaxed);
        match most_nodes.saturating_sub(before) {
            0 => {
                self.nodes.fetch_sub(NODES_A_GRANT, Ordering::Relaxed);
                self.finish(End::Nodes);
                Err(Stop::Nodes)
            }
            left => Ok(left.min(NODES_A_GRANT)),
        }
    }

    #[inline]
    fn counter<H: Hand>(&self, key: u64, hand: H) -> &AtomicU16 {
        &self.searches[mixed(key, hand) as usize % COUNTERS]
    }
}

/// A number for a position, board and hand.
#[inline]
fn mixed<H: Hand>(key: u64, hand: H) -> u64 {
    (key ^ u64::from(hand.bits())).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

/// Ends the round even where the thread panics, so that nobody searches on for ever.
struct EndsRound<'a>(&'a Ledger);

impl Drop for EndsRound<'_> {
    fn drop(&mut self) {
        self.0.finish(End::Cancelled);
    }
}

/// What one thread sees of the table and the ledger.
pub(super) struct Share {
    table: Arc<SharedTable>,
    ledger: Arc<Ledger>,
    /// Where this thread keeps the children of positions.
    handles: Vec<CacheHandle>,
    /// Slots filled since the last grant.
    filled: usize,
    may_grow: bool,
}

impl Share {
    fn new(
        table: Arc<SharedTable>,
        ledger: Arc<Ledger>,
        cache_bytes: usize,
    ) -> Result<Self, TryReserveError> {
        let count = (cache_bytes / BYTES_A_NODE).clamp(256, 1 << 24).next_power_of_two();
        let mut handles = Vec::new();
        handles.try_reserve_exact(count)?;
        handles.resize(count, NO_HANDLE);
        Ok(Self { table, ledger, handles, filled: 0, may_grow: true })
    }

    #[inline]
    fn place<H: Hand>(&self, key: u64, hand: H) -> usize {
        mixed(key, hand) as usize & (self.handles.len() - 1)
    }
}

/// Of the room for children, one handle for about so many bytes.
const BYTES_A_NODE: usize = 128;

impl<H: Hand> TranspositionTable<H> for Share {
    const IS_SHARED: bool = true;

    #[inline]
    fn look_up(&self, key: u64, hand: H, plies_left: u16, longest_proof: u16) -> TableLookup<H> {
        // Read first, so that the processor waits for both memories at once.
        let handle = self.handles[self.place(key, hand)];
        match self.table.look_up(key, hand, plies_left, longest_proof) {
            TableLookup::Open { proof_number, disproof_number, .. } => {
                TableLookup::Open { proof_number, disproof_number, handle }
            }
            known => known,
        }
    }

    fn shortest_proof(&self, key: u64, hand: H) -> Option<ProvenNode<H>> {
        self.table.shortest_proof(key, hand)
    }

    fn store(&mut self, key: u64, hand: H, update: TableUpdate<H>, effort: u32) {
        if let TableUpdate::Open { handle, .. } = update {
            let place = self.place(key, hand);
            self.handles[place] = handle;
        }
        self.filled += self.table.store(key, hand, update, effort);
    }

    fn first_grant(&self, _nodes: u64) -> u64 {
        0
    }

    fn grant(&mut self) -> Result<u64, Stop> {
        self.table.add_filled(std::mem::take(&mut self.filled));
        if self.may_grow && self.table.wants_to_grow() {
            self.ledger.finish(End::Grow);
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

/// Nobody: whoever looks on looks at the first thread.
struct NoObserver;

impl<M> SearchObserver<M> for NoObserver {
    fn wants_stop(&self) -> bool {
        false
    }
}

/// The threads of one search.
pub(super) struct Team<G: Game> {
    members: Vec<Descent<G, Share>>,
    ledger: Arc<Ledger>,
    table: Arc<SharedTable>,
    /// Nodes of the search that went before.
    nodes_before: u64,
}

/// A game that several threads can search.
pub trait SharedGame: Game<Move: Send, Hand: Send> + Clone + Send {}

impl<G: Game<Move: Send, Hand: Send> + Clone + Send> SharedGame for G {}

impl<G: SharedGame> Team<G> {
    /// So many threads that go on where a search on one thread has left off; `None` if there is no memory for them.
    pub(super) fn after(
        descent: &Descent<G, Table<G::Hand>>,
        limits: Limits,
        size: TableSize,
        threads: usize,
    ) -> Option<Self> {
        let known = &descent.table;
        let table = SharedTable::new(known.slots().saturating_mul(2), known.slots_of_use()).ok()?;
        for EntryContent { key, hand, update, effort } in known.contents() {
            table.add_filled(table.store(key, hand, update, effort));
        }
        let table = Arc::new(table);
        let ledger = Arc::new(Ledger::new(descent.nodes(), limits.nodes));
        let cache_bytes = size.bytes() / 2 / threads;
        let member = |_| {
            let share = Share::new(Arc::clone(&table), Arc::clone(&ledger), cache_bytes).ok()?;
            let mut member = Descent::new(share, cache_bytes).ok()?;
            member.start(limits);
            Some(member)
        };
        let members = (0..threads).map(member).collect::<Option<_>>()?;
        Some(Self { members, ledger, table, nodes_before: descent.nodes() })
    }

    /// Searches until the position is solved, the nodes are used up, or the observer wants it to end.
    pub(super) fn search(
        &mut self,
        game: &mut G,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Result<Value<G::Hand>, Stop> {
        loop {
            self.ledger.begin_round();
            if let Some(value) = self.round(game, observer) {
                return Ok(value);
            }
            if self.ledger.has_ended(End::Nodes) {
                return Err(Stop::Nodes);
            }
            if !self.ledger.has_ended(End::Grow) {
                return Err(Stop::Cancelled);
            }
            self.grow();
        }
    }

    /// All search until the first one has ended; what was found.
    fn round(
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
                    let search = move || search(member, ledger, &mut game, &NoObserver);
                    let builder = thread::Builder::new().name("search".to_owned());
                    // Where no thread can be had, those that there are do.
                    builder.stack_size(STACK_BYTES).spawn_scoped(scope, search).ok()
                })
                .collect();
            let mut found = vec![search(first, ledger, game, observer)];
            for thread in threads {
                match thread.join() {
                    Ok(result) => found.push(result),
                    Err(panicked) => panic::resume_unwind(panicked),
                }
            }
            found
        });
        // A disproof within the depth says least.
        found.into_iter().flatten().min_by_key(|value| value.bound)
    }

    /// More slots for the table; where there is no memory for them it stays as it is.
    fn grow(&mut self) {
        let grown = self.table.grown(self.members.len());
        if let Ok(grown) = grown {
            self.table = Arc::new(grown);
        }
        for member in &mut self.members {
            let share = &mut member.table;
            share.table = Arc::clone(&self.table);
            share.may_grow = !share.table.wants_to_grow();
        }
    }
}

impl<G: SharedGame> Resumable<G> for Team<G> {
    /// Nodes of all threads, and of the search that went before.
    fn nodes(&self) -> u64 {
        self.nodes_before + self.members.iter().map(Descent::nodes).sum::<u64>()
    }

    fn allow_nodes(&mut self, nodes: u64) {
        self.ledger.set_budget(self.nodes(), nodes);
        self.members.iter_mut().for_each(|member| member.allow_nodes(nodes));
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

    /// Holes are searched by one thread.
    fn checked_proof(
        &mut self,
        game: &mut G,
        plies: u16,
        most_nodes: u64,
        observer: &dyn SearchObserver<G::Move>,
        stats: &mut Stats,
    ) -> Result<ProofOf<G>, Stop> {
        self.ledger.set_budget(self.nodes(), most_nodes);
        let first = &mut self.members[0];
        let may_grow = std::mem::replace(&mut first.table.may_grow, false);
        let proof = first.checked_proof(game, plies, most_nodes, observer, stats);
        first.table.may_grow = may_grow;
        proof
    }
}

/// What one thread does in a round.
fn search<G: Game>(
    member: &mut Descent<G, Share>,
    ledger: &Ledger,
    game: &mut G,
    observer: &dyn SearchObserver<G::Move>,
) -> Option<Value<G::Hand>> {
    let _ends_round = EndsRound(ledger);
    member.resume();
    let found = member.search_root(game, observer);
    ledger.finish(match found {
        Ok(_) => End::Solved,
        Err(Stop::Nodes) => End::Nodes,
        Err(_) => End::Cancelled,
    });
    found.ok()
}
