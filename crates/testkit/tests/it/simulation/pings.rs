//! Two days of jobs that ping, per seed: no missed ping unreported, no ping in time called missed,
//! one verdict per slot, and what was answered is kept (DP-23).

use std::sync::Arc;

use almanack_core::{
    plan::{Reason, ScheduleWrite, Verdict},
    store::{Applied, Result, Store},
};
use almanack_testkit::layer::{Layer, Layered};
use async_trait::async_trait;

use super::{no_seed_breaks, open, seeds};
use crate::simulator::schedules::simulate_pings;

/// Fixed seeds that run unless the environment says otherwise.
const SEEDS: u64 = 30;
/// Seeds within which every missing safeguard must be noticed.
const NOTICED_WITHIN: u64 = 20;

const TROUBLES: [&str; 9] = [
    "crashes",
    "is frozen",
    "a ping got",
    "answered: true",
    " pinged",
    " no_ping",
    " never_pinged",
    "was paused",
    " paused",
];

#[test]
fn dp_23_no_seed_misses_a_ping_or_invents_one() {
    no_seed_breaks(&seeds("pings", SEEDS), &TROUBLES, |seed| {
        simulate_pings(seed, open)
    });
}

/// Changes the writes on their way down.
struct Meddle(fn(&mut ScheduleWrite));

#[async_trait]
impl Layer for Meddle {
    async fn write_schedules(
        &self,
        below: &dyn Store,
        mut writes: Vec<ScheduleWrite>,
    ) -> Result<Vec<Applied>> {
        writes.iter_mut().for_each(self.0);
        below.write_schedules(writes).await
    }
}

#[track_caller]
fn assert_noticed(meddle: fn(&mut ScheduleWrite), words: &[&str]) {
    let sabotaged = || -> Arc<dyn Store> { Layered::over(open(), Meddle(meddle)) };
    let found = (0..NOTICED_WITHIN).find_map(|seed| simulate_pings(seed, sabotaged).err());
    let broken = found.expect("a seed must notice");
    let named = words.iter().any(|words| broken.what.contains(words));
    assert!(named, "expected one of {words:?}:\n{broken}");
}

#[test]
fn a_verdict_that_is_lost_is_noticed() {
    let lose = |write: &mut ScheduleWrite| {
        let missed = Verdict::Skipped(Reason::NoPing);
        write.slots.retain(|row| row.verdict != missed);
    };
    assert_noticed(lose, &["not exactly one verdict", "nothing is missed"]);
}

#[test]
fn a_ping_that_is_answered_and_not_kept_is_noticed() {
    let lose = |write: &mut ScheduleWrite| {
        if let Some(monitor) = &mut write.monitor {
            monitor.ping = None;
        }
    };
    assert_noticed(lose, &["is not kept"]);
}

#[test]
fn a_ping_that_is_called_missed_is_noticed() {
    let lie = |write: &mut ScheduleWrite| {
        for row in &mut write.slots {
            if row.verdict == Verdict::Pinged {
                row.verdict = Verdict::Skipped(Reason::NoPing);
            }
        }
    };
    assert_noticed(lie, &["was in time"]);
}

#[test]
fn a_ping_that_is_called_missed_in_a_pause_is_noticed() {
    let lie = |write: &mut ScheduleWrite| {
        for row in &mut write.slots {
            if row.verdict == Verdict::Skipped(Reason::Paused) {
                row.verdict = Verdict::Skipped(Reason::NoPing);
            }
        }
    };
    assert_noticed(lie, &["but the monitor was paused"]);
}

#[test]
fn a_monitor_that_never_goes_down_is_noticed() {
    let deny = |write: &mut ScheduleWrite| {
        if let Some(monitor) = &mut write.monitor {
            monitor.monitor.down = None;
        }
    };
    assert_noticed(deny, &["it is not down"]);
}
