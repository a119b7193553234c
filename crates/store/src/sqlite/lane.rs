//! Shared lanes on SQLite: read, decide and write in one transaction of the one writer.

use almanack_core::{
    lane::shared::{SharedLane, settle},
    store::{LaneAnswer, LaneAsk, Result, Visitor},
};
use rusqlite::{Connection, params};

use super::{Sqlite, thread::Outcome};
use crate::{
    database::Lanes,
    lane,
    row::{self, micros, most},
};

impl Lanes for Sqlite {
    async fn enter_lanes(&self, visitor: &Visitor, asks: &[LaneAsk]) -> Result<Vec<LaneAnswer>> {
        let (visitor, asks) = (visitor.clone(), asks.to_vec());
        self.on_writer("enter lanes", move |connection| {
            asks.iter()
                .map(|ask| enter(connection, &visitor, ask))
                .collect()
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
    let found = row::readable("lane", row::lane::lane(&row.into()));
    Ok(found.unwrap_or_else(|| row::lane::unknown(visitor)))
}
