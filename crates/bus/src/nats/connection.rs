//! How a server is reached, and what subjects cover.

use almanack_core::secret::Secret;
use async_nats::{Client, ConnectOptions, Event};

use crate::{Error, Tls};

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Connection {
    /// Servers of one cluster, `nats://host:port`.
    pub servers: Vec<String>,
    /// Encrypted, and how.
    pub tls: Option<Tls>,
    /// Who we are.
    pub login: Login,
}

/// Who we are to a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Login {
    /// Anybody.
    #[default]
    Nobody,
    /// Whoever knows this.
    Token(Secret),
    /// The text of a credentials file: a JWT and its key.
    Credentials(Secret),
    /// A name and a password.
    Password {
        /// The name.
        username: String,
        /// The password.
        password: Secret,
    },
}

impl Connection {
    /// Connects, now or later: the client keeps trying by itself, and whatever is asked meanwhile fails and is asked again.
    pub(crate) async fn open(&self) -> Result<Client, Error> {
        let options = self.options()?;
        let connected = options.connect(self.servers.clone()).await;
        connected.map_err(|error| Error::Settings {
            bus: "NATS",
            what: error.kind().to_string(),
        })
    }

    fn options(&self) -> Result<ConnectOptions, Error> {
        let mut options = ConnectOptions::new()
            .name("almanack")
            .retry_on_initial_connect()
            .event_callback(|event| async move { say(&event) });
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

fn say(event: &Event) {
    match event {
        Event::Connected => tracing::info!(events.bus = "nats", "connected"),
        Event::Closed | Event::Draining => tracing::debug!(events.bus = "nats", "{event}"),
        other => tracing::warn!(events.bus = "nats", "{other}"),
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
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_what_the_server_would_deliver() {
        for (pattern, subject, expected) in [
            ("articles", "articles", true),
            ("articles", "articles.eu", false),
            ("articles.*", "articles.eu", true),
            ("articles.*", "articles", false),
            ("articles.*", "articles.eu.x", false),
            ("articles.>", "articles.eu.x", true),
            ("articles.>", "articles", false),
            (">", "dead-letter.x", true),
            ("*.eu", "articles.eu", true),
            ("*.eu", "articles.us", false),
        ] {
            assert_eq!(covers(pattern, subject), expected, "{pattern} {subject}");
        }
    }

    #[tokio::test]
    async fn no_secret_is_told() {
        let connection = Connection {
            servers: vec!["nats://127.0.0.1:9".to_owned()],
            tls: None,
            login: Login::Credentials(Secret::new("hunter2")),
        };
        assert!(!format!("{connection:?}").contains("hunter2"));
        let told = connection.open().await.err().map(|error| error.to_string());
        let told = told.expect("these are no credentials");
        assert!(
            !told.contains("hunter2") && told.contains("credentials"),
            "{told}"
        );
    }
}
