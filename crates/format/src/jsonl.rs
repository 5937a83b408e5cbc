//! `jsonl`: one record per line, a JSON object with a key for each field.
//!
//! JSON as in RFC 8259. The keys are the keys of `kyokumen inspect --json`. See `docs/formats/jsonl.md`.

use kyokumen_shogi::Move;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::field::Fields;
use super::record::{Parsed, Record};
use super::spec::{Codec, Framing, Spec, with_line_end};
use super::{lines, sfen_text};
use crate::ending::Ending;
use crate::game_result::GameResult;
use crate::played::VisitedMove;

pub(super) const SPEC: Spec = Spec {
    name: "jsonl",
    extensions: &["ndjson"],
    framing: Framing::Line,
    copy: with_line_end,
    header: b"",
    separator: b"",
    holds: Fields::ALL,
    needs: Fields::NONE,
    endings: &Ending::ALL,
    codec: Codec::Records { read, count: Some(|_| 1), write: Some(write) },
};

/// The value of `move` for a record that states "no move".
const NO_MOVE: &str = "none";

fn read(line: &[u8], records: &mut Vec<Result<Parsed, DecodeError>>) {
    records.push(Values::of(line).and_then(|values| values.parsed()));
}

#[expect(clippy::unnecessary_wraps, reason = "other formats cannot write everything")]
fn write(parsed: &Parsed, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let line = JsonRecord::of(&parsed.record, parsed.states_move);
    serde_json::to_writer(&mut *out, &line)
        .expect("strings and numbers always have a JSON form, and a vector takes all");
    out.push(b'\n');
    Ok(())
}

/// A record in the order of its keys in the output.
#[derive(Clone, Debug, Serialize)]
pub struct JsonRecord {
    /// The position.
    pub sfen: String,
    /// Move in USI notation, or `none` if the record states "no move".
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    pub best_move: Option<String>,
    /// Centipawns, from the side to move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eval: Option<i16>,
    /// Move number, as in the SFEN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ply: Option<u16>,
    /// The winner or `draw`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<&'static str>,
    /// How the game ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<&'static str>,
    /// Number of the last move of the game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_ply: Option<u16>,
    /// Moves that the search tried, with their visits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<JsonCandidate>,
    /// `false` if the record is not for training; otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub for_training: Option<bool>,
}

/// A candidate move of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JsonCandidate {
    /// Move in USI notation.
    #[serde(rename = "move")]
    pub best_move: String,
    /// How often the search visited it.
    pub visits: u16,
}

impl JsonRecord {
    /// Converts a record. With `states_move` a missing move is written as `none`.
    pub fn of(record: &Record, states_move: bool) -> Self {
        let candidates = record.candidates.iter().map(|candidate| JsonCandidate {
            best_move: candidate.best_move.to_string(),
            visits: candidate.visits,
        });
        let no_move = states_move.then(|| NO_MOVE.to_owned());
        Self {
            sfen: record.setup.to_string(),
            best_move: record.best_move.map(|best_move| best_move.to_string()).or(no_move),
            eval: record.eval_cp,
            ply: record.ply,
            result: record.result.map(GameResult::name),
            ending: record.ending.map(Ending::name),
            end_ply: record.end_ply,
            candidates: candidates.collect(),
            for_training: record.is_not_for_training.then_some(false),
        }
    }
}

/// The values of an input object. `null` means that the key is absent.
#[derive(Deserialize)]
struct Keys<'a> {
    #[serde(borrow)]
    sfen: Option<&'a RawValue>,
    #[serde(borrow, rename = "move")]
    best_move: Option<&'a RawValue>,
    #[serde(borrow)]
    eval: Option<&'a RawValue>,
    #[serde(borrow)]
    ply: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    ending: Option<&'a RawValue>,
    #[serde(borrow)]
    end_ply: Option<&'a RawValue>,
    #[serde(borrow)]
    candidates: Option<&'a RawValue>,
    #[serde(borrow)]
    for_training: Option<&'a RawValue>,
}

/// The values, and the line that they are slices of. The line gives their offsets.
struct Values<'a> {
    line: &'a [u8],
    keys: Keys<'a>,
}

