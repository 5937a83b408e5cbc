//! The transposition table: one open-addressed array of entries keyed by board, the attacker's hand in
//! the entry.
//!
//! Looking up a board meets all hands it was seen with, so that proofs serve every larger hand and
//! disproofs every smaller one (dominance; Nagai 2002, and Tadao Yamaoka's notes on Apery). An entry of
//! an earlier search is an empty one: starting a search is counting up a number, never clearing.

use std::collections::TryReserveError;

use kyokumen_game::Hand;

use super::child_cache::{CacheHandle, NO_HANDLE};
use super::verdict::Stop;

/// "Infinite" proof or disproof number: solved.
pub(super) const INFINITE: u32 = u32::MAX;
/// Largest number of an unsolved node; sums stop here and never look solved.
pub(super) const LARGEST: u32 = u32::MAX / 4;

/// How many neighbouring slots a board may use.
pub(super) const WINDOW: usize = 8;

/// Slots of the smallest table.
pub(super) const MIN_SLOTS: usize = 1024;

/// Slots that a search begins with, if it may use so many: 256 KiB of them, which the nearer caches hold.
const FIRST_SLOTS: usize = 1 << 13;

/// How many times larger the table becomes when half of its slots are filled.
pub(super) const GROWTH: usize = 8;

/// Aligned so that two share a line of the processor's cache.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Entry<H> {
    key: u64,
    generation: u32,
    finding: Finding<H>,
}

/// What an entry says of its board, in whatever table.
#[derive(Clone, Copy)]
pub(super) struct Finding<H> {
    pub(super) proof_number: u32,
    pub(super) disproof_number: u32,
    /// Nodes searched below when this was written; the least goes first when slots run out.
    pub(super) effort: u32,
    pub(super) hand: H,
    /// Proven: plies of the proof. Disproven within the depth limit: plies that were left.
    pub(super) plies: u16,
    /// Proven OR node: the move; 0 elsewhere.
    pub(super) code: u16,
}

impl<H> Entry<H> {
    /// Of no generation.
    const fn empty(hand: H) -> Self {
        let finding =
            Finding { proof_number: 0, disproof_number: 0, effort: 0, hand, plies: 0, code: 0 };
        Self { key: 0, generation: 0, finding }
    }
}

impl<H: Hand> Finding<H> {
    /// What was found about a board met with `hand`.
    #[inline]
    pub(super) fn of(hand: H, update: TableUpdate<H>, effort: u32) -> Self {
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
                let [plies, code] = halves(handle);
                Self { proof_number, disproof_number, plies, code, ..proven }
            }
        }
    }

    /// What was written; where children are kept is left out.
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

    /// True on every path and at every depth.
    #[inline]
    pub(super) const fn is_unlimited(&self) -> bool {
        self.proof_number == 0 || (self.disproof_number == 0 && self.plies == UNLIMITED)
    }

    /// How much would be lost with it: what is solved for good is dearer than numbers that would be found again.
    #[inline]
    pub(super) const fn worth(&self) -> u32 {
        if self.is_unlimited() { self.effort.saturating_mul(4) } else { self.effort }
    }
}

/// What the findings about a board say to one who meets it with this hand, see [`TranspositionTable::look_up`].
#[inline]
pub(super) fn known_of<H: Hand>(
    findings: impl Iterator<Item = Finding<H>>,
    hand: H,
    plies_left: u16,
    longest_proof: u16,
) -> TableLookup<H> {
    let mut known = TableLookup::Nothing;
    for finding in findings {
        let Finding { proof_number, disproof_number, plies, code, .. } = finding;
        if proof_number == 0 {
            if hand.dominates(finding.hand) && plies <= longest_proof {
                return TableLookup::Proven { hand: finding.hand, plies };
            }
        } else if disproof_number == 0 {
            if plies == UNLIMITED {
                if finding.hand.dominates(hand) {
                    return TableLookup::Disproven { hand: finding.hand };
                }
            } else if finding.hand == hand && plies >= plies_left {
                known = TableLookup::DepthBound;
            }
        } else if finding.hand == hand && known == TableLookup::Nothing {
            let handle = joined([plies, code]);
            known = TableLookup::Open { proof_number, disproof_number, handle };
        }
    }
    known
}

/// The shortest proof among them that holds with this hand, see [`TranspositionTable::shortest_proof`].
pub(super) fn shortest_proof_of<H: Hand>(
    findings: impl Iterator<Item = Finding<H>>,
    hand: H,
) -> Option<ProvenNode<H>> {
    findings
        .filter(|finding| finding.proof_number == 0 && finding.code != 0)
        .filter(|finding| hand.dominates(finding.hand))
        .min_by_key(|finding| finding.plies)
        .map(|Finding { hand, plies, code, .. }| ProvenNode { hand, plies, code })
}

