//! Writing schedules: each write whole or not at all, and only by a writer that saw the row as it
//! is.

use std::sync::Arc;

use almanack_core::{
    lang::Sentence,
    plan::{Edit, Edited, Origin, Pause, Reason, Schedule, ScheduleWrite, State, Verdict},
    reschedule::{Cancel, Change, Request},
    store::{Applied, HistoryPage, Store},
    task::{Identity, Revision, Status},
};
use almanack_testkit::fixture::{
    START, at, cancel, claim_request, fires, firing, new_schedule, next_write, put, schedule,
    schedule_name,
};
use jiff::Timestamp;

use super::{
    applied, claim_one, claimed, current, decided, done, end, keep, ledger_of, named, plant, wrote,
};

const DONE: Applied = Applied::Done { inserted: None };

fn edit(edited: Edited) -> Edit {
    Edit {
        revision: 1,
        edited,
        by: "author".to_owned(),
        note: None,
        definition: "{}".to_owned().into(),
        at: START,
    }
}

/// The identity that the next slot's firing will have.
fn coming(schedule: &Schedule) -> Identity {
    let slot_at = schedule.next_at.expect("a slot to come");
    firing(schedule, slot_at).identity
}

/// A withdrawal of a planted task, as decided from its row.
async fn withdrawal(store: &dyn Store, subject: &str, now: Timestamp) -> Change {
    plant(store, put(subject, "DISPATCH", now), now).await;
    decided(store, &Request::Cancel(cancel(subject, "DISPATCH")), now).await
}

/// Two people write the same name: the second must read what the first wrote.
pub(crate) async fn a_taken_name_is_lost_and_changes_nothing(store: Arc<dyn Store>) {
    let first = keep(&*store, schedule("daily", at(10))).await;
    assert_eq!(first.version, 1);
    let other = Schedule {
        origin: Origin::File,
        ..schedule("daily", at(20))
    };
    let second = ScheduleWrite {
        fires: vec![firing(&other, at(20))],
        edit: Some(edit(Edited::Created)),
        slots: fires(&other).slots,
        ..new_schedule(other.clone())
    };
    assert!(!wrote(&*store, second).await);
    assert_eq!(named(&*store, "daily").await, first);
    assert_eq!(ledger_of(&*store, first.id).await, []);
    assert_eq!(store.load_edits(first.id, 9).await.unwrap(), []);
    assert_eq!(current(&*store, &coming(&other)).await, None);
}

/// One batch, one name, two requests; a neighbour is not dragged along.
pub(crate) async fn of_two_new_schedules_of_one_name_the_first_is_written(store: Arc<dyn Store>) {
    let writes = vec![
        new_schedule(schedule("daily", at(10))),
        new_schedule(schedule("daily", at(20))),
        new_schedule(schedule("hourly", at(30))),
    ];
    let answers = store.write_schedules(writes).await.unwrap();
    assert_eq!(answers, [DONE, Applied::Lost, DONE]);
    assert_eq!(named(&*store, "daily").await.next_at, Some(at(10)));
    assert_eq!(named(&*store, "hourly").await.next_at, Some(at(30)));
}

/// A removed schedule comes back as itself, by a writer that read it, and with its history.
pub(crate) async fn a_removed_schedule_keeps_its_name(store: Arc<dyn Store>) {
    let written = keep(&*store, schedule("daily", at(10))).await;
    let removal = next_write(&written, |s| {
        s.state = State::Removed { since: START };
        (s.next_at, s.look_at) = (None, None);
    });
    assert!(wrote(&*store, removal).await);
    assert!(!wrote(&*store, new_schedule(schedule("daily", at(20)))).await);
    let removed = named(&*store, "daily").await;
    let back = next_write(&removed, |s| {
        s.state = State::Active;
        (s.next_at, s.look_at) = (Some(at(20)), Some(at(20)));
    });
    assert!(wrote(&*store, back).await);
    let back = named(&*store, "daily").await;
    assert_eq!((back.id, back.version), (written.id, 3));
}

