//! One suite that proves any store equal to any other.
//!
//! Every rule of the store port is one function that gets a fresh, empty store. A consumer says how
//! to get one and receives one test per rule, named after it:
//!
//! ```ignore
//! async fn fresh() -> Fresh { Fresh::new(SqliteStore::in_memory().unwrap()) }
//! crate::conformance!(fresh);
//! ```
//!
//! Rules reach the store only through the port and know only its contract: what is left open there
//! (how a claim fills slots that are left over, what a missed hint costs) is left open here.

use std::{any::Any, sync::Arc};

use almanack_core::{
    backoff::Backoff,
    callback::Callback,
    edition::{Account, EditionId, account},
    finish::{Finish, Outcome, finish as decide_finish},
    plan::{Schedule, ScheduleId, ScheduleWrite, Slot},
    reschedule::{Change, Put, Receipt, Request, decide},
    source::{Source, SourceId, entry::Entry},
    store::{
        Added, Applied, ClaimRequest, EditionWritten, EntryFilter, Finished, LedgerPage,
        SourceWrite, Store, Written,
    },
    target::Method,
    task::{ClaimedTask, Identity, Task, TaskId},
};
use almanack_testkit::fixture::{
    START, claim_request, edition::day, new_schedule, put, schedule_name,
};
use jiff::Timestamp;

pub(crate) mod activity;
pub(crate) mod alert;
pub(crate) mod apply;
pub(crate) mod bulk;
pub(crate) mod calendar;
pub(crate) mod claim;
pub(crate) mod coming;
pub(crate) mod courtesy;
pub(crate) mod due;
pub(crate) mod edition;
pub(crate) mod edition_desk;
pub(crate) mod edition_list;
pub(crate) mod edition_write;
pub(crate) mod entry;
pub(crate) mod entry_search;
pub(crate) mod expiry;
pub(crate) mod find;
pub(crate) mod finish;
pub(crate) mod firing;
pub(crate) mod fleet;
pub(crate) mod guard;
pub(crate) mod identity;
pub(crate) mod lease;
pub(crate) mod ledger;
pub(crate) mod list;
pub(crate) mod model_spend;
pub(crate) mod monitor;
pub(crate) mod newsletter;
pub(crate) mod node;
pub(crate) mod nudge;
pub(crate) mod once;
pub(crate) mod overview;
pub(crate) mod pace;
pub(crate) mod permit;
pub(crate) mod prune;
pub(crate) mod records;
pub(crate) mod reporting;
mod rules;
pub(crate) mod run_log;
pub(crate) mod schedule;
pub(crate) mod search;
pub(crate) mod share;
pub(crate) mod sign_in;
pub(crate) mod source;
pub(crate) mod source_list;
pub(crate) mod source_write;
pub(crate) mod token;
pub(crate) mod value;
pub(crate) mod work;

/// A store of one rule's own, with whatever must live as long as it does.
pub(crate) struct Fresh {
    store: Arc<dyn Store>,
    _kept: Box<dyn Any + Send>,
}

impl Fresh {
    pub(crate) fn new(store: impl Store + 'static) -> Self {
        Self {
            store: Arc::new(store),
            _kept: Box::new(()),
        }
    }

    /// Keeps `kept` (a temporary directory) until the rule is over.
    #[must_use]
    pub(crate) fn keeping(self, kept: impl Any + Send) -> Self {
        Self {
            _kept: Box::new(kept),
            ..self
        }
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }
}

/// What a task can say about how it is called.
pub(crate) fn call_options() -> Callback {
    let headers = [("X-Tenant".to_owned(), "né \" '".to_owned())];
    Callback {
        url: None,
        method: Some(Method::Put),
        timeout_s: Some(7),
        headers: Some(headers.into()),
    }
}

/// The requester in the rules.
pub(crate) const ORIGIN: &str = "author";

