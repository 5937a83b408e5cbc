//! Proof and disproof numbers, and the thresholds of df-pn.
//!
//! The proof number of a node estimates the work left to prove it, the disproof number the work left to disprove it.
//! Both follow from the numbers of the children. OR and AND nodes are handled alike (Nagai 2002). For an OR node and
//! its children the *deciding* number is the proof number, for an AND node and its children the disproof number. The
//! side to move chooses the child with the smallest deciding number, which is also the deciding number of the node. The
//! other number of a node combines the numbers of all children and is called the *sum* here.
//!
//! A search stays in the subtree of a node until one of the node's numbers reaches its *threshold*.

use kyokumen_game::NodeKind;

use super::table::{INFINITE, LARGEST};

/// Proof and disproof number of a node, or a threshold for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ProofNumbers {
    pub(super) proof: u32,
    pub(super) disproof: u32,
}

pub(super) const PROVEN: ProofNumbers = ProofNumbers { proof: 0, disproof: INFINITE };
/// The numbers of a node about which nothing is known.
pub(super) const UNKNOWN: ProofNumbers = ProofNumbers { proof: 1, disproof: 1 };
pub(super) const DISPROVEN: ProofNumbers = ProofNumbers { proof: INFINITE, disproof: 0 };

impl ProofNumbers {
    pub(super) const fn is_solved(self) -> bool {
        self.proof == 0 || self.disproof == 0
    }

    /// Whether a number has reached its threshold.
    pub(super) const fn have_reached(self, thresholds: Self) -> bool {
        self.proof >= thresholds.proof || self.disproof >= thresholds.disproof
    }

    /// These thresholds, each raised to at least one more than the number, but not above the largest open number.
    pub(super) fn raised_above(self, numbers: Self) -> Self {
        let raised = |threshold: u32, number: u32| threshold.max(LARGEST.min(number + 1));
        Self {
            proof: raised(self.proof, numbers.proof),
            disproof: raised(self.disproof, numbers.disproof),
        }
    }

    /// Whether a search with these numbers at its root will probably not be decided within `nodes`.
    ///
    /// The bounds are measured, see `docs/search-log.md`. In nearly all searches that are decided with *n* nodes, the
    /// root's proof number is at most ∛(2n/3) or its disproof number at most ⁵√(14,000n) at any time.
    pub(super) fn are_hopeless(self, nodes: u64) -> bool {
        let [proof, disproof, nodes] =
            [u64::from(self.proof), u64::from(self.disproof), nodes].map(u128::from);
        3 * proof.pow(3) > 2 * nodes && disproof.saturating_pow(5) > 14_000 * nodes
    }

    /// Adds the [cost](kyokumen_game::Candidate::cost) of the move that leads to this child (df-pn+, Nagai 2002).
    /// `kind` is the kind of the parent.
    pub(super) const fn with_cost(self, kind: NodeKind, cost: i8) -> Self {
        let [deciding, sum] = self.deciding_and_sum(kind);
        Self::from_deciding_and_sum(kind, [with_cost(deciding, cost), sum])
    }

    /// The deciding number and the sum at a node of this kind.
    const fn deciding_and_sum(self, kind: NodeKind) -> [u32; 2] {
        match kind {
            NodeKind::Or => [self.proof, self.disproof],
            NodeKind::And => [self.disproof, self.proof],
        }
    }

    const fn from_deciding_and_sum(kind: NodeKind, [deciding, sum]: [u32; 2]) -> Self {
        match kind {
            NodeKind::Or => Self { proof: deciding, disproof: sum },
            NodeKind::And => Self { proof: sum, disproof: deciding },
        }
    }
}

/// Adds the cost to the number of an open node. The result is at least 1. Numbers of solved nodes stay as they are.
const fn with_cost(number: u32, cost: i8) -> u32 {
    if number == 0 || number > LARGEST {
        return number;
    }
    let with_cost = number.saturating_add_signed(cost as i32);
    if with_cost == 0 { 1 } else { with_cost }
}

/// Subtracts the cost from the threshold of a number that includes the cost.
const fn without_cost(threshold: u32, cost: i8) -> u32 {
    if threshold == INFINITE { threshold } else { threshold.saturating_add_signed(-(cost as i32)) }
}

/// How long a delayed child does not count: until its predecessor is solved, or, at an OR node, has proven hard.
///
/// A check is delayed if the check before it usually leads to the same positions, such as the drop of another piece on
/// the same line. If that one cannot be solved, waiting for it keeps the search from the check that mates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delay {
    /// The proof number at which the predecessor of a delayed check has proven hard.
    hard: u32,
}

