//! Laws over whole histories, on the smallest store that keeps the port's promises: a list of rows
//! of one identity. Deliveries are duplicated and shuffled, claims and endings come in between.

use proptest::{prelude::*, sample::Index};

use super::*;
use crate::{
    backoff::Backoff,
    finish::{Finish, Outcome, finish},
    fixture::claimed,
    task::ClaimedTask,
};

/// All rows of one identity, oldest first.
#[derive(Default)]
struct Model {
    rows: Vec<Task>,
}

impl Model {
    fn current(&self) -> Option<&Task> {
        self.rows.iter().find(|task| task.current)
    }

    /// Decides from the current row and carries it out; here nothing comes in between.
    fn ask(&mut self, request: &Request) -> Option<Rule> {
        let change = decide(self.current(), request, "model", NOW).ok()?;
        assert!(self.apply(&change), "the row was read just now");
        Some(change.rule)
    }

    /// What the store's contract says: the whole change, or nothing.
    fn apply(&mut self, change: &Change) -> bool {
        let place = change.amend.as_ref().map(|amend| {
            let matches = |task: &Task| task.current && Guard::of(task) == amend.guard;
            self.rows.iter().position(matches)
        });
        match place {
            Some(None) => return false,
            None if self.current().is_some() => return false,
            Some(Some(place)) => carry_out(&mut self.rows[place], change.amend.as_ref().unwrap()),
            None => {}
        }
        if let Some(new) = &change.insert {
            let id = i64::try_from(self.rows.len() + 1).unwrap();
            self.rows.push(written(TaskId(id), new, change.decided_at));
        }
        true
    }

    fn claim(&mut self) -> Option<ClaimedTask> {
        let task = self.rows.iter_mut().find(|task| task.due_at.is_some())?;
        task.status = Status::Running;
        task.due_at = None;
        task.term.0 += 1;
        task.attempt += 1;
        let (id, term, attempt) = (task.id, task.term, task.attempt);
        let execute_at = task.execute_at;
        Some(ClaimedTask {
            id,
            term,
            execute_at,
            ..claimed(attempt, task.max_retry)
        })
    }

    fn finish(&mut self, end: &Finish) {
        let running = |task: &&mut Task| {
            (task.id, task.term, task.status) == (end.task_id, end.term, Status::Running)
        };
        if let Some(task) = self.rows.iter_mut().find(running) {
            task.status = end.status;
            task.attempt = end.attempt;
            task.execute_at = end.execute_at;
            task.due_at = end.waits.then_some(end.execute_at);
        }
    }
}

fn carry_out(task: &mut Task, amend: &Amend) {
    task.status = amend.status;
    task.current = amend.current;
    task.execute_at = amend.execute_at;
    task.due_at = amend.waits.then_some(amend.execute_at);
    task.revision = amend.revision;
    task.max_retry = amend.max_retry;
    task.decisions += 1;
}

fn written(id: TaskId, new: &NewTask, created_at: Timestamp) -> Task {
    Task {
        id,
        status: new.status,
        execute_at: new.execute_at,
        due_at: new.due_at(),
        attempt: 0,
        max_retry: new.max_retry,
        term: Term(0),
        revision: new.revision,
        decisions: 0,
        replaces: new.replaces,
        created_at,
        created_execute_at: new.execute_at,
        ..row(Standing::Init)
    }
}

/// Something that can happen to an identity.
#[derive(Debug, Clone)]
enum Step {
    Put { seconds: i64, numbered: bool },
    Cancel { numbered: bool },
    Claim,
    End { which: Index, outcome: Outcome },
}

fn any_step() -> impl Strategy<Value = Step> {
    let outcome = prop_oneof![
        Just(Outcome::HandedBack),
        Just(Outcome::LeaseExpired),
        Just(Outcome::GiveUp {
            error: "refused".to_owned()
        }),
        Just(Outcome::Retry {
            error: "busy".to_owned(),
            retry_after: None
        }),
        (0_i64..3).prop_map(|seconds| Outcome::Again {
            at: at(seconds),
            on_record: true
        }),
    ];
    prop_oneof![
        3 => (0_i64..3, any::<bool>()).prop_map(|(seconds, numbered)| Step::Put { seconds, numbered }),
        1 => any::<bool>().prop_map(|numbered| Step::Cancel { numbered }),
        3 => Just(Step::Claim),
        3 => (any::<Index>(), outcome).prop_map(|(which, outcome)| Step::End { which, outcome }),
    ]
}

