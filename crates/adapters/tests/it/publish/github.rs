//! GitHub contents, against the simulated GitHub and against answers by the book.

use std::{sync::Arc, time::Duration};

use almanack_adapters::{
    clock::SystemClock,
    github::{Github, GithubSettings, Repository, Token, blob_id},
    publish::{
        github::{GithubPublisher, GithubPublisherSettings, MESSAGE, PATH},
        template::{PathTemplate, Template},
    },
};
use almanack_core::{
    budget::Budget,
    edition::port::{FailureClass, Presence, Publisher, Sent},
};
use almanack_lab::github::{
    Config, Running,
    fault::{Effect, Matching, Rule, When},
    limit::Resource,
    setup, start,
};
use jiff::SignedDuration;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{brief, document, failed, message, receipt, request_budget, unknown};
use crate::{
    fake_github::{self, FakeGithub, Fault},
    fixture::client,
};

const FILE: &str = "_posts/2026-01-10-daily.md";

fn publisher(github: Arc<Github>, repository: &str, branch: &str) -> GithubPublisher {
    let settings = GithubPublisherSettings {
        destination: "blog".to_owned(),
        repository: Repository::parse(repository).unwrap(),
        branch: branch.to_owned(),
        path: PathTemplate::parse(PATH).unwrap(),
        message: Template::parse(MESSAGE).unwrap(),
    };
    GithubPublisher::new(github, settings)
}

struct World {
    running: Running,
    _stop: DropGuard,
}

impl World {
    async fn start() -> Self {
        let mut config = Config::new("127.0.0.1:0".parse().unwrap());
        let repository = setup::Repository::new("acme", "news", Vec::new());
        config.setup.repositories.push(repository);
        config.setup.tokens = vec![
            setup::Token::new("renderer", "s-renderer", &["acme/news"]),
            setup::Token {
                contents: setup::Permission::Read,
                ..setup::Token::new("reader", "s-reader", &["acme/news"])
            },
        ];
        let cancel = CancellationToken::new();
        let running = start(config, cancel.clone()).await.unwrap();
        Self {
            running,
            _stop: cancel.drop_guard(),
        }
    }

    fn github(&self, token: &str) -> Arc<Github> {
        let settings = GithubSettings {
            base_url: self.running.url(),
            token: Token::new(token),
            timeout: Duration::from_secs(10),
        };
        Arc::new(Github::new(client(), Arc::new(SystemClock), &settings).unwrap())
    }

    fn publisher(&self) -> GithubPublisher {
        publisher(self.github("s-renderer"), "acme/news", "main")
    }

    fn file(&self) -> Option<Vec<u8>> {
        self.running.handle.file("acme", "news", "main", FILE)
    }

    fn head(&self) -> String {
        self.running.handle.refs("acme", "news")["refs/heads/main"].clone()
    }

    fn break_next(&self, method: &str, effect: Effect) {
        self.running.handle.add_fault(Rule {
            matching: Matching {
                method: Some(method.to_owned()),
                path: Some("/contents/".to_owned()),
                ..Matching::default()
            },
            when: When::Next(1),
            effect,
        });
    }
}

#[tokio::test]
async fn ed_34_a_file_is_made_then_replaced_and_the_same_costs_no_commit() {
    let world = World::start().await;
    let publisher = world.publisher();
    let (first, second) = (document(1, "first"), document(1, "second"));
    let budget = request_budget();
    assert_eq!(
        publisher.look(&message(&first), &budget).await,
        Presence::NotThere
    );
    let made = receipt(publisher.send(&message(&first), &budget).await);
    assert!(made.starts_with(&world.head()), "{made}");
    assert!(made.contains(" http"), "where to look at it: {made}");
    assert_eq!(world.file().unwrap(), b"first");
    assert_eq!(budget.spent(), 1 + publisher.requests_per_part());

    let head = world.head();
    let again = receipt(publisher.send(&message(&first), &budget).await);
    assert!(again.starts_with(&blob_id(b"first")), "{again}");
    assert_eq!(world.head(), head, "no second commit");
    assert_eq!(budget.spent(), 4, "one look");

    receipt(publisher.send(&message(&second), &budget).await);
    assert_eq!(world.file().unwrap(), b"second", "in place, by sha");
    assert_eq!(
        publisher.look(&message(&first), &budget).await,
        Presence::NotThere
    );
    let seen = publisher.look(&message(&second), &budget).await;
    assert!(
        matches!(seen, Presence::There { receipt: Some(_) }),
        "{seen:?}"
    );
}

