//! How long a proof really takes, and its line: the attacker's shortest against the defender's longest.

use kyokumen_game::{Game, Hand, NodeKind};

use super::length::{Beyond, Counting, LengthMeasure};
use super::proof::Proof;

impl<M: Copy + Eq, H: Hand> Proof<M, H> {
    /// The moves of a position that this is the proof of, to the end of the game: at every turn the
    /// attacker makes the move of the proof that ends it soonest, the defender the one that ends it latest.
    pub fn line<G: Game<Move = M, Hand = H>>(&self, game: &mut G) -> Vec<M> {
        if let Some(step) = self.shortest_step(game.board_key(), game.hand())
            && step.plies == 1
            && game.node_kind() == NodeKind::Or
        {
            return vec![step.m];
        }
        let mut measure = LengthMeasure::new(self, None, Counting::All);
        let root = measure.root(game);
        measure.line(game, root)
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
