//! Workers over HTTP: claim, extend, finish, release (WK-01).

use almanack_core::{
    store::{ClaimRequest, TaskStore, TokenStore},
    task::Status,
    token::Scope,
};
use almanack_server::{access::Access, token};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::fixture::{PUBLISH, START, at, claim_request, identity, kind};
use axum::http::Method;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::harness::{Answer, MAIL, World, with};

const CLAIM: &str = "/api/v1/work/claim";
const EXTEND: &str = "/api/v1/work/extend";
const FINISH: &str = "/api/v1/work/finish";
const RELEASE: &str = "/api/v1/work/release";

impl World {
    async fn mail(&self, subject: &str, minute: i64) {
        let due_at = START + SignedDuration::from_mins(minute);
        let body = json!({ "execute_at": due_at, "payload": {"to": subject} });
        let path = format!("/api/v1/tasks/{MAIL}/{subject}");
        let answer = self.put(&path, &body.to_string()).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
    }

    async fn claims(&self, body: Value) -> Vec<Value> {
        let answer = self.post(CLAIM, &body.to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()["tasks"].as_array().unwrap().clone()
    }

    /// Reports, and what became of it.
    async fn says(&self, path: &str, body: Value) -> Vec<String> {
        let answer = self.post(path, &body.to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let tasks = answer.json()["tasks"].as_array().unwrap().clone();
        let results = tasks.iter().map(|task| task["result"].as_str().unwrap());
        results.map(str::to_owned).collect()
    }

    async fn mailed(&self, subject: &str) -> almanack_core::task::Task {
        let rows = self.store.load_current(&[identity(subject, MAIL)]).await;
        rows.unwrap().remove(0).unwrap()
    }

    /// Takes back what is left of dead workers, as a node's keeper does.
    async fn keeps(&self) {
        let now = almanack_core::time::Clock::now(&*self.clock);
        for claim in self.store.load_expired(now, 10).await.unwrap() {
            for task in &claim.tasks {
                self.end(task, &almanack_core::finish::Outcome::LeaseExpired)
                    .await;
            }
            self.store.release_claims(&[claim.claim_id]).await.unwrap();
        }
    }
}

fn held(task: &Value) -> Value {
    json!({ "task_id": task["task_id"], "term": task["term"] })
}

fn report(task: &Value, outcome: &str) -> Value {
    json!({ "task_id": task["task_id"], "term": task["term"], "outcome": outcome })
}

#[tokio::test]
async fn wk_01_a_worker_takes_tasks_and_reports_about_them() {
    let world = World::open();
    for subject in ["user:1", "user:2", "user:3", "user:4"] {
        world.mail(subject, 0).await;
    }
    world.mail("user:later", 60).await;
    let body = json!({"kinds": [MAIL], "max": 10, "lease_s": 60, "worker": "mail-1"});
    let tasks = world.claims(body).await;
    assert_eq!(tasks.len(), 4, "what is not due is not taken");
    assert_eq!(
        tasks[0],
        json!({
            "task_id": tasks[0]["task_id"], "term": 1, "kind": MAIL, "subject": "user:1",
            "attempt": 1, "max_retry": 3, "execute_at": START, "payload": {"to": "user:1"},
            "revision": 0, "lease_until": at(60),
        })
    );
    let running = world.mailed("user:1").await;
    assert_eq!(running.node.as_deref(), Some("mail-1"), "people see who");
    let mut again = report(&tasks[1], "again");
    again["at"] = json!(at(300));
    let mut retry = report(&tasks[2], "retry");
    retry["retry_after_s"] = json!(90);
    retry["detail"] = json!("451 try later");
    let mut done = report(&tasks[0], "done");
    done["detail"] = json!("250 OK");
    let reports = json!({"tasks": [done, again, retry, report(&tasks[3], "give_up")]});
    assert_eq!(world.says(FINISH, reports).await, ["applied"; 4]);
    let done = world.mailed("user:1").await;
    assert_eq!(
        (done.status, done.detail.as_deref()),
        (Status::Success, Some("250 OK"))
    );
    let again = world.mailed("user:2").await;
    assert_eq!((again.status, again.due_at), (Status::Init, Some(at(300))));
    let retry = world.mailed("user:3").await;
    assert_eq!(retry.detail.as_deref(), Some("451 try later"));
    assert!(retry.due_at.unwrap() >= at(90), "{retry:?}");
    let given_up = world.mailed("user:4").await;
    assert_eq!((given_up.status, given_up.due_at), (Status::Fail, None));
    assert_eq!(
        world
            .store
            .load_expired(jiff::Timestamp::MAX, 10)
            .await
            .unwrap(),
        [],
        "a claim whose tasks have ended is forgotten"
    );
}

#[tokio::test]
async fn wk_01_an_old_term_changes_nothing() {
    let world = World::open();
    world.mail("user:1", 0).await;
    let ask = json!({"kinds": [MAIL], "lease_s": 30});
    let first = world.claims(ask.clone()).await.remove(0);
    world.clock.set(at(31));
    assert_eq!(
        world.says(EXTEND, json!({"tasks": [held(&first)]})).await,
        ["lost"],
        "a lease that has passed is not revived"
    );
    world.keeps().await;
    let second = world.claims(ask).await.remove(0);
    assert_eq!(
        (&second["term"], &second["attempt"]),
        (&json!(2), &json!(2))
    );
    let before = world.mailed("user:1").await;
    for path in [FINISH, RELEASE] {
        let body = match path {
            FINISH => json!({"tasks": [report(&first, "done")]}),
            _ => json!({"tasks": [held(&first)]}),
        };
        assert_eq!(world.says(path, body).await, ["late"], "{path}");
        assert_eq!(world.mailed("user:1").await, before);
    }
    let history = world
        .get(&format!("/api/v1/tasks/{MAIL}/user:1/history"))
        .await;
    assert!(history.body.contains("late_outcome"), "{}", history.body);
    let done = json!({"tasks": [report(&second, "done")]});
    assert_eq!(world.says(FINISH, done.clone()).await, ["applied"]);
    assert_eq!(world.says(FINISH, done).await, ["late"], "only once");
    assert_eq!(world.mailed("user:1").await.status, Status::Success);
}

#[tokio::test]
async fn wk_01_extending_keeps_a_task_and_releasing_gives_it_back() {
    let world = World::open();
    world.mail("user:1", 0).await;
    let task = world
        .claims(json!({"kinds": [MAIL], "lease_s": 30}))
        .await
        .remove(0);
    world.clock.set(at(20));
    let body = json!({"tasks": [held(&task), {"task_id": 404, "term": 1}], "lease_s": 60});
    let answer = world.post(EXTEND, &body.to_string()).await.json();
    assert_eq!(answer["tasks"][0]["result"], "extended");
    assert_eq!(answer["tasks"][0]["lease_until"], json!(at(80)));
    assert_eq!(answer["tasks"][1]["result"], "lost");
    world.clock.set(at(70));
    world.keeps().await;
    assert_eq!(world.mailed("user:1").await.status, Status::Running);
    let body = json!({"tasks": [held(&task)]});
    assert_eq!(world.says(RELEASE, body).await, ["applied"]);
    let back = world.mailed("user:1").await;
    assert_eq!(
        (back.status, back.attempt),
        (Status::Init, 0),
        "no attempt counts"
    );
}

#[tokio::test]
async fn wk_01_a_task_that_was_cancelled_is_lost() {
    let world = World::open();
    world.mail("user:1", 0).await;
    let task = world.claims(json!({"kinds": [MAIL]})).await.remove(0);
    let gone = world.delete(&format!("/api/v1/tasks/{MAIL}/user:1")).await;
    assert_eq!(gone.status, 200, "{}", gone.body);
    assert_eq!(
        world.says(EXTEND, json!({"tasks": [held(&task)]})).await,
        ["lost"]
    );
    let late = json!({"tasks": [report(&task, "done")]});
    assert_eq!(world.says(FINISH, late).await, ["late"]);
    assert_eq!(world.mailed("user:1").await.status, Status::Cancelled);
}

/// What a node runs cannot be ended here, whatever number and term a worker shows.
#[tokio::test]
async fn wk_01_sf_04_a_worker_reaches_only_what_workers_took() {
    let world = World::open();
    world
        .put(
            "/api/v1/tasks/ARTICLE_PUBLISH/article:1",
            r#"{"execute_at":"2026-01-05T08:00:00Z"}"#,
        )
        .await;
    world.mail("user:1", 0).await;
    for (claim, pulled) in [(7, PUBLISH), (8, MAIL)] {
        let request = ClaimRequest {
            kinds: vec![kind(pulled)],
            ..claim_request(claim, START, 1)
        };
        let task = world.store.claim(request).await.unwrap().tasks.remove(0);
        let shown = json!({"task_id": task.id, "term": task.term});
        let report = report(&shown, "done");
        assert_eq!(
            world.says(FINISH, json!({"tasks": [report]})).await,
            ["late"]
        );
        assert_eq!(
            world.says(RELEASE, json!({"tasks": [shown.clone()]})).await,
            ["late"]
        );
        assert_eq!(
            world.says(EXTEND, json!({"tasks": [shown]})).await,
            ["lost"]
        );
        let row = world.store.load_task(task.id).await.unwrap().unwrap();
        assert_eq!(row.status, Status::Running, "{pulled}");
    }
    for (kinds, status, code) in [
        (json!([PUBLISH]), 409, "not_pulled"),
        (json!(["UNHEARD_OF"]), 409, "not_pulled"),
        (json!(["DISPATCH"]), 422, "invalid_value"),
        (json!([MAIL, "EVENT_DELIVERY"]), 422, "invalid_value"),
    ] {
        let answer = world
            .post(CLAIM, &json!({"kinds": kinds}).to_string())
            .await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code));
    }
    let answer = world
        .post(CLAIM, &json!({"kinds": [PUBLISH]}).to_string())
        .await;
    assert!(
        answer.body.contains(r#"deliver = \"pull\""#),
        "says how: {}",
        answer.body
    );
}

#[tokio::test]
async fn wk_01_a_wait_ends_when_something_is_due_or_when_it_is_over() {
    let world = World::open();
    let ask = json!({"kinds": [MAIL], "wait_s": 30});
    assert_eq!(world.claims(ask.clone()).await, Vec::<Value>::new());
    let now = almanack_core::time::Clock::now(&*world.clock);
    assert_eq!(now, at(30), "it waited");
    world.mail("user:1", 1).await;
    let tasks = world.claims(ask).await;
    assert_eq!(tasks.len(), 1);
    let now = almanack_core::time::Clock::now(&*world.clock);
    assert_eq!(now, at(60), "neither earlier nor later than it is due");
}

#[tokio::test]
async fn wk_01_bad_requests_change_nothing_and_name_the_value() {
    let world = World::open();
    world.mail("user:1", 0).await;
    let task = world.claims(json!({"kinds": [MAIL]})).await.remove(0);
    let before = world.rows().await;
    let one = |report: Value| json!({"tasks": [report]});
    let mut timed = report(&task, "done");
    timed["at"] = json!("2026-01-05T09:00:00Z");
    let mut odd = report(&task, "done");
    odd["colour"] = json!("red");
    for (path, body, place) in [
        (CLAIM, json!({"kinds": []}), "kinds"),
        (CLAIM, json!({"kinds": [MAIL], "max": 0}), "max"),
        (CLAIM, json!({"kinds": [MAIL], "wait_s": 31}), "wait_s"),
        (CLAIM, json!({"kinds": [MAIL], "lease_s": 1}), "lease_s"),
        (CLAIM, json!({"kinds": [MAIL], "worker": "a b"}), "worker"),
        (EXTEND, json!({"tasks": []}), "tasks"),
        (
            EXTEND,
            json!({"tasks": [held(&task)], "lease_s": 9999}),
            "lease_s",
        ),
        (
            FINISH,
            json!({"tasks": [report(&task, "done"), report(&task, "done")]}),
            "tasks[1].task_id",
        ),
        (FINISH, one(report(&task, "again")), "tasks[0].at"),
        (FINISH, one(timed), "tasks[0].at"),
        (FINISH, one(report(&task, "finished")), "tasks[0].outcome"),
        (FINISH, one(odd), "tasks[0].colour"),
        (RELEASE, json!({"tasks": []}), "tasks"),
    ] {
        let answer = world.post(path, &body.to_string()).await;
        assert!(
            (400..500).contains(&answer.status),
            "{body}: {}",
            answer.body
        );
        answer.code();
        assert_eq!(answer.json()["path"], place, "{body}: {}", answer.body);
    }
    assert_eq!(world.rows().await, before);
}

#[tokio::test]
async fn wk_01_a_pulled_kind_needs_no_callback_and_refuses_one() {
    let world = World::open();
    let body = r#"{"execute_at":"2026-01-05T09:00:00Z","callback":{"url":"https://a.example/"}}"#;
    let answer = world
        .put(&format!("/api/v1/tasks/{MAIL}/user:1"), body)
        .await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (422, "invalid_value")
    );
    assert_eq!(answer.json()["path"], "callback.url");
    assert_eq!(world.rows().await, []);
}

