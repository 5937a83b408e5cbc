//! The defences that the conceding game leaves out.

use kyokumen_game::{Candidate, Game, NodeKind};
use kyokumen_shogi::{Mate, Move};
use kyokumen_testing::positions::{random_play, strewn};

/// `leave_out_futile` tests one drop for each square. The result must be the same as for each drop separately.
#[test]
fn leave_out_futile_removes_exactly_the_moves_with_futile_replies() {
    let [mut left_out, mut drops_kept] = [0; 2];
    for position in random_play(81, 6_000).into_iter().chain(strewn(82, 2_000)) {
        for check in position.checks() {
            let mut checked = position.clone();
            checked.make(check);
            let mate = Mate::against_side_to_move(checked);
            assert_eq!(mate.node_kind(), NodeKind::And);
            let mut candidates: Vec<Candidate<Move>> = Vec::new();
            mate.expand(&mut candidates);
            let moves = |candidates: &[Candidate<Move>]| -> Vec<Move> {
                candidates.iter().map(|candidate| candidate.m).collect()
            };
            let mut kept = moves(&candidates);
            kept.retain(|&m| mate.futile_replies(m).is_empty());
            left_out += candidates.len() - kept.len();
            drops_kept += kept.iter().filter(|m| m.is_drop()).count();
            mate.leave_out_futile(&mut candidates);
            assert_eq!(moves(&candidates), kept, "{position} {check}");
        }
    }
    assert!(left_out > 10_000 && drops_kept > 50, "{left_out} {drops_kept}");
}
