//! Time and chance as ports: the only ways to learn the time or to get randomness.
//!
//! Decisions take `now` and `jitter` as plain arguments; these traits exist for the thin code that
//! carries decisions out. The database keeps microseconds, so every instant that enters the system
//! is cut to microseconds once, at the border, by [`to_micros`]: two sides that compare an instant
//! before and after a round trip through the store must see the same value.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp, civil::date, fmt::temporal::Pieces};

use crate::clock::{GuardedClock, Standing};

/// The only way to learn the time.
pub trait Clock: Send + Sync {
    /// The present instant, in whole microseconds.
    fn now(&self) -> Timestamp;

    /// Whether it can be trusted. Only a clock that is compared with another one can be in doubt.
    fn standing(&self) -> Standing {
        Standing::Steady
    }
}

/// The only source of randomness: jitter, identifiers, tie-breaks.
pub trait Entropy: Send + Sync {
    /// The next 64 random bits.
    fn next_u64(&self) -> u64;
}

/// The only way to wait.
#[async_trait]
pub trait Sleeper: Send + Sync {
    /// Waits until the clock that it serves shows `at`. May wake a moment late; early only if the
    /// clock was set back during the wait, so a caller that must not be early looks at the clock
    /// again.
    async fn until(&self, at: Timestamp);
}

/// A node's clock, corrected to the database's.
///
/// Nodes share one database, so its clock is the one that counts. Each look at it gives a lower
/// bound: it shows at least `database` once the answer is here. We adopt the best lower bound of a
/// round of looks, so the corrected clock never runs ahead of the database's, and an error in the
/// correction can delay a task but never start it early (RS-15). Each look gives an upper bound as
/// well: the database showed at most `database` when it was asked. What must not start late asks
/// for the latest that the time can be (WK-06). Where no database clock is ever looked at, both are
/// the local clock itself.
pub struct CorrectedClock {
    local: Arc<dyn Clock>,
    guard: Option<Arc<GuardedClock>>,
    ahead_us: AtomicI64,
    /// How much further ahead the database's clock can be.
    unsure_us: AtomicI64,
}

/// One look at the database's clock.
#[derive(Debug, Clone, Copy)]
pub struct ClockLook {
    /// What the local clock showed when it was asked.
    pub asked_at: Timestamp,
    /// What the database showed.
    pub database: Timestamp,
    /// What the local clock showed when the answer was here.
    pub answered_at: Timestamp,
}

impl CorrectedClock {
    /// Starts uncorrected.
    pub fn new(local: Arc<dyn Clock>) -> Self {
        Self {
            local,
            guard: None,
            ahead_us: AtomicI64::new(0),
            unsure_us: AtomicI64::new(0),
        }
    }

    /// Starts uncorrected, on a clock whose steps are noticed: for where no database corrects it.
    pub fn guarded(guard: Arc<GuardedClock>) -> Self {
        Self {
            guard: Some(Arc::clone(&guard)),
            ..Self::new(guard)
        }
    }

    /// What notices steps of the clock underneath, if anything does.
    pub fn guard(&self) -> Option<&GuardedClock> {
        self.guard.as_deref()
    }

    /// The clock underneath, to time looks at the database with.
    pub fn local_now(&self) -> Timestamp {
        self.local.now()
    }

    /// Adopts a round of looks.
    pub fn correct(&self, looks: &[ClockLook]) {
        let ahead_of = |look: &ClockLook, local: Timestamp| {
            let database_us = look.database.as_microsecond();
            database_us.saturating_sub(local.as_microsecond())
        };
        let least = looks.iter().map(|look| ahead_of(look, look.answered_at));
        let most = looks.iter().map(|look| ahead_of(look, look.asked_at));
        if let (Some(least), Some(most)) = (least.max(), most.min()) {
            let unsure = most.saturating_sub(least).max(0);
            self.ahead_us.store(least, Ordering::Relaxed);
            self.unsure_us.store(unsure, Ordering::Relaxed);
        }
    }

    /// The latest that the database's clock can show now; [`Clock::now`] is the earliest.
    pub fn latest(&self) -> Timestamp {
        let unsure = SignedDuration::from_micros(self.unsure_us.load(Ordering::Relaxed));
        let now = self.now();
        now.saturating_add(unsure).unwrap_or(now)
    }

    /// How far the database's clock is ahead of the local one, as far as we know.
    pub fn skew(&self) -> SignedDuration {
        SignedDuration::from_micros(self.ahead_us.load(Ordering::Relaxed))
    }
}

impl Clock for CorrectedClock {
    fn now(&self) -> Timestamp {
        let local = self.local.now();
        local.saturating_add(self.skew()).unwrap_or(local)
    }

    fn standing(&self) -> Standing {
        self.local.standing()
    }
}

/// The last instant the store can hold and give back: 9999-12-30T22:00:00Z. What is left of that
/// second can be written in microseconds but not read again.
pub const LATEST: Timestamp = Timestamp::constant(253_402_207_200, 0);

/// The first second after the year 9999.
const YEAR_10000: i64 = 253_402_300_800;

