//! The temporary encoding of the rows of a deferred table.
//!
//! The rows are removed when the columnar file is complete. A row is its length in bytes, followed by its values in
//! `postcard` encoding. The length makes a truncated row detectable.

use std::io::{self, Read};

use super::Value;

pub(crate) fn push(row: &[Value<'_>], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; size_of::<u32>()]);
    postcard::to_io(row, &mut *out).expect("a vector takes any row");
    let len = out.len() - start - size_of::<u32>();
    out[start..start + size_of::<u32>()].copy_from_slice(&(len as u32).to_le_bytes());
}

pub(crate) struct Rows<R> {
    reader: R,
    row: Vec<u8>,
}

impl<R: Read> Rows<R> {
    pub(crate) const fn new(reader: R) -> Self {
        Self { reader, row: Vec::new() }
    }

    /// The next row. `None` after the last row.
    pub(crate) fn next_row(&mut self) -> io::Result<Option<Vec<Value<'_>>>> {
        let mut len = Vec::new();
        self.reader.by_ref().take(size_of::<u32>() as u64).read_to_end(&mut len)?;
        if len.is_empty() {
            return Ok(None);
        }
        let len = len.try_into().map_err(|_| damaged())?;
        let len = u32::from_le_bytes(len);
        self.row.clear();
        let read = self.reader.by_ref().take(len.into()).read_to_end(&mut self.row)?;
        if read != len as usize {
            return Err(damaged());
        }
        postcard::from_bytes(&self.row).map(Some).map_err(|_| damaged())
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the temporary rows are damaged")
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows;
    use super::*;

    fn packed() -> Vec<u8> {
        let mut bytes = Vec::new();
        for row in rows() {
            push(&row, &mut bytes);
        }
        bytes
    }

    #[test]
    fn rows_survive_a_round_trip() {
        let packed = packed();
        let mut reader = Rows::new(&packed[..]);
        for row in rows() {
            assert_eq!(reader.next_row().unwrap(), Some(row));
        }
        assert_eq!(reader.next_row().unwrap(), None);
    }

    #[test]
    fn a_truncated_row_is_an_error() {
        let packed = packed();
        let row_ends: Vec<usize> = {
            let mut end = 0;
            let mut len = |row: &Vec<Value<'_>>| {
                let mut bytes = Vec::new();
                push(row, &mut bytes);
                end += bytes.len();
                end
            };
            rows().iter().map(&mut len).collect()
        };
        for end in 1..packed.len() {
            let mut reader = Rows::new(&packed[..end]);
            let read = loop {
                match reader.next_row() {
                    Ok(Some(_)) => {}
                    Ok(None) => break true,
                    Err(_) => break false,
                }
            };
            assert_eq!(read, row_ends.contains(&end), "{end}");
        }
    }
}
