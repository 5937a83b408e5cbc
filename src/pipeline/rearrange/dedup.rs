//! Leaves out records that say what an earlier one said. The first stays, and so does the order.
//!
//! Records are compared by 128 bits of XXH3: of 10 billion different ones two are taken for equal with a
//! probability of 10⁻¹⁸. First all are laid into buckets by their hashes, which tells the numbers of the
//! repeated ones; then the inputs are read once more, without those.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use thiserror::Error;
use twox_hash::XxHash3_128;

use super::account::{Account, Moved};
use super::buckets::{Bucket, Buckets, Share};
use super::hand_out::hand_out;
use super::items::{ItemBatch, Units, sort_items};
use super::laid::{Items, Laid, counted};
use super::numbers::{Ascending, Numbers};
use super::pass::{Checksums, Watch, desk_of_units, read};
use super::plan::RearrangePlan;
use crate::format::move16::Dialect;
use crate::format::{Ahead, ConvertError, Field, Fill, RecordRef, encode};
use crate::pipeline::counts::{Condition, Counts};
use crate::pipeline::plan::PlanError;
use crate::pipeline::progress::Progress;
use crate::pipeline::reading::Fault;
use crate::pipeline::run::{Desk, Passed, RunError};
use crate::pipeline::settings::BadPolicy;
use crate::pipeline::sink::Sinks;
use crate::pipeline::sorting::{Next, Sorted, sort_block};
use crate::pipeline::source::Block;
use crate::pipeline::stream::Stream;

/// What makes two records one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DedupKey {
    /// Board, hands and side to move.
    #[default]
    Position,
    /// The same, and the stored move.
    PositionAndMove,
    /// All that a record says: its bytes in canonical form.
    Content,
    /// Its bytes, padding included.
    Bytes,
}

/// A word that names no [`DedupKey`].
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{0:?} is none of position, position+move, content and bytes")]
pub struct UnknownDedupKey(String);

impl DedupKey {
    /// Every key.
    pub const ALL: [Self; 4] = [Self::Position, Self::PositionAndMove, Self::Content, Self::Bytes];

    /// Its name on the command line and in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Position => "position",
            Self::PositionAndMove => "position+move",
            Self::Content => "content",
            Self::Bytes => "bytes",
        }
    }
}

impl fmt::Display for DedupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DedupKey {
    type Err = UnknownDedupKey;

    fn from_str(name: &str) -> Result<Self, UnknownDedupKey> {
        let found = Self::ALL.into_iter().find(|key| key.name() == name);
        found.ok_or_else(|| UnknownDedupKey(name.to_owned()))
    }
}

/// What is kept of a record while records are compared: 8 bytes of its hash, the key, and 16 more.
const COMPARED_BYTES: usize = 2 * size_of::<u64>();

/// In place of the highest bit of a number: the record cannot be used and is left out.
const IS_BAD: u64 = 1 << 63;

