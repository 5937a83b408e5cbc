//! Input ranges: reading from any record yields the same bytes as reading the whole file.

use std::fs;
use std::io::Write;
use std::path::Path;

use kyokumen::ErrorKind;
use kyokumen::format::Format;
use kyokumen::records::format_name::FormatName;
use kyokumen::records::source::{
    Input, InputRange, OffsetTable, SeekPoint, Source, count_records, has_random_access,
};
use tempfile::TempDir;
use zeekstd::{EncodeOptions, FrameSizePolicy};

use crate::archive::{encoded, records};

fn input(path: &Path, format: Format) -> Input {
    Input::named(path, FormatName::plain(format))
}

/// Reads the bytes of an input range.
fn read(range: InputRange) -> Vec<u8> {
    let (from, to) = (range.from, range.to);
    let mut bytes = Vec::new();
    let mut records = 0;
    for block in Source::new(vec![range], 100) {
        let block = block.unwrap();
        bytes.extend_from_slice(block.bytes());
        records = block.read().records;
    }
    assert_eq!(Some(records), to.map(|to| to - from));
    bytes
}

fn seekable(bytes: &[u8], frame_bytes: u32) -> Vec<u8> {
    let mut packed = Vec::new();
    let options =
        EncodeOptions::new().frame_size_policy(FrameSizePolicy::Uncompressed(frame_bytes));
    let mut encoder = options.into_encoder(&mut packed).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap();
    packed
}

#[test]
fn a_seekable_file_is_read_from_any_record() {
    let folder = TempDir::new().unwrap();
    let bytes: Vec<u8> =
        records(1000, 3).iter().flat_map(|record| encoded(Format::Psv, record)).collect();
    let path = folder.path().join("a.psv.zst");
    // Frames that end within records.
    fs::write(&path, seekable(&bytes, 777)).unwrap();
    let input = input(&path, Format::Psv);
    assert!(has_random_access(&input));
    assert_eq!(count_records(&input).unwrap(), 1000);
    for (from, to) in [(0, 1000), (0, 1), (999, 1000), (19, 20), (20, 400), (1000, 1000)] {
        let range = InputRange::range(input.clone(), from, Some(to));
        let expected = &bytes[from as usize * 40..to as usize * 40];
        assert!(read(range) == expected, "{from}..{to}");
    }
}

#[test]
fn concatenated_seekable_files_are_read_without_their_tables() {
    let folder = TempDir::new().unwrap();
    let bytes: Vec<u8> =
        records(300, 4).iter().flat_map(|record| encoded(Format::Hcp, record)).collect();
    let path = folder.path().join("a.hcp.zst");
    let (first, second) = bytes.split_at(100 * 32);
    fs::write(&path, [seekable(first, 999), seekable(second, 999)].concat()).unwrap();
    let input = input(&path, Format::Hcp);
    assert!(!has_random_access(&input));
    assert_eq!(count_records(&input).unwrap(), 300);
    let range = InputRange::range(input, 90, Some(250));
    assert!(read(range) == bytes[90 * 32..250 * 32]);
}

#[test]
fn an_offset_table_finds_the_lines_of_a_text() {
    let folder = TempDir::new().unwrap();
    let lines: Vec<Vec<u8>> =
        records(500, 5).iter().map(|record| encoded(Format::Sfen, record)).collect();
    let lines: Vec<&[u8]> = lines.iter().cycle().take(120_000).map(Vec::as_slice).collect();
    let text = lines.concat();
    let plain = folder.path().join("a.sfen");
    fs::write(&plain, &text).unwrap();
    let packed = folder.path().join("a.sfen.zst");
    fs::write(&packed, seekable(&text, 1 << 20)).unwrap();
    for path in [plain, packed] {
        let input = input(&path, Format::Sfen);
        let table = OffsetTable::build(&input).unwrap();
        assert_eq!(table.records, 120_000);
        let saved = folder.path().join("kept.json");
        table.save(&saved).unwrap();
        assert_eq!(OffsetTable::load(&saved, &input), Some(table.clone()));
        for from in [0, 1, 50_000, 119_999] {
            let mark = table.mark_before(from);
            assert_eq!(mark == SeekPoint::default(), from < 2, "{mark:?}");
            let range =
                InputRange { mark, ..InputRange::range(input.clone(), from, Some(from + 1)) };
            assert!(read(range) == lines[from as usize], "{from}");
        }
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b" ").unwrap();
        assert_eq!(OffsetTable::load(&saved, &input), None, "the file has changed");
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_error() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.hcp");
    fs::write(&path, vec![0; 32 * 1000]).unwrap();
    let mut source = Source::new(vec![InputRange::whole(input(&path, Format::Hcp))], 100);
    assert!(matches!(source.next(), Some(Ok(_))));
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(32 * 150).unwrap();
    let error = source.find_map(Result::err).expect("an error");
    assert!(matches!(error.kind(), ErrorKind::Changed), "{error}");
    assert!(path.ends_with(error.file().unwrap()), "{error}");
}
