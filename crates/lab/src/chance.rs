//! Reproducible random numbers: the same seed gives the same numbers on every machine.

/// A seeded generator (SplitMix64): small, and good enough for simulations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chance(u64);

impl Chance {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A separate generator for one of many things, independent of what the others draw.
    pub fn of(seed: u64, path: &[u64]) -> Self {
        let enter = |mut outer: Self, step: &u64| Self(outer.next_u64() ^ step);
        path.iter().fold(Self(seed), enter)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, or 0 if there is none. The bias of the remainder does not matter for
    /// bounds this far below 2⁶⁴.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_u64().checked_rem(bound).unwrap_or(0)
    }

    /// A number from `least` to `most`, both included.
    pub fn between(&mut self, least: i64, most: i64) -> i64 {
        let width = most.saturating_sub(least).max(0).cast_unsigned() + 1;
        least.saturating_add_unsigned(self.below(width))
    }

    /// True in `permille` of a thousand cases.
    pub fn happens(&mut self, permille: u64) -> bool {
        self.below(1000) < permille
    }

    /// A random element; `None` only of an empty slice.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let index = self.below(from.len() as u64);
        usize::try_from(index)
            .ok()
            .and_then(|index| from.get(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_repeats_itself_and_another_does_not() {
        let draw = |seed| {
            let mut chance = Chance::new(seed);
            [chance.next_u64(), chance.next_u64(), chance.next_u64()]
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn draws_stay_below_their_bound() {
        let mut chance = Chance::new(1);
        assert!((0..1000).all(|_| chance.below(10) < 10));
        assert_eq!(chance.below(0), 0);
        assert_eq!(chance.pick::<u8>(&[]), None);
        assert!((0..1000).all(|_| (-3..=4).contains(&chance.between(-3, 4))));
    }

    #[test]
    fn neighbours_draw_independently_and_each_repeats() {
        let draw = |path: &[u64]| Chance::of(7, path).next_u64();
        assert_eq!(draw(&[1, 2]), draw(&[1, 2]));
        assert_ne!(draw(&[1, 2]), draw(&[2, 1]));
        assert_ne!(draw(&[1, 2]), draw(&[1, 3]));
    }
}
