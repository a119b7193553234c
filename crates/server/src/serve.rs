//! Connections: how many there may be, and how slow.
//!
//! A connection costs whoever opens it nothing, and a node a descriptor. Three things keep clients that do nothing, or do it slowly, from
//! holding a node:
//!
//! - the head of a request must be whole within `head_within` of the connection's opening, or of the answer before it;
//! - an answer of which the client has taken nothing for `stalled_after` is given up with its connection;
//! - there are at most `max` connections, and when another comes, the one that has been without a request for the longest gives way.
//!
//! Bodies that come slowly are given up by the router (`app.rs`), like answers that take too long to make.
//!
//! INVARIANT: a connection gives way only while no request of its own is under way.

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

/// After an accept that failed for want of descriptors or memory: some may be given back meanwhile.
const ACCEPT_AGAIN: Duration = Duration::from_millis(500);

/// How long a client that gives way may still take of its last answer.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What connections may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connections {
    /// How many at once.
    pub max: usize,
    /// How long one may be without a whole request.
    pub head_within: Duration,
    /// How long a client may take nothing of its answer.
    pub stalled_after: Duration,
}

impl Default for Connections {
    /// Half of the descriptors that a process usually has.
    fn default() -> Self {
        Self {
            max: 512,
            head_within: Duration::from_secs(30),
            stalled_after: Duration::from_secs(30),
        }
    }
}

/// Answers until `stop`; then no more connections are taken, and requests under way are answered. Handlers find the client's address
/// as [`ConnectInfo`].
pub async fn serve(
    listener: TcpListener,
    app: Router,
    connections: Connections,
    stop: CancellationToken,
) {
    let hall = Hall::of(connections.max);
    let talks = TaskTracker::new();
    while let Some((stream, peer)) = next(&listener, &stop).await {
        let seated = tokio::select! {
            () = stop.cancelled() => break,
            seat = hall.seat() => seat,
        };
        let Some(seat) = seated else { break };
        let talk = talk(stream, peer, app.clone(), connections, seat, stop.clone());
        talks.spawn(talk);
    }
    drop(listener);
    talks.close();
    talks.wait().await;
}

/// The next connection; none when it is time to stop.
async fn next(listener: &TcpListener, stop: &CancellationToken) -> Option<(TcpStream, SocketAddr)> {
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return None,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok(connection) => return Some(connection),
            Err(error) if is_of_one_client(&error) => {}
            Err(error) => {
                tracing::error!(%error, "a connection could not be taken");
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
    let mut leave = std::pin::pin!(reported_to_leave(&seat, &stop));
    tokio::select! {
        ended = talking.as_mut() => return reported(ended),
        () = leave.as_mut() => {}
    }
    if !seat.was_asked() {
        // Whatever came of its first head: it is not answered, and need not be waited for.
        return;
    }
    talking.as_mut().graceful_shutdown();
    tokio::select! {
        ended = talking.as_mut() => reported(ended),
        () = timed_out(&seat) => {}
    }
}

async fn reported_to_leave(seat: &Seat, stop: &CancellationToken) {
    tokio::select! {
        () = seat.gives_way() => {}
        () = stop.cancelled() => {}
    }
}

/// When a client whose place is needed has had time to take the rest of its last answer.
async fn timed_out(seat: &Seat) {
    seat.gives_way().await;
    while !seat.is_idle() {
        seat.comes_to_rest().await;
    }
    TokioTimer::new().sleep(LAST_WORDS).await;
}

fn reported(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended before its time");
    }
}

/// An answer; its connection is busy until all of it has been handed over.
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
