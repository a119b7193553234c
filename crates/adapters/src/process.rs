//! Child processes that end when we are done with them, with everything they started.
//!
//! A child leads a process group of its own. Killing the child alone would leave its children running,
//! holding its pipes and doing what the task no longer wants done; killing the group takes them along.
//! INVARIANT: a [`Group`] that is dropped is killed, so an attempt that is dropped (its node shuts
//! down, its lease is gone) leaves nothing behind. Who wants to outlive it must leave the group.

use std::{io, process::Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

/// A process group, killed when dropped.
pub(crate) struct Group(Option<Pid>);

impl Group {
    /// Asks everybody in it to end.
    pub(crate) fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Failing means that nobody is left. The group's number stays taken while anybody is in it, and
    /// numbers are given out in a circle, so we cannot hit somebody else.
    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.0 {
            let _ = kill_process_group(leader, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Starts a child at the head of its own group. It reads nothing from us unless the command says so.
pub(crate) fn spawn(command: &mut Command) -> io::Result<(Child, Group)> {
    let child = command.process_group(0).kill_on_drop(true).spawn()?;
    let leader = child.id().and_then(|id| i32::try_from(id).ok());
    let group = Group(leader.and_then(Pid::from_raw));
    Ok((child, group))
}

/// A command with nothing to read.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    command
}
