//! Files of records, opened and created by name.

use std::io::{self, Read, Write};
use std::path::Path;

use super::claims::FileClaims;
use super::format_name::FormatName;
use super::opening::{self, check_compression};
use super::output_kind::{EncodedRecords, OutputKind};
use super::sink::{OutputPlan, Sinks};
use super::source::open_sequential;
use crate::error::Error;
use crate::format::{Reader, Writer};
use crate::storage::compression::Compression;
use crate::storage::path_text::text_of;

/// Number of bytes that are collected before they are written.
const BUFFER_BYTES: usize = 1 << 16;

/// Opens a file of records. The name shows the format and the compression (`.zst`, `.gz`, `.xz`), and the content is
/// checked against it; without a known extension the content alone decides. With the feature `object-store`, a URL is
/// an object.
///
/// ```no_run
/// let mut reader = kyokumen::open("games.psv.zst")?;
/// for record in reader.records() {
///     println!("{:?}", record?.eval_cp);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error`] if the file cannot be opened, has no recognisable format, or its content contradicts its name.
pub fn open(path: impl AsRef<Path>) -> Result<Reader<Box<dyn Read + Send>>, Error> {
    let input = opening::input(path.as_ref(), None, None)?;
    Ok(Reader::new(input.format, open_sequential(&input)?).with_dialect(input.dialect))
}

/// Creates a file of records. The name shows the format and the compression (`.zst`). The file has a temporary name
/// until [`OutputFile::commit`], which replaces an existing file.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("kept.sfen.zst");
/// use kyokumen::format::{Format, Reader};
///
/// let sfen = "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1\n";
/// let mut writer = kyokumen::create(&path)?;
/// for record in Reader::new(Format::Sfen, sfen.as_bytes()).records() {
///     writer.write_record(&record?)?;
/// }
/// assert!(!path.exists());
/// writer.into_inner()?.commit()?;
/// assert_eq!(kyokumen::open(&path)?.records().count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error`] if the name does not show a format that can be written, or the file cannot be created.
pub fn create(path: impl AsRef<Path>) -> Result<Writer<OutputFile>, Error> {
    create_with(path.as_ref(), true)
}

/// Like [`create`], but does not replace an existing file.
///
/// # Errors
/// The errors of [`create`], and [`Error`] if the file exists.
pub fn create_new(path: impl AsRef<Path>) -> Result<Writer<OutputFile>, Error> {
    create_with(path.as_ref(), false)
}

fn create_with(path: &Path, force: bool) -> Result<Writer<OutputFile>, Error> {
    let name = text_of(path);
    let to = FormatName::from_file_name(&name)
        .ok_or_else(|| Error::usage(format!("the name of {name} does not show a format")))?;
    if to.compression == Compression::Parquet {
        return Err(Error::usage(format!(
            "{name}: use `kyokumen convert` to write a Parquet file"
        )));
    }
    let to = check_compression(to)?;
    let plan = FileClaims::reading(&[])?.lone_output(OutputKind::Kept, path, force)?;
    let plan = OutputPlan { compression: to.compression, ..plan };
    let file = OutputFile {
        sinks: Sinks::create(&[plan])?,
        records: EncodedRecords::default(),
        has_failed: false,
    };
    Ok(Writer::new(to.format, file))
}

/// A file that is written under a temporary name. Dropping it without [`OutputFile::commit`] removes it.
#[derive(Debug)]
pub struct OutputFile {
    sinks: Sinks,
    /// Each write is a record, because the frames of a compressed file end between records.
    records: EncodedRecords,
    has_failed: bool,
}

impl OutputFile {
    /// Flushes the file to disk and renames it to its final name.
    ///
    /// # Errors
    /// [`Error`] if the disk is full, for instance, also if an earlier write failed. The file is removed.
    pub fn commit(mut self) -> Result<(), Error> {
        self.write_out()?;
        if self.has_failed {
            return Err(Error::invalid("an earlier write failed: the file is incomplete"));
        }
        self.sinks.finish()?.commit()
    }

    fn write_out(&mut self) -> Result<(), Error> {
        let written = self.sinks.write(OutputKind::Kept, &std::mem::take(&mut self.records));
        self.has_failed |= written.is_err();
        written
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.records.push(bytes);
        if self.records.bytes().len() >= BUFFER_BYTES {
            self.write_out().map_err(io::Error::other)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_out().map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::error::ErrorKind;
    use crate::format::{Fill, Format};

    #[test]
    fn every_written_format_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let start =
            "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\t7g7f\t25\t1\tb\n";
        let records = || Reader::new(Format::Sfen, start.as_bytes());
        for name in ["a.psv", "a.hcpe.zst", "a.jsonl", "a.csa", "a.kif", "a.sfen.zst"] {
            let path = folder.path().join(name);
            fs::write(&path, "before").unwrap();
            let fill = Fill::neutral(Format::Hcpe.needs());
            let mut writer = create(&path).unwrap().with_fill(fill);
            for record in records().records() {
                for _ in 0..3000 {
                    writer.write_record(record.as_ref().unwrap()).unwrap();
                }
            }
            let file = writer.into_inner().unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"before");
            file.commit().unwrap();
            let mut reader = open(&path).unwrap();
            let moves = reader.records().map(|record| record.unwrap().best_move);
            let expected = records().records().next().unwrap().unwrap().best_move;
            assert!(moves.eq(std::iter::repeat_n(expected, 3000)), "{name}");
        }
        let existing = create_new(folder.path().join("a.psv")).err().unwrap();
        assert!(matches!(existing.kind(), ErrorKind::Exists));
        drop(create_new(folder.path().join("b.hcp")).unwrap());
        assert!(!folder.path().join("b.hcp.partial").exists());
        assert!(create(folder.path().join("b.hcp.gz")).err().unwrap().is_usage());
        assert!(create(folder.path().join("b.parquet")).err().unwrap().is_usage());
        assert!(create(folder.path().join("b")).err().unwrap().is_usage());
    }
}
