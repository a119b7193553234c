use serde_json::json;

use super::{
    super::{
        envelope::{Bus, Format, Others, Reading, understand},
        intake::ChangeRequest,
    },
    *,
};
use crate::{fixture::at, task::Revision};

fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}

fn template(text: &str) -> Template {
    Template::parse(text).unwrap()
}

/// How a service might report its articles.
fn mapping() -> Mapping {
    Mapping {
        subject: template("article:{/article/id}"),
        kind: template("ARTICLE_PUBLISH"),
        execute_at: path("/article/publishAt"),
        unit: Unit::Rfc3339,
        revision: path("$.article.version"),
        action: None,
        payload: None,
        callback_url: None,
        id: None,
        source: None,
    }
}

fn with_action(put: &[&str]) -> Mapping {
    let action = Action {
        path: path("/op"),
        cancel: vec!["delete".to_owned(), "3".to_owned()],
        put: put.iter().map(|&word| word.to_owned()).collect(),
    };
    Mapping {
        action: Some(action),
        ..mapping()
    }
}

fn body_with(changes: &Value) -> Value {
    let mut body = json!({
        "op": "update",
        "article": {"id": 42, "publishAt": "2026-01-05T08:01:00Z", "version": 3, "price": 1},
    });
    for (pointer, value) in changes.as_object().unwrap() {
        *body.pointer_mut(pointer).unwrap() = value.clone();
    }
    body
}

fn ask(mapping: Mapping, others: Others, body: &str) -> Result<Option<ChangeRequest>, EventError> {
    let message = Incoming {
        bus: Bus::Kafka,
        channel: "articles".to_owned(),
        place: "articles/0@7".to_owned(),
        headers: Vec::new(),
        key: Some(b"a-42".to_vec()),
        body: body.as_bytes().to_vec(),
    };
    let reading = Reading {
        format: Format::Mapped(Box::new(mapping)),
        others,
        payload_bytes: 100,
    };
    understand(&message, &reading)
}

fn asked(mapping: Mapping, changes: &Value) -> ChangeRequest {
    let body = body_with(changes).to_string();
    ask(mapping, Others::Refuse, &body).unwrap().unwrap()
}

#[test]
fn rs_10_a_service_s_own_message_becomes_a_put() {
    let request = asked(mapping(), &json!({}));
    let identity = Identity::parse("article:42", "ARTICLE_PUBLISH").unwrap();
    let expected = Put {
        revision: Some(Revision(3)),
        ..Put::at(identity, at(60))
    };
    assert_eq!(request.request, Request::Put(expected));
    assert_eq!(
        (request.id.as_str(), request.origin.as_str()),
        ("articles/0@7", "event:kafka:articles")
    );
}

#[test]
fn rs_10_a_mapping_may_name_everything() {
    let mapping = Mapping {
        subject: template("{key}"),
        kind: template("{/op}.KIND"),
        payload: Some(path("/article")),
        callback_url: Some(template("https://a.example/{/article/id}")),
        id: Some(path("/article/id")),
        source: Some(template("cms")),
        ..mapping()
    };
    let body = body_with(&json!({}))
        .to_string()
        .replace("\"price\":1", "\"price\": 1.10 ");
    let request = ask(mapping, Others::Refuse, &body).unwrap().unwrap();
    assert_eq!(
        (request.id.as_str(), request.origin.as_str()),
        ("42", "event:cms")
    );
    let Request::Put(put) = request.request else {
        panic!("a put");
    };
    assert_eq!(put.identity.subject.as_str(), "a-42");
    assert_eq!(put.identity.kind.as_str(), "update.KIND");
    assert_eq!(put.callback_url.as_deref(), Some("https://a.example/42"));
    let payload = put.payload.unwrap();
    assert!(
        payload.as_str().contains("1.10"),
        "exactly as written: {}",
        payload.as_str()
    );
}

