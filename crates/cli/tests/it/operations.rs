//! Backup, restore, migrate and doctor, as an operator calls them.

use std::{fs, net::SocketAddr, os::unix::fs::PermissionsExt as _};

#[cfg(feature = "kafka")]
use almanack_bus::kafka::rdkafka::mocking::MockCluster;
use almanack_store::{Location, condition, scratch};
use almanack_testkit::postgres::Schema;
use axum::{Router, http::StatusCode};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::{
    harness::Home,
    process::{Process, eventually, free_address},
};

/// A folder with a store that holds one task for the year 2999.
fn stored() -> Home {
    let home = Home::new();
    let arguments = ["task", "put", "ARTICLE_PUBLISH", "article:42", "--at"];
    let when = [
        "2999-01-01T00:00Z",
        "--callback-url",
        "https://example.org/publish",
    ];
    home.run(&[&arguments[..], &when].concat()).expect_data();
    home
}

#[tokio::test]
async fn a_backup_is_made_proven_and_put_back() {
    let home = stored();
    let made = home.run(&["backup", "kept.db"]).expect_data();
    assert!(made.contains("saved: kept.db"), "{made}");
    let again = home.run(&["backup", "kept.db"]);
    assert_eq!(again.code, 1);
    assert!(again.notes.contains("--force"), "{again}");
    let verified = home
        .run(&["backup", "verify", "kept.db", "--json"])
        .expect_json();
    assert_eq!(verified["tables"]["task"]["rows"], 1);
    let elsewhere = ["--database", "sqlite:new.db"];
    home.run(&[&["restore", "kept.db"][..], &elsewhere].concat())
        .expect_data();
    let listed = home
        .run(&[&["task", "list"][..], &elsewhere].concat())
        .expect_data();
    assert!(listed.contains("article:42"), "{listed}");
    for (arguments, code, reported) in [
        (&["restore", "kept.db"][..], 1, "is not empty"),
        (&["restore", "none.db"], 3, "no backup at none.db"),
        (&["backup", "almanack.db"], 2, "the store itself"),
        (&["backup", "no/such/folder.db"], 1, "no/such/folder.db"),
        (&["backup", "verify", "none.db"], 3, "no backup"),
    ] {
        let ran = home.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {ran}");
        assert!(ran.notes.contains(reported), "{arguments:?}: {ran}");
    }
}

/// Made by the node itself, and as good as one that a person made.
#[tokio::test]
async fn a_node_makes_the_backups_that_are_configured() {
    let home = stored();
    let folder = home.path().join("kept");
    let set = format!("backup.directory={}", folder.display());
    let node = Process::node(&home, free_address(), &["--set", &set]);
    let node = node.ready().await;
    let file = eventually("a backup is there", async || {
        let files = std::fs::read_dir(&folder).ok()?;
        let mut files = files.map(|file| file.unwrap().path());
        files.find(|file| file.extension().is_some_and(|it| it == "db"))
    })
    .await;
    let file = file.to_str().unwrap();
    home.run(&["backup", "verify", file]).expect_data();
    drop(node);
    let url = "database.url=postgres://db/almanack";
    let ran = home.run(&["check", "--set", url, "--set", &set]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.notes.contains("pg_dump"), "{ran}");
}

/// Also before any node has opened it.
#[test]
fn the_doctor_finds_nothing_wrong_with_a_store_that_was_just_restored() {
    let home = stored();
    home.run(&["backup", "kept.db"]).expect_data();
    home.run(&["restore", "kept.db", "--force"]).expect_data();
    let listen = format!("server.listen={}", free_address());
    let ran = home.run(&["doctor", "--json", "--set", &listen]);
    assert_eq!(ran.code, 0, "{ran}");
    let reported: Value = serde_json::from_str(&ran.data).unwrap();
    assert_eq!(verdict(&reported, "durability"), "ok", "{reported}");
}

/// Not even with --force: a node would go on writing to a file that is no longer there.
#[tokio::test]
async fn nothing_is_restored_or_moved_under_a_living_node() {
    let home = stored();
    home.run(&["backup", "kept.db"]).expect_data();
    let node = Process::node(&home, free_address(), &["--node-name", "n1"])
        .ready()
        .await;
    home.run(&["backup", "while-it-works.db"]).expect_data();
    let schema = Schema::create().await;
    let home = home.set("TARGET", schema.url());
    for arguments in [
        &["restore", "kept.db", "--force"][..],
        &["migrate", "sqlite:almanack.db", "env:TARGET"],
    ] {
        let refused = home.run(arguments);
        assert_eq!(refused.code, 1, "{refused}");
        assert!(refused.notes.contains("nodes are running"), "{refused}");
        assert!(refused.notes.contains("`n1`"), "{refused}");
    }
    drop(node);
}

