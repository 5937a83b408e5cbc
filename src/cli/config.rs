//! Configuration files: options in TOML, their keys the long names on the command line.
//!
//! Values go the way of the command line, so that they are read and refused alike.

use std::error::Error;
use std::path::Path;

use anyhow::Context;
use clap::error::{ContextKind, ErrorKind};
use clap::{Arg, ArgAction, Args, Command};
use toml::{Table, Value};

use crate::cli::exit::Usage;

/// Reads the options that a file sets; all others are as if they had not been given.
pub(super) fn read<T: Args>(path: &Path) -> anyhow::Result<T> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(parse(&text).map_err(|error| Usage(format!("{}: {error}", path.display())))?)
}

/// The options that have these values, as a manifest says them; what is nothing is as if not given.
pub(super) fn of_manifest<T: Args>(
    settings: &serde_json::Map<String, serde_json::Value>,
) -> anyhow::Result<T> {
    let is_said = |value: &serde_json::Value| !value.is_null() && *value != "";
    let said = settings.iter().filter(|(_, value)| is_said(value));
    let value = |value: &serde_json::Value| Value::try_from(value);
    let table: Result<Table, _> = said
        .map(|(key, said)| Ok((key.clone(), value(said)?)))
        .collect::<Result<_, toml::ser::Error>>();
    let options = table.map_err(|error| error.to_string()).and_then(|table| of_table(&table));
    Ok(options.map_err(|error| Usage(format!("the settings of the manifest: {error}")))?)
}

fn parse<T: Args>(text: &str) -> Result<T, String> {
    // Its lines are told from those of a name by their indent.
    let refusal = |error: toml::de::Error| error.to_string().trim_end().replace('\n', "\n  ");
    of_table(&toml::from_str(text).map_err(refusal)?)
}

fn of_table<T: Args>(table: &Table) -> Result<T, String> {
    let command = T::augment_args(Command::new("options").no_binary_name(true));
    let words = words(&command, table)?;
    let matches = command.try_get_matches_from(words).map_err(|error| refusal(&error))?;
    T::from_arg_matches(&matches).map_err(|error| refusal(&error))
}

/// The file as words of the command line.
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
            Value::String(text) => words.push(format!("--{key}={text}")),
            Value::Array(values) if values.len() > 1 && !is_repeated(arg) => {
                return Err(format!("{key} = {value}: expected one value, not {}", values.len()));
            }
            Value::Array(values) => words.extend(values.iter().map(|value| match value {
                Value::String(text) => format!("--{key}={text}"),
                value => format!("--{key}={value}"),
            })),
            value => words.push(format!("--{key}={value}")),
        }
    }
    Ok(words)
}

/// Whether the option may be given again and again.
fn is_repeated(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
}

/// Without the parts that only make sense on a command line.
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
    fn an_array_is_an_option_given_again_and_again() {
        let options = parse::<Options>("model = [\"a\", \"b c\"]").unwrap();
        assert_eq!(options.model, ["a", "b c"]);
        let refusal = parse::<Options>("min-ply = [1, 2]").unwrap_err();
        assert_data_eq!(refusal, str!["min-ply = [1, 2]: expected one value, not 2"]);
        let both = parse::<Options>("min-ply = 1\nmax-ply = 2").unwrap_err();
        assert_data_eq!(
            both,
            str!["--max-ply <MAX_PLY>: it cannot be given together with --min-ply <MIN_PLY>"]
        );
    }

    #[test]
    fn refusals_name_the_key() {
        let refusal = |text: &str| parse::<Options>(text).unwrap_err();
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
