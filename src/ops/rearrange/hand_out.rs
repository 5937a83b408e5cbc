//! Buckets over threads: each is worked on by one thread, what comes of them is taken in their order.

use std::sync::atomic::Ordering;

use super::buckets::{Bucket, Sealed};
use super::ordered::Ordered;
use super::pass::Watch;
use super::plan::Means;
use crate::engine::error::RunError;
use crate::engine::in_order::{Parallelism, in_order};
use crate::ops::error::OperationError;
use crate::records::counts::Counts;

/// Has `work` done on all buckets, each in order, and gives the results in order to `take`, which says of how
/// many items they are.
pub(super) fn hand_out<T: Send + 'static>(
    sealed: Sealed,
    means: &Means,
    work: impl Fn(&Ordered) -> T + Send + Sync + 'static,
    mut take: impl FnMut(T) -> Result<u64, OperationError>,
    watch: &mut Watch<'_>,
) -> Result<(), OperationError> {
    let parallelism = Parallelism::new(means.threads(), means.buckets_under_way());
    let mut shown = Counts::default();
    let work = move |ordered: &mut Ordered, bucket: Result<Bucket, OperationError>| {
        ordered.load(&bucket?)?;
        Ok::<T, OperationError>(work(ordered))
    };
    in_order(sealed.buckets(), parallelism, Ordered::default, work, |done| {
        if watch.cancel.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted.into());
        }
        if let Some(done) = done {
            shown.input += take(done?)?;
            watch.progress.update(&shown);
        }
        Ok(())
    })
}
