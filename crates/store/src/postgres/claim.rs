//! Claims on PostgreSQL.

use std::collections::BTreeMap;

use almanack_core::{
    finish::Finish,
    share::{Turn, last_of},
    store::{ClaimId, ClaimRequest, Claimed, Finished, Result, TakenTask, TaskLine},
    task::{ClaimedTask, Kind, TaskId},
};
use deadpool_postgres::Object;
use jiff::Timestamp;
use tokio_postgres::{Row, Statement, types::ToSql};

use super::{
    Postgres, SAFETY_POLL, explain,
    finish::finish_all,
    listen::NOTIFY,
    pace::Paced,
    session::{execute, query},
};
use crate::{
    claim::{self, Unreadable},
    database::Claims,
    nudge::earliest_wait,
    overview::{self, Latest},
    row::{self, micros, most, nearest},
};

/// The priority's column: behind the columns of a claimed task.
const PRIORITY: usize = 15;
/// The column of the key whose turn it was, behind that: only where tasks take turns.
const TURN: usize = 16;
/// From so many slots on, a claim is shared by two connections.
const SHARED_FROM: usize = 512;
/// How many claims' tasks are looked up in one round trip.
const CLAIMS_AT_ONCE: usize = 200;

impl Claims for Postgres {
    async fn claim(&self, request: ClaimRequest) -> Result<Claimed> {
        let client = self.client().await?;
        let full_before = request.full_after(&[]);
        // Prepared first, or the two could overtake each other while being prepared. Then sent
        // together and carried out in order: the second sees what the first has taken.
        let paced = Paced::of(&request);
        let (claim, due) = paced.prepare(&client).await?;
        let (here, beside) = parts(&request);
        let is_shared = beside.is_some();
        let (tasks, next, beside) = tokio::join!(
            claim_tasks(&client, &claim, &here, &paced),
            next_due(&client, &due, &full_before, (&request, &paced)),
            self.claim_beside(beside)
        );
        let (mut tasks, next) = (tasks?, next.unwrap_or(Some(request.now)));
        // If this part's answer is lost, so is the claim: its lease runs out with all its tasks.
        tasks.extend(beside?);
        let turns = last_turns(&request, &tasks);
        let tasks = in_order(tasks);
        let full = request.full_after(&tasks);
        // What is taken is taken, even if the second question found no answer.
        let next_due_at = if is_shared || full.len() > full_before.len() {
            next_due(&client, &due, &full, (&request, &paced)).await?
        } else {
            next
        };
        Ok(Claimed {
            tasks,
            next_due_at,
            turns,
        })
    }

    async fn claim_expired(&self, request: ClaimRequest) -> Result<Vec<ClaimedTask>> {
        let client = self.client().await?;
        let parameters: [&(dyn ToSql + Sync); 6] = [
            &request.claim_id.0,
            &request.node,
            &micros(request.now),
            &micros(request.lease_until),
            &most(request.slots),
            &request.session,
        ];
        let (name, text) = (
            "claim expired tasks",
            claim::postgres::CLAIM_EXPIRED_POSTGRES,
        );
        let rows = query(&client, name, text, &parameters).await?;
        Ok(in_order(read_taken(&client, &request, &rows).await?))
    }

    async fn finish(&self, finishes: Vec<Finish>) -> Result<Vec<Finished>> {
        let mut client = self.client().await?;
        let all: Vec<&Finish> = finishes.iter().collect();
        let applied = finish_all(&mut client, &all).await?;
        let answer = |applied: &bool| {
            if *applied {
                Finished::Applied
            } else {
                Finished::Late
            }
        };
        let answers = applied.iter().map(answer).collect();
        if let Some(due_at) = earliest_wait(&finishes, SAFETY_POLL) {
            // A hint that is lost costs one safety poll.
            let _ = client
                .execute(NOTIFY, &[&self.channel, &micros(due_at).to_string()])
                .await;
        }
        Ok(answers)
    }

