//! The plan of a conversion. All checks are done here, before any file is created.
//!
//! File names, formats and inputs that are also outputs follow the same rules as in [`crate::jobs::plan`].

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{EvalScale, OutputFormat, arrays, strict};
use crate::error::Error;
use crate::format::move16::Dialect;
use crate::format::packed::Family;
use crate::format::{ConversionPlan, CsaVersion, Field, Fill, Format, TextEncoding, WriteOptions};
use crate::ops::convert::strict::Route;
use crate::records::bad_record::BadPolicy;
use crate::records::claims::{FileClaim, FileClaims, check_absence, check_pipe, is_pipe};
use crate::records::filters::RecordFilters;
use crate::records::format_name::{FormatName, without_compression};
use crate::records::lineage::warn_of_mixed_outputs;
use crate::records::opening::{
    self, Unreadable, check_compression, check_filters, side_outputs, warn_of_filled_in_labels,
};
use crate::records::output_kind::OutputKind;
use crate::records::position_set::PositionSet;
use crate::records::selection::{Selection, select_records};
use crate::records::sink::OutputPlan;
use crate::records::source::{Input, InputRange};
use crate::storage::compression::Compression;
use crate::storage::files;
#[cfg(feature = "cli")]
use crate::storage::location::location;
use crate::storage::memory::Memory;
use crate::storage::path_text::text_of;
#[cfg(feature = "cli")]
use crate::storage::value_error::word;

/// The unchecked request of a conversion.
///
/// Defines the command-line options: every field without `skip` is an option.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct ConvertRequest {
    /// Position files, read as one sequence. `-` is standard input.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub inputs: Vec<PathBuf>,
    /// Output file in an existing folder; `-` is standard output
    #[cfg_attr(feature = "cli", arg(short, long, value_name = "OUTPUT", required = true, value_parser = location(), help_heading = OUTPUTS))]
    pub output: PathBuf,
    /// Format of the inputs. `None`: detected by extension.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub from: Option<FormatName>,
    /// Encoding of 16-bit moves in the inputs. `None`: detected from the records.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub dialect: Option<Dialect>,
    /// Format of the output; required for standard output [default: from the extension; for a name like x.bin, the
    /// format of the inputs if they have this extension too]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FORMAT", help_heading = OUTPUTS))]
    pub to: Option<OutputFormat>,
    /// Encoding of positions and moves in NumPy arrays (--to npz): `apery` as in hcp and hcpe, `yaneuraou` as in psv
    /// [default: apery]
    #[cfg_attr(feature = "cli", arg(long, value_name = "apery|yaneuraou", value_parser = family, help_heading = OUTPUTS, hide_short_help = true))]
    pub family: Option<Family>,
    /// Text encoding of kif, kifu, ki2 and ki2u outputs [default: `shift_jis` for kif and ki2, utf-8 for kifu and ki2u]
    #[cfg_attr(feature = "cli", arg(long, value_name = "utf-8|shift_jis", value_parser = encoding, help_heading = OUTPUTS, hide_short_help = true))]
    pub encoding: Option<TextEncoding>,
    /// Replace existing outputs.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub force: bool,
    /// Compute checksums of inputs and outputs for the report.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub checksums: bool,
    /// The settings.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub settings: ConvertSettings,
}

#[cfg(feature = "cli")]
const OUTPUTS: &str = "Outputs";

