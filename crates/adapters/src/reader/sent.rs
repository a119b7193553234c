//! Addresses that are checked before another service fetches them.
//!
//! A crawler or a reader service fetches any address, from inside the network it runs in. A feed
//! that links to `http://169.254.169.254/` must not find its way there through us (SS-14). So an
//! address is checked as if we called it ourselves, by the same allow-list. What its name resolves
//! to for the service, we cannot know; it should guard its own network as well.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::port::{Article, Failure, FailureClass, Reader},
};
use async_trait::async_trait;

use crate::http::Client;

/// A reader service that gets public addresses only.
pub struct Sent<R> {
    reader: R,
    client: Client,
}

impl<R> Sent<R> {
    /// Checks addresses as `client` does.
    pub fn new(reader: R, client: Client) -> Self {
        Self { reader, client }
    }
}

#[async_trait]
impl<R: Reader> Reader for Sent<R> {
    async fn read(&self, url: &str, budget: &Arc<Budget>) -> Result<Article, Failure> {
        match self.client.refusal_to_send_to(url).await {
            Some(refusal) => Err(Failure::new(FailureClass::Refused, refusal.to_string())),
            None => self.reader.read(url, budget).await,
        }
    }
}
