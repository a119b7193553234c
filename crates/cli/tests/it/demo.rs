//! `almanack demo` for a new user: one command, every part runs, Ctrl-C, nothing left behind.

use std::{
    io::{BufRead, BufReader, Read, Write as _},
    net::TcpListener,
    path::Path,
    process::{Child, ChildStdout, Stdio},
};

use serde_json::Value;

use crate::{
    api::Api,
    harness::Home,
    process::{Process, eventually, free_address},
};

/// Waits until a response satisfies `wanted`.
async fn until(api: &Api, what: &str, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    eventually(what, async || {
        let answer = api.ask(reqwest::Method::GET, path, None).await.ok()?;
        wanted(&answer.json).then_some(answer.json)
    })
    .await
}

fn some<'a>(json: &'a Value, list: &str, wanted: impl Fn(&Value) -> bool) -> Option<&'a Value> {
    json[list].as_array()?.iter().find(|it| wanted(it))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_part_shows_results_and_what_is_kept_can_be_served() {
    let (home, address) = (Home::new(), free_address());
    let listen = address.to_string();
    let arguments = [
        "demo",
        "--speed",
        "600",
        "--no-warm-up",
        "--listen",
        &listen,
        "--keep",
        "kept",
    ];
    let demo = Process::start(&home, address, home.command(&arguments));
    let mut demo = demo.ready().await;
    let api = demo.api();
    until(&api, "a node is listed", "/api/v1/nodes", |json| {
        some(json, "nodes", |node| node["name"] == "demo").is_some()
    })
    .await;
    collects(&api).await;
    fires(&api).await;
    let date = prepares_and_publishes(&api, &home).await;
    moves(&api).await;
    nothing_is_critical(&api).await;
    let post = std::fs::read_to_string(home.path().join(format!("kept/site/{date}-daily.md")));
    let post = post.unwrap();
    assert!(!post.chars().any(is_chinese), "{post}");
    assert!(post.contains("leads the day: "), "{post}");

    demo.tool("kill", &["-INT"]);
    assert_eq!(demo.exit_code().await, Some(0), "{}", demo.notes());
    assert!(home.path().join("kept/almanack.toml").exists());
    let editions = home.run(&[
        "edition",
        "list",
        "--config",
        "kept/almanack.toml",
        "--json",
    ]);
    assert!(editions.expect_data().contains(&date));
    let again = home.run(&["demo", "--keep", "kept"]);
    assert_eq!(again.code, 2, "{again}");
    assert!(
        again.notes.contains("already contains almanack.toml"),
        "{again}"
    );
}

