//! Turns panics, for instance of libraries, into errors. The message goes into the error, not to standard error.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// The message and location of a caught panic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CaughtPanic(String);

thread_local! {
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
    /// The message of the last caught panic.
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Calls a function and returns its panic as an error.
pub(crate) fn catch<T>(call: impl FnOnce() -> T) -> Result<T, CaughtPanic> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous_hook = take_hook();
        set_hook(Box::new(
            move |panic| if IS_CAUGHT.get() { keep(panic) } else { previous_hook(panic) },
        ));
    });
    let was_caught = IS_CAUGHT.replace(true);
    let called = catch_unwind(AssertUnwindSafe(call));
    IS_CAUGHT.set(was_caught);
    called.map_err(|panic| match panic.downcast::<CaughtPanic>() {
        Ok(from_another_thread) => *from_another_thread,
        Err(_) => CaughtPanic(MESSAGE.take()),
    })
}

fn keep(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or("a panic without a message");
    let place = panic.location().map(|place| format!(" ({place})")).unwrap_or_default();
    MESSAGE.set(format!("{message}{place}"));
}

impl fmt::Display for CaughtPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::resume_unwind;

    use super::*;

    #[test]
    fn a_caught_panic_has_its_message_and_location() {
        assert_eq!(catch(|| 1), Ok(1));
        let place = |line: u32| format!("({}:{line}:", file!());
        let first = line!() + 1;
        let message = catch(|| -> () { panic!("no {}", 7) }).unwrap_err().to_string();
        assert!(message.starts_with("no 7 ") && message.contains(&place(first)), "{message}");
        let outer = catch(|| catch(|| -> () { panic!("inner") }).map_err(|_| panic!("outer")));
        assert!(outer.unwrap_err().to_string().starts_with("outer "));
        assert!(!IS_CAUGHT.get());
    }

    #[test]
    fn a_panic_of_another_thread_is_passed_on() {
        let elsewhere = std::thread::spawn(|| catch(|| -> () { panic!("elsewhere") }).unwrap_err());
        let elsewhere = elsewhere.join().unwrap();
        let here = catch(|| -> () { resume_unwind(Box::new(elsewhere.clone())) });
        assert_eq!(here, Err(elsewhere));
    }
}
