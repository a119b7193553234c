//! The command launcher with real processes.

use std::{
    collections::BTreeMap,
    path::Path,
    process::Command,
    sync::{Arc, Mutex},
    time::Duration,
};

use almanack_adapters::command::{Allowed, CommandLauncher, CommandSettings, environment};
use almanack_core::{
    finish::{DETAIL_BYTES_MAX, Outcome},
    run_log::{KnownSecrets, Redactor, RunLog, RunLogs},
    secret::Secret,
    store::RunId,
    target::Launcher,
};
use async_trait::async_trait;
use serde_json::json;
use tempfile::TempDir;
use tokio::{
    io::AsyncReadExt,
    net::unix::pipe::{OpenOptions, Receiver},
};

use crate::fixture::{firing, task};

fn launcher(directory: &Path) -> CommandLauncher {
    let found = |name: &str| match name {
        "PATH" => Some("/usr/bin:/bin".to_owned()),
        "HOME" => Some("/var/empty".to_owned()),
        "WANTED" => Some("yes".to_owned()),
        "GITHUB_TOKEN" => Some("hush".to_owned()),
        _ => None,
    };
    CommandLauncher::new(CommandSettings {
        allowed: Allowed::Anything,
        directory: directory.to_owned(),
        environment: environment(&["WANTED".to_owned(), "MISSING".to_owned()], found),
        stop_grace: Duration::from_millis(500),
        supervisor: None,
        at_once_max: 2,
    })
}

async fn run_for(timeout: &str, argv: &[&str]) -> Outcome {
    let directory = TempDir::new().unwrap();
    let firing = firing(json!({"type": "command", "argv": argv, "timeout": timeout}));
    launcher(directory.path()).fire(&firing, &task(None)).await
}

async fn run(argv: &[&str]) -> Outcome {
    run_for("1m", argv).await
}

fn done(outcome: Outcome) -> String {
    let Outcome::Done {
        detail: Some(output),
    } = outcome
    else {
        panic!("{outcome:?}");
    };
    output
}

fn retried(outcome: Outcome) -> String {
    let Outcome::Retry { error, .. } = outcome else {
        panic!("{outcome:?}");
    };
    error
}

fn given_up(outcome: Outcome) -> String {
    let Outcome::GiveUp { error } = outcome else {
        panic!("{outcome:?}");
    };
    error
}

