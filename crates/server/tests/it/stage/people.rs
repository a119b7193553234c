//! Who is there: nodes, users, a token, and authors who change their minds.

use almanack_adapters::password::Argon2id;
use almanack_core::{
    sign_in::{User, password::Passwords},
    store::{Node, NodeStore, SignInStore, TokenStore},
    token::Scope,
};
use almanack_testkit::fixture::{START, at, node};
use serde_json::{Value, json};

use crate::{access::made, harness::World};

pub(super) const TOKEN: &str = "alm_stage";
pub(super) const ADMIN: Person = Person {
    name: "ada",
    password: "correct horse battery",
    scope: Scope::Admin,
};
pub(super) const READER: Person = Person {
    name: "rita",
    password: "only here to look around",
    scope: Scope::Read,
};

/// Texts that would do harm if a page took them for markup.
const HOSTILE: [&str; 3] = [
    "<script>alert('subject')</script>",
    "\"><img src=x onerror=alert(1)>",
    "a' onmouseover='alert(1)",
];

/// A user with a password.
pub(super) struct Person {
    name: &'static str,
    password: &'static str,
    scope: Scope,
}

impl Person {
    pub(super) fn settings(&self) -> Value {
        json!({ "name": self.name, "password": self.password })
    }
}

pub(super) async fn arrive(world: &World) {
    for person in [ADMIN, READER] {
        let password = Argon2id::default().hash(person.password, [7; 16]).await;
        let user = User {
            name: person.name.to_owned(),
            password: password.unwrap(),
            scope: person.scope,
            created_at: at(-86_400),
            changed_at: at(-86_400),
        };
        world.store.save_user(&user).await.unwrap();
    }
    let (token, text) = made("stage", Scope::Admin);
    assert_eq!(text, TOKEN);
    world.store.save_token(&token).await.unwrap();
    let (reports, _) = made("reports", Scope::Read);
    world.store.save_token(&reports).await.unwrap();
    world.store.revoke_token("reports", at(-600)).await.unwrap();
    for (name, seen_ago, skew_us) in [
        ("node-a", 1, 800),
        ("node-b", 2, -143_000),
        ("节点-c", 9_000, 0),
    ] {
        let node = Node {
            started_at: at(-13 * 3_600),
            seen_at: at(-seen_ago),
            skew_us,
            ..node(name, &format!("session-{name}"))
        };
        world.store.save_node(&node).await.unwrap();
    }
}

/// What authors want in the evening: most of it for the night and the morning.
pub(super) async fn plan(world: &World) {
    let at = |minutes: i64| (START + jiff::SignedDuration::from_mins(minutes)).to_string();
    for number in 1..=14 {
        let subject = format!("article:{}", 4_200 + number);
        put(world, "ARTICLE_PUBLISH", &subject, &at(-700 + 45 * number)).await;
    }
    for (subject, minutes) in [
        ("article:moved", 90),
        ("article:refused", -200),
        ("article:stubborn", -14),
        ("article:unlucky", -170),
        ("article:waits", 400),
        ("article:runs", -3),
        ("article:withdrawn", 60),
    ] {
        put(world, "ARTICLE_PUBLISH", subject, &at(minutes)).await;
    }
    for (number, hostile) in (1..).zip(HOSTILE) {
        put(world, "ARTICLE_PUBLISH", hostile, &at(-20 * number)).await;
    }
    let long = format!("article:{}", "no-end-to-be-seen-".repeat(10));
    put(world, "ARTICLE_PUBLISH", &long, &at(35)).await;
    for day in 5..=8 {
        let subject = format!("晨报:2026-01-0{day}");
        let minutes = -60 + (day - 5) * 24 * 60;
        put(world, "NEWSLETTER_SEND", &subject, &at(minutes)).await;
    }
    put(
        world,
        "NEWSLETTER_SEND",
        "周末特刊：世界新闻摘要与编辑手记",
        &at(240),
    )
    .await;
}

/// Authors who change their minds, `minutes` before the end.
pub(super) async fn change_their_minds(world: &World, minutes: i64) {
    let at = |minutes: i64| (START + jiff::SignedDuration::from_mins(minutes)).to_string();
    match minutes {
        -300 => put(world, "ARTICLE_PUBLISH", "article:moved", &at(-120)).await,
        -240 => put(world, "ARTICLE_PUBLISH", "article:moved", &at(30)).await,
        -45 => put(world, "ARTICLE_PUBLISH", "article:moved", &at(75)).await,
        -30 => {
            let path = task("ARTICLE_PUBLISH", "article:withdrawn");
            assert_eq!(world.delete(&path).await.status, 200);
        }
        _ => {}
    }
}

async fn put(world: &World, kind: &str, subject: &str, execute_at: &str) {
    let body = json!({
        "execute_at": execute_at,
        "payload": { "title": subject, "channel": "<b>front</b>", "版面": 1 },
    });
    let answer = world.put(&task(kind, subject), &body.to_string()).await;
    assert!(
        matches!(answer.status, 200 | 201),
        "{subject}: {}",
        answer.body
    );
}

/// A task's path; everything but letters and digits is written by its bytes.
fn task(kind: &str, subject: &str) -> String {
    let plain = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    let subject: String = subject.bytes().map(plain).collect();
    format!("/api/v1/tasks/{kind}/{subject}")
}
