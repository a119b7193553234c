//! `almanack world`: the article service with an unconfigured node, GitHub, feeds, news, a model
//! and Telegram.

use std::fs;

use reqwest::Method;
use serde_json::json;

use crate::{
    api::NOW,
    harness::Home,
    process::{Process, eventually, free_address},
};

fn service(home: &Home, node: &Process, more: &[&str]) -> Process {
    let address = free_address();
    let (listen, almanack) = (address.to_string(), format!("http://{}", node.address));
    let arguments = ["world", "article-service", "--listen", &listen];
    let arguments = [&arguments, &["--almanack-url", &almanack][..], more].concat();
    Process::start(home, address, home.command(&arguments))
}

async fn write(service: &Process) {
    let article = json!({ "title": "Tides", "publish_at": NOW });
    let api = service.api();
    let written = api.insist(Method::POST, "/articles", Some(&article)).await;
    assert_eq!(written.status, 201, "{written:?}");
}

#[tokio::test]
async fn an_article_is_published_by_a_node_without_configuration() {
    let home = Home::new();
    let node = Process::node(&home, free_address(), &[]).ready().await;
    let service = service(&home, &node, &[]).ready().await;
    let welcome = service.api().insist(Method::GET, "/", None).await;
    assert_eq!(welcome.status, 200);
    assert!(welcome.json.as_str().unwrap().contains("POST  /articles"));
    assert!(service.notes().contains("curl -X POST http://"));
    write(&service).await;
    eventually("the article is published", async || {
        let article = service.api().insist(Method::GET, "/articles/1", None).await;
        (article.json["state"] == "PUBLISHED").then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_event_that_is_refused_is_reported_with_its_reason_and_can_be_sent_again() {
    let home = Home::new();
    let mut node = Process::node(&home, free_address(), &[]).ready().await;
    let service = service(&home, &node, &["--no-callback-url"]).ready().await;
    assert!(service.notes().contains("[kinds.ARTICLE_AUDIT]"));
    write(&service).await;
    eventually("the refusal is in the log", async || {
        let notes = service.notes();
        let refusal = notes.lines().find(|line| line.contains("refused an event"));
        refusal
            .filter(|line| line.contains("kind `ARTICLE_AUDIT` is not configured"))
            .map(|_| ())
    })
    .await;
    node.kill().await;
    let retried = service
        .api()
        .insist(Method::POST, "/outbox/retry", None)
        .await;
    assert_eq!(retried.json["retried"], 2, "{retried:?}");
    eventually("the outage is in the log", async || {
        let notes = service.notes();
        let outage =
            |line: &&str| line.contains("does not accept events") && line.contains("refused");
        notes.lines().find(outage).map(|_| ())
    })
    .await;
}

#[tokio::test]
async fn a_github_starts_with_what_its_setup_names() {
    let home = Home::new();
    let setup = json!({
        "tokens": [{ "name": "chain", "secret": "s-chain", "repositories": ["octo/clock"] }],
        "repositories": [{ "owner": "octo", "name": "clock" }],
    });
    fs::write(home.path().join("github.json"), setup.to_string()).unwrap();
    let address = free_address();
    let listen = address.to_string();
    let arguments = [
        "world",
        "github",
        "--listen",
        &listen,
        "--setup",
        "github.json",
    ];
    let command = home.command(&arguments);
    let mut github = Process::start(&home, address, command).ready().await;
    let path = "/_world/repos/octo/clock/refs";
    let refs = github.api().insist(Method::GET, path, None).await;
    assert!(refs.json["refs/heads/main"].is_string(), "{refs:?}");
    assert!(github.notes().contains("curl http://"));
    assert!(!github.notes().contains("s-chain"));
    github.terminate();
    assert_eq!(github.exit_code().await, Some(0));
}

#[tokio::test]
async fn feeds_answer_on_their_own_hosts_and_are_listed() {
    let home = Home::new();
    let address = free_address();
    let listen = format!("0.0.0.0:{}", address.port());
    let arguments = ["world", "feeds", "--listen", &listen];
    let arguments = [&arguments[..], &["--feeds", "50", "--seed", "7", "--quiet"]].concat();
    let command = home.command(&arguments);
    let mut feeds = Process::start(&home, address, command).ready().await;
    let list = feeds.api().insist(Method::GET, "/opml", None).await;
    let list = list.json.as_str().unwrap().to_owned();
    assert!(list.contains(&format!(
        "xmlUrl=\"http://127.1.1.1:{}/feeds/",
        address.port()
    )));
    let cards = feeds.api().insist(Method::GET, "/_world/feeds", None).await;
    assert_eq!(cards.json.as_array().unwrap().len(), 50);
    assert!(
        feeds
            .notes()
            .contains("50 simulated feeds, the first at http://127.1.1.1:")
    );
    feeds.terminate();
    assert_eq!(feeds.exit_code().await, Some(0));
}

#[tokio::test]
async fn a_news_site_answers_with_as_many_stories_as_asked() {
    let home = Home::new();
    let address = free_address();
    let listen = address.to_string();
    let arguments = [
        "world", "news", "--listen", &listen, "--seed", "7", "--quiet",
    ];
    let more = ["--stories-per-day", "10", "--latency", "1ms"];
    let command = home.command(&[&arguments[..], &more].concat());
    let mut news = Process::start(&home, address, command).ready().await;
    let path = "/v0/beststories.json";
    let best = news.api().insist(Method::GET, path, None).await;
    let best = best.json.as_array().unwrap().len();
    // Three days back from any moment: ten stories each, plus or minus the present day.
    assert!((20..=40).contains(&best), "{best} stories");
    assert!(news.notes().contains("curl http://"));
    news.terminate();
    assert_eq!(news.exit_code().await, Some(0));
}

#[test]
fn an_invalid_setup_is_reported_with_its_position_and_without_its_secrets() {
    let home = Home::new();
    let text = "{\"tokens\": [{\"name\": \"chain\",\n\"secret\": 5, \"x\": \"s-chain\"}]}";
    fs::write(home.path().join("github.json"), text).unwrap();
    let arguments = [
        "world",
        "github",
        "--listen",
        "127.0.0.1:0",
        "--setup",
        "github.json",
    ];
    let ended = home.command(&arguments).output().unwrap();
    let notes = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{notes}");
    assert!(
        notes.contains("`github.json` is not a valid setup: line 2, column "),
        "{notes}"
    );
    assert!(!notes.contains("s-chain"), "{notes}");
}

#[tokio::test]
async fn a_model_and_a_telegram_greet_with_what_to_try_and_keep_other_secrets() {
    let home = Home::new();
    for (piece, secret, known, tried) in [
        ("model", "--key", "world-key", "/v1/chat/completions"),
        (
            "telegram",
            "--token",
            "bot123456:almanack-world",
            "/_world/messages/@almanack",
        ),
    ] {
        for (more, shown) in [(vec![], true), (vec![secret, "99:hidden"], false)] {
            let address = free_address();
            let listen = address.to_string();
            let arguments = [&["world", piece, "--listen", &listen], &more[..]].concat();
            let command = home.command(&arguments);
            let mut running = Process::start(&home, address, command).ready().await;
            let api = running.api();
            let seen = api.insist(Method::GET, "/_world/requests", None).await;
            assert_eq!(seen.json["total"], 0, "{piece}");
            let notes = running.notes();
            assert!(notes.contains(tried), "{notes}");
            assert_eq!(notes.contains(known), shown, "{notes}");
            assert!(!notes.contains("99:hidden"), "{notes}");
            running.terminate();
            assert_eq!(running.exit_code().await, Some(0), "{piece}");
        }
    }
}
