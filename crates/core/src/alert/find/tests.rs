use super::*;
use crate::{
    alert::facts::ScheduleFacts,
    calendar::Reading,
    fixture::{NOW, at},
    newsletter::Mailing,
    plan::{Origin, Pause, Reason, Schedule, ScheduleId, Slot, Verdict},
    source::{Definition, SourceId},
    store::{ClaimId, ClaimLine, Node, PausedKind},
    task::{Status, Subject, TaskId},
};

fn name() -> ScheduleName {
    ScheduleName::parse("nightly").unwrap()
}

fn schedule() -> Schedule {
    Schedule {
        id: ScheduleId(1),
        name: name(),
        origin: Origin::Api,
        definition: String::new().into(),
        revision: 1,
        version: 1,
        state: ScheduleState::Active,
        next_at: Some(at(60)),
        waits_since: None,
        look_at: Some(at(60)),
        last: None,
        beside: Vec::new(),
        runs: 0,
        created_at: NOW,
        changed_at: NOW,
    }
}

fn slot(second: i64, verdict: Verdict) -> Slot {
    Slot {
        slot_at: at(second),
        last_at: at(second),
        slots: 1,
        verdict,
        detail: None,
        revision: 1,
        decided_at: at(second),
    }
}

/// A run that was due at a second, started then and took five.
fn run(second: i64, status: Status) -> Run {
    let is_live = matches!(status, Status::Init | Status::Running);
    Run {
        status,
        is_live,
        execute_at: at(second),
        attempt: u32::from(status != Status::Init),
        started_at: (status != Status::Init).then(|| at(second)),
        finished_at: (!is_live).then(|| at(second + 5)),
        detail: Some(format!("HTTP {second}: hunter2")),
    }
}

fn facts() -> ScheduleFacts {
    ScheduleFacts {
        schedule: schedule(),
        slots: vec![slot(-60, Verdict::Fired), slot(-120, Verdict::Fired)],
        skipped: Vec::new(),
        decided_until: None,
        runs: vec![run(-60, Status::Success), run(-120, Status::Success)],
        monitor: None,
    }
}

fn found_in(facts: &Facts) -> Vec<String> {
    let found = find(facts, &Bounds::default(), NOW);
    let findings = found.findings.iter();
    findings
        .map(|it| format!("{} {}: {}", it.key.rule, it.key.about, it.detail))
        .collect()
}

fn of_schedule(change: impl FnOnce(&mut ScheduleFacts)) -> Vec<String> {
    let mut facts = facts();
    change(&mut facts);
    found_in(&Facts {
        schedules: vec![facts],
        ..Facts::default()
    })
}

fn runs(statuses: &[Status]) -> Vec<Run> {
    let seconds = (1..).map(|number| -60 * number);
    seconds.zip(statuses).map(|(at, it)| run(at, *it)).collect()
}

#[test]
fn a_schedule_that_does_what_it_should_is_no_finding() {
    assert!(of_schedule(|_| {}).is_empty());
}

#[test]
fn a_slot_that_no_node_planned_or_that_came_too_late_is_missing() {
    let unplanned = of_schedule(|facts| facts.schedule.look_at = Some(at(-120)));
    assert_eq!(unplanned.len(), 1);
    assert!(unplanned[0].starts_with("missing schedule:nightly: due to be planned"));
    assert!(of_schedule(|facts| facts.schedule.look_at = Some(at(-119))).is_empty());
    for (reason, is_missing) in [
        (Reason::TooLate, true),
        (Reason::NotCaughtUp, true),
        (Reason::OverCap, true),
        (Reason::Cancelled, true),
        (Reason::Paused, false),
        (Reason::Overlap, false),
        (Reason::Changed, false),
    ] {
        let skipped = slot(-30, Verdict::Skipped(reason));
        let found = of_schedule(|facts| facts.slots.insert(0, skipped));
        assert_eq!(!found.is_empty(), is_missing, "{reason:?}: {found:?}");
    }
    let earlier = slot(-90, Verdict::Skipped(Reason::TooLate));
    let again = of_schedule(|facts| facts.slots.insert(1, earlier));
    assert!(again.is_empty(), "a later slot fired: {again:?}");
}

