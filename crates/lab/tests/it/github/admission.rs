//! What holds for every endpoint: who may call, what it costs, the response headers.

use almanack_lab::github::{limit::Resource, setup::Token};
use reqwest::Method;
use serde_json::json;

use super::{GithubStand, REPO, answer};

#[tokio::test]
async fn refusals_for_unknown_callers_are_githubs() {
    let github = GithubStand::start().await;
    let path = format!("{REPO}/git/ref/heads/main");
    let ask = |secret: &str| github.ask(Method::GET, &path, secret);

    let refused = answer(ask("wrong")).await;
    assert_eq!(refused.status, 401);
    let expected = json!({
        "message": "Bad credentials",
        "documentation_url": "https://docs.github.com/rest",
        "status": "401",
    });
    assert_eq!(refused.body, expected);

    let basic = github.bare(Method::GET, &path).header("user-agent", "test");
    let basic = answer(basic.header("authorization", "Basic czpz")).await;
    assert_eq!(basic.refusal(), (401, "Bad credentials"));

    let invisible = answer(ask("s-trigger")).await;
    assert_eq!(invisible.refusal(), (404, "Not Found"));

    let blind = answer(ask("s-blind")).await;
    assert_eq!(
        blind.refusal(),
        (403, "Resource not accessible by integration")
    );
    assert_eq!(
        blind.header("x-accepted-github-permissions"),
        "contents=read"
    );

    let anonymous = github.bare(Method::GET, &path).header("user-agent", "test");
    let anonymous = answer(anonymous).await;
    assert_eq!(anonymous.refusal(), (404, "Not Found"));
    assert_eq!(anonymous.header("x-ratelimit-limit"), "60");
}

#[tokio::test]
async fn both_spellings_of_a_token_are_understood() {
    let github = GithubStand::start().await;
    for scheme in ["Bearer", "bearer", "token"] {
        let request = github.bare(Method::GET, REPO).header("user-agent", "test");
        let request = request.header("authorization", format!("{scheme} s-chain"));
        let answer = answer(request).await;
        assert_eq!(answer.status, 200, "{scheme}");
        assert_eq!(answer.body["default_branch"], "main");
    }
}

#[tokio::test]
async fn writing_needs_the_permission_to_write() {
    let github = GithubStand::start().await;
    for (method, path) in [
        (Method::POST, "/git/refs"),
        (Method::DELETE, "/git/refs/heads/main"),
        (Method::PUT, "/contents/a.txt"),
        (Method::POST, "/actions/workflows/tick-a.yml/dispatches"),
        (Method::POST, "/actions/runs/1/cancel"),
    ] {
        let request = github.ask(method.clone(), &format!("{REPO}{path}"), "s-reader");
        let refused = answer(request.json(&json!({}))).await;
        let expected = (403, "Resource not accessible by integration");
        assert_eq!(refused.refusal(), expected, "{method} {path}");
    }
}

#[tokio::test]
async fn a_request_without_user_agent_is_refused_first() {
    let github = GithubStand::start().await;
    let request = github.bare(Method::GET, REPO).bearer_auth("s-chain");
    let refused = answer(request).await;
    assert_eq!(refused.status, 403);
    assert_eq!(refused.header("content-type"), "text/html; charset=utf-8");
    let message = refused.body.as_str().unwrap();
    assert!(
        message.contains("Request forbidden by administrative rules."),
        "{message}"
    );
    assert_eq!(github.handle().charged("chain"), 0);
}

#[tokio::test]
async fn every_answer_says_its_id_and_standing() {
    let github = GithubStand::start().await;
    let first = github.get(&format!("{REPO}/git/ref/heads/main")).await;
    let second = github.get("/nowhere").await;
    assert_eq!(second.refusal(), (404, "Not Found"));
    for (answer, used) in [(&first, 1), (&second, 2)] {
        assert_eq!(answer.number("x-ratelimit-limit"), 1000);
        assert_eq!(answer.number("x-ratelimit-used"), used);
        assert_eq!(answer.number("x-ratelimit-remaining"), 1000 - used);
        let reset = github.clock.after(3600).as_second();
        assert_eq!(answer.number("x-ratelimit-reset"), reset);
        assert_eq!(answer.header("x-ratelimit-resource"), "core");
    }
    assert_ne!(
        first.header("x-github-request-id"),
        second.header("x-github-request-id")
    );
}

