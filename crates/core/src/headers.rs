//! Headers that people add to a request, and whether they can be stored.
//!
//! INVARIANT: a header that carries a credential is only ever a reference to a secret (`env:NAME`,
//! `file:PATH`): what is stored is shown in the API and backed up. No refusal quotes a value: it
//! may be a secret in the wrong place.

use std::collections::BTreeMap;

use crate::{
    both,
    lang::{Say, Sentence, Words},
    secret::is_reference,
};

/// Most headers of one request.
pub const HEADERS_MAX: usize = 20;
/// Longest name of a header, in bytes.
const NAME_BYTES_MAX: usize = 100;
/// Longest value of a header, in bytes.
pub(crate) const VALUE_BYTES_MAX: usize = 1000;
pub(crate) const REFERENCE: Words = (
    "must say where the secret is kept, as env:NAME or file:PATH",
    "必须写明密钥的保存位置：env:NAME 或 file:PATH",
);
const THEMSELVES: Words = ("requests set it themselves", "请求会自行设置");

/// Headers that every request sets itself.
const OWN: [(&str, Words); 10] = [
    ("host", ("the address says it", "由地址决定")),
    ("accept-encoding", THEMSELVES),
    ("connection", THEMSELVES),
    ("content-length", THEMSELVES),
    ("keep-alive", THEMSELVES),
    ("proxy-connection", THEMSELVES),
    ("te", THEMSELVES),
    ("trailer", THEMSELVES),
    ("transfer-encoding", THEMSELVES),
    ("upgrade", THEMSELVES),
];

/// Why headers cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// Which one; none if it has no usable name, or all are meant.
    pub name: Option<String>,
    /// What is wrong, as the rest of a sentence.
    pub why: Sentence,
}

/// What some headers may not be.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Further headers that the request sets itself, with what to do instead.
    pub own: &'static [(&'static str, Words)],
    /// Whether a header of this name carries a credential.
    pub is_secret: fn(&str) -> bool,
}

/// Checks names, lengths, and that credentials are references.
pub fn check(headers: &BTreeMap<String, String>, rules: Rules) -> Result<(), Unfit> {
    let refuse = |name: Option<&str>, why: Sentence| {
        let name = name.map(str::to_owned);
        Err(Unfit { name, why })
    };
    if headers.len() > HEADERS_MAX {
        let count = headers.len();
        let why = both!(
            "has {count} headers; the limit is {HEADERS_MAX}",
            "有 {count} 个请求头；上限为 {HEADERS_MAX} 个"
        );
        return refuse(None, why);
    }
    for (index, (name, value)) in headers.iter().enumerate() {
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(is_token) {
            return refuse(
                None,
                both!("has a header with an invalid name", "含有名称无效的请求头"),
            );
        }
        let mut own = OWN.iter().chain(rules.own);
        if let Some((_, instead)) = own.find(|(own, _)| name.eq_ignore_ascii_case(own)) {
            let why = both!("cannot be set; ", "不能设置；").joined(&instead.both());
            return refuse(Some(name), why);
        }
        let mut later = headers.keys().skip(index + 1);
        if later.any(|other| other.eq_ignore_ascii_case(name)) {
            return refuse(Some(name), both!("is set twice", "设置了两次"));
        }
        if !fits_line(value) {
            let why = both!(
                "must have 1 to {VALUE_BYTES_MAX} bytes of printable ASCII",
                "必须为 1 到 {VALUE_BYTES_MAX} 字节的可打印 ASCII"
            );
            return refuse(Some(name), why);
        }
        if (rules.is_secret)(name) && reference_in(value).is_none() {
            return refuse(Some(name), REFERENCE.both());
        }
    }
    Ok(())
}

/// The reference in a value, and the word before it, if there is one: `Bearer env:TOKEN`.
pub fn reference_in(value: &str) -> Option<(&str, &str)> {
    match value.split_once(' ') {
        Some((scheme, rest)) if !scheme.is_empty() && scheme.bytes().all(is_token) => {
            is_reference(rest).then_some((scheme, rest))
        }
        _ => is_reference(value).then_some(("", value)),
    }
}

/// Whether a header's name says that its value is a credential.
pub fn names_credential(name: &str) -> bool {
    let words = [
        "authorization",
        "cookie",
        "token",
        "secret",
        "password",
        "key",
        "apikey",
        "auth",
    ];
    let mut parts = name.split(['-', '_', '.']);
    parts.any(|part| words.iter().any(|word| part.eq_ignore_ascii_case(word)))
}

fn fits_line(value: &str) -> bool {
    let printable = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    printable && !value.trim().is_empty() && value.len() <= VALUE_BYTES_MAX
}

/// A character of a header's name (RFC 9110).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_references_and_nothing_else_is_asked() {
        for (name, expected) in [
            ("Authorization", true),
            ("X-Api-Key", true),
            ("PRIVATE-TOKEN", true),
            ("X_Auth", true),
            ("Accept-Language", false),
            ("X-Keyboard", false),
            ("X-Monkey", false),
        ] {
            assert_eq!(names_credential(name), expected, "{name}");
        }
        for (value, expected) in [
            ("env:A", Some(("", "env:A"))),
            ("Bearer env:A", Some(("Bearer", "env:A"))),
            ("Bearer file:/run/a b", Some(("Bearer", "file:/run/a b"))),
            ("file:/run/a b", Some(("", "file:/run/a b"))),
            ("Bearer hunter2", None),
            ("hunter2", None),
            ("env:", None),
        ] {
            assert_eq!(reference_in(value), expected, "{value}");
        }
    }
}
