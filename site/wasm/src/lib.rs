//! The mate solver as WebAssembly: text in, JSON out, with a plain C ABI.
//!
//! A caller writes the bytes of a request to the address that `input` returns, then calls `read`, `solve` or `all_moves`.
//! They return the length of the answer, which begins at the address that `output` returns. An answer is a JSON object. If
//! the request is refused, its only member is `error`. During a search the module calls the imported function
//! `progress` with the number of nodes searched so far.

mod read;
mod search;
mod step;

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The functions of the C ABI.
#[expect(
    unsafe_code,
    reason = "exported names must be unique in the module; these are the only ones"
)]
mod abi {
    use super::{INPUT, OUTPUT, answer, locked, read, search};

    /// The address for a request of `len` bytes. Valid until the next call of any function.
    #[unsafe(no_mangle)]
    extern "C" fn input(len: usize) -> *mut u8 {
        let mut input = locked(&INPUT);
        *input = vec![0; len];
        input.as_mut_ptr()
    }

    /// The address of the last answer.
    #[unsafe(no_mangle)]
    extern "C" fn output() -> *const u8 {
        locked(&OUTPUT).as_ptr()
    }

    /// Reads a text: the problems in it, see [`read::ProblemList`].
    #[unsafe(no_mangle)]
    extern "C" fn read() -> usize {
        answer(read::problems)
    }

    /// Solves a position, see [`search::Request`] and [`search::Solved`].
    #[unsafe(no_mangle)]
    extern "C" fn solve() -> usize {
        answer(search::solve)
    }

    /// Searches all moves on the main line, see [`search::Request`] and [`search::AllMoves`].
    #[unsafe(no_mangle)]
    extern "C" fn all_moves() -> usize {
        answer(search::all_moves)
    }

    #[cfg(target_arch = "wasm32")]
    mod imported {
        #[link(wasm_import_module = "env")]
        unsafe extern "C" {
            pub(crate) safe fn progress(nodes: f64);
        }
    }

    #[cfg(target_arch = "wasm32")]
    pub(super) use imported::progress;
}

#[cfg(target_arch = "wasm32")]
use abi::progress;

/// Other targets have nobody to report to. They only check the types.
#[cfg(not(target_arch = "wasm32"))]
const fn progress(_nodes: f64) {}

#[derive(Serialize)]
struct Refusal {
    error: String,
}

/// Puts the answer to the request in [`INPUT`] into [`OUTPUT`]. Returns its length.
fn answer<T: Serialize>(respond: impl FnOnce(&[u8]) -> Result<T, String>) -> usize {
    let request = std::mem::take(&mut *locked(&INPUT));
    let json = match respond(&request) {
        Ok(answer) => serde_json::to_vec(&answer),
        Err(error) => serde_json::to_vec(&Refusal { error }),
    };
    let mut output = locked(&OUTPUT);
    *output = json.expect("answers have only string keys");
    output.len()
}

/// A module without threads cannot poison a lock.
fn locked(bytes: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    bytes.lock().unwrap_or_else(PoisonError::into_inner)
}
