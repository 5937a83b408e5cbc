//! What evaluates positions.

use std::sync::atomic::AtomicBool;

use crate::batch::Batch;
use crate::features::Input2;
use crate::network_error::NetworkError;

/// A network, or what takes the place of one.
pub trait Evaluator: Send {
    /// The planes it reads; `None` if it needs none.
    fn planes(&self) -> Option<Input2>;

    /// Answers all positions of a batch. What may take long ends soon after `cancel` is set.
    ///
    /// # Errors
    ///
    /// [`NetworkError`] if the network cannot be asked, or answers nonsense.
    fn evaluate(&mut self, batch: &mut Batch, cancel: &AtomicBool) -> Result<(), NetworkError>;
}
