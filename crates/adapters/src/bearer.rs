//! Credentials that are sent to their configured origin only.

use std::fmt;

use reqwest::header::{AUTHORIZATION, HeaderValue};

use crate::http::Request;

/// A bearer token that logs and debug output do not show.
#[derive(Clone)]
pub struct Bearer(HeaderValue);

impl Bearer {
    /// Takes a token and trims it; `None` if it is empty or not a token.
    pub fn new(token: &str) -> Option<Self> {
        let token = token.trim();
        let mut value = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
        // Marked sensitive: not logged, not sent to another origin.
        value.set_sensitive(true);
        (!token.is_empty()).then_some(Self(value))
    }

    pub(crate) fn sign(bearer: Option<&Self>, mut request: Request) -> Request {
        if let Some(Self(value)) = bearer {
            request.headers.insert(AUTHORIZATION, value.clone());
        }
        request
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bearer(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_in_its_header_and_nowhere_else() {
        let bearer = Bearer::new(" t0ken\n").unwrap();
        let request = Bearer::sign(Some(&bearer), Request::get("https://site.example/"));
        assert_eq!(request.headers[AUTHORIZATION], "Bearer t0ken");
        assert_eq!(
            format!("{bearer:?} {request:?}"),
            "Bearer(***) Request(GET)"
        );
        assert!(!format!("{:?}", request.headers).contains("t0ken"));
        for nothing in ["", "  ", "a\nb"] {
            assert!(Bearer::new(nothing).is_none(), "{nothing:?}");
        }
    }
}
