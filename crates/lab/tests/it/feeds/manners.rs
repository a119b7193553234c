//! What the administrator of a feed's server would hold against a caller.

use almanack_lab::feeds::{document::Document, fault::Fault, feed::Validators};

use super::World;

#[tokio::test]
async fn coming_before_retry_after_has_passed_is_counted_and_coming_after_is_not() {
    let world = World::calm().await;
    world.handle().add_fault(2, Fault::limited(600));
    let refused = world.look(2).await;
    assert_eq!(
        (refused.status, refused.header("retry-after")),
        (429, "600")
    );
    world.handle().clear_faults(2);
    world.clock.advance(599);
    world.look(2).await;
    assert_eq!(world.handle().count(2).too_early, 1);
    world.clock.advance(1);
    world.look(2).await;
    assert_eq!(world.handle().count(2).too_early, 1);
    let seen = world.handle().requests_for(2);
    let early: Vec<bool> = seen.iter().map(|it| it.too_early).collect();
    assert_eq!(early, [false, true, false]);
}

#[tokio::test]
async fn a_limit_of_a_host_holds_for_all_its_feeds() {
    let world = World::calm().await;
    let fault = Fault::Limited {
        status: 503,
        retry_after_s: 120,
        as_date: true,
    };
    world.handle().add_host_fault(0, fault);
    let refused = world.look(0).await;
    assert_eq!(
        (refused.status, refused.header("retry-after")),
        (503, "Mon, 05 Jan 2026 08:02:00 GMT")
    );
    world.handle().clear_host_faults(0);
    world.look(1).await;
    world.look(4).await;
    let handle = world.handle();
    assert_eq!(
        (handle.count(1).too_early, handle.host_count(0).too_early),
        (1, 1)
    );
    assert_eq!(handle.count(4).too_early, 0, "another host");
}

#[tokio::test]
async fn coming_without_the_validators_that_were_given_is_forgetful() {
    let world = World::calm().await;
    let number = world.ordinary();
    let first = world.look(number).await;
    world.look_again(number, &first).await;
    assert_eq!(world.handle().count(number).forgetful, 0);
    world.look(number).await;
    assert_eq!(world.handle().count(number).forgetful, 1);
    let silent = world.pick(|feed| feed.validators == Validators::None);
    world.look(silent).await;
    world.look(silent).await;
    assert_eq!(world.handle().count(silent).forgetful, 0, "none were given");
}

#[tokio::test]
async fn coming_ahead_of_what_a_feed_asks_is_counted() {
    let world = World::calm().await;
    let number = world.pick(|feed| {
        let hints = &feed.hints;
        let only_ttl = hints.update_period.is_none() && hints.max_age_s.is_none();
        feed.document == Document::Rss2 && hints.ttl_min == Some(60) && only_ttl
    });
    world.look(number).await;
    world.clock.advance(3599);
    world.look(number).await;
    assert_eq!(world.handle().count(number).ahead_of_hints, 1);
    world.clock.advance(3600);
    world.look(number).await;
    assert_eq!(world.handle().count(number).ahead_of_hints, 1);
}

#[tokio::test]
async fn coming_in_skipped_hours_is_counted() {
    let world = World::calm().await;
    let number =
        world.pick(|feed| feed.document == Document::Rss2 && !feed.hints.skip_hours.is_empty());
    let card = world.handle().card(number).unwrap();
    for hour in 0..24_u8 {
        // The test begins at 08:00 GMT, on a Monday.
        let skipped = card.hints.skip_hours.contains(&((8 + hour) % 24));
        let before = world.handle().count(number).in_skipped_time;
        world.look(number).await;
        let after = world.handle().count(number).in_skipped_time;
        assert_eq!(
            after - before,
            u64::from(skipped),
            "{hour} hours after 08:00"
        );
        world.clock.advance(3600);
    }
}

#[tokio::test]
async fn who_came_and_how_much_was_sent_is_told() {
    let world = World::calm().await;
    let answer = world.look(9).await;
    world.look(9).await;
    let count = world.handle().count(9);
    assert_eq!(count.bytes, 2 * answer.body.len() as u64);
    assert_eq!(count.user_agents.get("almanack-tests"), Some(&2));
    assert_eq!(world.handle().total().requests, 2);
    world.handle().forget_requests();
    assert_eq!(world.handle().total().requests, 0);
    assert_eq!(world.handle().count(9).requests, 0);
}
