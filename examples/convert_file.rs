//! Converts a file of records. The file extensions determine both formats.
//!
//! ```sh
//! cargo run --example convert_file -- data/sample.hcpe sample.psv
//! ```

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use kyokumen::format::{Fill, Format, Reader, Writer};

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [from, to] = &paths[..] else {
        return Err("expected two arguments: an input file and an output file".into());
    };
    let format = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.and_then(Format::from_extension).ok_or("the extension is not a known format")
    };
    let (source, target) = (format(from)?, format(to)?);
    // Fields that the output needs and the input lacks get neutral values, and are reported below.
    let missing = target.needs().without(source.fields());
    let output = BufWriter::new(File::create(to)?);
    let mut writer = Writer::new(target, output).with_fill(Fill::neutral(missing));
    let mut records = 0;
    for record in Reader::new(source, File::open(from)?).records() {
        writer.write_record(&record?)?;
        records += 1;
    }
    writer.into_inner()?;
    println!("{records} records, invented fields: {missing}");
    Ok(())
}
