//! Happenings out: what a topic gets.

use almanack_bus::kafka::KafkaHerald;
use almanack_core::{
    finish::Outcome,
    happening::{CloudEvent, Herald as _, Mode},
};
use almanack_testkit::fixture::START;
use rdkafka::Message as _;

use super::cluster::{Cluster, DEAD, header};
use crate::desk::happening;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_happening_is_told_in_either_mode() {
    let cluster = Cluster::new();
    for mode in [Mode::Structured, Mode::Binary] {
        let herald = KafkaHerald::new(&cluster.connection(), DEAD, mode).unwrap();
        let outcome = herald.tell(&happening()).await;
        assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
    }
    let told = cluster.read(DEAD, 2).await;
    assert!(
        told.iter()
            .all(|message| message.key() == Some(b"article:42"))
    );
    let whole: CloudEvent = serde_json::from_slice(told[0].payload().unwrap()).unwrap();
    assert_eq!((whole.id.as_str(), whole.time), ("task-7-done", START));
    assert_eq!(
        header(&told[0], "content-type"),
        "application/cloudevents+json"
    );
    assert_eq!(told[1].payload(), Some(&b"{\"status\":\"SUCCESS\"}"[..]));
    assert_eq!(header(&told[1], "ce_type"), "almanack.task.finished.v1");
    assert_eq!(header(&told[1], "ce_id"), "task-7-done");
}
