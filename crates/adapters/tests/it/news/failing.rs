//! A site that fails: what is tried again, how often, after what wait, and what it costs.

use almanack_core::edition::port::FailureClass as C;
use almanack_lab::news::{
    Endpoint,
    fault::{Effect, Rule, When},
};

use super::*;

/// What comes of today's list when the search by date fails so.
async fn failing(when: When, effect: Effect) -> (News, Result<usize, Failure>) {
    let news = News::quiet().await;
    let rule = Rule::at(Endpoint::SearchByDate, when, effect);
    news.handle().add_fault(rule);
    let budget = Budget::new(100);
    let hacker_news = news.hacker_news(List::Day);
    let listed = hacker_news.list(&today(30), &budget).await;
    news.assert_paid(&budget);
    (news, listed.map(|listed| listed.len()))
}

#[tokio::test]
async fn ed_33_what_passes_is_tried_again_after_growing_waits() {
    for (effect, failures, waits) in [
        (Effect::Status(500), 1, vec![1]),
        (Effect::Status(503), 3, vec![1, 2, 4]),
        (Effect::DropReply, 2, vec![1, 2]),
        (Effect::Truncated, 1, vec![1]),
        (Effect::Limited { retry_after_s: 3 }, 2, vec![3, 3]),
    ] {
        let (news, listed) = failing(When::Next(failures), effect).await;
        assert_eq!(listed, Ok(30), "{effect:?}");
        assert_eq!(news.waits(), waits, "{effect:?}");
        let requests = u64::from(failures) + 1;
        assert_eq!(news.handle().total(), requests, "{effect:?}");
    }
}

#[tokio::test]
async fn ed_33_what_does_not_pass_is_a_failure_of_its_class() {
    for (effect, class, waits) in [
        (Effect::Status(500), C::Transient, vec![1, 2, 4]),
        (Effect::Status(404), C::Refused, vec![]),
        (Effect::Status(403), C::Refused, vec![]),
        (
            Effect::Limited { retry_after_s: 60 },
            C::RateLimited,
            vec![],
        ),
        (Effect::MalformedJson, C::Unusable, vec![]),
        (Effect::NullHits, C::Unusable, vec![]),
    ] {
        let (news, listed) = failing(When::Always, effect).await;
        let failure = listed.unwrap_err();
        assert_eq!(failure.class, class, "{effect:?}: {failure}");
        assert_eq!(news.waits(), waits, "{effect:?}");
    }
    let limited = Effect::Limited { retry_after_s: 60 };
    let (_, listed) = failing(When::Always, limited).await;
    let asked = listed.unwrap_err().retry_after;
    assert_eq!(asked, Some(SignedDuration::from_secs(60)));
}

#[tokio::test]
async fn ed_33_no_wait_is_longer_than_allowed() {
    let news = News::quiet().await;
    let rule = Rule::at(Endpoint::BestStories, When::Always, Effect::Hang);
    news.handle().add_fault(rule);
    let hacker_news = news.hacker_news_within(List::Best, Duration::from_millis(50));
    let budget = Budget::new(100);
    let failure = hacker_news.list(&today(30), &budget).await.unwrap_err();
    assert_eq!(failure.class, C::Transient, "{failure}");
    assert_eq!(news.waits(), [1, 2, 4]);
    assert_eq!(budget.spent(), 4);
}

#[tokio::test]
async fn ed_08_tries_end_with_the_budget() {
    let news = News::quiet().await;
    let rule = Rule::at(Endpoint::BestStories, When::Always, Effect::Status(500));
    news.handle().add_fault(rule);
    let budget = Budget::new(2);
    let listed = news.hacker_news(List::Best).list(&today(30), &budget).await;
    assert_eq!(listed, Err(Failure::spent()));
    assert_eq!((budget.spent(), budget.left()), (2, 0));
    news.assert_paid(&budget);
}

#[tokio::test]
async fn ed_33_a_list_is_whole_or_a_failure() {
    let news = News::busy().await;
    // One of the two questions for details.
    let rule = Rule::at(Endpoint::Search, When::Next(1), Effect::MalformedJson);
    news.handle().add_fault(rule);
    let failure = news.list(List::Best, &today(30)).await.unwrap_err();
    insta::assert_snapshot!(failure, @"the search of Hacker News did not answer with hits");
    // A best list that is not a list.
    let rule = Rule::at(Endpoint::BestStories, When::Next(1), Effect::NullHits);
    news.handle().forget_requests();
    news.handle().add_fault(rule);
    let failure = news.list(List::Best, &today(30)).await.unwrap_err();
    insta::assert_snapshot!(failure, @"Hacker News did not answer with a list");
}