/// The settings that determine the output bytes, and the number of threads.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate option")]
pub struct ConvertSettings {
    /// Filters that select the records to write.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub filters: RecordFilters,
    /// CSA version of the output [default: 2.2; games copied from csa keep their version]
    #[cfg_attr(feature = "cli", arg(long, value_name = "2.2|3.0", value_parser = csa_version, help_heading = OUTPUTS, hide_short_help = true))]
    pub csa_version: Option<CsaVersion>,
    /// Values for fields that a record lacks (`move`, `eval`, `result`, `ply`, `end_ply`: number of the last move of
    /// the game), as in eval=0,result=draw. The move is `none` or a move in USI notation; records where it is illegal
    /// are bad. Do not train with filled-in evaluations or results
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD=VALUE,…", default_value = "", hide_default_value = true, help_heading = OUTPUTS))]
    pub fill: Fill,
    /// How to write records to a format that holds games: `joined` joins consecutive records into one game if each
    /// leads to the next, `single` makes each record a game of one move [default: joined]
    #[cfg_attr(feature = "cli", arg(long, value_name = "joined|single", default_value = "joined", hide_default_value = true, value_parser = word::<MakeGames>, help_heading = OUTPUTS, hide_short_help = true))]
    pub make_games: MakeGames,
    /// Keep only the first of equal positions (board, hands, side to move)
    #[cfg_attr(feature = "cli", arg(long, help_heading = OUTPUTS))]
    pub dedup: bool,
    /// Memory for the positions that --dedup compares, about 40 bytes each [default: 1G]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SIZE", requires = "dedup", default_value = "1G", hide_default_value = true, help_heading = OUTPUTS, hide_short_help = true))]
    pub memory: Memory,
    /// Multiply evaluations by B/A and round to the nearest centipawn, for training data of another evaluation scale.
    /// Mate evaluations (29000 or more in absolute value) stay. All others are limited to 28999 in absolute value, and
    /// the report says how many were limited
    #[cfg_attr(feature = "cli", arg(long, value_name = "A:B", help_heading = OUTPUTS, hide_short_help = true))]
    pub eval_scale: Option<EvalScale>,
    /// Mirror the board left to right, moves included; records are re-encoded
    #[cfg_attr(feature = "cli", arg(long, help_heading = OUTPUTS, hide_short_help = true))]
    pub mirror: bool,
    /// Defects to count: `structure` finds unusual bytes, `rules` also finds two pawns on a file, pieces that can never
    /// move, and illegal stored moves. Such records are still written; --on-error is about unreadable ones
    /// [default: structure]
    #[cfg_attr(feature = "cli", arg(long, value_name = "structure|rules", default_value = "structure", hide_default_value = true, value_parser = word::<Check>, help_heading = OUTPUTS, hide_short_help = true))]
    pub check: Check,
    /// Fail if any part of a record would be lost: fields, the ending of its game, padding
    #[cfg_attr(feature = "cli", arg(long, help_heading = OUTPUTS))]
    pub strict: bool,
    /// Re-encode records even if the format stays the same: this normalises the padding and the order of the pieces in
    /// hand
    #[cfg_attr(feature = "cli", arg(long, help_heading = OUTPUTS, hide_short_help = true))]
    pub canonical: bool,
    /// Maximum number of records to read. `None`: all.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub limit: Option<u64>,
    /// What to do with bad records: `stop` ends the command without an output, `skip` drops them, `quarantine` moves
    /// them to a file next to the output [default: stop]
    #[cfg_attr(feature = "cli", arg(long, value_name = "stop|skip|quarantine", default_value = "stop", hide_default_value = true, value_parser = word::<BadPolicy>, help_heading = OUTPUTS))]
    pub on_error: BadPolicy,
    /// Number of threads. 0: one per logical CPU.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub threads: usize,
}

#[cfg(feature = "cli")]
fn family(text: &str) -> Result<Family, &'static str> {
    match text {
        "apery" => Ok(Family::Apery),
        "yaneuraou" => Ok(Family::YaneuraOu),
        _ => Err("expected apery or yaneuraou"),
    }
}

#[cfg(feature = "cli")]
fn encoding(text: &str) -> Result<TextEncoding, &'static str> {
    TextEncoding::from_name(text).ok_or("expected utf-8 or shift_jis")
}

#[cfg(feature = "cli")]
fn csa_version(text: &str) -> Result<CsaVersion, &'static str> {
    CsaVersion::from_name(text).ok_or("expected 2.2 or 3.0")
}

/// The problems to look for in written records. They are counted as warnings, and the records are written anyway.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Check {
    /// Unusual bytes: padding, an undefined result, bits that encode no move.
    #[default]
    Structure,
    /// Also broken rules: two pawns on a file, pieces that can never move, a king that can be captured, an illegal
    /// stored move.
    Rules,
}

/// How to write single records to a format that holds games.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MakeGames {
    /// Join consecutive records that continue each other into one game: the move of a record leads to the next
    /// position, the move numbers are consecutive if both records have one, and the results and endings are equal.
    #[default]
    Joined,
    /// Make each record a game of one move.
    Single,
}

impl Default for ConvertSettings {
    fn default() -> Self {
        Self {
            filters: RecordFilters::default(),
            dedup: false,
            memory: Memory::gib(1),
            eval_scale: None,
            mirror: false,
            check: Check::Structure,
            strict: false,
            fill: Fill::default(),
            make_games: MakeGames::Joined,
            csa_version: None,
            canonical: false,
            limit: None,
            on_error: BadPolicy::Stop,
            threads: 0,
        }
    }
}

