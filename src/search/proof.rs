//! Checking a proof, and reading its line.
//!
//! The checker follows the proving moves of the table from the root and demands an answer to every move
//! of the defender, to the end of the game. It knows moves from the plain rules only. Where the table
//! proves a board for a smaller hand than the attacker has, the check is made with that smaller hand
//! and everything else in the defender's: if the goal is reached then, it is reached with more.
//!
//! Entries of a proof may have been overwritten, and found again later by way of the very positions
//! they once proved. So each step must be shorter than the one before it; where the table has nothing
//! short enough, the position is searched again with just the plies that are left.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::game::{Game, Hand, Moves, NodeKind, Outcome};

use super::dfpn::DfPn;
use super::watch::Watch;
use super::{Limits, MOST_PLIES, Stats, Stop};

/// Largest number of positions of a proof that is checked.
const MOST_POSITIONS: u64 = 1 << 22;

/// How often the caller is asked whether to stop; positions of the plain rules take longer than nodes.
const WATCH_EVERY_POSITIONS: u64 = 1 << 7;

/// Positions near the line whose plies are measured; beyond, the bound of the check has to do.
const MOST_MEASURED: usize = 1 << 16;

/// A move that is known to reach the goal from a board with some least hand.
#[derive(Clone, Copy)]
struct Step<M, H> {
    hand: H,
    m: M,
    plies: u16,
}

type StepOf<G> = Step<<G as Game>::Move, <G as Game>::Hand>;

struct Checker<'a, G: Game> {
    solver: &'a mut DfPn<G>,
    watch: &'a dyn Watch<G::Move>,
    /// Checked OR nodes by board.
    checked: HashMap<u64, Vec<StepOf<G>>>,
    /// Plies to the end from OR nodes near the line.
    resistances: HashMap<(u64, G::Hand), u16>,
    stats: &'a mut Stats,
}

impl<G: Game> DfPn<G> {
    /// Checks the proof of a position that was found proven and returns its line.
    pub(super) fn checked_line(
        &mut self,
        game: &mut G,
        plies: u16,
        limits: Limits,
        watch: &dyn Watch<G::Move>,
        stats: &mut Stats,
    ) -> Result<Vec<G::Move>, Stop> {
        if plies > MOST_PLIES {
            return Err(Stop::Memory);
        }
        // What the search left of its own node limit, and as much again.
        self.allow_nodes(limits.nodes.saturating_mul(2));
        let mut checker = Checker {
            solver: self,
            watch,
            checked: HashMap::new(),
            resistances: HashMap::new(),
            stats,
        };
        checker.check(game, plies)?;
        Ok(checker.line(game))
    }
}

