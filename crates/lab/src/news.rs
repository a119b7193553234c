//! A news site on loopback, for a digest of its stories that must be right against the real one.
//!
//! It speaks what an edition is made from: the best list of Hacker News as Firebase serves it, the
//! questions Almanack asks the search that Algolia runs over stories and comments, with its limit of
//! 1,000 hits, the pages that stories lead to, good and bad, and two services that read pages.
//!
//! - [`site`], [`story`], [`prose`]: which stories exist and what they say, drawn from a seed;
//! - [`page`]: what their addresses lead to;
//! - `search`: the questions of the search, and hits; `http`: from a request to an answer;
//! - [`fault`]: what may go wrong.
//!
//! INVARIANT: what the site shows depends on seed, clock and what was changed by hand, never on who
//! asked before; and every request counts in the journal, answered or not.

mod archive;
pub mod fault;
mod http;
mod markup;
pub mod page;
pub mod prose;
mod reading;
mod search;
pub mod site;
pub mod story;

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::StatusCode,
    routing::{get, put},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::{
    archive::Archive,
    fault::{Effect, Matching},
    page::{Page, Sheet},
    site::{PER_STORY, Site},
    story::{Comment, Facts, Link, NewStory, Story},
};
pub use crate::stand::Error;
use crate::{
    clock::{self, Clock},
    stand::{self, Noted, Opening, Stand, Upstream},
};

/// What the crawler API wants to be shown where nothing else is said; there is nothing to protect.
pub const CRAWLER_TOKEN: &str = "crawler-token";
/// Hosts that pages are spread over, where the server listens on all of them: 127.0.0.2 and on.
const HOSTS: i64 = 250;

/// What the server needs to know.
#[derive(Clone)]
pub struct Config {
    /// Where to listen: at `0.0.0.0` pages have hosts of their own, 127.0.0.2 and on, and only
    /// loopback is let in; port 0 takes a free one.
    pub listen: SocketAddr,
    pub site: Site,
    /// How long every answer takes, in real time.
    pub latency: Duration,
    /// What the crawler API wants to be shown.
    pub crawler_token: String,
    /// What time it is: for what can be seen, and the journal. Waits are real time.
    pub clock: Clock,
}

impl Config {
    /// A site that answers at once, with the machine's clock.
    pub fn new(listen: SocketAddr, site: Site) -> Self {
        Self {
            listen,
            site,
            latency: Duration::ZERO,
            crawler_token: CRAWLER_TOKEN.to_owned(),
            clock: clock::system(),
        }
    }
}

#[derive(Debug)]
pub struct News {
    archive: Archive,
}

/// What of the configuration stays.
#[derive(Debug)]
pub struct Fixed {
    crawler_token: String,
    /// Whether pages have hosts of their own.
    wide: bool,
}

/// Reaches into a running site from the same process.
pub type Handle = Stand<News>;
/// A site that runs.
pub type Running = stand::Running<News>;

/// Listens and serves until `cancel`. Once this returns, requests are answered.
pub async fn start(config: Config, cancel: CancellationToken) -> Result<Running, Error> {
    let opening = Opening {
        listen: config.listen,
        clock: config.clock,
        latency: config.latency,
        config: Fixed {
            crawler_token: config.crawler_token,
            wide: config.listen.ip().is_unspecified(),
        },
        state: News {
            archive: Archive::new(config.site),
        },
    };
    stand::start(opening, cancel).await
}

/// What can be asked.
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

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Request {
    pub at: Timestamp,
    pub endpoint: Endpoint,
    /// The address that was dialled.
    pub host: String,
    /// Path and query, as called.
    pub path: String,
    /// Status of the answer; 0 where there is none.
    pub status: u16,
}

/// What requests to the site are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RequestKind {
    pub endpoint: Endpoint,
    /// Status of the answer; 0 where there was none.
    pub status: u16,
}

impl Noted for Request {
    type Kind = RequestKind;

    fn kind(&self) -> RequestKind {
        RequestKind {
            endpoint: self.endpoint,
            status: self.status,
        }
    }
}

impl Handle {
    /// Adds a story and answers its number. It shows from its time on.
    pub fn add_story(&self, story: NewStory) -> i64 {
        let id = self.lock().state.archive.add(story);
        self.changed();
        id
    }

