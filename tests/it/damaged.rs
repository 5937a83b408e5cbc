//! Damaged files of every format, through the commands that read them.
//!
//! By default [`FILES`] files are tested. `KYOKUMEN_DAMAGED=1000000` tests 1,000,000. `KYOKUMEN_DAMAGED_SEED=123`
//! repeats a failure with this seed. With both variables, it is the seed of the first file.

mod damage;
mod moved;
mod sides;

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use kyokumen::engine::progress::Progress;
use kyokumen::format::{Field, Fill, Format, chunks};
use kyokumen::jobs::filter::filter;
use kyokumen::jobs::plan::{JobPlan, JobRequest};
use kyokumen::jobs::run_files::RunRequest;
use kyokumen::jobs::settings::{Settings, UnknownPolicy};
use kyokumen::mate::judge::MateSettings;
use kyokumen::ops::convert::{
    ConvertPlan, ConvertReport, ConvertRequest, ConvertSettings, convert,
};
use kyokumen::ops::generate::{GenerateSettings, Generator};
use kyokumen::ops::inspect::{Inspection, RecordChoice, RecordRange};
use kyokumen::ops::stats::{StatsPlan, StatsRequest, stats};
use kyokumen::ops::verify::{VerifyPlan, VerifyRequest, verify};
use kyokumen::records::bad_record::BadPolicy;
use kyokumen::records::filters::RecordFilters;
use kyokumen::records::format_name::FormatName;
use kyokumen::records::output_kind::OutputKind;
use kyokumen::records::shard::Shard;
use kyokumen::records::shard_choice::ShardChoice;
use kyokumen::records::source::{Input, InputRange, Source};
use kyokumen::storage::compression::Compression;
use kyokumen::storage::memory::Memory;
use kyokumen::{Error, ErrorKind};
use lzma_rust2::{XzOptions, XzReader, XzWriter};
use serde_json::Value;
use tempfile::TempDir;

use kyokumen_testing::positions::Random;

use crate::archive::{archive, write};
use crate::harness::memory_folder;
use damage::damaged;
use sides::{check_sides, is_copied};

const FILES: u64 = 400;

/// The limit of a line about a bad record: numbers, a name, a reason with a few of the bytes.
const MAX_LINE_BYTES: usize = 1 << 12;

/// The most records that a chunk may count beyond its bytes, because a format may state the number of moves.
const MAX_MOVES: u64 = u16::MAX as u64;

#[test]
fn damaged_files_lose_no_record_and_cause_no_panic() {
    let number = |name| std::env::var(name).ok().map(|text: String| text.parse().unwrap());
    let (files, first) = (number("KYOKUMEN_DAMAGED"), number("KYOKUMEN_DAMAGED_SEED"));
    let count = files.unwrap_or(if first.is_some() { 1 } else { FILES });
    let seeds = first.unwrap_or(0)..first.unwrap_or(0) + count;
    let samples = samples();
    let mut folder = memory_folder();
    folder.disable_cleanup(std::env::var_os("KYOKUMEN_DAMAGED_KEEP").is_some());
    let mut failed = Vec::new();
    for seed in seeds {
        let case = Case::new(seed, &samples, folder.path());
        let name = case.name;
        let checked = catch_unwind(AssertUnwindSafe(|| {
            case.check();
            // Otherwise the readers of other tests would be waited for each time.
            if files.is_some() {
                wait_for_readers();
            }
        }));
        if let Err(panic) = checked {
            eprintln!("{name}: KYOKUMEN_DAMAGED_SEED={seed} repeats this failure");
            if files.is_none() {
                resume_unwind(panic);
            }
            failed.push(seed);
        }
        if seed % 10_000 == 9_999 {
            eprintln!("{} files, {} failures", seed + 1, failed.len());
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
    wait_for_readers();
    #[cfg(target_os = "linux")]
    if files.is_some() {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        eprintln!("peak of memory: {peak} kB");
        assert!(peak < 250 << 10, "{peak} kB");
    }
}

/// After an error, a decoder might wait forever for the rest of a file that grows.
#[test]
fn a_source_ends_after_its_first_error() {
    let folder = TempDir::new().unwrap();
    for compression in [Compression::Gzip, Compression::Xz] {
        let packed = compressed(compression, &archive(Format::Hcp, 1000));
        let name = FormatName { format: Format::Hcp, compression };
        let path = write(folder.path(), &format!("a.{name}"), &packed[..packed.len() / 2]);
        let source = Source::new(vec![InputRange::whole(Input::named(&path, name))], 100);
        let errors: Vec<bool> = source.take(100).map(|delivery| delivery.is_err()).collect();
        assert_eq!(errors.iter().position(|&failed| failed), Some(errors.len() - 1));
    }
}

/// Waits for the end of all current threads that read ahead. Fails if one does not end.
#[cfg(target_os = "linux")]
fn wait_for_readers() {
    use std::time::{Duration, Instant};

    const PATIENCE: Duration = Duration::from_secs(20);

    let is_reader = |thread: &PathBuf| {
        fs::read_to_string(thread.join("comm")).is_ok_and(|name| name == "reader\n")
    };
    let started = Instant::now();
    let threads = fs::read_dir("/proc/self/task").unwrap().map(|thread| thread.unwrap().path());
    let mut readers: Vec<PathBuf> = threads.filter(is_reader).collect();
    while !readers.is_empty() {
        assert!(started.elapsed() < PATIENCE, "a reader has not ended");
        std::thread::sleep(Duration::from_millis(1));
        readers.retain(is_reader);
    }
}

#[cfg(not(target_os = "linux"))]
fn wait_for_readers() {}

/// A healthy file.
struct Sample {
    format: Format,
    bytes: Vec<u8>,
    /// The same as it is written compressed, with a table of its frames.
    packed: Vec<u8>,
}

fn written_formats() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| format.is_written())
}

