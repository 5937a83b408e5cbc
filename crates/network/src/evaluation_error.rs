//! Why positions could not be evaluated.

use thiserror::Error;

/// Why a batch has no answers.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// A number is not what such an output holds.
    #[error(
        "{output} of position {slot} of {len} is {number}, not {expected}: is it a network of the dlshogi family?"
    )]
    Unusable {
        /// `output_policy` or `output_value`.
        output: &'static str,
        /// The position in the batch, from 0.
        slot: usize,
        /// Positions in the batch.
        len: usize,
        /// The number.
        number: f32,
        /// What was expected.
        expected: &'static str,
    },
    /// Somebody set the flag that ends the evaluation.
    #[error("the evaluation was interrupted")]
    Cancelled,
    /// The runtime failed.
    #[error("the network cannot be evaluated")]
    Runtime(#[source] Box<dyn std::error::Error + Send + Sync>),
}
