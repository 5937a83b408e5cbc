//! Columnar files: rows are collected in a temporary file beside the output, from which the table is built at the end.
//!
//! So a run can be resumed between any two rows, and the same rows always make
//! the same file.

use std::io::{BufReader, Seek, Write};

use super::OutputPlan;
use super::encoder::HashingWriter;
use super::partial::Partial;
use super::target::Target;
use crate::error::Error;
use crate::storage::checksum::Sha256Sum;
use crate::storage::platform;
use crate::storage::table::packed_row::Rows;
use crate::storage::table::{DeferredTable, TableWriter};

/// Rows between two calls of `wants_stop`.
const WATCH_EVERY_ROWS: u64 = 1 << 12;

pub(super) struct BuiltTable {
    pub(super) target: Target,
    pub(super) bytes: u64,
    pub(super) sha256: Option<Sha256Sum>,
}

/// Builds the table file of an output. `rows` is the file of rows with their expected number.
pub(super) fn build_table(
    plan: &OutputPlan,
    deferred_table: DeferredTable,
    rows: (&Partial, u64),
    with_checksum: bool,
    wants_stop: &mut dyn FnMut() -> bool,
) -> Result<BuiltTable, Error> {
    let (partial, expected) = rows;
    let reading = |source| partial.error("read", source);
    let writing = |source| Error::io("write", &plan.path, source);
    let mut file = partial.file.try_clone().map_err(reading)?;
    file.rewind().map_err(reading)?;
    let mut rows = Rows::new(BufReader::new(file));
    let target = Target::create(&plan.path)?;
    let output = HashingWriter::new(target.writer().map_err(writing)?, with_checksum);
    let folder = platform::folder_of(&plan.path);
    let mut writer = TableWriter::new(deferred_table.format, deferred_table.table, output, folder)
        .map_err(writing)?;
    let mut made = 0;
    while let Some(row) = rows.next_row().map_err(reading)? {
        writer.push(&row).map_err(writing)?;
        made += 1;
        if made % WATCH_EVERY_ROWS == 0 && wants_stop() {
            return Err(Error::interrupted());
        }
    }
    if made != expected {
        return Err(Error::output_not_as_left(partial.path()));
    }
    let finished = writer.finish().and_then(|mut output| {
        output.flush()?;
        target.sync_all()?;
        Ok(output.written())
    });
    let (bytes, sha256) = finished.map_err(writing)?;
    Ok(BuiltTable { target, bytes, sha256 })
}
