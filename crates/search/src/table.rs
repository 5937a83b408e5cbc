//! The transposition table: an open-addressed array of entries.
//!
//! The key is the board; the entry contains the attacker's hand. So a look-up finds the entries of all hands that the
//! board was searched with. A proof holds for every larger hand, a disproof for every smaller one (dominance: Nagai
//! 2002, and Tadao Yamaoka's notes on Apery).
//!
//! Every search has a *generation* number. Entries of other generations count as empty. A new search increments the
//! number instead of clearing the table.

use std::collections::TryReserveError;
use std::hint;
use std::ops::BitXor;

use kyokumen_game::Hand;

use super::child_cache::{CacheHandle, NO_HANDLE};
use super::huge_pages;
use super::verdict::Stop;

/// The proof number of a disproven node, and the disproof number of a proven node.
pub(super) const INFINITE: u32 = u32::MAX;
/// Largest number of an open node. Sums are capped at this value, so that they never equal [`INFINITE`].
pub(super) const LARGEST: u32 = u32::MAX / 4;

/// Number of neighbouring slots that a board may use.
pub(super) const WINDOW: usize = 8;

/// Number of slots of the smallest table.
pub(super) const MIN_SLOTS: usize = 1024;

/// Number of slots at the start of a search, if the table may be that large. They take 256 KiB and fit into the
/// processor's cache.
const FIRST_SLOTS: usize = 1 << 13;

/// Factor by which the table grows when half of its slots are filled.
pub(super) const GROWTH: usize = 8;

/// A slot of the table. Two slots share a cache line of the processor.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Entry<H> {
    key: u64,
    /// The slot is empty if this is not the generation of the table.
    generation: u32,
    data: EntryData<H>,
}

/// The contents of an entry without its key, in a private or a shared table.
#[derive(Clone, Copy)]
pub(super) struct EntryData<H> {
    pub(super) proof_number: u32,
    pub(super) disproof_number: u32,
    /// Nodes searched for this entry. Entries with the least effort are replaced first.
    pub(super) effort: u32,
    /// Proven: the proof hand. Disproven on every path and at every depth: the disproof hand. Otherwise the hand of the
    /// position.
    pub(super) hand: H,
    /// Proven: plies of the proof. Disproven: plies that were left, or [`UNLIMITED`]. Open: lower half of the handle.
    pub(super) plies: u16,
    /// Proven OR node: the code of the proving move. Open: upper half of the handle. Otherwise 0.
    pub(super) code: u16,
}

impl<H> Entry<H> {
    /// An empty slot: no table has generation 0.
    const fn empty(hand: H) -> Self {
        let data =
            EntryData { proof_number: 0, disproof_number: 0, effort: 0, hand, plies: 0, code: 0 };
        Self { key: 0, generation: 0, data }
    }
}

impl<H: Hand> EntryData<H> {
    /// The contents for an update of a position with this hand.
    #[inline]
    pub(super) fn new(hand: H, update: TableUpdate<H>, effort: u32) -> Self {
        let proven =
            Self { proof_number: 0, disproof_number: INFINITE, effort, hand, plies: 0, code: 0 };
        let disproven = Self { proof_number: INFINITE, disproof_number: 0, ..proven };
        match update {
            TableUpdate::Proven(ProvenNode { hand, plies, code }) => {
                Self { hand, plies, code, ..proven }
            }
            TableUpdate::Disproven { hand } => Self { hand, plies: UNLIMITED, ..disproven },
            TableUpdate::DepthBound { plies_left } => {
                Self { plies: plies_left.min(UNLIMITED - 1), ..disproven }
            }
            TableUpdate::Open { proof_number, disproof_number, handle } => {
                let [plies, code] = split_handle(handle);
                Self { proof_number, disproof_number, plies, code, ..proven }
            }
        }
    }

    /// The update that wrote this entry, without the handle of its children.
    fn update(&self) -> TableUpdate<H> {
        let &Self { proof_number, disproof_number, hand, plies, code, .. } = self;
        if proof_number == 0 {
            TableUpdate::Proven(ProvenNode { hand, plies, code })
        } else if disproof_number > 0 {
            TableUpdate::Open { proof_number, disproof_number, handle: NO_HANDLE }
        } else if plies == UNLIMITED {
            TableUpdate::Disproven { hand }
        } else {
            TableUpdate::DepthBound { plies_left: plies }
        }
    }

