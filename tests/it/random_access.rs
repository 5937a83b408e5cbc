//! Random access to the records of archives, compared with reading from the start.

use std::fs;

use flate2::write::GzEncoder;
use kyokumen::ErrorKind;
use kyokumen::format::{Format, RecordRef};
use kyokumen::records::archive::Archive;
use serde_json::Value;
use tempfile::TempDir;

use crate::archive::{encoded, records, write};
use crate::harness::Dir;
use kyokumen_testing::positions::Random;

const RECORDS: usize = 1000;

fn encoded_records(format: Format) -> Vec<Vec<u8>> {
    records(RECORDS, 3).iter().map(|record| encoded(format, record)).collect()
}

/// Checks records and ranges of an archive, in random order, against the expected bytes.
fn check(archive: &Archive, expected: &[Vec<u8>], format: Format) {
    assert_eq!((archive.len(), archive.is_empty()), (expected.len() as u64, expected.is_empty()));
    let mut random = Random::new(1);
    for _ in 0..2 * expected.len() {
        let index = random.below(expected.len());
        let record = archive.get(index as u64).unwrap().unwrap();
        assert_eq!(record.bytes(), expected[index]);
        let own = RecordRef::new(format, &expected[index]).unwrap();
        assert_eq!(record.read().unwrap().setup(), own.setup());
        let end = index + random.below(300);
        let slice = archive.slice(index as u64..end as u64).unwrap();
        assert_eq!(*slice, *expected[index..end.min(expected.len())].concat());
    }
    assert!(archive.get(expected.len() as u64).unwrap().is_none());
    assert!(archive.get(u64::MAX).unwrap().is_none());
    assert!(archive.slice(5..5).unwrap().is_empty());
}

#[test]
fn records_equal_the_bytes_of_the_file() {
    let folder = TempDir::new().unwrap();
    for format in [Format::Hcp, Format::Hcpe, Format::Psv] {
        let expected = encoded_records(format);
        let path = write(folder.path(), &format!("a.{format}"), &expected.concat());
        check(&Archive::open(&path).unwrap(), &expected, format);
        let path = write(folder.path(), &format!("empty.{format}"), b"");
        let archive = Archive::open(&path).unwrap();
        assert!(archive.is_empty() && archive.get(0).unwrap().is_none());
    }
}

#[test]
fn a_seekable_zstd_file_has_random_access() {
    let folder = TempDir::new().unwrap();
    let expected = encoded_records(Format::Psv);
    write(folder.path(), "a.psv", &expected.concat());
    // Frames of 7,000 bytes end within records.
    let mut seekable = Vec::new();
    let options = zeekstd::EncodeOptions::new()
        .frame_size_policy(zeekstd::FrameSizePolicy::Uncompressed(7000));
    let mut encoder = options.into_encoder(&mut seekable).unwrap();
    std::io::Write::write_all(&mut encoder, &expected.concat()).unwrap();
    encoder.finish().unwrap();
    let path = write(folder.path(), "b.psv.zst", &seekable);
    check(&Archive::open(&path).unwrap(), &expected, Format::Psv);

    // A wrong frame size in the table is detected, even in files without checksums of frames.
    let at = seekable.len() - 9 - 8;
    let (mut wrong, size_offset) = (seekable.clone(), 4);
    wrong[at + size_offset] ^= 1;
    let path = write(folder.path(), "c.psv.zst", &wrong);
    let archive = Archive::open(&path).unwrap();
    let error = archive.get(archive.len() - 1).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io), "{error}");
}

#[test]
fn files_without_random_access_are_refused() {
    let folder = TempDir::new().unwrap();
    let bytes = encoded_records(Format::Psv).concat();
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &bytes).unwrap();
    let open =
        |name: &str, bytes: &[u8]| Archive::open(&write(folder.path(), name, bytes)).unwrap_err();
    let error = open("a.psv.gz", &gzip.finish().unwrap());
    assert!(matches!(error.kind(), ErrorKind::NoRandomAccess), "{error}");
    let error = open("b.psv.zst", &zstd::encode_all(&*bytes, 1).unwrap());
    assert!(matches!(error.kind(), ErrorKind::NoRandomAccess), "{error}");
    let error = open("a.sfen", b"4k4/9/9/9/9/9/9/9/4K4 b - 1\n");
    assert!(
        error
            .to_string()
            .contains("sfen has variable-length records, so random access is not supported"),
        "{error}"
    );
    let error = Archive::open(&folder.path().join("none.psv")).unwrap_err();
    assert!(error.is_not_found(), "{error}");
}

