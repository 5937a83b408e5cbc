//! Networks in ONNX files with each runtime: results computed by hand, bits that do not depend on the batch, and
//! invalid files. ONNX Runtime is tested if its library is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use kyokumen_network::{
    BOARD, Batch, Device, Evaluator, INPUT1_PLANES, Input2, NetworkError, RtenNetwork, move_label,
    write_input1, write_input2,
};
#[cfg(feature = "onnxruntime")]
use kyokumen_network::{OrtNetwork, OrtSettings, load_onnx_runtime};
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Runtime {
    Rten,
    #[cfg(feature = "onnxruntime")]
    OnnxRuntime,
}

impl Runtime {
    /// All runtimes of this build and machine.
    fn all() -> Vec<Self> {
        #[cfg_attr(not(feature = "onnxruntime"), expect(unused_mut, reason = "nothing is added"))]
        let mut all = vec![Self::Rten];
        #[cfg(feature = "onnxruntime")]
        match load_onnx_runtime(None) {
            Ok(_) => all.push(Self::OnnxRuntime),
            Err(error) if std::env::var_os("ORT_DYLIB_PATH").is_some() => panic!("{error}"),
            Err(error) => eprintln!("ONNX Runtime is skipped: {error}"),
        }
        all
    }

    fn open(self, path: &Path, temperature: f32) -> Result<Box<dyn Evaluator>, NetworkError> {
        Ok(match self {
            Self::Rten => Box::new(RtenNetwork::open(path, temperature)?),
            #[cfg(feature = "onnxruntime")]
            Self::OnnxRuntime => Box::new(OrtNetwork::open(
                path,
                &OrtSettings::default(),
                temperature,
                16,
                &AtomicBool::new(false),
            )?),
        })
    }

    fn opened(self, recipe: &Recipe) -> Result<Box<dyn Evaluator>, NetworkError> {
        let folder = TempDir::new().unwrap();
        self.open(&write(&folder, &recipe.file()), 1.0)
    }
}

/// Policy and value of each position, in batches of `capacity` positions.
fn evaluated(
    network: &mut dyn Evaluator,
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
    for runtime in Runtime::all() {
        for planes in [57, 119] {
            assert_results_match(runtime, &Recipe::new(planes), 1e-5);
        }
    }
}

/// Networks with numbers of 16 bits and with old operators.
#[test]
#[cfg(feature = "onnxruntime")]
fn other_numbers_and_operators_give_the_same_results() {
    if let Some(&runtime) = Runtime::all().get(1) {
        let exact = |weights: &mut Vec<f32>| {
            for weight in weights {
                *weight = (*weight * 64.0).round() / 64.0;
            }
        };
        for opset in [9, 13, 21] {
            for half in [false, true] {
                let mut recipe = Recipe { opset, half, ..Recipe::new(57) };
                exact(&mut recipe.policy);
                exact(&mut recipe.value);
                assert_results_match(runtime, &recipe, if half { 2e-3 } else { 1e-5 });
            }
        }
    }
}

fn assert_results_match(runtime: Runtime, recipe: &Recipe, error: f64) {
    let planes = recipe.input2_planes;
    let mut network = runtime.opened(recipe).unwrap();
    let kind = Input2::from_planes(planes as usize).unwrap();
    assert_eq!(network.planes(), Some(kind));
    let positions = with_moves(101, 50);
    let results = evaluated(&mut *network, &positions, 8).unwrap();
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
            assert!((f64::from(*found) - expected / sum).abs() < error, "{position}");
        }
        let mean: f64 =
            (0..BOARD).map(|square| convolved(&recipe.value, &input2, square)).sum::<f64>()
                / BOARD as f64;
        let expected = 1.0 / (1.0 + (-mean).exp());
        assert!((f64::from(value) - expected).abs() < error, "{value}, not {expected}");
    }
}

#[test]
fn invalid_networks_are_reported() {
    Runtime::all().into_iter().for_each(assert_invalid_networks_are_reported);
}

