//! The ports between a newsletter and the mail server, and what writes its messages.

use async_trait::async_trait;

use super::{Address, bounce::Refusal};
use crate::edition::{
    document::Document,
    port::{BadTemplate, Failure, Sent},
};

/// What is sent to one recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Email {
    pub to: Address,
    pub written: Written,
    /// The same for a repeated message, so that mail programs can show it once. Without `<>`.
    pub message_id: String,
    /// Where one POST unsubscribes (RFC 8058); none in a confirmation mail.
    pub unsubscribe_url: Option<String>,
}

/// The parts of a message, each the same content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub subject: String,
    pub html: String,
    pub text: String,
}

/// Why a recipient is not mailed now. They certainly do not have the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// This recipient, for good (5xx to `RCPT`, or to the content if it is about the recipient).
    Recipient(Refusal),
    /// This recipient, for now (4xx to `RCPT`, or 5xx for a reason that is not about them).
    Deferred(Refusal),
    /// Not the recipient but the server: it is gone, or does not take mail from us. No other
    /// recipient would be accepted either.
    Server(Failure),
}

/// A mail server.
#[async_trait]
pub trait MailServer: Send + Sync {
    /// Connects, and signs in. Bounded in time.
    async fn connect(&self) -> Result<Box<dyn MailSession>, Failure>;
}

/// A connection to a mail server. Every call is bounded in time; after a failure of the server the
/// session is of no use any more.
#[async_trait]
pub trait MailSession: Send {
    /// Names sender and recipient. Nothing of the message leaves; a caller that stops here has
    /// certainly sent nothing.
    async fn offer(&mut self, email: &Email) -> Result<(), Refused>;

    /// Hands over the message that was offered last. From here on its arrival is in doubt until
    /// the answer is there. A server may find out only now that it knows no such recipient.
    async fn hand_over(&mut self) -> Result<Sent, Refused>;

    /// Takes back what was offered.
    async fn withdraw(&mut self);

    /// Says goodbye.
    async fn quit(&mut self);
}

/// What surrounds an edition in a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Around {
    /// The reader's language, as a tag.
    pub language: String,
    /// The edition as a web page.
    pub page_url: Option<String>,
    /// The page that unsubscribes.
    pub unsubscribe_url: String,
    /// Who sends it, for people: a postal address, an imprint.
    pub footer: Option<String>,
}

/// What a confirmation mail says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// What is subscribed to.
    pub title: String,
    /// The reader's language, as a tag.
    pub language: String,
    pub confirm_url: String,
    pub footer: Option<String>,
}

/// Writes messages. Pure: the same inputs give the same bytes.
pub trait MailWriter: Send + Sync {
    fn edition(&self, document: &Document, around: &Around) -> Result<Written, BadTemplate>;
    fn confirmation(&self, confirmation: &Confirmation) -> Result<Written, BadTemplate>;
}
