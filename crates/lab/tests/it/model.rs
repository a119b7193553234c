//! A model for each test, called over plain HTTP.

mod faults;

use almanack_lab::model::{
    self, Config, Handle, Running,
    fault::{Effect, Matching, Rule, When},
    task::Kind,
};
use reqwest::{Method, RequestBuilder, StatusCode, header::HeaderMap};
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::support::{ManualClock, client};

const KEY: &str = "sk-world-0123456789";

/// A running model and a client.
struct Model {
    running: Running,
    client: reqwest::Client,
    _stop: DropGuard,
}

/// Status, headers and body.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Value,
}

impl Answer {
    fn content(&self) -> &str {
        let content = &self.body["choices"][0]["message"]["content"];
        content.as_str().expect("content is a text")
    }

    fn array(&self) -> Vec<Value> {
        serde_json::from_str(self.content()).unwrap()
    }

    /// Status, type and code, which identify a refusal.
    fn refusal(&self) -> (u16, &Value, &Value) {
        let error = &self.body["error"];
        (self.status.as_u16(), &error["type"], &error["code"])
    }
}

impl Model {
    async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    async fn start_with(adjust: impl FnOnce(&mut Config)) -> Self {
        let clock = ManualClock::at("2026-01-05T08:00:00Z");
        let mut config = Config::new(([127, 0, 0, 1], 0).into(), KEY);
        config.clock = clock.as_clock();
        adjust(&mut config);
        let cancel = CancellationToken::new();
        let running = model::start(config, cancel.clone()).await.unwrap();
        Self {
            running,
            client: client(),
            _stop: cancel.drop_guard(),
        }
    }

    fn handle(&self) -> &Handle {
        &self.running.handle
    }

    fn at(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.running.url());
        self.client.request(method, url)
    }

    fn ask(&self, system: &str, user: &str) -> RequestBuilder {
        let messages = json!([
            { "role": "system", "content": system },
            { "role": "user", "content": user },
        ]);
        let body = json!({ "model": "tide-1", "messages": messages, "temperature": 0.3 });
        self.at(Method::POST, "/v1/chat/completions")
            .bearer_auth(KEY)
            .json(&body)
    }

    async fn titles(&self, titles: &[&str]) -> Answer {
        let array = json!(titles).to_string();
        answer(self.ask("Translate the titles.", &array)).await
    }

    async fn summary(&self, text: &str) -> Answer {
        answer(self.ask("Summarise in 200 characters.", text)).await
    }
}

async fn answer(request: RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let text = response.text().await.unwrap();
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    Answer {
        status,
        headers,
        body,
    }
}

fn is_chinese(text: &str) -> bool {
    text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
}

#[tokio::test]
async fn titles_are_translated_in_order_and_always_alike() {
    let model = Model::start().await;
    let titles = [
        "Why tides matter",
        "The history of \"winds\"",
        "Rust & C <3",
    ];
    let first = model.titles(&titles).await;
    assert_eq!(first.body["object"], "chat.completion");
    assert_eq!(first.body["model"], "tide-1");
    assert_eq!(first.body["created"], 1_767_600_000);
    assert_eq!(first.body["choices"][0]["finish_reason"], "stop");
    assert_eq!(first.body["choices"][0]["message"]["role"], "assistant");
    let usage = &first.body["usage"];
    let count = |name: &str| usage[name].as_u64().unwrap();
    assert!(count("prompt_tokens") > 10 && count("completion_tokens") > 10);
    let sum = count("prompt_tokens") + count("completion_tokens");
    assert_eq!(count("total_tokens"), sum);

    let translated = first.array();
    assert_eq!(translated.len(), 3);
    assert!(translated.iter().all(|it| is_chinese(it.as_str().unwrap())));
    assert!(translated[0].as_str().unwrap().starts_with("为什么"));
    let again = model.titles(&titles).await;
    assert_eq!(again.content(), first.content());
    assert_ne!(again.body["id"], first.body["id"]);
    let reversed = model.titles(&[titles[2], titles[1], titles[0]]).await;
    assert_eq!(reversed.array()[2], translated[0]);
}

#[tokio::test]
async fn titles_with_indices_come_back_with_them() {
    let model = Model::start().await;
    let titles = json!([{ "index": 4, "title": "Tides" }, { "index": 9, "title": "Winds" }]);
    let answer = answer(model.ask("Translate.", &titles.to_string())).await;
    let indices: Vec<Value> = answer
        .array()
        .iter()
        .map(|it| it["index"].clone())
        .collect();
    assert_eq!(indices, [json!(4), json!(9)]);
    assert!(is_chinese(answer.array()[1]["title"].as_str().unwrap()));
}

#[tokio::test]
async fn titles_are_classified_when_that_is_asked() {
    let model = Model::start_with(|config| {
        config.setup.sensitive_words = vec!["storm".to_owned()];
    })
    .await;
    let asked = "Classify every title as SAFE or SENSITIVE; reply with JSON.";
    let titles = r#"["Tides", "A Storm is coming"]"#;
    let answer = answer(model.ask(asked, titles)).await;
    let expected = json!([
        { "index": 0, "classification": "SAFE" },
        { "index": 1, "classification": "SENSITIVE" },
    ]);
    assert_eq!(Value::Array(answer.array()), expected);
    assert_eq!(model.handle().count(Kind::Filter), 1);
}

