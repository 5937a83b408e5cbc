//! A transposition table that searches on several threads read and write at once, without locks.
//!
//! An entry is four words, written one after another. The first holds the key combined with a checksum of the other
//! three (after Hyatt and Mann, *A lock-less transposition table implementation for parallel search*, 2002): words
//! that two writers left side by side, or that a reader met halfway, have another key and are an entry of no board.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use kyokumen_game::Hand;
use zerocopy::{AllocError, FromZeros};

use super::table::{
    Finding, GROWTH, MIN_SLOTS, ProvenNode, TableLookup, TableUpdate, WINDOW, known_of, permille,
    shortest_proof_of,
};

/// A slot of the table.
#[derive(Clone, Copy)]
struct Slot<'a>(&'a SlotWords);

type SlotWords = [AtomicU64; SLOT_WORDS];

const SLOT_WORDS: usize = 4;

/// Slots begin at the first word of a line of the processor's cache, so that two share one.
const LINE_BYTES: usize = 64;

/// Systems hand out memory in pieces of no less.
const PAGE_BYTES: usize = 4096;

/// Marks a slot that is filled, in its last word.
const FILLED: u64 = 1 << 63;

/// Bits of the last word that are some of the key, so that most entries of other boards are passed over without a
/// checksum.
const TAG: u64 = 0x7fff_ffff << 32;

/// The words of an entry behind the first.
type Words = [u64; 3];

impl Slot<'_> {
    fn is_empty(self) -> bool {
        self.0[3].load(Ordering::Relaxed) == 0
    }

    /// Whether it may hold this board; [`Slot::read`] knows for sure.
    #[inline]
    fn may_be_of(self, key: u64) -> bool {
        (self.0[3].load(Ordering::Relaxed) ^ (key << 32)) & TAG == 0
    }

    /// Key and contents, if they belong together; otherwise the key is that of no board.
    #[inline]
    fn read(self) -> (u64, Words) {
        let [first, words @ ..] = self.0.each_ref().map(|word| word.load(Ordering::Relaxed));
        (first ^ checksum(words), words)
    }

    fn write(self, key: u64, words: Words) {
        let [a, b, c] = words;
        for (place, word) in self.0.iter().zip([key ^ checksum(words), a, b, c]) {
            place.store(word, Ordering::Relaxed);
        }
    }
}

