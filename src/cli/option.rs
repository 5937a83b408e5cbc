//! Parsers for the values of options.
//!
//! Names of values are the serde names in the library, so that they are defined in one place.

use std::time::Duration;

use clap::Args;
use clap::builder::TypedValueParser;

use super::exit::Usage;
use crate::ops::language::Language;
use crate::shogi::Position;
use crate::shogi::sfen::SfenError;
use crate::solver::MAX_PLIES;
use crate::storage::platform;
use crate::storage::quantity::quantity;

pub(super) use crate::storage::location::location;
pub(super) use crate::storage::value_error::{seconds, whole_number, word};

/// Limit of thread counts: starting more would take minutes, and each takes memory.
const MAX_THREADS: u64 = 4096;

/// The option `--lang` of the commands that write texts in several languages.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct LanguageArgs {
    /// Language of texts and pages: ja (Japanese) or en [default: ja if the first of `LC_ALL`, `LC_MESSAGES` and `LANG`
    /// that is set begins with ja, otherwise en; on Windows the user's language if none is set]
    #[arg(long, value_name = "ja|en", value_parser = word::<Language>)]
    lang: Option<Language>,
}

impl LanguageArgs {
    pub(super) fn language(self) -> Language {
        self.lang.unwrap_or_else(Language::of_locale)
    }
}

/// A number of threads, 0 for all cores.
pub(super) fn threads() -> impl TypedValueParser<Value = usize> {
    whole_number(..=MAX_THREADS)
}

/// A search depth in plies.
pub(super) fn depth() -> impl TypedValueParser<Value = u16> {
    whole_number(..=u64::from(MAX_PLIES))
}

/// Default of `--engine-timeout`.
pub(super) const ENGINE_TIMEOUT: Duration = Duration::from_mins(1);

/// The program and the arguments of a command line.
pub(super) fn engine_command(command: &str) -> Result<Vec<String>, Usage> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    words.ok_or_else(|| Usage(format!("--engine: cannot parse the command line {command:?}")))
}

/// Name and value of an option of an engine.
pub(super) fn engine_option(text: &str) -> Result<(String, String), &'static str> {
    let parts = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = parts.ok_or("expected a name and a value, as in USI_Hash=256")?;
    if text.contains(['\n', '\r']) {
        return Err("expected one line");
    }
    Ok((name.to_owned(), value.to_owned()))
}

pub(super) fn positive_seconds(text: &str) -> Result<Duration, &'static str> {
    match seconds(text)? {
        Duration::ZERO => Err("expected a number of seconds above 0"),
        time => Ok(time),
    }
}

pub(super) fn decimal_number(text: &str) -> Result<f32, &'static str> {
    text.parse().map_err(|_| "expected a number, as in 0.5")
}

pub(super) fn positive(option: &str, value: f32) -> Result<f32, Usage> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(Usage(format!("{option}: expected a number above 0, not {value}")))
    }
}

/// Parses an SFEN. Errors begin with the name `argument`; a caret on a second line points to the wrong character.
pub(super) fn position(argument: &str, text: &str) -> Result<Position, Usage> {
    text.parse().map_err(|error| {
        let error: SfenError = error;
        let caret = error.offset().map_or_else(String::new, |offset| {
            let column = text.char_indices().take_while(|(start, _)| *start < offset).count();
            format!("\n  {}^", " ".repeat(column))
        });
        Usage(format!("{argument}: {error}\n  {}{caret}", text.replace(char::is_control, " ")))
    })
}

/// Parses plies and nodes of a mate search, as in `7,30`.
pub(super) fn mate_limits(text: &str) -> Result<(u16, u64), &'static str> {
    let parts = text.split_once(',');
    let parsed = parts.and_then(|(plies, nodes)| Some((plies.parse().ok()?, nodes.parse().ok()?)));
    parsed.ok_or("expected plies and nodes, as in 7,30")
}

/// Logs the number of threads; 0 is all cores.
pub(super) fn log_threads(threads: usize) {
    tracing::info!("working with {}", quantity(platform::threads(threads) as u64, "thread"));
}

/// Headings of options in the help. Each option names its heading, because `next_help_heading` of a struct would also
/// apply to the options of the next struct.
pub(super) mod heading {
    pub(in crate::cli) const OUTPUTS: &str = "Outputs";

    pub(in crate::cli) const RECORDS: &str = "Records";

    pub(in crate::cli) const RUNNING: &str = "Running";

    pub(in crate::cli) const SEARCH: &str = "Search";

    /// Options that apply only with a network, or only with an engine.
    pub(in crate::cli) const NETWORK: &str = "With a network";

    pub(in crate::cli) const ENGINE: &str = "With an engine";
}

/// Defaults of the commands that evaluate with networks.
pub(super) mod networks {
    /// Default of `--batch`, in positions.
    #[cfg(feature = "network")]
    pub(in crate::cli) const BATCH: usize = 32;

    /// Default size of the table of each thread's mate searches.
    #[cfg(feature = "network")]
    pub(in crate::cli) const MATE_TABLE_MIB: usize = 16;

    /// dlshogi's value in self-play.
    #[cfg(feature = "network")]
    pub(in crate::cli) const POLICY_TEMPERATURE: f32 = 1.66;

    #[cfg(not(feature = "network"))]
    pub(in crate::cli) const NO_NETWORKS: &str = "this build does not support networks; install it with `cargo install --path . --features network`, or use the Python package: `python -m kyokumen`";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caret_marks_the_wrong_character() {
        let error = position("--sfen", "4k4/9/9/9/9/9/9/9/4K4 x - 1").unwrap_err();
        assert_eq!(
            error.to_string(),
            "--sfen: character 23: found 'x', expected b or w, the side to move\n  \
             4k4/9/9/9/9/9/9/9/4K4 x - 1\n  \
             ......................^"
                .replace('.', " ")
        );
    }
}