/// Who saw an older row writes nothing: no row, no ledger, no firing, no edit.
pub(crate) async fn dp_05_a_stale_version_is_lost_and_changes_nothing(store: Arc<dyn Store>) {
    let seen = keep(&*store, schedule("daily", at(10))).await;
    assert!(wrote(&*store, next_write(&seen, |s| s.revision = 2)).await);
    let after = named(&*store, "daily").await;
    let stale = ScheduleWrite {
        edit: Some(edit(Edited::Paused)),
        ..fires(&seen)
    };
    assert!(!wrote(&*store, stale).await);
    assert_eq!(named(&*store, "daily").await, after);
    assert_eq!(ledger_of(&*store, seen.id).await, []);
    assert_eq!(store.load_edits(seen.id, 9).await.unwrap(), []);
    assert_eq!(current(&*store, &coming(&seen)).await, None);
}

/// A lost reply: asked again, the write finds its own effect and does not double it.
pub(crate) async fn dp_05_a_repeated_write_is_lost_and_not_doubled(store: Arc<dyn Store>) {
    let seen = keep(&*store, schedule("daily", at(10))).await;
    assert!(wrote(&*store, fires(&seen)).await);
    let after = named(&*store, "daily").await;
    assert!(!wrote(&*store, fires(&seen)).await);
    assert_eq!(named(&*store, "daily").await, after);
    assert_eq!(ledger_of(&*store, seen.id).await, fires(&seen).slots);
}

/// However many nodes plan a slot at once, one fires it and one ledger row says so.
pub(crate) async fn dp_05_of_eight_concurrent_writers_one_fires(store: Arc<dyn Store>) {
    for round in 0..5 {
        let name = format!("race-{round}");
        let seen = keep(&*store, schedule(&name, at(10))).await;
        let mut racers = Vec::new();
        for node in 0..8 {
            let mut write = fires(&seen);
            write.slots[0].detail = Some(format!("node {node}"));
            let store = Arc::clone(&store);
            racers.push(tokio::spawn(async move { wrote(&*store, write).await }));
        }
        let mut winners = Vec::new();
        for (node, racer) in racers.into_iter().enumerate() {
            if racer.await.expect("a racer") {
                winners.push(Some(format!("node {node}")));
            }
        }
        let slots: Vec<_> = ledger_of(&*store, seen.id)
            .await
            .into_iter()
            .map(|slot| slot.detail)
            .collect();
        assert_eq!(winners.len(), 1, "{winners:?}");
        assert_eq!(slots, winners, "the ledger row is the winner's");
        assert_eq!(named(&*store, &name).await.version, 2);
        let records = store
            .load_history(&coming(&seen), HistoryPage::WHOLE)
            .await
            .unwrap();
        assert_eq!(records.tasks.len(), 1);
    }
}

/// The same within one call.
pub(crate) async fn dp_05_of_two_writes_of_one_version_in_one_batch_the_first_is_done(
    store: Arc<dyn Store>,
) {
    let seen = keep(&*store, schedule("daily", at(10))).await;
    let second = next_write(&seen, |s| s.next_at = Some(at(99)));
    let answers = store
        .write_schedules(vec![fires(&seen), second])
        .await
        .unwrap();
    assert_eq!(answers, [DONE, Applied::Lost]);
    let after = named(&*store, "daily").await;
    assert_eq!((after.version, after.next_at), (2, Some(at(20))));
}

/// A batch keeps each schedule's own order: the second write may build on the first.
pub(crate) async fn a_batch_may_write_a_schedule_twice(store: Arc<dyn Store>) {
    let seen = keep(&*store, schedule("daily", at(10))).await;
    let first = fires(&seen);
    let second = fires(&first.schedule);
    let other = new_schedule(schedule("hourly", at(10)));
    let answers = store
        .write_schedules(vec![first, second, other])
        .await
        .unwrap();
    assert_eq!(answers, [DONE; 3]);
    let after = named(&*store, "daily").await;
    assert_eq!((after.version, after.next_at), (3, Some(at(30))));
    assert_eq!(ledger_of(&*store, seen.id).await.len(), 2);
}

