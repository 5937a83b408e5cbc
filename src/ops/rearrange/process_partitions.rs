//! Buckets over threads: each is worked on by one thread, what comes of them is taken in their order.

use std::sync::atomic::Ordering;

use super::partitions::{Partition, SealedPartitions};
use super::pass::RunControl;
use super::plan::Resources;
use super::sorted_partition::SortedPartition;
use crate::engine::in_order::{Parallelism, in_order};
use crate::error::Error;
use crate::records::counts::Counts;

/// Sorts all partitions, runs `work` on them on worker threads, and calls `take` with the results in partition order.
/// `take` returns the number of items of a result.
pub(super) fn process_partitions<T: Send + 'static>(
    sealed: SealedPartitions,
    resources: &Resources,
    work: impl Fn(&SortedPartition) -> T + Send + Sync + 'static,
    mut take: impl FnMut(T) -> Result<u64, Error>,
    control: &mut RunControl<'_>,
) -> Result<(), Error> {
    let parallelism = Parallelism::new(resources.threads(), resources.partitions_in_flight());
    let mut shown = Counts::default();
    let work = move |sorted_partition: &mut SortedPartition,
                     partition: Result<Partition, Error>| {
        sorted_partition.load(&partition?)?;
        Ok::<T, Error>(work(sorted_partition))
    };
    in_order(
        sealed.partitions(),
        parallelism,
        || Ok(SortedPartition::default()),
        work,
        |done| {
            if control.cancel.load(Ordering::Relaxed) {
                return Err(Error::interrupted());
            }
            if let Some(done) = done {
                shown.input += take(done?)?;
                control.progress.update(&shown);
            }
            Ok(())
        },
    )
}
