//! Addresses: may this be connected to?
//!
//! Addresses come from everywhere: from a feed's redirect, from an event, from any client that may
//! change a task. A program that runs inside a network and follows every address opens a way into
//! that network (SS-14). So every address is checked twice, by its text and by what it resolves to:
//!
//! ```text
//! text ── parse ──► http or https, no user name, a port that speaks HTTP
//!                        │
//!              literal or resolved name
//!                        ▼
//!          Guard::check_address(IP) ── public, or in the allow-list ──► connect to exactly this IP
//! ```
//!
//! What must stay true:
//!
//! - Only what came out of [`parse`] is looked at: `http://0x7f.1/` *is* 127.0.0.1 by then, and no
//!   texts are compared.
//! - A name is checked by all it resolves to, at the moment of connecting, never by how it reads.
//! - No sentence contains more of an address than an IP or a port: the rest may be a secret.

mod origin;
mod port;
mod range;
#[cfg(test)]
mod tests;

use crate::{
    lang::{Lang, Say},
    say,
};
use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr},
};

use async_trait::async_trait;
use url::{Host, Url};

pub use ipnet::IpNet;
pub use origin::Origin;

/// Why an address is not connected to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Refusal {
    /// It cannot be read.
    Unreadable,
    /// It is not about HTTP.
    Scheme,
    /// It names a user, which hides the host and leaks a secret.
    Userinfo,
    /// A port that web servers do not use.
    Port { port: u16 },
    /// A port of another protocol, which could misread an HTTP request.
    Service { port: u16, service: &'static str },
    /// A name that means something on one machine or in one network only.
    LocalName {
        /// The setting that holds the allow-list.
        allow_key: &'static str,
    },
    /// It resolves into a network that is not public.
    Range {
        ip: IpAddr,
        /// What kind of address that is.
        what: range::Words,
        /// The smallest entry of the allow-list that would let it through.
        net: IpNet,
        /// The setting that holds the allow-list.
        allow_key: &'static str,
    },
}

impl Say for Refusal {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Unreadable => say!(lang;
                "this is not an address; write it like https://news.example.org/feed",
                "这不是地址；请写成 https://news.example.org/feed 的形式"),
            Self::Scheme => say!(lang;
                "only addresses that begin with http:// or https:// are called",
                "只请求以 http:// 或 https:// 开头的地址"),
            Self::Userinfo => say!(lang;
                "the address contains a user name or a password; remove the part before the `@`",
                "地址中含有用户名或密码；请去掉 `@` 之前的部分"),
            Self::Port { port } => say!(lang;
                "port {port} is not one that web servers use; 80, 443 and ports from 1024 on are called",
                "端口 {port} 不是网页服务器使用的端口；只请求 80、443 以及 1024 起的端口"),
            Self::Service { port, service } => say!(lang;
                "port {port} belongs to {service}, which is never spoken HTTP to",
                "端口 {port} 属于 {service}，不会用 HTTP 访问"),
            Self::LocalName { allow_key } => say!(lang;
                "the name is one of a single machine or network, and only public addresses are passed on; if it is yours to be passed on, add its network to `{allow_key}`",
                "该名称只在单台机器或内部网络中有效，而这里只传递公网地址；若确属您所有并允许传递，请把其网络加入 `{allow_key}`"),
            Self::Range {
                ip,
                what,
                net,
                allow_key,
            } => {
                let what = what.say(lang);
                say!(lang;
                    "{ip} is {what}, and only public addresses are called; if it is yours to be called, add it to `{allow_key}`, like [\"{net}\"]",
                    "{ip} 是{what}，而这里只请求公网地址；若确属您所有并允许请求，请把它加入 `{allow_key}`，如 [\"{net}\"]")
            }
        }
    }
}

/// Reads an address and checks all that can be seen in it, except where it leads.
pub fn parse(text: &str) -> Result<Url, Refusal> {
    let url = Url::parse(text).map_err(|_| Refusal::Unreadable)?;
    check(&url)?;
    Ok(url)
}

/// Checks all that can be seen in an address, except where it leads: scheme, user, port.
pub fn check(url: &Url) -> Result<(), Refusal> {
    check_shape(url)?;
    let port = url.port_or_known_default().ok_or(Refusal::Unreadable)?;
    port::check(port)
}

fn check_shape(url: &Url) -> Result<(), Refusal> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Refusal::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Refusal::Userinfo);
    }
    Ok(())
}

/// Names that no public resolver answers for: those without a dot, and the ends that are set aside
/// for machines and networks.
fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    let ends = [".localhost", ".local", ".internal", ".home.arpa", ".lan"];
    !name.contains('.') || ends.iter().any(|end| name.ends_with(end))
}

