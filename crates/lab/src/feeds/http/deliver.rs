//! Answers become HTTP: waits, pieces, cut lines, and a note in the journal.
//!
//! A wait ends early when the server stops, and then the line is cut: a hanging answer must not
//! keep a test from ending.

use std::{io, sync::Arc, time::Duration};

use axum::{
    body::{Body as HttpBody, Bytes},
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::stream;

use crate::{
    clock,
    feeds::{
        journal::{Answered, Arrival},
        reply::{Answer, Body, Piece, Pieces, Reply},
        service::{Call, Service},
        wire,
    },
    line::Cut,
};

/// A request under way at a host; over when dropped, so also when the caller goes away.
struct UnderWay {
    app: Arc<Service>,
    host: u32,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.app.lock().journal.leave(self.host);
        self.app.changed();
    }
}

/// Answers a request for a feed and notes it.
pub(super) async fn feed(app: &Arc<Service>, cut: Cut, call: &Call, arrival: Arrival) -> Response {
    let (number, now) = (call.feed.number, arrival.at);
    let admitted = app.lock().admit(&app.fleet, call, &arrival);
    let under_way = UnderWay {
        app: app.clone(),
        host: call.feed.host,
    };
    let answer = app.answer(call, &admitted, now);
    let answered = summary(&answer);
    app.lock()
        .journal
        .answer(number, arrival, admitted.too_early, answered);
    app.changed();
    let reader = Reader {
        app: app.clone(),
        feed: Some(number),
        _under_way: Some(under_way),
    };
    respond(reader, answer, Some(cut)).await
}

/// Answers something that is no feed's and is not noted.
pub(super) async fn plain(app: &Arc<Service>, answer: Answer, cut: Option<Cut>) -> Response {
    let reader = Reader {
        app: app.clone(),
        feed: None,
        _under_way: None,
    };
    respond(reader, answer, cut).await
}

fn summary(answer: &Answer) -> Answered {
    let Answer::Reply(reply) = answer else {
        return Answered {
            status: 0,
            bytes: 0,
            gives_validators: false,
        };
    };
    Answered {
        status: reply.status,
        bytes: match &reply.body {
            Body::Whole(bytes) => bytes.len(),
            Body::Pieces(_) => 0,
        },
        gives_validators: ["etag", "last-modified"]
            .into_iter()
            .any(|name| reply.header(name).is_some()),
    }
}

/// Whom a body is for.
struct Reader {
    app: Arc<Service>,
    feed: Option<u32>,
    _under_way: Option<UnderWay>,
}

impl Reader {
    /// Whether the wait passed; not, where the server stopped meanwhile.
    async fn wait(&self, wait: Duration) -> bool {
        if wait.is_zero() {
            return true;
        }
        tokio::select! {
            () = clock::pause(wait) => true,
            () = self.app.stopping.cancelled() => false,
        }
    }
}

async fn respond(reader: Reader, answer: Answer, cut: Option<Cut>) -> Response {
    let reply = match answer {
        Answer::Reply(reply) => reply,
        Answer::Hang => {
            reader.app.stopping.cancelled().await;
            return cut_off(cut);
        }
        Answer::Cut => return cut_off(cut),
    };
    if !reader.wait(reply.wait).await {
        return cut_off(cut);
    }
    let date = wire::http_date(reader.app.now());
    into_http(reader, reply, &date)
}

/// Nothing of this is written where there is a line to cut.
fn cut_off(cut: Option<Cut>) -> Response {
    if let Some(cut) = cut {
        cut.now();
    }
    StatusCode::SERVICE_UNAVAILABLE.into_response()
}

fn into_http(reader: Reader, reply: Reply, date: &str) -> Response {
    let body = match reply.body {
        Body::Whole(bytes) => HttpBody::from(bytes),
        Body::Pieces(pieces) => HttpBody::from_stream(in_pieces(reader, pieces)),
    };
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    // The world's own time: callers count `Retry-After` and freshness from it.
    let dated = reply.headers.into_iter().chain([("date", date.to_owned())]);
    for (name, value) in dated {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.append(HeaderName::from_static(name), value);
        }
    }
    if matches!(reply.status, 204 | 304) {
        headers.remove(header::CONTENT_TYPE);
    }
    response
}

fn in_pieces(
    reader: Reader,
    pieces: Pieces,
) -> impl stream::Stream<Item = io::Result<Bytes>> + Send {
    // Behind a lock only because a body must be shareable between threads; nobody else takes it.
    let pieces = std::sync::Mutex::new(pieces);
    stream::unfold(Some((reader, pieces)), |held| async move {
        let (reader, mut pieces) = held?;
        loop {
            let next = pieces.get_mut().ok().and_then(Iterator::next);
            if matches!(next, Some(Piece::Cut) | None) {
                // An end that is an error throws away what was not yet written: let it be written.
                tokio::task::yield_now().await;
            }
            match next? {
                Piece::Bytes(bytes) => {
                    if let Some(feed) = reader.feed {
                        reader.app.lock().journal.sent(feed, bytes.len());
                    }
                    return Some((Ok(bytes), Some((reader, pieces))));
                }
                Piece::Wait(wait) if reader.wait(wait).await => {}
                // An error in the middle of a body makes the server close the connection.
                Piece::Wait(_) | Piece::Cut => {
                    return Some((Err(io::Error::from(io::ErrorKind::ConnectionAborted)), None));
                }
            }
        }
    })
}
