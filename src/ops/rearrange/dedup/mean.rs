//! The mean of equal records. The sums do not depend on the order of the records.
//!
//! Mate evaluations are proofs, not estimates, so they are not averaged with centipawns. If some copies have mate
//! evaluations and all of these agree on who mates, the mean covers only them. If they disagree, mate evaluations are
//! ignored unless all evaluations are mates.

use crate::format::move16::Dialect;
use crate::format::{GameResult, MergedLabels, is_mate_eval};

/// Equal records that store the same move and have evaluations of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Copies {
    /// Number of the first record.
    pub(super) number: u64,
    /// The move in YaneuraOu's 16-bit encoding. 0: no move.
    pub(super) move_bits: u16,
    /// `None` without evaluations.
    pub(super) kind: Option<EvalKind>,
    /// Sum of the evaluations. It does not overflow because a block has at most 32,768 fixed-size records.
    pub(super) eval_sum_cp: i32,
    pub(super) records: u16,
    /// Number of records with each result.
    pub(super) results: [u16; GameResult::ALL.len()],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EvalKind {
    Centipawns,
    /// The side to move mates.
    Win,
    /// The side to move is mated.
    Loss,
}

impl EvalKind {
    const ALL: [Self; 3] = [Self::Centipawns, Self::Win, Self::Loss];

    pub(super) const fn from_eval(eval_cp: i16) -> Self {
        match (is_mate_eval(eval_cp), eval_cp > 0) {
            (false, _) => Self::Centipawns,
            (true, true) => Self::Win,
            (true, false) => Self::Loss,
        }
    }
}

impl Copies {
    /// Length of the encoding in bytes.
    pub(super) const LEN: usize = 24;

    /// Adds later records with the same move and kind of evaluation. Adds nothing and returns false if a sum would
    /// overflow.
    pub(super) fn add(&mut self, other: &Self) -> bool {
        let Some(records) = self.records.checked_add(other.records) else { return false };
        let Some(sum) = self.eval_sum_cp.checked_add(other.eval_sum_cp) else { return false };
        (self.records, self.eval_sum_cp) = (records, sum);
        for (sum, more) in self.results.iter_mut().zip(other.results) {
            // Cannot overflow: there are at most as many results as records.
            *sum += more;
        }
        true
    }

    pub(super) fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.eval_sum_cp.to_le_bytes());
        bytes[12..14].copy_from_slice(&self.move_bits.to_le_bytes());
        bytes[14..16].copy_from_slice(&self.records.to_le_bytes());
        for (place, count) in bytes[16..22].chunks_exact_mut(2).zip(self.results) {
            place.copy_from_slice(&count.to_le_bytes());
        }
        bytes[22] = self.kind.map_or(0, |kind| kind as u8 + 1);
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; Self::LEN]) -> Self {
        let [n @ .., _, _] = bytes;
        let word = |at: usize| u16::from_le_bytes([n[at], n[at + 1]]);
        let long = |at: usize| u32::from(word(at)) | u32::from(word(at + 2)) << 16;
        Self {
            number: u64::from(long(0)) | u64::from(long(4)) << 32,
            eval_sum_cp: long(8).cast_signed(),
            move_bits: word(12),
            records: word(14),
            results: [word(16), word(18), word(20)],
            kind: EvalKind::ALL.into_iter().find(|&kind| kind as u8 + 1 == bytes[22]),
        }
    }
}

/// All copies of one record.
#[derive(Clone, Debug, Default)]
pub(super) struct Total {
    pub(super) records: u64,
    /// Sum and number of the evaluations of each kind.
    evals: [(i64, u64); EvalKind::ALL.len()],
    results: [u64; GameResult::ALL.len()],
    /// Move bits, number of copies, and number of the first copy.
    moves: Vec<(u16, u64, u64)>,
}

