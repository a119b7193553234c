//! A PostgreSQL that keeps its connections and no longer answers: worse than one that is gone,
//! because nothing fails.

use std::net::SocketAddr;

use almanack_testkit::postgres::Schema;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::watch,
};

use crate::{
    business::Business,
    harness::Home,
    process::{Process, eventually, free_address},
};

/// A line to PostgreSQL that can be frozen: everything stays connected, nothing arrives.
pub(crate) struct Line {
    address: SocketAddr,
    frozen: watch::Sender<bool>,
}

impl Line {
    /// A line to the server of a database; answers the URL that leads over it.
    pub(crate) async fn to(database: &str) -> (Self, String) {
        let (head, rest) = database.split_once('@').unwrap();
        let (server, path) = rest.split_once('/').unwrap();
        let line = Self::open(server.to_owned()).await;
        let url = format!("{head}@{}/{path}", line.address);
        (line, url)
    }

    async fn open(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let frozen = watch::Sender::new(false);
        let watched = frozen.subscribe();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let far = TcpStream::connect(&server).await.unwrap();
                let ((near_in, near_out), (far_in, far_out)) =
                    (near.into_split(), far.into_split());
                tokio::spawn(carry(near_in, far_out, watched.clone()));
                tokio::spawn(carry(far_in, near_out, watched.clone()));
            }
        });
        Self { address, frozen }
    }

    pub(crate) fn freeze(&self) {
        self.frozen.send_replace(true);
    }

    pub(crate) fn thaw(&self) {
        self.frozen.send_replace(false);
    }
}

async fn carry(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut frozen: watch::Receiver<bool>,
) {
    let mut bytes = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        let thawed = frozen.wait_for(|frozen| !frozen).await.is_ok();
        if !thawed || to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn a_node_whose_database_hangs_stops_its_attempts_resumes_later_and_can_be_stopped() {
    let (home, business, schema) = (Home::new(), Business::start().await, Schema::create().await);
    let (line, database) = Line::to(schema.url()).await;
    let further = ["--database", &database, "--set", "node.drain=1s"];
    let mut node = Process::node(&home, free_address(), &further).ready().await;
    let api = node.api();
    api.put_due("K", "under-way", &business.held_url()).await;
    business.until_called("under-way", 1).await;

    line.freeze();
    eventually(
        "the node gives up what it can no longer prove to hold",
        async || {
            let notes = node.notes();
            notes
                .contains("leases expired; stopping running attempts")
                .then_some(())
        },
    )
    .await;
    assert_eq!(
        api.get("/healthz").await.status,
        200,
        "the process itself is fine"
    );
    line.thaw();
    business.release();
    api.until_status("K", "under-way", "SUCCESS").await;

    line.freeze();
    node.terminate();
    assert_eq!(node.exit_code().await, Some(0), "{}", node.notes());
}
