use super::*;
use crate::{
    fixture::{Standing, at, row},
    store::Records,
};

/// Row `id`, created `seconds` from now.
fn task(id: i64, standing: Standing, seconds: i64) -> Task {
    Task {
        id: TaskId(id),
        created_at: at(seconds),
        decisions: 0,
        ..row(standing)
    }
}

fn decision(task_id: i64, number: u32, rule: Rule, seconds: i64) -> Decision {
    Decision {
        id: DecisionId {
            task_id: TaskId(task_id),
            number,
        },
        decided_at: at(seconds),
        origin: "someone".to_owned(),
        rule,
        old_execute_at: Some(at(0)),
        execute_at: at(60),
        revision: 6,
        new_task_id: None,
        requested: None,
        times: 1,
        last_at: None,
    }
}

fn attempt(task_id: i64, term: i64, outcome: &str, seconds: i64) -> Attempt {
    Attempt {
        task_id: TaskId(task_id),
        term: Term(term),
        attempt: 1,
        due_at: at(seconds),
        started_at: at(seconds),
        finished_at: Some(at(seconds + 1)),
        outcome: outcome.to_owned(),
        late_outcome: None,
        detail: None,
        node: None,
    }
}

/// One line per event: row, what, and the decision's number or the attempt's term.
fn lines(story: &[HistoryEvent]) -> Vec<String> {
    let line = |event: &HistoryEvent| match event {
        HistoryEvent::Decision(d) => {
            format!("{} {} #{}", d.id.task_id, d.rule.as_str(), d.id.number)
        }
        HistoryEvent::Attempt(a) => format!("{} {} @{}", a.task_id, a.outcome, a.term.0),
    };
    story.iter().map(line).collect()
}

#[test]
fn rs_13_a_story_is_complete_and_in_order() {
    let replaced = Task {
        decisions: 2,
        current: false,
        term: Term(2),
        ..task(1, Standing::Running, -900)
    };
    let replaced = Task {
        status: Status::Cancelled,
        started_at: Some(at(-500)),
        ..replaced
    };
    let done = Task {
        replaces: Some(TaskId(1)),
        ..task(2, Standing::Success, -400)
    };
    let done = Task {
        started_at: Some(at(-300)),
        ..done
    };
    let decisions = vec![
        decision(1, 1, Rule::Updated, -800),
        decision(1, 2, Rule::CancelledAndInserted, -400),
        decision(2, 1, Rule::IgnoredDone, -100),
    ];
    let attempts = vec![attempt(1, 1, "retry", -700)];
    let story = report(&[replaced, done], decisions, attempts);
    let expected = [
        "1 created #0",
        "1 updated #1",
        "1 retry @1",
        "1 cancelled @2",
        "1 cancelled_and_inserted #2",
        "2 reinserted #0",
        "2 done @1",
        "2 ignored_done #1",
    ];
    assert_eq!(lines(&story), expected);
}

#[test]
fn rs_13_at_one_instant_a_row_is_created_moved_tried_and_taken_away_before_its_successor() {
    let chain = |id: i64, replaces: Option<i64>| Task {
        replaces: replaces.map(TaskId),
        started_at: Some(at(0)),
        status: Status::Cancelled,
        ..task(id, Standing::Running, 0)
    };
    let decisions = vec![
        decision(2, 1, Rule::CancelledAndInserted, 0),
        decision(1, 1, Rule::Updated, 0),
        decision(1, 2, Rule::CancelledAndInserted, 0),
    ];
    let story = report(&[chain(1, None), chain(2, Some(1))], decisions, Vec::new());
    let expected = [
        "1 created #0",
        "1 updated #1",
        "1 cancelled @1",
        "1 cancelled_and_inserted #2",
        "2 reinserted #0",
        "2 cancelled @1",
        "2 cancelled_and_inserted #1",
    ];
    assert_eq!(lines(&story), expected);
}

