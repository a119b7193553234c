//! The sentences of `almanack why`.

use insta::assert_snapshot;

use super::*;
use crate::{
    fixture::{self, Standing},
    lang::Lang,
    task::Task,
};

fn row(verdict: Verdict, slots: u64, detail: Option<&str>) -> Slot {
    Slot {
        slot_at: at("08:00:00"),
        last_at: at(if slots > 1 { "10:00:00" } else { "08:00:00" }),
        slots,
        verdict,
        detail: detail.map(str::to_owned),
        revision: 1,
        decided_at: at("10:05:00"),
    }
}

fn facts<'a>(row: Option<&'a Slot>, state: &'a State) -> Facts<'a> {
    Facts {
        at: at("08:00:00"),
        rule: "`nightly` (`0 * * * *` in UTC)",
        is_slot: true,
        excluded: None,
        neighbours: (Some(at("07:00:00")), Some(at("09:00:00"))),
        created_at: at(CREATED),
        in_force: None,
        state,
        next_at: Some(at("08:00:00")),
        waits_since: None,
        row,
        earlier_kept: false,
        firing: None,
        followed: None,
        cancelled: None,
        delay: Delay::default(),
        is_monitor: false,
        now: at("12:00:00"),
    }
}

#[test]
fn dp_16_every_answer_is_one_sentence_from_stored_facts() {
    let active = State::Active;
    let mut sentences = Vec::new();
    for (verdict, slots, detail) in [
        (Verdict::Fired, 1, None),
        (Verdict::CaughtUp, 1, None),
        (
            Verdict::Skipped(Reason::Paused),
            3,
            Some("by ada: moving house"),
        ),
        (Verdict::Skipped(Reason::TooLate), 1, None),
        (Verdict::Skipped(Reason::NotCaughtUp), 3, None),
        (Verdict::Skipped(Reason::OverCap), 3, None),
        (
            Verdict::Skipped(Reason::Overlap),
            1,
            Some("schedule:nightly@2026-01-05T07:00:00Z"),
        ),
        (Verdict::Skipped(Reason::Changed), 1, None),
        (Verdict::Skipped(Reason::Cancelled), 1, None),
    ] {
        sentences.push(why(
            &facts(Some(&row(verdict, slots, detail)), &active),
            Lang::English,
        ));
    }
    assert_snapshot!(sentences.join("\n"), @"
    2026-01-05T08:00:00Z fired 2 h 5 min after its time; its firing is no longer kept.
    2026-01-05T08:00:00Z was missed and caught up 2 h 5 min after its time; its firing is no longer kept.
    2026-01-05T08:00:00Z was skipped: the schedule was paused by ada: moving house (one of 3 in a row, 2026-01-05T08:00:00Z to 2026-01-05T10:00:00Z).
    2026-01-05T08:00:00Z was skipped: no node planned it until 2026-01-05T10:05:00Z, 2 h 5 min late, which is more than its grace.
    2026-01-05T08:00:00Z was skipped: no node planned it until 2026-01-05T10:05:00Z, and its catch-up policy skips it (one of 3 in a row, 2026-01-05T08:00:00Z to 2026-01-05T10:00:00Z).
    2026-01-05T08:00:00Z was skipped: more slots were missed until 2026-01-05T10:05:00Z than max_catch_up allows (one of 3 in a row, 2026-01-05T08:00:00Z to 2026-01-05T10:00:00Z).
    2026-01-05T08:00:00Z was skipped: schedule:nightly@2026-01-05T07:00:00Z had not ended at 2026-01-05T10:05:00Z.
    2026-01-05T08:00:00Z was skipped: it was waiting for the slot before it when the schedule was changed at 2026-01-05T10:05:00Z.
    2026-01-05T08:00:00Z was skipped: its firing had been cancelled before 2026-01-05T10:05:00Z.
    ");
}

#[test]
fn dp_24_what_a_wrong_clock_decided_is_reported_as_that() {
    let active = State::Active;
    let mut sentences = Vec::new();
    let early = at("06:00:00");
    for verdict in [Verdict::Fired, Verdict::Skipped(Reason::NotCaughtUp)] {
        let row = row(verdict, 1, None);
        let facts = Facts {
            now: early,
            ..facts(Some(&row), &active)
        };
        sentences.push(why(&facts, Lang::English));
    }
    sentences.push(why(
        &Facts {
            now: early,
            next_at: Some(at("11:00:00")),
            ..facts(None, &active)
        },
        Lang::English,
    ));
    assert_snapshot!(sentences.join("\n"), @"
    2026-01-05T08:00:00Z fired; its firing is no longer kept: a clock that was 4 h 5 min ahead of now decided it. `almanack schedule rewind` takes the schedule back to the present.
    2026-01-05T08:00:00Z was skipped: a clock that was 4 h 5 min ahead of now decided it. `almanack schedule rewind` takes the schedule back to the present.
    2026-01-05T08:00:00Z will not fire: a clock that was ahead planned this schedule. `almanack schedule rewind` takes the schedule back to the present.
    ");
}

#[test]
fn dp_16_a_slot_without_a_row_is_explained_by_what_the_schedule_is() {
    let active = State::Active;
    let mut sentences = Vec::new();
    let parked = State::Parked {
        since: at("07:30:00"),
        reason: "unknown time zone".to_owned().into(),
    };
    let removed = State::Removed {
        since: at("07:30:00"),
    };
    let pause = State::Paused(Pause {
        since: at("07:30:00"),
        until: None,
        note: None,
        by: "ada".to_owned(),
    });
    for state in [&active, &parked, &removed, &pause] {
        sentences.push(why(&facts(None, state), Lang::English));
    }
    let future = Facts {
        now: at("07:59:00"),
        ..facts(None, &active)
    };
    sentences.push(why(&future, Lang::English));
    let before = Facts {
        created_at: at("11:00:00"),
        ..facts(None, &active)
    };
    sentences.push(why(&before, Lang::English));
    let other = Facts {
        at: at("08:30:00"),
        is_slot: false,
        ..facts(None, &active)
    };
    sentences.push(why(&other, Lang::English));
    let waiting = Facts {
        waits_since: Some(at("08:00:00")),
        ..facts(None, &active)
    };
    sentences.push(why(&waiting, Lang::English));
    assert_snapshot!(sentences.join("\n"), @"
    2026-01-05T08:00:00Z is undecided: no node has planned it yet.
    2026-01-05T08:00:00Z is undecided: the schedule has been parked since 2026-01-05T07:30:00Z (unknown time zone); it is planned again once that is corrected.
    2026-01-05T08:00:00Z does not fire: the schedule was removed at 2026-01-05T07:30:00Z.
    2026-01-05T08:00:00Z does not fire: the schedule is paused by ada, since 2026-01-05T07:30:00Z.
    2026-01-05T08:00:00Z is still to come: it will fire in 60 s.
    2026-01-05T08:00:00Z did not fire: the schedule was first written at 2026-01-05T11:00:00Z.
    2026-01-05T08:30:00Z is not a slot of `nightly` (`0 * * * *` in UTC); the nearest are 2026-01-05T07:00:00Z and 2026-01-05T09:00:00Z.
    2026-01-05T08:00:00Z waits for the firing before it, since 2026-01-05T08:00:00Z.
    ");
}

fn edit(edited: Edited) -> Edit {
    Edit {
        revision: 2,
        edited,
        by: "ada".to_owned(),
        note: None,
        definition: String::new().into(),
        at: at("07:30:00"),
    }
}

/// The firing of the slot at 08:00.
fn firing(trigger: Trigger) -> Task {
    let new = NewFiring {
        identity: slot_identity(&name(), at("08:00:00")).unwrap(),
        execute_at: at("11:00:00"),
        nominal_at: at("08:00:00"),
        trigger,
        caught_up: true,
    };
    let new = new.task(&name(), &ready("0 * * * *", "{}")).unwrap();
    Task {
        identity: new.identity,
        payload: new.payload,
        origin: "ada".to_owned(),
        created_at: at("11:00:00"),
        ..fixture::row(Standing::Success)
    }
}

#[test]
fn dp_16_a_slot_the_cursor_has_passed_is_never_called_undecided() {
    let active = State::Active;
    let pause = State::Paused(Pause {
        since: at("11:30:00"),
        until: None,
        note: None,
        by: "ada".to_owned(),
    });
    let removed = State::Removed {
        since: at("11:30:00"),
    };
    let mut sentences = Vec::new();
    for state in [&active, &pause, &removed] {
        let next_at = Some(at("12:00:00"));
        sentences.push(why(
            &Facts {
                next_at,
                ..facts(None, state)
            },
            Lang::English,
        ));
    }
    for (edited, earlier_kept) in [
        (Edited::Removed, false),
        (Edited::Parked, true),
        (Edited::Parked, false),
        (Edited::Changed, true),
    ] {
        sentences.push(why(
            &Facts {
                in_force: Some(&edit(edited)),
                next_at: None,
                earlier_kept,
                ..facts(None, &active)
            },
            Lang::English,
        ));
    }
    // Paused since, but the slot came before: a node has still to plan it.
    sentences.push(why(&facts(None, &pause), Lang::English));
    assert_snapshot!(sentences.join("\n"), @"
    2026-01-05T08:00:00Z was decided, but its outcome is no longer kept.
    2026-01-05T08:00:00Z was decided, but its outcome is no longer kept.
    2026-01-05T08:00:00Z was decided, but its outcome is no longer kept.
    2026-01-05T08:00:00Z did not fire: the schedule had been removed at 2026-01-05T07:30:00Z.
    2026-01-05T08:00:00Z did not fire: the schedule had been parked at 2026-01-05T07:30:00Z.
    2026-01-05T08:00:00Z was decided, but its outcome is no longer kept.
    2026-01-05T08:00:00Z did not fire: the schedule was changed before a node planned it.
    2026-01-05T08:00:00Z is undecided: no node has planned it yet.
    ");
}

#[test]
fn dp_16_a_firing_without_a_row_is_reported() {
    let active = State::Active;
    let mut sentences = Vec::new();
    for (trigger, created_at) in [
        (Trigger::Backfill, "11:00:00"),
        (Trigger::Backfill, "07:00:00"),
        (Trigger::Schedule, "07:00:00"),
    ] {
        sentences.push(why(
            &Facts {
                created_at: at(created_at),
                firing: Some(&firing(trigger)),
                next_at: Some(at("12:00:00")),
                ..facts(None, &active)
            },
            Lang::English,
        ));
    }
    // Fired at 08:30, which is no slot.
    sentences.push(why(
        &Facts {
            at: at("08:30:00"),
            is_slot: false,
            firing: Some(&firing(Trigger::Manual)),
            ..facts(None, &active)
        },
        Lang::English,
    ));
    assert_snapshot!(sentences.join("\n"), @"
    2026-01-05T08:00:00Z was fired by hand by ada at 2026-01-05T11:00:00Z, and task 7 succeeded.
    2026-01-05T08:00:00Z was fired by hand by ada at 2026-01-05T11:00:00Z, and task 7 succeeded.
    2026-01-05T08:00:00Z fired, and task 7 succeeded; how late is no longer kept.
    ada fired it by hand at 2026-01-05T08:30:00Z, and task 7 succeeded.
    ");
}

#[test]
fn dp_16_splay_jitter_and_who_cancelled_are_named() {
    let active = State::Active;
    let seconds = SignedDuration::from_secs;
    let by = |splay, jitter| Delay {
        splay: seconds(splay),
        jitter: seconds(jitter),
    };
    let cancelled = Cancelled {
        by: "api:ada".to_owned(),
        at: at("09:00:00"),
    };
    let task = Task {
        finished_at: Some(at("09:00:00")),
        ..fixture::row(Standing::Cancelled)
    };
    let fired = row(Verdict::Fired, 1, None);
    let skipped = row(Verdict::Skipped(Reason::Cancelled), 1, None);
    let mut sentences = Vec::new();
    for (row, now, delay) in [
        (Some(&fired), "12:00:00", by(90, 0)),
        (Some(&fired), "12:00:00", by(0, 30)),
        (Some(&skipped), "12:00:00", by(90, 0)),
        (None, "07:59:00", by(90, 30)),
        (None, "08:00:30", by(90, 0)),
        (None, "08:00:20", by(0, 40)),
        (None, "08:00:30", by(90, 30)),
    ] {
        sentences.push(why(
            &Facts {
                now: at(now),
                delay,
                firing: row.map(|_| &task),
                cancelled: row.map(|_| &cancelled),
                ..facts(row, &active)
            },
            Lang::English,
        ));
    }
    assert_snapshot!(sentences.join("\n"), @"
    2026-01-05T08:00:00Z fired 2 h 5 min after its time, 90 s of it by its splay, and task 7 was cancelled (by api:ada at 2026-01-05T09:00:00Z).
    2026-01-05T08:00:00Z fired 2 h 5 min after its time, 30 s of it by its jitter, and task 7 was cancelled (by api:ada at 2026-01-05T09:00:00Z).
    2026-01-05T08:00:00Z was skipped: its firing had been cancelled before 2026-01-05T10:05:00Z (by api:ada at 2026-01-05T09:00:00Z).
    2026-01-05T08:00:00Z is still to come: it will fire in 3 min, 90 s of it by its splay, 30 s of it by its jitter.
    2026-01-05T08:00:00Z waits for its splay of 90 s: it will fire in 60 s.
    2026-01-05T08:00:00Z waits for its jitter of 40 s: it will fire in 20 s.
    2026-01-05T08:00:00Z waits for its splay and jitter of 2 min: it will fire in 90 s.
    ");
}
