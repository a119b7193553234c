use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::fixture::identity;

fn data() -> Value {
    json!({ "kind": "ARTICLE_PUBLISH", "execute_at": "2026-01-05T08:01:00Z", "revision": 3 })
}

fn structured() -> Value {
    json!({
        "specversion": "1.0", "id": "e-1", "source": "/articles", "type": super::super::TYPE_PUT,
        "subject": "article:42", "data": data(),
    })
}

fn message(bus: Bus, headers: &[(&str, &str)], body: &str) -> Incoming {
    let headers = headers.iter();
    let headers = headers.map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()));
    Incoming {
        bus,
        channel: "articles".to_owned(),
        place: "articles/0@7".to_owned(),
        headers: headers.collect(),
        key: Some(b"42".to_vec()),
        body: body.as_bytes().to_vec(),
    }
}

fn binary(bus: Bus, source: &str) -> Incoming {
    let prefix = bus.prefix();
    let attributes = [
        ("specversion", "1.0"),
        ("id", "e-1"),
        ("source", source),
        ("type", super::super::TYPE_PUT),
        ("subject", "article:42"),
    ];
    let named: Vec<_> = attributes
        .iter()
        .map(|(name, value)| (format!("{prefix}{name}"), *value))
        .collect();
    let mut headers: Vec<_> = named
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    headers.push(("content-type", "application/json"));
    message(bus, &headers, &data().to_string())
}

fn reading(others: Others) -> Reading {
    Reading {
        format: Format::CloudEvents,
        others,
        payload_bytes: 1000,
    }
}

fn understood(message: &Incoming) -> ChangeRequest {
    let understood = understand(message, &reading(Others::Refuse));
    understood.unwrap().expect("it asks for something")
}

#[test]
fn rs_10_every_mode_of_every_bus_means_the_same() {
    let text = structured().to_string();
    let expected = understood(&message(Bus::Kafka, &[], &text));
    assert_eq!(expected.request.identity(), &identity());
    assert_eq!(
        (expected.id.as_str(), expected.origin.as_str()),
        ("e-1", "event:/articles")
    );
    for (why, message) in [
        (
            "said so",
            message(Bus::Kafka, &[("content-type", STRUCTURED)], &text),
        ),
        (
            "said so with a character set",
            message(
                Bus::Nats,
                &[(
                    "Content-Type",
                    "application/CloudEvents+json; charset=utf-8",
                )],
                &text,
            ),
        ),
        (
            "plain JSON",
            message(Bus::Nats, &[("content-type", PLAIN)], &text),
        ),
        ("binary over Kafka", binary(Bus::Kafka, "/articles")),
        ("binary over NATS", binary(Bus::Nats, "/articles")),
        (
            "percent-encoded over NATS",
            binary(Bus::Nats, "%2Farticles"),
        ),
    ] {
        assert_eq!(understood(&message), expected, "{why}");
    }
    let origin = understood(&binary(Bus::Kafka, "%2Farticles")).origin;
    assert_eq!(
        origin, "event:%2Farticles",
        "Kafka's headers are as they are"
    );
}

#[test]
#[rustfmt::skip]
fn rs_10_what_is_wrong_is_refused_by_name() {
    let text = structured().to_string();
    let kafka = |headers: &[(&str, &str)], body: &str| message(Bus::Kafka, headers, body);
    let mut lost = binary(Bus::Kafka, "/articles");
    lost.headers.retain(|(name, _)| name != "ce_id");
    let mut no_text = kafka(&[], &text);
    no_text.body = vec![0xff, 0xfe];
    for (message, code, names, why) in [
        (kafka(&[("content-type", "application/cloudevents-batch+json")], &text), "encoding", "cloudevents-batch", "many at once"),
        (kafka(&[("content-type", "application/cloudevents+avro")], &text), "encoding", "avro", "another encoding"),
        (kafka(&[("content-type", "text/plain")], &text), "encoding", "text/plain", "no JSON"),
        (lost, "shape", "`ce_id`", "an attribute is missing"),
        (no_text, "encoding", "UTF-8", "bytes"),
        (kafka(&[], ""), "shape", "ends too early", "nothing in it"),
        (kafka(&[("ce_specversion", "1.0")], "{"), "shape", "data", "cut off"),
        (kafka(&[], &text.replace("put.v1", "put.v9")), "type", "put.v9", "another type"),
        (kafka(&[], &text.replace("\"revision\":3", "\"revision\":3,\"callback_url\":\"ftp://a/\"")), "callback", "callback_url", "no web address"),
        (kafka(&[], &text.replace("\"revision\":3", "\"revision\":0")), "invalid", "revision", "numbers start at 1"),
    ] {
        let refused = understand(&message, &reading(Others::Refuse)).expect_err(why);
        assert_eq!(refused.code(), code, "{why}: {refused}");
        assert!(refused.to_string().contains(names), "{why}: `{refused}` does not name {names}");
    }
}

#[test]
fn rs_10_events_of_other_types_pass_on_a_shared_topic() {
    let text = structured().to_string().replace("put.v1", "viewed.v1");
    let other = message(Bus::Kafka, &[], &text);
    assert_eq!(understand(&other, &reading(Others::Skip)).unwrap(), None);
    let broken = message(Bus::Kafka, &[], "{");
    assert!(
        understand(&broken, &reading(Others::Skip)).is_err(),
        "broken is not other"
    );
}

proptest! {
    #[test]
    fn no_message_breaks_the_reader(
        body in prop::collection::vec(any::<u8>(), 0..60),
        value in prop::collection::vec(any::<u8>(), 0..10),
        which in 0..4_usize,
    ) {
        let name = ["content-type", "ce_specversion", "ce-specversion", "x"][which];
        for bus in [Bus::Kafka, Bus::Nats] {
            let mut message = message(bus, &[], "");
            message.body.clone_from(&body);
            message.headers = vec![(name.to_owned(), value.clone())];
            let _ = understand(&message, &reading(Others::Skip));
        }
    }
}
