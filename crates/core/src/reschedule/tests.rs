mod expiry;
mod laws;

use super::*;
use crate::{
    fixture::{KNOWN, NOW, Standing, at, cancel, identity, put, row},
    task::{Kind, TaskId, Term},
};

/// What a change does, read off its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Writes the first row.
    Insert,
    /// Writes a withdrawal's mark.
    Mark,
    /// Changes the current row's time in place.
    Move,
    /// Cancels the current row.
    Withdraw,
    /// Cancels the current row and writes its successor.
    Replace,
    /// Leaves the ended row as it ended and writes its successor.
    Succeed,
    /// Only remembers the newer revision.
    Remember,
    /// Only writes the decision down.
    Annotate,
}

fn effect_on(task: Option<&Task>, change: &Change) -> Effect {
    match (&change.amend, &change.insert, task) {
        (None, Some(new), None) if new.status == Status::Init => Effect::Insert,
        (None, Some(new), None) if new.status == Status::Cancelled => Effect::Mark,
        (Some(amend), Some(new), Some(task)) => {
            assert_eq!(
                new.replaces,
                Some(task.id),
                "the successor names whom it follows"
            );
            assert_eq!(new.status, Status::Init);
            assert!(
                !amend.current && !amend.waits,
                "the old row gives way for good"
            );
            if amend.status == task.status {
                Effect::Succeed
            } else {
                Effect::Replace
            }
        }
        (Some(amend), None, Some(task)) => {
            assert!(amend.current, "a row without successor stays the newest");
            amended(task, amend)
        }
        other => panic!("no effect looks like {other:?}"),
    }
}

fn amended(task: &Task, amend: &Amend) -> Effect {
    let untouched = Amend::of(task);
    if *amend == untouched {
        Effect::Annotate
    } else if *amend
        == (Amend {
            revision: amend.revision,
            ..untouched.clone()
        })
    {
        Effect::Remember
    } else if amend.status == Status::Cancelled {
        assert!(!amend.waits);
        assert_eq!(
            amend.execute_at, task.execute_at,
            "a withdrawal does not rewrite the time"
        );
        Effect::Withdraw
    } else {
        assert!(amend.waits && amend.status == task.status, "{amend:?}");
        Effect::Move
    }
}

fn check(standing: Option<Standing>, request: &Request, rule: Rule, effect: Effect, why: &str) {
    let current = standing.map(row);
    let change = decide(current.as_ref(), request, "someone", NOW).expect(why);
    let name = format!("{standing:?}, {request:?}: {why}");
    assert_eq!(change.rule, rule, "{name}");
    assert_eq!(effect_on(current.as_ref(), &change), effect, "{name}");
    assert_eq!(
        (change.origin.as_str(), change.decided_at),
        ("someone", NOW),
        "{name}"
    );
    if let (Some(amend), Some(current)) = (&change.amend, &current) {
        assert_eq!(amend.guard, Guard::of(current), "{name}");
        assert_eq!(amend.old_execute_at, current.execute_at, "{name}");
    }
}

const OLDER: Option<i64> = Some(KNOWN - 1);
const SAME: Option<i64> = Some(KNOWN);
const NEWER: Option<i64> = Some(KNOWN + 1);

#[test]
fn rs_05_without_a_row_a_put_inserts() {
    for revision in [None, NEWER] {
        check(
            None,
            &put(at(60), revision),
            Rule::Created,
            Effect::Insert,
            "nothing was there",
        );
    }
}

#[test]
fn rs_10_a_withdrawal_of_nothing_leaves_a_mark_only_if_it_is_numbered() {
    let why = "its creation may still be on the way";
    check(None, &cancel(NEWER), Rule::Cancelled, Effect::Mark, why);
    let refused = decide(None, &cancel(None), "someone", NOW);
    assert_eq!(
        refused,
        Err(Refused::NothingThere(NothingThere {
            identity: identity()
        })),
        "nothing to order it by"
    );
}

