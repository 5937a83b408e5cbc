//! `plain`: a record is a block of the lines `sfen …`, `move …`, `score …`, `ply …`, `result …` and `e`.
//!
//! Defined by `convert_bin` and `convert_plain` of YaneuraOu's learner (`source/learn/learner.cpp`), based on Qhapaq's
//! converter. See `docs/formats/plain.md`.

use kyokumen_shogi::{Color, Move, sfen};

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::field::{Field, Fields};
use super::record::{Parsed, Record};
use super::spec::{Codec, Framing, Spec, with_line_end};
use super::warning::{Warning, Warnings};
use super::{lines, sfen_text};
use crate::game_result::GameResult;

const FIELDS: Fields = Fields::of_all(&[Field::BestMove, Field::EvalCp, Field::Ply, Field::Result]);

pub(super) const SPEC: Spec = Spec {
    name: "plain",
    extensions: &[],
    framing: Framing::Variable {
        end: |bytes, _| lines::chunk_end(bytes, is_end),
        next: Some(lines::POSITION),
    },
    copy: with_line_end,
    header: b"",
    separator: b"",
    holds: FIELDS,
    needs: FIELDS,
    endings: &[],
    codec: Codec::Records { read, count: Some(count), write: Some(write) },
};

/// The line that ends a block.
const END: &[u8] = b"e";
/// The spelling of "no move" in YaneuraOu's reader and writer.
const NO_MOVE: &str = "none";

fn is_end(line: &[u8]) -> bool {
    line.trim_ascii() == END
}

fn read(block: &[u8], records: &mut Vec<Result<Parsed, DecodeError>>) {
    if count(block) > 0 {
        records.push(PlainBlock::of(block).and_then(PlainBlock::parsed));
    }
}

/// The number of records of a block: 1, or 0 if the block has only empty lines.
fn count(block: &[u8]) -> u64 {
    (!lines::without_mark(block).trim_ascii().is_empty()).into()
}

fn write(parsed: &Parsed, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    parsed.check(FIELDS)?;
    let Record { setup, best_move, eval_cp, ply, result, .. } = &parsed.record;
    let (Some(eval_cp), Some(ply), Some(result)) = (eval_cp, ply, result) else {
        return Err(EncodeError::Missing { fields: FIELDS });
    };
    let best_move = best_move.map_or_else(|| NO_MOVE.to_owned(), |best_move| best_move.to_string());
    let result = number_of(*result, setup.side_to_move());
    let block =
        format!("sfen {setup}\nmove {best_move}\nscore {eval_cp}\nply {ply}\nresult {result}\ne\n");
    out.extend_from_slice(block.as_bytes());
    Ok(())
}

/// The result for the side to move: 1 for a win, −1 for a loss, 0 for a draw.
fn number_of(result: GameResult, side_to_move: Color) -> i8 {
    match result.winner() {
        None => 0,
        Some(winner) if winner == side_to_move => 1,
        Some(_) => -1,
    }
}

/// The lines of a block. `None` if a line is missing.
#[derive(Default)]
struct PlainBlock {
    position: Option<sfen::Parsed>,
    /// Whether the block has a `move` line, even `move none`.
    states_move: bool,
    best_move: Option<Move>,
    score: Option<i64>,
    ply: Option<u16>,
    result: Option<i64>,
    ends: bool,
    /// Length of the block in bytes.
    len: usize,
}

impl PlainBlock {
    fn of(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut block = Self { len: bytes.len(), ..Self::default() };
        for (at, line) in lines::in_chunk(bytes) {
            block.take(at, line)?;
        }
        Ok(block)
    }

    fn take(&mut self, at: usize, line: &[u8]) -> Result<(), DecodeError> {
        let key_len = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        let (key, rest) = line.split_at(key_len);
        let value = rest.trim_ascii_start();
        let value_at = at + line.len() - value.len();
        let number = "a whole number";
        match key {
            b"sfen" => {
                let position = sfen_text::parse(value, value_at)?;
                set(&mut self.position, position, "one position in a block", at, line)
            }
            b"move" => {
                let best_move = word(value, value_at, "a move in USI notation, or none", |word| {
                    if word == NO_MOVE { Some(None) } else { Move::from_usi(word).map(Some) }
                })?;
                self.best_move = best_move;
                if std::mem::replace(&mut self.states_move, true) {
                    return Err(DecodeErrorKind::syntax("one move in a block", line).at(at));
                }
                Ok(())
            }
            b"score" => {
                let score = word(value, value_at, number, |word| word.parse().ok())?;
                set(&mut self.score, score, "one score in a block", at, line)
            }
            b"ply" => {
                let expected = "a number from 0 to 65535";
                let ply = word(value, value_at, expected, |word| word.parse().ok())?;
                set(&mut self.ply, ply, "one ply in a block", at, line)
            }
            b"result" => {
                let result = word(value, value_at, number, |word| word.parse().ok())?;
                set(&mut self.result, result, "one result in a block", at, line)
            }
            END => {
                self.ends = true;
                Ok(())
            }
            // YaneuraOu's reader ignores unknown lines, too.
            _ => Ok(()),
        }
    }

