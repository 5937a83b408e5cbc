//! Leaves out records that say what an earlier one said. The first stays, and so does the order.
//!
//! Records are compared by 128 bits of XXH3: of 10 billion different ones two are taken for equal with a
//! probability of 10⁻¹⁸. First all are laid into buckets by their hashes, which tells the numbers of the
//! repeated ones; then the inputs are read once more, without those.

mod hashing;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use self::hashing::{COMPARED_BYTES, Hashed, hashing_desk};
use super::account::{Account, Moved};
use super::buckets::{Buckets, Share};
use super::hand_out::hand_out;
use super::items::Units;
use super::laid::counted;
use super::numbers::Numbers;
use super::ordered::Ordered;
use super::pass::{Checksums, Watch, desk_of_units, read};
use super::plan::RearrangePlan;
use crate::engine::progress::Progress;
use crate::engine::run::Passed;
use crate::format::Field;
use crate::ops::error::OperationError;
use crate::ops::rearrange::dedup_key::DedupKey;
use crate::records::bad_record::BadPolicy;
use crate::records::counts::Condition;
use crate::records::plan_error::PlanError;
use crate::records::sink::Sinks;
use crate::records::sorting::Sorted;
use crate::records::stream::Stream;

/// Records that nobody has.
const MOST_RECORDS: u64 = 1 << 40;

/// Leaves out repeated records. Sets nothing under a final name unless all went well.
///
/// # Errors
/// [`OperationError`]; whatever had been written is removed.
pub fn dedup(
    plan: &RearrangePlan,
    key: DedupKey,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Account, OperationError> {
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
        read(plan, &mut side, Checksums::Wanted, hashing_desk(plan, key), take, &mut watch)?;
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

/// What was found out about a bucket.
struct Compared {
    /// Records in it.
    items: u64,
    /// The numbers of those that an earlier one repeats.
    repeated: Vec<u64>,
}

fn repeated(bucket: &Ordered) -> Compared {
    let Ordered { items, order, .. } = bucket;
    let (words, _) = items.bytes.as_chunks::<8>();
    let word = |place: usize| u64::from_le_bytes(words[place]);
    let mut repeated = Vec::new();
    // Of the records whose keys begin alike, which as a rule are equal, those that are the first ones.
    let mut firsts: Vec<(u64, u64)> = Vec::new();
    let mut alike = None;
    for &item in order {
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
    Compared { items: items.keys.len() as u64, repeated }
}

/// Reads everything again and writes what is not left out; how many repeated records that were.
fn write(
    plan: &RearrangePlan,
    left_out: LeftOut,
    sinks: &mut Sinks,
    watch: &mut Watch<'_>,
) -> Result<u64, OperationError> {
    let mut bad = left_out.bad.ascending()?;
    let mut repeated = left_out.repeated.ascending()?;
    let mut repeated_records = 0;
    // What is bad was dealt with in the first reading.
    let desk = desk_of_units(plan, BadPolicy::Skip);
    let take = |sorted: &mut Sorted, units: Units| {
        let mut left_out = Vec::new();
        let mut unit = 0;
        while unit < units.len() {
            let number = units.get(unit).number;
            let (next_repeated, next_bad) = (repeated.from(number)?, bad.from(number)?);
            let Some(next) = [next_repeated, next_bad].into_iter().flatten().min() else { break };
            unit = units.position(unit, next);
            if unit < units.len() && units.get(unit).number == next {
                if next_repeated == Some(next) {
                    repeated_records += units.get(unit).records;
                }
                left_out.push(unit);
                unit += 1;
            }
        }
        *sorted.batch_mut(Stream::Kept) = units.without(&left_out);
        Ok(())
    };
    read(plan, sinks, Checksums::Known, desk, take, watch)?;
    Ok(repeated_records)
}
