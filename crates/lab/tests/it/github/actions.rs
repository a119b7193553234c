//! Workflows: dispatched, listed, cancelled, and executed by a test as the runner.

use almanack_lab::github::state::run::{Conclusion, RunEvent, Status};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Answer, GithubStand, REPO, answer};
use crate::support::within;

fn workflow(file: &str) -> String {
    format!("{REPO}/actions/workflows/{file}")
}

async fn dispatch(github: &GithubStand, file: &str) -> Answer {
    let path = format!("{}/dispatches", workflow(file));
    github.post(&path, json!({ "ref": "main" })).await
}

async fn dispatch_target(github: &GithubStand, file: &str, body: Value) -> Answer {
    let path = format!("/repos/octo/target/actions/workflows/{file}/dispatches");
    answer(github.ask(Method::POST, &path, "s-trigger").json(&body)).await
}

fn ids(answer: &Answer) -> Vec<u64> {
    let runs = answer.body["workflow_runs"].as_array().unwrap().iter();
    runs.map(|run| run["id"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn dp_11_a_dispatch_is_taken_once_and_remembered_as_it_came() {
    let github = GithubStand::start().await;
    let inputs = json!({ "slot": "202601050800", "city": "Kyōto" });
    let body = json!({ "ref": "main", "inputs": inputs });
    let taken = dispatch_target(&github, "publish.yml", body).await;
    assert_eq!((taken.status, &taken.body), (204, &json!("")));
    github.clock.advance(10);
    assert_eq!(dispatch(&github, "tick-b.yml").await.status, 204);

    let [first, second] = &github.handle().dispatches()[..] else {
        panic!("two dispatches");
    };
    assert_eq!((first.sequence, &*first.token), (1, "trigger"));
    assert_eq!(
        (&*first.repository, &*first.workflow),
        ("octo/target", "publish.yml")
    );
    assert_eq!(
        (&*first.git_ref, json!(first.inputs)),
        ("main", inputs.clone())
    );
    assert_eq!((second.sequence, &*second.token), (2, "chain"));
    assert_eq!(second.at, github.clock.now());
    let run = &github.handle().runs("octo", "target")[0];
    assert_eq!((run.id, run.status), (first.run_id, Status::Queued));
    assert_eq!(json!(run.inputs), inputs);
}

#[tokio::test]
async fn a_dispatch_answers_its_run_to_those_who_ask_for_it() {
    let github = GithubStand::start().await;
    let path = format!("{}/dispatches", workflow("tick-b.yml"));
    for (details, status) in [(false, 204), (true, 200)] {
        let body = json!({ "ref": "main", "return_run_details": details });
        let taken = github.post(&path, body).await;
        assert_eq!(taken.status, status, "{details}");
        if details {
            let newest = &github.handle().runs("octo", "clock")[0];
            assert_eq!(taken.body["workflow_run_id"], newest.id);
        }
    }
}

#[tokio::test]
async fn what_cannot_be_dispatched_is_refused_with_githubs_reason() {
    let github = GithubStand::start().await;
    let city = json!({ "city": "Kyōto" });
    let many: serde_json::Map<String, Value> =
        (0..26).map(|n| (format!("i{n}"), json!("x"))).collect();
    for (file, body, status, message) in [
        ("none.yml", json!({ "ref": "main" }), 404, "Not Found"),
        (
            "ci.yml",
            json!({ "ref": "main" }),
            422,
            "Workflow does not have 'workflow_dispatch' trigger",
        ),
        (
            "publish.yml",
            json!({ "ref": "none", "inputs": city }),
            422,
            "No ref found for: none",
        ),
        (
            "publish.yml",
            json!({ "inputs": city }),
            422,
            "Invalid request.\n\n\"ref\" wasn't supplied.",
        ),
        (
            "publish.yml",
            json!({ "ref": "main", "inputs": { "city": "x", "a": "1", "b": "2" } }),
            422,
            "Unexpected inputs provided: [\"a\", \"b\"]",
        ),
        (
            "publish.yml",
            json!({ "ref": "main" }),
            422,
            "Required input 'city' not provided",
        ),
        (
            "publish.yml",
            json!({ "ref": "main", "inputs": many }),
            422,
            "No more than 25 properties are allowed",
        ),
    ] {
        let refused = dispatch_target(&github, file, body.clone()).await;
        assert_eq!(refused.refusal(), (status, message), "{file} {body}");
    }
    assert_eq!(github.handle().dispatches(), []);
    assert_eq!(github.handle().runs("octo", "target"), []);
}

#[tokio::test]
async fn runs_are_listed_newest_first_and_filtered() {
    let github = GithubStand::start().await;
    let handle = github.handle();
    let old = handle.start_run("octo", "clock", "tick-b.yml").unwrap().id;
    handle.finish_run(old, Conclusion::Failure).unwrap();
    let running = handle.start_run("octo", "clock", "tick-b.yml").unwrap().id;
    handle.begin_run(running).unwrap();
    handle.start_run("octo", "clock", "tick-a.yml").unwrap();

    let runs = format!("{}/runs", workflow("tick-b.yml"));
    let all = github.get(&runs).await;
    assert_eq!(all.body["total_count"], 2);
    assert_eq!(ids(&all), [running, old]);
    let run = &all.body["workflow_runs"][0];
    assert_eq!(run["status"], "in_progress");
    assert_eq!(run["conclusion"], Value::Null);
    assert_eq!(run["event"], "push");
    assert_eq!(run["head_branch"], "main");
    assert_eq!(run["created_at"], "2026-01-05T08:00:00Z");
    let page = format!("{}/octo/clock/actions/runs/{running}", github.running.url());
    assert_eq!(run["html_url"], page);

    for (query, expected) in [
        ("status=in_progress", vec![running]),
        ("status=completed", vec![old]),
        ("status=failure", vec![old]),
        ("status=queued", vec![]),
        ("branch=draft", vec![]),
        ("branch=main&event=push", vec![running, old]),
        ("event=workflow_dispatch", vec![]),
        ("per_page=1", vec![running]),
        ("per_page=1&page=2", vec![old]),
    ] {
        let found = github.get(&format!("{runs}?{query}")).await;
        assert_eq!(ids(&found), expected, "{query}");
    }
    let unknown = github.get(&format!("{}/runs", workflow("none.yml"))).await;
    assert_eq!(unknown.refusal(), (404, "Not Found"));
}

#[tokio::test]
async fn a_run_is_cancelled_while_it_has_not_ended() {
    let github = GithubStand::start().await;
    let mut runner = github.handle().runner();
    let run = github
        .handle()
        .start_run("octo", "clock", "tick-b.yml")
        .unwrap();
    let path = format!("{REPO}/actions/runs/{}/cancel", run.id);
    let cancelled = github.post(&path, json!({})).await;
    assert_eq!((cancelled.status, &cancelled.body), (202, &json!({})));
    let again = github.post(&path, json!({})).await;
    let message = "Cannot cancel a workflow run that is completed.";
    assert_eq!(again.refusal(), (409, message));
    let unknown = github
        .post(&format!("{REPO}/actions/runs/1/cancel"), json!({}))
        .await;
    assert_eq!(unknown.refusal(), (404, "Not Found"));

    assert_eq!(runner.try_recv().unwrap(), RunEvent::Queued(run.clone()));
    let RunEvent::Cancelled(ended) = runner.try_recv().unwrap() else {
        panic!("the runner must be notified");
    };
    assert_eq!(
        (ended.id, ended.conclusion),
        (run.id, Some(Conclusion::Cancelled))
    );
}

#[tokio::test]
async fn a_test_can_be_the_runner() {
    let github = GithubStand::start().await;
    let mut runner = github.handle().runner();
    dispatch(&github, "tick-a.yml").await;
    let Some(RunEvent::Queued(first)) = within(runner.recv()).await else {
        panic!("the first run is queued");
    };
    github.handle().begin_run(first.id).unwrap();
    dispatch(&github, "tick-a.yml").await;
    let Some(RunEvent::Cancelled(cancelled)) = within(runner.recv()).await else {
        panic!("the workflow lets only the newest run live");
    };
    assert_eq!(cancelled.id, first.id);
    let Some(RunEvent::Queued(second)) = within(runner.recv()).await else {
        panic!("the second run is queued");
    };
    github
        .handle()
        .finish_run(second.id, Conclusion::Success)
        .unwrap();
    let listed = github
        .get(&format!("{}/runs?status=success", workflow("tick-a.yml")))
        .await;
    assert_eq!(ids(&listed), [second.id]);
}

#[tokio::test]
async fn a_waiting_test_is_woken_by_a_dispatch() {
    let github = GithubStand::start().await;
    let handle = github.handle().clone();
    let waiting = tokio::spawn(async move {
        handle.until(|github| !github.dispatches().is_empty()).await;
    });
    dispatch(&github, "tick-a.yml").await;
    within(waiting).await.unwrap();
}
