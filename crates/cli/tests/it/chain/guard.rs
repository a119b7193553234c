//! The guard, by its output (DP-09).

use std::sync::Arc;

use almanack_lab::{
    clock::Clock,
    github::{
        Running,
        setup::{Permission, Setup},
        state::run::Conclusion,
    },
};
use serde_json::Value;

use super::stage::{environment, github, setup};
use crate::harness::{Home, Ran};

/// Blocks its thread, so it must not run on the server's only one.
async fn guard(github: &Running, more: &'static [&'static str]) -> Ran {
    let environment = environment(github, 1);
    let run = move || {
        let home = environment
            .into_iter()
            .fold(Home::new(), |home, (name, value)| home.set(name, &value));
        home.run(&[&["--json", "guard"], more].concat())
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

fn reports(ran: &Ran) -> Vec<[String; 3]> {
    let values = ran
        .data
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let word = |value: &Value, name: &str| value[name].as_str().unwrap().to_owned();
    values
        .map(|it| [word(&it, "chain"), word(&it, "found"), word(&it, "did")])
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_09_dead_chains_are_started_and_living_ones_left_alone() {
    let (github, _stop) = github(setup()).await;
    let queued = github
        .handle
        .start_run("octo", "clock", "tick-a.yml")
        .unwrap();
    let ended = github
        .handle
        .start_run("octo", "clock", "tick-b.yml")
        .unwrap();
    github
        .handle
        .finish_run(ended.id, Conclusion::Success)
        .unwrap();
    let ran = guard(&github, &[]).await;
    assert_eq!(ran.code, 0, "{ran}");
    let expected = [
        ["tick-a", "alive", "nothing"],
        ["tick-b", "dead", "started"],
    ];
    assert_eq!(reports(&ran), expected);
    let dispatches = github.handle.dispatches();
    assert_eq!(
        (dispatches.len(), dispatches[0].workflow.as_str()),
        (1, "tick-b.yml")
    );
    // A run that says it is about to end counts as over, whatever GitHub shows.
    github.handle.begin_run(queued.id).unwrap();
    let id: &'static str = Box::leak(queued.id.to_string().into_boxed_str());
    let more: &'static [&'static str] = Box::leak(Box::new(["--chain", "tick-a", "--ended", id]));
    assert_eq!(
        reports(&guard(&github, more).await),
        [["tick-a", "dead", "started"]]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_09_a_start_whose_answer_got_lost_is_not_repeated() {
    use almanack_lab::github::fault::{Effect, Matching, Rule, When};
    let (github, _stop) = github(setup()).await;
    github.handle.add_fault(Rule {
        matching: Matching {
            path: Some("tick-a.yml/dispatches".to_owned()),
            ..Matching::default()
        },
        when: When::Next(1),
        effect: Effect::DropReply,
    });
    let ran = guard(&github, &["--chain", "tick-a"]).await;
    assert_eq!(reports(&ran), [["tick-a", "dead", "started"]], "{ran}");
    assert_eq!(github.handle.dispatches().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_09_a_hung_run_is_cancelled_and_replaced() {
    // Its run began six hours ago.
    let now = crate::process::from_now(-6 * 3_600_000);
    let clock: Clock = Arc::new(move || now);
    let (github, _stop) = github_at(setup(), clock).await;
    let run = github
        .handle
        .start_run("octo", "clock", "tick-a.yml")
        .unwrap();
    github.handle.begin_run(run.id).unwrap();
    let ran = guard(&github, &["--chain", "tick-a"]).await;
    assert_eq!(reports(&ran), [["tick-a", "hung", "started"]], "{ran}");
    let runs = github.handle.runs("octo", "clock");
    assert_eq!(
        (runs.len(), runs[1].conclusion),
        (2, Some(Conclusion::Cancelled))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_09_a_chain_that_fails_at_once_is_not_started_for_ever() {
    let (github, _stop) = github(setup()).await;
    for _ in 0..3 {
        let run = github
            .handle
            .start_run("octo", "clock", "tick-a.yml")
            .unwrap();
        github
            .handle
            .finish_run(run.id, Conclusion::Failure)
            .unwrap();
    }
    let ran = guard(&github, &["--chain", "tick-a"]).await;
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(reports(&ran), [["tick-a", "failing", "left_alone"]]);
    assert_eq!(github.handle.dispatches(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_permission_is_reported_with_what_to_write() {
    let mut setup = setup();
    setup.tokens[0].actions = Permission::Read;
    let (github, _stop) = github(setup).await;
    let ran = guard(&github, &["--chain", "tick-a"]).await;
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.notes.contains("permissions: actions: write"), "{ran}");
    let both = guard(&github, &[]).await;
    assert_eq!(reports(&both).len(), 2, "{both}");
    assert_eq!(both.notes.matches("hint: ").count(), 1, "{both}");
}

async fn github_at(setup: Setup, clock: Clock) -> (Running, tokio_util::sync::DropGuard) {
    use almanack_lab::github::{Config, start};
    let stop = tokio_util::sync::CancellationToken::new();
    let config = Config {
        setup,
        clock,
        ..Config::new(([127, 0, 0, 1], 0).into())
    };
    (
        start(config, stop.clone()).await.unwrap(),
        stop.drop_guard(),
    )
}
