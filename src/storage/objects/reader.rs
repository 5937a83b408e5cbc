//! Reads an object by ranges and prefetches several of them.
//!
//! Requests grow while reading goes on, so that a look at a few records costs little.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use bytes::{Buf, Bytes};
use object_store::{GetOptions, GetRange, ObjectMeta};
use tokio::task::JoinHandle;

use super::object::{Object, Pinned};
use super::refusal::{changed, refused};
use super::store::{ObjectLocation, runtime};
use crate::storage::quantity::quantity;

/// Bytes of the first and of the largest request. Each request is twice as large as the one before.
const FIRST_REQUEST: u64 = 1 << 17;
const LARGEST_REQUEST: u64 = 1 << 22;

/// Most requests in flight. The number grows while reading continues.
const MAX_REQUESTS: usize = 4;

/// Size of the end of an object that is read at once and kept. Tables of frames are there, and sampling reads them anew
/// for each place.
const TAIL_BYTES: u64 = 1 << 16;

pub(crate) struct ObjectReader {
    object: Object,
    position: u64,
    /// No byte from here on is requested.
    end: u64,
    /// Received bytes, from `position` on.
    ready: Bytes,
    /// Requests in flight, in order.
    asked: VecDeque<RangeRequest>,
    /// Start of the next request.
    next: u64,
    request_bytes: u64,
    most_requests: usize,
}

impl Object {
    pub(crate) fn reader(&self) -> io::Result<ObjectReader> {
        self.pinned()?;
        Ok(ObjectReader::new(self.clone()))
    }
}

impl ObjectReader {
    pub(super) fn new(object: Object) -> Self {
        Self {
            object,
            position: 0,
            end: u64::MAX,
            ready: Bytes::new(),
            asked: VecDeque::new(),
            next: 0,
            request_bytes: FIRST_REQUEST,
            most_requests: 1,
        }
    }

    /// Requests no byte from `end` on.
    pub(crate) fn until(self, end: u64) -> Self {
        Self { end, ..self }
    }

    /// Receives the next bytes; none at the end.
    fn fill(&mut self) -> io::Result<()> {
        let object = self.object.clone();
        let pinned = object.pinned()?;
        let end = self.end.min(pinned.meta.size);
        if self.asked.is_empty() && self.position < end && is_in_tail(self.position, &pinned.meta) {
            return self.fill_from_tail(pinned, end);
        }
        while self.asked.len() < self.most_requests && self.next < end {
            let to = end.min(self.next + self.request_bytes);
            self.asked.push_back(RangeRequest::begin(pinned, self.next..to)?);
            self.next = to;
            self.request_bytes = LARGEST_REQUEST.min(2 * self.request_bytes);
        }
        self.most_requests = MAX_REQUESTS.min(self.most_requests + 1);
        if let Some(first) = self.asked.pop_front() {
            self.ready = first.answer()?;
        }
        Ok(())
    }

    fn fill_from_tail(&mut self, pinned: &Pinned, end: u64) -> io::Result<()> {
        let start = pinned.meta.size.saturating_sub(TAIL_BYTES);
        let tail = if let Some(tail) = pinned.tail.get() {
            tail
        } else {
            let tail = RangeRequest::begin(pinned, start..pinned.meta.size)?.answer()?;
            pinned.tail.get_or_init(|| tail)
        };
        self.ready = tail.slice((self.position - start) as usize..(end - start) as usize);
        self.next = end;
        Ok(())
    }
}

impl Read for ObjectReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.ready.is_empty() && !bytes.is_empty() {
            self.fill()?;
        }
        let read = bytes.len().min(self.ready.len());
        self.ready.copy_to_slice(&mut bytes[..read]);
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for ObjectReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let from = |location: u64, by: i64| location.checked_add_signed(by);
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) => from(self.position, by),
            SeekFrom::End(by) => from(self.object.pinned()?.meta.size, by),
        };
        let position = position.ok_or(io::ErrorKind::InvalidInput)?;
        if position != self.position {
            let object = self.object.clone();
            *self = Self { position, next: position, end: self.end, ..Self::new(object) };
        }
        Ok(position)
    }
}

/// A request in flight, aborted when dropped.
struct RangeRequest(JoinHandle<io::Result<Bytes>>);

impl RangeRequest {
    fn begin(pinned: &Pinned, range: Range<u64>) -> io::Result<Self> {
        let (location, meta) = (pinned.location.clone(), pinned.meta.clone());
        Ok(Self(runtime()?.spawn(get(location, meta, range))))
    }

    fn answer(mut self) -> io::Result<Bytes> {
        runtime()?.block_on(&mut self.0).map_err(io::Error::other)?
    }
}

impl Drop for RangeRequest {
    fn drop(&mut self) {
        self.0.abort();
    }
}

const fn is_in_tail(position: u64, meta: &ObjectMeta) -> bool {
    position >= meta.size.saturating_sub(TAIL_BYTES)
}

/// Fails if the object no longer matches `meta`.
async fn get(location: ObjectLocation, meta: ObjectMeta, range: Range<u64>) -> io::Result<Bytes> {
    // A weak name is equal for contents that are not.
    let if_match = meta.e_tag.clone().filter(|etag| !etag.starts_with("W/"));
    let if_unmodified_since = if_match.is_none().then_some(meta.last_modified);
    let wanted = range.end - range.start;
    let range = Some(GetRange::Bounded(range));
    let options = GetOptions { if_match, if_unmodified_since, range, ..GetOptions::default() };
    let refused = |error: object_store::Error| refused(location.kind, &error);
    let found = location.store.transfer.get_opts(&location.key, options).await.map_err(refused)?;
    // Some stores do not look at conditions.
    let is_same = (found.meta.size, &found.meta.e_tag) == (meta.size, &meta.e_tag)
        && found.meta.last_modified == meta.last_modified;
    if !is_same {
        return Err(changed());
    }
    let bytes = found.bytes().await.map_err(refused)?;
    if bytes.len() as u64 != wanted {
        let cut_off = format!(
            "the store sent {} where {wanted} were asked for",
            quantity(bytes.len(), "byte")
        );
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, cut_off));
    }
    Ok(bytes)
}
