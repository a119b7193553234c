//! Mail addresses, in the one form that is kept and compared.
//!
//! No mail server that people use distinguishes the case of the part before the `@`, and someone
//! who is subscribed as `Ada@…` must not be subscribed again as `ada@…`: all of it is lower case.
//! What is accepted is what every server accepts; quoted local parts and other alphabets are not,
//! because they could not be mailed everywhere.

use crate::{
    lang::{Lang, Say},
    say,
};
use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest address, in bytes (RFC 5321).
const BYTES_MAX: usize = 254;
/// Longest part before the `@`.
const LOCAL_BYTES_MAX: usize = 64;
/// Longest label of a domain.
const LABEL_BYTES_MAX: usize = 63;

/// A mail address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(try_from = "String", into = "String")]
pub struct Address(String);

/// Why a text is no address. Never repeats it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum BadAddress {
    Shape,
    Long,
    Ascii,
}

impl Say for BadAddress {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Shape => say!(lang;
                "a mail address is written name@domain",
                "邮件地址写作 name@domain"),
            Self::Long => say!(lang;
                "a mail address has at most {BYTES_MAX} characters, {LOCAL_BYTES_MAX} before the @",
                "邮件地址最多 {BYTES_MAX} 个字符，@ 之前最多 {LOCAL_BYTES_MAX} 个"),
            Self::Ascii => say!(lang;
                "only ASCII letters are supported in a mail address; write a domain as xn--…",
                "邮件地址只支持 ASCII 字母；域名请写成 xn--… 的形式"),
        }
    }
}

impl Address {
    /// Reads an address, trimmed.
    pub fn parse(text: &str) -> Result<Self, BadAddress> {
        let text = text.trim();
        if !text.is_ascii() {
            return Err(BadAddress::Ascii);
        }
        let (local, domain) = text.split_once('@').ok_or(BadAddress::Shape)?;
        if text.len() > BYTES_MAX || local.len() > LOCAL_BYTES_MAX {
            return Err(BadAddress::Long);
        }
        if is_local(local) && is_domain(domain) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(BadAddress::Shape)
        }
    }

    /// As it is kept.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_local(local: &str) -> bool {
    let atom = |part: &str| {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&b);
        !part.is_empty() && part.bytes().all(fits)
    };
    // What begins with `=`, `+` or `-` would be a formula in a spreadsheet that opens an export.
    let first = local.bytes().next().unwrap_or_default();
    (first.is_ascii_alphanumeric() || first == b'_') && local.split('.').all(atom)
}

fn is_domain(domain: &str) -> bool {
    let label = |label: &str| {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
        (1..=LABEL_BYTES_MAX).contains(&label.len())
            && label.bytes().all(fits)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    domain.contains('.') && domain.split('.').all(label)
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Address {
    type Error = BadAddress;

    fn try_from(text: String) -> Result<Self, BadAddress> {
        Self::parse(&text)
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed_43_an_address_is_kept_in_one_form() {
        for (text, kept) in [
            (
                " Ada.Lovelace+news@Site.Example ",
                Ok("ada.lovelace+news@site.example"),
            ),
            ("a@b.co", Ok("a@b.co")),
            ("a@xn--fiqs8s.example", Ok("a@xn--fiqs8s.example")),
            ("", Err(BadAddress::Shape)),
            ("ada", Err(BadAddress::Shape)),
            ("ada@localhost", Err(BadAddress::Shape)),
            ("a@b@c.example", Err(BadAddress::Shape)),
            ("a..b@c.example", Err(BadAddress::Shape)),
            (".a@c.example", Err(BadAddress::Shape)),
            ("=1+1@c.example", Err(BadAddress::Shape)),
            ("a b@c.example", Err(BadAddress::Shape)),
            ("\"a\"@c.example", Err(BadAddress::Shape)),
            ("a@-c.example", Err(BadAddress::Shape)),
            // Would be a second header, or a second recipient.
            ("a@c.example\r\nBcc: b@c.example", Err(BadAddress::Shape)),
            ("a@c.example,b@c.example", Err(BadAddress::Shape)),
            ("ada@例子.测试", Err(BadAddress::Ascii)),
        ] {
            let read = Address::parse(text);
            assert_eq!(
                read.as_ref().map(Address::as_str),
                kept.as_ref().map(|it| *it),
                "{text}"
            );
        }
        let long = format!("{}@site.example", "a".repeat(65));
        assert_eq!(Address::parse(&long), Err(BadAddress::Long));
    }
}
