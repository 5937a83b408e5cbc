//! Samples archives by random access, reading only the chosen records.
//!
//! The sample is the same as if everything were read: the records with the smallest keys.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::engine::run::CompletedPass;
use crate::error::Error;
use crate::ops::rearrange::pass::RunControl;
use crate::ops::rearrange::plan::RearrangePlan;
use crate::random::SplitMix64;
use crate::records::archive::Archive;
use crate::records::counts::Counts;
use crate::records::filters::Condition;
use crate::records::output_kind::{EncodedRecords, OutputKind};
use crate::records::sink::Sinks;
use crate::records::source::{InputLocation, InputRange, RangeRead};
use crate::storage::compression::Compression;

/// Cost of a seek, as the number of bytes that a disk reads in that time: 0.1 ms at 1 GB/s.
const BYTES_PER_SEEK: u64 = 1 << 17;

/// Keys computed between two checks for cancellation.
const KEYS_AT_A_TIME: u64 = 1 << 20;

const RECORDS_AT_A_TIME: usize = 1 << 12;

/// Opens the inputs as archives. Returns `None` if reading `count` records by random access is not faster than reading
/// everything.
///
/// Also returns `None` for compressed files: their record offsets depend on all earlier entries of the frame table, and
/// a wrong entry is only detected by reading its frame.
pub(super) fn archives(plan: &RearrangePlan, count: u64) -> Option<Vec<Archive>> {
    let sizes: Option<Vec<u64>> = plan.ranges.iter().map(plain_bytes).collect();
    if count.saturating_mul(BYTES_PER_SEEK) >= sizes?.iter().sum() {
        return None;
    }
    let open = |range: &InputRange| {
        let is_whole = (range.from, range.to) == (0, None);
        let archive = is_whole.then(|| Archive::from_input(&range.input).ok()).flatten();
        // Reading everything reports a truncated record in more detail.
        let archive = archive.filter(|archive| !archive.is_cut_off())?;
        archive.expect_random_access();
        Some(archive)
    };
    plan.ranges.iter().map(open).collect()
}

/// Size of an uncompressed file. `None` for other inputs.
fn plain_bytes(range: &InputRange) -> Option<u64> {
    match (&range.input.location, range.input.compression) {
        (InputLocation::File(path), Compression::None) => Some(path.metadata().ok()?.len()),
        _ => None,
    }
}

/// Writes the `count` records with the smallest keys, in input order.
pub(super) fn write(
    plan: &RearrangePlan,
    archives: &[Archive],
    count: u64,
    seed: u64,
    sinks: &mut Sinks,
    control: &mut RunControl<'_>,
) -> Result<CompletedPass, Error> {
    let records = archives.iter().map(Archive::len).sum();
    let threads = plan.resources.threads();
    let chosen = choose(records, count, seed, threads, control.cancel);
    let chosen = chosen.ok_or_else(Error::interrupted)?;
    control.progress.begin("writing", plan.records);
    let mut rest = &chosen[..];
    let mut first = 0;
    for archive in archives {
        let end = first + archive.len();
        let (here, others) = rest.split_at(rest.partition_point(|&record| record < end));
        for records in here.chunks(RECORDS_AT_A_TIME) {
            let mut encoded = EncodedRecords::default();
            for &record in records {
                let bytes = archive.record_bytes(record - first)?;
                encoded.open_record().extend_from_slice(&bytes);
                encoded.end_record();
            }
            if control.cancel.load(Ordering::Relaxed) {
                return Err(Error::interrupted());
            }
            sinks.write(OutputKind::Kept, &encoded)?;
        }
        (rest, first) = (others, end);
    }
    let kept = chosen.len() as u64;
    let mut counts = Counts { input: records, kept, ..Counts::default() };
    if kept < records {
        counts.filtered.insert(Condition::Sample, records - kept);
    }
    let ranges_read = archives.iter().enumerate().map(|(input, archive)| {
        let bytes = archive.offset(archive.len());
        RangeRead { input, records: archive.len(), offset: 0, bytes, sha256: None }
    });
    Ok(CompletedPass { counts, ranges_read: ranges_read.collect() })
}

/// Returns the numbers of the `count` records with the smallest keys, in ascending order. `None` if cancelled.
fn choose(
    records: u64,
    count: u64,
    seed: u64,
    threads: usize,
    cancel: &AtomicBool,
) -> Option<Vec<u64>> {
    if count >= records {
        return Some((0..records).collect());
    }
    if count == 0 {
        return Some(Vec::new());
    }
    // Keys are uniformly distributed. Except in one of millions of cases, at least `count` keys are below the bound.
    let mut expected = u128::from(count + 8 * count.isqrt() + 64);
    loop {
        let bound = u64::try_from((expected << 64) / u128::from(records)).unwrap_or(u64::MAX);
        let mut keys = keys_up_to(bound, records, seed, threads, cancel)?;
        if let Some(last) = (count as usize).checked_sub(1).filter(|&last| last < keys.len()) {
            keys.select_nth_unstable(last);
            let mut chosen: Vec<u64> = keys[..=last].iter().map(|&(_, record)| record).collect();
            chosen.sort_unstable();
            return Some(chosen);
        }
        expected *= 2;
    }
}

/// Returns keys and numbers of the records with keys up to `bound`, in any order. `None` if cancelled.
fn keys_up_to(
    bound: u64,
    records: u64,
    seed: u64,
    threads: usize,
    cancel: &AtomicBool,
) -> Option<Vec<(u64, u64)>> {
    let all = Mutex::new(Vec::new());
    let next_keys = AtomicU64::new(0);
    let search = || {
        let mut own = Vec::new();
        loop {
            let from = next_keys.fetch_add(1, Ordering::Relaxed).saturating_mul(KEYS_AT_A_TIME);
            if from >= records || cancel.load(Ordering::Relaxed) {
                break;
            }
            let range = from..records.min(from + KEYS_AT_A_TIME);
            let keys = range.map(|record| (SplitMix64::nth_bits(seed, record), record));
            own.extend(keys.filter(|&(key, _)| key <= bound));
        }
        all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut own);
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // If no thread can be started, this thread does all the work.
            let _ = thread::Builder::new().spawn_scoped(scope, search);
        }
        search();
    });
    let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    (!cancel.load(Ordering::Relaxed)).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_with_the_smallest_keys_are_chosen() {
        let never = AtomicBool::new(false);
        for records in [1, 2, 1000, (1 << 20) + 7] {
            for count in [0, 1, 2, 999, records, records + 1] {
                let mut keys: Vec<_> =
                    (0..records).map(|record| (SplitMix64::nth_bits(9, record), record)).collect();
                keys.sort_unstable();
                let mut expected: Vec<_> =
                    keys.iter().take(count as usize).map(|&(_, record)| record).collect();
                expected.sort_unstable();
                assert_eq!(
                    choose(records, count, 9, 2, &never),
                    Some(expected),
                    "{count} of {records}"
                );
            }
        }
        assert_eq!(choose(1000, 10, 9, 2, &AtomicBool::new(true)), None);
    }
}
