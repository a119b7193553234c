//! Calls about firings, over HTTP: a GET of an address that knows its own meaning (Healthchecks,
//! Uptime Kuma, Almanack itself).
//!
//! Whoever knows the address can speak for the job, so no outcome, error or log line holds it.

use std::{sync::Arc, time::Duration};

use almanack_core::{
    event::outgoing::judge,
    finish::Outcome,
    plan::pings::{Part, PingSender, split},
    secret::Secrets,
    time::Clock,
};
use async_trait::async_trait;
use reqwest::header::RETRY_AFTER;
use url::Url;

use crate::http::{Client, Limits, Request};

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The body of the answer does not matter.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Sends pings.
pub struct HttpPingSender {
    pub client: Client,
    pub clock: Arc<dyn Clock>,
    pub secrets: Arc<dyn Secrets>,
}

impl HttpPingSender {
    /// The address with its secrets in place.
    async fn resolve(&self, address: &str) -> Result<String, String> {
        let parts = split(address).ok_or("the address cannot be read")?;
        let host = match parts.first() {
            Some(Part::Text(start)) => Url::parse(start).ok(),
            _ => None,
        };
        let host = host.as_ref().and_then(Url::host_str).unwrap_or_default();
        let mut whole = String::new();
        for part in &parts {
            match part {
                Part::Text(text) => whole.push_str(text),
                Part::Secret(reference) => {
                    let read = self.secrets.read(reference, host).await;
                    let secret =
                        read.map_err(|unavailable| format!("{reference}: {unavailable}"))?;
                    whole.push_str(secret.expose().trim());
                }
            }
        }
        Ok(whole)
    }
}

#[async_trait]
impl PingSender for HttpPingSender {
    async fn send(&self, address: &str) -> Outcome {
        let address = match self.resolve(address).await {
            Ok(address) => address,
            Err(why) => return Outcome::retry(why),
        };
        let request = Request::get(address).limits(Limits::within(TIMEOUT, ANSWER_BYTES_MAX));
        match self.client.open(request).await {
            Ok(answer) if answer.head.status == 404 => {
                Outcome::give_up("HTTP 404: nothing is there to be pinged")
            }
            Ok(answer) => {
                let asked = answer.head.header(&RETRY_AFTER);
                judge(answer.head.status, asked, self.clock.now())
            }
            Err(error) => Outcome::retry(error.to_string()),
        }
    }
}
