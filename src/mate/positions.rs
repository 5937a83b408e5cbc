//! The positions of an input one after another: records of any format, or text with an SFEN in front.
//!
//! Text needs no more than an SFEN before the first tab; blank lines and lines that begin with `#` are
//! passed over, as in the problem collections of the field.

use std::fmt;
use std::path::Path;

use thiserror::Error;

use crate::error::Error;
use crate::format::{Decoded, Format, RecordRef};
use crate::records::format_name::FormatName;
use crate::records::reading::RecordError;
use crate::records::source::{Block, Input, InputRange, Source};
use crate::shogi::Position;
use crate::storage::path_text::text_of;

/// A position with where it stood.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputPosition {
    /// Where it stood.
    pub location: RecordLocation,
    /// The position.
    pub position: Position,
    /// Text behind the first tab, up to the second.
    pub second_column: Option<String>,
}

/// Where a position stands in its input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordLocation {
    /// Number of the record, from 0; lines that are passed over are none.
    pub index: u64,
    /// How a person finds it.
    pub spot: LineOrByte,
}

/// How a person finds a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineOrByte {
    /// Number of the line, from 1.
    Line(u64),
    /// Offset of its first byte, uncompressed.
    Byte(u64),
}

impl fmt::Display for RecordLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.spot {
            LineOrByte::Line(line) => write!(f, "line {line}"),
            LineOrByte::Byte(offset) => write!(f, "record {} at byte {offset}", self.index),
        }
    }
}

/// A record that holds no position to ask about.
#[derive(Debug, Error)]
#[error("{location}: {error}")]
pub struct BadPosition {
    /// Where it stood.
    pub location: RecordLocation,
    /// What is wrong.
    pub error: RecordError,
}

/// What comes of the next record: a position, a reason why there is none, or nothing more.
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
    /// Begins to read a file, or standard input if the name is `-`.
    ///
    /// What the name does not say is text.
    pub fn open(path: &Path, from: Option<FormatName>) -> Self {
        let name = text_of(path);
        let format = from.or_else(|| FormatName::from_file_name(&name));
        let input = Input::named(path, format.unwrap_or(FormatName::plain(Format::Sfen)));
        let whole = InputRange::whole(input.clone());
        let source = Source::new(vec![whole], BLOCK_RECORDS);
        Self { input, source, block: Vec::new().into_iter(), index: 0, line: 0 }
    }

    /// What is read.
    pub const fn input(&self) -> &Input {
        &self.input
    }

    fn read(&mut self, block: &Block) -> Vec<Result<InputPosition, BadPosition>> {
        let is_text = self.input.format == Format::Sfen;
        let mut found = Vec::new();
        for Decoded { chunk, record, .. } in block.wanted_records() {
            let content = chunk.without_line_end(self.input.format);
            self.line += 1;
            if is_text && (content.starts_with(b"#") || content.trim_ascii().is_empty()) {
                continue;
            }
            let spot = if is_text {
                LineOrByte::Line(self.line)
            } else {
                LineOrByte::Byte(block.offset + chunk.offset)
            };
            let location = RecordLocation { index: self.index, spot };
            self.index += 1;
            let position =
                record.map_err(RecordError::from).and_then(|record| self.decode(&record));
            found.push(match position {
                Ok(position) => Ok(InputPosition {
                    location,
                    position,
                    second_column: second_column(content).filter(|_| is_text),
                }),
                Err(error) => Err(BadPosition { location, error }),
            });
        }
        found
    }

    fn decode(&self, record: &RecordRef<'_>) -> Result<Position, RecordError> {
        let setup = match self.input.format {
            // Columns that are no concern of ours may hold anything, as long as the SFEN stands in front.
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

fn first_column(line: &[u8]) -> &[u8] {
    line.split(|&byte| byte == b'\t').next().unwrap_or(line)
}

fn second_column(line: &[u8]) -> Option<String> {
    let column = line.split(|&byte| byte == b'\t').nth(1)?;
    Some(String::from_utf8_lossy(column).into_owned())
}
