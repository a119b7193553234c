//! Authentication and authorisation.

use almanack_core::{
    sign_in::{PasswordHash, User},
    store::{SignInStore as _, TokenStore},
    token::{Scope, Token},
};
use almanack_engine::editions::EditionSet;
use almanack_server::{
    Tick,
    access::{Access, REMEMBERED_FOR},
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::fixture::{START, at as instant, token};
use axum::http::Method;
use insta::assert_json_snapshot;
use sha2::{Digest, Sha256};

use crate::harness::{ARTICLE, Answer, World, at, with};

pub(crate) fn made(name: &str, scope: Scope) -> (Token, String) {
    let text = format!("alm_{name}");
    let hash = format!("{:x}", Sha256::digest(&text));
    (
        Token {
            hash,
            ..token(name, scope)
        },
        text,
    )
}

async fn guarded() -> World {
    with_tokens(Access::Tokens).await
}

async fn with_tokens(access: Access) -> World {
    let store = SqliteStore::in_memory().unwrap();
    for scope in Scope::ALL {
        store
            .save_token(&made(scope.as_str(), scope).0)
            .await
            .unwrap();
    }
    World::with(store, access)
}

async fn ask(world: &World, method: Method, path: &str, shown: &str) -> Answer {
    let headers = [
        ("content-type", "application/json"),
        ("authorization", shown),
    ];
    world.send(with(method, path, &at(0), &headers)).await
}

/// Scope `operate` could otherwise run any program that the node allows.
#[tokio::test]
async fn a_schedule_that_runs_commands_needs_admin() {
    let world = guarded().await;
    let body = r#"{"expression":"@10s","target":{"type":"command","argv":["id"]}}"#;
    let put = async |shown: &str| {
        let headers = [
            ("content-type", "application/json"),
            ("authorization", shown),
        ];
        let request = with(Method::PUT, "/api/v1/schedules/x", body, &headers);
        world.send(request).await
    };
    let refused = put("Bearer alm_operate").await;
    assert_eq!(
        (refused.status, refused.code()),
        (403, "scope_too_small".to_owned())
    );
    assert_eq!(put("Bearer alm_admin").await.status, 201);
    let open = World::open();
    let anonymous = open.put("/api/v1/schedules/x", body).await;
    assert_eq!(anonymous.status, 403, "{}", anonymous.body);
}

/// The payload of a firing says what is run, so only a schedule may write one.
#[tokio::test]
async fn firings_are_made_by_schedules_alone() {
    let world = World::open();
    let path = "/api/v1/tasks/DISPATCH/schedule:x@2026-01-05T09:00:00Z";
    let firing = r#"{"execute_at":"2026-01-05T09:00:00Z","payload":{"target":{"type":"command","argv":["id"]}}}"#;
    for body in [firing, r#"{"execute_at":"2026-01-05T09:00:00Z"}"#] {
        let refused = world.put(path, body).await;
        assert_eq!(
            (refused.status, refused.code()),
            (422, "invalid_value".to_owned())
        );
    }
    assert_eq!(world.rows().await, []);
}

#[tokio::test]
async fn looking_needs_read_and_changing_needs_operate() {
    let world = guarded().await;
    for (scope, put, get) in [
        ("read", 403, 404),
        ("operate", 201, 200),
        ("admin", 200, 200),
    ] {
        let shown = format!("Bearer alm_{scope}");
        assert_eq!(
            ask(&world, Method::PUT, ARTICLE, &shown).await.status,
            put,
            "{scope}"
        );
        assert_eq!(
            ask(&world, Method::GET, ARTICLE, &shown).await.status,
            get,
            "{scope}"
        );
        assert_eq!(
            ask(&world, Method::GET, "/metrics", &shown).await.status,
            200,
            "{scope}"
        );
    }
    let task = ask(&world, Method::GET, ARTICLE, "Bearer alm_read")
        .await
        .json();
    assert_eq!(task["origin"], "api:operate", "the history names the token");
}

#[tokio::test]
async fn every_change_is_refused_to_a_reader_and_changes_nothing() {
    let world = guarded().await;
    for (method, path) in [
        (Method::PUT, ARTICLE.to_owned()),
        (Method::DELETE, ARTICLE.to_owned()),
        (Method::POST, format!("{ARTICLE}/retry")),
        (Method::POST, "/api/v1/tasks:batch".to_owned()),
        (Method::POST, "/api/v1/events".to_owned()),
        (Method::PUT, "/api/v1/schedules/a".to_owned()),
        (Method::DELETE, "/api/v1/schedules/a".to_owned()),
        (Method::POST, "/api/v1/schedules/a/pause".to_owned()),
        (Method::POST, "/api/v1/schedules/a/resume".to_owned()),
        (Method::POST, "/api/v1/schedules/a/fire".to_owned()),
        (Method::POST, "/api/v1/schedules/a/backfill".to_owned()),
        (Method::POST, "/tick".to_owned()),
        (Method::POST, "/api/v1/sources".to_owned()),
        (Method::POST, "/api/v1/sources/discover".to_owned()),
        (Method::POST, "/api/v1/sources/opml".to_owned()),
        (Method::PATCH, "/api/v1/sources/1".to_owned()),
        (Method::DELETE, "/api/v1/sources/1".to_owned()),
        (Method::POST, "/api/v1/sources/1/check".to_owned()),
        (Method::POST, "/api/v1/sources/1/pause".to_owned()),
        (Method::POST, "/api/v1/sources/1/resume".to_owned()),
    ] {
        let answer = ask(&world, method, &path, "Bearer alm_read").await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "scope_too_small"),
            "{path}"
        );
        assert_eq!(answer.json()["scope"], "operate");
    }
    assert!(world.rows().await.is_empty());
    let answer = ask(&world, Method::PUT, ARTICLE, "Bearer alm_read").await;
    assert_json_snapshot!(answer.json(), @r#"
    {
      "code": "scope_too_small",
      "detail": "token `read` has scope `read`; this needs `operate`",
      "scope": "operate",
      "status": 403,
      "title": "Insufficient scope",
      "type": "/problems/scope_too_small"
    }
    "#);
}

