//! Why there is no connection, in words that say what to look at, each said once.
//!
//! The client tries again by itself for as long as it takes and tells of each try; a person wants one line when it begins and one when it
//! is over. Whoever waits for an answer meanwhile only learns that there was none, and finds the reason here.

use std::{
    collections::BTreeSet,
    error::Error as _,
    io,
    sync::{Mutex, PoisonError},
};

use async_nats::{ClientError, ConnectError, ConnectErrorKind, Event, ServerError, rustls};

/// Somebody answers who speaks something else, or hangs up: that cannot be told from nobody.
const UNREACHABLE: &str = "no server answers, or not as expected: check in [events.nats] that servers names them, tls, and tls_certificate and tls_key if they ask for a certificate";
const NOT_RECOGNISED: &str = "the server refuses who signs in: check credentials, token, or username and password in [events.nats]";
const NOT_TRUSTED: &str = "no encrypted connection comes about: check in [events.nats] tls, that tls_ca vouches for the servers, that servers has the names of their certificates, and tls_certificate and tls_key if they ask for a certificate";
const NO_FILES: &str = "no encrypted connection can be tried: check in [events.nats] that the files of tls_ca, tls_certificate and tls_key are there, can be read and are PEM";

/// The kinds that the client has words for when it tells of a try.
const KINDS: [ConnectErrorKind; 6] = [
    ConnectErrorKind::Dns,
    ConnectErrorKind::Authentication,
    ConnectErrorKind::AuthorizationViolation,
    ConnectErrorKind::TimedOut,
    ConnectErrorKind::Tls,
    ConnectErrorKind::Io,
];

/// What to look at, and the client's own reason, which names no secret: what was shown to the server is not part of it.
pub(super) fn told(error: &ConnectError) -> String {
    let words = if is_about_tls(error) {
        NOT_TRUSTED
    } else {
        words(error.kind())
    };
    match error.source() {
        Some(reason) => format!("{words} ({reason})"),
        None => words.to_owned(),
    }
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

/// What was complained about since things last went well. Each try fails anew, and each complaint is worth one line.
#[derive(Debug, Default)]
pub(super) struct Said(BTreeSet<String>);

/// More than there are ways to fail. Whoever finds others is heard.
const SAID_MAX: usize = 50;

impl Said {
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
    said: Said,
    /// Why there is no connection, as far as the client knows.
    trouble: Option<&'static str>,
}

impl Line {
    /// Why there is no connection, if that is so and known.
    pub(super) fn trouble(&self) -> Option<&'static str> {
        self.0.lock().map_or(None, |state| state.trouble)
    }

    pub(super) fn hear(&self, event: &Event) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Connected => {
                *state = State::default();
                tracing::info!(events.bus = "nats", "connected");
            }
            Event::Closed | Event::Draining => tracing::debug!(events.bus = "nats", "{event}"),
            other => {
                let trouble = trouble_of(other);
                state.trouble = trouble.or(state.trouble);
                let text = trouble.map_or_else(|| other.to_string(), str::to_owned);
                if state.said.is_new(&text) {
                    tracing::warn!(events.bus = "nats", "{text}");
                }
            }
        }
    }
}

/// Of a try that failed the client tells no more than its kind.
fn trouble_of(event: &Event) -> Option<&'static str> {
    match event {
        Event::ServerError(ServerError::AuthorizationViolation) => Some(NOT_RECOGNISED),
        Event::ClientError(ClientError::Other(text)) => {
            let kind = KINDS.into_iter().find(|kind| kind.to_string() == *text);
            kind.map(words)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(kind: ConnectErrorKind) -> Event {
        Event::ClientError(ClientError::Other(kind.to_string()))
    }

    #[test]
    fn a_try_that_failed_says_what_to_look_at() {
        let handshake = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let handshake = io::Error::new(io::ErrorKind::InvalidData, handshake);
        let missing = io::Error::from(io::ErrorKind::NotFound);
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        for (error, expected, reason) in [
            (ConnectError::from(handshake), NOT_TRUSTED, "UnknownIssuer"),
            (ConnectError::from(refused), UNREACHABLE, "refused"),
            (
                ConnectError::with_source(ConnectErrorKind::Tls, missing),
                NO_FILES,
                "not found",
            ),
            (
                ConnectError::new(ConnectErrorKind::AuthorizationViolation),
                NOT_RECOGNISED,
                "",
            ),
        ] {
            let told = told(&error);
            assert!(told.starts_with(expected), "{told}");
            assert!(told.contains(reason), "{told}");
        }
    }

    #[test]
    fn a_client_that_lost_its_server_keeps_why() {
        let line = Line::default();
        line.hear(&Event::Disconnected);
        assert_eq!(line.trouble(), None);
        for (kind, expected) in [
            (ConnectErrorKind::Io, UNREACHABLE),
            (ConnectErrorKind::TimedOut, UNREACHABLE),
            (ConnectErrorKind::AuthorizationViolation, NOT_RECOGNISED),
            (ConnectErrorKind::Tls, NO_FILES),
        ] {
            line.hear(&failed(kind));
            assert_eq!(line.trouble(), Some(expected), "{kind}");
        }
        line.hear(&Event::LameDuckMode);
        assert_eq!(line.trouble(), Some(NO_FILES), "that is another matter");
        line.hear(&Event::Connected);
        assert_eq!(line.trouble(), None);
    }

    #[test]
    fn each_complaint_is_new_once() {
        let mut said = Said::default();
        assert!(!said.forget());
        assert_eq!(
            [said.is_new("a"), said.is_new("b"), said.is_new("a")],
            [true, true, false]
        );
        assert!(said.forget());
        assert!(said.is_new("a"));
    }
}
