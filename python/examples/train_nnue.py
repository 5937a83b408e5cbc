"""Trains a small NNUE network with the data loader: from HalfKA_hm features to an evaluation, on a CPU, in minutes.

    pip install kyokumen jax
    python train_nnue.py games.psv --epochs 3

The last tenth of the archive is held out. It measures how often the network predicts the winner.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import kyokumen
import numpy as np

Parameters = dict[str, jax.Array]

PIECES = 1629
"""Number of features per king square. A second table has weights per piece for all king squares together, because most
features occur in few games only."""


def parameters(seed: int, width: int) -> Parameters:
    numbers = np.random.default_rng(seed)

    def weights(rows: int, columns: int, spread: float) -> jax.Array:
        return jnp.asarray(numbers.normal(0, spread, (rows, columns)), jnp.float32)

    return {
        "features": jnp.zeros((kyokumen.features.HALFKA_HM, width)),
        "pieces": weights(PIECES, width, 0.05),
        "bias": jnp.full(width, 0.2),
        "hidden": weights(2 * width, 32, (1 / width) ** 0.5),
        "hidden_bias": jnp.zeros(32),
        "out": weights(32, 1, (2 / 32) ** 0.5),
        "out_bias": jnp.zeros(1),
    }


def network(p: Parameters, active: jax.Array) -> jax.Array:
    """Logits of a win for the side to move [N], from active features [N, 2, 40]."""
    sums = (p["features"][active] + p["pieces"][active % PIECES]).sum(axis=2) + p["bias"]
    both = jnp.clip(sums, 0, 1).reshape(len(active), -1)
    hidden = jnp.clip(both @ p["hidden"] + p["hidden_bias"], 0, 1)
    return (hidden @ p["out"] + p["out_bias"])[:, 0]


def loss(p: Parameters, active: jax.Array, target: jax.Array) -> jax.Array:
    value = network(p, active)
    return (jnp.logaddexp(0, value) - target * value).mean()


@jax.jit
def step(p: Parameters, mean: Parameters, square: Parameters, count: jax.Array, *batch: jax.Array) -> Any:
    """One step of Adam."""
    value, gradients = jax.value_and_grad(loss)(p, *batch)
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradients)
    square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, square, gradients)
    rate = 5e-4 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    p = jax.tree.map(lambda w, m, s: 0.999 * w - rate * m / (jnp.sqrt(s) + 1e-7), p, mean, square)
    return p, mean, square, value


run_network = jax.jit(network)


def accuracy(p: Parameters, loader: kyokumen.DataLoader) -> float:
    """The share of games where the network predicts the winner."""
    correct = decided = 0
    for batch in loader:
        has_winner = batch["result"] != 0.5
        value = np.asarray(run_network(p, batch["active"]))
        correct += int((((value > 0) == (batch["result"] > 0.5)) & has_winner).sum())
        decided += int(has_winner.sum())
    return correct / max(decided, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path, help="psv or hcpe file with whole games in order")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--result-weight", type=float, default=0.5, help="weight of the result; the rest is the evaluation")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kyokumen.split(args.archive, folder, parts=10, by="ranges", name="part")
        *training, held_out = sorted(path for path in Path(folder).iterdir() if "manifest" not in path.name)
        loader = kyokumen.DataLoader(
            training, args.batch_size, features="halfka_hm", mirror="random", seed=args.seed, drop_last=True,
            result="black,white",
        )
        test = kyokumen.DataLoader(held_out, 4096, features="halfka_hm", shuffle=False)
        p = parameters(args.seed, args.width)
        mean = square = jax.tree.map(jnp.zeros_like, p)
        count = 0
        for epoch in range(args.epochs):
            started, losses = time.monotonic(), []
            for batch in loader:
                count += 1
                weight = args.result_weight
                # An evaluation of 0 in an archive of games usually means that there is no evaluation.
                weight = np.where(batch["score"] == 0, 1.0, weight).astype("float32")
                target = weight * batch["result"] + (1 - weight) * batch["value"]
                p, mean, square, value = step(p, mean, square, jnp.float32(count), batch["active"], target)
                losses.append(value)
            seconds = time.monotonic() - started
            print(
                f"epoch {epoch + 1}: loss {float(jnp.mean(jnp.stack(losses))):.3f}, held-out games: "
                f"winners {accuracy(p, test):.1%} ({seconds:.0f} s)"
            )


if __name__ == "__main__":
    main()
