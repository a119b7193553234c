//! Hubs that answer as a test says.

use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};

use almanack_core::source::{
    SourceId,
    check::{Ask, Document, Failure, FailureClass},
    entry::FoundEntry,
    hub::{Hub, HubAnswer, Hubs, Pushed, Reach},
};
use async_trait::async_trait;
use jiff::Timestamp;

/// The signature that every push of [`ScriptedHubs`] has.
pub const SIGNED: &str = "sha256=right";

/// Hubs that accept every request, unless a test says otherwise. A callback's token is its
/// subscription's with `at-` before it, and a push has one entry a line, known by its id.
pub struct ScriptedHubs {
    reach: Mutex<Reach>,
    answer: Mutex<HubAnswer>,
    asked: Mutex<Vec<(SourceId, Hub)>>,
    tokens: AtomicU64,
}

impl ScriptedHubs {
    /// Hubs that can push to this node, or cannot.
    pub fn new(reach: Reach) -> Self {
        Self {
            reach: Mutex::new(reach),
            answer: Mutex::new(HubAnswer::Accepted),
            asked: Mutex::default(),
            tokens: AtomicU64::new(0),
        }
    }

    /// Whether hubs can push from now on.
    pub fn set_reach(&self, reach: Reach) {
        *self.reach.lock().unwrap() = reach;
    }

    /// What hubs answer from now on.
    pub fn will_answer(&self, answer: HubAnswer) {
        *self.answer.lock().unwrap() = answer;
    }

    /// The requests so far.
    pub fn asked(&self) -> Vec<(SourceId, Hub)> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Hubs for ScriptedHubs {
    fn reach(&self) -> Reach {
        *self.reach.lock().unwrap()
    }

    fn home(&self) -> &'static str {
        "home"
    }

    fn token(&self) -> String {
        format!("token-{}", self.tokens.fetch_add(1, Ordering::Relaxed))
    }

    async fn subscribe(&self, id: SourceId, hub: &Hub, _: Timestamp) -> HubAnswer {
        self.asked.lock().unwrap().push((id, hub.clone()));
        self.answer.lock().unwrap().clone()
    }

    fn admits(&self, hub: &Hub, token: &str) -> bool {
        token.strip_prefix("at-") == Some(&hub.token)
    }

    fn verifies(&self, _: &Hub, signature: &str, _: &[u8]) -> bool {
        signature == SIGNED
    }

    async fn read(&self, _: &Ask, pushed: Pushed, now: Timestamp) -> Result<Document, Failure> {
        let text = String::from_utf8(pushed.body);
        let text = text.map_err(|_| Failure::new(FailureClass::Malformed, "not a text"))?;
        let entries = text.lines().map(|id| FoundEntry {
            id: Some(id.to_owned()),
            title: id.to_owned(),
            published_at: Some(now),
            ..FoundEntry::default()
        });
        Ok(Document {
            entries: entries.collect(),
            ..Document::default()
        })
    }
}
