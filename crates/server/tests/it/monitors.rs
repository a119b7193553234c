//! Monitors at the door: pings without a token, keys shown once, badges, and bad input (DP-23).

use axum::{
    body::Body,
    http::{Method, Request},
};
use jiff::SignedDuration;

use crate::harness::{Answer, World};

const KEY: &str = "31365bce-8da9-4729-8ff3-aaa71d56b712";
const RUN: &str = "0b4f0e2e-2f9b-4f6c-9a51-6f3d2c1b0a99";

/// A world with the monitor `backup` under [`KEY`].
async fn watching() -> World {
    let world = World::open();
    let definition =
        r#"{"expression":"@every 1h","grace":"10m","target":{"type":"ping","note":"db1"}}"#;
    let put = world.put("/api/v1/schedules/backup", definition).await;
    assert_eq!(put.status, 201, "{}", put.body);
    let body = format!(r#"{{"key":"{KEY}"}}"#);
    let made = world.post("/api/v1/monitors/backup/ping-key", &body).await;
    assert_eq!(made.status, 201, "{}", made.body);
    assert_eq!(made.json()["path"], format!("/ping/{KEY}"));
    let whole = format!("https://almanack.example/ping/{KEY}");
    assert_eq!(made.json()["url"], whole, "as server.public_url says");
    world
}

async fn ping(world: &World, method: Method, path: &str, body: impl Into<Body>) -> Answer {
    let request = Request::builder().method(method).uri(path);
    world.send(request.body(body.into()).unwrap()).await
}

async fn monitor(world: &World) -> serde_json::Value {
    world.get("/api/v1/monitors/backup").await.json()
}

#[tokio::test]
async fn dp_23_jobs_ping_as_they_ping_healthchecks() {
    let world = watching().await;
    assert_eq!(monitor(&world).await["status"], "new");
    for (method, path) in [
        (Method::GET, format!("/ping/{KEY}")),
        (Method::HEAD, format!("/ping/{KEY}")),
        (Method::POST, format!("/ping/{}", KEY.to_uppercase())),
        (Method::GET, format!("/ping/{KEY}/start?rid={RUN}")),
        (Method::GET, format!("/ping/{KEY}/log")),
        (Method::GET, format!("/ping/{KEY}/0?rid={RUN}")),
        (Method::POST, format!("/ping/{KEY}/fail")),
        (Method::GET, format!("/ping/{KEY}/137")),
    ] {
        let answer = ping(&world, method.clone(), &path, "").await;
        assert_eq!(answer.status, 200, "{method} {path}");
        let said = if method == Method::HEAD { "" } else { "OK" };
        assert_eq!(answer.body, said, "{method} {path}");
    }
    let now = monitor(&world).await;
    assert_eq!(
        (&now["status"], &now["heard"]["pings"]),
        (&"down".into(), &8.into())
    );
    assert_eq!(now["heard"]["down"]["cause"], "failed");
    let pings = world.get("/api/v1/monitors/backup/pings").await.json();
    let kinds: Vec<&str> = pings["pings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|ping| ping["kind"].as_str().unwrap())
        .collect();
    let expected = [
        "fail", "fail", "success", "log", "start", "success", "success", "success",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(pings["pings"][0]["exit_status"], 137);
}

#[tokio::test]
async fn dp_23_a_ping_that_cannot_be_read_changes_nothing() {
    let world = watching().await;
    for (method, path, status, code) in [
        (
            Method::GET,
            "/ping/00000000-8da9-4729-8ff3-aaa71d56b712",
            404,
            "no_such_monitor",
        ),
        (Method::GET, "/ping/backup", 404, "no_such_monitor"),
        (Method::GET, "/ping/%00", 404, "no_such_monitor"),
        (
            Method::GET,
            "/ping/31365bce-8da9-4729-8ff3-aaa71d56b712/256",
            400,
            "bad_request",
        ),
        (
            Method::GET,
            "/ping/31365bce-8da9-4729-8ff3-aaa71d56b712/stop",
            400,
            "bad_request",
        ),
        (
            Method::GET,
            "/ping/31365bce-8da9-4729-8ff3-aaa71d56b712?rid=1",
            400,
            "bad_request",
        ),
        (
            Method::PUT,
            "/ping/31365bce-8da9-4729-8ff3-aaa71d56b712",
            405,
            "method_not_allowed",
        ),
        (
            Method::GET,
            "/ping/31365bce-8da9-4729-8ff3-aaa71d56b712/a/b",
            404,
            "no_such_path",
        ),
        (
            Method::GET,
            "/badge/31365bce-8da9-4729-8ff3-aaa71d56b712.svg",
            404,
            "no_such_monitor",
        ),
        (Method::GET, "/badge/x.svg", 404, "no_such_monitor"),
    ] {
        let answer = ping(&world, method, path, "").await;
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        assert_eq!(answer.code(), code, "{path}");
        assert!(
            !answer.body.contains("31365bce"),
            "no answer repeats a key: {}",
            answer.body
        );
    }
    assert_eq!(monitor(&world).await["heard"]["pings"], 0);
}

#[tokio::test]
async fn dp_23_a_body_is_kept_and_never_refused_for_its_bytes() {
    let world = watching().await;
    let path = format!("/ping/{KEY}");
    for (body, kept) in [
        (b"all good".to_vec(), "all good".to_owned()),
        (b"a\0b\xff".to_vec(), "a\u{fffd}b\u{fffd}".to_owned()),
    ] {
        assert_eq!(ping(&world, Method::POST, &path, body).await.status, 200);
        let pings = world.get("/api/v1/monitors/backup/pings?limit=1").await;
        assert_eq!(pings.json()["pings"][0]["body"], kept);
    }
}

#[tokio::test]
async fn sf_05_too_many_pings_of_one_monitor_are_refused_and_others_are_heard() {
    let world = watching().await;
    let path = format!("/ping/{KEY}/log");
    for _ in 0..120 {
        assert_eq!(ping(&world, Method::GET, &path, "").await.status, 200);
    }
    let refused = ping(&world, Method::GET, &path, "").await;
    assert_eq!(
        (refused.status, refused.code()),
        (429.try_into().unwrap(), "too_many_pings".to_owned())
    );
    let definition = r#"{"expression":"@every 1h","target":{"type":"ping"}}"#;
    world.put("/api/v1/schedules/other", definition).await;
    let made = world
        .post("/api/v1/monitors/other/ping-key", "")
        .await
        .json();
    let other = made["path"].as_str().unwrap();
    assert_eq!(ping(&world, Method::GET, other, "").await.status, 200);
    world.clock.advance(SignedDuration::from_mins(1));
    assert_eq!(ping(&world, Method::GET, &path, "").await.status, 200);
}

#[tokio::test]
async fn dp_23_a_key_is_replaced_and_never_shown_again() {
    let world = watching().await;
    let made = world
        .post("/api/v1/monitors/backup/ping-key", "")
        .await
        .json();
    let path = made["path"].as_str().unwrap().to_owned();
    assert_eq!(ping(&world, Method::GET, &path, "").await.status, 200);
    assert_eq!(
        ping(&world, Method::GET, &format!("/ping/{KEY}"), "")
            .await
            .status,
        404
    );
    let key = made["key"].as_str().unwrap();
    for path in [
        "/api/v1/monitors",
        "/api/v1/monitors/backup",
        "/api/v1/schedules/backup",
    ] {
        let shown = world.get(path).await.body;
        assert!(!shown.contains(key), "{path}");
    }
    for (body, code) in [
        (r#"{"key":"short"}"#, "invalid_value"),
        (
            r#"{"key":"31365BCE-8da9-4729-8ff3-aaa71d56b712"}"#,
            "invalid_value",
        ),
        (r#"{"keys":1}"#, "invalid_body"),
    ] {
        let refused = world.post("/api/v1/monitors/backup/ping-key", body).await;
        assert_eq!(refused.code(), code, "{body}");
    }
    assert_eq!(
        ping(&world, Method::GET, &path, "").await.status,
        200,
        "it still works"
    );
    let hook =
        r#"{"expression":"@hourly","target":{"type":"webhook","url":"https://example.org/"}}"#;
    world.put("/api/v1/schedules/hook", hook).await;
    let refused = world.post("/api/v1/monitors/hook/ping-key", "").await;
    assert_eq!(
        (refused.status, refused.code()),
        (404.try_into().unwrap(), "no_such_monitor".to_owned())
    );
    let policies = r#"{"expression":"@hourly","overlap":"allow","target":{"type":"ping"}}"#;
    let refused = world.put("/api/v1/schedules/backup", policies).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
}

#[tokio::test]
async fn dp_23_a_badge_is_shown_only_where_it_was_asked_for() {
    let world = watching().await;
    assert!(monitor(&world).await["badge_path"].is_null());
    let shown = world.put("/api/v1/monitors/backup/badge", "").await.json();
    let path = shown["badge_path"].as_str().unwrap().to_owned();
    assert!(!path.contains(KEY), "not the ping key");
    let svg = world.get(&format!("{path}.svg")).await;
    assert_eq!(svg.header("content-type"), Some("image/svg+xml"));
    assert!(svg.body.contains("backup: new"), "{}", svg.body);
    ping(&world, Method::GET, &format!("/ping/{KEY}"), "").await;
    let json = world.get(&format!("{path}.json")).await.json();
    assert_eq!(
        (&json["label"], &json["message"]),
        (&"backup".into(), &"up".into())
    );
    assert_eq!(
        ping(&world, Method::GET, &path.replace("badge", "ping"), "")
            .await
            .status,
        404
    );
    world.delete("/api/v1/monitors/backup/badge").await;
    assert_eq!(world.get(&format!("{path}.svg")).await.status, 404);
}

#[tokio::test]
async fn dp_23_pages_show_monitors_in_both_languages() {
    let world = watching().await;
    let body = "<script>alert(1)</script>";
    ping(&world, Method::POST, &format!("/ping/{KEY}/3"), body).await;
    for (lang, words) in [
        ("en", ["Monitors", "down", "exit status 3"]),
        ("zh-CN", ["监控", "故障", "退出码 3"]),
    ] {
        let page = async |path: &str| {
            let request = Request::get(path).header("accept-language", lang);
            world.send(request.body(Body::empty()).unwrap()).await.body
        };
        let (list, one) = (
            page("/ui/monitors").await,
            page("/ui/schedules/backup").await,
        );
        assert!(list.contains(words[0]) && list.contains(words[1]), "{list}");
        assert!(one.contains(words[2]) && !one.contains(body), "{one}");
        assert!(!one.contains(KEY) && !list.contains(KEY));
    }
}
