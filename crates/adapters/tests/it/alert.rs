//! Alerts as their receivers see them.

mod exec;
mod general;
mod mail;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
    time::Duration,
};

use almanack_adapters::{
    alert::{Channel, Channels, Language, Reporting, Wants, Way},
    signature::SigningKey,
    telegram::{BotSettings, BotToken},
};
use almanack_core::{
    alert::{
        About, Alert, News, Rule, Severity,
        port::{Answer, Notice, Notifier, Outcome},
    },
    time::Clock,
};
use almanack_lab::telegram::{
    Config, Running,
    fault::{self, Effect, When},
    start,
    state::Chat,
};
use axum::{
    Router,
    body::Bytes,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use jiff::{SignedDuration, civil::date};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::fixture::{Fixed, SECRET, client, serve};

const TOKEN: &str = "4242:AAhush-hush_0123456789abcdefghijkl";
const CHAT: &str = "@ops";

/// A chat and a webhook, whose answer can be chosen.
struct World {
    telegram: Running,
    status: Arc<AtomicU16>,
    received: mpsc::UnboundedReceiver<(HeaderMap, Bytes)>,
    channels: Channels,
    _stop: DropGuard,
}

impl World {
    async fn start() -> Self {
        let chats = vec![Chat::channel(-1001, CHAT)];
        let config = Config::new("127.0.0.1:0".parse().unwrap(), TOKEN, chats);
        let cancel = CancellationToken::new();
        let telegram = start(config, cancel.clone()).await.unwrap();
        let (seen, received) = mpsc::unbounded_channel();
        let status = Arc::new(AtomicU16::new(204));
        let answer = Arc::clone(&status);
        let take = move |headers: HeaderMap, body: Bytes| async move {
            let _ = seen.send((headers, body));
            StatusCode::from_u16(answer.load(Ordering::SeqCst)).unwrap()
        };
        let url = serve(Router::new().route("/hush", post(take))).await;
        let channels = vec![hook(&format!("{url}/hush")), chat(&telegram.url())];
        Self {
            telegram,
            status,
            received,
            channels: notifying(channels),
            _stop: cancel.drop_guard(),
        }
    }

    fn texts(&self) -> Vec<String> {
        let messages = self.telegram.handle.messages(CHAT);
        messages.into_iter().map(|message| message.text).collect()
    }

    fn posts(&mut self) -> usize {
        std::iter::from_fn(|| self.received.try_recv().ok()).count()
    }
}

fn hook(url: &str) -> Channel {
    let way = Way::Webhook {
        url: url.to_owned(),
        key: Some(SigningKey::parse(SECRET).unwrap()),
    };
    channel("pager", way)
}

fn channel(name: &str, way: Way) -> Channel {
    Channel {
        name: name.to_owned(),
        way,
        wants: Wants::default(),
    }
}

fn notifying(channels: Vec<Channel>) -> Channels {
    let reporting = Reporting {
        language: Language::Chinese,
        timeout: Duration::from_secs(30),
    };
    Channels::new(client(), Arc::new(Fixed), reporting, channels).unwrap()
}

fn chat(url: &str) -> Channel {
    let settings = BotSettings {
        api_url: url.to_owned(),
        token: BotToken::parse(TOKEN).unwrap(),
        chat: CHAT.to_owned(),
        timeout: Duration::from_secs(30),
    };
    channel("ops chat", Way::Telegram(settings))
}

/// An edition that GitHub does not take.
fn unreached() -> Alert {
    let about = About::Delivery {
        edition: date(2026, 1, 10).into(),
        destination: "github".to_owned(),
    };
    Alert {
        detail: "HTTP 403: <no> & never".to_owned().into(),
        ..general::alert(Rule::Destination, about, Severity::Critical)
    }
}

async fn notify(channels: &Channels, alert: &Alert, news: News) -> Vec<Answer> {
    let alert = alert.clone();
    let notice = Notice {
        alert,
        news,
        channels: None,
        review: None,
    };
    channels.notify(&[notice]).await
}

#[tokio::test]
async fn ed_12_people_hear_once_when_it_begins_and_once_when_it_is_over() {
    let mut world = World::start().await;
    let mut alert = unreached();
    notify(&world.channels, &alert, News::Opened).await;
    alert.closed_at = Some(alert.opened_at + SignedDuration::from_mins(20));
    notify(&world.channels, &alert, News::Closed).await;
    assert_eq!(
        world.texts(),
        [
            "🚨 2026-01-10 日报到 github 的投递失败，或无法确认是否送达（HTTP 403: <no> & never）。",
            "✅ 已恢复（持续 20m）：2026-01-10 日报到 github 的投递失败，或无法确认是否送达（HTTP 403: <no> & never）。",
        ]
    );
    let mut notified = Vec::new();
    for _ in 0..2 {
        let (headers, body) = world.received.recv().await.unwrap();
        let id = headers["webhook-id"].to_str().unwrap();
        assert_eq!(headers["idempotency-key"], id);
        let key = SigningKey::parse(SECRET).unwrap();
        assert_eq!(
            headers["webhook-signature"],
            key.sign(id, Fixed.now(), &body)
        );
        notified.push((
            id.to_owned(),
            serde_json::from_slice::<Value>(&body).unwrap(),
        ));
    }
    assert_ne!(notified[0].0, notified[1].0, "two notices, two keys");
    for ((id, notified), (news, closed_at)) in notified
        .iter()
        .zip([("opened", None), ("closed", Some("2026-01-05T08:20:00Z"))])
    {
        let expected = json!({ "type": "alerts", "alerts": [{
            "type": format!("alert.{news}"),
            "key": id,
            "rule": "destination",
            "about": "delivery:2026-01-10/github",
            "severity": "critical",
            "detail": "HTTP 403: <no> & never",
            "opened_at": "2026-01-05T08:00:00Z",
            "closed_at": closed_at,
        }] });
        assert_eq!(*notified, expected);
    }
}

#[tokio::test]
async fn ed_12_a_channel_that_took_it_is_not_asked_again_for_the_other() {
    let mut world = World::start().await;
    let mut alert = unreached();
    world.status.store(503, Ordering::SeqCst);
    let answers = notify(&world.channels, &alert, News::Opened).await;
    let failed = Outcome::Failed("HTTP 503".to_owned());
    assert_eq!(answers[0].outcome, failed);
    assert!(answers[1].outcome.is_final());
    assert_eq!((world.posts(), world.texts().len()), (1, 1));
    alert.taken_by = vec![answers[1].channel.clone()];
    world.status.store(200, Ordering::SeqCst);
    let answers = notify(&world.channels, &alert, News::Opened).await;
    assert_eq!((answers.len(), answers[0].channel.as_str()), (1, "pager"));
    assert_eq!((world.posts(), world.texts().len()), (1, 1));
}

#[tokio::test]
async fn ed_12_failures_name_the_channel_and_no_secret() {
    let gone = "http://127.0.0.1:1025";
    let channels = vec![hook(&format!("{gone}/hush")), chat(gone)];
    let answers = notify(&notifying(channels), &unreached(), News::Opened).await;
    let names: Vec<&str> = answers.iter().map(|it| it.channel.as_str()).collect();
    assert_eq!(names, ["pager", "ops chat"]);
    for Answer { outcome, .. } in answers {
        assert!(
            matches!(&outcome, Outcome::Failed(why) if !why.contains("hush")),
            "{outcome:?}"
        );
    }
    let none = notifying(Vec::new());
    assert_eq!(notify(&none, &unreached(), News::Opened).await, []);
}

#[tokio::test]
async fn ed_12_a_channel_that_refuses_does_not_keep_others_from_the_resolution() {
    let mut world = World::start().await;
    let alert = unreached();
    for status in [400, 401, 403, 404, 410] {
        world.status.store(status, Ordering::SeqCst);
        for news in [News::Opened, News::Closed] {
            let answers = notify(&world.channels, &alert, news).await;
            assert!(answers.iter().all(|it| it.outcome.is_final()), "{status}");
            assert_eq!(world.posts(), 1, "{status}");
        }
    }
    assert_eq!(world.texts().len(), 10, "the chat heard all of it");
    // What may pass is sent again: here by the chat.
    let limit = Effect::Limited { retry_after_s: 9 };
    let rule = fault::Rule::on_send(When::Always, limit);
    world.telegram.handle.add_fault(rule);
    let answers = notify(&world.channels, &alert, News::Opened).await;
    assert!(matches!(answers[0].outcome, Outcome::Refused(_)));
    let why = &answers[1].outcome;
    assert!(
        matches!(why, Outcome::Failed(why) if !why.contains("AAhush")),
        "{why:?}"
    );
}
