//! Sources that are repaired in place, that stay paused, and that the configuration file defines.

use std::collections::BTreeSet;

use almanack_core::source::{
    options::{Options, patch},
    reading::{HtmlRules, Reading},
};
use serde_json::json;

use super::*;

on_both!(
    ss_22_a_pause_holds_whatever_is_asked_but_resume,
    ss_22_a_pause_by_hand_holds_against_another_cadence,
    ss_22_an_ended_source_is_refused_a_check_and_counts_anew_when_resumed,
    ss_21_a_repaired_address_keeps_entries_and_rhythm_and_doubles_nothing,
    ss_21_changed_rules_and_requests_are_tried_at_once,
    ss_21_what_cannot_be_stored_changes_nothing,
    ss_21_a_repaired_source_that_is_paused_stays_paused,
    ss_21_sources_of_the_file_are_added_changed_and_released,
    ss_21_the_file_owns_its_sources_and_people_only_their_pauses,
);

fn moved_to(address: &str) -> Changes {
    Changes {
        address: Some(address.to_owned()),
        ..Changes::default()
    }
}

fn options(patch: serde_json::Value) -> Changes {
    let patch = serde_json::from_value(patch).unwrap();
    Changes {
        options: Some(patch::Change::Merged(patch)),
        ..Changes::default()
    }
}

fn rules() -> Changes {
    let rules = HtmlRules {
        item: "article".to_owned(),
        title: "h2".to_owned(),
        link: None,
        date: None,
        summary: None,
    };
    Changes {
        reading: Some(Reading::Html(rules)),
        ..Changes::default()
    }
}

async fn ss_22_a_pause_holds_whatever_is_asked_but_resume(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    let note = Some("too loud".to_owned());
    let paused = room.sources.pause(id, note, "ada").await.unwrap().state;
    let refused = room.sources.check_now(id, "ada").await;
    assert!(
        matches!(
            refused,
            Err(Error::NotActive {
                state: "paused",
                ..
            })
        ),
        "{refused:?}"
    );
    for changes in [
        moved_to("https://example.com/other"),
        rules(),
        options(json!({"fetch": {"headers": {"X-A": "1"}}})),
        Changes {
            name: Some("Quiet".to_owned()),
            ..Changes::default()
        },
        Changes {
            policy: Some(None),
            ..Changes::default()
        },
        Changes {
            cadence: Some(Some(Cadence::P1)),
            ..Changes::default()
        },
    ] {
        let changed = room.sources.change(id, &changes, "ada").await.unwrap();
        assert_eq!(changed.state, paused, "{changes:?}");
    }
    let again = vec![definition("https://example.com/other")];
    let added = room.sources.add(again, "ada").await.unwrap();
    assert_eq!(added, [Added::Exists(id)]);
    room.round_at(at(48 * HOUR), KeepEntries::default()).await;
    assert_eq!(room.source(id).await.state, paused);
    assert_eq!(room.run_due().await, []);
    room.sources.resume(id, "ada").await.unwrap();
    assert_eq!(room.run_due().await.len(), 1);
    assert_eq!(room.source(id).await.state, State::Active);
}

async fn ss_22_a_pause_by_hand_holds_against_another_cadence(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    let with = |cadence| Changes {
        cadence: Some(Some(cadence)),
        ..Changes::default()
    };
    let p7 = with(Cadence::P7);
    room.sources.change(id, &p7, "ada").await.unwrap();
    // A person pauses what P7 paused already: now it is that person's pause.
    room.sources.pause(id, None, "ada").await.unwrap();
    let changed = room.sources.change(id, &with(Cadence::P1), "ada").await;
    let state = changed.unwrap().state;
    assert!(
        matches!(state, State::Paused { note: None, .. }),
        "{state:?}"
    );
    room.clock.set(at(48 * HOUR));
    assert_eq!(room.run_due().await, []);
}

async fn ss_22_an_ended_source_is_refused_a_check_and_counts_anew_when_resumed(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    room.world
        .will_answer([failed(FailureClass::Gone), failed(FailureClass::Gone)]);
    room.run_due().await;
    assert_eq!(
        room.source(id).await.state,
        State::Active,
        "once is not enough"
    );
    room.clock.set(at(30 * HOUR));
    room.run_due().await;
    let ended = room.source(id).await;
    assert_eq!(ended.attention, Some(Attention::Gone));
    assert_eq!(room.world.asked(), 2);
    let refused = room.sources.check_now(id, "ada").await;
    assert!(
        matches!(refused, Err(Error::NotActive { state: "ended", .. })),
        "{refused:?}"
    );
    let resumed = room.sources.resume(id, "ada").await.unwrap();
    assert_eq!((resumed.attention, resumed.stats.fail_count), (None, 0));
    room.world.will_answer([failed(FailureClass::Gone)]);
    assert_eq!(room.run_due().await.len(), 1);
    assert_eq!(
        room.source(id).await.state,
        State::Active,
        "said once since"
    );
    room.sources.pause(id, None, "ada").await.unwrap();
    assert_eq!(room.source(id).await.attention, None);
}

