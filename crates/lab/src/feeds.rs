//! Thousands of feeds on loopback, for a scheduler of checks that must work with all of them.
//!
//! Each publishes by a rhythm in its zone, in one of eight formats, on a host with its own address.
//! There are hostile documents, too.
//!
//! - [`rhythm`]: when a feed publishes; [`language`]: its texts;
//! - [`fleet`], [`host`], [`feed`]: which feeds exist, drawn from a seed, and their hosts;
//! - [`document`], [`wire`]: their formats, and how they are served over HTTP;
//! - [`hostile`]: hostile documents; [`fault`]: injected faults;
//! - `http`: from a request to a response.
//!
//! INVARIANT: what a feed shows depends on seed, number, the clock and what was published manually,
//! never on earlier requests. Two servers with one seed and one clock are the same server.

pub mod document;
pub mod fault;
pub mod feed;
pub mod fleet;
pub mod host;
pub mod hostile;
mod http;
pub mod language;
mod opml;
pub mod rhythm;
pub mod wire;

use std::{collections::BTreeMap, ops::Range};

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    routing::get,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::{
    document::Document,
    fault::{Fault, Matching},
    feed::{Announced, Entry, Feed},
    fleet::Fleet,
};
use crate::stand::{self, Stand, Upstream, done};
pub use crate::stand::{Error, start};

/// Listening at `0.0.0.0` makes every loopback address a host, and accepts no other client.
pub type Config = stand::Config<Feeds>;

impl Config {
    /// A fleet without faults on a free port, with the system clock.
    pub fn new(fleet: Fleet) -> Self {
        Self::of(([0, 0, 0, 0], 0).into(), fleet)
    }
}

/// Entries published manually; everything else is drawn.
#[derive(Debug, Default)]
pub struct Feeds {
    announced: BTreeMap<u32, Vec<Announced>>,
}

/// Handle to running feeds from the same process, and knows all addresses.
pub type Handle = Stand<Feeds>;
pub type Running = stand::Running<Feeds>;

/// What requests for feeds are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RequestKind {
    /// Status of the response; 0 without a response.
    pub status: u16,
}

/// What else the journal contains of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequestFacts {
    pub feed: u32,
    /// The path, as called.
    pub path: String,
    pub user_agent: String,
    /// Whether it carried validators.
    pub conditional: bool,
}

impl Handle {
    /// Injects faults into some hosts and feeds, about as often as with real ones.
    pub fn inject_usual_faults(&self) {
        for rule in self.fleet().usual_faults() {
            self.add_fault(rule);
        }
    }

    pub fn fleet(&self) -> &Fleet {
        self.setup()
    }

    /// The address of a feed.
    pub fn feed_url(&self, number: u32) -> String {
        self.fleet().feed_url(number, self.port())
    }

    /// The address of a feed in another form.
    pub fn document_url(&self, number: u32, document: Document) -> String {
        format!("{}{}", self.site_url(number), document.file_name())
    }

    /// The page a feed is discovered from.
    pub fn site_url(&self, number: u32) -> String {
        format!("{}/feeds/{number}/", self.host_url(number))
    }

    /// The address of a hostile document.
    pub fn hostile_url(&self, name: &str) -> String {
        format!("{}/hostile/{name}", self.url())
    }

    /// The numbers of the feeds that match, in order, for tests to choose from.
    pub fn feeds_where(&self, wanted: impl Fn(&Feed) -> bool) -> impl Iterator<Item = u32> {
        let feeds = (0..self.fleet().feeds).filter_map(|number| self.fleet().feed(number));
        feeds
            .filter(move |feed| wanted(feed))
            .map(|feed| feed.number)
    }

    /// What a feed shows now, newest first.
    pub fn entries(&self, number: u32) -> Vec<Entry> {
        let Some(feed) = self.fleet().feed(number) else {
            return Vec::new();
        };
        let announced = self.announced(number);
        feed.entries(&announced, self.now(), &self.host_url(number))
    }

    /// Publishes an entry now.
    pub fn publish(&self, number: u32, title: &str) {
        let entry = Announced {
            published_at: self.now(),
            title: title.to_owned(),
        };
        let announced = &mut self.lock().state.announced;
        announced.entry(number).or_default().push(entry);
    }

    fn announced(&self, number: u32) -> Vec<Announced> {
        let announced = &self.lock().state.announced;
        announced.get(&number).cloned().unwrap_or_default()
    }

    fn host_url(&self, number: u32) -> String {
        self.fleet().base_url(number, self.port())
    }

    /// The facts about a feed: its addresses, and whether it needs selectors or paths.
    fn card(&self, number: u32) -> Option<Value> {
        let feed = self.fleet().feed(number)?;
        Some(json!({
            "feed": number,
            "host": feed.host,
            "url": self.feed_url(number),
            "site": self.site_url(number),
            "document": feed.document,
            "is_feed": feed.document.is_feed(),
            "rhythm": feed.habit.rhythm.name,
        }))
    }
}

impl Upstream for Feeds {
    const NAME: &'static str = "feeds";
    const WELCOME: &'static str = include_str!("feeds/welcome.txt");
    const LOOPBACK_ONLY: bool = true;
    type Setup = Fleet;
    type Matching = Matching;
    type Effect = Fault;
    type Kind = RequestKind;
    type Facts = RequestFacts;

    fn open(_: &Fleet, _: Timestamp) -> Self {
        Self::default()
    }

    fn routes(stand: Stand<Self>) -> Router {
        http::routes(stand)
    }

    fn control() -> Router<Stand<Self>> {
        type At = State<Handle>;
        let cards = async |State(stand): At, Query(part): Query<Part>| {
            let numbers = part.of(stand.fleet(), 100);
            let cards = numbers.filter_map(|number| stand.card(number));
            Json(cards.collect::<Vec<Value>>())
        };
        let entries = async |State(stand): At, Path(number): Path<u32>| Json(stand.entries(number));
        let publish =
            async |State(stand): At, Path(number): Path<u32>, Json(EntryBody { title })| {
                done(|| stand.publish(number, &title))
            };
        Router::new()
            .route("/feeds", get(cards))
            .route("/feeds/{number}/entries", get(entries).post(publish))
    }
}

/// The range of feeds in a list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    #[serde(default)]
    first: u32,
    count: Option<u32>,
}

impl Part {
    /// Their numbers, with a default count.
    fn of(&self, fleet: &Fleet, usual: u32) -> Range<u32> {
        let until = self.first.saturating_add(self.count.unwrap_or(usual));
        self.first..until.min(fleet.feeds)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryBody {
    title: String,
}
