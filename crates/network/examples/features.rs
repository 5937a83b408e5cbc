//! Writes the input of a network for positions: `features 57|119 < SFENS`, with one SFEN per line.
//!
//! For each position it writes the numbers of `input1` and `input2` as little-endian `f32`, then the number of legal
//! moves as `u32`. For each move it writes the 5 bytes of the USI text, padded with spaces, and the label as `u16`.

use std::error::Error;
use std::io::{self, BufRead, BufWriter, Write};

use kyokumen_network::{BOARD, INPUT1_PLANES, Input2, move_label, write_input1, write_input2};
use kyokumen_shogi::Position;

fn main() -> Result<(), Box<dyn Error>> {
    let planes = std::env::args().nth(1).ok_or("missing argument: 57 or 119")?.parse()?;
    let kind = Input2::from_planes(planes).ok_or("input2 has 57 or 119 planes")?;
    let mut numbers = vec![0.0_f32; (INPUT1_PLANES + planes) * BOARD];
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let position: Position = line?.parse()?;
        let (input1, input2) = numbers.split_at_mut(INPUT1_PLANES * BOARD);
        write_input1(&position, input1);
        write_input2(&position, kind, input2);
        for number in &numbers {
            out.write_all(&number.to_le_bytes())?;
        }
        let moves = position.legal_moves();
        out.write_all(&(moves.len() as u32).to_le_bytes())?;
        for m in moves {
            write!(out, "{:5}", m.to_string())?;
            out.write_all(&move_label(m, position.side_to_move()).to_le_bytes())?;
        }
    }
    Ok(out.flush()?)
}