impl Delay {
    /// Waits until the predecessor is solved.
    const UNTIL_SOLVED: Self = Self { hard: INFINITE };
    /// Waits until the predecessor is solved or has proven hard.
    const UNTIL_HARD: Self = Self { hard: 16 };

    /// The delay in a [long search](crate::dfpn::DfPn::long_after) or a short one. Short searches are faster without
    /// hard checks.
    #[inline]
    pub(super) const fn when(is_long: bool) -> Self {
        if is_long { Self::UNTIL_HARD } else { Self::UNTIL_SOLVED }
    }

    /// Whether the delayed successor of a child with these numbers does not count yet.
    #[inline(always)]
    const fn holds_after(self, kind: NodeKind, child: ProofNumbers) -> bool {
        match kind {
            // Not proven, not hard, and so not disproven. One comparison, since 0 - 1 wraps to the largest number.
            NodeKind::Or => child.proof.wrapping_sub(1) < self.hard - 1,
            NodeKind::And => !child.is_solved(),
        }
    }
}

/// What the numbers of a node depend on, for each of its children.
#[derive(Clone, Copy)]
pub(super) struct ChildNumbers {
    /// See [`Delay`].
    pub(super) delayed: bool,
    /// At an AND node: whether a position below this child is also below another one.
    pub(super) overlaps: bool,
    pub(super) numbers: ProofNumbers,
}

/// Decides which children of a node do not count yet, given all children in their order.
struct Waiting {
    kind: NodeKind,
    delay: Delay,
    predecessor_is_waited_for: bool,
}

impl Waiting {
    const fn new(kind: NodeKind, delay: Delay) -> Self {
        Self { kind, delay, predecessor_is_waited_for: false }
    }

    #[inline(always)]
    const fn excludes(&mut self, child: ChildNumbers) -> bool {
        let is_excluded = child.delayed & self.predecessor_is_waited_for;
        let holds = self.delay.holds_after(self.kind, child.numbers);
        self.predecessor_is_waited_for = is_excluded | holds;
        is_excluded
    }
}

/// The numbers of a node, computed from its children, and the child to search next.
pub(super) struct ChildSummary {
    /// Proof and disproof number of the node.
    pub(super) numbers: ProofNumbers,
    /// The child to search next.
    pub(super) best: usize,
    /// The deciding number of the second best child.
    second_deciding: u32,
    /// The contribution of the other children to the sum.
    others_sum: u32,
}

/// The sum over the children of a node.
#[derive(Clone, Copy)]
struct Total {
    kind: NodeKind,
    sum: u64,
    largest: u32,
    /// Number of open children.
    open: u32,
    /// The part of the children that overlap. Of their numbers only the largest counts.
    overlapping: Overlapping,
}

#[derive(Clone, Copy, Default)]
struct Overlapping {
    sum: u64,
    largest: u32,
}

impl Overlapping {
    const fn add(&mut self, number: u32) {
        self.sum += number as u64;
        if number > self.largest {
            self.largest = number;
        }
    }

    /// The part of an AND node's children.
    #[cold]
    fn of(delay: Delay, children: impl Iterator<Item = ChildNumbers>) -> Self {
        let mut overlapping = Self::default();
        let mut waiting = Waiting::new(NodeKind::And, delay);
        for child in children {
            if !waiting.excludes(child) && child.overlaps {
                overlapping.add(child.numbers.proof);
            }
        }
        overlapping
    }
}

impl Total {
    fn new(kind: NodeKind) -> Self {
        Self { kind, sum: 0, largest: 0, open: 0, overlapping: Overlapping::default() }
    }

    #[inline]
    fn add(&mut self, number: u32) {
        self.sum += u64::from(number);
        self.largest = self.largest.max(number);
        self.open += u32::from(number > 0);
    }

    const fn is_solved(self) -> bool {
        self.open == 0
    }

    fn value(self) -> u32 {
        match self.kind {
            NodeKind::Or => self.largest.saturating_add(2 * self.others()).min(LARGEST),
            NodeKind::And => capped(self.sum_of_distinct() + u64::from(self.overlapping.largest)),
        }
    }

    /// The sum over the children that do not overlap.
    const fn sum_of_distinct(self) -> u64 {
        self.sum - self.overlapping.sum
    }

    /// Number of open children except the searched one.
    const fn others(self) -> u32 {
        self.open.saturating_sub(1)
    }

