//! Bad input: a clear answer, and nothing stored (RS-11).

use axum::http::Method;
use insta::assert_json_snapshot;

use crate::harness::{ARTICLE, Answer, LIMITS, World, at, with};

/// Why it is wrong | the body, `+` for a good time and a comma | status | code | what the sentence
/// must name.
const BODIES: &str = r#"
no body              |                                        | 400 | malformed_json | ends too early
cut off              | {"execute_at":                         | 400 | malformed_json | ends too early
not JSON at all      | execute_at=now                         | 400 | malformed_json | unexpected
two values           | {+"priority":1}{}                      | 400 | malformed_json | more follows
payload not JSON     | {+"payload":{x}}                       | 400 | malformed_json | key
an array             | []                                     | 422 | invalid_body   | object
fields in an array   | ["2026-01-05T09:00:00Z",null,1,1,1,1]  | 422 | invalid_body   | object
a number             | 5                                      | 422 | invalid_body   | object
no time              | {}                                     | 422 | invalid_body   | execute_at
unknown field        | {+"prioritty":1}                       | 422 | invalid_body   | prioritty
callback as text     | {+"callback":"http://a/"}              | 422 | invalid_body   | object
unknown nested field | {+"callback":{"uri":"x"}}              | 422 | invalid_body   | uri
a field twice        | {+"priority":1,"priority":2}           | 422 | invalid_body   | duplicate
time as a number     | {"execute_at":1767600000}              | 422 | invalid_body   | string
time in words        | {"execute_at":"tomorrow"}              | 422 | invalid_time   | 2026-01-05T08
no offset            | {"execute_at":"2026-01-05T09:00:00"}   | 422 | invalid_time   | offset
no such day          | {"execute_at":"2026-02-30T09:00:00Z"}  | 422 | invalid_time   | execute_at
year 10000           | {"execute_at":"10000-01-01T00:00:00Z"} | 422 | invalid_time   | 9999
signed year          | {"execute_at":"+010000-01-01T00:00Z"}  | 422 | invalid_time   | 9999
priority 10          | {+"priority":10}                       | 422 | invalid_value  | 0 to 9
priority in words    | {+"priority":"high"}                   | 422 | invalid_body   | whole number
negative retries     | {+"max_retry":-1}                      | 422 | invalid_value  | max_retry
half a retry         | {+"max_retry":1.5}                     | 422 | invalid_body   | whole number
revision 0           | {+"revision":0}                        | 422 | invalid_value  | revision
revision too large   | {+"revision":9223372036854775808}      | 422 | invalid_body   | whole number
callback by ftp      | {+"callback":{"url":"ftp://a/"}}       | 422 | invalid_value  | http
callback with user   | {+"callback":{"url":"http://u:p@a/"}}  | 422 | invalid_value  | user
callback inside      | {+"callback":{"url":"http://10.0.0.1/"}} | 422 | invalid_value  | outbound.allow
callback to itself   | {+"callback":{"url":"http://localhost/"}} | 422 | invalid_value  | outbound.allow
a tag of two words   | {+"tags":["two words"]}                | 422 | invalid_value  | letters
nine tags            | {+"tags":["1","2","3","4","5","6","7","8","9"]} | 422 | invalid_value | at most 8
tags as text         | {+"tags":"x"}                          | 422 | invalid_body   | tags
half a character     | {+"payload":{"a":"\ud800"}}            | 422 | invalid_value  | surrogate
"#;

/// Why it is wrong | the path below `/api/v1/tasks` | status | code | what the sentence must name.
const PATHS: &str = "
unknown kind         | /OTHER/x                               | 422 | unknown_kind   | OTHER
odd kind             | /9-LIVES/x                             | 422 | invalid_value  | kind
empty subject        | /ARTICLE_PUBLISH/                      | 404 | no_such_path   | empty
blank subject        | /ARTICLE_PUBLISH/%20                   | 422 | invalid_value  | subject
line break           | /ARTICLE_PUBLISH/a%0Ab                 | 422 | invalid_value  | control
slash in subject     | /ARTICLE_PUBLISH/a/b                   | 404 | no_such_path   | %2F
not UTF-8            | /ARTICLE_PUBLISH/%FF                   | 400 | bad_request    | UTF-8
";

struct Row<'a> {
    why: &'a str,
    given: &'a str,
    expected: (u16, &'a str),
    names: &'a str,
}

fn rows(table: &str) -> impl Iterator<Item = Row<'_>> {
    table.trim().lines().map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [why, given, status, code, names] = cells[..] else {
            panic!("five cells: {line}");
        };
        let expected = (status.parse().unwrap(), code);
        Row {
            why,
            given,
            expected,
            names,
        }
    })
}

