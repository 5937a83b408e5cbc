//! Proof and disproof numbers, and how those of the children make those of their parent.
//!
//! Both kinds of node are one case seen from two sides (Nagai 2002): the side to move chooses by one
//! number, the other adds up over its moves.

use kyokumen_game::NodeKind;

use super::table::{INFINITE, LARGEST};

/// Proof and disproof number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ProofNumbers {
    pub(super) proof: u32,
    pub(super) disproof: u32,
}

pub(super) const PROVEN: ProofNumbers = ProofNumbers { proof: 0, disproof: INFINITE };
/// Nothing is known.
pub(super) const UNKNOWN: ProofNumbers = ProofNumbers { proof: 1, disproof: 1 };
pub(super) const DISPROVEN: ProofNumbers = ProofNumbers { proof: INFINITE, disproof: 0 };

impl ProofNumbers {
    pub(super) const fn is_solved(self) -> bool {
        self.proof == 0 || self.disproof == 0
    }

    pub(super) const fn exceeds(self, limit: Self) -> bool {
        self.proof >= limit.proof || self.disproof >= limit.disproof
    }

    /// Whether both are larger than those of nearly all searches that came to an end within so many nodes.
    ///
    /// The bounds are measured, see `docs/search-log.md`: a search that is decided with *n* nodes mostly has a
    /// proof number of at most ∛(2n/3) all the time, or a disproof number of at most ⁵√(14,000n).
    pub(super) fn are_beyond(self, nodes: u64) -> bool {
        let [proof, disproof, nodes] =
            [u64::from(self.proof), u64::from(self.disproof), nodes].map(u128::from);
        3 * proof.pow(3) > 2 * nodes && disproof.saturating_pow(5) > 14_000 * nodes
    }

    /// As a node of this kind counts those of its child after a move of this
    /// [cost](kyokumen_game::Candidate::cost): the df-pn+ of Nagai (2002).
    pub(super) const fn with_cost(self, kind: NodeKind, cost: i8) -> Self {
        let [choice, sum] = self.seen_by(kind);
        Self::from_seen(kind, [with_cost(choice, cost), sum])
    }

    /// The number by which the side to move chooses, and the one that adds up over its moves.
    const fn seen_by(self, kind: NodeKind) -> [u32; 2] {
        match kind {
            NodeKind::Or => [self.proof, self.disproof],
            NodeKind::And => [self.disproof, self.proof],
        }
    }

    const fn from_seen(kind: NodeKind, [choice, sum]: [u32; 2]) -> Self {
        match kind {
            NodeKind::Or => Self { proof: choice, disproof: sum },
            NodeKind::And => Self { proof: sum, disproof: choice },
        }
    }
}

/// What is solved costs nothing; an open number stays one.
const fn with_cost(number: u32, cost: i8) -> u32 {
    if number == 0 || number > LARGEST {
        return number;
    }
    let with_cost = number.saturating_add_signed(cost as i32);
    if with_cost == 0 { 1 } else { with_cost }
}

/// The limit of a number that counts with a cost, without it.
const fn without_cost(limit: u32, cost: i8) -> u32 {
    if limit == INFINITE { limit } else { limit.saturating_add_signed(-(cost as i32)) }
}

/// What the children say about their parent.
pub(super) struct ChildSummary {
    pub(super) numbers: ProofNumbers,
    /// The child to search next.
    pub(super) best: usize,
    /// The number of the second best, by which the side to move chooses.
    second_choice: u32,
    /// What the others contribute to the number that adds up.
    others_sum: u32,
}

/// The number that adds up over the moves of a node.
#[derive(Clone, Copy)]
struct Total {
    kind: NodeKind,
    sum: u64,
    largest: u32,
    open: u32,
}

impl Total {
    const fn new(kind: NodeKind) -> Self {
        Self { kind, sum: 0, largest: 0, open: 0 }
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
            NodeKind::And => capped(self.sum),
        }
    }

    /// Open moves but for one.
    const fn others(self) -> u32 {
        self.open.saturating_sub(1)
    }

    /// What the other children contribute when the one with this number is searched: of attacks half of what they
    /// count, so that a search stays a little longer below one of them.
    fn without(self, number: u32) -> u32 {
        match self.kind {
            NodeKind::Or => self.others(),
            NodeKind::And => capped(self.sum - u64::from(number)),
        }
    }
}

