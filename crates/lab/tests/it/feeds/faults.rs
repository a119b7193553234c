//! Injected faults of feeds.

use almanack_lab::feeds::fault::{Fault, Rule, When};

use super::{World, staying_client};
use crate::support::within;

#[tokio::test]
async fn a_feed_fails_as_configured_for_as_long_as_configured() {
    let world = World::quiet().await;
    let rule = Rule::feed(7, When::Next(2), Fault::Status(500));
    world.handle().add_fault(rule);
    let statuses = [
        world.look(7).await.status,
        world.look(7).await.status,
        world.look(7).await.status,
    ];
    assert_eq!(statuses, [500, 500, 200]);
    assert_eq!(world.look(6).await.status, 200, "others are not touched");
}

#[tokio::test]
async fn a_moved_feed_is_found_at_its_second_address() {
    let world = World::quiet().await;
    let number = world.ordinary();
    let before = world.look(number).await;
    for status in [301, 302, 307, 308] {
        world.disturb(number, Fault::moved(status));
        let client = staying_client();
        let moved = within(client.get(world.handle().feed_url(number)).send())
            .await
            .unwrap();
        assert_eq!(moved.status().as_u16(), status);
        let to = moved.headers()["location"].to_str().unwrap().to_owned();
        assert!(to.contains(&format!("/feeds/{number}/moved/")));
        let after = world.get(&to).await;
        assert_eq!((after.status, &after.body), (200, &before.body));
        world.handle().clear_faults();
    }
}

#[tokio::test]
async fn a_hanging_feed_hangs_until_the_server_stops_and_a_cut_one_gives_nothing() {
    let world = World::quiet().await;
    world.disturb(1, Fault::Cut);
    let cut = within(world.ask(&world.handle().feed_url(1)).send()).await;
    assert!(cut.unwrap_err().status().is_none());
    world.disturb(2, Fault::CutMidBody);
    let response = within(world.ask(&world.handle().feed_url(2)).send())
        .await
        .unwrap();
    assert_eq!(response.status().as_u16(), 200);
    assert!(within(response.bytes()).await.is_err());

    world.disturb(3, Fault::Hang);
    let url = world.handle().feed_url(3);
    let hanging = tokio::spawn(world.ask(&url).send());
    within(world.handle().until(|it| it.in_flight() == 1)).await;
    assert!(!hanging.is_finished());
    world.stop.cancel();
    assert!(within(hanging).await.unwrap().is_err());
    within(world.running.join).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_disconnected_client_is_no_longer_in_flight() {
    let world = World::quiet().await;
    let hang = Rule::host(0, When::Always, Fault::Hang);
    world.handle().add_fault(hang);
    let hanging = tokio::spawn(world.ask(&world.handle().feed_url(0)).send());
    within(world.handle().until(|it| it.in_flight() == 1)).await;
    hanging.abort();
    within(world.handle().until(|it| it.in_flight() == 0)).await;
}

#[tokio::test]
async fn a_hostile_document_can_replace_a_feed() {
    let world = World::quiet().await;
    world.disturb(5, Fault::Serve("login.html".to_owned()));
    assert!(world.look(5).await.text().contains("Sign in to continue"));
    world.disturb(6, Fault::Status(401));
    let refused = world.look(6).await;
    assert_eq!(refused.status, 401);
    assert!(refused.header("www-authenticate").starts_with("Basic"));
}
