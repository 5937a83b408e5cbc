//! A transposition table that several threads read and write at the same time, without locks.
//!
//! An entry is four words, written one after another. The first word is the key combined with a checksum of the other
//! three (after Hyatt and Mann, *A lock-less transposition table implementation for parallel search*, 2002). If two
//! threads write to a slot at the same time, or one reads while another writes, the words may belong to different
//! entries (*torn entry*). Their checksum then gives a different key, which belongs to no board.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use kyokumen_game::Hand;
use zerocopy::{AllocError, FromZeros};

use super::huge_pages;
use super::table::{
    EntryData, GROWTH, MIN_SLOTS, ProvenNode, TableLookup, TableUpdate, WINDOW, look_up_in,
    permille, shortest_proof_in,
};

/// A slot of the table.
#[derive(Clone, Copy)]
struct Slot<'a>(&'a SlotWords);

type SlotWords = [AtomicU64; SLOT_WORDS];

const SLOT_WORDS: usize = 4;

/// Cache line of the processor. The first slot is aligned to it, so that two slots share a line.
const LINE_BYTES: usize = 64;

/// Size of a memory page.
const PAGE_BYTES: usize = 4096;

/// Bit of the last word that marks a filled slot.
const FILLED: u64 = 1 << 63;

/// Bits of the last word that repeat bits of the key. With them most entries of other boards are skipped without
/// computing the checksum.
const TAG: u64 = 0x7fff_ffff << 32;

/// The words of an entry after the first.
type Words = [u64; 3];

impl Slot<'_> {
    fn is_empty(self) -> bool {
        self.0[3].load(Ordering::Relaxed) == 0
    }

    /// Whether the slot may have this key. Only [`Slot::read`] is certain.
    #[inline]
    fn may_have_key(self, key: u64) -> bool {
        (self.0[3].load(Ordering::Relaxed) ^ (key << 32)) & TAG == 0
    }

    /// Key and contents. The key of a torn entry belongs to no board.
    #[inline]
    fn read(self) -> (u64, Words) {
        let [first, words @ ..] = self.0.each_ref().map(|word| word.load(Ordering::Relaxed));
        (first ^ checksum(words), words)
    }

    fn write(self, key: u64, words: Words) {
        let [a, b, c] = words;
        for (target, word) in self.0.iter().zip([key ^ checksum(words), a, b, c]) {
            target.store(word, Ordering::Relaxed);
        }
    }
}

/// Writes to each memory page of these slots, so that the system allocates them. This is cheaper in sequence than in
/// the order of use.
fn touch(slots: &[SlotWords]) {
    for slot in slots.iter().step_by(PAGE_BYTES / size_of::<SlotWords>()) {
        slot[0].store(0, Ordering::Relaxed);
    }
}

/// Differs if a single word differs. Mixed words of two entries match by chance only, one time in 2⁶⁴.
#[inline]
const fn checksum([a, b, c]: Words) -> u64 {
    let mut sum = a.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    sum = (sum ^ (sum >> 32) ^ b).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    sum = (sum ^ (sum >> 29) ^ c).wrapping_mul(0x94d0_49bb_1331_11eb);
    sum ^ (sum >> 32)
}

#[inline]
fn data_from_words<H: Hand>([numbers, hand, rest]: Words) -> EntryData<H> {
    EntryData {
        proof_number: (numbers >> 32) as u32,
        disproof_number: numbers as u32,
        effort: (hand >> 32) as u32,
        hand: H::from_bits(hand as u32),
        plies: rest as u16,
        code: (rest >> 16) as u16,
    }
}

fn words_from_data<H: Hand>(key: u64, data: &EntryData<H>) -> Words {
    [
        u64::from(data.proof_number) << 32 | u64::from(data.disproof_number),
        u64::from(data.effort) << 32 | u64::from(data.hand.bits()),
        FILLED | ((key << 32) & TAG) | u64::from(data.code) << 16 | u64::from(data.plies),
    ]
}

/// The table. All hands in it must be of one game.
pub(super) struct SharedTable {
    /// Four words for each slot. Zero is an empty slot, so a new table needs no initialization.
    words: Vec<AtomicU64>,
    /// Index of the first word of the first slot.
    first_word: usize,
    /// Slots at which a window can begin. The last window extends beyond them.
    starts: usize,
    /// The value to which `starts` may grow.
    max_starts: usize,
    /// Filled slots.
    filled: AtomicUsize,
}