/// The IP address written in an address itself. No resolver is asked about those, so the caller
/// must have them checked before it connects.
pub fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(ip) => Some(ip.into()),
        Host::Ipv6(ip) => Some(ip.into()),
        Host::Domain(_) => None,
    }
}

/// Reads an entry of an allow-list: `10.0.0.0/8`, or a single address.
pub fn parse_net(text: &str) -> Option<IpNet> {
    let text = text.trim();
    let alone = || text.parse::<IpAddr>().ok().map(IpNet::from);
    text.parse::<IpNet>()
        .ok()
        .map(|net| net.trunc())
        .or_else(alone)
}

/// Which addresses may be called from here, as far as that can be decided without resolving a name:
/// what is refused here is refused whenever it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    guard: Guard,
    trusted: BTreeSet<Origin>,
}

impl Reach {
    /// What `guard` lets through, and the operator's own origins.
    pub fn new(guard: Guard, trusted: BTreeSet<Origin>) -> Self {
        Self { guard, trusted }
    }

    /// Whether this address may be called one day.
    pub fn check(&self, address: &str) -> Result<(), Refusal> {
        let url = parse(address)?;
        let is_trusted = Origin::of(&url).is_some_and(|origin| self.trusted.contains(&origin));
        match literal(&url).or_else(|| loopback(&url)) {
            Some(ip) if !is_trusted => self.guard.check_address(ip),
            _ => Ok(()),
        }
    }

    /// Whether this address may be called now that its name leads to `ips`. One that leads nowhere
    /// may be called: it may lead somewhere tomorrow.
    pub fn check_behind(&self, address: &str, ips: &[IpAddr]) -> Result<(), Refusal> {
        let origin = parse(address).ok().as_ref().and_then(Origin::of);
        let is_trusted = origin.is_some_and(|origin| self.trusted.contains(&origin));
        if is_trusted || ips.is_empty() {
            return Ok(());
        }
        self.guard.check_addresses(ips).map(drop)
    }
}

/// What is behind the names in addresses.
#[async_trait]
pub trait Names: Send + Sync {
    /// The addresses behind the name in an address; none if it has no name or the name cannot be
    /// resolved now. Bounded in time.
    async fn behind(&self, address: &str) -> Vec<IpAddr>;
}

/// `localhost` and what is below it lead to the machine itself by definition (RFC 6761).
fn loopback(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?.trim_end_matches('.');
    let is_local = host == "localhost" || host.ends_with(".localhost");
    is_local.then_some(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

/// Checks what addresses resolve to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    allow: Vec<IpNet>,
    allow_key: &'static str,
}

impl Guard {
    /// Lets public addresses through and those in `allow`; `allow_key` is the setting to name to
    /// people.
    pub fn new(allow: Vec<IpNet>, allow_key: &'static str) -> Self {
        Self { allow, allow_key }
    }

    /// Whether this address may be connected to. An IPv4 address inside an IPv6 one is checked as
    /// IPv4.
    pub fn check_address(&self, ip: IpAddr) -> Result<(), Refusal> {
        let ip = ip.to_canonical();
        let Some(what) = range::special(ip) else {
            return Ok(());
        };
        if self.allow.iter().any(|net| net.contains(&ip)) {
            return Ok(());
        }
        Err(Refusal::Range {
            ip,
            what,
            net: IpNet::from(ip),
            allow_key: self.allow_key,
        })
    }

    /// Whether an address from an untrusted source may be passed on: to people as a link, or to a
    /// service that fetches it for us. Checks only what the address itself shows; the caller with a
    /// resolver checks what the name resolves to. A link may have any port.
    pub fn check_link(&self, text: &str) -> Result<(), Refusal> {
        let url = Url::parse(text).map_err(|_| Refusal::Unreadable)?;
        check_shape(&url)?;
        let Some(host) = url.host() else {
            return Err(Refusal::Unreadable);
        };
        match host {
            // An operator with private networks has private names in them.
            Host::Domain(name) if self.allow.is_empty() && is_local_name(name) => {
                let allow_key = self.allow_key;
                Err(Refusal::LocalName { allow_key })
            }
            Host::Domain(_) => Ok(()),
            Host::Ipv4(ip) => self.check_address(ip.into()),
            Host::Ipv6(ip) => self.check_address(ip.into()),
        }
    }

    /// Those of a name's addresses that may be connected to; if there is none, why not. A name with
    /// public and private addresses keeps its public ones: only these are connected to, so the
    /// others do no harm.
    pub fn check_addresses(&self, ips: &[IpAddr]) -> Result<Vec<IpAddr>, Refusal> {
        let (mut fit, mut refused) = (Vec::new(), None);
        for ip in ips {
            match self.check_address(*ip) {
                Ok(()) => fit.push(*ip),
                Err(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        match refused {
            Some(refusal) if fit.is_empty() => Err(refusal),
            _ => Ok(fit),
        }
    }
}
