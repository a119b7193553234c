//! What goes wrong when a test, fate or a host's character says so.

use almanack_lab::feeds::{
    fault::{Fault, Rule},
    fleet::Fleet,
    host::{Character, Shares},
};

use super::{World, staying_client};
use crate::support::within;

#[tokio::test]
async fn a_feed_fails_as_told_for_as_long_as_told() {
    let world = World::calm().await;
    let rule = Rule {
        next: Some(2),
        ..Rule::from(Fault::Status(500))
    };
    world.handle().add_fault(7, rule);
    let statuses = [
        world.look(7).await.status,
        world.look(7).await.status,
        world.look(7).await.status,
    ];
    assert_eq!(statuses, [500, 500, 200]);
    assert_eq!(world.look(6).await.status, 200, "others are not touched");
    assert_eq!(world.handle().count(7).failed, 2);
}

#[tokio::test]
async fn a_feed_is_gone_from_a_moment_on() {
    let world = World::calm().await;
    let rule = Rule {
        from: Some(world.clock.after(60)),
        ..Rule::from(Fault::Status(410))
    };
    world.handle().add_fault(1, rule);
    assert_eq!(world.look(1).await.status, 200);
    world.clock.advance(60);
    assert_eq!(world.look(1).await.status, 410);
    world.handle().clear_faults(1);
    assert_eq!(world.look(1).await.status, 200);
}

#[tokio::test]
async fn a_feed_that_moved_is_found_at_its_second_home() {
    let world = World::calm().await;
    let number = world.ordinary();
    let before = world.look(number).await;
    for status in [301, 302, 307, 308] {
        world.handle().add_fault(number, Fault::moved(status));
        let client = staying_client();
        let moved = within(client.get(world.handle().feed_url(number)).send())
            .await
            .unwrap();
        assert_eq!(moved.status().as_u16(), status);
        let to = moved.headers()["location"].to_str().unwrap().to_owned();
        assert!(to.contains(&format!("/feeds/{number}/moved/")));
        let after = world.get(&to).await;
        assert_eq!((after.status, &after.body), (200, &before.body));
        world.handle().clear_faults(number);
    }
    assert_eq!(world.handle().count(number).redirected, 4);
}

#[tokio::test]
async fn a_hanging_feed_hangs_until_the_server_stops_and_a_cut_one_gives_nothing() {
    let world = World::calm().await;
    world.handle().add_fault(1, Fault::Cut);
    let cut = within(world.ask(&world.handle().feed_url(1)).send()).await;
    assert!(cut.unwrap_err().status().is_none());
    world.handle().add_fault(2, Fault::CutMidBody);
    let response = within(world.ask(&world.handle().feed_url(2)).send())
        .await
        .unwrap();
    assert_eq!(response.status().as_u16(), 200);
    assert!(within(response.bytes()).await.is_err());

    world.handle().add_fault(3, Fault::Hang);
    let url = world.handle().feed_url(3);
    let hanging = tokio::spawn(world.ask(&url).send());
    within(world.handle().until(|it| it.count(3).unanswered == 1)).await;
    assert_eq!(world.handle().host_count(0).in_flight, 1);
    assert!(!hanging.is_finished());
    world.stop.cancel();
    assert!(within(hanging).await.unwrap().is_err());
    within(world.running.join).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_caller_that_goes_away_is_no_longer_under_way() {
    let world = World::calm().await;
    world.handle().add_host_fault(0, Fault::Hang);
    let hanging = tokio::spawn(world.ask(&world.handle().feed_url(0)).send());
    within(world.handle().until(|it| it.host_count(0).in_flight == 1)).await;
    hanging.abort();
    within(world.handle().until(|it| it.host_count(0).in_flight == 0)).await;
}

#[tokio::test]
async fn a_hostile_document_can_stand_in_the_place_of_a_feed() {
    let world = World::calm().await;
    world
        .handle()
        .add_fault(5, Fault::Serve("login.html".to_owned()));
    assert!(world.look(5).await.text().contains("Sign in to continue"));
    world.handle().add_fault(6, Fault::Status(401));
    let refused = world.look(6).await;
    assert_eq!(refused.status, 401);
    assert!(refused.header("www-authenticate").starts_with("Basic"));
}

#[tokio::test]
async fn characters_show_where_they_were_drawn() {
    let shares = Shares {
        flaky: 300,
        limiting: 300,
        ..Shares::default()
    };
    let fleet = Fleet {
        shares,
        ..Fleet::new(4, 400)
    };
    let world = World::start(fleet.clone()).await;
    let host = |wanted: fn(Character) -> bool| {
        let mut hosts = 0..fleet.hosts();
        hosts.find(|host| wanted(fleet.character(*host))).unwrap()
    };
    let limiting = host(|it| matches!(it, Character::Limiting { .. }));
    let numbers: Vec<u32> = fleet.feeds_on(limiting).collect();
    assert_eq!(world.look(numbers[0]).await.status, 200);
    let refused = world.look(numbers[1]).await;
    assert_eq!(refused.status, 429, "the host is limited, not the feed");
    assert_ne!(refused.header("retry-after"), "");
    world.clock.advance(3700);
    assert_eq!(world.look(numbers[1]).await.status, 200);

    let flaky = fleet.feeds_on(host(|it| it == Character::Flaky)).start;
    let mut failed = 0;
    for _ in 0..200 {
        let response = within(world.ask(&world.handle().feed_url(flaky)).send()).await;
        failed +=
            u32::from(response.is_err() || response.is_ok_and(|it| it.status().as_u16() >= 500));
    }
    assert!((1..30).contains(&failed), "5 % of 200, but {failed}");
}
