//! Searches three positions for mates, as `gen-filter` does for every record.
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
    // A program with several threads needs one judge per thread, because a judge owns its search table.
    let mut judge = Judge::new(&MateSettings { hash_mb: 16, ..MateSettings::default() });
    let never = AtomicBool::new(false);
    for record in Reader::new(Format::Sfen, POSITIONS.as_bytes()).records() {
        let position = Position::try_from(record?.setup)?;
        let mate_result = judge.judge(&position, &never);
        let decision = match mate_result.verdict {
            PositionVerdict::Win => "remove: the side to move can force mate",
            PositionVerdict::Loss => "remove: the side to move is being mated",
            PositionVerdict::NoMate => "keep: no mate",
            PositionVerdict::Unknown(_) => "keep: undecided within the limits",
        };
        println!("{position}: {decision}");
    }
    Ok(())
}
