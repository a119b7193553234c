//! What became of every slot, and what people did to a schedule.

use std::sync::Arc;

use almanack_core::{
    plan::{
        Edit, Edited, Reason, Schedule, ScheduleId, ScheduleWrite, Slot, Verdict, manual_identity,
        slot_identity,
    },
    reschedule::{Put, Request, decide},
    store::{Applied, LedgerPage, Store},
    task::Identity,
};
use almanack_testkit::fixture::{
    at, fires, new_schedule, next_write, schedule, schedule_name, slot,
};
use jiff::{SignedDuration, Timestamp};

use super::{keep, ledger_of, named, wrote};

/// Writes ledger rows of a schedule, which must not be lost.
async fn note(store: &dyn Store, name: &str, slots: Vec<Slot>) -> ScheduleId {
    let seen = named(store, name).await;
    let write = ScheduleWrite {
        slots,
        ..next_write(&seen, |_| ())
    };
    assert!(wrote(store, write).await);
    seen.id
}

async fn page(store: &dyn Store, id: ScheduleId, before: Timestamp, limit: usize) -> Vec<Slot> {
    let page = LedgerPage { before, limit };
    store.load_slots(id, page).await.expect("load_slots")
}

/// Every verdict, several slots in one row, with what was said about them.
pub(crate) async fn dp_16_every_verdict_survives(store: Arc<dyn Store>) {
    keep(&*store, schedule("daily", at(0))).await;
    let skipped = Reason::ALL.map(Verdict::Skipped);
    let verdicts = [Verdict::Fired, Verdict::CaughtUp, Verdict::Pinged]
        .into_iter()
        .chain(skipped);
    let mut rows: Vec<Slot> = verdicts
        .zip(0..)
        .map(|(verdict, n)| Slot {
            last_at: at(n * 100 + 90),
            slots: 10,
            detail: (n % 2 == 0).then(|| format!("由 O'Neil 暂停 {n}")),
            revision: n + 3,
            decided_at: at(n + 5_000),
            ..slot(at(n * 100), verdict)
        })
        .collect();
    let id = note(&*store, "daily", rows.clone()).await;
    rows.reverse();
    assert_eq!(ledger_of(&*store, id).await, rows);
}

/// A slot is decided once. A clock that runs a moment behind cannot decide it again.
pub(crate) async fn dp_16_a_decided_slot_stays_unchanged(store: Arc<dyn Store>) {
    keep(&*store, schedule("daily", at(10))).await;
    note(&*store, "daily", vec![slot(at(10), Verdict::Fired)]).await;
    let again = vec![
        slot(at(10), Verdict::Skipped(Reason::Overlap)),
        slot(at(20), Verdict::Fired),
    ];
    let id = note(&*store, "daily", again).await;
    let decided: Vec<_> = ledger_of(&*store, id)
        .await
        .iter()
        .map(|slot| (slot.slot_at, slot.verdict))
        .collect();
    assert_eq!(
        decided,
        [(at(20), Verdict::Fired), (at(10), Verdict::Fired)]
    );
}

/// A new schedule may come with its first slots, firings and edit.
pub(crate) async fn dp_16_a_new_schedule_may_come_with_its_first_slots(store: Arc<dyn Store>) {
    let new = schedule("daily", at(10));
    let write = fires(&new);
    let write = ScheduleWrite {
        seen: None,
        edit: Some(edit(1, Edited::Created, at(10))),
        ..write
    };
    assert!(wrote(&*store, write.clone()).await);
    let written = named(&*store, "daily").await;
    assert_eq!(written.version, 1, "counted from 1");
    assert_eq!(ledger_of(&*store, written.id).await, write.slots);
    let edits = store.load_edits(written.id, 9).await.unwrap();
    assert_eq!(edits, write.edit.into_iter().collect::<Vec<_>>());
}

