//! Injected faults of the model and the services before it.

use std::time::Duration;

use super::*;
use crate::support::within;

#[tokio::test]
async fn a_rule_hits_its_kind_of_work_as_often_as_configured() {
    let model = Model::start().await;
    let rule = Rule::of(Kind::Titles, When::Next(2), Effect::OneLess);
    model.handle().add_fault(rule);
    assert_eq!(model.summary("Tides").await.status, 200);
    for expected in [1, 1, 2] {
        assert_eq!(
            model.titles(&["Tides", "Winds"]).await.array().len(),
            expected
        );
    }
    let effects: Vec<_> = model
        .handle()
        .requests()
        .iter()
        .map(|it| it.facts.effect)
        .collect();
    let less = Some(Effect::OneLess);
    assert_eq!(effects, [None, less, less, None]);
}

#[tokio::test]
async fn answers_can_be_wrong_around_the_content() {
    let model = Model::start().await;
    let say = async |effect| {
        model.handle().add_fault(Rule::any(When::Next(1), effect));
        model.titles(&["Tides", "Winds"]).await
    };
    let none = say(Effect::NoChoices).await;
    assert_eq!(none.body.get("choices"), None);
    assert!(none.body["usage"].is_object());
    let null = say(Effect::NullContent).await;
    assert_eq!(null.body["choices"][0]["message"]["content"], Value::Null);
    let page = say(Effect::NotJson).await;
    assert!(page.status == 200 && page.body.as_str().unwrap().starts_with("<!doctype"));
    let inside = say(Effect::ErrorInside).await;
    assert!(inside.status == 200 && inside.body["error"].is_object());
    let cut = say(Effect::CutOff).await;
    assert_eq!(cut.body["choices"][0]["finish_reason"], "length");
    assert!(serde_json::from_str::<Value>(cut.content()).is_err());
}

#[tokio::test]
async fn limits_and_failures_answer_instead_of_the_model() {
    let model = Model::start().await;
    let say = async |effect| {
        model.handle().add_fault(Rule::any(When::Next(1), effect));
        model.summary("Tides").await
    };
    let limited = |retry_after_s, as_date| Effect::Limited {
        retry_after_s,
        as_date,
    };
    let seconds = say(limited(Some(30), false)).await;
    assert_eq!(
        (seconds.status.as_u16(), &seconds.headers["retry-after"]),
        (429, &"30".parse().unwrap())
    );
    assert_eq!(seconds.body["error"]["code"], "rate_limit_exceeded");
    let date = say(limited(Some(30), true)).await;
    assert_eq!(date.headers["retry-after"], "Mon, 05 Jan 2026 08:00:30 GMT");
    assert_eq!(
        say(limited(None, false)).await.headers.get("retry-after"),
        None
    );
    for status in [500, 502, 503] {
        assert_eq!(say(Effect::Status(status)).await.status, status);
    }
    assert_eq!(model.summary("Tides").await.status, 200);
}

#[tokio::test]
async fn one_poisoned_title_fails_for_ever_and_alone() {
    let model = Model::start().await;
    let poison = Rule::poison("Kraken", Effect::ElementEmpty);
    model.handle().add_fault(poison);
    for _ in 0..3 {
        let titles = model
            .titles(&["Tides", "The Kraken", "Winds"])
            .await
            .array();
        assert_eq!(titles[1], "");
        assert!(is_chinese(titles[0].as_str().unwrap()));
    }
    assert_ne!(model.titles(&["Tides"]).await.array()[0], "");
    model.handle().clear_faults();
    model
        .handle()
        .add_fault(Rule::poison("Kraken", Effect::Status(500)));
    assert_eq!(model.titles(&["Tides", "Krakens"]).await.status, 500);
    assert_eq!(model.titles(&["Tides"]).await.status, 200);
}

#[tokio::test]
async fn a_request_can_be_taken_and_never_answered() {
    let model = Model::start().await;
    let handle = model.handle();
    handle.add_fault(Rule::any(When::Next(1), Effect::DropReply));
    let lost = model.ask("", "Tides").send().await.unwrap_err();
    assert!(lost.is_request(), "{lost:?}");

    handle.add_fault(Rule::any(When::Next(1), Effect::Hang));
    let waiting = tokio::spawn(model.ask("", "Tides").send());
    within(handle.until(|it| it.total() == 2)).await;
    assert!(!waiting.is_finished());
    waiting.abort();
    within(handle.until(|it| it.in_flight() == 0)).await;
    let replied: Vec<bool> = handle
        .requests()
        .iter()
        .map(|it| it.facts.replied)
        .collect();
    assert_eq!(replied, [false, false]);
}

#[tokio::test]
async fn stopping_ends_hanging_requests() {
    let cancel = CancellationToken::new();
    let config = Config::new(([127, 0, 0, 1], 0).into(), KEY);
    let running = model::start(config, cancel.clone()).await.unwrap();
    let handle = running.handle.clone();
    handle.add_fault(Rule::any(When::Always, Effect::Hang));
    let url = format!("{}/chat/completions", running.url());
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "Tides" }] });
    let waiting = tokio::spawn(client().post(url).bearer_auth(KEY).json(&body).send());
    within(handle.until(|it| it.in_flight() == 1)).await;
    cancel.cancel();
    assert!(within(waiting).await.unwrap().is_err());
    within(running.join).await.unwrap().unwrap();
}

#[tokio::test]
async fn concurrent_requests_are_counted() {
    let model = Model::start().await;
    let handle = model.handle();
    handle.set_latency(Duration::from_mins(10));
    let asked: Vec<_> = ["a", "b", "c"]
        .iter()
        .map(|text| tokio::spawn(model.ask("", text).send()))
        .collect();
    within(handle.until(|it| it.in_flight() == 3)).await;
    for asked in asked {
        asked.abort();
    }
    within(handle.until(|it| it.in_flight() == 0)).await;
    handle.set_latency(Duration::ZERO);
    model.summary("Tides").await;
    assert_eq!(handle.in_flight_max(), 3);
    let mut seen: Vec<usize> = handle
        .requests()
        .iter()
        .map(|it| it.facts.in_flight)
        .collect();
    seen.sort_unstable();
    assert_eq!(seen, [1, 1, 2, 3]);
}

#[tokio::test]
async fn one_too_many_at_once_is_refused() {
    let model = Model::start_with(|config| config.setup.in_flight_max = Some(1)).await;
    let handle = model.handle();
    handle.add_fault(Rule::any(When::Next(1), Effect::Hang));
    let waiting = tokio::spawn(model.ask("", "Tides").send());
    within(handle.until(|it| it.total() == 1)).await;
    assert_eq!(model.summary("Tides").await.status, 429);
    waiting.abort();
    within(handle.until(|it| it.in_flight() == 0)).await;
    assert_eq!(model.summary("Tides").await.status, 200);
}
