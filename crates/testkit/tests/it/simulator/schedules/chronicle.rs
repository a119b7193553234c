//! What really happened: a layer right above the store that sees every write take effect, and the
//! log of when nodes were able to plan. Only checks read it.
//!
//! It also gives the hints, for every write and however far ahead, and in return no node polls: a
//! poll a second would be eight million in ninety days.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use almanack_core::{
    finish::Finish,
    follow::FollowedChange,
    plan::{Definition, Edit, Edited, Firing, Pause, ScheduleWrite, State, Trigger},
    reschedule::Change,
    store::{Applied, AppliedOnce, Finished, Nudges, OnceKey, Pruned, Result, Store},
    task::TaskId,
};
use almanack_testkit::layer::Layer;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::broadcast;

use super::{
    super::{
        record::Record,
        time::{Setting, TrueClock, is_set_back},
    },
    calls::Call,
    rule::Rule,
};

/// No node need look without a hint.
const NO_POLL: SignedDuration = SignedDuration::from_hours(24 * 365);
/// No schedule here keeps its slots back for longer.
const SPLAY_MAX: SignedDuration = SignedDuration::from_mins(4);
/// Hints kept for a slow listener.
const KEPT: usize = 256;

/// A person's change, as it took effect.
#[derive(Debug, Clone)]
pub(super) struct SeenEdit {
    pub(super) edited: Edited,
    /// When, by the actor's clock.
    pub(super) at: Timestamp,
    /// The seam between before and after: `at`, or the last slot that a faster clock had decided by
    /// then.
    pub(super) seam: Timestamp,
    pub(super) definition: Definition,
    pub(super) pause: Option<Pause>,
}

/// A firing, as inserted.
#[derive(Debug, Clone)]
pub(super) struct Birth {
    pub(super) schedule: String,
    pub(super) subject: String,
    pub(super) trigger: Trigger,
    pub(super) nominal_at: Timestamp,
    /// When it really was inserted.
    pub(super) at: Timestamp,
    pub(super) ended_at: Option<Timestamp>,
}

/// A node, from start to end.
#[derive(Debug, Clone, Default)]
pub(super) struct Run {
    pub(super) up: Option<(Timestamp, Option<Timestamp>)>,
    pub(super) frozen: Vec<(Timestamp, Timestamp)>,
}

impl Run {
    fn covers(&self, from: Timestamp, to: Timestamp) -> bool {
        let up = |(start, end): (Timestamp, Option<Timestamp>)| {
            start <= from && end.is_none_or(|end| end >= to)
        };
        let overlaps = |(start, end): &(Timestamp, Timestamp)| *start < to && *end > from;
        self.up.is_some_and(up) && !self.frozen.iter().any(overlaps)
    }
}

/// Everything that is known.
#[derive(Default)]
pub(super) struct Pages {
    pub(super) rules: BTreeMap<(String, String), Rule>,
    pub(super) edits: BTreeMap<String, Vec<SeenEdit>>,
    pub(super) births: Vec<Birth>,
    pub(super) runs: Vec<Run>,
    /// When a slot of a schedule waited for its predecessor.
    pub(super) waits: BTreeMap<String, Vec<(Timestamp, Timestamp)>>,
    waiting: BTreeMap<String, Timestamp>,
    decided_to: BTreeMap<String, Timestamp>,
    ended: BTreeMap<String, Timestamp>,
    /// Calls of webhooks whose schedules limit them.
    pub(super) calls: Vec<Call>,
    /// Firings whose work was written down as ended.
    endings: BTreeSet<TaskId>,
    /// When the work of a firing ended, also if nobody knew yet that it was that firing's.
    pub(super) works_ended: BTreeMap<String, Timestamp>,
}

impl Pages {
    /// Whether a node was able to plan from `from` to `to`. None is while the machine's clock is
    /// behind, and each is right after.
    pub(super) fn covered(&self, from: Timestamp, to: Timestamp) -> bool {
        !is_set_back(from, to) && self.runs.iter().any(|run| run.covers(from, to))
    }

    /// Whether a slot of the schedule waited at any time between.
    pub(super) fn waited(&self, schedule: &str, from: Timestamp, to: Timestamp) -> bool {
        let waits = self.waits.get(schedule).into_iter().flatten();
        let mut waits = waits.chain(None);
        waits.any(|(start, end)| *start <= to && *end >= from)
    }

    fn note_wait(&mut self, name: &str, since: Option<Timestamp>, now: Timestamp) {
        let before = self.waiting.get(name).copied();
        if before == since {
            return;
        }
        if let Some(before) = before {
            let waits = self.waits.entry(name.to_owned()).or_default();
            waits.push((before, now));
            self.waiting.remove(name);
        }
        if let Some(since) = since {
            self.waiting.insert(name.to_owned(), since);
        }
    }
}

