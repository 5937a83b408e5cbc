//! Networks in ONNX files: results computed by hand, bits that do not depend on the batch, and invalid files.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use kyokumen_network::{
    BOARD, Batch, Evaluator, INPUT1_PLANES, Input2, NetworkError, RtenNetwork, move_label,
    write_input1, write_input2,
};
use kyokumen_shogi::Position;
use kyokumen_testing::positions::{random_play, shared};
use tempfile::TempDir;

use crate::onnx::Recipe;

fn with_moves(seed: u64, count: usize) -> Vec<Position> {
    let mut positions = random_play(seed, 2 * count);
    positions.retain(Position::has_legal_move);
    positions.truncate(count);
    positions
}

fn write(folder: &TempDir, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join("network.onnx");
    fs::write(&path, bytes).unwrap();
    path
}

fn opened(recipe: &Recipe) -> Result<RtenNetwork, NetworkError> {
    let folder = TempDir::new().unwrap();
    RtenNetwork::open(write(&folder, &recipe.file()), 1.0)
}

/// Policy and value of each position, in batches of `capacity` positions.
fn evaluated(
    network: &mut RtenNetwork,
    positions: &[Position],
    capacity: usize,
) -> Result<Vec<(Vec<f32>, f32)>, NetworkError> {
    let mut batch = Batch::new(capacity, network.planes());
    let mut results = Vec::new();
    for positions in positions.chunks(capacity) {
        batch.clear();
        for position in positions {
            batch.push(position, &position.legal_moves());
        }
        network.evaluate(&mut batch, &AtomicBool::new(false))?;
        results
            .extend((0..batch.len()).map(|slot| (batch.policy(slot).to_vec(), batch.value(slot))));
    }
    Ok(results)
}

/// The sum over planes of weight × number, for a square.
fn convolved(weights: &[f32], planes: &[f32], square: usize) -> f64 {
    let products = weights.iter().zip(planes.chunks(BOARD));
    products.map(|(&weight, plane)| f64::from(weight) * f64::from(plane[square])).sum()
}

#[test]
fn results_match_values_computed_by_hand() {
    for planes in [57, 119] {
        let recipe = Recipe::new(planes);
        let mut network = opened(&recipe).unwrap();
        let kind = Input2::from_planes(planes as usize).unwrap();
        assert_eq!(network.planes(), Some(kind));
        let positions = with_moves(101, 50);
        let results = evaluated(&mut network, &positions, 8).unwrap();
        assert_eq!(results.len(), positions.len());
        for (position, (policy, value)) in positions.iter().zip(results) {
            let mut input1 = vec![0.0; INPUT1_PLANES * BOARD];
            write_input1(position, &mut input1);
            let mut input2 = vec![0.0; kind.planes() * BOARD];
            write_input2(position, kind, &mut input2);
            let exponentials: Vec<f64> = position
                .legal_moves()
                .iter()
                .map(|&m| {
                    let label = usize::from(move_label(m, position.side_to_move()));
                    let weights = &recipe.policy[label / BOARD * INPUT1_PLANES..][..INPUT1_PLANES];
                    convolved(weights, &input1, label % BOARD).exp()
                })
                .collect();
            let sum: f64 = exponentials.iter().sum();
            for (found, expected) in policy.iter().zip(&exponentials) {
                assert!((f64::from(*found) - expected / sum).abs() < 1e-5, "{position}");
            }
            let mean: f64 =
                (0..BOARD).map(|square| convolved(&recipe.value, &input2, square)).sum::<f64>()
                    / BOARD as f64;
            let expected = 1.0 / (1.0 + (-mean).exp());
            assert!((f64::from(value) - expected).abs() < 1e-5, "{value}, not {expected}");
        }
    }
}

#[test]
fn invalid_networks_are_reported() {
    let folder = TempDir::new().unwrap();
    let error = RtenNetwork::open(folder.path().join("absent.onnx"), 1.0).err().unwrap();
    assert!(matches!(error, NetworkError::Read { .. }), "{error}");
    let whole = Recipe::new(57).file();
    for bytes in [&b""[..], b"no network", &whole[..whole.len() / 2], &whole[..whole.len() - 1]] {
        let error = RtenNetwork::open(write(&folder, bytes), 1.0).err().unwrap();
        let is_reported = matches!(error, NetworkError::Load { .. } | NetworkError::Missing { .. });
        assert!(is_reported, "{} bytes: {error}", bytes.len());
    }
    let named = Recipe { policy_name: "policy", ..Recipe::new(57) };
    let error = opened(&named).err().unwrap();
    let NetworkError::Missing { name: "output_policy", found, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(found, ["input1", "input2", "policy", "output_value"]);
    let shaped = Recipe::new(58);
    let error = opened(&shaped).err().unwrap();
    assert!(matches!(error, NetworkError::Shape { name: "input2", .. }), "{error}");
    assert!(
        error.to_string().ends_with("input2 is [N,58,9,9], expected [N,57 or 119,9,9]"),
        "{error}"
    );
}

#[test]
fn outputs_that_are_not_numbers_are_reported() {
    let positions = with_moves(102, 3);
    let mut recipe = Recipe::new(57);
    recipe.value[0..57].fill(f32::NAN);
    let error = evaluated(&mut opened(&recipe).unwrap(), &positions, 4).unwrap_err();
    let is_reported =
        matches!(error, NetworkError::Unusable { output: "output_value", slot: 0, len: 3, .. });
    assert!(is_reported, "{error}");
    let mut recipe = Recipe::new(57);
    recipe.policy.fill(f32::NAN);
    let error = evaluated(&mut opened(&recipe).unwrap(), &positions, 4).unwrap_err();
    let is_reported = matches!(error, NetworkError::Unusable { output: "output_policy", .. });
    assert!(is_reported, "{error}");
}

/// The bits are the same in any slot and with any other positions, for batches of one size.
#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder that has a trained network"]
fn bits_depend_only_on_the_position() {
    let mut network = RtenNetwork::open(shared("net_5x64.onnx"), 1.66).unwrap();
    let positions = with_moves(103, 20);
    let expected = evaluated(&mut network, &positions, 16).unwrap();
    let start = &evaluated(&mut network, &[Position::start()], 16).unwrap()[0];
    let best = start.0.iter().copied().fold(0.0, f32::max);
    let move_of = start.0.iter().position(|p| p.to_bits() == best.to_bits()).unwrap();
    assert_eq!(Position::start().legal_moves()[move_of].to_string(), "7g7f");
    let mut shifted = positions.clone();
    shifted.rotate_left(5);
    let mut found = evaluated(&mut network, &shifted, 16).unwrap();
    found.rotate_right(5);
    for (position, (a, b)) in positions.iter().zip(expected.iter().zip(&found)) {
        let bits = |(policy, value): &(Vec<f32>, f32)| {
            (policy.iter().map(|p| p.to_bits()).collect::<Vec<_>>(), value.to_bits())
        };
        assert_eq!(bits(a), bits(b), "{position}");
    }
}
