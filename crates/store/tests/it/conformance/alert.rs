//! Alerts: opened, closed and notified by one node.

use std::sync::Arc;

use almanack_core::{
    alert::{About, Alert, Key, Rule, Severity},
    source::SourceId,
    store::{AlertFilter, Applied, Store},
};
use almanack_testkit::fixture::{START, at};
use jiff::Timestamp;

const DONE: Applied = Applied::Done { inserted: None };
const ALL: AlertFilter = AlertFilter {
    closed_from: Timestamp::MIN,
    limit: 100,
};

/// An alert without a notification yet.
fn alert(rule: Rule, source: i64, opened_at: Timestamp) -> Alert {
    Alert {
        key: Key {
            rule,
            about: About::Source(SourceId(source)),
        },
        severity: Severity::Warning,
        detail: almanack_core::both!("it's quiet", "「静默」"),
        opened_at,
        cool_down_since: None,
        closed_at: None,
        returns: 0,
        open_notified_at: None,
        close_notified_at: None,
        notify_at: Some(opened_at),
        taken_by: Vec::new(),
        version: 0,
    }
}

/// The same, over and notified.
fn over(rule: Rule, source: i64, closed_at: Timestamp) -> Alert {
    Alert {
        closed_at: Some(closed_at),
        open_notified_at: Some(closed_at),
        close_notified_at: Some(closed_at),
        notify_at: None,
        ..alert(rule, source, START)
    }
}

async fn write(store: &dyn Store, alert: &Alert) -> Applied {
    let written = store.write_alerts(vec![alert.clone()]).await;
    written.expect("write_alerts")[0]
}

async fn load(store: &dyn Store, filter: AlertFilter) -> Vec<Alert> {
    store.load_alerts(filter).await.expect("load_alerts")
}

/// Every rule, everything it may be about, and every instant; a change keeps what it does not say.
pub(crate) async fn an_alert_is_kept_with_every_field(store: Arc<dyn Store>) {
    for (number, rule) in (1..).zip(Rule::ALL) {
        let new = alert(rule, number, at(number));
        assert_eq!(write(&*store, &new).await, DONE);
        let full = Alert {
            severity: Severity::Critical,
            detail: "other".to_owned().into(),
            cool_down_since: Some(at(40)),
            closed_at: Some(at(50)),
            returns: 7,
            open_notified_at: Some(at(60)),
            close_notified_at: Some(at(70)),
            notify_at: Some(at(80)),
            taken_by: vec!["mail".to_owned(), "频道 \"1\"".to_owned()],
            version: 1,
            ..new
        };
        assert_eq!(write(&*store, &full).await, DONE);
        let stored = Alert { version: 2, ..full };
        assert!(load(&*store, ALL).await.contains(&stored), "{rule}");
    }
}

/// The row is what the first one wrote; its version says that it moved on.
pub(crate) async fn of_nodes_that_saw_the_same_alert_one_writes(store: Arc<dyn Store>) {
    let new = alert(Rule::Silent, 1, START);
    let both = store.write_alerts(vec![new.clone(), new.clone()]).await;
    assert_eq!(both.unwrap(), [DONE, Applied::Lost], "opened once");
    let notify = |until| Alert {
        notify_at: Some(at(until)),
        version: 1,
        ..new.clone()
    };
    let both = store.write_alerts(vec![notify(10), notify(20)]).await;
    assert_eq!(both.unwrap(), [DONE, Applied::Lost], "notified by one");
    let kept = load(&*store, ALL).await;
    assert_eq!((kept[0].notify_at, kept[0].version), (Some(at(10)), 2));
    let never = Alert {
        version: 3,
        ..alert(Rule::Silent, 2, START)
    };
    assert_eq!(write(&*store, &never).await, Applied::Lost, "there is none");
    assert_eq!(load(&*store, ALL).await.len(), 1);
}

/// One that is over and notified is written anew, and its version goes on: a node that saw the old
/// one has lost.
pub(crate) async fn an_alert_that_lasts_or_is_unreported_is_not_opened_anew(store: Arc<dyn Store>) {
    let open = alert(Rule::Silent, 1, START);
    let unnotified = Alert {
        notify_at: Some(at(5)),
        ..over(Rule::Silent, 2, START)
    };
    let done = over(Rule::Silent, 3, START);
    let written = store
        .write_alerts(vec![open, unnotified, done.clone()])
        .await;
    assert_eq!(written.unwrap(), [DONE; 3]);
    let anew = |source| alert(Rule::Silent, source, at(100));
    let written = store.write_alerts(vec![anew(1), anew(2), anew(3)]).await;
    assert_eq!(written.unwrap(), [Applied::Lost, Applied::Lost, DONE]);
    let kept = load(&*store, ALL).await;
    let stored = Alert {
        version: 2,
        ..anew(3)
    };
    assert_eq!(kept[0], stored, "the newest first");
    let late = Alert { version: 1, ..done };
    assert_eq!(write(&*store, &late).await, Applied::Lost);
}

