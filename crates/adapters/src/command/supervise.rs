//! The process between a node and a command: it ends the command, and all it started, when the node
//! is gone.
//!
//! A node that is killed cannot end what it started, and a child that starts its own session is out
//! of its process group's reach. So a node starts a supervisor, which is the node's own program
//! once more, and the supervisor starts the command.
//!
//! ```text
//!   node ── pipe, held open ──► supervisor ──► command ──► whatever it starts
//! ```
//!
//! - The pipe ends with the node, however that ends: the kernel closes it. Then everything is
//!   killed. A signal at the parent's death would be sent when the *thread* that started the child
//!   ends.
//! - The supervisor adopts every descendant whose parent has died, so all of them are found below
//!   it.
//! - Asked to end (SIGTERM), it asks the command and all it started; what is left when the command
//!   has ended, or when the pipe is closed, is killed.
//! - A command that ends by itself leaves behind only what left its process group: a way to start
//!   something that lasts.

use std::{
    ffi::OsString,
    fs, io,
    io::Write,
    os::{fd::AsFd, unix::process::ExitStatusExt},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, waitpid,
};
use tokio::{
    io::AsyncReadExt,
    net::unix::pipe::Receiver,
    process::{Child, Command},
    signal::unix::{SignalKind, signal},
};

use super::feed;
use crate::clock::pause;

/// What the program is called with to be a supervisor; the command follows.
pub const SUPERVISE: &str = "--supervise-command";
/// The same for a command with something to read: its length in bytes, then the command. The bytes
/// come first through the pipe.
pub const SUPERVISE_FED: &str = "--supervise-fed-command";
/// Its exit code if the command could not be started; it then prints [`NOT_STARTED`].
const NOT_STARTED_CODE: u8 = 126;
/// What it prints then; the system's error number follows.
const NOT_STARTED: &str = "almanack could not start the command: os error ";
/// Its exit code if the node went away.
const ABANDONED_CODE: u8 = 137;
/// Rounds of killing: what forks while it is killed is found in the next.
const KILLS_MAX: u32 = 100;
/// Between two of them.
const KILL_AGAIN: Duration = Duration::from_millis(10);

/// The error of a command that a supervisor could not start.
pub(super) fn not_started(code: i32, output: &str) -> Option<io::Error> {
    let number = output.trim_end().strip_prefix(NOT_STARTED)?;
    let number = number
        .parse()
        .ok()
        .filter(|_| code == i32::from(NOT_STARTED_CODE))?;
    Some(io::Error::from_raw_os_error(number))
}

/// Runs a command until it ends, or until standard input is closed; returns the exit code.
pub fn supervise(command: impl IntoIterator<Item = OsString>) -> u8 {
    supervise_reading(command, None)
}

/// The same for a command with something to read ([`SUPERVISE_FED`]).
pub fn supervise_fed(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let mut arguments = arguments.into_iter();
    let length = arguments
        .next()
        .and_then(|length| length.into_string().ok());
    match length.and_then(|length| length.parse().ok()) {
        Some(length) => supervise_reading(arguments, Some(length)),
        None => NOT_STARTED_CODE,
    }
}

fn supervise_reading(
    command: impl IntoIterator<Item = OsString>,
    input_bytes: Option<usize>,
) -> u8 {
    let mut command = command.into_iter();
    let Some(program) = command.next() else {
        return NOT_STARTED_CODE;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let ended = runtime.and_then(|runtime| {
        let mut child = Command::new(program);
        child.args(command).stdin(Stdio::null()).process_group(0);
        runtime.block_on(run(child, input_bytes))
    });
    ended.unwrap_or_else(|error| {
        let number = error.raw_os_error().unwrap_or_default();
        let _ = writeln!(io::stderr(), "{NOT_STARTED}{number}");
        NOT_STARTED_CODE
    })
}

async fn run(mut command: Command, input_bytes: Option<usize>) -> io::Result<u8> {
    let mut node = Receiver::from_owned_fd(io::stdin().as_fd().try_clone_to_owned()?)?;
    // All of it before the command starts: from then on the pipe only says whether the node lives.
    let mut input = vec![0; input_bytes.unwrap_or_default()];
    if node.read_exact(&mut input).await.is_err() {
        return Ok(ABANDONED_CODE);
    }
    if input_bytes.is_some() {
        command.stdin(Stdio::piped());
    }
    let mut asked_to_end = signal(SignalKind::terminate())?;
    let mut child_ended = signal(SignalKind::child())?;
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(getpid()))?;
    let mut child = command.spawn()?;
    tokio::spawn(feed(child.stdin.take(), input));
    let group = child.id().and_then(|id| i32::try_from(id).ok());
    let group = group.and_then(Pid::from_raw);
    let mut was_asked = false;
    loop {
        tokio::select! {
            ended = child.wait() => return Ok(after(ended?, group, was_asked).await),
            () = closed(&mut node) => {
                kill_all().await;
                return Ok(ABANDONED_CODE);
            }
            _ = asked_to_end.recv() => {
                was_asked = true;
                signal_all(Signal::TERM);
            }
            _ = child_ended.recv() => reap(&child),
        }
    }
}

