//! A snapshot of the progress of a run, as figures and as a line of text.

use serde::Serialize;

use crate::records::counts::Counts;
use crate::storage::quantity::{left, noun, rounded, separated};

/// The progress of a run at one moment.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Snapshot {
    /// The phase of the run, if it has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<&'static str>,
    /// Records processed.
    pub done: u64,
    /// Records of the run, if known.
    pub total: Option<u64>,
    /// Records a second.
    pub rate: f64,
    /// Records kept.
    pub kept: u64,
    /// Bad records.
    pub bad: u64,
    /// Verdicts, in runs that search.
    #[serde(flatten)]
    pub verdicts: Option<Verdicts>,
    /// Seconds since this process began.
    pub elapsed_s: f64,
    /// Estimated seconds left; `None` until the rate is stable.
    pub eta_s: Option<f64>,
}

/// Numbers of verdicts.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Verdicts {
    /// Positions where the side to move forces mate.
    pub win: u64,
    /// Positions where the side to move is mated by force.
    pub loss: u64,
    /// Positions that the search did not decide.
    pub unknown: u64,
}

/// Time until the rate is stable: the start of the threads and the first records are not typical.
const SETTLED_AFTER_S: f64 = 2.0;

impl Snapshot {
    /// A snapshot `elapsed_s` seconds after the process began. `before` records were done before it.
    pub(crate) fn new(
        counts: &Counts,
        total: Option<u64>,
        elapsed_s: f64,
        before: u64,
        searches: bool,
    ) -> Self {
        let done = counts.input;
        let new = done.saturating_sub(before);
        let rate = if elapsed_s > 0.0 { new as f64 / elapsed_s } else { 0.0 };
        let left = total.map(|all| all.saturating_sub(done) as f64);
        let is_settled = new > 0 && elapsed_s >= SETTLED_AFTER_S;
        let eta_s = left.filter(|_| is_settled).map(|left| left / rate);
        let verdicts = searches.then(|| Verdicts {
            win: counts.verdicts.win,
            loss: counts.verdicts.loss,
            unknown: counts.verdicts.unknown.values().sum(),
        });
        let (kept, bad) = (counts.all_kept(), counts.bad_records());
        Self { phase: None, done, total, rate, kept, bad, verdicts, elapsed_s, eta_s }
    }

    /// Sets the phase of the run.
    pub(crate) fn in_phase(self, phase: Option<&'static str>) -> Self {
        Self { phase, ..self }
    }

    /// One line with phase, records, time left, speed and verdicts.
    pub fn line(&self) -> String {
        let phase = self.phase.map_or(String::new(), |phase| format!("{phase}: "));
        let figures = [vec![self.counts()], self.speed(), self.details()].concat();
        format!("{phase}{}", figures.join(", "))
    }

    /// The number of records done, and of all records if it is known.
    pub fn counts(&self) -> String {
        let total = self.total.map_or(String::new(), |total| format!(" of {}", separated(total)));
        let records = noun(self.total.unwrap_or(self.done) == 1, "record");
        format!("{}{total} {records}", separated(self.done))
    }

    /// Time left, if it is known, and speed.
    pub fn speed(&self) -> Vec<String> {
        let speed = format!("{} records/s", rounded(self.rate));
        self.eta_s.map(left).into_iter().chain([speed]).collect()
    }

    /// Verdicts and bad records.
    pub fn details(&self) -> Vec<String> {
        let mut details = Vec::new();
        if let Some(Verdicts { win, loss, unknown }) = self.verdicts {
            details.push(format!("{} mated", separated(win + loss)));
            details.push(format!("{} unknown", separated(unknown)));
        }
        if self.bad > 0 {
            details.push(format!("{} bad", separated(self.bad)));
        }
        details
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_counts_speed_and_time_left() {
        let mut counts = Counts { input: 500, kept: 480, ..Counts::default() };
        (counts.verdicts.win, counts.verdicts.loss) = (4, 3);
        counts.bad.quarantined = 1;
        counts.evaluations.new = 2;
        let snapshot = Snapshot::new(&counts, Some(2000), 5.0, 0, true);
        let line = "500 of 2,000 records, 15 s left, 100 records/s, 7 mated, 0 unknown, 1 bad";
        assert_eq!((snapshot.line(), snapshot.kept), (line.to_owned(), 482));
    }

    #[test]
    fn records_done_before_the_start_do_not_count_for_the_speed() {
        let counts = Counts { input: 500, ..Counts::default() };
        let snapshot = Snapshot::new(&counts, Some(2000), 5.0, 400, false);
        assert_eq!(snapshot.line(), "500 of 2,000 records, 1 min 15 s left, 20 records/s");
        let one = Snapshot { done: 1, total: None, ..snapshot };
        assert_eq!(one.line(), "1 record, 1 min 15 s left, 20 records/s");
        let snapshot = Snapshot::new(&counts, None, 5.0, 500, false);
        let json = serde_json::to_value(&snapshot).unwrap();
        let expected = serde_json::json!({
            "done": 500, "total": null, "rate": 0.0, "kept": 0, "bad": 0, "elapsed_s": 5.0, "eta_s": null
        });
        assert_eq!(json, expected);
    }
}
