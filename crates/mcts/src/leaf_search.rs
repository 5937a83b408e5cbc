//! Mate searches at leaves and at the root.

use std::sync::atomic::AtomicBool;

use kyokumen_search::TableError;
use kyokumen_search::solver::{Attacker, Solver, TableSize, Verdict};
use kyokumen_shogi::{Move, Position};

use crate::settings::MateLimits;

/// A mate solver with its own table, one for each thread. Its results depend only on position, limits and table size.
pub struct LeafSearch {
    solver: Solver,
    never_cancelled: AtomicBool,
}

/// A proven mate and its verified line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MateLine {
    /// Whether the side to move mates; otherwise it is mated.
    pub mover_wins: bool,
    /// The moves up to the mate.
    pub moves: Vec<Move>,
}

impl LeafSearch {
    /// Creates a solver with a table of `table_mib` MiB.
    ///
    /// # Errors
    /// [`TableError`] if the memory cannot be allocated.
    pub fn try_new(table_mib: usize) -> Result<Self, TableError> {
        let solver = Solver::try_new(TableSize::from_mib(table_mib))?;
        Ok(Self { solver, never_cancelled: AtomicBool::new(false) })
    }

    /// Whether the side to move is proven to mate.
    pub(crate) fn mates(&mut self, position: &Position, limits: MateLimits) -> bool {
        let Some(limits) = limits.limits() else { return false };
        let result = self.solver.solve_observed(
            position,
            Attacker::SideToMove,
            &limits,
            &self.never_cancelled,
        );
        result.verdict == Verdict::Proven
    }

    /// Searches for a mate by the side to move. If the side to move is in check, then also searches for a mate against
    /// it.
    pub fn mate_line(&mut self, position: &Position, limits: MateLimits) -> Option<MateLine> {
        let limits = limits.limits()?;
        let sides = [Attacker::SideToMove, Attacker::Opponent];
        let sides = &sides[..if position.in_check() { 2 } else { 1 }];
        sides.iter().find_map(|&attacker| {
            let result =
                self.solver.solve_observed(position, attacker, &limits, &self.never_cancelled);
            let mover_wins = attacker == Attacker::SideToMove;
            let is_mate = result.verdict == Verdict::Proven;
            is_mate.then_some(MateLine { mover_wins, moves: result.line })
        })
    }
}