#[test]
fn slots_of_seconds_that_were_skipped_for_a_while_are_missing_though_later_ones_fired() {
    for (late, reason, missing) in [
        (60, Reason::NotCaughtUp, true),
        (30, Reason::TooLate, true),
        (29, Reason::NotCaughtUp, false),
        (60, Reason::Paused, false),
        (60, Reason::Overlap, false),
    ] {
        let found = of_schedule(|facts| {
            facts.skipped = vec![Slot {
                last_at: at(-130),
                slots: 5,
                decided_at: at(-180 + late),
                ..slot(-180, Verdict::Skipped(reason))
            }];
        });
        assert_eq!(found.len() == 1, missing, "{late} s, {reason:?}: {found:?}");
        assert!(!missing || found[0].contains("5 slots from"), "{found:?}");
    }
}

#[test]
fn dp_24_a_schedule_that_was_planned_ahead_is_a_finding() {
    let found = of_schedule(|facts| facts.decided_until = Some(at(86_400)));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("clock schedule:"), "{found:?}");
    assert!(found[0].contains("almanack schedule rewind"), "{found:?}");
}

#[test]
fn a_first_start_beyond_its_bound_is_late_and_a_retry_is_not() {
    for (status, started, attempt, is_late) in [
        (Status::Success, 0, 1, false),
        (Status::Success, 60, 1, false),
        (Status::Success, 61, 1, true),
        (Status::Fail, 61, 2, false),
        (Status::Cancelled, 61, 1, false),
    ] {
        let mut late = run(-100, status);
        late.started_at = Some(at(-100 + started));
        late.attempt = attempt;
        let found = of_schedule(|facts| facts.runs[0] = late);
        assert_eq!(
            !found.is_empty(),
            is_late,
            "{status:?} {started}: {found:?}"
        );
    }
    let waits = of_schedule(|facts| facts.runs[0] = run(-61, Status::Init));
    assert!(waits[0].contains("not started"), "{waits:?}");
    let mut caught_up = slot(-600, Verdict::CaughtUp);
    caught_up.decided_at = at(-30);
    let caught_up = of_schedule(|facts| facts.slots[0] = caught_up);
    assert!(caught_up[0].starts_with("late"), "{caught_up:?}");
}

#[test]
fn so_many_failures_in_a_row_are_one_finding() {
    use Status::{Cancelled, Fail, Running, Success};
    for (statuses, fails, why) in [
        (&[Fail, Fail][..], false, "two"),
        (&[Fail, Fail, Fail], true, "three"),
        (&[Fail, Fail, Success, Fail], false, "not in a row"),
        (&[Success, Fail, Fail, Fail], false, "recovered"),
        (
            &[Running, Fail, Fail, Fail],
            true,
            "what runs says nothing yet",
        ),
        (&[Fail, Cancelled, Fail, Fail], false, "a person stepped in"),
    ] {
        let found = of_schedule(|facts| facts.runs = runs(statuses));
        assert_eq!(!found.is_empty(), fails, "{why}: {found:?}");
    }
    let found = of_schedule(|facts| facts.runs = runs(&[Fail; 5]));
    let expected =
        "failing schedule:nightly: the last 5 firings failed for good; the newest: HTTP -60";
    assert_eq!(found, [expected]);
}

#[test]
fn one_failure_of_a_rare_schedule_is_enough() {
    let hour = |facts: &mut ScheduleFacts| {
        facts.slots[1] = slot(-3_660, Verdict::Fired);
        facts.runs[0] = run(-60, Status::Fail);
    };
    assert_eq!(of_schedule(hour).len(), 1);
}

#[test]
fn retries_are_not_failures() {
    let mut retried = run(-60, Status::Fail);
    retried.is_live = true;
    let all = [&retried, &retried, &retried].map(Clone::clone);
    assert!(of_schedule(|facts| facts.runs = all.to_vec()).is_empty());
}

#[test]
fn a_firing_that_takes_much_longer_than_the_others_is_stuck() {
    let mut long = runs(&[
        Status::Running,
        Status::Success,
        Status::Success,
        Status::Success,
    ]);
    long[0].started_at = Some(at(-301));
    assert_eq!(of_schedule(|facts| facts.runs.clone_from(&long)).len(), 1);
    long.pop();
    let few = of_schedule(|facts| facts.runs.clone_from(&long));
    assert!(few.is_empty(), "too little is known: {few:?}");
}

#[test]
fn of_a_schedule_that_is_not_planned_nothing_is_expected() {
    let gone = of_schedule(|facts| {
        facts.runs = runs(&[Status::Fail; 3]);
        facts.schedule.state = ScheduleState::Removed { since: NOW };
    });
    assert!(gone.is_empty());
}