async fn ss_21_a_repaired_address_keeps_entries_and_rhythm_and_doubles_nothing(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/old").await;
    let other = room.add("https://example.com/other").await;
    room.world.will_answer([document(&["a", "b"])]);
    room.run_due().await;
    room.world.will_answer([failed(FailureClass::NotFound)]);
    room.clock.set(at(HOUR));
    room.run_due().await;
    let broken = room.source(id).await;
    assert_eq!((broken.stats.fail_count, broken.stats.check_count), (1, 2));
    let taken = room
        .sources
        .change(id, &moved_to("https://example.com/other"), "ada")
        .await;
    assert!(
        matches!(taken, Err(Error::AddressTaken { other: it }) if it == other),
        "{taken:?}"
    );
    assert_eq!(room.source(id).await.definition, broken.definition);
    let to = moved_to("feed:https://Example.com/new");
    let repaired = room.sources.change(id, &to, "ada").await.unwrap();
    assert_eq!(repaired.definition.address, "https://example.com/new");
    assert_eq!(
        (repaired.stats.fail_count, &repaired.stats.last_error),
        (0, &None)
    );
    assert_eq!(
        repaired.stats.next_due_at,
        Some(at(HOUR)),
        "checked at once"
    );
    assert_eq!(repaired.stats.check_count, 2, "statistics stay");
    assert_eq!(
        (repaired.learned, repaired.recent),
        (broken.learned, broken.recent)
    );
    room.sources.pause(other, None, "ada").await.unwrap();
    room.world.will_answer([document(&["b", "a", "c"])]);
    assert_eq!(room.run_due().await.len(), 1);
    assert_eq!(
        room.world.asked.lock().unwrap().last().unwrap().address,
        "https://example.com/new"
    );
    let mut titles = room.titles().await;
    titles.sort();
    assert_eq!(titles, ["a", "b", "c"], "nothing doubled");
}

async fn ss_21_changed_rules_and_requests_are_tried_at_once(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    let Look::Document(mut first) = document(&["a"]) else {
        unreachable!()
    };
    first.validators.etag = Some("\"1\"".to_owned());
    room.world.will_answer([Look::Document(first)]);
    room.run_due().await;
    assert_eq!(room.source(id).await.memory.shown.len(), 1);
    let header = options(json!({"fetch": {"headers": {"X-A": "1"}}}));
    let changed = room.sources.change(id, &header, "ada").await.unwrap();
    assert_eq!(
        changed.memory.validators.etag, None,
        "another request, another answer"
    );
    assert_eq!(changed.memory.shown.len(), 1);
    assert_eq!(room.run_due().await.len(), 1, "at once");
    let asked = room.world.asked.lock().unwrap().last().unwrap().clone();
    assert_eq!(asked.options.fetch.headers["X-A"], "1");
    let changed = room.sources.change(id, &rules(), "ada").await.unwrap();
    assert_eq!(changed.memory.shown.len(), 0, "other rules, other keys");
    assert_eq!(room.run_due().await.len(), 1, "at once");
    let site = options(json!({"site": "https://example.com/"}));
    room.sources.change(id, &site, "ada").await.unwrap();
    assert_eq!(room.run_due().await, [], "no reason to ask");
    let reset = Changes {
        reading: Some(Reading::Feed),
        options: Some(patch::Change::Whole(Box::default())),
        ..Changes::default()
    };
    let reset = room.sources.change(id, &reset, "ada").await.unwrap();
    assert_eq!(reset.definition.options, Options::default());
    assert_eq!(reset.definition.reading, Reading::Feed);
}

async fn ss_21_what_cannot_be_stored_changes_nothing(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    let before = room.source(id).await;
    for changes in [
        moved_to("ftp://example.com/feed"),
        options(json!({"fetch": {"bearer": "hunter2"}})),
        options(json!({"fetch": {"headers": {"Cookie": "hunter2"}}})),
        options(json!({"unknown": true})),
    ] {
        let refused = room.sources.change(id, &changes, "ada").await;
        let sentence = refused.unwrap_err().to_string();
        assert!(!sentence.contains("hunter2"), "{sentence}");
    }
    assert_eq!(room.source(id).await, before);
}

