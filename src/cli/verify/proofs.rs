//! `kyokumen verify --proof`: proofs of mates, checked move by move.
//!
//! A fault ends the check: a proof that does not hold proves nothing else in its file either.

use std::io;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rayon::ThreadPoolBuilder;
use serde::Serialize;

use super::super::message::name;
use super::super::report::json_line;
use crate::cli::exit::ExitStatus;
use crate::format::proof_file::{ProofClaim, ProofReader};
use crate::mate::proof::check;
use crate::storage::files;

/// What a file proves.
#[derive(Default, Serialize)]
struct ProofsReport {
    file: String,
    proofs: u64,
    win: u64,
    loss: u64,
    steps: u64,
    longest_plies: u16,
}

pub(super) fn check_files(
    paths: &[PathBuf],
    threads: usize,
    json: bool,
) -> anyhow::Result<ExitStatus> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
    for path in paths {
        let account = pool.install(|| verify(path))?;
        if json { json_line(&account)? } else { write_account(&account)? }
    }
    Ok(ExitStatus::Done)
}

fn verify(path: &Path) -> anyhow::Result<ProofsReport> {
    let file = path.display().to_string();
    let input = open(path).with_context(|| format!("cannot open {file}"))?;
    let mut account = ProofsReport { file, ..ProofsReport::default() };
    for proof in ProofReader::new(input) {
        let proof = proof.with_context(|| account.file.clone())?;
        check(&proof).with_context(|| format!("{}: proof {}", account.file, account.proofs))?;
        account.proofs += 1;
        match proof.head().claim {
            ProofClaim::Win => account.win += 1,
            ProofClaim::Loss => account.loss += 1,
        }
        account.steps += proof.steps();
        account.longest_plies = account.longest_plies.max(proof.head().plies);
    }
    Ok(account)
}

fn open(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = files::open(path)?;
    Ok(if path.extension().is_some_and(|extension| extension == "zst") {
        Box::new(BufReader::new(zstd::Decoder::new(file)?))
    } else {
        Box::new(BufReader::new(file))
    })
}

fn write_account(account: &ProofsReport) -> io::Result<()> {
    let ProofsReport { file, proofs, win, loss, steps, longest_plies } = account;
    let mut out = io::stdout();
    let file = name(file);
    write!(out, "{file}: {proofs} proofs hold: {win} win, {loss} loss; ")?;
    writeln!(out, "{steps} steps, the longest mate within {longest_plies} plies")
}
