//! Chains in virtual time, which starts at 08:00 UTC: what they fire, what they ask, when they
//! leave.

mod outside;

use std::time::Duration;

use almanack_core::chain::{ChainEvent, Leave, Settled};
use jiff::SignedDuration;
use tokio::time::timeout;

use self::outside::{Answer, Outside, at};
use crate::virtual_time::pause;

const HOUR: Duration = Duration::from_hours(1);
const DAILY: &str = "0 8 * * * o/r daily.yml";

#[tokio::test(start_paused = true)]
async fn dp_03_rounds_and_slots_are_aligned_to_the_clock() {
    let outside = Outside::new();
    pause(Duration::from_secs(3)).await;
    let _chain = outside.chain("tick-a", 1, "@10s o/r poll.yml");
    pause(Duration::from_secs(40)).await;
    let fired: Vec<_> = outside
        .fired()
        .iter()
        .map(|slot_dispatch| (slot_dispatch.slot, slot_dispatch.at))
        .collect();
    let slots = ["08:00:10", "08:00:20", "08:00:30", "08:00:40"].map(|time| (at(time), at(time)));
    assert_eq!(fired, slots);
}

#[tokio::test(start_paused = true)]
async fn dp_08_a_start_goes_on_behind_the_newest_lock() {
    for (catch_up, expected) in [
        ("all", vec!["05:00:00", "06:00:00", "07:00:00"]),
        ("latest", vec![]),
        ("none", vec![]),
    ] {
        let outside = Outside::new();
        let text = format!("0 * * * * o/r check.yml catch_up={catch_up}");
        outside.lay(&text, at("03:00:00"));
        outside.lay(&text, at("04:00:00"));
        pause(Duration::from_mins(45)).await;
        let _chain = outside.chain("tick-a", 1, &text);
        pause(Duration::from_mins(10)).await;
        let mut expected: Vec<_> = expected.into_iter().map(at).collect();
        if catch_up == "all" {
            expected.push(at("08:00:00"));
        }
        assert_eq!(outside.slots(), expected, "{catch_up}");
        let skipped =
            outside.count(|said| matches!(said, ChainEvent::Skipped { slots, .. } if *slots > 0));
        assert_eq!(
            skipped,
            usize::from(catch_up != "all"),
            "{catch_up}: one line for them all"
        );
        // Reported once: the next start finds a lock behind them.
        let _next = outside.chain("tick-b", 2, &text);
        pause(Duration::from_mins(1)).await;
        let again = outside.count(|said| matches!(said, ChainEvent::Skipped { .. }));
        assert_eq!(again, skipped, "{catch_up}");
    }
}

#[tokio::test(start_paused = true)]
async fn dp_06_a_lock_that_errs_is_asked_for_again_inside_the_slot() {
    let outside = Outside::new();
    let _chain = outside.chain("tick-a", 1, "@60s o/r poll.yml");
    pause(Duration::from_secs(30)).await;
    outside.break_locks(4);
    pause(Duration::from_mins(1)).await;
    assert_eq!(outside.slots(), [at("08:01:00")]);
    assert_eq!(
        outside.count(|said| matches!(said, ChainEvent::Missed { .. })),
        0
    );
    outside.break_locks(1_000);
    pause(Duration::from_mins(3)).await;
    assert!(
        outside.count(|said| matches!(said, ChainEvent::Missed { .. })) >= 1,
        "and reported when its time is over"
    );
}

