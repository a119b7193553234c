//! Connection pools, and the resolver inside them that returns checked addresses only.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use almanack_core::address::{Guard, Refusal};
use reqwest::{dns, redirect, retry};

use super::{NoClient, NoName, Resolve, Settings};

/// How long an idle connection is kept.
const IDLE_FOR: Duration = Duration::from_secs(30);
/// Most that the headers of an answer may take, where the protocol lets us say so (HTTP/2).
const HEADER_BYTES_MAX: u32 = 64 * 1024;
/// Most headers of an answer (HTTP/1).
const HEADERS_MAX: usize = 200;

/// A pool that connects where `guard` allows it; without one, anywhere.
pub(super) fn build(
    settings: &Settings,
    guard: Option<Arc<Guard>>,
) -> Result<reqwest::Client, NoClient> {
    builder(settings, guard).build().map_err(NoClient)
}

/// The same through a proxy, whose own address the guard checks as well.
pub(super) fn build_through(
    proxy: reqwest::Proxy,
    settings: &Settings,
    guard: Arc<Guard>,
) -> Result<reqwest::Client, NoClient> {
    let builder = builder(settings, Some(guard)).proxy(proxy);
    builder.build().map_err(NoClient)
}

fn builder(settings: &Settings, guard: Option<Arc<Guard>>) -> reqwest::ClientBuilder {
    // Installing twice is harmless: the first one stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let resolver = CheckedResolver {
        resolver: Arc::clone(&settings.resolver),
        guard,
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the client that all other code receives"
    )]
    let builder = reqwest::Client::builder();
    builder
        .dns_resolver(Arc::new(resolver))
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .no_proxy()
        .no_gzip()
        .no_brotli()
        .referer(false)
        .connect_timeout(settings.connect_timeout)
        .pool_idle_timeout(IDLE_FOR)
        .pool_max_idle_per_host(settings.idle_max)
        .http1_max_headers(HEADERS_MAX)
        .http2_max_header_list_size(HEADER_BYTES_MAX)
        .user_agent(user_agent(settings.contact.as_deref()))
}

/// The program and, if configured, a contact.
fn user_agent(contact: Option<&str>) -> String {
    let program = concat!("almanack/", env!("CARGO_PKG_VERSION"));
    match contact {
        Some(contact) => format!("{program} (+{contact})"),
        None => program.to_owned(),
    }
}

/// Why a name is not connected to. Travels through the pool as a source of its error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unresolved {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    NoName(#[from] NoName),
}

struct CheckedResolver {
    resolver: Arc<dyn Resolve>,
    guard: Option<Arc<Guard>>,
}

impl dns::Resolve for CheckedResolver {
    fn resolve(&self, name: dns::Name) -> dns::Resolving {
        let (resolver, guard) = (Arc::clone(&self.resolver), self.guard.clone());
        Box::pin(async move {
            let checked = checked(resolver.as_ref(), guard.as_deref(), name.as_str()).await?;
            Ok(Box::new(checked.into_iter()) as dns::Addrs)
        })
    }
}

/// The addresses of a name that may be connected to. Port 0 means the address's own.
async fn checked(
    resolver: &dyn Resolve,
    guard: Option<&Guard>,
    host: &str,
) -> Result<Vec<SocketAddr>, Unresolved> {
    let mut ips = resolver.resolve(host).await?;
    if let Some(guard) = guard {
        ips = guard.check_addresses(&ips)?;
    }
    if ips.is_empty() {
        let why = "the name has no address".to_owned();
        return Err(NoName { why }.into());
    }
    Ok(ips.into_iter().map(|ip| SocketAddr::new(ip, 0)).collect())
}
