use super::*;
use crate::{
    fixture::{NOW, Standing, at, row},
    reschedule::Rule,
    task::Kind,
};

fn request(action: Action) -> BulkRequest {
    BulkRequest {
        action,
        by_s: (action == Action::Move).then_some(7_200),
        to: None,
        filter: TaskFilter {
            live: Some(true),
            ..TaskFilter::default()
        },
    }
}

fn planned(request: &BulkRequest, task: &Task) -> Result<Rule, Skip> {
    plan(request, task, "ops bulk 1", NOW).map(|change| change.rule)
}

#[test]
fn wk_07_each_row_falls_under_one_rule_or_one_reason() {
    use Standing::{Cancelled, FailSpent, FailWithTries, Init, Running, Success};
    let ended = Err(Skip::Ended);
    for (standing, cancel, retry, moved) in [
        (
            Init,
            Ok(Rule::Cancelled),
            Err(Skip::Waiting),
            Ok(Rule::Updated),
        ),
        (
            Running,
            Ok(Rule::Cancelled),
            Err(Skip::Running),
            Err(Skip::Running),
        ),
        (Success, ended, ended, ended),
        (
            FailWithTries,
            Ok(Rule::Cancelled),
            Ok(Rule::Updated),
            Ok(Rule::Updated),
        ),
        (FailSpent, ended, Ok(Rule::Reinserted), ended),
        (Cancelled, ended, ended, ended),
    ] {
        let mut task = row(standing);
        task.execute_at = at(600);
        task.due_at = task.due_at.map(|_| at(600));
        for (action, expected) in [
            (Action::Cancel, cancel),
            (Action::Retry, retry),
            (Action::Move, moved),
        ] {
            assert_eq!(
                planned(&request(action), &task),
                expected,
                "{action} {standing:?}"
            );
        }
        let old = Task {
            current: false,
            ..task.clone()
        };
        assert_eq!(planned(&request(Action::Cancel), &old), Err(Skip::Replaced));
        let mut own = task;
        own.identity.kind = Kind::parse(BULK_CHANGE).unwrap();
        assert_eq!(planned(&request(Action::Cancel), &own), Err(Skip::Reserved));
    }
}

#[test]
fn wk_07_a_move_counts_from_each_tasks_own_time() {
    let mut task = row(Standing::Init);
    task.execute_at = at(600);
    task.due_at = Some(at(600));
    for (by_s, to, expected, why) in [
        (Some(7_200), None, Some(at(7_800)), "later"),
        (Some(-300), None, Some(at(300)), "sooner"),
        (Some(-7_200), None, Some(NOW), "the past means now"),
        (None, Some(at(5)), Some(at(5)), "to an instant"),
        (None, Some(at(600)), None, "already there"),
    ] {
        let request = BulkRequest {
            by_s,
            to,
            ..request(Action::Move)
        };
        let change = plan(&request, &task, "ops", NOW).ok();
        let moved = change
            .and_then(|change| change.amend)
            .map(|amend| amend.execute_at);
        assert_eq!(moved, expected, "{why}");
    }
}

#[test]
fn wk_07_what_would_expire_at_its_new_time_is_left_alone_for_that_reason() {
    let mut task = row(Standing::Init);
    task.execute_at = at(600);
    task.due_at = Some(at(600));
    let fixed = |second| Expiry {
        at: Some(at(second)),
        after_s: None,
    };
    let moving = Expiry {
        at: Some(at(1_200)),
        after_s: Some(600),
    };
    for (expiry, expected, why) in [
        (Expiry::NEVER, Ok(Rule::Updated), "it never expires"),
        (
            fixed(7_200),
            Err(Skip::Expired),
            "two hours later it is over",
        ),
        (fixed(7_801), Ok(Rule::Updated), "it expires later still"),
        (moving, Ok(Rule::Updated), "its expiry moves with it"),
    ] {
        task.expiry = expiry;
        assert_eq!(planned(&request(Action::Move), &task), expected, "{why}");
    }
}

#[test]
fn only_a_clear_change_of_some_tasks_is_accepted() {
    let ask = |action, by_s, to| BulkRequest {
        by_s,
        to,
        ..request(action)
    };
    assert_eq!(ask(Action::Cancel, None, None).check(), Ok(()));
    assert_eq!(ask(Action::Move, Some(1), None).check(), Ok(()));
    assert_eq!(ask(Action::Move, None, Some(NOW)).check(), Ok(()));
    let timeless = Err(Unclear::Timeless(Action::Retry));
    assert_eq!(ask(Action::Retry, Some(1), None).check(), timeless);
    assert_eq!(ask(Action::Move, None, None).check(), Err(Unclear::NoTime));
    assert_eq!(
        ask(Action::Move, Some(1), Some(NOW)).check(),
        Err(Unclear::NoTime)
    );
    for by in [0, i64::MAX, i64::MIN] {
        assert_eq!(
            ask(Action::Move, Some(by), None).check(),
            Err(Unclear::By),
            "{by}"
        );
    }
    let all = BulkRequest {
        filter: TaskFilter::default(),
        ..request(Action::Cancel)
    };
    assert_eq!(all.check(), Err(Unclear::NoFilter));
}

#[test]
fn a_request_reads_as_it_was_written() {
    let mut request = request(Action::Move);
    request.filter.tags = Tags::parse(&["b", "a"]).unwrap();
    request.filter.kind = Some(Kind::parse("MAIL").unwrap());
    request.filter.from = Some(NOW);
    let text = serde_json::to_string(&request).unwrap();
    assert_eq!(serde_json::from_str::<BulkRequest>(&text).unwrap(), request);
}

#[test]
fn wk_07_a_page_is_counted_once_and_the_last_one_ends_it() {
    let bulk = Bulk::new(request(Action::Cancel), TaskId(9), "ops", NOW);
    assert_eq!(bulk.before, TaskId(10), "the newest row is looked at, too");
    let rows = [
        row(Standing::Init),
        row(Standing::Success),
        row(Standing::Running),
    ];
    let (after, changes) = bulk.next(&rows, Some(TaskId(4)), NOW);
    assert_eq!(
        (after.matched, changes.len(), after.before),
        (3, 2, TaskId(4))
    );
    let done = Applied::Done { inserted: None };
    let after = after.settled(&[done, Applied::Lost]);
    assert_eq!(
        (after.changed, after.step, after.state),
        (1, 1, State::Running)
    );
    let skipped = BTreeMap::from([(Skip::Ended, 1), (Skip::Changed, 1)]);
    assert_eq!(after.skipped, skipped);
    let (again, changes) = after.again(&[row(Standing::Success)], NOW);
    assert_eq!(
        (again.matched, changes.len(), again.before),
        (3, 0, TaskId(4))
    );
    assert_eq!(
        again.skipped,
        BTreeMap::from([(Skip::Ended, 2)]),
        "counted once"
    );
    let (more, _) = after.next(&[row(Standing::Init)], None, NOW);
    assert_eq!(
        more.state,
        State::Running,
        "what is lost can be decided again"
    );
    let (last, _) = after.next(&[], None, NOW);
    assert_eq!((last.state, last.ended_at), (State::Done, Some(NOW)));
}
