//! A position given as an argument: SFEN, checked, with the character shown where it stops making sense.
//!
//! The messages are those of the SFEN reader; a line below them points into the text.

use crate::cli::exit::Usage;
use crate::shogi::Position;
use crate::shogi::sfen::SfenError;

/// Parses an SFEN. `argument` is its name in errors.
pub(super) fn parse(argument: &str, text: &str) -> Result<Position, Usage> {
    text.parse().map_err(|error| {
        let error: SfenError = error;
        let caret = error.offset().map_or_else(String::new, |offset| {
            let column = text.char_indices().take_while(|(start, _)| *start < offset).count();
            format!("\n  {}^", " ".repeat(column))
        });
        Usage(format!("{argument}: {error}\n  {}{caret}", text.replace(char::is_control, " ")))
    })
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
