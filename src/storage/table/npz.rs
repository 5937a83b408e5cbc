//! Writes tables as numpy arrays in one file that `numpy.load` reads without pickle. Each column has one or two arrays.
//!
//! Format: <https://numpy.org/doc/stable/reference/generated/numpy.savez_compressed.html>. The representation of nulls
//! and lists is specific to this program. The header of an array contains its length and the length of its longest
//! text, so columns are kept in temporary files until all rows are known.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::npy::write_header;
use super::zip::Zip;
use super::{Column, ColumnType, Table, Value};

/// Characters of numpy are 32 bits wide.
const CHARACTER_BYTES: usize = size_of::<u32>();

pub(super) struct Arrays<W> {
    output: W,
    folder: PathBuf,
    columns: Vec<Values>,
    rows: u64,
}

struct Values {
    column: Column,
    /// Texts preceded by their lengths; other values as in the array.
    spool: Spool,
    /// Characters of the longest text.
    longest: usize,
    /// Number of elements of all lists.
    elements: u64,
    /// Lists only: offset of the end of each list, with a leading 0.
    ends: Option<Spool>,
    /// Nullable columns only: one byte for each row, 1 if the value is null.
    nulls: Option<Spool>,
    /// Number of null values.
    without_value: u64,
}

/// An unnamed temporary file.
type Spool = BufWriter<File>;

impl<W: Write> Arrays<W> {
    /// Creates temporary files in `folder`.
    pub(super) fn new(output: W, table: &Table, folder: &Path) -> io::Result<Self> {
        let columns = table.columns.iter().map(|&column| Values::new(column, folder));
        let columns = columns.collect::<io::Result<_>>()?;
        Ok(Self { output, folder: folder.to_owned(), columns, rows: 0 })
    }

    /// Adds a row. The values must fit the columns.
    pub(super) fn push(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        self.rows += 1;
        let mut values = self.columns.iter_mut().zip(row);
        values.try_for_each(|(column, value)| column.push(value))
    }

    pub(super) fn finish(self) -> io::Result<W> {
        let mut zip = Zip::new(self.output, &self.folder);
        for column in self.columns {
            column.finish(self.rows, &mut zip)?;
        }
        zip.finish()
    }
}

impl Values {
    fn new(column: Column, folder: &Path) -> io::Result<Self> {
        let spool = || tempfile::tempfile_in(folder).map(BufWriter::new);
        let mut ends = column.kind.is_list().then(spool).transpose()?;
        if let Some(ends) = &mut ends {
            ends.write_all(&0_u64.to_le_bytes())?;
        }
        let nulls = column.is_nullable.then(spool).transpose()?;
        Ok(Self { column, spool: spool()?, longest: 0, elements: 0, ends, nulls, without_value: 0 })
    }

    fn push(&mut self, value: &Value<'_>) -> io::Result<()> {
        if let Some(nulls) = &mut self.nulls {
            let is_null = *value == Value::Null;
            self.without_value += u64::from(is_null);
            nulls.write_all(&[u8::from(is_null)])?;
        }
        let spool = &mut self.spool;
        match (self.column.kind, value) {
            (ColumnType::Text, Value::Text(text)) => self.push_text(text),
            (ColumnType::Texts, Value::Texts(texts)) => {
                texts.iter().try_for_each(|text| self.push_text(text))?;
                self.end_list(texts.len())
            }
            (ColumnType::Int8s, Value::Ints(numbers)) => {
                let bytes: Vec<u8> = numbers.iter().map(|number| number.to_le_bytes()[0]).collect();
                spool.write_all(&bytes)?;
                self.end_list(bytes.len())
            }
            (_, Value::Bytes(bytes)) => spool.write_all(bytes),
            (_, Value::Bool(is_so)) => spool.write_all(&[u8::from(*is_so)]),
            (kind, Value::Int(number)) => spool.write_all(&number.to_le_bytes()[..width(kind)]),
            (ColumnType::Text, _) => self.push_text(""),
            (kind, _) => spool.write_all(&vec![0; width(kind)]),
        }
    }