/// Newest first, each row once, and each ledger its own.
pub(crate) async fn dp_16_pages_of_a_ledger_cover_every_row_once(store: Arc<dyn Store>) {
    for name in ["daily", "hourly"] {
        keep(&*store, schedule(name, at(0))).await;
    }
    let fired = |n: i64| slot(at(n * 10), Verdict::Fired);
    let mut expected: Vec<Slot> = (0..23).map(fired).collect();
    let id = note(&*store, "daily", expected.clone()).await;
    note(&*store, "hourly", vec![slot(at(5), Verdict::CaughtUp)]).await;
    expected.reverse();
    let mut seen: Vec<Slot> = Vec::new();
    loop {
        let before = seen.last().map_or(Timestamp::MAX, |slot| slot.slot_at);
        let next = page(&*store, id, before, 5).await;
        assert!(next.len() <= 5);
        if next.is_empty() {
            break;
        }
        seen.extend(next);
    }
    assert_eq!(seen, expected);
    let newest = page(&*store, id, at(100), 1).await;
    assert_eq!(newest, [fired(9)], "before, not at");
    assert_eq!(page(&*store, ScheduleId(404), Timestamp::MAX, 9).await, []);
}

/// By the last slot of a row, oldest first, no more than asked for, and of all schedules.
pub(crate) async fn old_ledger_rows_are_pruned(store: Arc<dyn Store>) {
    for name in ["daily", "hourly"] {
        keep(&*store, schedule(name, at(0))).await;
    }
    let long = Slot {
        last_at: at(100),
        slots: 11,
        ..slot(at(0), Verdict::Skipped(Reason::Paused))
    };
    let daily = vec![long.clone(), slot(at(110), Verdict::Fired)];
    let daily = note(&*store, "daily", daily).await;
    let old = (0..5).map(|n| slot(at(n), Verdict::Fired)).collect();
    let hourly = note(&*store, "hourly", old).await;
    assert_eq!(store.prune_slots(at(100), 3).await.unwrap(), 3);
    let left: Vec<_> = ledger_of(&*store, hourly)
        .await
        .iter()
        .map(|slot| slot.slot_at)
        .collect();
    assert_eq!(left, [at(4), at(3)], "the oldest went");
    assert_eq!(store.prune_slots(at(100), 9).await.unwrap(), 2);
    assert_eq!(ledger_of(&*store, daily).await.len(), 2, "until, not at");
    assert_eq!(store.prune_slots(at(101), 9).await.unwrap(), 1);
    assert_eq!(
        ledger_of(&*store, daily).await,
        [slot(at(110), Verdict::Fired)]
    );
    assert_eq!(store.prune_slots(at(101), 9).await.unwrap(), 0);
}

