//! `usi`: a game a line, as the USI protocol's `position` command says it.
//!
//! The command is defined by the USI protocol; see `docs/formats/usi.md`.

use kyokumen_shogi::{Move, Setup};

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::field::{Field, Fields};
use super::game::{Game, Played};
use super::replay::even_start;
use super::spec::{Codec, Framing, Spec, one, with_line_end};
use super::{lines, sfen_text};
use crate::game_info::HoldsInfo;

pub(super) const SPEC: Spec = Spec {
    name: "usi",
    extensions: &[],
    framing: Framing::Line,
    copy: with_line_end,
    header: b"",
    separator: b"",
    holds: Fields::of_all(&[Field::BestMove, Field::Ply, Field::EndPly]),
    needs: Fields::of(Field::BestMove),
    endings: &[],
    codec: Codec::Games {
        read: |unit| one(read(unit)),
        count: None,
        write: Some(write),
        lost: |_, _| Fields::NONE,
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
        return Err(syntax("text", "other bytes", 0));
    };
    let mut words = Words { text, at: 0 };
    let mut word = words.next_word();
    if let Some((_, "position")) = word {
        word = words.next_word();
    }
    let start = match word {
        Some((_, START)) => even_start(),
        Some((_, "sfen")) => words.setup(None)?,
        // Some writers leave the keyword out.
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
    fn read_moves(&mut self, words: Words<'_>) {
        for (offset, word) in words {
            let Some(best_move) = Move::from_usi(word) else {
                self.broken = Some(syntax("a move in USI notation", word, offset));
                return;
            };
            self.moves.push(Played::new(best_move, offset));
        }
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
    out.push(b'\n');
    Ok(())
}

/// The words of a line with their places.
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

    /// The SFEN that goes on up to `moves` or the end; it begins here or, if its first word has been
    /// read, at that.
    fn setup(&mut self, from: Option<usize>) -> Result<Setup, DecodeError> {
        let from = from.unwrap_or(self.at);
        let rest = &self.text[from..];
        let len = rest.find(" moves").unwrap_or(rest.len());
        self.at = from + len;
        let text = rest[..len].trim();
        let at = from + rest.len() - rest.trim_start().len();
        Ok(sfen_text::parse(text.as_bytes(), at)?.setup)
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        self.next_word()
    }
}

fn syntax(expected: &'static str, found: &str, at: usize) -> DecodeError {
    DecodeErrorKind::syntax(expected, found.as_bytes()).at(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Record, RecordRef, records};

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
    fn a_move_that_cannot_be_played_ends_the_game() {
        let records = read_all("startpos moves 2g2f 2g2f 8c8d");
        assert!(records[0].is_ok());
        let best_move = Move::from_usi("2g2f").unwrap();
        assert_eq!(records[1], Err(DecodeErrorKind::IllegalMove { best_move }.at(20)));
        assert_eq!(records.len(), 2);

        let records = read_all("startpos moves 2g2f resign");
        assert_eq!(records.len(), 2);
        assert_eq!(records[1].as_ref().unwrap_err().offset, 20);
    }

    #[test]
    fn games_are_written_as_they_are_read() {
        let handicap = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1";
        for line in [
            "startpos\n".to_owned(),
            "startpos moves 2g2f 8c8d\n".to_owned(),
            format!("sfen {handicap} moves 3c3d\n"),
        ] {
            let mut out = Vec::new();
            write(&read(line.trim_end().as_bytes()).unwrap(), &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), line);
        }
    }
}
