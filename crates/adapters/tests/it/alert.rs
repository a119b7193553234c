//! Alerts as those who are told meet them.

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
    alert::{Channel, Channels, Language, Telling, Wants, Way},
    signature::SigningKey,
    telegram::{Bot, BotSettings, BotToken},
};
use almanack_core::{
    edition::{
        alert::{Alert, News, Rule},
        port::{FailureClass, Notice, Teller},
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
use jiff::{SignedDuration, Timestamp, civil::date};
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
            channels: told_by(channels),
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

fn told_by(channels: Vec<Channel>) -> Channels {
    let telling = Telling {
        language: Language::Chinese,
        timeout: Duration::from_secs(30),
    };
    Channels::new(client(), Arc::new(Fixed), telling, channels)
}

fn chat(url: &str) -> Channel {
    let settings = BotSettings {
        api_url: url.to_owned(),
        token: BotToken::parse(TOKEN).unwrap(),
        chat: CHAT.to_owned(),
        timeout: Duration::from_secs(30),
    };
    let bot = Bot::new(client(), Arc::new(Fixed), settings);
    channel("ops chat", Way::Telegram(bot))
}

fn alert() -> Alert {
    let opened_at = Timestamp::from_second(1_767_600_000).unwrap();
    let rule = Rule::Destination("github".to_owned());
    Alert::new(rule, "HTTP 403: <no> & never".to_owned(), opened_at)
}

fn notice(alert: &Alert, news: News) -> Notice<'_> {
    Notice {
        date: date(2026, 1, 10),
        alert,
        news,
    }
}

#[tokio::test]
async fn ed_12_people_hear_once_when_it_begins_and_once_when_it_is_over() {
    let mut world = World::start().await;
    let mut alert = alert();
    world
        .channels
        .tell(&notice(&alert, News::Opened))
        .await
        .unwrap();
    alert.closed_at = Some(alert.opened_at + SignedDuration::from_mins(20));
    world
        .channels
        .tell(&notice(&alert, News::Closed))
        .await
        .unwrap();
    assert_eq!(
        world.texts(),
        [
            "⚠️ 2026-01-10 日报：发布到 `github` 失败（HTTP 403: <no> & never）。",
            "✅ 2026-01-10 日报，已解除：发布到 `github` 失败（HTTP 403: <no> & never）。",
        ]
    );
    let mut told = Vec::new();
    for _ in 0..2 {
        let (headers, body) = world.received.recv().await.unwrap();
        let id = headers["webhook-id"].to_str().unwrap();
        assert_eq!(headers["idempotency-key"], id);
        let key = SigningKey::parse(SECRET).unwrap();
        assert_eq!(
            headers["webhook-signature"],
            key.sign(id, Fixed.now(), &body)
        );
        told.push((
            id.to_owned(),
            serde_json::from_slice::<Value>(&body).unwrap(),
        ));
    }
    assert_ne!(told[0].0, told[1].0, "two notices, two keys");
    let body = |news: &str, at: &str| {
        json!({
            "type": format!("edition.alert.{news}"),
            "date": "2026-01-10",
            "rule": "destination:github",
            "detail": "HTTP 403: <no> & never",
            "at": at,
        })
    };
    assert_eq!(told[0].1, body("opened", "2026-01-05T08:00:00Z"));
    assert_eq!(told[1].1, body("closed", "2026-01-05T08:20:00Z"));
}

#[tokio::test]
async fn ed_12_a_channel_that_took_it_is_not_asked_again_for_the_other() {
    let mut world = World::start().await;
    let alert = alert();
    let opened = notice(&alert, News::Opened);
    world.status.store(503, Ordering::SeqCst);
    for _ in 0..2 {
        let failure = world.channels.tell(&opened).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Transient);
        assert_eq!(failure.detail, "`pager` did not take it: HTTP 503");
    }
    assert_eq!((world.posts(), world.texts().len()), (2, 1));
    world.status.store(200, Ordering::SeqCst);
    world.channels.tell(&opened).await.unwrap();
    assert_eq!((world.posts(), world.texts().len()), (1, 1));
    // Told in full, it is forgotten: who tells it once more means it.
    world.channels.tell(&opened).await.unwrap();
    assert_eq!((world.posts(), world.texts().len()), (1, 2));
}

#[tokio::test]
async fn ed_12_what_is_remembered_is_this_notice_and_no_other() {
    let mut world = World::start().await;
    let limit = Effect::Limited { retry_after_s: 9 };
    let rule = fault::Rule::on_send(When::Always, limit);
    world.telegram.handle.add_fault(rule);
    let first = alert();
    let again = Alert {
        opened_at: first.opened_at + SignedDuration::from_hours(1),
        ..alert()
    };
    let other = Alert {
        rule: Rule::Overdue,
        ..alert()
    };
    let yesterday = Notice {
        date: date(2026, 1, 9),
        ..notice(&first, News::Opened)
    };
    for notice in [
        notice(&first, News::Opened),
        notice(&first, News::Closed),
        notice(&again, News::Opened),
        notice(&other, News::Opened),
        yesterday,
    ] {
        for expected in [1, 0] {
            let failure = world.channels.tell(&notice).await.unwrap_err();
            assert_eq!(failure.class, FailureClass::RateLimited);
            assert_eq!(failure.retry_after, Some(SignedDuration::from_secs(9)));
            assert!(failure.detail.contains("`ops chat`"), "{failure}");
            assert!(!failure.detail.contains("AAhush"), "{failure}");
            assert_eq!(world.posts(), expected, "{notice:?}");
        }
    }
}

#[tokio::test]
async fn ed_12_failures_name_the_channel_and_no_secret() {
    let gone = "http://127.0.0.1:1025";
    let channels = vec![hook(&format!("{gone}/hush")), chat(gone)];
    let channels = told_by(channels);
    let alert = alert();
    let failure = channels
        .tell(&notice(&alert, News::Opened))
        .await
        .unwrap_err();
    for name in ["`pager`", "`ops chat`"] {
        assert!(failure.detail.contains(name), "{failure}");
    }
    assert!(!failure.detail.contains("hush"), "{failure}");
    let none = told_by(Vec::new());
    none.tell(&notice(&alert, News::Opened)).await.unwrap();
}

#[tokio::test]
async fn ed_12_a_channel_that_will_never_take_it_keeps_nobody_from_hearing_the_end() {
    let mut world = World::start().await;
    let alert = alert();
    for status in [400, 401, 403, 404, 410] {
        world.status.store(status, Ordering::SeqCst);
        for news in [News::Opened, News::Closed] {
            let told = world.channels.tell(&notice(&alert, news)).await;
            assert_eq!(told, Ok(()), "{status}");
            assert_eq!(world.posts(), 1, "{status}");
        }
    }
    assert_eq!(world.texts().len(), 10, "the chat heard all of it");
    // What may pass is still told again, and only where it was not taken: here by the chat.
    let limit = Effect::Limited { retry_after_s: 9 };
    let rule = fault::Rule::on_send(When::Always, limit);
    world.telegram.handle.add_fault(rule);
    for expected in [1, 0] {
        let failure = world.channels.tell(&notice(&alert, News::Opened)).await;
        let failure = failure.unwrap_err();
        assert_eq!(failure.class, FailureClass::RateLimited);
        assert!(!failure.detail.contains("pager"), "{failure}");
        assert_eq!(world.posts(), expected, "refused once is refused");
    }
}
