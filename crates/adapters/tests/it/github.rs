//! The GitHub client and the workflow launcher against GitHub's protocol.

use std::{collections::BTreeMap, sync::Arc};

use almanack_adapters::github::{Error, Github, Repository, RunFilter, Token, WorkflowLauncher};
use almanack_core::{
    chain::NotSeen,
    finish::Outcome,
    follow::{Ended, Followed, HandedOver, Seen, Work},
    target::{
        Launcher, Target,
        runs::{OtherFiring, OtherFirings},
    },
    task::{ClaimedTask, TaskId},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::{
    fake_github::{FakeGithub, Fault, TOKEN, client, repository},
    fixture::{firing, task},
};

const NOW: i64 = 1_767_600_000;
const DISPATCH: &str = "/dispatches";

async fn fire(github: Arc<Github>) -> Outcome {
    let target = json!({
        "type": "workflow", "repository": "acme/news", "workflow": "daily.yml",
        "ref": "stable", "inputs": {"mode": "full"},
    });
    let launcher = WorkflowLauncher::new(github);
    launcher.fire(&firing(target), &task(None)).await
}

async fn fire_into(fault: Fault) -> Outcome {
    let (fake_github, github) = FakeGithub::start().await;
    fake_github.break_next(fault);
    fire(github).await
}

fn error_of(outcome: &Outcome) -> &str {
    let (Outcome::Retry { error, .. } | Outcome::GiveUp { error }) = outcome else {
        panic!("{outcome:?}");
    };
    error
}

#[tokio::test]
async fn dp_11_a_workflow_is_dispatched_with_its_ref_and_inputs() {
    let (fake_github, github) = FakeGithub::start().await;
    assert_eq!(fire(github).await.name(), "done");
    let requests = fake_github.requests.lock().unwrap();
    let [(what, headers, body)] = requests.as_slice() else {
        panic!("one firing, one request: {requests:?}");
    };
    assert_eq!(
        what,
        "POST /repos/acme/news/actions/workflows/daily.yml/dispatches"
    );
    assert_eq!(headers["authorization"], format!("Bearer {TOKEN}"));
    assert_eq!(headers["x-github-api-version"], "2022-11-28");
    assert_eq!(headers["accept"], "application/vnd.github+json");
    assert!(
        headers["user-agent"]
            .to_str()
            .unwrap()
            .starts_with("almanack/")
    );
    assert_eq!(
        serde_json::from_slice::<Value>(body).unwrap(),
        json!({"ref": "stable", "inputs": {"mode": "full"}, "return_run_details": true})
    );
}

#[tokio::test]
async fn dp_11_a_server_that_cannot_name_the_run_is_asked_without() {
    let (fake_github, github) = FakeGithub::start().await;
    let message = "Invalid request.\n\n\"return_run_details\" is not a permitted key.";
    fake_github.break_next(Fault::answer(DISPATCH, 422, message));
    assert_eq!(fire(Arc::clone(&github)).await.name(), "done");
    assert_eq!(fire(github).await.name(), "done");
    let requests = fake_github.requests.lock().unwrap();
    let asked = requests.iter().map(|(_, _, body)| {
        let body: Value = serde_json::from_slice(body).unwrap();
        body.get("return_run_details").is_some()
    });
    assert_eq!(asked.collect::<Vec<_>>(), [true, false, false]);
}

#[tokio::test]
async fn dp_12_refusals_are_final_and_limits_and_troubles_are_waited_out() {
    let limit = "API rate limit exceeded for installation.";
    let second = "You have exceeded a secondary rate limit.";
    let answer = |status, message| Fault::answer(DISPATCH, status, message);
    let spent = |status, message| answer(status, message).header("x-ratelimit-remaining", &0);
    for (fault, expected, waits) in [
        (answer(404, "Not Found"), "give_up", None),
        (answer(422, "No ref found for: stable"), "give_up", None),
        (answer(401, "Bad credentials"), "give_up", None),
        (
            answer(403, "Resource not accessible by personal access token"),
            "give_up",
            None,
        ),
        (answer(301, "Moved Permanently"), "give_up", None),
        (
            spent(403, limit).header("x-ratelimit-reset", &(NOW + 600)),
            "retry",
            Some(601),
        ),
        (
            spent(429, limit).header("x-ratelimit-reset", &(NOW + 600)),
            "retry",
            Some(601),
        ),
        (
            answer(403, second).header("retry-after", &30),
            "retry",
            Some(30),
        ),
        (answer(500, "Server Error"), "retry", None),
        (
            answer(503, "Unavailable").header("retry-after", &9),
            "retry",
            Some(9),
        ),
    ] {
        let shown = format!("{fault:?}");
        let message = fault.body["message"].as_str().unwrap().to_owned();
        let outcome = fire_into(fault).await;
        assert_eq!(outcome.name(), expected, "{shown}");
        assert!(
            error_of(&outcome).contains(&message),
            "{outcome:?}: GitHub's own words"
        );
        if let Outcome::Retry { retry_after, .. } = outcome {
            assert_eq!(retry_after, waits.map(SignedDuration::from_secs), "{shown}");
        }
    }
}

#[tokio::test]
async fn dp_12_a_dispatch_whose_answer_is_lost_is_retried_and_says_so() {
    let outcome = fire_into(Fault::lost_answer(DISPATCH)).await;
    assert_eq!(outcome.name(), "retry");
    assert!(
        error_of(&outcome).contains("may have been started"),
        "{outcome:?}"
    );
    // Taken and given back, so no server listens there.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let outcome = fire(client(&url)).await;
    assert_eq!(outcome.name(), "retry");
    assert!(
        !error_of(&outcome).contains("may have"),
        "{outcome:?}: nothing was sent"
    );
}

#[tokio::test]
async fn dp_15_no_error_names_the_repository_the_workflow_or_the_token() {
    let message = "Workflow daily.yml (daily) does not exist in ACME/news";
    for status in [403, 404, 422, 429, 500] {
        let outcome = fire_into(Fault::answer(DISPATCH, status, message)).await;
        let error = error_of(&outcome);
        assert!(
            error.contains("Workflow *** (***) does not exist in ***/***"),
            "{error}"
        );
    }
    let (_github, github) = FakeGithub::start().await;
    for shown in [
        format!("{:?}", Token::new(TOKEN)),
        format!("{:?}", repository()),
        format!("{github:?}"),
        format!("{:?}", WorkflowLauncher::new(github)),
    ] {
        assert!(!shown.contains(TOKEN) && !shown.contains("acme"), "{shown}");
    }
}

#[tokio::test]
async fn a_target_that_would_leave_its_path_is_given_up_unasked() {
    let (fake_github, github) = FakeGithub::start().await;
    let target = json!({"type": "workflow", "repository": "acme/..", "workflow": "w.yml"});
    let launcher = WorkflowLauncher::new(github);
    assert_eq!(
        launcher.fire(&firing(target), &task(None)).await.name(),
        "give_up"
    );
    assert_eq!(fake_github.asked(), [""; 0]);
    for bad in [
        "",
        "acme",
        "acme/",
        "/news",
        "a/b/c",
        "acme/..",
        "acme/n ews",
    ] {
        assert_eq!(Repository::parse(bad), None, "{bad}");
    }
}

#[tokio::test]
async fn dp_13_an_unchanged_list_is_not_sent_again() {
    let (fake_github, github) = FakeGithub::start().await;
    let run = |id: u64| {
        let created_at = "2026-01-05T08:00:00Z";
        json!({"id": id, "status": "in_progress", "conclusion": null, "created_at": created_at})
    };
    fake_github.runs.lock().unwrap().push(run(7));
    let repository = repository();
    let filter = RunFilter {
        status: Some("in_progress"),
        count: 10,
        ..RunFilter::default()
    };
    let list = || github.list_runs(&repository, "tick-a.yml", filter);
    let first = list().await.unwrap();
    assert_eq!((first[0].id, first[0].status.as_str()), (7, "in_progress"));
    assert_eq!(list().await.unwrap(), first, "from memory");
    fake_github.runs.lock().unwrap().insert(0, run(8));
    assert_eq!(
        list().await.unwrap().len(),
        2,
        "and not from memory once it has changed"
    );
    let requests = fake_github.requests.lock().unwrap();
    let asked =
        "GET /repos/acme/news/actions/workflows/tick-a.yml/runs?per_page=10&status=in_progress";
    let conditional: Vec<bool> = requests
        .iter()
        .map(|(_, headers, _)| headers.contains_key("if-none-match"))
        .collect();
    assert_eq!(conditional, [false, true, true]);
    assert!(requests.iter().all(|(what, ..)| what == asked));
}

fn name(number: usize) -> String {
    format!("refs/tags/lock/{number:05}")
}

#[tokio::test]
async fn dp_07_all_pages_of_refs_are_listed_and_many_are_deleted_at_once() {
    let (fake_github, github) = FakeGithub::start().await;
    let all: BTreeMap<String, String> = (0..250).map(|n| (name(n), "c0ffee".to_owned())).collect();
    *fake_github.refs.lock().unwrap() = all.clone();
    fake_github
        .refs
        .lock()
        .unwrap()
        .insert("refs/tags/locksmith".to_owned(), "c0ffee".to_owned());
    let listed = github
        .list_refs(&repository(), "refs/tags/lock/")
        .await
        .unwrap();
    assert_eq!(
        listed.len(),
        250,
        "three pages, and only what is under the prefix"
    );
    assert_eq!(fake_github.asked().len(), 3);
    let names: Vec<String> = all.into_keys().take(150).collect();
    github.delete_refs(&repository(), &names).await.unwrap();
    assert_eq!(fake_github.refs.lock().unwrap().len(), 101);
    let asked = fake_github.asked().split_off(3);
    assert_eq!(
        asked,
        ["GET /repos/acme/news", "POST /graphql", "POST /graphql"]
    );
}

#[tokio::test]
async fn dp_07_a_ref_that_is_already_gone_does_not_save_the_others() {
    let (fake_github, github) = FakeGithub::start().await;
    fake_github
        .refs
        .lock()
        .unwrap()
        .insert(name(1), "c0ffee".to_owned());
    fake_github
        .refs
        .lock()
        .unwrap()
        .insert(name(3), "c0ffee".to_owned());
    let names = [name(1), name(2), name(3)];
    github.delete_refs(&repository(), &names).await.unwrap();
    assert!(
        fake_github.refs.lock().unwrap().is_empty(),
        "one by one, because at once was refused"
    );
}

#[tokio::test]
async fn a_link_to_somewhere_else_is_not_followed_with_our_token() {
    let (fake_github, github) = FakeGithub::start().await;
    let elsewhere = "<http://127.0.0.1:1/steal>; rel=\"next\"";
    let mut fault = Fault::answer("matching-refs", 200, "").header("link", &elsewhere);
    fault.body = json!([]);
    fake_github.break_next(fault);
    let listed = github.list_refs(&repository(), "refs/tags/lock/").await;
    assert!(
        matches!(listed, Err(Error::Unreadable { .. })),
        "{listed:?}"
    );
}

#[tokio::test]
async fn dp_13_the_client_knows_what_is_left_of_its_budget() {
    let (fake_github, github) = FakeGithub::start().await;
    assert_eq!(github.limit(), None);
    let fault = Fault::answer(DISPATCH, 500, "x")
        .header("x-ratelimit-remaining", &12)
        .header("x-ratelimit-reset", &(NOW + 60));
    fake_github.break_next(fault);
    fire(Arc::clone(&github)).await;
    let limit = github.limit().unwrap();
    assert_eq!(
        (limit.remaining, limit.reset_at.as_second()),
        (12, NOW + 60)
    );
}

/// No other firing.
struct Alone;

#[async_trait]
impl OtherFirings for Alone {
    async fn load_decided_at(&self, _: &ClaimedTask) -> Result<Timestamp, NotSeen> {
        Ok(Timestamp::from_second(NOW).unwrap())
    }

    async fn load_others(
        &self,
        _: &ClaimedTask,
        _: &Target,
        _: Timestamp,
    ) -> Result<Vec<OtherFiring>, NotSeen> {
        Ok(Vec::new())
    }
}

fn following(github: &Arc<Github>) -> WorkflowLauncher {
    WorkflowLauncher::new(Arc::clone(github)).looking(Arc::new(Alone))
}

fn workflow() -> Value {
    json!({"type": "workflow", "repository": "acme/news", "workflow": "daily.yml"})
}

fn run(id: u64, status: &str, conclusion: Option<&str>) -> Value {
    json!({
        "id": id, "status": status, "conclusion": conclusion, "head_branch": "main",
        "created_at": "2099-01-05T08:00:01Z", "run_started_at": "2026-01-05T07:59:00Z",
        "updated_at": "2026-01-05T07:59:30Z",
    })
}

async fn look(github: &Arc<Github>, run: Option<u64>) -> Seen {
    let since = Timestamp::from_second(NOW).unwrap();
    let work = Work::Run { run, since };
    let followed = Followed::new(TaskId(1), work, since, SignedDuration::from_hours(24));
    let (firing, task) = (firing(workflow()), task(None));
    following(github).look(&firing, &task, &followed).await
}

#[tokio::test]
async fn dp_19_the_conclusion_of_a_run_is_the_outcome() {
    let (fake_github, github) = FakeGithub::start().await;
    let handed_over = following(&github)
        .hand_over(&firing(workflow()), &task(None))
        .await;
    let HandedOver::Works(Work::Run { run: None, .. }) = handed_over else {
        panic!("this server names no run: {handed_over:?}");
    };
    for (status, conclusion, expected) in [
        ("queued", None, None),
        ("in_progress", None, None),
        ("completed", Some("success"), Some(Ended::Done)),
        ("completed", Some("skipped"), Some(Ended::Done)),
        ("completed", Some("failure"), Some(Ended::Failed)),
        ("completed", Some("timed_out"), Some(Ended::Failed)),
        ("completed", Some("cancelled"), Some(Ended::Failed)),
    ] {
        *fake_github.runs.lock().unwrap() = vec![run(7, status, conclusion)];
        match (look(&github, Some(7)).await, expected) {
            (Seen::Works { started_at, .. }, None) => {
                assert_eq!(started_at.is_some(), status == "in_progress");
            }
            (Seen::Ended { ending, started_at }, Some(ended)) => {
                assert_eq!(ending.ended, ended);
                let said = format!("the workflow ended as {}: run 7", conclusion.unwrap());
                assert_eq!(ending.detail, said);
                assert!(started_at.is_some_and(|at| at < ending.ended_at));
            }
            other => panic!("{status} {conclusion:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn dp_19_a_run_without_a_number_is_found_or_the_firing_says_that_it_was_not() {
    let (fake_github, github) = FakeGithub::start().await;
    assert_eq!(look(&github, None).await, Seen::UNCHANGED, "not shown yet");
    *fake_github.runs.lock().unwrap() = vec![run(7, "queued", None)];
    let Seen::Works {
        work: Some(work), ..
    } = look(&github, None).await
    else {
        panic!("it is the only run since");
    };
    assert!(matches!(work, Work::Run { run: Some(7), .. }), "{work:?}");
    *fake_github.runs.lock().unwrap() = vec![run(7, "queued", None), run(8, "queued", None)];
    let Seen::Ended { ending, .. } = look(&github, None).await else {
        panic!("either may be its own");
    };
    assert_eq!(ending.ended, Ended::Done, "it was handed over");
    assert!(
        ending.detail.contains("how it ended is not known"),
        "{}",
        ending.detail
    );
}

#[tokio::test]
async fn dp_13_dp_19_one_request_answers_for_many_runs() {
    let (fake_github, github) = FakeGithub::start().await;
    let runs = (1..=5).map(|id| run(id, "in_progress", None));
    *fake_github.runs.lock().unwrap() = runs.collect();
    *fake_github.old_run.lock().unwrap() = Some(run(99, "completed", Some("success")));
    let launcher = following(&github);
    let (firing, task) = (firing(workflow()), task(None));
    let since = Timestamp::from_second(NOW).unwrap();
    for id in [1, 2, 3, 4, 5, 99, 98] {
        let run = Some(id);
        let work = Work::Run { run, since };
        let followed = Followed::new(TaskId(1), work, since, SignedDuration::from_hours(24));
        let seen = launcher.look(&firing, &task, &followed).await;
        let is_over = matches!(seen, Seen::Ended { .. });
        assert_eq!(is_over, id > 5, "{id}: {seen:?}");
    }
    let asked = fake_github.asked();
    assert_eq!(
        asked.len(),
        3,
        "a list for five, and two by themselves: {asked:?}"
    );
}

/// The last hundred requests of a window start workflows; whether runs have ended can wait.
#[tokio::test]
async fn dp_13_looks_leave_the_last_requests_to_dispatches() {
    for (remaining, reset_in, waits) in [(99, 60, true), (100, 60, false), (99, -1, false)] {
        let (fake_github, github) = FakeGithub::start().await;
        *fake_github.runs.lock().unwrap() = vec![run(7, "in_progress", None)];
        let fault = Fault::answer(DISPATCH, 500, "x")
            .header("x-ratelimit-remaining", &remaining)
            .header("x-ratelimit-reset", &(NOW + reset_in));
        fake_github.break_next(fault);
        fire(Arc::clone(&github)).await;
        for id in [Some(7), None] {
            let before = fake_github.asked().len();
            let seen = look(&github, id).await;
            let asked = fake_github.asked().len() - before;
            let case = format!("{remaining} left for {reset_in} s, run {id:?}: {seen:?}");
            assert_eq!(asked == 0, waits, "{case}");
            let retry_after = match seen {
                Seen::Unseen { retry_after, .. } => retry_after,
                _ => None,
            };
            let expected = waits.then(|| SignedDuration::from_secs(reset_in));
            assert_eq!(retry_after, expected, "{case}");
        }
        assert_eq!(fire(github).await.name(), "done", "a dispatch goes first");
    }
}

#[tokio::test]
async fn dp_19_a_cancelled_firing_has_its_run_cancelled() {
    let (fake_github, github) = FakeGithub::start().await;
    let since = Timestamp::from_second(NOW).unwrap();
    let run = Some(7);
    let work = Work::Run { run, since };
    let followed = Followed::new(TaskId(1), work, since, SignedDuration::from_hours(24));
    let firing = firing(workflow());
    let withdrawn = following(&github).withdraw(&firing, &followed).await;
    assert_eq!(withdrawn, Ok(()));
    let asked = fake_github.asked();
    assert_eq!(asked, ["POST /repos/acme/news/actions/runs/7/cancel"]);
    let fault = Fault::answer(
        "/cancel",
        409,
        "Cannot cancel a workflow run that is completed.",
    );
    fake_github.break_next(fault);
    let over = following(&github).withdraw(&firing, &followed).await;
    assert_eq!(over, Ok(()), "it has ended by itself");
    fake_github.break_next(Fault::answer("/cancel", 502, "Bad gateway"));
    let trouble = following(&github).withdraw(&firing, &followed).await;
    assert!(trouble.is_err(), "worth another try");
}
