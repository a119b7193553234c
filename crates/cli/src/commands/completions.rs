//! `almanack completions SHELL`

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::commands::prelude::*;

/// Writes the script that teaches a shell our command line.
pub(super) fn run(shell: Shell, output: &mut Output) -> Done {
    let mut script = Vec::new();
    generate(shell, &mut Arguments::command(), "almanack", &mut script);
    output.raw(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ok)
}