    /// Whether this is a proof, or a disproof that holds at every depth.
    #[inline]
    pub(super) const fn is_unlimited(&self) -> bool {
        self.proof_number == 0 || (self.disproof_number == 0 && self.plies == UNLIMITED)
    }

    /// The entry with the lowest value is replaced first. Proofs, and disproofs that hold at every depth, count four
    /// times their effort.
    #[inline]
    pub(super) const fn replacement_value(&self) -> u32 {
        if self.is_unlimited() { self.effort.saturating_mul(4) } else { self.effort }
    }
}

/// Looks up a position among the entries of its board, see [`TranspositionTable::look_up`].
#[inline]
pub(super) fn look_up_in<H: Hand>(
    entries: impl Iterator<Item = EntryData<H>>,
    hand: H,
    plies_left: u16,
    longest_proof: u16,
) -> TableLookup<H> {
    let mut found = TableLookup::Nothing;
    for entry in entries {
        let EntryData { proof_number, disproof_number, plies, code, .. } = entry;
        if proof_number == 0 {
            if hand.dominates(entry.hand) && plies <= longest_proof {
                return TableLookup::Proven { hand: entry.hand, plies };
            }
        } else if disproof_number == 0 {
            if plies == UNLIMITED {
                if entry.hand.dominates(hand) {
                    return TableLookup::Disproven { hand: entry.hand };
                }
            } else if entry.hand == hand && plies >= plies_left {
                found = TableLookup::DepthBound;
            }
        } else if entry.hand == hand && found == TableLookup::Nothing {
            let handle = join_handle([plies, code]);
            found = TableLookup::Open { proof_number, disproof_number, handle };
        }
    }
    found
}

/// The shortest proof that holds with this hand, see [`TranspositionTable::shortest_proof`].
pub(super) fn shortest_proof_in<H: Hand>(
    entries: impl Iterator<Item = EntryData<H>>,
    hand: H,
) -> Option<ProvenNode<H>> {
    entries
        .filter(|entry| entry.proof_number == 0 && entry.code != 0)
        .filter(|entry| hand.dominates(entry.hand))
        .min_by_key(|entry| entry.plies)
        .map(|EntryData { hand, plies, code, .. }| ProvenNode { hand, plies, code })
}

/// The arguments with which an entry was stored.
pub(super) struct StoredEntry<H> {
    pub(super) key: u64,
    pub(super) hand: H,
    pub(super) update: TableUpdate<H>,
    pub(super) effort: u32,
}

/// In `plies` of an entry: a disproof that holds at every depth.
const UNLIMITED: u16 = u16::MAX;

/// The result of a look-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TableLookup<H> {
    /// The attacker reaches the goal with every hand that dominates this proof hand.
    Proven { hand: H, plies: u16 },
    /// The attacker fails with every hand that this disproof hand dominates.
    Disproven { hand: H },
    /// The attacker fails within the plies that are left.
    DepthBound,
    /// Not solved. The handle refers to the cached children.
    Open { proof_number: u32, disproof_number: u32, handle: CacheHandle },
    /// There is no entry.
    Nothing,
}

/// A proven node.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProvenNode<H> {
    /// The proof hand.
    pub(super) hand: H,
    pub(super) plies: u16,
    /// OR node: the proving move, see [`kyokumen_game::Game::code`]. AND node: 0.
    pub(super) code: u16,
}

/// The value of a position to store.
#[derive(Clone, Copy, Debug)]
pub(super) enum TableUpdate<H> {
    /// The attacker reaches the goal with every hand that dominates the proof hand.
    Proven(ProvenNode<H>),
    /// The attacker fails with every hand that this disproof hand dominates.
    Disproven { hand: H },
    /// The attacker fails within the plies that were left.
    DepthBound { plies_left: u16 },
    /// Not solved. The handle refers to the cached children.
    Open { proof_number: u32, disproof_number: u32, handle: CacheHandle },
}

/// The table of a search. It belongs to one thread or is shared by several.
pub(super) trait TranspositionTable<H> {
    /// Whether other threads write to the table.
    const IS_SHARED: bool = false;

    /// Looks up a board with this hand. Disproofs by depth must cover `plies_left`. Proofs of more than `longest_proof`
    /// plies do not count.
    fn look_up(&self, key: u64, hand: H, plies_left: u16, longest_proof: u16) -> TableLookup<H>;

    /// Brings the entries of these positions into the processor's cache. The memory accesses do not depend on each
    /// other, so the processor waits for several at the same time.
    fn prefetch(&self, positions: &[(u64, H)]);

