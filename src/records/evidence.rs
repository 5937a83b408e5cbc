//! Detects format and move encoding of an input from a sample, before the input is read.
//!
//! The sample is taken at fixed positions of the whole input, so that every shard gets the same result.

use super::source::{self, Block, Input, InputLocation, InputRange, Source};
use crate::error::Error;
use crate::format::move16::Dialect;
use crate::format::{DialectFinding, Format, Survey};
use crate::records::content::is_remark;
use crate::storage::quantity::quantity;

/// Places at which a file is sampled.
const PROBES: u64 = 64;

/// Records sampled at each place.
pub(crate) const PROBE_RECORDS: u64 = 64;

/// A sample of an input without random access ends with the block that reaches this many bytes.
const SAMPLE_BYTES: usize = 1 << 25;

/// Records of a sample. Without random access they are the first ones.
pub(crate) const SAMPLE_RECORDS: u64 = PROBES * PROBE_RECORDS;

/// Samples an input of fixed-size records and decides whether `hcpe` records have 38 or 42 bytes, unless the format
/// was given. Standard input, pipes and damaged files stay as they are: the reader will report what is wrong.
///
/// Errors of the system are returned: the reader may succeed a moment later, and must not take the input for another
/// format then.
pub(crate) fn add_sample(input: &mut Input, is_format_given: bool) -> Result<(), Error> {
    let is_file = match &input.location {
        InputLocation::Stdin => false,
        InputLocation::File(path) => path.is_file(),
        InputLocation::Object(_) => true,
    };
    if is_file && input.format.record_len().is_some() {
        input.evidence = found(input)?;
        if input.format == Format::Hcpe && !is_format_given {
            detect_record_length(input)?;
        }
    }
    Ok(())
}

/// Decides the move encoding: the given one, or the one in which most moves of the sample are legal.
pub(crate) fn settle_dialect(input: &mut Input, dialect: Option<Dialect>) -> Result<(), Error> {
    let settled = match (dialect, &input.evidence) {
        (Some(dialect), _) => dialect,
        (None, Some(survey)) => detected_dialect(input, survey),
        (None, None) => input.format.dialect(),
    };
    if settled != input.dialect {
        input.dialect = settled;
        // The move counts must be those of the encoding that will be used.
        if input.evidence.is_some() {
            input.evidence = found(input)?;
        }
    }
    Ok(())
}

/// Surveys a sample. `None` if the data is damaged.
fn found(input: &Input) -> Result<Option<Box<Survey>>, Error> {
    match sample(input, PROBE_RECORDS) {
        Err(error) if error.is_of_system() => Err(error),
        sampled => Ok(sampled.ok().map(Box::new)),
    }
}

/// Reads `hcpe` as Apery's records of 42 bytes if most of them are readable, and a larger share than with 38 bytes. A
/// few are readable by chance in any data.
fn detect_record_length(input: &mut Input) -> Result<(), Error> {
    let Some(survey) = input.evidence.as_ref().filter(|survey| survey.unreadable > 0) else {
        return Ok(());
    };
    let format = Format::Hcpe42;
    let other = Input { format, dialect: format.dialect(), ..input.clone() };
    let Some(longer) = found(&other)? else { return Ok(()) };
    let name = &input.name;
    let readable = |survey: &Survey| {
        let Survey { records, unreadable, .. } = survey;
        format!("{} of {} looked at", records - unreadable, quantity(*records, "record"))
    };
    let as_named = format!("as hcpe {} can be read", readable(survey));
    if longer.is_mostly_readable() && longer.readable_share() > survey.readable_share() {
        tracing::warn!(
            "{name}: taken for hcpe42, Apery's records of 42 bytes: {as_named}, as hcpe42 {}; \
             --from hcpe forces 38",
            readable(&longer)
        );
        *input = Input { evidence: Some(longer), ..other };
    }
    Ok(())
}

/// `1 move that tells is`, `2 moves that tell are`
pub(crate) fn telling_moves(number: u64) -> String {
    match number {
        1 => "1 move that tells is".to_owned(),
        _ => format!("{number} moves that tell are"),
    }
}

fn detected_dialect(input: &Input, survey: &Survey) -> Dialect {
    let own = input.format.dialect();
    let finding = survey.dialect(own);
    let name = &input.name;
    match finding {
        DialectFinding::Sure(dialect) if dialect != own => tracing::warn!(
            "{name}: moves are encoded as by {}, not {}: {} of {} legal so; \
             --dialect {} forces the other",
            dialect.name(),
            own.name(),
            survey.legal_in(dialect),
            telling_moves(survey.telling_moves),
            own.name()
        ),
        DialectFinding::Unsure => tracing::warn!(
            "{name}: in no known encoding are most of the moves legal; taken for {}",
            own.name()
        ),
        DialectFinding::Sure(_) | DialectFinding::Undetermined => {}
    }
    finding.dialect(own)
}

/// Samples so many records at each of [`PROBES`] places in the whole file, or as many from its start if the input has
/// no random access.
pub(crate) fn sample(input: &Input, in_each: u64) -> Result<Survey, Error> {
    if !source::can_be_computed(input) {
        return sample_start(input, in_each * PROBES);
    }
    // A table of frames may be wrong, and still all that the file holds can be read.
    match sample_all(input, in_each) {
        Err(error) if !error.is_of_system() => sample_start(input, in_each * PROBES),
        sampled => sampled,
    }
}

fn sample_all(input: &Input, in_each: u64) -> Result<Survey, Error> {
    let mut survey = Survey::default();
    let records = source::count_records(input)?;
    let all = in_each * PROBES;
    let (places, in_each) = if records <= all { (1, all) } else { (PROBES, in_each) };
    for place in 0..places {
        let from = (u128::from(records) * u128::from(place) / u128::from(places)) as u64;
        let part = InputRange::range(input.clone(), from, Some(from + in_each));
        for block in Source::new(vec![part], in_each) {
            take_into(&mut survey, &block?);
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
        take_into(&mut survey, &block);
        bytes += block.bytes().len();
        // In a file without games, the search for one would read the whole file.
        if bytes >= SAMPLE_BYTES {
            break;
        }
    }
    Ok(survey)
}

/// The first bytes of an input, decompressed: whole chunks, or a few fixed-size records.
pub(crate) fn start_of(input: &Input) -> Result<Vec<u8>, Error> {
    let part = InputRange::whole(Input { evidence: None, ..input.clone() });
    let block = Source::new(vec![part], PROBE_RECORDS).next().transpose()?;
    Ok(block.map_or_else(Vec::new, |block| block.bytes().to_vec()))
}

pub(crate) fn take_into(survey: &mut Survey, block: &Block) {
    let records = block.wanted_records().filter(|read| !is_remark(block.format, &read.chunk));
    records.for_each(|read| survey.add(read.record.ok()));
}
