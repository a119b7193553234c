//! Telegram, against the simulated one, which reads HTML as strictly and forgets to answer on
//! demand.

use std::{sync::Arc, time::Duration};

use almanack_adapters::{
    publish::telegram::{PerMessage, TelegramPublisher, TelegramPublisherSettings},
    telegram::{Bot, BotSettings, BotToken},
};
use almanack_core::{
    budget::Budget,
    edition::{
        delivery::{OnRevision, OnUnknown},
        document::Document,
        port::{FailureClass, Message, Presence, Publisher, Sent},
    },
};
use almanack_lab::telegram::{
    Config, Running,
    fault::{Effect, Rule, When},
    start,
    state::{Chat, Standing},
};
use axum::{Router, http::StatusCode, routing::post};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{brief, document, failed, message, receipt, request_budget, unknown};
use crate::fixture::{Fixed, client, serve};

const TOKEN: &str = "4242:AAhush-hush_0123456789abcdefghijkl";
const CHAT: &str = "@daily";

/// Longer than any test takes: only tests without an answer wait for less.
const WAIT_MAX: Duration = Duration::from_secs(30);

fn bot(url: &str, token: &str, chat: &str) -> Bot {
    patient_bot(url, token, chat, WAIT_MAX)
}

fn patient_bot(url: &str, token: &str, chat: &str, timeout: Duration) -> Bot {
    let settings = BotSettings {
        api_url: url.to_owned(),
        token: BotToken::parse(token).unwrap(),
        chat: chat.to_owned(),
        timeout,
    };
    Bot::new(client(), Arc::new(Fixed), settings)
}

fn publisher(bot: Bot) -> TelegramPublisher {
    let settings = TelegramPublisherSettings {
        destination: "chat".to_owned(),
        per_message: PerMessage::new(2).unwrap(),
        on_unknown: OnUnknown::Skip,
        on_revision: OnRevision::Skip,
        link: None,
    };
    TelegramPublisher::new(bot, settings)
}

struct World {
    running: Running,
    publisher: TelegramPublisher,
    _stop: DropGuard,
}

impl World {
    async fn start() -> Self {
        Self::patient(WAIT_MAX).await
    }

    async fn patient(timeout: Duration) -> Self {
        let chats = vec![Chat::channel(-1001, CHAT)];
        let config = Config::new("127.0.0.1:0".parse().unwrap(), TOKEN, chats);
        let cancel = CancellationToken::new();
        let running = start(config, cancel.clone()).await.unwrap();
        let bot = patient_bot(&running.url(), TOKEN, CHAT, timeout);
        Self {
            publisher: publisher(bot),
            running,
            _stop: cancel.drop_guard(),
        }
    }

    fn break_next(&self, effect: Effect) {
        self.running
            .handle
            .add_fault(Rule::on_send(When::Next(1), effect));
    }

    /// What readers see, message by message.
    fn texts(&self) -> Vec<String> {
        let messages = self.running.handle.messages(CHAT);
        messages.into_iter().map(|message| message.text).collect()
    }

    async fn send(&self, document: &Document, part: u32, body: &str) -> Sent {
        let message = Message {
            part,
            body,
            ..message(document)
        };
        self.publisher.send(&message, &request_budget()).await
    }
}

#[tokio::test]
async fn ed_34_readers_get_every_story_in_order_by_messages_that_fit() {
    let world = World::start().await;
    let mut document = document(5, "");
    document.inputs.stories[2].content_summary = Some("长 & <long> ".repeat(1_000));
    let parts = world.publisher.parts(&document);
    for (number, part) in (1..).zip(&parts) {
        let body = part.as_deref().unwrap();
        let taken = receipt(world.send(&document, number, body).await);
        assert_eq!(taken, number.to_string(), "known by the message's number");
    }
    let texts = world.texts();
    assert_eq!(texts.len(), parts.len());
    assert!(texts[0].contains("HackerNews Daily") && texts[0].contains("共 5 篇"));
    let all = texts.concat();
    let places: Vec<usize> = (1..=5)
        .map(|rank| all.find(&format!("标题 {rank}")).unwrap())
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(all.contains("摘要 & <more>"), "escaped once");
    let pause = world.publisher.pause();
    assert_eq!(
        pause.as_millis(),
        500,
        "the sender waits so long between two"
    );
}

#[tokio::test]
async fn ed_12_a_message_that_arrived_without_an_answer_is_unknown() {
    let document = document(1, "");
    for (effect, arrived) in [
        (Effect::HangAfter, 1),
        (Effect::CutAfter, 1),
        (Effect::FailAfter(504), 1),
        (Effect::HangBefore, 0),
        (Effect::CutBefore, 0),
    ] {
        let hangs = matches!(effect, Effect::HangAfter | Effect::HangBefore);
        let timeout = if hangs {
            Duration::from_millis(300)
        } else {
            WAIT_MAX
        };
        let world = World::patient(timeout).await;
        world.break_next(effect);
        let failure = unknown(world.send(&document, 1, "text").await);
        assert_eq!(
            failure.class,
            FailureClass::Transient,
            "{effect:?}: {failure}"
        );
        assert_eq!(world.texts().len(), arrived, "{effect:?}");
        assert!(!failure.detail.contains("AAhush"), "{failure}");
        let seen = world
            .publisher
            .look(&message(&document), &request_budget())
            .await;
        assert_eq!(seen, Presence::CannotVerify, "a bot cannot read the chat");
    }
    let page = || async { (StatusCode::INTERNAL_SERVER_ERROR, "<html>a proxy</html>") };
    let url = serve(Router::new().fallback(post(page))).await;
    let foreign = publisher(bot(&url, TOKEN, CHAT));
    unknown(foreign.send(&message(&document), &request_budget()).await);
    let world = World::start().await;
    assert_eq!(
        world.publisher.on_unknown(),
        OnUnknown::Skip,
        "as configured"
    );
}