    async fn load_taken(&self, ids: &[TaskId], session: &str) -> Result<Vec<Option<TakenTask>>> {
        let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let parameters: [&(dyn ToSql + Sync); 2] = [&numbers, &session];
        let rows = self
            .rows("load taken tasks", claim::TAKEN_POSTGRES, &parameters)
            .await?;
        let taken = rows.iter().flat_map(|row| row::taken_task(&row.into()));
        let mut taken: BTreeMap<TaskId, TakenTask> =
            taken.map(|taken| (taken.task.id, taken)).collect();
        Ok(ids.iter().map(|id| taken.remove(id)).collect())
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

    async fn release_ended_claims(&self, claims: &[ClaimId]) -> Result<()> {
        let ids = numbers(claims);
        let name = "release ended claims";
        self.execute(name, claim::RELEASE_ENDED_POSTGRES, &[&ids])
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

impl Postgres {
    /// Takes a part of a claim over a connection of its own.
    async fn claim_beside(&self, part: Option<ClaimRequest>) -> Result<Vec<Ranked>> {
        let Some(part) = part else {
            return Ok(Vec::new());
        };
        let client = self.client().await?;
        let paced = Paced::of(&part);
        let (claim, _) = paced.prepare(&client).await?;
        claim_tasks(&client, &claim, &part, &paced).await
    }
}

/// A large claim in two parts, which the database carries out at once: a claim is a long statement
/// of one process there, and nothing else that a node does takes as long.
fn parts(request: &ClaimRequest) -> (ClaimRequest, Option<ClaimRequest>) {
    if request.slots < SHARED_FROM {
        return (request.clone(), None);
    }
    let (mut here, mut beside) = (request.clone(), request.clone());
    beside.slots = request.slots / 2;
    here.slots -= beside.slots;
    for (all, part) in here.limits.iter_mut().zip(&mut beside.limits) {
        part.1 = all.1 / 2;
        all.1 -= part.1;
    }
    (here, Some(beside))
}

/// A task with its priority, and the key whose turn it was.
struct Ranked {
    priority: i32,
    turn: Option<String>,
    task: ClaimedTask,
}

/// `returning` promises no order: highest priority first, then the earliest.
fn in_order(mut taken: Vec<Ranked>) -> Vec<ClaimedTask> {
    taken.sort_by_key(|it| (-it.priority, it.task.execute_at, it.task.id));
    taken.into_iter().map(|it| it.task).collect()
}

/// Which key had the last turn, of each kind that something was taken of.
fn last_turns(request: &ClaimRequest, taken: &[Ranked]) -> Vec<(Kind, Option<String>)> {
    let last = |turn: &Turn| {
        let of_kind = || {
            let taken = taken.iter();
            taken.filter(|it| it.task.identity.kind == turn.kind)
        };
        of_kind().next()?;
        let keys = of_kind().filter_map(|it| it.turn.as_deref());
        let last = last_of(keys, &turn.after).map(str::to_owned);
        Some((turn.kind.clone(), last))
    };
    request.turns.iter().filter_map(last).collect()
}

async fn claim_tasks(
    client: &Object,
    statement: &Statement,
    request: &ClaimRequest,
    paced: &Paced<'_>,
) -> Result<Vec<Ranked>> {
    let failed = |error| explain("claim tasks", error);
    let kinds: Vec<&str> = request
        .limits
        .iter()
        .map(|(kind, _)| kind.as_str())
        .collect();
    let rooms: Vec<i64> = request.limits.iter().map(|(_, room)| most(*room)).collect();
    let (now, lease_until) = (micros(request.now), micros(request.lease_until));
    let (slots, only) = (most(request.slots), names(&request.kinds));
    let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![
        &request.claim_id.0,
        &request.node,
        &now,
        &lease_until,
        &slots,
        &kinds,
        &rooms,
        &request.session,
    ];
    parameters.extend(paced.for_claim());
    if !only.is_empty() {
        parameters.push(&only);
    }
    let rows = client.query(statement, &parameters).await.map_err(failed)?;
    read_taken(client, request, &rows).await
}

async fn read_taken(client: &Object, request: &ClaimRequest, rows: &[Row]) -> Result<Vec<Ranked>> {
    let mut taken: Vec<Ranked> = Vec::with_capacity(rows.len());
    let mut aside = Vec::new();
    for row in rows {
        let task = claim::read(&row.into(), request.claim_id, &mut aside)?;
        let Some(task) = task else { continue };
        taken.push(Ranked {
            priority: row.get(PRIORITY),
            turn: row.try_get(TURN).ok().flatten(),
            task,
        });
    }
    set_aside(client, &aside, request.now).await?;
    Ok(taken)
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
    (request, paced): (&ClaimRequest, &Paced<'_>),
) -> Result<Option<Timestamp>> {
    let failed = |error| explain("find next due", error);
    let (full, only, now) = (names(full), names(&request.kinds), micros(request.now));
    let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&full, &now];
    parameters.extend(paced.for_next_due());
    if !only.is_empty() {
        parameters.push(&only);
    }
    let row = client.query_one(statement, &parameters).await;
    Ok(row.map_err(failed)?.get::<_, Option<i64>>(0).map(nearest))
}

fn names(kinds: &[Kind]) -> Vec<&str> {
    kinds.iter().map(Kind::as_str).collect()
}