/// The identity's current row, if there is one.
pub(crate) async fn current(store: &dyn Store, identity: &Identity) -> Option<Task> {
    let mut rows = store
        .load_current(std::slice::from_ref(identity))
        .await
        .expect("load_current");
    assert_eq!(rows.len(), 1, "one answer per identity");
    rows.remove(0)
}

/// The row with this number, which must exist.
pub(crate) async fn task(store: &dyn Store, id: TaskId) -> Task {
    store
        .load_task(id)
        .await
        .expect("load_task")
        .unwrap_or_else(|| panic!("no row {id}"))
}

/// Decides `request` from the current row, without carrying it out.
pub(crate) async fn decided(store: &dyn Store, request: &Request, now: Timestamp) -> Change {
    let row = current(store, request.identity()).await;
    decide(row.as_ref(), request, ORIGIN, now).expect("something to decide on")
}

/// Carries out one change.
pub(crate) async fn applied(store: &dyn Store, change: Change) -> Applied {
    let answers = store.apply(vec![change]).await.expect("apply");
    assert_eq!(answers.len(), 1, "one answer per change");
    answers[0]
}

/// Decides and carries out, undisturbed.
pub(crate) async fn ask(store: &dyn Store, request: &Request, now: Timestamp) -> Receipt {
    let change = decided(store, request, now).await;
    let applied = applied(store, change.clone()).await;
    let Some(receipt) = applied.receipt(&change) else {
        panic!("no other writer came in between, yet {request:?} was lost");
    };
    receipt
}

/// [`put`] carried out at its own time or at `now`, whichever the rules say; the row's number.
pub(crate) async fn plant(store: &dyn Store, request: Put, now: Timestamp) -> TaskId {
    ask(store, &Request::Put(request), now).await.task_id
}

/// Plants `count` tasks `{prefix}:{n}` of one kind, all due at `due_at`, decided then.
pub(crate) async fn plant_many(
    store: &dyn Store,
    prefix: &str,
    kind_name: &str,
    count: usize,
    due_at: Timestamp,
) -> Vec<TaskId> {
    let change = |n: usize| {
        let request = put(&format!("{prefix}:{n}"), kind_name, due_at);
        decide(None, &Request::Put(request), ORIGIN, due_at).expect("a put of nothing creates")
    };
    let answers = store
        .apply((0..count).map(change).collect())
        .await
        .expect("apply");
    let planted = answers.into_iter().map(|answer| match answer {
        Applied::Done { inserted: Some(id) } => id,
        other => panic!("a fresh identity was {other:?}"),
    });
    planted.collect()
}

/// Carries out a claim.
pub(crate) async fn claimed(store: &dyn Store, request: ClaimRequest) -> Vec<ClaimedTask> {
    store.claim(request).await.expect("claim").tasks
}

/// Claims the one task that is due.
pub(crate) async fn claim_one(store: &dyn Store, claim: i64, now: Timestamp) -> ClaimedTask {
    let mut tasks = claimed(store, claim_request(claim, now, 10)).await;
    assert_eq!(tasks.len(), 1, "exactly one task was due");
    tasks.remove(0)
}

/// What `outcome` makes of a claimed task, without jitter.
pub(crate) fn ending(task: &ClaimedTask, outcome: &Outcome, now: Timestamp) -> Finish {
    decide_finish(task, outcome, &Backoff::default(), now, 0)
}

pub(crate) async fn end(
    store: &dyn Store,
    task: &ClaimedTask,
    outcome: &Outcome,
    now: Timestamp,
) -> Finished {
    let answers = store
        .finish(vec![ending(task, outcome, now)])
        .await
        .expect("finish");
    assert_eq!(answers.len(), 1, "one answer per ending");
    answers[0]
}

