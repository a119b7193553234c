//! Query strings of pages.
//!
//! A browser sends every field of a form; empty ones count as absent. Unknown fields are ignored: a
//! link may be older than the page.

use almanack_core::lang::reader;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::ui::prelude::*;

/// A page that is requested: of which node, by whom, and with which query.
pub(crate) struct Sought<T>(pub(crate) Arc<AppState>, pub(crate) Viewer, pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<AppState>> for Sought<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<AppState>) -> Result<Self> {
        let viewer = Viewer::from_request_parts(parts, state).await?;
        let query = read(parts.uri.query().unwrap_or_default())
            .map_err(|error| Problem::in_query(reader::of_query(&error.to_string())))?;
        Ok(Self(Arc::clone(state), viewer, query))
    }
}

/// Removes empty fields: a browser sends every field.
pub(super) fn read<T: DeserializeOwned>(query: &str) -> Result<T, serde_html_form::de::Error> {
    let given = url::form_urlencoded::parse(query.as_bytes());
    let filled = given.filter(|(_, value)| !value.trim().is_empty());
    serde_html_form::from_str(&write(filled))
}

pub(super) fn write<V: AsRef<str>>(pairs: impl Iterator<Item = (V, V)>) -> String {
    let mut written = url::form_urlencoded::Serializer::new(String::new());
    written.extend_pairs(pairs).finish()
}

/// A path with a query, if there is one: pairs, or a struct whose `None` fields are omitted.
pub(crate) fn address(path: &str, query: impl Serialize) -> String {
    // Plain names and texts can always be encoded.
    match serde_html_form::to_string(query).unwrap_or_default() {
        query if query.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

pub(crate) fn pairs(query: impl Serialize) -> Vec<(String, String)> {
    let written = serde_html_form::to_string(query).unwrap_or_default();
    url::form_urlencoded::parse(written.as_bytes())
        .into_owned()
        .collect()
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
        assert_eq!(address("/ui/tasks", [(); 0]), "/ui/tasks");
        assert_eq!(
            address("/ui/tasks", [("q", "a&b=ü")]),
            "/ui/tasks?q=a%26b%3D%C3%BC"
        );
    }
}