/// Stopped after the old store got its second name: the store is complete, commands report the
/// second name, and the next restore continues.
#[test]
fn a_restore_that_was_stopped_is_reported_and_gone_on_with() {
    let home = stored();
    home.run(&["backup", "kept.db"]).expect_data();
    let file = |name: &str| home.path().join(name);
    fs::hard_link(file("almanack.db"), file("almanack.db.replaced")).unwrap();
    fs::write(file("almanack.db.partial"), "half").unwrap();
    let listen = format!("server.listen={}", free_address());
    let doctor = home.run(&["doctor", "--set", &listen]);
    assert!(
        doctor.data.contains("a second name of the store"),
        "{doctor}"
    );
    assert!(doctor.data.contains("almanack.db.partial"), "{doctor}");
    let itself = home.run(&["restore", "almanack.db.replaced", "--force"]);
    assert_eq!(itself.code, 2, "{itself}");
    let ran = home.run(&["restore", "kept.db", "--force"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.notes.contains("writing it again"), "{ran}");
    assert!(ran.notes.contains("continuing from there"), "{ran}");
    for store in ["almanack.db", "almanack.db.replaced"] {
        home.run(&["backup", "verify", store, "--no-checksum"])
            .expect_data();
    }
    let again = home.run(&["restore", "kept.db", "--force"]);
    assert_eq!(again.code, 1, "{again}");
    assert!(again.notes.contains("almanack.db.replaced"), "{again}");
    fs::rename(file("almanack.db"), file("moved.db")).unwrap();
    fs::write(file("almanack.db-wal"), "a log").unwrap();
    let log = home.run(&["restore", "kept.db"]);
    assert_eq!(log.code, 1, "{log}");
    assert!(log.notes.contains("is the log of a missing store"), "{log}");
    assert!(!file("almanack.db").exists(), "{log}");
}

/// The other one is played by its lock.
#[test]
fn of_two_restores_at_once_the_second_is_refused() {
    let home = stored();
    home.run(&["backup", "kept.db"]).expect_data();
    let elsewhere = "--database=sqlite:new.db";
    let lock = fs::File::create(home.path().join("new.db.partial.lock")).unwrap();
    lock.try_lock().unwrap();
    fs::write(home.path().join("new.db.partial"), "half").unwrap();
    let refused = home.run(&["restore", "kept.db", elsewhere]);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(refused.notes.contains("is running and writes"), "{refused}");
    assert!(!refused.notes.contains("was stopped"), "{refused}");
    let doctor = home.run(&["doctor", elsewhere]);
    assert!(doctor.data.contains("a restore is running"), "{doctor}");
    let half = fs::read(home.path().join("new.db.partial")).unwrap();
    assert_eq!(half, b"half", "the first one's copy stays");
    drop(lock);
    let ran = home.run(&["restore", "kept.db", elsewhere]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.notes.contains("interrupted restore"), "{ran}");
}

#[tokio::test]
async fn a_target_of_another_program_is_left_unchanged() {
    let schema = Schema::create().await;
    schema.run("create table task (mine text)").await;
    let home = stored().set("TARGET", schema.url());
    let refused = home.run(&["migrate", "sqlite:almanack.db", "env:TARGET"]);
    assert_eq!(refused.code, 1, "{refused}");
    let reported = "the target contains objects that are not Almanack's: table `task`";
    assert!(refused.notes.contains(reported), "{refused}");
    assert!(refused.notes.contains("nothing was changed"), "{refused}");
    let found = condition::look(&Location::Postgres(schema.url().to_owned())).await;
    assert_eq!(
        found.unwrap().migrations.map(|(applied, _)| applied),
        Some(0)
    );
}

/// Killed in the middle, it leaves nothing; run again, it moves everything, and a node works on it.
#[tokio::test]
async fn a_move_that_is_killed_is_made_again_and_a_node_goes_on() {
    const FAR: i64 = 60_000;
    let home = stored();
    let source = Location::Sqlite(home.path().join("almanack.db"));
    scratch::load_far(&source, 32_503_680_000_000_000, FAR)
        .await
        .unwrap();
    let schema = Schema::create().await;
    let home = home.set("TARGET", schema.url());
    let arguments = ["migrate", "sqlite:almanack.db", "env:TARGET", "--json"];
    let mut killed = Process::start(&home, free_address(), home.command(&arguments));
    let target = Location::Postgres(schema.url().to_owned());
    eventually("the target has its tables", async || {
        let found = condition::look(&target).await.ok()?;
        found.migrations.filter(|(applied, _)| *applied > 0)
    })
    .await;
    killed.kill().await;
    let moved = home.run(&arguments).expect_json();
    let tasks = moved["tables"].as_array().unwrap().iter();
    let tasks: Vec<&Value> = tasks.filter(|it| it["table"] == "task").collect();
    assert_eq!(tasks[0]["rows"], FAR + 1);
    let home = home.set("ALMANACK_DATABASE_URL", schema.url());
    let node = Process::node(&home, free_address(), &[]).ready().await;
    let found = home
        .run(&["task", "get", "ARTICLE_PUBLISH", "article:42"])
        .expect_data();
    assert!(found.contains("2999-01-01"), "{found}");
    drop(node);
}

fn verdict<'a>(reported: &'a Value, check: &str) -> &'a str {
    finding(reported, check).0
}

