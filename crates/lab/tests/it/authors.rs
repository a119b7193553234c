//! The authors' actions against a real service.

use std::time::Duration;

use almanack_lab::authors::{self, Config, Outcome};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::support::{Almanack, World, within};

#[tokio::test]
async fn rs_12_authors_write_move_and_withdraw_through_the_service() {
    let almanack = Almanack::start([]).await;
    let world = World::start(&almanack.url).await;
    let clock = world.clock.clone();
    let mut config = Config::new(world.url(), 3);
    config.every = Duration::ZERO;
    config.actions_max = Some(60);
    config.clock = std::sync::Arc::new(move || clock.now());
    let (report, mut activities) = mpsc::channel(100);
    within(authors::run(config, report, CancellationToken::new()))
        .await
        .unwrap();

    let mut accepted = 0;
    while let Some(activity) = activities.recv().await {
        assert!(
            matches!(activity.outcome, Outcome::Accepted { .. }),
            "{activity:?}"
        );
        accepted += 1;
    }
    assert_eq!(accepted, 60);
    let articles = world.get("/articles").await;
    let articles = articles["articles"].as_array().unwrap();
    assert!(
        articles
            .iter()
            .any(|article| article["revision"].as_i64() > Some(1))
    );
    assert!(
        articles
            .iter()
            .any(|article| !article["withdrawn_at"].is_null())
    );
}

#[tokio::test]
async fn rs_12_authors_report_a_service_that_is_down_and_stop_on_request() {
    let mut config = Config::new("http://127.0.0.1:9", 3);
    config.every = Duration::ZERO;
    let (report, mut activities) = mpsc::channel(1);
    let cancel = CancellationToken::new();
    let running = tokio::spawn(authors::run(config, report, cancel.clone()));
    let activity = within(activities.recv()).await.unwrap();
    assert!(matches!(activity.outcome, Outcome::Unanswered { .. }));
    cancel.cancel();
    within(running).await.unwrap().unwrap();
}
