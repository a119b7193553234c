//! A local program as a channel, for services without a channel here.
//!
//! Only the node's own configuration can name the program; schedules and API clients cannot. It is
//! an argument vector, never a line for a shell. It gets a clean environment with the first alert
//! in variables, all of them as JSON to read, and a time after which it and everything it started
//! is stopped. Exit code 0 says that it took them.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use almanack_core::{
    edition::port::{Failure, FailureClass, Sent},
    finish::Outcome,
};

use super::Message;
use crate::{command, process};

/// How long a program that ran out of time may take to end by itself.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// A program and how to run it.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program by its full path, and its arguments.
    pub argv: Vec<String>,
    /// What it finds in its environment besides the alert; see [`command::environment`].
    pub environment: BTreeMap<String, String>,
    pub directory: PathBuf,
    /// How long it may run.
    pub timeout: Duration,
}

impl Program {
    pub(super) async fn run(&self, message: &Message) -> Sent {
        let Some((program, arguments)) = self.argv.split_first() else {
            return Sent::Failed(Failure::new(FailureClass::Refused, "the command is empty"));
        };
        let mut command = process::command(program);
        command
            .args(arguments)
            .env_clear()
            .envs(&self.environment)
            .envs(message.facts.iter().map(|(name, value)| (name, value)))
            .env("ALMANACK_ALERT_TITLE", plain(&message.title))
            .env("ALMANACK_ALERT_TEXT", plain(&message.text))
            .current_dir(&self.directory);
        let mut input = message.body.to_string().into_bytes();
        input.push(b'\n');
        match command::run(command, Some(input), self.timeout, STOP_GRACE).await {
            Outcome::Done { detail } => Sent::Confirmed { receipt: detail },
            Outcome::GiveUp { error } => Sent::Failed(Failure::new(FailureClass::Refused, error)),
            Outcome::Retry { error, .. } => {
                Sent::Unknown(Failure::new(FailureClass::Transient, error))
            }
            // Only runners return these.
            _ => Sent::Unknown(Failure::new(
                FailureClass::Unusable,
                "the program's exit status is unknown",
            )),
        }
    }
}

/// An environment variable cannot hold every character.
fn plain(text: &str) -> String {
    text.replace('\0', "")
}
