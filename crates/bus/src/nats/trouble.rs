//! Why there is no connection, in words that say what to look at, each said once.
//!
//! The client tries again by itself for as long as it takes and tells of each try; a person wants
//! one line when it begins and one when it is over. Whoever waits for an answer meanwhile only
//! learns that there was none, and finds the reason here.
//!
//! Of a try that failed the client tells its kind at once, and its reason when it is about to try
//! again.

use std::{
    collections::BTreeSet,
    error::Error as _,
    fmt, io,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_nats::{ClientError, ConnectError, ConnectErrorKind, Event, Server, ServerError, rustls};

/// Somebody answers who speaks something else, or hangs up: that cannot be told from nobody.
const UNREACHABLE: &str = "no server answers, or not as expected: check in [events.nats] that servers names them, tls, that tls_ca vouches for them, and tls_certificate and tls_key if they ask for a certificate";
const NOT_RECOGNISED: &str = "the server refuses who signs in: check credentials, token, or username and password in [events.nats]";
const NOT_TRUSTED: &str = "no encrypted connection comes about: check in [events.nats] tls, that tls_ca vouches for the servers, that servers has the names of their certificates, and tls_certificate and tls_key if they ask for a certificate";
const NO_FILES: &str = "no encrypted connection can be tried: check in [events.nats] that the files of tls_ca, tls_certificate and tls_key are there, can be read and are PEM; where tls_ca is left out, the machine's own certificates";
/// Where nothing more is known yet.
pub(super) const LOST: &str = "the connection is lost and looked for again";

/// The kinds that the client has words for when it tells of a try.
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

/// What to look at, and the client's own reason, which names no secret: what was shown to the
/// server is not part of it.
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
pub(super) fn published(error: &ConnectError) -> String {
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

/// What was complained about since things last went well. Each try fails anew, and each complaint
/// is worth one line.
#[derive(Debug, Default)]
pub(super) struct LoggedOnce(BTreeSet<String>);

/// More than there are ways to fail. Whoever finds others is heard.
const SAID_MAX: usize = 50;

impl LoggedOnce {
    /// Whether this was not said yet; from now on it was.
    pub(super) fn is_new(&mut self, text: &str) -> bool {
        if self.0.len() >= SAID_MAX {
            self.0.clear();
        }
        self.0.insert(text.to_owned())
    }

    /// All is well. Answers whether there was anything to complain about.
    pub(super) fn forget(&mut self) -> bool {
        !std::mem::take(&mut self.0).is_empty()
    }
}

/// What one client tells of its connection.
#[derive(Debug, Default)]
pub(super) struct Line(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    said: LoggedOnce,
    /// Why there is no connection, as far as the client knows.
    trouble: Option<Trouble>,
    /// Whether there was a try since there was a connection.
    is_tried: bool,
}

impl State {
    /// One line for each thing to look at, whatever the reasons.
    fn complain(&mut self, trouble: Trouble) {
        if self.said.is_new(trouble.words) {
            tracing::warn!(events.bus = "nats", "{trouble}");
        }
        self.trouble = Some(trouble);
    }
}

impl Line {
    /// Why there is no connection, if that is so and known.
    pub(super) fn trouble(&self) -> Option<String> {
        self.state().trouble.as_ref().map(ToString::to_string)
    }

    pub(super) fn hear(&self, event: &Event) {
        let mut state = self.state();
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
                // A server whose name nobody knows is not counted as tried, and has no reason.
                Some(ConnectErrorKind::Dns) => state.complain(Trouble::of(ConnectErrorKind::Dns)),
                Some(kind) => {
                    state.trouble.get_or_insert_with(|| Trouble::of(kind));
                }
                None if state.said.is_new(&other.to_string()) => {
                    tracing::warn!(events.bus = "nats", "{other}");
                }
                None => {}
            },
        }
    }

    /// Before each try: what became of earlier ones. All of that is from before the connection was
    /// lost when it is the first.
    pub(super) fn look_back(&self, servers: &[Server]) {
        let mut state = self.state();
        if !std::mem::replace(&mut state.is_tried, true) {
            return;
        }
        let failed = servers.iter().find_map(|it| it.last_error.as_deref());
        if let Some(failed) = failed {
            state.complain(Trouble::read(failed));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As what a try failed, if that is what is told.
fn failed(event: &Event) -> Option<ConnectErrorKind> {
    let Event::ClientError(ClientError::Other(text)) = event else {
        return None;
    };
    KINDS.into_iter().find(|kind| kind.to_string() == *text)
}

#[cfg(test)]
mod tests;