fn samples() -> Vec<Sample> {
    let folder = TempDir::new().unwrap();
    let sample = |(format, (seed, every, count)): (Format, _)| {
        let recipe = GenerateSettings { seed, every, count, most_moves: 40 };
        let encoded = Generator::new(recipe).encode_next(format, 1000).unwrap();
        let bytes = [format.header(), encoded.bytes()].concat();
        let plain = write(folder.path(), &format!("a.{format}"), &bytes);
        let packed = folder.path().join(format!("b.{format}.zst"));
        convert_file(&plain, &packed, Fill::default(), 1).unwrap();
        Sample { format, bytes, packed: fs::read(packed).unwrap() }
    };
    let recipes = [(1, 1, 60), (2, 7, 20), (3, 40, 3)];
    written_formats()
        .flat_map(|format| recipes.map(|recipe| (format, recipe)))
        .map(sample)
        .collect()
}

/// One damaged file.
struct Case<'a> {
    random: Random,
    folder: &'a Path,
    name: FormatName,
    file: PathBuf,
    /// The uncompressed bytes. `None` if the compression is damaged.
    content: Option<Vec<u8>>,
}

impl<'a> Case<'a> {
    fn new(seed: u64, samples: &[Sample], folder: &'a Path) -> Self {
        let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
        let sample = &samples[random.below(samples.len())];
        let other = &samples[random.below(samples.len())];
        let compression = match random.below(7) {
            0 => Compression::Zstd,
            1 => Compression::Gzip,
            2 => Compression::Xz,
            _ => Compression::None,
        };
        // Half of the compressed files have damage in the compression, the others in the content.
        let is_outside = compression != Compression::None && random.below(2) == 0;
        let name = FormatName { format: sample.format, compression };
        let file = folder.join(format!("a.{name}"));
        let (bytes, content) = if is_outside {
            let packed = match compression {
                Compression::Zstd => sample.packed.clone(),
                _ => compressed(compression, &sample.bytes),
            };
            (damaged(packed, &other.bytes, &mut random), None)
        } else {
            let content = damaged(sample.bytes.clone(), &other.bytes, &mut random);
            (compressed(compression, &content), Some(content))
        };
        fs::write(&file, &bytes).unwrap();
        Self { random, folder, name, file, content }
    }

