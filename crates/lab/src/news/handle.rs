//! The hand that a test lays on the server: add stories, disturb it, look at what callers did.

use std::sync::Arc;

use super::{
    fault::Rule,
    journal::{Count, Endpoint, Seen},
    page::Page,
    service::Service,
    story::{Comment, Facts, NewStory, Story},
};

/// Reaches into a running server from the same process.
#[derive(Clone)]
pub struct Handle(pub(super) Arc<Service>);

/// Names the server only; what is inside changes while one looks.
impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Handle").field(&self.0.base_url).finish()
    }
}

impl Handle {
    /// Adds a story and answers its number. It shows from its time on.
    pub fn add_story(&self, story: NewStory) -> i64 {
        let id = self.0.lock().archive.add(story);
        self.0.changed();
        id
    }

    /// What there is to know about a story that can be seen now.
    pub fn story(&self, id: i64) -> Option<Facts> {
        self.0.facts(id)
    }

    /// All stories that can be seen now and were submitted from one second to another, both
    /// included: what a complete list of that time holds.
    pub fn stories_between(&self, from_s: i64, to_s: i64) -> Vec<Story> {
        let now = self.0.now();
        self.0.lock().archive.between((from_s, to_s), now)
    }

    /// What has been said about a story by now, oldest first.
    pub fn comments(&self, id: i64) -> Vec<Comment> {
        let now = self.0.now();
        let mut inside = self.0.lock();
        let story = inside.archive.story(id, now);
        story.map_or_else(Vec::new, |story| inside.archive.comments(&story, now))
    }

    /// The best list as it stands now.
    pub fn best_stories(&self) -> Vec<i64> {
        let now = self.0.now();
        self.0.lock().archive.best(now)
    }

    /// Changes what a story's page is like.
    pub fn set_page(&self, id: i64, page: Page) {
        self.0.lock().archive.set_page(id, page);
    }

    /// The address of a story's page on this server.
    pub fn page_url(&self, id: i64) -> String {
        self.0.page_url(id)
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

    /// The newest requests, oldest first.
    pub fn requests(&self) -> Vec<Seen> {
        self.0.lock().journal.newest()
    }

    /// All requests, counted by endpoint and status.
    pub fn counts(&self) -> Vec<Count> {
        self.0.lock().journal.counts()
    }

    /// How many requests came to an endpoint.
    pub fn count(&self, endpoint: Endpoint) -> u64 {
        let counts = self.counts();
        let own = counts.iter().filter(|it| it.endpoint == endpoint);
        own.map(|it| it.requests).sum()
    }

    /// Everything that came.
    pub fn total(&self) -> u64 {
        self.0.lock().journal.total()
    }

    /// The most requests that were under way at once.
    pub fn under_way_max(&self) -> u64 {
        self.0.lock().journal.under_way_max()
    }

    /// Forgets all requests; faults and stories stay.
    pub fn forget_requests(&self) {
        self.0.lock().journal.forget();
    }

    /// Waits until something is true of the server; asks again after every request it gets.
    pub async fn until(&self, wanted: impl Fn(&Self) -> bool) {
        let mut changes = self.0.changes.subscribe();
        while !wanted(self) {
            // The sender lives as long as this handle.
            let _ = changes.changed().await;
        }
    }
}
