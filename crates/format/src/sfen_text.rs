//! SFEN text: one position per line, with columns for move, evaluation, ply and result, separated by tabs.
//!
//! The SFEN follows the USI protocol. The columns are common in text files of training positions. See
//! `docs/formats/sfen.md`.

use kyokumen_shogi::sfen::{self, SfenWarning};
use kyokumen_shogi::{Move, Setup};

use super::error::{DecodeError, DecodeErrorKind};
use super::field::{Field, Fields};
use super::lines;
use super::record::Record;
use super::spec::{Codec, Framing, Spec, with_line_end};
use super::warning::{Warning, Warnings};
use crate::game_result::GameResult;

/// A column without a value. A missing move may also be `none`, a missing result `u`.
const NO_VALUE: &[u8] = b"-";

/// The columns after the SFEN, in order.
const COLUMNS: [Field; 4] = [Field::BestMove, Field::EvalCp, Field::Ply, Field::Result];
const PLY_COLUMN: usize = 2;

pub(super) const SPEC: Spec = Spec {
    name: "sfen",
    extensions: &[],
    framing: Framing::Line,
    copy: with_line_end,
    header: b"",
    separator: b"",
    holds: Fields::of_all(&COLUMNS),
    needs: Fields::NONE,
    endings: &[],
    codec: Codec::Columns,
};

/// A line, split at its tabs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns<'a> {
    line: &'a [u8],
    /// Bytes of the SFEN at the start of the line.
    sfen_len: usize,
}

impl<'a> Columns<'a> {
    /// Finds the end of the SFEN: the first tab, unless the four parts of the SFEN are separated by tabs.
    pub(super) fn split(line: &'a [u8]) -> Self {
        let mut tabs = memchr::memchr_iter(b'\t', line);
        let first = tabs.next().unwrap_or(line.len());
        let own_tabs = matches!(line.get(first + 1..), Some([b'b' | b'w', b'\t', ..]))
            && !line[..first].contains(&b' ');
        let sfen_len = if own_tabs { tabs.nth(2).unwrap_or(line.len()) } else { first };
        Self { line, sfen_len }
    }

    /// Whether the line begins with `#`.
    pub(super) fn is_comment(self) -> bool {
        lines::is_comment(self.line)
    }

