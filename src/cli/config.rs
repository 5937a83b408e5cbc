//! Options from files: a TOML configuration (`--config`) or the manifest of an earlier run (`--retry-unknown`).
//!
//! The options are inserted into the command line. The merged command line is then parsed like any other. Options on
//! the command line take precedence.

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::error::{ContextKind, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use toml::{Table, Value};

use crate::cli::exit::Usage;
use crate::jobs::previous_run::PreviousRun;

/// Options that are allowed only on the command line.
const NOT_IN_FILES: [&str; 5] = ["config", "help", "input", "retry-unknown", "verbose"];

/// Inserts the options of a configuration file or manifest into a command line of `program`.
pub(super) fn with_files(
    program: &Command,
    mut arguments: Vec<OsString>,
) -> anyhow::Result<Vec<OsString>> {
    let names_file = |argument: &OsString| {
        let text = argument.to_string_lossy();
        text.starts_with("--config") || text.starts_with("--retry-unknown")
    };
    if !arguments.iter().any(names_file) {
        return Ok(arguments);
    }
    // A missing required option is ignored here, because the file may contain it. Other errors are reported when the
    // whole command line is parsed.
    let parsed = program.clone().try_get_matches_from(&arguments);
    let parsed = match parsed {
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => {
            program.clone().ignore_errors(true).try_get_matches_from(&arguments)
        }
        parsed => parsed,
    };
    let Ok(matches) = parsed else { return Ok(arguments) };
    // Options of a subcommand follow its name.
    let (command, matches, place) = match matches.subcommand() {
        Some((name, matches)) => {
            let command = program.find_subcommand(name).expect("clap has parsed this subcommand");
            let before = arguments.iter().skip(1).take_while(|argument| *argument != name).count();
            (command, matches, before + 2)
        }
        None => (program, &matches, 1),
    };
    let (source, table) = match (path(matches, "config"), path(matches, "retry_unknown")) {
        (Some(file), _) => (file.display().to_string(), table_of_file(file)?),
        (None, Some(manifest)) => ("the settings of the manifest".into(), table_of_run(manifest)?),
        (None, None) => return Ok(arguments),
    };
    let options = table.and_then(|table| options(command, matches, &table));
    let options = options.map_err(|error| Usage(format!("{source}: {error}")))?;
    arguments.splice(place..place, options.into_iter().map(Into::into));
    Ok(arguments)
}

/// The value of a path option. `None` if it is not given or the command does not have it.
fn path<'a>(matches: &'a ArgMatches, id: &str) -> Option<&'a PathBuf> {
    matches.try_get_one(id).ok().flatten()
}

fn table_of_file(path: &Path) -> anyhow::Result<Result<Table, String>> {
    let text = std::fs::read_to_string(path);
    Ok(table(&text.with_context(|| format!("cannot read {}", path.display()))?))
}

fn table(text: &str) -> Result<Table, String> {
    // The error printer keeps only indented lines as separate lines.
    toml::from_str(text).map_err(|error| error.to_string().trim_end().replace('\n', "\n  "))
}

/// The settings of an earlier run. A value that is null or empty counts as not given.
fn table_of_run(manifest: &Path) -> anyhow::Result<Result<Table, String>> {
    let settings = PreviousRun::options(manifest)?;
    let given = settings.into_iter().filter(|(_, value)| !value.is_null() && value != "");
    let table: Result<Table, toml::ser::Error> = given
        .map(|(key, value)| match value.as_u64() {
            // TOML integers are signed. As text, a larger number gives the same argument.
            Some(number) if i64::try_from(number).is_err() => {
                Ok((key, Value::String(number.to_string())))
            }
            _ => Ok((key, Value::try_from(value)?)),
        })
        .collect();
    Ok(table.map_err(|error| error.to_string()))
}

/// Converts a table to arguments, without the options that the command line overrides.
fn options(
    command: &Command,
    command_line: &ArgMatches,
    table: &Table,
) -> Result<Vec<String>, String> {
    let allowed = command.get_arguments().filter(|arg| is_in_files(arg));
    let file_options = Command::new("options")
        .no_binary_name(true)
        .disable_help_flag(true)
        .args(allowed.cloned().map(|arg| arg.required(false)));
    // The whole table is checked, including overridden options.
    let checked = file_options.clone().try_get_matches_from(arguments(&file_options, table)?);
    checked.map_err(|error| message_of(&error))?;
    let overriding: Vec<&Arg> = file_options
        .get_arguments()
        .filter(|arg| {
            command_line.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
        })
        .collect();
    let mut rest = Table::new();
    for (key, value) in table {
        if overriding.iter().any(|arg| arg.get_long() == Some(key)) {
            continue;
        }
        match overriding.iter().find(|arg| is_in_conflict(&file_options, arg, key)) {
            // A flag such as --force and an option of the file such as --resume would contradict each other.
            Some(flag) if !flag.get_action().takes_values() => {
                let flag = flag.get_long().unwrap_or_default();
                return Err(format!(
                    "`{key}` contradicts --{flag} on the command line; remove one of them"
                ));
            }
            Some(_) => {}
            None => drop(rest.insert(key.clone(), value.clone())),
        }
    }
    arguments(&file_options, &rest)
}

fn is_in_files(arg: &Arg) -> bool {
    arg.get_long().is_some_and(|long| !NOT_IN_FILES.contains(&long))
}

fn is_in_conflict(command: &Command, given: &Arg, key: &str) -> bool {
    command.get_arguments().find(|arg| arg.get_long() == Some(key)).is_some_and(|other| {
        command.get_arg_conflicts_with(given).contains(&other)
            || command.get_arg_conflicts_with(other).contains(&given)
    })
}

