//! Reads windows of records, filters and shuffles them, and divides them into batches.

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

/// The criteria for the records to use.
pub(super) struct RecordChoice {
    pub(super) filters: RecordFilters,
    pub(super) on_error: BadPolicy,
    /// Limits of the search for mated positions, which are left out. None to keep them.
    pub(super) search: Option<MateSettings>,
}

impl RecordChoice {
    /// Whether any record may be left out.
    pub(super) fn may_leave_out(&self, data: &DataSet) -> bool {
        self.needs_records() || data.may_leave_out()
    }

    /// Whether the choice depends on the content of records.
    fn needs_records(&self) -> bool {
        self.filters != RecordFilters::default()
            || self.on_error == BadPolicy::Skip
            || self.search.is_some()
    }
}

/// Progress of an epoch: the window, and the number of its records that are done, in the order of use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ResumePoint {
    pub(super) window: u64,
    pub(super) record: u32,
}

/// The records of a batch, and the resume point after them.
pub(super) struct Job {
    pub(super) records: Vec<WindowRecords>,
    pub(super) resume_point: ResumePoint,
}

/// Records of one window, in the order of use.
pub(super) struct WindowRecords {
    window: Arc<Vec<Segment>>,
    /// Indices of segment and record.
    places: Vec<(u32, u32)>,
}

impl WindowRecords {
    /// The segment of each record, and the index of the record in it.
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
    /// Whether each record is used. None if all are used.
    is_taken: Option<Vec<bool>>,
}

pub(super) enum SegmentContent {
    /// Fixed-size records.
    Bytes(Vec<u8>),
    /// Decoded games and lines. None for records that are left out or unreadable.
    Records(Vec<Option<Record>>),
}

pub(super) struct Window {
    number: u64,
    segments: Arc<Vec<Segment>>,
    /// Indices of segment and record, in the order of use. Includes records that are left out.
    order: Vec<(u32, u32)>,
    /// The next index in `order`.
    next: usize,
}

impl Window {
    /// Takes at most `limit` of the next records that are not left out.
    fn take(&mut self, limit: usize) -> WindowRecords {
        let left = self.order.len().saturating_sub(self.next);
        let mut places = Vec::with_capacity(limit.min(left));
        while places.len() < limit
            && let Some(&(segment, record)) = self.order.get(self.next)
        {
            self.next += 1;
            let is_taken = &self.segments[segment as usize].is_taken;
            if is_taken.as_ref().is_none_or(|taken| taken[record as usize]) {
                places.push((segment, record));
            }
        }
        WindowRecords { window: Arc::clone(&self.segments), places }
    }
}

pub(super) struct Windows<'a> {
    pub(super) data: &'a DataSet,
    pub(super) choice: &'a RecordChoice,
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
        // In file order, because neighbours may share a page or a frame of a compressed file.
        let mut places: Vec<usize> = (0..numbers.len()).collect();
        places.sort_unstable_by_key(|&place| numbers[place]);
        let start = || SegmentFilter::try_new(self.data, self.choice);
        // Several threads help even if no record is examined, because a disk serves several requests at once.
        let segments = on_threads(self.threads, places, cancel, start, |filter, place| {
            let filter = filter.as_mut().map_err(|error| Failure::other(error))?;
            Ok((place, filter.apply(self.data.read(numbers[place])?, cancel)?))
        });
        let mut segments = segments.into_iter().collect::<Result<Vec<_>, _>>()?;
        segments.sort_unstable_by_key(|(place, _)| *place);
        Ok(segments.into_iter().map(|(_, segment)| segment).collect())
    }
}

/// Filters the records of segments on one thread.
struct SegmentFilter<'a> {
    data: &'a DataSet,
    choice: &'a RecordChoice,
    judge: Option<Judge>,
}

impl<'a> SegmentFilter<'a> {
    fn try_new(data: &'a DataSet, choice: &'a RecordChoice) -> Result<Self, TableError> {
        let judge = choice.search.as_ref().map(Judge::try_new).transpose()?;
        Ok(Self { data, choice, judge })
    }

    fn apply(&mut self, segment: SegmentBytes, cancel: &AtomicBool) -> Result<Segment, Failure> {
        let SegmentBytes { file, first, records, bytes } = segment;
        let data_file = self.data.file(file);
        let is_even = data_file.record_len().is_some();
        if is_even && !self.choice.may_leave_out(self.data) {
            let content = SegmentContent::Bytes(bytes);
            return Ok(Segment { file, first, records, content, is_taken: None });
        }
        let mut is_taken = vec![false; records as usize];
        let mut parsed = vec![None; if is_even { 0 } else { records as usize }];
        for (i, record) in data_file.decode(&bytes, first).take(is_taken.len()).enumerate() {
            let index = first + i as u64;
            let taken = record.and_then(|record| {
                let taken = self.takes(data_file.number(index), &record, cancel)?;
                if taken && !is_even {
                    parsed[i] = Some(record.record()?);
                }
                Ok(taken)
            });
            is_taken[i] = match taken {
                Ok(taken) => taken,
                Err(error) if is_comment(&error) || self.choice.on_error == BadPolicy::Skip => {
                    false
                }
                Err(error) => return Err(data_file.bad(index, &error)),
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
            || !self.choice.filters.takes(number, record)?
        {
            return Ok(false);
        }
        if self.judge.is_none() && self.choice.on_error == BadPolicy::Stop {
            return Ok(true);
        }
        let Ok(position) = Position::try_from(record.setup()?) else {
            // Either left out here, or reported as an error when it becomes an array.
            return Ok(self.choice.on_error == BadPolicy::Stop);
        };
        let (Some(judge), Some(search)) = (&mut self.judge, &self.choice.search) else {
            return Ok(true);
        };
        if !search.in_check.searches(&position).unwrap_or(false) {
            return Ok(true);
        }
        Ok(!judge.judge(&position, cancel).verdict.is_mate())
    }
}

fn is_comment(error: &DecodeError) -> bool {
    error.kind == DecodeErrorKind::Comment
}

/// Divides windows into jobs, starting at a resume point in the first window.
pub(super) struct Jobs {
    pub(super) windows: Receiver<Result<Window, Failure>>,
    /// None before the next window is received.
    pub(super) window: Option<Window>,
    pub(super) resume_point: ResumePoint,
    pub(super) batch_size: usize,
    pub(super) drop_last: bool,
    /// Maximum number of records still to use.
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
                        if window.number == self.resume_point.window {
                            window.next = self.resume_point.record as usize;
                        }
                        self.window = Some(window);
                    }
                    Ok(Err(failure)) => return Some(Err(failure)),
                    Err(_) => break,
                }
                continue;
            };
            let taken = window.take(missing);
            self.resume_point = ResumePoint { window: window.number, record: window.next as u32 };
            missing -= taken.places.len();
            if window.next >= window.order.len() {
                self.window = None;
            }
            if !taken.places.is_empty() {
                records.push(taken);
            }
        }
        let is_dropped = self.drop_last && (is_short || missing > 0);
        let job = Job { records, resume_point: self.resume_point };
        (!job.records.is_empty() && !is_dropped).then_some(Ok(job))
    }
}
