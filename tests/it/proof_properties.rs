//! What must hold of any bytes whatever that are given as a file of proofs.
//!
//! Called with damaged files by the tests and with hostile input by the fuzz target.

use kyokumen::format::proof_file::{ProofFile, ProofReader, ProofText};
use kyokumen::mate::proof::check;

/// Reading and checking end without a panic; a file that is whole comes back byte for byte.
pub(crate) fn check_file(bytes: &[u8]) {
    let mut proofs = Vec::new();
    for proof in ProofReader::new(bytes) {
        let Ok(proof) = proof else { return };
        let _ = check(&proof);
        proofs.push(proof);
    }
    assert_eq!(written(&proofs), bytes);
}

/// The same for bytes with a last line that fits, which nobody would guess.
pub(crate) fn check_closed(bytes: &[u8]) {
    let mut file = bytes.to_vec();
    file.extend_from_slice(b"end\t0\t0\n");
    let error = ProofReader::new(&file[..]).find_map(Result::err);
    let error = error.map(|error| error.to_string()).unwrap_or_default();
    let Some(end) = error.split('`').nth(1).filter(|end| end.starts_with("end\t")) else { return };
    let file = [bytes, end.as_bytes(), b"\n"].concat();
    let read: Result<Vec<ProofText>, _> = ProofReader::new(&file[..]).collect();
    let ends_before = bytes.split(|&byte| byte == b'\n').any(|line| line.starts_with(b"end\t"));
    assert!(read.is_ok() || ends_before, "{read:?}");
    check_file(&file);
}

fn written(proofs: &[ProofText]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut file = ProofFile::start(&mut bytes);
    for proof in proofs {
        file.push(proof, &mut bytes);
    }
    file.end(&mut bytes);
    bytes
}
