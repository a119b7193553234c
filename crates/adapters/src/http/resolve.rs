//! Where names lead: a port, so that tests can change a name's mind.

use std::net::IpAddr;

use async_trait::async_trait;

/// A name that leads nowhere, at least not now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NoName {
    /// What the resolver said.
    pub why: String,
}

/// Knows where names lead.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// All addresses of `host`, best first; at least one. Asked once per connection.
    async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, NoName>;
}

/// Asks the operating system, which has a cache and a configuration of its own.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, NoName> {
        let found = tokio::net::lookup_host((host, 0)).await;
        let found = found.map_err(|error| NoName {
            why: error.to_string(),
        })?;
        Ok(found.map(|address| address.ip()).collect())
    }
}
