//! A position given as an argument: SFEN, checked, with the character shown where it stops making sense.
//!
//! The messages are those of the SFEN reader; a line below them points into the text.

use crate::cli::exit::Usage;
use crate::shogi::Position;
use crate::shogi::sfen::{ParsePositionError, SfenError};

/// Parses an SFEN. `argument` is its name in errors.
pub(super) fn parse(argument: &str, text: &str) -> Result<Position, Usage> {
    text.parse().map_err(|error| {
        let caret = match &error {
            ParsePositionError::Sfen(error) => format!("\n  {}^", " ".repeat(column(text, error))),
            ParsePositionError::Position(_) => String::new(),
        };
        Usage(format!("{argument}: {error}\n  {}{caret}", text.replace(char::is_control, " ")))
    })
}

/// Number of characters before the error.
fn column(text: &str, error: &SfenError) -> usize {
    let (SfenError::Unexpected { at, .. }
    | SfenError::RankLength { at, .. }
    | SfenError::Setup { at, .. }
    | SfenError::Number { at, .. }) = error;
    text.char_indices().take_while(|(start, _)| start < at).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_below_the_character() {
        let error = parse("--sfen", "4k4/9/9/9/9/9/9/9/4K4 x - 1").unwrap_err();
        assert_eq!(
            error.to_string(),
            "--sfen: character 23: found 'x', expected b or w, the side to move\n  \
             4k4/9/9/9/9/9/9/9/4K4 x - 1\n  \
             ......................^"
                .replace('.', " ")
        );
    }
}
