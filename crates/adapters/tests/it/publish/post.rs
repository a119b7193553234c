//! Posts to Slack, Discord, Mastodon and Bluesky, on loopback.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use almanack_adapters::publish::post::{PostPublisher, PostSettings, Service, Visibility};
use almanack_core::{
    edition::{
        delivery::OnUnknown,
        document::Document,
        port::{FailureClass, Message, Presence, Publisher, Sent},
    },
    secret::Secret,
};
use axum::{
    Json, Router,
    extract::{Request, State},
    http::StatusCode,
    routing::any,
};
use serde_json::{Value, json};

use super::{document, failed, receipt, request_budget, unknown};
use crate::fixture::{Fixed, client, serve};

const TOKEN: &str = "hush-hush";

/// What was asked: path, authorization, idempotency key, body.
type Asked = (String, String, String, Value);

#[derive(Clone, Default)]
struct Server {
    asked: Arc<Mutex<Vec<Asked>>>,
    /// What a path that ends like this answers instead.
    answers: Vec<(&'static str, u16, Value)>,
}

impl Server {
    async fn start(self) -> (String, Self) {
        let shared = self.clone();
        let router = Router::new().fallback(any(answer)).with_state(shared);
        (serve(router).await, self)
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn header(request: &Request, name: &str) -> String {
    let value = request.headers().get(name);
    value.map_or("", |value| value.to_str().unwrap()).to_owned()
}

async fn answer(State(server): State<Server>, request: Request) -> (StatusCode, Json<Value>) {
    let key = header(&request, "idempotency-key");
    let authorization = header(&request, "authorization");
    let path = request.uri().to_string();
    let body = axum::body::to_bytes(request.into_body(), 1 << 20)
        .await
        .unwrap();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    server
        .asked
        .lock()
        .unwrap()
        .push((path.clone(), authorization, key, body));
    let special = server.answers.iter().find(|(part, ..)| path.contains(part));
    let (status, answer) = match special {
        Some((_, status, answer)) => (*status, answer.clone()),
        None if path.contains("createSession") => {
            (200, json!({ "did": "did:plc:1", "accessJwt": "jwt" }))
        }
        None => (
            200,
            json!({ "id": "7", "url": "https://m.example/7", "uri": "at://1/7" }),
        ),
    };
    (StatusCode::from_u16(status).unwrap(), Json(answer))
}

fn publisher(service: Service) -> PostPublisher {
    let settings = PostSettings {
        service,
        pages_url: Some("https://daily.example".to_owned()),
        on_unknown: OnUnknown::Skip,
        timeout: Duration::from_secs(10),
    };
    PostPublisher::new(client(), Arc::new(Fixed), settings)
}

fn slack(url: &str) -> Service {
    Service::Slack {
        url: Secret::new(&format!("{url}/services/{TOKEN}")),
    }
}

fn discord(url: &str) -> Service {
    Service::Discord {
        url: Secret::new(&format!("{url}/api/webhooks/1/{TOKEN}")),
    }
}

fn mastodon(url: &str) -> Service {
    Service::Mastodon {
        server: url.to_owned(),
        token: Secret::new(TOKEN),
        visibility: Visibility::Unlisted,
    }
}

fn bluesky(url: &str) -> Service {
    Service::Bluesky {
        server: url.to_owned(),
        handle: "daily.example".to_owned(),
        password: Secret::new(TOKEN),
    }
}

async fn post(publisher: &PostPublisher, document: &Document) -> Sent {
    let parts = publisher.parts(document);
    assert_eq!(parts.len(), 1, "one post");
    let message = Message {
        document,
        part: 1,
        body: parts[0].as_deref().unwrap(),
        key: "edition:2026-01-10/1/there/1".to_owned(),
    };
    publisher.send(&message, &request_budget()).await
}

#[tokio::test]
async fn ed_34_slack_and_discord_get_one_message_with_links() {
    let (url, server) = Server::default().start().await;
    let document = document(3, "");
    let sent = post(&publisher(slack(&url)), &document).await;
    assert_eq!(sent, Sent::Confirmed { receipt: None });
    assert_eq!(
        receipt(post(&publisher(discord(&url)), &document).await),
        "7"
    );
    let asked = server.asked();
    let slack = asked[0].3["text"].as_str().unwrap();
    assert!(
        slack.contains("1. <https://example.com/1|标题 1>"),
        "{slack}"
    );
    assert!(
        slack.ends_with("https://daily.example/editions/2026-01-10"),
        "{slack}"
    );
    assert!(asked[1].0.ends_with("?wait=true"), "{:?}", asked[1].0);
    let discord = asked[1].3["content"].as_str().unwrap();
    assert!(
        discord.contains("[标题 1](<https://example.com/1>)"),
        "{discord}"
    );
    assert_eq!(asked[1].3["allowed_mentions"], json!({ "parse": [] }));
}

#[tokio::test]
async fn ed_34_mastodon_recognises_a_repetition_by_its_key() {
    let (url, server) = Server::default().start().await;
    let (publisher, document) = (publisher(mastodon(&url)), document(3, ""));
    assert_eq!(
        receipt(post(&publisher, &document).await),
        "https://m.example/7"
    );
    post(&publisher, &document).await;
    let asked = server.asked();
    assert_eq!(asked[0].0, "/api/v1/statuses");
    assert_eq!(asked[0].1, format!("Bearer {TOKEN}"));
    assert!(
        !asked[0].2.is_empty() && asked[0].2 == asked[1].2,
        "{asked:?}"
    );
    assert_eq!(
        (&asked[0].3["visibility"], &asked[0].3["language"]),
        (&json!("unlisted"), &json!("zh"))
    );
    assert_eq!(publisher.on_unknown(), OnUnknown::Repeat);
}

#[tokio::test]
async fn ed_34_bluesky_gets_a_record_that_a_look_finds() {
    let missing = json!({ "error": "RecordNotFound" });
    let answers = vec![("rkey=none", 400, missing.clone())];
    let server = Server {
        answers,
        ..Server::default()
    };
    let (url, server) = server.start().await;
    let (publisher, document) = (publisher(bluesky(&url)), document(3, ""));
    assert_eq!(receipt(post(&publisher, &document).await), "at://1/7");
    let asked = server.asked();
    assert_eq!(asked[0].3["identifier"], "daily.example");
    assert_eq!(asked[1].1, "Bearer jwt");
    let (body, record) = (&asked[1].3, &asked[1].3["record"]);
    assert_eq!(body["rkey"].as_str().unwrap().len(), 13, "{body}");
    let text = record["text"].as_str().unwrap();
    let index = &record["facets"][0]["index"];
    let range = index["byteStart"].as_u64().unwrap()..index["byteEnd"].as_u64().unwrap();
    let range = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
    assert_eq!(&text[range], "https://daily.example/editions/2026-01-10");
    let message = Message {
        document: &document,
        part: 1,
        body: text,
        key: "edition:2026-01-10/1/there/1".to_owned(),
    };
    let seen = publisher.look(&message, &request_budget()).await;
    assert!(matches!(seen, Presence::There { .. }), "{seen:?}");
    let absent = Server {
        answers: vec![("getRecord", 400, missing)],
        ..Server::default()
    };
    let (url, _) = absent.start().await;
    let elsewhere = self::publisher(bluesky(&url));
    assert_eq!(
        elsewhere.look(&message, &request_budget()).await,
        Presence::NotThere
    );
}

#[tokio::test]
async fn ed_12_every_answer_has_its_meaning_and_no_secret_is_shown() {
    for (status, class, doubtful) in [
        (401, FailureClass::Credentials, false),
        (404, FailureClass::Refused, false),
        (429, FailureClass::RateLimited, false),
        (500, FailureClass::Transient, true),
    ] {
        let server = Server {
            answers: vec![
                ("/services/", status, json!({})),
                ("webhooks", status, json!({})),
                ("statuses", status, json!({})),
                ("createRecord", status, json!({})),
            ],
            ..Server::default()
        };
        let (url, _) = server.start().await;
        for service in [slack(&url), discord(&url), mastodon(&url), bluesky(&url)] {
            let sent = post(&publisher(service), &document(1, "")).await;
            let failure = if doubtful {
                unknown(sent)
            } else {
                failed(sent)
            };
            assert_eq!(failure.class, class, "{status}");
            assert!(!failure.detail.contains(TOKEN), "{failure}");
        }
    }
    // Nothing was posted while there is no session.
    let server = Server {
        answers: vec![("createSession", 500, json!({}))],
        ..Server::default()
    };
    let (url, _) = server.start().await;
    failed(post(&publisher(bluesky(&url)), &document(1, "")).await);
}
