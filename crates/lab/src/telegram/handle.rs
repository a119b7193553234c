//! The hand that a test lays on the server: set it up, disturb it, read what readers read.

use std::{sync::Arc, time::Duration};

use super::{
    fault::Rule,
    journal::Seen,
    service::Service,
    state::{Chat, Message},
};

/// Reaches into a running server from the same process.
#[derive(Clone)]
pub struct Handle(pub(super) Arc<Service>);

/// Names the server only; what is inside changes while one looks, and holds tokens.
impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}

impl Handle {
    /// Adds a chat, or changes the one of that id, whose messages stay.
    pub fn add_chat(&self, chat: Chat) {
        self.0.lock().chats.add(chat);
    }

    /// What readers of a chat see, in order. A chat is named by its id or its `@name`.
    pub fn messages(&self, chat: &str) -> Vec<Message> {
        self.0.lock().chats.messages(chat)
    }

    /// How many messages a chat ever took, those deleted since included.
    pub fn sent(&self, chat: &str) -> usize {
        self.0.lock().chats.sent(chat)
    }

    /// Lays down a fault.
    pub fn add_fault(&self, rule: Rule) {
        self.0.lock().faults.add(rule);
    }

    /// The faults still in force.
    pub fn faults(&self) -> Vec<Rule> {
        self.0.lock().faults.rules()
    }

    /// Lifts all faults.
    pub fn clear_faults(&self) {
        self.0.lock().faults.clear();
    }

    /// From now on every answer takes so long, in real time.
    pub fn set_latency(&self, latency: Duration) {
        self.0.lock().latency = latency;
    }

    /// From now on one chat takes so many messages a minute; `None` is no limit.
    pub fn set_messages_per_minute(&self, most: Option<u32>) {
        self.0.lock().messages_per_minute = most;
    }

    /// The newest requests, in order of arrival.
    pub fn requests(&self) -> Vec<Seen> {
        self.0.lock().journal.newest()
    }

    /// How many requests there were.
    pub fn total(&self) -> u64 {
        self.0.lock().journal.total()
    }

    /// Waits until something is true of the server; asks again after every request it judged.
    pub async fn until(&self, wanted: impl Fn(&Self) -> bool) {
        let mut changes = self.0.changes.subscribe();
        while !wanted(self) {
            // The sender lives as long as this handle.
            let _ = changes.changed().await;
        }
    }
}
