//! What was asked of hosts.

use std::sync::Arc;

use almanack_core::{
    source::courtesy::{Counts, Day, HostDay, RequestedWaits},
    store::{CourtesyQuery, Store},
};

const TODAY: Day = Day(20_000);

fn host_day(host: &str, day: Day, requests: u64) -> HostDay {
    HostDay {
        host: host.to_owned(),
        day,
        counts: Counts {
            requests,
            bytes: requests * 1_000,
            unchanged: requests / 2,
            limited: 1,
            failed: 2,
            waited: 3,
            asked: 5,
            kept: 4,
            requested: RequestedWaits {
                cache_s: u32::try_from(requests).ok(),
                interval_s: None,
                skips: requests > 10,
                retry_after_s: (requests < 10).then_some(u32::MAX),
            },
        },
    }
}

fn query(from: Day, host: Option<&str>) -> CourtesyQuery {
    CourtesyQuery {
        from,
        host: host.map(str::to_owned),
        limit: 10,
    }
}

/// What is added to a host's day is added up; of requested the longest stays.
pub(crate) async fn ss_26_counts_of_a_host_and_a_day_add_up(store: Arc<dyn Store>) {
    store.add_courtesy(Vec::new()).await.unwrap();
    for requests in [4, 20, 6] {
        let day = host_day("a.test", TODAY, requests);
        store.add_courtesy(vec![day]).await.unwrap();
    }
    let hosts = store
        .load_courtesy_hosts(&query(TODAY, None))
        .await
        .unwrap();
    let expected = Counts {
        requests: 30,
        bytes: 30_000,
        unchanged: 15,
        limited: 3,
        failed: 6,
        waited: 9,
        asked: 15,
        kept: 12,
        requested: RequestedWaits {
            cache_s: Some(20),
            interval_s: None,
            skips: true,
            retry_after_s: Some(u32::MAX),
        },
    };
    let hosts: Vec<_> = hosts.into_iter().map(|it| (it.host, it.counts)).collect();
    assert_eq!(hosts, [("a.test".to_owned(), expected)]);
}

/// Nodes that write at once lose nothing.
pub(crate) async fn ss_26_the_counts_of_several_nodes_add_up(store: Arc<dyn Store>) {
    let mut nodes = Vec::new();
    for _ in 0..4 {
        let store = Arc::clone(&store);
        nodes.push(tokio::spawn(async move {
            for _ in 0..5 {
                let days = ["a.test", "b.test"].map(|host| host_day(host, TODAY, 1));
                store.add_courtesy(days.to_vec()).await.unwrap();
            }
        }));
    }
    for node in nodes {
        node.await.unwrap();
    }
    let days = store.load_courtesy_days(&query(TODAY, None)).await.unwrap();
    assert_eq!(days.len(), 1);
    assert_eq!(days[0].counts.requests, 40);
}

/// Hosts over all days with the most requests first, days over all hosts with the newest first.
pub(crate) async fn ss_26_hosts_and_days_are_summed(store: Arc<dyn Store>) {
    let days = vec![
        host_day("a.test", TODAY.back(9), 100),
        host_day("a.test", TODAY.back(1), 2),
        host_day("b.test", TODAY.back(1), 5),
        host_day("c.test", TODAY.back(1), 5),
        host_day("a.test", TODAY, 2),
    ];
    store.add_courtesy(days).await.unwrap();
    let recent = query(TODAY.back(1), None);
    let hosts = store.load_courtesy_hosts(&recent).await.unwrap();
    let by_host: Vec<_> = hosts
        .iter()
        .map(|it| (it.host.as_str(), it.counts.requests))
        .collect();
    assert_eq!(by_host, [("b.test", 5), ("c.test", 5), ("a.test", 4)]);
    let days = store.load_courtesy_days(&recent).await.unwrap();
    let by_day: Vec<_> = days.iter().map(|it| (it.day, it.counts.requests)).collect();
    assert_eq!(by_day, [(TODAY, 2), (TODAY.back(1), 12)]);
    let one = query(TODAY.back(9), Some("a.test"));
    let days = store.load_courtesy_days(&one).await.unwrap();
    let by_day: Vec<u64> = days.iter().map(|it| it.counts.requests).collect();
    assert_eq!(by_day, [2, 2, 100]);
    let few = CourtesyQuery { limit: 1, ..recent };
    assert_eq!(store.load_courtesy_hosts(&few).await.unwrap().len(), 1);
    let none = query(TODAY, Some("d.test"));
    assert_eq!(store.load_courtesy_hosts(&none).await.unwrap(), []);
}

/// Only what is older goes.
pub(crate) async fn ss_26_old_days_are_deleted(store: Arc<dyn Store>) {
    let days = (0..4)
        .rev()
        .map(|back| host_day("a.test", TODAY.back(back), 1));
    store.add_courtesy(days.collect()).await.unwrap();
    assert_eq!(store.prune_courtesy(TODAY.back(1)).await.unwrap(), 2);
    assert_eq!(store.prune_courtesy(TODAY.back(1)).await.unwrap(), 0);
    let days = store
        .load_courtesy_days(&query(Day(0), None))
        .await
        .unwrap();
    let left: Vec<Day> = days.iter().map(|it| it.day).collect();
    assert_eq!(left, [TODAY, TODAY.back(1)]);
}
