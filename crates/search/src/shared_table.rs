//! A transposition table that searches on several threads read and write at once, without locks.
//!
//! An entry is four words, written one after another. The first holds the key combined with a checksum of the other
//! three (after Hyatt and Mann, *A lock-less transposition table implementation for parallel search*, 2002): words
//! that two writers left side by side, or that a reader met halfway, have another key and are an entry of no board.

use std::collections::TryReserveError;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use kyokumen_game::Hand;

use super::table::{
    Finding, GROWTH, MIN_SLOTS, Proof, TableLookup, TableUpdate, WINDOW, known_of, permille,
    shortest_proof_of,
};

/// Aligned so that two share a line of the processor's cache.
#[derive(Default)]
#[repr(align(32))]
struct Slot([AtomicU64; 4]);

/// Marks a slot that is filled, in its last word.
const FILLED: u64 = 1 << 63;

/// Bits of the last word that are some of the key, so that most entries of other boards are passed over without a checksum.
const TAG: u64 = 0x7fff_ffff << 32;

/// The words of an entry behind the first.
type Words = [u64; 3];

impl Slot {
    fn is_empty(&self) -> bool {
        self.0[3].load(Ordering::Relaxed) == 0
    }

    /// Whether it may hold this board; [`Slot::read`] knows for sure.
    #[inline]
    fn may_be_of(&self, key: u64) -> bool {
        (self.0[3].load(Ordering::Relaxed) ^ (key << 32)) & TAG == 0
    }

    /// Key and contents, if they belong together; otherwise the key is that of no board.
    #[inline]
    fn read(&self) -> (u64, Words) {
        let [first, words @ ..] = self.0.each_ref().map(|word| word.load(Ordering::Relaxed));
        (first ^ checksum(words), words)
    }

    fn write(&self, key: u64, words: Words) {
        let [a, b, c] = words;
        for (slot, word) in self.0.iter().zip([key ^ checksum(words), a, b, c]) {
            slot.store(word, Ordering::Relaxed);
        }
    }
}

/// Different if one word is; of words of two entries the same by chance only, one time in 2⁶⁴.
#[inline]
const fn checksum([a, b, c]: Words) -> u64 {
    let mut sum = a.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    sum = (sum ^ (sum >> 32) ^ b).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    sum = (sum ^ (sum >> 29) ^ c).wrapping_mul(0x94d0_49bb_1331_11eb);
    sum ^ (sum >> 32)
}

#[inline]
fn finding_of<H: Hand>([numbers, hand, rest]: Words) -> Finding<H> {
    Finding {
        proof_number: (numbers >> 32) as u32,
        disproof_number: numbers as u32,
        effort: (hand >> 32) as u32,
        hand: H::from_bits(hand as u32),
        plies: rest as u16,
        code: (rest >> 16) as u16,
    }
}

fn words_of<H: Hand>(key: u64, finding: &Finding<H>) -> Words {
    [
        u64::from(finding.proof_number) << 32 | u64::from(finding.disproof_number),
        u64::from(finding.effort) << 32 | u64::from(finding.hand.bits()),
        FILLED | ((key << 32) & TAG) | u64::from(finding.code) << 16 | u64::from(finding.plies),
    ]
}

/// The table; the hands in it are those of one game.
pub(super) struct SharedTable {
    slots: Vec<Slot>,
    /// Slots that boards begin at; the window of the last one reaches beyond them.
    starts: usize,
    /// As far as it may grow.
    most_starts: usize,
    filled: AtomicUsize,
}

impl SharedTable {
    /// An empty table with about so many slots, that may grow to `most`.
    pub(super) fn new(slots: usize, most: usize) -> Result<Self, TryReserveError> {
        let most_starts = most.max(MIN_SLOTS);
        let starts = slots.clamp(MIN_SLOTS, most_starts);
        let mut slots = Vec::new();
        slots.try_reserve_exact(starts + WINDOW)?;
        slots.resize_with(starts + WINDOW, Slot::default);
        Ok(Self { slots, starts, most_starts, filled: AtomicUsize::new(0) })
    }

