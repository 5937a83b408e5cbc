//! Detects formats by content, and builds the errors for names that contradict it.
//!
//! Magic numbers: `file(1)`, and the specifications of the containers.

use crate::error::{Error, ErrorKind, Remedy};
use crate::format::Format::{self, Bod, Ki2, Ki2u, Kif, Kifu};
use crate::format::{Chunks, Decoder, DialectFinding, RawChunk, RecordPlace, Survey};
use crate::records::bad_record::{line_of, line_prefix};
use crate::records::format_name::FormatName;
use crate::storage::compression::Compression;
use crate::storage::quantity::quantity;

/// The share of a sample that must be readable. In a file of another format at most a tenth of the records can be read;
/// in a damaged file of the right format, more.
const READABLE: f64 = 0.9;

/// Maximum number of records that are sampled from the first block of a pipe.
const MOST_RECORDS: u64 = 1 << 12;

/// A format that an input may have, with the survey of a sample read in this format.
pub(crate) struct FormatCandidate {
    pub(crate) format: Format,
    pub(crate) survey: Survey,
}

impl FormatCandidate {
    /// Whether enough records can be read, and most of their moves are legal in one move encoding.
    pub(crate) fn is_possible(&self) -> bool {
        let survey = &self.survey;
        let has_moves = survey.dialect(self.format.dialect()) != DialectFinding::Unsure;
        survey.records > 0 && survey.readable_share() >= READABLE && has_moves
    }

    /// Whether the flags of the results fit the format. `hcpe` and `hcpe2` have records of the same length, but only
    /// `hcpe2` has flags.
    fn fits_result_flags(&self) -> bool {
        (self.format == Format::Hcpe2) == (self.survey.result_flags > 0)
    }

    /// Number of records in the sample that can be read.
    pub(crate) fn readable_records(&self) -> u64 {
        self.survey.records - self.survey.unreadable
    }

    pub(crate) fn readable(&self) -> String {
        let sampled = sampled(self.readable_records(), self.survey.records);
        format!("{sampled} can be read as {}", self.format)
    }
}

pub(crate) fn possible(mut candidates: Vec<FormatCandidate>) -> Vec<FormatCandidate> {
    candidates.retain(FormatCandidate::is_possible);
    if candidates.len() > 1 {
        let is_like_hcpe =
            |one: &FormatCandidate| one.format.record_len() == Format::Hcpe.record_len();
        candidates.retain(|one| !is_like_hcpe(one) || one.fits_result_flags());
    }
    candidates
}

