use super::*;
use crate::{
    lang::Lang,
    source::{Definition, SourceId},
    task::{Expiry, Payload, Priority, Revision, Tags, TaskId, Term},
};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn now() -> Timestamp {
    at("2026-03-02T10:00:00Z")
}

fn source() -> Source {
    let definition = Definition {
        name: "Example".to_owned(),
        address: "https://example.com/feed".to_owned(),
        ..Definition::default()
    };
    Source {
        id: SourceId(17),
        reason: Some("cadence P2: about every hour".to_owned().into()),
        ..Source::new(definition, now())
    }
}

fn task(execute_at: Timestamp, status: Status) -> Task {
    let waits = status == Status::Init;
    Task {
        id: TaskId(1),
        identity: SourceId(17).identity().unwrap(),
        status,
        current: true,
        execute_at,
        due_at: waits.then_some(execute_at),
        payload: Payload::default(),
        callback_url: None,
        call_options: None,
        expiry: Expiry::NEVER,
        tags: Tags::NONE,
        priority: Priority::default(),
        attempt: 0,
        max_retry: 3,
        term: Term(0),
        revision: Revision(0),
        decisions: 0,
        origin: "api:editor".to_owned(),
        detail: None,
        node: None,
        lease_until: None,
        replaces: None,
        created_at: now(),
        created_execute_at: execute_at,
        started_at: None,
        finished_at: None,
    }
}

#[test]
fn the_task_says_when_while_it_lives() {
    let later = at("2026-03-02T12:00:00Z");
    let moved = task(later, Status::Init);
    assert_eq!(next_look_at(&source(), Some(&moved)), Some(later));
    let withdrawn = task(later, Status::Cancelled);
    assert_eq!(next_look_at(&source(), Some(&withdrawn)), Some(now()));
    let paused = Source {
        state: State::Paused {
            since: now(),
            note: None,
        },
        ..source()
    };
    let paused = Source {
        stats: crate::source::Stats::default(),
        ..paused
    };
    assert_eq!(
        next_look_at(&paused, Some(&moved)),
        None,
        "it is left alone"
    );
}

#[test]
fn the_sentence_of_a_source_that_rests_says_why() {
    let in_state = |state| Source { state, ..source() };
    let paused = |note: Option<&str>| {
        in_state(State::Paused {
            since: now(),
            note: note.map(ToOwned::to_owned),
        })
    };
    let ended = in_state(State::Ended {
        since: now(),
        reason: "410 Gone".to_owned(),
    });
    for (source, why) in [
        (
            paused(Some("on holiday")),
            "paused since 2026-03-02T10:00:00Z (on holiday)",
        ),
        (paused(None), "paused since 2026-03-02T10:00:00Z"),
        (ended, "ended at 2026-03-02T10:00:00Z (410 Gone)"),
    ] {
        let sentence = format!("Not checked: {why}.");
        assert_eq!(next_look(&source, None, now(), Lang::English), sentence);
    }
}

#[test]
fn the_sentence_says_what_is_known() {
    let new = Source {
        reason: None,
        ..source()
    };
    let waits = task(now(), Status::Init);
    let moved = task(at("2026-03-02T12:00:00Z"), Status::Init);
    let earlier = at("2026-03-02T09:59:00Z");
    for (source, task, now, sentence) in [
        (
            source(),
            Some(&waits),
            earlier,
            "Next check at 2026-03-02T10:00:00Z: cadence P2: about every hour.",
        ),
        (
            new,
            Some(&waits),
            now(),
            "Due for a check since 2026-03-02T10:00:00Z: it has not been checked yet.",
        ),
        (
            source(),
            Some(&moved),
            now(),
            "Next check at 2026-03-02T12:00:00Z, not at 2026-03-02T10:00:00Z as planned: \
             its task was moved, or its host was busy.",
        ),
        (
            source(),
            Some(&task(now(), Status::Running)),
            now(),
            "It is being checked now.",
        ),
        (
            source(),
            None,
            now(),
            "Its task is missing; a node creates it again within minutes.",
        ),
    ] {
        assert_eq!(next_look(&source, task, now, Lang::English), sentence);
    }
}

#[test]
fn requests_are_shown_with_how_far_they_are_honoured() {
    assert!(requests(&Hints::default(), Lang::English).is_empty());
    let zero = Hints {
        fresh_for: Some(0),
        every: Some(0),
        ..Hints::default()
    };
    assert!(
        requests(&zero, Lang::English).is_empty(),
        "nothing is no request"
    );
    let hints = Hints {
        fresh_for: Some(600),
        every: Some(7 * 86_400),
        skip_hours: 0b111,
        skip_days: 0b110_0000,
    };
    assert_eq!(
        requests(&hints, Lang::English),
        [
            "Its response is fresh for 10m.",
            "It asks for no more than one check in 168h, which is honoured up to 24h.",
            "It asks not to be checked in the hours beginning at 00:00, 01:00, 02:00 UTC.",
            "It asks not to be checked on Saturday, Sunday.",
        ]
    );
}
