//! A running node reads its configuration again: what can change does, what cannot is named, and a
//! mistake changes nothing.

use serde_json::json;

use crate::{
    api::{Api, NOW, task},
    business::Business,
    harness::Home,
    process::{Process, eventually, free_address},
};

const KIND: &str = "ARTICLE_PUBLISH";
/// Files are read only on SIGHUP.
const REPORTED_ONLY: &str = "[schedules]\nreload = \"0s\"\n";

fn write(home: &Home, text: &str) {
    // Written atomically: half a file must not be read.
    let (new, file) = (home.path().join("new"), home.path().join("almanack.toml"));
    std::fs::write(&new, text).unwrap();
    std::fs::rename(&new, &file).unwrap();
}

async fn until_reported(node: &Process, what: &str) {
    eventually(&format!("the log says {what:?}"), async || {
        node.notes().contains(what).then_some(())
    })
    .await;
}

fn kind(name: &str, url: &str) -> String {
    format!("[kinds.{name}]\nurl = \"{url}\"\n")
}

async fn put(api: &Api, kind: &str, subject: &str) -> u16 {
    let body = json!({ "execute_at": NOW });
    api.put(&task(kind, subject), &body).await.status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_change_does_and_nothing_under_way_is_dropped() {
    let (old, new) = (Business::start().await, Business::start().await);
    let home = Home::with(&(REPORTED_ONLY.to_owned() + &kind(KIND, &old.held_url())));
    let mut node = Process::node(&home, free_address(), &[]).ready().await;
    let api = node.api();
    assert_eq!(put(&api, KIND, "article:1").await, 201);
    old.until_called("article:1", 1).await;
    assert_eq!(put(&api, "OTHER", "article:9").await, 422);

    let further = "[log]\nlevel = \"info,almanack_engine=debug\"\n[retention]\ndays = 3\n";
    let kinds = kind(KIND, &new.done_url()) + &kind("OTHER", &new.done_url());
    write(&home, &(REPORTED_ONLY.to_owned() + further + &kinds));
    node.tool("kill", &["-HUP"]);
    until_reported(
        &node,
        "retention.days changed; takes effect at the next start",
    )
    .await;
    until_reported(&node, "applied the changed settings").await;
    let reported = format!("settings=\"kinds.{KIND}.url, kinds.OTHER.url, log.level\"");
    assert!(node.notes().contains(&reported), "{}", node.notes());

    assert_eq!(put(&api, KIND, "article:2").await, 201);
    assert_eq!(
        put(&api, "OTHER", "article:9").await,
        201,
        "a kind that is new"
    );
    for (kind, subject) in [(KIND, "article:2"), ("OTHER", "article:9")] {
        api.until_status(kind, subject, "SUCCESS").await;
        assert_eq!(
            (old.calls(subject), new.calls(subject)),
            (0, 1),
            "{subject}"
        );
    }
    old.release();
    api.until_status(KIND, "article:1", "SUCCESS").await;
    let calls = (old.calls("article:1"), new.calls("article:1"));
    assert_eq!(calls, (1, 0), "what was under way ends where it began");
    node.terminate();
    assert_eq!(node.exit_code().await, Some(0), "{}", node.notes());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mistake_changes_nothing_and_says_what_and_where() {
    let (old, new) = (Business::start().await, Business::start().await);
    let home = Home::with(&(REPORTED_ONLY.to_owned() + &kind(KIND, &old.done_url())));
    let node = Process::node(&home, free_address(), &[]).ready().await;
    let schedule = "[[schedule]]\nname = \"a\"\nexpression = \"@daily\"
target = { type = \"task\", kind = \"K\", subject = \"s\" }\n";
    let wrong = kind(KIND, &new.done_url()) + "secret = \"hunter2hunter2\"\ntimeout = \"soon\"\n";
    write(&home, &(REPORTED_ONLY.to_owned() + &wrong + schedule));
    node.tool("kill", &["-HUP"]);
    until_reported(&node, "the configuration is wrong; nothing was changed").await;
    let notes = node.notes();
    for (place, what) in [
        ("almanack.toml:5:10: ", ".secret: "),
        ("almanack.toml:6:11: ", ".timeout: "),
    ] {
        let reported = format!("{place}kinds.{KIND}{what}");
        assert!(notes.contains(&reported), "{reported}\n{notes}");
    }
    assert!(!notes.contains("hunter2"), "{notes}");
    std::fs::remove_file(home.path().join("almanack.toml")).unwrap();
    node.tool("kill", &["-HUP"]);
    until_reported(&node, "almanack.toml is gone; nothing was changed").await;
    let api = node.api();
    assert_eq!(put(&api, KIND, "article:1").await, 201);
    api.until_status(KIND, "article:1", "SUCCESS").await;
    assert_eq!((old.calls("article:1"), new.calls("article:1")), (1, 0));
    let listed = api.get("/api/v1/schedules").await;
    assert_eq!(listed.json["schedules"], json!([]), "{listed:?}");
}

/// A key that was exchanged where it is kept: the file that names it is the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_is_read_again_from_where_it_is_kept() {
    let business = Business::start().await;
    let named = kind(KIND, &business.done_url()) + "secret = \"file:key\"\n";
    let home = Home::with(&(REPORTED_ONLY.to_owned() + &named))
        .file("key", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n");
    let node = Process::node(&home, free_address(), &[]).ready().await;
    let key = home.path().join("key");
    std::fs::write(&key, "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD\n").unwrap();
    node.tool("kill", &["-HUP"]);
    until_reported(&node, &format!("settings=\"kinds.{KIND}.secret\"")).await;
    std::fs::remove_file(&key).unwrap();
    node.tool("kill", &["-HUP"]);
    until_reported(&node, "the configuration is wrong; nothing was changed").await;
    assert!(!node.notes().contains("C2FVsBQI"), "{}", node.notes());
}
