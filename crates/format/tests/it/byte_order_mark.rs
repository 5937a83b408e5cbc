//! Byte order marks at the start of a text and where texts were joined.

use kyokumen_format::{Fill, Format, Reader, Record, chunks, encode};
use kyokumen_testing::games::random_game;

const MARK: &str = "\u{feff}";

fn texts() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| format.is_text() && format.is_written())
}

fn read(format: Format, file: &[u8]) -> Vec<Record> {
    Reader::new(format, file).records().map(|record| record.unwrap()).collect()
}

/// A file with its header and two records.
fn file(format: Format) -> Vec<u8> {
    let mut out = format.header().to_vec();
    let fill: Fill = "eval=0,result=draw".parse().unwrap();
    let game = random_game(3);
    for record in game.records().into_iter().take(2) {
        let append = |out: &mut Vec<u8>| encode(format, &record.unwrap(), &fill, out);
        format.append_chunk(&mut out, append).unwrap();
    }
    out
}

#[test]
fn a_byte_order_mark_changes_nothing() {
    for format in texts() {
        let file = file(format);
        let records = read(format, &file);
        assert_eq!(records.len(), 2, "{format}");
        let marked = [MARK.as_bytes(), &file].concat();
        assert_eq!(read(format, &marked), records, "{format}");
        let without_header = [MARK.as_bytes(), &file[format.header().len()..]].concat();
        assert_eq!(read(format, &without_header), records, "{format}");
        let joined = [&marked[..], &marked].concat();
        assert_eq!(read(format, &joined), [&records[..], &records].concat(), "{format}");
        let twice = [MARK.as_bytes(), &marked].concat();
        assert_eq!(read(format, &twice), records, "{format}");
    }
}

/// Text that was converted twice has two carriage returns at line ends.
#[test]
fn carriage_returns_at_the_ends_of_lines_change_nothing() {
    for format in texts() {
        let file = file(format);
        let records = read(format, &file);
        for end in [&b"\r\n"[..], b"\r\r\n"] {
            let lines: Vec<&[u8]> = file.split(|byte| *byte == b'\n').collect();
            assert_eq!(read(format, &lines.join(end)), records, "{format}");
        }
    }
}

#[test]
fn carriage_returns_as_the_only_line_ends_are_an_error() {
    for format in texts().filter(|format| format.is_kif() || *format == Format::Csa) {
        let file: Vec<u8> =
            file(format).iter().map(|byte| if *byte == b'\n' { b'\r' } else { *byte }).collect();
        let errors: Vec<String> = Reader::new(format, &file[..])
            .records()
            .map(|record| record.unwrap_err().to_string())
            .collect();
        assert!(errors[0].contains("LF or CRLF") && errors[0].contains("CR alone"), "{errors:?}");
    }
}

/// Copies of KIF games have separating lines of their format, so KIF is excluded.
#[test]
fn copies_have_no_byte_order_mark() {
    for format in texts().filter(|format| !format.is_kif()) {
        let marked = [MARK.as_bytes(), &file(format)].concat();
        let joined = [&marked[..], &marked].concat();
        let mut out = Vec::new();
        for chunk in chunks(format, &joined) {
            format.copy_chunk(format.without_header(chunk), &mut out);
        }
        assert!(!String::from_utf8(out).unwrap().contains(MARK), "{format}");
    }
}
