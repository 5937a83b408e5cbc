#!/usr/bin/env python3
"""Evaluates a network with ONNX Runtime in a separate process, for `kyokumen selfplay` and `kyokumen relabel`.

    kyokumen selfplay --model "run:python3 examples/evaluator.py net.onnx" --openings kept.hcp -o games --games 1000

Any program with this protocol can replace it, for example with PyTorch or JAX on any device:

- The program writes the line `kyokumen-evaluator 1 57`. The last number is the number of planes of `input2`, 57 or 119.
- It reads the number of positions n (32 bits), n × 62 × 81 bytes of `input1` and n × planes × 81 bytes of `input2`.
  Each byte is 0 or 1. It writes n × 2187 logits and n values as 32-bit floats. All numbers are little-endian.
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
    print(f"kyokumen-evaluator 1 {planes}", flush=True)
    while number := sys.stdin.buffer.read(4):
        positions = int.from_bytes(number, "little")
        inputs = {
            "input1": read_planes(positions, INPUT1_PLANES),
            "input2": read_planes(positions, planes),
        }
        for output in session.run(["output_policy", "output_value"], inputs):
            sys.stdout.buffer.write(output.astype("<f4").tobytes())
        sys.stdout.buffer.flush()


def read_planes(positions, planes):
    data = sys.stdin.buffer.read(positions * planes * SQUARES)
    return np.frombuffer(data, np.uint8).reshape(positions, planes, 9, 9).astype(np.float32)


if __name__ == "__main__":
    main()
