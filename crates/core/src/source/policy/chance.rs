//! Chance without dice: bits that depend on the source and on the decision.
//!
//! A source's `jitter` is a hash of its name, the same on every node and after every restart.
//! Rules that want a fresh number for every check mix the instant in.

use jiff::Timestamp;

/// 64 bits for one decision at `now`.
pub(super) fn at(jitter: u64, now: Timestamp) -> u64 {
    mix(jitter ^ mix(now.as_second().cast_unsigned()))
}

/// A number from 0 up to, but not including, 1.
pub(super) fn unit(bits: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    let high = (bits >> 11) as f64;
    high / 9_007_199_254_740_992.0
}

/// The finalizer of `SplitMix64`: every bit of the input moves half the bits of the output.
pub(super) fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