    /// What there is to know about a story that can be seen now.
    pub fn story(&self, id: i64) -> Option<Facts> {
        let now = self.now();
        let archive = &mut self.lock().state.archive;
        let story = archive.story(id, now)?;
        let page = archive.page(id);
        Some(Facts {
            url: self.story_url(&story),
            article: match &story.link {
                Link::Page => archive.site.article(id, page),
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
        self.lock().state.archive.between((from_s, to_s), now)
    }

    /// What has been said about a story by now, oldest first.
    pub fn comments(&self, id: i64) -> Vec<Comment> {
        let now = self.now();
        let archive = &mut self.lock().state.archive;
        let story = archive.story(id, now);
        story.map_or_else(Vec::new, |story| archive.comments(&story, now))
    }

    /// The best list as it stands now.
    pub fn best_stories(&self) -> Vec<i64> {
        let now = self.now();
        self.lock().state.archive.best(now)
    }

    /// Changes what a story's page is like.
    pub fn set_page(&self, id: i64, page: Page) {
        self.lock().state.archive.set_page(id, page);
    }

    /// The address of a story's page on this server.
    pub fn page_url(&self, id: i64) -> String {
        if !self.config().wide {
            return format!("{}/pages/{id}", self.url());
        }
        let last = u8::try_from(2 + id / PER_STORY % HOSTS).unwrap_or(2);
        let host = Ipv4Addr::new(127, 0, 0, last);
        format!("http://{host}:{}/pages/{id}", self.port())
    }

    /// How many requests came to an endpoint.
    pub fn count(&self, endpoint: Endpoint) -> u64 {
        let counts = self.counts();
        let own = counts.iter().filter(|it| it.kind.endpoint == endpoint);
        own.map(|it| it.requests).sum()
    }

    /// Where a story leads.
    fn story_url(&self, story: &Story) -> Option<String> {
        match &story.link {
            Link::Page => Some(self.page_url(story.id)),
            Link::Elsewhere(url) => Some(url.clone()),
            Link::Text(_) => None,
        }
    }
}

impl Facts {
    fn sheet(&self) -> Sheet<'_> {
        Sheet {
            id: self.story.id,
            title: &self.story.title,
            page: self.page,
            article: self.article.as_deref(),
        }
    }
}

impl Upstream for News {
    const NAME: &'static str = "news";
    const WELCOME: &'static str = "\
A simulated news site, with the interfaces of Hacker News and its search.

GET    /v0/beststories.json
GET    /api/v1/search                    ?tags=…&numericFilters=…&hitsPerPage=…
GET    /api/v1/search_by_date            the same, newest first; 1,000 hits of a query at most
GET    /item?id={id}                     a story's page on the site
GET    /pages/{id}                       the page that a story leads to
POST   /crawler                          {\"url\": \"…\"}, with Authorization: Bearer
GET    /reader/{address}                 a page as text

How to disturb it and look inside:

GET    /_world/stories?from_s=…&to_s=…   all stories of a time
POST   /_world/stories                   {\"created_at\": TIME, \"title\": \"…\", \"points\": 7}, also with
                                         \"url\", \"text\" and \"comments\": [\"HTML\"]
GET    /_world/stories/{id}              what a story is, what its page says, its comments
PUT    /_world/pages/{id}                \"blocked\" or any other kind of page
GET    /_world/faults                    the rules in force
POST   /_world/faults                    {\"matching\": {\"endpoint\": \"search\"}, \"when\": {\"next\": 3},
                                          \"effect\": {\"status\": 503}}
DELETE /_world/faults                    lifts all
PUT    /_world/latency                   {\"latency_ms\": 200}
GET    /_world/requests                  counts, and the newest requests
DELETE /_world/requests                  forgets them

Pages: \"article\", \"about_blocking\", \"gb18030\", \"shift_jis\", {\"redirected\": {\"hops\": 3}},
\"redirect_loop\", {\"slow\": {\"wait_ms\": 60000}}, \"blocked\", \"forbidden\", \"empty\", \"shell\",
\"oversized\", \"pdf\", \"missing\", \"broken\".
Endpoints: best_stories, search, search_by_date, page, discussion, crawler, reader.
When: \"always\", {\"next\": n}, {\"every\": k}, {\"percent\": {\"percent\": p, \"seed\": s}}.
Effect: {\"status\": 503}, {\"limited\": {\"retry_after_s\": 60}}, {\"slow\": {\"wait_ms\": 2000}}, \"hang\",
\"drop_request\", \"drop_reply\", \"truncated\", \"malformed_json\", \"null_hits\".
";
    const LOOPBACK_ONLY: bool = true;
    type Config = Fixed;
    type Matching = Matching;
    type Effect = Effect;
    type Request = Request;

    fn routes(stand: Stand<Self>) -> Router {
        Router::new().fallback(http::answer).with_state(stand)
    }

    fn control() -> Router<Stand<Self>> {
        Router::new()
            .route("/stories", get(stories).post(add_story))
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoryBody {
    created_at: Timestamp,
    title: String,
    points: Option<i64>,
    url: Option<String>,
    text: Option<String>,
    #[serde(default)]
    comments: Vec<String>,
}

async fn stories(State(stand): State<Handle>, Query(span): Query<Span>) -> Json<Value> {
    Json(json!(stand.stories_between(span.from_s, span.to_s)))
}

async fn add_story(State(stand): State<Handle>, Json(body): Json<StoryBody>) -> Json<Value> {
    let link = match (body.text, body.url) {
        (Some(text), _) => Link::Text(text),
        (None, Some(url)) => Link::Elsewhere(url),
        (None, None) => Link::Page,
    };
    let id = stand.add_story(NewStory {
        created_at: body.created_at,
        title: body.title,
        points: body.points,
        link,
        page: Page::Article,
        comments: body.comments,
    });
    Json(json!({ "id": id }))
}

async fn story(
    State(stand): State<Handle>,
    Path(id): Path<i64>,
) -> Result<Json<Value>, StatusCode> {
    let facts = stand.story(id).ok_or(StatusCode::NOT_FOUND)?;
    let comments = stand.comments(id);
    Ok(Json(json!({ "facts": facts, "comments": comments })))
}

async fn set_page(
    State(stand): State<Handle>,
    Path(id): Path<i64>,
    Json(page): Json<Page>,
) -> StatusCode {
    stand.set_page(id, page);
    StatusCode::NO_CONTENT
}