#[tokio::test]
async fn a_reader_may_look_at_schedules_and_ask_what_an_expression_means() {
    let world = guarded().await;
    let headers = [
        ("content-type", "application/json"),
        ("authorization", "Bearer alm_read"),
    ];
    for (method, path, body, status) in [
        (Method::GET, "/api/v1/schedules", "", 200),
        (Method::GET, "/api/v1/schedules/a", "", 404),
        (Method::GET, "/api/v1/schedules/a/slots", "", 404),
        (
            Method::POST,
            "/api/v1/schedules:explain",
            r#"{"expression":"@daily"}"#,
            200,
        ),
    ] {
        let answer = world.send(with(method.clone(), path, body, &headers)).await;
        assert_eq!(answer.status, status, "{method} {path}");
        let unknown = world.send(with(method, path, body, &headers[..1])).await;
        assert_eq!(unknown.code(), "unauthenticated", "{path}");
    }
}

#[tokio::test]
async fn the_history_of_a_schedule_names_the_token() {
    let world = guarded().await;
    let path = "/api/v1/schedules/nightly";
    let headers = [
        ("content-type", "application/json"),
        ("authorization", "Bearer alm_operate"),
    ];
    let send = async |method, path: &str, body: &str| {
        world.send(with(method, path, body, &headers)).await.json()
    };
    send(Method::PUT, path, crate::schedules::HOURLY).await;
    send(Method::POST, &format!("{path}/pause"), "{}").await;
    let edits = send(Method::GET, &format!("{path}/edits"), "").await;
    for edit in edits["edits"].as_array().unwrap() {
        assert_eq!(edit["by"], "operate");
    }
    let fired = send(Method::POST, &format!("{path}/fire"), "").await;
    let task = format!(
        "/api/v1/tasks/DISPATCH/{}",
        fired["subject"].as_str().unwrap()
    );
    assert_eq!(send(Method::GET, &task, "").await["origin"], "api:operate");
}

