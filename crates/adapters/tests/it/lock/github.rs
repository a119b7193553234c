//! Locks over GitHub's REST API, and what becomes of answers that get lost.

use std::sync::Arc;

use almanack_adapters::{entropy::OsEntropy, github::Github, lock::github::GithubLock};
use almanack_core::lock::{Acquired, Error, SlotLock};
use almanack_testkit::lock::{Place, key};
use jiff::SignedDuration;

use crate::fake_github::{FakeGithub, Fault, repository};

const COMMIT: &str = "c0ffee0000000000000000000000000000000000";
const CREATE: &str = "POST /repos/acme/news/git/refs";

fn node(github: &Arc<Github>) -> GithubLock {
    let entropy = Arc::new(OsEntropy::default());
    GithubLock::new(Arc::clone(github), repository(), COMMIT.to_owned(), entropy)
}

async fn place() -> Place {
    let (fake_github, github) = FakeGithub::start().await;
    Place::new(move || Arc::new(node(&github))).keeping(fake_github)
}

almanack_testkit::lock_conformance!(place);

#[tokio::test]
async fn dp_05_a_lock_costs_one_request() {
    let (fake_github, github) = FakeGithub::start().await;
    let node = node(&github);
    for slot in [60, 70, 80] {
        assert_eq!(node.acquire(&key(1, slot)).await, Ok(Acquired::Won));
    }
    assert_eq!(node.acquire(&key(1, 60)).await, Ok(Acquired::Lost));
    let asked = fake_github.asked();
    assert_eq!(
        asked[0], "POST /repos/acme/news/git/tags",
        "once per process"
    );
    assert_eq!(asked[1..], [CREATE; 4]);
}

#[tokio::test]
async fn dp_06_only_an_existing_reference_is_lost() {
    for (fault, transient, waits) in [
        (
            Fault::answer(CREATE, 422, "Object does not exist"),
            false,
            None,
        ),
        (Fault::answer(CREATE, 404, "Not Found"), false, None),
        (Fault::answer(CREATE, 401, "Bad credentials"), false, None),
        (Fault::answer(CREATE, 500, "Server Error"), true, None),
        (
            Fault::answer(CREATE, 429, "Slow down").header("retry-after", &5),
            true,
            Some(5),
        ),
    ] {
        let (fake_github, github) = FakeGithub::start().await;
        let node = node(&github);
        let shown = format!("{fault:?}");
        fake_github.break_next(fault);
        let error = node.acquire(&key(1, 60)).await.unwrap_err();
        assert_eq!(error.is_transient(), transient, "{shown}");
        assert_eq!(
            error.retry_after(),
            waits.map(SignedDuration::from_secs),
            "{shown}"
        );
        assert_eq!(
            node.acquire(&key(1, 60)).await,
            Ok(Acquired::Won),
            "{shown}: asked again"
        );
    }
}

#[tokio::test]
async fn dp_06_a_creation_whose_answer_is_lost_is_recognised_as_our_own() {
    for fault in [
        Fault::lost_answer(CREATE),
        Fault {
            takes_effect: true,
            ..Fault::answer(CREATE, 502, "Bad Gateway")
        },
    ] {
        let (fake_github, github) = FakeGithub::start().await;
        let (ours, other) = (node(&github), node(&github));
        fake_github.break_next(fault);
        let lost = ours.acquire(&key(1, 60)).await;
        assert!(matches!(lost, Err(Error::Unavailable { .. })), "{lost:?}");
        assert_eq!(
            other.acquire(&key(1, 60)).await,
            Ok(Acquired::Lost),
            "it had arrived"
        );
        assert_eq!(ours.acquire(&key(1, 60)).await, Ok(Acquired::Won));
        assert_eq!(ours.acquire(&key(1, 60)).await, Ok(Acquired::Lost), "once");
    }
}

#[tokio::test]
async fn dp_06_a_creation_that_never_arrived_may_be_another_node_s_by_now() {
    let (fake_github, github) = FakeGithub::start().await;
    let (ours, other) = (node(&github), node(&github));
    let mut fault = Fault::lost_answer(CREATE);
    fault.takes_effect = false;
    fake_github.break_next(fault);
    assert!(ours.acquire(&key(1, 60)).await.is_err());
    assert_eq!(other.acquire(&key(1, 60)).await, Ok(Acquired::Won));
    assert_eq!(ours.acquire(&key(1, 60)).await, Ok(Acquired::Lost));
}

#[tokio::test]
async fn dp_06_without_a_mark_of_its_own_a_doubtful_lock_is_lost() {
    let (fake_github, github) = FakeGithub::start().await;
    let node = node(&github);
    fake_github.break_next(Fault::answer("/git/tags", 404, "Not Found"));
    fake_github.break_next(Fault::lost_answer(CREATE));
    assert!(node.acquire(&key(1, 60)).await.is_err());
    assert_eq!(
        fake_github.refs.lock().unwrap()[&key(1, 60).ref_name()],
        COMMIT
    );
    assert_eq!(
        node.acquire(&key(1, 60)).await,
        Ok(Acquired::Lost),
        "missed, never doubled"
    );
    assert_eq!(node.acquire(&key(1, 70)).await, Ok(Acquired::Won));
}

#[tokio::test]
async fn dp_15_no_error_names_the_repository() {
    let (fake_github, github) = FakeGithub::start().await;
    fake_github.break_next(Fault::answer(CREATE, 403, "acme/news is archived"));
    let error = node(&github).acquire(&key(1, 60)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "locks are refused: HTTP 403: ***/*** is archived"
    );
}
