//! Detects the format of a file by its content. Used if the name shows no format, and to check the format of a name.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, ErrorKind, Remedy};
use crate::format::Format::{self, Ki2, Ki2u, Kif, Kifu};
use crate::format::Survey;
use crate::records::content::{
    self, Container, FormatCandidate, better, first_fault, groups, is_doubtful,
    is_mostly_unreadable, possible, settle_kif,
};
use crate::records::evidence::{PROBE_RECORDS, first_bytes, sample};
use crate::records::format_name::FormatName;
use crate::records::source::{Input, InputLocation};
use crate::storage::compression::Compression;
use crate::storage::files;
use crate::storage::path_text::text_of;

#[derive(Debug)]
pub(crate) struct Detected {
    pub(crate) format: FormatName,
    /// Text about the readable records of the sample.
    readable: String,
}

impl Detected {
    pub(crate) fn warn(&self, input: &Path) {
        self.warn_of(&text_of(input), "the name does", "");
    }

    fn warn_of(&self, inputs: &str, names: &str, of_file: &str) {
        tracing::warn!(
            "{inputs}: format detected by content, because {names} not show it: {}{of_file}; use --from to choose \
             another format",
            self.readable
        );
    }

    /// One warning for all inputs of a format.
    pub(crate) fn warn_of_all(all: &[(&Path, Self)]) {
        for (number, (first, detected)) in all.iter().enumerate() {
            let is_same = |(_, other): &&(&Path, Self)| other.format == detected.format;
            if all[..number].iter().any(|other| is_same(&other)) {
                continue;
            }
            match all[number + 1..].iter().filter(is_same).count() {
                0 => detected.warn(first),
                more => {
                    let first = text_of(first);
                    let inputs = format!("{first} and {more} more");
                    detected.warn_of(&inputs, "the names do", &format!(" (figures of {first})"));
                }
            }
        }
    }
}

/// The format in which the records of a sample are readable and their moves legal. Fails if none or several fit.
pub(crate) fn format_of(path: &Path) -> Result<Detected, Error> {
    let input = text_of(path);
    let compression = compression_of(path)?;
    if compression == Compression::Parquet {
        let readable = "it is a Parquet file".to_owned();
        return Ok(Detected { format: FormatName::PARQUET, readable });
    }
    let candidates = candidates(path, compression, None)?;
    let nearest = candidates
        .iter()
        .max_by_key(|one| one.readable_records())
        .filter(|one| one.readable_records() > 0);
    let nearest = nearest.map(|nearest| format!("; {}", nearest.readable()));
    let is_empty = candidates.is_empty();
    match &*possible(candidates) {
        [one] => {
            let format = FormatName { format: one.format, compression };
            Ok(Detected { format, readable: one.readable() })
        }
        [] => match container(path, compression)? {
            Some(container) => Err(container.error(&input, None)),
            None if fs::metadata(path).is_ok_and(|file| file.len() == 0) => {
                let message = format!(
                    "{input} is empty, so neither its name nor its content shows its format"
                );
                Err(Error::new(ErrorKind::UnknownFormat, message).with_remedy(Remedy::InputFormat))
            }
            None if is_empty => Err(Error::unknown_format(input)),
            None => {
                let message = format!(
                    "{input} has an unknown format: neither its name nor its content shows one{}",
                    nearest.unwrap_or_default()
                );
                Err(Error::new(ErrorKind::UnknownFormat, message).with_remedy(Remedy::InputFormat))
            }
        },
        several => {
            let formats: Vec<_> = several.iter().map(|one| one.format.name()).collect();
            let message = format!(
                "{input} has an ambiguous format: its content can be {}",
                formats.join(" or ")
            );
            Err(Error::new(ErrorKind::UnknownFormat, message).with_remedy(Remedy::InputFormat))
        }
    }
}

