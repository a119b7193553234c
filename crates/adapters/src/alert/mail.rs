//! Mail as a channel: SMTP with TLS from the start, or from `STARTTLS` on, or without where the
//! server is this machine.
//!
//! Each message has its own connection: alerts are few, and a connection kept for days is dead. A
//! password sent without TLS is readable on the way, so that is for loopback alone
//! ([`Security::None`]).

use std::time::Duration;

use almanack_core::{
    edition::port::{Failure, FailureClass, Sent},
    secret::Secret,
};
use jiff::Timestamp;
use lettre::{
    AsyncSmtpTransport, AsyncTransport, Tokio1Executor,
    message::{Mailbox, header::ContentType},
    transport::smtp::{
        authentication::Credentials,
        client::{Tls, TlsParameters},
        response::Response,
    },
};

use super::Message;

/// How a connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    /// `STARTTLS` before anything is received; a server that does not offer it is refused.
    Starttls,
    /// TLS from the first byte.
    Tls,
    /// No encryption: for a server on this machine.
    None,
}

impl Security {
    /// The usual port of such servers.
    pub fn port(self) -> u16 {
        match self {
            Self::Starttls => 587,
            Self::Tls => 465,
            Self::None => 25,
        }
    }
}

/// How mail is sent.
#[derive(Debug, Clone)]
pub struct MailSettings {
    pub host: String,
    pub port: u16,
    /// How the connection is encrypted.
    pub security: Security,
    /// User name and password.
    pub login: Option<(String, Secret)>,
    /// The sender: `Almanack <almanack@site.example>`.
    pub from: String,
    pub to: Vec<String>,
}

/// Why mail cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not a mail address.
    #[error("`{address}` is not a mail address: {why}")]
    Address {
        /// The address as written.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// TLS cannot be prepared.
    #[error("prepare TLS: {0}")]
    Tls(#[source] lettre::transport::smtp::Error),
}

pub(super) struct Mailer<'a> {
    settings: &'a MailSettings,
    from: Mailbox,
    to: Vec<Mailbox>,
    tls: Option<TlsParameters>,
}

/// Reads an address: `ada@site.example`, or with a name before it in `<>`.
pub fn parse_address(address: &str) -> Result<(), Error> {
    mailbox(address).map(|_| ())
}

fn mailbox(address: &str) -> Result<Mailbox, Error> {
    address.parse().map_err(|error| Error::Address {
        address: address.to_owned(),
        why: format!("{error}"),
    })
}

impl<'a> Mailer<'a> {
    /// Checks what can be checked without a server.
    pub(super) fn new(settings: &'a MailSettings) -> Result<Self, Error> {
        let tls = match settings.security {
            Security::None => None,
            Security::Starttls | Security::Tls => {
                Some(TlsParameters::new(settings.host.clone()).map_err(Error::Tls)?)
            }
        };
        let to: Result<Vec<Mailbox>, Error> = settings.to.iter().map(|to| mailbox(to)).collect();
        Ok(Self {
            from: mailbox(&settings.from)?,
            to: to?,
            tls,
            settings,
        })
    }

    pub(super) async fn send(&self, message: &Message, at: Timestamp, timeout: Duration) -> Sent {
        let mail = match self.write(message, at) {
            Ok(mail) => mail,
            Err(error) => {
                let detail = format!("the mail could not be composed: {error}");
                return Sent::Failed(Failure::new(FailureClass::Refused, detail));
            }
        };
        // The transport's own limit is for each step; this one is for all of them.
        let transport = self.transport(timeout);
        match tokio::time::timeout(timeout, transport.send(mail)).await {
            Ok(Ok(response)) => Sent::Confirmed {
                receipt: Some(received(&response)),
            },
            Ok(Err(error)) => failed(&error),
            Err(_) => {
                let detail = format!("the mail server did not answer within {timeout:?}");
                Sent::Unknown(Failure::new(FailureClass::Transient, detail))
            }
        }
    }

    fn transport(&self, timeout: Duration) -> AsyncSmtpTransport<Tokio1Executor> {
        let settings = self.settings;
        let tls = match (&self.tls, settings.security) {
            (Some(tls), Security::Starttls) => Tls::Required(tls.clone()),
            (Some(tls), Security::Tls) => Tls::Wrapper(tls.clone()),
            (None, _) | (_, Security::None) => Tls::None,
        };
        let transport =
            AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(settings.host.clone())
                .port(settings.port)
                .tls(tls)
                .timeout(Some(timeout));
        match &settings.login {
            Some((user, password)) => transport
                .credentials(Credentials::new(user.clone(), password.expose().to_owned()))
                .build(),
            None => transport.build(),
        }
    }

    fn write(
        &self,
        message: &Message,
        at: Timestamp,
    ) -> Result<lettre::Message, lettre::error::Error> {
        let mut mail = lettre::Message::builder()
            .from(self.from.clone())
            .subject(&message.title)
            .date(at.into())
            // The same for a repeated mail, so that mail programs show it once.
            .message_id(Some(format!(
                "<{}@almanack>",
                message.id.replace(['<', '>', '@', ':'], "_")
            )))
            .header(ContentType::TEXT_PLAIN);
        for to in &self.to {
            mail = mail.to(to.clone());
        }
        mail.body(message.private_text.expose().to_owned())
    }
}

fn received(response: &Response) -> String {
    let words: Vec<&str> = response.message().collect();
    format!("{} {}", response.code(), words.join(" "))
}

/// A permanent refusal is final; without an answer, the mail may have been accepted.
fn failed(error: &lettre::transport::smtp::Error) -> Sent {
    let mut detail = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(why) = cause {
        let more = why.to_string();
        if !detail.contains(&more) {
            detail = format!("{detail}: {more}");
        }
        cause = why.source();
    }
    let class = if error.is_permanent() {
        FailureClass::Refused
    } else {
        FailureClass::Transient
    };
    Sent::Failed(Failure::new(class, detail))
}
