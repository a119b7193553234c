//! Claims on PostgreSQL.

use almanack_core::{
    finish::Finish,
    store::{ClaimId, ClaimRequest, Claimed, Finished, Result, TaskLine},
    task::{ClaimedTask, Kind},
};
use deadpool_postgres::{GenericClient, Object};
use jiff::Timestamp;
use tokio_postgres::{Row, Statement, types::ToSql};

use super::{
    Postgres, SAFETY_POLL, explain,
    listen::NOTIFY,
    session::{column, execute, query},
    task::insert_tasks,
};
use crate::{
    claim::{self, Unreadable},
    database::Claims,
    history,
    nudge::earliest_wait,
    overview::{self, Latest},
    row::{self, micros, most, nearest, small},
};

/// The priority's column: behind the columns of a claimed task.
const PRIORITY: usize = 12;
/// How many claims' tasks are looked up in one round trip.
const CLAIMS_AT_ONCE: usize = 200;

impl Claims for Postgres {
    async fn claim(&self, request: ClaimRequest) -> Result<Claimed> {
        let client = self.client().await?;
        let full_before = request.full_after(&[]);
        // Prepared first, or the two could overtake each other while being prepared. Then sent
        // together and carried out in order: the second sees what the first has taken.
        let failed = |error| explain("prepare claim", error);
        let claim = client
            .prepare_cached(claim::CLAIM_POSTGRES)
            .await
            .map_err(failed)?;
        let due = client
            .prepare_cached(claim::NEXT_DUE_POSTGRES)
            .await
            .map_err(failed)?;
        let (tasks, next) = tokio::join!(
            claim_tasks(&client, &claim, &request),
            next_due(&client, &due, &full_before)
        );
        // What is taken is taken, even if the second question found no answer.
        let (tasks, next) = (tasks?, next.unwrap_or(Some(request.now)));
        let full = request.full_after(&tasks);
        let next_due_at = if full.len() > full_before.len() {
            next_due(&client, &due, &full).await?
        } else {
            next
        };
        Ok(Claimed { tasks, next_due_at })
    }

    async fn finish(&self, finishes: Vec<Finish>) -> Result<Vec<Finished>> {
        let mut client = self.client().await?;
        let mut sorted: Vec<(usize, &Finish)> = finishes.iter().enumerate().collect();
        sorted.sort_by_key(|(_, finish)| finish.task_id);
        let sorted_finishes: Vec<&Finish> = sorted.iter().map(|(_, finish)| *finish).collect();
        let ended = finish_all(&mut client, &sorted_finishes).await?;
        let mut answers = vec![Finished::Late; finishes.len()];
        for ((place, _), applied) in sorted.iter().zip(ended) {
            if applied {
                answers[*place] = Finished::Applied;
            }
        }
        if let Some(due_at) = earliest_wait(&finishes, SAFETY_POLL) {
            // A hint that is lost costs one safety poll.
            let _ = client
                .execute(NOTIFY, &[&self.channel, &micros(due_at).to_string()])
                .await;
        }
        Ok(answers)
    }

