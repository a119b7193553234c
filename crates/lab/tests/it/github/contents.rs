//! Files: what a write must say about the version it replaces.

use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Answer, Hub, REPO, answer};

/// `printf 'hello\n' | git hash-object --stdin`
const HELLO: &str = "ce013625030ba8dba906f756967f9e9ca394464a";

fn path(file: &str) -> String {
    format!("{REPO}/contents/{file}")
}

async fn put(hub: &Hub, file: &str, more: Value) -> Answer {
    let mut body = json!({ "message": "write", "content": STANDARD.encode("hello\n") });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    hub.send(Method::PUT, &path(file), body).await
}

#[tokio::test]
async fn a_file_is_created_read_replaced_and_deleted() {
    let hub = Hub::start().await;
    let first = hub.head();
    let created = put(&hub, "daily/2026-01-05.md", json!({})).await;
    assert_eq!(created.status, 201);
    let content = &created.body["content"];
    assert_eq!(content["path"], "daily/2026-01-05.md");
    assert_eq!(content["name"], "2026-01-05.md");
    assert_eq!(
        (&content["sha"], &content["size"]),
        (&json!(HELLO), &json!(6))
    );
    assert_eq!(content.get("content"), None);
    let commit = &created.body["commit"];
    assert_eq!(
        (&commit["message"], &commit["sha"]),
        (&json!("write"), &json!(hub.head()))
    );
    assert_eq!(commit["parents"][0]["sha"], first);
    assert_eq!(commit["author"]["date"], "2026-01-05T08:00:00Z");

    let read = hub.get(&path("daily/2026-01-05.md")).await;
    assert_eq!(
        (&read.body["type"], &read.body["sha"]),
        (&json!("file"), &json!(HELLO))
    );
    assert_eq!(read.body["encoding"], "base64");
    assert_eq!(
        read.body["content"], "aGVsbG8K\n",
        "GitHub ends each line of Base64"
    );

    let more = json!({ "sha": HELLO, "content": STANDARD.encode("bye\n") });
    let replaced = put(&hub, "daily/2026-01-05.md", more).await;
    assert_eq!(replaced.status, 200);
    let sha = replaced.body["content"]["sha"].clone();
    let body = json!({ "message": "remove", "sha": sha });
    let removed = hub
        .send(Method::DELETE, &path("daily/2026-01-05.md"), body.clone())
        .await;
    assert_eq!(
        (removed.status, &removed.body["content"]),
        (200, &Value::Null)
    );
    assert_eq!(removed.body["commit"]["sha"], hub.head());
    let gone = hub.get(&path("daily/2026-01-05.md")).await;
    assert_eq!(gone.refusal(), (404, "Not Found"));
    let again = hub
        .send(Method::DELETE, &path("daily/2026-01-05.md"), body)
        .await;
    assert_eq!(again.refusal(), (404, "Not Found"));
    let old = hub
        .get(&format!("{}?ref={first}", path("daily/2026-01-05.md")))
        .await;
    assert_eq!(
        old.refusal(),
        (404, "Not Found"),
        "not there yet in the first commit"
    );
}