    /// The contribution of the other children to the sum while the child with this number is searched. At OR nodes each
    /// other open child counts one, not two as in [`Self::value`]. So the search stays a little longer in the subtree
    /// of one child.
    fn without(self, number: u32, overlaps: bool) -> u32 {
        match self.kind {
            NodeKind::Or => self.others(),
            // Other children that overlap count only if one of them is larger than this one.
            NodeKind::And if overlaps => capped(self.sum_of_distinct()),
            NodeKind::And => {
                let largest = u64::from(self.overlapping.largest);
                capped(self.sum_of_distinct() - u64::from(number) + largest)
            }
        }
    }
}

/// The threshold above a number: a quarter more, plus one (1+ε trick, Pawlewicz and Lew 2007).
const fn threshold_above(number: u32) -> u32 {
    number.saturating_add(number / 4).saturating_add(1)
}

/// The number of a child with virtual loss. For each of the `searches` other threads that search the child, half of the
/// number plus one is added.
const fn with_virtual_loss(number: u32, searches: u32) -> u32 {
    let loss = (number / 2).saturating_add(1).saturating_mul(searches);
    let number = number.saturating_add(loss);
    if number > LARGEST { LARGEST } else { number }
}

fn capped(sum: u64) -> u32 {
    u32::try_from(sum).unwrap_or(LARGEST).min(LARGEST)
}

impl ChildSummary {
    /// Combines the numbers of the children.
    ///
    /// At AND nodes the proof numbers add up, but of the children that overlap only the largest counts. At OR nodes the
    /// sum is the largest disproof number, plus two for each other open child (after the weak proof number of Ueda et
    /// al. 2008, which adds one). A true sum would count many positions twice, because different attacks lead to the
    /// same positions.
    #[inline]
    pub(super) fn new(
        kind: NodeKind,
        delay: Delay,
        children: impl Iterator<Item = ChildNumbers> + Clone,
    ) -> Self {
        // Compiled as a separate loop for each kind.
        match kind {
            NodeKind::Or => Self::for_kind(NodeKind::Or, delay, children),
            NodeKind::And => Self::for_kind(NodeKind::And, delay, children),
        }
    }

    /// The loop has no branches, because the processor cannot predict which child is the best.
    #[inline(always)]
    fn for_kind(
        kind: NodeKind,
        delay: Delay,
        children: impl Iterator<Item = ChildNumbers> + Clone,
    ) -> Self {
        let mut best = 0;
        let [mut deciding, mut second] = [INFINITE; 2];
        let mut total = Total::new(kind);
        let mut best_sum = 0;
        let mut waiting = Waiting::new(kind, delay);
        let mut any_overlaps = false;
        for (index, child) in children.clone().enumerate() {
            let is_excluded = waiting.excludes(child);
            any_overlaps |= child.overlaps;
            let [child_deciding, child_sum] = child.numbers.deciding_and_sum(kind);
            let child_deciding = if is_excluded { INFINITE } else { child_deciding };
            let child_sum = if is_excluded { 0 } else { child_sum };
            total.add(child_sum);
            let is_best = child_deciding < deciding;
            best = if is_best { index } else { best };
            best_sum = if is_best { child_sum } else { best_sum };
            second = second.min(child_deciding.max(deciding));
            deciding = deciding.min(child_deciding);
        }
        if deciding == 0 {
            let numbers = ProofNumbers::from_deciding_and_sum(kind, [0, INFINITE]);
            return Self { numbers, best, second_deciding: 0, others_sum: 0 };
        }
        let deciding = if total.is_solved() { INFINITE } else { deciding.min(LARGEST) };
        let mut best_overlaps = false;
        if kind == NodeKind::And && any_overlaps {
            total.overlapping = Overlapping::of(delay, children.clone());
            let mut children = children.enumerate();
            best_overlaps = children.any(|(index, child)| index == best && child.overlaps);
        }
        Self {
            numbers: ProofNumbers::from_deciding_and_sum(kind, [deciding, total.value()]),
            best,
            second_deciding: second,
            others_sum: total.without(best_sum, best_overlaps),
        }
    }

