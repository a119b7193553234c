//! What a page is asked for, by its address.
//!
//! A browser sends every field of a form, filled in or not; what is empty was not asked for. Fields that a page does not
//! know are left alone: a link may be older than the page.

use axum::extract::{FromRequestParts, RawQuery};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::ui::prelude::*;

/// The query of a page.
pub(crate) struct Sought<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Sought<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let query = RawQuery::from_request_parts(parts, state).await;
        let query = query.ok().and_then(|RawQuery(query)| query);
        read(&query.unwrap_or_default()).map(Self)
    }
}

fn read<T: DeserializeOwned>(query: &str) -> Result<T> {
    let given = url::form_urlencoded::parse(query.as_bytes());
    let filled: Vec<_> = given
        .filter(|(_, value)| !value.trim().is_empty())
        .collect();
    serde_html_form::from_str(&write(
        filled.iter().map(|(name, value)| (&**name, &**value)),
    ))
    .map_err(|error| Problem::new(Code::InvalidQuery, error.to_string()))
}

pub(crate) fn write<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish()
}

/// A path with a query, or without one where there is nothing to say.
pub(crate) fn address<'a>(
    path: &str,
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> String {
    match write(pairs) {
        query if query.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// The same with those that are there.
pub(crate) fn filled<'a>(
    path: &str,
    pairs: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
) -> String {
    let given = pairs
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    address(path, given)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Query {
        kind: Option<String>,
        #[serde(default)]
        id: Vec<i64>,
    }

    #[test]
    fn what_is_empty_was_not_asked_for_and_what_is_repeated_is_a_list() {
        let query: Query = read("kind=&id=1&id=2&new=x").unwrap();
        assert_eq!(
            query,
            Query {
                kind: None,
                id: vec![1, 2]
            }
        );
        let query: Query = read("kind=%20A%20").unwrap();
        assert_eq!(query.kind.as_deref(), Some(" A "));
        assert!(read::<Query>("id=x").is_err());
    }

    #[test]
    fn an_address_is_escaped() {
        assert_eq!(address("/ui/tasks", []), "/ui/tasks");
        assert_eq!(
            address("/ui/tasks", [("q", "a&b=ü")]),
            "/ui/tasks?q=a%26b%3D%C3%BC"
        );
    }
}