impl SharedTable {
    /// An empty table with about `slots` slots that may grow to `max_slots`.
    pub(super) fn new(slots: usize, max_slots: usize) -> Result<Self, AllocError> {
        let max_starts = max_slots.max(MIN_SLOTS);
        let starts = slots.clamp(MIN_SLOTS, max_starts);
        let line_words = LINE_BYTES / size_of::<AtomicU64>();
        let mut words = AtomicU64::new_vec_zeroed((starts + WINDOW) * SLOT_WORDS + line_words)?;
        huge_pages::request(&mut words);
        let first_word = words.as_ptr().align_offset(LINE_BYTES);
        Ok(Self { words, first_word, starts, max_starts, filled: AtomicUsize::new(0) })
    }

    /// A larger table with the same entries, copied by this number of threads.
    pub(super) fn grown(&self, threads: usize) -> Result<Self, AllocError> {
        let larger = Self::new(self.starts.saturating_mul(GROWTH), self.max_starts)?;
        let [from, to] = [self.slots(), larger.slots()];
        let [sources, targets] =
            [from, to].map(|slots| slots.chunks(slots.len().div_ceil(threads)));
        // Slots are ordered by key. So two threads write to the same slots only at the borders of their ranges. An
        // entry may be lost there.
        thread::scope(|scope| {
            for (source, target) in sources.zip(targets) {
                let copy = || {
                    touch(target);
                    larger.copy_entries(source);
                };
                if thread::Builder::new().spawn_scoped(scope, copy).is_err() {
                    copy();
                }
            }
        });
        Ok(larger)
    }

    /// Copies the entries of slots of another table to this one.
    fn copy_entries(&self, slots: &[SlotWords]) {
        let mut filled = 0;
        for slot in slots.iter().map(Slot).filter(|slot| !slot.is_empty()) {
            let (key, words) = slot.read();
            // A torn entry has a wrong key in both tables.
            let target = self.slot::<()>(key, None);
            filled += usize::from(target.is_empty());
            target.write(key, words);
        }
        self.add_filled(filled);
    }

    fn slots(&self) -> &[SlotWords] {
        let (slots, _) = self.words[self.first_word..].as_chunks();
        &slots[..self.starts + WINDOW]
    }

    /// Adds to the number of filled slots. [`Self::store`] returns how many it has filled.
    pub(super) fn add_filled(&self, slots: usize) {
        self.filled.fetch_add(slots, Ordering::Relaxed);
    }

    /// Whether the table is half full and may grow.
    pub(super) fn wants_to_grow(&self) -> bool {
        self.starts < self.max_starts && 2 * self.filled.load(Ordering::Relaxed) > self.starts
    }

    /// Filled slots in per mille of the largest size.
    pub(super) fn permille_filled(&self) -> u16 {
        permille(self.filled.load(Ordering::Relaxed), self.max_starts)
    }

    /// The slots for a key.
    #[inline]
    fn window(&self, key: u64) -> &[SlotWords] {
        let start = ((u128::from(key) * self.starts as u128) >> 64) as usize;
        let start = self.first_word + start * SLOT_WORDS;
        self.words[start..start + WINDOW * SLOT_WORDS].as_chunks().0
    }

    /// The entries of a board.
    #[inline]
    fn entries_for<H: Hand>(&self, key: u64) -> impl Iterator<Item = EntryData<H>> {
        // An entry is stored in the first empty slot of its window, and slots are never emptied. So there are no
        // entries after an empty slot.
        let filled = self.window(key).iter().map(Slot).take_while(|slot| !slot.is_empty());
        let read = filled.filter(move |slot| slot.may_have_key(key)).map(Slot::read);
        read.filter(move |&(slot_key, _)| slot_key == key).map(|(_, words)| data_from_words(words))
    }

    /// Reads a word of the first slot for a key, so that the processor's cache has it.
    #[inline]
    pub(super) fn touch(&self, key: u64) -> u64 {
        self.window(key)[0][3].load(Ordering::Relaxed)
    }

    /// See [`TranspositionTable::shortest_proof`](super::table::TranspositionTable::shortest_proof).
    pub(super) fn shortest_proof<H: Hand>(&self, key: u64, hand: H) -> Option<ProvenNode<H>> {
        shortest_proof_in(self.entries_for(key), hand)
    }

