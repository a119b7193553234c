//! A news site on loopback, for a digest that must work with the real one.
//!
//! It serves what an edition is built from: the best list of Hacker News as in Firebase, the
//! queries Almanack sends to Algolia's search over stories and comments, with its limit of 1,000
//! hits, the pages that stories link to, good and bad, and two services that read pages.
//!
//! - [`site`], [`story`], [`prose`]: which stories exist and their texts, drawn from a seed;
//! - `catalogue`: the stories as they were written, in English and Chinese;
//! - [`page`]: the pages at their addresses;
//! - `search`: queries and hits of the search; `http`: from a request to a response;
//! - [`fault`]: injected faults.
//!
//! INVARIANT: what the site shows depends on seed, clock and what was changed manually, never on
//! earlier requests; and every request counts in the journal, answered or not.

mod archive;
pub(crate) mod catalogue;
pub mod fault;
mod http;
mod markup;
pub mod page;
pub mod prose;
mod reading;
mod search;
pub mod site;
pub mod story;

use std::net::{Ipv4Addr, SocketAddr};

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::StatusCode,
    routing::{get, put},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub use self::archive::News;
use self::{
    fault::{Effect, Matching},
    page::Page,
    site::{PER_STORY, Site},
    story::{Comment, Facts, Link, NewStory, Story},
};
use crate::stand::{self, Stand, Upstream, done};
pub use crate::stand::{Error, start};

/// The default token of the crawler API; it protects nothing.
pub const CRAWLER_TOKEN: &str = "crawler-token";
/// Hosts that pages are spread over, where the server listens on all of them: 127.0.0.2 and on.
const HOSTS: i64 = 250;

/// Configuration of the server.
#[derive(Clone)]
pub struct Setup {
    pub site: Site,
    /// The token of the crawler API.
    pub crawler_token: String,
}

/// Listening at `0.0.0.0` gives each page its own host, 127.0.0.2 and on, and accepts only
/// loopback.
pub type Config = stand::Config<News>;

impl Config {
    /// A site that answers at once, with the system clock.
    pub fn new(listen: SocketAddr, site: Site) -> Self {
        let setup = Setup {
            site,
            crawler_token: CRAWLER_TOKEN.to_owned(),
        };
        Self::of(listen, setup)
    }
}

/// Handle to a running site from the same process.
pub type Handle = Stand<News>;
/// A running site.
pub type Running = stand::Running<News>;

/// The endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Endpoint {
    /// `/v0/beststories.json`
    BestStories,
    /// `/api/v1/search`
    Search,
    /// `/api/v1/search_by_date`
    SearchByDate,
    /// `/pages/{id}`, and each redirect on the way there.
    Page,
    /// `/item?id={id}`: the page of a story on the site itself.
    Discussion,
    /// `/crawler`
    Crawler,
    /// `/reader/{address}`
    Reader,
    /// Anything else: 404.
    Other,
}

/// What requests to the site are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RequestKind {
    pub endpoint: Endpoint,
    /// Status of the response; 0 without a response.
    pub status: u16,
}

/// What else the journal contains of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequestFacts {
    /// The address that the client connected to.
    pub host: String,
    /// Path and query, as called.
    pub path: String,
}

impl Handle {
    /// Adds a story and returns its number. It shows from its time on.
    pub fn add_story(&self, story: NewStory) -> i64 {
        let id = self.lock().state.add(story);
        self.changed();
        id
    }

    /// The facts about a story that is visible now.
    pub fn story(&self, id: i64) -> Option<Facts> {
        let now = self.now();
        let news = &mut self.lock().state;
        let story = news.story(id, now)?;
        let page = news.page(id);
        Some(Facts {
            url: self.story_url(&story),
            article: match &story.link {
                Link::Page => news.site.article(id, page),
                Link::Text(html) => Some(markup::paragraphs(html)),
                Link::Elsewhere(_) => None,
            },
            page,
            story,
        })
    }

    /// All stories that can be seen now and were submitted from one second to another, both
    /// included: what a complete list of that time holds.
    pub fn stories_between(&self, from_s: i64, to_s: i64) -> Vec<Story> {
        let now = self.now();
        self.lock().state.between((from_s, to_s), now)
    }

    /// The comments on a story so far, oldest first.
    pub fn comments(&self, id: i64) -> Vec<Comment> {
        let now = self.now();
        let news = &mut self.lock().state;
        let story = news.story(id, now);
        story.map_or_else(Vec::new, |story| news.comments(&story, now))
    }

    /// The present best list.
    pub fn best_stories(&self) -> Vec<i64> {
        let now = self.now();
        self.lock().state.best(now)
    }

    /// Changes a story's page.
    pub fn set_page(&self, id: i64, page: Page) {
        self.lock().state.set_page(id, page);
    }

    /// The address of a story's page on this server.
    pub fn page_url(&self, id: i64) -> String {
        if !self.is_everywhere() {
            return format!("{}/pages/{id}", self.url());
        }
        let last = u8::try_from(2 + id / PER_STORY % HOSTS).unwrap_or(2);
        let host = Ipv4Addr::new(127, 0, 0, last);
        format!("http://{host}:{}/pages/{id}", self.port())
    }

    /// How many requests came to an endpoint.
    pub fn count(&self, endpoint: Endpoint) -> u64 {
        self.count_where(|request| request.endpoint == endpoint)
    }

    /// The link of a story.
    fn story_url(&self, story: &Story) -> Option<String> {
        match &story.link {
            Link::Page => Some(self.page_url(story.id)),
            Link::Elsewhere(url) => Some(url.clone()),
            Link::Text(_) => None,
        }
    }
}

impl Upstream for News {
    const NAME: &'static str = "news";
    const WELCOME: &'static str = include_str!("news/welcome.txt");
    const LOOPBACK_ONLY: bool = true;
    type Setup = Setup;
    type Matching = Matching;
    type Effect = Effect;
    type Kind = RequestKind;
    type Facts = RequestFacts;

    fn open(setup: &Setup, _: Timestamp) -> Self {
        Self::new(setup.site.clone())
    }

    fn routes(stand: Stand<Self>) -> Router {
        Router::new().fallback(http::answer).with_state(stand)
    }

    fn control() -> Router<Stand<Self>> {
        type At = State<Handle>;
        let stories = async |State(stand): At, Query(Span { from_s, to_s })| {
            Json(stand.stories_between(from_s, to_s))
        };
        let add = async |State(stand): At, Json(story): Json<NewStory>| {
            Json(json!({ "id": stand.add_story(story) }))
        };
        let story = async |State(stand): At, Path(id): Path<i64>| {
            let facts = stand.story(id).ok_or(StatusCode::NOT_FOUND)?;
            let comments = stand.comments(id);
            Ok::<_, StatusCode>(Json(json!({ "facts": facts, "comments": comments })))
        };
        let set_page = async |State(stand): At, Path(id): Path<i64>, Json(page)| {
            done(|| stand.set_page(id, page))
        };
        Router::new()
            .route("/stories", get(stories).post(add))
            .route("/stories/{id}", get(story))
            .route("/pages/{id}", put(set_page))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Span {
    from_s: i64,
    to_s: i64,
}
