//! A database that cannot be written, or that a newer version has written.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use almanack_testkit::postgres::Schema;
use serde_json::json;

use crate::{
    api::{NOW, task},
    business::Business,
    harness::{Home, Ran},
    operations::doctor,
    process::{Process, eventually, free_address},
};

const PUT: [&str; 8] = [
    "task",
    "put",
    "K",
    "s",
    "--at",
    "now",
    "--callback-url",
    "https://articles.example/",
];
const SERVE: [&str; 3] = ["serve", "--listen", "127.0.0.1:0"];

#[test]
fn a_read_only_file_is_said_to_be_one() {
    let home = Home::new();
    home.run(&PUT).expect_data();
    let file = home.path().join("almanack.db");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    for arguments in [&SERVE[..], &PUT] {
        let ran = Ran::from(powerless(&home, arguments).output().unwrap());
        assert_eq!(ran.code, 4, "{ran}");
        assert!(ran.notes.contains("database cannot be written"), "{ran}");
        assert!(ran.notes.contains("readonly database"), "{ran}");
        assert!(
            ran.notes
                .contains("hint: check that this user may write the file"),
            "{ran}"
        );
    }
}

/// A transaction that is only begun does not find it out: something has to be written.
#[test]
fn the_doctor_finds_a_read_only_file() {
    let home = Home::new();
    home.run(&PUT).expect_data();
    let file = home.path().join("almanack.db");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o440)).unwrap();
    let listen = format!("server.listen={}", free_address());
    let asked = ["doctor", "--set", &listen];
    let ran = Ran::from(powerless(&home, &asked).output().unwrap());
    assert_eq!(ran.code, 2, "{ran}");
    let writing = ran.data.lines().find(|it| it.contains("writing"));
    assert!(writing.is_some_and(|it| it.contains("failed")), "{ran}");
}

/// A user who may read everything in a schema and write nothing. Dropped before the schema, or with
/// the cluster.
struct Reader<'a> {
    schema: &'a Schema,
    name: String,
}

impl<'a> Reader<'a> {
    async fn of(schema: &'a Schema) -> Self {
        let (_, of) = schema.url().rsplit_once("%3D").unwrap();
        let name = format!("reader_of_{of}");
        let granted = format!(
            "do $$ begin create role {name};
             execute format('grant usage, create on schema %I to {name}', current_schema());
             execute format('grant select on all tables in schema %I to {name}', current_schema());
             end $$"
        );
        schema.run(&granted).await;
        Self { schema, name }
    }

    /// The address to connect as that user.
    fn url(&self) -> String {
        format!("{}%20-c%20role%3D{}", self.schema.url(), self.name)
    }

    async fn leave(self) {
        let name = &self.name;
        let gone = format!("drop owned by {name}; drop role {name}");
        self.schema.run(&gone).await;
    }
}

/// A server that is a copy of another refuses every write; a user without the right to, those of
/// one's own.
#[tokio::test]
async fn the_doctor_finds_that_nothing_can_be_written_to_postgres() {
    let (home, schema) = (Home::new(), Schema::create().await);
    home.run(&["token", "list", "--database", schema.url()])
        .expect_data();
    let (verdict, reported) = doctor(&home, &["--database", schema.url()], "writing");
    assert_eq!(verdict, "ok", "{reported}");
    let copy = "%20-c%20default_transaction_read_only%3Don";
    let copy = format!("{}{copy}", schema.url());
    let reader = Reader::of(&schema).await;
    for (database, check, why) in [
        (copy, "database", "does not allow writes"),
        (reader.url(), "writing", "permission denied"),
    ] {
        let (verdict, reported) = doctor(&home, &["--database", &database], check);
        assert_eq!(verdict, "failed", "{reported}");
        assert!(reported.contains(why), "{reported}");
    }
    reader.leave().await;
}

/// A rule that is broken, and a table that cannot be read.
#[tokio::test]
async fn the_doctor_knows_a_damaged_store_on_postgres() {
    let (home, schema) = (Home::new(), Schema::create().await);
    home.run(&[&PUT[..], &["--database", schema.url()]].concat())
        .expect_data();
    let (verdict, reported) = doctor(&home, &["--deep", "--database", schema.url()], "store");
    assert_eq!(verdict, "ok", "{reported}");
    let reader = Reader::of(&schema).await;
    let hidden = format!("revoke select on alert from {}", reader.name);
    schema.run(&hidden).await;
    let (verdict, reported) = doctor(&home, &["--deep", "--database", &reader.url()], "store");
    assert_eq!(verdict, "failed", "{reported}");
    assert!(reported.starts_with("table `alert`: "), "{reported}");
    assert!(reported.contains("permission denied"), "{reported}");
    reader.leave().await;
    schema.run("update task set is_current = false").await;
    let (verdict, reported) = doctor(&home, &["--deep", "--database", schema.url()], "store");
    assert_eq!(verdict, "failed", "{reported}");
    assert!(reported.contains("exactly one current"), "{reported}");
}

