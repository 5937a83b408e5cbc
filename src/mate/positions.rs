//! Reads the positions of an input: records of any format, or lines of text that begin with an SFEN.
//!
//! A line of text consists of an SFEN, optionally followed by a tab and further columns. Blank lines and lines that
//! begin with `#` are skipped, as is usual in problem collections.

use std::fmt;
use std::path::Path;

use crate::error::Error;
use crate::format::{Decoded, Format, RecordPlace, RecordRef, read_games};
use crate::records::format_name::FormatName;
use crate::records::reading::RecordError;
use crate::records::source::{Block, Input, InputRange, Source};
use crate::shogi::{Move, Position};
use crate::storage::path_text::text_of;

/// A position and its location in the input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputPosition {
    /// The location of the record.
    pub location: RecordLocation,
    /// The position.
    pub position: Position,
    /// The text between the first and the second tab of a line of text, or the
    /// [title](crate::format::GameInfo::title) of the game.
    pub label: Option<String>,
}

/// The location of a record in its input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordLocation {
    /// Number of the record, from 0. Skipped lines do not count.
    pub index: u64,
    /// The place for messages.
    pub spot: LineOrByte,
}

/// The place of a record in a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineOrByte {
    /// Number of the line, from 1.
    Line(u64),
    /// Offset of its first byte in the uncompressed data.
    Byte(u64),
}

impl fmt::Display for RecordLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.spot {
            LineOrByte::Line(line) => write!(f, "line {line}"),
            LineOrByte::Byte(offset) => RecordPlace { index: self.index, offset }.fmt(f),
        }
    }
}

/// A record without a position that can be searched.
#[derive(Debug, thiserror::Error)]
#[error("{location}: {error}")]
pub struct BadPosition {
    /// The location of the record.
    pub location: RecordLocation,
    /// The fault.
    pub error: RecordError,
}

#[cfg(feature = "cli")]
impl BadPosition {
    /// Offset of the fault in the uncompressed data, if the location has no line number.
    pub(crate) fn byte(&self) -> Option<u64> {
        match self.location.spot {
            LineOrByte::Line(_) => None,
            LineOrByte::Byte(offset) => Some(offset + self.error.byte()? as u64),
        }
    }
}

/// The next position, a bad record, or an error that ends the input.
pub type PositionResult = Result<Result<InputPosition, BadPosition>, Error>;

/// The positions of one input, in order.
pub struct Positions {
    input: Input,
    source: Source,
    block: std::vec::IntoIter<Result<InputPosition, BadPosition>>,
    index: u64,
    line: u64,
}

const BLOCK_RECORDS: u64 = 64;

impl Positions {
    /// Opens a file, or standard input if the path is `-`.
    ///
    /// Without `from`, the extension determines the format. A file with an unknown extension is read as text.
    pub fn open(path: &Path, from: Option<FormatName>) -> Self {
        let name = text_of(path);
        let format = from.or_else(|| FormatName::from_file_name(&name));
        let input = Input::named(path, format.unwrap_or(FormatName::plain(Format::Sfen)));
        let whole = InputRange::whole(input.clone());
        let source = Source::new(vec![whole], BLOCK_RECORDS);
        Self { input, source, block: Vec::new().into_iter(), index: 0, line: 0 }
    }

    /// The input.
    pub const fn input(&self) -> &Input {
        &self.input
    }

    fn read(&mut self, block: &Block) -> Vec<Result<InputPosition, BadPosition>> {
        let is_text = self.input.format == Format::Sfen;
        let mut found = Vec::new();
        // A game has one title for all its records.
        let (format, mut title) = (self.input.format, (None, None));
        let has_titles = format.is_text() && (format.holds_games() || format == Format::Bod);
        for Decoded { chunk, record, .. } in block.wanted_records() {
            let content = chunk.without_line_end(self.input.format);
            self.line += 1;
            if is_text && (content.starts_with(b"#") || content.trim_ascii().is_empty()) {
                continue;
            }
            let (spot, label) = if is_text {
                (LineOrByte::Line(self.line), second_column(content))
            } else {
                if has_titles && title.0 != Some(chunk.offset) {
                    title = (Some(chunk.offset), title_of(format, content));
                }
                (LineOrByte::Byte(block.offset + chunk.offset), title.1.clone())
            };
            let location = RecordLocation { index: self.index, spot };
            self.index += 1;
            let position =
                record.map_err(RecordError::from).and_then(|record| self.decode(&record));
            found.push(match position {
                Ok(position) => Ok(InputPosition { location, position, label }),
                Err(error) => Err(BadPosition { location, error }),
            });
        }
        found
    }

    fn decode(&self, record: &RecordRef<'_>) -> Result<Position, RecordError> {
        let setup = match self.input.format {
            // Only the first column must be valid. The other columns may hold any text.
            Format::Sfen => RecordRef::new(Format::Sfen, first_column(record.bytes()))?
                .setup()
                .or_else(|error| record.setup().or(Err(error))),
            _ => record.setup(),
        };
        Ok(Position::try_from(setup?)?)
    }
}

impl Iterator for Positions {
    type Item = PositionResult;

    fn next(&mut self) -> Option<PositionResult> {
        loop {
            if let Some(found) = self.block.next() {
                return Some(Ok(found));
            }
            match self.source.next()? {
                Ok(block) => self.block = self.read(&block).into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// The moves of an input whose records are the positions of one game, in order. `None` if they are not.
///
/// # Errors
/// [`Error`] if the input cannot be read.
pub fn moves_of_game(path: &Path, from: Option<FormatName>) -> Result<Option<Vec<Move>>, Error> {
    let (mut moves, mut expected) = (Vec::new(), None);
    for block in Positions::open(path, from).source {
        for Decoded { record, .. } in block?.wanted_records() {
            let played = record.and_then(|record| Ok((record.setup()?, record.best_move()?)));
            let Ok((setup, Some(m))) = played else { return Ok(None) };
            let Ok(mut position) = Position::try_from(setup) else { return Ok(None) };
            let is_next = expected.is_none_or(|expected| expected == position.to_string());
            if !is_next || !position.is_legal(m) {
                return Ok(None);
            }
            position.make(m);
            moves.push(m);
            expected = Some(position.to_string());
        }
    }
    Ok(Some(moves))
}

fn first_column(line: &[u8]) -> &[u8] {
    line.split(|&byte| byte == b'\t').next().unwrap_or(line)
}

/// The title of the first game of a chunk that has one. A diagram has the header entries of KIF.
fn title_of(format: Format, chunk: &[u8]) -> Option<String> {
    let format = if format == Format::Bod { Format::Kif } else { format };
    let mut games = read_games(format, chunk).filter_map(Result::ok);
    games.find_map(|game| game.info.title().map(str::to_owned))
}

fn second_column(line: &[u8]) -> Option<String> {
    let column = line.split(|&byte| byte == b'\t').nth(1)?;
    Some(String::from_utf8_lossy(column).into_owned())
}
