//! The wire format of Protocol Buffers, as far as changing an ONNX file needs it.

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) number: u64,
    pub(crate) value: Value<'a>,
    /// The bytes of the field, with its key.
    pub(crate) raw: &'a [u8],
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Number(u64),
    /// A message, a text or packed numbers.
    Bytes(&'a [u8]),
    /// A number of 32 or 64 bits. None of the fields used here has this type.
    Fixed,
}

impl<'a> Field<'a> {
    /// The bytes of the field if it has this number.
    pub(crate) fn bytes(&self, number: u64) -> Option<&'a [u8]> {
        match self.value {
            Value::Bytes(bytes) if self.number == number => Some(bytes),
            _ => None,
        }
    }
}

/// The fields of a message, in their order. `None` if the bytes are not a message.
pub(crate) fn fields(mut message: &[u8]) -> Option<Vec<Field<'_>>> {
    let mut all = Vec::new();
    while !message.is_empty() {
        let start = message;
        let key = number(&mut message)?;
        let value = match key & 7 {
            0 => Value::Number(number(&mut message)?),
            1 => message.split_off(..8).map(|_| Value::Fixed)?,
            2 => {
                let len = usize::try_from(number(&mut message)?).ok()?;
                Value::Bytes(message.split_off(..len)?)
            }
            5 => message.split_off(..4).map(|_| Value::Fixed)?,
            _ => return None,
        };
        let raw = &start[..start.len() - message.len()];
        all.push(Field { number: key >> 3, value, raw });
    }
    Some(all)
}

/// The last bytes of a field with this number.
pub(crate) fn bytes<'a>(fields: &[Field<'a>], number: u64) -> Option<&'a [u8]> {
    fields.iter().rev().find_map(|field| field.bytes(number))
}

/// The last value of a numeric field with this number.
pub(crate) fn number_of(fields: &[Field<'_>], number: u64) -> Option<u64> {
    fields.iter().rev().find_map(|field| match field.value {
        Value::Number(value) if field.number == number => Some(value),
        _ => None,
    })
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// A message that is being written.
#[derive(Default)]
pub(crate) struct Message(pub(crate) Vec<u8>);

impl Message {
    /// Adds a numeric field.
    pub(crate) fn number(mut self, field: u64, value: u64) -> Self {
        self.put(field << 3);
        self.put(value);
        self
    }

    /// Adds a field with bytes, a text or a message.
    pub(crate) fn bytes(mut self, field: u64, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        self.put(field << 3 | 2);
        self.put(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Adds fields that are already encoded.
    pub(crate) fn raw(mut self, fields: &[u8]) -> Self {
        self.0.extend_from_slice(fields);
        self
    }

    fn put(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
