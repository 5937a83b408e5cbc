//! Random choice of a move.

use kyokumen_game::random::SplitMix64;
use kyokumen_mcts::{Root, RootMove};

use crate::settings::RandomOpening;

/// Draws a move of the position at `ply` of its game, counted from 0.
///
/// Draws from the most visited moves, with weights visits^(1/T). The list ends before the first move that is proven to
/// lose, or whose value is too far below the value of the best move.
pub fn draw(
    root: &Root,
    opening: &RandomOpening,
    ply: u16,
    random: &mut SplitMix64,
) -> Option<RootMove> {
    let best = root.best()?;
    if best.proven.is_some() {
        return Some(best);
    }
    let drops = f32::from(ply / 2);
    let dropped = opening.temperature_drop * drops;
    let temperature = f64::from((opening.temperature - dropped).max(0.1));
    let least = best.value? - (opening.cutoff - opening.cutoff_drop * drops).max(0.0);
    let is_good = |m: &&RootMove| m.proven.is_none() && m.value.is_some_and(|value| value >= least);
    let good: Vec<&RootMove> = root.moves.iter().take_while(is_good).collect();
    // Relative to the most visited move: a large power of many visits would be infinite.
    let most = good.iter().map(|m| m.visits).max()?;
    let weight =
        |m: &&RootMove| libm::pow(f64::from(m.visits) / f64::from(most), 1.0 / temperature);
    pick(&good, weight, random).copied()
}

/// Draws a move of a position without visits, with weights P^(1/T).
pub(crate) fn draw_by_policy(
    root: &Root,
    temperature: f32,
    random: &mut SplitMix64,
) -> Option<RootMove> {
    let moves: Vec<&RootMove> = root.moves.iter().collect();
    let most = moves.iter().map(|m| m.prior).fold(f32::MIN_POSITIVE, f32::max);
    let exponent = 1.0 / f64::from(temperature);
    let weight = |m: &&RootMove| libm::pow(f64::from(m.prior) / f64::from(most), exponent);
    pick(&moves, weight, random).copied()
}

/// A random move, with these weights.
fn pick<'a>(
    moves: &[&'a RootMove],
    weight: impl Fn(&&RootMove) -> f64,
    random: &mut SplitMix64,
) -> Option<&'a RootMove> {
    let sum: f64 = moves.iter().map(&weight).sum();
    let mut left = random.unit() * sum;
    let drawn = moves.iter().find(|m| {
        left -= weight(m);
        left < 0.0
    });
    drawn.or(moves.last()).copied()
}

#[cfg(test)]
mod tests {
    use kyokumen_shogi::Move;

    use super::*;

    fn moves(visits_and_values: [(u32, f32); 3]) -> Root {
        let usi = ["7g7f", "2g2f", "1g1f"].map(|usi| Move::from_usi(usi).unwrap());
        let moves = usi.into_iter().zip(visits_and_values).map(|(m, (visits, value))| RootMove {
            m,
            prior: 0.1,
            visits,
            noise_visits: 0,
            value: Some(value),
            proven: None,
        });
        Root { visits: 0, value: 0.5, proven: None, moves: moves.collect() }
    }

    fn shares(root: &Root, opening: RandomOpening, ply: u16) -> [u32; 3] {
        let mut random = SplitMix64::new(3);
        let mut counts = [0; 3];
        for _ in 0..10_000 {
            let drawn = draw(root, &opening, ply, &mut random).unwrap();
            counts[root.moves.iter().position(|m| m.m == drawn.m).unwrap()] += 1;
        }
        counts
    }

    const OPENING: RandomOpening = RandomOpening {
        plies: 4,
        temperature: 1.0,
        temperature_drop: 0.5,
        cutoff: 0.1,
        cutoff_drop: 0.0,
    };

    #[test]
    fn moves_are_drawn_by_their_visits_if_they_are_good_enough() {
        let root = moves([(600, 0.5), (300, 0.45), (100, 0.3)]);
        let [first, second, third] = shares(&root, OPENING, 0);
        assert_eq!(third, 0);
        assert!((6400..6950).contains(&first), "{first} {second}");
        // T is 0.5: visits squared.
        let [first, second, _] = shares(&root, OPENING, 3);
        assert!((7800..8200).contains(&first), "{first} {second}");
    }

    #[test]
    fn the_cutoff_decreases_every_two_plies_and_ends_the_list() {
        let root = moves([(600, 0.5), (300, 0.45), (100, 0.48)]);
        let opening = RandomOpening { cutoff: 0.06, cutoff_drop: 0.02, ..OPENING };
        assert!(shares(&root, opening, 0).iter().all(|&times| times > 0));
        assert!(shares(&root, opening, 1).iter().all(|&times| times > 0));
        // The cutoff is 0.04. The third move is good enough, but the second, which has more visits, is not.
        assert_eq!(shares(&root, opening, 2), [10_000, 0, 0]);
        // The cutoff does not fall below 0.
        assert_eq!(shares(&root, RandomOpening { cutoff_drop: 1.0, ..opening }, 4), [10_000, 0, 0]);
    }

    #[test]
    fn a_proven_win_is_played() {
        let mut root = moves([(1, 1.0), (300, 0.99), (100, 0.98)]);
        root.moves[0].proven = Some(true);
        assert_eq!(shares(&root, OPENING, 0), [10_000, 0, 0]);
    }
}
