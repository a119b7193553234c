//! `almanack completions SHELL`

use clap_complete::{Shell, generate};

use crate::{args, commands::prelude::*};

/// Prints the completion script.
pub(super) fn run(shell: Shell, output: &mut Output) -> Done {
    let mut script = Vec::new();
    generate(shell, &mut args::command(), "almanack", &mut script);
    output.raw(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ok)
}
