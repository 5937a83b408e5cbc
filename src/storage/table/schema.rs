//! What a table is: columns described by data, and rows of values.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// What a table is: its name and its columns, in order.
#[derive(PartialEq, Eq, Debug)]
pub struct Table {
    /// Name of the schema where a file has one.
    pub name: &'static str,
    /// The columns.
    pub columns: &'static [Column],
}

/// A column of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// Its name, the same in every format.
    pub name: &'static str,
    /// What its values are.
    pub kind: ColumnType,
    /// Whether a row may have nothing there. Lists are empty instead.
    pub is_nullable: bool,
    /// Whether arrays are left out that would say nothing: of the column, where no row has a value, and of its nulls,
    /// where every row has one.
    pub is_optional: bool,
    /// Whether hardly any value comes twice, so that looking for equal ones is lost time.
    pub is_distinct: bool,
}

/// What the values of a column are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ColumnType {
    /// Text in UTF-8.
    Text,
    /// A list of texts.
    Texts,
    /// So many bytes.
    Bytes(usize),
    /// True or false.
    Bool,
    /// A number of 8 bits with a sign.
    Int8,
    /// A list of such numbers.
    Int8s,
    /// A number of 16 bits with a sign.
    Int16,
    /// A number of 32 bits with a sign.
    Int32,
    /// A number of 64 bits with a sign.
    Int64,
    /// A number of 16 bits without a sign.
    UInt16,
}

/// A value in a row.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Value<'a> {
    /// Nothing.
    Null,
    /// Of [`ColumnType::Text`].
    #[serde(borrow)]
    Text(Cow<'a, str>),
    /// Of [`ColumnType::Texts`].
    #[serde(borrow)]
    Texts(Vec<Cow<'a, str>>),
    /// Of [`ColumnType::Bytes`].
    #[serde(borrow)]
    Bytes(Cow<'a, [u8]>),
    /// Of [`ColumnType::Bool`].
    Bool(bool),
    /// Of any kind of number.
    Int(i64),
    /// Of [`ColumnType::Int8s`].
    Ints(Vec<i64>),
}

impl ColumnType {
    /// Whether a row has any number of them.
    pub const fn is_list(self) -> bool {
        matches!(self, Self::Texts | Self::Int8s)
    }
}

impl Column {
    /// A column in which every row has a value.
    pub const fn new(name: &'static str, kind: ColumnType) -> Self {
        Self { name, kind, is_nullable: false, is_optional: false, is_distinct: false }
    }

    /// The same, but rows may have nothing there.
    #[must_use]
    pub const fn nullable(self) -> Self {
        Self { is_nullable: true, ..self }
    }

    /// The same, but rows may have nothing there, and arrays that would say nothing are left out.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self { is_nullable: true, is_optional: true, ..self }
    }

    /// The same, with values hardly any of which comes twice.
    #[must_use]
    pub const fn distinct(self) -> Self {
        Self { is_distinct: true, ..self }
    }

    /// Whether a value can stand in it.
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
    /// A text, or nothing.
    pub fn text(text: Option<impl Into<Cow<'a, str>>>) -> Self {
        text.map_or(Self::Null, |text| Self::Text(text.into()))
    }

    /// A number, or nothing.
    pub fn int(number: Option<impl Into<i64>>) -> Self {
        number.map_or(Self::Null, |number| Self::Int(number.into()))
    }
}
