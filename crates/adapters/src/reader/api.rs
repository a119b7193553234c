//! A crawler behind an API: it gets an address and answers with the page's text.
//!
//! The address of the API is used exactly as configured, nothing is appended. The request is
//! `{"url": …}`, the answer `{"success": …, "markdown": …, "error": …}`.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::port::{Article, Failure, Reader},
    time::Clock,
};
use async_trait::async_trait;
use reqwest::header::ACCEPT;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{LIMITS, check, check_article};
use crate::{
    bearer::Bearer,
    http::{Client, Request},
    redact::redact,
    upstream::Upstream,
};

const CRAWLER: Upstream = Upstream::keyed("the crawler");

/// Has pages read by a crawler.
pub struct CrawlerApi {
    client: Client,
    clock: Arc<dyn Clock>,
    url: String,
    token: Option<Bearer>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    success: Value,
    markdown: Value,
    error: Value,
}

impl CrawlerApi {
    /// Asks the crawler at exactly `url`.
    pub fn new(client: Client, clock: Arc<dyn Clock>, url: String, token: Option<Bearer>) -> Self {
        Self {
            client,
            clock,
            url,
            token,
        }
    }

    fn request(&self, url: &str, budget: &Arc<Budget>) -> Request {
        let body = json!({ "url": url }).to_string().into_bytes();
        let request = Request::post_json(self.url.clone(), body)
            .header(ACCEPT, "application/json")
            .limits(LIMITS)
            .paid_by(Arc::clone(budget));
        Bearer::sign(self.token.as_ref(), request)
    }
}

#[async_trait]
impl Reader for CrawlerApi {
    async fn read(&self, url: &str, budget: &Arc<Budget>) -> Result<Article, Failure> {
        check(url)?;
        let request = self.request(url, budget);
        let response = CRAWLER.send(&self.client, request, &*self.clock).await?;
        check_article(&text_of(&response.body, url)?).map(Article::of)
    }
}

/// What a crawler found. Its words about an error are kept, without the address that they are
/// about.
fn text_of(body: &[u8], url: &str) -> Result<String, Failure> {
    // A list would pass for an object whose fields are not named.
    let object = Some(body).filter(|body| body.trim_ascii_start().starts_with(b"{"));
    let answer = object.and_then(|body| serde_json::from_slice::<Answer>(body).ok());
    let answer = answer.ok_or_else(|| CRAWLER.unusable("did not answer in the expected format"))?;
    match answer.markdown {
        Value::String(text) if answer.success == Value::Bool(true) => Ok(text),
        _ => {
            let error = answer.error.as_str().unwrap_or("it does not say why");
            let error = redact(error, &[url]);
            Err(CRAWLER.unusable(&format!("could not read the page: {}", error.trim())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed_35_a_crawler_answers_with_a_text_or_a_reason() {
        let url = "https://site.example/?key=s3cret";
        for (body, expected) in [
            (r#"{"success": true, "markdown": "x"}"#, Ok("x")),
            (
                r#"{"success": true, "markdown": "", "error": null}"#,
                Ok(""),
            ),
            (
                r#"{"success": true}"#,
                Err("the crawler could not read the page: it does not say why"),
            ),
            (
                r#"{"success": false, "markdown": "x", "error": "timeout at https://site.example/?key=s3cret"}"#,
                Err("the crawler could not read the page: timeout at ***"),
            ),
            (
                r#"{"success": "true", "markdown": "x", "error": 7}"#,
                Err("the crawler could not read the page: it does not say why"),
            ),
            (
                "[]",
                Err("the crawler did not answer in the expected format"),
            ),
            (
                "<html>",
                Err("the crawler did not answer in the expected format"),
            ),
        ] {
            let came = text_of(body.as_bytes(), url);
            let came = came.as_deref().map_err(|failure| failure.detail.as_str());
            assert_eq!(came, expected, "{body}");
        }
    }
}
