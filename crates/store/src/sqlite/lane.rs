//! Shared lanes on SQLite: read, decide and write in one transaction of the one writer.

use almanack_core::{
    lane::shared::{SharedLane, settle},
    store::{LaneAnswer, LaneAsk, LaneStore, Result, Visitor},
};
use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::{SqliteStore, thread::Outcome};
use crate::{
    lane,
    row::{self, micros, most},
};

#[async_trait]
impl LaneStore for SqliteStore {
    async fn enter_lanes(&self, visitor: &Visitor, asks: &[LaneAsk]) -> Result<Vec<LaneAnswer>> {
        let (visitor, asks) = (visitor.clone(), asks.to_vec());
        self.write("enter lanes", move |connection| {
            asks.iter()
                .map(|ask| enter(connection, &visitor, ask))
                .collect()
        })
        .await
    }

    async fn prune_lanes(&self, before: Timestamp, now: Timestamp) -> Result<usize> {
        self.write("prune lanes", move |connection| {
            let mut statement = connection.prepare_cached(lane::PRUNE)?;
            Ok(statement.execute([micros(before), micros(now)])?)
        })
        .await
    }
}

fn enter(connection: &Connection, visitor: &Visitor, ask: &LaneAsk) -> Outcome<LaneAnswer> {
    let mut shared = load(connection, &ask.lane, visitor)?;
    let answer = settle(&mut shared, visitor, ask);
    connection
        .prepare_cached(lane::SAVE_SQLITE)?
        .execute(params![
            ask.lane,
            micros(shared.free_at),
            micros(shared.held_until),
            micros(shared.asked_at),
            most(ask.at_once),
            row::lane::gap_us(ask),
            row::lane::visitors(&shared),
        ])?;
    Ok(answer)
}

fn load(connection: &Connection, name: &str, visitor: &Visitor) -> Outcome<SharedLane> {
    let mut statement = connection.prepare_cached(lane::LOAD_SQLITE)?;
    let mut rows = statement.query([name])?;
    let Some(row) = rows.next()? else {
        return Ok(SharedLane::default());
    };
    let found = row::readable("lane", row::lane::lane(row));
    Ok(found.unwrap_or_else(|| row::lane::unknown(visitor)))
}
