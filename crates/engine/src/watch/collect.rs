//! What a round reads: bounded, whatever the store holds.
//!
//! Schedules and kinds are suspects before they are looked at closely: those something just failed
//! of, those whose slots were skipped or late, those that run long, and those an open alert is
//! about. Beside them a walk over all schedules looks at a few in every round, so that where tasks
//! end faster than they can be read nothing stays unseen for long.

use std::collections::{BTreeMap, BTreeSet};

use almanack_core::{
    alert::{
        About, Alert, Rule,
        facts::{Facts, KindFacts, Run, ScheduleFacts, Spending},
        find::{counts_by_kind, schedule_of},
    },
    edition::{Account, EditionId, story::Written},
    newsletter::{Mailing, mailing},
    plan::{AHEAD_MIN, Schedule, ScheduleName, Slot, Verdict, slot_identity},
    store::{
        self, DueSchedules, EditionFilter, EditionLine, LedgerPage, ScheduleFilter, SlotLine,
        SourceFilter, Store, TaskFilter, TaskLine,
    },
    task::{Kind, Status, Task, TaskId},
    time::LATEST,
};
use jiff::{SignedDuration, Timestamp};

use super::WatchSettings;
use crate::{current::load_each, planner::load_monitors};

/// How far back ends and slots are looked at: several rounds, so that a node that was slow misses
/// nothing.
const LATELY: SignedDuration = SignedDuration::from_mins(5);
/// Most ends and ledger rows of that time.
const LATELY_MAX: usize = 500;
/// A firing that runs so long makes its schedule suspect.
const LONG_AFTER: SignedDuration = SignedDuration::from_mins(5);
/// Most running tasks and claims.
const RUNNING_MAX: usize = 200;
/// Most schedules looked at closely in a round, those of the walk aside.
const SUSPECTS_MAX: usize = 200;
/// Schedules of the walk in a round.
const WALK: usize = 25;
/// Most kinds looked at closely.
const KINDS_MAX: usize = 50;
/// Rows of a ledger, and firings, that a schedule is judged by, beyond the failures that are too
/// many.
const SLOTS: usize = 8;
/// Of so many of the newest tasks, those of a kind are looked for.
const AMONG: usize = 5_000;
/// Most parked schedules and sources that want attention.
const LISTED_MAX: usize = 300;
/// Editions that did not change for so long say nothing any more: no run takes them up.
const EDITIONS_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Most of those that did: a daily edition has fifteen, a week's and those that were archived in it.
const EDITIONS_MAX: usize = 500;
/// Most mailings: as many as a node that mails several editions has in some days.
const MAILINGS_MAX: usize = 30;
/// What rests on them.
const OF_EDITIONS: [Rule; 8] = [
    Rule::Overdue,
    Rule::Unfinished,
    Rule::Empty,
    Rule::Approval,
    Rule::Quality,
    Rule::Spendthrift,
    Rule::Cap,
    Rule::Destination,
];

/// Reads facts; remembers where its walk is, and editions that have not changed since.
#[derive(Debug, Default)]
pub(super) struct Collector {
    walked: Option<ScheduleName>,
    editions: BTreeMap<EditionId, Account>,
}

impl Collector {
    /// Everything a round needs to know.
    pub(super) async fn collect(
        &mut self,
        store: &dyn Store,
        open: &[&Alert],
        settings: &WatchSettings,
        now: Timestamp,
    ) -> Result<Facts, store::Error> {
        let lately = now.saturating_sub(LATELY).unwrap_or(Timestamp::MIN);
        let finished = store.load_finished(lately, now, LATELY_MAX).await?;
        let mut facts = Facts {
            running: store.load_running(RUNNING_MAX).await?,
            claims: store.load_claims(RUNNING_MAX).await?,
            depths: store.load_depths(now).await?,
            paused: store.load_paused_kinds(now).await?,
            nodes: store.load_nodes().await?,
            troubles: store.load_troubles().await?,
            parked: parked(store).await?,
            calendars: store.load_calendar_versions().await?,
            sources: sources(store).await?,
            spending: spending(store, settings, now).await?,
            ..Facts::default()
        };
        self.editions(store, open, now, &mut facts).await?;
        facts.unsure.extend(cut(&facts));
        self.schedules(store, open, (&finished, settings, now), &mut facts)
            .await?;
        kinds(store, open, (&finished, settings), &mut facts).await?;
        Ok(facts)
    }

