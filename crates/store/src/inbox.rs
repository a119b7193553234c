//! Statements about the inbox. The functions that write into it are beside PostgreSQL's store
//! (`postgres/functions.sql`); so is what takes from it.

use std::sync::Arc;

use almanack_core::{
    inbox::{InboxEntry, InboxNumber, InboxRequest, origin_of},
    store::{InboxDecider, InboxStore, InboxTaken, Result},
};
use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    database::{Database, SqlStore},
    row::{Row, most, unreadable, values},
};

/// The first that waits of each identity. Whoever sees that the one before it is answered sees all
/// that came before: nothing is committed later with a smaller number. The one before is asked for
/// as a value: as a condition, its row would be looked for among all that wait.
pub(crate) const TAKE: &str = "select i.number, i.verb, i.kind, i.subject, i.request, i.role \
     from inbox i where i.answered_at_us is null and i.version <= $1 \
     and (select p.answered_at_us is null from inbox p where p.kind = i.kind \
     and p.subject = i.subject and p.nth = i.nth - 1) is not true \
     order by i.number limit $2 for update of i skip locked";
pub(crate) const ANSWER: &str = "update inbox set answered_at_us = $1, answer = u.answer \
     from unnest($2::bigint[], $3::text[]) u(number, answer) where inbox.number = u.number";
/// Requests of newer functions; counting stops at a bound.
pub(crate) const COUNT_NEWER: &str = "select count(*) from (select 1 from inbox \
     where answered_at_us is null and version > $1 limit 1000) n";

const LOAD: &str = "select number, verb, kind, subject, role, asked_at_us, answered_at_us, answer \
     from inbox where number = $1";
const PRUNE: &str = "delete from inbox where number in \
     (select number from inbox where answered_at_us < $1 order by answered_at_us limit $2)";

#[async_trait]
impl<D: Database> InboxStore for SqlStore<D> {
    async fn take_inbox(&self, decider: Arc<dyn InboxDecider>, limit: usize) -> Result<InboxTaken> {
        self.0.take_inbox(&*decider, limit).await
    }

    async fn load_inbox(&self, number: InboxNumber) -> Result<Option<InboxEntry>> {
        self.one("load inbox", LOAD, values![number.0], entry).await
    }

    async fn prune_inbox(&self, before: Timestamp, limit: usize) -> Result<usize> {
        let values = values![before, most(limit)];
        self.execute("prune inbox", PRUNE, values).await
    }
}

pub(crate) fn request(row: &Row<'_>) -> Result<InboxRequest> {
    Ok(InboxRequest {
        number: InboxNumber(row.get(0)?),
        verb: row.get(1)?,
        kind: row.get(2)?,
        subject: row.get(3)?,
        data: row.get(4)?,
        role: row.get(5)?,
    })
}

fn entry(row: &Row<'_>) -> Result<InboxEntry> {
    let answer: Option<String> = row.get(7)?;
    let answer = answer.map(|text| serde_json::from_str(&text).map_err(unreadable));
    Ok(InboxEntry {
        number: InboxNumber(row.get(0)?),
        verb: row.get(1)?,
        kind: row.get(2)?,
        subject: row.get(3)?,
        origin: origin_of(&row.text(4)?),
        asked_at: row.get(5)?,
        answered_at: row.get(6)?,
        answer: answer.transpose()?,
    })
}
