//! SMTP for newsletters: one connection for many messages, with the dialogue in two halves.
//!
//! `MAIL` and `RCPT` are answered before anything of the message leaves, so a recipient who is
//! refused is known for certain, and what a crash leaves in doubt is as little as SMTP allows: the
//! content between `DATA` and its answer.
//!
//! INVARIANT: no detail of any failure holds the password or the recipient's address.

use std::{sync::Arc, time::Duration};

use almanack_core::{
    edition::port::{Failure, FailureClass, Sent},
    newsletter::{
        bounce::{Refusal, is_about_recipient},
        port::{Email, MailServer, MailSession, Refused},
    },
    secret::Secret,
    time::Clock,
};
use async_trait::async_trait;
use lettre::{
    Address, Message,
    message::{
        Mailbox, MultiPart,
        header::{HeaderName, HeaderValue},
    },
    transport::smtp::{
        Error as SmtpError,
        authentication::{Credentials, DEFAULT_MECHANISMS},
        client::{AsyncSmtpConnection, TlsParameters},
        commands::{Data, Mail, Rcpt, Rset},
        extension::ClientId,
        response::Response,
    },
};

use crate::alert::mail::{Error, Security};

/// How newsletters are sent.
#[derive(Debug, Clone)]
pub struct SmtpSettings {
    pub host: String,
    pub port: u16,
    pub security: Security,
    /// User name and password.
    pub login: Option<(String, Secret)>,
    /// The sender: `The Daily <daily@site.example>`.
    pub from: String,
    /// Where replies go; to the sender without it.
    pub reply_to: Option<String>,
    /// The name that mail programs group the list by.
    pub list: String,
    /// How long each step of the dialogue may take.
    pub timeout: Duration,
}

/// A mail server.
pub struct SmtpServer {
    settings: SmtpSettings,
    from: Mailbox,
    reply_to: Option<Mailbox>,
    tls: Option<TlsParameters>,
    clock: Arc<dyn Clock>,
}

impl SmtpServer {
    /// Checks what can be checked without a server.
    pub fn new(settings: SmtpSettings, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let tls = match settings.security {
            Security::None => None,
            Security::Starttls | Security::Tls => {
                Some(TlsParameters::new(settings.host.clone()).map_err(Error::Tls)?)
            }
        };
        let reply_to = settings.reply_to.as_deref().map(mailbox).transpose()?;
        Ok(Self {
            from: mailbox(&settings.from)?,
            reply_to,
            tls,
            settings,
            clock,
        })
    }

    async fn open(&self) -> Result<AsyncSmtpConnection, SmtpError> {
        let SmtpSettings { host, port, .. } = &self.settings;
        let hello = ClientId::default();
        let wrapped = self
            .tls
            .clone()
            .filter(|_| self.settings.security == Security::Tls);
        let timeout = Some(self.settings.timeout);
        let server = (host.as_str(), *port);
        let mut connection =
            AsyncSmtpConnection::connect_tokio1(server, timeout, &hello, wrapped, None).await?;
        if let (Some(tls), Security::Starttls) = (&self.tls, self.settings.security) {
            connection.starttls(tls.clone(), &hello).await?;
        }
        if let Some((user, password)) = &self.settings.login {
            let login = Credentials::new(user.clone(), password.expose().to_owned());
            connection.auth(DEFAULT_MECHANISMS, &login).await?;
        }
        Ok(connection)
    }

    /// The message as it is sent.
    fn compose(&self, email: &Email) -> Result<(Address, Vec<u8>), String> {
        let to: Address = email
            .to
            .as_str()
            .parse()
            .map_err(|_| "not a mail address")?;
        let domain = self.from.email.domain();
        let mut builder = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to.clone()))
            .subject(&email.written.subject)
            .date(self.clock.now().into())
            .message_id(Some(format!("<{}@{domain}>", email.message_id)));
        if let Some(reply_to) = &self.reply_to {
            builder = builder.reply_to(reply_to.clone());
        }
        let (text, html) = (email.written.text.clone(), email.written.html.clone());
        let parts = MultiPart::alternative_plain_html(text, html);
        let mut message = builder
            .multipart(parts)
            .map_err(|error| error.to_string())?;
        let list = format!("<{}.{domain}>", self.settings.list);
        for (name, value) in headers(email, list) {
            let name = HeaderName::new_from_ascii_str(name);
            message
                .headers_mut()
                .insert_raw(HeaderValue::new(name, value));
        }
        Ok((to, message.formatted()))
    }
}

/// What mailing lists say about themselves (RFC 2369, RFC 2919, RFC 8058, RFC 3834).
fn headers(email: &Email, list: String) -> Vec<(&'static str, String)> {
    let mut headers = vec![("Auto-Submitted", "auto-generated".to_owned())];
    if let Some(url) = &email.unsubscribe_url {
        headers.push(("List-Id", list));
        headers.push(("List-Unsubscribe", format!("<{url}>")));
        let post = "List-Unsubscribe=One-Click".to_owned();
        headers.push(("List-Unsubscribe-Post", post));
    }
    headers
}

fn mailbox(address: &str) -> Result<Mailbox, Error> {
    address.parse().map_err(|error| Error::Address {
        address: address.to_owned(),
        why: format!("{error}"),
    })
}

