//! `usi`: one game per line, as the arguments of the `position` command of the USI protocol.
//!
//! The USI protocol defines the command. See `docs/formats/usi.md`.

mod ending;

use kyokumen_shogi::{Color, Move, Setup};

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::field::{Field, Fields};
use super::game::Game;
use super::played::Played;
use super::replay::even_start;
use super::spec::{Codec, Framing, Spec, one, with_line_end};
use super::text_encoding::detect;
use super::{lines, sfen_text};
use crate::ending::Ending;
use crate::game_info::HoldsInfo;

pub(super) const SPEC: Spec = Spec {
    name: "usi",
    extensions: &[],
    framing: Framing::Line,
    copy: with_line_end,
    header: b"",
    separator: b"",
    holds: Fields::of_all(&[
        Field::BestMove,
        Field::Ply,
        Field::EndPly,
        Field::Result,
        Field::Ending,
    ]),
    needs: Fields::of(Field::BestMove),
    endings: &Ending::ALL,
    codec: Codec::Games {
        read: |chunk| one(read(chunk)),
        count: None,
        write: Some(write),
        lost: |_, end| {
            if ending::can_express(end) { Fields::NONE } else { Fields::of(Field::Ending) }
        },
        info: HoldsInfo::NOTHING,
    },
};

const START: &str = "startpos";
const MOVES: &str = "moves";

fn read(line: &[u8]) -> Result<Game, DecodeError> {
    if lines::is_comment(line) {
        return Err(DecodeErrorKind::Comment.at(0));
    }
    let Ok(text) = std::str::from_utf8(line) else {
        detect(line).map_err(|kind| kind.at(0))?;
        return Err(syntax("text in ASCII", "other bytes", 0));
    };
    let mut words = Words { text, at: lines::mark_len(line) };
    let mut word = words.next_word();
    if let Some((_, "position")) = word {
        word = words.next_word();
    }
    let start = match word {
        Some((_, START)) => even_start(),
        Some((_, "sfen")) => words.setup(None)?,
        // Some writers omit the keyword.
        Some((at, word)) if word.contains('/') => words.setup(Some(at))?,
        Some((at, word)) => return Err(syntax("startpos or sfen", word, at)),
        None => return Err(syntax("startpos or sfen", "", 0)),
    };
    let mut game = Game::new(start);
    match words.next_word() {
        Some((_, MOVES)) => game.read_moves(words),
        Some((at, word)) => return Err(syntax("moves", word, at)),
        None => {}
    }
    Ok(game)
}

impl Game {
    fn read_moves(&mut self, mut words: Words<'_>) {
        while let Some((offset, word)) = words.next_word() {
            if let Some(best_move) = Move::from_usi(word) {
                self.moves.push(Played::new(best_move, offset));
                continue;
            }
            if let Some((at, next)) = { words }.next_word().filter(|_| ending::may_be_word(word)) {
                self.broken =
                    Some(syntax("the end of the line after the end of the game", next, at));
            } else if !ending::may_be_word(word) {
                self.broken = Some(syntax(
                    "a move in USI notation, or a word for the end of the game",
                    word,
                    offset,
                ));
            } else if let Some(end) = ending::parse(word, self.side_to_move_at_end()) {
                (self.result, self.ending) = end;
            } else {
                // An unknown word: the game ends for an unknown reason.
                self.info.skipped_lines = 1;
            }
            return;
        }
    }

    /// The side to move after the moves.
    fn side_to_move_at_end(&self) -> Color {
        let first = self.start.side_to_move();
        if self.moves.len().is_multiple_of(2) { first } else { !first }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "other formats cannot write everything")]
fn write(game: &Game, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    if game.start == even_start() {
        out.extend_from_slice(START.as_bytes());
    } else {
        out.extend_from_slice(format!("sfen {}", game.start).as_bytes());
    }
    for (i, played) in game.moves.iter().enumerate() {
        out.extend_from_slice(if i == 0 { b" moves " } else { b" " });
        out.extend_from_slice(played.best_move.to_string().as_bytes());
    }
    if let Some(word) = ending::word((game.result, game.ending), game.side_to_move_at_end()) {
        out.extend_from_slice(if game.moves.is_empty() { b" moves " } else { b" " });
        out.extend_from_slice(word.as_bytes());
    }
    out.push(b'\n');
    Ok(())
}

/// The words of a line with their offsets.
#[derive(Clone, Copy)]
struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    fn next_word(&mut self) -> Option<(usize, &'a str)> {
        let rest = &self.text[self.at..];
        let start = self.at + rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let rest = &self.text[start..];
        let end = start + rest.find([' ', '\t']).unwrap_or(rest.len());
        self.at = end;
        (start < end).then(|| (start, &self.text[start..end]))
    }

    /// The SFEN up to `moves` or the end of the line. It begins at `from` if its first word has been read, otherwise
    /// here.
    fn setup(&mut self, from: Option<usize>) -> Result<Setup, DecodeError> {
        let from = from.unwrap_or(self.at);
        let rest = &self.text[from..];
        let mut words = Words { at: from, ..*self };
        let moves = std::iter::from_fn(|| words.next_word()).find(|(_, word)| *word == MOVES);
        self.at = moves.map_or(self.text.len(), |(at, _)| at);
        let text = self.text[from..self.at].trim();
        let at = from + rest.len() - rest.trim_start().len();
        Ok(sfen_text::parse(text.as_bytes(), at)?.setup)
    }
}