/// A checked request.
#[derive(Clone, Debug)]
pub struct ConvertPlan {
    /// The input ranges to read, in order.
    pub ranges: Vec<InputRange>,
    /// Number of records to read, if known.
    pub records: Option<u64>,
    /// The output, and the quarantine files next to it if bad records are quarantined.
    pub outputs: Vec<OutputPlan>,
    /// Format of the output.
    pub to: OutputFormat,
    /// Lost and filled-in fields of each input.
    pub conversions: Vec<ConversionPlan>,
    /// Compute checksums of inputs and outputs for the report.
    pub checksums: bool,
    /// The settings.
    pub settings: ConvertSettings,
}

impl ConvertPlan {
    /// Checks a request. Reads inputs only to count their records and creates no files.
    ///
    /// # Errors
    /// [`Error`] if the request does not fit the inputs or the outputs.
    pub fn new(request: ConvertRequest) -> Result<Self, Error> {
        let ConvertRequest {
            inputs,
            output,
            from,
            dialect,
            to,
            family,
            encoding,
            force,
            checksums,
            settings,
        } = request;
        let inputs = opening::inputs(
            &inputs,
            from,
            dialect,
            Unreadable::from_policy(Some(settings.on_error)),
        )?;
        warn_of_mixed_outputs(&inputs);
        let to = to.or_else(|| format_by_inputs(&output, &inputs));
        let to = output_format(&output, to, family)?.encoded(encoding)?;
        if settings.csa_version.is_some() && to.records() != Some(Format::Csa) {
            return Err(Error::usage(format!(
                "--csa-version requires csa output, but the output is {to}"
            )));
        }
        if let Some(to) = to.records().filter(|_| !settings.canonical) {
            opening::check_encodings(&inputs, to, |input| to.takes_chunks_of(input.format))?;
        }
        let mut conversions = Vec::new();
        for input in &inputs {
            let by_record = settings.filters.without_game_plies();
            let is_grouped = can_be_grouped(input.format);
            check_filters(input, if is_grouped { &by_record } else { &settings.filters })?;
            let drops_moves = settings.dedup || settings.filters.drops_within_games();
            if let Some(to) = to.games().filter(|_| drops_moves && input.format.holds_games()) {
                let input = input.display_name();
                let option =
                    if settings.dedup { Some("dedup") } else { settings.filters.first_option() };
                return Err(Error::games_are_not_filtered(option.unwrap_or("sample"), input, to));
            }
            if settings.eval_scale.is_some() && !input.format.fields().contains(Field::EvalCp) {
                let (name, format) = (input.name.clone(), input.format.name());
                let (option, field) = ("eval-scale", Field::EvalCp);
                return Err(Error::filter_on_missing_field(option, name, format, field));
            }
            let conversion = to.conversion(input, &settings.fill)?;
            let fields = strict::certain_loss(input.format, conversion);
            if settings.strict && !fields.is_empty() {
                let (input, to) = (input.display_name(), to.to_string());
                return Err(Error::usage(format!(
                    "--strict: {input} contains {fields}, which {to} cannot store"
                )));
            }
            conversions.push(conversion);
        }
        let planned = inputs.iter().zip(&conversions);
        warn_of_filled_in_labels(&settings.fill, to.fields(), planned);
        let is_pipe = is_pipe(&output)?;
        if is_pipe {
            check_pipe(&output, settings.on_error)?;
        }
        let outputs = outputs(&output, to, is_pipe, settings.on_error)?;
        let files = || outputs.iter().filter(|output| !output.is_pipe).map(|output| &output.path);
        FileClaims::reading(&inputs)?.write(outputs.iter().map(FileClaim::output))?;
        if !force {
            check_absence(files())?;
        }
        let Selection { ranges, records, .. } = select_records(inputs, None, settings.limit, None)?;
        Ok(Self { ranges, records, outputs, to, conversions, checksums, settings })
    }
}

impl ConvertPlan {
    pub(super) fn route(&self, from: Format) -> Route {
        if self.settings.mirror {
            Route::Mirror
        } else if self.to.takes_chunks_of(from) && !self.settings.canonical && !self.asks_version()
        {
            Route::Copy
        } else {
            Route::Transcode
        }
    }

    /// Whether games are written in a requested version of their format.
    const fn asks_version(&self) -> bool {
        self.settings.csa_version.is_some()
    }

    /// Whether records on this route are decoded.
    pub(super) fn reads_content(&self, route: Route) -> bool {
        route == Route::Mirror
            || self.settings.eval_scale.is_some()
            || self.asks_rules()
            || self.makes_games()
    }

    /// Whether single records become games.
    pub(super) fn makes_games(&self) -> bool {
        self.to.games().is_some()
    }

