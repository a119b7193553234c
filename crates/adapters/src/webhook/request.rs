//! What a webhook is sent besides its address: method, headers, body. Callbacks of tasks that say
//! how they are made use the first two.
//!
//! What a schedule says was written by whoever may change schedules, who need not know the secrets
//! that its headers name. They are read here, for the host that is called, and marked so that no
//! log shows them and no other origin receives them.

use almanack_core::{
    finish::Outcome,
    headers::reference_in,
    plan::Firing,
    secret::Secrets,
    target::{Method, template::Filling},
    task::ClaimedTask,
};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::collections::BTreeMap;
use url::Url;

use crate::call::Message;

/// Longest reference that an error shows.
const SHOWN_BYTES_MAX: usize = 200;

/// The message in place of the firing's own description.
pub(super) fn filled(template: &Value, firing: &Firing, task: &ClaimedTask) -> Message {
    let filling = Filling {
        slot: firing.nominal_at,
        schedule: &firing.schedule,
        firing: task.id.0,
        attempt: task.attempt,
    };
    match template {
        Value::String(text) => {
            let plain = "text/plain; charset=utf-8";
            Message::new(plain, filling.text(text).into_bytes())
        }
        template => Message::json(filling.json(template).to_string().into_bytes()),
    }
}

/// How the method is sent.
pub(crate) fn method(method: Method) -> reqwest::Method {
    match method {
        Method::Get => reqwest::Method::GET,
        Method::Post => reqwest::Method::POST,
        Method::Put => reqwest::Method::PUT,
        Method::Patch => reqwest::Method::PATCH,
        Method::Delete => reqwest::Method::DELETE,
    }
}

/// The headers with the secrets that they name, or why they cannot be sent. Another node may have
/// the secret, and the operator may release it within the window.
pub(crate) async fn headers(
    named: &BTreeMap<String, String>,
    url: &str,
    secrets: &dyn Secrets,
) -> Result<HeaderMap, Outcome> {
    let url = Url::parse(url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    let mut headers = HeaderMap::new();
    for (name, value) in named {
        let unusable = || Outcome::give_up(format!("the header `{name}` cannot be sent"));
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unusable())?;
        let text = match reference_in(value) {
            Some((scheme, reference)) => {
                let secret = secrets.read(reference, host).await;
                let secret = secret.map_err(|unavailable| {
                    let shown = &reference[..reference.floor_char_boundary(SHOWN_BYTES_MAX)];
                    Outcome::retry(format!(
                        "the secret `{shown}` of header `{name}` cannot be used: {unavailable}"
                    ))
                })?;
                format!("{scheme} {}", secret.expose())
                    .trim_start()
                    .to_owned()
            }
            None => value.clone(),
        };
        let mut value = HeaderValue::from_str(&text).map_err(|_| unusable())?;
        value.set_sensitive(header != CONTENT_TYPE);
        headers.insert(header, value);
    }
    Ok(headers)
}
