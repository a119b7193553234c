use std::collections::BTreeMap;

use almanack_core::secret::{Secret, Unavailable};
use async_trait::async_trait;

use super::*;

const ADDRESS: &str = "https://news.test/feed";

/// Knows one secret, for one host.
struct Safe;

#[async_trait]
impl Secrets for Safe {
    async fn read(&self, reference: &str, host: &str) -> Result<Secret, Unavailable> {
        match (reference, host) {
            ("env:TOKEN", "news.test") => Ok(Secret::new("hunter2")),
            ("env:LINES", _) => Ok(Secret::new("hunter2\nx: y")),
            _ => Err(Unavailable {
                why: "it is not released".to_owned(),
            }),
        }
    }
}

async fn applied(fetch: &Fetch) -> Result<Request, Failure> {
    apply(Request::get(ADDRESS), fetch, ADDRESS, &Safe).await
}

fn headers(pairs: &[(&str, &str)]) -> Fetch {
    let pairs = pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Fetch {
        headers: pairs.collect::<BTreeMap<_, _>>(),
        ..Fetch::default()
    }
}

fn bearer(reference: &str) -> Fetch {
    Fetch {
        bearer: Some(reference.to_owned()),
        ..Fetch::default()
    }
}

#[tokio::test]
async fn ss_26_headers_and_credentials_are_sent_and_marked() {
    let basic = Fetch {
        user: Some("ada".to_owned()),
        password: Some("env:TOKEN".to_owned()),
        user_agent: Some("reader/1".to_owned()),
        ..headers(&[("X-Plain", "text"), ("cookie", "env:TOKEN")])
    };
    let request = applied(&basic).await.unwrap();
    for (name, value, is_sensitive) in [
        ("authorization", "Basic YWRhOmh1bnRlcjI=", true),
        ("x-plain", "text", true),
        ("cookie", "hunter2", true),
        ("user-agent", "reader/1", false),
    ] {
        let sent = &request.headers[name];
        assert_eq!(sent, value, "{name}");
        assert_eq!(sent.is_sensitive(), is_sensitive, "{name}");
    }
    let request = applied(&bearer("env:TOKEN")).await.unwrap();
    assert_eq!(request.headers["authorization"], "Bearer hunter2");
    assert!(!format!("{request:?} {:?}", request.headers).contains("hunter2"));
}

#[tokio::test]
async fn ss_26_what_cannot_be_sent_is_a_failure_without_its_value() {
    use FailureClass::{Refused, Rules, Unauthorised};
    let proxy = |proxy: &str| Fetch {
        proxy: Some(proxy.to_owned()),
        ..Fetch::default()
    };
    let agent = Fetch {
        user_agent: Some("a\nhunter2".to_owned()),
        ..Fetch::default()
    };
    for (fetch, class, named) in [
        (bearer("hunter2"), Unauthorised, "`bearer`"),
        (bearer("env:OTHER"), Unauthorised, "`env:OTHER`"),
        (bearer("env:LINES"), Rules, "`bearer`"),
        (
            headers(&[("authorization", "hunter2")]),
            Unauthorised,
            "`authorization`",
        ),
        (headers(&[("Cookie", "hunter2")]), Unauthorised, "`cookie`"),
        (headers(&[("host", "hunter2")]), Rules, "`host`"),
        (headers(&[("a b", "hunter2")]), Rules, "name"),
        (headers(&[("x-a", "hunter2\r\nx: y")]), Rules, "`x-a`"),
        (agent, Rules, "`user_agent`"),
        (proxy("http://ada:hunter2@proxy.test"), Refused, "proxy"),
        (proxy("socks5://hunter2"), Refused, "proxy"),
        (proxy("http://proxy.test:25"), Refused, "proxy"),
    ] {
        let failure = applied(&fetch).await.unwrap_err();
        assert_eq!(failure.class, class, "{}", failure.detail);
        assert!(failure.detail.contains(named), "{}", failure.detail);
        assert!(!failure.detail.contains("hunter2"), "{}", failure.detail);
    }
}

#[test]
fn ss_26_another_origin_gets_what_is_public() {
    let fetch = Fetch {
        bearer: Some("env:TOKEN".to_owned()),
        user: Some("ada".to_owned()),
        proxy: Some("http://proxy.test:3128".to_owned()),
        ..headers(&[("x-key", "1"), ("Proxy-Authorization", "env:TOKEN")])
    };
    assert!(is_private(&fetch));
    let public = public_part(&fetch);
    assert_eq!(public.headers.len(), 1);
    assert!(public.bearer.is_none() && public.user.is_none() && public.proxy.is_some());
    assert!(!is_same_origin(ADDRESS, "http://news.test/feed"));
    assert!(is_same_origin(ADDRESS, "https://news.test:443/"));
}
