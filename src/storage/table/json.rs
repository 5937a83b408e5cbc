//! Writes rows as JSON Lines: one object per row, one key per column, in order.
//!
//! JSON: RFC 8259. Null is `null`; bytes are hexadecimal digits.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Table, Value};
use crate::storage::checksum::hex;

pub(super) fn push_line(table: &Table, row: &[Value<'_>], out: &mut Vec<u8>) {
    serde_json::to_writer(&mut *out, &Line { table, row })
        .expect("texts, numbers and lists of texts always have a JSON form");
    out.push(b'\n');
}

struct Line<'a> {
    table: &'a Table,
    row: &'a [Value<'a>],
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.row.len()))?;
        for (column, value) in self.table.columns.iter().zip(self.row) {
            object.serialize_entry(column.name, &Json(value))?;
        }
        object.end()
    }
}

/// A value as JSON. The `Serialize` of [`Value`] itself is the temporary encoding of deferred tables.
struct Json<'a>(&'a Value<'a>);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Texts(texts) => texts.serialize(serializer),
            Value::Bytes(bytes) => serializer.serialize_str(&hex(bytes)),
            Value::Bool(is_so) => serializer.serialize_bool(*is_so),
            Value::Int(number) => serializer.serialize_i64(*number),
            Value::Ints(numbers) => numbers.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{EVERYTHING, rows};
    use super::*;

    #[test]
    fn every_key_is_in_every_line() {
        let mut lines = Vec::new();
        for row in &rows()[..2] {
            push_line(&EVERYTHING, row, &mut lines);
        }
        let expected = "\
            {\"text\":\"局面 \\\"1\\\"\",\"word\":\"win\",\"texts\":[\"7g7f\",\"G*5b\"],\"bytes\":\"007fff\",\
            \"code\":\"0100\",\"flag\":true,\"sign\":-1,\"eval\":-32768,\"plies\":2147483647,\
            \"nodes\":1099511627776,\"bits\":65535,\"steps\":[-128,0,127]}\n\
            {\"text\":\"\",\"word\":null,\"texts\":[],\"bytes\":\"000000\",\"code\":null,\"flag\":false,\
            \"sign\":null,\"eval\":0,\"plies\":null,\"nodes\":-9223372036854775808,\"bits\":0,\"steps\":[]}\n";
        assert_eq!(String::from_utf8(lines).unwrap(), expected);
    }
}
