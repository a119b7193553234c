//! The witness: is right before the store, sees every call in the order it takes effect, and
//! holds the store's answer and the rows it touched against the [`Model`].

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use almanack_core::{
    bulk::{Bulk, BulkId},
    event::outgoing::gather,
    finish::Finish,
    reschedule::{Change, Receipt},
    store::{
        Applied, AppliedOnce, ClaimId, ClaimRequest, Claimed, Error, Finished, HistoryPage,
        OnceKey, PausedKind, Result, Store, TaskFilter,
    },
    task::{ClaimedTask, Identity, Kind, TaskId},
};
use almanack_testkit::{fixture::START, layer::Layer};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::{
    model::{Model, Row},
    record::Record,
    time::TrueClock,
};

/// More rows than a simulation ever writes.
const ROWS_MAX: usize = 100_000;

/// A clock is corrected by looks that take a while, so a node may take itself for a little older.
const REGISTER_SLACK: SignedDuration = SignedDuration::from_secs(90);

/// See the module's words. Cloning it gives a second view of the same model.
#[derive(Clone)]
pub(super) struct Witness {
    truth: TrueClock,
    record: Arc<Record>,
    model: Arc<Mutex<Model>>,
    /// How fast the fastest node's clock runs, in millionths.
    drift_ppm: i64,
}

impl Witness {
    pub(super) fn new(truth: TrueClock, record: Arc<Record>, drift_ppm: i64) -> Self {
        let model = Arc::default();
        Self {
            truth,
            record,
            model,
            drift_ppm,
        }
    }

    pub(super) fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How early a start may be: what a clock can have drifted since the beginning. Nothing, in the
    /// seeds without drift.
    pub(super) fn tolerance(&self) -> SignedDuration {
        SignedDuration::from_micros(self.truth.elapsed_us() * self.drift_ppm / 1_000_000)
    }

    /// Compares every row of the store with the model.
    pub(super) async fn look(&self, store: &dyn Store) {
        let limit = ROWS_MAX;
        let everything = TaskFilter {
            limit,
            ..TaskFilter::default()
        };
        let Some(page) = self.must(store.list_tasks(&everything).await) else {
            return;
        };
        let tasks = page.rows;
        let model = self.model();
        if tasks.len() != model.rows.len() {
            let (has, should) = (tasks.len(), model.rows.len());
            self.record.broke(format_args!(
                "the store has {has} rows and should have {should}"
            ));
        }
        for task in &tasks {
            self.compare(&model, task.id, Some(&Row::seen(task)));
        }
    }

    /// The register of nodes shows true time, however wrong their own clocks are.
    pub(super) async fn look_at_nodes(&self, store: &dyn Store) {
        let now = self.truth.now() + self.tolerance();
        for node in self.must(store.load_nodes().await).unwrap_or_default() {
            let in_order = START <= node.started_at + REGISTER_SLACK
                && node.started_at <= node.seen_at + REGISTER_SLACK
                && node.seen_at <= now;
            if !in_order {
                self.record
                    .broke(format_args!("a node cannot be as old as {node:?} at {now}"));
            }
        }
    }

    /// I17: a run of a node that stopped in order left no claim behind.
    pub(super) async fn look_at_departed(&self, store: &dyn Store, session: &str) {
        let left = store.load_expired(Timestamp::MAX, ROWS_MAX).await;
        let model = self.model();
        for claim in self.must(left).unwrap_or_default() {
            let by = model.sessions.get(&claim.claim_id);
            if by.is_some_and(|by| by == session) {
                self.record
                    .broke(format_args!("a node stopped in order and left {claim:?}"));
            }
        }
    }

    fn compare(&self, model: &Model, id: TaskId, seen: Option<&Row>) {
        let should = model.rows.get(&id);
        if seen != should {
            self.record.broke(format_args!(
                "task {id} is {seen:?} and should be {should:?}"
            ));
        }
    }

    async fn look_at(&self, store: &dyn Store, ids: impl Iterator<Item = TaskId>) {
        for id in ids {
            let Some(task) = self.must(store.load_task(id).await) else {
                return;
            };
            self.compare(&self.model(), id, task.as_ref().map(Row::seen).as_ref());
        }
    }

    /// RS-01, from the store's own rows: one current row per identity, at most one that is live.
    async fn look_at_identity(&self, store: &dyn Store, identity: &Identity) {
        let Some(records) = self.must(store.load_history(identity, HistoryPage::WHOLE).await)
        else {
            return;
        };
        let current = records.tasks.iter().filter(|task| task.current).count();
        let live = records.tasks.iter().filter(|task| task.is_live()).count();
        if current != 1 || live > 1 {
            let found = format_args!("{identity} has {current} current and {live} live rows");
            self.record.broke(found);
        }
    }

