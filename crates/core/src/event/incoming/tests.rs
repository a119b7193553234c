use serde_json::{Value, json};

use super::*;
use crate::{
    fixture::{at, identity},
    task::{PAYLOAD_BYTES_MAX, Revision, Tags},
};

const LIMIT: usize = 1000;

fn event(kind_of: &str, data: &Value) -> Value {
    json!({
        "specversion": "1.0",
        "id": "e-1",
        "source": "/article-service",
        "type": kind_of,
        "subject": "article:42",
        "data": data,
    })
}

fn put_event() -> Value {
    let data = json!({
        "kind": "ARTICLE_PUBLISH",
        "execute_at": "2026-01-05T08:01:00Z",
        "revision": 3,
    });
    event(TYPE_PUT, &data)
}

fn cancel_event() -> Value {
    event(
        TYPE_CANCEL,
        &json!({ "kind": "ARTICLE_PUBLISH", "revision": 4 }),
    )
}

/// A change at `pointer`; `null` takes the field out.
fn with(mut event: Value, pointer: &str, value: Value) -> Value {
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    let parent = event.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    if value.is_null() {
        parent.remove(field);
    } else {
        parent.insert(field.to_owned(), value);
    }
    event
}

fn read_put(event: &Value) -> Put {
    match parse(&event.to_string(), LIMIT).unwrap().request {
        Request::Put(put) => put,
        Request::Cancel(cancel) => panic!("{cancel:?}"),
    }
}

#[test]
fn rs_10_a_put_event_becomes_a_put() {
    let understood = parse(&put_event().to_string(), LIMIT).unwrap();
    assert_eq!(
        (understood.id.as_str(), understood.source.as_str()),
        ("e-1", "/article-service")
    );
    let expected = Put {
        identity: identity(),
        execute_at: at(60),
        payload: None,
        callback_url: None,
        call_options: None,
        expires: None,
        max_retry: None,
        priority: None,
        tags: None,
        revision: Some(Revision(3)),
    };
    assert_eq!(understood.request, Request::Put(expected));
}

