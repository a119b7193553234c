//! Chance that repeats itself: one seed, one sequence.

use std::sync::atomic::{AtomicU64, Ordering};

use almanack_core::time::Entropy;

/// `SplitMix64`'s increment: the golden ratio in 64 bits, odd, so that the state visits every
/// value.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// `SplitMix64` over a shared counter. Good enough to look random, small enough to trust.
#[derive(Debug)]
pub struct SeededEntropy {
    state: AtomicU64,
}

impl SeededEntropy {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            state: AtomicU64::new(seed),
        }
    }
}

impl Entropy for SeededEntropy {
    fn next_u64(&self) -> u64 {
        let state = self
            .state
            .fetch_add(STEP, Ordering::SeqCst)
            .wrapping_add(STEP);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, count: usize) -> Vec<u64> {
        let entropy = SeededEntropy::new(seed);
        (0..count).map(|_| entropy.next_u64()).collect()
    }

    #[test]
    fn one_seed_gives_one_sequence_and_another_seed_another() {
        assert_eq!(first(7, 50), first(7, 50));
        assert_ne!(first(7, 50), first(8, 50));
        // The published first value for seed 0.
        assert_eq!(first(0, 1), [0xE220_A839_7B1D_CDAF]);
    }
}
