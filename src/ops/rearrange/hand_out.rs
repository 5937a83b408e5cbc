//! Buckets over threads: each is worked on by one thread, what comes of them is taken in their order.

use std::io;
use std::sync::atomic::Ordering;

use super::buckets::{Bucket, Sealed};
use super::ordered::Ordered;
use super::pass::Watch;
use super::plan::Means;
use crate::engine::in_order::{Hands, in_order};
use crate::engine::run::RunError;
use crate::records::counts::Counts;

/// Has `work` done on all buckets, each in order, and gives the results in order to `take`, which says of how
/// many items they are.
pub(super) fn hand_out<T: Send + 'static>(
    sealed: Sealed,
    means: &Means,
    work: impl Fn(&Ordered) -> T + Send + Sync + 'static,
    mut take: impl FnMut(T) -> Result<u64, RunError>,
    watch: &mut Watch<'_>,
) -> Result<(), RunError> {
    let hands = Hands { threads: means.threads(), items: means.buckets_under_way() };
    let mut shown = Counts::default();
    let work = move |ordered: &mut Ordered, bucket: Result<Bucket, RunError>| {
        ordered.load(&bucket?)?;
        Ok::<T, RunError>(work(ordered))
    };
    let ended = in_order(sealed.buckets(), hands, Ordered::default, work, |done| {
        if watch.cancel.load(Ordering::Relaxed) {
            return Err(Ended::Failed(RunError::Interrupted));
        }
        shown.input += take(done?)?;
        watch.progress.update(&shown);
        Ok(())
    });
    ended.map_err(|ended| match ended {
        Ended::Failed(error) => error,
        Ended::NoThread(source) => RunError::Threads(source),
    })
}

/// Why the work ended early.
enum Ended {
    Failed(RunError),
    NoThread(io::Error),
}

impl From<RunError> for Ended {
    fn from(error: RunError) -> Self {
        Self::Failed(error)
    }
}

impl From<io::Error> for Ended {
    fn from(source: io::Error) -> Self {
        Self::NoThread(source)
    }
}
