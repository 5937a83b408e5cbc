//! Reads an object by ranges and prefetches several of them.
//!
//! Requests grow while reading continues, so reading a few records costs little.

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

/// Bytes of the first and of the largest request. Each request is twice as large as the previous one.
const FIRST_REQUEST: u64 = 1 << 17;
const LARGEST_REQUEST: u64 = 1 << 22;

/// Most requests in flight. The number grows while reading continues.
const MAX_REQUESTS: usize = 4;

/// The last bytes of an object are read in one request and kept. Sampling reads the frame table there again for each
/// position.
const TAIL_BYTES: u64 = 1 << 16;

pub(crate) struct ObjectReader {
    object: Object,
    position: u64,
    /// End of the bytes to request, exclusive.
    end: u64,
    /// Received bytes, starting at `position`.
    ready: Bytes,
    /// Requests in flight, in order.
    in_flight: VecDeque<RangeRequest>,
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
            in_flight: VecDeque::new(),
            next: 0,
            request_bytes: FIRST_REQUEST,
            most_requests: 1,
        }
    }

    /// Limits the reader to the bytes before `end`.
    pub(crate) fn until(self, end: u64) -> Self {
        Self { end, ..self }
    }

    /// Receives the next bytes. Receives none at the end.
    fn fill(&mut self) -> io::Result<()> {
        let object = self.object.clone();
        let pinned = object.pinned()?;
        let end = self.end.min(pinned.meta.size);
        if self.in_flight.is_empty()
            && self.position < end
            && is_in_tail(self.position, &pinned.meta)
        {
            return self.fill_from_tail(pinned, end);
        }
        while self.in_flight.len() < self.most_requests && self.next < end {
            let to = end.min(self.next + self.request_bytes);
            self.in_flight.push_back(RangeRequest::begin(pinned, self.next..to)?);
            self.next = to;
            self.request_bytes = LARGEST_REQUEST.min(2 * self.request_bytes);
        }
        self.most_requests = MAX_REQUESTS.min(self.most_requests + 1);
        if let Some(request) = self.in_flight.pop_front() {
            self.ready = request.receive()?;
        }
        Ok(())
    }

    fn fill_from_tail(&mut self, pinned: &Pinned, end: u64) -> io::Result<()> {
        let start = pinned.meta.size.saturating_sub(TAIL_BYTES);
        let tail = if let Some(tail) = pinned.tail.get() {
            tail
        } else {
            let tail = RangeRequest::begin(pinned, start..pinned.meta.size)?.receive()?;
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
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.object.pinned()?.meta.size.checked_add_signed(by),
        };
        let position = position.ok_or(io::ErrorKind::InvalidInput)?;
        if position != self.position {
            let object = self.object.clone();
            *self = Self { position, next: position, end: self.end, ..Self::new(object) };
        }
        Ok(position)
    }
}

/// A request in flight. Dropping it aborts the request.
struct RangeRequest(JoinHandle<io::Result<Bytes>>);

impl RangeRequest {
    fn begin(pinned: &Pinned, range: Range<u64>) -> io::Result<Self> {
        let (location, meta) = (pinned.location.clone(), pinned.meta.clone());
        Ok(Self(runtime()?.spawn(get(location, meta, range))))
    }

    fn receive(mut self) -> io::Result<Bytes> {
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

/// Reads a range. Fails if the object no longer matches `meta`.
async fn get(location: ObjectLocation, meta: ObjectMeta, range: Range<u64>) -> io::Result<Bytes> {
    // A weak entity tag may be the same for different contents.
    let if_match = meta.e_tag.clone().filter(|etag| !etag.starts_with("W/"));
    let if_unmodified_since = if_match.is_none().then_some(meta.last_modified);
    let requested = range.end - range.start;
    let range = Some(GetRange::Bounded(range));
    let options = GetOptions { if_match, if_unmodified_since, range, ..GetOptions::default() };
    let refused = |error: object_store::Error| refused(location.kind, &error);
    let response =
        location.store.transfer.get_opts(&location.key, options).await.map_err(refused)?;
    // Some stores ignore conditions.
    let is_same = (response.meta.size, &response.meta.e_tag) == (meta.size, &meta.e_tag)
        && response.meta.last_modified == meta.last_modified;
    if !is_same {
        return Err(changed());
    }
    let bytes = response.bytes().await.map_err(refused)?;
    if bytes.len() as u64 != requested {
        let message =
            format!("the store sent {} of {requested} requested", quantity(bytes.len(), "byte"));
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
    }
    Ok(bytes)
}
