//! Reads a calendar's address: one conditional GET, to an address that may be called, of a bounded
//! body.

use almanack_core::calendar::{Copy, Fetched, Fetcher, ICAL_BYTES_MAX};
use async_trait::async_trait;
use reqwest::header::{ACCEPT, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};

use crate::http::{Client, Limits, Request};

const HOPS_MAX: usize = 5;

/// Reads over HTTP.
pub struct HttpCalendars {
    client: Client,
}

impl HttpCalendars {
    pub fn new(client: Client) -> Self {
        Self { client }
    }
}

#[async_trait]
impl Fetcher for HttpCalendars {
    async fn fetch(&self, url: &str, known: Option<&Copy>) -> Result<Fetched, String> {
        let limits = Limits {
            body_bytes: ICAL_BYTES_MAX,
            ..Limits::default()
        };
        let mut request = Request::get(url)
            .header(ACCEPT, "text/calendar, */*;q=0.1")
            .limits(limits)
            .following(HOPS_MAX);
        if let Some(etag) = known.and_then(|known| known.etag.as_deref()) {
            request = request.header(IF_NONE_MATCH, etag);
        }
        if let Some(date) = known.and_then(|known| known.last_modified.as_deref()) {
            request = request.header(IF_MODIFIED_SINCE, date);
        }
        let response = self.client.send(request).await;
        let response = response.map_err(|error| error.to_string())?;
        match response.head.status {
            304 if known.is_some() => Ok(Fetched::Unchanged),
            200..300 => {
                let header = |name| response.head.header(&name).map(str::to_owned);
                let text = String::from_utf8(response.body.clone());
                let text = text.map_err(|_| "the answer is not UTF-8 text".to_owned())?;
                Ok(Fetched::Text(Copy {
                    text,
                    etag: header(ETAG),
                    last_modified: header(LAST_MODIFIED),
                }))
            }
            status => Err(format!("HTTP {status}")),
        }
    }
}
