//! Answers that do not come, or say "later": asked for again, counted every time, never without an
//! end (ED-08).

use std::time::Duration;

use super::*;

fn limited(retry_after_s: Option<u32>) -> Effect {
    Effect::Limited {
        retry_after_s,
        as_date: false,
    }
}

#[tokio::test]
async fn what_may_pass_is_asked_for_again_after_a_wait() {
    let dated = Effect::Limited {
        retry_after_s: Some(7),
        as_date: true,
    };
    for (effect, waits) in [
        (limited(None), [1, 2]),
        (limited(Some(5)), [5, 5]),
        (dated, [7, 7]),
        (Effect::Status(500), [1, 2]),
        (Effect::Status(503), [1, 2]),
        (Effect::DropReply, [1, 2]),
        (Effect::ErrorInside, [1, 2]),
    ] {
        let fixture = Fixture::open().await;
        fixture.disturb(Kind::Titles, When::Next(2), effect);
        let (translated, spend) = fixture.titles(&titles()).await;
        assert!(translated.iter().all(Option::is_some), "{effect:?}");
        assert_eq!(fixture.waits(), waits, "{effect:?}");
        assert_eq!(
            (spend.requests, spend.model_requests),
            (3, 1),
            "every try is paid: {effect:?}"
        );
    }
}

#[tokio::test]
async fn tries_end_with_the_last_error() {
    for (effect, class) in [
        (limited(Some(3)), FailureClass::RateLimited),
        (Effect::Status(502), FailureClass::Transient),
        (Effect::DropReply, FailureClass::Transient),
    ] {
        let fixture = Fixture::open().await;
        fixture.disturb(Kind::Titles, When::Always, effect);
        let budget = Budget::new(45);
        let failure = fixture.writer.titles(&titles(), &budget).await.unwrap_err();
        assert_eq!(failure.class, class, "{effect:?}");
        assert_eq!(budget.spent(), 3, "{effect:?}");
    }
}

#[tokio::test]
async fn a_wait_longer_than_we_wait_is_reported_and_not_waited_for() {
    let fixture = Fixture::open().await;
    fixture.disturb(Kind::Titles, When::Next(1), limited(Some(60)));
    let budget = Budget::new(45);
    let failure = fixture.writer.titles(&titles(), &budget).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::RateLimited);
    assert_eq!(failure.retry_after, Some(SignedDuration::from_secs(60)));
    assert_eq!((budget.spent(), fixture.waits().len()), (1, 0));
}

#[tokio::test]
async fn ed_08_an_empty_request_budget_sends_nothing_and_waits_for_nothing() {
    let fixture = Fixture::open().await;
    let failure = fixture
        .writer
        .titles(&titles(), &Budget::new(0))
        .await
        .unwrap_err();
    assert!(failure.is_spent());
    let failure = fixture
        .writer
        .summary(Text::article("Tides."), Length::Full, &Budget::new(0))
        .await;
    assert!(failure.unwrap_err().is_spent());
    assert_eq!(fixture.handle().total(), 0);
    fixture.disturb(Kind::Titles, When::Always, Effect::Status(500));
    let budget = Budget::new(1);
    let failure = fixture.writer.titles(&titles(), &budget).await.unwrap_err();
    assert_eq!(
        failure.class,
        FailureClass::Transient,
        "the answer is the error"
    );
    assert_eq!((budget.left(), fixture.handle().total()), (0, 1));
    assert_eq!(fixture.waits(), [] as [i64; 0]);
}

#[tokio::test]
async fn ed_08_a_useless_reply_with_the_last_request_leaves_the_titles_missing() {
    let fixture = Fixture::open().await;
    fixture.disturb(Kind::Titles, When::Always, Effect::Excuse);
    let translated = fixture.writer.titles(&titles(), &Budget::new(1)).await;
    assert_eq!(translated, Ok(Some(vec![None; 4])));
}

#[tokio::test]
async fn a_silent_model_is_given_up_and_tried_again() {
    let silent = Fixture::open_with(|_, settings| {
        settings.timeout = Duration::from_millis(100);
        settings.tries_more = 1;
    });
    let fixture = silent.await;
    fixture.disturb(Kind::Summary, When::Always, Effect::Hang);
    let budget = Budget::new(45);
    let failure = fixture
        .writer
        .summary(Text::article("Tides."), Length::Full, &budget)
        .await;
    assert_eq!(failure.unwrap_err().class, FailureClass::Transient);
    assert_eq!((budget.spent(), fixture.waits()), (2, vec![1]));
}

#[tokio::test]
async fn no_more_requests_are_under_way_than_the_service_allows() {
    let fixture = Fixture::open_with(|config, settings| {
        settings.concurrency = 2;
        config.setup.in_flight_max = Some(2);
        config.latency = Duration::from_millis(20);
    });
    let fixture = Arc::new(fixture.await);
    let budget = Budget::new(45);
    let mut asking = tokio::task::JoinSet::new();
    for number in 0..8 {
        let (fixture, budget) = (Arc::clone(&fixture), Arc::clone(&budget));
        asking.spawn(async move {
            let article = format!("Tides of {number}.");
            fixture
                .writer
                .summary(Text::article(&article), Length::Full, &budget)
                .await
        });
    }
    while let Some(asked) = asking.join_next().await {
        assert!(asked.unwrap().is_ok());
    }
    assert!(fixture.handle().in_flight_max() <= 2);
    assert_eq!(
        (budget.spent(), fixture.waits().len()),
        (8, 0),
        "no request was refused"
    );
}

#[tokio::test]
async fn ed_44_a_model_that_leaves_three_requests_unanswered_is_not_asked_again_at_once() {
    let once = Fixture::open_with(|_, settings| settings.tries_more = 0);
    let fixture = once.await;
    fixture.disturb(Kind::Summary, When::Always, Effect::DropReply);
    let budget = Budget::new(45);
    let mut last = None;
    for _ in 0..5 {
        let text = Text::article("Tides.");
        let failed = fixture.writer.summary(text, Length::Full, &budget).await;
        last = failed.err();
    }
    assert_eq!((budget.spent(), fixture.bill.requests().len()), (3, 3));
    let failure = last.unwrap();
    assert_eq!(failure.class, FailureClass::Transient);
    assert_eq!(failure.retry_after, Some(SignedDuration::from_mins(1)));
}