    fn sfen(self) -> &'a [u8] {
        &self.line[..self.sfen_len]
    }

    fn parse(self) -> Result<sfen::Parsed, DecodeError> {
        if self.is_comment() {
            return Err(DecodeErrorKind::Comment.at(0));
        }
        parse(self.sfen(), 0)
    }

    /// The column of a field and its offset in the line. `None` if it is absent or has no value.
    fn column(self, field: Field) -> Option<(usize, &'a [u8])> {
        let mut at = self.sfen_len + 1;
        for (i, text) in self.line.get(at..)?.split(|&byte| byte == b'\t').enumerate() {
            if COLUMNS.get(i) == Some(&field) {
                return (!text.is_empty() && text != NO_VALUE).then_some((at, text));
            }
            at += text.len() + 1;
        }
        None
    }

    /// Parses a column with `read`.
    fn read<T>(
        self,
        column: Field,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, DecodeError> {
        let Some((at, text)) = self.column(column) else { return Ok(None) };
        match std::str::from_utf8(text).ok().and_then(read) {
            Some(value) => Ok(Some(value)),
            None => Err(DecodeErrorKind::Column { column, expected }.at(at)),
        }
    }

    pub(super) fn best_move(self) -> Result<Option<Move>, DecodeError> {
        let read = |text: &str| match text {
            "none" => Some(None),
            _ => Move::from_usi(text).map(Some),
        };
        Ok(self.read(Field::BestMove, "a move in USI notation, `none` or `-`", read)?.flatten())
    }

    pub(super) fn eval_cp(self) -> Result<Option<i16>, DecodeError> {
        self.read(Field::EvalCp, "a number from -32768 to 32767, or -", |text| text.parse().ok())
    }

    /// The fields that the line states. An explicit "no move" counts as a field.
    pub(super) fn fields(self) -> Fields {
        let mut fields: Fields =
            COLUMNS.into_iter().filter(|&field| self.column(field).is_some()).collect();
        if self.column(Field::Result).is_some_and(|(_, text)| text == b"u") {
            fields = fields.without(Fields::of(Field::Result));
        }
        if !self.has_ply_column() && self.ply().is_ok_and(|ply| ply.is_some()) {
            fields = fields.union(Fields::of(Field::Ply));
        }
        fields
    }

    fn ply_column(self) -> Result<Option<u16>, DecodeError> {
        self.read(Field::Ply, "a number from 0 to 65535, or -", |text| text.parse().ok())
    }

    /// Whether the line has a ply column, even one without a value. If not, the number in the SFEN is the ply.
    fn has_ply_column(self) -> bool {
        self.columns() > PLY_COLUMN
    }

    pub(super) fn result(self) -> Result<Option<GameResult>, DecodeError> {
        let read = |text: &str| match text {
            "b" => Some(Some(GameResult::BlackWin)),
            "w" => Some(Some(GameResult::WhiteWin)),
            "d" => Some(Some(GameResult::Draw)),
            "u" => Some(None),
            _ => None,
        };
        Ok(self.read(Field::Result, "b, w, d, u, or -", read)?.flatten())
    }

    pub(super) fn ply(self) -> Result<Option<u16>, DecodeError> {
        if self.has_ply_column() {
            return self.ply_column();
        }
        Ok(own_ply(&self.parse()?))
    }

    /// Number of columns after the SFEN.
    fn columns(self) -> usize {
        memchr::memchr_iter(b'\t', &self.line[self.sfen_len..]).count()
    }

    pub(super) fn record(self) -> Result<Record, DecodeError> {
        let parsed = self.parse()?;
        let (best_move, eval_cp) = (self.best_move()?, self.eval_cp()?);
        let ply = if self.has_ply_column() { self.ply_column()? } else { own_ply(&parsed) };
        let result = self.result()?;
        if self.columns() > COLUMNS.len() {
            return Err(DecodeErrorKind::ExtraColumn.at(self.line.len()));
        }
        let setup = parsed.setup.with_ply(ply.unwrap_or(1));
        Ok(Record { best_move, eval_cp, ply, result, ..Record::new(setup) })
    }

    pub(super) fn warnings(self) -> Result<Warnings, DecodeError> {
        let parsed = self.parse()?;
        let mut warnings = Warnings::NONE;
        warnings.extend(parsed.warnings.iter().copied().map(Warning::from));
        if self.has_ply_column() {
            let ply = self.ply_column()?;
            if ply == Some(0) {
                warnings.insert(Warning::PlyZero);
            }
            if has_number(&parsed) && ply.unwrap_or(1) != parsed.setup.ply() {
                warnings.insert(Warning::PlyMismatch);
            }
        }
        Ok(warnings)
    }
}

/// Parses an SFEN that begins at this offset of its chunk.
pub(super) fn parse(sfen: &[u8], start: usize) -> Result<sfen::Parsed, DecodeError> {
    sfen::parse(sfen).map_err(|error| {
        let at = error.offset().unwrap_or_default();
        DecodeErrorKind::Sfen(error).at(start + at)
    })
}

/// The move number of an SFEN, if it has one.
fn own_ply(parsed: &sfen::Parsed) -> Option<u16> {
    (!parsed.warnings.contains(&SfenWarning::NoPly)).then(|| parsed.setup.ply())
}

/// Whether an SFEN has a meaningful move number. Some writers always write 0.
fn has_number(parsed: &sfen::Parsed) -> bool {
    own_ply(parsed).is_some() && !parsed.warnings.contains(&SfenWarning::PlyZero)
}

/// Position, ply and warnings of a record whose ply is the move number of the SFEN.
pub(super) fn numbered(parsed: &sfen::Parsed) -> (Setup, Option<u16>, Warnings) {
    let mut warnings = Warnings::NONE;
    warnings.extend(parsed.warnings.iter().copied().map(Warning::from));
    (parsed.setup.clone(), own_ply(parsed), warnings)
}

/// Position and warnings of a record that states its ply outside the SFEN. The move number of the SFEN is not used.
pub(super) fn with_ply(parsed: &sfen::Parsed, ply: Option<u16>) -> (Setup, Warnings) {
    let mut warnings = Warnings::NONE;
    let matters = |warning| !matches!(warning, SfenWarning::NoPly | SfenWarning::PlyZero);
    let counted = parsed.warnings.iter().copied().filter(|&warning| matters(warning));
    warnings.extend(counted.map(Warning::from));
    if ply == Some(0) {
        warnings.insert(Warning::PlyZero);
    }
    if has_number(parsed) && ply.is_some_and(|ply| ply != parsed.setup.ply()) {
        warnings.insert(Warning::PlyMismatch);
    }
    (parsed.setup.clone().with_ply(ply.unwrap_or(1)), warnings)
}

