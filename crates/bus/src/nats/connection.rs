//! How a server is reached, and what subjects cover.

use std::{error::Error as _, sync::Arc, time::Duration};

use almanack_core::secret::Secret;
use async_nats::{
    ConnectErrorKind, ConnectOptions, HeaderMap,
    connection::State,
    jetstream::{
        self, ErrorCode,
        context::{PublishError, PublishErrorKind},
    },
};

use super::trouble::{LOST, Line, error_text};
use crate::{Error, Tls, batch::Refusal};

/// A server that is away takes nothing; it delivers unacknowledged messages again.
const FLUSH_WITHIN: Duration = Duration::from_secs(2);

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Connection {
    /// Servers of one cluster, `nats://host:port`.
    pub servers: Vec<String>,
    pub tls: Option<Tls>,
    pub login: Login,
}

/// Our credentials.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Login {
    #[default]
    Anonymous,
    Token(Secret),
    /// The text of a credentials file: a JWT and its key.
    Credentials(Secret),
    /// A name and a password.
    Password {
        username: String,
        password: Secret,
    },
}

/// An established connection. The client reconnects by itself, for as long as that takes.
#[derive(Clone)]
pub(crate) struct Link {
    context: jetstream::Context,
    line: Arc<Line>,
}

impl Link {
    /// The way to the server, or why there is none: the client would keep a request until it finds
    /// its server again, and the caller would wait in vain.
    pub(super) fn context(&self) -> Result<&jetstream::Context, String> {
        self.trouble().map_or(Ok(&self.context), Err)
    }

    /// Why something failed: the reason why there is no connection, if that is so, or else the
    /// given text.
    pub(super) fn describe(&self, text: String) -> String {
        self.trouble().unwrap_or(text)
    }

    /// Publishes a message; returns its number in the stream that keeps it.
    pub(super) async fn publish(
        &self,
        subject: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<u64, Refusal> {
        let said = |why: String| format!("publish to `{subject}`: {why}");
        let refusal = |error: PublishError| {
            let why = said(self.describe(error.to_string()));
            if is_too_large(&error) {
                Refusal::TooLarge(why)
            } else {
                Refusal::NotNow(why)
            }
        };
        let context = self.context().map_err(|why| Refusal::NotNow(said(why)))?;
        let sent = context.publish_with_headers(subject.to_owned(), headers, body.into());
        let confirmed = sent.await.map_err(refusal)?.await;
        Ok(confirmed.map_err(refusal)?.sequence)
    }

    /// Whether the client is looking for its server.
    pub(super) fn is_down(&self) -> bool {
        self.context.client().connection_state() != State::Connected
    }

    /// Why there is no connection, if that is so. The client's state decides: its events come
    /// later, and may get lost.
    fn trouble(&self) -> Option<String> {
        let error_text = || self.line.trouble().unwrap_or_else(|| LOST.to_owned());
        self.is_down().then(error_text)
    }

    /// Waits until everything has been sent, acknowledgements above all.
    pub(super) async fn flush(&self) {
        if self.is_down() {
            return;
        }
        let client = self.context.client();
        let flushed = tokio::time::timeout(FLUSH_WITHIN, client.flush()).await;
        if !matches!(flushed, Ok(Ok(()))) {
            tracing::debug!(events.bus = "nats", "the last acknowledgements may be lost");
        }
    }
}

impl Connection {
    /// Connects, once: the caller logs why it failed and tries again. The client alone would do
    /// neither visibly, and would never end.
    pub(crate) async fn open(&self) -> Result<Link, Error> {
        let line = Arc::new(Line::default());
        let (listening, looking) = (Arc::clone(&line), Arc::clone(&line));
        let options = self.options()?.event_callback(move |event| {
            listening.hear(&event);
            std::future::ready(())
        });
        // The callback for the next server sees the results of earlier tries. The choice stays the
        // client's own.
        let options = options.reconnect_to_server_callback(move |servers, _| {
            looking.look_back(&servers);
            std::future::ready(None)
        });
        let connected = options.connect(self.servers.clone()).await;
        let client = connected.map_err(|error| match error.kind() {
            ConnectErrorKind::ServerParse => Error::Settings {
                bus: "NATS",
                what: error.kind().to_string(),
            },
            _ => Error::Unavailable {
                what: "connect",
                why: error_text(&error),
            },
        })?;
        let context = jetstream::new(client);
        Ok(Link { context, line })
    }

    fn options(&self) -> Result<ConnectOptions, Error> {
        let options = ConnectOptions::new().name("almanack");
        // Servers name others in their first line, which is not encrypted: an attacker who changes
        // it could have us sign in anywhere.
        let mut options = options.ignore_discovered_servers();
        options = match &self.login {
            Login::Anonymous => options,
            Login::Token(token) => options.token(token.expose().to_owned()),
            Login::Password { username, password } => {
                options.user_and_password(username.clone(), password.expose().to_owned())
            }
            Login::Credentials(text) => {
                // The reason would quote the text.
                let wrong = |_| Error::Settings {
                    bus: "NATS",
                    what: "credentials are not those of a credentials file".to_owned(),
                };
                options.credentials(text.expose()).map_err(wrong)?
            }
        };
        if let Some(tls) = &self.tls {
            options = options.require_tls(true);
            if let Some(ca) = &tls.ca {
                options = options.add_root_certificates(ca.clone());
            }
            if let Some((certificate, key)) = &tls.identity {
                options = options.add_client_certificate(certificate.clone(), key.clone());
            }
        }
        Ok(options)
    }
}

/// The server bounds every message, and a stream may bound its own more tightly.
fn is_too_large(error: &PublishError) -> bool {
    let source = error.source();
    let answered = source.and_then(|source| source.downcast_ref::<jetstream::Error>());
    error.kind() == PublishErrorKind::MaxPayloadExceeded
        || answered.is_some_and(|answered| {
            answered.error_code() == ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM
        })
}

/// Whether a subject with wildcards covers another: `*` one part, `>` all that follow.
pub fn covers(pattern: &str, subject: &str) -> bool {
    let mut parts = subject.split('.');
    for wanted in pattern.split('.') {
        match (wanted, parts.next()) {
            (">", Some(_)) => return true,
            ("*", Some(_)) => {}
            (wanted, Some(part)) if wanted == part => {}
            _ => return false,
        }
    }
    parts.next().is_none()
}

#[cfg(test)]
mod tests;
