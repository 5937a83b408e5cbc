//! Columns and values of tables.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The schema of a table.
#[derive(PartialEq, Eq, Debug)]
pub struct Table {
    /// Name of the schema, for file formats that have one.
    pub name: &'static str,
    /// The columns, in order.
    pub columns: &'static [Column],
}

/// A column of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// The name, the same in every format.
    pub name: &'static str,
    /// The type of the values.
    pub kind: ColumnType,
    /// Whether values may be null. Lists are empty instead.
    pub is_nullable: bool,
    /// Whether npz files omit arrays without information: the array of values if all of them are null, and the array of
    /// nulls if there are none.
    pub is_optional: bool,
    /// Whether almost all values are different, so a dictionary of equal values is not worth its time.
    pub is_distinct: bool,
}

/// The type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ColumnType {
    /// UTF-8 text.
    Text,
    /// A list of texts.
    Texts,
    /// This number of bytes.
    Bytes(usize),
    /// True or false.
    Bool,
    /// A signed 8-bit integer.
    Int8,
    /// A list of signed 8-bit integers.
    Int8s,
    /// A signed 16-bit integer.
    Int16,
    /// A signed 32-bit integer.
    Int32,
    /// A signed 64-bit integer.
    Int64,
    /// An unsigned 16-bit integer.
    UInt16,
}

/// The value of one column in one row.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Value<'a> {
    /// No value.
    Null,
    /// For [`ColumnType::Text`].
    #[serde(borrow)]
    Text(Cow<'a, str>),
    /// For [`ColumnType::Texts`].
    #[serde(borrow)]
    Texts(Vec<Cow<'a, str>>),
    /// For [`ColumnType::Bytes`].
    #[serde(borrow)]
    Bytes(Cow<'a, [u8]>),
    /// For [`ColumnType::Bool`].
    Bool(bool),
    /// For all integer types.
    Int(i64),
    /// For [`ColumnType::Int8s`].
    Ints(Vec<i64>),
}

impl ColumnType {
    /// Whether each value is a list.
    pub const fn is_list(self) -> bool {
        matches!(self, Self::Texts | Self::Int8s)
    }
}

impl Column {
    /// A column without nulls.
    pub const fn new(name: &'static str, kind: ColumnType) -> Self {
        Self { name, kind, is_nullable: false, is_optional: false, is_distinct: false }
    }

    /// The column with [`Self::is_nullable`] set.
    #[must_use]
    pub const fn nullable(self) -> Self {
        Self { is_nullable: true, ..self }
    }

    /// The column with [`Self::is_nullable`] and [`Self::is_optional`] set.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self { is_nullable: true, is_optional: true, ..self }
    }

    /// The column with [`Self::is_distinct`] set.
    #[must_use]
    pub const fn distinct(self) -> Self {
        Self { is_distinct: true, ..self }
    }

    /// Whether a value fits the column.
    pub fn holds(&self, value: &Value<'_>) -> bool {
        let is_within = |number: &i64, low: i64, high: i64| (low..=high).contains(number);
        match (self.kind, value) {
            (_, Value::Null) => self.is_nullable,
            (ColumnType::Bytes(len), Value::Bytes(bytes)) => bytes.len() == len,
            (ColumnType::Int8, Value::Int(n)) => is_within(n, i8::MIN.into(), i8::MAX.into()),
            (ColumnType::Int8s, Value::Ints(all)) => {
                all.iter().all(|n| is_within(n, i8::MIN.into(), i8::MAX.into()))
            }
            (ColumnType::Int16, Value::Int(n)) => is_within(n, i16::MIN.into(), i16::MAX.into()),
            (ColumnType::Int32, Value::Int(n)) => is_within(n, i32::MIN.into(), i32::MAX.into()),
            (ColumnType::UInt16, Value::Int(n)) => is_within(n, 0, u16::MAX.into()),
            (ColumnType::Int64, Value::Int(_))
            | (ColumnType::Text, Value::Text(_))
            | (ColumnType::Texts, Value::Texts(_))
            | (ColumnType::Bool, Value::Bool(_)) => true,
            _ => false,
        }
    }
}

impl<'a> Value<'a> {
    /// A text, or [`Self::Null`].
    pub fn text(text: Option<impl Into<Cow<'a, str>>>) -> Self {
        text.map_or(Self::Null, |text| Self::Text(text.into()))
    }

    /// A number, or [`Self::Null`].
    pub fn int(number: Option<impl Into<i64>>) -> Self {
        number.map_or(Self::Null, |number| Self::Int(number.into()))
    }
}
