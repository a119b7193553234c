//! Where and how a task's callback is made, as far as the task itself says so.
//!
//! The same struct is what a request asks for, what a row keeps and what the API shows: a field
//! that is not set keeps what was there, and in the end means the kind's own. A row keeps the
//! address apart: most tasks set nothing else, and theirs keep nothing else.
//! Headers follow the rules of webhooks: a credential is only ever a reference to a secret that the
//! operator releases for the host that is called ([`crate::headers`]).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    headers,
    target::{Method, OWN_HEADERS},
    task::Invalid,
};

/// Longest timeout of a call, in seconds.
pub const TIMEOUT_S_MAX: u32 = 30 * 60;

/// A task's callback.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Callback {
    /// An http or https URL without user name or password. Default: the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schema(example = "https://articles.example/internal/publish")
    )]
    pub url: Option<String>,
    /// The method; GET sends no body. Default: POST.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// Seconds that a call may take. Default: the configured timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 1, maximum = 1800))]
    pub timeout_s: Option<u32>,
    /// Further headers; a value is a text or a reference to a secret that the operator releases for
    /// the host: `Bearer env:TOKEN`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<BTreeMap<String, String>>,
}

impl Callback {
    /// Whether a request with these can be made.
    pub fn check(&self) -> Result<(), Invalid> {
        if let Some(timeout_s) = self.timeout_s.filter(|s| !(1..=TIMEOUT_S_MAX).contains(s)) {
            return Err(Invalid::CallTimeout(timeout_s));
        }
        let Some(headers) = &self.headers else {
            return Ok(());
        };
        let rules = headers::Rules {
            own: &OWN_HEADERS,
            is_secret: headers::names_credential,
        };
        headers::check(headers, rules).map_err(|headers::Unfit { name, why }| {
            let name = name.map_or_else(String::new, |name| format!(".{name}"));
            Invalid::CallHeader { name, why }
        })
    }

    /// The address, and the rest if there is any.
    pub fn split(mut self) -> (Option<String>, Option<Box<Self>>) {
        let url = self.url.take();
        let options = (self != Self::default()).then(|| Box::new(self));
        (url, options)
    }

    /// What a row keeps after a request for these, of what it had.
    pub(crate) fn onto(requested: Option<&Self>, kept: Option<&Self>) -> Option<Box<Self>> {
        let Some(requested) = requested else {
            return kept.cloned().map(Box::new);
        };
        let kept = kept.cloned().unwrap_or_default();
        let both = Self {
            url: None,
            method: requested.method.or(kept.method),
            timeout_s: requested.timeout_s.or(kept.timeout_s),
            headers: requested.headers.clone().or(kept.headers),
        };
        (both != Self::default()).then(|| Box::new(both))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(json: &str) -> Callback {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn what_is_not_requested_is_kept() {
        let kept = options(r#"{"method":"PUT","headers":{"X-A":"1"}}"#);
        for (requested, after) in [
            (None, Some(kept.clone())),
            (Some("{}"), Some(kept.clone())),
            (
                Some(r#"{"timeout_s":5}"#),
                Some(Callback {
                    timeout_s: Some(5),
                    ..kept.clone()
                }),
            ),
            (
                Some(r#"{"method":"POST","headers":{}}"#),
                Some(options(r#"{"method":"POST","headers":{}}"#)),
            ),
        ] {
            let requested = requested.map(options);
            let found = Callback::onto(requested.as_ref(), Some(&kept));
            assert_eq!(found.as_deref(), after.as_ref());
        }
        assert_eq!(Callback::onto(Some(&options("{}")), None), None);
    }

    #[test]
    fn only_what_can_be_sent_is_taken() {
        for (json, problem) in [
            (r#"{"timeout_s":0}"#, "callback.timeout_s must be 1 to 1800"),
            (r#"{"timeout_s":1801}"#, "not 1801"),
            (
                r#"{"headers":{"Authorization":"Bearer hunter2"}}"#,
                "callback.headers.Authorization must say where the secret is kept",
            ),
            (r#"{"headers":{"Webhook-Id":"x"}}"#, "cannot be set"),
            (r#"{"headers":{"Connection":"close"}}"#, "cannot be set"),
            (
                r#"{"headers":{"a b":"x"}}"#,
                "callback.headers has a header",
            ),
        ] {
            let said = options(json).check().unwrap_err().to_string();
            assert!(said.contains(problem), "{json}: {said}");
            assert!(!said.contains("hunter2"), "{said}");
        }
        let fits =
            r#"{"method":"GET","timeout_s":1800,"headers":{"Authorization":"Bearer env:A"}}"#;
        assert_eq!(options(fits).check(), Ok(()));
    }
}
