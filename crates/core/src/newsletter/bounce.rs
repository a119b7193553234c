//! Bounces: whether a refusal is about a recipient, and reports of those that come later (RFC 3464).
//!
//! A mail server refuses at once, or takes a message and reports later, by a mail, that it could not
//! deliver it. Both say why with a code (RFC 5321) and, mostly, an enhanced one (RFC 3463). Only what
//! is about the recipient counts against an address: a blocked sender or a full queue is ours to
//! mend, and must not empty a list of subscribers.
//!
//! A report is mail from anybody, so nothing in it is believed but which of our messages it returns.
//! The ledger decides: a message counts once, and only if it was sent.

use jiff::Timestamp;

use super::{Address, SubscriberId, mailing};
use crate::{edition::EditionId, text::shorten};

/// Longest reason that is kept.
const REASON_CHARS_MAX: usize = 300;
/// What the ids of confirmation mails begin with.
const CONFIRM: &str = "confirm";

/// An enhanced status code: class, subject, detail.
type Status = [u16; 3];

/// Whether a refusal is about the recipient, by the code of the answer and the words with it.
pub fn is_about_recipient(code: u16, words: &str) -> bool {
    match status_in(words) {
        // Undefined: the code says more.
        Some([_, 0, _]) | None => matches!(code, 450 | 550..=553),
        Some(status) => is_of_recipient(status),
    }
}

/// The address, the mailbox, or the way to its server.
fn is_of_recipient([_, subject, _]: Status) -> bool {
    matches!(subject, 1 | 2 | 4)
}

/// The first enhanced status code in a text.
fn status_in(text: &str) -> Option<Status> {
    let mut words = text.split(|c: char| c.is_whitespace() || "():;,".contains(c));
    words.find_map(|word| {
        let mut parts = word.trim_end_matches('.').split('.').map(str::parse);
        let status = [
            parts.next()?.ok()?,
            parts.next()?.ok()?,
            parts.next()?.ok()?,
        ];
        (parts.next().is_none() && matches!(status[0], 2 | 4 | 5)).then_some(status)
    })
}

/// Why a mail server did not take a message, in words without an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub detail: String,
    /// Whether it counts against the recipient.
    pub is_bounce: bool,
}

/// A message of ours, as its id names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ours {
    /// An edition to a subscriber.
    Edition(EditionId, SubscriberId),
    /// A confirmation mail that was requested then.
    Confirmation(SubscriberId, Timestamp),
}

impl Ours {
    /// The id, without `<>` and domain; `revision` is that of the document.
    pub fn message_id(self, revision: u32) -> String {
        match self {
            Self::Edition(id, to) => format!("{}.{}.{revision}.{to}", id.name, id.date),
            Self::Confirmation(to, asked) => format!("{CONFIRM}.{to}.{}", asked.as_second()),
        }
    }

    fn parse(message_id: &str) -> Option<Self> {
        let id = message_id.trim().trim_start_matches('<');
        let parts: Vec<&str> = id.split('@').next()?.split('.').collect();
        let subscriber = |text: &str| text.parse().ok().map(SubscriberId);
        match parts[..] {
            [CONFIRM, to, asked] => {
                let asked = Timestamp::from_second(asked.parse().ok()?).ok()?;
                Some(Self::Confirmation(subscriber(to)?, asked))
            }
            [name, date, _, to] => {
                let id = format!("{name}@{date}").parse().ok()?;
                Some(Self::Edition(id, subscriber(to)?))
            }
            _ => None,
        }
    }
}

/// A report that a message could not be delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The message, if the report returns enough of it.
    pub message: Option<Ours>,
    /// The address, if it is named.
    pub address: Option<Address>,
    /// Why, without the address.
    pub refusal: Refusal,
}

