//! Shared limits on SQLite: read, decide and write in one transaction of the one writer.

use almanack_core::{
    host_pace::shared::{SharedLimit, settle},
    store::{PermitGrant, PermitRequest, Result, Visitor},
};
use rusqlite::{Connection, params};

use super::{Sqlite, thread::Outcome};
use crate::{
    database::Permits,
    permit,
    row::{self, micros, most},
};

impl Permits for Sqlite {
    async fn request_permits(
        &self,
        visitor: &Visitor,
        asks: &[PermitRequest],
    ) -> Result<Vec<PermitGrant>> {
        let (visitor, asks) = (visitor.clone(), asks.to_vec());
        self.on_writer("request permits", move |connection| {
            asks.iter()
                .map(|ask| enter(connection, &visitor, ask))
                .collect()
        })
        .await
    }
}

fn enter(connection: &Connection, visitor: &Visitor, ask: &PermitRequest) -> Outcome<PermitGrant> {
    let mut shared = load(connection, &ask.limit, visitor)?;
    let answer = settle(&mut shared, visitor, ask);
    connection
        .prepare_cached(permit::SAVE_SQLITE)?
        .execute(params![
            ask.limit,
            micros(shared.free_at),
            micros(shared.held_until),
            micros(shared.asked_at),
            most(ask.at_once),
            row::permit::gap_us(ask),
            row::permit::visitors(&shared),
        ])?;
    Ok(answer)
}

fn load(connection: &Connection, name: &str, visitor: &Visitor) -> Outcome<SharedLimit> {
    let mut statement = connection.prepare_cached(permit::LOAD_SQLITE)?;
    let mut rows = statement.query([name])?;
    let Some(row) = rows.next()? else {
        return Ok(SharedLimit::default());
    };
    let found = row::readable("shared limit", row::permit::limit(&row.into()));
    Ok(found.unwrap_or_else(|| row::permit::unknown(visitor)))
}
