//! Wrong seek tables of zstd files and wrong offset tables: they are compared with the data, and no record is lost.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use kyokumen::format::Format;
use kyokumen::jobs::plan::{JobPlan, JobRequest};
use kyokumen::jobs::run_files::RunRequest;
use kyokumen::records::shard::Shard;
use kyokumen::records::shard_choice::ShardChoice;
use kyokumen::records::source::{Input, OffsetTable, Source};
use serde_json::Value;
use snapbox::{assert_data_eq, str};
use tempfile::TempDir;
use zeekstd::{EncodeOptions, FrameSizePolicy};

use crate::archive::{encoded, records, write};
use crate::harness::Dir;

const RECORDS: usize = 320;
const SHARDS: u32 = 3;

/// Bytes of the footer after the sizes of the frames.
const FOOT_BYTES: usize = 9;

fn sequence(format: Format) -> Vec<u8> {
    records(RECORDS, 3).iter().flat_map(|record| encoded(format, record)).collect()
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

/// The offset of the seek table, including the header of its frame.
fn table_start(file: &[u8]) -> usize {
    let at = file.len() - FOOT_BYTES;
    let frames = u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    at - 8 * frames as usize - 8
}

/// Changes the uncompressed size of a frame in the table.
fn change_size(file: &mut [u8], frame: usize, change: impl Fn(u32) -> u32) {
    let at = table_start(file) + 8 + 8 * frame + 4;
    let size = u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    file[at..at + 4].copy_from_slice(&change(size).to_le_bytes());
}

/// Reads all input ranges of a plan in order. Returns the message if one fails.
fn read(path: &Path, out: &Path, shard: Option<Shard>) -> Result<Vec<u8>, String> {
    let inputs = vec![path.to_owned()];
    let shard = shard.map(ShardChoice::This);
    let run = RunRequest { shard, ..RunRequest::new(out) };
    let request = JobRequest { inputs, run, ..JobRequest::default() };
    let plan = JobPlan::new(request).map_err(|error| error.to_string())?;
    for (path, table) in &plan.offset_tables {
        fs::create_dir_all(out).unwrap();
        table.save(path).unwrap();
    }
    let mut bytes = Vec::new();
    for block in Source::new(plan.ranges, 17) {
        bytes.extend_from_slice(block.map_err(with_cause)?.bytes());
    }
    Ok(bytes)
}

fn with_cause(error: impl std::error::Error) -> String {
    let cause = error.source().map_or(String::new(), |source| format!(": {source}"));
    format!("{error}{cause}")
}

/// Reads all shards in order. Returns the message of the first one that fails.
fn read_shards(path: &Path, out: &Path) -> Result<Vec<u8>, String> {
    let shards = (1..=SHARDS).map(|index| Shard::new(index, SHARDS));
    Ok(shards.map(|shard| read(path, out, shard)).collect::<Result<Vec<_>, _>>()?.concat())
}

#[test]
fn no_flipped_bit_of_a_table_loses_a_record() {
    let folder = TempDir::new().unwrap();
    let (path, out) = (folder.path().join("a.hcp.zst"), folder.path().join("out"));
    let bytes = sequence(Format::Hcp);
    // Frames that end within records, and one of a single byte.
    let frames = [&bytes[..4000], &bytes[4000..4001], &bytes[4001..8192], &bytes[8192..]];
    let whole = with_frames(&frames);
    fs::write(&path, &whole).unwrap();
    assert!(read_shards(&path, &out).unwrap() == bytes);
    let (mut failed, mut succeeded) = (0, 0);
    for bit in 8 * table_start(&whole)..8 * whole.len() {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &flipped).unwrap();
        match read(&path, &out, None) {
            Ok(read) => assert!(read == bytes, "bit {bit}"),
            // With a damaged frame header, decoders no longer skip the frame of the table.
            Err(error) => assert!(bit < 8 * (table_start(&whole) + 8), "bit {bit}: {error}"),
        }
        match read_shards(&path, &out) {
            Ok(read) => {
                assert!(read == bytes, "bit {bit}");
                succeeded += 1;
            }
            Err(error) => {
                assert!(error.contains("a.hcp.zst"), "bit {bit}: {error}");
                failed += 1;
            }
        }
    }
    // A damaged table is ignored. Wrong frame sizes are detected.
    assert!(failed >= 4 * 32 && succeeded >= 4 * 32, "{failed} failed, {succeeded} succeeded");
}

