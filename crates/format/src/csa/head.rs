//! The header of a CSA game: names (`N+`, `N-`) and other entries (`$KEY:value`).
//!
//! See sections 2.3 and 2.4 of the standard. Entries without a [`HeaderKey`] keep the keys that other programs use in
//! KIF files.

use super::super::lines::decode;
use super::codes::put_line;
use crate::game_info::{Header, HeaderKey, HeldHeaders};

/// CSA keywords of the [`HeaderKey`]s, in the order in which they are written.
const KEYS: [(HeaderKey, &str); 8] = [
    (HeaderKey::Black, "N+"),
    (HeaderKey::White, "N-"),
    (HeaderKey::Event, "$EVENT:"),
    (HeaderKey::Site, "$SITE:"),
    (HeaderKey::StartTime, "$START_TIME:"),
    (HeaderKey::EndTime, "$END_TIME:"),
    (HeaderKey::TimeLimit, "$TIME_LIMIT:"),
    (HeaderKey::Opening, "$OPENING:"),
];

/// Entries of V3.0 with their keys in KIF files.
const OTHER_KEYS: [(&str, &str); 5] = [
    ("先手持ち時間", "TIME+"),
    ("後手持ち時間", "TIME-"),
    ("最大手数", "MAX_MOVES"),
    ("持将棋", "JISHOGI"),
    ("備考", "NOTE"),
];

/// The V3.0 entry for time limits. Its value is in seconds, in another form than the value of `$TIME_LIMIT`.
const TIME: &str = "$TIME:";

/// The title, an entry of KIF files for which CSA has no keyword. 作品名 is the title of a problem.
const TITLES: [&str; 2] = ["表題", "作品名"];

/// Parses a line as a header entry. Returns `false` if it is not an entry. Drops empty values.
pub(super) fn take(statement: &[u8], headers: &mut Vec<Header>) -> bool {
    let Some(header) = parse(statement) else { return false };
    headers.extend(Some(header).filter(|header| !header.value.is_empty()));
    true
}

fn parse(statement: &[u8]) -> Option<Header> {
    let text = decode(statement);
    let header = |key: HeaderKey, value: &str| Some(Header { key, value: value.trim().to_owned() });
    for (key, prefix) in KEYS {
        if let Some(value) = text.strip_prefix(prefix) {
            return header(key, value);
        }
    }
    if let Some(value) = text.strip_prefix(TIME) {
        return header(HeaderKey::TimeLimit, value);
    }
    let (key, value) = text.strip_prefix('$')?.split_once(':')?;
    let known = OTHER_KEYS.into_iter().find_map(|(name, own)| (own == key).then_some(name));
    header(HeaderKey::Other(known.unwrap_or(key).to_owned()), value)
}

/// Whether an entry is written: CSA has a keyword for its key, or the key is a valid keyword. Each keyword is written
/// once.
pub(super) fn holds<'a>(key: &'a HeaderKey, held: &mut HeldHeaders<'a>) -> bool {
    keyword(key, held.has_event).is_some_and(|keyword| held.is_first(keyword))
}

/// The keyword of an entry. The title is written as the event if there is no event, as other programs do.
fn keyword(key: &HeaderKey, has_event: bool) -> Option<&str> {
    let of_key = |key: &HeaderKey| {
        KEYS.iter().find_map(|(known, keyword)| (known == key).then_some(*keyword))
    };
    match key {
        HeaderKey::Other(name) if TITLES.contains(&&**name) => {
            of_key(&HeaderKey::Event).filter(|_| !has_event)
        }
        HeaderKey::Other(name) => own_key(name),
        key => of_key(key),
    }
}

/// The keyword of an entry without a [`HeaderKey`]. `None` if it would be read back as another entry.
fn own_key(name: &str) -> Option<&str> {
    let known = OTHER_KEYS.into_iter().find_map(|(key, own)| (key == name).then_some(own));
    let is_own = |byte: u8| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'+' | b'-');
    let is_taken = |name: &str| {
        let is_of =
            |keyword: &str| keyword.strip_prefix('$').is_some_and(|own| own == format!("{name}:"));
        is_of(TIME) || KEYS.iter().any(|(_, keyword)| is_of(keyword))
    };
    known.or_else(|| {
        let is_key = !name.is_empty() && name.bytes().all(is_own) && !is_taken(name);
        is_key.then_some(name)
    })
}