fn body(row: &Row<'_>) -> String {
    let time = r#"{"execute_at":"2026-01-05T09:00:00Z","#;
    row.given.replace("{+", time)
}

async fn check(world: &World, answer: Answer, row: &Row<'_>) {
    let shown = format!("{}: {} {}", row.why, answer.status, answer.body);
    assert_eq!(
        (answer.status, answer.code().as_str()),
        row.expected,
        "{shown}"
    );
    assert!(
        answer.body.contains(row.names),
        "the answer names {:?}: {shown}",
        row.names
    );
    for word in ["struct ", "i64", "u64", "usize", "deserialize"] {
        assert!(!answer.body.contains(word), "a word of Rust: {shown}");
    }
    assert!(world.rows().await.is_empty(), "nothing is stored: {shown}");
}

#[tokio::test]
async fn rs_11_bad_input_changes_nothing_and_says_what_is_wrong() {
    let world = World::open();
    for row in rows(BODIES) {
        check(&world, world.put(ARTICLE, &body(&row)).await, &row).await;
    }
    for row in rows(PATHS) {
        let path = format!("/api/v1/tasks{}", row.given);
        check(&world, world.put(&path, &at(0)).await, &row).await;
    }
}

/// A method, a path, and a body that nests so deep.
type Way<'a> = (Method, &'a str, &'a dyn Fn(usize) -> String);

/// By every way in; what is nested as deep as allowed is taken by all of them.
#[tokio::test]
async fn sf_02_deep_nesting_is_refused_at_the_door() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let time = r#""execute_at":"2026-01-05T09:00:00Z""#;
    let task = |depth| format!("{{{time},\"payload\":{}}}", nested(depth));
    let item = |depth| {
        let who = r#""kind":"ARTICLE_PUBLISH","subject":"a:1""#;
        format!(
            "{{\"tasks\":[{{{who},{time},\"payload\":{}}}]}}",
            nested(depth)
        )
    };
    let event = |depth| {
        let head = r#""specversion":"1.0","id":"1","source":"a","type":"almanack.task.put.v1","subject":"a:2""#;
        let data = r#""kind":"ARTICLE_PUBLISH","revision":1"#;
        format!(
            "{{{head},\"data\":{{{data},{time},\"payload\":{}}}}}",
            nested(depth)
        )
    };
    let schedule = |depth| {
        let target = r#""type":"webhook","url":"https://a.example/""#;
        format!(
            "{{\"expression\":\"@daily\",\"target\":{{{target},\"body\":{}}}}}",
            nested(depth)
        )
    };
    let ways: [Way<'_>; 4] = [
        (Method::PUT, ARTICLE, &task),
        (Method::POST, "/api/v1/tasks:batch", &item),
        (Method::POST, "/api/v1/events", &event),
        (Method::PUT, "/api/v1/schedules/daily", &schedule),
    ];
    let world = World::open();
    let json = [("content-type", "application/json")];
    for (method, path, body) in &ways {
        for depth in [65, 100, 300] {
            let answer = world
                .send(with(method.clone(), path, &body(depth), &json))
                .await;
            let shown = format!("{path} {depth}: {} {}", answer.status, answer.body);
            let said = answer.body.contains("more than 64 levels") || depth > 100;
            assert!(
                said && (answer.status >= 400 || answer.body.contains("invalid_value")),
                "{shown}"
            );
        }
        assert!(world.rows().await.is_empty(), "{path}");
    }
    for (method, path, body) in &ways {
        let answer = world
            .send(with(method.clone(), path, &body(64), &json))
            .await;
        assert!(
            answer.status < 300 && !answer.body.contains("64 levels"),
            "{path}: {}",
            answer.body
        );
    }
    assert_eq!(world.rows().await.len(), 3);
}