impl<'a> Values<'a> {
    fn of(line: &'a [u8]) -> Result<Self, DecodeError> {
        let object = lines::without_mark(line);
        let keys = serde_json::from_slice(object).map_err(|error| {
            if error.is_eof() {
                return DecodeErrorKind::syntax("the rest of the JSON object", b"").at(line.len());
            }
            let before = lines::mark_len(line) + error.column().saturating_sub(1);
            let at = before.min(line.len());
            DecodeErrorKind::syntax("a JSON object without repeated keys", &line[at..]).at(at)
        })?;
        Ok(Self { line, keys })
    }

    fn parsed(&self) -> Result<Parsed, DecodeError> {
        let sfen = self.keys.sfen.ok_or_else(|| {
            DecodeErrorKind::syntax("an object with the key \"sfen\"", self.line).at(0)
        })?;
        let text: String = self.value(sfen, "a string with an SFEN", Some)?;
        let quote = 1;
        let arrangement = sfen_text::parse(text.as_bytes(), self.offset(sfen) + quote)?;

        let eval_cp = self.optional(self.keys.eval, "a number from -32768 to 32767, or null")?;
        let ply = self.optional(self.keys.ply, "a number from 0 to 65535, or null")?;
        let end_ply = self.optional(self.keys.end_ply, "a number from 0 to 65535, or null")?;
        let best_move =
            self.word(self.keys.best_move, "a move in USI notation, \"none\", or null", |word| {
                if word == NO_MOVE { Some(None) } else { Move::from_usi(word).map(Some) }
            })?;
        let result = self.word(
            self.keys.result,
            "\"black\", \"white\", \"draw\", or null",
            GameResult::from_name,
        )?;
        let ending =
            self.word(self.keys.ending, "the name of an ending, or null", Ending::from_name)?;
        let candidates = self.keys.candidates.map(|value| self.candidates(value)).transpose()?;
        let for_training = self.optional(self.keys.for_training, "true, false, or null")?;

        let (setup, warnings) = sfen_text::with_ply(&arrangement, ply);
        let record = Record {
            best_move: best_move.flatten(),
            eval_cp,
            ply,
            result,
            ending,
            end_ply,
            candidates: candidates.unwrap_or_default(),
            is_not_for_training: for_training == Some(false),
            ..Record::new(setup)
        };
        Ok(Parsed { states_move: best_move.is_some(), warnings, ..Parsed::from(record) })
    }

