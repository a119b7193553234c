//! Chains are born, replaced and killed, and every slot fires once (DP-05, DP-08, DP-09, DP-10).

use jiff::SignedDuration;

use super::stage::{LastStep, Play, Stage};
use crate::process::from_now;

const EVERY_2_S: &str = "@2s octarine/library poll.yml  # every two seconds";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_08_two_chains_fire_every_slot_once() {
    let play = Play {
        last_step: LastStep::Missing,
        ..Play::of(
            "@2s octarine/library poll.yml\n@2s octarine/library check.yml\nnonsense octarine/library x.yml",
        )
    };
    let stage = Stage::open(play).await;
    stage.push();
    stage.until_fired(4).await;
    stage.close().await;
    stage.assert_once(2, 0);
    let refused = stage.reported("refused");
    assert_eq!(
        refused.len(),
        2,
        "each chain reports the bad line: {refused:?}"
    );
    assert_eq!(
        (&refused[0]["line"], &refused[0]["column"]),
        (&3.into(), &1.into())
    );
    for left in stage.reported("left") {
        assert_eq!(
            (&left["why"], &left["open"]),
            (&"stopped".into(), &0.into())
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_09_a_killed_chain_misses_nothing_and_is_started_again() {
    let stage = Stage::open(Play::of(EVERY_2_S)).await;
    stage.push();
    stage.until_fired(2).await;
    stage.signal("tick-a", "-KILL");
    stage
        .until("the guard has started it again", |stage| {
            stage.reported("began").len() >= 3
        })
        .await;
    let fired = stage.keys_and_counts()[0].1;
    stage.until_fired(fired + 2).await;
    stage.assert_once(2, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_08_after_the_death_of_both_what_was_missed_is_caught_up_or_reported() {
    let play = Play {
        last_step: LastStep::Missing,
        ..Play::of(EVERY_2_S)
    };
    let stage = Stage::open(play).await;
    // An earlier life ended ten minutes ago.
    let ended = stage.key(0, from_now(-600_000));
    let even = ended.slot() - SignedDuration::from_secs(ended.slot().as_second() % 2);
    stage.lay_lock(stage.key(0, even)).await;
    stage.push();
    stage.until_fired(2).await;
    // A chain that is killed between its decision and its line would report nothing.
    stage
        .until("what is too late is reported", |stage| {
            !stage.reported("skipped").is_empty()
        })
        .await;
    stage.signal("tick-a", "-KILL");
    stage.signal("tick-b", "-KILL");
    stage
        .until("both are dead", |stage| {
            stage
                .handle()
                .runs("octo", "clock")
                .iter()
                .all(|run| run.conclusion.is_some())
        })
        .await;
    // No chain runs, until the clock starts the guard.
    stage
        .handle()
        .start_run("octo", "clock", "guard.yml")
        .unwrap();
    let fired = stage.keys_and_counts()[0].1;
    stage.until_fired(fired + 3).await;
    stage.close().await;
    let (keys, fired) = stage.keys_and_counts().remove(0);
    // The old one may have been cleaned up by now.
    let slots = keys.iter().map(|key| key.slot().as_second());
    let slots: Vec<i64> = slots.filter(|slot| *slot > even.as_second()).collect();
    // Of the ten minutes, what is no longer prompt is skipped, and reported as one.
    let skipped = stage.reported("skipped");
    assert_eq!(skipped[0]["reason"], "too_late", "{skipped:?}");
    let last: jiff::Timestamp = skipped[0]["last"].as_str().unwrap().parse().unwrap();
    let reported = skipped[0]["slots"].as_i64().unwrap();
    assert_eq!(last.as_second() - even.as_second(), reported * 2);
    for pair in slots.windows(2) {
        assert_eq!(pair[1] - pair[0], 2, "{slots:?}\n{}", stage.logs());
    }
    // Each of the killed may have had a lock and not fired yet.
    assert!(
        (slots.len() - 2..=slots.len()).contains(&fired),
        "{fired} of {slots:?}"
    );
    stage.assert_hushed();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_10_a_newer_run_makes_the_older_leave() {
    let stage = Stage::open(Play::of(EVERY_2_S)).await;
    stage.push();
    stage.until_fired(1).await;
    stage.push();
    stage
        .until("both older runs have left", |stage| {
            let left = stage.reported("left");
            left.iter().filter(|note| note["why"] == "newer").count() == 2
        })
        .await;
    let fired = stage.keys_and_counts()[0].1;
    stage.until_fired(fired + 1).await;
    stage.assert_once(2, 1);
}