fn assert_invalid_networks_are_reported(runtime: Runtime) {
    let folder = TempDir::new().unwrap();
    let error = runtime.open(&folder.path().join("absent.onnx"), 1.0).err().unwrap();
    assert!(matches!(error, NetworkError::Read { .. }), "{error}");
    let whole = Recipe::new(57).file();
    for bytes in [&b""[..], b"no network", &whole[..whole.len() / 2], &whole[..whole.len() - 1]] {
        let error = runtime.open(&write(&folder, bytes), 1.0).err().unwrap();
        let is_reported = matches!(error, NetworkError::Load { .. } | NetworkError::Missing { .. });
        assert!(is_reported, "{} bytes: {error}", bytes.len());
    }
    let named = Recipe { policy_name: "policy", ..Recipe::new(57) };
    let error = runtime.opened(&named).err().unwrap();
    let NetworkError::Missing { name: "output_policy", found, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(found, ["input1", "input2", "policy", "output_value"]);
    let shaped = Recipe::new(58);
    let error = runtime.opened(&shaped).err().unwrap();
    assert!(matches!(error, NetworkError::Shape { name: "input2", .. }), "{error}");
    assert!(
        error.to_string().ends_with("input2 is [N,58,9,9], expected [N,57 or 119,9,9]"),
        "{error}"
    );
}

#[test]
fn outputs_that_are_not_numbers_are_reported() {
    Runtime::all().into_iter().for_each(assert_outputs_are_checked);
}

fn assert_outputs_are_checked(runtime: Runtime) {
    let positions = with_moves(102, 3);
    let mut recipe = Recipe::new(57);
    recipe.value[0..57].fill(f32::NAN);
    let error = evaluated(&mut *runtime.opened(&recipe).unwrap(), &positions, 4).unwrap_err();
    let is_reported =
        matches!(error, NetworkError::Unusable { output: "output_value", slot: 0, len: 3, .. });
    assert!(is_reported, "{error}");
    let mut recipe = Recipe::new(57);
    recipe.policy.fill(f32::NAN);
    let error = evaluated(&mut *runtime.opened(&recipe).unwrap(), &positions, 4).unwrap_err();
    let is_reported = matches!(error, NetworkError::Unusable { output: "output_policy", .. });
    assert!(is_reported, "{error}");
}

/// The bits are the same in any slot and with any other positions, for batches of one size.
#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder that has a trained network"]
fn bits_depend_only_on_the_position() {
    Runtime::all().into_iter().for_each(assert_bits_depend_only_on_the_position);
}

fn assert_bits_depend_only_on_the_position(runtime: Runtime) {
    let mut network = runtime.open(&shared("net_5x64.onnx"), 1.66).unwrap();
    let network = &mut *network;
    let positions = with_moves(103, 20);
    let expected = evaluated(network, &positions, 16).unwrap();
    let start = &evaluated(network, &[Position::start()], 16).unwrap()[0];
    let best = start.0.iter().copied().fold(0.0, f32::max);
    let move_of = start.0.iter().position(|p| p.to_bits() == best.to_bits()).unwrap();
    assert_eq!(Position::start().legal_moves()[move_of].to_string(), "7g7f");
    let mut shifted = positions.clone();
    shifted.rotate_left(5);
    let mut found = evaluated(network, &shifted, 16).unwrap();
    found.rotate_right(5);
    for (position, (a, b)) in positions.iter().zip(expected.iter().zip(&found)) {
        let bits = |(policy, value): &(Vec<f32>, f32)| {
            (policy.iter().map(|p| p.to_bits()).collect::<Vec<_>>(), value.to_bits())
        };
        assert_eq!(bits(a), bits(b), "{position}");
    }
}

#[test]
fn devices_have_names() {
    for (name, device) in [
        ("cpu", Device::Cpu),
        ("cuda:0", Device::Cuda(0)),
        ("tensorrt:3", Device::TensorRt(3)),
        ("directml:1", Device::DirectMl(1)),
    ] {
        assert_eq!(name.parse::<Device>().unwrap(), device);
        assert_eq!(device.to_string(), name);
    }
    assert_eq!("cuda".parse::<Device>().unwrap(), Device::Cuda(0));
    for name in ["", "gpu", "cpu:0", "cuda:", "cuda:-1", "CUDA"] {
        assert!(name.parse::<Device>().is_err(), "{name}");
    }
}