#[tokio::test]
async fn ed_12_a_reply_that_is_lost_is_settled_by_looking() {
    let world = World::start().await;
    let publisher = world.publisher();
    let document = document(1, "text");
    world.break_next("PUT", Effect::DropReply);
    let lost = unknown(publisher.send(&message(&document), &request_budget()).await);
    assert_eq!(lost.class, FailureClass::Transient);
    assert_eq!(world.file().unwrap(), b"text", "GitHub has it");
    let head = world.head();
    let seen = publisher.look(&message(&document), &request_budget()).await;
    assert!(matches!(seen, Presence::There { .. }), "{seen:?}");
    receipt(publisher.send(&message(&document), &request_budget()).await);
    assert_eq!(world.head(), head, "and sending it again adds nothing");
}

#[tokio::test]
async fn ed_12_trouble_before_the_write_is_certain_and_in_the_write_is_not() {
    let world = World::start().await;
    let publisher = world.publisher();
    let document = document(1, "text");
    for effect in [Effect::Status(502), Effect::DropReply] {
        world.break_next("GET", effect);
        let failure = failed(publisher.send(&message(&document), &request_budget()).await);
        assert_eq!(failure.class, FailureClass::Transient, "{failure}");
        world.break_next("GET", effect);
        let seen = publisher.look(&message(&document), &request_budget()).await;
        assert!(matches!(seen, Presence::Failed(_)), "{seen:?}");
    }
    world.break_next("PUT", Effect::Status(503));
    let failure = unknown(publisher.send(&message(&document), &request_budget()).await);
    assert_eq!(failure.class, FailureClass::Transient);
    assert_eq!(
        publisher.look(&message(&document), &request_budget()).await,
        Presence::NotThere
    );
}

#[tokio::test]
async fn ed_12_missing_permissions_and_missing_files_are_distinguished_from_limits() {
    let world = World::start().await;
    let document = document(1, "text");
    let sent = async |token: &str, repository: &str, branch: &str| {
        let publisher = publisher(world.github(token), repository, branch);
        failed(publisher.send(&message(&document), &request_budget()).await)
    };
    for (token, repository, branch, class) in [
        ("s-wrong", "acme/news", "main", FailureClass::Credentials),
        ("s-reader", "acme/news", "main", FailureClass::Credentials),
        ("s-renderer", "acme/gone", "main", FailureClass::Refused),
        ("s-renderer", "acme/news", "gone", FailureClass::Refused),
    ] {
        let failure = sent(token, repository, branch).await;
        assert_eq!(
            failure.class, class,
            "{token} {repository} {branch}: {failure}"
        );
        assert!(!failure.detail.contains(token), "{failure}");
        let hinted = failure.detail.contains("check the repository, the branch");
        assert_eq!(hinted, class == FailureClass::Refused, "{failure}");
    }
    world.break_next("PUT", Effect::SecondaryLimit { retry_after_s: 30 });
    let limited = sent("s-renderer", "acme/news", "main").await;
    assert_eq!(brief(&limited), (FailureClass::RateLimited, Some(30)));
    let leave = world
        .running
        .handle
        .leave_requests("renderer", Resource::Core, 1);
    leave.unwrap();
    let limited = sent("s-renderer", "acme/news", "main").await;
    assert_eq!(limited.class, FailureClass::RateLimited, "{limited}");
    assert!(
        limited.retry_after > Some(SignedDuration::from_secs(1)),
        "until the reset: {limited:?}"
    );
    assert_eq!(world.file(), None);
}

/// Answers to looks and writes, one after the other.
async fn scripted(looks: &[Fault], writes: &[Fault]) -> (Arc<FakeGithub>, GithubPublisher) {
    let (fake_github, github) = FakeGithub::start().await;
    for fault in looks.iter().chain(writes) {
        fake_github.break_next(fault.clone());
    }
    (fake_github, publisher(github, "acme/news", "main"))
}

fn look(sha: &str) -> Fault {
    Fault {
        body: serde_json::json!({"type": "file", "sha": sha}),
        ..Fault::answer("GET /repos/acme/news/contents/", 200, "")
    }
}

fn write(status: u16, message: &str) -> Fault {
    Fault::answer("PUT /repos/acme/news/contents/", status, message)
}

