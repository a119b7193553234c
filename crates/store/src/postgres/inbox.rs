//! Taking from the inbox: everything about a bite in one transaction, so that each request is
//! answered once, whatever dies when.
//!
//! Rows are locked, and locked ones passed over: nodes take different rows at once. A node that
//! stops in the middle keeps its rows locked no longer than [`IDLE_TIMEOUT`] says.

use almanack_core::{
    inbox::{InboxAnswer, InboxRequest},
    reschedule::Change,
    store::{Applied, Error, InboxDecider, InboxTaken, InboxVerdict, Result},
    task::Task,
};
use deadpool_postgres::{Object, Transaction};
use jiff::Timestamp;

use super::{
    Postgres, SAFETY_POLL, explain,
    records::POSITION,
    session::{execute, query},
    task::{apply_within, report},
};
use crate::{
    database::Inbox,
    inbox,
    measure::Stopwatch,
    migrate,
    nudge::{Nudger, earliest_hint},
    row::{self, micros, most, unreadable},
    task,
};

/// A node that is stopped between two statements gives its rows to the others after this.
const IDLE_TIMEOUT: &str = "set local idle_in_transaction_session_timeout = 10000";
const NAME: &str = "take inbox";

impl Inbox for Postgres {
    async fn take_inbox(&self, decider: &dyn InboxDecider, limit: usize) -> Result<InboxTaken> {
        let watch = Stopwatch::start();
        let mut client = self.client().await?;
        let (taken, due_at) = take(&mut client, decider, limit).await?;
        report(&client, &self.channel, due_at).await;
        watch.took("write");
        Ok(taken)
    }

    fn inbox_nudger(&self) -> Option<&Nudger> {
        Some(&self.shared.inbox_nudger)
    }
}

/// One bite, and when the first thing of it is due.
async fn take(
    client: &mut Object,
    decider: &dyn InboxDecider,
    limit: usize,
) -> Result<(InboxTaken, Option<Timestamp>)> {
    let version = i32::try_from(migrate::newest()).unwrap_or(i32::MAX);
    let transaction = client.transaction().await.map_err(failed)?;
    transaction
        .batch_execute(IDLE_TIMEOUT)
        .await
        .map_err(failed)?;
    let rows = query(&transaction, NAME, inbox::TAKE, &[&version, &most(limit)]).await?;
    let asked = rows.iter().map(|row| inbox::request(&row.into()));
    let asked = asked.collect::<Result<Vec<InboxRequest>>>()?;
    if asked.is_empty() {
        let rows = query(&transaction, NAME, inbox::COUNT_NEWER, &[&version]).await?;
        let newer: i64 = rows.first().map_or(0, |row| row.get(0));
        let newer = usize::try_from(newer).unwrap_or_default();
        let taken = InboxTaken {
            newer,
            ..InboxTaken::default()
        };
        return Ok((taken, None));
    }
    let found = asked.len();
    let current = load_current(&transaction, &asked).await?;
    let with_rows = asked.iter().cloned().zip(current).collect();
    let verdicts = decider.decide(with_rows).await;
    let (answered, due_at) = carry_out(&transaction, asked.into_iter().zip(verdicts)).await?;
    write_answers(&transaction, &answered, decider.now()).await?;
    transaction.commit().await.map_err(failed)?;
    let taken = InboxTaken {
        found,
        answered,
        newer: 0,
    };
    Ok((taken, due_at))
}

/// The current row of each identity, or why it cannot be read.
async fn load_current(
    transaction: &Transaction<'_>,
    asked: &[InboxRequest],
) -> Result<Vec<Result<Option<Task>>>> {
    let subjects: Vec<&str> = asked.iter().map(|it| it.subject.as_str()).collect();
    let kinds: Vec<&str> = asked.iter().map(|it| it.kind.as_str()).collect();
    let text = task::LOAD_CURRENT_POSTGRES;
    let rows = query(transaction, NAME, text, &[&subjects, &kinds]).await?;
    let mut current: Vec<_> = asked.iter().map(|_| Ok(None)).collect();
    for row in &rows {
        let place = usize::try_from(row.get::<_, i64>(POSITION)).unwrap_or_default();
        if let Some(slot) = current.get_mut(place.wrapping_sub(1)) {
            *slot = row::task(&row.into()).map(Some);
        }
    }
    Ok(current)
}

type Answered = Vec<(InboxRequest, InboxAnswer)>;

/// What was answered, and when the first thing of it is due.
async fn carry_out(
    transaction: &Transaction<'_>,
    decided: impl Iterator<Item = (InboxRequest, InboxVerdict)>,
) -> Result<(Answered, Option<Timestamp>)> {
    let (mut answered, mut applying, mut changes) = (Vec::new(), Vec::new(), Vec::new());
    for (request, verdict) in decided {
        match verdict {
            InboxVerdict::Apply(change) => {
                applying.push(request);
                changes.push(*change);
            }
            InboxVerdict::Refuse(reason) => {
                answered.push((request, InboxAnswer::refused(&reason)));
            }
            InboxVerdict::Leave => {}
        }
    }
    let applied = apply_each(transaction, &changes).await?;
    for ((request, change), applied) in applying.into_iter().zip(&changes).zip(applied) {
        match applied {
            // Decided again, on what is there then.
            Ok(Applied::Lost) => {}
            Ok(applied) => {
                let receipt = applied.receipt(change);
                let receipt = receipt.ok_or_else(|| unreadable("no row"))?;
                answered.push((request, InboxAnswer::Receipt(receipt)));
            }
            Err(reason) => answered.push((request, InboxAnswer::refused(&reason))),
        }
    }
    Ok((answered, earliest_hint(&changes, SAFETY_POLL)))
}

/// Carries changes out; those whose values the database refuses are found one by one and cost the
/// others nothing.
async fn apply_each(
    transaction: &Transaction<'_>,
    changes: &[Change],
) -> Result<Vec<std::result::Result<Applied, String>>> {
    match try_apply(transaction, changes).await {
        Ok(applied) => return Ok(applied.into_iter().map(Ok).collect()),
        Err(Error::Refused { .. }) => {}
        Err(error) => return Err(error),
    }
    let mut answers = Vec::with_capacity(changes.len());
    for change in changes {
        match try_apply(transaction, std::slice::from_ref(change)).await {
            Ok(applied) => answers.extend(applied.into_iter().map(Ok)),
            Err(error @ Error::Refused { .. }) => answers.push(Err(error.chain())),
            Err(error) => return Err(error),
        }
    }
    Ok(answers)
}

async fn try_apply(transaction: &Transaction<'_>, changes: &[Change]) -> Result<Vec<Applied>> {
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    let run = async |text: &str| transaction.batch_execute(text).await.map_err(failed);
    run("savepoint taking").await?;
    let applied = apply_within(transaction, changes).await;
    if let Err(Error::Refused { .. }) = &applied {
        run("rollback to savepoint taking").await?;
    }
    applied
}

async fn write_answers(
    transaction: &Transaction<'_>,
    answered: &[(InboxRequest, InboxAnswer)],
    now: Timestamp,
) -> Result<()> {
    let numbers: Vec<i64> = answered.iter().map(|(it, _)| it.number.0).collect();
    let texts = answered.iter().map(|(_, it)| serde_json::to_string(it));
    let texts = texts.collect::<std::result::Result<Vec<String>, _>>();
    let texts = texts.map_err(unreadable)?;
    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
        [&micros(now), &numbers, &texts];
    execute(transaction, NAME, inbox::ANSWER, &parameters).await?;
    Ok(())
}

fn failed(error: tokio_postgres::Error) -> Error {
    explain(NAME, error)
}
