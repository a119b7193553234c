//! The host that a request is for, and the page that sent it.
//!
//! A browser sends both, and no page can forge them: the host, which stops DNS rebinding, and the
//! origin of the page that requests a change.

use almanack_core::{both, lang::Say};
use axum::{http::HeaderName, http::request::Parts};

use crate::prelude::*;

/// A fixed text in both languages.
pub(super) type Words = (&'static str, &'static str);

/// A request without any host cannot come from a browser, so it passes.
pub(super) fn check_host(request: &Parts, hosts: &[String], detail: Words) -> Result<()> {
    let Some(authority) = authority(request) else {
        return Ok(());
    };
    let host = without_port(authority);
    let ours = ["localhost", "127.0.0.1", "[::1]"];
    let known = ours.into_iter().chain(hosts.iter().map(String::as_str));
    if known
        .into_iter()
        .any(|name| name.eq_ignore_ascii_case(host))
    {
        return Ok(());
    }
    Err(Problem::new(Code::UnknownHost, detail.both()))
}

/// A proxy makes every client look local. One of these headers reveals it; a proxy that sends none
/// must be kept out by a token.
pub(super) fn check_direct(request: &Parts) -> Result<()> {
    let Some(name) = request.headers.keys().find(|name| is_said_by_proxy(name)) else {
        return Ok(());
    };
    let detail = both!(
        "this request came through a proxy (it has the header `{name}`), and no token or user exists yet to authenticate it; `almanack token create` or `almanack user create` makes one",
        "该请求经过代理（带有 `{name}` 头），而目前还没有令牌或用户可供验证；请用 `almanack token create` 或 `almanack user create` 创建"
    );
    Err(Problem::new(Code::Unauthenticated, detail))
}

/// Whether a proxy uses this header to name the client.
pub(crate) fn is_said_by_proxy(name: &HeaderName) -> bool {
    let name = name.as_str();
    ["forwarded", "via", "x-real-ip"].contains(&name) || name.starts_with("x-forwarded-")
}

/// A page may change things only if this node served it.
pub(super) fn check_origin(request: &Parts) -> Result<()> {
    let Some(origin) = request.headers.get(header::ORIGIN) else {
        return Ok(());
    };
    let shown = origin
        .to_str()
        .ok()
        .and_then(|origin| origin.split_once("://"));
    let same = shown.is_some_and(|(_, host)| authority(request) == Some(host));
    if same || request.method.is_safe() {
        return Ok(());
    }
    Err(Problem::new(
        Code::ForeignOrigin,
        both!(
            "a web page of another origin must not change anything",
            "来自其他源的网页不能更改任何内容"
        ),
    ))
}

/// HTTP/1.1 names the host in a header, HTTP/2 in the request target.
fn authority(request: &Parts) -> Option<&str> {
    let header = request
        .headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    header.or_else(|| {
        request
            .uri
            .authority()
            .map(axum::http::uri::Authority::as_str)
    })
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_not_part_of_the_host() {
        for (authority, host) in [
            ("localhost:8080", "localhost"),
            ("localhost", "localhost"),
            ("[::1]:80", "[::1]"),
            ("[::1]", "[::1]"),
            ("evil.example:80", "evil.example"),
        ] {
            assert_eq!(without_port(authority), host);
        }
    }
}
