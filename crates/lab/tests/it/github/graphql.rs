//! GraphQL: many refs changed by one call, together or not at all.

use almanack_lab::github::limit::Resource;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Answer, Hub, REPO, answer};

const UPDATE: &str = "mutation($input: UpdateRefsInput!) { \
                      updateRefs(input: $input) { clientMutationId } }";
const ZERO: &str = "0000000000000000000000000000000000000000";

async fn ask(hub: &Hub, secret: &str, query: &str, variables: Value) -> Answer {
    let body = json!({ "query": query, "variables": variables });
    answer(hub.ask(Method::POST, "/graphql", secret).json(&body)).await
}

async fn repository_id(hub: &Hub) -> Value {
    hub.get(REPO).await.body["node_id"].clone()
}

async fn update(hub: &Hub, updates: Value) -> Answer {
    let input = json!({ "repositoryId": repository_id(hub).await, "refUpdates": updates });
    ask(hub, "s-chain", UPDATE, json!({ "input": input })).await
}

async fn make_locks(hub: &Hub) {
    for name in ["refs/tags/lock/a", "refs/tags/lock/b"] {
        let body = json!({ "ref": name, "sha": hub.head() });
        assert_eq!(
            hub.post(&format!("{REPO}/git/refs"), body).await.status,
            201
        );
    }
}

fn locks(hub: &Hub) -> Vec<String> {
    let refs = hub.handle().refs("octo", "clock").into_keys();
    refs.filter(|name| name.starts_with("refs/tags/")).collect()
}

#[tokio::test]
async fn dp_07_many_locks_are_deleted_by_one_call() {
    let hub = Hub::start().await;
    make_locks(&hub).await;
    let gone = |name: &str| json!({ "name": name, "beforeOid": hub.head(), "afterOid": ZERO });
    let updates = json!([gone("refs/tags/lock/a"), gone("refs/tags/lock/b")]);
    let done = update(&hub, updates).await;
    assert_eq!(done.status, 200);
    assert_eq!(
        done.body,
        json!({ "data": { "updateRefs": { "clientMutationId": null } } })
    );
    assert_eq!(done.header("x-ratelimit-resource"), "graphql");
    assert_eq!(locks(&hub), Vec::<String>::new());
}

#[tokio::test]
async fn one_update_that_cannot_be_made_undoes_the_others() {
    let hub = Hub::start().await;
    make_locks(&hub).await;
    let deleted = |name: &str| json!({ "name": name, "afterOid": ZERO });
    let absent = json!([deleted("refs/tags/lock/a"), deleted("refs/tags/lock/c")]);
    let refused = update(&hub, absent).await;
    assert_eq!(refused.status, 200);
    assert_eq!(refused.body["data"], json!({ "updateRefs": null }));
    let error = &refused.body["errors"][0];
    assert_eq!(
        (&error["type"], &error["message"]),
        (&json!("UNPROCESSABLE"), &json!("Reference does not exist"))
    );
    assert_eq!(locks(&hub).len(), 2);
}

#[tokio::test]
async fn errors_have_githubs_shapes() {
    let hub = Hub::start().await;
    let id = repository_id(&hub).await;
    let input = json!({ "repositoryId": id, "refUpdates": [] });
    let readable = ask(&hub, "s-reader", UPDATE, json!({ "input": input })).await;
    assert_eq!(readable.body["errors"][0]["type"], "FORBIDDEN");
    let input = json!({ "repositoryId": "R_none", "refUpdates": [] });
    let lost = ask(&hub, "s-chain", UPDATE, json!({ "input": input })).await;
    let message = "Could not resolve to a node with the global id of 'R_none'.";
    assert_eq!(lost.body["errors"][0]["message"], message);

    let unknown = ask(&hub, "s-chain", "{ viewer { login } }", json!({})).await;
    assert_eq!(unknown.body["errors"][0]["type"], "UNPROCESSABLE");
}

#[tokio::test]
async fn an_exhausted_graphql_limit_is_answered_200() {
    let hub = Hub::start().await;
    let handle = hub.handle();
    handle
        .leave_requests("chain", Resource::Graphql, 0)
        .unwrap();
    let refused = ask(&hub, "s-chain", UPDATE, json!({})).await;
    assert_eq!(
        (refused.status, refused.number("x-ratelimit-remaining")),
        (200, 0)
    );
    assert_eq!(refused.body["errors"][0]["type"], "RATE_LIMITED");
    assert_eq!(hub.get(REPO).await.status, 200, "the REST API counts apart");
}
