//! Access tokens.

use std::sync::Arc;

use almanack_core::{
    store::{Error, Store},
    token::{Scope, Token},
};
use almanack_testkit::fixture::{at, token};

/// Every field, every scope.
pub(crate) async fn a_token_is_found_by_its_hash(store: Arc<dyn Store>) {
    for scope in Scope::ALL {
        let saved = Token {
            expires_at: Some(at(60)),
            ..token(scope.as_str(), scope)
        };
        store.save_token(&saved).await.unwrap();
        assert_eq!(store.load_token(&saved.hash).await.unwrap(), Some(saved));
    }
    let unknown = token("unknown", Scope::Read);
    assert_eq!(store.load_token(&unknown.hash).await.unwrap(), None);
}

/// The name is what people know it by; the first one stays.
pub(crate) async fn a_taken_name_is_refused(store: Arc<dyn Store>) {
    let first = token("ci", Scope::Read);
    store.save_token(&first).await.unwrap();
    let second = Token {
        hash: token("other", Scope::Admin).hash,
        ..token("ci", Scope::Admin)
    };
    let refused = store
        .save_token(&second)
        .await
        .expect_err("the name is taken");
    assert!(
        matches!(&refused, Error::Taken { name, .. } if name == "ci"),
        "{refused:?}"
    );
    assert!(!refused.is_transient());
    assert_eq!(store.load_tokens().await.unwrap(), [first]);
}

/// Found, but no longer valid; revoking again or an unknown one answers "no".
pub(crate) async fn a_revoked_token_is_known_as_revoked(store: Arc<dyn Store>) {
    let saved = token("ci", Scope::Operate);
    store.save_token(&saved).await.unwrap();
    assert!(!store.revoke_token("unknown", at(1)).await.unwrap());
    assert!(store.revoke_token("ci", at(2)).await.unwrap());
    assert!(
        !store.revoke_token("ci", at(3)).await.unwrap(),
        "it had stopped working"
    );
    let revoked = store
        .load_token(&saved.hash)
        .await
        .unwrap()
        .expect("still known");
    assert_eq!(revoked.revoked_at, Some(at(2)), "when it really stopped");
    assert!(!revoked.is_valid(at(4)));
}

/// All of them, revoked ones too.
pub(crate) async fn tokens_are_listed_by_name(store: Arc<dyn Store>) {
    for name in ["b", "c", "a"] {
        store.save_token(&token(name, Scope::Read)).await.unwrap();
    }
    store.revoke_token("b", at(1)).await.unwrap();
    let tokens = store.load_tokens().await.unwrap();
    let names: Vec<&str> = tokens.iter().map(|token| token.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
}
