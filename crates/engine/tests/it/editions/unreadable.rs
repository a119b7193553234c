//! An edition that cannot be read, because of its row or one below it: the others go on (SF-06).

use almanack_core::edition::{plan::Requester, port::FailureClass};
use almanack_engine::editions::Unwatched;
use almanack_store::postgres::PostgresStore;
use almanack_testkit::{edition_harness::InjectedFault, postgres::Schema};

use super::*;

const DAY: SignedDuration = SignedDuration::from_hours(24);
/// Every row that belongs to an edition, written so that it cannot be read.
const DAMAGES: [&str; 4] = [
    "update edition set state = 'dreaming'",
    "update story set status = 'dreaming'",
    "update batch set started_at_us = 9000000000000000000",
    "update delivery set state = 'dreaming'",
];

/// A room whose rows can be written behind its back, with two stories a day. No node takes them at
/// `github`.
async fn house() -> (Schema, Room) {
    let schema = Schema::create().await;
    let store = PostgresStore::connect(schema.url()).await.unwrap();
    let room = Room::on(Arc::new(store), EditionHarness::with(2));
    room.news.decide(|call, _| match call {
        Call::Send(to, _) if to == "github" => InjectedFault::Fails(FailureClass::Credentials),
        _ => InjectedFault::Well,
    });
    (schema, room)
}

/// The edition of the present day, as far as it goes; earlier ones stay as they are.
async fn make(room: &Room) -> EditionId {
    let editions = room.editions();
    let date = editions.today();
    editions.take_up(date).await.unwrap();
    for _ in 0..2 {
        let stepped = editions.step(date, Requester::Tick, &Unwatched).await;
        stepped.unwrap();
    }
    date
}

async fn damage(schema: &Schema, what: &str, id: EditionId) {
    let statement = format!("{what} where edition_on = '{id}'");
    schema.run(&statement).await;
}

#[tokio::test]
async fn sf_06_an_unreadable_edition_of_today_keeps_no_earlier_one_open() {
    for what in DAMAGES {
        let (schema, room) = house().await;
        let earlier = make(&room).await;
        room.clock.advance(DAY);
        let date = make(&room).await;
        damage(&schema, what, date).await;
        room.news.heal();
        let ticked = room.editions().tick().await;
        assert!(ticked.is_err_and(|why| why.is_unreadable()), "{what}");
        let left = room.account_of(earlier).await.edition.state;
        assert_eq!(left, State::Archived, "{what}");
        let open = room.open_alerts_of(earlier).await;
        assert_eq!(open, [github(), "unfinished".to_owned()], "{what}");
    }
}

#[tokio::test]
async fn sf_06_an_unreadable_edition_does_not_hold_up_earlier_ones() {
    for what in DAMAGES {
        let (schema, room) = house().await;
        let mut days = Vec::new();
        for _ in 0..4 {
            days.push(make(&room).await);
            room.clock.advance(DAY);
        }
        for date in &days[..2] {
            damage(&schema, what, *date).await;
        }
        damage(&schema, "update edition set state = 'archived'", days[2]).await;
        room.news.heal();
        let ticked = room.tick().await;
        assert_eq!(did(&ticked), ["fetch"], "{what}: today's goes on");
        assert_eq!(ticked.archived, [days[3]], "{what}");
        let open = room.open_alerts_of(days[2]).await;
        assert!(open.contains(&github()), "{what}: {open:?}");
    }
}

/// What is known of it stays as it is, and what is wrong with others is found.
#[tokio::test]
async fn sf_06_an_unreadable_edition_blinds_no_watch() {
    for what in DAMAGES {
        let (schema, room) = house().await;
        let earlier = make(&room).await;
        assert_eq!(room.open_alerts_of(earlier).await, [github()]);
        room.clock.advance(DAY);
        let date = make(&room).await;
        damage(&schema, what, earlier).await;
        room.look().await;
        room.clock.advance(TICK);
        assert_eq!(room.open_alerts_of(date).await, [github()], "{what}");
    }
}

fn github() -> String {
    "destination:github".to_owned()
}
