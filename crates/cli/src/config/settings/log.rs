//! `[log]`: what the process writes about itself.

use super::super::{
    key::KeyPath,
    layer::Raw,
    reader::{Reader, Show},
    value::{self, Complaint, Read},
};
use crate::suggest;

/// `[log]`
#[derive(Debug, Clone)]
pub(crate) struct Log {
    /// How a line looks.
    pub(crate) format: LogFormat,
    /// What is worth a line: a level, or levels per module.
    pub(crate) level: String,
}

/// How a line of the log looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

impl Show for LogFormat {
    fn show(&self) -> String {
        match self {
            Self::Text => "\"text\"".to_owned(),
            Self::Json => "\"json\"".to_owned(),
        }
    }
}

const LEVELS: &[&str] = &["off", "error", "warn", "info", "debug", "trace"];

impl Log {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let key = |name| KeyPath::plain("log", name);
        let formats = &[("text", LogFormat::Text), ("json", LogFormat::Json)];
        Self {
            format: reader.value(&key("format"), LogFormat::Text, value::choice(formats)),
            level: reader.value(&key("level"), "info".to_owned(), level),
        }
    }
}

/// The log's own parser takes any word for a module's name, so a misspelt level would silence
/// everything; hence our own check.
fn level(raw: &Raw) -> Read<String> {
    let text = value::text(raw)?;
    for part in text.split(',') {
        let word = part.rsplit('=').next().unwrap_or(part).trim();
        if !LEVELS.contains(&word) {
            let hint = suggest::nearest(word, LEVELS.iter().copied()).map_or_else(
                || "write error, warn, info, debug or trace, or levels per module: \"info,almanack_engine=debug\"".to_owned(),
                |near| format!("did you mean \"{near}\"?"),
            );
            return Err(Complaint::new(format!("`{word}` is not a level"), hint));
        }
    }
    Ok(text)
}