/// Carries out one write of a schedule; whether it was done.
pub(crate) async fn wrote(store: &dyn Store, write: ScheduleWrite) -> bool {
    let answers = store
        .write_schedules(vec![write])
        .await
        .expect("write_schedules");
    assert_eq!(answers.len(), 1, "one answer per write");
    answers[0] == Applied::Done { inserted: None }
}

/// The schedule of this name, which must exist.
pub(crate) async fn named(store: &dyn Store, name: &str) -> Schedule {
    let names = [schedule_name(name)];
    let mut found = store.load_schedules(&names).await.expect("load_schedules");
    assert_eq!(found.len(), 1, "one answer per name");
    found
        .remove(0)
        .unwrap_or_else(|| panic!("no schedule {name}"))
}

/// Writes a new schedule and reads it back.
pub(crate) async fn keep(store: &dyn Store, schedule: Schedule) -> Schedule {
    let name = schedule.name.clone();
    assert!(
        wrote(store, new_schedule(schedule)).await,
        "{name} was free"
    );
    named(store, name.as_str()).await
}

/// The whole ledger of a schedule, newest first.
pub(crate) async fn ledger_of(store: &dyn Store, id: ScheduleId) -> Vec<Slot> {
    let page = LedgerPage {
        before: Timestamp::MAX,
        limit: 10_000,
    };
    store.load_slots(id, page).await.expect("load_slots")
}

/// Adds a source and reads it back.
pub(crate) async fn followed(store: &dyn Store, source: Source) -> Source {
    let added = store.add_sources(vec![source]).await.expect("add_sources");
    let [Added::New(id)] = added[..] else {
        panic!("a new address was {added:?}");
    };
    source_of(store, id).await
}

/// The source with this number, which must exist.
pub(crate) async fn source_of(store: &dyn Store, id: SourceId) -> Source {
    let mut found = store.load_sources(&[id]).await.expect("load_sources");
    assert_eq!(found.len(), 1, "one answer per number");
    found.remove(0).unwrap_or_else(|| panic!("no source {id}"))
}

/// Carries out one write of a source.
pub(crate) async fn looked(store: &dyn Store, write: SourceWrite) -> Written {
    let answers = store
        .write_sources(vec![write])
        .await
        .expect("write_sources");
    assert_eq!(answers.len(), 1, "one answer per write");
    answers[0]
}

/// All entries of a source, newest row first.
pub(crate) async fn entries_of(store: &dyn Store, id: SourceId) -> Vec<Entry> {
    let filter = EntryFilter {
        source: Some(id),
        limit: 10_000,
        ..EntryFilter::default()
    };
    let page = store.list_entries(&filter).await;
    page.expect("list_entries").rows
}

/// Opens the edition of the `number`th day, which must be new.
pub(crate) async fn opened(store: &dyn Store, number: i32) -> Account {
    let opened = store.open_edition(day(number).into(), START).await;
    assert!(opened.expect("open_edition").1, "a new day");
    account_of(store, day(number)).await
}

/// The account of a day, which must exist.
pub(crate) async fn account_of(store: &dyn Store, id: impl Into<EditionId>) -> Account {
    let id = id.into();
    let account = store.load_account(id).await.expect("load_account");
    account.unwrap_or_else(|| panic!("no edition {id}"))
}

/// Writes a change, undisturbed.
pub(crate) async fn changed(store: &dyn Store, change: account::Change) {
    let written = store.write_edition(change).await.expect("write_edition");
    assert_eq!(
        written,
        EditionWritten::Done,
        "no other writer came in between"
    );
}

/// The outcome most rules end with.
pub(crate) fn done() -> Outcome {
    Outcome::Done {
        detail: Some("200 OK".to_owned()),
    }
}

/// A failure that may pass.
pub(crate) fn failed() -> Outcome {
    Outcome::Retry {
        error: "503".to_owned(),
        retry_after: None,
    }
}

/// A refusal for good.
pub(crate) fn refused() -> Outcome {
    Outcome::GiveUp {
        error: "404".to_owned(),
    }
}
