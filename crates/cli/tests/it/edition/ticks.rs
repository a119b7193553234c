//! The schedule of the ticks: there with editions, gone without, and worked through by nodes
//! (ED-01, ED-23).

use reqwest::Method;

use super::{World, run};
use crate::{
    harness::Home,
    process::{Process, free_address},
};

/// The names of the schedules there are.
async fn schedules(home: &Home) -> Vec<String> {
    let listed = run(home, &["schedule", "list", "--json-lines"])
        .await
        .expect_data();
    let names = listed.lines().map(|line| {
        let schedule: serde_json::Value = serde_json::from_str(line).unwrap();
        schedule["name"].as_str().unwrap().to_owned()
    });
    names.collect()
}

/// Every task: its kind and status, and what its newest attempt said.
async fn tasks(home: &Home) -> Vec<(String, serde_json::Value)> {
    let listed = run(home, &["task", "list", "--json-lines"])
        .await
        .expect_data();
    let tasks = listed.lines().map(|line| {
        let task: serde_json::Value = serde_json::from_str(line).unwrap();
        let named = format!("{} {}", task["kind"], task["status"]).replace('"', "");
        (named, task["detail"].clone())
    });
    tasks.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_01_a_tick_of_the_schedule_makes_the_edition_and_goes_when_editions_are_off() {
    let world = World::start().await;
    let toml = world
        .stories()
        .replace("[edition]\n", "[edition]\nchain = true\n");
    let home = Home::with(&toml);
    run(&home, &["tick"]).await.expect_data();
    assert_eq!(schedules(&home).await, ["edition"]);
    run(&home, &["schedule", "fire", "edition"])
        .await
        .expect_data();
    run(&home, &["tick"]).await.expect_data();
    let view = run(&home, &["edition", "status", "--json"])
        .await
        .expect_json();
    assert_eq!(view["state"], "published", "{view:#}");
    // A tick is its firing: one task, which says what the tick did.
    let [(task, said)] = <[_; 1]>::try_from(tasks(&home).await).unwrap();
    assert_eq!(task, "DISPATCH SUCCESS");
    assert!(said.to_string().contains(" published: fetch, "), "{said}");
    let home = home.file("almanack.toml", "[edition]\nenabled = false\n");
    run(&home, &["tick"]).await.expect_data();
    assert_eq!(schedules(&home).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_01_without_a_file_the_environment_says_whether_there_are_ticks() {
    let home = Home::new().set("HN_STORY_LIMIT", "5");
    run(&home, &["tick"]).await.expect_data();
    assert_eq!(schedules(&home).await, ["edition"]);
    // Who says nothing about editions removes nothing: it may be the wrong folder.
    let silent = home.set("HN_STORY_LIMIT", "");
    run(&silent, &["tick"]).await.expect_data();
    assert_eq!(schedules(&silent).await, ["edition"]);
    let off = silent.set("ALMANACK_EDITION_ENABLED", "false");
    run(&off, &["tick"]).await.expect_data();
    assert_eq!(schedules(&off).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_editions_leaves_their_ticks_to_others() {
    let home = Home::new();
    let with = ["tick", "--set", "edition.stories=5"];
    run(&home, &with).await.expect_data();
    run(&home, &["schedule", "fire", "edition"])
        .await
        .expect_data();
    run(&home, &["tick"]).await.expect_data();
    let waits = "waits for a node that produces editions";
    let [(task, said)] = <[_; 1]>::try_from(tasks(&home).await).unwrap();
    assert_eq!((task.as_str(), said), ("DISPATCH INIT", waits.into()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_23_what_ticks_have_completed_is_published_by_force() {
    let world = World::start().await;
    let home = Home::with(&world.stories());
    run(&home, &["tick"]).await.expect_data();
    // The list, and the first batch of two.
    for _ in 0..2 {
        run(&home, &["schedule", "fire", "edition"])
            .await
            .expect_data();
        run(&home, &["tick"]).await.expect_data();
    }
    let view = run(&home, &["edition", "status", "--json"])
        .await
        .expect_json();
    assert_eq!(
        (&view["state"], &view["counts"]["completed"]),
        (&"processing".into(), &6.into())
    );
    assert_eq!(view["plan"]["batches_planned"], 2, "{view:#}");
    assert!(view["plan"]["expected_finish_at"].is_string(), "{view:#}");
    let forced = run(&home, &["edition", "publish"]).await;
    assert_eq!(forced.code, 0, "{forced}");
    assert!(forced.data.ends_with(": 6 stories\n"), "{forced}");
    assert!(
        forced.notes.contains("left out: 6 stories, not completed"),
        "{forced}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_19_ed_21_a_node_warns_of_a_short_interval_and_makes_an_edition_on_request() {
    let world = World::start().await;
    let home = Home::with(&world.stories()).set("CRON_INTERVAL_MINUTES", "3");
    let node = Process::node(&home, free_address(), &[]).ready().await;
    assert!(
        node.notes().contains("uses up quotas quickly"),
        "{}",
        node.notes()
    );
    let api = node.api();
    let made = api
        .ask(Method::POST, "/trigger-export-sync", None)
        .await
        .unwrap();
    assert_eq!(made.status, 200, "{:?}", made.json);
    let status = api.ask(Method::GET, "/task-status", None).await.unwrap();
    assert_eq!(status.json["status"], "published", "{:?}", status.json);
    // The command line sees the same, beside the node.
    let view = run(&home, &["edition", "status", "--json"])
        .await
        .expect_json();
    assert_eq!(view["state"], "published");
    assert_eq!(schedules(&home).await, ["edition"]);
}
