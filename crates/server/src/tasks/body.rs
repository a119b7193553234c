//! The JSON that describes a task.

use almanack_core::both;
use almanack_core::callback::Callback;
use almanack_core::reschedule::{Put, Request};
use almanack_core::task::{
    Expires, Identity, Kind, Payload, Priority, Subject, Tags, parse_max_retry, parse_revision,
};
use almanack_core::{address, time};
use serde_json::value::RawValue;

use crate::Limits;
use crate::prelude::*;

const CALLBACK_BYTES_MAX: usize = 2000;

/// The task. Omitted or null fields are unchanged, or get their default.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PutBody<'a> {
    /// When to run: an RFC 3339 instant. A past time means now.
    #[schema(format = DateTime, example = "2026-01-05T08:00:00Z")]
    execute_at: String,
    /// Payload for the handler: any JSON, passed on byte for byte.
    #[serde(borrow)]
    #[schema(value_type = Option<serde_json::Value>)]
    payload: Option<&'a RawValue>,
    /// Callback. Default: the configured one.
    callback: Option<Callback>,
    /// Retries after the first attempt. Default: 3.
    #[schema(minimum = 0, maximum = 100)]
    max_retry: Option<i64>,
    /// Priority, 0 to 9; 9 runs first. Default: 5.
    #[schema(minimum = 0, maximum = 9)]
    priority: Option<i64>,
    /// When the task expires: no attempt starts from then on. Stays when the time changes.
    #[schema(value_type = Option<String>, format = DateTime, example = "2026-01-05T09:00:00Z")]
    expires_at: Option<String>,
    /// Seconds after `execute_at` at which the task expires; moves with it. 0: never. Default: the
    /// kind's `expires_after`.
    #[schema(minimum = 0, maximum = 315_360_000)]
    expires_after_s: Option<i64>,
    /// The requester's revision; an older one never overrides a newer one.
    #[schema(minimum = 1)]
    revision: Option<i64>,
    /// Tags to find it by: up to 8 of up to 64 letters, digits, `.`, `_`, `:` or `-`. An empty list
    /// removes them.
    tags: Option<Vec<String>>,
}

/// One task of a batch: the fields of a single task, and its identity.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ItemBody<'a> {
    /// Subject of the task.
    #[schema(example = "article:42")]
    subject: String,
    /// Kind of the task.
    #[schema(example = "ARTICLE_PUBLISH")]
    kind: String,
    /// When to run: an RFC 3339 instant. A past time means now.
    #[schema(format = DateTime, example = "2026-01-05T08:00:00Z")]
    execute_at: String,
    /// Payload for the handler: any JSON, passed on byte for byte.
    #[serde(borrow)]
    #[schema(value_type = Option<serde_json::Value>)]
    payload: Option<&'a RawValue>,
    /// Callback. Default: the configured one.
    callback: Option<Callback>,
    /// Retries after the first attempt. Default: 3.
    #[schema(minimum = 0, maximum = 100)]
    max_retry: Option<i64>,
    /// Priority, 0 to 9; 9 runs first. Default: 5.
    #[schema(minimum = 0, maximum = 9)]
    priority: Option<i64>,
    /// When the task expires: no attempt starts from then on. Stays when the time changes.
    #[schema(value_type = Option<String>, format = DateTime, example = "2026-01-05T09:00:00Z")]
    expires_at: Option<String>,
    /// Seconds after `execute_at` at which the task expires; moves with it. 0: never. Default: the
    /// kind's `expires_after`.
    #[schema(minimum = 0, maximum = 315_360_000)]
    expires_after_s: Option<i64>,
    /// The requester's revision; an older one never overrides a newer one.
    #[schema(minimum = 1)]
    revision: Option<i64>,
    /// Tags to find it by: up to 8 of up to 64 letters, digits, `.`, `_`, `:` or `-`. An empty list
    /// removes them.
    tags: Option<Vec<String>>,
}

impl ItemBody<'_> {
    /// The request, if every value is valid.
    pub(crate) fn into_request(self, limits: &Limits) -> Result<Request> {
        let subject = Subject::parse(&self.subject)?;
        let identity = Identity {
            subject,
            kind: Kind::parse(&self.kind)?,
        };
        // serde cannot both flatten and refuse unknown fields, hence the repeated list.
        let body = PutBody {
            execute_at: self.execute_at,
            payload: self.payload,
            callback: self.callback,
            max_retry: self.max_retry,
            priority: self.priority,
            expires_at: self.expires_at,
            expires_after_s: self.expires_after_s,
            revision: self.revision,
            tags: self.tags,
        };
        body.into_request(identity, limits)
    }
}

