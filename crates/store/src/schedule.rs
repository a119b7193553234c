//! Statements about schedules, their ledgers and what people did to them.
//!
//! A schedule's row is the lock of everything that belongs to it: a write first takes the row by
//! its `version`, and only the writer that got it writes ledger rows, firings and the edit, in the
//! same transaction. A slot that is in the ledger stays as first decided, and a firing whose
//! identity exists is left alone: clocks differ by moments, and what happened has happened. If what
//! exists was cancelled, the slot is not noted as fired (SF-04).

use almanack_core::{
    plan::{
        DISPATCH, Definition, Edit, FiredByHand, Origin, Schedule, ScheduleId, ScheduleName,
        ScheduleWrite, Slot, slot_identity, subject_ranges,
    },
    store::{Applied, DueSchedules, LedgerPage, Page, Result, ScheduleFilter, ScheduleStore},
    task::Identity,
};
use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    database::{Access::Read, Database, SqlStore},
    row::{
        self, Listing, Row, examined, listing, micros, most, nearest, one_more, unreadable, values,
    },
    session::{Session, asked},
};

/// The column of the next look's time in a schedule.
const LOOK_AT: usize = 13;

/// What [`crate::row::schedule`] reads.
macro_rules! columns {
    () => {
        "s.schedule_id, s.name, s.origin, s.definition, s.revision, s.version, s.state, \
         s.state_since_us, s.state_until_us, s.state_note, s.state_by, s.next_at_us, \
         s.waits_since_us, s.look_at_us, s.last_subject, s.beside, s.created_at_us, s.changed_at_us, \
         s.runs"
    };
}
pub(crate) use columns;

/// What is due, and the first one that is not; one text, so that nothing slips between the two.
pub(crate) const LOAD_DUE: &str = concat!(
    "select * from (select ",
    columns!(),
    " from schedule s where s.look_at_us <= $1 \
     order by s.look_at_us, s.schedule_id limit $2) due \
     union all select * from (select ",
    columns!(),
    " from schedule s where s.look_at_us > $1 \
     order by s.look_at_us, s.schedule_id limit 1) coming"
);

pub(crate) const LOAD_SQLITE: &str =
    concat!("select ", columns!(), " from schedule s where s.name = ?1");
/// Many; the position in the list comes last. The `limit` keeps the planner from turning the join
/// around.
pub(crate) const LOAD_POSTGRES: &str = concat!(
    "select ",
    columns!(),
    ", u.position from unnest($1::text[]) with ordinality u(name, position) \
     cross join lateral (select * from schedule x where x.name = u.name limit 1) s"
);

/// The last name that a page after `$1` examines, with `$2` before it.
pub(crate) const EXAMINED_TO: &str =
    "select name from schedule where name > $1 order by name limit 1 offset $2";
/// A page, by name, up to `$2`. A filter that is not set is null.
pub(crate) const LIST: &str = concat!(
    "select ",
    columns!(),
    " from schedule s where s.name > $1 and s.name <= $2 \
     and (cast($3 as text) is null or s.origin = $3) \
     and (cast($4 as text) is null or s.state = $4) \
     and (cast($5 as bigint) = 1 or s.state <> 'removed') \
     and (cast($6 as text) is null or s.definition like $6) \
     and (cast($7 as text) is null or s.definition like $7) order by s.name limit $8"
);
/// What comes after every name.
pub(crate) const END: &str = "~";

macro_rules! insert_columns {
    () => {
        "insert into schedule (name, origin, definition, revision, version, state, \
         state_since_us, state_until_us, state_note, state_by, next_at_us, waits_since_us, \
         look_at_us, last_subject, beside, runs, changed_at_us, created_at_us) "
    };
}
/// Writes a new schedule unless its name is taken, by a removed one too.
pub(crate) const INSERT_SQLITE: &str = concat!(
    insert_columns!(),
    "values (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, \
     ?16, ?17) on conflict (name) do nothing"
);
pub(crate) const INSERT_POSTGRES: &str = concat!(
    insert_columns!(),
    "select name, origin, definition, revision, 1, state, state_since_us, state_until_us, \
     state_note, state_by, next_at_us, waits_since_us, look_at_us, last_subject, beside, runs, \
     changed_at_us, created_at_us from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], \
     $6::bigint[], $7::bigint[], $8::text[], $9::text[], $10::bigint[], $11::bigint[], \
     $12::bigint[], $13::text[], $14::text[], $15::bigint[], $16::bigint[], $17::bigint[]) \
     u(name, origin, definition, revision, state, state_since_us, state_until_us, state_note, \
     state_by, next_at_us, waits_since_us, look_at_us, last_subject, beside, runs, changed_at_us, \
     created_at_us) on conflict (name) do nothing returning name, schedule_id"
);