/// A quarter more, and one: how far a search may go beyond a number before it looks elsewhere (the 1+ε
/// trick, Pawlewicz and Lew 2007).
const fn step_beyond(number: u32) -> u32 {
    number.saturating_add(number / 4).saturating_add(1)
}

/// The number of a child that so many others search: half as much again for each, and one.
const fn harder(number: u32, searches: u32) -> u32 {
    let more = (number / 2).saturating_add(1).saturating_mul(searches);
    let harder = number.saturating_add(more);
    if harder > LARGEST { LARGEST } else { harder }
}

fn capped(sum: u64) -> u32 {
    u32::try_from(sum).unwrap_or(LARGEST).min(LARGEST)
}

impl ChildSummary {
    /// Puts the numbers of the children together; a delayed child counts only once its predecessor is
    /// solved.
    ///
    /// Proof numbers of defences add up. Disproof numbers of attacks do not: the largest plus two for each other attack
    /// (after the "weak" proof number of Ueda et al. 2008, which adds one), since attacks transpose into one another
    /// and would be counted many times.
    #[inline]
    pub(super) fn of(kind: NodeKind, children: impl Iterator<Item = (bool, ProofNumbers)>) -> Self {
        // One loop for each kind.
        match kind {
            NodeKind::Or => Self::seen_by(NodeKind::Or, children),
            NodeKind::And => Self::seen_by(NodeKind::And, children),
        }
    }

    /// Without branches: which child is best is a guess for the processor, too, and it guesses badly.
    #[inline(always)]
    fn seen_by(kind: NodeKind, children: impl Iterator<Item = (bool, ProofNumbers)>) -> Self {
        let mut best = 0;
        let [mut choice, mut second] = [INFINITE; 2];
        let mut total = Total::new(kind);
        let mut best_sum = 0;
        let mut held_back = false;
        for (index, (delayed, numbers)) in children.enumerate() {
            let is_out = delayed & held_back;
            held_back = is_out | !numbers.is_solved();
            let seen = numbers.seen_by(kind);
            let child_choice = if is_out { INFINITE } else { seen[0] };
            let child_sum = if is_out { 0 } else { seen[1] };
            total.add(child_sum);
            let is_best = child_choice < choice;
            best = if is_best { index } else { best };
            best_sum = if is_best { child_sum } else { best_sum };
            second = second.min(child_choice.max(choice));
            choice = choice.min(child_choice);
        }
        if choice == 0 {
            let numbers = ProofNumbers::from_seen(kind, [0, INFINITE]);
            return Self { numbers, best, second_choice: 0, others_sum: 0 };
        }
        let choice = if total.is_solved() { INFINITE } else { choice.min(LARGEST) };
        Self {
            numbers: ProofNumbers::from_seen(kind, [choice, total.value()]),
            best,
            second_choice: second,
            others_sum: total.without(best_sum),
        }
    }

    /// The same, but a child that others search below counts as harder: which child is best then, and how far it may be
    /// searched. The numbers of the node stay as they are.
    ///
    /// A child whose number has come to the limit of the node is not chosen, however much harder the others count: once
    /// all have come to it the node is left, and each visit is to bring one of them nearer to that.
    pub(super) fn spread(
        self,
        kind: NodeKind,
        limit: ProofNumbers,
        children: impl Iterator<Item = (bool, ProofNumbers)>,
        searches: impl Fn(usize) -> u32,
    ) -> Self {
        let [limit_choice, _] = limit.seen_by(kind);
        let mut best = self.best;
        let [mut choice, mut second] = [INFINITE; 2];
        let mut best_sum = 0;
        let mut total = Total::new(kind);
        let mut held_back = false;
        for (index, (delayed, numbers)) in children.enumerate() {
            let is_out = delayed & held_back;
            held_back = is_out | !numbers.is_solved();
            let [child_choice, child_sum] = numbers.seen_by(kind);
            if is_out || child_choice == INFINITE {
                continue;
            }
            total.add(child_sum);
            let seen = if child_choice < second {
                harder(child_choice, searches(index))
            } else {
                child_choice
            };
            if seen < choice && child_choice < limit_choice {
                (second, choice) = (second.min(choice), seen);
                (best, best_sum) = (index, child_sum);
            } else {
                second = second.min(seen);
            }
        }
        Self { best, second_choice: second, others_sum: total.without(best_sum), ..self }
    }

