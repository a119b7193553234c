use jiff::civil::date;
use proptest::prelude::*;

use super::*;
use crate::{
    backoff::Backoff,
    edition::{
        self,
        account::Change,
        delivery::{Delivery, State},
    },
    finish::{Finish, finish},
    fixture::{NOW, at},
    plan::{
        DISPATCH, Definition as ScheduleDefinition, Down, DownCause, Monitor, MonitorWrite, Origin,
        Schedule, ScheduleId, ScheduleName, ScheduleWrite,
    },
    source::{Definition, Source, SourceId, entry::FoundEntry},
    store::{EntryChange, EntryEdit, SourceWrite},
    task::{ClaimedTask, Expiry, NewTask, Payload, Revision, Status, Subject, TaskId, Term},
};

fn kind(name: &str) -> Kind {
    Kind::parse(name).unwrap()
}

fn subscription(name: &str, wants: Wants) -> Subscription {
    let name = Name::parse(name).unwrap();
    Subscription {
        name,
        wants,
        batch: None,
    }
}

fn reported_to(all: Vec<Subscription>) -> Subscriptions {
    Subscriptions {
        source: "/almanack".to_owned(),
        all,
    }
}

fn everything() -> Subscriptions {
    reported_to(vec![subscription("audit", Wants::default())])
}

fn task(subject: &str, kind_name: &str) -> ClaimedTask {
    ClaimedTask {
        id: TaskId(12),
        identity: Identity {
            subject: Subject::parse(subject).unwrap(),
            kind: kind(kind_name),
        },
        term: Term(3),
        attempt: 2,
        max_retry: 3,
        expiries: 0,
        execute_at: NOW,
        started_at: at(1),
        payload: Payload::default(),
        callback_url: None,
        call_options: None,
        expiry: Expiry::NEVER,
        revision: Revision(7),
    }
}

fn ended(task: &ClaimedTask, outcome: &Outcome) -> Finish {
    finish(task, outcome, &Backoff::default(), at(2), 0)
}

/// The deliveries that are written with an ending.
fn reported(subscriptions: &Subscriptions, task: &ClaimedTask, outcome: &Outcome) -> Vec<NewTask> {
    let mut finish = ended(task, outcome);
    subscriptions.add_to(task, &mut finish);
    finish.event_tasks
}

fn done() -> Outcome {
    Outcome::Done {
        detail: Some("HTTP 200".to_owned()),
    }
}

fn subjects(tasks: &[NewTask]) -> Vec<&str> {
    tasks
        .iter()
        .map(|new| new.identity.subject.as_str())
        .collect()
}

fn event(new: &NewTask) -> serde_json::Value {
    serde_json::from_str(new.payload.as_str()).unwrap()
}

