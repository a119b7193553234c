//! From a request to a response: fault, answer, journal, in this order.
//!
//! A response is decided and recorded on arrival; only then is it delayed.

use axum::{
    body::Bytes,
    extract::{ConnectInfo, State, rejection::BytesRejection},
    http::{HeaderMap, Uri, header},
    response::Response,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Endpoint, Handle, RequestFacts, RequestKind,
    archive::Order,
    fault::Effect,
    markup,
    page::Page,
    reading,
    search::{self, Question},
    story::{Comment, Facts},
};
use crate::{
    line::Met,
    reply::{self, Answer, Body, Reply},
};

const JSON: &str = "application/json; charset=utf-8";

impl Endpoint {
    fn at(path: &str) -> Self {
        match path {
            "/v0/beststories.json" => Self::BestStories,
            "/api/v1/search" => Self::Search,
            "/api/v1/search_by_date" => Self::SearchByDate,
            "/item" => Self::Discussion,
            "/crawler" => Self::Crawler,
            _ if path.starts_with("/pages/") => Self::Page,
            _ if path.starts_with("/reader/") => Self::Reader,
            _ => Self::Other,
        }
    }
}

/// All routes of the site.
pub(super) async fn answer(
    State(stand): State<Handle>,
    ConnectInfo(met): ConnectInfo<Met>,
    uri: Uri,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let flight = stand.begin();
    let endpoint = Endpoint::at(uri.path());
    let path = uri.path_and_query().map_or("/", |it| it.as_str());
    let effect = stand.lock().faults.plan(|it| it.covers(endpoint, path));
    let answer = disturbed(effect, || {
        Answer::Reply(match endpoint {
            Endpoint::BestStories => Reply::new(JSON, json!(stand.best_stories()).to_string()),
            Endpoint::Search => find(&stand, &uri, Order::Points),
            Endpoint::SearchByDate => find(&stand, &uri, Order::Newest),
            Endpoint::Page => show_page(&stand, path).unwrap_or_else(not_found),
            Endpoint::Discussion => discuss(&stand, path).unwrap_or_else(not_found),
            Endpoint::Crawler => crawled(&stand, &headers, &body.unwrap_or_default()),
            Endpoint::Reader => read(&stand, path),
            Endpoint::Other => not_found(),
        })
    });
    let host = met.address.map(|it| it.ip().to_string());
    let at = stand.now();
    let status = answer.status();
    let facts = RequestFacts {
        host: host.unwrap_or_default(),
        path: path.to_owned(),
    };
    let kind = RequestKind { endpoint, status };
    stand.lock().journal.note(at, kind, facts);
    stand.send(&met, answer, flight).await
}

fn disturbed(effect: Option<Effect>, make: impl FnOnce() -> Answer) -> Answer {
    let Some(effect) = effect else { return make() };
    match effect {
        Effect::Status(status) => Answer::Reply(Reply::status(status, "not today\n")),
        Effect::Limited { retry_after_s } => {
            let reply = Reply::status(429, "slow down\n");
            Answer::Reply(reply.with("retry-after", retry_after_s.to_string()))
        }
        Effect::Hang => Answer::Hang,
        Effect::DropRequest => Answer::Cut,
        Effect::DropReply => {
            make();
            Answer::Cut
        }
        Effect::Slow { wait_ms } => changed(make(), |reply| reply.after_ms(wait_ms)),
        Effect::Truncated => changed(make(), |reply| reply.sent(reply::cut_in_half)),
        Effect::MalformedJson => changed(make(), |reply| rewritten(reply, halved)),
        Effect::NullHits => changed(make(), |reply| rewritten(reply, without_hits)),
    }
}

fn changed(answer: Answer, change: impl FnOnce(Reply) -> Reply) -> Answer {
    match answer {
        Answer::Reply(reply) => Answer::Reply(change(reply)),
        other => other,
    }
}

/// Only whole bodies can be rewritten.
fn rewritten(mut reply: Reply, change: impl FnOnce(&Bytes) -> Bytes) -> Reply {
    if let Body::Whole(bytes) = reply.body {
        reply.body = Body::Whole(change(&bytes));
    }
    reply
}

fn halved(bytes: &Bytes) -> Bytes {
    bytes.slice(..bytes.len() / 2)
}

