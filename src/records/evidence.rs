//! Detects format and move encoding of an input from a sample, before the input is read.
//!
//! The sample is taken at fixed positions of the whole input, so that every shard gets the same result.

use super::source::{self, Block, Input, InputLocation, InputRange, Source};
use crate::error::Error;
use crate::format::move16::Dialect;
use crate::format::{DialectFinding, Format, Survey};
use crate::records::content::is_comment_or_blank;
use crate::storage::quantity::quantity;

/// Number of places where a file is sampled.
const PROBES: u64 = 64;

/// Records sampled at each place.
pub(crate) const PROBE_RECORDS: u64 = 64;

/// A sample of an input without random access ends with the block that reaches this many bytes.
const SAMPLE_BYTES: usize = 1 << 25;

/// Records of a sample. Without random access they are the first ones.
pub(crate) const SAMPLE_RECORDS: u64 = PROBES * PROBE_RECORDS;

/// Samples an input of fixed-size records and decides whether `hcpe` records have 38 or 42 bytes, unless the format
/// was given. Standard input, pipes and damaged files are left unchanged; the reader will report the damage.
///
/// Errors of the system are returned. They may be temporary, and a later read must not use another format.
pub(crate) fn add_sample(input: &mut Input, is_format_given: bool) -> Result<(), Error> {
    let is_file = match &input.location {
        InputLocation::Stdin => false,
        InputLocation::File(path) => path.is_file(),
        InputLocation::Object(_) => true,
    };
    if is_file && input.format.record_len().is_some() {
        input.evidence = survey_if_readable(input)?;
        if input.format == Format::Hcpe && !is_format_given {
            detect_record_length(input)?;
        }
    }
    Ok(())
}

/// Decides the move encoding: the given one, or the one in which most moves of the sample are legal.
pub(crate) fn settle_dialect(input: &mut Input, dialect: Option<Dialect>) -> Result<(), Error> {
    let settled = match (dialect, &input.evidence) {
        (Some(dialect), survey) => {
            let found = survey.as_ref().map(|survey| survey.dialect(dialect));
            if let (Some(DialectFinding::Sure(found)), Some(survey)) = (found, survey)
                && found != dialect
            {
                tracing::warn!(
                    "{}: --dialect {} contradicts the moves: {} of {} legal in the encoding of {}",
                    input.name,
                    dialect.name(),
                    survey.legal_in(found),
                    telling_moves(survey.telling_moves),
                    found.name()
                );
            }
            dialect
        }
        (None, Some(survey)) => detected_dialect(input, survey),
        (None, None) => input.format.dialect(),
    };
    if settled != input.dialect {
        input.dialect = settled;
        // The survey must count the moves in the encoding that will be used.
        if input.evidence.is_some() {
            input.evidence = survey_if_readable(input)?;
        }
    }
    Ok(())
}

/// Surveys a sample. `None` if the data is damaged.
fn survey_if_readable(input: &Input) -> Result<Option<Box<Survey>>, Error> {
    match sample(input, PROBE_RECORDS) {
        Err(error) if error.is_system_error() => Err(error),
        sampled => Ok(sampled.ok().map(Box::new)),
    }
}

/// Reads `hcpe` as Apery's records of 42 bytes if most of them are readable, and a larger share than with 38 bytes. In
/// any data a few records are readable by chance.
fn detect_record_length(input: &mut Input) -> Result<(), Error> {
    let Some(survey) = input.evidence.as_ref().filter(|survey| survey.unreadable > 0) else {
        return Ok(());
    };
    let format = Format::Hcpe42;
    let other = Input { format, dialect: format.dialect(), ..input.clone() };
    let Some(longer) = survey_if_readable(&other)? else { return Ok(()) };
    let name = &input.name;
    let readable = |survey: &Survey| {
        let Survey { records, unreadable, .. } = survey;
        format!("{} of {}", records - unreadable, quantity(*records, "record"))
    };
    if longer.is_mostly_readable() && longer.readable_share() > survey.readable_share() {
        tracing::warn!(
            "{name}: read as hcpe42, Apery's records of 42 bytes: {} in a sample can be read as hcpe42, {} as hcpe; \
             use --from hcpe to force 38 bytes",
            readable(&longer),
            readable(survey)
        );
        *input = Input { evidence: Some(longer), ..other };
    }
    Ok(())
}

