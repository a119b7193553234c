//! Carrying out changes of intent on PostgreSQL.
//!
//! Changes without a replacement are one statement per sort, each atomic by itself, sent together.
//! Replacements need the retired row's injected fault before the new row is written, so they run in
//! a transaction of their own. Lists are sorted by row or identity, so that two nodes that touch
//! the same rows touch them in the same order; keyed sets keep their own order and give way.

use std::collections::BTreeMap;

use almanack_core::{
    callback::Callback,
    reschedule::Change,
    store::{Applied, AppliedOnce, Error, OnceKey, Result},
    task::{Identity, NewTask, TaskId},
};
use async_trait::async_trait;
use deadpool_postgres::{GenericClient, Object, Pool, Transaction};
use jiff::Timestamp;
use tokio_postgres::error::{DbError, SqlState};

use super::{
    SAFETY_POLL,
    amend::amend_all,
    batcher::BatchedWork,
    client, explain,
    listen::NOTIFY,
    repeat::repeat_all,
    session::{column, execute, query},
};
use crate::{
    find, history,
    nudge::earliest_hint,
    row::{micros, small, unreadable, written},
    task,
};

/// A change and its index in the caller's list.
pub(super) type Placed<'a> = (usize, &'a Change);

/// Carries out each change for itself.
pub(super) struct Apply {
    pub(super) pool: Pool,
    pub(super) channel: String,
}

#[async_trait]
impl BatchedWork for Apply {
    type Item = Change;
    type Answer = Applied;

    async fn run(&self, changes: &[Change]) -> Result<Vec<Applied>> {
        let mut client = client(&self.pool).await?;
        let answers = apply_all(&mut client, changes).await?;
        let due_at = earliest_hint(changes, SAFETY_POLL);
        report(&client, &self.channel, due_at).await;
        Ok(answers)
    }
}

/// Carries out each change for itself, as a part of something larger. Distinct identities.
pub(super) async fn apply_within(
    client: &impl GenericClient,
    changes: &[Change],
) -> Result<Vec<Applied>> {
    let mut answers = vec![Applied::Lost; changes.len()];
    let noted = sorted(changes, |change| {
        change.requested.is_some() && change.amend.is_some()
    });
    let repeated = repeat_all(client, &noted).await?;
    let is_repeated = |place: usize| repeated.iter().any(|(it, _)| *it == place);
    let mut amended = sorted(changes, |it| it.amend.is_some() && it.insert.is_none());
    amended.retain(|(place, _)| !is_repeated(*place));
    let created = sorted(changes, |it| it.amend.is_none());
    let replaced = sorted(changes, |it| it.amend.is_some() && it.insert.is_some());
    let mut written = insert_all(client, &created).await?;
    let held = amend_all(client, &amended).await?;
    written.extend(replace_all(client, &replaced).await?);
    for (place, number) in repeated {
        answers[place] = Applied::Repeated { number };
    }
    for (place, id) in written {
        answers[place] = Applied::Done { inserted: Some(id) };
    }
    for place in held {
        answers[place] = Applied::Done { inserted: None };
    }
    Ok(answers)
}

/// The changes of one sort, each with its index.
fn sorted(changes: &[Change], wanted: fn(&Change) -> bool) -> Vec<Placed<'_>> {
    let placed = changes.iter().enumerate();
    placed.filter(|(_, change)| wanted(change)).collect()
}

