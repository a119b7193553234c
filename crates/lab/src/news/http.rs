//! Routes: both interfaces of the site, its pages, those who read pages for others, and the
//! control API.

mod control;
mod deliver;

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::{
        ConnectInfo, Path, Query as Parameters, State,
        rejection::{BytesRejection, QueryRejection},
    },
    http::{HeaderMap, Uri, header},
    response::Response,
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::{Value, json};

use self::deliver::{Asked, deliver};
use super::{
    archive::{Item, Order},
    handle::Handle,
    journal::Endpoint,
    markup, reading,
    search::{self, Query},
    service::{self, Service},
    site::story_of,
    story::Comment,
    view,
};
use crate::feeds::{
    door::Met,
    reply::{Answer, Reply},
};

type App = State<Arc<Service>>;
type Connection = ConnectInfo<Met>;
/// What cannot be read is refused where it is counted, not before.
type Asking = Result<Parameters<search::Parameters>, QueryRejection>;

/// Everything the server answers.
pub(super) fn routes(handle: Handle) -> Router {
    let service = handle.0.clone();
    let site = Router::new()
        .route("/v0/beststories.json", get(best))
        .route("/v0/topstories.json", get(top))
        .route("/v0/item/{file}", get(item))
        .route("/api/v1/search", get(search_by_points))
        .route("/api/v1/search_by_date", get(search_by_date))
        .route("/pages/{id}", get(page))
        .route("/pages/{id}/hop/{hop}", get(hop))
        .route("/item", get(discussion))
        .route("/crawler", post(crawl))
        .route("/reader/{*address}", get(read))
        .fallback(nothing)
        .method_not_allowed_fallback(nothing)
        .with_state(service);
    control::routes(handle).merge(site)
}

fn as_json(value: &Value) -> Answer {
    let reply = Reply::new("application/json; charset=utf-8", value.to_string());
    Answer::Reply(reply)
}

fn not_found() -> Answer {
    Answer::Reply(Reply::status(404, "nothing here\n"))
}

async fn best(State(app): App, ConnectInfo(met): Connection, uri: Uri) -> Response {
    let asked = Asked::new(Endpoint::BestStories, met, &uri);
    deliver(&app, asked, |app| {
        as_json(&json!(app.lock().archive.best(app.now())))
    })
    .await
}

async fn top(State(app): App, ConnectInfo(met): Connection, uri: Uri) -> Response {
    let asked = Asked::new(Endpoint::TopStories, met, &uri);
    deliver(&app, asked, |app| {
        as_json(&json!(app.lock().archive.top(app.now())))
    })
    .await
}

/// `null` for what does not exist, with 200, as at Firebase.
async fn item(
    State(app): App,
    ConnectInfo(met): Connection,
    Path(file): Path<String>,
    uri: Uri,
) -> Response {
    let asked = Asked::new(Endpoint::Item, met, &uri);
    deliver(&app, asked, |app| {
        let id = file.strip_suffix(".json").and_then(|id| id.parse().ok());
        let shown = id.and_then(|id| show_item(app, id));
        as_json(&shown.unwrap_or(Value::Null))
    })
    .await
}

fn show_item(app: &Service, id: i64) -> Option<Value> {
    let now = app.now();
    let mut inside = app.lock();
    let story = inside.archive.story(story_of(id), now)?;
    let comments = inside.archive.comments(&story, now);
    if story.id == id {
        return Some(view::story(&story, app.url(&story).as_deref(), &comments));
    }
    let comment = comments.iter().find(|it| it.id == id)?;
    Some(view::comment(comment, &comments))
}

async fn search_by_points(
    State(app): App,
    ConnectInfo(met): Connection,
    parameters: Asking,
    uri: Uri,
) -> Response {
    let asked = Asked::new(Endpoint::Search, met, &uri);
    deliver(&app, asked, |app| find(app, parameters, Order::Points)).await
}

async fn search_by_date(
    State(app): App,
    ConnectInfo(met): Connection,
    parameters: Asking,
    uri: Uri,
) -> Response {
    let asked = Asked::new(Endpoint::SearchByDate, met, &uri);
    deliver(&app, asked, |app| find(app, parameters, Order::Newest)).await
}

fn find(app: &Service, asked: Asking, order: Order) -> Answer {
    let Ok(Parameters(parameters)) = asked else {
        return senseless("invalid parameters");
    };
    let query = match Query::parse(&parameters) {
        Ok(query) => query,
        Err(error) => return senseless(&error.to_string()),
    };
    let found = app.lock().archive.search(&query, order, app.now());
    let cut = query.cut(found.len());
    let page = found.get(cut.from..cut.until).unwrap_or_default();
    let hits = page.iter().map(|item| {
        let story = match item {
            Item::Story(story, _) => story,
            Item::Comment(_, story) => story,
        };
        view::hit(item, app.url(story).as_deref())
    });
    let echoed = format!(
        "advancedSyntax=true&query={}&tags={}&numericFilters={}",
        parameters.query, parameters.tags, parameters.numeric_filters
    );
    as_json(&view::hits(&query, cut, &hits.collect::<Vec<_>>(), &echoed))
}

