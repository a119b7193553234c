//! Users and their sessions.

use std::sync::Arc;

use almanack_core::{
    sign_in::{Holder, PasswordHash, SESSION_LASTS, Session, User},
    store::{Error, Store},
    token::{Scope, Token},
};
use almanack_testkit::fixture::{START, at, token};
use jiff::Timestamp;

fn user(name: &str, scope: Scope) -> User {
    User {
        name: name.to_owned(),
        password: PasswordHash(format!("$argon2id$v=19$m=8,t=1,p=1${name}")),
        scope,
        created_at: START,
        changed_at: at(1),
    }
}

fn of_user(hash: &str, name: &str, began_at: Timestamp) -> Session {
    Session::begin(hash.to_owned(), Holder::User(name.to_owned()), began_at)
}

async fn is_known(store: &dyn Store, hash: &str) -> bool {
    store
        .load_session(hash)
        .await
        .expect("load_session")
        .is_some()
}

/// Every field, every scope, any script; and letters are not the same in another case.
pub(crate) async fn a_user_is_found_by_name(store: Arc<dyn Store>) {
    for scope in Scope::ALL {
        let saved = user(&format!("编辑 {}", scope.as_str()), scope);
        store.save_user(&saved).await.unwrap();
        assert_eq!(store.load_user(&saved.name).await.unwrap(), Some(saved));
    }
    store.save_user(&user("ada", Scope::Read)).await.unwrap();
    assert_eq!(store.load_user("Ada").await.unwrap(), None);
}

/// The first one stays, with their password.
pub(crate) async fn a_taken_user_name_is_refused(store: Arc<dyn Store>) {
    let first = user("ada", Scope::Read);
    store.save_user(&first).await.unwrap();
    let second = User {
        password: PasswordHash("$other".to_owned()),
        ..user("ada", Scope::Admin)
    };
    let refused = store.save_user(&second).await.expect_err("taken");
    assert!(
        matches!(&refused, Error::Taken { what: "user", name } if name == "ada"),
        "{refused:?}"
    );
    assert!(!refused.is_transient());
    assert_eq!(store.load_users().await.unwrap(), [first]);
}

/// Password, scope and when; name and birth stay. Of an unknown user, nothing is changed.
pub(crate) async fn a_changed_user_keeps_name_and_birth(store: Arc<dyn Store>) {
    store.save_user(&user("ada", Scope::Read)).await.unwrap();
    store.save_user(&user("bob", Scope::Read)).await.unwrap();
    let changed = User {
        password: PasswordHash("$new".to_owned()),
        scope: Scope::Admin,
        created_at: at(500),
        changed_at: at(600),
        ..user("ada", Scope::Admin)
    };
    assert!(store.change_user(&changed).await.unwrap());
    let expected = User {
        created_at: START,
        ..changed.clone()
    };
    assert_eq!(store.load_user("ada").await.unwrap(), Some(expected));
    let other = store.load_user("bob").await.unwrap();
    assert_eq!(other, Some(user("bob", Scope::Read)));
    let unknown = User {
        name: "unknown".to_owned(),
        ..changed
    };
    assert!(!store.change_user(&unknown).await.unwrap());
    assert_eq!(store.load_user("unknown").await.unwrap(), None);
}

/// In one order on both databases, whatever the letters' case.
pub(crate) async fn users_are_listed_by_name(store: Arc<dyn Store>) {
    for name in ["b", "中", "a", "B"] {
        store.save_user(&user(name, Scope::Read)).await.unwrap();
    }
    let users = store.load_users().await.unwrap();
    let names: Vec<&str> = users.iter().map(|user| user.name.as_str()).collect();
    assert_eq!(names, ["B", "a", "b", "中"]);
}

