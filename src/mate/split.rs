//! Splits the search of one position into many. The positions after its first plies, the leaves, are searched
//! separately. Their results give the verdict on the position and its proof.
//!
//! Moves come from the rule-book move generator [`plain`], as in the check of proofs.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;
use crate::format::ContentHash;
use crate::format::proof_file::{
    MAX_PROOF_STEPS, ProofClaim, ProofHead, ProofStep, ProofText, TooManySteps, parse_step,
};
use crate::shogi::{Move, Position, plain};

/// Largest number of first plies.
pub const MAX_SPLIT_PLIES: u16 = 64;

/// Largest number of positions. A shard keeps all of them in memory.
const MAX_POSITIONS: usize = 1 << 18;

/// The positions of the first plies: after all checks of the side to move, and after all replies.
pub struct SplitTree {
    /// The positions after 0, 1, … plies. Equal positions after the same ply are one node.
    layers: Vec<Vec<Node>>,
}

struct Node {
    position: Position,
    /// The moves, with the index of the node after each in the next layer.
    moves: Vec<(Move, usize)>,
}

/// What is known about a position: whether the attacker mates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SplitValue {
    /// He mates within this number of plies.
    Mate(u16),
    /// He does not mate, at any depth.
    NoMate,
    /// Not decided.
    Unknown,
}

impl SplitValue {
    /// The value of a move from the value of the position after it.
    const fn after_move(self) -> Self {
        match self {
            Self::Mate(plies) => Self::Mate(plies.saturating_add(1)),
            Self::NoMate | Self::Unknown => self,
        }
    }
}

impl SplitTree {
    /// Makes all checks and all replies of the first `plies` plies.
    ///
    /// # Errors
    /// [`Error`] if there are too many positions, or if `cancel` is set meanwhile.
    pub fn new(root: &Position, plies: u16, cancel: &AtomicBool) -> Result<Self, Error> {
        let mut left = MAX_POSITIONS;
        let mut layers = vec![vec![Node { position: root.clone(), moves: Vec::new() }]];
        for ply in 0..plies {
            let mut next = Vec::new();
            let mut indices = HashMap::new();
            for node in layers.last_mut().into_iter().flatten() {
                for m in plain::legal_moves(&node.position) {
                    let mut position = node.position.clone();
                    position.make(m);
                    if is_attack(ply) && !plain::in_check(&position) {
                        continue;
                    }
                    let index = *indices.entry(position.to_string()).or_insert(next.len());
                    node.moves.push((m, index));
                    if index == next.len() {
                        next.push(Node { position, moves: Vec::new() });
                    }
                }
                if next.len() > left {
                    let ply = ply + 1;
                    return Err(Error::usage(format!(
                        "there are more than {MAX_POSITIONS} positions in the first {ply} plies; split after fewer plies"
                    )));
                }
                if cancel.load(Ordering::Relaxed) {
                    return Err(Error::interrupted());
                }
            }
            left -= next.len();
            layers.push(next);
        }
        Ok(Self { layers })
    }

    /// Number of the first plies.
    pub const fn plies(&self) -> usize {
        self.layers.len() - 1
    }

    /// The positions to search, without those that cannot change the verdict because the first plies already decide a
    /// position before them. Empty if the first plies decide the root. The order follows a hash, so that shards get
    /// similar work.
    pub fn leaves(&self) -> Vec<&Position> {
        let values = self.values(|_| SplitValue::Unknown);
        let is_open = |ply: usize, index: usize| values[ply][index] == SplitValue::Unknown;
        let mut open = HashSet::from([0]);
        for (ply, layer) in self.layers.iter().enumerate() {
            open.retain(|&index| is_open(ply, index));
            if ply + 1 < self.layers.len() {
                let moves = open.iter().flat_map(|&index| &layer[index].moves);
                open = moves.map(|&(_, index)| index).collect();
            }
        }
        let leaf = |index: usize| {
            let position = &self.last()[index].position;
            (ContentHash::of(&position.setup()), position)
        };
        let leaves: BTreeMap<_, _> = open.into_iter().map(leaf).collect();
        leaves.into_values().collect()
    }

    /// The value of the root, if the leaves have these values.
    pub fn value(&self, leaf: impl Fn(&Position) -> SplitValue) -> SplitValue {
        self.values(leaf)[0][0]
    }

