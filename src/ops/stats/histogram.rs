//! Histograms of integers, with mean, percentiles and bins.
//!
//! All results are computed from integer counts, so they do not depend on the order of the records.

use serde::Serialize;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Histogram {
    /// Counts of 0, −1, 1, −2, 2 and so on.
    counts: Vec<u64>,
}

/// The distribution of a number over the records that have it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Distribution {
    /// Number of records.
    pub records: u64,
    /// Minimum.
    pub least: i32,
    /// Maximum.
    pub most: i32,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
    /// Percentiles.
    pub percentiles: Percentiles,
    /// Width of the bins, except the open bins at the ends.
    pub bin_width: i32,
    /// Counts by range. The bins cover all numbers.
    pub bins: Vec<Bin>,
}

/// Percentiles: `pN` is the smallest number that at least N % of the records do not exceed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[expect(missing_docs, reason = "self-explanatory names")]
pub struct Percentiles {
    pub p1: i32,
    pub p5: i32,
    pub p25: i32,
    pub p50: i32,
    pub p75: i32,
    pub p95: i32,
    pub p99: i32,
}

/// The number of records in a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Bin {
    /// Lower end of the range, inclusive.
    pub from: i32,
    /// Upper end of the range, inclusive.
    pub to: i32,
    /// Number of records in the range.
    pub records: u64,
}

/// Bins of `width` from `from` to `below`, with an open bin at each end.
#[derive(Clone, Copy)]
pub(super) struct Bins {
    pub(super) width: i32,
    pub(super) from: i32,
    /// `from` plus a multiple of `width`.
    pub(super) below: i32,
}

impl Histogram {
    pub(super) fn count(&mut self, number: i32) {
        let place = place(number);
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
    }

    pub(super) fn add(&mut self, other: &Self) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    /// Numbers with a non-zero count, in ascending order.
    fn sorted(&self) -> Vec<(i32, u64)> {
        let mut sorted: Vec<(i32, u64)> = self
            .counts
            .iter()
            .enumerate()
            .filter(|&(_, &count)| count > 0)
            .map(|(place, &count)| (number(place), count))
            .collect();
        sorted.sort_unstable();
        sorted
    }

    /// Counts the numbers in `from..below`.
    pub(super) fn between(&self, from: i32, below: i32) -> u64 {
        (from..below).map(|number| self.counts.get(place(number)).copied().unwrap_or(0)).sum()
    }

    /// Returns the distribution. `None` if nothing was counted.
    pub(super) fn distribution(&self, bins: Bins) -> Option<Distribution> {
        let sorted = self.sorted();
        let (least, most) = (sorted.first()?.0, sorted.last()?.0);
        let records: u64 = sorted.iter().map(|(_, count)| count).sum();
        let sum = |power: u32| -> i128 {
            sorted.iter().map(|&(n, count)| i128::from(n).pow(power) * i128::from(count)).sum()
        };
        let mean = sum(1) as f64 / records as f64;
        let variance = sum(2) as f64 / records as f64 - mean * mean;
        let percentile = |percent: u64| {
            let mut left = (records * percent).div_ceil(100).max(1);
            let reached = sorted.iter().find(|&&(_, count)| {
                let is_reached = left <= count;
                left = left.saturating_sub(count);
                is_reached
            });
            reached.map_or(most, |&(number, _)| number)
        };
        let [p1, p5, p25, p50, p75, p95, p99] = [1, 5, 25, 50, 75, 95, 99].map(percentile);
        Some(Distribution {
            records,
            least,
            most,
            mean,
            deviation: variance.max(0.0).sqrt(),
            percentiles: Percentiles { p1, p5, p25, p50, p75, p95, p99 },
            bin_width: bins.width,
            bins: bins.filled(&sorted, least, most),
        })
    }
}

impl Bins {
    /// Returns the smallest number of the bin of `number`, as if the open bins had the width of the others.
    pub(super) fn start(self, number: i32) -> i32 {
        let within = number.clamp(self.from - 1, self.below);
        self.from + (within - self.from).div_euclid(self.width) * self.width
    }