/// Each once, the one that opened last first, no more than asked for.
pub(crate) async fn alerts_that_last_wait_or_closed_lately_are_listed(store: Arc<dyn Store>) {
    let waiting = Alert {
        notify_at: Some(at(5)),
        ..over(Rule::Silent, 2, at(-900))
    };
    let all = vec![
        alert(Rule::Silent, 1, at(9)),
        waiting,
        over(Rule::Silent, 3, at(-900)),
        over(Rule::Silent, 4, at(20)),
        alert(Rule::Credentials, 1, at(9)),
    ];
    assert_eq!(store.write_alerts(all).await.unwrap(), [DONE; 5]);
    let named = |alerts: Vec<Alert>| -> Vec<String> {
        let name = |alert: &Alert| format!("{} {}", alert.key.rule, alert.key.about);
        alerts.iter().map(name).collect()
    };
    let lately = AlertFilter {
        closed_from: at(20),
        limit: 100,
    };
    let listed = [
        "credentials source:1",
        "silent source:1",
        "silent source:2",
        "silent source:4",
    ];
    assert_eq!(named(load(&*store, lately).await), listed);
    let two = AlertFilter { limit: 2, ..lately };
    assert_eq!(named(load(&*store, two).await), listed[..2]);
    let later = AlertFilter {
        closed_from: at(21),
        ..lately
    };
    assert_eq!(named(load(&*store, later).await), listed[..3]);
}

/// What lasts or waits for its notification stays, however old it is.
pub(crate) async fn old_alerts_are_forgotten_once_they_are_reported(store: Arc<dyn Store>) {
    let unnotified = Alert {
        notify_at: Some(at(5)),
        ..over(Rule::Silent, 1, at(1))
    };
    let mut all = vec![unnotified, alert(Rule::Silent, 2, START)];
    all.extend((3..7).map(|source| over(Rule::Silent, source, at(source))));
    assert_eq!(store.write_alerts(all).await.unwrap(), [DONE; 6]);
    assert_eq!(store.prune_alerts(at(6), 2).await.unwrap(), 2, "bounded");
    assert_eq!(store.prune_alerts(at(6), 9).await.unwrap(), 1, "3 to 5");
    assert_eq!(store.prune_alerts(at(6), 9).await.unwrap(), 0);
    let left = load(&*store, ALL).await;
    assert_eq!(
        left.len(),
        3,
        "not notified, open, and one that closed just then"
    );
}

/// Six nodes do the same at the same moment; each knows its number.
async fn at_once<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    store: &Arc<dyn Store>,
    node: impl Fn(usize, Arc<dyn Store>) -> F,
) -> Vec<T> {
    let nodes: Vec<_> = (0..6)
        .map(|number| tokio::spawn(node(number, Arc::clone(store))))
        .collect();
    let mut answers = Vec::new();
    for node in nodes {
        answers.push(node.await.expect("a node that ends"));
    }
    answers
}

/// The first node gets everything that waits: two halves would be two messages.
pub(crate) async fn of_nodes_that_claim_at_once_one_reports_everything(store: Arc<dyn Store>) {
    let waiting: Vec<Alert> = (0..30).map(|n| alert(Rule::Silent, n, at(n))).collect();
    let later = alert(Rule::Stuck, 1, at(100));
    for _ in 0..5 {
        let opened = at_once(&store, |number, store| {
            // Nodes find the same in another order, and none may wait for another in a circle.
            let mut waiting = waiting.clone();
            waiting.rotate_left(number * 5);
            async move { store.write_alerts(waiting).await.expect("write_alerts") }
        });
        for written in opened.await {
            let done = written.iter().filter(|it| **it == DONE).count();
            assert!(done == 0 || done == 30, "all or nothing of it: {done}");
        }
        write(&*store, &later).await;
        let claims = at_once(&store, |_, store| async move {
            let claimed = store.claim_alerts(at(50), at(60), 100).await;
            claimed.expect("claim_alerts").len()
        });
        let mut counts = claims.await;
        counts.sort_unstable();
        assert_eq!(counts, [0, 0, 0, 0, 0, 30]);
        let anew = store.claim_alerts(at(60), at(70), 20).await.unwrap();
        let notified: Vec<i64> = (0..20).collect();
        let of = |alert: &Alert| match alert.key.about {
            About::Source(SourceId(number)) => number,
            _ => -1,
        };
        let claimed: Vec<i64> = anew.iter().map(of).collect();
        assert_eq!(
            claimed, notified,
            "once the lease has passed; the first first"
        );
        assert!(anew.iter().all(|alert| alert.notify_at == Some(at(70))));
        for alert in load(&*store, ALL).await {
            let notified = Alert {
                closed_at: Some(at(0)),
                notify_at: None,
                ..alert
            };
            assert_eq!(write(&*store, &notified).await, DONE);
        }
    }
}
