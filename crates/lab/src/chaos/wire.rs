//! A connection between a node and its database that can be cut.
//!
//! A cut wire carries nothing and closes nothing: connections stay open and silent, as when a cable
//! is pulled. New ones are accepted, and carried once the wire is repaired.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

/// Bytes carried at once.
const PIECE: usize = 16 * 1024;

/// A wire; it is removed when dropped.
pub struct Wire {
    pub address: SocketAddr,
    whole: watch::Sender<bool>,
    _end: DropGuard,
}

impl Wire {
    /// Opens a wire to `HOST:PORT`.
    pub async fn lay(target: String) -> io::Result<Self> {
        let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (whole, seen) = watch::channel(true);
        let end = CancellationToken::new();
        let carrying = carry_all(listener, target, seen);
        tokio::spawn(end.clone().run_until_cancelled_owned(carrying));
        Ok(Self {
            address,
            whole,
            _end: end.drop_guard(),
        })
    }

    /// From now on nothing passes; or what waited passes, and everything after it.
    pub fn set_whole(&self, whole: bool) {
        self.whole.send_replace(whole);
    }
}

async fn carry_all(listener: TcpListener, target: String, whole: watch::Receiver<bool>) {
    let mut lines = tokio::task::JoinSet::new();
    loop {
        // Done ones are dropped, so that a long run does not collect them.
        while lines.try_join_next().is_some() {}
        if let Ok((near, _)) = listener.accept().await {
            lines.spawn(line(near, target.clone(), whole.clone()));
        }
    }
}

/// One connection; any error closes it on both sides.
async fn line(near: TcpStream, target: String, mut whole: watch::Receiver<bool>) {
    if whole.wait_for(|whole| *whole).await.is_err() {
        return;
    }
    let Ok(far) = TcpStream::connect(target).await else {
        return;
    };
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
    let there = carry(near_in, far_out, whole.clone());
    let back = carry(far_in, near_out, whole);
    let _ = tokio::try_join!(there, back);
}

async fn carry(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut whole: watch::Receiver<bool>,
) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        let read = from.read(&mut piece).await?;
        // Even if read before the cut, it arrives only after the wire is repaired.
        whole
            .wait_for(|whole| *whole)
            .await
            .map_err(io::Error::other)?;
        match piece.get(..read) {
            Some(bytes) if read > 0 => to.write_all(bytes).await?,
            _ => return to.shutdown().await,
        }
    }
}

/// The address of PostgreSQL, if a wire can reach it: a single host whose name is not verified.
pub fn wire_target(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str().filter(|host| !host.contains(','))?;
    let checks_names = url
        .query_pairs()
        .any(|(key, value)| key == "sslmode" && value != "disable" && value != "prefer");
    let unusual = url.query_pairs().any(|(key, _)| key == "host");
    (!checks_names && !unusual).then(|| format!("{host}:{}", url.port().unwrap_or(5432)))
}

/// The same database at the near end of a wire.
pub fn through(url: &str, near: SocketAddr) -> Option<String> {
    let mut url = Url::parse(url).ok()?;
    url.set_host(Some(&near.ip().to_string())).ok()?;
    url.set_port(Some(near.port())).ok()?;
    Some(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers every byte with itself.
    async fn echo() -> SocketAddr {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.split();
                    let _ = tokio::io::copy(&mut from, &mut to).await;
                });
            }
        });
        address
    }

    #[tokio::test]
    async fn a_cut_wire_is_silent_and_a_repaired_one_delivers_what_waited() {
        let wire = Wire::lay(echo().await.to_string()).await.unwrap();
        let mut stream = TcpStream::connect(wire.address).await.unwrap();
        let mut byte = [0];
        stream.write_all(b"a").await.unwrap();
        stream.read_exact(&mut byte).await.unwrap();
        assert_eq!(&byte, b"a");
        wire.set_whole(false);
        stream.write_all(b"b").await.unwrap();
        let silence = tokio::time::timeout(
            std::time::Duration::from_millis(100),
            stream.read_exact(&mut byte),
        );
        assert!(silence.await.is_err(), "a cut wire carried something");
        wire.set_whole(true);
        stream.read_exact(&mut byte).await.unwrap();
        assert_eq!(&byte, b"b");
    }

    #[test]
    fn a_wire_needs_one_host_whose_name_is_not_verified() {
        for (url, target) in [
            ("postgres://u:p@db:6543/a", Some("db:6543")),
            ("postgres://db/a", Some("db:5432")),
            ("postgres://db/a?sslmode=prefer", Some("db:5432")),
            ("postgres://db/a?sslmode=verify-full", None),
            ("postgres:///a?host=/run/postgresql", None),
            ("postgres://one,two/a", None),
        ] {
            assert_eq!(wire_target(url).as_deref(), target, "{url}");
        }
    }

    #[test]
    fn the_near_end_keeps_everything_but_the_place() {
        let near = SocketAddr::from(([127, 0, 0, 1], 99));
        assert_eq!(
            through("postgres://u:p@db:6543/a?options=x", near).as_deref(),
            Some("postgres://u:p@127.0.0.1:99/a?options=x")
        );
    }
}