    /// The shortest proof of an OR node that holds with this hand.
    fn shortest_proof(&self, key: u64, hand: H) -> Option<ProvenNode<H>>;

    /// Stores the value of a board with this hand. `effort` is the number of nodes searched for it.
    fn store(&mut self, key: u64, hand: H, update: TableUpdate<H>, effort: u32);

    /// Nodes that a search with a limit of `nodes` may enter before it must call [`Self::grant`].
    fn first_grant(&self, nodes: u64) -> u64 {
        nodes
    }

    /// Grants further nodes, or returns the reason to stop.
    fn grant(&mut self) -> Result<u64, Stop> {
        Err(Stop::Nodes)
    }

    /// Nodes that all threads together have entered. `own` is the number of this thread.
    fn nodes_of_all(&self, own: u64) -> u64 {
        own
    }

    /// Filled slots, in per mille of the maximum number of slots.
    fn permille_filled(&self) -> u16;

    /// Counts this search at a position that it enters.
    fn enter(&self, _key: u64, _hand: H) {}

    /// Ends the count of [`Self::enter`].
    fn leave(&self, _key: u64, _hand: H) {}

    /// Number of searches at this position or below it.
    fn searches_at(&self, _key: u64, _hand: H) -> u32 {
        1
    }
}

/// `part` in per mille of `whole`, at most 1000.
pub(super) fn permille(part: usize, whole: usize) -> u16 {
    u16::try_from(part.saturating_mul(1000) / whole.max(1)).map_or(1000, |part| part.min(1000))
}

/// The private table of a search on one thread.
pub(super) struct Table<H> {
    entries: Vec<Entry<H>>,
    max_slots: usize,
    /// The number of slots to which the table may grow in the current search.
    useful_slots: usize,
    /// Number of slots at which a window can begin. The last window extends beyond them.
    slots: usize,
    /// Filled slots.
    used: usize,
    generation: u32,
}

impl<H: Hand> Table<H> {
    /// A table of at most `bytes`, but at least [`MIN_SLOTS`] slots. Its address space is reserved here. Memory is used
    /// only as searches fill the table.
    pub(super) fn new(bytes: usize) -> Result<Self, TryReserveError> {
        let max_slots = (bytes / size_of::<Entry<H>>()).max(MIN_SLOTS);
        let mut entries = Vec::new();
        entries.try_reserve_exact(max_slots + WINDOW)?;
        huge_pages::request(&mut entries);
        Ok(Self { entries, max_slots, useful_slots: 0, slots: 0, used: 0, generation: 0 })
    }

    /// Starts a new search with an empty table, which grows to at most one slot for each of `positions`. Unused entries
    /// get the value `any_hand`.
    pub(super) fn start(&mut self, positions: u64, any_hand: H) {
        let useful = usize::try_from(positions).unwrap_or(usize::MAX);
        self.useful_slots = useful.clamp(MIN_SLOTS, self.max_slots);
        self.empty(self.useful_slots.min(FIRST_SLOTS), any_hand);
    }

    /// Empties the table and sets its number of slots.
    fn empty(&mut self, slots: usize, any_hand: H) {
        self.slots = slots;
        self.used = 0;
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.entries.clear();
            self.generation = 1;
        }
        if self.entries.len() < slots + WINDOW {
            self.entries.resize(slots + WINDOW, Entry::empty(any_hand));
        }
    }

    /// Moves the entries to a larger number of slots. So a short search stays in the processor's cache, even if its
    /// node limit is large.
    #[cold]
    fn grow(&mut self, any_hand: H) {
        let generation = self.generation;
        let in_use = self.entries[..self.slots + WINDOW].iter();
        let entries: Vec<Entry<H>> =
            in_use.filter(|entry| entry.generation == generation).copied().collect();
        self.empty((self.slots * GROWTH).min(self.useful_slots), any_hand);
        for entry in entries {
            let slot = self.slot(entry.key, entry.data.hand);
            *slot = Entry { generation: slot.generation, ..entry };
        }
    }

    /// Index of the first slot for a key.
    #[inline]
    fn window(&self, key: u64) -> usize {
        ((u128::from(key) * self.slots as u128) >> 64) as usize
    }

    /// The entries of a board.
    #[inline]
    fn entries_for(&self, key: u64) -> impl Iterator<Item = EntryData<H>> {
        let start = self.window(key);
        let generation = self.generation;
        // An entry is stored in the first empty slot of its window, so there are no entries after an empty slot.
        self.entries[start..start + WINDOW]
            .iter()
            .take_while(move |entry| entry.generation == generation)
            .filter(move |entry| entry.key == key)
            .map(|entry| entry.data)
    }

    /// Number of slots of the current search.
    pub(super) const fn slots(&self) -> usize {
        self.slots
    }

    /// Largest number of slots in the current search.
    pub(super) const fn useful_slots(&self) -> usize {
        self.useful_slots
    }

    /// All entries, to be stored in another table.
    pub(super) fn stored_entries(&self) -> impl Iterator<Item = StoredEntry<H>> {
        let (in_use, generation) = (self.entries.iter().take(self.slots + WINDOW), self.generation);
        in_use.filter(move |entry| entry.generation == generation).map(
            |&Entry { key, data, .. }| {
                let EntryData { hand, effort, .. } = data;
                StoredEntry { key, hand, update: data.update(), effort }
            },
        )
    }
}

