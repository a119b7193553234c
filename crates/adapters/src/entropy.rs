//! The system's randomness.

use almanack_core::time::Entropy;

/// Random bits from the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn next_u64(&self) -> u64 {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the entropy that everybody else is given"
        )]
        let drawn = getrandom::u64();
        #[expect(
            clippy::expect_used,
            reason = "Linux, macOS and Windows give random bits after boot; without them no identifier is safe"
        )]
        drawn.expect("the operating system gives random bits")
    }
}
