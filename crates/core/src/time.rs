//! Time and chance as ports: the only ways to learn the time or to be surprised.
//!
//! Decisions take `now` and `jitter` as plain arguments; these traits exist for the thin code that
//! carries decisions out. The database keeps microseconds, so every instant that enters the system
//! is cut to microseconds once, at the border, by [`to_micros`]: two sides that compare an instant
//! before and after a round trip through the store must see the same value.

use jiff::Timestamp;

/// The only way to learn the time.
pub trait Clock: Send + Sync {
    /// The present instant, in whole microseconds.
    fn now(&self) -> Timestamp;
}

/// The only source of randomness: jitter, identifiers, tie-breaks.
pub trait Entropy: Send + Sync {
    /// The next 64 random bits.
    fn next_u64(&self) -> u64;
}

/// Cuts an instant to whole microseconds, the precision the store keeps.
pub fn to_micros(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_survives_the_store_after_being_cut() {
        let fine = Timestamp::new(1_700_000_000, 123_456_789).unwrap();
        let cut = to_micros(fine);
        assert_eq!(cut.subsec_nanosecond(), 123_456_000);
        assert_eq!(
            Timestamp::from_microsecond(cut.as_microsecond()).unwrap(),
            cut
        );
        assert_eq!(
            to_micros(Timestamp::MAX).as_microsecond(),
            Timestamp::MAX.as_microsecond()
        );
    }
}
