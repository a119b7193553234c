//! GraphQL: many refs changed by one call, together or not at all.

use almanack_lab::github::limit::Resource;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Answer, Hub, REPO, answer};

const FIND: &str = "query($owner: String!, $name: String!) { \
                    repository(owner: $owner, name: $name) { id } }";
const UPDATE: &str = "mutation($input: UpdateRefsInput!) { \
                      updateRefs(input: $input) { clientMutationId } }";
const ZERO: &str = "0000000000000000000000000000000000000000";

async fn find(hub: &Hub, secret: &str) -> Answer {
    let variables = json!({ "owner": "octo", "name": "clock" });
    ask(hub, secret, FIND, variables).await
}

async fn ask(hub: &Hub, secret: &str, query: &str, variables: Value) -> Answer {
    let body = json!({ "query": query, "variables": variables });
    answer(hub.ask(Method::POST, "/graphql", secret).json(&body)).await
}

async fn repository_id(hub: &Hub) -> Value {
    let found = find(hub, "s-chain").await;
    assert_eq!(found.status, 200);
    found.body["data"]["repository"]["id"].clone()
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
    let (head, other) = (hub.head(), "1".repeat(40));
    let first = json!({ "name": "refs/tags/lock/a", "afterOid": ZERO });
    for (why, second) in [
        (
            "absent",
            json!({ "name": "refs/tags/lock/c", "afterOid": ZERO }),
        ),
        (
            "not what it was",
            json!({ "name": "refs/tags/lock/b", "beforeOid": other, "afterOid": ZERO }),
        ),
        (
            "there already",
            json!({ "name": "refs/tags/lock/b", "beforeOid": ZERO, "afterOid": head }),
        ),
        (
            "no such object",
            json!({ "name": "refs/tags/lock/c", "afterOid": other }),
        ),
        (
            "no object name",
            json!({ "name": "refs/tags/lock/c", "afterOid": "x" }),
        ),
    ] {
        let refused = update(&hub, json!([first, second])).await;
        assert_eq!(refused.status, 200, "{why}");
        assert_eq!(refused.body["data"], json!({ "updateRefs": null }), "{why}");
        let error = &refused.body["errors"][0];
        assert_eq!(error["type"], "UNPROCESSABLE", "{why}");
        assert_eq!(error["path"], json!(["updateRefs"]));
        assert_eq!(error["locations"][0]["line"], 1);
        assert_eq!(locks(&hub).len(), 2, "{why}");
    }
    let create = json!({ "name": "refs/tags/lock/c", "beforeOid": ZERO, "afterOid": head });
    let done = update(&hub, json!([create, first])).await;
    assert_eq!(done.body.get("errors"), None);
    assert_eq!(locks(&hub), ["refs/tags/lock/b", "refs/tags/lock/c"]);
}

#[tokio::test]
async fn errors_have_githubs_shapes() {
    let hub = Hub::start().await;
    let hidden = find(&hub, "s-trigger").await;
    assert_eq!(hidden.body["data"], json!({ "repository": null }));
    let error = &hidden.body["errors"][0];
    assert_eq!(error["type"], "NOT_FOUND");
    let message = "Could not resolve to a Repository with the name 'octo/clock'.";
    assert_eq!(error["message"], message);

    let id = repository_id(&hub).await;
    let input = json!({ "repositoryId": id, "refUpdates": [] });
    let readable = ask(&hub, "s-reader", UPDATE, json!({ "input": input })).await;
    assert_eq!(readable.body["errors"][0]["type"], "FORBIDDEN");
    let input = json!({ "repositoryId": "R_none", "refUpdates": [] });
    let lost = ask(&hub, "s-chain", UPDATE, json!({ "input": input })).await;
    let message = "Could not resolve to a node with the global id of 'R_none'.";
    assert_eq!(lost.body["errors"][0]["message"], message);

    let unknown = ask(&hub, "s-chain", "{ viewer { login } }", json!({})).await;
    assert_eq!(unknown.body.get("data"), None);
    let message = "Field 'viewer' doesn't exist on type 'Query'";
    assert_eq!(unknown.body["errors"][0]["message"], message);
    let broken = ask(&hub, "s-chain", "query {", json!({})).await;
    assert_eq!((broken.status, broken.body.get("data")), (200, None));

    let request = hub
        .bare(Method::POST, "/graphql")
        .header("user-agent", "test");
    let anonymous = answer(request.json(&json!({ "query": "{ a }" }))).await;
    assert_eq!(anonymous.status, 401);
}

#[tokio::test]
async fn an_exhausted_graphql_limit_is_answered_200() {
    let hub = Hub::start().await;
    let handle = hub.handle();
    handle
        .leave_requests("chain", Resource::Graphql, 0)
        .unwrap();
    let refused = find(&hub, "s-chain").await;
    assert_eq!(
        (refused.status, refused.number("x-ratelimit-remaining")),
        (200, 0)
    );
    assert_eq!(refused.body["errors"][0]["type"], "RATE_LIMITED");
    assert_eq!(hub.get(REPO).await.status, 200, "the REST API counts apart");
}
