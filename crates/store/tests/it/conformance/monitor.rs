//! Monitors: what was heard is written with the schedule or not at all (DP-23).

use std::sync::Arc;

use almanack_core::{
    plan::{
        Down, DownCause, Monitor, MonitorWrite, PINGS_KEPT, Ping, PingKind, Schedule, ScheduleId,
        ScheduleWrite, Started, State,
    },
    store::{MonitorKey, MonitorKeys, Store},
};
use almanack_testkit::fixture::{at, next_write, schedule};
use jiff::SignedDuration;

use super::{keep, named, wrote};

fn ping(number: u64) -> Ping {
    Ping {
        number,
        at: at(i64::try_from(number).unwrap_or(0)),
        kind: PingKind::Fail,
        exit_status: Some(255),
        rid: Some("0b4f0e2e-2f9b-4f6c-9a51-6f3d2c1b0a99".to_owned()),
        took: Some(SignedDuration::from_micros(1_234_567)),
        method: "POST".to_owned(),
        body: Some(format!("由 O'Neil {number}\n")),
    }
}

fn plain(number: u64) -> Ping {
    Ping {
        kind: PingKind::Success,
        exit_status: None,
        rid: None,
        took: None,
        body: None,
        ..ping(number)
    }
}

fn down(since: i64) -> Down {
    Down {
        since: at(since),
        cause: DownCause::NoPing,
        detail: "no ping".to_owned(),
    }
}

fn heard(seen: &Schedule, monitor: Monitor, ping: Option<Ping>) -> ScheduleWrite {
    ScheduleWrite {
        monitor: Some(MonitorWrite {
            monitor,
            down_before: None,
            ping,
        }),
        ..next_write(seen, |_| ())
    }
}

/// Writes what was heard, which must not be lost.
async fn hear(store: &dyn Store, name: &str, monitor: Monitor, ping: Option<Ping>) -> ScheduleId {
    let seen = named(store, name).await;
    assert!(wrote(store, heard(&seen, monitor, ping)).await);
    seen.id
}

async fn keep_monitor(store: &dyn Store, name: &str) -> ScheduleId {
    keep(store, schedule(name, at(0))).await;
    hear(store, name, Monitor::default(), None).await
}

async fn monitor_of(store: &dyn Store, id: ScheduleId) -> Option<Monitor> {
    store.load_monitors(&[id]).await.expect("load").remove(0)
}

pub(crate) async fn dp_23_what_was_heard_survives(store: Arc<dyn Store>) {
    let id = keep_monitor(&*store, "backup").await;
    assert_eq!(monitor_of(&*store, id).await, Some(Monitor::default()));
    assert_eq!(monitor_of(&*store, ScheduleId(id.0 + 9)).await, None);
    let full = Monitor {
        pings: 7,
        last_ping_at: Some(at(70)),
        last_ping: Some(PingKind::Fail),
        last_took: Some(SignedDuration::from_millis(90_500)),
        started: Some(Started {
            at: at(80),
            rid: Some("0b4f0e2e-2f9b-4f6c-9a51-6f3d2c1b0a99".to_owned()),
        }),
        down: Some(down(75)),
    };
    hear(&*store, "backup", full.clone(), Some(ping(7))).await;
    assert_eq!(monitor_of(&*store, id).await, Some(full));
    let kept = store.load_pings(id, u64::MAX, 10).await.expect("pings");
    assert_eq!(kept, [ping(7)]);
}

/// Of two writers that saw the same row one is heard.
pub(crate) async fn dp_23_a_lost_write_keeps_no_ping(store: Arc<dyn Store>) {
    let id = keep_monitor(&*store, "backup").await;
    let seen = named(&*store, "backup").await;
    let first = Monitor {
        pings: 1,
        ..Monitor::default()
    };
    let second = Monitor {
        down: Some(down(3)),
        ..Monitor::default()
    };
    assert!(wrote(&*store, heard(&seen, first.clone(), Some(plain(1)))).await);
    assert!(!wrote(&*store, heard(&seen, second, Some(ping(1)))).await);
    assert_eq!(monitor_of(&*store, id).await, Some(first));
    let kept = store.load_pings(id, u64::MAX, 10).await.expect("pings");
    assert_eq!(kept, [plain(1)]);
    assert!(store.load_down_monitors(9).await.expect("down").is_empty());
}