fn is_chinese(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

/// The demo's node is running, and nothing about it is a critical alert.
async fn nothing_is_critical(api: &Api) {
    let page = api.get("/ui/nodes").await.json;
    let page = page.as_str().unwrap();
    assert!(!page.contains("no heartbeat for over"), "{page}");
    let alerts = api.get("/api/v1/alerts").await.json;
    let critical = some(&alerts, "alerts", |alert| {
        alert["severity"] == "critical" && alert["closed_at"].is_null()
    });
    assert!(critical.is_none(), "{critical:?}");
}

async fn collects(api: &Api) {
    let stats = until(
        api,
        "sources were checked",
        "/api/v1/sources/stats",
        |json| json["total_with_stats"] == 40,
    )
    .await;
    assert_eq!(stats["total_sources"], 40);
    let path = "/api/v1/sources?limit=100";
    until(api, "a cadence was learned", path, |json| {
        some(json, "sources", |source| {
            source["cadence"].is_string() && source["check_count"].as_u64() > Some(0)
        })
        .is_some()
    })
    .await;
    until(api, "a broken source was found out", path, |json| {
        some(json, "sources", |source| {
            source["last_error_class"] == "gone"
        })
        .is_some()
            && some(json, "sources", |source| {
                source["attention"] == "credentials"
            })
            .is_some()
    })
    .await;
    until(api, "entries came", "/api/v1/entries?limit=1", |json| {
        some(json, "entries", |_| true).is_some()
    })
    .await;
}

async fn fires(api: &Api) {
    for name in ["front-page", "site-build", "newsletter", "partner-sync"] {
        let path = format!("/api/v1/schedules/{name}/slots");
        until(api, &format!("{name} fired"), &path, |json| {
            some(json, "slots", |slot| slot["verdict"] == "fired").is_some()
        })
        .await;
    }
    let path = "/api/v1/schedules/archive/slots";
    until(api, "a slot overlapped", path, |json| {
        some(json, "slots", |slot| slot["reason"] == "overlap").is_some()
    })
    .await;
    let path = "/api/v1/tasks?kind=NEWSLETTER_SEND&status=SUCCESS";
    until(api, "own work was done", path, |json| {
        some(json, "tasks", |_| true).is_some()
    })
    .await;
}

/// Returns the date of the edition.
async fn prepares_and_publishes(api: &Api, home: &Home) -> String {
    let list = until(
        api,
        "an edition was published",
        "/api/v1/editions",
        |json| some(json, "editions", |edition| edition["state"] == "published").is_some(),
    )
    .await;
    let edition = some(&list, "editions", |it| it["state"] == "published").unwrap();
    let date = edition["date"].as_str().unwrap().to_owned();
    let account = api.get(&format!("/api/v1/editions/{date}")).await.json;
    assert!(
        account["batches"].as_array().unwrap().len() >= 4,
        "{account}"
    );
    for destination in ["github", "telegram", "directory"] {
        let delivered = some(&account, "deliveries", |delivery| {
            delivery["destination"] == destination && delivery["state"] == "confirmed"
        });
        assert!(delivered.is_some(), "{destination}: {account}");
    }
    let file = format!("kept/site/{date}-daily.md");
    assert!(home.path().join(file).exists());
    let page = api.get(&format!("/editions/{date}")).await;
    assert_eq!(page.status, 200);
    date
}

async fn moves(api: &Api) {
    let path = "/api/v1/tasks?kind=ARTICLE_PUBLISH&status=SUCCESS";
    until(api, "an article was published", path, |json| {
        some(json, "tasks", |_| true).is_some()
    })
    .await;
    let path = "/api/v1/tasks?kind=ARTICLE_PUBLISH&limit=100";
    eventually("an article was moved", async || {
        let tasks = api.ask(reqwest::Method::GET, path, None).await.ok()?.json;
        for task in tasks["tasks"].as_array()? {
            let subject = task["subject"].as_str()?;
            let path = format!("/api/v1/tasks/ARTICLE_PUBLISH/{subject}/history");
            let history = api.get(&path).await.json.to_string();
            if history.contains("\"updated\"") {
                return Some(());
            }
        }
        None
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn yesterday_can_be_watched_and_leaves_no_critical_alert() {
    let (home, address) = (Home::new(), free_address());
    let listen = address.to_string();
    let arguments = ["demo", "--listen", &listen, "--keep", "kept"];
    let demo = Process::start(&home, address, home.command(&arguments));
    // It answers while yesterday is made.
    let demo = demo.ready().await;
    let api = demo.api();
    eventually(
        "yesterday's edition is published, and today's begun",
        async || {
            nothing_is_critical(&api).await;
            let list = api.get("/api/v1/editions").await.json;
            let is_published = some(&list, "editions", |it| it["state"] == "published").is_some();
            (is_published && list["editions"].as_array()?.len() > 1).then_some(())
        },
    )
    .await;
    let page = api.get("/ui/nodes").await.json;
    assert!(page.as_str().unwrap().contains(">running<"), "{page}");
    let slots = api
        .get("/api/v1/schedules/front-page/slots?limit=100")
        .await;
    let slots = slots.json["slots"].as_array().unwrap().len();
    assert!(slots > 12, "a day has more than {slots}");
    let nodes = api.get("/api/v1/nodes").await.json;
    assert_eq!(nodes["nodes"].as_array().unwrap().len(), 1, "{nodes}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chinese_edition_is_chinese_throughout() {
    let (home, address) = (Home::new(), free_address());
    let listen = address.to_string();
    let arguments = [
        &["demo", "--speed", "600", "--no-warm-up", "--lang", "zh-CN"][..],
        &["--listen", &listen, "--keep", "kept"],
    ];
    let demo = Process::start(&home, address, home.command(&arguments.concat()));
    let demo = demo.ready().await;
    let api = demo.api();
    let list = until(
        &api,
        "an edition was published",
        "/api/v1/editions",
        |json| some(json, "editions", |edition| edition["state"] == "published").is_some(),
    )
    .await;
    let edition = some(&list, "editions", |it| it["state"] == "published").unwrap();
    let date = edition["date"].as_str().unwrap();
    let account = api.get(&format!("/api/v1/editions/{date}")).await.json;
    let stories = account["stories"].as_array().unwrap();
    assert!(stories.len() > 12, "{account}");
    for story in stories {
        for field in ["title", "content_summary", "comment_summary"] {
            // Where there are few comments they are quoted, and quotes stay as they were said.
            let text = story[field].as_str();
            let Some(text) = text.filter(|text| !text.contains("” — ")) else {
                continue;
            };
            let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
            let english = words.find(|word| word.chars().any(|c| c.is_ascii_lowercase()));
            assert_eq!(english, None, "{field}: {text}");
        }
    }
}

/// A demo with these arguments, whose output is read and whose input is written.
fn piped(home: &Home, arguments: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let mut child = home
        .command(&[&["demo", "--no-warm-up"], arguments].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

#[test]
fn the_terminal_shows_a_story_of_a_dozen_lines() {
    let home = Home::new();
    let (mut child, output) = piped(&home, &["--speed", "600", "--for", "12s"]);
    let lines: Vec<String> = output.lines().map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success());
    let begun = lines
        .iter()
        .position(|it| it.contains("Press Ctrl-C to stop"));
    let ended = lines.iter().position(|it| it == "Summary");
    let story = &lines[begun.unwrap() + 1..ended.unwrap()];
    let story: Vec<&String> = story.iter().filter(|it| !it.is_empty()).collect();
    assert!((1..=15).contains(&story.len()), "{lines:#?}");
}

#[test]
fn a_tour_shows_a_page_for_each_enter() {
    let home = Home::new();
    let (mut child, mut output) = piped(&home, &["--tour", "--listen", "127.0.0.1:0"]);
    let mut input = child.stdin.take().unwrap();
    let mut text = String::new();
    for step in 1..=5 {
        while !text.ends_with("Press Enter to go on.\n") {
            assert!(output.read_line(&mut text).unwrap() > 0, "{text}");
        }
        assert!(text.contains(&format!("{step}/5  ")), "{text}");
        assert!(text.contains("/ui"), "{text}");
        assert!(
            !text.contains(&format!("{}/5  ", step + 1)),
            "it waits: {text}"
        );
        text.clear();
        input.write_all(b"\n").unwrap();
    }
    while !text.contains("That was the tour") {
        assert!(output.read_line(&mut text).unwrap() > 0, "{text}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn ctrl_c_prints_a_summary_and_leaves_nothing_behind() {
    let home = Home::new();
    let scratch = home.path().join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let home = home.set("TMPDIR", scratch.to_str().unwrap());
    // A killed demo leaves its folder; the next one removes it.
    let (mut killed, _) = begin(&home);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(left_in(&scratch), 1);
    let (mut child, mut output) = begin(&home);
    assert_eq!(left_in(&scratch), 1);
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status();
    assert!(sent.unwrap().success());
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{rest}");
    for part in [
        "Summary",
        "collects",
        "prepares",
        "publishes",
        "decides",
        "fires",
    ] {
        assert!(rest.contains(part), "{part}: {rest}");
    }
    assert_eq!(left_in(&scratch), 0);
}

/// A demo that has started, and its further output.
fn begin(home: &Home) -> (Child, BufReader<ChildStdout>) {
    let mut child = home
        .command(&["demo", "--speed", "60", "--no-warm-up"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let (mut line, mut folder) = (String::new(), String::new());
    while !line.contains("Press Ctrl-C to stop") {
        line.clear();
        let read = output.read_line(&mut line).unwrap();
        assert!(read > 0, "it ended before it began");
        if let Some(path) = line.trim_start().strip_prefix("files ") {
            path.trim().clone_into(&mut folder);
        }
    }
    assert!(Path::new(&folder).join("almanack.db").exists(), "{folder}");
    (child, output)
}

fn left_in(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn invalid_arguments_are_refused_with_a_hint() {
    let home = Home::new().file("note.txt", "a file");
    for (arguments, code, hint) in [
        (
            &["--speed", "0"][..],
            2,
            "write a number from 1 to 3600, like 60",
        ),
        (
            &["--speed", "abc"],
            2,
            "write a number from 1 to 3600, like 60",
        ),
        (
            &["--speed", "1e9"],
            2,
            "write a number from 1 to 3600, like 60",
        ),
        (
            &["--keep", "note.txt"],
            2,
            "--keep: `note.txt` is not a folder",
        ),
        (
            &["--listen", "here"],
            2,
            "write address and port, like \"127.0.0.1:8080\"",
        ),
        (&["--for", "soon"], 2, "write it like 30s or 2m"),
    ] {
        let ran = home.run(&[&["demo"], arguments].concat());
        assert_eq!(ran.code, code, "{arguments:?}: {ran}");
        assert!(ran.notes.contains(hint), "{arguments:?}: {ran}");
        assert_eq!(ran.data, "", "{arguments:?}");
    }
}

#[test]
fn a_taken_address_is_reported_before_anything_is_printed() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    let ran = Home::new().run(&["demo", "--listen", &listen]);
    assert_eq!((ran.code, ran.data.as_str()), (1, ""), "{ran}");
    assert!(ran.notes.contains(&format!("listen on {listen}")), "{ran}");
    assert!(ran.notes.contains("choose another with --listen"), "{ran}");
}
