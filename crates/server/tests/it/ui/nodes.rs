//! The page of nodes, leases and pace.

use almanack_core::store::{Node, NodeStore};
use almanack_testkit::fixture::at as instant;

use super::{
    reading::{all, attributes, check_structure, in_chinese, words},
    tasks::many,
};
use crate::harness::World;

fn node(name: &str, seen: i64, skew_us: i64) -> Node {
    Node {
        name: name.to_owned(),
        session: format!("{name}-1"),
        version: "0.0.0-test".to_owned(),
        started_at: instant(0),
        seen_at: instant(seen),
        skew_us,
    }
}

#[tokio::test]
async fn nodes_leases_pace_and_queues_are_shown() {
    let world = World::open();
    many(&world, 3).await;
    world.clock.set(instant(3_602));
    let first = world.claim(1).await;
    world.clock.set(instant(3_610));
    world.done(&first).await;
    world.clock.set(instant(3_662));
    world.claim(2).await;
    for node in [node("quiet", 3_660, 0), node("<b>gone", 3_500, -700_000)] {
        world.store.save_node(&node).await.unwrap();
    }
    let page = world.get("/ui/nodes").await;
    assert_eq!(page.status, 200, "{}", page.body);
    check_structure(&page);
    assert!(!page.body.contains("<b>gone"));
    let rows = all(&page, "#nodes tr[data-row]");
    let of = |name: &str| rows.iter().find(|row| row.contains(name)).unwrap();
    assert!(of("quiet").contains("running"), "{rows:?}");
    assert!(
        of("gone").contains("no heartbeat") && of("gone").contains("700 ms ahead"),
        "{rows:?}"
    );
    let text = words(&page);
    assert!(
        text.contains("Tasks finished in the last hour: 1"),
        "{text}"
    );
    assert!(
        all(&page, "#pace").concat().contains("2 s"),
        "the one task was 2 s late: {text}"
    );
    assert_eq!(all(&page, "#pace svg").len(), 2, "two pictures");
    let queue = all(&page, "#queues tr[data-row]").concat();
    assert!(queue.contains("ARTICLE_PUBLISH"), "{queue}");
    let ways = attributes(&page, "#queues a", "href");
    assert_eq!(ways[0], "/ui/tasks?kind=ARTICLE_PUBLISH");
    let chinese = in_chinese(&world, "/ui/nodes").await;
    assert!(words(&chinese).contains("无心跳"), "{}", words(&chinese));
}

#[tokio::test]
async fn an_idle_house_says_so() {
    let world = World::open();
    let page = world.get("/ui/nodes").await;
    assert_eq!(page.status, 200);
    let text = words(&page);
    for part in [
        "No node has sent a heartbeat.",
        "No leases",
        "No tasks finished",
        "No tasks are waiting.",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}