/// One that is lost affects no other (DP-18), and answers come in the order of requests.
pub(crate) async fn dp_18_a_lost_write_leaves_its_neighbours(store: Arc<dyn Store>) {
    let mut kept = Vec::new();
    for n in 0..7 {
        kept.push(keep(&*store, schedule(&format!("s{n}"), at(10))).await);
    }
    assert!(wrote(&*store, next_write(&kept[3], |s| s.revision = 9)).await);
    let lost = withdrawal(&*store, "lost", at(5)).await;
    assert_eq!(claimed(&*store, claim_request(1, at(5), 9)).await.len(), 1);
    let mut writes: Vec<ScheduleWrite> = kept.iter().rev().map(fires).collect();
    writes[1].cancels = vec![lost];
    let answers = store.write_schedules(writes).await.unwrap();
    let expected = [DONE, Applied::Lost, DONE, Applied::Lost, DONE, DONE, DONE];
    assert_eq!(answers, expected);
    for (schedule, answer) in kept.iter().rev().zip(answers) {
        let fired = current(&*store, &coming(schedule)).await.is_some();
        assert_eq!(fired, answer == DONE, "{}", schedule.name);
    }
}

/// Fired by hand before its time: the slot is decided, the firing that exists is not touched.
pub(crate) async fn dp_05_a_firing_that_exists_is_left_alone(store: Arc<dyn Store>) {
    let seen = keep(&*store, schedule("daily", at(10))).await;
    let subject = coming(&seen).subject;
    plant(&*store, put(subject.as_str(), "DISPATCH", at(1)), START).await;
    let by_hand = claim_one(&*store, 1, at(1)).await;
    end(&*store, &by_hand, &done(), at(2)).await;
    let before = current(&*store, &coming(&seen)).await;
    assert!(wrote(&*store, fires(&seen)).await);
    assert_eq!(current(&*store, &coming(&seen)).await, before);
    assert_eq!(ledger_of(&*store, seen.id).await, fires(&seen).slots);
    assert_eq!(claimed(&*store, claim_request(2, at(99), 9)).await, []);
}

/// A tombstone is where the firing would be: nothing fires, and the ledger does not say that it
/// did. Its neighbour fires.
pub(crate) async fn sf_04_a_slot_whose_firing_was_cancelled_before_is_not_noted_as_fired(
    store: Arc<dyn Store>,
) {
    let (seen, other) = (
        keep(&*store, schedule("daily", at(10))).await,
        keep(&*store, schedule("other", at(10))).await,
    );
    let subject = coming(&seen).subject;
    let ahead = Cancel {
        revision: Some(Revision(9)),
        ..cancel(subject.as_str(), "DISPATCH")
    };
    let tombstone = decided(&*store, &Request::Cancel(ahead), START).await;
    assert_ne!(applied(&*store, tombstone).await, Applied::Lost);
    let writes = vec![fires(&seen), fires(&other)];
    assert_eq!(store.write_schedules(writes).await.unwrap(), [DONE, DONE]);
    let slots = ledger_of(&*store, seen.id).await;
    let verdicts: Vec<Verdict> = slots.iter().map(|slot| slot.verdict).collect();
    assert_eq!(verdicts, [Verdict::Skipped(Reason::Cancelled)]);
    let row = current(&*store, &coming(&seen)).await.unwrap();
    assert_eq!(row.status, Status::Cancelled, "it is left alone");
    assert_eq!(ledger_of(&*store, other.id).await, fires(&other).slots);
    let claimed = claim_one(&*store, 1, at(10)).await;
    assert_eq!(claimed.identity, coming(&other));
}