impl Total {
    pub(super) fn add(&mut self, copies: &Copies) {
        let records = u64::from(copies.records);
        self.records += records;
        if let Some(kind) = copies.kind {
            let (sum, evals) = &mut self.evals[kind as usize];
            (*sum, *evals) = (*sum + i64::from(copies.eval_sum_cp), *evals + records);
        }
        for (sum, more) in self.results.iter_mut().zip(copies.results) {
            *sum += u64::from(more);
        }
        if copies.move_bits == 0 {
            return;
        }
        match self.moves.iter_mut().find(|(bits, ..)| *bits == copies.move_bits) {
            Some((_, count, first)) => {
                (*count, *first) = (*count + records, copies.number.min(*first));
            }
            None => self.moves.push((copies.move_bits, records, copies.number)),
        }
    }

    /// The mean evaluation, the mean result and the most frequent move. Of equally frequent moves, the earliest.
    pub(super) fn mean(&self) -> MergedLabels {
        let most = self.moves.iter().max_by_key(|&&(_, count, first)| (count, u64::MAX - first));
        let best_move = most.and_then(|&(bits, ..)| Dialect::YaneuraOu.decode(bits).ok().flatten());
        MergedLabels { best_move, eval_cp: self.mean_eval_cp(), result: self.mean_result() }
    }

    fn mean_eval_cp(&self) -> Option<i16> {
        let [estimates, wins, losses] = self.evals;
        let (sum, evals) = match (wins.1, losses.1) {
            (0, 0) => estimates,
            (_, 0) => wins,
            (0, _) => losses,
            _ if estimates.1 > 0 => estimates,
            _ => (wins.0 + losses.0, wins.1 + losses.1),
        };
        // Cannot overflow: a mean is between the minimum and the maximum.
        (evals > 0).then(|| i16::try_from(rounded_quotient(sum, evals)).unwrap_or_default())
    }

    /// The result nearest to the mean, with a Black win as 1, a draw as 0 and a White win as -1.
    fn mean_result(&self) -> Option<GameResult> {
        let count = |result: GameResult| self.results[result as usize].cast_signed();
        let results = self.results.iter().sum::<u64>();
        let sum = count(GameResult::BlackWin) - count(GameResult::WhiteWin);
        (results > 0).then(|| match rounded_quotient(sum, results) {
            1.. => GameResult::BlackWin,
            0 => GameResult::Draw,
            _ => GameResult::WhiteWin,
        })
    }
}

