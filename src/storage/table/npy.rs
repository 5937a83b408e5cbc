//! Headers of numpy's array files. A header contains the type and the shape; the values follow.
//!
//! Format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>, version 1.0.
//!
//! The crate `npyz` (0.9.1) is not used: it writes the shape `(3, )` instead of numpy's `(3,)`, and depends on a parser
//! generator, which takes longer to build than the crate `zip`.

use std::io::{self, Write};

const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";

/// The header ends at a multiple of this many bytes.
const ALIGNMENT: usize = 64;

/// Writes a header. `kind` is a numpy type, for instance `<i8`.
pub(super) fn write_header(out: &mut impl Write, kind: &str, shape: &[u64]) -> io::Result<()> {
    let shape = match shape {
        [len] => format!("({len},)"),
        lens => format!("({})", lens.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    };
    let mut header =
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}").into_bytes();
    let before = MAGIC.len() + size_of::<u16>();
    // The header is padded with spaces and ends with a line end.
    let len = (before + header.len() + 1).next_multiple_of(ALIGNMENT) - before;
    header.resize(len - 1, b' ');
    header.push(b'\n');
    out.write_all(MAGIC)?;
    out.write_all(&(len as u16).to_le_bytes())?;
    out.write_all(&header)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the headers that `numpy.save` of numpy 2.4 writes for `numpy.zeros(3, "<i8")` and
    /// `numpy.zeros((2, 32), "|u1")`.
    #[test]
    fn headers_equal_those_of_numpy() {
        for (kind, shape, dictionary) in [
            ("<i8", &[3][..], "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }"),
            ("|u1", &[2, 32], "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 32), }"),
        ] {
            let mut header = Vec::new();
            write_header(&mut header, kind, shape).unwrap();
            assert_eq!(header.len(), 128);
            assert_eq!(&header[..10], b"\x93NUMPY\x01\x00v\x00");
            assert_eq!(std::str::from_utf8(&header[10..]).unwrap(), format!("{dictionary:<117}\n"));
        }
    }
}
