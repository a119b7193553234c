//! `almanack completions SHELL`, and the manual: what packages install beside the binary.

use std::path::Path;

use clap_complete::{Shell, generate};

use crate::{args, commands::prelude::*};

/// Prints the completion script.
pub(super) fn run(shell: Shell, output: &mut Output) -> Done {
    let mut script = Vec::new();
    generate(shell, &mut args::command(), "almanack", &mut script);
    output.raw(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ok)
}

/// Writes a page for each command, as `almanack-schedule-put.1`.
pub(super) fn write_manual(folder: &Path, output: &mut Output) -> Done {
    clap_mangen::generate_to(args::command(), folder)
        .map_err(|error| Failure::failed(format!("write {}: {error}", folder.display())))?;
    output.line(&format!("wrote the manual to {}", folder.display()))?;
    Ok(Exit::Ok)
}
