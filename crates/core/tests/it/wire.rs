//! What the wire answers can be read back, by the rules by which it was accepted.

use std::fmt::Debug;

use almanack_core::{
    history::{Attempt, Decision, HistoryEvent},
    plan::{Pause, ScheduleName, State},
    reschedule::{DecisionId, Requested, Rule},
    task::{Identity, Kind, Payload, Priority, Revision, Subject, TaskId, Term},
};
use jiff::Timestamp;
use serde::{Serialize, de::DeserializeOwned};

const AT: Timestamp = Timestamp::UNIX_EPOCH;

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    let back: T = serde_json::from_str(&text).unwrap();
    assert_eq!(&back, value, "{text}");
}

fn decision() -> Decision {
    Decision {
        id: DecisionId {
            task_id: TaskId(7),
            number: 2,
        },
        decided_at: AT,
        origin: "api:ops".to_owned(),
        rule: Rule::Updated,
        old_execute_at: Some(AT),
        execute_at: AT,
        revision: 3,
        new_task_id: None,
        requested: None,
        times: 1,
        last_at: None,
    }
}

#[test]
fn wk_08_a_history_can_be_read_back() {
    comes_back(&HistoryEvent::Decision(decision()));
    for execute_at in [Some(AT), None] {
        let requested = Requested {
            execute_at,
            revision: Some(Revision(2)),
        };
        comes_back(&HistoryEvent::Decision(Decision {
            rule: Rule::IgnoredStale,
            revision: 0,
            requested: Some(requested),
            times: 4,
            last_at: Some(AT),
            ..decision()
        }));
    }
    comes_back(&HistoryEvent::Attempt(Attempt {
        task_id: TaskId(7),
        term: Term(1),
        attempt: 1,
        due_at: AT,
        started_at: AT,
        finished_at: None,
        outcome: "running".to_owned(),
        late_outcome: None,
        detail: None,
        node: Some("a".to_owned()),
    }));
}

#[test]
fn wk_08_a_schedules_state_can_be_read_back() {
    let pause = Pause {
        since: AT,
        until: None,
        note: Some("holidays".to_owned()),
        by: "ada".to_owned(),
    };
    for state in [
        State::Active,
        State::Paused(pause),
        State::Parked {
            since: AT,
            reason: "no such zone".to_owned().into(),
        },
        State::Removed { since: AT },
        State::Done { since: AT },
    ] {
        comes_back(&state);
    }
    for text in [r#"{"state":"paused"}"#, r#"{"state":"asleep"}"#] {
        assert!(serde_json::from_str::<State>(text).is_err(), "{text}");
    }
}

#[test]
fn wk_08_what_would_not_be_accepted_is_not_read() {
    comes_back(&Identity::parse("article:42", "ARTICLE_PUBLISH").unwrap());
    let payload = r#"{"n": 12345678901234567890123, "a":[ ]}"#;
    let read: Payload = serde_json::from_str(payload).unwrap();
    assert_eq!(read.as_str(), payload, "byte for byte");
    assert!(serde_json::from_str::<Subject>(r#"" blank""#).is_err());
    assert!(serde_json::from_str::<Kind>(r#""4U""#).is_err());
    assert!(serde_json::from_str::<ScheduleName>(r#""a/b""#).is_err());
    assert!(serde_json::from_str::<Priority>("10").is_err());
    assert_eq!(serde_json::from_str::<Priority>("9").unwrap().level(), 9);
}