    fn optional<T: Deserialize<'a>>(
        &self,
        value: Option<&'a RawValue>,
        expected: &'static str,
    ) -> Result<Option<T>, DecodeError> {
        value.map(|value| self.value(value, expected, Some)).transpose()
    }

    fn word<T>(
        &self,
        value: Option<&'a RawValue>,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, DecodeError> {
        let read = |word: String| read(&word);
        value.map(|value| self.value(value, expected, read)).transpose()
    }

    fn candidates(&self, value: &'a RawValue) -> Result<Vec<VisitedMove>, DecodeError> {
        let candidate = |JsonCandidate { best_move, visits }: JsonCandidate| {
            Some(VisitedMove { best_move: Move::from_usi(&best_move)?, visits })
        };
        let expected = "an array of objects {\"move\",\"visits\"}, or null";
        self.value(value, expected, |all: Vec<JsonCandidate>| {
            all.into_iter().map(candidate).collect()
        })
    }

    /// Parses a JSON value as `V` and converts it with `read`.
    fn value<V: Deserialize<'a>, T>(
        &self,
        value: &'a RawValue,
        expected: &'static str,
        read: impl FnOnce(V) -> Option<T>,
    ) -> Result<T, DecodeError> {
        let found = serde_json::from_str(value.get()).ok();
        found.and_then(read).ok_or_else(|| {
            DecodeErrorKind::syntax(expected, value.get().as_bytes()).at(self.offset(value))
        })
    }

    /// The offset of a value in the line.
    fn offset(&self, value: &RawValue) -> usize {
        value.get().as_ptr().addr() - self.line.as_ptr().addr()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Warning;
    use kyokumen_shogi::sfen;

    const START: &str = sfen::START;

    fn parsed(line: &str) -> Result<Parsed, DecodeError> {
        let mut records = Vec::new();
        read(line.as_bytes(), &mut records);
        assert_eq!(records.len(), 1);
        records.remove(0)
    }

    #[test]
    fn all_keys_are_read_and_written_in_order() {
        let line = format!(
            r#"{{"sfen":"{START}","move":"2g2f","eval":-10,"ply":1,"result":"white","ending":"time_up","end_ply":99,"candidates":[{{"move":"2g2f","visits":900}},{{"move":"7g7f","visits":0}}],"for_training":false}}"#
        );
        let whole = parsed(&line).unwrap();
        assert_eq!(whole.warnings, crate::Warnings::NONE);
        let record = &whole.record;
        assert_eq!(record.best_move, Move::from_usi("2g2f"));
        assert_eq!((record.eval_cp, record.ply, record.end_ply), (Some(-10), Some(1), Some(99)));
        assert_eq!(record.result, Some(GameResult::WhiteWin));
        assert_eq!(record.ending, Some(Ending::TimeUp));
        assert_eq!(
            record.candidates[1],
            VisitedMove { best_move: Move::from_usi("7g7f").unwrap(), visits: 0 }
        );
        let mut out = Vec::new();
        write(&whole, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), line + "\n");
    }

    #[test]
    fn absent_and_null_mean_no_field_and_none_means_no_move() {
        for line in [
            format!(r#"{{"sfen":"{START}"}}"#),
            format!(r#" {{ "eval" : null, "sfen": "{START}", "move":null, "ply":null }} "#),
        ] {
            let without_fields = parsed(&line).unwrap();
            assert_eq!(
                (without_fields.record.fields(), without_fields.states_move),
                (Fields::NONE, false)
            );
            let mut out = Vec::new();
            write(&without_fields, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), format!("{{\"sfen\":\"{START}\"}}\n"));
        }
        let line = format!(r#"{{"sfen":"{START}","move":"none"}}"#);
        let none = parsed(&line).unwrap();
        assert_eq!((none.record.best_move, none.states_move), (None, true));
        let mut out = Vec::new();
        write(&none, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), line + "\n");
    }

    #[test]
    fn errors_give_the_byte_offset() {
        let start = format!(r#"{{"sfen":"{START}","#);
        let cases = [
            ("\"move\":\"2g2x\"}".to_owned(), 7),
            ("\"eval\":40000}".to_owned(), 7),
            ("\"eval\":1.5}".to_owned(), 7),
            ("\"ply\":-1}".to_owned(), 6),
            ("\"result\":\"b\"}".to_owned(), 9),
            ("\"ending\":3}".to_owned(), 9),
            ("\"candidates\":[{\"move\":\"none\",\"visits\":1}]}".to_owned(), 13),
            ("\"eval\":}".to_owned(), 7),
        ];
        for (end, at) in cases {
            let error = parsed(&format!("{start}{end}")).unwrap_err();
            assert_eq!(error.offset, start.len() + at, "{end}: {error}");
        }
        assert_eq!(parsed(r#"{"sfen":"x"}"#).unwrap_err().offset, 9);
        for line in ["", "[]", "{}", "# comment", r#"{"sfen":7}"#] {
            assert!(parsed(line).is_err(), "{line}");
        }
        let twice = parsed(&format!("{start}\"eval\":1,\"eval\":2}}")).unwrap_err();
        assert!(matches!(twice.kind, DecodeErrorKind::Syntax { .. }), "{twice}");
    }

    #[test]
    fn the_move_number_of_the_sfen_is_not_the_ply_field() {
        let record = |end: &str| parsed(&format!(r#"{{"sfen":"{START}"{end}}}"#)).unwrap();
        assert_eq!(record("").record.ply, None);
        let other = record(r#","ply":7"#);
        assert_eq!((other.record.ply, other.record.setup.ply()), (Some(7), 7));
        assert!(other.warnings.contains(Warning::PlyMismatch));
        assert!(record(r#","ply":0"#).warnings.contains(Warning::PlyZero));
    }

    #[test]
    fn other_keys_are_ignored() {
        let line = format!(
            r#"{{"file":"a.psv","index":3,"offset":120,"sfen":"{START}","move":null,"eval":5,"ply":1,"result":"draw","in_check":false,"warnings":["move_none"],"hex":"00"}}"#
        );
        assert_eq!(parsed(&line).unwrap().record.eval_cp, Some(5));
    }
}
