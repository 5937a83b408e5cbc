//! Reads pasted text or the bytes of a file: SFEN, USI, KIF, KI2, BOD, CSA, JKF.

use kyokumen_format::{
    ConvertError, Error, ErrorKind, Format, Game, HeaderKey, Place, Reader, RecordRef, read_games,
};
use kyokumen_shogi::{Move, Position, sfen};
use serde::Serialize;

use crate::step::{Step, steps};

/// Maximum number of problems in an answer.
const MAX_PROBLEMS: usize = 1000;

/// The problems in a text.
#[derive(Serialize)]
pub(crate) struct ProblemList {
    problems: Vec<Problem>,
    /// Whether the text has more problems than the answer.
    is_cut: bool,
    /// Number of unreadable problems that were skipped, and why the first of them is unreadable.
    skipped: usize,
    first_fault: Option<String>,
}

/// A position with the moves that follow it in the text.
#[derive(Serialize)]
struct Problem {
    /// The title, if the text has one.
    name: Option<String>,
    sfen: String,
    moves: Vec<Step>,
    /// Why the moves end early, if the text has more.
    fault: Option<String>,
}

pub(crate) fn problems(bytes: &[u8]) -> Result<ProblemList, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let format = format_of(bytes);
    let mut problems = Vec::new();
    let (mut is_cut, mut skipped, mut first_fault) = (false, 0, None);
    let mut all: Box<dyn Iterator<Item = Result<Problem, String>>> = match format {
        Some(format) => Box::new(games(format, bytes)),
        None => Box::new(lines(bytes)),
    };
    for problem in &mut all {
        is_cut = problems.len() == MAX_PROBLEMS;
        if is_cut {
            break;
        }
        match problem {
            Ok(problem) => problems.push(problem),
            Err(fault) => {
                skipped += 1;
                first_fault.get_or_insert(fault);
            }
        }
    }
    if problems.is_empty() {
        return Err(first_fault.unwrap_or_else(|| "the text contains no position".to_owned()));
    }
    Ok(ProblemList { problems, is_cut, skipped, first_fault })
}

/// The format of a text by its lines. `None` for lines of SFEN or USI.
fn format_of(bytes: &[u8]) -> Option<Format> {
    let begins = |starts: &[&str]| {
        let mut lines = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        lines.any(|line| starts.iter().any(|start| line.starts_with(start.as_bytes())))
    };
    if bytes.trim_ascii_start().first() == Some(&b'{') {
        Some(Format::Jkf)
    } else if begins(&["V2", "V3", "PI", "P1", "P+", "P-"]) {
        Some(Format::Csa)
    } else if bytes.is_ascii() || is_sfen_with_title(bytes) {
        None
    } else {
        Some(Format::of_kif_text(bytes))
    }
}

/// Whether the first line that is not a comment begins like an SFEN. Its title may be Japanese.
fn is_sfen_with_title(bytes: &[u8]) -> bool {
    let lines = || bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines().find(|line| !line.is_empty() && line[0] != b'#').unwrap_or_default();
    first.split(|&byte| byte == b' ').next().is_some_and(|word| {
        matches!(word, b"sfen" | b"position" | b"startpos")
            || word.split(|&byte| byte == b'/').count() == 9
    })
}

fn games(format: Format, bytes: &[u8]) -> impl Iterator<Item = Result<Problem, String>> {
    let mut reader = Reader::new(format, bytes);
    std::iter::from_fn(move || {
        let problem = if format == Format::Bod {
            let diagram = reader.read_record().transpose()?;
            diagram.map(|diagram| Problem::of_diagram(&diagram))
        } else {
            let game = reader.read_game().transpose()?;
            game.map(|game| Problem::of_game(&game))
        };
        Some(problem.map_err(|error| message(&error, bytes)))
    })
}

/// The message of an error. A place within the text is given as a line.
fn message(error: &Error, bytes: &[u8]) -> String {
    let (Some(Place::Input(place)), ErrorKind::Record(ConvertError::Decode(fault))) =
        (error.place, &error.kind)
    else {
        return error.to_string();
    };
    let Some(byte) = fault.byte() else { return fault.kind.to_string() };
    let at = usize::try_from(place.offset).unwrap_or_default() + byte;
    let before = &bytes[..at.min(bytes.len())];
    let line = before.split(|&byte| byte == b'\n').count();
    format!("line {line}: {}", fault.kind)
}

/// The problems of lines of SFEN. Further columns may follow, separated by tabs. The first of them is the title.
fn lines(bytes: &[u8]) -> impl Iterator<Item = Result<Problem, String>> {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
    let numbered = (1..).zip(lines);
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).map(|(number, line)| {
        let mut columns = line.split('\t');
        let position = columns.next().unwrap_or_default();
        let name = columns.next().filter(|name| !name.is_empty()).map(str::to_owned);
        let problem = of_line(position).map_err(|error| format!("line {number}: {error}"))?;
        Ok(Problem { name, ..problem })
    })
}

fn of_line(text: &str) -> Result<Problem, String> {
    if text.split(' ').any(|word| word == "moves") {
        let game = Reader::new(Format::Usi, text.as_bytes()).read_game();
        let game = game.map_err(|error| error.kind.to_string())?;
        return game.map(|game| Problem::of_game(&game)).ok_or_else(|| "no position".to_owned());
    }
    let parsed = sfen::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    Ok(Problem::of_start(parsed.setup.to_string()))
}

impl Problem {
    const fn of_start(sfen: String) -> Self {
        Self { name: None, sfen, moves: Vec::new(), fault: None }
    }

    /// A diagram. Its title is a header entry, as in KIF.
    fn of_diagram(diagram: &RecordRef<'_>) -> Self {
        let setup = diagram.setup().expect("a diagram is decoded when it is read");
        let mut games = read_games(Format::Kif, diagram.bytes()).filter_map(Result::ok);
        Self { name: games.find_map(|game| title(&game)), ..Self::of_start(setup.to_string()) }
    }

    /// A game up to its first illegal move.
    fn of_game(game: &Game) -> Self {
        let sfen = game.start.to_string();
        let mut fault = game.broken.as_ref().map(|error| error.kind.to_string());
        let mut moves: Vec<Move> = Vec::new();
        match Position::try_from(&game.start) {
            Ok(start) => {
                let mut position = start.clone();
                for played in &game.moves {
                    if !position.is_legal(played.best_move) {
                        fault = Some(format!("{} is illegal", played.best_move));
                        break;
                    }
                    position.make(played.best_move);
                    moves.push(played.best_move);
                }
                Self { name: title(game), sfen, moves: steps(&start, &moves, None), fault }
            }
            Err(error) => Self { fault: Some(error.to_string()), ..Self::of_start(sfen) },
        }
    }
}

/// The title of a problem or game. Without a title, the names of the players.
fn title(game: &Game) -> Option<String> {
    let players = || {
        let name = |side| {
            let header = game.info.headers.iter().find(|header| header.key == side)?;
            (!header.value.is_empty()).then_some(&*header.value)
        };
        let names: Vec<&str> =
            [HeaderKey::Black, HeaderKey::White].into_iter().filter_map(name).collect();
        (!names.is_empty()).then(|| names.join(" – "))
    };
    game.info.title().map(str::to_owned).or_else(players)
}
