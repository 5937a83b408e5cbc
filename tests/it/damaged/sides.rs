//! Every chunk of an input is either converted or written to a quarantine file.

use std::collections::BTreeSet;

use kyokumen::format::{Format, count};

/// Checks that the quarantined and the kept chunks, in order, make up the input. The moves of a game before an error
/// are among the kept chunks.
pub(super) fn check_sides(
    format: Format,
    content: &[u8],
    bad: &BTreeSet<usize>,
    kept: &[u8],
    quarantined: &[u8],
) {
    let mut kept = kept.strip_prefix(format.header()).expect("the header");
    let mut quarantined = quarantined;
    let mut rest = content;
    let mut at = 0;
    while let Some(end) = format.chunk_end(rest, true).filter(|_| !rest.is_empty()) {
        let chunk = &rest[..end];
        let is_group = format.is_text() && !format.is_lines();
        let is_counted = !is_group || count(format, chunk) > 0 || is_comment(format, chunk);
        assert!(is_counted, "the chunk at byte {at} is neither a record nor a comment");
        if bad.contains(&at) {
            quarantined = quarantined.strip_prefix(chunk).unwrap_or_else(|| {
                panic!("the chunk at byte {at} is not in the quarantine unchanged");
            });
        } else {
            kept = rest_after(format, chunk, kept, at);
        }
        at += end;
        rest = &rest[end..];
    }
    assert!(quarantined.is_empty(), "{} extra bytes in the quarantine", quarantined.len());
    if format.has_single_records() {
        assert!(kept.is_empty(), "{} extra bytes in the output", kept.len());
    }
}

/// Whether each line of a chunk is blank or a comment. For CSA also a separator, for JKF also punctuation of an array.
fn is_comment(format: Format, chunk: &[u8]) -> bool {
    let text = match str::from_utf8(chunk) {
        Ok(text) => text.into(),
        Err(_) => encoding_rs::SHIFT_JIS.decode_without_bom_handling(chunk).0,
    };
    let signs: &[&str] = match format {
        Format::Csa => &["'"],
        Format::Db => &["#", "//"],
        Format::Jkf | Format::Plain => &[],
        _ => &["#", "*", "&", "＃", "＊", "＆"],
    };
    text.lines().all(|line| {
        let is_space = |c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}');
        let line = line.trim_matches(is_space);
        let is_sign = signs.iter().any(|sign| line.starts_with(sign));
        line.is_empty()
            || is_sign
            || (format == Format::Csa && line == "/")
            || (format == Format::Jkf && line.bytes().all(|byte| b"[], \t".contains(&byte)))
    })
}

/// The game in a chunk, without separators and the punctuation of an array.
fn game_of(format: Format, chunk: &[u8]) -> &[u8] {
    let is_around = |byte: &u8| byte.is_ascii_whitespace() || b"[],".contains(byte);
    let first = chunk.iter().position(|byte| !is_around(byte)).unwrap_or(chunk.len());
    match format {
        Format::Jkf => {
            let last = chunk.iter().rposition(|byte| !is_around(byte)).map_or(first, |at| at + 1);
            &chunk[first..last]
        }
        Format::Csa => {
            let mut game = chunk.trim_ascii();
            while let Some(rest) = game.strip_prefix(format.separator().trim_ascii()) {
                game = rest.trim_ascii();
            }
            game
        }
        _ => chunk,
    }
}

/// Whether a chunk has the encoding and the line ends of its format. Other text is transcoded; the tests of the
/// format check how.
pub(super) fn is_copied(format: Format, chunk: &[u8]) -> bool {
    // Byte order marks are not copied.
    if format.is_text() && is_in(chunk, "\u{feff}") {
        return false;
    }
    match format {
        Format::Kif | Format::Ki2 => {
            let (text, is_broken) = encoding_rs::SHIFT_JIS.decode_without_bom_handling(chunk);
            let is_ki2 = text.contains(['▲', '△']);
            let is_other = if format == Format::Ki2 { has_numbers(&text) } else { is_ki2 };
            !chunk.contains(&b'\r') && !is_broken && !is_other
        }
        // Moves in KI2 notation are rewritten in KIF notation.
        Format::Kifu if is_in(chunk, "▲") || is_in(chunk, "△") => false,
        Format::Kifu | Format::Ki2u | Format::Bod => str::from_utf8(chunk).is_ok_and(|text| {
            !text.contains('\r') && (format != Format::Ki2u || !has_numbers(text))
        }),
        Format::Csa | Format::Jkf => str::from_utf8(chunk).is_ok(),
        _ => true,
    }
}

/// Whether a line begins with a number, like a move of KIF, which is written in KI2 in words. The line of file numbers
/// above a diagram has only digits and spaces.
fn has_numbers(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim();
        let is_digit = |c: char| c.is_ascii_digit() || ('０'..='９').contains(&c);
        line.starts_with(is_digit) && !line.chars().all(|c| is_digit(c) || c.is_whitespace())
    })
}

fn is_in(chunk: &[u8], text: &str) -> bool {
    memchr::memmem::find(chunk, text.as_bytes()).is_some()
}

/// Finds a chunk in the kept bytes and returns the bytes after it.
fn rest_after<'a>(format: Format, chunk: &[u8], kept: &'a [u8], at: usize) -> &'a [u8] {
    let mut transcoded = Vec::new();
    let chunk = if is_copied(format, chunk) {
        chunk
    } else {
        format.write_chunk(chunk, &mut transcoded).unwrap();
        &transcoded
    };
    let text = chunk.strip_prefix("\u{feff}".as_bytes()).unwrap_or(chunk).trim_ascii();
    if text.is_empty() || (format.is_lines() && text.starts_with(b"#")) {
        return kept.strip_prefix(chunk).unwrap_or(kept);
    }
    if !format.has_single_records() {
        // Headers, comments and empty lines may be dropped.
        let body = if format == Format::Db { return kept } else { game_of(format, chunk) };
        if body.is_empty() {
            return kept;
        }
        let found = memchr::memmem::find(kept, body);
        let found = found
            .unwrap_or_else(|| panic!("{format}: the game at byte {at} is not kept unchanged"));
        return &kept[found + body.len()..];
    }
    // A line may have been inserted before a diagram to separate it from the previous one: the second of these lines if
    // the diagram lacks White's pieces in hand or their line is damaged.
    let before = if format == Format::Bod {
        &["手合割：その他\n", "後手の持駒：なし\n"][..]
    } else {
        &[]
    };
    let after_line = |line: &&str| kept.strip_prefix(line.as_bytes())?.strip_prefix(chunk);
    let rest = kept.strip_prefix(chunk).or_else(|| before.iter().find_map(after_line));
    let rest = rest.unwrap_or_else(|| panic!("the record at byte {at} is not kept unchanged"));
    // The last line may have been completed with a line end.
    if format.record_len().is_none() && !chunk.ends_with(b"\n") {
        &rest[rest.len().min(1)..]
    } else {
        rest
    }
}
