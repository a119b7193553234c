//! Endings on PostgreSQL.

use almanack_core::{event::outgoing::gather, finish::Finish, store::Result};
use deadpool_postgres::{GenericClient, Object};
use tokio_postgres::{Row, types::ToSql};

use super::{
    explain,
    session::{column, execute, query},
    task::insert_tasks,
};
use crate::{
    finish, history,
    row::{micros, small},
};

/// Which of the attempts still held their tasks. What comes with an outcome, a row in the history
/// or a task that delivers its event, is written in the same transaction; the common one, a success
/// without subscribers, is a single statement. Rows are touched in the order of their numbers, so
/// that two nodes never wait for each other; events are gathered in the order of the endings.
pub(super) async fn finish_all(client: &mut Object, finishes: &[&Finish]) -> Result<Vec<bool>> {
    let failed = |error| explain("finish attempts", error);
    let is_alone = |finish: &&Finish| !finish.needs_attempt_row() && !finish.has_events();
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
    let together = gather(finishes.iter().flat_map(|finish| &finish.loose_events));
    let together = together.iter().map(|new| (0, micros(new.execute_at), new));
    insert_tasks(client, events.chain(together).collect())
        .await
        .map(|_| ())
}

fn picked<'a>(finishes: &[&'a Finish], applied: &[bool], wanted: bool) -> Vec<&'a Finish> {
    let pairs = finishes.iter().zip(applied);
    pairs
        .filter(|(_, applied)| **applied == wanted)
        .map(|(finish, _)| *finish)
        .collect()
}

async fn write_ends(client: &impl GenericClient, finishes: &[&Finish]) -> Result<Vec<bool>> {
    let mut applied = vec![false; finishes.len()];
    let mut placed: Vec<(usize, &Finish)> = finishes.iter().copied().enumerate().collect();
    placed.sort_by_key(|(_, finish)| finish.task_id);
    let finishes = &column(&placed, |(_, finish)| *finish);
    let rows = if finishes.iter().all(|finish| finish.only_succeeds()) {
        write_successes(client, finishes).await?
    } else {
        write_any(client, finishes).await?
    };
    for row in rows {
        let position = usize::try_from(row.get::<_, i64>(0)).unwrap_or(0);
        if let Some((place, _)) = placed.get(position.wrapping_sub(1)) {
            applied[*place] = true;
        }
    }
    Ok(applied)
}

async fn write_successes(client: &impl GenericClient, finishes: &[&Finish]) -> Result<Vec<Row>> {
    let lists: [&(dyn ToSql + Sync); 4] = [
        &column(finishes, |f| f.task_id.0),
        &column(finishes, |f| f.term.0),
        &column(finishes, |f| f.detail.as_deref()),
        &column(finishes, |f| micros(f.ended.finished_at)),
    ];
    query(client, "finish attempts", finish::SUCCEED_POSTGRES, &lists).await
}

async fn write_any(client: &impl GenericClient, finishes: &[&Finish]) -> Result<Vec<Row>> {
    let (id, term) = (
        column(finishes, |f| f.task_id.0),
        column(finishes, |f| f.term.0),
    );
    let status = column(finishes, |f| f.status.as_str());
    let attempt = column(finishes, |f| small(f.attempt));
    let detail = column(finishes, |f| f.detail.as_deref());
    let finished_at = column(finishes, |f| micros(f.ended.finished_at));
    let execute_at = column(finishes, |f| micros(f.execute_at));
    let due_at = column(finishes, |f| f.waits.then(|| micros(f.execute_at)));
    let expiries = column(finishes, |f| small(f.expiries));
    let mut lists: Vec<&(dyn ToSql + Sync)> = vec![
        &id,
        &term,
        &status,
        &attempt,
        &detail,
        &finished_at,
        &execute_at,
        &due_at,
        &expiries,
    ];
    let expires_at = column(finishes, |f| f.expires_at.map(micros));
    let tried = column(finishes, |f| f.tried);
    let expiring = finishes.iter().any(|f| f.expires_at.is_some() || !f.tried);
    if expiring {
        lists.extend([&expires_at as &(dyn ToSql + Sync), &tried]);
    }
    let text = if expiring {
        finish::FINISH_EXPIRING_POSTGRES
    } else {
        finish::FINISH_POSTGRES
    };
    query(client, "finish attempts", text, &lists).await
}

async fn note_attempts(
    client: &impl GenericClient,
    statement: &str,
    finishes: &[&Finish],
) -> Result<()> {
    if finishes.is_empty() {
        return Ok(());
    }
    let mut finishes = finishes.to_vec();
    finishes.sort_by_key(|finish| finish.task_id);
    let finishes = &finishes;
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
