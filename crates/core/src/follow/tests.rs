use super::*;
use crate::{
    fixture::{self, Standing, at},
    reschedule::DecisionId,
};

fn secs(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds)
}

fn followed(work: Work) -> Followed {
    Followed::new(TaskId(1), work, at(0), secs(7_200))
}

fn own() -> Work {
    let task_id = TaskId(8);
    Work::Task { task_id }
}

#[test]
fn dp_19_looks_grow_apart_with_the_time_it_takes() {
    let run = Work::Run {
        run: Some(7),
        since: at(0),
    };
    let report = || Work::Report { within_s: 3_600 };
    for (work, after, wait, why) in [
        (own(), 0, 1, "at first, a second"),
        (own(), 40, 4, "a tenth"),
        (own(), 5_000, 10, "at last, ten"),
        (own(), 7_195, 5, "but at its time limit"),
        (own(), 9_000, 0, "and at once after it"),
        (run.clone(), 0, 10, "requests are few"),
        (run, 5_000, 60, "a minute at last"),
        (report(), 3_590, 10, "at its deadline"),
    ] {
        let look_at = followed(work).look_at(at(after));
        assert_eq!(look_at, at(after + wait), "{why}");
    }
}

#[test]
fn dp_19_what_does_not_end_in_time_has_failed_and_says_why() {
    let report = Work::Report { within_s: 60 };
    let mut heard = followed(report.clone());
    heard.heard_at = Some(at(50));
    let unseen = || Seen::Unseen {
        why: "HTTP 502".to_owned(),
        retry_after: None,
    };
    let long = "its work did not end within 2h and is no longer followed";
    for (followed, seen, now, said) in [
        (followed(own()), Seen::UNCHANGED, 7_199, None),
        (
            followed(own()),
            Seen::UNCHANGED,
            7_200,
            Some(long.to_owned()),
        ),
        (
            followed(own()),
            unseen(),
            7_200,
            Some(format!("{long}: HTTP 502")),
        ),
        (followed(report.clone()), Seen::UNCHANGED, 59, None),
        (
            followed(report),
            Seen::UNCHANGED,
            60,
            Some("accepted (HTTP 202), but no report came within 1m".to_owned()),
        ),
        (heard.clone(), Seen::UNCHANGED, 109, None),
        (
            heard,
            Seen::UNCHANGED,
            110,
            Some(format!("no report came within 1m after that of {}", at(50))),
        ),
    ] {
        let (change, _) = decide(&followed, seen, at(now));
        assert_eq!(change.ending.map(|ending| ending.detail), said, "{now}");
    }
}

#[test]
fn dp_19_work_that_ended_counts_even_at_the_time_limit() {
    let ending = Ending::new(Ended::Done, "well", at(7_100));
    let seen = Seen::Ended {
        ending: ending.clone(),
        started_at: Some(at(3)),
    };
    let (change, _) = decide(&followed(own()), seen, at(7_300));
    assert_eq!(change.ending, Some(ending));
    assert_eq!(change.started_at, Some(at(3)));
}

#[test]
fn dp_19_an_unseen_look_waits_as_long_as_it_is_asked_to() {
    let seen = |retry_after| Seen::Unseen {
        why: "limited".to_owned(),
        retry_after,
    };
    for (asked, waits) in [
        (None, 1),
        (Some(secs(600)), 600),
        (Some(secs(90_000)), 7_200),
    ] {
        let (change, look_at) = decide(&followed(own()), seen(asked), at(0));
        assert_eq!((change.ending, look_at), (None, at(waits)));
    }
}

fn row(status: Status, waits: bool) -> Task {
    let mut row = fixture::row(Standing::Init);
    row.id = TaskId(8);
    row.status = status;
    row.due_at = waits.then_some(at(0));
    row.started_at = Some(at(1));
    row.finished_at = Some(at(2));
    row.detail = Some("said".to_owned());
    row
}

fn decision(rule: Rule, new_task_id: Option<TaskId>) -> Decision {
    Decision {
        id: DecisionId {
            task_id: TaskId(8),
            number: 1,
        },
        decided_at: at(5),
        origin: "ada".to_owned(),
        rule,
        old_execute_at: None,
        execute_at: at(0),
        revision: 0,
        new_task_id,
        requested: None,
        times: 1,
        last_at: None,
    }
}

