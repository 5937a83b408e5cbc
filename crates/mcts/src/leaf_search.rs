//! Mates at leaves and at the root.

use std::sync::atomic::AtomicBool;

use kyokumen_search::TableError;
use kyokumen_search::solver::{Attacker, Solver, TableSize, Verdict};
use kyokumen_shogi::{Move, Position};

use crate::settings::MateLimits;

/// What looks for mates: a solver with a table of its own, one a thread. Its answers depend on position, limits and the
/// size of the table only.
pub struct LeafSearch {
    solver: Solver,
    never: AtomicBool,
}

/// A mate that was proven, and its checked line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MateLine {
    /// The side to move mates; otherwise it is mated.
    pub mover_wins: bool,
    /// Moves to the mate.
    pub moves: Vec<Move>,
}

impl LeafSearch {
    /// A solver with a table of so many MiB.
    ///
    /// # Errors
    /// [`TableError`] if there is no memory for it.
    pub fn try_new(table_mib: usize) -> Result<Self, TableError> {
        let solver = Solver::try_new(TableSize::from_mib(table_mib))?;
        Ok(Self { solver, never: AtomicBool::new(false) })
    }

    /// Whether the side to move is proven to mate.
    pub(crate) fn mates(&mut self, position: &Position, limits: MateLimits) -> bool {
        let Some(limits) = limits.limits() else { return false };
        let result =
            self.solver.solve_observed(position, Attacker::SideToMove, &limits, &self.never);
        result.verdict == Verdict::Proven
    }

    /// Looks for a mate by the side to move, then, if it is in check, for one of it.
    pub fn mate_line(&mut self, position: &Position, limits: MateLimits) -> Option<MateLine> {
        let limits = limits.limits()?;
        let sides = [Attacker::SideToMove, Attacker::Opponent];
        let sides = &sides[..if position.in_check() { 2 } else { 1 }];
        sides.iter().find_map(|&attacker| {
            let result = self.solver.solve_observed(position, attacker, &limits, &self.never);
            let mover_wins = attacker == Attacker::SideToMove;
            let is_mate = result.verdict == Verdict::Proven;
            is_mate.then_some(MateLine { mover_wins, moves: result.line })
        })
    }
}
