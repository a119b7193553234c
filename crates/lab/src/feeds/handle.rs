//! The hand that a test lays on the server: disturb it, publish, look at what callers did.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::{
    document::Document,
    fault::{Fault, Rule},
    feed::{Announced, Charset, Entry, Feed, Hints, Validators},
    fleet::Fleet,
    host::Character,
    journal::{Count, HostCount, Seen},
    language::Language,
    rhythm::Rhythm,
    service::Service,
};

/// Reaches into a running server from the same process.
#[derive(Clone)]
pub struct Handle(pub(super) Arc<Service>);

/// Names the fleet only; what is inside changes while one looks.
impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Handle").field(&self.0.fleet).finish()
    }
}

/// What there is to know about a feed in advance.
#[derive(Debug, Clone, Serialize)]
pub struct Card {
    /// Its number.
    pub feed: u32,
    /// Its host.
    pub host: u32,
    /// Its address.
    pub url: String,
    /// The page it is discovered from.
    pub site: String,
    /// What its address serves.
    pub document: Document,
    /// Whether that is a feed; else it takes selectors or paths.
    pub is_feed: bool,
    /// When it publishes.
    pub rhythm: Rhythm,
    /// In which zone.
    pub zone: &'static str,
    /// When it ended, if it is dead.
    pub last_at: Option<Timestamp>,
    /// What it is written in.
    pub language: Language,
    /// In which charset.
    pub charset: Charset,
    /// How many entries it shows.
    pub shown: usize,
    /// What it says about being looked at.
    pub hints: Hints,
    /// What it gives for conditional requests.
    pub validators: Validators,
    /// What goes wrong with it by nature, and from when on.
    pub fate: Option<(Fault, Timestamp)>,
    /// How its host treats callers.
    pub character: Character,
}

impl Handle {
    /// Which feeds exist.
    pub fn fleet(&self) -> &Fleet {
        &self.0.fleet
    }

