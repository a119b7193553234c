//! RS-10 over Kafka, on librdkafka's mock cluster or a broker of another make (`dev/kafka`).

mod broker;
mod cluster;
mod failures;
mod group;
mod outward;
mod refusals;
mod secured;

use almanack_core::reschedule::Rule;
use almanack_testkit::fixture::at;
use rdkafka::{Message as _, message::OwnedMessage};

use self::cluster::{Cluster, Member, header};
use crate::fixture::{Fixture, data, put, refused, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_events_take_effect_and_are_committed() {
    let (cluster, fixture) = (Cluster::new(), Fixture::new());
    cluster.write("1", &put("article:1", 1), &[]).await;
    let attributes = [
        ("ce_specversion", "1.0"),
        ("ce_id", "e-2"),
        ("ce_source", "/articles"),
        ("ce_type", "almanack.task.put.v1"),
        ("ce_subject", "article:2"),
        ("content-type", "application/json"),
    ];
    let body = data(4).to_string();
    cluster.write("2", &body, &attributes).await;
    let member = Member::join(&cluster, fixture.ports());
    fixture.has("article:1", 1).await;
    fixture.has("article:2", 4).await;
    let task = fixture.task("article:2").await.unwrap();
    assert_eq!(task.execute_at, at(240));
    assert_eq!(task.origin, "event:/articles");
    member.leave().await;
    assert_eq!(
        cluster.committed().await,
        2,
        "both, and only when it was done"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_redelivery_and_reordering_change_nothing() {
    let (cluster, fixture) = (Cluster::new(), Fixture::new());
    for revision in [2, 5, 3, 5, 1, 2] {
        cluster.write("1", &put("article:1", revision), &[]).await;
    }
    cluster.write("2", &put("article:2", 1), &[]).await;
    let member = Member::join(&cluster, fixture.ports());
    until("each has an answer", async || {
        fixture.connector.rules().len() >= 7
    })
    .await;
    member.leave().await;
    assert_eq!(fixture.task("article:1").await.unwrap().execute_at, at(300));
    let mut rules = fixture.connector.rules();
    rules.sort_unstable();
    let expected = [
        Rule::Created,
        Rule::Created,
        Rule::Updated,
        Rule::IgnoredStale,
        Rule::IgnoredStale,
        Rule::IgnoredStale,
        Rule::Unchanged,
    ];
    assert_eq!(rules, expected);
    assert_eq!(cluster.committed().await, 7);
}

/// What the API refuses is refused here, and lies among the dead letters with its reason.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sf_04_rs_11_what_may_not_be_asked_for_is_a_dead_letter_of_kafka_and_changes_nothing() {
    let (cluster, fixture) = (Cluster::new(), Fixture::new());
    let refused = refused();
    for message in &refused {
        let headers = message.headers("ce_");
        let headers: Vec<_> = headers.iter().map(|it| (it.0.as_str(), it.1)).collect();
        cluster.write("1", &message.body, &headers).await;
    }
    cluster.write("1", &put("article:good", 1), &[]).await;
    let member = Member::join(&cluster, fixture.ports());
    fixture.has("article:good", 1).await;
    let letters = cluster.dead_letters(refused.len()).await;
    for message in &refused {
        let is_its = |letter: &&_| OwnedMessage::payload(letter) == Some(message.body.as_bytes());
        let letter = letters.iter().find(is_its).unwrap();
        let reason = header(letter, "almanack-reason");
        assert!(
            reason.contains(message.reason),
            "{}: {reason}",
            message.body
        );
    }
    member.leave().await;
    assert_eq!(fixture.subjects().await, ["article:good"]);
    let all = i64::try_from(refused.len() + 1).unwrap();
    assert_eq!(cluster.committed().await, all, "none comes again");
}