#[test]
fn rs_13_an_attempt_is_shown_once_from_its_own_row_if_it_has_one() {
    for (standing, written, expected, why) in [
        (
            Standing::Running,
            vec![],
            vec!["running"],
            "the row shows it",
        ),
        (Standing::Success, vec![], vec!["done"], "the row shows it"),
        (
            Standing::FailSpent,
            vec![],
            vec!["failed"],
            "the row shows it",
        ),
        (
            Standing::FailWithTries,
            vec!["retry"],
            vec!["retry"],
            "the row will show the next",
        ),
        (
            Standing::FailWithTries,
            vec![],
            vec![],
            "a waiting row describes no attempt",
        ),
        (
            Standing::Init,
            vec!["again"],
            vec!["again"],
            "a new round after an old one",
        ),
        (Standing::Init, vec![], vec![], "never tried"),
    ] {
        let task = Task {
            term: Term(1),
            ..task(1, standing, -900)
        };
        let attempts = written
            .iter()
            .map(|outcome| attempt(1, 1, outcome, -700))
            .collect();
        let story = report(&[task], Vec::new(), attempts);
        let names: Vec<&str> = story
            .iter()
            .filter_map(|event| match event {
                HistoryEvent::Attempt(attempt) => Some(attempt.outcome.as_str()),
                HistoryEvent::Decision(_) => None,
            })
            .collect();
        assert_eq!(names, expected, "{standing:?}: {why}");
    }
}

#[test]
fn rs_13_a_late_answer_is_shown_beside_what_was_taken_away() {
    let cancelled = Task {
        status: Status::Cancelled,
        ..task(1, Standing::Running, -900)
    };
    let late = Attempt {
        late_outcome: Some("done".to_owned()),
        ..attempt(1, 1, "cancelled", -700)
    };
    let story = report(
        &[cancelled],
        vec![decision(1, 1, Rule::Cancelled, -600)],
        vec![late.clone()],
    );
    assert_eq!(
        lines(&story),
        ["1 created #0", "1 cancelled @1", "1 cancelled #1"]
    );
    assert_eq!(story[1], HistoryEvent::Attempt(late));
}

#[test]
fn rs_13_a_tombstone_is_shown_as_a_withdrawal_even_after_its_creation_arrived() {
    let tombstone = Task {
        decisions: 1,
        ..task(1, Standing::Cancelled, -900)
    };
    let overtaken = vec![decision(1, 1, Rule::IgnoredStale, -900)];
    let story = report(&[tombstone], overtaken, Vec::new());
    assert_eq!(lines(&story), ["1 cancelled #0", "1 ignored_stale #1"]);

    let withdrawn = Task {
        decisions: 1,
        finished_at: Some(at(-800)),
        ..task(1, Standing::Cancelled, -900)
    };
    let story = report(
        &[withdrawn],
        vec![decision(1, 1, Rule::Cancelled, -800)],
        Vec::new(),
    );
    assert_eq!(lines(&story), ["1 created #0", "1 cancelled #1"]);
}

#[test]
#[rustfmt::skip]
fn rs_14_a_decision_is_judged_by_what_became_of_its_row() {
    use Rule::{Cancelled, Created, IgnoredDone, IgnoredStale, Reinserted, Unchanged, Updated};
    for (rule, standing, later, kept, why) in [
        (Created, Standing::Init, None, Kept::Stands, "its time has not come"),
        (Updated, Standing::Running, None, Kept::Stands, "it is being tried"),
        (Updated, Standing::FailWithTries, None, Kept::Stands, "it will be tried again"),
        (Updated, Standing::Success, None, Kept::Done, "it was carried out"),
        (Updated, Standing::FailSpent, None, Kept::Failed, "tried as often as allowed"),
        (Updated, Standing::Init, Some(Updated), Kept::Superseded, "moved again"),
        (Updated, Standing::Init, Some(IgnoredStale), Kept::Stands, "that changed nothing"),
        (Updated, Standing::Success, Some(IgnoredDone), Kept::Done, "that changed nothing"),
        (Created, Standing::Cancelled, Some(Cancelled), Kept::Superseded, "withdrawn"),
        (Cancelled, Standing::Cancelled, None, Kept::Withdrawn, "the withdrawal holds"),
        (Cancelled, Standing::Cancelled, Some(Unchanged), Kept::Withdrawn, "and holds"),
        (Cancelled, Standing::Cancelled, Some(Reinserted), Kept::Superseded, "taken up again"),
        (IgnoredDone, Standing::Success, None, Kept::ChangedNothing, "and said so"),
        (IgnoredStale, Standing::Init, None, Kept::ChangedNothing, "and said so"),
        (Unchanged, Standing::Init, Some(Updated), Kept::ChangedNothing, "and said so"),
    ] {
        let later: Vec<Decision> = later
            .map(|rule| decision(7, 2, rule, 10))
            .into_iter()
            .collect();
        let judged = judge(&decision(7, 1, rule, 0), &row(standing), &later);
        assert_eq!(
            judged, kept,
            "{rule:?} on {standing:?}, then {later:?}: {why}"
        );
    }
}