/// Converts a table to arguments of the command line.
fn arguments(command: &Command, table: &Table) -> Result<Vec<String>, String> {
    let mut arguments = Vec::new();
    for (key, value) in table {
        let arg = command.get_arguments().find(|arg| arg.get_long() == Some(key));
        let arg = arg.ok_or_else(|| {
            let known: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
            match similar(command, key) {
                Some(similar) => format!("unknown option {key}; did you mean {similar}?"),
                None => format!("unknown option {key}; expected one of {}", known.join(", ")),
            }
        })?;
        let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
        match value {
            Value::Boolean(true) if is_flag => arguments.push(format!("--{key}")),
            Value::Boolean(false) if is_flag => {}
            _ if is_flag => return Err(format!("{key} = {value}: expected true or false")),
            Value::Array(values) if values.len() > 1 && !is_repeated(arg) => {
                return Err(format!("{key} = {value}: expected one value, not {}", values.len()));
            }
            Value::Array(values) => {
                for value in values {
                    arguments.push(argument(key, value)?);
                }
            }
            value => arguments.push(argument(key, value)?),
        }
    }
    Ok(arguments)
}

/// The option that clap suggests instead of an unknown one.
fn similar(command: &Command, key: &str) -> Option<String> {
    let error = command.clone().no_binary_name(true).try_get_matches_from([format!("--{key}")]);
    let error = error.err()?;
    let suggested = error.get(ContextKind::SuggestedArg)?.to_string();
    Some(suggested.trim_start_matches('-').to_owned())
}

fn argument(key: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(format!("--{key}={text}")),
        Value::Integer(_) | Value::Float(_) => Ok(format!("--{key}={value}")),
        _ => Err(format!("{key} = {value}: expected a string or a number")),
    }
}

fn is_repeated(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
}

/// The message of a clap error without the parts that apply only to the command line.
pub(super) fn message_of(error: &clap::Error) -> String {
    match (error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue), error.source())
    {
        (Some(option), Some(value), Some(source)) => {
            format!("invalid value '{value}' for '{option}': {source}")
        }
        (Some(option), ..) if error.kind() == ErrorKind::ArgumentConflict => {
            let others = error.get(ContextKind::PriorArg);
            let others =
                others.map_or("another option of the file".to_owned(), ToString::to_string);
            format!("{option} cannot be used together with {others}")
        }
        (Some(option), ..) => format!("{option}: {}", error.kind()),
        _ => error.kind().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, FromArgMatches};
    use snapbox::{assert_data_eq, str};

    use super::*;
    use crate::cli::option::whole_number;

    fn parse(text: &str) -> Result<Options, String> {
        over(&[], text)
    }

    fn over(words: &[&str], text: &str) -> Result<Options, String> {
        let command = Options::augment_args(Command::new("options").no_binary_name(true));
        let given = command.clone().try_get_matches_from(words).unwrap();
        let mut all = options(&command, &given, &table(text)?)?;
        all.extend(words.iter().map(ToString::to_string));
        let matches = command.try_get_matches_from(all).unwrap();
        Ok(Options::from_arg_matches(&matches).unwrap())
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
    fn an_empty_file_changes_no_option() {
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
        // An option on the command line replaces a conflicting option of the file.
        let merged = over(&["--max-ply=9"], "min-ply = 7\nforce = true").unwrap();
        assert_eq!((merged.min_ply, merged.max_ply, merged.force), (None, Some(9), true));
        // An overridden value must still be valid.
        let message = over(&["--min-ply=8"], "min-ply = \"x\"").unwrap_err();
        assert!(message.starts_with("invalid value 'x'"), "{message}");
    }

    #[test]
    fn an_array_repeats_an_option() {
        let options = parse("model = [\"a\", \"b c\"]").unwrap();
        assert_eq!(options.model, ["a", "b c"]);
        let message = parse("min-ply = [1, 2]").unwrap_err();
        assert_data_eq!(message, str!["min-ply = [1, 2]: expected one value, not 2"]);
        let both = parse("min-ply = 1\nmax-ply = 2").unwrap_err();
        assert_data_eq!(
            both,
            str!["--max-ply <MAX_PLY> cannot be used together with --min-ply <MIN_PLY>"]
        );
    }

    #[test]
    fn errors_name_the_key() {
        let message = |text: &str| parse(text).unwrap_err();
        assert_data_eq!(
            message("ply = 7"),
            str!["unknown option ply; expected one of min-ply, max-ply, name, force, model"]
        );
        let similar = str!["unknown option min_ply; did you mean min-ply?"];
        assert_data_eq!(message("min_ply = 7"), similar);
        assert_data_eq!(
            message("min-ply = \"x\""),
            str![
                "invalid value 'x' for '--min-ply <MIN_PLY>': expected a whole number from 0 to 65535"
            ]
        );
        assert_data_eq!(
            message("min-ply = -1"),
            str![
                "invalid value '-1' for '--min-ply <MIN_PLY>': expected a whole number from 0 to 65535"
            ]
        );
        assert_eq!(message("force = 1"), "force = 1: expected true or false");
        assert_eq!(message("name = true"), "name = true: expected a string or a number");
        assert_data_eq!(
            message("[model]\na = 1"),
            str!["model = { a = 1 }: expected a string or a number"]
        );
        assert_data_eq!(
            message("model = [[\"a\"]]"),
            str![[r#"model = ["a"]: expected a string or a number"#]]
        );
        assert_data_eq!(
            message("name"),
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