/// What came of the first check of this name: the verdict, and what was seen.
fn finding<'a>(reported: &'a Value, check: &str) -> (&'a str, &'a str) {
    let mut findings = reported["findings"].as_array().unwrap().iter();
    let found = findings.find(|it| it["check"].as_str().unwrap().starts_with(check));
    let found = found.unwrap_or_else(|| panic!("no {check} in {reported}"));
    let text = |key: &str| found[key].as_str().unwrap();
    (text("verdict"), text("what"))
}

/// The same, asked of the doctor about a folder's store or another database.
pub(crate) fn doctor(home: &Home, further: &[&str], check: &str) -> (String, String) {
    let listen = format!("server.listen={}", free_address());
    let asked = ["doctor", "--json", "--offline", "--set", &listen];
    let ran = home.run(&[&asked[..], further].concat());
    let reported: Value = serde_json::from_str(&ran.data).unwrap();
    let (verdict, what) = finding(&reported, check);
    (verdict.to_owned(), what.to_owned())
}

#[tokio::test]
async fn the_doctor_says_what_is_well_and_what_is_not() {
    let home = stored();
    let file = home.path().join("almanack.db");
    let listen = format!("server.listen={}", free_address());
    let well = home.run(&["doctor", "--json", "--set", &listen]);
    assert_eq!(well.code, 0, "{well}");
    let reported: Value = serde_json::from_str(&well.data).unwrap();
    for check in [
        "configuration",
        "clock",
        "database",
        "schema",
        "writing",
        "durability",
        "permissions",
        "nodes",
        "port",
    ] {
        assert_eq!(verdict(&reported, check), "ok", "{check}: {reported}");
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let open = home.run(&["doctor", "--set", &listen]);
    assert_eq!(open.code, 1, "{open}");
    assert!(open.notes.contains("chmod o= almanack.db"), "{open}");
    let nobody = format!("http://{}/publish", free_address());
    let kind = format!("kinds.ARTICLE_PUBLISH.url={nobody}");
    let away = home.run(&["doctor", "--json", "--set", &listen, "--set", &kind]);
    assert_eq!(away.code, 2, "{away}");
    let reported: Value = serde_json::from_str(&away.data).unwrap();
    assert_eq!(verdict(&reported, "http://127.0.0.1"), "failed");
    let expected = home.run(&[
        "doctor",
        "--expect",
        "schedule=nightly,within=1h",
        "--set",
        &listen,
    ]);
    assert_eq!(expected.code, 2, "{expected}");
    assert!(
        expected.data.contains("there is no such schedule"),
        "{expected}"
    );
    let unclear = home.run(&["doctor", "--expect", "nightly"]);
    assert_eq!(unclear.code, 2);
    assert!(
        unclear.notes.contains("schedule=NAME,within=PERIOD"),
        "{unclear}"
    );
}

/// Subscribers and alert channels are checked, too; of an address with a secret only the origin is
/// shown.
#[test]
#[cfg(feature = "kafka")]
fn the_doctor_checks_subscribers_and_alert_channels() {
    let [subscriber, chat, collector, broker, server] = [(); 5].map(|()| free_address());
    let configuration = format!(
        "[[subscription]]\nname = \"search\"\nurl = \"http://{subscriber}/hush\"\n\
         [alerts.ntfy]\nurl = \"http://{chat}/hush\"\n\
         [telemetry]\notlp_endpoint = \"http://{collector}\"\n\
         [events.kafka]\nbrokers = [\"{broker}\"]\n\
         [events.nats]\nservers = [\"nats://{server}\"]\n"
    );
    let home = Home::with(&configuration);
    let listen = format!("server.listen={}", free_address());
    let ran = home.run(&["doctor", "--json", "--set", &listen]);
    assert_eq!(ran.code, 2, "{ran}");
    let reported: Value = serde_json::from_str(&ran.data).unwrap();
    for origin in [subscriber, chat, collector] {
        assert_eq!(verdict(&reported, &format!("http://{origin} (")), "failed");
    }
    for bus in ["events.kafka", "events.nats"] {
        assert_eq!(verdict(&reported, bus), "failed", "{reported}");
    }
    assert!(!ran.data.contains("hush"), "{ran}");
}

/// Who only looks leaves nothing behind.
#[test]
fn the_doctor_creates_no_database() {
    let home = Home::new();
    let listen = format!("server.listen={}", free_address());
    let ran = home.run(&["doctor", "--set", &listen]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.data.contains("does not exist yet"), "{ran}");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

/// As `serve` itself refuses it, whether there is a store yet or not; a token lets it pass.
#[test]
fn the_doctor_refuses_an_open_address_as_serve_does() {
    let listen = ["--set", "server.listen=0.0.0.0:0"];
    for home in [Home::new(), stored()] {
        let serve = home.run(&[&["serve"][..], &listen].concat());
        let doctor = home.run(&[&["doctor"][..], &listen].concat());
        let refusal = "is reachable from other machines";
        assert!(serve.notes.contains(refusal), "{serve}");
        assert_eq!(doctor.code, 2, "{doctor}");
        assert!(doctor.data.contains(refusal), "{doctor}");
    }
    let home = stored();
    home.run(&["token", "create", "desk", "--scope", "admin"])
        .expect_data();
    let doctor = home.run(&[&["doctor", "--json"][..], &listen].concat());
    let reported: Value = serde_json::from_str(&doctor.data).unwrap();
    assert_eq!(verdict(&reported, "access"), "ok", "{reported}");
}

/// One mistake hides neither the others nor the database.
#[test]
fn the_doctor_shows_every_mistake_and_looks_at_the_database_all_the_same() {
    let home = stored().file("almanack.toml", "[node]\nslots = \"64\"\nlease = 7\n");
    let ran = home.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 2, "{ran}");
    let reported: Value = serde_json::from_str(&ran.data).unwrap();
    let findings = reported["findings"].as_array().unwrap();
    let mistakes = findings.iter().filter(|it| it["check"] == "configuration");
    let mistakes: Vec<&str> = mistakes.map(|it| it["what"].as_str().unwrap()).collect();
    assert_eq!(mistakes.len(), 2, "{mistakes:?}");
    assert!(mistakes[0].starts_with("almanack.toml:2:9: node.slots"));
    assert_eq!(verdict(&reported, "writing"), "ok", "{reported}");
    // A file that cannot be read at all says nothing about the database; a flag does.
    let home = stored().file("almanack.toml", "[node\n");
    let unclear = home.run(&["doctor"]);
    assert!(
        unclear.data.contains("names no valid database"),
        "{unclear}"
    );
    let given = home.run(&["doctor", "--json", "--database", "sqlite:almanack.db"]);
    let reported: Value = serde_json::from_str(&given.data).unwrap();
    assert_eq!(verdict(&reported, "writing"), "ok", "{reported}");
}

/// What is truncated is damaged, and no other version of Almanack helps.
#[test]
fn the_doctor_knows_a_damaged_store() {
    let home = stored();
    let file = home.path().join("almanack.db");
    let listen = format!("server.listen={}", free_address());
    let deep = ["doctor", "--json", "--deep", "--set", &listen];
    let reported: Value = serde_json::from_str(&home.run(&deep).data).unwrap();
    assert_eq!(verdict(&reported, "store"), "ok", "{reported}");
    let store = rusqlite::Connection::open(&file).unwrap();
    store
        .execute_batch("pragma journal_mode = delete; update task set is_current = false")
        .unwrap();
    drop(store);
    let reported: Value = serde_json::from_str(&home.run(&deep).data).unwrap();
    assert_eq!(verdict(&reported, "store"), "failed", "{reported}");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let ran = home.run(&["doctor", "--set", &listen]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.data.contains("is truncated"), "{ran}");
    assert!(ran.notes.contains("almanack restore"), "{ran}");
}

/// A NATS server answers, and has no such stream; nor does any keep delivered events.
#[test]
fn the_doctor_misses_a_stream_that_does_not_exist() {
    let configuration = format!(
        "[events.nats]\nservers = [\"{}\"]\nstream = \"NO_SUCH_STREAM\"\n\
         [[subscription]]\nname = \"search\"\nnats_subject = \"not.kept\"\n",
        almanack_testkit::nats::server_url()
    );
    let home = Home::with(&configuration);
    let listen = format!("server.listen={}", free_address());
    let ran = home.run(&["doctor", "--set", &listen]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.data.contains("no stream `NO_SUCH_STREAM`"), "{ran}");
    let reported = "no stream keeps the subject `not.kept`";
    assert!(ran.data.contains(reported), "{ran}");
}

/// Brokers answer, and one of the two topics of a node does not exist: the one it reads, or the one
/// it writes.
#[test]
#[cfg(feature = "kafka")]
fn the_doctor_misses_a_topic_that_does_not_exist() {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("there", 1, 1).unwrap();
    let broker = cluster.bootstrap_servers();
    for (read, reported, missing) in [
        ("there", "there", None),
        ("no-such-topic", "there", Some("no-such-topic")),
        ("there", "not-there", Some("not-there")),
    ] {
        let home = Home::with(&format!(
            "[events.kafka]\nbrokers = [\"{broker}\"]\ntopic = \"{read}\"\n\
             [[subscription]]\nname = \"search\"\nkafka_topic = \"{reported}\"\n"
        ));
        let listen = format!("server.listen={}", free_address());
        let ran = home.run(&["doctor", "--json", "--set", &listen]);
        let found: Value = serde_json::from_str(&ran.data).unwrap();
        let expected = if missing.is_some() { "failed" } else { "ok" };
        assert_eq!(verdict(&found, "events.kafka"), expected, "{found}");
        let said = missing.map(|topic| format!("there is no topic `{topic}`"));
        assert!(said.is_none_or(|said| ran.data.contains(&said)), "{ran}");
    }
}

/// A server that answers every request like this.
async fn other_server(status: StatusCode, body: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let strange = Router::new().fallback(move || async move { (status, body) });
    tokio::spawn(async move { axum::serve(listener, strange).await });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn the_health_of_a_node_is_asked_without_a_client() {
    let home = Home::new();
    let address = free_address();
    let listen = format!("server.listen={address}");
    let missing = home.run(&["health", "--set", &listen]);
    assert_eq!(missing.code, 1, "{missing}");
    assert!(missing.notes.contains("no node answers at"), "{missing}");
    assert!(missing.notes.contains("server.listen"), "{missing}");
    let file = home.path().join("almanack.db");
    assert!(!file.exists(), "asking makes no store");
    let node = Process::node(&home, address, &[]).ready().await;
    let up = home.run(&["health", "--set", &listen]).expect_data();
    assert!(up.starts_with("ok: a node of version"), "{up}");
    let asked = ["health", "--ready", "--json", "--set", &listen];
    assert_eq!(home.run(&asked).expect_json()["status"], "ready");
    let everywhere = format!("server.listen=0.0.0.0:{}", address.port());
    home.run(&["health", "--set", &everywhere]).expect_data();
    drop(node);
}

/// The database's absence is known by its own exit code, so that a supervisor does not restart a
/// node for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_without_its_database_is_distinguished_from_another_server() {
    let away = r#"{"code":"database_unavailable","status":503}"#;
    for (status, body, code, reported) in [
        (503, away, 4, "its database does not answer"),
        (503, "", 1, "is not an Almanack node (status 503)"),
        (200, "hello", 1, "is not an Almanack node (status 200)"),
    ] {
        let address = other_server(StatusCode::from_u16(status).unwrap(), body).await;
        let listen = format!("server.listen={address}");
        let ran = Home::new().run(&["health", "--ready", "--set", &listen]);
        assert_eq!(ran.code, code, "{ran}");
        assert!(ran.notes.contains(reported), "{ran}");
    }
}

#[tokio::test]
async fn idling_ends_by_itself_or_by_a_signal() {
    let home = Home::new();
    home.run(&["idle", "1ms"]).expect_data();
    let unclear = home.run(&["idle", "10"]);
    assert_eq!(unclear.code, 2, "{unclear}");
    assert!(unclear.notes.contains("did you mean"), "{unclear}");
    let mut idle = Process::start(&home, free_address(), home.command(&["idle", "1d"]));
    eventually("it listens to signals", async || {
        idle.notes().contains("idle for").then_some(())
    })
    .await;
    idle.terminate();
    assert_eq!(idle.exit_code().await, Some(0));
}
