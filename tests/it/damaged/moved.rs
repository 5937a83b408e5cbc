//! Damaged files through the commands that move records, and through the solver.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kyokumen::Error;
use kyokumen::engine::progress::Progress;
use kyokumen::format::{Format, chunks, records};
use kyokumen::jobs::merge::{MergePlan, MergeRequest, merge};
use kyokumen::mate::judge::MateSettings;
use kyokumen::mate::positions::Positions;
use kyokumen::mate::solve::{SolveOptions, solve};
use kyokumen::ops::rearrange::{
    DedupKey, DedupSettings, OperationManifest, RearrangePlan, RearrangeRequest, Resources,
    SampleSize, SplitBy, dedup, sample, shuffle, split,
};
use kyokumen::records::bad_record::BadPolicy;
use kyokumen::records::filters::Probability;
use kyokumen::records::format_name::FormatName;
use kyokumen::records::output_kind::OutputKind;
use kyokumen::storage::memory::Memory;

use super::Case;

/// Checks that these chunks are the same; names those that are lost or new.
fn check_same(command: &str, copied: &[Vec<u8>], moved: &[Vec<u8>]) {
    let only_in = |one: &[Vec<u8>], other: &[Vec<u8>]| -> Vec<String> {
        let only = one.iter().filter(|chunk| !other.contains(chunk));
        only.map(|chunk| String::from_utf8_lossy(chunk).into_owned()).collect()
    };
    let (lost, new) = (only_in(copied, moved), only_in(moved, copied));
    assert!(copied == moved, "{command}: lost {lost:?}, new {new:?}");
}