/// Writes the entries that the format [`holds`], beginning with the keys in [`KEYS`].
pub(super) fn write(headers: &[Header], out: &mut Vec<u8>) {
    let mut put = |prefix: &str, value: &str| {
        let value = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        put_line(out, [prefix, &value].concat().as_bytes());
    };
    let mut held = HeldHeaders::new(headers);
    let has_event = held.has_event;
    let (mut known, mut others) = ([None; KEYS.len()], Vec::new());
    for header in headers.iter().filter(|header| holds(&header.key, &mut held)) {
        let Some(keyword) = keyword(&header.key, has_event) else { continue };
        match KEYS.iter().position(|(_, known)| *known == keyword) {
            Some(place) => known[place] = Some(&header.value),
            None => others.push((keyword, &header.value)),
        }
    }
    for ((key, prefix), value) in KEYS.iter().zip(known) {
        match (key, value) {
            (_, None) => {}
            (HeaderKey::TimeLimit, Some(value)) if is_in_seconds(value) => put(TIME, value),
            (HeaderKey::StartTime | HeaderKey::EndTime, Some(value)) => {
                put(prefix, &without_weekday(value));
            }
            (_, Some(value)) => put(prefix, value),
        }
    }
    for (keyword, value) in others {
        put(&format!("${keyword}:"), value);
    }
}

/// Whether a time limit has the form of V3.0: three numbers of seconds.
fn is_in_seconds(value: &str) -> bool {
    let is_number = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    value.split('+').count() == 3 && value.split('+').all(is_number)
}

/// A date and time without the day of the week that KIF files may have: `2026/11/25(水) 10:00:00`.
fn without_weekday(value: &str) -> String {
    let date = value.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'/').count();
    let (date, rest) = value.split_at(date);
    let after_weekday =
        rest.strip_prefix(['(', '（']).and_then(|rest| rest.split_once([')', '）']));
    match after_weekday {
        Some((_, time)) if !date.is_empty() => [date, time].concat(),
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_and_written() {
        let lines = "N+A\nN-B, C\n$EVENT:x:y\n$START_TIME:2026/11/25 10:00:00\n$TIME:600+10+0\n$MAX_MOVES:320\n$FOO:1\n";
        let mut headers = Vec::new();
        assert!(lines.lines().all(|line| take(line.as_bytes(), &mut headers)));
        assert_eq!(headers[5].key, HeaderKey::Other("最大手数".to_owned()));
        let mut out = Vec::new();
        write(&headers, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), lines);
        assert!(take(b"$EVENT:", &mut headers) && !take(b"$no entry", &mut headers));
        assert_eq!(headers.len(), lines.lines().count());
        let mut held = HeldHeaders::new(&headers);
        assert!(headers.iter().all(|header| holds(&header.key, &mut held)));
        for name in ["作者", "EVENT", "TIME"] {
            let key = HeaderKey::Other(name.to_owned());
            assert!(!holds(&key, &mut HeldHeaders::new(&[])), "{name}");
        }
    }

    #[test]
    fn the_title_is_written_as_the_event_if_there_is_no_event() {
        let entry = |key, value: &str| Header { key, value: value.to_owned() };
        let title = HeaderKey::Other(TITLES[0].to_owned());
        let mut headers = vec![entry(title.clone(), "T")];
        for (written, is_held) in [("$EVENT:T\n", true), ("$EVENT:E\n", false)] {
            let mut out = Vec::new();
            write(&headers, &mut out);
            assert_eq!(
                (
                    String::from_utf8(out).unwrap().as_str(),
                    holds(&title, &mut HeldHeaders::new(&headers))
                ),
                (written, is_held)
            );
            headers.push(entry(HeaderKey::Event, "E"));
        }
    }

    #[test]
    fn dates_have_no_day_of_the_week() {
        assert_eq!(without_weekday("1999/07/15(木) 19:07:12"), "1999/07/15 19:07:12");
        assert_eq!(without_weekday("2026/11/25 10:00:00"), "2026/11/25 10:00:00");
        assert_eq!(without_weekday("(木)"), "(木)");
    }
}
