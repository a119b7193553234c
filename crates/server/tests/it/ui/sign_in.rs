//! Signing in and out, and everything that must not.

use std::sync::atomic::Ordering;

use almanack_core::{
    sign_in::{PasswordHash, SESSION_LASTS, User, tries::TRIES_AT_ONCE},
    store::{SignInStore, TokenStore},
    time::Clock,
    token::Scope,
};
use almanack_engine::editions::EditionSet;
use almanack_server::{
    Tick,
    access::{Access, REMEMBERED_FOR},
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::fixture::START;
use axum::http::Method;
use jiff::{SignedDuration, Timestamp};

use super::browser::{Browser, form_key};
use crate::{
    access::made,
    harness::{ARTICLE, Answer, World, at, with},
};

const SIGN_IN: &str = "/ui/sign-in";
const COOKIE: &str = "__Host-almanack";
const PASSWORD: &str = "correct horse battery";

fn user(name: &str, scope: Scope, changed_at: Timestamp) -> User {
    User {
        name: name.to_owned(),
        password: PasswordHash(PASSWORD.to_owned()),
        scope,
        created_at: START,
        changed_at,
    }
}

async fn store() -> SqliteStore {
    let store = SqliteStore::in_memory().unwrap();
    for scope in Scope::ALL {
        let token = made(scope.as_str(), scope).0;
        store.save_token(&token).await.unwrap();
    }
    for (name, scope) in [("ada", Scope::Operate), ("rita", Scope::Read)] {
        store.save_user(&user(name, scope, START)).await.unwrap();
    }
    store
}

pub(super) async fn guarded() -> World {
    World::with(store().await, Access::Tokens)
}

pub(super) async fn by_password(browser: &mut Browser<'_>, name: &str, password: &str) -> Answer {
    let fields = [("name", name), ("password", password)];
    browser.fill(SIGN_IN, SIGN_IN, &fields).await
}

async fn signed_in<'a>(world: &'a World, name: &str) -> Browser<'a> {
    let mut browser = Browser::new(world);
    let answer = by_password(&mut browser, name, PASSWORD).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
    let page = browser.follow(answer).await;
    assert_eq!(page.status, 200, "{}", page.body);
    browser
}

async fn is_in(browser: &mut Browser<'_>) -> bool {
    let page = browser.get("/ui").await;
    assert!([200, 303].contains(&page.status), "{}", page.body);
    page.status == 200
}

fn wrong(answer: &Answer) -> String {
    let alert = answer.body.split_once("role=\"alert\">");
    let alert = alert.unwrap_or_else(|| panic!("{}: {}", answer.status, answer.body));
    alert.1.split("</p>").next().unwrap().to_owned()
}