/// A firing is a task like any other: due at its time, not before, and once.
pub(crate) async fn dp_05_a_firing_is_claimed_at_its_time(store: Arc<dyn Store>) {
    let seen = keep(&*store, schedule("daily", at(10))).await;
    let mut write = fires(&seen);
    write.fires[0].execute_at = at(12);
    assert!(wrote(&*store, write).await);
    assert_eq!(claimed(&*store, claim_request(1, at(11), 9)).await, []);
    let firing = claim_one(&*store, 2, at(12)).await;
    assert_eq!(firing.identity, coming(&seen));
    assert_eq!(claimed(&*store, claim_request(3, at(99), 9)).await, []);
    let row = current(&*store, &firing.identity).await.unwrap();
    assert_eq!(row.origin, "schedule daily");
    assert_eq!(row.created_at, at(10), "when its slot was decided");
}

/// The predecessor gives way in the same moment its successor is written.
pub(crate) async fn dp_17_a_withdrawal_is_carried_out_with_its_write(store: Arc<dyn Store>) {
    let seen = keep(&*store, schedule("daily", at(10))).await;
    let change = withdrawal(&*store, "before", at(5)).await;
    let write = ScheduleWrite {
        cancels: vec![change],
        ..fires(&seen)
    };
    assert!(wrote(&*store, write).await);
    let before = current(&*store, &cancel("before", "DISPATCH").identity).await;
    assert_eq!(before.unwrap().status, Status::Cancelled);
    assert!(current(&*store, &coming(&seen)).await.is_some());
}

/// The predecessor moved on meanwhile: nothing of the write is left, and it must be decided again.
pub(crate) async fn dp_17_a_lost_withdrawal_undoes_the_whole_write(store: Arc<dyn Store>) {
    let seen = keep(&*store, schedule("daily", at(10))).await;
    let change = withdrawal(&*store, "before", at(5)).await;
    let before = claim_one(&*store, 1, at(5)).await;
    let write = ScheduleWrite {
        cancels: vec![change],
        edit: Some(edit(Edited::Changed)),
        ..fires(&seen)
    };
    assert!(!wrote(&*store, write.clone()).await);
    assert_eq!(named(&*store, "daily").await, seen);
    assert_eq!(ledger_of(&*store, seen.id).await, []);
    assert_eq!(store.load_edits(seen.id, 9).await.unwrap(), []);
    assert_eq!(current(&*store, &coming(&seen)).await, None);
    let row = current(&*store, &before.identity).await.unwrap();
    assert_eq!(row.status, Status::Running);
}

/// A withdrawal whose schedule was lost is not carried out either.
pub(crate) async fn dp_17_a_lost_write_withdraws_nothing(store: Arc<dyn Store>) {
    let seen = keep(&*store, schedule("daily", at(10))).await;
    let change = withdrawal(&*store, "before", at(5)).await;
    assert!(wrote(&*store, next_write(&seen, |s| s.revision = 2)).await);
    let write = ScheduleWrite {
        cancels: vec![change.clone()],
        ..fires(&seen)
    };
    assert!(!wrote(&*store, write).await);
    let row = current(&*store, &cancel("before", "DISPATCH").identity).await;
    assert_eq!(row.unwrap().status, Status::Init);
    assert_eq!(applied(&*store, change).await, DONE, "it still holds");
}

