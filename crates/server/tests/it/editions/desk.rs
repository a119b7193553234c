//! Review and corrections over HTTP: links, calls, pages (ED-42).

use almanack_adapters::{alert::ReviewLinks, signature::SigningKey};
use almanack_core::edition::{
    State,
    hold::{Approval, Deadline, OnSilence},
    review::Review,
};
use axum::http::Method;
use jiff::SignedDuration;
use serde_json::json;

use super::*;
use crate::{browser::check_page, harness::report_key};

const EDITION: &str = "/api/v1/editions/2026-01-05";
const HERE: &str = "/ui/editions/2026-01-05";

/// A node whose edition of today waits for a person.
async fn waiting() -> Newsstand {
    let stand = Stand {
        rules: Rules {
            approval: Some(Approval {
                deadline: Some(Deadline::Within(SignedDuration::from_hours(2))),
                on_silence: OnSilence::Drop,
            }),
            ..Stand::default().rules
        },
        ..Stand::default()
    };
    let stand = stand.open().await;
    let answer = stand.world.post(SYNC, "").await;
    let said = answer.json()["message"].to_string();
    assert!(said.contains("waits for approval"), "{}", answer.body);
    assert_eq!(stand.status().await["hold"]["reason"], "approval");
    stand
}

async fn review(stand: &Newsstand) -> Review {
    let account = stand
        .editions
        .account(stand.editions.today())
        .await
        .unwrap();
    Review::of(&account.edition).expect("it waits")
}

fn link(review: &Review) -> String {
    link_by(report_key(), review)
}

fn link_by(key: SigningKey, review: &Review) -> String {
    let links = ReviewLinks::new("http://x", key);
    links.link(review).expose().replace("http://x", "")
}

async fn answer(stand: &Newsstand, link: &str, act: &str) -> Answer {
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let body = format!("act={act}");
    stand
        .world
        .send(with(Method::POST, link, &body, &form))
        .await
}

fn sent(stand: &Newsstand) -> usize {
    ["github", "telegram"]
        .map(|name| stand.news.received(name).len())
        .iter()
        .sum()
}

async fn state(stand: &Newsstand) -> State {
    let today = stand.editions.today();
    stand.editions.account(today).await.unwrap().edition.state
}

#[tokio::test]
async fn ed_42_a_link_shows_the_edition_and_only_its_form_decides() {
    let stand = waiting().await;
    let link = link(&review(&stand).await);
    let before = stand
        .editions
        .account(stand.editions.today())
        .await
        .unwrap();
    for method in [Method::GET, Method::HEAD, Method::GET] {
        let page = stand.world.send(with(method.clone(), &link, "", &[])).await;
        assert_eq!(page.status, 200, "{}", page.body);
        assert_eq!(page.header("cache-control"), Some("no-store"));
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("form-action 'self'"), "{policy}");
        if method == Method::GET {
            assert!(page.body.contains("等待批准") && page.body.contains("pages.test/1"));
        }
    }
    let with_act = format!("{link}&act=approve");
    stand.world.get(&with_act).await;
    let after = stand
        .editions
        .account(stand.editions.today())
        .await
        .unwrap();
    assert_eq!(after, before, "looking changes nothing");

    let odd = answer(&stand, &link, "maybe").await;
    assert_eq!(odd.status, 400, "{}", odd.body);
    let approved = answer(&stand, &link, "approve").await;
    assert_eq!(approved.status, 200, "{}", approved.body);
    stand.step().await;
    assert_eq!((state(&stand).await, sent(&stand)), (State::Published, 3));
    for act in ["approve", "reject"] {
        let used = answer(&stand, &link, act).await;
        assert_eq!(used.status, 410, "used once: {}", used.body);
    }
    let seen = stand.world.get(&link).await;
    assert_eq!(seen.status, 410);
    assert!(seen.body.contains("已获批准"), "{}", seen.body);
    stand.step().await;
    assert_eq!(sent(&stand), 3);
}

#[tokio::test]
async fn ed_42_a_link_that_was_changed_expired_or_replaced_is_refused() {
    let stand = waiting().await;
    let review = review(&stand).await;
    let good = link(&review);
    let other_key = SigningKey::parse("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA").unwrap();
    let (bare, _) = good.split_once('?').unwrap();
    let (unsigned, _) = good.split_once("&signature").unwrap();
    for wrong in [
        good.replace("2026-01-05", "2026-01-04"),
        good.replace("revision=1", "revision=2"),
        good.replace("expires=", "expires=1"),
        good.replace("since=", "since=1"),
        format!("{unsigned}&signature="),
        format!("{unsigned}&signature=AAAA"),
        unsigned.to_owned(),
        bare.to_owned(),
        link_by(other_key, &review),
    ] {
        let looked = stand.world.get(&wrong).await;
        let acted = answer(&stand, &wrong, "approve").await;
        assert_eq!([looked.status, acted.status], [403, 403], "{wrong}");
        assert!(!looked.body.contains("pages.test"), "{wrong}");
    }
    let correction = json!({"correction": {"type": "drop", "story": "2"}});
    let corrected = stand
        .world
        .post(&format!("{EDITION}/correct"), &correction.to_string())
        .await;
    assert_eq!(corrected.json()["revision"], 2, "{}", corrected.body);
    for old in [
        stand.world.get(&good).await,
        answer(&stand, &good, "approve").await,
    ] {
        assert_eq!(old.status, 410, "{}", old.body);
        assert!(old.body.contains("更新的修订"), "{}", old.body);
    }
    let newer = link(&self::review(&stand).await);
    stand.world.clock.advance(SignedDuration::from_hours(2));
    for late in [
        stand.world.get(&newer).await,
        answer(&stand, &newer, "approve").await,
    ] {
        assert_eq!(late.status, 410, "{}", late.body);
        assert!(late.body.contains("已过期"), "{}", late.body);
    }
    assert_eq!((state(&stand).await, sent(&stand)), (State::Aggregating, 0));
}