#[tokio::test]
async fn who_is_not_known_is_led_to_the_form_and_from_there_to_the_page() {
    let world = guarded().await;
    let mut browser = Browser::new(&world);
    let led = browser.get("/ui?day=2026-01-05").await;
    assert_eq!(
        (led.status, led.header("location")),
        (303, Some("/ui/sign-in?next=%2Fui%3Fday%3D2026-01-05"))
    );
    let form = browser.follow(led).await;
    assert!(
        form.body
            .contains(r#"name="next" value="/ui?day=2026-01-05""#)
    );
    let key = form_key(&form);
    let fields = [
        ("form_key", key.as_str()),
        ("name", "ada"),
        ("password", PASSWORD),
        ("next", "/ui?day=2026-01-05"),
    ];
    let answer = browser.post(SIGN_IN, &fields).await;
    assert_eq!(answer.status, 303);
    let to = answer.header("location").unwrap().to_owned();
    let last = browser.get(&to).await;
    assert_eq!(last.header("location"), Some("/ui?day=2026-01-05"));
    let page = browser.follow(last).await;
    assert!(page.body.contains("ada (operate)"), "{}", page.body);
}

#[tokio::test]
async fn the_cookie_is_for_this_host_over_https_and_for_no_script() {
    let world = guarded().await;
    let mut browser = Browser::new(&world);
    let answer = by_password(&mut browser, "ada", PASSWORD).await;
    let line = answer.header("set-cookie").unwrap();
    let (value, attributes) = line.split_once("; ").unwrap();
    assert_eq!(
        attributes,
        "HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=604800"
    );
    let value = value.strip_prefix("__Host-almanack=").unwrap();
    assert_eq!(value.len(), 43, "256 bits");
    let stored = world.store.load_session(value).await.unwrap();
    assert_eq!(stored, None, "the store knows its hash alone");
    let arrival = Browser::new(&world).get(SIGN_IN).await;
    let line = arrival.header("set-cookie").unwrap();
    let (_, attributes) = line.split_once("; ").unwrap();
    assert_eq!(attributes, "HttpOnly; SameSite=Lax; Path=/ui");
}

#[tokio::test]
async fn a_token_opens_a_session_with_its_scope() {
    let world = guarded().await;
    let mut browser = Browser::new(&world);
    let fields = [("token", " alm_admin ")];
    let answer = browser.fill(SIGN_IN, SIGN_IN, &fields).await;
    let page = browser.follow(answer).await;
    assert!(page.body.contains("admin (admin)"), "{}", page.body);
    assert!(!page.body.contains("alm_admin"));
}

#[tokio::test]
async fn whatever_is_wrong_the_answer_is_the_same_after_the_same_work() {
    let world = guarded().await;
    world.store.revoke_token("read", START).await.unwrap();
    let mut text = Vec::new();
    for fields in [
        [("name", "ada"), ("password", "not this one")],
        [("name", "nobody"), ("password", "not this one")],
        [("name", "nobody"), ("password", PASSWORD)],
    ] {
        let before = world.passwords.checked.load(Ordering::SeqCst);
        let mut browser = Browser::new(&world);
        let answer = browser.fill(SIGN_IN, SIGN_IN, &fields).await;
        let after = world.passwords.checked.load(Ordering::SeqCst);
        assert_eq!(after - before, 1, "one lookup, for every name");
        text.push((answer.status, wrong(&answer)));
        assert!(!answer.body.contains(fields[1].1), "{}", answer.body);
        assert!(!browser.jar.contains_key(COOKIE));
    }
    for token in ["alm_read", "alm_unknown", "not a token", PASSWORD] {
        let mut browser = Browser::new(&world);
        let answer = browser.fill(SIGN_IN, SIGN_IN, &[("token", token)]).await;
        assert!(!answer.body.contains(token), "{}", answer.body);
        text.push((answer.status, wrong(&answer)));
    }
    text.dedup();
    insta::assert_debug_snapshot!(text, @r#"
    [
        (
            422,
            "Sign-in failed: wrong or expired name, password or token.",
        ),
    ]
    "#);
}

#[tokio::test]
async fn what_is_missing_is_asked_for_and_what_was_typed_is_escaped() {
    let world = guarded().await;
    let mut browser = Browser::new(&world);
    let name = "\"><script>alert(1)</script>";
    let answer = by_password(&mut browser, name, "").await;
    assert_eq!(answer.status, 422);
    assert!(wrong(&answer).contains("Fill in"), "{}", answer.body);
    assert!(!answer.body.contains("<script>alert"), "{}", answer.body);
    let long = "x".repeat(1_001);
    let answer = by_password(&mut browser, "ada", &long).await;
    assert_eq!(answer.status, 422);
    assert_eq!(world.passwords.checked.load(Ordering::SeqCst), 0);
    browser.jar.insert("almanack-lang".into(), "zh-CN".into());
    let answer = by_password(&mut browser, "ada", "not this one").await;
    assert!(wrong(&answer).contains("登录失败"), "{}", answer.body);
}

#[tokio::test]
async fn too_many_tries_make_even_the_right_password_wait() {
    let world = guarded().await;
    let mut browser = Browser::new(&world);
    for _ in 0..5 {
        let answer = by_password(&mut browser, "ada", "not this one").await;
        assert_eq!(answer.status, 422);
    }
    let refused = by_password(&mut browser, "ada", PASSWORD).await;
    assert_eq!(
        (refused.status, refused.header("retry-after")),
        (429, Some("61"))
    );
    assert!(
        wrong(&refused).contains("5 Jan 08:01:00 UTC"),
        "{}",
        wrong(&refused)
    );
    assert!(!refused.body.contains(PASSWORD));
    let checked = world.passwords.checked.load(Ordering::SeqCst);
    assert_eq!(checked, 5, "what waits is not looked at");
    let other = by_password(&mut Browser::new(&world), "rita", PASSWORD).await;
    assert_eq!(other.status, 303, "another name does not wait");
    world.clock.advance(SignedDuration::from_secs(60));
    let answer = by_password(&mut browser, "ada", PASSWORD).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
}

#[tokio::test]
async fn many_names_wait_together_and_tokens_do_not_wait_for_them() {
    let world = guarded().await;
    let mut browser = Browser::new(&world);
    for number in 0..TRIES_AT_ONCE {
        let name = format!("user-{number}");
        assert_eq!(by_password(&mut browser, &name, "x").await.status, 422);
    }
    let refused = by_password(&mut browser, "ada", PASSWORD).await;
    assert_eq!(refused.status, 429);
    let answer = browser
        .fill(SIGN_IN, SIGN_IN, &[("token", "alm_read")])
        .await;
    assert_eq!(answer.status, 303, "{}", answer.body);
}

/// A browser somewhere else than others.
fn at_address(world: &World, address: [u8; 4]) -> Browser<'_> {
    let mut browser = Browser::new(world);
    browser.address = address;
    browser
}

#[tokio::test]
async fn sf_05_attackers_cannot_lock_anybody_out() {
    let world = guarded().await;
    let mut attacker = at_address(&world, [203, 0, 113, 9]);
    for _ in 0..2 * TRIES_AT_ONCE {
        by_password(&mut attacker, "ada", "junk").await;
        let token = [("token", "alm_junk")];
        attacker.fill(SIGN_IN, SIGN_IN, &token).await;
    }
    assert_eq!(
        by_password(&mut attacker, "ada", PASSWORD).await.status,
        429
    );
    let token = [("token", "alm_admin")];
    let refused = attacker.fill(SIGN_IN, SIGN_IN, &token).await;
    assert_eq!(refused.status, 429, "the token's field too");
    for last in 0..20 {
        let mut other = at_address(&world, [198, 51, 100, last]);
        by_password(&mut other, "ada", "junk").await;
    }
    let mut ada = at_address(&world, [192, 0, 2, 1]);
    let answer = by_password(&mut ada, "ada", PASSWORD).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
    let mut holder = at_address(&world, [192, 0, 2, 2]);
    let answer = holder.fill(SIGN_IN, SIGN_IN, &token).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
}

#[tokio::test]
async fn a_session_ends_with_its_time_its_password_and_its_user() {
    let world = guarded().await;
    let moment = SignedDuration::from_micros(1);
    let mut browser = signed_in(&world, "ada").await;
    world.clock.advance(SESSION_LASTS - moment);
    assert!(is_in(&mut browser).await);
    world.clock.advance(moment);
    assert!(!is_in(&mut browser).await, "its time");

    let mut browser = signed_in(&world, "ada").await;
    world.clock.advance(moment);
    let changed = user("ada", Scope::Operate, world.clock.now());
    assert!(world.store.change_user(&changed).await.unwrap());
    world.clock.advance(REMEMBERED_FOR);
    assert!(!is_in(&mut browser).await, "its password");

    let mut browser = signed_in(&world, "ada").await;
    assert!(world.store.remove_user("ada").await.unwrap());
    world.clock.advance(REMEMBERED_FOR);
    assert!(!is_in(&mut browser).await, "its user");
}

#[tokio::test]
async fn a_session_ends_with_its_token() {
    let world = guarded().await;
    let mut browser = Browser::new(&world);
    browser
        .fill(SIGN_IN, SIGN_IN, &[("token", "alm_operate")])
        .await;
    assert!(is_in(&mut browser).await);
    let now = world.clock.now();
    assert!(world.store.revoke_token("operate", now).await.unwrap());
    world.clock.advance(REMEMBERED_FOR);
    assert!(!is_in(&mut browser).await);
}

#[tokio::test]
async fn a_password_that_was_set_by_a_clock_ahead_of_ours_works_at_once() {
    let world = guarded().await;
    let ahead = START + SignedDuration::from_secs(2);
    world
        .store
        .change_user(&user("ada", Scope::Read, ahead))
        .await
        .unwrap();
    signed_in(&world, "ada").await;
}

#[tokio::test]
async fn signing_out_ends_the_session_for_whoever_kept_the_cookie() {
    let world = guarded().await;
    let mut browser = signed_in(&world, "rita").await;
    let kept = browser.jar.clone();
    let answer = browser.fill("/ui", "/ui/sign-out", &[]).await;
    assert_eq!(
        (answer.status, answer.header("set-cookie")),
        (
            303,
            Some("__Host-almanack=; HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=0")
        )
    );
    let page = browser.follow(answer).await;
    assert!(page.body.contains("You have signed out."), "{}", page.body);
    assert!(!is_in(&mut browser).await);
    browser.jar = kept;
    assert!(!is_in(&mut browser).await, "at once, on this node");
}

#[tokio::test]
async fn signing_in_anew_ends_the_session_before_it() {
    let world = guarded().await;
    let mut browser = signed_in(&world, "ada").await;
    let before = browser.jar[COOKIE].clone();
    let key = form_key(&browser.get("/ui").await);
    let fields = [
        ("form_key", key.as_str()),
        ("name", "rita"),
        ("password", PASSWORD),
    ];
    assert_eq!(browser.post(SIGN_IN, &fields).await.status, 303);
    assert_ne!(browser.jar[COOKIE], before);
    let mut old = Browser::new(&world);
    old.jar.insert(COOKIE.to_owned(), before);
    assert!(!is_in(&mut old).await);
}

/// An attacker who could sign a browser in as another user would read what its owner does then.
#[tokio::test]
async fn no_other_page_can_sign_a_browser_in_or_out() {
    let world = guarded().await;
    let right = [("name", "ada"), ("password", PASSWORD)];
    let mut browser = Browser::new(&world);
    let without_key = browser.post(SIGN_IN, &right).await;
    assert_eq!(without_key.status, 403, "{}", without_key.body);
    let foreign = form_key(&Browser::new(&world).get(SIGN_IN).await);
    let with_foreign = [&[("form_key", foreign.as_str())], &right[..]].concat();
    browser.get(SIGN_IN).await;
    assert_eq!(browser.post(SIGN_IN, &with_foreign).await.status, 403);
    browser.origin = "https://evil.example";
    let answer = browser.fill(SIGN_IN, SIGN_IN, &right).await;
    assert_eq!(answer.status, 403, "{}", answer.body);
    browser.origin = "null";
    assert_eq!(browser.fill(SIGN_IN, SIGN_IN, &right).await.status, 403);
    assert!(!browser.jar.contains_key(COOKIE));

    let mut ada = signed_in(&world, "ada").await;
    let mut rita = signed_in(&world, "rita").await;
    let theirs = form_key(&rita.get("/ui").await);
    for fields in [&[][..], &[("form_key", theirs.as_str())]] {
        assert_eq!(ada.post("/ui/sign-out", fields).await.status, 403);
    }
    ada.origin = "https://evil.example";
    assert_eq!(ada.fill("/ui", "/ui/sign-out", &[]).await.status, 403);
    assert!(is_in(&mut ada).await);
}

/// A form that one node showed may be sent to another, which knows nothing but the cookie.
#[tokio::test]
async fn the_key_of_a_form_is_the_same_on_every_node() {
    let (here, there) = (guarded().await, guarded().await);
    let mut browser = signed_in(&here, "ada").await;
    let key = form_key(&browser.get("/ui").await);
    let mut same = Browser::new(&there);
    same.jar = browser.jar;
    assert_eq!(form_key(&same.get(SIGN_IN).await), key);
}

#[tokio::test]
async fn nobody_else_chooses_where_a_browser_goes() {
    let world = guarded().await;
    for next in [
        "https://evil.example/ui",
        "//evil.example",
        "/\\evil.example",
        "javascript:0",
    ] {
        let mut browser = Browser::new(&world);
        let fields = [("name", "ada"), ("password", PASSWORD), ("next", next)];
        let answer = browser.fill(SIGN_IN, SIGN_IN, &fields).await;
        assert_eq!(
            answer.header("location"),
            Some("/ui/sign-in?did=signed_in&next=%2Fui")
        );
        let led = browser.get(&format!("{SIGN_IN}?next={next}")).await;
        assert_eq!((led.status, led.header("location")), (303, Some("/ui")));
    }
}

/// The API knows no form keys, so what a browser sends by itself must not open it.
#[tokio::test]
async fn the_cookie_does_not_open_the_api() {
    let world = guarded().await;
    let browser = signed_in(&world, "ada").await;
    let cookie = format!("{COOKIE}={}", browser.jar[COOKIE]);
    let headers = [
        ("cookie", cookie.as_str()),
        ("content-type", "application/json"),
    ];
    for (method, path) in [
        (Method::PUT, ARTICLE),
        (Method::GET, ARTICLE),
        (Method::GET, "/metrics"),
        (Method::POST, "/tick"),
    ] {
        let answer = world.send(with(method, path, &at(0), &headers)).await;
        assert_eq!(answer.status, 401, "{path}: {}", answer.body);
    }
    assert_eq!(world.rows().await, []);
}

#[tokio::test]
async fn who_may_only_look_changes_nothing_but_how_they_see_it() {
    let world = guarded().await;
    let mut rita = signed_in(&world, "rita").await;
    let key = form_key(&rita.get("/ui").await);
    let key = ("form_key", key.as_str());
    let refused = rita.post("/ui/tasks", &[key]).await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert!(wrong(&refused).contains("operate"), "{}", refused.body);
    let fields = [key, ("lang", "zh-CN"), ("back", "/ui")];
    assert_eq!(rita.post("/ui/preferences", &fields).await.status, 303);
    assert_eq!(rita.jar["almanack-lang"], "zh-CN");
}

#[tokio::test]
async fn a_browser_that_does_not_keep_the_session_learns_why() {
    let world = guarded().await;
    let mut browser = Browser::new(&world);
    browser.secure = false;
    browser.host = "almanack.example:8080";
    browser.origin = "http://almanack.example:8080";
    let answer = by_password(&mut browser, "ada", PASSWORD).await;
    let page = browser.follow(answer).await;
    assert_eq!(page.status, 200);
    assert!(wrong(&page).contains("HTTPS"), "{}", page.body);
}

#[tokio::test]
async fn pages_answer_to_the_hosts_that_are_allowed() {
    let named = ["almanack.example".to_owned()];
    let nothing = |_: &_, _: &_| (Tick::default(), EditionSet::default());
    let world = World::answering(store().await, Access::Tokens, true, named.to_vec(), nothing);
    for (host, status) in [
        ("localhost:8080", 200),
        ("127.0.0.1:8080", 200),
        ("almanack.example", 200),
        ("evil.example", 421),
    ] {
        let mut browser = Browser::new(&world);
        browser.host = host;
        let answer = browser.get(SIGN_IN).await;
        assert_eq!(answer.status, status, "{host}: {}", answer.body);
    }
    let any = guarded().await;
    let mut browser = Browser::new(&any);
    browser.host = "any.example";
    assert_eq!(browser.get(SIGN_IN).await.status, 200);
    let open = World::open();
    let mut browser = Browser::new(&open);
    browser.host = "any.example";
    assert_eq!(browser.get(SIGN_IN).await.status, 421);
}

#[tokio::test]
async fn pages_come_with_headers_that_keep_browsers_careful() {
    let world = guarded().await;
    let mut browser = Browser::new(&world);
    let refused = by_password(&mut browser, "ada", "not this one").await;
    for page in [browser.get(SIGN_IN).await, refused] {
        for (name, value) in [
            ("cache-control", "no-store"),
            ("cross-origin-opener-policy", "same-origin"),
            ("referrer-policy", "same-origin"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(page.header(name), Some(value), "{}", page.status);
        }
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("form-action 'self'"), "{policy}");
        assert!(page.header("permissions-policy").is_some());
    }
}
