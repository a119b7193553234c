//! What keeps kinds from being claimed on SQLite: pauses and rates.
//!
//! The one writer asks and decides between claims, so it calls [`almanack_core::pace::Rate`] where
//! PostgreSQL has a statement.

use almanack_core::{
    pace::{Bucket, Rate, Starts},
    store::{ClaimRequest, Result, StartRequest},
    task::{ClaimedTask, Kind},
};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    database::Paces,
    pace,
    row::{micros, nearest},
    sqlite::{Sqlite, thread::Outcome},
};

impl Paces for Sqlite {
    async fn take_starts(&self, asks: &[StartRequest], now: Timestamp) -> Result<Vec<Starts>> {
        let asks = asks.to_vec();
        self.on_writer("take starts", move |connection| {
            let mut load = connection.prepare_cached(pace::LOAD_KEY_SQLITE)?;
            let mut save = connection.prepare_cached(pace::SAVE_KEY_SQLITE)?;
            let mut granted = Vec::with_capacity(asks.len());
            for ask in &asks {
                let found = load.query_row([&ask.bucket], |row| {
                    Ok(Bucket {
                        full_at: nearest(row.get(0)?),
                        booked_until: nearest(row.get(1)?),
                    })
                });
                let mut bucket = found.optional()?.unwrap_or_default();
                granted.push(ask.rate.settle(&mut bucket, ask.wanted, now));
                let (full_at, booked) = (micros(bucket.full_at), micros(bucket.booked_until));
                save.execute(params![ask.bucket, full_at, booked])?;
            }
            Ok(granted)
        })
        .await
    }
}

/// The pauses that hold, and the buckets of a claim's rates.
pub(super) struct Gates {
    now: Timestamp,
    /// Paused kinds, and until when.
    paused: Vec<(String, Option<i64>)>,
    buckets: Vec<(Kind, Rate, Timestamp)>,
}

impl Gates {
    pub(super) fn load(connection: &Connection, request: &ClaimRequest) -> Outcome<Self> {
        let mut statement = connection.prepare_cached(pace::PAUSES_SQLITE)?;
        let paused =
            statement.query_map([micros(request.now)], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let paused = paused.collect::<rusqlite::Result<_>>()?;
        let mut buckets = Vec::with_capacity(request.rates.len());
        for (kind, rate) in &request.rates {
            let mut statement = connection.prepare_cached(pace::LOAD_BUCKET_SQLITE)?;
            let full_at = statement.query_row([kind.as_str()], |row| row.get(0));
            let full_at = full_at.optional()?.unwrap_or(0);
            buckets.push((kind.clone(), *rate, nearest(full_at)));
        }
        Ok(Self {
            now: request.now,
            paused,
            buckets,
        })
    }

    /// When a lane that is due at `due_at_us` may be claimed from; `None` before it is resumed.
    pub(super) fn opens_at(&self, kind: &str, due_at_us: i64) -> Option<i64> {
        let paused = self.paused.iter().find(|(paused, _)| paused == kind);
        let due_at_us = match paused {
            Some((_, until)) => due_at_us.max((*until)?),
            None => due_at_us,
        };
        let bucket = self
            .buckets
            .iter()
            .find(|(paced, ..)| paced.as_str() == kind);
        Some(match bucket {
            Some((_, rate, full_at)) if rate.room(*full_at, self.now) == 0 => {
                due_at_us.max(micros(rate.look_at(*full_at, self.now)))
            }
            _ => due_at_us,
        })
    }

    /// The limits of a claim, where rates leave less.
    pub(super) fn limits(&self, limits: &[(Kind, usize)]) -> Vec<(Kind, usize)> {
        let mut limits = limits.to_vec();
        for (kind, rate, full_at) in &self.buckets {
            let room = usize::try_from(rate.room(*full_at, self.now)).unwrap_or(usize::MAX);
            match limits.iter_mut().find(|(limited, _)| limited == kind) {
                Some((_, limit)) => *limit = room.min(*limit),
                None => limits.push((kind.clone(), room)),
            }
        }
        limits
    }

    /// Uses up what was taken.
    pub(super) fn take(&mut self, connection: &Connection, taken: &[ClaimedTask]) -> Outcome<()> {
        for (kind, rate, full_at) in &mut self.buckets {
            let starts = taken.iter().filter(|task| task.identity.kind == *kind);
            let starts = u32::try_from(starts.count()).unwrap_or(u32::MAX);
            if starts > 0 {
                *full_at = rate.after(*full_at, self.now, starts);
                let mut statement = connection.prepare_cached(pace::SAVE_BUCKET_SQLITE)?;
                statement.execute(params![kind.as_str(), micros(*full_at)])?;
            }
        }
        Ok(())
    }
}