#[derive(Clone)]
pub(super) struct Chronicle {
    truth: TrueClock,
    record: Arc<Record>,
    pages: Arc<Mutex<Pages>>,
    hints: broadcast::Sender<Timestamp>,
    /// How wrong a clock may be.
    skew: SignedDuration,
}

impl Chronicle {
    pub(super) fn new(truth: TrueClock, record: Arc<Record>, skew: SignedDuration) -> Self {
        Self {
            truth,
            record,
            pages: Arc::default(),
            hints: broadcast::channel(KEPT).0,
            skew,
        }
    }

    pub(super) fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn hint(&self, at: Timestamp) {
        let _ = self.hints.send(at);
    }

    /// A node starts; its number.
    pub(super) fn starts(&self) -> usize {
        let now = self.truth.now();
        let mut pages = self.pages();
        pages.runs.push(Run {
            up: Some((now, None)),
            frozen: Vec::new(),
        });
        self.hint(now);
        pages.runs.len() - 1
    }

    pub(super) fn ends(&self, run: usize) {
        let now = self.truth.now();
        if let Some(Run {
            up: Some((_, end)), ..
        }) = self.pages().runs.get_mut(run)
        {
            *end = Some(now);
        }
    }

    pub(super) fn freezes(&self, run: usize, until: Timestamp) {
        let now = self.truth.now();
        if let Some(run) = self.pages().runs.get_mut(run) {
            run.frozen.push((now, until));
        }
    }

    /// A firing has ended.
    pub(super) fn ended(&self, subject: &str) {
        let now = self.truth.now();
        let mut pages = self.pages();
        pages.ended.insert(subject.to_owned(), now);
        let mut births = pages.births.iter_mut().rev();
        if let Some(birth) = births.find(|birth| birth.subject == subject) {
            birth.ended_at.get_or_insert(now);
        }
    }

    /// The work of a firing has ended.
    pub(super) fn work_ended(&self, firing: &str) {
        let now = self.truth.now();
        let mut pages = self.pages();
        pages.works_ended.entry(firing.to_owned()).or_insert(now);
    }

    fn saw(&self, write: &ScheduleWrite, gave_way: &[String]) {
        let now = self.truth.now();
        let name = write.schedule.name.as_str();
        self.note(write);
        self.record.check(self.in_time(write, now));
        let mut pages = self.pages();
        pages.note_wait(name, write.schedule.waits_since, now);
        for subject in gave_way {
            let births = pages.births.iter_mut().rev();
            for birth in births.filter(|birth| birth.subject == *subject).take(1) {
                birth.ended_at.get_or_insert(now);
            }
        }
        for task in &write.fires {
            let firing = Firing::read(&task.payload).expect("the planner writes firings");
            let subject = task.identity.subject.as_str();
            // A backfill may have been faster, and over by now.
            let ended_at = pages.ended.get(subject).copied();
            pages.births.push(Birth {
                schedule: name.to_owned(),
                subject: subject.to_owned(),
                trigger: firing.trigger,
                nominal_at: firing.nominal_at,
                at: now,
                ended_at,
            });
        }
        let decided_to = pages.decided_to.entry(name.to_owned()).or_default();
        let rows = write.slots.iter().map(|row| row.last_at);
        *decided_to = rows.fold(*decided_to, Timestamp::max);
        let decided_to = *decided_to;
        if let Some(edit) = &write.edit {
            let seen = seen(edit, &write.schedule.state, decided_to);
            pages.edits.entry(name.to_owned()).or_default().push(seen);
        }
    }

    fn note(&self, write: &ScheduleWrite) {
        let name = write.schedule.name.as_str();
        for row in &write.slots {
            let (first, slots, verdict) = (row.slot_at, row.slots, row.verdict.as_str());
            self.record
                .note(name, format_args!("{first} x{slots} {verdict}"));
        }
        if let Some(edit) = &write.edit {
            let (what, by) = (edit.edited.as_str(), &edit.by);
            self.record
                .note(name, format_args!("{what} by {by}, as of {}", edit.at));
        }
        if !write.cancels.is_empty() {
            self.record.note(name, "its predecessor gives way");
        }
    }

    /// Nothing is decided before its time, by any clock.
    fn in_time(&self, write: &ScheduleWrite, now: Timestamp) -> std::result::Result<(), String> {
        let name = &write.schedule.name;
        let latest = now + self.skew;
        for row in &write.slots {
            if row.last_at > latest || row.decided_at > latest || row.last_at > row.decided_at {
                return Err(format!(
                    "{name}: {} was decided early, at {now}",
                    row.last_at
                ));
            }
        }
        let latest = latest + SPLAY_MAX;
        match write.fires.iter().find(|fire| fire.execute_at > latest) {
            // A catch-up is paced; nothing else is put off.
            Some(fire) if write.fires.len() == 1 => {
                let subject = &fire.identity.subject;
                Err(format!("{subject} was put off to {}", fire.execute_at))
            }
            _ => Ok(()),
        }
    }
}

