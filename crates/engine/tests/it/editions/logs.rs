//! What ticks say (ED-28, ED-29). What is said does not depend on the database, so one is enough.

use std::{
    io::{self, Write},
    sync::{Mutex, PoisonError},
};

use almanack_core::{
    edition::{account::Change, port::FailureClass},
    finish::Outcome,
    handler::Handler,
    plan::{ScheduleName, slot_identity},
    reschedule::{Put, Request, decide},
    store::EditionWritten,
    task::ClaimedTask,
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    edition_harness::InjectedFault,
    fixture::claim_request,
    layer::{Layer, Layered},
};

use super::*;

/// Keeps what is logged.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Paper {
    /// From now on, this thread logs here.
    fn listen(&self) -> impl Drop {
        let paper = self.clone();
        let logging = tracing_subscriber::fmt()
            .with_ansi(false)
            .without_time()
            .with_writer(move || paper.clone())
            .finish();
        tracing::subscriber::set_default(logging)
    }

    fn lines_with(&self, words: &str) -> Vec<String> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let found = text.lines().filter(|line| line.contains(words));
        found.map(str::to_owned).collect()
    }
}

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn room(stories: u32) -> Room {
    let store = Arc::new(SqliteStore::in_memory().unwrap());
    Room::on(store, EditionHarness::with(stories))
}

#[tokio::test]
async fn ed_28_every_tick_says_time_date_state_and_action() {
    let (room, paper) = (room(1), Paper::default());
    let _listening = paper.listen();
    room.tick_times(3).await;
    let said = paper.lines_with("edition tick");
    assert_eq!(said.len(), 3, "{said:#?}");
    for (line, reported) in said.iter().zip([
        ["06:00:00Z", "edition.state=init", "action=\"fetch\""],
        [
            "06:10:00Z",
            "edition.state=list_fetched",
            "process, aggregate",
        ],
        [
            "06:20:00Z",
            "edition.state=published",
            "nothing: it is published",
        ],
    ]) {
        assert!(
            line.contains("INFO") && line.contains("edition.id=2026-01-04"),
            "{line}"
        );
        for words in reported {
            assert!(line.contains(words), "{words} in {line}");
        }
    }
}

#[tokio::test]
async fn ed_15_a_tick_says_that_the_previous_batch_is_still_running() {
    let (room, paper) = (room(2), Paper::default());
    room.tick().await;
    let account = room.account().await;
    let keys = [account.stories[0].listed.key.clone()];
    let now = almanack_core::time::Clock::now(room.clock.as_ref());
    let rules = &room.settings.rules;
    let started = almanack_core::edition::turn::start_batch(&account, &keys, "other", rules, now);
    room.store.write_edition(started.unwrap().0).await.unwrap();
    let task = tick_task(&room.store, &room.clock).await;
    let _listening = paper.listen();
    let reported = room.tick_handler().attempt(&task).await;
    let said = "batch 1 is still running, until 2026-01-04 06:11:00Z at most";
    assert_eq!(paper.lines_with(said).len(), 1);
    let detail = format!("2026-01-04 processing: nothing: {said}");
    let detail = Some(detail);
    assert_eq!(reported, Outcome::Done { detail }, "and so does its task");
}

#[tokio::test]
async fn ed_29_a_list_that_cannot_be_fetched_is_an_error_in_the_log() {
    let (room, paper) = (room(1), Paper::default());
    room.news.decide(|call, _| match call {
        Call::List => InjectedFault::Fails(FailureClass::Transient),
        _ => InjectedFault::Well,
    });
    let _listening = paper.listen();
    room.tick().await;
    let said = paper.lines_with("could not fetch the story list");
    assert!(said.len() == 1 && said[0].contains("ERROR"), "{said:#?}");
}

/// A disk that is full.
struct Full;

#[async_trait::async_trait]
impl Layer for Full {
    async fn write_edition(
        &self,
        _: &dyn Store,
        _: Change,
    ) -> almanack_core::store::Result<EditionWritten> {
        Err(almanack_core::store::Error::Unwritable {
            statement: "write edition",
            source: "no space left on device".into(),
        })
    }
}

/// A tick that is due, claimed.
async fn tick_task(store: &Arc<dyn Store>, clock: &Arc<ManualClock>) -> ClaimedTask {
    let now = almanack_core::time::Clock::now(clock.as_ref());
    let schedule = ScheduleName::parse("edition").unwrap();
    let identity = slot_identity(&schedule, now).unwrap();
    let put = Request::Put(Put::at(identity, now));
    let change = decide(None, &put, "schedule edition", now).unwrap();
    store.apply(vec![change]).await.unwrap();
    let claimed = store.claim(claim_request(1, now, 1)).await.unwrap();
    claimed.tasks.into_iter().next().unwrap()
}

/// A tick that fails says every cause, leaves the state, and is tried again.
#[tokio::test]
async fn ed_29_a_tick_that_fails_says_every_cause() {
    let (mut room, paper) = (room(1), Paper::default());
    let below = room.store.clone();
    room.store = Layered::over(below.clone(), Full);
    let task = tick_task(&below, &room.clock).await;
    let _listening = paper.listen();
    let outcome = room.tick_handler().attempt(&task).await;
    assert_eq!(outcome.name(), "retry");
    let said = paper.lines_with("ERROR");
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(
        said[0].contains("database cannot be written: write edition: no space left on device"),
        "{said:#?}"
    );
    room.store = below;
    assert_eq!(room.account().await.edition.state, State::Init);
    assert_eq!(did(&room.tick().await), ["fetch"]);
}
