//! Positions per second of `write_input1` and `write_input2`, on one core: `features_speed [POSITIONS] [PLANES]`.
//!
//! The positions are from random games, and all planes are written to the same buffers. `benches/compare_features.py`
//! measures cshogi in the same run.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use kyokumen_network::{BOARD, Element, INPUT1_PLANES, Input2, write_input1, write_input2};
use kyokumen_shogi::Position;
use kyokumen_shogi::random_play::{Game, RandomPlay};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().map_or(Ok(400_000), |text| text.parse())?;
    let planes = arguments.next().map_or(Ok(57), |text| text.parse())?;
    let kind = Input2::from_planes(planes).ok_or("input2 has 57 or 119 planes")?;
    let positions = random_play(4096);
    println!("f32 {:.0}", per_second::<f32>(&positions, kind, count));
    #[cfg(feature = "half")]
    println!("f16 {:.0}", per_second::<half::f16>(&positions, kind, count));
    Ok(())
}

/// Positions in the order of random games.
fn random_play(count: usize) -> Vec<Position> {
    let after_each_move = |game: Game| {
        let mut position = Position::start();
        game.moves.into_iter().map(move |m| {
            position.make(m);
            position.clone()
        })
    };
    RandomPlay::new(18, 200).flat_map(after_each_move).take(count).collect()
}

fn per_second<T: Element>(positions: &[Position], kind: Input2, count: usize) -> f64 {
    let mut input1 = vec![T::ZERO; INPUT1_PLANES * BOARD];
    let mut input2 = vec![T::ZERO; kind.planes() * BOARD];
    let start = Instant::now();
    for position in positions.iter().cycle().take(count) {
        write_input1(position, black_box(&mut input1));
        write_input2(position, kind, black_box(&mut input2));
    }
    count as f64 / start.elapsed().as_secs_f64()
}
