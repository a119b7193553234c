//! GitHub misbehaves, and every slot fires once all the same (DP-06, DP-12).

use std::collections::BTreeMap;

use almanack_lab::github::fault::{Effect, When};

use super::stage::{LastStep, Play, Stage};

const EVERY_10_S: &str = "@10s octarine/library poll.yml\n@10s octarine/library check.yml\n\
    @10s octarine/library daily.yml\n@10s octarine/library weekly.yml";

async fn open() -> Stage {
    let play = Play {
        last_step: LastStep::Missing,
        ..Play::of(EVERY_10_S)
    };
    Stage::open(play).await
}

/// Lets faults happen for a while, then heals, and waits until everything under way has ended.
async fn survive(stage: &Stage) {
    stage.push();
    stage.until_fired(2).await;
    stage.handle().clear_faults();
    let fired = stage
        .keys_and_counts()
        .iter()
        .map(|(_, fired)| *fired)
        .max();
    stage.until_fired(fired.unwrap_or_default() + 1).await;
    stage
        .until("what was taken is fired", |stage| {
            let counts = stage.keys_and_counts();
            counts.iter().all(|(keys, fired)| keys.len() == *fired)
        })
        .await;
    stage.close().await;
    stage.assert_once(10, 0);
    assert!(stage.reported("failed").is_empty(), "{}", stage.logs());
}

/// Often, but not so often that a window of ten seconds has no room for a good answer.
const SOME: When = When::Every(3);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_06_a_storm_of_403_delays_and_loses_nothing() {
    let stage = open().await;
    let limit = Effect::SecondaryLimit { retry_after_s: 1 };
    stage.fault("/git/", "POST", SOME, limit);
    stage.fault("/dispatches", "POST", SOME, limit);
    survive(&stage).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_06_5xx_delay_and_lose_nothing() {
    let stage = open().await;
    stage.fault("/git/", "POST", SOME, Effect::Status(502));
    stage.fault("/dispatches", "POST", SOME, Effect::Status(500));
    survive(&stage).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_06_answers_that_never_come_fire_nothing_twice() {
    let stage = open().await;
    stage.fault("/git/", "POST", SOME, Effect::DropReply);
    stage.fault("/dispatches", "POST", SOME, Effect::DropReply);
    survive(&stage).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_12_slow_answers_delay_no_other_target() {
    let stage = open().await;
    stage.fault(
        "poll.yml/dispatches",
        "POST",
        When::Always,
        Effect::Slow { wait_ms: 3_000 },
    );
    stage.fault("/git/refs", "POST", SOME, Effect::Slow { wait_ms: 1_000 });
    survive(&stage).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_05_clocks_three_seconds_apart_fire_nothing_twice() {
    let play = Play {
        last_step: LastStep::Missing,
        more: BTreeMap::from([("tick-b", vec!["--clock-offset", "3s"])]),
        ..Play::of(EVERY_10_S)
    };
    let stage = Stage::open(play).await;
    survive(&stage).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_09_a_chain_that_is_reported_to_stop_finishes_what_it_has_locked() {
    let play = Play {
        last_step: LastStep::Missing,
        ..Play::of("@2s octarine/library poll.yml")
    };
    let stage = Stage::open(play).await;
    stage.fault(
        "/dispatches",
        "POST",
        When::Always,
        Effect::Slow { wait_ms: 1_500 },
    );
    stage
        .handle()
        .start_run("octo", "clock", "tick-a.yml")
        .unwrap();
    stage
        .until("a slot is locked", |stage| {
            !stage.keys_and_counts()[0].0.is_empty()
        })
        .await;
    stage.close().await;
    let (keys, fired) = stage.keys_and_counts().remove(0);
    assert_eq!(keys.len(), fired, "{}", stage.logs());
    let left = stage.reported("left");
    assert_eq!(
        (&left[0]["why"], &left[0]["open"]),
        (&"stopped".into(), &0.into()),
        "{left:?}"
    );
}
