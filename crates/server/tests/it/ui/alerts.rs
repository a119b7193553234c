//! What is wrong, in the API and on the first page.

use almanack_core::{
    alert::{About, Alert, Key, Rule, Severity},
    finish::Outcome,
    source::SourceId,
    store::{AlertStore, ScheduleStore},
};
use almanack_testkit::fixture::{
    START, at as instant, fires, new_schedule, schedule, schedule_name,
};
use insta::assert_json_snapshot;

use super::reading::{all, attributes, check_structure, in_chinese};
use crate::harness::World;

fn alert(rule: Rule, about: About, severity: Severity) -> Alert {
    Alert {
        key: Key { rule, about },
        severity,
        detail: "last heard of <b>long</b> ago".to_owned().into(),
        opened_at: START,
        cool_down_since: None,
        closed_at: None,
        returns: 0,
        open_notified_at: None,
        close_notified_at: None,
        notify_at: Some(START),
        taken_by: Vec::new(),
        version: 0,
    }
}

fn gone() -> Alert {
    alert(
        Rule::Gone,
        About::Node("news-1".to_owned()),
        Severity::Critical,
    )
}

#[tokio::test]
async fn what_is_wrong_is_listed_and_what_is_over_on_request() {
    let world = World::open();
    let over = Alert {
        closed_at: Some(instant(30)),
        notify_at: None,
        ..alert(Rule::Silent, About::Source(SourceId(17)), Severity::Warning)
    };
    world.store.write_alerts(vec![gone(), over]).await.unwrap();
    assert_json_snapshot!(world.get("/api/v1/alerts").await.json(), @r#"
    {
      "alerts": [
        {
          "about": "node:news-1",
          "close_notified_at": null,
          "closed_at": null,
          "cool_down_since": null,
          "detail": "last heard of <b>long</b> ago",
          "notify_at": "2026-01-05T08:00:00Z",
          "open": true,
          "open_notified_at": null,
          "opened_at": "2026-01-05T08:00:00Z",
          "returns": 0,
          "rule": "gone",
          "sentence": "node news-1 has sent no heartbeat",
          "severity": "critical"
        }
      ]
    }
    "#);
    let all = world.get("/api/v1/alerts?all=true").await.json();
    assert_eq!(all["alerts"].as_array().unwrap().len(), 2);
    assert_eq!(world.get("/api/v1/alerts?al=1").await.status, 400);
}

#[tokio::test]
async fn the_first_page_names_alerts_in_both_languages() {
    let world = World::open();
    world.store.write_alerts(vec![gone()]).await.unwrap();
    let page = world.get("/ui").await;
    check_structure(&page);
    let wants = all(&page, ".wants li").concat();
    assert!(
        wants.contains("node news-1 has sent no heartbeat"),
        "{wants}"
    );
    assert!(!page.body.contains("<b>long"));
    assert_eq!(attributes(&page, ".wants a", "href"), ["/ui/nodes"]);
    let chinese = in_chinese(&world, "/ui").await;
    let wants = all(&chinese, ".wants li").concat();
    assert!(wants.contains("节点 news-1 没有心跳"), "{wants}");
}

/// One that fails every 10 seconds must not hide everything else.
#[tokio::test]
async fn failed_firings_are_one_line_for_their_schedule() {
    let world = World::open();
    let beat = new_schedule(schedule("beat", START));
    world.store.write_schedules(vec![beat]).await.unwrap();
    for number in 1..4 {
        let names = [schedule_name("beat")];
        let row = world
            .store
            .load_schedules(&names)
            .await
            .unwrap()
            .remove(0)
            .unwrap();
        world.clock.set(row.next_at.unwrap());
        world
            .store
            .write_schedules(vec![fires(&row)])
            .await
            .unwrap();
        let task = world.claim(number).await;
        let error = "HTTP 500".to_owned();
        world.end(&task, &Outcome::GiveUp { error }).await;
    }
    world.clock.set(instant(120));
    let page = world.get("/ui").await;
    let wants = all(&page, ".wants li a");
    assert_eq!(wants, ["Schedule beat: 3 failed firings"]);
    assert_eq!(
        attributes(&page, ".wants a", "href"),
        ["/ui/schedules/beat"]
    );
}
