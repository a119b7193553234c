//! Seeded chance, in the shapes a simulation needs.

use std::time::Duration;

use almanack_core::time::Entropy;
use almanack_testkit::entropy::SeededEntropy;

/// One stream of chance. Every actor has its own, so that one actor's extra draw does not change
/// all others' luck and a failing seed stays recognisable while the code around it changes.
pub(super) struct Dice(SeededEntropy);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(SeededEntropy::new(seed))
    }

    /// A separate stream for another user.
    pub(super) fn fork(&self) -> Self {
        Self::new(self.0.next_u64())
    }

    pub(super) fn entropy(&self) -> SeededEntropy {
        SeededEntropy::new(self.0.next_u64())
    }

    /// Evenly from `0..bound`.
    pub(super) fn below(&self, bound: u64) -> u64 {
        let wide = u128::from(self.0.next_u64()) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// Evenly from `low..=high`.
    pub(super) fn between(&self, low: i64, high: i64) -> i64 {
        let width = low.abs_diff(high) + 1;
        low.saturating_add_unsigned(self.below(width))
    }

    pub(super) fn hits(&self, permille: u64) -> bool {
        self.below(1_000) < permille
    }

    pub(super) fn millis(&self, low: u64, high: u64) -> Duration {
        Duration::from_millis(low + self.below(high - low + 1))
    }

    pub(super) fn pick<'a, T>(&self, from: &'a [T]) -> &'a T {
        let index = self.below(from.len() as u64);
        &from[usize::try_from(index).unwrap_or(0)]
    }
}