/// `1 move that differs between the encodings is`, `2 moves that differ between the encodings are`
fn telling_moves(number: u64) -> String {
    match number {
        1 => "1 move that differs between the encodings is".to_owned(),
        _ => format!("{number} moves that differ between the encodings are"),
    }
}

fn detected_dialect(input: &Input, survey: &Survey) -> Dialect {
    let own = input.format.dialect();
    let finding = survey.dialect(own);
    if finding == DialectFinding::Unsure {
        tracing::warn!(
            "{}: unknown move encoding, because most moves are illegal in every known one; assuming {}",
            input.name,
            own.name()
        );
    }
    finding.dialect(own)
}

/// Warns of inputs whose moves have another encoding than usual in their format: once per encoding.
pub(crate) fn warn_of_unusual_encodings<'a>(inputs: impl Iterator<Item = &'a Input>) {
    let mut inputs: Vec<_> =
        inputs.filter(|input| input.dialect != input.format.dialect()).collect();
    while let Some(&first) = inputs.first() {
        let (own, found) = (first.format.dialect(), first.dialect);
        let alike = |input: &&Input| (input.format.dialect(), input.dialect) == (own, found);
        let more = inputs.iter().filter(|input| alike(input)).count() - 1;
        let inputs_alike = match more {
            0 => first.name.clone(),
            _ => format!("{} and {more} more", first.name),
        };
        let counts = first.evidence.as_ref().filter(|_| more == 0).map(|survey| {
            let (legal, telling) = (survey.legal_in(found), telling_moves(survey.telling_moves));
            format!(": {legal} of {telling} legal in {}", found.name())
        });
        tracing::warn!(
            "{inputs_alike}: the moves are in the encoding of {}, not of {}{}; they are read as {} (--dialect {} overrides this)",
            found.name(),
            own.name(),
            counts.unwrap_or_default(),
            found.name(),
            own.name()
        );
        inputs.retain(|input| !alike(input));
    }
}

/// Samples `probe_records` records at each of [`PROBES`] places in the whole file. Without random access, samples the
/// same number from the start.
pub(crate) fn sample(input: &Input, probe_records: u64) -> Result<Survey, Error> {
    if !source::has_random_access(input) {
        return sample_start(input, probe_records * PROBES);
    }
    // If the frame table is wrong, the content may still be readable from the start.
    match sample_all(input, probe_records) {
        Err(error) if !error.is_system_error() => sample_start(input, probe_records * PROBES),
        sampled => sampled,
    }
}

fn sample_all(input: &Input, probe_records: u64) -> Result<Survey, Error> {
    let mut survey = Survey::default();
    let records = source::count_records(input)?;
    let all = probe_records * PROBES;
    let (places, place_records) = if records <= all { (1, all) } else { (PROBES, probe_records) };
    for place in 0..places {
        let from = (u128::from(records) * u128::from(place) / u128::from(places)) as u64;
        let range = InputRange::range(input.clone(), from, Some(from + place_records));
        for block in Source::new(vec![range], place_records) {
            survey_block(&mut survey, &block?);
        }
    }
    Ok(survey)
}

fn sample_start(input: &Input, records: u64) -> Result<Survey, Error> {
    let mut survey = Survey::default();
    let source = Source::new(vec![InputRange::whole(input.clone())], records);
    let mut bytes = 0;
    for block in source.limited_to(records) {
        let block = block?;
        survey_block(&mut survey, &block);
        bytes += block.bytes().len();
        // In a file without games, the search for one would read the whole file.
        if bytes >= SAMPLE_BYTES {
            break;
        }
    }
    Ok(survey)
}

/// The first bytes of an input, decompressed: whole chunks, or a few fixed-size records.
pub(crate) fn first_bytes(input: &Input) -> Result<Vec<u8>, Error> {
    let range = InputRange::whole(Input { evidence: None, ..input.clone() });
    let block = Source::new(vec![range], PROBE_RECORDS).next().transpose()?;
    Ok(block.map_or_else(Vec::new, |block| block.bytes().to_vec()))
}

/// Adds the records of a block to a survey.
pub(crate) fn survey_block(survey: &mut Survey, block: &Block) {
    let records =
        block.wanted_records().filter(|read| !is_comment_or_blank(block.format, &read.chunk));
    records.for_each(|read| survey.add(read.record.ok()));
}
