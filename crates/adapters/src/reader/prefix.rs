//! A service that reads whatever address is put behind its own, like
//! `https://r.jina.ai/https://site.example/`.
//!
//! Without a key such a service answers a few times a minute, with one more often, and the two are
//! counted separately: alternating gives the sum of both.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use almanack_core::{
    budget::Budget,
    edition::port::{Article, Failure, Reader},
    time::Clock,
};
use async_trait::async_trait;
use reqwest::header::{ACCEPT, CONTENT_TYPE};

use super::{LIMITS, check, check_article};
use crate::{
    bearer::Bearer,
    feed::charset,
    http::{Client, Request},
    upstream::Upstream,
};

/// The service that the founding documents name.
pub const PREFIX: &str = "https://r.jina.ai/";
/// Redirects that are followed.
const REDIRECTS_MAX: usize = 3;
/// Separates the service's remarks about a page from the page itself.
const CONTENT: &str = "Markdown Content:";
/// How the service says that the page answered with an error.
const WARNING: &str = "Warning: Target URL returned error";
/// How much of an answer is searched for that.
const HEAD_BYTES: usize = 2000;

const SERVICE: Upstream = Upstream::keyed("the reader service");

/// Has pages read by a service.
pub struct ReaderPrefix {
    client: Client,
    clock: Arc<dyn Clock>,
    prefix: String,
    key: Option<Bearer>,
    /// Whether the key is left out every other time.
    rotates: bool,
    /// Whether the last request had the key.
    sent_key: AtomicBool,
}

impl ReaderPrefix {
    /// Asks for `prefix` followed by the page's address, with the key if there is one.
    pub fn new(client: Client, clock: Arc<dyn Clock>, prefix: String, key: Option<Bearer>) -> Self {
        Self {
            client,
            clock,
            prefix,
            key,
            rotates: false,
            sent_key: AtomicBool::new(false),
        }
    }

    /// The same, but the key is sent the first time and then every other time.
    #[must_use]
    pub fn rotating(self) -> Self {
        let rotates = true;
        Self { rotates, ..self }
    }

    fn request(&self, url: &str, budget: &Arc<Budget>) -> Request {
        let request = Request::get(format!("{}{url}", self.prefix))
            .header(ACCEPT, "text/plain")
            .limits(LIMITS)
            .following(REDIRECTS_MAX)
            .paid_by(Arc::clone(budget));
        Bearer::sign(self.next_key(), request)
    }

    fn next_key(&self) -> Option<&Bearer> {
        let left_out = self.rotates && self.sent_key.fetch_not(Ordering::Relaxed);
        self.key.as_ref().filter(|_| !left_out)
    }
}

#[async_trait]
impl Reader for ReaderPrefix {
    async fn read(&self, url: &str, budget: &Arc<Budget>) -> Result<Article, Failure> {
        check(url)?;
        let request = self.request(url, budget);
        let response = SERVICE.send(&self.client, request, &*self.clock).await?;
        let content_type = response.head.header(&CONTENT_TYPE);
        let text = charset::decode(&response.body, content_type);
        check_article(content_of(&text)?).map(Article::of)
    }
}

/// The page itself, without what the service says about it.
fn content_of(text: &str) -> Result<&str, Failure> {
    let head = &text[..text.floor_char_boundary(HEAD_BYTES)];
    let (head, content) = match head.find(CONTENT) {
        Some(at) if text.starts_with("Title:") => (&text[..at], &text[at + CONTENT.len()..]),
        _ => ("", text),
    };
    if head.contains(WARNING) {
        return Err(SERVICE.unusable("got an error from the site"));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed_35_what_a_service_says_about_a_page_is_not_the_page() {
        let about = format!("Some say {CONTENT} {WARNING}");
        let head = "Title: One\n\nURL Source: https://site.example/\n\n";
        for (text, expected, why) in [
            ("plain".to_owned(), Some("plain"), "nothing said"),
            (format!("{head}{CONTENT}\ntext"), Some("\ntext"), "a page"),
            (
                format!("{head}{WARNING} 403: Forbidden\n\n{CONTENT}\ntext"),
                None,
                "an error's page",
            ),
            (about.clone(), Some(about.as_str()), "a text about it"),
        ] {
            assert_eq!(content_of(&text).ok(), expected, "{why}");
        }
    }
}