/// Reads an RFC 3339 instant. "Never" is often written as the last second of the year 9999, a day
/// after [`LATEST`]: up to there an instant is [`LATEST`].
pub fn parse_instant(text: &str) -> Result<Timestamp, jiff::Error> {
    let parsed = text.parse().map(to_micros);
    parsed.or_else(|error| {
        let pieces = Pieces::parse(text).map_err(|_| error.clone())?;
        let is_instant = pieces.time().is_some() && pieces.offset().is_some();
        if is_instant && pieces.date() >= date(9999, 12, 30) {
            Ok(LATEST)
        } else {
            Err(error)
        }
    })
}

/// The instant so many seconds after 1970, with the end of the year 9999 as in [`parse_instant`].
pub fn from_seconds(seconds: i64) -> Result<Timestamp, jiff::Error> {
    match seconds {
        far if (LATEST.as_second()..YEAR_10000).contains(&far) => Ok(LATEST),
        near => Timestamp::from_second(near),
    }
}

/// The same in milliseconds.
pub fn from_milliseconds(milliseconds: i64) -> Result<Timestamp, jiff::Error> {
    match milliseconds.div_euclid(1_000) {
        far if (LATEST.as_second()..YEAR_10000).contains(&far) => Ok(LATEST),
        _ => Timestamp::from_millisecond(milliseconds).map(to_micros),
    }
}

/// An instant within a sentence, to the second: `2026-01-05 07:59:59 UTC`.
pub fn in_words(at: Timestamp) -> String {
    at.strftime("%F %T UTC").to_string()
}

/// Cuts an instant to whole microseconds, the precision the store keeps, and to [`LATEST`].
pub fn to_micros(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(LATEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Stopped(i64);

    impl Clock for Stopped {
        fn now(&self) -> Timestamp {
            Timestamp::from_second(self.0).unwrap()
        }
    }

    #[test]
    fn rs_15_a_corrected_clock_never_runs_ahead_of_the_database() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let clock = CorrectedClock::new(Arc::new(Stopped(5_000)));
        assert_eq!(clock.now(), at(5_000), "uncorrected it is the local clock");
        // The database showed 1,000 and 1,003; the answers took 4 and 2 seconds to arrive.
        let look = |asked, database, answered| ClockLook {
            asked_at: at(asked),
            database: at(database),
            answered_at: at(answered),
        };
        clock.correct(&[look(5_000, 1_000, 5_004), look(5_003, 1_003, 5_005)]);
        assert_eq!(clock.skew(), SignedDuration::from_secs(-4_002));
        assert_eq!(
            clock.now(),
            at(998),
            "at most what the database can show by now"
        );
        assert_eq!(clock.latest(), at(1_000), "at least what it showed");
        clock.correct(&[]);
        assert_eq!(
            clock.now(),
            at(998),
            "a round without an answer changes nothing"
        );
    }

    #[test]
    fn rs_11_never_is_written_as_the_end_of_the_year_9999() {
        for text in [
            "9999-12-31T23:59:59Z",
            "9999-12-31T23:59:59.999999999Z",
            "9999-12-31T23:59:59+08:00",
            "9999-12-31T00:00:00-05:00",
            "9999-12-30T23:00:00Z",
        ] {
            assert_eq!(parse_instant(text).ok(), Some(LATEST), "{text}");
        }
        for text in [
            "9999-12-31",
            "9999-12-31T23:59:59",
            "9999-13-31T23:59:59Z",
            "10000-01-01T00:00:00Z",
            "never",
        ] {
            assert!(parse_instant(text).is_err(), "{text}");
        }
        let near = "2026-01-05T08:00:00.000001Z";
        assert_eq!(parse_instant(near).unwrap(), near.parse().unwrap());
        assert_eq!(from_seconds(253_402_300_799).unwrap(), LATEST);
        assert_eq!(from_milliseconds(253_402_300_799_999).unwrap(), LATEST);
        assert!(from_seconds(253_402_300_800).is_err());
        assert!(from_milliseconds(253_402_300_800_000).is_err());
        let second = Timestamp::from_second(1_767_600_000).unwrap();
        assert_eq!(from_seconds(1_767_600_000).unwrap(), second);
        assert_eq!(from_milliseconds(1_767_600_000_000).unwrap(), second);
    }

    #[test]
    fn an_instant_survives_the_store_after_being_cut() {
        let fine = Timestamp::new(1_700_000_000, 123_456_789).unwrap();
        let cut = to_micros(fine);
        assert_eq!(cut.subsec_nanosecond(), 123_456_000);
        assert_eq!(
            Timestamp::from_microsecond(cut.as_microsecond()).unwrap(),
            cut
        );
        for far in [Timestamp::MAX, LATEST, Timestamp::MIN] {
            let cut = to_micros(far);
            let read = Timestamp::from_microsecond(cut.as_microsecond());
            assert_eq!(read.ok(), Some(cut), "{far}");
        }
        assert_eq!(to_micros(Timestamp::MAX), LATEST);
        assert_eq!(LATEST.to_string(), "9999-12-30T22:00:00Z");
    }
}
