//! Work so quick that it reports before its call is answered.

use super::*;

/// A webhook that reports while it is called, and answers then.
struct Quick {
    reports: Reports,
    said: Vec<(Stage, Option<Reported>)>,
    answer: fn() -> HandedOver,
}

#[async_trait]
impl Launcher for Quick {
    async fn fire(&self, _: &Firing, _: &ClaimedTask) -> Outcome {
        done()
    }

    async fn hand_over(&self, _: &Firing, task: &ClaimedTask) -> HandedOver {
        for (stage, outcome) in self.said.clone() {
            let text = Some("three pages".to_owned());
            let report = Report { outcome, text };
            let taken = self.reports.take(task.id, stage, &report).await;
            assert!(taken.is_ok(), "a report counts from the call on: {taken:?}");
        }
        (self.answer)()
    }
}

/// How a firing stands a minute after a call that was answered and reported on so.
async fn firing_after(
    said: &[(Stage, Option<Reported>)],
    answer: fn() -> HandedOver,
) -> (Status, Option<String>) {
    let world = World::new();
    let quick = Quick {
        reports: world.reports(),
        said: said.to_vec(),
        answer,
    };
    let target = reporting(SignedDuration::from_mins(5));
    world.put(Definition::new("0 * * * *", target)).await;
    let handler = world.handler().with("webhook", Arc::new(quick));
    let stop = CancellationToken::new();
    let nothing = Slow::new(Duration::ZERO, done());
    let node = world.start_with(handler, "node-a", nothing, &stop).await;
    pause(Duration::from_mins(61)).await;
    stop.cancel();
    node.await.unwrap();
    let firing = world.tasks(DISPATCH).await.remove(0);
    (firing.status, firing.detail)
}

#[tokio::test(start_paused = true)]
async fn dp_19_a_report_before_the_answer_counts_more_than_the_answer() {
    let accepts = || HandedOver::Works(Work::Report { within_s: 300 });
    let answers: [fn() -> HandedOver; 3] = [
        accepts,
        || HandedOver::Ended(Outcome::done("HTTP 200")),
        || HandedOver::Ended(Outcome::retry("HTTP 503")),
    ];
    for answer in answers {
        let done = [(Stage::Finish, Some(Reported::Done))];
        let said = Some("reported as done: three pages".to_owned());
        assert_eq!(firing_after(&done, answer).await, (Status::Success, said));
        let failed = [
            (Stage::Start, None),
            (Stage::Finish, Some(Reported::Failed)),
        ];
        let said = Some("reported as failed: three pages".to_owned());
        assert_eq!(firing_after(&failed, answer).await, (Status::Fail, said));
    }
}

#[tokio::test(start_paused = true)]
async fn dp_19_work_that_has_reported_its_start_is_not_called_again() {
    let started = [(Stage::Start, None)];
    let fails = || HandedOver::Ended(Outcome::retry("HTTP 503"));
    let waits = Some("waits for a report".to_owned());
    let found = firing_after(&started, fails).await;
    assert_eq!(found, (Status::Init, waits));
}
