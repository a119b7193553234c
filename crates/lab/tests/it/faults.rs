//! With injected faults, the service still publishes once.

use almanack_lab::{
    article::{Config, activity::Activity},
    flaky::{Fault, Faults},
};
use serde_json::json;

use crate::support::{Almanack, World, call_body};

#[tokio::test]
async fn rs_12_a_lost_reply_leaves_the_effect_and_the_next_call_finds_it() {
    let almanack = Almanack::start([]).await;
    let faults = Faults {
        seed: 2,
        lose_reply_percent: 50,
        ..Faults::default()
    };
    let adjust = |config: &mut Config| config.faults = faults;
    let mut world = World::start_with(&almanack.url, adjust).await;
    let injected_fault = |task: i64, term: i64| faults.plan(task, term);
    let lost = (1..100)
        .find(|task| injected_fault(*task, 1) == Fault::LoseReply)
        .unwrap();
    let kept = (2..100)
        .find(|term| injected_fault(lost, *term) == Fault::None)
        .unwrap();

    let id = world.write().await;
    let mut call = call_body("audit", id, 1);
    call["task_id"] = json!(lost);
    let (status, answer) = world.post("/callbacks/audit", &call).await;
    assert_eq!(
        (status, answer["code"].as_str()),
        (504, Some("intended_fault"))
    );
    assert_eq!(world.article(id).await["state"], "AUDIT_SUCCESS");
    world
        .until(|it| matches!(it, Activity::Faulted { .. }))
        .await;
    call["term"] = json!(kept);
    let (status, answer) = world.post("/callbacks/audit", &call).await;
    assert_eq!(
        (status, answer["result"].as_str()),
        (200, Some("already_audited"))
    );
}

#[tokio::test]
async fn rs_12_a_refused_call_has_no_effect() {
    let almanack = Almanack::start([]).await;
    let faults = Faults {
        refuse_percent: 100,
        ..Faults::default()
    };
    let world = World::start_with(&almanack.url, |config| config.faults = faults).await;
    let id = world.write().await;
    let (status, _) = world.call("audit", id, 1).await;
    assert_eq!(status, 503);
    assert_eq!(world.article(id).await["state"], "PENDING_AUDIT");
}
