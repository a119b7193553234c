//! Answers in the reader's language: English, or Chinese where `Accept-Language` prefers it.

use axum::http::Method;
use serde_json::json;

use crate::harness::{ARTICLE, Answer, World, at, with};

const CHINESE: (&str, &str) = ("accept-language", "zh-CN,zh;q=0.9,en;q=0.8");
const JSON: (&str, &str) = ("content-type", "application/json");
const NIGHTLY: &str = "/api/v1/schedules/nightly";

async fn ask(world: &World, method: Method, path: &str, body: &str) -> Answer {
    world.send(with(method, path, body, &[CHINESE, JSON])).await
}

fn is_chinese(text: &serde_json::Value) -> bool {
    let text = text.as_str().unwrap();
    text.chars().any(|c| ('\u{4e00}'..'\u{a000}').contains(&c))
}

#[tokio::test]
async fn a_problem_speaks_the_language_of_its_reader() {
    let world = World::open();
    let path = "/api/v1/tasks/ARTICLE_PUBLISH/article:42";
    let english = world.get(path).await;
    assert_eq!(english.json()["title"], "No such task");
    assert_eq!(english.header("content-language"), Some("en"));
    let chinese = ask(&world, Method::GET, path, "").await;
    assert_eq!(chinese.status, 404);
    assert_eq!(chinese.json()["title"], "没有此任务");
    assert!(is_chinese(&chinese.json()["detail"]), "{}", chinese.body);
    assert_eq!(chinese.code(), english.code(), "programs see the same");
    assert_eq!(
        chinese.header("content-type"),
        Some("application/problem+json")
    );
    for answer in [&english, &chinese] {
        assert_eq!(answer.header("vary"), Some("accept-language"));
    }
    assert_eq!(chinese.header("content-language"), Some("zh-CN"));
}

#[tokio::test]
async fn what_a_parser_found_is_said_in_one_language() {
    let world = World::open();
    let answer = ask(&world, Method::PUT, ARTICLE, "{").await;
    assert_eq!(answer.json()["title"], "JSON 格式错误");
    assert_eq!(answer.json()["detail"], "不是 JSON：内容不完整（第 1 列）");
    assert_eq!(answer.header("content-language"), Some("zh-CN"));
}

#[tokio::test]
async fn an_invalid_expression_and_the_items_of_a_batch_do_so_too() {
    let world = World::open();
    let body = json!({"expression": "0 8 * * 1-5 FRI-MON x"}).to_string();
    let answer = ask(&world, Method::POST, "/api/v1/schedules:explain", &body).await;
    assert_eq!(answer.code(), "invalid_expression");
    assert!(is_chinese(&answer.json()["detail"]), "{}", answer.body);
    assert!(is_chinese(&answer.json()["expression"]["message"]));

    let tasks = json!({"tasks": [{"kind": "ARTICLE_PUBLISH", "subject": "", "execute_at": "2026-01-05T08:01:00Z"}]});
    let key = ("idempotency-key", "once");
    let request = with(
        Method::POST,
        "/api/v1/tasks:batch",
        &tasks.to_string(),
        &[CHINESE, JSON, key],
    );
    let answer = world.send(request).await;
    assert_eq!(answer.code(), "invalid_items");
    assert!(
        is_chinese(&answer.json()["errors"][0]["error"]["detail"]),
        "{}",
        answer.body
    );
}

#[tokio::test]
async fn why_is_answered_in_chinese() {
    let world = World::open();
    world.put(ARTICLE, &at(5)).await;
    let target = json!({"type": "webhook", "url": "https://hooks.example/x"});
    let body = json!({"expression": "0 8 * * *", "target": target}).to_string();
    assert_eq!(world.put(NIGHTLY, &body).await.status, 201);
    for path in [
        format!("{ARTICLE}/why"),
        format!("{NIGHTLY}/why?at=2026-01-06T08:00:00Z"),
        format!("{NIGHTLY}/why?at=2026-01-06T08:01:00Z"),
    ] {
        let answer = ask(&world, Method::GET, &path, "").await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(is_chinese(&answer.json()["sentence"]), "{}", answer.body);
        assert_eq!(answer.header("content-language"), Some("zh-CN"));
        assert_eq!(answer.header("vary"), Some("accept-language"));
        let english = world.get(&path).await.json()["sentence"].clone();
        assert!(english.as_str().unwrap().is_ascii(), "{english}");
    }
}

#[tokio::test]
async fn a_fault_of_a_body_or_a_query_is_said_in_the_language_of_its_reader() {
    let world = World::open();
    let path = "/api/v1/tasks/ARTICLE_PUBLISH/article:42";
    for body in ["{", "[]", "{}", r#"{"execute_at":1}"#, r#"{"colour":1}"#] {
        let answer = ask(&world, Method::PUT, path, body).await;
        assert!(is_chinese(&answer.json()["detail"]), "{}", answer.body);
    }
    for query in ["limit=many", "limit=1&limit=2", "colour=red", "status=X"] {
        let path = format!("/api/v1/tasks?{query}");
        let answer = ask(&world, Method::GET, &path, "").await;
        assert!(is_chinese(&answer.json()["detail"]), "{}", answer.body);
    }
}