#[test]
fn the_data_of_a_task_event() {
    let task = task("article:42", "ARTICLE_PUBLISH");
    let tasks = reported(&everything(), &task, &done());
    assert_eq!(subjects(&tasks), ["event:task-12-3@audit"]);
    let new = &tasks[0];
    assert_eq!((new.execute_at, new.status), (at(2), Status::Init));
    assert_eq!(subscriber(&new.identity), Some("audit"));
    insta::assert_snapshot!(serde_json::to_string_pretty(&event(new)).unwrap(), @r#"
    {
      "data": {
        "attempt": 2,
        "detail": "HTTP 200",
        "execute_at": "2026-01-05T08:00:00Z",
        "finished_at": "2026-01-05T08:00:02Z",
        "kind": "ARTICLE_PUBLISH",
        "revision": 7,
        "started_at": "2026-01-05T08:00:01Z",
        "status": "SUCCESS",
        "subject": "article:42",
        "task_id": 12
      },
      "datacontenttype": "application/json",
      "id": "task-12-3",
      "source": "/almanack",
      "specversion": "1.0",
      "subject": "article:42",
      "time": "2026-01-05T08:00:02Z",
      "type": "almanack.task.finished.v1"
    }
    "#);
}

#[test]
fn wk_06_the_event_of_an_expired_task_names_the_reason() {
    let task = task("article:42", "ARTICLE_PUBLISH");
    let expired = reported(&everything(), &task, &Outcome::Expired);
    assert_eq!(event(&expired[0])["data"]["reason"], "expired");
    let failed = Outcome::GiveUp {
        error: "HTTP 405".to_owned(),
    };
    let failed = reported(&everything(), &task, &failed);
    assert_eq!(event(&failed[0])["data"].get("reason"), None);
}

/// Every way to end an attempt, and whether it is an event.
#[test]
fn only_the_end_of_a_task_is_an_event() {
    let retry = || Outcome::Retry {
        error: "503".to_owned(),
        retry_after: None,
    };
    let again = Outcome::Again {
        at: at(9),
        on_record: true,
    };
    let refused = Outcome::GiveUp {
        error: "404".to_owned(),
    };
    for (outcome, attempt, expected) in [
        (done(), 1, Some("SUCCESS")),
        (refused, 1, Some("FAIL")),
        (retry(), 3, None),
        (retry(), 4, Some("FAIL")),
        (Outcome::LeaseExpired, 4, None),
        (Outcome::HandedBack, 4, None),
        (again, 1, None),
    ] {
        let mut task = task("article:42", "ARTICLE_PUBLISH");
        task.attempt = attempt;
        let tasks = reported(&everything(), &task, &outcome);
        let statuses: Vec<_> = tasks.iter().map(event).collect();
        let status = statuses
            .first()
            .map(|event| event["data"]["status"].as_str().unwrap());
        assert_eq!(status, expected, "{outcome:?} on attempt {attempt}");
    }
}

#[test]
fn an_event_delivery_is_no_event() {
    let task = task("event:task-1-1@audit", KIND);
    assert_eq!(reported(&everything(), &task, &done()), []);
}

/// Who wants what.
#[test]
fn each_subscription_gets_what_it_selects() {
    let types = |types: &[Type]| Wants {
        types: types.to_vec(),
        ..Wants::default()
    };
    let kinds = |kinds: &[&str]| Wants {
        kinds: kinds.iter().map(|name| kind(name)).collect(),
        ..Wants::default()
    };
    let prefix = |prefix: &str| Wants {
        subject_prefix: Some(prefix.to_owned()),
        ..Wants::default()
    };
    let categories = |folders: &[&str]| Wants {
        categories: folders.iter().map(|&folder| folder.to_owned()).collect(),
        ..Wants::default()
    };
    for (wants, of_task, of_source) in [
        (Wants::default(), true, true),
        (types(&[Type::TaskFinished]), true, false),
        (types(&[Type::SourceEntries]), false, true),
        (types(&Type::ALL), true, true),
        (kinds(&["ARTICLE_PUBLISH"]), true, true),
        (kinds(&["OTHER", "ARTICLE_PUBLISH"]), true, true),
        // Kinds are those of tasks: what is not about a task has none.
        (kinds(&["OTHER"]), false, true),
        // Categories are those of sources: what is not about a source has none (SS-24).
        (categories(&["coast"]), true, true),
        (categories(&["news", "coast/ferries"]), true, true),
        (categories(&["news", "ferries", "coas"]), true, false),
        (prefix("article:"), true, false),
        (prefix("source:"), false, true),
        (prefix("article:43"), false, false),
    ] {
        let subscriptions = reported_to(vec![subscription("audit", wants.clone())]);
        let task = task("article:42", "ARTICLE_PUBLISH");
        let tasks = reported(&subscriptions, &task, &done());
        assert_eq!(!tasks.is_empty(), of_task, "{wants:?}");
        let tasks = subscriptions.of_source(&before(), &look(1));
        assert_eq!(!tasks.is_empty(), of_source, "{wants:?}");
    }
}

#[test]
fn all_subscribers_get_the_same_and_no_subscriber_gets_nothing() {
    let two = reported_to(vec![
        subscription("audit", Wants::default()),
        subscription("search-index", Wants::default()),
    ]);
    let task = task("article:42", "ARTICLE_PUBLISH");
    let tasks = reported(&two, &task, &done());
    let expected = ["event:task-12-3@audit", "event:task-12-3@search-index"];
    assert_eq!(subjects(&tasks), expected);
    assert_eq!(tasks[0].payload, tasks[1].payload);
    let none = Subscriptions::default();
    assert_eq!(reported(&none, &task, &done()), []);
    assert_eq!(none.of_source(&before(), &look(1)), []);
}

/// DP-15: what a command printed stays where reading it needs a permission.
#[test]
fn dp_15_what_a_command_printed_is_not_shown() {
    let task = task("schedule:backup@1", DISPATCH);
    let printed = Outcome::GiveUp {
        error: "exit code 1: password=hunter2".to_owned(),
    };
    let tasks = reported(&everything(), &task, &printed);
    assert!(!tasks[0].payload.as_str().contains("hunter2"));
    assert!(tasks[0].payload.as_str().contains("exit code 1"));
}

/// A source that was looked at before.
fn before() -> Source {
    let definition = Definition {
        name: "Blog".to_owned(),
        address: "https://blog.example/feed?key=hunter2".to_owned(),
        category: "coast/ferries".to_owned(),
        ..Definition::default()
    };
    let mut source = Source::new(definition, NOW);
    (source.id, source.version) = (SourceId(17), 4);
    source.learned = b"something".to_vec();
    source
}

fn look(entries: usize) -> SourceWrite {
    let source = before();
    let found = |n: usize| {
        let found = FoundEntry {
            title: format!("Entry {n}"),
            link: Some(format!("https://blog.example/{n}")),
            published_at: Some(at(1)),
            ..FoundEntry::default()
        };
        (format!("key {n}"), found)
    };
    SourceWrite {
        source,
        entries: (1..=entries).map(found).collect(),
        edited: Vec::new(),
        at: at(5),
        event_tasks: Vec::new(),
    }
}

/// What was heard of the monitor `backup`: why it was down before, and why it is now.
fn heard(down_before: Option<DownCause>, down: Option<DownCause>) -> ScheduleWrite {
    let down_of = |cause: DownCause| Down {
        since: at(2),
        cause,
        detail: "no ping since yesterday".to_owned(),
    };
    let target = crate::target::Target::Ping { note: None };
    let definition = ScheduleDefinition::new("@daily", target).into();
    let name = ScheduleName::parse("backup").unwrap();
    let schedule = Schedule {
        id: ScheduleId(9),
        version: 4,
        ..Schedule::new(name, Origin::Api, definition, None, NOW)
    };
    let mut write = ScheduleWrite::of(Some(3), schedule, at(5));
    write.monitor = Some(MonitorWrite {
        monitor: Monitor {
            last_ping_at: Some(at(1)),
            down: down.map(down_of),
            ..Monitor::default()
        },
        down_before: down_before.map(down_of),
        ping: None,
    });
    write
}

#[test]
fn dp_23_a_monitor_that_goes_down_or_comes_up_is_an_event() {
    let reported = |before, after| {
        let mut write = heard(before, after);
        everything().add_to_schedule(&mut write);
        write.event_tasks
    };
    let missed = Some(DownCause::NoPing);
    let down = reported(None, missed);
    assert_eq!(subjects(&down), ["event:monitor-9-4@audit"]);
    let down = event(&down[0]);
    assert_eq!(down["type"], "almanack.monitor.down.v1");
    assert_eq!(down["subject"], "monitor:backup");
    insta::assert_snapshot!(down["data"], @r#"{"cause":"no_ping","detail":"no ping since yesterday","down_since":"2026-01-05T08:00:02Z","last_ping_at":"2026-01-05T08:00:01Z","name":"backup"}"#);
    let up = event(&reported(missed, None)[0]);
    assert_eq!(up["type"], "almanack.monitor.up.v1");
    assert_eq!(up["data"]["up_at"], "2026-01-05T08:00:05Z");
    for (before, after) in [(None, None), (missed, Some(DownCause::Failed))] {
        assert_eq!(reported(before, after), [], "nothing went down or came up");
    }
    let mut others = heard(None, missed);
    let wants = Wants {
        types: vec![Type::MonitorUp],
        ..Wants::default()
    };
    reported_to(vec![subscription("up", wants)]).add_to_schedule(&mut others);
    assert_eq!(others.event_tasks, [], "not wanted");
}

#[test]
fn the_data_of_a_source_event() {
    let tasks = everything().of_source(&before(), &look(1));
    assert_eq!(subjects(&tasks), ["event:source-17-4@audit"]);
    insta::assert_snapshot!(event(&tasks[0])["data"], @r#"{"entries":[{"id":"key 1","published_at":"2026-01-05T08:00:01Z","title":"Entry 1","url":"https://blog.example/1"}],"more":0,"name":"Blog","source_id":17}"#);
    assert_eq!(event(&tasks[0])["subject"], "source:17");
    // Its address may have a key in it.
    assert!(!tasks[0].payload.as_str().contains("hunter2"));
    assert_eq!(
        everything().of_source(&before(), &look(0)),
        [],
        "a quiet look"
    );
}

#[test]
fn ss_18_what_a_first_look_finds_is_marked_and_an_edit_is_another_event() {
    let mut unread = before();
    unread.learned.clear();
    let first = everything().of_source(&unread, &look(1));
    assert_eq!(event(&first[0])["data"]["initial"], true);
    let later = everything().of_source(&before(), &look(1));
    assert_eq!(event(&later[0])["data"].get("initial"), None);

    let mut write = look(1);
    let renewed = EntryChange {
        row: 1,
        key: "key 7".to_owned(),
        edit: None,
    };
    let edited = EntryChange {
        row: 2,
        key: "key 8".to_owned(),
        edit: Some(EntryEdit {
            found: write.entries.remove(0).1,
            revision: 3,
        }),
    };
    write.edited = vec![renewed, edited];
    let tasks = everything().of_source(&before(), &write);
    assert_eq!(subjects(&tasks), ["event:source-17-4-updated@audit"]);
    assert_eq!(event(&tasks[0])["type"], "almanack.source.entry_updated.v1");
    insta::assert_snapshot!(event(&tasks[0])["data"], @r#"{"entries":[{"id":"key 8","published_at":"2026-01-05T08:00:01Z","revision":3,"title":"Entry 1","url":"https://blog.example/1"}],"more":0,"name":"Blog","source_id":17}"#);
    let news_only = Wants {
        types: vec![Type::SourceEntries],
        ..Wants::default()
    };
    let news_only = reported_to(vec![subscription("news", news_only)]);
    assert_eq!(news_only.of_source(&before(), &write), []);
}

#[test]
fn of_many_entries_the_newest_are_named() {
    for (entries, named, more) in [(20, 20, 0), (21, 20, 1), (200, 20, 180)] {
        let shown = event(&everything().of_source(&before(), &look(entries))[0]);
        let list = shown["data"]["entries"].as_array().unwrap();
        assert_eq!((list.len(), &shown["data"]["more"]), (named, &more.into()));
        assert_eq!(list[19]["id"], format!("key {entries}"));
    }
}

fn part(destination: &str, part: u32, state: State) -> Delivery {
    let mut delivery = Delivery::new(1, destination, part, None, edition::fixture::NOW);
    delivery.state = state;
    delivery.receipt = (state == State::Confirmed).then(|| format!("{destination}/{part}"));
    delivery
}

/// Deliveries before, those that a change writes, and the destinations with an event.
#[test]
fn an_edition_is_an_event_once_a_destination_has_all_of_it() {
    use State::{Confirmed, Failed, Intended, Sent, Skipped, Unknown};
    for (before, written, arrives) in [
        (vec![(1, Sent)], (1, Confirmed), true),
        (vec![(1, Sent)], (1, Failed), false),
        (vec![(1, Sent)], (1, Unknown), false),
        // Nothing arrived.
        (vec![(1, Sent)], (1, Skipped), false),
        (vec![(1, Sent), (2, Intended)], (1, Confirmed), false),
        (vec![(1, Confirmed), (2, Sent)], (2, Confirmed), true),
        (vec![(1, Confirmed), (2, Unknown)], (2, Skipped), true),
        (vec![(1, Skipped), (2, Sent)], (2, Confirmed), true),
        // It was delivered before.
        (vec![(1, Confirmed)], (1, Confirmed), false),
    ] {
        let mut account = edition::fixture::account(&[]);
        account.edition.revision = 1;
        let rows = before.iter().map(|(n, state)| part("web", *n, *state));
        account.deliveries = rows.collect();
        // Another destination has nothing to do with it.
        account.deliveries.push(part("chat", 1, Intended));
        let mut change = Change::of(account.edition.clone());
        change.deliveries = vec![part("web", written.0, written.1)];
        let tasks = everything().of_edition(&account, &change);
        let expected: &[&str] = if arrives {
            &["event:edition-2026-01-04-1-web@audit"]
        } else {
            &[]
        };
        assert_eq!(subjects(&tasks), expected, "{before:?} and {written:?}");
    }
}

#[test]
fn the_data_of_an_edition_event() {
    let mut account = edition::fixture::account(&[edition::story::Status::Completed; 3]);
    account.edition.revision = 1;
    account.deliveries = vec![
        part("web", 1, State::Confirmed),
        part("web", 2, State::Sent),
    ];
    let mut change = Change::of(account.edition.clone());
    change.deliveries = vec![part("web", 2, State::Confirmed)];
    let shown = event(&everything().of_edition(&account, &change)[0]);
    assert_eq!(shown["subject"], "edition:2026-01-04");
    insta::assert_snapshot!(shown["data"], @r#"{"date":"2026-01-04","destination":"web","name":"default","parts":2,"receipts":["web/1","web/2"],"revision":1,"stories":3}"#);
    assert_eq!(account.edition.id, date(2026, 1, 4).into());
}

#[test]
fn names_that_do_not_fit_into_a_subject_are_refused() {
    for good in ["a", "search-index", "Audit_2", &"x".repeat(64)] {
        assert_eq!(Name::parse(good).unwrap().as_str(), good);
    }
    for bad in ["", "a@b", "a b", "日报", "a.b", &"x".repeat(65)] {
        assert_eq!(Name::parse(bad), Err(BadName), "{bad}");
    }
}

#[test]
fn only_event_deliveries_have_a_subscriber() {
    for (subject, kind_name, name) in [
        ("event:task-1-1@audit", KIND, Some("audit")),
        ("event:edition-2026-01-04-1-a-b@audit", KIND, Some("audit")),
        ("event:task-1-1@audit", "OTHER", None),
        ("task-1-1@audit", KIND, None),
        ("event:task-1-1", KIND, None),
    ] {
        let identity = task(subject, kind_name).identity;
        assert_eq!(subscriber(&identity), name, "{subject} {kind_name}");
    }
}

proptest! {
    /// Whatever the names and numbers, the task can be written, and its subscription is found
    /// again.
    #[test]
    fn a_event_always_becomes_a_task(
        id in 0..i64::MAX, term in 0..i64::MAX, name in "[A-Za-z0-9_-]{1,64}", destination in ".{1,300}",
    ) {
        let subscriptions = reported_to(vec![subscription(&name, Wants::default())]);
        let mut task = task("article:42", "ARTICLE_PUBLISH");
        (task.id, task.term) = (TaskId(id), Term(term));
        let tasks = reported(&subscriptions, &task, &done());
        prop_assert_eq!(subscriber(&tasks[0].identity), Some(name.as_str()));
        let mut account = edition::fixture::account(&[]);
        account.edition.revision = 1;
        account.deliveries = vec![part(&destination, 1, State::Sent)];
        let mut change = Change::of(account.edition.clone());
        change.deliveries = vec![part(&destination, 1, State::Confirmed)];
        let tasks = subscriptions.of_edition(&account, &change);
        prop_assert_eq!(subscriber(&tasks[0].identity), Some(name.as_str()));
        let id = event(&tasks[0])["id"].as_str().unwrap().to_owned();
        prop_assert!(!id.contains(['.', '@']), "{}", id);
    }

    /// Two events have one id exactly if they are the same event.
    #[test]
    fn an_id_names_one_ending(a in (1_i64..9, 1_i64..9), b in (1_i64..9, 1_i64..9)) {
        let id = |(id, term)| {
            let mut task = task("article:42", "ARTICLE_PUBLISH");
            (task.id, task.term) = (TaskId(id), Term(term));
            let tasks = reported(&everything(), &task, &done());
            tasks[0].identity.clone()
        };
        prop_assert_eq!(id(a) == id(b), a == b);
    }
}
