//! The filter as an iterator: takes records and yields those without a proven mate, in the same order.

use std::iter::FusedIterator;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crossbeam_channel::{Receiver, bounded};

use super::judge::{Judge, MateSettings};
use crate::engine::in_order::{Parallelism, process_in_order};
use crate::error::Error;
use crate::format::Record;
use crate::records::reading::RecordError;
use crate::shogi::Position;
use crate::storage::platform;

/// Records in flight per thread. One hard position must not leave the other threads idle.
const RECORDS_PER_THREAD: usize = 64;

/// Removes the records whose position has a proven forced mate, for or against the side to move, and yields the others
/// in the order of `records`.
///
/// The positions are searched on `threads` threads, 0 for all cores; the result does not depend on their number. Each
/// thread has a table of `settings.hash_mb` MiB.
///
/// Undecided records are yielded. `settings.in_check` selects how positions in check are treated. Dropping the iterator
/// stops the search.
///
/// # Errors
/// An item is an error if its record is not a legal position or has no king to be mated; iteration continues. If a
/// thread or its table cannot be created or a search panics, the error is the last item.
///
/// ```
/// use kyokumen::format::{Format, Reader};
/// use kyokumen::{MateSettings, filter_mates};
///
/// let text = "\
/// lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1
/// 4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1
/// ";
/// let records: Vec<_> = Reader::new(Format::Sfen, text.as_bytes()).records().collect::<Result<_, _>>()?;
/// let settings = MateSettings { hash_mb: 1, ..MateSettings::default() };
/// let kept: Vec<_> = filter_mates(records, &settings, 2).collect::<Result<_, _>>()?;
/// assert_eq!(kept.len(), 1);
/// assert_eq!(kept[0].ply, Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn filter_mates<I>(records: I, settings: &MateSettings, threads: usize) -> FilterMates
where
    I: IntoIterator<Item = Record>,
    I::IntoIter: Send + 'static,
{
    let threads = platform::threads(threads);
    let (sender, kept) = bounded(threads * RECORDS_PER_THREAD);
    let (records, settings) = ((0u64..).zip(records), settings.clone());
    let stop = Arc::<AtomicBool>::default();
    let (stop_search, is_dropped) = (Arc::clone(&stop), Arc::clone(&stop));
    let run = {
        let sender = sender.clone();
        move || {
            let in_check = settings.in_check;
            let work = move |judge: &mut Judge, (index, record): (u64, Record)| {
                let position = Position::try_from(&record.setup);
                let is_mate = position.map_err(RecordError::from).and_then(|position| {
                    let is_searched = in_check.searches(&position)?;
                    Ok(is_searched && judge.judge(&position, &*stop_search).verdict.is_mate())
                });
                match is_mate {
                    Ok(is_mate) => Ok((!is_mate).then_some(record)),
                    Err(error) => Err(Error::invalid(format!("record {index}")).with_source(error)),
                }
            };
            let parallelism = Parallelism::new(threads, threads * RECORDS_PER_THREAD);
            let make_judge = move || Judge::try_new(&settings);
            let sent = process_in_order(records, parallelism, make_judge, work, |judged| {
                if is_dropped.load(Ordering::Relaxed) {
                    return Err(Error::interrupted());
                }
                let Some(item) = judged.and_then(Result::transpose) else { return Ok(()) };
                sender.send(item).map_err(|_| Error::interrupted())
            });
            if let Err(error) = sent {
                // Sending fails only if the iterator was dropped.
                drop(sender.send(Err(error)));
            }
        }
    };
    if let Err(error) = thread::Builder::new().name("filter".to_owned()).spawn(run) {
        drop(sender.send(Err(Error::threads(error))));
    }
    FilterMates { kept, stop }
}

/// The iterator of [`filter_mates`].
#[derive(Debug)]
pub struct FilterMates {
    kept: Receiver<Result<Record, Error>>,
    stop: Arc<AtomicBool>,
}

impl Iterator for FilterMates {
    type Item = Result<Record, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.kept.recv().ok()
    }
}

impl FusedIterator for FilterMates {}

impl Drop for FilterMates {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;
    use crate::format::{Format, Reader};

    const MATE: &str = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 7";
    const KEPT: &str = "4k4/9/9/9/9/9/9/9/4K4 b 2r2b4g4s4n4l18p 1";

    fn records(text: &str) -> Vec<Record> {
        Reader::new(Format::Sfen, text.as_bytes()).records().map(Result::unwrap).collect()
    }

    #[test]
    fn kept_records_are_in_input_order_for_any_number_of_threads() {
        let numbered = |ply| KEPT.replace(" 1", &format!(" {ply}"));
        let lines = (1..=300).flat_map(|ply| [numbered(ply), MATE.to_owned()]);
        let all = records(&lines.collect::<Vec<_>>().join("\n"));
        let settings = MateSettings { hash_mb: 1, nodes: 100, ..MateSettings::default() };
        for threads in [1, 2, 5] {
            let kept = filter_mates(all.clone(), &settings, threads);
            let plies: Vec<_> = kept.map(|record| record.unwrap().ply.unwrap()).collect();
            assert_eq!(plies, (1..=300).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_illegal_record_is_an_error_item_and_iteration_continues() {
        // Black could capture the king.
        let text = format!("{KEPT}\n4k4/4G4/9/9/9/9/9/9/4K4 b 2r2b3g4s4n4l18p 2\n{KEPT}\n");
        let settings = MateSettings { hash_mb: 1, ..MateSettings::default() };
        let items: Vec<_> = filter_mates(records(&text), &settings, 2).collect();
        assert_eq!(items.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
        let error = items[1].as_ref().unwrap_err();
        assert_eq!(error.to_string(), "record 1");
        let cause = error.source().unwrap().to_string();
        assert!(cause.starts_with("the White king on 5a is attacked"), "{cause}");
    }

    #[test]
    fn a_dropped_iterator_ends_an_endless_input() {
        let record = records(KEPT).remove(0);
        let settings = MateSettings { hash_mb: 1, nodes: 100, ..MateSettings::default() };
        let source = Arc::new(());
        let held = Arc::clone(&source);
        let endless = std::iter::repeat_with(move || (record.clone(), Arc::clone(&held)).0);
        let mut kept = filter_mates(endless, &settings, 2);
        assert!(kept.next().unwrap().is_ok());
        drop(kept);
        // No record of this input is kept, so the filter never sends an item.
        let (mate, held) = (records(MATE).remove(0), Arc::clone(&source));
        let endless = std::iter::repeat_with(move || (mate.clone(), Arc::clone(&held)).0);
        drop(filter_mates(endless, &settings, 2));
        while Arc::strong_count(&source) > 1 {
            thread::yield_now();
        }
    }
}