    /// Chooses the best child again, with virtual loss for children that other threads search. `searches` returns the
    /// number of these threads for the index of a child. The numbers of the node stay as they are.
    ///
    /// A child that has reached the deciding threshold of the node is never chosen, even if virtual loss makes all
    /// others harder. The search leaves the node when all children have reached this threshold, and each visit must
    /// bring that closer.
    pub(super) fn with_virtual_loss(
        self,
        kind: NodeKind,
        delay: Delay,
        thresholds: ProofNumbers,
        children: impl Iterator<Item = ChildNumbers>,
        searches: impl Fn(usize) -> u32,
    ) -> Self {
        let [deciding_threshold, _] = thresholds.deciding_and_sum(kind);
        let mut best = self.best;
        let [mut deciding, mut second] = [INFINITE; 2];
        let (mut best_sum, mut best_overlaps) = (0, false);
        let mut total = Total::new(kind);
        let mut waiting = Waiting::new(kind, delay);
        for (index, child) in children.enumerate() {
            let is_excluded = waiting.excludes(child);
            let [child_deciding, child_sum] = child.numbers.deciding_and_sum(kind);
            if is_excluded || child_deciding == INFINITE {
                continue;
            }
            total.add(child_sum);
            if child.overlaps {
                total.overlapping.add(child_sum);
            }
            let number = if child_deciding < second {
                with_virtual_loss(child_deciding, searches(index))
            } else {
                child_deciding
            };
            if number < deciding && child_deciding < deciding_threshold {
                (second, deciding) = (second.min(deciding), number);
                (best, best_sum, best_overlaps) = (index, child_sum, child.overlaps);
            } else {
                second = second.min(number);
            }
        }
        Self {
            best,
            second_deciding: second,
            others_sum: total.without(best_sum, best_overlaps),
            ..self
        }
    }

