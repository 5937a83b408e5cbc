"""Trains a small network of the dlshogi family with the data loader: policy and value, on a CPU, in minutes.

    pip install kyokumen jax
    python train_dlshogi.py games.hcpe --epochs 2

The last tenth of the archive is held out. It measures how often the network predicts the move and the winner.
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

PLANES = 62 + 57
Parameters = dict[str, jax.Array]
Batch = dict[str, Any]


def parameters(seed: int, channels: int, blocks: int) -> Parameters:
    numbers = np.random.default_rng(seed)

    def weights(*shape: int) -> jax.Array:
        spread = (2 / np.prod(shape[1:])) ** 0.5
        return jnp.asarray(numbers.normal(0, spread, shape), jnp.float32)

    p = {"first": weights(channels, PLANES, 3, 3)}
    for block in range(blocks):
        p[f"{block}a"] = weights(channels, channels, 3, 3)
        p[f"{block}b"] = weights(channels, channels, 3, 3) * 0.1
    p |= {"policy": weights(27, channels, 1, 1), "policy_bias": jnp.zeros(27 * 81)}
    p |= {"value": weights(1, 2 * channels), "value_bias": jnp.zeros(1)}
    return p


def convolved(planes: jax.Array, weights: jax.Array) -> jax.Array:
    return jax.lax.conv_general_dilated(planes, weights, (1, 1), "SAME")


def normalized(planes: jax.Array) -> jax.Array:
    mean = planes.mean(axis=(1, 2, 3), keepdims=True)
    return (planes - mean) / (planes.std(axis=(1, 2, 3), keepdims=True) + 1e-3)


def network(p: Parameters, features1: jax.Array, features2: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Logits of the policy [N, 2187], and of a win for the side to move [N]."""
    planes = jnp.concatenate([features1, features2], axis=1).astype(jnp.float32)
    planes = jax.nn.relu(normalized(convolved(planes, p["first"])))
    block = 0
    while f"{block}a" in p:
        inner = jax.nn.relu(normalized(convolved(planes, p[f"{block}a"])))
        planes = jax.nn.relu(planes + convolved(inner, p[f"{block}b"]))
        block += 1
    policy = convolved(planes, p["policy"]).reshape(len(planes), -1) + p["policy_bias"]
    pooled = jnp.concatenate([planes.mean(axis=(2, 3)), planes.max(axis=(2, 3))], axis=1)
    return policy, (pooled @ p["value"].T + p["value_bias"])[:, 0]


def loss(p: Parameters, features1: jax.Array, features2: jax.Array, move: jax.Array, result: jax.Array) -> jax.Array:
    policy, value = network(p, features1, features2)
    policy_loss = -jnp.take_along_axis(jax.nn.log_softmax(policy), jnp.maximum(move, 0)[:, None], axis=1)[:, 0]
    value_loss = jnp.logaddexp(0, value) - result * value
    return jnp.where(move >= 0, policy_loss, 0).mean() + value_loss.mean()


@jax.jit
def step(p: Parameters, mean: Parameters, square: Parameters, count: jax.Array, *batch: jax.Array) -> Any:
    """One step of Adam."""
    value, gradients = jax.value_and_grad(loss)(p, *batch)
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradients)
    square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, square, gradients)
    rate = 2e-3 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    p = jax.tree.map(lambda w, m, s: w - rate * m / (jnp.sqrt(s) + 1e-7), p, mean, square)
    return p, mean, square, value


run_network = jax.jit(network)


def accuracy(p: Parameters, loader: kyokumen.DataLoader) -> tuple[float, float]:
    """The shares of positions where the network predicts the move and the winner of the game."""
    moves = decided = winners = all_moves = 0
    for batch in loader:
        policy, value = run_network(p, batch["features1"], batch["features2"])
        has_move, has_winner = batch["move"] >= 0, batch["result"] != 0.5
        moves += int(((np.asarray(policy).argmax(axis=1) == batch["move"]) & has_move).sum())
        winners += int((((np.asarray(value) > 0) == (batch["result"] > 0.5)) & has_winner).sum())
        all_moves += int(has_move.sum())
        decided += int(has_winner.sum())
    return moves / max(all_moves, 1), winners / max(decided, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path, help="hcpe or psv file with whole games in order")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--channels", type=int, default=32)
    parser.add_argument("--blocks", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kyokumen.split(args.archive, folder, parts=10, by="ranges", name="part")
        *training, held_out = sorted(path for path in Path(folder).iterdir() if "manifest" not in path.name)
        loader = kyokumen.DataLoader(
            training, args.batch_size, dtype="float16", mirror="random", seed=args.seed, drop_last=True
        )
        test = kyokumen.DataLoader(held_out, 1024, dtype="float16", shuffle=False)
        p = parameters(args.seed, args.channels, args.blocks)
        mean = square = jax.tree.map(jnp.zeros_like, p)
        count = 0
        for epoch in range(args.epochs):
            started, losses = time.monotonic(), []
            for batch in loader:
                count += 1
                inputs = (batch["features1"], batch["features2"], batch["move"].astype("int32"), batch["result"])
                p, mean, square, value = step(p, mean, square, jnp.float32(count), *inputs)
                losses.append(value)
            moves, winners = accuracy(p, test)
            seconds = time.monotonic() - started
            print(
                f"epoch {epoch + 1}: loss {float(jnp.mean(jnp.stack(losses))):.3f}, held-out games: "
                f"moves {moves:.1%}, winners {winners:.1%} ({seconds:.0f} s)"
            )


if __name__ == "__main__":
    main()
