use proptest::prelude::*;

use super::*;
use crate::fixture::{NOW, at, claimed};

fn end(attempt: u32, max_retry: u32, outcome: &Outcome) -> Finish {
    finish(
        &claimed(attempt, max_retry),
        outcome,
        &Backoff::default(),
        NOW,
        u64::MAX / 2,
    )
}

fn failed() -> Outcome {
    Outcome::Retry {
        error: "503 from the article service".to_owned(),
        retry_after: None,
    }
}

fn gave_up() -> Outcome {
    Outcome::GiveUp {
        error: "404: no such article".to_owned(),
    }
}

/// `waits_at` in seconds from now; half of the jitter's range is drawn.
struct Row {
    attempt: u32,
    outcome: Outcome,
    status: Status,
    attempts_after: u32,
    waits_at: Option<i64>,
    why: &'static str,
}

#[rustfmt::skip]
fn table() -> Vec<Row> {
    let row = |attempt, outcome, status, attempts_after, waits_at, why| Row {
        attempt,
        outcome,
        status,
        attempts_after,
        waits_at,
        why,
    };
    let not_now = |seconds| Outcome::NotNow { at: at(seconds), why: "busy" };
    let again = |seconds| Outcome::Again { at: at(seconds), on_record: true };
    let done = Outcome::Done {
        detail: Some("200 OK".to_owned()),
    };
    vec![
        row(1, done.clone(), Status::Success, 1, None, "done is the end"),
        row(4, done, Status::Success, 4, None, "done on the last try is as good"),
        row(1, failed(), Status::Fail, 1, Some(2), "half of 5 s, cut to a second"),
        row(3, failed(), Status::Fail, 3, Some(9), "half of 20 s; the third retry is left"),
        row(4, failed(), Status::Fail, 4, None, "3 retries after the first are 4 attempts in all"),
        row(1, gave_up(), Status::Fail, 1, None, "refused for good: tries left do not matter"),
        row(1, Outcome::LeaseExpired, Status::Fail, 1, Some(0), "the lease itself was the wait"),
        row(4, Outcome::LeaseExpired, Status::Fail, 4, Some(0), "and uses up no retry"),
        row(1, again(600), Status::Init, 0, Some(600), "not a failure: a new round"),
        row(4, again(600), Status::Init, 0, Some(600), "even on the last try"),
        row(1, again(-600), Status::Init, 0, Some(0), "a time in the past means now"),
        row(1, Outcome::HandedBack, Status::Init, 0, Some(-3600), "as if it had never started"),
        row(3, Outcome::HandedBack, Status::Fail, 2, Some(-3600), "two real failures remain"),
        row(1, not_now(5), Status::Init, 0, Some(5), "sf_06: sent away is not tried"),
        row(4, not_now(5), Status::Fail, 3, Some(5), "sf_06: nor is the last try used up"),
    ]
}

#[test]
fn rs_09_what_each_outcome_makes_of_a_task() {
    for row in table() {
        let made = end(row.attempt, 3, &row.outcome);
        let name = format!(
            "attempt {}, {}: {}",
            row.attempt,
            row.outcome.name(),
            row.why
        );
        assert_eq!(made.status, row.status, "{name}");
        assert_eq!(made.attempt, row.attempts_after, "{name}");
        assert_eq!(made.waits, row.waits_at.is_some(), "{name}");
        if let Some(seconds) = row.waits_at {
            let waits_for = (made.execute_at - NOW).get_seconds();
            assert_eq!(waits_for, seconds, "{name}");
        }
    }
}

#[test]
fn rs_09_three_retries_are_four_attempts_in_all() {
    let mut attempt = 1;
    while end(attempt, 3, &failed()).waits {
        attempt += 1;
    }
    assert_eq!(attempt, 4);
    assert!(
        !end(1, 0, &failed()).waits,
        "no retries: the first try is the last"
    );
}

#[test]
fn rs_08_a_vanished_node_costs_an_attempt_and_a_shutdown_does_not() {
    let vanished = end(2, 3, &Outcome::LeaseExpired);
    assert_eq!(
        (vanished.attempt, vanished.execute_at),
        (2, NOW),
        "tried again at once"
    );
    let handed_back = end(2, 3, &Outcome::HandedBack);
    assert_eq!(handed_back.attempt, 1);
    assert_eq!(
        handed_back.execute_at,
        claimed(2, 3).execute_at,
        "due at the same time as before"
    );
}

/// Four deaths of nodes during one call used to end a task that had done nothing wrong.
#[test]
fn sf_06_vanished_nodes_have_a_separate_budget() {
    let expire = |task: &ClaimedTask| {
        let backoff = Backoff::default();
        finish(task, &Outcome::LeaseExpired, &backoff, NOW, 0)
    };
    for (max_retry, budget) in [(0, EXPIRIES_MAX), (3, EXPIRIES_MAX), (50, 50)] {
        let mut task = claimed(1, max_retry);
        let mut back = 0;
        loop {
            let made = expire(&task);
            if !made.waits {
                break;
            }
            back += 1;
            (task.attempt, task.expiries) = (made.attempt + 1, made.expiries);
        }
        assert_eq!(back, budget, "max_retry {max_retry}");
    }
}