/// The subjects of the firings that gave way to this write.
async fn withdrawn(below: &dyn Store, write: &ScheduleWrite) -> Result<Vec<String>> {
    let mut subjects = Vec::new();
    for amend in write.cancels.iter().filter_map(|c| c.amend.as_ref()) {
        let task = below.load_task(amend.guard.task_id).await?;
        subjects.extend(task.map(|task| task.identity.subject.as_str().to_owned()));
    }
    Ok(subjects)
}

fn seen(edit: &Edit, state: &State, decided_to: Timestamp) -> SeenEdit {
    SeenEdit {
        edited: edit.edited,
        at: edit.at,
        seam: edit.at.max(decided_to),
        definition: edit
            .definition
            .read()
            .expect("the product wrote it")
            .clone(),
        pause: match state {
            State::Paused(pause) => Some(pause.clone()),
            _ => None,
        },
    }
}

#[async_trait]
impl Layer for Chronicle {
    async fn apply(&self, below: &dyn Store, changes: Vec<Change>) -> Result<Vec<Applied>> {
        let wakes_at = changes.iter().filter_map(Change::wakes_at).min();
        let applied = below.apply(changes).await?;
        wakes_at.inspect(|at| self.hint(*at));
        Ok(applied)
    }

    async fn apply_once(
        &self,
        below: &dyn Store,
        key: OnceKey,
        changes: Vec<Change>,
    ) -> Result<AppliedOnce> {
        let wakes_at = changes.iter().filter_map(Change::wakes_at).min();
        let applied = below.apply_once(key, changes).await?;
        wakes_at.inspect(|at| self.hint(*at));
        Ok(applied)
    }

    async fn finish(&self, below: &dyn Store, finishes: Vec<Finish>) -> Result<Vec<Finished>> {
        let waits = finishes.iter().filter(|finish| finish.waits);
        let next = waits.map(|finish| finish.execute_at).min();
        let answers = below.finish(finishes).await?;
        next.inspect(|at| self.hint(*at));
        Ok(answers)
    }

    async fn write_schedules(
        &self,
        below: &dyn Store,
        writes: Vec<ScheduleWrite>,
    ) -> Result<Vec<Applied>> {
        let applied = below.write_schedules(writes.clone()).await?;
        for (write, applied) in writes.iter().zip(&applied) {
            if *applied == Applied::Lost {
                self.record
                    .note(write.schedule.name.as_str(), "another node was faster");
                continue;
            }
            self.saw(write, &withdrawn(below, write).await?);
            let wakes = write.fires.iter().map(|fire| fire.execute_at);
            let wakes_at = wakes.chain(write.schedule.look_at).min();
            wakes_at.inspect(|at| self.hint(*at));
        }
        Ok(applied)
    }

    /// The first ending that is written stays (DP-19).
    async fn change_followed(
        &self,
        below: &dyn Store,
        firing: TaskId,
        change: &FollowedChange,
    ) -> Result<bool> {
        let changed = below.change_followed(firing, change).await?;
        if changed && change.ending.is_some() {
            if let Some(task) = below.load_task(firing).await? {
                self.work_ended(task.identity.subject.as_str());
            }
            if !self.pages().endings.insert(firing) {
                self.record
                    .broke(format_args!("firing {firing} ended twice"));
            }
        }
        Ok(changed)
    }

    /// Nothing is deleted by its age while the machine's clock is wrong, whichever way (DP-24).
    async fn prune(
        &self,
        below: &dyn Store,
        before: Timestamp,
        after: TaskId,
        limit: usize,
    ) -> Result<Pruned> {
        if !Setting::ahead(self.truth.now()).is_zero() {
            let what = format_args!("retention takes what ended before {before} by a wrong clock");
            self.record.broke(what);
        }
        below.prune(before, after, limit).await
    }

    fn nudges(&self, _: &dyn Store) -> Box<dyn Nudges> {
        Box::new(Hints {
            heard: self.hints.subscribe(),
            truth: self.truth,
        })
    }

    fn safety_poll(&self, _: &dyn Store) -> SignedDuration {
        NO_POLL
    }
}

struct Hints {
    heard: broadcast::Receiver<Timestamp>,
    truth: TrueClock,
}

#[async_trait]
impl Nudges for Hints {
    async fn next(&mut self) -> Timestamp {
        match self.heard.recv().await {
            Ok(at) => at,
            Err(broadcast::error::RecvError::Lagged(_)) => self.truth.now(),
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}
