//! `almanack work`: a program per task, on the database or through a node (WK-02).

use std::{fs, time::Duration};

use almanack_adapters::clock::pause;
use almanack_testkit::postgres::Schema;
use serde_json::{Value, json};

use crate::{
    api::{Api, NOW, task},
    harness::Home,
    process::{Process, eventually, free_address},
};

const KIND: &str = "MAIL_SEND";
const PULLED: &str = "[kinds.MAIL_SEND]\ndeliver = \"pull\"\n[retry]\nbase = \"100ms\"\n";

/// A worker that runs this in a shell; the shortest lease, so that what it leaves comes back soon.
fn worker(home: &Home, flags: &[&str], script: &str) -> Process {
    let command = ["work", KIND, "--lease", "5s"];
    let script = ["--", "/bin/sh", "-c", script];
    let command = home.command(&[&command[..], flags, &script[..]].concat());
    Process::start(home, free_address(), command)
}

fn put(home: &Home, subject: &str, payload: &str) {
    let flags = ["--at", NOW, "--payload", payload, "--max-retry", "100"];
    let put = ["task", "put", KIND, subject];
    home.run(&[&put[..], &flags[..]].concat()).expect_data();
}

fn show(home: &Home, subject: &str) -> Value {
    let shown = home.run(&["task", "get", KIND, subject, "--json"]);
    serde_json::from_str(&shown.expect_data()).unwrap()
}

async fn until(home: &Home, subject: &str, status: &str) -> Value {
    eventually(&format!("{subject} is {status}"), async || {
        let task = show(home, subject);
        (task["status"] == status).then_some(task)
    })
    .await
}

#[tokio::test]
async fn wk_02_the_program_gets_the_task_and_its_exit_code_is_the_outcome() {
    let home = Home::with(PULLED).set("ALMANACK_TOKEN", "alm_very-secret-token");
    for subject in ["good", "bad", "odd"] {
        put(&home, subject, r#"{"n": 12345678901234567890123}"#);
    }
    let script = r#"cat > "$ALMANACK_SUBJECT.in"
        echo "$ALMANACK_KIND $ALMANACK_TASK_ID $ALMANACK_TERM $ALMANACK_ATTEMPT $ALMANACK_EXECUTE_AT" > "$ALMANACK_SUBJECT.env"
        echo "said by $ALMANACK_SUBJECT, $ALMANACK_TOKEN"
        case $ALMANACK_SUBJECT in good) exit 0;; bad) exit 65;; odd) [ $ALMANACK_ATTEMPT = 2 ] || exit 75;; esac"#;
    let _worker = worker(&home, &["--slots", "2", "--worker", "mail-1"], script);
    let good = until(&home, "good", "SUCCESS").await;
    assert_eq!(good["node"], "mail-1");
    let detail = good["detail"].as_str().unwrap();
    assert!(
        detail.starts_with("exit code 0: said by good, "),
        "{detail}"
    );
    assert!(!detail.contains("secret"), "{detail}");
    let read = |name: &str| fs::read_to_string(home.path().join(name)).unwrap();
    assert_eq!(
        read("good.in"),
        r#"{"n": 12345678901234567890123}"#,
        "byte for byte"
    );
    let expected = format!("{KIND} {} 1 1 ", good["task_id"]);
    assert!(
        read("good.env").starts_with(&expected),
        "{}",
        read("good.env")
    );
    let bad = until(&home, "bad", "FAIL").await;
    assert_eq!((&bad["live"], &bad["attempt"]), (&json!(false), &json!(1)));
    let odd = until(&home, "odd", "SUCCESS").await;
    assert_eq!(odd["attempt"], 2, "75 is tried again");
}

/// Without any node: the next worker takes back what the killed one left.
#[tokio::test]
async fn wk_02_a_killed_worker_loses_nothing_on_sqlite() {
    let home = Home::with(PULLED);
    for n in 0..8 {
        put(&home, &format!("user:{n}"), "null");
    }
    let script = "echo $$ > $ALMANACK_SUBJECT.pid; sleep 0.3; echo $ALMANACK_SUBJECT >> ended";
    let flags = ["--slots", "3"];
    let mut killed = worker(&home, &flags, script);
    eventually("something runs", async || {
        let mut rows = (0..8).map(|n| show(&home, &format!("user:{n}")));
        rows.any(|row| row["status"] == "RUNNING").then_some(())
    })
    .await;
    killed.kill().await;
    let _next = worker(&home, &flags, script);
    for n in 0..8 {
        until(&home, &format!("user:{n}"), "SUCCESS").await;
    }
    let ended = fs::read_to_string(home.path().join("ended")).unwrap();
    for n in 0..8 {
        assert!(ended.contains(&format!("user:{n}\n")), "{n}: {ended}");
    }
}

/// What a killed worker started ends with it: the next attempt never runs beside it.
#[tokio::test]
async fn wk_02_a_killed_workers_program_ends_with_it() {
    let home = Home::with(PULLED);
    put(&home, "user:1", "null");
    let script = "echo $$ > pid.new; mv pid.new pid; sleep 600";
    let mut killed = worker(&home, &[], script);
    let pid = eventually("it runs", async || {
        fs::read_to_string(home.path().join("pid")).ok()
    });
    let process = format!("/proc/{}", pid.await.trim());
    assert!(fs::exists(&process).unwrap());
    killed.kill().await;
    eventually("its program has ended", async || {
        (!fs::exists(&process).unwrap()).then_some(())
    })
    .await;
}

