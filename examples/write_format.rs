//! Writes records in a format that the library does not support: CSV for a spreadsheet.
//!
//! Common shogi formats should be added to `kyokumen-format` instead; see CONTRIBUTING.md.
//!
//! ```sh
//! cargo run --example write_format -- data/sample.hcpe
//! ```

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use kyokumen::format::{Format, GameResult, Reader, Record};

/// Writes the fields of a record as columns. Missing fields are empty.
fn write_line(record: &Record, out: &mut impl Write) -> io::Result<()> {
    let Record { setup, best_move, eval_cp, ply, result, .. } = record;
    let best_move = best_move.map_or(String::new(), |m| m.to_string());
    let eval_cp = eval_cp.map_or(String::new(), |eval| eval.to_string());
    let ply = ply.map_or(String::new(), |ply| ply.to_string());
    let result = match result {
        Some(GameResult::BlackWin) => "black",
        Some(GameResult::WhiteWin) => "white",
        Some(GameResult::Draw) => "draw",
        None => "",
    };
    writeln!(out, "{setup},{best_move},{eval_cp},{ply},{result}")
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args_os().nth(1).ok_or("expected a file of records")?;
    let extension = Path::new(&path).extension().and_then(|extension| extension.to_str());
    let format =
        extension.and_then(Format::from_extension).ok_or("the extension is not a known format")?;
    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, "position,move,eval_cp,ply,result")?;
    for record in Reader::new(format, File::open(&path)?).records() {
        write_line(&record?, &mut out)?;
    }
    out.flush()?;
    Ok(())
}
