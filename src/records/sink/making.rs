//! Files of columns: rows wait in a file beside the place of the output until all are there, then it is made.
//!
//! So a run goes on in the middle of the rows, which can be cut off anywhere, and what is made of the same rows
//! is the same file.

use std::io::{BufReader, Seek, Write};

use super::encoder::Hashing;
use super::partial::Partial;
use super::target::Target;
use super::{OutputPlan, SinkError, io_error};
use crate::storage::checksum::Sum;
use crate::storage::platform;
use crate::storage::table::packed_row::Rows;
use crate::storage::table::{Making, TableWriter};

/// Rows after which the caller is asked whether to stop.
const WATCH_EVERY_ROWS: u64 = 1 << 12;

/// A file made of rows.
pub(super) struct Made {
    pub(super) target: Target,
    pub(super) bytes: u64,
    pub(super) sha256: Option<Sum>,
}

/// Makes the file of an output of its rows, which are so many. Ends early if `wants_stop` says so.
pub(super) fn make(
    plan: &OutputPlan,
    making: Making,
    rows: (&Partial, u64),
    with_checksum: bool,
    wants_stop: &mut dyn FnMut() -> bool,
) -> Result<Made, SinkError> {
    let (partial, expected) = rows;
    let reading = |source| partial.error("read", source);
    let writing = |source| io_error("write", &plan.path, source);
    let mut file = partial.file.try_clone().map_err(reading)?;
    file.rewind().map_err(reading)?;
    let mut rows = Rows::new(BufReader::new(file));
    let target = Target::create(&plan.path)?;
    let output = Hashing::new(target.writer().map_err(writing)?, with_checksum);
    let folder = platform::folder_of(&plan.path);
    let mut writer =
        TableWriter::new(making.format, making.table, output, folder).map_err(writing)?;
    let mut made = 0;
    while let Some(row) = rows.next_row().map_err(reading)? {
        writer.push(&row).map_err(writing)?;
        made += 1;
        if made % WATCH_EVERY_ROWS == 0 && wants_stop() {
            return Err(SinkError::Interrupted);
        }
    }
    if made != expected {
        return Err(SinkError::NotAsLeft { path: partial.path().to_owned() });
    }
    let finished = writer.finish().and_then(|mut output| {
        output.flush()?;
        target.sync_all()?;
        Ok(output.written())
    });
    let (bytes, sha256) = finished.map_err(writing)?;
    Ok(Made { target, bytes, sha256 })
}