fn line(subject: &str, kind: &str, started: i64) -> TaskLine {
    TaskLine {
        id: TaskId(1),
        identity: Identity {
            subject: Subject::parse(subject).unwrap(),
            kind: Kind::parse(kind).unwrap(),
        },
        status: Status::Running,
        execute_at: at(started),
        due_at: None,
        attempt: 1,
        max_retry: 3,
        origin: String::new(),
        node: None,
        detail: None,
        created_at: NOW,
        started_at: Some(at(started)),
        finished_at: None,
    }
}

#[test]
fn what_hangs_is_reported_by_its_cause() {
    let running = vec![
        line("article:1", "PUBLISH", -7_200),
        line("article:2", "PUBLISH", -3_600),
        line("article:3", "PUBLISH", -3_599),
        line("schedule:nightly@2026-01-05T06:00:00Z", DISPATCH, -7_200),
    ];
    let found = found_in(&Facts {
        running,
        ..Facts::default()
    });
    assert_eq!(
        found,
        [
            "stuck schedule:nightly: schedule:nightly@2026-01-05T06:00:00Z has been running since 2026-01-05T06:00:00Z",
            "stuck kind:PUBLISH: article:1 has been running since 2026-01-05T06:00:00Z, and 1 more",
        ]
    );
}

#[test]
fn work_that_no_node_starts_and_nodes_that_are_gone_are_found() {
    let depth = |first: i64, due| Depth {
        kind: Kind::parse("PUBLISH").unwrap(),
        waiting: 9,
        due,
        first_due_at: Some(at(first)),
    };
    for (first, due, count) in [(-300, 1, 1), (-299, 1, 0), (-300, 0, 0)] {
        let depths = vec![depth(first, due)];
        let found = found_in(&Facts {
            depths,
            ..Facts::default()
        });
        assert_eq!(found.len(), count, "{first} {due}");
    }
    let paused = PausedKind {
        kind: Kind::parse("PUBLISH").unwrap(),
        pause: Pause {
            since: at(-900),
            until: None,
            note: None,
            by: "ada".to_owned(),
        },
    };
    let held = found_in(&Facts {
        depths: vec![depth(-300, 1)],
        paused: vec![paused],
        ..Facts::default()
    });
    assert!(
        held.is_empty(),
        "WK-04: a paused kind is not stuck: {held:?}"
    );
    let node = |session: &str, seen: i64| Node {
        name: "a".to_owned(),
        session: session.to_owned(),
        version: String::new(),
        started_at: NOW,
        seen_at: at(seen),
        skew_us: 0,
    };
    for (seen, count, why) in [
        (&[-120][..], 1, "silent"),
        (&[-119], 0, "not for long enough"),
        (&[-600, -5], 0, "started again"),
        (&[-90_000], 0, "forgotten"),
    ] {
        let nodes = seen.iter().map(|it| node("s", *it)).collect();
        let found = found_in(&Facts {
            nodes,
            ..Facts::default()
        });
        assert_eq!(found.len(), count, "{why}");
    }
    let claim = ClaimLine {
        claim_id: ClaimId(1),
        node: "a".to_owned(),
        session: "s".to_owned(),
        lease_until: at(-120),
        tasks: 3,
    };
    let found = found_in(&Facts {
        claims: vec![claim],
        ..Facts::default()
    });
    assert!(found[0].starts_with("stuck node:a"), "{found:?}");
}

#[test]
fn sources_report_why_they_need_attention() {
    let source = |attention| {
        let definition = Definition {
            name: "Blog".to_owned(),
            address: "https://blog.example/feed".to_owned(),
            ..Definition::default()
        };
        let mut source = Source::new(definition, NOW);
        source.attention = Some(attention);
        if attention == Attention::Gone {
            let (since, reason) = (NOW, "410 Gone".to_owned());
            source.state = SourceState::Ended { since, reason };
            source.id = SourceId(1);
        }
        source
    };
    let sources = Attention::ALL.into_iter().map(source).collect();
    let found = found_in(&Facts {
        sources,
        ..Facts::default()
    });
    assert_eq!(
        found,
        [
            "silent source:0: Blog",
            "failing source:0: Blog",
            "credentials source:0: Blog",
            "failing source:1: Blog"
        ]
    );
}

