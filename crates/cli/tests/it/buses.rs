//! `[events.kafka]` and `[events.nats]`: what is shown of the configuration, what is refused, that
//! no secret is shown, and a node that lives by each.

#[cfg(feature = "kafka")]
mod kafka;
mod life;
mod nats;

use crate::harness::Home;

fn complaint(toml: &str) -> String {
    let ran = Home::with(toml).run(&["check"]);
    assert_eq!(ran.code, 2, "{ran}");
    ran.notes
}

#[test]
#[cfg(feature = "kafka")]
fn a_bus_is_shown_with_its_mapping_and_without_its_secrets() {
    let home = Home::with(
        r#"
[events.kafka]
brokers = ["kafka-1:9092", "kafka-2:9092"]
topic = "articles"
format = "json"
tls = true
sasl = "scram-sha-512"
username = "almanack"
password = "file:password"

[events.kafka.mapping]
subject = "article:{/article/id}"
kind = "ARTICLE_PUBLISH"
execute_at = "$.article.publishAt"
execute_at_unit = "milliseconds"
revision = "/article/version"
action = "/op"
cancel = ["delete"]

[events.nats]
servers = ["nats://nats:4222"]
stream = "ARTICLES"
token = "file:password"
"#,
    )
    .file("password", "hunter2");
    let ran = home.run(&["check"]);
    assert_eq!(ran.code, 0, "{ran}");
    for line in [
        "events.kafka.mapping.subject          \"article:{/article/id}\"",
        "events.kafka.mapping.execute_at_unit  \"milliseconds\"",
        "events.kafka.password                 *** (file:password)",
        "events.nats.token                     *** (file:password)",
        "events.nats.durable                   \"almanack\"",
    ] {
        assert!(ran.data.contains(line), "{line}\n{ran}");
    }
    assert!(!format!("{ran}").contains("hunter2"), "{ran}");
}

#[test]
#[cfg(feature = "kafka")]
fn half_a_bus_is_a_mistake() {
    for (toml, reported) in [
        (
            "[events.kafka]\ntopic = \"a\"\n",
            "[events.kafka] is incomplete: brokers is missing",
        ),
        (
            "[events.kafka]\nbrokers = [\"a:1\"]\nusername = \"x\"\n",
            "[events.kafka] is incomplete: sasl is missing",
        ),
        (
            "[events.kafka]\nbrokers = [\"a:1\"]\ntopic = \"a\"\nformat = \"json\"\n",
            "events.kafka.mapping.subject is missing",
        ),
        (
            "[events.kafka]\nbrokers = [\"a:1\"]\n[events.kafka.mapping]\nkind = \"K\"\n",
            "[events.kafka.mapping] has no effect while events.kafka.format is \"cloudevents\"",
        ),
        (
            "[events.kafka]\nbrokers = [\"a:1\"]\ntls_ca = \"ca.pem\"\n",
            "events.kafka.tls_ca has no effect without events.kafka.tls",
        ),
        (
            "[events.kafka]\nbrokers = [\"a:1\"]\ntopic = \"a\"\ndead_letter = \"a\"\n",
            "dead letters must not go to the topic that is read",
        ),
        (
            "[events.kafka]\nbrokers = [\"kafka://a:1\"]\n",
            "`kafka://a:1` is not a broker",
        ),
        (
            "[events.nats]\nservers = [\"nats://a:1\"]\nstream = \"S\"\nsubject = \"a.>\"\ndead_letter = \"a.b\"\n",
            "`a.>` would read dead letters again",
        ),
    ] {
        let notes = complaint(toml);
        assert!(notes.contains(reported), "{toml}\n{notes}");
    }
}

#[test]
fn a_password_in_the_address_of_a_server_is_refused_and_not_shown() {
    let notes = complaint("[events.nats]\nservers = [\"nats://bob:hunter2@a:1\"]\n");
    assert!(
        notes.contains("`nats://bob:***@a:1` contains credentials"),
        "{notes}"
    );
    assert!(!notes.contains("hunter2"), "{notes}");
}

#[test]
#[cfg(not(feature = "kafka"))]
fn a_build_without_kafka_says_so_and_starts_nothing() {
    let notes = complaint("[events.kafka]\nbrokers = [\"a:1\"]\ntopic = \"a\"\n");
    let reported = "[events.kafka] cannot be used: this build of Almanack has no Kafka client";
    assert!(notes.contains(reported), "{notes}");
    assert!(notes.contains("--features kafka"), "{notes}");
}
