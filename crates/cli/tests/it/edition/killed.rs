//! `almanack edition run` under `kill -9` and Ctrl-C: the next run continues, and nothing is sent
//! twice.

use std::{process::Stdio, time::Duration};

use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::{CHAT, World, run};
use crate::{harness::Home, process::eventually};

/// Slow enough that a kill comes in the middle of a batch.
const LATENCY: Duration = Duration::from_millis(150);

fn start(home: &Home) -> tokio::process::Child {
    let mut command = home.command(&["edition", "run"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut command = tokio::process::Command::from(command);
    command.kill_on_drop(true).spawn().unwrap()
}

/// Makes the leases expired; waiting for that would take minutes.
fn pass_leases(home: &Home) {
    let database = rusqlite::Connection::open(home.path().join("almanack.db")).unwrap();
    database.busy_timeout(Duration::from_secs(10)).unwrap();
    for statement in [
        "update batch set lease_until_us = 1 where status = 'running'",
        "update delivery set lease_until_us = 1 where state = 'sent'",
        "update edition set fetching_until_us = 1 where fetching_until_us is not null",
    ] {
        database.execute(statement, []).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_15_a_run_that_is_killed_anywhere_is_finished_by_the_next() {
    let world = World::slow(LATENCY).await;
    let home = world.everything("sqlite:almanack.db");
    // Dies with the list, in the first batch, in the second, and while delivering.
    for requests in [1, 6, 30, 60] {
        let mut child = start(&home);
        eventually("so many requests were made, or it ended", async || {
            let seen = world.news.handle.total() + world.model.handle.total();
            let ended = child.try_wait().unwrap().is_some();
            (seen >= requests || ended).then_some(())
        })
        .await;
        let _ = child.kill().await;
        pass_leases(&home);
    }
    let ran = run(&home, &["edition", "run", "--json"]).await;
    let view = ran.expect_json();
    assert_eq!(view["state"], "published", "{view:#}");
    assert_eq!(view["counts"]["completed"], 12, "{view:#}");
    // Indices never repeat (ED-26), and no batch overspent (ED-08).
    let batches = view["batches"].as_array().unwrap();
    for (at, batch) in batches.iter().enumerate() {
        assert_eq!(batch["index"], at + 1);
        assert!(batch["requests"].as_u64().unwrap() <= 45, "{batch}");
    }
    let date = view["date"].as_str().unwrap();
    let shown = run(&home, &["edition", "show", date]).await.expect_data();
    assert_eq!(world.file(date), Some(shown));
    let messages = world.telegram.handle.messages(CHAT);
    let mut texts: Vec<&str> = messages
        .iter()
        .map(|message| message.text.as_str())
        .collect();
    let sent = texts.len();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), sent, "a message came twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_interrupted_ends_its_step_and_leaves_nothing_behind() {
    let world = World::slow(LATENCY).await;
    let home = world.everything("sqlite:almanack.db");
    let child = start(&home);
    eventually("the first batch is under way", async || {
        (world.news.handle.total() >= 6).then_some(())
    })
    .await;
    let pid = child.id().unwrap().to_string();
    let reported = std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status();
    assert!(reported.unwrap().success());
    let ended = child.wait_with_output().await.unwrap();
    let notes = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{notes}");
    assert!(notes.contains("stopping after this step"), "{notes}");
    assert!(
        notes.contains("hint: stopped; the next tick or another run continues"),
        "{notes}"
    );
    let view = run(&home, &["edition", "status", "--json"])
        .await
        .expect_json();
    assert_eq!(view["counts"]["processing"], 0, "{view:#}");
    assert_eq!(view["counts"]["completed"], 6, "{view:#}");
    assert_eq!(run(&home, &["edition", "run"]).await.code, 0);
}

/// A run after a killed one waits for its lease, a minute at most, and reports it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_15_a_run_says_what_it_waits_for() {
    let world = World::slow(LATENCY).await;
    let home = world.everything("sqlite:almanack.db");
    let mut child = start(&home);
    eventually("the first batch is under way", async || {
        (world.news.handle.total() >= 6).then_some(())
    })
    .await;
    let _ = child.kill().await;
    let mut next = start(&home);
    let notes = next.stderr.take().unwrap();
    let mut lines = BufReader::new(notes).lines();
    let waits = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            if line.starts_with("waiting: batch 1 is still running, until ") {
                return;
            }
        }
        panic!("it ended without a word");
    };
    waits.await;
    let _ = next.kill().await;
}
