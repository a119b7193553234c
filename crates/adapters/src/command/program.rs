//! A program that does a worker's task: the payload on its standard input, the task in its
//! environment.
//!
//! Unlike a schedule's command it is started by whoever runs the worker, so it inherits the worker's
//! environment and directory. The supervisor between the two ends it, with everything it started,
//! when the worker drops it or dies: the next attempt never runs beside it.

use std::{ffi::OsString, io, path::PathBuf};

use almanack_core::run_log::RunLog;
use tokio::{io::AsyncWriteExt, process::Command};

use super::{Running, SUPERVISE_FED};
use crate::process::{self, Leash};

/// A program and its arguments.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program that is called with [`SUPERVISE_FED`].
    pub supervisor: PathBuf,
    /// The program itself, then its arguments.
    pub argv: Vec<OsString>,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramEnd {
    /// Its exit code; 128 and the signal, if one ended it; `None` if it is unknown.
    pub code: Option<i32>,
    /// That in words, and the end of its output.
    pub detail: String,
}

impl Program {
    /// Runs it once. An error says that it could not be started at all. Dropping the future ends the
    /// program.
    pub async fn run(
        &self,
        variables: impl IntoIterator<Item = (&'static str, String)>,
        input: &[u8],
        log: Box<dyn RunLog>,
    ) -> io::Result<ProgramEnd> {
        let mut command = Command::new(&self.supervisor);
        command.arg(SUPERVISE_FED).arg(input.len().to_string());
        command.args(&self.argv).envs(variables);
        let mut pipe = None;
        let mut running = Running::start(command, log, |command| {
            let (child, mut line) = process::spawn_supervisor(command)?;
            pipe = line.take_pipe();
            Ok((child, Leash::Lifeline(line)))
        })?;
        // Held open to the end: the supervisor would end the program with it.
        let feeding = async {
            if let Some(pipe) = &mut pipe {
                let _ = pipe.write_all(input).await;
            }
            std::future::pending::<io::Result<_>>().await
        };
        let status = tokio::select! {
            status = running.end() => status,
            never = feeding => never,
        };
        let tail = running.finish().await;
        let code = status
            .as_ref()
            .ok()
            .and_then(std::process::ExitStatus::code);
        if let Some(error) = code.and_then(|code| tail.not_started(code)) {
            return Err(error);
        }
        let what = match code {
            Some(code) => format!("exit code {code}"),
            None => "its exit status is unknown".to_owned(),
        };
        let detail = tail.after(&what);
        Ok(ProgramEnd { code, detail })
    }
}