#[test]
fn sf_06_vanished_nodes_leave_a_task_all_its_retries() {
    let mut task = claimed(6, 3);
    task.expiries = 5;
    let made = |task: &ClaimedTask| finish(task, &failed(), &Backoff::default(), NOW, u64::MAX / 2);
    let first = made(&task);
    assert!(first.waits);
    let waits = (first.execute_at - NOW).get_seconds();
    assert_eq!(
        waits, 2,
        "the wait after a first failure, not after a sixth"
    );
    assert_eq!((first.attempt, first.expiries), (6, 5));
    task.attempt = 8;
    assert!(made(&task).waits, "the third failure");
    task.attempt = 9;
    assert!(!made(&task).waits, "the fourth");
    let again = Outcome::Again {
        at: NOW,
        on_record: true,
    };
    let anew = finish(&task, &again, &Backoff::default(), NOW, 0);
    assert_eq!((anew.attempt, anew.expiries), (0, 0), "a new round");
}

#[test]
fn rs_09_no_wait_leads_past_the_last_instant_the_store_can_hold() {
    let finished = |outcome: &Outcome, now: Timestamp| {
        finish(&claimed(1, 3), outcome, &Backoff::default(), now, u64::MAX).execute_at
    };
    assert_eq!(finished(&failed(), LATEST), LATEST);
    let never = Outcome::Again {
        at: Timestamp::MAX,
        on_record: true,
    };
    assert_eq!(finished(&never, NOW), LATEST);
    let fine = Timestamp::new(NOW.as_second() + 60, 123_456_789).unwrap();
    assert_eq!(
        finished(
            &Outcome::Again {
                at: fine,
                on_record: true
            },
            NOW
        ),
        to_micros(fine),
        "cut like all others"
    );
}

#[test]
fn rs_07_an_ending_names_the_claim_it_ends() {
    let made = end(3, 3, &failed());
    assert_eq!((made.task_id, made.term), (claimed(3, 3).id, Term(3)));
}

#[test]
fn rs_13_the_attempt_is_described_as_it_was_not_as_the_task_will_be() {
    let task = claimed(2, 3);
    let ended = end(
        2,
        3,
        &Outcome::Again {
            at: at(600),
            on_record: true,
        },
    )
    .ended;
    assert_eq!(ended.attempt, 2, "although the task starts a new round");
    assert_eq!(
        ended.due_at, task.execute_at,
        "although the task has a new time"
    );
    assert_eq!(
        (ended.started_at, ended.finished_at),
        (task.started_at, NOW)
    );
    assert_eq!(ended.outcome, "again");
}

#[test]
fn rs_13_an_attempt_never_ends_before_it_started() {
    let task = claimed(1, 3);
    let clock_set_back = task.started_at - SignedDuration::from_secs(60);
    let made = finish(&task, &failed(), &Backoff::default(), clock_set_back, 0);
    assert_eq!(made.ended.finished_at, task.started_at);
}

#[test]
fn rs_13_only_an_attempt_that_its_row_cannot_describe_needs_a_separate_row() {
    for (outcome, needs) in [
        (Outcome::Done { detail: None }, false),
        (gave_up(), false),
        (failed(), true),
        (
            Outcome::Again {
                at: at(600),
                on_record: true,
            },
            true,
        ),
        (
            Outcome::Again {
                at: at(600),
                on_record: false,
            },
            false,
        ),
        (Outcome::HandedBack, true),
    ] {
        assert_eq!(
            end(1, 3, &outcome).needs_attempt_row(),
            needs,
            "{}",
            outcome.name()
        );
    }
    assert!(
        !end(4, 3, &failed()).needs_attempt_row(),
        "the last failure stays in its task's row"
    );
}

#[test]
fn a_detail_is_kept_shortened_on_a_character_boundary() {
    let detail = |text: &str| {
        end(
            1,
            3,
            &Outcome::GiveUp {
                error: text.to_owned(),
            },
        )
        .detail
    };
    let fits = "x".repeat(DETAIL_BYTES_MAX);
    assert_eq!(
        detail(&fits),
        Some(fits.clone()),
        "exactly the limit stays whole"
    );
    for (text, why) in [
        ("x".repeat(DETAIL_BYTES_MAX + 1), "one byte over"),
        ("é".repeat(DETAIL_BYTES_MAX), "two bytes each"),
        (
            format!("a{}", "文".repeat(DETAIL_BYTES_MAX)),
            "three bytes each, out of step",
        ),
        ("🦀".repeat(DETAIL_BYTES_MAX), "four bytes each"),
    ] {
        let short = detail(&text).unwrap();
        assert!(
            short.len() <= DETAIL_BYTES_MAX,
            "{why}: {} bytes",
            short.len()
        );
        assert!(
            short.len() > DETAIL_BYTES_MAX - 8,
            "{why}: not shorter than it must be"
        );
        let kept = short
            .strip_suffix('…')
            .unwrap_or_else(|| panic!("{why}: no sign of the cut"));
        assert!(text.starts_with(kept), "{why}");
    }
    assert_eq!(
        end(1, 3, &Outcome::HandedBack).detail,
        None,
        "nothing was said"
    );
    assert_eq!(end(1, 3, &Outcome::Done { detail: None }).detail, None);
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Done { detail: None }),
        Just(gave_up()),
        Just(Outcome::LeaseExpired),
        Just(Outcome::HandedBack),
        (-100_000_i64..100_000).prop_map(|seconds| Outcome::Again {
            at: at(seconds),
            on_record: true
        }),
        proptest::option::of(-10_i64..100_000).prop_map(|after| Outcome::Retry {
            error: "boom".to_owned(),
            retry_after: after.map(SignedDuration::from_secs),
        }),
    ]
}