    /// The same entries in more slots.
    pub(super) fn grown(&self) -> Result<Self, TryReserveError> {
        let larger = Self::new(self.starts.saturating_mul(GROWTH), self.most_starts)?;
        for slot in self.slots.iter().filter(|slot| !slot.is_empty()) {
            let (key, words) = slot.read();
            // Of words that do not belong together the key is a wrong one, there as here.
            larger.slot::<()>(key, None).write(key, words);
            larger.add_filled(1);
        }
        Ok(larger)
    }

    /// Counts slots that were filled, as [`Self::store`] says.
    pub(super) fn add_filled(&self, slots: usize) {
        self.filled.fetch_add(slots, Ordering::Relaxed);
    }

    /// Whether it is half full and may grow.
    pub(super) fn wants_to_grow(&self) -> bool {
        self.starts < self.most_starts && 2 * self.filled.load(Ordering::Relaxed) > self.starts
    }

    /// Filled slots of a thousand.
    pub(super) fn permille_filled(&self) -> u16 {
        permille(self.filled.load(Ordering::Relaxed), self.most_starts)
    }

    #[inline]
    fn window(&self, key: u64) -> &[Slot] {
        let start = ((u128::from(key) * self.starts as u128) >> 64) as usize;
        &self.slots[start..start + WINDOW]
    }

    #[inline]
    fn findings<H: Hand>(&self, key: u64) -> impl Iterator<Item = Finding<H>> {
        // A slot is only passed over when it is full, and never emptied: nothing stands beyond an empty one.
        let filled = self.window(key).iter().take_while(|slot| !slot.is_empty());
        let read = filled.filter(move |slot| slot.may_be_of(key)).map(Slot::read);
        read.filter(move |&(of, _)| of == key).map(|(_, words)| finding_of(words))
    }

    /// See [`TranspositionTable::shortest_proof`](super::table::TranspositionTable::shortest_proof).
    pub(super) fn shortest_proof<H: Hand>(&self, key: u64, hand: H) -> Option<Proof<H>> {
        shortest_proof_of(self.findings(key), hand)
    }

    /// See [`TranspositionTable::look_up`](super::table::TranspositionTable::look_up); the handle of an open node
    /// is that of whoever wrote it, and of no use to others.
    #[inline]
    pub(super) fn look_up<H: Hand>(
        &self,
        key: u64,
        hand: H,
        plies_left: u16,
        longest_proof: u16,
    ) -> TableLookup<H> {
        known_of(self.findings(key), hand, plies_left, longest_proof)
    }

    /// Writes down what was found about a board met with `hand`; the number of slots that were filled for it. An entry
    /// that another thread writes to the same slot at the same time may be lost, or both may.
    pub(super) fn store<H: Hand>(
        &self,
        key: u64,
        hand: H,
        finding: TableUpdate<H>,
        effort: u32,
    ) -> usize {
        let slot = self.slot(key, Some(hand));
        let filled = usize::from(slot.is_empty());
        slot.write(key, words_of(key, &Finding::of(hand, finding, effort)));
        filled
    }

