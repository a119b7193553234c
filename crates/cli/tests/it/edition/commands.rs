//! Commands on editions, on both databases.

use almanack_testkit::postgres::Schema;

use super::{CHAT, World, assert_hushed, date, run};
use crate::harness::{Home, settled};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edition_is_made_published_shown_and_proven_on_sqlite() {
    whole_life("sqlite:almanack.db").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edition_is_made_published_shown_and_proven_on_postgres() {
    let schema = Schema::create().await;
    whole_life(schema.url()).await;
}

async fn whole_life(database: &str) {
    let world = World::start().await;
    let home = world.everything(database);
    let ran = run(&home, &["edition", "run", "--json"]).await;
    assert_hushed(&ran);
    let view = ran.expect_json();
    assert_eq!(view["state"], "published", "{view:#}");
    assert_eq!(view["counts"]["completed"], 12);
    let date = view["date"].as_str().unwrap().to_owned();
    // All readers get the same document.
    let shown = home.run(&["edition", "show", &date]).expect_data();
    assert_eq!(world.file(&date).as_deref(), Some(shown.as_str()));
    let local = home.path().join(format!("out/{date}-daily.md"));
    assert_eq!(std::fs::read_to_string(local).unwrap(), shown);
    let messages = world.telegram.handle.sent(CHAT);
    assert!(messages > 0);
    // Spent as counted, batch by batch within the estimate (ED-07): text posts have no page to
    // fetch.
    for batch in view["batches"].as_array().unwrap() {
        // The last one asks for the overview as well.
        let requests = batch["requests"].as_u64().unwrap();
        assert!((7..=26).contains(&requests), "{batch}");
        assert!(batch["tokens_in"].as_u64().unwrap() > 0, "{batch}");
    }
    // ED-13: a second run sends nothing.
    let asked = (world.news.handle.total(), world.model.handle.total());
    assert_eq!(run(&home, &["edition", "run"]).await.code, 0);
    assert_eq!(world.telegram.handle.sent(CHAT), messages);
    assert_eq!(
        (world.news.handle.total(), world.model.handle.total()),
        asked
    );
    // Printed again, byte for byte.
    let proven = home
        .run(&["edition", "show", &date, "--rebuild"])
        .expect_data();
    assert!(proven.starts_with("identical: revision 1 of "), "{proven}");
    begun_anew(&world, &home, &date).await;
}

async fn begun_anew(world: &World, home: &Home, date: &str) {
    let messages = world.telegram.handle.sent(CHAT);
    assert_eq!(
        home.run(&["edition", "reset"]).code,
        2,
        "it must be confirmed"
    );
    let reset = home.run(&["edition", "reset", "--yes"]).expect_data();
    assert!(reset.contains("12 stories"), "{reset}");
    let view = run(home, &["edition", "run", "--json"]).await.expect_json();
    assert_eq!(
        (&view["state"], &view["revision"]),
        (&"published".into(), &2.into())
    );
    let newest = home.run(&["edition", "show", date]).expect_data();
    assert_eq!(world.file(date), Some(newest));
    assert_eq!(
        world.telegram.handle.sent(CHAT),
        messages,
        "readers get no second one"
    );
    let first = home.run(&["edition", "show", date, "--revision", "1", "--json"]);
    assert_eq!(first.expect_json()["revision"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_run_looks_like_to_a_script() {
    let world = World::start().await;
    let home = Home::with(&format!(
        "{}[edition.directory]\npath = \"out\"\n",
        world.stories()
    ));
    let ran = run(&home, &["edition", "run"]).await;
    assert_eq!(ran.code, 0, "{ran}");
    insta::assert_snapshot!(ran.notes, @"
    fetching the stories
    batch 1: 6 stories
    batch 2: 6 stories
    rendering the edition
    delivering to directory
    published
    ");
    let date = date(&home);
    let reported = settled(&ran.data.replace(&date, "DATE"));
    let reported: Vec<&str> = reported.lines().take(4).collect();
    insta::assert_snapshot!(reported.join("\n"), @"
    edition  DATE
    state  published
    stories  12 completed, 0 failed, 0 pending, 0 in progress, of 12
    batches  2 of 2
    ");
    let list = settled(
        &home
            .run(&["edition", "list"])
            .expect_data()
            .replace(&date, "DATE"),
    );
    insta::assert_snapshot!(list, @"
    DATE  NAME  STATE  STORIES  FAILED  BATCHES  REVISION  PUBLISHED  WAITS
    DATE  default  published  12 of 12  0  2  1  AGO
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_36_without_a_model_and_without_a_destination_there_are_our_own_pages() {
    let world = World::start().await;
    let home = Home::with(&world.stories());
    let view = run(&home, &["edition", "run", "--json"])
        .await
        .expect_json();
    assert_eq!(view["state"], "published");
    assert_eq!(view["deliveries"], serde_json::json!([]));
    assert_eq!(world.model.handle.total(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn test_mode_prints_instead_of_publishing() {
    let world = World::start().await;
    let home = world
        .everything("sqlite:almanack.db")
        .set("LOCAL_TEST_MODE", "true");
    let ran = run(&home, &["edition", "run"]).await;
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.data.contains("Export completed: 12 stories"), "{ran}");
    assert_eq!(
        (world.telegram.handle.sent(CHAT), world.file(&date(&home))),
        (0, None)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_template_is_compared_before_it_is_used() {
    let world = World::start().await;
    let home = Home::with(&world.stories()).file("own.jinja", "# {{ title }}\n");
    run(&home, &["edition", "run"]).await;
    let reported = home
        .run(&["edition", "show", "--template", "own.jinja"])
        .expect_data();
    assert!(
        reported.contains("-layout: post\n") && reported.contains("+# HackerNews Daily"),
        "{reported}"
    );
    let broken = Home::with("").file("x", "");
    let broken = broken.run(&["edition", "show", "--template", "x"]);
    assert_eq!(
        broken.code, 3,
        "there is no database to show from: {broken}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_stored_needs_no_template() {
    let world = World::start().await;
    let own = "[edition]\ntemplate = \"own.jinja\"\n";
    let toml = world.stories().replacen("[edition]\n", own, 1);
    let home = Home::with(&toml).file("own.jinja", "# {{ title }}\n");
    assert_eq!(run(&home, &["edition", "run"]).await.code, 0);
    let file = home.path().join("own.jinja");
    for broken in [Some("{{ titel"), None] {
        match broken {
            Some(text) => std::fs::write(&file, text).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        for arguments in [
            &["edition", "status"][..],
            &["edition", "list"],
            &["edition", "show"],
            &["edition", "show", "--rebuild"],
            &["edition", "retry"],
            &["edition", "reset", "--yes"],
        ] {
            let ran = home.run(arguments);
            assert_eq!(ran.code, 0, "{broken:?}, {arguments:?}: {ran}");
        }
        for command in ["preview", "run", "publish"] {
            let ran = home.run(&["edition", command]);
            assert_eq!(ran.code, 2, "{broken:?}, {command}: {ran}");
            assert!(ran.to_string().contains("own.jinja"), "{ran}");
        }
    }
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    let home = Home::with("[edition]\nenabled = true\n");
    // A database to look at.
    home.run(&[
        "task",
        "put",
        "X",
        "x",
        "--at",
        "+1h",
        "--callback-url",
        "https://example.org",
    ]);
    for (arguments, code, words) in [
        (
            &["run", "tomorrow"][..],
            2,
            "this node makes no edition named `tomorrow`",
        ),
        (&["run", "2026-02-30"], 2, "`2026-02-30` is not a date"),
        (&["run", "26-01-01"], 2, "`26-01-01` is not a date"),
        (&["run", "9000-01-01"], 2, "9000-01-01 is in the future"),
        (
            &["status", "2020-01-01"],
            3,
            "there is no edition of 2020-01-01",
        ),
        (
            &["publish", "2020-01-01"],
            3,
            "there is no edition of 2020-01-01",
        ),
        (
            &["retry", "2020-01-01"],
            3,
            "there is no edition of 2020-01-01",
        ),
        (
            &["reset", "2020-01-01", "--yes"],
            3,
            "there is no edition of 2020-01-01",
        ),
        (
            &["preview", "2020-01-01"],
            3,
            "there is no edition of 2020-01-01",
        ),
        (
            &["show", "2020-01-01"],
            3,
            "the edition of 2020-01-01 has no document yet",
        ),
        (&["retry", "--max", "0"], 2, "0 is not in 1..=5"),
        (
            &["show", "--rebuild", "--template", "x"],
            2,
            "cannot be used with",
        ),
    ] {
        let ran = home.run(&[&["edition"], arguments].concat());
        assert_eq!(ran.code, code, "{arguments:?} {ran}");
        assert!(ran.notes.contains(words), "{arguments:?} {ran}");
        assert_eq!(ran.data, "", "{arguments:?}");
    }
    let json = home.run(&["edition", "status", "2020-01-01", "--json"]);
    assert!(
        json.to_string().contains("\"code\":\"not_found\""),
        "{json}"
    );
}

#[test]
fn editions_that_are_off_say_so() {
    let home = Home::new();
    home.run(&[
        "task",
        "put",
        "X",
        "x",
        "--at",
        "+1h",
        "--callback-url",
        "https://example.org",
    ]);
    let ran = home.run(&["edition", "list"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.notes.starts_with("error: editions are off\nhint: "),
        "{ran}"
    );
    assert_eq!(home.run(&["edition", "run"]).code, 2);
}