/// Root may write any file; without its capabilities it is like other users.
fn powerless(home: &Home, arguments: &[&str]) -> Command {
    let plain = home.command(arguments);
    let capable = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    if !capable {
        return plain;
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--bounding-set=-all", "--inh-caps=-all"])
        .arg(plain.get_program())
        .args(arguments)
        .current_dir(home.path());
    command
}

/// A limit on the size of files simulates a full disk: it can be set and lifted while the node
/// runs, without a file system of one's own.
#[tokio::test]
async fn a_full_disk_refuses_changes_loses_nothing_and_work_goes_on_when_there_is_room() {
    let (home, business) = (Home::new(), Business::start().await);
    let node = start_deaf_to_file_size(&home).ready().await;
    let api = node.api();
    let body = |size| {
        let callback = json!({ "url": business.done_url() });
        json!({ "execute_at": NOW, "callback": callback, "payload": "x".repeat(size) })
    };
    assert_eq!(api.put(&task("K", "before"), &body(1)).await.status, 201);
    api.until_status("K", "before", "SUCCESS").await;

    node.tool("prlimit", &["--fsize=1024:", "--pid"]);
    let refused = api.put(&task("K", "during"), &body(60_000)).await;
    assert_eq!(
        refused.problem(),
        (503, "database_unwritable"),
        "{refused:?}"
    );
    assert_eq!(
        api.get("/healthz").await.status,
        200,
        "the process itself is fine"
    );
    eventually("the node is not ready", async || {
        let ready = api.get("/readyz").await;
        (ready.status == 503).then(|| assert_eq!(ready.problem(), (503, "database_unwritable")))
    })
    .await;
    let kept = api.get(&task("K", "before")).await;
    assert_eq!(kept.json["status"], "SUCCESS", "what is there can be read");
    let nothing = api.get(&task("K", "during")).await;
    assert_eq!(
        nothing.problem(),
        (404, "no_such_task"),
        "nothing is half done"
    );

    node.tool("prlimit", &["--fsize=unlimited:", "--pid"]);
    eventually("changes are taken again", async || {
        let answer = api.put(&task("K", "after"), &body(60_000)).await;
        (answer.status == 201).then_some(())
    })
    .await;
    api.until_status("K", "after", "SUCCESS").await;
    eventually("the node is ready again", async || {
        (api.get("/readyz").await.status == 200).then_some(())
    })
    .await;
    assert_eq!(business.calls("before"), 1);
}

/// A process that passes its limit gets a signal that would end it; ignored, the write fails as it
/// does on a full disk.
fn start_deaf_to_file_size(home: &Home) -> Process {
    let address = free_address();
    let listen = address.to_string();
    let set = [
        "--set",
        "node.lease=3s",
        "--set",
        "outbound.allow=127.0.0.1",
    ];
    let plain = home.command(&[&["serve", "--listen", &listen][..], &set].concat());
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"])
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(home.path());
    Process::start(home, address, command)
}

#[test]
fn a_sqlite_file_of_a_newer_version_is_refused_by_name() {
    let home = Home::new();
    home.run(&PUT).expect_data();
    let file = rusqlite::Connection::open(home.path().join("almanack.db")).unwrap();
    file.execute_batch(FUTURE).unwrap();
    refused_as_newer(&home, "sqlite:almanack.db");
}

#[tokio::test]
async fn a_postgres_schema_of_a_newer_version_is_refused_by_name() {
    let (home, schema) = (Home::new(), Schema::create().await);
    home.run(&["token", "list", "--database", schema.url()])
        .expect_data();
    schema.run(FUTURE).await;
    refused_as_newer(&home, schema.url());
}

const FUTURE: &str = "insert into migration (number, name) values (999, '0999_future')";

fn refused_as_newer(home: &Home, database: &str) {
    for arguments in [&SERVE[..], &PUT] {
        let ran = home.run(&[arguments, &["--database", database]].concat());
        assert_eq!(ran.code, 1, "{ran}");
        let reported = "migration 999 (`0999_future`) from a newer version of Almanack";
        assert!(ran.notes.contains(reported), "{ran}");
    }
}

#[test]
fn a_file_that_is_no_database_is_said_to_be_none() {
    let home = Home::new().file("almanack.db", &"not a database\n".repeat(100));
    for arguments in [&SERVE[..], &PUT, &["task", "list"]] {
        let ran = home.run(arguments);
        assert_eq!(ran.code, 1, "{ran}");
        let reported = "open database `sqlite:almanack.db`: the file is not a SQLite database";
        assert!(ran.notes.contains(reported), "{ran}");
        assert!(ran.notes.contains("hint: check the name"), "{ran}");
    }
}

#[tokio::test]
async fn what_the_server_said_is_reported_once_with_advice_that_fits() {
    let (home, schema) = (Home::new(), Schema::create().await);
    let url = url::Url::parse(schema.url()).unwrap();
    let (mut nowhere, mut nobody) = (url.clone(), url);
    nowhere.set_path("/no_such_database");
    nobody.set_username("no_such_user").unwrap();
    for (url, reported, advice) in [
        (
            nowhere,
            "connect to PostgreSQL: FATAL: database \"no_such_database\" does not exist\n",
            "hint: the server answers, but has no such database",
        ),
        (
            nobody,
            "connect to PostgreSQL: FATAL: role \"no_such_user\" does not exist\n",
            "hint: the server answers, but not to this user",
        ),
    ] {
        let ran = home.run(&["task", "list", "--database", url.as_str()]);
        assert_eq!(ran.code, 4, "{ran}");
        assert!(ran.notes.contains(reported), "{ran}");
        assert!(ran.notes.contains(advice), "{ran}");
    }
}
