//! The format of a file whose name does not say it, by what is in it.

use std::io;
use std::io::Read;
use std::path::Path;

use crate::format::Format::{Bod, Ki2, Ki2u, Kif, Kifu};
use crate::format::{DialectFinding, Format, Survey};
use crate::records::evidence::{PROBE_RECORDS, sample, small_sample};
use crate::records::format_name::FormatName;
use crate::records::plan_error::PlanError;
use crate::records::source::{Delivery, Input, Part, Source, SourceError};
use crate::storage::compression::Compression;
use crate::storage::files;
use crate::storage::path_text::text_of;
use crate::storage::quantity::quantity;

/// Which part of a sample must be readable: of a file of another format it is a tenth at most, a damaged one has more.
const READABLE: f64 = 0.9;

/// A format that a file may be of, with what a sample shows.
struct Candidate {
    format: Format,
    survey: Survey,
}

impl Candidate {
    /// Whether the records can be read, and most of the moves that tell be played in one encoding.
    fn is_possible(&self) -> bool {
        let survey = &self.survey;
        let has_moves = survey.dialect(self.format.dialect()) != DialectFinding::Unsure;
        survey.readable_share() >= READABLE && has_moves
    }

    /// Two formats of one length: those without flags in the result are the plain one.
    fn is_plain(&self) -> bool {
        (self.format == Format::Hcpe2) == (self.survey.result_flags > 0)
    }

    fn readable(&self) -> String {
        let Survey { records, unreadable, .. } = self.survey;
        format!("as {} {} of {}", self.format, records - unreadable, quantity(records, "record"))
    }
}

/// The format that the content of a file says.
#[derive(Debug)]
pub(crate) struct Detected {
    pub(crate) format: FormatName,
    /// How much of a sample can be read so.
    readable: String,
}

impl Detected {
    /// Says what was found out.
    pub(crate) fn warn(&self, input: &Path) {
        tracing::warn!(
            "{}: its name does not say its format, its content does: {} looked at can be read; --from forces \
             another",
            text_of(input),
            self.readable
        );
    }
}

/// The format in which the records of a sample can be read and their moves be played.
///
/// # Errors
/// [`PlanError::UndetectedFormat`] if there is none, [`PlanError::AmbiguousFormat`] if there are several.
pub(crate) fn format_of(path: &Path) -> Result<Detected, PlanError> {
    let input = text_of(path);
    let failed = |source| SourceError::Open { input: input.clone(), source };
    let compression = compression_of(path).map_err(failed)?;
    if compression == Compression::Parquet {
        let readable = "as Parquet all records".to_owned();
        return Ok(Detected { format: FormatName::PARQUET, readable });
    }
    let mut candidates = Vec::new();
    for group in groups() {
        for format in group.into_iter().filter(|format| !matches!(format, Kifu | Ki2 | Ki2u)) {
            match survey(&Input::named(path, FormatName { format, compression })) {
                Ok(survey) if survey.records > 0 => candidates.push(Candidate { format, survey }),
                Err(error) if error.is_of_system() => return Err(error.into()),
                Ok(_) | Err(_) => {}
            }
        }
        if candidates.iter().any(Candidate::is_possible) {
            break;
        }
    }
    if candidates.is_empty() {
        return Err(PlanError::UnknownFormat { input });
    }
    let number = |candidate: &&Candidate| candidate.survey.records - candidate.survey.unreadable;
    let nearest = candidates.iter().max_by_key(number).filter(|nearest| number(nearest) > 0);
    let nearest = nearest.map(|nearest| format!(" ({} can be read)", nearest.readable()));
    candidates.retain(Candidate::is_possible);
    if candidates.len() > 1 {
        let is_like_hcpe = |one: &Candidate| one.format.record_len() == Format::Hcpe.record_len();
        candidates.retain(|one| !is_like_hcpe(one) || one.is_plain());
    }
    if candidates.iter().any(|one| matches!(one.format, Kif | Bod)) {
        let variant = kif_variant(&Input::named(path, FormatName { format: Kif, compression }))?;
        // One reader reads all of them, also a diagram.
        candidates.retain(|one| {
            !matches!((one.format, variant), (Kif, Bod) | (Bod, Kif | Kifu | Ki2 | Ki2u))
        });
        for one in candidates.iter_mut().filter(|one| one.format == Kif) {
            one.format = variant;
        }
    }
    match &*candidates {
        [] => Err(PlanError::UndetectedFormat { input, nearest: nearest.unwrap_or_default() }),
        [one] => {
            let format = FormatName { format: one.format, compression };
            Ok(Detected { format, readable: one.readable() })
        }
        several => {
            let formats = several.iter().map(|one| one.format.name()).collect();
            Err(PlanError::AmbiguousFormat { input, formats })
        }
    }
}

