//! Claims on SQLite.

use almanack_core::{
    event::outgoing::gather,
    finish::Finish,
    store::{ClaimId, ClaimRequest, Claimed, Finished, Result, TakenTask, TaskLine},
    task::{ClaimedTask, TaskId},
};
use jiff::Timestamp;
use rusqlite::{CachedStatement, Connection, Params, params};

use crate::{
    claim::{self, Unreadable},
    database::Claims,
    finish, history,
    lanes::{Lane, shares},
    nudge::earliest_wait,
    overview::{self, Latest},
    row::{self, micros, most, nearest, small, unreadable},
    sqlite::{
        SAFETY_POLL, Sqlite,
        pace::Gates,
        task::{insert, insert_all},
        thread::Outcome,
        turns::claim_by_turns,
    },
};

impl Claims for Sqlite {
    async fn claim(&self, request: ClaimRequest) -> Result<Claimed> {
        self.on_writer("claim tasks", move |connection| {
            let (mut tasks, mut turns) = (Vec::new(), Vec::new());
            let mut gates = Gates::load(connection, &request)?;
            let due: Vec<Lane> = lanes(connection, &request, &gates)?
                .into_iter()
                .filter(|(_, due_at_us)| *due_at_us <= micros(request.now))
                .map(|(lane, _)| lane)
                .collect();
            let limits = gates.limits(&request.limits);
            for (lane, share) in shares(due, request.slots, &limits) {
                let free = request.slots - tasks.len();
                let share = share.min(free);
                let turn = request
                    .turns
                    .iter()
                    .find(|turn| turn.kind.as_str() == lane.kind);
                let taken = match turn {
                    None => claim_from(connection, &request, &lane, share)?,
                    Some(turn) => {
                        let (taken, last) =
                            claim_by_turns(connection, &request, (&lane, turn), share)?;
                        turns.push((turn.kind.clone(), last));
                        taken
                    }
                };
                tasks.extend(taken);
            }
            if !tasks.is_empty() {
                note_claim(connection, &request, &tasks)?;
                gates.take(connection, &tasks)?;
            }
            let next_due_at = next_due(connection, &request, &tasks, &gates)?;
            Ok(Claimed {
                tasks,
                next_due_at,
                turns,
            })
        })
        .await
    }

    async fn claim_expired(&self, request: ClaimRequest) -> Result<Vec<ClaimedTask>> {
        self.on_writer("claim expired tasks", move |connection| {
            let (claim, now) = (request.claim_id.0, micros(request.now));
            let found = params![claim, request.node, now, most(request.slots)];
            let tasks = take(connection, &request, claim::TAKE_EXPIRED_SQLITE, found)?;
            if !tasks.is_empty() {
                note_claim(connection, &request, &tasks)?;
            }
            Ok(tasks)
        })
        .await
    }

    async fn finish(&self, finishes: Vec<Finish>) -> Result<Vec<Finished>> {
        let hint = earliest_wait(&finishes, SAFETY_POLL);
        let answers = self
            .on_writer("finish attempts", move |connection| {
                let mut endings = Endings::prepare(connection)?;
                let answers = finishes.iter().map(|finish| endings.write(finish));
                let answers = answers.collect::<Outcome<Vec<_>>>()?;
                let applied = finishes.iter().zip(&answers);
                let applied = applied.filter(|(_, answer)| **answer == Finished::Applied);
                for new in gather(applied.flat_map(|(finish, _)| &finish.loose_events)) {
                    insert(connection, &new, micros(new.execute_at))?;
                }
                Ok(answers)
            })
            .await?;
        if let Some(due_at) = hint {
            self.nudger.nudge(due_at);
        }
        Ok(answers)
    }

    async fn load_taken(&self, ids: &[TaskId], session: &str) -> Result<Vec<Option<TakenTask>>> {
        let (ids, session) = (ids.to_vec(), session.to_owned());
        self.on_reader("load taken tasks", move |connection| {
            let mut statement = connection.prepare_cached(claim::TAKEN_SQLITE)?;
            let load = |id: &TaskId| -> Outcome<Option<TakenTask>> {
                let mut rows = statement.query(params![id.0, session])?;
                let row = rows.next()?;
                Ok(row.and_then(|row| row::taken_task(&row.into()).ok()))
            };
            ids.iter().map(load).collect()
        })
        .await
    }