/// Takes the row if it is still the version that was seen. Name and birth never change.
pub(crate) const UPDATE_SQLITE: &str = "update schedule set version = version + 1, origin = ?3, \
     definition = ?4, revision = ?5, state = ?6, state_since_us = ?7, state_until_us = ?8, \
     state_note = ?9, state_by = ?10, next_at_us = ?11, waits_since_us = ?12, look_at_us = ?13, \
     last_subject = ?14, beside = ?15, runs = ?16, changed_at_us = ?17 where schedule_id = ?1 and version = ?2";
pub(crate) const UPDATE_POSTGRES: &str = "update schedule s set version = s.version + 1, \
     origin = u.origin, definition = u.definition, revision = u.revision, state = u.state, \
     state_since_us = u.state_since_us, state_until_us = u.state_until_us, \
     state_note = u.state_note, state_by = u.state_by, next_at_us = u.next_at_us, \
     waits_since_us = u.waits_since_us, look_at_us = u.look_at_us, \
     last_subject = u.last_subject, beside = u.beside, runs = u.runs, \
     changed_at_us = u.changed_at_us \
     from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], \
     $7::bigint[], $8::bigint[], $9::text[], $10::text[], $11::bigint[], $12::bigint[], \
     $13::bigint[], $14::text[], $15::text[], $16::bigint[], $17::bigint[]) \
     u(schedule_id, seen, origin, definition, revision, state, state_since_us, state_until_us, \
     state_note, state_by, next_at_us, waits_since_us, look_at_us, last_subject, beside, runs, \
     changed_at_us) where s.schedule_id = any (array[u.schedule_id]) and s.version = u.seen \
     returning s.schedule_id";

/// What [`crate::row::slot`] reads.
macro_rules! slot_columns {
    () => {
        "slot_at_us, last_at_us, slots, verdict, detail, revision, decided_at_us"
    };
}
pub(crate) const NOTE_SLOT_SQLITE: &str = concat!(
    "insert into slot (schedule_id, ",
    slot_columns!(),
    ") values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) on conflict (schedule_id, slot_at_us) do nothing"
);
pub(crate) const NOTE_SLOT_POSTGRES: &str = concat!(
    "insert into slot (schedule_id, ",
    slot_columns!(),
    ") select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], \
     $6::text[], $7::bigint[], $8::bigint[]) on conflict (schedule_id, slot_at_us) do nothing"
);
/// A slot that was just noted as fired, but whose firing met a cancelled one under its name, did
/// not fire.
pub(crate) const NOTE_CANCELLED: &str = "update slot set verdict = 'cancelled' where schedule_id = $1 \
     and slot_at_us = $2 and decided_at_us = $3 and verdict in ('fired', 'caught_up') \
     and exists (select 1 from task t where t.subject = $4 and t.kind = $5 and t.is_current \
     and t.status = 'CANCELLED')";
pub(crate) const LOAD_SLOTS: &str = concat!(
    "select ",
    slot_columns!(),
    " from slot where schedule_id = $1 and slot_at_us < $2 order by slot_at_us desc limit $3"
);
/// The index of last slots leads to those that lie ahead; there are none as long as clocks are
/// right.
pub(crate) const DECIDED_AHEAD: &str = "select distinct s.name from slot x \
     join schedule s on s.schedule_id = x.schedule_id \
     where x.last_at_us > $1 and s.state <> 'removed' order by s.name limit $2";
pub(crate) const TAKE_BACK_SLOTS: &str =
    "delete from slot where schedule_id = $1 and slot_at_us >= $2";
/// Oldest first. SQLite finds the rows by their key again, PostgreSQL by where they lie.
pub(crate) const PRUNE_SLOTS_SQLITE: &str = "delete from slot where (schedule_id, slot_at_us) in \
     (select schedule_id, slot_at_us from slot where last_at_us < ?1 \
     order by last_at_us limit ?2)";
pub(crate) const PRUNE_SLOTS_POSTGRES: &str = "delete from slot where ctid = any (array( \
     select ctid from slot where last_at_us < $1 order by last_at_us limit $2))";