/// What a sample shows; a small one, if that shows that the file is of another format.
fn survey(input: &Input) -> Result<Survey, SourceError> {
    match small_sample(input)? {
        small if small.is_mostly_readable() => sample(input),
        small => Ok(small),
    }
}

/// Which of Kakinoki's formats a text is in, by its first games.
fn kif_variant(input: &Input) -> Result<Format, SourceError> {
    let mut text = Vec::new();
    let source = Source::new(vec![Part::whole(input.clone())], PROBE_RECORDS);
    for delivery in source.limited_to(PROBE_RECORDS) {
        if let Delivery::Block(block) = delivery? {
            block.units().for_each(|unit| text.extend_from_slice(unit.bytes));
        }
    }
    Ok(Format::of_kif_text(&text))
}

/// The formats, in groups of which no two can be mistaken for one another: those first in which a few records of any
/// file show soon that it is another one, and those last whose records are searched for in everything that is none.
fn groups() -> [Vec<Format>; 4] {
    let of_kakinoki = vec![Kif, Kifu, Ki2, Ki2u, Bod];
    let last = |format: &Format| *format == Format::Hcpe3 || of_kakinoki.contains(format);
    let is_fixed = |format: &Format| format.record_len().is_some();
    let all = || Format::ALL.into_iter();
    [
        all().filter(is_fixed).collect(),
        all().filter(|format| !is_fixed(format) && !last(format)).collect(),
        of_kakinoki.clone(),
        vec![Format::Hcpe3],
    ]
}

/// How a file is compressed, going by its first bytes.
fn compression_of(path: &Path) -> io::Result<Compression> {
    let mut head = Vec::new();
    files::open(path)?.take(6).read_to_end(&mut head)?;
    Ok(match &*head {
        [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Compression::Zstd,
        [0x1F, 0x8B, ..] => Compression::Gzip,
        [0xFD, b'7', b'z', b'X', b'Z', 0] => Compression::Xz,
        [b'P', b'A', b'R', b'1', ..] => Compression::Parquet,
        _ => Compression::None,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    fn data(format: Format) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/sample.{format}"))
    }

    #[test]
    fn what_is_in_a_file_says_its_format() {
        let folder = TempDir::new().unwrap();
        for format in Format::ALL {
            let bytes = fs::read(data(format)).unwrap();
            let compressed = zstd::encode_all(&bytes[..], 1).unwrap();
            for (name, bytes, compression) in
                [("a", bytes, Compression::None), ("b.bin", compressed, Compression::Zstd)]
            {
                let path = folder.path().join(name);
                fs::write(&path, bytes).unwrap();
                assert_eq!(format_of(&path).unwrap().format, FormatName { format, compression });
            }
        }
    }

    #[test]
    fn every_format_is_in_one_group() {
        let mut all = groups().concat();
        all.sort_unstable_by_key(|format| format.name());
        let mut expected = Format::ALL.to_vec();
        expected.sort_unstable_by_key(|format| format.name());
        assert_eq!(all, expected);
    }

    #[test]
    fn what_cannot_be_told_is_not_guessed() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.bin");
        let record = &fs::read(data(Format::Psv)).unwrap()[..40];
        let text = &b"no record\n".repeat(20)[..];
        for bytes in [&[][..], text, &[0; 4000], &[record, text].concat()] {
            fs::write(&path, bytes).unwrap();
            let error = format_of(&path).unwrap_err();
            let expected = match bytes {
                [] => "the name of",
                _ => "is of no known format",
            };
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