proptest! {
    #[test]
    fn rs_09_whatever_happens_a_task_ends_or_waits_and_never_exceeds_its_attempts(
        attempt in 1_u32..6,
        max_retry in 0_u32..6,
        outcome in any_outcome(),
        jitter: u64,
    ) {
        let task = claimed(attempt, max_retry);
        let made = finish(&task, &outcome, &Backoff::default(), NOW, jitter);
        prop_assert_ne!(made.status, Status::Running);
        prop_assert_ne!(made.status, Status::Cancelled);
        if made.waits {
            prop_assert!(matches!(made.status, Status::Init | Status::Fail));
            prop_assert_eq!(made.status == Status::Init, made.attempt == 0);
            let failures = made.attempt - made.expiries;
            prop_assert!(failures <= max_retry.max(attempt - 1), "a try is left");
        }
        if outcome != Outcome::HandedBack {
            prop_assert!(made.execute_at >= NOW || !made.waits, "nothing waits for the past");
        }
    }
}

#[test]
fn what_outside_says_is_kept_printable() {
    let said = Outcome::GiveUp {
        error: "HTTP 409 (a\u{0}b\u{1b}[31m)\nsecond line".to_owned(),
    };
    let detail = said.detail().unwrap();
    assert_eq!(detail, "HTTP 409 (a\u{fffd}b\u{fffd}[31m)\nsecond line");
}

fn expiring(seconds: i64, attempt: u32) -> ClaimedTask {
    ClaimedTask {
        expiry: Expiry {
            at: Some(at(seconds)),
            after_s: None,
        },
        ..claimed(attempt, 3)
    }
}

fn ended(task: &ClaimedTask, outcome: &Outcome) -> Finish {
    finish(task, outcome, &Backoff::default(), NOW, u64::MAX)
}

#[test]
fn wk_06_an_expired_task_ends_untried() {
    for (attempt, after) in [(1, 0), (3, 2)] {
        let end = ended(&expiring(-1, attempt), &Outcome::Expired);
        assert_eq!((end.status, end.attempt), (Status::Fail, after));
        assert!(end.is_final() && !end.tried && end.needs_attempt_row());
        assert_eq!(end.ended.outcome, "expired");
        let detail = end.detail.unwrap();
        assert_eq!(
            detail,
            "expired: was to start before 2026-01-05 07:59:59 UTC"
        );
    }
}

/// A node that dies between taking what has expired and ending it counts no attempt either.
#[test]
fn wk_06_what_had_expired_when_it_was_taken_ends_so_with_its_node() {
    let task = expiring(-10, 1);
    assert_eq!(task.started_at, at(-10));
    let end = ended(&task, &Outcome::LeaseExpired);
    assert_eq!((end.ended.outcome, end.attempt), ("expired", 0));
    let end = ended(&expiring(-9, 1), &Outcome::LeaseExpired);
    assert_eq!((end.ended.outcome, end.attempt), ("lease_expired", 1));
}

/// It waits for its expiry at the most, and is looked at then.
#[test]
fn wk_06_nothing_waits_for_longer_than_to_its_expiry() {
    let not_now = |seconds| Outcome::NotNow {
        at: at(seconds),
        why: "busy",
    };
    for (outcome, looked_at) in [
        (failed(), at(2)),
        (Outcome::again(at(60)), at(2)),
        (not_now(60), at(2)),
        (not_now(1), at(1)),
        (Outcome::again(at(1)), at(1)),
    ] {
        let end = ended(&expiring(2, 1), &outcome);
        assert_eq!(
            (end.waits, end.execute_at),
            (true, looked_at),
            "{outcome:?}"
        );
        assert_eq!(end.expires_at, Some(at(2)));
    }
    let relative = ClaimedTask {
        expiry: Expiry::of(crate::task::Expires::After(10), at(-5)),
        ..claimed(1, 3)
    };
    let again = ended(&relative, &Outcome::again(at(60)));
    assert_eq!((again.execute_at, again.expires_at), (at(60), Some(at(70))));
    let retried = ended(
        &relative,
        &Outcome::retry_after(SignedDuration::from_secs(9), "x"),
    );
    assert_eq!(
        (retried.execute_at, retried.expires_at),
        (at(5), Some(at(5)))
    );
}
