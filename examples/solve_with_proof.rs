//! Solves a mate problem, writes its proof as text, and checks this text independently of the search.
//!
//! ```sh
//! cargo run --example solve_with_proof
//! ```

use std::error::Error;
use std::io::{self, Write};

use kyokumen::format::proof_file::{ProofClaim, ProofFile, ProofHead, ProofReader};
use kyokumen::mate::proof::{check, proof_text};
use kyokumen::shogi::Position;
use kyokumen::solver::{Attacker, Limits, Solver, TableSize, Verdict};

fn main() -> Result<(), Box<dyn Error>> {
    let root: Position = "4k4/9/4P4/9/9/9/9/9/4K4 b 2G2r2b2g4s4n4l17p 1".parse()?;
    let mut solver = Solver::new(TableSize::from_mib(16));
    let result = solver.solve(&root, Attacker::SideToMove, &Limits::new(31, 100_000));
    if result.verdict != Verdict::Proven {
        return Err("no mate was found".into());
    }
    let line: Vec<String> = result.line.iter().map(ToString::to_string).collect();
    println!("{} plies: {}", line.len(), line.join(" "));

    let head = ProofHead { index: 0, claim: ProofClaim::Win, plies: 0, root };
    let mut text = Vec::new();
    let mut file = ProofFile::start(&mut text);
    file.push(&proof_text(head, solver.proof())?, &mut text);
    file.end(&mut text);
    io::stdout().write_all(&text)?;

    for proof in ProofReader::new(&text[..]) {
        check(&proof?)?;
        println!("the proof is correct");
    }
    Ok(())
}