#[test]
fn rs_02_a_waiting_task_is_moved_in_place() {
    for standing in [Standing::Init, Standing::FailWithTries] {
        for revision in [None, NEWER] {
            let request = put(at(60), revision);
            check(
                Some(standing),
                &request,
                Rule::Updated,
                Effect::Move,
                "it has not started",
            );
            let why = "no attempt is running";
            check(
                Some(standing),
                &cancel(revision),
                Rule::Cancelled,
                Effect::Withdraw,
                why,
            );
        }
    }
}

#[test]
fn rs_03_a_running_task_is_cancelled_and_a_new_one_inserted() {
    for revision in [None, NEWER] {
        let why = "its call may be out already; a change in place would race with its ending";
        let request = put(at(60), revision);
        check(
            Some(Standing::Running),
            &request,
            Rule::CancelledAndInserted,
            Effect::Replace,
            why,
        );
        let why = "the call is not recalled, but it ends nothing";
        check(
            Some(Standing::Running),
            &cancel(revision),
            Rule::Cancelled,
            Effect::Withdraw,
            why,
        );
    }
}

#[test]
fn rs_04_a_done_task_stays_done() {
    for request in [
        put(at(60), None),
        put(at(60), NEWER),
        cancel(None),
        cancel(NEWER),
    ] {
        let why = "what took effect cannot be postponed or withdrawn";
        check(
            Some(Standing::Success),
            &request,
            Rule::IgnoredDone,
            Effect::Annotate,
            why,
        );
    }
}

#[test]
fn rs_05_an_ended_task_gets_a_successor() {
    for standing in [Standing::Cancelled, Standing::FailSpent] {
        for revision in [None, NEWER] {
            let why = "the old row keeps how it ended";
            check(
                Some(standing),
                &put(at(60), revision),
                Rule::Reinserted,
                Effect::Succeed,
                why,
            );
        }
        let why = "nothing is left to withdraw, but an older put must be recognised as older";
        check(
            Some(standing),
            &cancel(NEWER),
            Rule::Unchanged,
            Effect::Remember,
            why,
        );
    }
}

#[test]
fn rs_10_an_older_revision_changes_nothing_whatever_the_row() {
    for standing in Standing::ALL {
        for request in [put(at(60), OLDER), cancel(OLDER)] {
            let why = "a newer change is already known";
            check(
                Some(standing),
                &request,
                Rule::IgnoredStale,
                Effect::Annotate,
                why,
            );
        }
    }
}

#[test]
fn rs_10_a_redelivered_change_changes_nothing_whatever_the_row() {
    for standing in Standing::ALL {
        let again = match standing {
            Standing::Cancelled => cancel(SAME),
            _ => put(row(standing).execute_at, SAME),
        };
        let why = "queues deliver twice";
        check(
            Some(standing),
            &again,
            Rule::Unchanged,
            Effect::Annotate,
            why,
        );
    }
}

#[test]
fn rs_10_a_used_revision_again_is_a_redelivery() {
    for standing in Standing::ALL {
        let why = "the number is taken: whatever became of the task since, nothing changes";
        for request in [put(at(60), SAME), cancel(SAME)] {
            check(
                Some(standing),
                &request,
                Rule::Unchanged,
                Effect::Annotate,
                why,
            );
        }
    }
}

#[test]
fn rs_02_a_request_that_changes_nothing_says_so() {
    let waiting = Task {
        execute_at: at(60),
        due_at: Some(at(60)),
        ..row(Standing::Init)
    };
    let rule = |seconds: i64, more: fn(&mut Put)| {
        let Request::Put(mut request) = put(at(seconds), None) else {
            panic!("a put is a put");
        };
        more(&mut request);
        decide(Some(&waiting), &Request::Put(request), "api", NOW)
            .unwrap()
            .rule
    };
    assert_eq!(rule(60, |_| ()), Rule::Unchanged, "the same time again");
    assert_eq!(rule(61, |_| ()), Rule::Updated, "another time");
    let more_retries = rule(60, |request| request.max_retry = Some(99));
    assert_eq!(more_retries, Rule::Updated, "the same time, more retries");
    let other_payload = rule(60, |request| {
        request.payload = Payload::parse("[1]", 10).ok();
    });
    assert_eq!(other_payload, Rule::Updated, "the same time, other content");
}