/// Like a browser's tab of tokens: one for each scope.
#[tokio::test]
async fn wk_01_sf_03_the_scope_work_allows_this_and_nothing_else() {
    let store = SqliteStore::in_memory().unwrap();
    for scope in Scope::ALL {
        let about = token::about(scope.as_str(), &secret(scope), scope, START, None);
        store.save_token(&about).await.unwrap();
    }
    let world = World::with(store, Access::Tokens);
    let ask = async |scope: Scope, method: Method, path: &str, body: &str| -> Answer {
        let bearer = format!("Bearer {}", secret(scope));
        let headers = [
            ("content-type", "application/json"),
            ("authorization", bearer.as_str()),
        ];
        world.send(with(method, path, body, &headers)).await
    };
    let claim = json!({"kinds": [MAIL]}).to_string();
    for (scope, status) in [
        (Scope::Work, 200),
        (Scope::Read, 403),
        (Scope::Operate, 200),
        (Scope::Admin, 200),
    ] {
        let answer = ask(scope, Method::POST, CLAIM, &claim).await;
        assert_eq!(answer.status, status, "{scope}: {}", answer.body);
    }
    for (method, path) in [
        (Method::GET, "/api/v1/tasks"),
        (Method::GET, "/api/v1/nodes"),
        (Method::GET, "/metrics"),
        (Method::PUT, "/api/v1/tasks/ARTICLE_PUBLISH/article:1"),
        (Method::POST, "/api/v1/tasks:lookup"),
        (Method::POST, "/tick"),
        (Method::GET, "/api/v1/tokens"),
    ] {
        let answer = ask(Scope::Work, method, path, "{}").await;
        assert_eq!(answer.status, 403, "{path}: {}", answer.body);
        assert_eq!(answer.code(), "scope_too_small", "{path}");
    }
    // Without a name of its own, a worker is known by its token.
    ask(
        Scope::Operate,
        Method::PUT,
        &format!("/api/v1/tasks/{MAIL}/user:1"),
        &json!({"execute_at": START}).to_string(),
    )
    .await;
    ask(Scope::Work, Method::POST, CLAIM, &claim).await;
    assert_eq!(world.mailed("user:1").await.node.as_deref(), Some("work"));
}

fn secret(scope: Scope) -> String {
    format!("alm_{scope}")
}
