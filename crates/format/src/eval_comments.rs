//! Evaluations in the comments of a written game. Adds a comment where the comments do not give the evaluation of a
//! move.
//!
//! `Replay::take_comment` reads these evaluations.

use kyokumen_shogi::Color;

use super::comment::{CommentedEval, evaluation, is_bare};
use super::played::Played;
use super::replay::{nearest, seen_from};

/// The state while a game is written from its start.
#[derive(Clone)]
pub(super) struct EvalComments {
    /// The text before a player's evaluation in a comment.
    prefix: &'static str,
    /// The evaluation of the next position according to the comments written so far, from the side to move.
    analysis_cp: Option<i16>,
}

impl EvalComments {
    /// The form that Floodgate writes.
    pub(super) const FLOODGATE: Self = Self { prefix: "* ", analysis_cp: None };
    /// The form that `ShogiHome` writes.
    pub(super) const SHOGIHOME: Self = Self { prefix: "*評価値=", analysis_cp: None };

    /// Returns a comment to write before the comments on the start position, if one is needed. `next` is the first
    /// move.
    pub(super) fn of_start(
        &mut self,
        comments: &[String],
        to_move: Color,
        next: Option<&Played>,
    ) -> Option<String> {
        self.take_analysis(comments, to_move, next)
    }

    /// Returns comments to write before the comments on a move. Empty if none is needed. `next` is the following move.
    pub(super) fn of_move(
        &mut self,
        played: &Played,
        mover: Color,
        next: Option<&Played>,
    ) -> Vec<String> {
        let comments = played.annotation.as_deref().map_or(&[][..], |it| &it.comments);
        let from_analysis = self.analysis_cp.take();
        let stated = from_analysis.or_else(|| {
            let of_player = comments.iter().find_map(|comment| match evaluation(comment)? {
                CommentedEval::OfPlayer(black_cp) => Some(black_cp),
                CommentedEval::OfAnalysis(_) => None,
            });
            of_player.and_then(|black_cp| nearest(seen_from(mover, black_cp)))
        });
        // When the game is read back, a first comment that contains only an evaluation is not kept as text.
        let is_repeated = from_analysis.is_none() && comments.first().is_some_and(|it| is_bare(it));
        let unstated = played.eval_cp.filter(|&eval_cp| stated != Some(eval_cp) || is_repeated);
        let of_player = unstated.map(|eval_cp| {
            let black_cp = seen_from(mover, eval_cp.into());
            format!("{}{black_cp}", self.prefix)
        });
        let of_analysis = self.take_analysis(comments, !mover, next);
        of_player.into_iter().chain(of_analysis).collect()
    }

    /// Reads an analysis from comments. If the game has another evaluation, returns a comment that corrects it.
    fn take_analysis(
        &mut self,
        comments: &[String],
        to_move: Color,
        next: Option<&Played>,
    ) -> Option<String> {
        let analysis = comments.iter().find_map(|comment| match evaluation(comment)? {
            CommentedEval::OfAnalysis(black_cp) => Some(black_cp),
            CommentedEval::OfPlayer(_) => None,
        });
        self.analysis_cp = analysis.and_then(|black_cp| nearest(seen_from(to_move, black_cp)));
        let stated = self.analysis_cp?;
        let eval_cp = next?.eval_cp.filter(|&eval_cp| eval_cp != stated)?;
        self.analysis_cp = Some(eval_cp);
        Some(format!("#評価値={}", seen_from(to_move, eval_cp.into())))
    }
}
