//! Windows of records: read, chosen, mixed, and cut into batches.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;

use kyokumen::format::{DecodeError, DecodeErrorKind, Record, RecordRef};
use kyokumen::mate::judge::{Judge, MateSettings};
use kyokumen::records::bad_record::BadPolicy;
use kyokumen::records::epoch_order::EpochOrder;
use kyokumen::records::filters::RecordFilters;
use kyokumen::shogi::Position;
use kyokumen::solver::TableError;

use super::segments::{DataSet, SegmentBytes};
use crate::failure::Failure;
use crate::interrupt::on_threads;

pub(super) struct Choosing {
    pub(super) filters: RecordFilters,
    pub(super) on_error: BadPolicy,
    /// Limits of the search for mates, which are left out; None to keep them.
    pub(super) search: Option<MateSettings>,
}

impl Choosing {
    /// Whether any record may be left out.
    pub(super) fn leave_out(&self, data: &DataSet) -> bool {
        self.looks() || data.leaves_out()
    }

    /// Whether records are examined before they become arrays.
    fn looks(&self) -> bool {
        self.filters != RecordFilters::default()
            || self.on_error == BadPolicy::Skip
            || self.search.is_some()
    }

    pub(super) fn identity(&self) -> String {
        let Self { filters, on_error, search } = self;
        format!("{filters:?} {on_error:?} {search:?}")
    }
}

/// Progress of an epoch: the window, and how many of its records, in their order, have been passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) window: u64,
    pub(super) record: u32,
}

/// The records of a batch, and the place after them.
pub(super) struct Job {
    pub(super) records: Vec<Stretch>,
    pub(super) behind: Place,
}

/// Records of a window, in its order.
pub(super) struct Stretch {
    window: Arc<Vec<Segment>>,
    /// Segment and record, as indices.
    places: Vec<(u32, u32)>,
}

impl Stretch {
    /// The index of each record in its segment, with the segment.
    pub(super) fn records(&self) -> impl ExactSizeIterator<Item = (&Segment, usize)> {
        let segment = |number: u32| &self.window[number as usize];
        self.places.iter().map(move |&(number, record)| (segment(number), record as usize))
    }
}

pub(super) struct Segment {
    pub(super) file: usize,
    pub(super) first: u64,
    records: u32,
    pub(super) content: SegmentContent,
    /// Whether each record is taken; None if all are.
    is_taken: Option<Vec<bool>>,
}

pub(super) enum SegmentContent {
    /// Fixed-size records.
    Bytes(Vec<u8>),
    /// Decoded games and lines; None for records that are left out or cannot be read.
    Records(Vec<Option<Record>>),
}

pub(super) struct Window {
    number: u64,
    segments: Arc<Vec<Segment>>,
    /// Segment and record, as indices, in the order of use. Includes records that are left out.
    order: Vec<(u32, u32)>,
    /// The place in the order that is used next.
    next: usize,
}

impl Window {
    /// At most so many of its next records, without those that are left out.
    fn take(&mut self, most: usize) -> Stretch {
        let left = self.order.len().saturating_sub(self.next);
        let mut places = Vec::with_capacity(most.min(left));
        while places.len() < most
            && let Some(&(segment, record)) = self.order.get(self.next)
        {
            self.next += 1;
            let is_taken = &self.segments[segment as usize].is_taken;
            if is_taken.as_ref().is_none_or(|taken| taken[record as usize]) {
                places.push((segment, record));
            }
        }
        Stretch { window: Arc::clone(&self.segments), places }
    }
}

pub(super) struct Windows<'a> {
    pub(super) data: &'a DataSet,
    pub(super) choosing: &'a Choosing,
    pub(super) order: EpochOrder,
    pub(super) threads: usize,
}

impl Windows<'_> {
    pub(super) fn read(&self, window: u64, cancel: &AtomicBool) -> Result<Window, Failure> {
        let numbers: Vec<u64> = self.order.window(window).collect();
        let segments = self.segments(&numbers, cancel)?;
        let places: Vec<(u32, u32)> = segments
            .iter()
            .enumerate()
            .flat_map(|(i, segment)| (0..segment.records).map(move |record| (i as u32, record)))
            .collect();
        let order = self.order.records(window, places.len() as u32);
        let order = order.into_iter().map(|place| places[place as usize]).collect();
        Ok(Window { number: window, segments: Arc::new(segments), order, next: 0 })
    }

    /// Reads and filters segments on several threads.
    fn segments(&self, numbers: &[u64], cancel: &AtomicBool) -> Result<Vec<Segment>, Failure> {
        // In the order in which they stand in the files: neighbours may share a page, or a frame of a compressed file.
        let mut places: Vec<usize> = (0..numbers.len()).collect();
        places.sort_unstable_by_key(|&place| numbers[place]);
        let start = || Chooser::try_new(self.data, self.choosing);
        // On several threads also where nothing is looked at: a disk answers several questions at once.
        let segments = on_threads(self.threads, places, cancel, start, |chooser, place| {
            let chooser = chooser.as_mut().map_err(|no_memory| Failure::other(no_memory))?;
            Ok((place, chooser.choose(self.data.read(numbers[place])?, cancel)?))
        });
        let mut segments = segments.into_iter().collect::<Result<Vec<_>, _>>()?;
        segments.sort_unstable_by_key(|(place, _)| *place);
        Ok(segments.into_iter().map(|(_, segment)| segment).collect())
    }
}

