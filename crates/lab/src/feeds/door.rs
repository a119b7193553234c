//! Who may come in: callers on this machine, and nobody else.
//!
//! The server listens on every address so that each under 127.0.0.0/8 is a host of its own. That
//! would also let the network in, to documents made to hurt: a connection to any address that is
//! not loopback is closed without a byte.

use std::{
    io,
    net::{IpAddr, SocketAddr},
};

use axum::{
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};

use super::host;
use crate::line::{Cut, Line, Lines};

/// What is known of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Met {
    /// Closes it.
    pub(crate) cut: Cut,
    /// The host that the caller dialled; none at 127.0.0.1.
    pub(crate) host: Option<u32>,
    /// The address it dialled.
    pub(crate) address: Option<SocketAddr>,
}

impl Connected<IncomingStream<'_, Door>> for Met {
    fn connect_info(stream: IncomingStream<'_, Door>) -> Self {
        let line = stream.io();
        let address = line.dialled().ok();
        let host = address.and_then(|address| match address.ip() {
            IpAddr::V4(address) => host::host_at(address),
            IpAddr::V6(_) => None,
        });
        Self {
            cut: line.cut(),
            host,
            address,
        }
    }
}

/// Accepts connections to loopback.
#[derive(Debug)]
pub(crate) struct Door(pub(crate) Lines);

impl Listener for Door {
    type Io = Line;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Line, SocketAddr) {
        loop {
            let (line, caller) = Listener::accept(&mut self.0).await;
            let dialled = line.dialled();
            if dialled.is_ok_and(|address| address.ip().to_canonical().is_loopback()) {
                return (line, caller);
            }
            tracing::warn!("a caller from outside this machine was turned away");
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}
