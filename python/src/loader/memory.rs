//! Memory of batches, used again once nobody has the arrays of a batch any more: new memory for each would cost more
//! than all that is written to it, since the system clears it page by page.

use std::sync::{Arc, Mutex, PoisonError};

use half::f16;
use numpy::{Element, PyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;

use crate::arrays::array_over;

/// The numbers of a large array of a batch.
pub(super) enum Numbers {
    F32(Vec<f32>),
    F16(Vec<f16>),
    Bytes(Vec<u8>),
    Ints(Vec<i32>),
}

/// An element type of [`Numbers`].
pub(super) trait Number: Element + Copy + Default {
    fn wrap(numbers: Vec<Self>) -> Numbers;
    fn of(numbers: &Numbers) -> Option<&Vec<Self>>;
    fn unwrap(numbers: Numbers) -> Option<Vec<Self>>;
}

macro_rules! numbers {
    ($($kind:ident: $number:ty),+) => {
        $(impl Number for $number {
            fn wrap(numbers: Vec<Self>) -> Numbers {
                Numbers::$kind(numbers)
            }

            fn of(numbers: &Numbers) -> Option<&Vec<Self>> {
                if let Numbers::$kind(numbers) = numbers { Some(numbers) } else { None }
            }

            fn unwrap(numbers: Numbers) -> Option<Vec<Self>> {
                if let Numbers::$kind(numbers) = numbers { Some(numbers) } else { None }
            }
        })+
    };
}
numbers!(F32: f32, F16: f16, Bytes: u8, Ints: i32);

/// Memory to be reused by later batches.
#[derive(Default)]
pub(super) struct Pool(Mutex<Vec<Numbers>>);

/// The most arrays kept for reuse.
const MOST: usize = 64;

impl Pool {
    /// `len` numbers with unspecified values.
    pub(super) fn take<T: Number>(&self, len: usize) -> Vec<T> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |numbers: &Numbers| T::of(numbers).is_some_and(|numbers| numbers.len() == len);
        let found = waiting.iter().position(fits).map(|place| waiting.swap_remove(place));
        drop(waiting);
        found.and_then(T::unwrap).unwrap_or_else(|| vec![T::default(); len])
    }

    fn give_back(&self, numbers: Numbers) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MOST {
            waiting.push(numbers);
        }
    }
}

/// The memory of an array, which goes back to where it came from.
#[pyclass(frozen, module = "kyokumen")]
pub(super) struct Memory {
    numbers: Numbers,
    pool: Arc<Pool>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        let numbers = std::mem::replace(&mut self.numbers, Numbers::Bytes(Vec::new()));
        self.pool.give_back(numbers);
    }
}

/// An array over `numbers`, which return to the pool when it is dropped.
pub(super) fn array<'py, T: Number>(
    py: Python<'py>,
    numbers: Vec<T>,
    shape: &[usize],
    pool: &Arc<Pool>,
) -> PyResult<Bound<'py, PyAny>> {
    let memory = Memory { numbers: T::wrap(numbers), pool: Arc::clone(pool) };
    let memory = Bound::new(py, memory)?;
    let flat: Bound<'py, PyArray1<T>> = match T::of(&memory.get().numbers) {
        Some(numbers) => array_over(numbers, memory.clone().into_any()),
        None => PyArray1::zeros(py, 0, false),
    };
    let shaped: Bound<'py, PyArray<T, numpy::IxDyn>> = flat.reshape(shape.to_vec())?;
    Ok(shaped.into_any())
}
