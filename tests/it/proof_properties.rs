//! Properties that hold for any bytes read as a proof file.
//!
//! The tests check them on damaged files, the fuzz target on arbitrary input.

use kyokumen::format::proof_file::{ProofFile, ProofReader, ProofText};
use kyokumen::mate::proof::check;

/// Reading and checking never panic, and a complete file is reproduced byte for byte.
pub(crate) fn check_file(bytes: &[u8]) {
    let mut proofs = Vec::new();
    for proof in ProofReader::new(bytes) {
        let Ok(proof) = proof else { return };
        let _ = check(&proof);
        proofs.push(proof);
    }
    assert_eq!(written(&proofs), bytes);
}

/// Checks the bytes with the correct last line appended. Arbitrary bytes would never contain its checksum.
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