/// An outage says no to every message; it does not put each of them in doubt.
#[tokio::test]
async fn ed_41_telegram_that_refuses_with_500_has_nothing() {
    let document = document(1, "");
    let world = World::start().await;
    for status in [500, 502, 503] {
        world.break_next(Effect::FailBefore(status));
        let failure = failed(world.send(&document, 1, "text").await);
        assert_eq!(failure.class, FailureClass::Transient, "{failure}");
        assert_eq!(world.texts().len(), 0);
    }
    let page = || async { (StatusCode::BAD_GATEWAY, "<html>nginx</html>") };
    let url = serve(Router::new().fallback(page)).await;
    let front = publisher(bot(&url, TOKEN, CHAT));
    failed(front.send(&message(&document), &request_budget()).await);
    let seen = front.look(&message(&document), &request_budget()).await;
    assert!(
        matches!(&seen, Presence::Failed(_)),
        "nothing is decided in an outage: {seen:?}"
    );
}

#[tokio::test]
async fn ed_34_a_limit_says_how_long_to_wait() {
    let world = World::start().await;
    world.break_next(Effect::Limited { retry_after_s: 17 });
    let limited = failed(world.send(&document(1, ""), 1, "text").await);
    assert_eq!(brief(&limited), (FailureClass::RateLimited, Some(17)));
    assert_eq!(world.texts().len(), 0);
}

#[tokio::test]
async fn ed_12_refusals_are_in_telegrams_words_and_never_hold_the_token() {
    let world = World::start().await;
    let url = world.running.url();
    let document = document(1, "");
    let kicked = Chat {
        standing: Standing::Kicked,
        ..Chat::channel(-1002, "@closed")
    };
    world.running.handle.add_chat(kicked);
    let (long, text) = ("x".repeat(4_097), "text".to_owned());
    for (token, chat, text, class, words) in [
        (
            TOKEN,
            CHAT,
            &long,
            FailureClass::Refused,
            "message is too long",
        ),
        (
            TOKEN,
            CHAT,
            &"<i".to_owned(),
            FailureClass::Refused,
            "can't parse entities",
        ),
        (
            TOKEN,
            "@missing",
            &text,
            FailureClass::Refused,
            "chat not found",
        ),
        (TOKEN, "-1002", &text, FailureClass::Refused, "kicked"),
        (
            "4243:AAother-AAother-AAother-AAother-AAo",
            CHAT,
            &text,
            FailureClass::Credentials,
            "Unauthorized",
        ),
        ("1:a", CHAT, &text, FailureClass::Credentials, ""),
    ] {
        let publisher = publisher(bot(&url, token, chat));
        let message = Message {
            body: text,
            ..message(&document)
        };
        let failure = failed(publisher.send(&message, &request_budget()).await);
        assert_eq!(failure.class, class, "{failure}");
        assert!(failure.detail.contains(words), "{failure}");
        assert!(!failure.detail.contains(token), "{failure}");
    }
}

#[tokio::test]
async fn ed_12_a_token_stays_hidden_even_where_the_answer_repeats_it() {
    let body = format!(r#"{{"ok":false,"description":"no /bot{TOKEN}/sendMessage here"}}"#);
    let answer = move || async move { (StatusCode::BAD_REQUEST, body) };
    let url = serve(Router::new().fallback(post(answer))).await;
    let publisher = publisher(bot(&url, TOKEN, CHAT));
    let document = document(1, "text");
    let failure = failed(publisher.send(&message(&document), &request_budget()).await);
    assert_eq!(failure.detail, "HTTP 400: no /bot***/sendMessage here");
    let gone = self::publisher(bot("http://127.0.0.1:1025", TOKEN, CHAT));
    let failure = failed(gone.send(&message(&document), &request_budget()).await);
    assert_eq!(failure.class, FailureClass::Transient);
    assert!(!failure.detail.contains("AAhush"), "{failure}");
}

#[tokio::test]
async fn ed_12_a_success_that_is_not_telegrams_is_unknown() {
    let page = || async { "<html>Welcome to the airport's network</html>" };
    let url = serve(Router::new().fallback(post(page))).await;
    let publisher = publisher(bot(&url, TOKEN, CHAT));
    let document = document(1, "text");
    let failure = unknown(publisher.send(&message(&document), &request_budget()).await);
    assert_eq!(failure.class, FailureClass::Unusable, "{failure}");
}

#[tokio::test]
async fn ed_08_an_empty_request_budget_sends_nothing() {
    let world = World::start().await;
    let document = document(1, "text");
    let sent = world
        .publisher
        .send(&message(&document), &Budget::new(0))
        .await;
    assert!(
        matches!(&sent, Sent::Failed(failure) if failure.is_spent()),
        "{sent:?}"
    );
    assert_eq!(world.running.handle.total(), 0);
    let budget = request_budget();
    receipt(world.publisher.send(&message(&document), &budget).await);
    assert_eq!(budget.spent(), world.publisher.requests_per_part());
}