/// An entry as it was written.
pub(super) struct EntryContent<H> {
    pub(super) key: u64,
    pub(super) hand: H,
    pub(super) update: TableUpdate<H>,
    pub(super) effort: u32,
}

/// Marks a disproof without limits in the `plies` of an entry.
const UNLIMITED: u16 = u16::MAX;

/// What the table knows about a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TableLookup<H> {
    /// The goal is reached with any hand that dominates this one.
    Proven { hand: H, plies: u16 },
    /// The goal is missed with any hand that this one dominates.
    Disproven { hand: H },
    /// The goal is missed within the plies that are left.
    DepthBound,
    /// Being searched.
    Open { proof_number: u32, disproof_number: u32, handle: CacheHandle },
    /// Never seen.
    Nothing,
}

/// A proven OR node.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProvenNode<H> {
    /// The least hand with which it holds.
    pub(super) hand: H,
    pub(super) plies: u16,
    /// The move, see [`kyokumen_game::Game::code`].
    pub(super) code: u16,
}

/// What a search writes down.
#[derive(Clone, Copy, Debug)]
pub(super) enum TableUpdate<H> {
    /// The goal is reached with every hand that dominates the proof's; AND nodes have code 0.
    Proven(ProvenNode<H>),
    /// The goal is missed with every hand that this one dominates.
    Disproven { hand: H },
    /// The goal is missed within the plies that were left.
    DepthBound { plies_left: u16 },
    /// Not solved.
    Open { proof_number: u32, disproof_number: u32, handle: CacheHandle },
}

/// A table as a search sees it: its own, or one that it shares with searches on other threads.
pub(super) trait TranspositionTable<H> {
    /// Whether others write to it, too.
    const IS_SHARED: bool = false;

    /// What is known about a board with this hand when `plies_left` may still be searched and proofs
    /// of more than `longest_proof` plies do not count.
    fn look_up(&self, key: u64, hand: H, plies_left: u16, longest_proof: u16) -> TableLookup<H>;

    /// The shortest proof of an OR node that holds with this hand.
    fn shortest_proof(&self, key: u64, hand: H) -> Option<ProvenNode<H>>;

    /// Writes down what was found about a board met with `hand`.
    fn store(&mut self, key: u64, hand: H, update: TableUpdate<H>, effort: u32);

    /// Nodes that may be entered at once, of `nodes` that there may be.
    fn first_grant(&self, nodes: u64) -> u64 {
        nodes
    }

    /// How many nodes more may be entered, or why none.
    fn grant(&mut self) -> Result<u64, Stop> {
        Err(Stop::Nodes)
    }

    /// Nodes of all searches together, where this one entered `own`.
    fn nodes_of_all(&self, own: u64) -> u64 {
        own
    }

    /// Filled slots, of a thousand that there may be.
    fn permille_filled(&self) -> u16;

    /// The search is at this position or below it from now on.
    fn enter(&self, _key: u64, _hand: H) {}

    /// It is not any more.
    fn leave(&self, _key: u64, _hand: H) {}

    /// How many searches are at this position or below it.
    fn searches_at(&self, _key: u64, _hand: H) -> u32 {
        1
    }
}

/// So many of a thousand.
pub(super) fn permille(part: usize, whole: usize) -> u16 {
    u16::try_from(part.saturating_mul(1000) / whole.max(1)).map_or(1000, |part| part.min(1000))
}

pub(super) struct Table<H> {
    entries: Vec<Entry<H>>,
    most_slots: usize,
    /// As far as the table grows in the current search.
    useful_slots: usize,
    /// Slots of the current search; the window of the last one reaches beyond them.
    slots: usize,
    /// Slots that are filled.
    used: usize,
    generation: u32,
}

impl<H: Hand> Table<H> {
    /// A table of at most `bytes`, but of at least 1,024 entries. Memory is touched as searches need it.
    pub(super) fn new(bytes: usize) -> Result<Self, TryReserveError> {
        let most_slots = (bytes / size_of::<Entry<H>>()).max(MIN_SLOTS);
        let mut entries = Vec::new();
        entries.try_reserve_exact(most_slots + WINDOW)?;
        Ok(Self { entries, most_slots, useful_slots: 0, slots: 0, used: 0, generation: 0 })
    }

    /// Forgets everything. No more slots than `positions` can fill usefully will be used.
    pub(super) fn start(&mut self, positions: u64, any_hand: H) {
        let useful = usize::try_from(positions).unwrap_or(usize::MAX);
        self.useful_slots = useful.clamp(MIN_SLOTS, self.most_slots);
        self.empty(self.useful_slots.min(FIRST_SLOTS), any_hand);
    }

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