impl PutBody<'_> {
    /// The request for `identity`, if every value is valid.
    pub(crate) fn into_request(self, identity: Identity, limits: &Limits) -> Result<Request> {
        let payload = self
            .payload
            .map(|raw| Payload::parse(raw.get(), limits.payload_bytes));
        let callback = self.callback.unwrap_or_default();
        callback.check()?;
        let (callback_url, call_options) = callback.split();
        let expires_at = self.expires_at.as_deref();
        let expires_at = expires_at.map(|text| parse_instant(text, "expires_at"));
        let put = Put {
            identity,
            execute_at: parse_instant(&self.execute_at, "execute_at")?,
            payload: payload.transpose()?,
            callback_url,
            call_options,
            expires: Expires::parse(expires_at.transpose()?, self.expires_after_s)?,
            max_retry: self.max_retry.map(parse_max_retry).transpose()?,
            priority: self.priority.map(Priority::new).transpose()?,
            tags: self.tags.as_deref().map(Tags::parse).transpose()?,
            revision: self.revision.map(parse_revision).transpose()?,
        };
        check_callback(put.callback_url.as_deref(), "callback.url")?;
        Ok(Request::Put(put))
    }
}

/// Parses an instant. A signed year is ISO 8601, not RFC 3339, and more likely a mistake.
pub(crate) fn parse_instant(text: &str, path: &str) -> Result<Timestamp> {
    let plain = text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains('[');
    let parsed = Some(text).filter(|_| plain).map(time::parse_instant);
    parsed.and_then(Result::ok).ok_or_else(|| {
        let detail = both!("{path} must be an RFC 3339 instant with its offset and a year up to 9999, such as 2026-01-05T08:00:00Z or 2026-01-05T16:00:00+08:00", "{path} 必须是带偏移的 RFC 3339 时间，年份不超过 9999，如 2026-01-05T08:00:00Z 或 2026-01-05T16:00:00+08:00"
        );
        Problem::new(Code::InvalidTime, detail).at(path)
    })
}

/// Checks a callback URL. Credentials in it would end up in logs and histories.
pub(crate) fn check_callback(given: Option<&str>, path: &str) -> Result<()> {
    let Some(text) = given else {
        return Ok(());
    };
    let fits = text.len() <= CALLBACK_BYTES_MAX && !text.contains(|c: char| c.is_control());
    Problem::unless(fits && address::parse(text).is_ok(), path, || {
        both!(
            "{path} must be an http or https URL without user name or password, on a web port, at most {CALLBACK_BYTES_MAX} bytes long",
            "{path} 必须是不含用户名和密码的 http 或 https URL，使用网页端口，最长 {CALLBACK_BYTES_MAX} 字节"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rs_11_only_instants_that_can_be_kept_are_taken() {
        for (text, why) in [
            ("2026-01-05T08:00:00", "no offset"),
            ("2026-01-05", "a date only"),
            ("tomorrow", "words"),
            ("1767600000", "seconds"),
            ("", "nothing"),
            ("+010000-01-01T00:00:00Z", "beyond year 9999"),
            ("10000-01-01T00:00:00Z", "beyond year 9999"),
            ("-000001-01-01T00:00:00Z", "a signed year"),
            ("2026-02-30T00:00:00Z", "no such day"),
            ("2026-01-05T08:00:00+00:00[UTC]", "an annotation"),
        ] {
            assert!(parse_instant(text, "execute_at").is_err(), "{why}: {text}");
        }
        let utc = parse_instant("2026-01-05T08:00:00Z", "execute_at").unwrap();
        assert_eq!(
            parse_instant("2026-01-05T16:00:00+08:00", "execute_at").unwrap(),
            utc
        );
        assert_eq!(
            parse_instant("2026-01-05T08:00:00.0000009Z", "execute_at").unwrap(),
            utc,
            "microseconds"
        );
        assert_eq!(
            parse_instant("9999-12-31T23:59:59Z", "execute_at").unwrap(),
            time::LATEST,
            "never"
        );
    }

    #[test]
    fn rs_11_only_plain_web_addresses_are_taken() {
        let long = format!("http://a.example/{}", "x".repeat(CALLBACK_BYTES_MAX));
        for (text, why) in [
            ("ftp://a.example/", "not a web address"),
            ("javascript:alert(1)", "not a web address"),
            ("/internal/publish", "no host"),
            ("http://", "no host"),
            ("http://user@a.example/", "a user name"),
            ("http://:secret@a.example/", "a password"),
            ("http://a.example/\n", "a line break"),
            ("http://a.example:22/", "a port of another service"),
            (&long, "too long"),
        ] {
            assert!(
                check_callback(Some(text), "callback.url").is_err(),
                "{why}: {text}"
            );
        }
        for text in ["http://127.0.0.1:8081/x", "https://a.example/p?q=1"] {
            assert!(check_callback(Some(text), "callback.url").is_ok(), "{text}");
        }
        assert!(check_callback(None, "callback.url").is_ok());
    }
}
