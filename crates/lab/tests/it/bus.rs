//! The article service over a message bus: its events arrive there, and leave the outbox only then.

use std::time::Duration;

use almanack_core::{event, reschedule::Request};
use almanack_lab::article::relay::Bus;
use rdkafka::{
    ClientConfig, Message as _, Offset, TopicPartitionList,
    consumer::{Consumer as _, StreamConsumer},
    mocking::MockCluster,
};

use crate::support::World;

const TOPIC: &str = "articles";
/// An address without a listener, which is never called.
const NOWHERE: &str = "http://127.0.0.1:9";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_12_the_outbox_goes_to_kafka_as_events_that_almanack_reads() {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic(TOPIC, 1, 1).unwrap();
    let brokers = cluster.bootstrap_servers();
    let world = World::start_with(NOWHERE, |config| {
        config.bus = Some(Bus::Kafka {
            brokers: brokers.clone(),
            topic: TOPIC.to_owned(),
        });
    })
    .await;
    let id = world.write().await;
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", &brokers)
        .set("group.id", "reader");
    let consumer: StreamConsumer = config.create().unwrap();
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(TOPIC, 0, Offset::Beginning)
        .unwrap();
    consumer.assign(&list).unwrap();
    let message = tokio::time::timeout(Duration::from_mins(1), consumer.recv()).await;
    let message = message.expect("an event comes").unwrap();
    let subject = format!("article:{id}");
    assert_eq!(message.key(), Some(subject.as_bytes()));
    let text = std::str::from_utf8(message.payload().unwrap()).unwrap();
    let understood = event::incoming::parse(text, 10_000).unwrap();
    assert_eq!(understood.request.identity().subject.as_str(), subject);
    assert!(matches!(understood.request, Request::Put(_)));
}