async fn apply_all(client: &mut Object, changes: &[Change]) -> Result<Vec<Applied>> {
    let mut answers = vec![Applied::Lost; changes.len()];
    let sort = |wanted: fn(&Change) -> bool| sorted(changes, wanted);
    let created = sort(|change| change.amend.is_none());
    let amended = sort(|change| change.amend.is_some() && change.insert.is_none());
    let replaced = sort(|change| change.amend.is_some() && change.insert.is_some());
    let failed = |error| explain("apply changes", error);
    let noted = sort(|change| change.requested.is_some() && change.amend.is_some());
    let (amended, repeated) = without_repeated(client, amended, &noted).await?;
    for (place, number) in repeated {
        answers[place] = Applied::Repeated { number };
    }
    let (written, held) = if (created.is_empty() || amended.is_empty()) && !any_tagged(changes) {
        tokio::try_join!(
            insert_all(&*client, &created),
            amend_all(&*client, &amended)
        )?
    } else {
        // Both or neither: a group that fails is tried again one by one, and must not meet itself.
        let transaction = client.transaction().await.map_err(failed)?;
        let both = tokio::try_join!(
            insert_all(&transaction, &created),
            amend_all(&transaction, &amended)
        )?;
        transaction.commit().await.map_err(failed)?;
        both
    };
    for (place, id) in written {
        answers[place] = Applied::Done { inserted: Some(id) };
    }
    for place in held {
        answers[place] = Applied::Done { inserted: None };
    }
    if !replaced.is_empty() {
        let failed = |error| explain("replace tasks", error);
        let transaction = client.transaction().await.map_err(failed)?;
        for (place, id) in replace_all(&transaction, &replaced).await? {
            answers[place] = Applied::Done { inserted: Some(id) };
        }
        transaction.commit().await.map_err(failed)?;
    }
    Ok(answers)
}

/// Whether tags are written, too: then more than one statement makes one change.
fn any_tagged(changes: &[Change]) -> bool {
    changes.iter().any(|change| {
        let inserted = change.insert.as_ref();
        inserted.is_some_and(|new| !new.tags.is_empty())
            || change
                .amend
                .as_ref()
                .is_some_and(|amend| amend.tags.is_some())
    })
}

/// Counts what was decided before, and leaves the others to be written. By itself: a group that
/// fails later and is tried again one by one counts once too often, which only a count shows.
async fn without_repeated<'a>(
    client: &Object,
    mut amended: Vec<Placed<'a>>,
    noted: &[Placed<'a>],
) -> Result<(Vec<Placed<'a>>, Vec<(usize, u32)>)> {
    let repeated = repeat_all(client, noted).await?;
    amended.retain(|(place, _)| !repeated.iter().any(|(repeated, _)| repeated == place));
    Ok((amended, repeated))
}

/// Carries out all changes and records the key, or does nothing. Two such sets in opposite order
/// may wait for each other; the one that the database then ends has simply lost.
pub(super) async fn apply_once(
    client: &mut Object,
    channel: &str,
    key: &OnceKey,
    changes: &[Change],
) -> Result<AppliedOnce> {
    match try_once(client, channel, key, changes).await {
        Err(error) if is_deadlock(&error) => Ok(AppliedOnce::Lost),
        answer => answer,
    }
}

fn is_deadlock(error: &Error) -> bool {
    let Error::Unavailable { source, .. } = error else {
        return false;
    };
    // `explain` keeps what the server said, not the driver's wrapping of it.
    let cause = source.downcast_ref::<DbError>();
    cause.map(DbError::code) == Some(&SqlState::T_R_DEADLOCK_DETECTED)
}

async fn try_once(
    client: &mut Object,
    channel: &str,
    key: &OnceKey,
    changes: &[Change],
) -> Result<AppliedOnce> {
    let failed = |error| explain("apply changes once", error);
    let transaction = client.transaction().await.map_err(failed)?;
    let mut receipts = Vec::with_capacity(changes.len());
    // One by one: a later change may be about what an earlier one wrote.
    for change in changes {
        let applied = apply_one(&transaction, change).await?;
        if applied == Applied::Lost {
            return Ok(AppliedOnce::Lost);
        }
        let receipt = applied.receipt(change);
        receipts.push(receipt.ok_or_else(|| unreadable("no row"))?);
    }
    let answer = serde_json::to_string(&receipts).map_err(unreadable)?;
    let used_at = changes
        .first()
        .map_or(0, |change| micros(change.decided_at));
    let noted = transaction
        .execute(
            history::NOTE_ONCE,
            &[&key.key, &key.digest, &answer, &used_at],
        )
        .await
        .map_err(failed)?;
    if noted == 0 {
        return Ok(AppliedOnce::Used);
    }
    transaction.commit().await.map_err(failed)?;
    report(client, channel, earliest_hint(changes, SAFETY_POLL)).await;
    Ok(AppliedOnce::Done(receipts))
}

