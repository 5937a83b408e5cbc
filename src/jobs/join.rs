//! Joins the shards of a split position: its verdict, and its proof if it is a mate.
//!
//! The joined proof is checked by the rules before its file is written. No fault in the shards can cause a wrong mate.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::identity::SOLVE;
use super::leaves::LeafRow;
use super::merge::{MergeRequest, cannot_merge};
use super::settings::SplitSettings;
use super::shard_set::ShardSet;
use crate::error::Error;
use crate::format::proof_file::{ProofFile, ProofReader, ProofText};
use crate::mate::proof::{ProofOutput, check};
use crate::mate::split::{SplitTree, SplitValue};
use crate::records::account::{MANIFEST_SUFFIX, OutputEntry};
use crate::records::claims::FileClaims;
use crate::records::output_kind::OutputKind;
use crate::records::position_verdict::PositionVerdict;
use crate::records::sink::OutputPlan;
use crate::shogi::Position;
use crate::storage::files;
use crate::storage::path_text::path_of;

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
    /// kind of run.
    ///
    /// # Errors
    /// [`Error`]. If shards are missing or do not belong together, it lists all problems.
    pub fn new(request: &MergeRequest) -> Result<Option<Self>, Error> {
        let MergeRequest { folder, name, output, force, .. } = request;
        let set = ShardSet::in_folder(folder, name.as_deref())?;
        let Some(run) = set.manifests().next().map(|manifest| &manifest.run) else {
            return Ok(None);
        };
        if run.command != SOLVE {
            return Ok(None);
        }
        let problems = set.problems()?;
        if !problems.is_empty() {
            return Err(cannot_merge(folder, &problems));
        }
        let settings = Value::Object(run.settings.clone());
        let SplitSettings { sfen, plies } = SplitSettings::deserialize(settings)
            .map_err(|source| Error::invalid("settings of a manifest").with_source(source))?;
        let root = sfen.parse::<Position>();
        let root = root.map_err(|source| Error::invalid(sfen).with_source(source))?;
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
            // A reply can mate the attacker.
            let is_mate = head.attacker() == self.root.side_to_move();
            let value = if is_mate { SplitValue::Mate(head.plies) } else { SplitValue::NoMate };
            values.insert(head.root.to_string(), value);
            Ok(())
        })?;
        Ok(values)
    }

    /// Calls `take` with the proofs of all leaves.
    fn read_proofs(
        &self,
        cancel: &AtomicBool,
        mut take: impl FnMut(&ProofText) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for output in self.outputs(OutputKind::Proofs) {
            // The outputs of shards have no first line. The number of proofs shows their end.
            let mut first_line = Vec::new();
            ProofFile::start(&mut first_line);
            let proofs = Cursor::new(first_line).chain(self.open(output)?);
            let number = usize::try_from(output.records).unwrap_or(usize::MAX);
            for proof in ProofReader::new(proofs).take(number) {
                if cancel.load(Ordering::Relaxed) {
                    return Err(Error::interrupted());
                }
                let path = self.path(output);
                let invalid =
                    |source| Error::invalid(path.display().to_string()).with_source(source);
                take(&proof.map_err(invalid)?)?;
            }
        }
        Ok(())
    }
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
    let tree = SplitTree::new(&plan.root, plan.plies)?;
    let values = plan.leaf_values(cancel)?;
    let leaf = |position: &Position| {
        values.get(&position.to_string()).copied().unwrap_or(SplitValue::Unknown)
    };
    let mut proof = None;
    if let Some(mut joined) = tree.proof(leaf) {
        plan.read_proofs(cancel, |leaf| joined.add_leaf(leaf))?;
        let text = joined.text().map_err(|error| Error::invalid(error.to_string()))?;
        check(&text).map_err(|source| {
            Error::invalid("the joined proof does not prove the mate").with_source(source)
        })?;
        proof = Some(text);
    }
    let mut output = ProofOutput::create(plan.output.clone())?;
    proof.iter().try_for_each(|proof| output.write(proof))?;
    output.finish()?;
    let verdict = match tree.value(leaf) {
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
        leaves: counts.iter().map(|counts| counts.input).sum(),
        unknown_leaves: unknown.sum(),
        nodes: counts.iter().map(|counts| counts.nodes).sum(),
    })
}
