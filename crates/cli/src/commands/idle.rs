//! `almanack idle`: waits for a while, or until SIGTERM.
//!
//! The image contains only this binary, so it has no `sleep`: neither for a pod that people run
//! commands in, nor for a pod that waits before it stops.

use crate::{commands::prelude::*, process};

pub(super) fn run(arguments: &IdleArguments, output: &mut Output) -> Done {
    let duration = duration("DURATION", &arguments.duration)?;
    wait_for(async {
        let stop = process::stop_signal()?;
        output.note(&format!("idle for {}\n", arguments.duration));
        // Both ends are a success.
        let _ = tokio::time::timeout(duration.unsigned_abs(), stop.cancelled()).await;
        Ok(Exit::Ok)
    })
}
