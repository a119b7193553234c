//! Services that read pages for others: a crawler API and a reader prefix.
//!
//! Both read the same pages and return what they found, bot checks included: "success" from a
//! service does not make its text an article.

use serde_json::{Value, json};

use super::story::Facts;
use crate::reply::Reply;

/// The crawler API's response for an address; an unknown page is an error.
pub(super) fn crawled(found: Option<&Facts>) -> Value {
    match found.map(Facts::markdown) {
        Some(Ok(markdown)) if markdown.is_empty() => json!({ "success": true }),
        Some(Ok(markdown)) => json!({ "success": true, "markdown": markdown }),
        Some(Err(status)) => {
            json!({ "success": false, "error": format!("page answered {status}") })
        }
        None => json!({ "success": false, "error": "could not resolve host" }),
    }
}

/// The reader's response for an address: always 200, always text.
pub(super) fn read(address: &str, found: Option<&Facts>) -> Reply {
    let text = match found {
        None => format!("[Reader] Error: no such host: {address}\n"),
        Some(found) => match found.markdown() {
            Ok(markdown) if markdown.is_empty() => String::new(),
            Ok(markdown) => format!(
                "Title: {}\n\nURL Source: {address}\n\nMarkdown Content:\n{markdown}",
                found.story.title
            ),
            Err(403) => format!(
                "According to its robots.txt, {address} does not allow autonomous fetching. \
                 Ask the user to open the page instead.\n"
            ),
            Err(status) => format!("[Reader] Error: {address} answered {status}\n"),
        },
    };
    Reply::new("text/plain; charset=utf-8", text)
}
