//! Policies, by examples.

use super::*;

struct Case {
    why: &'static str,
    expression: &'static str,
    policies: &'static str,
    next_at: &'static str,
    now: &'static str,
    running: bool,
    waits: bool,
    expected: &'static str,
}

const HOURLY: Case = Case {
    why: "",
    expression: "0 * * * *",
    policies: "{}",
    next_at: "08:00:00",
    now: "08:00:00",
    running: false,
    waits: false,
    expected: "",
};

fn check(cases: &[Case]) {
    for case in cases {
        let ready = ready(case.expression, case.policies);
        let mut seen = schedule(&ready, at(case.next_at));
        seen.waits_since = case.waits.then(|| at(case.next_at));
        let plan = plan(Look {
            schedule: &seen,
            ready: &ready,
            running: case.running.then_some("schedule:nightly@before"),
            monitor: None,
            now: at(case.now),
        });
        assert_eq!(report(&plan), case.expected, "{}", case.why);
        let fired = plan.slots.iter().filter(|row| row.verdict.is_fired());
        let slots: Vec<_> = fired.map(|row| row.slot_at).collect();
        let fired: Vec<_> = plan.fires.iter().map(|fire| fire.slot).collect();
        assert_eq!(fired, slots, "the ledger shows what fires: {}", case.why);
    }
}

#[test]
fn dp_08_missed_slots_follow_the_catch_up_policy() {
    check(&[
        Case {
            why: "on time",
            expected: "08:00:00=fired, next 09:00:00",
            ..HOURLY
        },
        Case {
            why: "a look before its time changes nothing",
            now: "07:59:59",
            expected: "next 08:00:00",
            ..HOURLY
        },
        Case {
            why: "a few seconds late is not missed, whatever the policy",
            policies: r#"{"catch_up":"none"}"#,
            now: "08:00:14",
            expected: "08:00:00=fired, next 09:00:00",
            ..HOURLY
        },
        Case {
            why: "none: what was missed stays missed",
            policies: r#"{"catch_up":"none"}"#,
            now: "10:00:16",
            expected: "08:00:00..10:00:00x3=not_caught_up, next 11:00:00",
            ..HOURLY
        },
        Case {
            why: "latest: the last one within half the gap; earlier ones are beyond their grace",
            now: "10:29:00",
            expected: "08:00:00..09:00:00x2=too_late, 10:00:00=caught_up, next 11:00:00",
            ..HOURLY
        },
        Case {
            why: "latest: beyond half the gap nothing fires",
            now: "10:31:00",
            expected: "08:00:00..10:00:00x3=too_late, next 11:00:00",
            ..HOURLY
        },
        Case {
            why: "latest with a long grace: only the last",
            policies: r#"{"grace":"6h"}"#,
            now: "10:31:00",
            expected: "08:00:00..09:00:00x2=not_caught_up, 10:00:00=caught_up, next 11:00:00",
            ..HOURLY
        },
        Case {
            why: "an explicit grace shorter than promptness wins",
            policies: r#"{"grace":"2s"}"#,
            now: "08:00:03",
            expected: "08:00:00=too_late, next 09:00:00",
            ..HOURLY
        },
    ]);
}

#[test]
fn dp_08_all_missed_slots_are_caught_up_within_grace_and_cap() {
    check(&[
        Case {
            why: "all: everything within the grace",
            policies: r#"{"catch_up":"all","overlap":"allow"}"#,
            now: "10:31:00",
            expected: "08:00:00=caught_up, 09:00:00=caught_up, 10:00:00=caught_up, next 11:00:00",
            ..HOURLY
        },
        Case {
            why: "all, capped: the newest",
            policies: r#"{"catch_up":"all","overlap":"allow","max_catch_up":2}"#,
            now: "11:31:00",
            expected: "08:00:00..09:00:00x2=over_cap, 10:00:00=caught_up, 11:00:00=caught_up, next 12:00:00",
            ..HOURLY
        },
        Case {
            why: "a poll of every ten seconds does not pile up",
            expression: "@10s",
            now: "08:05:03",
            expected: "08:00:00..08:04:40x29=too_late, 08:04:50=not_caught_up, 08:05:00=fired, next 08:05:10",
            ..HOURLY
        },
    ]);
}

