//! Decides of three positions whether they are mated, as `gen-filter` does of every record.
//!
//! ```sh
//! cargo run --example filter_positions
//! ```

use std::error::Error;
use std::sync::atomic::AtomicBool;

use kyokumen::format::{Format, Reader};
use kyokumen::mate::judge::{Judge, MateSettings};
use kyokumen::records::position_verdict::PositionVerdict;
use kyokumen::shogi::Position;

const POSITIONS: &str = "\
lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1
4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1
4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 2
";

fn main() -> Result<(), Box<dyn Error>> {
    // One judge a thread: it owns the table of its searches.
    let mut judge = Judge::new(&MateSettings { hash_mb: 16, ..MateSettings::default() });
    let never = AtomicBool::new(false);
    for record in Reader::new(Format::Sfen, POSITIONS.as_bytes()).records() {
        let position = Position::try_from(record?.setup)?;
        let mate_result = judge.judge(&position, &never);
        let what = match mate_result.verdict {
            PositionVerdict::Win => "the side to move mates: leave it out",
            PositionVerdict::Loss => "the side to move is mated: leave it out",
            PositionVerdict::NoMate => "no mate: keep it",
            PositionVerdict::Unknown(_) => "not decided within the limits: keep it",
        };
        println!("{position}: {what}");
    }
    Ok(())
}
