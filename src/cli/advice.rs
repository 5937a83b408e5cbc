//! Error messages with advice, in particular for files that the operating system refuses.

use std::borrow::Cow;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::error::Remedy;
use crate::search::TableError;
use crate::storage::platform;

/// Formats an error with its causes and with advice, if there is any.
pub(super) fn explain(error: &anyhow::Error) -> String {
    let advice = if let Some(advice) = error.chain().find_map(engine_advice) {
        Some(advice.to_owned())
    } else if error.chain().any(<dyn Error>::is::<TableError>) {
        Some("; reduce --hash-mb, or --threads if each thread has its own table".to_owned())
    } else {
        let file = error.chain().find_map(|cause| cause.downcast_ref::<crate::Error>()?.file());
        let refused = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
        // An error without a number is not from the operating system and has its own advice.
        refused
            .filter(|cause| cause.raw_os_error().is_some())
            .find_map(|cause| path_advice(cause.kind(), file))
    };
    with_remedies(error.as_ref()) + &advice.unwrap_or_default()
}

/// Formats an error with its causes and the options that solve it.
pub(super) fn with_remedies(error: &(dyn Error + 'static)) -> String {
    Remedy::explain(error, |remedy| Some(option(remedy)))
}

/// The advice with the command-line option for a remedy.
pub(super) fn option(remedy: Remedy) -> Cow<'static, str> {
    Cow::Borrowed(match remedy {
        Remedy::Replace => "replace it with --force",
        Remedy::Restart => "start again with --force",
        Remedy::ResumeOrRestart => "continue with --resume, or start again with --force",
        Remedy::ContinueOrRestart => {
            "continue with the original inputs and settings, or start again with --force"
        }
        Remedy::Resume => "repeat the command with --resume to continue",
        Remedy::InputFormat => "specify it with --from",
        Remedy::OutputFormat => "choose the output format with --to",
        Remedy::ReadAs { found, named } => {
            return format!("use --from {found}, or --from {named} to read it anyway").into();
        }
        Remedy::Rename(found) => return format!("rename it to end in .{found}").into(),
        Remedy::ReadAnyway(named) => {
            return format!("use --from {named} to read it anyway").into();
        }
    })
}

/// Advice about an engine that was not found or does not answer.
fn engine_advice(cause: &(dyn Error + 'static)) -> Option<&'static str> {
    let error: &crate::Error = cause.downcast_ref()?;
    let has_folder = error.file().is_some_and(|program| program.contains(std::path::is_separator));
    match error.kind() {
        crate::ErrorKind::NotStarted if error.is_not_found() && !has_folder => {
            Some("; a name without a folder is searched for in PATH")
        }
        crate::ErrorKind::TimedOut => Some("; --engine-timeout sets the time limit"),
        _ => None,
    }
}

/// Advice about a path that the operating system refused.
fn path_advice(kind: ErrorKind, file: Option<&str>) -> Option<String> {
    Some(match kind {
        // Windows rejects such names.
        ErrorKind::NotFound | ErrorKind::InvalidFilename
            if file.is_some_and(|file| file.contains(['*', '?'])) =>
        {
            "; no file matches this pattern".to_owned()
        }
        ErrorKind::NotFound => {
            let file = file.map(Path::new);
            let mut rules = Vec::new();
            if file.is_some_and(|file| !platform::folder_of(file).exists()) {
                rules.push("all its folders must exist".to_owned());
            }
            if file.is_none_or(|file| !file.is_absolute()) {
                let start = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
                rules.push(format!("relative paths start in {}", start.display()));
            }
            let colon = if rules.is_empty() { "" } else { ": " };
            format!("; check the path{colon}{}", rules.join(", and "))
        }
        ErrorKind::NotADirectory => "; check the path: one of its folders is a file".to_owned(),
        ErrorKind::PermissionDenied => {
            "; check the permissions of the file and of the folders in its path".to_owned()
        }
        ErrorKind::FileTooLarge => {
            "; the file system or a limit of the system does not allow a file of this size"
                .to_owned()
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use anyhow::Context;
    #[cfg(unix)]
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn message_of(error: io::Error) -> String {
        explain(&Err::<(), _>(error).context("cannot open a.hcp").unwrap_err())
    }

    #[cfg(unix)]
    #[test]
    fn errors_of_the_operating_system_get_advice() {
        let message = |number| message_of(io::Error::from_raw_os_error(number));
        assert_data_eq!(
            message(libc::ENOENT)
                .replace(std::env::current_dir().unwrap().to_str().unwrap(), "[FOLDER]"),
            str![
                "cannot open a.hcp: No such file or directory (os error 2); check the path: relative paths start in [FOLDER]"
            ]
        );
        assert_data_eq!(
            message(libc::ENOTDIR),
            str![
                "cannot open a.hcp: Not a directory (os error 20); check the path: one of its folders is a file"
            ]
        );
        assert_data_eq!(
            message(libc::EACCES),
            str![
                "cannot open a.hcp: Permission denied (os error 13); check the permissions of the file and of the folders in its path"
            ]
        );
        assert_data_eq!(
            message(libc::ENOSPC),
            str!["cannot open a.hcp: No space left on device (os error 28)"]
        );
    }

    #[cfg(unix)]
    #[test]
    fn only_a_missing_folder_gets_advice_about_folders() {
        let advice = |file| {
            let missing = io::Error::from_raw_os_error(libc::ENOENT);
            let error = explain(&crate::Error::io("open", file, missing).into());
            error.split_once("; ").map(|(_, advice)| advice.to_owned()).unwrap_or_default()
        };
        assert_eq!(advice("/no-such.hcp"), "check the path");
        assert_eq!(advice("/no-such-folder/a.hcp"), "check the path: all its folders must exist");
        assert!(advice("a.hcp").starts_with("check the path: relative paths start in /"));
        assert!(advice("no-such-folder/a.hcp").starts_with(
            "check the path: all its folders must exist, and relative paths start in /"
        ));
    }

    #[test]
    fn other_errors_get_no_advice() {
        let store_error = io::Error::new(ErrorKind::NotFound, "there is no such object");
        assert_eq!(message_of(store_error), "cannot open a.hcp: there is no such object");
    }
}