/// All formats in groups, in the order they are tried. Formats of one group are not mistaken for each other.
/// The first groups are cheap: a few records show that a file is of another format. The last ones search the whole file
/// for records.
pub(crate) fn groups() -> [Vec<Format>; 4] {
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

/// Replaces [`Format::Kif`] by the Kakinoki format that the text is in. One reader reads all of them, diagrams
/// included, so the survey alone cannot tell.
pub(crate) fn settle_kif(candidates: &mut Vec<FormatCandidate>, text: impl FnOnce() -> Vec<u8>) {
    if !candidates.iter().any(|one| matches!(one.format, Kif | Bod) && one.is_possible()) {
        return;
    }
    let format = Format::of_kif_text(&text());
    candidates.retain(|one| one.format != if format == Bod { Kif } else { Bod });
    for one in candidates.iter_mut().filter(|one| one.format == Kif) {
        one.format = format;
    }
}

/// Whether a sample casts doubt on the format in the name: fewer records than [`READABLE`] can be read, or most moves
/// are illegal in every encoding.
pub(crate) fn is_doubtful(survey: &Survey, format: Format) -> bool {
    survey.readable_share() < READABLE || survey.moves_are_mostly_illegal(format.dialect())
}

pub(crate) const fn is_mostly_unreadable(survey: &Survey) -> bool {
    survey.unreadable.saturating_mul(2) > survey.records
}

/// The candidates that fit a sample better than the format in the name. `named` is the survey in that format.
pub(crate) fn better(named: &Survey, candidates: Vec<FormatCandidate>) -> Vec<FormatCandidate> {
    let mut others = possible(candidates);
    others.retain(|FormatCandidate { format, survey }| {
        survey.readable_share() >= named.readable_share()
            && !survey.moves_are_mostly_illegal(format.dialect())
    });
    others
}

/// Checks the first block of a pipe, which cannot be sampled.
pub(crate) fn check_start(
    input: &str,
    named: FormatName,
    bytes: &[u8],
    is_all: bool,
    accepts_unreadable: bool,
) -> Result<(), Error> {
    let format = named.format;
    let survey = survey_of_start(format, bytes, is_all);
    if survey.records == 0 || !is_doubtful(&survey, format) {
        return Ok(());
    }
    let others = Format::ALL.into_iter();
    let others = others.filter(|other| *other != format && !matches!(other, Kifu | Ki2 | Ki2u));
    let mut candidates = others
        .map(|format| FormatCandidate { format, survey: survey_of_start(format, bytes, is_all) })
        .collect();
    settle_kif(&mut candidates, || bytes.to_vec());
    if let Some(error) = other_format(input, named, named.compression, &better(&survey, candidates))
    {
        return Err(error);
    }
    if let Some(container) = Container::from_magic(bytes) {
        return Err(container.error(input, Some(named)));
    }
    if accepts_unreadable || !is_mostly_unreadable(&survey) {
        return Ok(());
    }
    Err(unreadable(input, named, &survey, first_fault(format, bytes)))
}

/// Surveys the start of an input in a format. The last chunk is left out unless `is_all`, because it may be cut off.
fn survey_of_start(format: Format, bytes: &[u8], is_all: bool) -> Survey {
    let mut survey = Survey::default();
    let mut chunks = Chunks::new(format, bytes, false).peekable();
    while let Some(chunk) = chunks.next() {
        let is_whole = match format.record_len() {
            Some(len) => is_all || chunk.bytes.len() == len,
            None => is_all || chunks.peek().is_some(),
        };
        if !is_whole || survey.records >= MOST_RECORDS {
            break;
        }
        if !is_comment_or_blank(format, &chunk) {
            chunk.records(format, format.dialect()).for_each(|record| survey.add(record.ok()));
        }
    }
    survey
}

/// Whether a chunk is a comment or a blank line, which is not evidence for a format.
pub(crate) fn is_comment_or_blank(format: Format, chunk: &RawChunk<'_>) -> bool {
    let content = chunk.without_line_end(format).trim_ascii();
    let is_line = format.is_lines() && (content.is_empty() || content.starts_with(b"#"));
    is_line || format.is_comment(content)
}

/// The error of the first bad record. `bytes` begin with a record.
pub(crate) fn first_fault(format: Format, bytes: &[u8]) -> Option<String> {
    Decoder::new(format, bytes).filter(|read| !is_comment_or_blank(format, &read.chunk)).find_map(
        |read| {
            let error = read.record.and_then(|record| record.record()).err()?;
            let offset = read.chunk.offset;
            let byte = error.byte().filter(|_| format.is_text());
            let before = byte.and_then(|byte| bytes.get(..offset as usize + byte));
            let line = line_prefix(before.map(line_of));
            Some(format!("{line}{}: {error}", RecordPlace { index: read.index, offset }))
        },
    )
}

/// A file of another kind, such as an archive or an image, recognised by its first bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Container {
    name: &'static str,
    advice: &'static str,
}

const EXTRACT: &str = "extract it first";
const DECOMPRESS: &str =
    "decompress it first; only .zst, .gz and .xz are decompressed while reading";
const NOTHING: &str = "it holds no positions";

/// Magic numbers with their offsets.
const MAGIC: &[(usize, &[u8], Container)] = &[
    (0, b"PK\x03\x04", Container { name: "a ZIP archive", advice: EXTRACT }),
    (0, b"PK\x05\x06", Container { name: "an empty ZIP archive", advice: NOTHING }),
    (0, b"7z\xBC\xAF\x27\x1C", Container { name: "a 7z archive", advice: EXTRACT }),
    (0, b"Rar!\x1A\x07", Container { name: "a RAR archive", advice: EXTRACT }),
    (257, b"ustar", Container { name: "a tar archive", advice: EXTRACT }),
    (2, b"-lh", Container { name: "an LZH archive", advice: EXTRACT }),
    (2, b"-lz", Container { name: "an LZH archive", advice: EXTRACT }),
    (0, b"BZh", Container { name: "a bzip2 file", advice: DECOMPRESS }),
    (0, b"\x04\x22\x4D\x18", Container { name: "an lz4 file", advice: DECOMPRESS }),
    (0, b"MSCF", Container { name: "a Cabinet archive", advice: EXTRACT }),
    (0, b"SQLite format 3\0", Container { name: "an SQLite database", advice: DATABASE }),
    (0, b"\x89PNG\r\n\x1A\n", Container { name: "a PNG image", advice: NOTHING }),
    (0, b"\xFF\xD8\xFF", Container { name: "a JPEG image", advice: NOTHING }),
    (0, b"GIF8", Container { name: "a GIF image", advice: NOTHING }),
    (0, b"%PDF-", Container { name: "a PDF document", advice: NOTHING }),
    (0, b"\x7FELF", Container { name: "a program", advice: NOTHING }),
    (0, b"MZ", Container { name: "a program", advice: NOTHING }),
    (0, b"\x89HDF\r\n\x1A\n", Container { name: "an HDF5 file", advice: ARRAY }),
    (0, b"\x93NUMPY", Container { name: "a NumPy array", advice: ARRAY }),
    (0, b"version https://git-lfs", Container { name: "a Git LFS pointer", advice: LFS }),
];