fn edit(revision: i64, edited: Edited, when: Timestamp) -> Edit {
    Edit {
        revision,
        edited,
        by: "编辑 O'Neil".to_owned(),
        note: (revision % 2 == 0).then(|| "移库 \"until\" noon".to_owned()),
        definition: format!(r#"{{"revision":{revision}}}"#).into(),
        at: when,
    }
}

/// Oldest first; a limit keeps the newest. Two may be of one revision: what the planner found out
/// is returned too.
pub(crate) async fn edits_are_reported_oldest_first(store: Arc<dyn Store>) {
    let mut seen: Schedule = keep(&*store, schedule("daily", at(0))).await;
    assert!(wrote(&*store, new_schedule(schedule("other", at(0)))).await);
    let mut expected = Vec::new();
    for (edited, n) in Edited::ALL.into_iter().zip(0..) {
        let edit = edit(n / 2, edited, at(n));
        expected.push(edit.clone());
        let write = ScheduleWrite {
            edit: Some(edit),
            ..next_write(&seen, |_| ())
        };
        assert!(wrote(&*store, write).await);
        seen = named(&*store, "daily").await;
    }
    assert_eq!(store.load_edits(seen.id, 99).await.unwrap(), expected);
    let newest = &expected[expected.len() - 2..];
    assert_eq!(store.load_edits(seen.id, 2).await.unwrap(), newest);
    let other = named(&*store, "other").await.id;
    assert_eq!(store.load_edits(other, 99).await.unwrap(), []);
}

/// In the same write that decides anew: no slot is left with two rows, and none of another schedule
/// goes.
pub(crate) async fn dp_24_slots_decided_ahead_are_found_and_taken_back(store: Arc<dyn Store>) {
    for name in ["daily", "other"] {
        keep(&*store, schedule(name, at(10))).await;
        let rows = (1..=4).map(|n| slot(at(n * 10), Verdict::Fired)).collect();
        note(&*store, name, rows).await;
    }
    let ahead = async |after| {
        let names = store.load_decided_ahead(after, 9).await.unwrap();
        let names = names.iter().map(|name| name.as_str().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(ahead(at(40)).await, [""; 0]);
    assert_eq!(ahead(at(39)).await, ["daily", "other"]);
    assert_eq!(store.load_decided_ahead(at(0), 1).await.unwrap().len(), 1);
    let seen = named(&*store, "daily").await;
    let anew = slot(at(30), Verdict::Skipped(Reason::Paused));
    let write = ScheduleWrite {
        takes_back: Some(at(30)),
        slots: vec![anew.clone()],
        ..next_write(&seen, |_| ())
    };
    assert!(wrote(&*store, write).await);
    let left = [
        anew,
        slot(at(20), Verdict::Fired),
        slot(at(10), Verdict::Fired),
    ];
    assert_eq!(ledger_of(&*store, seen.id).await, left);
    assert_eq!(ahead(at(30)).await, ["other"]);
}

/// Those that people asked for, of this schedule alone, whatever else fired.
pub(crate) async fn dp_16_firings_by_hand_are_found_by_their_times(store: Arc<dyn Store>) {
    let daily = schedule_name("daily");
    let other = schedule_name("daily-2");
    let plant = |identity: Identity, origin: &'static str| {
        let store = Arc::clone(&store);
        async move {
            let put = Request::Put(Put::at(identity, at(0)));
            let change = decide(None, &put, origin, at(1_000)).unwrap();
            let applied = store.apply(vec![change]).await.unwrap();
            assert!(matches!(applied[..], [Applied::Done { .. }]));
        }
    };
    for n in [10, 20, 30, 40] {
        plant(slot_identity(&daily, at(n)).unwrap(), "schedule daily").await;
    }
    plant(slot_identity(&daily, at(15)).unwrap(), "api:ada").await;
    plant(slot_identity(&daily, at(25)).unwrap(), "api:ada").await;
    let manual = at(25) + SignedDuration::from_millis(500);
    plant(manual_identity(&daily, manual).unwrap(), "cli:bob").await;
    plant(manual_identity(&other, at(26)).unwrap(), "cli:bob").await;
    let found = async |from: Timestamp, before: Timestamp, limit: usize| {
        let page = LedgerPage { before, limit };
        let found = store.load_fired_by_hand(&daily, from, page).await.unwrap();
        let found = found.into_iter();
        found.map(|it| (it.slot_at, it.by)).collect::<Vec<_>>()
    };
    let ada = |n| (at(n), "api:ada".to_owned());
    let bob = (manual, "cli:bob".to_owned());
    let all = vec![bob.clone(), ada(25), ada(15)];
    assert_eq!(found(Timestamp::MIN, Timestamp::MAX, 9).await, all);
    assert_eq!(found(Timestamp::MIN, Timestamp::MAX, 2).await, all[..2]);
    assert_eq!(found(at(16), at(25), 9).await, []);
    assert_eq!(found(at(15), manual, 9).await, [ada(25), ada(15)]);
    assert_eq!(found(manual, Timestamp::MAX, 9).await, [bob]);
}
