//! `almanack source …`: sources and what was learned about them.

use crate::{
    args::SourceCommand,
    failure::{Exit, Failure},
    output::Output,
};

mod replay;

/// Does what needs no database.
pub(super) fn run(command: &SourceCommand, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        SourceCommand::Replay(arguments) => replay::run(arguments, output),
    }
}
