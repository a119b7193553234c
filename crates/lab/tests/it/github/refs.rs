//! References: created at most once, listed in pages, deleted one by one.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Answer, GithubStand, REPO, answer};

fn refs() -> String {
    format!("{REPO}/git/refs")
}

async fn create(github: &GithubStand, name: &str) -> Answer {
    github
        .post(&refs(), json!({ "ref": name, "sha": github.head() }))
        .await
}

#[tokio::test]
async fn a_reference_is_created_shown_and_deleted() {
    let github = GithubStand::start().await;
    let created = create(&github, "refs/tags/lock/a-1").await;
    assert_eq!(created.status, 201);
    assert_eq!(created.body["ref"], "refs/tags/lock/a-1");
    assert_eq!(created.body["object"]["type"], "commit");
    assert_eq!(created.body["object"]["sha"], github.head());

    let path = format!("{REPO}/git/ref/tags/lock/a-1");
    let shown = github.get(&path).await;
    assert_eq!((shown.status, &shown.body), (200, &created.body));

    let one = format!("{}/tags/lock/a-1", refs());
    let deleted = github.send(Method::DELETE, &one, json!({})).await;
    assert_eq!((deleted.status, &deleted.body), (204, &json!("")));
    let again = github.send(Method::DELETE, &one, json!({})).await;
    assert_eq!(again.refusal(), (422, "Reference does not exist"));
    assert_eq!(github.get(&path).await.refusal(), (404, "Not Found"));
}

#[tokio::test(flavor = "multi_thread")]
async fn dp_05_of_twenty_creators_exactly_one_wins() {
    let github = GithubStand::start().await;
    let body = json!({ "ref": "refs/tags/lock/race", "sha": github.head() });
    let mut racing = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let request = github.ask(Method::POST, &refs(), "s-chain");
        racing.spawn(answer(request.json(&body)));
    }
    let answers = racing.join_all().await;
    let won = answers.iter().filter(|answer| answer.status == 201).count();
    let lost = (422, "Reference already exists");
    let lost = answers.iter().filter(|it| it.refusal() == lost).count();
    assert_eq!((won, lost), (1, 19));
}

#[tokio::test]
async fn what_cannot_be_created_is_refused_with_its_reason() {
    let github = GithubStand::start().await;
    create(&github, "refs/tags/lock/a").await;
    let (head, unknown) = (github.head(), "1".repeat(40));
    let body = |name: &str, sha: &str| json!({ "ref": name, "sha": sha });
    for (body, message) in [
        (body("refs/tags/lock/a", &head), "Reference already exists"),
        (body("refs/tags/b", &unknown), "Object does not exist"),
        (
            body("refs/tags/b", "main"),
            "The sha parameter must be exactly 40 characters and contain only [0-9a-f].",
        ),
        (
            body("tags/b", &head),
            "Reference name must start with 'refs/'.",
        ),
        (
            body("refs/tags/a b", &head),
            "refs/tags/a b is not a valid ref name.",
        ),
        (
            body("refs/tags/a..b", &head),
            "refs/tags/a..b is not a valid ref name.",
        ),
        (
            body("refs/tags/a.lock", &head),
            "refs/tags/a.lock is not a valid ref name.",
        ),
        (
            body("refs/tags//b", &head),
            "refs/tags//b is not a valid ref name.",
        ),
        (body("refs/tags/lock", &head), "Reference update failed"),
        (body("refs/tags/lock/a/b", &head), "Reference update failed"),
        (
            json!({ "ref": "refs/tags/b" }),
            "Invalid request.\n\n\"sha\" wasn't supplied.",
        ),
    ] {
        let refused = github.post(&refs(), body.clone()).await;
        assert_eq!(refused.refusal(), (422, message), "{body}");
        assert_eq!(refused.body["status"], "422");
    }
    let request = github.ask(Method::POST, &refs(), "s-chain").body("{ref");
    assert_eq!(
        answer(request).await.refusal(),
        (400, "Problems parsing JSON")
    );
    assert_eq!(
        github.handle().refs("octo", "clock").len(),
        3,
        "main, draft, one lock"
    );
}

#[tokio::test]
async fn matching_references_come_in_pages() {
    let github = GithubStand::start().await;
    for name in ["a-1", "a-2", "a-3", "b-1"] {
        create(&github, &format!("refs/tags/lock/{name}")).await;
    }
    let list = format!("{REPO}/git/matching-refs/tags/lock/a");
    let names = |answer: &Answer| -> Vec<Value> {
        let refs = answer.body.as_array().unwrap().iter();
        refs.map(|it| it["ref"].clone()).collect()
    };
    let all = github.get(&list).await;
    assert_eq!(
        names(&all),
        ["a-1", "a-2", "a-3"].map(|it| format!("refs/tags/lock/{it}"))
    );
    assert_eq!(all.header("link"), "");

    let first = github.get(&format!("{list}?per_page=2")).await;
    assert_eq!(names(&first), ["refs/tags/lock/a-1", "refs/tags/lock/a-2"]);
    let next = first.header("link").split('>').next().unwrap();
    assert!(first.header("link").contains("rel=\"next\""));
    let next = next
        .trim_start_matches('<')
        .trim_start_matches(&github.running.url());
    let second = github.get(next).await;
    assert_eq!(names(&second), ["refs/tags/lock/a-3"]);
    assert!(!second.header("link").contains("rel=\"next\""));

    let none = github
        .get(&format!("{REPO}/git/matching-refs/tags/none"))
        .await;
    assert_eq!((none.status, &none.body), (200, &json!([])));
}

#[tokio::test]
async fn a_reference_may_point_to_a_tag_object_of_ones_own() {
    let github = GithubStand::start().await;
    let tags = format!("{REPO}/git/tags");
    let tag = |message: &str, object: &str| json!({ "tag": "lock", "message": message, "object": object, "type": "commit" });
    let ours = github.post(&tags, tag("ours", &github.head())).await;
    let theirs = github.post(&tags, tag("theirs", &github.head())).await;
    assert_eq!((ours.status, theirs.status), (201, 201));
    assert_eq!(ours.body["object"]["sha"], github.head());
    assert_ne!(ours.body["sha"], theirs.body["sha"]);
    let body = json!({ "ref": "refs/tags/lock/a", "sha": ours.body["sha"] });
    let created = github.post(&refs(), body).await;
    assert_eq!(created.body["object"]["type"], "tag");
    assert_eq!(created.body["object"]["sha"], ours.body["sha"]);
    let missing = github.post(&tags, tag("x", &"1".repeat(40))).await;
    assert_eq!(missing.refusal(), (422, "Object does not exist"));
}