/// Carries out one change as a part of something larger.
pub(super) async fn apply_one(transaction: &Transaction<'_>, change: &Change) -> Result<Applied> {
    let placed = [(0, change)];
    if change.requested.is_some()
        && let Some((_, number)) = repeat_all(transaction, &placed).await?.first()
    {
        return Ok(Applied::Repeated { number: *number });
    }
    let written = match (&change.amend, &change.insert) {
        (Some(_), None) => {
            let held = amend_all(transaction, &placed).await?;
            return Ok(match held.first() {
                Some(_) => Applied::Done { inserted: None },
                None => Applied::Lost,
            });
        }
        (None, _) => insert_all(transaction, &placed).await?,
        (Some(_), Some(_)) => replace_all(transaction, &placed).await?,
    };
    Ok(match written.first() {
        Some((_, id)) => Applied::Done {
            inserted: Some(*id),
        },
        None => Applied::Lost,
    })
}

/// Notifies listening nodes of what is due soon. A hint that is lost costs one safety poll.
pub(super) async fn report(client: &Object, channel: &str, due_at: Option<Timestamp>) {
    if let Some(due_at) = due_at {
        let micros = micros(due_at).to_string();
        if let Ok(statement) = client.prepare_cached(NOTIFY).await {
            let _ = client.execute(&statement, &[&channel, &micros]).await;
        }
    }
}

/// A row to be written: its index in the caller's list, when it was decided, and what it is to be.
pub(super) type Wanted<'a> = (usize, i64, &'a NewTask);

async fn insert_all(
    client: &impl GenericClient,
    placed: &[Placed<'_>],
) -> Result<Vec<(usize, TaskId)>> {
    let wanted = placed
        .iter()
        .filter_map(|(place, c)| Some((*place, micros(c.decided_at), c.insert.as_ref()?)));
    insert_tasks(client, wanted.collect()).await
}

/// The rows written, each with its index; an identity that exists already is left out.
pub(super) async fn insert_tasks(
    client: &impl GenericClient,
    mut rows: Vec<Wanted<'_>>,
) -> Result<Vec<(usize, TaskId)>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    rows.sort_by(|a, b| a.2.identity.cmp(&b.2.identity));
    let written = query(
        client,
        "insert tasks",
        task::INSERT_POSTGRES,
        &[
            &column(&rows, |r| r.2.identity.subject.as_str()),
            &column(&rows, |r| r.2.identity.kind.as_str()),
            &column(&rows, |r| r.2.status.as_str()),
            &column(&rows, |r| micros(r.2.execute_at)),
            &column(&rows, |r| r.2.due_at().map(micros)),
            &column(&rows, |r| i32::from(r.2.priority.level())),
            &column(&rows, |r| small(r.2.max_retry)),
            &column(&rows, |r| r.2.revision.0),
            &column(&rows, |r| r.2.replaces.map(|id| id.0)),
            &column(&rows, |r| r.1),
            &column(&rows, |r| r.2.origin.as_str()),
            &column(&rows, |r| r.2.callback_url.as_deref()),
            &column(&rows, |r| r.2.payload.as_str()),
            &column(&rows, |r| r.2.expiry.at.map(micros)),
            &column(&rows, |r| r.2.expiry.after_s.map(small)),
            &options_of(&rows, |r| r.2.call_options.as_deref())?,
            &column(&rows, |r| {
                (!r.2.tags.is_empty()).then(|| r.2.tags.as_text())
            }),
            &column(&rows, |r| r.2.share_key.as_deref()),
        ],
    )
    .await?;
    let written = match_written(&rows, &written);
    let tagged = rows.iter().filter(|(.., new)| !new.tags.is_empty());
    let tagged = tagged.filter_map(|(place, _, new)| {
        let (_, id) = written.iter().find(|(written, _)| written == place)?;
        Some((id.0, new.tags.as_text()))
    });
    tag(client, &tagged.collect::<Vec<_>>()).await?;
    Ok(written)
}