/// Surveys of a file in each format except `except`, up to the first group of formats with a possible one.
fn candidates(
    path: &Path,
    compression: Compression,
    except: Option<Format>,
) -> Result<Vec<FormatCandidate>, Error> {
    let mut candidates = Vec::new();
    for group in groups() {
        let is_tried =
            |format: &Format| Some(*format) != except && !matches!(format, Kifu | Ki2 | Ki2u);
        for format in group.into_iter().filter(is_tried) {
            let input = Input::named(path, FormatName { format, compression });
            // The extension may name another compression.
            match survey(&Input { compression, ..input }) {
                Ok(survey) if survey.records > 0 => {
                    candidates.push(FormatCandidate { format, survey });
                }
                Err(error) if error.is_system_error() => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        if candidates.iter().any(FormatCandidate::is_possible) {
            break;
        }
    }
    let kif = Input { compression, ..Input::named(path, FormatName { format: Kif, compression }) };
    settle_kif(&mut candidates, || first_bytes(&kif).unwrap_or_default());
    Ok(candidates)
}

/// Compares the format in the name of an input with its content. If a `.sfen` file holds USI games, returns the input
/// to read instead: the extension is used for both formats. Fails if another format fits better or most records cannot
/// be read.
pub(crate) fn check_name(input: &Input, path: &Path) -> Result<Option<Input>, Error> {
    if matches!(&input.location, InputLocation::File(path) if !path.exists()) {
        // The reader reports it.
        return Ok(None);
    }
    let Some(survey) = doubtful_survey(input)? else { return Ok(None) };
    let (name, named, compression) = (&input.name, input.format_name(), compression_of(path)?);
    let is_same = compression == input.compression;
    if survey.records == 0 && is_same {
        // The compressed data is damaged. The reader reports where.
        return Ok(None);
    }
    if !is_same && compression == Compression::Parquet {
        let parquet =
            FormatCandidate { format: FormatName::PARQUET.format, survey: survey.clone() };
        let error = content::other_format(name, named, compression, &[parquet]);
        return Err(error.map_or(Error::no_input(), Error::from));
    }
    let others = candidates(path, compression, is_same.then_some(input.format))?;
    let others = better(&survey, others);
    if named.format == Format::Sfen
        && let [FormatCandidate { format: Format::Usi, .. }] = &*others
    {
        tracing::warn!(
            "{name}: contains USI games and is read as usi; use --from sfen to read the lines as positions"
        );
        return Ok(Some(Input::named(path, FormatName { format: Format::Usi, compression })));
    }
    if let Some(error) = content::other_format(name, named, compression, &others) {
        return Err(error);
    }
    if let Some(container) = container(path, compression)? {
        let (input, named) = (name.clone(), Some(named));
        return Err(container.error(&input, named));
    }
    if !is_mostly_unreadable(&survey) {
        return Ok(None);
    }
    let fault = first_bytes(input).ok().and_then(|start| first_fault(input.format, &start));
    Err(content::unreadable(name, named, &survey, fault))
}

/// The survey of an input in its format, if it casts doubt on that format. It has no records if the input could not be
/// read.
fn doubtful_survey(input: &Input) -> Result<Option<Survey>, Error> {
    let is_doubtful = |survey: &Survey| survey.records > 0 && is_doubtful(survey, input.format);
    let sampled = match &input.evidence {
        Some(survey) => return Ok(Some(Survey::clone(survey)).filter(is_doubtful)),
        None => sample(input, 1),
    };
    let sampled = match sampled {
        Ok(small) if is_doubtful(&small) => sample(input, PROBE_RECORDS),
        sampled => sampled,
    };
    match sampled {
        Ok(survey) => Ok(Some(survey).filter(is_doubtful)),
        Err(error) if error.is_system_error() => Err(error),
        Err(_) => Ok(Some(Survey::default())),
    }
}

/// Recognises a container by its first bytes or its name.
fn container(path: &Path, compression: Compression) -> Result<Option<Container>, Error> {
    // A few records of any fixed-size format give the decompressed bytes.
    let plain = Input::named(path, FormatName { format: Format::Hcp, compression });
    let head = match first_bytes(&Input { compression, ..plain }) {
        Err(error) if error.is_system_error() => return Err(error),
        head => head.unwrap_or_default(),
    };
    let name = path.file_name().map(|name| text_of(Path::new(name))).unwrap_or_default();
    Ok(Container::from_magic(&head).or_else(|| Container::from_file_name(&name)))
}

/// Surveys a small sample, and a full one if most of the small one is readable.
fn survey(input: &Input) -> Result<Survey, Error> {
    match sample(input, 1)? {
        small if small.is_mostly_readable() => sample(input, PROBE_RECORDS),
        small => Ok(small),
    }
}

/// Detects compression by magic numbers.
fn compression_of(path: &Path) -> Result<Compression, Error> {
    let mut head = Vec::new();
    let read = files::open(path).and_then(|file| file.take(6).read_to_end(&mut head));
    read.map_err(|source| Error::io("open", text_of(path), source))?;
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
    fn formats_are_detected_by_content() {
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
    fn unrecognisable_content_is_an_error() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.bin");
        let record = &fs::read(data(Format::Psv)).unwrap()[..40];
        let text = &b"no record\n".repeat(20)[..];
        for bytes in [&[][..], text, &[0; 4000], &[record, text].concat()] {
            fs::write(&path, bytes).unwrap();
            let error = format_of(&path).unwrap_err();
            match bytes {
                [] => assert!(error.to_string().contains("a.bin is empty"), "{error}"),
                _ => assert!(error.to_string().contains("has an unknown format"), "{error}"),
            }
        }
    }
}
