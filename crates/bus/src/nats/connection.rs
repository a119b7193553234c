//! How a server is reached, and what subjects cover.

use std::{sync::Arc, time::Duration};

use almanack_core::secret::Secret;
use async_nats::{ConnectErrorKind, ConnectOptions, connection::State, jetstream};

use super::trouble::{LOST, Line, published};
use crate::{Error, Tls};

/// A server that is away does not take anything; what it was not told it delivers again.
const FLUSH_WITHIN: Duration = Duration::from_secs(2);

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Connection {
    /// Servers of one cluster, `nats://host:port`.
    pub servers: Vec<String>,
    pub tls: Option<Tls>,
    pub login: Login,
}

/// Who we are to a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Login {
    #[default]
    Nobody,
    Token(Secret),
    /// The text of a credentials file: a JWT and its key.
    Credentials(Secret),
    /// A name and a password.
    Password {
        username: String,
        password: Secret,
    },
}

/// A connection that came about. From then on the client finds its server again by itself, for as
/// long as that takes.
#[derive(Clone)]
pub(crate) struct Link {
    context: jetstream::Context,
    line: Arc<Line>,
}

impl Link {
    /// The way to the server, or why there is none: the client would keep a question until it finds
    /// its server again, and whoever asks would wait in vain.
    pub(super) fn context(&self) -> Result<&jetstream::Context, String> {
        self.trouble().map_or(Ok(&self.context), Err)
    }

    /// Why something failed: the reason why there is no connection, if that is so, or else what was
    /// said.
    pub(super) fn published(&self, said: String) -> String {
        self.trouble().unwrap_or(said)
    }

    /// Whether the client is looking for its server.
    pub(super) fn is_down(&self) -> bool {
        self.context.client().connection_state() != State::Connected
    }

    /// Why there is no connection, if that is so. The client's state decides: what it tells comes
    /// later, and may get lost on the way.
    fn trouble(&self) -> Option<String> {
        let published = || self.line.trouble().unwrap_or_else(|| LOST.to_owned());
        self.is_down().then(published)
    }

    /// Waits until all that was said has been sent, acknowledgements above all.
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
    /// Connects, once: whoever asks says why it failed and asks again. The client itself would keep
    /// both to itself, and go on for ever after nobody wants it any more.
    pub(crate) async fn open(&self) -> Result<Link, Error> {
        let line = Arc::new(Line::default());
        let (listening, looking) = (Arc::clone(&line), Arc::clone(&line));
        let options = self.options()?.event_callback(move |event| {
            listening.hear(&event);
            std::future::ready(())
        });
        // Asked where to try next, it is told what became of the tries before. The choice stays the
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
                why: published(&error),
            },
        })?;
        let context = jetstream::new(client);
        Ok(Link { context, line })
    }

    fn options(&self) -> Result<ConnectOptions, Error> {
        let options = ConnectOptions::new().name("almanack");
        // Servers name others in their first line, which is not encrypted: whoever can change it
        // would have us sign in where he likes.
        let mut options = options.ignore_discovered_servers();
        options = match &self.login {
            Login::Nobody => options,
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
