//! Schedules fired by real processes: killed, notified of changes, driven from outside.

use std::{collections::BTreeSet, process::Stdio};

use almanack_testkit::postgres::Schema;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::Value;

use crate::{
    business::Business,
    harness::{Home, Ran},
    process::{Process, eventually, free_address},
};

/// A schedule of every second whose slots are all caught up, and a service that does the work.
fn configuration(database: &str, business: &Business) -> String {
    format!(
        "[database]
url = \"{database}\"
[kinds.BEAT]
url = \"{}\"
max_retry = 100
[[schedule]]
name = \"beat\"
expression = \"@1s\"
catch_up = \"all\"
catch_up_pace = \"0s\"
overlap = \"allow\"
retry_for = \"10m\"
target = {{ type = \"task\", kind = \"BEAT\", subject = \"beat {{slot}}\" }}
",
        business.done_url()
    )
}

fn lines(ran: Ran) -> Vec<Value> {
    let data = ran.expect_data();
    let lines = data.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

/// The ledger of `beat`, oldest first.
fn ledger(home: &Home) -> Vec<Value> {
    let ran = home.run(&[
        "schedule",
        "slots",
        "beat",
        "--limit",
        "10000",
        "--json-lines",
    ]);
    let mut rows = lines(ran);
    rows.reverse();
    rows
}

fn at(row: &Value) -> Timestamp {
    row["slot_at"].as_str().unwrap().parse().unwrap()
}

/// Waits until so many slots have been decided.
async fn until_decided(home: &Home, slots: usize) -> Vec<Value> {
    eventually(&format!("{slots} slots are decided"), async || {
        // Before the first node has read the file there is no such schedule.
        let shown = home.run(&["schedule", "show", "beat", "--json"]);
        let rows = (shown.code == 0).then(|| ledger(home))?;
        (rows.len() >= slots).then_some(rows)
    })
    .await
}

/// Every slot of the ledger fired, follows its predecessor, and became one piece of work.
async fn check_whole(home: &Home, business: &Business, rows: &[Value]) {
    for (row, next) in rows.iter().zip(&rows[1..]) {
        assert_eq!(at(row) + SignedDuration::from_secs(1), at(next), "a hole");
    }
    for row in rows {
        let verdict = row["verdict"].as_str().unwrap();
        assert!(["fired", "caught_up"].contains(&verdict), "{row}");
        assert_eq!(row["slots"], 1, "{row}");
    }
    for row in rows {
        let subject = format!("beat {}", row["slot_at"].as_str().unwrap());
        business.until_called(&subject, 1).await;
    }
    let tasks = lines(home.run(&["task", "list", "--kind", "BEAT", "--all", "--json-lines"]));
    let subjects: BTreeSet<&str> = tasks
        .iter()
        .filter_map(|it| it["subject"].as_str())
        .collect();
    assert_eq!(subjects.len(), tasks.len(), "work done twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_08_a_killed_node_leaves_no_hole_and_no_double_on_sqlite() {
    killed("sqlite:almanack.db", 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_05_dp_08_killed_nodes_leave_no_hole_and_no_double_on_postgres() {
    let schema = Schema::create().await;
    killed(schema.url(), 2).await;
}

async fn killed(database: &str, nodes: usize) {
    let business = Business::start().await;
    let home = Home::with(&configuration(database, &business));
    let start = |_| Process::node(&home, free_address(), &[]);
    let mut nodes: Vec<Process> = (0..nodes).map(start).collect();
    for kills in 1..=2 {
        until_decided(&home, kills * 3).await;
        for node in &mut nodes {
            node.kill().await;
        }
        let decided = ledger(&home).len();
        nodes = (0..nodes.len()).map(start).collect();
        // The slots of the time in between, and some more.
        until_decided(&home, decided + 3).await;
    }
    let rows = ledger(&home);
    check_whole(&home, &business, &rows).await;
}

/// What a newer version does when its first node starts: it adds what older ones do not miss, and
/// says so.
const EXPAND: &str = "begin; alter table task add column future text; \
     alter table schedule add column future bigint not null default 7; \
     create table future (number bigint primary key); \
     insert into migration values (999, '0999_future'); \
     insert into migration_mark values (999, 0); commit";
/// The same for a step that takes away what this version needs.
const CONTRACT: &str = "insert into migration values (1000, '1000_further'); \
     insert into migration_mark values (1000, 999)";

/// Nodes are stopped and started one after the other, in the middle of a change of the schema.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_05_a_rolling_upgrade_misses_and_doubles_no_second() {
    let (schema, business) = (Schema::create().await, Business::start().await);
    let home = Home::with(&configuration(schema.url(), &business));
    let start = || Process::node(&home, free_address(), &[]);
    let mut nodes = [start(), start()];
    until_decided(&home, 3).await;
    schema.run(EXPAND).await;
    for node in &mut nodes {
        let decided = ledger(&home).len();
        node.terminate();
        assert_eq!(node.exit_code().await, Some(0), "{}", node.notes());
        *node = start().ready().await;
        until_decided(&home, decided + 2).await;
    }
    let rows = ledger(&home);
    check_whole(&home, &business, &rows).await;
    assert!(
        rows.iter().all(|row| row["verdict"] == "fired"),
        "while one node rolled, the other was there: {rows:?}"
    );
    schema.run(CONTRACT).await;
    let refused = home.run(&["schedule", "list"]);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(
        refused.notes.contains("migration 1000 (`1000_further`)"),
        "{refused}"
    );
}

fn names(home: &Home) -> Vec<String> {
    // Without the file: it may be broken just now.
    let store = ["--config", "/dev/null", "--database", "sqlite:almanack.db"];
    let listed = lines(home.run(&[&["schedule", "list", "--json-lines"][..], &store].concat()));
    let names = listed.iter().map(|it| it["name"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

/// A schedule that fires in the far future.
fn quiet(name: &str) -> String {
    format!(
        "[[schedule]]\nname = \"{name}\"\nexpression = \"0 0 0 1 1 * 2120\"
target = {{ type = \"task\", kind = \"K\", subject = \"s\" }}\n"
    )
}

fn write(home: &Home, text: &str) {
    // Written atomically: half a file must not be read.
    let (new, file) = (home.path().join("new"), home.path().join("almanack.toml"));
    std::fs::write(&new, text).unwrap();
    std::fs::rename(&new, &file).unwrap();
}

async fn until_named(home: &Home, expected: &[&str]) {
    eventually(&format!("the schedules are {expected:?}"), async || {
        (names(home) == expected).then_some(())
    })
    .await;
}

async fn until_reported(node: &Process, what: &str) {
    eventually(&format!("the log says {what:?}"), async || {
        node.notes().contains(what).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_18_changes_of_the_files_take_effect_and_mistakes_do_not() {
    let home =
        Home::with(&(quiet("a") + "[schedules]\nreload = \"100ms\"\ndispatch = \"DISPATCH\"\n"))
            .file(
                "DISPATCH",
                "0 8 * * *  owner/repo  daily.yml  name=daily\nnonsense\n",
            );
    let node = Process::node(&home, free_address(), &[]).ready().await;
    assert_eq!(names(&home), ["a", "daily"]);
    until_reported(&node, "DISPATCH:2:1: ").await;
    let settings = "[schedules]\nreload = \"100ms\"\ndispatch = \"DISPATCH\"\n";
    write(&home, &(settings.to_owned() + &quiet("a") + &quiet("b")));
    until_named(&home, &["a", "b", "daily"]).await;

    let bad = quiet("a").replace("0 0 0 1 1", "0 0 25 1 1");
    write(&home, &(settings.to_owned() + &bad + &quiet("c")));
    until_named(&home, &["a", "c", "daily"]).await;
    until_reported(&node, "almanack.toml:6:19: schedule `a`: expression: hour").await;

    write(&home, "[[schedule\n");
    until_reported(&node, "the configuration is invalid").await;
    assert_eq!(
        names(&home),
        ["a", "c", "daily"],
        "everything stays unchanged"
    );
    let dispatch = home.path().join("DISPATCH");
    let named_badly = "0 88 * * *  owner/repo  daily.yml  name=daily\n";
    std::fs::write(&dispatch, named_badly).unwrap();
    write(&home, settings);
    until_named(&home, &["daily"]).await;
    until_reported(&node, "DISPATCH:1:3: ").await;
    write(&home, &(settings.to_owned() + &quiet("d")));
    until_named(&home, &["d", "daily"]).await;
    std::fs::write(&dispatch, "").unwrap();
    write(&home, settings);
    until_named(&home, &[]).await;
    assert!(!node.notes().contains("owner/repo"), "DP-15");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_makes_a_node_read_its_files_at_once() {
    let settings = "[schedules]\nreload = \"0s\"\n";
    let home = Home::with(settings).set("DISPATCH", "@daily o/r w.yml name=w\n");
    let mut node = Process::node(&home, free_address(), &[]).ready().await;
    assert_eq!(names(&home), ["w"]);
    write(&home, &(settings.to_owned() + &quiet("a")));
    node.tool("kill", &["-HUP"]);
    until_named(&home, &["a", "w"]).await;
    node.terminate();
    assert_eq!(node.exit_code().await, Some(0), "{}", node.notes());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ticks_fire_every_slot_once_on_sqlite() {
    ticked("sqlite:almanack.db").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ticks_at_once_fire_every_slot_once_on_postgres() {
    let schema = Schema::create().await;
    ticked(schema.url()).await;
}

async fn ticked(database: &str) {
    let business = Business::start().await;
    let home = Home::with(&configuration(database, &business));
    let first = home.run(&["tick", "--json"]).expect_json();
    assert_eq!(first["complete"], true, "{first}");
    let tick = || {
        let mut command = home.command(&["tick", "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let mut fired = first["fired"].as_u64().unwrap();
    eventually("six slots have fired", async || {
        // Two at once, as two impatient crons would.
        for child in [tick(), tick()] {
            let ticked = Ran::from(child.wait_with_output().unwrap()).expect_json();
            assert_eq!(ticked["complete"], true, "{ticked}");
            fired += ticked["fired"].as_u64().unwrap();
        }
        (fired >= 6).then_some(())
    })
    .await;
    // What one of two claimed at its very end, and handed on, is due at the next tick.
    let last = home.run(&["tick", "--json"]).expect_json();
    fired += last["fired"].as_u64().unwrap();
    let rows = ledger(&home);
    assert_eq!(rows.len() as u64, fired, "the ticks report what they did");
    check_whole(&home, &business, &rows).await;
}

/// A GitHub with one workflow, and who may start it.
async fn github(home: &Home) -> Process {
    let setup = serde_json::json!({
        "tokens": [{ "name": "almanack", "secret": "s-token", "repositories": ["octo/news"] }],
        "repositories": [{ "owner": "octo", "name": "news", "workflows": [{ "file": "daily.yml" }] }],
    });
    std::fs::write(home.path().join("github.json"), setup.to_string()).unwrap();
    let address = free_address();
    let listen = address.to_string();
    let command = home.command(&[
        "world",
        "github",
        "--listen",
        &listen,
        "--setup",
        "github.json",
    ]);
    Process::start(home, address, command).ready().await
}

/// Fires a schedule by hand and ticks; answers the firing's task.
fn fire_and_tick(home: &Home, name: &str, settings: &[&str]) -> Value {
    let fired = home
        .run(&["schedule", "fire", name, "--json"])
        .expect_json();
    let ticked = home.run(&[&["tick", "--json"][..], settings].concat());
    assert_eq!(ticked.code, 0, "{ticked}");
    assert!(!ticked.to_string().contains("octo"), "DP-15: {ticked}");
    let subject = fired["subject"].as_str().unwrap();
    home.run(&["task", "get", "DISPATCH", subject, "--json"])
        .expect_json()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_11_workflows_commands_and_webhooks_are_fired_at_as_configured() {
    let home = Home::new().set("PAT", "s-token");
    let (github, business) = (github(&home).await, Business::start().await);
    let url = business.done_url();
    for (name, target) in [
        ("flow", &["--target-workflow", "octo/news/daily.yml"][..]),
        ("hook", &["--target-webhook", &url]),
        (
            "touch",
            &[
                "--target-command",
                "/usr/bin/touch",
                "--target-command",
                "touched",
            ],
        ),
    ] {
        let put = ["schedule", "put", name, "0 0 0 1 1 * 2120"];
        // A node that does not allow it will say so again.
        let here = ["--set", "outbound.allow=127.0.0.1"];
        home.run(&[&put[..], target, &here].concat()).expect_data();
    }
    let api_url = format!("github.api_url=http://{}", github.address);
    let flow = fire_and_tick(&home, "flow", &["--set", &api_url]);
    // Its run has not concluded, so the firing has not, either (DP-19).
    assert_eq!(flow["status"], "INIT", "{flow}");
    assert_eq!(flow["live"], true, "{flow}");
    let waits = flow["detail"].as_str().unwrap();
    assert!(waits.starts_with("waits for the workflow: run "), "{flow}");
    let dispatches = github.api().get("/_world/dispatches").await.json;
    assert_eq!(dispatches.as_array().unwrap().len(), 1, "{dispatches}");

    let hook = fire_and_tick(&home, "hook", &[]);
    assert_eq!(
        hook["status"], "FAIL",
        "put by hand, into this machine: {hook}"
    );
    let reported = hook["detail"].as_str().unwrap();
    assert!(
        reported.contains("add it to `outbound.allow`"),
        "{reported}"
    );
    let hook = fire_and_tick(&home, "hook", &["--set", "outbound.allow=127.0.0.1"]);
    assert_eq!(hook["status"], "SUCCESS", "{hook}");

    let off = fire_and_tick(&home, "touch", &[]);
    assert_eq!(
        (&off["status"], &off["live"]),
        (&"FAIL".into(), &true.into()),
        "another node may allow it"
    );
    assert!(
        off["detail"].as_str().unwrap().contains("command.enabled"),
        "{off}"
    );
    let subject = off["subject"].as_str().unwrap();
    home.run(&["task", "cancel", "DISPATCH", subject])
        .expect_data();
    let on = [
        "--set",
        "command.enabled=true",
        "--set",
        "command.programs=/usr/bin",
    ];
    let on = fire_and_tick(&home, "touch", &on);
    assert_eq!(on["status"], "SUCCESS", "{on}");
    assert!(home.path().join("touched").exists());
}

/// What the operator wrote into the file is called wherever it is; what others put in is not, even
/// if it differs by the port alone.
/// The ledger of a schedule, as the API answers it.
async fn slots(node: &Process, name: &str) -> Vec<Value> {
    let answer = node
        .api()
        .get(&format!("/api/v1/schedules/{name}/slots?limit=500"))
        .await;
    answer.json["slots"].as_array().cloned().unwrap_or_default()
}

/// A run that is queued or goes on keeps the next slots back, and its conclusion is the outcome.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_19_a_workflow_is_not_started_again_before_its_run_is_over() {
    let toml = "[[schedule]]
name = \"flow\"
expression = \"@1s\"
target = { type = \"workflow\", repository = \"octo/news\", workflow = \"daily.yml\" }
";
    let home = Home::with(toml).set("PAT", "s-token");
    let github = github(&home).await;
    let api_url = format!("github.api_url=http://{}", github.address);
    let node = Process::node(&home, free_address(), &["--set", &api_url]);
    let node = node.ready().await;
    let dispatched = async || {
        let dispatches = github.api().get("/_world/dispatches").await.json;
        dispatches.as_array().unwrap().len()
    };
    eventually("slots are skipped while the run goes on", async || {
        let rows = slots(&node, "flow").await;
        let skipped = rows.iter().filter(|row| row["reason"] == "overlap");
        (skipped.count() >= 2).then_some(())
    })
    .await;
    assert_eq!(dispatched().await, 1, "one run at a time");
    let runs = github.api().get("/_world/repos/octo/news/runs").await.json;
    let path = format!("/_world/runs/{}", runs[0]["id"]);
    let over = serde_json::json!({ "status": "completed", "conclusion": "failure" });
    let set = github.api().ask(Method::PATCH, &path, Some(&over)).await;
    assert_eq!(set.unwrap().status, 200);
    eventually("its conclusion is the outcome", async || {
        let rows = slots(&node, "flow").await;
        let failed = rows.iter().any(|row| row["run"]["outcome"] == "failed");
        failed.then_some(())
    })
    .await;
    eventually("the next slot starts another", async || {
        (dispatched().await > 1).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ss_14_hooks_of_the_file_are_trusted_and_others_need_the_allow_list() {
    let (mine, other) = (Business::start().await, Business::start().await);
    let url = mine.done_url();
    let home = Home::with(&format!(
        "[[schedule]]\nname = \"mine\"\nexpression = \"0 0 0 1 1 * 2120\"\n\
         target = {{ type = \"webhook\", url = \"{url}\" }}\n"
    ));
    home.run(&["tick"]).expect_data();
    let mine = fire_and_tick(&home, "mine", &[]);
    assert_eq!(mine["status"], "SUCCESS", "{mine}");
    let put = ["schedule", "put", "other", "0 0 0 1 1 * 2120"];
    let url = other.done_url();
    let here = ["--set", "outbound.allow=127.0.0.1"];
    home.run(&[&put[..], &["--target-webhook", &url], &here].concat())
        .expect_data();
    let other = fire_and_tick(&home, "other", &[]);
    assert_eq!(
        (&other["status"], &other["live"]),
        (&"FAIL".into(), &false.into()),
        "{other}"
    );
}
