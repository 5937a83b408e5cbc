//! Joins the shards of a split position: its verdict, and its proof if it is a mate.
//!
//! The joined proof is checked by the rules before its file is written. No fault in the shards can cause a wrong mate.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use serde_json::Value;

use super::identity::SOLVE;
use super::leaves::LeafRow;
use super::manifest::RunManifest;
use super::merge::{MergeRequest, cannot_merge};
use super::shard_set::ShardSet;
use crate::error::Error;
use crate::format::proof_file::{ProofFile, ProofReader, ProofText};
use crate::mate::proof::{ProofOutput, check};
use crate::mate::split::{MAX_SPLIT_PLIES, SplitTree, SplitValue};
use crate::records::account::{MANIFEST_SUFFIX, OutputEntry};
use crate::records::claims::FileClaims;
use crate::records::format_name::FormatName;
use crate::records::output_kind::OutputKind;
use crate::records::position_verdict::PositionVerdict;
use crate::records::sink::OutputPlan;
use crate::shogi::Position;
use crate::solver::MAX_PLIES;
use crate::storage::files;
use crate::storage::path_text::{path_of, text_of};
use crate::storage::quantity::quantity;

/// Checked shards of a split position, and the proof file to write.
#[derive(Debug)]
pub struct JoinPlan {
    set: ShardSet,
    root: Position,
    plies: u16,
    output: OutputPlan,
}

/// The verdict that the leaves of a position give.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct JoinReport {
    /// The position.
    pub sfen: String,
    /// `win`, `no_mate` or `unknown`.
    pub verdict: &'static str,
    /// Largest number of plies until mate. `None` without a mate.
    pub plies: Option<u16>,
    /// Number of steps of the proof.
    pub steps: u64,
    /// Number of shards.
    pub shards: u64,
    /// Number of leaves.
    pub leaves: u64,
    /// Number of leaves without a verdict.
    pub unknown_leaves: u64,
    /// Nodes of all searches.
    pub nodes: u64,
}

impl JoinPlan {
    /// Checks the request and the manifests of the shards. Writes nothing. `None` if the shards are those of another
    /// kind of run, or if the request names another output than the proofs.
    ///
    /// # Errors
    /// [`Error`]. If shards are missing or do not belong together, it lists all problems.
    pub fn new(request: &MergeRequest) -> Result<Option<Self>, Error> {
        let MergeRequest { folder, name, kind, output, to, force } = request;
        if kind.is_some_and(|kind| kind != OutputKind::Proofs) {
            return Ok(None);
        }
        let set = ShardSet::in_folder(folder, name.as_deref())?;
        let manifest = set.names().zip(set.manifests()).next();
        let Some((name, manifest)) = manifest.filter(|(_, first)| first.run.command == SOLVE)
        else {
            return Ok(None);
        };
        check_format(*to, &text_of(output.file_name().unwrap_or_default()))?;
        let problems = set.problems()?;
        if !problems.is_empty() {
            return Err(cannot_merge(folder, &problems));
        }
        let (root, plies) = settings(manifest, &folder.join(path_of(&name.file(MANIFEST_SUFFIX))))?;
        let outputs = set.manifests().flat_map(|manifest| &manifest.outputs);
        let outputs = outputs.map(|output| folder.join(path_of(&output.file)));
        let manifests = set.names().map(|name| folder.join(path_of(&name.file(MANIFEST_SUFFIX))));
        let mut claims = FileClaims::default().and_reading(outputs.chain(manifests));
        let output = ProofOutput::plan(output, &mut claims, *force)?;
        Ok(Some(Self { set, root, plies, output }))
    }

    /// The outputs of a kind, in the order of the shards.
    fn outputs(&self, kind: OutputKind) -> impl Iterator<Item = &OutputEntry> {
        let outputs = self.set.manifests().flat_map(|manifest| &manifest.outputs);
        outputs.filter(move |output| output.kind == kind)
    }

    fn path(&self, output: &OutputEntry) -> PathBuf {
        self.set.folder.join(path_of(&output.file))
    }

    fn open(&self, output: &OutputEntry) -> Result<impl BufRead, Error> {
        let path = self.path(output);
        let file = files::open(&path).map_err(|source| Error::io("open", &path, source))?;
        Ok(BufReader::new(file))
    }

