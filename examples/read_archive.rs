//! Reads single records of an archive by number, without reading the rest.
//!
//! ```sh
//! cargo run --example read_archive -- data/sample.psv 0 50 99
//! ```

use std::env;
use std::error::Error;

use kyokumen::records::archive::Archive;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("expected a file and record numbers")?;
    let archive = Archive::open(path.as_ref())?;
    println!("{} records of {}", archive.len(), archive.format());
    for argument in arguments {
        let index = argument.parse()?;
        match archive.get(index)? {
            Some(record) => println!("{index}: {}", record.read()?.setup()?),
            None => println!("{index}: after the end of the file"),
        }
    }
    Ok(())
}