async fn ss_21_a_repaired_source_that_is_paused_stays_paused(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    room.sources.pause(id, None, "ada").await.unwrap();
    let to = moved_to("https://example.com/new");
    let repaired = room.sources.change(id, &to, "ada").await.unwrap();
    assert!(matches!(repaired.state, State::Paused { .. }));
    assert_eq!(room.run_due().await, []);
    // An end was that of the old address.
    let id = room.add("https://example.com/gone").await;
    room.world
        .will_answer([failed(FailureClass::Gone), failed(FailureClass::Gone)]);
    room.run_due().await;
    room.clock.set(at(30 * HOUR));
    room.run_due().await;
    assert!(matches!(room.source(id).await.state, State::Ended { .. }));
    let to = moved_to("https://example.com/back");
    let repaired = room.sources.change(id, &to, "ada").await.unwrap();
    assert_eq!((repaired.state, repaired.attention), (State::Active, None));
    assert_eq!(room.run_due().await.len(), 1);
}

/// The source at an address.
async fn at_address(room: &SourceHarness, address: &str) -> Source {
    let found = room.store.load_source_at(address).await.unwrap();
    found.unwrap()
}

async fn ss_21_sources_of_the_file_are_added_changed_and_released(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let [a, b, c] = ["a", "b", "c"].map(|name| format!("https://{name}.example/feed"));
    let by_hand = room.add(&a).await;
    room.world.will_answer([document(&["kept"])]);
    room.run_due().await;
    let none = BTreeSet::new();
    let file = [&a, &b].map(|address| definition(address)).to_vec();
    let synced = room
        .sources
        .sync(file.clone(), &none, "file")
        .await
        .unwrap();
    assert_eq!(
        (synced.changed, synced.added),
        (vec![a.clone()], vec![b.clone()])
    );
    let taken_over = room.source(by_hand).await;
    assert!(taken_over.definition.options.from_file);
    assert_eq!(
        taken_over.definition.name, "The Example",
        "its own title stays"
    );
    assert_eq!(room.titles().await, ["kept"]);
    let synced = room.sources.sync(file, &none, "file").await.unwrap();
    assert!(synced.is_quiet() && synced.unchanged == 2, "{synced:?}");

    let renamed = Definition {
        name: "Bee".to_owned(),
        ..definition(&b)
    };
    let bad = definition("ftp://bad.example/");
    let file = vec![renamed.clone(), definition(&c), bad];
    let synced = room.sources.sync(file, &none, "file").await.unwrap();
    assert_eq!(
        (synced.changed, synced.added),
        (vec![b.clone()], vec![c.clone()])
    );
    assert_eq!(synced.released, std::slice::from_ref(&a));
    assert_eq!(synced.refused.len(), 1, "and stops nothing else");
    let released = room.source(by_hand).await;
    assert!(
        matches!(&released.state, State::Paused { note: Some(said), .. } if said.contains("configuration file")),
        "{:?}",
        released.state
    );
    assert!(!released.definition.options.from_file, "people may have it");
    assert_eq!(room.titles().await, ["kept"], "its entries stay");

    // A table that cannot be read is no reason to release its source.
    let keep = BTreeSet::from([b.clone()]);
    let file = vec![definition(&a)];
    let synced = room.sources.sync(file, &keep, "file").await.unwrap();
    assert_eq!(
        (synced.changed, synced.released),
        (vec![a.clone()], vec![c])
    );
    assert_eq!(
        at_address(&room, &a).await.state,
        State::Active,
        "it is back"
    );
    assert_eq!(at_address(&room, &b).await.definition.name, "Bee");
}

async fn ss_21_the_file_owns_its_sources_and_people_only_their_pauses(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let address = "https://a.example/feed";
    let none = BTreeSet::new();
    let file = vec![definition(address)];
    room.sources
        .sync(file.clone(), &none, "file")
        .await
        .unwrap();
    let id = at_address(&room, address).await.id;
    let name = Changes {
        name: Some("Mine".to_owned()),
        ..Changes::default()
    };
    let changed = room.sources.change(id, &name, "ada").await;
    assert!(matches!(changed, Err(Error::Managed { .. })), "{changed:?}");
    assert!(
        changed
            .unwrap_err()
            .to_string()
            .contains("configuration file")
    );
    let removed = room.sources.remove(id, "ada").await;
    assert!(matches!(removed, Err(Error::Managed { .. })), "{removed:?}");
    room.sources.check_now(id, "ada").await.unwrap();
    room.sources
        .pause(id, Some("mine".to_owned()), "ada")
        .await
        .unwrap();
    let hourly = Definition {
        cadence: Some(Cadence::P2),
        ..definition(address)
    };
    let synced = room
        .sources
        .sync(vec![hourly], &none, "file")
        .await
        .unwrap();
    assert_eq!(synced.changed.len(), 1);
    let state = room.source(id).await.state;
    assert!(
        matches!(&state, State::Paused { note: Some(said), .. } if said == "mine"),
        "{state:?}"
    );
    // Out of the file and back again: still that person's pause.
    room.sources.sync(Vec::new(), &none, "file").await.unwrap();
    room.sources.sync(file, &none, "file").await.unwrap();
    assert_eq!(room.source(id).await.state, state);
    room.sources.resume(id, "ada").await.unwrap();
    assert_eq!(room.run_due().await.len(), 1);
}
