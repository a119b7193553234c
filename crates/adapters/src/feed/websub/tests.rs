use almanack_core::{address::Guard, host_pace::Pace};
use almanack_testkit::{clock::ManualClock, entropy::SeededEntropy, fixture::START};
use reqwest::header::HeaderMap;

use super::*;
use crate::http::{Client, Head, Settings, host_paces::HostPaces};

fn websub(public_url: Option<&str>, is_on: bool, key: Option<&str>) -> WebSub {
    let guard = Guard::new(Vec::new(), "sources.allow");
    let client = Client::new(&Settings::new(guard)).unwrap();
    let host_paces = HostPaces::new(Pace::default(), Arc::new(ManualClock::at(START)));
    let home = Home {
        public_url: public_url.map(|url| Url::parse(url).unwrap()),
        is_on,
        key: key.map(Secret::new),
    };
    let checker = FeedChecker::new(client, host_paces);
    WebSub::new(checker, home, Arc::new(SeededEntropy::new(1)))
}

fn hub() -> Hub {
    Hub {
        hub: "https://hub.example/".to_owned(),
        topic: "https://blog.example/feed?a=1&b=2".to_owned(),
        token: "abc".to_owned(),
        ..Hub::default()
    }
}

#[test]
fn ss_23_signatures_of_all_four_methods_are_checked() {
    // Test case 2 of RFC 2202 and RFC 4231, computed independently.
    let (key, text) = (b"Jefe", b"what do ya want for nothing?");
    let long = [0xaa; 80];
    for (own, expected) in [
        (
            mac_sha1(key, text),
            "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
        ),
        (
            mac_sha1(
                &long,
                b"Test Using Larger Than Block-Size Key - Hash Key First",
            ),
            "aa4ae5e15272d00e95705637ce8a3b55ed402112",
        ),
        (
            mac::<Hmac<Sha256>>(key, text),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
    ] {
        assert_eq!(hex(&own), expected);
    }
    let websub = websub(Some("https://node.example/"), true, None);
    let secret = websub.secret(&hub());
    let sha1 = hex(&mac_sha1(secret.as_bytes(), b"<feed/>"));
    let sha512 = hex(&mac::<Hmac<Sha512>>(secret.as_bytes(), b"<feed/>"));
    let sha384 = hex(&mac::<Hmac<Sha384>>(secret.as_bytes(), b"<feed/>"));
    for (signature, fits) in [
        (format!("sha1={sha1}"), true),
        (format!("SHA1={}", sha1.to_uppercase()), true),
        (format!("sha384={sha384}"), true),
        (format!("sha512={sha512}"), true),
        (format!("sha256={sha512}"), false),
        (format!("sha512={}", &sha512[..20]), false),
        (format!("md5={sha1}"), false),
        (String::new(), false),
        ("sha512=".to_owned(), false),
        (sha1.clone(), false),
    ] {
        let verified = websub.verifies(&hub(), &signature, b"<feed/>");
        assert_eq!(verified, fits, "{signature}");
        assert!(!websub.verifies(&hub(), &signature, b"<feed />"));
    }
}

#[test]
fn ss_23_a_request_names_callback_secret_and_lease() {
    let websub = websub(Some("https://node.example/almanack/"), true, Some("key"));
    let request = websub.request(SourceId(7), &hub()).unwrap();
    assert_eq!(request.address, "https://hub.example/");
    let body = request.body.unwrap();
    let form: Vec<(String, String)> = form_urlencoded::parse(&body).into_owned().collect();
    let value = |name: &str| {
        let mut pairs = form.iter();
        pairs.find_map(|(key, value)| (key == name).then_some(value.as_str()))
    };
    assert_eq!(value("hub.mode"), Some("subscribe"));
    assert_eq!(
        value("hub.topic"),
        Some("https://blog.example/feed?a=1&b=2")
    );
    assert_eq!(value("hub.lease_seconds"), Some("864000"));
    let callback = value("hub.callback").unwrap();
    let token = callback.strip_prefix("https://node.example/almanack/websub/7/");
    let token = token.unwrap();
    assert!(websub.admits(&hub(), token));
    assert!(!websub.admits(&hub(), &token[1..]) && !websub.admits(&hub(), ""));
    let secret = value("hub.secret").unwrap();
    assert!(!secret.contains("abc") && !secret.contains(token) && secret.len() == 64);
}

#[test]
fn ss_23_tokens_are_random_and_secrets_differ_by_key() {
    let [with, other, without] =
        [Some("a"), Some("b"), None].map(|key| websub(Some("https://node.example/"), true, key));
    assert_ne!(with.secret(&hub()), other.secret(&hub()));
    assert_ne!(with.secret(&hub()), without.secret(&hub()));
    assert_ne!(with.home(), other.home());
    assert_ne!(with.token(), with.token());
    assert_eq!(with.token().len(), 64);
}

#[test]
fn ss_23_without_a_public_address_there_is_no_request() {
    for (url, is_on, expected) in [
        (Some("https://node.example/"), true, Reach::Open),
        (None, true, Reach::NoAddress),
        (Some("https://node.example/"), false, Reach::Off),
        (None, false, Reach::Off),
    ] {
        assert_eq!(websub(url, is_on, None).reach(), expected);
    }
    assert!(
        websub(None, true, None)
            .request(SourceId(7), &hub())
            .is_none()
    );
}

#[test]
fn ss_23_a_hubs_answer_means_yes_no_or_later() {
    let said = |status: u16, body: &str| {
        let head = Head {
            status,
            headers: HeaderMap::new(),
            address: Url::parse("https://hub.example/").unwrap(),
            moved_to: None,
        };
        answer(&Response {
            head,
            body: body.as_bytes().to_vec(),
        })
    };
    assert_eq!(said(202, ""), HubAnswer::Accepted);
    let refused = HubAnswer::Refused("unknown topic (HTTP 422)".to_owned());
    assert_eq!(said(422, "unknown\n topic\n"), refused);
    for status in [302, 408, 429, 500, 503] {
        assert!(matches!(said(status, ""), HubAnswer::NotNow(_)), "{status}");
    }
}