    /// The server at 127.0.0.1: lists, hostile documents and the control API.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.0.port)
    }

    /// The address of a feed.
    pub fn feed_url(&self, number: u32) -> String {
        self.0.fleet.feed_url(number, self.0.port)
    }

    /// The address of a feed in another form.
    pub fn document_url(&self, number: u32, document: Document) -> String {
        let base_url = self.0.fleet.base_url(number, self.0.port);
        format!("{base_url}/feeds/{number}/{}", document.file_name())
    }

    /// The page a feed is discovered from.
    pub fn site_url(&self, number: u32) -> String {
        format!(
            "{}/feeds/{number}/",
            self.0.fleet.base_url(number, self.0.port)
        )
    }

    /// The address of a hostile document.
    pub fn hostile_url(&self, name: &str) -> String {
        format!("{}/hostile/{name}", self.url())
    }

    /// What there is to know about a feed.
    pub fn card(&self, number: u32) -> Option<Card> {
        let fleet = &self.0.fleet;
        let feed = fleet.feed(number)?;
        Some(Card {
            feed: number,
            host: feed.host,
            url: self.feed_url(number),
            site: self.site_url(number),
            document: feed.document,
            is_feed: feed.document.is_feed(),
            rhythm: feed.habit.rhythm,
            zone: feed.zone_name,
            last_at: feed.habit.last_at,
            language: feed.language,
            charset: feed.charset,
            shown: feed.shown,
            hints: feed.hints,
            validators: feed.validators,
            fate: fleet.fate(number),
            character: fleet.character(feed.host),
        })
    }

    /// The numbers of the feeds that satisfy something, in order: tests pick theirs by this.
    pub fn feeds_where(&self, wanted: impl Fn(&Feed) -> bool) -> impl Iterator<Item = u32> {
        let feeds = (0..self.0.fleet.feeds).filter_map(|number| self.0.fleet.feed(number));
        feeds
            .filter(move |feed| wanted(feed))
            .map(|feed| feed.number)
    }

    /// When a feed publishes from `from` on and before `until`, by its rhythm and by hand.
    pub fn published(&self, number: u32, from: Timestamp, until: Timestamp) -> Vec<Timestamp> {
        let Some(feed) = self.0.fleet.feed(number) else {
            return Vec::new();
        };
        let mut all = feed.habit.published(from, until);
        let inside = self.0.lock();
        let by_hand = inside.announced.get(&number).into_iter().flatten();
        let by_hand = by_hand.map(|it| it.published_at);
        all.extend(by_hand.filter(|at| (from..until).contains(at)));
        all.sort_unstable();
        all
    }

    /// What a feed shows now, newest first.
    pub fn entries(&self, number: u32) -> Vec<Entry> {
        let Some(feed) = self.0.fleet.feed(number) else {
            return Vec::new();
        };
        let base_url = self.0.fleet.base_url(number, self.0.port);
        let announced = self.0.lock().announced.get(&number).cloned();
        feed.entries(&announced.unwrap_or_default(), self.0.now(), &base_url)
    }

    /// Publishes an entry now.
    pub fn publish(&self, number: u32, title: &str) {
        let published_at = self.0.now();
        let title = title.to_owned();
        let announced = Announced {
            published_at,
            title,
        };
        let mut inside = self.0.lock();
        inside.announced.entry(number).or_default().push(announced);
        drop(inside);
        self.0.changed();
    }

    /// Lays a fault on a feed.
    pub fn add_fault(&self, number: u32, rule: impl Into<Rule>) {
        let mut inside = self.0.lock();
        inside
            .feed_rules
            .entry(number)
            .or_default()
            .push(rule.into());
    }

    /// Lays a fault on a host.
    pub fn add_host_fault(&self, host: u32, rule: impl Into<Rule>) {
        let mut inside = self.0.lock();
        inside.host_rules.entry(host).or_default().push(rule.into());
    }

    /// Lifts the faults of a feed, but not its fate.
    pub fn clear_faults(&self, number: u32) {
        self.0.lock().feed_rules.remove(&number);
    }

    /// Lifts the faults of a host, but not its character.
    pub fn clear_host_faults(&self, host: u32) {
        self.0.lock().host_rules.remove(&host);
    }

    /// The faults laid on a feed.
    pub fn faults(&self, number: u32) -> Vec<Rule> {
        let inside = self.0.lock();
        inside.feed_rules.get(&number).cloned().unwrap_or_default()
    }

    /// What came for a feed.
    pub fn count(&self, number: u32) -> Count {
        self.0.lock().journal.feed(number)
    }

    /// What came to a host.
    pub fn host_count(&self, host: u32) -> HostCount {
        self.0.lock().journal.host(host)
    }

    /// Everything that came.
    pub fn total(&self) -> Count {
        self.0.lock().journal.total()
    }

    /// The most requests that any host had under way at once.
    pub fn in_flight_max(&self) -> u64 {
        self.0.lock().journal.in_flight_max()
    }

    /// The newest requests, oldest first.
    pub fn requests(&self) -> Vec<Seen> {
        self.0.lock().journal.newest().cloned().collect()
    }

    /// The newest requests for a feed, oldest first.
    pub fn requests_for(&self, number: u32) -> Vec<Seen> {
        let inside = self.0.lock();
        let own = inside.journal.newest().filter(|seen| seen.feed == number);
        own.cloned().collect()
    }

    /// Forgets all requests; faults and entries stay.
    pub fn forget_requests(&self) {
        self.0.lock().journal.forget();
    }

    /// Waits until something is true of the server; asks again after every answer it gives.
    pub async fn until(&self, wanted: impl Fn(&Self) -> bool) {
        let mut changes = self.0.changes.subscribe();
        while !wanted(self) {
            // The sender lives as long as this handle.
            let _ = changes.changed().await;
        }
    }
}
