//! How long a proof really takes, and its line: the attacker's shortest against the defender's longest.

use std::iter;

use kyokumen_game::{Candidate, Game, Hand, NodeKind};

use super::length::{Beyond, Counting, LengthMeasure};
use super::proof::Proof;

impl<M: Copy + Eq, H: Hand> Proof<M, H> {
    /// The moves of a position that this is the proof of, to the end of the game: at every turn the
    /// attacker makes the move of the proof that ends it soonest, the defender the one that ends it latest.
    pub fn line<G: Game<Move = M, Hand = H>>(&self, game: &mut G) -> Vec<M> {
        if let Some(line) = self.short_line(game) {
            return line;
        }
        let mut measure = LengthMeasure::new(self, None, Counting::All);
        let root = measure.root(game);
        measure.line(game, root)
    }

    /// The same where it can be read off: what takes one ply, and what takes three if the attacker has no choice at
    /// first and the defender none that would hold out longer.
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
        let end = self.one_defence(game);
        game.unmake(step.m, undo);
        Some(iter::once(step.m).chain(end?).collect())
    }

    /// The first move of the defender and what ends the game then, if that is the attacker's next move; nothing where
    /// it is over.
    fn one_defence<G: Game<Move = M, Hand = H>>(&self, game: &mut G) -> Option<Vec<M>> {
        let mut defences = Vec::new();
        game.expand(&mut defences);
        let Some(&Candidate { m, .. }) = defences.first() else { return Some(Vec::new()) };
        let undo = game.make(m);
        let reply = self.shortest_step(game.board_key(), game.hand());
        game.unmake(m, undo);
        reply.filter(|reply| reply.plies == 1).map(|reply| vec![m, reply.m])
    }

    /// Plies of the proof if futile defences, with their [replies](Game::futile_replies), do not count;
    /// `None` if there is too much to measure.
    pub fn plies_without_futile<G: Game<Move = M, Hand = H>>(&self, game: &mut G) -> Option<u16> {
        self.without_futile(game, |measure, game| {
            let root = measure.root(game);
            measure.plies(game, root)
        })
    }

    /// The same, from `least` on and if it is fewer than `plies`, where more is known than the proof.
    pub(super) fn shorter_beyond<'a, G: Game<Move = M, Hand = H>>(
        &'a self,
        beyond: Beyond<'a, G>,
        game: &mut G,
        least: u16,
        plies: u16,
    ) -> Option<u16> {
        let mut measure = LengthMeasure::new(self, Some(beyond), Counting::WithoutReturns);
        let root = measure.root(game);
        let mut lengths = (least..plies).step_by(usize::from(G::PLIES_APART));
        lengths.find(|&plies| measure.takes_at_most(game, root, plies))
    }

    /// The line of [`Self::line`] if futile defences do not count: as long as [`Self::plies_without_futile`], with
    /// nothing that does not count in it. `None` if there is too much to measure.
    pub fn line_without_futile<G: Game<Move = M, Hand = H>>(&self, game: &mut G) -> Option<Vec<M>> {
        self.without_futile(game, |measure, game| {
            let root = measure.root(game);
            measure.line(game, root)
        })
    }

    /// The defences of a position of the defender that would lengthen its end if they counted, and do not, being futile
    /// with their [replies](Game::futile_replies); `None` if there is too much to measure.
    pub fn futile_defences<G: Game<Move = M, Hand = H>>(&self, game: &mut G) -> Option<Vec<M>> {
        self.without_futile(game, |measure, game| {
            let root = measure.root(game);
            measure.futile_defences(game, root)
        })
    }

    fn without_futile<G: Game<Move = M, Hand = H>, T>(
        &self,
        game: &mut G,
        measured: impl Fn(&mut LengthMeasure<'_, G>, &mut G) -> T,
    ) -> Option<T> {
        [Counting::WithoutReturns, Counting::WithoutFutile].into_iter().find_map(|counting| {
            let mut measure = LengthMeasure::<G>::new(self, None, counting);
            let value = measured(&mut measure, game);
            measure.is_whole().then_some(value)
        })
    }
}

#[cfg(test)]
mod tests {
    use kyokumen_shogi::Mate;
    use kyokumen_testing::positions::{random_play, strewn};

    use super::*;
    use crate::dfpn::DfPn;
    use crate::limits::{Limits, TableSize};

    /// The shortcut gives the line that the measure gives.
    #[test]
    fn a_short_line_is_the_line_of_the_measure() {
        let mut search = DfPn::new(TableSize::from_mib(4));
        let mut read_off = [0; 4];
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
            read_off[line.len()] += 1;
        }
        assert!(read_off[1] > 100 && read_off[3] > 50, "{read_off:?}");
    }
}
