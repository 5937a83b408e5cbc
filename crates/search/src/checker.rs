//! The check of a proof.
//!
//! The checker follows the proving moves of the table from the root. Every move of the defender needs a reply, to the
//! end of the game. Moves come from the plain rules only. If the table proves a board with a smaller hand than the
//! attacker has, the check uses the smaller hand and gives the defender the rest. With a larger hand the goal is
//! reached, too.
//!
//! An entry of a proof may have been overwritten, and found again through positions that it once proved. Such a proof
//! is circular. So each step must have fewer plies than the one before. If the table has no proof that is short enough,
//! the position is searched again within the plies that are left.

use kyokumen_game::{Game, Moves, NodeKind, Outcome};

use super::descent::Descent;
use super::limits::MAX_PLIES;
use super::observer::SearchObserver;
use super::proof::{Proof, ProofOf, Step, StepOf};
use super::search_result::Resumable;
use super::table::TranspositionTable;
use super::verdict::{Stats, Stop};

/// Largest number of positions in a checked proof.
const MAX_POSITIONS: u64 = 1 << 22;

/// Positions between two calls of [`SearchObserver::wants_stop`]. Fewer than for nodes, since the plain rules are
/// slower.
const POLL_EVERY_POSITIONS: u64 = 1 << 7;

struct Checker<'a, G: Game, T> {
    descent: &'a mut Descent<G, T>,
    observer: &'a dyn SearchObserver<G::Move>,
    /// The steps that have passed the check.
    proof: ProofOf<G>,
    stats: &'a mut Stats,
}

impl<G: Game, T: TranspositionTable<G::Hand>> Resumable<G> for Descent<G, T> {
    fn nodes(&self) -> u64 {
        Self::nodes(self)
    }

    fn set_node_limit(&mut self, nodes: u64) {
        Self::set_node_limit(self, nodes);
    }

    fn search_within(
        &mut self,
        game: &mut G,
        plies: u16,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Result<Option<u16>, Stop> {
        self.start_within(plies);
        let value = self.search_root(game, observer)?;
        Ok(value.is_proven().then_some(value.plies))
    }

    fn checked_proof(
        &mut self,
        game: &mut G,
        plies: u16,
        max_nodes: u64,
        observer: &dyn SearchObserver<G::Move>,
        stats: &mut Stats,
    ) -> Result<ProofOf<G>, Stop> {
        if plies > MAX_PLIES {
            return Err(Stop::Memory);
        }
        self.set_node_limit(max_nodes);
        let mut checker = Checker { descent: self, observer, proof: Proof::new(), stats };
        checker.check(game, plies)?;
        Ok(checker.proof)
    }
}

impl<G: Game, T: TranspositionTable<G::Hand>> Checker<'_, G, T> {
    /// Checks the proof of the position that `game` is at, and returns its plies. More than `plies` is an error.
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
        if self.stats.proof_positions >= MAX_POSITIONS {
            return Err(Stop::Memory);
        }
        if self.stats.proof_positions.is_multiple_of(POLL_EVERY_POSITIONS)
            && self.observer.wants_stop()
        {
            return Err(Stop::Cancelled);
        }
        let proof = match self.descent.table.shortest_proof(key, hand) {
            Some(proof) if proof.plies <= plies => proof,
            // Some games can end in the attacker's favour with the attacker to move.
            None if matches!(game.plain_moves(), Moves::Over(Outcome::Reached)) => return Ok(0),
            _ => {
                self.stats.rebuilt += 1;
                self.descent.search_within(game, plies, self.observer)?;
                let found = self.descent.table.shortest_proof(key, hand);
                found.filter(|proof| proof.plies <= plies).ok_or(Stop::Memory)?
            }
        };
        game.set_hand(proof.hand);
        let step = self.check_move(game, proof.code, proof.plies);
        game.set_hand(hand);
        let step = step?;
        self.proof.add(key, step);
        self.stats.proof_positions += 1;
        Ok(step.plies)
    }

    fn check_move(&mut self, game: &mut G, code: u16, plies: u16) -> Result<StepOf<G>, Stop> {
        let hand = game.hand();
        let below = plies.checked_sub(1).ok_or(Stop::Memory)?;
        if below == 0 {
            let m = game.plain_goal_move(code).ok_or(Stop::Memory)?;
            return Ok(Step { hand, m, plies });
        }
        let m = game.plain_move(code).ok_or(Stop::Memory)?;
        let undo = game.make(m);
        let checked = self.check(game, below);
        game.unmake(m, undo);
        Ok(Step { hand, m, plies: checked? + 1 })
    }

    /// The shortest checked step for the position that `game` is at.
    fn step(&self, game: &G) -> Option<StepOf<G>> {
        self.proof.shortest_step(game.board_key(), game.hand())
    }
}
