//! Answers become HTTP: fault, journal, latency, body, in this order.
//!
//! What a request gets is decided and noted when it arrives; only then does anybody wait. A wait
//! ends early when the server stops, and then the line is cut.

use std::{io, sync::Arc, time::Duration};

use axum::{
    body::{Body as HttpBody, Bytes},
    http::{HeaderName, HeaderValue, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use serde_json::Value;

use crate::{
    clock,
    feeds::{
        door::Met,
        reply::{self, Answer, Body, Piece, Pieces, Reply},
        wire,
    },
    news::{
        fault::{Effect, Sight},
        journal::{Endpoint, Seen},
        service::Service,
    },
};

/// A request as it arrived.
pub(super) struct Asked {
    endpoint: Endpoint,
    met: Met,
    /// Path and query.
    pub(super) path: String,
}

impl Asked {
    pub(super) fn new(endpoint: Endpoint, met: Met, uri: &Uri) -> Self {
        let path = uri.path_and_query().map_or("/", |it| it.as_str());
        Self {
            endpoint,
            met,
            path: path.to_owned(),
        }
    }
}

/// A request under way; over when dropped, so also when the caller goes away.
struct UnderWay(Arc<Service>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.lock().journal.leave();
        self.0.changed();
    }
}

/// Answers a request with what `make` says, unless a fault says otherwise.
pub(super) async fn deliver(
    app: &Arc<Service>,
    asked: Asked,
    make: impl FnOnce(&Service) -> Answer,
) -> Response {
    let sight = Sight {
        endpoint: asked.endpoint,
        path: &asked.path,
    };
    let effect = app.lock().faults.plan(sight);
    let answer = disturbed(effect, || make(app));
    note(app, &asked, &answer);
    let under_way = UnderWay(app.clone());
    app.changed();
    let reply = match answer {
        Answer::Reply(reply) => reply,
        Answer::Hang => {
            app.stopping.cancelled().await;
            return cut_off(&asked.met);
        }
        Answer::Cut => return cut_off(&asked.met),
    };
    if !wait(app, app.latency + reply.wait).await {
        return cut_off(&asked.met);
    }
    into_http(under_way, reply)
}

fn note(app: &Service, asked: &Asked, answer: &Answer) {
    let host = asked.met.address.map(|it| it.ip().to_string());
    app.lock().journal.arrive(Seen {
        sequence: 0,
        at: app.now(),
        endpoint: asked.endpoint,
        host: host.unwrap_or_default(),
        path: asked.path.clone(),
        status: match answer {
            Answer::Reply(reply) => reply.status,
            Answer::Hang | Answer::Cut => 0,
        },
    });
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
        Effect::Slow { wait_ms } => changed(make(), |reply| Reply {
            wait: reply.wait + Duration::from_millis(wait_ms),
            ..reply
        }),
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

/// Whether the wait passed; not, where the server stopped meanwhile.
async fn wait(app: &Service, wait: Duration) -> bool {
    if wait.is_zero() {
        return true;
    }
    tokio::select! {
        () = clock::pause(wait) => true,
        () = app.stopping.cancelled() => false,
    }
}

/// Nothing of this is written: the line is cut.
fn cut_off(met: &Met) -> Response {
    met.cut.now();
    StatusCode::SERVICE_UNAVAILABLE.into_response()
}

fn into_http(under_way: UnderWay, reply: Reply) -> Response {
    let date = wire::http_date(under_way.0.now());
    let body = match reply.body {
        Body::Whole(bytes) => HttpBody::from(bytes),
        Body::Pieces(pieces) => HttpBody::from_stream(in_pieces(under_way, pieces)),
    };
    let mut response = Response::new(body);
    let status = StatusCode::from_u16(reply.status);
    *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    // The world's own time: callers count `Retry-After` from it.
    let dated = reply.headers.into_iter().chain([("date", date)]);
    for (name, value) in dated {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.append(HeaderName::from_static(name), value);
        }
    }
    response
}

/// The request is under way as long as its pieces come.
fn in_pieces(
    under_way: UnderWay,
    pieces: Pieces,
) -> impl stream::Stream<Item = io::Result<Bytes>> + Send {
    stream::unfold(Some((under_way, pieces)), |held| async move {
        let (under_way, mut pieces) = held?;
        match pieces.next()? {
            Piece::Bytes(bytes) => Some((Ok(bytes), Some((under_way, pieces)))),
            Piece::Wait(_) => Some((Ok(Bytes::new()), Some((under_way, pieces)))),
            Piece::Cut => {
                // An error throws away what was not yet written: let it be written.
                tokio::task::yield_now().await;
                Some((Err(io::Error::from(io::ErrorKind::ConnectionAborted)), None))
            }
        }
    })
}
