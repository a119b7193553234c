//! Limits that three nodes keep together, measured by the called services, not by Almanack.
//!
//! Lateness cannot break these tests: a late call leaves a permit unused, and a host that is asked
//! late waits for longer.

mod host;

use std::time::Duration;

use almanack_testkit::postgres::Schema;
use jiff::{SignedDuration, Timestamp};

use crate::{
    business::Business,
    harness::Home,
    process::{Process, eventually, free_address},
};
use host::Host;

/// Attempts of the kind at once on all nodes.
const IN_ALL: usize = 7;
/// A host may have three quarters of a node's slots, and a quarter of those until it has answered,
/// which is three here: two nodes cannot use all places, and three have room for more.
const SLOTS: &str = "node.slots=16";
const TASKS: usize = 20;
/// A sixth of it is what a node has to stop in: more than a busy machine keeps a process waiting.
const LEASE: SignedDuration = SignedDuration::from_secs(6);
/// How far the clock of a node may be from ours.
const SKEW_MAX: SignedDuration = SignedDuration::from_millis(250);

/// As many calls are open as there are permits, on all nodes. Those of a killed node are free once
/// its lease has expired, not when it is started again: the outcome of its calls is unknown.
#[tokio::test]
async fn slots_in_all_hold_on_three_nodes_and_pass_on_with_a_killed_ones_lease() {
    let (home, business, schema) = (Home::new(), Business::start().await, Schema::create().await);
    let addresses = [0; 3].map(|_| free_address());
    let start = |number: usize| start(&home, schema.url(), addresses[number], number);
    let mut nodes = Vec::new();
    for number in 0..3 {
        nodes.push(start(number).ready().await);
    }
    let api = nodes[0].api();
    let subjects: Vec<String> = (0..TASKS).map(|number| format!("s:{number}")).collect();
    for subject in &subjects {
        api.put_due("K", subject, &business.held_url()).await;
    }
    business.until_waiting(IN_ALL).await;
    let before = business.held_at().len();

    nodes[2].kill().await;
    eventually("the service sees that it is gone", async || {
        (business.waiting() < IN_ALL).then_some(())
    })
    .await;
    let lease_until = last_seen(&nodes[0], "n2").await + LEASE;
    nodes[2] = start(2);
    business.until_waiting(IN_ALL).await;
    let next = business.held_at()[before];
    assert!(
        next + SKEW_MAX >= lease_until,
        "called at {next}, before {lease_until}"
    );

    business.release();
    for subject in &subjects {
        api.until_status("K", subject, "SUCCESS").await;
    }
    assert_eq!(business.waiting_most(), IN_ALL);
}

fn start(home: &Home, database: &str, address: std::net::SocketAddr, number: usize) -> Process {
    let (name, limit) = (
        format!("n{number}"),
        format!("kinds.K.slots_in_all={IN_ALL}"),
    );
    let lease = format!("node.lease={}s", LEASE.as_secs());
    let sets = [SLOTS, &limit, &lease, "callback.timeout=60s"];
    let mut further = vec!["--database", database, "--node-name", &name];
    for set in sets {
        further.extend(["--set", set]);
    }
    Process::node(home, address, &further)
}

/// The last heartbeat of a node.
async fn last_seen(node: &Process, name: &str) -> Timestamp {
    let listed = node.api().get("/api/v1/nodes").await.json;
    let nodes = listed["nodes"].as_array().unwrap();
    let found = nodes.iter().find(|node| node["name"] == name).unwrap();
    found["seen_at"].as_str().unwrap().parse().unwrap()
}

/// `sources.host_pace`: between two requests that are spread evenly.
const GAP: SignedDuration = SignedDuration::from_millis(200);
/// How long a request may be under way before the host notes it. The next one comes in its own
/// time, so the two look closer than they were sent.
const UNDER_WAY_MAX: SignedDuration = SignedDuration::from_secs(1);
/// Sources on each host.
const SOURCES: usize = 24;
/// `sources.host_concurrency`.
const AT_ONCE: usize = 2;
/// How long the slow host takes: many more than [`AT_ONCE`] would be there in the rhythm of the
/// pace alone.
const TAKES: Duration = Duration::from_millis(800);
const SLOW_SOURCES: usize = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ss_14_three_nodes_ask_a_host_in_one_pace_and_by_no_more_at_once() {
    let (quick, slow) = (
        Host::start("127.0.0.2", Duration::ZERO).await,
        Host::start("127.0.0.3", TAKES).await,
    );
    let schema = Schema::create().await;
    let home = Home::with(&format!(
        "[database]\nurl = \"{}\"\n[sources]\nallow = [\"127.0.0.0/8\"]\nhost_pace = \"5/1s\"\nhost_concurrency = {AT_ONCE}\n",
        schema.url()
    ));
    let mut nodes = Vec::new();
    for _ in 0..3 {
        nodes.push(Process::node(&home, free_address(), &[]).ready().await);
    }
    let feeds = [quick.feeds(SOURCES), slow.feeds(SLOW_SOURCES)].concat();
    let list = format!("<opml version=\"2.0\"><body>{feeds}</body></opml>");
    let added = tokio::task::block_in_place(|| {
        home.run_with_input(&["source", "import", "-", "--json"], &list)
    });
    assert_eq!(added.expect_json()["added"], SOURCES + SLOW_SOURCES);
    eventually("every source was asked", async || {
        (quick.asked().len() >= SOURCES && slow.asked().len() >= SLOW_SOURCES).then_some(())
    })
    .await;

    let asked = quick.asked();
    for (earlier, first) in asked.iter().enumerate() {
        for (between, next) in (1..).zip(&asked[earlier + 1..]) {
            let apart = next.duration_since(*first);
            let least = GAP * between - UNDER_WAY_MAX;
            assert!(apart >= least, "{between} gaps in {apart:?}: {asked:?}");
        }
    }
    assert_eq!(slow.inside_most(), AT_ONCE, "and it was used");
    assert!(quick.inside_most() <= AT_ONCE);
}