fn syntax(expected: &'static str, found: &str, at: usize) -> DecodeError {
    DecodeErrorKind::syntax(expected, found.as_bytes()).at(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, GameResult, Record, RecordRef, records};

    fn read_all(line: &str) -> Vec<Result<Record, DecodeError>> {
        let format = Format::Usi;
        records(format, format.dialect(), line.as_bytes())
            .map(|record| record.and_then(|record: RecordRef<'_>| record.record()))
            .collect()
    }

    #[test]
    fn each_move_is_a_record() {
        let handicap = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1";
        for (line, plies) in [
            ("position startpos moves 2g2f 8c8d 2f2e".to_owned(), vec![1, 2, 3]),
            ("startpos moves 2g2f".to_owned(), vec![1]),
            ("startpos".to_owned(), vec![]),
            (format!("sfen {handicap} moves 3c3d 7g7f"), vec![1, 2]),
            (format!("{handicap} moves 3c3d"), vec![1]),
            (format!("{handicap}\tmoves\t3c3d"), vec![1]),
            (format!("position\tsfen {handicap}\t moves 3c3d"), vec![1]),
        ] {
            let records = read_all(&line);
            let read: Vec<u16> =
                records.iter().map(|record| record.as_ref().unwrap().ply.unwrap()).collect();
            assert_eq!(read, plies, "{line}");
            let end_plies = records.iter().map(|record| record.as_ref().unwrap().end_ply);
            assert!(end_plies.eq(plies.iter().map(|_| plies.last().copied())));
        }
    }

    #[test]
    fn an_illegal_move_ends_the_game() {
        let records = read_all("startpos moves 2g2f 2g2f 8c8d");
        assert!(records[0].is_ok());
        let best_move = Move::from_usi("2g2f").unwrap();
        assert_eq!(records[1], Err(DecodeErrorKind::IllegalMove { best_move }.at(20)));
        assert_eq!(records.len(), 2);

        for (line, at) in [
            ("startpos moves 2g2f 8c8x", 20),
            ("startpos moves 2g2f 5", 20),
            ("startpos moves 2g2f resign 8c8d", 27),
        ] {
            let records = read_all(line);
            assert_eq!(records.len(), 2, "{line}");
            assert_eq!(records[1].as_ref().unwrap_err().offset, at, "{line}");
        }
    }

    /// Such words are not records.
    #[test]
    fn a_word_after_the_moves_gives_the_end_of_the_game() {
        use GameResult::{BlackWin, Draw, WhiteWin};
        for (line, result, ending) in [
            ("startpos moves 7g7f 3c3d resign", Some(WhiteWin), None),
            ("startpos moves 7g7f resign", Some(BlackWin), None),
            ("startpos moves 7g7f win", Some(WhiteWin), Some(Ending::Declaration)),
            ("startpos moves 7g7f rep_draw", Some(Draw), Some(Ending::Repetition)),
            ("startpos moves 7g7f rep_sup", None, None),
            ("startpos moves 7g7f draw", Some(Draw), None),
            ("startpos moves 7g7f TIMEOUT", Some(BlackWin), Some(Ending::TimeUp)),
            ("startpos moves 7g7f break", None, Some(Ending::Interruption)),
            ("startpos moves 7g7f abort", None, Some(Ending::Interruption)),
            ("startpos moves 7g7f illegal", Some(BlackWin), Some(Ending::IllegalMove)),
            ("startpos moves 7g7f max_moves", Some(Draw), Some(Ending::MoveLimit)),
            ("startpos moves 7g7f white:time_up", Some(WhiteWin), Some(Ending::TimeUp)),
            ("startpos moves 7g7f unheard_of", None, None),
            ("startpos moves resign", Some(WhiteWin), None),
        ] {
            let game = read(line.as_bytes()).unwrap();
            assert_eq!((game.result, game.ending, &game.broken), (result, ending, &None), "{line}");
            let is_unknown = line.ends_with("unheard_of");
            assert_eq!(game.info.skipped_lines, u32::from(is_unknown), "{line}");
            assert!(game.records().iter().all(Result::is_ok));
        }
    }

    #[test]
    fn games_are_written_as_they_are_read() {
        let handicap = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1";
        for line in [
            "startpos\n".to_owned(),
            "startpos moves 2g2f 8c8d\n".to_owned(),
            format!("sfen {handicap} moves 3c3d\n"),
            "startpos moves 2g2f 8c8d resign\n".to_owned(),
            "startpos moves 2g2f white\n".to_owned(),
        ] {
            let mut out = Vec::new();
            write(&read(line.trim_end().as_bytes()).unwrap(), &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), line);
        }
    }
}