    /// The value of the root, if the leaves have these values. For a mate also its proof, with the steps of the first
    /// plies.
    pub fn proof(
        &self,
        leaf: impl Fn(&Position) -> SplitValue,
    ) -> (SplitValue, Option<SplitProof>) {
        let values = self.values(leaf);
        let value = values[0][0];
        let SplitValue::Mate(plies) = value else { return (value, None) };
        let root = self.layers[0][0].position.clone();
        let head = ProofHead { index: 0, claim: ProofClaim::Win, plies, root };
        let mut proof = SplitProof { head, steps: Steps::default(), leaves: HashSet::new() };
        let mut needed = BTreeSet::from([0]);
        for (ply, (layer, next)) in self.layers.iter().zip(&values[1..]).enumerate() {
            let mut after = BTreeSet::new();
            for index in needed {
                let Node { position, moves } = &layer[index];
                if !is_attack(ply as u16) {
                    after.extend(moves.iter().map(|&(_, index)| index));
                    continue;
                }
                let mates = moves.iter().filter_map(|&(m, index)| match next[index] {
                    SplitValue::Mate(plies) => Some((plies, m, index)),
                    SplitValue::NoMate | SplitValue::Unknown => None,
                });
                if let Some((plies, m, index)) = mates.min_by_key(|&(plies, ..)| plies) {
                    let plies = plies.saturating_add(1);
                    proof.steps.add(ProofStep { setup: position.setup(), m, plies });
                    after.insert(index);
                }
            }
            needed = after;
        }
        let leaf = |index: usize| self.last()[index].position.to_string();
        proof.leaves = needed.into_iter().map(leaf).collect();
        (value, Some(proof))
    }

    fn last(&self) -> &[Node] {
        self.layers.last().expect("the first layer has the root")
    }

    /// The values of all nodes, by layer.
    fn values(&self, leaf: impl Fn(&Position) -> SplitValue) -> Vec<Vec<SplitValue>> {
        let mut after: Vec<_> = self.last().iter().map(|node| leaf(&node.position)).collect();
        let mut values = Vec::new();
        for (ply, layer) in self.layers.iter().enumerate().rev().skip(1) {
            let value = |node: &Node| {
                let moves = node.moves.iter().map(|&(_, index)| after[index]);
                if is_attack(ply as u16) { best_check(moves) } else { best_reply(moves) }
            };
            let layer = layer.iter().map(value).collect();
            values.push(std::mem::replace(&mut after, layer));
        }
        values.push(after);
        values.reverse();
        values
    }
}

/// Whether the attacker moves next. He moves first.
const fn is_attack(ply: u16) -> bool {
    ply.is_multiple_of(2)
}

/// The value of a position from the values after the checks.
fn best_check(checks: impl Iterator<Item = SplitValue>) -> SplitValue {
    checks.map(SplitValue::after_move).fold(SplitValue::NoMate, |best, check| match (best, check) {
        (SplitValue::Mate(best), SplitValue::Mate(plies)) => SplitValue::Mate(best.min(plies)),
        (mate @ SplitValue::Mate(_), _) | (_, mate @ SplitValue::Mate(_)) => mate,
        (SplitValue::NoMate, SplitValue::NoMate) => SplitValue::NoMate,
        _ => SplitValue::Unknown,
    })
}

/// The value of a position from the values after the replies. Without replies the defender is mated.
fn best_reply(replies: impl Iterator<Item = SplitValue>) -> SplitValue {
    replies.map(SplitValue::after_move).fold(SplitValue::Mate(0), |best, reply| {
        match (best, reply) {
            (SplitValue::NoMate, _) | (_, SplitValue::NoMate) => SplitValue::NoMate,
            (SplitValue::Mate(best), SplitValue::Mate(plies)) => SplitValue::Mate(best.max(plies)),
            _ => SplitValue::Unknown,
        }
    })
}

/// The proof of the root of a [`SplitTree`], without the steps of some leaves.
pub struct SplitProof {
    head: ProofHead,
    steps: Steps,
    leaves: HashSet<String>,
}

/// Steps of several proofs. For each position only the step with the fewest plies is kept, which can replace the
/// others.
#[derive(Default)]
struct Steps {
    steps: Vec<ProofStep>,
    indices: HashMap<String, usize>,
}

impl Steps {
    /// Adds nothing if the steps are already too many for a file.
    fn add(&mut self, step: ProofStep) {
        if self.steps.len() as u64 > MAX_PROOF_STEPS {
            return;
        }
        let setup = step.setup.clone().with_ply(1).to_string();
        let index = *self.indices.entry(setup).or_insert(self.steps.len());
        match self.steps.get_mut(index) {
            Some(known) if step.plies < known.plies => *known = step,
            Some(_) => {}
            None => self.steps.push(step),
        }
    }
}

impl SplitProof {
    /// Adds the proof of a leaf, if it is needed.
    ///
    /// # Errors
    /// [`Error`] if a line of the proof is not a step.
    pub fn add_leaf(&mut self, leaf: &ProofText) -> Result<(), Error> {
        if self.leaves.contains(&leaf.head().root.to_string()) {
            for line in leaf.lines() {
                let step = parse_step(line).map_err(|fault| Error::invalid(fault.to_string()))?;
                self.steps.add(step);
            }
        }
        Ok(())
    }

