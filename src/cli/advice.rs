//! What to do where the system refuses a file: said behind its words, in whatever command that happens.

use std::borrow::Cow;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use crate::error::Remedy;
use crate::search::TableError;

/// Formats an error with its causes and with advice, if there is any.
pub(super) fn told(error: &anyhow::Error) -> String {
    let advice = if let Some(advice) = error.chain().find_map(about_a_program) {
        Some(advice.to_owned())
    } else if error.chain().any(<dyn Error>::is::<TableError>) {
        Some("; --hash-mb says how large it is, and each thread has one".to_owned())
    } else {
        let refused = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
        // What has no number comes from elsewhere, with advice of its own.
        refused.filter(|cause| cause.raw_os_error().is_some()).find_map(|cause| about(cause.kind()))
    };
    words(error.as_ref()) + &advice.unwrap_or_default()
}

/// The message of an error with its causes, and the options that help.
pub(super) fn words(error: &(dyn Error + 'static)) -> String {
    Remedy::explain(error, |remedy| Some(option(remedy)))
}

/// The option that helps.
pub(super) fn option(remedy: Remedy) -> Cow<'static, str> {
    Cow::Borrowed(match remedy {
        Remedy::Replace => "replace it with --force",
        Remedy::StartAfresh => "start afresh with --force",
        Remedy::ResumeOrStartAfresh => "go on with --resume, or start afresh with --force",
        Remedy::ContinueOrStartAfresh => "go on as it began, or start afresh with --force",
        Remedy::Resume => "the same command with --resume goes on",
        Remedy::InputFormat => "say it with --from",
        Remedy::OutputFormat => "say it with --to",
        Remedy::ReadAs { found, named } => {
            return format!("use --from {found}, or --from {named} to force it").into();
        }
        Remedy::Rename(found) => return format!("give it a name that ends in .{found}").into(),
        Remedy::ReadAnyway(named) => {
            return format!("use --from {named} to read it all the same").into();
        }
    })
}

/// Advice about an engine that was not found or does not answer.
fn about_a_program(cause: &(dyn Error + 'static)) -> Option<&'static str> {
    let error: &crate::Error = cause.downcast_ref()?;
    let has_folder = error.file().is_some_and(|program| program.contains(std::path::is_separator));
    match error.kind() {
        crate::ErrorKind::NotStarted if error.is_not_found() && !has_folder => {
            Some("; a program without a folder in its name is looked for in the folders of PATH")
        }
        crate::ErrorKind::TimedOut => Some(" (--engine-timeout)"),
        _ => None,
    }
}

fn about(kind: ErrorKind) -> Option<String> {
    Some(match kind {
        ErrorKind::NotFound => {
            let start = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
            format!(
                "; check the path: all folders in it must exist, and a relative one starts in {}",
                start.display()
            )
        }
        ErrorKind::NotADirectory => {
            "; check the path: something in it is a file where a folder should be".to_owned()
        }
        ErrorKind::PermissionDenied => {
            "; whoever runs this has no right to it: check the permissions of the file and of the folders in its path"
                .to_owned()
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use anyhow::Context;
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn refused(error: io::Error) -> String {
        told(&Err::<(), _>(error).context("cannot open a.hcp").unwrap_err())
    }

    #[cfg(unix)]
    #[test]
    fn what_the_system_refuses_is_told_with_advice() {
        let of_system = |number| refused(io::Error::from_raw_os_error(number));
        assert_data_eq!(
            of_system(libc::ENOENT)
                .replace(std::env::current_dir().unwrap().to_str().unwrap(), "[FOLDER]"),
            str![
                "cannot open a.hcp: No such file or directory (os error 2); check the path: all folders in it must exist, and a relative one starts in [FOLDER]"
            ]
        );
        assert_data_eq!(
            of_system(libc::ENOTDIR),
            str![
                "cannot open a.hcp: Not a directory (os error 20); check the path: something in it is a file where a folder should be"
            ]
        );
        assert_data_eq!(
            of_system(libc::EACCES),
            str![
                "cannot open a.hcp: Permission denied (os error 13); whoever runs this has no right to it: check the permissions of the file and of the folders in its path"
            ]
        );
        assert_data_eq!(
            of_system(libc::ENOSPC),
            str!["cannot open a.hcp: No space left on device (os error 28)"]
        );
    }

    #[test]
    fn what_others_say_stays_as_it_is() {
        let of_store = io::Error::new(ErrorKind::NotFound, "there is no such object");
        assert_eq!(refused(of_store), "cannot open a.hcp: there is no such object");
    }
}
