//! What a GUI says: a line in, a command out.
//!
//! Nothing here fails: what is wrong with a command is part of the command, since some want an answer.

use std::num::ParseIntError;
use std::time::Duration;

use thiserror::Error;

use crate::shogi::sfen::ParsePositionError;
use crate::shogi::{Move, Position};

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Command {
    Usi,
    IsReady,
    SetOption(Result<Setting, SettingError>),
    UsiNewGame,
    Position(Result<Box<Position>, PositionCommandError>),
    /// Does the side to move mate? With the time there is, if it is limited.
    GoMate(Result<Option<Duration>, TimeError>),
    /// Which move is best? Not to be answered before [`Command::Stop`] or [`Command::PonderHit`] if
    /// `on_request`.
    Go {
        on_request: bool,
    },
    PonderHit,
    Stop,
    GameOver,
    Quit,
    /// The first word of a line that is none of these.
    Unknown(String),
}

/// A name and a value as they stand in the line; a button's has no value and stands here with an empty one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Setting {
    pub(super) name: String,
    pub(super) value: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("setoption: expected name NAME, and value VALUE unless it is a button")]
pub(super) struct SettingError;

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(super) enum PositionCommandError {
    #[error("position: {0}")]
    Start(#[from] ParsePositionError),
    #[error("position: move {number}: {text} is no move")]
    NoMove { number: usize, text: String },
    #[error("position: move {number}: {m} is not legal there")]
    Illegal { number: usize, m: Move },
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("go mate: {text} is neither milliseconds nor infinite: {error}")]
pub(super) struct TimeError {
    text: String,
    error: ParseIntError,
}

/// The command of a line; `None` for a blank one.
pub(super) fn parse(line: &str) -> Option<Command> {
    let mut words = line.split_whitespace();
    let command = match words.next()? {
        "usi" => Command::Usi,
        "isready" => Command::IsReady,
        "setoption" => Command::SetOption(setting(words)),
        "usinewgame" => Command::UsiNewGame,
        "position" => Command::Position(position(words).map(Box::new)),
        "go" => go(words),
        "ponderhit" => Command::PonderHit,
        "stop" => Command::Stop,
        "gameover" => Command::GameOver,
        "quit" => Command::Quit,
        word => Command::Unknown(shown(word)),
    };
    Some(command)
}

fn setting<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<Setting, SettingError> {
    let (Some("name"), Some(name)) = (words.next(), words.next()) else {
        return Err(SettingError);
    };
    if words.next().is_some_and(|word| word != "value") {
        return Err(SettingError);
    }
    let value: Vec<&str> = words.collect();
    Ok(Setting { name: name.to_owned(), value: value.join(" ") })
}

fn position<'a>(
    mut words: impl Iterator<Item = &'a str>,
) -> Result<Position, PositionCommandError> {
    let start: Vec<&str> = words.by_ref().take_while(|&word| word != "moves").collect();
    let mut position: Position = start.join(" ").parse()?;
    for (number, word) in (1..).zip(words) {
        let no_move = || PositionCommandError::NoMove { number, text: shown(word) };
        let m = Move::from_usi(word).ok_or_else(no_move)?;
        if !position.is_legal(m) {
            return Err(PositionCommandError::Illegal { number, m });
        }
        position.make(m);
    }
    Ok(position)
}

fn go<'a>(words: impl Iterator<Item = &'a str>) -> Command {
    let words: Vec<&str> = words.collect();
    match words[..] {
        ["mate"] => Command::GoMate(Ok(None)),
        ["mate", time, ..] => Command::GoMate(time_limit(time)),
        _ => Command::Go { on_request: words.iter().any(|w| matches!(*w, "infinite" | "ponder")) },
    }
}

fn time_limit(text: &str) -> Result<Option<Duration>, TimeError> {
    if text == "infinite" {
        return Ok(None);
    }
    let milliseconds = text.parse().map_err(|error| TimeError { text: shown(text), error })?;
    Ok(Some(Duration::from_millis(milliseconds)))
}

/// Longest word that is repeated in a message, in characters.
const MAX_SHOWN: usize = 40;

