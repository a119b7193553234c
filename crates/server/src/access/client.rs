//! The address of the client.
//!
//! This is the address of the connection, which cannot be forged. Behind a proxy it is the proxy's:
//! `server.trusted_proxies` names such proxies, and `X-Forwarded-For` from them is trusted as far
//! as trusted proxies wrote it. The header of any other client is ignored, because every client can
//! send one.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};

use almanack_core::{address::IpNet, sign_in::tries::Peer};
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;

use crate::prelude::*;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The client, as far as sign-in attempts are counted.
pub(crate) struct Client(pub(crate) Peer);

impl FromRequestParts<Arc<AppState>> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &Arc<AppState>,
    ) -> Result<Self, Infallible> {
        let connected = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let connected = connected.map(|ConnectInfo(address)| address.ip().to_canonical());
        let sent_by = connected.map(|ip| sent_by(ip, &parts.headers, &state.trusted_proxies));
        Ok(Self(Peer::address(sent_by)))
    }
}

/// From the last proxy backwards, the first address that is not a trusted proxy's.
fn sent_by(connected: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |ip: &IpAddr| trusted.iter().any(|net| net.contains(ip));
    let lines = headers.get_all(FORWARDED_FOR).iter();
    let texts = lines.filter_map(|line| line.to_str().ok());
    let hops: Vec<&str> = texts.flat_map(|line| line.split(',')).collect();
    let mut sender = connected;
    for hop in hops.iter().rev() {
        if !is_trusted(&sender) {
            break;
        }
        // An entry that a trusted proxy could not name counts as the proxy itself.
        let Some(before) = parse(hop.trim()) else {
            break;
        };
        sender = before;
    }
    sender
}

/// Some proxies append a port.
fn parse(hop: &str) -> Option<IpAddr> {
    let alone = hop.parse::<IpAddr>().ok();
    let with_port = || hop.parse::<SocketAddr>().ok().map(|it| it.ip());
    let bracketed = || hop.trim_matches(['[', ']']).parse::<IpAddr>().ok();
    let found = alone.or_else(with_port).or_else(bracketed);
    found.map(|ip| ip.to_canonical())
}

#[cfg(test)]
mod tests {
    use almanack_core::address::parse_net;
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_header_is_believed_as_far_as_trusted_proxies_wrote_it() {
        let trusted = ["10.0.0.0/8", "::1"].map(|text| parse_net(text).unwrap());
        for (connected, header, sender, why) in [
            (
                "192.0.2.1",
                "198.51.100.7",
                "192.0.2.1",
                "not a trusted proxy",
            ),
            (
                "10.0.0.1",
                "198.51.100.7",
                "198.51.100.7",
                "a trusted proxy",
            ),
            ("10.0.0.1", "", "10.0.0.1", "without the header"),
            ("10.0.0.1", "junk", "10.0.0.1", "with an unreadable header"),
            (
                "10.0.0.1",
                "203.0.113.9, 198.51.100.7",
                "198.51.100.7",
                "earlier entries are the client's own claim",
            ),
            (
                "10.0.0.1",
                "198.51.100.7, 10.0.0.2",
                "198.51.100.7",
                "two trusted proxies",
            ),
            ("::1", "[2001:db8::1]:4711", "2001:db8::1", "with a port"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(FORWARDED_FOR, HeaderValue::from_str(header).unwrap());
            let found = sent_by(connected.parse().unwrap(), &headers, &trusted);
            assert_eq!(found, sender.parse::<IpAddr>().unwrap(), "{why}");
        }
    }
}