    /// How far the best child may be searched: until it is no longer clearly the best, or its parent
    /// reaches a limit. Where that is no more than the child has, the child gets a good step beyond: numbers
    /// in a cycle can feed each other until sums are capped, and steps of one would then take for ever.
    pub(super) fn limit_of_best(
        &self,
        kind: NodeKind,
        child: ProofNumbers,
        cost: i8,
        limit: ProofNumbers,
    ) -> ProofNumbers {
        let [limit_choice, limit_sum] = limit.seen_by(kind);
        let [child_choice, child_sum] = child.seen_by(kind);
        let choice = limit_choice.min(step_beyond(self.second_choice));
        let sum = limit_sum.saturating_sub(self.others_sum);
        let [choice, sum] = [(choice, child_choice), (sum, child_sum)]
            .map(|(limit, number)| if limit > number { limit } else { step_beyond(number) });
        ProofNumbers::from_seen(kind, [without_cost(choice, cost), sum])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hopeless_is_beyond_both_bounds() {
        let beyond = |proof, disproof, nodes| ProofNumbers { proof, disproof }.are_beyond(nodes);
        // The cube root of 2 * 1,500 / 3 is 10, and the fifth root of 14,000 * 3,751 a little less than 35.
        assert!(!beyond(10, 1_000, 1_500) && beyond(11, 1_000, 1_500));
        assert!(!beyond(1_000, 34, 3_751) && beyond(1_000, 35, 3_751));
        assert!(beyond(LARGEST, LARGEST, u64::MAX), "capped sums are hopeless under any limit");
    }

    #[test]
    fn costs_leave_solved_numbers_alone_and_open_ones_open() {
        let seen = |proof, disproof, cost| {
            ProofNumbers { proof, disproof }.with_cost(NodeKind::Or, cost).proof
        };
        assert_eq!([seen(5, 7, 2), seen(5, 7, -1), seen(1, 7, -1)], [7, 4, 1]);
        assert_eq!([seen(0, INFINITE, 2), seen(INFINITE, 0, -1)], [0, INFINITE]);
        let of_defence = ProofNumbers { proof: 5, disproof: 7 }.with_cost(NodeKind::And, 2);
        assert_eq!(of_defence, ProofNumbers { proof: 5, disproof: 9 });
    }

    /// Whatever a move costs, the child may be searched beyond the number that it has.
    #[test]
    fn limits_leave_room_with_any_cost() {
        for number in [1, 2, 9, LARGEST - 1, LARGEST] {
            for cost in [-2, -1, 0, 1, 2] {
                let child = ProofNumbers { proof: number, disproof: 3 };
                let seen = child.with_cost(NodeKind::Or, cost);
                let summary = ChildSummary::of(NodeKind::Or, [(false, seen)].into_iter());
                for limit in [1, seen.proof + 1, INFINITE] {
                    let limit = ProofNumbers { proof: limit, disproof: INFINITE };
                    let limit = summary.limit_of_best(NodeKind::Or, seen, cost, limit);
                    assert!(!child.exceeds(limit), "{number} {cost}: {limit:?}");
                }
            }
        }
    }

    /// The best child of an AND node whose disproof number may grow to this limit, where two others search its second
    /// child.
    fn best_beside_others(disproof_numbers: [u32; 3], limit: u32) -> usize {
        let children =
            || disproof_numbers.map(|disproof| (false, ProofNumbers { proof: 1, disproof }));
        let limit = ProofNumbers { proof: INFINITE, disproof: limit };
        let summary = ChildSummary::of(NodeKind::And, children().into_iter());
        let searches = |child| if child == 1 { 2 } else { 0 };
        summary.spread(NodeKind::And, limit, children().into_iter(), searches).best
    }

    #[test]
    fn others_are_joined_where_each_child_without_them_has_come_to_the_limit() {
        assert_eq!(best_beside_others([20, 10, 30], 21), 0, "10 counts as 22");
        assert_eq!(best_beside_others([20, 10, 30], 20), 1, "20 has come to the limit");
        assert_eq!(best_beside_others([25, 10, 30], 40), 1, "22 is still the least");
    }
}