/// Firings in a range of subjects that the schedule did not make itself.
pub(crate) const LOAD_BY_HAND: &str = "select subject, kind, origin, created_at_us from task \
     where subject >= $1 and subject < $2 and kind = $3 and is_current and origin <> $4 \
     order by subject desc limit $5";

/// What [`crate::row::edit`] reads.
macro_rules! edit_columns {
    () => {
        "revision, edited, by_whom, note, definition, at_us"
    };
}
pub(crate) const NOTE_EDIT_SQLITE: &str = concat!(
    "insert into schedule_edit (schedule_id, version, ",
    edit_columns!(),
    ") values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
);
pub(crate) const NOTE_EDIT_POSTGRES: &str = concat!(
    "insert into schedule_edit (schedule_id, version, ",
    edit_columns!(),
    ") select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], \
     $6::text[], $7::text[], $8::bigint[])"
);
/// Newest first, so that the limit keeps the newest; the caller turns them around.
pub(crate) const LOAD_EDITS: &str = concat!(
    "select ",
    edit_columns!(),
    " from schedule_edit where schedule_id = $1 order by version desc limit $2"
);

/// A row that [`LOAD_DUE`] found. When to look at it, and which it is, is known even of one that
/// cannot be read.
struct DueRow {
    look_at_us: i64,
    schedule_id: i64,
    schedule: Result<Schedule>,
    shown: Option<Schedule>,
}

impl DueRow {
    fn read(row: &Row<'_>) -> Result<Self> {
        let schedule = row::schedule(row);
        Ok(Self {
            look_at_us: row.get(LOOK_AT)?,
            schedule_id: row.get(0)?,
            shown: schedule
                .is_err()
                .then(|| row::SCHEDULES.read(row))
                .flatten(),
            schedule,
        })
    }
}

/// Sorts what [`LOAD_DUE`] found, asked for one more than `limit`, into what is to be looked at now
/// and when to come back.
fn due(mut found: Vec<DueRow>, now: Timestamp, limit: usize) -> DueSchedules {
    // `union all` promises no order.
    found.sort_by_key(|row| (row.look_at_us, row.schedule_id));
    let is_due = |row: &&DueRow| row.look_at_us <= micros(now);
    let answered = found.iter().take(limit).take_while(is_due).count();
    let next_look_at = found.get(answered).map(|row| nearest(row.look_at_us));
    let mut due = DueSchedules {
        next_look_at,
        ..DueSchedules::default()
    };
    for row in found.into_iter().take(answered) {
        match row.schedule {
            Ok(schedule) => due.schedules.push(schedule),
            Err(_) => due.unreadable.extend(row.shown),
        }
    }
    due
}

/// The slots that a write fires, each with the identity of its firing.
pub(crate) fn fired_slots(write: &ScheduleWrite) -> Vec<(&Slot, Identity)> {
    let fired = write.slots.iter().filter(|slot| slot.verdict.is_fired());
    let named = fired.map(|slot| (slot, slot_identity(&write.schedule.name, slot.slot_at)));
    named
        .filter_map(|(slot, identity)| Some((slot, identity.ok()?)))
        .collect()
}

/// Whether removed schedules are listed: naming their state asks for them too.
fn with_removed(filter: &ScheduleFilter) -> bool {
    filter.removed || filter.state.as_deref() == Some("removed")
}

#[async_trait]
impl<D: Database> ScheduleStore for SqlStore<D> {
    async fn load_due_schedules(&self, now: Timestamp, limit: usize) -> Result<DueSchedules> {
        let values = values![now, one_more(limit)];
        let found = self.ask(Read, "load due schedules", values, |session, values| {
            Box::pin(session.rows(LOAD_DUE, values, DueRow::read))
        });
        Ok(due(found.await?, now, limit))
    }

    async fn load_schedules(&self, names: &[ScheduleName]) -> Result<Vec<Option<Schedule>>> {
        self.0.load_schedules(names).await
    }

    async fn list_schedules(
        &self,
        filter: &ScheduleFilter,
    ) -> Result<Page<Schedule, ScheduleName>> {
        self.ask(Read, "list schedules", filter.clone(), asked!(page))
            .await
    }

    async fn write_schedules(&self, writes: Vec<ScheduleWrite>) -> Result<Vec<Applied>> {
        self.0.write_schedules(writes).await
    }