#[test]
fn dp_17_a_slot_meets_a_firing_that_has_not_ended() {
    let running = Case {
        running: true,
        ..HOURLY
    };
    check(&[
        Case {
            why: "skip",
            expected: "08:00:00=overlap, next 09:00:00",
            ..running
        },
        Case {
            why: "allow",
            policies: r#"{"overlap":"allow"}"#,
            expected: "08:00:00=fired, next 09:00:00",
            ..running
        },
        Case {
            why: "cancel_running",
            policies: r#"{"overlap":"cancel_running"}"#,
            expected: "08:00:00=fired, cancels, next 09:00:00",
            ..running
        },
        Case {
            why: "cancel_running with nothing running",
            policies: r#"{"overlap":"cancel_running"}"#,
            running: false,
            expected: "08:00:00=fired, next 09:00:00",
            ..running
        },
    ]);
}

#[test]
fn dp_17_a_slot_waits_for_a_firing_that_has_not_ended() {
    let running = Case {
        running: true,
        ..HOURLY
    };
    check(&[
        Case {
            why: "queue_one waits",
            policies: r#"{"overlap":"queue_one"}"#,
            expected: "waits 08:00:00",
            ..running
        },
        Case {
            why: "queue_one goes on waiting",
            policies: r#"{"overlap":"queue_one"}"#,
            now: "10:10:00",
            waits: true,
            expected: "waits 08:00:00",
            ..running
        },
        Case {
            why: "queue_one fires what waited, however late, and skips what came meanwhile",
            policies: r#"{"overlap":"queue_one","grace":"20m"}"#,
            now: "10:10:00",
            waits: true,
            running: false,
            expected: "08:00:00=caught_up, 09:00:00..10:00:00x2=overlap, next 11:00:00",
            ..running
        },
        Case {
            why: "several at once after a hiccup: the last one fires, not the first",
            expression: "@1s",
            now: "08:00:03",
            running: false,
            expected: "08:00:00..08:00:02x3=not_caught_up, 08:00:03=fired, next 08:00:04",
            ..running
        },
        Case {
            why: "several at once, and all of them wanted: one after the other",
            expression: "@1s",
            policies: r#"{"catch_up":"all"}"#,
            now: "08:00:03",
            running: false,
            expected: "08:00:00=fired, waits 08:00:01",
            ..running
        },
        Case {
            why: "all does not overlap either: it fires one and waits with the rest",
            policies: r#"{"catch_up":"all"}"#,
            now: "10:31:00",
            running: false,
            expected: "08:00:00=caught_up, waits 09:00:00",
            ..running
        },
    ]);
}

#[test]
fn a_caught_up_slot_fires_at_the_requested_pace() {
    let ready = ready(
        "0 * * * *",
        r#"{"catch_up":"all","overlap":"allow","catch_up_pace":"30s"}"#,
    );
    let seen = schedule(&ready, at("08:00:00"));
    let now = at("10:31:00");
    let plan = plan(Look {
        schedule: &seen,
        ready: &ready,
        running: None,
        monitor: None,
        now,
    });
    let waits: Vec<i64> = plan
        .fires
        .iter()
        .map(|fire| fire.execute_at.duration_since(now).as_secs())
        .collect();
    assert_eq!(waits, [0, 30, 60]);
}