#[async_trait]
impl MailServer for SmtpServer {
    async fn connect(&self) -> Result<Box<dyn MailSession>, Failure> {
        let opened = tokio::time::timeout(self.settings.timeout, self.open()).await;
        let connection = match opened {
            Ok(Ok(connection)) => connection,
            Ok(Err(error)) => return Err(failure(&error, None)),
            Err(_) => return Err(late()),
        };
        Ok(Box::new(Session {
            server: SmtpServer {
                settings: self.settings.clone(),
                from: self.from.clone(),
                reply_to: self.reply_to.clone(),
                tls: None,
                clock: Arc::clone(&self.clock),
            },
            connection,
            offered: Vec::new(),
            recipient: String::new(),
        }))
    }
}

struct Session {
    server: SmtpServer,
    connection: AsyncSmtpConnection,
    /// The message that was offered.
    offered: Vec<u8>,
    /// Whom it is to.
    recipient: String,
}

impl Session {
    /// Names sender and recipient.
    async fn name(&mut self, to: Address) -> Result<(), Refused> {
        let hidden = to.to_string();
        let from = Some(self.server.from.email.clone());
        let mail = Mail::new(from, Vec::new());
        let named = self.connection.command(mail).await;
        named.map_err(|error| Refused::Server(failure(&error, Some(&hidden))))?;
        let Err(error) = self.connection.command(Rcpt::new(to, Vec::new())).await else {
            return Ok(());
        };
        let refused = refused(&error, &hidden);
        if !matches!(refused, Refused::Server(_)) {
            self.withdraw().await;
        }
        Err(refused)
    }
}

#[async_trait]
impl MailSession for Session {
    async fn offer(&mut self, email: &Email) -> Result<(), Refused> {
        let composed = self.server.compose(email);
        let (to, message) = composed.map_err(|why| {
            let detail = format!("the mail could not be composed: {why}");
            Refused::Server(Failure::new(FailureClass::Refused, detail))
        })?;
        let within = self.server.settings.timeout;
        match tokio::time::timeout(within, self.name(to)).await {
            Ok(named) => named?,
            Err(_) => return Err(Refused::Server(late())),
        }
        (self.offered, self.recipient) = (message, email.to.to_string());
        Ok(())
    }

    async fn hand_over(&mut self) -> Result<Sent, Refused> {
        let message = std::mem::take(&mut self.offered);
        // Until the server says that it waits for the content, nothing of it has left.
        if let Err(error) = self.connection.command(Data).await {
            return Ok(Sent::Failed(failure(&error, Some(&self.recipient))));
        }
        let error = match self.connection.message(&message).await {
            Ok(response) => {
                let receipt = Some(received(&response));
                return Ok(Sent::Confirmed { receipt });
            }
            Err(error) => error,
        };
        match refused(&error, &self.recipient) {
            // Some servers look for the mailbox only when they have the content.
            Refused::Recipient(refusal) => Err(Refused::Recipient(refusal)),
            // An answer that says no is a no; without one, the server may have it.
            _ if error.status().is_some() => {
                Ok(Sent::Failed(failure(&error, Some(&self.recipient))))
            }
            _ => Ok(Sent::Unknown(failure(&error, Some(&self.recipient)))),
        }
    }

    async fn withdraw(&mut self) {
        self.offered.clear();
        let within = self.server.settings.timeout;
        let _ = tokio::time::timeout(within, self.connection.command(Rset)).await;
    }

    async fn quit(&mut self) {
        let within = self.server.settings.timeout;
        let _ = tokio::time::timeout(within, self.connection.abort()).await;
    }
}

fn received(response: &Response) -> String {
    let words: Vec<&str> = response.message().collect();
    format!("{} {}", response.code(), words.join(" "))
}

fn late() -> Failure {
    Failure::new(
        FailureClass::Transient,
        "the mail server did not answer in time",
    )
}

/// What a refusal means for the recipient.
fn refused(error: &SmtpError, recipient: &str) -> Refused {
    let failure = failure(error, Some(recipient));
    let code: u16 = error
        .status()
        .and_then(|code| code.to_string().parse().ok())
        .unwrap_or_default();
    let refusal = Refusal {
        is_bounce: is_about_recipient(code, &failure.detail),
        detail: failure.detail.clone(),
    };
    match (error.is_permanent(), error.is_transient()) {
        // We may not send at all.
        (true, _) if failure.class == FailureClass::Credentials => Refused::Server(failure),
        (true, _) if refusal.is_bounce => Refused::Recipient(refusal),
        (true, _) => Refused::Deferred(refusal),
        // 421: the server is closing, whoever the recipient is.
        (false, true) if code != 421 => Refused::Deferred(refusal),
        (false, _) => Refused::Server(failure),
    }
}

/// What an answer that says no means. Servers repeat the recipient in their words: it is hidden.
fn failure(error: &SmtpError, recipient: Option<&str>) -> Failure {
    let mut detail = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(why) = cause {
        let more = why.to_string();
        if !detail.contains(&more) {
            detail = format!("{detail}: {more}");
        }
        cause = why.source();
    }
    if let Some(recipient) = recipient {
        detail = detail.replace(recipient, "the address");
    }
    let code = error.status().map(|code| code.to_string());
    let class = match code.as_deref() {
        Some("530" | "534" | "535" | "538") => FailureClass::Credentials,
        _ if error.is_permanent() => FailureClass::Refused,
        _ => FailureClass::Transient,
    };
    Failure::new(class, detail)
}
