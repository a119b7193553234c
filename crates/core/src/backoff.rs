//! How long to wait before trying again.
//!
//! Full jitter: the wait is drawn evenly from zero to an exponentially growing ceiling, which
//! spreads a crowd that failed together better than a jittered fixed wait does. A `Retry-After`
//! from the other side is a floor, itself capped, because servers have been seen to request a week.

use jiff::SignedDuration;

/// How waits between attempts grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// Ceiling of the wait after the first failed attempt.
    pub base: SignedDuration,
    /// The ceiling stops growing here.
    pub cap: SignedDuration,
    /// A longer `Retry-After` is cut to this.
    pub retry_after_cap: SignedDuration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            base: SignedDuration::from_secs(5),
            cap: SignedDuration::from_hours(1),
            retry_after_cap: SignedDuration::from_hours(6),
        }
    }
}

/// The wait after failed attempt number `attempt` (from 1). `jitter` is 64 random bits.
pub fn next_wait(
    backoff: &Backoff,
    attempt: u32,
    retry_after: Option<SignedDuration>,
    jitter: u64,
) -> SignedDuration {
    let doubled = 2_i32
        .checked_pow(attempt.saturating_sub(1))
        .unwrap_or(i32::MAX);
    let ceiling = backoff.base.saturating_mul(doubled).min(backoff.cap);
    let drawn = share_of(ceiling, jitter);
    let floor = retry_after
        .unwrap_or(SignedDuration::ZERO)
        .min(backoff.retry_after_cap);
    drawn.max(floor)
}

/// `jitter / 2^64` of a duration, in whole microseconds.
fn share_of(whole: SignedDuration, jitter: u64) -> SignedDuration {
    let micros = u128::try_from(whole.as_micros()).unwrap_or(0);
    let share = (micros * u128::from(jitter)) >> 64;
    SignedDuration::from_micros(i64::try_from(share).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: SignedDuration = SignedDuration::from_secs(1);

    fn wait(attempt: u32, retry_after: Option<SignedDuration>, jitter: u64) -> SignedDuration {
        next_wait(&Backoff::default(), attempt, retry_after, jitter)
    }

    #[test]
    fn rs_09_the_ceiling_doubles_and_stops_at_the_cap() {
        for (attempt, ceiling_s) in [
            (1, 5),
            (2, 10),
            (3, 20),
            (10, 2560),
            (11, 3600),
            (400, 3600),
        ] {
            let longest = wait(attempt, None, u64::MAX);
            let ceiling = SECOND * ceiling_s;
            assert!(
                longest <= ceiling,
                "attempt {attempt}: {longest} over {ceiling}"
            );
            assert!(
                longest > ceiling - SECOND / 1000,
                "attempt {attempt}: {longest}"
            );
        }
    }

    #[test]
    fn rs_09_retry_after_is_a_floor_with_a_cap() {
        assert_eq!(wait(1, Some(SECOND * 60), u64::MAX), SECOND * 60);
        assert_eq!(
            wait(1, Some(SECOND * 604_800), 0),
            SignedDuration::from_hours(6)
        );
        assert!(
            wait(9, Some(SECOND), u64::MAX) > SECOND,
            "a short Retry-After does not shorten"
        );
    }

    proptest! {
        #[test]
        fn rs_09_full_jitter_stays_between_zero_and_the_ceiling(attempt in 1_u32..200, jitter: u64) {
            let drawn = wait(attempt, None, jitter);
            prop_assert!(drawn >= SignedDuration::ZERO);
            prop_assert!(drawn <= wait(attempt, None, u64::MAX));
        }
    }
}
