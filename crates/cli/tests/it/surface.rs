//! The outside of the outside: help, version, completions, pipes.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
};

use crate::harness::Home;

#[test]
fn the_version_is_the_packages() {
    let reported = Home::new().run(&["--version"]).expect_data();
    assert_eq!(
        reported,
        format!("almanack {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn wrong_arguments_are_exit_code_2_and_leave_the_data_clean() {
    for arguments in [
        &["tasks"][..],
        &[],
        &["task", "put", "K", "s"],
        &["task", "list", "--limit", "x"],
        &["schedule", "slots", "x", "--limit", "0"],
        &["bench", "tasks", "--tasks", "0"],
        &["bench", "tasks", "--clients", "0"],
        &["bench", "tasks", "--far", "-1"],
        &["bench", "sources", "--sources", "0"],
        &["bench", "sources", "--nodes", "0"],
    ] {
        let ran = Home::new().run(arguments);
        assert_eq!(
            (ran.code, ran.data.as_str()),
            (2, ""),
            "{arguments:?}: {ran}"
        );
    }
}

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = Home::new().run(&["completions", shell]).expect_data();
        assert!(script.contains("history"), "{shell}");
    }
}

#[test]
fn a_reader_that_leaves_early_is_not_an_error() {
    let mut child = Home::new()
        .command(&["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut notes = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut notes)
        .unwrap();
    assert_eq!(
        (child.wait().unwrap().code(), notes.as_str()),
        (Some(0), "")
    );
}

#[test]
fn a_broken_configuration_stops_every_command_that_needs_one() {
    let home = Home::with("[node]\nslots = 0\n");
    for arguments in [&["task", "list"][..], &["token", "list"], &["serve"]] {
        let ran = home.run(arguments);
        assert_eq!(
            (ran.code, ran.data.as_str()),
            (2, ""),
            "{arguments:?}: {ran}"
        );
        assert!(
            ran.notes.contains("almanack.toml:2:9"),
            "{arguments:?}: {ran}"
        );
    }
    assert_eq!(home.run(&["completions", "bash"]).code, 0);
}

#[test]
fn an_address_open_to_others_needs_a_token_first() {
    let home = Home::new();
    let ran = home.run(&["serve", "--listen", "0.0.0.0:0"]);
    insta::assert_snapshot!(ran, @"
    error: 0.0.0.0:0 is reachable from other machines, and no token or user protects it
    hint: run `almanack token create NAME --scope admin` or `almanack user create NAME`, or listen on 127.0.0.1
    exit 2
    ");
    assert!(!home.path().join("almanack.db").exists());
}

#[test]
fn a_node_runs_until_it_is_reported_to_stop() {
    let home = Home::new();
    let mut child = home
        .command(&["serve", "--listen", "127.0.0.1:0", "--node-name", "news-1"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let started = log.find(|line| line.as_ref().unwrap().contains("Listening on"));
    assert!(started.is_some(), "it says so in its log");
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    let rest: Vec<String> = log.map(Result::unwrap).collect();
    assert!(
        rest.iter().any(|line| line.contains("node.name=news-1")),
        "{rest:?}"
    );
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_measurement_is_reported_in_words() {
    let home = Home::new();
    let small = "bench tasks --tasks 10 --batch 5 --late-tasks 2 --late-spread-ms 10 \
         --late-lead-ms 50 --pending 4 --moves 2 --clients 1 --far 5";
    let ran = home.run(&small.split_whitespace().collect::<Vec<_>>());
    assert_eq!(ran.code, 0, "{ran}");
    let figures = ran.data.lines().map(|line| &line[..26]);
    let figures: Vec<&str> = figures.map(str::trim_end).collect();
    insta::assert_snapshot!(figures.join("\n"), @"
    tasks written
    tasks run
      memory then
      without pages of files
    tasks run, with events
      times as long
      memory then
      without pages of files
    tasks run, batched events
      times as long
      memory then
      without pages of files
    tasks pulled
      of tasks run
    lateness at start
    lateness of long polls
    tasks rescheduled
    tasks not due
      tasks written
      tasks run
    peak memory
    ");
    assert!(!ran.data.contains(['{', '_']), "{ran}");
    assert!(ran.notes.contains("rescheduling waiting tasks\n"), "{ran}");
}

#[test]
fn sources_are_measured_against_feeds_that_end_with_the_measurement() {
    let home = Home::new();
    let small = "--json bench sources --sources 30 --beside 10 --seconds 1 --nodes 2";
    let ran = home.run(&small.split_whitespace().collect::<Vec<_>>());
    assert_eq!(ran.code, 0, "{ran}");
    let figures: serde_json::Value = serde_json::from_str(&ran.data).unwrap();
    assert_eq!(figures["nodes"], 2);
    for (name, sources) in [("large", 30), ("small", 10)] {
        let store = &figures[name];
        assert_eq!(store["sources"], sources);
        let first = &store["first"];
        assert!(first["checks"].as_u64() >= Some(sources), "{name}: {first}");
        assert_eq!(first["failed"], 0, "{name}");
        assert!(
            first["processor_us"].as_f64() > Some(0.0),
            "{name}: {first}"
        );
        let growth = &store["growth_bytes"];
        let (added, looked_at) = (&growth["added_source"], &growth["source"]);
        assert!(looked_at.as_f64() > added.as_f64(), "{name}: {growth}");
    }
    let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
