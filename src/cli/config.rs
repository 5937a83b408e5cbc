//! Configuration files: options in TOML whose keys are the long names on the command line.
//!
//! A file becomes words of a command line, so that its values are parsed and refused like those given there.

use std::error::Error;
use std::ffi::OsString;
use std::marker::PhantomData;
use std::path::Path;

use anyhow::Context;
use clap::error::{ContextKind, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use toml::{Table, Value};

use crate::cli::exit::Usage;

/// Options of the command line that a configuration file may give as well. Those given on the command line take
/// precedence.
#[derive(Clone, Debug)]
pub(super) struct Layered<T> {
    /// The options given on the command line, as `--name` or `--name=value`.
    words: Vec<OsString>,
    /// Long names of the options in `words`.
    given: Vec<String>,
    options: PhantomData<T>,
}

impl<T: Args> Layered<T> {
    /// Adds the options of a configuration file, if there is one.
    pub(super) fn over_file(self, path: Option<&Path>) -> anyhow::Result<T> {
        let Some(path) = path else { return Ok(self.over(&Table::new()).map_err(Usage)?) };
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let options = table(&text).and_then(|table| self.over(&table));
        Ok(options.map_err(|error| Usage(format!("{}: {error}", path.display())))?)
    }

    /// Adds the settings of a manifest. A value that is null or empty counts as not given.
    pub(super) fn over_manifest(
        self,
        settings: &serde_json::Map<String, serde_json::Value>,
    ) -> anyhow::Result<T> {
        let is_given = |value: &serde_json::Value| !value.is_null() && *value != "";
        let table: Result<Table, _> = settings
            .iter()
            .filter(|(_, value)| is_given(value))
            .map(|(key, value)| match value.as_u64() {
                // TOML has no larger numbers; as text they are the same word.
                Some(number) if i64::try_from(number).is_err() => {
                    Ok((key.clone(), Value::String(number.to_string())))
                }
                _ => Ok((key.clone(), Value::try_from(value)?)),
            })
            .collect::<Result<_, toml::ser::Error>>();
        let options = table.map_err(|error| error.to_string()).and_then(|table| self.over(&table));
        Ok(options.map_err(|error| Usage(format!("the settings of the manifest: {error}")))?)
    }

    fn over(self, table: &Table) -> Result<T, String> {
        let command = T::augment_args(Command::new("options").no_binary_name(true));
        // The whole table is checked, also what the command line overrides.
        parse::<T>(&command, words(&command, table)?)?;
        let is_overridden = |key: &str| {
            self.given.iter().any(|given| given == key || excludes(&command, given, key))
        };
        let rest = table.iter().filter(|(key, _)| !is_overridden(key));
        let rest = rest.map(|(key, value)| (key.clone(), value.clone())).collect();
        let mut all: Vec<OsString> = words(&command, &rest)?.into_iter().map(Into::into).collect();
        all.extend(self.words);
        parse(&command, all)
    }
}

fn table(text: &str) -> Result<Table, String> {
    // The indent sets the lines of the message apart from the name of the file.
    toml::from_str(text).map_err(|error| error.to_string().trim_end().replace('\n', "\n  "))
}

fn parse<T: Args>(
    command: &Command,
    words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<T, String> {
    let matches = command.clone().try_get_matches_from(words);
    matches.and_then(|matches| T::from_arg_matches(&matches)).map_err(|error| refusal(&error))
}

/// Whether two options, by their long names, conflict, so that `one` overrides `other`. Flags override nothing:
/// `resume` in a file and `--force` is an error, as one of them would replace what the other keeps.
fn excludes(command: &Command, one: &str, other: &str) -> bool {
    let arg = |name| command.get_arguments().find(|arg| arg.get_long() == Some(name));
    let (Some(one), Some(other)) = (arg(one), arg(other)) else { return false };
    if !one.get_action().takes_values() {
        return false;
    }
    command.get_arg_conflicts_with(one).contains(&other)
        || command.get_arg_conflicts_with(other).contains(&one)
}

impl<T: Args> FromArgMatches for Layered<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (mut words, mut given) = (Vec::new(), Vec::new());
        for arg in T::augment_args(Command::new("options")).get_arguments() {
            let id = arg.get_id().as_str();
            let Some(long) = arg.get_long() else { continue };
            if matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            given.push(long.to_owned());
            if !arg.get_action().takes_values() {
                words.push(format!("--{long}").into());
                continue;
            }
            for value in matches.get_raw(id).into_iter().flatten() {
                let mut word = OsString::from(format!("--{long}="));
                word.push(value);
                words.push(word);
            }
        }
        Ok(Self { words, given, options: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<T: Args> Args for Layered<T> {
    fn augment_args(command: Command) -> Command {
        T::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

/// Converts a table to arguments of the command line.
fn words(command: &Command, table: &Table) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    for (key, value) in table {
        let arg = command.get_arguments().find(|arg| arg.get_long() == Some(key));
        let arg = arg.ok_or_else(|| {
            let known: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
            format!("there is no option {key}; there are {}", known.join(", "))
        })?;
        let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
        match value {
            Value::Boolean(true) if is_flag => words.push(format!("--{key}")),
            Value::Boolean(false) if is_flag => {}
            _ if is_flag => return Err(format!("{key} = {value}: expected true or false")),
            Value::Array(values) if values.len() > 1 && !is_repeated(arg) => {
                return Err(format!("{key} = {value}: expected one value, not {}", values.len()));
            }
            Value::Array(values) => {
                for value in values {
                    words.push(word(key, value)?);
                }
            }
            value => words.push(word(key, value)?),
        }
    }
    Ok(words)
}

fn word(key: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(format!("--{key}={text}")),
        Value::Integer(_) | Value::Float(_) => Ok(format!("--{key}={value}")),
        _ => Err(format!("{key} = {value}: expected a string or a number")),
    }
}

fn is_repeated(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
}

/// Formats an error of clap without the parts that only make sense on a command line.
fn refusal(error: &clap::Error) -> String {
    match (error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue), error.source())
    {
        (Some(option), Some(value), Some(source)) => {
            format!("invalid value '{value}' for '{option}': {source}")
        }
        (Some(option), ..) if error.kind() == ErrorKind::ArgumentConflict => {
            let others = error.get(ContextKind::PriorArg);
            let others =
                others.map_or("another option of the file".to_owned(), ToString::to_string);
            format!("{option}: it cannot be given together with {others}")
        }
        (Some(option), ..) => format!("{option}: {}", error.kind()),
        _ => error.kind().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;
    use crate::cli::option::whole_number;

    fn parse(text: &str) -> Result<Options, String> {
        over(&[], text)
    }

    fn over(words: &[&str], text: &str) -> Result<Options, String> {
        let matches = Options::augment_args(Command::new("options").no_binary_name(true))
            .try_get_matches_from(words)
            .unwrap();
        Layered::from_arg_matches(&matches).unwrap().over(&table(text)?)
    }

    #[derive(Args, PartialEq, Debug)]
    struct Options {
        #[arg(long, value_parser = whole_number::<u16>(..))]
        min_ply: Option<u16>,
        #[arg(long, conflicts_with = "min_ply")]
        max_ply: Option<u16>,
        #[arg(long)]
        name: Option<String>,
        #[arg(long)]
        force: bool,
        #[arg(long)]
        model: Vec<String>,
    }

    #[test]
    fn what_is_not_set_is_as_if_not_given() {
        let options = |min_ply, name: Option<&str>, force| {
            let max_ply = None;
            Ok(Options {
                min_ply,
                max_ply,
                name: name.map(str::to_owned),
                force,
                model: Vec::new(),
            })
        };
        assert_eq!(parse(""), options(None, None, false));
        assert_eq!(parse("min-ply = 7\nforce = false"), options(Some(7), None, false));
        assert_eq!(parse("name = \"-a=b c\"\nforce = true"), options(None, Some("-a=b c"), true));
    }

    #[test]
    fn the_command_line_takes_precedence() {
        let merged = over(
            &["--min-ply=8", "--model=c"],
            "min-ply = 7\nname = \"n\"\nmodel = [\"a\", \"b\"]",
        );
        let merged = merged.unwrap();
        assert_eq!((merged.min_ply, merged.name.as_deref()), (Some(8), Some("n")));
        assert_eq!(merged.model, ["c"]);
        // An option that excludes one of the file takes its place.
        let merged = over(&["--max-ply=9"], "min-ply = 7\nforce = true").unwrap();
        assert_eq!((merged.min_ply, merged.max_ply, merged.force), (None, Some(9), true));
        // A value of the file that is overridden must still be one.
        let refusal = over(&["--min-ply=8"], "min-ply = \"x\"").unwrap_err();
        assert!(refusal.starts_with("invalid value 'x'"), "{refusal}");
    }

    #[test]
    fn an_array_is_an_option_given_again_and_again() {
        let options = parse("model = [\"a\", \"b c\"]").unwrap();
        assert_eq!(options.model, ["a", "b c"]);
        let refusal = parse("min-ply = [1, 2]").unwrap_err();
        assert_data_eq!(refusal, str!["min-ply = [1, 2]: expected one value, not 2"]);
        let both = parse("min-ply = 1\nmax-ply = 2").unwrap_err();
        assert_data_eq!(
            both,
            str!["--max-ply <MAX_PLY>: it cannot be given together with --min-ply <MIN_PLY>"]
        );
    }

    #[test]
    fn refusals_name_the_key() {
        let refusal = |text: &str| parse(text).unwrap_err();
        assert_data_eq!(
            refusal("ply = 7"),
            str!["there is no option ply; there are min-ply, max-ply, name, force, model"]
        );
        assert_data_eq!(
            refusal("min-ply = \"x\""),
            str![
                "invalid value 'x' for '--min-ply <MIN_PLY>': expected a whole number from 0 to 65535"
            ]
        );
        assert_data_eq!(
            refusal("min-ply = -1"),
            str![
                "invalid value '-1' for '--min-ply <MIN_PLY>': expected a whole number from 0 to 65535"
            ]
        );
        assert_eq!(refusal("force = 1"), "force = 1: expected true or false");
        assert_eq!(refusal("name = true"), "name = true: expected a string or a number");
        assert_data_eq!(
            refusal("[model]\na = 1"),
            str!["model = { a = 1 }: expected a string or a number"]
        );
        assert_data_eq!(
            refusal("model = [[\"a\"]]"),
            str![[r#"model = ["a"]: expected a string or a number"#]]
        );
        assert_data_eq!(
            refusal("name"),
            str![[r"
TOML parse error at line 1, column 5
    |
  1 | name
    |     ^
  key with no value, expected `=`
"]]
        );
    }
}