/// Plays steps; `seen` is called with the model after each, and with the rule if one applied.
fn play(steps: &[Step], mut seen: impl FnMut(&Model, Option<(bool, Rule)>)) {
    let mut model = Model::default();
    let mut claims = Vec::new();
    let mut newest = 0;
    for step in steps {
        let mut number = |numbered: bool| {
            newest += i64::from(numbered);
            numbered.then_some(newest)
        };
        let rule = match step {
            Step::Put { seconds, numbered } => model
                .ask(&put(at(*seconds), number(*numbered)))
                .map(|rule| (*numbered, rule)),
            Step::Cancel { numbered } => model
                .ask(&cancel(number(*numbered)))
                .map(|rule| (*numbered, rule)),
            Step::Claim => {
                claims.extend(model.claim());
                None
            }
            Step::End { which, outcome } if !claims.is_empty() => {
                let task = which.get(&claims);
                model.finish(&finish(task, outcome, &Backoff::default(), NOW, 7));
                None
            }
            Step::End { .. } => None,
        };
        seen(&model, rule);
    }
}

/// Every change of one author, numbered from 1: `Some(seconds)` tries then, `None` withdraws.
fn requests(times: &[Option<i64>]) -> Vec<Request> {
    (1..)
        .zip(times)
        .map(|(number, request)| match request {
            Some(seconds) => put(at(*seconds), Some(number)),
            None => cancel(Some(number)),
        })
        .collect()
}

proptest! {
    #[test]
    fn rs_10_in_whatever_order_and_however_often_changes_arrive_the_newest_wins(
        times in proptest::collection::vec(proptest::option::weighted(0.7, 1_i64..10_000), 1..8),
        deliveries in proptest::collection::vec(any::<Index>(), 0..20),
        shuffle: u64,
    ) {
        let once = requests(&times);
        let repeated = deliveries.iter().map(|index| index.get(&once).clone());
        let mut arriving: Vec<Request> = once.iter().cloned().chain(repeated).collect();
        let mixed = |place: usize| (place as u64 + 1).wrapping_mul(shuffle | 1).rotate_left(17);
        let mut order: Vec<usize> = (0..arriving.len()).collect();
        order.sort_by_key(|place| mixed(*place));
        arriving = order.into_iter().map(|place| arriving[place].clone()).collect();

        let mut model = Model::default();
        for request in &arriving {
            model.ask(request);
        }
        let end = model.current().expect("a numbered change always leaves a row");
        if let Some(seconds) = times.last().unwrap() {
            prop_assert_eq!(end.due_at, Some(at(*seconds)));
        } else {
            prop_assert_eq!((end.status, end.due_at), (Status::Cancelled, None));
        }
        prop_assert_eq!(end.revision.0, i64::try_from(times.len()).unwrap());
    }

    #[test]
    fn rs_01_there_is_always_one_current_row_and_at_most_one_live_one(
        steps in proptest::collection::vec(any_step(), 1..40),
    ) {
        play(&steps, |model, _| {
            let live = model.rows.iter().filter(|task| task.is_live()).count();
            let current = model.rows.iter().filter(|task| task.current).count();
            assert!(live <= 1, "{live} live rows");
            assert!(current == usize::from(!model.rows.is_empty()), "{current} current rows");
            let newest_is_current = model.rows.last().is_none_or(|task| task.current);
            assert!(newest_is_current, "only the newest row can be current");
        });
    }

    #[test]
    fn rs_06_a_guard_never_matches_a_row_that_moved_on(
        steps in proptest::collection::vec(any_step(), 1..40),
    ) {
        let mut seen: Vec<Task> = Vec::new();
        play(&steps, |model, _| {
            for task in &model.rows {
                for before in seen.iter().filter(|before| Guard::of(before) == Guard::of(task)) {
                    assert_eq!(before, task, "the same guard, another row");
                }
            }
            seen.extend(model.rows.iter().cloned());
        });
    }

    #[test]
    fn rs_06_a_change_with_a_new_number_is_never_swallowed(
        steps in proptest::collection::vec(any_step(), 1..40),
    ) {
        play(&steps, |_, ruled| {
            if let Some((true, rule)) = ruled {
                assert_ne!(rule, Rule::IgnoredStale, "its number is newer than any before");
            }
        });
    }
}