#[test]
fn rs_10_a_creation_overtaken_by_its_withdrawal_stays_withdrawn() {
    let mark = decide(None, &cancel(Some(2)), "queue", NOW)
        .unwrap()
        .insert
        .unwrap();
    assert_eq!(
        (mark.status, mark.revision, mark.due_at()),
        (Status::Cancelled, Revision(2), None)
    );
    let marked = Task {
        revision: mark.revision,
        decisions: 0,
        ..row(Standing::Cancelled)
    };
    let rule = |request| decide(Some(&marked), &request, "queue", NOW).unwrap().rule;
    assert_eq!(
        rule(put(at(60), Some(1))),
        Rule::IgnoredStale,
        "the creation arrives late"
    );
    assert_eq!(
        rule(cancel(Some(2))),
        Rule::Unchanged,
        "the withdrawal arrives twice"
    );
    assert_eq!(
        rule(put(at(60), Some(3))),
        Rule::Reinserted,
        "the author changed their mind"
    );
}

#[test]
fn rs_10_an_unnumbered_change_uses_up_no_number() {
    let created = decide(None, &put(at(60), None), "operator", NOW)
        .unwrap()
        .insert
        .unwrap();
    let current = Task {
        revision: created.revision,
        ..row(Standing::Init)
    };
    let first = decide(Some(&current), &put(at(90), Some(1)), "queue", NOW).unwrap();
    assert_eq!(
        first.rule,
        Rule::Updated,
        "the first numbered change is news"
    );

    let by_hand = decide(
        Some(&row(Standing::Init)),
        &put(at(60), None),
        "operator",
        NOW,
    )
    .unwrap();
    let current = Task {
        revision: by_hand.amend.unwrap().revision,
        ..row(Standing::Init)
    };
    let next = decide(Some(&current), &put(at(90), NEWER), "queue", NOW).unwrap();
    assert_eq!(next.rule, Rule::Updated, "so is the author's next one");
    let old = decide(Some(&current), &put(at(3600), SAME), "queue", NOW).unwrap();
    assert_eq!(
        old.rule,
        Rule::Unchanged,
        "and the last one before is still known"
    );
}

#[test]
fn rs_11_a_time_in_the_past_means_now() {
    let past = put(at(-86_400), None);
    let created = decide(None, &past, "someone", NOW).unwrap().insert.unwrap();
    assert_eq!(created.execute_at, NOW);
    for standing in [Standing::Init, Standing::FailWithTries] {
        let moved = decide(Some(&row(standing)), &past, "someone", NOW)
            .unwrap()
            .amend
            .unwrap();
        assert_eq!(moved.execute_at, NOW, "{standing:?}");
    }
    for standing in [Standing::Running, Standing::Cancelled, Standing::FailSpent] {
        let change = decide(Some(&row(standing)), &past, "someone", NOW).unwrap();
        assert_eq!(change.insert.unwrap().execute_at, NOW, "{standing:?}");
    }
}

#[test]
fn what_a_put_does_not_say_stays_unchanged() {
    let current = row(Standing::Init);
    let moved = decide(Some(&current), &put(at(60), None), "someone", NOW)
        .unwrap()
        .amend
        .unwrap();
    assert_eq!(moved.payload, None, "`None` leaves the column alone");
    assert_eq!(moved.callback_url, current.callback_url);
    assert_eq!(
        (moved.priority, moved.max_retry),
        (current.priority, current.max_retry)
    );

    let current = row(Standing::Running);
    let new = decide(Some(&current), &put(at(60), None), "someone", NOW)
        .unwrap()
        .insert
        .unwrap();
    assert_eq!(new.payload, current.payload);
    assert_eq!(new.callback_url, current.callback_url);
    assert_eq!(
        (new.priority, new.max_retry),
        (current.priority, current.max_retry)
    );
    assert_eq!(
        new.origin, "someone",
        "but the successor is the new requester's"
    );
}

