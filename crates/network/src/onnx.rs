//! ONNX files with inputs of bits: nodes in front of the network unpack them, so a device gets 636 instead of 38,556
//! bytes for a position.
//!
//! The layout is that of [`onnx.proto`](https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).

use std::path::Path;

use crate::NetworkError;
use crate::feature_bits::INPUT1_BYTES;
use crate::features::{BOARD, INPUT1_PLANES, Input2};
use crate::protobuf::{Field, Message, bytes, fields, number_of};

/// Names of the inputs of bits: unsigned bytes with the shapes (positions, 628) and (positions, 8 or 15).
pub(crate) const BIT_INPUTS: [&str; 2] = ["input1_bits", "input2_bits"];

/// Names of the outputs of a network.
const NETWORK_OUTPUTS: [&str; 2] = ["output_policy", "output_value"];

/// Names of the same outputs as 32-bit floats.
pub(crate) const OUTPUTS: [&str; 2] = ["output_policy_float", "output_value_float"];

/// Numbers of fields.
mod field {
    pub(super) const MODEL_OPSET: u64 = 8;
    pub(super) const MODEL_GRAPH: u64 = 7;
    pub(super) const GRAPH_NODE: u64 = 1;
    pub(super) const GRAPH_INPUT: u64 = 11;
    pub(super) const GRAPH_OUTPUT: u64 = 12;
}

/// Codes of number types.
mod element {
    pub(super) const FLOAT: u64 = 1;
    pub(super) const UINT8: u64 = 2;
    pub(super) const INT32: u64 = 6;
    pub(super) const INT64: u64 = 7;
    pub(super) const HALF: u64 = 10;
}

/// A network with inputs of bits.
pub(crate) struct BitNetwork {
    /// The ONNX file.
    pub(crate) model: Vec<u8>,
    /// The planes of `input2`.
    pub(crate) planes: Input2,
}

impl BitNetwork {
    /// Changes the inputs of a network to bits, and its outputs to 32-bit floats. `path` names the file in errors.
    ///
    /// # Errors
    ///
    /// [`NetworkError`] if the bytes are not an ONNX file or not a network of the dlshogi family.
    pub(crate) fn new(path: &Path, model: &[u8]) -> Result<Self, NetworkError> {
        let no_onnx = || NetworkError::Load {
            path: path.to_owned(),
            source: "its messages cannot be read".into(),
        };
        let model_fields = fields(model).ok_or_else(no_onnx)?;
        let graph = bytes(&model_fields, field::MODEL_GRAPH).ok_or_else(no_onnx)?;
        let graph = fields(graph).ok_or_else(no_onnx)?;
        let interface = Interface::new(path, &graph).ok_or_else(no_onnx)?;
        let numbers1 = interface.expect_planes("input1", &[INPUT1_PLANES])?;
        let numbers2 = interface.expect_planes("input2", &[57, 119])?;
        for name in NETWORK_OUTPUTS {
            interface.find(&interface.outputs, name)?;
        }
        let planes = Input2::from_planes(numbers2.planes).expect("57 or 119");
        let added = Added { opset: opset(&model_fields).ok_or_else(no_onnx)?, planes };
        let graph = added.graph(&graph, [numbers1.element, numbers2.element]);
        let unchanged = model_fields.iter().filter(|field| field.number != field::MODEL_GRAPH);
        let message = unchanged.fold(Message::default(), |message, field| message.raw(field.raw));
        Ok(Self { model: message.bytes(field::MODEL_GRAPH, graph).0, planes })
    }
}

/// The version of the standard operators. `None` if the file is damaged or names none.
fn opset(model: &[Field<'_>]) -> Option<u64> {
    model.iter().filter_map(|field| field.bytes(field::MODEL_OPSET)).find_map(|set| {
        let set = fields(set)?;
        let domain = bytes(&set, 1).unwrap_or_default();
        if domain.is_empty() || domain == b"ai.onnx" { number_of(&set, 2) } else { None }
    })
}

/// An input or output of the network.
struct Tensor<'a> {
    name: &'a str,
    element: u64,
    /// The sizes of the dimensions. Dimensions with a name are `Err`.
    shape: Vec<Result<u64, &'a str>>,
}

/// The inputs and outputs of a network.
struct Interface<'a> {
    path: &'a Path,
    inputs: Vec<Tensor<'a>>,
    outputs: Vec<Tensor<'a>>,
}

/// The type and number of the planes of an input.
struct Planes {
    element: u64,
    planes: usize,
}