fn without_hits(bytes: &Bytes) -> Bytes {
    let nulled = match serde_json::from_slice(bytes) {
        Ok(Value::Object(mut shown)) if shown.contains_key("hits") => {
            shown.insert("hits".to_owned(), Value::Null);
            Value::Object(shown)
        }
        _ => Value::Null,
    };
    Bytes::from(nulled.to_string())
}

fn not_found() -> Reply {
    Reply::status(404, "nothing here\n")
}

fn find(stand: &Handle, uri: &Uri, order: Order) -> Reply {
    let Some(question) = Question::read(uri) else {
        let body = json!({ "message": "query not supported by the simulated search" });
        return Reply::json(400, &body);
    };
    let now = stand.now();
    let found = stand.lock().state.search(&question, order, now);
    let hits = found.iter().take(question.hits_max);
    let hits: Vec<Value> = hits
        .map(|item| search::hit(item, stand.story_url(item.story()).as_deref()))
        .collect();
    let shown = json!({ "hits": hits, "nbHits": found.len(), "page": 0 });
    Reply::new(JSON, shown.to_string())
}

/// `/pages/{id}` or `/pages/{id}/hop/{hop}`.
fn show_page(stand: &Handle, path: &str) -> Option<Reply> {
    let (id, hop) = path.strip_prefix("/pages/").map(|it| {
        let (id, hop) = it.split_once("/hop/").unwrap_or((it, "0"));
        (id.parse().ok(), hop.parse().ok())
    })?;
    Some(stand.story(id?)?.answer(hop?))
}

/// The story's own page on the site, for stories without a link.
fn discuss(stand: &Handle, path: &str) -> Option<Reply> {
    let facts = stand.story(story_in(path)?)?;
    let title = markup::escape(&facts.story.title);
    let text = facts.story.text().unwrap_or_default();
    let comments = stand.comments(facts.story.id);
    let row = |it: &Comment| format!("<tr><td>{}: {}</td></tr>\n", it.author, it.html);
    let rows: String = comments.iter().map(row).collect();
    let html = format!(
        "<!doctype html><html><head><title>{title}</title></head><body><table><tr><td \
         class=\"title\">{title}</td></tr><tr><td class=\"toptext\">{text}</td></tr></table>\n\
         <table class=\"comment-tree\">{rows}</table></body></html>\n"
    );
    Some(Reply::new("text/html; charset=utf-8", html))
}

/// The story of a page's address: its link, or its own page on the site.
fn story_in(address: &str) -> Option<i64> {
    let named = address.split_once("/pages/");
    let (_, rest) = named.or_else(|| address.split_once("/item?id="))?;
    let end = rest.find(|it: char| !it.is_ascii_digit());
    rest.get(..end.unwrap_or(rest.len()))?.parse().ok()
}

#[derive(Deserialize)]
struct CrawlBody {
    url: String,
}

fn crawled(stand: &Handle, headers: &HeaderMap, body: &[u8]) -> Reply {
    let refused = |status, error| Reply::json(status, &json!({ "success": false, "error": error }));
    let expected = format!("Bearer {}", stand.setup().crawler_token);
    let shown = headers.get(header::AUTHORIZATION);
    if shown.is_none_or(|shown| shown.as_bytes() != expected.as_bytes()) {
        return refused(401, "invalid token");
    }
    let Ok(CrawlBody { url }) = serde_json::from_slice(body) else {
        return refused(400, "url is required");
    };
    let found = look_at(stand, &url);
    Reply::json(200, &reading::crawled(found.as_ref())).after_ms(wait_ms(found.as_ref()))
}

/// The address follows unencoded, with its query.
fn read(stand: &Handle, path: &str) -> Reply {
    let address = path.strip_prefix("/reader/").unwrap_or_default();
    let found = look_at(stand, address);
    reading::read(address, found.as_ref()).after_ms(wait_ms(found.as_ref()))
}

/// The page at an address, for readers.
fn look_at(stand: &Handle, address: &str) -> Option<Facts> {
    stand.story(story_in(address)?)
}

/// How long reading it takes: as long as the page itself.
fn wait_ms(found: Option<&Facts>) -> u64 {
    match found.map(|found| found.page) {
        Some(Page::Slow { wait_ms }) => wait_ms,
        _ => 0,
    }
}