    async fn extend_claims(
        &self,
        claims: &[ClaimId],
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Vec<ClaimId>> {
        let claims = claims.to_vec();
        self.on_writer("extend claims", move |connection| {
            let mut statement = connection.prepare_cached(claim::EXTEND_SQLITE)?;
            let mut extended = Vec::with_capacity(claims.len());
            for claim in &claims {
                let rows = statement.execute(params![claim.0, micros(now), micros(lease_until)])?;
                extended.extend((rows == 1).then_some(*claim));
            }
            Ok(extended)
        })
        .await
    }

    async fn release_claims(&self, claims: &[ClaimId]) -> Result<()> {
        let claims = claims.to_vec();
        self.on_writer("release claims", move |connection| {
            for text in claim::RELEASE_SQLITE {
                let mut statement = connection.prepare_cached(text)?;
                for claim in &claims {
                    statement.execute([claim.0])?;
                }
            }
            connection.prepare_cached(claim::FORGET_PAST)?.execute([])?;
            Ok(())
        })
        .await
    }

    async fn release_ended_claims(&self, claims: &[ClaimId]) -> Result<()> {
        let claims = claims.to_vec();
        self.on_writer("release ended claims", move |connection| {
            let mut runs = connection.prepare_cached(claim::RUNS_UNDER_SQLITE)?;
            for claim in &claims {
                if !runs.exists([claim.0])? {
                    for text in claim::RELEASE_SQLITE {
                        connection.prepare_cached(text)?.execute([claim.0])?;
                    }
                }
            }
            connection.prepare_cached(claim::FORGET_PAST)?.execute([])?;
            Ok(())
        })
        .await
    }

    async fn load_finished(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<TaskLine>> {
        self.on_reader("load finished tasks", move |connection| {
            let (from, until) = (micros(from), micros(until));
            let mut latest = Latest::new(limit);
            latest.add(lines(connection, overview::ENDED_SQLITE, [from, until])?);
            let mut past = connection.prepare_cached(overview::PAST_CLAIMS)?;
            let mut past = past.query([from, overview::PAST_CLAIMS_MAX])?;
            while let Some(claim) = past.next()? {
                let (id, lease_until): (i64, i64) = (claim.get(0)?, claim.get(1)?);
                if !latest.has_room(nearest(lease_until)) {
                    break;
                }
                let key = [from, until, id];
                latest.add(lines(connection, overview::ENDED_PAST_SQLITE, key)?);
            }
            Ok(latest.into_lines())
        })
        .await
    }
}

fn lines(connection: &Connection, text: &str, key: impl Params) -> Outcome<Vec<TaskLine>> {
    let mut statement = connection.prepare_cached(text)?;
    let mut rows = statement.query(key)?;
    let mut lines = Vec::new();
    while let Some(row) = rows.next()? {
        lines.extend(row::LINES.read(&row.into()));
    }
    Ok(lines)
}

/// The lanes with waiting tasks of the requested kinds that are not paused for good, and when each
/// may be claimed from.
fn lanes(
    connection: &Connection,
    request: &ClaimRequest,
    gates: &Gates,
) -> Outcome<Vec<(Lane, i64)>> {
    let read = |row: &rusqlite::Row<'_>| {
        Ok((
            Lane {
                kind: row.get(0)?,
                priority: row.get(1)?,
            },
            row.get(2)?,
        ))
    };
    let lanes = if request.kinds.is_empty() {
        let mut statement = connection.prepare_cached(claim::LANES_DUE_SQLITE)?;
        let lanes = statement.query_map([], read)?;
        lanes.collect::<rusqlite::Result<Vec<(Lane, i64)>>>()?
    } else {
        let kinds = serde_json::to_string(&request.kinds).map_err(unreadable)?;
        let mut statement = connection.prepare_cached(claim::LANES_OF_KINDS_SQLITE)?;
        let lanes = statement.query_map([kinds], read)?;
        lanes.collect::<rusqlite::Result<Vec<(Lane, i64)>>>()?
    };
    let open = lanes
        .into_iter()
        .filter_map(|(lane, due_at_us)| Some((gates.opens_at(&lane.kind, due_at_us)?, lane)));
    Ok(open
        .map(|(opens_at_us, lane)| (lane, opens_at_us))
        .collect())
}

pub(super) fn claim_from(
    connection: &Connection,
    request: &ClaimRequest,
    lane: &Lane,
    share: usize,
) -> Outcome<Vec<ClaimedTask>> {
    let found = params![
        request.claim_id.0,
        request.node,
        micros(request.now),
        lane.kind,
        lane.priority,
        most(share),
    ];
    take(connection, request, claim::TAKE_SQLITE, found)
}

pub(super) fn take(
    connection: &Connection,
    request: &ClaimRequest,
    text: &str,
    found: impl Params,
) -> Outcome<Vec<ClaimedTask>> {
    let mut statement = connection.prepare_cached(text)?;
    let mut rows = statement.query(found)?;
    let mut taken = Vec::new();
    let mut aside = Vec::new();
    while let Some(row) = rows.next()? {
        taken.extend(claim::read(&row.into(), request.claim_id, &mut aside)?);
    }
    set_aside(connection, &aside, request.now)?;
    // `returning` promises no order; within a lane the earliest goes first.
    taken.sort_by_key(|task| (task.execute_at, task.id));
    Ok(taken)
}

fn note_claim(
    connection: &Connection,
    request: &ClaimRequest,
    tasks: &[ClaimedTask],
) -> Outcome<()> {
    let ids: Vec<i64> = tasks.iter().map(|task| task.id.0).collect();
    let ids = serde_json::to_string(&ids).map_err(unreadable)?;
    let mut statement = connection.prepare_cached(claim::NOTE_CLAIM_SQLITE)?;
    statement.execute(params![
        request.claim_id.0,
        request.session,
        request.node,
        micros(request.lease_until),
        ids,
    ])?;
    Ok(())
}

/// When the next task of a kind that still has room is due.
fn next_due(
    connection: &Connection,
    request: &ClaimRequest,
    taken: &[ClaimedTask],
    gates: &Gates,
) -> Outcome<Option<Timestamp>> {
    let full = request.full_after(taken);
    let next = lanes(connection, request, gates)?
        .into_iter()
        .filter(|(lane, _)| !full.iter().any(|kind| kind.as_str() == lane.kind))
        .map(|(_, due_at_us)| due_at_us)
        .min();
    Ok(next.map(nearest))
}

/// The statements of a batch of endings, prepared once for all of them.
struct Endings<'c> {
    connection: &'c Connection,
    end: CachedStatement<'c>,
    wait: CachedStatement<'c>,
    note: CachedStatement<'c>,
    note_late: CachedStatement<'c>,
}