#[test]
fn dp_19_a_firing_ends_as_its_task_does() {
    for (row, ended) in [
        (row(Status::Init, true), None),
        (row(Status::Running, false), None),
        (row(Status::Fail, true), None),
        (
            row(Status::Success, false),
            Some((Ended::Done, "task 8 succeeded: said")),
        ),
        (
            row(Status::Fail, false),
            Some((Ended::Failed, "task 8 failed: said")),
        ),
    ] {
        let seen = seen_task(TaskId(8), Some(&row), &[], at(9));
        match (seen, ended) {
            (Seen::Works { work: None, .. }, None) => {}
            (Seen::Ended { ending, started_at }, Some((ended, detail))) => {
                assert_eq!((ending.ended, ending.detail.as_str()), (ended, detail));
                assert_eq!((started_at, ending.ended_at), (row.started_at, at(2)));
            }
            other => panic!("{}: {other:?}", row.status),
        }
    }
    let gone = seen_task(TaskId(8), None, &[], at(9));
    assert!(matches!(gone, Seen::Ended { ending, .. } if ending.ended == Ended::Failed));
}

#[test]
fn dp_19_a_replaced_task_is_followed_and_a_withdrawn_one_is_the_end() {
    let row = row(Status::Cancelled, false);
    let replaced = [decision(Rule::CancelledAndInserted, Some(TaskId(9)))];
    let seen = seen_task(TaskId(8), Some(&row), &replaced, at(9));
    let next = Work::Task { task_id: TaskId(9) };
    assert!(matches!(seen, Seen::Works { work: Some(work), .. } if work == next));
    // Put again later, by somebody else: that is not what was handed over.
    let again = decision(Rule::Reinserted, Some(TaskId(10)));
    let withdrawn = [decision(Rule::Cancelled, None), again];
    let seen = seen_task(TaskId(8), Some(&row), &withdrawn, at(9));
    let Seen::Ended { ending, .. } = seen else {
        panic!("{seen:?}");
    };
    assert_eq!(ending.detail, "task 8 was cancelled by ada");
    assert_eq!(ending.outcome().name(), "give_up");
}

#[test]
fn dp_19_a_course_shows_when_how_late_how_long_and_how() {
    let mut firing = row(Status::Init, true);
    let mut followed = followed(own());
    let of = |firing: &Task, followed: Option<&Followed>| {
        let course = course(firing, followed, at(-5), at(30));
        (course.outcome, course.late_ms, course.took_ms)
    };
    assert_eq!(
        of(&firing, Some(&followed)),
        (CourseOutcome::Running, Some(5_000), Some(30_000))
    );
    followed.started_at = Some(at(2));
    followed.ending = Some(Ending::new(Ended::Failed, "no", at(12)));
    assert_eq!(
        of(&firing, Some(&followed)),
        (CourseOutcome::Failed, Some(7_000), Some(10_000)),
        "before its task is looked at"
    );
    firing.status = Status::Cancelled;
    firing.due_at = None;
    assert_eq!(of(&firing, Some(&followed)).0, CourseOutcome::Cancelled);
    for (status, waits, outcome) in [
        (Status::Init, true, CourseOutcome::Waiting),
        (Status::Running, false, CourseOutcome::Running),
        (Status::Fail, true, CourseOutcome::Retrying),
        (Status::Fail, false, CourseOutcome::Failed),
        (Status::Success, false, CourseOutcome::Done),
    ] {
        let old = row(status, waits);
        assert_eq!(of(&old, None).0, outcome, "a firing with nothing to follow");
    }
}

#[test]
fn dp_19_a_report_says_one_thing() {
    let report = |outcome, text: Option<&str>| Report {
        outcome,
        text: text.map(str::to_owned),
    };
    let done = report(Some(Reported::Done), None);
    assert_eq!(
        done.change(Stage::Start, at(1)),
        Err(InvalidReport::EarlyOutcome)
    );
    let nothing = report(None, None);
    assert_eq!(
        nothing.change(Stage::Finish, at(1)),
        Err(InvalidReport::NoOutcome)
    );
    let failed = report(Some(Reported::Failed), Some("no\0paper"));
    let change = failed.change(Stage::Finish, at(1)).unwrap();
    assert!(change.only_live);
    assert_eq!(
        change.ending.unwrap().detail,
        "reported as failed: no\u{fffd}paper"
    );
}
