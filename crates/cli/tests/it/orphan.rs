//! Commands end with their node and with their time, with everything they started.

use std::{collections::BTreeSet, fs};

use crate::{
    harness::Home,
    process::{Process, eventually, free_address},
};

/// A command that writes down its number and that of a child with a separate session, which does
/// not listen when it is asked to end; both last.
fn home(expression: &str, timeout: &str) -> Home {
    Home::new()
        .file(
            "work.sh",
            "echo $$ >> \"$1\"\nsetsid sh -c 'trap \"\" TERM; echo $$ >> \"$0\"; exec sleep 600' \"$1\" &\nexec sleep 600\n",
        )
        .file(
            "almanack.toml",
            &format!(
                "[database]
url = \"sqlite:almanack.db\"
[command]
enabled = true
directory = \".\"
[[schedule]]
name = \"work\"
expression = \"{expression}\"
overlap = \"skip\"
retry_for = \"10m\"
target = {{ type = \"command\", argv = [\"/bin/sh\", \"work.sh\", \"numbers\"], timeout = \"{timeout}\" }}
"
            ),
        )
        .set("PATH", "/usr/bin:/bin")
}

/// The processes that wrote themselves down, in order.
fn written(home: &Home) -> Vec<u32> {
    let numbers = fs::read_to_string(home.path().join("numbers")).unwrap_or_default();
    numbers.lines().map(|line| line.parse().unwrap()).collect()
}

/// Of these, those that still run.
fn alive(numbers: &[u32]) -> BTreeSet<u32> {
    let runs = |number: &&u32| {
        let stat = fs::read_to_string(format!("/proc/{number}/stat"));
        let stat = stat
            .ok()
            .and_then(|it| Some(it.rsplit_once(')')?.1.to_owned()));
        stat.is_some_and(|state| !state.trim_start().starts_with('Z'))
    };
    numbers.iter().filter(runs).copied().collect()
}

async fn until_written(home: &Home, count: usize) -> Vec<u32> {
    let what = format!("{count} processes run");
    eventually(&what, async || {
        let numbers = written(home);
        (numbers.len() >= count).then_some(numbers)
    })
    .await
}

/// Fires it by hand, once the node has read the file.
async fn fire(home: &Home) {
    eventually("the schedule fires", async || {
        let fired = home.run(&["schedule", "fire", "work"]);
        (fired.code == 0).then_some(())
    })
    .await;
}

async fn until_dead(numbers: &[u32]) {
    eventually("all of them are gone", async || {
        alive(numbers).is_empty().then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_25_a_command_ends_with_its_killed_node_so_that_the_next_try_is_alone() {
    let home = home("@1s", "10m");
    let mut node = Process::node(&home, free_address(), &[]);
    let first = until_written(&home, 2).await;
    assert_eq!(alive(&first).len(), 2, "command and child run");
    node.kill().await;
    until_dead(&first).await;
    let mut node = Process::node(&home, free_address(), &[]);
    let all = until_written(&home, 4).await;
    assert_eq!(alive(&all[..2]).len(), 0);
    node.kill().await;
    until_dead(&written(&home)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_25_a_child_with_a_session_of_its_own_ends_with_the_commands_time() {
    let home = home("@hourly", "1s");
    let mut node = Process::node(&home, free_address(), &[]).ready().await;
    fire(&home).await;
    let first = until_written(&home, 2).await;
    until_dead(&first).await;
    assert_eq!(first.len(), 2, "while the node lives");
    node.kill().await;
    until_dead(&written(&home)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_11_what_a_supervisor_cannot_start_is_given_up_and_says_why() {
    let home = home("@hourly", "1s");
    fs::remove_file(home.path().join("almanack.toml")).unwrap();
    let home = home.file(
        "almanack.toml",
        "[database]
url = \"sqlite:almanack.db\"
[command]
enabled = true
[[schedule]]
name = \"work\"
expression = \"@hourly\"
target = { type = \"command\", argv = [\"/no/such/program\"] }
",
    );
    let mut node = Process::node(&home, free_address(), &[]).ready().await;
    fire(&home).await;
    let task = eventually("the firing has ended", async || {
        let tasks = home.run(&[
            "task",
            "list",
            "--kind",
            "DISPATCH",
            "--all",
            "--json-lines",
        ]);
        let line = tasks.data.lines().next()?.to_owned();
        let task: serde_json::Value = serde_json::from_str(&line).ok()?;
        (task["status"] == "FAIL").then_some(task)
    })
    .await;
    assert!(task.to_string().contains("does not exist"), "{task}");
    node.kill().await;
}
