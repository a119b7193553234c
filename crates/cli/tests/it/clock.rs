//! A clock that was set, for who looks after a node on SQLite: seen, accepted, and what it planned
//! taken back (DP-24).

use rusqlite::Connection;
use serde_json::Value;

use crate::{harness::Home, operations::doctor};

const HOOK: [&str; 2] = ["--target-webhook", "https://example.org/hook"];

/// A store with one schedule, and what a clock that was wrong has made of it.
fn stored(statements: &str) -> Home {
    let home = Home::new();
    home.run(&[&["schedule", "put", "often", "@hourly"], &HOOK[..]].concat())
        .expect_data();
    let store = Connection::open(home.path().join("almanack.db")).unwrap();
    store.execute_batch(statements).unwrap();
    home
}

/// The newest record is of 1970, and the machine was started since.
#[test]
fn dp_24_a_clock_in_doubt_is_shown_until_a_person_accepts_it() {
    let home = stored("insert into clock values ('machine', 0, 0, 'another', 0)");
    let doubt = "after the newest record in the database";
    let shown = home.run(&["clock", "show"]);
    assert_eq!(shown.code, 1, "{shown}");
    assert!(shown.data.contains(doubt), "{shown}");
    assert!(shown.notes.contains("almanack clock accept"), "{shown}");
    let reported: Value =
        serde_json::from_str(&home.run(&["clock", "show", "--json"]).data).unwrap();
    assert_eq!(
        (&reported["may_act"], &reported["may_delete"]),
        (&false.into(), &false.into())
    );
    let (verdict, what) = doctor(&home, &[], "clock and database");
    assert_eq!(verdict, "failed", "{what}");
    assert!(what.contains(doubt), "{what}");
    home.run(&["clock", "accept"]).expect_data();
    let shown = home.run(&["clock", "show"]).expect_data();
    assert!(shown.contains("the machine's clock is trusted"), "{shown}");
    assert_eq!(doctor(&home, &[], "clock and database").0, "ok");
}

/// Nothing of it would fire before the year 3000.
#[test]
fn dp_24_a_schedule_that_was_planned_ahead_is_found_and_taken_back() {
    let home = stored(
        "update schedule set next_at_us = 32503680000000000, look_at_us = 32503680000000000;
         insert into slot select schedule_id, 32503676400000000, 32503676400000000, 1, 'fired', null,
         revision, 32503676400000000 from schedule",
    );
    let (verdict, what) = doctor(&home, &[], "planned ahead");
    assert_eq!(verdict, "failed", "{what}");
    assert!(what.contains("often"), "{what}");
    let rewound = home.run(&["schedule", "rewind"]).expect_data();
    assert_eq!(rewound, "rewound often\n");
    assert_eq!(doctor(&home, &[], "planned ahead").0, "ok");
    let again = home.run(&["schedule", "rewind"]).expect_data();
    assert_eq!(again, "no schedule needs a rewind\n");
}
