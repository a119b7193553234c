//! Whether a service accepts the key: a check before the first edition.

use almanack_core::{edition::port::Failure, time::Clock};

use super::{
    Settings,
    completion::{self, Answer},
};
use crate::http::{Client, Limits, Request};

/// Most of the list of models that is read; it does not matter.
const LIST_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The service's answer about a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probed {
    Accepted,
    /// Unknown: it answers, but has no list of models to ask for.
    Unsaid,
}

/// Asks which models there are, with the key. Costs no tokens and changes nothing.
pub async fn probe(
    client: &Client,
    clock: &dyn Clock,
    settings: &Settings,
) -> Result<Probed, Failure> {
    let base = settings.base_url.trim_end_matches('/');
    let mut request = Request::get(format!("{base}/models"))
        .limits(Limits::within(settings.timeout, LIST_BYTES_MAX));
    let headers = settings.header_map();
    let refused = almanack_core::edition::port::FailureClass::Refused;
    request
        .headers
        .extend(headers.map_err(|error| Failure::new(refused, error.to_string()))?);
    let response = client.send(request).await;
    let response = response.map_err(|error| completion::unanswered(&error))?;
    match response.head.status {
        200..=299 => Ok(Probed::Accepted),
        404 | 405 => Ok(Probed::Unsaid),
        status => {
            let secret = settings.key.as_ref().map_or("", |key| key.expose().trim());
            let answer = Answer {
                status,
                retry_after: None,
                body: &response.body,
            };
            completion::read(answer, secret, clock.now()).map(|_| Probed::Unsaid)
        }
    }
}
