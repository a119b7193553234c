//! Messages of `almanack chain`, for setup errors and in its log.

use std::process::Command;

use super::stage::{environment, github, setup};
use crate::harness::{Home, Ran};

const ONCE: [&str; 5] = ["chain", "--self", "tick-a", "--once", "--round=1s"];

fn home(environment: &[(&str, String)], dispatch: &str) -> Home {
    let home = Home::new().set("DISPATCH", dispatch);
    environment
        .iter()
        .fold(home, |home, (name, value)| home.set(name, value))
}

/// Blocks its thread, so it must not run on the server's only one.
async fn run(home: Home, arguments: Vec<String>) -> Ran {
    let run = move || home.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    tokio::task::spawn_blocking(run).await.unwrap()
}

#[test]
fn what_is_missing_is_reported_with_where_it_comes_from() {
    let line = "@10s octarine/library poll.yml";
    let given = |names: &[(&'static str, &str)]| -> Vec<(&'static str, String)> {
        let given = names.iter();
        given
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect()
    };
    let run_id = ("GITHUB_RUN_ID", "7");
    let reported = [
        home(&[], line).run(&ONCE),
        home(&given(&[run_id]), line).run(&ONCE),
        home(&given(&[run_id, ("GH_TOKEN", "s-chain")]), line).run(&ONCE),
        home(&given(&[run_id]), "").run(&ONCE),
        home(&given(&[run_id]), "# nothing yet").run(&ONCE),
        home(&given(&[run_id]), "@10s octarine/library").run(&ONCE),
        home(&given(&[run_id]), line).run(&["chain", "--self", "tick-a", "--round", "30s"]),
        home(&given(&[run_id]), line).run(&["chain", "--self", "../x"]),
        home(&[], line).run(&["guard"]),
    ];
    let reported: Vec<String> = reported.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(reported.join("\n\n"), @"
    error: GITHUB_RUN_ID is not set
    hint: GitHub Actions sets it; elsewhere, use --lock git:URL
    exit 2

    error: GH_TOKEN is not set
    hint: in the workflow: GH_TOKEN: ${{ github.token }}
    exit 2

    error: GITHUB_REPOSITORY is not set
    hint: GitHub Actions sets it; elsewhere, set it to owner/name of the repository with the chains
    exit 2

    error: DISPATCH is not set
    hint: write one line per schedule, like: */5 * * * *  owner/repo  check.yml
    exit 2

    error: DISPATCH contains no schedule: it has no lines
    hint: write one line per schedule, like: */5 * * * *  owner/repo  check.yml
    exit 2

    error: DISPATCH contains no schedule: line 1, column 22: the workflow is missing
    hint: write one line per schedule, like: */5 * * * *  owner/repo  check.yml
    exit 2

    error: --round must be 100ms to 10s: with longer rounds, slots count as missed
    exit 2

    error: a chain is named after its workflow's file, like tick-a
    hint: pass the name of its workflow file, like --self tick-a
    exit 2

    error: GH_TOKEN is not set
    hint: in the workflow: GH_TOKEN: ${{ github.token }}
    exit 2
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_04_the_log_is_readable_shifted_and_without_names() {
    let (github, _stop) = github(setup()).await;
    let text = "@10s octarine/library poll.yml\n0 8 * * 9 octarine/library daily.yml";
    let home = home(&environment(&github, 7), text).set("TZ_OFFSET", "8");
    let ran = run(home, ONCE.map(str::to_owned).into()).await;
    assert_eq!(ran.code, 0, "{ran}");
    let lines: Vec<&str> = ran
        .data
        .lines()
        .map(|line| line.get(21..).unwrap_or(line))
        .collect();
    assert_eq!(lines.len(), 4, "{ran}");
    assert!(lines[0].starts_with("refused line 2, column 9: "), "{ran}");
    assert!(
        lines[1].starts_with("begins  keeps 1 line in rounds of 1 s until "),
        "{ran}"
    );
    assert!(lines[2].starts_with("keeps     1  @10s  next "), "{ran}");
    assert_eq!(lines[3], "leaves  one round was requested, 0 firings open");
    for name in ["octarine", "library", "poll", "daily"] {
        assert!(!ran.to_string().contains(name), "{ran}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_05_locks_may_live_on_any_git_server() {
    let (github, _stop) = github(setup()).await;
    let locks = tempfile::tempdir().unwrap();
    let path = locks.path().display().to_string();
    let made = Command::new("git")
        .args(["init", "--quiet", "--bare", &path])
        .status();
    assert!(made.unwrap().success());
    let arguments = |name: &str| -> Vec<String> {
        let arguments =
            format!("chain --json --self {name} --for 9s --round 500ms --lock git:{path}");
        arguments.split(' ').map(str::to_owned).collect()
    };
    let start = |name: &str| {
        let path = std::env::temp_dir().display().to_string();
        let home = home(&environment(&github, 7), "@3s octarine/library poll.yml");
        // Off GitHub: only what targets need, and what git needs.
        let home = home
            .set("PATH", "/usr/local/bin:/usr/bin:/bin")
            .set("TMPDIR", &path);
        run(home, arguments(name))
    };
    let (a, b) = tokio::join!(start("tick-a"), start("tick-b"));
    assert_eq!((a.code, b.code), (0, 0), "{a}\n{b}");
    let refs = Command::new("git")
        .args(["-C", &path, "for-each-ref", "refs/tags/lock"])
        .output();
    let refs = String::from_utf8(refs.unwrap().stdout).unwrap();
    assert!(refs.lines().count() >= 2, "{refs}{a}{b}");
    assert_eq!(
        github.handle.dispatches().len(),
        refs.lines().count(),
        "{a}\n{b}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_that_may_not_use_its_locks_fails_at_once() {
    let (github, _stop) = github(setup()).await;
    let line = "@1s octarine/library poll.yml";
    let arguments = ["chain", "--self", "tick-a", "--for", "1h", "--round", "1s"];
    let mut reported = Vec::new();
    for (name, value) in [
        ("GH_TOKEN", "s-wrong"),
        ("GITHUB_REPOSITORY", "octo/clcok"),
        ("GITHUB_SHA", "0000000000000000000000000000000000000000"),
    ] {
        let home = home(&environment(&github, 7), line).set(name, value);
        let ran = run(home, arguments.map(str::to_owned).into()).await;
        assert_eq!(ran.code, 1, "{ran}");
        reported.push(ran.notes);
    }
    insta::assert_snapshot!(reported.join("\n"), @"
    error: list locks: locks are refused: HTTP 401: Bad credentials
    hint: GH_TOKEN is not valid; in the workflow: GH_TOKEN: ${{ github.token }}

    error: list locks: locks are refused: HTTP 404: Not Found
    hint: GITHUB_REPOSITORY does not exist, or GH_TOKEN cannot see it; in the workflow: permissions: contents: write

    error: create a lock: locks are refused: HTTP 422: Object does not exist
    hint: GITHUB_SHA must be a commit of GITHUB_REPOSITORY; GitHub Actions sets both
    ");
}
