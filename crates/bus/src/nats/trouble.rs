//! Why there is no connection, in words that say what to check, each logged once.
//!
//! The client tries again by itself for as long as it takes and reports each try; an operator wants
//! one line when it begins and one when it is over. A caller that waits for an answer meanwhile
//! only learns that there was none, and finds the reason here.
//!
//! The client reports the kind of a failed try at once, and its reason before the next try.

use std::{error::Error as _, fmt, io, sync::Mutex};

use almanack_core::locked;

use async_nats::{ClientError, ConnectError, ConnectErrorKind, Event, Server, ServerError, rustls};

use crate::logged::LoggedOnce;

/// A peer that speaks another protocol, or hangs up, looks like no peer.
const UNREACHABLE: &str = "no server answers, or not as expected: in [events.nats], check servers, tls, that tls_ca signed the servers' certificates, and tls_certificate and tls_key if the servers require a certificate";
const NOT_RECOGNISED: &str = "the server refuses the login: check credentials, token, or username and password in [events.nats]";
const NOT_TRUSTED: &str = "no encrypted connection: in [events.nats], check tls, that tls_ca signed the servers' certificates, that servers has the names in their certificates, and tls_certificate and tls_key if the servers require a certificate";
const NO_FILES: &str = "cannot try an encrypted connection: in [events.nats], check that the files of tls_ca, tls_certificate and tls_key exist, are readable and are PEM; without tls_ca, check the machine's own certificates";
/// Where nothing more is known yet.
pub(super) const LOST: &str = "the connection is lost; reconnecting";

/// The kinds that the client names when it reports a try.
const KINDS: [ConnectErrorKind; 6] = [
    ConnectErrorKind::Dns,
    ConnectErrorKind::Authentication,
    ConnectErrorKind::AuthorizationViolation,
    ConnectErrorKind::TimedOut,
    ConnectErrorKind::Tls,
    ConnectErrorKind::Io,
];

/// How the reasons of handshakes that fail begin, where they are there as a text only.
const HANDSHAKE: [&str; 5] = [
    "invalid peer certificate",
    "received fatal alert",
    "received corrupt message",
    "peer is incompatible",
    "peer misbehaved",
];

/// What to check, and the client's own reason, which contains no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Trouble {
    words: &'static str,
    reason: Option<String>,
}

impl Trouble {
    fn of(kind: ConnectErrorKind) -> Self {
        Self {
            words: words(kind),
            reason: None,
        }
    }

    /// Of an error that was written down: its kind, a colon and its reason.
    fn read(text: &str) -> Self {
        let mut kinds = KINDS.into_iter();
        let found = kinds.find_map(|kind| Some((kind, text.strip_prefix(&kind.to_string())?)));
        let Some((kind, rest)) = found else {
            return Self {
                words: UNREACHABLE,
                reason: Some(text.to_owned()),
            };
        };
        let reason = rest.strip_prefix(": ");
        let is_handshake = |reason: &str| HANDSHAKE.iter().any(|it| reason.starts_with(it));
        let words = if reason.is_some_and(is_handshake) {
            NOT_TRUSTED
        } else {
            words(kind)
        };
        Self {
            words,
            reason: reason.map(str::to_owned),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words)?;
        match &self.reason {
            Some(reason) => write!(f, " ({reason})"),
            None => Ok(()),
        }
    }
}

/// Why a connection did not come about.
pub(super) fn error_text(error: &ConnectError) -> String {
    let words = if is_about_tls(error) {
        NOT_TRUSTED
    } else {
        words(error.kind())
    };
    let reason = error.source().map(ToString::to_string);
    Trouble { words, reason }.to_string()
}

fn words(kind: ConnectErrorKind) -> &'static str {
    match kind {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            NOT_RECOGNISED
        }
        // Before anything was sent: handshakes that fail count as input and output.
        ConnectErrorKind::Tls => NO_FILES,
        _ => UNREACHABLE,
    }
}

fn is_about_tls(error: &ConnectError) -> bool {
    let reason = error.source().and_then(|it| it.downcast_ref::<io::Error>());
    let reason = reason.and_then(io::Error::get_ref);
    reason.is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>)
}

/// What one client reports about its connection.
#[derive(Debug, Default)]
pub(super) struct Line(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    logged: LoggedOnce,
    /// Why there is no connection, as far as the client knows.
    trouble: Option<Trouble>,
    /// Whether there was a try since there was a connection.
    is_tried: bool,
}

impl State {
    /// One line for each thing to check, whatever the reasons.
    fn complain(&mut self, trouble: Trouble) {
        if self.logged.is_new(trouble.words) {
            tracing::warn!(events.bus = "nats", "{trouble}");
        }
        self.trouble = Some(trouble);
    }
}

impl Line {
    /// Why there is no connection, if that is so and known.
    pub(super) fn trouble(&self) -> Option<String> {
        locked(&self.0).trouble.as_ref().map(ToString::to_string)
    }

    pub(super) fn hear(&self, event: &Event) {
        let mut state = locked(&self.0);
        match event {
            Event::Connected => {
                *state = State::default();
                tracing::info!(events.bus = "nats", "connected");
            }
            Event::Closed | Event::Draining => tracing::debug!(events.bus = "nats", "{event}"),
            Event::ServerError(ServerError::AuthorizationViolation) => {
                state.complain(Trouble::of(ConnectErrorKind::AuthorizationViolation));
            }
            other => match failed(other) {
                // A server whose name does not resolve is not counted as tried, and has no reason.
                Some(ConnectErrorKind::Dns) => state.complain(Trouble::of(ConnectErrorKind::Dns)),
                Some(kind) => {
                    state.trouble.get_or_insert_with(|| Trouble::of(kind));
                }
                None if state.logged.is_new(&other.to_string()) => {
                    tracing::warn!(events.bus = "nats", "{other}");
                }
                None => {}
            },
        }
    }

    /// Before each try: what became of earlier ones. All of that is from before the connection was
    /// lost when it is the first.
    pub(super) fn look_back(&self, servers: &[Server]) {
        let mut state = locked(&self.0);
        if !std::mem::replace(&mut state.is_tried, true) {
            return;
        }
        let failed = servers.iter().find_map(|it| it.last_error.as_deref());
        if let Some(failed) = failed {
            state.complain(Trouble::read(failed));
        }
    }
}

/// The kind of a failed try, if the event is about one.
fn failed(event: &Event) -> Option<ConnectErrorKind> {
    let Event::ClientError(ClientError::Other(text)) = event else {
        return None;
    };
    KINDS.into_iter().find(|kind| kind.to_string() == *text)
}

#[cfg(test)]
mod tests;
