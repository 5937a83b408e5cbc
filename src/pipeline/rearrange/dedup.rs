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
use super::numbers::Numbers;
use super::pass::{Checksums, Watch, desk_of_units, read};
use super::plan::RearrangePlan;
use crate::format::move16::Dialect;
use crate::format::{Ahead, Field, PositionKey, Record, RecordRef};
use crate::pipeline::counts::Condition;
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
    /// All that a record says, in whatever bytes.
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

/// Hashes of a block that are remembered.
const RECENT_HASHES: usize = 1 << 10;

/// Records that nobody has.
const MOST_RECORDS: u64 = 1 << 40;

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
    plan.means.check_folder()?;
    let started = Instant::now();
    let mut watch = Watch { progress, cancel };
    let before = plan.identities();
    let mut side = Sinks::create_with(&plan.side_outputs, true)?;
    let mut sinks = Sinks::create_with(&plan.outputs, true)?;
    watch.progress.begin("comparing", plan.records);
    let mut compared = Buckets::new(&plan.means, Some(COMPARED_BYTES), Share::MOST);
    let mut left_out = LeftOut::new(plan);
    let take = |_: &mut _, hashed: Hashed| {
        left_out.bad.add(&hashed.bad)?;
        left_out.repeated.add(&hashed.repeated)?;
        compared.add(hashed.laid)
    };
    let Passed { mut counts, parts_read } =
        read(plan, &mut side, Checksums::Wanted, comparing_desk(plan, key), take, &mut watch)?;
    watch.progress.begin("sorting", Some(compared.items()));
    let take = |Compared { items, repeated }| {
        left_out.repeated.add(&repeated)?;
        Ok(items)
    };
    hand_out(compared.seal()?, &plan.means, repeated, take, &mut watch)?;
    watch.progress.begin("writing", Some(counts.input));
    let repeated = write(plan, left_out, &mut sinks, &mut watch)?;
    plan.check_same(&before)?;
    counts.kept -= repeated;
    if repeated > 0 {
        counts.filtered.insert(Condition::Duplicate, repeated);
    }
    let finished = sinks.finish()?.and(side.finish()?);
    let settings = vec![("key", key.name().into())];
    Moved { command: "dedup", settings, counts, parts_read, finished, started }
        .commit(plan, watch.progress)
}

/// Numbers of records that are not written.
struct LeftOut {
    /// They cannot be read.
    bad: Numbers,
    /// They say what an earlier one said.
    repeated: Numbers,
}

