//! Process groups. A child leads its own group, so that the programs it starts end with it.

use std::io;
use std::process::{Child, Command, ExitStatus};

/// Starts a child that leads its own group. [`kill_all`] kills it.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    imp::spawn(command)
}

/// The exit status of a child that has ended. Kills what is left of its group first.
pub(crate) fn try_reap(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    imp::try_reap(child)
}

/// Kills a child that was not reaped, and its group.
pub(crate) fn kill(child: &mut Child) {
    imp::kill(child);
}

/// Kills all children of this process with their process groups, for a process that exits without dropping its
/// [`ChildProcess`](crate::ChildProcess)es. No child can be started afterwards.
///
/// Does nothing on systems without process groups. There, children end when their input ends.
pub fn kill_all() {
    imp::kill_all();
}

#[cfg(unix)]
mod imp {
    use std::collections::BTreeSet;
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, ExitStatus};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

    /// The children that were not reaped. A number in it cannot be given to another process, so the lock is held while
    /// a child is reaped and while groups are killed.
    static CHILDREN: Mutex<Children> =
        Mutex::new(Children { ids: BTreeSet::new(), is_over: false });

    struct Children {
        ids: BTreeSet<i32>,
        is_over: bool,
    }

    fn children() -> MutexGuard<'static, Children> {
        CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kill_group(id: i32) {
        if let Some(id) = Pid::from_raw(id) {
            // Fails if nothing is left of the group.
            let _: Result<(), _> = kill_process_group(id, Signal::KILL);
        }
    }

    pub(super) fn spawn(command: &mut Command) -> io::Result<Child> {
        // Locked while the child is started: otherwise `kill_all` might not know it yet.
        let mut children = children();
        if children.is_over {
            return Err(io::Error::other("this program is ending"));
        }
        let child = command.process_group(0).spawn()?;
        children.ids.insert(Pid::from_child(&child).as_raw_pid());
        drop(children);
        Ok(child)
    }

    pub(super) fn try_reap(child: &mut Child) -> io::Result<Option<ExitStatus>> {
        let id = Pid::from_child(child);
        let mut children = children();
        if children.ids.contains(&id.as_raw_pid()) {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            match waitid(WaitId::Pid(id), options) {
                Ok(None) => return Ok(None),
                Ok(Some(_)) => kill_group(id.as_raw_pid()),
                Err(error) => {
                    // The system has reaped it, as it does where SIGCHLD is ignored. Its number is free.
                    children.ids.remove(&id.as_raw_pid());
                    return Err(error.into());
                }
            }
        }
        let status = child.try_wait()?;
        if status.is_some() {
            children.ids.remove(&id.as_raw_pid());
        }
        Ok(status)
    }

    pub(super) fn kill(child: &mut Child) {
        let id = Pid::from_child(child).as_raw_pid();
        let children = children();
        if children.ids.contains(&id) {
            kill_group(id);
            // The group may be another one if the program has changed it. Fails if the process has ended.
            drop(child.kill());
        }
    }

    pub(super) fn kill_all() {
        let mut children = children();
        children.is_over = true;
        children.ids.iter().for_each(|&id| kill_group(id));
    }
}

#[cfg(not(unix))]
mod imp {
    use std::io;
    use std::process::{Child, Command, ExitStatus};

    pub(super) fn spawn(command: &mut Command) -> io::Result<Child> {
        command.spawn()
    }

    pub(super) fn try_reap(child: &mut Child) -> io::Result<Option<ExitStatus>> {
        child.try_wait()
    }

    pub(super) fn kill(child: &mut Child) {
        // Fails if the process has already ended.
        drop(child.kill());
    }

    pub(super) const fn kill_all() {}
}
