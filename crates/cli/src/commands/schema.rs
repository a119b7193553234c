//! `almanack schema`: what files look like, for editors.

use crate::{commands::prelude::*, config::schema};

/// Prints the JSON Schema of the configuration.
pub(super) fn config(output: &mut Output) -> Done {
    output.line(&format!("{:#}", schema::document()))?;
    Ok(Exit::Ok)
}