impl<G: Game> Checker<'_, G> {
    /// Plies of the checked proof from here, at most `plies`.
    fn check(&mut self, game: &mut G, plies: u16) -> Result<u16, Stop> {
        match game.node_kind() {
            NodeKind::Or => self.check_attack(game, plies),
            NodeKind::And => self.check_defences(game, plies),
        }
    }

    fn check_defences(&mut self, game: &mut G, plies: u16) -> Result<u16, Stop> {
        match game.plain_moves() {
            Moves::Over(Outcome::Reached) => Ok(0),
            Moves::Over(Outcome::Missed) => Err(Stop::Memory),
            Moves::Some(defences) => {
                let below = plies.checked_sub(1).ok_or(Stop::Memory)?;
                let mut longest = 0;
                for m in defences {
                    let undo = game.make(m);
                    let checked = self.check(game, below);
                    game.unmake(m, undo);
                    longest = longest.max(checked? + 1);
                }
                Ok(longest)
            }
        }
    }

    fn check_attack(&mut self, game: &mut G, plies: u16) -> Result<u16, Stop> {
        let (key, hand) = (game.board_key(), game.hand());
        if let Some(step) = self.step(game).filter(|step| step.plies <= plies) {
            return Ok(step.plies);
        }
        if self.stats.proof_positions >= MOST_POSITIONS {
            return Err(Stop::Memory);
        }
        if self.stats.proof_positions.is_multiple_of(WATCH_EVERY_POSITIONS)
            && self.watch.wants_stop()
        {
            return Err(Stop::Cancelled);
        }
        let proof = match self.solver.table.shortest_proof(key, hand) {
            Some(proof) if proof.plies <= plies => proof,
            // Some games end in the attacker's favour when he is to move.
            None if matches!(game.plain_moves(), Moves::Over(Outcome::Reached)) => return Ok(0),
            _ => {
                self.stats.rebuilt += 1;
                self.solver.search_again(game, plies, self.watch)?;
                let found = self.solver.table.shortest_proof(key, hand);
                found.filter(|proof| proof.plies <= plies).ok_or(Stop::Memory)?
            }
        };
        game.set_hand(proof.hand);
        let step = self.check_move(game, proof.code, proof.plies);
        game.set_hand(hand);
        let step = step?;
        self.checked.entry(key).or_default().push(step);
        self.stats.proof_positions += 1;
        Ok(step.plies)
    }

    fn check_move(&mut self, game: &mut G, code: u16, plies: u16) -> Result<StepOf<G>, Stop> {
        let Moves::Some(attacks) = game.plain_moves() else { return Err(Stop::Memory) };
        let m = attacks.into_iter().find(|&m| G::code(m).get() == code).ok_or(Stop::Memory)?;
        let below = plies.checked_sub(1).ok_or(Stop::Memory)?;
        let hand = game.hand();
        let undo = game.make(m);
        let checked = self.check(game, below);
        game.unmake(m, undo);
        Ok(Step { hand, m, plies: checked? + 1 })
    }

    /// The line of the checked proof: its moves against the defences that hold out longest.
    fn line(&mut self, game: &mut G) -> Vec<G::Move> {
        let mut line = Vec::new();
        let mut undos = Vec::new();
        while let Some(m) = self.next_of_line(game) {
            undos.push((m, game.make(m)));
            line.push(m);
        }
        for (m, undo) in undos.into_iter().rev() {
            game.unmake(m, undo);
        }
        line
    }

    fn next_of_line(&mut self, game: &mut G) -> Option<G::Move> {
        match game.node_kind() {
            NodeKind::Or => self.step(game).map(|step| step.m),
            NodeKind::And => self.most_resistant(game).map(|(m, _)| m),
        }
    }

    /// The defence that holds out longest and the plies after it; of equals, the first by the rule book
    /// among those with the longest proof.
    fn most_resistant(&mut self, game: &mut G) -> Option<(G::Move, u16)> {
        let Moves::Some(defences) = game.plain_moves() else { return None };
        let mut bounded: Vec<(u16, G::Move)> = Vec::with_capacity(defences.len());
        for m in defences {
            let undo = game.make(m);
            let plies = self.step(game).map_or(0, |step| step.plies);
            game.unmake(m, undo);
            bounded.push((plies, m));
        }
        bounded.sort_by_key(|&(plies, _)| Reverse(plies));
        let mut longest: Option<(G::Move, u16)> = None;
        for (bound, m) in bounded {
            if longest.is_some_and(|(_, most)| most >= bound) {
                break;
            }
            let undo = game.make(m);
            let plies = self.resistance(game);
            game.unmake(m, undo);
            if longest.is_none_or(|(_, most)| plies > most) {
                longest = Some((m, plies));
            }
        }
        longest
    }

    /// Plies from an OR node to the end against the most resistant defence. The step has a bound only:
    /// it was checked against a defender who may hold more than he does.
    fn resistance(&mut self, game: &mut G) -> u16 {
        let position = (game.board_key(), game.hand());
        if let Some(&plies) = self.resistances.get(&position) {
            return plies;
        }
        let Some(Step { m, plies, .. }) = self.step(game) else { return 0 };
        if self.resistances.len() >= MOST_MEASURED {
            return plies;
        }
        let undo = game.make(m);
        let plies = self.most_resistant(game).map_or(1, |(_, plies)| plies + 2);
        game.unmake(m, undo);
        self.resistances.insert(position, plies);
        plies
    }

    /// The shortest checked step from here.
    fn step(&self, game: &G) -> Option<StepOf<G>> {
        let hand = game.hand();
        let steps = self.checked.get(&game.board_key())?;
        steps.iter().filter(|step| hand.dominates(step.hand)).min_by_key(|step| step.plies).copied()
    }
}
