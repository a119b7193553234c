//! The control API: the same as the handle, for other processes.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Answer, GithubStand, answer};

async fn control(github: &GithubStand, method: Method, path: &str, body: Value) -> Answer {
    let request = github.bare(method, &format!("/_world{path}"));
    answer(request.json(&body)).await
}

async fn look(github: &GithubStand, path: &str) -> Value {
    let seen = control(github, Method::GET, path, json!({})).await;
    assert_eq!(seen.status, 200, "{path}");
    seen.body
}

async fn change(github: &GithubStand, method: Method, path: &str, body: Value) {
    let done = control(github, method, path, body).await;
    assert_eq!(done.status, 204, "{path}: {done:?}");
}

#[tokio::test]
async fn another_process_sets_up_injects_faults_and_inspects() {
    let github = GithubStand::start().await;
    let token = json!({ "name": "new", "secret": "s-new", "repositories": ["a/b"] });
    change(&github, Method::POST, "/tokens", token).await;
    let repository = json!({ "owner": "a", "name": "b", "workflows": [{ "file": "w.yml" }] });
    change(&github, Method::POST, "/repositories", repository).await;
    let fault = json!({
        "matching": { "path": "/dispatches", "token": "new" },
        "when": { "next": 1 },
        "effect": { "status": 503 },
    });
    change(&github, Method::POST, "/faults", fault.clone()).await;
    assert_eq!(look(&github, "/faults").await[0]["when"], fault["when"]);

    let path = "/repos/a/b/actions/workflows/w.yml/dispatches";
    let dispatch = || {
        let request = github.ask(Method::POST, path, "s-new");
        answer(request.json(&json!({ "ref": "main" })))
    };
    assert_eq!(dispatch().await.status, 503);
    assert_eq!(dispatch().await.status, 204);
    let dispatches = look(&github, "/dispatches").await;
    assert_eq!(dispatches.as_array().unwrap().len(), 1);
    assert_eq!(dispatches[0]["token"], "new");
    let run = dispatches[0]["run_id"].clone();
    let counts = look(&github, "/requests").await["counts"].clone();
    assert_eq!(counts.as_array().unwrap().len(), 2, "{counts}");
    assert!(counts.to_string().contains("\"status\":503"), "{counts}");

    let ended = json!({ "status": "completed", "conclusion": "success" });
    let set = control(&github, Method::PATCH, &format!("/runs/{run}"), ended).await;
    assert_eq!(
        (set.status, &set.body["conclusion"]),
        (200, &json!("success"))
    );
    let body = json!({ "workflow": "w.yml" });
    let started = control(&github, Method::POST, "/repos/a/b/runs", body).await;
    assert_eq!(
        (started.status, &started.body["status"]),
        (201, &json!("queued"))
    );
    assert_eq!(look(&github, "/repos/a/b/runs").await[1]["id"], run);
    assert!(look(&github, "/repos/a/b/refs").await["refs/heads/main"].is_string());
}

#[tokio::test]
async fn limits_are_set_and_faults_lifted_from_outside() {
    let github = GithubStand::start().await;
    let fault = json!({ "when": "always", "effect": "drop_reply" });
    change(&github, Method::POST, "/faults", fault).await;
    change(&github, Method::DELETE, "/faults", json!({})).await;
    let limit = json!({ "token": "chain", "resource": "core", "remaining": 0 });
    change(&github, Method::PUT, "/limits", limit).await;
    assert_eq!(github.get("/repos/octo/clock").await.status, 403);
    let unknown = json!({ "token": "none", "resource": "core", "remaining": 0 });
    let unknown = control(&github, Method::PUT, "/limits", unknown).await;
    assert_eq!(unknown.status, 404);
    let newest = look(&github, "/requests").await["newest"].clone();
    assert_eq!(
        newest.as_array().unwrap().len(),
        1,
        "control is not counted"
    );
    assert!(
        !newest.to_string().contains("s-chain"),
        "no secret is shown"
    );
    let welcome = look(&github, "/").await;
    assert!(welcome.as_str().unwrap().contains("/_world/dispatches"));
}
