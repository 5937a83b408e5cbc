//! Buckets over threads: each is worked on by one thread, what comes of them is taken in their order.

use std::io;
use std::sync::atomic::Ordering;

use super::buckets::{Bucket, Sealed};
use super::ordered::Ordered;
use super::pass::Watch;
use super::plan::Means;
use crate::engine::error::RunError;
use crate::engine::in_order::{Hands, in_order};
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
    let hands = Hands { threads: means.threads(), items: means.buckets_under_way() };
    let mut shown = Counts::default();
    let work = move |ordered: &mut Ordered, bucket: Result<Bucket, OperationError>| {
        ordered.load(&bucket?)?;
        Ok::<T, OperationError>(work(ordered))
    };
    let ended = in_order(sealed.buckets(), hands, Ordered::default, work, |done| {
        if watch.cancel.load(Ordering::Relaxed) {
            return Err(Ended::Failed(RunError::Interrupted.into()));
        }
        shown.input += take(done?)?;
        watch.progress.update(&shown);
        Ok(())
    });
    ended.map_err(|ended| match ended {
        Ended::Failed(error) => error,
        Ended::NoThread(source) => RunError::Threads(source).into(),
    })
}

/// Why the work ended early.
enum Ended {
    Failed(OperationError),
    NoThread(io::Error),
}

impl From<OperationError> for Ended {
    fn from(error: OperationError) -> Self {
        Self::Failed(error)
    }
}

impl From<io::Error> for Ended {
    fn from(source: io::Error) -> Self {
        Self::NoThread(source)
    }
}
