//! What a broker refuses. Only the mock cluster refuses on command.

use almanack_bus::kafka::KafkaEventPublisher;
use almanack_core::{
    event::outgoing::{EventPublisher as _, Mode},
    finish::Outcome,
};
use rdkafka::{
    Message as _,
    types::{RDKafkaApiKey, RDKafkaRespErr},
};

use super::cluster::{Cluster, DEAD, Member, header};
use crate::fixture::{Fixture, event, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_that_refuses_is_tried_again() {
    let cluster = Cluster::new();
    let refuse = RDKafkaRespErr::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
    cluster.mock().topic_error(DEAD, refuse).unwrap();
    let publisher =
        KafkaEventPublisher::new(&cluster.connection(), DEAD, Mode::Structured).unwrap();
    let outcome = publisher.publish(&event()).await;
    match outcome {
        Outcome::Retry { error, .. } => assert!(error.contains(DEAD), "{error}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_broke_for_good_is_replaced() {
    let cluster = Cluster::new();
    let refuse = RDKafkaRespErr::RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED;
    cluster
        .mock()
        .request_errors(RDKafkaApiKey::InitProducerId, &[refuse]);
    let publisher =
        KafkaEventPublisher::new(&cluster.connection(), DEAD, Mode::Structured).unwrap();
    let refused = publisher.publish(&event()).await;
    assert!(matches!(refused, Outcome::Retry { .. }), "{refused:?}");
    let outcome = publisher.publish(&event()).await;
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_is_too_large_for_kafka_is_given_up() {
    let cluster = Cluster::new();
    let refuse = RDKafkaRespErr::RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
    cluster
        .mock()
        .request_errors(RDKafkaApiKey::Produce, &[refuse]);
    let publisher =
        KafkaEventPublisher::new(&cluster.connection(), DEAD, Mode::Structured).unwrap();
    match publisher.publish(&event()).await {
        Outcome::GiveUp { error } => assert!(
            error.contains("`articles.dead-letter` does not take a message of"),
            "{error}"
        ),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_a_dead_letter_that_cannot_be_written_is_waited_for() {
    let (cluster, fixture) = (Cluster::new(), Fixture::new());
    let refuse = RDKafkaRespErr::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
    cluster.mock().topic_error(DEAD, refuse).unwrap();
    cluster.write("1", "nonsense", &[]).await;
    let member = Member::join(&cluster, fixture.ports());
    until("it waited", async || fixture.waited() >= 3).await;
    assert_eq!(cluster.committed().await, 0);
    let fine = RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR;
    cluster.mock().topic_error(DEAD, fine).unwrap();
    let letters = cluster.dead_letters(1).await;
    assert_eq!(letters[0].payload(), Some(&b"nonsense"[..]));
    member.leave().await;
    assert_eq!(cluster.committed().await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_a_large_poison_message_stops_nothing() {
    let (cluster, fixture) = (Cluster::new(), Fixture::new());
    let large = "x".repeat(1_500_000);
    cluster.write("1", &large, &[]).await;
    let member = Member::join(&cluster, fixture.ports());
    let whole = cluster.dead_letters(1).await;
    assert_eq!(whole[0].payload().map(<[u8]>::len), Some(large.len()));
    assert_eq!(header(&whole[0], "almanack-cut"), "");
    member.leave().await;
    cluster.write("1", &large, &[]).await;
    let refuse = RDKafkaRespErr::RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
    cluster
        .mock()
        .request_errors(RDKafkaApiKey::Produce, &[refuse]);
    let member = Member::join(&cluster, fixture.ports());
    let letters = cluster.dead_letters(2).await;
    let cut = &letters[1];
    assert_eq!(cut.payload().map(<[u8]>::len), Some(64 << 10));
    assert_eq!(header(cut, "almanack-cut"), "1500000");
    member.leave().await;
    assert_eq!(cluster.committed().await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_dead_letters_outlive_a_client_that_broke_for_good() {
    let (cluster, fixture) = (Cluster::new(), Fixture::new());
    cluster.write("1", "nonsense", &[]).await;
    let refuse = RDKafkaRespErr::RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED;
    cluster
        .mock()
        .request_errors(RDKafkaApiKey::InitProducerId, &[refuse]);
    let member = Member::join(&cluster, fixture.ports());
    let letters = cluster.dead_letters(1).await;
    assert_eq!(letters[0].payload(), Some(&b"nonsense"[..]));
    member.leave().await;
    assert_eq!(cluster.committed().await, 1);
}
