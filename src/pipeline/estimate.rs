//! How long a run will take, measured on a sample of its records.
//!
//! The sample is spread evenly over the range, because archives keep the positions of a game together.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::judge::Decide;
use super::plan::Plan;
use super::source::{self, Delivery, Part, Source, SourceError};
use super::triage;

/// Places in the input at which a few records are judged.
const PROBES: u64 = 64;

/// Records judged at each place.
const PROBE_RECORDS: u64 = 4;

/// The sample ends early after this time.
const MOST_TIME: Duration = Duration::from_secs(10);

/// What a sample says about the whole run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// Records judged for it.
    pub sampled: u64,
    /// Expected duration of the run with the plan's threads, in seconds.
    pub seconds: f64,
}

/// Judges a sample; `None` where the number of records is not known or the input cannot be read twice.
///
/// # Errors
/// [`SourceError`] if an input cannot be read.
pub fn estimate(plan: &Plan, judge: &mut dyn Decide) -> Result<Option<Estimate>, SourceError> {
    let is_seekable = plan.parts.iter().all(|part| source::is_cheap_to_count(&part.input));
    let (Some(records), true) = (plan.records, is_seekable) else { return Ok(None) };
    let started = Instant::now();
    let never = AtomicBool::new(false);
    let mut sampled = 0;
    let mut judged = Duration::ZERO;
    for probe in 0..PROBES {
        let first = u128::from(records) * u128::from(probe) / u128::from(PROBES);
        let Some(part) = part_at(plan, first as u64) else { break };
        let source = Source::new(vec![part], PROBE_RECORDS);
        for delivery in source.numbered_from(plan.first_number + first as u64) {
            if let Delivery::Block(block) = delivery? {
                let before = Instant::now();
                let sorted = triage::sort(plan, &block, judge, &never);
                judged += before.elapsed();
                sampled += sorted.map_or(0, |sorted| sorted.counts.input);
            }
        }
        if started.elapsed() > MOST_TIME {
            break;
        }
    }
    let threads = match plan.settings.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let per_record_s = if sampled == 0 { 0.0 } else { judged.as_secs_f64() / sampled as f64 };
    let seconds = per_record_s * records as f64 / threads as f64;
    Ok(Some(Estimate { sampled, seconds }))
}

/// A few records from number `record` of the plan's range on.
fn part_at(plan: &Plan, mut record: u64) -> Option<Part> {
    for part in &plan.parts {
        let len = part.to? - part.from;
        if record < len {
            let from = part.from + record;
            let to = (from + PROBE_RECORDS).min(part.from + len);
            return Some(Part { from, to: Some(to), ..part.clone() });
        }
        record -= len;
    }
    None
}