#[tokio::test]
async fn ed_42_an_edition_is_decided_about_and_corrected_by_calls() {
    let stand = waiting().await;
    let post = async |act: &str, body: serde_json::Value| {
        let path = format!("{EDITION}/{act}");
        stand.world.post(&path, &body.to_string()).await
    };
    let moved = json!({"correction": {"type": "move", "story": "hn:3", "to": 1}, "revision": 1});
    assert_eq!(post("correct", moved.clone()).await.status, 200);
    assert_eq!(
        post("correct", moved).await.status,
        409,
        "revision 1 was replaced"
    );
    for (wrong, at) in [
        (json!({"type": "drop", "story": "99"}), "story"),
        (json!({"type": "move", "story": "1", "to": 99}), "to"),
        (json!({"type": "edit", "story": "1", "title": ""}), "title"),
    ] {
        let refused = post("correct", json!({"correction": wrong})).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (422.try_into().unwrap(), "invalid_value")
        );
        assert_eq!(refused.json()["path"], at, "{}", refused.body);
    }
    assert_eq!(post("approve", json!({"revision": 1})).await.status, 409);
    let approved = post("approve", json!({"revision": 2})).await;
    assert_eq!(approved.json()["changed"], true, "{}", approved.body);
    assert_eq!(post("approve", json!({})).await.json()["changed"], false);
    assert_eq!(post("reject", json!({})).await.status, 409);
    stand.step().await;
    assert_eq!(state(&stand).await, State::Published);

    let public = stand.world.get("/editions/2026-01-05").await;
    assert_eq!(public.status, 200);
    assert_eq!(
        post("retract", json!({"note": "It was <wrong>."}))
            .await
            .status,
        200
    );
    let gone = stand.world.get("/editions/2026-01-05").await;
    assert_eq!(gone.status, 410);
    assert!(gone.body.contains("已撤回") && gone.body.contains("It was &lt;wrong&gt;."));
    assert!(!gone.body.contains("pages.test"));
    let feed = stand.world.get("/editions/feed.xml").await;
    assert!(!feed.body.contains("<entry"), "{}", feed.body);
    assert_eq!(post("retract", json!({})).await.status, 409);
    stand.step().await;
    assert_eq!(post("restore", json!({})).await.status, 200);
    stand.step().await;
    assert_eq!(stand.world.get("/editions/2026-01-05").await.status, 200);
    let history = stand
        .world
        .get(&format!("{EDITION}/revisions"))
        .await
        .json();
    let changes = history["revisions"].as_array().unwrap().iter();
    let changes: Vec<&str> = changes
        .filter_map(|it| it["change"]["type"].as_str())
        .collect();
    assert_eq!(changes, ["restored", "retracted", "moved"]);
}

#[tokio::test]
async fn ed_42_an_edition_is_reviewed_on_its_page() {
    let stand = waiting().await;
    let page = stand.world.look(HERE).await;
    check_page(&page);
    assert!(page.body.contains("Waits for approval"), "{}", page.body);
    let list = stand.world.look("/ui/editions").await;
    check_page(&list);
    assert!(list.body.contains("waits for approval"));
    let fill = async |act: &str, fields: &[(&str, &str)]| {
        stand.world.fill(&format!("{HERE}/{act}"), fields).await
    };
    let text = ("title", "A better title");
    let edit = [
        ("revision", "1"),
        ("story", "hn:1"),
        ("act", "edit"),
        text,
        ("summary", ""),
    ];
    assert_eq!(fill("correct", &edit).await.status, 303);
    assert_eq!(
        fill("correct", &edit).await.status,
        409,
        "another was faster"
    );
    let seen = [("revision", "1"), ("act", "approve")];
    assert_eq!(fill("decide", &seen).await.status, 409);
    let seen = [("revision", "2"), ("act", "approve")];
    assert_eq!(fill("decide", &seen).await.status, 303);
    stand.step().await;
    assert_eq!((state(&stand).await, sent(&stand)), (State::Published, 3));
    let page = stand.world.look(HERE).await;
    check_page(&page);
    assert!(page.body.contains("A better title") && page.body.contains("Approved"));
    let asked = stand
        .world
        .look(&format!("{HERE}/retract?note=Sorry"))
        .await;
    check_page(&asked);
    assert_eq!(state(&stand).await, State::Published);
    assert_eq!(fill("retract", &[("note", "Sorry")]).await.status, 303);
    stand.step().await;
    for page in [
        stand.world.look(HERE).await,
        stand.world.look_in_chinese(HERE).await,
    ] {
        check_page(&page);
        assert!(page.body.contains("Sorry"), "{}", page.body);
    }
    assert_eq!(fill("restore", &[]).await.status, 303);
}

#[tokio::test]
async fn ed_42_who_may_only_read_decides_nothing() {
    let stand = Stand {
        access: Access::Tokens,
        ..Stand::default()
    };
    let stand = stand.open().await;
    for act in ["approve", "reject", "correct", "retract", "restore"] {
        let path = format!("{EDITION}/{act}");
        let answer = stand.ask(Method::POST, &path, Some("read")).await;
        assert_eq!(answer.status, 403, "{act}: {}", answer.body);
    }
}
