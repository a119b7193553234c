//! Injected faults of GitHub.

use almanack_lab::github::fault::{Effect, Matching, Rule, When};
use reqwest::Method;
use serde_json::json;

use super::{GithubStand, REPO, answer};
use crate::support::within;

fn rule(path: &str, when: When, effect: Effect) -> Rule {
    Rule {
        matching: Matching {
            path: Some(path.to_owned()),
            ..Matching::default()
        },
        when,
        effect,
    }
}

#[tokio::test]
async fn a_failing_github_changes_nothing() {
    let github = GithubStand::start().await;
    github
        .handle()
        .add_fault(rule("/git/refs", When::Next(3), Effect::Status(502)));
    let body = json!({ "ref": "refs/tags/lock/a", "sha": github.head() });
    let refs = format!("{REPO}/git/refs");
    for _ in 0..3 {
        assert_eq!(github.post(&refs, body.clone()).await.status, 502);
        assert_eq!(
            github.get(REPO).await.status,
            200,
            "only where the rule says so"
        );
    }
    assert_eq!(
        github
            .handle()
            .refs("octo", "clock")
            .get("refs/tags/lock/a"),
        None
    );
    assert_eq!(github.post(&refs, body).await.status, 201);
}

#[tokio::test]
async fn a_secondary_limit_has_a_retry_after() {
    let github = GithubStand::start().await;
    let effect = Effect::SecondaryLimit { retry_after_s: 60 };
    github.handle().add_fault(rule("", When::Every(2), effect));
    assert_eq!(github.get(REPO).await.status, 200);
    let refused = github.get(REPO).await;
    assert_eq!((refused.status, refused.header("retry-after")), (403, "60"));
    assert_ne!(refused.number("x-ratelimit-remaining"), 0);
    let message = refused.body["message"].as_str().unwrap();
    assert!(
        message.starts_with("You have exceeded a secondary rate limit."),
        "{message}"
    );
    github.handle().clear_faults();
    for _ in 0..4 {
        assert_eq!(github.get(REPO).await.status, 200);
    }
}

#[tokio::test]
async fn a_lost_reply_leaves_its_effect_behind() {
    let github = GithubStand::start().await;
    github
        .handle()
        .add_fault(rule("/git/refs", When::Next(1), Effect::DropReply));
    let body = json!({ "ref": "refs/tags/lock/a", "sha": github.head() });
    let refs = format!("{REPO}/git/refs");
    let request = github.ask(Method::POST, &refs, "s-chain").json(&body);
    let lost = request.send().await.unwrap_err();
    assert!(lost.is_request(), "{lost:?}");
    assert!(
        github
            .handle()
            .refs("octo", "clock")
            .contains_key("refs/tags/lock/a")
    );

    let again = github.post(&refs, body).await;
    assert_eq!(again.refusal(), (422, "Reference already exists"));
    let seen = github.handle().requests();
    let requests: Vec<(u16, bool, bool)> = seen
        .iter()
        .map(|it| (it.kind.status, it.kind.charged, it.facts.replied))
        .collect();
    assert_eq!(requests, [(201, true, false), (422, true, true)]);
}

#[tokio::test]
async fn a_slow_answer_is_right_but_late() {
    let github = GithubStand::start().await;
    let slow = Effect::Slow { wait_ms: 600_000 };
    github
        .handle()
        .add_fault(rule("/git/refs", When::Next(1), slow));
    let body = json!({ "ref": "refs/tags/lock/a", "sha": github.head() });
    let request = github.ask(Method::POST, &format!("{REPO}/git/refs"), "s-chain");
    let waiting = tokio::spawn(answer(request.json(&body)));
    let handle = github.handle();
    // The rule is spent as soon as the slow request has arrived.
    within(handle.until(|github| github.faults().is_empty())).await;
    assert_eq!(github.get(REPO).await.status, 200, "others do not wait");
    assert_eq!(handle.refs("octo", "clock").get("refs/tags/lock/a"), None);
    assert!(!waiting.is_finished());
    waiting.abort();
}
