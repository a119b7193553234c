//! Addresses that are judged before somebody else is sent there.
//!
//! A crawler or a reader service goes wherever it is told, from inside whatever network it runs in.
//! A feed that links to `http://169.254.169.254/` must not find its way there through us (SS-14).
//! So an address is judged as if we were to call it ourselves, by the same allow-list; what its
//! name leads to for them, we cannot know, and they should guard their own network as well.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::port::{Failure, FailureClass, Reader},
};
use async_trait::async_trait;

use crate::http::Client;

/// Somebody else who reads pages, sent to public addresses only.
pub struct Sent<R> {
    reader: R,
    client: Client,
}

impl<R> Sent<R> {
    /// Judges as `client` would where it calls.
    pub fn new(reader: R, client: Client) -> Self {
        Self { reader, client }
    }
}

#[async_trait]
impl<R: Reader> Reader for Sent<R> {
    async fn read(&self, url: &str, budget: &Arc<Budget>) -> Result<String, Failure> {
        match self.client.refusal_to_send_to(url).await {
            Some(refusal) => Err(Failure::new(FailureClass::Refused, refusal.to_string())),
            None => self.reader.read(url, budget).await,
        }
    }
}
