//! The terminal: editions are printed instead of published, to try things out.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use almanack_core::{
    budget::Budget,
    edition::{
        delivery::{OnRevision, OnUnknown},
        port::{Failure, FailureClass, Message, Publisher, Sent},
    },
};
use async_trait::async_trait;

use crate::locked;

/// Around the title and the end.
const RULE: &str = "======================================";

pub struct TerminalPublisher {
    destination: String,
    out: Mutex<Box<dyn Write + Send>>,
}

impl TerminalPublisher {
    /// Prints to `out`, as the destination of this name.
    pub fn new(destination: &str, out: Box<dyn Write + Send>) -> Self {
        Self {
            destination: destination.to_owned(),
            out: Mutex::new(out),
        }
    }

    /// All at once, so that no other output comes in between.
    fn print(&self, text: &str) -> io::Result<()> {
        let mut out = locked(&self.out);
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

#[async_trait]
impl Publisher for TerminalPublisher {
    fn destination(&self) -> &str {
        &self.destination
    }

    /// A repetition in a terminal is harmless.
    fn on_unknown(&self) -> OnUnknown {
        OnUnknown::Repeat
    }

    fn on_revision(&self) -> OnRevision {
        OnRevision::Replace
    }

    fn requests_per_part(&self) -> u32 {
        0
    }

    async fn send(&self, message: &Message<'_>, _: &Arc<Budget>) -> Sent {
        match self.print(&page(message)) {
            Ok(()) => Sent::Confirmed { receipt: None },
            Err(error) => {
                let detail = format!("could not print: {error}");
                Sent::Failed(Failure::new(FailureClass::Transient, detail))
            }
        }
    }
}

fn page(message: &Message<'_>) -> String {
    let inputs = &message.document.inputs;
    let (title, date) = (&inputs.title, inputs.date);
    let body = message.body.trim_end_matches('\n');
    let count = inputs.stories.len();
    format!(
        "{RULE}\n{title} - {date}\n{RULE}\n\n{body}\n\n{RULE}\nExport completed: {count} stories\n{RULE}\n"
    )
}
