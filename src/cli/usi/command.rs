//! Parses the lines of a GUI into commands.
//!
//! Parsing never fails. The error of an invalid command is part of the command, because some commands need an answer
//! even then.

use std::time::Duration;

use crate::shogi::sfen::SfenError;
use crate::shogi::{Move, Position, PositionHistory};

/// The error of an invalid command, as a message.
pub(super) type Fault = String;

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Command {
    Usi,
    IsReady,
    SetOption(Result<Setting, Fault>),
    UsiNewGame,
    Position(Result<Box<GamePosition>, Fault>),
    /// `go mate` with its time limit, if any.
    GoMate(Result<Option<Duration>, Fault>),
    /// Any other `go`.
    Go(Result<GoLimits, Fault>),
    PonderHit,
    Stop,
    GameOver,
    Quit,
    /// The first word of an unknown command.
    Unknown(String),
}

/// A position and the positions of its game, itself included.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct GamePosition {
    pub(super) position: Position,
    pub(super) history: PositionHistory,
}

impl GamePosition {
    pub(super) fn start() -> Self {
        Self::new(Position::start())
    }

    fn new(position: Position) -> Self {
        let mut history = PositionHistory::default();
        history.push(&position);
        Self { position, history }
    }
}

/// Limits of `go`. Without any the search runs until `stop`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct GoLimits {
    /// Search until `stop`, and do not answer before it.
    pub(super) infinite: bool,
    /// Do not answer before `ponderhit` or `stop`. Times count from `ponderhit`.
    pub(super) ponder: bool,
    pub(super) nodes: Option<u64>,
    pub(super) move_time: Option<Duration>,
    /// Time left for Black and White.
    pub(super) remaining: [Option<Duration>; 2],
    /// Time added per move for Black and White.
    pub(super) increments: [Duration; 2],
    /// Time per move after the remaining time is used up.
    pub(super) byoyomi: Duration,
}

impl GoLimits {
    /// Whether no answer may be sent before `stop` or `ponderhit`.
    pub(super) const fn waits_for_stop(&self) -> bool {
        self.infinite || self.ponder
    }
}

/// Name and value of `setoption`. The value of a button is empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Setting {
    pub(super) name: String,
    pub(super) value: String,
}

/// Parses a line; `None` if it is blank.
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

const NO_SETTING: &str = "setoption: expected name NAME [value VALUE]";

fn setting<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<Setting, Fault> {
    let (Some("name"), Some(name)) = (words.next(), words.next()) else {
        return Err(NO_SETTING.into());
    };
    if words.next().is_some_and(|word| word != "value") {
        return Err(NO_SETTING.into());
    }
    let value: Vec<&str> = words.collect();
    Ok(Setting { name: name.to_owned(), value: value.join(" ") })
}

fn position<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<GamePosition, Fault> {
    let start: Vec<&str> = words.by_ref().take_while(|&word| word != "moves").collect();
    let start: Position =
        start.join(" ").parse().map_err(|error: SfenError| format!("position: {error}"))?;
    let GamePosition { mut position, mut history } = GamePosition::new(start);
    for (number, word) in (1..).zip(words) {
        let no_move = || format!("position: move {number}: {} is not a move", shown(word));
        let m = Move::from_usi(word).ok_or_else(no_move)?;
        if !position.is_legal(m) {
            return Err(format!("position: move {number}: {m} is illegal"));
        }
        position.make(m);
        history.push(&position);
    }
    Ok(GamePosition { position, history })
}

fn go<'a>(words: impl Iterator<Item = &'a str>) -> Command {
    let words: Vec<&str> = words.collect();
    match words[..] {
        ["mate"] => Command::GoMate(Ok(None)),
        ["mate", time, ..] => Command::GoMate(time_limit(time)),
        _ => Command::Go(go_limits(&words)),
    }
}

/// Parses the limits of `go`. Ignores unknown words, because GUIs may send more.
fn go_limits(words: &[&str]) -> Result<GoLimits, Fault> {
    let mut limits = GoLimits::default();
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        match word {
            "infinite" => limits.infinite = true,
            "ponder" => limits.ponder = true,
            "nodes" => limits.nodes = Some(number(word, words.next())?),
            "movetime" => limits.move_time = Some(milliseconds(word, words.next())?),
            "byoyomi" => limits.byoyomi = milliseconds(word, words.next())?,
            "btime" => limits.remaining[0] = Some(milliseconds(word, words.next())?),
            "wtime" => limits.remaining[1] = Some(milliseconds(word, words.next())?),
            "binc" => limits.increments[0] = milliseconds(word, words.next())?,
            "winc" => limits.increments[1] = milliseconds(word, words.next())?,
            _ => {}
        }
    }
    Ok(limits)
}

/// Parses a number. A negative number, such as an overdrawn clock, is 0.
fn number(what: &str, text: Option<&&str>) -> Result<u64, Fault> {
    let text = text.copied().unwrap_or_default();
    let number: i64 = text.parse().map_err(|_| {
        let expected = if what == "nodes" { "a number of nodes" } else { "milliseconds" };
        let found = if text.is_empty() { "the end of the line" } else { &shown(text) };
        format!("go {what}: expected {expected}, not {found}")
    })?;
    Ok(u64::try_from(number).unwrap_or(0))
}