#[tokio::test(start_paused = true)]
async fn dp_12_a_failed_firing_is_tried_again_inside_its_window_and_only_after_looking() {
    let outside = Outside::new();
    let _chain = outside.chain("tick-a", 1, "@60s o/r poll.yml");
    outside.answer([Answer::Fails, Answer::Fails, Answer::TakesSilently]);
    pause(Duration::from_secs(115)).await;
    assert_eq!(
        outside.slots(),
        [at("08:01:00")],
        "the third had been taken, and was not repeated"
    );
    let attempts = outside.notes().into_iter().find_map(|said| match said {
        ChainEvent::Fired { attempts, .. } => Some(attempts),
        _ => None,
    });
    assert_eq!(attempts, Some(3));
    outside.answer(vec![Answer::Fails; 1_000]);
    pause(Duration::from_mins(3)).await;
    assert!(outside.count(|said| matches!(said, ChainEvent::Failed { .. })) >= 1);
    assert_eq!(outside.slots().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn dp_25_a_run_of_another_line_is_never_taken_for_the_slots_own() {
    let outside = Outside::new();
    let lines = "@60s o/r poll.yml\n@60s o/r poll.yml input.full=1";
    let _chain = outside.chain("tick-a", 1, lines);
    pause(Duration::from_secs(50)).await;
    // Of the two that fire at 08:01:00, the first fails without effect and the second is taken.
    outside.answer([Answer::Fails]);
    pause(Duration::from_secs(40)).await;
    assert_eq!(
        outside.slots(),
        [at("08:01:00"), at("08:01:00")],
        "the failed one was tried again: the run that was there is the other line's"
    );
    assert_eq!(
        outside.count(|said| matches!(said, ChainEvent::Fired { .. })),
        2
    );
}

#[tokio::test(start_paused = true)]
async fn dp_25_what_cannot_be_reported_apart_is_neither_called_fired_nor_repeated() {
    let outside = Outside::new();
    let lines = "@60s o/r poll.yml\n@60s o/r poll.yml input.full=1";
    let _chain = outside.chain("tick-a", 1, lines);
    pause(Duration::from_secs(50)).await;
    outside.answer([Answer::Fails, Answer::TakesSilently]);
    pause(Duration::from_secs(65)).await;
    assert_eq!(outside.slots(), [at("08:01:00")], "one of the two, once");
    assert_eq!(
        outside.count(|said| matches!(said, ChainEvent::Fired { .. })),
        0
    );
    assert_eq!(
        outside.count(|said| matches!(said, ChainEvent::Failed { .. })),
        2
    );
}

#[tokio::test(start_paused = true)]
async fn dp_12_a_target_that_hangs_delays_no_other() {
    let outside = Outside::new();
    let _chain = outside.chain("tick-a", 1, "@10s o/r hangs.yml\n@10s o/r poll.yml");
    pause(Duration::from_secs(65)).await;
    assert_eq!(outside.slots().len(), 6, "the other line's");
    assert!(
        outside
            .fired()
            .iter()
            .all(|slot_dispatch| slot_dispatch.at == slot_dispatch.slot)
    );
}

#[tokio::test(start_paused = true)]
async fn dp_08_a_crash_between_lock_and_firing_is_settled_by_looking() {
    for (run_seen, how) in [(true, Settled::Found), (false, Settled::Fires)] {
        let outside = Outside::new();
        // Another process took today's slot and died.
        outside.lay(DAILY, at("08:00:00"));
        if run_seen {
            outside.pretend_run(at("08:00:02"));
        }
        // The first and the third look at the locks in the same round.
        let _chains = [
            outside.chain("tick-a", 1, DAILY),
            outside.chain("tick-c", 2, DAILY),
        ];
        pause(HOUR).await;
        assert_eq!(
            outside.notes_named("settled"),
            0,
            "its owner may still be trying"
        );
        pause(Duration::from_mins(15)).await;
        let settled = outside.notes().into_iter().filter_map(|said| match said {
            ChainEvent::Settled { how, .. } => Some(how),
            _ => None,
        });
        assert_eq!(
            settled.collect::<Vec<_>>(),
            [how],
            "by one of the two, once"
        );
        assert_eq!(outside.slots().len(), usize::from(!run_seen));
        pause(HOUR * 2).await;
        assert_eq!(outside.notes_named("settled"), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn dp_08_what_was_lost_too_long_ago_is_reported_and_not_fired() {
    let outside = Outside::new();
    let every_five = "*/5 * * * * o/r check.yml";
    outside.lay(every_five, at("08:00:00"));
    let _chain = outside.chain("tick-a", 1, every_five);
    pause(Duration::from_secs(25 * 60 + 5)).await;
    let reported = outside.count(|said| matches!(said, ChainEvent::Settled { how: Settled::TooLate, slot, .. } if *slot == at("08:00:00")));
    assert_eq!(reported, 1);
    assert_eq!(
        outside.slots(),
        ["08:05:00", "08:10:00", "08:15:00", "08:20:00", "08:25:00"].map(at)
    );
}

#[tokio::test(start_paused = true)]
async fn dp_08_a_chain_killed_while_it_fires_is_finished_by_the_other() {
    let outside = Outside::new();
    let text = "30 8 * * * o/r hangs.yml";
    let first = outside.chain("tick-a", 1, text);
    pause(Duration::from_mins(31)).await;
    first.abort();
    let _other = outside.chain("tick-b", 2, text);
    pause(HOUR).await;
    outside.heal();
    pause(HOUR).await;
    assert_eq!(outside.slots(), [at("08:30:00")]);
    assert_eq!(outside.notes_named("settled"), 1);
}

#[tokio::test(start_paused = true)]
async fn dp_08_a_chain_killed_while_it_catches_up_loses_nothing() {
    for (text, newest, missed) in [
        ("*/5 * * * * o/r check.yml catch_up=all", "07:00:00", 12),
        // Too fine to be marked: only the order of the locks shows where it stopped.
        ("@10s o/r poll.yml catch_up=all", "07:58:00", 12),
    ] {
        let outside = Outside::new();
        outside.lay(text, at(newest));
        let first = outside.chain("tick-a", 1, text);
        pause(Duration::from_millis(3_500)).await;
        first.abort();
        let before = outside.slots().len();
        assert!((1..missed).contains(&before), "{text}: {before} so far");
        let _next = outside.chain("tick-a", 2, text);
        pause(Duration::from_mins(1)).await;
        let mut slots = outside.slots();
        slots.retain(|slot| *slot <= at("08:00:00"));
        assert_eq!(slots.len(), missed, "{text}: {slots:?}");
        slots.dedup();
        assert_eq!(slots.len(), missed, "{text}: each once");
    }
}

#[tokio::test(start_paused = true)]
async fn dp_08_a_chain_reported_to_stop_while_it_catches_up_leaves_the_rest_unlocked() {
    let outside = Outside::new();
    let text = "*/5 * * * * o/r check.yml catch_up=all";
    outside.lay(text, at("07:00:00"));
    let first = outside.chain("tick-a", 1, text);
    pause(Duration::from_millis(3_500)).await;
    outside.stop();
    assert_eq!(first.await.unwrap(), Leave::Stopped);
    let left = outside.slots();
    assert_eq!(
        left,
        ["07:05:00", "07:10:00", "07:15:00", "07:20:00"].map(at),
        "the oldest first, and the one that is on time in its turn"
    );
    assert_eq!(outside.locks(), 1 + 2 * left.len(), "with their marks");
}

#[tokio::test(start_paused = true)]
async fn dp_10_a_chain_leaves_when_a_newer_run_exists_or_its_time_is_over() {
    let outside = Outside::new();
    let old = outside.chain("tick-a", 7, DAILY);
    pause(Duration::from_secs(90)).await;
    outside.newest_run(8);
    let left = timeout(Duration::from_secs(70), old)
        .await
        .expect("within a minute");
    assert_eq!(left.unwrap(), Leave::Newer { run_id: 8 });
    for (name, length) in [("tick-a", 5 * 60), ("tick-b", 5 * 60 + 30)] {
        let chain = outside.chain(name, 8, DAILY);
        let started = outside.now();
        assert_eq!(chain.await.unwrap(), Leave::Over);
        let worked = outside.now().duration_since(started);
        assert_eq!(worked, SignedDuration::from_mins(length), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn dp_09_a_chain_that_is_reported_to_stop_finishes_within_bounds() {
    let outside = Outside::new();
    let chain = outside.chain("tick-a", 1, "@10s o/r hangs.yml");
    pause(Duration::from_secs(15)).await;
    let reported_at = outside.now();
    outside.stop();
    assert_eq!(chain.await.unwrap(), Leave::Stopped);
    assert_eq!(
        outside.now().duration_since(reported_at),
        SignedDuration::from_secs(7)
    );
    let open = outside.notes().into_iter().find_map(|said| match said {
        ChainEvent::Left { open, .. } => Some(open),
        _ => None,
    });
    assert_eq!(open, Some(1), "and says what it left behind");
    let slots = outside.notes().into_iter().filter_map(|said| match said {
        ChainEvent::Unfinished { slot, .. } => Some(slot),
        _ => None,
    });
    assert_eq!(slots.collect::<Vec<_>>(), [at("08:00:10")], "by name");
}

#[tokio::test(start_paused = true)]
async fn dp_13_a_round_with_nothing_due_sends_no_request_and_never_two_lists() {
    let outside = Outside::new();
    let _chain = outside.chain("tick-a", 1, "0 20 * * * o/r daily.yml");
    pause(HOUR).await;
    let asked = outside.asked();
    assert!(asked.len() <= 61 + 7, "{}", asked.len());
    for pair in asked.windows(2) {
        assert_ne!(pair[0].1, pair[1].1, "two looks in one round: {pair:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn dp_18_one_bad_line_stops_no_other() {
    let outside = Outside::new();
    let _chain = outside.chain("tick-a", 1, "0 0 30 2 * o/r never.yml\n@10s o/r poll.yml");
    pause(Duration::from_secs(15)).await;
    assert_eq!(outside.notes_named("refused"), 1);
    assert_eq!(outside.slots(), [at("08:00:10")]);
}

/// The shortest rounds there are, and a GitHub that answers 502 at once.
#[tokio::test(start_paused = true)]
async fn sf_07_a_chain_that_sees_nothing_asks_less_and_less() {
    let outside = Outside::new();
    outside.blind(true);
    let round = SignedDuration::from_millis(100);
    let _chain = outside.chain_in(round, "tick-a", 1, "@10s o/r poll.yml");
    pause(HOUR).await;
    let asked = outside.asked().len();
    assert!((300..400).contains(&asked), "{asked} times in an hour");
    outside.blind(false);
    pause(Duration::from_secs(25)).await;
    assert!(!outside.slots().is_empty(), "and goes on soon after");
}