/// Has the system hand out the memory of these slots, which costs less in a row than as they are used.
fn touch(slots: &[SlotWords]) {
    for slot in slots.iter().step_by(PAGE_BYTES / size_of::<SlotWords>()) {
        slot[0].store(0, Ordering::Relaxed);
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
    /// Four for each slot; zero is an empty one, so that a new table need not be written to by one thread first.
    words: Vec<AtomicU64>,
    /// The first word of the first slot.
    first: usize,
    /// Slots that boards begin at; the window of the last one reaches beyond them.
    starts: usize,
    /// As far as it may grow.
    most_starts: usize,
    filled: AtomicUsize,
}

impl SharedTable {
    /// An empty table with about so many slots, that may grow to `most`.
    pub(super) fn new(slots: usize, most: usize) -> Result<Self, AllocError> {
        let most_starts = most.max(MIN_SLOTS);
        let starts = slots.clamp(MIN_SLOTS, most_starts);
        let line_words = LINE_BYTES / size_of::<AtomicU64>();
        let words = AtomicU64::new_vec_zeroed((starts + WINDOW) * SLOT_WORDS + line_words)?;
        let first = words.as_ptr().align_offset(LINE_BYTES);
        Ok(Self { words, first, starts, most_starts, filled: AtomicUsize::new(0) })
    }

    /// The same entries in more slots, moved there by so many threads.
    pub(super) fn grown(&self, threads: usize) -> Result<Self, AllocError> {
        let larger = Self::new(self.starts.saturating_mul(GROWTH), self.most_starts)?;
        let [from, to] = [self.slots(), larger.slots()];
        let [parts, places] = [from, to].map(|slots| slots.chunks(slots.len().div_ceil(threads)));
        // Slots are in the order of keys, so that threads meet in a few slots at the borders of their parts; an entry
        // may be lost there.
        thread::scope(|scope| {
            for (part, places) in parts.zip(places) {
                let take_over = || {
                    touch(places);
                    larger.take_over(part);
                };
                if thread::Builder::new().spawn_scoped(scope, take_over).is_err() {
                    take_over();
                }
            }
        });
        Ok(larger)
    }

    /// Writes the entries of another table into this one.
    fn take_over(&self, slots: &[SlotWords]) {
        let mut filled = 0;
        for slot in slots.iter().map(Slot).filter(|slot| !slot.is_empty()) {
            let (key, words) = slot.read();
            // Of words that do not belong together the key is a wrong one, there as here.
            let place = self.slot::<()>(key, None);
            filled += usize::from(place.is_empty());
            place.write(key, words);
        }
        self.add_filled(filled);
    }

    fn slots(&self) -> &[SlotWords] {
        let (slots, _) = self.words[self.first..].as_chunks();
        &slots[..self.starts + WINDOW]
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
    fn window(&self, key: u64) -> &[SlotWords] {
        let start = ((u128::from(key) * self.starts as u128) >> 64) as usize;
        let first = self.first + start * SLOT_WORDS;
        self.words[first..first + WINDOW * SLOT_WORDS].as_chunks().0
    }

    #[inline]
    fn findings<H: Hand>(&self, key: u64) -> impl Iterator<Item = Finding<H>> {
        // A slot is only passed over when it is full, and never emptied: nothing stands beyond an empty one.
        let filled = self.window(key).iter().map(Slot).take_while(|slot| !slot.is_empty());
        let read = filled.filter(move |slot| slot.may_be_of(key)).map(Slot::read);
        read.filter(move |&(of, _)| of == key).map(|(_, words)| finding_of(words))
    }

    /// See [`TranspositionTable::shortest_proof`](super::table::TranspositionTable::shortest_proof).
    pub(super) fn shortest_proof<H: Hand>(&self, key: u64, hand: H) -> Option<ProvenNode<H>> {
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
        update: TableUpdate<H>,
        effort: u32,
    ) -> usize {
        let slot = self.slot(key, Some(hand));
        let filled = usize::from(slot.is_empty());
        slot.write(key, words_of(key, &Finding::of(hand, update, effort)));
        filled
    }

    /// The slot to write to: that of the unsolved position itself, an empty one, or the one whose loss costs least.
    #[inline]
    fn slot<H: Hand>(&self, key: u64, hand: Option<H>) -> Slot<'_> {
        let window = self.window(key);
        let mut chosen = Slot(&window[0]);
        let mut least = u32::MAX;
        for slot in window.iter().map(Slot) {
            if slot.is_empty() {
                return slot;
            }
            let (of, words) = slot.read();
            let entry: Finding<H> = finding_of(words);
            if hand == Some(entry.hand) && of == key && !entry.is_unlimited() {
                return slot;
            }
            let worth = entry.worth();
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
    fn proof_of(number: u32) -> ProvenNode<Number> {
        let plies = number.wrapping_mul(0x9e37) as u16;
        ProvenNode { hand: Number(number), plies, code: !plies | 1 }
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
            let words = SlotWords::default();
            let slot = Slot(&words);
            slot.write(key, words_of(key, &Finding::of(Number(number), found, number)));
            assert_eq!(slot.read().0, key);
            words.map(AtomicU64::into_inner)
        });
        for mix in 1..0b1111 {
            let word = |word: usize| AtomicU64::new(entries[mix >> word & 1][word]);
            let words: SlotWords = std::array::from_fn(word);
            assert_ne!(Slot(&words).read().0, key, "{mix:04b}");
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
                table = table.grown(1).unwrap();
            }
        }
        assert!(table.starts == 1 << 16 && !table.wants_to_grow());
        let lost_by = |table: &SharedTable| {
            let found = |&number: &u32| {
                let found = table.shortest_proof(key(number), Number(number));
                found.is_some_and(|found| found.plies == proof_of(number).plies)
            };
            20_000 - (1..=20_000).filter(found).count()
        };
        assert_eq!(lost_by(&table), 0);
        // Two threads may choose one slot where their parts meet.
        let grown = table.grown(2).unwrap();
        assert!(grown.starts == 1 << 19 && lost_by(&grown) <= WINDOW);
        assert!(grown.filled.into_inner() + WINDOW >= 20_000);
    }
}