    async fn extend_claims(
        &self,
        claims: &[ClaimId],
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Vec<ClaimId>> {
        let ids = numbers(claims);
        let parameters: [&(dyn ToSql + Sync); 3] = [&ids, &micros(now), &micros(lease_until)];
        let rows = self
            .rows("extend claims", claim::EXTEND_POSTGRES, &parameters)
            .await?;
        Ok(rows.iter().map(|row| ClaimId(row.get(0))).collect())
    }

    async fn release_claims(&self, claims: &[ClaimId]) -> Result<()> {
        let ids = numbers(claims);
        self.execute("release claims", claim::RELEASE_POSTGRES, &[&ids])
            .await?;
        self.execute("forget past claims", claim::FORGET_PAST, &[])
            .await
            .map(|_| ())
    }

    async fn load_finished(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<TaskLine>> {
        let name = "load finished tasks";
        let (from, until) = (micros(from), micros(until));
        let mut latest = Latest::new(limit);
        let lines = |rows: &[Row]| -> Vec<TaskLine> {
            let lines = rows.iter().map(|row| row::LINES.read(&row.into()));
            lines.flatten().collect()
        };
        let window: [&(dyn ToSql + Sync); 2] = [&from, &until];
        let lately = self.rows(name, overview::ENDED_POSTGRES, &window);
        latest.add(lines(&lately.await?));
        let asked: [&(dyn ToSql + Sync); 2] = [&from, &overview::PAST_CLAIMS_MAX];
        let past = self.rows(name, overview::PAST_CLAIMS, &asked).await?;
        for claims in past.chunks(CLAIMS_AT_ONCE) {
            let lease_until = claims.first().map_or(0, |claim| claim.get(1));
            if !latest.has_room(nearest(lease_until)) {
                break;
            }
            let ids: Vec<i64> = claims.iter().map(|claim| claim.get(0)).collect();
            let key: [&(dyn ToSql + Sync); 3] = [&from, &until, &ids];
            let ended = self.rows(name, overview::ENDED_PAST_POSTGRES, &key);
            latest.add(lines(&ended.await?));
        }
        Ok(latest.into_lines())
    }
}

fn numbers(claims: &[ClaimId]) -> Vec<i64> {
    claims.iter().map(|claim| claim.0).collect()
}

async fn claim_tasks(
    client: &Object,
    statement: &Statement,
    request: &ClaimRequest,
) -> Result<Vec<ClaimedTask>> {
    let failed = |error| explain("claim tasks", error);
    let kinds: Vec<&str> = request
        .limits
        .iter()
        .map(|(kind, _)| kind.as_str())
        .collect();
    let rooms: Vec<i64> = request.limits.iter().map(|(_, room)| most(*room)).collect();
    let rows = client
        .query(
            statement,
            &[
                &request.claim_id.0,
                &request.node,
                &micros(request.now),
                &micros(request.lease_until),
                &most(request.slots),
                &kinds,
                &rooms,
                &request.session,
            ],
        )
        .await
        .map_err(failed)?;
    let mut taken: Vec<(i32, ClaimedTask)> = Vec::with_capacity(rows.len());
    let mut aside = Vec::new();
    for row in &rows {
        let task = claim::read(&row.into(), request.claim_id, &mut aside)?;
        taken.extend(task.map(|task| (row.get(PRIORITY), task)));
    }
    set_aside(client, &aside, request.now).await?;
    // `returning` promises no order: highest priority first, then the earliest.
    taken.sort_by_key(|(priority, task)| (-priority, task.execute_at, task.id));
    Ok(taken.into_iter().map(|(_, task)| task).collect())
}

/// Ends rows that cannot be read.
async fn set_aside(client: &Object, aside: &[Unreadable], now: Timestamp) -> Result<()> {
    for task in aside {
        let parameters: [&(dyn ToSql + Sync); 4] =
            [&task.why, &micros(now), &task.task_id, &task.claim_id.0];
        execute(client, "set tasks aside", claim::SET_ASIDE, &parameters).await?;
    }
    Ok(())
}

async fn next_due(
    client: &Object,
    statement: &Statement,
    full: &[Kind],
) -> Result<Option<Timestamp>> {
    let failed = |error| explain("find next due", error);
    let full: Vec<&str> = full.iter().map(Kind::as_str).collect();
    let row = client
        .query_one(statement, &[&full])
        .await
        .map_err(failed)?;
    Ok(row.get::<_, Option<i64>>(0).map(nearest))
}

/// Which of the attempts still held their tasks. What comes with an outcome, a row in the history
/// or a task that delivers its event, is written in the same transaction; the common one, a success
/// without subscribers, is a single statement.
async fn finish_all(client: &mut Object, finishes: &[&Finish]) -> Result<Vec<bool>> {
    let failed = |error| explain("finish attempts", error);
    let is_alone = |finish: &&Finish| !finish.needs_attempt_row() && finish.event_tasks.is_empty();
    if finishes.iter().all(is_alone) {
        let applied = write_ends(client, finishes).await?;
        if applied.iter().all(|applied| *applied) {
            return Ok(applied);
        }
        note_attempts(
            client,
            history::NOTE_LATE_POSTGRES,
            &picked(finishes, &applied, false),
        )
        .await?;
        return Ok(applied);
    }
    let transaction = client.transaction().await.map_err(failed)?;
    let applied = write_ends(&transaction, finishes).await?;
    let mut waiting = picked(finishes, &applied, true);
    waiting.retain(|finish| finish.needs_attempt_row());
    note_attempts(&transaction, history::NOTE_ATTEMPT_POSTGRES, &waiting).await?;
    report_all(&transaction, &picked(finishes, &applied, true)).await?;
    let late = picked(finishes, &applied, false);
    note_attempts(&transaction, history::NOTE_LATE_POSTGRES, &late).await?;
    transaction.commit().await.map_err(failed)?;
    Ok(applied)
}

/// Writes the tasks that deliver events of these outcomes.
async fn report_all(client: &impl GenericClient, finishes: &[&Finish]) -> Result<()> {
    let events = finishes.iter().flat_map(|finish| {
        let at_us = micros(finish.ended.finished_at);
        finish.event_tasks.iter().map(move |new| (0, at_us, new))
    });
    insert_tasks(client, events.collect()).await.map(|_| ())
}

fn picked<'a>(finishes: &[&'a Finish], applied: &[bool], wanted: bool) -> Vec<&'a Finish> {
    let pairs = finishes.iter().zip(applied);
    pairs
        .filter(|(_, applied)| **applied == wanted)
        .map(|(finish, _)| *finish)
        .collect()
}

async fn write_ends(client: &impl GenericClient, finishes: &[&Finish]) -> Result<Vec<bool>> {
    let rows = query(
        client,
        "finish attempts",
        claim::FINISH_POSTGRES,
        &[
            &column(finishes, |f| f.task_id.0),
            &column(finishes, |f| f.term.0),
            &column(finishes, |f| f.status.as_str()),
            &column(finishes, |f| small(f.attempt)),
            &column(finishes, |f| f.detail.as_deref()),
            &column(finishes, |f| micros(f.ended.finished_at)),
            &column(finishes, |f| micros(f.execute_at)),
            &column(finishes, |f| f.waits.then(|| micros(f.execute_at))),
            &column(finishes, |f| small(f.expiries)),
        ],
    )
    .await?;
    let mut applied = vec![false; finishes.len()];
    for row in rows {
        let position = usize::try_from(row.get::<_, i64>(0)).unwrap_or(0);
        if let Some(slot) = applied.get_mut(position.wrapping_sub(1)) {
            *slot = true;
        }
    }
    Ok(applied)
}

async fn note_attempts(
    client: &impl GenericClient,
    statement: &str,
    finishes: &[&Finish],
) -> Result<()> {
    if finishes.is_empty() {
        return Ok(());
    }
    execute(
        client,
        "note attempts",
        statement,
        &[
            &column(finishes, |f| f.task_id.0),
            &column(finishes, |f| f.term.0),
            &column(finishes, |f| small(f.ended.attempt)),
            &column(finishes, |f| micros(f.ended.due_at)),
            &column(finishes, |f| micros(f.ended.started_at)),
            &column(finishes, |f| micros(f.ended.finished_at)),
            &column(finishes, |f| f.ended.outcome),
            &column(finishes, |f| f.detail.as_deref()),
        ],
    )
    .await
    .map(drop)
}