    fn parsed(self) -> Result<Parsed, DecodeError> {
        let found = "the end of the block";
        let missing = |expected| DecodeErrorKind::Missing { expected, found }.at(self.len);
        let position = self.position.as_ref().ok_or_else(|| missing("a line sfen …"))?;
        if !self.ends {
            return Err(missing("a line e"));
        }
        let (setup, ply, mut warnings) = match self.ply {
            Some(ply) => {
                let (setup, warnings) = sfen_text::with_ply(position, Some(ply));
                (setup, Some(ply), warnings)
            }
            None => sfen_text::numbered(position),
        };
        let side_to_move = setup.side_to_move();
        let record = Record {
            best_move: self.best_move,
            eval_cp: self.eval_cp(&mut warnings),
            ply,
            result: self.result(side_to_move, &mut warnings),
            ..Record::new(setup)
        };
        Ok(Parsed { states_move: self.states_move, warnings, ..Parsed::from(record) })
    }

    fn eval_cp(&self, warnings: &mut Warnings) -> Option<i16> {
        let eval_cp = i16::try_from(self.score?).ok();
        if eval_cp.is_none() {
            warnings.insert(Warning::EvalOutOfRange);
        }
        eval_cp
    }

    fn result(&self, side_to_move: Color, warnings: &mut Warnings) -> Option<GameResult> {
        let result = match self.result? {
            0 => Some(GameResult::Draw),
            1 => Some(GameResult::win_of(side_to_move)),
            -1 => Some(GameResult::win_of(!side_to_move)),
            _ => None,
        };
        if result.is_none() {
            warnings.insert(Warning::ResultOutOfRange);
        }
        result
    }
}

/// Parses a value that begins at this offset of the block.
fn word<T>(
    value: &[u8],
    at: usize,
    expected: &'static str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, DecodeError> {
    let read = std::str::from_utf8(value).ok().and_then(read);
    read.ok_or_else(|| DecodeErrorKind::syntax(expected, value).at(at))
}

/// Sets a value. It is an error if it is already set.
fn set<T>(
    place: &mut Option<T>,
    value: T,
    expected: &'static str,
    at: usize,
    line: &[u8],
) -> Result<(), DecodeError> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(DecodeErrorKind::syntax(expected, line).at(at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in Qhapaq's description of the format (2017).
    const EXAMPLE: &str = "\
sfen 6s1l/3p1sk2/5p1p1/p2+Bp1p1p/2p4N1/P5LPP/3GPPP2/1+p5K1/L4+r1NL b R2N2Pb3g2sp 0
move 6d5d
score -1917
ply 110
result -1
e
sfen 6s1l/3p1sk2/5p1p1/p2+Bp1p1p/2p4N1/P5LPP/3GPPP2/1+p5K1/L+r3S1NL w R2N2Pb3gsp 0
move 8i4i
score 2717
ply 109
result 1
e
";

    fn parsed(block: &str) -> Result<Parsed, DecodeError> {
        let mut records = Vec::new();
        read(block.as_bytes(), &mut records);
        assert_eq!(records.len(), 1);
        records.remove(0)
    }

    #[test]
    fn qhapaq_s_example_is_read_and_written() {
        let end = lines::chunk_end(EXAMPLE.as_bytes(), is_end).unwrap();
        let (first, second) = EXAMPLE.split_at(end);
        let Parsed { record, warnings, .. } = parsed(first).unwrap();
        assert_eq!(record.best_move, Move::from_usi("6d5d"));
        assert_eq!((record.eval_cp, record.ply), (Some(-1917), Some(110)));
        assert_eq!(record.result, Some(GameResult::WhiteWin));
        assert_eq!(record.setup.ply(), 110);
        // The number 0 in the SFEN counts as no number.
        assert_eq!(warnings, Warnings::NONE);

        let second = parsed(second).unwrap();
        assert_eq!(second.record.result, Some(GameResult::WhiteWin));
        let mut out = Vec::new();
        write(&second, &mut out).unwrap();
        let expected = EXAMPLE[end..].replace("gsp 0", "gsp 109");
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn missing_lines_are_missing_fields() {
        let start = sfen::START;
        let Parsed { record, states_move, .. } = parsed(&format!("sfen {start}\ne\n")).unwrap();
        assert_eq!((record.ply, states_move), (Some(1), false));
        assert_eq!((record.eval_cp, record.result), (None, None));
        let none = parsed(&format!("sfen {start}\nmove none\ne\n")).unwrap();
        assert_eq!((none.record.best_move, none.states_move), (None, true));
        let written = write(&none, &mut Vec::new());
        let fields = Fields::of_all(&[Field::EvalCp, Field::Result]);
        assert_eq!(written, Err(EncodeError::Missing { fields }));
    }

    #[test]
    fn values_out_of_range_are_warnings() {
        let block = format!("sfen {}\nscore 100000\nresult 2\ne\n", sfen::START);
        let Parsed { record, warnings, .. } = parsed(&block).unwrap();
        assert_eq!((record.eval_cp, record.result), (None, None));
        let expected = [Warning::ResultOutOfRange, Warning::EvalOutOfRange];
        assert_eq!(warnings.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn errors_give_the_byte_offset() {
        let start = format!("sfen {}\n", sfen::START);
        for (block, at) in [
            (format!("{start}move 2g2x\ne\n"), start.len() + 5),
            (format!("{start}  ply   -1\r\ne\n"), start.len() + 8),
            (format!("{start}score\ne\n"), start.len() + 5),
            (format!("{start}score 1\nscore 2\ne\n"), start.len() + 8),
            ("sfen lnsgkgsnl/x\ne\n".to_owned(), 15),
            ("move 2g2f\ne\n".to_owned(), 12),
            (start.clone(), start.len()),
        ] {
            assert_eq!(parsed(&block).unwrap_err().offset, at, "{block}");
        }
        let mut records = Vec::new();
        read(b"\r\n\n", &mut records);
        assert_eq!(records, []);
    }
}