    /// The slot to write to: that of the unsolved position itself, an empty one, or the one whose loss costs least.
    #[inline]
    fn slot<H: Hand>(&self, key: u64, hand: Option<H>) -> &Slot {
        let window = self.window(key);
        let mut chosen = &window[0];
        let mut least = u32::MAX;
        for slot in window {
            if slot.is_empty() {
                return slot;
            }
            let (of, words) = slot.read();
            let entry: Finding<H> = finding_of(words);
            let is_unlimited = entry.is_unlimited();
            if hand == Some(entry.hand) && of == key && !is_unlimited {
                return slot;
            }
            // What is solved for good is dearer than numbers that would be found again.
            let worth = if is_unlimited { entry.effort.saturating_mul(4) } else { entry.effort };
            if worth < least {
                least = worth;
                chosen = slot;
            }
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;
    use crate::child_cache::NO_HANDLE;

    /// A number in the place of a hand, dominated by none but itself.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    struct Number(u32);

    impl Hand for Number {
        fn dominates(self, other: Self) -> bool {
            self == other
        }

        fn union(self, _: Self) -> Self {
            self
        }

        fn intersection(self, _: Self) -> Self {
            self
        }

        fn bits(self) -> u32 {
            self.0
        }

        fn from_bits(bits: u32) -> Self {
            Self(bits)
        }
    }

    /// An entry of which each word tells what the others must be.
    fn proof_of(number: u32) -> Proof<Number> {
        let plies = number.wrapping_mul(0x9e37) as u16;
        Proof { hand: Number(number), plies, code: !plies | 1 }
    }

    fn number_of(hand: u32) -> u32 {
        hand.wrapping_mul(0x9e37_79b9) >> 1 | 1
    }

    /// Boards of one window, written by two threads and read by two: whatever is found was written in one piece.
    #[test]
    fn torn_entries_are_never_accepted() {
        const WRITES: u32 = 300_000;
        let table = SharedTable::new(MIN_SLOTS, MIN_SLOTS).unwrap();
        let keys = [1_u64 << 20, (1 << 20) + 1];
        let is_over = AtomicBool::new(false);
        let found = thread::scope(|scope| {
            let writers = [0, 1].map(|writer| {
                let table = &table;
                scope.spawn(move || {
                    for number in 0..WRITES {
                        let hand = number % 7 + writer;
                        let [proof, open] = keys;
                        table.store(
                            proof,
                            Number(hand),
                            TableUpdate::Proven(proof_of(hand)),
                            number,
                        );
                        let (proof_number, handle) = (number_of(hand), NO_HANDLE);
                        let disproof_number = !proof_number;
                        let open_node = TableUpdate::Open { proof_number, disproof_number, handle };
                        table.store(open, Number(hand), open_node, number);
                    }
                })
            });
            let readers = [0, 1].map(|_| {
                let (table, is_over) = (&table, &is_over);
                scope.spawn(move || {
                    let mut found = 0_u32;
                    while !is_over.load(Ordering::Relaxed) {
                        for hand in 0..8 {
                            if let Some(proof) = table.shortest_proof(keys[0], Number(hand)) {
                                let written = proof_of(hand);
                                assert_eq!(
                                    (proof.plies, proof.code),
                                    (written.plies, written.code)
                                );
                                found += 1;
                            }
                            if let TableLookup::Open { proof_number, disproof_number, .. } =
                                table.look_up(keys[1], Number(hand), 1, 1)
                            {
                                assert_eq!(proof_number, number_of(hand));
                                assert_eq!(disproof_number, !proof_number);
                                found += 1;
                            }
                        }
                    }
                    found
                })
            });
            for writer in writers {
                writer.join().unwrap();
            }
            is_over.store(true, Ordering::Relaxed);
            readers.map(|reader| reader.join().unwrap())
        });
        assert!(found.iter().all(|&found| found > 1_000), "{found:?}");
    }

    /// Words of two entries of a board in one slot, each way that they can be mixed.
    #[test]
    fn mixed_words_are_of_no_board() {
        let key = 0x0123_4567_89ab_cdef;
        let open = TableUpdate::Open { proof_number: 5, disproof_number: 6, handle: NO_HANDLE };
        let entries = [(3, TableUpdate::Proven(proof_of(3))), (4, open)].map(|(number, found)| {
            let slot = Slot::default();
            slot.write(key, words_of(key, &Finding::of(Number(number), found, number)));
            assert_eq!(slot.read().0, key);
            slot.0.map(AtomicU64::into_inner)
        });
        for mix in 1..0b1111 {
            let word = |word: usize| AtomicU64::new(entries[mix >> word & 1][word]);
            let slot = Slot(std::array::from_fn(word));
            assert_ne!(slot.read().0, key, "{mix:04b}");
        }
    }

    #[test]
    fn everything_is_found_again_after_the_table_has_grown() {
        let key = |number: u32| u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut table = SharedTable::new(1 << 13, 1 << 20).unwrap();
        for number in 1..=20_000 {
            let found = TableUpdate::Proven(proof_of(number));
            table.add_filled(table.store(key(number), Number(number), found, 1));
            if table.wants_to_grow() {
                table = table.grown().unwrap();
            }
        }
        assert!(table.starts == 1 << 16 && !table.wants_to_grow());
        for number in 1..=20_000 {
            let found = table.shortest_proof(key(number), Number(number)).unwrap();
            assert_eq!(found.plies, proof_of(number).plies);
        }
    }
}
