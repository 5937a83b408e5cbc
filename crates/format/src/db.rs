//! `db`: YaneuraOu's opening books as text. Each position is followed by its moves, and each move is a record.
//!
//! Defined by YaneuraOu's `source/book/book.cpp` (`BookMove::from_string`, `MemoryBook::write_book`). See
//! `docs/formats/db.md`.

use kyokumen_shogi::{Move, Setup};

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::field::{Field, Fields};
use super::record::{Parsed, Record};
use super::spec::{Codec, Framing, Spec, with_line_end};
use super::warning::{Warning, Warnings};
use super::{lines, sfen_text};

const NEEDS: Fields = Fields::of_all(&[Field::BestMove, Field::Ply]);

pub(super) const SPEC: Spec = Spec {
    name: "db",
    extensions: &[],
    framing: Framing::Variable {
        end: |bytes, _| lines::chunk_end(bytes, |_| false),
        next: Some(lines::POSITION),
    },
    copy: with_line_end,
    header: b"#YANEURAOU-DB2016 1.00\n",
    separator: b"",
    holds: NEEDS.union(Fields::of(Field::EvalCp)),
    needs: NEEDS,
    endings: &[],
    codec: Codec::Records { read, count: None, write: Some(write) },
};

/// The spelling of "no move" that is written.
const NO_MOVE: &str = "none";
/// All spellings of "no move" that are read.
const NO_MOVES: [&[u8]; 3] = [b"none", b"None", b"resign"];

fn read(chunk: &[u8], records: &mut Vec<Result<Parsed, DecodeError>>) {
    let mut lines = lines::in_chunk(chunk).filter(|(_, line)| !is_comment(line));
    let Some((at, line)) = lines.next() else { return };
    let position = match DbPosition::of(at, line) {
        Ok(position) => position,
        Err(error) => return records.push(Err(error)),
    };
    let first = records.len();
    records.extend(lines.map(|(at, line)| position.with_move(at, line)));
    if records.len() == first {
        records.push(Ok(position.alone()));
    }
}

fn write(parsed: &Parsed, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    parsed.check(NEEDS)?;
    let Record { setup, best_move, eval_cp, .. } = &parsed.record;
    let best_move = best_move.map_or_else(|| NO_MOVE.to_owned(), |best_move| best_move.to_string());
    let eval_cp = eval_cp.map_or_else(String::new, |eval_cp| format!(" {eval_cp}"));
    let ponder = NO_MOVE;
    out.extend_from_slice(format!("sfen {setup}\n{best_move} {ponder}{eval_cp}\n").as_bytes());
    Ok(())
}

fn is_comment(line: &[u8]) -> bool {
    lines::is_comment(line) || line.starts_with(b"//")
}

/// The line with the position, above its moves.
struct DbPosition<'a> {
    line: &'a [u8],
    setup: Setup,
    ply: Option<u16>,
    warnings: Warnings,
}

impl<'a> DbPosition<'a> {
    fn of(at: usize, line: &'a [u8]) -> Result<Self, DecodeError> {
        let sfen = line.strip_prefix(lines::POSITION).ok_or_else(|| {
            DecodeErrorKind::syntax("a line sfen …, above its moves", line).at(at)
        })?;
        let parsed = sfen_text::parse(sfen, at + lines::POSITION.len())?;
        let (setup, ply, warnings) = sfen_text::numbered(&parsed);
        Ok(Self { line, setup, ply, warnings })
    }

    fn record(&self) -> Record {
        Record { ply: self.ply, ..Record::new(self.setup.clone()) }
    }

    /// The record of a position without moves.
    fn alone(&self) -> Parsed {
        let own_bytes = Some([self.line, b""].join(&b'\n'));
        Parsed { warnings: self.warnings, own_bytes, ..Parsed::from(self.record()) }
    }

    /// The record of a line `move ponder value depth count`. All columns except the move may be absent.
    fn with_move(&self, at: usize, line: &[u8]) -> Result<Parsed, DecodeError> {
        let mut words = words(line);
        let (_, first) = words.next().unwrap_or_default();
        let best_move = if NO_MOVES.contains(&first) {
            None
        } else {
            let best_move = std::str::from_utf8(first).ok().and_then(Move::from_usi);
            Some(best_move.ok_or_else(|| {
                DecodeErrorKind::syntax("a move in USI notation, or none", first).at(at)
            })?)
        };
        let mut warnings = self.warnings;
        let ponder = words.next();
        let eval_cp = match ponder.and_then(|_| words.next()) {
            Some((value_at, value)) => eval_cp(value, at + value_at, &mut warnings)?,
            None => None,
        };
        let record = Record { best_move, eval_cp, ..self.record() };
        let own_bytes = Some([self.line, line, b""].join(&b'\n'));
        Ok(Parsed { states_move: true, warnings, own_bytes, ..Parsed::from(record) })
    }
}

