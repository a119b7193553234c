//! A Telegram that accepts messages without a response.

use std::time::Duration;

use super::*;
use crate::support::within;

#[tokio::test]
async fn before_and_after_look_alike_to_the_client() {
    let telegram = Telegram::start().await;
    let handle = telegram.handle();
    handle.add_fault(Rule::on_send(When::Next(1), Effect::FailBefore(500)));
    handle.add_fault(Rule::on_send(When::Next(1), Effect::FailAfter(500)));
    for text in ["before", "after"] {
        let failed = telegram.send(text).await;
        assert_eq!(failed.refusal(), (500, "Internal Server Error"));
    }
    assert_eq!(telegram.texts(), ["after"]);
    let applied: Vec<bool> = handle
        .requests()
        .iter()
        .map(|it| it.facts.applied)
        .collect();
    assert_eq!(applied, [false, true]);
    assert_eq!(handle.requests()[1].facts.message_id, Some(1));
}

#[tokio::test]
async fn a_cut_connection_may_leave_a_message_behind() {
    let telegram = Telegram::start().await;
    let handle = telegram.handle();
    handle.add_fault(Rule::on_send(When::Next(1), Effect::CutBefore));
    handle.add_fault(Rule::on_send(When::Next(1), Effect::CutAfter));
    for text in ["before", "after"] {
        let body = json!({ "chat_id": CHANNEL, "text": text });
        let lost = telegram.request("sendMessage", &body).send().await;
        assert!(lost.unwrap_err().is_request());
    }
    assert_eq!(telegram.texts(), ["after"]);
    let requests: Vec<(bool, bool)> = handle
        .requests()
        .iter()
        .map(|it| (it.facts.applied, it.facts.replied))
        .collect();
    assert_eq!(requests, [(false, false), (true, false)]);
}

#[tokio::test]
async fn a_message_may_be_taken_and_never_answered() {
    let telegram = Telegram::start().await;
    let handle = telegram.handle();
    handle.add_fault(Rule::on_send(When::Next(1), Effect::HangAfter));
    handle.add_fault(Rule::on_send(When::Next(1), Effect::HangBefore));
    let mut waiting = Vec::new();
    for (text, total) in [("after", 1), ("before", 2)] {
        let body = json!({ "chat_id": CHANNEL, "text": text });
        waiting.push(tokio::spawn(telegram.request("sendMessage", &body).send()));
        within(handle.until(|it| it.total() == total)).await;
    }
    assert_eq!(telegram.texts(), ["after"]);
    assert!(waiting.iter().all(|request| !request.is_finished()));
    for request in waiting {
        request.abort();
    }
    telegram.send("next").await.result();
}

#[tokio::test]
async fn a_slow_answer_comes_after_the_message() {
    let telegram = Telegram::start().await;
    let handle = telegram.handle();
    let slow = Effect::Slow { wait_ms: 600_000 };
    handle.add_fault(Rule::on_send(When::Next(1), slow));
    let body = json!({ "chat_id": CHANNEL, "text": "slow" });
    let waiting = tokio::spawn(telegram.request("sendMessage", &body).send());
    within(handle.until(|it| it.total() == 1)).await;
    assert_eq!(telegram.texts(), ["slow"]);
    telegram.send("others do not wait").await.result();
    assert!(!waiting.is_finished());
    waiting.abort();
    handle.set_latency(Duration::from_millis(1));
    telegram.send("all wait").await.result();
}

#[tokio::test]
async fn a_rule_matches_only_what_it_names() {
    let telegram = Telegram::start().await;
    let handle = telegram.handle();
    let of = |method: Option<&str>, chat: Option<&str>, contains: Option<&str>| Rule {
        matching: Matching {
            method: method.map(str::to_owned),
            chat: chat.map(str::to_owned),
            contains: contains.map(str::to_owned),
        },
        when: When::Always,
        effect: Effect::Limited { retry_after_s: 9 },
    };
    for (why, rule, status) in [
        (
            "its method, any case",
            of(Some("sendmessage"), None, None),
            429,
        ),
        ("another method", of(Some("getMe"), None, None), 200),
        ("its chat", of(None, Some(CHANNEL), None), 429),
        ("another chat", of(None, Some("@winds"), None), 200),
        ("part of its text", of(None, None, Some("ide")), 429),
        ("another text", of(None, None, Some("wind")), 200),
    ] {
        handle.add_fault(rule);
        let sent = telegram.send("tides").await;
        assert_eq!(sent.status, status, "{why}");
        if status == 429 {
            assert_eq!(sent.body["parameters"]["retry_after"], 9);
        }
        handle.clear_faults();
    }
}

#[tokio::test]
async fn another_process_sets_up_injects_faults_and_reads() {
    let telegram = Telegram::start().await;
    let change = async |method: Method, path: &str, body: Value| {
        let done = answer(telegram.at(method, path).json(&body)).await;
        assert_eq!(done.status, 204, "{path}: {done:?}");
    };
    let chat = json!({
        "id": -5, "username": "winds", "standing": "writer",
    });
    change(Method::POST, "/_world/chats", chat).await;
    let fault =
        json!({ "matching": { "chat": "@winds" }, "when": { "next": 1 }, "effect": "cut_after" });
    change(Method::POST, "/_world/faults", fault).await;
    change(
        Method::PUT,
        "/_world/limit",
        json!({ "messages_per_minute": 1 }),
    )
    .await;
    let body = json!({ "chat_id": "@winds", "text": "breeze" });
    let lost = telegram.request("sendMessage", &body).send().await;
    assert!(lost.is_err());
    assert_eq!(telegram.call("sendMessage", body).await.status, 429);
    let seen = answer(telegram.at(Method::GET, "/_world/messages/@winds")).await;
    assert_eq!(seen.body[0]["text"], "breeze");
    let seen = answer(telegram.at(Method::GET, "/_world/requests")).await;
    assert_eq!(
        (&seen.body["total"], &seen.body["newest"][0]["applied"]),
        (&json!(2), &json!(true))
    );
    let welcome = answer(telegram.at(Method::GET, "/_world/")).await;
    assert!(welcome.body.as_str().unwrap().contains("/_world/messages"));
}