/// The report in a mail; `None` if it is another mail, or about no failure.
pub fn read(mail: &str) -> Option<Report> {
    let mail = mail.replace("\r\n", "\n");
    let (head, body) = mail.split_once("\n\n")?;
    let head = fields(head);
    let kind = field(&head, "content-type")?;
    let boundary = boundary(&kind)?;
    let parts: Vec<(Vec<Field>, &str)> = parts(body, &boundary).map(part).collect();
    let of = |types: [&str; 2]| {
        let found = parts.iter().find(|(head, _)| {
            let kind = field(head, "content-type").unwrap_or_default();
            types
                .iter()
                .any(|it| kind.to_ascii_lowercase().starts_with(it))
        });
        found.map(|(_, body)| *body)
    };
    let status = of(["message/delivery-status", "message/global-delivery-status"])?;
    let returned = of(["message/rfc822", "text/rfc822-headers"]).unwrap_or_default();
    let returned = fields(returned.trim_start().split("\n\n").next()?);
    let message_id = field(&returned, "message-id");
    let failed = status.split("\n\n").map(|group| fields(group.trim()));
    let failed = failed.into_iter().find(|group| {
        let action = field(group, "action").unwrap_or_default();
        action.eq_ignore_ascii_case("failed")
    })?;
    Some(Report {
        message: message_id.as_deref().and_then(Ours::parse),
        ..failed_recipient(&failed)
    })
}

/// What the fields of one recipient say.
fn failed_recipient(fields: &[Field]) -> Report {
    let named = ["original-recipient", "final-recipient"];
    let mut named = named.into_iter().filter_map(|name| {
        let value = field(fields, name)?;
        let address = value.rsplit(';').next()?.trim();
        Address::parse(address.trim_matches(['<', '>'])).ok()
    });
    let address = named.next();
    let status = field(fields, "status").unwrap_or_default();
    let said = field(fields, "diagnostic-code").unwrap_or_default();
    let said = said
        .split_once(';')
        .map_or(said.as_str(), |(_, words)| words);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = format!("{} {said}", status.trim());
    let code = said
        .split([' ', '-'])
        .next()
        .and_then(|code| code.parse().ok());
    let refusal = Refusal {
        is_bounce: is_about_recipient(code.unwrap_or_default(), &words),
        detail: without(&words, address.as_ref()),
    };
    Report {
        message: None,
        address,
        refusal,
    }
}

/// Words of others, without what looks like an address.
fn without(words: &str, address: Option<&Address>) -> String {
    let hidden = words.split(' ').map(|word| {
        let is_address = word.contains('@')
            || address.is_some_and(|it| word.to_ascii_lowercase().contains(it.as_str()));
        if is_address { "the address" } else { word }
    });
    let hidden = hidden.collect::<Vec<_>>().join(" ");
    shorten(hidden.trim(), REASON_CHARS_MAX).into_owned()
}

/// A field of a header: its name in small letters, and its value in one line.
type Field = (String, String);

fn fields(head: &str) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    for line in head.lines() {
        if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push(' ');
                value.push_str(line.trim());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    fields
}

fn field(fields: &[Field], name: &str) -> Option<String> {
    let found = fields.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.clone())
}

/// What separates the parts of a report.
fn boundary(content_type: &str) -> Option<String> {
    let lower = content_type.to_ascii_lowercase();
    if !lower.starts_with("multipart/report") {
        return None;
    }
    let at = lower.find("boundary=")? + "boundary=".len();
    let rest = content_type.get(at..)?;
    let value = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => rest.split([';', ' ']).next()?,
    };
    (!value.is_empty()).then(|| value.to_owned())
}

fn parts<'a>(body: &'a str, boundary: &str) -> impl Iterator<Item = &'a str> {
    let line = format!("\n--{boundary}");
    let mut starts: Vec<usize> = body.match_indices(&line).map(|(at, _)| at).collect();
    if body.starts_with(line.trim_start()) {
        starts.insert(0, 0);
    }
    let ends: Vec<usize> = starts.iter().skip(1).copied().collect();
    let within = move |(start, end): (usize, usize)| {
        let part = body.get(start..end)?.trim_start_matches('\n');
        part.split_once('\n').map(|(_, part)| part)
    };
    starts.into_iter().zip(ends).filter_map(within)
}

/// The header of a part, and what follows it.
fn part(text: &str) -> (Vec<Field>, &str) {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    (fields(head), body)
}

names! {
    /// What a report about a message changed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", schema(as = BounceEffect))]
    pub enum Effect {
        /// It counts against the address.
        Counted = "counted",
        /// It is about something else than the address: the ledger has it, and nothing is counted.
        Noted = "noted",
        /// Nothing: the message is known to have failed, or nobody sent it.
        None = "none",
    }
}

/// How a report is remembered in the ledger.
pub fn detail(refusal: &Refusal) -> String {
    format!("{}{}", mailing::BOUNCED_LATER, refusal.detail)
}

#[cfg(test)]
mod tests;
