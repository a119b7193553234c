//! Entry point for kinds: list, pause, resume, and why a task of one is where it is.
//!
//! A pause is a row that every claim reads, so it holds on all nodes from the moment it is
//! answered (WK-04). Waiting tasks stay, running ones end. The engine's own kinds are not paused
//! (SF-04): a firing that does not start is a slot that did not fire, and schedules and sources
//! have pauses of their own.

use std::collections::BTreeMap;

use almanack_core::{
    history::cancellation,
    lang::{Lang, Say},
    pace::KindLine,
    plan::{Cancelled, Pause},
    reserved::is_reserved,
    say,
    store::{self, HistoryPage, PausedKind, Store, TaskFilter},
    task::{
        Kind, Status, Task,
        why::{Facts, Why, why},
    },
};
use jiff::Timestamp;

use crate::{reschedule::Kinds, schedules::NOTE_BYTES_MAX};

/// How many running tasks are counted.
const RUNNING_MAX: usize = 10_000;
/// Decisions and attempts looked through for who cancelled a task.
const HISTORY_MAX: usize = 200;

/// Why a kind was not changed.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Error {
    /// It belongs to the engine.
    Reserved {
        kind: Kind,
    },
    Note {
        bytes: usize,
    },
    Past,
    /// Nothing is known of it: a mistyped name would hold up nobody, and look as if it did.
    Unknown {
        kind: Kind,
    },
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Say for Error {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Reserved { kind } => say!(lang;
                "tasks of kind `{kind}` are Almanack's own and cannot be paused; pause the schedule or the source instead",
                "`{kind}` 类任务属于 Almanack 自身，不能暂停；请改为暂停日程或信源"),
            Self::Note { bytes } => say!(lang;
                "a note is one line of at most {NOTE_BYTES_MAX} bytes; this one has {bytes} bytes",
                "备注须为一行，最多 {NOTE_BYTES_MAX} 字节；这里有 {bytes} 字节"),
            Self::Past => say!(lang; "until must be in the future", "until 必须是将来的时间"),
            Self::Unknown { kind } => say!(lang;
                "no kind `{kind}`: it is not configured, and there is no task of it",
                "没有类型 `{kind}`：它未被配置，也没有该类型的任务"),
            Self::Store(it) => it.to_string(),
        }
    }
}

/// A request to pause.
#[derive(Debug, Clone)]
pub struct Pausing {
    pub until: Option<Timestamp>,
    pub note: Option<String>,
    pub by: String,
}

/// Every kind that is configured, paused, waiting or running, by name.
pub async fn list(
    store: &dyn Store,
    kinds: &Kinds,
    now: Timestamp,
) -> Result<Vec<KindLine>, store::Error> {
    let configured = kinds.configured.iter().chain(kinds.paces.0.keys());
    let configured = configured.filter(|kind| !is_reserved(kind));
    let new = |kind: &Kind| kinds.line(kind);
    let mut lines: BTreeMap<Kind, KindLine> = BTreeMap::new();
    let mut of = |kind: &Kind, set: &dyn Fn(&mut KindLine)| {
        set(lines.entry(kind.clone()).or_insert_with(|| new(kind)));
    };
    configured.for_each(|kind| of(kind, &|_| {}));
    for depth in store.load_depths(now).await? {
        of(&depth.kind, &|line| {
            (line.waiting, line.due) = (depth.waiting, depth.due);
            line.first_due_at = depth.first_due_at;
        });
    }
    for task in store.load_running(RUNNING_MAX).await? {
        of(&task.identity.kind, &|line| line.running += 1);
    }
    for paused in store.load_paused_kinds(now).await? {
        of(&paused.kind, &|line| {
            line.paused = Some(paused.pause.clone());
        });
    }
    Ok(lines.into_values().collect())
}