    /// The thresholds of the best child. It is searched until it is clearly no longer the best, or until its parent
    /// reaches one of `thresholds`.
    ///
    /// If the child has already reached such a threshold, its threshold is a quarter above its number, plus one. In a
    /// cycle of positions, numbers can raise each other until they reach [`LARGEST`]. With steps of one that would take
    /// too long.
    pub(super) fn thresholds_of_best(
        &self,
        kind: NodeKind,
        child: ProofNumbers,
        cost: i8,
        thresholds: ProofNumbers,
    ) -> ProofNumbers {
        let [deciding_threshold, sum_threshold] = thresholds.deciding_and_sum(kind);
        let [child_deciding, child_sum] = child.deciding_and_sum(kind);
        let deciding = deciding_threshold.min(threshold_above(self.second_deciding));
        let sum = sum_threshold.saturating_sub(self.others_sum);
        let [deciding, sum] =
            [(deciding, child_deciding), (sum, child_sum)].map(|(threshold, number)| {
                if threshold > number { threshold } else { threshold_above(number) }
            });
        ProofNumbers::from_deciding_and_sum(kind, [without_cost(deciding, cost), sum])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_hopeless_only_above_both_bounds() {
        let hopeless =
            |proof, disproof, nodes| ProofNumbers { proof, disproof }.are_hopeless(nodes);
        // The cube root of 2 * 1,500 / 3 is 10, and the fifth root of 14,000 * 3,751 a little less than 35.
        assert!(!hopeless(10, 1_000, 1_500) && hopeless(11, 1_000, 1_500));
        assert!(!hopeless(1_000, 34, 3_751) && hopeless(1_000, 35, 3_751));
        assert!(
            hopeless(LARGEST, LARGEST, u64::MAX),
            "capped sums are hopeless with any node limit"
        );
    }

    #[test]
    fn costs_leave_solved_numbers_alone_and_open_ones_open() {
        let proof_number = |proof, disproof, cost| {
            ProofNumbers { proof, disproof }.with_cost(NodeKind::Or, cost).proof
        };
        let open = [proof_number(5, 7, 2), proof_number(5, 7, -1), proof_number(1, 7, -1)];
        assert_eq!(open, [7, 4, 1]);
        assert_eq!([proof_number(0, INFINITE, 2), proof_number(INFINITE, 0, -1)], [0, INFINITE]);
        let and_node = ProofNumbers { proof: 5, disproof: 7 }.with_cost(NodeKind::And, 2);
        assert_eq!(and_node, ProofNumbers { proof: 5, disproof: 9 });
    }

    #[test]
    fn thresholds_leave_the_best_child_a_margin_for_any_cost() {
        for number in [1, 2, 9, LARGEST - 1, LARGEST] {
            for cost in [-2, -1, 0, 1, 2] {
                let child = ProofNumbers { proof: number, disproof: 3 };
                let with_cost = child.with_cost(NodeKind::Or, cost);
                let summary = ChildSummary::new(
                    NodeKind::Or,
                    Delay::UNTIL_SOLVED,
                    [open_child(with_cost)].into_iter(),
                );
                for proof in [1, with_cost.proof + 1, INFINITE] {
                    let thresholds = ProofNumbers { proof, disproof: INFINITE };
                    let thresholds =
                        summary.thresholds_of_best(NodeKind::Or, with_cost, cost, thresholds);
                    assert!(!child.have_reached(thresholds), "{number} {cost}: {thresholds:?}");
                }
            }
        }
    }

    const fn open_child(numbers: ProofNumbers) -> ChildNumbers {
        ChildNumbers { delayed: false, overlaps: false, numbers }
    }

    const fn delayed_child(numbers: ProofNumbers) -> ChildNumbers {
        ChildNumbers { delayed: true, overlaps: false, numbers }
    }

    /// The proof number of an OR node whose second child is delayed.
    fn with_delayed_child(delay: Delay, [first, second]: [ProofNumbers; 2]) -> u32 {
        let children = [open_child(first), delayed_child(second)];
        ChildSummary::new(NodeKind::Or, delay, children.into_iter()).numbers.proof
    }

    /// Three children of an AND node with the proof numbers 5, 3 and 2. The first two overlap.
    #[test]
    fn of_children_that_overlap_only_the_largest_proof_number_counts() {
        let child = |proof, disproof, overlaps| {
            let numbers = ProofNumbers { proof, disproof };
            ChildNumbers { overlaps, ..open_child(numbers) }
        };
        let summary = |disproofs: [u32; 3]| {
            let [a, b, c] = disproofs;
            let children = [child(5, a, true), child(3, b, true), child(2, c, false)];
            ChildSummary::new(NodeKind::And, Delay::UNTIL_SOLVED, children.into_iter())
        };
        let thresholds = ProofNumbers { proof: 20, disproof: 100 };
        // The child with the smallest disproof number is searched.
        for (disproofs, best, proof_of_others) in
            [([1, 9, 9], 0, 2), ([9, 1, 9], 1, 2), ([9, 9, 1], 2, 5)]
        {
            let summary = summary(disproofs);
            assert_eq!((summary.numbers.proof, summary.best), (7, best));
            let ProofNumbers { proof, .. } = summary.thresholds_of_best(
                NodeKind::And,
                ProofNumbers { proof: [5, 3, 2][best], disproof: 1 },
                0,
                thresholds,
            );
            assert_eq!(proof, 20 - proof_of_others, "child {best}");
        }
        let proven = [child(0, INFINITE, true), child(0, INFINITE, true)];
        let summary = ChildSummary::new(NodeKind::And, Delay::UNTIL_SOLVED, proven.into_iter());
        assert_eq!(summary.numbers, PROVEN);
    }

    #[test]
    fn a_delayed_check_counts_once_the_check_before_it_is_solved_or_has_proven_hard() {
        let open = |proof| ProofNumbers { proof, disproof: 1 };
        let proof = |delay, first| with_delayed_child(delay, [first, open(3)]);
        let until_hard = [open(1), open(15), open(16), DISPROVEN, PROVEN]
            .map(|first| proof(Delay::UNTIL_HARD, first));
        assert_eq!(until_hard, [1, 15, 3, 3, 0]);
        let until_solved = [open(16), open(LARGEST), DISPROVEN, PROVEN]
            .map(|first| proof(Delay::UNTIL_SOLVED, first));
        assert_eq!(until_solved, [16, LARGEST, 3, 0]);
    }

    #[test]
    fn a_delayed_defence_counts_only_once_the_defence_before_it_is_solved() {
        let open = |proof| ProofNumbers { proof, disproof: 1 };
        let children = |first| [open_child(first), delayed_child(open(7))].into_iter();
        let proof = |first| {
            ChildSummary::new(NodeKind::And, Delay::UNTIL_HARD, children(first)).numbers.proof
        };
        assert_eq!([open(900), PROVEN].map(proof), [900, 7]);
    }

    /// The best child of an AND node with this threshold for its disproof number while two other threads search its
    /// second child.
    fn best_with_virtual_loss(disproof_numbers: [u32; 3], threshold: u32) -> usize {
        let children =
            || disproof_numbers.map(|disproof| open_child(ProofNumbers { proof: 1, disproof }));
        let thresholds = ProofNumbers { proof: INFINITE, disproof: threshold };
        let summary = ChildSummary::new(NodeKind::And, Delay::UNTIL_HARD, children().into_iter());
        let searches = |child| if child == 1 { 2 } else { 0 };
        let children = children().into_iter();
        summary
            .with_virtual_loss(NodeKind::And, Delay::UNTIL_HARD, thresholds, children, searches)
            .best
    }

    #[test]
    fn a_child_that_has_reached_the_threshold_is_not_chosen_despite_virtual_loss() {
        assert_eq!(best_with_virtual_loss([20, 10, 30], 21), 0, "10 counts as 22");
        assert_eq!(best_with_virtual_loss([20, 10, 30], 20), 1, "20 has reached the threshold");
        assert_eq!(best_with_virtual_loss([25, 10, 30], 40), 1, "22 is still the smallest");
    }
}