    fn end_list(&mut self, elements: usize) -> io::Result<()> {
        self.elements += elements as u64;
        let end = self.elements.to_le_bytes();
        self.ends.as_mut().map_or(Ok(()), |ends| ends.write_all(&end))
    }

    fn push_text(&mut self, text: &str) -> io::Result<()> {
        self.longest = self.longest.max(text.chars().count());
        self.spool.write_all(&(text.len() as u32).to_le_bytes())?;
        self.spool.write_all(text.as_bytes())
    }

    fn finish<W: Write>(self, rows: u64, zip: &mut Zip<W>) -> io::Result<()> {
        let Self { column, spool, longest, elements, ends, nulls, without_value } = self;
        let Column { name, kind, is_optional, .. } = column;
        if is_optional && rows > 0 && without_value == rows {
            return Ok(());
        }
        let nulls = nulls.filter(|_| !is_optional || without_value > 0);
        let mut values = reread(spool)?;
        let array = format!("{name}.npy");
        match kind {
            // Text arrays of numpy have at least one character per value.
            ColumnType::Text => {
                zip.add(array, |out| write_texts(&mut values, longest.max(1), rows, out))
            }
            ColumnType::Texts => {
                zip.add(array, |out| write_texts(&mut values, longest.max(1), elements, out))
            }
            _ => zip.add(array, |mut out| {
                let shape = match kind {
                    ColumnType::Bytes(len) => vec![rows, len as u64],
                    ColumnType::Int8s => vec![elements],
                    _ => vec![rows],
                };
                write_header(&mut out, dtype(kind), &shape)?;
                io::copy(&mut values, out).map(drop)
            }),
        }?;
        for (spool, suffix, dtype, len) in
            [(ends, "offsets", "<i8", rows + 1), (nulls, "null", "|b1", rows)]
        {
            let Some(spool) = spool else { continue };
            let mut values = reread(spool)?;
            zip.add(format!("{name}_{suffix}.npy"), |mut out| {
                write_header(&mut out, dtype, &[len])?;
                io::copy(&mut values, out).map(drop)
            })?;
        }
        Ok(())
    }
}

/// Bytes of a value or list element of fixed size; 0 for text.
const fn width(kind: ColumnType) -> usize {
    match kind {
        ColumnType::Bytes(len) => len,
        ColumnType::Bool | ColumnType::Int8 | ColumnType::Int8s => 1,
        ColumnType::Int16 | ColumnType::UInt16 => 2,
        ColumnType::Int32 => 4,
        ColumnType::Int64 => 8,
        ColumnType::Text | ColumnType::Texts => 0,
    }
}

const fn dtype(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Bytes(_) => "|u1",
        ColumnType::Bool => "|b1",
        ColumnType::Int8 | ColumnType::Int8s => "|i1",
        ColumnType::Int16 => "<i2",
        ColumnType::UInt16 => "<u2",
        ColumnType::Int32 => "<i4",
        ColumnType::Int64 => "<i8",
        ColumnType::Text | ColumnType::Texts => "<U",
    }
}

fn reread(spool: Spool) -> io::Result<BufReader<File>> {
    let mut file = spool.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.rewind()?;
    Ok(BufReader::new(file))
}

/// Writes texts, padded to `longest` characters.
fn write_texts(
    texts: &mut impl Read,
    longest: usize,
    number: u64,
    mut out: &mut dyn Write,
) -> io::Result<()> {
    write_header(&mut out, &format!("{}{longest}", dtype(ColumnType::Text)), &[number])?;
    let (mut len, mut text, mut wide) = ([0; size_of::<u32>()], Vec::new(), Vec::new());
    for _ in 0..number {
        texts.read_exact(&mut len)?;
        text.resize(u32::from_le_bytes(len) as usize, 0);
        texts.read_exact(&mut text)?;
        let characters = std::str::from_utf8(&text).map_err(io::Error::other)?.chars();
        wide.clear();
        wide.extend(characters.flat_map(|character| u32::from(character).to_le_bytes()));
        wide.resize(longest * CHARACTER_BYTES, 0);
        out.write_all(&wide)?;
    }
    Ok(())
}
