//! ONNX files of a small network, written byte by byte (`onnx.proto` of the ONNX project).
//!
//! `output_policy` is a 1 × 1 convolution of `input1` to 27 planes, laid out flat; `output_value` the sigmoid of the
//! mean of a 1 × 1 convolution of `input2` to one plane.

/// A description of the network. Tests set some properties to invalid values.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub(crate) input1_planes: u64,
    pub(crate) input2_planes: u64,
    pub(crate) policy_name: &'static str,
    /// 27 × 62 weights of the policy.
    pub(crate) policy: Vec<f32>,
    /// A weight for each plane of `input2`.
    pub(crate) value: Vec<f32>,
    /// The version of the operators.
    pub(crate) opset: u64,
    /// Whether all numbers have 16 bits.
    pub(crate) half: bool,
}

impl Recipe {
    pub(crate) fn new(input2_planes: u64) -> Self {
        let weights = |count: u64| (0..count).map(|i| ((i * 37 + 11) % 101) as f32 / 50.0 - 1.0);
        Self {
            input1_planes: 62,
            input2_planes,
            policy_name: "output_policy",
            policy: weights(27 * 62).collect(),
            value: weights(input2_planes).collect(),
            opset: 13,
            half: false,
        }
    }

    pub(crate) fn file(&self) -> Vec<u8> {
        let nodes = [
            node("Conv", &["input1", "policy_weights"], "policy_planes"),
            node("Flatten", &["policy_planes"], self.policy_name),
            node("Conv", &["input2", "value_weights"], "value_plane"),
            node("GlobalAveragePool", &["value_plane"], "value_mean"),
            node("Flatten", &["value_mean"], "value_flat"),
            node("Sigmoid", &["value_flat"], "output_value"),
        ];
        let mut graph = Vec::new();
        for node in nodes {
            message(&mut graph, 1, &node);
        }
        message(&mut graph, 2, b"small");
        let shape = [27, self.input1_planes, 1, 1];
        message(&mut graph, 5, &self.tensor("policy_weights", &shape, &self.policy));
        let shape = [1, self.input2_planes, 1, 1];
        message(&mut graph, 5, &self.tensor("value_weights", &shape, &self.value));
        for (name, planes) in [("input1", self.input1_planes), ("input2", self.input2_planes)] {
            message(&mut graph, 11, &self.value_info(name, &[planes, 9, 9]));
        }
        message(&mut graph, 12, &self.value_info(self.policy_name, &[2187]));
        message(&mut graph, 12, &self.value_info("output_value", &[1]));
        let mut operators = Vec::new();
        number(&mut operators, 2, self.opset);
        let mut model = Vec::new();
        number(&mut model, 1, 8);
        message(&mut model, 7, &graph);
        message(&mut model, 8, &operators);
        model
    }

    fn tensor(&self, name: &str, shape: &[u64], numbers: &[f32]) -> Vec<u8> {
        let mut tensor = Vec::new();
        for &size in shape {
            number(&mut tensor, 1, size);
        }
        number(&mut tensor, 2, self.element());
        message(&mut tensor, 8, name.as_bytes());
        let bytes: Vec<u8> = if self.half {
            numbers.iter().flat_map(|&number| half(number).to_le_bytes()).collect()
        } else {
            numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
        };
        message(&mut tensor, 9, &bytes);
        tensor
    }

    /// The code of the type of all numbers.
    fn element(&self) -> u64 {
        const FLOAT: u64 = 1;
        const HALF: u64 = 10;
        if self.half { HALF } else { FLOAT }
    }

    /// An input or output with any batch size, and then `sizes`.
    fn value_info(&self, name: &str, sizes: &[u64]) -> Vec<u8> {
        let mut batch = Vec::new();
        message(&mut batch, 2, b"N");
        let mut shape = Vec::new();
        message(&mut shape, 1, &batch);
        for &size in sizes {
            let mut dimension = Vec::new();
            number(&mut dimension, 1, size);
            message(&mut shape, 1, &dimension);
        }
        let mut tensor = Vec::new();
        number(&mut tensor, 1, self.element());
        message(&mut tensor, 2, &shape);
        let mut kind = Vec::new();
        message(&mut kind, 1, &tensor);
        let mut info = Vec::new();
        message(&mut info, 1, name.as_bytes());
        message(&mut info, 2, &kind);
        info
    }
}

/// The bits of a 16-bit float. The number must be exact in 11 bits and not subnormal.
fn half(number: f32) -> u16 {
    let bits = number.to_bits();
    if number == 0.0 {
        return 0;
    }
    let exponent = (bits >> 23 & 0xff) as u16 + 15 - 127;
    (bits >> 16 & 0x8000) as u16 | exponent << 10 | (bits >> 13 & 0x3ff) as u16
}

fn node(operator: &str, inputs: &[&str], output: &str) -> Vec<u8> {
    let mut node = Vec::new();
    for input in inputs {
        message(&mut node, 1, input.as_bytes());
    }
    message(&mut node, 2, output.as_bytes());
    message(&mut node, 4, operator.as_bytes());
    message(&mut node, 3, output.as_bytes());
    if operator == "Conv" {
        // These are the defaults, but some runtimes do not know them.
        message(&mut node, 5, &numbers("strides", &[1, 1]));
        message(&mut node, 5, &numbers("dilations", &[1, 1]));
        message(&mut node, 5, &numbers("pads", &[0, 0, 0, 0]));
    }
    node
}

/// An attribute with integers.
fn numbers(name: &str, values: &[u64]) -> Vec<u8> {
    const INTS: u64 = 7;
    let mut attribute = Vec::new();
    message(&mut attribute, 1, name.as_bytes());
    for &value in values {
        number(&mut attribute, 8, value);
    }
    number(&mut attribute, 20, INTS);
    attribute
}

/// A field of bytes, text or another message.
fn message(to: &mut Vec<u8>, field: u64, content: &[u8]) {
    varint(to, field << 3 | 2);
    varint(to, content.len() as u64);
    to.extend_from_slice(content);
}

fn number(to: &mut Vec<u8>, field: u64, value: u64) {
    varint(to, field << 3);
    varint(to, value);
}

fn varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}