/// A word of the input as it may stand in one line of output.
fn shown(word: &str) -> String {
    let printable = |c: char| if c.is_control() { '?' } else { c };
    let mut shown: String = word.chars().take(MAX_SHOWN).map(printable).collect();
    if shown.len() < word.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::shogi::sfen;

    fn command(line: &str) -> Command {
        parse(line).expect("a command")
    }

    #[test]
    fn words_without_arguments() {
        for (line, expected) in [
            ("usi", Command::Usi),
            ("isready\r", Command::IsReady),
            ("  usinewgame", Command::UsiNewGame),
            ("ponderhit", Command::PonderHit),
            ("stop", Command::Stop),
            ("gameover win", Command::GameOver),
            ("quit", Command::Quit),
            ("USI", Command::Unknown("USI".to_owned())),
            ("wake\u{7}up now", Command::Unknown("wake?up".to_owned())),
        ] {
            assert_eq!(command(line), expected, "{line}");
        }
        assert_eq!(parse(""), None);
        assert_eq!(parse(" \t\r"), None);
    }

    #[test]
    fn options_have_a_name_and_a_value() {
        let setting = |name: &str, value: &str| {
            Command::SetOption(Ok(Setting { name: name.to_owned(), value: value.to_owned() }))
        };
        assert_eq!(command("setoption name USI_Hash value 64"), setting("USI_Hash", "64"));
        assert_eq!(command("setoption name Book value two words"), setting("Book", "two words"));
        assert_eq!(command("setoption name Reset"), setting("Reset", ""));
        assert_eq!(command("setoption name Book value"), setting("Book", ""));
        for line in ["setoption", "setoption name", "setoption X 3", "setoption name X 3"] {
            assert_eq!(command(line), Command::SetOption(Err(SettingError)), "{line}");
        }
    }

    #[test]
    fn positions_are_played_up_to_their_last_move() {
        let position = |line: &str| match command(line) {
            Command::Position(Ok(position)) => position.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(position("position startpos"), sfen::START);
        assert_eq!(position("position startpos moves"), sfen::START);
        assert_eq!(position(&format!("position sfen {}", sfen::START)), sfen::START);
        assert_eq!(
            position("position startpos moves 7g7f 3c3d 8h2b+"),
            "lnsgkgsnl/1r5+B1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/7R1/LNSGKGSNL w B 4"
        );
        assert_eq!(
            position("position sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1 moves G*5b"),
            "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 2"
        );
    }

    #[test]
    fn what_is_no_position_says_why() {
        let error = |line: &str| match command(line) {
            Command::Position(Err(error)) => error.to_string(),
            other => panic!("{other:?}"),
        };
        let start = "position startpos moves";
        assert!(error("position").starts_with("position: character 1: "));
        assert!(error("position sfen 9/9 b - 1").starts_with("position: character "));
        assert_eq!(
            error(&format!("{start} 7g7f 7g7e")),
            "position: move 2: 7g7e is not legal there"
        );
        assert_eq!(error(&format!("{start} 7g7f 3c3d x")), "position: move 3: x is no move");
        let long = "9".repeat(99);
        assert_eq!(
            error(&format!("{start} {long}")),
            format!("position: move 1: {}… is no move", &long[..MAX_SHOWN])
        );
    }

    #[test]
    fn a_mate_is_sought_for_a_time_or_without_end() {
        assert_eq!(command("go mate infinite"), Command::GoMate(Ok(None)));
        assert_eq!(command("go mate"), Command::GoMate(Ok(None)));
        let ten_seconds = Some(Duration::from_secs(10));
        assert_eq!(command("go mate 10000"), Command::GoMate(Ok(ten_seconds)));
        for text in ["soon", "-1", "1.5", "99999999999999999999999"] {
            let Command::GoMate(Err(error)) = command(&format!("go mate {text}")) else {
                panic!("{text}")
            };
            assert!(
                error.to_string().starts_with(&format!("go mate: {text} is neither")),
                "{error}"
            );
        }
    }

    #[test]
    fn other_searches_are_told_apart_by_who_ends_them() {
        for line in ["go", "go btime 1000 wtime 1000 byoyomi 5", "go depth 3"] {
            assert_eq!(command(line), Command::Go { on_request: false }, "{line}");
        }
        for line in ["go infinite", "go ponder btime 1000 wtime 1000"] {
            assert_eq!(command(line), Command::Go { on_request: true }, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_is_too_strange(line in "\\PC*") {
            let _ = parse(&line);
        }

        #[test]
        fn no_arguments_are_too_strange(
            start in "(position |position sfen |position startpos |setoption |go |go mate )",
            words in prop::collection::vec(
                "(moves|name|value|infinite|[1-9][a-i][1-9][a-i][+]?|[PLK][*][0-9][a-z]|[0-9]{1,30}|\\PC{0,9})",
                0..9,
            ),
        ) {
            let _ = parse(&(start + &words.join(" ")));
        }
    }
}
