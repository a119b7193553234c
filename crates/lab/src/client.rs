//! The HTTP client of the world: plain HTTP, short timeouts, no redirects, no proxy.

use std::{sync::Arc, time::Duration};

/// Time to connect on loopback.
const CONNECT_WITHIN: Duration = Duration::from_secs(2);
/// Time for a whole exchange; a batch of events is the largest.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// Why the client could not be built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address cannot be called from here.
    #[error("`{url}` is not an address the simulated world can call; it speaks plain http:// only")]
    Url { url: String },
    /// The TLS settings were refused, although no TLS is ever spoken.
    #[error("prepare TLS settings")]
    Tls(#[from] rustls::Error),
    /// The HTTP client could not be built.
    #[error("prepare HTTP client")]
    Client(#[from] reqwest::Error),
}

/// Builds the client.
///
/// The HTTP library insists on TLS settings. These trust no certificate: loopback needs no TLS, and
/// neither a process-wide crypto provider nor the system's certificates are touched.
pub(crate) fn build() -> Result<reqwest::Client, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    #[expect(
        clippy::disallowed_methods,
        reason = "the world is the outside: it calls Almanack, on loopback"
    )]
    let builder = reqwest::Client::builder();
    let client = builder
        .tls_backend_preconfigured(tls)
        .connect_timeout(CONNECT_WITHIN)
        .timeout(ANSWER_WITHIN)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .build()?;
    Ok(client)
}

/// Accepts a base address and cuts a trailing slash, so that paths can be appended.
pub(crate) fn base_url(url: &str) -> Result<String, Error> {
    let parsed = reqwest::Url::parse(url)
        .ok()
        .filter(|parsed| parsed.scheme() == "http");
    match parsed {
        Some(_) => Ok(url.trim_end_matches('/').to_owned()),
        None => Err(Error::Url {
            url: url.to_owned(),
        }),
    }
}