    /// The values of all leaves, by SFEN. Mates have the lengths of their proofs.
    fn leaf_values(&self, cancel: &AtomicBool) -> Result<HashMap<String, SplitValue>, Error> {
        let mut values = HashMap::new();
        for output in self.outputs(OutputKind::Rows) {
            for line in self.open(output)?.lines() {
                let path = self.path(output);
                let line = line.map_err(|source| Error::io("read", &path, source))?;
                let row: LeafRow<'_> = serde_json::from_str(&line).map_err(|source| {
                    Error::invalid(format!("{}: not the row of a leaf", path.display()))
                        .with_source(source)
                })?;
                if row.verdict == PositionVerdict::NoMate.word() {
                    values.insert(row.sfen, SplitValue::NoMate);
                }
            }
        }
        self.read_proofs(cancel, |proof| {
            let head = proof.head();
            if head.plies > MAX_PLIES {
                return Err(Error::invalid(format!(
                    "line {}: expected at most {MAX_PLIES} plies, found {}",
                    proof.first_line(),
                    head.plies
                )));
            }
            let is_mate = head.attacker() == self.root.side_to_move();
            let value = if is_mate {
                SplitValue::Mate(head.plies)
            } else {
                // A reply mates the attacker. The joined proof does not contain this mate.
                check(proof)?;
                SplitValue::NoMate
            };
            values.insert(head.root.to_string(), value);
            Ok(())
        })?;
        Ok(values)
    }

    /// Calls `take` with the proofs of all leaves. Adds the file to its errors.
    fn read_proofs(
        &self,
        cancel: &AtomicBool,
        mut take: impl FnMut(&ProofText) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for output in self.outputs(OutputKind::Proofs) {
            // The outputs of shards have no first line. The number of proofs shows their end.
            let mut first_line = Vec::new();
            ProofFile::start(&mut first_line);
            let mut file = self.open(output)?;
            let path = self.path(output);
            let invalid = || Error::invalid(path.display().to_string());
            let number = usize::try_from(output.records).unwrap_or(usize::MAX);
            let proofs = ProofReader::new(Cursor::new(first_line).chain(&mut file));
            for proof in proofs.take(number) {
                if cancel.load(Ordering::Relaxed) {
                    return Err(Error::interrupted());
                }
                let proof = proof.map_err(|source| invalid().with_source(source))?;
                take(&proof).map_err(|source| invalid().with_source(source))?;
            }
            let rest = file.fill_buf().map_err(|source| Error::io("read", &path, source))?;
            if !rest.is_empty() {
                let proofs = quantity(output.records, "proof");
                return Err(Error::invalid(format!(
                    "{}: expected the end of the file after {proofs}",
                    path.display()
                )));
            }
        }
        Ok(())
    }
}

/// Checks that neither `--to` nor the name of the output means a format of records.
fn check_format(to: Option<FormatName>, name: &str) -> Result<(), Error> {
    let requested = match (to, FormatName::from_file_name(name)) {
        (Some(to), _) => format!("--to means {to}"),
        (None, Some(format)) => format!("the extension of {name} means {format}"),
        (None, None) => return Ok(()),
    };
    Err(Error::usage(format!(
        "the shards of a split position are joined into a proof file, but {requested}"
    )))
}

/// The split position and the number of its first plies, from the manifest of a shard.
fn settings(manifest: &RunManifest, path: &Path) -> Result<(Position, u16), Error> {
    let invalid = |what: &str| Error::invalid(format!("{}: settings.{what}", path.display()));
    let settings = &manifest.run.settings;
    let sfen = settings.get("sfen").and_then(Value::as_str);
    let root = sfen.ok_or_else(|| invalid("sfen is missing"))?.parse::<Position>();
    let plies = settings.get("split").and_then(Value::as_u64);
    let plies = plies.and_then(|plies| u16::try_from(plies).ok());
    let plies = plies
        .filter(|plies| (1..=MAX_SPLIT_PLIES).contains(plies))
        .ok_or_else(|| invalid(&format!("split: expected a number from 1 to {MAX_SPLIT_PLIES}")))?;
    Ok((root.map_err(|source| invalid("sfen").with_source(source))?, plies))
}

/// Determines the verdict, and writes the proof file. Without a mate, the file contains no proof.
///
/// # Errors
/// [`Error`], also if the joined proof does not prove the mate. Then no file is written.
pub fn join(plan: &JoinPlan, cancel: &AtomicBool) -> Result<JoinReport, Error> {
    let wrong = plan.set.wrong_outputs(None);
    if !wrong.is_empty() {
        return Err(cannot_merge(&plan.set.folder, &wrong));
    }
    let tree = SplitTree::new(&plan.root, plan.plies, cancel)?;
    let values = plan.leaf_values(cancel)?;
    let leaf = |position: &Position| {
        values.get(&position.to_string()).copied().unwrap_or(SplitValue::Unknown)
    };
    let (value, joined) = tree.proof(leaf);
    let mut proof = None;
    if let Some(mut joined) = joined {
        plan.read_proofs(cancel, |leaf| joined.add_leaf(leaf))?;
        let text = joined
            .text()
            .map_err(|error| Error::invalid(format!("every needed leaf is mated, but {error}")))?;
        check(&text).map_err(|source| {
            Error::invalid("the joined proof does not prove the mate").with_source(source)
        })?;
        proof = Some(text);
    }
    let mut output = ProofOutput::create(plan.output.clone())?;
    proof.iter().try_for_each(|proof| output.write(proof))?;
    output.finish()?;
    let verdict = match value {
        SplitValue::Mate(_) => "win",
        SplitValue::NoMate => "no_mate",
        SplitValue::Unknown => "unknown",
    };
    let counts = plan.set.manifests().filter_map(|manifest| manifest.totals.as_records());
    let counts = counts.map(|totals| &totals.counts).collect::<Vec<_>>();
    let unknown = counts.iter().flat_map(|counts| counts.verdicts.unknown.values());
    Ok(JoinReport {
        sfen: plan.root.to_string(),
        verdict,
        plies: proof.as_ref().map(|proof| proof.head().plies),
        steps: proof.as_ref().map_or(0, ProofText::steps),
        shards: counts.len() as u64,
        leaves: sum(counts.iter().map(|counts| counts.input)),
        unknown_leaves: sum(unknown.copied()),
        nodes: sum(counts.iter().map(|counts| counts.nodes)),
    })
}

/// The sum of counts from manifests, which can be any numbers.
fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}
