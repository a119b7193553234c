//! Name resolution: a port, so that tests can change what a name resolves to.

use std::{net::IpAddr, time::Duration};

use almanack_core::address::{self, Names};
use async_trait::async_trait;
use url::{Host, Url};

use super::{Phase, body::Deadline};

/// How long a person waits for a name to resolve while an address is accepted.
const NAMES_TIMEOUT: Duration = Duration::from_secs(2);

/// A name that does not resolve, at least not now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NoName {
    /// The resolver's error.
    pub why: String,
}

/// Resolves names.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// All addresses of `host`, best first; at least one. Called once per connection.
    async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, NoName>;
}

/// Asks the operating system, which has its own cache and configuration.
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

#[async_trait]
impl Names for SystemResolver {
    async fn behind(&self, address: &str) -> Vec<IpAddr> {
        let url = address::parse(address).ok();
        let Some(Host::Domain(name)) = url.as_ref().and_then(Url::host) else {
            return Vec::new();
        };
        let mut deadline = Deadline::start(NAMES_TIMEOUT);
        let resolved = deadline.bound(Phase::Answer, self.resolve(name)).await;
        resolved.ok().and_then(Result::ok).unwrap_or_default()
    }
}
