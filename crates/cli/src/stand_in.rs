//! Clock and entropy until the adapters have theirs.

use std::io::Read;

use almanack_core::time::{Clock, Entropy, to_micros};
use jiff::Timestamp;

pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> Timestamp {
        to_micros(Timestamp::now())
    }
}

pub(crate) struct OsEntropy;

impl Entropy for OsEntropy {
    fn next_u64(&self) -> u64 {
        let mut bytes = [0; 8];
        let read = std::fs::File::open("/dev/urandom").and_then(|mut f| f.read_exact(&mut bytes));
        if read.is_err() {
            std::process::abort();
        }
        u64::from_le_bytes(bytes)
    }
}
