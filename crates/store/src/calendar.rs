//! Statements about calendars.

use almanack_core::{
    calendar::{CalendarRecord, CalendarVersion},
    plan::ScheduleName,
    store::{Applied, CalendarStore, Result},
};
use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    database::{Database, SqlStore},
    row::{self, Listing, listing, most, values},
};

/// What [`crate::row::calendar`] reads, and the order in which a row is written.
macro_rules! columns {
    () => {
        "name, origin, definition, copy, reading, version, applied, created_at_us, changed_at_us"
    };
}

pub(crate) const LOAD: &str = concat!(
    "select ",
    columns!(),
    ", checked_at_us from calendar order by name"
);
pub(crate) const LOAD_VERSIONS: &str =
    "select name, version, applied, reading, checked_at_us from calendar order by name";
pub(crate) const INSERT: &str = concat!(
    "insert into calendar (",
    columns!(),
    ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (name) do nothing"
);
pub(crate) const UPDATE: &str = "update calendar set origin = $1, definition = $2, copy = $3, \
     reading = $4, version = $5, applied = $6, created_at_us = $7, changed_at_us = $8 \
     where name = $9 and version = $10";
pub(crate) const TAKE_CHECK: &str = "update calendar set checked_at_us = $1 where name = $2 \
     and checked_at_us is not distinct from cast($3 as bigint)";
pub(crate) const NOTE_APPLIED: &str =
    "update calendar set applied = $1 where name = $2 and applied < $1 and version >= $1";
pub(crate) const REMOVE: &str = "delete from calendar where name = $1 and version = $2";
/// A definition is JSON: a name stands in quotes, and has no character that needs to be escaped.
pub(crate) const SCHEDULES_NAMING: &str = "select name from schedule where name > $1 \
     and definition like $2 escape '!' and state <> 'removed' order by name limit $3";

const CALENDARS: Listing<CalendarRecord> = listing("calendar", row::calendar);
const VERSIONS: Listing<CalendarVersion> = listing("calendar", row::calendar_version);

#[async_trait]
impl<D: Database> CalendarStore for SqlStore<D> {
    async fn load_calendars(&self) -> Result<Vec<CalendarRecord>> {
        self.listed("load calendars", LOAD, values![], CALENDARS)
            .await
    }

    async fn load_calendar_versions(&self) -> Result<Vec<CalendarVersion>> {
        self.listed("load calendar versions", LOAD_VERSIONS, values![], VERSIONS)
            .await
    }

    async fn write_calendar(
        &self,
        calendar: &CalendarRecord,
        seen: Option<i64>,
    ) -> Result<Applied> {
        let mut values = row::calendar_values(calendar);
        let text = match seen {
            None => INSERT,
            Some(seen) => {
                // Numbers are in the order of the text, which is all that SQLite goes by.
                values.rotate_left(1);
                values.extend(values![seen]);
                UPDATE
            }
        };
        let written = self.execute("write calendar", text, values).await?;
        Ok(match written {
            0 => Applied::Lost,
            _ => Applied::Done { inserted: None },
        })
    }

    async fn take_calendar_check(
        &self,
        name: &str,
        seen: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<bool> {
        let values = values![now, name, seen];
        let taken = self.execute("take calendar check", TAKE_CHECK, values);
        Ok(taken.await? == 1)
    }

    async fn note_calendar_applied(&self, name: &str, version: i64) -> Result<()> {
        let noted = self.execute("note calendar", NOTE_APPLIED, values![version, name]);
        noted.await.map(drop)
    }

    async fn remove_calendar(&self, name: &str, seen: i64) -> Result<bool> {
        let removed = self.execute("remove calendar", REMOVE, values![name, seen]);
        Ok(removed.await? == 1)
    }

    async fn load_schedules_naming(
        &self,
        calendar: &str,
        after: Option<ScheduleName>,
        limit: usize,
    ) -> Result<Vec<ScheduleName>> {
        // `_` may stand in a name, and would stand for any character.
        let pattern = format!("%\"{}\"%", calendar.replace('_', "!_"));
        let values = values![
            after.as_ref().map_or("", ScheduleName::as_str),
            pattern,
            most(limit)
        ];
        let listed = listing("schedule", |row| row.get(0));
        self.listed(
            "load schedules by calendar",
            SCHEDULES_NAMING,
            values,
            listed,
        )
        .await
    }
}