/// The quotient, rounded to the nearest integer. Halves are rounded away from 0.
const fn rounded_quotient(sum: i64, count: u64) -> i64 {
    let (twice, count) = (sum.unsigned_abs() * 2, count);
    let quotient = (twice + count) / (2 * count);
    if sum < 0 { -quotient.cast_signed() } else { quotient.cast_signed() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn copies(
        number: u64,
        move_bits: u16,
        eval_cp: Option<i16>,
        result: Option<GameResult>,
    ) -> Copies {
        let mut results = [0; 3];
        if let Some(result) = result {
            results[result as usize] = 1;
        }
        let (kind, eval_sum_cp) = (eval_cp.map(EvalKind::from_eval), eval_cp.unwrap_or(0).into());
        Copies { number, move_bits, kind, eval_sum_cp, records: 1, results }
    }

    fn mean(evals: &[i16], results: &[GameResult]) -> (Option<i16>, Option<GameResult>) {
        let mut total = Total::default();
        for &eval_cp in evals {
            total.add(&copies(0, 0, Some(eval_cp), None));
        }
        for &result in results {
            total.add(&copies(0, 0, None, Some(result)));
        }
        let mean = total.mean();
        (mean.eval_cp, mean.result)
    }

    #[test]
    fn halves_are_rounded_away_from_0() {
        for (evals, expected) in [
            (&[1, 2][..], 2),
            (&[-1, -2], -2),
            (&[0, 1], 1),
            (&[0, -1], -1),
            (&[1, 1, 2], 1),
            (&[1, 2, 2], 2),
            (&[100], 100),
            (&[-300, 301, 0], 0),
            (&[28_999, 28_999], 28_999),
        ] {
            assert_eq!(mean(evals, &[]).0, Some(expected), "{evals:?}");
        }
        assert_eq!(mean(&[], &[]), (None, None));
    }

    #[test]
    fn mates_are_not_averaged_with_centipawns() {
        for (evals, expected) in [
            (&[29_997, 29_994, 100][..], 29_996),
            (&[-29_997, 100, 200], -29_997),
            // The copies disagree on who mates.
            (&[29_997, -29_999, 100, 200], 150),
            (&[29_997, -29_999], -1),
            (&[i16::MIN, i16::MIN], i16::MIN),
            (&[i16::MAX, i16::MAX, i16::MAX], i16::MAX),
        ] {
            assert_eq!(mean(evals, &[]).0, Some(expected), "{evals:?}");
        }
    }

    #[test]
    fn mean_result_is_the_nearest_to_the_mean() {
        use GameResult::{BlackWin, Draw, WhiteWin};
        for (results, expected) in [
            (&[BlackWin, WhiteWin][..], Draw),
            (&[BlackWin, BlackWin, WhiteWin], Draw),
            (&[BlackWin, BlackWin, BlackWin, WhiteWin], BlackWin),
            (&[WhiteWin, Draw], WhiteWin),
            (&[WhiteWin, Draw, Draw], Draw),
        ] {
            assert_eq!(mean(&[], results).1, Some(expected), "{results:?}");
        }
    }

    #[test]
    fn best_move_is_the_most_frequent_or_else_the_earliest() {
        let [first, second] =
            ["2g2f", "7g7f"].map(|text| crate::shogi::Move::from_usi(text).unwrap());
        let bits = |best_move| Dialect::YaneuraOu.encode(best_move);
        let mut total = Total::default();
        assert_eq!(total.mean().best_move, None);
        // Record numbers may come in any order.
        total.add(&copies(8, bits(second), None, None));
        total.add(&copies(5, bits(first), None, None));
        total.add(&copies(3, 0, None, None));
        total.add(&copies(4, 0, None, None));
        assert_eq!(total.mean().best_move, Some(first));
        total.add(&copies(9, bits(second), None, None));
        assert_eq!((total.mean().best_move, total.records), (Some(second), 5));
    }

    proptest! {
        #[test]
        fn copies_survive_encoding(
            number: u64, move_bits: u16, eval_sum_cp: i32, records: u16, results: [u16; 3], kind in 0_usize..4,
        ) {
            let kind = EvalKind::ALL.get(kind).copied();
            let copies = Copies { number, move_bits, kind, eval_sum_cp, records, results };
            prop_assert_eq!(Copies::from_bytes(&copies.to_bytes()), copies);
        }

        #[test]
        fn mean_does_not_depend_on_the_grouping_of_copies(evals in prop::collection::vec(-29_500_i16..29_500, 1..40), at: usize) {
            let each: Vec<Copies> = evals.iter().zip(0..).map(|(&eval_cp, number)| {
                copies(number, 1 + (number % 3) as u16, Some(eval_cp), Some(GameResult::Draw))
            }).collect();
            let (mut one_by_one, mut together) = (Total::default(), Total::default());
            for copies in &each {
                one_by_one.add(copies);
            }
            let mut groups: Vec<Copies> = Vec::new();
            for copies in &each[at % each.len()..] {
                match groups.iter_mut().find(|group| (group.move_bits, group.kind) == (copies.move_bits, copies.kind)) {
                    Some(group) => prop_assert!(group.add(copies)),
                    None => groups.push(*copies),
                }
            }
            for copies in each[..at % each.len()].iter().chain(&groups) {
                together.add(copies);
            }
            prop_assert_eq!(one_by_one.mean(), together.mean());
            // Compare with the mean in floating point.
            let estimates: Vec<f64> = evals.iter().filter(|&&eval_cp| !is_mate_eval(eval_cp)).map(|&eval_cp| eval_cp.into()).collect();
            if estimates.len() == evals.len() {
                let mean = estimates.iter().sum::<f64>() / estimates.len() as f64;
                prop_assert_eq!(one_by_one.mean().eval_cp.unwrap(), mean.round() as i16);
            }
        }
    }
}