    /// Editions, and nothing else: no other rule says anything.
    pub(super) async fn editions_alone(
        &mut self,
        store: &dyn Store,
        open: &[&Alert],
        now: Timestamp,
    ) -> Result<Facts, store::Error> {
        let mut facts = Facts::default();
        self.editions(store, open, now, &mut facts).await?;
        let others = Rule::ALL.into_iter();
        facts
            .unsure
            .extend(others.filter(|rule| !OF_EDITIONS.contains(rule)));
        Ok(facts)
    }

    async fn editions(
        &mut self,
        store: &dyn Store,
        open: &[&Alert],
        now: Timestamp,
        facts: &mut Facts,
    ) -> Result<(), store::Error> {
        let found = open.iter().filter(|alert| alert.cool_down_since.is_none());
        facts.found_before = found.map(|alert| alert.key.clone()).collect();
        let filter = EditionFilter {
            changed_from: now.checked_sub(EDITIONS_FOR).ok(),
            limit: EDITIONS_MAX,
            ..EditionFilter::default()
        };
        let lines = store.list_editions(&filter).await?;
        if lines.len() >= EDITIONS_MAX {
            facts.unsure.extend(OF_EDITIONS);
        }
        let mut known = std::mem::take(&mut self.editions);
        for line in lines {
            let same = known
                .remove(&line.edition.id)
                .filter(|it| is_same(it, &line));
            let account = match same {
                Some(account) => Some(account),
                None => match store.load_account(line.edition.id).await {
                    // The store says so; what else is wrong must be reported all the same (SF-06).
                    Err(error) if error.is_unreadable() => {
                        facts.unsure.extend(OF_EDITIONS);
                        None
                    }
                    account => account?.map(without_texts),
                },
            };
            facts.editions.extend(account.clone());
            let account = account.map(|account| (account.edition.id, account));
            self.editions.extend(account);
        }
        facts.mailings = mailings(store).await?;
        Ok(())
    }

    async fn schedules(
        &mut self,
        store: &dyn Store,
        open: &[&Alert],
        (finished, settings, now): (&[TaskLine], &WatchSettings, Timestamp),
        facts: &mut Facts,
    ) -> Result<(), store::Error> {
        let mut names = suspects(open, finished, &facts.running, now);
        let lately = now.saturating_sub(LATELY).unwrap_or(Timestamp::MIN);
        let mut slots = store.load_slots_between(lately, now, LATELY_MAX).await?;
        if slots.len() >= LATELY_MAX {
            facts.unsure.insert(Rule::Missing);
        }
        slots.retain(|line| !matches!(line.slot.verdict, Verdict::Fired | Verdict::Pinged));
        names.extend(slots.iter().map(|line| line.schedule.clone()));
        let ahead = now.saturating_add(AHEAD_MIN).unwrap_or(now);
        names.extend(store.load_decided_ahead(ahead, WALK).await?);
        names.extend(store.load_down_monitors(SUSPECTS_MAX + 1).await?);
        if names.len() > SUSPECTS_MAX {
            // Those that alerts are about come first: what is open must be able to close.
            let watched: BTreeSet<_> = open.iter().filter_map(|it| schedule_in(it)).collect();
            let others = names.difference(&watched).cloned();
            names = watched
                .iter()
                .cloned()
                .chain(others)
                .take(SUSPECTS_MAX)
                .collect();
            facts
                .unsure
                .extend([Rule::Missing, Rule::Late, Rule::Failing, Rule::Stuck]);
        }
        let names: Vec<ScheduleName> = names.into_iter().collect();
        let mut rows: Vec<Schedule> = store
            .load_schedules(&names)
            .await?
            .into_iter()
            .flatten()
            .collect();
        let overdue = self.overdue(store, settings, now).await?;
        rows.extend(overdue.schedules);
        facts.parked.extend(overdue.unreadable);
        rows.extend(self.walk(store).await?);
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        rows.dedup_by(|a, b| a.name == b.name);
        let limit = SLOTS + usize::try_from(settings.bounds.failing).unwrap_or(0);
        for schedule in rows {
            let of_schedule = closely(store, schedule, (limit, &slots), now).await?;
            facts.schedules.push(of_schedule);
        }
        Ok(())
    }

