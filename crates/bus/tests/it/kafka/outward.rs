//! Events out: what a topic gets.

use almanack_bus::kafka::KafkaEventPublisher;
use almanack_core::{
    event::outgoing::{CloudEvent, EventPublisher as _, Mode},
    finish::Outcome,
};
use almanack_testkit::fixture::START;
use rdkafka::Message as _;

use super::cluster::{Cluster, DEAD, header};
use crate::fixture::event;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_is_delivered_in_either_mode() {
    let cluster = Cluster::new();
    for mode in [Mode::Structured, Mode::Binary] {
        let publisher = KafkaEventPublisher::new(&cluster.connection(), DEAD, mode).unwrap();
        let outcome = publisher.publish(&event()).await;
        assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
    }
    let published = cluster.read(DEAD, 2).await;
    assert!(
        published
            .iter()
            .all(|message| message.key() == Some(b"article:42"))
    );
    let whole: CloudEvent = serde_json::from_slice(published[0].payload().unwrap()).unwrap();
    assert_eq!((whole.id.as_str(), whole.time), ("task-7-done", START));
    assert_eq!(
        header(&published[0], "content-type"),
        "application/cloudevents+json"
    );
    assert_eq!(
        published[1].payload(),
        Some(&b"{\"status\":\"SUCCESS\"}"[..])
    );
    assert_eq!(
        header(&published[1], "ce_type"),
        "almanack.task.finished.v1"
    );
    assert_eq!(header(&published[1], "ce_id"), "task-7-done");
}
