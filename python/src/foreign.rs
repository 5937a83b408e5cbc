//! Arrays of numpy over memory that is not its own.

use numpy::ndarray::ArrayView1;
use numpy::{Element, PyArray1};
use pyo3::prelude::*;

/// An array over `numbers` that keeps their owner alive.
pub(crate) fn array_over<'py, T: Element>(
    numbers: &[T],
    owner: Bound<'py, PyAny>,
) -> Bound<'py, PyArray1<T>> {
    let view = ArrayView1::from(numbers);
    #[expect(
        unsafe_code,
        reason = "an array over memory that is not numpy's own is made in no other way"
    )]
    // SAFETY: both callers hand over numbers that belong to `owner`, a frozen object of Python, which as the array's
    // base lives as long as it. Of an `Archive` they are a map behind an `Arc`, which never moves, and the array is
    // made read-only before anybody has it. Of a `Memory` they are a `Vec` that nothing touches before the object is
    // dropped: who has the array may write to it, and no reference of Rust's is left.
    unsafe {
        PyArray1::borrow_from_array(&view, owner)
    }
}