/// A seekable file of these frames.
fn with_frames(frames: &[&[u8]]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut table = zeekstd::SeekTable::new();
    for frame in frames {
        let packed = zstd::bulk::compress(frame, 3).unwrap();
        table.log_frame(packed.len() as u32, frame.len() as u32).unwrap();
        file.extend(packed);
    }
    std::io::copy(&mut table.into_serializer(), &mut file).unwrap();
    file
}

#[test]
fn frame_sizes_that_compensate_each_other_are_detected() {
    let folder = TempDir::new().unwrap();
    let (path, out) = (folder.path().join("a.hcp.zst"), folder.path().join("out"));
    let whole = seekable(&sequence(Format::Hcp), 1024);
    for (one, other) in [(0, 9), (9, 0), (3, 4), (4, 3), (0, 1), (8, 9)] {
        let mut wrong = whole.clone();
        change_size(&mut wrong, one, |size| size + 32);
        change_size(&mut wrong, other, |size| size - 32);
        fs::write(&path, &wrong).unwrap();
        let error = read_shards(&path, &out).unwrap_err();
        assert_data_eq!(
            error,
            str![
                "cannot read [..]/a.hcp.zst[..]: frame [..] holds [..] bytes than the frame table at the end of the file states[..]"
            ]
        );
    }
    // A table that merges two frames into one describes the same bytes.
    let mut joined = whole.clone();
    let at = table_start(&joined) + 8;
    let size = |at: usize| u32::from_le_bytes(whole[at..at + 4].try_into().unwrap());
    joined[at..at + 4].copy_from_slice(&(size(at) + size(at + 8)).to_le_bytes());
    joined[at + 4..at + 8].copy_from_slice(&(size(at + 4) + size(at + 12)).to_le_bytes());
    joined.drain(at + 8..at + 16);
    let frames = at + 8 * 9;
    joined[frames..frames + 4].copy_from_slice(&9_u32.to_le_bytes());
    let head = (8 * 9 + FOOT_BYTES) as u32;
    joined[at - 4..at].copy_from_slice(&head.to_le_bytes());
    fs::write(&path, &joined).unwrap();
    assert!(read_shards(&path, &out).unwrap() == sequence(Format::Hcp));
}

#[test]
fn a_table_with_sizes_of_0_is_ignored() {
    let folder = TempDir::new().unwrap();
    let (path, out) = (folder.path().join("a.hcp.zst"), folder.path().join("out"));
    let bytes = sequence(Format::Hcp);
    for frame_bytes in [1024, 1 << 20] {
        let mut wrong = seekable(&bytes, frame_bytes);
        let frames = bytes.len().div_ceil(frame_bytes as usize);
        (0..frames).for_each(|frame| change_size(&mut wrong, frame, |_| 0));
        fs::write(&path, &wrong).unwrap();
        assert!(read(&path, &out, None).unwrap() == bytes);
        assert!(read_shards(&path, &out).unwrap() == bytes);
        let mut first = seekable(&bytes, frame_bytes);
        change_size(&mut first, 0, |_| 0);
        fs::write(&path, &first).unwrap();
        assert!(read_shards(&path, &out).unwrap() == bytes);
    }
}

#[test]
fn an_edited_offset_table_is_rebuilt() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    for name in ["a.sfen", "a.sfen.zst"] {
        let text = sequence(Format::Sfen);
        let packed = zstd::encode_all(&text[..], 1).unwrap();
        let path = write(folder.path(), name, if name == "a.sfen" { &text } else { &packed });
        assert!(read_shards(&path, &out).unwrap() == text);
        let kept = out.join(format!("{name}.index.json"));
        let right = fs::read_to_string(&kept).unwrap();
        let halved = right.replace(r#""records":320"#, r#""records":160"#);
        assert_ne!(halved, right);
        fs::write(&kept, &halved).unwrap();
        assert!(read_shards(&path, &out).unwrap() == text);
        assert_eq!(fs::read_to_string(&kept).unwrap(), right);
    }
}