/// Whether an SFEN can hold all these fields.
pub(super) fn is_plain(fields: Fields) -> bool {
    fields.intersection(Fields::of_all(&[Field::BestMove, Field::EvalCp, Field::Result])).is_empty()
}

/// Appends the line with its end. Writes columns only if the SFEN cannot hold all fields.
pub(super) fn encode(record: &Record, out: &mut Vec<u8>) {
    let text = if is_plain(record.fields()) {
        format!("{}\n", record.setup)
    } else {
        let best_move = record.best_move.map_or_else(|| "none".to_owned(), |m| m.to_string());
        let eval_cp = record.eval_cp.map_or_else(|| "-".to_owned(), |eval_cp| eval_cp.to_string());
        let ply = record.ply.map_or_else(|| "-".to_owned(), |ply| ply.to_string());
        let result = match record.result {
            Some(GameResult::BlackWin) => 'b',
            Some(GameResult::WhiteWin) => 'w',
            Some(GameResult::Draw) => 'd',
            None => 'u',
        };
        format!("{}\t{best_move}\t{eval_cp}\t{ply}\t{result}\n", record.setup)
    };
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = sfen::START;

    fn record(line: &str) -> Result<Record, DecodeError> {
        Columns::split(line.as_bytes()).record()
    }

    #[test]
    fn columns_may_be_absent_or_without_value() {
        let whole = record(&format!("{START}\t2g2f\t-10\t1\tw")).unwrap();
        assert_eq!(whole.best_move, Move::from_usi("2g2f"));
        assert_eq!((whole.eval_cp, whole.ply), (Some(-10), Some(1)));
        assert_eq!(whole.result, Some(GameResult::WhiteWin));

        for line in [format!("{START}\t-\t\t-\tu"), format!("{START}\tnone\t-\t-")] {
            let empty = record(&line).unwrap();
            assert_eq!((empty.best_move, empty.eval_cp, empty.ply), (None, None, None), "{line}");
            assert_eq!(empty.result, None);
        }
        assert_eq!(record(START).unwrap().ply, Some(1));
        assert_eq!(record(START.strip_suffix(" 1").unwrap()).unwrap().ply, None);
    }

    #[test]
    fn a_ply_mismatch_needs_two_different_numbers() {
        let board = START.strip_suffix(" 1").unwrap();
        for (number, column, differ) in [
            (" 7", "7", false),
            (" 7", "8", true),
            (" 7", "-", true),
            (" 0", "7", false),
            ("", "7", false),
        ] {
            let line = format!("{board}{number}\t-\t-\t{column}");
            let warnings = Columns::split(line.as_bytes()).warnings().unwrap();
            assert_eq!(warnings.contains(Warning::PlyMismatch), differ, "{line}");
        }
    }

    #[test]
    fn errors_give_the_byte_offset() {
        let at = |columns: &str| record(&format!("{START}{columns}")).unwrap_err().offset;
        let len = START.len();
        assert_eq!(at("\t2g2x\t0\t1\tb"), len + 1);
        assert_eq!(at("\t2g2f\t40000\t1\tb"), len + 6);
        assert_eq!(at("\t2g2f\t0\t-1\tb"), len + 8);
        assert_eq!(at("\t2g2f\t0\t1\tB"), len + 10);
        assert_eq!(at("\t2g2f\t0\t1\tb\t"), len + 12);
        assert_eq!(record("# a comment").unwrap_err().kind, DecodeErrorKind::Comment);
    }

    #[test]
    fn tabs_within_the_sfen_do_not_separate_columns() {
        let tabbed = START.replace(' ', "\t");
        assert_eq!(record(&tabbed), record(START));
        let warnings = Columns::split(tabbed.as_bytes()).warnings().unwrap();
        assert!(warnings.contains(Warning::SfenSpelling));
        assert_eq!(record(&format!("{tabbed}\t2g2f")).unwrap().best_move, Move::from_usi("2g2f"));
    }

    #[test]
    fn lines_are_written_as_they_are_read() {
        for line in [
            format!("{START}\n"),
            format!("{START}\t2g2f\t0\t1\tb\n"),
            format!("{START}\tnone\t-300\t-\tu\n"),
        ] {
            let mut out = Vec::new();
            encode(&record(line.trim_end()).unwrap(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), line);
        }
    }
}