    /// Whether consecutive records are joined into games.
    pub(super) fn joins_games(&self) -> bool {
        self.makes_games() && self.settings.make_games == MakeGames::Joined
    }

    /// The set of written positions. `None` without deduplication.
    pub(super) fn position_set(&self) -> Option<PositionSet> {
        self.settings.dedup.then(|| PositionSet::within(self.settings.memory))
    }

    pub(super) fn write_options(&self) -> WriteOptions {
        WriteOptions { csa_version: self.settings.csa_version.unwrap_or_default() }
    }

    /// Whether records must be grouped into games because a filter needs the game length and records do not store it.
    pub(super) fn groups_games(&self, from: Format) -> bool {
        self.settings.filters.limits_game_plies() && can_be_grouped(from)
    }

    /// Filters for records of this format. Joined games keep moves that are not for training, because leaving them out
    /// would change the game.
    pub(super) fn filters(&self, from: Format) -> RecordFilters {
        let filters = self.settings.filters;
        let filters = if can_be_grouped(from) { filters.without_game_plies() } else { filters };
        RecordFilters { keep_untrained: filters.keep_untrained || self.joins_games(), ..filters }
    }

    /// Whether a filter or check needs a legal position.
    pub(super) fn asks_rules(&self) -> bool {
        self.settings.filters.needs_position() || self.settings.check == Check::Rules
    }

    /// Panics if the output does not hold games.
    pub(super) fn game_format(&self) -> Format {
        self.to.games().expect("games are written only where the output holds them")
    }
}

/// Whether records store a move but not the length of their game, so that consecutive records must be grouped.
fn can_be_grouped(format: Format) -> bool {
    let fields = format.fields();
    format.has_single_records()
        && fields.contains(Field::BestMove)
        && !fields.contains(Field::EndPly)
}

/// The format of the inputs, if their names and that of the output have the same extension, which is not a format. So
/// `x.bin` has the format of `a.bin`.
fn format_by_inputs(output: &Path, inputs: &[Input]) -> Option<OutputFormat> {
    let extension = |name: &str| {
        let (_, extension) = without_compression(name).0.rsplit_once('.')?;
        Some(extension.to_owned())
    };
    let name = text_of(output.file_name()?);
    let first = inputs.first().filter(|_| OutputFormat::from_file_name(&name).is_none())?;
    let named = extension(&name)?;
    let is_same = |input: &Input| {
        input.format == first.format && extension(&input.name).as_ref() == Some(&named)
    };
    inputs.iter().all(is_same).then(|| FormatName::plain(first.format).into())
}

fn output_format(
    output: &Path,
    to: Option<OutputFormat>,
    family: Option<Family>,
) -> Result<OutputFormat, Error> {
    let name = output.to_string_lossy();
    let by_name = OutputFormat::from_file_name(&name);
    let Some(to) = to.or(by_name) else {
        return Err(Error::unknown_output_format(output));
    };
    match (to, family) {
        (OutputFormat::Arrays(own), _) => Ok(OutputFormat::Arrays(family.unwrap_or(own))),
        (OutputFormat::Records(to), Some(_)) => Err(Error::usage(format!(
            "--family applies only to NumPy arrays (--to npz), but the output is {to}"
        ))),
        (OutputFormat::Records(mut to), None) => {
            // The extension of the output determines the compression. --to only names the format of the records.
            if to.compression == Compression::None {
                to.compression = without_compression(&name).1;
            }
            check_compression(to).map(OutputFormat::Records)
        }
    }
}

fn outputs(
    output: &Path,
    to: OutputFormat,
    is_pipe: bool,
    on_error: BadPolicy,
) -> Result<Vec<OutputPlan>, Error> {
    let plain = OutputPlan::plain(OutputKind::Kept, output.to_owned());
    let (written, extension) = match to {
        OutputFormat::Records(to) => {
            let (compression, header) = (to.compression, to.format.header());
            let separator = to.format.separator();
            (OutputPlan { compression, header, separator, is_pipe, ..plain }, to.format.name())
        }
        OutputFormat::Arrays(_) if is_pipe => {
            return Err(Error::not_a_file(output));
        }
        OutputFormat::Arrays(_) if files::is_object(output) => {
            return Err(Error::table_object(output));
        }
        OutputFormat::Arrays(family) => {
            let deferred_table = arrays::FORMAT.deferred_table(arrays::table(family));
            (OutputPlan { deferred_table, ..plain }, arrays::FORMAT.name())
        }
    };
    Ok(std::iter::once(written).chain(side_outputs(output, extension, on_error)).collect())
}