#[tokio::test]
async fn rs_11_bad_input_changes_nothing_where_it_is_too_long() {
    let world = World::open();
    let payload = "x".repeat(LIMITS.payload_bytes);
    let payload = format!(r#"{{"execute_at":"2026-01-05T09:00:00Z","payload":"{payload}"}}"#);
    let blank = " ".repeat(LIMITS.body_bytes + 1);
    let subject = format!("/api/v1/tasks/ARTICLE_PUBLISH/{}", "x".repeat(201));
    let kind = format!("/api/v1/tasks/{}/x", "K".repeat(65));
    let good = at(0);
    for (path, body, expected, names) in [
        (ARTICLE, &payload, (422, "invalid_value"), "1024"),
        (ARTICLE, &blank, (413, "body_too_large"), "8192 bytes"),
        (&subject, &good, (422, "invalid_value"), "201 bytes"),
        (&kind, &good, (422, "invalid_value"), "64"),
    ] {
        let answer = world.put(path, body).await;
        assert!(
            !answer.body.contains("xxxxxxxx"),
            "no payload is echoed: {}",
            answer.body
        );
        let row = Row {
            why: names,
            given: "",
            expected,
            names,
        };
        check(&world, answer, &row).await;
    }
}

#[tokio::test]
async fn rs_11_bad_input_changes_nothing_of_what_is_there() {
    let world = World::open();
    world.put(ARTICLE, &at(0)).await;
    let before = world.rows().await;
    for row in rows(BODIES) {
        world.put(ARTICLE, &body(&row)).await;
        assert_eq!(world.rows().await, before, "{}", row.why);
    }
}

#[tokio::test]
async fn problems_are_as_documented() {
    let world = World::open();
    let answer = world
        .put(ARTICLE, r#"{"execute_at":"x","callback":{"uri":1}}"#)
        .await;
    assert_json_snapshot!(answer.json(), @r#"
    {
      "code": "invalid_body",
      "detail": "unknown field `callback.uri`; known: `url`, `method`, `timeout_s`, `headers`",
      "path": "callback.uri",
      "status": 422,
      "title": "Invalid body",
      "type": "/problems/invalid_body"
    }
    "#);
    assert_json_snapshot!(world.put("/api/v1/tasks/OTHER/x", &at(0)).await.json(), @r#"
    {
      "code": "unknown_kind",
      "detail": "kind `OTHER` is not configured and the task has no callback.url",
      "known_kinds": [
        "ARTICLE_PUBLISH",
        "MAIL_SEND"
      ],
      "path": "kind",
      "status": 422,
      "title": "Unknown kind",
      "type": "/problems/unknown_kind"
    }
    "#);
    let answer = world.put(ARTICLE, r#"{"execute_at":"x"}"#).await;
    assert_json_snapshot!(answer.json(), @r#"
    {
      "code": "invalid_time",
      "detail": "execute_at must be an RFC 3339 instant with its offset and a year up to 9999, such as 2026-01-05T08:00:00Z or 2026-01-05T16:00:00+08:00",
      "path": "execute_at",
      "status": 422,
      "title": "Invalid time",
      "type": "/problems/invalid_time"
    }
    "#);
}

#[tokio::test]
async fn an_unknown_kind_with_an_address_of_its_own_is_taken() {
    let world = World::open();
    let body = r#"{"execute_at":"2026-01-05T09:00:00Z","callback":{"url":"http://a.example/"}}"#;
    assert_eq!(world.put("/api/v1/tasks/OTHER/x", body).await.status, 201);
}

#[tokio::test]
async fn the_content_type_must_be_json_so_that_no_form_can_send_it() {
    let world = World::open();
    for headers in [&[][..], &[("content-type", "text/plain")][..]] {
        for (method, path) in [(Method::PUT, ARTICLE), (Method::POST, "/api/v1/events")] {
            let answer = world.send(with(method, path, &at(0), headers)).await;
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (415, "unsupported_media_type")
            );
        }
    }
    let utf8 = [("content-type", "application/json; charset=utf-8")];
    assert_eq!(
        world
            .send(with(Method::PUT, ARTICLE, &at(0), &utf8))
            .await
            .status,
        201
    );
}

#[tokio::test]
async fn unknown_query_parameters_are_refused_by_name() {
    let world = World::open();
    let answer = world.delete(&format!("{ARTICLE}?revison=3")).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (422, "invalid_query")
    );
    assert!(answer.body.contains("unknown parameter `revison`"));
    for (query, shown) in [
        ("limit=many", "`limit` must be a whole number"),
        ("limit=-1", "`limit` must be a whole number"),
        (
            "limit=99999999999999999999",
            "`limit` is too large a number",
        ),
        ("limit=1&limit=2", "parameter given twice: `limit`"),
    ] {
        let answer = world.get(&format!("/api/v1/tasks?{query}")).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (422, "invalid_query")
        );
        assert_eq!(answer.json()["detail"], shown);
    }
    let answer = world.delete(&format!("{ARTICLE}?revision=0")).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (422, "invalid_value")
    );
}

#[tokio::test]
async fn the_router_answers_in_problems_too() {
    let world = World::open();
    let answer = world.get("/nowhere").await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (404, "no_such_path")
    );
    let answer = world.post(ARTICLE, "{}").await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (405, "method_not_allowed")
    );
    let mut allowed: Vec<&str> = answer.header("allow").unwrap().split(',').collect();
    allowed.sort_unstable();
    assert_eq!(allowed, ["DELETE", "GET", "HEAD", "PUT"]);
}