    /// Spreads the entries over more slots: so a search that ends early has stayed in the processor's cache,
    /// whatever its limit.
    #[cold]
    fn grow(&mut self, any_hand: H) {
        let generation = self.generation;
        let in_use = self.entries[..self.slots + WINDOW].iter();
        let entries: Vec<Entry<H>> =
            in_use.filter(|entry| entry.generation == generation).copied().collect();
        self.empty((self.slots * GROWTH).min(self.useful_slots), any_hand);
        for entry in entries {
            let slot = self.slot(entry.key, entry.finding.hand);
            *slot = Entry { generation: slot.generation, ..entry };
        }
    }

    #[inline]
    fn window(&self, key: u64) -> usize {
        ((u128::from(key) * self.slots as u128) >> 64) as usize
    }

    #[inline]
    fn findings(&self, key: u64) -> impl Iterator<Item = Finding<H>> {
        let start = self.window(key);
        let generation = self.generation;
        // A slot is only passed over when it is full, so nothing stands beyond an empty one.
        self.entries[start..start + WINDOW]
            .iter()
            .take_while(move |entry| entry.generation == generation)
            .filter(move |entry| entry.key == key)
            .map(|entry| entry.finding)
    }

    /// Slots of the current search.
    pub(super) const fn slots(&self) -> usize {
        self.slots
    }

    /// As many as there may be of them.
    pub(super) const fn slots_of_use(&self) -> usize {
        self.useful_slots
    }

    /// What stands in it, to be written elsewhere.
    pub(super) fn contents(&self) -> impl Iterator<Item = EntryContent<H>> {
        let (in_use, generation) = (self.entries.iter().take(self.slots + WINDOW), self.generation);
        in_use.filter(move |entry| entry.generation == generation).map(
            |&Entry { key, finding, .. }| {
                let Finding { hand, effort, .. } = finding;
                EntryContent { key, hand, update: finding.update(), effort }
            },
        )
    }
}

impl<H: Hand> TranspositionTable<H> for Table<H> {
    fn permille_filled(&self) -> u16 {
        permille(self.used, self.most_slots)
    }

    fn shortest_proof(&self, key: u64, hand: H) -> Option<ProvenNode<H>> {
        shortest_proof_of(self.findings(key), hand)
    }

    #[inline]
    fn look_up(&self, key: u64, hand: H, plies_left: u16, longest_proof: u16) -> TableLookup<H> {
        known_of(self.findings(key), hand, plies_left, longest_proof)
    }

    fn store(&mut self, key: u64, hand: H, update: TableUpdate<H>, effort: u32) {
        if 2 * self.used > self.slots && self.slots < self.useful_slots {
            self.grow(hand);
        }
        let slot = self.slot(key, hand);
        *slot = Entry { key, finding: Finding::of(hand, update, effort), ..*slot };
    }
}

impl<H: Hand> Table<H> {
    /// The slot to write to: that of the unsolved position itself, an empty one, or the one whose loss
    /// costs least.
    #[inline]
    fn slot(&mut self, key: u64, hand: H) -> &mut Entry<H> {
        let start = self.window(key);
        let generation = self.generation;
        let mut chosen = start;
        let mut least = u32::MAX;
        for index in start..start + WINDOW {
            let entry = &self.entries[index];
            if entry.generation != generation {
                chosen = index;
                break;
            }
            if entry.key == key && entry.finding.hand == hand && !entry.finding.is_unlimited() {
                chosen = index;
                break;
            }
            let worth = entry.finding.worth();
            if worth < least {
                least = worth;
                chosen = index;
            }
        }
        let entry = &mut self.entries[chosen];
        self.used += usize::from(entry.generation != generation);
        entry.generation = generation;
        entry
    }
}

/// An unsolved entry has neither plies nor a move: the handle stands in their place.
const fn halves(handle: CacheHandle) -> [u16; 2] {
    [handle as u16, (handle >> 16) as u16]
}

fn joined([low, high]: [u16; 2]) -> CacheHandle {
    CacheHandle::from(low) | CacheHandle::from(high) << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_found_again_after_the_table_has_grown() {
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
            let known = TableLookup::Open {
                proof_number: n,
                disproof_number: 1,
                handle: CacheHandle::MAX - n,
            };
            assert_eq!(table.look_up(key, (), 9, 9), known);
        }
        table.start(1_000_000, ());
        assert!(keys().all(|key| table.look_up(key, (), 9, 9) == TableLookup::Nothing));
    }
}
