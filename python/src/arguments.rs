//! Arguments that may be of several types, and whole numbers within the range of their type. Their errors name what is
//! accepted.

use std::fmt::Display;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::failure::Failure;

/// A type that accepts several types of Python.
pub(crate) trait Accepts {
    /// The types, as in `a Move or a text`.
    const ACCEPTED: &'static str;
}

/// An argument whose error names what is accepted.
pub(crate) struct Given<T>(pub(crate) T);

impl<'a, 'py, T: Accepts + FromPyObject<'a, 'py>> FromPyObject<'a, 'py> for Given<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let wrong = |_| wrong_type(&object, T::ACCEPTED);
        object.extract().map_err(Into::into).map(Self).map_err(wrong)
    }
}

pub(crate) fn wrong_type(object: &Bound<'_, PyAny>, accepted: &str) -> PyErr {
    match object.get_type().name() {
        Ok(given) => PyTypeError::new_err(format!("expected {accepted}, not {given}")),
        Err(error) => error,
    }
}

/// A number from `least` to `most`. Its error names the argument.
fn whole<T: TryFrom<i128> + Display>(
    name: &str,
    object: &Bound<'_, PyAny>,
    [least, most]: [T; 2],
) -> PyResult<T> {
    if !object.hasattr("__index__")? {
        let wrong = wrong_type(object, "a whole number");
        return Err(PyTypeError::new_err(format!("{name}: {}", wrong.value(object.py()))));
    }
    let number = object.extract::<i128>().ok().and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| {
        let given = object.str().map_or_else(|_| "it".to_owned(), |text| text.to_string());
        Failure::usage(format!(
            "{name}: expected a whole number from {least} to {most}, not {given}"
        ))
        .into()
    })
}

/// Functions that extract the arguments with these names.
macro_rules! numbers {
    ($($name:ident: $kind:ty),*) => {$(
        pub(crate) fn $name(object: &Bound<'_, PyAny>) -> PyResult<$kind> {
            whole(stringify!($name), object, [<$kind>::MIN, <$kind>::MAX])
        }
    )*};
}

/// Like [`numbers!`], for arguments that may be None.
macro_rules! optional_numbers {
    ($($name:ident: $kind:ty),*) => {$(
        pub(crate) fn $name(object: &Bound<'_, PyAny>) -> PyResult<Option<$kind>> {
            let whole = || whole(stringify!($name), object, [<$kind>::MIN, <$kind>::MAX]);
            if object.is_none() { Ok(None) } else { whole().map(Some) }
        }
    )*};
}

/// Numbers that an argument always has.
pub(crate) mod number {
    use super::{Bound, PyAny, PyResult, whole};

    numbers!(batch_size: u64, bits: u16, hash_mb: usize, ply: u16, seen_from: usize, threads: usize, turn: u8);
}

/// Numbers that may be None.
pub(crate) mod optional {
    use super::{Bound, PyAny, PyAnyMethods as _, PyResult, whole};

    optional_numbers!(
        depth: u16,
        end_ply: u16,
        eval_cp: i16,
        hash_mb: usize,
        nodes: u64,
        ply: u16
    );
}