#[test]
fn a_wrong_offset_table_is_detected_at_the_end() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let path = write(folder.path(), "a.sfen", &sequence(Format::Sfen));
    let twice = [sequence(Format::Sfen), sequence(Format::Sfen)].concat();
    for (other, how) in [(twice, "fewer"), (sequence(Format::Sfen)[..9000].to_vec(), "more")] {
        // The offset table of another file under the name of this one.
        let state = fs::metadata(&path).unwrap();
        let other = write(folder.path(), "other.sfen", &other);
        let table = offset_table_of(&other);
        let mut edited: Value = serde_json::to_value(&table).unwrap();
        let own: Value = serde_json::to_value(offset_table_of(&path)).unwrap();
        for key in ["input", "file_bytes", "modified_unix_ns"] {
            edited[key] = own[key].clone();
        }
        let wrong: OffsetTable = serde_json::from_value(edited).unwrap();
        fs::create_dir_all(&out).unwrap();
        wrong.save(&out.join("a.sfen.index.json")).unwrap();
        let error = read_shards(&path, &out).unwrap_err();
        let expected = format!("a.sfen holds {how} records than the {}", wrong.records);
        assert!(error.contains(&expected), "{error}");
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), state.modified().unwrap());
    }
}

fn offset_table_of(path: &Path) -> OffsetTable {
    let format = kyokumen::records::format_name::FormatName::plain(Format::Sfen);
    OffsetTable::build(&Input::named(path, format)).unwrap()
}

/// A file whose seek table leaves out 16 records.
fn file_with_wrong_table(dir: &Dir) -> (PathBuf, Vec<u8>) {
    let bytes = sequence(Format::Hcp);
    let mut wrong = seekable(&bytes, 1024);
    change_size(&mut wrong, 9, |size| size - 512);
    (dir.write("a.hcp.zst", &wrong), bytes)
}

#[test]
fn commands_read_all_records_despite_a_wrong_table() {
    let dir = Dir::new();
    let (_, bytes) = file_with_wrong_table(&dir);
    let whole: Vec<&[u8]> = bytes.chunks(32).collect();
    for words in [
        &["convert", "a.hcp.zst", "-o", "out.hcp"][..],
        &["shuffle", "a.hcp.zst", "-o", "out.hcp", "--seed", "1"],
        &["dedup", "--key", "bytes", "a.hcp.zst", "-o", "out.hcp"],
        &["interleave", "a.hcp.zst", "-o", "out.hcp", "--seed", "1"],
        &["sample", "a.hcp.zst", "-o", "out.hcp", "--count", "1000", "--seed", "1"],
        &["split", "a.hcp.zst", "--parts", "1", "-o", "."],
    ] {
        let done = dir.kyokumen([words, &["--progress", "none", "--force"]].concat()).run();
        let message = done.stderr;
        assert!(done.code == Some(0), "{words:?}: {message}");
        let expected_message =
            "a.hcp.zst holds more records than the 304 stated in its frame table";
        assert!(message.contains(expected_message), "{words:?}: {message}");
        let Ok(out) = fs::read(dir.join("out.hcp")) else { continue };
        let mut found: Vec<&[u8]> = out.chunks(32).collect();
        let mut expected = whole.clone();
        found.sort_unstable();
        expected.sort_unstable();
        if words[0] == "dedup" {
            expected.dedup();
        }
        assert!(found == expected, "{words:?}");
        fs::remove_file(dir.join("out.hcp")).unwrap();
    }
}

#[test]
fn verify_reports_a_wrong_table() {
    let dir = Dir::new();
    file_with_wrong_table(&dir);
    let done = dir.kyokumen(["verify", "a.hcp.zst", "--json", "--progress", "none"]).run();
    assert_eq!(done.code, Some(3));
    let report = done.json();
    assert_eq!((&report["records"], &report["good"]), (&320.into(), &320.into()));
    assert_eq!(report["findings"][0]["name"], "wrong-table-of-frames");
    let example = &report["findings"][0]["examples"][0];
    assert_eq!((&example["record"], &example["byte"]), (&320.into(), &(320 * 32).into()));
}

#[test]
fn a_shard_of_a_file_with_a_wrong_table_writes_no_output() {
    let dir = Dir::new();
    file_with_wrong_table(&dir);
    let words = ["filter", "a.hcp.zst", "-o", "out", "--nodes", "5", "--hash-mb", "1"];
    let run = |shard| dir.kyokumen([&words[..], &["--shard", shard]].concat()).run();
    assert_eq!(run("1/2").code, Some(0));
    let last = run("2/2");
    assert_data_eq!(
        last.transcript,
        str![[r#"
status 1
error: cannot read a.hcp.zst after byte 9216 of the uncompressed data: frame 9 holds more bytes than the frame table at the end of the file states, so the table is wrong; repair the file with `kyokumen convert`, which does not read the table

"#]]
    );
    assert!(!dir.join("out/a-00002-of-00002.hcp.zst").exists());
}