#[tokio::test]
async fn a_method_that_does_not_exist_is_not_found() {
    let github = GithubStand::start().await;
    let path = format!("{REPO}/git/ref/heads/main");
    let refused = github.send(Method::DELETE, &path, json!({})).await;
    assert_eq!(refused.refusal(), (404, "Not Found"));
}

#[tokio::test]
async fn the_last_request_passes_and_the_next_waits_for_the_reset() {
    let github = GithubStand::start().await;
    github
        .handle()
        .leave_requests("chain", Resource::Core, 1)
        .unwrap();
    let last = github.get(REPO).await;
    assert_eq!(
        (last.status, last.number("x-ratelimit-remaining")),
        (200, 0)
    );

    let refused = github.get(REPO).await;
    assert_eq!(refused.status, 403);
    let message = refused.body["message"].as_str().unwrap();
    assert!(
        message.starts_with("API rate limit exceeded for "),
        "{message}"
    );
    assert_eq!(refused.number("x-ratelimit-remaining"), 0);
    assert_eq!(refused.header("retry-after"), "");
    let rate = github.get("/rate_limit").await;
    assert_eq!(rate.status, 200, "asking for the limit is always possible");
    assert_eq!(rate.body["resources"]["core"]["remaining"], 0);
    assert_eq!(rate.body["resources"]["graphql"]["remaining"], 1000);
    assert_eq!(rate.body["rate"], rate.body["resources"]["core"]);

    github.clock.advance(3600);
    let after = github.get(REPO).await;
    assert_eq!((after.status, after.number("x-ratelimit-used")), (200, 1));
}

#[tokio::test]
async fn dp_13_tokens_that_share_a_window_use_it_up_together() {
    let github = GithubStand::start().await;
    for name in ["run-1", "run-2"] {
        github.handle().add_token(Token {
            shares_window: Some("octo/clock".to_owned()),
            ..Token::new(name, &format!("s-{name}"), &["octo/clock"])
        });
    }
    for (secret, used) in [
        ("s-run-1", 1),
        ("s-run-2", 2),
        ("s-run-1", 3),
        ("s-chain", 1),
    ] {
        let answered = answer(github.ask(Method::GET, REPO, secret)).await;
        assert_eq!(answered.number("x-ratelimit-used"), used, "{secret}");
    }
    let charged = |name| github.handle().charged(name);
    assert_eq!((charged("run-1"), charged("run-2")), (2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_at_once_no_more_pass_than_there_is_room_for() {
    let github = GithubStand::start().await;
    github
        .handle()
        .leave_requests("chain", Resource::Core, 7)
        .unwrap();
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..20 {
        asking.spawn(answer(github.ask(Method::GET, REPO, "s-chain")));
    }
    let answers = asking.join_all().await;
    let passed = answers.iter().filter(|answer| answer.status == 200);
    assert_eq!(passed.count(), 7);
}

#[tokio::test]
async fn unchanged_content_costs_nothing() {
    let github = GithubStand::start().await;
    let path = format!("{REPO}/git/matching-refs/tags/lock");
    let ask = |etag: &str| {
        let request = github.ask(Method::GET, &path, "s-chain");
        answer(request.header("if-none-match", etag))
    };
    let first = github.get(&path).await;
    let etag = first.header("etag").to_owned();
    assert!(etag.starts_with("W/\""), "{etag}");

    for known in [
        &etag,
        &etag.replace("W/", ""),
        &format!("\"x\", {etag}"),
        "*",
    ] {
        let same = ask(known).await;
        assert_eq!((same.status, &same.body), (304, &json!("")), "{known}");
        assert_eq!(same.number("x-ratelimit-used"), 1, "{known}");
        assert_eq!(same.header("etag"), etag);
    }
    let body = json!({ "ref": "refs/tags/lock/a", "sha": github.head() });
    github.post(&format!("{REPO}/git/refs"), body).await;
    let changed = ask(&etag).await;
    assert_eq!(changed.status, 200);
    assert_ne!(changed.header("etag"), etag);

    let counts = github.handle().counts();
    let route = "GET /repos/{owner}/{repo}/git/matching-refs/{ref}";
    let of = |status, charged| {
        let mut counts = counts
            .iter()
            .filter(|it| it.kind.route == route && it.kind.token == "chain");
        let found = counts.find(|it| it.kind.status == status && it.kind.charged == charged);
        found.map_or(0, |count| count.requests)
    };
    assert_eq!((of(200, true), of(304, false), of(304, true)), (2, 4, 0));
    assert_eq!(github.handle().charged("chain"), 3);
}
