//! Where the client connects to, and where it never does.

use std::time::Duration;

use almanack_adapters::http::{Client, Error, Limits, Phase, Request, Settings};
use almanack_core::{
    address::{Guard, Origin, Refusal},
    budget::Budget,
};
use url::Url;

use super::server::{Act, Names, Server, client, home, moved, ok};

fn origin(text: &str) -> Origin {
    Origin::of(&Url::parse(text).unwrap()).unwrap()
}

fn refused_range(error: &Error) -> bool {
    let Error::Refused { refusal, .. } = error else {
        return false;
    };
    matches!(refusal, Refusal::Range { .. })
}

#[tokio::test]
async fn ss_14_a_literal_is_checked_although_no_resolver_is_asked() {
    let server = Server::saying(ok("", b"inside")).await;
    let port = server.at.port();
    let outside = client(&[], Names::with(&[]));
    for host in [
        "127.0.0.1",
        "0x7f.1",
        "2130706433",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "127.0.0.1.",
    ] {
        let error = outside
            .send(Request::get(format!("http://{host}:{port}/")))
            .await
            .unwrap_err();
        assert!(refused_range(&error), "{host}: {error}");
    }
    assert_eq!(server.heads(), Vec::<String>::new(), "no server was called");
    let inside = home().send(Request::get(server.url("/"))).await.unwrap();
    assert_eq!(inside.body, b"inside", "what is allowed is reached");
}

#[tokio::test]
async fn ss_14_a_name_that_leads_inside_is_not_connected_to() {
    let server = Server::saying(ok("", b"inside")).await;
    let names = Names::with(&[
        ("inside.test", &[&["127.0.0.1"]]),
        ("mapped.test", &[&["::ffff:127.0.0.1"]]),
        ("nothing.test", &[&[]]),
    ]);
    let outside = client(&["127.0.0.2"], names);
    let url = |name: &str| format!("http://{name}:{}/", server.at.port());
    for name in ["inside.test", "mapped.test"] {
        let error = outside.send(Request::get(url(name))).await.unwrap_err();
        assert!(refused_range(&error), "{name}: {error}");
        assert!(!error.is_transient(), "{name}");
    }
    for name in ["unknown.test", "nothing.test"] {
        let error = outside.send(Request::get(url(name))).await.unwrap_err();
        assert!(matches!(error, Error::Dns { .. }), "{name}: {error}");
        assert!(error.is_transient() && !error.may_have_arrived(), "{name}");
    }
    assert_eq!(server.heads(), Vec::<String>::new());
}

/// 127.0.0.1 is the public address that a name shows first, 127.0.0.2 the private one that it shows
/// once it has been checked.
#[tokio::test]
async fn ss_14_a_name_that_changes_its_mind_gains_nothing() {
    let open = Server::saying(ok("", b"public")).await;
    let port = open.at.port();
    let closed = Server::start_at([127, 0, 0, 2].into(), port, |_| {
        vec![Act::Say(ok("", b"private"))]
    })
    .await;
    let names = Names::with(&[
        ("turns.test", &[&["127.0.0.1"], &["127.0.0.2"]]),
        ("both.test", &[&["127.0.0.2", "127.0.0.1"]]),
    ]);
    let client = client(&["127.0.0.1"], names);
    let turns = format!("http://turns.test:{port}/");
    let first = client.send(Request::get(&turns)).await.unwrap();
    assert_eq!(first.body, b"public");
    let second = client.send(Request::get(&turns)).await.unwrap_err();
    assert!(refused_range(&second), "{second}");
    let both = client
        .send(Request::get(format!("http://both.test:{port}/")))
        .await;
    assert_eq!(both.unwrap().body, b"public", "only what was let through");
    assert_eq!(closed.heads(), Vec::<String>::new(), "never connected");
}

#[tokio::test]
async fn ss_14_a_redirect_is_a_new_address_and_checked_like_one() {
    let closed = Server::start_at([127, 0, 0, 2].into(), 0, |_| {
        vec![Act::Say(ok("", b"private"))]
    })
    .await;
    let port = closed.at.port();
    let names = Names::with(&[("inside.test", &[&["127.0.0.2"]])]);
    let client = client(&["127.0.0.1"], names);
    for (location, why) in [
        (format!("http://127.0.0.2:{port}/"), "literal"),
        (format!("http://0x7f.2:{port}/"), "hidden literal"),
        (format!("//127.0.0.2:{port}/"), "without a scheme"),
        (format!("http://[::ffff:7f00:2]:{port}/"), "mapped"),
        (format!("http://inside.test:{port}/"), "a name"),
        ("http://169.254.169.254/latest/".to_owned(), "metadata"),
        (
            "http://[fd00:ec2::254]/latest/".to_owned(),
            "metadata, IPv6",
        ),
        ("http://2852039166/".to_owned(), "metadata, as a number"),
        (format!("http://u:p@127.0.0.1:{port}/"), "a user"),
        (
            "http://127.0.0.1:6379/".to_owned(),
            "a port of another service",
        ),
        ("http://127.0.0.1:22/".to_owned(), "a low port"),
        ("file:///etc/passwd".to_owned(), "another scheme"),
        ("gopher://127.0.0.1:70/".to_owned(), "another scheme"),
        ("ftp://127.0.0.1/".to_owned(), "another scheme"),
        ("data:text/plain,x".to_owned(), "no address at all"),
        ("javascript:alert(1)".to_owned(), "no address at all"),
    ] {
        let server = Server::saying(moved(302, &location)).await;
        let request = Request::get(server.url("/?token=s3cr3t")).following(5);
        let error = client.send(request).await.unwrap_err();
        let text = error.to_string();
        let Error::Refused { hops: 1, .. } = error else {
            panic!("{why}: {error:?}");
        };
        assert!(text.starts_with("a redirect leads"), "{why}: {text}");
        assert!(!text.contains("s3cr3t") && !text.contains("u:p"), "{text}");
    }
    assert_eq!(closed.heads(), Vec::<String>::new(), "never connected");
}

