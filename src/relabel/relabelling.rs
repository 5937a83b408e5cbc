//! What is to be done with a block of records, by itself or in games.

use super::evaluator::Evaluated;
use crate::error::Error;
use crate::format::{EncodeError, Field, Fields, Format, GameResult, Reevaluation};
use crate::jobs::plan::{JobPlan, Product};
use crate::jobs::settings::RelabelSettings;
use crate::records::reading::RecordError;
use crate::shogi::{Color, Position};

/// Evaluates all positions of a block in one call.
pub(super) type Evaluate<'a> = dyn FnMut(&[Position]) -> Result<Vec<Evaluated>, Error> + 'a;

pub(super) struct Relabelling<'a> {
    pub(super) plan: &'a JobPlan,
    pub(super) settings: &'a RelabelSettings,
    pub(super) to: Format,
}

impl<'a> Relabelling<'a> {
    pub(super) fn of(plan: &'a JobPlan) -> Self {
        let (Some(settings), Product::Evaluated(to)) = (&plan.settings.relabel, plan.product)
        else {
            unreachable!("a plan with settings for new evaluations is one for them");
        };
        Self { plan, settings, to: to.format }
    }

    /// The new fields of a record. A missing `result` is taken from the fill settings.
    pub(super) fn reevaluation(
        &self,
        evaluated: Evaluated,
        mover: Color,
        result: Option<GameResult>,
    ) -> Result<Reevaluation, RecordError> {
        let result = result.or(self.plan.settings.fill.result);
        evaluated.mixed(self.settings, mover, result).map_err(|_| {
            let fields = Fields::of(Field::Result);
            EncodeError::Missing { fields }.into()
        })
    }
}