    fn check(mut self) {
        self.check_same_format();
        match self.random.below(8) {
            0 => self.check_other_format(),
            1 => self.check_verify(),
            2 => self.check_inspect(),
            3 => self.check_stats(),
            4 => self.check_filter(),
            5 => self.check_moved(),
            6 => self.check_solve(),
            _ => {}
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Asserts that only a damaged compression ends a run.
    #[track_caller]
    fn done<T>(&self, result: Result<T, Error>) -> Option<T> {
        result
            .inspect_err(|error| {
                let is_of_input = matches!(error.kind(), ErrorKind::Io | ErrorKind::Changed);
                let is_compressed = self.name.compression != Compression::None;
                assert!(is_of_input && is_compressed && !error.to_string().is_empty(), "{error:?}");
            })
            .ok()
    }

    fn convert(&mut self, from: &Path, to: &Path, fill: Fill) -> Result<ConvertReport, Error> {
        convert_file(from, to, fill, 1 + self.random.below(2))
    }

    /// Every chunk is written or quarantined unchanged.
    fn check_same_format(&mut self) {
        let format = self.name.format;
        let kept = self.path(&format!("kept.{format}"));
        let (file, fill) = (self.file.clone(), Fill::neutral(format.needs()));
        let report = self.convert(&file, &kept, fill);
        let Some(report) = self.done(report) else { return };
        let Some(content) = &self.content else { return };
        assert_eq!(report.inputs[0].entry.bytes, content.len() as u64);
        let number = chunks(format, content).count() as u64;
        assert!(report.counts.input <= content.len() as u64 + number * MAX_MOVES);
        let reasons = format!("kept{}", OutputKind::QuarantineLines.suffix(format.name()));
        let bad = offsets(&self.read(&reasons), &report);
        check_sides(
            format,
            content,
            &bad,
            &fs::read(&kept).unwrap(),
            &self.read("kept.quarantine.bin"),
        );
        let again = self.path(&format!("again.{format}"));
        let report = self.convert(&kept, &again, fill).unwrap();
        assert_eq!(report.counts.bad.all(), 0, "the output has bad records");
        let (kept, again) = (fs::read(&kept).unwrap(), fs::read(&again).unwrap());
        // Text with broken characters may change once more.
        let is_same = kept == again
            || format.is_kif() && without_blank_lines(&kept) == without_blank_lines(&again);
        assert!(is_same || !is_copied(format, &kept), "a copy of the output differs");
    }

    /// The output in another format has no bad records.
    fn check_other_format(&mut self) {
        let formats: Vec<Format> = written_formats().collect();
        let to = formats[self.random.below(formats.len())];
        if to.holds_games() && !self.name.format.fields().contains(Field::BestMove) {
            return;
        }
        let (there, fill) = (self.path(&format!("there.{to}")), Fill::neutral(to.needs()));
        let file = self.file.clone();
        let report = self.convert(&file, &there, fill);
        let Some(report) = self.done(report) else { return };
        let back = self.path(&format!("there-again.{to}"));
        let again = self.convert(&there, &back, fill).unwrap();
        assert_eq!(again.counts.bad.all(), 0, "{to}: the output has bad records");
        assert_eq!(again.counts.input, report.counts.written, "{to}");
        assert!(fs::read(&there).unwrap() == fs::read(&back).unwrap(), "{to}: the copy differs");
    }

    fn check_verify(&mut self) {
        let sides = self.path("sides");
        let request = VerifyRequest {
            inputs: vec![self.file.clone()],
            from: Some(self.name),
            quarantine: Some(sides.clone()),
            force: true,
            threads: 1,
            ..VerifyRequest::default()
        };
        let plan = VerifyPlan::new(request).unwrap().remove(0);
        let report = verify(plan, &mut Progress::none(), &AtomicBool::new(false));
        if self.done(report).is_none() {
            return;
        }
        let Some(content) = &self.content else { return };
        let format = self.name.format;
        let name = FormatName { compression: self.name.compression.written(), ..self.name };
        let read = |side: &str| {
            let file =
                if side == "good" { format!("a.good.{name}") } else { format!("a.{name}.bad") };
            let bytes = fs::read(sides.join(file)).unwrap();
            decompressed(name.compression, &bytes).unwrap()
        };
        let (good, bad, header) = (read("good"), read("bad"), format.header());
        // The good part always begins with a header. The header of the input may be in the bad part.
        assert!(good.starts_with(header));
        let is_theirs =
            content.starts_with(header) && (header.is_empty() || !bad.starts_with(header));
        let more = if is_theirs { 0 } else { header.len() };
        // Text in another encoding is transcoded, and separators are rewritten.
        // A header in the middle of the file, or with other text in its line, is dropped.
        let mark = header.trim_ascii_end();
        let is_one = mark.is_empty()
            || memchr::memmem::find_iter(content, mark).count()
                == usize::from(content.starts_with(header));
        // Blank lines directly after the header are dropped with it.
        let after = content.strip_prefix(header).unwrap_or(content);
        let is_one = is_one && (header.is_empty() || !after.starts_with(b"\n"));
        if is_copied(format, content) && format.separator().is_empty() && is_one {
            assert_eq!(good.len() + bad.len(), content.len() + more, "bytes of the sides");
        }
    }

    fn check_inspect(&mut self) {
        let range = RecordRange { from: 0, to: None };
        let inspection =
            Inspection::open(&self.file, Some(self.name), None, RecordChoice::Range(range));
        let shown = inspection.and_then(|inspection| {
            inspection.for_each(|found| {
                if let Err(fault) = &found.record {
                    assert!(fault.to_string().len() < MAX_LINE_BYTES);
                }
                Ok(())
            })
        });
        self.done::<()>(shown);
    }

    fn check_stats(&mut self) {
        let request = StatsRequest {
            filters: RecordFilters::default(),
            limit: None,
            inputs: vec![self.file.clone()],
            from: Some(self.name),
            dialect: None,
            memory: Memory::of_bytes(1 << 20),
            page: None,
            force: false,
            threads: 1,
        };
        let plan = StatsPlan::new(request).unwrap();
        let report = stats(plan, &mut Progress::none(), &AtomicBool::new(false));
        self.done(report);
    }

    /// Two shards equal the unsharded run.
    fn check_filter(&mut self) {
        if self.name.format.holds_games() {
            return;
        }
        let shards = [None, Shard::new(1, 2), Shard::new(2, 2)];
        for shard in shards {
            let request = JobRequest {
                inputs: vec![self.file.clone()],
                run: RunRequest {
                    shard: shard.map(ShardChoice::This),
                    force: true,
                    ..RunRequest::new(self.path(shard.map_or("filtered", |_| "shards")))
                },
                from: Some(self.name),
                to: Some(FormatName::plain(self.name.format)),
                settings: Settings {
                    search: MateSettings { nodes: 3, hash_mb: 1, ..MateSettings::default() },
                    unknown: UnknownPolicy::Split,
                    fill: Fill::neutral(self.name.format.needs()),
                    threads: 1,
                    ..Settings::default()
                },
                ..JobRequest::default()
            };
            let plan = match JobPlan::new(request) {
                Ok(plan) => plan,
                Err(error) => {
                    self.done::<()>(Err(error));
                    return;
                }
            };
            let filtered = filter(plan, &mut Progress::none(), &AtomicBool::new(false));
            if self.done(filtered).is_none() {
                return;
            }
        }
        let format = self.name.format;
        let mut suffixes = vec![
            format!(".{format}"),
            format!(".{format}.mated"),
            format!(".{format}.unknown"),
            OutputKind::QuarantineLines.suffix(format.name()),
        ];
        if format.has_single_records() {
            suffixes.push(".quarantine.bin".to_owned());
        }
        for suffix in suffixes {
            let whole = self.read(&format!("filtered/a{suffix}"));
            let shard = |number| self.read(&format!("shards/a-{number:05}-of-00002{suffix}"));
            assert!(whole == [shard(1), shard(2)].concat(), "shards: {suffix}");
        }
        self.check_merge(self.path("shards"), &self.read(&format!("filtered/a.{format}")));
    }
}

fn convert_file(
    from: &Path,
    to: &Path,
    fill: Fill,
    threads: usize,
) -> Result<ConvertReport, Error> {
    let request = ConvertRequest {
        inputs: vec![from.to_owned()],
        output: to.to_owned(),
        from: Some(FormatName::from_file_name(&from.to_string_lossy()).unwrap()),
        force: true,
        settings: ConvertSettings {
            fill,
            on_error: BadPolicy::Quarantine,
            threads,
            ..ConvertSettings::default()
        },
        ..ConvertRequest::default()
    };
    let plan = ConvertPlan::new(request)?;
    convert(plan, &mut Progress::none(), &AtomicBool::new(false))
}

fn compressed(compression: Compression, bytes: &[u8]) -> Vec<u8> {
    match compression {
        Compression::Zstd => zstd::encode_all(bytes, 1).unwrap(),
        Compression::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Xz => {
            let mut encoder = XzWriter::new(Vec::new(), XzOptions::with_preset(0)).unwrap();
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        _ => bytes.to_vec(),
    }
}

fn decompressed(compression: Compression, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    match compression {
        Compression::Zstd => zstd::decode_all(bytes).ok(),
        Compression::Gzip => {
            MultiGzDecoder::new(bytes).read_to_end(&mut content).ok().map(|_| content)
        }
        Compression::Xz => {
            XzReader::new(bytes, true).read_to_end(&mut content).ok().map(|_| content)
        }
        _ => Some(bytes.to_vec()),
    }
}

/// The byte offsets of the quarantined chunks.
fn offsets(lines: &[u8], report: &ConvertReport) -> BTreeSet<usize> {
    let lines = lines.split_inclusive(|&byte| byte == b'\n');
    let (mut records, mut offsets) = (0, BTreeSet::new());
    for line in lines {
        assert!(line.len() < MAX_LINE_BYTES, "a line of {} bytes", line.len());
        let line: Value = serde_json::from_slice(line).unwrap();
        records += line["records"].as_u64().unwrap_or(1);
        offsets.insert(usize::try_from(line["offset"].as_u64().unwrap()).unwrap());
    }
    assert_eq!(records, report.counts.bad.quarantined);
    offsets
}

/// The lines of a text except blank ones. A copy of a game that begins with a title has a blank line above it, also
/// where the game before it ends with one, so each copy of a file may add a blank line.
fn without_blank_lines(text: &[u8]) -> Vec<&[u8]> {
    let lines = text.split(|&byte| byte == b'\n');
    lines.filter(|line| !line.trim_ascii().is_empty()).collect()
}

/// The compression of the outputs of a compressed input.
trait Written {
    fn written(self) -> Self;
}

impl Written for Compression {
    fn written(self) -> Self {
        if self == Self::Zstd { self } else { Self::None }
    }
}