#[test]
fn rs_10_a_put_event_may_say_everything_a_put_can() {
    let event = with(put_event(), "/data/payload", json!({ "a": [1] }));
    let event = with(event, "/data/callback_url", json!("http://127.0.0.1:9/"));
    let event = with(event, "/data/max_retry", json!(0));
    let event = with(event, "/data/tags", json!(["b", "a"]));
    let put = read_put(&with(event, "/data/priority", json!(9)));
    assert_eq!(put.tags, Some(Tags::parse(&["a", "b"]).unwrap()));
    assert_eq!(put.payload.unwrap().as_str(), r#"{"a":[1]}"#);
    assert_eq!(put.callback_url.as_deref(), Some("http://127.0.0.1:9/"));
    assert_eq!((put.max_retry, put.priority.unwrap().level()), (Some(0), 9));
}

#[test]
fn rs_10_a_cancel_event_becomes_a_cancel() {
    let understood = parse(&cancel_event().to_string(), LIMIT).unwrap();
    let expected = Cancel {
        identity: identity(),
        revision: Some(Revision(4)),
    };
    assert_eq!(understood.request, Request::Cancel(expected));
}

#[test]
fn rs_10_unknown_attributes_of_the_envelope_pass() {
    let event = with(put_event(), "/time", json!("2026-01-05T08:00:00Z"));
    let event = with(event, "/traceparent", json!("00-ab-cd-01"));
    let event = with(event, "/datacontenttype", json!("application/json"));
    assert!(parse(&event.to_string(), LIMIT).is_ok());
}

#[test]
fn rs_11_a_time_is_understood_in_any_offset_and_cut_to_microseconds() {
    let offset = with(
        put_event(),
        "/data/execute_at",
        json!("2026-01-05T16:01:00+08:00"),
    );
    assert_eq!(read_put(&offset).execute_at, at(60));
    let fine = with(
        put_event(),
        "/data/execute_at",
        json!("2026-01-05T08:01:00.123456789Z"),
    );
    assert_eq!(read_put(&fine).execute_at.subsec_nanosecond(), 123_456_000);
}

#[test]
#[rustfmt::skip]
fn rs_11_what_is_wrong_is_refused_by_name() {
    let put = |pointer, value| with(put_event(), pointer, value);
    let cancel = |pointer, value| with(cancel_event(), pointer, value);
    let too_large = "x".repeat(LIMIT);
    for (event, names, why) in [
        (put("/specversion", json!("0.3")), "specversion `0.3`", "another version"),
        (put("/specversion", Value::Null), "event.specversion`", "no version"),
        (put("/id", Value::Null), "event.id`", "nothing to name it by"),
        (put("/source", Value::Null), "event.source`", "it has no sender"),
        (put("/type", json!("almanack.task.put.v2")), "almanack.task.put.v2", "not ours yet"),
        (put("/subject", Value::Null), "event.subject`", "about nothing"),
        (put("/subject", json!(42)), "`event.subject`: ", "not text"),
        (put("/subject", json!("")), "subject must have", "empty"),
        (put("/data", Value::Null), "event.data`", "says nothing"),
        (put("/data", json!("text")), "`data`: ", "not an object"),
        (put("/data/kind", Value::Null), "`data.kind` is missing", "no kind"),
        (put("/data/kind", json!("a b")), "kind `a b`", "not a name"),
        (put("/data/execute_at", Value::Null), "`data.execute_at`", "no time"),
        (put("/data/execute_at", json!("tomorrow")), "`data.execute_at`: ", "not a time"),
        (put("/data/execute_at", json!("2026-02-30T08:00:00Z")), "`data.execute_at`: ", "no such day"),
        (put("/data/execute_at", json!("2026-01-05T08:00:00")), "`data.execute_at`: ", "which zone?"),
        (put("/data/execute_at", json!("10000-01-01T00:00:00Z")), "`data.execute_at`: ", "too far"),
        (put("/data/execute_at", json!(1_767_600_000)), "`data.execute_at`: ", "of which unit?"),
        (put("/data/revision", Value::Null), "`data.revision`", "could not be ordered"),
        (put("/data/revision", json!(0)), "revision must be", "numbers start at 1"),
        (put("/data/revision", json!("3")), "`data.revision`: ", "not a number"),
        (put("/data/revision", json!(1.5)), "`data.revision`: ", "not a whole number"),
        (put("/data/max_retry", json!(101)), "max_retry must be", "too many"),
        (put("/data/priority", json!(10)), "priority must be", "too high"),
        (put("/data/payload", json!(too_large)), "payload has", "too large"),
        (put("/data/excute_at", json!("x")), "`data.excute_at`", "a misspelt field"),
        (cancel("/data/revision", Value::Null), "`data.revision`", "could not be ordered"),
        (cancel("/data/execute_at", json!("x")), "`data.execute_at`", "a withdrawal has no time"),
    ] {
        let refused = parse(&event.to_string(), LIMIT).map(|event| event.request);
        let message = refused.expect_err(why).to_string();
        assert!(
            message.contains(names),
            "{why}: `{message}` does not name {names}"
        );
    }
}

#[test]
fn rs_11_what_is_not_one_json_object_is_refused() {
    let twice = format!("{} {}", put_event(), put_event());
    for (text, why) in [
        ("", "empty"),
        ("[]", "a list"),
        ("{", "cut off"),
        (twice.as_str(), "two events where one is expected"),
    ] {
        assert!(
            matches!(parse(text, LIMIT), Err(EventError::Shape(_))),
            "{why}"
        );
    }
}

#[test]
fn rs_11_a_refused_text_is_not_echoed_without_bound() {
    for field in ["/type", "/specversion"] {
        let event = with(put_event(), field, json!("x".repeat(PAYLOAD_BYTES_MAX)));
        let message = parse(&event.to_string(), LIMIT).unwrap_err().to_string();
        assert!(message.len() < 300, "{field}: {} bytes", message.len());
    }
}