impl<'a> Interface<'a> {
    fn new(path: &'a Path, graph: &[Field<'a>]) -> Option<Self> {
        let tensors = |number| {
            graph.iter().filter_map(|field| field.bytes(number)).map(tensor).collect::<Option<_>>()
        };
        Some(Self {
            path,
            inputs: tensors(field::GRAPH_INPUT)?,
            outputs: tensors(field::GRAPH_OUTPUT)?,
        })
    }

    fn find<'b>(
        &self,
        tensors: &'b [Tensor<'a>],
        name: &'static str,
    ) -> Result<&'b Tensor<'a>, NetworkError> {
        tensors.iter().find(|tensor| tensor.name == name).ok_or_else(|| {
            let found =
                self.inputs.iter().chain(&self.outputs).map(|tensor| tensor.name.to_owned());
            NetworkError::Missing { path: self.path.to_owned(), name, found: found.collect() }
        })
    }

    /// Checks that an input has the shape (any batch, planes, 9, 9) and one of the numbers of planes.
    fn expect_planes(
        &self,
        name: &'static str,
        expected: &[usize],
    ) -> Result<Planes, NetworkError> {
        let tensor = self.find(&self.inputs, name)?;
        if let [_, Ok(planes), Ok(9), Ok(9)] = tensor.shape[..]
            && let Some(&planes) = expected.iter().find(|&&expected| expected as u64 == planes)
            && matches!(tensor.element, element::FLOAT | element::HALF)
        {
            return Ok(Planes { element: tensor.element, planes });
        }
        let sizes: Vec<String> = tensor
            .shape
            .iter()
            .map(|size| size.map_or_else(str::to_owned, |size| size.to_string()))
            .collect();
        Err(NetworkError::Shape {
            path: self.path.to_owned(),
            name,
            found: format!("[{}]", sizes.join(",")),
            planes: expected.to_vec(),
        })
    }
}

/// Reads a `ValueInfoProto`.
fn tensor(message: &[u8]) -> Option<Tensor<'_>> {
    let info = fields(message)?;
    let name = str::from_utf8(bytes(&info, 1)?).ok()?;
    let kind = fields(bytes(&info, 2).unwrap_or_default())?;
    let kind = fields(bytes(&kind, 1).unwrap_or_default())?;
    let element = number_of(&kind, 1).unwrap_or_default();
    let shape = fields(bytes(&kind, 2).unwrap_or_default())?;
    let size = |dimension| {
        let dimension = fields(dimension)?;
        let name = str::from_utf8(bytes(&dimension, 2).unwrap_or_default()).ok()?;
        Some(number_of(&dimension, 1).ok_or(name))
    };
    let shape = shape.iter().filter_map(|field| field.bytes(1)).map(size).collect::<Option<_>>()?;
    Some(Tensor { name, element, shape })
}

/// What is added to a graph.
struct Added {
    /// The version of the operators.
    opset: u64,
    planes: Input2,
}

