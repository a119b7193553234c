//! How a model is asked.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use almanack_core::{
    edition::{allowance::Price, prompts::Prompts},
    secret::Secret,
};
use jiff::SignedDuration;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use super::prompt::prompts;

/// How a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The base of `/chat/completions`: `https://api.deepseek.com/v1`.
    pub base_url: String,
    /// The model's name at that service.
    pub model: String,
    /// The service's key, trimmed; a self-hosted model may need none.
    pub key: Option<Secret>,
    /// Further headers: some services want to know the client (`HTTP-Referer`, `X-Title`).
    pub headers: Vec<(String, String)>,
    /// The language to write in, as a tag.
    pub language: String,
    /// Requests under way at once.
    pub concurrency: usize,
    /// How long an answer may take.
    pub timeout: Duration,
    /// How often an answer that says "later", or none in time, is asked for again.
    pub tries_more: u32,
    /// Longest wait that is waited for before the next try; a service that wants a longer wait is
    /// not asked again.
    pub wait_max: SignedDuration,
    /// How long a summary may be, in characters.
    pub summary_chars: usize,
    /// The prompts that it gets.
    pub prompts: Arc<Prompts>,
    /// What its tokens cost; none where nobody counts money.
    pub price: Option<Price>,
}

impl Settings {
    /// A model at a service, asked in the usual way for Simplified Chinese.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>, key: Option<Secret>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            key,
            headers: Vec::new(),
            language: "zh-CN".to_owned(),
            concurrency: 16,
            timeout: Duration::from_secs(30),
            tries_more: 2,
            wait_max: SignedDuration::from_secs(20),
            summary_chars: 300,
            prompts: Arc::new(prompts(&BTreeMap::new())),
            price: None,
        }
    }

    pub(super) fn address(&self) -> String {
        format!("{}/chat/completions", self.base_url.trim_end_matches('/'))
    }

    /// What every request carries.
    pub(super) fn header_map(&self) -> Result<HeaderMap, BadSettings> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let bad = || BadSettings::Header(name.clone());
            let parsed = HeaderName::try_from(name.as_str()).map_err(|_| bad())?;
            headers.insert(parsed, HeaderValue::from_str(value).map_err(|_| bad())?);
        }
        if let Some(key) = &self.key {
            let bearer = HeaderValue::from_str(&format!("Bearer {}", key.expose().trim()));
            let mut bearer = bearer.map_err(|_| BadSettings::Key)?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        Ok(headers)
    }

    /// Checks what would go wrong with every request.
    pub(super) fn check(&self) -> Result<(), BadSettings> {
        if self.model.trim().is_empty() {
            return Err(BadSettings::NoModel);
        }
        if self.concurrency == 0 {
            return Err(BadSettings::NoConcurrency);
        }
        if self.summary_chars == 0 {
            return Err(BadSettings::NoSummary);
        }
        Ok(())
    }
}

/// Why a model cannot be asked like this. Never shows a key or an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSettings {
    /// The base address is not one we would ever connect to.
    #[error("the model's base address cannot be used: {0}")]
    BaseUrl(almanack_core::address::Refusal),
    #[error("the model has no name")]
    NoModel,
    /// The key has characters that no header can hold.
    #[error("the model's key has characters that cannot be sent")]
    Key,
    /// So has a header, or it has no usable name.
    #[error("the model's header `{0}` cannot be sent")]
    Header(String),
    /// Nothing would ever be asked.
    #[error("at least one request to the model must be allowed at once")]
    NoConcurrency,
    /// Nothing could ever be written.
    #[error("a summary needs room for at least one character")]
    NoSummary,
}