    /// Those that were not planned.
    async fn overdue(
        &self,
        store: &dyn Store,
        settings: &WatchSettings,
        now: Timestamp,
    ) -> Result<DueSchedules, store::Error> {
        let before = now.saturating_sub(settings.bounds.missing);
        let before = before.unwrap_or(Timestamp::MIN);
        store.load_due_schedules(before, WALK).await
    }

    async fn walk(&mut self, store: &dyn Store) -> Result<Vec<Schedule>, store::Error> {
        let filter = ScheduleFilter {
            state: Some("active".to_owned()),
            after: self.walked.take(),
            limit: WALK,
            ..ScheduleFilter::default()
        };
        let step = store.list_schedules(&filter).await?;
        self.walked = step.next;
        Ok(step.rows)
    }
}

fn suspects(
    open: &[&Alert],
    finished: &[TaskLine],
    running: &[TaskLine],
    now: Timestamp,
) -> BTreeSet<ScheduleName> {
    let is_long = |line: &&TaskLine| {
        let since = line.started_at.unwrap_or(now);
        now.duration_since(since) >= LONG_AFTER
    };
    let failed = finished.iter().filter(|line| line.status == Status::Fail);
    let lines = failed.chain(running.iter().filter(is_long));
    let mut names: BTreeSet<ScheduleName> = lines
        .filter_map(|line| schedule_of(&line.identity))
        .collect();
    names.extend(open.iter().filter_map(|alert| schedule_in(alert)));
    names
}

fn schedule_in(alert: &Alert) -> Option<ScheduleName> {
    match &alert.key.about {
        About::Schedule(name) => Some(name.clone()),
        _ => None,
    }
}

async fn closely(
    store: &dyn Store,
    schedule: Schedule,
    (limit, lately): (usize, &[SlotLine]),
    now: Timestamp,
) -> Result<ScheduleFacts, store::Error> {
    let page = LedgerPage { before: now, limit };
    let slots = store.load_slots(schedule.id, page).await?;
    let skipped = lately.iter().filter(|line| line.schedule == schedule.name);
    let skipped = skipped.map(|line| line.slot.clone()).collect();
    let decided_until = decided_until(store, &schedule, now).await?;
    let monitors = load_monitors(store, std::slice::from_ref(&schedule)).await?;
    let monitor = monitors.into_iter().flatten().next();
    let fired = slots.iter().filter(|slot| slot.verdict.is_fired());
    let firing = |slot: &Slot| slot_identity(&schedule.name, slot.slot_at).ok();
    let mut identities: Vec<_> = fired.filter_map(firing).collect();
    // What a person fired says as much.
    let by_hand = schedule.last_firing();
    identities.extend(by_hand.filter(|last| !identities.contains(last)));
    let tasks = load_each(store, &identities).await?;
    let tasks: Vec<&Task> = tasks.iter().flatten().flatten().collect();
    let ids: Vec<TaskId> = tasks.iter().map(|task| task.id).collect();
    let followed = store.load_followed(&ids).await?;
    let run = |task: &&Task| match followed.iter().find(|it| it.task_id == task.id) {
        Some(followed) => Run::of_followed(task, followed),
        None => (*task).into(),
    };
    let mut runs: Vec<Run> = tasks.iter().map(run).collect();
    runs.sort_by_key(|run| std::cmp::Reverse(run.execute_at));
    Ok(ScheduleFacts {
        schedule,
        slots,
        skipped,
        decided_until,
        runs,
        monitor,
    })
}

/// The last slot of its ledger, where that is still to come.
async fn decided_until(
    store: &dyn Store,
    schedule: &Schedule,
    now: Timestamp,
) -> Result<Option<Timestamp>, store::Error> {
    let page = LedgerPage {
        before: LATEST,
        limit: 1,
    };
    let newest = store.load_slots(schedule.id, page).await?.pop();
    let until = newest.map(|row| row.last_at);
    Ok(until.filter(|until| until.duration_since(now) > AHEAD_MIN))
}

