//! The length and the line of a proof: the attacker's shortest play against the defender's longest.

use std::iter;
use std::ops::Range;

use kyokumen_game::{Candidate, Game, Hand, NodeKind};

use super::length::{Counting, ExtraProofs, LengthMeasure};
use super::proof::Proof;

impl<M: Copy + Eq, H: Hand> Proof<M, H> {
    /// The line from the position that this proof is about to the end of the game. The attacker always makes the move
    /// of the proof that ends the game soonest, the defender the move that ends it latest.
    pub fn line<G: Game<Move = M, Hand = H>>(&self, game: &mut G) -> Vec<M> {
        if let Some(line) = self.short_line(game) {
            return line;
        }
        let mut measure = LengthMeasure::new(self, None, Counting::All);
        let root = measure.root(game);
        measure.line(game, root)
    }

    /// The line of a proof of one ply, or of three plies with only one first move, read off the steps without a
    /// measure. `None` if that is not possible.
    fn short_line<G: Game<Move = M, Hand = H>>(&self, game: &mut G) -> Option<Vec<M>> {
        if game.node_kind() == NodeKind::And {
            return None;
        }
        let step = self.shortest_step(game.board_key(), game.hand())?;
        if step.plies == 1 {
            return Some(vec![step.m]);
        }
        let steps = self.steps(game.board_key(), game.hand()).count();
        if step.plies != 3 || steps > 1 || G::PLIES_APART != 2 {
            return None;
        }
        let undo = game.make(step.m);
        let end = self.first_defence(game);
        game.unmake(step.m, undo);
        Some(iter::once(step.m).chain(end?).collect())
    }

    /// The first move of the defender and the attacker's reply that ends the game; no moves if the game is over. `None`
    /// if no reply of the proof ends it at once.
    fn first_defence<G: Game<Move = M, Hand = H>>(&self, game: &mut G) -> Option<Vec<M>> {
        let mut defences = Vec::new();
        game.expand(&mut defences);
        let Some(&Candidate { m, .. }) = defences.first() else { return Some(Vec::new()) };
        let undo = game.make(m);
        let reply = self.shortest_step(game.board_key(), game.hand());
        game.unmake(m, undo);
        reply.filter(|reply| reply.plies == 1).map(|reply| vec![m, reply.m])
    }

    /// As [`Self::without_futile`], but the attacker also has the moves of `extra_proofs`. `None` if the length is not
    /// in the range `plies`, or needs more visits than `max_visits`.
    pub(super) fn shorter_line<'a, G: Game<Move = M, Hand = H>>(
        &'a self,
        extra_proofs: ExtraProofs<'a, G>,
        game: &mut G,
        plies: Range<u16>,
        max_visits: u64,
    ) -> Option<(u16, Vec<M>)> {
        let mut measure =
            LengthMeasure::new(self, Some(extra_proofs), Counting::WithoutFutileOrReturns);
        let root = measure.root(game);
        for plies in plies.step_by(usize::from(G::PLIES_APART)) {
            if measure.takes_at_most(game, root, plies) {
                return Some((plies, line_of(&mut measure, game, root, plies)));
            }
            if measure.visits > max_visits {
                break;
            }
        }
        None
    }

    /// The length in plies without futile defences and their [replies](Game::futile_replies), and the line of so many
    /// moves. The line is empty if the moves found have another length. `None` if there are too many positions to
    /// measure.
    pub fn without_futile<G: Game<Move = M, Hand = H>>(
        &self,
        game: &mut G,
    ) -> Option<(u16, Vec<M>)> {
        self.measured(game, |measure, game| {
            let root = measure.root(game);
            let plies = measure.plies(game, root);
            (plies, line_of(measure, game, root, plies))
        })
    }

    /// The defences that would lengthen the mate if they counted, in a position with the defender to move. They are
    /// futile because of their [replies](Game::futile_replies). `None` if there are too many positions to measure.
    pub fn futile_defences<G: Game<Move = M, Hand = H>>(&self, game: &mut G) -> Option<Vec<M>> {
        self.measured(game, |measure, game| {
            let root = measure.root(game);
            measure.futile_defences(game, root)
        })
    }

    /// Calls `measured` with a measure that leaves out futile defences. If returns make the measure incomplete, it is
    /// repeated without them.
    fn measured<G: Game<Move = M, Hand = H>, T>(
        &self,
        game: &mut G,
        measured: impl Fn(&mut LengthMeasure<'_, G>, &mut G) -> T,
    ) -> Option<T> {
        [Counting::WithoutFutileOrReturns, Counting::WithoutFutile].into_iter().find_map(
            |counting| {
                let mut measure = LengthMeasure::<G>::new(self, None, counting);
                let value = measured(&mut measure, game);
                measure.is_complete().then_some(value)
            },
        )
    }
}

/// The line from `root`, whose length is `plies`. Empty if the line has another length.
fn line_of<G: Game>(
    measure: &mut LengthMeasure<'_, G>,
    game: &mut G,
    root: usize,
    plies: u16,
) -> Vec<G::Move> {
    let line = measure.line(game, root);
    if line.len() == usize::from(plies) { line } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use kyokumen_shogi::Mate;
    use kyokumen_testing::positions::{random_play, strewn};

    use super::*;
    use crate::dfpn::DfPn;
    use crate::limits::{Limits, TableSize};

    #[test]
    fn short_lines_equal_measured_lines() {
        let mut search = DfPn::new(TableSize::from_mib(4));
        let mut compared = [0; 4];
        for position in random_play(313, 4_000).into_iter().chain(strewn(314, 2_000)) {
            let mut game = Mate::by_side_to_move(position.clone());
            search.solve(
                &mut game,
                Limits::new(15, 300),
                &std::sync::atomic::AtomicBool::new(false),
            );
            let Some(proof) = search.proof() else { continue };
            let Some(line) = proof.short_line(&mut game) else { continue };
            let mut measure = LengthMeasure::new(proof, None, Counting::All);
            let root = measure.root(&mut game);
            assert_eq!(line, measure.line(&mut game, root), "{position}");
            compared[line.len()] += 1;
        }
        assert!(compared[1] > 100 && compared[3] > 50, "{compared:?}");
    }

    #[test]
    fn lines_without_futile_defences_have_the_measured_length() {
        let mut search = DfPn::new(TableSize::from_mib(4));
        let [mut long, mut without_line] = [0; 2];
        for position in random_play(315, 3_000).into_iter().chain(strewn(316, 3_000)) {
            let mut game = Mate::by_side_to_move(position.clone());
            let never = std::sync::atomic::AtomicBool::new(false);
            search.solve(&mut game, Limits::new(31, 2_000), &never);
            let Some(proof) = search.proof() else { continue };
            let Some((plies, line)) = proof.without_futile(&mut game) else { continue };
            assert!([0, usize::from(plies)].contains(&line.len()), "{position}");
            assert!(usize::from(plies) <= proof.line(&mut game).len(), "{position}");
            long += u32::from(plies > 5);
            without_line += u32::from(line.is_empty() && plies > 0);
        }
        assert!(long > 50 && without_line * 10 < long, "{without_line} of {long} without a line");
    }
}