/// Pauses a kind until it is resumed or until a time. A pause that holds is changed, and keeps
/// since when it holds.
pub async fn pause(
    store: &dyn Store,
    kinds: &Kinds,
    kind: &Kind,
    pausing: Pausing,
    now: Timestamp,
) -> Result<(), Error> {
    refuse_reserved(kind)?;
    let note = pausing.note.filter(|note| !note.is_empty());
    if let Some(note) = note.as_deref()
        && (note.len() > NOTE_BYTES_MAX || note.chars().any(char::is_control))
    {
        return Err(Error::Note { bytes: note.len() });
    }
    if pausing.until.is_some_and(|until| until <= now) {
        return Err(Error::Past);
    }
    refuse_unknown(store, kinds, kind, now).await?;
    let held = pause_of(store, kind, now).await?;
    let pause = Pause {
        since: held.map_or(now, |held| held.since),
        until: pausing.until,
        note,
        by: pausing.by,
    };
    let (kind, by) = (kind.clone(), pause.by.clone());
    tracing::info!(task.kind = kind.as_str(), by, "pausing a kind");
    store.pause_kind(&PausedKind { kind, pause }).await?;
    Ok(())
}

/// Resumes a kind; whether it was paused. The log says who did it: no row is left that could.
pub async fn resume(
    store: &dyn Store,
    kinds: &Kinds,
    kind: &Kind,
    by: &str,
    now: Timestamp,
) -> Result<bool, Error> {
    refuse_reserved(kind)?;
    refuse_unknown(store, kinds, kind, now).await?;
    let was_paused = store.resume_kind(kind, now).await?;
    if was_paused {
        tracing::info!(task.kind = kind.as_str(), by, "resumed a kind");
    }
    Ok(was_paused)
}

/// A kind needs no configuration where its tasks name an address, so a task of it, ended ones
/// included, makes it known, too.
async fn refuse_unknown(
    store: &dyn Store,
    kinds: &Kinds,
    kind: &Kind,
    now: Timestamp,
) -> Result<(), Error> {
    let any = TaskFilter {
        kind: Some(kind.clone()),
        limit: 1,
        ..TaskFilter::default()
    };
    let is_known = list(store, kinds, now)
        .await?
        .iter()
        .any(|line| line.kind == *kind)
        || !store.list_tasks(&any).await?.rows.is_empty();
    if is_known {
        return Ok(());
    }
    let kind = kind.clone();
    Err(Error::Unknown { kind })
}

fn refuse_reserved(kind: &Kind) -> Result<(), Error> {
    if is_reserved(kind) {
        let kind = kind.clone();
        return Err(Error::Reserved { kind });
    }
    Ok(())
}

/// The pause of a kind that holds at `now`.
pub async fn pause_of(
    store: &dyn Store,
    kind: &Kind,
    now: Timestamp,
) -> Result<Option<Pause>, store::Error> {
    let paused = store.load_paused_kinds(now).await?;
    let paused = paused.into_iter().find(|paused| paused.kind == *kind);
    Ok(paused.map(|paused| paused.pause))
}

/// Why a task is where it is.
pub async fn why_of(
    store: &dyn Store,
    kinds: &Kinds,
    task: &Task,
    now: Timestamp,
) -> Result<Why, store::Error> {
    let paused = pause_of(store, &task.identity.kind, now).await?;
    let cancelled = cancelled(store, task).await?;
    Ok(why(Facts {
        task,
        paused: paused.as_ref(),
        pace: kinds.paces.0.get(&task.identity.kind),
        deliver: kinds.line(&task.identity.kind).deliver,
        cancelled: cancelled.as_ref(),
        now,
    }))
}

/// Who cancelled a task, if that is kept.
pub(crate) async fn cancelled(
    store: &dyn Store,
    task: &Task,
) -> Result<Option<Cancelled>, store::Error> {
    if task.status != Status::Cancelled {
        return Ok(None);
    }
    let page = HistoryPage {
        before: None,
        limit: HISTORY_MAX,
    };
    let records = store.load_history(&task.identity, page).await?;
    let decision = cancellation(task, &records.decisions);
    Ok(decision.map(|decision| Cancelled {
        by: decision.origin,
        at: decision.decided_at,
    }))
}
