//! A program with Almanack inside, on both databases, and killed in between (WK-03).

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a panic is how a test fails"
)]

mod killed;

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use almanack_embed::{Almanack, Attempt, Builder, Error, Outcome, Rule, SignedDuration, Status};
use almanack_testkit::postgres::Schema;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Welcome {
    name: String,
}

fn ada() -> Welcome {
    Welcome {
        name: "Ada".to_owned(),
    }
}

/// Every rule becomes a test on each database.
macro_rules! on_both {
    ($($rule:ident),* $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test]
                async fn $rule() {
                    let folder = tempfile::tempdir().unwrap();
                    super::$rule(&format!("sqlite:{}", folder.path().join("app.db").display())).await;
                }
            )*
        }
        mod postgres {
            $(
                #[tokio::test]
                async fn $rule() {
                    let schema = super::Schema::create().await;
                    super::$rule(schema.url()).await;
                }
            )*
        }
    };
}
on_both!(
    wk_03_a_handler_gets_its_payload_and_says_what_came_of_it,
    wk_03_requests_follow_the_rules_and_bad_ones_are_refused,
    wk_03_what_was_asked_for_survives_a_restart,
);

fn builder(url: &str) -> Builder {
    Almanack::builder().database(url)
}

/// Waits until the task has ended.
async fn ended(almanack: &Almanack, kind: &str, subject: &str) -> (Status, Option<String>) {
    loop {
        let task = almanack.get(kind, subject).await.unwrap().unwrap();
        if matches!(task.status, Status::Success | Status::Fail) && task.due_at.is_none() {
            return (task.status, task.detail);
        }
        tokio::task::yield_now().await;
    }
}

async fn wk_03_a_handler_gets_its_payload_and_says_what_came_of_it(url: &str) {
    let tries = Arc::new(AtomicU32::new(0));
    let counted = tries.clone();
    let almanack = builder(url)
        .handler("WELCOME", |task: Attempt<Welcome>| async move {
            assert_eq!((task.subject.as_str(), &task.payload), ("user:9", &ada()));
            Ok::<_, Error>(Outcome::done(format!("greeted {}", task.payload.name)))
        })
        .handler("AGAIN", move |task: Attempt<()>| {
            let counted = counted.clone();
            async move {
                if counted.fetch_add(1, Ordering::SeqCst) == 0 {
                    return Ok(Outcome::Again {
                        at: task.execute_at,
                        on_record: true,
                    });
                }
                Err("no more")
            }
        })
        .start()
        .await
        .unwrap();
    let now = almanack.now();
    almanack
        .put("WELCOME", "user:9", now, &ada())
        .await
        .unwrap();
    let (status, detail) = ended(&almanack, "WELCOME", "user:9").await;
    assert_eq!(
        (status, detail.as_deref()),
        (Status::Success, Some("greeted Ada"))
    );
    almanack.put("WELCOME", "bad", now, &7).await.unwrap();
    let (status, detail) = ended(&almanack, "WELCOME", "bad").await;
    assert_eq!(status, Status::Fail);
    let detail = detail.unwrap();
    assert!(
        detail.contains("payload does not fit its handler"),
        "{detail}"
    );
    almanack.put("AGAIN", "a", now, &()).await.unwrap();
    let failed = loop {
        let task = almanack.get("AGAIN", "a").await.unwrap().unwrap();
        if task.status == Status::Fail {
            break task;
        }
        tokio::task::yield_now().await;
    };
    assert!(failed.due_at.is_some(), "an error is tried again");
    assert_eq!(tries.load(Ordering::SeqCst), 2);
    almanack.stop().await;
}

async fn wk_03_requests_follow_the_rules_and_bad_ones_are_refused(url: &str) {
    let none = |_: Attempt<()>| async { Ok::<_, Error>(Outcome::Done { detail: None }) };
    let almanack = builder(url).handler("NIGHTLY", none).start().await.unwrap();
    let at = |hours| almanack.now() + SignedDuration::from_hours(hours);
    let put = almanack.put("NIGHTLY", "a", at(1), &()).await.unwrap();
    assert_eq!(put.rule, Rule::Created);
    let moved = almanack.put("NIGHTLY", "a", at(2), &()).await.unwrap();
    assert_eq!((moved.rule, moved.task_id), (Rule::Updated, put.task_id));
    let cancelled = almanack.cancel("NIGHTLY", "a").await.unwrap();
    assert_eq!(cancelled.rule, Rule::Cancelled);
    for (kind, subject, why) in [
        ("UNKNOWN", "a", "is not configured"),
        ("9", "a", "must start with a letter"),
        ("NIGHTLY", "", "subject must have 1 to 200 bytes"),
        ("DISPATCH", "a", "only Almanack creates"),
    ] {
        let refused = almanack.put(kind, subject, at(1), &()).await.unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
    }
    assert!(almanack.get("NIGHTLY", "b").await.unwrap().is_none());
    almanack.stop().await;
}

async fn wk_03_what_was_asked_for_survives_a_restart(url: &str) {
    let (sender, mut greeted) = mpsc::unbounded_channel();
    let start = async || {
        let sender = sender.clone();
        let handler = move |task: Attempt<Welcome>| {
            let sender = sender.clone();
            async move {
                sender.send(task.payload.name).unwrap();
                Ok::<_, Error>(Outcome::Done { detail: None })
            }
        };
        builder(url).handler("WELCOME", handler).start().await
    };
    let first = start().await.unwrap();
    let later = first.now() + SignedDuration::from_hours(1);
    first.put("WELCOME", "user:9", later, &ada()).await.unwrap();
    first.stop().await;
    let second = start().await.unwrap();
    let kept = second.get("WELCOME", "user:9").await.unwrap().unwrap();
    assert_eq!(kept.execute_at, later);
    second
        .put("WELCOME", "user:9", second.now(), &ada())
        .await
        .unwrap();
    assert_eq!(greeted.recv().await.as_deref(), Some("Ada"));
    second.stop().await;
}

#[tokio::test]
async fn a_node_that_cannot_start_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("app.db").display());
    let none = Almanack::builder().start().await;
    let why = none.err().unwrap().to_string();
    assert!(why.contains(".database("), "{why}");
    let wrong = builder("mysql://").start().await.err().unwrap();
    assert!(wrong.to_string().contains("must start with"), "{wrong}");
    let first = builder(&url).start().await.unwrap();
    let second = builder(&url).start().await.err().unwrap();
    assert!(
        second.to_string().contains("already runs a node"),
        "{second}"
    );
    first.stop().await;
}
