//! `almanack schema`: what files look like, for editors.

use crate::{
    config::schema,
    failure::{Exit, Failure},
    output::Output,
};

/// Prints the JSON Schema of the configuration.
pub(super) fn config(output: &mut Output) -> Result<Exit, Failure> {
    output.line(&format!("{:#}", schema::document()))?;
    Ok(Exit::Ok)
}