/// Theirs alone: another's sessions go on, and so does that of a token that is called the same.
pub(crate) async fn removing_a_user_ends_their_sessions(store: Arc<dyn Store>) {
    store.save_user(&user("ada", Scope::Read)).await.unwrap();
    store.save_user(&user("bob", Scope::Read)).await.unwrap();
    let token = Session::begin("c3".to_owned(), Holder::Token("ada".to_owned()), START);
    for session in [
        of_user("a1", "ada", START),
        of_user("a2", "ada", at(5)),
        of_user("b1", "bob", START),
        token,
    ] {
        store.save_session(&session).await.unwrap();
    }
    assert!(store.remove_user("ada").await.unwrap());
    assert_eq!(store.load_user("ada").await.unwrap(), None);
    for (hash, known) in [("a1", false), ("a2", false), ("b1", true), ("c3", true)] {
        assert_eq!(is_known(&*store, hash).await, known, "{hash}");
    }
    assert!(!store.remove_user("ada").await.unwrap(), "once");
    assert!(store.load_user("bob").await.unwrap().is_some());
}

/// Every field, of both holders, ended or not; of an unknown one nothing.
pub(crate) async fn a_session_is_found_by_its_hash(store: Arc<dyn Store>) {
    let token = Holder::Token("0a".repeat(32));
    for session in [
        of_user("a1", "编辑", START),
        Session::begin("b2".to_owned(), token, at(3)),
        Session {
            expires_at: at(-60),
            ..of_user("c3", "ada", START)
        },
    ] {
        store.save_session(&session).await.unwrap();
        let found = store.load_session(&session.hash).await.unwrap();
        assert_eq!(found, Some(session));
    }
    assert!(!is_known(&*store, "unknown").await);
}

/// A session that ended when another begins is deleted, one that still lasts is not.
pub(crate) async fn a_new_session_prunes_those_that_ended(store: Arc<dyn Store>) {
    let ended_at = START + SESSION_LASTS;
    let just_before = ended_at - jiff::SignedDuration::from_micros(1);
    store
        .save_session(&of_user("old", "ada", START))
        .await
        .unwrap();
    store
        .save_session(&of_user("lasting", "ada", at(1)))
        .await
        .unwrap();
    store
        .save_session(&of_user("early", "bob", just_before))
        .await
        .unwrap();
    assert!(is_known(&*store, "old").await, "a microsecond is left");
    store
        .save_session(&of_user("new", "bob", ended_at))
        .await
        .unwrap();
    for (hash, known) in [("old", false), ("lasting", true), ("new", true)] {
        assert_eq!(is_known(&*store, hash).await, known, "{hash}");
    }
}

/// Once and for all; ending it again, or an unknown one, is harmless.
pub(crate) async fn a_removed_session_is_gone(store: Arc<dyn Store>) {
    for hash in ["a1", "a2"] {
        store
            .save_session(&of_user(hash, "ada", START))
            .await
            .unwrap();
    }
    for hash in ["a1", "a1", "unknown"] {
        store.remove_session(hash).await.unwrap();
    }
    assert!(!is_known(&*store, "a1").await);
    assert!(is_known(&*store, "a2").await);
}

/// By the first token or user, and from then on for good: revoking, expiry and removal take nothing
/// back.
pub(crate) async fn sf_03_access_once_guarded_stays_guarded(store: Arc<dyn Store>) {
    let since = || async { store.load_guarded_since().await.unwrap() };
    assert_eq!(since().await, None, "there never was a user");
    assert!(!store.remove_user("unknown").await.unwrap());
    assert_eq!(since().await, None, "none was removed");
    store.save_user(&user("ada", Scope::Operate)).await.unwrap();
    assert_eq!(since().await, Some(START));
    assert!(store.remove_user("ada").await.unwrap());
    assert_eq!(since().await, Some(START), "a user was removed");
    let later = User {
        created_at: at(9),
        ..user("bob", Scope::Read)
    };
    store.save_user(&later).await.unwrap();
    assert!(store.remove_user("bob").await.unwrap());
    assert_eq!(since().await, Some(START), "another was removed");
}

/// The same with nothing but a token, which has ended in every way.
pub(crate) async fn sf_03_a_token_that_ended_still_guards(store: Arc<dyn Store>) {
    let ended = Token {
        expires_at: Some(at(1)),
        ..token("ci", Scope::Operate)
    };
    store.save_token(&ended).await.unwrap();
    assert!(store.revoke_token("ci", at(2)).await.unwrap());
    assert!(store.load_guarded_since().await.unwrap().is_some());
}
