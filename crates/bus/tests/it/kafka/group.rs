//! Two nodes in one group, and a rebalance in the middle of everything.

use almanack_core::reschedule::Rule;

use super::cluster::{Cluster, Member};
use crate::fixture::{Fixture, put, until};

const SUBJECTS: usize = 40;

async fn write_all(cluster: &Cluster, revision: i64) {
    for subject in 0..SUBJECTS {
        let subject = format!("article:{subject}");
        cluster.write(&subject, &put(&subject, revision), &[]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_a_rebalance_loses_nothing_and_doubles_nothing() {
    let (cluster, fixture) = (Cluster::new(), Fixture::new());
    let other = fixture.beside();
    let first = Member::join(&cluster, fixture.ports());
    write_all(&cluster, 1).await;
    fixture.has("article:0", 1).await;
    let second = Member::join(&cluster, fixture.ports_at(&other));
    // Until the second has its own partitions there are always messages on the way.
    let mut revision = 1;
    while other.calls() == 0 {
        revision += 1;
        assert!(revision < 2_000, "the second was never given a partition");
        write_all(&cluster, revision).await;
        fixture.has("article:0", revision).await;
    }
    let before = fixture.connector.calls();
    revision += 1;
    write_all(&cluster, revision).await;
    until("both take", async || fixture.connector.calls() > before).await;
    first.leave().await;
    revision += 1;
    write_all(&cluster, revision).await;
    for subject in 0..SUBJECTS {
        fixture.has(&format!("article:{subject}"), revision).await;
    }
    second.leave().await;
    let written = SUBJECTS * usize::try_from(revision).unwrap();
    let effects = [fixture.connector.rules(), other.rules()].concat();
    let effects = effects.into_iter().filter(|rule| has_effect(*rule));
    assert_eq!(effects.count(), written, "every message once");
    // A member that was removed before its last commit leaves that to the next, which has nothing
    // left to do.
    let next = fixture.beside();
    let third = Member::join(&cluster, fixture.ports_at(&next));
    let all = i64::try_from(written).unwrap();
    until("all is behind the group", async || {
        cluster.committed().await == all
    })
    .await;
    third.leave().await;
    assert!(!next.rules().into_iter().any(has_effect));
}

/// What comes again changes nothing.
fn has_effect(rule: Rule) -> bool {
    !matches!(rule, Rule::Unchanged | Rule::IgnoredStale)
}
