//! PostgreSQL under load, replaced by its standby. What was acknowledged is done.
//!
//! A crash of the server is in [`crate::chaos`], with the ledger and the article service's table as
//! judges.

use std::{sync::Arc, time::Duration};

use almanack_adapters::clock::pause;
use almanack_testkit::postgres::run;
use reqwest::Method;
use serde_json::json;

use crate::{
    api::{Api, NOW, task},
    business::Business,
    failures::postgres::Cluster,
    harness::Home,
    process::{Process, eventually, free_address},
};

/// Tasks that are acknowledged before the server goes, and after it is back.
const ACKNOWLEDGED: usize = 60;
const BREATH: Duration = Duration::from_millis(5);

/// Creates tasks, one after the other, and records which were acknowledged.
struct Requester<'a> {
    api: Api,
    business: &'a Business,
    asked: usize,
    acknowledged: Vec<String>,
}

impl Requester<'_> {
    /// Asks until so many more are acknowledged; what is refused meanwhile is not asked for again.
    async fn ask(&mut self, more: usize) {
        let enough = self.acknowledged.len() + more;
        let callback = json!({ "url": self.business.done_url() });
        let body = json!({ "execute_at": NOW, "callback": callback, "max_retry": 100 });
        eventually("tasks are acknowledged", async || {
            self.asked += 1;
            let subject = format!("s:{}", self.asked);
            let path = task("K", &subject);
            let answer = self.api.ask(Method::PUT, &path, Some(&body)).await;
            if answer.is_ok_and(|answer| answer.status == 201) {
                self.acknowledged.push(subject);
            }
            (self.acknowledged.len() >= enough).then_some(())
        })
        .await;
    }

    /// Everything that was acknowledged is done.
    async fn check(&self) {
        for subject in &self.acknowledged {
            self.api.until_status("K", subject, "SUCCESS").await;
            assert!(
                self.business.calls(subject) >= 1,
                "{subject} was never called"
            );
        }
    }
}

/// Two nodes on a database, whose server `breaks` while they work.
async fn under_load(database: &str, breaks: impl FnOnce() + Send + 'static) {
    let (home, business) = (Home::new(), Business::start().await);
    let further = ["--database", database];
    let start = async || Process::node(&home, free_address(), &further).ready().await;
    let nodes = [start().await, start().await];
    let mut requester = Requester {
        api: nodes[0].api(),
        business: &business,
        asked: 0,
        acknowledged: Vec::new(),
    };
    requester.ask(ACKNOWLEDGED).await;
    let breaking = tokio::task::spawn_blocking(breaks);
    while !breaking.is_finished() {
        requester.ask(1).await;
        pause(BREATH).await;
    }
    breaking.await.unwrap();
    requester.ask(ACKNOWLEDGED).await;
    requester.check().await;
    for node in &nodes {
        assert_eq!(
            node.api().get("/readyz").await.status,
            200,
            "{}",
            node.notes()
        );
    }
}

/// The primary commits only what its standby has. Nodes know both addresses and find the one that
/// can be written to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_promoted_standby_has_everything_acknowledged_and_nodes_follow() {
    let primary = Arc::new(Cluster::start());
    let standby = Arc::new(primary.standby());
    let both = format!("{},{}", primary.server(), standby.server());
    // The standby first: no node may connect there while it only follows.
    let swapped = format!("{},{}", standby.server(), primary.server());
    let over = |servers: &str| primary.url.replace(primary.server(), servers);
    run(
        &primary.url,
        "alter system set synchronous_standby_names = '*'",
    )
    .await;
    run(&primary.url, "select pg_reload_conf()").await;
    let (dies, follows) = (Arc::clone(&primary), Arc::clone(&standby));
    let home = Home::new();
    home.run(&["task", "list", "--database", &over(&swapped)])
        .expect_data();
    let refused = home.run(&["task", "list", "--database", &standby.url]);
    assert_eq!(refused.code, 4, "{refused}");
    let reported = [
        "database does not allow writes",
        "hint: this server is a standby",
    ];
    assert!(
        reported
            .iter()
            .all(|reported| refused.notes.contains(reported)),
        "{refused}"
    );
    under_load(&over(&both), move || {
        dies.pause();
        follows.promote();
    })
    .await;
    let alone = home.run(&["task", "list", "--database", &primary.url]);
    assert_eq!(alone.code, 4, "the old primary is gone: {alone}");
}