#[tokio::test]
async fn a_wrong_token_is_refused_and_never_repeated_back() {
    let world = guarded().await;
    for shown in [
        "",
        "Bearer",
        "Bearer alm_wrong",
        "Bearer secret",
        "Basic alm_admin",
        "alm_admin",
    ] {
        let answer = ask(&world, Method::GET, ARTICLE, shown).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (401, "unauthenticated"),
            "{shown}"
        );
        assert!(
            answer
                .header("www-authenticate")
                .unwrap()
                .starts_with("Bearer")
        );
        assert!(!answer.body.contains("wrong") && !answer.body.contains("secret"));
    }
    let answer = world.get(ARTICLE).await;
    assert_eq!(answer.status, 401);
    assert_json_snapshot!(answer.json(), @r#"
    {
      "code": "unauthenticated",
      "detail": "send a token: `Authorization: Bearer alm_…`; create one with `almanack token create`",
      "status": 401,
      "title": "Token required",
      "type": "/problems/unauthenticated"
    }
    "#);
}

#[tokio::test]
async fn health_and_description_are_open_and_nothing_else() {
    let world = guarded().await;
    for path in ["/healthz", "/readyz", "/api/v1/openapi.json", "/ui/api"] {
        assert_eq!(world.get(path).await.status, 200, "{path}");
    }
    for path in [
        "/metrics",
        "/api/v1/alerts",
        "/api/v1/nodes",
        "/api/v1/tasks",
        "/api/v1/receipts/1.0",
    ] {
        assert_eq!(world.get(path).await.status, 401, "{path}");
    }
}

#[tokio::test]
async fn a_revoked_token_works_no_longer_than_it_is_remembered() {
    let world = guarded().await;
    let ask = || ask(&world, Method::GET, "/api/v1/tasks", "Bearer alm_read");
    assert_eq!(ask().await.status, 200);
    assert!(world.store.revoke_token("read", START).await.unwrap());
    world.clock.set(START + REMEMBERED_FOR);
    assert_eq!(ask().await.status, 401);
}

#[tokio::test]
async fn a_token_stops_at_its_expiry_even_while_remembered() {
    let world = guarded().await;
    let (short, text) = made("short", Scope::Read);
    let short = Token {
        expires_at: Some(instant(1)),
        ..short
    };
    world.store.save_token(&short).await.unwrap();
    let shown = format!("Bearer {text}");
    assert_eq!(
        ask(&world, Method::GET, "/api/v1/tasks", &shown)
            .await
            .status,
        200
    );
    world.clock.set(instant(1));
    assert_eq!(
        ask(&world, Method::GET, "/api/v1/tasks", &shown)
            .await
            .status,
        401
    );
}

#[tokio::test]
async fn rs_14_idempotency_keys_of_two_tokens_do_not_meet() {
    let world = guarded().await;
    for (shown, status) in [("Bearer alm_operate", 201), ("Bearer alm_admin", 200)] {
        let headers = [
            ("content-type", "application/json"),
            ("authorization", shown),
            ("idempotency-key", "same"),
        ];
        let answer = world
            .send(with(Method::PUT, ARTICLE, &at(0), &headers))
            .await;
        assert_eq!(answer.status, status, "{shown}: {}", answer.body);
    }
}

#[tokio::test]
async fn without_tokens_only_our_own_names_are_answered() {
    let named = ["almanack.lan".to_owned()];
    let nothing = |_: &_, _: &_| (Tick::default(), EditionSet::default());
    let store = SqliteStore::in_memory().unwrap();
    let world = World::answering(store, Access::Open, true, named.to_vec(), nothing);
    for (host, status) in [
        ("localhost", 200),
        ("LOCALHOST:9", 200),
        ("127.0.0.1:8080", 200),
        ("[::1]:8080", 200),
        ("almanack.lan:8080", 421),
        ("evil.example", 421),
        ("localhost.evil.example:8080", 421),
        ("127.0.0.1.evil.example", 421),
    ] {
        let mut request = with(Method::GET, "/api/v1/tasks", "", &[]);
        request.headers_mut().insert("host", host.parse().unwrap());
        assert_eq!(world.send(request).await.status, status, "{host}");
    }
}

