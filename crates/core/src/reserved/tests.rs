use super::*;
use crate::{
    fixture::{Standing, at, row},
    task::{Payload, Revision, Subject},
};

/// An identity that the engine could have made, of each kind.
const OURS: [(&str, &str); 4] = [
    (DISPATCH, "schedule:nightly@2026-01-05T08:00:00Z"),
    (outgoing::KIND, "event:task-1-1@audit"),
    (SOURCE_CHECK, "source:17"),
    (EDITION_RUN, "edition:2026-01-05"),
];

fn identity(kind: &str, subject: &str) -> Identity {
    Identity {
        subject: Subject::parse(subject).unwrap(),
        kind: Kind::parse(kind).unwrap(),
    }
}

fn put(identity: &Identity) -> Put {
    Put::at(identity.clone(), at(60))
}

fn cancel(identity: &Identity, revision: Option<i64>) -> Request {
    Request::Cancel(Cancel {
        identity: identity.clone(),
        revision: revision.map(Revision),
    })
}

#[test]
fn sf_04_nothing_is_made_up_and_no_tombstone_is_left() {
    for (kind, subject) in OURS {
        let identity = identity(kind, subject);
        for request in [
            Request::Put(put(&identity)),
            cancel(&identity, None),
            cancel(&identity, Some(9)),
        ] {
            assert!(!may_ask(&request, None), "{request:?}");
        }
    }
}

/// Of all that can be asked of a task that exists, a bare request to stop it or to try it again is
/// let through.
#[test]
fn sf_04_a_person_stops_what_lives_and_tries_again_what_failed() {
    for (kind, subject) in OURS {
        let identity = identity(kind, subject);
        let by_hand = kind != SOURCE_CHECK;
        for standing in Standing::ALL {
            let row = Task {
                identity: identity.clone(),
                ..row(standing)
            };
            let asked = |request: Request| may_ask(&request, Some(&row));
            let what = format!("{kind} {standing:?}");
            assert_eq!(
                asked(cancel(&identity, None)),
                by_hand && row.is_live(),
                "stop {what}"
            );
            assert_eq!(
                asked(Request::Put(put(&identity))),
                by_hand && standing.status() == Status::Fail,
                "try again {what}"
            );
            let later = Put::at(identity.clone(), at(7_200));
            assert_eq!(
                asked(Request::Put(later)),
                by_hand && standing == Standing::FailSpent,
                "put off {what}"
            );
            assert!(!asked(cancel(&identity, Some(9))), "revised stop {what}");
            for dressed in [
                Put {
                    payload: Some(Payload::default()),
                    ..put(&identity)
                },
                Put {
                    callback_url: Some("https://example.org/".to_owned()),
                    ..put(&identity)
                },
                Put {
                    max_retry: Some(1),
                    ..put(&identity)
                },
                Put {
                    revision: Some(Revision(9)),
                    ..put(&identity)
                },
            ] {
                assert!(!asked(Request::Put(dressed)), "more than a time: {what}");
            }
        }
    }
}

#[test]
fn other_kinds_are_open_to_clients() {
    let identity = identity("ARTICLE_PUBLISH", "schedule:nightly@2026-01-05T08:00:00Z");
    assert!(may_ask(&Request::Put(put(&identity)), None));
    assert!(may_ask(&cancel(&identity, Some(9)), None));
    assert!(may_fire(&identity));
}

#[test]
fn sf_04_a_schedule_puts_work_on_editions_and_checks_of_sources_by_their_names() {
    for (kind, subject, may) in [
        (DISPATCH, "schedule:nightly@2026-01-05T08:00:00Z", false),
        (outgoing::KIND, "event:task-1-1@audit", false),
        (SOURCE_CHECK, "source:17", true),
        (SOURCE_CHECK, "junk", false),
        (SOURCE_CHECK, "source:all", false),
        (EDITION_RUN, "edition:2026-01-05", true),
        (EDITION_RUN, "edition:soon", false),
        (
            edition::EDITION_TICK,
            "edition-tick:2026-01-05T08:00:00Z",
            true,
        ),
    ] {
        assert_eq!(may_fire(&identity(kind, subject)), may, "{kind} {subject}");
    }
}

#[test]
fn pages_leave_out_what_the_engine_made_and_no_task_of_a_user() {
    for kind in KINDS.into_iter().chain([EDITION_TICK]) {
        assert!(is_internal(&Kind::parse(kind).unwrap()), "{kind}");
    }
    for kind in ["ARTICLE_PUBLISH", "EDITION", "DISPATCH_ALL"] {
        assert!(!is_internal(&Kind::parse(kind).unwrap()), "{kind}");
    }
}
