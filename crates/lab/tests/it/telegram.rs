//! A Telegram for each test, called over plain HTTP.

mod faults;

use almanack_lab::telegram::{
    self, Config, Handle, Running,
    fault::{Effect, Matching, Rule, When},
    state::{Chat, Standing},
};
use reqwest::{Method, RequestBuilder, header::HeaderMap};
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::support::{ManualClock, client};

const TOKEN: &str = "123456:AAH-world_telegram_bot_token_00000";
const CHANNEL: &str = "@tides";

/// A running Telegram with one channel and a client.
struct Telegram {
    clock: ManualClock,
    running: Running,
    client: reqwest::Client,
    _stop: DropGuard,
}

/// Status, headers and body.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Value,
}

impl Answer {
    /// Status and description, which identify a refusal.
    fn refusal(&self) -> (u16, &str) {
        assert_eq!(self.body["ok"], false, "{self:?}");
        assert_eq!(self.body["error_code"], self.status);
        let description = self.body["description"].as_str();
        (self.status, description.unwrap_or_default())
    }

    fn result(&self) -> &Value {
        assert_eq!(
            (self.status, &self.body["ok"]),
            (200, &json!(true)),
            "{self:?}"
        );
        &self.body["result"]
    }
}

impl Telegram {
    async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    async fn start_with(adjust: impl FnOnce(&mut Config)) -> Self {
        let clock = ManualClock::at("2026-01-05T08:00:00Z");
        let chats = vec![Chat::channel(-1_001_234, CHANNEL)];
        let mut config = Config::new(([127, 0, 0, 1], 0).into(), TOKEN, chats);
        config.clock = clock.as_clock();
        adjust(&mut config);
        let cancel = CancellationToken::new();
        let running = telegram::start(config, cancel.clone()).await.unwrap();
        Self {
            clock,
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

    fn request(&self, method: &str, body: &Value) -> RequestBuilder {
        self.at(Method::POST, &format!("/bot{TOKEN}/{method}"))
            .json(body)
    }

    async fn call(&self, method: &str, body: Value) -> Answer {
        answer(self.request(method, &body)).await
    }

    async fn send(&self, text: &str) -> Answer {
        let body = json!({ "chat_id": CHANNEL, "text": text, "parse_mode": "HTML" });
        self.call("sendMessage", body).await
    }

    fn texts(&self) -> Vec<String> {
        let messages = self.handle().messages(CHANNEL);
        messages.into_iter().map(|message| message.text).collect()
    }
}

async fn answer(request: RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await.unwrap();
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    Answer {
        status,
        headers,
        body,
    }
}

#[tokio::test]
async fn a_message_arrives_as_readers_see_it() {
    let telegram = Telegram::start().await;
    let html = "<b>潮汐</b> &amp; <a href=\"https://a.example/\">原文链接</a>";
    let sent = telegram.send(html).await;
    let chat =
        json!({ "id": -1_001_234, "type": "channel", "title": "tides", "username": "tides" });
    let expected = json!({
        "message_id": 1,
        "sender_chat": chat,
        "chat": chat,
        "date": 1_767_600_000,
        "text": "潮汐 & 原文链接",
    });
    assert_eq!(*sent.result(), expected);
    telegram.send("second").await.result();
    assert_eq!(telegram.texts(), ["潮汐 & 原文链接", "second"]);
}

#[tokio::test]
async fn json_forms_and_queries_say_the_same() {
    let telegram = Telegram::start().await;
    let form = "chat_id=-1001234&text=a+%26+b%3A+1";
    let request = telegram.at(Method::POST, &format!("/bot{TOKEN}/sendmessage"));
    let kind = "application/x-www-form-urlencoded";
    let request = request.header("content-type", kind).body(form);
    assert_eq!(answer(request).await.result()["text"], "a & b: 1");
    let path = format!("/bot{}/sendMessage?{form}", TOKEN.replace(':', "%3A"));
    let query = answer(telegram.at(Method::GET, &path)).await;
    assert_eq!(query.result()["message_id"], 2);
    let number = json!({ "chat_id": -1_001_234, "text": "<b> & no markup" });
    let plain = telegram.call("sendMessage", number).await;
    assert_eq!(plain.result()["text"], "<b> & no markup");
}

#[tokio::test]
async fn a_bot_identifies_itself_and_unknown_tokens_are_refused() {
    let telegram = Telegram::start().await;
    let me = telegram.call("getMe", json!({})).await;
    assert_eq!(
        (&me.result()["id"], &me.result()["is_bot"]),
        (&json!(123_456), &json!(true))
    );
    for (path, expected) in [
        ("/bot123456:AAH-another_token/getMe", (401, "Unauthorized")),
        ("/botnonsense/getMe", (404, "Not Found")),
        ("/bot/getMe", (404, "Not Found")),
        ("/", (404, "Not Found")),
        (
            &format!("/bot{TOKEN}/sendPigeon"),
            (404, "Not Found: method not found"),
        ),
    ] {
        let refused = answer(telegram.at(Method::POST, path)).await;
        assert_eq!(refused.refusal(), expected, "{path}");
    }
    let journal = serde_json::to_string(&telegram.handle().requests()).unwrap();
    assert!(!journal.contains("AAH-"), "{journal}");
}

#[tokio::test]
async fn texts_are_refused_in_telegrams_words() {
    let telegram = Telegram::start().await;
    let long = "潮".repeat(4_096);
    for (text, expected) in [
        ("", "message text is empty"),
        (" \n", "text must be non-empty"),
        ("<b></b>", "text must be non-empty"),
        (&format!("{long}汐"), "message is too long"),
        (&format!("{long}<b>汐</b>"), "message is too long"),
        (
            "1 < 2 > 1",
            "can't parse entities: Unsupported start tag \"2\" at byte offset 2",
        ),
        (
            "<b>x",
            "can't parse entities: Can't find end tag corresponding to start tag \"b\"",
        ),
        (
            "AT&T",
            "can't parse entities: Unescaped \"&\" at byte offset 2",
        ),
    ] {
        let refused = telegram.send(text).await;
        assert_eq!(
            refused.refusal(),
            (400, format!("Bad Request: {expected}").as_str())
        );
    }
    assert!(telegram.texts().is_empty());
    let fits = format!("<b>{long}</b>{}", " ".repeat(40));
    assert_eq!(
        telegram.send(&fits).await.status,
        200,
        "markup and margins do not count"
    );
}

#[tokio::test]
async fn too_many_messages_a_minute_are_refused_with_retry_after() {
    let telegram = Telegram::start_with(|it| it.setup.messages_per_minute = Some(2)).await;
    telegram.send("one").await.result();
    telegram.clock.advance(20);
    telegram.send("two").await.result();
    let limited = telegram.send("three").await;
    assert_eq!(
        limited.refusal(),
        (429, "Too Many Requests: retry after 40")
    );
    assert_eq!(limited.body["parameters"]["retry_after"], 40);
    assert_eq!(limited.headers["retry-after"], "40");
    telegram.clock.advance(40);
    telegram.send("three").await.result();
    assert_eq!(telegram.texts(), ["one", "two", "three"]);
}

#[tokio::test]
async fn a_channel_without_the_bot_is_refused_with_a_reason() {
    let telegram = Telegram::start().await;
    telegram.handle().add_chat(Chat {
        standing: Standing::Kicked,
        ..Chat::channel(-77, "winds")
    });
    for (chat, expected) in [
        (
            "@winds",
            (403, "Forbidden: bot was kicked from the channel chat"),
        ),
        ("@storms", (400, "Bad Request: chat not found")),
        ("", (400, "Bad Request: chat_id is empty")),
    ] {
        let body = json!({ "chat_id": chat, "text": "x".repeat(5_000) });
        let refused = telegram.call("sendMessage", body).await;
        assert_eq!(
            refused.refusal(),
            expected,
            "membership comes before length"
        );
    }
    let body = json!({ "chat_id": CHANNEL, "text": "*x*", "parse_mode": "MarkdownV2" });
    assert_eq!(telegram.call("sendMessage", body).await.status, 501);
}