impl LeftOut {
    fn new(plan: &RearrangePlan) -> Self {
        // Where nobody has counted them yet, more than anybody has.
        let end = plan.records.unwrap_or(MOST_RECORDS);
        Self {
            bad: Numbers::new(&plan.means, end, Share::LAST),
            repeated: Numbers::new(&plan.means, end, Share::REST),
        }
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

/// The hashes of a block, laid into buckets with the numbers of their records.
struct Hashed {
    laid: Laid,
    /// Numbers of records that say what an earlier one of the block says, as far as that was noticed: of
    /// positions that come again and again, as that from which games start, the buckets get but one a block.
    repeated: Vec<u64>,
    /// Numbers of records that cannot be read.
    bad: Vec<u64>,
}

/// A desk that hashes records.
fn comparing_desk(plan: &RearrangePlan, key: DedupKey) -> Desk<Hashed> {
    let names: Vec<String> = plan.parts.iter().map(|part| part.input.name.clone()).collect();
    let on_error = plan.on_error;
    Arc::new(move |block: &Block, cancel: &AtomicBool| {
        let file = &names[block.part];
        let mut hashes = Hashes::default();
        let (sorted, bad) = if key == DedupKey::Bytes {
            let sorted = sort_items(block, file, on_error, |item| {
                // A game without moves has no number of its own. It stays.
                if item.records > 0 {
                    hashes.push(XxHash3_128::oneshot(item.bytes), item.number);
                }
            });
            (sorted, Vec::new())
        } else {
            let (mut bytes, mut bad) = (Vec::new(), Vec::new());
            let (mut ahead, mut next) = (Ahead::default(), block.first_number);
            let sorted = sort_block(block, file, on_error, cancel, |item, sorted| {
                bytes.clear();
                say(&item.record, key, (&mut ahead, || block.behind(&item.unit)), &mut bytes)?;
                hashes.push(XxHash3_128::oneshot(&bytes), item.number);
                sorted.counts.kept += 1;
                bad.extend(next..item.number);
                next = item.number + 1;
                Ok(Next::Sorted)
            })?;
            bad.extend(next..block.number_of(block.wanted.end));
            (sorted, bad)
        };
        let laid = Laid::new(&hashes.items, Some(COMPARED_BYTES), 0);
        Some((sorted, Hashed { laid, repeated: hashes.repeated, bad }))
    })
}

/// Hashes of a block with the numbers of their records.
struct Hashes {
    items: Items,
    repeated: Vec<u64>,
    /// The last ones that were met, each where its last bits say.
    recent: Vec<u128>,
}

impl Default for Hashes {
    fn default() -> Self {
        let (items, repeated) = (Items::default(), Vec::new());
        Self { items, repeated, recent: vec![0; RECENT_HASHES] }
    }
}

impl Hashes {
    #[inline]
    fn push(&mut self, hash: u128, number: u64) {
        let recent = &mut self.recent[hash as usize % RECENT_HASHES];
        if *recent == hash {
            return self.repeated.push(number);
        }
        *recent = hash;
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
        DedupKey::Content => say_content(&record.record()?, out),
        DedupKey::Bytes => {}
    }
    Ok(())
}

/// Appends all that a record says. What stands between two fields tells where one ends.
fn say_content(record: &Record, out: &mut Vec<u8>) {
    let Record { setup, best_move, eval_cp, ply, result, ending, end_ply, candidates, .. } = record;
    out.extend_from_slice(PositionKey::of(setup).bytes());
    let mut field = |field: Option<u16>| {
        out.push(field.is_some().into());
        out.extend_from_slice(&field.unwrap_or(0).to_le_bytes());
    };
    field(best_move.map(|best| Dialect::YaneuraOu.encode(best)));
    field(eval_cp.map(i16::cast_unsigned));
    field(*ply);
    field(result.map(|result| result as u16));
    field(ending.map(|ending| ending as u16));
    field(*end_ply);
    field(Some(record.is_not_for_training.into()));
    if !candidates.is_empty() {
        out.extend_from_slice(format!("{candidates:?}").as_bytes());
    }
}

/// What was found out about a bucket.
struct Compared {
    /// Records in it.
    items: u64,
    /// The numbers of those that an earlier one repeats.
    repeated: Vec<u64>,
}

fn repeated(bucket: &Bucket) -> Result<Compared, RunError> {
    let items = bucket.items()?;
    let (words, _) = items.bytes.as_chunks::<8>();
    let word = |place: usize| u64::from_le_bytes(words[place]);
    let mut repeated = Vec::new();
    // Of the records whose keys begin alike, which as a rule are equal, those that are the first ones.
    let mut firsts: Vec<(u64, u64)> = Vec::new();
    let mut alike = None;
    for item in items.order() {
        let item = item as usize;
        let (key, low, number) = (items.keys[item], word(2 * item), word(2 * item + 1));
        if alike.replace(counted(key)) != Some(counted(key)) {
            firsts.clear();
        }
        if firsts.contains(&(key, low)) {
            repeated.push(number);
        } else {
            firsts.push((key, low));
        }
    }
    Ok(Compared { items: items.keys.len() as u64, repeated })
}

/// Reads everything again and writes what is not left out; how many repeated records that were.
fn write(
    plan: &RearrangePlan,
    left_out: LeftOut,
    sinks: &mut Sinks,
    watch: &mut Watch<'_>,
) -> Result<u64, RunError> {
    let mut bad = left_out.bad.ascending()?;
    let mut repeated = left_out.repeated.ascending()?;
    let mut repeated_records = 0;
    // What is bad was dealt with in the first reading.
    let desk = desk_of_units(plan, BadPolicy::Skip);
    let take = |sorted: &mut Sorted, units: Units| {
        let mut kept = ItemBatch::default();
        let mut from = 0;
        for unit in 0..units.len() {
            let item = units.get(unit);
            let is_repeated = item.records > 0 && repeated.contains(item.number)?;
            if is_repeated || bad.contains(item.number)? {
                repeated_records += if is_repeated { item.records } else { 0 };
                kept.push_all(&units, from..unit);
                from = unit + 1;
            }
        }
        kept.push_all(&units, from..units.len());
        *sorted.batch_mut(Stream::Kept) = kept.into_batch();
        Ok(())
    };
    read(plan, sinks, Checksums::Known, desk, take, watch)?;
    Ok(repeated_records)
}
