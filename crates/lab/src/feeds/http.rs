//! Routes: feeds and their sites, hostile documents, lists, and the control API.

mod control;
mod deliver;

use std::sync::Arc;

use axum::{
    Router,
    extract::{ConnectInfo, Path, Query, State},
    http::{HeaderMap, StatusCode, Uri, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use serde::Deserialize;

use super::{
    document::{self, Document},
    door::Met,
    handle::Handle,
    hostile::{self, Place},
    journal::Arrival,
    opml,
    reply::{Answer, Reply},
    service::{Call, Service},
    wire::{self, Asked},
};

type App = State<Arc<Service>>;

/// Everything the server answers.
pub(super) fn routes(handle: Handle) -> Router {
    let service = handle.0.clone();
    let feeds = Router::new()
        .route("/", get(site))
        .route("/opml", get(list))
        .route("/feeds/{number}/", get(feed_site))
        .route("/feeds/{number}/{file}", get(look))
        .route("/feeds/{number}/moved/{file}", get(look_at_second_home))
        .route("/feeds/{number}/entries/{key}", get(entry))
        .route("/hostile", get(hostile_list))
        .route("/hostile/{*name}", get(hostile_document))
        .route("/status/{code}", get(status))
        .with_state(service);
    control::routes(handle).merge(feeds)
}

async fn look(
    State(app): App,
    ConnectInfo(met): ConnectInfo<Met>,
    Path(path): Path<(u32, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    answer(&app, met, path, &uri, &headers, Home::First).await
}

async fn look_at_second_home(
    State(app): App,
    ConnectInfo(met): ConnectInfo<Met>,
    Path(path): Path<(u32, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    answer(&app, met, path, &uri, &headers, Home::Second).await
}

/// Where a feed was asked for: moves lead from the first to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    First,
    Second,
}

async fn answer(
    app: &Arc<Service>,
    met: Met,
    (number, file): (u32, String),
    uri: &Uri,
    headers: &HeaderMap,
    home: Home,
) -> Response {
    let (Some(feed), Some(document)) = (app.fleet.feed(number), Document::named(&file)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let call = Call {
        feed,
        document,
        at_second_home: home == Home::Second,
        asked: asked(headers),
    };
    let arrival = Arrival {
        at: app.now(),
        path: uri.path().to_owned(),
        user_agent: text(headers, header::USER_AGENT).unwrap_or_default(),
        conditional: call.asked.is_conditional(),
    };
    deliver::feed(app, met.cut, &call, arrival).await
}

fn asked(headers: &HeaderMap) -> Asked {
    let accepted = text(headers, header::ACCEPT_ENCODING).unwrap_or_default();
    let accepts = |name: &str| {
        let mut all = accepted
            .split(',')
            .map(|one| one.split(';').next().unwrap_or("").trim());
        all.any(|one| one == name)
    };
    Asked {
        gzip: accepts("gzip"),
        brotli: accepts("br"),
        if_none_match: text(headers, header::IF_NONE_MATCH),
        if_modified_since: text(headers, header::IF_MODIFIED_SINCE),
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<String> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// The site of the host that was dialled; at 127.0.0.1, what this is.
async fn site(State(app): App, ConnectInfo(met): ConnectInfo<Met>) -> Response {
    let Some(host) = met.host else {
        return control::WELCOME.into_response();
    };
    let numbers = app.fleet.feeds_on(host);
    let feeds: Vec<_> = numbers
        .filter_map(|number| app.fleet.feed(number))
        .collect();
    if feeds.is_empty() {
        return StatusCode::NOT_FOUND.into_response();
    }
    Html(document::front_page(&feeds, &base_url(&met))).into_response()
}

async fn feed_site(State(app): App, Path(number): Path<u32>) -> Response {
    let Some(feed) = app.fleet.feed(number) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let base_url = app.fleet.base_url(number, app.port);
    Html(document::front_page(&[feed], &base_url)).into_response()
}

async fn entry(State(app): App, Path((number, key)): Path<(u32, String)>) -> Response {
    let handle = Handle(app);
    let entries = handle.entries(number);
    let found = entries.iter().find(|entry| entry.key == key);
    match (handle.fleet().feed(number), found) {
        (Some(feed), Some(entry)) => Html(document::entry_page(&feed, entry)).into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    #[serde(default)]
    first: u32,
    count: Option<u32>,
}

/// All feeds, or `?first=…&count=…` of them, as OPML.
async fn list(State(app): App, Query(part): Query<Part>) -> Response {
    let until = part.first.saturating_add(part.count.unwrap_or(u32::MAX));
    let until = until.min(app.fleet.feeds);
    let pieces = opml::write(app.fleet.clone(), part.first..until, app.port);
    let reply = Reply::pieces("text/x-opml; charset=utf-8", pieces);
    deliver::plain(&app, Answer::Reply(reply), None).await
}

async fn hostile_list(ConnectInfo(met): ConnectInfo<Met>) -> String {
    let base = base_url(&met);
    let fixed = hostile::all().map(|it| format!("{base}/hostile/{}\t{}\n", it.name, it.what));
    let private = hostile::private_targets().iter();
    let private =
        private.map(|(name, to)| format!("{base}/hostile/redirect-private/{name}\t302 to {to}\n"));
    let numbered = [
        format!("{base}/hostile/hops/7\tseven redirects, then a feed\n"),
        format!("{base}/hostile/redirect-forever/0\tnever the same address, never an end\n"),
    ];
    fixed.chain(private).chain(numbered).collect()
}

async fn hostile_document(
    State(app): App,
    ConnectInfo(met): ConnectInfo<Met>,
    Path(name): Path<String>,
) -> Response {
    let place = Place {
        base_url: &base_url(&met),
        now: app.now(),
    };
    match hostile::answer(&name, &place) {
        Some(answer) => deliver::plain(&app, answer, Some(met.cut)).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatusQuery {
    retry_after: Option<i64>,
    #[serde(default)]
    as_date: bool,
    location: Option<String>,
}

/// Any status, with `?retry_after=SECONDS[&as_date=true]` and `?location=URL`.
async fn status(
    State(app): App,
    Path(code): Path<u16>,
    Query(query): Query<StatusQuery>,
) -> Response {
    let mut reply = Reply::status(code, "as asked\n");
    if let Some(after_s) = query.retry_after {
        let at = app.now() + jiff::SignedDuration::from_secs(after_s.clamp(0, 1_000_000_000));
        let date = query.as_date.then(|| wire::http_date(at));
        reply = reply.with("retry-after", date.unwrap_or_else(|| after_s.to_string()));
    }
    if let Some(to) = query.location {
        reply = reply.with("location", to);
    }
    deliver::plain(&app, Answer::Reply(reply), None).await
}

/// The server as the caller reached it.
fn base_url(met: &Met) -> String {
    met.address
        .map_or_else(String::new, |address| format!("http://{address}"))
}
