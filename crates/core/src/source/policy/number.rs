//! Numbers that change their kind, each in one place with the reason why nothing is lost.

/// A difference of instants in seconds, as hours.
#[expect(
    clippy::cast_precision_loss,
    reason = "spans of interest are far below 2^53 seconds"
)]
pub(super) fn hours(seconds: i64) -> f64 {
    seconds as f64 / 3_600.0
}

/// A count of things in memory.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^24")]
pub(super) fn real(count: usize) -> f32 {
    count as f32
}

/// Less precise, but small; what is too large becomes infinite and is bounded by its user.
#[expect(
    clippy::cast_possible_truncation,
    reason = "precision is what is given up"
)]
pub(super) fn small(number: f64) -> f32 {
    number as f32
}

/// The whole part as an index; what is below zero or no number becomes zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a saturating cast is what is meant"
)]
pub(super) fn index(number: f32) -> usize {
    number as usize
}

/// The place of an instant on a circle of `slots` slots, `length_s` seconds each.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a remainder is not negative and below the number of slots"
)]
pub(super) fn place(at_s: i64, length_s: i64, slots: usize) -> usize {
    at_s.div_euclid(length_s).rem_euclid(slots as i64) as usize
}
