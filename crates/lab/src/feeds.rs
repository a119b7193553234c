//! Thousands of feeds on loopback, for a scheduler of checks that must be right against all of them.
//!
//! Each publishes by a rhythm of its own zone, in one of eight forms, on a host of its own address;
//! beside them stand documents made to hurt whoever reads them.
//!
//! - [`rhythm`]: when a feed publishes; [`language`]: what it says;
//! - [`fleet`], [`host`], [`feed`]: which feeds exist, drawn from a seed, and where they live;
//! - [`document`], [`wire`]: their forms, and how those go over HTTP;
//! - [`hostile`]: documents made to hurt; [`fault`]: what can be made to go wrong;
//! - `http`: from a request to an answer.
//!
//! INVARIANT: what a feed shows depends on seed, number, the clock and what was published by hand,
//! never on who asked before. Two servers with one seed and one clock are the same server.

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

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::StatusCode,
    routing::get,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::{
    document::Document,
    fault::{Fault, Matching},
    feed::{Announced, Entry, Feed},
    fleet::Fleet,
};
pub use crate::stand::Error;
use crate::{
    clock::{self, Clock},
    stand::{self, Noted, Opening, Stand, Upstream},
};

/// What the server needs to know.
#[derive(Clone)]
pub struct Config {
    /// Where to listen: `0.0.0.0` for all hosts, of which only loopback is let in; port 0 takes a
    /// free one.
    pub listen: SocketAddr,
    pub fleet: Fleet,
    /// Whether all feeds behave; else some fail, about as often as real ones.
    pub calm: bool,
    /// What time it is: for rhythms and the journal. Waits are real time.
    pub clock: Clock,
}

impl Config {
    /// A calm fleet on a free port, with the machine's clock.
    pub fn new(fleet: Fleet) -> Self {
        Self {
            listen: ([0, 0, 0, 0], 0).into(),
            fleet,
            calm: true,
            clock: clock::system(),
        }
    }
}

/// What was published by hand; everything else is drawn.
#[derive(Debug, Default)]
pub struct Feeds {
    announced: BTreeMap<u32, Vec<Announced>>,
}

/// Reaches into running feeds from the same process, and knows all addresses.
pub type Handle = Stand<Feeds>;
pub type Running = stand::Running<Feeds>;

/// Listens and serves until `cancel`. Once this returns, requests are answered.
pub async fn start(config: Config, cancel: CancellationToken) -> Result<Running, Error> {
    let faults = if config.calm {
        Vec::new()
    } else {
        config.fleet.usual_faults()
    };
    let opening = Opening {
        listen: config.listen,
        clock: config.clock,
        latency: Duration::ZERO,
        config: config.fleet,
        state: Feeds::default(),
    };
    let running = stand::start(opening, cancel).await?;
    for rule in faults {
        running.handle.add_fault(rule);
    }
    Ok(running)
}

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Request {
    pub at: Timestamp,
    pub feed: u32,
    /// The path, as called.
    pub path: String,
    /// Status of the answer; 0 where there was none.
    pub status: u16,
    pub user_agent: String,
    /// Whether it carried validators.
    pub conditional: bool,
}

/// What requests for feeds are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RequestKind {
    /// Status of the answer; 0 where there was none.
    pub status: u16,
}

impl Noted for Request {
    type Kind = RequestKind;

    fn kind(&self) -> RequestKind {
        RequestKind {
            status: self.status,
        }
    }
}

/// What there is to know about a feed in advance.
#[derive(Debug, Clone, Serialize)]
pub struct Card {
    pub feed: u32,
    pub host: u32,
    pub url: String,
    /// The page it is discovered from.
    pub site: String,
    /// What its address serves.
    pub document: Document,
    /// Whether that is a feed; else it takes selectors or paths.
    pub is_feed: bool,
    pub rhythm: &'static str,
}

impl Handle {
    pub fn fleet(&self) -> &Fleet {
        self.config()
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

    /// The numbers of the feeds that satisfy something, in order: tests pick theirs by this.
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

    fn card(&self, number: u32) -> Option<Card> {
        let feed = self.fleet().feed(number)?;
        Some(Card {
            feed: number,
            host: feed.host,
            url: self.feed_url(number),
            site: self.site_url(number),
            document: feed.document,
            is_feed: feed.document.is_feed(),
            rhythm: feed.habit.rhythm.name(),
        })
    }
}

impl Upstream for Feeds {
    const NAME: &'static str = "feeds";
    const WELCOME: &'static str = "\
Thousands of feeds on as many hosts. Every address under 127.0.0.0/8 is one of them.

GET    /opml[?first=0&count=100]         all feeds, as a list of subscriptions
GET    /hostile                          documents made to hurt, by name
GET    /feeds/{n}/                       a page to discover a feed from; so is / of its host
GET    /feeds/{n}/rss.xml                also rdf.xml, rss091.xml, atom.xml, feed.json, list.html,
                                         api.json, sitemap.xml; and under /feeds/{n}/moved/

How to disturb it and look inside:

GET    /_world/feeds[?first=0&count=100] what each feed is like, with its address
GET    /_world/feeds/{n}/entries         what it shows now
POST   /_world/feeds/{n}/entries         {\"title\": \"Now\"} publishes an entry
GET    /_world/faults                    the rules in force
POST   /_world/faults                    {\"matching\": {\"feed\": 3}, \"when\": {\"next\": 1},
                                          \"effect\": {\"status\": 500}}
DELETE /_world/faults                    lifts all
GET    /_world/requests                  counts, and the newest requests
DELETE /_world/requests                  forgets them

Matching: feed, host; nothing is every feed.
When: \"always\", {\"next\": n}, {\"every\": k}, {\"percent\": {\"percent\": p, \"seed\": s}}.
Effect: {\"status\": 410}, {\"moved\": {\"status\": 301}}, {\"slow\": {\"wait_ms\": 2000}},
{\"limited\": {\"status\": 429, \"retry_after_s\": 600, \"as_date\": true}}, \"hang\", \"cut\", \"cut_mid_body\",
{\"serve\": \"login.html\"}.
";
    const LOOPBACK_ONLY: bool = true;
    type Config = Fleet;
    type Matching = Matching;
    type Effect = Fault;
    type Request = Request;

    fn routes(stand: Stand<Self>) -> Router {
        http::routes(stand)
    }

    fn control() -> Router<Stand<Self>> {
        Router::new()
            .route("/feeds", get(cards))
            .route("/feeds/{number}/entries", get(entries).post(publish))
    }
}

/// Which feeds a list is about.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    #[serde(default)]
    first: u32,
    count: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryBody {
    title: String,
}

async fn cards(State(stand): State<Handle>, Query(part): Query<Part>) -> Json<Vec<Card>> {
    let until = part.first.saturating_add(part.count.unwrap_or(100));
    let numbers = part.first..until.min(stand.fleet().feeds);
    Json(numbers.filter_map(|number| stand.card(number)).collect())
}

async fn entries(State(stand): State<Handle>, Path(number): Path<u32>) -> Json<Value> {
    Json(json!(stand.entries(number)))
}

async fn publish(
    State(stand): State<Handle>,
    Path(number): Path<u32>,
    Json(body): Json<EntryBody>,
) -> StatusCode {
    stand.publish(number, &body.title);
    StatusCode::NO_CONTENT
}