    async fn saw_changes(&self, store: &dyn Store, carried_out: &[(&Change, Applied)]) {
        for (change, applied) in carried_out {
            let inserted = match applied {
                Applied::Done { inserted } => *inserted,
                Applied::Repeated { .. } | Applied::Lost => None,
            };
            self.saw_change(change, *applied);
            let amended = change.amend.as_ref().map(|amend| amend.guard.task_id);
            self.look_at(store, amended.into_iter().chain(inserted))
                .await;
            if let Some(new) = &change.insert {
                self.look_at_identity(store, &new.identity).await;
            }
        }
    }

    async fn saw_taken(
        &self,
        store: &dyn Store,
        node: &str,
        claim_id: ClaimId,
        tasks: &[ClaimedTask],
    ) {
        for task in tasks {
            let (id, term, attempt) = (task.id, task.term.0, task.attempt);
            let what = format_args!("takes {id} term {term} attempt {attempt} ({claim_id:?})");
            self.record.note(node, what);
            let (now, tolerance) = (self.truth.now(), self.tolerance());
            let checked = self.model().take(task, now, tolerance);
            self.record.check(checked);
        }
        self.look_at(store, tasks.iter().map(|task| task.id)).await;
    }

    /// The events of outcomes were written with them.
    async fn saw_reported(&self, store: &dyn Store, applied: &[&Finish]) {
        let together = gather(applied.iter().flat_map(|finish| &finish.loose_events));
        let alone = applied.iter().flat_map(|finish| &finish.event_tasks);
        for new in alone.chain(&together) {
            let found = store
                .load_current(std::slice::from_ref(&new.identity))
                .await;
            let row = self.must(found).and_then(|mut rows| rows.pop().flatten());
            let checked = self
                .model()
                .event_written(new, row.as_ref().map(|row| row.id));
            self.record.check(checked);
            self.look_at(store, row.into_iter().map(|row| row.id)).await;
        }
    }

    fn saw_change(&self, change: &Change, applied: Applied) {
        let amended = change.amend.as_ref().map(|amend| amend.guard.task_id.0);
        let (rule, wakes_at) = (change.rule.as_str(), change.wakes_at());
        let what = format_args!("{rule} {amended:?} -> {applied:?}, wakes {wakes_at:?}");
        self.record.note(&change.origin, what);
        self.record.check(self.model().apply(change, applied));
    }

    /// The store itself has no reason to fail here: faults are injected above it.
    fn must<T>(&self, answer: Result<T>) -> Option<T> {
        if let Err(error) = &answer {
            let source = std::error::Error::source(error).map(ToString::to_string);
            self.record.broke(format_args!(
                "the store failed by itself: {error}: {source:?}"
            ));
        }
        answer.ok()
    }
}

/// What the store did, as its receipt says: a number that was given before is a repetition.
fn as_applied(change: &Change, receipt: &Receipt) -> Applied {
    let next = change.amend.as_ref().map(|amend| amend.guard.decisions + 1);
    let number = receipt.decision.number;
    if next.is_some_and(|next| number != next) {
        return Applied::Repeated { number };
    }
    let inserted = change.insert.as_ref().map(|_| receipt.task_id);
    Applied::Done { inserted }
}

#[async_trait]
impl Layer for Witness {
    async fn apply(&self, below: &dyn Store, changes: Vec<Change>) -> Result<Vec<Applied>> {
        let answer = below.apply(changes.clone()).await;
        let Some(applied) = self.must(answer) else {
            return Ok(Vec::new());
        };
        let mut carried_out = Vec::new();
        for (change, applied) in changes.iter().zip(&applied) {
            match applied {
                Applied::Done { .. } | Applied::Repeated { .. } => {
                    carried_out.push((change, *applied));
                }
                Applied::Lost => self.record.note(&change.origin, "lost; decides again"),
            }
        }
        self.saw_changes(below, &carried_out).await;
        Ok(applied)
    }

    async fn apply_once(
        &self,
        below: &dyn Store,
        key: OnceKey,
        changes: Vec<Change>,
    ) -> Result<AppliedOnce> {
        let answer = below.apply_once(key, changes.clone()).await;
        let Some(answer) = self.must(answer) else {
            return Ok(AppliedOnce::Lost);
        };
        if let AppliedOnce::Done(receipts) = &answer {
            let pairs = changes.iter().zip(receipts);
            let carried_out: Vec<_> = pairs
                .map(|(change, receipt)| (change, as_applied(change, receipt)))
                .collect();
            self.saw_changes(below, &carried_out).await;
        }
        Ok(answer)
    }

