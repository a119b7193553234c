//! A node that is cut off or halted: it stops by itself before its work passes on, and where it
//! cannot, it is fenced off.

use almanack_testkit::postgres::Schema;

use crate::{
    api::Api,
    business::Business,
    failures::hanging::Line,
    harness::Home,
    process::{Process, eventually, free_address},
};

const NO_LIMIT: [&str; 2] = ["--set", "callback.timeout=60s"];
/// A sixth of it is what a node has to stop in: more than a busy machine keeps a process waiting.
const LONG_LEASE: [&str; 2] = ["--set", "node.lease=12s"];

async fn node(home: &Home, database: &str, how: &[&str]) -> Process {
    let further = [&["--database", database][..], &NO_LIMIT, how].concat();
    Process::node(home, free_address(), &further).ready().await
}

/// The other node has taken over and it is done: tried twice, ended once.
async fn check_taken_over(api: &Api, business: &Business) {
    business.release();
    api.until_status("K", "under-way", "SUCCESS").await;
    let outcomes = api.outcomes("K", "under-way").await;
    assert_eq!(outcomes, ["lease_expired", "done"]);
    assert_eq!(business.calls("under-way"), 2);
}

#[tokio::test]
async fn rs_07_a_node_cut_off_from_its_database_stops_before_another_takes_over() {
    let (home, business, schema) = (Home::new(), Business::start().await, Schema::create().await);
    let (line, over_line) = Line::to(schema.url()).await;
    let cut_off = node(&home, &over_line, &LONG_LEASE).await;
    let api = cut_off.api();
    api.put_due("K", "under-way", &business.held_url()).await;
    business.until_called("under-way", 1).await;

    line.freeze();
    let other = node(&home, schema.url(), &LONG_LEASE).await;
    business.until_called("under-way", 2).await;
    assert_eq!(
        business.waiting_most(),
        1,
        "it had stopped before:\n{}",
        cut_off.notes()
    );
    check_taken_over(&other.api(), &business).await;

    line.thaw();
    eventually("the node is back", async || {
        (cut_off.api().get("/readyz").await.status == 200).then_some(())
    })
    .await;
    api.put_due("K", "after", &business.done_url()).await;
    api.until_status("K", "after", "SUCCESS").await;
    assert_eq!(business.calls("under-way"), 2, "and nothing is done again");
}

/// A halted process can stop nothing. Whatever it believes when it wakes up, its task has passed
/// on.
#[tokio::test]
async fn rs_07_a_node_halted_past_its_lease_changes_nothing_when_it_wakes_up() {
    let (home, business, schema) = (Home::new(), Business::start().await, Schema::create().await);
    let halted = node(&home, schema.url(), &[]).await;
    let api = halted.api();
    api.put_due("K", "under-way", &business.held_url()).await;
    business.until_called("under-way", 1).await;

    halted.tool("kill", &["-STOP"]);
    let other = node(&home, schema.url(), &[]).await;
    business.until_called("under-way", 2).await;
    check_taken_over(&other.api(), &business).await;
    let before = other.api().get("/api/v1/tasks/K/under-way").await.json;

    halted.tool("kill", &["-CONT"]);
    api.put_due("K", "after", &business.done_url()).await;
    api.until_status("K", "after", "SUCCESS").await;
    let after = other.api().get("/api/v1/tasks/K/under-way").await.json;
    assert_eq!(after, before, "its late report is fenced off");
}