fn senseless(message: &str) -> Answer {
    let body = json!({ "message": message, "status": 400 }).to_string();
    Answer::Reply(Reply {
        status: 400,
        ..Reply::new("application/json; charset=utf-8", body)
    })
}

async fn page(
    State(app): App,
    ConnectInfo(met): Connection,
    Path(id): Path<String>,
    uri: Uri,
) -> Response {
    let asked = Asked::new(Endpoint::Page, met, &uri);
    deliver(&app, asked, |app| show_page(app, &id, "0")).await
}

async fn hop(
    State(app): App,
    ConnectInfo(met): Connection,
    Path((id, hop)): Path<(String, String)>,
    uri: Uri,
) -> Response {
    let asked = Asked::new(Endpoint::Page, met, &uri);
    deliver(&app, asked, |app| show_page(app, &id, &hop)).await
}

fn show_page(app: &Service, id: &str, hop: &str) -> Answer {
    let (Ok(id), Ok(hop)) = (id.parse(), hop.parse()) else {
        return not_found();
    };
    app.page(id, hop).unwrap_or_else(not_found)
}

/// The story's own page on the site: what a story without an address is linked to.
async fn discussion(State(app): App, ConnectInfo(met): Connection, uri: Uri) -> Response {
    let asked = Asked::new(Endpoint::Discussion, met, &uri);
    let id = service::story_in(&asked.path);
    deliver(&app, asked, |app| {
        let shown = id.and_then(|id| discuss(app, id));
        shown.unwrap_or_else(not_found)
    })
    .await
}

fn discuss(app: &Service, id: i64) -> Option<Answer> {
    let now = app.now();
    let mut inside = app.lock();
    let story = inside.archive.story(id, now)?;
    let title = markup::escape(&story.title);
    let text = story.text().unwrap_or_default();
    let comments = inside.archive.comments(&story, now);
    let row = |it: &Comment| format!("<tr><td>{}: {}</td></tr>\n", it.author, it.html);
    let rows: Vec<String> = comments.iter().map(row).collect();
    let rows = rows.concat();
    let html = format!(
        "<!doctype html><html><head><title>{title}</title></head><body><table><tr><td \
         class=\"title\">{title}</td></tr><tr><td class=\"toptext\">{text}</td></tr></table>\n\
         <table class=\"comment-tree\">{rows}</table></body></html>\n"
    );
    Some(Answer::Reply(Reply::new("text/html; charset=utf-8", html)))
}

async fn crawl(
    State(app): App,
    ConnectInfo(met): Connection,
    uri: Uri,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let asked = Asked::new(Endpoint::Crawler, met, &uri);
    deliver(&app, asked, |app| {
        crawled(app, &headers, &body.unwrap_or_default())
    })
    .await
}

#[derive(Deserialize)]
struct CrawlBody {
    url: String,
}

fn crawled(app: &Service, headers: &HeaderMap, body: &[u8]) -> Answer {
    let expected = format!("Bearer {}", app.crawler_token);
    let shown = headers.get(header::AUTHORIZATION);
    if shown.is_none_or(|shown| shown.as_bytes() != expected.as_bytes()) {
        return refused(401, "invalid token");
    }
    let Ok(CrawlBody { url }) = serde_json::from_slice(body) else {
        return refused(400, "url is required");
    };
    let found = app.find(&url);
    let wait = found.as_ref().map(reading::Found::wait);
    let answer = reading::crawled(found.as_ref()).to_string();
    Answer::Reply(Reply {
        wait: wait.unwrap_or_default(),
        ..Reply::new("application/json", answer)
    })
}

fn refused(status: u16, error: &str) -> Answer {
    let body = json!({ "success": false, "error": error }).to_string();
    Answer::Reply(Reply {
        status,
        ..Reply::new("application/json", body)
    })
}

/// The address follows as it is, with its own query.
async fn read(State(app): App, ConnectInfo(met): Connection, uri: Uri) -> Response {
    let asked = Asked::new(Endpoint::Reader, met, &uri);
    let address = asked.path.strip_prefix("/reader/");
    let address = address.unwrap_or_default().to_owned();
    deliver(&app, asked, |app| {
        let found = app.find(&address);
        let wait = found.as_ref().map(reading::Found::wait);
        Answer::Reply(Reply {
            wait: wait.unwrap_or_default(),
            ..reading::read(&address, found.as_ref())
        })
    })
    .await
}

async fn nothing(State(app): App, ConnectInfo(met): Connection, uri: Uri) -> Response {
    let asked = Asked::new(Endpoint::Other, met, &uri);
    deliver(&app, asked, |_| not_found()).await
}