impl Added {
    /// The graph with the added nodes. `elements` are the number types of the inputs.
    fn graph(&self, graph: &[Field<'_>], elements: [u64; 2]) -> Message {
        let replaced = [field::GRAPH_INPUT, field::GRAPH_OUTPUT];
        let mut message = Message::default();
        // A node may use only what earlier nodes provide, so these come first.
        for node in self.input1(elements[0]).into_iter().chain(self.input2(elements[1])) {
            message = message.bytes(field::GRAPH_NODE, node);
        }
        for field in graph.iter().filter(|field| !replaced.contains(&field.number)) {
            message = message.raw(field.raw);
        }
        for (from, to) in NETWORK_OUTPUTS.into_iter().zip(OUTPUTS) {
            let cast = node("Cast", &[from], to, &[number("to", element::FLOAT)]);
            message = message
                .bytes(field::GRAPH_NODE, cast)
                .bytes(field::GRAPH_OUTPUT, value_info(to, element::FLOAT, None));
        }
        let sizes = [INPUT1_BYTES, self.planes.bytes()];
        BIT_INPUTS.into_iter().zip(sizes).fold(message, |message, (name, bytes)| {
            message.bytes(field::GRAPH_INPUT, value_info(name, element::UINT8, Some(bytes as u64)))
        })
    }

    fn input1(&self, element: u64) -> Vec<Message> {
        let mut nodes = self.numbers(0, element, INPUT1_BYTES, INPUT1_PLANES * BOARD);
        nodes.push(int64s("kyokumen_planes0", &[-1, size(INPUT1_PLANES), 9, 9]));
        nodes.push(node("Reshape", &["kyokumen_numbers0", "kyokumen_planes0"], "input1", &[]));
        nodes
    }

    /// One number for a plane becomes the numbers of all its squares.
    fn input2(&self, element: u64) -> Vec<Message> {
        let planes = self.planes.planes();
        let mut nodes = self.numbers(1, element, self.planes.bytes(), planes);
        nodes.push(int64s("kyokumen_planes1", &[-1, size(planes), 1, 1]));
        let reshaped = ["kyokumen_numbers1", "kyokumen_planes1"];
        nodes.push(node("Reshape", &reshaped, "kyokumen_states", &[]));
        let ones = encoded(&[1; BOARD], element);
        nodes.push(constant("kyokumen_ones", &[1, 1, 9, 9], element, &ones));
        nodes.push(node("Mul", &["kyokumen_states", "kyokumen_ones"], "input2", &[]));
        nodes
    }

    /// Nodes that turn the bytes of an input into `count` numbers for each position. They look up the eight numbers of
    /// each byte in a table, which all versions of the operators can do.
    fn numbers(&self, input: usize, element: u64, bytes: usize, count: usize) -> Vec<Message> {
        let name = |what: &str| format!("kyokumen_{what}{input}");
        let bits: Vec<u8> =
            (0..=u8::MAX).flat_map(|byte| (0..8).map(move |i| byte >> i & 1)).collect();
        let mut nodes = vec![
            node("Cast", &[BIT_INPUTS[input]], &name("bytes"), &[number("to", element::INT32)]),
            constant(&name("table"), &[256, 8], element, &encoded(&bits, element)),
            node("Gather", &[&name("table"), &name("bytes")], &name("eights"), &[]),
            int64s(&name("row"), &[-1, size(bytes * 8)]),
            node("Reshape", &[&name("eights"), &name("row")], &name("all"), &[]),
        ];
        let limits = [("starts", 0), ("ends", size(count)), ("axes", 1)];
        if self.opset < 10 {
            let attributes = limits.map(|(name, value)| numbers(name, value.cast_unsigned()));
            nodes.push(node("Slice", &[&name("all")], &name("numbers"), &attributes));
        } else {
            nodes.extend(limits.map(|(what, value)| int64s(&name(what), &[value])));
            let inputs = [name("all"), name("starts"), name("ends"), name("axes")];
            nodes.push(node(
                "Slice",
                &inputs.each_ref().map(String::as_str),
                &name("numbers"),
                &[],
            ));
        }
        nodes
    }
}

/// A `NodeProto`.
fn node(operator: &str, inputs: &[&str], output: &str, attributes: &[Message]) -> Message {
    let message = inputs.iter().fold(Message::default(), |message, input| message.bytes(1, input));
    let message = message.bytes(2, output).bytes(3, output).bytes(4, operator);
    attributes.iter().fold(message, |message, attribute| message.bytes(5, attribute))
}

/// A node that provides a constant.
fn constant(name: &str, shape: &[u64], element: u64, data: &[u8]) -> Message {
    let tensor = shape.iter().fold(Message::default(), |message, &size| message.number(1, size));
    let tensor = tensor.number(2, element).bytes(9, data);
    let attribute = Message::default().bytes(1, "value").bytes(5, tensor).number(20, 4);
    node("Constant", &[], name, &[attribute])
}

fn int64s(name: &str, numbers: &[i64]) -> Message {
    let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    constant(name, &[numbers.len() as u64], element::INT64, &data)
}

fn size(size: usize) -> i64 {
    i64::try_from(size).expect("sizes of tensors are small")
}

/// An attribute with a number.
fn number(name: &str, value: u64) -> Message {
    Message::default().bytes(1, name).number(3, value).number(20, 2)
}

/// An attribute with a list of one number.
fn numbers(name: &str, value: u64) -> Message {
    Message::default().bytes(1, name).number(8, value).number(20, 7)
}

/// Numbers 0 and 1 in the encoding of a type.
fn encoded(numbers: &[u8], element: u64) -> Vec<u8> {
    const HALF_ONE: u16 = 0x3c00;
    let encode = |&number: &u8| match element {
        element::HALF => (u16::from(number) * HALF_ONE).to_le_bytes().to_vec(),
        _ => f32::from(number).to_le_bytes().to_vec(),
    };
    numbers.iter().flat_map(encode).collect()
}

/// A `ValueInfoProto`. Its shape is (batch, `size`), or unknown.
fn value_info(name: &str, element: u64, size: Option<u64>) -> Message {
    let mut tensor = Message::default().number(1, element);
    if let Some(size) = size {
        let shape = Message::default()
            .bytes(1, Message::default().bytes(2, "batch"))
            .bytes(1, Message::default().number(1, size));
        tensor = tensor.bytes(2, shape);
    }
    Message::default().bytes(1, name).bytes(2, Message::default().bytes(1, tensor))
}