pub(super) fn options_of<T>(
    rows: &[T],
    options: impl Fn(&T) -> Option<&Callback>,
) -> Result<Vec<Option<String>>> {
    rows.iter().map(|row| written(options(row))).collect()
}

/// Pairs returned rows with what was asked for. Rows of one identity are neighbours in `rows`, and
/// only the first of them can have been written.
fn match_written<'a>(
    rows: &[Wanted<'a>],
    written: &'a [tokio_postgres::Row],
) -> Vec<(usize, TaskId)> {
    let mut ids: BTreeMap<(&str, &str), i64> = written
        .iter()
        .map(|row| ((row.get(1), row.get(2)), row.get(0)))
        .collect();
    let mut number = |identity: &'a Identity| {
        ids.remove(&(identity.subject.as_str(), identity.kind.as_str()))
            .map(TaskId)
    };
    rows.iter()
        .filter_map(|(place, _, new)| Some((*place, number(&new.identity)?)))
        .collect()
}

/// Writes the tags of rows into their index; nothing is asked where there are none.
pub(super) async fn tag(client: &impl GenericClient, tagged: &[(i64, String)]) -> Result<()> {
    each_tag(client, find::TAG_POSTGRES, tagged).await
}

/// Takes them out again.
pub(super) async fn untag(client: &impl GenericClient, tagged: &[(i64, String)]) -> Result<()> {
    each_tag(client, find::UNTAG_POSTGRES, tagged).await
}

async fn each_tag(client: &impl GenericClient, text: &str, tagged: &[(i64, String)]) -> Result<()> {
    let each = || {
        tagged
            .iter()
            .flat_map(|(id, tags)| tags.split(' ').map(move |tag| (*id, tag)))
    };
    let each = || each().filter(|(_, tag)| !tag.is_empty());
    let (ids, tags): (Vec<i64>, Vec<&str>) = each().unzip();
    if ids.is_empty() {
        return Ok(());
    }
    execute(client, "tag tasks", text, &[&tags, &ids])
        .await
        .map(drop)
}

/// Retires current rows and writes their successors. Must run in a transaction.
async fn replace_all(
    transaction: &impl GenericClient,
    placed: &[Placed<'_>],
) -> Result<Vec<(usize, TaskId)>> {
    let retired = amend_all(transaction, placed).await?;
    let won: Vec<Placed<'_>> = placed
        .iter()
        .filter(|(place, _)| retired.contains(place))
        .copied()
        .collect();
    let written = insert_all(transaction, &won).await?;
    if written.len() < won.len() {
        // The rows we just retired were current, so no other can be.
        return Err(unreadable("two current rows of one identity"));
    }
    name_successors(transaction, &won, &written).await?;
    Ok(written)
}

async fn name_successors(
    transaction: &impl GenericClient,
    won: &[Placed<'_>],
    written: &[(usize, TaskId)],
) -> Result<()> {
    if won.is_empty() {
        return Ok(());
    }
    let successor = |place: usize| {
        written
            .iter()
            .find(|(p, _)| *p == place)
            .map(|(_, id)| id.0)
    };
    let guards = || {
        won.iter()
            .filter_map(|(_, change)| change.amend.as_ref())
            .map(|a| &a.guard)
    };
    let rows: Vec<i64> = guards().map(|guard| guard.task_id.0).collect();
    let numbers: Vec<i32> = guards().map(|guard| small(guard.decisions + 1)).collect();
    let successors: Vec<Option<i64>> = won.iter().map(|(place, _)| successor(*place)).collect();
    let (name, text) = ("name successors", task::NAME_SUCCESSOR_POSTGRES);
    execute(transaction, name, text, &[&rows, &numbers, &successors])
        .await
        .map(drop)
}