#[test]
fn what_a_put_says_takes_effect() {
    let payload = Payload::parse("[1]", 10).unwrap();
    let tags = Tags::parse(&["nightly"]).unwrap();
    let url = Some("http://127.0.0.1:9/other".to_owned());
    let full = Request::Put(Put {
        identity: identity(),
        execute_at: at(60),
        payload: Some(payload.clone()),
        callback_url: url.clone(),
        call_options: None,
        expires: None,
        max_retry: Some(0),
        priority: Some(Priority::new(0).unwrap()),
        tags: Some(tags.clone()),
        revision: None,
    });
    let moved = decide(Some(&row(Standing::Init)), &full, "x", NOW)
        .unwrap()
        .amend
        .unwrap();
    assert_eq!(
        (moved.payload.as_ref(), &moved.callback_url),
        (Some(&payload), &url)
    );
    assert_eq!((moved.priority.level(), moved.max_retry), (0, 0));
    assert_eq!(moved.tags.map(|tags| tags.after), Some(tags.clone()));
    for current in [None, Some(row(Standing::Running))] {
        let new = decide(current.as_ref(), &full, "x", NOW)
            .unwrap()
            .insert
            .unwrap();
        assert_eq!((&new.payload, &new.callback_url), (&payload, &url));
        assert_eq!((new.priority.level(), new.max_retry), (0, 0));
        assert_eq!(new.tags, tags);
    }
}

#[test]
fn tags_stay_unless_a_put_names_others() {
    let mut task = row(Standing::Init);
    task.tags = Tags::parse(&["a"]).unwrap();
    let retagged = |tags: Option<&[&str]>| {
        let put = Put {
            tags: tags.map(|tags| Tags::parse(tags).unwrap()),
            ..Put::at(identity(), at(60))
        };
        let change = decide(Some(&task), &Request::Put(put), "x", NOW).unwrap();
        change.amend.unwrap().tags.map(|tags| tags.after)
    };
    assert_eq!(retagged(None), None, "not named");
    assert_eq!(retagged(Some(&["a"])), None, "the same");
    assert_eq!(retagged(Some(&[])), Some(Tags::NONE), "none is named");
}

#[test]
fn rs_09_a_new_task_gets_three_retries_by_default() {
    let new = decide(None, &put(at(60), None), "someone", NOW)
        .unwrap()
        .insert
        .unwrap();
    assert_eq!((new.max_retry, new.priority), (3, Priority::DEFAULT));
    assert_eq!(new.payload.as_str(), "null");
}

#[test]
fn a_change_wakes_a_node_for_the_time_in_force_afterwards() {
    for (standing, request, wakes_at, why) in [
        (None, put(at(60), None), Some(at(60)), "inserted"),
        (None, cancel(NEWER), None, "a mark waits for nothing"),
        (
            Some(Standing::Init),
            put(at(60), None),
            Some(at(60)),
            "moved",
        ),
        (Some(Standing::Init), cancel(None), None, "withdrawn"),
        (
            Some(Standing::Running),
            put(at(60), None),
            Some(at(60)),
            "the successor",
        ),
        (
            Some(Standing::Running),
            put(at(60), OLDER),
            None,
            "still running",
        ),
        (Some(Standing::Success), put(at(60), None), None, "done"),
    ] {
        let change = decide(standing.map(row).as_ref(), &request, "someone", NOW).unwrap();
        assert_eq!(change.wakes_at(), wakes_at, "{why}");
    }
}

