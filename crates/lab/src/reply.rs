//! Responses as plain values, so that hostile ones can be tested in memory.

use std::{io, time::Duration};

use axum::{
    body::{Body as HttpBody, Bytes},
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use futures_util::stream;
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::clock;

/// What a client receives.
#[derive(Debug)]
pub enum Answer {
    Reply(Reply),
    Hang,
    /// A connection closed before the first byte.
    Cut,
}

impl Answer {
    /// Status of the response; 0 without a response.
    pub(crate) fn status(&self) -> u16 {
        match self {
            Self::Reply(reply) => reply.status,
            Self::Hang | Self::Cut => 0,
        }
    }
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Body,
    /// How long to wait, in real time, before it begins.
    pub wait: Duration,
}

/// A body: at once, or as it comes.
pub enum Body {
    /// All of it, with its length.
    Whole(Bytes),
    /// Piece by piece; sent in chunks, unless the headers claim a length.
    Pieces(Pieces),
}

/// A body as it comes.
pub type Pieces = Box<dyn Iterator<Item = Piece> + Send>;

/// What comes next in a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Bytes(Bytes),
    /// A wait in real time.
    Wait(Duration),
    /// The connection is closed.
    Cut,
}

/// Names the kind only: pieces are made while they are sent.
impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Pieces(_) => write!(f, "pieces"),
        }
    }
}

impl Reply {
    /// A response with a body of a type.
    pub fn new(content_type: &str, body: impl Into<Bytes>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type", content_type.to_owned())],
            body: Body::Whole(body.into()),
            wait: Duration::ZERO,
        }
    }

    /// A status with a sentence.
    pub fn status(status: u16, sentence: &str) -> Self {
        Self::new("text/plain", sentence.to_owned()).at(status)
    }

    /// JSON with a status.
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::new("application/json", body.to_string()).at(status)
    }

    pub fn redirect(status: u16, to: &str) -> Self {
        Self::status(status, "look elsewhere\n").with("location", to)
    }

    /// A body that comes in pieces.
    pub fn pieces<B: Into<Bytes>>(
        content_type: &str,
        pieces: impl Iterator<Item = B> + Send + 'static,
    ) -> Self {
        let pieces = pieces.map(|piece| Piece::Bytes(piece.into()));
        Self {
            body: Body::Pieces(Box::new(pieces)),
            ..Self::new(content_type, Bytes::new())
        }
    }

    /// The same with another status.
    #[must_use]
    pub fn at(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// The same after a wait, in real time.
    #[must_use]
    pub fn after_ms(self, wait_ms: u64) -> Self {
        let wait = self.wait + Duration::from_millis(wait_ms);
        Self { wait, ..self }
    }

    /// The same with one header more.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The same with a time to wait: in seconds, or as a date counted from `dated`.
    #[must_use]
    pub fn retry_after(self, seconds: i64, dated: Option<Timestamp>) -> Self {
        let again = match dated {
            Some(now) => {
                let at = now.saturating_add(SignedDuration::from_secs(seconds));
                http_date(at.unwrap_or(now))
            }
            None => seconds.to_string(),
        };
        self.with("retry-after", again)
    }

    /// The first header of a name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(held, _)| *held == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The same document, changed on its way: only whole bodies can be.
    #[must_use]
    pub fn sent(mut self, way: impl FnOnce(Bytes) -> Pieces) -> Self {
        if let Body::Whole(bytes) = self.body {
            self.body = Body::Pieces(way(bytes));
        }
        self
    }
}

impl Reply {
    /// The HTTP response; `guard` lives until the last piece of its body is sent.
    pub(crate) fn into_http(
        self,
        now: Timestamp,
        stop: CancellationToken,
        guard: impl Send + 'static,
    ) -> Response {
        let body = match self.body {
            Body::Whole(bytes) => HttpBody::from(bytes),
            Body::Pieces(pieces) => HttpBody::from_stream(in_pieces(pieces, stop, guard)),
        };
        let mut response = Response::new(body);
        let status = StatusCode::from_u16(self.status);
        *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        // The lab's time: clients count `Retry-After` and freshness from it.
        let dated = self.headers.into_iter().chain([("date", http_date(now))]);
        for (name, value) in dated {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.append(HeaderName::from_static(name), value);
            }
        }
        if matches!(self.status, 204 | 304) {
            headers.remove(header::CONTENT_TYPE);
        }
        response
    }
}

/// An instant in the format of HTTP headers.
pub fn http_date(at: Timestamp) -> String {
    at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

fn in_pieces<G: Send + 'static>(
    pieces: Pieces,
    stop: CancellationToken,
    guard: G,
) -> impl stream::Stream<Item = io::Result<Bytes>> + Send {
    // Behind locks only because a body must be shareable between threads; never contended.
    let held = (std::sync::Mutex::new(pieces), std::sync::Mutex::new(guard));
    stream::unfold(Some((held, stop)), |held| async move {
        let ((mut pieces, guard), stop) = held?;
        loop {
            let next = pieces.get_mut().ok().and_then(Iterator::next);
            if matches!(next, Some(Piece::Cut) | None) {
                // Ending with an error discards unwritten data: let it be written first.
                tokio::task::yield_now().await;
            }
            match next? {
                Piece::Bytes(bytes) => return Some((Ok(bytes), Some(((pieces, guard), stop)))),
                Piece::Wait(wait) => tokio::select! {
                    () = clock::pause(wait) => {}
                    () = stop.cancelled() => return Some((aborted(), None)),
                },
                Piece::Cut => return Some((aborted(), None)),
            }
        }
    })
}

/// An error in the middle of a body makes the server close the connection.
fn aborted() -> io::Result<Bytes> {
    Err(io::Error::from(io::ErrorKind::ConnectionAborted))
}

/// Half of a body, and then nothing.
pub fn cut_in_half(mut bytes: Bytes) -> Pieces {
    let half = bytes.split_to(bytes.len() / 2);
    Box::new([Piece::Bytes(half), Piece::Cut].into_iter())
}

/// A byte at a time.
pub fn drip(bytes: Bytes, wait: Duration) -> Pieces {
    let pieces = (0..bytes.len()).flat_map(move |index| {
        let byte = bytes.slice(index..=index);
        [Piece::Bytes(byte), Piece::Wait(wait)]
    });
    Box::new(pieces)
}

impl Body {
    /// All its bytes, without the waits, and whether it was cut.
    #[cfg(test)]
    pub(crate) fn collect(self) -> (Vec<u8>, bool) {
        let pieces = match self {
            Self::Whole(bytes) => return (bytes.to_vec(), false),
            Self::Pieces(pieces) => pieces,
        };
        let mut all = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Bytes(bytes) => all.extend_from_slice(&bytes),
                Piece::Wait(_) => {}
                Piece::Cut => return (all, true),
            }
        }
        (all, false)
    }
}
