#!/usr/bin/env python3
"""Evaluates a network with ONNX Runtime in a separate process, for `kyokumen selfplay` and `kyokumen relabel`.

    kyokumen selfplay --model "run:python3 examples/evaluator.py net.onnx" --openings kept.hcp -o games --games 1000

Any program with this protocol can replace it, for example with PyTorch or JAX on any device:

- The program writes the line `kyokumen-evaluator 2 57`. The last number is the number of planes of `input2`, 57 or 119.
- It reads the number of positions n and the number m of their legal moves (32 bits each), n × 628 bytes with the bits of
  `input1`, n × 8 bytes (15 for 119 planes) with one bit for each plane of `input2`, the number of moves of each position
  (n × 16 bits) and the label of each move (m × 16 bits). It writes m logits, one for each move, and n values as 32-bit
  floats. All numbers are little-endian, and bits start with the lowest of each byte.
- It repeats this until its input ends.
"""

import argparse
import sys

import numpy as np
import onnxruntime

INPUT1_PLANES = 62
SQUARES = 81


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network")
    parser.add_argument("--device", default="CPU", help="CPU, CUDA or Tensorrt")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of one evaluation")
    options = parser.parse_args()
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    session = onnxruntime.InferenceSession(
        options.network, settings, providers=[f"{options.device}ExecutionProvider"]
    )
    shapes = {tensor.name: tensor.shape for tensor in session.get_inputs()}
    planes = shapes["input2"][1]
    kind = np.float16 if session.get_inputs()[0].type == "tensor(float16)" else np.float32
    print(f"kyokumen-evaluator 2 {planes}", flush=True)
    while sizes := sys.stdin.buffer.read(8):
        positions, moves = np.frombuffer(sizes, "<u4")
        squares = read_bits(positions, INPUT1_PLANES * SQUARES)
        states = read_bits(positions, planes)
        counts = read(positions, "<u2")
        labels = read(moves, "<u2")
        inputs = {
            "input1": squares.reshape(-1, INPUT1_PLANES, 9, 9).astype(kind),
            "input2": states[:, :, None, None].repeat(9, 2).repeat(9, 3).astype(kind),
        }
        policy, value = session.run(["output_policy", "output_value"], inputs)
        logits = policy.reshape(positions, -1)[np.arange(positions).repeat(counts), labels]
        sys.stdout.buffer.write(logits.astype("<f4").tobytes() + value.astype("<f4").tobytes())
        sys.stdout.buffer.flush()


def read(count, numbers):
    return np.frombuffer(sys.stdin.buffer.read(int(count) * np.dtype(numbers).itemsize), numbers)


def read_bits(positions, count):
    """An array (positions, count) of 0 and 1. The bits of a position start with a new byte."""
    packed = read(positions * ((count + 7) // 8), "u1").reshape(positions, -1)
    return np.unpackbits(packed, axis=1, count=count, bitorder="little")


if __name__ == "__main__":
    main()