#[tokio::test]
async fn ss_14_a_trusted_origin_skips_the_ranges_and_nothing_else() {
    let server = Server::saying(ok("", b"mine")).await;
    let other = Server::saying(ok("", b"not mine")).await;
    let client = client(&[], Names::with(&[("nas.test", &[&["127.0.0.1"]])]));
    let named = format!("http://nas.test:{}/", server.at.port());
    client.trust([origin(&server.url("/")), origin(&named)]);
    for url in [server.url("/any?thing"), named.clone()] {
        assert_eq!(client.send(Request::get(&url)).await.unwrap().body, b"mine");
    }
    for url in [
        other.url("/"),
        format!("http://nas.test:{}/", other.at.port()),
        format!("https://{}/", server.at),
    ] {
        let error = client.send(Request::get(&url)).await.unwrap_err();
        assert!(refused_range(&error), "{url}: {error}");
    }
    client.trust([origin("http://127.0.0.1:22/")]);
    for url in ["http://127.0.0.1:22/".to_owned(), server.url("/"), named] {
        let error = client.send(Request::get(&url)).await.unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{url}: {error}");
    }
    assert_eq!(other.heads(), Vec::<String>::new());
}

#[tokio::test]
async fn ss_14_a_budget_counts_what_leaves() {
    let server = Server::start(|head| {
        vec![Act::Say(match super::server::path(head) {
            "/moved" => moved(301, "/"),
            _ => ok("", b"x"),
        })]
    })
    .await;
    let client = home();
    let request_budget = Budget::new(3);
    let ask = |url: String| {
        Request::get(url)
            .following(5)
            .paid_by(request_budget.clone())
    };
    client.send(ask(server.url("/"))).await.unwrap();
    assert_eq!((request_budget.left(), request_budget.spent()), (2, 1));
    for url in [
        "http://10.0.0.1/",
        "http://unknown.test/",
        "http://127.0.0.1:1025/",
    ] {
        client.send(ask(url.to_owned())).await.unwrap_err();
        assert_eq!(
            (request_budget.left(), request_budget.spent()),
            (2, 1),
            "{url} did not leave"
        );
    }
    client.send(ask(server.url("/moved"))).await.unwrap();
    assert_eq!(
        (request_budget.left(), request_budget.spent()),
        (0, 3),
        "a redirect is a request"
    );
    let error = client.send(ask(server.url("/"))).await.unwrap_err();
    assert!(matches!(error, Error::Spent(_)), "{error}");
    assert_eq!(server.heads().len(), 3);
}

#[tokio::test]
async fn ss_14_a_request_that_is_given_up_in_the_middle_counts() {
    let server = Server::start(|_| vec![Act::Hang]).await;
    let request_budget = Budget::new(1);
    let limits = Limits {
        total: Duration::from_millis(300),
        ..Limits::default()
    };
    let request = Request::get(server.url("/"))
        .limits(limits)
        .paid_by(request_budget.clone());
    let error = home().send(request).await.unwrap_err();
    let Error::Timeout { phase, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!(phase, Phase::Answer);
    assert_eq!((request_budget.left(), request_budget.spent()), (0, 1));
}

#[tokio::test]
async fn ss_14_we_say_who_we_are_and_whom_to_write_to() {
    let server = Server::saying(ok("", b"x")).await;
    let allow = vec![almanack_core::address::parse_net("127.0.0.1").unwrap()];
    let client = Client::new(&Settings {
        contact: Some("https://news.example.org/about".to_owned()),
        ..Settings::new(Guard::new(allow, "sources.allow"))
    })
    .unwrap();
    client.send(Request::get(server.url("/"))).await.unwrap();
    let head = &server.heads()[0];
    assert!(head.contains("user-agent: almanack/"), "{head}");
    assert!(head.contains("(+https://news.example.org/about)"), "{head}");
    assert!(head.contains("accept-encoding: gzip, br"), "{head}");
}

#[tokio::test]
async fn ss_14_a_missing_server_and_one_without_tls_are_distinguished() {
    let unused = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let error = home().send(Request::get(format!("http://{unused}/"))).await;
    let error = error.unwrap_err();
    assert!(matches!(error, Error::Connect { .. }), "{error:?}");
    assert!(!error.may_have_arrived());
    let plain = Server::saying(ok("", b"x")).await;
    let error = home()
        .send(Request::get(format!("https://{}/", plain.at)))
        .await;
    let error = error.unwrap_err();
    assert!(matches!(error, Error::Tls { .. }), "{error:?}");
}
