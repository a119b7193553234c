//! Connections: how many there may be, and how slow.
//!
//! Opening a connection costs a client nothing and the node a descriptor. Three limits keep idle
//! and slow clients from occupying a node:
//!
//! - the head of a request must be complete within `head_within` of the connection's start or of
//!   the previous answer;
//! - an answer of which the client has read nothing for `stalled_after` is dropped with its
//!   connection;
//! - there are at most `max` connections; when another arrives, the one that has been idle the
//!   longest is closed.
//!
//! The router (`app.rs`) drops slow bodies and answers that take too long to compute.
//!
//! INVARIANT: a connection is closed only while it has no request in flight.

mod hall;
mod stall;

use std::task::{Context, Poll};
use std::{convert::Infallible, io, net::SocketAddr, pin::Pin, sync::Arc, time::Duration};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, Request};
use axum::{Router, http::Response};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::{rt::Timer as _, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt as _;

use self::hall::{Busy, Hall, Seat};
use self::stall::Stalling;

/// Pause after an accept that failed for lack of descriptors or memory: some may be freed
/// meanwhile.
const ACCEPT_AGAIN: Duration = Duration::from_millis(500);

/// How long a client whose connection is closed may still read its last answer.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Limits of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connections {
    /// How many at once.
    pub max: usize,
    /// Longest time without a complete request.
    pub head_within: Duration,
    /// Longest time a client may read nothing of its answer.
    pub stalled_after: Duration,
}

impl Default for Connections {
    /// Half of the usual descriptor limit of a process.
    fn default() -> Self {
        Self {
            max: 512,
            head_within: Duration::from_secs(30),
            stalled_after: Duration::from_secs(30),
        }
    }
}

/// Serves until `stop`; then accepts no more connections and finishes requests in flight. Handlers
/// get the client's address as [`ConnectInfo`].
pub async fn serve(
    listener: TcpListener,
    app: Router,
    connections: Connections,
    stop: CancellationToken,
) {
    let hall = Hall::of(connections.max);
    let talks = TaskTracker::new();
    while let Some((stream, peer)) = next(&listener, &stop).await {
        let Some(Some(seat)) = stop.run_until_cancelled(hall.seat()).await else {
            break;
        };
        let talk = talk(stream, peer, app.clone(), connections, seat, stop.clone());
        talks.spawn(talk);
    }
    drop(listener);
    talks.close();
    talks.wait().await;
}

/// The next connection; none when stopping.
async fn next(listener: &TcpListener, stop: &CancellationToken) -> Option<(TcpStream, SocketAddr)> {
    loop {
        match stop.run_until_cancelled(listener.accept()).await? {
            Ok(connection) => return Some(connection),
            Err(error) if is_of_one_client(&error) => {}
            Err(error) => {
                tracing::error!(%error, "could not accept a connection");
                TokioTimer::new().sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

fn is_of_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

/// One connection, from its first request to its last.
async fn talk(
    stream: TcpStream,
    peer: SocketAddr,
    app: Router,
    connections: Connections,
    seat: Arc<Seat>,
    stop: CancellationToken,
) {
    let seated = Arc::clone(&seat);
    let service = service_fn(move |request: Request<Incoming>| {
        let busy = Busy::on(&seated);
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        let answering = app.clone().oneshot(request);
        async move {
            let response = answering.await?;
            Ok::<Response<Answer>, Infallible>(response.map(|body| Answer { body, _busy: busy }))
        }
    });
    let stream = Stalling::new(stream, connections.stalled_after);
    let talking = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(connections.head_within)
        .serve_connection(TokioIo::new(stream), service);
    let mut talking = std::pin::pin!(talking);
    tokio::select! {
        ended = talking.as_mut() => return log_end(ended),
        () = seat.gives_way() => {}
        () = stop.cancelled() => {}
    }
    if !seat.was_asked() {
        // Its first head is not answered, so there is nothing to wait for.
        return;
    }
    talking.as_mut().graceful_shutdown();
    tokio::select! {
        ended = talking.as_mut() => log_end(ended),
        () = timed_out(&seat) => {}
    }
}

/// When a closing client has had time to read the rest of its last answer.
async fn timed_out(seat: &Seat) {
    seat.gives_way().await;
    while !seat.is_idle() {
        seat.comes_to_rest().await;
    }
    TokioTimer::new().sleep(LAST_WORDS).await;
}

fn log_end(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "connection closed early");
    }
}

/// An answer; its connection is busy until it is fully sent.
struct Answer {
    body: Body,
    _busy: Busy,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