#[tokio::test]
async fn a_write_over_a_file_must_name_the_version_it_replaces() {
    let hub = Hub::start().await;
    put(&hub, "a.md", json!({})).await;
    let head = hub.head();
    let mismatch = |sha: &str| format!("a.md does not match {sha}");
    for (more, status, message) in [
        (
            json!({}),
            422,
            "Invalid request.\n\n\"sha\" wasn't supplied.".to_owned(),
        ),
        (
            json!({ "sha": null }),
            422,
            "Invalid request.\n\nFor 'properties/sha', nil is not a string.".to_owned(),
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
        let refused = put(&hub, "a.md", more.clone()).await;
        assert_eq!(refused.refusal(), (status, &*message), "{more}");
    }
    assert_eq!(hub.head(), head, "a refused write leaves no commit");
    let bare = hub.send(Method::PUT, &path("b.md"), json!({})).await;
    let missing = "Invalid request.\n\n\"content\", \"message\" weren't supplied.";
    assert_eq!(bare.refusal(), (422, missing));
    let malformed = put(&hub, "a/.git/b", json!({})).await;
    assert_eq!(
        malformed.refusal(),
        (422, "path contains a malformed path component")
    );

    let new = put(&hub, "b.md", json!({ "sha": "deadbeef" })).await;
    assert_eq!(new.status, 201, "for a new file the version is ignored");
    let delete = |body: Value| hub.send(Method::DELETE, "/repos/octo/clock/contents/a.md", body);
    let refused = delete(json!({ "message": "m" })).await;
    assert_eq!(
        refused.refusal(),
        (422, "Invalid request.\n\n\"sha\" wasn't supplied.")
    );
    let refused = delete(json!({ "message": "m", "sha": "deadbeef" })).await;
    assert_eq!(refused.refusal(), (409, "a.md does not match deadbeef"));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_twenty_writers_of_one_version_exactly_one_wins() {
    let hub = Hub::start().await;
    put(&hub, "a.md", json!({})).await;
    let mut racing = tokio::task::JoinSet::new();
    for writer in 0..20 {
        let content = STANDARD.encode(format!("writer {writer}"));
        let body = json!({ "message": "m", "content": content, "sha": HELLO });
        let request = hub.ask(Method::PUT, &path("a.md"), "s-chain");
        racing.spawn(answer(request.json(&body)));
    }
    let answers = racing.join_all().await;
    let of = |status| answers.iter().filter(|it| it.status == status).count();
    assert_eq!((of(200), of(409)), (1, 19));
}

#[tokio::test]
async fn branches_are_apart() {
    let hub = Hub::start().await;
    put(&hub, "a.md", json!({ "branch": "draft" })).await;
    assert_eq!(hub.get(&path("a.md")).await.status, 404);
    for at in [
        "draft",
        "refs/heads/draft",
        &hub.handle().refs("octo", "clock")["refs/heads/draft"],
    ] {
        let read = hub.get(&format!("{}?ref={at}", path("a.md"))).await;
        assert_eq!(read.status, 200, "{at}");
    }
    let nowhere = hub.get(&format!("{}?ref=none", path("a.md"))).await;
    assert_eq!(nowhere.refusal(), (404, "No commit found for the ref none"));
    let file = |branch| hub.handle().file("octo", "clock", branch, "a.md");
    assert_eq!(
        (file("main"), file("draft")),
        (None, Some(b"hello\n".to_vec()))
    );
}

#[tokio::test]
async fn folders_are_listed_and_files_come_raw_on_request() {
    let hub = Hub::start().await;
    for file in ["z.md", "日报/一 月.md", "日报/deep/a.md"] {
        assert_eq!(put(&hub, file, json!({})).await.status, 201, "{file}");
    }
    let listed = |answer: &Answer| -> Vec<(Value, Value)> {
        let entries = answer.body.as_array().unwrap().iter();
        entries
            .map(|it| (it["type"].clone(), it["path"].clone()))
            .collect()
    };
    let pair = |kind: &str, path: &str| (json!(kind), json!(path));
    let root = hub.get(&format!("{REPO}/contents")).await;
    assert_eq!(listed(&root), [pair("file", "z.md"), pair("dir", "日报")]);
    let folder = hub.get(&path("日报")).await;
    assert_eq!(
        listed(&folder),
        [pair("dir", "日报/deep"), pair("file", "日报/一 月.md")]
    );
    let url = folder.body[1]["url"].as_str().unwrap();
    let url = url.trim_start_matches(&hub.running.url());
    let raw = hub.ask(Method::GET, url, "s-chain");
    let raw = answer(raw.header("accept", "application/vnd.github.raw+json")).await;
    assert_eq!((raw.status, &raw.body), (200, &json!("hello\n")));
    let collides = put(&hub, "z.md/below", json!({})).await;
    assert_eq!(collides.status, 422, "a file is no folder");
}

#[tokio::test]
async fn large_files_come_without_content() {
    let hub = Hub::start().await;
    let large = STANDARD.encode(vec![b'x'; 1024 * 1024 + 1]);
    assert_eq!(
        put(&hub, "large", json!({ "content": large })).await.status,
        201
    );
    let read = hub.get(&path("large")).await;
    assert_eq!(
        (&read.body["encoding"], &read.body["content"]),
        (&json!("none"), &json!(""))
    );
    assert_eq!(read.body["size"], 1024 * 1024 + 1);
}