#[test]
fn truncated_and_shrinking_files_are_errors() {
    let folder = TempDir::new().unwrap();
    let expected = encoded_records(Format::Psv).concat();
    let path = write(folder.path(), "a.psv", &expected[..expected.len() - 1]);
    let archive = Archive::open(&path).unwrap();
    assert!(archive.is_cut_off());
    let last = archive.get(archive.len() - 1).unwrap().unwrap();
    assert_eq!(last.bytes().len(), 39);
    assert!(last.read().is_err());

    // The file shrinks while it is open: the remaining records can be read, the others are errors. On Windows a mapped
    // file cannot shrink.
    if cfg!(windows) {
        return;
    }
    fs::File::options().write(true).open(&path).unwrap().set_len(40 * 500).unwrap();
    assert!(archive.get(499).unwrap().is_some());
    let error = archive.get(500).unwrap_err();
    assert!(matches!((error.kind(), error.offset()), (ErrorKind::Io, Some(20_000))), "{error}");
}

fn sample(dir: &Dir, input: &str, output: &str, count: &str) -> Value {
    let words = ["sample", input, "-o", output, "--count", count, "--seed", "4", "--threads", "2"];
    dir.kyokumen(words).succeeds();
    dir.json(format!("{output}.manifest.json"))
}

/// If the table stated a frame as too small, all later records would be shifted. Therefore `sample` reads a compressed
/// file completely.
#[test]
fn a_sample_ignores_the_table_of_a_compressed_file() {
    let dir = Dir::new();
    // Hardly compressible, so the file is large enough that seeking to one record would pay.
    let bytes = encoded_records(Format::Psv).concat().repeat(40);
    dir.write("a.psv", &bytes);
    let mut seekable = Vec::new();
    let options = zeekstd::EncodeOptions::new()
        .frame_size_policy(zeekstd::FrameSizePolicy::Uncompressed(7000));
    let mut encoder = options.into_encoder(&mut seekable).unwrap();
    std::io::Write::write_all(&mut encoder, &bytes).unwrap();
    encoder.finish().unwrap();
    assert!(seekable.len() > 1 << 17);
    // The size of the first frame follows the header of the table and the compressed size of the frame.
    let frames = u32::from_le_bytes(*seekable[..seekable.len() - 5].last_chunk().unwrap());
    let table = seekable.len() - 9 - 8 * frames as usize;
    assert_eq!(seekable[table + 4..table + 8], 7000_u32.to_le_bytes());
    // One record less.
    seekable[table + 4] -= 40;
    dir.write("b.psv.zst", &seekable);
    let plain = sample(&dir, "a.psv", "plain.psv", "1");
    let wrong = sample(&dir, "b.psv.zst", "lying.psv.zst", "1");
    assert_eq!(plain["counts"], wrong["counts"]);
    let written = zstd::decode_all(&*dir.read("lying.psv.zst")).unwrap();
    assert!(dir.read("plain.psv") == written);
}

/// A small sample of an uncompressed file is taken by seeking. It equals the sample of a gzip file, which is read
/// completely.
#[test]
fn a_small_sample_equals_the_sample_of_a_full_read() {
    let dir = Dir::new();
    let bytes = encoded_records(Format::Psv).concat().repeat(40);
    dir.write("a.psv", &bytes);
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &bytes).unwrap();
    dir.write("a.psv.gz", gzip.finish().unwrap());
    for count in ["0", "1", "9"] {
        let few = sample(&dir, "a.psv", &format!("few{count}.psv"), count);
        let all = sample(&dir, "a.psv.gz", &format!("all{count}.psv"), count);
        assert_eq!(few["counts"], all["counts"]);
        assert_eq!(few["outputs"][0]["sha256"], all["outputs"][0]["sha256"]);
        assert_eq!(few["counts"]["written"].to_string(), count);
        // A file that is not read completely has no checksum.
        assert!(few["inputs"][0]["sha256"].is_null() && all["inputs"][0]["sha256"].is_string());
    }
    // For a large sample the whole file is read, so it has a checksum.
    assert!(sample(&dir, "a.psv", "many.psv", "100")["inputs"][0]["sha256"].is_string());
}
