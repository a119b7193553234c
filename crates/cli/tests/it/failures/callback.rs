//! Business services that are gone, or that never answer.

use serde_json::json;

use crate::{
    api::{NOW, task},
    business::Business,
    harness::Home,
    process::{Process, eventually, free_address},
};

#[tokio::test]
async fn a_callback_host_that_is_gone_is_tried_again_until_it_is_back() {
    let (home, address) = (Home::new(), free_address());
    let node = Process::node(&home, free_address(), &[]).ready().await;
    let api = node.api();
    let url = format!("http://{address}/done");
    api.put_due("PUBLISH", "article:1", &url).await;
    let task = api.until_status("PUBLISH", "article:1", "FAIL").await;
    assert_eq!(task["live"], true, "{task}");
    let detail = task["detail"].as_str().unwrap_or("");
    assert!(detail.contains("refused"), "why it failed: {task}");

    let business = Business::start_at(address).await;
    api.until_status("PUBLISH", "article:1", "SUCCESS").await;
    let outcomes = api.outcomes("PUBLISH", "article:1").await;
    let (last, before) = outcomes.split_last().unwrap();
    assert_eq!(last, "done");
    assert!(
        !before.is_empty() && before.iter().all(|outcome| outcome == "retry"),
        "{outcomes:?}"
    );
    assert_eq!(business.calls("article:1"), 1);
}

/// What is refused whenever it is called is refused when it is put, by every way into a node.
#[tokio::test]
async fn rs_11_a_node_takes_nothing_that_it_may_never_call() {
    let (home, never) = (Home::new(), "http://10.0.0.1/");
    let node = Process::node(&home, free_address(), &[]).ready().await;
    let api = node.api();
    let body = json!({ "execute_at": NOW, "callback": { "url": never } });
    let refused = api.put(&task("K", "s"), &body).await;
    assert_eq!(refused.problem(), (422, "invalid_value"), "{refused:?}");
    let target = json!({ "type": "webhook", "url": never });
    let body = json!({ "expression": "@daily", "target": target });
    let refused = api.put("/api/v1/schedules/nightly", &body).await;
    assert_eq!(refused.problem(), (422, "invalid_value"), "{refused:?}");
}

/// A node of eight slots calls a host that has not answered yet once at a time; who comes besides
/// leaves its slot to others.
#[tokio::test]
async fn sf_06_a_node_keeps_to_what_a_host_takes() {
    let (home, business) = (Home::new(), Business::start().await);
    let slots = ["--set", "node.slots=8"];
    let node = Process::node(&home, free_address(), &slots).ready().await;
    let api = node.api();
    let both = ["article:1", "article:2"];
    for subject in both {
        api.put_due("PUBLISH", subject, &business.held_url()).await;
    }
    eventually("one waits for its host", async || {
        for subject in both {
            let task = api.get(&task("PUBLISH", subject)).await.json;
            let detail = task["detail"].as_str().unwrap_or_default();
            if detail.contains("waits for its host") {
                return Some(());
            }
        }
        None
    })
    .await;
    business.release();
    for subject in both {
        api.until_status("PUBLISH", subject, "SUCCESS").await;
    }
}

#[tokio::test]
async fn a_callback_that_never_answers_is_given_up_tried_again_and_delays_no_other() {
    let (home, business) = (Home::new(), Business::start().await);
    let limits = [
        "--set",
        "callback.timeout=1s",
        "--set",
        "kinds.STUCK.slots=2",
    ];
    let node = Process::node(&home, free_address(), &limits).ready().await;
    let api = node.api();
    for subject in ["a", "b", "c", "d"] {
        api.put_due("STUCK", subject, &business.held_url()).await;
    }
    business.until_called("a", 1).await;

    // The kind that hangs has used up its slots; others have theirs.
    api.put_due("LIVELY", "x", &business.done_url()).await;
    api.until_status("LIVELY", "x", "SUCCESS").await;
    assert!(
        api.outcomes("STUCK", "a").await.len() <= 1,
        "a was not given up before x was done"
    );

    let task = api.until_status("STUCK", "a", "FAIL").await;
    let detail = task["detail"].as_str().unwrap_or("");
    assert!(detail.contains("no answer in time"), "{task}");
    business.until_called("d", 1).await;
    business.release();
    for subject in ["a", "b", "c", "d"] {
        api.until_status("STUCK", subject, "SUCCESS").await;
    }
}
