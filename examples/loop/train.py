#!/usr/bin/env python3
"""Trains a network on hcpe3 games and writes its weights and an ONNX file.

    python3 examples/loop/train.py --from old.npz --to new.npz --onnx new.onnx games.hcpe3 … --held-out others.hcpe3 …

Held-out games must be independent of the others. Positions of one game, or a game and its mirror image, are so similar
that a network may memorize them.
"""

import argparse
import functools
import pathlib
import time

import cshogi
import jax
import jax.numpy as jnp
import network
import numpy as np
from cshogi import dlshogi

HEADER = np.dtype(
    [("hcp", cshogi.dtypeHcp), ("moves", np.uint16), ("result", np.uint8), ("opponent", np.uint8)]
)
MOVE = np.dtype([("move", cshogi.dtypeMove16), ("eval", cshogi.dtypeEval), ("candidates", np.uint16)])
CANDIDATE = np.dtype([("move", cshogi.dtypeMove16), ("visits", np.uint16)])

# Maximum number of candidate moves per position in the policy target.
MAX_CANDIDATES = 24
EVAL_SCALE = 756.0865
# Weight of the game result in the value target. The rest is the evaluation of the search.
RESULT_WEIGHT = 0.5
# Maximum number of held-out positions to evaluate.
MAX_HELD_OUT = 4096


class Positions:
    """Training positions, as arrays with one row per position."""

    def __init__(self, files):
        rows = [row for file in files for row in read(pathlib.Path(file).read_bytes())]
        columns = list(zip(*rows, strict=True))
        self.input1 = np.stack(columns[0])
        self.input2 = np.stack(columns[1])
        self.labels = np.stack(columns[2])
        self.visits = np.stack(columns[3])
        self.values = np.array(columns[4], np.float32)

    def __len__(self):
        return len(self.values)

    def batch(self, rows):
        input1 = np.unpackbits(self.input1[rows], axis=1, count=network.INPUT1 * 81)
        input1 = input1.reshape(-1, network.INPUT1, 9, 9).astype(np.float32)
        # Each plane of input2 has the same value on all squares.
        input2 = self.input2[rows].astype(np.float32)[:, :, None, None]
        input2 = np.broadcast_to(input2, (len(rows), network.INPUT2, 9, 9))
        return input1, input2, self.labels[rows], self.visits[rows], self.values[rows]


def read(data):
    """Yields a row for each training position: bits of input1, planes of input2, labels, shares of visits, value."""
    board = cshogi.Board()
    features1 = np.zeros((network.INPUT1, 9, 9), np.float32)
    features2 = np.zeros((network.INPUT2, 9, 9), np.float32)
    at = 0
    while at < len(data):
        header = np.frombuffer(data, HEADER, 1, at)[0]
        at += HEADER.itemsize
        board.set_hcp(np.ascontiguousarray(header["hcp"]))
        for _ in range(header["moves"]):
            info = np.frombuffer(data, MOVE, 1, at)[0]
            at += MOVE.itemsize
            candidates = np.frombuffer(data, CANDIDATE, info["candidates"], at)
            at += CANDIDATE.itemsize * len(candidates)
            if len(candidates):
                dlshogi.make_input_features(board, features1, features2)
                labels = np.zeros(MAX_CANDIDATES, np.int32)
                visits = np.zeros(MAX_CANDIDATES, np.float32)
                best = np.argsort(-candidates["visits"].astype(int), kind="stable")[:MAX_CANDIDATES]
                for place, candidate in enumerate(candidates[best]):
                    move = board.move_from_move16(int(candidate["move"]))
                    labels[place] = dlshogi.make_move_label(move, board.turn)
                    visits[place] = candidate["visits"]
                value = RESULT_WEIGHT * result_of(header["result"], board.turn)
                value += (1 - RESULT_WEIGHT) / (1 + np.exp(-int(info["eval"]) / EVAL_SCALE))
                bits = np.packbits(features1.astype(np.uint8).ravel())
                yield bits, features2[:, 0, 0].astype(np.uint8), labels, visits / visits.sum(), value
            board.push(board.move_from_move16(int(info["move"])))


def result_of(result, turn):
    if result & 3 == 0:
        return 0.5
    return 1.0 if (result & 3 == 1) == (turn == cshogi.BLACK) else 0.0


def losses(weights, batch):
    """Cross-entropy losses of the policy and the value."""
    input1, input2, labels, visits, values = batch
    logits, value = network.evaluate(weights, input1, input2)
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels, axis=1)
    policy_loss = -jnp.mean(jnp.sum(visits * chosen, axis=1))
    value_loss = jnp.mean(jnp.logaddexp(0, value) - values * value)
    return policy_loss, value_loss


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def step(weights, first, second, number, rate, batch):
    """One step of Adam (Kingma and Ba 2015) with weight decay."""
    gradients = jax.grad(lambda weights: sum(losses(weights, batch)))(weights)

    def update(weight, gradient, first, second):
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        corrected = first / (1 - 0.9**number)
        scale = jnp.sqrt(second / (1 - 0.999**number)) + 1e-8
        return weight - rate * (corrected / scale + 1e-4 * weight), first, second

    updated = {k: update(weights[k], gradients[k], first[k], second[k]) for k in weights}
    return tuple({k: values[i] for k, values in updated.items()} for i in range(3))


def train(weights, positions, epochs, batch_size, rate, seed):
    """Returns the weights after several epochs."""
    random = np.random.default_rng(seed)
    weights = network.as_jax(weights)
    first = {name: jnp.zeros_like(weight) for name, weight in weights.items()}
    second = {name: jnp.zeros_like(weight) for name, weight in weights.items()}
    order = np.arange(len(positions))
    steps = epochs * (len(order) // batch_size)
    for number in range(steps):
        place = number % (len(order) // batch_size)
        if place == 0:
            random.shuffle(order)
        rows = order[place * batch_size :][:batch_size]
        # Cosine schedule, down to 0.
        step_rate = rate * (1 + np.cos(np.pi * number / steps)) / 2
        weights, first, second = step(weights, first, second, number + 1, step_rate, positions.batch(rows))
    return {name: np.asarray(weight) for name, weight in weights.items()}


def test(weights, positions, seed):
    """Prints the losses on held-out positions."""
    rows = np.random.default_rng(seed).permutation(len(positions))[:MAX_HELD_OUT]
    policy_loss, value_loss = losses(network.as_jax(weights), positions.batch(rows))
    print(f"held out, {len(rows)} positions: policy {policy_loss:.3f}, value {value_loss:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*")
    parser.add_argument("--held-out", nargs="*", default=[], help="games for measuring only")
    parser.add_argument("--from", dest="old", help="initial weights; random by default")
    parser.add_argument("--to", required=True)
    parser.add_argument("--onnx", required=True)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    weights = dict(np.load(options.old)) if options.old else network.new(options.seed)
    if options.games:
        started = time.monotonic()
        positions = Positions(options.games)
        read_s = time.monotonic() - started
        weights = train(
            weights, positions, options.epochs, options.batch, options.rate, options.seed
        )
        all_s = time.monotonic() - started
        print(f"{len(positions)} positions, {read_s:.0f} s to read, {all_s:.0f} s in total")
    if options.held_out:
        test(weights, Positions(options.held_out), options.seed)
    np.savez(options.to, **weights)
    network.save(weights, options.onnx)


if __name__ == "__main__":
    main()
