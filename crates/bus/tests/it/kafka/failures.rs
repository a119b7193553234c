//! What goes wrong: messages, the store, the node, the cluster. What a broker refuses is in
//! `refusals.rs`.

use almanack_core::{
    event::incoming::{
        envelope::{Format, Others, Reading},
        mapping::{Mapping, Path, Template, Unit},
    },
    reschedule::Rule,
};
use almanack_testkit::fixture::{PUBLISH, at};
use metrics_exporter_prometheus::PrometheusBuilder;
use rdkafka::Message as _;

use super::cluster::{Cluster, Member, TOPIC, header};
use crate::fixture::{Behaviour, Fixture, put, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_a_poison_message_becomes_a_dead_letter_and_stops_nothing() {
    let (cluster, fixture) = (Cluster::new(), Fixture::new());
    cluster.write("1", &put("article:1", 1), &[]).await;
    let (partition, offset) = cluster
        .write("1", "{\"no\": \"event\"", &[("x", "y")])
        .await;
    let unknown = put("article:1", 9).replace(PUBLISH, "UNKNOWN");
    cluster.write("1", &unknown, &[]).await;
    cluster.write("1", &put("article:1", 2), &[]).await;
    let member = Member::join(&cluster, fixture.ports());
    fixture.has("article:1", 2).await;
    let letters = cluster.dead_letters(2).await;
    let broken = letters
        .iter()
        .find(|letter| header(letter, "x") == "y")
        .unwrap();
    assert_eq!(broken.payload(), Some(&b"{\"no\": \"event\""[..]));
    assert_eq!(broken.key(), Some(&b"1"[..]));
    assert!(
        header(broken, "almanack-reason").contains("early"),
        "{}",
        header(broken, "almanack-reason")
    );
    assert_eq!(header(broken, "almanack-topic"), TOPIC);
    assert_eq!(header(broken, "almanack-partition"), partition.to_string());
    assert_eq!(header(broken, "almanack-offset"), offset.to_string());
    let refused = letters
        .iter()
        .find(|letter| header(letter, "x").is_empty())
        .unwrap();
    assert!(header(refused, "almanack-reason").contains("UNKNOWN"));
    member.leave().await;
    assert_eq!(cluster.committed().await, 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_while_the_store_is_away_nothing_is_committed_and_nothing_lost() {
    let (cluster, fixture) = (Cluster::new(), Fixture::new());
    fixture.connector.set(Behaviour::Closed);
    cluster.write("1", &put("article:1", 1), &[]).await;
    let member = Member::join(&cluster, fixture.ports());
    until("it asked again and again", async || {
        fixture.connector.calls() >= 5
    })
    .await;
    assert_eq!(cluster.committed().await, 0);
    // Another partition, while all are paused.
    for key in ["2", "3", "4", "5"] {
        cluster
            .write(key, &put(&format!("article:{key}"), 1), &[])
            .await;
    }
    fixture.connector.set(Behaviour::Open);
    for key in 1..=5 {
        fixture.has(&format!("article:{key}"), 1).await;
    }
    member.leave().await;
    assert_eq!(cluster.committed().await, 5);
    // A slow member is removed from the group, and what it had not committed comes again: without
    // effect.
    let mut effects = fixture.connector.rules();
    effects.retain(|rule| *rule != Rule::Unchanged);
    assert_eq!(effects, [Rule::Created; 5], "each once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_a_stopped_node_leaves_what_it_could_not_do() {
    let (cluster, fixture) = (Cluster::new(), Fixture::new());
    fixture.connector.set(Behaviour::Closed);
    cluster.write("1", &put("article:1", 1), &[]).await;
    let member = Member::join(&cluster, fixture.ports());
    until("it asked", async || fixture.connector.calls() >= 1).await;
    member.leave().await;
    assert_eq!(cluster.committed().await, 0);
    fixture.connector.set(Behaviour::Open);
    let member = Member::join(&cluster, fixture.ports());
    fixture.has("article:1", 1).await;
    member.leave().await;
    assert_eq!(cluster.committed().await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_a_death_between_effect_and_commit_is_harmless() {
    let (cluster, fixture) = (Cluster::new(), Fixture::new());
    fixture.connector.set(Behaviour::Dies);
    cluster.write("1", &put("article:1", 3), &[]).await;
    let member = Member::join(&cluster, fixture.ports());
    fixture.has("article:1", 3).await;
    member.die().await;
    assert_eq!(
        cluster.committed().await,
        0,
        "the effect is there, the commit is not"
    );
    let after = fixture.beside();
    let member = Member::join(&cluster, fixture.ports_at(&after));
    until("it came again", async || after.calls() >= 1).await;
    assert_eq!(after.rules(), [Rule::Unchanged]);
    let task = fixture.task("article:1").await.unwrap();
    assert_eq!((task.revision.0, task.execute_at), (3, at(180)));
    member.leave().await;
    assert_eq!(cluster.committed().await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_that_does_not_answer_does_not_keep_a_node_from_stopping() {
    let (cluster, fixture) = (Cluster::new(), Fixture::new());
    let mut connection = cluster.connection();
    connection.brokers = vec!["127.0.0.1:9".to_owned()];
    let member = Member::reading(connection, fixture.ports(), crate::fixture::reading());
    until("it complained and waited", async || fixture.waited() >= 1).await;
    member.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_a_service_s_own_format_is_read_by_paths() {
    let (cluster, fixture) = (Cluster::new(), Fixture::new());
    let mapping = Mapping {
        subject: Template::parse("article:{key}").unwrap(),
        kind: Template::parse(PUBLISH).unwrap(),
        execute_at: Path::parse("$.publishAt").unwrap(),
        unit: Unit::Seconds,
        revision: Path::parse("/version").unwrap(),
        action: None,
        payload: None,
        callback_url: None,
        id: None,
        source: None,
    };
    let reading = Reading {
        format: Format::Mapped(Box::new(mapping)),
        others: Others::Refuse,
        payload_bytes: 1000,
    };
    let body = format!("{{\"publishAt\": {}, \"version\": 2}}", at(120).as_second());
    cluster.write("7", &body, &[]).await;
    let member = Member::reading(cluster.connection(), fixture.ports(), reading);
    fixture.has("article:7", 2).await;
    let task = fixture.task("article:7").await.unwrap();
    assert_eq!(
        (task.execute_at, task.origin.as_str()),
        (at(120), "event:kafka:articles")
    );
    member.leave().await;
}

/// Noted by the client's statistics, which comes every five seconds. How many messages wait is
/// unknown meanwhile.
#[tokio::test]
async fn a_lost_cluster_is_noted_and_so_is_its_return() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let (metrics, _counting) = (
        recorder.handle(),
        metrics::set_default_local_recorder(&recorder),
    );
    let shows = |line: &str| metrics.render().lines().any(|it| it == line);
    let lags = |value: &str| {
        let of_topic = format!(r#"almanack_events_lag{{bus="kafka",topic="{TOPIC}""#);
        let text = metrics.render();
        let lags = text.lines().filter(|line| line.starts_with(&of_topic));
        lags.filter(|line| line.ends_with(value)).count()
    };
    let (cluster, fixture) = (Cluster::new(), Fixture::new());
    cluster.write("1", &put("article:1", 1), &[]).await;
    let member = Member::join(&cluster, fixture.ports());
    fixture.has("article:1", 1).await;
    until("it is connected", async || fixture.is_connected()).await;
    assert!(shows(r#"almanack_bus_connected{bus="kafka"} 1"#));
    until("nothing waits", async || lags(" 0") > 0).await;
    cluster.mock().broker_down(1).unwrap();
    until("it is not", async || !fixture.is_connected()).await;
    assert!(shows(r#"almanack_bus_connected{bus="kafka"} 0"#));
    until("no number is shown", async || lags(" 0") == 0).await;
    assert!(lags(" NaN") > 0, "{}", metrics.render());
    cluster.mock().broker_up(1).unwrap();
    until("it is again", async || fixture.is_connected()).await;
    member.leave().await;
}