/// Leaves out repeated records. Sets nothing under a final name unless all went well.
///
/// # Errors
/// [`RunError`]; whatever had been written is removed.
pub fn dedup(
    plan: &RearrangePlan,
    key: DedupKey,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Account, RunError> {
    check(plan, key)?;
    let started = Instant::now();
    let mut watch = Watch { progress, cancel };
    let before = plan.identities();
    let mut side = Sinks::create_with(&plan.side_outputs, true)?;
    let mut sinks = Sinks::create_with(&plan.outputs, true)?;
    watch.progress.begin("comparing", plan.records);
    let mut compared = Buckets::new(&plan.means, Some(COMPARED_BYTES), Share::MOST);
    let add = |_: &mut _, laid| compared.add(laid);
    let Passed { mut counts, parts_read } =
        read(plan, &mut side, Checksums::Wanted, comparing_desk(plan, key), add, &mut watch)?;
    let mut left_out = Numbers::new(&plan.means, counts.input);
    let add = |numbers: Vec<u64>| left_out.add(&numbers);
    hand_out(compared.seal()?, &plan.means, repeated, add, &mut watch)?;
    count_duplicates(&mut counts, left_out.len());
    watch.progress.begin("writing", Some(counts.input));
    write(plan, left_out.ascending()?, &mut sinks, &mut watch)?;
    plan.check_same(&before)?;
    let finished = sinks.finish()?.and(side.finish()?);
    let settings = vec![("key", key.name().into())];
    Moved { command: "dedup", settings, counts, parts_read, finished, started }.commit(plan)
}

/// Of what is left out, the bad ones are counted.
fn count_duplicates(counts: &mut Counts, left_out: u64) {
    let duplicates = left_out - counts.bad.all();
    counts.kept -= duplicates;
    if duplicates > 0 {
        counts.filtered.insert(Condition::Duplicate, duplicates);
    }
}

/// Checks that the inputs have what is to be compared, and can be read twice.
fn check(plan: &RearrangePlan, key: DedupKey) -> Result<(), PlanError> {
    let format = plan.format();
    if key != DedupKey::Bytes && !format.has_single_records() {
        return Err(PlanError::OnlyBytes { format });
    }
    if key == DedupKey::PositionAndMove && !format.fields().contains(Field::BestMove) {
        let input = plan.parts[0].input.name.clone();
        let (filter, field) = ("key position+move", Field::BestMove);
        return Err(PlanError::FilterOnMissingField {
            filter,
            input,
            format: format.name(),
            field,
        });
    }
    plan.check_twice("records are compared in one reading and written in another")
}

/// A desk that hashes records and lays out the hashes with their numbers.
fn comparing_desk(plan: &RearrangePlan, key: DedupKey) -> Desk<Laid> {
    let names: Vec<String> = plan.parts.iter().map(|part| part.input.name.clone()).collect();
    let on_error = plan.on_error;
    Arc::new(move |block: &Block, cancel: &AtomicBool| {
        let file = &names[block.part];
        let mut hashes = Hashes { items: Items::default(), next: block.first_number };
        let sorted = if key == DedupKey::Bytes {
            sort_items(block, file, on_error, |item| {
                hashes.push(XxHash3_128::oneshot(item.bytes), item.number);
            })
        } else {
            let mut bytes = Vec::new();
            let mut ahead = Ahead::default();
            let sorted = sort_block(block, file, on_error, cancel, |item, sorted| {
                bytes.clear();
                say(&item.record, key, (&mut ahead, || block.behind(&item.unit)), &mut bytes)?;
                hashes.push(XxHash3_128::oneshot(&bytes), item.number);
                sorted.counts.kept += 1;
                Ok(Next::Sorted)
            })?;
            hashes.leave_out(block.number_of(block.wanted.end));
            sorted
        };
        Some((sorted, Laid::new(&hashes.items, Some(COMPARED_BYTES), 0)))
    })
}

/// Hashes with the numbers of their records.
struct Hashes {
    items: Items,
    /// Number of the next record.
    next: u64,
}

impl Hashes {
    #[inline]
    fn push(&mut self, hash: u128, number: u64) {
        self.leave_out(number);
        self.add(hash, number);
        self.next = number + 1;
    }

    /// The records up to, but not including, this number could not be used.
    fn leave_out(&mut self, to: u64) {
        for number in self.next..to {
            // Spread over the buckets as all others are.
            self.add(XxHash3_128::oneshot(&number.to_le_bytes()), number | IS_BAD);
        }
    }

    fn add(&mut self, hash: u128, number: u64) {
        let mut bytes = [0; COMPARED_BYTES];
        bytes[..8].copy_from_slice(&(hash as u64).to_le_bytes());
        bytes[8..].copy_from_slice(&number.to_le_bytes());
        self.items.push((hash >> u64::BITS) as u64, &bytes, Some(COMPARED_BYTES));
    }
}

/// Appends what is compared of a record.
fn say<'a>(
    record: &RecordRef<'_>,
    key: DedupKey,
    ahead: (&mut Ahead, impl FnOnce() -> &'a [u8]),
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    match key {
        DedupKey::Position => out.extend_from_slice(record.position_key_ahead(ahead)?.bytes()),
        DedupKey::PositionAndMove => {
            out.extend_from_slice(record.position_key_ahead(ahead)?.bytes());
            let bits = record.best_move()?.map(|best| Dialect::YaneuraOu.encode(best));
            // No move has the bits of another: 0 is none of YaneuraOu's.
            out.extend_from_slice(&bits.unwrap_or(0).to_le_bytes());
        }
        DedupKey::Content => {
            let content = record.record()?;
            encode(record.format(), &content, &Fill::default(), out).map_err(ConvertError::from)?;
        }
        DedupKey::Bytes => {}
    }
    Ok(())
}

/// The numbers of the records in a bucket that an earlier one repeats, and of those that are bad.
fn repeated(bucket: &Bucket) -> Result<Vec<u64>, RunError> {
    let items = bucket.items()?;
    let (words, _) = items.bytes.as_chunks::<8>();
    let word = |place: usize| u64::from_le_bytes(words[place]);
    let mut left_out = Vec::new();
    // Of the records whose keys begin alike, which as a rule are equal, those that are the first ones.
    let mut firsts: Vec<(u64, u64)> = Vec::new();
    let mut alike = None;
    for item in items.order() {
        let item = item as usize;
        let (key, low, number) = (items.keys[item], word(2 * item), word(2 * item + 1));
        if number & IS_BAD != 0 {
            left_out.push(number & !IS_BAD);
            continue;
        }
        if alike.replace(counted(key)) != Some(counted(key)) {
            firsts.clear();
        }
        if firsts.contains(&(key, low)) {
            left_out.push(number);
        } else {
            firsts.push((key, low));
        }
    }
    Ok(left_out)
}

/// Reads everything again and writes what is not left out.
fn write(
    plan: &RearrangePlan,
    mut left_out: Ascending,
    sinks: &mut Sinks,
    watch: &mut Watch<'_>,
) -> Result<(), RunError> {
    // What is bad was dealt with in the first reading.
    let desk = desk_of_units(plan, BadPolicy::Skip);
    let take = |sorted: &mut Sorted, units: Units| {
        let mut kept = ItemBatch::default();
        let mut from = 0;
        for unit in 0..units.len() {
            if left_out.contains(units.get(unit).number)? {
                kept.push_all(&units, from..unit);
                from = unit + 1;
            }
        }
        kept.push_all(&units, from..units.len());
        *sorted.batch_mut(Stream::Kept) = kept.into_batch();
        Ok(())
    };
    read(plan, sinks, Checksums::Known, desk, take, watch).map(drop)
}