#[test]
fn dp_17_splay_is_stable_and_stays_before_the_next_slot() {
    let day = ready("0 8 * * *", r#"{"splay":"1h"}"#);
    let offset = day.due_at(at("08:00:00")).duration_since(at("08:00:00"));
    assert!(!offset.is_zero(), "this name happens to be moved");
    assert_eq!(
        day.due_at(at("2026-01-06T08:00:00Z")),
        at("2026-01-06T08:00:00Z") + offset
    );
    let minute = ready("@10s", r#"{"splay":"1h"}"#);
    assert!(minute.due_at(at("08:00:00")) < at("08:00:10"));
    let seen = schedule(&day, at("08:00:00"));
    let look = Look {
        schedule: &seen,
        ready: &day,
        running: None,
        monitor: None,
        now: at("08:00:00"),
    };
    assert_eq!(plan(look).look_at, Some(at("08:00:00") + offset), "not yet");
}

#[test]
fn dp_17_a_pause_skips_with_its_note_and_ends_by_itself() {
    let ready = ready("0 * * * *", "{}");
    let seen = schedule(&ready, at("08:00:00"));
    let seen = paused(seen, "07:30:00", Some("10:00:00"));
    let look = |now| Look {
        schedule: &seen,
        ready: &ready,
        running: None,
        monitor: None,
        now: at(now),
    };
    let resting = plan(look("09:00:00"));
    assert_eq!(
        report(&resting),
        "next 08:00:00",
        "nothing to do before its end"
    );
    assert_eq!(resting.look_at, Some(at("10:00:00")));
    let ended = plan(look("10:00:00"));
    assert_eq!(
        report(&ended),
        "08:00:00..09:00:00x2=paused, resumes, next 10:00:00",
        "the slot at its end fires"
    );
    assert_eq!(
        ended.slots[0].detail.as_deref(),
        Some("by ada: moving house")
    );
    assert_eq!(
        ended.look_at,
        Some(at("10:00:00")),
        "in the next look, at once"
    );
}

#[test]
fn dp_17_resuming_catches_up_only_where_that_is_requested() {
    for (policies, expected) in [
        ("{}", "08:00:00..10:00:00x3=paused, resumes, next 11:00:00"),
        (
            r#"{"on_resume":"latest"}"#,
            "08:00:00..09:00:00x2=paused, 10:00:00=caught_up, resumes, next 11:00:00",
        ),
        (
            r#"{"on_resume":"latest","grace":"1m"}"#,
            "08:00:00..10:00:00x3=paused, resumes, next 11:00:00",
        ),
    ] {
        let ready = ready("0 * * * *", policies);
        let seen = paused(schedule(&ready, at("08:00:00")), "07:30:00", None);
        let State::Paused(pause) = &seen.state else {
            unreachable!()
        };
        let look = Look {
            schedule: &seen,
            ready: &ready,
            running: None,
            monitor: None,
            now: at("10:05:00"),
        };
        assert_eq!(report(&resume(look, pause)), expected, "{policies}");
    }
}

#[test]
fn dp_16_resuming_late_calls_only_the_pause_a_pause() {
    let ready = ready("0 * * * *", "{}");
    let seen = schedule(&ready, at("08:00:00"));
    let seen = paused(seen, "07:30:00", Some("09:30:00"));
    let State::Paused(pause) = &seen.state else {
        unreachable!()
    };
    let look = Look {
        schedule: &seen,
        ready: &ready,
        running: None,
        monitor: None,
        now: at("12:05:00"),
    };
    assert_eq!(
        report(&resume(look, pause)),
        "08:00:00..09:00:00x2=paused, resumes, next 10:00:00"
    );
}

#[test]
fn settling_leaves_nothing_to_wait_and_a_pause_as_it_is() {
    let queue = ready("0 * * * *", r#"{"overlap":"queue_one"}"#);
    let mut seen = schedule(&queue, at("08:00:00"));
    seen.waits_since = Some(at("08:00:00"));
    let look = |seen, ready| Look {
        schedule: seen,
        ready,
        running: Some("schedule:nightly@before"),
        monitor: None,
        now: at("09:30:00"),
    };
    let settled = settle(look(&seen, &queue));
    assert_eq!(
        report(&settled),
        "08:00:00..09:00:00x2=changed, next 10:00:00"
    );
    let plain = ready("0 * * * *", "{}");
    let seen = paused(
        schedule(&plain, at("08:00:00")),
        "07:30:00",
        Some("12:00:00"),
    );
    let settled = settle(look(&seen, &plain));
    assert_eq!(
        report(&settled),
        "08:00:00..09:00:00x2=paused, next 10:00:00"
    );
    assert_eq!(settled.look_at, Some(at("12:00:00")), "it goes on");
}

#[test]
fn dp_16_settling_leaves_no_slot_that_its_splay_kept_back() {
    let day = ready("0 8 * * *", r#"{"splay":"1h"}"#);
    let seen = schedule(&day, at("08:00:00"));
    let now = at("08:00:01");
    assert!(now < day.due_at(at("08:00:00")), "it is kept back");
    let settled = settle(Look {
        schedule: &seen,
        ready: &day,
        running: None,
        monitor: None,
        now,
    });
    assert_eq!(settled.slots.len(), 1);
    assert_eq!(settled.slots[0].verdict.as_str(), "changed");
    assert_eq!(settled.slots[0].detail.as_deref(), Some("its splay"));
    assert_eq!(settled.next_at, Some(at("2026-01-06T08:00:00Z")));
}

#[test]
fn a_long_sleep_is_decided_in_bounded_looks() {
    let ready = ready("@1s", "{}");
    let mut seen = schedule(&ready, at("2026-01-01T00:00:00Z"));
    let now = at("2026-01-02T00:00:00Z");
    let (mut looks, mut slots) = (0, 0);
    loop {
        let plan = plan(Look {
            schedule: &seen,
            ready: &ready,
            running: None,
            monitor: None,
            now,
        });
        looks += 1;
        slots += plan.slots.iter().map(|row| row.slots).sum::<u64>();
        assert!(plan.slots.iter().map(|row| row.slots).sum::<u64>() <= SLOTS_MAX as u64 + 100);
        seen.next_at = plan.next_at;
        if !plan.is_partial(now) {
            break;
        }
    }
    assert_eq!(
        slots, 86_401,
        "every second of the day, and the one that begins the next"
    );
    assert!((17..=19).contains(&looks), "{looks} looks");
    assert_eq!(seen.next_at, Some(now + SignedDuration::from_secs(1)));
}

#[test]
fn dp_18_what_cannot_work_is_refused_with_its_reason() {
    let zone = Arc::new(Zone::utc());
    for (expression, policies, refusal) in [
        ("0 0 30 2 *", "{}", "expression `0 0 30 2 *` never fires"),
        (
            "0 8 * * *",
            r#"{"catch_up":"all","overlap":"cancel_running"}"#,
            "catch_up = \"all\" and overlap = \"cancel_running\" contradict each other: every missed slot would cancel the one before it",
        ),
        (
            "0 8 * * *",
            r#"{"splay":"25h"}"#,
            "splay must be between 0s and 24h",
        ),
        (
            "0 8 * * *",
            r#"{"grace":"0s"}"#,
            "grace must be between 1s and 8784h",
        ),
        (
            "0 8 * * *",
            r#"{"max_catch_up":0}"#,
            "max_catch_up must be 1 to 1000, not 0",
        ),
        (
            "0 8 * * *",
            r#"{"priority":10}"#,
            "priority must be 0 to 9 (9 first), not 10",
        ),
    ] {
        let refused = Ready::new(&name(), define(expression, policies), &zone);
        assert_eq!(refused.unwrap_err().to_string(), refusal);
    }
    let refused = Ready::new(&name(), define("0 25 * * *", "{}"), &zone).unwrap_err();
    assert!(matches!(refused, Unfit::Expression { .. }));
}

/// What a schedule may be, beyond when and at what.
#[test]
fn dp_17_what_operators_write_is_checked() {
    let check = |rest: &str| {
        let json = format!(
            r#"{{"expression":"@hourly","target":{{"type":"webhook","url":"https://x.test"}},{rest}}}"#
        );
        Definition::from_json(&json).unwrap().check()
    };
    for (rest, expected) in [
        (
            r#""retry":{"count":3,"backoff":"10s","backoff_max":"5m"}"#,
            Ok(()),
        ),
        (r#""retry":{"count":1001}"#, Err(Unsuitable::Retries.into())),
        (r#""timeout":"30s""#, Ok(())),
        (r#""firings_max":3"#, Ok(())),
        (r#""firings_max":0"#, Err(Unsuitable::FiringsMax.into())),
        (r#""tags":["billing","team/a"],"owner":"Ada Löw""#, Ok(())),
        (r#""tags":["Billing"]"#, Err(Unsuitable::Tags.into())),
        (r#""tags":["a","a"]"#, Err(Unsuitable::Tags.into())),
        (r#""owner":"a\nb""#, Err(Unsuitable::Owner.into())),
        (r#""alerts":[]"#, Ok(())),
        (r#""alerts":["ntfy","smtp"]"#, Ok(())),
        (r#""alerts":["no such"]"#, Err(Unsuitable::Alerts.into())),
    ] {
        assert_eq!(check(rest), expected, "{rest}");
    }
    let of_command =
        r#"{"expression":"@hourly","target":{"type":"command","argv":["x"]},"timeout":"5s"}"#;
    let of_command = Definition::from_json(of_command).unwrap();
    assert_eq!(of_command.check(), Err(Unsuitable::NoTimeout.into()));
}

/// A stored definition without the newer fields is written as it was: nodes that do not know them
/// go on reading it.
#[test]
fn dp_17_what_is_not_set_is_not_written() {
    let target = crate::target::Target::webhook("https://x.test");
    let written = Definition::new("@hourly", target).to_json();
    let expected = r#"{"expression":"@hourly","tz":"UTC","target":{"type":"webhook","url":"https://x.test"},"catch_up":"latest","max_catch_up":100,"catch_up_pace":"1s","overlap":"skip","splay":"0s","on_resume":"skip","priority":5}"#;
    assert_eq!(written, expected);
}

#[test]
fn dp_17_a_duration_is_refused_in_our_own_words() {
    let json = |grace: &str| {
        format!(
            r#"{{"expression":"@hourly","target":{{"type":"webhook","url":"https://x.test"}},"grace":"{grace}"}}"#
        )
    };
    let said = Definition::from_json(&json("soon"))
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("`soon` is not a duration; write numbers with units"),
        "{said}"
    );
    let below = Definition::from_json(&json("-6h")).unwrap();
    let said = below.check().unwrap_err().to_string();
    assert_eq!(said, "grace must be between 1s and 8784h");
}
