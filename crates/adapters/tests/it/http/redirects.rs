//! Redirects: chains, circles, and which headers are sent along.

use almanack_adapters::http::{Error, Request};
use reqwest::header::{AUTHORIZATION, COOKIE, IF_NONE_MATCH};

use super::server::{Act, Server, home, moved, ok, path};

/// `/N/STATUS…` redirects with the first status to the rest; `/` is the end.
fn hop(head: &str) -> Vec<Act> {
    let path = path(head).to_owned();
    let mut parts = path.trim_matches('/').splitn(2, '/');
    let status = parts.next().and_then(|status| status.parse().ok());
    vec![Act::Say(match status {
        Some(status) => moved(status, &format!("/{}", parts.next().unwrap_or(""))),
        None => ok("", b"end"),
    })]
}

#[tokio::test]
async fn ss_14_up_to_five_redirects_are_followed_and_moves_for_good_are_reported() {
    let server = Server::start(hop).await;
    for (chain, moved_to, why) in [
        ("/", None, "no redirect at all"),
        ("/301", Some("/"), "one for good"),
        ("/308/301/308/301/301", Some("/"), "five for good"),
        ("/302", None, "for now"),
        ("/301/302", None, "the second may change"),
        ("/302/301", None, "the first may change"),
        ("/307", None, "for now"),
        ("/303", None, "look there"),
    ] {
        let request = Request::get(server.url(chain)).following(5);
        let response = home().send(request).await.unwrap();
        assert_eq!(response.body, b"end", "{why}");
        assert_eq!(response.head.address.as_str(), server.url("/"), "{why}");
        let moved = response.head.moved_to.map(|url| url.to_string());
        assert_eq!(moved, moved_to.map(|path| server.url(path)), "{why}");
    }
    let six = Request::get(server.url("/301/301/301/301/301/301")).following(5);
    let error = home().send(six).await.unwrap_err();
    assert_eq!(error, Error::TooManyRedirects { max: 5 });
}

#[tokio::test]
async fn ss_14_circles_and_redirects_to_nowhere_end() {
    for (location, expected, why) in [
        ("/", Error::RedirectLoop, "to itself"),
        ("/#again", Error::RedirectLoop, "to a fragment of itself"),
        ("", Error::RedirectLoop, "empty is itself"),
        ("http://", Error::BadRedirect, "no host"),
        ("http://[::1", Error::BadRedirect, "no address"),
    ] {
        let server = Server::saying(moved(302, location)).await;
        let request = Request::get(server.url("/")).following(5);
        assert_eq!(home().send(request).await.unwrap_err(), expected, "{why}");
        assert_eq!(server.heads().len(), 1, "{why}");
    }
    let turns = |head: &str| {
        let there = if path(head) == "/a" { "/b" } else { "/a" };
        vec![Act::Say(moved(301, there))]
    };
    let server = Server::start(turns).await;
    let request = Request::get(server.url("/a")).following(5);
    assert_eq!(home().send(request).await.unwrap_err(), Error::RedirectLoop);
    let endless = |head: &str| vec![Act::Say(moved(302, &format!("{}x", path(head))))];
    let server = Server::start(endless).await;
    let request = Request::get(server.url("/a")).following(5);
    let error = home().send(request).await.unwrap_err();
    assert_eq!(error, Error::TooManyRedirects { max: 5 });
    assert_eq!(server.heads().len(), 6);
    let silent = Server::saying("HTTP/1.1 301 Moved\r\ncontent-length: 0\r\n\r\n").await;
    let request = Request::get(silent.url("/")).following(5);
    assert_eq!(home().send(request).await.unwrap_err(), Error::BadRedirect);
}

#[tokio::test]
async fn ss_14_secrets_stay_with_the_origin_they_were_meant_for() {
    let other = Server::saying(ok("", b"x")).await;
    let away = other.url("/");
    let server = Server::start(move |head| {
        vec![Act::Say(match path(head) {
            "/near" => moved(302, "/away"),
            _ => moved(302, &away),
        })]
    })
    .await;
    let request = Request::get(server.url("/near"))
        .header(AUTHORIZATION, "Bearer s3cr3t")
        .header(COOKIE, "session=s3cr3t")
        .header(IF_NONE_MATCH, "\"v1\"")
        .following(5);
    home().send(request).await.unwrap();
    for head in server.heads() {
        assert_eq!(head.matches("s3cr3t").count(), 2, "its own origin: {head}");
    }
    let head = &other.heads()[0];
    assert!(
        !head.contains("s3cr3t") && head.contains("\"v1\""),
        "{head}"
    );
}

#[tokio::test]
async fn ss_14_who_follows_nothing_gets_the_redirect_as_the_answer() {
    let server = Server::start(hop).await;
    let asked = home().send(Request::get(server.url("/301"))).await.unwrap();
    assert_eq!((asked.head.status, asked.head.moved_to), (301, None));
    let post = Request::post_json(server.url("/308"), b"{}".to_vec()).following(5);
    assert_eq!(home().send(post).await.unwrap().head.status, 308);
    assert_eq!(server.heads().len(), 2, "what changes things is sent once");
}
