//! PostgreSQL goes away and comes back: requests say so, nothing is lost, work resumes.
//!
//! Each test breaks a separate cluster; no other test uses it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use reqwest::Method;
use serde_json::json;

use crate::{
    api::task,
    business::Business,
    harness::Home,
    process::{Process, eventually, free_address, from_now},
};

/// A cluster that may be broken: durable, because a crash must lose nothing that was promised.
/// Deleted with its handle.
pub(crate) struct Cluster {
    note: PathBuf,
    pub(crate) url: String,
    _folder: tempfile::TempDir,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        Self::by(&["start", "--durable"])
    }

    /// A copy that follows this one by streaming.
    pub(crate) fn standby(&self) -> Self {
        Self::by(&["standby", self.note.to_str().unwrap()])
    }

    fn by(order: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("note");
        let url = dev_postgres(&note, order);
        Self {
            note,
            url: url.trim_end().to_owned(),
            _folder: folder,
        }
    }

    /// As a crash would: connections break, nothing is tidied up.
    pub(crate) fn pause(&self) {
        dev_postgres(&self.note, &["pause"]);
    }

    pub(crate) fn resume(&self) {
        dev_postgres(&self.note, &["resume"]);
    }

    /// The standby becomes a primary.
    pub(crate) fn promote(&self) {
        dev_postgres(&self.note, &["promote"]);
    }

    /// Where its files are, once it runs.
    pub(crate) fn data(&self) -> PathBuf {
        let directory = std::fs::read_to_string(&self.note).unwrap();
        Path::new(directory.trim_end()).join("data")
    }

    pub(crate) fn server(&self) -> &str {
        let (_, rest) = self.url.split_once('@').unwrap();
        rest.split_once('/').unwrap().0
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        dev_postgres(&self.note, &["stop"]);
    }
}

fn dev_postgres(note: &Path, order: &[&str]) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dev/postgres");
    let mut command = Command::new(script);
    let done = command
        .args(order)
        .env("ALMANACK_POSTGRES_NOTE", note)
        .output()
        .unwrap();
    let reported = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "dev/postgres {order:?}: {reported}");
    String::from_utf8(done.stdout).unwrap()
}

#[tokio::test]
async fn postgres_gone_answers_503_and_what_fell_due_meanwhile_is_done_afterwards() {
    let (home, business, cluster) = (Home::new(), Business::start().await, Cluster::start());
    let database = ["--database", cluster.url.as_str()];
    let node = Process::node(&home, free_address(), &database)
        .ready()
        .await;
    let api = node.api();
    let soon = json!({
        "execute_at": from_now(2_000),
        "callback": { "url": business.done_url() },
    });
    assert_eq!(api.put(&task("K", "meanwhile"), &soon).await.status, 201);
    api.put_due("K", "under-way", &business.held_url()).await;
    business.until_called("under-way", 1).await;

    cluster.pause();
    for (method, path, body) in [
        (Method::GET, task("K", "meanwhile"), None),
        (Method::PUT, task("K", "meanwhile"), Some(&soon)),
        (Method::GET, "/readyz".to_owned(), None),
    ] {
        let answer = api.ask(method, &path, body).await.unwrap();
        assert_eq!(
            answer.problem(),
            (503, "database_unavailable"),
            "{answer:?}"
        );
    }
    assert_eq!(api.get("/healthz").await.status, 200);
    // The answer arrives while the database cannot be written.
    business.release();
    eventually("the node notices that it cannot write", async || {
        node.notes().contains("outcomes wait").then_some(())
    })
    .await;

    cluster.resume();
    api.until_status("K", "meanwhile", "SUCCESS").await;
    api.until_status("K", "under-way", "SUCCESS").await;
    // It is ready once its next heartbeat is written.
    eventually("the node is ready again", async || {
        (api.get("/readyz").await.status == 200).then_some(())
    })
    .await;
    assert_eq!(business.calls("meanwhile"), 1);
    let attempts = api.attempts("K", "under-way").await.len();
    assert!(
        attempts >= business.calls("under-way"),
        "every call is in the history"
    );
    // A hint from this node to itself proves that listening resumed, too.
    api.put_due("K", "after", &business.done_url()).await;
    api.until_status("K", "after", "SUCCESS").await;
}

#[tokio::test]
async fn a_node_whose_database_is_gone_still_stops_when_reported_to() {
    let (home, business, cluster) = (Home::new(), Business::start().await, Cluster::start());
    let further = ["--database", cluster.url.as_str(), "--set", "node.drain=1s"];
    let mut node = Process::node(&home, free_address(), &further).ready().await;
    node.api()
        .put_due("K", "under-way", &business.held_url())
        .await;
    business.until_called("under-way", 1).await;
    cluster.pause();
    node.terminate();
    assert_eq!(node.exit_code().await, Some(0), "{}", node.notes());

    cluster.resume();
    let node = Process::node(&home, free_address(), &further).ready().await;
    business.release();
    node.api().until_status("K", "under-way", "SUCCESS").await;
}

#[tokio::test]
async fn a_node_does_not_start_without_its_database_and_says_which() {
    let home = Home::new();
    let nobody = format!("postgres://almanack@{}/news", free_address());
    let ran = home.run(&["serve", "--database", &nobody]);
    assert_eq!(ran.code, 4, "{ran}");
    assert!(
        ran.notes.contains(&format!("open database `{nobody}`")),
        "{ran}"
    );
    assert!(
        ran.notes.contains("hint: check that the database runs"),
        "{ran}"
    );
}