fn milliseconds(what: &str, text: Option<&&str>) -> Result<Duration, Fault> {
    number(what, text).map(Duration::from_millis)
}

fn time_limit(text: &str) -> Result<Option<Duration>, Fault> {
    if text == "infinite" {
        return Ok(None);
    }
    let milliseconds = text.parse().map_err(|_| {
        format!("go mate: found `{}`, expected milliseconds or `infinite`", shown(text))
    })?;
    Ok(Some(Duration::from_millis(milliseconds)))
}

/// Longest word quoted in a message, in characters.
const MAX_SHOWN: usize = 40;

/// Shortens a word of the input and replaces control characters, for one line of output.
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
    fn commands_without_arguments_are_parsed() {
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
    fn setoption_has_a_name_and_a_value() {
        let setting = |name: &str, value: &str| {
            Command::SetOption(Ok(Setting { name: name.to_owned(), value: value.to_owned() }))
        };
        assert_eq!(command("setoption name USI_Hash value 64"), setting("USI_Hash", "64"));
        assert_eq!(command("setoption name Book value two words"), setting("Book", "two words"));
        assert_eq!(command("setoption name Reset"), setting("Reset", ""));
        assert_eq!(command("setoption name Book value"), setting("Book", ""));
        for line in ["setoption", "setoption name", "setoption X 3", "setoption name X 3"] {
            assert_eq!(command(line), Command::SetOption(Err(NO_SETTING.into())), "{line}");
        }
    }

    #[test]
    fn position_plays_its_moves() {
        let position = |line: &str| match command(line) {
            Command::Position(Ok(game)) => game.position.to_string(),
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
    fn errors_of_position_name_the_wrong_part() {
        let error = |line: &str| match command(line) {
            Command::Position(Err(error)) => error,
            other => panic!("{other:?}"),
        };
        let start = "position startpos moves";
        assert!(error("position").starts_with("position: character 1: "));
        assert!(error("position sfen 9/9 b - 1").starts_with("position: character "));
        assert_eq!(error(&format!("{start} 7g7f 7g7e")), "position: move 2: 7g7e is illegal");
        assert_eq!(error(&format!("{start} 7g7f 3c3d x")), "position: move 3: x is not a move");
        let long = "9".repeat(99);
        assert_eq!(
            error(&format!("{start} {long}")),
            format!("position: move 1: {}… is not a move", &long[..MAX_SHOWN])
        );
    }

    #[test]
    fn go_mate_has_a_time_limit_or_none() {
        assert_eq!(command("go mate infinite"), Command::GoMate(Ok(None)));
        assert_eq!(command("go mate"), Command::GoMate(Ok(None)));
        let ten_seconds = Some(Duration::from_secs(10));
        assert_eq!(command("go mate 10000"), Command::GoMate(Ok(ten_seconds)));
        for text in ["soon", "-1", "1.5", "99999999999999999999999"] {
            let Command::GoMate(Err(error)) = command(&format!("go mate {text}")) else {
                panic!("{text}")
            };
            assert_eq!(
                error,
                format!("go mate: found `{text}`, expected milliseconds or `infinite`")
            );
        }
    }

    #[test]
    fn go_has_limits_or_waits_for_stop() {
        let limits = |line: &str| match command(line) {
            Command::Go(Ok(limits)) => limits,
            other => panic!("{other:?}"),
        };
        for line in ["go", "go depth 3"] {
            assert_eq!(limits(line), GoLimits::default(), "{line}");
        }
        let [one, two, five] = [1, 2, 5].map(Duration::from_millis);
        let timed = limits("go btime 1 wtime -7 byoyomi 5 binc 2");
        assert_eq!((timed.remaining, timed.byoyomi), ([Some(one), Some(Duration::ZERO)], five));
        assert_eq!(timed.increments, [two, Duration::ZERO]);
        assert!(!timed.waits_for_stop());
        let limited = limits("go nodes 100 movetime 5");
        assert_eq!((limited.nodes, limited.move_time), (Some(100), Some(five)));
        for line in ["go infinite", "go ponder btime 1000 wtime 1000"] {
            assert!(limits(line).waits_for_stop(), "{line}");
        }
        for (line, expected) in [
            ("go nodes", "go nodes: expected a number of nodes, not the end of the line"),
            ("go nodes many", "go nodes: expected a number of nodes, not many"),
            ("go btime 1.5", "go btime: expected milliseconds, not 1.5"),
        ] {
            let Command::Go(Err(error)) = command(line) else { panic!("{line}") };
            assert_eq!(error, expected);
        }
    }

    proptest! {
        #[test]
        fn any_line_can_be_parsed(line in "\\PC*") {
            let _ = parse(&line);
        }

        #[test]
        fn any_arguments_can_be_parsed(
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