#[tokio::test]
async fn ed_34_who_is_overtaken_looks_again_and_writes_up_to_three_times() {
    let document = document(1, "text");
    let (conflict, stale) = ("is at b but expected a", "\"sha\" wasn't supplied.");
    let twice = [write(409, conflict), write(422, stale), write(201, "")];
    let (fake_github, publisher) = scripted(&[look("a"), look("b"), look("c")], &twice).await;
    let taken = receipt(publisher.send(&message(&document), &request_budget()).await);
    assert_eq!(taken, blob_id(b"text"), "an answer that shows no commit");
    let written: Vec<serde_json::Value> = {
        let requests = fake_github.requests.lock().unwrap();
        let writes = requests.iter().filter(|(what, ..)| what.starts_with("PUT"));
        writes
            .map(|(.., body)| serde_json::from_slice(body).unwrap())
            .collect()
    };
    let shas: Vec<_> = written
        .iter()
        .map(|body| body["sha"].as_str().unwrap())
        .collect();
    assert_eq!(shas, ["a", "b", "c"], "each replaces what it saw");
    assert_eq!(written[2]["branch"], "main");
    assert_eq!(written[2]["message"], "Add the edition of 2026-01-10");
    assert_eq!(written[2]["content"], "dGV4dA==");

    let overtaken = [
        write(409, conflict),
        write(409, conflict),
        write(409, conflict),
    ];
    let (fake_github, publisher) = scripted(&[look("a"), look("b"), look("c")], &overtaken).await;
    let given_up = failed(publisher.send(&message(&document), &request_budget()).await);
    assert_eq!(given_up.class, FailureClass::Transient, "{given_up}");
    assert_eq!(fake_github.asked().len(), 6);

    let ours = look(&blob_id(b"text"));
    let (fake_github, publisher) = scripted(&[look("a"), ours], &[write(409, conflict)]).await;
    receipt(publisher.send(&message(&document), &request_budget()).await);
    assert_eq!(
        fake_github.asked().len(),
        3,
        "the other one wrote the very same"
    );
}

#[tokio::test]
async fn ed_12_what_an_answer_to_a_write_means() {
    let document = document(1, "text");
    let reset = 1_767_600_000 + 600;
    for (fault, class, wait) in [
        (
            write(401, "Bad credentials"),
            FailureClass::Credentials,
            None,
        ),
        (write(403, "Forbidden"), FailureClass::Credentials, None),
        (
            write(403, "x")
                .header("x-ratelimit-remaining", &0)
                .header("x-ratelimit-reset", &reset),
            FailureClass::RateLimited,
            Some(601),
        ),
        (write(404, "Not Found"), FailureClass::Refused, None),
        (write(422, "path is malformed"), FailureClass::Refused, None),
        (write(301, "Moved Permanently"), FailureClass::Refused, None),
    ] {
        let shown = format!("{fault:?}");
        let (_github, publisher) = scripted(&[look("a")], &[fault]).await;
        let failure = failed(publisher.send(&message(&document), &request_budget()).await);
        assert_eq!(brief(&failure), (class, wait), "{shown}");
        assert!(!failure.detail.contains(fake_github::TOKEN), "{failure}");
    }
    let silent = Fault::lost_answer("PUT /repos/acme/news/contents/");
    for fault in [write(500, "x"), silent] {
        let (_github, publisher) = scripted(&[look("a")], &[fault]).await;
        unknown(publisher.send(&message(&document), &request_budget()).await);
    }
}

#[tokio::test]
async fn ed_08_an_empty_request_budget_stops_before_the_look_or_before_the_write() {
    let document = document(1, "text");
    for requests in [0, 1] {
        let (fake_github, publisher) = scripted(&[look("a")], &[write(201, "")]).await;
        let budget = Budget::new(requests);
        let sent = publisher.send(&message(&document), &budget).await;
        assert!(
            matches!(&sent, Sent::Failed(failure) if failure.is_spent()),
            "{sent:?}"
        );
        assert_eq!(
            fake_github.asked().len(),
            usize::try_from(requests).unwrap()
        );
    }
    let (_github, publisher) = scripted(&[], &[]).await;
    let seen = publisher.look(&message(&document), &Budget::new(0)).await;
    assert!(
        matches!(&seen, Presence::Failed(failure) if failure.is_spent()),
        "{seen:?}"
    );
}

#[tokio::test]
async fn ed_12_a_missing_server_is_certain() {
    let publisher = publisher(
        fake_github::client("http://127.0.0.1:1025"),
        "acme/news",
        "main",
    );
    let document = document(1, "text");
    let failure = failed(publisher.send(&message(&document), &request_budget()).await);
    assert_eq!(failure.class, FailureClass::Transient, "{failure}");
}
