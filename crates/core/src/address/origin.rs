//! Origins: scheme, host and port, the unit in which an operator's own addresses are trusted.

use url::Url;

/// Where an address belongs.
///
/// What an operator wrote into the configuration is meant to be called, wherever it is, so its
/// origin is not compared with the ranges. Scheme and port are part of it: trusting
/// `http://nas:8080` says nothing about `http://nas:9090`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

impl Origin {
    /// The origin of an address; only addresses of the web have one.
    pub fn of(url: &Url) -> Option<Self> {
        Some(Self {
            scheme: url.scheme().to_owned(),
            host: url.host_str()?.to_owned(),
            port: url.port_or_known_default()?,
        })
    }
}