impl Case<'_> {
    fn request(&mut self, output: PathBuf) -> RearrangeRequest {
        // Little memory: records go to temporary files.
        let memory = Memory::of_bytes(1 << (10 + 8 * self.random.below(2)));
        RearrangeRequest {
            inputs: vec![self.file.clone()],
            output,
            from: Some(self.name),
            to: Some(FormatName::plain(self.name.format)),
            name: Some("a".to_owned()),
            force: true,
            on_error: BadPolicy::Skip,
            resources: Resources { threads: 1 + self.random.below(2), memory, tmp_dir: None },
            ..RearrangeRequest::default()
        }
    }

    /// Runs an operation. Returns the chunks of its output, as [`Self::chunks_of`].
    fn moved(
        &mut self,
        name: &str,
        operation: impl FnOnce(&RearrangePlan, &mut Progress) -> Result<OperationManifest, Error>,
    ) -> Option<Vec<Vec<u8>>> {
        let output = self.path(&format!("{name}.{}", self.name.format));
        let plan = RearrangePlan::new(self.request(output.clone()));
        let manifest = plan.and_then(|plan| operation(&plan, &mut Progress::none()));
        let counts = self.done(manifest)?.totals.counts;
        let filtered: u64 = counts.filtered.values().sum();
        assert_eq!(counts.input, counts.written + filtered + counts.bad.all(), "{name}");
        Some(self.chunks_of(&output))
    }

    /// The chunks of a file that have no fault, without white space around them, which a copy may change. Two damaged
    /// chunks in a row may be read as one, so they are not compared. A damaged chunk of `hcpe3` or `sbinpack` may claim
    /// bytes of the next one, so for these formats the result is empty if any chunk has a fault.
    fn chunks_of(&self, file: &PathBuf) -> Vec<Vec<u8>> {
        let (format, bytes) = (self.name.format, std::fs::read(file).unwrap());
        let content = |chunk: &'_ [u8]| {
            if !format.is_text() {
                return chunk.to_vec();
            }
            let chunk = format.without_header(chunk).trim_ascii();
            if format == Format::Db {
                // A damaged header is a comment. A comment above a position belongs to the chunk before it, which
                // is another one after a shuffle.
                let is_comment = |line: &&[u8]| line.starts_with(b"#") || line.starts_with(b"//");
                let lines = chunk.split_inclusive(|&byte| byte == b'\n');
                let lines: Vec<&[u8]> = lines.filter(|line| !is_comment(line)).collect();
                return lines.concat().trim_ascii().to_vec();
            }
            chunk.strip_prefix(format.separator()).unwrap_or(chunk).trim_ascii().to_vec()
        };
        let is_whole =
            |chunk: &&[u8]| records(format, format.dialect(), chunk).all(|it| it.is_ok());
        let is_binary = matches!(format, Format::Hcpe3 | Format::Sbinpack);
        if is_binary && !chunks(format, &bytes).all(|chunk| is_whole(&chunk)) {
            return Vec::new();
        }
        let chunks = chunks(format, &bytes).filter(is_whole).map(content);
        chunks.filter(|chunk| !chunk.is_empty()).collect()
    }

    /// `split`, `dedup` and `shuffle` write the same chunks as a sample of all records.
    pub(super) fn check_moved(&mut self) {
        let never = AtomicBool::new(false);
        let all = SampleSize::Rate(Probability::new(1.0).unwrap());
        let Some(copied) =
            self.moved("copied", |plan, progress| sample(plan, all, 1, progress, &never))
        else {
            return;
        };
        if copied.is_empty() {
            return;
        }
        let parts = RearrangePlan::in_parts(self.request(self.path("parts")), 2).unwrap();
        split(&parts, &SplitBy::RoundRobin.into(), &mut Progress::none(), &never).unwrap();
        let part = |number| {
            let name = format!("parts/a-{number:05}-of-00002.{}", self.name.format);
            self.chunks_of(&self.path(&name))
        };
        let sorted = |mut chunks: Vec<Vec<u8>>| {
            chunks.sort_unstable();
            chunks
        };
        let dealt = sorted([part(1), part(2)].concat());
        let settings = DedupSettings { key: DedupKey::Bytes, average: false };
        let unique = self.moved("unique", |plan, progress| dedup(plan, settings, progress, &never));
        let unique = unique.unwrap();
        let distinct = |chunks: &[Vec<u8>]| {
            let mut seen = HashSet::new();
            let firsts = chunks.iter().filter(|chunk| seen.insert((*chunk).clone()));
            firsts.cloned().collect::<Vec<_>>()
        };
        // White space and comments, which are not in `copied`, make chunks different, and games without moves are no
        // duplicates. So these formats may keep a chunk several times.
        let format = self.name.format;
        let may_repeat = format == Format::Usi || format.is_text() && !format.is_lines();
        let kept = if may_repeat { distinct(&unique) } else { unique };
        check_same("dedup", &distinct(&copied), &kept);
        let seed = 1 + self.random.below(100) as u64;
        let shuffled =
            self.moved("shuffled", |plan, progress| shuffle(plan, seed, progress, &never));
        let copied = sorted(copied);
        check_same("split", &copied, &dealt);
        check_same("shuffle", &copied, &sorted(shuffled.unwrap()));
    }

    /// Merged shards equal the unsharded output.
    pub(super) fn check_merge(&self, shards: PathBuf, whole: &[u8]) {
        let output = self.path(&format!("merged.{}", self.name.format));
        let request = MergeRequest {
            folder: shards,
            name: None,
            kind: Some(OutputKind::Kept),
            output: output.clone(),
            to: None,
            force: true,
        };
        let plan = MergePlan::new(request).unwrap();
        merge(&plan, &mut Progress::none(), &AtomicBool::new(false)).unwrap();
        assert!(std::fs::read(output).unwrap() == whole, "merge");
    }

    /// Every record has a solution or a reason why there is none.
    pub(super) fn check_solve(&self) {
        let settings = MateSettings { nodes: 3, hash_mb: 1, ..MateSettings::default() };
        let options = SolveOptions {
            all: None,
            shortest: false,
            tsume_plies: false,
            proof: false,
            cancel: Arc::new(AtomicBool::new(false)),
        };
        let mut next = 0;
        let solved = solve(
            Positions::open(&self.file, Some(self.name)),
            &settings,
            &options,
            1,
            |solved| -> Result<(), Error> {
                let location = solved.map_or_else(|bad| bad.location, |it| it.input.location);
                assert!(location.index >= next, "{location}");
                next = location.index + 1;
                Ok(())
            },
        );
        self.done(solved);
    }
}