/// Several may run beside each other; the successor comes after the end of them all.
pub(crate) async fn dp_17_several_withdrawals_hold_together_or_not_at_all(store: Arc<dyn Store>) {
    let seen = keep(&*store, schedule("daily", at(10))).await;
    let claimed = withdrawal(&*store, "claimed", at(5)).await;
    let running = claim_one(&*store, 1, at(5)).await;
    let waiting = withdrawal(&*store, "waiting", at(5)).await;
    let write = ScheduleWrite {
        cancels: vec![waiting.clone(), claimed],
        ..fires(&seen)
    };
    assert!(!wrote(&*store, write.clone()).await, "one moved on");
    assert_eq!(named(&*store, "daily").await, seen);
    let identity = cancel("waiting", "DISPATCH").identity;
    let row = current(&*store, &identity).await.unwrap();
    assert_eq!(row.status, Status::Init, "the other is not withdrawn");
    let request = Request::Cancel(cancel("claimed", "DISPATCH"));
    let again = decided(&*store, &request, at(6)).await;
    let write = ScheduleWrite {
        cancels: vec![waiting, again],
        ..write
    };
    assert!(wrote(&*store, write).await);
    for identity in [identity, running.identity] {
        let row = current(&*store, &identity).await.unwrap();
        assert_eq!(row.status, Status::Cancelled, "{identity}");
    }
}

/// Every state with all it may say, and every field that may be missing.
pub(crate) async fn every_state_and_field_survives(store: Arc<dyn Store>) {
    let pause = |until, note: Option<&str>| {
        State::Paused(Pause {
            since: at(-60),
            until,
            note: note.map(str::to_owned),
            by: "编辑 O'Neil".to_owned(),
        })
    };
    let states = [
        State::Active,
        pause(Some(at(3600)), Some("移库 \"until\" noon")),
        pause(None, None),
        State::Parked {
            since: at(-1),
            reason: Sentence::new("unknown time zone `Mars/Base`", "未知的时区 `Mars/Base`"),
        },
        State::Removed { since: at(7) },
    ];
    let mut written = keep(&*store, schedule("daily", at(10))).await;
    let full = firing(&written, at(10)).identity.subject;
    for state in states {
        for some in [true, false] {
            let write = next_write(&written, |s| {
                s.state = state.clone();
                s.origin = if some { Origin::File } else { Origin::Dispatch };
                s.definition = format!(r#"{{"some":{some}}}"#).into();
                s.revision += 1;
                s.next_at = some.then_some(at(11));
                s.waits_since = some.then_some(at(12));
                s.look_at = some.then_some(at(13));
                s.last = some.then(|| full.clone());
                s.beside = if some {
                    vec![full.clone(); 2]
                } else {
                    Vec::new()
                };
                s.changed_at = at(14);
            });
            let expected = write.schedule.clone();
            assert!(wrote(&*store, write).await);
            written = named(&*store, "daily").await;
            assert_eq!(written, expected);
        }
    }
}

/// A file of thousands of schedules is one call.
pub(crate) async fn a_large_batch_of_schedules_is_answered_in_full(store: Arc<dyn Store>) {
    const COUNT: usize = 1_000;
    let new = |n: usize| new_schedule(schedule(&format!("s{n}"), at(10)));
    let answers = store
        .write_schedules((0..COUNT).map(new).collect())
        .await
        .unwrap();
    assert_eq!(answers, [DONE; COUNT]);
    let due = store.load_due_schedules(at(10), COUNT).await.unwrap();
    let answers = store
        .write_schedules(due.schedules.iter().map(fires).collect())
        .await
        .unwrap();
    assert_eq!(answers, [DONE; COUNT]);
    let fired = claimed(&*store, claim_request(1, at(10), 2 * COUNT)).await;
    assert_eq!(fired.len(), COUNT);
    assert_eq!(store.write_schedules(Vec::new()).await.unwrap(), []);
}

/// In the order asked, also for names that are unknown or asked for twice.
pub(crate) async fn schedules_come_in_the_order_asked(store: Arc<dyn Store>) {
    let b = keep(&*store, schedule("b", at(10))).await;
    let a = keep(&*store, schedule("a", at(10))).await;
    let names = ["b", "none", "a", "b"].map(schedule_name);
    let found = store.load_schedules(&names).await.unwrap();
    assert_eq!(found, [Some(b.clone()), None, Some(a), Some(b)]);
    assert_eq!(store.load_schedules(&[]).await.unwrap(), []);
}