fn receipt(standing: Option<Standing>, request: &Request, inserted: Option<i64>) -> Receipt {
    let change = decide(standing.map(row).as_ref(), request, "someone", NOW).unwrap();
    Receipt::of(&change, inserted.map(TaskId)).unwrap()
}

#[test]
fn rs_14_a_receipt_contains_rule_times_rows_and_revision() {
    let on_row = |number| DecisionId {
        task_id: TaskId(7),
        number,
    };
    let created = receipt(None, &put(at(60), Some(1)), Some(8));
    let expected = Receipt {
        decision: DecisionId {
            task_id: TaskId(8),
            number: 0,
        },
        rule: Rule::Created,
        task_id: TaskId(8),
        cancelled_task_id: None,
        old_execute_at: None,
        execute_at: at(60),
        revision: Revision(1),
    };
    assert_eq!(created, expected);

    let replaced = receipt(Some(Standing::Running), &put(at(60), NEWER), Some(8));
    let expected = Receipt {
        decision: on_row(4),
        rule: Rule::CancelledAndInserted,
        task_id: TaskId(8),
        cancelled_task_id: Some(TaskId(7)),
        old_execute_at: Some(at(-3600)),
        execute_at: at(60),
        revision: Revision(KNOWN + 1),
    };
    assert_eq!(replaced, expected);

    let moved = receipt(Some(Standing::Init), &put(at(60), NEWER), None);
    let expected = Receipt {
        rule: Rule::Updated,
        task_id: TaskId(7),
        cancelled_task_id: None,
        old_execute_at: Some(at(3600)),
        ..expected
    };
    assert_eq!(moved, expected);

    let reinserted = receipt(Some(Standing::FailSpent), &put(at(60), NEWER), Some(8));
    assert_eq!(reinserted.cancelled_task_id, None, "it had ended by itself");
    assert_eq!(
        (reinserted.task_id, reinserted.decision),
        (TaskId(8), on_row(4))
    );

    let ignored = receipt(Some(Standing::Init), &put(at(60), OLDER), None);
    assert_eq!(
        ignored.execute_at,
        at(3600),
        "the time in force, not the one requested"
    );
    assert_eq!(
        (ignored.rule, ignored.revision),
        (Rule::IgnoredStale, Revision(KNOWN))
    );
}

#[test]
fn rs_14_no_row_no_receipt() {
    let change = decide(None, &put(at(60), None), "someone", NOW).unwrap();
    assert_eq!(
        Receipt::of(&change, None),
        None,
        "an insert that names no row broke the contract"
    );
}

#[test]
fn rs_13_a_rule_is_read_back_from_its_name() {
    for standing in [None].into_iter().chain(Standing::ALL.map(Some)) {
        for request in [put(at(60), NEWER), put(at(60), OLDER), cancel(NEWER)] {
            let rule = decide(standing.map(row).as_ref(), &request, "x", NOW)
                .unwrap()
                .rule;
            assert_eq!(Rule::parse(rule.as_str()), Some(rule));
        }
    }
    assert_eq!(Rule::parse("postponed"), None);
}

#[test]
fn rs_06_a_guard_pins_status_term_and_decisions() {
    let seen = row(Standing::Init);
    let guard = Guard::of(&seen);
    let moved_on = [
        Task {
            id: TaskId(8),
            ..seen.clone()
        },
        Task {
            status: Status::Running,
            ..seen.clone()
        },
        Task {
            term: Term(1),
            ..seen.clone()
        },
        Task {
            decisions: 4,
            ..seen.clone()
        },
    ];
    for task in moved_on {
        assert_ne!(Guard::of(&task), guard);
    }
}

#[test]
fn a_refused_withdrawal_names_the_identity() {
    let unknown = Identity {
        kind: Kind::parse("AUDIT").unwrap(),
        ..identity()
    };
    let error = NothingThere { identity: unknown };
    assert_eq!(error.to_string(), "no task (article:42, AUDIT)");
}