/// Filters records on one thread.
struct Chooser<'a> {
    data: &'a DataSet,
    choosing: &'a Choosing,
    judge: Option<Judge>,
}

impl<'a> Chooser<'a> {
    fn try_new(data: &'a DataSet, choosing: &'a Choosing) -> Result<Self, TableError> {
        let judge = choosing.search.as_ref().map(Judge::try_new).transpose()?;
        Ok(Self { data, choosing, judge })
    }

    fn choose(&mut self, segment: SegmentBytes, cancel: &AtomicBool) -> Result<Segment, Failure> {
        let SegmentBytes { file, first, records, bytes } = segment;
        let of_file = self.data.file(file);
        let is_even = of_file.record_len().is_some();
        if is_even && !self.choosing.looks() && !self.data.leaves_out() {
            let content = SegmentContent::Bytes(bytes);
            return Ok(Segment { file, first, records, content, is_taken: None });
        }
        let mut is_taken = vec![false; records as usize];
        let mut parsed = vec![None; if is_even { 0 } else { records as usize }];
        for (i, record) in of_file.decode(&bytes, first).take(is_taken.len()).enumerate() {
            let index = first + i as u64;
            let taken = record.and_then(|record| {
                let taken = self.takes(of_file.number(index), &record, cancel)?;
                if taken && !is_even {
                    parsed[i] = Some(record.record()?);
                }
                Ok(taken)
            });
            is_taken[i] = match taken {
                Ok(taken) => taken,
                Err(error) if is_comment(&error) || self.choosing.on_error == BadPolicy::Skip => {
                    false
                }
                Err(error) => return Err(of_file.bad(index, &error)),
            };
        }
        let content =
            if is_even { SegmentContent::Bytes(bytes) } else { SegmentContent::Records(parsed) };
        Ok(Segment { file, first, records, content, is_taken: Some(is_taken) })
    }

    fn takes(
        &mut self,
        number: u64,
        record: &RecordRef<'_>,
        cancel: &AtomicBool,
    ) -> Result<bool, DecodeError> {
        if record.is_comment()
            || self.data.is_excluded(number)
            || !self.choosing.filters.takes(number, record)?
        {
            return Ok(false);
        }
        if self.judge.is_none() && self.choosing.on_error == BadPolicy::Stop {
            return Ok(true);
        }
        let Ok(position) = Position::try_from(record.setup()?) else {
            // To be left out here, or to be told of where it becomes an array.
            return Ok(self.choosing.on_error == BadPolicy::Stop);
        };
        let (Some(judge), Some(search)) = (&mut self.judge, &self.choosing.search) else {
            return Ok(true);
        };
        if !search.in_check.asks_about(&position).unwrap_or(false) {
            return Ok(true);
        }
        Ok(!judge.judge(&position, cancel).verdict.is_mate())
    }
}

fn is_comment(error: &DecodeError) -> bool {
    error.kind == DecodeErrorKind::Comment
}

/// Windows cut into jobs, from a place in the first window on.
pub(super) struct Jobs {
    pub(super) windows: Receiver<Result<Window, Failure>>,
    /// None before the next one is received.
    pub(super) window: Option<Window>,
    pub(super) place: Place,
    pub(super) batch_size: usize,
    pub(super) drop_last: bool,
    /// The most records that are still taken.
    pub(super) left: u64,
}

impl Iterator for Jobs {
    type Item = Result<Job, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut records = Vec::new();
        let mut missing = usize::try_from(self.left).unwrap_or(usize::MAX).min(self.batch_size);
        self.left -= missing as u64;
        let is_short = missing < self.batch_size;
        while missing > 0 {
            let Some(window) = &mut self.window else {
                match self.windows.recv() {
                    Ok(Ok(mut window)) => {
                        if window.number == self.place.window {
                            window.next = self.place.record as usize;
                        }
                        self.window = Some(window);
                    }
                    Ok(Err(failure)) => return Some(Err(failure)),
                    Err(_) => break,
                }
                continue;
            };
            let stretch = window.take(missing);
            self.place = Place { window: window.number, record: window.next as u32 };
            missing -= stretch.places.len();
            if window.next >= window.order.len() {
                self.window = None;
            }
            if !stretch.places.is_empty() {
                records.push(stretch);
            }
        }
        let is_dropped = self.drop_last && (is_short || missing > 0);
        let job = Job { records, behind: self.place };
        (!job.records.is_empty() && !is_dropped).then_some(Ok(job))
    }
}
