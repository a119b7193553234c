//! The system's randomness.

use std::sync::Mutex;

use almanack_core::{locked, time::Entropy};

/// Numbers fetched at a time. Every ended attempt draws one, and a system call for each would cost
/// more than the rest of the ending.
const FETCHED: usize = 128;

/// Random bits from the operating system.
#[derive(Debug, Default)]
pub struct OsEntropy {
    drawn: Mutex<Vec<u64>>,
}

impl Entropy for OsEntropy {
    fn next_u64(&self) -> u64 {
        let mut drawn = locked(&self.drawn);
        loop {
            if let Some(number) = drawn.pop() {
                return number;
            }
            *drawn = fetch();
        }
    }
}

fn fetch() -> Vec<u64> {
    let mut bytes = [0; FETCHED * 8];
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the entropy that all other code receives"
    )]
    let filled = getrandom::fill(&mut bytes);
    #[expect(
        clippy::expect_used,
        reason = "every supported system gives random bits after boot; without them no identifier is safe"
    )]
    filled.expect("the operating system provides random bits");
    let (numbers, _) = bytes.as_chunks::<8>();
    numbers
        .iter()
        .map(|number| u64::from_ne_bytes(*number))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn numbers_do_not_repeat_across_fetches() {
        let entropy = OsEntropy::default();
        let drawn: BTreeSet<u64> = (0..FETCHED * 3).map(|_| entropy.next_u64()).collect();
        assert_eq!(drawn.len(), FETCHED * 3);
    }
}
