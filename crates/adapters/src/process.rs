//! Child processes that end when we are done with them, with everything they started.
//!
//! A child leads its own process group. Killing the child alone would leave its children running,
//! holding its pipes and doing what the task no longer wants done; killing the group takes them
//! along. INVARIANT: a [`Group`] that is dropped is killed, so an attempt that is dropped (its node
//! shuts down, its lease is gone) leaves nothing behind. A process that should outlive it must
//! leave the group. With a supervisor in between ([`crate::command`]), dropping its [`Lifeline`]
//! does the same, and so does the end of this process.

use std::{io, process::Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::{Child, ChildStdin, Command};

/// A process group, killed when dropped.
pub(crate) struct Group(Option<Pid>);

impl Group {
    /// Asks every process in it to end.
    pub(crate) fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// An error means that no process is left. The group's number stays taken while a process is in
    /// it, and numbers are reused last, so no other process can be hit.
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

/// Starts a child at the head of its own group. It reads nothing from us unless the command says
/// so.
pub(crate) fn spawn(command: &mut Command) -> io::Result<(Child, Group)> {
    let child = command.process_group(0).kill_on_drop(true).spawn()?;
    let leader = child.id().and_then(|id| i32::try_from(id).ok());
    let group = Group(leader.and_then(Pid::from_raw));
    Ok((child, group))
}

/// The pipe by which a supervisor knows that it is still wanted.
pub(crate) struct Lifeline {
    supervisor: Option<Pid>,
    pipe: Option<ChildStdin>,
}

impl Lifeline {
    /// The pipe, for a caller that writes to it first and keeps it open as long.
    pub(crate) fn take_pipe(&mut self) -> Option<ChildStdin> {
        self.pipe.take()
    }
}

/// Starts a supervisor, which ends what it supervises when its lifeline ends. It must not be killed
/// with its child: it could not clear up behind it.
pub(crate) fn spawn_supervisor(command: &mut Command) -> io::Result<(Child, Lifeline)> {
    let mut child = command.stdin(Stdio::piped()).process_group(0).spawn()?;
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    let lifeline = Lifeline {
        supervisor: id.and_then(Pid::from_raw),
        pipe: child.stdin.take(),
    };
    Ok((child, lifeline))
}

/// What ends a child when it is dropped.
pub(crate) enum Leash {
    /// Every process that stayed in its group.
    Group(Group),
    Lifeline(Lifeline),
}

impl Leash {
    /// Asks the child, and its processes, to end.
    pub(crate) fn ask_to_end(&self) {
        match self {
            Self::Group(group) => group.ask_to_end(),
            Self::Lifeline(line) => {
                if let Some(supervisor) = line.supervisor {
                    let _ = kill_process(supervisor, Signal::TERM);
                }
            }
        }
    }
}

/// A command with nothing to read.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    command
}