    /// See [`TranspositionTable::look_up`](super::table::TranspositionTable::look_up). The handle of an open node
    /// belongs to the thread that stored it; other threads must ignore it.
    #[inline]
    pub(super) fn look_up<H: Hand>(
        &self,
        key: u64,
        hand: H,
        plies_left: u16,
        longest_proof: u16,
    ) -> TableLookup<H> {
        look_up_in(self.entries_for(key), hand, plies_left, longest_proof)
    }

    /// Stores the value of a board with this hand, and returns the number of slots filled. If another thread writes to
    /// the same slot at the same time, one of the entries or both may be lost.
    pub(super) fn store<H: Hand>(
        &self,
        key: u64,
        hand: H,
        update: TableUpdate<H>,
        effort: u32,
    ) -> usize {
        let slot = self.slot(key, Some(hand));
        let filled = usize::from(slot.is_empty());
        slot.write(key, words_from_data(key, &EntryData::new(hand, update, effort)));
        filled
    }

    /// The slot to write to: the slot of the same position if it is not solved at every depth, an empty slot, or the
    /// slot with the lowest replacement value.
    #[inline]
    fn slot<H: Hand>(&self, key: u64, hand: Option<H>) -> Slot<'_> {
        let window = self.window(key);
        let mut chosen = Slot(&window[0]);
        let mut lowest = u32::MAX;
        for slot in window.iter().map(Slot) {
            if slot.is_empty() {
                return slot;
            }
            let (slot_key, words) = slot.read();
            let entry: EntryData<H> = data_from_words(words);
            if hand == Some(entry.hand) && slot_key == key && !entry.is_unlimited() {
                return slot;
            }
            let value = entry.replacement_value();
            if value < lowest {
                lowest = value;
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

    /// A hand that dominates only itself.
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

    /// A proof whose fields all follow from one number.
    fn proof_for(number: u32) -> ProvenNode<Number> {
        let plies = number.wrapping_mul(0x9e37) as u16;
        ProvenNode { hand: Number(number), plies, code: !plies | 1 }
    }

    fn proof_number_for(hand: u32) -> u32 {
        hand.wrapping_mul(0x9e37_79b9) >> 1 | 1
    }

    /// Two threads write boards of one window, two others read them. Every entry found must be one that was stored.
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
                            TableUpdate::Proven(proof_for(hand)),
                            number,
                        );
                        let (proof_number, handle) = (proof_number_for(hand), NO_HANDLE);
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
                                let written = proof_for(hand);
                                assert_eq!(
                                    (proof.plies, proof.code),
                                    (written.plies, written.code)
                                );
                                found += 1;
                            }
                            if let TableLookup::Open { proof_number, disproof_number, .. } =
                                table.look_up(keys[1], Number(hand), 1, 1)
                            {
                                assert_eq!(proof_number, proof_number_for(hand));
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

    /// All mixtures of the words of two entries of a board.
    #[test]
    fn mixed_words_belong_to_no_board() {
        let key = 0x0123_4567_89ab_cdef;
        let open = TableUpdate::Open { proof_number: 5, disproof_number: 6, handle: NO_HANDLE };
        let entries =
            [(3, TableUpdate::Proven(proof_for(3))), (4, open)].map(|(number, update)| {
                let words = SlotWords::default();
                let slot = Slot(&words);
                slot.write(
                    key,
                    words_from_data(key, &EntryData::new(Number(number), update, number)),
                );
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
    fn growing_keeps_all_entries() {
        let key = |number: u32| u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut table = SharedTable::new(1 << 13, 1 << 20).unwrap();
        for number in 1..=20_000 {
            let update = TableUpdate::Proven(proof_for(number));
            table.add_filled(table.store(key(number), Number(number), update, 1));
            if table.wants_to_grow() {
                table = table.grown(1).unwrap();
            }
        }
        assert!(table.starts == 1 << 16 && !table.wants_to_grow());
        let lost_by = |table: &SharedTable| {
            let found = |&number: &u32| {
                let found = table.shortest_proof(key(number), Number(number));
                found.is_some_and(|found| found.plies == proof_for(number).plies)
            };
            20_000 - (1..=20_000).filter(found).count()
        };
        assert_eq!(lost_by(&table), 0);
        // Two threads may choose the same slot at the border of their ranges.
        let grown = table.grown(2).unwrap();
        assert!(grown.starts == 1 << 19 && lost_by(&grown) <= WINDOW);
        assert!(grown.filled.into_inner() + WINDOW >= 20_000);
    }
}