    fn filled(self, sorted: &[(i32, u64)], least: i32, most: i32) -> Vec<Bin> {
        let (first, last) = (self.start(least), self.start(most));
        let starts = (first..=last).step_by(self.width.unsigned_abs() as usize);
        let mut bins: Vec<Bin> =
            starts.map(|from| Bin { from, to: from + self.width - 1, records: 0 }).collect();
        for &(number, count) in sorted {
            let bin = (self.start(number) - first) / self.width;
            bins[bin.unsigned_abs() as usize].records += count;
        }
        // The open bins extend to the actual minimum and maximum.
        if let Some(bin) = bins.first_mut() {
            bin.from = bin.from.min(least);
        }
        if let Some(bin) = bins.last_mut() {
            bin.to = bin.to.max(most);
        }
        bins
    }
}

const fn place(number: i32) -> usize {
    let twice = (number.unsigned_abs() as usize) * 2;
    if number < 0 { twice - 1 } else { twice }
}

#[expect(clippy::cast_possible_wrap, reason = "places are computed from 32-bit numbers")]
const fn number(place: usize) -> i32 {
    let half = place.div_ceil(2) as i32;
    if place.is_multiple_of(2) { half } else { -half }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINS: Bins = Bins { width: 100, from: -300, below: 300 };

    #[test]
    fn number_is_the_inverse_of_place() {
        for number in [0, 1, -1, 2, -2, 32_767, -32_768] {
            assert_eq!(self::number(place(number)), number);
        }
        assert_eq!([0, -1, 1, -2].map(place), [0, 1, 2, 3]);
    }

    #[test]
    fn distribution_of_1_to_100() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.distribution(BINS), None);
        (1..=100).for_each(|number| histogram.count(number));
        let it = histogram.distribution(BINS).unwrap();
        assert_eq!((it.records, it.least, it.most), (100, 1, 100));
        assert!((it.mean - 50.5).abs() < 1e-9 && (it.deviation - 833.25_f64.sqrt()).abs() < 1e-9);
        let Percentiles { p1, p25, p50, p99, .. } = it.percentiles;
        assert_eq!([p1, p25, p50, p99], [1, 25, 50, 99]);
        let bins = [Bin { from: 0, to: 99, records: 99 }, Bin { from: 100, to: 199, records: 1 }];
        assert_eq!(it.bins, bins);
    }

    #[test]
    fn open_bins_contain_all_numbers_outside_the_range() {
        let mut histogram = Histogram::default();
        for number in [-32_768, -301, -300, -1, 0, 299, 300, 30_000] {
            histogram.count(number);
        }
        let bins = histogram.distribution(BINS).unwrap().bins;
        let actual: Vec<(i32, i32, u64)> =
            bins.iter().map(|bin| (bin.from, bin.to, bin.records)).collect();
        let expected = [
            (-32_768, -301, 2),
            (-300, -201, 1),
            (-200, -101, 0),
            (-100, -1, 1),
            (0, 99, 1),
            (100, 199, 0),
            (200, 299, 1),
            (300, 30_000, 2),
        ];
        assert_eq!(actual, expected);
        assert_eq!(histogram.between(-300, 300), 4);
    }

    #[test]
    fn a_bin_may_be_centred_on_0() {
        let bins = Bins { width: 100, from: -250, below: 250 };
        let starts = [-9999, -251, -250, -51, -50, 0, 49, 50, 249, 250, 9999];
        let expected = [-350, -350, -250, -150, -50, -50, -50, 50, 150, 250, 250];
        assert_eq!(starts.map(|number| bins.start(number)), expected);
    }

    #[test]
    fn sums_do_not_depend_on_order() {
        let [mut one, mut other] = [Histogram::default(), Histogram::default()];
        one.count(5);
        other.count(-700);
        other.count(5);
        let mut sum = one.clone();
        sum.add(&other);
        other.add(&one);
        assert_eq!(sum, other);
        assert_eq!(sum.sorted(), [(-700, 1), (5, 2)]);
    }
}