const DATABASE: &str = "this format is not supported; export its positions as text first";
const ARRAY: &str = "this format is not supported; write its records in a format listed by `kyokumen formats` first";
const ARRAYS: &str = "npz files are only written; read them with `numpy.load`";
const LFS: &str = "the file itself was not downloaded; run `git lfs pull`";
const PAGE: &str = "the download may have failed and left an error page";
const BOOK: &str = "this format is not supported; export it as a YaneuraOu text book (.db) first";

impl Container {
    pub(crate) fn error(self, input: &str, named: Option<FormatName>) -> Error {
        let not =
            named.map(|named| format!(", not {named} as its name suggests")).unwrap_or_default();
        let is_npz = input.rsplit_once('.').is_some_and(|(_, end)| end == "npz");
        let advice = if is_npz { ARRAYS } else { self.advice };
        let message = format!("{input}: the content is {}{not}; {advice}", self.name);
        Error::new(ErrorKind::NotRecords, message).in_file(input)
    }

    pub(crate) fn from_magic(head: &[u8]) -> Option<Self> {
        let begins = |&&(at, magic, _): &&(usize, &[u8], Self)| {
            head.get(at..).is_some_and(|rest| rest.starts_with(magic))
        };
        if let Some((_, _, container)) = MAGIC.iter().find(begins) {
            return Some(*container);
        }
        let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
        let is_page = [&b"<!doctype html"[..], b"<html"].iter().any(|start| {
            head.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
        });
        is_page.then_some(Self { name: "an HTML page", advice: PAGE })
    }

    /// The binary opening book that usually has this file name.
    pub(crate) fn from_file_name(file_name: &str) -> Option<Self> {
        let name = file_name.to_ascii_lowercase();
        let name = match name.rsplit_once('.') {
            Some((_, "ybb")) => "a binary book of YaneuraOu",
            Some((_, "sbk")) => "a book of ShogiGUI",
            Some(("book", "bin")) => "a book of Apery",
            _ => return None,
        };
        Some(Self { name, advice: BOOK })
    }
}

/// The error for an input whose content fits `others` and is compressed with `compression`. `None` if `others` is
/// empty.
pub(crate) fn other_format(
    input: &str,
    named: FormatName,
    compression: Compression,
    others: &[FormatCandidate],
) -> Option<Error> {
    let best = others.first()?;
    let formats = others.iter().map(|other| FormatName { format: other.format, compression });
    let formats: Vec<_> = formats.map(|format| format.to_string()).collect();
    let best_format = FormatName { format: best.format, compression };
    let message = format!(
        "{input}: the content is {} ({} can be read), not {named} as its name suggests",
        formats.join(" or "),
        sampled(best.readable_records(), best.survey.records)
    );
    // A given format does not override a compression in the file name. Such a file must be renamed.
    let is_rename = compression != named.compression && compression == Compression::None;
    let remedy = if is_rename {
        Remedy::Rename(best_format)
    } else {
        Remedy::ReadAs { found: best_format, named }
    };
    Some(
        Error::new(ErrorKind::OtherFormat(best_format), message).in_file(input).with_remedy(remedy),
    )
}

/// Advises to rename the file. Used for inputs whose format cannot be set with an option.
pub(crate) fn without_option(error: Error) -> Error {
    match error.kind() {
        &ErrorKind::OtherFormat(found) => error.with_remedy(Remedy::Rename(found)),
        _ => error,
    }
}

pub(crate) fn unreadable(
    input: &str,
    named: FormatName,
    survey: &Survey,
    fault: Option<String>,
) -> Error {
    let fault = fault.map_or_else(String::new, |fault| format!("; first error: {fault}"));
    let sampled = sampled(survey.records - survey.unreadable, survey.records);
    let message = format!(
        "{input} does not look like {named} or any other format: {sampled} can be read as {named}{fault}"
    );
    let error = Error::new(ErrorKind::Unreadable, message).in_file(input);
    // Otherwise the first record would only give the same error again.
    if survey.unreadable < survey.records {
        error.with_remedy(Remedy::ReadAnyway(named))
    } else {
        error
    }
}

fn sampled(readable: u64, records: u64) -> String {
    match (readable, records) {
        (0, 1) => "no record".to_owned(),
        _ => format!("{readable} of {} in a sample", quantity(records, "record")),
    }
}
