//! `almanack idle`: does nothing for a while, or until it is told to stop.
//!
//! The image holds nothing but this binary, so it has no `sleep`: neither for a pod that people run commands in, nor for
//! a pod that waits before it stops.

use super::wait_for;
use crate::{
    args::IdleArguments,
    failure::{Exit, Failure},
    output::Output,
    process, when,
};

pub(super) fn run(arguments: &IdleArguments, output: &mut Output) -> Result<Exit, Failure> {
    let duration = when::parse_duration(&arguments.duration).map_err(|unclear| {
        Failure::new(Exit::Usage, format!("DURATION: {}", unclear.what)).hint(unclear.hint)
    })?;
    wait_for(async {
        let stop = process::stop_signal()?;
        output.note(&format!("idle for {}\n", arguments.duration));
        // Both ends are the one that was asked for.
        let _ = tokio::time::timeout(duration.unsigned_abs(), stop.cancelled()).await;
        Ok(Exit::Ok)
    })
}