#[test]
fn a_fleet_that_asks_too_often_is_over_its_budget_once_enough_was_counted() {
    let spending = |minutes: i64, checks| Spending {
        since: at(-60 * minutes),
        checks,
        per_day: 1_440.0,
    };
    for (spending, unsure, over) in [
        (spending(4, 100), true, false),
        (spending(10, 19), true, false),
        (spending(20, 24), false, false),
        (spending(20, 25), false, true),
    ] {
        let facts = Facts {
            spending: Some(spending),
            ..Facts::default()
        };
        let found = find(&facts, &Bounds::default(), NOW);
        assert_eq!(found.unsure.contains(&Rule::Budget), unsure, "{spending:?}");
        assert_eq!(!found.findings.is_empty(), over, "{spending:?}");
    }
}

#[test]
fn what_a_node_says_of_itself_is_reported_while_it_lives() {
    use crate::alert::trouble::{NodeTroubles, Trouble};
    let said = |rule, since: i64, seen: i64| NodeTroubles {
        node: "a".to_owned(),
        seen_at: at(seen),
        troubles: vec![Trouble {
            rule,
            since: at(since),
            detail: "nats: refused".to_owned(),
        }],
    };
    for (rule, since, seen, expected, why) in [
        (
            Rule::Disconnected,
            -120,
            -5,
            1,
            "a bus that is away for long",
        ),
        (Rule::Disconnected, -119, -5, 0, "not for long enough"),
        (Rule::Disk, 0, -5, 1, "a disk does not empty by itself"),
        (Rule::Backup, 0, -5, 1, "a backup that failed"),
        (Rule::Disk, -900, -120, 0, "the node itself is gone"),
    ] {
        let facts = Facts {
            troubles: vec![said(rule, since, seen)],
            ..Facts::default()
        };
        let found = find(&facts, &Bounds::default(), NOW).findings;
        let count = found.iter().filter(|it| it.key.rule == rule).count();
        assert_eq!(count, expected, "{why}");
    }
}

#[test]
fn dp_21_a_calendar_that_cannot_be_read_is_reported_after_several_failures() {
    let calendar = |failures, read_at| CalendarVersion {
        name: "holidays".to_owned(),
        version: 1,
        applied: 1,
        reading: Reading {
            checked_at: Some(NOW),
            read_at,
            failures,
            error: (failures > 0).then(|| "HTTP 500".to_owned()),
        },
    };
    for (failures, read_at, expected) in [
        (0, Some(NOW), vec![]),
        (2, Some(NOW), vec![]),
        (
            3,
            Some(NOW),
            vec![
                "failing calendar:holidays: last read at 2026-01-05T08:00:00Z, and that copy is \
                 used; the newest error: HTTP 500",
            ],
        ),
        (
            9,
            None,
            vec!["failing calendar:holidays: never read; the newest error: HTTP 500"],
        ),
    ] {
        let facts = Facts {
            calendars: vec![calendar(failures, read_at)],
            ..Facts::default()
        };
        assert_eq!(found_in(&facts), expected, "{failures} failures");
    }
}

#[test]
fn ed_43_a_newsletter_that_nobody_gets_is_found() {
    let begun = |second| Mailing::new(jiff::civil::date(2026, 1, 10).into(), 1, at(second));
    let after = |failures: u32, second| {
        (0..failures).fold(begun(second), |mailing, _| mailing.failed("421 closing"))
    };
    let held = "after 50 failures in a row the newsletter needs a person: 421 closing; \
                retry its task to go on";
    let hours = |hours: i64| -3_600 * hours;
    for (mailing, expected, why) in [
        (begun(-60), None, "it has just begun"),
        (after(4, -60), None, "a server may be away for a while"),
        (
            after(5, -60),
            Some("5 failures in a row, 45 more until it is held: 421 closing"),
            "for too long",
        ),
        (after(50, -60), Some(held), "it needs a person"),
        (
            after(51, -60),
            Some("51 failures in a row, 49 more until it is held: 421 closing"),
            "retried in vain",
        ),
        (begun(hours(24)), None, "a long list at a careful pace"),
        (
            begun(hours(26)),
            Some("the newsletter is still being sent after 26 hours"),
            "nothing goes on",
        ),
        (after(50, hours(26)).done(NOW), None, "done"),
    ] {
        let found = found_in(&Facts {
            mailings: vec![mailing],
            ..Facts::default()
        });
        let expected = expected.map(|it| format!("destination delivery:2026-01-10/mail: {it}"));
        assert_eq!(found, Vec::from_iter(expected), "{why}");
    }
}