#[test]
fn rs_10_times_are_read_in_the_unit_that_was_said() {
    for (unit, value) in [
        (Unit::Rfc3339, json!("2026-01-05T16:01:00+08:00")),
        (Unit::Seconds, json!(1_767_600_060)),
        (Unit::Seconds, json!("1767600060")),
        (Unit::Milliseconds, json!(1_767_600_060_000_i64)),
    ] {
        let mapping = Mapping { unit, ..mapping() };
        let request = asked(mapping, &json!({ "/article/publishAt": value }));
        match request.request {
            Request::Put(put) => assert_eq!(put.execute_at, at(60), "{unit:?} {value}"),
            Request::Cancel(_) => panic!("a put"),
        }
    }
}

#[test]
fn rs_10_an_action_distinguishes_withdrawals_from_times() {
    for (put, op, expected) in [
        (&[][..], json!("update"), Some(false)),
        (&[], json!("delete"), Some(true)),
        (&[], json!(3), Some(true)),
        (&["update"], json!("update"), Some(false)),
        (&["update"], json!("viewed"), None),
    ] {
        let body = body_with(&json!({ "/op": op })).to_string();
        let request = ask(with_action(put), Others::Skip, &body).unwrap();
        let cancels = request.map(|request| matches!(request.request, Request::Cancel(_)));
        assert_eq!(cancels, expected, "{put:?} {op}");
    }
    let viewed = body_with(&json!({ "/op": "viewed" })).to_string();
    let refused = ask(with_action(&["update"]), Others::Refuse, &viewed).unwrap_err();
    assert_eq!(refused.code(), "type", "{refused}");
}

#[test]
fn rs_10_a_withdrawal_needs_no_time() {
    let body = r#"{"op": "delete", "article": {"id": "42", "version": "4"}}"#;
    let request = ask(with_action(&[]), Others::Refuse, body)
        .unwrap()
        .unwrap();
    let Request::Cancel(cancel) = request.request else {
        panic!("a withdrawal");
    };
    assert_eq!(cancel.revision, Some(Revision(4)));
}

#[test]
#[rustfmt::skip]
fn rs_11_what_the_mapping_does_not_find_is_refused_by_name() {
    let with_milliseconds = || Mapping { unit: Unit::Milliseconds, ..mapping() };
    let with_seconds = || Mapping { unit: Unit::Seconds, ..mapping() };
    let with_payload = || Mapping { payload: Some(path("/article")), ..mapping() };
    for (mapping, changes, names, why) in [
        (mapping(), json!({"/article": 1}), "subject: there is nothing at `/article/id`", "no subject"),
        (mapping(), json!({"/article/id": null}), "subject: there is nothing", "null is nothing"),
        (mapping(), json!({"/article/id": [1]}), "subject: `/article/id` is neither", "a list"),
        (mapping(), json!({"/article/id": "a\nb"}), "subject", "a line break"),
        (mapping(), json!({"/article/version": null}), "revision: there is nothing", "could not be ordered"),
        (mapping(), json!({"/article/version": 1.5}), "revision: `$.article.version` is not a whole", "half a number"),
        (mapping(), json!({"/article/version": 0}), "revision must be", "numbers start at 1"),
        (mapping(), json!({"/article/publishAt": "soon"}), "execute_at: ", "not a time"),
        (mapping(), json!({"/article/publishAt": 1_767_600_060}), "execute_at: ", "a number where a text was said"),
        (with_seconds(), json!({"/article/publishAt": "2026-01-05T08:01:00Z"}), "execute_at: ", "a text where a number was said"),
        (with_seconds(), json!({"/article/publishAt": 1_767_600_060_000_i64}), "execute_at: ", "milliseconds"),
        (with_milliseconds(), json!({"/article/publishAt": 1_767_600_060}), "seconds?", "would mean at once"),
        (with_action(&[]), json!({"/op": null}), "action: there is nothing", "which?"),
        (with_payload(), json!({"/article/price": "x".repeat(200)}), "payload has", "too large"),
    ] {
        let refused = ask(mapping, Others::Skip, &body_with(&changes).to_string()).expect_err(why);
        assert!(refused.to_string().contains(names), "{why}: `{refused}` does not name {names}");
    }
}