impl<'c> Endings<'c> {
    fn prepare(connection: &'c Connection) -> Outcome<Self> {
        Ok(Self {
            connection,
            end: connection.prepare_cached(finish::FINISH_END_SQLITE)?,
            wait: connection.prepare_cached(finish::FINISH_WAIT_SQLITE)?,
            note: connection.prepare_cached(history::NOTE_ATTEMPT_SQLITE)?,
            note_late: connection.prepare_cached(history::NOTE_LATE_SQLITE)?,
        })
    }

    fn write(&mut self, finish: &Finish) -> Outcome<Finished> {
        if !self.ends(finish)? {
            note_attempt(&mut self.note_late, finish)?;
            return Ok(Finished::Late);
        }
        if finish.needs_attempt_row() {
            note_attempt(&mut self.note, finish)?;
        }
        insert_all(
            self.connection,
            &finish.event_tasks,
            micros(finish.ended.finished_at),
        )?;
        Ok(Finished::Applied)
    }

    /// Whether the task still ran under this attempt's term.
    fn ends(&mut self, finish: &Finish) -> Outcome<bool> {
        let (id, term, status) = (finish.task_id.0, finish.term.0, finish.status.as_str());
        let (attempt, finished_at_us) = (small(finish.attempt), micros(finish.ended.finished_at));
        let (detail, execute_at_us) = (&finish.detail, micros(finish.execute_at));
        let rows = if !finish.tried {
            let untried = finish::FINISH_UNTRIED_SQLITE;
            let mut untried = self.connection.prepare_cached(untried)?;
            untried.execute(params![id, term, status, attempt, detail, finished_at_us])?
        } else if finish.waits {
            self.wait.execute(params![
                id,
                term,
                status,
                attempt,
                detail,
                finished_at_us,
                execute_at_us,
                small(finish.expiries),
                finish.expires_at.map(micros),
            ])?
        } else {
            self.end
                .execute(params![id, term, status, attempt, detail, finished_at_us])?
        };
        Ok(rows == 1)
    }
}

fn note_attempt(statement: &mut CachedStatement<'_>, finish: &Finish) -> Outcome<()> {
    let ended = &finish.ended;
    statement.execute(params![
        finish.task_id.0,
        finish.term.0,
        small(ended.attempt),
        micros(ended.due_at),
        micros(ended.started_at),
        micros(ended.finished_at),
        ended.outcome,
        finish.detail,
    ])?;
    Ok(())
}

/// Ends rows that cannot be read.
fn set_aside(connection: &Connection, aside: &[Unreadable], now: Timestamp) -> Outcome<()> {
    let mut statement = connection.prepare_cached(claim::SET_ASIDE)?;
    for task in aside {
        statement.execute(params![
            task.why,
            micros(now),
            task.task_id,
            task.claim_id.0
        ])?;
    }
    Ok(())
}
