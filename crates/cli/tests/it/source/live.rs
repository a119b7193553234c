//! Sources from end to end: a world of feeds, a node that looks at them, and people who ask.

use almanack_testkit::postgres::Schema;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    harness::Home,
    process::{Process, eventually, free_address},
};

/// Feeds of the world. Some of them are pages and sitemaps, which no list of feeds names.
const FEEDS: usize = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ss_12_ss_13_ss_16_sources_are_looked_at_on_sqlite() {
    run("sqlite:almanack.db").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ss_12_ss_13_ss_16_sources_are_looked_at_on_postgres() {
    let schema = Schema::create().await;
    run(schema.url()).await;
}

/// A home whose node may look at loopback, as fast as it likes.
pub(super) fn home(database: &str) -> Home {
    Home::with(&format!(
        "[database]\nurl = \"{database}\"\n[sources]\nallow = [\"127.0.0.0/8\"]\nhost_pace = \"1000/1s\"\n"
    ))
}

/// Simulated feeds without faults.
pub(super) async fn world(home: &Home, feeds: usize) -> Process {
    let address = free_address();
    let (listen, feeds) = (format!("0.0.0.0:{}", address.port()), feeds.to_string());
    let quiet = ["--feeds", &feeds, "--feeds-per-host", "2", "--quiet"];
    let arguments = [&["world", "feeds", "--listen", &listen], &quiet[..]].concat();
    let command = home.command(&arguments);
    Process::start(home, address, command).ready().await
}

/// What a command writes, run beside the node and not in its place.
pub(super) fn ask(home: &Home, arguments: &[&str]) -> crate::harness::Ran {
    tokio::task::block_in_place(|| home.run(arguments))
}

pub(super) fn json_of(home: &Home, arguments: &[&str]) -> Value {
    let arguments = [arguments, &["--json"]].concat();
    ask(home, &arguments).expect_json()
}

/// One JSON value a line.
pub(super) fn lines_of(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let arguments = [arguments, &["--json-lines"]].concat();
    let data = ask(home, &arguments).expect_data();
    let lines = data.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

async fn run(database: &str) {
    let home = home(database);
    let world = world(&home, FEEDS).await;
    let node = Process::node(&home, free_address(), &[]).ready().await;
    let sources = import(&home, &world).await;
    everything_is_looked_at(&home, sources).await;
    a_new_entry_is_found_once(&home, &world).await;
    a_site_leads_to_its_feed(&home);
    rules_read_json(&home, &world).await;
    a_failure_is_reported(&home, &world).await;
    let listed = node.api().get("/api/v1/sources").await.json;
    assert!(listed["sources"].as_array().unwrap().len() >= sources);
}

/// Takes the world's own list of feeds.
pub(super) async fn import(home: &Home, world: &Process) -> usize {
    let list = world.api().insist(Method::GET, "/opml", None).await;
    let list = list.json.as_str().unwrap().to_owned();
    let feeds = list.matches("xmlUrl").count();
    std::fs::write(home.path().join("world.opml"), list).unwrap();
    let sum = json_of(home, &["source", "import", "world.opml"]);
    assert_eq!(
        sum,
        json!({ "added": feeds, "existing": 0, "refused": 0, "problems": [] })
    );
    feeds
}

async fn everything_is_looked_at(home: &Home, sources: usize) {
    eventually("every source was looked at", async || {
        let stats = json_of(home, &["source", "stats"]);
        (stats["total_with_stats"] == sources).then_some(())
    })
    .await;
    for source in lines_of(home, &["source", "list", "--all"]) {
        assert_eq!(source["fail_count"], 0, "{source}");
        assert_ne!(source["next_due_at"], Value::Null, "{source}");
        assert_ne!(source["reason"], Value::Null, "{source}");
    }
}

async fn a_new_entry_is_found_once(home: &Home, world: &Process) {
    let number = feed_number(home, "1");
    let path = format!("/_world/feeds/{number}/entries");
    let body = json!({ "title": "The news of the day" });
    world.api().insist(Method::POST, &path, Some(&body)).await;
    let looked = json_of(home, &["source", "check", "1", "--wait"]);
    assert_eq!(looked["recent"][0]["outcome"], "new", "{looked}");
    let again = json_of(home, &["source", "check", "1", "--wait"]);
    assert!(
        ["unchanged", "nothing"].contains(&again["recent"][0]["outcome"].as_str().unwrap()),
        "{again}"
    );
    let entries = lines_of(home, &["source", "entries", "1", "--all"]);
    let news = entries
        .iter()
        .filter(|entry| entry["title"] == "The news of the day");
    assert_eq!(news.count(), 1, "{entries:?}");
    let recent = lines_of(
        home,
        &["source", "entries", "--since", "1h", "--limit", "3"],
    );
    assert_eq!(recent.len(), 3);
    let shown = ask(home, &["source", "show", "1"]).expect_data();
    assert!(
        shown.contains("The news of the day") && shown.contains("+ new entries"),
        "{shown}"
    );
    let why = ask(home, &["source", "why", "1"]).expect_data();
    assert!(
        why.contains("Entries expected in each hour of the week:"),
        "{why}"
    );
}

/// Which feed of the world a source is.
fn feed_number(home: &Home, id: &str) -> String {
    let source = json_of(home, &["source", "show", id]);
    let address = source["address"].as_str().unwrap().to_owned();
    address.split('/').nth(4).unwrap().to_owned()
}

fn a_site_leads_to_its_feed(home: &Home) {
    let number = feed_number(home, "1");
    let source = json_of(home, &["source", "show", "1"]);
    let address = source["address"].as_str().unwrap();
    let site = address.rsplit_once('/').unwrap().0;
    let found = ask(home, &["source", "add", &format!("{site}/")]);
    assert_eq!(found.code, 0, "{number}: {found}");
    assert!(
        found.data.starts_with("No change: source 1 already exists"),
        "{found}"
    );
    assert!(
        found.notes.contains(&format!("found its feed: {address}")),
        "{found}"
    );
    let host = site.split("/feeds").next().unwrap();
    let several = ask(home, &["source", "add", host]);
    assert_eq!(several.code, 2, "{several}");
    assert!(
        several
            .notes
            .contains("links to several feeds; choose one\nhint: almanack source add http"),
        "{several}"
    );
}

/// One of the world's addresses shows no feed, but JSON of its own making.
async fn rules_read_json(home: &Home, world: &Process) {
    let cards = world.api().insist(Method::GET, "/_world/feeds", None).await;
    let cards = cards.json.as_array().unwrap().clone();
    let own = cards.iter().find(|card| card["document"] == "api");
    let address = own.expect("an address without a feed")["url"]
        .as_str()
        .unwrap();
    let rules = [
        "--as",
        "json",
        "--item",
        "$.data.items[*]",
        "--title",
        "$.title",
    ];
    let further = [
        "--link",
        "$.url",
        "--id",
        "$.id",
        "--date",
        "$.published_at",
    ];
    let rules = [&rules[..], &further].concat();
    let add = ["source", "add", address];
    let shown = json_of(home, &[&add[..], &["--dry-run"], &rules].concat());
    let entries = shown["entries"].as_array().unwrap().len();
    assert!(entries > 1, "{shown}");
    let added = json_of(home, &[&add[..], &rules].concat());
    let id = added["source_id"].to_string();
    let looked = json_of(home, &["source", "check", &id, "--wait"]);
    assert_eq!(looked["source_type"], "custom", "{looked}");
    let kept = lines_of(home, &["source", "entries", &id, "--all"]);
    assert!(kept.len() >= entries, "{kept:?}");
}

async fn a_failure_is_reported(home: &Home, world: &Process) {
    let number = feed_number(home, "2");
    let number: u32 = number.parse().unwrap();
    let matching = json!({ "feed": number });
    let body = json!({ "matching": matching, "when": { "next": 1 }, "effect": { "status": 500 } });
    let api = world.api();
    api.insist(Method::POST, "/_world/faults", Some(&body))
        .await;
    let failed = ask(home, &["source", "check", "2", "--wait"]);
    assert_eq!(failed.code, 1, "{failed}");
    assert!(failed.data.contains("(HTTP 500)"), "{failed}");
    assert!(failed.data.contains("the last check failed"), "{failed}");
    let better = json_of(home, &["source", "check", "2", "--wait"]);
    assert_eq!(better["fail_count"], 0, "{better}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ss_08_a_tick_looks_at_what_is_due_without_a_node_that_stays() {
    let home = home("sqlite:almanack.db");
    let world = world(&home, 2).await;
    let address = format!("http://127.1.1.1:{}/feeds/0/", world.address.port());
    let added = json_of(&home, &["source", "add", &address]);
    assert_eq!(added["check_count"], 0, "{added}");
    assert_eq!(lines_of(&home, &["source", "list", "--due"]).len(), 1);
    let ticked = json_of(&home, &["tick", "--budget", "30s"]);
    assert_eq!(ticked["complete"], true, "{ticked}");
    let source = json_of(&home, &["source", "show", "1"]);
    assert_eq!(source["check_count"], 1, "{source}");
    let entries = lines_of(&home, &["source", "entries", "1"]);
    assert!(entries.len() > 1, "{source}");
    let published: Vec<&str> = entries
        .iter()
        .map(|it| it["published_at"].as_str().unwrap())
        .collect();
    assert!(
        published.is_sorted_by(|a, b| a >= b),
        "newest first: {published:?}"
    );
    assert!(lines_of(&home, &["source", "list", "--due"]).is_empty());
}