/// The value of a move. `None` if the column is `none` or a comment.
fn eval_cp(value: &[u8], at: usize, warnings: &mut Warnings) -> Result<Option<i16>, DecodeError> {
    if value.eq_ignore_ascii_case(NO_MOVE.as_bytes()) || is_comment(value) {
        return Ok(None);
    }
    let number: Option<i64> = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
    let number =
        number.ok_or_else(|| DecodeErrorKind::syntax("a whole number, or none", value).at(at))?;
    let eval_cp = i16::try_from(number).ok();
    if eval_cp.is_none() {
        warnings.insert(Warning::EvalOutOfRange);
    }
    Ok(eval_cp)
}

/// The words of a line with their offsets.
fn words(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let words = line.split(u8::is_ascii_whitespace).scan(0, |next, word| {
        let at = *next;
        *next += word.len() + 1;
        Some((at, word))
    });
    words.filter(|(_, word)| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kyokumen_shogi::sfen;

    const START: &str = sfen::START;

    fn read_all(chunk: &str) -> Vec<Result<Parsed, DecodeError>> {
        let mut records = Vec::new();
        read(chunk.as_bytes(), &mut records);
        records
    }

    #[test]
    fn each_move_of_a_position_is_a_record() {
        let chunk = format!(
            "#YANEURAOU-DB2016 1.00\r\n# NOE:1\r\nsfen {START}\r\n7g7f 3c3d 34 32 2\r\n\
             // a comment\r\n2g2f none -20\r\n\r\nnone none 0 0 1\r\n1g1f\r\n"
        );
        let records: Vec<Parsed> = read_all(&chunk).into_iter().map(Result::unwrap).collect();
        let fields: Vec<_> = records
            .iter()
            .map(|Parsed { record, .. }| (record.best_move.map(|m| m.to_string()), record.eval_cp))
            .collect();
        let best_move = |text: &str| Some(text.to_owned());
        assert_eq!(
            fields,
            [
                (best_move("7g7f"), Some(34)),
                (best_move("2g2f"), Some(-20)),
                (None, Some(0)),
                (best_move("1g1f"), None)
            ]
        );
        assert!(records.iter().all(|record| record.states_move && record.record.ply == Some(1)));
        let own = records[1].own_bytes.as_deref().unwrap();
        assert_eq!(own, format!("sfen {START}\n2g2f none -20\n").as_bytes());
    }

    #[test]
    fn a_record_is_written_with_its_position() {
        for (line, eval_cp) in [("7g7f none 34", Some(34)), ("none none", None)] {
            let chunk = format!("sfen {START}\n{line}\n");
            let parsed = read_all(&chunk).remove(0).unwrap();
            assert_eq!(parsed.record.eval_cp, eval_cp);
            let mut out = Vec::new();
            write(&parsed, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), chunk);
        }
    }

    #[test]
    fn values_of_more_than_16_bits_are_counted() {
        let chunk = format!("sfen {START}\n7g7f none 99999 0 1\n2g2f none -32768\n");
        let records: Vec<Parsed> = read_all(&chunk).into_iter().map(Result::unwrap).collect();
        assert_eq!(records[0].record.eval_cp, None);
        assert!(records[0].warnings.contains(Warning::EvalOutOfRange));
        assert_eq!(records[1].record.eval_cp, Some(-32768));
    }

    /// `ShogiHome` writes `none` here. YaneuraOu reads it as 0.
    #[test]
    fn a_value_of_none_means_no_evaluation() {
        let chunk =
            format!("sfen {START}\n2g2f none none none 103\n7g7f 3c3d None 32\n1g1f none #x\n");
        let records: Vec<Parsed> = read_all(&chunk).into_iter().map(Result::unwrap).collect();
        assert!(records.iter().all(|parsed| parsed.record.eval_cp.is_none()));
        assert!(records.iter().all(|parsed| parsed.warnings.is_empty()));
        let own = records[0].own_bytes.as_deref().unwrap();
        assert_eq!(own, format!("sfen {START}\n2g2f none none none 103\n").as_bytes());
    }

    #[test]
    fn errors_give_the_byte_offset() {
        let chunk = format!("sfen {START}\n7g7f none 1\n7g7x none\n2g2f none x\n3g3f none 2\n");
        let errors: Vec<_> =
            read_all(&chunk).into_iter().map(|record| record.err().map(|e| e.offset)).collect();
        let line = |text: &str| chunk.find(text);
        let value = line("2g2f").map(|at| at + 10);
        assert_eq!(errors, [None, line("7g7x"), value, None]);

        assert_eq!(read_all("7g7f none 1\n2g2f none 1\n").len(), 1);
        assert_eq!(read_all("\nsfen x\n7g7f none 1\n")[0].as_ref().unwrap_err().offset, 6);
        assert_eq!(read_all("#YANEURAOU-DB2016 1.00\n\n"), []);
        let alone = read_all(&format!("sfen {START}\n")).remove(0).unwrap();
        assert_eq!((alone.record.ply, alone.states_move), (Some(1), false));
    }
}
