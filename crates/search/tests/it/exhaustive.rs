//! Verdicts of the solver compared with an exhaustive search on shogi positions.
//!
//! The exhaustive search tries every move to a fixed depth. It uses the fast move generators, which `rules.rs` compares
//! with the plain rules. The reference searches in `small_positions.rs` and `whole_graphs.rs` do not depend on these
//! generators.

use kyokumen_search::{DfPn, Stop, TableSize, Verdict};
use kyokumen_shogi::{Mate, Position};
use kyokumen_testing::positions::{random_play, shared_lines, shared_positions, strewn};

use crate::mate_lines::{attack, defend, limits};

/// Enough nodes to decide every position here.
const AMPLE: u64 = 300_000;

/// An exhaustive search with a limit of moves.
struct Exhaustive {
    moves_left: u32,
}

impl Exhaustive {
    /// Whether the side to move mates within `plies`; `None` if the limit is reached.
    fn mates(&mut self, position: &mut Position, plies: u16) -> Option<bool> {
        if plies == 0 {
            return Some(false);
        }
        for m in position.checks() {
            self.moves_left = self.moves_left.checked_sub(1)?;
            let undo = position.make(m);
            let mates = self.is_mated(position, plies - 1);
            position.unmake(m, undo);
            if mates? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether the side to move is mated within `plies`. It must be in check.
    fn is_mated(&mut self, position: &mut Position, plies: u16) -> Option<bool> {
        let evasions = position.legal_moves();
        if plies == 0 || evasions.is_empty() {
            return Some(evasions.is_empty());
        }
        for m in evasions {
            self.moves_left = self.moves_left.checked_sub(1)?;
            let undo = position.make(m);
            let mates = self.mates(position, plies - 1);
            position.unmake(m, undo);
            if !mates? {
                return Some(false);
            }
        }
        Some(true)
    }
}

const MAX_MOVES: u32 = 300_000;

pub(crate) fn mates_within(position: &Position, plies: u16) -> Option<bool> {
    Exhaustive { moves_left: MAX_MOVES }.mates(&mut position.clone(), plies)
}

pub(crate) fn is_mated_within(position: &Position, plies: u16) -> Option<bool> {
    Exhaustive { moves_left: MAX_MOVES }.is_mated(&mut position.clone(), plies)
}

/// Number of compared positions with and without a mate within the largest depth.
#[derive(Default)]
struct Compared {
    mates: u32,
    others: u32,
}

impl Compared {
    /// Compares the verdict at each depth with `reference`. Depths beyond its limit are left out.
    fn compare(
        &mut self,
        depths: [u16; 3],
        what: &str,
        reference: impl Fn(u16) -> Option<bool>,
        mut solve: impl FnMut(u16) -> (Verdict, usize),
    ) {
        let truths: Vec<(u16, bool)> =
            depths.into_iter().map_while(|depth| Some((depth, reference(depth)?))).collect();
        let Some(&(deepest, mate)) = truths.last() else { return };
        for &(depth, mate_within) in &truths {
            let (verdict, plies) = solve(depth);
            let what = format!("{what}: {verdict:?} in {plies} at depth {depth}");
            match verdict {
                Verdict::Proven if mate_within => {}
                // Through the table a mate can be longer than the depth limit.
                Verdict::Proven => assert!(plies > usize::from(depth), "{what}"),
                Verdict::Disproven => assert!(!mate, "{what}, a mate at depth {deepest}"),
                Verdict::Unknown(Stop::Depth) => assert!(!mate_within, "{what}"),
                Verdict::Unknown(stop) => panic!("{what}: {stop}"),
            }
            if let Some(&(_, mate)) = truths.iter().find(|&&(d, _)| usize::from(d) == plies)
                && verdict == Verdict::Proven
            {
                assert!(mate, "{what}");
            }
        }
        *(if mate { &mut self.mates } else { &mut self.others }) += 1;
    }

    fn compare_position(&mut self, solver: &mut DfPn<Mate>, position: &Position) {
        let what = position.to_string();
        self.compare(
            [1, 3, 5],
            &what,
            |depth| mates_within(position, depth),
            |depth| {
                let solved = attack(solver, position, limits(depth, AMPLE));
                (solved.verdict, solved.line.len())
            },
        );
        if position.in_check() {
            self.compare(
                [0, 2, 4],
                &what,
                |depth| is_mated_within(position, depth),
                |depth| {
                    let solved = defend(solver, position, limits(depth, AMPLE));
                    (solved.verdict, solved.line.len())
                },
            );
        }
    }
}

#[test]
fn verdicts_agree_with_exhaustive_search_on_random_positions() {
    let mut solver = DfPn::new(TableSize::from_mib(1));
    let mut compared = Compared::default();
    for position in random_play(21, 2_000).iter().step_by(2).chain(&strewn(22, 300)) {
        compared.compare_position(&mut solver, position);
    }
    let Compared { mates, others } = compared;
    assert!(mates > 80 && others > 600, "{mates} mates, {others} others");
}

#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn verdicts_agree_with_exhaustive_search_on_mate_problems() {
    let mut solver = DfPn::new(TableSize::from_mib(1));
    let mut compared = Compared::default();
    for position in shared_positions("tsume_dev.tsv", 23) {
        compared.compare_position(&mut solver, &position);
    }
    eprintln!("{} mates, {} others", compared.mates, compared.others);
}

/// Problems whose source gives a length.
#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn stated_mates_are_not_disproven() {
    let mut solver = DfPn::new(TableSize::from_mib(4));
    let mut open = 0;
    for line in shared_lines("tsume_dev.tsv").iter().step_by(11) {
        let fields: Vec<&str> = line.split('\t').collect();
        let Ok(position) = fields[0].parse() else { continue };
        match attack(&mut solver, &position, limits(61, 30_000)).verdict {
            Verdict::Proven => {}
            Verdict::Disproven => assert_eq!(fields[1], "?", "{line}"),
            Verdict::Unknown(_) => open += 1,
        }
    }
    eprintln!("{open} problems left open");
}
