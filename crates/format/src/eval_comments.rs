//! Comments that say what programs say of evaluations, for writing: those of the game, and what they leave unsaid.
//!
//! The reader is `Replay::take_comment`; what is written here gives the same evaluations there.

use kyokumen_shogi::Color;

use super::comment::{CommentedEval, evaluation};
use super::played::Played;
use super::replay::seen_from;

/// Follows a game that is written from its start.
pub(super) struct EvalComments {
    /// What stands before the evaluation of a player.
    prefix: &'static str,
    /// What the comments so far say of the position that comes next, seen from the side to move.
    analysis_cp: Option<i16>,
}

impl EvalComments {
    /// As Floodgate writes them.
    pub(super) const FLOODGATE: Self = Self { prefix: "* ", analysis_cp: None };
    /// As `ShogiHome` writes them.
    pub(super) const SHOGIHOME: Self = Self { prefix: "*評価値=", analysis_cp: None };

    /// What to write before the comments on the start, besides them; `next` is the first move.
    pub(super) fn of_start(
        &mut self,
        comments: &[String],
        to_move: Color,
        next: Option<&Played>,
    ) -> Option<String> {
        self.take_analysis(comments, to_move, next)
    }

    /// What to write before the comments on a move, besides them; `next` is the move behind it.
    pub(super) fn of_move(
        &mut self,
        played: &Played,
        mover: Color,
        next: Option<&Played>,
    ) -> Vec<String> {
        let comments = played.annotation.as_deref().map_or(&[][..], |it| &it.comments);
        let said = self.analysis_cp.take().or_else(|| {
            let of_player = comments.iter().find_map(|comment| match evaluation(comment)? {
                CommentedEval::OfPlayer(black_cp) => Some(black_cp),
                CommentedEval::OfAnalysis(_) => None,
            });
            of_player.and_then(|black_cp| nearest(seen_from(mover, black_cp)))
        });
        let unsaid = played.eval_cp.filter(|&eval_cp| said != Some(eval_cp));
        let of_player = unsaid.map(|eval_cp| {
            let black_cp = seen_from(mover, eval_cp.into());
            format!("{}{black_cp}", self.prefix)
        });
        let of_analysis = self.take_analysis(comments, !mover, next);
        of_player.into_iter().chain(of_analysis).collect()
    }

    /// Takes note of an analysis, or contradicts it where the game has another evaluation.
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
        let said = self.analysis_cp?;
        let eval_cp = next?.eval_cp.filter(|&eval_cp| eval_cp != said)?;
        self.analysis_cp = Some(eval_cp);
        Some(format!("#評価値={}", seen_from(to_move, eval_cp.into())))
    }
}

fn nearest(eval_cp: i32) -> Option<i16> {
    i16::try_from(eval_cp.clamp(i16::MIN.into(), i16::MAX.into())).ok()
}
