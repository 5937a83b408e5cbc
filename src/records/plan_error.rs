//! Errors found while a request is checked, before anything is created.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::format::{Ending, Field, Fields, Fill, Format, UnsupportedConversionError};
use crate::records::content::ContentError;
use crate::records::format_name::FormatName;
use crate::records::source::SourceError;
use crate::storage::memory::Memory;
use crate::storage::quantity::quantity;

/// Why a run cannot begin.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// No input was named.
    #[error("no input")]
    NoInput,
    /// Standard input, a pipe or a device, which cannot be measured or read again, where that is needed.
    #[error(
        "{input} can be read only once, as a whole and from its start: {why}; write it to a file first"
    )]
    ReadOnce {
        /// The input.
        input: String,
        /// What is in the way.
        why: &'static str,
    },
    /// A build without Parquet.
    #[error(
        "this program was built without Parquet; `cargo install --path . --features parquet` builds it in"
    )]
    NoParquet,
    /// The columns are those of another format.
    #[error("a Parquet file holds the fields of jsonl, not {format}; leave the format out")]
    NotInParquet {
        /// The format asked for.
        format: &'static str,
    },
    /// A Parquet file that is an object.
    #[error(
        "{input} cannot be read: of object stores Parquet is only written; copy it to a disk first"
    )]
    ParquetObject {
        /// The input.
        input: String,
    },
    /// A file of columns is made of rows that wait on the same disk.
    #[error("{} cannot be an object: write it to a disk, and copy it", output.display())]
    TableObject {
        /// The output.
        output: PathBuf,
    },
    /// The name of an input does not say its format.
    #[error("the name of {input} does not say its format; say it with --from")]
    UnknownFormat {
        /// The input.
        input: String,
    },
    /// Neither does its content.
    #[error(
        "{input} is of no known format: neither its name nor its content says one{nearest}; say it with --from"
    )]
    UndetectedFormat {
        /// The input.
        input: String,
        /// As what most of it can be read, in parentheses; nothing if none of it can.
        nearest: String,
    },
    /// Its content may be of several formats.
    #[error("{input} may be {}: say with --from which", formats.join(" or "))]
    AmbiguousFormat {
        /// The input.
        input: String,
        /// As what it can be read.
        formats: Vec<&'static str>,
    },
    /// The content contradicts the name.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// References that hold nothing to compare with.
    #[error("there is no record in the references: nothing would be left out")]
    EmptyReference,
    /// An input is a folder.
    #[error("{folder} is a folder: name the files in it, as in {folder}/{pattern}")]
    InputIsAFolder {
        /// The folder.
        folder: String,
        /// A pattern of names that are there.
        pattern: String,
    },
    /// Inputs in different formats.
    #[error("{first} and {second} have different formats; say with --to which one to write")]
    MixedFormats {
        /// An input.
        first: String,
        /// An input in another format.
        second: String,
    },
    /// Inputs in different formats where records are not converted.
    #[error(
        "{first} and {second} have different formats; bring them to one with `kyokumen convert`"
    )]
    DifferentFormats {
        /// An input.
        first: String,
        /// An input in another format.
        second: String,
    },
    /// Inputs whose moves would not be told apart in one file.
    #[error(
        "the moves of {first} and {second} are encoded differently; bring them to one encoding with \
         `kyokumen convert --canonical`, or say with --dialect that they are the same"
    )]
    DifferentDialects {
        /// An input.
        first: String,
        /// An input with another encoding.
        second: String,
    },
    /// An output in another format where records are not converted.
    #[error("{output} would be {to}, and the records are {from}; `kyokumen convert` converts them")]
    NotConverted {
        /// The output.
        output: String,
        /// The format it says.
        to: Format,
        /// The format of the inputs.
        from: Format,
    },
    /// Shards begin at any record, which would cut games in two.
    #[error(
        "{input} holds games, which {to} keeps whole: take parts that `kyokumen split` makes, in place of shards"
    )]
    GamesInShards {
        /// The input.
        input: String,
        /// The format of the output.
        to: Format,
    },
    /// A format without evaluations.
    #[error(
        "{to} holds no evaluations; `kyokumen formats` says which formats do, and --to takes one"
    )]
    NoEvaluation {
        /// The format of the output.
        to: Format,
    },
    /// Positions of games are not compared.
    #[error(
        "the records of {format} stand in games or groups that are moved as wholes: --key bytes compares those"
    )]
    OnlyBytes {
        /// The format.
        format: Format,
    },
    /// The mean of records that say the same.
    #[error(
        "records that are equal by --key {key} say the same, and --average has nothing to do; compare by position or \
         position+move"
    )]
    NothingToAverage {
        /// The key.
        key: &'static str,
    },
    /// A format without a place for the mean of records.
    #[error(
        "--average cannot be asked of {input}: {format} holds {}",
        if format.has_single_records() {
            "no evaluations; without it the first of equal records is written"
        } else {
            "games or groups that are moved as wholes; `kyokumen convert` makes records of them, as psv or hcpe"
        }
    )]
    NotAveraged {
        /// The input.
        input: String,
        /// Its format.
        format: Format,
    },
    /// More parts than files can be written at once.
    #[error(
        "{} at once would take more than {memory} of --memory; allow more, or take ranges (--by ranges)",
        quantity(*parts, "part")
    )]
    TooManyParts {
        /// As many.
        parts: u32,
        /// The memory that they may take.
        memory: Memory,
    },
    /// A unit that no part has room for.
    #[error(
        "a record or game of the input takes {least} {what} with what stands before it in a file, and is not cut: \
         --{option} must be {least} at least"
    )]
    NoRoomInPart {
        /// Long name of the option.
        option: &'static str,
        /// What the largest one takes.
        least: u64,
        /// Of what.
        what: &'static str,
    },
    /// More parts than files may be open at once.
    #[error(
        "{parts} parts are more than the {most} files that this process may write at once; take larger ones, or raise the \
         limit of the system (`ulimit -Hn`)"
    )]
    TooManyFiles {
        /// As many parts.
        parts: usize,
        /// Files that may be written.
        most: u64,
    },
    /// More parts than there are names for.
    #[error("{parts} parts are more than {most}")]
    MoreParts {
        /// As many.
        parts: u32,
        /// The most there can be.
        most: u32,
    },
    /// Weights that do not go with the inputs.
    #[error("{} for {}: there must be one for each", quantity(*weights, "weight"), quantity(*inputs, "input"))]
    WeightsOfInputs {
        /// Number of weights.
        weights: usize,
        /// Number of inputs.
        inputs: usize,
    },
    /// A filter on a field that a format does not have.
    #[error("--{filter} cannot be asked of {input}: {format} records have no {field}")]
    FilterOnMissingField {
        /// Long name of the option.
        filter: &'static str,
        /// The input.
        input: String,
        /// Name of its format.
        format: &'static str,
        /// The field.
        field: Field,
    },
    /// A filter on the length of games where records do not say it.
    #[error(
        "--{filter} cannot be asked of {input}: {format} records do not say how long their games are, and here they may be \
         read from the middle of one; `kyokumen convert` puts games together and asks it"
    )]
    GamesNotTold {
        /// Long name of the option.
        filter: &'static str,
        /// The input.
        input: String,
        /// Its format.
        format: Format,
    },
    /// A filter on an ending that a format has no sign for.
    #[error(
        "--{filter}: {format} has no sign for {}, and {input} cannot say it; it can say {}",
        ending.name(), said(*format)
    )]
    EndingNotSaid {
        /// Long name of the option.
        filter: &'static str,
        /// The input.
        input: String,
        /// Its format.
        format: Format,
        /// The ending.
        ending: Ending,
    },
    /// The output format has fields that an input lacks, or is never written.
    #[error("cannot convert {input}{}", advice(*source, *fill))]
    Conversion {
        /// The input.
        input: String,
        /// Values that are filled in.
        fill: Fill,
        /// What is in the way.
        source: UnsupportedConversionError,
    },
    /// A loss where none is allowed.
    #[error("--strict: {input} holds {fields}, which {to} cannot hold")]
    Loss {
        /// The input.
        input: String,
        /// The output's format.
        to: String,
        /// What would be lost.
        fields: Fields,
    },
    /// Conditions on records where games are written.
    #[error(
        "{input} and {to} hold games, out of which no record can be left; write records first, as psv or hcpe"
    )]
    GamesAreNotFiltered {
        /// The input.
        input: String,
        /// The output's format.
        to: Format,
    },
    /// A format that holds games where records are sorted.
    #[error(
        "records cannot be sorted into files of games; say with --to which format of records to write, not {to}"
    )]
    NoRecords {
        /// The output's format.
        to: Format,
    },
    /// Records have the family of their format.
    #[error("--family says how arrays of numpy hold positions: for --to npz, not for {to}")]
    FamilyOfRecords {
        /// The output's format.
        to: FormatName,
    },
    /// `--encoding` for a format with only one encoding.
    #[error("--encoding says how kif, kifu, ki2 and ki2u are encoded, and the output is {to}")]
    OneEncoding {
        /// The output's format.
        to: String,
    },
    /// `--csa-version` for a format other than `csa`.
    #[error("--csa-version says how csa is written, and the output is {to}")]
    NoCsaVersion {
        /// The output's format.
        to: String,
    },
    /// A compression that is only read.
    #[error("{to} can be read, not written; write {} or {}.zst", to.format, to.format)]
    OnlyReadCompression {
        /// The output's format.
        to: FormatName,
    },
    /// The name of the output does not say how to write it.
    #[error("the name of {output} does not say its format; say it with --to")]
    UnknownOutputFormat {
        /// The output.
        output: String,
    },
    /// Side products need a name to stand beside.
    #[error("--on-error quarantine needs an output that is a file, and {output} is none")]
    NoPlaceForQuarantine {
        /// The output.
        output: String,
    },
    /// The stem is no file name.
    #[error("{name:?} cannot be the start of a file name")]
    Name {
        /// The stem.
        name: String,
    },
    /// An output is an input.
    #[error("{} would be written over the input {input}", output.display())]
    OutputIsInput {
        /// The output.
        output: PathBuf,
        /// The input.
        input: String,
    },
    /// The outputs of two inputs have the same name.
    #[error("two inputs would both be written to {}", output.display())]
    SameOutput {
        /// The output.
        output: PathBuf,
    },
    /// Two things that are written are in each other's way.
    #[error(
        "{} would be written over {}, which is written by the same run; name another file",
        path.display(), other.display()
    )]
    WrittenTwice {
        /// The one.
        path: PathBuf,
        /// The other.
        other: PathBuf,
    },
    /// Something stands in the place of a file that is not replaced by one.
    #[error(
        "{} is a device or a pipe, or a link to one; here a file is needed: name another, or take it away",
        output.display()
    )]
    NoFile {
        /// The place.
        output: PathBuf,
    },
    /// An output exists.
    #[error("{} exists; replace it with --force", output.display())]
    OutputExists {
        /// The output.
        output: PathBuf,
    },
    /// An interrupted run waits to be resumed.
    #[error(
        "{} is of a run that was interrupted; go on with --resume, or start afresh with --force",
        checkpoint.display()
    )]
    Interrupted {
        /// How far it came.
        checkpoint: PathBuf,
    },
    /// Columns, whose end says where all their parts are.
    #[error("{} cannot be resumed: write jsonl.zst, and convert it", output.display())]
    NotResumable {
        /// The output.
        output: PathBuf,
    },
    /// A folder stands where a file is to be.
    #[error("{} is a folder", output.display())]
    IsAFolder {
        /// The place.
        output: PathBuf,
    },
    /// The place of the outputs is a file.
    #[error("{} is not a folder", folder.display())]
    NotAFolder {
        /// The place.
        folder: PathBuf,
    },
    /// A file could not be looked at.
    #[error("cannot open {name}")]
    Look {
        /// The file.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// An input could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
}

impl PlanError {
    /// Whether another command line would help, as opposed to another state of the disk.
    pub const fn is_usage(&self) -> bool {
        !matches!(self, Self::Look { .. } | Self::Source(_))
    }
}

fn said(format: Format) -> String {
    let endings = format.endings().iter().map(|ending| ending.name());
    std::iter::once("normal").chain(endings).collect::<Vec<_>>().join(", ")
}

fn advice(source: UnsupportedConversionError, fill: Fill) -> String {
    match source {
        UnsupportedConversionError::Missing { fields, .. } => {
            let fill = fill.or(Fill::neutral(fields));
            let labels = fill.labels(fields);
            let caution = if labels.is_empty() {
                String::new()
            } else {
                format!(" (invents {labels}: not for training)")
            };
            format!(" without --fill {fill}{caution}")
        }
        UnsupportedConversionError::OnlyRead { to }
        | UnsupportedConversionError::NoMoves { to, .. } => format!(" to {to}"),
    }
}
