//! The parameters of a call, which Telegram takes from a JSON object, a form or the query alike.

use std::collections::BTreeMap;

use axum::{
    Form,
    body::Bytes,
    extract::{FromRequest, Request},
    http::header,
};
use serde_json::Value;

use crate::telegram::refusal::Refusal;

/// Names to values; numbers and switches are texts here, as in a form.
#[derive(Debug, Clone, Default)]
pub(super) struct Parameters(BTreeMap<String, String>);

impl Parameters {
    pub(super) async fn read(request: Request) -> Result<Self, Refusal> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.to_ascii_lowercase();
        if kind.starts_with("multipart/") {
            return Err(Refusal::NotModelled("multipart/form-data"));
        }
        if kind.starts_with("application/json") {
            let body = Bytes::from_request(request, &()).await;
            return Self::from_json(&body.map_err(|_| Refusal::BadBody)?);
        }
        if request.method() == "GET" || kind.starts_with("application/x-www-form-urlencoded") {
            let form = Form::<Vec<(String, String)>>::from_request(request, &()).await;
            let Form(pairs) = form.map_err(|_| Refusal::BadBody)?;
            return Ok(Self(pairs.into_iter().collect()));
        }
        Ok(Self::default())
    }

    fn from_json(body: &[u8]) -> Result<Self, Refusal> {
        let value = match body {
            [] => return Ok(Self::default()),
            _ => serde_json::from_slice(body).map_err(|_| Refusal::BadBody)?,
        };
        let Value::Object(fields) = value else {
            return Err(Refusal::BadBody);
        };
        let text = |value: Value| match value {
            Value::String(text) => Some(text),
            Value::Null => None,
            other => Some(other.to_string()),
        };
        let fields = fields.into_iter();
        let pairs = fields.filter_map(|(name, value)| Some((name, text(value)?)));
        Ok(Self(pairs.collect()))
    }

    /// A value; empty is the same as left out.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }

    pub(super) fn chat(&self) -> Result<&str, Refusal> {
        self.get("chat_id").ok_or(Refusal::NoChatId)
    }

    pub(super) fn message_id(&self) -> Result<i64, Refusal> {
        let id = self.get("message_id").and_then(|id| id.parse().ok());
        id.ok_or(Refusal::NoMessageId)
    }
}
