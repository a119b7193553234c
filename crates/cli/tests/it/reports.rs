//! Reports about firings that arrive at two nodes at once.

use std::collections::BTreeMap;

use almanack_testkit::postgres::Schema;
use reqwest::Method;
use serde_json::json;
use url::Url;

use crate::{
    api::{Answer, Api},
    business::Business,
    harness::Home,
    process::{Process, eventually, free_address},
};

const FIRINGS: usize = 12;

/// Both nodes hear of the end of every firing in the same moment, one that it is done, the other
/// that it failed: one report counts, the other is refused, and the firing ended as the one said.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_19_of_two_reports_at_two_nodes_one_counts() {
    let (schema, business) = (Schema::create().await, Business::start().await);
    let first = free_address();
    let home = Home::with(&format!(
        "[database]
url = \"{}\"
[server]
public_url = \"http://{first}\"
[callback]
secret = \"env:CALLBACK_SECRET\"
[[schedule]]
name = \"export\"
expression = \"0 0 0 1 1 * 2120\"
overlap = \"allow\"
target = {{ type = \"webhook\", url = \"{}\", report_within = \"1h\" }}
",
        schema.url(),
        business.accepted_url()
    ))
    .set(
        "CALLBACK_SECRET",
        "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
    );
    let one = Process::node(&home, first, &[]).ready().await;
    let other = Process::node(&home, free_address(), &[]).ready().await;
    let (one, other) = (one.api(), other.api());
    let mut subjects = BTreeMap::new();
    for _ in 0..FIRINGS {
        let (subject, task_id) = fire(&one).await;
        subjects.insert(task_id, subject);
    }
    let mut won = [0, 0];
    for call in business.until_accepted(FIRINGS).await {
        let finish: Url = call["report"]["finish"].as_str().unwrap().parse().unwrap();
        let path = format!("{}?{}", finish.path(), finish.query().unwrap());
        let subject = &subjects[&call["task_id"].as_i64().unwrap()];
        until_followed(&one, subject).await;
        let (done, failed) =
            tokio::join!(report(&one, &path, "done"), report(&other, &path, "failed"));
        let statuses = [done.status, failed.status];
        assert!(
            [[200, 409], [409, 200]].contains(&statuses),
            "{done:?} {failed:?}"
        );
        let winner = usize::from(failed.status == 200);
        won[winner] += 1;
        let refused = [&failed, &done][winner];
        assert_eq!(refused.problem(), (409, "firing_ended"));
        let status = ["SUCCESS", "FAIL"][winner];
        other.until_status("DISPATCH", subject, status).await;
    }
    assert_eq!(won[0] + won[1], FIRINGS);
}

/// Fires by hand; answers the firing's subject and number.
async fn fire(api: &Api) -> (String, i64) {
    let path = "/api/v1/schedules/export/fire";
    let force = json!({ "force": true });
    let fired = api.insist(Method::POST, path, Some(&force)).await;
    assert_eq!(fired.status, 201, "{fired:?}");
    let subject = fired.json["subject"].as_str().unwrap();
    let task = api.get(&format!("/api/v1/tasks/DISPATCH/{subject}")).await;
    (subject.to_owned(), task.json["task_id"].as_i64().unwrap())
}

async fn report(api: &Api, path: &str, outcome: &str) -> Answer {
    let body = json!({ "outcome": outcome, "text": format!("{outcome} here") });
    api.ask(Method::POST, path, Some(&body)).await.unwrap()
}

/// Waits until it is written that the firing waits for a report.
async fn until_followed(api: &Api, subject: &str) {
    let task = format!("/api/v1/tasks/DISPATCH/{subject}");
    eventually("the firing waits for its report", async || {
        let task = api.get(&task).await.json;
        let detail = task["detail"].as_str()?;
        detail.contains("report").then_some(())
    })
    .await;
}
