//! From a request to a response: feeds and their sites, hostile documents and lists.

use std::net::IpAddr;

use axum::{
    Router,
    extract::{ConnectInfo, Path, Query, State},
    http::{HeaderMap, StatusCode, Uri, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use jiff::Timestamp;

use super::{
    Feeds, Handle, Part, RequestFacts, RequestKind,
    document::{self, Document},
    fault::Fault,
    feed::Feed,
    host,
    hostile::{self, Place},
    opml,
    wire::{self, RequestHeaders},
};
use crate::{
    line::Met,
    reply::{self, Answer, Reply},
    stand::Upstream as _,
};

type Connection = ConnectInfo<Met>;

/// All routes of the server.
pub(super) fn routes(stand: Handle) -> Router {
    Router::new()
        .route("/", get(site))
        .route("/opml", get(list))
        .route("/feeds/{number}/", get(feed_site))
        .route("/feeds/{number}/{file}", get(look))
        .route("/feeds/{number}/moved/{file}", get(look))
        .route("/feeds/{number}/entries/{key}", get(entry))
        .route("/hostile", get(hostile_list))
        .route("/hostile/{*name}", get(hostile_document))
        .with_state(stand)
}

/// A request for a feed's document.
struct Call {
    feed: Feed,
    document: Document,
    /// Whether it is for the address that the feed moves to; moves do not apply there.
    at_second_home: bool,
    asked: RequestHeaders,
}

async fn look(
    State(stand): State<Handle>,
    ConnectInfo(met): Connection,
    Path((number, file)): Path<(u32, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let feed = stand.fleet().feed(number);
    let (Some(feed), Some(document)) = (feed, Document::named(&file)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let call = Call {
        feed,
        document,
        at_second_home: uri.path().contains("/moved/"),
        asked: asked(&headers),
    };
    let flight = stand.begin();
    let at = stand.now();
    let fault = fault(&stand, &call);
    let answer = answer(&stand, &call, fault, at);
    let status = answer.status();
    let facts = RequestFacts {
        feed: number,
        path: uri.path().to_owned(),
        user_agent: text(&headers, header::USER_AGENT).unwrap_or_default(),
        conditional: call.asked.is_conditional(),
    };
    let kind = RequestKind { status };
    stand.lock().journal.note(at, kind, facts);
    stand.send(&met, answer, flight).await
}

fn asked(headers: &HeaderMap) -> RequestHeaders {
    let accepted = text(headers, header::ACCEPT_ENCODING).unwrap_or_default();
    let accepts = |name: &str| {
        let mut all = accepted
            .split(',')
            .map(|one| one.split(';').next().unwrap_or("").trim());
        all.any(|one| one == name)
    };
    RequestHeaders {
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

fn fault(stand: &Handle, call: &Call) -> Option<Fault> {
    let stays = |fault: &Fault| call.at_second_home && matches!(fault, Fault::Moved { .. });
    let faults = &mut stand.lock().faults;
    let hit = faults.hit(|rule| rule.matching.covers(&call.feed) && !stays(&rule.effect));
    hit.map(|rule| rule.effect)
}

/// The response to a request, once its fault has been decided.
fn answer(stand: &Handle, call: &Call, fault: Option<Fault>, now: Timestamp) -> Answer {
    let number = call.feed.number;
    let base_url = stand.host_url(number);
    let document = || {
        let (announced, place) = (stand.announced(number), (now, base_url.as_str()));
        wire::answer(&call.feed, call.document, &announced, &call.asked, place)
    };
    let reply = match fault {
        None => document(),
        Some(Fault::Hang) => return Answer::Hang,
        Some(Fault::Cut) => return Answer::Cut,
        Some(Fault::CutMidBody) => document().sent(reply::cut_in_half),
        Some(Fault::Slow { wait_ms }) => document().after_ms(wait_ms),
        Some(Fault::Serve(name)) => {
            let found = hostile::answer(
                &name,
                &Place {
                    base_url: &base_url,
                    now,
                },
            );
            let nothing = || Answer::Reply(Reply::status(500, "no such hostile document\n"));
            return found.unwrap_or_else(nothing);
        }
        // 401 must name the authentication scheme.
        Some(Fault::Status(401)) => {
            Reply::status(401, "not today\n").with("www-authenticate", "Basic realm=\"feeds\"")
        }
        Some(Fault::Status(status)) => Reply::status(status, "not today\n"),
        Some(Fault::Limited {
            status,
            retry_after_s,
            as_date,
        }) => {
            Reply::status(status, "slow down\n").retry_after(retry_after_s, as_date.then_some(now))
        }
        Some(Fault::Moved { status, to }) => {
            let file = call.document.file_name();
            let home = || format!("{base_url}/feeds/{number}/moved/{file}");
            Reply::redirect(status, &to.unwrap_or_else(home))
        }
    };
    Answer::Reply(reply)
}

/// The site of the requested host; at 127.0.0.1, the welcome text.
async fn site(State(stand): State<Handle>, ConnectInfo(met): Connection) -> Response {
    let host = met.address.and_then(|address| match address.ip() {
        IpAddr::V4(address) => host::host_at(address),
        IpAddr::V6(_) => None,
    });
    let Some(host) = host else {
        return Feeds::WELCOME.into_response();
    };
    let numbers = stand.fleet().feeds_on(host);
    let feeds: Vec<_> = numbers
        .filter_map(|number| stand.fleet().feed(number))
        .collect();
    if feeds.is_empty() {
        return StatusCode::NOT_FOUND.into_response();
    }
    Html(document::front_page(&feeds, &base_url(&met))).into_response()
}

async fn feed_site(State(stand): State<Handle>, Path(number): Path<u32>) -> Response {
    let Some(feed) = stand.fleet().feed(number) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    Html(document::front_page(&[feed], &stand.host_url(number))).into_response()
}

async fn entry(State(stand): State<Handle>, Path((number, key)): Path<(u32, String)>) -> Response {
    let entries = stand.entries(number);
    let found = entries.iter().find(|entry| entry.key == key);
    match (stand.fleet().feed(number), found) {
        (Some(feed), Some(entry)) => Html(document::entry_page(&feed, entry)).into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// All feeds, or `?first=…&count=…` of them, as OPML.
async fn list(
    State(stand): State<Handle>,
    ConnectInfo(met): Connection,
    Query(part): Query<Part>,
) -> Response {
    let fleet = stand.fleet().clone();
    let numbers = part.of(&fleet, u32::MAX);
    let pieces = opml::write(fleet, numbers, stand.port());
    let reply = Reply::pieces("text/x-opml; charset=utf-8", pieces);
    stand.send(&met, Answer::Reply(reply), ()).await
}

async fn hostile_list(ConnectInfo(met): Connection) -> String {
    let base = base_url(&met);
    let fixed = hostile::all().map(|it| format!("{base}/hostile/{}\t{}\n", it.name, it.what));
    let private = hostile::private_targets().iter();
    let private =
        private.map(|(name, to)| format!("{base}/hostile/redirect-private/{name}\t302 to {to}\n"));
    let numbered = [
        format!("{base}/hostile/hops/7\tseven redirects, then a feed\n"),
        format!("{base}/hostile/redirect-forever/0\tendless redirects, each to a new address\n"),
    ];
    fixed.chain(private).chain(numbered).collect()
}

async fn hostile_document(
    State(stand): State<Handle>,
    ConnectInfo(met): Connection,
    Path(name): Path<String>,
) -> Response {
    let place = Place {
        base_url: &base_url(&met),
        now: stand.now(),
    };
    match hostile::answer(&name, &place) {
        Some(answer) => stand.send(&met, answer, ()).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The server's address as the client reached it.
fn base_url(met: &Met) -> String {
    met.address
        .map_or_else(String::new, |address| format!("http://{address}"))
}
