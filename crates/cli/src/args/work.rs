//! `almanack work`.

use std::ffi::OsString;

use clap::Args;

pub(super) const WORK_HELP: &str = "\
The program gets the task's payload as JSON on standard input, and in its
environment ALMANACK_TASK_ID, ALMANACK_TERM, ALMANACK_KIND, ALMANACK_SUBJECT,
ALMANACK_ATTEMPT, ALMANACK_EXECUTE_AT. The end of its output becomes the
attempt's detail.

Its exit code is the outcome:
  0            done
  64, 65       failed for good (EX_USAGE, EX_DATAERR)
  other, killed: tried again while retries are left (75, EX_TEMPFAIL, says so)

Kinds must have deliver = \"pull\" in the configuration.

SIGTERM: takes no more tasks, waits for running programs (--drain), gives the
rest back.";

/// What to take, and what to run.
#[derive(Debug, Args)]
pub(crate) struct WorkArguments {
    /// Kinds to take
    #[arg(required = true, value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
    /// How many programs run at once
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=1000)
    )]
    pub(crate) slots: u16,
    /// How long a task stays taken without a sign of life, 5s to 1h
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub(crate) lease: String,
    /// Name of this worker, shown where tasks run [default: host name and a random suffix]
    #[arg(long, value_name = "NAME")]
    pub(crate) worker: Option<String>,
    /// How long programs may go on after a stop was requested
    #[arg(long, value_name = "DURATION", default_value = "20s")]
    pub(crate) drain: String,
    /// Program to run for each task, and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}
