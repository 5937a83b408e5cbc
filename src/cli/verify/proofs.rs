//! `kyokumen verify`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use rayon::ThreadPoolBuilder;
use serde::Serialize;

use super::Outcome;
use super::report::json_line;
use crate::format::proof_file::{Claim, ProofReader};
use crate::pipeline::proof::check;

/// Check proofs of mates move by move
///
/// Reads files that `kyokumen solve --proof` wrote and checks every proof in them by the rule book: each move
/// of the attacker is legal and gives check, each defence is answered, and all ends with mate. Nothing of the
/// solver has a say in it. The first fault ends the check.
#[derive(Args)]
#[command(after_long_help = "\
Exit status: 0 every proof holds and every file is whole, 1 one is not, 2 usage.")]
pub(super) struct VerifyArgs {
    /// Files of proofs, zstd-compressed if the name ends in .zst; `-` is standard input
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    proof: Vec<PathBuf>,

    /// Threads; 0 is all cores [default: 0]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    threads: usize,

    /// One JSON object a line for each file
    #[arg(long)]
    json: bool,
}

/// What a file proves.
#[derive(Default, Serialize)]
struct Account {
    file: String,
    proofs: u64,
    win: u64,
    loss: u64,
    steps: u64,
    longest_plies: u16,
}

pub(super) fn run(args: &VerifyArgs) -> anyhow::Result<Outcome> {
    let pool = ThreadPoolBuilder::new().num_threads(args.threads).build()?;
    for path in &args.proof {
        let account = pool.install(|| verify(path))?;
        if args.json { json_line(&account)? } else { write_account(&account)? }
    }
    Ok(Outcome::Done)
}

fn verify(path: &Path) -> anyhow::Result<Account> {
    let file = path.display().to_string();
    let input = open(path).with_context(|| format!("cannot open {file}"))?;
    let mut account = Account { file, ..Account::default() };
    for proof in ProofReader::new(input) {
        let proof = proof.with_context(|| account.file.clone())?;
        check(&proof).with_context(|| format!("{}: proof {}", account.file, account.proofs))?;
        account.proofs += 1;
        match proof.head().claim {
            Claim::Win => account.win += 1,
            Claim::Loss => account.loss += 1,
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
    let file = File::open(path)?;
    Ok(if path.extension().is_some_and(|extension| extension == "zst") {
        Box::new(BufReader::new(zstd::Decoder::new(file)?))
    } else {
        Box::new(BufReader::new(file))
    })
}

fn write_account(account: &Account) -> io::Result<()> {
    let Account { file, proofs, win, loss, steps, longest_plies } = account;
    let mut out = io::stdout();
    write!(out, "{file}: {proofs} proofs hold: {win} win, {loss} loss; ")?;
    writeln!(out, "{steps} steps, the longest mate within {longest_plies} plies")
}
