//! Proxies that requests name: a few pools, each through one of them.
//!
//! A proxy is chosen by whoever may change a source, so its address is as untrusted as any other:
//! the same rules for schemes and ports, the same guard for a literal address, and the same
//! resolver inside the pool for a name. Its credentials are sent to it alone.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex},
};

use almanack_core::address::{self, Guard, Refusal};
use reqwest::header::HeaderValue;
use url::Url;

use super::{Error, Settings, pool};
use crate::locked;

/// Pools kept, the last used ones. Each costs a few hundred kilobytes and some milliseconds.
const POOLS_MAX: usize = 8;

/// What a request is sent through. `Debug` shows nothing: it may hold credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    url: Url,
    /// `Proxy-Authorization`.
    authorization: Option<HeaderValue>,
}

impl Proxy {
    /// An `http` or `https` proxy at this address, which holds no credentials itself.
    pub fn new(address: &str, authorization: Option<HeaderValue>) -> Result<Self, Refusal> {
        let url = address::parse(address)?;
        address::check(&url)?;
        Ok(Self { url, authorization })
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proxy")
    }
}

/// The pools in use.
pub(super) struct Proxies {
    settings: Settings,
    guard: Arc<Guard>,
    pools: Mutex<VecDeque<(Proxy, reqwest::Client)>>,
}

impl Proxies {
    pub(super) fn new(settings: &Settings, guard: &Arc<Guard>) -> Self {
        Self {
            settings: settings.clone(),
            guard: Arc::clone(guard),
            pools: Mutex::default(),
        }
    }

    /// The pool through a proxy, if we may connect to it.
    pub(super) fn pool(&self, proxy: &Proxy) -> Result<reqwest::Client, Error> {
        if let Some(ip) = address::literal(&proxy.url) {
            let checked = self.guard.check_address(ip);
            checked.map_err(|refusal| Error::Proxy { refusal })?;
        }
        let mut pools = locked(&self.pools);
        let known = pools.iter().position(|(known, _)| known == proxy);
        let entry = match known.and_then(|at| pools.remove(at)) {
            Some(entry) => entry,
            None => (proxy.clone(), self.build(proxy)?),
        };
        let client = entry.1.clone();
        pools.push_front(entry);
        pools.truncate(POOLS_MAX);
        Ok(client)
    }

    fn build(&self, proxy: &Proxy) -> Result<reqwest::Client, Error> {
        let unusable = |error: &dyn fmt::Display| Error::Broken {
            why: format!("the proxy cannot be used: {error}"),
        };
        let through = reqwest::Proxy::all(proxy.url.clone());
        let mut through = through.map_err(|error| unusable(&error.without_url()))?;
        if let Some(authorization) = &proxy.authorization {
            through = through.custom_http_auth(authorization.clone());
        }
        let built = pool::build_through(through, &self.settings, Arc::clone(&self.guard));
        built.map_err(|error| unusable(&error))
    }
}
