//! Every chunk of an input is either converted or written to a quarantine file.

use std::collections::BTreeSet;

use kyokumen::format::Format;

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
            !chunk.contains(&b'\r') && !is_broken && (format == Format::Ki2 || !is_ki2)
        }
        // Moves in KI2 notation are rewritten in KIF notation.
        Format::Kifu if is_in(chunk, "▲") || is_in(chunk, "△") => false,
        Format::Kifu | Format::Ki2u | Format::Bod => {
            !chunk.contains(&b'\r') && str::from_utf8(chunk).is_ok()
        }
        Format::Csa | Format::Jkf => str::from_utf8(chunk).is_ok(),
        _ => true,
    }
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
    // A line may have been inserted before a diagram to separate it from the previous one.
    let before = match format {
        Format::Bod if is_in(chunk, "後手の持駒") => "手合割：その他\n",
        Format::Bod => "後手の持駒：なし\n",
        _ => "",
    };
    let rest = kept.strip_prefix(chunk);
    let rest = rest.or_else(|| kept.strip_prefix(before.as_bytes())?.strip_prefix(chunk));
    let rest = rest.unwrap_or_else(|| panic!("the record at byte {at} is not kept unchanged"));
    // The last line may have been completed with a line end.
    if format.record_len().is_none() && !chunk.ends_with(b"\n") {
        &rest[rest.len().min(1)..]
    } else {
        rest
    }
}