async fn kinds(
    store: &dyn Store,
    open: &[&Alert],
    (finished, settings): (&[TaskLine], &WatchSettings),
    facts: &mut Facts,
) -> Result<(), store::Error> {
    let failed = finished
        .iter()
        .filter(|line| line.status == Status::Fail && !line.is_live());
    let mut kinds: BTreeSet<&Kind> = failed.map(|line| &line.identity.kind).collect();
    kinds.extend(open.iter().filter_map(|alert| match &alert.key.about {
        About::Kind(kind) => Some(kind),
        _ => None,
    }));
    kinds.retain(|kind| counts_by_kind(kind));
    if kinds.len() > KINDS_MAX {
        facts.unsure.insert(Rule::Failing);
    }
    let limit = usize::try_from(settings.bounds.failing).unwrap_or(0) * 4 + SLOTS;
    for kind in kinds.into_iter().take(KINDS_MAX) {
        let filter = TaskFilter {
            kind: Some(kind.clone()),
            among: Some(AMONG),
            limit,
            ..TaskFilter::default()
        };
        let mut lines = store.search_tasks(&filter).await?;
        // One that ended lately may be an old row: a task that was moved many times.
        lines.extend(
            finished
                .iter()
                .filter(|it| it.identity.kind == *kind)
                .cloned(),
        );
        lines.sort_by_key(|line| (std::cmp::Reverse(line.finished_at), line.id));
        lines.dedup_by_key(|line| line.id);
        facts.kinds.push(KindFacts {
            kind: kind.clone(),
            runs: lines.iter().map(Run::from).collect(),
        });
    }
    Ok(())
}

/// The rules whose reads hit their bounds.
fn cut(facts: &Facts) -> Vec<Rule> {
    let mut rules = Vec::new();
    if facts.running.len() >= RUNNING_MAX || facts.claims.len() >= RUNNING_MAX {
        rules.push(Rule::Stuck);
    }
    if facts.parked.len() >= LISTED_MAX {
        rules.push(Rule::Parked);
    }
    if facts.sources.len() >= LISTED_MAX {
        rules.extend([Rule::Silent, Rule::Credentials, Rule::Failing]);
    }
    rules
}

async fn parked(store: &dyn Store) -> Result<Vec<Schedule>, store::Error> {
    let mut filter = ScheduleFilter {
        state: Some("parked".to_owned()),
        limit: LISTED_MAX,
        ..ScheduleFilter::default()
    };
    let mut parked = Vec::new();
    loop {
        let page = store.list_schedules(&filter).await?;
        parked.extend(page.rows);
        filter.after = page.next;
        if filter.after.is_none() || parked.len() >= LISTED_MAX {
            return Ok(parked);
        }
    }
}

async fn sources(store: &dyn Store) -> Result<Vec<almanack_core::source::Source>, store::Error> {
    let filter = SourceFilter {
        needs_attention: true,
        limit: LISTED_MAX,
        ..SourceFilter::default()
    };
    Ok(store.list_sources(&filter).await?.rows)
}

/// Every write of any of its rows counts an edition's version; retention changes the counts.
fn is_same(known: &Account, line: &EditionLine) -> bool {
    known.edition.version == line.edition.version && known.counts() == line.counts
}

/// Rules read no texts, so a node keeps none.
fn without_texts(mut account: Account) -> Account {
    for story in &mut account.stories {
        story.listed.text = None;
        story.written = Written {
            note: story.written.note,
            degraded_by: story.written.degraded_by,
            ..Written::default()
        };
    }
    account
}

/// The newest mailings that are not done. Of one whose task was cancelled, people want no more.
async fn mailings(store: &dyn Store) -> Result<Vec<Mailing>, store::Error> {
    let mut open = store.list_mailings(MAILINGS_MAX).await?;
    open.retain(|mailing| mailing.state != mailing::State::Done);
    let mut wanted = Vec::with_capacity(open.len());
    for mailing in open {
        let Ok(identity) = mailing::identity(mailing.id) else {
            continue;
        };
        let task = load_each(store, &[identity]).await?.pop();
        let task = task.and_then(Result::ok).flatten();
        if task.is_some_and(|task| task.status != Status::Cancelled) {
            wanted.push(mailing);
        }
    }
    Ok(wanted)
}

/// What the fleet spends; nothing is said of one without sources.
async fn spending(
    store: &dyn Store,
    settings: &WatchSettings,
    now: Timestamp,
) -> Result<Option<Spending>, store::Error> {
    let Some(fleet) = store.load_fleet().await? else {
        return Ok(None);
    };
    let numbers = store.count_sources(None, now).await?;
    let active = numbers.states.iter().find(|(state, _)| state == "active");
    let active = active.map_or(0, |(_, count)| *count);
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let per_day = settings.checks_per_day * active as f64;
    Ok((active > 0).then_some(Spending {
        since: fleet.counted_from,
        checks: fleet.checks,
        per_day,
    }))
}
