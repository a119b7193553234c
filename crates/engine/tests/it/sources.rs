//! Sources from their row to their task and back, on both databases, by a clock that a test moves
//! and a world that answers as configured.

mod filters;
mod identity;
mod push;
mod repair;

use std::{
    collections::VecDeque,
    ops::Range,
    sync::{Arc, Mutex},
};

use almanack_core::{
    backoff::Backoff,
    clock::GuardedClock,
    finish::{Outcome, finish},
    handler::Handler,
    source::{
        Attention, Definition, Source, SourceId, State,
        check::{
            Article, Ask, Candidate, Checker, Document, Failure, FailureClass, Look, Unchanged,
        },
        courtesy::Day,
        entry::FoundEntry,
        hints::Hints,
        hub::Reach,
        options::Options,
        policy::cadence::Cadence,
        reading::Reading,
    },
    store::{Added, CourtesyQuery, EntryFilter, HistoryPage, Store},
    task::{Status, Task},
    time::Clock,
};
use almanack_engine::{
    reloadable::Reloadable,
    reschedule::{Kinds, Rescheduler},
    sources::{
        Changes, Error, Sources,
        check::SourceHandler,
        fleet::{Fleet, FleetSettings},
        keeper::{KeepEntries, SourceKeeper, Walk},
    },
};
use almanack_testkit::{
    clock::{ManualClock, ManualTime},
    fixture::{START, at, claim_request},
    hubs::ScriptedHubs,
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use crate::{
    event_delivery::{everything, published},
    fixture::{Fixture, HOUR, on_both},
};

on_both!(
    ss_26_checks_are_counted_written_and_forgotten_after_ninety_days,
    ss_06_a_check_keeps_what_is_new_once_and_comes_again,
    new_entries_are_reported_once,
    ss_08_a_busy_host_is_come_back_to_without_a_check,
    ss_08_row_task_and_due_list_say_one_time,
    ss_05_a_failing_source_is_tried_for_ever,
    ss_12_a_source_that_is_gone_ends_and_a_person_can_restore_it,
    a_pause_during_a_look_survives_it,
    a_paused_source_has_no_task_and_comes_back_by_resuming,
    check_now_and_a_cadence_by_hand_are_reschedules,
    a_source_that_lost_its_task_is_taken_back,
    a_removed_source_leaves_nothing_behind,
    ss_12_a_move_onto_another_source_wants_a_person,
    ss_15_the_price_follows_what_the_fleet_costs,
    bad_definitions_are_refused_and_change_nothing,
    ss_13_pruned_entries_are_not_new_again,
    p7_pauses_and_keeps_what_else_was_asked_for,
    an_address_is_added_once_however_it_is_written,
    ss_16_a_long_list_is_first_looked_at_one_by_one,
    what_the_store_refuses_is_a_failure_that_waits,
    ss_15_a_single_look_does_not_move_the_price_of_a_single_source,
    dp_24_no_entry_is_forgotten_by_a_clock_in_doubt,
    ss_25_a_wrong_clock_is_corrected_before_entries_are_kept,
);

/// Answers in the configured order, and "unchanged" after that.
#[derive(Default)]
struct World {
    answers: Mutex<VecDeque<Look>>,
    asked: Mutex<Vec<Ask>>,
    meanwhile: Mutex<Option<Pausing>>,
    articles: Mutex<VecDeque<Article>>,
    read: Mutex<Vec<String>>,
}

/// A person who pauses a source while it is being looked at.
type Pausing = (Arc<Sources>, SourceId);

impl World {
    fn will_answer(&self, looks: impl IntoIterator<Item = Look>) {
        self.answers.lock().unwrap().extend(looks);
    }

    fn will_read(&self, articles: impl IntoIterator<Item = Article>) {
        self.articles.lock().unwrap().extend(articles);
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

#[async_trait]
impl Checker for World {
    async fn look(&self, ask: &Ask, _now: Timestamp) -> Look {
        self.asked.lock().unwrap().push(ask.clone());
        let meanwhile = self.meanwhile.lock().unwrap().take();
        if let Some((sources, id)) = meanwhile {
            sources.pause(id, None, "ada").await.unwrap();
        }
        let answer = self.answers.lock().unwrap().pop_front();
        answer.unwrap_or_else(|| Look::Unchanged(Unchanged::default()))
    }

    async fn discover(
        &self,
        _address: &str,
        _options: &Options,
        _now: Timestamp,
    ) -> Result<Vec<Candidate>, Failure> {
        Ok(Vec::new())
    }

    async fn article(&self, link: &str, _now: Timestamp) -> Article {
        self.read.lock().unwrap().push(link.to_owned());
        let answer = self.articles.lock().unwrap().pop_front();
        answer.unwrap()
    }

    fn problem(&self, address: &str, _reading: &Reading) -> Option<String> {
        (!address.starts_with("https://")).then(|| format!("{address} is no address"))
    }
}

struct SourceHarness {
    store: Arc<dyn Store>,
    clock: Arc<ManualClock>,
    world: Arc<World>,
    sources: Arc<Sources>,
    fleet: Arc<Fleet>,
    hubs: Arc<ScriptedHubs>,
    handler: SourceHandler,
    claims: Mutex<i64>,
}

impl SourceHarness {
    fn at(fixture: Fixture) -> Self {
        let (store, clock) = (fixture.store, fixture.clock);
        let world = Arc::new(World::default());
        let checker: Arc<dyn Checker> = world.clone();
        let kinds = Kinds {
            accept_any: true,
            ..Kinds::default()
        };
        let rescheduler = Arc::new(Rescheduler::new(store.clone(), clock.clone(), kinds));
        let fleet = Arc::new(Fleet::new(FleetSettings::default()));
        let sources = Arc::new(Sources {
            store: store.clone(),
            clock: clock.clone(),
            rescheduler,
            checker: checker.clone(),
            fleet: fleet.clone(),
        });
        let hubs = Arc::new(ScriptedHubs::new(Reach::Off));
        let handler = SourceHandler {
            store: store.clone(),
            clock: clock.clone(),
            checker,
            fleet: fleet.clone(),
            subscriptions: Reloadable::default(),
            hubs: hubs.clone(),
        };
        Self {
            store,
            clock,
            world,
            sources,
            fleet,
            hubs,
            handler,
            claims: Mutex::new(0),
        }
    }

    /// Another handler of the same node.
    fn handler(&self) -> SourceHandler {
        SourceHandler {
            store: self.store.clone(),
            clock: self.clock.clone(),
            checker: self.world.clone(),
            fleet: self.fleet.clone(),
            subscriptions: Reloadable::default(),
            hubs: self.hubs.clone(),
        }
    }

    async fn add(&self, address: &str) -> SourceId {
        let added = self.sources.add(vec![definition(address)], "ada").await;
        only_new(&added.unwrap()).unwrap()
    }

    async fn source(&self, id: SourceId) -> Source {
        self.sources.load(id).await.unwrap()
    }

    async fn task(&self, id: SourceId) -> Option<Task> {
        self.sources.tasks(&[id]).await.unwrap().pop().unwrap()
    }

    /// Runs what is due now; answers how the attempts ended.
    async fn run_due(&self) -> Vec<Outcome> {
        let now = self.clock.now();
        let claim = {
            let mut claims = self.claims.lock().unwrap();
            *claims += 1;
            *claims
        };
        let claimed = self
            .store
            .claim(claim_request(claim, now, 100))
            .await
            .unwrap();
        let mut outcomes = Vec::new();
        for task in claimed.tasks {
            let outcome = self.handler.attempt(&task).await;
            let ended = finish(&task, &outcome, &Backoff::default(), self.clock.now(), 0);
            self.store.finish(vec![ended]).await.unwrap();
            outcomes.push(outcome);
        }
        outcomes
    }

    fn keeper(&self, keep: KeepEntries) -> SourceKeeper {
        SourceKeeper {
            store: self.store.clone(),
            clock: self.clock.clone(),
            sources: self.sources.clone(),
            fleet: self.fleet.clone(),
            keep,
        }
    }

    /// A round of the keeper at another time.
    async fn round_at(&self, now: Timestamp, keep: KeepEntries) {
        self.clock.set(now);
        self.keeper(keep).round(&mut Walk::default()).await.unwrap();
    }

    async fn titles(&self) -> Vec<String> {
        let filter = EntryFilter {
            limit: 1000,
            ..EntryFilter::default()
        };
        let entries = self.store.list_entries(&filter).await.unwrap().rows;
        entries.into_iter().map(|entry| entry.found.title).collect()
    }
}

fn only_new(added: &[Added]) -> Option<SourceId> {
    match added {
        [Added::New(id)] => Some(*id),
        _ => None,
    }
}

fn definition(address: &str) -> Definition {
    Definition {
        name: String::new(),
        address: address.to_owned(),
        policy: Some("fixed:1h".to_owned()),
        ..Definition::default()
    }
}

fn document(titles: &[&str]) -> Look {
    let entries = titles.iter().map(|title| FoundEntry {
        id: Some((*title).to_owned()),
        title: (*title).to_owned(),
        published_at: Some(START),
        ..FoundEntry::default()
    });
    Look::Document(Box::new(Document {
        title: Some("The Example".to_owned()),
        entries: entries.collect(),
        ..Document::default()
    }))
}

fn failed(class: FailureClass) -> Look {
    Look::Failed(Failure {
        class,
        detail: "no".to_owned(),
        retry_after: None,
    })
}

async fn ss_06_a_check_keeps_what_is_new_once_and_comes_again(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    let looks = [
        document(&["b", "a"]),
        document(&["c", "b", "a"]),
        document(&["c", "b"]),
    ];
    room.world.will_answer(looks);
    for (round, (checks, hits)) in [(1, 1), (2, 2), (3, 2)].into_iter().enumerate() {
        let now = at(i64::try_from(round).unwrap() * HOUR);
        room.clock.set(now);
        let next = now + SignedDuration::from_hours(1);
        let again = Outcome::Again {
            at: next,
            on_record: false,
        };
        assert_eq!(room.run_due().await, [again]);
        let source = room.source(id).await;
        assert_eq!(
            (source.stats.check_count, source.stats.hit_count),
            (checks, hits)
        );
        assert_eq!(source.stats.next_due_at, Some(next));
        assert_eq!(room.task(id).await.unwrap().due_at, Some(next));
    }
    assert_eq!(room.titles().await.len(), 3);
    assert_eq!(room.source(id).await.definition.name, "The Example");
    let identity = id.identity().unwrap();
    let records = room
        .store
        .load_history(&identity, HistoryPage::WHOLE)
        .await
        .unwrap();
    assert_eq!(records.attempts.len(), 0, "the source's row is the record");
}

async fn new_entries_are_reported_once(fixture: Fixture) {
    let mut room = SourceHarness::at(fixture);
    room.handler.subscriptions = everything();
    let id = room.add("https://example.com/feed").await;
    let looks = [document(&["a"]), document(&["a"]), document(&["b", "a"])];
    room.world.will_answer(looks);
    let mut versions = Vec::new();
    for hour in 0..3 {
        room.clock.set(at(hour * HOUR));
        versions.push(room.source(id).await.version);
        room.run_due().await;
    }
    let reported_of = |version: i64| format!("event:source-{id}-{version}@audit");
    let expected = [reported_of(versions[0]), reported_of(versions[2])];
    assert_eq!(
        published(room.store.as_ref()).await,
        expected,
        "no quiet look"
    );
}

async fn ss_08_a_busy_host_is_come_back_to_without_a_check(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    room.world.will_answer([Look::Wait(at(7))]);
    room.run_due().await;
    assert_eq!(room.source(id).await.stats.check_count, 0);
    assert_eq!(room.task(id).await.unwrap().due_at, Some(at(7)));
    room.clock.set(at(7));
    room.run_due().await;
    assert_eq!(room.source(id).await.stats.check_count, 1);
}

async fn ss_08_row_task_and_due_list_say_one_time(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    assert!(is_due(&room, id).await, "a new one");
    room.world.will_answer([failed(FailureClass::Server)]);
    room.run_due().await;
    assert!(!is_due(&room, id).await, "it waits after a failure");
    room.sources.check_now(id, "ada").await.unwrap();
    assert!(is_due(&room, id).await, "a person does not wait");
    room.sources.pause(id, None, "ada").await.unwrap();
    assert!(!is_due(&room, id).await, "a paused one");
    room.sources.resume(id, "ada").await.unwrap();
    assert!(is_due(&room, id).await, "a resumed one");
    room.world.will_answer([failed(FailureClass::Gone)]);
    room.run_due().await;
    assert!(!is_due(&room, id).await, "one that ended");
}

/// Whether a source is due, after all hints were taken.
async fn is_due(room: &SourceHarness, id: SourceId) -> bool {
    let (source, task) = (room.source(id).await, room.task(id).await.unwrap());
    assert_eq!(source.stats.next_due_at, task.due_at);
    let backoff = source.stats.backoff_until;
    assert!(task.due_at.is_none() || task.due_at >= backoff);
    let due = room.store.load_due_sources(None, room.clock.now(), 9).await;
    let is_due = due.unwrap().iter().any(|due| due.id == id);
    assert_eq!(is_due, task.due_at.is_some_and(|at| at <= room.clock.now()));
    is_due
}

async fn ss_05_a_failing_source_is_tried_for_ever(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    for failures in 1..=150 {
        room.world.will_answer([failed(FailureClass::Server)]);
        assert_eq!(room.run_due().await.len(), 1, "after {failures} failures");
        let due_at = room.task(id).await.unwrap().due_at.unwrap();
        assert!(due_at <= room.clock.now() + SignedDuration::from_hours(26));
        room.clock.set(due_at);
    }
    let source = room.source(id).await;
    assert_eq!(source.stats.fail_count, 150);
    assert_eq!(source.attention, Some(Attention::Failing));
    room.run_due().await;
    let source = room.source(id).await;
    assert_eq!((source.stats.fail_count, source.attention), (0, None));
}

async fn ss_12_a_source_that_is_gone_ends_and_a_person_can_restore_it(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    room.world
        .will_answer([failed(FailureClass::Gone), failed(FailureClass::Gone)]);
    room.run_due().await;
    room.clock.set(at(30 * HOUR));
    room.run_due().await;
    let ended = room.source(id).await;
    assert!(
        matches!(ended.state, State::Ended { .. }),
        "{:?}",
        ended.state
    );
    assert_eq!(room.task(id).await.unwrap().status, Status::Fail);
    room.clock.set(at(80 * HOUR));
    assert_eq!(room.run_due().await, []);
    room.sources.resume(id, "ada").await.unwrap();
    assert_eq!(room.run_due().await.len(), 1);
    assert_eq!(room.source(id).await.state, State::Active);
}

async fn a_pause_during_a_look_survives_it(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    *room.world.meanwhile.lock().unwrap() = Some((room.sources.clone(), id));
    room.world.will_answer([document(&["a"])]);
    room.run_due().await;
    let source = room.source(id).await;
    assert!(
        matches!(source.state, State::Paused { .. }),
        "{:?}",
        source.state
    );
    assert_eq!(
        source.stats.check_count, 0,
        "what it found is looked at again one day"
    );
    room.clock.set(at(48 * HOUR));
    assert_eq!(room.run_due().await, []);
}

async fn a_paused_source_has_no_task_and_comes_back_by_resuming(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    let note = Some("too loud".to_owned());
    let paused = room.sources.pause(id, note.clone(), "ada").await.unwrap();
    assert_eq!(paused.state, State::Paused { since: START, note });
    assert_eq!(room.run_due().await, []);
    room.sources.pause(id, None, "ada").await.unwrap();
    assert_eq!(
        room.source(id).await.state,
        paused.state,
        "a second pause keeps the note"
    );
    room.round_at(at(48 * HOUR), KeepEntries::default()).await;
    assert_eq!(room.run_due().await, [], "a paused source is no stray");
    room.sources.resume(id, "ada").await.unwrap();
    assert_eq!(room.run_due().await.len(), 1);
}

async fn check_now_and_a_cadence_by_hand_are_reschedules(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    room.run_due().await;
    let cadence = Changes {
        cadence: Some(Some(Cadence::P4)),
        ..Changes::default()
    };
    let changed = room.sources.change(id, &cadence, "ada").await.unwrap();
    assert_eq!(changed.stats.next_due_at, Some(at(4 * HOUR)));
    assert_eq!(room.task(id).await.unwrap().due_at, Some(at(4 * HOUR)));
    let receipt = room.sources.check_now(id, "ada").await.unwrap();
    assert_eq!(receipt.execute_at, START);
    assert_eq!(room.run_due().await.len(), 1);
    assert_eq!(room.task(id).await.unwrap().due_at, Some(at(4 * HOUR)));
}

async fn p7_pauses_and_keeps_what_else_was_asked_for(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    let never = Changes {
        name: Some("Asleep".to_owned()),
        cadence: Some(Some(Cadence::P7)),
        ..Changes::default()
    };
    let paused = room.sources.change(id, &never, "ada").await.unwrap();
    assert!(matches!(paused.state, State::Paused { .. }));
    assert_eq!(paused.definition.name, "Asleep");
    // By resuming or by another cadence it comes back, and stays.
    room.sources.resume(id, "ada").await.unwrap();
    assert_eq!(room.run_due().await.len(), 1);
    let awake = room.source(id).await;
    assert_eq!(
        (&awake.state, awake.definition.cadence),
        (&State::Active, None)
    );
    assert_eq!(awake.stats.next_due_at, Some(at(HOUR)));
    room.sources.change(id, &never, "ada").await.unwrap();
    let hourly = Changes {
        cadence: Some(Some(Cadence::P2)),
        ..Changes::default()
    };
    room.sources.change(id, &hourly, "ada").await.unwrap();
    assert_eq!(room.run_due().await.len(), 1);
    room.sources.pause(id, None, "ada").await.unwrap();
    let born_asleep = Definition {
        cadence: Some(Cadence::P7),
        ..definition("https://example.com/never")
    };
    room.sources.add(vec![born_asleep], "ada").await.unwrap();
    room.clock.set(at(48 * HOUR));
    assert_eq!(room.run_due().await, []);
}

async fn an_address_is_added_once_however_it_is_written(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    let again = vec![definition("https://EXAMPLE.com:443/feed#top")];
    let added = room.sources.add(again, "ada").await.unwrap();
    assert_eq!(added, [Added::Exists(id)]);
}

/// Longer than what is written together: the next piece continues where the last one ended.
async fn ss_16_a_long_list_is_first_looked_at_one_by_one(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let list = |range: Range<usize>| {
        let numbered = range.map(|number| definition(&format!("https://example.com/{number}")));
        numbered.collect::<Vec<_>>()
    };
    let added = room.sources.add(list(0..1_001), "ada").await.unwrap();
    let new = |added: &Added| match added {
        Added::New(id) => Some(*id),
        Added::Exists(_) => None,
    };
    let ids: Vec<SourceId> = added.iter().filter_map(new).collect();
    assert_eq!(ids.len(), added.len(), "none was there before");
    let tasks = room.sources.tasks(&ids).await.unwrap();
    let sources = room.store.load_sources(&ids).await.unwrap();
    for (index, (task, source)) in (0..).zip(tasks.into_iter().zip(sources)) {
        let due_at = Some(START + SignedDuration::from_millis(100) * index);
        assert_eq!(task.unwrap().due_at, due_at, "source {index}");
        let source = source.unwrap();
        assert_eq!(
            source.definition.address,
            format!("https://example.com/{index}")
        );
        assert_eq!(source.stats.next_due_at, due_at, "source {index}");
    }

    let mut spoilt = list(1_001..2_002);
    spoilt.push(definition("no address"));
    let refused = room.sources.add(spoilt, "ada").await;
    assert!(refused.is_err(), "{refused:?}");
    let again = room.sources.add(list(1_001..1_002), "ada").await.unwrap();
    assert!(matches!(again[..], [Added::New(_)]), "nothing was written");
}

async fn a_source_that_lost_its_task_is_taken_back(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let lost = Source::new(definition("https://example.com/lost"), START);
    let added = room.store.add_sources(vec![lost]).await.unwrap();
    let id = only_new(&added).unwrap();
    let kept = room.add("https://example.com/kept").await;
    let keep = KeepEntries::default();
    room.round_at(at(60), keep).await;
    assert!(room.task(id).await.is_none(), "it may be on its way");
    room.round_at(at(600), keep).await;
    assert_eq!(room.task(id).await.unwrap().due_at, Some(at(600)));
    assert_eq!(
        room.task(kept).await.unwrap().due_at,
        Some(START),
        "this one just waits"
    );
    assert_eq!(room.run_due().await.len(), 2);
}

async fn a_removed_source_leaves_nothing_behind(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    room.world.will_answer([document(&["a"])]);
    room.run_due().await;
    room.sources.remove(id, "ada").await.unwrap();
    room.clock.set(at(48 * HOUR));
    assert_eq!(room.run_due().await, []);
    assert_eq!(room.titles().await, [""; 0]);
    let again = room.sources.remove(id, "ada").await;
    assert!(matches!(again, Err(Error::Unknown { .. })), "{again:?}");
    let back = room.add("https://example.com/feed").await;
    assert_ne!(back, id);
}

async fn ss_12_a_move_onto_another_source_wants_a_person(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let other = room.add("https://example.org/feed").await;
    let id = room.add("https://example.com/feed").await;
    room.sources.pause(other, None, "ada").await.unwrap();
    let moved = Look::Unchanged(Unchanged {
        moved_to: Some("https://example.org/feed".to_owned()),
        ..Unchanged::default()
    });
    room.world.will_answer(vec![moved; 3]);
    for hour in 0..3 {
        room.clock.set(at(hour * HOUR));
        room.run_due().await;
    }
    let source = room.source(id).await;
    assert_eq!(source.definition.address, "https://example.com/feed");
    assert_eq!(source.attention, Some(Attention::Duplicate));
    assert_eq!(source.stats.check_count, 3);
}

async fn ss_15_the_price_follows_what_the_fleet_costs(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    // A hundred and twenty sources at 24 a day: 20 looks in ten minutes.
    let many = (0..120).map(|n| definition(&format!("https://example.com/{n}")));
    room.sources.add(many.collect(), "ada").await.unwrap();
    let store = room.store.as_ref();
    room.fleet.step(store, START).await.unwrap();
    let before = room.fleet.price_h();
    (0..40).for_each(|_| room.fleet.count());
    room.fleet.step(store, at(60)).await.unwrap();
    assert!(
        (room.fleet.price_h() - before).abs() < 1e-12,
        "too early to say"
    );
    room.fleet.step(store, at(600)).await.unwrap();
    let dearer = room.fleet.price_h();
    assert!(dearer > before, "{dearer} after {before}");
    // Nothing at all in the next ten.
    room.fleet.step(store, at(1200)).await.unwrap();
    let cheaper = room.fleet.price_h();
    assert!(cheaper < dearer, "{cheaper} after {dearer}");
    // A night without any node says nothing about the price.
    room.fleet.step(store, at(12 * HOUR)).await.unwrap();
    assert!((room.fleet.price_h() - cheaper).abs() < 1e-12);
    let another = Fleet::new(FleetSettings::default());
    another.hear(store).await.unwrap();
    assert!(
        (another.price_h() - cheaper).abs() < 1e-12,
        "one price for all nodes"
    );
}

async fn ss_15_a_single_look_does_not_move_the_price_of_a_single_source(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    room.add("https://example.com/feed").await;
    let store = room.store.as_ref();
    room.fleet.step(store, START).await.unwrap();
    let before = room.fleet.price_h();
    // A look an hour, a step every ten minutes: most steps see nothing, some see six times too
    // much.
    for step in 1..=120 {
        if step % 6 == 0 {
            room.fleet.count();
        }
        room.fleet.step(store, at(step * 600)).await.unwrap();
        let moved = room.fleet.price_h() / before - 1.0;
        // After twenty hours the twenty looks are what one source at 24 a day should cost.
        assert!(moved.abs() < 0.01, "after {step} steps: {moved}");
    }
    let fleet = store.load_fleet().await.unwrap().unwrap();
    assert_eq!(
        fleet.counted_from,
        at(20 * HOUR),
        "then the count begins anew"
    );
}

async fn bad_definitions_are_refused_and_change_nothing(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let good = definition("https://example.com/feed");
    let bad = [
        definition("ftp://example.com/feed"),
        Definition {
            policy: Some("whenever".to_owned()),
            ..good.clone()
        },
        Definition {
            name: "a\nb".to_owned(),
            ..good.clone()
        },
        Definition {
            category: "x".repeat(501),
            ..good.clone()
        },
        // Within the limit as typed, beyond it as it is kept.
        definition(&format!("https://example.com/{}", "ü".repeat(900))),
    ];
    for bad in bad {
        let both = vec![good.clone(), bad.clone()];
        let refused = room.sources.add(both, "ada").await;
        assert!(refused.is_err(), "{bad:?}");
    }
    assert_eq!(room.run_due().await, []);
    let unknown = room.sources.check_now(SourceId(99), "ada").await;
    assert!(matches!(unknown, Err(Error::Unknown { .. })), "{unknown:?}");
    assert_eq!(room.world.asked(), 0);
}

async fn what_the_store_refuses_is_a_failure_that_waits(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    let Look::Document(mut broken) = document(&["a"]) else {
        unreachable!()
    };
    // No checker lets this through; the store has the last word.
    broken.validators.etag = Some("\0".repeat(10));
    broken.entries[0].link = Some("\0".to_owned());
    room.world.will_answer([Look::Document(broken)]);
    room.run_due().await;
    let source = room.source(id).await;
    if source.stats.fail_count == 0 {
        return assert_eq!(source.stats.hit_count, 1, "this database takes anything");
    }
    assert_eq!(source.stats.last_error_class, Some(FailureClass::Malformed));
    let due_at = room.task(id).await.unwrap().due_at;
    assert!(due_at >= Some(at(900)), "{due_at:?}");
    assert_eq!(room.titles().await, [""; 0]);
}

/// How old an entry is, is a matter of the clock.
async fn dp_24_no_entry_is_forgotten_by_a_clock_in_doubt(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    room.add("https://example.com/feed").await;
    room.world
        .will_answer([document(&["a", "b"]), document(&["c"])]);
    room.run_due().await;
    room.clock.set(at(HOUR));
    room.run_due().await;
    let keep = KeepEntries {
        for_long: Some(SignedDuration::from_hours(24)),
        per_source: 100,
    };
    let machine = Arc::new(ManualTime::boot(at(48 * HOUR), "first"));
    let clock = Arc::new(GuardedClock::start(machine.clone(), None));
    let (sources, fleet) = (room.sources.clone(), room.fleet.clone());
    let keeper = SourceKeeper {
        store: room.store.clone(),
        clock,
        sources,
        fleet,
        keep,
    };
    for (step, left) in [(-HOUR, 3), (HOUR, 1)] {
        machine.step(SignedDuration::from_secs(step));
        keeper.round(&mut Walk::default()).await.unwrap();
        assert_eq!(room.titles().await.len(), left, "set by {step} s");
    }
}

async fn ss_13_pruned_entries_are_not_new_again(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    room.world
        .will_answer([document(&["a", "b"]), document(&["c"])]);
    room.run_due().await;
    room.clock.set(at(HOUR));
    room.run_due().await;
    let keep = KeepEntries {
        for_long: Some(SignedDuration::from_hours(24)),
        per_source: 100,
    };
    room.round_at(at(48 * HOUR), keep).await;
    assert_eq!(
        room.titles().await,
        ["c"],
        "what the feed still shows stays"
    );
    // The old ones come back: the feed was rebuilt.
    let earlier = Look::Document(Box::new(Document {
        entries: ["a", "b", "c"]
            .map(|title| FoundEntry {
                id: Some(title.to_owned()),
                title: title.to_owned(),
                published_at: Some(START - SignedDuration::from_secs(1)),
                ..FoundEntry::default()
            })
            .to_vec(),
        ..Document::default()
    }));
    room.world.will_answer([earlier]);
    room.run_due().await;
    assert_eq!(room.titles().await, ["c"]);
    assert_eq!(room.source(id).await.stats.hit_count, 2);
}

async fn ss_25_a_wrong_clock_is_corrected_before_entries_are_kept(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    let (half, ahead) = (SignedDuration::from_mins(30), SignedDuration::from_hours(8));
    let mut entries = Vec::new();
    for hour in 0..6 {
        let now = at(hour * HOUR);
        entries.insert(
            0,
            FoundEntry {
                id: Some(hour.to_string()),
                published_at: Some(now - half + ahead),
                ..FoundEntry::default()
            },
        );
        room.world.will_answer([Look::Document(Box::new(Document {
            entries: entries.clone(),
            ..Document::default()
        }))]);
        room.clock.set(now);
        room.run_due().await;
    }
    let publisher = room.source(id).await.memory.publisher;
    assert_eq!(publisher.clock_ahead_s, Some(8 * 3_600));
    let filter = EntryFilter {
        limit: 3,
        ..EntryFilter::default()
    };
    let kept = room.store.list_entries(&filter).await.unwrap().rows;
    for (entry, hour) in kept.iter().zip([5, 4, 3]) {
        assert_eq!(entry.found.published_at, Some(at(hour * HOUR) - half));
    }
}

/// What publishers asked for is compared with what was done, and what a node counted is in the
/// store after its keeper's round: a restart loses nothing that was written.
async fn ss_26_checks_are_counted_written_and_forgotten_after_ninety_days(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://a.example/feed").await;
    let hints = Hints {
        fresh_for: Some(3_600),
        ..Hints::default()
    };
    let document = |hints| {
        Look::Document(Box::new(Document {
            hints,
            ..Document::default()
        }))
    };
    let limited = Failure {
        retry_after: Some(SignedDuration::from_hours(2)),
        ..Failure::new(FailureClass::RateLimited, "limited")
    };
    let answers = [
        document(hints),
        document(hints),
        Look::Wait(at(60)),
        Look::Failed(limited),
    ];
    room.world.answers.lock().unwrap().extend(answers);
    let query = CourtesyQuery {
        from: Day(0),
        host: Some("a.example".to_owned()),
        limit: 10,
    };
    for _ in 0..4 {
        // A person who asks at once does not wait as the publisher wanted.
        room.sources.check_now(id, "ada").await.unwrap();
        room.run_due().await;
    }
    let stored = room.store.load_courtesy_hosts(&query).await.unwrap();
    assert_eq!(stored, [], "counted, but not written yet");
    let keep = KeepEntries::default();
    room.round_at(START, keep).await;
    room.round_at(at(31), keep).await;
    let stored = room.store.load_courtesy_hosts(&query).await.unwrap();
    assert_eq!(stored.len(), 1);
    let counts = &stored[0].counts;
    assert_eq!((counts.asked, counts.kept, counts.waited), (2, 0, 1));
    assert_eq!(counts.requested.cache_s, Some(3_600));
    assert_eq!(counts.requested.retry_after_s, Some(7_200));
    let day = SignedDuration::from_hours(24);
    room.round_at(START + day * 90, keep).await;
    assert_eq!(
        room.store.load_courtesy_days(&query).await.unwrap().len(),
        1
    );
    room.round_at(START + day * 91, keep).await;
    assert_eq!(room.store.load_courtesy_days(&query).await.unwrap(), []);
}
