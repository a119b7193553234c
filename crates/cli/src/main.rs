//! The binary: arguments, configuration, wiring, printing.
//!
//! This is the only crate that reads the environment and names concrete types. `main` gathers what
//! the outside gave (environment, arguments), a command does its work through [`output::Output`],
//! and whatever went wrong becomes a sentence, a hint and an exit code in one place.

use std::{collections::BTreeMap, process::ExitCode};

use almanack_adapters::command::{SUPERVISE, SUPERVISE_FED, supervise, supervise_fed};
use clap::FromArgMatches as _;

mod args;
#[cfg(feature = "lab")]
mod bench;
#[cfg(feature = "lab")]
mod chaos;
mod client;
mod columns;
mod commands;
mod config;
mod failure;
mod log;
mod output;
mod process;
mod reload;
mod suggest;
mod supervisor;
mod telemetry;
mod when;
mod wiring;

use crate::{args::Arguments, failure::Exit, output::Output};

/// The static build is linked against musl, whose own allocator makes threads wait for each other.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Beside every command of a node; it has the command's environment, and no use for ours.
    let mut called = std::env::args_os().skip(1);
    match called.next() {
        Some(first) if first == SUPERVISE => return ExitCode::from(supervise(called)),
        Some(first) if first == SUPERVISE_FED => return ExitCode::from(supervise_fed(called)),
        _ => {}
    }
    let environment = read_environment();
    let exit = match parsed() {
        Ok(arguments) => run(&arguments, environment),
        Err(error) => {
            // Help and version arrive here too; clap knows which of the two outputs each belongs
            // to.
            let _ = error.print();
            if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Ok
            }
        }
    };
    ExitCode::from(exit.code())
}

fn parsed() -> Result<Arguments, clap::Error> {
    let mut matches = args::command().try_get_matches()?;
    Arguments::from_arg_matches_mut(&mut matches)
        .map_err(|error| error.format(&mut args::command()))
}

fn run(arguments: &Arguments, environment: BTreeMap<String, String>) -> Exit {
    let mut output = Output::standard(&arguments.global, &environment);
    let done = commands::dispatch(arguments, environment, &mut output);
    let done = done.and_then(|exit| output.flush().map(|()| exit));
    done.unwrap_or_else(|failure| {
        let _ = output.flush();
        let message = if output.json {
            format!("{}\n", failure.json())
        } else {
            failure.text()
        };
        if failure.exit() != Exit::Ok {
            output.note(&message);
        }
        failure.exit()
    })
}

/// The one place that reads the environment. A variable that is not Unicode cannot be one of ours.
#[expect(
    clippy::disallowed_methods,
    reason = "the only place that reads the environment; everything else gets a copy"
)]
fn read_environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
