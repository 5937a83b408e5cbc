//! Kills all programs at once. This test needs its own process, because no program can be started afterwards.
#![cfg(unix)]

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kyokumen_process::{ChildProcess, Fault, Wait, kill_all};

#[test]
fn all_programs_are_killed_and_none_can_be_started() {
    let never = AtomicBool::new(false);
    let wait = Wait::new(Duration::from_mins(5), &never);
    let command = ["sh", "-c", "sleep 600"].map(str::to_owned);
    let start = || ChildProcess::start(&command, |_| ()).unwrap();
    let [mut first, mut second] = [start(), start()];
    kill_all();
    for child in [&mut first, &mut second] {
        assert!(matches!(child.line(&wait), Err(Fault::Ended(_))));
    }
    assert!(ChildProcess::start(&command, |_| ()).is_err());
}