    /// The text of the proof. It is not checked yet.
    ///
    /// # Errors
    /// [`TooManySteps`] if the proof is too large for a file.
    pub fn text(self) -> Result<ProofText, TooManySteps> {
        let mut text = ProofText::new(self.head);
        self.steps.steps.into_iter().try_for_each(|step| text.push(step))?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::SplitValue::{Mate, NoMate, Unknown};
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn one_check_mates_and_every_reply_must_be_mated() {
        let check = |values: &[SplitValue]| best_check(values.iter().copied());
        let reply = |values: &[SplitValue]| best_reply(values.iter().copied());
        assert_eq!(check(&[]), NoMate);
        assert_eq!(check(&[NoMate, Unknown, Mate(4), Mate(2), NoMate]), Mate(3));
        assert_eq!(check(&[NoMate, Unknown, NoMate]), Unknown);
        assert_eq!(check(&[NoMate, NoMate]), NoMate);
        assert_eq!(reply(&[]), Mate(0));
        assert_eq!(reply(&[Mate(3), Mate(5), Mate(1)]), Mate(6));
        assert_eq!(reply(&[Mate(3), Unknown, Mate(1)]), Unknown);
        assert_eq!(reply(&[Mate(3), Unknown, NoMate]), NoMate);
        assert_eq!(reply(&[NoMate, Unknown]), NoMate);
    }

    /// Black has a gold; a pawn supports it on 5b, and mates at once. Every other drop leaves the king a move.
    #[test]
    fn decided_positions_have_no_leaves() {
        let mate: Position = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1".parse().unwrap();
        let tree = SplitTree::new(&mate, 2, &AtomicBool::new(false)).unwrap();
        assert_eq!(tree.value(|_| Unknown), Mate(1));
        assert!(tree.leaves().is_empty());
        let quiet: Position = "4k4/9/9/9/9/9/9/9/4K4 b P2r2b4g4s4n4l17p 1".parse().unwrap();
        let tree = SplitTree::new(&quiet, 3, &AtomicBool::new(false)).unwrap();
        assert_eq!(tree.value(|_| Unknown), NoMate, "a pawn drop in front of the king alone");
    }

    /// The king captures a silver, promoted or not.
    #[test]
    fn a_position_after_different_moves_is_one_leaf() {
        let root = "4k4/9/4S4/9/9/9/9/9/4K4 b 2r2b4g3s4n4l18p 1".parse().unwrap();
        let tree = SplitTree::new(&root, 2, &AtomicBool::new(false)).unwrap();
        let after = |node: &Node, text: &str| {
            node.moves.iter().find(|(m, _)| m.to_string() == text).unwrap().1
        };
        let [first, second] = ["5c5b", "5c5b+"].map(|m| after(&tree.layers[0][0], m));
        assert_ne!(first, second);
        let [leaf, same] = [first, second].map(|check| after(&tree.layers[1][check], "5a5b"));
        assert_eq!(leaf, same);
        let leaves = tree.leaves();
        let copies = leaves.iter().filter(|leaf| leaf.to_string().starts_with("9/4k4/9/"));
        assert_eq!(copies.count(), 1);
        let (value, proof) = tree.proof(|_| Mate(3));
        let proof = proof.unwrap();
        assert_eq!((value, proof.steps.steps.len()), (Mate(5), 1));
    }

    #[test]
    fn a_proof_with_too_many_steps_stops_growing() {
        let setup: Position = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1".parse().unwrap();
        let step = ProofStep { setup: setup.setup(), m: Move::from_usi("G*5b").unwrap(), plies: 1 };
        let limit = usize::try_from(MAX_PROOF_STEPS).unwrap();
        let mut steps = Steps { steps: vec![step.clone(); limit], indices: HashMap::new() };
        steps.add(step.clone());
        assert_eq!((steps.steps.len(), steps.indices.len()), (limit + 1, 1));
        let other = "4k4/9/4P4/9/9/9/9/9/9 b 2G2r2b2g4s4n4l17p 1".parse::<Position>().unwrap();
        steps.add(ProofStep { setup: other.setup(), ..step });
        assert_eq!((steps.steps.len(), steps.indices.len()), (limit + 1, 1));
    }

    #[test]
    fn a_cancelled_tree_is_an_error() {
        let cancelled = SplitTree::new(&Position::start(), 1, &AtomicBool::new(true));
        assert!(matches!(cancelled.err().unwrap().kind(), ErrorKind::Interrupted));
    }
}
