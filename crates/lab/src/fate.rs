//! What becomes of an answer that is ready: sent, lost on the way, or never sent.

use std::time::Duration;

use axum::response::Response;
use tokio_util::sync::CancellationToken;

use crate::{clock, line::Cut};

/// What happens to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is sent.
    Answer,
    /// The connection is cut before its first byte.
    Cut,
    /// The caller waits until it gives up, or the server stops.
    Hang,
}

/// An answer, when it is sent and whether.
pub(crate) struct Verdict {
    pub(crate) response: Response,
    pub(crate) wait: Duration,
    pub(crate) fate: Fate,
}

impl Verdict {
    /// Carries it out; nobody waits longer than the server lives.
    pub(crate) async fn carry_out(self, stop: &CancellationToken, cut: &Cut) -> Response {
        if self.fate == Fate::Hang {
            stop.cancelled().await;
        } else if !self.wait.is_zero() {
            tokio::select! {
                () = clock::pause(self.wait) => {}
                () = stop.cancelled() => {}
            }
        }
        if self.fate != Fate::Answer {
            cut.now();
        }
        self.response
    }
}