pub(crate) async fn dp_23_the_newest_pings_are_kept(store: Arc<dyn Store>) {
    let id = keep_monitor(&*store, "backup").await;
    let other = keep_monitor(&*store, "other").await;
    hear(&*store, "other", Monitor::default(), Some(plain(1))).await;
    for number in 1..=PINGS_KEPT + 5 {
        hear(&*store, "backup", Monitor::default(), Some(plain(number))).await;
    }
    let kept = store.load_pings(id, u64::MAX, 1_000).await.expect("pings");
    let numbers: Vec<u64> = kept.iter().map(|ping| ping.number).collect();
    let expected: Vec<u64> = (6..=PINGS_KEPT + 5).rev().collect();
    assert_eq!(numbers, expected);
    let page = store.load_pings(id, 9, 2).await.expect("pings");
    let numbers: Vec<u64> = page.iter().map(|ping| ping.number).collect();
    assert_eq!(numbers, [8, 7]);
    let others = store.load_pings(other, u64::MAX, 9).await.expect("pings");
    assert_eq!(others.len(), 1, "another's are its own");
}

pub(crate) async fn dp_23_a_key_names_one_monitor(store: Arc<dyn Store>) {
    let id = keep_monitor(&*store, "backup").await;
    let other = keep_monitor(&*store, "other").await;
    let keys = MonitorKeys {
        ping_hash: Some("aa".to_owned()),
        badge: Some("bb".to_owned()),
    };
    assert!(store.save_monitor_keys(id, &keys).await.expect("save"));
    assert_eq!(store.load_monitor_keys(id).await.expect("keys"), keys);
    // What was heard since does not touch them.
    hear(&*store, "backup", Monitor::default(), Some(plain(1))).await;
    assert_eq!(store.load_monitor_keys(id).await.expect("keys"), keys);
    let find = async |key: MonitorKey| {
        let found = store.find_monitor(&key).await.expect("find");
        found.map(|name| name.to_string())
    };
    assert_eq!(
        find(MonitorKey::Ping("aa".to_owned())).await.as_deref(),
        Some("backup")
    );
    assert_eq!(
        find(MonitorKey::Badge("bb".to_owned())).await.as_deref(),
        Some("backup")
    );
    assert_eq!(
        find(MonitorKey::Ping("bb".to_owned())).await,
        None,
        "a badge is no ping key"
    );
    assert_eq!(find(MonitorKey::Badge("aa".to_owned())).await, None);
    assert!(
        !store.save_monitor_keys(other, &keys).await.expect("save"),
        "taken"
    );
    assert_eq!(
        store.load_monitor_keys(other).await.expect("keys"),
        MonitorKeys::default()
    );
    let none = MonitorKeys::default();
    assert!(
        store.save_monitor_keys(other, &none).await.expect("save"),
        "no key is nobody's"
    );
    assert!(store.save_monitor_keys(id, &none).await.expect("save"));
    assert_eq!(
        find(MonitorKey::Ping("aa".to_owned())).await,
        None,
        "taken away"
    );
    let missing = ScheduleId(other.0 + 9);
    assert!(!store.save_monitor_keys(missing, &keys).await.expect("save"));
}

pub(crate) async fn dp_23_those_that_are_down_are_found_longest_first(store: Arc<dyn Store>) {
    let is_down = |since| Monitor {
        down: Some(down(since)),
        ..Monitor::default()
    };
    for (name, since) in [("a", 30), ("b", 10), ("c", 20), ("paused", 5)] {
        keep_monitor(&*store, name).await;
        hear(&*store, name, is_down(since), None).await;
    }
    keep_monitor(&*store, "up").await;
    keep(&*store, schedule("no-monitor", at(0))).await;
    let seen = named(&*store, "paused").await;
    let removed = next_write(&seen, |after| {
        after.state = State::Removed { since: at(40) }
    });
    assert!(wrote(&*store, removed).await);
    let names = async |limit| -> Vec<String> {
        let down = store.load_down_monitors(limit).await.expect("down");
        down.iter().map(ToString::to_string).collect()
    };
    assert_eq!(names(9).await, ["b", "c", "a"]);
    assert_eq!(names(2).await, ["b", "c"]);
    let mut listed = Vec::new();
    let mut after = ScheduleId(0);
    loop {
        let page = store.list_monitors(after, 2).await.expect("list");
        listed.extend(page.rows.iter().map(|it| it.name.to_string()));
        let Some(next) = page.next else { break };
        after = next;
    }
    assert_eq!(
        listed,
        ["a", "b", "c", "up"],
        "monitors, without removed ones"
    );
}