/// Workers and nodes die in turn; every task is done in the end.
#[tokio::test]
async fn wk_02_killed_workers_and_nodes_lose_nothing_on_postgres() {
    let schema = Schema::create().await;
    let home = Home::with(PULLED);
    let (database, address) = (["--database", schema.url()], free_address());
    let mut node = Process::node(&home, address, &database).ready().await;
    let server = format!("http://{address}");
    let flags = ["--server", server.as_str(), "--slots", "4"];
    let script = "sleep 0.1; echo $ALMANACK_SUBJECT >> ended";
    let mut workers = [worker(&home, &flags, script), worker(&home, &flags, script)];
    let api = Api::at(address);
    let subjects: Vec<String> = (0..60).map(|n| format!("user-{n}")).collect();
    for (n, subject) in subjects.iter().enumerate() {
        let body = json!({ "execute_at": NOW, "max_retry": 100 });
        let path = task(KIND, subject);
        let put = api.insist(reqwest::Method::PUT, &path, Some(&body));
        assert!(put.await.status < 300);
        if n % 20 == 10 {
            workers[0].kill().await;
            workers[0] = worker(&home, &flags, script);
        }
        if n == 30 {
            node.kill().await;
            node = Process::node(&home, address, &database).ready().await;
        }
        pause(Duration::from_millis(5)).await;
    }
    for subject in &subjects {
        api.until_status(KIND, subject, "SUCCESS").await;
    }
    let ended = fs::read_to_string(home.path().join("ended")).unwrap();
    let missing = subjects
        .iter()
        .find(|it| !ended.contains(&format!("{it}\n")));
    assert_eq!(missing, None);
}

#[tokio::test]
async fn wk_02_a_worker_that_stops_waits_for_its_programs() {
    let home = Home::with(PULLED);
    put(&home, "user:1", "null");
    let script = "touch began; while [ ! -e go ]; do sleep 0.05; done";
    let mut stopped = worker(&home, &["--drain", "60s"], script);
    let began = home.path().join("began");
    eventually("it runs", async || began.exists().then_some(())).await;
    put(&home, "user:2", "null");
    stopped.terminate();
    eventually("it says so", async || {
        stopped
            .notes()
            .contains("stopping: 1 running")
            .then_some(())
    })
    .await;
    fs::write(home.path().join("go"), "").unwrap();
    assert_eq!(stopped.exit_code().await, Some(0), "{}", stopped.notes());
    assert_eq!(show(&home, "user:1")["status"], "SUCCESS");
    assert_eq!(
        show(&home, "user:2")["status"],
        "INIT",
        "nothing new begins"
    );
}

#[tokio::test]
async fn wk_02_what_outlives_the_drain_is_given_back() {
    let home = Home::with(PULLED);
    put(&home, "user:1", "null");
    let mut stopped = worker(&home, &["--drain", "0s"], "touch began; sleep 600");
    let began = home.path().join("began");
    eventually("it runs", async || began.exists().then_some(())).await;
    stopped.terminate();
    assert_eq!(stopped.exit_code().await, Some(0), "{}", stopped.notes());
    let back = show(&home, "user:1");
    assert_eq!(
        (&back["status"], &back["attempt"]),
        (&json!("INIT"), &json!(0))
    );
}

/// A task that is cancelled while its program runs ends the program.
#[tokio::test]
async fn wk_02_a_lost_lease_ends_the_program() {
    let home = Home::with(PULLED);
    put(&home, "user:1", "null");
    let running = worker(&home, &[], "echo $$ > pid.new; mv pid.new pid; sleep 600");
    let pid = eventually("it runs", async || {
        fs::read_to_string(home.path().join("pid")).ok()
    });
    let process = format!("/proc/{}", pid.await.trim());
    home.run(&["task", "cancel", KIND, "user:1"]).expect_data();
    eventually("its program has ended", async || {
        (!fs::exists(&process).unwrap()).then_some(())
    })
    .await;
    assert!(
        running.notes().contains("the lease is lost"),
        "{}",
        running.notes()
    );
}

#[test]
fn wk_02_what_cannot_work_is_said_at_once() {
    let home = Home::with(PULLED);
    put(&home, "user:1", "null");
    for (arguments, code, words) in [
        (
            &["work", KIND, "--", "/no/such/program"][..],
            2,
            "`/no/such/program` cannot be started",
        ),
        (
            &["work", "OTHER", "--", "/bin/true"],
            1,
            "kind `OTHER` is not pulled",
        ),
        (
            &["work", "DISPATCH", "--", "/bin/true"],
            2,
            "cannot be pulled",
        ),
        (
            &["work", KIND, "--lease", "1s", "--", "/bin/true"],
            2,
            "lease_s must be 5 to 3600",
        ),
        (&["work", KIND], 2, "PROGRAM"),
    ] {
        let ran = home.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {ran}");
        assert!(ran.notes.contains(words), "{arguments:?}: {ran}");
    }
    assert_eq!(show(&home, "user:1")["attempt"], 0, "given back untried");
}

#[test]
fn wk_01_a_pulled_kind_is_not_configured_to_be_called() {
    for (line, words) in [
        (
            "url = \"http://127.0.0.1:9/\"",
            "kinds.MAIL_SEND.url is for pushed kinds",
        ),
        ("slots = 3", "kinds.MAIL_SEND.slots is for pushed kinds"),
    ] {
        let text = format!("[kinds.MAIL_SEND]\ndeliver = \"pull\"\n{line}\n");
        let ran = Home::with(&text).run(&["check"]);
        assert_eq!(ran.code, 2, "{ran}");
        assert!(
            ran.data.contains(words) || ran.notes.contains(words),
            "{ran}"
        );
    }
    let ran = Home::with("[kinds.DISPATCH]\ndeliver = \"pull\"\n").run(&["check"]);
    assert_eq!(ran.code, 2, "{ran}");
}
