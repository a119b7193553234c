//! Files: a write must name the version it replaces.

use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Answer, GithubStand, REPO, answer};

/// `printf 'hello\n' | git hash-object --stdin`
const HELLO: &str = "ce013625030ba8dba906f756967f9e9ca394464a";

fn path(file: &str) -> String {
    format!("{REPO}/contents/{file}")
}

async fn put(github: &GithubStand, file: &str, more: Value) -> Answer {
    let mut body = json!({ "message": "write", "content": STANDARD.encode("hello\n") });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    github.send(Method::PUT, &path(file), body).await
}

#[tokio::test]
async fn a_file_is_created_read_and_replaced() {
    let github = GithubStand::start().await;
    let created = put(&github, "daily/2026-01-05.md", json!({})).await;
    assert_eq!(created.status, 201);
    let content = &created.body["content"];
    assert_eq!(content["path"], "daily/2026-01-05.md");
    assert_eq!(
        (&content["sha"], &content["size"]),
        (&json!(HELLO), &json!(6))
    );
    assert_eq!(content.get("content"), None);
    assert_eq!(created.body["commit"]["sha"], github.head());

    let read = github.get(&path("daily/2026-01-05.md")).await;
    assert_eq!(
        (&read.body["type"], &read.body["sha"]),
        (&json!("file"), &json!(HELLO))
    );
    assert_eq!(read.body["encoding"], "base64");
    assert_eq!(read.body["content"], "aGVsbG8K");

    let more = json!({ "sha": HELLO, "content": STANDARD.encode("bye\n") });
    let replaced = put(&github, "daily/2026-01-05.md", more).await;
    assert_eq!(replaced.status, 200);
}

#[tokio::test]
async fn a_write_over_a_file_must_name_the_version_it_replaces() {
    let github = GithubStand::start().await;
    put(&github, "a.md", json!({})).await;
    let head = github.head();
    let mismatch = |sha: &str| format!("a.md does not match {sha}");
    for (more, status, message) in [
        (
            json!({}),
            422,
            "Invalid request.\n\n\"sha\" wasn't supplied.".to_owned(),
        ),
        (json!({ "sha": "deadbeef" }), 409, mismatch("deadbeef")),
        (json!({ "sha": head }), 409, mismatch(&head)),
        (
            json!({ "content": "%%%" , "sha": HELLO }),
            422,
            "content is not valid Base64".to_owned(),
        ),
        (
            json!({ "branch": "none", "sha": "x" }),
            404,
            "Branch none not found".to_owned(),
        ),
    ] {
        let refused = put(&github, "a.md", more.clone()).await;
        assert_eq!(refused.refusal(), (status, &*message), "{more}");
    }
    assert_eq!(github.head(), head, "a refused write leaves no commit");
    let new = put(&github, "b.md", json!({ "sha": "deadbeef" })).await;
    assert_eq!(new.status, 201, "for a new file the version is ignored");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_twenty_writers_of_one_version_exactly_one_wins() {
    let github = GithubStand::start().await;
    put(&github, "a.md", json!({})).await;
    let mut racing = tokio::task::JoinSet::new();
    for writer in 0..20 {
        let content = STANDARD.encode(format!("writer {writer}"));
        let body = json!({ "message": "m", "content": content, "sha": HELLO });
        let request = github.ask(Method::PUT, &path("a.md"), "s-chain");
        racing.spawn(answer(request.json(&body)));
    }
    let answers = racing.join_all().await;
    let of = |status| answers.iter().filter(|it| it.status == status).count();
    assert_eq!((of(200), of(409)), (1, 19));
}

#[tokio::test]
async fn branches_are_apart() {
    let github = GithubStand::start().await;
    put(&github, "a.md", json!({ "branch": "draft" })).await;
    assert_eq!(github.get(&path("a.md")).await.status, 404);
    let read = github.get(&format!("{}?ref=draft", path("a.md"))).await;
    assert_eq!(read.status, 200);
    let nowhere = github.get(&format!("{}?ref=none", path("a.md"))).await;
    assert_eq!(nowhere.refusal(), (404, "Not Found"));
    let file = |branch| github.handle().file("octo", "clock", branch, "a.md");
    assert_eq!(
        (file("main"), file("draft")),
        (None, Some(b"hello\n".to_vec()))
    );
}
