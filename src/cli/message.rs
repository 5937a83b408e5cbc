//! Messages for people: on standard error, and escaped names on standard output.
//!
//! The names of files are whatever somebody made them, escape sequences of terminals included. Those are written
//! as Rust's literals write them; JSON has its own way.

use std::borrow::Cow;
use std::io::{self, Write};

use clap::builder::StyledStr;
use clap::error::ContextValue;

use crate::storage::secrets::without_secrets;

/// Prints an escaped message on standard error. Takes the arguments of `eprintln!`.
macro_rules! say {
    ($($argument:tt)*) => {
        $crate::cli::message::print(&format!($($argument)*))
    };
}
pub(super) use say;

pub(super) fn print(text: &str) {
    // Nobody listens any more where this fails.
    drop(writeln!(io::stderr(), "{}", message(text)));
}

/// Escapes a message and removes secrets. A line end followed by two spaces separates lines of the message and stays;
/// any other is part of a name.
pub(super) fn message(text: &str) -> Cow<'_, str> {
    let text = without_secrets(text);
    if !text.contains(is_escaped) {
        return text;
    }
    let lines: Vec<_> = text.split(OWN_LINE_END).map(name).collect();
    lines.join(OWN_LINE_END).into()
}

/// Escapes a name or another text of one line, and removes secrets.
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
const OWN_LINE_END: &str = "\n  ";

/// Whether a terminal would interpret the character, or not show it.
fn is_escaped(c: char) -> bool {
    let is_invisible =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\t') || is_invisible
}

/// Writer of log lines; each write is one message.
pub(super) struct Log;

impl Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        writeln!(io::stderr(), "{}", message(text.strip_suffix('\n').unwrap_or(&text)))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Prints an error of clap and ends the process. Words of the command line in it are escaped.
pub(super) fn exit(mut error: clap::Error) -> ! {
    let mut words = Vec::new();
    for (kind, value) in error.context() {
        let shown = match value {
            ContextValue::String(word) => ContextValue::String(name(word).into_owned()),
            ContextValue::Strings(words) => {
                ContextValue::Strings(words.iter().map(|word| name(word).into_owned()).collect())
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
    // What the readers of values say is in it, too.
    let said = error.render().to_string();
    let shown = said.lines().map(name).collect::<Vec<_>>().join("\n");
    if shown == said.trim_end() || !error.use_stderr() {
        error.exit();
    }
    drop(writeln!(io::stderr(), "{shown}"));
    std::process::exit(error.exit_code());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_told_nothing() {
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
