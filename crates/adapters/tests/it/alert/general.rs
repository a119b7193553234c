//! Alerts about anything, by every channel over HTTP.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use almanack_adapters::{
    alert::{Channel, Channels, Language, Reporting, Wants, Way},
    bearer::Bearer,
    signature::SigningKey,
};
use almanack_core::{
    alert::{
        About, Alert, Key, News, Rule, Severity,
        port::{Notice, Notifier, Outcome},
    },
    plan::ScheduleName,
    secret::Secret,
    source::SourceId,
    time::Clock,
};
use axum::{
    Router,
    body::Bytes,
    http::{HeaderMap, StatusCode, Uri},
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::fixture::{Fixed, SECRET, client, serve};

pub(super) fn alert(rule: Rule, about: About, severity: Severity) -> Alert {
    Alert {
        key: Key { rule, about },
        severity,
        detail: "HTTP 500: <!channel> & co.".to_owned().into(),
        opened_at: Timestamp::from_second(1_767_600_000).unwrap(),
        cool_down_since: None,
        closed_at: None,
        returns: 0,
        open_notified_at: None,
        close_notified_at: None,
        notify_at: None,
        taken_by: Vec::new(),
        version: 1,
    }
}

/// A schedule that fails.
pub(super) fn failing() -> Notice {
    let about = About::Schedule(ScheduleName::parse("nightly").unwrap());
    Notice {
        alert: alert(Rule::Failing, about, Severity::Critical),
        news: News::Opened,
        channels: None,
        review: None,
    }
}

/// A source that was silent for ten minutes.
fn silent() -> Notice {
    let mut alert = alert(Rule::Silent, About::Source(SourceId(17)), Severity::Warning);
    alert.closed_at = Some(alert.opened_at + SignedDuration::from_mins(10));
    Notice {
        alert,
        news: News::Closed,
        channels: None,
        review: None,
    }
}

pub(super) fn channels(language: Language, ways: Vec<(&str, Way)>) -> Channels {
    let named = |(name, way): (&str, Way)| Channel {
        name: name.to_owned(),
        way,
        wants: Wants::default(),
    };
    let reporting = Reporting {
        language,
        timeout: Duration::from_secs(30),
    };
    let all = ways.into_iter().map(named).collect();
    Channels::new(client(), Arc::new(Fixed), reporting, all).unwrap()
}

struct Asked {
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

/// A receiver that takes everything, or answers with this.
async fn listener(status: u16) -> (String, mpsc::UnboundedReceiver<Asked>) {
    let (seen, received) = mpsc::unbounded_channel();
    let take = move |uri: Uri, headers: HeaderMap, body: Bytes| async move {
        let path = uri.path().to_owned();
        let _ = seen.send(Asked {
            path,
            headers,
            body,
        });
        StatusCode::from_u16(status).unwrap()
    };
    (serve(Router::new().fallback(take)).await, received)
}

fn read(asked: &Asked) -> Value {
    serde_json::from_slice(&asked.body).unwrap()
}

#[tokio::test]
async fn a_webhook_gets_all_of_it_signed_and_named() {
    let (url, mut received) = listener(204).await;
    let way = Way::Webhook {
        url,
        key: Some(SigningKey::parse(SECRET).unwrap()),
    };
    let channels = channels(Language::English, vec![("webhook", way)]);
    let answers = channels.notify(&[failing(), silent()]).await;
    assert_eq!(answers[0].outcome, Outcome::Taken("HTTP 204".to_owned()));
    assert_eq!(answers[0].keys, [failing().alert.key, silent().alert.key]);
    let asked = received.recv().await.unwrap();
    let id = asked.headers["webhook-id"].to_str().unwrap();
    assert_eq!(asked.headers["idempotency-key"], id);
    let key = SigningKey::parse(SECRET).unwrap();
    let signature = key.sign(id, Fixed.now(), &asked.body);
    assert_eq!(asked.headers["webhook-signature"], signature);
    assert_eq!(
        read(&asked),
        json!({ "type": "alerts", "alerts": [
            {
                "type": "alert.opened",
                "key": "almanack-alert-failing-schedule:nightly-opened-1767600000000000",
                "rule": "failing",
                "about": "schedule:nightly",
                "severity": "critical",
                "detail": "HTTP 500: <!channel> & co.",
                "opened_at": "2026-01-05T08:00:00Z",
                "closed_at": null,
            },
            {
                "type": "alert.closed",
                "key": "almanack-alert-silent-source:17-closed-1767600000000000",
                "rule": "silent",
                "about": "source:17",
                "severity": "warning",
                "detail": "HTTP 500: <!channel> & co.",
                "opened_at": "2026-01-05T08:00:00Z",
                "closed_at": "2026-01-05T08:10:00Z",
            },
        ]})
    );
    let again = channels.notify(&[failing(), silent()]).await;
    assert_eq!(again.len(), 1);
    let repeated = received.recv().await.unwrap();
    assert_eq!(repeated.headers["webhook-id"], id, "known by its name");
}

#[tokio::test]
async fn ntfy_shows_title_priority_and_tags() {
    let (url, mut received) = listener(200).await;
    let way = || Way::Ntfy {
        url: format!("{url}/base/ops"),
        token: Bearer::new("tk_hush"),
    };
    let english = channels(Language::English, vec![("ntfy", way())]);
    english.notify(&[failing()]).await;
    let asked = received.recv().await.unwrap();
    assert_eq!(asked.path, "/base");
    assert_eq!(asked.headers["authorization"], "Bearer tk_hush");
    assert_eq!(
        read(&asked),
        json!({
            "topic": "ops",
            "title": "Almanack: schedule nightly keeps failing",
            "message": "🚨 Schedule nightly keeps failing (HTTP 500: <!channel> & co).",
            "priority": 5,
            "tags": ["rotating_light"],
        })
    );
    let chinese = channels(Language::Chinese, vec![("ntfy", way())]);
    chinese.notify(&[silent()]).await;
    let body = read(&received.recv().await.unwrap());
    assert_eq!(body["title"], "Almanack：已恢复：信源 17 久未更新");
    assert_eq!(
        (&body["priority"], &body["tags"][0]),
        (&json!(3), &json!("white_check_mark"))
    );
}

#[tokio::test]
async fn slack_gets_one_message_in_which_nothing_means_anything() {
    let (url, mut received) = listener(200).await;
    let way = Way::Slack {
        url: Secret::new(&format!("{url}/services/T/B/hush")),
    };
    let channels = channels(Language::English, vec![("slack", way)]);
    channels.notify(&[failing(), silent()]).await;
    let asked = received.recv().await.unwrap();
    assert_eq!(
        read(&asked)["text"],
        "🚨 Schedule nightly keeps failing (HTTP 500: &lt;!channel&gt; &amp; co).\n\
         ✅ Resolved after 10m: source 17 is unusually quiet \
         (HTTP 500: &lt;!channel&gt; &amp; co)."
    );
    assert!(received.try_recv().is_err(), "one message for both");
}

#[tokio::test]
async fn a_channel_gets_what_it_asks_for_and_has_not_taken() {
    let (url, mut received) = listener(200).await;
    let channel = |name: &str, wants| Channel {
        name: name.to_owned(),
        way: Way::Slack {
            url: Secret::new(&url),
        },
        wants,
    };
    let only_silent = Wants {
        rules: BTreeSet::from(["silent".to_owned()]),
        severity: None,
    };
    let all = vec![
        channel("all", Wants::default()),
        channel("few", only_silent),
    ];
    let reporting = Reporting {
        language: Language::English,
        timeout: Duration::from_secs(30),
    };
    let channels = Channels::new(client(), Arc::new(Fixed), reporting, all).unwrap();
    let mut known = failing();
    known.alert.taken_by = vec!["all".to_owned()];
    let answers = channels.notify(&[known, silent()]).await;
    for answer in &answers {
        assert_eq!(answer.keys, [silent().alert.key], "{}", answer.channel);
    }
    assert_eq!(answers.len(), 2);
    assert!(channels.notify(&[]).await.is_empty());
    while received.try_recv().is_ok() {}
    let tested = channels.test(Some("few")).await;
    assert_eq!(
        tested.len(),
        1,
        "a test is sent whatever alerts it asks for"
    );
    let text = read(&received.recv().await.unwrap())["text"].to_string();
    assert!(text.contains("This is a test"), "{text}");
}

#[tokio::test]
async fn what_may_pass_failed_and_what_will_not_was_refused() {
    for (status, taken) in [
        (200, "taken"),
        (503, "failed"),
        (429, "failed"),
        (404, "refused"),
        (401, "refused"),
    ] {
        let (url, _received) = listener(status).await;
        let slack = Way::Slack {
            url: Secret::new(&format!("{url}/hush")),
        };
        let answers = channels(Language::English, vec![("slack", slack)])
            .notify(&[failing()])
            .await;
        assert_eq!(answers[0].outcome.as_str(), taken, "{status}");
        assert_eq!(answers[0].outcome.detail(), format!("HTTP {status}"));
    }
}
