//! A process that is killed while its handler works: another one tries the task again.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use almanack_testkit::postgres::Schema;

/// Cargo builds examples beside the tests.
fn example() -> Command {
    let tests = std::env::current_exe().unwrap();
    let target = tests.parent().and_then(Path::parent).unwrap();
    Command::new(target.join("examples/embedded"))
}

fn start(url: &str, arguments: &[&str]) -> (Child, impl Iterator<Item = String>) {
    let mut child = example()
        .args([&[url], arguments].concat())
        .stdout(Stdio::piped())
        .spawn()
        .expect("cargo builds the example with the tests");
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines.map(Result::unwrap))
}

fn check(url: &str) {
    let (mut first, mut lines) = start(url, &["--hang"]);
    assert_eq!(lines.next().as_deref(), Some("attempt 1: Ada"));
    first.kill().unwrap();
    first.wait().unwrap();
    let (mut second, mut lines) = start(url, &[]);
    assert_eq!(lines.next().as_deref(), Some("attempt 2: Ada"));
    assert_eq!(lines.next().as_deref(), Some("done"));
    assert!(second.wait().unwrap().success());
    let (mut third, mut lines) = start(url, &[]);
    assert_eq!(lines.next().as_deref(), Some("already greeted Ada"));
    assert!(third.wait().unwrap().success());
}

#[test]
fn wk_03_a_killed_process_leaves_its_task_to_the_next_one_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    check(&format!(
        "sqlite:{}",
        folder.path().join("app.db").display()
    ));
}

#[tokio::test]
async fn wk_03_a_killed_process_leaves_its_task_to_the_next_one_on_postgres() {
    let schema = Schema::create().await;
    let url = schema.url().to_owned();
    tokio::task::spawn_blocking(move || check(&url))
        .await
        .unwrap();
}
