//! Messages on standard error, and escaped names on standard output.
//!
//! File names may contain any characters, including terminal escape sequences. Control characters are escaped as in
//! Rust literals. JSON output has its own escapes.

use std::borrow::Cow;
use std::io::{self, Write};

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};

use super::json_lines;
use crate::storage::secrets::without_secrets;

/// Prints an escaped message on standard error. Takes the arguments of `eprintln!`.
macro_rules! say {
    ($($argument:tt)*) => {
        $crate::cli::message::print(&format!($($argument)*))
    };
}
pub(super) use say;

pub(super) fn print(text: &str) {
    if !json_lines::write_message("message", &without_secrets(text)) {
        // If this fails, the reader has closed standard error.
        drop(writeln!(io::stderr(), "{}", message(text)));
    }
}

pub(super) fn print_error(text: &str) {
    if !json_lines::write_message("error", &without_secrets(text)) {
        // As above.
        drop(writeln!(io::stderr(), "error: {}", message(text)));
    }
}

/// Escapes a message and removes secrets. A line end followed by two spaces separates lines of the message and is kept.
/// Any other line end belongs to a name and is escaped.
pub(super) fn message(text: &str) -> Cow<'_, str> {
    let text = without_secrets(text);
    if !text.contains(is_escaped) {
        return text;
    }
    let lines: Vec<_> = text.split(LINE_SEPARATOR).map(name).collect();
    lines.join(LINE_SEPARATOR).into()
}

/// Escapes a name or other text of one line, and removes secrets.
pub(super) fn name(text: &str) -> Cow<'_, str> {
    let text = without_secrets(text);
    if !text.contains(is_escaped) {
        return text;
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_escaped(c) {
            shown.extend(c.escape_debug());
        } else {
            shown.push(c);
        }
    }
    shown.into()
}

/// Separator of the lines of a message.
const LINE_SEPARATOR: &str = "\n  ";

/// Whether a terminal would interpret or hide the character.
fn is_escaped(c: char) -> bool {
    let is_invisible =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\t') || is_invisible
}

/// Writer for log lines. Each write is one message.
pub(super) struct Log;

impl Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let (level, rest) = text.trim_start().split_once(' ').unwrap_or(("", text));
        if !json_lines::write_message(&level.to_lowercase(), &without_secrets(rest)) {
            writeln!(io::stderr(), "{}", message(text))?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Whether an option of the program, as in `--shard <I/N>`, is on the command line.
fn is_given(option: &str) -> bool {
    let option = option.split(' ').next().unwrap_or_default();
    std::env::args_os().any(|argument| argument.to_string_lossy().split('=').next() == Some(option))
}

/// Prints a clap error and ends the process. Quoted parts of the command line are escaped.
pub(super) fn exit(mut error: clap::Error) -> ! {
    let mut words = Vec::new();
    for (kind, value) in error.context() {
        let shown = match value {
            ContextValue::String(word) => ContextValue::String(name(word).into_owned()),
            ContextValue::Strings(words) => {
                let mut words: Vec<_> = words.iter().map(|word| name(word).into_owned()).collect();
                if kind == ContextKind::PriorArg && words.iter().any(|word| is_given(word)) {
                    // clap lists all options of a group.
                    words.retain(|word| is_given(word));
                }
                ContextValue::Strings(words)
            }
            // No value begins with two hyphens.
            ContextValue::StyledStrs(tips)
                if tips.iter().all(|tip| tip.to_string().starts_with("to pass '--")) =>
            {
                ContextValue::None
            }
            ContextValue::StyledStrs(tips)
                if tips.iter().any(|tip| tip.to_string().contains(is_escaped)) =>
            {
                let shown =
                    tips.iter().map(|tip| StyledStr::from(name(&tip.to_string()).into_owned()));
                ContextValue::StyledStrs(shown.collect())
            }
            _ => continue,
        };
        words.push((kind, shown));
    }
    for (kind, shown) in words {
        error.insert(kind, shown);
    }
    // The rendered text also contains messages of value parsers.
    let rendered = error.render().to_string();
    if error.use_stderr()
        && json_lines::write_message("error", rendered.trim_end().trim_start_matches("error: "))
    {
        json_lines::finish(u8::try_from(error.exit_code()).unwrap_or(u8::MAX));
        std::process::exit(error.exit_code());
    }
    let shown = rendered.lines().map(name).collect::<Vec<_>>().join("\n");
    if shown == rendered.trim_end() || !error.use_stderr() {
        error.exit();
    }
    drop(writeln!(io::stderr(), "{shown}"));
    std::process::exit(error.exit_code());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        for (text, shown) in [
            ("a\u{1b}[2Jb\rc\u{9b}1m\u{7f}", "a\\u{1b}[2Jb\\rc\\u{9b}1m\\u{7f}"),
            ("局\t面 'a' \"b\" \\ é", "局\t面 'a' \"b\" \\ é"),
            ("a\u{202e}b", "a\\u{202e}b"),
        ] {
            assert_eq!(message(text), shown);
            assert_eq!(name(text), shown);
        }
        assert_eq!(message("one\n  two"), "one\n  two");
        assert_eq!(message("one\ntwo\n  three"), "one\\ntwo\n  three");
        assert_eq!(name("one\n  two"), "one\\n  two");
    }
}
