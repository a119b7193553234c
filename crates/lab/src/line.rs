//! Connections that can be cut: the client sent everything, the server did everything, and the
//! response never arrives.
//!
//! No status expresses that. The only way to lose a response is to close the connection before its
//! first byte, which is what writing to a cut line does.
//!
//! [`serve`] is how every server of the world that needs such connections runs.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
};
use tokio_util::sync::CancellationToken;

use crate::clock;

/// How long requests may take to end once the server stops.
const GRACE: Duration = Duration::from_secs(5);

/// Cuts the connection that a request came on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cut(Arc<AtomicBool>);

impl Cut {
    /// From now on nothing more is written.
    pub(crate) fn now(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Acquire) {
            Err(io::Error::from(io::ErrorKind::ConnectionAborted))
        } else {
            Ok(())
        }
    }
}

/// Facts about a connection.
#[derive(Debug, Clone)]
pub(crate) struct Met {
    pub(crate) cut: Cut,
    /// The address that the client connected to.
    pub(crate) address: Option<SocketAddr>,
}

impl Connected<IncomingStream<'_, Lines>> for Met {
    fn connect_info(stream: IncomingStream<'_, Lines>) -> Self {
        let line = stream.io();
        Self {
            cut: line.cut.clone(),
            address: line.stream.local_addr().ok(),
        }
    }
}

/// Accepts connections that can be cut.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(crate) listener: TcpListener,
    /// A server on every address, so that each under 127.0.0.0/8 is a separate host, would also
    /// serve hostile documents to the network: such a connection is closed at once.
    pub(crate) loopback_only: bool,
}

impl Lines {
    fn admits(&self, stream: &TcpStream) -> bool {
        let is_loopback = |addr: SocketAddr| addr.ip().to_canonical().is_loopback();
        !self.loopback_only || stream.local_addr().is_ok_and(is_loopback)
    }
}

impl Listener for Lines {
    type Io = Line;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Line, SocketAddr) {
        loop {
            let (stream, address) = Listener::accept(&mut self.listener).await;
            if self.admits(&stream) {
                let cut = Cut::default();
                return (Line { stream, cut }, address);
            }
            tracing::warn!("refused a connection from outside this machine");
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that can be cut.
#[derive(Debug)]
pub(crate) struct Line {
    stream: TcpStream,
    cut: Cut,
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.cut.check()?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.cut.check()?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Serves until `cancel`, then gives running requests a little time to end.
pub(crate) async fn serve(lines: Lines, app: Router, cancel: CancellationToken) -> io::Result<()> {
    let app = app.into_make_service_with_connect_info::<Met>();
    let serving = axum::serve(lines, app).with_graceful_shutdown(cancel.clone().cancelled_owned());
    let too_late = async {
        cancel.cancelled().await;
        clock::pause(GRACE).await;
    };
    tokio::select! {
        served = serving.into_future() => served,
        () = too_late => Ok(()),
    }
}
