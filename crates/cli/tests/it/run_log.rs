//! What commands print, with real nodes: followed while it runs, and kept when the node is killed.

use serde_json::Value;

use crate::{
    harness::Home,
    process::{Process, eventually, free_address},
};

const TOKEN: &str = "s3cret-of-the-deployment";

fn home(script: &str) -> Home {
    Home::new()
        .file("work.sh", script)
        .file(
            "almanack.toml",
            "[database]
url = \"sqlite:almanack.db\"
[node]
lease = \"3s\"
[command]
enabled = true
directory = \".\"
environment = [\"DEPLOY_TOKEN\"]
[[schedule]]
name = \"work\"
expression = \"@hourly\"
retry_for = \"10m\"
target = { type = \"command\", argv = [\"/bin/sh\", \"work.sh\"], timeout = \"10m\" }
",
        )
        .set("PATH", "/usr/bin:/bin")
        .set("DEPLOY_TOKEN", TOKEN)
}

async fn fire(home: &Home) {
    eventually("the schedule fires", async || {
        let fired = home.run(&["schedule", "fire", "work"]);
        (fired.code == 0).then_some(())
    })
    .await;
}

/// The log, once it has this text.
async fn log_with(home: &Home, attempt: &str, text: &str) -> Value {
    eventually(&format!("the log has {text:?}"), async || {
        let log = home.run(&["schedule", "log", "work", "--attempt", attempt, "--json"]);
        let log: Value = serde_json::from_str(&log.data).ok()?;
        log["text"].as_str()?.contains(text).then_some(log)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_20_a_killed_node_leaves_what_its_command_printed_and_the_log_says_so() {
    let home = home("echo \"attempt $ALMANACK_ATTEMPT begins\"; exec sleep 600\n");
    let mut node = Process::node(&home, free_address(), &[]).ready().await;
    fire(&home).await;
    let log = log_with(&home, "1", "attempt 1 begins\n").await;
    assert_eq!((&log["live"], &log["ended"]), (&true.into(), &false.into()));
    node.kill().await;
    let mut node = Process::node(&home, free_address(), &[]).ready().await;
    log_with(&home, "2", "attempt 2 begins\n").await;
    let log = log_with(&home, "1", "attempt 1 begins\n").await;
    let ending = log["attempts"][0]["ending"].as_str().unwrap();
    assert!(
        ending.starts_with("The attempt ended with its node"),
        "{ending}"
    );
    assert_eq!(log["ended"], true);
    node.kill().await;
}

/// Both outputs, in order, to their end; the secret is in neither the log, the file nor the
/// node's own log, though it was printed in two parts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_20_a_log_is_followed_to_its_end_without_the_secrets_of_commands() {
    let script = "echo begins; printf 'token %s' \"${DEPLOY_TOKEN%ment}\"; sleep 1; echo 'ment' >&2; seq 1 30000; echo ends; exit 0\n";
    let home = home(script);
    let mut node = Process::node(&home, free_address(), &[]).ready().await;
    fire(&home).await;
    let followed = home.run(&["schedule", "log", "work", "--follow"]);
    assert_eq!(followed.code, 0, "{}", followed.notes);
    assert!(
        followed.data.starts_with("begins\ntoken ***\n1\n2\n"),
        "{:.200}",
        followed.data
    );
    assert!(followed.data.ends_with("30000\nends\n"));
    assert!(
        followed.notes.contains("Done: exit code 0."),
        "{}",
        followed.notes
    );
    let lines = home.run(&["schedule", "log", "work", "--json-lines"]);
    let parts = lines
        .data
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text: String = parts
        .map(|part| part["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(text, followed.data);
    let slots = home.run(&["schedule", "slots", "work"]);
    assert!(slots.data.contains("manual by cli:"), "{}", slots.data);
    node.kill().await;
    for name in ["almanack.db", "almanack.db-wal"] {
        let bytes = std::fs::read(home.path().join(name)).unwrap_or_default();
        let found = bytes.windows(TOKEN.len()).any(|it| it == TOKEN.as_bytes());
        assert!(!found, "{name}");
    }
}