#[tokio::test]
async fn a_text_is_summarised_within_the_length_asked_for() {
    let model = Model::start().await;
    let text = "The harbour was built in 1890. ".repeat(50);
    let long = model.summary(&text).await;
    assert!(is_chinese(long.content()) && long.content().contains("harbour"));
    assert!(long.content().chars().count() <= 200);
    assert!(long.content().matches('。').count() >= 2);
    let short = answer(model.ask("用 30 字总结。", &text)).await;
    assert!(short.content().chars().count() <= 30, "{}", short.content());
}

#[tokio::test]
async fn more_tokens_than_allowed_are_cut_off() {
    let model = Model::start().await;
    let message = json!({ "role": "user", "content": [{ "type": "text", "text": "Tides" }] });
    let body = json!({ "model": "m", "messages": [message], "max_tokens": 8 });
    let request = model.at(Method::POST, "/chat/completions").bearer_auth(KEY);
    let cut = answer(request.json(&body)).await;
    assert_eq!(cut.body["choices"][0]["finish_reason"], "length");
    assert!(cut.body["usage"]["completion_tokens"].as_u64().unwrap() <= 8);
}

#[tokio::test]
async fn unknown_keys_and_invalid_requests_are_refused_in_the_usual_shapes() {
    let model = Model::start_with(|config| config.setup.models = vec!["tide-1".to_owned()]).await;
    let post = |path: &str| model.at(Method::POST, path);
    let good = json!({ "model": "tide-1", "messages": [{ "role": "user", "content": "x" }] });
    let kind = json!("invalid_request_error");

    let none = answer(post("/v1/chat/completions").json(&good)).await;
    assert_eq!(none.refusal(), (401, &kind, &Value::Null));
    let wrong = post("/v1/chat/completions").bearer_auth("sk-wrong-987654321");
    let wrong = answer(wrong.json(&good)).await;
    assert_eq!(wrong.refusal(), (401, &kind, &json!("invalid_api_key")));
    assert!(!wrong.body.to_string().contains("sk-wrong-987654321"));

    let send = |body: Value| {
        let request = post("/v1/chat/completions").bearer_auth(KEY);
        answer(request.body(body.as_str().map_or(body.to_string(), str::to_owned)))
    };
    for (why, body, status) in [
        ("not JSON", json!("{"), 400),
        ("no model", json!({ "messages": good["messages"] }), 400),
        (
            "no messages",
            json!({ "model": "tide-1", "messages": [] }),
            400,
        ),
        (
            "no content",
            json!({ "model": "tide-1", "messages": [{ "role": "user" }] }),
            400,
        ),
        (
            "another model",
            json!({ "model": "x", "messages": good["messages"] }),
            404,
        ),
    ] {
        let refused = send(body).await;
        assert_eq!(refused.status, status, "{why}");
        assert!(refused.body["error"]["message"].is_string(), "{why}");
    }
    let elsewhere = answer(post("/v1/completions").bearer_auth(KEY).json(&good)).await;
    assert_eq!(elsewhere.refusal(), (404, &kind, &Value::Null));
}

#[tokio::test]
async fn every_usual_base_is_the_same_model() {
    let model = Model::start().await;
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "Tides" }] });
    for base in ["", "/v1", "/api/v1"] {
        let request = model.at(Method::POST, &format!("{base}/chat/completions"));
        let answer = answer(request.bearer_auth(KEY).json(&body)).await;
        assert_eq!(answer.status, 200, "{base}");
    }
}

#[tokio::test]
async fn the_journal_reports_sizes_and_kinds_but_no_secret() {
    let model = Model::start().await;
    model.titles(&["Tides of yore", "Winds"]).await;
    model.summary("Tides of yore").await;
    let seen = model.handle().requests();
    let asked: Vec<_> = seen
        .iter()
        .map(|it| it.facts.asked.clone().unwrap())
        .collect();
    assert_eq!((asked[0].kind, asked[0].titles), (Kind::Titles, 2));
    assert_eq!((asked[1].kind, asked[1].titles), (Kind::Summary, 0));
    assert_eq!(asked[0].temperature, Some(0.3));
    assert_eq!(asked[1].messages, 2);
    assert!(asked[0].prompt_chars > 20 && asked[0].completion_tokens > 0);
    assert_ne!(asked[0].input, asked[1].input);
    assert_eq!(seen[0].facts.key.len(), 8);
    let visible = serde_json::to_string(&seen).unwrap() + &format!("{:?}", model.handle());
    assert!(
        !visible.contains(KEY) && !visible.contains("yore"),
        "{visible}"
    );
}

#[tokio::test]
async fn another_process_injects_faults_and_inspects() {
    let model = Model::start().await;
    let fault = json!({
        "matching": { "kind": "titles" },
        "when": { "next": 1 },
        "effect": { "limited": { "retry_after_s": 7 } },
    });
    let laid = answer(model.at(Method::POST, "/_world/faults").json(&fault)).await;
    assert_eq!(laid.status, 204);
    let matching = Matching {
        kind: Some(Kind::Titles),
        ..Matching::default()
    };
    let effect = Effect::Limited {
        retry_after_s: Some(7),
        as_date: false,
    };
    let expected = Rule {
        matching,
        when: When::Next(1),
        effect,
    };
    assert_eq!(model.handle().faults(), [expected]);
    assert_eq!(model.summary("Tides").await.status, 200);
    assert_eq!(model.titles(&["Tides"]).await.headers["retry-after"], "7");
    let seen = answer(model.at(Method::GET, "/_world/requests")).await;
    assert_eq!(seen.body["total"], 2);
    assert_eq!(seen.body["newest"][1]["status"], 429);
    let welcome = answer(model.at(Method::GET, "/_world")).await;
    assert!(welcome.body.as_str().unwrap().contains("/_world/faults"));
}