impl<H: Hand> TranspositionTable<H> for Table<H> {
    #[inline]
    fn prefetch(&self, positions: &[(u64, H)]) {
        let first = |&(key, _): &(u64, H)| self.entries[self.window(key)].generation;
        hint::black_box(positions.iter().map(first).fold(0, BitXor::bitxor));
    }

    fn permille_filled(&self) -> u16 {
        permille(self.used, self.max_slots)
    }

    fn shortest_proof(&self, key: u64, hand: H) -> Option<ProvenNode<H>> {
        shortest_proof_in(self.entries_for(key), hand)
    }

    #[inline]
    fn look_up(&self, key: u64, hand: H, plies_left: u16, longest_proof: u16) -> TableLookup<H> {
        look_up_in(self.entries_for(key), hand, plies_left, longest_proof)
    }

    fn store(&mut self, key: u64, hand: H, update: TableUpdate<H>, effort: u32) {
        if 2 * self.used > self.slots && self.slots < self.useful_slots {
            self.grow(hand);
        }
        let slot = self.slot(key, hand);
        *slot = Entry { key, data: EntryData::new(hand, update, effort), ..*slot };
    }
}

impl<H: Hand> Table<H> {
    /// Chooses the slot to write to and marks it as filled. It is the first slot of the window that is empty or has an
    /// entry of the same position that is not solved at every depth. If there is none, it is the slot with the lowest
    /// replacement value.
    #[inline]
    fn slot(&mut self, key: u64, hand: H) -> &mut Entry<H> {
        let start = self.window(key);
        let generation = self.generation;
        let mut chosen = start;
        let mut lowest = u32::MAX;
        for index in start..start + WINDOW {
            let entry = &self.entries[index];
            if entry.generation != generation {
                chosen = index;
                break;
            }
            if entry.key == key && entry.data.hand == hand && !entry.data.is_unlimited() {
                chosen = index;
                break;
            }
            let value = entry.data.replacement_value();
            if value < lowest {
                lowest = value;
                chosen = index;
            }
        }
        let entry = &mut self.entries[chosen];
        self.used += usize::from(entry.generation != generation);
        entry.generation = generation;
        entry
    }
}

/// Splits a handle into `plies` and `code` of an entry. Open entries have neither plies nor a move.
const fn split_handle(handle: CacheHandle) -> [u16; 2] {
    [handle as u16, (handle >> 16) as u16]
}

/// The inverse of [`split_handle`].
fn join_handle([low, high]: [u16; 2]) -> CacheHandle {
    CacheHandle::from(low) | CacheHandle::from(high) << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_keeps_all_entries() {
        let keys = || (1..=20_000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut table: Table<()> = Table::new(8 << 20).unwrap();
        table.start(1_000_000, ());
        for (n, key) in (1..).zip(keys()) {
            let update = TableUpdate::Open {
                proof_number: n,
                disproof_number: 1,
                handle: CacheHandle::MAX - n,
            };
            table.store(key, (), update, 1);
        }
        assert!(table.slots > FIRST_SLOTS && table.used == 20_000);
        for (n, key) in (1..).zip(keys()) {
            let expected = TableLookup::Open {
                proof_number: n,
                disproof_number: 1,
                handle: CacheHandle::MAX - n,
            };
            assert_eq!(table.look_up(key, (), 9, 9), expected);
        }
        table.start(1_000_000, ());
        assert!(keys().all(|key| table.look_up(key, (), 9, 9) == TableLookup::Nothing));
    }
}