#[test]
fn rs_14_a_replacement_is_judged_by_the_row_it_wrote() {
    let replaced = Decision {
        new_task_id: Some(TaskId(8)),
        ..decision(7, 4, Rule::CancelledAndInserted, 0)
    };
    let id = replaced.id;
    let old = Task {
        status: Status::Cancelled,
        current: false,
        ..row(Standing::Running)
    };
    let kept = |successor: Standing, on_successor: Option<Rule>| {
        let successor = Task {
            replaces: Some(TaskId(7)),
            ..task(8, successor, 0)
        };
        let mut decisions = vec![decision(7, 3, Rule::Updated, -10), replaced.clone()];
        decisions.extend(on_successor.map(|rule| decision(8, 1, rule, 10)));
        verify(id, &[old.clone(), successor], &decisions).map(|(_, kept)| kept)
    };
    assert_eq!(kept(Standing::Init, None), Some(Kept::Stands));
    assert_eq!(kept(Standing::Success, None), Some(Kept::Done));
    assert_eq!(kept(Standing::FailSpent, None), Some(Kept::Failed));
    assert_eq!(
        kept(Standing::Init, Some(Rule::Updated)),
        Some(Kept::Superseded),
        "moved again"
    );
    assert_eq!(
        kept(Standing::Init, Some(Rule::IgnoredStale)),
        Some(Kept::Stands)
    );
    assert_eq!(
        kept(Standing::Cancelled, Some(Rule::Cancelled)),
        Some(Kept::Superseded)
    );
    assert_eq!(
        verify(
            id,
            std::slice::from_ref(&old),
            std::slice::from_ref(&replaced)
        ),
        None,
        "its end is forgotten"
    );
}

#[test]
fn rs_14_a_creation_is_verified_from_its_row_alone() {
    let id = DecisionId {
        task_id: TaskId(7),
        number: 0,
    };
    let created = Task {
        decisions: 0,
        ..row(Standing::Init)
    };
    let (decision, kept) = verify(id, std::slice::from_ref(&created), &[]).unwrap();
    assert_eq!((decision.rule, kept), (Rule::Created, Kept::Stands));
    assert_eq!(decision.execute_at, created.created_execute_at);
    assert_eq!(verify(id, &[], &[]), None);
    let unknown = DecisionId { number: 9, ..id };
    assert_eq!(verify(unknown, &[created], &[]), None);
}

/// Whatever the size of a page, and wherever a row's decisions and attempts are cut.
#[test]
fn sf_02_pages_from_the_newest_on_are_together_the_whole_story() {
    let rows: Vec<Task> = (1..=4)
        .map(|id| Task {
            replaces: (id > 1).then_some(TaskId(id - 1)),
            term: Term(3),
            status: Status::Cancelled,
            started_at: Some(at(id * 100 + 50)),
            ..task(id, Standing::Running, id * 100)
        })
        .collect();
    let decided = |id: i64| (1..=5).map(move |n| (id, n));
    let decisions: Vec<Decision> = (1..=4)
        .flat_map(decided)
        .map(|(id, n)| decision(id, n, Rule::Unchanged, id * 100 + i64::from(n) * 10))
        .collect();
    let tried = |id: i64| [(id, 1, 15), (id, 2, 35)];
    let attempts: Vec<Attempt> = (1..=4)
        .filter(|id| id % 2 == 0)
        .flat_map(tried)
        .map(|(id, term, after)| attempt(id, term, "retry", id * 100 + after))
        .collect();
    let whole = report(&rows, decisions.clone(), attempts.clone());
    for limit in 1..=whole.len() + 1 {
        let (mut events, mut cursor) = (Vec::new(), None);
        // No page is empty, so there are no more.
        for _ in 0..=whole.len() {
            let newest = cursor.map_or(TaskId(i64::MAX), |cursor: HistoryCursor| cursor.task_id);
            let records = Records {
                tasks: rows
                    .iter()
                    .filter(|row| row.id <= newest)
                    .cloned()
                    .collect(),
                decisions: decisions.clone(),
                attempts: attempts.clone(),
            };
            let page = page(records, cursor, limit);
            assert!(page.events.len() <= limit);
            events.splice(0..0, page.events);
            cursor = page.before;
            if cursor.is_none() {
                break;
            }
            let text = cursor.map(|cursor| cursor.to_string()).unwrap();
            assert_eq!(HistoryCursor::parse(&text), cursor);
        }
        assert_eq!(lines(&events), lines(&whole), "{limit} on a page");
    }
    for text in ["", "1", "1.2", "1.2.x", "1.-2.3", "1.2.3.4"] {
        assert_eq!(HistoryCursor::parse(text), None, "{text}");
    }
}
