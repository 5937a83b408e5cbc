"""A small network of the dlshogi family, in JAX and as an ONNX file.

Inputs: `input1` (N × 62 × 9 × 9) and `input2` (N × 57 × 9 × 9). Outputs: `output_policy` (N × 2187) and `output_value`
(N × 1). The weights of the last layers start at 0, so a new network gives all moves the same probability and rates
every position as even.
"""

import jax
import jax.numpy as jnp
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CHANNELS = 24
BLOCKS = 3
VALUE_CHANNELS = 4
VALUE_UNITS = 32
SQUARES = 81
MOVE_KINDS = 27
INPUT1, INPUT2 = 62, 57


def new(seed):
    """Random initial weights, by name."""
    random = np.random.default_rng(seed)

    def convolution(outputs, inputs, size):
        deviation = (2 / (inputs * size * size)) ** 0.5
        return random.normal(0, deviation, (outputs, inputs, size, size))

    def dense(outputs, inputs):
        return random.normal(0, (2 / inputs) ** 0.5, (outputs, inputs))

    weights = {
        "in1.w": convolution(CHANNELS, INPUT1, 3),
        "in2.w": convolution(CHANNELS, INPUT2, 1),
        "in.b": np.zeros(CHANNELS),
        "policy.w": np.zeros((MOVE_KINDS, CHANNELS, 1, 1)),
        "policy.b": np.zeros(MOVE_KINDS * SQUARES),
        "value.w": convolution(VALUE_CHANNELS, CHANNELS, 1),
        "value.b": np.zeros(VALUE_CHANNELS),
        "dense1.w": dense(VALUE_UNITS, VALUE_CHANNELS * SQUARES),
        "dense1.b": np.zeros(VALUE_UNITS),
        "dense2.w": np.zeros((1, VALUE_UNITS)),
        "dense2.b": np.zeros(1),
    }
    for block in range(BLOCKS):
        for half in "ab":
            weights[f"block{block}{half}.w"] = convolution(CHANNELS, CHANNELS, 3)
            weights[f"block{block}{half}.b"] = np.zeros(CHANNELS)
        # Each residual block starts as the identity. Otherwise the sums of many blocks would become too large.
        weights[f"block{block}b.w"] *= 0
    return {name: weight.astype(np.float32) for name, weight in weights.items()}


def evaluate(weights, input1, input2):
    """Logits of the policy and of the value."""

    def convolution(name, x):
        return jax.lax.conv(x, weights[f"{name}.w"], (1, 1), "SAME")

    def biased(name, x):
        return x + weights[f"{name}.b"][None, :, None, None]

    x = biased("in", convolution("in1", input1) + convolution("in2", input2))
    x = jax.nn.relu(x)
    for block in range(BLOCKS):
        y = jax.nn.relu(biased(f"block{block}a", convolution(f"block{block}a", x)))
        y = biased(f"block{block}b", convolution(f"block{block}b", y))
        x = jax.nn.relu(x + y)
    policy = convolution("policy", x).reshape(len(x), -1) + weights["policy.b"]
    v = jax.nn.relu(biased("value", convolution("value", x))).reshape(len(x), -1)
    v = jax.nn.relu(v @ weights["dense1.w"].T + weights["dense1.b"])
    value = v @ weights["dense2.w"].T + weights["dense2.b"]
    return policy, value[:, 0]


def save(weights, path):
    """Writes an ONNX file."""
    nodes = []

    def node(kind, inputs, output, **attributes):
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def convolution(name, x, bias=True):
        size = weights[f"{name}.w"].shape[-1]
        inputs = [x, f"{name}.w"] + ([f"{name}.b"] if bias else [])
        return node("Conv", inputs, f"{name}.out", kernel_shape=[size, size], pads=[size // 2] * 4)

    extra = {
        "in1.b": weights["in.b"],
    }
    x = convolution("in1", "input1")
    x = node("Add", [x, convolution("in2", "input2", bias=False)], "in.sum")
    x = node("Relu", [x], "in.out")
    for block in range(BLOCKS):
        y = node("Relu", [convolution(f"block{block}a", x)], f"block{block}a.relu")
        y = node("Add", [x, convolution(f"block{block}b", y)], f"block{block}.sum")
        x = node("Relu", [y], f"block{block}.out")
    p = node("Flatten", [convolution("policy", x, bias=False)], "policy.flat", axis=1)
    node("Add", [p, "policy.b"], "output_policy")
    v = node("Relu", [convolution("value", x)], "value.relu")
    v = node("Flatten", [v], "value.flat", axis=1)
    v = node("Gemm", [v, "dense1.w", "dense1.b"], "dense1.out", transB=1)
    v = node("Relu", [v], "dense1.relu")
    v = node("Gemm", [v, "dense2.w", "dense2.b"], "dense2.out", transB=1)
    node("Sigmoid", [v], "output_value")
    used = {name for each in nodes for name in each.input}
    constants = {**weights, **extra}
    initializers = [
        numpy_helper.from_array(np.asarray(constants[name], np.float32), name)
        for name in sorted(used & constants.keys())
    ]

    def tensor(name, *shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", *shape])

    graph = helper.make_graph(
        nodes,
        "kyokumen",
        [tensor("input1", INPUT1, 9, 9), tensor("input2", INPUT2, 9, 9)],
        [tensor("output_policy", MOVE_KINDS * SQUARES), tensor("output_value", 1)],
        initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def as_jax(weights):
    return {name: jnp.asarray(weight) for name, weight in weights.items()}
