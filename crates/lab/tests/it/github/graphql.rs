//! GraphQL: many refs changed by one call, together or not at all.

use almanack_lab::github::limit::Resource;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Answer, GithubStand, REPO, answer};

const UPDATE: &str = "mutation($input: UpdateRefsInput!) { \
                      updateRefs(input: $input) { clientMutationId } }";
const ZERO: &str = "0000000000000000000000000000000000000000";

async fn ask(github: &GithubStand, secret: &str, query: &str, variables: Value) -> Answer {
    let body = json!({ "query": query, "variables": variables });
    answer(github.ask(Method::POST, "/graphql", secret).json(&body)).await
}

async fn repository_id(github: &GithubStand) -> Value {
    github.get(REPO).await.body["node_id"].clone()
}

async fn update(github: &GithubStand, updates: Value) -> Answer {
    let input = json!({ "repositoryId": repository_id(github).await, "refUpdates": updates });
    ask(github, "s-chain", UPDATE, json!({ "input": input })).await
}

async fn make_locks(github: &GithubStand) {
    for name in ["refs/tags/lock/a", "refs/tags/lock/b"] {
        let body = json!({ "ref": name, "sha": github.head() });
        assert_eq!(
            github.post(&format!("{REPO}/git/refs"), body).await.status,
            201
        );
    }
}

fn locks(github: &GithubStand) -> Vec<String> {
    let refs = github.handle().refs("octo", "clock").into_keys();
    refs.filter(|name| name.starts_with("refs/tags/")).collect()
}

#[tokio::test]
async fn dp_07_many_locks_are_deleted_by_one_call() {
    let github = GithubStand::start().await;
    make_locks(&github).await;
    let gone = |name: &str| json!({ "name": name, "beforeOid": github.head(), "afterOid": ZERO });
    let updates = json!([gone("refs/tags/lock/a"), gone("refs/tags/lock/b")]);
    let done = update(&github, updates).await;
    assert_eq!(done.status, 200);
    assert_eq!(
        done.body,
        json!({ "data": { "updateRefs": { "clientMutationId": null } } })
    );
    assert_eq!(done.header("x-ratelimit-resource"), "graphql");
    assert_eq!(locks(&github), Vec::<String>::new());
}

#[tokio::test]
async fn one_update_that_cannot_be_made_undoes_the_others() {
    let github = GithubStand::start().await;
    make_locks(&github).await;
    let deleted = |name: &str| json!({ "name": name, "afterOid": ZERO });
    let absent = json!([deleted("refs/tags/lock/a"), deleted("refs/tags/lock/c")]);
    let refused = update(&github, absent).await;
    assert_eq!(refused.status, 200);
    assert_eq!(refused.body["data"], json!({ "updateRefs": null }));
    let error = &refused.body["errors"][0];
    assert_eq!(
        (&error["type"], &error["message"]),
        (&json!("UNPROCESSABLE"), &json!("Reference does not exist"))
    );
    assert_eq!(locks(&github).len(), 2);
}

#[tokio::test]
async fn errors_have_githubs_shapes() {
    let github = GithubStand::start().await;
    let id = repository_id(&github).await;
    let input = json!({ "repositoryId": id, "refUpdates": [] });
    let readable = ask(&github, "s-reader", UPDATE, json!({ "input": input })).await;
    assert_eq!(readable.body["errors"][0]["type"], "FORBIDDEN");
    let input = json!({ "repositoryId": "R_none", "refUpdates": [] });
    let lost = ask(&github, "s-chain", UPDATE, json!({ "input": input })).await;
    let message = "Could not resolve to a node with the global id of 'R_none'.";
    assert_eq!(lost.body["errors"][0]["message"], message);

    let unknown = ask(&github, "s-chain", "{ viewer { login } }", json!({})).await;
    assert_eq!(unknown.body["errors"][0]["type"], "UNPROCESSABLE");
}

#[tokio::test]
async fn an_exhausted_graphql_limit_is_answered_200() {
    let github = GithubStand::start().await;
    let handle = github.handle();
    handle
        .leave_requests("chain", Resource::Graphql, 0)
        .unwrap();
    let refused = ask(&github, "s-chain", UPDATE, json!({})).await;
    assert_eq!(
        (refused.status, refused.number("x-ratelimit-remaining")),
        (200, 0)
    );
    assert_eq!(refused.body["errors"][0]["type"], "RATE_LIMITED");
    assert_eq!(
        github.get(REPO).await.status,
        200,
        "the REST API is counted separately"
    );
}