/// Nothing is ever written, so the first thing that is read is the end.
async fn closed(node: &mut Receiver) {
    let mut nothing = [0; 64];
    while node.read(&mut nothing).await.is_ok_and(|count| count > 0) {}
}

/// The command has ended: clears up behind it, and returns its exit code.
async fn after(ended: ExitStatus, group: Option<Pid>, was_asked: bool) -> u8 {
    if was_asked {
        kill_all().await;
    } else if let Some(group) = group {
        // An error means that no process is left.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let signalled = ended.signal().map(|signal| 128 + signal);
    let code = ended.code().or(signalled).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}

async fn kill_all() {
    for _ in 0..KILLS_MAX {
        if signal_all(Signal::KILL) == 0 {
            return;
        }
        pause(KILL_AGAIN).await;
    }
}

/// Signals everything below this process; returns how many there were.
fn signal_all(signal: Signal) -> usize {
    let below: Vec<Process> = descendants();
    let alive = below.iter().filter(|process| !process.is_zombie);
    alive
        .filter_map(|process| Pid::from_raw(process.id))
        .filter(|pid| kill_process(*pid, signal).is_ok())
        .count()
}

/// Reaps adopted processes that have ended; the command itself is waited for elsewhere.
fn reap(command: &Child) {
    let own = command.id().and_then(|id| i32::try_from(id).ok());
    let adopted = descendants().into_iter().filter(|process| {
        process.is_zombie && process.parent == getpid().as_raw_pid() && Some(process.id) != own
    });
    for process in adopted {
        let _ = waitpid(Pid::from_raw(process.id), WaitOptions::NOHANG);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    id: i32,
    parent: i32,
    is_zombie: bool,
}

/// Every process below this one.
fn descendants() -> Vec<Process> {
    let mut left: Vec<Process> = processes();
    let mut found = vec![getpid().as_raw_pid()];
    let mut below = Vec::new();
    while let Some(parent) = found.pop() {
        let (children, others): (Vec<_>, Vec<_>) = left
            .into_iter()
            .partition(|process| process.parent == parent);
        found.extend(children.iter().map(|child| child.id));
        below.extend(children);
        left = others;
    }
    below
}

fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let ids = names.filter_map(|name| name.parse::<i32>().ok());
    ids.filter_map(|id| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        read_stat(id, &stat)
    })
    .collect()
}

/// `4711 (a name, which may hold anything) S 1 …`: state and parent follow the last bracket.
fn read_stat(id: i32, stat: &str) -> Option<Process> {
    let (_, behind) = stat.rsplit_once(')')?;
    let mut fields = behind.split_ascii_whitespace();
    let is_zombie = matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    Some(Process {
        id,
        parent,
        is_zombie,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_name_is() {
        let process = |parent, is_zombie| {
            Some(Process {
                id: 7,
                parent,
                is_zombie,
            })
        };
        assert_eq!(read_stat(7, "7 (sleep) S 4 7 7 0"), process(4, false));
        assert_eq!(read_stat(7, "7 (a) Z 9) Z 5 7"), process(5, true));
        assert_eq!(read_stat(7, "7 (sleep"), None);
    }

    #[test]
    fn only_a_supervisor_reports_that_a_command_was_not_started() {
        let output = format!("{NOT_STARTED}2\n");
        let error = not_started(126, &output).unwrap();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(not_started(1, &output).is_none());
        assert!(not_started(126, "permission denied").is_none());
    }
}