    async fn claim(&self, below: &dyn Store, request: ClaimRequest) -> Result<Claimed> {
        let (node, claim_id) = (request.node.clone(), request.claim_id);
        let session = request.session.clone();
        self.model().sessions.insert(claim_id, session);
        let claimed = self.must(below.claim(request).await).unwrap_or_default();
        let now = self.truth.now() + self.tolerance();
        for task in &claimed.tasks {
            let checked = self.model().operations.taken(&task.identity.kind, now);
            self.record.check(checked);
        }
        self.saw_taken(below, &node, claim_id, &claimed.tasks).await;
        Ok(claimed)
    }

    async fn claim_expired(
        &self,
        below: &dyn Store,
        request: ClaimRequest,
    ) -> Result<Vec<ClaimedTask>> {
        let (node, claim_id) = (request.node.clone(), request.claim_id);
        let session = request.session.clone();
        self.model().sessions.insert(claim_id, session);
        let taken = self.must(below.claim_expired(request).await);
        let taken = taken.unwrap_or_default();
        self.saw_taken(below, &node, claim_id, &taken).await;
        Ok(taken)
    }

    async fn pause_kind(&self, below: &dyn Store, paused: &PausedKind) -> Result<()> {
        self.must(below.pause_kind(paused).await);
        self.record
            .note(&paused.pause.by, format_args!("pauses {}", paused.kind));
        self.model().operations.paused(paused);
        Ok(())
    }

    async fn resume_kind(&self, below: &dyn Store, kind: &Kind, now: Timestamp) -> Result<bool> {
        let resumed = self.must(below.resume_kind(kind, now).await);
        self.record.note("operator", format_args!("resumes {kind}"));
        self.model().operations.resumed(kind);
        Ok(resumed.unwrap_or_default())
    }

    async fn create_bulk(&self, below: &dyn Store, bulk: &Bulk) -> Result<BulkId> {
        let id = below.create_bulk(bulk).await?;
        let what = format!("begins bulk {id}: {}", bulk.request.action);
        self.record.note(&bulk.requested_by, what);
        let identity = id.identity().map_err(|invalid| Error::Unreadable {
            what: invalid.to_string(),
        })?;
        let row = below.load_current(&[identity]).await?.pop().flatten();
        let row = row.map(|row| row.id);
        let checked = self.model().bulk_written(id, bulk, row);
        self.record.check(checked);
        Ok(id)
    }

    async fn advance_bulk(
        &self,
        below: &dyn Store,
        bulk: &Bulk,
        changes: Vec<Change>,
    ) -> Result<Option<(Bulk, Vec<Applied>)>> {
        let answer = below.advance_bulk(bulk, changes.clone()).await;
        let answer = self.must(answer).flatten();
        let Some((after, applied)) = &answer else {
            let what = format!("bulk {} is not at step {}", bulk.id, bulk.step);
            self.record.note("bulk", what);
            return Ok(answer);
        };
        let what = format!(
            "bulk {} changed {} of {}",
            bulk.id, after.changed, after.matched
        );
        self.record.note("bulk", what);
        let pairs = changes.iter().zip(applied.iter().copied());
        let carried_out: Vec<_> = pairs
            .filter(|(_, applied)| *applied != Applied::Lost)
            .collect();
        self.saw_changes(below, &carried_out).await;
        let mut model = self.model();
        let Model {
            rows, operations, ..
        } = &mut *model;
        let checked = operations.advanced(after, (&changes, applied), rows);
        self.record.check(checked);
        drop(model);
        Ok(answer)
    }

    async fn cancel_bulk(
        &self,
        below: &dyn Store,
        id: BulkId,
        by: &str,
        now: Timestamp,
    ) -> Result<bool> {
        let stopped = self.must(below.cancel_bulk(id, by, now).await);
        let stopped = stopped.unwrap_or_default();
        if stopped {
            self.record.note(by, format_args!("stops bulk {id}"));
            self.model().operations.stopped(id);
        }
        Ok(stopped)
    }

    async fn finish(&self, below: &dyn Store, finishes: Vec<Finish>) -> Result<Vec<Finished>> {
        let answers = self
            .must(below.finish(finishes.clone()).await)
            .unwrap_or_default();
        for (finish, answered) in finishes.iter().zip(&answers) {
            let (id, term, outcome) = (finish.task_id, finish.term.0, finish.ended.outcome);
            let what = format_args!("{id} term {term} ended: {outcome} {answered:?}");
            self.record.note("finish", what);
            let now = self.truth.now() + self.tolerance();
            let checked = self.model().finish(finish, *answered, now);
            self.record.check(checked);
        }
        let applied = finishes.iter().zip(&answers);
        let applied = applied.filter(|(_, answered)| **answered == Finished::Applied);
        let applied: Vec<&Finish> = applied.map(|(finish, _)| finish).collect();
        self.saw_reported(below, &applied).await;
        self.look_at(below, finishes.iter().map(|finish| finish.task_id))
            .await;
        Ok(answers)
    }
}
