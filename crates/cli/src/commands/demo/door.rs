//! The demo's address, taken once for all nodes that answer at it in turn.
//!
//! While one node stops and the next starts, requests wait in the system's queue of the address
//! instead of being refused.

use std::net::SocketAddr;

use tokio::net::TcpListener;

use crate::{
    failure::{Failure, Result},
    process,
};

pub(super) struct Door {
    listener: std::net::TcpListener,
    pub(super) address: SocketAddr,
}

impl Door {
    /// Takes the address.
    pub(super) async fn open(listen: SocketAddr) -> Result<Self> {
        let (listener, address) = process::listen(listen).await?;
        let listener = listener.into_std().map_err(|error| failed(&error))?;
        Ok(Self { listener, address })
    }

    /// A listener for the next node.
    pub(super) fn listener(&self) -> Result<(TcpListener, SocketAddr)> {
        let listener = self.listener.try_clone().and_then(TcpListener::from_std);
        Ok((listener.map_err(|error| failed(&error))?, self.address))
    }
}

fn failed(error: &std::io::Error) -> Failure {
    Failure::failed(format!("listen: {error}"))
}