#[tokio::test]
async fn dp_11_a_command_sees_its_firing_and_a_clean_environment() {
    let output = done(run(&["env"]).await);
    let seen: BTreeMap<&str, &str> = output
        .trim_start_matches("exit code 0: ")
        .lines()
        .filter_map(|line| line.split_once('='))
        .collect();
    let expected = BTreeMap::from([
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/var/empty"),
        ("WANTED", "yes"),
        ("ALMANACK_SCHEDULE", "nightly"),
        ("ALMANACK_NOMINAL_AT", "2026-01-05T07:58:29.5Z"),
        ("ALMANACK_TRIGGER", "schedule"),
        ("ALMANACK_ATTEMPT", "2"),
        ("ALMANACK_TASK_ID", "42"),
    ]);
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn dp_11_arguments_are_not_read_by_a_shell() {
    let output = done(run(&["echo", "$HOME; exit 3", "*"]).await);
    assert_eq!(output, "exit code 0: $HOME; exit 3 *");
}

#[tokio::test]
async fn a_command_runs_where_it_should_and_reads_nothing() {
    let directory = TempDir::new().unwrap();
    let firing = firing(json!({"type": "command", "argv": ["sh", "-c", "cat; pwd -P"]}));
    let output = done(launcher(directory.path()).fire(&firing, &task(None)).await);
    let there = directory.path().canonicalize().unwrap();
    assert_eq!(output, format!("exit code 0: {}", there.display()));
}

#[tokio::test]
async fn dp_12_a_failure_is_retried_and_keeps_the_order_of_the_output() {
    let script = "echo one; echo two >&2; echo three; exit 7";
    let error = retried(run(&["sh", "-c", script]).await);
    assert_eq!(error, "exit code 7: one\ntwo\nthree");
    let error = retried(run(&["sh", "-c", "kill -9 $$"]).await);
    assert!(error.starts_with("ended by signal: 9"), "{error}");
}

#[tokio::test]
async fn of_a_long_output_the_end_is_kept() {
    let script = "yes line | head -c 3000000; echo; echo the reason; exit 1";
    let error = retried(run(&["sh", "-c", script]).await);
    assert!(error.len() <= DETAIL_BYTES_MAX);
    assert!(
        error.starts_with("exit code 1: …") && error.ends_with("the reason"),
        "{error}"
    );
}

#[tokio::test]
async fn what_cannot_be_run_is_given_up() {
    let missing = given_up(run(&["no-such-program-anywhere"]).await);
    assert!(missing.contains("does not exist"), "{missing}");
    let directory = given_up(run(&["/usr"]).await);
    assert!(directory.contains("cannot be run"), "{directory}");
}

#[tokio::test]
async fn dp_11_commands_are_off_unless_configured_and_say_what_to_change() {
    let settings = |allowed| CommandSettings {
        allowed,
        directory: "/".into(),
        environment: BTreeMap::new(),
        stop_grace: Duration::from_secs(1),
        supervisor: None,
        at_once_max: 2,
    };
    let echo = firing(json!({"type": "command", "argv": ["/bin/echo", "hi"]}));
    for (allowed, expected) in [
        (Allowed::default(), "command.enabled"),
        (Allowed::Only(vec!["/opt".into()]), "command.programs"),
    ] {
        let refused = CommandLauncher::new(settings(allowed));
        let outcome = refused.fire(&echo, &task(None)).await;
        assert!(
            matches!(&outcome, Outcome::Retry { error, .. } if error.contains(expected)),
            "another node may allow it: {outcome:?}"
        );
    }
    let listed = CommandLauncher::new(settings(Allowed::Only(vec!["/bin".into()])));
    assert_eq!(
        done(listed.fire(&echo, &task(None)).await),
        "exit code 0: hi"
    );
}

/// A grandchild that holds a named pipe open as long as it lives.
struct Grandchild {
    directory: TempDir,
    held: Receiver,
}

impl Grandchild {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("held");
        assert!(
            Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        let held = OpenOptions::new().open_receiver(&path).unwrap();
        Self { directory, held }
    }

    async fn fire(&self, script: &str, timeout: &str) -> Outcome {
        let argv = ["sh", "-c", script];
        let firing = firing(json!({"type": "command", "argv": argv, "timeout": timeout}));
        launcher(self.directory.path())
            .fire(&firing, &task(None))
            .await
    }

    /// Whether no process holds the pipe any more. Opened and closed once more, so that there is an
    /// end to be seen even if the grandchild was stopped before it could open it.
    async fn is_gone(&mut self) -> bool {
        let path = self.directory.path().join("held");
        drop(std::fs::OpenOptions::new().write(true).open(path).unwrap());
        let mut rest = Vec::new();
        let end = self.held.read_to_end(&mut rest);
        tokio::time::timeout(Duration::from_secs(20), end)
            .await
            .is_ok()
    }
}

#[tokio::test]
async fn dp_12_a_command_out_of_time_is_stopped_with_everything_it_started() {
    let mut grandchild = Grandchild::new();
    let script = "(trap '' TERM; exec sleep 1000) > held & wait; sleep 1000";
    let error = retried(grandchild.fire(script, "300ms").await);
    assert!(
        error.starts_with("did not end within 300ms, stopped"),
        "{error}"
    );
    assert!(grandchild.is_gone().await);
}

#[tokio::test]
async fn a_command_out_of_time_may_tidy_up() {
    let script = "trap 'echo tidied; exit 0' TERM; sleep 1000 & wait";
    let error = retried(run_for("1s", &["sh", "-c", script]).await);
    assert!(error.ends_with("tidied"), "{error}");
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    let mut grandchild = Grandchild::new();
    let script = "(: > opened; exec sleep 1000) > held & until [ -e opened ]; do :; done; echo ok";
    let output = done(grandchild.fire(script, "1m").await);
    assert_eq!(output, "exit code 0: ok");
    assert!(grandchild.is_gone().await);
}

#[tokio::test]
async fn an_attempt_that_is_dropped_leaves_nothing_behind() {
    let mut grandchild = Grandchild::new();
    let (sees, mut begun) = (grandchild.directory.path().to_owned(), [0; 1]);
    let attempt = tokio::spawn(async move {
        let argv = ["sh", "-c", "(echo x; exec sleep 1000) > held & wait"];
        let firing = firing(json!({"type": "command", "argv": argv}));
        launcher(&sees).fire(&firing, &task(None)).await
    });
    // Reading an unopened pipe finds its end; until the grandchild has opened it, look again.
    while grandchild.held.read(&mut begun).await.unwrap() == 0 {
        tokio::task::yield_now().await;
    }
    attempt.abort();
    assert!(attempt.await.unwrap_err().is_cancelled());
    assert!(grandchild.is_gone().await);
}

/// Remembers what it was given, and cuts one secret.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Piece>>>);

type Piece = (RunId, Vec<u8>);

struct KeptRun {
    kept: Kept,
    run: RunId,
    redactor: Redactor,
}

impl Kept {
    fn text(&self) -> String {
        let kept = self.0.lock().unwrap();
        let bytes = kept.iter().flat_map(|(_, text)| text.clone()).collect();
        String::from_utf8(bytes).unwrap()
    }
}

#[async_trait]
impl RunLogs for Kept {
    fn begin(&self, run: RunId) -> Box<dyn RunLog> {
        let secrets = KnownSecrets::new([Secret::new("hunter2")]);
        Box::new(KeptRun {
            kept: self.clone(),
            run,
            redactor: secrets.redactor(),
        })
    }

    async fn report(&self, run: RunId, text: &str) {
        self.0.lock().unwrap().push((run, text.into()));
    }
}

#[async_trait]
impl RunLog for KeptRun {
    fn write(&mut self, printed: &[u8]) -> Vec<u8> {
        let clean = self.redactor.pass(printed);
        self.kept.0.lock().unwrap().push((self.run, clean.clone()));
        clean
    }

    async fn end(&mut self) -> Vec<u8> {
        let clean = self.redactor.end();
        self.kept.0.lock().unwrap().push((self.run, clean.clone()));
        clean
    }
}

async fn logged(script: &str) -> (Outcome, Kept) {
    let directory = TempDir::new().unwrap();
    let argv = ["/bin/sh", "-c", script];
    let firing = firing(json!({"type": "command", "argv": argv, "timeout": "1m"}));
    let kept = Kept::default();
    let launcher = launcher(directory.path()).logging(Arc::new(kept.clone()));
    (launcher.fire(&firing, &task(None)).await, kept)
}

#[tokio::test]
async fn dp_20_both_outputs_of_a_command_are_logged_in_order() {
    let script = "echo one; echo two >&2; echo three; exit 3";
    let (outcome, kept) = logged(script).await;
    assert_eq!(kept.text(), "one\ntwo\nthree\n");
    assert_eq!(retried(outcome), "exit code 3: one\ntwo\nthree");
    let runs: Vec<(i64, i64)> = kept
        .0
        .lock()
        .unwrap()
        .iter()
        .map(|(run, _)| (run.task_id.0, run.term.0))
        .collect();
    assert!(runs.iter().all(|run| *run == (42, 3)), "{runs:?}");
}

#[tokio::test]
async fn dp_20_a_log_has_what_the_short_detail_has_no_room_for() {
    let (outcome, kept) = logged("seq 1 20000").await;
    let lines: Vec<String> = (1..=20_000).map(|n| n.to_string()).collect();
    let expected = lines.join("\n") + "\n";
    assert!(kept.text() == expected, "{} bytes", kept.text().len());
    assert!(done(outcome).len() <= DETAIL_BYTES_MAX);
}

/// What is cut from the log is not in the detail either, though it came in two parts.
#[tokio::test]
async fn dp_20_a_secret_that_is_printed_is_in_neither_log_nor_detail() {
    let (outcome, kept) = logged("printf 'it is hun'; printf 'ter2.'; exit 1").await;
    assert_eq!(kept.text(), "it is ***.");
    assert_eq!(retried(outcome), "exit code 1: it is ***.");
}
