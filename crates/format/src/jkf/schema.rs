//! Objects of the json-kifu-format schema.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::super::text_encoding::without_zeros;

/// A game, for reading. Its moves are parsed one by one later, so that errors have a byte offset.
#[derive(Deserialize)]
pub(super) struct GameObject<'a> {
    #[serde(borrow, default)]
    pub(super) header: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) initial: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) moves: Vec<&'a RawValue>,
}

/// An element of `moves`, for reading.
#[derive(Deserialize)]
pub(super) struct EntryObject<'a> {
    #[serde(borrow)]
    pub(super) comments: Option<&'a RawValue>,
    /// The schema allows it only in the first element.
    #[serde(borrow)]
    pub(super) comment: Option<&'a RawValue>,
    #[serde(rename = "move")]
    pub(super) best_move: Option<MoveObject>,
    #[serde(borrow)]
    pub(super) time: Option<&'a RawValue>,
    pub(super) special: Option<String>,
    #[serde(borrow)]
    pub(super) forks: Option<Vec<Vec<&'a RawValue>>>,
}

#[derive(Deserialize)]
pub(super) struct MoveObject {
    pub(super) color: Option<u8>,
    pub(super) from: Option<Place>,
    pub(super) to: Option<Place>,
    pub(super) piece: Option<String>,
    pub(super) same: Option<bool>,
    pub(super) promote: Option<bool>,
    pub(super) capture: Option<String>,
    pub(super) relative: Option<String>,
}

/// The text of a header entry or a comment. Some programs write numbers or booleans. `None` for other values.
pub(super) fn text_of(value: &RawValue) -> Option<Cow<'_, str>> {
    let json = value.get();
    match json.as_bytes().first()? {
        b'"' => serde_json::from_str(json).ok().map(Cow::Owned).map(without_zeros),
        b'{' | b'[' => None,
        _ => Some(Cow::Borrowed(json)),
    }
}

pub(super) fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

#[derive(Deserialize)]
struct TimeObject {
    now: Option<Duration>,
}

/// The time of an element in milliseconds. `None` if the element has no time.
///
/// # Errors
/// `Err` if the value is not a time.
pub(super) fn elapsed_ms(value: &RawValue) -> Result<Option<u64>, ()> {
    let time: Option<TimeObject> = serde_json::from_str(value.get()).map_err(|_| ())?;
    match time.and_then(|time| time.now) {
        Some(Duration { h: None, m: None, s: None }) | None => Ok(None),
        Some(now) => now.milliseconds().map(Some).ok_or(()),
    }
}

#[derive(Deserialize)]
struct Duration {
    h: Option<f64>,
    m: Option<f64>,
    s: Option<f64>,
}

impl Duration {
    fn milliseconds(&self) -> Option<u64> {
        let [hours, minutes, seconds] = [self.h, self.m, self.s].map(Option::unwrap_or_default);
        let elapsed = ((hours * 60.0 + minutes) * 60.0 + seconds) * 1000.0;
        let is_time = (0.0..1e15).contains(&elapsed) && (self.m.is_some() || self.s.is_some());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked above"
        )]
        is_time.then_some(elapsed.round() as u64)
    }
}

#[derive(Serialize, Deserialize, Clone, Copy)]
pub(super) struct Place {
    pub(super) x: u8,
    pub(super) y: u8,
}

/// The start position, for reading.
#[derive(Deserialize)]
pub(super) struct InitialObject {
    pub(super) preset: String,
    pub(super) data: Option<StateObject>,
}

#[derive(Deserialize)]
pub(super) struct StateObject {
    pub(super) color: Option<u8>,
    pub(super) board: Vec<Vec<Option<SquareObject>>>,
    pub(super) hands: Option<Vec<serde_json::Map<String, serde_json::Value>>>,
}

#[derive(Serialize, Deserialize, Clone, Default)]
pub(super) struct SquareObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) color: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<Cow<'static, str>>,
}

/// An element of `moves`, for writing.
#[derive(Serialize, Default)]
pub(super) struct Entry {
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    pub(super) best_move: Option<MoveEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) special: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) time: Option<TimeEntry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) comments: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) forks: Vec<Vec<Entry>>,
}

#[derive(Serialize)]
pub(super) struct MoveEntry {
    pub(super) color: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<Place>,
    pub(super) to: Place,
    pub(super) piece: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) same: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) promote: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) capture: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) relative: Option<String>,
}

#[derive(Serialize)]
pub(super) struct TimeEntry {
    pub(super) now: NowEntry,
    pub(super) total: TotalEntry,
}

#[derive(Serialize)]
pub(super) struct NowEntry {
    m: u64,
    s: u64,
}

#[derive(Serialize)]
pub(super) struct TotalEntry {
    h: u64,
    m: u64,
    s: u64,
}

impl TimeEntry {
    pub(super) const fn new(elapsed_ms: u64, total_ms: u64) -> Self {
        let (now, total) = (elapsed_ms / 1000, total_ms / 1000);
        Self {
            now: NowEntry { m: now / 60, s: now % 60 },
            total: TotalEntry { h: total / 3600, m: total / 60 % 60, s: total % 60 },
        }
    }
}