#[tokio::test]
async fn without_tokens_no_foreign_page_may_change_anything() {
    let world = World::open();
    world.put(ARTICLE, &at(0)).await;
    let retry = format!("{ARTICLE}/retry");
    for (origin, status) in [
        ("https://evil.example", 403),
        ("null", 403),
        ("http://localhost:3000", 403),
        ("http://localhost:8080", 200),
    ] {
        let answer = world
            .send(with(Method::POST, &retry, "", &[("origin", origin)]))
            .await;
        assert_eq!(answer.status, status, "{origin}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_token_that_is_shown_counts_even_where_none_is_needed() {
    let world = World::open();
    for shown in ["Bearer alm_wrong", "Bearer", "alm_admin"] {
        for method in [Method::PUT, Method::GET] {
            let answer = ask(&world, method, ARTICLE, shown).await;
            assert_eq!(answer.status, 401, "{shown}");
        }
    }
    assert!(world.rows().await.is_empty());
    assert_eq!(world.put(ARTICLE, &at(0)).await.status, 201, "as anybody");
}

/// A node that started open, and what is asked of it without a token.
async fn statuses(world: &World) -> (u16, u16, u16) {
    let put = world.put(ARTICLE, &at(0)).await.status;
    let get = world.get("/api/v1/tasks").await.status;
    (put, get, world.get("/ui/tasks").await.status)
}

#[tokio::test]
async fn sf_03_the_first_token_closes_an_open_node_and_nothing_opens_it_again() {
    let world = World::open();
    assert_eq!(statuses(&world).await, (201, 200, 200));
    let (token, _) = made("ci", Scope::Read);
    world.store.save_token(&token).await.unwrap();
    world.clock.advance(REMEMBERED_FOR);
    assert_eq!(statuses(&world).await, (401, 401, 303));
    world
        .store
        .revoke_token("ci", token.created_at)
        .await
        .unwrap();
    world.clock.advance(REMEMBERED_FOR);
    assert_eq!(statuses(&world).await, (401, 401, 303), "revoked");
}

#[tokio::test]
async fn sf_03_an_open_node_is_closed_by_its_first_user_and_stays_so_when_they_are_removed() {
    let world = World::open();
    assert_eq!(statuses(&world).await, (201, 200, 200));
    let user = User {
        name: "ada".to_owned(),
        password: PasswordHash("correct horse".to_owned()),
        scope: Scope::Operate,
        created_at: START,
        changed_at: START,
    };
    world.store.save_user(&user).await.unwrap();
    assert!(world.store.remove_user("ada").await.unwrap());
    world.clock.advance(REMEMBERED_FOR);
    assert_eq!(statuses(&world).await, (401, 401, 303));
}

#[tokio::test]
async fn sf_03_what_came_through_a_proxy_is_not_open() {
    let world = World::open();
    for (header, value) in [
        ("forwarded", "for=192.0.2.1"),
        ("x-forwarded-for", "192.0.2.1"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "localhost"),
        ("x-real-ip", "192.0.2.1"),
        ("via", "1.1 proxy"),
    ] {
        let headers = [("content-type", "application/json"), (header, value)];
        let put = with(Method::PUT, ARTICLE, &at(0), &headers);
        let answer = world.send(put).await;
        assert_eq!(answer.status, 401, "{header}");
        assert!(answer.body.contains(header), "{}", answer.body);
        let page = with(Method::GET, "/ui/tasks", "", &headers);
        assert_eq!(world.send(page).await.status, 303, "{header}");
        let live = with(Method::GET, "/ui/live?page=/ui/tasks", "", &headers);
        assert_eq!(world.send(live).await.status, 303, "{header}");
    }
    assert!(world.rows().await.is_empty());
}
