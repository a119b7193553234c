//! What is repeated while a node is away, and what is not.

use almanack_client::{Change, Client, Error, Filter, Put, Rule, Timestamp};
use serde_json::{Value, json};

use crate::node::{Node, problem};

fn receipt() -> (u16, Value) {
    let body = json!({ "receipt": "1.0", "rule": "created", "subject": "article:42",
        "kind": "ARTICLE_PUBLISH", "task_id": 1, "execute_at": "2027-01-04T08:00:00Z",
        "revision": 0, "said_by_a_newer_node": true });
    (201, body)
}

fn put() -> Put {
    Put::new("ARTICLE_PUBLISH", "a/b 42", Timestamp::UNIX_EPOCH)
}

#[tokio::test]
async fn a_change_is_repeated_under_one_key_until_the_node_is_back() {
    let node = Node::answering([problem(503, "busy"), problem(409, "contended"), receipt()]).await;
    let receipt = node.client.put(put()).await.unwrap();
    assert_eq!(receipt.receipt.rule, Rule::Created);
    let asked = node.asked();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[0].path, "/api/v1/tasks/ARTICLE_PUBLISH/a%2Fb%2042");
    assert!(asked[0].key.is_some(), "{asked:?}");
    assert!(asked.iter().all(|it| it.key == asked[0].key), "{asked:?}");
}

#[tokio::test]
async fn a_numbered_change_needs_no_key() {
    let node = Node::answering([problem(503, "busy"), receipt()]).await;
    node.client.put(put().revision(3)).await.unwrap();
    let change = Change::revision(4);
    node.client.cancel("K", "s", change).await.unwrap();
    let asked = node.asked();
    assert_eq!(asked[0].body["revision"], 3);
    assert_eq!(asked[2].path, "/api/v1/tasks/K/s?revision=4");
    assert!(asked.iter().all(|it| it.key.is_none()), "{asked:?}");
}

#[tokio::test]
async fn what_would_take_effect_twice_is_tried_once() {
    let node = Node::answering([problem(503, "busy")]).await;
    let unnumbered = node.client.batch(&[put()], None).await;
    assert!(unnumbered.unwrap_err().is_transient());
    assert!(node.client.fire_schedule("nightly").await.is_err());
    assert_eq!(node.asked().len(), 2, "one try each");
    assert!(node.client.batch(&[put()], Some("mine")).await.is_err());
    assert_eq!(node.asked().len(), 6, "four tries with a key");
}

#[tokio::test]
async fn a_refusal_has_its_code_and_no_secret() {
    let node = Node::answering([problem(422, "invalid_value")]).await;
    let refused = node.client.list(&Filter::kind("K"), Some(5), None).await;
    let refused = refused.unwrap_err();
    assert!(refused.is_code("invalid_value"));
    assert_eq!(node.asked().len(), 1);
    assert_eq!(node.asked()[0].path, "/api/v1/tasks?kind=K&limit=5");
    let shown = format!("{refused} {refused:?} {:?}", node.client);
    assert!(!shown.contains("alm_secret"), "{shown}");
}

#[test]
fn an_address_with_a_password_is_refused_without_showing_it() {
    for address in ["https://me:hush@node.example", "node.example", "ftp://x"] {
        let refused = Client::new(address).unwrap_err();
        assert!(matches!(refused, Error::Address(_)));
        assert!(!refused.to_string().contains("node.example:"), "{refused}");
    }
}
