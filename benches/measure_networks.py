#!/usr/bin/env python3
"""Measures labels and simulations per second for networks with random weights, with each runtime.

    python benches/measure_networks.py --kyokumen target/dist/kyokumen --networks 10x192 20x256 --device cuda

For each network, precision and batch size it prints the positions per second of

- `kyokumen relabel` and `kyokumen selfplay` with ONNX Runtime in the program, with one and two groups,
- the same with `examples/evaluator.py`, which a pipe connects (`run:`), and with rten on the CPU,
- ONNX Runtime from Python with inputs that are already in memory: the most that the device can do.

Needs the packages numpy, onnx and onnxruntime (or onnxruntime-gpu).
"""

import argparse
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider", "tensorrt": "TensorrtExecutionProvider"}
PLANES = (62, 57)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/dist/kyokumen")
    parser.add_argument("--networks", nargs="+", default=["10x192", "20x256"], help="blocks x channels")
    parser.add_argument("--batches", nargs="+", type=int, default=[128, 512, 1024, 2048, 4096])
    parser.add_argument("--groups", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--precisions", nargs="+", default=["fp32", "fp16"])
    parser.add_argument("--device", default="cpu", choices=PROVIDERS)
    parser.add_argument("--seconds", type=float, default=10, help="time for each figure")
    parser.add_argument("--only", nargs="+", default=["python", "ort", "run", "rten"])
    options = parser.parse_args()
    library = next(pathlib.Path(onnxruntime.__file__).parent.glob("capi/*onnxruntime.*"))
    print("network precision batch groups runtime labels/s simulations/s device_busy", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, pathlib.Path(folder), library)
        for network in options.networks:
            blocks, channels = map(int, network.split("x"))
            for precision in options.precisions:
                model = bench.folder / f"{network}-{precision}.onnx"
                onnx.save(random_network(blocks, channels, precision == "fp16"), model)
                for batch in options.batches:
                    bench.measure(model, network, precision, batch)
    return 0


class Bench:
    """Runs the program and prints a line for each figure."""

    def __init__(self, options, folder, library):
        self.options = options
        self.folder = folder
        self.library = library
        # Enough records for any device: the run is stopped after the given time.
        sample = (ROOT / "data/sample.hcpe").read_bytes()
        (folder / "many.hcpe").write_bytes(sample * 2000)

    def measure(self, model, network, precision, batch):
        options = self.options
        head = f"{network} {precision} {batch}"
        if "python" in options.only:
            print(f"{head} - python {self.in_python(model, batch, precision):.0f} - -", flush=True)
        evaluator = f"run:{sys.executable} {ROOT / 'examples/evaluator.py'} {model} --device {options.device.upper()}"
        runtimes = {
            "ort": ["--model", model, "--runtime", "ort", "--device", options.device, "--ort-lib", self.library],
            "run": ["--model", evaluator],
            "rten": ["--model", model],
        }
        for name, words in runtimes.items():
            if name not in options.only or (name == "rten" and (options.device != "cpu" or precision == "fp16")):
                continue
            for groups in options.groups:
                labels = self.snapshot(["relabel", self.folder / "many.hcpe", "--threads", groups], words, batch)["rate"]
                games = ["selfplay", "--games", 1_000_000, "--threads", 1, "--groups", groups]
                played = self.snapshot(games, words, batch)
                simulations, busy = played["simulations_per_s"], played["devices_busy"]
                print(f"{head} {groups} {name} {labels:.0f} {simulations:.0f} {busy:.3f}", flush=True)

    def snapshot(self, command, words, batch):
        """The last progress line of a run that is stopped after some seconds of work."""
        out = ["-o", self.folder / "out", "--force", "--batch", batch, "--progress", "json"]
        line = [str(word) for word in [self.options.kyokumen, *command, *words, *out]]
        process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
        last, until = None, None
        for text in process.stderr:
            if not text.startswith("{"):
                # An evaluator program writes to the same stream.
                print(text, end="", file=sys.stderr)
                continue
            message = json.loads(text)
            if message.get("type") == "progress":
                last = message
                until = until or time.monotonic() + self.options.seconds
            if until and time.monotonic() > until:
                process.send_signal(signal.SIGINT)
                until = time.monotonic() + 60
        process.wait()
        if last is None:
            raise SystemExit(f"no progress from {' '.join(line)}")
        return last

    def in_python(self, model, batch, precision):
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(model), settings, providers=[PROVIDERS[self.options.device]])
        kind = np.float16 if precision == "fp16" else np.float32
        rng = np.random.default_rng(1)
        shapes = zip(("input1", "input2"), PLANES, strict=True)
        inputs = {name: rng.integers(0, 2, (batch, planes, 9, 9)).astype(kind) for name, planes in shapes}
        binding = session.io_binding()
        for name, values in inputs.items():
            device = "cpu" if self.options.device == "cpu" else "cuda"
            binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(values, device, 0))
        for output in ("output_policy", "output_value"):
            binding.bind_output(output)
        session.run_with_iobinding(binding)
        begin, runs = time.monotonic(), 0
        while time.monotonic() - begin < self.options.seconds:
            session.run_with_iobinding(binding)
            runs += 1
        return runs * batch / (time.monotonic() - begin)


def random_network(blocks, channels, half):
    """A residual network of the dlshogi family with random weights. Batch normalisation is part of the weights."""
    kind = TensorProto.FLOAT16 if half else TensorProto.FLOAT
    rng = np.random.default_rng(7)
    nodes, weights = [], []

    def constant(shape, scale=None):
        name = f"w{len(weights)}"
        scale = scale if scale is not None else np.sqrt(2 / max(1, np.prod(shape[1:])))
        values = (rng.standard_normal(shape) * scale).astype(np.float16 if half else np.float32)
        weights.append(numpy_helper.from_array(values, name))
        return name

    def node(kind_of, inputs, output=None, **attributes):
        output = output or f"t{len(nodes)}"
        nodes.append(helper.make_node(kind_of, inputs, [output], **attributes))
        return output

    def conv(source, count_in, count_out, size):
        pad = size // 2
        inputs = [source, constant((count_out, count_in, size, size)), constant((count_out,), 0.0)]
        return node("Conv", inputs, pads=[pad] * 4, kernel_shape=[size, size])

    def relu(source):
        return node("Relu", [source])

    stem = node("Add", [conv("input1", PLANES[0], channels, 3), conv("input2", PLANES[1], channels, 1)])
    flow = relu(stem)
    for _ in range(blocks):
        inner = relu(conv(flow, channels, channels, 3))
        flow = relu(node("Add", [conv(inner, channels, channels, 3), flow]))
    node("Flatten", [conv(flow, channels, 27, 1)], "output_policy")
    hidden = node("Flatten", [relu(conv(flow, channels, 27, 1))])
    hidden = relu(node("Gemm", [hidden, constant((27 * 81, 256)), constant((256,), 0.0)]))
    node("Sigmoid", [node("Gemm", [hidden, constant((256, 1)), constant((1,), 0.0)])], "output_value")
    inputs = [
        helper.make_tensor_value_info(name, kind, ["batch", planes, 9, 9])
        for name, planes in zip(("input1", "input2"), PLANES, strict=True)
    ]
    outputs = [
        helper.make_tensor_value_info("output_policy", kind, ["batch", 27 * 81]),
        helper.make_tensor_value_info("output_value", kind, ["batch", 1]),
    ]
    graph = helper.make_graph(nodes, "random", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


if __name__ == "__main__":
    sys.exit(main())