    async fn load_slots(&self, id: ScheduleId, page: LedgerPage) -> Result<Vec<Slot>> {
        let values = values![id.0, page.before, most(page.limit)];
        let listed = listing("slot", row::slot);
        self.listed("load ledger", LOAD_SLOTS, values, listed).await
    }

    async fn load_fired_by_hand(
        &self,
        name: &ScheduleName,
        from: Timestamp,
        page: LedgerPage,
    ) -> Result<Vec<FiredByHand>> {
        let own = format!("schedule {name}");
        let mut found = Vec::new();
        for (first, end) in subject_ranges(name, from, page.before) {
            let values = values![first, end, DISPATCH, &own, most(page.limit)];
            let rows = self.listed("load firings by hand", LOAD_BY_HAND, values, BY_HAND);
            let rows = rows.await?.into_iter();
            found.extend(
                rows.filter_map(|(identity, by, at)| FiredByHand::read(name, identity, by, at)),
            );
        }
        found.retain(|fired| (from..page.before).contains(&fired.slot_at));
        found.sort_by_key(|fired| std::cmp::Reverse(fired.slot_at));
        found.truncate(page.limit);
        Ok(found)
    }

    async fn load_edits(&self, id: ScheduleId, limit: usize) -> Result<Vec<Edit>> {
        let values = values![id.0, most(limit)];
        let listed = listing("schedule_edit", row::edit);
        let edits = self.listed("load edits", LOAD_EDITS, values, listed);
        let mut edits = edits.await?;
        edits.reverse();
        Ok(edits)
    }

    async fn load_decided_ahead(
        &self,
        after: Timestamp,
        limit: usize,
    ) -> Result<Vec<ScheduleName>> {
        let (name, values) = ("load schedules decided ahead", values![after, most(limit)]);
        self.listed(
            name,
            DECIDED_AHEAD,
            values,
            listing("schedule", |row| row.get(0)),
        )
        .await
    }

    async fn prune_slots(&self, before: Timestamp, limit: usize) -> Result<usize> {
        let text = D::text(PRUNE_SLOTS_SQLITE, PRUNE_SLOTS_POSTGRES);
        self.execute("prune ledger", text, values![before, most(limit)])
            .await
    }
}

/// What [`LOAD_BY_HAND`] answers.
const BY_HAND: Listing<(Identity, String, Timestamp)> = listing("task", |row| {
    let identity = Identity {
        subject: row.get(0)?,
        kind: row.get(1)?,
    };
    Ok((identity, row.text(2)?, row.get(3)?))
});

async fn page(
    session: &dyn Session,
    filter: &ScheduleFilter,
) -> Result<Page<Schedule, ScheduleName>> {
    let after = filter.after.as_ref().map_or("", ScheduleName::as_str);
    let among = values![after, examined(filter.among)];
    let to = session.one(EXAMINED_TO, &among, |row| row.text(0)).await?;
    let values = values![
        after,
        to.as_deref().unwrap_or(END),
        filter.origin.map(Origin::as_str),
        &filter.state,
        with_removed(filter),
        filter.tag.as_deref().map(tagged),
        filter.owner.as_deref().map(owned),
        one_more(filter.limit),
    ];
    let found = session.listed(LIST, &values, row::SCHEDULES).await?;
    let to = to.as_deref().map(ScheduleName::parse).transpose();
    let to = to.map_err(unreadable)?;
    let mut page = Page::cut(found, filter.limit, to, |schedule| schedule.name.clone());
    // The patterns let through what they were made for and, rarely, more.
    page.rows.retain(|schedule| is_labelled(schedule, filter));
    Ok(page)
}

/// A pattern that every definition with this tag fits. Tags need no escapes in JSON, and a definition
/// is written by one function.
fn tagged(tag: &str) -> String {
    format!("%\"tags\":[%\"{tag}\"%")
}

/// The same for an owner, who has no quotes and no backslashes.
fn owned(owner: &str) -> String {
    format!("%\"owner\":\"{owner}\"%")
}

fn is_labelled(schedule: &Schedule, filter: &ScheduleFilter) -> bool {
    if filter.tag.is_none() && filter.owner.is_none() {
        return true;
    }
    let has = |definition: &Definition| {
        let has_tag = |tag: &String| definition.tags.contains(tag);
        let has_owner = |owner: &String| definition.owner.as_ref() == Some(owner);
        filter.tag.as_ref().is_none_or(has_tag) && filter.owner.as_ref().is_none_or(has_owner)
    };
    schedule.definition.read().is_ok_and(has)
}
